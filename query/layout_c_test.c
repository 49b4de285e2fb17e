/* SPDX-License-Identifier: GPL-2.0-only */
#include "query/layout_c.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *type, *name;
	int64_t bits;
	const char *expected;
} declarations[] = {
	{ "int", "count", -1, "int count" },
	{ "void *", "next", -1, "void *next" },
	{ "struct link **", "links", -1, "struct link **links" },
	{ "char[16]", "name", -1, "char name[16]" },
	{ "unsigned int[2][3]", "grid", -1, "unsigned int grid[2][3]" },
	{ "char *[4]", "words", -1, "char *words[4]" },
	{ "char[]", "rest", -1, "char rest[]" },
	{ "unsigned int", "flag", 3, "unsigned int flag : 3" },
	{ "unsigned int", "", 5, "unsigned int : 5" },
	{ "int (*)(void *, int)", "call", -1, "int (*call)(void *, int)" },
	{ "void (**)(void)", "calls", -1, "void (**calls)(void)" },
	{ "int (*[4])(int)", "table", -1, "int (*table[4])(int)" },
	{ "int (*)[4]", "row", -1, "int (*row)[4]" },
	{ "", "x", -1, "x" },
	{ "int *volatile", "p", -1, "int *volatile p" },
	{ "void (*const)(void)", "call", -1, "void (*const call)(void)" },
	{ "int (*(*)(int))(void)", "pick", -1, "int (*(*pick)(int))(void)" },
	{ "volatile long[7][2]", "grid", -1, "volatile long grid[7][2]" },
	{ "void (*)(void (*)(int))", "each", -1, "void (*each)(void (*)(int))" },
};

START_TEST(a_member_as_c)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	fs_layout_declare(out, declarations[_i].type, declarations[_i].name, declarations[_i].bits);
	fclose(out);
	ck_assert_str_eq(text, declarations[_i].expected);
	free(text);
}
END_TEST

START_TEST(slots_as_c)
{
	static const struct {
		const char *type, *expected; /* NULL: not an array that can be told apart */
	} cases[] = {
		{ "long[7]",
		  "\tstruct {\n\t\tlong value __attribute__((aligned(64)));\n\t} per[7]" },
		{ "int[2][3]",
		  "\tstruct {\n\t\tint value __attribute__((aligned(64)));\n\t} per[2][3]" },
		{ "char *[4]",
		  "\tstruct {\n\t\tchar *value __attribute__((aligned(64)));\n\t} per[4]" },
		{ "int (*[4])(int)",
		  "\tstruct {\n\t\tint (*value)(int) __attribute__((aligned(64)));\n\t} per[4]" },
		{ "struct (anonymous)[4]", NULL },
		{ "vector", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		ck_assert_ptr_nonnull(out);
		ck_assert_int_eq(fs_layout_is_array(cases[i].type), cases[i].expected != NULL);
		if (cases[i].expected)
			fs_layout_write_slots(out, cases[i].type, "per", 64);
		fclose(out);
		if (cases[i].expected)
			ck_assert_str_eq(text, cases[i].expected);
		free(text);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("layout_c");
	TCase *tests = tcase_create("layout_c");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tests, a_member_as_c, 0,
			    (int)(sizeof(declarations) / sizeof(declarations[0])));
	tcase_add_test(tests, slots_as_c);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
