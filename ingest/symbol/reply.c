/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/symbol/reply.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/reader.h"
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

static void put_u32(struct fs_reply_writer *writer, uint32_t value)
{
	put(writer, &value, sizeof(value));
}

static void put_u64(struct fs_reply_writer *writer, uint64_t value)
{
	put(writer, &value, sizeof(value));
}

static void put_header(struct fs_reply_writer *writer, enum fs_reply_kind kind, size_t size)
{
	put_u32(writer, kind);
	put_u32(writer, (uint32_t)size);
}

void fs_reply_first(struct fs_reply_writer *writer, uint32_t protections)
{
	put_header(writer, FS_REPLY_FIRST, 4);
	put_u32(writer, protections);
}

void fs_reply_binary(struct fs_reply_writer *writer, enum fs_reply_arch arch, uint32_t flags)
{
	put_header(writer, FS_REPLY_BINARY, 8);
	put_u32(writer, arch);
	put_u32(writer, flags);
}

void fs_reply_text(struct fs_reply_writer *writer, const char *text, size_t length)
{
	if (length > FS_REPLY_TEXT_MAX)
		length = FS_REPLY_TEXT_MAX;
	put_header(writer, FS_REPLY_TEXT, length);
	put(writer, text, length);
}

void fs_reply_function(struct fs_reply_writer *writer, const struct fs_symbol_function *function)
{
	put_header(writer, FS_REPLY_FUNCTION, 24);
	put_u64(writer, function->address);
	put_u64(writer, function->size);
	put_u32(writer, function->name);
	put_u32(writer, function->linkage_name);
}

void fs_reply_code(struct fs_reply_writer *writer, uint32_t query,
		   const struct fs_symbol_result *result)
{
	put_header(writer, FS_REPLY_CODE, 48);
	put_u32(writer, query);
	put_u32(writer, result->function);
	put_u64(writer, result->function_offset);
	put_u32(writer, result->file);
	put_u32(writer, result->line);
	put_u32(writer, (uint32_t)(result->op + 1));
	put_u32(writer, result->width);
	put_u32(writer, result->base_register);
	put_u32(writer, result->method);
	put_u64(writer, (uint64_t)result->displacement);
}

void fs_reply_last(struct fs_reply_writer *writer, enum fs_reply_outcome outcome,
		   const char *sentence)
{
	put_header(writer, FS_REPLY_LAST, 4 + strlen(sentence));
	put_u32(writer, outcome);
	put(writer, sentence, strlen(sentence));
	flush(writer);
}

/* ---- reading ---- */

struct reply {
	struct fs_reader reader;
	struct fs_interner *strings;
	struct fs_symbol_dso *dso;
	struct fs_symbol_isolation *isolation;
	struct fs_error *error;
	uint32_t *texts; /* the helper's number to that in the interner */
	size_t text_count;
	size_t text_capacity;
	size_t function_capacity;
	uint32_t frames;
	bool finished;
};

void fs_reply_forget(struct fs_symbol_dso *dso)
{
	static const struct fs_symbol_result unknown = { .function = FS_SYMBOL_NONE,
							 .file = FS_SYMBOL_NONE,
							 .op = -1,
							 .base_register = FS_SYMBOL_NONE };

	for (size_t i = 0; i < dso->query_count; i++)
		dso->results[i] = unknown;
	free(dso->functions);
	dso->functions = NULL;
	dso->function_count = 0;
	dso->operands = false;
	dso->names = false;
	dso->arch = NULL;
}

static int malformed(struct reply *reply, const char *what)
{
	return fs_fail(reply->error, FS_REFUSED, "the helper's answer is malformed: %s", what);
}

/* Translate a number of a text; NONE stays NONE. */
static bool text_of(const struct reply *reply, uint32_t number, uint32_t *ret_id)
{
	if (number != FS_SYMBOL_NONE && number >= reply->text_count)
		return false;
	*ret_id = number == FS_SYMBOL_NONE ? number : reply->texts[number];
	return true;
}

static int read_first(struct reply *reply, struct fs_reader *body)
{
	uint32_t protections = fs_read_u32(body);

	if (body->failed || reply->frames)
		return malformed(reply, "its opening");
	reply->isolation->seccomp = protections & FS_REPLY_SECCOMP;
	reply->isolation->landlock = protections & FS_REPLY_LANDLOCK;
	return 0;
}

static int read_binary(struct reply *reply, struct fs_reader *body)
{
#define NAME_OF(suffix, number, name) [number] = (name),
	static const char *const names[] = { FS_REPLY_ARCH_LIST(NAME_OF) };
#undef NAME_OF
	uint32_t arch = fs_read_u32(body);
	uint32_t flags = fs_read_u32(body);

	if (body->failed || arch >= FS_REPLY_ARCH_MAX)
		return malformed(reply, "the architecture");
	reply->dso->arch = names[arch];
	reply->dso->operands = flags & FS_REPLY_OPERANDS;
	reply->dso->names = flags & FS_REPLY_SYMBOLS;
	return 0;
}

