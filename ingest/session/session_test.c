/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/session/session.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/test_random.h"
#include "ingest/perfdata/test_writer.h"

#define SAMPLE_ID_ALL (1ull << 18)

enum { TRAILER = FS_SAMPLE_TID | FS_SAMPLE_TIME | FS_SAMPLE_CPU | FS_SAMPLE_IDENTIFIER };

static const struct test_event one_event = {
	.type = 8,
	.sample_type = TRAILER | FS_SAMPLE_IP,
	.flags = SAMPLE_ID_ALL,
	.ids = { 5 },
	.id_count = 1,
};

static void begin(struct test_file *file)
{
	test_file_begin(file, &one_event, 1, 136);
}

/* End the file, do pass one over it. */
static void open_file(struct fs_session *session, struct test_file *file)
{
	struct fs_error error = { 0 };
	struct test_bytes nothing = { 0 };
	char path[64];
	int code;

	test_record(file, 68, 0, &nothing);
	test_file_end(file);
	test_save(file->bytes.data, file->bytes.size, path);
	code = fs_session_open(session, path, &error);
	unlink(path);
	if (code)
		ck_abort_msg("%s", error.text);
	test_file_free(file);
}

static void put_trailer(struct test_bytes *payload, uint32_t tid, uint64_t when, uint32_t cpu,
			uint64_t id)
{
	test_put_u32(payload, tid);
	test_put_u32(payload, tid);
	test_put_u64(payload, when);
	test_put_u32(payload, cpu);
	test_put_u32(payload, 0);
	test_put_u64(payload, id);
}

/* A record of words, with a trailer. */
static void put_words(struct test_file *file, uint32_t type, uint16_t misc, const uint64_t *words,
		      size_t count, uint32_t cpu)
{
	struct test_bytes payload = { 0 };

	test_put(&payload, words, 8 * count);
	if (type < 64)
		put_trailer(&payload, 7, 100, cpu, 5);
	test_record(file, type, misc, &payload);
	free(payload.data);
}

/* The count of a loss kind and scope (NULL: of all). */
static uint64_t lost(const struct fs_session *session, enum fs_loss_kind kind, const char *scope)
{
	uint64_t count = 0;

	for (size_t i = 0; i < session->loss.entries.count; i++) {
		const struct fs_loss_key *key = fs_table_key(&session->loss.entries, i);
		const struct fs_loss_value *value = fs_table_value(&session->loss.entries, i);
		const char *has = fs_interned(&session->loss.scopes, key->scope, NULL);

		if (key->kind == (uint32_t)kind && (!scope || !strcmp(scope, has)))
			count += value->count;
	}
	return count;
}

/* ---- losses ---- */

START_TEST(losses_of_the_recorder)
{
	struct fs_session session;
	struct test_file file;

	begin(&file);
	put_words(&file, 2, 0, (uint64_t[]){ 5, 10 }, 2, 3);
	put_words(&file, 2, 0, (uint64_t[]){ 5, 20 }, 2, 3);
	put_words(&file, 2, 0, (uint64_t[]){ 5, 0 }, 2, 4); /* nothing was lost */
	put_words(&file, 13, 0, (uint64_t[]){ 7 }, 1, UINT32_MAX);
	put_words(&file, 5, 0, (uint64_t[]){ 100, 5, 5 }, 3, 1);
	put_words(&file, 6, 0, (uint64_t[]){ 100, 5, 5 }, 3, 1);
	put_words(&file, 11, 0, (uint64_t[]){ 0, 4096, 1 | 4 | 8 }, 3, 2);
	put_words(&file, 11, 0, (uint64_t[]){ 0, 4096, 0x100 | 2 }, 3, 2);
	put_words(&file, 72, 0, (uint64_t[]){ 0, 0, 0, 0 }, 4, 0);
	/* compressed records are not expected behind a plain sample */
	put_words(&file, 9, 0, (uint64_t[]){ 0, 0, 0, 0, 0, 0, 0 }, 7, 0);
	put_words(&file, 81, 0, (uint64_t[]){ 0 }, 1, 0);
	put_words(&file, 200, 0, NULL, 0, 0);
	put_words(&file, 23, 0, (uint64_t[]){ 0 }, 1, 0);
	put_words(&file, 0xffff, 0, NULL, 0, 0);
	open_file(&session, &file);
	ck_assert_uint_eq(lost(&session, FS_LOSS_LOST_RECORDS, "cpu 3"), 30);
	ck_assert_uint_eq(lost(&session, FS_LOSS_LOST_RECORDS, NULL), 30);
	ck_assert_uint_eq(lost(&session, FS_LOSS_LOST_SAMPLES, "trace"), 7);
	ck_assert_uint_eq(lost(&session, FS_LOSS_THROTTLED, "cpu 1"), 1);
	ck_assert_uint_eq(lost(&session, FS_LOSS_AUX_TRUNCATED, "cpu 2"), 1);
	ck_assert_uint_eq(lost(&session, FS_LOSS_AUX_PARTIAL, "cpu 2"), 1);
	ck_assert_uint_eq(lost(&session, FS_LOSS_AUX_COLLISION, "cpu 2"), 1);
	ck_assert_uint_eq(lost(&session, FS_LOSS_AUXTRACE_ERROR, NULL), 1);
	ck_assert_uint_eq(lost(&session, FS_LOSS_COMPRESSED_RECORD, NULL), 1);
	ck_assert_uint_eq(lost(&session, FS_LOSS_UNKNOWN_RECORD, NULL), 3);
	ck_assert_uint_eq(session.record_count[2], 3);
	ck_assert_uint_eq(session.record_count[FS_RECORD_TYPES - 1], 2);
	ck_assert_uint_eq(lost(&session, FS_LOSS_SHORT_RECORD, NULL), 0);
	fs_session_close(&session);
}
END_TEST

