/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/tracepoint/tracepoint.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "ingest/tracepoint/tracing_data.h"

/* For LeakSanitizer: libtraceevent forgets what it has read of a format that it then refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

/* tracing_data as perf writes it, in either byte order. */
struct writer {
	uint8_t bytes[1 << 16];
	size_t used;
	bool big_endian;
};

static void put_bytes(struct writer *writer, const void *bytes, size_t size)
{
	ck_assert_uint_le(size, sizeof(writer->bytes) - writer->used);
	memcpy(writer->bytes + writer->used, bytes, size);
	writer->used += size;
}

static void put_u32(struct writer *writer, uint32_t value)
{
	value = writer->big_endian ? __builtin_bswap32(value) : value;
	put_bytes(writer, &value, 4);
}

static void put_u64(struct writer *writer, uint64_t value)
{
	value = writer->big_endian ? __builtin_bswap64(value) : value;
	put_bytes(writer, &value, 8);
}

static void put_string(struct writer *writer, const char *text)
{
	put_bytes(writer, text, strlen(text) + 1);
}

static void put_sized(struct writer *writer, const char *text)
{
	put_u64(writer, strlen(text));
	put_bytes(writer, text, strlen(text));
}

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char sched_switch[] =
	"name: sched_switch\nID: 317\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\nprint fmt: \"prev_comm=%s\", REC->prev_comm, ((((( not to be read\n";

static const char shapes[] = "name: shapes\nID: 12\n" COMMON
			     "\tfield:__data_loc char[] path;\toffset:8;\tsize:4;\tsigned:0;\n"
			     "\tfield:__rel_loc char[] near;\toffset:12;\tsize:4;\tsigned:0;\n"
			     "\tfield:unsigned long args[2];\toffset:16;\tsize:16;\tsigned:0;\n"
			     "\tfield:unsigned char mac[3];\toffset:32;\tsize:3;\tsigned:0;\n"
			     "\tfield:struct pair both;\toffset:36;\tsize:12;\tsigned:0;\n"
			     "\tfield:u64 address;\toffset:48;\tsize:8;\tsigned:0;\n"
			     "\tfield:s8 small;\toffset:56;\tsize:1;\tsigned:1;\n"
			     "\tfield:char rest[];\toffset:57;\tsize:0;\tsigned:0;\n"
			     "\nprint fmt: \"\"\n";

