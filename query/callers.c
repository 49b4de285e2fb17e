/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * callers: the call paths that lead to a function, from the call chains of one event.
 *
 * The event's samples are summed by chain, code and thread. Each sum that the filters let through
 * walks its chain once, from the sampled code out to the root, and turns every code address into
 * frames: the function, and in it what the compiler put there. Frames have numbers, and a path is
 * a number, too: that of {path of the callers, frame}; so paths are counted without building their
 * text, which is made at the end for each different one. A database may come from a stranger:
 * walks have a limit, and numbers that lead nowhere end them.
 */
#include <fnmatch.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "common/intern.h"
#include "common/text.h"
#include "common/vector.h"
#include "query/database.h"
#include "query/listing.h"

enum {
	FRAMES_MAX = 1024, /* of one path, the command not counted */
	PATH_FRAMES = FRAMES_MAX + 1,
	NAME_LIMIT = 4096, /* characters of a frame's name */
	NONE = 0,	   /* the path of no frames; paths count from 1 */
};

enum mode { COMMAND = 'c', USER = 'u', KERNEL = 'k', INLINED = 'i', INLINED_KERNEL = 'j' };

struct caller_options {
	const char *function; /* or a pattern; NULL: every whole path */
	const char *event;
	bool folded;
};

struct code_frames {
	uint64_t first, count; /* in callers.frames, outermost first */
};

struct chain_node {
	int64_t parent, code; /* chain.id, 0: none; code.id */
};

struct path {
	uint32_t callers; /* path, or NONE */
	uint32_t frame;
};

struct path_sums {
	int64_t samples, self, latency_samples;
	double value, latency;
};

/* Frames are interned by frame_key(). */
struct callers {
	struct fs_options *options;
	const struct caller_options *asked;
	int64_t event;
	struct fs_interner names;
	uint32_t *frames;
	size_t frame_count, frame_capacity;
	struct fs_table codes;	 /* code.id -> struct code_frames */
	struct fs_table chains;	 /* chain.id -> struct chain_node */
	struct fs_table sums;	 /* struct sample_key -> struct path_sums */
	struct fs_table paths;	 /* struct path -> struct path_sums; index + 1 is its number */
	struct fs_table touched; /* number of function_key() in `texts` -> number of a text there */
	struct fs_interner texts;
	bool *wanted; /* by frame name: it is the function asked for */
	int64_t samples, cut;
	double value;
};

static int no_memory(struct fs_error *error)
{
	return fs_fail(error, FS_NOMEM, "out of memory");
}

static struct fs_cell real_cell(bool known, double value)
{
	return known ? (struct fs_cell){ .kind = FS_CELL_REAL, .real = value }
		     : (struct fs_cell){ .kind = FS_CELL_NULL };
}

/* ---- what the database says of code and chains ---- */

/* | name | NUL | binary |: two binaries may have functions of one name. Returns its length. */
static size_t function_key(const char *name, const char *binary, char *out)
{
	size_t length = strnlen(name, NAME_LIMIT / 2 - 2);
	size_t rest = strnlen(binary, NAME_LIMIT / 2 - 2);

	memcpy(out, name, length);
	out[length] = '\0';
	memcpy(out + length + 1, binary, rest);
	return length + 1 + rest;
}

/* | mode | function_key() |. Returns its length. */
static size_t frame_key(enum mode mode, const char *name, const char *binary, char *out)
{
	out[0] = (char)mode;
	return 1 + function_key(name, binary, out + 1);
}

static int add_frame(struct callers *callers, enum mode mode, const char *name, const char *binary,
		     struct fs_error *error)
{
	char key[NAME_LIMIT];
	uint32_t id;

	if (fs_intern(&callers->names, key, frame_key(mode, name, binary, key), &id) ||
	    FS_RESERVE(callers->frames, callers->frame_capacity, callers->frame_count + 1))
		return no_memory(error);
	callers->frames[callers->frame_count++] = id;
	return 0;
}

/* One row per frame, the rows of a code together: code, name, binary, whether kernel, whether
 * inlined. */
