/* SPDX-License-Identifier: GPL-2.0-only */
#include "query/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/analyze.h"
#include "common/vector.h"
#include "query/arm_core.h"

struct numbers {
	int64_t *items;
	size_t count;
	size_t capacity;
};

static void list_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct numbers *numbers = sqlite3_aggregate_context(context, sizeof(*numbers));

	(void)count;
	if (sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	if (!numbers || FS_RESERVE(numbers->items, numbers->capacity, numbers->count + 1)) {
		sqlite3_result_error_nomem(context);
		return;
	}
	numbers->items[numbers->count++] = sqlite3_value_int64(values[0]);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void print_ranges(FILE *out, const struct numbers *numbers)
{
	const int64_t *items = numbers->items;

	for (size_t i = 0; i < numbers->count;) {
		int64_t first = items[i];
		int64_t last = first;
		size_t next = i + 1;

		while (next < numbers->count && (items[next] == last || items[next] - 1 == last))
			last = items[next++];
		fprintf(out, "%s%" PRId64, i ? "," : "", first);
		if (last != first)
			fprintf(out, "%c%" PRId64, last - 1 == first ? ',' : '-', last);
		i = next;
	}
}

static void list_final(sqlite3_context *context)
{
	struct numbers *numbers = sqlite3_aggregate_context(context, 0);
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (!numbers || !numbers->count) {
		sqlite3_result_null(context);
		return;
	}
	qsort(numbers->items, numbers->count, sizeof(*numbers->items), compare);
	out = open_memstream(&text, &size);
	if (out) {
		print_ranges(out, numbers);
		fclose(out);
	}
	if (text)
		sqlite3_result_text64(context, text, size, free, SQLITE_UTF8);
	else
		sqlite3_result_error_nomem(context);
	free(numbers->items);
	numbers->items = NULL;
}

/* A MIDR as a number, or as the hexadecimal text of perf's CPUID feature. */
static void arm_core(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text;
	const char *name;
	char *end;
	uint64_t midr;

	(void)count;
	if (sqlite3_value_type(values[0]) == SQLITE_INTEGER) {
		midr = (uint64_t)sqlite3_value_int64(values[0]);
	} else {
		text = (const char *)sqlite3_value_text(values[0]);
		if (!text || text[0] != '0' || (text[1] | 0x20) != 'x')
			return;
		midr = strtoull(text, &end, 16);
		if (*end)
			return;
	}
	name = fs_arm_core_name(midr);
	if (name)
		sqlite3_result_text(context, name, -1, SQLITE_STATIC);
}

int fs_functions_register(sqlite3 *db, struct fs_error *error)
{
	FS_TRY(fs_analyze_register(db, error));
	if (sqlite3_create_function_v2(db, "number_list", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
				       NULL, NULL, list_step, list_final, NULL) != SQLITE_OK)
		return fs_fail(error, FS_INTERNAL, "cannot register number_list: %s",
			       sqlite3_errmsg(db));
	if (sqlite3_create_function_v2(db, "arm_core", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
				       arm_core, NULL, NULL, NULL) != SQLITE_OK)
		return fs_fail(error, FS_INTERNAL, "cannot register arm_core: %s",
			       sqlite3_errmsg(db));
	return 0;
}
