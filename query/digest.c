/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * digest: SHA-256 of the canonical dump, by table and in total. The same file, symbols and
 * version give the same digest, in whatever database and after whatever other trace.
 *
 * The dump of a trace: all tables but the vocabulary (NAMES), in the order of the schema. Rows
 * that have an id, and samples, stand in its order; others are sorted by all columns. Left out:
 * trace ids and the columns of `left_out`. Ids depend on what the database held before, so each
 * is written less the smallest id of its table within the trace. A row belongs to the trace that
 * its trace_id says, or else that of the row it refers to.
 *
 * Each value is hashed as nine bytes, and what follows them:
 *
 *   | letter | i64 |       I: the integer; N (NULL): 0; else the length of
 *   | text or bytes |      T: the text, B: the blob, R: the real as %.15g
 *
 * and each row ends with a newline. Without --trace, the traces' rows of a table follow one
 * another in the order of the traces.
 */
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "query/database.h"
#include "query/listing.h"
#include "schema/schema.h"

/* Labels, dates, and whatever tells where on the importing machine something lay. */
static const struct {
	const char *table, *column;
} left_out[] = {
	{ "trace", "id" },
	{ "trace", "name" },
	{ "trace", "options" },
	{ "dso", "symbols_reason" },
};

static bool is_left_out(const char *table, const char *column)
{
	if (!strcmp(column, "trace_id"))
		return true;
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++) {
		if (!strcmp(left_out[i].table, table) && !strcmp(left_out[i].column, column))
			return true;
	}
	return false;
}

static const struct fs_table_definition *find_table(const char *name, size_t length)
{
	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		if (strlen(table->name) == length && !memcmp(table->name, name, length))
			return table;
	}
	return NULL;
}

static bool has_column(const struct fs_table_definition *table, const char *name)
{
	for (const struct fs_column *column = table->columns; column->name; column++) {
		if (!strcmp(column->name, name))
			return true;
	}
	return false;
}

/*
 * The table whose ids a column holds, NULL when it holds no id: from REFERENCES, else from the
 * name, "a_code_id" as well as "code_id". A column named id holds those of its own table.
 */
static const struct fs_table_definition *target_of(const struct fs_table_definition *table,
						   const struct fs_column *column)
{
	static const char references[] = "REFERENCES ";
	const char *type = strstr(column->type, references);
	size_t length = strlen(column->name);
	const char *word;

	if (!strcmp(column->name, "id"))
		return table;
	if (type) {
		type += strlen(references);
		return find_table(type, strcspn(type, "("));
	}
	if (length < 4 || strcmp(column->name + length - 3, "_id") != 0)
		return NULL;
	length -= 3;
	word = memrchr(column->name, '_', length);
	word = word ? word + 1 : column->name;
	return find_table(word, length - (size_t)(word - column->name));
}

/* Ids are rowids; sample has no column for its own. */
static const char *id_name(const struct fs_table_definition *table)
{
	return has_column(table, "id") ? "id" : "rowid";
}

/* SQL: the condition that a row of the table belongs to trace ?1. */
static void append_owner(sqlite3_str *sql, const struct fs_table_definition *table)
{
	if (!strcmp(table->name, "trace")) {
		sqlite3_str_appendall(sql, "id = ?1");
		return;
	}
	if (has_column(table, "trace_id")) {
		sqlite3_str_appendall(sql, "trace_id = ?1");
		return;
	}
	for (const struct fs_column *column = table->columns; column->name; column++) {
		const struct fs_table_definition *target = target_of(table, column);

		if (!target || target == table || target->kind == FS_TABLE_NAMES)
			continue;
		sqlite3_str_appendf(sql, "\"%w\" IN (SELECT %s FROM \"%w\" WHERE ", column->name,
				    id_name(target), target->name);
		append_owner(sql, target);
		sqlite3_str_appendall(sql, ")");
		return;
	}
	sqlite3_str_appendall(sql, "1");
}

static void append_columns(sqlite3_str *sql, const struct fs_table_definition *table)
{
	const char *separator = "SELECT ";

	for (const struct fs_column *column = table->columns; column->name; column++) {
		const struct fs_table_definition *target = target_of(table, column);

		if (is_left_out(table->name, column->name))
			continue;
		sqlite3_str_appendf(sql, "%s\"%w\"", separator, column->name);
		separator = ", ";
		if (!target || target->kind == FS_TABLE_NAMES)
			continue;
		sqlite3_str_appendf(sql, " - (SELECT min(%s) FROM \"%w\" WHERE ", id_name(target),
				    target->name);
		append_owner(sql, target);
		sqlite3_str_appendall(sql, ")");
	}
}

static char *dump_sql(const struct fs_table_definition *table)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	bool by_id = has_column(table, "id") || !strcmp(table->name, "sample");
	int shown = 0;

	append_columns(sql, table);
	sqlite3_str_appendf(sql, " FROM \"%w\" WHERE ", table->name);
	append_owner(sql, table);
	sqlite3_str_appendall(sql, by_id ? " ORDER BY rowid" : " ORDER BY ");
	for (const struct fs_column *column = table->columns; !by_id && column->name; column++) {
		if (!is_left_out(table->name, column->name)) {
			shown++;
			sqlite3_str_appendf(sql, "%s%d", shown > 1 ? ", " : "", shown);
		}
	}
	return sqlite3_str_finish(sql);
}

