/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * groups: contended lines that are one finding; schema/views/line_groups.sql.
 */
#include "query/listing.h"

#define COST                                                                                       \
	"iif(cost_share IS NULL, NULL, printf('%.1f %% (%.1f-%.1f)', 100 * cost_share, "           \
	"100 * cost_low, 100 * cost_high))"

#define GAIN "iif(gain_low IS NULL, NULL, printf('%.1f-%.1fx', gain_low, gain_high))"

static const struct fs_query_column columns[] = {
	FS_COLUMN("rank", "RANK", INTEGER, FS_SHOW_DEFAULT, NULL, "From 1, by cost"),
	FS_COLUMN(
		"kind", "KIND", TEXT, FS_SHOW_DEFAULT, NULL,
		"line: alone; array: threads write places of their own, evenly apart; object: one "
		"variable or object; instances: objects of one type; neighbours: side by side, no "
		"name is known; code: the same two places of code contend, no name is known"),
	FS_COLUMN("verdict", "VERDICT", TEXT, FS_SHOW_DEFAULT | FS_SHOW_STATE, NULL,
		  "Of all its lines; mixed where they differ"),
	FS_COLUMN("lines", "LINES", INTEGER, FS_SHOW_DEFAULT, NULL, "How many"),
	FS_COLUMN("first_line", "FIRST LINE", ADDRESS, FS_SHOW_DEFAULT, NULL,
		  "Address of the first"),
	FS_COLUMN("last_line", "LAST LINE", ADDRESS, 0, NULL, "Address of the last"),
	FS_COLUMN("space", "SPACE", TEXT, FS_SHOW_TRUNCATE, NULL,
		  "Address space: kernel, or command name and pid"),
	FS_COLUMN("object", "OBJECT", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL,
		  "Variable, or type of the objects; empty: not known"),
	FS_COLUMN("type", "TYPE", TEXT, FS_SHOW_TRUNCATE, NULL,
		  "Type of the variable or of the objects"),
	FS_COLUMN("functions", "FUNCTIONS", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE | FS_SHOW_WIDE,
		  NULL, "Functions of the pair that contends most for the costliest line"),
	FS_COLUMN("stride", "STRIDE", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Bytes from thread to thread; empty: no array"),
	FS_COLUMN("slots_per_line", "SLOTS/LINE", REAL, FS_SHOW_DEFAULT, NULL,
		  "Line size by stride; empty: no array, or the stride is no less"),
	FS_COLUMN("threads", "THREADS", INTEGER, FS_SHOW_DEFAULT, NULL, "Threads"),
	FS_COLUMN("samples", "SAMPLES", INTEGER, FS_SHOW_DEFAULT, NULL, "Samples of all its lines"),
	FS_COLUMN("misses", "MISSES", INTEGER, 0, NULL,
		  "Of them, that left the core's private caches"),
	FS_COLUMN("cost", "COST (95 %)", TEXT, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY, COST,
		  "cost_share with its bounds"),
	FS_COLUMN("cost_share", "COST", PERCENT, 0, NULL,
		  "Share of the run's memory latency that the contention costs, of all its lines"),
	FS_COLUMN("cost_low", "COST LOW", PERCENT, 0, NULL, "Lower bound, 95 %"),
	FS_COLUMN("cost_high", "COST HIGH", PERCENT, 0, NULL, "Upper bound, 95 %"),
	FS_COLUMN("gain", "GAIN", TEXT, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY | FS_SHOW_WIDE, GAIN,
		  "gain_low and gain_high"),
	FS_COLUMN("gain_low", "GAIN LOW", REAL, 0, NULL,
		  "How many times faster the program is without the false sharing, at least"),
	FS_COLUMN("gain_high", "GAIN HIGH", REAL, 0, NULL, "The same, at most"),
	FS_COLUMN("reason", "REASON", TEXT, FS_SHOW_WRAP, NULL, "What makes them one"),
};

static int check_measurable(struct fs_options *options, struct fs_error *error)
{
	bool blind;

	return fs_trace_note_blindness(options, &blind, error);
}

static const struct fs_listing listing = {
	.command = "groups",
	.about = "List contended cache lines by what would repair them, the costliest first: lines "
		 "of one array, of one object, of objects of one type, or for which the same code "
		 "contends, are one row with the sum of their costs.",
	.need = FS_NEED_MEMORY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "line_groups WHERE trace_id = :trace",
	.order = "rank",
	.filters = { [FS_FILTER_MIN_SAMPLES] = { "samples" } },
	.before = check_measurable,
	.nouns = "groups",
	.empty = "no contended line was found; `fsquery top-lines` says how much it would have "
		 "shown",
};

FS_COMMAND(groups)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
