/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schema: the tables and their columns, or the DDL.
 */
#include <errno.h>
#include <string.h>

#include "query/database.h"
#include "query/listing.h"
#include "schema/schema.h"

static const struct fs_query_column columns[] = {
	FS_COLUMN("table", "TABLE", TEXT, FS_SHOW_DEFAULT, "\"table\"", "Name of the table"),
	FS_COLUMN("kind", "KIND", TEXT, 0, NULL,
		  "content: raw facts; rollup: sums of them; finding: verdicts; names: vocabulary; "
		  "cache: what was read of binaries, of no trace"),
	FS_COLUMN("column", "COLUMN", TEXT, FS_SHOW_DEFAULT, "\"column\"",
		  "Its column; empty: the row is about the table"),
	FS_COLUMN("type", "TYPE", TEXT, FS_SHOW_DEFAULT, NULL, "Type and constraints"),
	FS_COLUMN("description", "DESCRIPTION", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WRAP, NULL,
		  "What it holds"),
};

static const char *const kinds[] = {
	[FS_TABLE_CONTENT] = "content", [FS_TABLE_ROLLUP] = "rollup",
	[FS_TABLE_FINDING] = "finding", [FS_TABLE_NAMES] = "names",
	[FS_TABLE_CACHE] = "cache",
};

struct request {
	const char *only; /* must come first: fs_parse_name() */
	bool ddl;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;

	if (key != 'D')
		return fs_parse_name(key, arg, state);
	((struct request *)options->own)->ddl = true;
	return 0;
}

static const struct argp_option own_options[] = {
	{ "ddl", 'D', NULL, 0, "Print the CREATE statements", 1 },
	{ 0 },
};

static const struct argp argp = {
	.options = own_options,
	.parser = parse,
	.args_doc = "[TABLE]",
};

static int add_table(struct fs_query *query, sqlite3_stmt *insert,
		     const struct fs_table_definition *table, struct fs_error *error)
{
	struct fs_cell cells[] = { fs_text_cell(table->name), fs_text_cell(kinds[table->kind]),
				   fs_text_cell(NULL), fs_text_cell(NULL),
				   fs_text_cell(table->description) };

	FS_TRY(fs_rows_add(query, insert, cells, error));
	for (const struct fs_column *column = table->columns; column->name; column++) {
		cells[2] = fs_text_cell(column->name);
		cells[3] = fs_text_cell(column->type);
		cells[4] = fs_text_cell(*column->description ? column->description : NULL);
		FS_TRY(fs_rows_add(query, insert, cells, error));
	}
	return 0;
}

static int fill(struct fs_options *options, struct fs_error *error)
{
	const struct request *request = options->own;
	sqlite3_stmt *insert = NULL;
	int code = fs_rows_create(options, &insert, error);

	for (const struct fs_table_definition *table = fs_schema_tables; !code && table->name;
	     table++) {
		if (!request->only || !strcmp(request->only, table->name))
			code = add_table(options->query, insert, table, error);
	}
	sqlite3_finalize(insert);
	return code;
}

static const struct fs_listing listing = {
	.command = "schema",
	.about =
		"List the tables of a database, or one of them, with their columns; docs/schema.md "
		"says more. Times are ns of the trace's clock, addresses signed 64-bit patterns, "
		"latencies CPU cycles; NULL means that the file does not say.",
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "temp.rows WHERE 1",
	.limit = FS_NO_LIMIT,
	.nouns = "rows",
	.empty = "no such table",
};

/* From an empty database, so that it is what fsingest makes. */
static int print_ddl(struct fs_query *query, const char *only, struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	int code = fs_schema_create(query->db, error);

	if (!code)
		code = fs_database_prepare(query,
					   "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL "
					   "AND (?1 IS NULL OR name = ?1) ORDER BY rowid",
					   &statement, error);
	if (!code && only)
		sqlite3_bind_text(statement, 1, only, -1, SQLITE_STATIC);
	while (!code && sqlite3_step(statement) == SQLITE_ROW)
		fprintf(query->out, "%s;\n\n", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	if (!code && (fflush(query->out) || ferror(query->out)))
		code = fs_fail(error, FS_OUTPUT, "writing failed: %s", strerror(errno));
	return code;
}

FS_COMMAND(schema)
{
	struct request request = { 0 };
	struct fs_options options = { .listing = &listing, .own = &request };
	int code = fs_options_parse(&options, query, &argp, argc, argv, error);

	if (!code)
		code = fs_database_open_empty(query, error);
	if (!code && request.ddl)
		code = print_ddl(query, request.only, error);
	else if (!code)
		code = fill(&options, error);
	if (!code && !request.ddl)
		code = fs_listing_run(&options, error);
	fs_options_free(&options);
	return code;
}
