/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/perfdata/spool.h"

#include <check.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "common/test_random.h"
#include "ingest/perfdata/test_writer.h"

enum { RECORDS = 3000, COMPRESSED_FEATURE = 27 };

/* A zstd stream in the making, cut into payloads of records. */
struct packer {
	ZSTD_CCtx *zstd;
	struct test_file file;
	struct test_bytes payload;
	bool unannounced; /* without the feature COMPRESSED */
};

static void begin(struct packer *packer)
{
	static const struct test_event event = { .type = 1, .sample_type = 0x107 };

	*packer = (struct packer){ .zstd = ZSTD_createCCtx() };
	test_file_begin(&packer->file, &event, 1, 136);
}

/* Compress bytes and flush; write them as one record of the given type. */
static void put_compressed(struct packer *packer, uint32_t type, const uint8_t *bytes, size_t size)
{
	static uint8_t buffer[1 << 16];
	ZSTD_inBuffer in = { bytes, size, 0 };
	ZSTD_outBuffer out = { buffer, 60000, 0 };

	ck_assert_uint_eq(ZSTD_compressStream2(packer->zstd, &out, &in, ZSTD_e_flush), 0);
	ck_assert_uint_eq(in.pos, size);
	if (type == FS_RECORD_COMPRESSED2)
		test_put_u64(&packer->payload, out.pos);
	test_put(&packer->payload, buffer, out.pos);
	while (type == FS_RECORD_COMPRESSED2 && packer->payload.size % 8)
		test_put(&packer->payload, "x", 1);
	test_record(&packer->file, type, 0, &packer->payload);
}

/* Records of random sizes, numbered in their first word. */
static struct test_bytes make_records(size_t count)
{
	uint64_t random = 7;
	struct test_bytes records = { 0 };

	for (size_t i = 0; i < count; i++) {
		size_t words = 1 + test_below(&random, 6);

		test_put_u32(&records, FS_RECORD_SAMPLE);
		test_put_u16(&records, 2);
		test_put_u16(&records, (uint16_t)(8 + 8 * words));
		for (size_t k = 0; k < words; k++)
			test_put_u64(&records, k ? test_below(&random, 1000) : i);
	}
	return records;
}

struct expanded {
	struct fs_perf_file file;
	struct fs_loss loss;
	struct fs_error error;
	size_t samples, in_order, others;
};

static void expand(struct expanded *expanded, const char *path)
{
	struct fs_cursor cursor;
	struct fs_record record;
	bool more = true;

	*expanded = (struct expanded){ 0 };
	fs_loss_init(&expanded->loss);
	ck_assert_int_eq(fs_perf_open(&expanded->file, path, &expanded->loss, &expanded->error), 0);
	ck_assert_int_eq(fs_spool_expand(&expanded->file, &expanded->loss, &expanded->error), 0);
	ck_assert_int_eq(fs_cursor_open(&cursor, &expanded->file, &expanded->error), 0);
	while (more) {
		ck_assert_int_eq(fs_cursor_next(&cursor, &record, &more, &expanded->loss, NULL), 0);
		if (!more)
			break;
		if (record.type == FS_RECORD_SAMPLE)
			expanded->in_order += fs_read_u64(&record.payload) == expanded->samples++;
		else
			expanded->others++;
	}
	fs_cursor_close(&cursor);
}

static void end(struct packer *packer, struct expanded *expanded)
{
	char path[64];

	if (!packer->unannounced)
		test_put(test_feature(&packer->file, COMPRESSED_FEATURE), "\1\0\0\0", 4);
	test_file_end(&packer->file);
	test_save(packer->file.bytes.data, packer->file.bytes.size, path);
	expand(expanded, path);
	unlink(path);
	ZSTD_freeCCtx(packer->zstd);
	free(packer->payload.data);
	test_file_free(&packer->file);
}

static void finish(struct expanded *expanded)
{
	fs_perf_close(&expanded->file);
	fs_loss_free(&expanded->loss);
}

static bool lost(const struct expanded *expanded, enum fs_loss_kind kind)
{
	for (size_t i = 0; i < expanded->loss.entries.count; i++)
		if (((struct fs_loss_key *)fs_table_key(&expanded->loss.entries, i))->kind ==
		    (uint32_t)kind)
			return true;
	return false;
}

