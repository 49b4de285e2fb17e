/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/perfdata/perf_file.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/test_random.h"
#include "ingest/perfdata/host.h"
#include "ingest/perfdata/test_writer.h"

/* An open file and its account. */
struct opened {
	struct fs_perf_file file;
	struct fs_loss loss;
	struct fs_error error;
	int code;
};

static void open_bytes(struct opened *opened, const void *data, size_t size)
{
	char path[64];

	*opened = (struct opened){ 0 };
	fs_loss_init(&opened->loss);
	test_save(data, size, path);
	opened->code = fs_perf_open(&opened->file, path, &opened->loss, &opened->error);
	unlink(path);
}

static void close_opened(struct opened *opened)
{
	fs_perf_close(&opened->file);
	fs_loss_free(&opened->loss);
}

/* What was noted of a kind, over all scopes. */
static struct fs_loss_value lost(const struct opened *opened, enum fs_loss_kind kind)
{
	struct fs_loss_value sum = { .first_offset = UINT64_MAX };

	for (size_t i = 0; i < opened->loss.entries.count; i++) {
		const struct fs_loss_key *key = fs_table_key(&opened->loss.entries, i);
		const struct fs_loss_value *value = fs_table_value(&opened->loss.entries, i);

		if (key->kind != (uint32_t)kind)
			continue;
		sum.count += value->count;
		sum.bytes += value->bytes;
		if (value->first_offset < sum.first_offset)
			sum.first_offset = value->first_offset;
	}
	return sum;
}

struct walked {
	size_t records;
	uint64_t bytes; /* of records and their raw data */
	uint64_t raw;
	uint32_t last_type;
};

static struct walked walk(struct opened *opened)
{
	struct walked walked = { 0 };
	struct fs_record record;
	struct fs_cursor cursor;
	bool more = true;

	ck_assert_int_eq(fs_cursor_open(&cursor, &opened->file, NULL), 0);
	while (more) {
		uint64_t sum = 0;

		ck_assert_int_eq(fs_cursor_next(&cursor, &record, &more, &opened->loss, NULL), 0);
		if (!more)
			break;
		/* touch every byte, for AddressSanitizer */
		for (size_t i = 0; i < record.payload.size; i++)
			sum += record.payload.data[i];
		walked.records += sum < UINT64_MAX;
		walked.bytes += record.size + record.raw.size;
		walked.raw += record.raw.size;
		walked.last_type = record.type;
	}
	fs_cursor_close(&cursor);
	return walked;
}

static void put_records(struct test_file *file, size_t count)
{
	struct test_bytes payload = { 0 };

	for (size_t i = 0; i < count; i++) {
		test_put_u32(&payload, 1);
		test_put_u32(&payload, 1);
		test_put_name(&payload, "name");
		test_record(file, FS_RECORD_COMM, 0, &payload);
	}
	free(payload.data);
}

/* Two events, three records of 24 bytes, two features. */
static void make_small(struct test_file *file)
{
	static const struct test_event events[] = {
		{ .type = 0, .config = 1, .sample_type = 0x107, .ids = { 11, 12 }, .id_count = 2 },
		{ .type = 5,
		  .config1 = 0x404080,
		  .config2 = 8,
		  .bp_type = 2,
		  .ids = { 21 },
		  .id_count = 1 },
	};

	test_file_begin(file, events, 2, 136);
	put_records(file, 3);
	test_put_string(test_feature(file, FS_FEATURE_HOSTNAME), "host");
	test_put_string(test_feature(file, FS_FEATURE_ARCH), "aarch64");
	test_file_end(file);
}

