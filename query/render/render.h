/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows to text: one list of columns, walked by every output format.
 *
 * Text cells are arbitrary bytes from a trace; each format passes them through fs_escape() and
 * adds the quoting of its own. NULL is "-" for people, an empty field in csv and tsv, null in
 * JSON.
 *
 * Ownership: the report and all it points to belong to the caller and must outlive the render;
 * cells are borrowed for the length of one call.
 */
#ifndef FS_QUERY_RENDER_RENDER_H
#define FS_QUERY_RENDER_RENDER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

/* What a column holds. People's formats (table, md) and programs' formats (the others) show it
 * as noted: people / programs. */
enum fs_render_type {
	FS_TYPE_TEXT,
	FS_TYPE_INTEGER,
	FS_TYPE_REAL,	 /* one decimal / ten digits */
	FS_TYPE_PERCENT, /* a share from 0 to 1: "12.3 %" / 0.123 */
	FS_TYPE_ADDRESS, /* "0x7f..." / "0x7f..." */
	FS_TYPE_OFFSET,	 /* "0x34" / 52 */
	FS_TYPE_TIME,	 /* nanoseconds: seconds with six decimals / nanoseconds */
	FS_TYPE_FLAG,	 /* yes, no / 1, 0 */
	FS_TYPE_VALUE,	 /* whatever the cell holds, as it is */
};

enum {
	FS_SHOW_DEFAULT = 1 << 0,  /* part of a table when --columns does not say */
	FS_SHOW_TRUNCATE = 1 << 1, /* may be cut to fit the terminal */
	FS_SHOW_STATE = 1 << 2,	   /* a verdict or severity: coloured by its value */
	FS_SHOW_SUMMARY = 1 << 3,  /* people's formats only: says other columns in short */
	FS_SHOW_WRAP = 1 << 4,	   /* sentences: wrapped to fit the terminal */
	FS_SHOW_TAIL = 1 << 5,	   /* a path: truncated at its beginning */
	FS_SHOW_WIDE = 1 << 6,	   /* not by default on a terminal below FS_WIDE columns */
};

enum { FS_WIDE = 120 };

struct fs_render_column {
	const char *name;    /* stable; what --columns and --sort take */
	const char *heading; /* in tables; NULL: the name */
	enum fs_render_type type;
	unsigned int flags;
	const char *group; /* "a": this is a_offset and goes to {"a": {"offset": ...}}; or NULL */
	const char *description;
};

enum fs_cell_kind { FS_CELL_NULL, FS_CELL_INTEGER, FS_CELL_REAL, FS_CELL_TEXT };

struct fs_cell {
	enum fs_cell_kind kind;
	int64_t integer;
	double real;
	const char *text;
	size_t length;
};

struct fs_report {
	const char *schema;	     /* "fsight/top-lines/1" */
	struct json_object *trace;   /* NULL: the answer is not about one trace */
	struct json_object *filters; /* never NULL */
	const struct fs_render_column *const *columns;
	size_t count;
};

struct fs_render_options {
	FILE *out;
	bool colour;
	size_t width; /* cut tables to so many characters; 0: never */
};

struct fs_render;

/* One output format; fs_render_find() knows them. */
struct fs_render_format {
	const char *name;
	bool for_people; /* default columns only, human units */
	int (*begin)(struct fs_render *render, struct fs_error *error);
	int (*row)(struct fs_render *render, const struct fs_cell *cells, struct fs_error *error);
	/* notes: sentences about the answer; only JSON carries them in the output. */
	int (*end)(struct fs_render *render, const char *const *notes, size_t count,
		   struct fs_error *error);
	void (*release)(struct fs_render *render);
};

/* The format of that name, NULL when there is none. */
const struct fs_render_format *fs_render_find(const char *name);

struct fs_render {
	const struct fs_render_format *format;
	const struct fs_report *report;
	struct fs_render_options options;
	size_t rows;
	void *state; /* of the format */
};

/* Start, add one row (report->count cells), finish. Errors: FS_OUTPUT, FS_NOMEM. */
int fs_render_begin(struct fs_render *render, const struct fs_render_format *format,
		    const struct fs_report *report, const struct fs_render_options *options,
		    struct fs_error *error);
int fs_render_row(struct fs_render *render, const struct fs_cell *cells, struct fs_error *error);
int fs_render_end(struct fs_render *render, const char *const *notes, size_t count,
		  struct fs_error *error);
void fs_render_release(struct fs_render *render);

/*
 * A cell as escaped text in the people's or programs' form of its type; NULL cells give "".
 * The caller frees it; NULL when memory ran out.
 */
char *fs_cell_text(const struct fs_cell *cell, enum fs_render_type type, bool for_people);

/* The heading of a column in people's formats. */
const char *fs_render_heading(const struct fs_render_column *column);

/* Numbers are set to the right. */
bool fs_render_is_number(const struct fs_render_column *column);

extern const struct fs_render_format fs_format_table, fs_format_csv, fs_format_tsv, fs_format_json,
	fs_format_ndjson, fs_format_markdown;

#endif