#define IN_KERNEL "coalesce(d.kind IN ('kernel', 'module', 'generated'), c.ip < 0)"
#define BINARY "coalesce(" FS_BASE_NAME("d.path") ", '')"
static const char codes_sql[] =
	"SELECT c.id, coalesce(f.name, iif(d.kind = 'kernel', NULL, " FS_BASE_NAME(
		"d.path") " || format('+0x%x', c.offset)), format('0x%x', c.ip)), " BINARY
			  ", " IN_KERNEL ", 0, -1 "
			  "FROM code AS c LEFT JOIN function AS f ON f.id = c.function_id LEFT "
			  "JOIN dso AS d ON "
			  "d.id = c.dso_id WHERE c.trace_id = ?1 UNION ALL SELECT c.id, "
			  "coalesce(i.function, "
			  "'(inlined)'), " BINARY ", " IN_KERNEL
			  ", 1, -i.depth FROM inline_frame AS i JOIN code AS c "
			  "ON c.id = i.code_id LEFT JOIN dso AS d ON d.id = c.dso_id WHERE "
			  "c.trace_id = ?1 "
			  "ORDER BY 1, 5, 6";

static int add_code(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct callers *callers = context;
	int64_t id = sqlite3_column_int64(row, 0);
	bool kernel = sqlite3_column_int(row, 3);
	bool inlined = sqlite3_column_int(row, 4);
	enum mode mode = inlined ? (kernel ? INLINED_KERNEL : INLINED) : (kernel ? KERNEL : USER);
	struct code_frames *code;
	bool added;

	code = fs_table_put(&callers->codes, &id, NULL, &added);
	if (!code)
		return no_memory(error);
	if (added)
		code->first = callers->frame_count;
	code->count++;
	return add_frame(callers, mode, fs_database_text(row, 1), fs_database_text(row, 2), error);
}

static int add_chain(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct callers *callers = context;
	int64_t id = sqlite3_column_int64(row, 0);
	struct chain_node *node = fs_table_put(&callers->chains, &id, NULL, NULL);

	if (!node)
		return no_memory(error);
	node->parent = sqlite3_column_int64(row, 1);
	node->code = sqlite3_column_int64(row, 2);
	return 0;
}

/* The fields that functions touch, from every trace of the case: where one run was recorded twice,
 * one recording has the chains and the other the addresses. The three costliest types, and of each
 * the four costliest fields. */
static const char touched_sql[] =
	"WITH used AS MATERIALIZED (SELECT f.name AS function, " BINARY
	" AS binary, t.name AS type, "
	"a.field AS field, total(a.samples) AS samples, total(a.cost_share) AS cost FROM "
	"data_accesses AS a JOIN code AS c ON c.id = a.code_id JOIN function AS f ON f.id = "
	"c.function_id JOIN dso AS d ON d.id = f.dso_id JOIN type AS t ON t.id = a.type_id WHERE "
	"t.kind IN ('struct', 'union', 'class') GROUP BY 1, 2, 3, 4), "
	"fields AS (SELECT *, row_number() OVER (PARTITION BY function, binary, type ORDER BY cost "
	"DESC, samples DESC, field) AS place FROM used), "
	"types AS (SELECT function, binary, type || coalesce(': ' || group_concat(field, ', '), "
	"'') "
	"AS text, row_number() OVER (PARTITION BY function, binary ORDER BY total(cost) DESC, "
	"total(samples) DESC, type) AS place FROM (SELECT * FROM fields WHERE place <= 4 ORDER BY "
	"function, binary, type, place) GROUP BY function, binary, type) "
	"SELECT function, binary, group_concat(text, '; ') FROM (SELECT * FROM types WHERE place "
	"<= 3 "
	"ORDER BY function, binary, place) GROUP BY function, binary";

