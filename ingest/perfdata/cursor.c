/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over the records of the data section.
 *
 * How it works: the buffer always holds the next 64 KiB, as much as a record can have. A header
 * that no recorder writes (an impossible size, or a type and size that do not go together) is
 * damage: the walk then looks, byte by byte, for the next place where several plausible
 * records follow each other, counts what lies between as a gap, and goes on there.
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/perfdata/perf_file.h"

enum {
	CURSOR_BUFFER = 1 << 20,
	HEADER = 8,
	TRAILER_MAX = 64, /* sample_id has 48 bytes today */
	RECORD_MAX = UINT16_MAX,
	CHAIN = 4,		       /* plausible records in a row that end a gap */
	UNKNOWN_TYPE_MAX = UINT16_MAX, /* kernel from 1, perf from 64, simpleperf from 32768 */
};

/* Sizes of records with their header; kernel ones without the trailer. */
static const struct {
	uint16_t least, most;
} sizes[FS_RECORD_USER_MAX + 1] = {
	[FS_RECORD_MMAP] = { 40, 40 + 4096 + 8 },
	[FS_RECORD_LOST] = { 24, 24 },
	[FS_RECORD_COMM] = { 16, 16 + 256 },
	[FS_RECORD_EXIT] = { 32, 32 },
	[FS_RECORD_THROTTLE] = { 32, 32 },
	[FS_RECORD_UNTHROTTLE] = { 32, 32 },
	[FS_RECORD_FORK] = { 32, 32 },
	[FS_RECORD_MMAP2] = { 72, 72 + 4096 + 8 },
	[FS_RECORD_AUX] = { 32, 32 },
	[FS_RECORD_ITRACE_START] = { 16, 16 },
	[FS_RECORD_LOST_SAMPLES] = { 16, 16 },
	[FS_RECORD_SWITCH] = { 8, 8 },
	[FS_RECORD_SWITCH_CPU_WIDE] = { 16, 16 },
	[FS_RECORD_FINISHED_ROUND] = { 8, 8 },
	[FS_RECORD_AUXTRACE] = { 48, 48 },
	[FS_RECORD_FINISHED_INIT] = { 8, 8 },
};

/*
 * Whether a recorder may have written a record of this type and size. Only the kernel keeps to
 * multiples of 8: perf writes CPU_MAP of 38 bytes, simpleperf meta information of 12.
 */
static bool is_plausible(uint32_t type, uint16_t size)
{
	if (!type || type > UNKNOWN_TYPE_MAX || size < HEADER ||
	    (size % 8 && type < FS_RECORD_USER_FIRST))
		return false;
	if (type > FS_RECORD_USER_MAX || !sizes[type].least)
		return true;
	return size >= sizes[type].least && size <= sizes[type].most + TRAILER_MAX;
}

int fs_cursor_open(struct fs_cursor *cursor, const struct fs_perf_file *file,
		   struct fs_error *error)
{
	*cursor = (struct fs_cursor){ .file = file, .position = file->data.offset };
	cursor->buffer = malloc(CURSOR_BUFFER);
	if (!cursor->buffer)
		return fs_fail(error, FS_NOMEM, "out of memory");
	return 0;
}

void fs_cursor_close(struct fs_cursor *cursor)
{
	free(cursor->buffer);
	*cursor = (struct fs_cursor){ 0 };
}

/* Have at least `size` bytes from `position` on in the buffer, as far as the data goes. */
static int fill(struct fs_cursor *cursor, uint64_t position, size_t size, struct fs_error *error)
{
	uint64_t end = cursor->buffer_offset + cursor->buffer_used;
	uint64_t left = cursor->file->data_end - position;

	if (size > left)
		size = (size_t)left;
	if (cursor->buffer_used && position >= cursor->buffer_offset && position + size <= end)
		return 0;
	size = left < CURSOR_BUFFER ? (size_t)left : CURSOR_BUFFER;
	FS_TRY(fs_perf_read(cursor->file, position, cursor->buffer, size, error));
	cursor->buffer_offset = position;
	cursor->buffer_used = size;
	return 0;
}

