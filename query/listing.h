/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A listing: what a command needs to answer with rows. A command states its columns, where they
 * come from and which filters make sense; options, SQL, sorting and output follow from that.
 */
#ifndef FS_QUERY_LISTING_H
#define FS_QUERY_LISTING_H

#include <argp.h>

#include "query/query.h"
#include "query/render/render.h"

enum fs_filter {
	FS_FILTER_PID,
	FS_FILTER_TID,
	FS_FILTER_COMM,
	FS_FILTER_CPU,
	FS_FILTER_NODE,
	FS_FILTER_DSO,
	FS_FILTER_SYM,
	FS_FILTER_TIME,
	FS_FILTER_USER,
	FS_FILTER_KERNEL,
	FS_FILTER_MIN_SAMPLES,
	FS_FILTER_MAX
};

struct fs_query_column {
	struct fs_render_column shown;
	const char *expression; /* SQL; NULL: the column of the same name */
	const char *people; /* SQL instead of it in people's formats, not for --sort; NULL: same */
};

enum { FS_TABLE_LIMIT = 20, FS_NO_LIMIT = -1 };

/* SQL: the last part of a path. */
#define FS_BASE_NAME(path)                                                                         \
	"substr(" path ", length(rtrim(" path ", replace(" path ", '/', ''))) + 1)"

/* SQL: the function, or where the code lies, from columns with that prefix. */
#define FS_CODE_NAME(prefix)                                                                       \
	"coalesce(" prefix "function, " FS_BASE_NAME(prefix "dso") " || '+' || " prefix            \
								   "dso_offset, " prefix           \
								   "pc, '?')"

