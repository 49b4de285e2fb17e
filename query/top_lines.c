/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top-lines: cache lines with a verdict, the costliest first; schema/views/top_lines.sql.
 *
 * When no line is contended, the answer is how much contention the capture could have missed. A
 * verdict needs some samples that missed (k, the passes' min_miss_samples). A line with the share
 * p of the accesses gives n p of n samples on average; with 95 % it gives k when n p is large
 * enough: 3.0 for k = 1 (the rule of three), 9.2 for k = 5.
 */
#include <math.h>

#include "query/database.h"
#include "query/listing.h"

#define COST                                                                                       \
	"iif(cost_share IS NULL, NULL, printf('%.1f %% (%.1f-%.1f)', 100 * cost_share, "           \
	"100 * cost_low, 100 * cost_high))"

static const struct fs_query_column columns[] = {
	FS_COLUMN("rank", "RANK", INTEGER, FS_SHOW_DEFAULT, NULL, "From 1, the costliest"),
	FS_COLUMN("line", "LINE", ADDRESS, FS_SHOW_DEFAULT, NULL, "Address of the line"),
	FS_COLUMN("size", "SIZE", INTEGER, 0, NULL, "Bytes of the line"),
	FS_COLUMN("space", "SPACE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE | FS_SHOW_WIDE, NULL,
		  "Address space: kernel, or command name and pid"),
	FS_COLUMN("verdict", "VERDICT", TEXT, FS_SHOW_DEFAULT | FS_SHOW_STATE, NULL,
		  "false, true, mixed, private, read-only, unknown"),
	FS_COLUMN("confidence", "SURE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "high, medium, low"),
	FS_COLUMN("object", "OBJECT", TEXT, FS_SHOW_TRUNCATE, NULL,
		  "Data object; always empty in this version"),
	FS_COLUMN("type", "TYPE", TEXT, FS_SHOW_TRUNCATE, NULL,
		  "Its type; always empty in this version"),
	FS_COLUMN("samples", "SAMPLES", INTEGER, FS_SHOW_DEFAULT, NULL, "Samples of the line"),
	FS_COLUMN("loads", "LOADS", INTEGER, 0, NULL, "Of them, loads"),
	FS_COLUMN("stores", "STORES", INTEGER, 0, NULL, "Of them, stores"),
	FS_COLUMN("atomics", "ATOMICS", INTEGER, 0, NULL,
		  "Of them, read-modify-writes and locked accesses"),
	FS_COLUMN("writes", "WRITES", INTEGER, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY | FS_SHOW_WIDE,
		  "stores + atomics", "stores + atomics"),
	FS_COLUMN("hitm_local", "HITM LCL", INTEGER, 0, NULL,
		  "Served from a modified line of another core, same node"),
	FS_COLUMN("hitm_remote", "HITM RMT", INTEGER, 0, NULL, "The same, other node"),
	FS_COLUMN("peer_local", "PEER LCL", INTEGER, 0, NULL,
		  "Served from another core's cache, state not told or clean, same node"),
	FS_COLUMN("peer_remote", "PEER RMT", INTEGER, 0, NULL, "The same, other node"),
	FS_COLUMN("hitm", "HITM", INTEGER, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY,
		  "hitm_local + hitm_remote", "hitm_local + hitm_remote"),
	FS_COLUMN("peer", "PEER", INTEGER, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY,
		  "peer_local + peer_remote", "peer_local + peer_remote"),
	FS_COLUMN("threads", "THREADS", INTEGER, FS_SHOW_DEFAULT, NULL, "Threads that touched it"),
	FS_COLUMN("cpus", "CPUS", INTEGER, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "CPUs that touched it"),
	FS_COLUMN("nodes", "NODES", INTEGER, 0, NULL, "NUMA nodes of those CPUs"),
	FS_COLUMN("latency_mean", "CYCLES", REAL, FS_SHOW_DEFAULT, NULL,
		  "Mean cycles, over the samples that have a latency"),
	FS_COLUMN("latency_p95", "P95", INTEGER, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "95 % of them took no more cycles"),
	FS_COLUMN("excess_latency", "EXCESS", REAL, 0, NULL,
		  "Cycles above what hits would have paid, signed, over the run"),
	FS_COLUMN("cost", "COST (95 %)", TEXT, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY, COST,
		  "cost_share with its bounds"),
	FS_COLUMN("cost_share", "COST", PERCENT, 0, NULL,
		  "Share of the run's memory latency that the contention costs"),
	FS_COLUMN("cost_low", "COST LOW", PERCENT, 0, NULL, "Lower bound, 95 %"),
	FS_COLUMN("cost_high", "COST HIGH", PERCENT, 0, NULL, "Upper bound, 95 %"),
	FS_COLUMN("gain_low", "GAIN LOW", PERCENT, 0, NULL,
		  "What ending the false sharing would give, at least"),
	FS_COLUMN("gain_high", "GAIN HIGH", PERCENT, 0, NULL, "The same, at most"),
	FS_COLUMN("offsets", "OFFSETS", INTEGER, 0, NULL, "Distinct sampled offsets"),
	FS_COLUMN("fields", "FIELDS", TEXT, FS_SHOW_TRUNCATE, NULL,
		  "Struct fields there; always empty in this version"),
	FS_COLUMN("split", "SPLIT", INTEGER, 0, NULL, "Samples that reach into the next line"),
	FS_COLUMN("writer_sampled", "WRITER", FLAG, 0, NULL,
		  "1: a store or atomic of another CPU was sampled"),
	FS_COLUMN("evidence", "EVIDENCE", TEXT, 0, NULL,
		  "transfer, l1_miss, latency, access_order"),
	FS_COLUMN("reason_code", "RULE", TEXT, 0, NULL, "The rule that gave the verdict"),
	FS_COLUMN("reason", "REASON", TEXT, FS_SHOW_WRAP, NULL, "The same in a sentence"),
};

static int sum_lines(const struct fs_query *query, const char *what, const char *which,
		     int64_t trace_id, int64_t *ret_value, struct fs_error *error)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT %s FROM line_total WHERE trace_id = ? AND %s", what,
		 which);
	return fs_database_integer(query, sql, trace_id, 0, ret_value, error);
}

