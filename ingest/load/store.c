/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: one function per table. A row is written column by column by rows.h, in the
 * order of schema/tables.def, which checks that none is missing.
 */
#include "ingest/load/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/version.h"
#include "ingest/load/rollup_rows.h"
#include "ingest/load/rows.h"
#include "ingest/symbol/symbol.h"
#include "schema/schema.h"

/* Of table code: type_id to field, which names.h fills. */
enum { TYPE_COLUMNS = 7 };

struct store {
	sqlite3 *db;
	const struct fs_decoder *decoder;
	const struct fs_session *session;
	const struct fs_trace_facts *facts;
	struct fs_error *error;
	struct fs_rows rows;
};

static const char *text_of(const struct fs_interner *strings, int64_t id)
{
	return id < 0 ? NULL : fs_interned(strings, (uint32_t)id, NULL);
}

static int store_trace_row(struct store *store)
{
	const struct fs_session *session = store->session;
	const struct fs_decoder *decoder = store->decoder;
	const struct fs_host *host = &session->host;
	const struct fs_threads *threads = &session->threads;
	bool sliced = threads->first_slice <= threads->last_slice;

	FS_TRY(fs_rows_begin(&store->rows, "trace"));
	fs_rows_integer(&store->rows, store->facts->id);
	fs_rows_text(&store->rows, store->facts->name);
	fs_rows_text(&store->rows, store->facts->sha256);
	fs_rows_integer(&store->rows, (int64_t)(session->file.size + session->file.parts_size));
	fs_rows_text(&store->rows, FS_VERSION);
	fs_rows_text(&store->rows, store->facts->options);
	fs_rows_text(&store->rows, host->arch);
	fs_rows_text(&store->rows, host->hostname);
	fs_rows_text(&store->rows, host->os_release);
	fs_rows_text(&store->rows, host->perf_version);
	fs_rows_text(&store->rows, host->cpu_description);
	fs_rows_text(&store->rows, host->cpuid);
	fs_rows_text(&store->rows, host->cmdline);
	fs_rows_optional(&store->rows, host->cpus_online, host->cpus_online);
	fs_rows_optional(&store->rows, host->cpus_available, host->cpus_available);
	fs_rows_optional(&store->rows, host->memory_kib, (int64_t)host->memory_kib);
	fs_rows_integer(&store->rows, host->line_size ? host->line_size : 64);
	fs_rows_text(&store->rows, host->line_size ? host->line_size_source : "assumed");
	fs_rows_optional(&store->rows, host->has_clock_data, host->clock_id);
	fs_rows_optional(&store->rows, host->has_clock_data,
			 (int64_t)(host->clock_wall_ns - host->clock_ns));
	fs_rows_optional(&store->rows, decoder->first_ns, (int64_t)decoder->first_ns);
	fs_rows_optional(&store->rows, decoder->first_ns, (int64_t)decoder->last_ns);
	fs_rows_integer(&store->rows, !fs_loss_is_damaged(&session->loss));
	fs_rows_integer(&store->rows, (int64_t)(decoder->sample_records + decoder->spe_records));
	fs_rows_integer(&store->rows, (int64_t)decoder->sample_records);
	fs_rows_integer(&store->rows, (int64_t)decoder->spe_records);
	fs_rows_integer(&store->rows, (int64_t)decoder->memory_samples);
	fs_rows_optional(&store->rows, decoder->memory_samples,
			 (int64_t)(1ull << decoder->rollup.window_shift));
	fs_rows_optional(&store->rows, sliced,
			 (int64_t)((threads->first_slice & ~1ull) << threads->slice_shift));
	fs_rows_optional(&store->rows, sliced, (int64_t)(1ull << threads->slice_shift));
	return fs_rows_end(&store->rows);
}

static int put_fact(struct store *store, const char *name, uint64_t value)
{
	char text[32];

	if (!value)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64, value);
	fs_rows_integer(&store->rows, store->facts->id);
	fs_rows_text(&store->rows, name);
	fs_rows_text(&store->rows, text);
	return fs_rows_end(&store->rows);
}

static int store_facts(struct store *store)
{
	const struct fs_session *session = store->session;
	const struct fs_host *host = &session->host;

	FS_TRY(fs_rows_begin(&store->rows, "fact"));
	FS_TRY(put_fact(store, "fingerprint", store->facts->fingerprint));
	FS_TRY(put_fact(store, "e_machine", host->e_machine));
	FS_TRY(put_fact(store, "clock_resolution_ns", host->clock_resolution_ns));
	FS_TRY(put_fact(store, "recorded_first_sample_ns", host->first_sample_ns));
	FS_TRY(put_fact(store, "recorded_last_sample_ns", host->last_sample_ns));
	FS_TRY(put_fact(store, "spe_metadata_version", session->spe.metadata_version));
	FS_TRY(put_fact(store, "time_conv.shift", session->clock.shift));
	FS_TRY(put_fact(store, "time_conv.mult", session->clock.mult));
	FS_TRY(put_fact(store, "time_conv.zero", session->clock.zero));
	FS_TRY(put_fact(store, "time_conv.cycles", session->clock.cycles));
	FS_TRY(put_fact(store, "time_conv.mask", session->clock.mask));
	for (size_t i = 0; i < host->fact_count; i++) {
		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_text(&store->rows, host->facts[i].name);
		fs_rows_text(&store->rows, host->facts[i].value);
		FS_TRY(fs_rows_end(&store->rows));
	}
	for (unsigned int type = 0; type < FS_RECORD_TYPES; type++) {
		char name[32];

		snprintf(name, sizeof(name), "records.%u", type);
		FS_TRY(put_fact(store, name, session->record_count[type]));
	}
	return 0;
}

