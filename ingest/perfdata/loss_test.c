/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/perfdata/loss.h"

#include <check.h>
#include <stdlib.h>

/* All that the windows of a kind and CPU hold. */
static struct fs_loss_window sum_of(const struct fs_loss *loss, uint32_t kind, uint32_t cpu,
				    size_t *ret_windows)
{
	struct fs_loss_window sum = { .first_ns = UINT64_MAX };

	*ret_windows = 0;
	for (size_t i = 0; i < loss->windows.count; i++) {
		const struct fs_loss_window_key *key = fs_table_key(&loss->windows, i);
		const struct fs_loss_window *window = fs_table_value(&loss->windows, i);

		if (key->kind != kind || key->cpu != cpu)
			continue;
		++*ret_windows;
		sum.count += window->count;
		if (window->first_ns < sum.first_ns)
			sum.first_ns = window->first_ns;
		if (window->last_ns > sum.last_ns)
			sum.last_ns = window->last_ns;
	}
	return sum;
}

START_TEST(losses_by_cpu_and_time)
{
	const uint64_t second = 1000000000;
	struct fs_loss_window sum;
	struct fs_loss loss;
	size_t windows;

	fs_loss_init(&loss);
	fs_loss_add_time(&loss, FS_LOSS_LOST_RECORDS, 5, 3, second + 10, second + 10);
	fs_loss_add_time(&loss, FS_LOSS_LOST_RECORDS, 6, 3, second + 5, second + 5);
	fs_loss_add_time(&loss, FS_LOSS_LOST_RECORDS, 7, 3, 2 * second, 2 * second);
	fs_loss_add_time(&loss, FS_LOSS_LOST_RECORDS, 8, UINT32_MAX, second, second);
	fs_loss_add_time(&loss, FS_LOSS_AUX_BLIND, 90, 3, second, second + 90);
	sum = sum_of(&loss, FS_LOSS_LOST_RECORDS, 3, &windows);
	ck_assert_uint_eq(windows, 2);
	ck_assert_uint_eq(sum.count, 18);
	ck_assert_uint_eq(sum.first_ns, second + 5);
	ck_assert_uint_eq(sum.last_ns, 2 * second);
	sum = sum_of(&loss, FS_LOSS_LOST_RECORDS, UINT32_MAX, &windows);
	ck_assert_uint_eq(sum.count, 8);
	sum = sum_of(&loss, FS_LOSS_AUX_BLIND, 3, &windows);
	ck_assert(sum.count == 90 && sum.first_ns == second && sum.last_ns == second + 90);
	fs_loss_free(&loss);
}
END_TEST

/* A loss in each window of a long recording, from its begin or its end on: windows grow, are the
 * same in both cases, and lose nothing. */
START_TEST(windows_grow)
{
	enum { LOSSES = 100000 };
	struct fs_loss_window sum;
	struct fs_loss loss;
	size_t windows;

	fs_loss_init(&loss);
	for (uint64_t i = 0; i < LOSSES; i++) {
		uint64_t when = ((_i ? LOSSES - 1 - i : i) << 20) + 7;

		fs_loss_add_time(&loss, FS_LOSS_THROTTLED, 2, 1, when, when);
	}
	sum = sum_of(&loss, FS_LOSS_THROTTLED, 1, &windows);
	ck_assert_uint_eq(windows, (LOSSES + 31) / 32);
	ck_assert_uint_eq(loss.window_shift, 25);
	ck_assert_uint_eq(sum.count, 2 * LOSSES);
	ck_assert_uint_eq(sum.first_ns, 7);
	ck_assert_uint_eq(sum.last_ns, ((uint64_t)(LOSSES - 1) << 20) + 7);
	ck_assert(!loss.overflowed);
	fs_loss_free(&loss);
}
END_TEST

/* More CPUs than windows, at all times that a number can say. */
START_TEST(windows_are_bounded)
{
	uint64_t total = 0;
	struct fs_loss loss;

	fs_loss_init(&loss);
	for (uint32_t cpu = 0; cpu < 60000; cpu++) {
		uint64_t when = (uint64_t)cpu * 0x9e3779b97f4a7c15;

		fs_loss_add_time(&loss, FS_LOSS_LOST_SAMPLES, 1, cpu, when, when);
	}
	ck_assert_uint_le(loss.windows.count, 4096 + 3);
	for (size_t i = 0; i < loss.windows.count; i++) {
		const struct fs_loss_window *window = fs_table_value(&loss.windows, i);

		total += window->count;
	}
	ck_assert_uint_eq(total, 60000);
	fs_loss_free(&loss);
}
END_TEST

/* Numbered scopes are those of fs_loss_add(), also where a file makes up more than are told apart:
 * nothing is lost. */
START_TEST(numbers_are_scopes)
{
	enum { NUMBERS = 70000 };
	struct fs_loss_key key = { .kind = FS_LOSS_UNKNOWN_RECORD };
	const struct fs_loss_value *value;
	uint64_t total = 0;
	struct fs_loss loss;

	fs_loss_init(&loss);
	fs_loss_add(&loss, FS_LOSS_UNKNOWN_RECORD, 1, 8, 500, "record type %d", 7);
	for (int round = 0; round < 2; round++)
		for (int number = 0; number < NUMBERS; number++)
			fs_loss_add_numbered(&loss, FS_LOSS_UNKNOWN_RECORD, 1, 8, 400,
					     "record type", number);
	fs_loss_add_numbered(&loss, FS_LOSS_BAD_SAMPLE, 3, 9, 1, "event", 7);
	ck_assert(fs_interner_find(&loss.scopes, "record type 7", 13, &key.scope));
	value = fs_table_get(&loss.entries, &key);
	ck_assert(value->count == 3 && value->bytes == 24 && value->first_offset == 400);
	for (size_t i = 0; i < loss.entries.count; i++) {
		value = fs_table_value(&loss.entries, i);
		total += value->count;
	}
	ck_assert_uint_eq(total, 2 * NUMBERS + 1 + 3);
	ck_assert_uint_le(loss.entries.count, 4096 + 2);
	ck_assert_uint_le(loss.numbers.count, 4096 + 2);
	ck_assert(!loss.overflowed);
	fs_loss_free(&loss);
}
END_TEST

/* Without a number the scope is the text alone. */
START_TEST(scope_without_number)
{
	struct fs_loss loss;
	uint32_t scope;

	fs_loss_init(&loss);
	for (int i = 0; i < 3; i++)
		fs_loss_add_numbered(&loss, FS_LOSS_LOST_RECORDS, 5, 0, 1, "trace", -1);
	ck_assert_uint_eq(loss.entries.count, 1);
	ck_assert(fs_interner_find(&loss.scopes, "trace", 5, &scope));
	ck_assert_uint_eq(((struct fs_loss_value *)fs_table_value(&loss.entries, 0))->count, 15);
	fs_loss_free(&loss);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("loss");
	TCase *test_case = tcase_create("loss");
	SRunner *runner;
	int failed;

	tcase_add_test(test_case, losses_by_cpu_and_time);
	tcase_add_loop_test(test_case, windows_grow, 0, 2);
	tcase_add_test(test_case, windows_are_bounded);
	tcase_add_test(test_case, numbers_are_scopes);
	tcase_add_test(test_case, scope_without_number);
	suite_add_tcase(suite, test_case);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
