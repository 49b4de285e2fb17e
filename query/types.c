/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * types: types of accessed data by what the contention of their objects costs.
 * schema/views/types.sql.
 */
#include "query/database.h"
#include "query/listing.h"

static const struct fs_query_column columns[] = {
	FS_COLUMN("type", "TYPE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL,
		  "As C has it: struct pool"),
	FS_COLUMN("kind", "KIND", TEXT, 0, NULL,
		  "struct, union, class, array, pointer, base, other"),
	FS_COLUMN("dso", "DSO", TEXT, FS_SHOW_TRUNCATE | FS_SHOW_TAIL, NULL,
		  "Binary whose debug information has it"),
	FS_COLUMN("binary", "DSO", TEXT, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY | FS_SHOW_TRUNCATE,
		  FS_BASE_NAME("dso"), "Base name of the binary"),
	FS_COLUMN("size", "SIZE", INTEGER, FS_SHOW_DEFAULT, NULL, "Bytes"),
	FS_COLUMN("instances", "OBJECTS", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Objects of it on lines that two threads touched"),
	FS_COLUMN("lines", "LINES", INTEGER, FS_SHOW_DEFAULT, NULL, "These lines"),
	FS_COLUMN("samples", "SAMPLES", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Samples of accesses to objects of it"),
	FS_COLUMN(
		"shared_samples", "SHARED", INTEGER, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		"Of them, on these lines; instances, lines, threads and l1_misses are from these"),
	FS_COLUMN("reads", "READS", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Samples that read: loads and atomics"),
	FS_COLUMN("writes", "WRITES", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Samples that write: stores and atomics"),
	FS_COLUMN("threads", "THREADS", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Threads; empty: no line is shared, and not kept"),
	FS_COLUMN("hitm", "HITM", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Served from a modified line of another core"),
	FS_COLUMN("peer", "PEER", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Served from another core's cache, state not told or clean"),
	FS_COLUMN("l1_misses", "L1 MISS", INTEGER, 0, NULL, "Samples known to have missed L1"),
	FS_COLUMN("latency_mean", "CYCLES", REAL, FS_SHOW_DEFAULT, NULL,
		  "Mean cycles, over the samples that have a latency"),
	FS_COLUMN("verdict", "VERDICT", TEXT, FS_SHOW_DEFAULT | FS_SHOW_STATE, NULL,
		  "Worst of its lines: false, mixed, true, unknown, read-only, private"),
	FS_COLUMN("cost_share", "COST", PERCENT, FS_SHOW_DEFAULT, NULL,
		  "Share of the run's memory latency that contention costs its objects"),
};

static int prepare(struct fs_options *options, struct fs_error *error)
{
	int64_t known;
	bool blind;

	FS_TRY(fs_trace_note_blindness(options, &blind, error));
	FS_TRY(fs_database_integer(options->query, "SELECT count(*) FROM type WHERE trace_id = ?",
				   options->trace_id, 0, &known, error));
	if (!blind && known && fs_options_brief(options))
		options->empty = "no struct, union or class is among the types that are known of "
				 "accessed data, and no other type costs anything; --all shows all";
	return 0;
}

static const struct fs_listing listing = {
	.command = "types",
	.about = "List the types of accessed data, the costliest first. Accesses to lines that two "
		 "threads touched are told by address, all others by what their code says of "
		 "types. The cost of a line is divided among its accesses by their samples that "
		 "missed L1. Tables leave out numbers, pointers and arrays that cost nothing.",
	.need = FS_NEED_MEMORY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "types WHERE trace_id = :trace",
	.order = "cost_share DESC NULLS LAST, shared_samples DESC, samples DESC, type, dso, size",
	.filters = { [FS_FILTER_DSO] = { "dso" }, [FS_FILTER_MIN_SAMPLES] = { "samples" } },
	.worth = "kind IN ('struct', 'union', 'class') OR cost_share NOTNULL",
	.argp = &fs_all_argp,
	.before = prepare,
	.nouns = "types",
	.empty = "no type of accessed data is known; `fsquery health` says which binaries are "
		 "missing",
};

FS_COMMAND(types)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