static int add_touched(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct callers *callers = context;
	const char *text = fs_database_text(row, 2);
	char key[NAME_LIMIT];
	uint64_t *value;
	uint64_t function;
	uint32_t id, known;

	if (fs_intern(&callers->texts, key,
		      function_key(fs_database_text(row, 0), fs_database_text(row, 1), key), &id) ||
	    fs_intern(&callers->texts, text, strlen(text), &known))
		return no_memory(error);
	function = id;
	value = fs_table_put(&callers->touched, &function, NULL, NULL);
	if (!value)
		return no_memory(error);
	*value = known;
	return 0;
}

static int add_command(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct callers *callers = context;

	return add_frame(callers, COMMAND, fs_database_text(row, 0), "", error);
}

/* ---- paths ---- */

static bool is_wanted(const struct callers *callers, const char *name)
{
	const char *wanted = callers->asked->function;

	return wanted && (!strcmp(name, wanted) || fnmatch(wanted, name, 0) == 0);
}

static int find_wanted(struct callers *callers, struct fs_error *error)
{
	size_t count = callers->names.by_hash.count;

	callers->wanted = calloc(count + 1, sizeof(*callers->wanted));
	if (!callers->wanted)
		return no_memory(error);
	for (size_t i = 0; i < count; i++)
		callers->wanted[i] =
			is_wanted(callers, fs_interned(&callers->names, (uint32_t)i, NULL) + 1);
	return 0;
}

/* The frames of a sum, outermost first. Returns how many; the outermost are left out beyond
 * FRAMES_MAX. */
static size_t walk(struct callers *callers, int64_t chain, int64_t code, uint32_t *frames)
{
	size_t at = FRAMES_MAX;
	size_t nodes = 0;

	for (;;) {
		const struct code_frames *found = fs_table_get(&callers->codes, &code);
		const struct chain_node *node;

		for (size_t i = found ? (size_t)found->count : 0; i > 0 && at > 0; i--)
			frames[--at] = callers->frames[found->first + i - 1];
		node = chain ? fs_table_get(&callers->chains, &chain) : NULL;
		if (!node)
			break;
		if (nodes++ == FRAMES_MAX || at == 0) {
			callers->cut++;
			break;
		}
		code = node->code;
		chain = node->parent;
	}
	memmove(frames, frames + at, (FRAMES_MAX - at) * sizeof(*frames));
	return FRAMES_MAX - at;
}

/* The number of the path of these frames; NONE: memory ran out. */
static uint32_t find_path(struct callers *callers, const uint32_t *frames, size_t count)
{
	struct path path = { .callers = NONE };
	uint32_t index = NONE;

	for (size_t i = 0; i < count; i++) {
		path.frame = frames[i];
		if (!fs_table_put(&callers->paths, &path, &index, NULL))
			return NONE;
		path.callers = index + 1;
	}
	return path.callers;
}

/* Flame graphs begin with the command. Returns how many frames that is. */
static size_t begin_path(const struct callers *callers, sqlite3_stmt *row, uint32_t *frames)
{
	char key[NAME_LIMIT];

	return callers->asked->folded &&
	       fs_interner_find(&callers->names, key,
				frame_key(COMMAND, fs_database_text(row, 6), "", key), &frames[0]);
}

/* Row: chain, code, samples, value, samples with a latency, their sum, command. */
static int add_sum(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct callers *callers = context;
	uint32_t frames[PATH_FRAMES];
	size_t root = begin_path(callers, row, frames);
	size_t whole = root + walk(callers, sqlite3_column_int64(row, 0),
				   sqlite3_column_int64(row, 1), frames + root);
	size_t count = whole;
	struct path_sums *sums;
	uint32_t path;

	callers->samples += sqlite3_column_int64(row, 2);
	callers->value += sqlite3_column_double(row, 3);
	if (callers->asked->function)
		while (count > root && !callers->wanted[frames[count - 1]])
			count--;
	if (count == root)
		return 0;
	path = find_path(callers, frames, count);
	if (path == NONE)
		return no_memory(error);
	sums = fs_table_value(&callers->paths, path - 1);
	sums->samples += sqlite3_column_int64(row, 2);
	sums->value += sqlite3_column_double(row, 3);
	sums->latency_samples += sqlite3_column_int64(row, 4);
	sums->latency += sqlite3_column_double(row, 5);
	if (count == whole)
		sums->self += sqlite3_column_int64(row, 2);
	return 0;
}

