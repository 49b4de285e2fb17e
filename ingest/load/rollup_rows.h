/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The roll-ups of a trace that common/rollup.h makes, as rows: access, access_window, line_total
 * and code_total.
 */
#ifndef FS_LOAD_ROLLUP_ROWS_H
#define FS_LOAD_ROLLUP_ROWS_H

#include <sqlite3.h>

#include "common/rollup.h"

/* The ids that the database gives: added to the numbers in a roll-up or a decoder, which start at
 * 0. */
struct fs_id_bases {
	int64_t event, thread, code, chain, space, sample;
};

/* Write the rows of a finished roll-up. */
int fs_store_rollup(sqlite3 *db, const struct fs_rollup *rollup, const struct fs_id_bases *bases,
		    int64_t trace, struct fs_error *error);

#endif
