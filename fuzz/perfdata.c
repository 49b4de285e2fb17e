/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The framing of perf.data for the mutator, in both byte orders, as a file and as a stream.
 *
 *   | header | ids | attr ... | record ... | feature table | feature ... | rest |
 *
 * The feature table is no part: joining makes it anew from the features that are there. Parts may
 * stand in any order; joining puts them by kind.
 */
#include <string.h>
#include <zstd.h>

#include "common/reader.h"
#include "fuzz/fuzz.h"
#include "ingest/perfdata/host.h"

enum kind { HEADER, IDS, ATTR, RECORD, FEATURE, REST };

enum {
	FILE_HEADER = 104,
	STREAM_HEADER = 16,
	RECORD_HEADER = 8,
	ATTRS_AT = 24, /* offsets in the header */
	DATA_AT = 40,
	BITMAP_AT = 72,
	AUXTRACE_SIZE = 48,
	RECORD_MAX = 65528,
	WRAPPED_MAX = 32, /* records that are compressed together */
};

static uint64_t get(const struct fs_parts *parts, const uint8_t *bytes, size_t width)
{
	struct fs_reader reader = { .data = bytes, .size = width, .swap = parts->swap };

	switch (width) {
	case 2:
		return fs_read_u16(&reader);
	case 4:
		return fs_read_u32(&reader);
	default:
		return fs_read_u64(&reader);
	}
}

static void set(const struct fs_parts *parts, uint8_t *bytes, size_t width, uint64_t value)
{
	uint8_t native[8];

	memcpy(native, &value, sizeof(native));
	for (size_t i = 0; i < width; i++)
		bytes[i] = native[parts->swap ? width - 1 - i : i];
}

/* ---- splitting ---- */

/* What of [offset, offset + size) lies within `whole` bytes. */
static struct fs_section within(uint64_t offset, uint64_t size, size_t whole)
{
	struct fs_section section = { .offset = offset < whole ? offset : whole };

	section.size = size < whole - section.offset ? size : whole - section.offset;
	return section;
}

/* Bytes that belong to a record, with raw data behind it; all that is left if it makes no sense. */
static size_t record_size(const struct fs_parts *parts, const uint8_t *bytes, size_t left)
{
	uint64_t size;
	uint64_t raw = 0;

	if (left < RECORD_HEADER)
		return left;
	size = get(parts, bytes + 6, 2);
	if (size < RECORD_HEADER || size > left)
		return left;
	if (get(parts, bytes, 4) == FS_RECORD_AUXTRACE && size >= 16)
		raw = get(parts, bytes + 8, 8);
	if (get(parts, bytes, 4) == FS_RECORD_HEADER_TRACING_DATA && size == 12)
		raw = (get(parts, bytes + 8, 4) + 7) & ~7ull;
	return raw < left - size ? (size_t)(size + raw) : left;
}

static void split_records(struct fs_parts *parts, const uint8_t *data, struct fs_section section)
{
	size_t at = (size_t)section.offset;
	size_t end = (size_t)(section.offset + section.size);

	while (at < end) {
		size_t size = record_size(parts, data + at, end - at);

		if (!fs_fuzz_append(parts, RECORD, 0, data + at, size))
			return;
		at += size;
	}
}

static void split_attrs(struct fs_parts *parts, const uint8_t *data, struct fs_section attrs)
{
	size_t stride = (size_t)get(parts, data + 16, 8);

	if (stride < 64 || stride > 4096)
		stride = 160;
	for (size_t at = 0; at < attrs.size; at += stride)
		fs_fuzz_append(parts, ATTR, 0, data + attrs.offset + at,
			       attrs.size - at < stride ? (size_t)attrs.size - at : stride);
}