/* FS_COLUMN("name", "HEADING", TEXT, flags, "expression" or NULL, "description") */
#define FS_COLUMN(name, heading, type, flags, expression, description)                             \
	{                                                                                          \
		{ name, heading, FS_TYPE_##type, flags, NULL, description }, expression, NULL      \
	}
#define FS_COLUMN_PEOPLE(name, heading, type, flags, people, description)                          \
	{                                                                                          \
		{ name, heading, FS_TYPE_##type, flags, NULL, description }, NULL, people          \
	}
#define FS_COLUMN_IN(group, name, heading, type, flags, expression, description)                   \
	{                                                                                          \
		{ group "_" name, heading, FS_TYPE_##type, flags, group, description },            \
			expression, NULL                                                           \
	}

/* Which trace answers when --trace does not say. */
enum fs_need {
	FS_NEED_NONE,	   /* the answer is not about one trace */
	FS_NEED_ANY,	   /* the newest */
	FS_NEED_MEMORY,	   /* the newest with data addresses */
	FS_NEED_CHAINS,	   /* the newest with call chains */
	FS_NEED_MEM_BOUND, /* the newest with cycles and a stall event, else with data addresses */
};

struct fs_options;

struct fs_listing {
	const char *command;
	const char *about; /* for --help */
	enum fs_need need;
	const struct fs_query_column *columns;
	size_t count;
	/* FROM clause. May use :trace and the command's own parameters; conditions of filters go
	 * where it says {filters}, as " AND ...", else into the outer WHERE. */
	const char *from;
	const char *order; /* ORDER BY, NULL: as the source has it */
	/* SQL expressions that a filter tests, any of which may match; NULL: not available. USER
	 * and KERNEL: an expression that is true for the kernel. */
	const char *filters[FS_FILTER_MAX][2];
	/* The command itself applies the filters but --min-samples, by fs_listing_conditions(), to
	 * what its rows are made of. */
	bool filters_raw;
	const char *nouns; /* "lines": for "the first 20 lines" */
	const char *empty; /* said when there are no rows; NULL: nothing */
	/* SQL condition on the rows that people's formats show without --all; NULL: every row. */
	const char *worth;
	/* A format of its own that --format also takes; NULL: none. */
	const char *own_format;
	int64_t limit;		 /* rows in people's formats; 0: FS_TABLE_LIMIT; FS_NO_LIMIT */
	const struct argp *argp; /* options and arguments of its own; NULL: none */
	/* How to open the database; NULL: fs_database_open(). */
	int (*open)(struct fs_query *query, struct fs_error *error);
	/* Between opening and listing: add notes, parameters, rows; NULL: nothing. */
	int (*before)(struct fs_options *options, struct fs_error *error);
};

struct fs_parameter {
	const char *name; /* ":line" */
	const char *text; /* NULL: it is the integer */
	int64_t integer;
};

enum { FS_PARAMETERS_MAX = 12, FS_NOTES_MAX = 8 };

/* Options common to all commands that list rows, and what is known about the run. */
struct fs_options {
	struct fs_query *query;
	struct fs_error *error;
	const struct fs_listing *listing;
	const struct fs_render_format *format; /* NULL: table */
	bool own_format; /* the listing's own was asked for: before() writes the answer itself */
	const char *columns;
	const char *sort;
	int64_t limit; /* -1: not given; 0: no limit */
	bool all;      /* also the rows that the listing holds not worth a look */
	const char *filters[FS_FILTER_MAX];
	struct fs_parameter parameters[FS_PARAMETERS_MAX];
	size_t parameter_count;
	char *notes[FS_NOTES_MAX];
	size_t note_count;
	int64_t trace_id;
	struct json_object *trace;
	struct json_object *scope; /* what else the answer is limited to; goes with the filters */
	const char *empty;	   /* instead of the listing's; "": say nothing */
	size_t rows;		   /* after the listing: how many were shown */
	void *own;		   /* of the command */
};

/*
 * Parse argv with the common options and, where `own` is not NULL, the command's: its parser's
 * input is the struct fs_options. Start with *options zeroed but for listing and own. Without a
 * listing the parser stops at the first argument, the command. Returns FS_HELPED after --help.
 */
int fs_options_parse(struct fs_options *options, struct fs_query *query, const struct argp *own,
		     int argc, char **argv, struct fs_error *error);
void fs_options_free(struct fs_options *options);

/* The name of a filter's option, without dashes. */
const char *fs_filter_name(enum fs_filter filter);

/* A whole decimal number that is not negative. */
bool fs_parse_count(const char *text, int64_t *ret_value);

/* Parser of one optional argument, for which options->own begins with a const char *. */
error_t fs_parse_name(int key, char *arg, struct argp_state *state);

/* For a listing with `worth`: the option --all. */
extern const struct argp fs_all_argp;

/* Leave a parser with a usage sentence. */
error_t fs_options_fail(struct argp_state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Choose the trace by options->listing->need and bind :trace. Says on stderr which. */
int fs_trace_choose(struct fs_options *options, struct fs_error *error);

/*
 * Whether the chosen trace has data addresses, without which no line can be named. The sentence
 * that says so and what to record instead; empty where it has.
 */
int fs_trace_blindness(const struct fs_options *options, char *sentence, size_t size,
		       struct fs_error *error);

/* Note that sentence, and let it stand for what is said of no rows. */
int fs_trace_note_blindness(struct fs_options *options, bool *ret_blind, struct fs_error *error);

/* Whether any filter was given. */
bool fs_options_filtered(const struct fs_options *options);

/* Whether the rows that the listing holds not worth a look are left out. */
bool fs_options_brief(const struct fs_options *options);

void fs_options_bind(struct fs_options *options, const char *name, int64_t integer,
		     const char *text);

/* A sentence that goes with the answer: to stderr, and into JSON. */
int fs_options_note(struct fs_options *options, struct fs_error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * For statements that a command runs itself: append the conditions of all filters but
 * --min-samples, as " AND ...", and bind parameters and filters.
 */
int fs_listing_conditions(const struct fs_options *options, sqlite3_str *sql,
			  struct fs_error *error);
void fs_listing_bind(const struct fs_options *options, sqlite3_stmt *statement);

/* take() for each row of a statement with the trace as ?1, `number` as ?2, and what
 * fs_listing_bind() binds. */
int fs_listing_each(const struct fs_options *options, const char *sql, int64_t number,
		    int (*take)(void *context, sqlite3_stmt *row, struct fs_error *error),
		    void *context, struct fs_error *error);

/* Run the listing on query->db and render it. */
int fs_listing_run(struct fs_options *options, struct fs_error *error);

/* Parse, open the database, choose the trace, run: a whole command. `own` is for the listing's
 * argp and before(), as options->own. */
int fs_listing_command(const struct fs_listing *listing, void *own, struct fs_query *query,
		       int argc, char **argv, struct fs_error *error);

/*
 * For rows that do not come from SQL: make a temporary table `rows` with the listing's columns,
 * which its `from` then names, and add rows in order.
 */
int fs_rows_create(struct fs_options *options, sqlite3_stmt **ret_insert, struct fs_error *error);
int fs_rows_add(struct fs_query *query, sqlite3_stmt *insert, const struct fs_cell *cells,
		struct fs_error *error);

static inline struct fs_cell fs_text_cell(const char *text)
{
	return (struct fs_cell){ .kind = text ? FS_CELL_TEXT : FS_CELL_NULL,
				 .text = text,
				 .length = text ? __builtin_strlen(text) : 0 };
}

static inline struct fs_cell fs_integer_cell(int64_t integer)
{
	return (struct fs_cell){ .kind = FS_CELL_INTEGER, .integer = integer };
}

/* The cell of a statement's column; valid until the next step. */
struct fs_cell fs_statement_cell(sqlite3_stmt *statement, int column);

/* The rendering half, for commands whose columns are known only at run time. */
int fs_listing_render(struct fs_options *options, sqlite3_stmt *statement,
		      const struct fs_render_column *const *columns, size_t count,
		      struct fs_error *error);

/* The name among `count` that is nearest to `text`; NULL when none is near. */
const char *fs_suggest(const char *text, const char *(*name)(const void *list, size_t index),
		       const void *list, size_t count);

#endif
