/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: tables.def and findings.def are included twice. The first pass makes one array
 * of columns per table, the second the list of tables. Views come from schema/views, embedded by
 * the build.
 */
#include "schema/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/access.h"

#define TABLE(table, kind, description) static const struct fs_column columns_of_##table[] = {
#define COLUMN(name, type, description) { #name, type, description },
#define END_TABLE(table, constraints)                                                              \
	{                                                                                          \
		NULL, NULL, NULL                                                                   \
	}                                                                                          \
	}                                                                                          \
	;
#include "schema/findings.def"
#include "schema/tables.def"
#undef TABLE
#undef COLUMN
#undef END_TABLE

#define TABLE(table, kind, description)                                                            \
	{                                                                                          \
#table, FS_TABLE_##kind, description, columns_of_##table,
#define COLUMN(name, type, description)
#define END_TABLE(table, constraints)                                                              \
	constraints                                                                                \
	}                                                                                          \
	,
const struct fs_table_definition fs_schema_tables[] = {
#include "schema/findings.def"
#include "schema/tables.def"
	{ 0 },
};

int fs_sql_fail(sqlite3 *db, const char *path, struct fs_error *error)
{
	const char *text = db ? sqlite3_errmsg(db) : "out of memory";
	const char *file = db ? sqlite3_db_filename(db, "main") : NULL;
	int code = db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM;

	if (!path)
		path = file && *file ? file : "database";
	switch (code) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_TOOBIG:
	case SQLITE_MISMATCH:
	case SQLITE_CONSTRAINT: /* rows that must not be there are in the way */
		return fs_fail(error, FS_REFUSED,
			       "%s: damaged database (%s); ingest the traces into a new one", path,
			       text);
	case SQLITE_NOMEM:
		return fs_fail(error, FS_NOMEM, "%s: out of memory", path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return fs_fail(error, FS_OUTPUT,
			       "%s: in use by another program, such as an import that is being "
			       "written; try again when it has ended",
			       path);
	case SQLITE_FULL:
		return fs_fail(error, FS_OUTPUT, "%s: the disk is full; make room for it", path);
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_PERM: {
		int number = sqlite3_system_errno(db);

		return fs_fail(error, FS_OUTPUT, "%s: %s%s%s", path, text, number ? ": " : "",
			       number ? strerror(number) : "");
	}
	default:
		return fs_fail(error, FS_INTERNAL, "%s: %s", path, text);
	}
}

int fs_sql_run(sqlite3 *db, const char *sql, struct fs_error *error)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return fs_sql_fail(db, NULL, error);
}

static int create_table(sqlite3 *db, const char *create, const struct fs_table_definition *table,
			struct fs_error *error)
{
	sqlite3_str *sql = sqlite3_str_new(db);
	char *text;
	int code;

	sqlite3_str_appendf(sql, "%s %s (", create, table->name);
	for (const struct fs_column *column = table->columns; column->name; column++)
		sqlite3_str_appendf(sql, "%s\n\t\"%s\" %s", column == table->columns ? "" : ",",
				    column->name, column->type);
	if (*table->constraints)
		sqlite3_str_appendf(sql, ",\n\t%s", table->constraints);
	sqlite3_str_appendall(sql, "\n)");
	text = sqlite3_str_finish(sql);
	if (!text)
		return fs_fail(error, FS_NOMEM, "out of memory");
	code = fs_sql_run(db, text, error);
	sqlite3_free(text);
	return code;
}

static int fill_names(sqlite3 *db, struct fs_error *error)
{
	char sql[256];

#define INSERT_OP(suffix, number, name, writes, reads)                                             \
	FS_TRY(fs_sql_run(                                                                         \
		db, "INSERT INTO op VALUES (" #number ", '" name "', " #writes ", " #reads ")",    \
		error));
	FS_OP_LIST(INSERT_OP)
#undef INSERT_OP
#define INSERT_SOURCE(suffix, number, name, level, transfer, dirty, remote)                        \
	snprintf(sql, sizeof(sql),                                                                 \
		 "INSERT INTO source_class VALUES (%d, '%s', '%s', %d, nullif(%d, -1), "           \
		 "nullif(%d, -1))",                                                                \
		 number, name, level, transfer, dirty, remote);                                    \
	FS_TRY(fs_sql_run(db, sql, error));
	FS_SOURCE_LIST(INSERT_SOURCE)
#undef INSERT_SOURCE
	return 0;
}

int fs_schema_create(sqlite3 *db, struct fs_error *error)
{
	char pragma[128];

	snprintf(pragma, sizeof(pragma), "PRAGMA application_id = %d; PRAGMA user_version = %d;",
		 FS_APPLICATION_ID, FS_SCHEMA_VERSION);
	FS_TRY(fs_sql_run(db, pragma, error));
	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++)
		FS_TRY(create_table(db, "CREATE TABLE", table, error));
	FS_TRY(fill_names(db, error));
	for (const struct fs_view *view = fs_schema_views; view->name; view++)
		FS_TRY(fs_sql_run(db, view->sql, error));
	return 0;
}

int fs_schema_shadow_findings(sqlite3 *db, struct fs_error *error)
{
	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		if (table->kind == FS_TABLE_FINDING)
			FS_TRY(create_table(db, "CREATE TEMP TABLE", table, error));
	}
	return 0;
}

static int read_pragma(sqlite3 *db, const char *sql, long long *ret_value)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*ret_value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return code == SQLITE_ROW ? 0 : code;
}

int fs_schema_check(sqlite3 *db, const char *path, struct fs_error *error)
{
	long long application = 0;
	long long version = 0;

	if (read_pragma(db, "PRAGMA application_id", &application) ||
	    read_pragma(db, "PRAGMA user_version", &version))
		return fs_fail(error, FS_REFUSED,
			       "%s: not a readable SQLite database (%s); give the file "
			       "that fsingest --db wrote",
			       path, sqlite3_errmsg(db));
	if (application != FS_APPLICATION_ID)
		return fs_fail(error, FS_REFUSED,
			       "%s: application_id is 0x%llx, expected 0x%x; this "
			       "is not an fsight database",
			       path, application, FS_APPLICATION_ID);
	if (version != FS_SCHEMA_VERSION)
		return fs_fail(error, FS_REFUSED,
			       "%s: schema version %lld, this fsight reads %d; "
			       "ingest the trace again with this version",
			       path, version, FS_SCHEMA_VERSION);
	return 0;
}