static void put_head(struct writer *writer, unsigned int long_size)
{
	put_bytes(writer, "\x17\x08\x44tracing", 10);
	put_string(writer, "0.6");
	put_bytes(writer, writer->big_endian ? "\1" : "\0", 1);
	put_bytes(writer, long_size == 8 ? "\10" : "\4", 1);
	put_u32(writer, 4096);
	put_string(writer, "header_page");
	put_sized(writer, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
	put_string(writer, "header_event");
	put_sized(writer, "# compressed entry header\n");
	put_u32(writer, 1);
	put_sized(writer, "name: function\nID: 1\nformat:\n nonsense");
}

static void put_tail(struct writer *writer)
{
	put_u32(writer, 0);
	put_u32(writer, 4);
	put_bytes(writer, "0x0\n", 4);
	put_sized(writer, "1 init\n");
}

static void put_all(struct writer *writer, unsigned int long_size)
{
	writer->used = 0;
	put_head(writer, long_size);
	put_u32(writer, 2);
	put_string(writer, "sched");
	put_u32(writer, 2);
	put_sized(writer, sched_switch);
	put_sized(writer, "name: damaged\nID: 318\nformat:\n\tfield:int;\n");
	put_string(writer, "made");
	put_u32(writer, 1);
	put_sized(writer, shapes);
	put_tail(writer);
}

static struct writer writer;
static struct fs_tracepoints tracepoints;
static struct fs_error error;

static void setup(void)
{
	memset(&writer, 0, sizeof(writer));
	fs_tracepoints_init(&tracepoints);
}

static void teardown(void)
{
	fs_tracepoints_free(&tracepoints);
}

static const char *text_of(uint32_t id)
{
	return fs_interned(&tracepoints.strings, id, NULL);
}

/* 32 and 64 bits, both byte orders, through the helper. */
START_TEST(test_formats)
{
	const struct fs_tracepoint *found;
	const struct fs_tracepoint_field *field;

	writer.big_endian = _i & 1;
	put_all(&writer, _i & 2 ? 8 : 4);
	ck_assert_int_eq(fs_tracing_data_read(writer.bytes, writer.used, FS_HELPER_SOUND,
					      &tracepoints, &error),
			 0);
	ck_assert_uint_eq(tracepoints.count, 2);
	ck_assert_uint_eq(tracepoints.bad_formats, 1);
	ck_assert(!tracepoints.cut);
	found = fs_tracepoint_find(&tracepoints, 317);
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(text_of(found->system), "sched");
	ck_assert_str_eq(text_of(found->name), "sched_switch");
	ck_assert_uint_eq(found->field_count, 6);
	field = fs_tracepoint_field_find(&tracepoints, found, "prev_comm");
	ck_assert_uint_eq(field->flags, FS_FIELD_STRING | FS_FIELD_ARRAY);
	ck_assert_uint_eq(field->offset, 8);
	ck_assert_uint_eq(field->size, 16);
	field = fs_tracepoint_field_find(&tracepoints, found, "common_pid");
	ck_assert_uint_eq(field->flags, FS_FIELD_COMMON | FS_FIELD_SIGNED);
	ck_assert_ptr_null(fs_tracepoint_field_find(&tracepoints, found, "address"));
	found = fs_tracepoint_find(&tracepoints, 12);
	field = fs_tracepoint_field_find(&tracepoints, found, "near");
	ck_assert_uint_eq(field->flags,
			  FS_FIELD_STRING | FS_FIELD_ARRAY | FS_FIELD_DYNAMIC | FS_FIELD_RELATIVE);
	ck_assert_ptr_null(fs_tracepoint_find(&tracepoints, 318));
	ck_assert_ptr_null(fs_tracepoint_find(&tracepoints, 1));
}
END_TEST

/* Cut anywhere, what was described before the cut stays; nothing reads beyond it. */
START_TEST(test_cut)
{
	size_t size;

	put_all(&writer, 8);
	size = writer.used;
	for (size_t cut = 0; cut < size; cut += 7) {
		uint8_t *exact = malloc(cut ? cut : 1);
		int code;

		memcpy(exact, writer.bytes, cut);
		code = fs_tracing_data_parse(exact, cut, &tracepoints, &error);
		ck_assert_int_eq(code, cut < 20 ? FS_REFUSED : 0);
		ck_assert(code || tracepoints.cut);
		free(exact);
		teardown();
		fs_tracepoints_init(&tracepoints);
	}
}
END_TEST

/* Sizes and counts that the data cannot hold. */
START_TEST(test_absurd)
{
	put_head(&writer, 8);
	put_u32(&writer, UINT32_MAX);
	put_string(&writer, "sched");
	put_u32(&writer, UINT32_MAX);
	put_sized(&writer, sched_switch);
	put_u64(&writer, UINT64_MAX - 3);
	ck_assert_int_eq(fs_tracing_data_parse(writer.bytes, writer.used, &tracepoints, &error), 0);
	ck_assert(tracepoints.cut);
	ck_assert_uint_eq(tracepoints.count, 1);
}
END_TEST

static void check_bad_format(const char *format)
{
	setup();
	put_head(&writer, 8);
	put_u32(&writer, 1);
	put_string(&writer, "made");
	put_u32(&writer, 1);
	put_sized(&writer, format);
	put_tail(&writer);
	ck_assert_int_eq(fs_tracing_data_parse(writer.bytes, writer.used, &tracepoints, &error), 0);
	ck_assert_uint_eq(tracepoints.count, 0);
	ck_assert_uint_eq(tracepoints.bad_formats, 1);
	teardown();
}

START_TEST(test_bad_formats)
{
	teardown();
	check_bad_format("");
	check_bad_format("name: x\nID: -1\n" COMMON "\nprint fmt: \"\"\n");
	check_bad_format("name: x\nID: 3\n" COMMON
			 "\tfield:int a;\toffset:70000;\tsize:4;\tsigned:1;\n\n");
	check_bad_format("name: x\nID: 3\n" COMMON
			 "\tfield:int a;\toffset:8;\tsize:4294967295;\tsigned:1;\n\n");
	check_bad_format("name: x\nID: 3\n" COMMON
			 "\tfield:__data_loc char[] a;\toffset:8;\tsize:2;\tsigned:1;\n\n");
	/* libtraceevent 1.7.1 ends at a NULL pointer in these */
	check_bad_format("name: x\nID: 3\n" COMMON
			 "\tfield:long a[\n];\toffset:8;\tsize:16;\tsigned:0;\n\n");
	check_bad_format("name: x\nID: 3\n" COMMON
			 "\tfield:char a[};\toffset:8;\tsize:0;\tsigned:0;\n\n");
	check_bad_format("name: x\nID: 3\n" COMMON
			 "\tfield:char a[\xf1];\toffset:8;\tsize:0;\tsigned:0;\n\n");
	check_bad_format("name: x\nID: 3\n" COMMON
			 "\tfield:char a[\"]\";\toffset:8;\tsize:0;\tsigned:0;\n\n");
	setup();
}
END_TEST

START_TEST(test_no_tracing_data)
{
	ck_assert_int_eq(fs_tracing_data_read((const uint8_t *)"\x17\x08\x44tracinG0.6", 14,
					      FS_HELPER_SOUND, &tracepoints, &error),
			 FS_REFUSED);
	ck_assert_ptr_nonnull(strstr(error.text, "does not begin as tracing data does"));
}
END_TEST

/* The helper dies, hangs or lies: no formats, and a sentence. */
START_TEST(test_faults)
{
	static const struct {
		enum fs_helper_fault fault;
		const char *reason;
	} faults[] = {
		{ FS_HELPER_CRASH, "signal" },
		{ FS_HELPER_GARBAGE, "malformed" },
		{ FS_HELPER_VANISH, "no answer" },
		{ FS_HELPER_HANG, "longer than" },
	};

	put_all(&writer, 8);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		ck_assert_int_eq(fs_tracing_data_read(writer.bytes, writer.used, faults[i].fault,
						      &tracepoints, &error),
				 FS_REFUSED);
		ck_assert_msg(strstr(error.text, faults[i].reason), "%s", error.text);
		ck_assert_uint_eq(tracepoints.count, 0);
	}
}
END_TEST

