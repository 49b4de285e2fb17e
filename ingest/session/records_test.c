/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every record type beside those of threads and mappings, made here as a stream in both byte
 * orders: the loop index of a test is 1 for the other order.
 */
#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "ingest/perfdata/test_writer.h"
#include "ingest/session/session.h"

#define SAMPLE_ID_ALL (1ull << 18)

enum {
	TRAILER = FS_SAMPLE_TID | FS_SAMPLE_TIME | FS_SAMPLE_CPU | FS_SAMPLE_IDENTIFIER,
	PID = 7,
	TID = 8,
	CPU = 3,
	WHEN = 100,
	ID = 5,
	OTHER_ID = 6,
};

/* A stream in the making, and a record of it. */
struct stream {
	struct test_bytes bytes, record;
	bool swap;
};

static void u16(struct stream *stream, uint16_t value)
{
	test_put_u16(&stream->record, stream->swap ? __builtin_bswap16(value) : value);
}

static void u32(struct stream *stream, uint32_t value)
{
	test_put_u32(&stream->record, stream->swap ? __builtin_bswap32(value) : value);
}

static void u64(struct stream *stream, uint64_t value)
{
	test_put_u64(&stream->record, stream->swap ? __builtin_bswap64(value) : value);
}

static void raw(struct stream *stream, const void *bytes, size_t size)
{
	test_put(&stream->record, bytes, size);
}

/* A name of the size that the layout gives it. */
static void fixed(struct stream *stream, const char *name, size_t size)
{
	static const char zeros[512];

	raw(stream, name, strlen(name));
	raw(stream, zeros, size - strlen(name));
}

static void end_record(struct stream *stream, uint32_t type, uint16_t misc)
{
	struct test_bytes payload = stream->record;

	stream->record = (struct test_bytes){ 0 };
	u32(stream, type);
	u16(stream, misc);
	u16(stream, (uint16_t)(8 + payload.size));
	test_put(&stream->bytes, stream->record.data, stream->record.size);
	test_put(&stream->bytes, payload.data, payload.size);
	free(stream->record.data);
	payload.size = 0;
	stream->record = payload;
}

/* A kernel record: with a trailer. */
static void end_kernel(struct stream *stream, uint32_t type, uint16_t misc, uint64_t id)
{
	u32(stream, PID);
	u32(stream, TID);
	u64(stream, WHEN);
	u32(stream, CPU);
	u32(stream, 0);
	u64(stream, id);
	end_record(stream, type, misc);
}

static void put_attr(struct stream *stream, uint64_t config, uint64_t id)
{
	u32(stream, 0);
	u32(stream, 64);
	u64(stream, config);
	u64(stream, 1000);
	u64(stream, TRAILER | FS_SAMPLE_IP);
	u64(stream, FS_READ_ENABLED | FS_READ_RUNNING | FS_READ_ID);
	/* flag i of the other order stands in byte i / 8 at bit 7 - i % 8 */
	test_put_u64(&stream->record, stream->swap ? 1ull << (16 + 7 - 2) : SAMPLE_ID_ALL);
	u64(stream, 0);
	u64(stream, 0);
	u64(stream, id);
	end_record(stream, 64, 0);
}

static void begin(struct stream *stream, int order)
{
	*stream = (struct stream){ .swap = order };
	test_put(&stream->bytes, order ? "2ELIFREP" : "PERFILE2", 8);
	u64(stream, 16);
	test_put(&stream->bytes, stream->record.data, 8);
	stream->record.size = 0;
	put_attr(stream, 0, ID);
	put_attr(stream, 1, OTHER_ID);
}

static void open_stream(struct fs_session *session, struct stream *stream)
{
	struct fs_error error = { 0 };
	char path[64];
	int code;

	test_save(stream->bytes.data, stream->bytes.size, path);
	code = fs_session_open(session, path, &error);
	unlink(path);
	if (code)
		ck_abort_msg("%s", error.text);
	ck_assert_uint_eq(session->file.event_count, 2);
	free(stream->bytes.data);
	free(stream->record.data);
}

