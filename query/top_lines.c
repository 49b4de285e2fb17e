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
#include <stdlib.h>
#include <string.h>

#include "query/database.h"
#include "query/listing.h"

#define COST                                                                                       \
	"iif(cost_share IS NULL, NULL, printf('%.1f %% (%.1f-%.1f)', 100 * cost_share, "           \
	"100 * cost_low, 100 * cost_high))"

#define GAIN "iif(gain_low IS NULL, NULL, printf('%.1f-%.1fx', gain_low, gain_high))"

/* Of lines that nobody wrote, ingest only knows whether one thread touched them. */
#define THREADS "iif(verdict = 'read-only' AND threads = 2, '2+', threads)"

static const struct fs_query_column columns[] = {
	FS_COLUMN("rank", "RANK", INTEGER, FS_SHOW_DEFAULT, NULL, "From 1, the costliest"),
	FS_COLUMN("line", "LINE", ADDRESS, FS_SHOW_DEFAULT, NULL, "Address of the line"),
	FS_COLUMN("size", "SIZE", INTEGER, 0, NULL,
		  "Bytes of the line; of two where neighbours were judged as one"),
	FS_COLUMN("space", "SPACE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE | FS_SHOW_WIDE, NULL,
		  "Address space: kernel, or command name and pid"),
	FS_COLUMN("verdict", "VERDICT", TEXT, FS_SHOW_DEFAULT | FS_SHOW_STATE, NULL,
		  "false, true, mixed, adjacent, latent, private, read-only, unknown"),
	FS_COLUMN("confidence", "SURE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "high, medium, low"),
	FS_COLUMN("object", "OBJECT", TEXT, FS_SHOW_TRUNCATE, NULL,
		  "Sampled variables with the line's distance in them, or types and addresses of "
		  "objects; else in what it lies, as in objects; empty: not known"),
	FS_COLUMN(
		"object_kind", "KIND", TEXT, FS_SHOW_TRUNCATE, NULL,
		"variable, instance (of a type), block (of the heap, by what allocates it), heap, "
		"stack, file, shared, anonymous, kernel, unknown"),
	FS_COLUMN("type", "TYPE", TEXT, FS_SHOW_TRUNCATE, NULL, "Types of these objects"),
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
	FS_COLUMN_PEOPLE("threads", "THREADS", INTEGER, FS_SHOW_DEFAULT, THREADS,
			 "Threads that touched it; 2 stands for two or more where the verdict is "
			 "read-only: 2+ in tables"),
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
		  "What the contention costs, as a share of what cost_of says"),
	FS_COLUMN("cost_low", "COST LOW", PERCENT, 0, NULL, "Lower bound, 95 %"),
	FS_COLUMN("cost_high", "COST HIGH", PERCENT, 0, NULL, "Upper bound, 95 %"),
	FS_COLUMN("cost_of", "COST OF", TEXT, 0, NULL,
		  "latency: of all sampled memory latency; cycles: of all sampled cycles"),
	FS_COLUMN("gain", "GAIN", TEXT, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY | FS_SHOW_WIDE, GAIN,
		  "gain_low and gain_high"),
	FS_COLUMN("gain_low", "GAIN LOW", REAL, 0, NULL,
		  "How many times faster the program is at least when the false sharing of the "
		  "line and of the other lines of its object has ended"),
	FS_COLUMN("gain_high", "GAIN HIGH", REAL, 0, NULL, "The same, at most"),
	FS_COLUMN("gain_lines", "GAIN LINES", INTEGER, 0, NULL, "Lines that this repair ends"),
	FS_COLUMN("gain_reason_code", "GAIN RULE", TEXT, 0, NULL,
		  "The rule that gave the gain, or why there is none"),
	FS_COLUMN("gain_reason", "GAIN REASON", TEXT, FS_SHOW_WRAP, NULL,
		  "The same in a sentence, with its assumptions"),
	FS_COLUMN("group_rank", "GROUP", INTEGER, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "Rank in groups of the finding that it belongs to; empty: not contended"),
	FS_COLUMN("group_lines", "GROUP LINES", INTEGER, 0, NULL, "Lines of that finding"),
	FS_COLUMN("offsets", "OFFSETS", INTEGER, 0, NULL, "Distinct sampled offsets"),
	FS_COLUMN("fields", "FIELDS", TEXT, FS_SHOW_TRUNCATE, NULL, "Sampled fields"),
	FS_COLUMN("split", "SPLIT", INTEGER, 0, NULL, "Samples that reach into the next line"),
	FS_COLUMN("writer_sampled", "WRITER", FLAG, 0, NULL,
		  "1: a store or atomic of another CPU was sampled"),
	FS_COLUMN("evidence", "EVIDENCE", TEXT, 0, NULL,
		  "transfer, l1_miss, latency, access_order"),
	FS_COLUMN("reason_code", "RULE", TEXT, 0, NULL, "The rule that gave the verdict"),
	FS_COLUMN("reason", "REASON", TEXT, FS_SHOW_WRAP, NULL, "The same in a sentence"),
};

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
	int64_t writes;
	double needed, expected, floor, power;

	FS_TRY(fs_database_integer(
		query, "SELECT sum(stores + atomics) FROM line_total WHERE trace_id = ?",
		options->trace_id, 0, &writes, error));
	FS_TRY(parameter(options, "min_miss_samples", 1, &needed, error));
	FS_TRY(parameter(options, "min_program_share", 0, &floor, error));
	needed = needed >= 1 && needed <= 100 ? needed : 1;
	expected = expected_for((unsigned int)needed);
	power = expected / (double)samples;
	power = power > floor ? power : floor;
	power = power < 1 ? power : 1;
	return fs_options_note(
		options, error,
		"no contended line was found: no line above %.2g %% of memory latency is "
		"contended; this capture would have shown one above %.2g %% (a verdict needs "
		"%.0f samples; %.1f expected give them with 95 %%, of n = %lld memory "
		"samples)%s",
		100 * power, 100 * power, needed, expected, (long long)samples,
		writes ? ""
		       : "; no store was sampled, so contention between writers "
			 "could not be seen");
}

