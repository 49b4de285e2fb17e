/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/reader.h"
#include "common/test_random.h"
#include "common/vector.h"

static const struct {
	const char *text, *shown;
} escapes[] = {
	{ "", "" },
	{ "plain \\ text", "plain \\ text" },
	{ "a\nb\tc\r", "a\\x0ab\\x09c\\x0d" },
	{ "\x1b[31mX\x07", "\\x1b[31mX\\x07" },
	{ "\x7f", "\\x7f" },
	{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
	{ "\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80" },
	{ "\x80\xbf\xff\xfe", "\\x80\\xbf\\xff\\xfe" },
	{ "\xc0\xaf", "\\xc0\\xaf" },			/* overlong / */
	{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },		/* overlong */
	{ "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf" }, /* overlong */
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },		/* surrogate */
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* above U+10FFFF */
	{ "\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80" },
	{ "\xe2\x82", "\\xe2\\x82" }, /* cut */
	{ "\xc3", "\\xc3" },
	{ "\xc2\x9b"
	  "31m",
	  "\\xc2\\x9b31m" }, /* C1: CSI */
	{ "\xe2\x80\xae"
	  "x",
	  "\\xe2\\x80\\xaex" }, /* right-to-left override */
	{ "\xe2\x81\xa6"
	  "x",
	  "\\xe2\\x81\\xa6x" },		       /* isolate */
	{ "\xe2\x80\xa8", "\\xe2\\x80\\xa8" }, /* line separator */
	{ "\xef\xbb\xbf", "\\xef\\xbb\\xbf" }, /* byte order mark */
};

START_TEST(text_becomes_harmless)
{
	char out[128];
	const char *text = escapes[_i].text;

	ck_assert_uint_eq(fs_escape(out, sizeof(out), text, strlen(text)),
			  strlen(escapes[_i].shown));
	ck_assert_str_eq(out, escapes[_i].shown);
	/* and stays as it is from then on */
	fs_escape(out, sizeof(out), escapes[_i].shown, strlen(escapes[_i].shown));
	ck_assert_str_eq(out, escapes[_i].shown);
}
END_TEST

/* Every size of the buffer: terminated, never past it, never half a character. */
START_TEST(a_full_buffer_ends_at_a_character)
{
	static const char text[] = "a\xc3\xbc\n\xe2\x82\xac\xff\0z";
	static const char shown[] = "a\xc3\xbc\\x0a\xe2\x82\xac\\xff\\x00z";
	static const size_t ends[] = { 0, 1, 3, 7, 10, 14, 18, 19 };

	for (size_t size = 0; size < sizeof(shown) + 4; size++) {
		char *out = malloc(size + 1);
		size_t length = fs_escape(out, size, text, sizeof(text) - 1);
		size_t want = 0;

		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			if (ends[i] + 1 <= size)
				want = ends[i];
		ck_assert_uint_eq(length, want);
		if (size) {
			ck_assert_int_eq(out[length], 0);
			ck_assert_mem_eq(out, shown, length);
		}
		free(out);
	}
}
END_TEST

START_TEST(random_bytes_become_one_line)
{
	uint64_t random = 0x5eed00b0;

	for (int round = 0; round < 20000; round++) {
		size_t length = test_below(&random, 12);
		char *text = malloc(length + 1);
		char out[64];
		size_t written;

		for (size_t i = 0; i < length; i++)
			text[i] = (char)(test_random(&random) | (round & 1 ? 0x80 : 0));
		written = fs_escape(out, sizeof(out), text, length);
		for (size_t i = 0; i < written; i++)
			if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f)
				ck_abort_msg("control byte in \"%s\"", out);
		free(text);
	}
}
END_TEST

