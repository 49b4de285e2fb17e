/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols: give names to traces that are in the case, from binaries that came later, and make the
 * findings again. What is said then is what ingest with the same binaries says.
 */
#include "analyze/analyze.h"
#include "query/database.h"
#include "query/listing.h"
#include "query/sources.h"
#include "schema/schema.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const struct fs_options *options = state->input;
	const struct fs_sources *sources = options->own;

	switch (key) {
	case ARGP_KEY_ARG:
		return fs_options_fail(state, "%s: one argument too many", arg);
	case ARGP_KEY_END:
		if (!fs_sources_any(sources))
			return fs_options_fail(state, "say where the binaries are: --symbols DIR");
		return 0;
	default:
		return fs_sources_parse(options->own, key, arg, state);
	}
}

static const struct argp_option own_options[] = { FS_SOURCES_OPTIONS, { 0 } };

static const struct argp argp = {
	.options = own_options,
	.parser = parse,
	.doc = "Name the code and data of all traces of the case, or of --trace, from binaries, "
	       "and "
	       "make the findings again. Names from binaries that are not found now stay.",
};

static int name_one(struct fs_query *query, const struct fs_sources *sources, int64_t trace,
		    struct fs_error *error)
{
	FS_TRY(query->ingest->name(query->db, trace, &sources->names, error));
	return fs_analyze(query->db, trace, error);
}

static int name_all(struct fs_query *query, const struct fs_sources *sources,
		    struct fs_error *error)
{
	int64_t id = 0;

	for (;;) {
		FS_TRY(fs_database_integer(query, "SELECT min(id) FROM trace WHERE id > ?", id, 0,
					   &id, error));
		if (!id)
			return 0;
		FS_TRY(name_one(query, sources, id, error));
	}
}

/* Say which share of the samples with code has a function now. */
static int report(struct fs_query *query, int64_t trace, struct fs_error *error)
{
	static const char sql[] =
		"SELECT coalesce(sum(samples), 0), coalesce(sum(iif(function_id IS NULL, 0, "
		"samples)), 0), count(DISTINCT dso_id) FILTER (WHERE function_id IS NOT NULL) FROM "
		"code WHERE dso_id IS NOT NULL AND (?1 = 0 OR trace_id = ?1)";
	sqlite3_stmt *statement;

	FS_TRY(fs_database_prepare(query, sql, &statement, error));
	sqlite3_bind_int64(statement, 1, trace);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		double all = sqlite3_column_double(statement, 0);
		double named = sqlite3_column_double(statement, 1);

		fs_query_say(query,
			     "%s: %.1f %% of the samples with code have a function, from %d "
			     "binaries; `fsquery health` tells those without",
			     query->path, all > 0 ? 100 * named / all : 0.0,
			     sqlite3_column_int(statement, 2));
	}
	sqlite3_finalize(statement);
	return 0;
}

/* All or nothing. */
static int name(struct fs_options *options, struct fs_error *error)
{
	struct fs_query *query = options->query;
	const struct fs_sources *sources = options->own;
	int code;

	if (query->trace)
		FS_TRY(fs_trace_choose(options, error));
	FS_TRY(fs_sql_run(query->db, "BEGIN IMMEDIATE", error));
	code = query->trace ? name_one(query, sources, options->trace_id, error)
			    : name_all(query, sources, error);
	if (!code)
		code = fs_sql_run(query->db, "COMMIT", error);
	if (code)
		sqlite3_exec(query->db, "ROLLBACK", NULL, NULL, NULL);
	return code ? code : report(query, query->trace ? options->trace_id : 0, error);
}

FS_COMMAND(symbols)
{
	struct fs_sources sources = { 0 };
	struct fs_options options = { .own = &sources };
	int code;

	code = fs_options_parse(&options, query, &argp, argc, argv, error);
	if (!code)
		code = fs_ingest_need(query, error);
	if (!code)
		code = fs_database_open_writable(query, error);
	if (!code)
		code = name(&options, error);
	fs_options_free(&options);
	return code;
}