static uint64_t lost(const struct fs_session *session, enum fs_loss_kind kind)
{
	uint64_t count = 0;

	for (size_t i = 0; i < session->loss.entries.count; i++) {
		const struct fs_loss_key *key = fs_table_key(&session->loss.entries, i);
		const struct fs_loss_value *value = fs_table_value(&session->loss.entries, i);

		count += key->kind == (uint32_t)kind ? value->count : 0;
	}
	return count;
}

static const char *text(const struct fs_session *session, int64_t id)
{
	return id < 0 ? "" : fs_interned(&session->strings, (uint32_t)id, NULL);
}

static const char *fact(const struct fs_session *session, const char *name)
{
	for (size_t i = 0; i < session->host.fact_count; i++)
		if (!strcmp(session->host.facts[i].name, name))
			return session->host.facts[i].value;
	return "no such fact";
}

/* The only event of its kind. */
static const struct fs_system_event *system_event(const struct fs_session *session,
						  enum fs_system_kind kind)
{
	const struct fs_system_event *found = NULL;

	for (size_t i = 0; i < session->system.event_count; i++) {
		if (session->system.events[i].kind != kind)
			continue;
		ck_assert_ptr_null(found);
		found = &session->system.events[i];
	}
	ck_assert_ptr_nonnull(found);
	return found;
}

START_TEST(symbols_of_the_kernel)
{
	const struct fs_system_event *event;
	struct fs_session session;
	struct stream stream;
	uint64_t from;
	uint64_t to;
	int64_t map;

	begin(&stream, _i);
	for (int end = 0; end < 2; end++) {
		u64(&stream, 0xffffffffc0001000);
		u32(&stream, 0x80);
		u16(&stream, 1);
		u16(&stream, (uint16_t)end);
		fixed(&stream, "bpf_prog_ab_f", 16);
		end_kernel(&stream, 17, 0, ID);
	}
	open_stream(&session, &stream);
	event = system_event(&session, FS_SYSTEM_KSYMBOL);
	ck_assert_uint_eq(event->address, 0xffffffffc0001000);
	ck_assert_uint_eq(event->length, 0x80);
	ck_assert_uint_eq(event->number, 1);
	ck_assert_uint_eq(event->time_ns, WHEN);
	ck_assert_uint_eq(event->cpu, CPU);
	ck_assert_str_eq(text(&session, event->name), "bpf_prog_ab_f");
	ck_assert_str_eq(text(&session, system_event(&session, FS_SYSTEM_KSYMBOL_END)->name),
			 "bpf_prog_ab_f");
	/* it names code, of its own length and no more */
	map = fs_maps_find(&session.maps, &session.threads, FS_KERNEL_SPACE, 0xffffffffc000107f,
			   WHEN, &from, &to);
	ck_assert_int_ne(map, FS_NONE);
	ck_assert_str_eq(text(&session, session.maps.dsos[session.maps.maps[map].dso].path),
			 "bpf_prog_ab_f");
	ck_assert_int_eq(fs_maps_find(&session.maps, &session.threads, FS_KERNEL_SPACE,
				      0xffffffffc0001080, WHEN, &from, &to),
			 FS_NONE);
	fs_session_close(&session);
}
END_TEST

START_TEST(bpf_programs)
{
	static const uint8_t tag[8] = { 0x6d, 0xee, 0xf7, 0x35, 0x7e, 0x7b, 0x45, 0x30 };
	const struct fs_system_event *event;
	struct fs_session session;
	struct stream stream;

	begin(&stream, _i);
	for (uint16_t type = 1; type <= 3; type++) {
		u16(&stream, type);
		u16(&stream, 0);
		u32(&stream, 40u + type);
		raw(&stream, tag, sizeof(tag));
		end_kernel(&stream, 18, 0, ID);
	}
	fixed(&stream, "prog", 512);
	u64(&stream, 2);
	fixed(&stream, "author", 64);
	fixed(&stream, "nobody", 256);
	fixed(&stream, "version", 64);
	fixed(&stream, "1", 256);
	end_record(&stream, 84, 0);
	open_stream(&session, &stream);
	event = system_event(&session, FS_SYSTEM_BPF_LOAD);
	ck_assert_uint_eq(event->number, 41);
	ck_assert_str_eq(text(&session, event->name), "6deef7357e7b4530");
	ck_assert_uint_eq(system_event(&session, FS_SYSTEM_BPF_UNLOAD)->number, 42);
	ck_assert_uint_eq(lost(&session, FS_LOSS_UNUSED_RECORD), 1);
	ck_assert_str_eq(fact(&session, "bpf_metadata.prog.author"), "nobody");
	ck_assert_str_eq(fact(&session, "bpf_metadata.prog.version"), "1");
	fs_session_close(&session);
}
END_TEST