/* Without sample_id_all nothing tells the CPU. */
START_TEST(losses_without_a_cpu)
{
	const struct test_event event = { .sample_type = TRAILER };
	struct test_bytes payload = { 0 };
	struct fs_session session;
	struct test_file file;

	test_file_begin(&file, &event, 1, 136);
	test_put_u64(&payload, 0);
	test_put_u64(&payload, 9);
	test_record(&file, 2, 0, &payload);
	for (int i = 0; i < 3; i++)
		test_put_u64(&payload, 1);
	test_record(&file, 11, 0, &payload);
	open_file(&session, &file);
	ck_assert_uint_eq(lost(&session, FS_LOSS_LOST_RECORDS, "trace"), 9);
	ck_assert_uint_eq(lost(&session, FS_LOSS_AUX_TRUNCATED, "trace"), 1);
	fs_session_close(&session);
	free(payload.data);
}
END_TEST

/*
 * Every type of record in every size up to where it is long enough and beyond, with zeros and with
 * ones: noted as short where it is, and never read past its end.
 */
START_TEST(records_of_every_type_and_size)
{
	static const struct {
		uint32_t type;
		size_t need; /* bytes of payload, trailer included */
	} types[] = {
		{ 1, 32 },  { 2, 16 },	{ 3, 8 },   { 4, 24 },	{ 5, 24 },  { 6, 24 },	{ 7, 24 },
		{ 8, 16 },  { 9, 0 },	{ 10, 64 }, { 11, 24 }, { 12, 8 },  { 13, 8 },	{ 14, 0 },
		{ 15, 0 },  { 16, 16 }, { 17, 16 }, { 18, 16 }, { 19, 8 },  { 20, 12 }, { 21, 8 },
		{ 22, 0 },  { 64, 0 },	{ 65, 0 },  { 66, 4 },	{ 67, 28 }, { 68, 0 },	{ 69, 8 },
		{ 70, 8 },  { 72, 32 }, { 73, 8 },  { 74, 4 },	{ 75, 8 },  { 76, 40 }, { 77, 16 },
		{ 78, 16 }, { 79, 24 }, { 80, 0 },  { 81, 0 },	{ 82, 0 },  { 83, 0 },	{ 84, 520 },
	};
	const struct test_event event = {
		.type = 8, .sample_type = TRAILER, .ids = { 0 }, .id_count = 1
	};

	for (size_t size = 0; size <= 80; size++) {
		struct test_bytes payload = { 0 };
		struct fs_session session;
		struct test_file file;

		test_file_begin(&file, &event, 1, 136);
		for (size_t i = 0; i < size; i++)
			test_put(&payload, _i & 64 ? "\xff" : "\0", 1);
		test_record(&file, types[_i & 63].type, (uint16_t)(_i & 64 ? 0xffff : 0), &payload);
		open_file(&session, &file);
		/* too short for what any recorder writes: already the walk takes it for damage */
		if (!(_i & 64) && size < types[_i].need)
			ck_assert_uint_eq(lost(&session, FS_LOSS_SHORT_RECORD, NULL) +
						  lost(&session, FS_LOSS_BAD_RECORD, NULL),
					  1);
		else if (!(_i & 64))
			ck_assert_uint_eq(lost(&session, FS_LOSS_SHORT_RECORD, NULL), 0);
		fs_session_close(&session);
		free(payload.data);
	}
}
END_TEST

/* ---- maps and names ---- */

