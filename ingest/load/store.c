/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: one function per table. A row is written column by column with add_...(), in the
 * order of schema/tables.def, and sent by end_row(), which checks that none is missing.
 */
#include "ingest/load/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/version.h"
#include "ingest/load/bulk.h"
#include "schema/schema.h"

struct store {
	sqlite3 *db;
	const struct fs_decoder *decoder;
	const struct fs_session *session;
	const struct fs_trace_facts *facts;
	const struct fs_names *symbols;
	struct fs_error *error;
	sqlite3_stmt *insert;
	int columns; /* of the table */
	int column;  /* added to the current row */
};

/* Prepare to write rows of a table. */
static int begin_table(struct store *store, const char *table)
{
	sqlite3_str *sql = sqlite3_str_new(store->db);
	const struct fs_table_definition *definition = fs_schema_tables;
	char *text;
	int code;

	while (strcmp(definition->name, table) != 0)
		definition++;
	store->columns = store->column = 0;
	sqlite3_finalize(store->insert);
	store->insert = NULL;
	sqlite3_str_appendf(sql, "INSERT INTO %s VALUES (", table);
	for (; definition->columns[store->columns].name; store->columns++)
		sqlite3_str_appendall(sql, store->columns ? ",?" : "?");
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	if (!text)
		return fs_fail(store->error, FS_NOMEM, "out of memory");
	code = sqlite3_prepare_v2(store->db, text, -1, &store->insert, NULL);
	sqlite3_free(text);
	return code == SQLITE_OK ? 0 : fs_sql_fail(store->db, NULL, store->error);
}

static void add_integer(struct store *store, int64_t value)
{
	sqlite3_bind_int64(store->insert, ++store->column, value);
}

/* NULL unless present. */
static void add_optional(struct store *store, bool present, int64_t value)
{
	if (present)
		add_integer(store, value);
	else
		sqlite3_bind_null(store->insert, ++store->column);
}

/* NULL stays NULL; the text must live until end_row(). */
static void add_text(struct store *store, const char *text)
{
	sqlite3_bind_text(store->insert, ++store->column, text, -1, SQLITE_STATIC);
}

static void add_real(struct store *store, bool present, double value)
{
	++store->column;
	if (present)
		sqlite3_bind_double(store->insert, store->column, value);
	else
		sqlite3_bind_null(store->insert, store->column);
}

static void add_blob(struct store *store, const void *bytes, size_t size)
{
	++store->column;
	if (size)
		sqlite3_bind_blob(store->insert, store->column, bytes, (int)size, SQLITE_STATIC);
	else
		sqlite3_bind_null(store->insert, store->column);
}

static int end_row(struct store *store)
{
	bool whole = store->column == store->columns;
	int code;

	store->column = 0;
	if (!whole)
		return fs_fail(store->error, FS_INTERNAL,
			       "a row has the wrong number of columns (%s)",
			       sqlite3_sql(store->insert));
	code = sqlite3_step(store->insert);
	sqlite3_reset(store->insert);
	if (code == SQLITE_DONE)
		return 0;
	return fs_sql_fail(store->db, NULL, store->error);
}

static const char *text_of(const struct fs_interner *strings, int64_t id)
{
	return id < 0 ? NULL : fs_interned(strings, (uint32_t)id, NULL);
}

static int store_trace_row(struct store *store)
{
	const struct fs_session *session = store->session;
	const struct fs_decoder *decoder = store->decoder;
	const struct fs_host *host = &session->host;

	FS_TRY(begin_table(store, "trace"));
	add_integer(store, store->facts->id);
	add_text(store, store->facts->name);
	add_text(store, store->facts->sha256);
	add_integer(store, (int64_t)(session->file.size + session->file.parts_size));
	add_text(store, FS_VERSION);
	add_text(store, store->facts->options);
	add_text(store, host->arch);
	add_text(store, host->hostname);
	add_text(store, host->os_release);
	add_text(store, host->perf_version);
	add_text(store, host->cpu_description);
	add_text(store, host->cpuid);
	add_text(store, host->cmdline);
	add_optional(store, host->cpus_online, host->cpus_online);
	add_optional(store, host->cpus_available, host->cpus_available);
	add_optional(store, host->memory_kib, (int64_t)host->memory_kib);
	add_integer(store, host->line_size ? host->line_size : 64);
	add_text(store, host->line_size ? host->line_size_source : "assumed");
	add_optional(store, host->has_clock_data, host->clock_id);
	add_optional(store, host->has_clock_data, (int64_t)(host->clock_wall_ns - host->clock_ns));
	add_optional(store, decoder->first_ns, (int64_t)decoder->first_ns);
	add_optional(store, decoder->first_ns, (int64_t)decoder->last_ns);
	add_integer(store, !fs_loss_is_damaged(&session->loss));
	add_integer(store, (int64_t)(decoder->sample_records + decoder->spe_records));
	add_integer(store, (int64_t)decoder->sample_records);
	add_integer(store, (int64_t)decoder->spe_records);
	add_integer(store, (int64_t)decoder->memory_samples);
	add_optional(store, decoder->memory_samples,
		     (int64_t)(1ull << decoder->rollup.window_shift));
	return end_row(store);
}

static int put_fact(struct store *store, const char *name, uint64_t value)
{
	char text[32];

	if (!value)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64, value);
	add_integer(store, store->facts->id);
	add_text(store, name);
	add_text(store, text);
	return end_row(store);
}

