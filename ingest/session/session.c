/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: one handler per record type in a table. Each gets the record's payload without
 * the sample_id trailer, which is parsed before.
 */
#include "ingest/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/multiply.h"
#include "common/text.h"
#include "common/vector.h"
#include "ingest/perfdata/spool.h"
#include "ingest/session/handling.h"

enum {
	AUXTRACE_ARM_SPE = 4,
	AUX_TRUNCATED = 1,
	AUX_OVERWRITE = 2,
	AUX_PARTIAL = 4,
	AUX_COLLISION = 8,
	EVENT_UPDATE_UNIT = 0,
	EVENT_UPDATE_SCALE = 1,
	EVENT_UPDATE_NAME = 2,
	EVENT_UPDATE_CPUS = 3,
	SPE_METADATA_V1_WORDS = 2,
};

/* | u8 length, 3 bytes | u8 id[20] |; *ret_id is left alone where there is none. */
static int take_build_id(struct handling *handling, const uint8_t *identity, int64_t *ret_id)
{
	size_t length = identity[0];
	char hex[41];
	uint32_t id;

	if (length > 20) {
		fs_loss_add_numbered(&handling->session->loss, FS_LOSS_BAD_BUILD_ID, 1, 0,
				     handling->record->offset, "record type",
				     handling->record->type);
		return 0;
	}
	if (!fs_build_id_is_told(identity + 4, length))
		return 0;
	fs_hex(hex, identity + 4, length);
	FS_TRY(fs_intern(&handling->session->strings, hex, 2 * length, &id));
	*ret_id = id;
	return 0;
}

/* | u32 pid, tid | u64 addr, len, pgoff | [24 bytes id, u32 prot, flags] | filename | */
static int handle_mmap(struct handling *handling)
{
	struct fs_session *session = handling->session;
	struct fs_reader *payload = &handling->payload;
	uint16_t misc = handling->record->misc;
	bool is_mmap2 = handling->record->type == FS_RECORD_MMAP2;
	struct fs_map map = { 0 };
	const uint8_t *identity = NULL;
	int64_t build_id = FS_NONE;
	uint64_t length;
	uint32_t path;

	map.pid = fs_read_u32(payload);
	map.tid = fs_read_u32(payload);
	map.start = fs_read_u64(payload);
	length = fs_read_u64(payload);
	map.pgoff = fs_read_u64(payload);
	if (is_mmap2) {
		identity = fs_read_bytes(payload, 24);
		map.prot = fs_read_u32(payload);
		map.flags = fs_read_u32(payload);
	}
	if (payload->failed)
		return too_short(handling);
	map.has_prot = is_mmap2;
	map.data = misc & FS_MISC_BIT13;
	map.end = length > UINT64_MAX - map.start ? UINT64_MAX : map.start + length;
	map.time_ns = handling->id.time;
	map.order = handling->record->offset;
	if (map.end == map.start)
		return unused(handling, "mapping of no bytes");
	/* a guest's addresses and pids are not those of this machine */
	if ((misc & FS_MISC_CPUMODE) == FS_MISC_GUEST_KERNEL ||
	    (misc & FS_MISC_CPUMODE) == FS_MISC_GUEST_USER)
		map.pid = FS_PID_GUEST;
	if (take_name(handling, &path))
		return no_memory(handling);
	if (is_mmap2 && misc & FS_MISC_BIT14 && take_build_id(handling, identity, &build_id))
		return no_memory(handling);
	if (fs_maps_dso(&session->maps, path, build_id, misc & FS_MISC_CPUMODE, &map.dso) ||
	    fs_maps_note(&session->maps, &map))
		return no_memory(handling);
	return 0;
}

/* | u32 pid, tid | comm | */
static int handle_comm(struct handling *handling)
{
	struct fs_thread_event event = {
		.kind = FS_THREAD_COMM,
		.time_ns = handling->id.time,
		.order = handling->record->offset,
		.exec = handling->record->misc & FS_MISC_BIT13,
	};

	event.pid = fs_read_u32(&handling->payload);
	event.tid = fs_read_u32(&handling->payload);
	if (handling->payload.failed)
		return too_short(handling);
	if (take_name(handling, &event.comm) ||
	    fs_threads_note(&handling->session->threads, &event))
		return no_memory(handling);
	return 0;
}

