/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/table.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/multiply.h"
#include "common/test_random.h"

START_TEST(entries_keep_their_order_and_number)
{
	enum { KEYS = 100000 };
	struct fs_table table;
	unsigned int wrong = 0;

	fs_table_init(&table, 8, 16);
	ck_assert_ptr_null(fs_table_get(&table, &(uint64_t){ 1 }));
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t key = i * 0x10001;
		uint32_t index;
		bool added;
		uint64_t *value = fs_table_put(&table, &key, &index, &added);

		wrong += !added || index != i || value[0] || value[1];
		value[0] = ~i;
	}
	for (uint64_t i = KEYS; i-- > 0;) {
		uint64_t key = i * 0x10001;
		uint32_t index;
		bool added;

		wrong += *(uint64_t *)fs_table_get(&table, &key) != ~i;
		wrong += *(uint64_t *)fs_table_put(&table, &key, &index, &added) != ~i;
		wrong += added || index != i || memcmp(fs_table_key(&table, i), &key, 8) != 0;
		key++;
		wrong += fs_table_get(&table, &key) != NULL;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(table.count, KEYS);
	fs_table_free(&table);
	ck_assert_uint_eq(table.count, 0);
	fs_table_free(&table);
}
END_TEST

START_TEST(long_keys_without_values)
{
	uint64_t key[3] = { 0 };
	struct fs_table table;
	uint32_t index;
	bool added;

	fs_table_init(&table, sizeof(key), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		key[i % 3] = i;
		ck_assert_ptr_nonnull(fs_table_put(&table, key, &index, &added));
		ck_assert(added && index == i);
	}
	ck_assert_ptr_nonnull(fs_table_get(&table, key));
	key[0]++;
	ck_assert_ptr_null(fs_table_get(&table, key));
	fs_table_free(&table);
}
END_TEST

/* Clearing after few and after many entries, in a table that was large. */
START_TEST(a_cleared_table_is_empty)
{
	uint64_t random = 0x5eed00a0;
	struct fs_table table;
	unsigned int wrong = 0;

	fs_table_init(&table, 8, 8);
	for (int round = 0; round < 60; round++) {
		uint64_t count = round ? test_below(&random, round % 2 ? 20 : 3000) : 20000;
		uint64_t base = test_random(&random);

		for (uint64_t i = 0; i < count; i++) {
			uint64_t key = base + i;
			bool added;
			uint64_t *value = fs_table_put(&table, &key, NULL, &added);

			wrong += !added || *value;
			*value = 1;
		}
		wrong += table.count != count;
		fs_table_clear(&table);
		wrong += table.count != 0;
		for (uint64_t i = 0; i < count; i++)
			wrong += fs_table_get(&table, &(uint64_t){ base + i }) != NULL;
		for (size_t slot = 0; slot <= table.slot_mask; slot++)
			wrong += table.slots[slot] != 0;
	}
	ck_assert_uint_eq(wrong, 0);
	fs_table_free(&table);
}
END_TEST

START_TEST(clearing_few_entries_of_a_large_table_takes_no_time)
{
	struct timespec begin, end;
	struct fs_table table;

	fs_table_init(&table, 8, 8);
	for (uint64_t i = 0; i < 1 << 20; i++)
		ck_assert_ptr_nonnull(fs_table_put(&table, &i, NULL, NULL));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	fs_table_clear(&table);
	for (uint64_t i = 0; i < 200000; i++) {
		fs_table_put(&table, &i, NULL, NULL);
		fs_table_clear(&table);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	/* 200,000 times 8 MiB would take minutes */
	ck_assert_int_lt(end.tv_sec - begin.tv_sec, 10);
	fs_table_free(&table);
}
END_TEST

/*
 * Keys made for a hash without a seed: the second word cancels what the first became, so that
 * all keys had one hash.
 */
START_TEST(keys_cannot_be_made_to_collide)
{
	enum { KEYS = 50000 };
	struct timespec begin, end;
	struct fs_table table;

	fs_table_init(&table, 16, 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint64_t i = 0; i < KEYS; i++) {
		struct fs_product product =
			fs_multiply(0xcbf29ce484222325u ^ i, 0x9e3779b97f4a7c15u);
		uint64_t key[2] = { i, product.low ^ product.high };

		if (!fs_table_put(&table, key, NULL, NULL))
			ck_abort();
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	ck_assert_int_lt(end.tv_sec - begin.tv_sec, 2);
	fs_table_free(&table);
}
END_TEST

/* Sizes whose product does not fit a size_t. */
START_TEST(entries_too_large_for_memory)
{
	struct fs_table table;
	uint64_t key = 1;

	fs_table_init(&table, sizeof(key), SIZE_MAX / 64 + 1);
	ck_assert_ptr_null(fs_table_put(&table, &key, NULL, NULL));
	fs_table_free(&table);
}
END_TEST

START_TEST(every_byte_counts_in_a_hash)
{
	uint8_t bytes[40] = { 0 };

	for (size_t size = 0; size < sizeof(bytes); size++) {
		uint64_t hash = fs_hash(bytes, size, 1);

		ck_assert_uint_ne(hash, fs_hash(bytes, size + 1, 1));
		ck_assert_uint_ne(hash, fs_hash(bytes, size, 2));
		for (size_t i = 0; i < size; i++) {
			bytes[i] = 1;
			ck_assert_uint_ne(hash, fs_hash(bytes, size, 1));
			bytes[i] = 0;
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("table");
	TCase *tests = tcase_create("table");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, entries_keep_their_order_and_number);
	tcase_add_test(tests, long_keys_without_values);
	tcase_add_test(tests, a_cleared_table_is_empty);
	tcase_add_test(tests, clearing_few_entries_of_a_large_table_takes_no_time);
	tcase_add_test(tests, keys_cannot_be_made_to_collide);
	tcase_add_test(tests, entries_too_large_for_memory);
	tcase_add_test(tests, every_byte_counts_in_a_hash);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
