/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reproduce: make a trace's findings again and compare them with those in the database, table by
 * table; with --from, import its file again and compare everything.
 *
 * The database stays read-only: the passes write into temporary tables that stand before its own,
 * and an import goes into a temporary database. Rows are compared as query/dump.h writes them.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "common/text.h"
#include "common/version.h"
#include "query/database.h"
#include "query/dump.h"
#include "query/sources.h"

enum { HEX_SIZE = 2 * SHA256_DIGEST_SIZE + 1 };

struct request {
	const char *from; /* NULL: the findings only */
	struct fs_sources sources;
	struct fs_places perf_maps, jit_dumps, allocation_logs;
	int64_t tables, differing;
};

/* One of the two that are compared: tables of a schema of a database, and what they hold. */
struct side {
	sqlite3 *db;
	const char *schema;
	int64_t trace;
	sqlite3_stmt *row; /* NULL: no more rows */
	int64_t rows;
	struct sha256_ctx hash;
};

struct comparison {
	struct fs_options *options;
	struct request *request;
	sqlite3_stmt *insert;
	sqlite3 *again;
	const char *again_schema;
	int64_t again_trace;
};

enum {
	KEY_FROM = 0x200,
	KEY_PERF_MAP,
	KEY_JITDUMP,
	KEY_ALLOC_LOG,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;
	struct request *request = options->own;

	switch (key) {
	case KEY_FROM:
		if (!strcmp(arg, "-"))
			return fs_options_fail(state, "--from -: give a file, which can be read "
						      "twice");
		request->from = arg;
		return 0;
	case KEY_PERF_MAP:
		return fs_places_add(&request->perf_maps, arg, state);
	case KEY_JITDUMP:
		return fs_places_add(&request->jit_dumps, arg, state);
	case KEY_ALLOC_LOG:
		return fs_places_add(&request->allocation_logs, arg, state);
	case 'a':
		options->all = true;
		return 0;
	case ARGP_KEY_END:
		if (!request->from &&
		    (fs_sources_any(&request->sources) || request->perf_maps.count ||
		     request->jit_dumps.count || request->allocation_logs.count))
			return fs_options_fail(state, "names are read again only with --from "
						      "PERF_DATA");
		return 0;
	default:
		return fs_sources_parse(&request->sources, key, arg, state);
	}
}

static const struct argp_option own_options[] = {
	{ "from", KEY_FROM, "PERF_DATA", 0,
	  "Import this file, from which the trace was made, again and compare all tables", 1 },
	FS_SOURCES_OPTIONS,
	{ "perf-map", KEY_PERF_MAP, "FILE", 0, "As for fsingest; may be repeated", 1 },
	{ "jitdump", KEY_JITDUMP, "FILE", 0, "As for fsingest; may be repeated", 1 },
	{ "alloc-log", KEY_ALLOC_LOG, "FILE", 0, "As for fsingest; may be repeated", 1 },
	{ "all", 'a', NULL, 0, "Also equal parameters and empty tables, which table and md omit",
	  1 },
	{ 0 },
};

static const struct argp argp = { .options = own_options, .parser = parse };

static const struct fs_query_column columns[] = {
	FS_COLUMN("kind", "KIND", TEXT, FS_SHOW_DEFAULT, NULL,
		  "program, input, pass, parameter, table"),
	FS_COLUMN("item", "ITEM", TEXT, FS_SHOW_DEFAULT, NULL, "What is compared"),
	FS_COLUMN("stored", "STORED", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL,
		  "In the database: the value, of a table its rows; empty: not recorded"),
	FS_COLUMN("again", "AGAIN", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL,
		  "The same, now; empty: not made again"),
	FS_COLUMN("result", "RESULT", TEXT, FS_SHOW_DEFAULT, NULL,
		  "equal, differs; empty: nothing to compare"),
	FS_COLUMN("difference", "FIRST DIFFERENCE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WRAP, NULL,
		  "Of a table: the first row and column that differ"),
	FS_COLUMN("stored_sha256", "STORED SHA256", TEXT, 0, NULL,
		  "Of a table, as fsquery digest --trace prints it"),
	FS_COLUMN("again_sha256", "AGAIN SHA256", TEXT, 0, NULL, "The same, now"),
};