START_TEST(changes_of_the_system)
{
	static const uint8_t code[16] = { 0x0f, 0x1f, 0x44, 0, 0, 0xe8, 1, 2, 3, 4 };
	const struct fs_system_event *event;
	struct fs_session session;
	struct stream stream;

	begin(&stream, _i);
	u64(&stream, 0xffffffff81000000); /* 5 bytes become 5, padded from old_len on */
	u16(&stream, 5);
	u16(&stream, 5);
	raw(&stream, code, 12);
	end_kernel(&stream, 20, 1, ID);
	u64(&stream, 77);
	fixed(&stream, "/system.slice", 16);
	end_kernel(&stream, 19, 0, ID);
	u64(&stream, 12);
	end_kernel(&stream, 21, 0, OTHER_ID);
	open_stream(&session, &stream);
	event = system_event(&session, FS_SYSTEM_TEXT_POKE);
	ck_assert_uint_eq(event->address, 0xffffffff81000000);
	ck_assert_str_eq(text(&session, event->detail),
			 "{\"old\":\"0f1f440000\",\"new\":\"e801020304\"}");
	event = system_event(&session, FS_SYSTEM_CGROUP);
	ck_assert_uint_eq(event->number, 77);
	ck_assert_str_eq(text(&session, event->name), "/system.slice");
	event = system_event(&session, FS_SYSTEM_AUX_OUTPUT_HW_ID);
	ck_assert_uint_eq(event->number, 12);
	ck_assert_int_eq(event->event, 1);
	fs_session_close(&session);
}
END_TEST

START_TEST(namespaces)
{
	static const char *const names[] = { "net",  "uts", "ipc",    "pid",
					     "user", "mnt", "cgroup", "namespace 7" };
	struct fs_session session;
	struct stream stream;

	begin(&stream, _i);
	u32(&stream, 20);
	u32(&stream, 21);
	u64(&stream, 8);
	for (uint64_t i = 0; i < 8; i++) {
		u64(&stream, 4);
		u64(&stream, 4026531840 + i);
	}
	end_kernel(&stream, 16, 0, ID);
	u32(&stream, 20); /* more than there are */
	u32(&stream, 21);
	u64(&stream, 1ull << 60);
	end_kernel(&stream, 16, 0, ID);
	open_stream(&session, &stream);
	ck_assert_uint_eq(session.system.event_count, 8);
	for (size_t i = 0; i < 8; i++) {
		const struct fs_system_event *event = &session.system.events[i];

		ck_assert_int_eq(event->kind, FS_SYSTEM_NAMESPACE);
		ck_assert_uint_eq(event->pid, 20);
		ck_assert_uint_eq(event->tid, 21);
		ck_assert_uint_eq(event->number, 4026531840 + i);
		ck_assert_str_eq(text(&session, event->name), names[i]);
		ck_assert_str_eq(text(&session, event->detail), "{\"device\":4}");
	}
	ck_assert_uint_eq(lost(&session, FS_LOSS_SHORT_RECORD), 1);
	fs_session_close(&session);
}
END_TEST