/* FORK and EXIT: | u32 pid, ppid, tid, ptid | u64 time | */
static int handle_task(struct handling *handling)
{
	struct fs_thread_event event = { .order = handling->record->offset };

	event.kind = handling->record->type == FS_RECORD_FORK ? FS_THREAD_FORK : FS_THREAD_EXIT;
	event.pid = fs_read_u32(&handling->payload);
	event.parent_pid = fs_read_u32(&handling->payload);
	event.tid = fs_read_u32(&handling->payload);
	event.parent_tid = fs_read_u32(&handling->payload);
	event.time_ns = fs_read_u64(&handling->payload);
	if (handling->payload.failed)
		return too_short(handling);
	if (fs_threads_note(&handling->session->threads, &event))
		return no_memory(handling);
	return 0;
}

/* LOST: | u64 id, lost |; LOST_SAMPLES: | u64 lost |, with bit 15 of misc: by a BPF filter */
static int handle_lost(struct handling *handling)
{
	bool samples = handling->record->type == FS_RECORD_LOST_SAMPLES;
	uint64_t lost;

	if (!samples)
		fs_read_u64(&handling->payload);
	lost = fs_read_u64(&handling->payload);
	if (handling->payload.failed)
		return too_short(handling);
	if (lost && samples && handling->record->misc & FS_MISC_BIT15)
		note_loss(handling, FS_LOSS_FILTERED_SAMPLES, lost);
	else if (lost)
		note_loss(handling, samples ? FS_LOSS_LOST_SAMPLES : FS_LOSS_LOST_RECORDS, lost);
	return 0;
}

/* Out of order, a time is no better than the one before it. */
static int add_blind(struct handling *handling, uint64_t key)
{
	struct fs_blind *blind = fs_table_put(&handling->session->blind, &key, NULL, NULL);

	if (!blind)
		return no_memory(handling);
	if (blind->count && blind->since_ns[blind->count - 1] > handling->id.time)
		return 0;
	if (FS_RESERVE(blind->since_ns, blind->capacity, blind->count + 1))
		return no_memory(handling);
	blind->since_ns[blind->count++] = handling->id.time;
	return 0;
}

/* Whose buffer it is, CPU's or thread's, is known when AUXTRACE records have been seen. */
static int note_blind(struct handling *handling)
{
	const struct fs_sample_id *id = &handling->id;

	if (!id->has_time)
		return 0;
	if (id->has_tid)
		FS_TRY(add_blind(handling, fs_blind_key(true, id->tid)));
	if (id->has_cpu && id->cpu < FS_CPUS_MAX)
		FS_TRY(add_blind(handling, fs_blind_key(false, id->cpu)));
	return 0;
}

/* | u64 aux_offset, aux_size, flags | */
static int handle_aux(struct handling *handling)
{
	static const struct {
		uint64_t bit;
		enum fs_loss_kind kind;
	} flag[] = {
		{ AUX_TRUNCATED, FS_LOSS_AUX_TRUNCATED },
		{ AUX_PARTIAL, FS_LOSS_AUX_PARTIAL },
		{ AUX_COLLISION, FS_LOSS_AUX_COLLISION },
	};
	uint64_t flags;

	fs_read_u64(&handling->payload);
	fs_read_u64(&handling->payload);
	flags = fs_read_u64(&handling->payload);
	if (handling->payload.failed)
		return too_short(handling);
	for (size_t i = 0; i < sizeof(flag) / sizeof(flag[0]); i++)
		if (flags & flag[i].bit)
			note_loss(handling, flag[i].kind, 1);
	handling->session->spe.overwritten |= flags & AUX_OVERWRITE;
	return flags & (AUX_TRUNCATED | AUX_PARTIAL) ? note_blind(handling) : 0;
}

/* | u64 shift, mult, zero | [u64 cycles, mask, u8 has_zero, u8 is_short, 6 bytes] | */
static int handle_time_conv(struct handling *handling)
{
	struct fs_clock clock = { 0 };
	uint8_t has_zero = 1;

	clock.shift = fs_read_u64(&handling->payload);
	clock.mult = fs_read_u64(&handling->payload);
	clock.zero = fs_read_u64(&handling->payload);
	if (handling->payload.failed)
		return too_short(handling);
	if (fs_reader_left(&handling->payload) >= 18) {
		clock.cycles = fs_read_u64(&handling->payload);
		clock.mask = fs_read_u64(&handling->payload);
		has_zero = fs_read_u8(&handling->payload);
		clock.is_short = fs_read_u8(&handling->payload);
	}
	clock.has_zero = has_zero;
	clock.valid = clock.mult && clock.shift < 64 && has_zero && (!clock.is_short || clock.mask);
	/* of several the last holds, as in perf, but for one that converts nothing */
	if (clock.valid || !handling->session->clock.valid)
		handling->session->clock = clock;
	return 0;
}

/*
 * | u64 nr | nr * {u64 id, idx, cpu, tid} | [nr * {u64 machine_pid, vcpu}] |: the second list is
 * there if the size allows, and tells of guests
 */