/* What a row that stands at a column holds, in short. The caller frees it. */
static char *describe_value(sqlite3_stmt *row, int column)
{
	struct fs_cell cell = fs_statement_cell(row, column);
	char *text = NULL;
	int length = -1;

	if (cell.kind == FS_CELL_NULL)
		return strdup("NULL");
	if (sqlite3_column_type(row, column) == SQLITE_BLOB)
		length = asprintf(&text, "%zu bytes", cell.length);
	else
		return fs_cell_text(&cell, FS_TYPE_VALUE, false);
	return length < 0 ? NULL : text;
}

static bool same_cell(const struct fs_cell *a, const struct fs_cell *b)
{
	char reals[2][32];

	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case FS_CELL_NULL:
		return true;
	case FS_CELL_INTEGER:
		return a->integer == b->integer;
	case FS_CELL_REAL: /* to the digits that are hashed */
		snprintf(reals[0], sizeof(reals[0]), "%.15g", a->real);
		snprintf(reals[1], sizeof(reals[1]), "%.15g", b->real);
		return !strcmp(reals[0], reals[1]);
	default:
		return a->length == b->length && !memcmp(a->text, b->text, a->length);
	}
}

/* Say how two rows differ, in a sentence that the caller frees; NULL: they do not. */
static int compare_rows(const struct side *stored, const struct side *again, char **ret_difference,
			struct fs_error *error)
{
	int columns_of_row = sqlite3_column_count(stored->row);

	for (int i = 0; i < columns_of_row; i++) {
		struct fs_cell a = fs_statement_cell(stored->row, i);
		struct fs_cell b = fs_statement_cell(again->row, i);
		char *values[2];
		int length = -1;

		if (same_cell(&a, &b))
			continue;
		values[0] = describe_value(stored->row, i);
		values[1] = describe_value(again->row, i);
		if (values[0] && values[1])
			length =
				asprintf(ret_difference, "row %lld: %s is %.100s, again %.100s",
					 (long long)stored->rows,
					 sqlite3_column_name(stored->row, i), values[0], values[1]);
		free(values[0]);
		free(values[1]);
		return length < 0 ? fs_fail(error, FS_NOMEM, "out of memory") : 0;
	}
	return 0;
}

/* The next row; at the end the statement is closed. */
static int step_side(struct side *side, struct fs_error *error)
{
	int step;

	if (!side->row)
		return 0;
	step = sqlite3_step(side->row);
	if (step == SQLITE_ROW) {
		fs_dump_hash(&side->hash, side->row);
		side->rows++;
		return 0;
	}
	if (step != SQLITE_DONE)
		return fs_sql_fail(side->db, NULL, error);
	sqlite3_finalize(side->row);
	side->row = NULL;
	return 0;
}

/* Both sides to their ends; the first difference of their rows. */
static int compare_sides(struct side *stored, struct side *again, char **ret_difference,
			 struct fs_error *error)
{
	for (;;) {
		FS_TRY(step_side(stored, error));
		FS_TRY(step_side(again, error));
		if (!stored->row && !again->row)
			return 0;
		if (*ret_difference)
			continue;
		if (stored->row && again->row)
			FS_TRY(compare_rows(stored, again, ret_difference, error));
		else if (asprintf(ret_difference, "row %lld is only in the %s",
				  (long long)(stored->row ? stored : again)->rows,
				  stored->row ? "database" : "result now") < 0)
			return fs_fail(error, FS_NOMEM, "out of memory");
	}
}

static int open_side(struct side *side, const struct fs_table_definition *table,
		     struct fs_error *error)
{
	char *sql = fs_dump_sql(side->schema, table);
	int code = sql ? sqlite3_prepare_v2(side->db, sql, -1, &side->row, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (code)
		return fs_sql_fail(sql ? side->db : NULL, NULL, error);
	sqlite3_bind_int64(side->row, 1, side->trace);
	sha256_init(&side->hash);
	return 0;
}

/* The sum and the number of rows, as text. */
static void close_side(struct side *side, char *hex, char *rows, size_t rows_size)
{
	uint8_t bytes[SHA256_DIGEST_SIZE];

	sqlite3_finalize(side->row);
	sha256_digest(&side->hash, sizeof(bytes), bytes);
	fs_hex(hex, bytes, sizeof(bytes));
	snprintf(rows, rows_size, "%lld row%s", (long long)side->rows, side->rows == 1 ? "" : "s");
}

static int add_row(const struct comparison *comparison, const char *const texts[8],
		   struct fs_error *error)
{
	struct fs_cell cells[8];

	for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++)
		cells[i] = fs_text_cell(texts[i]);
	return fs_rows_add(comparison->options->query, comparison->insert, cells, error);
}