static void hash_value(struct sha256_ctx *hash, sqlite3_stmt *row, int column)
{
	static const uint8_t letters[] = { [SQLITE_INTEGER] = 'I',
					   [SQLITE_FLOAT] = 'R',
					   [SQLITE_TEXT] = 'T',
					   [SQLITE_BLOB] = 'B',
					   [SQLITE_NULL] = 'N' };
	int type = sqlite3_column_type(row, column);
	int64_t number = 0;
	uint8_t head[1 + sizeof(number)] = { letters[type] };
	const void *bytes = NULL;
	char real[32];

	if (type == SQLITE_INTEGER) {
		number = sqlite3_column_int64(row, column);
	} else if (type == SQLITE_FLOAT) {
		number = snprintf(real, sizeof(real), "%.15g", sqlite3_column_double(row, column));
		bytes = real;
	} else if (type != SQLITE_NULL) {
		bytes = sqlite3_column_blob(row, column);
		number = sqlite3_column_bytes(row, column);
	}
	memcpy(head + 1, &number, sizeof(number));
	sha256_update(hash, sizeof(head), head);
	if (bytes)
		sha256_update(hash, (size_t)number, bytes);
}

/* Add the rows of one trace to the hash of a table. */
static int hash_rows(struct fs_query *query, const char *sql, int64_t trace_id,
		     struct sha256_ctx *hash, int64_t *rows, struct fs_error *error)
{
	sqlite3_stmt *row = NULL;
	int step;
	int code = fs_database_prepare(query, sql, &row, error);

	if (code)
		return code;
	sqlite3_bind_int64(row, 1, trace_id);
	while ((step = sqlite3_step(row)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(row); i++)
			hash_value(hash, row, i);
		sha256_update(hash, 1, (const uint8_t *)"\n");
		++*rows;
	}
	if (step != SQLITE_DONE)
		code = fs_database_fail(query, error);
	sqlite3_finalize(row);
	return code;
}

static int hash_table(struct fs_options *options, const struct fs_table_definition *table,
		      struct sha256_ctx *hash, int64_t *rows, struct fs_error *error)
{
	struct fs_query *query = options->query;
	sqlite3_stmt *traces = NULL;
	char *sql = dump_sql(table);
	int code = sql ? fs_database_prepare(query,
					     "SELECT id FROM trace WHERE ?1 = 0 OR id = ?1 "
					     "ORDER BY id",
					     &traces, error)
		       : fs_fail(error, FS_NOMEM, "out of memory");

	if (!code)
		sqlite3_bind_int64(traces, 1, options->trace_id);
	while (!code && sqlite3_step(traces) == SQLITE_ROW)
		code = hash_rows(query, sql, sqlite3_column_int64(traces, 0), hash, rows, error);
	sqlite3_finalize(traces);
	sqlite3_free(sql);
	return code;
}

static int add_row(struct fs_query *query, sqlite3_stmt *insert, const char *name, int64_t rows,
		   struct sha256_ctx *hash, char *hex, struct fs_error *error)
{
	uint8_t bytes[SHA256_DIGEST_SIZE];
	struct fs_cell cells[3];

	sha256_digest(hash, sizeof(bytes), bytes);
	fs_hex(hex, bytes, sizeof(bytes));
	cells[0] = fs_text_cell(name);
	cells[1] = fs_integer_cell(rows);
	cells[2] = fs_text_cell(hex);
	return fs_rows_add(query, insert, cells, error);
}

/* The total is the hash of the lines "table hash". */
static int fill_tables(struct fs_options *options, sqlite3_stmt *insert, struct fs_error *error)
{
	char hex[2 * SHA256_DIGEST_SIZE + 1];
	struct sha256_ctx total;
	int64_t all = 0;

	sha256_init(&total);
	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		struct sha256_ctx hash;
		int64_t rows = 0;

		if (table->kind == FS_TABLE_NAMES)
			continue;
		sha256_init(&hash);
		FS_TRY(hash_table(options, table, &hash, &rows, error));
		FS_TRY(add_row(options->query, insert, table->name, rows, &hash, hex, error));
		sha256_update(&total, strlen(table->name), (const uint8_t *)table->name);
		sha256_update(&total, 1, (const uint8_t *)" ");
		sha256_update(&total, strlen(hex), (const uint8_t *)hex);
		sha256_update(&total, 1, (const uint8_t *)"\n");
		all += rows;
	}
	return add_row(options->query, insert, "total", all, &total, hex, error);
}

static int fill(struct fs_options *options, struct fs_error *error)
{
	sqlite3_stmt *insert = NULL;
	int code = options->query->trace ? fs_trace_choose(options, error) : 0;

	if (!code)
		code = fs_rows_create(options, &insert, error);
	if (!code)
		code = fill_tables(options, insert, error);
	sqlite3_finalize(insert);
	return code;
}

static const struct fs_query_column columns[] = {
	FS_COLUMN("table", "TABLE", TEXT, FS_SHOW_DEFAULT, "\"table\"", "Name, or total"),
	FS_COLUMN("rows", "ROWS", INTEGER, FS_SHOW_DEFAULT, "\"rows\"", "Rows that were hashed"),
	FS_COLUMN("sha256", "SHA256", TEXT, FS_SHOW_DEFAULT, NULL, "Of the canonical dump"),
};

static const struct fs_listing listing = {
	.command = "digest",
	.about = "Print the SHA-256 of the content of all traces of the case, or of --trace: by "
		 "table and in total. Labels, dates and paths of the importing machine are left "
		 "out, "
		 "and ids are relative, so that the same file, symbols and version give the same "
		 "digest in any database.",
	.need = FS_NEED_NONE,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "temp.rows WHERE 1",
	.limit = FS_NO_LIMIT,
	.nouns = "tables",
	.before = fill,
};

FS_COMMAND(digest)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