static int handle_id_index(struct handling *handling)
{
	struct fs_reader entries = handling->payload;
	uint64_t count = fs_read_u64(&entries);
	struct fs_reader guests = entries;
	uint64_t unknown = 0;

	if (entries.failed || count > fs_reader_left(&entries) / 32)
		return too_short(handling);
	fs_read_bytes(&guests, (size_t)count * 32);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t id = fs_read_u64(&entries);
		struct fs_event_id *known = fs_table_get(&handling->session->ids, &id);
		bool has_guest = fs_reader_left(&guests) >= 16;
		uint64_t machine = fs_read_u64(&guests);
		uint64_t vcpu = fs_read_u64(&guests);
		int64_t cpu;
		int64_t tid;

		fs_read_u64(&entries); /* idx */
		cpu = (int64_t)fs_read_u64(&entries);
		tid = (int64_t)fs_read_u64(&entries);
		unknown += !known;
		if (!known)
			continue;
		known->cpu = cpu >= 0 && cpu < FS_CPUS_MAX ? cpu : -1;
		known->tid = tid >= 0 && tid < UINT32_MAX ? tid : -1;
		known->machine_pid = has_guest && machine < UINT32_MAX ? (int64_t)machine : -1;
		known->vcpu = has_guest && vcpu < FS_CPUS_MAX ? (int64_t)vcpu : -1;
	}
	if (unknown)
		fs_loss_add(&handling->session->loss, FS_LOSS_UNUSED_RECORD, unknown, unknown * 32,
			    handling->record->offset, "ID_INDEX of an unknown id");
	return 0;
}

/* | u64 kind, id | value | */
static int handle_event_update(struct handling *handling)
{
	struct fs_reader *payload = &handling->payload;
	uint64_t kind = fs_read_u64(payload);
	int64_t index = fs_session_event_of_id(handling->session, fs_read_u64(payload));
	struct fs_event *event;
	char *text;
	char **target;

	if (payload->failed)
		return too_short(handling);
	if (index == FS_NONE)
		return unused(handling, "EVENT_UPDATE of an unknown event");
	event = &handling->session->file.events[index];
	if (kind == EVENT_UPDATE_SCALE) {
		uint64_t bits = fs_read_u64(payload);

		if (payload->failed)
			return too_short(handling);
		memcpy(&event->scale, &bits, sizeof(event->scale));
		return 0;
	}
	if (kind > EVENT_UPDATE_CPUS)
		return unused(handling, "EVENT_UPDATE of unknown kind");
	target = kind == EVENT_UPDATE_UNIT   ? &event->unit
		 : kind == EVENT_UPDATE_NAME ? &event->name
					     : &event->cpus;
	if (kind == EVENT_UPDATE_CPUS)
		text = fs_read_cpu_map(payload);
	else
		text = strndup((const char *)payload->data + payload->offset,
			       fs_reader_left(payload));
	if (!text)
		return kind == EVENT_UPDATE_CPUS ? too_short(handling) : no_memory(handling);
	free(*target);
	*target = text;
	return 0;
}

/*
 * Version 2, by CPU: | u64 magic, cpu, nr_params | nr_params words: MIDR, PMU type, ... |
 */
static int read_spe_cpus(struct handling *handling, uint64_t count)
{
	struct fs_spe_session *spe = &handling->session->spe;
	struct fs_reader *payload = &handling->payload;

	for (uint64_t i = 0; i < count; i++) {
		struct fs_spe_cpu cpu = { .pmu_type = spe->pmu_type }; /* of a short entry */
		uint64_t params;

		fs_read_u64(payload);
		cpu.cpu = (uint32_t)fs_read_u64(payload);
		params = fs_read_u64(payload);
		if (payload->failed || params > fs_reader_left(payload) / 8)
			return too_short(handling);
		for (uint64_t k = 0; k < params; k++) {
			uint64_t word = fs_read_u64(payload);

			cpu.midr = k == 0 ? word : cpu.midr;
			cpu.pmu_type = k == 1 ? word : cpu.pmu_type;
			cpu.events = k == 3 ? word : cpu.events;
		}
		if (FS_RESERVE(spe->cpus, spe->cpu_capacity, spe->cpu_count + 1))
			return no_memory(handling);
		spe->cpus[spe->cpu_count++] = cpu;
	}
	return 0;
}

/* | u32 type, reserved | u64 words: version 1 {pmu_type, per_cpu}, version 2 {2, header words,
 * pmu_type, nr_cpu, ...} | */