START_TEST(a_file_is_read)
{
	struct test_file file;
	struct opened opened;
	struct walked walked;

	make_small(&file);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert_uint_eq(opened.file.event_count, 2);
	ck_assert_uint_eq(opened.file.events[0].id_count, 2);
	ck_assert_uint_eq(opened.file.events[0].ids[1], 12);
	ck_assert_uint_eq(opened.file.events[0].attr.sample_type, 0x107);
	ck_assert_uint_eq(opened.file.events[1].attr.bp_type, 2);
	ck_assert_uint_eq(opened.file.events[1].attr.config1, 0x404080);
	ck_assert_uint_eq(opened.file.events[1].attr.config2, 8);
	ck_assert(opened.file.has_feature[FS_FEATURE_HOSTNAME]);
	ck_assert(!opened.file.has_feature[FS_FEATURE_OSRELEASE]);
	walked = walk(&opened);
	ck_assert_uint_eq(walked.records, 3);
	ck_assert_uint_eq(walked.bytes, opened.file.data.size);
	ck_assert_uint_eq(opened.loss.entries.count, 0);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* Each published size of perf_event_attr, and those of the future: 64 .. 144, 152, 256, 4080. */
START_TEST(attrs_of_every_size)
{
	static const size_t sizes[] = { 64,  72,  80,  88,  96,	 104, 112,
					120, 128, 136, 144, 152, 256, 4080 };
	const struct test_event events[] = {
		{ .config1 = 1,
		  .config2 = 2,
		  .branch_sample_type = 3,
		  .regs_user = 4,
		  .regs_intr = 5,
		  .config3 = 6,
		  .config4 = 7,
		  .ids = { 9 },
		  .id_count = 1 },
		{ .config = 1 },
	};
	size_t size = sizes[_i];
	const struct fs_attr *attr;
	struct test_file file;
	struct opened opened;

	test_file_begin(&file, events, 2, size);
	put_records(&file, 1);
	test_file_end(&file);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert_uint_eq(opened.file.event_count, 2);
	attr = &opened.file.events[0].attr;
	ck_assert_uint_eq(attr->config1, 1);
	ck_assert_uint_eq(attr->config2, size >= 72 ? 2 : 0);
	ck_assert_uint_eq(attr->branch_sample_type, size >= 80 ? 3 : 0);
	ck_assert_uint_eq(attr->sample_regs_user, size >= 88 ? 4 : 0);
	ck_assert_uint_eq(attr->sample_regs_intr, size >= 104 ? 5 : 0);
	ck_assert_uint_eq(attr->config3, size >= 136 ? 6 : 0);
	ck_assert_uint_eq(attr->config4, size >= 144 ? 7 : 0);
	ck_assert_uint_eq(opened.file.events[0].ids[0], 9);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_ATTR_TAIL).bytes,
			  size > 144 ? 2 * (size - 144) : 0);
	ck_assert(!fs_loss_is_damaged(&opened.loss));
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* A size that an attr claims for itself is no number of bytes in the file. */
START_TEST(the_stride_counts_and_not_what_an_attr_claims)
{
	const struct test_event events[] = {
		{ .size = UINT32_MAX, .config1 = 1, .ids = { 7 }, .id_count = 1 }, { .size = 64 }
	};
	struct test_file file;
	struct opened opened;

	test_file_begin(&file, events, 2, 136);
	test_file_end(&file);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert_uint_eq(opened.file.events[0].attr.config1, 1);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_ATTR_TAIL).bytes, 0);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* Version 1 has another magic number and the same layout. */
