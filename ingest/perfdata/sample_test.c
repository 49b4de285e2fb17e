/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An encoder written from the order of fields in the kernel's perf_event.h (PERF_RECORD_SAMPLE),
 * against the decoder. Every buffer has its exact size, so that AddressSanitizer sees a byte too
 * far.
 */
#include "ingest/perfdata/sample.h"

#include <check.h>
#include <stdlib.h>

#include "common/test_random.h"
#include "ingest/perfdata/test_writer.h"

#define HW_INDEX (1ull << 17)
#define BRANCH_COUNTERS (1ull << 19)

enum { COMBINATIONS = 2000, READS_MAX = 5 };

/* What went into an encoded sample. */
struct expected {
	struct fs_sample sample;
	uint64_t chain[4];
	uint8_t raw[64];
	struct fs_read_value reads[READS_MAX];
	size_t read_count;
	size_t head_size; /* bytes up to and with PERIOD */
};

/* ---- the encoder ---- */

static uint64_t number(struct test_bytes *out, uint64_t *random)
{
	uint64_t value = test_random(random);

	test_put_u64(out, value);
	return value;
}

static void put_head(struct test_bytes *out, const struct fs_attr *attr, uint64_t *random,
		     struct expected *want)
{
	uint64_t type = attr->sample_type;

	if (type & 1u << 16)
		want->sample.id = number(out, random);
	if (type & 1u << 0)
		want->sample.ip = number(out, random);
	if (type & 1u << 1) {
		want->sample.pid = (uint32_t)test_random(random);
		want->sample.tid = (uint32_t)test_random(random);
		test_put_u32(out, want->sample.pid);
		test_put_u32(out, want->sample.tid);
	}
	if (type & 1u << 2)
		want->sample.time = number(out, random);
	if (type & 1u << 3)
		want->sample.addr = number(out, random);
	if (type & 1u << 6)
		want->sample.id = number(out, random);
	if (type & 1u << 9)
		number(out, random);
	if (type & 1u << 7) {
		want->sample.cpu = (uint32_t)test_random(random);
		test_put_u32(out, want->sample.cpu);
		test_put_u32(out, 0);
	}
	want->sample.period = attr->flags & FS_ATTR_FREQ ? 0 : attr->sample_period;
	if (type & 1u << 8)
		want->sample.period = number(out, random);
	want->head_size = out->size;
}

/* | value, [enabled], [running], [id], [lost] | or
 * | nr, [enabled], [running], nr * {value, [id], [lost]} | */
static void put_read(struct test_bytes *out, const struct fs_attr *attr, uint64_t *random,
		     struct expected *want)
{
	uint64_t format = attr->read_format;
	uint64_t enabled = 0;
	uint64_t running = 0;
	uint64_t value = 0;

	want->read_count = 1;
	if (format & 8) {
		want->read_count = test_below(random, READS_MAX);
		test_put_u64(out, want->read_count);
	} else {
		value = number(out, random);
	}
	if (format & 1)
		enabled = number(out, random);
	if (format & 2)
		running = number(out, random);
	for (size_t i = 0; i < want->read_count; i++) {
		struct fs_read_value *read = &want->reads[i];

		*read = (struct fs_read_value){ .time_enabled = enabled, .time_running = running };
		read->value = format & 8 ? number(out, random) : value;
		if (format & 4)
			read->id = number(out, random);
		if (format & 16)
			number(out, random);
	}
}

static void put_branches(struct test_bytes *out, const struct fs_attr *attr, uint64_t *random)
{
	size_t count = test_below(random, 4);

	test_put_u64(out, count);
	/* a kernel that had none to give writes no index either */
	if (attr->branch_sample_type & HW_INDEX && (count || test_below(random, 2)))
		number(out, random);
	for (size_t i = 0; i < 3 * count; i++)
		number(out, random);
	for (size_t i = 0; attr->branch_sample_type & BRANCH_COUNTERS && i < count; i++)
		number(out, random);
}

static void put_registers(struct test_bytes *out, uint64_t mask, uint64_t *random)
{
	uint64_t abi = test_below(random, 3);

	test_put_u64(out, abi);
	for (unsigned int bit = 0; abi && bit < 64; bit++)
		if (mask >> bit & 1)
			number(out, random);
}

