/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: both sides of the isolated helper. The first byte chooses.
 *
 *   R  what the helper answers, read by the main process: hostile if the helper was taken over
 *   E  an ELF file: its build-id, as the main process reads it, then the helper's work on it,
 *      without the sandbox; our reader must take what our writer sends
 *   T  tracing_data, parsed as the helper does it, then its own bytes as raw data of each
 * tracepoint F  what the helper answers about tracing_data, and then the same A  A64 instruction
 * words X  x86 instructions, decoded one after the other
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/reader.h"
#include "fuzz/fuzz.h"
#include "ingest/symbol/build_id.h"
#include "ingest/symbol/operand.h"
#include "ingest/symbol/reply.h"
#include "ingest/symbol/resolve.h"
#include "ingest/tracepoint/tracing_data.h"

enum { QUERIES = 64, FRAME_HEADER = 8 };

static struct fs_symbol_result results[QUERIES];
static struct fs_symbol_query queries[QUERIES];

/* ---- the reply ---- */

static void check_dso(const struct fs_symbol_dso *dso)
{
	FS_FUZZ_ASSERT(dso->function_count <= QUERIES);
	for (size_t i = 0; i < QUERIES; i++) {
		FS_FUZZ_ASSERT(results[i].function == FS_SYMBOL_NONE ||
			       results[i].function < dso->function_count);
		FS_FUZZ_ASSERT(results[i].op >= -1 && results[i].op < FS_OP_MAX);
		FS_FUZZ_ASSERT(fs_operand_method_name(results[i].method) ||
			       results[i].method == FS_OPERAND_METHOD_NONE);
	}
}

static int read_reply(const uint8_t *data, size_t size)
{
	struct fs_symbol_dso dso = { .path = "/lib/fuzz.so",
				     .fd = -1,
				     .queries = queries,
				     .query_count = QUERIES,
				     .results = results,
				     .symbols = FS_SYMBOLS_VERIFIED };
	struct fs_isolation isolation = { 0 };
	struct fs_interner strings;
	struct fs_error error = { 0 };
	int code;

	fs_interner_init(&strings);
	code = fs_symbol_reply_read(data, size, &strings, &dso, &isolation, &error);
	check_dso(&dso);
	FS_FUZZ_ASSERT(!code || *error.text);
	fs_symbol_dso_free(&dso);
	fs_interner_free(&strings);
	return code;
}

/* ---- the helper's work ---- */

/* Addresses spread over the file, so that any segment or function is asked about. */
static void place_queries(size_t size, bool exact)
{
	for (size_t i = 0; i < QUERIES; i++)
		queries[i] = (struct fs_symbol_query){ .offset = size * i / QUERIES & ~3ull,
						       .exact = exact };
}

static void resolve(const uint8_t *data, size_t size)
{
	static struct fs_reply_writer writer;
	int fd = open(fs_fuzz_file(0, data, size), O_RDONLY);
	int reply = open(fs_fuzz_file(1, NULL, 0), O_RDWR);
	const struct fs_resolve_job job = {
		.fd = fd, .debug_fd = -1, .queries = queries, .query_count = QUERIES
	};
	char build_id[FS_BUILD_ID_TEXT];
	struct stat status;
	uint8_t *bytes;

	place_queries(size, size % 2);
	writer = (struct fs_reply_writer){ .fd = reply };
	fs_build_id_read(fd, build_id);
	FS_FUZZ_ASSERT(strlen(build_id) < FS_BUILD_ID_TEXT);
	fs_reply_first(&writer, FS_REPLY_SECCOMP);
	fs_resolve(&job, &writer);
	FS_FUZZ_ASSERT(!fstat(reply, &status));
	bytes = malloc((size_t)status.st_size);
	FS_FUZZ_ASSERT(bytes && pread(reply, bytes, (size_t)status.st_size, 0) == status.st_size);
	read_reply(bytes, (size_t)status.st_size);
	free(bytes);
	close(fd);
	close(reply);
}

/* ---- tracepoints ---- */

/* libtraceevent forgets what it has read of a format that it then refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

static void decode_raw(const struct fs_tracepoints *tracepoints, const uint8_t *data, size_t size)
{
	struct fs_json json = { 0 };

	for (size_t i = 0; i < tracepoints->count; i++) {
		const struct fs_tracepoint *item = &tracepoints->items[i];
		bool whole;

		FS_FUZZ_ASSERT(fs_tracepoint_find(tracepoints, item->id) == item);
		FS_FUZZ_ASSERT(item->first_field + item->field_count <= tracepoints->field_count);
		json.used = 0;
		FS_FUZZ_ASSERT(
			!fs_tracepoint_json(tracepoints, item, data, size, i % 2, &json, &whole));
		FS_FUZZ_ASSERT(json.used > 1 && json.bytes[0] == '{' &&
			       json.bytes[json.used - 1] == '}');
		FS_FUZZ_ASSERT(json.used <= 8192 + 8 * size);
	}
	free(json.bytes);
}

static void read_tracepoints(bool reply, const uint8_t *data, size_t size)
{
	struct fs_tracepoints tracepoints;
	struct fs_error error = { 0 };
	int code;

	fs_tracepoints_init(&tracepoints);
	code = reply ? fs_tracing_data_reply_read(data, size, &tracepoints, &error)
		     : fs_tracing_data_parse(data, size, &tracepoints, &error);
	FS_FUZZ_ASSERT(!code || *error.text || code == FS_NOMEM);
	decode_raw(&tracepoints, data, size < 200 ? size : 200);
	fs_tracepoints_free(&tracepoints);
}

/* ---- instructions ---- */