static int handle_auxtrace_info(struct handling *handling)
{
	struct fs_spe_session *spe = &handling->session->spe;
	struct fs_reader *payload = &handling->payload;
	uint32_t type = fs_read_u32(payload);
	uint64_t header_words;
	uint64_t cpu_count;

	fs_read_u32(payload);
	if (payload->failed)
		return too_short(handling);
	/* a recording has one: a file made of thousands would make fs_session_midr() slow */
	if (type != AUXTRACE_ARM_SPE || spe->present)
		return 0;
	spe->present = true;
	fs_find_sched_switch(handling->session);
	if (fs_reader_left(payload) == SPE_METADATA_V1_WORDS * 8) {
		spe->metadata_version = 1;
		spe->pmu_type = fs_read_u64(payload);
		return 0;
	}
	spe->metadata_version = fs_read_u64(payload);
	header_words = fs_read_u64(payload);
	spe->pmu_type = fs_read_u64(payload);
	cpu_count = fs_read_u64(payload);
	if (payload->failed || header_words < 4 || header_words - 4 > fs_reader_left(payload) / 8)
		return too_short(handling);
	fs_read_bytes(payload, (size_t)(header_words - 4) * 8);
	if (cpu_count > fs_reader_left(payload) / 24)
		return too_short(handling);
	return read_spe_cpus(handling, cpu_count);
}

/* | u64 size, offset, reference | u32 idx, tid, cpu, reserved |: the data is for pass two */
static int handle_auxtrace(struct handling *handling)
{
	struct fs_reader payload = handling->payload;

	fs_read_bytes(&payload, 32);
	if (fs_read_u32(&payload) == UINT32_MAX && !payload.failed)
		handling->session->spe.per_thread = true;
	return 0;
}

/* Streams have the BUILD_ID feature as records. */
static int handle_build_id(struct handling *handling)
{
	if (!fs_host_add_build_id(&handling->session->host, handling->record->misc,
				  handling->payload))
		return too_short(handling);
	return 0;
}

static int handle_compressed(struct handling *handling)
{
	fs_loss_add_numbered(&handling->session->loss, FS_LOSS_COMPRESSED_RECORD, 1,
			     handling->record->size, handling->record->offset, "record type",
			     handling->record->type);
	handling->skipped = true;
	return 0;
}

/*
 * Every record type that is known: who handles it, or why its content is of no use to anybody who
 * asks the database. Neither: there is no content, or another module reads it.
 */
static const struct {
	int (*handle)(struct handling *handling);
	const char *unused;
} types[FS_RECORD_USER_MAX + 1] = {
	[FS_RECORD_MMAP] = { handle_mmap, NULL },
	[FS_RECORD_LOST] = { handle_lost, NULL },
	[FS_RECORD_COMM] = { handle_comm, NULL },
	[FS_RECORD_EXIT] = { handle_task, NULL },
	[FS_RECORD_THROTTLE] = { fs_handle_throttle, NULL },
	[FS_RECORD_UNTHROTTLE] = { fs_handle_throttle, NULL },
	[FS_RECORD_FORK] = { handle_task, NULL },
	[FS_RECORD_READ] = { fs_handle_read, NULL },
	[FS_RECORD_MMAP2] = { handle_mmap, NULL },
	[FS_RECORD_AUX] = { handle_aux, NULL },
	[FS_RECORD_ITRACE_START] = { fs_handle_itrace_start, NULL },
	[FS_RECORD_LOST_SAMPLES] = { handle_lost, NULL },
	[FS_RECORD_SWITCH] = { fs_handle_switch, NULL },
	[FS_RECORD_SWITCH_CPU_WIDE] = { fs_handle_switch, NULL },
	[FS_RECORD_NAMESPACES] = { fs_handle_namespaces, NULL },
	[FS_RECORD_KSYMBOL] = { fs_handle_ksymbol, NULL },
	[FS_RECORD_BPF_EVENT] = { fs_handle_bpf_event, NULL },
	[FS_RECORD_CGROUP] = { fs_handle_cgroup, NULL },
	[FS_RECORD_TEXT_POKE] = { fs_handle_text_poke, NULL },
	[FS_RECORD_AUX_OUTPUT_HW_ID] = { fs_handle_aux_output, NULL },
	[FS_RECORD_CALLCHAIN_DEFERRED] = { NULL,
					   "CALLCHAIN_DEFERRED: user callers of samples before it, "
					   "which are stored without them" },
	[FS_RECORD_HEADER_EVENT_TYPE] = { NULL, "HEADER_EVENT_TYPE: names of events that attrs "
						"describe since 2012" },
	[FS_RECORD_HEADER_TRACING_DATA] = { fs_handle_tracing_data, NULL },
	[FS_RECORD_HEADER_BUILD_ID] = { handle_build_id, NULL },
	[FS_RECORD_ID_INDEX] = { handle_id_index, NULL },
	[FS_RECORD_AUXTRACE_INFO] = { handle_auxtrace_info, NULL },
	[FS_RECORD_AUXTRACE] = { handle_auxtrace, NULL },
	[FS_RECORD_AUXTRACE_ERROR] = { fs_handle_auxtrace_error, NULL },
	[FS_RECORD_THREAD_MAP] = { fs_handle_thread_map, NULL },
	[FS_RECORD_CPU_MAP] = { fs_handle_cpu_map, NULL },
	[FS_RECORD_STAT_CONFIG] = { fs_handle_stat_config, NULL },
	[FS_RECORD_STAT] = { fs_handle_stat, NULL },
	[FS_RECORD_STAT_ROUND] = { fs_handle_stat_round, NULL },
	[FS_RECORD_EVENT_UPDATE] = { handle_event_update, NULL },
	[FS_RECORD_TIME_CONV] = { handle_time_conv, NULL },
	[FS_RECORD_COMPRESSED] = { handle_compressed, NULL },
	[FS_RECORD_COMPRESSED2] = { handle_compressed, NULL },
	[FS_RECORD_BPF_METADATA] = { fs_handle_bpf_metadata, NULL },
	[FS_RECORD_SCHEDSTAT_CPU] = { NULL,
				      "SCHEDSTAT_CPU: sums of `perf sched stats`, no events" },
	[FS_RECORD_SCHEDSTAT_DOMAIN] = { NULL, "SCHEDSTAT_DOMAIN: sums of `perf sched stats`, no "
					       "events" },
};