/* `at` is NULL for a CPU of which the features tell nothing. */
static int store_cpu(struct store *store, uint32_t number, const struct fs_cpu *at)
{
	const struct fs_spe_cpu *spe = fs_session_spe_cpu(store->session, number);
	uint64_t midr = fs_session_midr(store->session, number);

	fs_rows_integer(&store->rows, store->facts->id);
	fs_rows_integer(&store->rows, number);
	fs_rows_optional(&store->rows, at && at->node >= 0, at ? at->node : 0);
	fs_rows_optional(&store->rows, at && at->package >= 0, at ? at->package : 0);
	fs_rows_optional(&store->rows, at && at->core >= 0, at ? at->core : 0);
	fs_rows_optional(&store->rows, midr, (int64_t)midr);
	fs_rows_optional(&store->rows, spe && spe->events, spe ? (int64_t)spe->events : 0);
	return fs_rows_end(&store->rows);
}

static int store_cpus(struct store *store)
{
	const struct fs_host *host = &store->session->host;
	const struct fs_spe_session *spe = &store->session->spe;

	FS_TRY(fs_rows_begin(&store->rows, "cpu"));
	for (size_t i = 0; i < host->cpu_count; i++)
		if (host->cpus[i].present)
			FS_TRY(store_cpu(store, (uint32_t)i, &host->cpus[i]));
	for (size_t i = 0; i < spe->cpu_count; i++) {
		uint32_t number = spe->cpus[i].cpu;

		/* of several entries of a CPU the first holds */
		if (fs_session_spe_cpu(store->session, number) == &spe->cpus[i] &&
		    (number >= host->cpu_count || !host->cpus[number].present))
			FS_TRY(store_cpu(store, number, NULL));
	}
	FS_TRY(fs_rows_begin(&store->rows, "cache"));
	for (size_t i = 0; i < host->cache_count; i++) {
		const struct fs_cache *cache = &host->caches[i];

		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_integer(&store->rows, cache->level);
		fs_rows_text(&store->rows, cache->type);
		fs_rows_text(&store->rows, cache->size);
		fs_rows_integer(&store->rows, cache->line_size);
		fs_rows_integer(&store->rows, cache->sets);
		fs_rows_integer(&store->rows, cache->ways);
		fs_rows_text(&store->rows, cache->cpus);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

static int store_memory(struct store *store)
{
	const struct fs_host *host = &store->session->host;

	FS_TRY(fs_rows_begin(&store->rows, "numa_node"));
	for (size_t i = 0; i < host->node_count; i++) {
		const struct fs_numa_node *node = &host->nodes[i];

		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_integer(&store->rows, node->node);
		fs_rows_integer(&store->rows, (int64_t)node->memory_kib);
		fs_rows_integer(&store->rows, (int64_t)node->free_kib);
		fs_rows_text(&store->rows, node->cpus);
		FS_TRY(fs_rows_end(&store->rows));
	}
	FS_TRY(fs_rows_begin(&store->rows, "memory_range"));
	for (size_t i = 0; i < host->range_count; i++) {
		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_integer(&store->rows, (int64_t)host->ranges[i].node);
		fs_rows_integer(&store->rows, (int64_t)host->ranges[i].first);
		fs_rows_integer(&store->rows, (int64_t)host->ranges[i].last);
		FS_TRY(fs_rows_end(&store->rows));
	}
	FS_TRY(fs_rows_begin(&store->rows, "pmu"));
	for (size_t i = 0; i < host->pmu_count; i++) {
		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_integer(&store->rows, host->pmus[i].type);
		fs_rows_text(&store->rows, host->pmus[i].name);
		FS_TRY(fs_rows_end(&store->rows));
	}
	FS_TRY(fs_rows_begin(&store->rows, "pmu_capability"));
	for (size_t i = 0; i < host->capability_count; i++) {
		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_text(&store->rows, host->capabilities[i].pmu);
		fs_rows_text(&store->rows, host->capabilities[i].name);
		fs_rows_text(&store->rows, host->capabilities[i].value);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

/* ---- events ---- */

static int store_tracepoint_fields(struct store *store, const struct fs_tracepoint *tracepoint)
{
	const struct fs_tracepoints *tracepoints = &store->session->tracepoints;

	for (uint32_t i = 0; i < tracepoint->field_count; i++) {
		const struct fs_tracepoint_field *field =
			&tracepoints->fields[tracepoint->first_field + i];
		bool array = field->flags & FS_FIELD_ARRAY;

		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_integer(&store->rows, tracepoint->id);
		fs_rows_text(&store->rows, text_of(&tracepoints->strings, field->name));
		fs_rows_text(&store->rows, text_of(&tracepoints->strings, field->type));
		fs_rows_integer(&store->rows, field->offset);
		fs_rows_integer(&store->rows, field->size);
		fs_rows_optional(&store->rows, array && field->element_size, field->element_size);
		fs_rows_integer(&store->rows, !!(field->flags & FS_FIELD_SIGNED));
		fs_rows_integer(&store->rows, !!(field->flags & FS_FIELD_STRING));
		fs_rows_text(&store->rows, field->flags & FS_FIELD_RELATIVE  ? "relative"
					   : field->flags & FS_FIELD_DYNAMIC ? "dynamic"
									     : "in place");
		fs_rows_integer(&store->rows, !!(field->flags & FS_FIELD_COMMON));
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

static int store_tracepoints(struct store *store)
{
	const struct fs_tracepoints *tracepoints = &store->session->tracepoints;

	FS_TRY(fs_rows_begin(&store->rows, "tracepoint"));
	for (size_t i = 0; i < tracepoints->count; i++) {
		const struct fs_tracepoint *tracepoint = &tracepoints->items[i];

		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_integer(&store->rows, tracepoint->id);
		fs_rows_text(&store->rows, text_of(&tracepoints->strings, tracepoint->system));
		fs_rows_text(&store->rows, text_of(&tracepoints->strings, tracepoint->name));
		FS_TRY(fs_rows_end(&store->rows));
	}
	FS_TRY(fs_rows_begin(&store->rows, "tracepoint_field"));
	for (size_t i = 0; i < tracepoints->count; i++)
		FS_TRY(store_tracepoint_fields(store, &tracepoints->items[i]));
	return 0;
}

static bool contains(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

const char *fs_event_role(const struct fs_event *event, bool is_spe)
{
	static const struct {
		const char *part, *role;
	} by_name[] = {
		/* the group leader that Intel's memory events need; its samples say nothing */
		{ "mem-loads-aux", NULL },
		{ "mem-loads", "load" },
		{ "mem-stores", "store" },
		{ "mem-ldst", "load_store" },
		{ "ibs_op", "ibs_op" },
		{ "stall_backend_mem", "stall_mem" },
		{ "stalls_mem_any", "stall_mem" },
		{ "mem_stall_any", "stall_mem" },
		{ "stall_backend", "stall_backend" },
		{ "stalled-cycles-backend", "stall_backend" },
	};
	const struct fs_attr *attr = &event->attr;

	if (is_spe)
		return "spe";
	if (attr->type == 5)
		return attr->bp_type == 2   ? "watch_write"
		       : attr->bp_type == 4 ? NULL
					    : "watch_access";
	for (size_t i = 0; i < sizeof(by_name) / sizeof(by_name[0]); i++)
		if (contains(event->name, by_name[i].part))
			return by_name[i].role;
	if (attr->type == 1)
		return attr->config <= 1 ? "clock" : attr->config == 9 ? "tracking" : NULL;
	if (attr->type == 0) { /* the upper half names the PMU where cores differ */
		uint32_t number = (uint32_t)attr->config;

		return number == 0   ? "cycles"
		       : number == 1 ? "instructions"
		       : number == 8 ? "stall_backend"
				     : NULL;
	}
	if (contains(event->name, "cycles") && !contains(event->name, "stall") &&
	    !contains(event->name, "recovery_cycles") && !contains(event->name, "ref-cycles") &&
	    !contains(event->name, "bus_cycles"))
		return "cycles";
	return NULL;
}

/* A name for an event of a file without EVENT_DESC, after perf's own for the generic ones. */
static void make_name(const struct store *store, const struct fs_attr *attr, char *out, size_t size)
{
	const struct fs_tracepoints *tracepoints = &store->session->tracepoints;
	const struct fs_tracepoint *tracepoint =
		attr->type == FS_ATTR_TRACEPOINT ? fs_tracepoint_find(tracepoints, attr->config)
						 : NULL;
	static const char *const hardware[] = {
		"cycles",
		"instructions",
		"cache-references",
		"cache-misses",
		"branches",
		"branch-misses",
		"bus-cycles",
		"stalled-cycles-frontend",
		"stalled-cycles-backend",
		"ref-cycles",
	};
	static const char *const software[] = {
		"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
	};

	if (attr->type == 0 && attr->config < sizeof(hardware) / sizeof(hardware[0]))
		snprintf(out, size, "%s", hardware[attr->config]);
	else if (attr->type == 1 && attr->config < sizeof(software) / sizeof(software[0]))
		snprintf(out, size, "%s", software[attr->config]);
	else if (tracepoint)
		snprintf(out, size, "%s:%s", text_of(&tracepoints->strings, tracepoint->system),
			 text_of(&tracepoints->strings, tracepoint->name));
	else if (attr->type == 5)
		snprintf(out, size, "mem:0x%" PRIx64 "/%" PRIu64, attr->config1, attr->config2);
	else
		snprintf(out, size, "type %u config 0x%" PRIx64, attr->type, attr->config);
}

static int store_event(struct store *store, size_t index)
{
	const struct fs_event *event = &store->session->file.events[index];
	const struct fs_attr *attr = &event->attr;
	const struct fs_event_counts *counts = &store->decoder->event_counts[index];
	int64_t base = store->decoder->bases.event;
	bool freq = attr->flags & FS_ATTR_FREQ;
	char name[2 * 256 + 2];

	make_name(store, attr, name, sizeof(name));
	if (index == store->session->file.event_count)
		strcpy(name, "unknown");
	fs_rows_integer(&store->rows, base + (int64_t)index);
	fs_rows_integer(&store->rows, store->facts->id);
	fs_rows_integer(&store->rows, (int64_t)index);
	fs_rows_text(&store->rows, event->name ? event->name : name);
	fs_rows_text(&store->rows, fs_event_role(event, fs_session_is_spe(store->session, index)));
	fs_rows_optional(&store->rows, event->leader >= 0, base + event->leader);
	fs_rows_integer(&store->rows, attr->type);
	fs_rows_integer(&store->rows, (int64_t)attr->config);
	fs_rows_integer(&store->rows, (int64_t)attr->config1);
	fs_rows_integer(&store->rows, (int64_t)attr->config2);
	fs_rows_optional(&store->rows, attr->size >= 136, (int64_t)attr->config3);
	fs_rows_optional(&store->rows, attr->size >= 144, (int64_t)attr->config4);
	fs_rows_optional(&store->rows, attr->type == 5, attr->bp_type);
	fs_rows_integer(&store->rows, (int64_t)attr->sample_type);
	fs_rows_integer(&store->rows, (int64_t)attr->read_format);
	fs_rows_integer(&store->rows, (int64_t)attr->flags);
	fs_rows_integer(&store->rows, (int64_t)(attr->flags >> FS_ATTR_PRECISE_SHIFT & 3));
	fs_rows_optional(&store->rows, !freq, (int64_t)attr->sample_period);
	fs_rows_optional(&store->rows, freq, (int64_t)attr->sample_period);
	fs_rows_text(&store->rows, event->unit);
	fs_rows_real(&store->rows, event->scale != 0, event->scale);
	fs_rows_text(&store->rows, event->cpus);
	fs_rows_integer(&store->rows, (int64_t)counts->samples);
	fs_rows_integer(&store->rows, (int64_t)counts->period_sum);
	fs_rows_optional(&store->rows, counts->enabled_ns, (int64_t)counts->enabled_ns);
	fs_rows_optional(&store->rows, counts->enabled_ns, (int64_t)counts->running_ns);
	return fs_rows_end(&store->rows);
}

static int store_events(struct store *store)
{
	const struct fs_session *session = store->session;
	size_t events = session->file.event_count;

	FS_TRY(fs_rows_begin(&store->rows, "event"));
	for (size_t i = 0; i < events; i++)
		FS_TRY(store_event(store, i));
	/* samples with an id of none of them */
	if (store->decoder->event_counts[events].samples)
		FS_TRY(store_event(store, events));
	FS_TRY(fs_rows_begin(&store->rows, "event_instance"));
	for (size_t i = 0; i < session->ids.count; i++) {
		const struct fs_event_id *id = fs_table_value(&session->ids, i);

		fs_rows_integer(&store->rows, store->decoder->bases.event + (int64_t)id->event);
		fs_rows_integer(&store->rows, *(const int64_t *)fs_table_key(&session->ids, i));
		fs_rows_optional(&store->rows, id->cpu >= 0, id->cpu);
		fs_rows_optional(&store->rows, id->tid >= 0, id->tid);
		fs_rows_optional(&store->rows, id->machine_pid >= 0, id->machine_pid);
		fs_rows_optional(&store->rows, id->vcpu >= 0, id->vcpu);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

/* NULL for a number that stands for "not told". */
static void add_told(struct store *store, uint32_t number)
{
	fs_rows_optional(&store->rows, number != UINT32_MAX, number);
}

static void add_event_id(struct store *store, int64_t event)
{
	fs_rows_optional(&store->rows, event != FS_NONE, store->decoder->bases.event + event);
}

static int store_system_events(struct store *store)
{
#define FS_SYSTEM_NAME(suffix, name) name,
	static const char *const kinds[] = { FS_SYSTEM_LIST(FS_SYSTEM_NAME) };
#undef FS_SYSTEM_NAME
	static const char *const sources[] = { "read", "stat", "stat_final" };
	const struct fs_system *system = &store->session->system;
	const struct fs_interner *strings = &store->session->strings;

	FS_TRY(fs_rows_begin(&store->rows, "system_event"));
	for (size_t i = 0; i < system->event_count; i++) {
		const struct fs_system_event *event = &system->events[i];

		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_text(&store->rows, kinds[event->kind]);
		fs_rows_optional(&store->rows, event->time_ns, (int64_t)event->time_ns);
		add_told(store, event->cpu);
		add_told(store, event->pid);
		add_told(store, event->tid);
		add_event_id(store, event->event);
		fs_rows_optional(&store->rows, event->has_address, (int64_t)event->address);
		fs_rows_optional(&store->rows, event->length, (int64_t)event->length);
		fs_rows_optional(&store->rows, event->has_number, (int64_t)event->number);
		fs_rows_text(&store->rows, text_of(strings, event->name));
		fs_rows_text(&store->rows, text_of(strings, event->detail));
		FS_TRY(fs_rows_end(&store->rows));
	}
	FS_TRY(fs_rows_begin(&store->rows, "counter"));
	for (size_t i = 0; i < system->counter_count; i++) {
		const struct fs_counter *counter = &system->counters[i];

		fs_rows_integer(&store->rows, store->facts->id);
		add_event_id(store, counter->event);
		fs_rows_text(&store->rows, sources[counter->source]);
		fs_rows_optional(&store->rows, counter->time_ns, (int64_t)counter->time_ns);
		add_told(store, counter->cpu);
		add_told(store, counter->pid);
		add_told(store, counter->tid);
		fs_rows_integer(&store->rows, (int64_t)counter->value);
		fs_rows_optional(&store->rows, counter->has_enabled,
				 (int64_t)counter->time_enabled);
		fs_rows_optional(&store->rows, counter->has_running,
				 (int64_t)counter->time_running);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

/* ---- threads, spaces, maps ---- */

static int store_threads(struct store *store)
{
	const struct fs_session *session = store->session;
	const struct fs_threads *threads = &session->threads;
	int64_t base = store->decoder->bases.thread;

	FS_TRY(fs_rows_begin(&store->rows, "thread"));
	for (size_t i = 0; i < threads->count; i++) {
		const struct fs_thread *thread = &threads->threads[i];

		fs_rows_integer(&store->rows, base + (int64_t)i);
		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_optional(&store->rows, thread->pid != FS_PID_UNKNOWN, thread->pid);
		fs_rows_integer(&store->rows, thread->tid);
		fs_rows_text(&store->rows, text_of(&session->strings, thread->comm));
		fs_rows_optional(&store->rows, thread->start_ns, (int64_t)thread->start_ns);
		fs_rows_optional(&store->rows, thread->end_ns != UINT64_MAX,
				 (int64_t)thread->end_ns);
		fs_rows_integer(&store->rows, (int64_t)thread->samples);
		fs_rows_optional(&store->rows, thread->active, (int64_t)thread->first_sample_ns);
		fs_rows_optional(&store->rows, thread->active, (int64_t)thread->last_sample_ns);
		fs_rows_integer(&store->rows, (int64_t)fs_threads_active(threads, (int64_t)i));
		FS_TRY(fs_rows_end(&store->rows));
	}
	FS_TRY(fs_rows_begin(&store->rows, "comm"));
	for (size_t i = 0; i < threads->comm_count; i++) {
		const struct fs_comm *comm = &threads->comms[i];

		fs_rows_integer(&store->rows, base + comm->thread);
		fs_rows_optional(&store->rows, comm->time_ns, (int64_t)comm->time_ns);
		fs_rows_text(&store->rows, text_of(&session->strings, comm->name));
		fs_rows_integer(&store->rows, comm->exec);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

static int store_spaces(struct store *store)
{
	static const char *const kinds[] = { "kernel", "process", "unknown" };
	const struct fs_session *session = store->session;

	FS_TRY(fs_rows_begin(&store->rows, "space"));
	for (size_t i = 0; i < session->threads.space_count; i++) {
		const struct fs_space *space = &session->threads.spaces[i];
		bool process = space->kind == FS_SPACE_PROCESS;

		if (!process && !space->samples)
			continue;
		fs_rows_integer(&store->rows, store->decoder->bases.space + (int64_t)i);
		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_text(&store->rows, kinds[space->kind]);
		fs_rows_optional(&store->rows, process, space->pid);
		fs_rows_optional(&store->rows, space->start_ns, (int64_t)space->start_ns);
		fs_rows_text(&store->rows, process ? text_of(&session->strings, space->name)
						   : kinds[space->kind]);
		fs_rows_optional(&store->rows, space->parent != FS_NONE,
				 store->decoder->bases.space + space->parent);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

static const char *dso_kind(const char *path, uint16_t cpumode)
{
	static const char *const anonymous[] = { "//anon", "/dev/zero", "/anon_hugepage", "[heap]",
						 "[stack" };

	if (cpumode == FS_CPUMODE_KSYMBOL)
		return "generated";
	if (cpumode == FS_CPUMODE_JIT)
		return "jit";
	if (cpumode & FS_CPUMODE_GUEST)
		return "guest";
	if (cpumode == FS_MISC_KERNEL)
		return !strncmp(path, "[kernel", 7) ? "kernel" : "module";
	if (!strncmp(path, "[vdso", 5))
		return "vdso";
	for (size_t i = 0; i < sizeof(anonymous) / sizeof(anonymous[0]); i++)
		if (!strncmp(path, anonymous[i], strlen(anonymous[i])))
			return "anonymous";
	return path[0] == '/' ? "user" : "other";
}

/* Where names come from while nobody has looked for a binary. */
static void store_dso_symbols(struct store *store, const struct fs_dso *dso)
{
	enum fs_symbols symbols = FS_SYMBOLS_NOT_ASKED;
	const char *reason = NULL;

	if (dso->cpumode == FS_CPUMODE_KSYMBOL) {
		symbols = FS_SYMBOLS_VERIFIED;
		reason = "named by the kernel (KSYMBOL)";
	} else if (dso->cpumode == FS_CPUMODE_JIT) {
		symbols = FS_SYMBOLS_UNVERIFIED;
		reason =
			store->session->jit.timeless
				? "named by the JIT compiler, whose clock is not the trace's: of "
				  "several functions at an address the last counts; record with -k "
				  "mono"
				: "named by the JIT compiler";
	}
	fs_rows_text(&store->rows, fs_symbols_name(symbols));
	fs_rows_text(&store->rows, reason);
}

static int store_dsos(struct store *store)
{
	const struct fs_session *session = store->session;

	FS_TRY(fs_rows_begin(&store->rows, "dso"));
	for (size_t i = 0; i < session->maps.dso_count; i++) {
		const struct fs_dso *dso = &session->maps.dsos[i];
		const char *path = text_of(&session->strings, dso->path);

		fs_rows_integer(&store->rows, store->facts->dso_base + (int64_t)i);
		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_text(&store->rows, path);
		fs_rows_text(&store->rows, text_of(&session->strings, dso->build_id));
		fs_rows_text(&store->rows, dso_kind(path, dso->cpumode));
		store_dso_symbols(store, dso);
		fs_rows_integer(&store->rows, (int64_t)dso->samples);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

static int store_maps(struct store *store)
{
	const struct fs_maps *maps = &store->session->maps;

	FS_TRY(fs_rows_begin(&store->rows, "map"));
	for (size_t i = 0; i < maps->count; i++) {
		const struct fs_map *map = &maps->maps[i];

		if (maps->dsos[map->dso].cpumode == FS_CPUMODE_JIT)
			continue; /* not of the trace */
		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_optional(&store->rows, map->pid < FS_PID_GUEST, map->pid);
		fs_rows_optional(&store->rows, map->tid != FS_PID_KERNEL, map->tid);
		fs_rows_optional(&store->rows, map->time_ns, (int64_t)map->time_ns);
		fs_rows_integer(&store->rows, (int64_t)map->start);
		fs_rows_integer(&store->rows, (int64_t)(map->end - map->start));
		fs_rows_integer(&store->rows, (int64_t)map->pgoff);
		fs_rows_optional(&store->rows, map->has_prot, map->prot);
		fs_rows_optional(&store->rows, map->has_prot, map->flags);
		fs_rows_integer(&store->rows, map->data);
		fs_rows_integer(&store->rows, store->facts->dso_base + map->dso);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

/* ---- code ---- */

/* The function that the trace, or a JIT compiler, names for a code address. */
struct code_function {
	int64_t id; /* function.id; 0: none */
	const struct fs_jit_function *jit;
};

/* A key of functions that are stored: code that the kernel made at run time is its DSO. */
static uint64_t function_key(const struct store *store, const struct fs_code *code,
			     const struct fs_jit_function **ret_jit)
{
	const struct fs_jit *jit = &store->session->jit;
	const struct fs_dso *dso =
		code->dso == FS_NONE ? NULL : &store->session->maps.dsos[code->dso];

	*ret_jit = NULL;
	if (!dso || (dso->cpumode != FS_CPUMODE_KSYMBOL && dso->cpumode != FS_CPUMODE_JIT))
		return 0;
	if (dso->cpumode == FS_CPUMODE_KSYMBOL)
		return 2 * (uint64_t)code->dso + 2;
	*ret_jit = fs_jit_find(jit, (uint64_t)code->dso, code->offset);
	return *ret_jit ? 2 * (uint64_t)(*ret_jit - jit->functions) + 1 : 0;
}

static int store_function(struct store *store, const struct fs_code *code,
			  const struct fs_jit_function *jit, int64_t id)
{
	const struct fs_session *session = store->session;

	fs_rows_integer(&store->rows, id);
	fs_rows_integer(&store->rows, store->facts->dso_base + code->dso);
	fs_rows_text(&store->rows, text_of(&session->strings,
					   jit ? jit->name : session->maps.dsos[code->dso].path));
	fs_rows_text(&store->rows, NULL);
	fs_rows_integer(&store->rows, jit ? (int64_t)jit->offset : 0);
	fs_rows_integer(&store->rows, jit ? (int64_t)jit->size : 0);
	return fs_rows_end(&store->rows);
}

/* Each function once, where the first code of it is met. Names from binaries come later: names.h.
 */
static int store_functions(struct store *store, struct fs_table *ids, struct code_function *ret_of)
{
	int64_t next = store->facts->function_base;

	FS_TRY(fs_rows_begin(&store->rows, "function"));
	for (size_t i = 0; i < store->decoder->code_ids.count; i++) {
		const struct fs_code *code = fs_decoder_code(store->decoder, i);
		uint64_t key = function_key(store, code, &ret_of[i].jit);
		uint64_t *id;
		bool added;

		if (!key)
			continue;
		id = fs_table_put(ids, &key, NULL, &added);
		if (!id)
			return fs_fail(store->error, FS_NOMEM, "out of memory");
		if (added) {
			*id = (uint64_t)next;
			FS_TRY(store_function(store, code, ret_of[i].jit, next++));
		}
		ret_of[i].id = (int64_t)*id;
	}
	return 0;
}

static int store_code(struct store *store, size_t index, const struct code_function *function)
{
	const struct fs_code *code = fs_decoder_code(store->decoder, index);
	struct fs_rows *rows = &store->rows;
	bool mapped = code->dso != FS_NONE;
	const struct fs_jit_source_line *line =
		function->jit ? fs_jit_line(&store->session->jit, function->jit, code->offset)
			      : NULL;

	fs_rows_integer(rows, store->decoder->bases.code + (int64_t)index);
	fs_rows_integer(rows, store->facts->id);
	fs_rows_optional(rows, mapped, store->facts->dso_base + code->dso);
	fs_rows_optional(rows, mapped, (int64_t)code->offset);
	fs_rows_integer(rows, (int64_t)code->ip);
	fs_rows_integer(rows, code->exact);
	fs_rows_optional(rows, function->id, function->id);
	fs_rows_optional(rows, function->id,
			 (int64_t)(code->offset - (function->jit ? function->jit->offset : 0)));
	fs_rows_text(rows, line ? text_of(&store->session->strings, line->file) : NULL);
	fs_rows_optional(rows, line, line ? line->line : 0);
	fs_rows_optional(rows, false, 0); /* column_number */
	fs_rows_optional(rows, false, 0); /* op */
	fs_rows_optional(rows, code->watch_length, code->watch_length);
	fs_rows_text(rows, NULL);	  /* base_register */
	fs_rows_optional(rows, false, 0); /* displacement */
	fs_rows_text(rows, code->watch_length ? "watchpoint" : NULL);
	for (int i = 0; i < TYPE_COLUMNS; i++)
		fs_rows_text(rows, NULL);
	fs_rows_integer(rows, (int64_t)code->samples);
	return fs_rows_end(rows);
}

static int store_named_code(struct store *store, struct code_function *functions)
{
	struct fs_table ids;
	int code;

	fs_table_init(&ids, 8, 8);
	code = store_functions(store, &ids, functions);
	fs_table_free(&ids);
	FS_TRY(code);
	FS_TRY(fs_rows_begin(&store->rows, "code"));
	for (size_t i = 0; i < store->decoder->code_ids.count; i++)
		FS_TRY(store_code(store, i, &functions[i]));
	return 0;
}

static int store_codes(struct store *store)
{
	const struct fs_decoder *decoder = store->decoder;
	struct code_function *functions = calloc(decoder->code_ids.count + 1, sizeof(*functions));
	int code;

	if (!functions)
		return fs_fail(store->error, FS_NOMEM, "out of memory");
	code = store_named_code(store, functions);
	free(functions);
	FS_TRY(code);
	FS_TRY(fs_rows_begin(&store->rows, "chain"));
	for (size_t i = 0; i < decoder->chains.count; i++) {
		const struct fs_chain *chain = fs_table_key(&decoder->chains, i);

		fs_rows_integer(&store->rows, decoder->bases.chain + (int64_t)i);
		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_optional(&store->rows, chain->parent != UINT32_MAX,
				 decoder->bases.chain + chain->parent);
		fs_rows_integer(&store->rows, decoder->bases.code + chain->code);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

/* ---- roll-ups ---- */

static int store_profile(struct store *store)
{
	const struct fs_decoder *decoder = store->decoder;
	const struct fs_id_bases *bases = &decoder->bases;

	FS_TRY(fs_rows_begin(&store->rows, "profile"));
	for (size_t i = 0; i < decoder->profile.count; i++) {
		const struct fs_profile_key *key = fs_table_key(&decoder->profile, i);
		const struct fs_profile_value *value = fs_table_value(&decoder->profile, i);

		fs_rows_integer(&store->rows, bases->event + key->event);
		fs_rows_optional(&store->rows, key->code != FS_ROLLUP_NONE,
				 bases->code + key->code);
		fs_rows_optional(&store->rows, key->thread != FS_ROLLUP_NONE,
				 bases->thread + key->thread);
		fs_rows_integer(&store->rows, (int64_t)value->samples);
		fs_rows_integer(&store->rows, (int64_t)value->value);
		fs_rows_text(&store->rows, key->group_read ? "group_read" : "period");
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

static int store_heap_blocks(struct store *store)
{
	const struct fs_heap *heap = store->facts->heap;
	const struct fs_id_bases *bases = &store->decoder->bases;

	FS_TRY(fs_rows_begin(&store->rows, "heap_block"));
	for (size_t i = 0; i < heap->count; i++) {
		const struct fs_heap_block *block = &heap->blocks[i];

		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_integer(&store->rows, bases->space + block->space);
		fs_rows_integer(&store->rows, (int64_t)block->addr);
		fs_rows_integer(&store->rows, (int64_t)block->size);
		fs_rows_integer(&store->rows, block->tid);
		fs_rows_integer(&store->rows, (int64_t)block->alloc_ns);
		fs_rows_optional(&store->rows, block->free_ns, (int64_t)block->free_ns);
		fs_rows_optional(&store->rows, block->code != FS_NONE, bases->code + block->code);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

static int store_rollup(struct store *store)
{
	return fs_store_rollup(store->db, &store->decoder->rollup, &store->decoder->bases,
			       store->facts->id, store->error);
}

static int store_loss(struct store *store)
{
	static const char *const severities[] = { "info", "loss", "error" };
	const struct fs_loss *loss = &store->session->loss;

	FS_TRY(fs_rows_begin(&store->rows, "loss"));
	for (size_t i = 0; i < loss->entries.count; i++) {
		const struct fs_loss_key *key = fs_table_key(&loss->entries, i);
		const struct fs_loss_value *value = fs_table_value(&loss->entries, i);
		const struct fs_loss_description *description = &fs_loss_descriptions[key->kind];

		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_text(&store->rows, description->name);
		fs_rows_text(&store->rows, severities[description->severity]);
		fs_rows_text(&store->rows, fs_interned(&loss->scopes, key->scope, NULL));
		fs_rows_integer(&store->rows, (int64_t)value->count);
		fs_rows_integer(&store->rows, (int64_t)value->bytes);
		fs_rows_optional(&store->rows, value->first_offset != UINT64_MAX,
				 (int64_t)value->first_offset);
		fs_rows_text(&store->rows, description->text);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

static int store_loss_windows(struct store *store)
{
	const struct fs_table *windows = &store->session->loss.windows;

	FS_TRY(fs_rows_begin(&store->rows, "loss_window"));
	for (size_t i = 0; i < windows->count; i++) {
		const struct fs_loss_window_key *key = fs_table_key(windows, i);
		const struct fs_loss_window *window = fs_table_value(windows, i);

		fs_rows_integer(&store->rows, store->facts->id);
		fs_rows_text(&store->rows, fs_loss_descriptions[key->kind].name);
		add_told(store, key->cpu);
		fs_rows_integer(&store->rows, (int64_t)window->first_ns);
		fs_rows_integer(&store->rows, (int64_t)window->last_ns);
		fs_rows_integer(&store->rows, (int64_t)window->count);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

static int store_extent(struct store *store, const struct fs_extent *extent)
{
	static const char *const kinds[] = { "header", "section", "record_read", "record_skipped",
					     "gap" };

	fs_rows_integer(&store->rows, store->facts->id);
	fs_rows_text(&store->rows, kinds[extent->kind]);
	fs_rows_text(&store->rows, extent->name);
	fs_rows_integer(&store->rows, (int64_t)extent->count);
	fs_rows_integer(&store->rows, (int64_t)extent->bytes);
	fs_rows_optional(&store->rows, extent->first_offset != UINT64_MAX,
			 (int64_t)extent->first_offset);
	return fs_rows_end(&store->rows);
}

static int store_extents(struct store *store)
{
	const struct fs_extents *extents = &store->session->extents;

	if (extents->failed)
		return fs_fail(store->error, FS_NOMEM, "out of memory");
	FS_TRY(fs_rows_begin(&store->rows, "extent"));
	for (size_t i = 0; i < extents->count; i++)
		FS_TRY(store_extent(store, &extents->rows[i]));
	for (int skipped = 0; skipped < 2; skipped++)
		for (size_t type = 0; type < FS_RECORD_TYPES; type++)
			if (extents->records[skipped][type].count)
				FS_TRY(store_extent(store, &extents->records[skipped][type]));
	return 0;
}

int fs_store_trace(sqlite3 *db, const struct fs_decoder *decoder,
		   const struct fs_trace_facts *facts, struct fs_error *error)
{
	static int (*const parts[])(struct store * store) = {
		store_trace_row,    store_tracepoints,	 store_facts,	store_cpus,
		store_memory,	    store_events,	 store_threads, store_spaces,
		store_dsos,	    store_system_events, store_maps,	store_codes,
		store_heap_blocks,  store_profile,	 store_rollup,	store_loss,
		store_loss_windows, store_extents,
	};
	struct store store = {
		.db = db,
		.decoder = decoder,
		.session = decoder->session,
		.facts = facts,
		.error = error,
		.rows = { .db = db, .error = error },
	};
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(parts) / sizeof(parts[0]); i++)
		code = parts[i](&store);
	fs_rows_close(&store.rows);
	return code;
}
