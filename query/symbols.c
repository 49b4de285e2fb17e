/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols: give names to traces that are in the case, from binaries that came later, and make the
 * findings again. What is said then is what ingest with the same binaries says.
 */
#include "analyze/analyze.h"
#include "query/database.h"
#include "query/listing.h"
#include "schema/schema.h"

enum {
	PLACES_MAX = 64,
	KEY_SYMBOLS = 0x200,
	KEY_ARCHIVE,
	KEY_VMLINUX,
	KEY_KALLSYMS,
	KEY_UNVERIFIED
};

/* What the user asked for. */
struct request {
	const char *roots[PLACES_MAX];
	const char *archives[PLACES_MAX];
	struct fs_name_sources sources;
};

static error_t add(struct argp_state *state, const char *option, const char **places, size_t *count,
		   const char *place)
{
	if (*count == PLACES_MAX)
		return fs_options_fail(state, "%s: at most %d times", option, PLACES_MAX);
	places[(*count)++] = place;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;
	struct request *request = options->own;
	struct fs_name_sources *sources = &request->sources;

	switch (key) {
	case KEY_SYMBOLS:
		return add(state, "--symbols", request->roots, &sources->root_count, arg);
	case KEY_ARCHIVE:
		return add(state, "--archive", request->archives, &sources->archive_count, arg);
	case KEY_VMLINUX:
		sources->vmlinux = arg;
		return 0;
	case KEY_KALLSYMS:
		sources->kallsyms = arg;
		return 0;
	case KEY_UNVERIFIED:
		sources->unverified = true;
		return 0;
	case ARGP_KEY_ARG:
		return fs_options_fail(state, "%s: one argument too many", arg);
	case ARGP_KEY_END:
		if (!sources->root_count && !sources->archive_count && !sources->vmlinux &&
		    !sources->kallsyms)
			return fs_options_fail(state, "say where the binaries are: --symbols DIR");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option own_options[] = {
	{ "symbols", KEY_SYMBOLS, "DIR", 0,
	  "Where to look for binaries, as for fsingest; may be repeated", 1 },
	{ "archive", KEY_ARCHIVE, "FILE", 0, "A tarball of binaries, such as perf archive makes",
	  1 },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "The kernel with its names and types", 1 },
	{ "kallsyms", KEY_KALLSYMS, "FILE", 0, "A copy of the recording machine's /proc/kallsyms",
	  1 },
	{ "unverified-symbols", KEY_UNVERIFIED, NULL, 0,
	  "Also use binaries whose build-id is not in the trace", 1 },
	{ 0 },
};

static const struct argp argp = {
	.options = own_options,
	.parser = parse,
	.doc = "Name the code and data of all traces of the case, or of --trace, from binaries, "
	       "and "
	       "make the findings again. Names from binaries that are not found now stay.",
};

static int name_one(struct fs_query *query, const struct request *request, int64_t trace,
		    struct fs_error *error)
{
	FS_TRY(query->name_trace(query->db, trace, &request->sources, error));
	return fs_analyze(query->db, trace, error);
}

static int name_all(struct fs_query *query, const struct request *request, struct fs_error *error)
{
	int64_t id = 0;

	for (;;) {
		FS_TRY(fs_database_integer(query, "SELECT min(id) FROM trace WHERE id > ?", id, 0,
					   &id, error));
		if (!id)
			return 0;
		FS_TRY(name_one(query, request, id, error));
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
	const struct request *request = options->own;
	int code;

	if (query->trace)
		FS_TRY(fs_trace_choose(options, error));
	FS_TRY(fs_sql_run(query->db, "BEGIN IMMEDIATE", error));
	code = query->trace ? name_one(query, request, options->trace_id, error)
			    : name_all(query, request, error);
	if (!code)
		code = fs_sql_run(query->db, "COMMIT", error);
	if (code)
		sqlite3_exec(query->db, "ROLLBACK", NULL, NULL, NULL);
	return code ? code : report(query, query->trace ? options->trace_id : 0, error);
}

FS_COMMAND(symbols)
{
	struct request request = { 0 };
	struct fs_options options = { .own = &request };
	int code;

	request.sources.roots = request.roots;
	request.sources.archives = request.archives;
	code = fs_options_parse(&options, query, &argp, argc, argv, error);
	if (!code && !query->name_trace)
		code = fs_fail(error, FS_INTERNAL, "this program cannot read binaries");
	if (!code)
		code = fs_database_open_writable(query, error);
	if (!code)
		code = name(&options, error);
	fs_options_free(&options);
	return code;
}
