/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables for people, by libsmartcols: aligned, fitted to the terminal, verdicts coloured. Rows
 * are kept until the end, since the widths depend on all of them.
 */
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "common/vector.h"
#include "query/render/layout.h"
#include "query/render/render.h"

enum { LEAST_TEXT = 8, LEAST_SENTENCE = 30 };

struct cell {
	char *text;
	bool number; /* set to the right although its column is not */
};

struct table {
	struct cell *cells; /* row by row */
	size_t count;
	size_t capacity;
};

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
	render->state = calloc(1, sizeof(struct table));
	return render->state ? 0 : fs_fail(error, FS_NOMEM, "out of memory");
}

static int table_row(struct fs_render *render, const struct fs_cell *cells, struct fs_error *error)
{
	struct table *table = render->state;
	size_t count = render->report->count;

	if (FS_RESERVE(table->cells, table->capacity, table->count + count))
		return fs_fail(error, FS_NOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		enum fs_render_type type = render->report->columns[i]->type;
		struct cell *cell = &table->cells[table->count];
		char *text = fs_cell_text(&cells[i], type, true);

		if (text && !*text) {
			free(text);
			text = strdup("-");
		}
		if (!text)
			return fs_fail(error, FS_NOMEM, "out of memory");
		cell->text = text;
		cell->number = type == FS_TYPE_VALUE && cells[i].kind != FS_CELL_TEXT;
		table->count++;
	}
	return 0;
}

/* How wide a column would like to be, and how narrow it may get. */
static struct fs_layout_column measure(const struct fs_render *render, size_t column)
{
	const struct table *table = render->state;
	const struct fs_render_column *shown = render->report->columns[column];
	size_t heading = fs_layout_width(fs_render_heading(shown));
	struct fs_layout_column result = { .natural = heading };
	size_t least;

	for (size_t i = column; i < table->count; i += render->report->count) {
		size_t width = fs_layout_width(table->cells[i].text);

		result.natural = width > result.natural ? width : result.natural;
	}
	result.least = result.natural;
	if (!(shown->flags & (FS_SHOW_TRUNCATE | FS_SHOW_WRAP)))
		return result;
	least = shown->flags & FS_SHOW_WRAP ? LEAST_SENTENCE : LEAST_TEXT;
	least = heading > least ? heading : least;
	result.least = least < result.natural ? least : result.natural;
	return result;
}

static int fit(struct fs_render *render, struct fs_error *error)
{
	struct table *table = render->state;
	size_t count = render->report->count;
	struct fs_layout_column *columns = calloc(count, sizeof(*columns));

	if (!columns)
		return fs_fail(error, FS_NOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		columns[i] = measure(render, i);
	fs_layout_fit(columns, count, render->options.width);
	for (size_t i = 0; i < table->count; i++) {
		unsigned int flags = render->report->columns[i % count]->flags;

		if (flags & FS_SHOW_WRAP)
			fs_layout_wrap(table->cells[i].text, columns[i % count].width);
		else if (flags & FS_SHOW_TRUNCATE)
			fs_layout_cut(table->cells[i].text, columns[i % count].width,
				      flags & FS_SHOW_TAIL);
	}
	free(columns);
	return 0;
}

static bool add_columns(const struct fs_render *render, struct libscols_table *output)
{
	for (size_t i = 0; i < render->report->count; i++) {
		const struct fs_render_column *column = render->report->columns[i];
		int flags = fs_render_is_number(column) ? SCOLS_FL_RIGHT : 0;
		struct libscols_column *added;

		if (column->flags & FS_SHOW_WRAP)
			flags |= SCOLS_FL_WRAP;
		added = scols_table_new_column(output, fs_render_heading(column), 0, flags);
		if (!added)
			return false;
		if (!(column->flags & FS_SHOW_WRAP))
			continue;
		scols_column_set_safechars(added, "\n");
		scols_column_set_wrapfunc(added, scols_wrapnl_chunksize, scols_wrapnl_nextchunk,
					  NULL);
	}
	return true;
}

/* Takes the texts from the cells. */
static bool add_row(const struct fs_render *render, struct libscols_table *output,
		    struct cell *cells)
{
	struct libscols_line *line = scols_table_new_line(output, NULL);

	if (!line)
		return false;
	for (size_t i = 0; i < render->report->count; i++) {
		struct libscols_cell *target = scols_line_get_cell(line, i);
		const char *text = cells[i].text;

		if (render->report->columns[i]->flags & FS_SHOW_STATE && colour_of(text))
			scols_cell_set_color(target, colour_of(text));
		if (cells[i].number)
			scols_cell_set_flags(target, SCOLS_CELL_FL_RIGHT);
		if (scols_line_refer_data(line, i, cells[i].text))
			return false;
		cells[i].text = NULL;
	}
	return true;
}

static int print(struct fs_render *render, struct libscols_table *output, struct fs_error *error)
{
	struct table *table = render->state;

	scols_table_set_stream(output, render->options.out);
	scols_table_enable_colors(output, render->options.colour);
	scols_table_set_termforce(output, SCOLS_TERMFORCE_NEVER);
	if (!add_columns(render, output))
		return fs_fail(error, FS_NOMEM, "out of memory");
	for (size_t i = 0; i < table->count; i += render->report->count) {
		if (!add_row(render, output, &table->cells[i]))
			return fs_fail(error, FS_NOMEM, "out of memory");
	}
	if (scols_print_table(output))
		return fs_fail(error, FS_OUTPUT, "printing the table failed");
	return 0;
}

static int table_end(struct fs_render *render, const char *const *notes, size_t count,
		     struct fs_error *error)
{
	struct libscols_table *output;
	int code;

	(void)notes;
	(void)count;
	if (!render->rows)
		return 0;
	if (render->options.width)
		FS_TRY(fit(render, error));
	output = scols_new_table();
	if (!output)
		return fs_fail(error, FS_NOMEM, "out of memory");
	code = print(render, output, error);
	scols_unref_table(output);
	return code;
}

static void table_release(struct fs_render *render)
{
	struct table *table = render->state;

	for (size_t i = 0; table && i < table->count; i++)
		free(table->cells[i].text);
	if (table)
		free(table->cells);
	free(table);
}

const struct fs_render_format fs_format_table = {
	.name = "table",
	.for_people = true,
	.begin = table_begin,
	.row = table_row,
	.end = table_end,
	.release = table_release,
};
