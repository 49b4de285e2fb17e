/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests only: a perf.data file made by test_writer.h, loaded into a database in memory and
 * asked by SQL. */
#ifndef FS_LOAD_TEST_DATABASE_H
#define FS_LOAD_TEST_DATABASE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/load/load.h"
#include "ingest/perfdata/test_writer.h"
#include "schema/schema.h"

static inline sqlite3 *create_database(void)
{
	struct fs_error error = { 0 };
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	ck_assert_int_eq(fs_schema_create(db, &error), 0);
	return db;
}

static inline int64_t ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t answer;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_ROW)
		ck_abort_msg("%s: %s", sql, sqlite3_errmsg(db));
	answer = sqlite3_column_type(statement, 0) == SQLITE_NULL
			 ? INT64_MIN
			 : sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return answer;
}

/* Column 0 of a query's only row as text; free it. */
static inline char *ask_text(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	char *answer;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_ROW)
		ck_abort_msg("%s: %s", sql, sqlite3_errmsg(db));
	answer = strdup(sqlite3_column_text(statement, 0)
				? (const char *)sqlite3_column_text(statement, 0)
				: "NULL");
	sqlite3_finalize(statement);
	return answer;
}

#define check_text(db, sql, want)                                                                  \
	do {                                                                                       \
		char *got_text = ask_text((db), (sql));                                            \
		ck_assert_str_eq(got_text, (want));                                                \
		free(got_text);                                                                    \
	} while (0)

static inline int load_options(sqlite3 *db, const struct test_file *file,
			       struct fs_load_options options, struct fs_load_result *ret_result)
{
	struct fs_error error = { 0 };
	char path[64];
	int code;

	test_save(file->bytes.data, file->bytes.size, path);
	options.path = path;
	options.name = options.name ? options.name : "case";
	ck_assert_int_eq(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	code = fs_load(db, &options, ret_result, &error);
	unlink(path);
	if (code)
		ck_assert_int_ne(error.text[0], 0);
	ck_assert_int_eq(sqlite3_exec(db, code ? "ROLLBACK" : "COMMIT", NULL, NULL, NULL),
			 SQLITE_OK);
	return code;
}

static inline void load(sqlite3 *db, const struct test_file *file, const char *name)
{
	struct fs_load_result result;

	ck_assert_int_eq(load_options(db, file, (struct fs_load_options){ .name = name }, &result),
			 0);
}

#endif