START_TEST(mappings_that_are_odd)
{
	static const uint8_t build_id_sizes[] = { 20, 8, 0, 21, 255 };
	struct test_bytes payload = { 0 };
	struct fs_session session;
	struct test_file file;

	begin(&file);
	for (size_t i = 0; i < 5; i++) {
		uint8_t identity[24] = { build_id_sizes[i], 0, 0, 0, 0xab };

		test_put_u64(&payload, 7 | 7ull << 32);
		test_put_u64(&payload, 0x1000 * (i + 1));
		test_put_u64(&payload, i == 4 ? UINT64_MAX : 0x1000); /* wraps */
		test_put_u64(&payload, 0);
		test_put(&payload, identity, 24);
		test_put_u64(&payload, 0);
		/* no NUL at the end */
		test_put(&payload, i == 3 ? "" : "/bin/abc", i == 3 ? 0 : 8);
		put_trailer(&payload, 7, 100 + i, 0, 0);
		test_record(&file, 10, 1 << 14 | 2, &payload);
	}
	test_put_u64(&payload, 7 | 7ull << 32); /* of no length */
	for (int i = 0; i < 3; i++)
		test_put_u64(&payload, 0);
	test_put_name(&payload, "/bin/none");
	put_trailer(&payload, 7, 1, 0, 0);
	test_record(&file, 1, 1 << 13, &payload);
	open_file(&session, &file);
	ck_assert_uint_eq(session.maps.count, 5);
	ck_assert_uint_eq(session.maps.dso_count, 4); /* two ids, without id, without a name */
	for (size_t i = 0; i < 5; i++) {
		const struct fs_map *map = &session.maps.maps[i];
		const struct fs_dso *dso = &session.maps.dsos[map->dso];

		ck_assert_uint_eq(map->time_ns, 100 + i);
		ck_assert_str_eq(fs_interned(&session.strings, dso->path, NULL),
				 i == 3 ? "" : "/bin/abc");
		if (i < 2)
			ck_assert_uint_eq(strlen(fs_interned(&session.strings,
							     (uint32_t)dso->build_id, NULL)),
					  2 * build_id_sizes[i]);
		else
			ck_assert_int_eq(dso->build_id, FS_NONE);
	}
	ck_assert_uint_eq(session.maps.maps[4].end, UINT64_MAX);
	fs_session_close(&session);
	free(payload.data);
}
END_TEST

START_TEST(build_ids_from_the_header)
{
	static const uint8_t id[24] = { 0xcd, [20] = 20 };
	struct test_bytes payload = { 0 };
	struct test_bytes *feature;
	struct fs_session session;
	struct test_file file;

	begin(&file);
	for (int i = 0; i < 2; i++) {
		test_put_u64(&payload, 7 | 7ull << 32);
		test_put_u64(&payload, 0x1000);
		test_put_u64(&payload, 0x1000);
		test_put_u64(&payload, 0);
		test_put_name(&payload, i ? "/bin/other" : "/bin/known");
		put_trailer(&payload, 7, 1, 0, 0);
		test_record(&file, 1, 2, &payload);
	}
	feature = test_feature(&file, FS_FEATURE_BUILD_ID);
	test_put_u32(feature, 67);
	test_put_u16(feature, 2 | 1 << 15);
	test_put_u16(feature, 8 + 28 + 16);
	test_put_u32(feature, UINT32_MAX);
	test_put(feature, id, 24);
	test_put_name(feature, "/bin/known");
	open_file(&session, &file);
	ck_assert_int_ne(session.maps.dsos[0].build_id, FS_NONE);
	ck_assert_int_eq(session.maps.dsos[1].build_id, FS_NONE);
	fs_session_close(&session);
	free(payload.data);
}
END_TEST

/* Two events with different fields: each record's trailer is that of its own event. */
START_TEST(trailers_belong_to_the_event_that_wrote_them)
{
	static const struct test_event events[] = {
		{ .sample_type = TRAILER, .flags = SAMPLE_ID_ALL, .ids = { 5 }, .id_count = 1 },
		{ .sample_type = FS_SAMPLE_TID | FS_SAMPLE_IDENTIFIER,
		  .flags = SAMPLE_ID_ALL,
		  .ids = { 6 },
		  .id_count = 1 },
	};
	struct test_bytes payload = { 0 };
	struct fs_session session;
	struct test_file file;

	test_file_begin(&file, events, 2, 136);
	test_put_u64(&payload, 7 | 7ull << 32);
	test_put_name(&payload, "0123456");
	put_trailer(&payload, 7, 33, 0, 5);
	test_record(&file, 3, 0, &payload);
	test_put_u64(&payload, 8 | 8ull << 32);
	test_put_name(&payload, "0123456789abcde");
	test_put_u64(&payload, 8 | 8ull << 32);
	test_put_u64(&payload, 6);
	test_record(&file, 3, 0, &payload);
	open_file(&session, &file);
	ck_assert_uint_eq(session.threads.comm_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct fs_comm *comm = &session.threads.comms[i];

		ck_assert_str_eq(fs_interned(&session.strings, comm->name, NULL),
				 comm->time_ns ? "0123456" : "0123456789abcde");
	}
	fs_session_close(&session);
	free(payload.data);
}
END_TEST

