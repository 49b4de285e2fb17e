/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/multiply.h"

#include <check.h>
#include <stdlib.h>

#include "common/test_random.h"

/* Products computed with integers of any size. */
static const struct {
	uint64_t a, b, high, low;
} products[] = {
	{ 0, UINT64_MAX, 0, 0 },
	{ 1, UINT64_MAX, 0, UINT64_MAX },
	{ UINT64_MAX, UINT64_MAX, 0xfffffffffffffffe, 1 },
	{ 0xffffffff, 0x100000001, 0, UINT64_MAX },
	{ 0x8000000000000000, 2, 1, 0 },
	{ 0x123456789abcdef0, 0xfedcba9876543210, 0x121fa00ad77d7422, 0x236d88fe5618cf00 },
	{ 0x9e3779b97f4a7c15, 0xff51afd7ed558ccd, 0x9dcbbe7aa8f7bc19, 0x2e72b4654e79d8d1 },
};

START_TEST(products_in_full)
{
	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
		struct fs_product product = fs_multiply(products[i].a, products[i].b);

		ck_assert_uint_eq(product.high, products[i].high);
		ck_assert_uint_eq(product.low, products[i].low);
	}
}
END_TEST

/* (a + 1) * b - a * b = b, over the whole width, and the halves agree with the machine. */
START_TEST(products_of_random_numbers)
{
	uint64_t random = 0x5eed0200;

	for (int round = 0; round < 10000; round++) {
		uint64_t a = test_random(&random) >> test_below(&random, 64);
		uint64_t b = test_random(&random) >> test_below(&random, 64);
		struct fs_product product = fs_multiply(a, b);
		struct fs_product halves = fs_multiply_halves(a, b);
		struct fs_product next = fs_multiply_halves(a + 1, b);

		ck_assert_uint_eq(product.low, halves.low);
		ck_assert_uint_eq(product.high, halves.high);
		if (a == UINT64_MAX)
			continue;
		ck_assert_uint_eq(next.low, product.low + b);
		ck_assert_uint_eq(next.high, product.high + (product.low + b < b));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("multiply");
	TCase *tests = tcase_create("multiply");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tests, products_in_full);
	tcase_add_test(tests, products_of_random_numbers);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