/* Payloads end anywhere in a record, also in its header, and plain records stand between them. */
START_TEST(records_straddle_payloads)
{
	uint32_t type = _i ? FS_RECORD_COMPRESSED2 : FS_RECORD_COMPRESSED;
	struct test_bytes records = make_records(RECORDS);
	uint64_t random = 3;
	struct test_bytes empty = { 0 };
	struct expanded expanded;
	struct packer packer;
	size_t rounds = 0;

	begin(&packer);
	for (size_t at = 0; at < records.size; rounds++) {
		size_t size = 1 + test_below(&random, 997);

		size = size < records.size - at ? size : records.size - at;
		put_compressed(&packer, type, records.data + at, size);
		at += size;
		test_record(&packer.file, FS_RECORD_FINISHED_ROUND, 0, &empty);
	}
	end(&packer, &expanded);
	ck_assert_uint_eq(expanded.samples, RECORDS);
	ck_assert_uint_eq(expanded.in_order, RECORDS);
	ck_assert_uint_eq(expanded.others, rounds);
	ck_assert(!fs_loss_is_damaged(&expanded.loss));
	finish(&expanded);
	free(records.data);
}
END_TEST

/* The first payloads hold so little of the stream that nothing comes out of them. */
START_TEST(payloads_without_output)
{
	struct test_bytes records = make_records(20);
	struct test_bytes packed = { 0 };
	struct expanded expanded;
	struct packer packer;
	size_t size = ZSTD_compressBound(records.size);

	packed.data = calloc(1, size);
	size = ZSTD_compress(packed.data, size, records.data, records.size, 1);
	ck_assert(!ZSTD_isError(size));
	begin(&packer);
	for (size_t at = 0; at < size; at++) {
		test_put(&packer.payload, packed.data + at, 1);
		test_record(&packer.file, FS_RECORD_COMPRESSED, 0, &packer.payload);
	}
	end(&packer, &expanded);
	ck_assert_uint_eq(expanded.samples, 20);
	ck_assert_uint_eq(expanded.in_order, 20);
	ck_assert(!fs_loss_is_damaged(&expanded.loss));
	finish(&expanded);
	free(records.data);
	free(packed.data);
}
END_TEST

/* AUX data stands uncompressed between the payloads. */
START_TEST(raw_data_is_copied)
{
	struct test_bytes records = make_records(2);
	struct test_bytes payload = { 0 };
	struct expanded expanded;
	struct packer packer;
	uint8_t byte = 0;

	begin(&packer);
	put_compressed(&packer, FS_RECORD_COMPRESSED, records.data, 10);
	test_put_u64(&payload, 300000);
	for (int i = 0; i < 4; i++)
		test_put_u64(&payload, 0);
	test_record(&packer.file, FS_RECORD_AUXTRACE, 0, &payload);
	for (int i = 0; i < 300000; i++)
		test_put(&packer.file.bytes, "\x5a", 1);
	put_compressed(&packer, FS_RECORD_COMPRESSED, records.data + 10, records.size - 10);
	end(&packer, &expanded);
	ck_assert_uint_eq(expanded.samples, 2);
	ck_assert_uint_eq(expanded.others, 1);
	ck_assert_uint_eq(expanded.file.data.size, records.size + 48 + 300000);
	ck_assert_int_eq(fs_perf_read(&expanded.file, 48 + 299999, &byte, 1, NULL), 0);
	ck_assert_uint_eq(byte, 0x5a);
	finish(&expanded);
	free(records.data);
	free(payload.data);
}
END_TEST

START_TEST(damage_costs_what_follows_it)
{
	struct test_bytes records = make_records(RECORDS);
	struct expanded expanded;
	struct packer packer;
	size_t half = records.size / 2;
	size_t at;

	begin(&packer);
	put_compressed(&packer, FS_RECORD_COMPRESSED, records.data, half);
	at = packer.file.bytes.size;
	put_compressed(&packer, FS_RECORD_COMPRESSED, records.data + half, records.size - half);
	memset(packer.file.bytes.data + at + 8, 0xff, 64);
	end(&packer, &expanded);
	ck_assert_uint_gt(expanded.samples, RECORDS / 2 - RECORDS / 10);
	ck_assert_uint_eq(expanded.in_order, expanded.samples);
	ck_assert(lost(&expanded, FS_LOSS_BAD_COMPRESSION));
	finish(&expanded);
	free(records.data);
}
END_TEST

/* A gigabyte of zeros in a few records: given up at the limit, not written out. */
START_TEST(bombs_stop_at_the_limit)
{
	static const uint8_t zeros[1 << 20];
	struct expanded expanded;
	struct packer packer;

	begin(&packer);
	for (int i = 0; i < 300; i++)
		put_compressed(&packer, FS_RECORD_COMPRESSED, zeros, sizeof(zeros));
	end(&packer, &expanded);
	ck_assert(lost(&expanded, FS_LOSS_LIMIT) || expanded.file.data.size < 200u << 20);
	ck_assert_uint_le(expanded.file.data.size, 1000 * expanded.file.size);
	finish(&expanded);
}
END_TEST

