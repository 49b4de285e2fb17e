/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: a hostile database under the commands of fsquery.
 *
 *   input: | u8 command | u8 options | edit ... |
 *   edit:  | u8 kind | u8 table | u8 column | u8 row | u16 size | size bytes |
 *
 * At the start fsingest's own code makes a small database of the traces in fuzz/base. An input is
 * a list of edits to it, applied by SQLite where values or the schema change, so that the pages
 * stay sound and the hostile value reaches our code, and to the file's bytes otherwise. So inputs
 * are small and outlive changes of the schema. With the top bit of `command` set, what follows is
 * the whole file.
 *
 * Beyond not failing: no command ends with "internal error", whatever the database says.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/analyze.h"
#include "common/reader.h"
#include "fuzz/fuzz.h"
#include "ingest/load/load.h"
#include "ingest/load/thin.h"
#include "query/query.h"
#include "schema/schema.h"

enum edit_kind {
	EDIT_INTEGER,
	EDIT_REAL,
	EDIT_TEXT,
	EDIT_BLOB,
	EDIT_NULL,
	EDIT_DELETE,
	EDIT_DUPLICATE,
	EDIT_SCHEMA, /* text at `column` * 16 + `row` of the schema's row `table` */
	EDIT_BYTES,  /* of the file at `table` << 16 | `column` << 8 | `row` */
	EDIT_HEADER, /* of the file at `row` */
	EDIT_CUT,    /* the file ends where EDIT_BYTES would write */
	EDIT_KINDS,
};

enum { CONTROL = 2, EDIT_HEADER_SIZE = 6, WHOLE_FILE = 0x80, OWN_LIMIT = 8 };

struct edit {
	uint8_t kind, table, column, row;
	uint16_t size;
	const uint8_t *bytes;
};

static struct {
	uint8_t *bytes;
	sqlite3_int64 size;
	char path[64];
	FILE *out; /* of the commands */
	size_t table_count, view_count;
} base;

/* ---- the database to begin with ---- */

static void add_trace(sqlite3 *db, const char *name)
{
	char path[512];
	struct fs_load_options options = { .path = path, .name = name };
	struct fs_load_result result = { 0 };
	struct fs_error error = { 0 };

	snprintf(path, sizeof(path), FS_FUZZ_SOURCE "/fuzz/base/%s.data", name);
	if (fs_load(db, &options, &result, &error) || fs_analyze(db, result.trace_id, &error)) {
		fprintf(stderr, "%s: %s\n", path, error.text);
		exit(1);
	}
}

/* What the traces of fuzz/base do not have: call chains, and types, objects and heap blocks, which
 * would take binaries and a helper process. */
static const char more_sql[] =
	"INSERT INTO chain SELECT 2 * trace_id + n, trace_id, iif(n, 2 * trace_id, NULL), min(id) "
	"FROM code, (SELECT 0 AS n UNION SELECT 1) GROUP BY trace_id, n;"
	"UPDATE sample SET chain_id = 2 * (SELECT trace_id FROM event WHERE id = event_id) + 1 "
	"WHERE rowid % 2;"
	"UPDATE event SET sample_type = sample_type | 32;"
	"INSERT INTO type (id, trace_id, dso_id, name, kind, size) SELECT min(id), trace_id, "
	"min(id), 'struct pool', 'struct', 64 FROM dso GROUP BY trace_id;"
	"INSERT INTO field (type_id, idx, name, type_name, offset, size, bit_offset, bit_size, "
	"base_class) SELECT type.id, n.value, 'f' || n.value, iif(n.value % 4, 'int', 'unsigned "
	"int[2]'), "
	"8 * n.value, iif(n.value % 4, 4, 8), iif(n.value = 3, 0, NULL), iif(n.value = 3, 5, "
	"NULL), 0 "
	"FROM type, json_each('[0,1,2,3,4,5,6,7]') AS n;"
	"INSERT INTO data_field SELECT a.trace_id, a.space_id, a.addr, NULL, t.id, a.addr & ~63, "
	"'f' || (a.addr / 8 % 8), 'flow', 1, sum(a.samples) FROM access AS a JOIN type AS t ON "
	"t.trace_id = a.trace_id GROUP BY 1, 2, 3;"
	"INSERT INTO heap_block SELECT trace_id, space_id, min(addr), 64, 1, 0, NULL, min(code_id) "
	"FROM access WHERE addr > 0 AND space_id NOTNULL GROUP BY trace_id, space_id, line;";

