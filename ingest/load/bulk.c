/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: an eponymous virtual table fs_bulk_TABLE(c0, c1, ...) whose only plan is a full
 * scan over bulk->rows. No xBestIndex choices, no xFilter arguments, no rowid lookups.
 */
#include "ingest/load/bulk.h"

#include <stdio.h>
#include <stdlib.h>

struct bulk_table {
	sqlite3_vtab base; /* must be first */
	const struct fs_bulk *bulk;
};

struct bulk_cursor {
	sqlite3_vtab_cursor base; /* must be first */
	const struct fs_bulk *bulk;
	size_t row;
};

static int connect(sqlite3 *db, void *context, int argc, const char *const *argv,
		   sqlite3_vtab **ret_table, char **reterr_message)
{
	const struct fs_bulk *bulk = context;
	sqlite3_str *sql = sqlite3_str_new(db);
	struct bulk_table *table;
	char *text;
	int code;

	(void)argc;
	(void)argv;
	(void)reterr_message;
	for (unsigned int i = 0; i < bulk->columns; i++)
		sqlite3_str_appendf(sql, "%s c%u", i ? "," : "CREATE TABLE x(", i);
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	if (!text)
		return SQLITE_NOMEM;
	code = sqlite3_declare_vtab(db, text);
	sqlite3_free(text);
	if (code != SQLITE_OK)
		return code;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	*table = (struct bulk_table){ .bulk = bulk };
	*ret_table = &table->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = 1e6;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
	struct bulk_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct bulk_cursor){ .bulk = ((struct bulk_table *)table)->bulk };
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
		  sqlite3_value **argv)
{
	(void)number;
	(void)text;
	(void)argc;
	(void)argv;
	((struct bulk_cursor *)cursor)->row = 0;
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *cursor)
{
	((struct bulk_cursor *)cursor)->row++;
	return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *cursor)
{
	const struct bulk_cursor *at = (struct bulk_cursor *)cursor;

	return at->row >= at->bulk->count;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int index)
{
	const struct bulk_cursor *at = (struct bulk_cursor *)cursor;
	unsigned int columns = at->bulk->columns;
	const int64_t *row = at->bulk->rows + at->row * (columns + 1);

	if (!((uint64_t)row[columns] >> index & 1))
		sqlite3_result_int64(context, row[index]);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = (sqlite3_int64)((struct bulk_cursor *)cursor)->row;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 0,
	.xCreate = NULL, /* eponymous only */
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = NULL,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = eof,
	.xColumn = column,
	.xRowid = rowid,
};

int fs_bulk_open(struct fs_bulk *bulk, sqlite3 *db, const char *table, unsigned int columns,
		 struct fs_error *error)
{
	char name[64];
	char sql[192];

	*bulk = (struct fs_bulk){ .columns = columns };
	snprintf(name, sizeof(name), "fs_bulk_%s", table);
	snprintf(sql, sizeof(sql), "INSERT INTO %s SELECT * FROM %s", table, name);
	if (sqlite3_create_module(db, name, &module, bulk) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, sql, -1, &bulk->insert, NULL) != SQLITE_OK)
		return fs_fail(error, FS_INTERNAL, "%s: %s", sql, sqlite3_errmsg(db));
	return 0;
}

void fs_bulk_close(struct fs_bulk *bulk)
{
	sqlite3_finalize(bulk->insert);
	bulk->insert = NULL;
}

int fs_bulk_insert(struct fs_bulk *bulk, const void *rows, size_t count, struct fs_error *error)
{
	int code;

	if (!count)
		return 0;
	bulk->rows = rows;
	bulk->count = count;
	code = sqlite3_step(bulk->insert);
	sqlite3_reset(bulk->insert);
	if (code != SQLITE_DONE)
		return fs_fail(error, FS_OUTPUT, "cannot write to the database: %s",
			       sqlite3_errmsg(sqlite3_db_handle(bulk->insert)));
	return 0;
}
