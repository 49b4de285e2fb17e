/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: both sides of the isolated helper. The first byte chooses.
 *
 *   R  what the helper answers, read by the main process: hostile if the helper was taken over
 *   E  | u16 offset | an ELF file |: its build-id, as the main process reads it, then the helper's
 * work on it, without the sandbox, about code from that offset on; our reader must take what our
 * writer sends A  A64 instruction words X  x86 instructions, decoded one after the other T  | u8 n
 * | n bytes of raw data | tracing_data |: the helper's work on it, then the raw data as JSON by
 * every format S  | u8 n | n bytes of raw data | answer |: the same by what the helper answers
 */
#include <elf.h>
#include <fcntl.h>
#include <json-c/json.h>
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

enum { QUERIES = 192, DENSE = 128, FRAME_HEADER = 8, FRAME_KINDS = 11, ELF_CONTROL = 3 };

/* Of tracing_data that the mutator joined: | u32 systems | name NUL |, then u32 formats. */
static const char one_system[] = "\1\0\0\0sys";

static struct fs_symbol_result results[QUERIES];
static struct fs_symbol_query queries[QUERIES];
static struct fs_symbol_object_query object_queries[QUERIES];
static struct fs_symbol_object objects[QUERIES];

/* ---- the reply ---- */

static void check_dso(const struct fs_symbol_dso *dso)
{
	FS_FUZZ_ASSERT(dso->function_count <= QUERIES);
	for (size_t i = 0; i < QUERIES; i++) {
		FS_FUZZ_ASSERT(results[i].function == FS_SYMBOL_NONE ||
			       results[i].function < dso->function_count);
		FS_FUZZ_ASSERT(results[i].type == FS_SYMBOL_NONE ||
			       results[i].type < dso->type_count);
		FS_FUZZ_ASSERT(objects[i].type == FS_SYMBOL_NONE ||
			       objects[i].type < dso->type_count);
		FS_FUZZ_ASSERT(results[i].op >= -1 && results[i].op < FS_OP_MAX);
		FS_FUZZ_ASSERT(fs_operand_method_name(results[i].method) ||
			       results[i].method == FS_OPERAND_METHOD_NONE);
	}
	for (size_t i = 0; i < dso->field_count; i++) {
		FS_FUZZ_ASSERT(dso->fields[i].type < dso->type_count);
		FS_FUZZ_ASSERT(dso->fields[i].member == FS_SYMBOL_NONE ||
			       dso->fields[i].member < dso->type_count);
	}
}

static void read_reply(const uint8_t *data, size_t size, bool is_own)
{
	struct fs_symbol_dso dso = { .path = "/lib/fuzz.so",
				     .fd = -1,
				     .queries = queries,
				     .query_count = QUERIES,
				     .results = results,
				     .object_queries = object_queries,
				     .objects = objects,
				     .object_query_count = QUERIES,
				     .symbols = FS_SYMBOLS_VERIFIED };
	struct fs_isolation isolation = { 0 };
	struct fs_interner strings;
	struct fs_error error = { 0 };
	int code;

	fs_interner_init(&strings);
	code = fs_symbol_reply_read(data, size, &strings, &dso, &isolation, &error);
	check_dso(&dso);
	FS_FUZZ_ASSERT(!code || *error.text);
	FS_FUZZ_ASSERT(!is_own || !strstr(error.text, "malformed"));
	fs_symbol_dso_free(&dso);
	fs_interner_free(&strings);
}

/* ---- the helper's work ---- */

/* Of every byte from `first` on, and addresses spread over the file, so that any segment, function
 * or variable is asked about. */
static void place_queries(size_t first, size_t size, bool exact)
{
	for (size_t i = 0; i < QUERIES; i++) {
		size_t spread = size * i / QUERIES;

		queries[i] =
			(struct fs_symbol_query){ .offset = i < DENSE ? first + i : spread & ~3ull,
						  .exact = exact };
		object_queries[i] = (struct fs_symbol_object_query){ .offset = spread & ~4095ull,
								     .distance = spread % 4096 };
	}
}

