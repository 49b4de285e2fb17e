/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/perfdata/perf_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/perfdata/spool.h"
#include "ingest/perfdata/stream.h"

enum {
	HEADER_SIZE = 104,
	OLD_HEADER_SIZE = 72,  /* without the feature bitmap */
	PIPE_HEADER_SIZE = 16, /* a stream saved to a file */
	ATTR_SIZE_MIN = 64,
	ATTR_SIZE_KNOWN = 144,
	ENTRY_MIN = ATTR_SIZE_MIN + 16, /* an attr and the section of its ids */
	ENTRY_MAX = 4096,
	ATTRS_MAX = 65536,
	IDS_MAX = 1 << 24,
	HOSTNAME = 3, /* feature bit */
	/* a file without its header is recognised by so many records in a row near its start */
	RECOGNISED_RECORDS = 16,
	RECOGNISED_WITHIN = 1 << 20,
	FIRST_RECORDS = 1 << 20, /* records can be told from so much */
};

/* Offsets of the header's fields. */
enum {
	AT_MAGIC = 0,
	AT_HEADER_SIZE = 8,
	AT_ATTR_SIZE = 16,
	AT_ATTRS = 24,
	AT_DATA_OFFSET = 40,
	AT_DATA_SIZE = 48,
};

struct header {
	uint64_t size;
	uint64_t attr_size; /* of an entry of the attrs section */
	uint64_t bitmap[4]; /* of the features */
};

int fs_perf_read(const struct fs_perf_file *file, uint64_t offset, void *buffer, size_t size,
		 struct fs_error *error)
{
	size_t done = 0;

	if (offset > (uint64_t)INT64_MAX - size)
		return fs_fail(error, FS_REFUSED, "%s: offset 0x%" PRIx64 " lies outside any file",
			       file->path, offset);
	while (done < size) {
		ssize_t got =
			pread(file->fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fs_fail(error, FS_REFUSED,
				       "%s: cannot read %zu bytes at offset 0x%" PRIx64 ": %s",
				       file->path, size, offset,
				       got ? strerror(errno) : "the file ends before them");
		done += (size_t)got;
	}
	return 0;
}

static int refuse_magic(const struct fs_perf_file *file, const uint8_t *magic,
			struct fs_error *error)
{
	return fs_fail(error, FS_REFUSED,
		       "%s: offset 0: found %02x %02x %02x %02x %02x %02x %02x %02x, expected "
		       "\"PERFILE2\": this is not a perf.data file",
		       file->path, magic[0], magic[1], magic[2], magic[3], magic[4], magic[5],
		       magic[6], magic[7]);
}

static struct fs_section read_section(struct fs_reader *reader)
{
	struct fs_section section;

