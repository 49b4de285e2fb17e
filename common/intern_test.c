/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/intern.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t number_of(struct fs_interner *interner, const char *text, size_t length)
{
	uint32_t id;

	ck_assert_int_eq(fs_intern(interner, text, length, &id), 0);
	return id;
}

START_TEST(strings_get_numbers_in_order)
{
	struct fs_interner interner;
	size_t length;
	uint32_t id;

	fs_interner_init(&interner);
	ck_assert(!fs_interner_find(&interner, "a", 1, &id));
	ck_assert_uint_eq(number_of(&interner, "a", 1), 0);
	ck_assert_uint_eq(number_of(&interner, "", 0), 1);
	ck_assert_uint_eq(number_of(&interner, "ab", 2), 2);
	ck_assert_uint_eq(number_of(&interner, "a", 1), 0);
	ck_assert_uint_eq(number_of(&interner, "abc", 2), 2);
	ck_assert_uint_eq(number_of(&interner, "a\0b", 3), 3);
	ck_assert_uint_eq(number_of(&interner, "a\0c", 3), 4);
	ck_assert_uint_eq(number_of(&interner, "\xff\xfe", 2), 5);
	ck_assert_str_eq(fs_interned(&interner, 2, &length), "ab");
	ck_assert_uint_eq(length, 2);
	ck_assert_mem_eq(fs_interned(&interner, 3, &length), "a\0b", 4);
	ck_assert_uint_eq(length, 3);
	ck_assert_str_eq(fs_interned(&interner, 1, &length), "");
	ck_assert_uint_eq(length, 0);
	ck_assert(fs_interner_find(&interner, "ab", 2, &id));
	ck_assert_uint_eq(id, 2);
	ck_assert(!fs_interner_find(&interner, "abc", 3, &id));
	fs_interner_free(&interner);
	fs_interner_free(&interner);
}
END_TEST

START_TEST(many_strings_keep_their_numbers)
{
	struct fs_interner interner;
	unsigned int wrong = 0;
	char text[32];

	fs_interner_init(&interner);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 100000; i++) {
			int length = snprintf(text, sizeof(text), "/usr/lib/%u", i);

			wrong += number_of(&interner, text, (size_t)length) != i;
		}
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "/usr/lib/%u", i);
		wrong += strcmp(fs_interned(&interner, i, NULL), text) != 0;
	}
	ck_assert_uint_eq(wrong, 0);
	fs_interner_free(&interner);
}
END_TEST

/* Where two strings have one hash they lie under consecutive keys: take the key of one away from
 * it, so that the other must go on searching. */
START_TEST(strings_of_one_hash_are_told_apart)
{
	struct fs_interner interner;
	uint64_t hash;
	uint64_t *other;
	uint32_t id;

	fs_interner_init(&interner);
	number_of(&interner, "other", 5);
	hash = fs_hash("mine", 4, interner.by_hash.seed);
	other = fs_table_put(&interner.by_hash, &hash, NULL, NULL);
	ck_assert_ptr_nonnull(other);
	*other = 0; /* "mine" hashes to where "other" is */
	ck_assert(!fs_interner_find(&interner, "mine", 4, &id));
	id = number_of(&interner, "mine", 4);
	ck_assert_uint_ne(id, 0);
	ck_assert_uint_eq(number_of(&interner, "mine", 4), id);
	ck_assert_uint_eq(number_of(&interner, "other", 5), 0);
	ck_assert_str_eq(fs_interned(&interner, id, NULL), "mine");
	fs_interner_free(&interner);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("intern");
	TCase *tests = tcase_create("intern");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, strings_get_numbers_in_order);
	tcase_add_test(tests, many_strings_keep_their_numbers);
	tcase_add_test(tests, strings_of_one_hash_are_told_apart);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