/* ---- events ---- */

START_TEST(events_by_id)
{
	static const struct test_event events[] = {
		{ .sample_type = FS_SAMPLE_IDENTIFIER, .ids = { 5, 6 }, .id_count = 2 },
		{ .sample_type = FS_SAMPLE_IDENTIFIER, .ids = { 6, 7 }, .id_count = 2 },
	};
	static const struct {
		uint64_t id;
		int64_t event;
	} cases[] = { { 5, 0 }, { 6, 0 }, { 7, 1 }, { 0, 0 }, { 8, 2 }, { UINT64_MAX, 2 } };
	struct fs_reader nothing = fs_reader_of("", 0);
	struct fs_session session;
	struct test_file file;

	test_file_begin(&file, events, 2, 136);
	put_words(&file, 69, 0, (uint64_t[]){ 2, 7, 0, 3, UINT64_MAX, 5, 0, UINT32_MAX, 44 }, 9, 0);
	put_words(&file, 69, 0, (uint64_t[]){ UINT64_MAX / 16, 7, 0, 3 }, 4, 0); /* too short */
	put_words(&file, 78, 0, (uint64_t[]){ 2, 7, 0x3231 }, 3, 0);
	put_words(&file, 78, 0, (uint64_t[]){ 0, 7, UINT64_MAX }, 3, 0); /* no NUL */
	put_words(&file, 78, 0, (uint64_t[]){ 2, 99, 0x3231 }, 3, 0);
	open_file(&session, &file);
	for (size_t i = 0; i < 6; i++) {
		struct fs_reader reader = fs_reader_of(&cases[i].id, 8);
		const struct fs_event *event = fs_session_event(&session, &reader);

		ck_assert_int_eq(event ? event - session.file.events : -1, cases[i].event);
	}
	ck_assert_ptr_eq(fs_session_event(&session, &nothing), &session.file.events[0]);
	ck_assert_str_eq(session.file.events[1].name, "12");
	ck_assert_uint_eq(strlen(session.file.events[1].unit), 8);
	ck_assert_int_eq(((struct fs_event_id *)fs_table_get(&session.ids, &(uint64_t){ 7 }))->cpu,
			 3);
	ck_assert_int_eq(((struct fs_event_id *)fs_table_get(&session.ids, &(uint64_t){ 7 }))->tid,
			 -1);
	ck_assert_int_eq(((struct fs_event_id *)fs_table_get(&session.ids, &(uint64_t){ 5 }))->cpu,
			 -1);
	ck_assert_int_eq(((struct fs_event_id *)fs_table_get(&session.ids, &(uint64_t){ 5 }))->tid,
			 44);
	ck_assert_uint_eq(lost(&session, FS_LOSS_SHORT_RECORD, NULL), 1);
	fs_session_close(&session);
}
END_TEST

START_TEST(a_file_without_events)
{
	struct fs_session session;
	struct test_file file;
	uint64_t word = 5;
	struct fs_reader reader = fs_reader_of(&word, 8);

	test_file_begin(&file, NULL, 0, 136);
	put_words(&file, 9, 0, &word, 1, 0);
	put_words(&file, 3, 0, &word, 1, 0);
	open_file(&session, &file);
	ck_assert_ptr_null(fs_session_event(&session, &reader));
	ck_assert_uint_eq(session.threads.count, 1);
	fs_session_close(&session);
}
END_TEST

/* ---- who runs ---- */

static struct fs_switch running(struct fs_session *session, uint32_t cpu, uint64_t time_ns)
{
	struct fs_switch found;

	ck_assert_int_eq(fs_switches_running(&session->switches, cpu, time_ns, &found, NULL), 0);
	return found;
}

