/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The SQL functions of analyze.h. Aggregates keep their state in SQLite's aggregate context,
 * which starts zeroed; those with heap state free it in their final step, which SQLite also calls
 * when a statement is abandoned.
 */
#include "analyze/analyze.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/formula.h"
#include "common/histogram.h"
#include "common/random.h"
#include "common/table.h"
#include "schema/schema.h"

/*
 * sum(x) as SQLite's own, but a sum of integers that does not fit 64 bits becomes the nearest
 * that does instead of an error: one absurd number in a trace must not cost all findings. 128
 * bits hold the exact sum of any number of rows, so that a window may also take rows out again.
 */
__extension__ typedef __int128 wide __attribute__((aligned(8))); /* SQLite's memory is no more */

struct sum {
	wide integers;
	double reals; /* of all values, when some are not integers */
	sqlite3_int64 count, real_count;
};
_Static_assert(_Alignof(struct sum) <= 8, "sqlite3_aggregate_context() aligns to 8");

static void sum_change(sqlite3_context *context, sqlite3_value *value, int sign)
{
	struct sum *sum = sqlite3_aggregate_context(context, sizeof(*sum));
	int type = sqlite3_value_numeric_type(value);

	if (!sum || type == SQLITE_NULL)
		return;
	sum->count += sign;
	sum->reals += sign * sqlite3_value_double(value);
	if (type == SQLITE_INTEGER)
		sum->integers += sign * (wide)sqlite3_value_int64(value);
	else
		sum->real_count += sign;
}

static void sum_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	sum_change(context, values[0], 1);
}

static void sum_inverse(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	sum_change(context, values[0], -1);
}

static void sum_value(sqlite3_context *context)
{
	const struct sum *sum = sqlite3_aggregate_context(context, 0);

	if (!sum || !sum->count)
		sqlite3_result_null(context);
	else if (sum->real_count)
		sqlite3_result_double(context, sum->reals);
	else if (sum->integers > INT64_MAX)
		sqlite3_result_int64(context, INT64_MAX);
	else if (sum->integers < INT64_MIN)
		sqlite3_result_int64(context, INT64_MIN);
	else
		sqlite3_result_int64(context, (sqlite3_int64)sum->integers);
}

static void bit_or_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	sqlite3_uint64 *bits = sqlite3_aggregate_context(context, sizeof(*bits));

	(void)count;
	if (bits)
		*bits |= (sqlite3_uint64)sqlite3_value_int64(values[0]);
}

static void bit_or_final(sqlite3_context *context)
{
	sqlite3_uint64 *bits = sqlite3_aggregate_context(context, 0);

	sqlite3_result_int64(context, bits ? (sqlite3_int64)*bits : 0);
}

static void popcount(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	sqlite3_result_int(context,
			   __builtin_popcountll((sqlite3_uint64)sqlite3_value_int64(values[0])));
}

/* Add a blob argument to a histogram; false, with the SQL error set, when it is malformed. */
static bool add_blob(sqlite3_context *context, struct fs_histogram *histogram, sqlite3_value *value)
{
	if (sqlite3_value_type(value) == SQLITE_NULL)
		return true;
	if (!fs_histogram_add(histogram, sqlite3_value_blob(value),
			      (size_t)sqlite3_value_bytes(value)))
		return true;
	sqlite3_result_error(context, "malformed latency histogram", -1);
	sqlite3_result_error_code(context, SQLITE_CORRUPT);
	return false;
}

struct quantile {
	struct fs_histogram histogram;
	double share;
};

static void quantile_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct quantile *quantile = sqlite3_aggregate_context(context, sizeof(*quantile));

	(void)count;
	if (!quantile)
		return;
	quantile->share = sqlite3_value_double(values[1]);
	add_blob(context, &quantile->histogram, values[0]);
}

static void quantile_final(sqlite3_context *context)
{
	struct quantile *quantile = sqlite3_aggregate_context(context, 0);
	int64_t latency =
		quantile ? fs_histogram_quantile(&quantile->histogram, quantile->share) : -1;

	if (latency < 0)
		sqlite3_result_null(context);
	else
		sqlite3_result_int64(context, latency);
}

