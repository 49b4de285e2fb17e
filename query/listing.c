/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a listing and its options to SQL, and from the rows to the renderer.
 *
 *   SELECT <expressions of the chosen columns> FROM <from> <conditions>
 *   ORDER BY <--sort, else the listing's> LIMIT <limit + 1>
 *
 * One row more than the limit is asked for, so that a cut is noticed and said. Texts of filters
 * are bound; numbers are parsed and printed again; names of columns are looked up in the table.
 */
#include "query/listing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "query/database.h"

enum { COLUMNS_MAX = 64 };

struct chosen {
	const struct fs_query_column *columns[COLUMNS_MAX];
	size_t count;
};

static const struct fs_render_format *format_of(const struct fs_options *options)
{
	return options->format ? options->format : &fs_format_table;
}

bool fs_options_brief(const struct fs_options *options)
{
	return options->listing->worth && !options->all && format_of(options)->for_people;
}

bool fs_options_filtered(const struct fs_options *options)
{
	for (int i = 0; i < FS_FILTER_MAX; i++) {
		if (options->filters[i])
			return true;
	}
	return false;
}

static struct fs_render_options render_options(const struct fs_query *query)
{
	struct fs_render_options result = { .out = query->out };
	bool terminal = isatty(fileno(query->out));
	const char *columns = getenv("COLUMNS");
	const char *no_colour = getenv("NO_COLOR");
	struct winsize size;
	int64_t width;

	result.colour = !strcmp(query->colour, "always") ||
			(!strcmp(query->colour, "auto") && terminal && !(no_colour && *no_colour));
	if (!terminal)
		return result;
	if (columns && fs_parse_count(columns, &width))
		result.width = (size_t)width;
	else if (!ioctl(fileno(query->out), TIOCGWINSZ, &size))
		result.width = size.ws_col;
	return result;
}

static const char *column_name(const void *list, size_t index)
{
	return ((const struct fs_query_column *)list)[index].shown.name;
}

/* "HITM LCL" is also hitm_lcl: without case, a blank may be an underscore. */
static bool same_heading(const char *heading, const char *text)
{
	for (; *heading && *text; heading++, text++) {
		if (tolower((unsigned char)*heading) != tolower((unsigned char)*text) &&
		    !(*heading == ' ' && *text == '_'))
			return false;
	}
	return *heading == *text;
}

/* By name; else by heading, where a column that a table shows by default goes first. */
static const struct fs_query_column *find_column(const struct fs_listing *listing, const char *name)
{
	const struct fs_query_column *found = NULL;

	for (size_t i = 0; i < listing->count; i++) {
		if (!strcasecmp(listing->columns[i].shown.name, name))
			return &listing->columns[i];
	}
	for (size_t i = 0; i < listing->count; i++) {
		const struct fs_render_column *column = &listing->columns[i].shown;

		if (!same_heading(fs_render_heading(column), name))
			continue;
		if (!found || column->flags & ~found->shown.flags & FS_SHOW_DEFAULT)
			found = &listing->columns[i];
	}
	return found;
}

static int unknown_column(const struct fs_listing *listing, const char *name,
			  struct fs_error *error)
{
	const char *near = fs_suggest(name, column_name, listing->columns, listing->count);

	return fs_fail(error, FS_USAGE, "%s has no column %s%s%s; `fsquery %s --help` lists them",
		       listing->command, name, near ? "; did you mean " : "", near ? near : "",
		       listing->command);
}

static int add_column(struct chosen *chosen, const struct fs_query_column *column,
		      struct fs_error *error)
{
	if (chosen->count == COLUMNS_MAX)
		return fs_fail(error, FS_USAGE, "more than %d columns", COLUMNS_MAX);
	chosen->columns[chosen->count++] = column;
	return 0;
}

/* People's formats: the default columns, or all; programs': all but summaries. */
static int add_default_columns(const struct fs_options *options, bool all, struct chosen *chosen,
			       struct fs_error *error)
{
	bool for_people = format_of(options)->for_people;
	size_t width = render_options(options->query).width;
	bool narrow = width && width < FS_WIDE;

