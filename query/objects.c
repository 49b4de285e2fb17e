/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * objects: data objects by what memory costs them; query/places.h. Contention is that of the
 * findings: schema/views/data_accesses.sql.
 */
#include <string.h>

#include "query/database.h"
#include "query/places.h"

static const struct fs_query_column columns[] = {
	FS_COLUMN("object", "OBJECT", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL,
		  "Variable, or type of an object that code points to; else what is mapped there"),
	FS_COLUMN(
		"kind", "KIND", TEXT, FS_SHOW_DEFAULT, NULL,
		"block (of the heap, by what allocates it), variable, instance (of a type), heap, "
		"stack, "
		"file, shared, anonymous, kernel, unknown; from heap on it is all that no object "
		"is "
		"known for"),
	FS_COLUMN("type", "TYPE", TEXT, FS_SHOW_TRUNCATE, NULL, "Its type"),
	FS_COLUMN("address", "ADDRESS", ADDRESS, FS_SHOW_DEFAULT, NULL,
		  "Of its first byte, or of the mapping; empty: a file, or not known"),
	FS_COLUMN("size", "SIZE", INTEGER, FS_SHOW_DEFAULT, NULL, "Bytes; empty: not known"),
	FS_COLUMN("region", "REGION", TEXT, FS_SHOW_TRUNCATE | FS_SHOW_TAIL, NULL,
		  "What is mapped there: a file, heap, stack of thread T, shared memory, anonymous "
		  "mapping, kernel; empty: not recorded"),
	FS_COLUMN("space_id", "SPACE ID", INTEGER, 0, NULL, "space.id"),
	FS_COLUMN("threads", "THREADS", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Threads that share its lines; empty: one, or not known"),
	FS_COLUMN("lines", "LINES", INTEGER, 0, NULL, "Its lines that two threads touched"),
	FS_COLUMN("verdict", "VERDICT", TEXT, FS_SHOW_DEFAULT | FS_SHOW_STATE, NULL,
		  "Worst of these lines: false, mixed, true, unknown, read-only, private"),
	FS_COLUMN("cost_share", "COST", PERCENT, FS_SHOW_DEFAULT, NULL,
		  "Share of the run's memory latency that contention costs it"),
	FS_PLACE_COLUMNS,
};
enum { OWN_CELLS = sizeof(columns) / sizeof(*columns) - FS_PLACE_CELLS };

/* Of objects on shared lines, which are the ones with a name. */
static const char known_sql[] =
	"CREATE TEMP TABLE known AS SELECT coalesce(a.space_id, 0) AS space, a.object_start AS "
	"start, "
	"coalesce(a.variable, t.name) AS name, max(a.variable NOTNULL) AS variable, max(t.name) AS "
	"type, max(coalesce(v.size, t.size)) AS size, nullif(count(DISTINCT a.thread_id), 0) AS "
	"threads, count(DISTINCT a.line_base) AS lines, substr(min(CASE a.verdict WHEN 'false' "
	"THEN 1 "
	"WHEN 'mixed' THEN 2 WHEN 'adjacent' THEN 3 WHEN 'true' THEN 4 WHEN 'unknown' THEN 5 WHEN "
	"'read-only' THEN 6 WHEN 'private' THEN 7 END || a.verdict), 2) AS verdict, "
	"sum(a.cost_share) AS cost FROM "
	"data_accesses AS a LEFT JOIN type AS t ON t.id = a.type_id LEFT JOIN variable AS v ON "
	"v.trace_id = a.trace_id AND v.space_id IS a.space_id AND v.addr = a.addr WHERE a.trace_id "
	"= "
	"?1 AND a.object_start NOTNULL GROUP BY 1, 2, 3";
static const char known_row_sql[] = "SELECT iif(variable, 'variable', 'instance'), type, size, "
				    "threads, lines, verdict, cost FROM "
				    "temp.known WHERE space = ? AND start = ? AND name = ?";

/* The cells of an object that stand in temp.known; they borrow from the statement. */
static void put_known(sqlite3_stmt *known, const struct fs_place_key *key, const char *name,
		      struct fs_cell *cells)
{
	static const unsigned char place[] = { 1, 2, 4, 7, 8, 9, 10 };

	sqlite3_bind_int64(known, 1, key->space);
	sqlite3_bind_int64(known, 2, key->start);
	sqlite3_bind_text(known, 3, name, -1, SQLITE_STATIC);
	if (sqlite3_step(known) != SQLITE_ROW)
		return;
	for (int i = 0; i < (int)sizeof(place); i++)
		cells[place[i]] = fs_statement_cell(known, i);
}

/* Several types or sizes are none. */
static void put_site(const struct fs_places *places, const struct fs_place_sums *sums,
		     struct fs_cell *cells)
{
	cells[1] = fs_text_cell("block");
	if (sums->type > 0)
		cells[2] =
			fs_text_cell(fs_interned(&places->names, (uint32_t)(sums->type - 1), NULL));
	if (sums->block_size > 0)
		cells[4] = fs_integer_cell(sums->block_size);
	if (sums->cost != 0)
		cells[10] = (struct fs_cell){ .kind = FS_CELL_REAL, .real = sums->cost };
}

static const char *region_of(const struct fs_places *places, const struct fs_place_key *key,
			     const char **ret_kind)
{
	*ret_kind = "file";
	if (key->kind == FS_PLACE_FILE)
		return fs_interned(&places->names, key->name, NULL);
	return key->kind == FS_PLACE_SITE
		       ? NULL
		       : fs_places_region(places, key->space, (uint64_t)key->start, ret_kind);
}

static int add_row(const struct fs_places *places, size_t index, sqlite3_stmt *known,
		   sqlite3_stmt *insert, struct fs_error *error)
{
	const struct fs_place_key *key = fs_table_key(&places->sums, index);
	const struct fs_place_sums *sums = fs_table_value(&places->sums, index);
	const char *kind;
	const char *region = region_of(places, key, &kind);
	const char *name = key->kind == FS_PLACE_MAPPING
				   ? region
				   : fs_interned(&places->names, key->name, NULL);
	struct fs_place_texts texts;
	struct fs_cell cells[OWN_CELLS + FS_PLACE_CELLS] = {
		[0] = fs_text_cell(name),
		[1] = fs_text_cell(kind),
		[5] = fs_text_cell(region),
	};
	int code;

	if (key->start)
		cells[3] = fs_integer_cell(key->start);
	if (key->space)
		cells[6] = fs_integer_cell(key->space);
	if (key->kind == FS_PLACE_OBJECT)
		put_known(known, key, name, cells);
	else if (key->kind == FS_PLACE_SITE)
		put_site(places, sums, cells);
	fs_places_cells(places, sums, &texts, cells + OWN_CELLS);
	code = fs_rows_add(places->options->query, insert, cells, error);
	sqlite3_reset(known);
	return code;
}

static int add_cost(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	(void)error;
	fs_places_add_cost(context, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
			   sqlite3_column_double(row, 2));
	return 0;
}

static int fill(struct fs_options *options, struct fs_error *error)
{
	const struct fs_query *query = options->query;
	struct fs_places places;
	sqlite3_stmt *insert = NULL;
	sqlite3_stmt *known = NULL;
	bool blind;
	int code;

	FS_TRY(fs_trace_note_blindness(options, &blind, error));
	FS_TRY(fs_listing_each(options, known_sql, 0, NULL, NULL, error));
	FS_TRY(fs_listing_each(options,
			       "CREATE INDEX temp.known_place ON known (space, start, name)", 0,
			       NULL, NULL, error));
	fs_places_init(&places, options, true);
	code = fs_places_fill(&places, error);
	if (!code)
		code = fs_listing_each(
			options, "SELECT space, start, cost FROM temp.known WHERE cost NOTNULL", 0,
			add_cost, &places, error);
	if (!code)
		code = fs_rows_create(options, &insert, error);
	if (!code)
		code = fs_database_prepare(query, known_row_sql, &known, error);
	for (size_t i = 0; !code && i < places.sums.count; i++)
		code = add_row(&places, i, known, insert, error);
	sqlite3_finalize(known);
	sqlite3_finalize(insert);
	fs_places_free(&places);
	return code;
}

static const struct fs_listing listing = {
	.command = "objects",
	.about = "List data objects by what contention and memory cost them. Objects are known on "
		 "lines that two threads touched; all other accesses count for the mapping that "
		 "they "
		 "went to. What contention costs is of the whole trace, whatever the filters.",
	.need = FS_NEED_MEMORY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "temp.rows WHERE 1",
	.order = "cost_share DESC NULLS LAST, latency_share DESC NULLS LAST, samples DESC, object, "
		 "address, space_id",
	.filters = FS_PLACE_FILTERS,
	.filters_raw = true,
	.nouns = "objects",
	.empty = "no sample with an address is in the database, or none that the filters let "
		 "through",
	.before = fill,
};

FS_COMMAND(objects)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
