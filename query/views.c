/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * views: the saved views, each with its columns described. The descriptions are the comments at
 * the head of schema/views/NAME.sql:
 *
 *   -- What a row is. May take
 *   -- several lines.
 *   --
 *   -- column: what it holds
 */
#include <string.h>

#include "query/database.h"
#include "query/listing.h"
#include "schema/schema.h"

static const struct fs_query_column columns[] = {
	FS_COLUMN("view", "VIEW", TEXT, FS_SHOW_DEFAULT, NULL, "Name of the view"),
	FS_COLUMN("column", "COLUMN", TEXT, FS_SHOW_DEFAULT, "\"column\"",
		  "Its column; empty: the row is about the view"),
	FS_COLUMN("description", "DESCRIPTION", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WRAP, NULL,
		  "What it holds"),
};

static int add(struct fs_query *query, sqlite3_stmt *insert, const char *view,
	       struct fs_cell column, struct fs_cell description, struct fs_error *error)
{
	struct fs_cell cells[] = { fs_text_cell(view), column, description };

	return fs_rows_add(query, insert, cells, error);
}

static struct fs_cell part(const char *text, size_t length)
{
	return (struct fs_cell){ .kind = FS_CELL_TEXT, .text = text, .length = length };
}

/* One comment line without its "-- "; NULL when the head is over. */
static const char *comment_line(const char **cursor, size_t *ret_length)
{
	const char *line = *cursor;
	size_t length = strcspn(line, "\n");

	if (strncmp(line, "--", 2) != 0)
		return NULL;
	*cursor = line + length + (line[length] == '\n');
	line += 2;
	length -= 2;
	if (length && *line == ' ') {
		line++;
		length--;
	}
	*ret_length = length;
	return line;
}

static int add_view(struct fs_query *query, sqlite3_stmt *insert, const struct fs_view *view,
		    struct fs_error *error)
{
	char description[1024] = "";
	const char *cursor = view->sql;
	const char *line;
	size_t used = 0;
	size_t length;

	while ((line = comment_line(&cursor, &length)) && length) {
		if (used + length + 2 > sizeof(description))
			break;
		if (used)
			description[used++] = ' ';
		memcpy(description + used, line, length);
		used += length;
	}
	FS_TRY(add(query, insert, view->name, fs_text_cell(NULL), part(description, used), error));
	while ((line = comment_line(&cursor, &length))) {
		const char *colon = memchr(line, ':', length);
		size_t name = colon ? (size_t)(colon - line) : 0;

		if (colon && name + 2 <= length)
			FS_TRY(add(query, insert, view->name, part(line, name),
				   part(colon + 2, length - name - 2), error));
	}
	return 0;
}

static int fill(struct fs_options *options, struct fs_error *error)
{
	const char *only = *(const char **)options->own;
	sqlite3_stmt *insert = NULL;
	int code = fs_rows_create(options, &insert, error);

	for (const struct fs_view *view = fs_schema_views; !code && view->name; view++) {
		if (!only || !strcmp(only, view->name))
			code = add_view(options->query, insert, view, error);
	}
	sqlite3_finalize(insert);
	return code;
}

static const struct argp argp = { .parser = fs_parse_name, .args_doc = "[VIEW]" };

static const struct fs_listing listing = {
	.command = "views",
	.about = "List the saved views, or one of them, with their columns. `fsquery sql' and the "
		 "stock sqlite3 shell can read them.",
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "temp.rows WHERE 1",
	.limit = FS_NO_LIMIT,
	.nouns = "rows",
	.empty = "no such view",
	.argp = &argp,
	.open = fs_database_open_empty,
	.before = fill,
};

FS_COMMAND(views)
{
	const char *only = NULL;

	return fs_listing_command(&listing, &only, query, argc, argv, error);
}