START_TEST(the_first_version_is_read)
{
	struct test_file file;
	struct opened opened;

	make_small(&file);
	memcpy(file.bytes.data, "PERFFILE", 8);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert_uint_eq(opened.file.event_count, 2);
	ck_assert_uint_eq(walk(&opened).records, 3);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* Header words that lie: what they describe is found by the others, and the word is named. */
START_TEST(headers_that_lie)
{
	enum { DATA = 432, EVERYTHING = 3 };
	static const struct {
		size_t offset;
		uint64_t value;
		size_t named;
	} changes[] = {
		{ 0, 0, 0 },
		{ 8, 0, 8 },
		{ 8, 103, 8 },
		{ 8, 112, 8 },
		{ 8, 1ull << 63, 8 },
		{ 16, 0, 16 },
		{ 16, 6, 16 },
		{ 16, 72, 16 },
		{ 16, 160, 16 },
		{ 16, 1ull << 48, 16 },
		{ 16, 4104, 16 },
		{ 16, 153, 16 },
		{ 24, 0, 24 },
		{ 24, 8, 24 },
		{ 24, UINT64_MAX, 24 },
		{ 24, 1ull << 40, 24 },
		{ 32, 0, 24 },
		{ 32, UINT64_MAX, 24 },
		{ 32, 1ull << 62, 24 },
		{ 40, 1ull << 40, 40 },
		{ 40, UINT64_MAX, 40 },
		{ 40, 0, 40 },
		{ 40, 8, 40 },
		{ 40, DATA + 10, 40 },
		{ 40, DATA + 24, 40 },
		{ 48, 24, 48 },
	};
	struct test_file file;
	struct opened opened;

	make_small(&file);
	ck_assert_uint_eq(file.data_offset, DATA);
	test_set_u64(&file.bytes, changes[_i].offset, changes[_i].value);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert_uint_eq(opened.file.event_count, 2);
	ck_assert_uint_eq(opened.file.events[0].id_count, 2);
	ck_assert_uint_eq(opened.file.events[1].attr.config1, 0x404080);
	ck_assert_uint_eq(walk(&opened).records, EVERYTHING);
	ck_assert(fs_loss_is_damaged(&opened.loss));
	ck_assert_uint_ge(lost(&opened, FS_LOSS_BAD_HEADER).count, 1);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_HEADER).first_offset, changes[_i].named);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* A header of nothing but noise, before enough records to tell what the file is; or before none. */
START_TEST(a_file_without_its_header)
{
	static const struct test_event event = { .config = 5, .ids = { 11 }, .id_count = 1 };
	uint64_t random = 0x5eed0160;
	struct test_file file;
	struct opened opened;

	test_file_begin(&file, &event, 1, 136);
	put_records(&file, _i ? 0 : 100);
	test_file_end(&file);
	if (!_i) { /* a size that ends in the middle of a record */
		test_set_u64(&file.bytes, 48, 50 * 24 + 6);
		open_bytes(&opened, file.bytes.data, file.bytes.size);
		ck_assert_int_eq(opened.code, 0);
		ck_assert_uint_eq(walk(&opened).records, 100);
		ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_HEADER).first_offset, 48);
		close_opened(&opened);
	}
	for (size_t i = 0; i < 104; i++)
		file.bytes.data[i] = (uint8_t)test_random(&random);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, _i ? FS_REFUSED : 0);
	if (!_i) {
		ck_assert_uint_eq(opened.file.event_count, 1);
		ck_assert_uint_eq(opened.file.events[0].attr.config, 5);
		ck_assert_uint_eq(walk(&opened).records, 100);
		ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_HEADER).first_offset, 0);
	}
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/*
 * `perf inject` writes entries as long as attr.size says, beside a header with the attr_size of
 * its own version.
 */
