/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/load/bulk.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/test_random.h"

static sqlite3 *open_database(unsigned int columns)
{
	char sql[1024] = "BEGIN; CREATE TABLE t(";
	sqlite3 *db;

	for (unsigned int i = 0; i < columns; i++)
		sprintf(sql + strlen(sql), "%sc%u INTEGER%s", i ? "," : "", i,
			i ? "" : " NOT NULL");
	strcat(sql, ") STRICT");
	ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	return db;
}

/* Values of every size that SQLite stores, and the borders between them. */
static int64_t make_value(uint64_t *random)
{
	int64_t value = (int64_t)(test_random(random) >> test_below(random, 64));

	switch (test_below(random, 6)) {
	case 0:
		return value;
	case 1:
		return -value;
	case 2:
		return (int64_t)((1ull << test_below(random, 64)) - test_below(random, 2));
	case 3:
		return (int64_t) - ((1ull << test_below(random, 64)) + test_below(random, 2));
	default:
		return (int64_t)test_below(random, 3) - 1;
	}
}

static int64_t *make_rows(size_t count, unsigned int columns, bool wide, uint64_t *random)
{
	int64_t *rows = calloc(count + 1, (columns + 1) * sizeof(*rows));

	for (size_t i = 0; i < count * (columns + 1); i++)
		rows[i] = wide ? INT64_MIN + (int64_t)i : make_value(random);
	for (size_t i = 0; i < count; i++) {
		uint64_t nulls = wide ? 0 : test_random(random) & test_random(random);

		rows[i * (columns + 1) + columns] = (int64_t)(nulls & ~1ull);
	}
	return rows;
}

/* All rows stand in the table, in order, behind those before. */
static void check_rows(sqlite3 *db, const int64_t *rows, size_t count, unsigned int columns)
{
	sqlite3_stmt *statement;
	unsigned int wrong = 0;

	ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT rowid, * FROM t ORDER BY rowid", -1,
					    &statement, NULL),
			 SQLITE_OK);
	for (size_t i = 0; i < count; i++) {
		const int64_t *row = rows + i * (columns + 1);

		if (sqlite3_step(statement) != SQLITE_ROW)
			ck_abort_msg("only %zu rows", i);
		wrong += sqlite3_column_int64(statement, 0) != (int64_t)i + 1;
		for (int k = 0; k < (int)columns; k++) {
			bool null = (uint64_t)row[columns] >> k & 1;

			wrong += sqlite3_column_type(statement, k + 1) !=
				 (null ? SQLITE_NULL : SQLITE_INTEGER);
			wrong += !null && sqlite3_column_int64(statement, k + 1) != row[k];
		}
	}
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE);
	sqlite3_finalize(statement);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_int_eq(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL),
			 SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	ck_assert_str_eq((const char *)sqlite3_column_text(statement, 0), "ok");
	sqlite3_finalize(statement);
}

static const struct {
	size_t count;
	unsigned int columns;
	bool wide;
} loads[] = {
	{ 0, 3, false },      { 1, 1, false },	    { 1, 32, true },	 { 2, 14, false },
	{ 200, 14, true },    { 16384, 14, false }, { 20000, 1, false }, { 16384, 14, true },
	{ 5000, 24, true },   { 5000, 32, true },   { 5000, 32, false }, { 90000, 32, true },
	{ 600000, 2, false },
};

