/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: a declaration is the text of the type with the name put into it. Types without a
 * name cannot be told by their text and are written out from the table `field`.
 */
#include "query/layout_c.h"

#include <inttypes.h>
#include <string.h>

#include "query/database.h"

enum { DEPTH_MAX = 16 };

/* Where the name stands: in the innermost "(*...)", before its brackets or its end; else before the
 * brackets of an array, else at the end. */
static size_t place_of_name(const char *type)
{
	const char *inner = strstr(type, "(*");

	while (inner && inner[1 + strspn(inner + 1, "*")] == '(')
		inner += 1 + strspn(inner + 1, "*");
	return inner ? (size_t)(inner + strcspn(inner, "[)") - type) : strcspn(type, "[");
}

/* The type up to where the name stands, the name, and what follows it. */
static void write_named(FILE *out, const char *type, size_t place, const char *name,
			const char *rest)
{
	size_t length = place;

	while (length && type[length - 1] == ' ')
		length--;
	fprintf(out, "%.*s%s%s%s", (int)length, type,
		*name && length && type[length - 1] != '*' && type[length - 1] != '&' ? " " : "",
		name, rest);
}

void fs_layout_declare(FILE *out, const char *type, const char *name, int64_t bits)
{
	size_t place = place_of_name(type);

	write_named(out, type, place, name, type + place);
	if (bits >= 0)
		fprintf(out, " : %lld", (long long)bits);
}

bool fs_layout_is_array(const char *type)
{
	return type[place_of_name(type)] == '[' && !strstr(type, "(anonymous)");
}

void fs_layout_write_slots(FILE *out, const char *type, const char *name, uint64_t line)
{
	size_t place = place_of_name(type);
	size_t end = place;

	while (type[end] == '[' && strchr(type + end, ']'))
		end = (size_t)(strchr(type + end, ']') + 1 - type);
	fputs("\tstruct {\n\t\t", out);
	write_named(out, type, place, "value", type + end);
	fprintf(out, " __attribute__((aligned(%" PRIu64 ")));\n\t} %s%.*s", line, name,
		(int)(end - place), type + place);
}

static const char *without_name(const char *type)
{
	static const char *const kinds[] = { "struct ", "union ", "class ", "enum " };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(type, kinds[i], strlen(kinds[i])) &&
		    !strncmp(type + strlen(kinds[i]), "(anonymous)", 11))
			return type + strlen(kinds[i]) + 11;
	return NULL;
}

static int write_members(FILE *out, const struct fs_options *options, int64_t type, int depth,
			 struct fs_error *error)
{
	sqlite3_stmt *row = NULL;
	int code = 0;

	FS_TRY(fs_database_prepare(
		options->query,
		"SELECT coalesce(declared, type_name), coalesce(name, ''), coalesce(bit_size, -1), "
		"coalesce(member_id, 0) FROM field WHERE type_id = ? AND NOT "
		"base_class ORDER BY idx LIMIT 256",
		&row, error));
	sqlite3_bind_int64(row, 1, type);
	while (!code && sqlite3_step(row) == SQLITE_ROW) {
		code = fs_layout_write_member(
			out, options, fs_database_text(row, 0), fs_database_text(row, 1),
			sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3), depth, error);
		fputc('\n', out);
	}
	sqlite3_finalize(row);
	return code;
}

int fs_layout_write_member(FILE *out, const struct fs_options *options, const char *type,
			   const char *name, int64_t bits, int64_t member, int depth,
			   struct fs_error *error)
{
	const char *rest = without_name(type);
	char dimensions[256];

	for (int i = 0; i < depth; i++)
		fputc('\t', out);
	if (rest && !strncmp(type, "enum", 4)) { /* its constants are not in the tables */
		snprintf(dimensions, sizeof(dimensions), "unsigned int%s", rest);
		fs_layout_declare(out, dimensions, name, bits);
		fputs("; /* of an enumeration without a name */", out);
		return 0;
	}
	if (!rest || !member || depth > DEPTH_MAX) {
		fs_layout_declare(out, type, name, bits);
		fputc(';', out);
		return 0;
	}
	fprintf(out, "%s {\n", !strncmp(type, "union", 5) ? "union" : "struct");
	FS_TRY(write_members(out, options, member, depth + 1, error));
	for (int i = 0; i < depth; i++)
		fputc('\t', out);
	snprintf(dimensions, sizeof(dimensions), "}%s", rest);
	fs_layout_declare(out, dimensions, name, -1);
	fputc(';', out);
	return 0;
}
