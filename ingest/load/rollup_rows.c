/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: one function per table. `access` and `code_total`, which have blobs, go row by row
 * by rows.h; the two long tables of integers go in pieces by bulk.h.
 */
#include "ingest/load/rollup_rows.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/load/bulk.h"
#include "ingest/load/rows.h"

struct rollup_store {
	sqlite3 *db;
	const struct fs_rollup *rollup;
	const struct fs_id_bases *bases;
	int64_t trace;
	struct fs_error *error;
	struct fs_rows rows;
};

static int store_access(struct rollup_store *store)
{
	const struct fs_rollup *rollup = store->rollup;
	const struct fs_id_bases *bases = store->bases;

	FS_TRY(fs_rows_begin(&store->rows, "access"));
	for (size_t i = 0; i < rollup->group_count; i++) {
		const struct fs_rollup_group *group = &rollup->groups[i];
		const struct fs_rollup_sums *sums = &group->sums;

		fs_rows_integer(&store->rows, store->trace);
		fs_rows_integer(&store->rows, bases->space + group->space);
		fs_rows_integer(&store->rows,
				(int64_t)(group->addr & ~(uint64_t)(FS_ROLLUP_LINE - 1)));
		fs_rows_integer(&store->rows, (int64_t)group->addr);
		fs_rows_optional(&store->rows, group->phys_line, group->phys_line);
		fs_rows_integer(&store->rows, bases->event + group->event);
		fs_rows_integer(&store->rows, group->op);
		fs_rows_optional(&store->rows, group->code != FS_ROLLUP_NONE,
				 bases->code + group->code);
		fs_rows_optional(&store->rows, group->thread != FS_ROLLUP_NONE,
				 bases->thread + group->thread);
		fs_rows_optional(&store->rows, group->cpu != FS_ROLLUP_NONE, group->cpu);
		fs_rows_integer(&store->rows, group->source);
		fs_rows_integer(&store->rows, (int64_t)sums->samples);
		fs_rows_integer(&store->rows, (int64_t)sums->period);
		fs_rows_integer(&store->rows, (int64_t)sums->l1_misses);
		fs_rows_integer(&store->rows, (int64_t)sums->dirty_snoops);
		fs_rows_integer(&store->rows, (int64_t)sums->latency_samples);
		fs_rows_integer(&store->rows, (int64_t)sums->latency_sum);
		fs_rows_optional(&store->rows, sums->latency_samples, sums->latency_max);
		fs_rows_blob(&store->rows, rollup->histograms + group->histogram,
			     group->histogram_size);
		fs_rows_optional(&store->rows, group->first_ns, (int64_t)group->first_ns);
		fs_rows_optional(&store->rows, group->first_ns, (int64_t)group->last_ns);
		FS_TRY(fs_rows_end(&store->rows));
	}
	return 0;
}

/* Rows of integers go to the table in pieces. */
struct pieces {
	struct fs_bulk bulk;
	int64_t *rows;
	size_t count;
};

enum { PIECE_ROWS = 1 << 13 };

static int begin_pieces(struct rollup_store *store, struct pieces *pieces, const char *table,
			unsigned int columns)
{
	*pieces = (struct pieces){ 0 };
	pieces->rows = malloc(PIECE_ROWS * (columns + 1) * sizeof(*pieces->rows));
	if (!pieces->rows)
		return fs_fail(store->error, FS_NOMEM, "out of memory");
	return fs_bulk_open(&pieces->bulk, store->db, table, columns, store->error);
}

/* Append a row of values and the mask of those that are NULL; the last call has none. */
static int add_piece(struct rollup_store *store, struct pieces *pieces, const int64_t *row)
{
	unsigned int stride = pieces->bulk.columns + 1;

	if (row)
		memcpy(pieces->rows + pieces->count++ * stride, row, stride * sizeof(*row));
	if (row && pieces->count < PIECE_ROWS)
		return 0;
	FS_TRY(fs_bulk_insert(&pieces->bulk, pieces->rows, pieces->count, store->error));
	pieces->count = 0;
	return 0;
}

static int end_pieces(struct rollup_store *store, struct pieces *pieces, int code)
{
	if (!code)
		code = add_piece(store, pieces, NULL);
	fs_bulk_close(&pieces->bulk);
	free(pieces->rows);
	return code;
}

static int store_windows(struct rollup_store *store)
{
	const struct fs_rollup *rollup = store->rollup;
	const struct fs_id_bases *bases = store->bases;
	struct pieces pieces;
	int code = begin_pieces(store, &pieces, "access_window", 11);

	for (size_t i = 0; !code && i < rollup->window_count; i++) {
		const struct fs_rollup_window *window = &rollup->windows[i];
		const int64_t row[] = {
			store->trace,
			bases->space + window->space,
			(int64_t)(window->addr & ~(uint64_t)(FS_ROLLUP_LINE - 1)),
			(int64_t)window->addr,
			window->op,
			bases->code + window->code,
			bases->thread + window->thread,
			(int64_t)window->window,
			(int64_t)window->samples,
			(int64_t)window->transfers,
			(int64_t)window->latency_sum,
			(window->code == FS_ROLLUP_NONE) << 5 | (window->thread == FS_ROLLUP_NONE)
									<< 6,
		};

		code = add_piece(store, &pieces, row);
	}
	return end_pieces(store, &pieces, code);
}

