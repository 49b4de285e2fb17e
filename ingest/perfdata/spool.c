/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: each source (the data section, then data.0, data.1, ... of a directory) is walked
 * once. Plain records are copied. All compressed payloads of a source are one zstd stream, in
 * which a record may straddle two payloads while plain records stand between them, so the last,
 * partial record waits in `tail` until the rest of it comes.
 */
#include "ingest/perfdata/spool.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "common/temporary.h"
#include "common/vector.h"
#include "ingest/perfdata/extent.h"

enum {
	PIECE = 1 << 18,
	HEADER = 8,
	WINDOW_LOG_MAX = 26, /* 64 MiB; perf's highest levels need 27 and are refused */
	PARTS_MAX = 1 << 16,
	/* how much larger than the input the output may be: perf data shrinks to a tenth, rarely to
	 * a hundredth */
	GROWTH_MAX = 1000,
};

struct spool {
	const struct fs_perf_file *file;
	struct fs_loss *loss;
	struct fs_error *error;
	int fd;
	uint64_t written, limit;
	ZSTD_DCtx *zstd;
	uint8_t *piece; /* decompressed bytes, and raw data on its way */
	uint8_t *tail;	/* a record that is not complete yet */
	size_t tail_used, tail_capacity;
	bool full;		/* the limit was reached */
	uint64_t containers[2]; /* records seen: COMPRESSED, COMPRESSED2 */
};

/* Why a temporary file cannot be made or written. */
static int cannot_spool(const char *what, struct fs_error *error)
{
	return fs_fail(error, FS_OUTPUT,
		       "%s a temporary file in $TMPDIR or /tmp: %s; make room or set TMPDIR", what,
		       strerror(errno));
}

static int emit(struct spool *spool, const void *bytes, size_t size)
{
	if (spool->full)
		return 0;
	if (size > spool->limit - spool->written) {
		spool->full = true;
		fs_loss_add(spool->loss, FS_LOSS_LIMIT, 1, 0, UINT64_MAX,
			    "decompressed data over %d times the input", GROWTH_MAX);
		return 0;
	}
	if (!fs_write_all(spool->fd, bytes, size))
		return cannot_spool("cannot write", spool->error);
	spool->written += size;
	return 0;
}

/* Pass on the complete records of the tail. Bytes that are no record go as they are: the walk
 * over the spooled data deals with damage. */
static int emit_records(struct spool *spool)
{
	size_t at = 0;

	while (spool->tail_used - at >= HEADER) {
		struct fs_reader reader = fs_perf_reader(spool->file, spool->tail + at + 6, 2);
		uint16_t size = fs_read_u16(&reader);

		if (size < HEADER)
			size = HEADER;
		if (size > spool->tail_used - at)
			break;
		at += size;
	}
	FS_TRY(emit(spool, spool->tail, at));
	memmove(spool->tail, spool->tail + at, spool->tail_used - at);
	spool->tail_used -= at;
	return 0;
}

static int decompress(struct spool *spool, struct fs_reader payload, uint64_t offset)
{
	ZSTD_inBuffer in = { payload.data + payload.offset, fs_reader_left(&payload), 0 };

	while (in.pos < in.size && !spool->full) {
		ZSTD_outBuffer out = { spool->piece, PIECE, 0 };
		size_t code = ZSTD_decompressStream(spool->zstd, &out, &in);

		if (ZSTD_isError(code)) {
			fs_loss_add(spool->loss, FS_LOSS_BAD_COMPRESSION, 1, in.size - in.pos,
				    offset, "%s", ZSTD_getErrorName(code));
			ZSTD_DCtx_reset(spool->zstd, ZSTD_reset_session_only);
			spool->tail_used = 0;
			return 0;
		}
		if (!out.pos)
			continue;
		if (FS_RESERVE(spool->tail, spool->tail_capacity, spool->tail_used + out.pos))
			return fs_fail(spool->error, FS_NOMEM, "out of memory");
		memcpy(spool->tail + spool->tail_used, spool->piece, out.pos);
		spool->tail_used += out.pos;
		FS_TRY(emit_records(spool));
	}
	return 0;
}

