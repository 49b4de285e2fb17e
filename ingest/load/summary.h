/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an import ends with: how much was read, what was lost, which binaries were found, and the
 * command to try next.
 */
#ifndef FS_LOAD_SUMMARY_H
#define FS_LOAD_SUMMARY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/error.h"

/* Write the summary of a trace to out, as text or as a JSON object. `path` names the database. */
int fs_summary_write(FILE *out, sqlite3 *db, const char *path, sqlite3_int64 trace, bool json,
		     struct fs_error *error);

#endif