/*
 * Bootstrap: what the sum of values in so many places could as well have been, had the run been
 * another mixture of its parts. Each resample draws as many places as there are, with replacement;
 * those without a value are 0.
 */
enum { RESAMPLES = 400, PLACES_MAX = 64 };

struct resampled {
	double value[PLACES_MAX];
	size_t count;  /* values seen */
	size_t places; /* at least count */
};

static void resample_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct resampled *seen = sqlite3_aggregate_context(context, sizeof(*seen));
	sqlite3_int64 places = sqlite3_value_int64(values[1]);

	(void)count;
	if (!seen || seen->count == PLACES_MAX)
		return;
	seen->value[seen->count++] = sqlite3_value_double(values[0]);
	places = places < PLACES_MAX ? places : PLACES_MAX;
	if (places > (sqlite3_int64)seen->places)
		seen->places = (size_t)places;
	if (seen->count > seen->places)
		seen->places = seen->count;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The 2.5th and 97.5th percentile of the resampled sums, as a JSON array of factors of the sum. */
static void resample_final(sqlite3_context *context)
{
	const struct resampled *seen = sqlite3_aggregate_context(context, 0);
	double sums[RESAMPLES] = { 0 };
	uint64_t state = 1;
	double sum = 0;
	char text[80];

	for (size_t i = 0; seen && i < seen->count; i++)
		sum += seen->value[i];
	if (!seen || !(fabs(sum) > 0)) {
		sqlite3_result_null(context);
		return;
	}
	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t k = 0; k < seen->places; k++) {
			size_t place = (fs_random(&state) >> 32) * seen->places >> 32;

			sums[i] += place < seen->count ? seen->value[place] / sum : 0;
		}
	}
	qsort(sums, RESAMPLES, sizeof(*sums), compare_doubles);
	snprintf(text, sizeof(text), "[%.6f, %.6f]", sums[RESAMPLES / 40 - 1],
		 sums[RESAMPLES - RESAMPLES / 40]);
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void histogram_above(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct fs_histogram histogram = { 0 };
	sqlite3_int64 limit = sqlite3_value_int64(values[1]);
	sqlite3_uint64 above = 0;

	(void)count;
	if (!add_blob(context, &histogram, values[0]))
		return;
	for (unsigned int bucket = 0; bucket < FS_HISTOGRAM_BUCKETS; bucket++)
		if ((sqlite3_int64)fs_histogram_floor(bucket) >= limit)
			above += histogram.count[bucket];
	sqlite3_result_int64(context, (sqlite3_int64)above);
}

struct quantiles_by {
	struct fs_table table; /* key -> struct fs_histogram */
	double share;
	bool ready;
};

static void quantiles_by_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct quantiles_by *state = sqlite3_aggregate_context(context, sizeof(*state));
	sqlite3_int64 key = sqlite3_value_int64(values[0]);
	struct fs_histogram *histogram;

	(void)count;
	if (!state)
		return;
	if (!state->ready) {
		fs_table_init(&state->table, sizeof(key), sizeof(*histogram));
		state->share = sqlite3_value_double(values[2]);
		state->ready = true;
	}
	histogram = fs_table_put(&state->table, &key, NULL, NULL);
	if (!histogram)
		sqlite3_result_error_nomem(context);
	else
		add_blob(context, histogram, values[1]);
}

static void quantiles_by_final(sqlite3_context *context)
{
	struct quantiles_by *state = sqlite3_aggregate_context(context, 0);
	sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(context));
	char *json;

	sqlite3_str_appendchar(text, 1, '{');
	for (size_t i = 0; state && i < state->table.count; i++) {
		int64_t latency =
			fs_histogram_quantile(fs_table_value(&state->table, i), state->share);

		if (latency >= 0)
			sqlite3_str_appendf(text, "%s\"%lld\":%lld",
					    sqlite3_str_length(text) > 1 ? "," : "",
					    *(sqlite3_int64 *)fs_table_key(&state->table, i),
					    (sqlite3_int64)latency);
	}
	sqlite3_str_appendchar(text, 1, '}');
	if (state && state->ready)
		fs_table_free(&state->table);
	json = sqlite3_str_finish(text);
	if (json)
		sqlite3_result_text(context, json, -1, sqlite3_free);
	else
		sqlite3_result_error_nomem(context);
}

