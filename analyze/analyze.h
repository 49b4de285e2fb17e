/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The passes that turn roll-ups into findings.
 *
 * Each pass is one SQL file of this directory, headed by what it computes and from which
 * definition; the build embeds them, in the order of their file names, as fs_passes. A pass may
 * hold several statements; each sees the trace as :trace. Passes hand each other intermediate
 * results in TEMP tables named t_*. Thresholds stand in 00_parameters.sql and nowhere else.
 *
 * SQL functions that the passes may use, beside SQLite's own:
 *
 *   sum(x)                         as SQLite's own, but at the end of the range where that would
 *                                  overflow
 *   bit_or(x)                      aggregate: union of the bits, 0 of no rows
 *   popcount(x)                    number of set bits
 *   histogram_quantile(blob, s)    aggregate: quantile s (0..1) of merged latency histograms
 *   histogram_above(blob, limit)   number of samples in buckets that start at or above limit
 *   resampled_sum(x, n)            aggregate: bounds that hold 95 % of what the sum of x over n
 *                                  places, at most 64, gives when the places are drawn anew
 *                                  (bootstrap, fixed seed), as factors of the sum: "[low, high]";
 *                                  NULL where the sum is 0
 *   quantiles_by(key, blob, s)     aggregate without GROUP BY: {"key": quantile, ...} as JSON.
 *                                  SQLite groups by sorting; this hashes, which is many times
 *                                  faster for long tables with blobs
 *   formula_names(text)            names in a formula (formula.h), a JSON array
 *   formula_value(text, name, value, deviation)
 *                                  aggregate over the counts of a formula, each with its standard
 *                                  error: the value; NULL where that is not a number
 *   formula_error(text, name, value, deviation)
 *                                  the standard error of that value
 */
#ifndef FS_ANALYZE_ANALYZE_H
#define FS_ANALYZE_ANALYZE_H

#include <sqlite3.h>

#include "common/error.h"

struct fs_pass {
	const char *name;
	const char *sql;
};

/* All passes in running order; ends with a NULL name. */
extern const struct fs_pass fs_passes[];

/*
 * Delete the findings of a trace and make them again from its roll-ups. Registers the SQL
 * functions above on db. Runs inside the caller's transaction, if there is one; does not begin or
 * end one. Fails as fs_sql_fail() says, naming the pass.
 */
int fs_analyze(sqlite3 *db, sqlite3_int64 trace_id, struct fs_error *error);

/* Register the SQL functions above; for tests and tools that run a pass by hand. */
int fs_analyze_register(sqlite3 *db, struct fs_error *error);

#endif
