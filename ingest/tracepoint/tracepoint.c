/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/tracepoint/tracepoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/reader.h"
#include "common/text.h"
#include "common/vector.h"

/* JSON beyond this for raw data of a size is refused: fields that somebody made overlap. */
enum { JSON_FIXED = 8192, JSON_PER_BYTE = 8 };

void fs_tracepoints_init(struct fs_tracepoints *tracepoints)
{
	*tracepoints = (struct fs_tracepoints){ 0 };
	fs_interner_init(&tracepoints->strings);
	fs_table_init(&tracepoints->by_id, 8, 8);
}

void fs_tracepoints_free(struct fs_tracepoints *tracepoints)
{
	fs_interner_free(&tracepoints->strings);
	fs_table_free(&tracepoints->by_id);
	free(tracepoints->items);
	free(tracepoints->fields);
	*tracepoints = (struct fs_tracepoints){ 0 };
}

int fs_tracepoints_add(struct fs_tracepoints *tracepoints, uint32_t id, uint32_t system,
		       uint32_t name, bool *ret_added)
{
	uint64_t key = id;
	uint64_t *index = fs_table_put(&tracepoints->by_id, &key, NULL, ret_added);

	if (!index)
		return FS_NOMEM;
	if (!*ret_added)
		return 0;
	*index = tracepoints->count;
	FS_TRY(FS_RESERVE(tracepoints->items, tracepoints->capacity, tracepoints->count + 1));
	tracepoints->items[tracepoints->count++] = (struct fs_tracepoint){
		.id = id,
		.system = system,
		.name = name,
		.first_field = (uint32_t)tracepoints->field_count,
	};
	return 0;
}

int fs_tracepoints_add_field(struct fs_tracepoints *tracepoints,
			     const struct fs_tracepoint_field *field)
{
	FS_TRY(FS_RESERVE(tracepoints->fields, tracepoints->field_capacity,
			  tracepoints->field_count + 1));
	tracepoints->fields[tracepoints->field_count++] = *field;
	tracepoints->items[tracepoints->count - 1].field_count++;
	return 0;
}

const struct fs_tracepoint *fs_tracepoint_find(const struct fs_tracepoints *tracepoints,
					       uint64_t id)
{
	const uint64_t *index = fs_table_get(&tracepoints->by_id, &id);

	return index && *index < tracepoints->count ? &tracepoints->items[*index] : NULL;
}

const struct fs_tracepoint_field *fs_tracepoint_field_find(const struct fs_tracepoints *tracepoints,
							   const struct fs_tracepoint *tracepoint,
							   const char *name)
{
	uint32_t id;

	if (!fs_interner_find(&tracepoints->strings, name, strlen(name), &id))
		return NULL;
	for (uint32_t i = 0; i < tracepoint->field_count; i++) {
		const struct fs_tracepoint_field *field =
			&tracepoints->fields[tracepoint->first_field + i];

		if (field->name == id)
			return field;
	}
	return NULL;
}

/* ---- raw data ---- */

/* Where a field's data is; false: not within the raw data. */
static bool find_data(const struct fs_tracepoint_field *field, struct fs_reader *raw,
		      struct fs_reader *ret_data)
{
	size_t size = field->size;
	struct fs_reader word;
	uint32_t place;

	if (field->offset > raw->size || size > raw->size - field->offset)
		return false;
	if (field->flags & FS_FIELD_ARRAY && !size) /* up to the end */
		size = raw->size - field->offset;
	*ret_data = fs_reader_like(raw, raw->data + field->offset, size);
	if (!(field->flags & FS_FIELD_DYNAMIC))
		return true;
	word = *ret_data;
	place = fs_read_u32(&word);
	size = place >> 16;
	place = (place & 0xffff) +
		(field->flags & FS_FIELD_RELATIVE ? field->offset + field->size : 0);
	if (word.failed || (size && (place > raw->size || size > raw->size - place)))
		return false;
	*ret_data = fs_reader_like(raw, size ? raw->data + place : raw->data, size);
	return true;
}