START_TEST(entries_closer_or_wider_than_the_header_says)
{
	const uint64_t claimed[] = { 136 + 16 - 8, 136 + 16 + 8 };
	const struct test_event events[] = { { .config = 1, .ids = { 11 }, .id_count = 1 },
					     { .config = 2, .ids = { 12 }, .id_count = 1 },
					     { .config = 3, .ids = { 13 }, .id_count = 1 } };
	struct test_file file;
	struct opened opened;

	test_file_begin(&file, events, 3, 136);
	put_records(&file, 3);
	test_file_end(&file);
	test_set_u64(&file.bytes, 16, claimed[_i]);
	test_set_u64(&file.bytes, 32, 3 * claimed[_i]);
	/* perf inject writes them at the end; here they stand where other bytes follow */
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert_uint_eq(opened.file.event_count, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(opened.file.events[i].attr.config, i + 1);
		ck_assert_uint_eq(opened.file.events[i].ids[0], i + 11);
	}
	ck_assert_uint_eq(walk(&opened).records, 3);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* A feature whose section lies among the records is not read from there. */
START_TEST(a_feature_that_points_into_the_records)
{
	struct test_file file;
	struct opened opened;

	make_small(&file);
	test_set_u64(&file.bytes, file.table, file.data_offset + 24);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert(!opened.file.has_feature[FS_FEATURE_HOSTNAME]);
	ck_assert(opened.file.has_feature[FS_FEATURE_ARCH]);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE).first_offset, file.table);
	ck_assert_uint_eq(walk(&opened).records, 3);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
	struct fs_error error = { 0 };
	struct fs_perf_file file;
	struct fs_loss loss;
	char path[64];

	fs_loss_init(&loss);
	ck_assert_int_eq(fs_perf_open(&file, "/tmp", &loss, &error), FS_REFUSED);
	ck_assert_ptr_nonnull(strstr(error.text, "directory"));
	fs_perf_close(&file);
	ck_assert_int_eq(fs_perf_open(&file, "/dev/null", &loss, NULL), FS_REFUSED);
	fs_perf_close(&file);
	ck_assert_int_eq(fs_perf_open(&file, "/nonexistent/x", &loss, NULL), FS_REFUSED);
	fs_perf_close(&file);
	test_save("", 0, path);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0); /* nobody writes: opening must not wait */
	ck_assert_int_eq(fs_perf_open(&file, path, &loss, &error), FS_REFUSED);
	fs_perf_close(&file);
	fs_perf_close(&file); /* twice does no harm */
	unlink(path);
	fs_loss_free(&loss);
}
END_TEST

/* Cut after every byte: refused, or read as far as it goes and called damaged. */
START_TEST(a_file_cut_anywhere)
{
	struct test_file file;

	make_small(&file);
	for (size_t size = 0; size < file.bytes.size; size++) {
		struct opened opened;
		struct fs_host host = { 0 };
		struct walked walked;

		open_bytes(&opened, file.bytes.data, size);
		ck_assert(opened.code == 0 || opened.code == FS_REFUSED);
		ck_assert_int_eq(opened.code == 0, size >= 72);
		if (!opened.code && size < file.data_offset) {
			ck_assert_uint_eq(walk(&opened).records, 0);
			ck_assert(fs_loss_is_damaged(&opened.loss));
		} else if (!opened.code) {
			uint64_t end = size < file.table ? size : file.table;

			ck_assert_int_eq(
				fs_host_read(&opened.file, &host, &opened.loss, &opened.error), 0);
			walked = walk(&opened);
			ck_assert(fs_loss_is_damaged(&opened.loss));
			ck_assert_uint_eq(walked.records, (end - file.data_offset) / 24);
			/* nothing of the data section goes uncounted: what is missing, and the
			 * beginning of a record that was cut */
			if (size < file.table)
				ck_assert_uint_eq(
					walked.bytes + lost(&opened, FS_LOSS_TRUNCATED_FILE).bytes,
					file.table - file.data_offset);
			fs_host_free(&host);
		}
		close_opened(&opened);
	}
	test_file_free(&file);
}
END_TEST

