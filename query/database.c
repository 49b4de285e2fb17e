/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A database is input like any other: it may be damaged or made to attack its reader.
 *
 * Order of the checks: the path (no symbolic link, a regular file), the 100 bytes of header read
 * by ourselves (SQLite format, our application_id, no WAL), a journal beside the file, and only
 * then SQLite: read-only, defensive, no triggers, no extensions, low limits. Last, the stored
 * schema must be text for text what fs_schema_create() makes, so that no table is really a
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
#include "query/database.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "query/functions.h"
#include "schema/schema.h"

enum { HEADER_SIZE = 100, BUSY_MS = 5000 };

int fs_database_fail(const struct fs_query *query, struct fs_error *error)
{
	int code = sqlite3_errcode(query->db);
	const char *text = sqlite3_errmsg(query->db);

	switch (code & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return fs_fail(error, FS_REFUSED,
			       "%s: damaged database (%s); ingest the trace again", query->path,
			       text);
	case SQLITE_NOMEM:
		return fs_fail(error, FS_NOMEM, "%s: out of memory", query->path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return fs_fail(error, FS_OUTPUT,
			       "%s: an import is being written; try again when it "
			       "has ended",
			       query->path);
	case SQLITE_IOERR:
	case SQLITE_FULL:
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
		return fs_fail(error, FS_OUTPUT, "%s: %s", query->path, text);
	case SQLITE_INTERRUPT:
		return fs_fail(error, FS_USAGE,
			       "stopped: the time limit is over; --time-limit raises it");
	case SQLITE_AUTH:
		return fs_fail(error, FS_USAGE, "%s: fsquery only reads, and only this database",
			       text);
	default:
		return fs_fail(error, query->users_sql ? FS_USAGE : FS_INTERNAL, "%s: %s",
			       query->path, text);
	}
}

int fs_database_prepare(const struct fs_query *query, const char *sql, sqlite3_stmt **ret_statement,
			struct fs_error *error)
{
	if (sqlite3_prepare_v2(query->db, sql, -1, ret_statement, NULL) != SQLITE_OK)
		return fs_database_fail(query, error);
	return 0;
}

const char *fs_database_text(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "unknown";
}

int fs_database_integer(const struct fs_query *query, const char *sql, int64_t parameter,
			int64_t missing, int64_t *ret_value, struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	int64_t value = missing;
	int code;

	FS_TRY(fs_database_prepare(query, sql, &statement, error));
	if (sqlite3_bind_parameter_count(statement))
		sqlite3_bind_int64(statement, 1, parameter);
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
		value = sqlite3_column_int64(statement, 0);
	if (code != SQLITE_ROW && code != SQLITE_DONE) {
		code = fs_database_fail(query, error);
		sqlite3_finalize(statement);
		return code;
	}
	sqlite3_finalize(statement);
	*ret_value = value;
	return 0;
}

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

/* `path` is resolved, `shown` is what the user gave. */
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

static void harden(sqlite3 *db)
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
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		sqlite3_limit(db, limits[i].limit, limits[i].value);
	sqlite3_busy_timeout(db, BUSY_MS);
}

static int open_hardened(struct fs_query *query, const char *path, int flags,
			 struct fs_error *error)
{
	static const char pragmas[] = "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
				      "PRAGMA temp_store = FILE;";

	sqlite3_close(query->db);
	query->db = NULL;
	flags |= SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX; /* one thread */
	if (sqlite3_open_v2(path, &query->db, flags, NULL) != SQLITE_OK)
		return query->db ? fs_database_fail(query, error)
				 : fs_fail(error, FS_NOMEM, "out of memory");
	harden(query->db);
	if (sqlite3_exec(query->db, pragmas, NULL, NULL, NULL) != SQLITE_OK)
		return fs_database_fail(query, error);
	return 0;
}

/* Make SQLite look at the file: takes a shared lock, plays back a journal where it may. */
static int touch(sqlite3 *db)
{
	sqlite3_extended_result_codes(db, 1);
	return sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
}

