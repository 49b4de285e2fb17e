/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over the records of the data section.
 *
 * How it works: the buffer always holds the next 64 KiB, as much as a record can have. A header
 * that no recorder writes (an impossible size, or a type and size that do not go together) is
 * damage: the walk then looks, byte by byte, for the next place where several likely records
 * follow each other, counts what lies between as a gap, and goes on there.
 *
 * A damaged size would lead the walk far into other records. So a record is only trusted when
 * something plausible follows it; if not, and a chain of records begins inside it, its size was
 * the damage.
 *
 *   | size lies: 0x8040 | record | record | record ...  x <- nothing plausible
 *   |<------ gap ------>|<- the walk goes on here
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/perfdata/perf_file.h"

enum {
	CURSOR_BUFFER = 1 << 20,
	HEADER = 8,
	TRAILER_MAX = 64, /* sample_id has 48 bytes today */
	RECORD_MAX = UINT16_MAX,
	CHAIN = 3,		       /* likely records in a row that end a gap */
	CHAIN_CUT = 2,		       /* as many do where the end of the data cuts the next */
	UNKNOWN_TYPE_MAX = UINT16_MAX, /* kernel from 1, perf from 64, simpleperf from 32768 */
	NEWER_TYPES = 8,	       /* that a gap may end with, beyond those known */
	SIMPLEPERF_TYPE = 32768,
	SIMPLEPERF_TYPES = 16,
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
	[FS_RECORD_AUXTRACE] = { 48, 112 },
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
	return size >= sizes[type].least &&
	       size <= sizes[type].most + (type < FS_RECORD_USER_FIRST ? TRAILER_MAX : 0);
}

/* Least sizes of the others, with the fields that their readers need. */
static const uint16_t least_sizes[FS_RECORD_USER_MAX + 1] = {
	[FS_RECORD_READ] = 24,
	[FS_RECORD_SAMPLE] = 16,
	[FS_RECORD_NAMESPACES] = 24,
	[FS_RECORD_KSYMBOL] = 32,
	[FS_RECORD_BPF_EVENT] = 24,
	[FS_RECORD_CGROUP] = 24,
	[FS_RECORD_TEXT_POKE] = 24,
	[FS_RECORD_AUX_OUTPUT_HW_ID] = 16,
	[FS_RECORD_CALLCHAIN_DEFERRED] = 24,
	[FS_RECORD_HEADER_ATTR] = 72,
	[FS_RECORD_HEADER_EVENT_TYPE] = 80,
	[FS_RECORD_HEADER_TRACING_DATA] = 12,
	[FS_RECORD_HEADER_BUILD_ID] = 36,
	[FS_RECORD_ID_INDEX] = 48,
	[FS_RECORD_AUXTRACE_INFO] = 16,
	[FS_RECORD_AUXTRACE_ERROR] = 48,
	[FS_RECORD_THREAD_MAP] = 40,
	[FS_RECORD_CPU_MAP] = 12,
	[FS_RECORD_STAT_CONFIG] = 16,
	[FS_RECORD_STAT] = 48,
	[FS_RECORD_STAT_ROUND] = 24,
	[FS_RECORD_EVENT_UPDATE] = 25,
	[FS_RECORD_TIME_CONV] = 32,
	[FS_RECORD_HEADER_FEATURE] = 16,
	[FS_RECORD_COMPRESSED] = 9,
	[FS_RECORD_COMPRESSED2] = 24,
	[FS_RECORD_BPF_METADATA] = 528,
};

/*
 * The same where nothing led here: only types that exist or that the next versions may add, and
 * large enough.
 */
