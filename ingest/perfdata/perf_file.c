/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/perfdata/perf_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/temporary.h"
#include "ingest/perfdata/stream.h"

enum {
	HEADER_SIZE = 104,
	OLD_HEADER_SIZE = 72,  /* without the feature bitmap */
	PIPE_HEADER_SIZE = 16, /* a stream saved to a file */
	ATTR_SIZE_MIN = 64,
	ATTR_SIZE_KNOWN = 144,
	ATTRS_MAX = 65536,
	IDS_MAX = 1 << 24,
	SPOOL_BUFFER = 1 << 18,
	HOSTNAME = 3, /* feature bit */
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

/* One entry of the attrs section; it ends with the section of its ids. */
static int read_attr(struct fs_perf_file *file, const uint8_t *entry, size_t stride,
		     uint64_t *ids_left, struct fs_loss *loss, struct fs_error *error)
{
	size_t index = file->event_count;
	uint64_t offset = file->attrs.offset + index * stride;
	struct fs_event *event = &file->events[index];
	struct fs_reader reader = fs_perf_reader(file, entry + stride - 16, 16);

	fs_attr_parse(entry, stride - 16, file->swap, &event->attr);
	event->leader = -1;
	if (event->attr.size && event->attr.size != stride - 16)
		fs_loss_add(loss, FS_LOSS_ATTR_SIZE, 1, 0, offset + 4, "events");
	if (stride - 16 > ATTR_SIZE_KNOWN)
		fs_loss_add(loss, FS_LOSS_ATTR_TAIL, 1, stride - 16 - ATTR_SIZE_KNOWN, offset,
			    "events");
	if (event->attr.sample_type & ~(uint64_t)FS_SAMPLE_KNOWN)
		fs_loss_add(loss, FS_LOSS_UNKNOWN_SAMPLE_FIELDS, 1, 0, offset, "event %zu", index);
	file->event_count++;
	return read_ids(file, event, read_section(&reader), ids_left, loss, error);
}

static int read_attrs(struct fs_perf_file *file, uint64_t attr_size, struct fs_loss *loss,
		      struct fs_error *error)
{
	size_t stride = (size_t)attr_size;
	uint64_t events = file->attrs.size / attr_size;
	size_t count = events < ATTRS_MAX ? (size_t)events : ATTRS_MAX;
	uint64_t ids_left = file->size;
	uint8_t *bytes;
	int code;

	if (events > ATTRS_MAX)
		return fs_fail(error, FS_REFUSED,
			       "%s: offset 24: %" PRIu64
			       " events, at most %d are possible: the header is "
			       "damaged",
			       file->path, events, ATTRS_MAX);
	bytes = malloc(count ? count * stride : 1);
	file->events = calloc(count ? count : 1, sizeof(*file->events));
	if (!bytes || !file->events) {
		free(bytes);
		return fs_fail(error, FS_NOMEM, "%s: out of memory for %zu events", file->path,
			       count);
	}
	if (file->attrs.size % stride)
		fs_loss_add(loss, FS_LOSS_TRAILING_BYTES, 1, file->attrs.size % stride,
			    file->attrs.offset + count * stride, "attrs");
	code = fs_perf_read(file, file->attrs.offset, bytes, count * stride, error);
	for (size_t i = 0; !code && i < count; i++)
		code = read_attr(file, bytes + i * stride, stride, &ids_left, loss, error);
	free(bytes);
	return code;
}

/* The table of {offset, size} behind the data section, one per set bit of the bitmap. */
static int read_feature_table(struct fs_perf_file *file, const uint64_t *bitmap,
			      struct fs_loss *loss, struct fs_error *error)
{
	uint64_t at = file->data.offset + file->data.size;