/* ---- raw data ---- */

static void check_json(uint64_t id, const struct writer *raw, size_t size, bool whole,
		       const char *expected)
{
	struct fs_json json = { 0 };
	uint8_t *exact = malloc(size ? size : 1);
	bool is_whole;

	memcpy(exact, raw->bytes, size);
	ck_assert_int_eq(fs_tracepoint_json(&tracepoints, fs_tracepoint_find(&tracepoints, id),
					    exact, size, raw->big_endian, &json, &is_whole),
			 0);
	free(exact);
	ck_assert_int_eq(is_whole, whole);
	ck_assert_uint_eq(json.used, strlen(expected));
	ck_assert_msg(!memcmp(json.bytes, expected, json.used), "%.*s", (int)json.used, json.bytes);
	free(json.bytes);
}

static void make_switch(struct writer *raw)
{
	*raw = (struct writer){ .big_endian = raw->big_endian };
	put_u32(raw, 317);
	put_u32(raw, 1);
	put_bytes(raw, "a\"\\\x1b\xff\xc3\xa9\0secretive", 16);
	put_u32(raw, 4711);
	put_u32(raw, (uint32_t)-20);
	put_u64(raw, (uint64_t)-2);
}

START_TEST(test_numbers_and_strings)
{
	static struct writer raw;
	int64_t value;
	const struct fs_tracepoint *found;

	raw.big_endian = writer.big_endian = _i;
	put_all(&writer, 8);
	ck_assert_int_eq(fs_tracing_data_parse(writer.bytes, writer.used, &tracepoints, &error), 0);
	make_switch(&raw);
	check_json(317, &raw, raw.used, true,
		   "{\"prev_comm\":\"a\\\"\\\\\\u001b\\\\xff\xc3\xa9\",\"prev_pid\":4711,"
		   "\"prev_prio\":-20,\"prev_state\":-2}");
	check_json(317, &raw, 30, false,
		   "{\"prev_comm\":\"a\\\"\\\\\\u001b\\\\xff\xc3\xa9\",\"prev_pid\":4711}");
	check_json(317, &raw, 3, false, "{}");
	check_json(4, &raw, 0, false, "{\"raw\":\"0x\"}");
	found = fs_tracepoint_find(&tracepoints, 317);
	ck_assert(fs_tracepoint_number(fs_tracepoint_field_find(&tracepoints, found, "prev_prio"),
				       raw.bytes, raw.used, raw.big_endian, &value));
	ck_assert_int_eq(value, -20);
	ck_assert(!fs_tracepoint_number(fs_tracepoint_field_find(&tracepoints, found, "prev_prio"),
					raw.bytes, 31, raw.big_endian, &value));
	ck_assert(!fs_tracepoint_number(fs_tracepoint_field_find(&tracepoints, found, "prev_comm"),
					raw.bytes, raw.used, raw.big_endian, &value));
}
END_TEST