START_TEST(throttling_and_errors)
{
	const struct fs_system_event *event;
	struct fs_session session;
	struct stream stream;

	begin(&stream, _i);
	for (uint32_t type = 5; type <= 6; type++) {
		u64(&stream, WHEN + type);
		u64(&stream, OTHER_ID);
		u64(&stream, OTHER_ID);
		end_kernel(&stream, type, 0, OTHER_ID);
	}
	for (uint32_t i = 0; i < 6; i++) /* type, code, cpu, pid, tid, format */
		u32(&stream, (uint32_t[]){ 4, 9, 2, 30, 31, 1 }[i]);
	u64(&stream, 0x1234);
	u64(&stream, 500);
	fixed(&stream, "lost data", 64);
	end_record(&stream, 72, 0);
	open_stream(&session, &stream);
	event = system_event(&session, FS_SYSTEM_THROTTLE);
	ck_assert_uint_eq(event->time_ns, WHEN + 5);
	ck_assert_int_eq(event->event, 1);
	ck_assert_uint_eq(system_event(&session, FS_SYSTEM_UNTHROTTLE)->time_ns, WHEN + 6);
	ck_assert_uint_eq(lost(&session, FS_LOSS_THROTTLED), 1);
	ck_assert_uint_eq(lost(&session, FS_LOSS_THROTTLED_TIME), 1);
	ck_assert_uint_eq(session.loss.windows.count, 3);
	for (size_t i = 0; i < 2; i++) {
		const struct fs_loss_window_key *key = fs_table_key(&session.loss.windows, i);
		const struct fs_loss_window *window = fs_table_value(&session.loss.windows, i);

		ck_assert_uint_eq(key->kind, i ? FS_LOSS_THROTTLED_TIME : FS_LOSS_THROTTLED);
		ck_assert_uint_eq(key->cpu, CPU);
		ck_assert_uint_eq(window->first_ns, i ? WHEN + 5 : WHEN);
		ck_assert_uint_eq(window->last_ns, i ? WHEN + 6 : WHEN);
	}
	event = system_event(&session, FS_SYSTEM_AUXTRACE_ERROR);
	ck_assert_uint_eq(event->number, 9);
	ck_assert_uint_eq(event->cpu, 2);
	ck_assert_uint_eq(event->tid, 31);
	ck_assert_uint_eq(event->address, 0x1234);
	ck_assert_uint_eq(event->time_ns, 500);
	ck_assert_str_eq(text(&session, event->name), "lost data");
	ck_assert_str_eq(text(&session, event->detail), "{\"type\":4}");
	ck_assert_uint_eq(lost(&session, FS_LOSS_AUXTRACE_ERROR), 1);
	fs_session_close(&session);
}
END_TEST

static void put_stat(struct stream *stream, uint64_t id, uint32_t cpu, uint32_t thread,
		     uint64_t value)
{
	u64(stream, id);
	u32(stream, cpu);
	u32(stream, thread);
	u64(stream, value);
	u64(stream, 1000);
	u64(stream, 900);
	end_record(stream, 76, 0);
}

static void put_round(struct stream *stream, uint64_t type, uint64_t when)
{
	u64(stream, type);
	u64(stream, when);
	end_record(stream, 77, 0);
}

