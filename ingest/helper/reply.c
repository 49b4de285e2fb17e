/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/helper/reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "common/vector.h"

/* ---- writing ---- */

static void flush(struct fs_reply_writer *writer)
{
	size_t done = 0;

	while (done < writer->used) {
		ssize_t written = write(writer->fd, writer->buffer + done, writer->used - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			_exit(1);
		done += (size_t)written;
	}
	writer->used = 0;
}

static void put(struct fs_reply_writer *writer, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;

	while (size) {
		size_t room = sizeof(writer->buffer) - writer->used;
		size_t part = size < room ? size : room;

		memcpy(writer->buffer + writer->used, from, part);
		writer->used += part;
		from += part;
		size -= part;
		if (writer->used == sizeof(writer->buffer))
			flush(writer);
	}
}

void fs_reply_u32(struct fs_reply_writer *writer, uint32_t value)
{
	put(writer, &value, sizeof(value));
}

void fs_reply_u64(struct fs_reply_writer *writer, uint64_t value)
{
	put(writer, &value, sizeof(value));
}

void fs_reply_frame(struct fs_reply_writer *writer, uint32_t kind, size_t size)
{
	fs_reply_u32(writer, kind);
	fs_reply_u32(writer, (uint32_t)size);
}

void fs_reply_first(struct fs_reply_writer *writer, uint32_t protections)
{
	fs_reply_frame(writer, FS_REPLY_FIRST, 4);
	fs_reply_u32(writer, protections);
}

void fs_reply_text(struct fs_reply_writer *writer, const char *text, size_t length)
{
	if (length > FS_REPLY_TEXT_MAX)
		length = FS_REPLY_TEXT_MAX;
	fs_reply_frame(writer, FS_REPLY_TEXT, length);
	put(writer, text, length);
}

void fs_reply_last(struct fs_reply_writer *writer, enum fs_reply_outcome outcome,
		   const char *sentence)
{
	fs_reply_frame(writer, FS_REPLY_LAST, 4 + strlen(sentence));
	fs_reply_u32(writer, outcome);
	put(writer, sentence, strlen(sentence));
	flush(writer);
}

/* ---- reading ---- */

int fs_reply_malformed(const struct fs_reply *reply, const char *what)
{
	return fs_fail(reply->error, FS_REFUSED, "the helper's answer is malformed: %s", what);
}

bool fs_reply_string(const struct fs_reply *reply, uint32_t number, uint32_t *ret_id)
{
	if (number != FS_REPLY_NONE && number >= reply->text_count)
		return false;
	*ret_id = number == FS_REPLY_NONE ? number : reply->texts[number];
	return true;
}

static int read_first(struct fs_reply *reply, struct fs_reader *body)
{
	uint32_t protections = fs_read_u32(body);

	if (body->failed || reply->frames)
		return fs_reply_malformed(reply, "its opening");
	reply->isolation->seccomp = protections & FS_REPLY_SECCOMP;
	reply->isolation->landlock = protections & FS_REPLY_LANDLOCK;
	return 0;
}

static int read_text(struct fs_reply *reply, struct fs_reader *body)
{
	size_t length = fs_reader_left(body);
	const uint8_t *text = fs_read_bytes(body, length);

	if (length > FS_REPLY_TEXT_MAX || memchr(text, '\0', length))
		return fs_reply_malformed(reply, "a text");
	FS_TRY(FS_RESERVE(reply->texts, reply->text_capacity, reply->text_count + 1));
	return fs_intern(reply->strings, text, length, &reply->texts[reply->text_count++]);
}

static int read_last(struct fs_reply *reply, struct fs_reader *body)
{
	char sentence[160];
	uint32_t outcome = fs_read_u32(body);
	size_t length = fs_reader_left(body);
	const uint8_t *text = fs_read_bytes(body, length);

	reply->finished = true;
	if (!text)
		return fs_reply_malformed(reply, "its end");
	fs_escape(sentence, sizeof(sentence), (const char *)text, length);
	if (outcome != FS_REPLY_DONE)
		return fs_fail(reply->error, FS_REFUSED, "%s",
			       *sentence ? sentence : "the helper gave up without a reason");
	return 0;
}

static int read_frame(struct fs_reply *reply, fs_reply_reader *const *readers, size_t reader_count)
{
	uint32_t kind = fs_read_u32(&reply->reader);
	uint32_t size = fs_read_u32(&reply->reader);
	const uint8_t *bytes = fs_read_bytes(&reply->reader, size);
	struct fs_reader body = fs_reader_of(bytes, size);
	static fs_reply_reader *const common[] = {
		[FS_REPLY_FIRST] = read_first,
		[FS_REPLY_LAST] = read_last,
		[FS_REPLY_TEXT] = read_text,
	};

	if (!bytes)
		return fs_reply_malformed(reply, "it is cut off");
	if (kind < FS_REPLY_FIRST || kind >= FS_REPLY_OWN + reader_count ||
	    (reply->frames == 0) != (kind == FS_REPLY_FIRST))
		return fs_reply_malformed(reply, "an unknown frame");
	FS_TRY((kind < FS_REPLY_OWN ? common[kind] : readers[kind - FS_REPLY_OWN])(reply, &body));
	reply->frames++;
	return 0;
}

int fs_reply_read(const uint8_t *data, size_t size, struct fs_interner *strings,
		  fs_reply_reader *const *readers, size_t reader_count, void *context,
		  struct fs_isolation *isolation, struct fs_error *error)
{
	struct fs_reply reply = { .strings = strings,
				  .context = context,
				  .error = error,
				  .reader = fs_reader_of(data, size),
				  .isolation = isolation };
	int code = 0;

	while (!code && !reply.finished) {
		if (fs_reader_left(&reply.reader) == 0)
			code = fs_reply_malformed(&reply, "it is cut off");
		else
			code = read_frame(&reply, readers, reader_count);
	}
	if (!code && fs_reader_left(&reply.reader))
		code = fs_reply_malformed(&reply, "bytes behind its end");
	free(reply.texts);
	return code;
}