static int compare_table(struct comparison *comparison, const struct fs_table_definition *table,
			 struct fs_error *error)
{
	struct fs_options *options = comparison->options;
	struct side stored = { .db = options->query->db,
			       .schema = "main",
			       .trace = options->trace_id };
	struct side again = { .db = comparison->again,
			      .schema = comparison->again_schema,
			      .trace = comparison->again_trace };
	char sums[2][HEX_SIZE];
	char rows[2][32];
	char *difference = NULL;
	int code = open_side(&stored, table, error);

	if (!code)
		code = open_side(&again, table, error);
	if (!code)
		code = compare_sides(&stored, &again, &difference, error);
	close_side(&stored, sums[0], rows[0], sizeof(rows[0]));
	close_side(&again, sums[1], rows[1], sizeof(rows[1]));
	if (!code)
		code = add_row(comparison,
			       (const char *const[]){ "table", table->name, rows[0], rows[1],
						      difference ? "differs" : "equal", difference,
						      sums[0], sums[1] },
			       error);
	comparison->request->tables++;
	comparison->request->differing += difference != NULL;
	free(difference);
	return code;
}

static int compare_tables(struct comparison *comparison, struct fs_error *error)
{
	bool findings_only = !comparison->request->from;

	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		if (fs_table_is_of_traces(table) &&
		    (!findings_only || table->kind == FS_TABLE_FINDING))
			FS_TRY(compare_table(comparison, table, error));
	}
	return 0;
}

/* The first column of a statement's first row, copied; NULL for none. */
static int read_text(sqlite3 *db, const char *sql, int64_t trace, char **ret_text,
		     struct fs_error *error)
{
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &row, NULL);

	*ret_text = NULL;
	if (code)
		return fs_sql_fail(db, NULL, error);
	sqlite3_bind_int64(row, 1, trace);
	code = sqlite3_step(row);
	if (code == SQLITE_ROW && sqlite3_column_type(row, 0) != SQLITE_NULL)
		*ret_text = strdup(fs_database_text(row, 0));
	code = code == SQLITE_ROW || code == SQLITE_DONE ? 0 : fs_sql_fail(db, NULL, error);
	sqlite3_finalize(row);
	return code;
}

/* A row of two values; NULL stands for one that is not known. */
static int add_values(const struct comparison *comparison, const char *kind, const char *item,
		      const char *stored, const char *again, struct fs_error *error)
{
	const char *result = !stored || !again ? NULL : strcmp(stored, again) ? "differs" : "equal";

	return add_row(comparison,
		       (const char *const[]){ kind, item, stored, again, result, NULL, NULL, NULL },
		       error);
}

/* A column of the trace's row, of the database and of the new import, if there is one. */
static int add_trace_column(const struct comparison *comparison, const char *kind, const char *item,
			    const char *sql, const char *now, struct fs_error *error)
{
	const struct fs_options *options = comparison->options;
	char *stored = NULL;
	char *again = NULL;
	int code = read_text(options->query->db, sql, options->trace_id, &stored, error);

	if (!code && comparison->request->from && !now)
		code = read_text(comparison->again, sql, comparison->again_trace, &again, error);
	if (!code)
		code = add_values(comparison, kind, item, stored, now ? now : again, error);
	free(stored);
	free(again);
	return code;
}

static int add_programs(const struct comparison *comparison, struct fs_error *error)
{
	char schema[16];

	snprintf(schema, sizeof(schema), "%d", FS_SCHEMA_VERSION);
	FS_TRY(add_trace_column(comparison, "program", "fsight version",
				"SELECT tool_version FROM trace WHERE id = ?1", FS_VERSION, error));
	FS_TRY(add_trace_column(comparison, "program", "schema version",
				"SELECT user_version FROM pragma_user_version WHERE ?1", schema,
				error));
	FS_TRY(add_values(comparison, "program", "SQLite version", NULL, sqlite3_libversion(),
			  error));
	FS_TRY(add_trace_column(comparison, "input", "sha256",
				"SELECT sha256 FROM trace WHERE id = ?1", NULL, error));
	return add_trace_column(comparison, "input", "options",
				"SELECT options FROM trace WHERE id = ?1", NULL, error);
}

static bool has_pass_version(const struct fs_table_definition *table)
{
	for (const struct fs_column *column = table->columns; column->name; column++) {
		if (!strcmp(column->name, "pass_version"))
			return true;
	}
	return false;
}

