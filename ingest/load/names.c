/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: code and data addresses are read from the database sorted by DSO, so that each
 * DSO's questions and answers are a slice of one array. fs_symbolise() answers them; the answers
 * become rows in the order of the DSOs, so that they are the same whenever they are asked. Where a
 * CPU has its copies of a kernel's variables is known from named code only: a second round asks
 * about them, for the rest of which there are answers from the first.
 */
#include "ingest/load/names.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/search.h"
#include "common/vector.h"
#include "ingest/load/rows.h"
#include "ingest/load/symbol_cache.h"
#include "schema/schema.h"

struct dso {
	int64_t id;
	uint32_t path, build_id, reference; /* interned; FS_SYMBOL_NONE: not told */
	enum fs_symbol_code kind;
	int64_t address, reference_address; /* as in fs_symbol_dso */
	int64_t first_type, first_function;
};

struct object {
	int64_t space, addr; /* space 0: not known */
	int64_t cpu;	     /* whose copy of a kernel's variable it is; -1: none */
};

struct naming {
	sqlite3 *db;
	int64_t trace;
	bool per_cpu; /* ask about copies of CPUs, too */
	struct fs_error *error;
	struct fs_rows rows;
	struct fs_interner paths;
	struct fs_interner strings;
	struct dso *dsos;
	struct fs_symbol_dso *asked; /* as many, in the same order */
	size_t dso_count, dso_capacity;
	int64_t *codes; /* code.id of each query */
	struct fs_symbol_query *queries;
	struct fs_symbol_result *results;
	size_t code_count, code_capacity, query_capacity;
	struct object *objects;
	struct fs_symbol_object_query *object_queries;
	struct fs_symbol_object *answers;
	size_t object_count, object_capacity, object_query_capacity;
	size_t copy_count; /* objects that are copies of CPUs */
};

/* ---- questions ---- */

/*
 * Data is counted from the nearest executable mapping of a file below it in its process image, or
 * where a forked image has none, in its parent's: perf rarely records mappings of data, and one
 * page of a file may hold the ends of two segments. The binary need not be the one that holds the
 * address; it says so itself.
 */
static const char *const find_objects[] = {
	"CREATE TEMP TABLE t_text (pid INTEGER, addr INTEGER, pgoff INTEGER, dso_id INTEGER, "
	"since INTEGER)",
	"INSERT INTO t_text SELECT m.pid, m.addr, m.pgoff, m.dso_id, coalesce(m.time_ns, 0) "
	"FROM map AS m JOIN dso AS d ON d.id = m.dso_id WHERE m.trace_id = :trace AND m.pid IS NOT "
	"NULL AND NOT m.data AND d.path LIKE '/%' AND d.path NOT LIKE '//%'",
	"CREATE INDEX temp.t_text_place ON t_text (pid, addr)",
	"CREATE TEMP TABLE t_kernel AS SELECT dso_id, addr, pgoff, min(rowid) FROM map WHERE "
	"trace_id = :trace AND pid IS NULL GROUP BY dso_id",
	"CREATE TEMP TABLE t_address AS SELECT DISTINCT space_id, addr FROM access WHERE trace_id "
	"= :trace AND space_id IS NOT NULL",
	"CREATE TEMP TABLE t_image (space INTEGER, pid INTEGER, since INTEGER, depth INTEGER)",
	"INSERT INTO t_image WITH RECURSIVE up (space, id, depth) AS (SELECT DISTINCT space_id, "
	"space_id, 0 FROM t_address UNION ALL SELECT up.space, s.parent_id, depth + 1 FROM up JOIN "
	"space AS s ON s.id = up.id WHERE s.parent_id IS NOT NULL AND depth < 8) SELECT up.space, "
	"s.pid, coalesce(s.start_ns, 0), depth FROM up JOIN space AS s ON s.id = up.id WHERE "
	"s.kind = 'process' AND s.trace_id = :trace",
	"CREATE INDEX temp.t_image_space ON t_image (space)",
	"CREATE TEMP TABLE t_object AS SELECT space_id, addr, below, min(depth) AS depth FROM "
	"(SELECT a.space_id, a.addr, i.depth, (SELECT t.rowid FROM t_text AS t WHERE t.pid = i.pid "
	"AND t.addr <= a.addr AND t.since >= i.since ORDER BY t.addr DESC LIMIT 1) AS below FROM "
	"t_address AS a JOIN t_image AS i ON i.space = a.space_id) WHERE below IS NOT NULL GROUP "
	"BY space_id, addr",
	"CREATE TEMP TABLE t_cpu (cpu INTEGER, base INTEGER)",
	"CREATE TEMP TABLE t_per_cpu (space_id INTEGER, addr INTEGER, cpu INTEGER, base INTEGER)",
};