/* perf record was killed: data.size 0, with and without what would follow. */
START_TEST(an_unfinished_file_is_read_to_its_end)
{
	struct test_file file;
	struct opened opened;

	make_small(&file);
	test_set_u64(&file.bytes, 48, 0);
	open_bytes(&opened, file.bytes.data, _i ? file.bytes.size : file.table);
	ck_assert_int_eq(opened.code, 0);
	ck_assert(opened.file.unclean);
	/* the table behind the records is whole, and found */
	ck_assert_int_eq(opened.file.has_feature[FS_FEATURE_HOSTNAME], _i);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_UNCLEAN_END).count, 1);
	ck_assert_uint_eq(walk(&opened).records, 3);
	close_opened(&opened);
	/* and one that ends with its attrs is an empty recording, not an endless loop */
	open_bytes(&opened, file.bytes.data, file.data_offset);
	ck_assert_int_eq(opened.code, 0);
	ck_assert_uint_eq(walk(&opened).records, 0);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* Records and features beyond 4 GiB, behind a hole: offsets have 64 bits, and nobody reads the
 * hole. */
START_TEST(sections_far_off)
{
	const uint64_t hole = 5ull << 30;
	struct test_file file;
	struct opened opened;
	char path[64];
	int fd;

	make_small(&file);
	for (size_t at = file.table; at < file.table + 32; at += 16) {
		uint64_t offset;

		memcpy(&offset, file.bytes.data + at, sizeof(offset));
		test_set_u64(&file.bytes, at, offset + hole);
	}
	test_set_u64(&file.bytes, 40, file.data_offset + hole);
	test_save(file.bytes.data, file.data_offset, path);
	fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, file.bytes.data + file.data_offset,
				file.bytes.size - file.data_offset,
				(off_t)(file.data_offset + hole)),
			 (ssize_t)(file.bytes.size - file.data_offset));
	close(fd);
	opened = (struct opened){ 0 };
	fs_loss_init(&opened.loss);
	ck_assert_int_eq(fs_perf_open(&opened.file, path, &opened.loss, &opened.error), 0);
	unlink(path);
	ck_assert_uint_eq(walk(&opened).records, 3);
	ck_assert(opened.file.has_feature[FS_FEATURE_HOSTNAME]);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_HEADER).count, 0);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* The second of three records has an impossible size. */
START_TEST(record_sizes_that_cannot_be)
{
	static const uint16_t sizes[] = { 0, 4, 7, 49, 0xfff8, 0xffff };
	size_t at;
	struct test_file file;
	struct opened opened;
	struct walked walked;

	make_small(&file);
	at = file.data_offset + 24;
	memcpy(file.bytes.data + at + 6, &sizes[_i], 2);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	walked = walk(&opened);
	ck_assert_uint_eq(walked.records, 2); /* the third follows the gap */
	ck_assert_uint_eq(walked.bytes + lost(&opened, FS_LOSS_BAD_RECORD).bytes,
			  opened.file.data.size);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_RECORD).first_offset, at);
	ck_assert(fs_loss_is_damaged(&opened.loss));
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* AUXTRACE owns bytes behind it; TRACING_DATA too, rounded up to 8. */
START_TEST(raw_data_behind_records)
{
	static const uint64_t sizes[] = { 0,	     8,		 80,	    81,
					  88,	     1ull << 32, INT64_MAX, UINT64_MAX - 8,
					  UINT64_MAX };
	struct test_bytes payload = { 0 };
	static const uint8_t raw[80];
	struct test_file file;
	struct opened opened;
	struct walked walked;
	uint64_t missing = sizes[_i] > 80 ? sizes[_i] - 80 : 0;

	test_file_begin(&file, (struct test_event[]){ { 0 } }, 1, 136);
	test_put_u32(&payload, 20);
	test_put_u32(&payload, 0);
	test_record(&file, FS_RECORD_HEADER_TRACING_DATA, 0, &payload);
	test_put(&file.bytes, raw, 24);
	for (int i = 0; i < 6; i++)
		test_put_u64(&payload, i ? 0 : sizes[_i]);
	test_record(&file, FS_RECORD_AUXTRACE, 0, &payload);
	test_put(&file.bytes, raw, 80);
	test_file_end(&file);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	walked = walk(&opened);
	if (sizes[_i] >= 80) {
		ck_assert_uint_eq(walked.records, 2);
		ck_assert_uint_eq(walked.raw, 24 + 80);
		ck_assert_uint_eq(walked.bytes, opened.file.data.size);
	}
	/* columns are signed: the account stops counting before they would turn negative */
	ck_assert_uint_eq(lost(&opened, FS_LOSS_TRUNCATED_FILE).bytes,
			  missing < INT64_MAX ? missing : INT64_MAX);
	close_opened(&opened);
	free(payload.data);
	test_file_free(&file);
}
END_TEST

