/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program around the commands: options before the command, dispatch, errors, exit code.
 */
#include "query/query.h"

#include <libsmartcols.h>
#include <nettle/version.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/version.h"
#include "query/listing.h"
#include "schema/schema.h"

const struct fs_command fs_commands[] = {
	{ "traces", fs_command_traces, "the traces of the case" },
	{ "health", fs_command_health, "what was lost, what is missing, what cannot be measured" },
	{ "top-lines", fs_command_top_lines, "contended cache lines by cost, with verdict" },
	{ "groups", fs_command_groups, "contended lines that one change repairs, as one" },
	{ "line", fs_command_line, "one line: who accesses which bytes from where" },
	{ "pairs", fs_command_pairs, "pairs of accesses that contend" },
	{ "mem-bound", fs_command_mem_bound, "functions by time bound to memory" },
	{ "layout", fs_command_layout, "a layout of a structure that ends its false sharing" },
	{ "types", fs_command_types, "types of accessed data by the cost of their objects" },
	{ "type", fs_command_type, "one type: who accesses which of its fields" },
	{ "objects", fs_command_objects, "data objects by what contention and memory cost them" },
	{ "pages", fs_command_pages, "data pages: memory, TLB, nodes, and what would help" },
	{ "callers", fs_command_callers, "call paths that lead to a function; flame graphs" },
	{ "c2c-stats", fs_command_c2c_stats, "the counters of perf c2c, by perf's rules and ours" },
	{ "sql", fs_command_sql, "run one SELECT, read-only, within limits" },
	{ "views", fs_command_views, "the saved views and their columns" },
	{ "schema", fs_command_schema, "the tables and their columns" },
	{ "digest", fs_command_digest, "SHA-256 of a trace's content, by table" },
	{ "symbols", fs_command_symbols, "name code and data from binaries that came later" },
	{ "analyze", fs_command_analyze, "rebuild the findings" },
	{ "reproduce", fs_command_reproduce,
	  "make the findings again and compare, table by table" },
	{ NULL, NULL, NULL },
};

void fs_query_say(const struct fs_query *query, const char *format, ...)
{
	char text[1024];
	char shown[2048];
	va_list arguments;

	if (query->quiet)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fs_escape(shown, sizeof(shown), text, strlen(text));
	fprintf(query->err, "%s\n", shown);
}

int fs_ingest_need(const struct fs_query *query, struct fs_error *error)
{
	return query->ingest ? 0 : fs_fail(error, FS_INTERNAL, "this program cannot ingest");
}

void fs_query_print_version(FILE *out)
{
	fprintf(out, "fsquery %s, schema version %d\n", FS_VERSION, FS_SCHEMA_VERSION);
#ifdef FS_LIBPERF_VERSION
	fprintf(out, "libperf %s\n", FS_LIBPERF_VERSION);
#endif
	fprintf(out, "SQLite %s, libsmartcols %s, json-c %s, nettle %d.%d\n", sqlite3_libversion(),
		LIBSMARTCOLS_VERSION, json_c_version(), nettle_version_major(),
		nettle_version_minor());
	fputs("GPL-2.0-only\n", out);
}

static const char *command_name(const void *list, size_t index)
{
	return ((const struct fs_command *)list)[index].name;
}

static const struct fs_command *find_command(const char *name, struct fs_error *error)
{
	const struct fs_command *command = fs_commands;
	const char *near;

	while (command->name && strcmp(command->name, name))
		command++;
	if (command->name)
		return command;
	near = fs_suggest(name, command_name, fs_commands, (size_t)(command - fs_commands));
	fs_fail(error, FS_USAGE, "no command %s%s%s; `fsquery --help` lists them", name,
		near ? "; did you mean " : "", near ? near : "");
	return NULL;
}

/* Remembers where the command stands in argv. */
static error_t parse_command(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;

	(void)arg;
	if (key != ARGP_KEY_ARG)
		return key == ARGP_KEY_NO_ARGS ? fs_options_fail(state, "give a command")
					       : ARGP_ERR_UNKNOWN;
	*(int *)options->own = state->next - 1;
	state->next = state->argc;
	return 0;
}

static char *describe_commands(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("Findings about memory contention from a database that fsingest wrote.\v"
	      "Commands:\n",
	      out);
	for (const struct fs_command *command = fs_commands; command->name; command++)
		fprintf(out, "  %-10s %s\n", command->name, command->summary);
	fputs("\n`fsquery COMMAND --help' tells about one. Exit codes: 0 done, 1 usage, 2 refused, "
	      "4 output error, 5 internal error, 10 a comparison found a difference.",
	      out);
	fclose(out);
	return text;
}

static int parse_and_run(struct fs_query *query, int argc, char **argv, struct fs_error *error)
{
	int position = 0;
	struct fs_options options = { .own = &position };
	const struct fs_command *command;
	char name[64];
	char *about = describe_commands();
	const struct argp argp = { .parser = parse_command,
				   .args_doc = "COMMAND [OPTION...]",
				   .doc = about };
	int code = fs_options_parse(&options, query, &argp, argc, argv, error);

	free(about);
	if (code)
		return code;
	command = find_command(argv[position], error);
	if (!command)
		return FS_USAGE;
	snprintf(name, sizeof(name), "fsquery %s", command->name);
	argv[position] = name;
	return command->run(query, argc - position, argv + position, error);
}

int fs_query_main(int argc, char **argv, FILE *out, FILE *err, const struct fs_ingest *ingest)
{
	const char *path = getenv("FSIGHT_DB");
	struct fs_query query = {
		.path = path && *path ? path : "fsight.db",
		.colour = "auto",
		.out = out,
		.err = err,
		.ingest = ingest,
	};
	struct fs_error error = { 0 };
	int code = parse_and_run(&query, argc, argv, &error);

	sqlite3_close(query.db);
	if (code && code != FS_HELPED && *error.text)
		fprintf(err, "fsquery: %s\n", error.text);
	if (code == FS_HELPED)
		code = fflush(out) || ferror(out) ? FS_OUTPUT : 0;
	return (int)fs_exit_of(code);
}
