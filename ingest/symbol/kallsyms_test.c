/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kallsyms, sound and damaged. What its names are worth to a trace is tested by
 * tests/cli/ingest/kernel.sh.
 */
#include "ingest/symbol/kallsyms.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/test_random.h"

static const char text[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T startup_64\n"
			   "ffffffff81000040 t local\n"
			   "ffffffff81000040 T __global\n"
			   "ffffffff81000080 D data\n"
			   "ffffffffc0000000 t read\t[ext4]\n"
			   "no line\n"
			   "ffffffffc0000100 t last\t[ext4]";

/* Ask a text that lies in a block of just its size about some addresses. */
static const char *ask(const char *bytes, size_t size, uint64_t address, uint64_t *ret_size)
{
	static char name[80];
	struct fs_symbol_query query = { .offset = address };
	struct fs_symbol_result result;
	struct fs_symbol_dso dso = { .path = "/boot/vmlinux",
				     .fd = -1,
				     .kind = FS_SYMBOL_KERNEL,
				     .reference = "_text",
				     .reference_address = 0xffffffff81000000,
				     .queries = &query,
				     .results = &result,
				     .query_count = 1 };
	struct fs_interner strings;
	struct fs_kallsyms kallsyms;
	char *copy = malloc(size ? size : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, size);
	result = fs_symbol_result_unknown();
	fs_interner_init(&strings);
	ck_assert_int_eq(fs_kallsyms_parse(copy, size, &kallsyms), 0);
	ck_assert_int_eq(fs_kallsyms_answer(&kallsyms, &strings, &dso), 0);
	name[0] = '\0';
	if (result.function != FS_SYMBOL_NONE) {
		ck_assert_uint_lt(result.function, dso.function_count);
		strncat(name, fs_interned(&strings, dso.functions[result.function].name, NULL),
			sizeof(name) - 1);
		*ret_size = dso.functions[result.function].size;
	}
	fs_symbol_dso_free(&dso);
	fs_kallsyms_free(&kallsyms);
	fs_interner_free(&strings);
	free(copy);
	return name;
}

START_TEST(test_names)
{
	uint64_t size = 0;

	ck_assert_str_eq(ask(text, strlen(text), 0xffffffff81000004, &size), "startup_64");
	ck_assert_uint_eq(size, 0x40);
	/* a global name counts before a local one, whatever its underscores */
	ck_assert_str_eq(ask(text, strlen(text), 0xffffffff8100007f, &size), "__global");
	/* neither data, nor a module's code, nor what lies before the first or behind the last */
	ck_assert_str_eq(ask(text, strlen(text), 0xffffffff81000080, &size), "");
	ck_assert_str_eq(ask(text, strlen(text), 0xffffffffc0000004, &size), "");
	ck_assert_str_eq(ask(text, strlen(text), 0xffffffff80ffffff, &size), "");
	ck_assert_str_eq(ask(text, strlen(text), 0xffffffffc0000104, &size), "");
}
END_TEST

START_TEST(test_damaged)
{
	uint64_t state = 4711;
	uint64_t size;

	for (size_t length = 0; length <= strlen(text); length++)
		ask(text, length, 0xffffffff81000044, &size);
	for (unsigned int i = 0; i < 20000; i++) {
		char damaged[sizeof(text)];

		memcpy(damaged, text, sizeof(text));
		for (unsigned int k = 0; k <= i % 16; k++)
			damaged[test_below(&state, sizeof(text))] =
				" \t\n[]0fT\xff"[test_below(&state, 9)];
		ask(damaged, sizeof(text), 0xffffffff81000000 + test_below(&state, 256), &size);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kallsyms");
	TCase *tests = tcase_create("kallsyms");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, test_names);
	tcase_add_test(tests, test_damaged);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