/* Names in a formula as a JSON array; their characters need no escape. */
static void formula_names(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *at = (const char *)sqlite3_value_text(values[0]);
	sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(context));
	const char *name;
	size_t length;
	char *json;

	(void)count;
	sqlite3_str_appendchar(text, 1, '[');
	while (at && (length = fs_formula_name(&at, &name)))
		sqlite3_str_appendf(text, "%s\"%.*s\"", sqlite3_str_length(text) > 1 ? "," : "",
				    (int)length, name);
	sqlite3_str_appendchar(text, 1, ']');
	json = sqlite3_str_finish(text);
	if (json)
		sqlite3_result_text(context, json, -1, sqlite3_free);
	else
		sqlite3_result_error_nomem(context);
}

enum { MOST_COUNTS = 16 };

struct formula {
	char text[512];
	struct fs_formula_count counts[MOST_COUNTS];
	size_t used;
};

static void formula_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct formula *formula = sqlite3_aggregate_context(context, sizeof(*formula));
	const char *text = (const char *)sqlite3_value_text(values[0]);
	const char *name = (const char *)sqlite3_value_text(values[1]);
	struct fs_formula_count *counted;

	(void)count;
	if (!formula || !text || !name)
		return;
	if (strlen(text) >= sizeof(formula->text) ||
	    strlen(name) >= sizeof(formula->counts[0].name) || formula->used == MOST_COUNTS) {
		sqlite3_result_error(context, "formula or name too long", -1);
		return;
	}
	strcpy(formula->text, text);
	counted = &formula->counts[formula->used++];
	strcpy(counted->name, name);
	counted->value = sqlite3_value_double(values[2]);
	counted->deviation = sqlite3_value_double(values[3]);
}

static void formula_result(sqlite3_context *context, bool of_error)
{
	struct formula *formula = sqlite3_aggregate_context(context, 0);
	double value, error;

	if (!formula || !formula->used)
		return;
	value = fs_formula_value(formula->text, formula->counts, formula->used, &error);
	if (isfinite(value) && isfinite(error))
		sqlite3_result_double(context, of_error ? error : value);
}

static void formula_value(sqlite3_context *context)
{
	formula_result(context, false);
}

static void formula_error(sqlite3_context *context)
{
	formula_result(context, true);
}

static const struct function {
	const char *name;
	int arguments;
	void (*scalar)(sqlite3_context *, int, sqlite3_value **);
	void (*step)(sqlite3_context *, int, sqlite3_value **);
	void (*final)(sqlite3_context *);
} functions[] = {
	{ "bit_or", 1, NULL, bit_or_step, bit_or_final },
	{ "popcount", 1, popcount, NULL, NULL },
	{ "histogram_quantile", 2, NULL, quantile_step, quantile_final },
	{ "histogram_above", 2, histogram_above, NULL, NULL },
	{ "resampled_sum", 2, NULL, resample_step, resample_final },
	{ "formula_names", 1, formula_names, NULL, NULL },
	{ "formula_value", 4, NULL, formula_step, formula_value },
	{ "formula_error", 4, NULL, formula_step, formula_error },
	{ "quantiles_by", 3, NULL, quantiles_by_step, quantiles_by_final },
};

int fs_analyze_register(sqlite3 *db, struct fs_error *error)
{
	enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };

	if (sqlite3_create_window_function(db, "sum", 1, FLAGS, NULL, sum_step, sum_value,
					   sum_value, sum_inverse, NULL) != SQLITE_OK)
		return fs_sql_fail(db, NULL, error);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments, FLAGS,
					       NULL, functions[i].scalar, functions[i].step,
					       functions[i].final, NULL) != SQLITE_OK)
			return fs_fail(error, FS_INTERNAL,
				       "cannot register the SQL function %s: %s", functions[i].name,
				       sqlite3_errmsg(db));
	return 0;
}
