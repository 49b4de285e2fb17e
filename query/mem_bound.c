/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mem-bound: functions by the share of their time bound to memory; schema/views/mem_bound.sql.
 */
#include "query/database.h"
#include "query/listing.h"

/* SQL: all functions of the row's source have the same tip, which is then told once. */
#define ONE_TIP                                                                                    \
	"(SELECT count(*) > 1 AND count(DISTINCT ifnull(o.tip, '')) = 1 FROM mem_bound_finding "   \
	"AS o WHERE o.trace_id = :trace AND o.source = mem_bound.source)"

static const struct fs_query_column columns[] = {
	FS_COLUMN("rank", "RANK", INTEGER, FS_SHOW_DEFAULT, NULL, "From 1"),
	FS_COLUMN("function", "FUNCTION", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL,
		  "Its name; without a symbol the file offset in dso"),
	FS_COLUMN("dso", "DSO", TEXT, FS_SHOW_TRUNCATE | FS_SHOW_TAIL, NULL, "Binary"),
	FS_COLUMN("binary", "DSO", TEXT, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY | FS_SHOW_TRUNCATE,
		  FS_BASE_NAME("dso"), "Base name of the binary"),
	FS_COLUMN("source", "SOURCE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "Where the number comes from: cycles, spe_latency_share, load_latency_share"),
	FS_COLUMN("samples", "SAMPLES", INTEGER, FS_SHOW_DEFAULT, NULL, "Samples of the function"),
	FS_COLUMN("share", "SHARE", PERCENT, FS_SHOW_DEFAULT, NULL,
		  "Share of the trace's cycles, or of its sampled memory latency"),
	FS_COLUMN("mem_bound", "MEM BOUND", PERCENT, FS_SHOW_DEFAULT, NULL,
		  "By the formula in method; empty: the tip says why"),
	FS_COLUMN("low", "LOW", PERCENT, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "Lower bound of mem_bound, else of share, 95 %"),
	FS_COLUMN("high", "HIGH", PERCENT, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL, "Upper bound"),
	FS_COLUMN("n", "N", INTEGER, FS_SHOW_DEFAULT, NULL, "Samples behind the number"),
	FS_COLUMN("method", "METHOD", TEXT, FS_SHOW_TRUNCATE, NULL,
		  "The formula, with the events' names"),
	FS_COLUMN("tip", "TIP", TEXT, FS_SHOW_WRAP, NULL,
		  "What to do, or why there is no number; the line that the function contends on, "
		  "and the command that shows more"),
	FS_COLUMN("own_tip", "TIP", TEXT, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY | FS_SHOW_WRAP,
		  "iif(" ONE_TIP ", contends || ': ' || see, tip)",
		  "The tip, without what is the same for all functions"),
	FS_COLUMN("contends", "CONTENDS ON", TEXT, FS_SHOW_WRAP, NULL,
		  "The costliest pair that the function takes part in, of this trace or the newest "
		  "that has such"),
	FS_COLUMN("see", "PAIRS", TEXT, FS_SHOW_WRAP, NULL,
		  "The command that lists all its pairs and their lines"),
};

/* A ratio is never shown without its formula, and a latency share is not boundness. */
static int note_method(struct fs_options *options, struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	int code = fs_database_prepare(options->query,
				       "SELECT iif(source = 'cycles', 'mem_bound', source), "
				       "method, iif(count(*) > 1 AND "
				       "count(DISTINCT ifnull(tip, '')) = 1, min(tip), NULL) "
				       "FROM mem_bound_finding WHERE trace_id = ? "
				       "GROUP BY source, method ORDER BY min(rank) LIMIT 4",
				       &statement, error);

	if (code)
		return code;
	sqlite3_bind_int64(statement, 1, options->trace_id);
	while (!code && sqlite3_step(statement) == SQLITE_ROW) {
		const char *tip = (const char *)sqlite3_column_text(statement, 2);

		code = fs_options_note(
			options, error, "%s = %s%s%s", fs_database_text(statement, 0),
			fs_database_text(statement, 1), tip ? ". " : "", tip ? tip : "");
	}
	sqlite3_finalize(statement);
	return code;
}

static const struct fs_listing listing = {
	.command = "mem-bound",
	.about = "List functions by the share of their time that is bound to memory; where the "
		 "trace has no stall event, by their share of the sampled memory latency.",
	.need = FS_NEED_MEM_BOUND,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "mem_bound WHERE trace_id = :trace",
	.order = "rank",
	.filters = { [FS_FILTER_DSO] = { "dso" },
		     [FS_FILTER_SYM] = { "function" },
		     [FS_FILTER_MIN_SAMPLES] = { "samples" } },
	.before = note_method,
	.nouns = "functions",
	.empty = "no function has enough samples to be judged; `fsquery health` says what is "
		 "missing "
		 "and what to record",
};

FS_COMMAND(mem_bound)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
