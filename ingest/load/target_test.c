/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/load/target.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schema/schema.h"

static char directory[64];
static char path[128];

static void make_directory(void)
{
	strcpy(directory, "/tmp/fsight-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/case.db", directory);
}

/* How many files there are. */
static int count_files(void)
{
	DIR *stream = opendir(directory);
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(stream)))
		count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(stream);
	return count;
}

static void remove_directory(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static void create(void)
{
	struct fs_target target;

	ck_assert_int_eq(fs_target_open(&target, path, NULL), 0);
	ck_assert_int_eq(fs_target_commit(&target, NULL), 0);
}

static int64_t count_facts(const char *file)
{
	sqlite3_stmt *statement;
	sqlite3 *db;
	int64_t count;

	ck_assert_int_eq(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT count(*) FROM fact", -1, &statement, NULL),
			 SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	count = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return count;
}

static void add_fact(struct fs_target *target)
{
	ck_assert_int_eq(
		fs_sql_run(target->db,
			   "INSERT INTO trace SELECT 1 + count(*), 'n' || count(*), '', "
			   "0, '', '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
			   "NULL, NULL, 64, '', NULL, NULL, NULL, NULL, 1, 0, 0, 0, 0, NULL, "
			   "NULL, NULL "
			   "FROM trace; INSERT INTO fact VALUES (1, 'a', 'b')",
			   NULL),
		0);
}

START_TEST(a_new_database_appears_when_it_is_complete)
{
	struct fs_target target;
	struct stat status;

	make_directory();
	ck_assert_int_eq(fs_target_open(&target, path, NULL), 0);
	ck_assert_ptr_nonnull(fs_target_temporary(&target));
	ck_assert_int_ne(stat(path, &status), 0);
	add_fact(&target);
	ck_assert_int_ne(stat(path, &status), 0);
	ck_assert_int_eq(fs_target_commit(&target, NULL), 0);
	fs_target_abandon(&target);
	ck_assert_int_eq(count_facts(path), 1);
	ck_assert_int_eq(count_files(), 1);
	/* and gains a trace in place */
	ck_assert_int_eq(fs_target_open(&target, path, NULL), 0);
	ck_assert_ptr_null(fs_target_temporary(&target));
	add_fact(&target);
	ck_assert_int_eq(count_facts(path), 1);
	ck_assert_int_eq(fs_target_commit(&target, NULL), 0);
	ck_assert_int_eq(count_facts(path), 2);
	ck_assert_int_eq(count_files(), 1);
	remove_directory();
}
END_TEST

START_TEST(an_abandoned_import_leaves_nothing)
{
	struct fs_target target;

	make_directory();
	ck_assert_int_eq(fs_target_open(&target, path, NULL), 0);
	add_fact(&target);
	fs_target_abandon(&target);
	fs_target_abandon(&target);
	ck_assert_int_eq(count_files(), 0);
	create();
	ck_assert_int_eq(fs_target_open(&target, path, NULL), 0);
	add_fact(&target);
	fs_target_abandon(&target);
	ck_assert_int_eq(count_files(), 1);
	ck_assert_int_eq(count_facts(path), 0);
	remove_directory();
}
END_TEST

/* Somebody else made a file of that name meanwhile: it stays as it is. */
START_TEST(a_file_that_appears_meanwhile_is_kept)
{
	struct fs_error error = { 0 };
	struct fs_target target;
	struct stat status;
	FILE *file;

	make_directory();
	ck_assert_int_eq(fs_target_open(&target, path, NULL), 0);
	file = fopen(path, "w");
	fputs("mine", file);
	fclose(file);
	ck_assert_int_eq(fs_target_commit(&target, &error), FS_OUTPUT);
	fs_target_abandon(&target);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_int_eq(status.st_size, 4);
	ck_assert_int_eq(count_files(), 1);
	remove_directory();
}
END_TEST

START_TEST(two_imports_at_once_take_turns)
{
	struct fs_error error = { 0 };
	struct fs_target first, second;

	make_directory();
	create();
	ck_assert_int_eq(fs_target_open(&first, path, NULL), 0);
	ck_assert_int_eq(fs_target_open(&second, path, &error), FS_OUTPUT);
	ck_assert_ptr_nonnull(strstr(error.text, "another import"));
	fs_target_abandon(&second);
	add_fact(&first);
	ck_assert_int_eq(fs_target_commit(&first, NULL), 0);
	ck_assert_int_eq(count_facts(path), 1);
	remove_directory();
}
END_TEST

START_TEST(what_is_no_database_is_refused)
{
	struct fs_target target;
	char other[160];
	FILE *file;

	make_directory();
	snprintf(other, sizeof(other), "%s/other", directory);
	create();
	ck_assert_int_eq(symlink(path, other), 0);
	ck_assert_int_eq(fs_target_open(&target, other, NULL), FS_REFUSED);
	fs_target_abandon(&target);
	ck_assert_int_eq(fs_target_open(&target, directory, NULL), FS_REFUSED);
	fs_target_abandon(&target);
	unlink(other);
	ck_assert_int_eq(mkfifo(other, 0600), 0);
	ck_assert_int_eq(fs_target_open(&target, other, NULL), FS_REFUSED);
	fs_target_abandon(&target);
	unlink(other);
	file = fopen(other, "w");
	fputs("this is no database, but longer than the header of one would be: "
	      "0123456789012345678901234567890123456789",
	      file);
	fclose(file);
	ck_assert_int_eq(fs_target_open(&target, other, NULL), FS_REFUSED);
	fs_target_abandon(&target);
	snprintf(other, sizeof(other), "%s/absent/case.db", directory);
	ck_assert_int_eq(fs_target_open(&target, other, NULL), FS_OUTPUT);
	fs_target_abandon(&target);
	remove_directory();
}
END_TEST

/* Temporary files of imports that were killed go, those of living ones stay. */
START_TEST(leftovers_of_killed_imports_are_removed)
{
	char dead[200], living[200], foreign[200];
	struct fs_target target;
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	make_directory();
	snprintf(dead, sizeof(dead), "%s/.case.db.tmp-%d", directory, (int)child);
	snprintf(living, sizeof(living), "%s/.case.db.tmp-1", directory);
	snprintf(foreign, sizeof(foreign), "%s/.case.db2.tmp-%d", directory, (int)child);
	close(open(dead, O_CREAT | O_WRONLY, 0600));
	close(open(living, O_CREAT | O_WRONLY, 0600));
	close(open(foreign, O_CREAT | O_WRONLY, 0600));
	ck_assert_int_eq(fs_target_open(&target, path, NULL), 0);
	ck_assert_int_ne(access(dead, F_OK), 0);
	ck_assert_int_eq(access(living, F_OK), 0);
	ck_assert_int_eq(access(foreign, F_OK), 0);
	fs_target_abandon(&target);
	remove_directory();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("target");
	TCase *tests = tcase_create("target");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, a_new_database_appears_when_it_is_complete);
	tcase_add_test(tests, an_abandoned_import_leaves_nothing);
	tcase_add_test(tests, a_file_that_appears_meanwhile_is_kept);
	tcase_add_test(tests, two_imports_at_once_take_turns);
	tcase_add_test(tests, what_is_no_database_is_refused);
	tcase_add_test(tests, leftovers_of_killed_imports_are_removed);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
