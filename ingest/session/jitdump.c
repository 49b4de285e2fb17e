/* SPDX-License-Identifier: GPL-2.0-only */
/* jitdump files: see jit_file.h. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/reader.h"
#include "common/table.h"
#include "common/vector.h"
#include "ingest/session/jit_file.h"

#define MAGIC 0x4a695444u

enum {
	HEADER_SIZE = 40,
	RECORD_HEADER_SIZE = 16,
	RECORD_LOAD = 0,
	RECORD_MOVE = 1,
	RECORD_DEBUG = 2,
	RECORD_KNOWN = 4,
	FLAG_COUNTER_TIMES = 1,
};

struct parsing {
	struct fs_jit_table *table;
	struct fs_table by_index; /* u64 of the compiler -> u64 entry */
	/* lines that wait for their function */
	uint64_t lines_of;
	uint32_t first_line, line_count;
};

/* A text up to its NUL. False: there is none. */
static bool read_text(struct fs_reader *reader, struct fs_jit_text *ret_text)
{
	const char *start = (const char *)reader->data + reader->offset;
	size_t left = fs_reader_left(reader);
	const char *end = left ? memchr(start, '\0', left) : NULL;

	if (!end || end - start >= UINT16_MAX)
		return false;
	fs_read_bytes(reader, (size_t)(end - start) + 1);
	*ret_text = (struct fs_jit_text){ start, (uint32_t)(end - start) };
	return true;
}

static int add_entry(struct parsing *parsing, const struct fs_jit_entry *entry)
{
	struct fs_jit_table *table = parsing->table;
	uint64_t *index = fs_table_put(&parsing->by_index, &entry->index, NULL, NULL);

	if (!index || FS_RESERVE(table->entries, table->capacity, table->count + 1))
		return FS_NOMEM;
	*index = table->count;
	table->entries[table->count++] = *entry;
	return 0;
}

static int take_load(struct parsing *parsing, uint64_t time, struct fs_reader *body)
{
	struct fs_jit_entry entry = { .time = time, .pid = fs_read_u32(body) };

	fs_read_u32(body); /* tid */
	fs_read_u64(body); /* vma: the address before any relocation, mostly the same */
	entry.start = entry.compiled = fs_read_u64(body);
	entry.size = fs_read_u64(body);
	entry.index = fs_read_u64(body);
	if (!read_text(body, &entry.name) || !entry.name.length || !entry.size ||
	    entry.size > fs_reader_left(body) || entry.size > UINT64_MAX - entry.start) {
		parsing->table->skipped++;
		return 0;
	}
	if (parsing->line_count && parsing->lines_of == entry.start) {
		entry.first_line = parsing->first_line;
		entry.line_count = parsing->line_count;
		parsing->line_count = 0;
	}
	return add_entry(parsing, &entry);
}

static int take_move(struct parsing *parsing, uint64_t time, struct fs_reader *body)
{
	uint32_t pid = fs_read_u32(body);
	struct fs_jit_entry entry;
	const uint64_t *known;
	uint64_t start;
	uint64_t size;
	uint64_t index;

	fs_read_bytes(body, 4 + 8 + 8); /* tid, vma, old address */
	start = fs_read_u64(body);
	size = fs_read_u64(body);
	index = fs_read_u64(body);
	known = body->failed ? NULL : fs_table_get(&parsing->by_index, &index);
	if (!known || !size || size > UINT64_MAX - start) {
		parsing->table->skipped++;
		return 0;
	}
	entry = parsing->table->entries[*known];
	entry.time = time;
	entry.pid = pid;
	entry.start = start;
	entry.size = size;
	return add_entry(parsing, &entry);
}

static int by_address(const void *a, const void *b)
{
	const struct fs_jit_line *left = a;
	const struct fs_jit_line *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static int take_debug(struct parsing *parsing, struct fs_reader *body)
{
	struct fs_jit_table *table = parsing->table;
	uint64_t count;
	size_t first = table->line_count;
	struct fs_jit_text file = { 0 };

	parsing->lines_of = fs_read_u64(body);
	count = fs_read_u64(body);
	parsing->first_line = (uint32_t)first;
	for (uint64_t i = 0; i < count && fs_reader_left(body); i++) {
		struct fs_jit_line line = { .address = fs_read_u64(body) };
		struct fs_jit_text name;

		line.line = fs_read_u32(body);
		fs_read_u32(body); /* discriminator or column */
		if (body->failed || !read_text(body, &name))
			break;
		if (name.length != 1 || *name.start != '\xff')
			file = name;
		line.file = file;
		FS_TRY(FS_RESERVE(table->lines, table->line_capacity, table->line_count + 1));
		table->lines[table->line_count++] = line;
	}
	parsing->line_count = (uint32_t)(table->line_count - first);
	if (parsing->line_count < count)
		table->skipped++;
	if (parsing->line_count)
		qsort(table->lines + first, parsing->line_count, sizeof(*table->lines), by_address);
	return 0;
}

static int take_record(struct parsing *parsing, uint32_t id, uint64_t time, struct fs_reader *body)
{
	if (id == RECORD_LOAD)
		return take_load(parsing, time, body);
	if (id == RECORD_MOVE)
		return take_move(parsing, time, body);
	if (id == RECORD_DEBUG)
		return take_debug(parsing, body);
	if (id > RECORD_KNOWN)
		parsing->table->skipped++;
	return 0;
}

static int read_records(struct parsing *parsing, struct fs_reader *reader)
{
	while (fs_reader_left(reader)) {
		uint32_t id = fs_read_u32(reader);
		uint32_t size = fs_read_u32(reader);
		uint64_t time = fs_read_u64(reader);
		const uint8_t *bytes = fs_read_bytes(
			reader, size < RECORD_HEADER_SIZE ? SIZE_MAX : size - RECORD_HEADER_SIZE);
		struct fs_reader body;

		if (!bytes) { /* cut off, as of a killed program */
			parsing->table->skipped++;
			return 0;
		}
		body = fs_reader_like(reader, bytes, size - RECORD_HEADER_SIZE);
		FS_TRY(take_record(parsing, id, time, &body));
	}
	return 0;
}

int fs_jitdump_parse(const void *bytes, size_t size, struct fs_jit_table *ret_table)
{
	struct fs_reader reader = fs_reader_of(bytes, size);
	struct parsing parsing = { .table = ret_table };
	uint32_t header;
	uint32_t magic = fs_read_u32(&reader);
	int code;

	*ret_table = (struct fs_jit_table){ .has_times = true };
	reader.swap = magic == __builtin_bswap32(MAGIC);
	fs_read_u32(&reader); /* version: 1 */
	header = fs_read_u32(&reader);
	fs_read_bytes(&reader, 3 * 4 + 8); /* machine, pad, pid; timestamp */
	ret_table->counter_times = fs_read_u64(&reader) & FLAG_COUNTER_TIMES;
	if (reader.failed || (magic != MAGIC && !reader.swap) || header < HEADER_SIZE)
		return FS_USAGE;
	fs_read_bytes(&reader, header - HEADER_SIZE);
	fs_table_init(&parsing.by_index, 8, 8);
	code = read_records(&parsing, &reader);
	fs_table_free(&parsing.by_index);
	return code;
}