static void put_variable(struct test_bytes *out, const struct fs_attr *attr, uint64_t *random,
			 struct expected *want)
{
	uint64_t type = attr->sample_type;

	if (type & 1u << 4)
		put_read(out, attr, random, want);
	if (type & 1u << 5) {
		want->sample.chain_length = test_below(random, 5);
		test_put_u64(out, want->sample.chain_length);
		for (size_t i = 0; i < want->sample.chain_length; i++)
			want->chain[i] = number(out, random);
	}
	if (type & 1u << 10) {
		want->sample.raw_size = test_below(random, 8) * 8 + 4;
		test_put_u32(out, (uint32_t)want->sample.raw_size);
		for (size_t i = 0; i < want->sample.raw_size; i++)
			want->raw[i] = (uint8_t)test_random(random);
		test_put(out, want->raw, want->sample.raw_size);
	}
	if (type & 1u << 11)
		put_branches(out, attr, random);
	if (type & 1u << 12)
		put_registers(out, attr->sample_regs_user, random);
	if (type & 1u << 13) {
		uint64_t size = test_below(random, 3) * 16;

		test_put_u64(out, size);
		for (uint64_t i = 0; i < size / 8; i++)
			number(out, random);
		if (size)
			number(out, random); /* dyn_size */
	}
}

static void put_memory(struct test_bytes *out, const struct fs_attr *attr, uint64_t *random,
		       struct expected *want)
{
	uint64_t type = attr->sample_type;

	if (type & (1u << 14 | 1u << 24))
		want->sample.weight = number(out, random);
	if (type & 1u << 15)
		want->sample.data_src = number(out, random);
	if (type & 1u << 17)
		number(out, random);
	if (type & 1u << 18)
		put_registers(out, attr->sample_regs_intr, random);
	if (type & 1u << 19)
		want->sample.phys_addr = number(out, random);
	if (type & 1u << 21)
		number(out, random);
	if (type & 1u << 22)
		want->sample.data_page_size = number(out, random);
	if (type & 1u << 23)
		want->sample.code_page_size = number(out, random);
	if (type & 1u << 20) {
		uint64_t size = test_below(random, 4) * 8;

		test_put_u64(out, size);
		for (uint64_t i = 0; i < size / 8; i++)
			number(out, random);
	}
}

static void encode(struct test_bytes *out, const struct fs_attr *attr, uint64_t *random,
		   struct expected *want)
{
	*want = (struct expected){ 0 };
	out->size = 0;
	put_head(out, attr, random, want);
	put_variable(out, attr, random, want);
	put_memory(out, attr, random, want);
}

/* Random attr of a sample type. */
static struct fs_attr make_attr(uint64_t sample_type, uint64_t *random)
{
	struct fs_attr attr = {
		.sample_type = sample_type,
		.sample_period = 1 + test_below(random, 100000),
		.read_format = test_below(random, 32),
		.flags = test_below(random, 2) ? FS_ATTR_FREQ : 0,
		.branch_sample_type = (test_below(random, 2) ? HW_INDEX : 0) |
				      (test_below(random, 2) ? BRANCH_COUNTERS : 0) | 1,
		.sample_regs_user = test_random(random) & test_random(random),
		.sample_regs_intr = test_random(random) & test_random(random),
	};

	return attr;
}

/* ---- the checks ---- */

/* Decode from a buffer of exactly this size. */
static enum fs_sample_result decode_exact(const struct fs_attr *attr, const uint8_t *bytes,
					  size_t size, struct fs_sample *ret_sample,
					  uint8_t **ret_copy)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct fs_reader reader;

	if (size)
		memcpy(copy, bytes, size);
	reader = fs_reader_of(copy, size);
	*ret_copy = copy;
	return fs_sample_decode(attr, &reader, ret_sample);
}

static bool reads_are(const struct fs_attr *attr, const struct fs_sample *sample,
		      const struct expected *want)
{
	struct fs_read_value value;
	size_t state = 0;

	for (size_t i = 0; i < want->read_count; i++) {
		const struct fs_read_value *read = &want->reads[i];

		if (!fs_sample_read_next(attr, sample, &state, &value) ||
		    value.value != read->value || value.id != read->id ||
		    value.time_enabled != read->time_enabled ||
		    value.time_running != read->time_running)
			return false;
	}
	return !fs_sample_read_next(attr, sample, &state, &value);
}

