/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sql: one SELECT of the user's, under an authorizer that lets it read and nothing else, and
 * within limits of time and rows. The views it may use are known to be ours.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/vector.h"
#include "query/database.h"
#include "query/listing.h"

enum {
	ROW_LIMIT = 100000,
	TIME_LIMIT = 60, /* seconds */
	STEPS = 20000,	 /* virtual machine steps between looks at the clock */
	FILE_LIMIT = 1000000,
};

struct request {
	char *sql;
	const char *file;
	int64_t seconds;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;
	struct request *request = options->own;

	switch (key) {
	case 'f':
		request->file = arg;
		return 0;
	case 'T':
		if (!fs_parse_count(arg, &request->seconds))
			return fs_options_fail(state, "--time-limit %s: not a count of seconds",
					       arg);
		return 0;
	case ARGP_KEY_ARG:
		if (request->sql)
			return fs_options_fail(state,
					       "one statement only; quote it as one argument");
		request->sql = strdup(arg);
		return request->sql ? 0 : ENOMEM;
	case ARGP_KEY_END:
		if (!request->sql == !request->file)
			return fs_options_fail(state, "give a SELECT or -f FILE");
		if (options->columns || options->sort)
			return fs_options_fail(state, "--columns and --sort: say it in the SELECT");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option own_options[] = {
	{ "file", 'f', "FILE", 0, "Read the statement from FILE; - is standard input", 1 },
	{ "time-limit", 'T', "SECONDS", 0, "Stop after so long; 0: never [60]", 1 },
	{ 0 },
};

static const struct argp argp = {
	.options = own_options,
	.parser = parse,
	.args_doc = "'SELECT ...'\n-f FILE",
};

static const struct fs_listing listing = {
	.command = "sql",
	.about = "Run one SELECT, read-only, within limits of time and rows (--limit, 100000). "
		 "`fsquery views' and `fsquery schema' say what there is; :trace stands for the "
		 "trace "
		 "of --trace. Common options: --format and --limit.",
	.need = FS_NEED_ANY,
	.argp = &argp,
	.nouns = "rows",
};

static int read_file(struct request *request, struct fs_error *error)
{
	bool standard = !strcmp(request->file, "-");
	FILE *in = standard ? stdin : fopen(request->file, "re");
	size_t used = 0;
	int code = 0;

	if (!in)
		return fs_fail(error, FS_USAGE, "%s: %s", request->file, strerror(errno));
	request->sql = malloc(FILE_LIMIT + 1);
	if (request->sql)
		used = fread(request->sql, 1, FILE_LIMIT + 1, in);
	if (!request->sql)
		code = fs_fail(error, FS_NOMEM, "out of memory");
	else if (ferror(in) || used > FILE_LIMIT)
		code = fs_fail(error, FS_USAGE, "%s: unreadable, or more than %d bytes",
			       request->file, FILE_LIMIT);
	else
		request->sql[used] = '\0';
	if (!standard)
		fclose(in);
	return code;
}

/* SQLite asks before it compiles each step of a statement. */
static int authorize(void *unused, int action, const char *a, const char *b, const char *database,
		     const char *trigger)
{
	(void)a;
	(void)unused;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return b && !sqlite3_stricmp(b, "load_extension") ? SQLITE_DENY : SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

static int past_deadline(void *deadline)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec >= *(const time_t *)deadline;
}

/* The statement, and the assurance that nothing but blanks and comments follows it. */
static int prepare(struct fs_query *query, const char *sql, sqlite3_stmt **ret_statement,
		   struct fs_error *error)
{
	const char *rest = sql;
	sqlite3_stmt *next = NULL;

	while (!*ret_statement && *rest) {
		if (sqlite3_prepare_v2(query->db, rest, -1, ret_statement, &rest) != SQLITE_OK)
			return fs_database_fail(query, error);
	}
	while (!next && *rest) {
		if (sqlite3_prepare_v2(query->db, rest, -1, &next, &rest) != SQLITE_OK)
			return fs_database_fail(query, error);
	}
	sqlite3_finalize(next);
	if (next)
		return fs_fail(error, FS_USAGE, "one statement only");
	if (!*ret_statement || !sqlite3_column_count(*ret_statement) ||
	    !sqlite3_stmt_readonly(*ret_statement))
		return fs_fail(error, FS_USAGE, "not a statement that gives rows");
	return 0;
}

static int bind_trace(struct fs_options *options, sqlite3_stmt *statement, struct fs_error *error)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
		const char *name = sqlite3_bind_parameter_name(statement, i);

		if (!name || strcmp(name, ":trace") != 0)
			return fs_fail(error, FS_USAGE,
				       "parameter %s has no value; only :trace has",
				       name ? name : "?");
		sqlite3_set_authorizer(options->query->db, NULL, NULL);
		FS_TRY(fs_trace_choose(options, error));
		sqlite3_bind_int64(statement, i, options->trace_id);
	}
	return 0;
}