START_TEST(switches_tell_who_runs)
{
	struct test_bytes payload = { 0 };
	struct fs_session session;
	struct test_file file;
	struct fs_switch seen;

	begin(&file);
	put_words(&file, 70, 0, (uint64_t[]){ 4, 8, 1 }, 3, 0); /* AUX data is announced */
	/* in the file's order, which is not that of time */
	put_trailer(&payload, 9, 300, 2, 5);
	test_record(&file, 14, 0, &payload);
	put_trailer(&payload, 8, 100, 2, 5);
	test_record(&file, 14, 0, &payload);
	put_trailer(&payload, 8, 200, 2, 5);
	test_record(&file, 14, 1 << 13, &payload); /* out: nobody is known */
	test_put_u64(&payload, 11ull << 32 | 10);
	put_trailer(&payload, 9, 400, 2, 5);
	test_record(&file, 15, 1 << 13, &payload); /* out, and who comes next */
	test_put_u64(&payload, 12ull << 32 | 12);
	put_trailer(&payload, 0, 50, 2, 5);
	test_record(&file, 12, 0, &payload);	 /* ITRACE_START */
	put_trailer(&payload, 1, 1, 1 << 16, 5); /* no such CPU */
	test_record(&file, 14, 0, &payload);
	put_trailer(&payload, 1, 1, UINT32_MAX, 5);
	test_record(&file, 14, 0, &payload);
	open_file(&session, &file);
	ck_assert_uint_eq(running(&session, 2, 49).tid, FS_PID_UNKNOWN);
	seen = running(&session, 2, 50);
	ck_assert_uint_eq(seen.tid, 12);
	ck_assert_int_eq(seen.attribution, FS_ATTRIBUTION_ITRACE);
	seen = running(&session, 2, 199);
	ck_assert_uint_eq(seen.tid, 8);
	ck_assert_int_eq(seen.attribution, FS_ATTRIBUTION_SWITCH);
	ck_assert_uint_eq(running(&session, 2, 200).tid, FS_PID_UNKNOWN);
	ck_assert_uint_eq(running(&session, 2, 399).tid, 9);
	ck_assert_int_eq(running(&session, 2, 399).attribution, FS_ATTRIBUTION_SWITCH);
	ck_assert_uint_eq(running(&session, 2, UINT64_MAX).tid, 11);
	ck_assert_int_eq(running(&session, 2, 400).attribution, FS_ATTRIBUTION_SWITCH_CPU_WIDE);
	ck_assert_uint_eq(running(&session, 2, UINT64_MAX).pid, 10);
	ck_assert_uint_eq(running(&session, 1, 100).tid, FS_PID_UNKNOWN);
	ck_assert_uint_eq(running(&session, UINT32_MAX, 1).tid, FS_PID_UNKNOWN);
	fs_session_close(&session);
	free(payload.data);
}
END_TEST

/* ---- clock ---- */

