/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fsingest: perf.data to a database.
 *
 * For each input: open the target, load the trace, run the passes, commit, say what was read.
 */
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze/analyze.h"
#include "common/vector.h"
#include "common/version.h"
#include "ingest/load/load.h"
#include "ingest/load/summary.h"
#include "ingest/load/target.h"
#include "schema/schema.h"

#ifndef FS_LIBPERF_VERSION
#define FS_LIBPERF_VERSION "unknown"
#endif

struct options {
	const char *db;
	const char **inputs;
	size_t input_count, input_capacity;
	const char **roots;
	size_t root_count, root_capacity;
	const char **archives;
	size_t archive_count, archive_capacity;
	const char **perf_maps;
	size_t perf_map_count, perf_map_capacity;
	const char **logs;
	size_t log_count, log_capacity;
	const char **dumps;
	size_t dump_count, dump_capacity;
	bool json, quiet, progress;
	struct fs_load_options load;
};

enum {
	KEY_NAME = 256,
	KEY_SYMBOLS,
	KEY_ARCHIVE,
	KEY_VMLINUX,
	KEY_KALLSYMS,
	KEY_PERF_MAP,
	KEY_JITDUMP,
	KEY_ALLOC_LOG,
	KEY_UNVERIFIED,
	KEY_NO_SAMPLES,
	KEY_STRICT,
	KEY_REPLACE,
	KEY_PROGRESS,
	KEY_JSON,
	KEY_DB
};

static const struct argp_option option_table[] = {
	{ "db", KEY_DB, "FILE", 0,
	  "Database to write [$FSIGHT_DB, else fsight.db]; a new one appears "
	  "only when it is complete, an existing one gains a trace",
	  0 },
	{ "name", KEY_NAME, "NAME", 0, "Label of the trace [the file's base name]", 0 },
	{ "symbols", KEY_SYMBOLS, "DIR", 0,
	  "Look for binaries under DIR: a sysroot, a flat "
	  "directory or a build-id tree; may be repeated",
	  0 },
	{ "archive", KEY_ARCHIVE, "FILE", 0,
	  "A tarball of binaries, such as perf archive makes, read where it lies; may be repeated",
	  0 },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0,
	  "The kernel with its names and types, as built or from the -dbg package", 0 },
	{ "kallsyms", KEY_KALLSYMS, "FILE", 0,
	  "A copy of the recording machine's /proc/kallsyms: names of the kernel and of modules "
	  "for "
	  "which there is no binary",
	  0 },
	{ "perf-map", KEY_PERF_MAP, "FILE", 0,
	  "A perf-PID.map that a JIT compiler wrote; may be repeated", 0 },
	{ "jitdump", KEY_JITDUMP, "FILE", 0,
	  "A jit-PID.dump that a JIT compiler wrote; may be repeated", 0 },
	{ "alloc-log", KEY_ALLOC_LOG, "FILE", 0,
	  "Heap blocks by time, as text that fsingest(1) describes; may be repeated", 0 },
	{ "unverified-symbols", KEY_UNVERIFIED, NULL, 0,
	  "Also use binaries whose build-id is not in "
	  "the trace; they are marked",
	  0 },
	{ "no-samples", KEY_NO_SAMPLES, NULL, 0, "Keep sums and findings only", 0 },
	{ "strict", KEY_STRICT, NULL, 0, "Refuse a damaged file instead of importing what is there",
	  0 },
	{ "replace", KEY_REPLACE, NULL, 0, "Import again a trace that is already there", 0 },
	{ "json", KEY_JSON, NULL, 0, "Write the closing summary as JSON", 0 },
	{ "progress", KEY_PROGRESS, NULL, 0, "Show progress on standard error [only on a terminal]",
	  0 },
	{ "quiet", 'q', NULL, 0, "No closing summary", 0 },
	{ 0 },
};

