/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the walk goes on behind damage. What it does with sound files, cut files and impossible
 * sizes is in perf_file_test.c.
 */
#include <check.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/test_random.h"
#include "ingest/perfdata/perf_file.h"
#include "ingest/perfdata/test_writer.h"

enum { RECORDS = 40, SIZE = 24 };

struct walked {
	size_t records;
	uint64_t bytes; /* in records and raw data */
	uint64_t gaps, gap_bytes, truncated;
};

static void note_losses(const struct fs_loss *loss, struct walked *walked)
{
	for (size_t i = 0; i < loss->entries.count; i++) {
		const struct fs_loss_key *key = fs_table_key(&loss->entries, i);
		const struct fs_loss_value *value = fs_table_value(&loss->entries, i);

		if (key->kind == FS_LOSS_BAD_RECORD) {
			walked->gaps += value->count;
			walked->gap_bytes += value->bytes;
		}
		if (key->kind == FS_LOSS_TRUNCATED_FILE)
			walked->truncated += value->bytes;
	}
}

/* Walk twice, as an import does: the second time without noting losses. */
static struct walked walk(const struct test_bytes *bytes)
{
	struct walked walked[2] = { { 0 } };
	struct fs_perf_file file;
	struct fs_loss loss;
	char path[64];

	fs_loss_init(&loss);
	test_save(bytes->data, bytes->size, path);
	ck_assert_int_eq(fs_perf_open(&file, path, &loss, NULL), 0);
	unlink(path);
	for (int pass = 0; pass < 2; pass++) {
		struct fs_record record;
		struct fs_cursor cursor;
		bool more = true;

		ck_assert_int_eq(fs_cursor_open(&cursor, &file, NULL), 0);
		while (more) {
			if (fs_cursor_next(&cursor, &record, &more, pass ? NULL : &loss, NULL))
				ck_abort();
			walked[pass].records += more;
			walked[pass].bytes += more ? record.size + record.raw.size : 0;
		}
		fs_cursor_close(&cursor);
	}
	ck_assert_uint_eq(walked[0].records, walked[1].records);
	ck_assert_uint_eq(walked[0].bytes, walked[1].bytes);
	note_losses(&loss, &walked[0]);
	fs_perf_close(&file);
	fs_loss_free(&loss);
	return walked[0];
}

static void begin(struct test_file *file)
{
	struct test_bytes payload = { 0 };

	test_file_begin(file, (struct test_event[]){ { 0 } }, 1, 136);
	for (int i = 0; i < RECORDS; i++) {
		test_put_u64(&payload, 1 | 1ull << 32);
		test_put_name(&payload, "name");
		test_record(file, FS_RECORD_COMM, 0, &payload);
	}
	free(payload.data);
}

static void make(struct test_file *file)
{
	begin(file);
	test_file_end(file);
}

/* The header of record n becomes garbage: that record is lost, its bytes are counted. */
START_TEST(a_damaged_header_costs_its_record)
{
	static const uint64_t headers[] = { 0,
					    UINT64_MAX,
					    3,
					    7ull << 48 | 3,
					    24ull << 48,
					    0xfff8ull << 48 | 3,
					    25ull << 48 | 3,
					    24ull << 48 | 0x10000,
					    8ull << 48 | 3 };

	for (size_t n = 0; n < RECORDS; n++) {
		struct test_file file;
		struct walked walked;

		make(&file);
		test_set_u64(&file.bytes, file.data_offset + n * SIZE, headers[_i]);
		walked = walk(&file.bytes);
		ck_assert_uint_eq(walked.records, RECORDS - 1);
		ck_assert_uint_eq(walked.gap_bytes + walked.truncated, SIZE);
		ck_assert_uint_eq(walked.bytes, (RECORDS - 1) * SIZE);
		test_file_free(&file);
	}
}
END_TEST

