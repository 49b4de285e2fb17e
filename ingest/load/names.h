/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for a trace that is in the database: what the binaries under symbol roots say of its code
 * and of its shared data addresses. The same at ingest and any time later.
 */
#ifndef FS_LOAD_NAMES_H
#define FS_LOAD_NAMES_H

#include <sqlite3.h>

#include "ingest/symbol/symbol.h"

/*
 * Ask the binaries about every code address of a trace and every data address in `access`, and
 * write functions, types, fields, variables, and the columns of `code` and `dso` that hold them.
 * What an earlier call named stays where no binary is found now. `options` says where the
 * binaries are; its `strings` and `cache` are not used: the database keeps the answers, so that a
 * binary is not asked again. Inside the caller's open transaction, which is to be
 * rolled back on failure; fails as fs_symbolise() does, and FS_OUTPUT for the database.
 */
int fs_name_trace(sqlite3 *db, int64_t trace, struct fs_symbol_options options,
		  struct fs_error *error);

#endif