static int copy_raw(struct spool *spool, const struct fs_perf_file *source, struct fs_section raw)
{
	while (raw.size) {
		size_t size = raw.size < PIECE ? (size_t)raw.size : PIECE;

		FS_TRY(fs_perf_read(source, raw.offset, spool->piece, size, spool->error));
		FS_TRY(emit(spool, spool->piece, size));
		raw.offset += size;
		raw.size -= size;
	}
	return 0;
}

/* | u32 type, u16 misc, u16 size | payload | raw data | */
static int copy_record(struct spool *spool, const struct fs_perf_file *source,
		       const struct fs_record *record)
{
	/* the header stands before the payload in the cursor's buffer */
	FS_TRY(emit(spool, record->payload.data - HEADER, record->size));
	return copy_raw(spool, source, record->raw);
}

static bool is_compressed(uint32_t type)
{
	return type == FS_RECORD_COMPRESSED || type == FS_RECORD_COMPRESSED2;
}

static int spool_record(struct spool *spool, const struct fs_perf_file *source,
			const struct fs_record *record)
{
	struct fs_reader payload = record->payload;

	if (!is_compressed(record->type))
		return copy_record(spool, source, record);
	spool->containers[record->type == FS_RECORD_COMPRESSED2]++;
	if (record->type == FS_RECORD_COMPRESSED)
		return decompress(spool, payload, record->offset);
	/* | u64 size | zstd bytes | padding | */
	uint64_t size = fs_read_u64(&payload);

	if (size < fs_reader_left(&payload))
		payload.size = payload.offset + (size_t)size;
	return decompress(spool, payload, record->offset);
}

static int spool_source(struct spool *spool, const struct fs_perf_file *source)
{
	struct fs_extents *extents = spool->file->extents;
	struct fs_cursor cursor;
	struct fs_record record;
	bool more = true;
	int code = fs_cursor_open(&cursor, source, spool->error);

	ZSTD_DCtx_reset(spool->zstd, ZSTD_reset_session_only);
	if (extents)
		fs_extents_walk(extents, source->data.offset);
	while (!code && more) {
		code = fs_cursor_next(&cursor, &record, &more, spool->loss, spool->error);
		if (code || !more)
			break;
		if (extents)
			fs_extents_record(extents, &record, !fs_record_name(record.type));
		code = spool_record(spool, source, &record);
	}
	if (extents)
		fs_extents_walked(extents, source->data_end);
	fs_cursor_close(&cursor);
	if (!code && spool->tail_used)
		fs_loss_add(spool->loss, FS_LOSS_TRUNCATED_FILE, 1, spool->tail_used,
			    source->data_end, "compressed data");
	spool->tail_used = 0;
	return code;
}