START_TEST(values_of_perf_stat)
{
	static const struct {
		enum fs_counter_source source;
		uint64_t when, value;
		int64_t event;
		uint32_t cpu, tid;
	} expected[] = {
		{ FS_COUNTER_STAT, 1000, 10, 0, 2, 50 },
		{ FS_COUNTER_STAT, 1000, 11, 1, UINT32_MAX, 51 },
		{ FS_COUNTER_STAT_FINAL, 2000, 20, 0, 2, 50 },
		{ FS_COUNTER_STAT, 0, 30, 0, 2, UINT32_MAX },
	};
	struct fs_session session;
	struct stream stream;

	begin(&stream, _i);
	u64(&stream, 2);
	for (uint64_t i = 0; i < 2; i++) {
		u64(&stream, 50 + i);
		fixed(&stream, i ? "second" : "first", 16);
	}
	end_record(&stream, 73, 0);
	u64(&stream, 2);
	u64(&stream, 0);
	u64(&stream, 3);
	u64(&stream, 9);
	u64(&stream, 4);
	end_record(&stream, 75, 0);
	put_stat(&stream, ID, 2, 0, 10);
	put_stat(&stream, OTHER_ID, UINT32_MAX, 1, 11);
	put_round(&stream, 0, 1000);
	put_stat(&stream, ID, 2, 0, 20);
	put_stat(&stream, 99, 2, 0, 20); /* of no event */
	put_round(&stream, 1, 2000);
	put_stat(&stream, ID, 2, 7, 30); /* of a thread that is not in the map; no round follows */
	open_stream(&session, &stream);
	ck_assert_uint_eq(session.system.counter_count, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct fs_counter *counter = &session.system.counters[i];

		ck_assert_int_eq(counter->source, expected[i].source);
		ck_assert_uint_eq(counter->time_ns, expected[i].when);
		ck_assert_uint_eq(counter->value, expected[i].value);
		ck_assert_int_eq(counter->event, expected[i].event);
		ck_assert_uint_eq(counter->cpu, expected[i].cpu);
		ck_assert_uint_eq(counter->tid, expected[i].tid);
		ck_assert_uint_eq(counter->time_enabled, 1000);
		ck_assert_uint_eq(counter->time_running, 900);
	}
	ck_assert_uint_eq(lost(&session, FS_LOSS_UNKNOWN_COUNTER), 1);
	ck_assert_str_eq(fact(&session, "thread_map.50"), "first");
	ck_assert_str_eq(fact(&session, "thread_map.51"), "second");
	ck_assert_str_eq(fact(&session, "stat_config.aggr_mode"), "3");
	ck_assert_str_eq(fact(&session, "stat_config.9"), "4");
	fs_session_close(&session);
}
END_TEST

START_TEST(values_of_exiting_threads)
{
	const struct fs_counter *counter;
	struct fs_session session;
	struct stream stream;

	begin(&stream, _i);
	u32(&stream, 60);
	u32(&stream, 61);
	u64(&stream, 12345); /* value, enabled, running, id */
	u64(&stream, 70);
	u64(&stream, 60);
	u64(&stream, OTHER_ID);
	end_kernel(&stream, 8, 0, OTHER_ID);
	u32(&stream, 60); /* without values */
	u32(&stream, 61);
	end_kernel(&stream, 8, 0, OTHER_ID);
	open_stream(&session, &stream);
	ck_assert_uint_eq(session.system.counter_count, 1);
	counter = &session.system.counters[0];
	ck_assert_int_eq(counter->source, FS_COUNTER_READ);
	ck_assert_int_eq(counter->event, 1);
	ck_assert_uint_eq(counter->value, 12345);
	ck_assert_uint_eq(counter->time_enabled, 70);
	ck_assert_uint_eq(counter->time_running, 60);
	ck_assert_uint_eq(counter->time_ns, WHEN);
	ck_assert_uint_eq(counter->pid, 60);
	ck_assert_uint_eq(counter->tid, 61);
	ck_assert_uint_eq(counter->cpu, CPU);
	ck_assert_uint_eq(lost(&session, FS_LOSS_SHORT_RECORD), 1);
	fs_session_close(&session);
}
END_TEST

/* The body of a CPU_MAP in each of its encodings. */
static void put_cpu_map(struct stream *stream, int encoding)
{
	switch (encoding) {
	case 0: /* list */
		u16(stream, 0);
		u16(stream, 5);
		for (int i = 0; i < 5; i++)
			u16(stream, (uint16_t[]){ 9, 0, 1, 2, 0xffff }[i]);
		break;
	case 1: /* mask of 64-bit words */
		u16(stream, 1);
		u16(stream, 2);
		u16(stream, 8);
		u32(stream, 0);
		u64(stream, 1ull << 63);
		u64(stream, 3);
		break;
	case 2: /* mask of 32-bit words */
		u16(stream, 1);
		u16(stream, 2);
		u16(stream, 4);
		u32(stream, 1u << 31 | 1);
		u32(stream, 1);
		break;
	case 3: /* range */
		u16(stream, 2);
		raw(stream, "\0", 2);
		u16(stream, 4);
		u16(stream, 11);
		break;
	default: /* unknown */
		u16(stream, 3);
		u64(stream, 0);
		break;
	}
}

