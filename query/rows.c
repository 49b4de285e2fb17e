/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows that a command makes by itself go through a temporary table, so that --columns, --sort
 * and --limit mean the same as everywhere else.
 */
#include "query/database.h"
#include "query/listing.h"

int fs_rows_create(struct fs_options *options, sqlite3_stmt **ret_insert, struct fs_error *error)
{
	const struct fs_listing *listing = options->listing;
	sqlite3_str *create = sqlite3_str_new(options->query->db);
	sqlite3_str *insert = sqlite3_str_new(options->query->db);
	char *create_sql;
	char *insert_sql;
	int code;

	for (size_t i = 0; i < listing->count; i++) {
		sqlite3_str_appendf(create, "%s\"%w\"", i ? ", " : "CREATE TEMP TABLE rows (",
				    listing->columns[i].shown.name);
		sqlite3_str_appendall(insert, i ? ", ?" : "INSERT INTO temp.rows VALUES (?");
	}
	sqlite3_str_appendall(create, ")");
	sqlite3_str_appendall(insert, ")");
	create_sql = sqlite3_str_finish(create);
	insert_sql = sqlite3_str_finish(insert);
	if (!create_sql || !insert_sql)
		code = fs_fail(error, FS_NOMEM, "out of memory");
	else if (sqlite3_exec(options->query->db, create_sql, NULL, NULL, NULL) != SQLITE_OK)
		code = fs_database_fail(options->query, error);
	else
		code = fs_database_prepare(options->query, insert_sql, ret_insert, error);
	sqlite3_free(create_sql);
	sqlite3_free(insert_sql);
	return code;
}

static void bind_cell(sqlite3_stmt *insert, int index, const struct fs_cell *cell)
{
	switch (cell->kind) {
	case FS_CELL_NULL:
		sqlite3_bind_null(insert, index);
		break;
	case FS_CELL_INTEGER:
		sqlite3_bind_int64(insert, index, cell->integer);
		break;
	case FS_CELL_REAL:
		sqlite3_bind_double(insert, index, cell->real);
		break;
	case FS_CELL_TEXT:
		sqlite3_bind_text(insert, index, cell->text, (int)cell->length, SQLITE_TRANSIENT);
		break;
	}
}

int fs_rows_add(struct fs_query *query, sqlite3_stmt *insert, const struct fs_cell *cells,
		struct fs_error *error)
{
	int count = sqlite3_bind_parameter_count(insert);

	for (int i = 0; i < count; i++)
		bind_cell(insert, i + 1, &cells[i]);
	if (sqlite3_step(insert) != SQLITE_DONE)
		return fs_database_fail(query, error);
	sqlite3_reset(insert);
	return 0;
}
