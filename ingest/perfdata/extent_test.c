/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/perfdata/extent.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "ingest/perfdata/test_writer.h"

struct case_file {
	struct fs_perf_file file;
	struct fs_event events[2];
	struct fs_extents extents;
	struct fs_loss loss;
};

/* A file of 1000 bytes with records in [300, 600), and no sections but the header. */
static void begin(struct case_file *made)
{
	uint8_t bytes[1000] = "PERFILE2";
	char path[64];

	bytes[8] = 104;
	*made = (struct case_file){
		.file = { .size = sizeof(bytes), .data = { 300, 300 }, .data_end = 600 }
	};
	made->file.events = made->events;
	test_save(bytes, sizeof(bytes), path);
	made->file.fd = open(path, O_RDONLY);
	unlink(path);
	ck_assert_int_ge(made->file.fd, 0);
	fs_extents_init(&made->extents);
	fs_loss_init(&made->loss);
}

static void end(struct case_file *made)
{
	close(made->file.fd);
	fs_extents_free(&made->extents);
	fs_loss_free(&made->loss);
}

/* The bytes of a kind and name (NULL: of all); *ret_count may be NULL. */
static uint64_t bytes_of(const struct fs_extents *extents, enum fs_extent_kind kind,
			 const char *name, uint64_t *ret_count)
{
	uint64_t bytes = 0;
	uint64_t count = 0;

	for (size_t i = 0; i < extents->count; i++) {
		if (extents->rows[i].kind != kind || (name && strcmp(extents->rows[i].name, name)))
			continue;
		bytes += extents->rows[i].bytes;
		count += extents->rows[i].count;
	}
	if (ret_count)
		*ret_count = count;
	return bytes;
}

static uint64_t all_bytes(const struct fs_extents *extents)
{
	uint64_t bytes = 0;

	for (int kind = 0; kind < FS_EXTENT_KINDS; kind++)
		bytes += bytes_of(extents, (enum fs_extent_kind)kind, NULL, NULL);
	return bytes;
}

START_TEST(sections_and_gaps)
{
	struct case_file made;
	uint64_t count;

	begin(&made);
	made.file.attrs = (struct fs_section){ 120, 100 };
	made.file.event_count = 2;
	made.events[0].id_section = (struct fs_section){ 104, 8 };
	made.events[1].id_section = (struct fs_section){ 112, 8 };
	made.file.feature_table = (struct fs_section){ 600, 32 };
	made.file.has_feature[3] = made.file.has_feature[200] = true;
	made.file.features[3] = (struct fs_section){ 640, 60 };
	made.file.features[200] = (struct fs_section){ 700, 100 };
	fs_extents_sections(&made.extents, &made.file, &made.loss);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_HEADER, "header", NULL), 104);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_SECTION, "attrs", NULL), 100);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_SECTION, "ids", &count), 16);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_SECTION, "feature table", NULL), 32);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_SECTION, "HOSTNAME", NULL), 60);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_SECTION, "feature 200", NULL), 100);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_GAP, "between sections", &count), 88);
	ck_assert_uint_eq(count, 2); /* [220, 300) and [632, 640) */
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_GAP, "behind the sections", NULL), 200);
	ck_assert_uint_eq(all_bytes(&made.extents), 700);
	end(&made);
}
END_TEST

