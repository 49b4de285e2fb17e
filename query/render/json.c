/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json: one object, its rows streamed so that memory stays bounded; ndjson: one row per line.
 *
 *   {"schema": ..., "trace": ..., "filters": ..., "rows": [
 *   {...},
 *   {...}
 *   ], "notes": [...]}
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/render/render.h"

static const char *plain(struct json_object *object)
{
	return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							      JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* NULL is JSON's null, so failure is told apart by the return value. */
static bool cell_to_json(const struct fs_cell *cell, enum fs_render_type type,
			 struct json_object **ret_value)
{
	bool is_text = cell->kind == FS_CELL_TEXT || type == FS_TYPE_ADDRESS;
	char *text;

	*ret_value = NULL;
	if (cell->kind == FS_CELL_NULL || (cell->kind == FS_CELL_REAL && !isfinite(cell->real)))
		return true;
	if (cell->kind == FS_CELL_INTEGER && !is_text) {
		*ret_value = json_object_new_int64(cell->integer);
		return *ret_value;
	}
	text = fs_cell_text(cell, type, false);
	if (text)
		*ret_value = is_text ? json_object_new_string(text)
				     : json_object_new_double_s(cell->real, text);
	free(text);
	return *ret_value;
}

/* The object that a column's key goes into: the row, or the row's object of the group. */
static struct json_object *home_of(struct json_object *row, const struct fs_render_column *column,
				   const char **ret_key)
{
	struct json_object *group;

	*ret_key = column->name;
	if (!column->group)
		return row;
	*ret_key = column->name + strlen(column->group) + 1;
	if (json_object_object_get_ex(row, column->group, &group))
		return group;
	group = json_object_new_object();
	if (group && json_object_object_add(row, column->group, group)) {
		json_object_put(group);
		return NULL;
	}
	return group;
}

static struct json_object *row_to_json(const struct fs_report *report, const struct fs_cell *cells)
{
	struct json_object *row = json_object_new_object();

	for (size_t i = 0; row && i < report->count; i++) {
		struct json_object *value;
		const char *key;
		struct json_object *home = home_of(row, report->columns[i], &key);

		if (!home || !cell_to_json(&cells[i], report->columns[i]->type, &value) ||
		    json_object_object_add(home, key, value)) {
			json_object_put(row);
			return NULL;
		}
	}
	return row;
}

static int put_json_row(struct fs_render *render, const struct fs_cell *cells,
			struct fs_error *error)
{
	struct json_object *row = row_to_json(render->report, cells);
	const char *text = row ? plain(row) : NULL;

	if (text)
		fputs(text, render->options.out);
	json_object_put(row);
	return text ? 0 : fs_fail(error, FS_NOMEM, "out of memory");
}

static int json_begin(struct fs_render *render, struct fs_error *error)
{
	const struct fs_report *report = render->report;

	(void)error;
	fprintf(render->options.out, "{\"schema\":\"%s\",\"trace\":%s,", report->schema,
		report->trace ? plain(report->trace) : "null");
	fprintf(render->options.out, "\"filters\":%s,\"rows\":[", plain(report->filters));
	return 0;
}

static int json_row(struct fs_render *render, const struct fs_cell *cells, struct fs_error *error)
{
	fputs(render->rows ? ",\n" : "\n", render->options.out);
	return put_json_row(render, cells, error);
}

static int json_end(struct fs_render *render, const char *const *notes, size_t count,
		    struct fs_error *error)
{
	struct json_object *list = json_object_new_array();

	if (!list)
		return fs_fail(error, FS_NOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		/* notes quote names from the trace */
		const struct fs_cell note = { .kind = FS_CELL_TEXT,
					      .text = notes[i],
					      .length = strlen(notes[i]) };
		struct json_object *text;

		if (!cell_to_json(&note, FS_TYPE_TEXT, &text)) {
			json_object_put(list);
			return fs_fail(error, FS_NOMEM, "out of memory");
		}
		json_object_array_add(list, text);
	}
	fprintf(render->options.out, "%s],\"notes\":%s}\n", render->rows ? "\n" : "", plain(list));
	json_object_put(list);
	return 0;
}

static int ndjson_begin(struct fs_render *render, struct fs_error *error)
{
	(void)render;
	(void)error;
	return 0;
}

static int ndjson_row(struct fs_render *render, const struct fs_cell *cells, struct fs_error *error)
{
	FS_TRY(put_json_row(render, cells, error));
	fputc('\n', render->options.out);
	return 0;
}

static int ndjson_end(struct fs_render *render, const char *const *notes, size_t count,
		      struct fs_error *error)
{
	(void)render;
	(void)notes;
	(void)count;
	(void)error;
	return 0;
}

const struct fs_render_format fs_format_json = {
	.name = "json", .begin = json_begin, .row = json_row, .end = json_end
};
const struct fs_render_format fs_format_ndjson = {
	.name = "ndjson", .begin = ndjson_begin, .row = ndjson_row, .end = ndjson_end
};