/* A size that lies within what is possible costs its record, not those that it seems to cover. */
START_TEST(a_size_that_lies_costs_its_record)
{
	static const struct {
		uint32_t type;
		uint16_t size;
	} lies[] = { { 3, 40 }, { 3, 64 }, { 3, 136 }, { 9, 0x198 }, { 70, 100 }, { 80, 300 } };

	for (size_t n = 0; n + 1 + lies[_i].size / SIZE < RECORDS; n++) {
		struct test_file file;
		struct walked walked;

		make(&file);
		test_set_u64(&file.bytes, file.data_offset + n * SIZE,
			     lies[_i].type | (uint64_t)lies[_i].size << 48);
		/* what lies where the size leads to is plausible by chance: the lie goes unseen */
		walked = walk(&file.bytes);
		if (lies[_i].size % SIZE == 0)
			ck_assert_uint_eq(walked.records + lies[_i].size / SIZE - 1, RECORDS);
		else
			ck_assert_uint_eq(walked.records, RECORDS - 1);
		ck_assert_uint_eq(walked.bytes + walked.gap_bytes, RECORDS * SIZE);
		test_file_free(&file);
	}
}
END_TEST

/* AUX data whose size is a lie ends where records follow each other; all of them are read. */
START_TEST(a_lie_about_aux_data)
{
	static const uint64_t sizes[] = {
		0,     64,	1000,	    4096 - 8,	     4096 + 8, 4096 + 24 * 3 + 4,
		10000, 1 << 20, 1ull << 40, UINT64_MAX - 100
	};
	struct test_bytes payload = { 0 };
	struct test_file file;
	struct walked walked;

	begin(&file);
	test_put_u64(&payload, sizes[_i]);
	for (int i = 0; i < 4; i++)
		test_put_u64(&payload, 0);
	test_record(&file, FS_RECORD_AUXTRACE, 0, &payload);
	for (int i = 0; i < 512; i++)
		test_put_u64(&file.bytes, 0x8877665544332211);
	for (int i = 0; i < RECORDS; i++) {
		test_put_u64(&payload, 1 | 1ull << 32);
		test_put_name(&payload, "name");
		test_record(&file, FS_RECORD_COMM, 0, &payload);
	}
	test_file_end(&file);
	walked = walk(&file.bytes);
	ck_assert_uint_eq(walked.records, 2 * RECORDS + 1);
	ck_assert_uint_eq(walked.gaps, 1);
	ck_assert_uint_eq(walked.bytes + walked.gap_bytes, file.table - file.data_offset);
	free(payload.data);
	test_file_free(&file);
}
END_TEST

/* A run of any length at any place: every byte is in a record or in a gap. */
START_TEST(damaged_runs_are_counted)
{
	uint64_t random = 0x5eed0140;

	for (int round = 0; round < 1000; round++) {
		struct test_file file;
		struct walked walked;
		size_t size = RECORDS * SIZE;
		size_t from = test_below(&random, size);
		size_t length = test_below(&random, size - from + 1);

		make(&file);
		for (size_t i = from; i < from + length; i++)
			file.bytes.data[file.data_offset + i] = (uint8_t)test_random(&random);
		walked = walk(&file.bytes);
		/* raw data that reaches behind the end is counted as missing beside it */
		if (walked.bytes + walked.gap_bytes + walked.truncated < size ||
		    walked.bytes + walked.gap_bytes > size)
			ck_abort_msg("round %d", round);
		/* records before the damage, and those behind it unless they are too few to tell */
		ck_assert_uint_ge(walked.records, from / SIZE);
		test_file_free(&file);
	}
}
END_TEST

