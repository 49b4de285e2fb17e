/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: lines are read one by one, so that a log may be of any size. The roll-up's lines
 * lie sorted by space and address; a block that covers none of them is forgotten at once, and what
 * is kept is bounded. Probes are brought into the same form: the entry of a function gives the size
 * that its thread asks for, the return the address.
 */
#include "ingest/load/heap.h"

#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/vector.h"
#include "schema/schema.h"

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
	fs_table_init(&heap->calls, sizeof(uint64_t), sizeof(uint64_t));
	fs_table_init(&heap->live, sizeof(struct live_key), sizeof(uint64_t));
}

void fs_heap_free(struct fs_heap *heap)
{
	free(heap->blocks);
	fs_table_free(&heap->live);
	fs_table_free(&heap->calls);
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

/* ---- probes in the recording ---- */

enum { NUMBERS_MAX = 6 };

/* Allocators, and which of their arguments is the size; calloc has it in two. */
static const struct allocator {
	const char *name;
	unsigned int size_at, factor_at; /* from 1; 0: none */
	bool frees;
} allocators[] = {
	{ "malloc", 1, 0, false },	  { "calloc", 1, 2, false },   { "realloc", 2, 0, true },
	{ "aligned_alloc", 2, 0, false }, { "memalign", 2, 0, false }, { "mmap", 2, 0, false },
	{ "free", 0, 0, true },		  { "munmap", 0, 0, true },
};

/* What a probe's name says; NULL: it is none on an allocator. */
static const struct allocator *find_allocator(const char *event, bool *ret_returns)
{
	const char *name = strrchr(event, ':') ? strrchr(event, ':') + 1 : event;

	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++) {
		size_t length = strlen(allocators[i].name);
		const char *rest = name + length;

		if (strncmp(name, allocators[i].name, length) != 0)
			continue;
		rest += strspn(rest, "_");
		*ret_returns = !strncmp(rest, "return", 6);
		if (*ret_returns)
			rest += 6;
		if (rest[strspn(rest, "_0123456789")] == '\0') /* perf numbers probes of one name */
			return &allocators[i];
	}
	return NULL;
}

/* A probe's own numbers in their order, and the address it returns to. */
struct probe_values {
	uint64_t numbers[NUMBERS_MAX];
	unsigned int count;
	uint64_t return_to;
};

static struct probe_values values_of(const char *text)
{
	struct probe_values values = { 0 };
	struct json_object *object = json_tokener_parse(text);
	struct json_object_iterator at;
	struct json_object_iterator end;

	if (!json_object_is_type(object, json_type_object)) {
		json_object_put(object);
		return values;
	}
	end = json_object_iter_end(object);
	for (at = json_object_iter_begin(object); !json_object_iter_equal(&at, &end);
	     json_object_iter_next(&at)) {
		const char *name = json_object_iter_peek_name(&at);
		struct json_object *value = json_object_iter_peek_value(&at);

		if (!json_object_is_type(value, json_type_int))
			continue;
		if (!strcmp(name, "__probe_ret_ip"))
			values.return_to = (uint64_t)json_object_get_int64(value);
		else if (strncmp(name, "__probe_", 8) != 0 && values.count < NUMBERS_MAX)
			values.numbers[values.count++] = (uint64_t)json_object_get_int64(value);
	}
	json_object_put(object);
	return values;
}

static uint64_t argument(const struct probe_values *values, unsigned int at)
{
	return at && at <= values->count ? values->numbers[at - 1] : 0;
}

/* The entry of an allocator: remember what the thread asks for, and end what it gives back. */
static int enter(struct fs_heap *heap, struct fs_decoder *decoder,
		 const struct allocator *allocator, const struct probe_values *values,
		 const struct event *event)
{
	uint64_t thread = event->pid << 32 | event->tid;
	uint64_t *asked;

	if (allocator->frees && argument(values, 1)) {
		struct event freed = *event;

		freed.addr = argument(values, 1);
		FS_TRY(add_event(heap, decoder, &freed));
	}
	if (!allocator->size_at)
		return 0;
	asked = fs_table_put(&heap->calls, &thread, NULL, NULL);
	if (!asked)
		return FS_NOMEM;
	*asked = argument(values, allocator->size_at);
	if (allocator->factor_at &&
	    __builtin_mul_overflow(*asked, argument(values, allocator->factor_at), asked))
		*asked = 0;
	return 0;
}