static void check_operand(const struct fs_operand *operand)
{
	FS_FUZZ_ASSERT(memchr(operand->base, '\0', sizeof(operand->base)));
	FS_FUZZ_ASSERT(operand->base[0] || !operand->displacement);
	FS_FUZZ_ASSERT(operand->width <= 4096);
	FS_FUZZ_ASSERT(fs_operand_op(operand) < FS_OP_MAX);
}

static void decode_a64(const uint8_t *data, size_t size)
{
	struct fs_reader reader = fs_reader_of(data, size);
	struct fs_operand operand;

	while (fs_reader_left(&reader) >= 4)
		if (fs_operand_a64(fs_read_u32(&reader), &operand))
			check_operand(&operand);
}

static void decode_x86(const uint8_t *data, size_t size)
{
	struct fs_x86 *x86 = fs_x86_open(size % 2);
	struct fs_operand operand;

	FS_FUZZ_ASSERT(x86);
	while (size) {
		size_t length = fs_x86_length(x86, data, size);

		FS_FUZZ_ASSERT(length <= size);
		if (fs_operand_x86(x86, data, size, &operand)) {
			FS_FUZZ_ASSERT(operand.length == length);
			check_operand(&operand);
		}
		if (!length)
			length = 1;
		data += length;
		size -= length;
	}
	fs_x86_close(x86);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (*data) {
	case 'R':
		read_reply(data + 1, size - 1);
		break;
	case 'E':
		resolve(data + 1, size - 1);
		break;
	case 'T':
	case 'F':
		read_tracepoints(*data == 'F', data + 1, size - 1);
		break;
	case 'A':
		decode_a64(data + 1, size - 1);
		break;
	case 'X':
		decode_x86(data + 1, size - 1);
		break;
	}
	return 0;
}

/* ---- framing for the mutator ---- */

enum { CHOICE, FRAME, BYTES };

/* | u32 kind | u32 size | size bytes | */
static void split_reply(struct fs_parts *parts, const uint8_t *data, size_t size)
{
	struct fs_reader reader = fs_reader_of(data, size);

	while (fs_reader_left(&reader)) {
		const uint8_t *start = data + reader.offset;
		size_t left = fs_reader_left(&reader);
		uint32_t length;

		fs_read_u32(&reader);
		length = fs_read_u32(&reader);
		if (!fs_read_bytes(&reader, length)) {
			fs_fuzz_append(parts, FRAME, 0, start, left);
			return;
		}
		if (!fs_fuzz_append(parts, FRAME, 0, start, FRAME_HEADER + length))
			return;
	}
}

/* The header, then pieces between the places that its tables name: those keep their sizes. */
static void split_elf(struct fs_parts *parts, const uint8_t *data, size_t size)
{
	size_t step = sizeof(Elf64_Shdr);

	for (size_t at = 0; at < size; at += step)
		if (!fs_fuzz_append(parts, BYTES, (unsigned int)step, data + at,
				    size - at < step ? size - at : step))
			return;
}

static void split(struct fs_parts *parts, const uint8_t *data, size_t size)
{
	if (!size)
		return;
	fs_fuzz_append(parts, CHOICE, 0, data, 1);
	if (*data == 'R' || *data == 'F')
		split_reply(parts, data + 1, size - 1);
	else if (*data == 'E')
		split_elf(parts, data + 1, size - 1);
	else
		fs_fuzz_append(parts, BYTES, 0, data + 1, size - 1);
}

/* A frame of any kind, of the size that it should have, with small numbers. */
static void make(struct fs_parts *parts, size_t position)
{
	static const uint8_t sizes[] = { 0, 4, 4, 12, 8, 24, 48, 8 };
	uint32_t kind = (uint32_t)fs_fuzz_random(parts, sizeof(sizes));
	struct fs_part *part;

	if (!position || parts->items[0].kind != CHOICE ||
	    (parts->items[0].bytes[0] != 'R' && parts->items[0].bytes[0] != 'F'))
		return;
	part = fs_fuzz_insert(parts, position, FRAME_HEADER + sizes[kind]);
	if (!part)
		return;
	part->kind = FRAME;
	memcpy(part->bytes, &kind, sizeof(kind));
	for (size_t at = FRAME_HEADER; at < part->size; at += 4) {
		uint32_t value = (uint32_t)(fs_fuzz_random(parts, 4) ? fs_fuzz_random(parts, 4)
								     : fs_fuzz_odd_number(parts));

		memcpy(part->bytes + at, &value, sizeof(value));
	}
}

static size_t join(struct fs_parts *parts, uint8_t *out, size_t max, bool repair)
{
	size_t used = 0;

	for (size_t i = 0; i < parts->count; i++) {
		struct fs_part *part = &parts->items[i];

		if (repair && part->kind == FRAME && part->size >= FRAME_HEADER) {
			uint32_t size = (uint32_t)(part->size - FRAME_HEADER);

			memcpy(part->bytes + 4, &size, sizeof(size));
		}
		if (repair && part->number && part->size > part->number)
			part->size = part->number;
		fs_fuzz_put(out, &used, max, part->bytes, part->size);
	}
	return used;
}

const struct fs_fuzz_format fs_fuzz_format = { .split = split, .make = make, .join = join };
