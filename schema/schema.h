/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The database: creating it, and checking that a file is one of ours.
 *
 * schema/tables.def and schema/findings.def state every table once; this module turns them into
 * DDL. A database is marked by application_id 'fsgt' and by user_version = FS_SCHEMA_VERSION;
 * a reader refuses any other.
 */
#ifndef FS_SCHEMA_SCHEMA_H
#define FS_SCHEMA_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

enum {
	FS_APPLICATION_ID = 0x66736774, /* "fsgt" */
	FS_SCHEMA_VERSION = 1,
	FS_PAGE_SIZE = 16384,
};

enum fs_table_kind {
	FS_TABLE_CONTENT,
	FS_TABLE_ROLLUP,
	FS_TABLE_FINDING,
	FS_TABLE_NAMES,
	FS_TABLE_CACHE,
};

struct fs_column {
	const char *name;
	const char *type; /* "INTEGER NOT NULL" and the like */
	const char *description;
};

struct fs_table_definition {
	const char *name;
	enum fs_table_kind kind;
	const char *description;
	const struct fs_column *columns; /* ends with a NULL name */
	const char *constraints;	 /* table constraints, "" for none */
};

/* Whether its rows belong to traces: not the vocabulary, nor what is kept for the next trace. */
static inline bool fs_table_is_of_traces(const struct fs_table_definition *table)
{
	return table->kind != FS_TABLE_NAMES && table->kind != FS_TABLE_CACHE;
}

/* All tables in creation order; ends with a NULL name. */
extern const struct fs_table_definition fs_schema_tables[];

/* A saved view: its file schema/views/NAME.sql, whose leading comment is the description. */
struct fs_view {
	const char *name;
	const char *sql; /* CREATE VIEW ... */
};

/* All views in creation order; ends with a NULL name. */
extern const struct fs_view fs_schema_views[];

/*
 * Create tables, views and name tables in an empty database and mark it as ours. Does not begin
 * or end a transaction; page size and journal mode are the caller's.
 */
int fs_schema_create(sqlite3 *db, struct fs_error *error);

/*
 * Empty temporary tables of findings that stand before the database's own: then fs_analyze()
 * writes into these, and db may be read-only. main.NAME still is the database's.
 */
int fs_schema_shadow_findings(sqlite3 *db, struct fs_error *error);

/* 0 if db is a database of this schema version, FS_REFUSED otherwise. `path` is for the message. */
int fs_schema_check(sqlite3 *db, const char *path, struct fs_error *error);

/*
 * Fill *error from SQLite's last error and return the code for it: a damaged file FS_REFUSED, I/O,
 * a full disk or a lock FS_OUTPUT, memory FS_NOMEM, anything else, such as SQL of ours that does
 * not run, FS_INTERNAL. db may be NULL: memory ran out. `path` is for the
 * message; NULL: the name of its file.
 */
int fs_sql_fail(sqlite3 *db, const char *path, struct fs_error *error);

/* Run SQL text that gives no rows; fails as fs_sql_fail() says. */
int fs_sql_run(sqlite3 *db, const char *sql, struct fs_error *error);

#endif