START_TEST(cpu_maps)
{
	static const char *const expected[] = { "any,0-2,9", "63-65", "0,31-32", "4-11" };
	struct fs_session session;
	struct stream stream;

	for (int encoding = 0; encoding < 5; encoding++) {
		begin(&stream, _i);
		put_cpu_map(&stream, encoding);
		end_record(&stream, 74, 0);
		u64(&stream, 3);
		u64(&stream, OTHER_ID);
		put_cpu_map(&stream, encoding);
		end_record(&stream, 78, 0);
		open_stream(&session, &stream);
		if (encoding < 4) {
			ck_assert_str_eq(fact(&session, "cpu_map"), expected[encoding]);
			ck_assert_str_eq(session.file.events[1].cpus, expected[encoding]);
			ck_assert_uint_eq(lost(&session, FS_LOSS_SHORT_RECORD), 0);
		} else {
			ck_assert_str_eq(fact(&session, "cpu_map"), "no such fact");
			ck_assert_uint_eq(lost(&session, FS_LOSS_SHORT_RECORD), 2);
		}
		fs_session_close(&session);
	}
}
END_TEST

/* Each encoding claims more than it holds. */
START_TEST(cpu_maps_that_cannot_be)
{
	static const uint16_t words[][4] = {
		{ 0, 3, 1, 2 }, { 1, 0xffff, 8, 0 }, { 1, 1, 5, 0 }, { 1, 2, 4, 0 }, { 2, 0, 9, 4 },
	};
	struct fs_session session;
	struct stream stream;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		begin(&stream, _i);
		for (int k = 0; k < 4; k++)
			u16(&stream, words[i][k]);
		end_record(&stream, 74, 0);
		open_stream(&session, &stream);
		ck_assert_uint_eq(lost(&session, FS_LOSS_SHORT_RECORD), 1);
		ck_assert_uint_eq(session.host.fact_count, 0);
		fs_session_close(&session);
	}
}
END_TEST

START_TEST(updates_of_events)
{
	static const double scale = 0.5;
	struct fs_session session;
	struct stream stream;
	uint64_t bits;

	memcpy(&bits, &scale, 8);
	begin(&stream, _i);
	u64(&stream, 0);
	u64(&stream, ID);
	fixed(&stream, "Joules", 8);
	end_record(&stream, 78, 0);
	u64(&stream, 1);
	u64(&stream, ID);
	u64(&stream, bits);
	end_record(&stream, 78, 0);
	u64(&stream, 2);
	u64(&stream, ID);
	fixed(&stream, "energy", 8);
	end_record(&stream, 78, 0);
	u64(&stream, 9); /* unknown kind */
	u64(&stream, ID);
	end_record(&stream, 78, 0);
	u64(&stream, 2); /* unknown event */
	u64(&stream, 99);
	end_record(&stream, 78, 0);
	open_stream(&session, &stream);
	ck_assert_str_eq(session.file.events[0].unit, "Joules");
	ck_assert_str_eq(session.file.events[0].name, "energy");
	ck_assert_double_eq(session.file.events[0].scale, 0.5);
	ck_assert_ptr_null(session.file.events[1].name);
	ck_assert_uint_eq(lost(&session, FS_LOSS_UNUSED_RECORD), 2);
	fs_session_close(&session);
}
END_TEST