	for (unsigned int bit = 0; bit < FS_FEATURE_BITS; bit++) {
		uint8_t bytes[16];
		struct fs_reader reader = fs_perf_reader(file, bytes, sizeof(bytes));
		struct fs_section entry = { .offset = at, .size = sizeof(bytes) };

		if (!(bitmap[bit / 64] >> bit % 64 & 1))
			continue;
		if (!in_file(file, entry)) {
			fs_loss_add(loss, FS_LOSS_BAD_FEATURE, 1, 0, at, "feature %u", bit);
			continue;
		}
		FS_TRY(fs_perf_read(file, at, bytes, sizeof(bytes), error));
		at += sizeof(bytes);
		entry = read_section(&reader);
		if (!in_file(file, entry)) {
			fs_loss_add(loss, FS_LOSS_BAD_FEATURE, 1, 0, at - sizeof(bytes),
				    "feature %u", bit);
			continue;
		}
		file->has_feature[bit] = true;
		file->features[bit] = entry;
		note_section(file, entry);
	}
	file->feature_table.offset = file->data.offset + file->data.size;
	file->feature_table.size = at - file->feature_table.offset;
	note_section(file, file->feature_table);
	if (file->size > file->sections_end)
		fs_loss_add(loss, FS_LOSS_TRAILING_BYTES, 1, file->size - file->sections_end,
			    file->sections_end, "file");
	return 0;
}

static int check_header(struct fs_perf_file *file, uint64_t header_size, uint64_t attr_size,
			struct fs_error *error)
{
	if (header_size != HEADER_SIZE && header_size != OLD_HEADER_SIZE)
		return fs_fail(error, FS_REFUSED,
			       "%s: offset 8: header size is %" PRIu64
			       ", expected 104: the file is "
			       "damaged",
			       file->path, header_size);
	if (attr_size < ATTR_SIZE_MIN + 16 || attr_size > 4096 || attr_size % 8)
		return fs_fail(error, FS_REFUSED,
			       "%s: offset 16: the size of an event description is %" PRIu64
			       ", expected 80 to 160: the file is damaged or was never finished",
			       file->path, attr_size);
	if (!in_file(file, file->attrs))
		return fs_fail(error, FS_REFUSED,
			       "%s: offset 24: event descriptions at 0x%" PRIx64 " (%" PRIu64
			       " bytes) lie outside the file of %" PRIu64 " bytes",
			       file->path, file->attrs.offset, file->attrs.size, file->size);
	if (file->data.offset > file->size)
		return fs_fail(error, FS_REFUSED,
			       "%s: offset 40: the data section begins at 0x%" PRIx64
			       ", behind the end of the file (%" PRIu64 " bytes)",
			       file->path, file->data.offset, file->size);
	if (file->data.offset < OLD_HEADER_SIZE)
		return fs_fail(error, FS_REFUSED,
			       "%s: offset 40: the data section begins at 0x%" PRIx64
			       ", inside the header: the file is damaged",
			       file->path, file->data.offset);
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

/* The size that makes sense in one byte order only tells when the magic number lies about it. */
static uint64_t read_header_size(struct fs_perf_file *file, struct fs_reader *reader,
				 struct fs_loss *loss)
{
	uint64_t size = fs_read_u64(reader);
	uint64_t turned = __builtin_bswap64(size);

	if (is_header_size(turned)) {
		file->swap = reader->swap = !file->swap;
		fs_loss_add(loss, FS_LOSS_BYTE_ORDER, 1, 8, 0, "file");
		size = turned;
	}
	return size;
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

static int read_header(struct fs_perf_file *file, struct fs_loss *loss, struct fs_error *error)
{
	uint8_t bytes[HEADER_SIZE] = { 0 };
	struct fs_reader reader = fs_reader_of(bytes, sizeof(bytes));
	uint64_t bitmap[4] = { 0 };
	uint64_t header_size;
	uint64_t attr_size;
	size_t have = file->size < sizeof(bytes) ? (size_t)file->size : sizeof(bytes);

	if (!file->size)
		return fs_fail(error, FS_REFUSED,
			       "%s: the file is empty; record again and let perf "
			       "record finish",
			       file->path);
	FS_TRY(fs_perf_read(file, 0, bytes, have, error));
	fs_read_bytes(&reader, 8);
	if (!recognise(file, bytes))
		return refuse_magic(file, bytes, error);
	reader.swap = file->swap;
	header_size = read_header_size(file, &reader, loss);
	if (header_size == PIPE_HEADER_SIZE)
		return read_stream(file, loss, error);
	if (have < OLD_HEADER_SIZE)
		return fs_fail(error, FS_REFUSED,
			       "%s: the file ends at offset %zu, inside the header of 104 bytes",
			       file->path, have);
	attr_size = fs_read_u64(&reader);
	file->attrs = read_section(&reader);
	file->data = read_section(&reader);
	read_section(&reader); /* event_types: unused since 2013 */
	if (header_size == HEADER_SIZE)
		read_bitmap(&reader, bitmap);
	FS_TRY(check_header(file, header_size, attr_size, error));
	note_section(file, file->attrs);
	FS_TRY(read_attrs(file, attr_size, loss, error));
	settle_data(file, loss);
	if (file->unclean || file->data_end != file->data.offset + file->data.size)
		return 0;
	return read_feature_table(file, bitmap, loss, error);
}

/* Copy standard input to a temporary file, so that it can be read twice and out of order. */
static int spool_standard_input(int *ret_fd, struct fs_error *error)
{
	char *buffer = malloc(SPOOL_BUFFER);
	int fd = fs_temporary_open();
	ssize_t got = -1;

	while (fd >= 0 && buffer) {
		got = read(STDIN_FILENO, buffer, SPOOL_BUFFER);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || !fs_write_all(fd, buffer, (size_t)got))
			break;
	}
	free(buffer);
	if (!got) {
		*ret_fd = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	return fs_fail(error, FS_OUTPUT,
		       "standard input cannot be copied to a temporary file in $TMPDIR or /tmp: %s",
		       strerror(errno));
}

int fs_perf_open(struct fs_perf_file *file, const char *path, struct fs_loss *loss,
		 struct fs_error *error)
{
	struct stat status;

	*file = (struct fs_perf_file){ .path = path, .fd = -1, .input_fd = -1, .directory_fd = -1 };
	if (!strcmp(path, "-")) {
		file->path = "standard input";
		FS_TRY(spool_standard_input(&file->fd, error));
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
	file->input_fd = file->fd;
	if (file->fd < 0)
		return fs_fail(error, FS_REFUSED, "%s: cannot open: %s", path, strerror(errno));
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