/* ---- sums of samples: SQLite would sort them all, a hash table holds what differs ---- */

struct sample_key {
	int64_t chain, code, thread, cpu; /* cpu: -1 unless a filter asks */
};

static int sum_sample(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct callers *callers = context;
	struct sample_key key = { .cpu = -1 };
	int64_t period = sqlite3_column_int64(row, 3);
	int64_t latency = sqlite3_column_int64(row, 4);
	struct path_sums *sums;

	key.chain = sqlite3_column_int64(row, 0);
	key.code = sqlite3_column_int64(row, 1);
	key.thread = sqlite3_column_int64(row, 2);
	if (callers->options->filters[FS_FILTER_CPU] && sqlite3_column_type(row, 5) != SQLITE_NULL)
		key.cpu = sqlite3_column_int64(row, 5);
	sums = fs_table_put(&callers->sums, &key, NULL, NULL);
	if (!sums)
		return no_memory(error);
	sums->samples++;
	sums->value += period > 0 ? (double)period : 0;
	sums->latency_samples += latency > 0;
	sums->latency += latency > 0 ? (double)latency : 0;
	return 0;
}

/* What the conditions of filters are put to. */
static int store_sums(struct callers *callers, struct fs_error *error)
{
	const struct fs_query *query = callers->options->query;
	sqlite3_stmt *insert = NULL;
	int code = 0;

	if (sqlite3_exec(query->db,
			 "CREATE TEMP TABLE sums (chain_id, code_id, samples, value, "
			 "latency_samples, latency, thread_id, cpu)",
			 NULL, NULL, NULL) != SQLITE_OK)
		return fs_database_fail(query, error);
	FS_TRY(fs_database_prepare(query, "INSERT INTO temp.sums VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
				   &insert, error));
	for (size_t i = 0; !code && i < callers->sums.count; i++) {
		const struct sample_key *key = fs_table_key(&callers->sums, i);
		const struct path_sums *sums = fs_table_value(&callers->sums, i);
		struct fs_cell cells[] = {
			fs_integer_cell(key->chain),
			fs_integer_cell(key->code),
			fs_integer_cell(sums->samples),
			real_cell(true, sums->value),
			fs_integer_cell(sums->latency_samples),
			real_cell(true, sums->latency),
			fs_integer_cell(key->thread),
			key->cpu < 0 ? real_cell(false, 0) : fs_integer_cell(key->cpu),
		};

		code = fs_rows_add(callers->options->query, insert, cells, error);
	}
	sqlite3_finalize(insert);
	return code;
}

static int add_sums(struct callers *callers, struct fs_error *error)
{
	const struct fs_options *options = callers->options;
	sqlite3_str *text;
	char *sql;
	int code;

	FS_TRY(fs_listing_each(
		callers->options,
		"SELECT chain_id, code_id, thread_id, period, latency, cpu FROM sample "
		"WHERE event_id = ?2",
		callers->event, sum_sample, callers, error));
	FS_TRY(store_sums(callers, error));
	text = sqlite3_str_new(options->query->db);
	sqlite3_str_appendall(
		text,
		"SELECT s.chain_id, s.code_id, s.samples, s.value, s.latency_samples, s.latency, "
		"t.comm FROM temp.sums AS s LEFT JOIN thread AS t ON t.id = s.thread_id LEFT JOIN "
		"code AS c ON c.id = s.code_id LEFT JOIN function AS f ON f.id = c.function_id "
		"LEFT JOIN dso AS d ON d.id = c.dso_id WHERE 1");
	code = fs_listing_conditions(options, text, error);
	sqlite3_str_appendall(text, " ORDER BY s.chain_id, s.code_id, s.thread_id, s.cpu");
	sql = sqlite3_str_finish(text);
	if (!code)
		code = sql ? fs_listing_each(callers->options, sql, callers->event, add_sum,
					     callers, error)
			   : no_memory(error);
	sqlite3_free(sql);
	return code;
}

/* The event asked for; else cycles with call chains, else what has most samples with them, else
 * with samples. */