static void remove_file(void)
{
	unlink(base.path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct fs_error error;
	const char *directory = getenv("TMPDIR");
	const char *output = getenv("FUZZ_OUTPUT"); /* to see what an input does */
	sqlite3 *db;

	(void)argc;
	(void)argv;
	FS_FUZZ_ASSERT(sqlite3_open(":memory:", &db) == SQLITE_OK);
	FS_FUZZ_ASSERT(!fs_sql_run(db, "PRAGMA page_size = 1024", &error));
	FS_FUZZ_ASSERT(!fs_schema_create(db, &error));
	FS_FUZZ_ASSERT(!fs_sql_run(db, "BEGIN", &error));
	add_trace(db, "c2c");
	add_trace(db, "spe");
	add_trace(db, "cycles");
	FS_FUZZ_ASSERT(!fs_sql_run(db, more_sql, &error));
	FS_FUZZ_ASSERT(!fs_sql_run(db, "COMMIT", &error));
	base.bytes = sqlite3_serialize(db, "main", &base.size, 0);
	sqlite3_close(db);
	base.out = fopen(output ? output : "/dev/null", "w");
	while (fs_schema_tables[base.table_count].name)
		base.table_count++;
	while (fs_schema_views[base.view_count].name)
		base.view_count++;
	snprintf(base.path, sizeof(base.path), "%.40s/fuzz.%d.db", directory ? directory : "/tmp",
		 (int)getpid());
	FS_FUZZ_ASSERT(base.bytes && base.out);
	return atexit(remove_file);
}

/* ---- edits ---- */

static bool read_edit(struct fs_reader *reader, struct edit *ret_edit)
{
	struct edit edit;

	edit.kind = fs_read_u8(reader) % EDIT_KINDS;
	edit.table = fs_read_u8(reader);
	edit.column = fs_read_u8(reader);
	edit.row = fs_read_u8(reader);
	edit.size = fs_read_u16(reader);
	edit.bytes = fs_read_bytes(reader, edit.size);
	*ret_edit = edit;
	return !reader->failed;
}

static uint64_t number_of(const struct edit *edit)
{
	uint64_t value = 0;

	if (edit->size)
		memcpy(&value, edit->bytes, edit->size < 8 ? edit->size : 8);
	return value;
}

static void bind_value(sqlite3_stmt *statement, const struct edit *edit)
{
	uint64_t number = number_of(edit);
	double real;

	memcpy(&real, &number, sizeof(real));
	switch (edit->kind) {
	case EDIT_INTEGER:
		sqlite3_bind_int64(statement, 2, (sqlite3_int64)number);
		break;
	case EDIT_REAL:
		sqlite3_bind_double(statement, 2, real);
		break;
	case EDIT_TEXT:
		sqlite3_bind_text(statement, 2, (const char *)edit->bytes, edit->size,
				  SQLITE_STATIC);
		break;
	case EDIT_BLOB:
		sqlite3_bind_blob(statement, 2, edit->bytes, edit->size, SQLITE_STATIC);
		break;
	default:
		sqlite3_bind_null(statement, 2);
		break;
	}
}

/* Statements that a constraint refuses change nothing. */
static void run_edit(sqlite3 *db, const char *sql, const struct edit *edit)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return;
	sqlite3_bind_int(statement, 1, edit->row);
	bind_value(statement, edit);
	sqlite3_step(statement);
	sqlite3_finalize(statement);
}

static void edit_row(sqlite3 *db, const struct edit *edit)
{
	const struct fs_table_definition *table = &fs_schema_tables[edit->table % base.table_count];
	char sql[512];
	size_t columns = 0;

	while (table->columns[columns].name)
		columns++;
	if (edit->kind == EDIT_DELETE)
		snprintf(sql, sizeof(sql),
			 "DELETE FROM %s WHERE rowid = (SELECT rowid FROM %s LIMIT 1 OFFSET ?1)",
			 table->name, table->name);
	else if (edit->kind == EDIT_DUPLICATE)
		snprintf(sql, sizeof(sql),
			 "INSERT INTO %s SELECT * FROM %s LIMIT 1 + coalesce(?2, 0) OFFSET ?1",
			 table->name, table->name);
	else
		snprintf(sql, sizeof(sql),
			 "UPDATE %s SET \"%s\" = ?2 WHERE rowid = (SELECT rowid FROM %s LIMIT 1 "
			 "OFFSET ?1)",
			 table->name, table->columns[edit->column % columns].name, table->name);
	run_edit(db, sql, edit);
}

