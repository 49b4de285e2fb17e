/* SPDX-License-Identifier: GPL-2.0-only */
#include "query/dump.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
		sqlite3_str_appendf(sql, ") AS \"%w\"", column->name);
	}
}

char *fs_dump_sql(const char *schema, const struct fs_table_definition *table)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	bool by_id = has_column(table, "id") || !strcmp(table->name, "sample");
	int shown = 0;

	append_columns(sql, table);
	sqlite3_str_appendf(sql, " FROM \"%w\".\"%w\" WHERE ", schema, table->name);
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

void fs_dump_hash(struct sha256_ctx *hash, sqlite3_stmt *row)
{
	for (int i = 0; i < sqlite3_column_count(row); i++)
		hash_value(hash, row, i);
	sha256_update(hash, 1, (const uint8_t *)"\n");
}
