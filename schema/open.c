/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A database is input like any other: it may be damaged or made to attack its reader.
 *
 * Order of the checks: the path (no symbolic link, a regular file), the 100 bytes of header read
 * by ourselves (SQLite format, our application_id, no WAL), a log or a journal beside the file,
 * and only then SQLite: read-only, defensive, no triggers, no extensions, low limits. Last, the
 * stored schema must be text for text what fs_schema_create() makes, so that no table is really a
 * view that never ends, and users' SQL may rely on our views.
 *
 * A journal with content beside the file means that an import was killed, or is running. SQLite
 * knows which (by its locks) and says SQLITE_READONLY_ROLLBACK in the first case. Then the file
 * is opened for writing once, so that SQLite plays the journal back. A journal that names a
 * super-journal would make SQLite look at another path of the journal's choice; it is refused.
 *
 *   end of a journal with a super-journal:
 *   | name | u32 page number | u32 length | u32 checksum | d9 d5 05 f9 20 a1 63 d7 |
 */
#include "schema/open.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/schema.h"

enum { HEADER_SIZE = 100, BUSY_MS = 5000 };

struct opening {
	const char *path;  /* resolved */
	const char *shown; /* as the user gave it */
};

/* Links in the directories above are the user's own; the file itself must not be one. */
static int resolve(const char *path, char **ret_path, struct fs_error *error)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	char *real = directory ? realpath(directory, NULL) : NULL;
	int length;

	free(directory);
	if (!real)
		return fs_fail(error, FS_REFUSED, "%s: %s", path, strerror(errno));
	length = asprintf(ret_path, "%s/%s", real, base);
	free(real);
	return length < 0 ? fs_fail(error, FS_NOMEM, "out of memory") : 0;
}

static int check_header(const uint8_t *header, ssize_t size, const char *path,
			struct fs_error *error)
{
	static const char magic[] = "SQLite format 3";
	uint32_t application;

	if (size != HEADER_SIZE || memcmp(header, magic, sizeof(magic)) != 0)
		return fs_fail(error, FS_REFUSED,
			       "%s: not an SQLite database; give the file that "
			       "fsingest --db wrote",
			       path);
	application = (uint32_t)header[68] << 24 | (uint32_t)header[69] << 16 |
		      (uint32_t)header[70] << 8 | header[71];
	if (application != FS_APPLICATION_ID)
		return fs_fail(error, FS_REFUSED,
			       "%s: application_id at byte 68 is 0x%x, expected 0x%x; "
			       "this is not an fsight database",
			       path, application, FS_APPLICATION_ID);
	if (header[18] != 1 || header[19] != 1)
		return fs_fail(error, FS_REFUSED,
			       "%s: in WAL mode (bytes 18 and 19 are %u and %u), so "
			       "part of it may be in another file; run `sqlite3 FILE 'PRAGMA "
			       "journal_mode=DELETE'` where you trust it",
			       path, header[18], header[19]);
	return 0;
}

static int check_file(const char *path, const char *shown, struct fs_error *error)
{
	uint8_t header[HEADER_SIZE];
	struct stat status;
	ssize_t size;
	int fd;

	if (lstat(path, &status))
		return fs_fail(error, FS_REFUSED,
			       "%s: %s; `fsingest --db %s PERF_DATA` makes a database", shown,
			       strerror(errno), shown);
	if (!S_ISREG(status.st_mode))
		return fs_fail(error, FS_REFUSED, "%s: %s; give the database itself", shown,
			       S_ISLNK(status.st_mode) ? "a symbolic link, which is not followed"
						       : "not a regular file");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fs_fail(error, FS_REFUSED, "%s: %s", shown, strerror(errno));
	size = pread(fd, header, sizeof(header), 0);
	close(fd);
	return check_header(header, size, shown, error);
}

/* SQLite would read pages from a write-ahead log, whatever the header says. */
static int check_log(const char *path, struct fs_error *error)
{
	struct stat status;
	char *log = NULL;
	int code = 0;

	if (asprintf(&log, "%s-wal", path) < 0)
		return fs_fail(error, FS_NOMEM, "out of memory");
	if (!lstat(log, &status) && (!S_ISREG(status.st_mode) || status.st_size))
		code = fs_fail(error, FS_REFUSED,
			       "%s: a write-ahead log beside the database, which fsingest never "
			       "writes; if another program of yours opened the database, let it "
			       "close it, else remove the file",
			       log);
	free(log);
	return code;
}