static int add_text(const char ***list, size_t *count, size_t *capacity, const char *text)
{
	if (fs_vector_reserve((void **)list, capacity, *count + 1, sizeof(**list)))
		return ENOMEM;
	(*list)[(*count)++] = text;
	return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_DB:
		options->db = argument;
		return 0;
	case KEY_NAME:
		options->load.name = argument;
		return 0;
	case KEY_SYMBOLS:
		return add_text(&options->roots, &options->root_count, &options->root_capacity,
				argument);
	case KEY_ARCHIVE:
		return add_text(&options->archives, &options->archive_count,
				&options->archive_capacity, argument);
	case KEY_PERF_MAP:
		return add_text(&options->perf_maps, &options->perf_map_count,
				&options->perf_map_capacity, argument);
	case KEY_JITDUMP:
		return add_text(&options->dumps, &options->dump_count, &options->dump_capacity,
				argument);
	case KEY_ALLOC_LOG:
		return add_text(&options->logs, &options->log_count, &options->log_capacity,
				argument);
	case KEY_VMLINUX:
		options->load.symbols.vmlinux = argument;
		return 0;
	case KEY_KALLSYMS:
		options->load.symbols.kallsyms = argument;
		return 0;
	case KEY_UNVERIFIED:
		options->load.symbols.allow_unverified = true;
		return 0;
	case KEY_NO_SAMPLES:
		options->load.no_samples = true;
		return 0;
	case KEY_STRICT:
		options->load.strict = true;
		return 0;
	case KEY_REPLACE:
		options->load.replace = true;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case 'q':
		options->quiet = true;
		options->progress = false;
		return 0;
	case KEY_PROGRESS:
		options->progress = true;
		return 0;
	case ARGP_KEY_ARG:
		return add_text(&options->inputs, &options->input_count, &options->input_capacity,
				argument);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_version(FILE *out, struct argp_state *state)
{
	(void)state;
	fprintf(out, "fsingest %s\nschema %d, SQLite %s, libperf %s\n", FS_VERSION,
		FS_SCHEMA_VERSION, sqlite3_libversion(), FS_LIBPERF_VERSION);
}

/* The temporary file of the import in progress, for the signal handler. */
static char temporary_path[4096];

static void remove_temporary(int number)
{
	if (temporary_path[0])
		unlink(temporary_path);
	signal(number, SIG_DFL);
	raise(number);
}

static void guard_temporary(const struct fs_target *target)
{
	const char *path = fs_target_temporary(target);

	snprintf(temporary_path, sizeof(temporary_path), "%s", path ? path : "");
}

/* One line on standard error, at most six times a second, and once more at the end. */
struct progress {
	struct timespec start, last;
};

static double seconds_since(const struct timespec *from, const struct timespec *now)
{
	return (double)(now->tv_sec - from->tv_sec) + (double)(now->tv_nsec - from->tv_nsec) / 1e9;
}

static void show_progress(void *context, uint64_t samples, uint64_t done, uint64_t total)
{
	struct progress *progress = context;
	struct timespec now;
	double elapsed;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (seconds_since(&progress->last, &now) < 1.0 / 6)
		return;
	progress->last = now;
	elapsed = seconds_since(&progress->start, &now);
	fprintf(stderr, "\r%llu samples, %llu of %llu MB, %.0f s left \033[K",
		(unsigned long long)samples, (unsigned long long)(done >> 20),
		(unsigned long long)(total >> 20),
		done ? elapsed * (double)(total - done) / (double)done : 0);
}

static void end_progress(const struct progress *progress)
{
	if (seconds_since(&progress->start, &progress->last) > 0)
		fputs("\r\033[K", stderr);
}

/* Import one file; its summary goes to out. */
static int ingest(const struct options *options, const char *input, FILE *out, bool *ret_damaged,
		  struct fs_error *error)
{
	struct fs_load_options load = options->load;
	struct fs_load_result result = { 0 };
	struct progress progress;
	struct fs_target target;
	int code;

	clock_gettime(CLOCK_MONOTONIC, &progress.start);
	progress.last = progress.start;
	if (options->progress) {
		load.progress = show_progress;
		load.progress_context = &progress;
	}
	load.path = input;
	load.symbols.roots = options->roots;
	load.symbols.root_count = options->root_count;
	load.symbols.archives = options->archives;
	load.symbols.archive_count = options->archive_count;
	load.jit = (struct fs_jit_files){ options->perf_maps, options->perf_map_count,
					  options->dumps, options->dump_count };
	load.allocation_logs = options->logs;
	load.allocation_log_count = options->log_count;
	code = fs_target_open(&target, options->db, error);
	guard_temporary(&target);
	if (!code)
		code = fs_load(target.db, &load, &result, error);
	end_progress(&progress);
	if (!code && !result.already_there)
		code = fs_analyze(target.db, result.trace_id, error);
	if (!code && result.already_there)
		fprintf(stderr,
			"fsingest: %s: already in %s as trace %lld; nothing was done "
			"(--replace imports it again)\n",
			input, options->db, (long long)result.trace_id);
	else if (!code && !options->quiet)
		code = fs_summary_write(out, target.db, options->db, result.trace_id, options->json,
					error);
	if (!code)
		code = fs_target_commit(&target, error);
	fs_target_abandon(&target);
	temporary_path[0] = '\0';
	*ret_damaged = result.damaged;
	return code;
}

static int run(struct options *options)
{
	enum fs_exit worst = FS_EXIT_DONE;

	for (size_t i = 0; i < options->input_count; i++) {
		struct fs_error error = { 0 };
		bool damaged = false;
		char *summary = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&summary, &size);
		int code = out ? ingest(options, options->inputs[i], out, &damaged, &error)
			       : fs_fail(&error, FS_NOMEM, "out of memory");

		if (out)
			fclose(out);
		/* only what is safely in the database is reported */
		if (!code && (fwrite(summary, 1, size, stdout) != size || fflush(stdout)))
			code = fs_fail(&error, FS_OUTPUT, "cannot write the summary: %s",
				       strerror(errno));
		free(summary);
		if (code)
			fprintf(stderr, "fsingest: %s\n", error.text);
		if (code)
			worst = fs_exit_of(code);
		else if (damaged && worst == FS_EXIT_DONE)
			worst = FS_EXIT_DAMAGED;
	}
	return (int)worst;
}