/* A record that never ends is counted. */
START_TEST(the_last_record_is_cut_off)
{
	struct test_bytes records = make_records(10);
	struct expanded expanded;
	struct packer packer;

	begin(&packer);
	put_compressed(&packer, FS_RECORD_COMPRESSED, records.data, records.size - 5);
	end(&packer, &expanded);
	ck_assert_uint_eq(expanded.samples, 9);
	ck_assert(lost(&expanded, FS_LOSS_TRUNCATED_FILE));
	finish(&expanded);
	free(records.data);
}
END_TEST

static void save_in(const char *directory, const char *name, const struct test_bytes *bytes)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
	fclose(file);
}

static void remove_in(const char *directory, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	unlink(path);
}

START_TEST(directories_are_joined)
{
	static const struct test_event event = { .type = 1, .sample_type = 0x107 };
	char directory[] = "/tmp/fsight-test.XXXXXX";
	struct test_bytes records = make_records(100);
	struct test_bytes part = { 0 };
	struct test_bytes empty = { 0 };
	struct expanded expanded;
	struct test_file file;
	size_t half = 0;

	while (test_u64(&records, half + 8) < 50)
		half += records.data[half + 6] | records.data[half + 7] << 8;
	ck_assert_ptr_nonnull(mkdtemp(directory));
	test_file_begin(&file, &event, 1, 136);
	test_record(&file, FS_RECORD_FINISHED_INIT, 0, &empty);
	test_file_end(&file);
	save_in(directory, "data", &file.bytes);
	test_put(&part, records.data, half);
	save_in(directory, "data.0", &part);
	part.size = 0;
	test_put(&part, records.data + half, records.size - half);
	save_in(directory, "data.1", &part);
	expand(&expanded, directory);
	ck_assert_uint_eq(expanded.samples, 100);
	ck_assert_uint_eq(expanded.in_order, 100);
	ck_assert_uint_eq(expanded.others, 1);
	ck_assert_uint_eq(expanded.file.parts_size, records.size);
	finish(&expanded);
	remove_in(directory, "data");
	remove_in(directory, "data.0");
	remove_in(directory, "data.1");
	rmdir(directory);
	free(records.data);
	free(part.data);
	test_file_free(&file);
}
END_TEST

/* Compressed records of a file that does not say so; the feature without such records. */
START_TEST(the_feature_may_be_missing_or_too_much)
{
	struct test_bytes records = make_records(RECORDS);
	struct expanded expanded;
	struct packer packer;

	begin(&packer);
	packer.unannounced = !_i;
	if (_i)
		test_put(&packer.file.bytes, records.data, records.size);
	else
		put_compressed(&packer, FS_RECORD_COMPRESSED, records.data, records.size);
	end(&packer, &expanded);
	ck_assert_uint_eq(expanded.samples, RECORDS);
	ck_assert_uint_eq(expanded.in_order, RECORDS);
	ck_assert_uint_eq(expanded.others, 0);
	ck_assert_uint_eq(expanded.file.compressed_records, !_i);
	ck_assert_int_eq(lost(&expanded, FS_LOSS_BAD_FEATURE), !_i);
	finish(&expanded);
	free(records.data);
}
END_TEST

/* Input that can be read once is copied up to a limit. */
START_TEST(input_is_copied_up_to_a_limit)
{
	static const char text[] = "0123456789";
	struct fs_error error = { 0 };
	char copy[sizeof(text)];
	int pipes[2];
	int fd = -1;

	for (uint64_t limit = sizeof(text) - 1; limit <= sizeof(text); limit++) {
		ck_assert_int_eq(pipe(pipes), 0);
		ck_assert_int_eq(write(pipes[1], text, sizeof(text)), (ssize_t)sizeof(text));
		close(pipes[1]);
		if (limit < sizeof(text)) {
			ck_assert_int_eq(fs_spool_input(pipes[0], limit, &fd, &error), FS_REFUSED);
			ck_assert_ptr_nonnull(strstr(error.text, "longer than 10 bytes"));
			ck_assert_int_eq(fd, -1);
		} else {
			ck_assert_int_eq(fs_spool_input(pipes[0], limit, &fd, &error), 0);
			ck_assert_int_eq(pread(fd, copy, sizeof(copy), 0), (ssize_t)sizeof(copy));
			ck_assert_mem_eq(copy, text, sizeof(text));
			close(fd);
		}
		close(pipes[0]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spool");
	TCase *tests = tcase_create("spool");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tests, records_straddle_payloads, 0, 2);
	tcase_add_test(tests, payloads_without_output);
	tcase_add_test(tests, raw_data_is_copied);
	tcase_add_test(tests, damage_costs_what_follows_it);
	tcase_add_test(tests, bombs_stop_at_the_limit);
	tcase_add_test(tests, the_last_record_is_cut_off);
	tcase_add_test(tests, directories_are_joined);
	tcase_add_loop_test(tests, the_feature_may_be_missing_or_too_much, 0, 2);
	tcase_add_test(tests, input_is_copied_up_to_a_limit);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