static void edit_schema(sqlite3 *db, const struct edit *edit)
{
	struct edit text = *edit;
	char sql[256];

	text.kind = EDIT_TEXT;
	snprintf(sql, sizeof(sql),
		 "UPDATE sqlite_schema SET sql = substr(sql, 1, %d) || ?2 || substr(sql, %d) WHERE "
		 "rowid = %d + 0 * ?1",
		 edit->column * 16 + edit->row, edit->column * 16 + edit->row + edit->size + 1,
		 edit->table + 1);
	run_edit(db, sql, &text);
}

static void edit_bytes(uint8_t *bytes, sqlite3_int64 *size, const struct edit *edit)
{
	size_t at = edit->kind == EDIT_HEADER
			    ? edit->row % 100u
			    : ((size_t)edit->table << 16 | (size_t)edit->column << 8 | edit->row);
	size_t whole = (size_t)*size;

	if (!whole)
		return;
	at %= whole;
	if (edit->kind == EDIT_CUT)
		*size = (sqlite3_int64)at;
	else if (edit->size)
		memcpy(bytes + at, edit->bytes, edit->size < whole - at ? edit->size : whole - at);
}

/* The edited database, to be freed by sqlite3_free(). */
static uint8_t *apply(struct fs_reader edits, sqlite3_int64 *ret_size)
{
	static const char setup[] = "PRAGMA writable_schema = ON; PRAGMA synchronous = OFF; BEGIN";
	struct fs_reader again = edits;
	uint8_t *bytes = sqlite3_malloc64((sqlite3_uint64)base.size);
	struct edit edit;
	sqlite3 *db;

	FS_FUZZ_ASSERT(bytes && sqlite3_open(":memory:", &db) == SQLITE_OK);
	memcpy(bytes, base.bytes, (size_t)base.size);
	FS_FUZZ_ASSERT(!sqlite3_deserialize(db, "main", bytes, base.size, base.size,
					    SQLITE_DESERIALIZE_FREEONCLOSE |
						    SQLITE_DESERIALIZE_RESIZEABLE));
	sqlite3_exec(db, setup, NULL, NULL, NULL);
	while (read_edit(&edits, &edit)) {
		if (edit.kind < EDIT_SCHEMA)
			edit_row(db, &edit);
		else if (edit.kind == EDIT_SCHEMA)
			edit_schema(db, &edit);
	}
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	bytes = sqlite3_serialize(db, "main", ret_size, 0);
	sqlite3_close(db);
	while (bytes && read_edit(&again, &edit))
		if (edit.kind > EDIT_SCHEMA)
			edit_bytes(bytes, ret_size, &edit);
	return bytes;
}

/* ---- the commands ---- */

#define C_FORMAT "--format=c"
static const char *const commands[][OWN_LIMIT] = {
	{ "top-lines", "--all" },
	{ "top-lines", "--columns", "all", "--pid", "0-2000000000" },
	{ "pairs", "--columns", "all" },
	{ "pairs", "--cpu", "0-3", "--time", "0,1000000" },
	{ "groups", "--columns", "all" },
	{ "line", "--rank", "1", "--columns", "all" },
	{ "line", "--rank", "2", "--tid", "0-2000000000" },
	{ "health" },
	{ "mem-bound", "--columns", "all" },
	{ "mem-bound", "--user" },
	{ "digest" },
	{ "c2c-stats" },
	{ "c2c-stats", "--perf-version", "6.1" },
	{ "traces", "--columns", "all" },
	{ "analyze" },
	{ "types", "--columns", "all" },
	{ "type", "pool", "--cpu", "0-3" },
	{ "layout", "pool" },
	{ "layout", "pool", C_FORMAT },
	{ "objects", "--columns", "all" },
	{ "pages", "--tid", "0-2000000000" },
	{ "callers", "--columns", "all" },
	{ "callers", "*", "--comm", "*" },
	{ "callers", "--folded" },
	{ "reproduce", "--columns", "all" },
	{ "top-lines", "--thin", "2" },
	{ "pairs", "--line-size", "128" },
	{ "sql" }, /* of a view, chosen by the options */
};

