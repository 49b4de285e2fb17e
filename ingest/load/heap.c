/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: lines are read one by one, so that a log may be of any size. The roll-up's lines
 * lie sorted by space and address; a block that covers none of them is forgotten at once, and what
 * is kept is bounded.
 */
#include "ingest/load/heap.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/vector.h"

enum { BLOCKS_MAX = 4 << 20, LINE_BYTES = 64 };

struct live_key {
	uint64_t pid, addr;
};

struct event {
	uint64_t time_ns, pid, tid, addr, size, site;
	bool allocates;
};

void fs_heap_init(struct fs_heap *heap)
{
	*heap = (struct fs_heap){ 0 };
	fs_table_init(&heap->live, sizeof(struct live_key), sizeof(uint64_t));
}

void fs_heap_free(struct fs_heap *heap)
{
	free(heap->blocks);
	fs_table_free(&heap->live);
}

/* ---- lines ---- */

static bool take_number(char **text, uint64_t *ret_value)
{
	char *end;

	while (isblank((unsigned char)**text))
		++*text;
	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*ret_value = strtoull(*text, &end, **text == '0' && (*text)[1] == 'x' ? 16 : 10);
	*text = end;
	return !errno;
}

/* 1234567890 ns, or 1.23456789 s. */
static bool take_time(char **text, uint64_t *ret_ns)
{
	uint64_t seconds;
	uint64_t unit = 1000000000;

	if (!take_number(text, &seconds))
		return false;
	*ret_ns = seconds;
	if (**text != '.')
		return true;
	if (seconds > INT64_MAX / unit)
		return false;
	*ret_ns = seconds * unit;
	while (isdigit((unsigned char)*++*text))
		*ret_ns += (uint64_t)(**text - '0') * (unit /= 10);
	return true;
}

static bool take_word(char **text, const char *word)
{
	while (isblank((unsigned char)**text))
		++*text;
	if (strncmp(*text, word, strlen(word)) != 0 ||
	    !isblank((unsigned char)(*text)[strlen(word)]))
		return false;
	*text += strlen(word);
	return true;
}

static bool at_end(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return !*text;
}

static bool parse(char *text, struct event *ret_event)
{
	struct event event = { 0 };

	if (!take_time(&text, &event.time_ns) || !take_number(&text, &event.pid) ||
	    !take_number(&text, &event.tid) || event.pid >= FS_PID_GUEST ||
	    event.tid > UINT32_MAX || event.time_ns > INT64_MAX)
		return false;
	event.allocates = take_word(&text, "alloc");
	if ((!event.allocates && !take_word(&text, "free")) || !take_number(&text, &event.addr))
		return false;
	if (event.allocates && (!take_number(&text, &event.size) || !event.size ||
				event.size > UINT64_MAX - event.addr))
		return false;
	if (event.allocates && !at_end(text) && !take_number(&text, &event.site))
		return false;
	*ret_event = event;
	return at_end(text);
}

/* ---- blocks ---- */

/* Whether a sampled line lies in [addr, addr + size). */
static bool is_sampled(const struct fs_rollup *rollup, int64_t space, const struct event *event)
{
	uint64_t first = event->addr & -(uint64_t)LINE_BYTES;
	size_t low = 0;
	size_t high = rollup->line_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct fs_rollup_line *line = &rollup->lines[middle];

		if (line->space < (uint64_t)space ||
		    (line->space == (uint64_t)space && line->line < first))
			low = middle + 1;
		else
			high = middle;
	}
	return low < rollup->line_count && rollup->lines[low].space == (uint64_t)space &&
	       rollup->lines[low].line < event->addr + event->size;
}

static int add_block(struct fs_heap *heap, struct fs_decoder *decoder, const struct event *event,
		     uint64_t *live)
{
	struct fs_session *session = decoder->session;
	struct fs_heap_block block = { .addr = event->addr,
				       .size = event->size,
				       .pid = (uint32_t)event->pid,
				       .tid = (uint32_t)event->tid,
				       .alloc_ns = event->time_ns,
				       .code = FS_NONE };

	FS_TRY(fs_spaces_find(&session->threads, block.pid, event->time_ns, &block.space, NULL,
			      NULL));
	if (!is_sampled(&decoder->rollup, block.space, event))
		return 0;
	if (heap->count == BLOCKS_MAX) {
		heap->dropped++;
		return 0;
	}
	if (event->site)
		FS_TRY(fs_decoder_find_code(decoder, block.space, event->site, event->time_ns,
					    &block.code));
	FS_TRY(FS_RESERVE(heap->blocks, heap->capacity, heap->count + 1));
	heap->blocks[heap->count++] = block;
	*live = heap->count;
	return 0;
}

/* Processes that mapped nothing in the recording have no sampled line. */
static bool is_known(const struct fs_decoder *decoder, uint64_t pid)
{
	return fs_table_get(&decoder->session->maps.roots, &pid) != NULL;
}

static int add_event(struct fs_heap *heap, struct fs_decoder *decoder, const struct event *event)
{
	struct live_key key = { event->pid, event->addr };
	uint64_t none = 0;
	uint64_t *live = fs_table_get(&heap->live, &key);

	if (live && *live && !heap->blocks[*live - 1].free_ns)
		heap->blocks[*live - 1].free_ns = event->time_ns;
	if (live)
		*live = 0;
	if (!event->allocates || !is_known(decoder, event->pid))
		return 0;
	FS_TRY(add_block(heap, decoder, event, &none));
	if (!none)
		return 0;
	live = fs_table_put(&heap->live, &key, NULL, NULL);
	if (!live)
		return FS_NOMEM;
	*live = none;
	return 0;
}

static int read_lines(struct fs_heap *heap, struct fs_decoder *decoder, FILE *file)
{
	char line[256];
	int code = 0;

	while (!code && fgets(line, sizeof(line), file)) {
		size_t length = strlen(line);
		struct event event;
		int rest;

		if (length == sizeof(line) - 1 && line[length - 1] != '\n') {
			while ((rest = getc(file)) != EOF && rest != '\n')
				;
			line[0] = '?'; /* longer than any event */
		}
		if (line[0] == '#' || at_end(line))
			continue;
		if (parse(line, &event))
			code = add_event(heap, decoder, &event);
		else
			heap->skipped++;
	}
	return code;
}

int fs_heap_read(struct fs_heap *heap, struct fs_decoder *decoder, const char *path,
		 struct fs_error *error)
{
	FILE *file = fopen(path, "re");
	int code;

	if (!file)
		return fs_fail(error, FS_REFUSED, "--alloc-log %s: cannot open: %s", path,
			       strerror(errno));
	code = read_lines(heap, decoder, file);
	if (code)
		code = fs_fail(error, FS_NOMEM, "out of memory for heap blocks");
	else if (ferror(file))
		code = fs_fail(error, FS_REFUSED, "--alloc-log %s: cannot read: %s", path,
			       strerror(errno));
	fclose(file);
	return code;
}