/* Damage longer than the buffer. */
START_TEST(a_gap_of_megabytes)
{
	uint64_t random = 0x5eed0150;
	struct test_bytes payload = { 0 };
	struct test_file file;
	struct walked walked;

	test_file_begin(&file, (struct test_event[]){ { 0 } }, 1, 136);
	for (int half = 0; half < 2; half++) {
		for (int i = 0; i < RECORDS; i++) {
			test_put_u64(&payload, 1 | 1ull << 32);
			test_put_name(&payload, "name");
			test_record(&file, FS_RECORD_COMM, 0, &payload);
		}
		for (int i = 0; !half && i < 3 << 17; i++)
			test_put_u64(&file.bytes, test_random(&random) | 1ull << 31);
	}
	test_file_end(&file);
	walked = walk(&file.bytes);
	ck_assert_uint_eq(walked.records, 2 * RECORDS);
	ck_assert_uint_eq(walked.gap_bytes, 3 << 20);
	free(payload.data);
	test_file_free(&file);
}
END_TEST

/* perf writes the formats of tracepoints behind the record, simpleperf within. */
START_TEST(tracing_data_within_its_record)
{
	static const uint8_t formats[2048];
	struct test_bytes payload = { 0 };
	struct test_file file;
	struct walked walked;

	test_file_begin(&file, (struct test_event[]){ { 0 } }, 1, 136);
	test_put_u32(&payload, sizeof(formats));
	test_put(&payload, formats, sizeof(formats));
	test_record(&file, FS_RECORD_HEADER_TRACING_DATA, 0, &payload);
	test_put_u32(&payload, sizeof(formats) - 3);
	test_record(&file, FS_RECORD_HEADER_TRACING_DATA, 0, &payload);
	test_put(&file.bytes, formats, sizeof(formats));
	test_put_u64(&payload, 1 | 1ull << 32);
	test_put_name(&payload, "name");
	test_record(&file, FS_RECORD_COMM, 0, &payload);
	test_file_end(&file);
	walked = walk(&file.bytes);
	ck_assert_uint_eq(walked.records, 3);
	ck_assert_uint_eq(walked.gaps + walked.truncated, 0);
	free(payload.data);
	test_file_free(&file);
}
END_TEST

/* Records of perf and simpleperf whose size is no multiple of 8, and damage behind them. */
START_TEST(records_need_not_be_aligned)
{
	static const struct {
		uint32_t type;
		uint16_t size;
	} odd[] = { { 74, 38 }, { 80, 19 }, { 81, 1001 }, { 32769, 12 }, { 32777, 5772 } };
	struct test_bytes payload = { 0 };
	struct test_file file;
	struct walked walked;
	size_t at;

	test_file_begin(&file, (struct test_event[]){ { 0 } }, 1, 136);
	for (int i = 0; i < RECORDS; i++) {
		if (i % 8 == 3) {
			for (uint16_t k = 8; k < odd[i / 8].size; k++)
				test_put(&payload, "", 1);
			test_record(&file, odd[i / 8].type, 0, &payload);
		}
		test_put_u64(&payload, 1 | 1ull << 32);
		test_put_name(&payload, "name");
		test_record(&file, FS_RECORD_COMM, 0, &payload);
	}
	test_file_end(&file);
	walked = walk(&file.bytes);
	ck_assert_uint_eq(walked.records, RECORDS + 5);
	ck_assert_uint_eq(walked.gaps + walked.truncated, 0);
	/* the record behind the third odd one */
	at = file.data_offset + 20 * SIZE + 38 + 19 + 1001;
	test_set_u64(&file.bytes, at, 0);
	walked = walk(&file.bytes);
	ck_assert_uint_eq(walked.gaps, 1);
	ck_assert_uint_eq(walked.records, RECORDS + 5 - 1);
	free(payload.data);
	test_file_free(&file);
}
END_TEST

/*
 * Two million places that look like an AUXTRACE record with data up to near the end, where no
 * record follows. A megabyte read for each would take an hour.
 */