/* Records of all sizes, many times the reader's buffer, with raw data longer than it. */
START_TEST(a_walk_through_the_buffer)
{
	uint64_t random = 0x5eed0070;
	uint8_t *zeros = calloc(1, 3 << 20);
	struct test_bytes payload = { 0 };
	uint64_t raw = 0;
	size_t records = 0;
	struct test_file file;
	struct opened opened;
	struct walked walked;

	test_file_begin(&file, (struct test_event[]){ { 0 } }, 1, 136);
	while (file.bytes.size < 12 << 20) {
		size_t size = test_below(&random, 5) ? 8 * test_below(&random, 8) : 65520;

		if (test_below(&random, 60)) {
			test_put(&payload, zeros, size);
			test_record(&file, 200, 0, &payload);
		} else {
			size = test_below(&random, 3 << 20);
			test_put_u64(&payload, size);
			test_put(&payload, zeros, 40);
			test_record(&file, FS_RECORD_AUXTRACE, 0, &payload);
			test_put(&file.bytes, zeros, size);
			raw += size;
		}
		records++;
	}
	test_file_end(&file);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	walked = walk(&opened);
	ck_assert_uint_eq(walked.records, records);
	ck_assert_uint_eq(walked.raw, raw);
	ck_assert_uint_eq(walked.bytes, opened.file.data.size);
	ck_assert(!fs_loss_is_damaged(&opened.loss));
	close_opened(&opened);
	free(zeros);
	free(payload.data);
	test_file_free(&file);
}
END_TEST

START_TEST(id_lists_outside_the_file)
{
	static const struct fs_section lists[] = {
		{ 1ull << 40, 8 },     { 0, 1ull << 40 }, { UINT64_MAX, 8 },
		{ 8, UINT64_MAX - 7 }, { 104, 12 },	  { 8, UINT64_MAX },
	};
	size_t at;
	struct test_file file;
	struct opened opened;

	make_small(&file);
	at = (size_t)test_u64(&file.bytes, 24) + 136;
	test_set_u64(&file.bytes, at, lists[_i].offset);
	test_set_u64(&file.bytes, at + 8, lists[_i].size);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert_uint_eq(opened.file.events[0].id_count, 0);
	ck_assert_uint_eq(opened.file.events[1].id_count, 1);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_ATTR).count, 1);
	ck_assert_uint_eq(walk(&opened).records, 3);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* 60,000 events that name the same megabyte of ids would be 60 GB. */
START_TEST(events_that_share_a_list_cannot_exhaust_memory)
{
	enum { EVENTS = 60000, LIST = 1 << 20 };
	struct test_bytes bytes = { 0 };
	uint8_t *zeros = calloc(1, LIST);
	uint64_t total = 0;
	struct opened opened;

	test_put(&bytes, "PERFILE2", 8);
	test_put_u64(&bytes, 104);
	test_put_u64(&bytes, 80);
	test_put_u64(&bytes, 104 + LIST);
	test_put_u64(&bytes, EVENTS * 80);
	test_put_u64(&bytes, 104 + LIST + EVENTS * 80);
	test_put(&bytes, zeros, 56);
	test_put(&bytes, zeros, LIST);
	for (int i = 0; i < EVENTS; i++) {
		test_put(&bytes, zeros, 64);
		test_put_u64(&bytes, 104);
		test_put_u64(&bytes, LIST);
	}
	open_bytes(&opened, bytes.data, bytes.size);
	ck_assert_int_eq(opened.code, 0);
	for (size_t i = 0; i < opened.file.event_count; i++)
		total += 8 * opened.file.events[i].id_count;
	ck_assert_uint_ge(total, LIST);
	ck_assert_uint_le(total, bytes.size);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_ATTR).count, EVENTS - total / LIST);
	/* nor does each of them make an entry of the account */
	ck_assert_uint_lt(opened.loss.entries.count, 5000);
	close_opened(&opened);
	free(zeros);
	free(bytes.data);
}
END_TEST