int main(int argc, char **argv)
{
	static const struct argp parser = {
		option_table,
		parse_option,
		"PERF_DATA...",
		"Import perf.data files into an fsight database."
		"\vPERF_DATA is a file written by perf record, or - for standard input "
		"[perf.data]. Exit status: 0 done; 1 "
		"usage; "
		"2 refused, nothing was written; 3 done, but the input was damaged or cut off; "
		"4 output error; 5 internal error.",
		NULL,
		NULL,
		NULL,
	};
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct options options = { .db = getenv("FSIGHT_DB"), .progress = isatty(STDERR_FILENO) };
	int code;

	/* one thread uses SQLite, and nobody asks how much memory it has */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	argp_program_version_hook = print_version;
	argp_err_exit_status = FS_EXIT_USAGE;
	code = argp_parse(&parser, argc, argv, 0, NULL, &options); /* ends here after a mistake */
	if (code) {
		fprintf(stderr, "fsingest: %s\n", strerror(code));
		return (int)fs_exit_of(code);
	}
	if (!options.db || !*options.db)
		options.db = "fsight.db";
	if (!options.input_count &&
	    add_text(&options.inputs, &options.input_count, &options.input_capacity, "perf.data"))
		return FS_EXIT_INTERNAL;
	if (options.load.name && options.input_count > 1) {
		fprintf(stderr, "fsingest: --name names one trace, %zu files were given\n",
			options.input_count);
		return FS_EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], remove_temporary);
	code = run(&options);
	free(options.inputs);
	free(options.roots);
	free(options.archives);
	free(options.perf_maps);
	free(options.dumps);
	free(options.logs);
	return code;
}
