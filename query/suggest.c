/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "did you mean": the nearest name by edit distance (insert, delete, replace; each costs one).
 */
#include <string.h>

#include "query/listing.h"

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static size_t distance(const char *a, const char *b)
{
	size_t row[LONGEST + 1];
	size_t a_length = strnlen(a, LONGEST);
	size_t b_length = strnlen(b, LONGEST);

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t above = row[j];

			row[j] =
				least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_length];
}

const char *fs_suggest(const char *text, const char *(*name)(const void *list, size_t index),
		       const void *list, size_t count)
{
	const char *best = NULL;
	size_t best_distance = strlen(text) / 2 + 1;

	for (size_t i = 0; i < count; i++) {
		size_t here = distance(text, name(list, i));

		if (here < best_distance) {
			best_distance = here;
			best = name(list, i);
		}
	}
	return best;
}