static void run_command(uint8_t command, uint8_t options)
{
	static const char *const formats[] = { "table", "csv", "tsv", "json", "ndjson", "md" };
	static const char *const traces[] = { NULL, "1", "2", "3" };
	static const struct fs_ingest ingest = { .thin = fs_thin_trace };
	const char *const *words = commands[command % (sizeof(commands) / sizeof(commands[0]))];
	const char *trace = traces[options / 6 % 4];
	char *argv[OWN_LIMIT + 8];
	char sql[256];
	int argc = 0;

	argv[argc++] = (char *)"fsquery";
	argv[argc++] = (char *)"--db";
	argv[argc++] = base.path;
	if (trace) {
		argv[argc++] = (char *)"--trace";
		argv[argc++] = (char *)trace;
	}
	for (size_t i = 0; i < OWN_LIMIT && words[i]; i++)
		argv[argc++] = (char *)words[i];
	if (!strcmp(words[0], "sql")) {
		snprintf(sql, sizeof(sql), "SELECT * FROM %s",
			 fs_schema_views[options / 6 % base.view_count].name);
		argv[argc++] = sql;
	}
	if (strcmp(words[0], "analyze") && strcmp(argv[argc - 1], C_FORMAT) &&
	    strcmp(argv[argc - 1], "--folded")) {
		argv[argc++] = (char *)"--format";
		argv[argc++] = (char *)formats[options % 6];
	}
	argv[argc] = NULL;
	FS_FUZZ_ASSERT(fs_query_main(argc, argv, base.out, base.out, &ingest) != FS_EXIT_INTERNAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fs_reader reader = fs_reader_of(data, size);
	uint8_t command = fs_read_u8(&reader);
	uint8_t options = fs_read_u8(&reader);
	sqlite3_int64 file_size = 0;
	uint8_t *bytes = NULL;
	FILE *file;

	if (reader.failed)
		return 0;
	if (command & WHOLE_FILE)
		file_size = (sqlite3_int64)(size - CONTROL);
	else
		bytes = apply(reader, &file_size);
	file = fopen(base.path, "w");
	FS_FUZZ_ASSERT(file);
	if (file_size)
		fwrite(bytes ? bytes : data + CONTROL, (size_t)file_size, 1, file);
	FS_FUZZ_ASSERT(!fclose(file));
	sqlite3_free(bytes);
	run_command(command & ~WHOLE_FILE, options);
	return 0;
}

/* ---- framing for the mutator: control bytes, then edits ---- */

static void split(struct fs_parts *parts, const uint8_t *data, size_t size)
{
	size_t at = size < CONTROL ? size : CONTROL;

	fs_fuzz_append(parts, 0, 0, data, at);
	while (at < size) {
		struct fs_reader reader = fs_reader_of(data + at, size - at);
		struct edit edit;
		size_t length = read_edit(&reader, &edit) ? reader.offset : size - at;

		if (!fs_fuzz_append(parts, 1, 0, data + at, length))
			return;
		at += length;
	}
}

static void make(struct fs_parts *parts, size_t position)
{
	static const char words[][12] = { "",	     "\x1b[31m",     "=1+1",   "a\nb",	"\xff\xfe",
					  "0x41d0c", "\xe2\x80\xae", "memory", "store", "cycles" };
	bool text = !fs_fuzz_random(parts, 3);
	size_t word = fs_fuzz_random(parts, sizeof(words) / sizeof(words[0]));
	size_t size = text ? strlen(words[word]) : 8;
	struct fs_part *part = fs_fuzz_insert(parts, position, EDIT_HEADER_SIZE + size);
	uint64_t value = fs_fuzz_odd_number(parts);

	if (!part)
		return;
	part->kind = 1;
	/* values most of all, of the first rows: those that the commands show */
	part->bytes[0] = (uint8_t)(text			      ? EDIT_TEXT
				   : fs_fuzz_random(parts, 2) ? EDIT_INTEGER
							      : fs_fuzz_random(parts, EDIT_KINDS));
	part->bytes[1] = (uint8_t)fs_fuzz_random(parts, 256);
	part->bytes[2] = (uint8_t)fs_fuzz_random(parts, 256);
	part->bytes[3] = (uint8_t)fs_fuzz_random(parts, fs_fuzz_random(parts, 2) ? 4 : 256);
	part->bytes[4] = (uint8_t)size;
	memcpy(part->bytes + EDIT_HEADER_SIZE, text ? (const void *)words[word] : &value, size);
}

static size_t join(struct fs_parts *parts, uint8_t *out, size_t max, bool repair)
{
	size_t used = 0;

	for (unsigned int kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < parts->count; i++) {
			struct fs_part *part = &parts->items[i];

			if (part->kind != kind)
				continue;
			if (repair && kind == 1 && part->size >= EDIT_HEADER_SIZE) {
				uint16_t size = (uint16_t)(part->size - EDIT_HEADER_SIZE);

				memcpy(part->bytes + 4, &size, sizeof(size));
			}
			fs_fuzz_put(out, &used, max, part->bytes, part->size);
		}
	}
	return used;
}

const struct fs_fuzz_format fs_fuzz_format = { .split = split, .make = make, .join = join };