static bool is_likely(uint32_t type, uint16_t size)
{
	if (type > FS_RECORD_USER_MAX + NEWER_TYPES)
		return type >= SIMPLEPERF_TYPE && type < SIMPLEPERF_TYPE + SIMPLEPERF_TYPES &&
		       size > HEADER;
	if (type > FS_RECORD_KERNEL_MAX + NEWER_TYPES && type < FS_RECORD_USER_FIRST)
		return false;
	return is_plausible(type, size) && (type > FS_RECORD_USER_MAX || size >= least_sizes[type]);
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

/*
 * Whether a single record is beyond chance, as it ends where the data does: the kernel's are
 * aligned, and of perf's only the two that end a round or the beginning have nothing to vary.
 */
static bool is_sure(const struct fs_record *record, uint64_t offset_in_data)
{
	if (record->type < FS_RECORD_USER_FIRST)
		return offset_in_data % 8 == 0;
	return record->type == FS_RECORD_FINISHED_ROUND || record->type == FS_RECORD_FINISHED_INIT;
}

/* Whether likely records follow each other from a position on, or reach the end. */
static int is_chain(struct fs_cursor *cursor, uint64_t position, bool *ret_chain,
		    struct fs_error *error)
{
	uint64_t end = cursor->file->data_end;
	uint64_t begin = position;

	*ret_chain = false;
	for (int i = 0; i < CHAIN && position != end; i++) {
		struct fs_record record;
		uint64_t left = end - position;

		if (left < HEADER) {
			*ret_chain = i >= CHAIN_CUT;
			return 0;
		}
		FS_TRY(peek_far(cursor, position, &record, error));
		if (!is_likely(record.type, record.size))
			return 0;
		if (record.size > left || record.raw.size > left - record.size) {
			*ret_chain = i >= CHAIN_CUT;
			return 0;
		}
		position += record.size + record.raw.size;
		if (position == end && !i && !is_sure(&record, begin - cursor->file->data.offset))
			return 0;
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
	bool swap = cursor->file->swap;

	for (uint64_t position = from + 1; position < end && end - position >= HEADER; position++) {
		const uint8_t *bytes;
		uint32_t type;
		uint16_t size;
		bool chain;

		FS_TRY(fill(cursor, position, HEADER, error));
		bytes = cursor->buffer + (position - cursor->buffer_offset);
		memcpy(&type, bytes, sizeof(type));
		memcpy(&size, bytes + HEADER - sizeof(size), sizeof(size));
		if (!is_likely(swap ? __builtin_bswap32(type) : type,
			       swap ? __builtin_bswap16(size) : size))
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

/* Whether the walk could go on at a position: at the end, or with a record that may be cut. */
static int goes_on(const struct fs_cursor *cursor, uint64_t position, bool *ret_goes_on,
		   struct fs_error *error)
{
	uint64_t end = cursor->file->data_end;
	struct fs_record next;

	*ret_goes_on = position == end;
	if (position >= end || end - position < HEADER)
		return 0;
	FS_TRY(peek_far(cursor, position, &next, error));
	*ret_goes_on = is_plausible(next.type, next.size);
	return 0;
}

/*
 * Whether a plausible record is there as a whole. Its raw data is cut where other records begin
 * in it, or the file ends.
 */
static int check_record(struct fs_cursor *cursor, struct fs_record *record, struct fs_loss *loss,
			bool *ret_whole, struct fs_error *error)
{
	uint64_t end = cursor->file->data_end;
	uint64_t left = end - record->offset;
	bool sound = false;

	*ret_whole = record->size <= left;
	if (*ret_whole && record->raw.size <= left - record->size)
		FS_TRY(goes_on(cursor, record->raw.offset + record->raw.size, &sound, error));
	if (sound)
		return 0;
	FS_TRY(find_chain(cursor, record->offset, &cursor->resume, error));
	if (cursor->resume < record->raw.offset)
		*ret_whole = false;
	if (!*ret_whole)
		return 0;
	if (cursor->resume < end && record->raw.size > cursor->resume - record->raw.offset) {
		note(loss, FS_LOSS_BAD_RECORD, 0, record->offset);
		record->raw.size = cursor->resume - record->raw.offset;
	} else if (record->raw.size > end - record->raw.offset) {
		note(loss, FS_LOSS_TRUNCATED_FILE, record->raw.size - (end - record->raw.offset),
		     end);
		record->raw.size = end - record->raw.offset;
	}
	/* the search moved the buffer */
	struct fs_section raw = record->raw;

	FS_TRY(peek(cursor, record->offset, record, error));
	record->raw = raw;
	return 0;
}

/* Step over what is no record. A record that the end of the file cuts off is told from damage. */
static int skip_damage(struct fs_cursor *cursor, const struct fs_record *record,
		       struct fs_loss *loss, struct fs_error *error)
{
	uint64_t end = cursor->file->data_end;
	uint64_t left = end - cursor->position;
	bool cut =
		left < HEADER || (is_plausible(record->type, record->size) && record->size > left);

	/* often the search has been made for the record before */
	if (cursor->resume <= cursor->position)
		FS_TRY(find_chain(cursor, cursor->position, &cursor->resume, error));
	note(loss, cut && cursor->resume == end ? FS_LOSS_TRUNCATED_FILE : FS_LOSS_BAD_RECORD,
	     cursor->resume - cursor->position, cursor->position);
	cursor->position = cursor->resume;
	return 0;
}

/*
 * The common case, at the cost of a few instructions: a whole SAMPLE record in the buffer, and the
 * header of another behind it.
 */
static bool next_sample(struct fs_cursor *cursor, struct fs_record *ret_record)
{
	uint64_t at = cursor->position - cursor->buffer_offset;
	uint64_t header;
	uint64_t next;
	size_t size;

	if (cursor->file->swap || cursor->position < cursor->buffer_offset ||
	    cursor->buffer_used < HEADER || at > cursor->buffer_used - HEADER)
		return false;
	memcpy(&header, cursor->buffer + at, HEADER);
	size = header >> 48;
	if ((uint32_t)header != FS_RECORD_SAMPLE || size < HEADER || size % 8 ||
	    size + HEADER > cursor->buffer_used - at)
		return false;
	memcpy(&next, cursor->buffer + at + size, HEADER);
	if ((uint32_t)next != FS_RECORD_SAMPLE || next >> 48 < HEADER)
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
		bool whole = false;

		FS_TRY(peek(cursor, cursor->position, ret_record, error));
		if (end - cursor->position >= HEADER &&
		    is_plausible(ret_record->type, ret_record->size))
			FS_TRY(check_record(cursor, ret_record, loss, &whole, error));
		if (!whole) {
			FS_TRY(skip_damage(cursor, ret_record, loss, error));
			continue;
		}
		cursor->position += ret_record->size + ret_record->raw.size;
		*ret_more = true;
		return 0;
	}
	return 0;
}