	section.offset = fs_read_u64(reader);
	section.size = fs_read_u64(reader);
	return section;
}

/* Whether a section lies in the file, without overflow. */
static bool in_file(const struct fs_perf_file *file, struct fs_section section)
{
	return section.offset <= file->size && section.size <= file->size - section.offset;
}

/*
 * The flags are bit-fields, which a big-endian compiler fills from the other end: flag i stands in
 * byte i / 8 at bit 7 - i % 8.
 */
static uint64_t read_flags(struct fs_reader *reader)
{
	const uint8_t *bytes = fs_read_bytes(reader, 8);
	uint64_t flags = 0;

	for (unsigned int i = 0; i < 64; i++)
		flags |= (uint64_t)(bytes[i / 8] >> (reader->swap ? 7 - i % 8 : i % 8) & 1) << i;
	return flags;
}

void fs_attr_parse(const uint8_t *bytes, size_t size, bool swap, struct fs_attr *ret_attr)
{
	uint8_t full[ATTR_SIZE_KNOWN] = { 0 };
	struct fs_reader reader = { .data = full, .size = sizeof(full), .swap = swap };
	struct fs_attr attr = { 0 };

	memcpy(full, bytes, size < sizeof(full) ? size : sizeof(full));
	attr.type = fs_read_u32(&reader);
	attr.size = fs_read_u32(&reader);
	attr.config = fs_read_u64(&reader);
	attr.sample_period = fs_read_u64(&reader);
	attr.sample_type = fs_read_u64(&reader);
	attr.read_format = fs_read_u64(&reader);
	attr.flags = read_flags(&reader);
	fs_read_u32(&reader); /* wakeup_events */
	attr.bp_type = fs_read_u32(&reader);
	attr.config1 = fs_read_u64(&reader);
	attr.config2 = fs_read_u64(&reader);
	attr.branch_sample_type = fs_read_u64(&reader);
	attr.sample_regs_user = fs_read_u64(&reader);
	fs_read_u32(&reader); /* sample_stack_user */
	attr.clockid = (int32_t)fs_read_u32(&reader);
	attr.sample_regs_intr = fs_read_u64(&reader);
	fs_read_bytes(&reader, 24); /* aux_watermark .. sig_data */
	attr.config3 = fs_read_u64(&reader);
	attr.config4 = fs_read_u64(&reader);
	*ret_attr = attr;
}

/* Remember how far into the file its sections reach. */
static void note_section(struct fs_perf_file *file, struct fs_section section)
{
	if (section.offset + section.size > file->sections_end)
		file->sections_end = section.offset + section.size;
}

/*
 * Read the ids of one event; a list that is not in the file is noted and left empty. *left is
 * how many more bytes of ids the file can hold: thousands of events may name the same list.
 */
static int read_ids(struct fs_perf_file *file, struct fs_event *event, struct fs_section ids,
		    uint64_t *left, struct fs_loss *loss, struct fs_error *error)
{
	uint64_t count = ids.size / 8;

	if (!ids.size)
		return 0;
	if (!in_file(file, ids) || ids.size % 8 || count > IDS_MAX || ids.size > *left) {
		fs_loss_add(loss, FS_LOSS_BAD_ATTR, 1, 0, ids.offset, "event %td",
			    event - file->events);
		return 0;
	}
	*left -= ids.size;
	note_section(file, ids);
	event->id_section = ids;
	event->id_count = (size_t)count;
	event->ids = calloc(event->id_count, 8);
	if (!event->ids)
		return fs_fail(error, FS_NOMEM, "%s: out of memory for %zu event ids", file->path,
			       event->id_count);
	FS_TRY(fs_perf_read(file, ids.offset, event->ids, event->id_count * 8, error));
	for (size_t i = 0; file->swap && i < event->id_count; i++)
		event->ids[i] = __builtin_bswap64(event->ids[i]);
	return 0;
}

static void note_header(struct fs_loss *loss, uint64_t field, const char *name)
{
	fs_loss_add(loss, FS_LOSS_BAD_HEADER, 1, 0, field, "%s", name);
}

static bool is_entry_size(uint64_t size)
{
	return size >= ENTRY_MIN && size <= ENTRY_MAX && size % 8 == 0;
}

/* What an entry of the attrs section says of itself. */
struct entry {
	uint64_t own_size; /* by attr.size, which very old ones left 0 */
	bool says_size;
	struct fs_section ids;
	bool has_ids; /* at least one, in the file */
};

/* | attr: u32 type, u32 size, ... | ids {u64 offset, u64 size} | */
static struct entry parse_entry(const struct fs_perf_file *file, const uint8_t *bytes,
				size_t stride)
{
	struct fs_reader size = fs_perf_reader(file, bytes + 4, 4);
	struct fs_reader ids = fs_perf_reader(file, bytes + stride - 16, 16);
	struct entry entry = { .own_size = fs_read_u32(&size) };

	entry.says_size = entry.own_size;
	entry.own_size = (entry.says_size ? entry.own_size : ATTR_SIZE_MIN) + 16;
	entry.says_size = entry.says_size && is_entry_size(entry.own_size);
	entry.ids = read_section(&ids);
	entry.has_ids = entry.ids.size && entry.ids.size % 8 == 0 &&
			entry.ids.offset >= OLD_HEADER_SIZE && in_file(file, entry.ids);
	return entry;
}

/* The bytes of an entry, as far as the file has them. */
static int read_entry(const struct fs_perf_file *file, uint64_t offset, uint8_t *bytes,
		      size_t *ret_size, struct fs_error *error)
{
	uint64_t left = offset < file->size ? file->size - offset : 0;

	*ret_size = left < ENTRY_MAX ? (size_t)left : ENTRY_MAX;
	return fs_perf_read(file, offset, bytes, *ret_size, error);
}

/*
 * How far the entries stand apart. The header says it, and so does each entry: what `perf inject`
 * writes and what a damaged header says may differ from that. Believed is who has the ids where
 * the file can hold them. 0: nobody can be believed.
 */
static int choose_stride(const struct fs_perf_file *file, uint64_t attr_size, size_t *ret_stride,
			 struct fs_error *error)
{
	uint8_t bytes[ENTRY_MAX];
	struct entry entry;
	size_t size;