/*
 * Raw bytes that an AUXTRACE or TRACING_DATA record owns behind its own size; simpleperf's
 * TRACING_DATA holds them within.
 */
static uint64_t raw_size(const struct fs_record *record, struct fs_reader payload)
{
	uint64_t size;

	if (record->type == FS_RECORD_AUXTRACE)
		return fs_read_u64(&payload);
	if (record->type != FS_RECORD_HEADER_TRACING_DATA)
		return 0;
	size = fs_read_u32(&payload);
	return HEADER + 4 + size <= record->size ? 0 : (size + 7) & ~7ull;
}

/* Parse the record at a position that lies before the end of the data; its bytes may be cut. */
static int peek(struct fs_cursor *cursor, uint64_t position, struct fs_record *ret_record,
		struct fs_error *error)
{
	struct fs_reader reader;
	size_t at;

	FS_TRY(fill(cursor, position, RECORD_MAX, error));
	at = (size_t)(position - cursor->buffer_offset);
	reader = fs_perf_reader(cursor->file, cursor->buffer + at, cursor->buffer_used - at);
	ret_record->offset = position;
	ret_record->type = fs_read_u32(&reader);
	ret_record->misc = fs_read_u16(&reader);
	ret_record->size = fs_read_u16(&reader);
	if (reader.failed || ret_record->size < HEADER || ret_record->size > reader.size)
		reader = fs_reader_of(NULL, 0);
	else
		reader = fs_reader_like(&reader, reader.data + HEADER,
					ret_record->size - (size_t)HEADER);
	ret_record->payload = reader;
	ret_record->raw.offset = position + ret_record->size;
	ret_record->raw.size = raw_size(ret_record, reader);
	return 0;
}

/*
 * Header and raw size of a record that may lie far off. The buffer stays where the search is: a
 * file can be made so that every place in it seems to be followed by a record far away.
 */
static int peek_far(const struct fs_cursor *cursor, uint64_t position, struct fs_record *ret_record,
		    struct fs_error *error)
{
	uint64_t left = cursor->file->data_end - position;
	uint8_t bytes[HEADER + 8] = { 0 }; /* else gcc sees it read */
	size_t size = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
	struct fs_reader reader = fs_perf_reader(cursor->file, bytes, size);

	if (position >= cursor->buffer_offset &&
	    position + size <= cursor->buffer_offset + cursor->buffer_used)
		memcpy(bytes, cursor->buffer + (position - cursor->buffer_offset), size);
	else
		FS_TRY(fs_perf_read(cursor->file, position, bytes, size, error));
	ret_record->type = fs_read_u32(&reader);
	ret_record->misc = fs_read_u16(&reader);
	ret_record->size = fs_read_u16(&reader);
	if (!reader.failed && ret_record->size < reader.size)
		reader.size = ret_record->size < HEADER ? HEADER : ret_record->size;
	reader = fs_reader_like(&reader, bytes + reader.offset, fs_reader_left(&reader));
	ret_record->raw.size = raw_size(ret_record, reader);
	return 0;
}

/* Whether plausible records follow each other from a position on, or reach the end exactly. */
static int is_chain(struct fs_cursor *cursor, uint64_t position, bool *ret_chain,
		    struct fs_error *error)
{
	uint64_t end = cursor->file->data_end;

	*ret_chain = false;
	for (int i = 0; i < CHAIN && position != end; i++) {
		struct fs_record record;
		uint64_t left = end - position;

		if (left < HEADER)
			return 0;
		FS_TRY(peek_far(cursor, position, &record, error));
		if (!is_plausible(record.type, record.size) || record.size > left ||
		    record.raw.size > left - record.size)
			return 0;
		position += record.size + record.raw.size;
	}
	*ret_chain = true;
	return 0;
}

/* The next position behind `from` where the walk can go on; the end of the data if there is none.
 */