START_TEST(feature_sections_outside_the_file)
{
	static const struct fs_section sections[] = {
		{ 1ull << 40, 8 },
		{ 8, 1ull << 50 },
		{ UINT64_MAX, UINT64_MAX },
		{ 1, UINT64_MAX },
	};
	struct test_file file;
	struct opened opened;

	make_small(&file);
	test_set_u64(&file.bytes, file.table, sections[_i].offset);
	test_set_u64(&file.bytes, file.table + 8, sections[_i].size);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert(!opened.file.has_feature[FS_FEATURE_HOSTNAME]);
	ck_assert(opened.file.has_feature[FS_FEATURE_ARCH]);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE).count, 1);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE).first_offset, file.table);
	close_opened(&opened);
	/* all 256 bits set, with a table for two */
	for (size_t word = 0; word < 4; word++)
		test_set_u64(&file.bytes, 72 + 8 * word, UINT64_MAX);
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert_uint_gt(lost(&opened, FS_LOSS_BAD_FEATURE).count, 200);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

START_TEST(bytes_behind_the_last_section_are_counted)
{
	uint8_t junk[70] = { 1 };
	struct test_file file;
	struct opened opened;
	size_t size;

	make_small(&file);
	size = file.bytes.size;
	test_put(&file.bytes, junk, sizeof(junk));
	open_bytes(&opened, file.bytes.data, file.bytes.size);
	ck_assert_int_eq(opened.code, 0);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_TRAILING_BYTES).bytes, 70);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_TRAILING_BYTES).first_offset, size);
	ck_assert(!fs_loss_is_damaged(&opened.loss));
	close_opened(&opened);
	/* half an entry at the end of the attrs */
	test_set_u64(&file.bytes, 32, test_u64(&file.bytes, 32) - 76);
	open_bytes(&opened, file.bytes.data, size);
	ck_assert_uint_eq(opened.file.event_count, 1);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_TRAILING_BYTES).bytes, 76);
	close_opened(&opened);
	test_file_free(&file);
}
END_TEST

/* Whatever is in the data section: each byte is in a record or in the account. */
START_TEST(no_byte_of_damaged_data_goes_uncounted)
{
	uint64_t random = 0x5eed0080;

	for (int round = 0; round < 400; round++) {
		struct test_file file;
		struct opened opened;
		struct walked walked;
		uint64_t counted;

		make_small(&file);
		for (uint64_t change = test_below(&random, 6); change > 0; change--) {
			size_t at = file.data_offset +
				    test_below(&random, file.table - file.data_offset);

			file.bytes.data[at] = (uint8_t)test_random(&random);
		}
		open_bytes(&opened, file.bytes.data, file.bytes.size);
		ck_assert_int_eq(opened.code, 0);
		walked = walk(&opened);
		counted = walked.bytes + lost(&opened, FS_LOSS_BAD_RECORD).bytes;
		if (!walked.raw)
			counted += lost(&opened, FS_LOSS_TRUNCATED_FILE).bytes;
		ck_assert_uint_eq(counted, opened.file.data.size);
		close_opened(&opened);
		test_file_free(&file);
	}
}
END_TEST

