/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fitting texts into a width: how wide each column of a table becomes, and cutting and wrapping
 * cells to that. Widths are in columns of the terminal, by wcwidth().
 */
#ifndef FS_QUERY_RENDER_LAYOUT_H
#define FS_QUERY_RENDER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

/* Columns that a text takes. */
size_t fs_layout_width(const char *text);

struct fs_layout_column {
	size_t natural; /* its widest cell */
	size_t least;	/* may shrink to that; natural where it may not shrink */
	size_t width;	/* the outcome */
};

/*
 * Give every column a width so that all, and one blank between any two, take no more than
 * `total`. Columns that may shrink get what the others leave, the narrow ones first. If even the
 * least widths do not fit, they stay and the row is too long.
 */
void fs_layout_fit(struct fs_layout_column *columns, size_t count, size_t total);

/* Cut in place so that it takes at most width; the end, or the beginning when keep_end, becomes
 * "~". */
void fs_layout_cut(char *text, size_t width, bool keep_end);

/* Turn blanks into newlines so that no line is wider than width, as far as words allow. */
void fs_layout_wrap(char *text, size_t width);

#endif