/*
 * Where a CPU has its copies of a kernel's variables: an x86-64 kernel addresses its own by gs, and
 * links them at 0 (to Linux 6.14), so a sampled address less the operand's displacement is the
 * CPU's gs, whole pages. What else comes out is of an indexed operand, or of another instruction. A
 * CPU of which this gives several, or the same as another's, is not known. Needs the names of code.
 */
static const char *const find_per_cpu[] = {
	"INSERT INTO t_cpu SELECT cpu, min(base) FROM (SELECT DISTINCT a.cpu, a.addr - "
	"c.displacement AS base FROM access AS a JOIN space AS s ON s.id = a.space_id AND s.kind = "
	"'kernel' JOIN code AS c ON c.id = a.code_id AND c.base_register = 'gs' JOIN dso AS d ON "
	"d.id = c.dso_id AND d.kind = 'kernel' WHERE a.trace_id = :trace AND a.cpu IS NOT NULL AND "
	"(a.addr - c.displacement) % 4096 = 0) GROUP BY cpu HAVING count(*) = 1",
	"DELETE FROM t_cpu WHERE base IN (SELECT base FROM t_cpu GROUP BY base HAVING count(*) > "
	"1)",
	"INSERT INTO t_per_cpu SELECT a.space_id, a.addr, c.cpu, max(c.base) FROM t_address AS a "
	"JOIN space AS s ON s.id = a.space_id AND s.kind = 'kernel' JOIN t_cpu AS c ON c.base <= "
	"a.addr AND c.base > a.addr - 0x1000000 WHERE (a.space_id, a.addr) NOT IN (SELECT "
	"space_id, "
	"addr FROM variable WHERE trace_id = :trace AND space_id IS NOT NULL) GROUP BY a.space_id, "
	"a.addr",
};

static const char *const drop_objects[] = { "DROP TABLE t_text",   "DROP TABLE t_address",
					    "DROP TABLE t_image",  "DROP TABLE t_object",
					    "DROP TABLE t_kernel", "DROP TABLE t_cpu",
					    "DROP TABLE t_per_cpu" };

/*
 * perf names the kernel's mapping [kernel.kallsyms]_text: pgoff is where that symbol lay. The
 * kernel and modules without a path are looked for by the names that distributions give them. Kind
 * is enum fs_symbol_code.
 */
static const char select_dsos[] =
	"WITH kernel AS (SELECT substr(d.path, instr(d.path, ']') + 1) AS reference, m.pgoff AS "
	"address FROM dso AS d JOIN t_kernel AS m ON m.dso_id = d.id WHERE d.trace_id = :trace AND "
	"d.kind = 'kernel' AND instr(d.path, ']') ORDER BY d.samples DESC, d.id LIMIT 1) "
	"SELECT d.id, CASE WHEN d.kind = 'kernel' THEN '/usr/lib/debug/boot/vmlinux' || "
	"coalesce('-' || t.os_release, '') WHEN d.kind = 'vdso' THEN '/vdso' WHEN d.path LIKE "
	"'[%]' THEN '/' || substr(d.path, 2, "
	"length(d.path) - 2) || '.ko' ELSE d.path END, d.build_id, CASE d.kind WHEN 'kernel' THEN "
	"2 WHEN 'module' THEN 3 ELSE 0 END, iif(d.kind = 'module', m.addr, 0), k.reference, "
	"k.address FROM dso AS d JOIN "
	"trace AS t ON t.id = d.trace_id LEFT JOIN t_kernel AS m ON m.dso_id = d.id LEFT JOIN "
	"kernel AS k ON d.kind IN ('kernel', 'module') WHERE d.trace_id = :trace AND (d.kind IN "
	"('kernel', 'module', 'vdso') OR (d.path LIKE '/%' AND d.path NOT LIKE '//%' AND d.kind "
	"NOT LIKE "
	"'guest%')) AND (d.samples > 0 OR (d.kind = 'kernel' AND EXISTS (SELECT 1 FROM t_address "
	"AS a JOIN space AS s ON s.id = a.space_id WHERE s.kind = 'kernel')) OR d.id IN (SELECT "
	"x.dso_id FROM t_object AS o JOIN t_text AS x ON x.rowid = o.below)) ORDER BY d.id";

