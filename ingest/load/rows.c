/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/load/rows.h"

#include <stdio.h>
#include <string.h>

#include "schema/schema.h"

int fs_rows_begin(struct fs_rows *rows, const char *table)
{
	sqlite3_str *sql = sqlite3_str_new(rows->db);
	const struct fs_table_definition *definition = fs_schema_tables;
	char *text;
	int code;

	while (strcmp(definition->name, table) != 0)
		definition++;
	rows->columns = rows->column = 0;
	sqlite3_finalize(rows->insert);
	rows->insert = NULL;
	sqlite3_str_appendf(sql, "INSERT INTO %s VALUES (", table);
	for (; definition->columns[rows->columns].name; rows->columns++)
		sqlite3_str_appendall(sql, rows->columns ? ",?" : "?");
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	if (!text)
		return fs_fail(rows->error, FS_NOMEM, "out of memory");
	code = sqlite3_prepare_v2(rows->db, text, -1, &rows->insert, NULL);
	sqlite3_free(text);
	return code == SQLITE_OK ? 0 : fs_sql_fail(rows->db, NULL, rows->error);
}

void fs_rows_integer(struct fs_rows *rows, int64_t value)
{
	sqlite3_bind_int64(rows->insert, ++rows->column, value);
}

void fs_rows_optional(struct fs_rows *rows, bool present, int64_t value)
{
	if (present)
		fs_rows_integer(rows, value);
	else
		sqlite3_bind_null(rows->insert, ++rows->column);
}

void fs_rows_text(struct fs_rows *rows, const char *text)
{
	sqlite3_bind_text(rows->insert, ++rows->column, text, -1, SQLITE_STATIC);
}

void fs_rows_real(struct fs_rows *rows, bool present, double value)
{
	++rows->column;
	if (present)
		sqlite3_bind_double(rows->insert, rows->column, value);
	else
		sqlite3_bind_null(rows->insert, rows->column);
}

void fs_rows_blob(struct fs_rows *rows, const void *bytes, size_t size)
{
	++rows->column;
	if (size)
		sqlite3_bind_blob(rows->insert, rows->column, bytes, (int)size, SQLITE_STATIC);
	else
		sqlite3_bind_null(rows->insert, rows->column);
}

int fs_rows_end(struct fs_rows *rows)
{
	bool whole = rows->column == rows->columns;
	int code;

	rows->column = 0;
	if (!whole)
		return fs_fail(rows->error, FS_INTERNAL,
			       "a row has the wrong number of columns (%s)",
			       sqlite3_sql(rows->insert));
	code = sqlite3_step(rows->insert);
	sqlite3_reset(rows->insert);
	if (code == SQLITE_DONE)
		return 0;
	return fs_sql_fail(rows->db, NULL, rows->error);
}

void fs_rows_close(struct fs_rows *rows)
{
	sqlite3_finalize(rows->insert);
	rows->insert = NULL;
}

int fs_rows_next_id(sqlite3 *db, const char *table, const char *column, int64_t *ret_id,
		    struct fs_error *error)
{
	/* far from where adding to it could overflow, in a database that somebody else made */
	const int64_t most = 1ll << 60;
	sqlite3_stmt *statement;
	char sql[128];
	int64_t id = 0;
	int code;

	snprintf(sql, sizeof(sql), "SELECT coalesce(max(%s), 0) FROM %s", column, table);
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return fs_sql_fail(db, NULL, error);
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		id = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	if (code != SQLITE_ROW)
		return fs_sql_fail(db, NULL, error);
	if (id < 0 || id > most)
		return fs_fail(error, FS_REFUSED,
			       "table %s has the id %lld, beyond what fsingest gives: the database "
			       "is damaged; import into a new one",
			       table, (long long)id);
	*ret_id = id + 1;
	return 0;
}
