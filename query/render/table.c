/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables for people, by libsmartcols: aligned, cut to the terminal's width, verdicts coloured.
 */
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "query/render/render.h"

static const char *colour_of(const char *value)
{
	static const struct {
		const char *value, *colour;
	} colours[] = {
		{ "false", "red" },   { "mixed", "magenta" }, { "true", "yellow" },
		{ "latent", "cyan" }, { "adjacent", "red" },  { "error", "red" },
		{ "loss", "yellow" },
	};

	for (size_t i = 0; i < sizeof(colours) / sizeof(*colours); i++) {
		if (!strcmp(colours[i].value, value))
			return colours[i].colour;
	}
	return NULL;
}

static int table_begin(struct fs_render *render, struct fs_error *error)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		return fs_fail(error, FS_NOMEM, "out of memory");
	render->state = table;
	scols_table_set_stream(table, render->options.out);
	scols_table_enable_colors(table, render->options.colour);
	if (render->options.width) {
		scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS);
		scols_table_set_termwidth(table, render->options.width);
	} else {
		scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	}
	for (size_t i = 0; i < render->report->count; i++) {
		const struct fs_render_column *column = render->report->columns[i];
		int flags = fs_render_is_number(column) ? SCOLS_FL_RIGHT : 0;

		if (render->options.width && column->flags & FS_SHOW_TRUNCATE)
			flags |= SCOLS_FL_TRUNC;
		if (render->options.width && column->flags & FS_SHOW_WRAP)
			flags |= SCOLS_FL_WRAP;
		if (!scols_table_new_column(table, fs_render_heading(column), 0, flags))
			return fs_fail(error, FS_NOMEM, "out of memory");
	}
	return 0;
}

static int table_row(struct fs_render *render, const struct fs_cell *cells, struct fs_error *error)
{
	struct libscols_line *line = scols_table_new_line(render->state, NULL);

	if (!line)
		return fs_fail(error, FS_NOMEM, "out of memory");
	for (size_t i = 0; i < render->report->count; i++) {
		const struct fs_render_column *column = render->report->columns[i];
		char *text = fs_cell_text(&cells[i], column->type, true);

		if (!text)
			return fs_fail(error, FS_NOMEM, "out of memory");
		if (scols_line_set_data(line, i, *text ? text : "-")) {
			free(text);
			return fs_fail(error, FS_NOMEM, "out of memory");
		}
		if (column->flags & FS_SHOW_STATE && colour_of(text))
			scols_cell_set_color(scols_line_get_cell(line, i), colour_of(text));
		if (column->type == FS_TYPE_VALUE && cells[i].kind != FS_CELL_TEXT)
			scols_cell_set_flags(scols_line_get_cell(line, i), SCOLS_CELL_FL_RIGHT);
		free(text);
	}
	return 0;
}

static int table_end(struct fs_render *render, const char *const *notes, size_t count,
		     struct fs_error *error)
{
	(void)notes;
	(void)count;
	if (render->rows && scols_print_table(render->state))
		return fs_fail(error, FS_OUTPUT, "printing the table failed");
	return 0;
}

static void table_release(struct fs_render *render)
{
	scols_unref_table(render->state);
}

const struct fs_render_format fs_format_table = {
	.name = "table",
	.for_people = true,
	.begin = table_begin,
	.row = table_row,
	.end = table_end,
	.release = table_release,
};