	for (size_t i = 0; i < options->listing->count; i++) {
		const struct fs_query_column *column = &options->listing->columns[i];
		unsigned int flags = column->shown.flags;

		if (for_people && !all && flags & FS_SHOW_WIDE && narrow)
			continue;
		if (for_people && !all ? flags & FS_SHOW_DEFAULT : !(flags & FS_SHOW_SUMMARY))
			FS_TRY(add_column(chosen, column, error));
	}
	return 0;
}

/* A summary stands for the columns of its group where a program reads. */
static int add_named_column(const struct fs_options *options, const char *name,
			    struct chosen *chosen, struct fs_error *error)
{
	const struct fs_listing *listing = options->listing;
	const struct fs_query_column *column = find_column(listing, name);
	bool any = false;

	if (!column)
		return unknown_column(listing, name, error);
	if (format_of(options)->for_people || !(column->shown.flags & FS_SHOW_SUMMARY))
		return add_column(chosen, column, error);
	for (size_t i = 0; i < listing->count; i++) {
		const char *group = listing->columns[i].shown.group;

		if (!group || strcmp(group, column->shown.name) != 0)
			continue;
		FS_TRY(add_column(chosen, &listing->columns[i], error));
		any = true;
	}
	return any ? 0 : add_column(chosen, column, error);
}

static int choose_columns(const struct fs_options *options, struct chosen *chosen,
			  struct fs_error *error)
{
	char *names;
	char *rest;
	int code = 0;

	if (!options->columns || !strcmp(options->columns, "all"))
		return add_default_columns(options, options->columns, chosen, error);
	names = strdup(options->columns);
	if (!names)
		return fs_fail(error, FS_NOMEM, "out of memory");
	for (char *name = strtok_r(names, ",", &rest); name && !code;
	     name = strtok_r(NULL, ",", &rest))
		code = add_named_column(options, name, chosen, error);
	free(names);
	if (!code && !chosen->count)
		return fs_fail(error, FS_USAGE, "--columns names no column");
	return code;
}

static const char *expression_of(const struct fs_query_column *column)
{
	return column->expression ? column->expression : column->shown.name;
}

static const char *shown_expression(const struct fs_options *options,
				    const struct fs_query_column *column)
{
	return column->people && format_of(options)->for_people ? column->people
								: expression_of(column);
}

/* "17,20-25" on an expression: (e BETWEEN 17 AND 17 OR e BETWEEN 20 AND 25) */
static int append_ranges(sqlite3_str *sql, const char *expression, const char *list,
			 const char *option, struct fs_error *error)
{
	const char *next = list;
	const char *separator = "(";

	while (*next) {
		char *end;
		long long first = strtoll(next, &end, 10);
		long long last = first;
		bool ok = end != next;

		if (ok && *end == '-') {
			next = end + 1;
			last = strtoll(next, &end, 10);
			ok = end != next;
		}
		if (!ok || (*end && *end != ',') || (*end == ',' && !end[1]))
			return fs_fail(error, FS_USAGE,
				       "--%s %s: give numbers and ranges such as 17,20-25", option,
				       list);
		sqlite3_str_appendf(sql, "%s%s BETWEEN %lld AND %lld", separator, expression, first,
				    last);
		separator = " OR ";
		next = *end ? end + 1 : end;
	}
	if (next == list)
		return fs_fail(error, FS_USAGE, "--%s: empty list", option);
	sqlite3_str_appendall(sql, ")");
	return 0;
}