static int find_chain(struct fs_cursor *cursor, uint64_t from, uint64_t *ret_position,
		      struct fs_error *error)
{
	uint64_t end = cursor->file->data_end;

	for (uint64_t position = from + 1; position < end && end - position >= HEADER; position++) {
		struct fs_reader header;
		uint32_t type;
		bool chain;

		FS_TRY(fill(cursor, position, HEADER, error));
		header = fs_perf_reader(
			cursor->file, cursor->buffer + (position - cursor->buffer_offset), HEADER);
		type = fs_read_u32(&header);
		fs_read_u16(&header);
		if (!is_plausible(type, fs_read_u16(&header)))
			continue;
		FS_TRY(is_chain(cursor, position, &chain, error));
		if (!chain)
			continue;
		*ret_position = position;
		return 0;
	}
	*ret_position = end;
	return 0;
}

static void note(struct fs_loss *loss, enum fs_loss_kind kind, uint64_t bytes, uint64_t offset)
{
	if (loss)
		fs_loss_add(loss, kind, 1, bytes, offset, "data section");
}

/* Step over what is no record. A record that the end of the file cuts off is told from damage. */
static int skip_damage(struct fs_cursor *cursor, const struct fs_record *record,
		       struct fs_loss *loss, struct fs_error *error)
{
	uint64_t end = cursor->file->data_end;
	uint64_t left = end - cursor->position;
	bool cut =
		left < HEADER || (is_plausible(record->type, record->size) && record->size > left);
	uint64_t next;

	FS_TRY(find_chain(cursor, cursor->position, &next, error));
	note(loss, cut && next == end ? FS_LOSS_TRUNCATED_FILE : FS_LOSS_BAD_RECORD,
	     next - cursor->position, cursor->position);
	cursor->position = next;
	return 0;
}

/* The common case, at the cost of a few instructions: a whole SAMPLE record in the buffer. */
static bool next_sample(struct fs_cursor *cursor, struct fs_record *ret_record)
{
	uint64_t at = cursor->position - cursor->buffer_offset;
	uint64_t header;
	size_t size;

	if (cursor->file->swap || cursor->position < cursor->buffer_offset ||
	    cursor->buffer_used < HEADER || at > cursor->buffer_used - HEADER)
		return false;
	memcpy(&header, cursor->buffer + at, HEADER);
	size = header >> 48;
	if ((uint32_t)header != FS_RECORD_SAMPLE || size < HEADER || size % 8 ||
	    size > cursor->buffer_used - at)
		return false;
	*ret_record = (struct fs_record){
		.type = FS_RECORD_SAMPLE,
		.misc = (uint16_t)(header >> 32),
		.size = (uint16_t)size,
		.offset = cursor->position,
		.payload = fs_reader_of(cursor->buffer + at + HEADER, size - HEADER),
		.raw.offset = cursor->position + size,
	};
	cursor->position += size;
	return true;
}

int fs_cursor_next(struct fs_cursor *cursor, struct fs_record *ret_record, bool *ret_more,
		   struct fs_loss *loss, struct fs_error *error)
{
	uint64_t end = cursor->file->data_end;

	*ret_more = next_sample(cursor, ret_record);
	if (*ret_more)
		return 0;
	while (cursor->position < end) {
		uint64_t left = end - cursor->position;

		FS_TRY(peek(cursor, cursor->position, ret_record, error));
		if (left < HEADER || ret_record->size > left ||
		    !is_plausible(ret_record->type, ret_record->size)) {
			FS_TRY(skip_damage(cursor, ret_record, loss, error));
			continue;
		}
		left -= ret_record->size;
		if (ret_record->raw.size > left) {
			note(loss, FS_LOSS_TRUNCATED_FILE, ret_record->raw.size - left, end);
			ret_record->raw.size = left;
		}
		cursor->position += ret_record->size + ret_record->raw.size;
		*ret_more = true;
		return 0;
	}
	return 0;
}
