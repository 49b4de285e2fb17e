/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command-line options by argp, in three parsers: those of every command (--db, --trace), those
 * of every listing (--format, filters), and the command's own. All share struct fs_options.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "query/listing.h"

enum {
	KEY_FORMAT = 0x200,
	KEY_COLUMNS,
	KEY_SORT,
	KEY_LIMIT,
	KEY_COLOUR,
	KEY_HELP,
	KEY_USAGE,
	KEY_VERSION,
	KEY_THIN,
	KEY_SEED,
	KEY_LINE_SIZE,
	KEY_FILTER, /* + enum fs_filter */
};

static const struct argp_option main_options[] = {
	{ "db", 'd', "FILE", 0, "Database [$FSIGHT_DB, else fsight.db]", 90 },
	{ "trace", 't', "ID|NAME", 0, "Trace of the case [the newest that can answer]", 90 },
	{ "thin", KEY_THIN, "N", 0, "Answer as if of N samples one had been taken", 90 },
	{ "seed", KEY_SEED, "S", 0, "Which of them, for --thin [0]", 90 },
	{ "line-size", KEY_LINE_SIZE, "BYTES", 0,
	  "Cache lines of 64, 128 or 256 bytes [as recorded, else 64]", 90 },
	{ "color", KEY_COLOUR, "WHEN", 0, "auto, always or never [auto, unless NO_COLOR is set]",
	  90 },
	{ "quiet", 'q', NULL, 0, "Say nothing on stderr but errors", 90 },
	{ "help", KEY_HELP, NULL, 0, "Show this help", 99 },
	{ "usage", KEY_USAGE, NULL, 0, "Show the options in short", 99 },
	{ "version", KEY_VERSION, NULL, 0, "Show versions", 99 },
	{ 0 },
};

static const struct argp_option listing_options[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0, "table, csv, tsv, json, ndjson or md [table]", 10 },
	{ "columns", KEY_COLUMNS, "A,B,C", 0, "Columns, in this order; `all' for every one", 10 },
	{ "sort", KEY_SORT, "COLUMN[:desc],...", 0, "Order of the rows", 10 },
	{ "limit", KEY_LIMIT, "N", 0, "At most N rows, 0 for all [20 in table and md, else all]",
	  10 },
	{ "pid", KEY_FILTER + FS_FILTER_PID, "LIST", 0, "Processes, such as 17,20-25", 20 },
	{ "tid", KEY_FILTER + FS_FILTER_TID, "LIST", 0, "Threads", 20 },
	{ "comm", KEY_FILTER + FS_FILTER_COMM, "NAME", 0, "Command name or pattern (* ? [)", 20 },
	{ "cpu", KEY_FILTER + FS_FILTER_CPU, "LIST", 0, "CPUs", 20 },
	{ "node", KEY_FILTER + FS_FILTER_NODE, "LIST", 0, "NUMA nodes", 20 },
	{ "dso", KEY_FILTER + FS_FILTER_DSO, "NAME", 0, "Binary: path, base name or pattern", 20 },
	{ "sym", KEY_FILTER + FS_FILTER_SYM, "NAME", 0, "Function: name or pattern", 20 },
	{ "time", KEY_FILTER + FS_FILTER_TIME, "A,B", 0, "Between two times", 20 },
	{ "user", KEY_FILTER + FS_FILTER_USER, NULL, 0, "User space only", 20 },
	{ "kernel", KEY_FILTER + FS_FILTER_KERNEL, NULL, 0, "Kernel only", 20 },
	{ "min-samples", KEY_FILTER + FS_FILTER_MIN_SAMPLES, "N", 0, "At least N samples", 20 },
	{ 0 },
};

const char *fs_filter_name(enum fs_filter filter)
{
	const struct argp_option *option = listing_options;

	while (option->name && option->key != KEY_FILTER + (int)filter)
		option++;
	return option->name;
}

error_t fs_options_fail(struct argp_state *state, const char *format, ...)
{
	struct fs_options *options = state->input;
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return fs_fail(options->error, FS_USAGE, "%s; see `%s --help`", text, state->name);
}