/* Where the kernel's code lay is told by its run-time address. */
static const char select_code[] =
	"SELECT c.id, c.dso_id, iif(d.kind = 'kernel', c.ip, c.offset), c.exact FROM code AS c "
	"JOIN dso AS d ON d.id = c.dso_id WHERE c.trace_id = :trace AND c.offset IS NOT NULL ORDER "
	"BY c.dso_id, c.id";

/* Copies of CPUs are asked for by link-time addresses: the 1 is FS_SYMBOL_LINK_TIME. */
static const char select_objects[] =
	"WITH kernel AS (SELECT min(id) AS id FROM dso WHERE trace_id = :trace AND kind = "
	"'kernel') "
	"SELECT o.space_id, o.addr, t.dso_id, t.addr, t.pgoff, -1 FROM t_object AS o JOIN t_text "
	"AS t ON t.rowid = o.below UNION ALL SELECT a.space_id, a.addr, k.id, 0, 0, -1 FROM "
	"t_address AS a JOIN space AS s ON s.id = a.space_id AND s.kind = 'kernel' JOIN kernel AS "
	"k "
	"UNION ALL SELECT p.space_id, p.addr, k.id, p.base, 1, p.cpu FROM t_per_cpu AS p JOIN "
	"kernel AS k ORDER BY 3, 1, 2, 5";

static int sql_fail(struct naming *naming)
{
	return fs_sql_fail(naming->db, NULL, naming->error);
}

static int no_memory(struct naming *naming)
{
	return fs_fail(naming->error, FS_NOMEM, "out of memory for the names of a trace");
}

/* Prepare a statement with :trace bound. */
static int prepare(struct naming *naming, const char *sql, sqlite3_stmt **ret_statement)
{
	int index;

	if (sqlite3_prepare_v2(naming->db, sql, -1, ret_statement, NULL) != SQLITE_OK)
		return sql_fail(naming);
	index = sqlite3_bind_parameter_index(*ret_statement, ":trace");
	if (index)
		sqlite3_bind_int64(*ret_statement, index, naming->trace);
	return 0;
}

static int run_all(struct naming *naming, const char *const *statements, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		sqlite3_stmt *statement;
		int code;

		FS_TRY(prepare(naming, statements[i], &statement));
		code = sqlite3_step(statement);
		sqlite3_finalize(statement);
		if (code != SQLITE_DONE)
			return sql_fail(naming);
	}
	return 0;
}

/* Call `take` for each row of a query. */
static int each_row(struct naming *naming, const char *sql,
		    int (*take)(struct naming *naming, sqlite3_stmt *row))
{
	sqlite3_stmt *statement;
	int step = SQLITE_DONE;
	int code;

	FS_TRY(prepare(naming, sql, &statement));
	code = 0;
	while (!code && (step = sqlite3_step(statement)) == SQLITE_ROW)
		code = take(naming, statement);
	if (!code && step != SQLITE_DONE)
		code = sql_fail(naming);
	sqlite3_finalize(statement);
	return code;
}

static int intern_column(struct naming *naming, sqlite3_stmt *row, int column, uint32_t *ret_id)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	*ret_id = FS_SYMBOL_NONE;
	if (text &&
	    fs_intern(&naming->paths, text, (size_t)sqlite3_column_bytes(row, column), ret_id))
		return no_memory(naming);
	return 0;
}

