/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf.data as a stream (`perf record -o -`, also saved to a file).
 *
 *   | "PERFILE2", u64 16 | HEADER_ATTR ... | HEADER_FEATURE ... | records as in a file |
 *
 * How it works: one walk over the records finds the events and the features that a file has in
 * sections of its own. A feature's bytes are those of the section, so it is noted as a section
 * inside its record. Everything behind that treats streams and files alike.
 */
#include "ingest/perfdata/stream.h"

#include <stdlib.h>
#include <string.h>

#include "common/vector.h"

enum {
	ATTR_SIZE_0 = 64, /* attr.size 0 means the first published layout */
	ATTR_SIZE_KNOWN = 144,
	EVENTS_MAX = 65536,
	FEATURE_HEADER = 16, /* record header and u64 feature id */
};

/* | attr (attr.size bytes) | u64 ids to the end | */
static int add_event(struct fs_perf_file *file, const struct fs_record *record, size_t *capacity,
		     struct fs_loss *loss, struct fs_error *error)
{
	struct fs_reader payload = record->payload;
	uint32_t size = 0;
	struct fs_event *event;
	const uint8_t *attr;

	fs_read_u32(&payload); /* type */
	size = fs_read_u32(&payload);
	size = size ? size : ATTR_SIZE_0;
	payload = record->payload;
	attr = fs_read_bytes(&payload, size);
	if (!attr || size < ATTR_SIZE_0 || size % 8 || file->event_count == EVENTS_MAX) {
		fs_loss_add(loss, FS_LOSS_BAD_ATTR, 1, record->size, record->offset,
			    "record type %u", record->type);
		return 0;
	}
	if (FS_RESERVE(file->events, *capacity, file->event_count + 1))
		return fs_fail(error, FS_NOMEM, "%s: out of memory", file->path);
	event = &file->events[file->event_count];
	fs_attr_parse(attr, size, file->swap, &event->attr);
	event->leader = -1;
	event->id_count = fs_reader_left(&payload) / 8;
	event->ids = event->id_count ? malloc(event->id_count * 8) : NULL;
	if (event->id_count && !event->ids)
		return fs_fail(error, FS_NOMEM, "%s: out of memory", file->path);
	file->event_count++;
	for (size_t i = 0; i < event->id_count; i++)
		event->ids[i] = fs_read_u64(&payload);
	if (size > ATTR_SIZE_KNOWN)
		fs_loss_add(loss, FS_LOSS_ATTR_TAIL, 1, size - ATTR_SIZE_KNOWN, record->offset,
			    "events");
	if (event->attr.sample_type & ~(uint64_t)FS_SAMPLE_KNOWN)
		fs_loss_add(loss, FS_LOSS_UNKNOWN_SAMPLE_FIELDS, 1, 0, record->offset, "event %zu",
			    file->event_count - 1);
	return 0;
}

/* | u64 feature | bytes of the section |; an empty one marks the end of the features */
static void add_feature(struct fs_perf_file *file, const struct fs_record *record)
{
	struct fs_reader payload = record->payload;
	uint64_t feature = fs_read_u64(&payload);

	if (payload.failed || record->size == FEATURE_HEADER || feature >= FS_FEATURE_BITS)
		return;
	file->has_feature[feature] = true;
	file->features[feature] = (struct fs_section){
		.offset = record->offset + FEATURE_HEADER,
		.size = record->size - (uint64_t)FEATURE_HEADER,
	};
}

int fs_stream_read_head(struct fs_perf_file *file, struct fs_loss *loss, struct fs_error *error)
{
	struct fs_cursor cursor;
	struct fs_record record;
	size_t capacity = 0;
	bool more = true;
	int code = fs_cursor_open(&cursor, file, error);

	while (!code && more) {
		code = fs_cursor_next(&cursor, &record, &more, NULL, error);
		if (code || !more)
			break;
		if (record.type == FS_RECORD_HEADER_ATTR)
			code = add_event(file, &record, &capacity, loss, error);
		else if (record.type == FS_RECORD_HEADER_FEATURE)
			add_feature(file, &record);
	}
	fs_cursor_close(&cursor);
	return code;
}
