/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * digest: SHA-256 of the canonical dump, by table and in total. The same file, symbols and
 * version give the same digest, in whatever database and after whatever other trace.
 *
 * query/dump.h says what the dump is. Without --trace, the traces' rows of a table follow one
 * another in the order of the traces.
 */
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "query/database.h"
#include "query/dump.h"
#include "query/listing.h"
#include "schema/schema.h"

/* Add the rows of one trace to the hash of a table. */
static int hash_rows(struct fs_query *query, const char *sql, int64_t trace_id,
		     struct sha256_ctx *hash, int64_t *rows, struct fs_error *error)
{
	sqlite3_stmt *row = NULL;
	int step;
	int code = fs_database_prepare(query, sql, &row, error);

	if (code)
		return code;
	sqlite3_bind_int64(row, 1, trace_id);
	while ((step = sqlite3_step(row)) == SQLITE_ROW) {
		fs_dump_hash(hash, row);
		++*rows;
	}
	if (step != SQLITE_DONE)
		code = fs_database_fail(query, error);
	sqlite3_finalize(row);
	return code;
}

static int hash_table(struct fs_options *options, const struct fs_table_definition *table,
		      struct sha256_ctx *hash, int64_t *rows, struct fs_error *error)
{
	struct fs_query *query = options->query;
	sqlite3_stmt *traces = NULL;
	char *sql = fs_dump_sql("main", table);
	int code = sql ? fs_database_prepare(query,
					     "SELECT id FROM trace WHERE ?1 = 0 OR id = ?1 "
					     "ORDER BY id",
					     &traces, error)
		       : fs_fail(error, FS_NOMEM, "out of memory");

	if (!code)
		sqlite3_bind_int64(traces, 1, options->trace_id);
	while (!code && sqlite3_step(traces) == SQLITE_ROW)
		code = hash_rows(query, sql, sqlite3_column_int64(traces, 0), hash, rows, error);
	sqlite3_finalize(traces);
	sqlite3_free(sql);
	return code;
}

static int add_row(struct fs_query *query, sqlite3_stmt *insert, const char *name, int64_t rows,
		   struct sha256_ctx *hash, char *hex, struct fs_error *error)
{
	uint8_t bytes[SHA256_DIGEST_SIZE];
	struct fs_cell cells[3];

	sha256_digest(hash, sizeof(bytes), bytes);
	fs_hex(hex, bytes, sizeof(bytes));
	cells[0] = fs_text_cell(name);
	cells[1] = fs_integer_cell(rows);
	cells[2] = fs_text_cell(hex);
	return fs_rows_add(query, insert, cells, error);
}

/* The total is the hash of the lines "table hash". */
static int fill_tables(struct fs_options *options, sqlite3_stmt *insert, struct fs_error *error)
{
	char hex[2 * SHA256_DIGEST_SIZE + 1];
	struct sha256_ctx total;
	int64_t all = 0;

	sha256_init(&total);
	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		struct sha256_ctx hash;
		int64_t rows = 0;

		if (!fs_table_is_of_traces(table))
			continue;
		sha256_init(&hash);
		FS_TRY(hash_table(options, table, &hash, &rows, error));
		FS_TRY(add_row(options->query, insert, table->name, rows, &hash, hex, error));
		sha256_update(&total, strlen(table->name), (const uint8_t *)table->name);
		sha256_update(&total, 1, (const uint8_t *)" ");
		sha256_update(&total, strlen(hex), (const uint8_t *)hex);
		sha256_update(&total, 1, (const uint8_t *)"\n");
		all += rows;
	}
	return add_row(options->query, insert, "total", all, &total, hex, error);
}

static int fill(struct fs_options *options, struct fs_error *error)
{
	sqlite3_stmt *insert = NULL;
	int code = options->query->trace ? fs_trace_choose(options, error) : 0;

	if (!code)
		code = fs_rows_create(options, &insert, error);
	if (!code)
		code = fill_tables(options, insert, error);
	sqlite3_finalize(insert);
	return code;
}

static const struct fs_query_column columns[] = {
	FS_COLUMN("table", "TABLE", TEXT, FS_SHOW_DEFAULT, "\"table\"", "Name, or total"),
	FS_COLUMN("rows", "ROWS", INTEGER, FS_SHOW_DEFAULT, "\"rows\"", "Rows that were hashed"),
	FS_COLUMN("sha256", "SHA256", TEXT, FS_SHOW_DEFAULT, NULL, "Of the canonical dump"),
};

static const struct fs_listing listing = {
	.command = "digest",
	.about = "Print the SHA-256 of the content of all traces of the case, or of --trace: by "
		 "table and in total. Labels, dates and paths of the importing machine are left "
		 "out, "
		 "and ids are relative, so that the same file, symbols and version give the same "
		 "digest in any database.",
	.need = FS_NEED_NONE,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "temp.rows WHERE 1",
	.limit = FS_NO_LIMIT,
	.nouns = "tables",
	.before = fill,
};

FS_COMMAND(digest)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