	*ret_stride = is_entry_size(attr_size) ? (size_t)attr_size : 0;
	FS_TRY(read_entry(file, file->attrs.offset, bytes, &size, error));
	if (size < ENTRY_MIN)
		return 0;
	entry = parse_entry(file, bytes, ENTRY_MIN);
	if (!is_entry_size(entry.own_size) || entry.own_size == *ret_stride ||
	    entry.own_size > size)
		return 0;
	if (*ret_stride && *ret_stride <= size && parse_entry(file, bytes, *ret_stride).has_ids)
		return 0;
	if (!*ret_stride || parse_entry(file, bytes, (size_t)entry.own_size).has_ids)
		*ret_stride = (size_t)entry.own_size;
	return 0;
}

/* One entry of the attrs section. What neither says a possible size nor has ids is no event. */
static int read_attr(struct fs_perf_file *file, const uint8_t *bytes, size_t stride,
		     uint64_t offset, uint64_t *ids_left, struct fs_loss *loss,
		     struct fs_error *error)
{
	struct fs_event *event = &file->events[file->event_count];
	struct entry entry = parse_entry(file, bytes, stride);

	if (!entry.has_ids && (!entry.says_size || entry.own_size > stride)) {
		fs_loss_add(loss, FS_LOSS_BAD_ATTR, 1, stride, offset, "events");
		return 0;
	}
	fs_attr_parse(bytes, stride - 16, file->swap, &event->attr);
	event->leader = -1;
	if (entry.own_size != stride)
		fs_loss_add(loss, FS_LOSS_ATTR_SIZE, 1, 0, offset + 4, "events");
	if (stride - 16 > ATTR_SIZE_KNOWN)
		fs_loss_add(loss, FS_LOSS_ATTR_TAIL, 1, stride - 16 - ATTR_SIZE_KNOWN, offset,
			    "events");
	if (event->attr.sample_type & ~(uint64_t)FS_SAMPLE_KNOWN)
		fs_loss_add(loss, FS_LOSS_UNKNOWN_SAMPLE_FIELDS, 1, 0, offset, "event %zu",
			    file->event_count);
	file->event_count++;
	return read_ids(file, event, entry.ids, ids_left, loss, error);
}

/* How many entries there are: as the header counts them, and no more than fit the file. */
static size_t count_attrs(const struct fs_perf_file *file, uint64_t attr_size, size_t stride,
			  struct fs_loss *loss)
{
	bool usable = is_entry_size(attr_size) && file->attrs.size % attr_size == 0;
	uint64_t unit = usable ? attr_size : stride;
	uint64_t count = file->attrs.size / unit;
	uint64_t fit = (file->size - file->attrs.offset) / stride;

	if (is_entry_size(attr_size) && !usable && stride != attr_size)
		note_header(loss, AT_ATTR_SIZE, "attr_size");
	if (file->attrs.size % unit)
		fs_loss_add(loss, FS_LOSS_TRAILING_BYTES, 1, file->attrs.size % unit,
			    file->attrs.offset + count * stride, "attrs");
	if (count > fit) {
		fs_loss_add(loss, FS_LOSS_TRUNCATED_FILE, 1, (count - fit) * stride, file->size,
			    "attrs");
		count = fit;
	}
	if (count > ATTRS_MAX) {
		fs_loss_add(loss, FS_LOSS_LIMIT, 1, (count - ATTRS_MAX) * stride,
			    file->attrs.offset + ATTRS_MAX * stride, "over %d events", ATTRS_MAX);
		count = ATTRS_MAX;
	}
	return (size_t)count;
}

static int read_attrs(struct fs_perf_file *file, uint64_t attr_size, struct fs_loss *loss,
		      struct fs_error *error)
{
	uint64_t ids_left = file->size;
	size_t stride = 0;
	size_t count;

