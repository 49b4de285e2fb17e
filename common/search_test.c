/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/search.h"

#include <check.h>
#include <stdlib.h>

struct range {
	char name;
	uint64_t low;
};

START_TEST(positions)
{
	static const struct range ranges[] = { { 'a', 10 }, { 'b', 20 }, { 'c', 20 }, { 'd', 30 } };

	ck_assert_uint_eq(FS_FIRST_AT(ranges, 4, low, 9), 0);
	ck_assert_uint_eq(FS_FIRST_AT(ranges, 4, low, 20), 1);
	ck_assert_uint_eq(FS_FIRST_BEHIND(ranges, 4, low, 20), 3);
	ck_assert_uint_eq(FS_FIRST_BEHIND(ranges, 4, low, 29), 3);
	ck_assert_uint_eq(FS_FIRST_AT(ranges, 4, low, UINT64_MAX), 4);
	ck_assert_uint_eq(FS_FIRST_BEHIND(ranges, 4, low, UINT64_MAX), 4);
}
END_TEST

/* An array that never had an element is NULL; the sanitizers watch. */
START_TEST(no_array)
{
	const struct range *ranges = NULL;

	ck_assert_uint_eq(FS_FIRST_AT(ranges, 0, low, 1), 0);
	ck_assert_uint_eq(FS_FIRST_BEHIND(ranges, 0, low, 1), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("search");
	TCase *tests = tcase_create("search");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, positions);
	tcase_add_test(tests, no_array);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
