/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pages: memory cost without contention, by data page; query/places.h.
 */
#include "query/database.h"
#include "query/places.h"

static const struct fs_query_column columns[] = {
	FS_COLUMN("page", "PAGE ADDRESS", ADDRESS, FS_SHOW_DEFAULT, NULL,
		  "Its address; of 4 KiB where the size was not recorded"),
	FS_COLUMN("space_id", "SPACE ID", INTEGER, 0, NULL, "space.id"),
	FS_COLUMN("space", "SPACE", TEXT, FS_SHOW_TRUNCATE, NULL,
		  "Address space: kernel, or command name and pid"),
	FS_COLUMN("region", "REGION", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE | FS_SHOW_TAIL, NULL,
		  "What is mapped there: a file, heap, stack of thread T, shared memory, anonymous "
		  "mapping, kernel; empty: not recorded"),
	FS_PLACE_COLUMNS,
};

static int add_row(const struct fs_places *places, size_t index, sqlite3_stmt *spaces,
		   sqlite3_stmt *insert, struct fs_error *error)
{
	const struct fs_place_key *key = fs_table_key(&places->sums, index);
	struct fs_place_texts texts;
	struct fs_cell cells[4 + FS_PLACE_CELLS];
	const char *kind;
	int code;

	sqlite3_bind_int64(spaces, 1, key->space);
	cells[0] = fs_integer_cell(key->start);
	cells[1] = key->space ? fs_integer_cell(key->space) : fs_text_cell(NULL);
	cells[2] = sqlite3_step(spaces) == SQLITE_ROW ? fs_statement_cell(spaces, 0)
						      : fs_text_cell(NULL);
	cells[3] = fs_text_cell(fs_places_region(places, key->space, (uint64_t)key->start, &kind));
	fs_places_cells(places, fs_table_value(&places->sums, index), &texts, cells + 4);
	code = fs_rows_add(places->options->query, insert, cells, error);
	sqlite3_reset(spaces);
	return code;
}

static int fill(struct fs_options *options, struct fs_error *error)
{
	struct fs_places places;
	sqlite3_stmt *insert = NULL;
	sqlite3_stmt *spaces = NULL;
	bool blind;
	int code;

	FS_TRY(fs_trace_note_blindness(options, &blind, error));
	fs_places_init(&places, options, false);
	code = fs_places_fill(&places, error);
	if (!code)
		code = fs_rows_create(options, &insert, error);
	if (!code)
		code = fs_database_prepare(options->query, "SELECT name FROM spaces WHERE id = ?",
					   &spaces, error);
	for (size_t i = 0; !code && i < places.sums.count; i++)
		code = add_row(&places, i, spaces, insert, error);
	sqlite3_finalize(spaces);
	sqlite3_finalize(insert);
	fs_places_free(&places);
	return code;
}

static const struct fs_listing listing = {
	.command = "pages",
	.about = "List data pages by the memory latency sampled in them: where their data came "
		 "from, "
		 "TLB misses, page size, the NUMA nodes that use them and that hold them, and what "
		 "placement or huge pages would change.",
	.need = FS_NEED_MEMORY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "temp.rows WHERE 1",
	.order = "latency_share DESC NULLS LAST, samples DESC, space_id, page",
	.filters = FS_PLACE_FILTERS,
	.filters_raw = true,
	.nouns = "pages",
	.empty = "no sample with an address is in the database, or none that the filters let "
		 "through",
	.before = fill,
};

FS_COMMAND(pages)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