/* data.0, data.1, ... of a directory: records without any header. */
static int spool_parts(struct spool *spool, struct fs_perf_file *file)
{
	for (int number = 0; number < PARTS_MAX; number++) {
		struct fs_perf_file part = { .path = file->path, .swap = file->swap };
		struct stat status;
		char name[32];
		int code;

		snprintf(name, sizeof(name), "data.%d", number);
		part.fd = openat(file->directory_fd, name,
				 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
		if (part.fd < 0 && errno == ENOENT)
			return 0;
		if (part.fd < 0 || fstat(part.fd, &status) || !S_ISREG(status.st_mode)) {
			if (part.fd >= 0)
				close(part.fd);
			fs_loss_add(spool->loss, FS_LOSS_TRUNCATED_FILE, 1, 0, UINT64_MAX, "%s",
				    name);
			continue;
		}
		part.size = part.data.size = part.data_end = (uint64_t)status.st_size;
		file->parts_size += part.size;
		spool->limit += part.size * GROWTH_MAX;
		code = spool_source(spool, &part);
		close(part.fd);
		FS_TRY(code);
	}
	return 0;
}

static int expand(struct spool *spool, struct fs_perf_file *file)
{
	spool->zstd = ZSTD_createDCtx();
	spool->piece = malloc(PIECE);
	if (!spool->zstd || !spool->piece)
		return fs_fail(spool->error, FS_NOMEM, "out of memory");
	if (spool->fd < 0)
		return cannot_spool("cannot make", spool->error);
	ZSTD_DCtx_setParameter(spool->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	FS_TRY(spool_source(spool, file));
	if (file->directory_fd >= 0)
		FS_TRY(spool_parts(spool, file));
	file->fd = spool->fd;
	file->data = (struct fs_section){ .offset = 0, .size = spool->written };
	file->data_end = spool->written;
	return 0;
}

/*
 * Whether there are compressed records, and where the first is. A compressed recording has all
 * that the kernel wrote in them, so none comes behind a plain sample.
 */
static int find_compressed(const struct fs_perf_file *file, bool *ret_found, uint64_t *ret_offset,
			   struct fs_error *error)
{
	struct fs_cursor cursor;
	struct fs_record record;
	bool more = true;
	int code = fs_cursor_open(&cursor, file, error);

	*ret_found = false;
	while (!code && more && !*ret_found) {
		code = fs_cursor_next(&cursor, &record, &more, NULL, error);
		if (code || !more || record.type == FS_RECORD_SAMPLE)
			break;
		*ret_found = is_compressed(record.type);
		*ret_offset = record.offset;
	}
	fs_cursor_close(&cursor);
	return code;
}

/* Whether the file is one to expand. A finished file announces compression. */
static int needs_expansion(const struct fs_perf_file *file, bool *ret_needs, struct fs_loss *loss,
			   struct fs_error *error)
{
	uint64_t offset = 0;

	*ret_needs = true;
	if (file->has_feature[FS_FEATURE_COMPRESSED] || file->directory_fd >= 0)
		return 0;
	FS_TRY(find_compressed(file, ret_needs, &offset, error));
	if (*ret_needs && !file->unclean)
		fs_loss_add(loss, FS_LOSS_BAD_FEATURE, 1, 0, offset, "feature COMPRESSED");
	return 0;
}

int fs_spool_expand(struct fs_perf_file *file, struct fs_loss *loss, struct fs_error *error)
{
	struct spool spool = { .file = file, .loss = loss, .error = error, .fd = -1 };
	bool needs;
	int code;

	FS_TRY(needs_expansion(file, &needs, loss, error));
	if (!needs)
		return 0;
	spool.fd = fs_temporary_open();
	spool.limit = file->size < UINT64_MAX / GROWTH_MAX ? file->size * GROWTH_MAX : UINT64_MAX;
	code = expand(&spool, file);
	if (code && spool.fd >= 0)
		close(spool.fd);
	file->compressed_records = spool.containers[0];
	file->compressed2_records = spool.containers[1];
	ZSTD_freeDCtx(spool.zstd);
	free(spool.piece);
	free(spool.tail);
	return code;
}

static int copy_input(int input, int output, uint8_t *piece, uint64_t limit, struct fs_error *error)
{
	uint64_t copied = 0;

	for (;;) {
		ssize_t got = read(input, piece, PIECE);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fs_fail(error, FS_REFUSED, "standard input cannot be read: %s",
				       strerror(errno));
		if (!got)
			return 0;
		if ((uint64_t)got > limit - copied)
			return fs_fail(error, FS_REFUSED,
				       "standard input is longer than %llu bytes; save it to a "
				       "file and import that",
				       (unsigned long long)limit);
		if (!fs_write_all(output, piece, (size_t)got))
			return cannot_spool("standard input cannot be copied to", error);
		copied += (uint64_t)got;
	}
}

int fs_spool_input(int input, uint64_t limit, int *ret_fd, struct fs_error *error)
{
	uint8_t *piece = malloc(PIECE);
	int fd;
	int code;

	if (!piece)
		return fs_fail(error, FS_NOMEM, "out of memory");
	fd = fs_temporary_open();
	code = fd < 0 ? cannot_spool("cannot make", error)
		      : copy_input(input, fd, piece, limit, error);
	free(piece);
	if (!code)
		*ret_fd = fd;
	else if (fd >= 0)
		close(fd);
	return code;
}