static int append_condition(sqlite3_str *sql, enum fs_filter filter, const char *expression,
			    const char *value, struct fs_error *error)
{
	const char *name = fs_filter_name(filter);

	switch (filter) {
	case FS_FILTER_COMM:
	case FS_FILTER_SYM:
		sqlite3_str_appendf(sql, "(%s = :%s OR %s GLOB :%s)", expression, name, expression,
				    name);
		return 0;
	case FS_FILTER_DSO:
		sqlite3_str_appendf(sql, "(%s = :dso OR %s GLOB :dso OR %s GLOB '*/' || :dso)",
				    expression, expression, expression);
		return 0;
	case FS_FILTER_USER:
		sqlite3_str_appendf(sql, "NOT (%s)", expression);
		return 0;
	case FS_FILTER_KERNEL:
		sqlite3_str_appendf(sql, "(%s)", expression);
		return 0;
	case FS_FILTER_MIN_SAMPLES:
		sqlite3_str_appendf(sql, "%s >= %s", expression, value);
		return 0;
	default:
		return append_ranges(sql, expression, value, name, error);
	}
}

static int append_filter(sqlite3_str *sql, const struct fs_options *options, enum fs_filter filter,
			 struct fs_error *error)
{
	const char *const *expressions = options->listing->filters[filter];
	const char *value = options->filters[filter];

	if (!value)
		return 0;
	sqlite3_str_appendall(sql, " AND (");
	FS_TRY(append_condition(sql, filter, expressions[0], value, error));
	if (expressions[1]) {
		sqlite3_str_appendall(sql, " OR ");
		FS_TRY(append_condition(sql, filter, expressions[1], value, error));
	}
	sqlite3_str_appendall(sql, ")");
	return 0;
}

int fs_listing_conditions(const struct fs_options *options, sqlite3_str *sql,
			  struct fs_error *error)
{
	for (int i = 0; i < FS_FILTER_MIN_SAMPLES; i++)
		FS_TRY(append_filter(sql, options, (enum fs_filter)i, error));
	return 0;
}

static int append_from(sqlite3_str *sql, const struct fs_options *options, struct fs_error *error)
{
	static const char mark[] = "{filters}";
	const char *from = options->listing->from;
	const char *inner = strstr(from, mark);
	const char *rest = inner ? inner + strlen(mark) : from + strlen(from);

	sqlite3_str_append(sql, from, (int)((inner ? inner : rest) - from));
	if (!options->listing->filters_raw)
		FS_TRY(fs_listing_conditions(options, sql, error));
	sqlite3_str_appendall(sql, rest);
	if (fs_options_brief(options))
		sqlite3_str_appendf(sql, " AND (%s)", options->listing->worth);
	return append_filter(sql, options, FS_FILTER_MIN_SAMPLES, error);
}

static int append_order(sqlite3_str *sql, const struct fs_options *options, struct fs_error *error)
{
	const struct fs_listing *listing = options->listing;
	const char *separator = " ORDER BY ";
	char *names;
	char *rest;

	if (!options->sort) {
		if (listing->order)
			sqlite3_str_appendf(sql, " ORDER BY %s", listing->order);
		return 0;
	}
	names = sqlite3_mprintf("%s", options->sort);
	if (!names)
		return fs_fail(error, FS_NOMEM, "out of memory");
	for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		char *direction = strchr(name, ':');
		const struct fs_query_column *column;
		bool descending = direction && !strcmp(direction, ":desc");

		if (direction && (descending || !strcmp(direction, ":asc")))
			*direction = '\0';
		column = find_column(listing, name);
		if (!column) {
			int code = unknown_column(listing, name, error);

			sqlite3_free(names);
			return code;
		}
		sqlite3_str_appendf(sql, "%s%s %s NULLS LAST", separator, expression_of(column),
				    descending ? "DESC" : "ASC");
		separator = ", ";
	}
	sqlite3_free(names);
	return 0;
}

static int64_t limit_of(const struct fs_options *options)
{
	if (options->limit >= 0)
		return options->limit;
	if (!format_of(options)->for_people || options->listing->limit == FS_NO_LIMIT)
		return 0;
	return options->listing->limit ? options->listing->limit : FS_TABLE_LIMIT;
}