	if (!file->attrs.size)
		return 0;
	FS_TRY(choose_stride(file, attr_size, &stride, error));
	if (!stride) {
		fs_loss_add(loss, FS_LOSS_BAD_ATTR, 1, file->attrs.size, file->attrs.offset,
			    "events");
		return 0;
	}
	count = count_attrs(file, attr_size, stride, loss);
	file->events = calloc(count ? count : 1, sizeof(*file->events));
	if (!file->events)
		return fs_fail(error, FS_NOMEM, "%s: out of memory for %zu events", file->path,
			       count);
	for (size_t i = 0; i < count; i++) {
		uint8_t bytes[ENTRY_MAX];
		uint64_t offset = file->attrs.offset + i * stride;

		FS_TRY(fs_perf_read(file, offset, bytes, stride, error));
		FS_TRY(read_attr(file, bytes, stride, offset, &ids_left, loss, error));
	}
	note_section(file, (struct fs_section){ file->attrs.offset, count * stride });
	return 0;
}

/* Whether a section overlaps the records. */
static bool is_in_records(const struct fs_perf_file *file, struct fs_section section)
{
	return section.size && section.offset < file->data_end &&
	       section.offset + section.size > file->data.offset;
}

/* The table of {offset, size} behind the data section, one per set bit of the bitmap. */
static int read_feature_table(struct fs_perf_file *file, const uint64_t *bitmap,
			      struct fs_loss *loss, unsigned int *ret_bad, struct fs_error *error)
{
	uint64_t at = file->data_end;

	for (unsigned int bit = 0; bit < FS_FEATURE_BITS; bit++) {
		uint8_t bytes[16];
		struct fs_reader reader = fs_perf_reader(file, bytes, sizeof(bytes));
		struct fs_section entry = { .offset = at, .size = sizeof(bytes) };

		if (!(bitmap[bit / 64] >> bit % 64 & 1))
			continue;
		if (!in_file(file, entry)) {
			fs_loss_add(loss, FS_LOSS_BAD_FEATURE, 1, 0, at, "feature %u", bit);
			++*ret_bad;
			continue;
		}
		FS_TRY(fs_perf_read(file, at, bytes, sizeof(bytes), error));
		at += sizeof(bytes);
		entry = read_section(&reader);
		if (!in_file(file, entry) || is_in_records(file, entry)) {
			fs_loss_add(loss, FS_LOSS_BAD_FEATURE, 1, 0, at - sizeof(bytes),
				    "feature %u", bit);
			++*ret_bad;
			continue;
		}
		file->has_feature[bit] = true;
		file->features[bit] = entry;
		note_section(file, entry);
	}
	file->feature_table.offset = file->data_end;
	file->feature_table.size = at - file->feature_table.offset;
	note_section(file, file->feature_table);
	return 0;
}

/* Records that follow each other; without any, both offsets are the end of what was searched. */
struct run {
	uint64_t begin, end;
	size_t count;
};

/*
 * The first place in a part of the file where records follow each other, up to `most`. Nothing is
 * noted: the walk meets the same damage.
 */
static int find_records(const struct fs_perf_file *file, struct fs_section part, size_t most,
			struct run *ret_run, struct fs_error *error)
{
	struct fs_perf_file probe = *file;
	struct fs_record record;
	struct fs_cursor cursor;
	bool more = true;
	int code;

	probe.data = part;
	probe.data_end = part.offset + part.size;
	*ret_run = (struct run){ probe.data_end, probe.data_end, 0 };
	code = fs_cursor_open(&cursor, &probe, error);
	while (!code && more && ret_run->count < most) {
		code = fs_cursor_next(&cursor, &record, &more, NULL, error);
		if (code || !more || (ret_run->count && record.offset != ret_run->end))
			break;
		if (!ret_run->count)
			ret_run->begin = record.offset;
		ret_run->end = record.raw.offset + record.raw.size;
		ret_run->count++;
	}
	fs_cursor_close(&cursor);
	return code;
}

/* Whether all of a feature table is at a place: sections follow each other behind it to the end. */
static int is_feature_table(const struct fs_perf_file *file, const uint64_t *bitmap, uint64_t at,
			    bool *ret_table, struct fs_error *error)
{
	uint64_t next = at;
	bool found = false;

	*ret_table = false;
	for (unsigned int i = 0; i < FS_FEATURE_BITS / 64; i++)
		next += 16 * (uint64_t)__builtin_popcountll(bitmap[i]);
	for (unsigned int bit = 0; bit < FS_FEATURE_BITS; bit++) {
		uint8_t bytes[16];
		struct fs_reader reader = fs_perf_reader(file, bytes, sizeof(bytes));
		struct fs_section entry = { .offset = at, .size = sizeof(bytes) };

		if (!(bitmap[bit / 64] >> bit % 64 & 1))
			continue;
		if (!in_file(file, entry))
			return 0;
		FS_TRY(fs_perf_read(file, at, bytes, sizeof(bytes), error));
		at += sizeof(bytes);
		entry = read_section(&reader);
		if (entry.offset != next || !in_file(file, entry))
			return 0;
		next += entry.size;
		found = true;
	}
	*ret_table = found;
	return 0;
}

/*
 * perf record writes the features before it writes the size of the data into the header. Between
 * the two, the table is where the records first stop.
 */
static int end_before_features(struct fs_perf_file *file, const uint64_t *bitmap,
			       struct fs_error *error)
{
	struct fs_section part = { file->data.offset, file->size - file->data.offset };
	bool is_table = false;
	struct run run;