static int store_lines(struct rollup_store *store)
{
	const struct fs_rollup *rollup = store->rollup;
	struct pieces pieces;
	int code = begin_pieces(store, &pieces, "line_total", 11);

	for (size_t i = 0; !code && i < rollup->line_count; i++) {
		const struct fs_rollup_line *line = &rollup->lines[i];
		const int64_t row[] = {
			store->trace,
			store->bases->space + line->space,
			(int64_t)line->line,
			line->threads,
			(int64_t)line->sums.samples,
			(int64_t)line->loads,
			(int64_t)line->stores,
			(int64_t)line->atomics,
			(int64_t)line->sums.transfers,
			(int64_t)line->sums.latency_samples,
			(int64_t)line->sums.latency_sum,
			0,
		};

		code = add_piece(store, &pieces, row);
	}
	return end_pieces(store, &pieces, code);
}

static int compare_codes(const void *a, const void *b)
{
	const struct fs_rollup_code *left = *(const struct fs_rollup_code *const *)a;
	const struct fs_rollup_code *right = *(const struct fs_rollup_code *const *)b;

	if (left->event != right->event)
		return left->event < right->event ? -1 : 1;
	if (left->code != right->code)
		return left->code < right->code ? -1 : 1;
	if (left->op != right->op)
		return left->op < right->op ? -1 : 1;
	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	return left->bucket < right->bucket ? -1 : left->bucket > right->bucket;
}

static bool is_same_code(const struct fs_rollup_code *left, const struct fs_rollup_code *right)
{
	return left->event == right->event && left->code == right->code && left->op == right->op &&
	       left->source == right->source;
}

/* Write one row from the buckets [first, end) of one code, operation and source. */
static int store_code_total(struct rollup_store *store, struct fs_rollup_code *const *keys,
			    size_t first, size_t end)
{
	const struct fs_rollup_code *key = keys[first];
	const struct fs_id_bases *bases = store->bases;
	uint8_t blob[FS_HISTOGRAM_BLOB_MAX];
	struct fs_histogram histogram = { 0 };
	struct fs_rollup_code_sums total = { 0 };
	uint64_t latency_samples = 0;

	for (size_t i = first; i < end; i++) {
		const struct fs_rollup_code_sums *sums = (const void *)(keys[i] + 1);

		total.samples += sums->samples;
		total.period += sums->period;
		total.latency_sum += sums->latency_sum;
		if (keys[i]->bucket == FS_HISTOGRAM_BUCKETS)
			continue;
		latency_samples += sums->samples;
		histogram.count[keys[i]->bucket] += sums->samples;
	}
	fs_rows_integer(&store->rows, store->trace);
	fs_rows_integer(&store->rows, bases->event + key->event);
	fs_rows_optional(&store->rows, key->code != FS_ROLLUP_NONE, bases->code + key->code);
	fs_rows_integer(&store->rows, key->op);
	fs_rows_integer(&store->rows, key->source);
	fs_rows_integer(&store->rows, (int64_t)total.samples);
	fs_rows_integer(&store->rows, (int64_t)total.period);
	fs_rows_integer(&store->rows, (int64_t)latency_samples);
	fs_rows_integer(&store->rows, (int64_t)total.latency_sum);
	fs_rows_blob(&store->rows, blob,
		     fs_histogram_pack(&histogram, 0, FS_HISTOGRAM_BUCKETS - 1, blob));
	return fs_rows_end(&store->rows);
}

static int store_code_totals(struct rollup_store *store)
{
	const struct fs_table *codes = &store->rollup->codes;
	struct fs_rollup_code **keys = calloc(codes->count + 1, sizeof(struct fs_rollup_code *));
	int code;

	if (!keys)
		return fs_fail(store->error, FS_NOMEM, "out of memory");
	for (size_t i = 0; i < codes->count; i++)
		keys[i] = fs_table_key(codes, i);
	qsort(keys, codes->count, sizeof(struct fs_rollup_code *), compare_codes);
	code = fs_rows_begin(&store->rows, "code_total");
	for (size_t first = 0, end; !code && first < codes->count; first = end) {
		for (end = first + 1; end < codes->count && is_same_code(keys[first], keys[end]);
		     end++)
			;
		code = store_code_total(store, keys, first, end);
	}
	free(keys);
	return code;
}

int fs_store_rollup(sqlite3 *db, const struct fs_rollup *rollup, const struct fs_id_bases *bases,
		    int64_t trace, struct fs_error *error)
{
	struct rollup_store store = {
		.db = db,
		.rollup = rollup,
		.bases = bases,
		.trace = trace,
		.error = error,
		.rows = { .db = db, .error = error },
	};
	int code = store_access(&store);

	if (!code)
		code = store_windows(&store);
	if (!code)
		code = store_lines(&store);
	if (!code)
		code = store_code_totals(&store);
	fs_rows_close(&store.rows);
	return code;
}