static int build_sql(sqlite3_str *sql, const struct fs_options *options,
		     const struct chosen *chosen, struct fs_error *error)
{
	int64_t limit = limit_of(options);

	for (size_t i = 0; i < chosen->count; i++)
		sqlite3_str_appendf(sql, "%s%s", i ? ", " : "SELECT ",
				    shown_expression(options, chosen->columns[i]));
	sqlite3_str_appendall(sql, " FROM ");
	FS_TRY(append_from(sql, options, error));
	FS_TRY(append_order(sql, options, error));
	if (limit && limit < INT64_MAX)
		sqlite3_str_appendf(sql, " LIMIT %lld", (long long)limit + 1);
	return 0;
}

void fs_listing_bind(const struct fs_options *options, sqlite3_stmt *statement)
{
	for (size_t i = 0; i < options->parameter_count; i++) {
		const struct fs_parameter *parameter = &options->parameters[i];
		int index = sqlite3_bind_parameter_index(statement, parameter->name);

		if (index && parameter->text)
			sqlite3_bind_text(statement, index, parameter->text, -1, SQLITE_STATIC);
		else if (index)
			sqlite3_bind_int64(statement, index, parameter->integer);
	}
	for (int i = 0; i < FS_FILTER_MAX; i++) {
		char name[32];
		int index;

		snprintf(name, sizeof(name), ":%s", fs_filter_name((enum fs_filter)i));
		index = sqlite3_bind_parameter_index(statement, name);
		if (index && options->filters[i])
			sqlite3_bind_text(statement, index, options->filters[i], -1, SQLITE_STATIC);
	}
}

int fs_listing_each(const struct fs_options *options, const char *sql, int64_t number,
		    int (*take)(void *context, sqlite3_stmt *row, struct fs_error *error),
		    void *context, struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	int code = fs_database_prepare(options->query, sql, &statement, error);
	int step = SQLITE_DONE;

	if (code)
		return code;
	sqlite3_bind_int64(statement, 1, options->trace_id);
	sqlite3_bind_int64(statement, 2, number);
	fs_listing_bind(options, statement);
	while (!code && (step = sqlite3_step(statement)) == SQLITE_ROW)
		code = take(context, statement, error);
	if (!code && step != SQLITE_DONE)
		code = fs_database_fail(options->query, error);
	sqlite3_finalize(statement);
	return code;
}

struct fs_cell fs_statement_cell(sqlite3_stmt *statement, int column)
{
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_NULL:
		return (struct fs_cell){ .kind = FS_CELL_NULL };
	case SQLITE_INTEGER:
		return fs_integer_cell(sqlite3_column_int64(statement, column));
	case SQLITE_FLOAT:
		return (struct fs_cell){ .kind = FS_CELL_REAL,
					 .real = sqlite3_column_double(statement, column) };
	default: {
		const void *text = sqlite3_column_blob(statement, column);

		return (struct fs_cell){
			.kind = FS_CELL_TEXT,
			.text = text ? text : "",
			.length = text ? (size_t)sqlite3_column_bytes(statement, column) : 0,
		};
	}
	}
}

static struct json_object *filters_to_json(const struct fs_options *options)
{
	struct json_object *filters =
		options->scope ? json_object_get(options->scope) : json_object_new_object();
	const struct fs_query *query = options->query;

	if (filters && query->thin) {
		json_object_object_add(filters, "thin", json_object_new_uint64(query->thin));
		json_object_object_add(filters, "seed", json_object_new_uint64(query->seed));
	}
	if (filters && query->line_size)
		json_object_object_add(filters, "line_size",
				       json_object_new_int64(query->line_size));
	for (int i = 0; filters && i < FS_FILTER_MAX; i++) {
		const char *value = options->filters[i];
		struct fs_cell cell = fs_text_cell(value);
		char *text;

		if (!value)
			continue;
		text = fs_cell_text(&cell, FS_TYPE_TEXT, false);
		json_object_object_add(filters, fs_filter_name((enum fs_filter)i),
				       json_object_new_string(text ? text : ""));
		free(text);
	}
	return filters;
}

static int note_cut(struct fs_options *options, int64_t limit, struct fs_error *error)
{
	const char *nouns = options->listing->nouns;

	if (limit == 1) /* nouns end in "s" */
		return fs_options_note(options, error,
				       "only the first %.*s is shown; --limit 0 shows all",
				       (int)strlen(nouns) - 1, nouns);
	return fs_options_note(options, error,
			       "only the first %lld %s are shown; --limit 0 shows all",
			       (long long)limit, nouns);
}

