/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handlers of records with counter values outside samples (READ, and the files of `perf stat
 * record`), and of the maps of threads and CPUs that were recorded.
 *
 * How it works: the values of a STAT round come before the STAT_ROUND record that says its time,
 * so they wait for it. Their thread is a place in the THREAD_MAP.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/vector.h"
#include "ingest/session/handling.h"

enum {
	COUNTERS_MAX = 1 << 19,
	THREADS_MAX = 1 << 16,
	CPU_ANY = 0xffff,
	CPU_MAP_LIST = 0,
	CPU_MAP_MASK = 1,
	CPU_MAP_RANGE = 2,
	STAT_FINAL = 1,
	COMM_SIZE = 16,
	CPU_TEXT_MAX = 4096, /* a mask of every other CPU would make 24 bytes of each of its own */
};

static int add_counter(struct handling *handling, const struct fs_counter *counter)
{
	struct fs_system *system = &handling->session->system;

	if (system->counter_count >= COUNTERS_MAX) {
		fs_loss_add(&handling->session->loss, FS_LOSS_LIMIT, 1, handling->record->size,
			    handling->record->offset, "counter values over %d", COUNTERS_MAX);
		return 0;
	}
	if (FS_RESERVE(system->counters, system->counter_capacity, system->counter_count + 1))
		return no_memory(handling);
	system->counters[system->counter_count++] = *counter;
	return 0;
}

static int unknown_counter(struct handling *handling)
{
	fs_loss_add_numbered(&handling->session->loss, FS_LOSS_UNKNOWN_COUNTER, 1,
			     handling->record->size, handling->record->offset, "record type",
			     handling->record->type);
	return 0;
}

/* | u32 pid, tid | values in read_format |: written when a thread with inherit_stat exits */
int fs_handle_read(struct handling *handling)
{
	struct fs_session *session = handling->session;
	struct fs_reader *payload = &handling->payload;
	int64_t owner =
		handling->id.has_id ? fs_session_event_of_id(session, handling->id.id) : FS_NONE;
	struct fs_counter counter = { .source = FS_COUNTER_READ, .time_ns = handling->id.time };
	struct fs_read_value value;
	struct fs_sample values;
	const struct fs_attr *attr;
	size_t state = 0;
	bool found = false;

	counter.pid = fs_read_u32(payload);
	counter.tid = fs_read_u32(payload);
	counter.cpu = cpu_of(handling);
	if (payload->failed)
		return too_short(handling);
	if (owner == FS_NONE && session->file.event_count == 1)
		owner = 0;
	if (owner == FS_NONE)
		return unknown_counter(handling);
	attr = &session->file.events[owner].attr;
	counter.has_enabled = attr->read_format & FS_READ_ENABLED;
	counter.has_running = attr->read_format & FS_READ_RUNNING;
	values = (struct fs_sample){ .read = payload->data + payload->offset,
				     .read_size = fs_reader_left(payload),
				     .swap = payload->swap };
	while (fs_sample_read_next(attr, &values, &state, &value)) {
		found = true;
		counter.event = value.id ? fs_session_event_of_id(session, value.id) : owner;
		counter.value = value.value;
		counter.time_enabled = value.time_enabled;
		counter.time_running = value.time_running;
		if (counter.event == FS_NONE)
			unknown_counter(handling);
		else
			FS_TRY(add_counter(handling, &counter));
	}
	return found ? 0 : too_short(handling);
}

/* | u64 id | u32 cpu, thread | u64 value, enabled, running | */
int fs_handle_stat(struct handling *handling)
{
	struct fs_session *session = handling->session;
	struct fs_reader *payload = &handling->payload;
	uint64_t id = fs_read_u64(payload);
	const struct fs_event_id *instance = fs_table_get(&session->ids, &id);
	struct fs_counter counter = { .source = FS_COUNTER_STAT,
				      .pid = UINT32_MAX,
				      .tid = UINT32_MAX,
				      .has_enabled = true,
				      .has_running = true };
	uint32_t thread;

	counter.cpu = fs_read_u32(payload);
	thread = fs_read_u32(payload);
	counter.value = fs_read_u64(payload);
	counter.time_enabled = fs_read_u64(payload);
	counter.time_running = fs_read_u64(payload);
	if (payload->failed)
		return too_short(handling);
	if (!instance)
		return unknown_counter(handling);
	counter.event = (int64_t)instance->event;
	if (thread < session->system.stat_thread_count)
		counter.tid = session->system.stat_thread[thread];
	return add_counter(handling, &counter);
}

/* | u64 type, time |: the values since the last round were read at this time */
int fs_handle_stat_round(struct handling *handling)
{
	struct fs_system *system = &handling->session->system;
	uint64_t type = fs_read_u64(&handling->payload);
	uint64_t time_ns = fs_read_u64(&handling->payload);

	if (handling->payload.failed)
		return too_short(handling);
	for (; system->round_begin < system->counter_count; system->round_begin++) {
		struct fs_counter *counter = &system->counters[system->round_begin];

		if (counter->source != FS_COUNTER_STAT)
			continue;
		counter->time_ns = time_ns;
		counter->source = type == STAT_FINAL ? FS_COUNTER_STAT_FINAL : FS_COUNTER_STAT;
	}
	return 0;
}

static int put_fact(struct handling *handling, const char *name, uint64_t value)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%" PRIu64, value);

	return fs_host_add_fact(&handling->session->host, &handling->session->loss, text,
				(size_t)length, "%s", name)
		       ? no_memory(handling)
		       : 0;
}

