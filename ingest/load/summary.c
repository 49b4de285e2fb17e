/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: a few queries over the trace's rows fill a json-c object; the text form is
 * written from the same object, so that both say the same.
 */
#include "ingest/load/summary.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "schema/schema.h"

/* A column's value; text from a trace becomes harmless, and valid UTF-8, which JSON must be. */
static struct json_object *value_of(sqlite3_stmt *statement, int column)
{
	struct json_object *value;
	const char *text;
	size_t size;
	char *safe;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		return json_object_new_int64(sqlite3_column_int64(statement, column));
	case SQLITE_FLOAT:
		return json_object_new_double(sqlite3_column_double(statement, column));
	case SQLITE_TEXT:
		text = (const char *)sqlite3_column_text(statement, column);
		size = 4 * strlen(text) + 1;
		safe = malloc(size);
		if (!safe)
			return NULL;
		fs_escape(safe, size, text, strlen(text));
		value = json_object_new_string(safe);
		free(safe);
		return value;
	default:
		return NULL;
	}
}

/* Run a query of one row and add each column to object under its name. */
static int add_row(sqlite3 *db, struct json_object *object, sqlite3_int64 trace, const char *sql,
		   struct fs_error *error)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return fs_sql_fail(db, NULL, error);
	sqlite3_bind_int64(statement, 1, trace);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(statement); i++)
			json_object_object_add(object, sqlite3_column_name(statement, i),
					       value_of(statement, i));
	}
	/* gives the code of a step that failed */
	return sqlite3_finalize(statement) == SQLITE_OK ? 0 : fs_sql_fail(db, NULL, error);
}

static int add_losses(sqlite3 *db, struct json_object *object, sqlite3_int64 trace,
		      struct fs_error *error)
{
	static const char sql[] =
		/* the numbers come from the file: total() does not overflow */
		"SELECT kind, severity, CAST(total(count) AS INTEGER), "
		"CAST(total(bytes) AS INTEGER), min(first_offset), description, "
		"iif(count(DISTINCT scope) > 3, printf('%d places', count(DISTINCT scope)), "
		"replace(group_concat(DISTINCT scope), ',', ', ')) "
		"FROM loss WHERE trace_id = ?1 GROUP BY kind, severity, description "
		"ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'loss' THEN 1 ELSE 2 END, kind";
	struct json_object *rows = json_object_new_array();
	sqlite3_stmt *statement;

	json_object_object_add(object, "loss", rows);
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return fs_sql_fail(db, NULL, error);
	sqlite3_bind_int64(statement, 1, trace);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		static const char *const names[] = { "kind",  "severity",     "count",
						     "bytes", "first_offset", "description",
						     "scope" };
		struct json_object *row = json_object_new_object();

		for (int i = 0; i < 7; i++)
			json_object_object_add(row, names[i], value_of(statement, i));
		json_object_array_add(rows, row);
	}
	return sqlite3_finalize(statement) == SQLITE_OK ? 0 : fs_sql_fail(db, NULL, error);
}

static const char trace_sql[] =
	"SELECT id AS trace, name, arch, perf_version, samples, sample_records, spe_records, "
	"memory_samples, (last_ns - first_ns) / 1e6 AS span_ms, line_size, line_size_source, "
	"complete, (SELECT count(*) FROM thread WHERE trace_id = t.id AND samples > 0) AS threads, "
	"sha256 FROM trace t WHERE id = ?1";

static const char symbol_sql[] =
	"SELECT sum(samples) AS code_samples, "
	"sum(samples) FILTER (WHERE symbols IN ('verified', 'unverified')) AS named_samples, "
	"count(*) FILTER (WHERE symbols = 'missing') AS missing_binaries, "
	"count(*) FILTER (WHERE symbols = 'failed') AS failed_binaries, "
	"count(*) FILTER (WHERE symbols IN ('verified', 'unverified')) AS binaries_read "
	"FROM dso WHERE trace_id = ?1 AND samples > 0";

static int64_t integer_of(struct json_object *object, const char *name)
{
	return json_object_get_int64(json_object_object_get(object, name));
}

