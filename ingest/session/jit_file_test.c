/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of JIT compilers, damaged: what is parsed refers only to bytes of the file. What sound ones
 * mean is tested by tests/cli/ingest/jit.sh.
 */
#include "ingest/session/jit_file.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/test_random.h"

enum { HEADER = 40, LOAD = 68, FILE_SIZE = HEADER + LOAD };

/* A jitdump with one function, "f", of 3 bytes at 0x1000. */
static void build(uint8_t bytes[FILE_SIZE])
{
	const uint32_t header[] = { 0x4a695444, 1, HEADER, 62, 0, 77, 0, 0, 0, 0 };
	const uint64_t record[] = { (uint64_t)LOAD << 32, 1000, 77, 0x1000, 0x1000, 3, 1 };

	memset(bytes, 0, FILE_SIZE);
	memcpy(bytes, header, sizeof(header));
	memcpy(bytes + HEADER, record, sizeof(record));
	bytes[HEADER + sizeof(record)] = 'f';
}

static void check_text(const struct fs_jit_text *text, const uint8_t *bytes, size_t size)
{
	const uint8_t *start = (const uint8_t *)text->start;

	ck_assert(!start || (start >= bytes && start + text->length <= bytes + size));
}

static void check_table(struct fs_jit_table *table, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct fs_jit_entry *entry = &table->entries[i];

		check_text(&entry->name, bytes, size);
		ck_assert_uint_gt(entry->size, 0);
		ck_assert_uint_gt(entry->start + entry->size, entry->start);
		ck_assert_uint_le((size_t)entry->first_line + entry->line_count, table->line_count);
	}
	for (size_t i = 0; i < table->line_count; i++)
		check_text(&table->lines[i].file, bytes, size);
	fs_jit_table_free(table);
}

/* Cut at each byte: in a block of just that size, so that a sanitizer sees any read behind it. */
START_TEST(test_cut)
{
	uint8_t whole[FILE_SIZE];

	build(whole);
	for (size_t size = 0; size <= FILE_SIZE; size++) {
		struct fs_jit_table table;
		uint8_t *bytes = malloc(size ? size : 1);
		int code;

		ck_assert_ptr_nonnull(bytes);
		memcpy(bytes, whole, size);
		code = fs_jitdump_parse(bytes, size, &table);
		ck_assert_int_eq(code, size < HEADER ? EINVAL : 0);
		ck_assert_uint_eq(table.count, size == FILE_SIZE);
		ck_assert_uint_eq(table.skipped, size > HEADER && size < FILE_SIZE);
		check_table(&table, bytes, size);
		free(bytes);
	}
}
END_TEST

START_TEST(test_random_bytes)
{
	uint64_t state = 4711;

	for (unsigned int i = 0; i < 20000; i++) {
		uint8_t bytes[FILE_SIZE];
		struct fs_jit_table table;

		build(bytes);
		for (unsigned int k = 0; k < 1 + i % 8; k++)
			bytes[test_random(&state) % FILE_SIZE] = (uint8_t)test_random(&state);
		fs_jitdump_parse(bytes, FILE_SIZE, &table);
		check_table(&table, bytes, FILE_SIZE);
		for (unsigned int k = 0; k < FILE_SIZE; k++)
			bytes[k] = (uint8_t) "01f \n\0xg"[test_random(&state) % 8];
		ck_assert_int_eq(fs_perf_map_parse(bytes, FILE_SIZE, &table), 0);
		check_table(&table, bytes, FILE_SIZE);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jit_file");
	TCase *tests = tcase_create("damaged");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, test_cut);
	tcase_add_test(tests, test_random_bytes);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