	FS_TRY(find_records(file, part, SIZE_MAX, &run, error));
	FS_TRY(is_feature_table(file, bitmap, run.count ? run.end : part.offset, &is_table, error));
	if (is_table)
		file->data_end = run.count ? run.end : part.offset;
	return 0;
}

/*
 * The attrs section of a header that does not tell it: perf writes | header | ids | attrs | data |,
 * so the entries are looked for backwards from the data.
 */
static int find_attrs(struct fs_perf_file *file, struct fs_error *error)
{
	uint64_t end = file->data.offset;
	uint64_t claimed = file->attrs.offset;

	file->attrs = (struct fs_section){ .offset = end };
	for (size_t stride = ENTRY_MIN; stride <= ENTRY_MAX; stride += 8) {
		uint64_t count = 0;
		uint8_t bytes[ENTRY_MAX];
		struct entry entry;

		for (; (count + 1) * stride + OLD_HEADER_SIZE <= end && count < ATTRS_MAX;
		     count++) {
			FS_TRY(fs_perf_read(file, end - (count + 1) * stride, bytes, stride,
					    error));
			entry = parse_entry(file, bytes, stride);
			if (entry.own_size != stride || !entry.has_ids)
				break;
		}
		if (count * stride > file->attrs.size)
			file->attrs = (struct fs_section){ end - count * stride, count * stride };
	}
	/* else they may begin where the header says, with something else behind them */
	if (!file->attrs.size && claimed >= OLD_HEADER_SIZE && claimed < end)
		file->attrs = (struct fs_section){ claimed, end - claimed };
	return 0;
}

/* Whether the header's attrs section can be where it says. */
static bool attrs_are_possible(const struct fs_perf_file *file)
{
	const struct fs_section *attrs = &file->attrs;
	uint64_t data = file->data.offset;

	if (attrs->offset < OLD_HEADER_SIZE || attrs->offset > file->size)
		return false;
	/* a file without events has the data where they would be */
	if (!attrs->size)
		return attrs->offset == data;
	return attrs->offset >= data || attrs->size <= data - attrs->offset;
}

/* Whether the data section can begin where the header says. */
static bool data_is_possible(const struct fs_perf_file *file)
{
	return file->data.offset >= OLD_HEADER_SIZE && file->data.offset <= file->size;
}

/* Whether the file ends before its data, which is just where the descriptions would end. */
static bool is_cut_before_data(const struct fs_perf_file *file)
{
	return file->attrs.offset >= OLD_HEADER_SIZE && file->data.offset > file->size &&
	       file->attrs.offset < file->data.offset &&
	       file->attrs.size == file->data.offset - file->attrs.offset;
}

/*
 * Make the header's sections possible ones. Where the records begin and where the events are
 * described can each be told by the other; records are found in any case.
 */
static int settle_sections(struct fs_perf_file *file, struct header *header, struct fs_loss *loss,
			   struct fs_error *error)
{
	uint64_t first = header->size == OLD_HEADER_SIZE ? OLD_HEADER_SIZE : HEADER_SIZE;
	struct run run;

	if (is_cut_before_data(file)) {
		fs_loss_add(loss, FS_LOSS_TRUNCATED_FILE, 1, file->data.offset - file->size,
			    file->size, "file");
		file->data = (struct fs_section){ .offset = file->size };
		if (file->attrs.offset > file->size)
			file->attrs = file->data;
		return 0;
	}
	if (!data_is_possible(file)) {
		note_header(loss, AT_DATA_OFFSET, "data.offset");
		if (in_file(file, file->attrs) && file->attrs.offset >= OLD_HEADER_SIZE)
			first = file->attrs.offset + file->attrs.size;
		first = first < file->size ? first : file->size;
		FS_TRY(find_records(file, (struct fs_section){ first, file->size - first }, 1, &run,
				    error));
		file->data.offset = run.begin;
	}
	if (!is_entry_size(header->attr_size))
		note_header(loss, AT_ATTR_SIZE, "attr_size");
	if (attrs_are_possible(file))
		return 0;
	note_header(loss, AT_ATTRS, "attrs");
	return find_attrs(file, error);
}

/*
 * A header that says where the data begins, and leaves out records before it. They would stand
 * behind the events' descriptions.
 */
static int settle_data_offset(struct fs_perf_file *file, struct fs_loss *loss,
			      struct fs_error *error)
{
	uint64_t begin = file->sections_end;
	struct fs_section part = { .offset = begin };
	struct run run;