/* Returns the end of the last one, so that what follows is the rest. */
static size_t split_features(struct fs_parts *parts, const uint8_t *data, size_t size, size_t table)
{
	size_t end = table;

	for (unsigned int bit = 0; bit < FS_FEATURE_BITS; bit++) {
		struct fs_section section;

		if (!(get(parts, data + BITMAP_AT + bit / 64 * 8, 8) >> bit % 64 & 1))
			continue;
		if (size - table < 16)
			break;
		section =
			within(get(parts, data + table, 8), get(parts, data + table + 8, 8), size);
		table += 16;
		fs_fuzz_append(parts, FEATURE, bit, data + section.offset, (size_t)section.size);
		if (section.offset + section.size > end)
			end = (size_t)(section.offset + section.size);
	}
	return end > table ? end : table;
}

static void split(struct fs_parts *parts, const uint8_t *data, size_t size)
{
	struct fs_section attrs;
	struct fs_section records;
	size_t end;

	parts->swap = size >= 8 && !memcmp(data, "2ELIFREP", 8);
	if (size >= STREAM_HEADER && get(parts, data + 8, 8) == STREAM_HEADER) {
		fs_fuzz_append(parts, HEADER, 0, data, STREAM_HEADER);
		split_records(parts, data, within(STREAM_HEADER, size, size));
		return;
	}
	if (size < FILE_HEADER) {
		fs_fuzz_append(parts, REST, 0, data, size);
		return;
	}
	attrs = within(get(parts, data + ATTRS_AT, 8), get(parts, data + ATTRS_AT + 8, 8), size);
	records = within(get(parts, data + DATA_AT, 8), get(parts, data + DATA_AT + 8, 8), size);
	fs_fuzz_append(parts, HEADER, 0, data, FILE_HEADER);
	if (attrs.offset > FILE_HEADER)
		fs_fuzz_append(parts, IDS, 0, data + FILE_HEADER, attrs.offset - FILE_HEADER);
	split_attrs(parts, data, attrs);
	split_records(parts, data, records);
	end = split_features(parts, data, size, (size_t)(records.offset + records.size));
	fs_fuzz_append(parts, REST, 0, data + end, size - end);
}

/* ---- joining ---- */

static void repair_record(const struct fs_parts *parts, struct fs_part *part)
{
	uint32_t type;
	size_t size = part->size;

	if (size < RECORD_HEADER)
		return;
	type = (uint32_t)get(parts, part->bytes, 4);
	if (type == FS_RECORD_AUXTRACE && size >= AUXTRACE_SIZE) {
		set(parts, part->bytes + 8, 8, size - AUXTRACE_SIZE);
		size = AUXTRACE_SIZE;
	} else if (type == FS_RECORD_HEADER_TRACING_DATA && size >= 12) {
		size = (size - 12) / 8 * 8;
		set(parts, part->bytes + 8, 4, size);
		part->size = 12 + size;
		size = 12;
	} else {
		if (size > RECORD_MAX)
			size = RECORD_MAX;
		if (type < FS_RECORD_USER_FIRST) /* only the kernel keeps to multiples of 8 */
			size &= ~(size_t)7;
		part->size = size;
	}
	set(parts, part->bytes + 6, 2, size);
}

/* Write all parts of a kind; returns how many bytes they had. */
static size_t put_kind(struct fs_parts *parts, enum kind kind, uint8_t *out, size_t *used,
		       size_t max, bool repair)
{
	size_t before = *used;

	for (size_t i = 0; i < parts->count; i++) {
		struct fs_part *part = &parts->items[i];

		if (part->kind != kind)
			continue;
		if (kind == RECORD && repair)
			repair_record(parts, part);
		fs_fuzz_put(out, used, max, part->bytes, part->size);
	}
	return *used - before;
}

static struct fs_part *feature_of(struct fs_parts *parts, unsigned int bit)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].kind == FEATURE && parts->items[i].number == bit)
			return &parts->items[i];
	return NULL;
}

