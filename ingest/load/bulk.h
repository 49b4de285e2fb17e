/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows from memory into a table: INSERT INTO table SELECT * FROM a virtual table that reads an
 * array of integer rows.
 *
 *   row: | i64 value 0 | ... | i64 value n-1 | u64 nulls: bit i set: column i is NULL |
 *
 * The statement is prepared once and run once per array.
 */
#ifndef FS_LOAD_BULK_H
#define FS_LOAD_BULK_H

#include <sqlite3.h>

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct fs_bulk {
	sqlite3_stmt *insert;
	unsigned int columns;
	const int64_t *rows;
	size_t count;
};

/*
 * Prepare for a table of `columns` integer columns. The bulk must stay where it is until
 * fs_bulk_close(), which is also needed after a failure.
 */
int fs_bulk_open(struct fs_bulk *bulk, sqlite3 *db, const char *table, unsigned int columns,
		 struct fs_error *error);
void fs_bulk_close(struct fs_bulk *bulk);

/* Insert count rows of the layout above. */
int fs_bulk_insert(struct fs_bulk *bulk, const void *rows, size_t count, struct fs_error *error);

#endif
