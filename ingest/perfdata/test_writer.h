/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests only: writes perf.data files, by what the kernel's perf_event.h and perf's header.c
 * say and not by what our reader believes.
 *
 *   | header (104) | ids | attrs | records ... | feature table | features ... |
 */
#ifndef FS_PERFDATA_TEST_WRITER_H
#define FS_PERFDATA_TEST_WRITER_H

#include <check.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct test_bytes {
	uint8_t *data;
	size_t size, capacity;
};

static inline void test_put(struct test_bytes *bytes, const void *data, size_t size)
{
	while (bytes->size + size > bytes->capacity) {
		bytes->capacity = bytes->capacity ? 2 * bytes->capacity : 1024;
		bytes->data = realloc(bytes->data, bytes->capacity);
		ck_assert_ptr_nonnull(bytes->data);
	}
	if (size)
		memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

static inline void test_put_u16(struct test_bytes *bytes, uint16_t value)
{
	test_put(bytes, &value, sizeof(value));
}

static inline void test_put_u32(struct test_bytes *bytes, uint32_t value)
{
	test_put(bytes, &value, sizeof(value));
}

static inline void test_put_u64(struct test_bytes *bytes, uint64_t value)
{
	test_put(bytes, &value, sizeof(value));
}

/* A name padded with NULs to a multiple of 8, at least one. */
static inline void test_put_name(struct test_bytes *bytes, const char *name)
{
	static const char zeros[8];

	test_put(bytes, name, strlen(name));
	test_put(bytes, zeros, 8 - strlen(name) % 8);
}

/* `str` of feature sections: u32 length, then the bytes, padded with NULs to a multiple of 64. */
static inline void test_put_string(struct test_bytes *bytes, const char *text)
{
	static const char zeros[64];
	uint32_t length = (uint32_t)(strlen(text) / 64 + 1) * 64;

	test_put_u32(bytes, length);
	test_put(bytes, text, strlen(text));
	test_put(bytes, zeros, length - strlen(text));
}

static inline void test_set_u64(struct test_bytes *bytes, size_t offset, uint64_t value)
{
	ck_assert_uint_le(offset + 8, bytes->size);
	memcpy(bytes->data + offset, &value, 8);
}

static inline uint64_t test_u64(const struct test_bytes *bytes, size_t offset)
{
	uint64_t value;

	ck_assert_uint_le(offset + 8, bytes->size);
	memcpy(&value, bytes->data + offset, 8);
	return value;
}

enum { TEST_IDS = 8, TEST_FEATURES = 64 };

/* struct perf_event_attr as far as tests need it. */
struct test_event {
	uint32_t type;
	uint32_t size; /* attr.size as written; 0: what fits the file */
	uint64_t config, sample_period, sample_type, read_format, flags;
	uint32_t bp_type;
	uint64_t config1, config2, branch_sample_type, regs_user, regs_intr, config3, config4;
	uint64_t ids[TEST_IDS];
	size_t id_count;
};

struct test_file {
	struct test_bytes bytes;
	size_t data_offset;
	struct {
		unsigned int bit;
		struct test_bytes content;
	} features[TEST_FEATURES];
	size_t feature_count;
	size_t table; /* offset of the feature table, once written */
};

static inline void test_put_attr(struct test_bytes *bytes, const struct test_event *event,
				 size_t size)
{
	uint8_t attr[4096] = { 0 };
	uint32_t claimed = event->size ? event->size : (uint32_t)size;

	memcpy(attr, &event->type, 4);
	memcpy(attr + 4, &claimed, 4);
	memcpy(attr + 8, &event->config, 8);
	memcpy(attr + 16, &event->sample_period, 8);
	memcpy(attr + 24, &event->sample_type, 8);
	memcpy(attr + 32, &event->read_format, 8);
	memcpy(attr + 40, &event->flags, 8);
	memcpy(attr + 52, &event->bp_type, 4);
	memcpy(attr + 56, &event->config1, 8);
	memcpy(attr + 64, &event->config2, 8);
	memcpy(attr + 72, &event->branch_sample_type, 8);
	memcpy(attr + 80, &event->regs_user, 8);
	memcpy(attr + 96, &event->regs_intr, 8);
	memcpy(attr + 128, &event->config3, 8);
	memcpy(attr + 136, &event->config4, 8);
	/* what a newer perf may have added */
	for (size_t i = 144; i < size; i++)
		attr[i] = 0xa5;
	test_put(bytes, attr, size);
}

/* Begin a file whose attrs have attr_size bytes each. */
static inline void test_file_begin(struct test_file *file, const struct test_event *events,
				   size_t count, size_t attr_size)
{
	static const uint8_t header[104] = "PERFILE2";
	size_t ids[256];

	*file = (struct test_file){ 0 };
	ck_assert_uint_le(count, 256);
	test_put(&file->bytes, header, sizeof(header));
	for (size_t i = 0; i < count; i++) {
		ids[i] = file->bytes.size;
		test_put(&file->bytes, events[i].ids, 8 * events[i].id_count);
	}
	test_set_u64(&file->bytes, 8, sizeof(header));
	test_set_u64(&file->bytes, 16, attr_size + 16);
	test_set_u64(&file->bytes, 24, file->bytes.size);
	test_set_u64(&file->bytes, 32, count * (attr_size + 16));
	for (size_t i = 0; i < count; i++) {
		test_put_attr(&file->bytes, &events[i], attr_size);
		test_put_u64(&file->bytes, ids[i]);
		test_put_u64(&file->bytes, 8 * events[i].id_count);
	}
	file->data_offset = file->bytes.size;
	test_set_u64(&file->bytes, 40, file->data_offset);
}

/* Append a record; the payload is emptied. */
static inline void test_record(struct test_file *file, uint32_t type, uint16_t misc,
			       struct test_bytes *payload)
{
	test_put_u32(&file->bytes, type);
	test_put_u16(&file->bytes, misc);
	test_put_u16(&file->bytes, (uint16_t)(8 + payload->size));
	test_put(&file->bytes, payload->data, payload->size);
	payload->size = 0;
}

/* Content of a feature, to be filled by the caller; in rising order of bits. */
static inline struct test_bytes *test_feature(struct test_file *file, unsigned int bit)
{
	ck_assert_uint_lt(file->feature_count, TEST_FEATURES);
	file->features[file->feature_count].bit = bit;
	return &file->features[file->feature_count++].content;
}

/* End the data section; write features. */
static inline void test_file_end(struct test_file *file)
{
	size_t at;

	test_set_u64(&file->bytes, 48, file->bytes.size - file->data_offset);
	file->table = file->bytes.size;
	at = file->table + 16 * file->feature_count;
	for (size_t i = 0; i < file->feature_count; i++) {
		unsigned int bit = file->features[i].bit;
		size_t word = 72 + bit / 64 * 8;

		test_set_u64(&file->bytes, word, test_u64(&file->bytes, word) | 1ull << bit % 64);
		test_put_u64(&file->bytes, at);
		test_put_u64(&file->bytes, file->features[i].content.size);
		at += file->features[i].content.size;
	}
	for (size_t i = 0; i < file->feature_count; i++)
		test_put(&file->bytes, file->features[i].content.data,
			 file->features[i].content.size);
}

static inline void test_file_free(struct test_file *file)
{
	for (size_t i = 0; i < file->feature_count; i++)
		free(file->features[i].content.data);
	free(file->bytes.data);
}

/* Write bytes to a file of their own in /tmp; path has room for 64 bytes. */
static inline void test_save(const void *data, size_t size, char *path)
{
	int fd;

	strcpy(path, "/tmp/fsight-test-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
	close(fd);
}

#endif