static bool is_known(uint32_t type)
{
	return (type >= 1 && type <= FS_RECORD_KERNEL_MAX) ||
	       (type >= FS_RECORD_USER_FIRST && type <= FS_RECORD_USER_MAX);
}

/* The attr whose trailer a record other than SAMPLE carries: the one its last word names where
 * there is one, else the first. */
static const struct fs_attr *trailer_attr(const struct fs_session *session,
					  const struct fs_reader *payload)
{
	const struct fs_attr *first = &session->file.events[0].attr;
	struct fs_reader last;
	int64_t event;

	if (!(first->sample_type & FS_SAMPLE_IDENTIFIER) || payload->size < 8)
		return first;
	last = fs_reader_like(payload, payload->data + payload->size - 8, 8);
	event = fs_session_event_of_id(session, fs_read_u64(&last));
	return event == FS_NONE ? first : &session->file.events[event].attr;
}

/* *ret_skipped is set where the record was of no use. */
static int handle(struct fs_session *session, const struct fs_record *record, bool *ret_skipped,
		  struct fs_error *error)
{
	struct handling handling = {
		.session = session,
		.record = record,
		.payload = record->payload,
		.error = error,
	};
	uint32_t type = record->type;

	session->record_count[type < FS_RECORD_TYPES - 1 ? type : FS_RECORD_TYPES - 1]++;
	if (type == FS_RECORD_SAMPLE)
		return session->sched_switch.tracepoint
			       ? fs_note_sched_switch(session, record, error)
			       : 0;
	if (type == FS_RECORD_SIMPLEPERF_TRACING_DATA) {
		FS_TRY(fs_handle_tracing_data(&handling));
		*ret_skipped = handling.skipped;
		return 0;
	}
	if (!is_known(type)) {
		fs_loss_add_numbered(&session->loss, FS_LOSS_UNKNOWN_RECORD, 1, record->size,
				     record->offset, "record type", type);
		*ret_skipped = true;
		return 0;
	}
	*ret_skipped = types[type].unused;
	if (types[type].unused)
		return unused(&handling, types[type].unused);
	if (!types[type].handle)
		return 0;
	if (type < FS_RECORD_USER_FIRST && session->file.event_count)
		fs_sample_id_take(trailer_attr(session, &handling.payload), &handling.payload,
				  &handling.id);
	FS_TRY(types[type].handle(&handling));
	*ret_skipped = handling.skipped;
	return 0;
}

static bool is_layout_alike(const struct fs_attr *a, const struct fs_attr *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->branch_sample_type == b->branch_sample_type &&
	       a->sample_regs_user == b->sample_regs_user &&
	       a->sample_regs_intr == b->sample_regs_intr;
}

/*
 * Behind the last event stands one for samples with an id of none of them: these can be read
 * where all events lay samples out alike.
 */