START_TEST(indexes_of_ids)
{
	struct fs_session session;
	struct stream stream;
	const struct fs_event_id *id;

	for (int guests = 0; guests < 2; guests++) {
		begin(&stream, _i);
		u64(&stream, 3);
		for (uint64_t i = 0; i < 3; i++) {
			u64(&stream, (uint64_t[]){ ID, OTHER_ID, 99 }[i]);
			u64(&stream, i);
			u64(&stream, i ? 4 : UINT64_MAX);
			u64(&stream, i ? UINT32_MAX : 70);
		}
		for (uint64_t i = 0; guests && i < 6; i++)
			u64(&stream, 1000 + i);
		end_record(&stream, 69, 0);
		open_stream(&session, &stream);
		id = fs_table_get(&session.ids, &(uint64_t){ ID });
		ck_assert_int_eq(id->cpu, -1);
		ck_assert_int_eq(id->tid, 70);
		ck_assert_int_eq(id->machine_pid, guests ? 1000 : -1);
		ck_assert_int_eq(id->vcpu, guests ? 1001 : -1);
		id = fs_table_get(&session.ids, &(uint64_t){ OTHER_ID });
		ck_assert_int_eq(id->cpu, 4);
		ck_assert_int_eq(id->tid, -1);
		ck_assert_int_eq(id->vcpu, guests ? 1003 : -1);
		ck_assert_uint_eq(lost(&session, FS_LOSS_UNUSED_RECORD), 1);
		fs_session_close(&session);
	}
}
END_TEST

/* perf writes LOST_SAMPLES at its end, with an id and otherwise empty trailers. */
START_TEST(samples_that_were_lost)
{
	struct fs_session session;
	struct stream stream;
	const struct fs_loss_key *key;

	begin(&stream, _i);
	u64(&stream, 10);
	for (int i = 0; i < 3; i++)
		u64(&stream, 0);
	u64(&stream, ID);
	end_record(&stream, 13, 0);
	u64(&stream, 20);
	for (int i = 0; i < 3; i++)
		u64(&stream, 0);
	u64(&stream, ID);
	end_record(&stream, 13, 1 << 15);
	open_stream(&session, &stream);
	ck_assert_uint_eq(lost(&session, FS_LOSS_LOST_SAMPLES), 10);
	ck_assert_uint_eq(lost(&session, FS_LOSS_FILTERED_SAMPLES), 20);
	key = fs_table_key(&session.loss.entries, 0);
	ck_assert_str_eq(fs_interned(&session.loss.scopes, key->scope, NULL), "trace");
	fs_session_close(&session);
}
END_TEST

/* Nothing of a guest stands among what this machine maps, and nothing maps no bytes. */
START_TEST(mappings_of_guests_and_of_nothing)
{
	struct fs_session session;
	struct stream stream;
	uint64_t from;
	uint64_t to;

	begin(&stream, _i);
	for (uint16_t mode = 1; mode <= 5; mode++) {
		u32(&stream, UINT32_MAX);
		u32(&stream, UINT32_MAX);
		u64(&stream, 0x1000u * mode);
		u64(&stream, mode == 2 ? 0 : 0x1000);
		u64(&stream, 0);
		fixed(&stream, "[kernel.kallsyms]_text", 24);
		end_kernel(&stream, 1, mode, ID);
	}
	open_stream(&session, &stream);
	ck_assert_uint_eq(session.maps.count, 4);
	ck_assert_uint_eq(session.maps.dso_count, 2);
	ck_assert_uint_eq(lost(&session, FS_LOSS_UNUSED_RECORD), 1);
	for (uint64_t mode = 1; mode <= 5; mode++)
		ck_assert_int_eq(fs_maps_find(&session.maps, &session.threads, FS_KERNEL_SPACE,
					      0x1000 * mode, WHEN, &from, &to) != FS_NONE,
				 mode == 1 || mode == 3);
	fs_session_close(&session);
}
END_TEST

/* Records of no use are counted by their reason, those without content are not. */
START_TEST(records_of_no_use)
{
	struct fs_session session;
	struct stream stream;

	begin(&stream, _i);
	u64(&stream, 1);
	u64(&stream, 0);
	end_kernel(&stream, 22, 0, ID);
	u64(&stream, 1);
	fixed(&stream, "cycles", 64);
	end_record(&stream, 65, 0);
	for (uint32_t type = 85; type <= 86; type++) {
		u64(&stream, 1);
		end_record(&stream, type, 0);
	}
	end_record(&stream, 68, 0);
	end_record(&stream, 82, 0);
	open_stream(&session, &stream);
	ck_assert_uint_eq(lost(&session, FS_LOSS_UNUSED_RECORD), 4);
	ck_assert_uint_eq(session.loss.entries.count, 4);
	fs_session_close(&session);
}
END_TEST