	if (begin < OLD_HEADER_SIZE || begin >= file->data.offset)
		return 0;
	/* only what is right there counts: the rest may be a hole of gigabytes */
	part.size = file->size - begin < FIRST_RECORDS ? file->size - begin : FIRST_RECORDS;
	FS_TRY(find_records(file, part, 2, &run, error));
	if (run.begin != begin)
		return 0;
	note_header(loss, AT_DATA_OFFSET, "data.offset");
	if (file->data.size)
		file->data.size += file->data.offset - begin;
	file->data.offset = begin;
	return 0;
}

/* Find the end of the data section and note what is missing or left over. */
static void settle_data(struct fs_perf_file *file, struct fs_loss *loss)
{
	if (!file->data.size) {
		file->unclean = file->size > file->data.offset;
		file->data_end = file->size;
		if (file->unclean)
			fs_loss_add(loss, FS_LOSS_UNCLEAN_END, 1, 0, 48, "file");
		return;
	}
	file->data_end = file->size;
	if (in_file(file, file->data))
		file->data_end = file->data.offset + file->data.size;
	else
		fs_loss_add(loss, FS_LOSS_TRUNCATED_FILE, 1,
			    file->data.size - (file->size - file->data.offset), file->size, "file");
}

/*
 * Magic number and byte order. Version 1 had no number that tells the order; there the size of the
 * header makes sense in one of them only.
 */
static bool recognise(struct fs_perf_file *file, const uint8_t *bytes)
{
	struct fs_reader reader = fs_reader_of(bytes + 8, 8);

	file->swap = !memcmp(bytes, "2ELIFREP", 8);
	if (file->swap || !memcmp(bytes, "PERFILE2", 8))
		return true;
	file->swap = fs_read_u64(&reader) > UINT32_MAX;
	return !memcmp(bytes, "PERFFILE", 8);
}

static bool is_header_size(uint64_t size)
{
	return size == HEADER_SIZE || size == OLD_HEADER_SIZE || size == PIPE_HEADER_SIZE;
}

/*
 * The bitmap is an array of the recorder's `unsigned long`: where that had 32 bits and the other
 * byte order, the halves of each word stand exchanged. Every recorder sets HOSTNAME, which tells.
 */
static void read_bitmap(struct fs_reader *reader, uint64_t *ret_bitmap)
{
	for (unsigned int i = 0; i < 4; i++)
		ret_bitmap[i] = fs_read_u64(reader);
	if (!reader->swap || ret_bitmap[0] >> HOSTNAME & 1)
		return;
	for (unsigned int i = 0; i < 4; i++)
		ret_bitmap[i] = ret_bitmap[i] << 32 | ret_bitmap[i] >> 32;
}

/* All behind the 16 bytes of the header is records. */
static int read_stream(struct fs_perf_file *file, struct fs_loss *loss, struct fs_error *error)
{
	file->data.offset = PIPE_HEADER_SIZE;
	file->data.size = file->size - PIPE_HEADER_SIZE;
	file->data_end = file->sections_end = file->size;
	return fs_stream_read_head(file, loss, error);
}

/*
 * The features, and what the file has behind the data. Where most of that makes no sense and
 * records go on there instead, the size of the data was a lie.
 */
static int read_features(struct fs_perf_file *file, const struct header *header,
			 struct fs_loss *loss, struct fs_error *error)
{
	uint64_t end = file->data_end;
	unsigned int good = 0;
	unsigned int bad = 0;
	struct run run;