/* | u64 nr | nr * {u64 tag, value} | */
int fs_handle_stat_config(struct handling *handling)
{
	static const char *const tags[] = { "aggr_mode", "interval", "scale", "aggr_level" };
	struct fs_reader *payload = &handling->payload;
	uint64_t count = fs_read_u64(payload);

	if (payload->failed || count > fs_reader_left(payload) / 16)
		return too_short(handling);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t tag = fs_read_u64(payload);
		char name[64];

		snprintf(name, sizeof(name), "stat_config.%" PRIu64, tag);
		if (tag < sizeof(tags) / sizeof(tags[0]))
			snprintf(name, sizeof(name), "stat_config.%s", tags[tag]);
		FS_TRY(put_fact(handling, name, fs_read_u64(payload)));
	}
	return 0;
}

/* | u64 nr | nr * {u64 tid, char comm[16]} |; -1: all threads */
int fs_handle_thread_map(struct handling *handling)
{
	struct fs_system *system = &handling->session->system;
	struct fs_reader *payload = &handling->payload;
	uint64_t count = fs_read_u64(payload);

	if (payload->failed || count > fs_reader_left(payload) / (8 + COMM_SIZE))
		return too_short(handling);
	for (uint64_t i = 0; i < count; i++) {
		int64_t tid = (int64_t)fs_read_u64(payload);
		const char *comm = (const char *)fs_read_bytes(payload, COMM_SIZE);

		if (system->stat_thread_count >= THREADS_MAX)
			return unused(handling, "THREAD_MAP over 65536 threads");
		if (FS_RESERVE(system->stat_thread, system->stat_thread_capacity,
			       system->stat_thread_count + 1) ||
		    fs_host_add_fact(&handling->session->host, &handling->session->loss, comm,
				     COMM_SIZE, "thread_map.%" PRId64, tid))
			return no_memory(handling);
		system->stat_thread[system->stat_thread_count++] =
			tid >= 0 && tid < UINT32_MAX ? (uint32_t)tid : UINT32_MAX;
	}
	return 0;
}

/* CPUs by number, and whether "any" is among them. */
struct cpu_set {
	uint64_t bits[(1 << 16) / 64];
	bool any;
};

static void add_cpu(struct cpu_set *set, uint32_t cpu)
{
	if (cpu == CPU_ANY)
		set->any = true;
	else
		set->bits[cpu / 64] |= 1ull << cpu % 64;
}

/* | u16 nr | nr * u16 | or | u16 nr, long_size | [4 bytes where that is 8] | nr words | */
static bool read_cpus(struct fs_reader *reader, uint16_t kind, struct cpu_set *set)
{
	uint16_t count = fs_read_u16(reader);
	uint16_t word_size = kind == CPU_MAP_MASK ? fs_read_u16(reader) : 2;

	if (kind == CPU_MAP_LIST) {
		for (uint16_t i = 0; i < count && !reader->failed; i++)
			add_cpu(set, fs_read_u16(reader));
		return !reader->failed;
	}
	if ((word_size != 4 && word_size != 8) || (uint32_t)count * word_size * 8 >= CPU_ANY)
		return false;
	if (word_size == 8)
		fs_read_u32(reader);
	for (uint32_t i = 0; i < count && !reader->failed; i++) {
		uint64_t word = word_size == 8 ? fs_read_u64(reader) : fs_read_u32(reader);

		for (uint32_t bit = 0; bit < word_size * 8u; bit++)
			if (word >> bit & 1)
				add_cpu(set, i * word_size * 8u + bit);
	}
	return !reader->failed;
}

/* | u8 any, u8 | u16 first, last | */
static bool read_cpu_range(struct fs_reader *reader, struct cpu_set *set)
{
	uint32_t first;
	uint32_t last;

	set->any = fs_read_u8(reader);
	fs_read_u8(reader);
	first = fs_read_u16(reader);
	last = fs_read_u16(reader);
	if (reader->failed || first > last)
		return false;
	for (; first <= last; first++)
		add_cpu(set, first);
	return true;
}

static char *list_cpus(const struct cpu_set *set)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const char *separator = "";

	if (!out)
		return NULL;
	if (set->any) {
		fputs("any", out);
		separator = ",";
	}
	for (uint32_t cpu = 0; cpu < CPU_ANY; cpu++) {
		uint32_t first = cpu;

		if (!(set->bits[cpu / 64] >> cpu % 64 & 1))
			continue;
		if (ftell(out) > CPU_TEXT_MAX) {
			fputs(",...", out);
			break;
		}
		while (cpu + 1 < CPU_ANY && set->bits[(cpu + 1) / 64] >> (cpu + 1) % 64 & 1)
			cpu++;
		fprintf(out, first == cpu ? "%s%u" : "%s%u-%u", separator, first, cpu);
		separator = ",";
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

char *fs_read_cpu_map(struct fs_reader *reader)
{
	struct cpu_set set = { 0 };
	uint16_t kind = fs_read_u16(reader);
	bool good = kind == CPU_MAP_RANGE  ? read_cpu_range(reader, &set)
		    : kind <= CPU_MAP_MASK ? read_cpus(reader, kind, &set)
					   : false;

	return good && !reader->failed ? list_cpus(&set) : NULL;
}

int fs_handle_cpu_map(struct handling *handling)
{
	char *list = fs_read_cpu_map(&handling->payload);
	int code;

	if (!list)
		return too_short(handling);
	code = fs_host_add_fact(&handling->session->host, &handling->session->loss, list,
				strlen(list), "cpu_map");
	free(list);
	return code ? no_memory(handling) : 0;
}