/* A threshold that the passes used for this trace; schema table `parameter`. */
static int parameter(const struct fs_options *options, const char *name, double missing,
		     double *ret_value, struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;

	FS_TRY(fs_database_prepare(options->query,
				   "SELECT value FROM parameter WHERE trace_id = ? AND name = ?",
				   &statement, error));
	sqlite3_bind_int64(statement, 1, options->trace_id);
	sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
	*ret_value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_double(statement, 0)
							   : missing;
	sqlite3_finalize(statement);
	return 0;
}

/* The expected count at which a Poisson count is at least `needed` with 95 %: 3.0 for one. */
static double expected_for(unsigned int needed)
{
	double expected = needed;

	for (;; expected += 0.01) {
		double term = exp(-expected);
		double below = 0;

		for (unsigned int i = 0; i < needed; i++) {
			below += term;
			term *= expected / (i + 1);
		}
		if (below <= 0.05)
			return expected;
	}
}

/* The answer's own footing: what so many samples without a contended line exclude. */
static int note_power(struct fs_options *options, int64_t samples, struct fs_error *error)
{
	const struct fs_query *query = options->query;
	int64_t writes, latency, worst;
	double needed, expected, floor, power, bound;

	FS_TRY(sum_lines(query, "sum(stores + atomics)", "1", options->trace_id, &writes, error));
	FS_TRY(sum_lines(query, "sum(latency_sum)", "1", options->trace_id, &latency, error));
	FS_TRY(sum_lines(query, "max(latency_sum)", "threads > 1", options->trace_id, &worst,
			 error));
	FS_TRY(parameter(options, "min_miss_samples", 1, &needed, error));
	FS_TRY(parameter(options, "min_program_share", 0, &floor, error));
	needed = needed >= 1 && needed <= 100 ? needed : 1;
	expected = expected_for((unsigned int)needed);
	power = expected / (double)samples;
	power = power > floor ? power : floor;
	power = power < 1 ? power : 1;
	bound = latency ? (double)worst / (double)latency : 0;
	bound = bound > power ? bound : power;
	return fs_options_note(
		options, error,
		"no contended line was found: no line above %.2g %% of memory latency; "
		"this capture would have shown one above %.2g %% (a verdict needs %.0f "
		"samples; %.1f expected give them with 95 %%, of n = %lld memory "
		"samples)%s",
		100 * bound, 100 * power, needed, expected, (long long)samples,
		writes ? ""
		       : "; no store was sampled, so contention between writers "
			 "could not be seen");
}

static int check_contended(struct fs_options *options, struct fs_error *error)
{
	const struct fs_query *query = options->query;
	int64_t samples, contended, unknown;

	FS_TRY(fs_database_integer(query,
				   "SELECT count(*) FROM line_finding WHERE trace_id = ? AND "
				   "verdict IN ('false', 'true', 'mixed', 'adjacent')",
				   options->trace_id, 0, &contended, error));
	if (contended)
		return 0;
	FS_TRY(fs_database_integer(query, "SELECT memory_samples FROM trace WHERE id = ?",
				   options->trace_id, 0, &samples, error));
	if (!samples)
		return fs_options_note(
			options, error,
			"no sample of this trace has a data address, so contention is "
			"not measurable; `fsquery health` says what to record");
	FS_TRY(note_power(options, samples, error));
	FS_TRY(fs_database_integer(query,
				   "SELECT count(*) FROM line_finding WHERE trace_id = ? AND "
				   "verdict = 'unknown'",
				   options->trace_id, 0, &unknown, error));
	return unknown ? fs_options_note(options, error,
					 "lines with the verdict unknown: %lld; --columns "
					 "rank,line,reason says why",
					 (long long)unknown)
		       : 0;
}

static const struct fs_listing listing = {
	.command = "top-lines",
	.about = "List cache lines with a verdict, the costliest first. The sums HITM and PEER are "
		 "samples served from a line modified in another core, and from another core's "
		 "cache "
		 "whatever its state.",
	.need = FS_NEED_MEMORY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "top_lines WHERE trace_id = :trace",
	.order = "rank",
	.filters = { [FS_FILTER_MIN_SAMPLES] = { "samples" } },
	.before = check_contended,
	.nouns = "lines",
};

FS_COMMAND(top_lines)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
