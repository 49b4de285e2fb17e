/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * csv (RFC 4180 with plain newlines), tsv and md: one line per row.
 *
 * A spreadsheet runs a cell that starts with = + - or @ as a formula, so text cells that do get
 * an apostrophe in front. Numbers stay numbers.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "query/render/render.h"

static void put_csv(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"")] && *text != ' ') {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* Tabs are control bytes, which fs_escape() has replaced. */
static void put_tsv(FILE *out, const char *text)
{
	fputs(text, out);
}

/* A name must not turn into emphasis, a link, an image, HTML or a new column. */
static void put_markdown(FILE *out, const char *text)
{
	const char *start = text;

	for (; *text; text++) {
		bool inside = text != start && isalnum((unsigned char)text[-1]) &&
			      isalnum((unsigned char)text[1]);

		if (strchr("\\`*[]<>|&~", *text) || (*text == '_' && !inside))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_cell(FILE *out, void (*put)(FILE *, const char *), const char *text, bool guard)
{
	char *guarded = NULL;

	if (guard && *text && strchr("=+-@", *text) && asprintf(&guarded, "'%s", text) < 0)
		guarded = NULL;
	put(out, guarded ? guarded : text);
	free(guarded);
}

static int put_row(struct fs_render *render, void (*put)(FILE *, const char *),
		   const char *separator, const struct fs_cell *cells, struct fs_error *error)
{
	FILE *out = render->options.out;

	for (size_t i = 0; i < render->report->count; i++) {
		const struct fs_render_column *column = render->report->columns[i];
		char *text = fs_cell_text(&cells[i], column->type, render->format->for_people);

		if (!text)
			return fs_fail(error, FS_NOMEM, "out of memory");
		fputs(i ? separator : "", out);
		put_cell(out, put, *text || !render->format->for_people ? text : "-",
			 cells[i].kind == FS_CELL_TEXT && !render->format->for_people);
		free(text);
	}
	return 0;
}

static void put_names(struct fs_render *render, void (*put)(FILE *, const char *),
		      const char *separator)
{
	for (size_t i = 0; i < render->report->count; i++) {
		const struct fs_render_column *column = render->report->columns[i];

		fputs(i ? separator : "", render->options.out);
		put_cell(render->options.out, put,
			 render->format->for_people ? fs_render_heading(column) : column->name,
			 !render->format->for_people);
	}
}

static int csv_begin(struct fs_render *render, struct fs_error *error)
{
	(void)error;
	put_names(render, put_csv, ",");
	fputc('\n', render->options.out);
	return 0;
}

static int csv_row(struct fs_render *render, const struct fs_cell *cells, struct fs_error *error)
{
	FS_TRY(put_row(render, put_csv, ",", cells, error));
	fputc('\n', render->options.out);
	return 0;
}

static int tsv_begin(struct fs_render *render, struct fs_error *error)
{
	(void)error;
	put_names(render, put_tsv, "\t");
	fputc('\n', render->options.out);
	return 0;
}

static int tsv_row(struct fs_render *render, const struct fs_cell *cells, struct fs_error *error)
{
	FS_TRY(put_row(render, put_tsv, "\t", cells, error));
	fputc('\n', render->options.out);
	return 0;
}

static int markdown_begin(struct fs_render *render, struct fs_error *error)
{
	FILE *out = render->options.out;

	(void)error;
	fputs("| ", out);
	put_names(render, put_markdown, " | ");
	fputs(" |\n|", out);
	for (size_t i = 0; i < render->report->count; i++)
		fputs(fs_render_is_number(render->report->columns[i]) ? " ---: |" : " --- |", out);
	fputc('\n', out);
	return 0;
}

static int markdown_row(struct fs_render *render, const struct fs_cell *cells,
			struct fs_error *error)
{
	fputs("| ", render->options.out);
	FS_TRY(put_row(render, put_markdown, " | ", cells, error));
	fputs(" |\n", render->options.out);
	return 0;
}

static int delimited_end(struct fs_render *render, const char *const *notes, size_t count,
			 struct fs_error *error)
{
	(void)render;
	(void)notes;
	(void)count;
	(void)error;
	return 0;
}

const struct fs_render_format fs_format_csv = {
	.name = "csv", .begin = csv_begin, .row = csv_row, .end = delimited_end
};
const struct fs_render_format fs_format_tsv = {
	.name = "tsv", .begin = tsv_begin, .row = tsv_row, .end = delimited_end
};
const struct fs_render_format fs_format_markdown = {
	.name = "md",
	.for_people = true,
	.begin = markdown_begin,
	.row = markdown_row,
	.end = delimited_end,
};
