/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/histogram.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/test_random.h"

START_TEST(buckets_are_exact_and_then_an_eighth_of_an_octave)
{
	unsigned int wrong = 0;

	for (uint64_t latency = 0; latency < 1 << 18; latency++) {
		unsigned int bucket = fs_histogram_bucket(latency);
		uint64_t floor = fs_histogram_floor(bucket);

		wrong += floor > latency || bucket >= FS_HISTOGRAM_BUCKETS;
		wrong += latency < 8 && floor != latency;
		wrong += latency - floor > latency / 8;
		if (bucket + 1 < FS_HISTOGRAM_BUCKETS)
			wrong += fs_histogram_floor(bucket + 1) <= latency;
	}
	ck_assert_uint_eq(wrong, 0);
	for (unsigned int bucket = 0; bucket < FS_HISTOGRAM_BUCKETS; bucket++)
		ck_assert_uint_eq(fs_histogram_bucket(fs_histogram_floor(bucket)), bucket);
	ck_assert_uint_eq(fs_histogram_bucket(1 << 18), FS_HISTOGRAM_BUCKETS - 1);
	ck_assert_uint_eq(fs_histogram_bucket(UINT64_MAX), FS_HISTOGRAM_BUCKETS - 1);
}
END_TEST

static size_t pack(const struct fs_histogram *histogram, uint8_t *out)
{
	return fs_histogram_pack(histogram, 0, FS_HISTOGRAM_BUCKETS - 1, out);
}

START_TEST(blobs_give_back_what_went_in)
{
	uint64_t random = 0x5eed00c0;

	for (int round = 0; round < 2000; round++) {
		struct fs_histogram histogram = { 0 };
		struct fs_histogram back = { 0 };
		uint8_t blob[FS_HISTOGRAM_BLOB_MAX];
		size_t size;

		for (uint64_t i = test_below(&random, 40); i > 0; i--)
			histogram.count[test_below(&random, FS_HISTOGRAM_BUCKETS)] =
				test_random(&random) >> 1 >> test_below(&random, 63);
		size = pack(&histogram, blob);
		ck_assert_int_eq(fs_histogram_add(&back, blob, size), 0);
		ck_assert_mem_eq(&back, &histogram, sizeof(back));
		ck_assert_int_eq(fs_histogram_add(&back, blob, size), 0);
		for (unsigned int i = 0; i < FS_HISTOGRAM_BUCKETS; i++)
			if (back.count[i] != 2 * histogram.count[i])
				ck_abort();
	}
}
END_TEST

/* The largest blob there can be fits what the header promises. */
START_TEST(the_largest_blob_fits)
{
	uint8_t *blob = malloc(FS_HISTOGRAM_BLOB_MAX);
	struct fs_histogram histogram;

	memset(&histogram, 0xff, sizeof(histogram));
	ck_assert_uint_eq(pack(&histogram, blob), FS_HISTOGRAM_BLOB_MAX);
	free(blob);
}
END_TEST

START_TEST(malformed_blobs_are_refused)
{
	static const struct {
		uint8_t bytes[12];
		size_t size;
	} blobs[] = {
		{ { 5 }, 1 },	   /* no count */
		{ { 128, 1 }, 2 }, /* no such bucket */
		{ { 255, 1 }, 2 },
		{ { 5, 0x80 }, 2 }, /* the count goes on */
		{ { 5, 1, 6 }, 3 },
		{ { 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 }, 12 },
	};
	struct fs_histogram histogram = { 0 };
	uint8_t *copy = malloc(blobs[_i].size);

	memcpy(copy, blobs[_i].bytes, blobs[_i].size);
	ck_assert_int_eq(fs_histogram_add(&histogram, copy, blobs[_i].size), FS_REFUSED);
	free(copy);
}
END_TEST

START_TEST(quantiles_are_within_an_eighth)
{
	struct fs_histogram histogram = { 0 };
	uint8_t blob[1];

	ck_assert_int_eq(fs_histogram_quantile(&histogram, 0.5), -1);
	ck_assert_uint_eq(pack(&histogram, blob), 0);
	for (uint64_t latency = 1; latency <= 1000; latency++)
		histogram.count[fs_histogram_bucket(latency)]++;
	for (int percent = 0; percent <= 100; percent++) {
		double want = percent ? 10.0 * percent : 1;
		double got = (double)fs_histogram_quantile(&histogram, percent / 100.0);

		ck_assert_double_le(got, want * 1.125);
		ck_assert_double_ge(got, want / 1.125);
	}
	histogram = (struct fs_histogram){ 0 };
	histogram.count[FS_HISTOGRAM_BUCKETS - 1] = 1;
	ck_assert_int_eq(fs_histogram_quantile(&histogram, 1),
			 (int64_t)fs_histogram_floor(FS_HISTOGRAM_BUCKETS - 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("histogram");
	TCase *tests = tcase_create("histogram");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, buckets_are_exact_and_then_an_eighth_of_an_octave);
	tcase_add_test(tests, blobs_give_back_what_went_in);
	tcase_add_test(tests, the_largest_blob_fits);
	tcase_add_loop_test(tests, malformed_blobs_are_refused, 0, 6);
	tcase_add_test(tests, quantiles_are_within_an_eighth);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