static void check_whole(const struct fs_attr *attr, const struct test_bytes *bytes,
			const struct expected *want)
{
	const struct fs_sample *sample = &want->sample;
	struct fs_sample got;
	uint8_t *copy;

	ck_assert_int_eq(decode_exact(attr, bytes->data, bytes->size, &got, &copy),
			 FS_SAMPLE_WHOLE);
	ck_assert_uint_eq(got.id, sample->id);
	ck_assert_uint_eq(got.ip, sample->ip);
	ck_assert_uint_eq(got.pid, sample->pid);
	ck_assert_uint_eq(got.tid, sample->tid);
	ck_assert_uint_eq(got.time, sample->time);
	ck_assert_uint_eq(got.addr, sample->addr);
	ck_assert_uint_eq(got.cpu, sample->cpu);
	ck_assert_uint_eq(got.period, sample->period);
	ck_assert_uint_eq(got.weight, sample->weight);
	ck_assert_uint_eq(got.data_src, sample->data_src);
	ck_assert_uint_eq(got.phys_addr, sample->phys_addr);
	ck_assert_uint_eq(got.data_page_size, sample->data_page_size);
	ck_assert_uint_eq(got.code_page_size, sample->code_page_size);
	ck_assert_uint_eq(got.chain_length, sample->chain_length);
	if (got.chain_length)
		ck_assert_mem_eq(got.chain, want->chain, 8 * got.chain_length);
	ck_assert_uint_eq(got.raw_size, sample->raw_size);
	if (got.raw_size)
		ck_assert_mem_eq(got.raw, want->raw, got.raw_size);
	if (attr->sample_type & FS_SAMPLE_READ)
		ck_assert(reads_are(attr, &got, want));
	else
		ck_assert_ptr_null(got.read);
	free(copy);
}

/*
 * Fields cut off anywhere make a sample short. Only an empty branch stack can be read in two ways
 * (see sample.c), where a cut may look like the other one.
 */
static void check_cut(const struct fs_attr *attr, const struct test_bytes *bytes)
{
	bool ambiguous =
		attr->sample_type & FS_SAMPLE_BRANCH_STACK && attr->branch_sample_type & HW_INDEX;
	unsigned int wrong = 0;

	for (size_t size = 0; size < bytes->size; size++) {
		struct fs_sample got;
		uint8_t *copy;
		enum fs_sample_result result = decode_exact(attr, bytes->data, size, &got, &copy);

		wrong += result != FS_SAMPLE_SHORT && !ambiguous;
		free(copy);
	}
	ck_assert_uint_eq(wrong, 0);
}

static void check_tail(const struct fs_attr *attr, struct test_bytes *bytes)
{
	static const uint8_t more[24];
	struct fs_sample got;
	uint8_t *copy;

	test_put(bytes, more, sizeof(more));
	ck_assert_int_eq(decode_exact(attr, bytes->data, bytes->size, &got, &copy), FS_SAMPLE_TAIL);
	free(copy);
}

static void check_type(uint64_t sample_type, uint64_t *random)
{
	struct fs_attr attr = make_attr(sample_type, random);
	struct test_bytes bytes = { 0 };
	struct expected want;

	encode(&bytes, &attr, random, &want);
	check_whole(&attr, &bytes, &want);
	check_cut(&attr, &bytes);
	check_tail(&attr, &bytes);
	free(bytes.data);
}

START_TEST(each_field_alone)
{
	uint64_t random = 0x5eed0010 + (uint64_t)_i;

	for (int round = 0; round < 30; round++)
		check_type(1ull << _i, &random);
	check_type(0, &random);
}
END_TEST

START_TEST(fields_in_random_combinations)
{
	uint64_t random = 0x5eed0020;

	for (int round = 0; round < COMBINATIONS; round++)
		check_type(test_random(&random) & FS_SAMPLE_KNOWN, &random);
}
END_TEST

START_TEST(every_read_format)
{
	uint64_t random = 0x5eed0030;

	for (uint64_t format = 0; format < 32; format++)
		for (int round = 0; round < 10; round++) {
			struct fs_attr attr = make_attr(FS_SAMPLE_READ | FS_SAMPLE_IP, &random);
			struct test_bytes bytes = { 0 };
			struct expected want;

			attr.read_format = format;
			encode(&bytes, &attr, &random, &want);
			check_whole(&attr, &bytes, &want);
			check_cut(&attr, &bytes);
			free(bytes.data);
		}
}
END_TEST