static int add_passes(const struct comparison *comparison, struct fs_error *error)
{
	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		const struct fs_options *options = comparison->options;
		char sql[2][256];
		char *versions[2] = { NULL, NULL };
		int code;

		if (!has_pass_version(table))
			continue;
		for (int i = 0; i < 2; i++)
			snprintf(sql[i], sizeof(sql[i]),
				 "SELECT group_concat(DISTINCT pass_version) FROM %s.%s WHERE "
				 "trace_id = ?1",
				 i ? comparison->again_schema : "main", table->name);
		code = read_text(options->query->db, sql[0], options->trace_id, &versions[0],
				 error);
		if (!code)
			code = read_text(comparison->again, sql[1], comparison->again_trace,
					 &versions[1], error);
		if (!code)
			code = add_values(comparison, "pass", table->name, versions[0], versions[1],
					  error);
		free(versions[0]);
		free(versions[1]);
		FS_TRY(code);
	}
	return 0;
}

/* A parameter's value now, by name. */
static int add_parameter(const struct comparison *comparison, const char *name, const char *stored,
			 struct fs_error *error)
{
	char sql[128];
	sqlite3_stmt *row = NULL;
	int code;

	snprintf(sql, sizeof(sql), "SELECT value FROM %s.parameter WHERE trace_id = ? AND name = ?",
		 comparison->again_schema);
	if (sqlite3_prepare_v2(comparison->again, sql, -1, &row, NULL) != SQLITE_OK)
		return fs_sql_fail(comparison->again, NULL, error);
	sqlite3_bind_int64(row, 1, comparison->again_trace);
	sqlite3_bind_text(row, 2, name, -1, SQLITE_STATIC);
	code = sqlite3_step(row);
	if (code == SQLITE_ROW || code == SQLITE_DONE)
		code = add_values(comparison, "parameter", name, stored,
				  code == SQLITE_ROW ? fs_database_text(row, 0) : NULL, error);
	else
		code = fs_sql_fail(comparison->again, NULL, error);
	sqlite3_finalize(row);
	return code;
}

static int add_parameters(const struct comparison *comparison, struct fs_error *error)
{
	const struct fs_options *options = comparison->options;
	sqlite3_stmt *row = NULL;
	int step = SQLITE_DONE;
	int code = fs_database_prepare(options->query,
				       "SELECT name, value FROM main.parameter WHERE trace_id = ? "
				       "ORDER BY name",
				       &row, error);

	if (code)
		return code;
	sqlite3_bind_int64(row, 1, options->trace_id);
	while (!code && (step = sqlite3_step(row)) == SQLITE_ROW)
		code = add_parameter(comparison, fs_database_text(row, 0), fs_database_text(row, 1),
				     error);
	if (!code && step != SQLITE_DONE)
		code = fs_database_fail(options->query, error);
	sqlite3_finalize(row);
	return code;
}

static int compare_all(struct comparison *comparison, struct fs_error *error)
{
	int code = fs_rows_create(comparison->options, &comparison->insert, error);

	if (!code)
		code = add_programs(comparison, error);
	if (!code)
		code = add_passes(comparison, error);
	if (!code)
		code = add_parameters(comparison, error);
	if (!code)
		code = compare_tables(comparison, error);
	sqlite3_finalize(comparison->insert);
	return code;
}

/* Of the database's own tables, in temporary ones. */
static int make_findings(struct fs_options *options, struct fs_error *error)
{
	struct comparison comparison = { .options = options,
					 .request = options->own,
					 .again = options->query->db,
					 .again_schema = "temp",
					 .again_trace = options->trace_id };

	FS_TRY(fs_schema_shadow_findings(options->query->db, error));
	FS_TRY(fs_analyze(options->query->db, options->trace_id, error));
	return compare_all(&comparison, error);
}

/* Names that the new import lacks make many tables differ; say so once. */
static int note_missing_names(struct comparison *comparison, struct fs_error *error)
{
	static const char sql[] = "SELECT count(*) FROM dso WHERE trace_id = ?1 AND symbols IN "
				  "('verified', 'unverified')";
	struct fs_options *options = comparison->options;
	char *stored = NULL;
	char *again = NULL;
	int code = read_text(options->query->db, sql, options->trace_id, &stored, error);

	if (!code)
		code = read_text(comparison->again, sql, comparison->again_trace, &again, error);
	if (!code && stored && again && atoll(again) < atoll(stored))
		code = fs_options_note(options, error,
				       "%s binaries gave names to the trace, %s do now: functions, "
				       "types, fields and what rests on them differ for that "
				       "reason; say where the binaries are with --symbols",
				       stored, again);
	free(stored);
	free(again);
	return code;
}