static int add_unknown_event(struct fs_session *session, struct fs_error *error)
{
	struct fs_perf_file *file = &session->file;
	struct fs_event *events;
	struct fs_event unknown = { .leader = -1 };

	if (!file->event_count)
		return 0;
	events = realloc(file->events, (file->event_count + 1) * sizeof(*events));
	if (!events)
		return fs_fail(error, FS_NOMEM, "%s: out of memory", file->path);
	unknown.attr = events[0].attr;
	unknown.attr.type = UINT32_MAX;
	unknown.attr.config = 0;
	events[file->event_count] = unknown;
	file->events = events;
	session->is_unknown_readable = true;
	for (size_t i = 1; i < file->event_count; i++)
		session->is_unknown_readable &= is_layout_alike(&events[0].attr, &events[i].attr);
	return 0;
}

static int index_ids(struct fs_session *session, struct fs_error *error)
{
	FS_TRY(add_unknown_event(session, error));
	for (size_t i = 0; i < session->file.event_count; i++) {
		const struct fs_event *event = &session->file.events[i];

		for (size_t k = 0; k < event->id_count; k++) {
			bool added;
			struct fs_event_id *value =
				fs_table_put(&session->ids, &event->ids[k], NULL, &added);

			if (!value)
				return fs_fail(error, FS_NOMEM, "out of memory for event ids");
			if (added) /* of two events with one id the first counts, as in perf */
				*value = (struct fs_event_id){ .event = i,
							       .cpu = -1,
							       .tid = -1,
							       .machine_pid = -1,
							       .vcpu = -1 };
		}
	}
	session->id_position = session->file.event_count
				       ? fs_sample_id_position(&session->file.events[0].attr)
				       : -1;
	return 0;
}

int64_t fs_session_event_of_id(const struct fs_session *session, uint64_t id)
{
	const struct fs_event_id *found = fs_table_get(&session->ids, &id);

	return found ? (int64_t)found->event : FS_NONE;
}

const struct fs_event *fs_session_event(const struct fs_session *session,
					const struct fs_reader *payload)
{
	const struct fs_perf_file *file = &session->file;
	struct fs_reader reader = *payload;
	int64_t event;
	uint64_t id;

	if (!file->event_count)
		return NULL;
	if (file->event_count == 1 || session->id_position < 0)
		return &file->events[0];
	fs_read_bytes(&reader, (size_t)session->id_position);
	id = fs_read_u64(&reader);
	if (!id)
		return &file->events[0];
	event = fs_session_event_of_id(session, id);
	if (event != FS_NONE)
		return &file->events[event];
	return session->is_unknown_readable ? &file->events[file->event_count] : NULL;
}

/* The name by which the BUILD_ID feature calls a DSO: the kernel's mapping is named after the
 * symbol that it tells the place of, too: [kernel.kallsyms]_text. */
static int build_id_name(struct fs_session *session, const struct fs_dso *dso, uint64_t *ret_name)
{
	const char *path = fs_interned(&session->strings, dso->path, NULL);
	const char *end = strchr(path, ']');
	uint32_t name = dso->path;
	char bare[64];

	if (dso->cpumode == FS_MISC_KERNEL && !strncmp(path, "[kernel", 7) && end &&
	    (size_t)(end - path) < sizeof(bare) - 1) {
		snprintf(bare, sizeof(bare), "%.*s", (int)(end + 1 - path), path);
		FS_TRY(fs_intern(&session->strings, bare, strlen(bare), &name));
	}
	*ret_name = name;
	return 0;
}

/* The build-id of the BUILD_ID feature for DSOs whose maps carry none. */
static int settle_build_ids(struct fs_session *session)
{
	struct fs_table by_path;
	int code = 0;

	fs_table_init(&by_path, 8, 8);
	for (size_t i = 0; !code && i < session->host.build_id_count; i++) {
		const struct fs_build_id *entry = &session->host.build_ids[i];
		uint32_t path;
		uint32_t hex;
		uint64_t key;
		uint64_t *value;

		if (fs_intern(&session->strings, entry->path, strlen(entry->path), &path) ||
		    fs_intern(&session->strings, entry->hex, strlen(entry->hex), &hex)) {
			code = FS_NOMEM;
			break;
		}
		key = path;
		value = fs_table_put(&by_path, &key, NULL, NULL);
		if (value)
			*value = hex;
		else
			code = FS_NOMEM;
	}
	for (size_t i = 0; !code && i < session->maps.dso_count; i++) {
		struct fs_dso *dso = &session->maps.dsos[i];
		const uint64_t *hex;
		uint64_t key;

		code = build_id_name(session, dso, &key);
		hex = code ? NULL : fs_table_get(&by_path, &key);
		if (dso->build_id == FS_NONE && hex)
			dso->build_id = (int64_t)*hex;
	}
	fs_table_free(&by_path);
	return code;
}

