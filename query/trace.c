/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which trace of the case answers.
 *
 * Without --trace it is the newest that can: a cycles capture and a memory capture of one run lie
 * in one case, and neither answers the other's questions. Every candidate gets a grade, 0 for
 * "cannot"; the best grade wins, then the highest id.
 */
#include <string.h>

#include "common/text.h"
#include "query/database.h"
#include "query/listing.h"

static const char *grade_of(enum fs_need need)
{
	switch (need) {
	case FS_NEED_MEMORY:
		return "memory_samples > 0";
	case FS_NEED_CHAINS:
		return "EXISTS (SELECT 1 FROM chain WHERE trace_id = trace.id)";
	case FS_NEED_MEM_BOUND:
		return "CASE WHEN EXISTS (SELECT 1 FROM mem_bound_finding WHERE trace_id = "
		       "trace.id AND mem_bound IS NOT NULL) THEN 3 "
		       "WHEN memory_samples > 0 THEN 2 "
		       "ELSE EXISTS (SELECT 1 FROM mem_bound_finding WHERE trace_id = trace.id) "
		       "END";
	default:
		return "1";
	}
}

/* `lost`: what the recorder dropped and what was damaged; the counts come from the file, and
 * total() does not overflow. */
#define TRACE_COLUMNS                                                                              \
	"id, name, sha256, arch, cpu_description, hostname, samples, memory_samples, complete, "   \
	"(SELECT group_concat(kind || ' ' || n, ', ') FROM (SELECT kind, "                         \
	"CAST(total(count) AS INTEGER) AS n FROM loss WHERE trace_id = trace.id AND "              \
	"severity <> 'info' GROUP BY kind ORDER BY kind)) AS lost"

static int find(struct fs_options *options, sqlite3_stmt **ret_statement, struct fs_error *error)
{
	const struct fs_query *query = options->query;
	char sql[1024];
	int64_t id;

	if (!query->trace) {
		snprintf(sql, sizeof(sql),
			 "SELECT " TRACE_COLUMNS ", %s AS grade FROM trace ORDER BY grade DESC, id "
			 "DESC LIMIT 1",
			 grade_of(options->listing->need));
		return fs_database_prepare(query, sql, ret_statement, error);
	}
	FS_TRY(fs_database_prepare(query,
				   "SELECT " TRACE_COLUMNS
				   ", 1 FROM trace WHERE id = ?1 OR name = ?2 "
				   "ORDER BY id IS ?1 DESC LIMIT 1",
				   ret_statement, error));
	if (fs_parse_count(query->trace, &id))
		sqlite3_bind_int64(*ret_statement, 1, id);
	sqlite3_bind_text(*ret_statement, 2, query->trace, -1, SQLITE_STATIC);
	return 0;
}

static int not_found(const struct fs_query *query, struct fs_error *error)
{
	if (query->trace)
		return fs_fail(error, FS_USAGE, "%s: no trace %s; `fsquery traces` lists them",
			       query->path, query->trace);
	return fs_fail(error, FS_REFUSED,
		       "%s: holds no trace; `fsingest --db %s PERF_DATA` adds one", query->path,
		       query->path);
}

static struct json_object *to_json(const struct fs_cell *cell)
{
	char text[512];

	if (cell->kind == FS_CELL_INTEGER)
		return json_object_new_int64(cell->integer);
	if (cell->kind != FS_CELL_TEXT)
		return NULL;
	fs_escape(text, sizeof(text), cell->text, cell->length);
	return json_object_new_string(text);
}

static void say(const struct fs_options *options, sqlite3_stmt *statement)
{
	if (sqlite3_column_type(statement, 9) != SQLITE_NULL)
		fs_query_say(options->query,
			     "trace %lld: lost or damaged: %s; `fsquery health` says where",
			     (long long)options->trace_id, fs_database_text(statement, 9));
	if (options->query->trace)
		return;
	fs_query_say(options->query, "trace %lld: %s (%s, %lld samples, %lld with a data address)",
		     (long long)options->trace_id, fs_database_text(statement, 1),
		     fs_database_text(statement, 3), (long long)sqlite3_column_int64(statement, 6),
		     (long long)sqlite3_column_int64(statement, 7));
}

static int take(struct fs_options *options, sqlite3_stmt *statement, struct fs_error *error)
{
	int columns = sqlite3_column_count(statement) - 1;

	options->trace_id = sqlite3_column_int64(statement, 0);
	options->trace = json_object_new_object();
	if (!options->trace)
		return fs_fail(error, FS_NOMEM, "out of memory");
	for (int i = 0; i < columns; i++) {
		struct fs_cell cell = fs_statement_cell(statement, i);

		json_object_object_add(options->trace, sqlite3_column_name(statement, i),
				       to_json(&cell));
	}
	fs_options_bind(options, ":trace", options->trace_id, NULL);
	say(options, statement);
	return 0;
}

int fs_trace_blindness(const struct fs_options *options, char *sentence, size_t size,
		       struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	int64_t samples;

	*sentence = '\0';
	FS_TRY(fs_database_integer(options->query, "SELECT memory_samples FROM trace WHERE id = ?",
				   options->trace_id, 0, &samples, error));
	if (samples)
		return 0;
	FS_TRY(fs_database_prepare(options->query,
				   "SELECT description FROM health WHERE trace_id = ? AND "
				   "name = 'not_measurable' AND scope = 'contention'",
				   &statement, error));
	sqlite3_bind_int64(statement, 1, options->trace_id);
	snprintf(sentence, size, "contention is not measurable from this trace. %s",
		 sqlite3_step(statement) == SQLITE_ROW
			 ? fs_database_text(statement, 0)
			 : "No sample has a data address; `fsquery health` says what to record.");
	sqlite3_finalize(statement);
	return 0;
}

int fs_trace_note_blindness(struct fs_options *options, bool *ret_blind, struct fs_error *error)
{
	char sentence[512];

	FS_TRY(fs_trace_blindness(options, sentence, sizeof(sentence), error));
	if (*sentence) {
		options->empty = "";
		FS_TRY(fs_options_note(options, error, "%s", sentence));
	}
	*ret_blind = *sentence;
	return 0;
}

int fs_trace_choose(struct fs_options *options, struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	int code = find(options, &statement, error);

	if (!code) {
		int step = sqlite3_step(statement);

		if (step == SQLITE_ROW)
			code = take(options, statement, error);
		else if (step == SQLITE_DONE)
			code = not_found(options->query, error);
		else
			code = fs_database_fail(options->query, error);
	}
	sqlite3_finalize(statement);
	return code;
}