/* Counts and sizes of 2^31, 2^61, 2^63, 2^64 - 1, one more than there is. */
START_TEST(counts_beyond_the_record)
{
	static const uint64_t types[] = {
		FS_SAMPLE_READ,	      FS_SAMPLE_CALLCHAIN, FS_SAMPLE_BRANCH_STACK,
		FS_SAMPLE_STACK_USER, FS_SAMPLE_AUX,	   FS_SAMPLE_RAW,
	};
	static const uint64_t counts[] = {
		1,
		1ull << 31,
		1ull << 32,
		1ull << 60,
		1ull << 61,
		(1ull << 61) + 1,
		1ull << 62,
		1ull << 63,
		UINT64_MAX / 24 + 1,
		UINT64_MAX - 7,
		UINT64_MAX,
	};
	struct fs_attr attr = {
		.sample_type = types[_i],
		.read_format = FS_READ_GROUP | FS_READ_ID | FS_READ_LOST,
		.branch_sample_type = HW_INDEX | BRANCH_COUNTERS,
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct fs_sample got;
		uint8_t *copy;
		enum fs_sample_result result = decode_exact(&attr, (const uint8_t *)&counts[i],
							    sizeof(counts[i]), &got, &copy);
		/* RAW has a size of 32 bits, and the other 32 are its data */
		bool fits = attr.sample_type == FS_SAMPLE_RAW && (uint32_t)counts[i] < 4;

		ck_assert_int_eq(result, fits ? FS_SAMPLE_TAIL : FS_SAMPLE_SHORT);
		free(copy);
	}
}
END_TEST

/* An event with fields of the future: what stands before them is read. */
START_TEST(unknown_bits_leave_the_head)
{
	uint64_t random = 0x5eed0040 + (uint64_t)_i;

	for (int round = 0; round < 20; round++) {
		uint64_t known = test_random(&random) & FS_SAMPLE_KNOWN;
		struct fs_attr attr = make_attr(known, &random);
		struct test_bytes bytes = { 0 };
		struct expected want;
		struct fs_sample got;
		uint8_t *copy;

		encode(&bytes, &attr, &random, &want);
		attr.sample_type |= 1ull << _i;
		ck_assert_int_eq(decode_exact(&attr, bytes.data, bytes.size, &got, &copy),
				 want.head_size == bytes.size ? FS_SAMPLE_WHOLE : FS_SAMPLE_TAIL);
		ck_assert_uint_eq(got.ip, want.sample.ip);
		ck_assert_uint_eq(got.addr, want.sample.addr);
		ck_assert_uint_eq(got.period, want.sample.period);
		ck_assert_uint_eq(got.weight, 0);
		ck_assert_uint_eq(got.chain_length, 0);
		ck_assert_ptr_null(got.read);
		free(copy);
		if (want.head_size) {
			ck_assert_int_eq(
				decode_exact(&attr, bytes.data, want.head_size - 1, &got, &copy),
				FS_SAMPLE_SHORT);
			free(copy);
		}
		free(bytes.data);
	}
}
END_TEST

/* nr = 0 with and without hw_idx, where something follows and where nothing does. */
START_TEST(an_empty_branch_stack_is_read_by_what_fits)
{
	struct fs_attr attr = {
		.sample_type = FS_SAMPLE_BRANCH_STACK | (_i & 2 ? FS_SAMPLE_DATA_SRC : 0),
		.branch_sample_type = HW_INDEX,
	};
	struct test_bytes bytes = { 0 };
	struct fs_sample got;
	uint8_t *copy;

	test_put_u64(&bytes, 0);
	if (_i & 1)
		test_put_u64(&bytes, 77);
	if (_i & 2)
		test_put_u64(&bytes, 0x1234);
	ck_assert_int_eq(decode_exact(&attr, bytes.data, bytes.size, &got, &copy), FS_SAMPLE_WHOLE);
	ck_assert_uint_eq(got.data_src, _i & 2 ? 0x1234 : 0);
	free(copy);
	free(bytes.data);
}
END_TEST

/* ---- trailers and the position of the id ---- */

