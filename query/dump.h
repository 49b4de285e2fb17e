/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The canonical dump of a trace, by table: what is the same wherever the same file was imported.
 *
 * The dump of a trace: all tables of traces (not NAMES and CACHE), in the order of the schema. Rows
 * that have an id, and samples, stand in its order; others are sorted by all columns. Left out:
 * trace ids and the columns of `left_out`. Ids depend on what the database held before, so each
 * is written less the smallest id of its table within the trace. A row belongs to the trace that
 * its trace_id says, or else that of the row it refers to.
 *
 * Each value is hashed as nine bytes, and what follows them:
 *
 *   | letter | i64 |       I: the integer; N (NULL): 0; else the length of
 *   | text or bytes |      T: the text, B: the blob, R: the real as %.15g
 *
 * and each row ends with a newline.
 */
#ifndef FS_QUERY_DUMP_H
#define FS_QUERY_DUMP_H

#include <nettle/sha2.h>
#include <sqlite3.h>

#include "schema/schema.h"

/* SELECT of a table's rows of trace ?1, in order, from the main or the temp database; its columns
 * have the table's names. NULL: out of memory. The caller frees it with sqlite3_free(). */
char *fs_dump_sql(const char *schema, const struct fs_table_definition *table);

/* Add the row that a statement of fs_dump_sql() stands at. */
void fs_dump_hash(struct sha256_ctx *hash, sqlite3_stmt *row);

#endif