static const char *interned(const struct fs_interner *interner, uint32_t id)
{
	return id == FS_SYMBOL_NONE ? NULL : fs_interned(interner, id, NULL);
}

static int take_dso(struct naming *naming, sqlite3_stmt *row)
{
	struct dso dso = { .id = sqlite3_column_int64(row, 0) };

	FS_TRY(intern_column(naming, row, 1, &dso.path));
	FS_TRY(intern_column(naming, row, 2, &dso.build_id));
	FS_TRY(intern_column(naming, row, 5, &dso.reference));
	dso.kind = (enum fs_symbol_code)sqlite3_column_int(row, 3);
	dso.address = sqlite3_column_int64(row, 4);
	dso.reference_address = sqlite3_column_int64(row, 6);
	if (dso.path == FS_SYMBOL_NONE)
		return 0;
	if (FS_RESERVE(naming->dsos, naming->dso_capacity, naming->dso_count + 1))
		return no_memory(naming);
	naming->dsos[naming->dso_count++] = dso;
	return 0;
}

/* The DSO of a row that comes sorted by DSO: the current one or one behind it; NULL: not asked. */
static struct fs_symbol_dso *find_asked(struct naming *naming, int64_t id)
{
	size_t at = FS_FIRST_AT(naming->dsos, naming->dso_count, id, (uint64_t)id);

	return at < naming->dso_count && naming->dsos[at].id == id ? &naming->asked[at] : NULL;
}

static int take_code(struct naming *naming, sqlite3_stmt *row)
{
	struct fs_symbol_dso *dso = find_asked(naming, sqlite3_column_int64(row, 1));

	if (!dso)
		return 0;
	if (FS_RESERVE(naming->codes, naming->code_capacity, naming->code_count + 1) ||
	    FS_RESERVE(naming->queries, naming->query_capacity, naming->code_count + 1))
		return no_memory(naming);
	naming->queries[naming->code_count] = (struct fs_symbol_query){
		.offset = (uint64_t)sqlite3_column_int64(row, 2),
		.exact = sqlite3_column_int(row, 3),
	};
	naming->codes[naming->code_count++] = sqlite3_column_int64(row, 0);
	dso->query_count++;
	return 0;
}

static int take_object(struct naming *naming, sqlite3_stmt *row)
{
	struct fs_symbol_dso *dso = find_asked(naming, sqlite3_column_int64(row, 2));
	uint64_t addr = (uint64_t)sqlite3_column_int64(row, 1);

	if (!dso)
		return 0;
	if (FS_RESERVE(naming->objects, naming->object_capacity, naming->object_count + 1) ||
	    FS_RESERVE(naming->object_queries, naming->object_query_capacity,
		       naming->object_count + 1))
		return no_memory(naming);
	naming->objects[naming->object_count] =
		(struct object){ sqlite3_column_int64(row, 0), (int64_t)addr,
				 sqlite3_column_int64(row, 5) };
	naming->object_queries[naming->object_count++] = (struct fs_symbol_object_query){
		.offset = (uint64_t)sqlite3_column_int64(row, 4),
		.distance = addr - (uint64_t)sqlite3_column_int64(row, 3),
	};
	naming->copy_count += sqlite3_column_int64(row, 5) >= 0;
	dso->object_query_count++;
	return 0;
}

/* Point each DSO to its slices. */
static int place(struct naming *naming)
{
	size_t codes = 0;
	size_t objects = 0;

	naming->results = calloc(naming->code_count + 1, sizeof(*naming->results));
	naming->answers = calloc(naming->object_count + 1, sizeof(*naming->answers));
	if (!naming->results || !naming->answers)
		return no_memory(naming);
	for (size_t i = 0; i < naming->dso_count; i++) {
		struct fs_symbol_dso *dso = &naming->asked[i];

		dso->queries = naming->queries + codes;
		dso->results = naming->results + codes;
		dso->object_queries = naming->object_queries + objects;
		dso->objects = naming->answers + objects;
		codes += dso->query_count;
		objects += dso->object_query_count;
	}
	return 0;
}