static int leave(struct fs_heap *heap, struct fs_decoder *decoder,
		 const struct probe_values *values, struct event *event)
{
	uint64_t thread = event->pid << 32 | event->tid;
	uint64_t *asked = fs_table_get(&heap->calls, &thread);

	event->allocates = true;
	event->addr = argument(values, 1);
	event->size = asked ? *asked : 0;
	event->site = values->return_to;
	if (asked)
		*asked = 0;
	if (!event->addr || !event->size || event->size > UINT64_MAX - event->addr)
		return 0;
	return add_event(heap, decoder, event);
}

/* Row: event, time, thread, fields. */
static int take_probe(struct fs_heap *heap, struct fs_decoder *decoder, sqlite3_stmt *row)
{
	const struct fs_session *session = decoder->session;
	uint64_t index = (uint64_t)(sqlite3_column_int64(row, 0) - decoder->bases.event);
	uint64_t thread = (uint64_t)(sqlite3_column_int64(row, 2) - decoder->bases.thread);
	const char *text = (const char *)sqlite3_column_text(row, 3);
	const struct allocator *allocator;
	struct event event = { .time_ns = (uint64_t)sqlite3_column_int64(row, 1) };
	struct probe_values values;
	bool returns;

	if (index >= session->file.event_count || thread >= session->threads.count || !text ||
	    session->threads.threads[thread].pid >= FS_PID_GUEST)
		return 0;
	allocator = find_allocator(session->file.events[index].name, &returns);
	if (!allocator)
		return 0;
	event.pid = session->threads.threads[thread].pid;
	event.tid = session->threads.threads[thread].tid;
	values = values_of(text);
	if (returns || values.return_to)
		return leave(heap, decoder, &values, &event);
	return enter(heap, decoder, allocator, &values, &event);
}

/* The rows of the probes, by time; empty: there are none. The caller frees it by sqlite3_free(). */
static char *probes_sql(const struct fs_decoder *decoder)
{
	const struct fs_session *session = decoder->session;
	sqlite3_str *sql = sqlite3_str_new(NULL);
	size_t count = 0;

	for (size_t i = 0; i < session->file.event_count; i++) {
		const struct fs_event *event = &session->file.events[i];
		bool returns;

		if (event->attr.type != FS_ATTR_TRACEPOINT || !event->name ||
		    !find_allocator(event->name, &returns))
			continue;
		sqlite3_str_appendf(
			sql, "%s%lld",
			count++ ? ", "
				: "SELECT r.event_id, s.time_ns, s.thread_id, r.fields FROM "
				  "sample_raw AS r JOIN sample AS s ON s.rowid = "
				  "r.sample_id WHERE s.thread_id NOTNULL AND r.event_id IN (",
			(long long)(decoder->bases.event + (int64_t)i));
	}
	if (count)
		sqlite3_str_appendall(sql, ") ORDER BY s.time_ns, s.rowid");
	else
		sqlite3_str_appendall(sql, " ");
	return sqlite3_str_finish(sql);
}

int fs_heap_take_probes(struct fs_heap *heap, struct fs_decoder *decoder, sqlite3 *db,
			struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	char *sql = probes_sql(decoder);
	int code = 0;
	int step = SQLITE_DONE;

	if (!sql)
		return fs_fail(error, FS_NOMEM, "out of memory");
	if (*sql == ' ') {
		sqlite3_free(sql);
		return 0;
	}
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		code = fs_sql_fail(db, NULL, error);
	sqlite3_free(sql);
	while (!code && (step = sqlite3_step(statement)) == SQLITE_ROW)
		if (take_probe(heap, decoder, statement))
			code = fs_fail(error, FS_NOMEM, "out of memory for heap blocks");
	if (!code && step != SQLITE_DONE)
		code = fs_sql_fail(db, NULL, error);
	sqlite3_finalize(statement);
	return code;
}
