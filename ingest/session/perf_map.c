/* SPDX-License-Identifier: GPL-2.0-only */
/* Perf map files: see jit_file.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/vector.h"
#include "ingest/session/jit_file.h"

/* A hex number, with or without 0x. Returns where it ends, or `at` if there is none. */
static const char *read_hex(const char *at, const char *end, uint64_t *ret_value)
{
	const char *digit = at;
	uint64_t value = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x')
		digit += 2;
	at = digit;
	for (; digit < end && isxdigit((unsigned char)*digit); digit++) {
		if (digit - at == 16)
			return at;
		value = value << 4 |
			(uint64_t)(isdigit((unsigned char)*digit) ? *digit - '0'
								  : (*digit | 32) - 'a' + 10);
	}
	*ret_value = value;
	return digit;
}

static bool parse_line(const char *at, const char *end, struct fs_jit_entry *ret_entry)
{
	struct fs_jit_entry entry = { 0 };
	const char *behind = read_hex(at, end, &entry.start);

	if (behind == at || behind == end || *behind != ' ')
		return false;
	at = behind + 1;
	behind = read_hex(at, end, &entry.size);
	if (behind == at || end - behind < 2 || *behind != ' ' || !entry.size ||
	    entry.size > UINT64_MAX - entry.start)
		return false;
	if (end[-1] == '\r')
		end--;
	entry.name = (struct fs_jit_text){ behind + 1, (uint32_t)(end - behind - 1) };
	*ret_entry = entry;
	return entry.name.length && entry.name.length < UINT16_MAX &&
	       !memchr(entry.name.start, '\0', entry.name.length);
}

int fs_perf_map_parse(const void *bytes, size_t size, struct fs_jit_table *ret_table)
{
	struct fs_jit_table *table = ret_table;
	const char *at = bytes;
	const char *end = at + size;

	*table = (struct fs_jit_table){ 0 };
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline ? newline : end;
		struct fs_jit_entry entry;

		if (parse_line(at, line_end, &entry)) {
			FS_TRY(FS_RESERVE(table->entries, table->capacity, table->count + 1));
			table->entries[table->count++] = entry;
		} else if (line_end > at) {
			table->skipped++;
		}
		at = line_end + 1;
	}
	return 0;
}

void fs_jit_table_free(struct fs_jit_table *table)
{
	free(table->entries);
	free(table->lines);
	*table = (struct fs_jit_table){ 0 };
}
