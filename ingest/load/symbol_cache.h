/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers of binaries in the database, in the table symbol_cache: struct fs_symbol_cache says
 * what they are for. They belong to no trace and outlive each.
 */
#ifndef FS_LOAD_SYMBOL_CACHE_H
#define FS_LOAD_SYMBOL_CACHE_H

#include <sqlite3.h>

#include "ingest/symbol/symbol.h"

/* Those of a database, which is written inside the caller's transaction. */
struct fs_symbol_cache fs_symbol_cache_of(sqlite3 *db);

#endif