START_TEST(test_shapes)
{
	static struct writer raw;

	raw = (struct writer){ .big_endian = _i };
	writer.big_endian = _i;
	put_all(&writer, 8);
	ck_assert_int_eq(fs_tracing_data_parse(writer.bytes, writer.used, &tracepoints, &error), 0);
	put_u32(&raw, 12);
	put_u32(&raw, 1);
	put_u32(&raw, 5 << 16 | 60);
	put_u32(&raw, 3 << 16 | 49); /* 16 + 49: behind the first string */
	put_u64(&raw, 1);
	put_u64(&raw, UINT64_MAX);
	put_bytes(&raw, "\1\2\xff\0ABCDEFGHIJKL", 16);
	put_u64(&raw, 0xffff800000000000);
	put_bytes(&raw, "\x80yz\0/tmp\0ab\0", 12);
	check_json(12, &raw, raw.used, true,
		   "{\"path\":\"/tmp\",\"near\":\"ab\",\"args\":[1,-1],\"mac\":[1,2,255],"
		   "\"both\":\"0x4142434445464748494a4b4c\",\"address\":-140737488355328,"
		   "\"small\":-128,\"rest\":\"yz\"}");
	/* the dynamic data is cut off: those fields are not there */
	check_json(12, &raw, 60, false,
		   "{\"args\":[1,-1],\"mac\":[1,2,255],"
		   "\"both\":\"0x4142434445464748494a4b4c\",\"address\":-140737488355328,"
		   "\"small\":-128,\"rest\":\"yz\"}");
}
END_TEST

/* Fields that lie over each other must not blow raw data up. */
START_TEST(test_overlap)
{
	static struct writer raw;
	struct fs_json json = { 0 };
	struct fs_tracepoint_field field = { .offset = 0, .size = 20000, .flags = FS_FIELD_ARRAY };
	bool flag;

	raw = (struct writer){ .used = 20000 };
	ck_assert_int_eq(fs_intern(&tracepoints.strings, "f", 1, &field.name), 0);
	ck_assert_int_eq(fs_tracepoints_add(&tracepoints, 5, 0, 0, &flag), 0);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(fs_tracepoints_add_field(&tracepoints, &field), 0);
	ck_assert_int_eq(fs_tracepoint_json(&tracepoints, fs_tracepoint_find(&tracepoints, 5),
					    raw.bytes, raw.used, false, &json, &flag),
			 0);
	ck_assert(!flag);
	ck_assert_uint_eq(json.used, 2 * 20000 + strlen("{\"raw\":\"0x\"}"));
	ck_assert_int_eq(memcmp(json.bytes, "{\"raw\":\"0x00", 12), 0);
	free(json.bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracepoint");
	TCase *formats = tcase_create("formats");
	TCase *raw = tcase_create("raw");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(formats, setup, teardown);
	tcase_add_loop_test(formats, test_formats, 0, 4);
	tcase_add_test(formats, test_cut);
	tcase_add_test(formats, test_absurd);
	tcase_add_test(formats, test_bad_formats);
	tcase_add_test(formats, test_no_tracing_data);
	tcase_add_test(formats, test_faults);
	suite_add_tcase(suite, formats);
	tcase_add_checked_fixture(raw, setup, teardown);
	tcase_add_loop_test(raw, test_numbers_and_strings, 0, 2);
	tcase_add_loop_test(raw, test_shapes, 0, 2);
	tcase_add_test(raw, test_overlap);
	suite_add_tcase(suite, raw);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