static void resolve(const uint8_t *control, const uint8_t *data, size_t size)
{
	static struct fs_reply_writer writer;
	int fd = open(fs_fuzz_file(0, data, size), O_RDONLY);
	int reply = open(fs_fuzz_file(1, NULL, 0), O_RDWR);
	const struct fs_resolve_job job = {
		.fd = fd,
		.debug_fd = -1,
		.queries = queries,
		.query_count = QUERIES,
		.object_queries = object_queries,
		.object_query_count = QUERIES,
	};
	char build_id[FS_BUILD_ID_TEXT];
	struct stat status;
	uint8_t *bytes;

	place_queries(control[0] | (size_t)control[1] << 8, size, size % 2);
	writer = (struct fs_reply_writer){ .fd = reply };
	fs_build_id_read(fd, build_id);
	FS_FUZZ_ASSERT(strlen(build_id) < FS_BUILD_ID_TEXT);
	fs_reply_first(&writer, FS_REPLY_SECCOMP);
	fs_resolve(&job, &writer);
	FS_FUZZ_ASSERT(!fstat(reply, &status));
	bytes = malloc((size_t)status.st_size);
	FS_FUZZ_ASSERT(bytes && pread(reply, bytes, (size_t)status.st_size, 0) == status.st_size);
	read_reply(bytes, (size_t)status.st_size, true);
	free(bytes);
	close(fd);
	close(reply);
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

/* ---- tracepoints ---- */

/* libtraceevent forgets what it has read of a format that it then refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

static void check_json(const char *text, size_t size)
{
	struct json_tokener *tokener = json_tokener_new_ex(4);
	struct json_object *object;

	FS_FUZZ_ASSERT(tokener);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, text, (int)size);
	FS_FUZZ_ASSERT(json_tokener_get_error(tokener) == json_tokener_success);
	FS_FUZZ_ASSERT(json_tokener_get_parse_end(tokener) == size);
	FS_FUZZ_ASSERT(json_object_is_type(object, json_type_object));
	json_object_put(object);
	json_tokener_free(tokener);
}

static void check_tracepoints(const struct fs_tracepoints *tracepoints, const uint8_t *raw,
			      size_t size)
{
	struct fs_json json = { 0 };

	for (size_t i = 0; i < tracepoints->count; i++) {
		const struct fs_tracepoint *item = &tracepoints->items[i];
		bool whole;
		int64_t value;

		FS_FUZZ_ASSERT(item->first_field + (uint64_t)item->field_count <=
			       tracepoints->field_count);
		FS_FUZZ_ASSERT(fs_tracepoint_find(tracepoints, item->id) == item);
		json.used = 0;
		FS_FUZZ_ASSERT(
			!fs_tracepoint_json(tracepoints, item, raw, size, i % 2, &json, &whole));
		check_json(json.bytes, json.used);
		for (uint32_t k = 0; k < item->field_count; k++)
			fs_tracepoint_number(&tracepoints->fields[item->first_field + k], raw, size,
					     i % 2, &value);
	}
	free(json.bytes);
}

static void read_tracepoints(const uint8_t *data, size_t size, bool is_answer)
{
	struct fs_reader reader = fs_reader_of(data, size);
	size_t raw_size = fs_read_u8(&reader);
	const uint8_t *raw = fs_read_bytes(&reader, raw_size);
	const uint8_t *rest = data + reader.offset;
	struct fs_tracepoints tracepoints;
	struct fs_error error = { 0 };
	int code;

	if (!raw)
		return;
	fs_tracepoints_init(&tracepoints);
	if (is_answer)
		code = fs_tracing_data_reply_read(rest, fs_reader_left(&reader), &tracepoints,
						  &error);
	else
		code = fs_tracing_data_parse(rest, fs_reader_left(&reader), &tracepoints, &error);
	FS_FUZZ_ASSERT(!code || *error.text);
	check_tracepoints(&tracepoints, raw, raw_size);
	fs_tracepoints_free(&tracepoints);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (*data) {
	case 'R':
		read_reply(data + 1, size - 1, false);
		break;
	case 'E':
		if (size > ELF_CONTROL)
			resolve(data + 1, data + ELF_CONTROL, size - ELF_CONTROL);
		break;
	case 'A':
		decode_a64(data + 1, size - 1);
		break;
	case 'X':
		decode_x86(data + 1, size - 1);
		break;
	case 'S':
	case 'T':
		read_tracepoints(data + 1, size - 1, *data == 'S');
		break;
	}
	return 0;
}

/* ---- framing for the mutator ---- */

/* CHOICE: the first byte, with the raw data where there is some. */
enum { CHOICE, FRAME, BYTES, HEAD, FORMAT, TAIL };

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

/* Pieces as long as a section header, which keep that size: what tables name stays in place. */
static void split_elf(struct fs_parts *parts, const uint8_t *data, size_t size)
{
	size_t step = sizeof(Elf64_Shdr);

	for (size_t at = 0; at < size; at += step)
		if (!fs_fuzz_append(parts, BYTES, (unsigned int)step, data + at,
				    size - at < step ? size - at : step))
			return;
}

/* | head | u32 1 | name NUL | u32 n | n * {u64 size, format} | tail |: of one system, as joining
 * writes it. A format is found by how it begins, behind its size. */
static void split_tracing(struct fs_parts *parts, const uint8_t *data, size_t size)
{
	static const char begin[] = "name: ";
	const uint8_t *format = size > 8 ? memmem(data + 8, size - 8, begin, strlen(begin)) : NULL;
	size_t head = format ? (size_t)(format - data) : size;
	struct fs_reader reader = fs_reader_of(data, size);

	head = head > sizeof(one_system) + 12 ? head - sizeof(one_system) - 12 : 0;
	fs_fuzz_append(parts, HEAD, 0, data, head);
	if (!format)
		return;
	reader.offset = (size_t)(format - data) - 8;
	while (fs_reader_left(&reader)) {
		size_t left = fs_reader_left(&reader);
		uint64_t length = fs_read_u64(&reader);
		const uint8_t *text = length < left ? fs_read_bytes(&reader, (size_t)length) : NULL;

		if (!text || length < strlen(begin) || memcmp(text, begin, strlen(begin)) != 0) {
			fs_fuzz_append(parts, TAIL, 0, data + size - left, left);
			return;
		}
		if (!fs_fuzz_append(parts, FORMAT, 0, text, (size_t)length))
			return;
	}
}

static void split(struct fs_parts *parts, const uint8_t *data, size_t size)
{
	size_t at = 1;

	if (!size)
		return;
	if ((*data == 'S' || *data == 'T') && size > 2)
		at = size - 2 > data[1] ? 2 + (size_t)data[1] : size;
	if (*data == 'E' && size > ELF_CONTROL)
		at = ELF_CONTROL;
	fs_fuzz_append(parts, CHOICE, 0, data, at);
	if (*data == 'R' || *data == 'S')
		split_reply(parts, data + at, size - at);
	else if (*data == 'E')
		split_elf(parts, data + at, size - at);
	else if (*data == 'T')
		split_tracing(parts, data + at, size - at);
	else
		fs_fuzz_append(parts, BYTES, 0, data + at, size - at);
}

/* A frame of any kind, of the size that it should have, with small numbers. */
static void make_frame(struct fs_parts *parts, size_t position, const uint8_t *sizes)
{
	uint32_t kind = (uint32_t)fs_fuzz_random(parts, FRAME_KINDS);
	struct fs_part *part = fs_fuzz_insert(parts, position, FRAME_HEADER + sizes[kind]);

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

static void make(struct fs_parts *parts, size_t position)
{
	static const uint8_t of_symbols[FRAME_KINDS] = { 0, 4, 4, 12, 8, 24, 80, 16, 48, 40, 8 };
	static const uint8_t of_tracepoints[FRAME_KINDS] = { 0, 4, 4, 12, 12, 24, 8, 8, 8, 8, 8 };
	static const char format[] = "name: n\nID: 7\nformat:\n\tfield:__data_loc char[] "
				     "a;\toffset:8;\tsize:4;\tsigned:1;\n";
	struct fs_part *part;

	if (!position || parts->items[0].kind != CHOICE)
		return;
	switch (parts->items[0].bytes[0]) {
	case 'R':
		make_frame(parts, position, of_symbols);
		break;
	case 'S':
		make_frame(parts, position, of_tracepoints);
		break;
	case 'T':
		part = fs_fuzz_insert(parts, position, sizeof(format) - 1);
		if (!part)
			return;
		part->kind = FORMAT;
		memcpy(part->bytes, format, part->size);
		part->bytes[13] = (uint8_t)('0' + fs_fuzz_random(parts, 10));
		break;
	}
}

static void put_formats(struct fs_parts *parts, uint8_t *out, size_t *used, size_t max)
{
	uint32_t count = 0;

	for (size_t i = 0; i < parts->count; i++)
		count += parts->items[i].kind == FORMAT;
	fs_fuzz_put(out, used, max, one_system, sizeof(one_system));
	fs_fuzz_put(out, used, max, &count, sizeof(count));
	for (size_t i = 0; i < parts->count; i++) {
		uint64_t size = parts->items[i].size;

		if (parts->items[i].kind != FORMAT)
			continue;
		fs_fuzz_put(out, used, max, &size, sizeof(size));
		fs_fuzz_put(out, used, max, parts->items[i].bytes, (size_t)size);
	}
}

static void repair_part(struct fs_part *part)
{
	uint32_t size = (uint32_t)(part->size - FRAME_HEADER);

	if (part->kind == FRAME && part->size >= FRAME_HEADER)
		memcpy(part->bytes + 4, &size, sizeof(size));
	if (part->kind == CHOICE && part->size > ELF_CONTROL && part->bytes[0] == 'E')
		part->size = ELF_CONTROL;
	else if (part->kind == CHOICE && part->size > 2 && part->bytes[0] != 'E') {
		part->size = part->size > UINT8_MAX ? UINT8_MAX : part->size;
		part->bytes[1] = (uint8_t)(part->size - 2);
	}
	if (part->number && part->size > part->number)
		part->size = part->number;
}

static size_t join(struct fs_parts *parts, uint8_t *out, size_t max, bool repair)
{
	size_t used = 0;
	bool formats = false;

	for (size_t i = 0; i < parts->count; i++) {
		struct fs_part *part = &parts->items[i];

		if (repair)
			repair_part(part);
		if (part->kind != FORMAT)
			fs_fuzz_put(out, &used, max, part->bytes, part->size);
		else if (!formats)
			put_formats(parts, out, &used, max);
		formats |= part->kind == FORMAT;
	}
	return used;
}

const struct fs_fuzz_format fs_fuzz_format = { .split = split, .make = make, .join = join };