static int restore(struct fs_query *query, const char *path, struct fs_error *error)
{
	if (open_hardened(query, path, SQLITE_OPEN_READWRITE, error) || touch(query->db))
		return fs_fail(
			error, FS_REFUSED,
			"%s: an import was killed while writing, and its "
			"last complete state cannot be restored here (%s); copy the file and "
			"its -journal to where you may write",
			query->path, query->db ? sqlite3_errmsg(query->db) : "out of memory");
	fs_query_say(query,
		     "%s: an import was killed while writing; restored the last complete "
		     "state",
		     query->path);
	return open_hardened(query, path, SQLITE_OPEN_READONLY, error);
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

/* Walk both lists in step; they must agree to the last byte. */
static int compare_schema(struct fs_query *query, sqlite3_stmt *found, sqlite3_stmt *expected,
			  struct fs_error *error)
{
	for (;;) {
		int have = sqlite3_step(found);
		int want = sqlite3_step(expected);
		sqlite3_stmt *odd = have == SQLITE_ROW ? found : expected;

		if (have != SQLITE_ROW && have != SQLITE_DONE)
			return fs_database_fail(query, error);
		if (have == SQLITE_DONE && want == SQLITE_DONE)
			return 0;
		if (have != want || !same_row(found, expected))
			return fs_fail(
				error, FS_REFUSED,
				"%s: %s %s is not as this fsight makes it; the "
				"file was changed or comes from another build; ingest the trace "
				"again",
				query->path, fs_database_text(odd, 0), fs_database_text(odd, 1));
	}
}

static int check_schema(struct fs_query *query, struct fs_error *error)
{
	sqlite3 *model = NULL;
	sqlite3_stmt *found = NULL;
	sqlite3_stmt *expected = NULL;
	int code = fs_schema_check(query->db, query->path, error);

	if (!code && sqlite3_open(":memory:", &model) != SQLITE_OK)
		code = fs_fail(error, FS_NOMEM, "out of memory");
	if (!code)
		code = fs_schema_create(model, error);
	if (!code && sqlite3_prepare_v2(model, LIST_SCHEMA, -1, &expected, NULL) != SQLITE_OK)
		code = fs_fail(error, FS_INTERNAL, "%s", sqlite3_errmsg(model));
	if (!code)
		code = fs_database_prepare(query, LIST_SCHEMA, &found, error);
	if (!code)
		code = compare_schema(query, found, expected, error);
	sqlite3_finalize(found);
	sqlite3_finalize(expected);
	sqlite3_close(model);
	return code;
}

static int open_resolved(struct fs_query *query, const char *path, int flags,
			 struct fs_error *error)
{
	bool journal = false;
	int code;

	FS_TRY(check_file(path, query->path, error));
	FS_TRY(check_journal(path, &journal, error));
	FS_TRY(open_hardened(query, path, SQLITE_OPEN_READONLY, error));
	code = touch(query->db);
	if (journal && code == SQLITE_READONLY_ROLLBACK)
		FS_TRY(restore(query, path, error));
	else if (code)
		return fs_database_fail(query, error);
	FS_TRY(check_schema(query, error));
	if (flags & SQLITE_OPEN_READWRITE)
		FS_TRY(open_hardened(query, path, flags, error));
	return fs_functions_register(query->db, error);
}

static int open_with(struct fs_query *query, int flags, struct fs_error *error)
{
	char *path = NULL;
	int code;

	FS_TRY(resolve(query->path, &path, error));
	code = open_resolved(query, path, flags, error);
	free(path);
	return code;
}

int fs_database_open(struct fs_query *query, struct fs_error *error)
{
	return open_with(query, SQLITE_OPEN_READONLY, error);
}

int fs_database_open_writable(struct fs_query *query, struct fs_error *error)
{
	return open_with(query, SQLITE_OPEN_READWRITE, error);
}

int fs_database_open_empty(struct fs_query *query, struct fs_error *error)
{
	if (sqlite3_open(":memory:", &query->db) != SQLITE_OK)
		return fs_fail(error, FS_NOMEM, "out of memory");
	return 0;
}