/* The table, then the features it names. */
static void put_features(struct fs_parts *parts, uint8_t *out, size_t *used, size_t max)
{
	struct fs_part *features[FS_FEATURE_BITS];
	uint64_t bitmap[4] = { 0 };
	size_t table = *used;
	size_t count = 0;

	for (unsigned int bit = 0; bit < FS_FEATURE_BITS; bit++) {
		static const uint8_t entry[16];

		features[bit] = feature_of(parts, bit);
		if (!features[bit] || !fs_fuzz_put(out, used, max, entry, sizeof(entry)))
			continue;
		bitmap[bit / 64] |= 1ull << bit % 64;
	}
	for (unsigned int bit = 0; bit < FS_FEATURE_BITS; bit++) {
		uint8_t *entry = out + table + 16 * count;

		if (!(bitmap[bit / 64] >> bit % 64 & 1))
			continue;
		count++;
		set(parts, entry, 8, *used);
		if (fs_fuzz_put(out, used, max, features[bit]->bytes, features[bit]->size))
			set(parts, entry + 8, 8, features[bit]->size);
	}
	for (unsigned int i = 0; i < 4; i++)
		set(parts, out + BITMAP_AT + 8 * i, 8, bitmap[i]);
}

static size_t join(struct fs_parts *parts, uint8_t *out, size_t max, bool repair)
{
	size_t used = 0;
	size_t at;
	bool whole;

	put_kind(parts, HEADER, out, &used, max, repair);
	whole = repair && used >= FILE_HEADER;
	put_kind(parts, IDS, out, &used, max, repair);
	at = used;
	put_kind(parts, ATTR, out, &used, max, repair);
	if (whole) {
		set(parts, out + ATTRS_AT, 8, at);
		set(parts, out + ATTRS_AT + 8, 8, used - at);
	}
	at = used;
	put_kind(parts, RECORD, out, &used, max, repair);
	if (whole) {
		set(parts, out + DATA_AT, 8, at);
		set(parts, out + DATA_AT + 8, 8, used - at);
		put_features(parts, out, &used, max);
	} else {
		put_kind(parts, FEATURE, out, &used, max, repair);
	}
	put_kind(parts, REST, out, &used, max, repair);
	return used;
}

/* ---- new parts ---- */

/* Types with the least size that their records have. */
static const struct {
	uint8_t type;
	uint16_t size;
} types[] = {
	{ 1, 48 },  { 2, 24 },	{ 3, 24 },  { 4, 32 },	{ 5, 32 },  { 6, 32 },	{ 7, 32 },
	{ 8, 32 },  { 9, 40 },	{ 10, 80 }, { 11, 32 }, { 12, 16 }, { 13, 16 }, { 14, 8 },
	{ 15, 16 }, { 16, 24 }, { 17, 32 }, { 18, 24 }, { 19, 24 }, { 20, 40 }, { 21, 16 },
	{ 22, 32 }, { 64, 72 }, { 65, 16 }, { 66, 12 }, { 67, 48 }, { 68, 8 },	{ 69, 48 },
	{ 70, 48 }, { 71, 48 }, { 72, 48 }, { 73, 40 }, { 74, 16 }, { 75, 24 }, { 76, 40 },
	{ 77, 16 }, { 78, 32 }, { 79, 40 }, { 80, 32 }, { 81, 24 }, { 82, 8 },	{ 83, 24 },
	{ 84, 32 }, { 85, 24 }, { 86, 16 }, { 87, 16 },
};