static int note_spe_event(struct fs_spe_session *spe, uint32_t cpu, size_t event)
{
	if (cpu >= FS_CPUS_MAX)
		return 0;
	FS_TRY(FS_RESERVE(spe->events, spe->event_capacity, cpu + 1u));
	for (; spe->event_cpus <= cpu; spe->event_cpus++)
		spe->events[spe->event_cpus] = 0;
	spe->events[cpu] = (int64_t)event + 1;
	return 0;
}

/* Which SPE event each CPU has: by where its ids count (ID_INDEX), better by the PMU of the CPU. Of
 * several entries of a CPU the first holds. */
static int settle_spe_cpus(struct fs_session *session)
{
	struct fs_spe_session *spe = &session->spe;

	for (size_t i = 0; i < session->ids.count; i++) {
		const struct fs_event_id *id = fs_table_value(&session->ids, i);

		if (id->cpu >= 0 && fs_session_is_spe(session, id->event))
			FS_TRY(note_spe_event(spe, (uint32_t)id->cpu, id->event));
	}
	for (size_t i = spe->cpu_count; i-- > 0;) {
		size_t event = 0;

		while (event < session->file.event_count &&
		       session->file.events[event].attr.type != spe->cpus[i].pmu_type)
			event++;
		if (event < session->file.event_count)
			FS_TRY(note_spe_event(spe, spe->cpus[i].cpu, event));
	}
	return 0;
}

/* Which event is SPE's: by the PMU type of AUXTRACE_INFO, else by name. */
static int settle_spe(struct fs_session *session)
{
	struct fs_spe_session *spe = &session->spe;

	session->spe_event = FS_NONE;
	if (!spe->present)
		return 0;
	for (size_t i = session->file.event_count; i-- > 0;) {
		bool first = session->file.events[i].attr.type == spe->pmu_type;

		if (first || (session->spe_event == FS_NONE && fs_session_is_spe(session, i)))
			session->spe_event = (int64_t)i;
	}
	if (session->host.cpuid)
		spe->midr = strtoull(session->host.cpuid, NULL, 16);
	return settle_spe_cpus(session);
}

static int settle(struct fs_session *session, struct fs_error *error)
{
	FS_TRY(fs_switches_settle(&session->switches, error));
	if (settle_spe(session) || settle_build_ids(session) ||
	    fs_threads_settle(&session->threads) || fs_maps_settle(&session->maps))
		return fs_fail(error, FS_NOMEM, "%s: out of memory", session->file.path);
	return 0;
}

static int walk(struct fs_session *session, struct fs_error *error)
{
	struct fs_cursor cursor;
	struct fs_record record;
	bool more = true;
	int code = fs_cursor_open(&cursor, &session->file, error);

	if (!session->has_content)
		fs_extents_walk(&session->extents, session->file.data.offset);
	while (!code && more) {
		bool skipped = false;

		code = fs_cursor_next(&cursor, &record, &more, &session->loss, error);
		if (code || !more)
			break;
		code = handle(session, &record, &skipped, error);
		if (!session->has_content)
			fs_extents_record(&session->extents, &record, skipped);
	}
	if (!session->has_content)
		fs_extents_walked(&session->extents, session->file.data_end);
	fs_cursor_close(&cursor);
	return code;
}

static bool has_records(const struct fs_session *session)
{
	for (size_t type = 0; type < FS_RECORD_TYPES; type++)
		if (session->record_count[type])
			return true;
	return false;
}

int fs_session_open(struct fs_session *session, const char *path, struct fs_error *error)
{
	*session = (struct fs_session){ .file = { .fd = -1, .input_fd = -1, .directory_fd = -1 },
					.id_position = -1,
					.spe_event = FS_NONE };
	fs_loss_init(&session->loss);
	fs_table_init(&session->system.throttled, 8, 8);
	fs_extents_init(&session->extents);
	fs_interner_init(&session->strings);
	fs_table_init(&session->ids, 8, sizeof(struct fs_event_id));
	fs_table_init(&session->blind, 8, sizeof(struct fs_blind));
	fs_maps_init(&session->maps);
	fs_switches_init(&session->switches);
	fs_tracepoints_init(&session->tracepoints);
	if (fs_threads_init(&session->threads))
		return fs_fail(error, FS_NOMEM, "out of memory");
	FS_TRY(fs_perf_open(&session->file, path, &session->loss, error));
	FS_TRY(fs_host_read(&session->file, &session->host, &session->loss, error));
	if (session->file.has_feature[FS_FEATURE_TRACING_DATA])
		FS_TRY(fs_read_tracing_data(
			session, session->file.features[FS_FEATURE_TRACING_DATA], error));
	fs_extents_sections(&session->extents, &session->file, &session->loss);
	session->file.extents = &session->extents;
	FS_TRY(fs_spool_expand(&session->file, &session->loss, error));
	session->has_content = session->file.fd != session->file.input_fd;
	session->record_count[FS_RECORD_COMPRESSED] = session->file.compressed_records;
	session->record_count[FS_RECORD_COMPRESSED2] = session->file.compressed2_records;
	FS_TRY(index_ids(session, error));
	FS_TRY(walk(session, error));
	if (fs_loss_is_damaged(&session->loss) && !has_records(session))
		return fs_fail(
			error, FS_REFUSED,
			"%s: offset 0x%llx: no record of any kind was found from here on: the "
			"file is damaged beyond use",
			path, (unsigned long long)session->file.data.offset);
	return settle(session, error);
}