	FS_TRY(read_feature_table(file, header->bitmap, loss, &bad, error));
	for (unsigned int bit = 0; bit < FS_FEATURE_BITS; bit++)
		good += file->has_feature[bit];
	if (file->size > end && bad >= good) {
		FS_TRY(find_records(file, (struct fs_section){ end, file->size - end }, 2, &run,
				    error));
		if (run.count == 2 && run.begin - end < UINT16_MAX) {
			note_header(loss, AT_DATA_SIZE, "data.size");
			memset(file->has_feature, 0, sizeof(file->has_feature));
			file->feature_table = (struct fs_section){ 0 };
			file->data_end = file->sections_end = file->size;
		}
	}
	if (file->size > file->sections_end)
		fs_loss_add(loss, FS_LOSS_TRAILING_BYTES, 1, file->size - file->sections_end,
			    file->sections_end, "file");
	return 0;
}

static int read_sections(struct fs_perf_file *file, struct header *header, struct fs_loss *loss,
			 struct fs_error *error)
{
	FS_TRY(settle_sections(file, header, loss, error));
	FS_TRY(read_attrs(file, header->attr_size, loss, error));
	FS_TRY(settle_data_offset(file, loss, error));
	settle_data(file, loss);
	/* without attrs, their records may be in the data, as in a stream */
	if (!file->event_count)
		FS_TRY(fs_stream_read_head(file, loss, error));
	if (file->unclean)
		FS_TRY(end_before_features(file, header->bitmap, error));
	else if (file->data_end != file->data.offset + file->data.size)
		return 0;
	if (file->unclean && file->data_end == file->size)
		return 0;
	return read_features(file, header, loss, error);
}

/* The fields behind the magic number, in the file's byte order. */
static struct header parse_header(struct fs_perf_file *file, const uint8_t *bytes)
{
	struct fs_reader reader = fs_perf_reader(file, bytes + 8, HEADER_SIZE - 8);
	struct header header = { .size = fs_read_u64(&reader) };

	header.attr_size = fs_read_u64(&reader);
	file->attrs = read_section(&reader);
	file->data = read_section(&reader);
	read_section(&reader); /* event_types: unused since 2013 */
	if (header.size != OLD_HEADER_SIZE)
		read_bitmap(&reader, header.bitmap);
	return header;
}

/* Whether all of a header but its magic number or its size makes sense. */
static bool is_file_header(const struct fs_perf_file *file, const struct header *header)
{
	return is_entry_size(header->attr_size) && file->attrs.size && attrs_are_possible(file) &&
	       data_is_possible(file) && in_file(file, file->data);
}

/*
 * A file whose header is overwritten is still one of ours if its other fields make sense, or if
 * many records follow each other near its start. *ret_known is false for anything else.
 */
static int recognise_damaged(struct fs_perf_file *file, const uint8_t *bytes,
			     struct header *ret_header, bool *ret_known, struct fs_error *error)
{
	struct fs_section start = { 0, file->size < RECOGNISED_WITHIN ? file->size
								      : RECOGNISED_WITHIN };
	struct run run = { 0 };

	*ret_known = true;
	for (int swap = 0; swap < 2; swap++) {
		file->swap = swap;
		*ret_header = parse_header(file, bytes);
		if (is_file_header(file, ret_header))
			return 0;
		FS_TRY(find_records(file, start, RECOGNISED_RECORDS, &run, error));
		if (run.count == RECOGNISED_RECORDS)
			break;
	}
	*ret_known = run.count == RECOGNISED_RECORDS;
	/* as a recorder leaves a file that it did not finish */
	ret_header->size = run.begin == PIPE_HEADER_SIZE ? PIPE_HEADER_SIZE : HEADER_SIZE;
	ret_header->attr_size = 0;
	file->attrs = (struct fs_section){ 0 };
	file->data = (struct fs_section){ .offset = run.begin };
	return find_attrs(file, error);
}

/* What kind of file this is, by magic number and size of the header, or despite them. */
static int recognise_header(struct fs_perf_file *file, const uint8_t *bytes,
			    struct header *ret_header, struct fs_loss *loss, struct fs_error *error)
{
	bool known = recognise(file, bytes);
	struct run run;