static int read_questions(struct naming *naming)
{
	FS_TRY(run_all(naming, find_objects, sizeof(find_objects) / sizeof(find_objects[0])));
	if (naming->per_cpu)
		FS_TRY(run_all(naming, find_per_cpu,
			       sizeof(find_per_cpu) / sizeof(find_per_cpu[0])));
	FS_TRY(each_row(naming, select_dsos, take_dso));
	naming->asked = calloc(naming->dso_count + 1, sizeof(*naming->asked));
	if (!naming->asked)
		return no_memory(naming);
	for (size_t i = 0; i < naming->dso_count; i++) {
		const struct dso *dso = &naming->dsos[i];

		naming->asked[i] = (struct fs_symbol_dso){
			.path = interned(&naming->paths, dso->path),
			.fd = -1,
			.build_id = interned(&naming->paths, dso->build_id),
			.kind = dso->kind,
			.reference = interned(&naming->paths, dso->reference),
			.reference_address = (uint64_t)dso->reference_address,
			.address = (uint64_t)dso->address,
		};
	}
	FS_TRY(each_row(naming, select_code, take_code));
	FS_TRY(each_row(naming, select_objects, take_object));
	FS_TRY(place(naming));
	return run_all(naming, drop_objects, sizeof(drop_objects) / sizeof(drop_objects[0]));
}

/* ---- answers ---- */

/* A binary was read for it; else what is there already stays. */
static bool is_answered(const struct fs_symbol_dso *dso)
{
	return dso->arch != NULL;
}

static const char *text(const struct naming *naming, uint32_t id)
{
	return interned(&naming->strings, id);
}

static int forget_dso(struct naming *naming, int64_t id)
{
	static const char *const statements[] = {
		"DELETE FROM field WHERE type_id IN (SELECT id FROM type WHERE dso_id = %lld)",
		"DELETE FROM type WHERE dso_id = %lld",
		"DELETE FROM variable WHERE dso_id = %lld",
		"DELETE FROM function WHERE dso_id = %lld",
		("DELETE FROM inline_frame WHERE code_id IN (SELECT id FROM code WHERE dso_id = "
		 "%lld)"),
	};
	char sql[160];

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		snprintf(sql, sizeof(sql), statements[i], (long long)id);
		FS_TRY(fs_sql_run(naming->db, sql, naming->error));
	}
	return 0;
}

static int write_dsos(struct naming *naming)
{
	static const char sql[] =
		"UPDATE dso SET symbols = ?2, symbols_reason = ?3 WHERE id = ?1 AND (?4 OR symbols "
		"NOT IN ('verified', 'unverified', 'stripped'))";
	sqlite3_stmt *update;
	int code = 0;

	FS_TRY(prepare(naming, sql, &update));
	for (size_t i = 0; !code && i < naming->dso_count; i++) {
		const struct fs_symbol_dso *dso = &naming->asked[i];

		sqlite3_bind_int64(update, 1, naming->dsos[i].id);
		sqlite3_bind_text(update, 2, fs_symbols_name(dso->symbols), -1, SQLITE_STATIC);
		sqlite3_bind_text(update, 3, dso->reason[0] ? dso->reason : NULL, -1,
				  SQLITE_STATIC);
		sqlite3_bind_int(update, 4, is_answered(dso));
		if (sqlite3_step(update) != SQLITE_DONE)
			code = sql_fail(naming);
		sqlite3_reset(update);
		if (!code && is_answered(dso))
			code = forget_dso(naming, naming->dsos[i].id);
	}
	sqlite3_finalize(update);
	return code;
}

static int write_types(struct naming *naming, int64_t next)
{
	struct fs_rows *rows = &naming->rows;

	FS_TRY(fs_rows_begin(rows, "type"));
	for (size_t i = 0; i < naming->dso_count; i++) {
		const struct fs_symbol_dso *dso = &naming->asked[i];

		naming->dsos[i].first_type = next;
		for (size_t k = 0; k < dso->type_count; k++) {
			fs_rows_integer(rows, next++);
			fs_rows_integer(rows, naming->trace);
			fs_rows_integer(rows, naming->dsos[i].id);
			fs_rows_text(rows, text(naming, dso->types[k].name));
			fs_rows_text(rows, fs_type_kind_name(dso->types[k].kind));
			fs_rows_optional(rows, dso->types[k].size, (int64_t)dso->types[k].size);
			fs_rows_optional(rows, dso->types[k].alignment,
					 (int64_t)dso->types[k].alignment);
			FS_TRY(fs_rows_end(rows));
		}
	}
	return 0;
}