/* Sets *ret_stands when a journal with content lies beside the database. */
static int check_journal(const char *path, bool *ret_stands, struct fs_error *error)
{
	static const uint8_t magic[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	uint8_t tail[sizeof(magic)] = { 0 };
	struct stat status;
	char *journal = NULL;
	int code = 0;
	int fd;

	if (asprintf(&journal, "%s-journal", path) < 0)
		return fs_fail(error, FS_NOMEM, "out of memory");
	*ret_stands = !lstat(journal, &status) && (!S_ISREG(status.st_mode) || status.st_size);
	if (!*ret_stands) {
		free(journal);
		return 0;
	}
	fd = open(journal, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || !S_ISREG(status.st_mode))
		code = fs_fail(error, FS_REFUSED,
			       "%s: not a readable regular file; the database beside "
			       "it cannot be trusted without it",
			       journal);
	else if (status.st_size >= (off_t)sizeof(tail) &&
		 pread(fd, tail, sizeof(tail), status.st_size - (off_t)sizeof(tail)) > 0 &&
		 !memcmp(tail, magic, sizeof(magic)))
		code = fs_fail(error, FS_REFUSED,
			       "%s: names a super-journal, which fsingest never "
			       "writes, so it is not played back; ingest the trace again",
			       journal);
	if (fd >= 0)
		close(fd);
	free(journal);
	return code;
}

/* Only what reads is kept from attaching: the bulk loader attaches the pages that it makes. */
static void harden(sqlite3 *db, int access)
{
	static const struct {
		int limit, value;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, 16000000 }, { SQLITE_LIMIT_SQL_LENGTH, 1000000 },
		{ SQLITE_LIMIT_ATTACHED, 0 },	   { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
		{ SQLITE_LIMIT_VDBE_OP, 100000 },  { SQLITE_LIMIT_EXPR_DEPTH, 200 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 }, { SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		if (limits[i].limit != SQLITE_LIMIT_ATTACHED || access == SQLITE_OPEN_READONLY)
			sqlite3_limit(db, limits[i].limit, limits[i].value);
	}
	sqlite3_busy_timeout(db, BUSY_MS);
}

static int open_hardened(const struct opening *opening, int access, sqlite3 **ret_db,
			 struct fs_error *error)
{
	static const char pragmas[] = "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
				      "PRAGMA temp_store = FILE;";
	int flags = access | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX; /* one thread */

	sqlite3_close(*ret_db);
	*ret_db = NULL;
	if (sqlite3_open_v2(opening->path, ret_db, flags, NULL) != SQLITE_OK)
		return fs_sql_fail(*ret_db, opening->shown, error);
	harden(*ret_db, access);
	if (sqlite3_exec(*ret_db, pragmas, NULL, NULL, NULL) != SQLITE_OK)
		return fs_sql_fail(*ret_db, opening->shown, error);
	return 0;
}

/* Make SQLite look at the file: takes a shared lock, plays back a journal where it may. */
static int touch(sqlite3 *db)
{
	sqlite3_extended_result_codes(db, 1);
	return sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
}

static int restore(const struct opening *opening, sqlite3 **ret_db, struct fs_error *error)
{
	if (!open_hardened(opening, SQLITE_OPEN_READWRITE, ret_db, error) && !touch(*ret_db))
		return open_hardened(opening, SQLITE_OPEN_READONLY, ret_db, error);
	return fs_fail(error, FS_REFUSED,
		       "%s: an import was killed while writing, and its "
		       "last complete state cannot be restored here (%s); copy the file and "
		       "its -journal to where you may write",
		       opening->shown, *ret_db ? sqlite3_errmsg(*ret_db) : "out of memory");
}

#define LIST_SCHEMA "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema ORDER BY 1, 2"

static int same_row(sqlite3_stmt *found, sqlite3_stmt *expected)
{
	for (int i = 0; i < 4; i++) {
		const char *a = (const char *)sqlite3_column_text(found, i);
		const char *b = (const char *)sqlite3_column_text(expected, i);

		if (!a || !b || strcmp(a, b) != 0)
			return 0;
	}
	return 1;
}

static const char *text_of(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "unknown";
}

/* Walk both lists in step; they must agree to the last byte. */
static int compare_schema(const char *path, sqlite3_stmt *found, sqlite3_stmt *expected,
			  struct fs_error *error)
{
	for (;;) {
		int have = sqlite3_step(found);
		int want = sqlite3_step(expected);
		sqlite3_stmt *odd = have == SQLITE_ROW ? found : expected;

		if (have != SQLITE_ROW && have != SQLITE_DONE)
			return fs_sql_fail(sqlite3_db_handle(found), path, error);
		if (have == SQLITE_DONE && want == SQLITE_DONE)
			return 0;
		if (have != want || !same_row(found, expected))
			return fs_fail(
				error, FS_REFUSED,
				"%s: %s %s is not as this fsight makes it; the "
				"file was changed or comes from another build; ingest the trace "
				"again",
				path, text_of(odd, 0), text_of(odd, 1));
	}
}

/* SQLite lets two tables lie in one place, where each reads the other's rows. */
static int check_places(sqlite3 *db, const char *path, struct fs_error *error)
{
	static const char sql[] = "SELECT name FROM sqlite_schema WHERE rootpage > 0 "
				  "GROUP BY rootpage HAVING count(*) > 1";
	sqlite3_stmt *shared = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &shared, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(shared);
	if (code == SQLITE_ROW)
		code = fs_fail(error, FS_REFUSED,
			       "%s: table %s shares its place with another; the file was "
			       "changed; ingest the trace again",
			       path, text_of(shared, 0));
	else
		code = code == SQLITE_DONE ? 0 : fs_sql_fail(db, path, error);
	sqlite3_finalize(shared);
	return code;
}

static int check_schema(sqlite3 *db, const char *path, struct fs_error *error)
{
	sqlite3 *model = NULL;
	sqlite3_stmt *found = NULL;
	sqlite3_stmt *expected = NULL;
	int code = fs_schema_check(db, path, error);

	if (!code && sqlite3_open(":memory:", &model) != SQLITE_OK)
		code = fs_fail(error, FS_NOMEM, "out of memory");
	if (!code)
		code = fs_schema_create(model, error);
	if (!code && sqlite3_prepare_v2(model, LIST_SCHEMA, -1, &expected, NULL) != SQLITE_OK)
		code = fs_sql_fail(model, path, error);
	if (!code && sqlite3_prepare_v2(db, LIST_SCHEMA, -1, &found, NULL) != SQLITE_OK)
		code = fs_sql_fail(db, path, error);
	if (!code)
		code = compare_schema(path, found, expected, error);
	if (!code)
		code = check_places(db, path, error);
	sqlite3_finalize(found);
	sqlite3_finalize(expected);
	sqlite3_close(model);
	return code;
}

static int open_checked(const struct opening *opening, int access, sqlite3 **ret_db,
			bool *ret_restored, struct fs_error *error)
{
	bool journal = false;
	int code;

	FS_TRY(check_file(opening->path, opening->shown, error));
	FS_TRY(check_log(opening->path, error));
	FS_TRY(check_journal(opening->path, &journal, error));
	FS_TRY(open_hardened(opening, SQLITE_OPEN_READONLY, ret_db, error));
	code = touch(*ret_db);
	if (journal && code == SQLITE_READONLY_ROLLBACK) {
		FS_TRY(restore(opening, ret_db, error));
		if (ret_restored)
			*ret_restored = true;
	} else if (code == SQLITE_ERROR) {
		return fs_fail(error, FS_REFUSED, "%s: %s; ingest the trace again", opening->shown,
			       sqlite3_errmsg(*ret_db));
	} else if (code) {
		return fs_sql_fail(*ret_db, opening->shown, error);
	}
	FS_TRY(check_schema(*ret_db, opening->shown, error));
	if (access == SQLITE_OPEN_READONLY)
		return 0;
	FS_TRY(open_hardened(opening, access, ret_db, error));
	if (sqlite3_db_readonly(*ret_db, "main"))
		return fs_fail(error, FS_OUTPUT,
			       "%s: may not be written to; change its rights or "
			       "copy it",
			       opening->shown);
	return 0;
}

int fs_schema_open(const char *path, int access, sqlite3 **ret_db, bool *ret_restored,
		   struct fs_error *error)
{
	struct opening opening = { .shown = path };
	sqlite3 *db = NULL;
	char *resolved = NULL;
	int code;

	FS_TRY(resolve(path, &resolved, error));
	opening.path = resolved;
	code = open_checked(&opening, access, &db, ret_restored, error);
	free(resolved);
	if (code)
		sqlite3_close(db);
	else
		*ret_db = db;
	return code;
}

int fs_schema_copy(sqlite3 *db, sqlite3 **ret_copy, struct fs_error *error)
{
	static const char pragmas[] = "PRAGMA cell_size_check = ON; PRAGMA temp_store = FILE;"
				      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;";
	sqlite3_backup *backup = NULL;
	sqlite3 *copy = NULL;
	int code = 0;

	if (sqlite3_open("", &copy) == SQLITE_OK)
		backup = sqlite3_backup_init(copy, "main", db, "main");
	if (backup)
		sqlite3_backup_step(backup, -1);
	if (!backup || sqlite3_backup_finish(backup) != SQLITE_OK)
		code = fs_sql_fail(copy, NULL, error);
	if (!code)
		harden(copy, SQLITE_OPEN_READWRITE);
	if (!code && sqlite3_exec(copy, pragmas, NULL, NULL, NULL) != SQLITE_OK)
		code = fs_sql_fail(copy, NULL, error);
	if (code)
		sqlite3_close(copy);
	else
		*ret_copy = copy;
	return code;
}
