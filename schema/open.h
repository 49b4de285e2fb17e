/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening a database that exists and may come from a stranger, for reading or for adding to it.
 */
#ifndef FS_SCHEMA_OPEN_H
#define FS_SCHEMA_OPEN_H

#include <sqlite3.h>
#include <stdbool.h>

#include "common/error.h"

/*
 * Open the database at path, with SQLITE_OPEN_READONLY or SQLITE_OPEN_READWRITE as access, after
 * checking that it is a regular file, that it is ours, and that its tables and views are exactly
 * those of this version. If an import was killed over it, its last complete state is restored
 * first, and *ret_restored (which may be NULL) set. Errors: FS_REFUSED, FS_NOMEM, FS_OUTPUT (I/O,
 * locked by an import, not writable). The caller closes *ret_db.
 */
int fs_schema_open(const char *path, int access, sqlite3 **ret_db, bool *ret_restored,
		   struct fs_error *error);

/*
 * A copy of an open database that only this process sees and may change, gone when it is closed.
 * The caller closes *ret_copy. Fails as fs_sql_fail() says.
 */
int fs_schema_copy(sqlite3 *db, sqlite3 **ret_copy, struct fs_error *error);

#endif