bool fs_parse_count(const char *text, int64_t *ret_value)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < 0)
		return false;
	*ret_value = value;
	return true;
}

error_t fs_parse_name(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;
	const char **name = options->own;

	if (key != ARGP_KEY_ARG || *name)
		return ARGP_ERR_UNKNOWN;
	*name = arg;
	return 0;
}

static error_t parse_all(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;

	(void)arg;
	if (key != 'a')
		return ARGP_ERR_UNKNOWN;
	options->all = true;
	return 0;
}

static const struct argp_option all_options[] = {
	{ "all", 'a', NULL, 0, "Also rows that table and md leave out as not worth a look", 1 },
	{ 0 },
};

const struct argp fs_all_argp = { .options = all_options, .parser = parse_all };

static error_t parse_main(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;
	struct fs_query *query = options->query;
	int64_t count;

	switch (key) {
	case 'd':
		query->path = arg;
		return 0;
	case 't':
		query->trace = arg;
		return 0;
	case KEY_THIN:
		if (!fs_parse_count(arg, &count) || !count)
			return fs_options_fail(state, "--thin %s: give a number from 1", arg);
		query->thin = (uint64_t)count;
		return 0;
	case KEY_SEED:
		if (!fs_parse_count(arg, &count))
			return fs_options_fail(state, "--seed %s: not a number", arg);
		query->seed = (uint64_t)count;
		return 0;
	case KEY_LINE_SIZE:
		if (!fs_parse_count(arg, &count) || (count != 64 && count != 128 && count != 256))
			return fs_options_fail(state, "--line-size %s: give 64, 128 or 256", arg);
		query->line_size = count;
		return 0;
	case 'q':
		query->quiet = true;
		return 0;
	case KEY_COLOUR:
		if (strcmp(arg, "auto") && strcmp(arg, "always") && strcmp(arg, "never"))
			return fs_options_fail(state, "--color %s: give auto, always or never",
					       arg);
		query->colour = arg;
		return 0;
	case KEY_HELP:
	case KEY_USAGE:
		argp_state_help(state, query->out,
				key == KEY_HELP ? ARGP_HELP_STD_HELP : ARGP_HELP_USAGE);
		return FS_HELPED;
	case KEY_VERSION:
		fs_query_print_version(query->out);
		return FS_HELPED;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_filter(enum fs_filter filter, const char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;
	int64_t count;

	if (!options->listing->filters[filter][0])
		return fs_options_fail(state, "--%s is not available for this command yet",
				       fs_filter_name(filter));
	if (filter == FS_FILTER_MIN_SAMPLES && !fs_parse_count(arg, &count))
		return fs_options_fail(state, "--min-samples %s: not a count", arg);
	options->filters[filter] = arg ? arg : "1";
	if (options->filters[FS_FILTER_USER] && options->filters[FS_FILTER_KERNEL])
		return fs_options_fail(state, "--user and --kernel exclude each other");
	return 0;
}

static error_t parse_listing(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;

	switch (key) {
	case KEY_FORMAT:
		options->own_format =
			options->listing->own_format && !strcmp(arg, options->listing->own_format);
		options->format = options->own_format ? NULL : fs_render_find(arg);
		if (!options->format && !options->own_format)
			return fs_options_fail(
				state, "--format %s: give table, csv, tsv, json, ndjson or md%s%s",
				arg, options->listing->own_format ? ", or " : "",
				options->listing->own_format ? options->listing->own_format : "");
		return 0;
	case KEY_COLUMNS:
		options->columns = arg;
		return 0;
	case KEY_SORT:
		options->sort = arg;
		return 0;
	case KEY_LIMIT:
		if (!fs_parse_count(arg, &options->limit))
			return fs_options_fail(state, "--limit %s: not a count", arg);
		return 0;
	case ARGP_KEY_ARG:
		return fs_options_fail(state, "%s: one argument too many", arg);
	default:
		if (key < KEY_FILTER || key >= KEY_FILTER + FS_FILTER_MAX)
			return ARGP_ERR_UNKNOWN;
		return parse_filter((enum fs_filter)(key - KEY_FILTER), arg, state);
	}
}

/* Words from the current column on, wrapped as argp wraps, going on at `indent`. */
static void print_wrapped(FILE *out, const char *text, int indent)
{
	enum { WIDTH = 78 };
	int column = indent;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column > indent && column + 1 + length > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", length, text);
		column += length;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void print_columns(FILE *out, const struct fs_listing *listing)
{
	if (listing->count)
		fputs("Columns for --columns and --sort (* shown in a table by default):\n", out);
	for (size_t i = 0; i < listing->count; i++) {
		const struct fs_render_column *column = &listing->columns[i].shown;

		fprintf(out, "  %c %-17s ", column->flags & FS_SHOW_DEFAULT ? '*' : ' ',
			column->name);
		print_wrapped(out, column->description, 22);
	}
}

static char *help_filter(int key, const char *text, void *input)
{
	const struct fs_options *options = input;
	char *help = NULL;
	size_t size = 0;
	FILE *out;

	if (key != ARGP_KEY_HELP_POST_DOC || !options || !options->listing)
		return (char *)text;
	out = open_memstream(&help, &size);
	if (!out)
		return (char *)text;
	print_columns(out, options->listing);
	fclose(out);
	return help;
}

/* The listing's options; filters that the command lacks are known, to be refused, but not shown. */
static void hide_filters(const struct fs_listing *listing, struct argp_option *options)
{
	for (; options->name; options++) {
		int filter = options->key - KEY_FILTER;

		if (filter >= 0 && filter < FS_FILTER_MAX && !listing->filters[filter][0])
			options->flags |= OPTION_HIDDEN;
	}
}

/* Over the three parsers: gives each the same input. */
static error_t parse_root(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->name = state->argv[0];
	state->out_stream = options->query->out;
	state->err_stream = options->query->err;
	for (size_t i = 0; state->root_argp->children[i].argp; i++)
		state->child_inputs[i] = options;
	return 0;
}

int fs_options_parse(struct fs_options *options, struct fs_query *query, const struct argp *own,
		     int argc, char **argv, struct fs_error *error)
{
	struct argp_option shown[sizeof(listing_options) / sizeof(*listing_options)];
	const struct argp listing = { .options = shown, .parser = parse_listing };
	const struct argp common = { .options = main_options, .parser = parse_main };
	struct argp command = { 0 };
	struct argp_child children[4] = { 0 };
	struct argp root = { .parser = parse_root, .help_filter = help_filter };
	unsigned int flags = ARGP_NO_HELP | ARGP_NO_EXIT;
	size_t used = 0;
	int code;

	if (own) {
		root.args_doc = own->args_doc;
		root.doc = own->doc;
		command.options = own->options;
		command.parser = own->parser;
		children[used++].argp = &command;
	}
	if (options->listing) {
		root.doc = options->listing->about;
		memcpy(shown, listing_options, sizeof(shown));
		hide_filters(options->listing, shown);
		children[used++].argp = &listing;
	} else {
		flags |= ARGP_IN_ORDER; /* the main's: stop at the command */
	}
	children[used].argp = &common;
	root.children = children;
	options->query = query;
	options->error = error;
	options->limit = -1;
	code = argp_parse(&root, argc, argv, flags, NULL, options);
	if (code && code != FS_HELPED && !*error->text)
		error->code = FS_USAGE; /* argp has told what is wrong */
	return code;
}

void fs_options_free(struct fs_options *options)
{
	for (size_t i = 0; i < options->note_count; i++)
		free(options->notes[i]);
	json_object_put(options->trace);
	json_object_put(options->scope);
}

void fs_options_bind(struct fs_options *options, const char *name, int64_t integer,
		     const char *text)
{
	if (options->parameter_count < FS_PARAMETERS_MAX)
		options->parameters[options->parameter_count++] =
			(struct fs_parameter){ .name = name, .text = text, .integer = integer };
}

int fs_options_note(struct fs_options *options, struct fs_error *error, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	int length;

	if (options->note_count == FS_NOTES_MAX)
		return 0;
	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return fs_fail(error, FS_NOMEM, "out of memory");
	fs_query_say(options->query, "%s", text);
	options->notes[options->note_count++] = text;
	return 0;
}