/* Feed the rows; stops at the limit and says so. */
static int render_rows(struct fs_options *options, struct fs_render *render,
		       sqlite3_stmt *statement, struct fs_error *error)
{
	struct fs_cell *cells = calloc(render->report->count + 1, sizeof(*cells));
	int64_t limit = limit_of(options);
	int code = 0;
	int step;

	if (!cells)
		return fs_fail(error, FS_NOMEM, "out of memory");
	while (!code && (step = sqlite3_step(statement)) == SQLITE_ROW) {
		if (limit && render->rows == (size_t)limit) {
			code = note_cut(options, limit, error);
			step = SQLITE_DONE;
			break;
		}
		for (size_t i = 0; i < render->report->count; i++)
			cells[i] = fs_statement_cell(statement, (int)i);
		code = fs_render_row(render, cells, error);
	}
	free(cells);
	if (!code && step != SQLITE_DONE)
		return fs_database_fail(options->query, error);
	return code;
}

int fs_listing_render(struct fs_options *options, sqlite3_stmt *statement,
		      const struct fs_render_column *const *columns, size_t count,
		      struct fs_error *error)
{
	char schema[64];
	struct fs_report report = { .schema = schema,
				    .trace = options->trace,
				    .filters = filters_to_json(options),
				    .columns = columns,
				    .count = count };
	struct fs_render_options how = render_options(options->query);
	struct fs_render render = { 0 };
	const char *empty = options->empty ? options->empty : options->listing->empty;
	int code;

	snprintf(schema, sizeof(schema), "fsight/%s/1", options->listing->command);
	code = report.filters ? fs_render_begin(&render, format_of(options), &report, &how, error)
			      : fs_fail(error, FS_NOMEM, "out of memory");
	if (!code)
		code = render_rows(options, &render, statement, error);
	options->rows = render.rows;
	if (!code && !render.rows && empty && *empty)
		code = fs_options_note(options, error, "%s", empty);
	if (!code)
		code = fs_render_end(&render, (const char *const *)options->notes,
				     options->note_count, error);
	fs_render_release(&render);
	json_object_put(report.filters);
	return code;
}

int fs_listing_run(struct fs_options *options, struct fs_error *error)
{
	const struct fs_render_column *shown[COLUMNS_MAX];
	struct chosen chosen = { 0 };
	sqlite3_stmt *statement = NULL;
	sqlite3_str *text;
	char *sql;
	int code;

	FS_TRY(choose_columns(options, &chosen, error));
	for (size_t i = 0; i < chosen.count; i++)
		shown[i] = &chosen.columns[i]->shown;
	text = sqlite3_str_new(options->query->db);
	code = build_sql(text, options, &chosen, error);
	sql = sqlite3_str_finish(text);
	if (!code && !sql)
		code = fs_fail(error, FS_NOMEM, "out of memory");
	if (!code)
		code = fs_database_prepare(options->query, sql, &statement, error);
	sqlite3_free(sql);
	if (!code) {
		fs_listing_bind(options, statement);
		code = fs_listing_render(options, statement, shown, chosen.count, error);
	}
	sqlite3_finalize(statement);
	return code;
}

int fs_listing_command(const struct fs_listing *listing, void *own, struct fs_query *query,
		       int argc, char **argv, struct fs_error *error)
{
	struct fs_options options = { .listing = listing, .own = own };
	int code = fs_options_parse(&options, query, listing->argp, argc, argv, error);

	if (!code)
		code = (listing->open ? listing->open : fs_database_open)(query, error);
	if (!code && listing->need != FS_NEED_NONE)
		code = fs_trace_choose(&options, error);
	if (!code && listing->before)
		code = listing->before(&options, error);
	if (!code && !options.own_format)
		code = fs_listing_run(&options, error);
	fs_options_free(&options);
	return code;
}