/* A record of any type: small and odd numbers, or an earlier record's words. */
static void make_record(struct fs_parts *parts, size_t position)
{
	size_t type = fs_fuzz_random(parts, sizeof(types) / sizeof(types[0]));
	size_t size = types[type].size + 8 * fs_fuzz_random(parts, 6);
	struct fs_part *part = fs_fuzz_insert(parts, position, size);
	const struct fs_part *model;

	if (!part)
		return;
	model = &parts->items[fs_fuzz_random(parts, parts->count)];
	part->kind = RECORD;
	if (model->size >= RECORD_HEADER)
		memcpy(part->bytes, model->bytes, model->size < size ? model->size : size);
	set(parts, part->bytes, 4, types[type].type);
	set(parts, part->bytes + 6, 2, size);
	for (size_t at = RECORD_HEADER; at + 4 <= size; at += 4) {
		if (!fs_fuzz_random(parts, 3))
			set(parts, part->bytes + at, 4,
			    fs_fuzz_random(parts, 2) ? fs_fuzz_odd_number(parts)
						     : fs_fuzz_random(parts, 4));
	}
}

static void make_feature(struct fs_parts *parts, size_t position)
{
	size_t size = 4 * fs_fuzz_random(parts, 32);
	struct fs_part *part = fs_fuzz_insert(parts, position, size);

	if (!part)
		return;
	part->kind = FEATURE;
	part->number = (unsigned int)fs_fuzz_random(parts, 40);
	for (size_t at = 0; at < size; at += 4)
		set(parts, part->bytes + at, 4,
		    fs_fuzz_random(parts, 4) ? fs_fuzz_random(parts, 8)
					     : fs_fuzz_odd_number(parts));
}

/* The announcement, | u32 version, type, level, ratio, mmap_len |, without which compressed
 * records are refused. */
static void announce_compression(struct fs_parts *parts)
{
	struct fs_part *part;

	if (feature_of(parts, FS_FEATURE_COMPRESSED))
		return;
	part = fs_fuzz_insert(parts, parts->count, 20);
	if (!part)
		return;
	part->kind = FEATURE;
	part->number = FS_FEATURE_COMPRESSED;
	set(parts, part->bytes, 4, 1);
	set(parts, part->bytes + 4, 4, 1);
	set(parts, part->bytes + 16, 4, 1 << 19);
}

/* Some records that follow each other become one COMPRESSED record, or two that split them
 * anywhere. */
static void compress(struct fs_parts *parts, size_t position)
{
	static uint8_t plain[1 << 16];
	static uint8_t packed[sizeof(plain) + 1024];
	size_t count = 1 + fs_fuzz_random(parts, WRAPPED_MAX);
	size_t used = 0;
	size_t size;
	size_t cut;

	while (count-- && position < parts->count && parts->items[position].kind == RECORD &&
	       fs_fuzz_put(plain, &used, sizeof(plain), parts->items[position].bytes,
			   parts->items[position].size)) {
		memmove(&parts->items[position], &parts->items[position + 1],
			(parts->count - position - 1) * sizeof(parts->items[0]));
		parts->count--;
	}
	if (!used)
		return;
	size = ZSTD_compress(packed, sizeof(packed), plain, used, 1);
	if (ZSTD_isError(size) || size > RECORD_MAX - 16)
		return;
	cut = fs_fuzz_random(parts, 2) ? size : fs_fuzz_random(parts, size);
	for (size_t from = 0; from < size; from = cut, cut = size) {
		size_t length = cut - from;
		struct fs_part *part = fs_fuzz_insert(parts, position++, (length + 15) / 8 * 8 + 8);

		if (!part)
			return;
		part->kind = RECORD;
		set(parts, part->bytes, 4, FS_RECORD_COMPRESSED2);
		set(parts, part->bytes + 6, 2, part->size);
		set(parts, part->bytes + 8, 8, length);
		memcpy(part->bytes + 16, packed + from, length);
		if (!length)
			break;
	}
	announce_compression(parts);
}

static void make(struct fs_parts *parts, size_t position)
{
	switch (fs_fuzz_random(parts, 8)) {
	case 0:
		compress(parts, position);
		break;
	case 1:
		make_feature(parts, position);
		break;
	default:
		make_record(parts, position);
		break;
	}
}

const struct fs_fuzz_format fs_fuzz_format = { .split = split, .make = make, .join = join };