/* The next number of `size` bytes: 1, 2, 4 or 8. */
static int64_t read_number(struct fs_reader *data, uint32_t size, bool is_signed)
{
	uint64_t value = size == 1   ? fs_read_u8(data)
			 : size == 2 ? fs_read_u16(data)
			 : size == 4 ? fs_read_u32(data)
				     : fs_read_u64(data);
	unsigned int unused = 64 - 8 * size;

	return is_signed ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

static bool is_number_size(uint32_t size)
{
	return size && size <= 8 && !(size & (size - 1));
}

bool fs_tracepoint_number(const struct fs_tracepoint_field *field, const uint8_t *raw, size_t size,
			  bool swap, int64_t *ret_value)
{
	struct fs_reader all = { .data = raw, .size = size, .swap = swap };
	struct fs_reader data;

	if (field->flags & (FS_FIELD_ARRAY | FS_FIELD_DYNAMIC) || !is_number_size(field->size) ||
	    !find_data(field, &all, &data))
		return false;
	*ret_value = read_number(&data, field->size, field->flags & FS_FIELD_SIGNED);
	return true;
}

/* ---- JSON ---- */

static int put(struct fs_json *json, const char *text, size_t length)
{
	FS_TRY(FS_RESERVE(json->bytes, json->capacity, json->used + length));
	memcpy(json->bytes + json->used, text, length);
	json->used += length;
	return 0;
}

static int put_string(struct fs_json *json, const char *text, size_t length)
{
	FS_TRY(put(json, "\"", 1));
	FS_TRY(FS_RESERVE(json->bytes, json->capacity, json->used + 6 * length + 1));
	json->used += fs_json_escape(json->bytes + json->used, text, length);
	return put(json, "\"", 1);
}

static int put_hex(struct fs_json *json, const uint8_t *bytes, size_t length)
{
	FS_TRY(put(json, "\"0x", 3));
	FS_TRY(FS_RESERVE(json->bytes, json->capacity, json->used + 2 * length + 2));
	fs_hex(json->bytes + json->used, bytes, length);
	json->used += 2 * length;
	json->bytes[json->used++] = '"';
	return 0;
}

static int put_number(struct fs_json *json, int64_t value)
{
	char text[24];

	return put(json, text, (size_t)snprintf(text, sizeof(text), "%" PRId64, value));
}

static int put_array(struct fs_json *json, const struct fs_tracepoint_field *field,
		     struct fs_reader data)
{
	const char *separator = "[";

	if (!data.size)
		return put(json, "[]", 2);
	while (fs_reader_left(&data) >= field->element_size) {
		FS_TRY(put(json, separator, 1));
		FS_TRY(put_number(json, read_number(&data, field->element_size,
						    field->flags & FS_FIELD_SIGNED)));
		separator = ",";
	}
	return put(json, "]", 1);
}

static int put_value(struct fs_json *json, const struct fs_tracepoint_field *field,
		     struct fs_reader data)
{
	const char *text = (const char *)data.data;

	if (field->flags & FS_FIELD_STRING)
		return put_string(json, text, strnlen(text, data.size));
	if (field->flags & FS_FIELD_ARRAY && is_number_size(field->element_size) &&
	    data.size % field->element_size == 0)
		return put_array(json, field, data);
	if (!(field->flags & FS_FIELD_ARRAY) && is_number_size((uint32_t)data.size))
		return put_number(json, read_number(&data, (uint32_t)data.size,
						    field->flags & FS_FIELD_SIGNED));
	return put_hex(json, data.data, data.size);
}

static int put_field(const struct fs_tracepoints *tracepoints,
		     const struct fs_tracepoint_field *field, struct fs_reader *raw,
		     struct fs_json *json, char separator, bool *ret_there)
{
	struct fs_reader data;
	const char *name;
	size_t length;

	*ret_there = find_data(field, raw, &data);
	if (!*ret_there)
		return 0;
	name = fs_interned(&tracepoints->strings, field->name, &length);
	FS_TRY(put(json, &separator, 1));
	FS_TRY(put_string(json, name, length));
	FS_TRY(put(json, ":", 1));
	return put_value(json, field, data);
}

static int put_fields(const struct fs_tracepoints *tracepoints,
		      const struct fs_tracepoint *tracepoint, struct fs_reader *raw,
		      struct fs_json *json, bool *ret_whole)
{
	size_t most = json->used + JSON_FIXED + JSON_PER_BYTE * raw->size;
	char separator = '{';

	*ret_whole = true;
	for (uint32_t i = 0; i < tracepoint->field_count && json->used <= most; i++) {
		const struct fs_tracepoint_field *field =
			&tracepoints->fields[tracepoint->first_field + i];
		bool there;

		if (field->flags & FS_FIELD_COMMON)
			continue;
		FS_TRY(put_field(tracepoints, field, raw, json, separator, &there));
		*ret_whole = *ret_whole && there;
		separator = there ? ',' : separator;
	}
	FS_TRY(put(json, "{}", separator == '{' ? 1 : 0));
	return put(json, "}", 1);
}

int fs_tracepoint_json(const struct fs_tracepoints *tracepoints,
		       const struct fs_tracepoint *tracepoint, const uint8_t *raw, size_t size,
		       bool swap, struct fs_json *json, bool *ret_whole)
{
	struct fs_reader reader = { .data = raw, .size = size, .swap = swap };
	size_t start = json->used;

	*ret_whole = false;
	if (tracepoint) {
		FS_TRY(put_fields(tracepoints, tracepoint, &reader, json, ret_whole));
		if (json->used - start <= JSON_FIXED + JSON_PER_BYTE * size)
			return 0;
		*ret_whole = false;
		json->used = start;
	}
	FS_TRY(put(json, "{\"raw\":", 7));
	FS_TRY(put_hex(json, raw, size));
	return put(json, "}", 1);
}