static int store_facts(struct store *store)
{
	const struct fs_session *session = store->session;
	const struct fs_host *host = &session->host;

	FS_TRY(begin_table(store, "fact"));
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
		add_integer(store, store->facts->id);
		add_text(store, host->facts[i].name);
		add_text(store, host->facts[i].value);
		FS_TRY(end_row(store));
	}
	for (unsigned int type = 0; type < FS_RECORD_TYPES; type++) {
		char name[32];

		snprintf(name, sizeof(name), "records.%u", type);
		FS_TRY(put_fact(store, name, session->record_count[type]));
	}
	return 0;
}

static int store_cpus(struct store *store)
{
	const struct fs_host *host = &store->session->host;

	FS_TRY(begin_table(store, "cpu"));
	for (size_t i = 0; i < host->cpu_count; i++) {
		const struct fs_cpu *cpu = &host->cpus[i];
		uint64_t midr = fs_session_midr(store->session, (uint32_t)i);

		if (!cpu->present)
			continue;
		add_integer(store, store->facts->id);
		add_integer(store, (int64_t)i);
		add_optional(store, cpu->node >= 0, cpu->node);
		add_optional(store, cpu->package >= 0, cpu->package);
		add_optional(store, cpu->core >= 0, cpu->core);
		add_optional(store, midr, (int64_t)midr);
		FS_TRY(end_row(store));
	}
	FS_TRY(begin_table(store, "cache"));
	for (size_t i = 0; i < host->cache_count; i++) {
		const struct fs_cache *cache = &host->caches[i];

		add_integer(store, store->facts->id);
		add_integer(store, cache->level);
		add_text(store, cache->type);
		add_text(store, cache->size);
		add_integer(store, cache->line_size);
		add_integer(store, cache->sets);
		add_integer(store, cache->ways);
		add_text(store, cache->cpus);
		FS_TRY(end_row(store));
	}
	return 0;
}

static int store_memory(struct store *store)
{
	const struct fs_host *host = &store->session->host;

	FS_TRY(begin_table(store, "numa_node"));
	for (size_t i = 0; i < host->node_count; i++) {
		const struct fs_numa_node *node = &host->nodes[i];

		add_integer(store, store->facts->id);
		add_integer(store, node->node);
		add_integer(store, (int64_t)node->memory_kib);
		add_integer(store, (int64_t)node->free_kib);
		add_text(store, node->cpus);
		FS_TRY(end_row(store));
	}
	FS_TRY(begin_table(store, "memory_range"));
	for (size_t i = 0; i < host->range_count; i++) {
		add_integer(store, store->facts->id);
		add_integer(store, (int64_t)host->ranges[i].node);
		add_integer(store, (int64_t)host->ranges[i].first);
		add_integer(store, (int64_t)host->ranges[i].last);
		FS_TRY(end_row(store));
	}
	FS_TRY(begin_table(store, "pmu"));
	for (size_t i = 0; i < host->pmu_count; i++) {
		add_integer(store, store->facts->id);
		add_integer(store, host->pmus[i].type);
		add_text(store, host->pmus[i].name);
		FS_TRY(end_row(store));
	}
	FS_TRY(begin_table(store, "pmu_capability"));
	for (size_t i = 0; i < host->capability_count; i++) {
		add_integer(store, store->facts->id);
		add_text(store, host->capabilities[i].pmu);
		add_text(store, host->capabilities[i].name);
		add_text(store, host->capabilities[i].value);
		FS_TRY(end_row(store));
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

		add_integer(store, store->facts->id);
		add_integer(store, tracepoint->id);
		add_text(store, text_of(&tracepoints->strings, field->name));
		add_text(store, text_of(&tracepoints->strings, field->type));
		add_integer(store, field->offset);
		add_integer(store, field->size);
		add_optional(store, array && field->element_size, field->element_size);
		add_integer(store, !!(field->flags & FS_FIELD_SIGNED));
		add_integer(store, !!(field->flags & FS_FIELD_STRING));
		add_text(store, field->flags & FS_FIELD_RELATIVE  ? "relative"
				: field->flags & FS_FIELD_DYNAMIC ? "dynamic"
								  : "in place");
		add_integer(store, !!(field->flags & FS_FIELD_COMMON));
		FS_TRY(end_row(store));
	}
	return 0;
}

static int store_tracepoints(struct store *store)
{
	const struct fs_tracepoints *tracepoints = &store->session->tracepoints;

	FS_TRY(begin_table(store, "tracepoint"));
	for (size_t i = 0; i < tracepoints->count; i++) {
		const struct fs_tracepoint *tracepoint = &tracepoints->items[i];

		add_integer(store, store->facts->id);
		add_integer(store, tracepoint->id);
		add_text(store, text_of(&tracepoints->strings, tracepoint->system));
		add_text(store, text_of(&tracepoints->strings, tracepoint->name));
		FS_TRY(end_row(store));
	}
	FS_TRY(begin_table(store, "tracepoint_field"));
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
	if (attr->type == 0)
		return attr->config == 0   ? "cycles"
		       : attr->config == 1 ? "instructions"
		       : attr->config == 8 ? "stall_backend"
					   : NULL;
	if (contains(event->name, "cycles") && !contains(event->name, "stall"))
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
	add_integer(store, base + (int64_t)index);
	add_integer(store, store->facts->id);
	add_integer(store, (int64_t)index);
	add_text(store, event->name ? event->name : name);
	add_text(store, fs_event_role(event, fs_session_is_spe(store->session, index)));
	add_optional(store, event->leader >= 0, base + event->leader);
	add_integer(store, attr->type);
	add_integer(store, (int64_t)attr->config);
	add_integer(store, (int64_t)attr->config1);
	add_integer(store, (int64_t)attr->config2);
	add_optional(store, attr->size >= 136, (int64_t)attr->config3);
	add_optional(store, attr->size >= 144, (int64_t)attr->config4);
	add_optional(store, attr->type == 5, attr->bp_type);
	add_integer(store, (int64_t)attr->sample_type);
	add_integer(store, (int64_t)attr->read_format);
	add_integer(store, (int64_t)attr->flags);
	add_integer(store, (int64_t)(attr->flags >> FS_ATTR_PRECISE_SHIFT & 3));
	add_optional(store, !freq, (int64_t)attr->sample_period);
	add_optional(store, freq, (int64_t)attr->sample_period);
	add_text(store, event->unit);
	add_real(store, event->scale != 0, event->scale);
	add_text(store, event->cpus);
	add_integer(store, (int64_t)counts->samples);
	add_integer(store, (int64_t)counts->period_sum);
	return end_row(store);
}

