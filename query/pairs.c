/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pairs: which two accesses take a line from each other; schema/views/pairs.sql.
 */
#include "query/listing.h"

/* "+0x34 4B atomic pool_barrier", as much of it as is known. */
#define SUMMARY(s)                                                                                 \
	"printf('+0x%x %s%s %s', " s "_offset, iif(" s "_width IS NULL, '', " s                    \
	"_width || 'B '), " s "_op, coalesce(" s                                                   \
	"_field || ' in ', '') || coalesce(" FS_CODE_NAME(s "_") ", ''))"

#define SIDE(s)                                                                                    \
	FS_COLUMN(s, NULL, TEXT, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY | FS_SHOW_TRUNCATE, SUMMARY(s), \
		  "Side " s " in short: offset, width, operation, where"),                         \
		FS_COLUMN_IN(s, "offset", NULL, OFFSET, 0, NULL, "Bytes from the line's start"),   \
		FS_COLUMN_IN(s, "width", NULL, INTEGER, 0, NULL, "Bytes accessed"),                \
		FS_COLUMN_IN(s, "op", NULL, TEXT, 0, NULL, "Operation"),                           \
		FS_COLUMN_IN(s, "field", NULL, TEXT, 0, NULL,                                      \
			     "Field, or variable without fields"),                                 \
		FS_COLUMN_IN(s, "type", NULL, TEXT, FS_SHOW_TRUNCATE, NULL, "Type of the object"), \
		FS_COLUMN_IN(s, "object", NULL, TEXT, FS_SHOW_TRUNCATE, NULL,                      \
			     "Variable, or type and address of the object; else in what it lies"), \
		FS_COLUMN_IN(s, "function", NULL, TEXT, FS_SHOW_TRUNCATE, NULL,                    \
			     "Function with most of this side's samples"),                         \
		FS_COLUMN_IN(s, "dso", NULL, TEXT, FS_SHOW_TRUNCATE, NULL, "Its binary"),          \
		FS_COLUMN_IN(s, "pc", NULL, ADDRESS, 0, NULL, "Its code address at run time"),     \
		FS_COLUMN_IN(s, "dso_offset", NULL, ADDRESS, 0, NULL, "File offset of that code"), \
		FS_COLUMN_IN(s, "file", NULL, TEXT, FS_SHOW_TRUNCATE, NULL, "Source file"),        \
		FS_COLUMN_IN(s, "line", NULL, INTEGER, 0, NULL, "Source line"),                    \
		FS_COLUMN_IN(s, "tids", NULL, TEXT, FS_SHOW_TRUNCATE, NULL,                        \
			     "Thread ids, the first 64"),                                          \
		FS_COLUMN_IN(s, "samples", NULL, INTEGER, 0, NULL, "Samples")

static const struct fs_query_column columns[] = {
	FS_COLUMN("rank", "RANK", INTEGER, FS_SHOW_DEFAULT, NULL, "From 1, by score"),
	FS_COLUMN("line", "LINE", ADDRESS, FS_SHOW_DEFAULT, NULL, "Address of the line"),
	FS_COLUMN("space", "SPACE", TEXT, FS_SHOW_TRUNCATE, NULL,
		  "Address space: kernel, or command name and pid"),
	FS_COLUMN("class", "CLASS", TEXT, FS_SHOW_DEFAULT, NULL,
		  "FS: disjoint bytes, TS: common bytes"),
	FS_COLUMN("kind", "KIND", TEXT, FS_SHOW_DEFAULT, NULL, "SS: both write, SL: one loads"),
	FS_COLUMN("types", "TYPE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY | FS_SHOW_TRUNCATE,
		  "iif(a_type IS b_type, a_type, coalesce(a_type, '?') || ', ' || "
		  "coalesce(b_type, '?'))",
		  "a_type, and b_type where it is another"),
	SIDE("a"),
	SIDE("b"),
	FS_COLUMN("windows", "WINDOWS", INTEGER, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "Time slices in which both sides were sampled"),
	FS_COLUMN("score", "SCORE", REAL, 0, NULL, "Operations that missed because of this pair"),
	FS_COLUMN("cost_share", "COST", PERCENT, FS_SHOW_DEFAULT, NULL,
		  "Share of the run's memory latency"),
	FS_COLUMN("cost_low", "COST LOW", PERCENT, 0, NULL, "Lower bound, 95 %"),
	FS_COLUMN("cost_high", "COST HIGH", PERCENT, 0, NULL, "Upper bound, 95 %"),
	FS_COLUMN("misses", "MISSES", REAL, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "Samples behind the score"),
	FS_COLUMN("group_rank", "GROUP", INTEGER, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "Rank in groups of the finding that its line belongs to"),
	FS_COLUMN("group_lines", "GROUP LINES", INTEGER, 0, NULL, "Lines of that finding"),
	FS_COLUMN("evidence", "EVIDENCE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "transfer, l1_miss, latency, access_order"),
	FS_COLUMN("verdict", "VERDICT", TEXT, FS_SHOW_DEFAULT | FS_SHOW_STATE | FS_SHOW_WIDE, NULL,
		  "false, true, adjacent, unknown"),
	FS_COLUMN("reason_code", "RULE", TEXT, 0, NULL, "The rule that gave the verdict"),
	FS_COLUMN("reason", "REASON", TEXT, FS_SHOW_WRAP, NULL, "The same in a sentence"),
};

/* No rows are an all-clear only where contention could have been seen, and all was asked for. */
static int check_measurable(struct fs_options *options, struct fs_error *error)
{
	bool blind;

	FS_TRY(fs_trace_note_blindness(options, &blind, error));
	if (!blind && fs_options_filtered(options))
		options->empty = "no pair of accesses that contends for a line matches the filters";
	return 0;
}

static const struct fs_listing listing = {
	.command = "pairs",
	.about =
		"List pairs of accesses that take a cache line from each other. --dso and --sym "
		"keep a pair when either side matches; --min-samples when both sides together have "
		"as many.",
	.need = FS_NEED_MEMORY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "pairs WHERE trace_id = :trace",
	.order = "rank",
	.filters = { [FS_FILTER_DSO] = { "a_dso", "b_dso" },
		     [FS_FILTER_SYM] = { "a_function", "b_function" },
		     [FS_FILTER_MIN_SAMPLES] = { "(a_samples + b_samples)" } },
	.before = check_measurable,
	.nouns = "pairs",
	.empty = "no pair of accesses contends for a line in this trace; `fsquery top-lines` says "
		 "how much it would have shown",
};

FS_COMMAND(pairs)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
