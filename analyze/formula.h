/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formulas of event counts, as schema/views/mem_bound_formulas.sql states them.
 *
 *   sum = product { ("+" | "-") product }
 *   product = factor { ("*" | "/") factor }
 *   factor = number | name | "(" sum ")"
 *   name = letter { letter | digit | "_" | "." }
 */
#ifndef FS_ANALYZE_FORMULA_H
#define FS_ANALYZE_FORMULA_H

#include <stddef.h>

struct fs_formula_count {
	char name[48];
	double value;
	double deviation; /* its standard error */
};

/*
 * The value of a formula; a name that is not among the counts is 0. *ret_error is its standard
 * error: the root of the sum over all counts of (slope * deviation)^2, as of independent streams.
 * NaN where the text is no formula or something is divided by 0.
 */
double fs_formula_value(const char *text, const struct fs_formula_count *counts, size_t count,
			double *ret_error);

/*
 * The next name in a formula from *position on, and the position behind it; its length, 0 at the
 * end.
 */
size_t fs_formula_name(const char **position, const char **ret_name);

#endif
