/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening a database that may come from a stranger, and running SQL on it.
 */
#ifndef FS_QUERY_DATABASE_H
#define FS_QUERY_DATABASE_H

#include "query/query.h"

/*
 * Open query->path read-only into query->db with the checks of fs_schema_open(), and limit the
 * memory that SQLite may take to a gigabyte. With --thin or --line-size query->db is a copy that
 * was changed so.
 */
int fs_database_open(struct fs_query *query, struct fs_error *error);

/* The same checks, then open for writing: for `analyze`. */
int fs_database_open_writable(struct fs_query *query, struct fs_error *error);

/* An empty database in memory: for commands that answer from this program alone. */
int fs_database_open_empty(struct fs_query *query, struct fs_error *error);

/* Fill *error from SQLite's last error and return the code for it: time limit FS_USAGE, a fault in
 * the user's SQL FS_USAGE, else as fs_sql_fail() says. */
int fs_database_fail(const struct fs_query *query, struct fs_error *error);

int fs_database_prepare(const struct fs_query *query, const char *sql, sqlite3_stmt **ret_statement,
			struct fs_error *error);

/* The text of a column for a sentence; "unknown" when it is NULL. Valid until the next step. */
const char *fs_database_text(sqlite3_stmt *statement, int column);

/* First column of the first row of a query with one optional integer parameter; `missing` when
 * there is no row or it is NULL. */
int fs_database_integer(const struct fs_query *query, const char *sql, int64_t parameter,
			int64_t missing, int64_t *ret_value, struct fs_error *error);

#endif