static int find_event(struct callers *callers, struct fs_error *error)
{
	const struct fs_query *query = callers->options->query;
	const char *name = callers->asked->event;
	sqlite3_stmt *statement = NULL;
	int code = 0;

	FS_TRY(fs_database_prepare(
		query,
		"SELECT id, name, sample_type >> 5 & 1 AS chains FROM event WHERE trace_id = ?1 "
		"AND "
		"samples > 0 AND (?2 IS NULL OR name = ?2 OR name GLOB ?2) ORDER BY chains DESC, "
		"coalesce(role, '') = 'cycles' DESC, samples DESC, id LIMIT 1",
		&statement, error));
	sqlite3_bind_int64(statement, 1, callers->options->trace_id);
	sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		callers->event = sqlite3_column_int64(statement, 0);
		fs_query_say(query, "event: %s", fs_database_text(statement, 1));
		if (!sqlite3_column_int(statement, 2))
			code = fs_options_note(callers->options, error,
					       "its samples have no call chains; record with "
					       "`perf record -g`");
	} else {
		code = fs_fail(error, FS_USAGE,
			       name ? "no event %s has samples in this trace; `fsquery sql 'SELECT "
				      "name, samples FROM event'` lists them"
				    : "this trace has no samples",
			       name);
	}
	sqlite3_finalize(statement);
	return code;
}

static int count_paths(struct callers *callers, struct fs_error *error)
{
	FS_TRY(find_event(callers, error));
	FS_TRY(fs_listing_each(callers->options, codes_sql, callers->event, add_code, callers,
			       error));
	FS_TRY(fs_listing_each(callers->options,
			       "SELECT id, parent_id, code_id FROM chain WHERE trace_id = ?1",
			       callers->event, add_chain, callers, error));
	if (callers->asked->folded)
		FS_TRY(fs_listing_each(callers->options,
				       "SELECT DISTINCT comm FROM thread WHERE trace_id = ?1",
				       callers->event, add_command, callers, error));
	else
		FS_TRY(fs_listing_each(callers->options, touched_sql, callers->event, add_touched,
				       callers, error));
	FS_TRY(find_wanted(callers, error));
	FS_TRY(add_sums(callers, error));
	if (callers->cut)
		return fs_options_note(callers->options, error,
				       "some paths are longer than %d frames: their outermost "
				       "frames are left out",
				       FRAMES_MAX);
	return 0;
}

/* ---- the answer ---- */

enum {
	COLUMN_FUNCTION,
	COLUMN_SAMPLES,
	COLUMN_SHARE,
	COLUMN_VALUE,
	COLUMN_VALUE_SHARE,
	COLUMN_SELF,
	COLUMN_LATENCY,
	COLUMN_DEPTH,
	COLUMN_CALLERS,
	COLUMN_TOUCHES,
	COLUMN_STACK,
	COLUMN_COUNT
};