/* All 64 combinations of the fields that a trailer can have. */
START_TEST(trailers_in_all_combinations)
{
	static const unsigned int bits[] = { 1, 2, 6, 9, 7, 16 };
	uint64_t random = 0x5eed0050;
	struct test_bytes bytes = { 0 };

	for (unsigned int combination = 0; combination < 64; combination++) {
		struct fs_attr attr = { .flags = FS_ATTR_SAMPLE_ID_ALL,
					.sample_type = test_random(&random) & FS_SAMPLE_IP };
		uint64_t word[6];
		unsigned int words = 0;
		struct fs_reader payload;
		struct fs_sample_id id;

		bytes.size = 0;
		test_put_u64(&bytes, 0xb0d7);
		for (unsigned int i = 0; i < 6; i++) {
			if (!(combination >> i & 1))
				continue;
			attr.sample_type |= 1ull << bits[i];
			word[i] = number(&bytes, &random);
			words++;
		}
		payload = fs_reader_of(bytes.data, bytes.size);
		fs_sample_id_take(&attr, &payload, &id);
		ck_assert_uint_eq(payload.size, 8);
		ck_assert_int_eq(id.has_tid, combination & 1);
		ck_assert_int_eq(id.has_time, combination >> 1 & 1);
		ck_assert_int_eq(id.has_cpu, combination >> 4 & 1);
		ck_assert_int_eq(id.has_id, (combination >> 2 | combination >> 5) & 1);
		ck_assert_uint_eq(id.pid, combination & 1 ? (uint32_t)word[0] : 0);
		ck_assert_uint_eq(id.tid, combination & 1 ? word[0] >> 32 : 0);
		ck_assert_uint_eq(id.time, combination & 2 ? word[1] : 0);
		ck_assert_uint_eq(id.cpu, combination & 16 ? (uint32_t)word[4] : 0);
		ck_assert_uint_eq(id.id, combination & 32  ? word[5]
					 : combination & 4 ? word[2]
							   : 0);
		/* too short for it: nothing is taken, nothing is made up */
		for (size_t size = 0; size < 8 * words; size++) {
			uint8_t *copy = malloc(size ? size : 1);

			memcpy(copy, bytes.data, size);
			payload = fs_reader_of(copy, size);
			fs_sample_id_take(&attr, &payload, &id);
			ck_assert(payload.size == size && !id.has_tid && !id.has_time &&
				  !id.has_id && !id.has_cpu && !id.id);
			free(copy);
		}
		attr.flags = 0;
		payload = fs_reader_of(bytes.data, bytes.size);
		fs_sample_id_take(&attr, &payload, &id);
		ck_assert(payload.size == bytes.size && !id.has_tid && !id.time);
	}
	free(bytes.data);
}
END_TEST

START_TEST(the_id_stands_where_the_encoder_put_it)
{
	uint64_t random = 0x5eed0060;

	for (int round = 0; round < 500; round++) {
		struct fs_attr attr = make_attr(test_random(&random) & FS_SAMPLE_KNOWN, &random);
		int position = fs_sample_id_position(&attr);
		struct test_bytes bytes = { 0 };
		struct expected want;

		encode(&bytes, &attr, &random, &want);
		if (attr.sample_type & (FS_SAMPLE_ID | FS_SAMPLE_IDENTIFIER)) {
			ck_assert_int_ge(position, 0);
			/* IDENTIFIER and ID may both be there; in a recording they are equal */
			if (!(attr.sample_type & FS_SAMPLE_IDENTIFIER) ||
			    !(attr.sample_type & FS_SAMPLE_ID))
				ck_assert_uint_eq(test_u64(&bytes, (size_t)position),
						  want.sample.id);
		} else {
			ck_assert_int_eq(position, -1);
		}
		free(bytes.data);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sample");
	TCase *tests = tcase_create("sample");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, each_field_alone, 0, 25);
	tcase_add_test(tests, fields_in_random_combinations);
	tcase_add_test(tests, every_read_format);
	tcase_add_loop_test(tests, counts_beyond_the_record, 0, 6);
	tcase_add_loop_test(tests, unknown_bits_leave_the_head, 25, 64);
	tcase_add_loop_test(tests, an_empty_branch_stack_is_read_by_what_fits, 0, 4);
	tcase_add_test(tests, trailers_in_all_combinations);
	tcase_add_test(tests, the_id_stands_where_the_encoder_put_it);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
