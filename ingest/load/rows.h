/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of a table, column by column in the order of the schema.
 */
#ifndef FS_LOAD_ROWS_H
#define FS_LOAD_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct fs_rows {
	sqlite3 *db;
	struct fs_error *error;
	/* private */
	sqlite3_stmt *insert;
	int columns; /* of the table */
	int column;  /* added to the current row */
};

/* Prepare to write rows of a table, which the schema has. Ends the table before. */
int fs_rows_begin(struct fs_rows *rows, const char *table);
void fs_rows_close(struct fs_rows *rows);

void fs_rows_integer(struct fs_rows *rows, int64_t value);
/* NULL unless present. */
void fs_rows_optional(struct fs_rows *rows, bool present, int64_t value);
/* NULL stays NULL; the text must live until fs_rows_end(). */
void fs_rows_text(struct fs_rows *rows, const char *text);
void fs_rows_real(struct fs_rows *rows, bool present, double value);
/* The bytes must live until fs_rows_end(); none are NULL. */
void fs_rows_blob(struct fs_rows *rows, const void *bytes, size_t size);

/* The id that the next row of a table gets. FS_REFUSED in a database that nobody like us made. */
int fs_rows_next_id(sqlite3 *db, const char *table, const char *column, int64_t *ret_id,
		    struct fs_error *error);

/* FS_INTERNAL when columns are missing. */
int fs_rows_end(struct fs_rows *rows);

#endif
