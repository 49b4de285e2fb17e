/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the formats share: the list of them, and cells as text.
 */
#include "query/render/render.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

const struct fs_render_format *fs_render_find(const char *name)
{
	static const struct fs_render_format *const formats[] = {
		&fs_format_table, &fs_format_csv,    &fs_format_tsv,
		&fs_format_json,  &fs_format_ndjson, &fs_format_markdown,
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	}
	return NULL;
}

int fs_render_begin(struct fs_render *render, const struct fs_render_format *format,
		    const struct fs_report *report, const struct fs_render_options *options,
		    struct fs_error *error)
{
	*render = (struct fs_render){ .format = format, .report = report, .options = *options };
	return format->begin(render, error);
}

int fs_render_row(struct fs_render *render, const struct fs_cell *cells, struct fs_error *error)
{
	FS_TRY(render->format->row(render, cells, error));
	render->rows++;
	return 0;
}

int fs_render_end(struct fs_render *render, const char *const *notes, size_t count,
		  struct fs_error *error)
{
	FS_TRY(render->format->end(render, notes, count, error));
	if (fflush(render->options.out) || ferror(render->options.out))
		return fs_fail(error, FS_OUTPUT, "writing the result failed: %s", strerror(errno));
	return 0;
}

void fs_render_release(struct fs_render *render)
{
	if (render->format && render->format->release)
		render->format->release(render);
	render->state = NULL;
}

const char *fs_render_heading(const struct fs_render_column *column)
{
	return column->heading ? column->heading : column->name;
}

bool fs_render_is_number(const struct fs_render_column *column)
{
	return column->type != FS_TYPE_TEXT && column->type != FS_TYPE_FLAG &&
	       column->type != FS_TYPE_VALUE;
}

static char *escaped(const struct fs_cell *cell)
{
	size_t size = 4 * cell->length + 1;
	char *text = malloc(size);

	if (text)
		fs_escape(text, size, cell->text, cell->length);
	return text;
}

static void print_integer(char *text, size_t size, int64_t value, enum fs_render_type type,
			  bool for_people)
{
	if (type == FS_TYPE_ADDRESS || (type == FS_TYPE_OFFSET && for_people))
		snprintf(text, size, "0x%" PRIx64, (uint64_t)value);
	else if (type == FS_TYPE_TIME && for_people)
		snprintf(text, size, "%.6f", (double)value / 1e9);
	else if (type == FS_TYPE_FLAG && for_people)
		snprintf(text, size, "%s", value ? "yes" : "no");
	else
		snprintf(text, size, "%" PRId64, value);
}

static void print_real(char *text, size_t size, double value, enum fs_render_type type,
		       bool for_people)
{
	if (!isfinite(value))
		*text = '\0';
	else if (type == FS_TYPE_PERCENT && for_people)
		snprintf(text, size, "%.*f %%", fabs(value) < 0.001 && value != 0 ? 3 : 1,
			 100 * value);
	else if (type == FS_TYPE_REAL && for_people)
		snprintf(text, size, "%.1f", value);
	else
		snprintf(text, size, type == FS_TYPE_VALUE ? "%.15g" : "%.10g", value);
}

char *fs_cell_text(const struct fs_cell *cell, enum fs_render_type type, bool for_people)
{
	char text[64] = "";

	switch (cell->kind) {
	case FS_CELL_TEXT:
		return escaped(cell);
	case FS_CELL_INTEGER:
		if (type == FS_TYPE_PERCENT || type == FS_TYPE_REAL)
			print_real(text, sizeof(text), (double)cell->integer, type, for_people);
		else
			print_integer(text, sizeof(text), cell->integer, type, for_people);
		break;
	case FS_CELL_REAL:
		print_real(text, sizeof(text), cell->real, type, for_people);
		break;
	case FS_CELL_NULL:
		break;
	}
	return strdup(text);
}