static int read_text(struct reply *reply, struct fs_reader *body)
{
	size_t length = fs_reader_left(body);
	const uint8_t *text = fs_read_bytes(body, length);

	if (length > FS_REPLY_TEXT_MAX || memchr(text, '\0', length))
		return malformed(reply, "a text");
	FS_TRY(FS_RESERVE(reply->texts, reply->text_capacity, reply->text_count + 1));
	return fs_intern(reply->strings, text, length, &reply->texts[reply->text_count++]);
}

static int read_function(struct reply *reply, struct fs_reader *body)
{
	struct fs_symbol_dso *dso = reply->dso;
	struct fs_symbol_function function;
	uint32_t name;
	uint32_t linkage_name;

	function.address = fs_read_u64(body);
	function.size = fs_read_u64(body);
	name = fs_read_u32(body);
	linkage_name = fs_read_u32(body);
	if (body->failed || name == FS_SYMBOL_NONE || !text_of(reply, name, &function.name) ||
	    !text_of(reply, linkage_name, &function.linkage_name) ||
	    dso->function_count >= dso->query_count)
		return malformed(reply, "a function");
	FS_TRY(FS_RESERVE(dso->functions, reply->function_capacity, dso->function_count + 1));
	dso->functions[dso->function_count++] = function;
	return 0;
}

static int read_code(struct reply *reply, struct fs_reader *body)
{
	struct fs_symbol_dso *dso = reply->dso;
	struct fs_symbol_result result;
	uint32_t query = fs_read_u32(body);
	uint32_t file;
	uint32_t base_register;
	uint32_t method;
	uint32_t op;

	result.function = fs_read_u32(body);
	result.function_offset = fs_read_u64(body);
	file = fs_read_u32(body);
	result.line = fs_read_u32(body);
	op = fs_read_u32(body);
	result.op = (int)op - 1;
	result.width = fs_read_u32(body);
	base_register = fs_read_u32(body);
	method = fs_read_u32(body);
	result.method = (enum fs_operand_method)method;
	result.displacement = (int64_t)fs_read_u64(body);
	if (body->failed || query >= dso->query_count || op > FS_OP_MAX || result.width > 4096 ||
	    result.line > INT32_MAX || method >= FS_OPERAND_METHOD_MAX ||
	    (result.function != FS_SYMBOL_NONE && result.function >= dso->function_count) ||
	    !text_of(reply, file, &result.file) ||
	    !text_of(reply, base_register, &result.base_register))
		return malformed(reply, "a code address");
	dso->results[query] = result;
	return 0;
}

static int read_last(struct reply *reply, struct fs_reader *body)
{
	char sentence[160];
	uint32_t outcome = fs_read_u32(body);
	size_t length = fs_reader_left(body);
	const uint8_t *text = fs_read_bytes(body, length);

	reply->finished = true;
	if (!text)
		return malformed(reply, "its end");
	fs_escape(sentence, sizeof(sentence), (const char *)text, length);
	if (outcome != FS_REPLY_DONE)
		return fs_fail(reply->error, FS_REFUSED, "%s", sentence);
	return 0;
}

static int read_frame(struct reply *reply)
{
	uint32_t kind = fs_read_u32(&reply->reader);
	uint32_t size = fs_read_u32(&reply->reader);
	const uint8_t *bytes = fs_read_bytes(&reply->reader, size);
	struct fs_reader body = fs_reader_of(bytes, size);
	static int (*const readers[])(struct reply *, struct fs_reader *) = {
		[FS_REPLY_FIRST] = read_first, [FS_REPLY_BINARY] = read_binary,
		[FS_REPLY_TEXT] = read_text,   [FS_REPLY_FUNCTION] = read_function,
		[FS_REPLY_CODE] = read_code,   [FS_REPLY_LAST] = read_last,
	};

	if (!bytes)
		return malformed(reply, "it is cut off");
	if (kind < FS_REPLY_FIRST || kind > FS_REPLY_LAST ||
	    (reply->frames == 0) != (kind == FS_REPLY_FIRST))
		return malformed(reply, "an unknown frame");
	FS_TRY(readers[kind](reply, &body));
	reply->frames++;
	return 0;
}

static int read_frames(struct reply *reply)
{
	while (!reply->finished) {
		if (fs_reader_left(&reply->reader) == 0)
			return malformed(reply, "it is cut off");
		FS_TRY(read_frame(reply));
	}
	if (fs_reader_left(&reply->reader))
		return malformed(reply, "bytes behind its end");
	return 0;
}

int fs_reply_read(const uint8_t *data, size_t size, struct fs_interner *strings,
		  struct fs_symbol_dso *dso, struct fs_symbol_isolation *isolation,
		  struct fs_error *error)
{
	struct reply reply = { .reader = fs_reader_of(data, size),
			       .strings = strings,
			       .dso = dso,
			       .isolation = isolation,
			       .error = error };
	int code;

	fs_reply_forget(dso);
	code = read_frames(&reply);

	free(reply.texts);
	if (code == FS_NOMEM)
		fs_fail(error, FS_NOMEM, "out of memory for the names of %s", dso->path);
	if (code) {
		fs_reply_forget(dso);
		return code;
	}
	if (!dso->names && dso->symbols == FS_SYMBOLS_VERIFIED)
		dso->symbols = FS_SYMBOLS_STRIPPED;
	return 0;
}