START_TEST(timer_values_become_times)
{
	/* 0x123456789abcdef0 * 0xfedcba9876543210 over powers of two, modulo 2^64 */
	static const struct {
		unsigned int shift;
		uint64_t ns;
	} known[] = {
		{ 0, 0x236d88fe5618cf00 },  { 1, 0x11b6c47f2b0c6780 },	{ 4, 0x2236d88fe5618cf0 },
		{ 32, 0xd77d7422236d88fe }, { 63, 0x243f4015aefae844 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct fs_clock clock = { .valid = true,
					  .mult = 0xfedcba9876543210,
					  .shift = known[i].shift,
					  .zero = 7 };

		ck_assert_uint_eq(fs_clock_ns(&clock, 0x123456789abcdef0), known[i].ns + 7);
	}
}
END_TEST

#ifdef __SIZEOF_INT128__
/* perf's formula in as many bits as it takes. */
static uint64_t convert(const struct fs_clock *clock, uint64_t cycles)
{
	__uint128_t quotient = cycles >> clock->shift;
	__uint128_t remainder = cycles & (((__uint128_t)1 << clock->shift) - 1);

	return (uint64_t)(clock->zero + quotient * clock->mult +
			  (remainder * clock->mult >> clock->shift));
}

START_TEST(random_timer_values_become_times)
{
	uint64_t random = 0x5eed0130;

	for (int round = 0; round < 10000; round++) {
		struct fs_clock clock = {
			.valid = true,
			.shift = test_below(&random, 64),
			.mult = test_random(&random) >> test_below(&random, 64) | 1,
			.zero = test_random(&random),
		};
		uint64_t cycles = test_random(&random) >> test_below(&random, 64);

		if (fs_clock_ns(&clock, cycles) != convert(&clock, cycles))
			ck_abort_msg("shift %llu", (unsigned long long)clock.shift);
	}
}
END_TEST
#endif

START_TEST(a_short_counter_wraps)
{
	struct fs_clock clock = { .valid = true,
				  .is_short = true,
				  .mult = 1,
				  .shift = 0,
				  .cycles = 0x1f0,
				  .mask = 0xff };

	ck_assert_uint_eq(fs_clock_ns(&clock, 0xf0), 0x1f0);
	ck_assert_uint_eq(fs_clock_ns(&clock, 0xff), 0x1ff);
	ck_assert_uint_eq(fs_clock_ns(&clock, 0x05), 0x205); /* wrapped since */
}
END_TEST

START_TEST(conversions_that_cannot_be)
{
	static const uint64_t clocks[][3] = {
		/* shift, mult, zero */
		{ 10, 0, 5 },
		{ 64, 1, 5 },
		{ UINT64_MAX, 1, 5 },
		{ 1ull << 32, 1, 0 },
	};
	struct fs_session session;
	struct test_file file;

	begin(&file);
	put_words(&file, 79, 0, clocks[_i], 3, 0);
	open_file(&session, &file);
	ck_assert(!session.clock.valid);
	ck_assert_uint_eq(fs_clock_ns(&session.clock, 12345), 0);
	fs_session_close(&session);
}
END_TEST

/* The long form says whether there is a zero; without it times mean nothing. */
START_TEST(conversions_in_both_forms)
{
	struct fs_session session;
	struct test_file file;

	begin(&file);
	put_words(&file, 79, 0, (uint64_t[]){ 1, 3, 100 }, 3, 0);
	open_file(&session, &file);
	ck_assert(session.clock.valid && !session.clock.is_short);
	ck_assert_uint_eq(fs_clock_ns(&session.clock, 5), 107);
	fs_session_close(&session);
	begin(&file);
	put_words(&file, 79, 0, (uint64_t[]){ 0, 1, 100, 7, 0xff, 0x0101 }, 6, 0);
	open_file(&session, &file);
	ck_assert(session.clock.valid && session.clock.is_short);
	ck_assert_uint_eq(session.clock.mask, 0xff);
	fs_session_close(&session);
	begin(&file); /* a counter of no bits */
	put_words(&file, 79, 0, (uint64_t[]){ 0, 1, 100, 7, 0, 0x0101 }, 6, 0);
	open_file(&session, &file);
	ck_assert(!session.clock.valid);
	fs_session_close(&session);
	begin(&file);
	put_words(&file, 79, 0, (uint64_t[]){ 0, 1, 100, 7, 0xff, 0 }, 6, 0);
	open_file(&session, &file);
	ck_assert(!session.clock.valid);
	fs_session_close(&session);
}
END_TEST

/* The last of several holds; one that converts nothing takes nothing away. */
START_TEST(several_conversions)
{
	struct fs_session session;
	struct test_file file;

	begin(&file);
	put_words(&file, 79, 0, (uint64_t[]){ 0, 1, 100 }, 3, 0);
	put_words(&file, 79, 0, (uint64_t[]){ 0, 1, 200 }, 3, 0);
	put_words(&file, 79, 0, (uint64_t[]){ 0, 0, 300 }, 3, 0);
	put_words(&file, 79, 0, (uint64_t[]){ 0, 1, 400, 7, 0xff, 0 }, 6, 0);
	open_file(&session, &file);
	ck_assert_uint_eq(fs_clock_ns(&session.clock, 5), 205);
	fs_session_close(&session);
}
END_TEST

/* ---- SPE metadata ---- */

START_TEST(spe_metadata)
{
	struct fs_session session;
	struct test_file file;

	begin(&file); /* version 1: PMU type, per CPU */
	put_words(&file, 70, 0, (uint64_t[]){ 4, 8, 1 }, 3, 0);
	test_put_string(test_feature(&file, FS_FEATURE_CPUID), "0x00000000410fd0c0");
	open_file(&session, &file);
	ck_assert(session.spe.present);
	ck_assert_int_eq(session.spe_event, 0);
	ck_assert_uint_eq(fs_session_midr(&session, 3), 0x410fd0c0);
	fs_session_close(&session);
	begin(&file); /* version 2: header of 5 words, two CPUs of 3 and 2 parameters */
	put_words(&file, 70, 0,
		  (uint64_t[]){ 4, 2, 5, 8, 2, 99, 0x1010, 1, 3, 0xa, 8, 0, 0x1010, 4, 2, 0xb, 8 },
		  17, 0);
	put_words(&file, 70, 0, (uint64_t[]){ 4, 9, 1 }, 3, 0); /* there is but one */
	open_file(&session, &file);
	ck_assert_uint_eq(session.spe.metadata_version, 2);
	ck_assert_uint_eq(session.spe.pmu_type, 8);
	ck_assert_uint_eq(fs_session_midr(&session, 1), 0xa);
	ck_assert_uint_eq(fs_session_midr(&session, 4), 0xb);
	ck_assert_uint_eq(fs_session_midr(&session, 2), 0);
	fs_session_close(&session);
}
END_TEST

enum { N1 = 0x410fd0c0, N3 = 0x410fd8e0, HIP12 = 0x480fd060, OTHER_CORE = 0x410fd460 };

/* Without a CPU, the meaning of codes is what all CPUs that have SPE share. */
static const struct {
	uint64_t midrs[3];
	uint64_t pmus[3];
	const char *family; /* NULL: none */
	enum fs_certainty certainty;
} mixes[] = {
	{ { N1, N1, N1 }, { 8, 8, 8 }, "common", FS_CERTAINTY_HARDWARE },
	{ { N1, N3, N1 }, { 8, 9, 8 }, "common", FS_CERTAINTY_ASSUMED },
	{ { N1, HIP12, N1 }, { 8, 9, 8 }, NULL, FS_CERTAINTY_NONE },
	{ { N1, OTHER_CORE, N1 }, { 8, 8, 8 }, NULL, FS_CERTAINTY_NONE },
	{ { N1, OTHER_CORE, N1 }, { 8, UINT64_MAX, 8 }, "common", FS_CERTAINTY_HARDWARE },
};

static void put_spe_info(struct test_file *file, const uint64_t *midrs, const uint64_t *pmus)
{
	uint64_t words[] = {
		4, 2,	     4,	      pmus[0], 3, 0x1010101010101010, 0,
		4, midrs[0], pmus[0], 1024,    0, 0x1010101010101010, 1,
		4, midrs[1], pmus[1], 1024,    0, 0x1010101010101010, 2,
		4, midrs[2], pmus[2], 1024,    0,
	};

	put_words(file, 70, 0, words, sizeof(words) / 8, 0);
}

START_TEST(families_of_cpus_and_of_threads)
{
	const struct fs_memsrc_family *family;
	struct fs_session session;
	struct test_file file;

	begin(&file);
	put_spe_info(&file, mixes[_i].midrs, mixes[_i].pmus);
	test_put_string(test_feature(&file, FS_FEATURE_CPUID), "0x00000000480fd060");
	open_file(&session, &file);
	family = fs_session_spe_family(&session, UINT32_MAX);
	ck_assert_int_eq(!family, !mixes[_i].family);
	if (family) {
		ck_assert_str_eq(family->name, mixes[_i].family);
		ck_assert_int_eq(family->certainty, mixes[_i].certainty);
	}
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		ck_assert_ptr_eq(fs_session_spe_family(&session, cpu),
				 fs_memsrc_spe_family(mixes[_i].midrs[cpu]));
	/* a CPU that is not listed; the CPUID feature tells of one CPU, and not of which */
	ck_assert_ptr_eq(fs_session_spe_family(&session, 7), family);
	ck_assert_uint_eq(fs_session_midr(&session, 7), 0);
	fs_session_close(&session);
}
END_TEST

static const struct test_event two_pmus[] = {
	{ .type = 1,
	  .config = 9,
	  .sample_type = TRAILER,
	  .flags = SAMPLE_ID_ALL,
	  .ids = { 1 },
	  .id_count = 1 },
	{ .type = 9, .sample_type = TRAILER, .flags = SAMPLE_ID_ALL, .ids = { 5 }, .id_count = 1 },
	{ .type = 8, .sample_type = TRAILER, .flags = SAMPLE_ID_ALL, .ids = { 6 }, .id_count = 1 },
};

/* Each kind of core has a PMU, and an event, of its own. */
START_TEST(an_spe_event_for_each_kind_of_core)
{
	struct test_bytes payload = { 0 };
	struct fs_session session;
	struct test_file file;

	test_file_begin(&file, two_pmus, 3, 136);
	put_spe_info(&file, (uint64_t[]){ N1, N3, OTHER_CORE }, (uint64_t[]){ 8, 9, UINT64_MAX });
	open_file(&session, &file);
	ck_assert(!fs_session_is_spe(&session, 0));
	ck_assert(fs_session_is_spe(&session, 1));
	ck_assert(fs_session_is_spe(&session, 2));
	ck_assert_int_eq(fs_session_spe_event(&session, 0), 2);
	ck_assert_int_eq(fs_session_spe_event(&session, 1), 1);
	ck_assert_int_eq(fs_session_spe_event(&session, 2), 2); /* that of the header */
	ck_assert_int_eq(fs_session_spe_event(&session, UINT32_MAX), 2);
	fs_session_close(&session);

	/* version 1 knows one PMU; the others are known by name, and ids tell where they count */
	test_file_begin(&file, two_pmus, 3, 136);
	put_words(&file, 70, 0, (uint64_t[]){ 4, 8, 1 }, 3, 0);
	test_put_u64(&payload, 2); /* EVENT_UPDATE: name of the event with id 5 */
	test_put_u64(&payload, 5);
	test_put_name(&payload, "arm_spe_1/ts_enable=1/");
	test_record(&file, 78, 0, &payload);
	put_words(&file, 69, 0, (uint64_t[]){ 2, 5, 0, 3, UINT64_MAX, 6, 0, 1, UINT64_MAX }, 9, 0);
	open_file(&session, &file);
	ck_assert(fs_session_is_spe(&session, 1));
	ck_assert_int_eq(fs_session_spe_event(&session, 3), 1);
	ck_assert_int_eq(fs_session_spe_event(&session, 1), 2);
	ck_assert_int_eq(fs_session_spe_event(&session, 0), 2);
	fs_session_close(&session);
	free(payload.data);
}
END_TEST

static void put_aux(struct test_file *file, uint64_t flags, uint32_t tid, uint32_t cpu,
		    uint64_t when)
{
	struct test_bytes payload = { 0 };

	test_put_u64(&payload, 0);
	test_put_u64(&payload, 4096);
	test_put_u64(&payload, flags);
	put_trailer(&payload, tid, when, cpu, 5);
	test_record(file, 11, 0, &payload);
	free(payload.data);
}

static size_t blind_times(const struct fs_session *session, bool thread, uint32_t number)
{
	uint64_t key = fs_blind_key(thread, number);
	const struct fs_blind *blind = fs_table_get(&session->blind, &key);

	return blind ? blind->count : 0;
}

/* Truncated and partial AUX records begin a blind time, collisions and snapshots do not. */
START_TEST(aux_flags_begin_blind_times)
{
	struct fs_session session;
	struct test_file file;

	begin(&file);
	put_aux(&file, 1, 7, 2, 100);
	put_aux(&file, 4, 8, 2, 200);
	put_aux(&file, 1, 8, 2, 150); /* before the one before */
	put_aux(&file, 2 | 8 | 0x100, 7, 2, 300);
	put_words(&file, 71, 0, (uint64_t[]){ 0, 0, 0, 7ull << 32, 2 }, 5, 0);
	open_file(&session, &file);
	ck_assert(!session.spe.per_thread);
	ck_assert_uint_eq(blind_times(&session, false, 2), 2);
	ck_assert_uint_eq(blind_times(&session, true, 7), 1);
	ck_assert_uint_eq(blind_times(&session, true, 8), 1);
	ck_assert_uint_eq(lost(&session, FS_LOSS_AUX_TRUNCATED, "cpu 2"), 2);
	ck_assert_uint_eq(lost(&session, FS_LOSS_AUX_PARTIAL, "cpu 2"), 1);
	ck_assert_uint_eq(lost(&session, FS_LOSS_AUX_COLLISION, "cpu 2"), 1);
	fs_session_close(&session);
	begin(&file); /* AUXTRACE of a thread: cpu -1 */
	put_words(&file, 71, 0, (uint64_t[]){ 0, 0, 0, 7ull << 32, UINT32_MAX }, 5, 0);
	open_file(&session, &file);
	ck_assert(session.spe.per_thread);
	fs_session_close(&session);
}
END_TEST

START_TEST(spe_metadata_that_cannot_be)
{
	static const uint64_t words[][9] = {
		{ 4, 2, 4, 8, UINT64_MAX },
		{ 4, 2, 4, 8, 1ull << 60 },
		{ 4, 2, 0, 8, 1 },
		{ 4, 2, UINT64_MAX, 8, 1 },
		{ 4, 2, 3, 8, 1 },
		{ 4, 2, 4, 8, 1, 0, 1, UINT64_MAX },
		{ 4, 2, 4, 8, 1, 0, 1, 1ull << 61 },
		{ 4, 2, 4, 8, 2, 0, 1, 1, 5 },
	};
	struct fs_session session;
	struct test_file file;

	begin(&file);
	put_words(&file, 70, 0, words[_i], 9, 0);
	open_file(&session, &file);
	ck_assert_uint_eq(lost(&session, FS_LOSS_SHORT_RECORD, NULL), 1);
	fs_session_close(&session);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session");
	TCase *tests = tcase_create("session");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, losses_of_the_recorder);
	tcase_add_test(tests, losses_without_a_cpu);
	tcase_add_loop_test(tests, records_of_every_type_and_size, 0, 42);
	tcase_add_loop_test(tests, records_of_every_type_and_size, 64, 64 + 42);
	tcase_add_test(tests, mappings_that_are_odd);
	tcase_add_test(tests, build_ids_from_the_header);
	tcase_add_test(tests, trailers_belong_to_the_event_that_wrote_them);
	tcase_add_test(tests, events_by_id);
	tcase_add_test(tests, a_file_without_events);
	tcase_add_test(tests, switches_tell_who_runs);
	tcase_add_test(tests, timer_values_become_times);
#ifdef __SIZEOF_INT128__
	tcase_add_test(tests, random_timer_values_become_times);
#endif
	tcase_add_test(tests, a_short_counter_wraps);
	tcase_add_loop_test(tests, conversions_that_cannot_be, 0, 4);
	tcase_add_test(tests, conversions_in_both_forms);
	tcase_add_test(tests, several_conversions);
	tcase_add_test(tests, spe_metadata);
	tcase_add_loop_test(tests, families_of_cpus_and_of_threads, 0,
			    sizeof(mixes) / sizeof(mixes[0]));
	tcase_add_test(tests, an_spe_event_for_each_kind_of_core);
	tcase_add_test(tests, aux_flags_begin_blind_times);
	tcase_add_loop_test(tests, spe_metadata_that_cannot_be, 0, 8);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