static int compare_import(void *context, sqlite3 *db, int64_t trace, struct fs_error *error)
{
	struct comparison *comparison = context;

	comparison->again = db;
	comparison->again_trace = trace;
	FS_TRY(compare_all(comparison, error));
	return note_missing_names(comparison, error);
}

/* The trace that the file was imported as: --trace, which must be it, or whichever is. */
static int find_trace(struct fs_options *options, struct fs_error *error)
{
	struct fs_query *query = options->query;
	const char *from = ((struct request *)options->own)->from;
	char hex[HEX_SIZE];
	char sql[160];
	char number[32];
	int64_t id;

	FS_TRY(query->ingest->hash(from, hex, error));
	if (query->trace)
		FS_TRY(fs_trace_choose(options, error));
	snprintf(sql, sizeof(sql),
		 "SELECT max(id) FROM trace WHERE sha256 = '%s' AND (?1 = 0 OR id = ?1)", hex);
	FS_TRY(fs_database_integer(query, sql, query->trace ? options->trace_id : 0, 0, &id,
				   error));
	if (!id)
		return fs_fail(error, FS_REFUSED,
			       "%s: its SHA-256 is %s, which is not that of %s; `fsquery traces "
			       "--columns id,name,sha256` shows which file is needed",
			       from, hex, query->trace ? "the trace" : "any trace of the case");
	if (query->trace)
		return 0;
	snprintf(number, sizeof(number), "%lld", (long long)id);
	query->trace = number;
	FS_TRY(fs_trace_choose(options, error));
	query->trace = NULL;
	return 0;
}

static int import_again(struct fs_options *options, struct fs_error *error)
{
	struct request *request = options->own;
	struct comparison comparison = { .options = options,
					 .request = request,
					 .again_schema = "main" };
	struct fs_import import = {
		.path = request->from,
		.names = request->sources.names,
		.perf_maps = request->perf_maps.paths,
		.perf_map_count = request->perf_maps.count,
		.jit_dumps = request->jit_dumps.paths,
		.jit_dump_count = request->jit_dumps.count,
		.allocation_logs = request->allocation_logs.paths,
		.allocation_log_count = request->allocation_logs.count,
	};
	int64_t value;

	FS_TRY(fs_ingest_need(options->query, error));
	FS_TRY(find_trace(options, error));
	FS_TRY(fs_database_integer(options->query,
				   "SELECT json_extract(options, '$.no_samples') FROM trace WHERE "
				   "id = ? AND json_valid(options)",
				   options->trace_id, 0, &value, error));
	import.no_samples = value;
	FS_TRY(fs_database_integer(options->query,
				   "SELECT json_extract(options, '$.unverified_symbols') FROM "
				   "trace WHERE id = ? AND json_valid(options)",
				   options->trace_id, 0, &value, error));
	import.names.unverified |= value;
	return options->query->ingest->import(&import, compare_import, &comparison, error);
}

static int make_again(struct fs_options *options, struct fs_error *error)
{
	const struct request *request = options->own;

	if (request->from)
		return import_again(options, error);
	FS_TRY(fs_trace_choose(options, error));
	return make_findings(options, error);
}

static const struct fs_listing listing = {
	.command = "reproduce",
	.about = "Make the findings of a trace again and compare them with those in the database, "
		 "table by table. With --from, import the trace's file again and compare all "
		 "tables. "
		 "The database is only read. Exit status 10: something differs.",
	.need = FS_NEED_NONE, /* --from tells the trace */
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "temp.rows WHERE 1",
	.worth = "result IS NOT 'equal' OR NOT (kind = 'parameter' OR stored = '0 rows')",
	.limit = FS_NO_LIMIT,
	.nouns = "rows",
	.argp = &argp,
	.before = make_again,
};

FS_COMMAND(reproduce)
{
	struct request request = { 0 };

	FS_TRY(fs_listing_command(&listing, &request, query, argc, argv, error));
	if (request.differing)
		return fs_fail(error, FS_DIFFERENT, "%lld of %lld tables differ",
			       (long long)request.differing, (long long)request.tables);
	fs_query_say(query, "all %lld tables are equal", (long long)request.tables);
	return 0;
}
