/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * analyze: delete the findings of the case's traces, or of one, and make them again.
 */
#include "analyze/analyze.h"
#include "query/database.h"
#include "query/listing.h"
#include "schema/schema.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		return fs_options_fail(state, "%s: one argument too many", arg);
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.parser = parse,
	.doc = "Delete the findings of all traces of the case, or of --trace, and make them again "
	       "from the roll-ups. The raw samples stay as they are.",
};

/* No statement may be open while fs_analyze() registers its functions. */
static int analyze_all(struct fs_query *query, struct fs_error *error)
{
	int64_t id = 0;

	for (;;) {
		FS_TRY(fs_database_integer(query, "SELECT min(id) FROM trace WHERE id > ?", id, 0,
					   &id, error));
		if (!id)
			return 0;
		FS_TRY(fs_analyze(query->db, id, error));
	}
}

/* All or nothing. */
static int analyze(struct fs_options *options, struct fs_error *error)
{
	struct fs_query *query = options->query;
	int code;

	if (query->trace)
		FS_TRY(fs_trace_choose(options, error));
	FS_TRY(fs_sql_run(query->db, "BEGIN IMMEDIATE", error));
	code = query->trace ? fs_analyze(query->db, options->trace_id, error)
			    : analyze_all(query, error);
	if (!code)
		code = fs_sql_run(query->db, "COMMIT", error);
	if (code)
		sqlite3_exec(query->db, "ROLLBACK", NULL, NULL, NULL);
	else
		fs_query_say(query, "%s: findings made again; `fsquery top-lines` shows them",
			     query->path);
	return code;
}

FS_COMMAND(analyze)
{
	struct fs_options options = { 0 };
	int code = fs_options_parse(&options, query, &argp, argc, argv, error);

	if (!code)
		code = fs_database_open_writable(query, error);
	if (!code)
		code = analyze(&options, error);
	fs_options_free(&options);
	return code;
}
