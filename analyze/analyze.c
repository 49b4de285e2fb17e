/* SPDX-License-Identifier: GPL-2.0-only */
#include "analyze/analyze.h"

#include <stdio.h>

#include "schema/schema.h"

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
			return fs_fail(error, FS_OUTPUT, "pass %s, statement at byte %zu: %s",
				       pass->name, (size_t)(start - pass->sql), sqlite3_errmsg(db));
	}
	return 0;
}

/* The findings of one trace; each finding table has a trace_id. */
static int delete_findings(sqlite3 *db, sqlite3_int64 trace_id, struct fs_error *error)
{
	char sql[128];

	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		if (table->kind != FS_TABLE_FINDING)
			continue;
		snprintf(sql, sizeof(sql), "DELETE FROM main.%s WHERE trace_id = %lld", table->name,
			 trace_id);
		FS_TRY(fs_sql_run(db, sql, error));
	}
	return 0;
}

int fs_analyze(sqlite3 *db, sqlite3_int64 trace_id, struct fs_error *error)
{
	FS_TRY(fs_analyze_register(db, error));
	FS_TRY(delete_findings(db, trace_id, error));
	for (const struct fs_pass *pass = fs_passes; pass->name; pass++)
		FS_TRY(run_pass(db, pass, trace_id, error));
	return 0;
}