static int write_fields(struct naming *naming, const struct fs_symbol_dso *dso, int64_t first)
{
	struct fs_rows *rows = &naming->rows;
	uint32_t type = FS_SYMBOL_NONE;
	int64_t index = 0;

	for (size_t i = 0; i < dso->field_count; i++) {
		const struct fs_symbol_field *field = &dso->fields[i];

		index = field->type == type ? index + 1 : 0;
		type = field->type;
		fs_rows_integer(rows, first + type);
		fs_rows_integer(rows, index);
		fs_rows_text(rows, text(naming, field->name));
		fs_rows_text(rows, text(naming, field->type_name));
		fs_rows_text(rows, text(naming, field->declared));
		fs_rows_optional(rows, field->member != FS_SYMBOL_NONE, first + field->member);
		fs_rows_integer(rows, (int64_t)field->offset);
		fs_rows_integer(rows, (int64_t)field->size);
		fs_rows_optional(rows, field->alignment, (int64_t)field->alignment);
		fs_rows_optional(rows, field->elements, (int64_t)field->elements);
		fs_rows_optional(rows, field->bit_size, field->bit_offset);
		fs_rows_optional(rows, field->bit_size, field->bit_size);
		fs_rows_integer(rows, field->base_class);
		FS_TRY(fs_rows_end(rows));
	}
	return 0;
}

enum { VARIABLE_NAME = 512 };

/* The text lies in the interner or in `buffer`. */
static const char *variable_name(const struct naming *naming, const struct object *asked,
				 const struct fs_symbol_object *object, char buffer[VARIABLE_NAME])
{
	const char *name = text(naming, object->name);

	if (asked->cpu < 0)
		return name;
	snprintf(buffer, VARIABLE_NAME, "%s of CPU %lld", name, (long long)asked->cpu);
	return buffer;
}

static int write_variables(struct naming *naming)
{
	struct fs_rows *rows = &naming->rows;
	char name[VARIABLE_NAME];
	const struct object *asked = naming->objects;

	FS_TRY(fs_rows_begin(rows, "variable"));
	for (size_t i = 0; i < naming->dso_count; i++) {
		const struct fs_symbol_dso *dso = &naming->asked[i];

		for (size_t k = 0; k < dso->object_query_count; k++, asked++) {
			const struct fs_symbol_object *object = &dso->objects[k];
			bool typed = object->type != FS_SYMBOL_NONE;

			if (object->name == FS_SYMBOL_NONE)
				continue;
			fs_rows_integer(rows, naming->trace);
			fs_rows_integer(rows, asked->space);
			fs_rows_integer(rows, asked->addr);
			fs_rows_integer(rows, naming->dsos[i].id);
			fs_rows_text(rows, variable_name(naming, asked, object, name));
			fs_rows_integer(rows, asked->addr - (int64_t)object->offset);
			fs_rows_optional(rows, object->size, (int64_t)object->size);
			fs_rows_optional(rows, typed, naming->dsos[i].first_type + object->type);
			fs_rows_text(rows, text(naming, object->field));
			FS_TRY(fs_rows_end(rows));
		}
	}
	return 0;
}

static int write_functions(struct naming *naming, int64_t next)
{
	struct fs_rows *rows = &naming->rows;

	FS_TRY(fs_rows_begin(rows, "function"));
	for (size_t i = 0; i < naming->dso_count; i++) {
		const struct fs_symbol_dso *dso = &naming->asked[i];

		naming->dsos[i].first_function = next;
		for (size_t k = 0; k < dso->function_count; k++) {
			const struct fs_symbol_function *function = &dso->functions[k];

			fs_rows_integer(rows, next++);
			fs_rows_integer(rows, naming->dsos[i].id);
			fs_rows_text(rows, text(naming, function->name));
			fs_rows_text(rows, text(naming, function->linkage_name));
			fs_rows_integer(rows, (int64_t)function->address);
			fs_rows_integer(rows, (int64_t)function->size);
			FS_TRY(fs_rows_end(rows));
		}
	}
	return 0;
}

