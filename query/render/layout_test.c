/* SPDX-License-Identifier: GPL-2.0-only */
#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "query/render/layout.h"
#include "query/render/render.h"

START_TEST(test_fit)
{
	struct fs_layout_column columns[] = { { .natural = 10, .least = 10 },
					      { .natural = 50, .least = 8 },
					      { .natural = 12, .least = 8 } };

	fs_layout_fit(columns, 3, 54);
	ck_assert_uint_eq(columns[0].width, 10);
	ck_assert_uint_eq(columns[1].width, 30);
	ck_assert_uint_eq(columns[2].width, 12);
	fs_layout_fit(columns, 3, 100);
	ck_assert_uint_eq(columns[1].width, 50);
	fs_layout_fit(columns, 3, 5); /* too narrow: the least */
	ck_assert_uint_eq(columns[0].width, 10);
	ck_assert_uint_eq(columns[1].width, 8);
}
END_TEST

START_TEST(test_cut)
{
	static const struct {
		const char *text;
		size_t width;
		bool keep_end;
		const char *wanted;
	} cases[] = {
		{ "barrier", 7, false, "barrier" },
		{ "barrier", 5, false, "barr~" },
		{ "/lib/libc.so", 8, true, "~libc.so" },
		{ "\xc3\xa4\xc3\xb6\xc3\xbc", 2, false, "\xc3\xa4~" },
		{ "\xc3\xa4\xc3\xb6\xc3\xbc", 2, true, "~\xc3\xbc" },
		{ "ab", 1, false, "~" },
		{ "ab", 1, true, "~" },
	};

	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[32];

		strcpy(text, cases[i].text);
		fs_layout_cut(text, cases[i].width, cases[i].keep_end);
		ck_assert_str_eq(text, cases[i].wanted);
	}
}
END_TEST

START_TEST(test_wrap)
{
	char text[] = "one two three fourteen5";

	fs_layout_wrap(text, 8);
	ck_assert_str_eq(text, "one two\nthree\nfourteen5");
}
END_TEST

static void check_cell(struct fs_cell cell, enum fs_render_type type, const char *people,
		       const char *programs)
{
	char *text = fs_cell_text(&cell, type, true);

	ck_assert_str_eq(text, people);
	free(text);
	text = fs_cell_text(&cell, type, false);
	ck_assert_str_eq(text, programs);
	free(text);
}

START_TEST(test_cells)
{
	struct fs_cell integer = { .kind = FS_CELL_INTEGER, .integer = 52 };
	struct fs_cell negative = { .kind = FS_CELL_INTEGER, .integer = -4096 };
	struct fs_cell real = { .kind = FS_CELL_REAL, .real = 0.12345 };
	struct fs_cell tiny = { .kind = FS_CELL_REAL, .real = 0.00042 };
	struct fs_cell whole = { .kind = FS_CELL_INTEGER, .integer = 1 };
	struct fs_cell infinite = { .kind = FS_CELL_REAL, .real = 1.0 / 0.0 };
	struct fs_cell text = { .kind = FS_CELL_TEXT, .text = "a\0b\n", .length = 4 };

	check_cell(integer, FS_TYPE_INTEGER, "52", "52");
	check_cell(integer, FS_TYPE_OFFSET, "0x34", "52");
	check_cell(integer, FS_TYPE_ADDRESS, "0x34", "0x34");
	check_cell(negative, FS_TYPE_ADDRESS, "0xfffffffffffff000", "0xfffffffffffff000");
	check_cell(integer, FS_TYPE_TIME, "0.000000", "52");
	check_cell(real, FS_TYPE_PERCENT, "12.3 %", "0.12345");
	check_cell(tiny, FS_TYPE_PERCENT, "0.042 %", "0.00042");
	check_cell(whole, FS_TYPE_PERCENT, "100.0 %", "1");
	check_cell(real, FS_TYPE_REAL, "0.1", "0.12345");
	check_cell(whole, FS_TYPE_FLAG, "yes", "1");
	check_cell(infinite, FS_TYPE_REAL, "", "");
	check_cell((struct fs_cell){ 0 }, FS_TYPE_TEXT, "", "");
	check_cell(text, FS_TYPE_TEXT, "a\\x00b\\x0a", "a\\x00b\\x0a");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("render");
	TCase *tcase = tcase_create("layout and cells");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_fit);
	tcase_add_test(tcase, test_cut);
	tcase_add_test(tcase, test_wrap);
	tcase_add_test(tcase, test_cells);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