struct columns {
	struct fs_render_column *columns;
	const struct fs_render_column **pointers;
	char **names;
	int count;
};

static void free_columns(struct columns *columns)
{
	for (int i = 0; columns->names && i < columns->count; i++)
		free(columns->names[i]);
	free(columns->columns);
	free(columns->pointers);
	free(columns->names);
}

/* A name that stands for two columns gets a number, or JSON would lose one. */
static char *unique_name(sqlite3_stmt *statement, int column)
{
	const char *name = sqlite3_column_name(statement, column);
	struct fs_cell cell = fs_text_cell(name ? name : "");
	int before = 0;
	char *shown = fs_cell_text(&cell, FS_TYPE_TEXT, false);
	char *numbered = NULL;

	for (int i = 0; name && i < column; i++)
		before += !strcmp(sqlite3_column_name(statement, i), name);
	if (!before || !shown)
		return shown;
	if (asprintf(&numbered, "%s:%d", shown, before) < 0)
		numbered = NULL;
	free(shown);
	return numbered;
}

static int name_columns(sqlite3_stmt *statement, struct columns *columns, struct fs_error *error)
{
	columns->count = sqlite3_column_count(statement);
	columns->columns = calloc((size_t)columns->count, sizeof(*columns->columns));
	columns->pointers = calloc((size_t)columns->count, sizeof(*columns->pointers));
	columns->names = calloc((size_t)columns->count, sizeof(*columns->names));
	if (!columns->columns || !columns->pointers || !columns->names)
		return fs_fail(error, FS_NOMEM, "out of memory");
	for (int i = 0; i < columns->count; i++) {
		columns->names[i] = unique_name(statement, i);
		if (!columns->names[i])
			return fs_fail(error, FS_NOMEM, "out of memory");
		columns->columns[i].name = columns->names[i];
		columns->columns[i].type = FS_TYPE_VALUE;
		columns->columns[i].flags = FS_SHOW_TRUNCATE;
		columns->pointers[i] = &columns->columns[i];
	}
	return 0;
}

static int run(struct fs_options *options, struct fs_error *error)
{
	struct fs_query *query = options->query;
	const struct request *request = options->own;
	struct columns columns = { 0 };
	sqlite3_stmt *statement = NULL;
	struct timespec now;
	time_t deadline;
	int code;

	clock_gettime(CLOCK_MONOTONIC, &now);
	deadline = now.tv_sec + request->seconds;
	/* at their first use these declare their columns, which the authorizer would forbid */
	sqlite3_exec(query->db, "SELECT 1 FROM json_each('[]'), json_tree('[]')", NULL, NULL, NULL);
	query->users_sql = true;
	sqlite3_set_authorizer(query->db, authorize, NULL);
	if (request->seconds)
		sqlite3_progress_handler(query->db, STEPS, past_deadline, &deadline);
	code = prepare(query, request->sql, &statement, error);
	if (!code)
		code = bind_trace(options, statement, error);
	if (!code)
		code = name_columns(statement, &columns, error);
	if (!code)
		code = fs_listing_render(options, statement, columns.pointers,
					 (size_t)columns.count, error);
	sqlite3_finalize(statement);
	sqlite3_progress_handler(query->db, 0, NULL, NULL);
	free_columns(&columns);
	return code;
}

FS_COMMAND(sql)
{
	struct request request = { .seconds = TIME_LIMIT };
	struct fs_options options = { .listing = &listing, .own = &request };
	int code = fs_options_parse(&options, query, &argp, argc, argv, error);

	if (options.limit < 0)
		options.limit = ROW_LIMIT;
	if (!code && request.file)
		code = read_file(&request, error);
	if (!code)
		code = fs_database_open(query, error);
	if (!code)
		code = run(&options, error);
	free(request.sql);
	fs_options_free(&options);
	return code;
}