void fs_session_close(struct fs_session *session)
{
	fs_switches_free(&session->switches);
	for (size_t i = 0; i < session->blind.count; i++)
		free(((struct fs_blind *)fs_table_value(&session->blind, i))->since_ns);
	fs_table_free(&session->blind);
	free(session->spe.cpus);
	free(session->spe.events);
	fs_table_free(&session->system.throttled);
	free(session->system.events);
	free(session->system.counters);
	free(session->system.stat_thread);
	fs_jit_free(&session->jit);
	fs_maps_free(&session->maps);
	fs_tracepoints_free(&session->tracepoints);
	fs_threads_free(&session->threads);
	fs_table_free(&session->ids);
	fs_interner_free(&session->strings);
	fs_host_free(&session->host);
	fs_perf_close(&session->file);
	fs_loss_free(&session->loss);
	fs_extents_free(&session->extents);
}

void fs_session_skip(struct fs_session *session, const struct fs_record *record)
{
	if (!session->has_content)
		fs_extents_skip(&session->extents, record);
}

uint64_t fs_clock_ns(const struct fs_clock *clock, uint64_t cycles)
{
	struct fs_product low;

	if (!clock->valid)
		return 0;
	if (clock->is_short)
		cycles = clock->cycles + ((cycles - clock->cycles) & clock->mask);
	low = fs_multiply(cycles & ((1ull << clock->shift) - 1), clock->mult);
	return clock->zero + (cycles >> clock->shift) * clock->mult + (low.low >> clock->shift) +
	       (clock->shift ? low.high << (64 - clock->shift) : 0);
}

const struct fs_spe_cpu *fs_session_spe_cpu(const struct fs_session *session, uint32_t cpu)
{
	const struct fs_spe_session *spe = &session->spe;

	for (size_t i = 0; i < spe->cpu_count; i++)
		if (spe->cpus[i].cpu == cpu)
			return &spe->cpus[i];
	return NULL;
}

uint64_t fs_session_midr(const struct fs_session *session, uint32_t cpu)
{
	const struct fs_spe_cpu *entry = fs_session_spe_cpu(session, cpu);

	if (entry)
		return entry->midr;
	return session->spe.cpu_count ? 0 : session->spe.midr;
}

/* What all CPUs that have SPE share. Of a documented table and the same one assumed for another
 * core, the latter: it promises less. */
static const struct fs_memsrc_family *common_family(const struct fs_spe_session *spe)
{
	const struct fs_memsrc_family *common = NULL;

	for (size_t i = 0; i < spe->cpu_count; i++) {
		const struct fs_memsrc_family *family = fs_memsrc_spe_family(spe->cpus[i].midr);

		if (spe->cpus[i].pmu_type == UINT64_MAX)
			continue;
		if (!family || (common && family->codes != common->codes))
			return NULL;
		if (!common || family->certainty == FS_CERTAINTY_ASSUMED)
			common = family;
	}
	return common;
}

const struct fs_memsrc_family *fs_session_spe_family(const struct fs_session *session, uint32_t cpu)
{
	if (session->spe.cpu_count && !fs_session_spe_cpu(session, cpu))
		return common_family(&session->spe);
	return fs_memsrc_spe_family(fs_session_midr(session, cpu));
}

bool fs_session_is_spe(const struct fs_session *session, size_t event)
{
	const struct fs_spe_session *spe = &session->spe;
	const char *name = session->file.events[event].name;
	uint64_t type = session->file.events[event].attr.type;

	if (!spe->present)
		return false;
	if (type == spe->pmu_type || (name && !strncmp(name, "arm_spe_", 8)))
		return true;
	for (size_t i = 0; i < spe->cpu_count; i++)
		if (spe->cpus[i].pmu_type == type)
			return true;
	return false;
}

int64_t fs_session_spe_event(const struct fs_session *session, uint32_t cpu)
{
	const struct fs_spe_session *spe = &session->spe;

	if (cpu < spe->event_cpus && spe->events[cpu])
		return spe->events[cpu] - 1;
	return session->spe_event;
}
