/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fsquery: answers from a database. One subcommand per file; query/commands.c has the table.
 */
#ifndef FS_QUERY_QUERY_H
#define FS_QUERY_QUERY_H

#include <json-c/json.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

/* Where names are looked for: the options of fsingest of the same names. */
struct fs_name_sources {
	const char *const *roots;
	size_t root_count;
	const char *const *archives;
	size_t archive_count;
	const char *vmlinux, *kallsyms; /* or NULL */
	bool unverified;
};

/* A file to import, and from what else. The paths are borrowed. */
struct fs_import {
	const char *path;
	bool no_samples;
	struct fs_name_sources names;
	const char *const *perf_maps, *const *jit_dumps, *const *allocation_logs;
	size_t perf_map_count, jit_dump_count, allocation_log_count;
};

typedef int fs_import_use(void *context, sqlite3 *db, int64_t trace, struct fs_error *error);

/* What ingest does. The main program brings it in, since query does not know ingest. */
struct fs_ingest {
	/* Give names to a trace, inside the open transaction. */
	int (*name)(sqlite3 *db, int64_t trace, const struct fs_name_sources *sources,
		    struct fs_error *error);
	/* Keep of `every` samples of a trace one. */
	int (*thin)(sqlite3 *db, int64_t trace, uint64_t every, uint64_t seed,
		    struct fs_error *error);
	/* SHA-256 of a file, as trace.sha256 has it; 64 digits and a NUL. */
	int (*hash)(const char *path, char *ret_hex, struct fs_error *error);
	/* Import a file into a temporary database, make its findings, and let `use` look at it. */
	int (*import)(const struct fs_import *import, fs_import_use *use, void *context,
		      struct fs_error *error);
};

/* One run of fsquery. */
struct fs_query {
	const char *path;   /* database */
	const char *trace;  /* as given with --trace; NULL: choose */
	uint64_t thin;	    /* answer as if of so many samples one had been taken; 0: of all */
	uint64_t seed;	    /* for that */
	int64_t line_size;  /* instead of the recorded one; 0: that */
	const char *colour; /* auto, always, never */
	bool quiet;
	bool users_sql; /* a statement that fails is the user's mistake */
	FILE *out;
	FILE *err;
	sqlite3 *db;			/* open once a command asked for it */
	const struct fs_ingest *ingest; /* or NULL */
};

struct fs_command {
	const char *name;
	/* argv[0] is "fsquery NAME". FS_HELPED when --help was all that was asked. */
	int (*run)(struct fs_query *query, int argc, char **argv, struct fs_error *error);
	const char *summary;
};

/* Ends with a NULL name. */
extern const struct fs_command fs_commands[];

enum { FS_HELPED = ECANCELED };

/*
 * The whole program: parse argv, run a command, write to out and err. Returns an exit code of
 * enum fs_exit. Changes entries of argv. ingest may be NULL: then commands fail that need it.
 */
int fs_query_main(int argc, char **argv, FILE *out, FILE *err, const struct fs_ingest *ingest);

/* An error unless the program can ingest. */
int fs_ingest_need(const struct fs_query *query, struct fs_error *error);

/* One line on query->err, escaped, unless --quiet. */
void fs_query_say(const struct fs_query *query, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void fs_query_print_version(FILE *out);

#define FS_COMMAND(name)                                                                           \
	int fs_command_##name(struct fs_query *query, int argc, char **argv, struct fs_error *error)
FS_COMMAND(traces);
FS_COMMAND(health);
FS_COMMAND(top_lines);
FS_COMMAND(groups);
FS_COMMAND(line);
FS_COMMAND(pairs);
FS_COMMAND(mem_bound);
FS_COMMAND(layout);
FS_COMMAND(types);
FS_COMMAND(type);
FS_COMMAND(objects);
FS_COMMAND(pages);
FS_COMMAND(callers);
FS_COMMAND(c2c_stats);
FS_COMMAND(sql);
FS_COMMAND(views);
FS_COMMAND(schema);
FS_COMMAND(digest);
FS_COMMAND(symbols);
FS_COMMAND(analyze);
FS_COMMAND(reproduce);

#endif