START_TEST(unknown_types_and_cpus_cannot_fill_the_account)
{
	struct fs_loss_value others = { 0 };
	struct opened opened = { 0 };
	uint64_t total = 0;

	fs_loss_init(&opened.loss);
	for (uint32_t i = 0; i < 100000; i++)
		fs_loss_add(&opened.loss, FS_LOSS_UNKNOWN_RECORD, 1, 8, i, "record type %u", i);
	for (uint32_t i = 0; i < 100; i++) /* those already there go on */
		fs_loss_add(&opened.loss, FS_LOSS_UNKNOWN_RECORD, 1, 8, i, "record type %u", 1);
	ck_assert_uint_lt(opened.loss.entries.count, 5000);
	for (size_t i = 0; i < opened.loss.entries.count; i++) {
		const struct fs_loss_key *key = fs_table_key(&opened.loss.entries, i);
		const struct fs_loss_value *value = fs_table_value(&opened.loss.entries, i);

		total += value->count;
		if (!strcmp(fs_interned(&opened.loss.scopes, key->scope, NULL), "others"))
			others = *value;
		if (!strcmp(fs_interned(&opened.loss.scopes, key->scope, NULL), "record type 1"))
			ck_assert_uint_eq(value->count, 101);
	}
	ck_assert_uint_eq(total, 100100);
	ck_assert_uint_gt(others.count, 90000);
	fs_loss_add(&opened.loss, FS_LOSS_LOST_RECORDS, UINT64_MAX, UINT64_MAX, 1, "trace");
	fs_loss_add(&opened.loss, FS_LOSS_LOST_RECORDS, UINT64_MAX, UINT64_MAX, 1, "trace");
	ck_assert_uint_eq(lost(&opened, FS_LOSS_LOST_RECORDS).count, INT64_MAX);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_LOST_RECORDS).bytes, INT64_MAX);
	ck_assert(!fs_loss_is_damaged(&opened.loss));
	fs_loss_add(&opened.loss, FS_LOSS_BAD_RECORD, 1, 0, 1, "trace");
	ck_assert(fs_loss_is_damaged(&opened.loss));
	fs_loss_free(&opened.loss);
}
END_TEST

static void add_damage_tests(TCase *tests)
{
	tcase_add_test(tests, the_first_version_is_read);
	tcase_add_loop_test(tests, headers_that_lie, 0, 26);
	tcase_add_loop_test(tests, a_file_without_its_header, 0, 2);
	tcase_add_loop_test(tests, entries_closer_or_wider_than_the_header_says, 0, 2);
	tcase_add_test(tests, a_feature_that_points_into_the_records);
	tcase_add_test(tests, what_is_no_file_is_refused);
	tcase_add_test(tests, a_file_cut_anywhere);
	tcase_add_loop_test(tests, an_unfinished_file_is_read_to_its_end, 0, 2);
	tcase_add_test(tests, sections_far_off);
	tcase_add_loop_test(tests, record_sizes_that_cannot_be, 0, 6);
	tcase_add_loop_test(tests, id_lists_outside_the_file, 0, 6);
	tcase_add_test(tests, events_that_share_a_list_cannot_exhaust_memory);
	tcase_add_loop_test(tests, feature_sections_outside_the_file, 0, 4);
	tcase_add_test(tests, bytes_behind_the_last_section_are_counted);
	tcase_add_test(tests, no_byte_of_damaged_data_goes_uncounted);
	tcase_add_test(tests, unknown_types_and_cpus_cannot_fill_the_account);
}

int main(void)
{
	Suite *suite = suite_create("perf_file");
	TCase *tests = tcase_create("perf_file");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_file_is_read);
	tcase_add_loop_test(tests, attrs_of_every_size, 0, 14);
	tcase_add_test(tests, the_stride_counts_and_not_what_an_attr_claims);
	tcase_add_loop_test(tests, raw_data_behind_records, 0, 9);
	tcase_add_test(tests, a_walk_through_the_buffer);
	add_damage_tests(tests);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
