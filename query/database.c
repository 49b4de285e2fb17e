/* SPDX-License-Identifier: GPL-2.0-only */
#include "query/database.h"

#include <stdio.h>

#include "analyze/analyze.h"
#include "query/functions.h"
#include "schema/open.h"
#include "schema/schema.h"

enum { MEMORY_LIMIT = 1 << 30 };

int fs_database_fail(const struct fs_query *query, struct fs_error *error)
{
	const char *text = sqlite3_errmsg(query->db);

	switch (sqlite3_errcode(query->db) & 0xff) {
	case SQLITE_INTERRUPT:
		return fs_fail(error, FS_USAGE,
			       "stopped: the time limit is over; --time-limit raises it");
	case SQLITE_AUTH:
		return fs_fail(error, FS_USAGE, "%s: fsquery only reads, and only this database",
			       text);
	case SQLITE_ERROR:
	case SQLITE_TOOBIG:
		if (query->users_sql)
			return fs_fail(error, FS_USAGE, "%s: %s", query->path, text);
	}
	return fs_sql_fail(query->db, query->path, error);
}

int fs_database_prepare(const struct fs_query *query, const char *sql, sqlite3_stmt **ret_statement,
			struct fs_error *error)
{
	if (sqlite3_prepare_v2(query->db, sql, -1, ret_statement, NULL) != SQLITE_OK)
		return fs_database_fail(query, error);
	return 0;
}

const char *fs_database_text(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "unknown";
}

int fs_database_integer(const struct fs_query *query, const char *sql, int64_t parameter,
			int64_t missing, int64_t *ret_value, struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	int64_t value = missing;
	int code;

	FS_TRY(fs_database_prepare(query, sql, &statement, error));
	if (sqlite3_bind_parameter_count(statement))
		sqlite3_bind_int64(statement, 1, parameter);
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
		value = sqlite3_column_int64(statement, 0);
	if (code != SQLITE_ROW && code != SQLITE_DONE) {
		code = fs_database_fail(query, error);
		sqlite3_finalize(statement);
		return code;
	}
	sqlite3_finalize(statement);
	*ret_value = value;
	return 0;
}

static int open_with(struct fs_query *query, int access, struct fs_error *error)
{
	bool restored = false;

	sqlite3_hard_heap_limit64(MEMORY_LIMIT);
	FS_TRY(fs_schema_open(query->path, access, &query->db, &restored, error));
	if (restored)
		fs_query_say(query,
			     "%s: an import was killed while writing; restored the last complete "
			     "state",
			     query->path);
	return fs_functions_register(query->db, error);
}

static int thin_trace(const struct fs_query *query, int64_t trace, struct fs_error *error)
{
	return query->ingest->thin(query->db, trace, query->thin, query->seed, error);
}

static int analyze_trace(const struct fs_query *query, int64_t trace, struct fs_error *error)
{
	return fs_analyze(query->db, trace, error);
}

/* No statement may be open while tables are dropped, so the next trace is asked for. */
static int each_trace(const struct fs_query *query,
		      int (*act)(const struct fs_query *query, int64_t trace,
				 struct fs_error *error),
		      struct fs_error *error)
{
	int64_t trace = INT64_MIN;

	for (;;) {
		FS_TRY(fs_database_integer(query, "SELECT min(id) FROM trace WHERE id > ?", trace,
					   INT64_MIN, &trace, error));
		if (trace == INT64_MIN)
			return 0;
		FS_TRY(act(query, trace, error));
	}
}

/* --thin and --line-size: the answer comes from a copy with other samples or lines, whose findings
 * are made anew. */
static int change_copy(struct fs_query *query, struct fs_error *error)
{
	sqlite3 *copy = NULL;
	char sql[120];

	if (query->thin)
		FS_TRY(fs_ingest_need(query, error));
	FS_TRY(fs_schema_copy(query->db, &copy, error));
	sqlite3_close(query->db);
	query->db = copy;
	FS_TRY(fs_functions_register(query->db, error));
	FS_TRY(fs_sql_run(query->db, "BEGIN", error));
	if (query->line_size) {
		snprintf(sql, sizeof(sql),
			 "UPDATE trace SET line_size = %lld, line_size_source = 'given'",
			 (long long)query->line_size);
		FS_TRY(fs_sql_run(query->db, sql, error));
		fs_query_say(query, "as if lines had %lld bytes", (long long)query->line_size);
	}
	if (query->thin)
		fs_query_say(query, "as if of %llu samples one had been taken (seed %llu)",
			     (unsigned long long)query->thin, (unsigned long long)query->seed);
	if (query->thin)
		FS_TRY(each_trace(query, thin_trace, error));
	FS_TRY(each_trace(query, analyze_trace, error));
	return fs_sql_run(query->db, "COMMIT", error);
}

int fs_database_open(struct fs_query *query, struct fs_error *error)
{
	FS_TRY(open_with(query, SQLITE_OPEN_READONLY, error));
	return query->thin || query->line_size ? change_copy(query, error) : 0;
}

int fs_database_open_writable(struct fs_query *query, struct fs_error *error)
{
	if (query->thin || query->line_size)
		return fs_fail(error, FS_USAGE,
			       "--thin and --line-size answer from a copy; this command changes "
			       "the database itself");
	return open_with(query, SQLITE_OPEN_READWRITE, error);
}

int fs_database_open_empty(struct fs_query *query, struct fs_error *error)
{
	if (sqlite3_open(":memory:", &query->db) != SQLITE_OK)
		return fs_fail(error, FS_NOMEM, "out of memory");
	return 0;
}
