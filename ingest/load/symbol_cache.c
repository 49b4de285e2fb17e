/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/load/symbol_cache.h"

#include <stdio.h>

#include "schema/schema.h"

static int prepare(sqlite3 *db, const char *sql, const char *build_id, const char *files,
		   sqlite3_stmt **ret_statement, struct fs_error *error)
{
	if (sqlite3_prepare_v2(db, sql, -1, ret_statement, NULL) != SQLITE_OK)
		return fs_sql_fail(db, NULL, error);
	sqlite3_bind_text(*ret_statement, 1, build_id, -1, SQLITE_STATIC);
	sqlite3_bind_text(*ret_statement, 2, files, -1, SQLITE_STATIC);
	return 0;
}

static int forget(sqlite3 *db, int64_t id, struct fs_error *error)
{
	char sql[80];

	snprintf(sql, sizeof(sql), "DELETE FROM symbol_cache WHERE id = %lld", (long long)id);
	return fs_sql_run(db, sql, error);
}

static int each(void *context, const char *build_id, const char *files,
		bool (*take)(void *taker, const uint8_t *bytes, size_t size), void *taker,
		struct fs_error *error)
{
	static const char sql[] =
		"SELECT id, answers FROM symbol_cache WHERE build_id = ?1 AND files = ?2 AND id > "
		"?3 ORDER BY id LIMIT 1";
	sqlite3 *db = context;
	sqlite3_stmt *row;
	int step = SQLITE_DONE;
	int code = 0;

	FS_TRY(prepare(db, sql, build_id, files, &row, error));
	sqlite3_bind_int64(row, 3, INT64_MIN);
	while (!code && (step = sqlite3_step(row)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(row, 0);
		const uint8_t *bytes = sqlite3_column_blob(row, 1);
		bool taken = take(taker, bytes, (size_t)sqlite3_column_bytes(row, 1));

		sqlite3_reset(row);
		sqlite3_bind_int64(row, 3, id);
		if (!taken)
			code = forget(db, id, error);
	}
	if (!code && step != SQLITE_DONE)
		code = fs_sql_fail(db, NULL, error);
	sqlite3_finalize(row);
	return code;
}

static int keep(void *context, const char *build_id, const char *files, const uint8_t *bytes,
		size_t size, struct fs_error *error)
{
	static const char sql[] =
		"INSERT INTO symbol_cache (build_id, files, answers) VALUES (?1, ?2, ?3)";
	sqlite3 *db = context;
	sqlite3_stmt *insert;
	int code = 0;

	FS_TRY(prepare(db, sql, build_id, files, &insert, error));
	sqlite3_bind_blob64(insert, 3, bytes, size, SQLITE_STATIC);
	if (sqlite3_step(insert) != SQLITE_DONE)
		code = fs_sql_fail(db, NULL, error);
	sqlite3_finalize(insert);
	return code;
}

struct fs_symbol_cache fs_symbol_cache_of(sqlite3 *db)
{
	return (struct fs_symbol_cache){ .each = each, .keep = keep, .context = db };
}
