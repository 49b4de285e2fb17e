/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The database that fsingest writes: a new one appears only when it is complete, an existing one
 * gains a trace in one transaction.
 *
 *   new:       .NAME.tmp-PID ──write, fsync──▶ rename to NAME (fails if NAME appeared meanwhile)
 *   existing:  BEGIN IMMEDIATE ... COMMIT, with SQLite's rollback journal
 */
#ifndef FS_LOAD_TARGET_H
#define FS_LOAD_TARGET_H

#include <sqlite3.h>
#include <stdbool.h>

#include "common/error.h"

struct fs_target {
	sqlite3 *db;
	const char *path; /* the caller's */
	char *temporary;  /* NULL: an existing database */
};

/* Open or create, check, and begin a transaction. Close with fs_target_abandon() after a failure
 * here or later. */
int fs_target_open(struct fs_target *target, const char *path, struct fs_error *error);

/* The same for a database that nobody else ever sees: it is gone with fs_target_abandon(), or when
 * the program ends. */
int fs_target_open_temporary(struct fs_target *target, struct fs_error *error);

/* Commit and, for a new database, give it its name. The target is then closed. */
int fs_target_commit(struct fs_target *target, struct fs_error *error);

/* Roll back and leave nothing behind. Does nothing to a closed target. */
void fs_target_abandon(struct fs_target *target);

/* Path of the temporary file to remove when a signal ends the program; NULL: none. */
const char *fs_target_temporary(const struct fs_target *target);

#endif