/* Every length of every record: none is read beyond its end (the sanitizers watch). */
START_TEST(records_cut_short)
{
	for (uint32_t type = 1; type <= 86; type++) {
		for (size_t size = 0; size <= 96; size += 4) {
			struct fs_error error = { 0 };
			struct fs_session session;
			struct stream stream;
			char path[64];

			begin(&stream, _i);
			for (size_t i = 0; i < size; i += 4)
				u32(&stream, i % 8 ? 0 : 2);
			end_record(&stream, type, 0);
			end_record(&stream, 68, 0);
			test_save(stream.bytes.data, stream.bytes.size, path);
			ck_assert_int_eq(fs_session_open(&session, path, &error), 0);
			unlink(path);
			fs_session_close(&session);
			free(stream.bytes.data);
			free(stream.record.data);
		}
	}
}
END_TEST

/* Masks of every other CPU: none becomes many times its size, nor do all together. */
START_TEST(many_cpu_maps)
{
	struct fs_session session;
	struct stream stream;

	begin(&stream, 0);
	for (int i = 0; i < 4200; i++) {
		u16(&stream, 1);
		u16(&stream, 1000);
		u16(&stream, 8);
		u32(&stream, 0);
		for (int word = 0; word < 1000; word++)
			u64(&stream, 0x5555555555555555);
		end_record(&stream, 74, 0);
	}
	open_stream(&session, &stream);
	ck_assert_uint_lt(strlen(fact(&session, "cpu_map")), 5000);
	ck_assert_ptr_nonnull(strstr(fact(&session, "cpu_map"), ",..."));
	ck_assert_uint_gt(session.host.fact_count, 4000);
	ck_assert_uint_le(session.host.fact_bytes, 16 << 20);
	ck_assert_uint_eq(session.host.fact_count + lost(&session, FS_LOSS_LIMIT), 4200);
	ck_assert_uint_gt(lost(&session, FS_LOSS_LIMIT), 0);
	fs_session_close(&session);
}
END_TEST

/* A file of such records alone does not fill the memory. */
START_TEST(many_system_events)
{
	struct fs_session session;
	struct stream stream;

	begin(&stream, 0);
	for (uint64_t i = 0; i < (1 << 18) + 5; i++) {
		u64(&stream, i);
		fixed(&stream, "/a", 8);
		end_kernel(&stream, 19, 0, ID);
	}
	open_stream(&session, &stream);
	ck_assert_uint_eq(session.system.event_count, 1 << 18);
	ck_assert_uint_eq(lost(&session, FS_LOSS_LIMIT), 5);
	fs_session_close(&session);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("records");
	TCase *test_case = tcase_create("records");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(test_case, symbols_of_the_kernel, 0, 2);
	tcase_add_loop_test(test_case, bpf_programs, 0, 2);
	tcase_add_loop_test(test_case, changes_of_the_system, 0, 2);
	tcase_add_loop_test(test_case, namespaces, 0, 2);
	tcase_add_loop_test(test_case, throttling_and_errors, 0, 2);
	tcase_add_loop_test(test_case, values_of_perf_stat, 0, 2);
	tcase_add_loop_test(test_case, values_of_exiting_threads, 0, 2);
	tcase_add_loop_test(test_case, cpu_maps, 0, 2);
	tcase_add_loop_test(test_case, cpu_maps_that_cannot_be, 0, 2);
	tcase_add_loop_test(test_case, updates_of_events, 0, 2);
	tcase_add_loop_test(test_case, indexes_of_ids, 0, 2);
	tcase_add_loop_test(test_case, samples_that_were_lost, 0, 2);
	tcase_add_loop_test(test_case, mappings_of_guests_and_of_nothing, 0, 2);
	tcase_add_loop_test(test_case, records_of_no_use, 0, 2);
	tcase_add_loop_test(test_case, records_cut_short, 0, 2);
	tcase_add_test(test_case, many_cpu_maps);
	tcase_add_test(test_case, many_system_events);
	suite_add_tcase(suite, test_case);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