	if (!known) {
		FS_TRY(recognise_damaged(file, bytes, ret_header, &known, error));
		if (!known)
			return refuse_magic(file, bytes, error);
		note_header(loss, AT_MAGIC, "magic number");
		return 0;
	}
	*ret_header = parse_header(file, bytes);
	/* a size that makes sense in one byte order only tells when the magic number lies of it */
	if (is_header_size(__builtin_bswap64(ret_header->size))) {
		fs_loss_add(loss, FS_LOSS_BYTE_ORDER, 1, 8, 0, "file");
		file->swap = !file->swap;
		*ret_header = parse_header(file, bytes);
	}
	if (is_header_size(ret_header->size))
		return 0;
	note_header(loss, AT_HEADER_SIZE, "header size");
	ret_header->size = HEADER_SIZE;
	if (is_file_header(file, ret_header) || file->size < PIPE_HEADER_SIZE)
		return 0;
	FS_TRY(find_records(file,
			    (struct fs_section){ PIPE_HEADER_SIZE, file->size - PIPE_HEADER_SIZE },
			    1, &run, error));
	if (run.begin == PIPE_HEADER_SIZE)
		ret_header->size = PIPE_HEADER_SIZE;
	return 0;
}

static int read_header(struct fs_perf_file *file, struct fs_loss *loss, struct fs_error *error)
{
	uint8_t bytes[HEADER_SIZE] = { 0 };
	struct header header = { 0 };
	size_t have = file->size < sizeof(bytes) ? (size_t)file->size : sizeof(bytes);

	if (!file->size)
		return fs_fail(error, FS_REFUSED,
			       "%s: the file is empty; record again and let perf "
			       "record finish",
			       file->path);
	FS_TRY(fs_perf_read(file, 0, bytes, have, error));
	if (have < sizeof(uint64_t))
		return fs_fail(error, FS_REFUSED,
			       "%s: the file ends at offset %zu, inside the magic number of 8 "
			       "bytes; record again and let perf record finish",
			       file->path, have);
	FS_TRY(recognise_header(file, bytes, &header, loss, error));
	if (have < PIPE_HEADER_SIZE || (have < OLD_HEADER_SIZE && header.size != PIPE_HEADER_SIZE))
		return fs_fail(error, FS_REFUSED,
			       "%s: the file ends at offset %zu, inside the header of 104 bytes",
			       file->path, have);
	if (header.size == PIPE_HEADER_SIZE)
		return read_stream(file, loss, error);
	return read_sections(file, &header, loss, error);
}

/* A named pipe, such as the shell's <(...) gives. One that nobody writes to is empty. */
static int open_pipe(struct fs_perf_file *file, struct fs_error *error)
{
	int pipe = file->fd;
	int code;

	file->fd = -1;
	fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) & ~O_NONBLOCK);
	code = fs_spool_input(pipe, FS_INPUT_MAX, &file->fd, error);
	close(pipe);
	return code;
}

int fs_perf_open(struct fs_perf_file *file, const char *path, struct fs_loss *loss,
		 struct fs_error *error)
{
	struct stat status;

	*file = (struct fs_perf_file){ .path = path, .fd = -1, .input_fd = -1, .directory_fd = -1 };
	if (!strcmp(path, "-")) {
		file->path = "standard input";
		FS_TRY(fs_spool_input(STDIN_FILENO, FS_INPUT_MAX, &file->fd, error));
	} else {
		file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	if (file->fd >= 0 && !fstat(file->fd, &status) && S_ISDIR(status.st_mode)) {
		file->directory_fd = file->fd;
		file->fd = openat(file->directory_fd, "data",
				  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
		if (file->fd < 0)
			return fs_fail(error, FS_REFUSED,
				       "%s: a directory without a readable file `data`: %s", path,
				       strerror(errno));
	}
	if (file->fd < 0)
		return fs_fail(error, FS_REFUSED, "%s: cannot open: %s", path, strerror(errno));
	if (file->directory_fd < 0 && !fstat(file->fd, &status) && S_ISFIFO(status.st_mode))
		FS_TRY(open_pipe(file, error));
	file->input_fd = file->fd;
	if (fstat(file->fd, &status))
		return fs_fail(error, FS_REFUSED, "%s: cannot stat: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return fs_fail(error, FS_REFUSED, "%s: not a regular file", path);
	file->size = (uint64_t)status.st_size;
	return read_header(file, loss, error);
}

void fs_perf_close(struct fs_perf_file *file)
{
	for (size_t i = 0; i < file->event_count; i++) {
		free(file->events[i].ids);
		free(file->events[i].name);
		free(file->events[i].unit);
		free(file->events[i].cpus);
	}
	free(file->events);
	if (file->fd >= 0)
		close(file->fd);
	if (file->input_fd >= 0 && file->input_fd != file->fd)
		close(file->input_fd);
	if (file->directory_fd >= 0)
		close(file->directory_fd);
	*file = (struct fs_perf_file){ .fd = -1, .input_fd = -1, .directory_fd = -1 };
}