static int store_events(struct store *store)
{
	const struct fs_session *session = store->session;
	size_t events = session->file.event_count;

	FS_TRY(begin_table(store, "event"));
	for (size_t i = 0; i < events; i++)
		FS_TRY(store_event(store, i));
	/* samples with an id of none of them */
	if (store->decoder->event_counts[events].samples)
		FS_TRY(store_event(store, events));
	FS_TRY(begin_table(store, "event_instance"));
	for (size_t i = 0; i < session->ids.count; i++) {
		const struct fs_event_id *id = fs_table_value(&session->ids, i);

		add_integer(store, store->decoder->bases.event + (int64_t)id->event);
		add_integer(store, *(const int64_t *)fs_table_key(&session->ids, i));
		add_optional(store, id->cpu >= 0, id->cpu);
		add_optional(store, id->tid >= 0, id->tid);
		add_optional(store, id->machine_pid >= 0, id->machine_pid);
		add_optional(store, id->vcpu >= 0, id->vcpu);
		FS_TRY(end_row(store));
	}
	return 0;
}

/* NULL for a number that stands for "not told". */
static void add_told(struct store *store, uint32_t number)
{
	add_optional(store, number != UINT32_MAX, number);
}

static void add_event_id(struct store *store, int64_t event)
{
	add_optional(store, event != FS_NONE, store->decoder->bases.event + event);
}

static int store_system_events(struct store *store)
{
#define FS_SYSTEM_NAME(suffix, name) name,
	static const char *const kinds[] = { FS_SYSTEM_LIST(FS_SYSTEM_NAME) };
#undef FS_SYSTEM_NAME
	static const char *const sources[] = { "read", "stat", "stat_final" };
	const struct fs_system *system = &store->session->system;
	const struct fs_interner *strings = &store->session->strings;

	FS_TRY(begin_table(store, "system_event"));
	for (size_t i = 0; i < system->event_count; i++) {
		const struct fs_system_event *event = &system->events[i];

		add_integer(store, store->facts->id);
		add_text(store, kinds[event->kind]);
		add_optional(store, event->time_ns, (int64_t)event->time_ns);
		add_told(store, event->cpu);
		add_told(store, event->pid);
		add_told(store, event->tid);
		add_event_id(store, event->event);
		add_optional(store, event->has_address, (int64_t)event->address);
		add_optional(store, event->length, (int64_t)event->length);
		add_optional(store, event->has_number, (int64_t)event->number);
		add_text(store, text_of(strings, event->name));
		add_text(store, text_of(strings, event->detail));
		FS_TRY(end_row(store));
	}
	FS_TRY(begin_table(store, "counter"));
	for (size_t i = 0; i < system->counter_count; i++) {
		const struct fs_counter *counter = &system->counters[i];

		add_integer(store, store->facts->id);
		add_event_id(store, counter->event);
		add_text(store, sources[counter->source]);
		add_optional(store, counter->time_ns, (int64_t)counter->time_ns);
		add_told(store, counter->cpu);
		add_told(store, counter->pid);
		add_told(store, counter->tid);
		add_integer(store, (int64_t)counter->value);
		add_optional(store, counter->has_enabled, (int64_t)counter->time_enabled);
		add_optional(store, counter->has_running, (int64_t)counter->time_running);
		FS_TRY(end_row(store));
	}
	return 0;
}

/* ---- threads, spaces, maps ---- */

static int store_threads(struct store *store)
{
	const struct fs_session *session = store->session;
	const struct fs_threads *threads = &session->threads;
	int64_t base = store->decoder->bases.thread;

	FS_TRY(begin_table(store, "thread"));
	for (size_t i = 0; i < threads->count; i++) {
		const struct fs_thread *thread = &threads->threads[i];

		add_integer(store, base + (int64_t)i);
		add_integer(store, store->facts->id);
		add_optional(store, thread->pid != FS_PID_UNKNOWN, thread->pid);
		add_integer(store, thread->tid);
		add_text(store, text_of(&session->strings, thread->comm));
		add_optional(store, thread->start_ns, (int64_t)thread->start_ns);
		add_optional(store, thread->end_ns != UINT64_MAX, (int64_t)thread->end_ns);
		add_integer(store, (int64_t)thread->samples);
		FS_TRY(end_row(store));
	}
	FS_TRY(begin_table(store, "comm"));
	for (size_t i = 0; i < threads->comm_count; i++) {
		const struct fs_comm *comm = &threads->comms[i];

		add_integer(store, base + comm->thread);
		add_optional(store, comm->time_ns, (int64_t)comm->time_ns);
		add_text(store, text_of(&session->strings, comm->name));
		add_integer(store, comm->exec);
		FS_TRY(end_row(store));
	}
	return 0;
}