static int check_contended(struct fs_options *options, struct fs_error *error)
{
	const struct fs_query *query = options->query;
	int64_t samples, contended, unknown;
	bool blind;

	FS_TRY(fs_trace_note_blindness(options, &blind, error));
	if (blind)
		return 0;
	FS_TRY(fs_database_integer(query,
				   "SELECT count(*) FROM line_finding WHERE trace_id = ? AND "
				   "verdict IN ('false', 'true', 'mixed', 'adjacent')",
				   options->trace_id, 0, &contended, error));
	if (contended)
		return 0;
	FS_TRY(fs_database_integer(query, "SELECT memory_samples FROM trace WHERE id = ?",
				   options->trace_id, 0, &samples, error));
	FS_TRY(note_power(options, samples, error));
	FS_TRY(fs_database_integer(query,
				   "SELECT count(*) FROM line_finding WHERE trace_id = ? AND "
				   "verdict = 'unknown'",
				   options->trace_id, 0, &unknown, error));
	return unknown ? fs_options_note(options, error,
					 "lines with the verdict unknown: %lld; --all --columns "
					 "rank,line,reason says why",
					 (long long)unknown)
		       : 0;
}

#define WORTH                                                                                      \
	"verdict NOT IN ('private', 'read-only') AND (verdict <> 'unknown' OR evidence NOTNULL)"

/* "35 private, 2 read-only and 1 unknown line": as many kinds as there are. */
static int say_hidden(struct fs_options *options, const int64_t hidden[3], struct fs_error *error)
{
	static const char *const names[] = { "private", "read-only", "unknown (no evidence)" };
	char text[160] = "";
	int64_t total = hidden[0] + hidden[1] + hidden[2];
	int64_t left = total;

	if (!total)
		return 0;
	for (int i = 0; i < 3; i++) {
		size_t used = strlen(text);

		if (!hidden[i])
			continue;
		left -= hidden[i];
		snprintf(text + used, sizeof(text) - used, "%s%lld %s",
			 !used	? ""
			 : left ? ", "
				: " and ",
			 (long long)hidden[i], names[i]);
	}
	return fs_options_note(options, error, "%s %s not shown; --all shows %s", text,
			       total > 1 ? "lines are" : "line is", total > 1 ? "them" : "it");
}

/* "35 private and 2 read-only lines are not shown": what people's formats leave out. */
static int note_hidden(struct fs_options *options, struct fs_error *error)
{
	const char *least = options->filters[FS_FILTER_MIN_SAMPLES];
	sqlite3_stmt *statement = NULL;
	int64_t hidden[3];

	if (!fs_options_brief(options))
		return 0;
	FS_TRY(fs_database_prepare(options->query,
				   "SELECT sum(verdict = 'private'), sum(verdict = 'read-only'), "
				   "sum(verdict = 'unknown') FROM line_finding "
				   "WHERE trace_id = ? AND samples >= ? AND NOT (" WORTH ")",
				   &statement, error));
	sqlite3_bind_int64(statement, 1, options->trace_id);
	sqlite3_bind_int64(statement, 2, least ? strtoll(least, NULL, 10) : 0);
	sqlite3_step(statement);
	for (int i = 0; i < 3; i++)
		hidden[i] = sqlite3_column_int64(statement, i);
	sqlite3_finalize(statement);
	return say_hidden(options, hidden, error);
}

/* Which of the lines are one finding. */
static int note_groups(struct fs_options *options, struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	int code = 0;

	FS_TRY(fs_database_prepare(
		options->query,
		"SELECT format('%d lines are one finding: %s; `fsquery groups` lists %d', lines, "
		"reason, (SELECT count(*) FROM line_groups WHERE trace_id = ?1)) FROM line_groups "
		"WHERE trace_id = ?1 AND lines > 1 ORDER BY rank LIMIT 1",
		&statement, error));
	sqlite3_bind_int64(statement, 1, options->trace_id);
	if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
		code = fs_options_note(options, error, "%s",
				       (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return code;
}

/* What a reader asks next: is it worth it. */
static int note_gain(struct fs_options *options, struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	int code = 0;

	FS_TRY(fs_database_prepare(options->query,
				   "SELECT iif(gain_low IS NULL, "
				   "'what ending the false sharing gives is not told', "
				   "format('ending all false sharing makes the program %.1f to "
				   "%.1f times faster', gain_low, gain_high)) || '; --columns "
				   "rank,gain_lines,gain_reason says why' "
				   "FROM gain_finding WHERE trace_id = ? AND unit = 0",
				   &statement, error));
	sqlite3_bind_int64(statement, 1, options->trace_id);
	if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
		code = fs_options_note(options, error, "%s",
				       (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return code;
}

static int prepare(struct fs_options *options, struct fs_error *error)
{
	FS_TRY(check_contended(options, error));
	FS_TRY(note_hidden(options, error));
	FS_TRY(note_groups(options, error));
	return note_gain(options, error);
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
	.worth = WORTH,
	.argp = &fs_all_argp,
	.before = prepare,
	.nouns = "lines",
};

FS_COMMAND(top_lines)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