START_TEST(false_records_that_point_far_away)
{
	enum { PLACES = 1 << 21 };
	struct timespec begin, end;
	struct test_file file;
	struct walked walked;

	test_file_begin(&file, (struct test_event[]){ { 0 } }, 1, 136);
	test_put_u64(&file.bytes, 0);
	for (uint64_t i = 0; i < PLACES; i++) {
		test_put_u64(&file.bytes, 48ull << 48 | FS_RECORD_AUXTRACE);
		test_put_u64(&file.bytes, (PLACES - i) * 16 - 48);
	}
	for (int i = 0; i < 5; i++)
		test_put_u64(&file.bytes, 0);
	test_file_end(&file);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	walked = walk(&file.bytes);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ck_assert_uint_le(walked.bytes + walked.gap_bytes, PLACES * 16 + 48);
	ck_assert_uint_ge(walked.bytes + walked.gap_bytes + walked.truncated, PLACES * 16 + 48);
	ck_assert_int_lt(end.tv_sec - begin.tv_sec, 40); /* takes 3 s */
	test_file_free(&file);
}
END_TEST

/*
 * Where a sample stands 4 GiB behind a buffer in which another one seems to: a difference of
 * offsets does not fit 32 bits.
 *
 *   | AUXTRACE | SAMPLE as trace data | hole ... | SAMPLE |
 */
START_TEST(trace_data_of_gigabytes)
{
	const uint64_t hole = 1ull << 32;
	struct test_bytes payload = { 0 };
	struct fs_record record;
	struct fs_cursor cursor;
	struct fs_perf_file perf;
	struct test_file file;
	struct fs_loss loss;
	char path[64];
	uint64_t far;
	size_t data;
	bool more;
	int fd;

	fs_loss_init(&loss);
	test_file_begin(&file, (struct test_event[]){ { .sample_type = 1 } }, 1, 136);
	test_put_u64(&payload, hole);
	test_put(&payload, (uint8_t[32]){ 0 }, 32);
	test_record(&file, FS_RECORD_AUXTRACE, 0, &payload);
	data = file.bytes.size;
	far = data + hole;
	test_put_u64(&payload, 0x1000);
	test_record(&file, FS_RECORD_SAMPLE, 2, &payload);
	test_set_u64(&file.bytes, 48, far + 16 - file.data_offset);
	test_save(file.bytes.data, file.bytes.size, path);
	fd = open(path, O_WRONLY);
	test_set_u64(&file.bytes, data + 8, 0x2000);
	if (pwrite(fd, file.bytes.data + data, 16, (off_t)far) == 16) {
		ck_assert_int_eq(fs_perf_open(&perf, path, &loss, NULL), 0);
		ck_assert_int_eq(fs_cursor_open(&cursor, &perf, NULL), 0);
		ck_assert_int_eq(fs_cursor_next(&cursor, &record, &more, &loss, NULL), 0);
		ck_assert_uint_eq(record.raw.size, hole);
		ck_assert_int_eq(fs_cursor_next(&cursor, &record, &more, &loss, NULL), 0);
		ck_assert_uint_eq(record.offset, far);
		ck_assert_uint_eq(record.type, FS_RECORD_SAMPLE);
		ck_assert_uint_eq(fs_read_u64(&record.payload), 0x2000);
		ck_assert_int_eq(fs_cursor_next(&cursor, &record, &more, &loss, NULL), 0);
		ck_assert(!more);
		ck_assert_uint_eq(loss.entries.count, 0);
		fs_cursor_close(&cursor);
		fs_perf_close(&perf);
	}
	close(fd);
	unlink(path);
	free(payload.data);
	test_file_free(&file);
	fs_loss_free(&loss);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cursor");
	TCase *tests = tcase_create("cursor");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, a_damaged_header_costs_its_record, 0, 9);
	tcase_add_loop_test(tests, a_size_that_lies_costs_its_record, 0, 6);
	tcase_add_loop_test(tests, a_lie_about_aux_data, 0, 10);
	tcase_add_test(tests, damaged_runs_are_counted);
	tcase_add_test(tests, a_gap_of_megabytes);
	tcase_add_test(tests, tracing_data_within_its_record);
	tcase_add_test(tests, records_need_not_be_aligned);
	tcase_add_test(tests, false_records_that_point_far_away);
	tcase_add_test(tests, trace_data_of_gigabytes);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
