/* SPDX-License-Identifier: GPL-2.0-only */
#include "analyze/formula.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct fs_formula_count counts[] = {
	{ "A", 6, 0.5 },
	{ "A.1_B", 3, 0.25 },
	{ "ZERO", 0, 2 },
};

static double value_of(const char *text, double *ret_error)
{
	return fs_formula_value(text, counts, sizeof(counts) / sizeof(counts[0]), ret_error);
}

START_TEST(test_values)
{
	static const struct {
		const char *text;
		double value, error;
	} cases[] = {
		{ "2 * 3.5 + 1", 8, 0 },
		{ "A - A.1_B - 1", 2, 0.5590169943749475 },
		{ "A / A.1_B", 2, 0.23570226039551584 },	  /* 2 sqrt(1/144 + 1/144) */
		{ "A / (4 * A.1_B) * A", 3, 0.5590169943749475 }, /* A counts twice */
		{ "ZERO / A", 0, 0.3333333333333333 },
		{ "NOT_THERE + A", 6, 0.5 },
		{ "((A))", 6, 0.5 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double error;

		ck_assert_double_eq_tol(value_of(cases[i].text, &error), cases[i].value, 1e-12);
		ck_assert_double_eq_tol(error, cases[i].error, 1e-12);
	}
}
END_TEST

START_TEST(test_no_value)
{
	static const char *const cases[] = { "",    "A +", "(A", "A)",	  "A / ZERO", "A / (A - A)",
					     "* A", "A A", "-A", "A / 0", "A; B",     "1 / NONE",
					     "()" };
	char deep[2 * 100000 + 2];
	double error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(isnan(value_of(cases[i], &error)), "%s", cases[i]);
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	ck_assert(isnan(value_of(deep, &error)));
}
END_TEST

START_TEST(test_names)
{
	const char *at = "3 * A.1_B / (2.5 * C) - 4";
	const char *name;

	ck_assert_uint_eq(fs_formula_name(&at, &name), 5);
	ck_assert(!strncmp(name, "A.1_B", 5));
	ck_assert_uint_eq(fs_formula_name(&at, &name), 1);
	ck_assert(*name == 'C');
	ck_assert_uint_eq(fs_formula_name(&at, &name), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("formula");
	TCase *cases = tcase_create("formula");
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, cases);
	tcase_add_test(cases, test_values);
	tcase_add_test(cases, test_no_value);
	tcase_add_test(cases, test_names);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