/* Whatever the sections are, all but the data is given exactly once. */
START_TEST(sections_that_overlap)
{
	static const struct {
		struct fs_section attrs, ids, feature;
		uint64_t attrs_bytes, ids_bytes, feature_bytes;
	} cases[] = {
		{ { 0, 1000 }, { 0, 1000 }, { 0, 1000 }, 596, 0, 0 },
		{ { 200, 500 }, { 200, 500 }, { 650, 100 }, 200, 0, 50 },
		{ { 110, 10 }, { 105, 10 }, { 100, 10 }, 5, 5, 6 },
		{ { 300, 300 }, { 350, 8 }, { 0, 8 }, 0, 0, 0 },
		{ { 900, UINT64_MAX }, { UINT64_MAX, 8 }, { 990, 20 }, 100, 0, 0 },
		{ { 1000, 0 }, { 700, 8 }, { 704, 0 }, 0, 8, 0 },
	};
	struct case_file made;

	begin(&made);
	made.file.attrs = cases[_i].attrs;
	made.file.event_count = 1;
	made.events[0].id_section = cases[_i].ids;
	made.file.has_feature[4] = true;
	made.file.features[4] = cases[_i].feature;
	fs_extents_sections(&made.extents, &made.file, &made.loss);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_HEADER, NULL, NULL), 104);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_SECTION, "attrs", NULL),
			  cases[_i].attrs_bytes);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_SECTION, "ids", NULL),
			  cases[_i].ids_bytes);
	ck_assert_uint_eq(bytes_of(&made.extents, FS_EXTENT_SECTION, "OSRELEASE", NULL),
			  cases[_i].feature_bytes);
	ck_assert_uint_eq(all_bytes(&made.extents), 700);
	end(&made);
}
END_TEST

static struct fs_record record_at(uint32_t type, uint64_t offset, uint16_t size, uint64_t raw)
{
	return (struct fs_record){
		.type = type, .size = size, .offset = offset, .raw = { offset + size, raw }
	};
}

START_TEST(records_and_what_lies_between)
{
	struct fs_extents extents;
	struct fs_record record;
	const struct fs_extent *sum;

	fs_extents_init(&extents);
	fs_extents_walk(&extents, 100);
	record = record_at(9, 100, 40, 0);
	fs_extents_record(&extents, &record, false);
	record = record_at(9, 150, 40, 0);
	fs_extents_record(&extents, &record, false);
	fs_extents_skip(&extents, &record);
	record = record_at(71, 190, 48, 100);
	fs_extents_record(&extents, &record, false);
	record = record_at(60000, 338, 8, 0);
	fs_extents_record(&extents, &record, true);
	fs_extents_walked(&extents, 350);
	sum = &extents.records[0][9];
	ck_assert(sum->count == 1 && sum->bytes == 40 && sum->first_offset == 100);
	sum = &extents.records[1][9];
	ck_assert(sum->count == 1 && sum->bytes == 40 && sum->first_offset == 150);
	ck_assert_str_eq(sum->name, "SAMPLE");
	ck_assert_uint_eq(extents.records[0][71].bytes, 148);
	ck_assert_uint_eq(extents.records[1][FS_RECORD_TYPES - 1].bytes, 8);
	ck_assert_str_eq(extents.records[1][FS_RECORD_TYPES - 1].name, "type 127 and above");
	ck_assert_str_eq(extents.records[1][100].name, "type 100");
	ck_assert_uint_eq(extents.count, 2);
	ck_assert(extents.rows[0].bytes == 10 && extents.rows[0].first_offset == 140);
	ck_assert(extents.rows[1].bytes == 4 && extents.rows[1].first_offset == 346);
	fs_extents_free(&extents);
}
END_TEST

/* A file may be all gaps: their number stays bounded, their bytes do not get lost. */
START_TEST(gaps_without_number)
{
	struct fs_extents extents;
	uint64_t count;

	fs_extents_init(&extents);
	fs_extents_walk(&extents, 0);
	for (uint64_t i = 1; i <= 10000; i++) {
		struct fs_record record = record_at(68, i * 16, 8, 0);

		fs_extents_record(&extents, &record, false);
	}
	ck_assert_uint_eq(extents.count, 4096);
	ck_assert_uint_eq(bytes_of(&extents, FS_EXTENT_GAP, NULL, &count), 16 + 9999 * 8);
	ck_assert_uint_eq(count, 10000);
	fs_extents_free(&extents);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("extent");
	TCase *test_case = tcase_create("extent");
	SRunner *runner;
	int failed;

	tcase_add_test(test_case, sections_and_gaps);
	tcase_add_loop_test(test_case, sections_that_overlap, 0, 6);
	tcase_add_test(test_case, records_and_what_lies_between);
	tcase_add_test(test_case, gaps_without_number);
	suite_add_tcase(suite, test_case);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