/* In pieces of all sizes: what comes back is what went in. */
START_TEST(rows_come_back_as_they_were)
{
	size_t count = loads[_i].count;
	unsigned int columns = loads[_i].columns;
	uint64_t random = 0x5eed0110;
	int64_t *rows = make_rows(count, columns, loads[_i].wide, &random);
	sqlite3 *db = open_database(columns);
	struct fs_error error = { 0 };
	struct fs_bulk bulk;
	size_t done = 0;

	ck_assert_int_eq(fs_bulk_open(&bulk, db, "t", columns, &error), 0);
	while (done < count) {
		size_t piece = test_below(&random, 4) ? count - done : 1 + count / 7;

		piece = piece < count - done ? piece : count - done;
		if (fs_bulk_insert(&bulk, rows + done * (columns + 1), piece, &error))
			ck_abort_msg("%s", error.text);
		done += piece;
	}
	ck_assert_int_eq(fs_bulk_insert(&bulk, rows, 0, &error), 0);
	fs_bulk_close(&bulk);
	ck_assert_int_eq(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	check_rows(db, rows, count, columns);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
	free(rows);
}
END_TEST

START_TEST(two_bulks_take_turns)
{
	uint64_t random = 0x5eed0120;
	int64_t *rows = make_rows(1000, 3, false, &random);
	sqlite3 *db = open_database(3);
	struct fs_bulk first, second;

	ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE u(a INTEGER, b INTEGER, c INTEGER)", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	ck_assert_int_eq(fs_bulk_open(&first, db, "t", 3, NULL), 0);
	ck_assert_int_eq(fs_bulk_open(&second, db, "u", 3, NULL), 0);
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(fs_bulk_insert(&first, rows + 400 * i, 100, NULL), 0);
		ck_assert_int_eq(fs_bulk_insert(&second, rows + 400 * i, 100, NULL), 0);
	}
	fs_bulk_close(&first);
	fs_bulk_close(&second);
	fs_bulk_close(&second);
	ck_assert_int_eq(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	check_rows(db, rows, 1000, 3);
	ck_assert_int_eq(sqlite3_exec(db,
				      "DROP TABLE t; ALTER TABLE u RENAME TO t; "
				      "ALTER TABLE t RENAME COLUMN a TO c0",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	check_rows(db, rows, 1000, 3);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
	free(rows);
}
END_TEST

/* The first column as the key: gaps, and numbers beyond what rows are counted by. */
START_TEST(keys_come_back_as_they_were)
{
	static const int64_t firsts[] = { 1, 1000, 1ll << 40, 1ll << 60 };
	uint64_t random = 0x5eed0130;
	size_t count = 100000;
	int64_t *rows = make_rows(count, 3, false, &random);
	sqlite3_stmt *statement;
	struct fs_bulk bulk;
	sqlite3 *db;

	for (size_t i = 0; i < count; i++)
		rows[4 * i] =
			(i ? rows[4 * i - 4] : firsts[_i]) + 1 + (int64_t)test_below(&random, 3);
	ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_exec(db,
			     "CREATE TABLE t(k INTEGER PRIMARY KEY, b INTEGER, c INTEGER) STRICT",
			     NULL, NULL, NULL),
		SQLITE_OK);
	ck_assert_int_eq(fs_bulk_open(&bulk, db, "t", 3, NULL), 0);
	ck_assert_int_eq(fs_bulk_insert(&bulk, rows, 10, NULL), 0);
	ck_assert_int_eq(fs_bulk_insert(&bulk, rows + 4 * 10, count - 10, NULL), 0);
	/* a key that is there already is refused */
	ck_assert_int_ne(fs_bulk_insert(&bulk, rows + 4 * 20, 5, NULL), 0);
	fs_bulk_close(&bulk);
	ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT k, rowid, c FROM t ORDER BY rowid", -1,
					    &statement, NULL),
			 SQLITE_OK);
	for (size_t i = 0; i < count; i++) {
		bool null = rows[4 * i + 3] >> 2 & 1;

		ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
		ck_assert_int_eq(sqlite3_column_int64(statement, 0), rows[4 * i]);
		ck_assert_int_eq(sqlite3_column_int64(statement, 1), rows[4 * i]);
		ck_assert_int_eq(sqlite3_column_int64(statement, 2), null ? 0 : rows[4 * i + 2]);
	}
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE);
	sqlite3_finalize(statement);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
	free(rows);
}
END_TEST

START_TEST(what_cannot_be_written_is_said)
{
	static const int64_t row[4] = { 1, 2, 3, 0 };
	sqlite3 *db = open_database(3);
	struct fs_error error = { 0 };
	struct fs_bulk bulk;

	ck_assert_int_ne(fs_bulk_open(&bulk, db, "absent", 3, &error), 0);
	ck_assert_int_ne(error.text[0], 0);
	fs_bulk_close(&bulk);
	ck_assert_int_ne(fs_bulk_open(&bulk, db, "t", FS_BULK_COLUMNS_MAX + 1, NULL), 0);
	fs_bulk_close(&bulk);
	ck_assert_int_eq(fs_bulk_open(&bulk, db, "t", 3, &error), 0);
	ck_assert_int_eq(sqlite3_exec(db, "COMMIT; PRAGMA query_only = 1", NULL, NULL, NULL),
			 SQLITE_OK);
	ck_assert_int_ne(fs_bulk_insert(&bulk, row, 1, &error), 0);
	ck_assert_int_eq(error.code, FS_OUTPUT);
	fs_bulk_close(&bulk);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bulk");
	TCase *tests = tcase_create("bulk");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, rows_come_back_as_they_were, 0,
			    (int)(sizeof(loads) / sizeof(loads[0])));
	tcase_add_test(tests, two_bulks_take_turns);
	tcase_add_loop_test(tests, keys_come_back_as_they_were, 0, 4);
	tcase_add_test(tests, what_cannot_be_written_is_said);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