/* A width that a watchpoint told stays where the instruction tells none. */
static const char update_code[] =
	"UPDATE code SET function_id = ?2, function_offset = ?3, file = ?4, line = ?5, "
	"column_number = ?18, op = ?6, width = iif(?7 IS NULL AND operand_method = 'watchpoint', "
	"width, ?7), base_register = ?8, "
	"displacement = ?9, operand_method = iif(?7 IS NULL AND operand_method = 'watchpoint', "
	"operand_method, ?10), type_id = ?11, type_offset = ?12, type_stride = ?13, type_within = "
	"?14, type_method = ?15, type_variable = ?16, field = ?17 WHERE id = ?1";

static void bind_optional(sqlite3_stmt *update, int index, bool present, int64_t value)
{
	if (present)
		sqlite3_bind_int64(update, index, value);
	else
		sqlite3_bind_null(update, index);
}

static void bind_text(sqlite3_stmt *update, int index, const char *value)
{
	sqlite3_bind_text(update, index, value, -1, SQLITE_STATIC);
}

static int write_code(struct naming *naming, sqlite3_stmt *update, const struct dso *dso,
		      int64_t id, const struct fs_symbol_result *result)
{
	bool named = result->function != FS_SYMBOL_NONE;
	bool typed = result->type != FS_SYMBOL_NONE;
	bool based = result->base_register != FS_SYMBOL_NONE;
	int step;

	sqlite3_bind_int64(update, 1, id);
	bind_optional(update, 2, named, dso->first_function + result->function);
	bind_optional(update, 3, named, (int64_t)result->function_offset);
	bind_text(update, 4, text(naming, result->file));
	bind_optional(update, 5, result->line, result->line);
	bind_optional(update, 6, result->op >= 0, result->op);
	bind_optional(update, 7, result->width, result->width);
	bind_text(update, 8, text(naming, result->base_register));
	bind_optional(update, 9, based, result->displacement);
	bind_text(update, 10, fs_operand_method_name(result->method));
	bind_optional(update, 11, typed, dso->first_type + result->type);
	bind_optional(update, 12, typed, result->type_offset);
	bind_optional(update, 13, typed, result->stride);
	bind_optional(update, 14, typed, result->within);
	bind_text(update, 15, typed ? fs_type_method_name(result->type_method) : NULL);
	bind_text(update, 16, typed ? text(naming, result->variable) : NULL);
	bind_text(update, 17, typed ? text(naming, result->field) : NULL);
	bind_optional(update, 18, result->column, result->column);
	step = sqlite3_step(update);
	sqlite3_reset(update);
	return step == SQLITE_DONE ? 0 : sql_fail(naming);
}

static int write_codes(struct naming *naming)
{
	const int64_t *id = naming->codes;
	sqlite3_stmt *update;
	int code = 0;

	FS_TRY(prepare(naming, update_code, &update));
	for (size_t i = 0; !code && i < naming->dso_count; i++) {
		const struct fs_symbol_dso *dso = &naming->asked[i];

		for (size_t k = 0; !code && k < dso->query_count; k++, id++) {
			if (is_answered(dso))
				code = write_code(naming, update, &naming->dsos[i], *id,
						  &dso->results[k]);
		}
	}
	sqlite3_finalize(update);
	return code;
}

static int write_inlined(struct naming *naming, const struct fs_symbol_dso *dso, int64_t id,
			 uint32_t number)
{
	struct fs_rows *rows = &naming->rows;

	for (int64_t depth = 0; number != FS_SYMBOL_NONE; depth++) {
		const struct fs_symbol_inlined *inlined = &dso->inlined[number];

		fs_rows_integer(rows, id);
		fs_rows_integer(rows, depth);
		fs_rows_text(rows, text(naming, inlined->name));
		fs_rows_text(rows, text(naming, inlined->call_file));
		fs_rows_optional(rows, inlined->call_line, inlined->call_line);
		fs_rows_optional(rows, inlined->call_column, inlined->call_column);
		FS_TRY(fs_rows_end(rows));
		number = inlined->caller;
	}
	return 0;
}

