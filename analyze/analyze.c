/* SPDX-License-Identifier: GPL-2.0-only */
#include "analyze/analyze.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "schema/schema.h"

static int fail_pass(sqlite3 *db, const struct fs_pass *pass, const char *statement,
		     struct fs_error *error)
{
	char place[96];

	snprintf(place, sizeof(place), "pass %s, statement at byte %zu", pass->name,
		 (size_t)(statement - pass->sql));
	return fs_sql_fail(db, place, error);
}

/* Run the statements of one pass, with :trace bound wherever it occurs. */
static int run_pass(sqlite3 *db, const struct fs_pass *pass, sqlite3_int64 trace_id,
		    struct fs_error *error)
{
	const char *rest = pass->sql;

	while (*rest) {
		sqlite3_stmt *statement = NULL;
		const char *start = rest;
		int code = sqlite3_prepare_v2(db, start, -1, &statement, &rest);

		if (code == SQLITE_OK && statement) {
			int index = sqlite3_bind_parameter_index(statement, ":trace");

			if (index)
				sqlite3_bind_int64(statement, index, trace_id);
			while ((code = sqlite3_step(statement)) == SQLITE_ROW)
				;
			code = code == SQLITE_DONE ? SQLITE_OK : code;
		}
		sqlite3_finalize(statement);
		if (code != SQLITE_OK)
			return fail_pass(db, pass, start, error);
	}
	return 0;
}

/* The findings of one trace; each finding table has a trace_id. Temporary tables stand before
 * those of the database here as in the passes. */
static int delete_findings(sqlite3 *db, sqlite3_int64 trace_id, struct fs_error *error)
{
	char sql[128];

	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		if (table->kind != FS_TABLE_FINDING)
			continue;
		snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE trace_id = %lld", table->name,
			 trace_id);
		FS_TRY(fs_sql_run(db, sql, error));
	}
	return 0;
}

/* The value of a query of one number; `fallback` where it gives no row. */
static int read_number(sqlite3 *db, const char *sql, sqlite3_int64 fallback,
		       sqlite3_int64 *ret_number, struct fs_error *error)
{
	sqlite3_stmt *statement;
	int code;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return fs_sql_fail(db, NULL, error);
	code = sqlite3_step(statement);
	*ret_number = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : fallback;
	sqlite3_finalize(statement);
	return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : fs_sql_fail(db, NULL, error);
}

/* Tables of which the passes see the rows of one trace, and how a row tells its trace. */
static const struct narrowed {
	const char *name, *trace;
} narrowed[] = {
	{ "access", "trace_id" },
	{ "access_window", "trace_id" },
	{ "line_total", "trace_id" },
	{ "code_total", "trace_id" },
	{ "sample", "(SELECT trace_id FROM main.event WHERE id = event_id)" },
};

/*
 * The first row of a table that belongs to trace_id or a later trace; with past, to a later one
 * only. Traces get rising ids and their rows are appended, so the rows of a trace lie together, in
 * the order of the traces.
 */
static int find_first_row(sqlite3 *db, const struct narrowed *table, sqlite3_int64 trace_id,
			  bool past, sqlite3_int64 *ret_row, struct fs_error *error)
{
	sqlite3_int64 low = 1;
	sqlite3_int64 high;
	char sql[256];

	snprintf(sql, sizeof(sql), "SELECT rowid + 1 FROM main.%s ORDER BY rowid DESC LIMIT 1",
		 table->name);
	FS_TRY(read_number(db, sql, 1, &high, error));
	while (low < high) {
		sqlite3_int64 middle = low + (high - low) / 2;
		sqlite3_int64 trace;

		snprintf(sql, sizeof(sql),
			 "SELECT %s FROM main.%s WHERE rowid >= %lld ORDER BY rowid LIMIT 1",
			 table->trace, table->name, middle);
		FS_TRY(read_number(db, sql, INT64_MAX, &trace, error));
		if (trace < trace_id || (past && trace == trace_id))
			low = middle + 1;
		else
			high = middle;
	}
	*ret_row = low;
	return 0;
}

/*
 * Let the passes see samples and roll-ups of one trace only: a temporary view of the table's own
 * name stands before it. Without that each scan would read all traces of the case.
 */
static int narrow_tables(sqlite3 *db, sqlite3_int64 trace_id, struct fs_error *error)
{
	for (size_t i = 0; i < sizeof(narrowed) / sizeof(narrowed[0]); i++) {
		sqlite3_int64 first;
		sqlite3_int64 end;
		char sql[256];

		FS_TRY(find_first_row(db, &narrowed[i], trace_id, false, &first, error));
		FS_TRY(find_first_row(db, &narrowed[i], trace_id, true, &end, error));
		snprintf(sql, sizeof(sql),
			 "CREATE TEMP VIEW %s AS SELECT rowid AS id, * FROM main.%s WHERE rowid >= "
			 "%lld AND rowid < %lld",
			 narrowed[i].name, narrowed[i].name, first, end);
		FS_TRY(fs_sql_run(db, sql, error));
	}
	return 0;
}

static int widen_tables(sqlite3 *db, struct fs_error *error)
{
	for (size_t i = 0; i < sizeof(narrowed) / sizeof(narrowed[0]); i++) {
		char sql[64];

		snprintf(sql, sizeof(sql), "DROP VIEW IF EXISTS temp.%s", narrowed[i].name);
		FS_TRY(fs_sql_run(db, sql, error));
	}
	return 0;
}

int fs_analyze(sqlite3 *db, sqlite3_int64 trace_id, struct fs_error *error)
{
	FS_TRY(fs_analyze_register(db, error));
	FS_TRY(delete_findings(db, trace_id, error));
	FS_TRY(widen_tables(db, error));
	FS_TRY(narrow_tables(db, trace_id, error));
	for (const struct fs_pass *pass = fs_passes; pass->name; pass++)
		FS_TRY(run_pass(db, pass, trace_id, error));
	return widen_tables(db, error);
}
