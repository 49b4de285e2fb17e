/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/load/target.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/open.h"
#include "schema/schema.h"

enum { COMMIT_MS = 60000 };

/* Split a path into its directory ("." for none) and its last part. */
static char *directory_of(const char *path, const char **ret_base)
{
	const char *slash = strrchr(path, '/');

	*ret_base = slash ? slash + 1 : path;
	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Remove temporary files of imports into the same database that were killed. */
static void remove_stale(const char *directory, const char *base)
{
	DIR *stream = opendir(directory);
	char prefix[300];
	struct dirent *entry;

	if (!stream)
		return;
	snprintf(prefix, sizeof(prefix), ".%s.tmp-", base);
	while ((entry = readdir(stream))) {
		long pid;

		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		pid = strtol(entry->d_name + strlen(prefix), NULL, 10);
		if (pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH)
			unlinkat(dirfd(stream), entry->d_name, 0);
	}
	closedir(stream);
}

static int fail_database(const struct fs_target *target, const char *what, struct fs_error *error)
{
	return fs_fail(error, FS_OUTPUT, "%s: %s: %s", target->path, what,
		       target->db ? sqlite3_errmsg(target->db) : "out of memory");
}

/* nobody sees this file before it is complete: neither a journal nor syncs on the way */
static int begin_new(struct fs_target *target, struct fs_error *error)
{
	char pragma[160];

	snprintf(pragma, sizeof(pragma),
		 "PRAGMA page_size = %d; PRAGMA encoding = 'UTF-8'; PRAGMA journal_mode = OFF; "
		 "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;",
		 FS_PAGE_SIZE);
	FS_TRY(fs_sql_run(target->db, pragma, error));
	FS_TRY(fs_sql_run(target->db, "BEGIN", error));
	return fs_schema_create(target->db, error);
}

static int create(struct fs_target *target, struct fs_error *error)
{
	const char *base;
	char *directory = directory_of(target->path, &base);

	if (!directory || strlen(base) > 200 ||
	    asprintf(&target->temporary, "%s/.%s.tmp-%ld", directory, base, (long)getpid()) < 0) {
		target->temporary = NULL;
		free(directory);
		return fs_fail(error, FS_USAGE, "%s: the name is too long", target->path);
	}
	if (access(directory, W_OK | X_OK)) {
		int code = fs_fail(error, FS_OUTPUT, "%s: cannot write to the directory %s: %s",
				   target->path, directory, strerror(errno));

		free(directory);
		free(target->temporary);
		target->temporary = NULL;
		return code;
	}
	remove_stale(directory, base);
	unlink(target->temporary);
	free(directory);
	if (sqlite3_open_v2(target->temporary, &target->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW,
			    NULL))
		return fail_database(target, "cannot create the database there", error);
	return begin_new(target, error);
}

static int open_existing(struct fs_target *target, struct fs_error *error)
{
	FS_TRY(fs_schema_open(target->path, SQLITE_OPEN_READWRITE, &target->db, NULL, error));
	if (sqlite3_exec(target->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return sqlite3_errcode(target->db) == SQLITE_BUSY
			       ? fs_fail(error, FS_OUTPUT,
					 "%s: another import is writing to it; wait "
					 "for it to end",
					 target->path)
			       : fail_database(target, "cannot begin to write", error);
	/* a page that cannot be written for a reader's sake stays in memory; no use in waiting */
	sqlite3_busy_timeout(target->db, 0);
	return 0;
}

/* Sorting within the L2 cache is faster than within a large page cache. */
static int tune(struct fs_target *target, struct fs_error *error)
{
	return fs_sql_run(target->db, "PRAGMA cache_size = -4000; PRAGMA temp_store = FILE;",
			  error);
}

int fs_target_open(struct fs_target *target, const char *path, struct fs_error *error)
{
	struct stat status;
	int code;

	*target = (struct fs_target){ .path = path };
	if (lstat(path, &status))
		code = errno == ENOENT ? create(target, error)
				       : fs_fail(error, FS_OUTPUT, "%s: %s", path, strerror(errno));
	else
		code = open_existing(target, error);
	return code ? code : tune(target, error);
}

int fs_target_open_temporary(struct fs_target *target, struct fs_error *error)
{
	*target = (struct fs_target){ .path = "temporary database" };
	if (sqlite3_open("", &target->db))
		return fail_database(target, "cannot create it", error);
	FS_TRY(begin_new(target, error));
	return tune(target, error);
}

static int sync_path(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);
	int code = fd < 0 || fsync(fd) ? errno : 0;

	if (fd >= 0)
		close(fd);
	return code;
}

/*
 * Rename where nothing stands; EEXIST when something does. Where the file system cannot do that in
 * one step, a hard link can; where it has no links either, an empty file of ours keeps the place
 * until the database takes it.
 */
static int rename_new(const char *from, const char *to)
{
	int fd;

	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (!link(from, to)) {
		unlink(from);
		return 0;
	}
	if (errno == EEXIST)
		return errno;
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	if (rename(from, to)) {
		int code = errno;

		unlink(to);
		return code;
	}
	return 0;
}

/* Give the finished temporary file its name; somebody else's file of that name stays. */
static int publish(struct fs_target *target, struct fs_error *error)
{
	const char *base;
	char *directory;
	int code = sync_path(target->temporary, O_RDWR);

	if (code)
		return fs_fail(error, FS_OUTPUT, "%s: cannot sync: %s", target->path,
			       strerror(code));
	code = rename_new(target->temporary, target->path);
	if (code == EEXIST)
		return fs_fail(error, FS_OUTPUT,
			       "%s: appeared while this import ran; run it "
			       "again to add the trace to it",
			       target->path);
	if (code)
		return fs_fail(error, FS_OUTPUT, "%s: cannot rename the finished database: %s",
			       target->path, strerror(code));
	directory = directory_of(target->path, &base);
	code = directory ? sync_path(directory, O_RDONLY | O_DIRECTORY) : ENOMEM;
	free(directory);
	return code ? fs_fail(error, FS_OUTPUT, "%s: cannot sync the directory: %s", target->path,
			      strerror(code))
		    : 0;
}

int fs_target_commit(struct fs_target *target, struct fs_error *error)
{
	/* readers at work now only have to end what they read */
	sqlite3_busy_timeout(target->db, COMMIT_MS);
	FS_TRY(fs_sql_run(target->db, "COMMIT", error));
	if (sqlite3_close(target->db) != SQLITE_OK)
		return fail_database(target, "cannot close", error);
	target->db = NULL;
	if (target->temporary)
		FS_TRY(publish(target, error));
	free(target->temporary);
	target->temporary = NULL;
	return 0;
}

void fs_target_abandon(struct fs_target *target)
{
	if (target->db) {
		sqlite3_exec(target->db, "ROLLBACK", NULL, NULL, NULL);
		sqlite3_close_v2(target->db);
	}
	if (target->temporary)
		unlink(target->temporary);
	free(target->temporary);
	*target = (struct fs_target){ 0 };
}

const char *fs_target_temporary(const struct fs_target *target)
{
	return target->temporary;
}
