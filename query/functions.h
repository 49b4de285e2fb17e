/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SQL functions of fsquery's own statements:
 *
 *   number_list(x)   aggregate: the distinct integers, sorted, as "0-3,8"; NULL of none
 *   arm_core(midr)   the name of an Arm core by its MIDR, a number or "0x..."; NULL: not known
 *
 * beside those of analyze/analyze.h. The saved views use none of them.
 */
#ifndef FS_QUERY_FUNCTIONS_H
#define FS_QUERY_FUNCTIONS_H

#include <sqlite3.h>

#include "common/error.h"

int fs_functions_register(sqlite3 *db, struct fs_error *error);

#endif