/* "  error: bad_feature (feature HOSTNAME): 1, 8 bytes, first at offset 0x1154. What it is." */
static void write_loss(FILE *out, struct json_object *loss)
{
	struct json_object *offset = json_object_object_get(loss, "first_offset");
	const char *scope = json_object_get_string(json_object_object_get(loss, "scope"));
	char safe[512];

	fs_escape(safe, sizeof(safe), scope, strlen(scope));
	fprintf(out, "  %s: %s (%s): %" PRId64,
		json_object_get_string(json_object_object_get(loss, "severity")),
		json_object_get_string(json_object_object_get(loss, "kind")), safe,
		integer_of(loss, "count"));
	if (integer_of(loss, "bytes"))
		fprintf(out, ", %" PRId64 " bytes", integer_of(loss, "bytes"));
	if (offset)
		fprintf(out, ", first at offset 0x%" PRIx64, json_object_get_int64(offset));
	fprintf(out, ". %s\n", json_object_get_string(json_object_object_get(loss, "description")));
}

static void write_symbols(FILE *out, struct json_object *object)
{
	int64_t code_samples = integer_of(object, "code_samples");
	int64_t read = integer_of(object, "binaries_read");
	int64_t missing = integer_of(object, "missing_binaries");
	int64_t failed = integer_of(object, "failed_binaries");

	if (!code_samples || !(read + missing + failed)) {
		fputs("  symbols: none; give --symbols DIR to name functions and instructions\n",
		      out);
		return;
	}
	fprintf(out,
		"  symbols: %.1f %% of samples with code, from %" PRId64 " %s; %" PRId64
		" not found",
		100.0 * (double)integer_of(object, "named_samples") / (double)code_samples, read,
		read == 1 ? "binary" : "binaries", missing);
	if (failed)
		fprintf(out, "; %" PRId64 " could not be read", failed);
	fputc('\n', out);
}

static void write_text(FILE *out, struct json_object *object, const char *path)
{
	struct json_object *losses = json_object_object_get(object, "loss");
	struct json_object *span = json_object_object_get(object, "span_ms");
	int64_t samples = integer_of(object, "samples");
	const char *name = json_object_get_string(json_object_object_get(object, "name"));
	char safe[256];

	fs_escape(safe, sizeof(safe), name, strlen(name));
	fprintf(out, "%s: trace %" PRId64 ", %s\n", path, integer_of(object, "trace"), safe);
	fprintf(out,
		"  %" PRId64 " samples (%" PRId64 " records, %" PRId64 " SPE records), %" PRId64
		" with a data address, %" PRId64 " thread%s",
		samples, integer_of(object, "sample_records"), integer_of(object, "spe_records"),
		integer_of(object, "memory_samples"), integer_of(object, "threads"),
		integer_of(object, "threads") == 1 ? "" : "s");
	if (span)
		fprintf(out, ", %.3f ms", json_object_get_double(span));
	fputc('\n', out);
	write_symbols(out, object);
	for (size_t i = 0; i < json_object_array_length(losses); i++)
		write_loss(out, json_object_array_get_idx(losses, i));
	fprintf(out, "next: fsquery --db %s %s\n", path,
		integer_of(object, "memory_samples") ? "top-lines"
		: samples			     ? "mem-bound"
						     : "health");
}

int fs_summary_write(FILE *out, sqlite3 *db, const char *path, sqlite3_int64 trace, bool json,
		     struct fs_error *error)
{
	struct json_object *object = json_object_new_object();
	int code;

	if (!object)
		return fs_fail(error, FS_NOMEM, "out of memory");
	code = add_row(db, object, trace, trace_sql, error);
	if (!code)
		code = add_row(db, object, trace, symbol_sql, error);
	if (!code)
		code = add_losses(db, object, trace, error);
	if (!code && json)
		fprintf(out, "%s\n",
			json_object_to_json_string_ext(
				object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	else if (!code)
		write_text(out, object, path);
	json_object_put(object);
	if (!code && (fflush(out) || ferror(out)))
		code = fs_fail(error, FS_OUTPUT, "cannot write the summary");
	return code;
}