/* As json.loads() of Python reads it: nothing is lost but invalid bytes. */
START_TEST(text_in_json)
{
	static const struct {
		const char *text, *escaped;
	} cases[] = {
		{ "", "" },
		{ "a\"b\\c/", "a\\\"b\\\\c/" },
		{ "\x1b[1m\n\x7f", "\\u001b[1m\\u000a\\u007f" },
		{ "\xc3\xbc\xf0\x9f\x98\x80", "\xc3\xbc\xf0\x9f\x98\x80" },
		{ "\xe2\x80\xae\xc2\x9b", "\\u202e\\u009b" },
		{ "\xff\xed\xa0\x80", "\\\\xff\\\\xed\\\\xa0\\\\x80" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = strlen(cases[i].text);
		char *out = malloc(6 * length + 1);
		size_t used = fs_json_escape(out, cases[i].text, length);

		ck_assert_uint_eq(used, strlen(cases[i].escaped));
		ck_assert_int_eq(memcmp(out, cases[i].escaped, used), 0);
		free(out);
	}
}
END_TEST

START_TEST(hex)
{
	char out[9];

	fs_hex(out, (const uint8_t[]){ 0, 0x0f, 0xa5, 0xff }, 4);
	ck_assert_str_eq(out, "000fa5ff");
	fs_hex(out, NULL, 0);
	ck_assert_str_eq(out, "");
}
END_TEST

/* ---- error.h, reader.h, vector.h ---- */

START_TEST(errors)
{
	struct fs_error error = { 0 };
	char longer[2000];

	ck_assert_int_eq(fs_fail(NULL, FS_REFUSED, "%s", "x"), FS_REFUSED);
	ck_assert_int_eq(fs_fail(&error, FS_OUTPUT, "%s: \x1b[2J", "name"), FS_OUTPUT);
	ck_assert_int_eq(error.code, FS_OUTPUT);
	ck_assert_str_eq(error.text, "name: \\x1b[2J");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	fs_fail(&error, FS_REFUSED, "%s", longer);
	ck_assert_uint_eq(strlen(error.text), sizeof(error.text) - 1);
	ck_assert_int_eq(fs_exit_of(0), 0);
	ck_assert_int_eq(fs_exit_of(FS_USAGE), 1);
	ck_assert_int_eq(fs_exit_of(FS_REFUSED), 2);
	ck_assert_int_eq(fs_exit_of(FS_OUTPUT), 4);
	ck_assert_int_eq(fs_exit_of(FS_NOMEM), 4);
	ck_assert_int_eq(fs_exit_of(FS_INTERNAL), 5);
}
END_TEST

START_TEST(a_reader_stops_where_its_bytes_do)
{
	uint8_t *bytes = malloc(15);
	struct fs_reader reader;

	for (uint8_t i = 0; i < 15; i++)
		bytes[i] = i + 1;
	reader = fs_reader_of(bytes, 15);
	ck_assert_uint_eq(fs_read_u8(&reader), 0x01);
	ck_assert_uint_eq(fs_read_u16(&reader), 0x0302);
	ck_assert_uint_eq(fs_read_u32(&reader), 0x07060504);
	ck_assert_uint_eq(fs_read_u64(&reader), 0x0f0e0d0c0b0a0908);
	ck_assert_uint_eq(fs_reader_left(&reader), 0);
	ck_assert(!reader.failed);
	ck_assert_ptr_nonnull(fs_read_bytes(&reader, 0));
	ck_assert_uint_eq(fs_read_u8(&reader), 0);
	ck_assert(reader.failed);
	reader = fs_reader_of(bytes, 15);
	ck_assert_ptr_null(fs_read_bytes(&reader, SIZE_MAX));
	ck_assert(reader.failed);
	ck_assert_uint_eq(reader.offset, 0);
	ck_assert_uint_eq(fs_reader_left(&reader), 0);
	/* a failure stays: what would fit gives zero too */
	ck_assert_uint_eq(fs_read_u8(&reader), 0);
	ck_assert_ptr_null(fs_read_bytes(&reader, 1));
	free(bytes);
}
END_TEST

START_TEST(vectors_grow_zeroed)
{
	uint64_t *items = NULL;
	size_t capacity = 0;

	for (size_t count = 0; count < 5000; count++) {
		ck_assert_int_eq(FS_RESERVE(items, capacity, count + 1), 0);
		ck_assert_uint_gt(capacity, count);
		if (items[count])
			ck_abort();
		items[count] = count + 1;
	}
	for (size_t i = 0; i < 5000; i++)
		if (items[i] != i + 1)
			ck_abort();
	ck_assert_uint_lt(capacity, 2 * 5000 + 16);
	/* what cannot be had changes nothing */
	ck_assert_int_eq(fs_vector_reserve((void **)&items, &capacity, SIZE_MAX, 8), FS_NOMEM);
	ck_assert_int_eq(fs_vector_reserve((void **)&items, &capacity, SIZE_MAX / 8 + 1, 8),
			 FS_NOMEM);
	ck_assert_uint_eq(items[4999], 5000);
	ck_assert_uint_lt(capacity, 2 * 5000 + 16);
	free(items);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text");
	TCase *tests = tcase_create("text");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, text_becomes_harmless, 0,
			    (int)(sizeof(escapes) / sizeof(escapes[0])));
	tcase_add_test(tests, a_full_buffer_ends_at_a_character);
	tcase_add_test(tests, random_bytes_become_one_line);
	tcase_add_test(tests, text_in_json);
	tcase_add_test(tests, hex);
	tcase_add_test(tests, errors);
	tcase_add_test(tests, a_reader_stops_where_its_bytes_do);
	tcase_add_test(tests, vectors_grow_zeroed);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