static int write_inline_frames(struct naming *naming)
{
	const int64_t *id = naming->codes;

	FS_TRY(fs_rows_begin(&naming->rows, "inline_frame"));
	for (size_t i = 0; i < naming->dso_count; i++) {
		const struct fs_symbol_dso *dso = &naming->asked[i];

		for (size_t k = 0; k < dso->query_count; k++, id++)
			FS_TRY(write_inlined(naming, dso, *id, dso->results[k].inlined));
	}
	return 0;
}

static int write_answers(struct naming *naming)
{
	int64_t type;
	int64_t function;

	FS_TRY(write_dsos(naming));
	FS_TRY(fs_rows_next_id(naming->db, "type", "id", &type, naming->error));
	FS_TRY(fs_rows_next_id(naming->db, "function", "id", &function, naming->error));
	FS_TRY(write_types(naming, type));
	FS_TRY(fs_rows_begin(&naming->rows, "field"));
	for (size_t i = 0; i < naming->dso_count; i++)
		FS_TRY(write_fields(naming, &naming->asked[i], naming->dsos[i].first_type));
	FS_TRY(write_variables(naming));
	FS_TRY(write_functions(naming, function));
	FS_TRY(write_inline_frames(naming));
	return write_codes(naming);
}

static void free_naming(struct naming *naming)
{
	fs_rows_close(&naming->rows);
	for (size_t i = 0; naming->asked && i < naming->dso_count; i++)
		fs_symbol_dso_free(&naming->asked[i]);
	free(naming->asked);
	free(naming->dsos);
	free(naming->codes);
	free(naming->queries);
	free(naming->results);
	free(naming->objects);
	free(naming->object_queries);
	free(naming->answers);
	fs_interner_free(&naming->paths);
	fs_interner_free(&naming->strings);
}

/* Ask and write, in the second round only if it asks more than the first. */
static int name_once(sqlite3 *db, int64_t trace, const struct fs_symbol_options *given,
		     bool per_cpu, struct fs_error *error)
{
	struct naming naming = {
		.db = db,
		.trace = trace,
		.per_cpu = per_cpu,
		.error = error,
		.rows = { .db = db, .error = error },
	};
	const struct fs_symbol_cache cache = fs_symbol_cache_of(db);
	struct fs_symbol_options options = *given;
	int code;

	fs_interner_init(&naming.paths);
	fs_interner_init(&naming.strings);
	options.strings = &naming.strings;
	options.cache = &cache;
	code = read_questions(&naming);
	if (!code && (!per_cpu || naming.copy_count)) {
		code = fs_symbolise(&options, naming.asked, naming.dso_count, NULL, error);
		if (!code)
			code = write_answers(&naming);
	}
	free_naming(&naming);
	return code;
}

/* Whether code of the kernel was found to address variables of its CPU. */
static int read_has_copies(sqlite3 *db, int64_t trace, bool *ret_has, struct fs_error *error)
{
	static const char sql[] =
		"SELECT EXISTS (SELECT 1 FROM code AS c JOIN dso AS d ON d.id = c.dso_id WHERE "
		"c.trace_id = ?1 AND c.base_register = 'gs' AND d.kind = 'kernel')";
	sqlite3_stmt *row;
	bool found;

	if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK)
		return fs_sql_fail(db, NULL, error);
	sqlite3_bind_int64(row, 1, trace);
	found = sqlite3_step(row) == SQLITE_ROW;
	*ret_has = found && sqlite3_column_int(row, 0);
	sqlite3_finalize(row);
	return found ? 0 : fs_sql_fail(db, NULL, error);
}

int fs_name_trace(sqlite3 *db, int64_t trace, struct fs_symbol_options options,
		  struct fs_error *error)
{
	bool has_copies;

	FS_TRY(name_once(db, trace, &options, false, error));
	FS_TRY(read_has_copies(db, trace, &has_copies, error));
	return has_copies ? name_once(db, trace, &options, true, error) : 0;
}