static const struct fs_query_column columns[COLUMN_COUNT] = {
	FS_COLUMN("function", "FUNCTION", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL,
		  "The function, or the end of the path"),
	FS_COLUMN("samples", "SAMPLES", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Samples of the event in it or in what it called"),
	FS_COLUMN("share", "SHARE", PERCENT, FS_SHOW_DEFAULT, NULL, "Share of the event's samples"),
	FS_COLUMN("value", "VALUE", INTEGER, 0, NULL, "Events that the samples stand for"),
	FS_COLUMN("value_share", "OF EVENTS", PERCENT, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "Share of the events that all samples stand for"),
	FS_COLUMN("self", "SELF", INTEGER, FS_SHOW_DEFAULT, NULL, "Samples in the function itself"),
	FS_COLUMN("latency_mean", "CYCLES", REAL, 0, NULL,
		  "Mean cycles, over the samples that have a latency"),
	FS_COLUMN("depth", "DEPTH", INTEGER, 0, NULL, "Frames of the path"),
	FS_COLUMN("callers", "CALLERS", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WRAP, NULL,
		  "Who called it, the nearest first; [user]: from here on in user space"),
	FS_COLUMN("touches", "TOUCHES", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WRAP, NULL,
		  "The nearest caller whose accesses to data are known, in any trace of the case, "
		  "and "
		  "the types and fields"),
	FS_COLUMN("stack", "STACK", TEXT, 0, NULL,
		  "The path from the root, frames separated by semicolons; _[k]: kernel, _[i]: "
		  "inlined"),
};

/* What separates frames must not be in a name. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : *name, out);
}

/* The frames of a path, innermost first; returns how many. */
static size_t frames_of(const struct callers *callers, uint32_t number, uint32_t *frames)
{
	size_t count = 0;

	for (; number != NONE && count < PATH_FRAMES; count++) {
		const struct path *path = fs_table_key(&callers->paths, number - 1);

		frames[count] = path->frame;
		number = path->callers;
	}
	return count;
}

static const char *name_of(const struct callers *callers, uint32_t frame)
{
	return fs_interned(&callers->names, frame, NULL);
}

static bool in_kernel(const char *name)
{
	return *name == KERNEL || *name == INLINED_KERNEL;
}

static void put_stack(const struct callers *callers, const uint32_t *frames, size_t count,
		      FILE *out)
{
	for (size_t i = count; i-- > 0;) {
		const char *name = name_of(callers, frames[i]);

		put_name(out, name + 1);
		fputs(*name == KERNEL				    ? "_[k]"
		      : *name == INLINED || *name == INLINED_KERNEL ? "_[i]"
								    : "",
		      out);
		if (i)
			fputc(';', out);
	}
}

static void put_callers(const struct callers *callers, const uint32_t *frames, size_t count,
			FILE *out)
{
	bool kernel = in_kernel(name_of(callers, frames[0]));

	for (size_t i = 1; i < count; i++) {
		const char *name = name_of(callers, frames[i]);

		fputs(i > 1 ? " < " : "", out);
		if (kernel && !in_kernel(name))
			fputs("[user] ", out);
		kernel = in_kernel(name);
		put_name(out, name + 1);
		if (*name == INLINED || *name == INLINED_KERNEL)
			fputs(" (inlined)", out);
	}
}

static void put_touches(const struct callers *callers, const uint32_t *frames, size_t count,
			FILE *out)
{
	for (size_t i = 1; i < count; i++) {
		size_t length;
		const char *frame = fs_interned(&callers->names, frames[i], &length);
		const uint64_t *text;
		uint64_t function;
		uint32_t id;

		/* behind the mode stands the function's key */
		if (!fs_interner_find(&callers->texts, frame + 1, length - 1, &id))
			continue;
		function = id;
		text = fs_table_get(&callers->touched, &function);
		if (!text)
			continue;
		put_name(out, frame + 1);
		fputs(" touches ", out);
		fputs(fs_interned(&callers->texts, (uint32_t)*text, NULL), out);
		return;
	}
}

/* What put() writes of a path; NULL: memory ran out. The caller frees it. */
static char *text_of(const struct callers *callers, const uint32_t *frames, size_t count,
		     void (*put)(const struct callers *callers, const uint32_t *frames,
				 size_t count, FILE *out))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put(callers, frames, count, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static struct fs_cell value_cell(const struct callers *callers, const struct path_sums *sums)
{
	if (callers->value > 0 && sums->value < (double)INT64_MAX)
		return fs_integer_cell((int64_t)sums->value);
	return real_cell(false, 0);
}

static int add_row(const struct callers *callers, sqlite3_stmt *insert, uint32_t number,
		   struct fs_error *error)
{
	const struct path_sums *sums = fs_table_value(&callers->paths, number - 1);
	uint32_t frames[PATH_FRAMES];
	size_t count = frames_of(callers, number, frames);
	char *callers_text = text_of(callers, frames, count, put_callers);
	char *touches = text_of(callers, frames, count, put_touches);
	char *stack = text_of(callers, frames, count, put_stack);
	struct fs_cell cells[COLUMN_COUNT] = {
		[COLUMN_FUNCTION] = fs_text_cell(name_of(callers, frames[0]) + 1),
		[COLUMN_SAMPLES] = fs_integer_cell(sums->samples),
		[COLUMN_SHARE] = real_cell(true, (double)sums->samples / (double)callers->samples),
		[COLUMN_VALUE] = value_cell(callers, sums),
		[COLUMN_VALUE_SHARE] = real_cell(callers->value > 0, sums->value / callers->value),
		[COLUMN_SELF] = fs_integer_cell(sums->self),
		[COLUMN_LATENCY] = real_cell(sums->latency_samples > 0,
					     sums->latency / (double)sums->latency_samples),
		[COLUMN_DEPTH] = fs_integer_cell((int64_t)count),
		[COLUMN_CALLERS] =
			fs_text_cell(callers_text && *callers_text ? callers_text : NULL),
		[COLUMN_TOUCHES] = fs_text_cell(touches && *touches ? touches : NULL),
		[COLUMN_STACK] = fs_text_cell(stack),
	};
	int code = callers_text && touches && stack
			   ? fs_rows_add(callers->options->query, insert, cells, error)
			   : no_memory(error);

	free(callers_text);
	free(touches);
	free(stack);
	return code;
}

static int add_rows(const struct callers *callers, sqlite3_stmt *insert, struct fs_error *error)
{
	for (size_t i = 0; i < callers->paths.count; i++) {
		const struct path_sums *sums = fs_table_value(&callers->paths, i);

		if (sums->samples)
			FS_TRY(add_row(callers, insert, (uint32_t)i + 1, error));
	}
	return 0;
}

static int print_stack(const struct callers *callers, const uint32_t *frames, size_t count,
		       struct fs_error *error)
{
	char *stack = text_of(callers, frames, count, put_stack);
	size_t length = stack ? strlen(stack) : 0;
	char *shown = malloc(4 * length + 1); /* a byte becomes \xNN at most */

	if (stack && shown) {
		fs_escape(shown, 4 * length + 1, stack, length);
		fputs(shown, callers->options->query->out);
	}
	free(shown);
	free(stack);
	return stack && shown ? 0 : no_memory(error);
}

/* Lines as flame graph programs read them: frames from the root, a blank, samples. */
static int print_folded(const struct callers *callers, struct fs_error *error)
{
	const struct fs_query *query = callers->options->query;
	int64_t left = callers->options->limit > 0 ? callers->options->limit : INT64_MAX;
	const char *least = callers->options->filters[FS_FILTER_MIN_SAMPLES];
	int64_t minimum = 1;

	if (least && !fs_parse_count(least, &minimum))
		return fs_fail(error, FS_USAGE, "--min-samples %s: give a number", least);
	for (size_t i = 0; i < callers->paths.count; i++) {
		const struct path_sums *sums = fs_table_value(&callers->paths, i);
		uint32_t frames[PATH_FRAMES];

		if (!sums->samples || sums->samples < minimum || left-- <= 0)
			continue;
		FS_TRY(print_stack(callers, frames, frames_of(callers, (uint32_t)i + 1, frames),
				   error));
		fprintf(query->out, " %lld\n", (long long)sums->samples);
	}
	return fflush(query->out) || ferror(query->out)
		       ? fs_fail(error, FS_OUTPUT, "cannot write the output")
		       : 0;
}

static int say_why_empty(struct callers *callers, struct fs_error *error)
{
	const char *function = callers->asked->function;

	if (callers->paths.count)
		return 0;
	callers->options->empty = "";
	if (!callers->samples)
		return fs_options_note(
			callers->options, error,
			"no sample of the event is in the database, or none that the "
			"filters let through");
	return fs_options_note(callers->options, error,
			       "none of %lld samples is in %s or below it; `fsquery callers` shows "
			       "all paths, and `fsquery health` which binaries have no names",
			       (long long)callers->samples, function ? function : "any function");
}

static int answer(struct callers *callers, struct fs_error *error)
{
	sqlite3_stmt *insert = NULL;
	int code = count_paths(callers, error);

	if (!code)
		code = say_why_empty(callers, error);
	if (code)
		return code;
	if (callers->asked->folded)
		return print_folded(callers, error);
	code = fs_rows_create(callers->options, &insert, error);
	if (!code)
		code = add_rows(callers, insert, error);
	sqlite3_finalize(insert);
	return code ? code : fs_listing_run(callers->options, error);
}

enum { KEY_EVENT = 0x300, KEY_FOLDED };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct caller_options *asked = ((struct fs_options *)state->input)->own;

	if (key == KEY_EVENT)
		asked->event = arg;
	else if (key == KEY_FOLDED)
		asked->folded = true;
	else if (key == ARGP_KEY_ARG && !asked->function)
		asked->function = arg;
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp_option own_options[] = {
	{ "event", KEY_EVENT, "NAME", 0,
	  "Event: name or pattern [cycles, else the one with most "
	  "samples, of those with call chains]",
	  1 },
	{ "folded", KEY_FOLDED, NULL, 0, "One line per path, for flame graph programs", 1 },
	{ 0 },
};

static const struct argp argp = { .options = own_options,
				  .parser = parse,
				  .args_doc = "[FUNCTION]" };

static const struct fs_listing listing = {
	.command = "callers",
	.about =
		"List the call paths that lead to FUNCTION, a name or pattern, by samples; without "
		"it all whole paths. A path ends at the innermost occurrence of FUNCTION. Also "
		"says "
		"which types and fields the nearest caller touches, if any trace of the case "
		"tells.",
	.need = FS_NEED_CHAINS,
	.columns = columns,
	.count = COLUMN_COUNT,
	.from = "temp.rows WHERE 1",
	.order = "samples DESC, stack",
	.filters = { [FS_FILTER_PID] = { "t.pid" },
		     [FS_FILTER_TID] = { "t.tid" },
		     [FS_FILTER_COMM] = { "t.comm" },
		     [FS_FILTER_CPU] = { "s.cpu" },
		     [FS_FILTER_DSO] = { "d.path" },
		     [FS_FILTER_SYM] = { "f.name" },
		     [FS_FILTER_USER] = { IN_KERNEL },
		     [FS_FILTER_KERNEL] = { IN_KERNEL },
		     [FS_FILTER_MIN_SAMPLES] = { "samples" } },
	.filters_raw = true,
	.nouns = "paths",
	.argp = &argp,
};

static void callers_init(struct callers *callers)
{
	fs_interner_init(&callers->names);
	fs_interner_init(&callers->texts);
	fs_table_init(&callers->codes, sizeof(int64_t), sizeof(struct code_frames));
	fs_table_init(&callers->chains, sizeof(int64_t), sizeof(struct chain_node));
	fs_table_init(&callers->sums, sizeof(struct sample_key), sizeof(struct path_sums));
	fs_table_init(&callers->paths, sizeof(struct path), sizeof(struct path_sums));
	fs_table_init(&callers->touched, sizeof(uint64_t), sizeof(uint64_t));
}

static void callers_free(struct callers *callers)
{
	fs_interner_free(&callers->names);
	fs_interner_free(&callers->texts);
	fs_table_free(&callers->codes);
	fs_table_free(&callers->chains);
	fs_table_free(&callers->sums);
	fs_table_free(&callers->paths);
	fs_table_free(&callers->touched);
	free(callers->frames);
	free(callers->wanted);
}

FS_COMMAND(callers)
{
	struct caller_options asked = { 0 };
	struct fs_options options = { .listing = &listing, .own = &asked };
	struct callers callers = { .options = &options, .asked = &asked };
	int code = fs_options_parse(&options, query, &argp, argc, argv, error);

	callers_init(&callers);
	if (!code && asked.folded && (options.format || options.columns || options.sort))
		code = fs_fail(
			error, FS_USAGE,
			"--folded is a format of its own: leave --format, --columns and --sort "
			"out");
	if (!code)
		code = fs_database_open(query, error);
	if (!code)
		code = fs_trace_choose(&options, error);
	if (!code)
		code = answer(&callers, error);
	callers_free(&callers);
	fs_options_free(&options);
	return code;
}