static int store_spaces(struct store *store)
{
	static const char *const kinds[] = { "kernel", "process", "unknown" };
	const struct fs_session *session = store->session;

	FS_TRY(begin_table(store, "space"));
	for (size_t i = 0; i < session->threads.space_count; i++) {
		const struct fs_space *space = &session->threads.spaces[i];
		bool process = space->kind == FS_SPACE_PROCESS;

		if (!process && !space->samples)
			continue;
		add_integer(store, store->decoder->bases.space + (int64_t)i);
		add_integer(store, store->facts->id);
		add_text(store, kinds[space->kind]);
		add_optional(store, process, space->pid);
		add_optional(store, space->start_ns, (int64_t)space->start_ns);
		add_text(store,
			 process ? text_of(&session->strings, space->name) : kinds[space->kind]);
		add_optional(store, space->parent != FS_NONE,
			     store->decoder->bases.space + space->parent);
		FS_TRY(end_row(store));
	}
	return 0;
}

static const char *dso_kind(const char *path, uint16_t cpumode)
{
	static const char *const anonymous[] = { "//anon", "/dev/zero", "/anon_hugepage", "[heap]",
						 "[stack" };

	if (cpumode == FS_CPUMODE_KSYMBOL)
		return "generated";
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

static int store_dsos(struct store *store)
{
	const struct fs_session *session = store->session;
	const struct fs_names *symbols = store->symbols;

	FS_TRY(begin_table(store, "dso"));
	for (size_t i = 0; i < session->maps.dso_count; i++) {
		const struct fs_dso *dso = &session->maps.dsos[i];
		const char *path = text_of(&session->strings, dso->path);
		const struct fs_symbol_dso *found = symbols && symbols->dso_of[i]
							    ? &symbols->dsos[symbols->dso_of[i] - 1]
							    : NULL;
		bool named = dso->cpumode == FS_CPUMODE_KSYMBOL;

		add_integer(store, store->facts->dso_base + (int64_t)i);
		add_integer(store, store->facts->id);
		add_text(store, path);
		add_text(store, text_of(&session->strings, dso->build_id));
		add_text(store, dso_kind(path, dso->cpumode));
		add_text(store, fs_symbols_name(found	? found->symbols
						: named ? FS_SYMBOLS_VERIFIED
							: FS_SYMBOLS_NOT_ASKED));
		add_text(store, found && found->reason[0] ? found->reason
				: named			  ? "named by the kernel (KSYMBOL)"
							  : NULL);
		add_integer(store, (int64_t)dso->samples);
		FS_TRY(end_row(store));
	}
	return 0;
}

static int store_maps(struct store *store)
{
	const struct fs_maps *maps = &store->session->maps;

	FS_TRY(begin_table(store, "map"));
	for (size_t i = 0; i < maps->count; i++) {
		const struct fs_map *map = &maps->maps[i];

		add_integer(store, store->facts->id);
		add_optional(store, map->pid < FS_PID_GUEST, map->pid);
		add_optional(store, map->tid != FS_PID_KERNEL, map->tid);
		add_optional(store, map->time_ns, (int64_t)map->time_ns);
		add_integer(store, (int64_t)map->start);
		add_integer(store, (int64_t)(map->end - map->start));
		add_integer(store, (int64_t)map->pgoff);
		add_optional(store, map->has_prot, map->prot);
		add_optional(store, map->has_prot, map->flags);
		add_integer(store, map->data);
		add_integer(store, store->facts->dso_base + map->dso);
		FS_TRY(end_row(store));
	}
	return 0;
}

/* ---- code ---- */

static const char *symbol_text(const struct store *store, uint32_t id)
{
	return id == FS_SYMBOL_NONE ? NULL : fs_interned(&store->symbols->strings, id, NULL);
}

/* Code that the kernel made at run time: its DSO is the function. */
static int store_ksymbol(struct store *store, size_t dso, int64_t id)
{
	add_integer(store, id);
	add_integer(store, store->facts->dso_base + (int64_t)dso);
	add_text(store, text_of(&store->session->strings, store->session->maps.dsos[dso].path));
	add_text(store, NULL);
	add_integer(store, 0);
	add_integer(store, 0);
	return end_row(store);
}

/* What was asked of a DSO of the session; NULL: nothing. */
static const struct fs_symbol_dso *asked_dso(const struct store *store, size_t dso)
{
	const struct fs_names *symbols = store->symbols;

	return symbols && symbols->dso_of[dso] ? &symbols->dsos[symbols->dso_of[dso] - 1] : NULL;
}

static int store_fields(struct store *store, const struct fs_symbol_dso *dso, int64_t first)
{
	uint32_t type = FS_SYMBOL_NONE;
	int64_t index = 0;

	for (size_t i = 0; i < dso->field_count; i++) {
		const struct fs_symbol_field *field = &dso->fields[i];

		index = field->type == type ? index + 1 : 0;
		type = field->type;
		add_integer(store, first + type);
		add_integer(store, index);
		add_text(store, symbol_text(store, field->name));
		add_text(store, symbol_text(store, field->type_name));
		add_optional(store, field->member != FS_SYMBOL_NONE, first + field->member);
		add_integer(store, (int64_t)field->offset);
		add_integer(store, (int64_t)field->size);
		add_optional(store, field->elements, (int64_t)field->elements);
		add_optional(store, field->bit_size, field->bit_offset);
		add_optional(store, field->bit_size, field->bit_size);
		add_integer(store, field->base_class);
		FS_TRY(end_row(store));
	}
	return 0;
}

/* Types of all asked DSOs and their fields; ret_first gets the id of each session DSO's first. */
static int store_types(struct store *store, int64_t *ret_first)
{
	const struct fs_names *symbols = store->symbols;
	size_t dsos = symbols ? store->session->maps.dso_count : 0;
	int64_t next = store->facts->type_base;

	FS_TRY(begin_table(store, "type"));
	for (size_t i = 0; i < dsos; i++) {
		const struct fs_symbol_dso *dso = asked_dso(store, i);

		ret_first[i] = next;
		for (size_t k = 0; dso && k < dso->type_count; k++) {
			add_integer(store, next++);
			add_integer(store, store->facts->id);
			add_integer(store, store->facts->dso_base + (int64_t)i);
			add_text(store, symbol_text(store, dso->types[k].name));
			add_text(store, fs_type_kind_name(dso->types[k].kind));
			add_optional(store, dso->types[k].size, (int64_t)dso->types[k].size);
			FS_TRY(end_row(store));
		}
	}
	FS_TRY(begin_table(store, "field"));
	for (size_t i = 0; i < dsos; i++) {
		if (asked_dso(store, i))
			FS_TRY(store_fields(store, asked_dso(store, i), ret_first[i]));
	}
	return 0;
}

/* Variables at sampled data addresses. */
static int store_variables(struct store *store, const int64_t *first_type)
{
	const struct fs_names *symbols = store->symbols;

	FS_TRY(begin_table(store, "variable"));
	for (size_t i = 0; symbols && i < symbols->object_count; i++) {
		const struct fs_object_asked *asked = &symbols->objects[i];
		const struct fs_symbol_dso *dso = asked_dso(store, asked->dso);
		const struct fs_symbol_object *object = dso ? &dso->objects[asked->query] : NULL;
		bool typed;

		if (!object || object->name == FS_SYMBOL_NONE)
			continue;
		typed = object->type != FS_SYMBOL_NONE;
		add_integer(store, store->facts->id);
		add_integer(store, store->decoder->bases.space + asked->space);
		add_integer(store, (int64_t)asked->addr);
		add_integer(store, store->facts->dso_base + asked->dso);
		add_text(store, symbol_text(store, object->name));
		add_integer(store, (int64_t)(asked->addr - object->offset));
		add_optional(store, object->size, (int64_t)object->size);
		add_optional(store, typed, typed ? first_type[asked->dso] + object->type : 0);
		add_text(store, symbol_text(store, object->field));
		FS_TRY(end_row(store));
	}
	return 0;
}

/* Functions of all asked DSOs; ret_first gets the id of each session DSO's first. */
static int store_functions(struct store *store, int64_t *ret_first)
{
	const struct fs_names *symbols = store->symbols;
	int64_t next = store->facts->function_base;

	FS_TRY(begin_table(store, "function"));
	for (size_t i = 0; i < store->session->maps.dso_count; i++) {
		const struct fs_symbol_dso *dso;

		if (store->session->maps.dsos[i].cpumode == FS_CPUMODE_KSYMBOL &&
		    store->session->maps.dsos[i].samples) {
			ret_first[i] = next;
			FS_TRY(store_ksymbol(store, i, next++));
		}
		if (!symbols || !symbols->dso_of[i])
			continue;
		dso = &symbols->dsos[symbols->dso_of[i] - 1];
		ret_first[i] = next;
		for (size_t k = 0; k < dso->function_count; k++) {
			const struct fs_symbol_function *function = &dso->functions[k];

			add_integer(store, next++);
			add_integer(store, store->facts->dso_base + (int64_t)i);
			add_text(store, symbol_text(store, function->name));
			add_text(store, symbol_text(store, function->linkage_name));
			add_integer(store, (int64_t)function->address);
			add_integer(store, (int64_t)function->size);
			FS_TRY(end_row(store));
		}
	}
	return 0;
}

/* What the binaries say of a code address. */
static struct fs_symbol_result result_of(const struct store *store, size_t index,
					 const struct fs_code *code)
{
	const struct fs_names *symbols = store->symbols;

	if (code->dso != FS_NONE &&
	    store->session->maps.dsos[code->dso].cpumode == FS_CPUMODE_KSYMBOL) {
		struct fs_symbol_result whole = fs_symbol_result_unknown();

		whole.function = 0;
		whole.function_offset = code->offset;
		return whole;
	}
	if (!symbols || code->dso == FS_NONE || !symbols->dso_of[code->dso])
		return fs_symbol_result_unknown();
	return symbols->dsos[symbols->dso_of[code->dso] - 1].results[symbols->result_of[index]];
}

/* The columns that say what an instruction accesses. */
static void add_access_type(struct store *store, const struct fs_symbol_result *result,
			    int64_t first_type)
{
	bool typed = result->type != FS_SYMBOL_NONE;

	add_optional(store, typed, first_type + result->type);
	add_optional(store, typed, result->type_offset);
	add_optional(store, typed, result->stride);
	add_optional(store, typed, result->within);
	add_text(store, typed ? fs_type_method_name(result->type_method) : NULL);
	add_text(store, typed ? symbol_text(store, result->variable) : NULL);
	add_text(store, typed ? symbol_text(store, result->field) : NULL);
}

static int store_code(struct store *store, size_t index, const int64_t *first_function,
		      const int64_t *first_type)
{
	const struct fs_code *code = fs_decoder_code(store->decoder, index);
	struct fs_symbol_result result = result_of(store, index, code);
	bool mapped = code->dso != FS_NONE;
	bool named = result.function != FS_SYMBOL_NONE;
	const char *method = fs_operand_method_name(result.method);

	if (!result.width && code->watch_length) {
		result.width = code->watch_length;
		method = "watchpoint";
	}
	add_integer(store, store->decoder->bases.code + (int64_t)index);
	add_integer(store, store->facts->id);
	add_optional(store, mapped, store->facts->dso_base + code->dso);
	add_optional(store, mapped, (int64_t)code->offset);
	add_integer(store, (int64_t)code->ip);
	add_integer(store, code->exact);
	add_optional(store, named, named ? first_function[code->dso] + result.function : 0);
	add_optional(store, named, (int64_t)result.function_offset);
	add_text(store, symbol_text(store, result.file));
	add_optional(store, result.line, result.line);
	add_optional(store, result.op >= 0, result.op);
	add_optional(store, result.width, result.width);
	add_text(store, symbol_text(store, result.base_register));
	add_optional(store, result.base_register != FS_SYMBOL_NONE, result.displacement);
	add_text(store, method);
	add_access_type(store, &result, mapped ? first_type[code->dso] : 0);
	add_integer(store, (int64_t)code->samples);
	return end_row(store);
}

static int store_names(struct store *store, int64_t *first_function, int64_t *first_type)
{
	const struct fs_decoder *decoder = store->decoder;

	FS_TRY(store_types(store, first_type));
	FS_TRY(store_variables(store, first_type));
	FS_TRY(store_functions(store, first_function));
	FS_TRY(begin_table(store, "code"));
	for (size_t i = 0; i < decoder->code_ids.count; i++)
		FS_TRY(store_code(store, i, first_function, first_type));
	return 0;
}

static int store_codes(struct store *store)
{
	const struct fs_decoder *decoder = store->decoder;
	size_t dsos = store->session->maps.dso_count;
	int64_t *firsts = calloc(2 * dsos + 1, sizeof(*firsts));
	int code;

	if (!firsts)
		return fs_fail(store->error, FS_NOMEM, "out of memory");
	code = store_names(store, firsts, firsts + dsos);
	free(firsts);
	FS_TRY(code);
	FS_TRY(begin_table(store, "chain"));
	for (size_t i = 0; i < decoder->chains.count; i++) {
		const struct fs_chain *chain = fs_table_key(&decoder->chains, i);

		add_integer(store, decoder->bases.chain + (int64_t)i);
		add_integer(store, store->facts->id);
		add_optional(store, chain->parent != UINT32_MAX,
			     decoder->bases.chain + chain->parent);
		add_integer(store, decoder->bases.code + chain->code);
		FS_TRY(end_row(store));
	}
	return 0;
}

/* ---- roll-ups ---- */

static int store_profile(struct store *store)
{
	const struct fs_decoder *decoder = store->decoder;
	const struct fs_id_bases *bases = &decoder->bases;

	FS_TRY(begin_table(store, "profile"));
	for (size_t i = 0; i < decoder->profile.count; i++) {
		const struct fs_profile_key *key = fs_table_key(&decoder->profile, i);
		const struct fs_profile_value *value = fs_table_value(&decoder->profile, i);

		add_integer(store, bases->event + key->event);
		add_optional(store, key->code != FS_ROLLUP_NONE, bases->code + key->code);
		add_optional(store, key->thread != FS_ROLLUP_NONE, bases->thread + key->thread);
		add_integer(store, (int64_t)value->samples);
		add_integer(store, (int64_t)value->value);
		add_text(store, key->group_read ? "group_read" : "period");
		FS_TRY(end_row(store));
	}
	return 0;
}

static int store_access(struct store *store)
{
	const struct fs_rollup *rollup = &store->decoder->rollup;
	const struct fs_id_bases *bases = &store->decoder->bases;

	FS_TRY(begin_table(store, "access"));
	for (size_t i = 0; i < rollup->group_count; i++) {
		const struct fs_rollup_group *group = &rollup->groups[i];
		const struct fs_rollup_sums *sums = &group->sums;

		add_integer(store, store->facts->id);
		add_integer(store, bases->space + group->space);
		add_integer(store, (int64_t)(group->addr & ~(uint64_t)(FS_ROLLUP_LINE - 1)));
		add_integer(store, (int64_t)group->addr);
		add_optional(store, group->phys_line, group->phys_line);
		add_integer(store, bases->event + group->event);
		add_integer(store, group->op);
		add_optional(store, group->code != FS_ROLLUP_NONE, bases->code + group->code);
		add_optional(store, group->thread != FS_ROLLUP_NONE, bases->thread + group->thread);
		add_optional(store, group->cpu != FS_ROLLUP_NONE, group->cpu);
		add_integer(store, group->source);
		add_integer(store, (int64_t)sums->samples);
		add_integer(store, (int64_t)sums->period);
		add_integer(store, (int64_t)sums->l1_misses);
		add_integer(store, (int64_t)sums->dirty_snoops);
		add_integer(store, (int64_t)sums->latency_samples);
		add_integer(store, (int64_t)sums->latency_sum);
		add_optional(store, sums->latency_samples, sums->latency_max);
		add_blob(store, rollup->histograms + group->histogram, group->histogram_size);
		add_optional(store, group->first_ns, (int64_t)group->first_ns);
		add_optional(store, group->first_ns, (int64_t)group->last_ns);
		FS_TRY(end_row(store));
	}
	return 0;
}

/* Rows of integers go to the table in pieces. */
struct pieces {
	struct fs_bulk bulk;
	int64_t *rows;
	size_t count;
};

enum { PIECE_ROWS = 1 << 13 };

static int begin_pieces(struct store *store, struct pieces *pieces, const char *table,
			unsigned int columns)
{
	*pieces = (struct pieces){ 0 };
	pieces->rows = malloc(PIECE_ROWS * (columns + 1) * sizeof(*pieces->rows));
	if (!pieces->rows)
		return fs_fail(store->error, FS_NOMEM, "out of memory");
	return fs_bulk_open(&pieces->bulk, store->db, table, columns, store->error);
}

/* Append a row of values and the mask of those that are NULL; the last call has none. */
static int add_piece(struct store *store, struct pieces *pieces, const int64_t *row)
{
	unsigned int stride = pieces->bulk.columns + 1;

	if (row)
		memcpy(pieces->rows + pieces->count++ * stride, row, stride * sizeof(*row));
	if (row && pieces->count < PIECE_ROWS)
		return 0;
	FS_TRY(fs_bulk_insert(&pieces->bulk, pieces->rows, pieces->count, store->error));
	pieces->count = 0;
	return 0;
}

static int end_pieces(struct store *store, struct pieces *pieces, int code)
{
	if (!code)
		code = add_piece(store, pieces, NULL);
	fs_bulk_close(&pieces->bulk);
	free(pieces->rows);
	return code;
}

static int store_windows(struct store *store)
{
	const struct fs_rollup *rollup = &store->decoder->rollup;
	const struct fs_id_bases *bases = &store->decoder->bases;
	struct pieces pieces;
	int code = begin_pieces(store, &pieces, "access_window", 11);

	for (size_t i = 0; !code && i < rollup->window_count; i++) {
		const struct fs_rollup_window *window = &rollup->windows[i];
		const int64_t row[] = {
			store->facts->id,
			bases->space + window->space,
			(int64_t)(window->addr & ~(uint64_t)(FS_ROLLUP_LINE - 1)),
			(int64_t)window->addr,
			window->op,
			bases->code + window->code,
			bases->thread + window->thread,
			(int64_t)window->window,
			(int64_t)window->samples,
			(int64_t)window->transfers,
			(int64_t)window->latency_sum,
			(window->code == FS_ROLLUP_NONE) << 5 | (window->thread == FS_ROLLUP_NONE)
									<< 6,
		};

		code = add_piece(store, &pieces, row);
	}
	return end_pieces(store, &pieces, code);
}

static int store_lines(struct store *store)
{
	const struct fs_rollup *rollup = &store->decoder->rollup;
	struct pieces pieces;
	int code = begin_pieces(store, &pieces, "line_total", 11);

	for (size_t i = 0; !code && i < rollup->line_count; i++) {
		const struct fs_rollup_line *line = &rollup->lines[i];
		const int64_t row[] = {
			store->facts->id,
			store->decoder->bases.space + line->space,
			(int64_t)line->line,
			line->threads,
			(int64_t)line->sums.samples,
			(int64_t)line->loads,
			(int64_t)line->stores,
			(int64_t)line->atomics,
			(int64_t)line->sums.transfers,
			(int64_t)line->sums.latency_samples,
			(int64_t)line->sums.latency_sum,
			0,
		};

		code = add_piece(store, &pieces, row);
	}
	return end_pieces(store, &pieces, code);
}

static int compare_codes(const void *a, const void *b)
{
	const struct fs_rollup_code *left = *(const struct fs_rollup_code *const *)a;
	const struct fs_rollup_code *right = *(const struct fs_rollup_code *const *)b;

	if (left->event != right->event)
		return left->event < right->event ? -1 : 1;
	if (left->code != right->code)
		return left->code < right->code ? -1 : 1;
	if (left->op != right->op)
		return left->op < right->op ? -1 : 1;
	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	return left->bucket < right->bucket ? -1 : left->bucket > right->bucket;
}

static bool is_same_code(const struct fs_rollup_code *left, const struct fs_rollup_code *right)
{
	return left->event == right->event && left->code == right->code && left->op == right->op &&
	       left->source == right->source;
}

/* Write one row from the buckets [first, end) of one code, operation and source. */
static int store_code_total(struct store *store, struct fs_rollup_code *const *keys, size_t first,
			    size_t end)
{
	const struct fs_rollup_code *key = keys[first];
	const struct fs_id_bases *bases = &store->decoder->bases;
	uint8_t blob[FS_HISTOGRAM_BLOB_MAX];
	struct fs_histogram histogram = { 0 };
	struct fs_rollup_code_sums total = { 0 };
	uint64_t latency_samples = 0;

	for (size_t i = first; i < end; i++) {
		const struct fs_rollup_code_sums *sums = (const void *)(keys[i] + 1);

		total.samples += sums->samples;
		total.period += sums->period;
		total.latency_sum += sums->latency_sum;
		if (keys[i]->bucket == FS_HISTOGRAM_BUCKETS)
			continue;
		latency_samples += sums->samples;
		histogram.count[keys[i]->bucket] += sums->samples;
	}
	add_integer(store, store->facts->id);
	add_integer(store, bases->event + key->event);
	add_optional(store, key->code != FS_ROLLUP_NONE, bases->code + key->code);
	add_integer(store, key->op);
	add_integer(store, key->source);
	add_integer(store, (int64_t)total.samples);
	add_integer(store, (int64_t)total.period);
	add_integer(store, (int64_t)latency_samples);
	add_integer(store, (int64_t)total.latency_sum);
	add_blob(store, blob, fs_histogram_pack(&histogram, 0, FS_HISTOGRAM_BUCKETS - 1, blob));
	return end_row(store);
}

static int store_code_totals(struct store *store)
{
	const struct fs_table *codes = &store->decoder->rollup.codes;
	struct fs_rollup_code **keys = calloc(codes->count + 1, sizeof(struct fs_rollup_code *));
	int code;

	if (!keys)
		return fs_fail(store->error, FS_NOMEM, "out of memory");
	for (size_t i = 0; i < codes->count; i++)
		keys[i] = fs_table_key(codes, i);
	qsort(keys, codes->count, sizeof(struct fs_rollup_code *), compare_codes);
	code = begin_table(store, "code_total");
	for (size_t first = 0, end; !code && first < codes->count; first = end) {
		for (end = first + 1; end < codes->count && is_same_code(keys[first], keys[end]);
		     end++)
			;
		code = store_code_total(store, keys, first, end);
	}
	free(keys);
	return code;
}

static int store_loss(struct store *store)
{
	static const char *const severities[] = { "info", "loss", "error" };
	const struct fs_loss *loss = &store->session->loss;

	FS_TRY(begin_table(store, "loss"));
	for (size_t i = 0; i < loss->entries.count; i++) {
		const struct fs_loss_key *key = fs_table_key(&loss->entries, i);
		const struct fs_loss_value *value = fs_table_value(&loss->entries, i);
		const struct fs_loss_description *description = &fs_loss_descriptions[key->kind];

		add_integer(store, store->facts->id);
		add_text(store, description->name);
		add_text(store, severities[description->severity]);
		add_text(store, fs_interned(&loss->scopes, key->scope, NULL));
		add_integer(store, (int64_t)value->count);
		add_integer(store, (int64_t)value->bytes);
		add_optional(store, value->first_offset != UINT64_MAX,
			     (int64_t)value->first_offset);
		add_text(store, description->text);
		FS_TRY(end_row(store));
	}
	return 0;
}

static int store_loss_windows(struct store *store)
{
	const struct fs_table *windows = &store->session->loss.windows;

	FS_TRY(begin_table(store, "loss_window"));
	for (size_t i = 0; i < windows->count; i++) {
		const struct fs_loss_window_key *key = fs_table_key(windows, i);
		const struct fs_loss_window *window = fs_table_value(windows, i);

		add_integer(store, store->facts->id);
		add_text(store, fs_loss_descriptions[key->kind].name);
		add_told(store, key->cpu);
		add_integer(store, (int64_t)window->first_ns);
		add_integer(store, (int64_t)window->last_ns);
		add_integer(store, (int64_t)window->count);
		FS_TRY(end_row(store));
	}
	return 0;
}

static int store_extent(struct store *store, const struct fs_extent *extent)
{
	static const char *const kinds[] = { "header", "section", "record_read", "record_skipped",
					     "gap" };

	add_integer(store, store->facts->id);
	add_text(store, kinds[extent->kind]);
	add_text(store, extent->name);
	add_integer(store, (int64_t)extent->count);
	add_integer(store, (int64_t)extent->bytes);
	add_optional(store, extent->first_offset != UINT64_MAX, (int64_t)extent->first_offset);
	return end_row(store);
}

static int store_extents(struct store *store)
{
	const struct fs_extents *extents = &store->session->extents;

	if (extents->failed)
		return fs_fail(store->error, FS_NOMEM, "out of memory");
	FS_TRY(begin_table(store, "extent"));
	for (size_t i = 0; i < extents->count; i++)
		FS_TRY(store_extent(store, &extents->rows[i]));
	for (int skipped = 0; skipped < 2; skipped++)
		for (size_t type = 0; type < FS_RECORD_TYPES; type++)
			if (extents->records[skipped][type].count)
				FS_TRY(store_extent(store, &extents->records[skipped][type]));
	return 0;
}

int fs_store_trace(sqlite3 *db, const struct fs_decoder *decoder,
		   const struct fs_trace_facts *facts, const struct fs_names *symbols,
		   struct fs_error *error)
{
	static int (*const parts[])(struct store * store) = {
		store_trace_row,   store_tracepoints,	store_facts,	    store_cpus,
		store_memory,	   store_events,	store_threads,	    store_spaces,
		store_dsos,	   store_system_events, store_maps,	    store_codes,
		store_profile,	   store_access,	store_windows,	    store_lines,
		store_code_totals, store_loss,		store_loss_windows, store_extents,
	};
	struct store store = {
		.db = db,
		.decoder = decoder,
		.session = decoder->session,
		.facts = facts,
		.symbols = symbols,
		.error = error,
	};
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(parts) / sizeof(parts[0]); i++)
		code = parts[i](&store);
	sqlite3_finalize(store.insert);
	return code;
}
