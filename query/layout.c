/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * layout: propose how the fields of a structure should lie so that they do not share lines falsely.
 *
 * How it works: the structure comes from table `field`, its objects and the samples on them from
 * data_field and `sample`; layout_model.h tries layouts. Where the tables do not tell an alignment
 * the natural one is assumed, and a hole that it does not explain is taken for one that somebody
 * asked for.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/vector.h"
#include "query/database.h"
#include "query/layout_c.h"
#include "query/layout_model.h"
#include "query/listing.h"

enum { DEPTH_MAX = 16, NATURAL_MAX = 16, ALIGN_MAX = 1 << 16, NAME_MAX_BYTES = 256 };

static const struct fs_query_column columns[] = {
	FS_COLUMN("field", "FIELD", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL,
		  "In the proposed order"),
	FS_COLUMN("type", "TYPE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL, "Of the field"),
	FS_COLUMN("size", "SIZE", INTEGER, FS_SHOW_DEFAULT, NULL, "Bytes"),
	FS_COLUMN("old_offset", "OLD", OFFSET, FS_SHOW_DEFAULT, NULL, "Bytes from the start, now"),
	FS_COLUMN("new_offset", "NEW", OFFSET, FS_SHOW_DEFAULT, NULL, "Bytes from the start, then"),
	FS_COLUMN("old_line", "OLD LINE", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Cache line of the object, now, from 0"),
	FS_COLUMN("new_line", "NEW LINE", INTEGER, FS_SHOW_DEFAULT, NULL, "The same, then"),
	FS_COLUMN("samples", "SAMPLES", INTEGER, FS_SHOW_DEFAULT, NULL, "Samples of the field"),
	FS_COLUMN("writes", "WRITES", INTEGER, FS_SHOW_DEFAULT, NULL, "Of them, writes"),
	FS_COLUMN("why", "WHY", TEXT, FS_SHOW_DEFAULT, NULL,
		  "moved; aligned: it begins a line, to be declared so; spread: each of its "
		  "elements does"),
};

struct structure {
	char name[NAME_MAX_BYTES];
	int64_t type, size;
	int64_t space; /* of the objects that are looked at */
	struct fs_layout_field fields[FS_LAYOUT_FIELDS_MAX];
	char *names[FS_LAYOUT_FIELDS_MAX];
	char *types[FS_LAYOUT_FIELDS_MAX];
	char *declarations[FS_LAYOUT_FIELDS_MAX]; /* lines of C */
	bool joined[FS_LAYOUT_FIELDS_MAX];	  /* bit-fields that share bytes */
	uint64_t natural[FS_LAYOUT_FIELDS_MAX];	  /* alignment without being asked for */
	uint64_t asked_for[FS_LAYOUT_FIELDS_MAX]; /* alignment that the source asks for, or 0 */
	uint64_t samples[FS_LAYOUT_FIELDS_MAX], writes[FS_LAYOUT_FIELDS_MAX];
	size_t field_count;
	uint64_t align;
	bool arrays[FS_LAYOUT_FIELDS_MAX]; /* as in fs_layout_problem */
	uint64_t unaligned;		   /* as in fs_layout_problem */
	uint64_t asked;			   /* that the source asks for, of the whole; 0: none */
	uint64_t *objects;
	size_t object_count, object_capacity;
	struct fs_layout_access *accesses;
	size_t access_count, access_capacity;
};

/* ---- the structure ---- */

/* An alignment from the tables; 0: it is none. */
static uint64_t power_of_two(int64_t value)
{
	return value > 0 && value <= ALIGN_MAX && !(value & (value - 1)) ? (uint64_t)value : 0;
}

/* No structure has the name; a variable may. Says what there is to do, as an error. */
static int fail_type(struct fs_options *options, const char *wanted, struct fs_error *error)
{
	static const char sql[] =
		"WITH one AS (SELECT v.space_id, v.start, v.name, t.name AS type, r.line_size FROM "
		"variable AS v JOIN trace AS r ON r.id = v.trace_id LEFT JOIN type AS t ON t.id = "
		"v.type_id WHERE v.trace_id = ?1 AND v.name = ?2 ORDER BY v.start LIMIT 1) "
		"SELECT coalesce(type, ''), line_size, (SELECT group_concat(name, "
		"', ') FROM (SELECT DISTINCT v.name FROM variable AS v WHERE v.trace_id = ?1 AND "
		"v.space_id IS one.space_id AND v.name <> one.name AND v.addr & -line_size = "
		"one.start & -line_size ORDER BY v.start)) FROM one WHERE line_size > 0";
	sqlite3_stmt *statement;
	char *declaration = NULL;
	size_t size = 0;
	FILE *out;
	int step;

	FS_TRY(fs_database_prepare(options->query, sql, &statement, error));
	sqlite3_bind_int64(statement, 1, options->trace_id);
	sqlite3_bind_text(statement, 2, wanted, -1, SQLITE_STATIC);
	step = sqlite3_step(statement);
	out = step == SQLITE_ROW ? open_memstream(&declaration, &size) : NULL;
	if (out) {
		fs_layout_declare(out, fs_database_text(statement, 0), wanted, -1);
		fclose(out);
	}
	if (step != SQLITE_ROW)
		fs_fail(error, FS_USAGE,
			"%s: no sampled type of this trace has that name; `fsquery top-lines "
			"--columns type` and `fsquery types` list them",
			wanted);
	else if (sqlite3_column_type(statement, 2) == SQLITE_NULL)
		fs_fail(error, FS_USAGE,
			"%s is a variable, not a structure, and shares its line with no other "
			"sampled one; `fsquery groups --columns all` says what to do where threads "
			"fight over "
			"parts of it",
			wanted);
	else
		fs_fail(error, FS_USAGE,
			"%s is a variable, not a structure; it shares its line with %s: declare "
			"each as in `%s __attribute__((aligned(%lld)))`",
			wanted, fs_database_text(statement, 2), declaration ? declaration : wanted,
			(long long)sqlite3_column_int64(statement, 1));
	sqlite3_finalize(statement);
	free(declaration);
	return FS_USAGE;
}

static int find_type(struct fs_options *options, const char *wanted, struct structure *structure,
		     struct fs_error *error)
{
	/* the one with most samples, where several binaries have the name */
	static const char sql[] =
		"SELECT t.id, t.name, t.size, t.kind, coalesce(t.alignment, 0), (SELECT "
		"sum(d.samples) FROM data_field AS d "
		"WHERE d.trace_id = ?1 AND (d.type_id = t.id OR d.type_id IN (SELECT f.type_id "
		"FROM "
		"field AS f WHERE f.member_id = t.id AND f.name IS NULL))) AS samples FROM type AS "
		"t WHERE t.trace_id = ?1 AND t.kind IN ('struct', 'union', 'class') AND (t.name = "
		"?2 "
		"OR t.name IN ('struct ' || ?2, 'class ' || ?2, 'union ' || ?2)) ORDER BY samples "
		"DESC, t.id LIMIT 1";
	sqlite3_stmt *statement;
	int code = 0;

	FS_TRY(fs_database_prepare(options->query, sql, &statement, error));
	sqlite3_bind_int64(statement, 1, options->trace_id);
	sqlite3_bind_text(statement, 2, wanted, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) != SQLITE_ROW) {
		code = fail_type(options, wanted, error);
	} else {
		structure->type = sqlite3_column_int64(statement, 0);
		snprintf(structure->name, sizeof(structure->name), "%s",
			 fs_database_text(statement, 1));
		structure->size = sqlite3_column_int64(statement, 2);
		structure->asked = power_of_two(sqlite3_column_int64(statement, 4));
		if (!strcmp(fs_database_text(statement, 3), "union"))
			code = fs_fail(error, FS_USAGE, "%s is a union: its fields have one place",
				       structure->name);
		else if (structure->size <= 0 || structure->size > 1 << 20)
			code = fs_fail(error, FS_USAGE,
				       "%s: a size of %lld bytes cannot be laid out",
				       structure->name, (long long)structure->size);
	}
	sqlite3_finalize(statement);
	return code;
}

/* The natural alignment of a number or pointer, or of the largest in a structure. */
static int natural_align(struct fs_options *options, int64_t member, uint64_t size, int depth,
			 uint64_t *ret_align, struct fs_error *error)
{
	sqlite3_stmt *statement;
	int code = 0;

	*ret_align = size & -size;
	if (*ret_align > NATURAL_MAX)
		*ret_align = NATURAL_MAX;
	if (!*ret_align)
		*ret_align = 1;
	if (!member || depth > DEPTH_MAX)
		return 0;
	*ret_align = 1;
	FS_TRY(fs_database_prepare(
		options->query,
		"SELECT coalesce(member_id, 0), size / max(1, coalesce(elements, "
		"1)) FROM field WHERE type_id = ? AND size > 0 LIMIT 256",
		&statement, error));
	sqlite3_bind_int64(statement, 1, member);
	while (!code && sqlite3_step(statement) == SQLITE_ROW) {
		uint64_t align;

		code = natural_align(options, sqlite3_column_int64(statement, 0),
				     (uint64_t)sqlite3_column_int64(statement, 1), depth + 1,
				     &align, error);
		if (!code && align > *ret_align)
			*ret_align = align;
	}
	sqlite3_finalize(statement);
	return code;
}

/* Bit-fields that share bytes with the field before move with it. */
static bool join_bits(struct structure *structure, const char *name, uint64_t offset, uint64_t size,
		      const char *declaration)
{
	struct fs_layout_field *last;
	char *joined;
	char *lines;

	if (!structure->field_count)
		return false;
	last = &structure->fields[structure->field_count - 1];
	if (offset >= last->offset + last->size)
		return false;
	if (offset + size > last->offset + last->size)
		last->size = offset + size - last->offset;
	last->element = last->size;
	structure->joined[structure->field_count - 1] = true;
	if (asprintf(&joined, "%s, %s", structure->names[structure->field_count - 1], name) >= 0) {
		free(structure->names[structure->field_count - 1]);
		structure->names[structure->field_count - 1] = joined;
	}
	if (asprintf(&lines, "%s\n%s", structure->declarations[structure->field_count - 1],
		     declaration) >= 0) {
		free(structure->declarations[structure->field_count - 1]);
		structure->declarations[structure->field_count - 1] = lines;
	}
	return true;
}

/* The member as C; NULL: memory ran out. The caller frees it. */
static char *declaration_of(const struct fs_options *options, sqlite3_stmt *row,
			    struct fs_error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int code;

	if (!out)
		return NULL;
	if (sqlite3_column_int(row, 6))
		fputs("\t/* base class */ ", out);
	code = fs_layout_write_member(
		out, options, fs_database_text(row, 1),
		sqlite3_column_type(row, 0) == SQLITE_NULL ? "" : fs_database_text(row, 0),
		sqlite3_column_int(row, 7) ? sqlite3_column_int64(row, 8) : -1,
		sqlite3_column_int64(row, 2), 1, error);
	if (fclose(out) || code) {
		free(text);
		return NULL;
	}
	return text;
}

static int take_field(struct fs_options *options, sqlite3_stmt *row, struct structure *structure,
		      struct fs_error *error)
{
	const char *name =
		sqlite3_column_type(row, 0) == SQLITE_NULL ? "(unnamed)" : fs_database_text(row, 0);
	uint64_t offset = (uint64_t)sqlite3_column_int64(row, 3);
	uint64_t size = (uint64_t)sqlite3_column_int64(row, 4);
	uint64_t elements = (uint64_t)sqlite3_column_int64(row, 5);
	bool base = sqlite3_column_int(row, 6);
	uint64_t element = elements && size >= elements ? size / elements : size;
	struct fs_layout_field *field;
	char *declaration;
	uint64_t align;

	if (offset > (uint64_t)structure->size || size > (uint64_t)structure->size - offset)
		return fs_fail(error, FS_REFUSED, "%s: field %s lies outside of it",
			       structure->name, name);
	declaration = declaration_of(options, row, error);
	if (!declaration)
		return fs_fail(error, FS_NOMEM, "out of memory");
	if (sqlite3_column_int(row, 7) && join_bits(structure, name, offset, size, declaration)) {
		free(declaration);
		return 0;
	}
	if (structure->field_count == FS_LAYOUT_FIELDS_MAX) {
		free(declaration);
		return fs_fail(error, FS_USAGE, "%s has more than %d fields", structure->name,
			       FS_LAYOUT_FIELDS_MAX);
	}
	structure->declarations[structure->field_count] = declaration;
	FS_TRY(natural_align(options, sqlite3_column_int64(row, 2), element, 0, &align, error));
	if (sqlite3_column_int(row, 7))
		align = 1;
	if (offset % align)
		return fs_fail(error, FS_USAGE,
			       "%s is packed (field %s at offset %" PRIu64
			       "): moving its fields would change what it is for",
			       structure->name, name, offset);
	structure->natural[structure->field_count] = align;
	structure->arrays[structure->field_count] =
		elements > 1 && fs_layout_is_array(fs_database_text(row, 1));
	structure->asked_for[structure->field_count] = power_of_two(sqlite3_column_int64(row, 9));
	if (align < structure->asked_for[structure->field_count])
		align = structure->asked_for[structure->field_count];
	structure->names[structure->field_count] = strdup(name);
	structure->types[structure->field_count] = strdup(fs_database_text(row, 1));
	if (!structure->names[structure->field_count] || !structure->types[structure->field_count])
		return fs_fail(error, FS_NOMEM, "out of memory");
	field = &structure->fields[structure->field_count++];
	*field = (struct fs_layout_field){
		.name = structure->names[structure->field_count - 1],
		.offset = offset,
		.size = size,
		.align = align,
		.element = element ? element : 1,
		.fixed = base || !size || !strncmp(name, "_vptr", 5),
	};
	return 0;
}

/* A hole that natural alignment does not explain: somebody asked for more. */
static void see_alignments(struct structure *structure)
{
	uint64_t end = 0;

	structure->align = structure->asked ? structure->asked : 1;
	for (size_t i = 0; i < structure->field_count; i++) {
		struct fs_layout_field *field = &structure->fields[i];
		uint64_t natural = (end + field->align - 1) & ~(field->align - 1);

		if (field->offset > natural && (field->offset & -field->offset) > field->align)
			field->align = field->offset & -field->offset;
		if (field->align > structure->align)
			structure->align = field->align;
		end = field->offset + field->size;
	}
}

static int read_fields(struct fs_options *options, struct structure *structure,
		       struct fs_error *error)
{
	sqlite3_stmt *statement;
	int code = 0;

	FS_TRY(fs_database_prepare(
		options->query,
		"SELECT name, coalesce(declared, type_name), coalesce(member_id, 0), offset, size, "
		"coalesce(elements, 0), base_class, bit_size IS NOT NULL, bit_size, "
		"coalesce(alignment, 0) FROM field WHERE type_id = ? AND offset >= 0 AND size >= 0 "
		"ORDER BY "
		"offset, idx",
		&statement, error));
	sqlite3_bind_int64(statement, 1, structure->type);
	while (!code && sqlite3_step(statement) == SQLITE_ROW)
		code = take_field(options, statement, structure, error);
	sqlite3_finalize(statement);
	FS_TRY(code);
	if (!structure->field_count)
		return fs_fail(error, FS_USAGE, "%s has no fields", structure->name);
	see_alignments(structure);
	return 0;
}

/* ---- its objects and samples ---- */

/* The addresses of the structure: in objects of it, or in arrays of them. */
#define ADDRESSES                                                                                  \
	"(SELECT d.space_id, d.addr, d.start + (d.addr - d.start) / ?3 * ?3 AS start FROM "        \
	"data_field AS d WHERE d.trace_id = ?1 AND (d.type_id = ?2 OR d.type_id IN (SELECT "       \
	"f.type_id FROM field AS f WHERE f.member_id = ?2 AND f.name IS NULL)))"

static int prepare(struct fs_options *options, const struct structure *structure, const char *sql,
		   sqlite3_stmt **ret_statement, struct fs_error *error)
{
	FS_TRY(fs_database_prepare(options->query, sql, ret_statement, error));
	sqlite3_bind_int64(*ret_statement, 1, options->trace_id);
	sqlite3_bind_int64(*ret_statement, 2, structure->type);
	sqlite3_bind_int64(*ret_statement, 3, structure->size);
	if (sqlite3_bind_parameter_count(*ret_statement) >= 4)
		sqlite3_bind_int64(*ret_statement, 4, structure->space);
	return 0;
}

/* The address space with most of its addresses; one is looked at. */
static int choose_space(struct fs_options *options, struct structure *structure,
			struct fs_error *error)
{
	sqlite3_stmt *statement;

	FS_TRY(prepare(options, structure,
		       "SELECT coalesce(space_id, 0), count(*) AS n FROM " ADDRESSES
		       " GROUP BY 1 ORDER BY n DESC, 1",
		       &statement, error));
	if (sqlite3_step(statement) == SQLITE_ROW)
		structure->space = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return 0;
}

static int read_objects(struct fs_options *options, struct structure *structure,
			struct fs_error *error)
{
	sqlite3_stmt *statement;
	int code = 0;

	FS_TRY(choose_space(options, structure, error));
	FS_TRY(prepare(options, structure,
		       "SELECT DISTINCT start FROM " ADDRESSES
		       " WHERE coalesce(space_id, 0) = ?4 ORDER BY start",
		       &statement, error));
	while (!code && sqlite3_step(statement) == SQLITE_ROW) {
		if (FS_RESERVE(structure->objects, structure->object_capacity,
			       structure->object_count + 1))
			code = fs_fail(error, FS_NOMEM, "out of memory");
		else
			structure->objects[structure->object_count++] =
				(uint64_t)sqlite3_column_int64(statement, 0);
	}
	sqlite3_finalize(statement);
	return code;
}

static bool in_array(const struct structure *structure)
{
	return structure->object_count > 1 &&
	       structure->objects[1] - structure->objects[0] == (uint64_t)structure->size;
}

/*
 * An array that is no variable of a binary may come from malloc(), which aligns to 16 whatever the
 * type asks for. Behind a flexible array there is no room for padding.
 */
static int see_allocation(struct fs_options *options, struct structure *structure,
			  struct fs_error *error)
{
	enum { MALLOC_ALIGN = 16 };
	sqlite3_stmt *statement;

	if (!in_array(structure) || structure->align > MALLOC_ALIGN ||
	    !structure->fields[structure->field_count - 1].size)
		return 0;
	FS_TRY(prepare(
		options, structure,
		"SELECT count(d.variable) FROM data_field AS d JOIN " ADDRESSES
		" AS a ON a.addr = d.addr AND a.space_id IS d.space_id WHERE d.trace_id = ?1 "
		"AND coalesce(d.space_id, 0) = ?4",
		&statement, error));
	if (sqlite3_step(statement) == SQLITE_ROW && !sqlite3_column_int64(statement, 0))
		structure->unaligned = MALLOC_ALIGN;
	sqlite3_finalize(statement);
	return 0;
}

static size_t find_object(const struct structure *structure, uint64_t start)
{
	size_t low = 0;
	size_t high = structure->object_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((int64_t)structure->objects[middle] < (int64_t)start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The field at an address of the structure; field_count: none. */
static size_t field_at(const struct structure *structure, uint64_t offset)
{
	size_t i = 0;

	while (i < structure->field_count &&
	       (offset < structure->fields[i].offset ||
		offset - structure->fields[i].offset >= structure->fields[i].size))
		i++;
	return i;
}

static int take_sample(sqlite3_stmt *row, struct structure *structure, struct fs_error *error)
{
	uint64_t start = (uint64_t)sqlite3_column_int64(row, 0);
	uint64_t offset = (uint64_t)sqlite3_column_int64(row, 1) - start;
	size_t object = find_object(structure, start);
	struct fs_layout_access access = { .object = (uint32_t)object,
					   .thread = (uint32_t)sqlite3_column_int64(row, 2),
					   .writes = sqlite3_column_int(row, 3) };

	size_t field = field_at(structure, offset);

	/* a hole, or what lies behind a flexible array; or a number that was none when objects were
	 * listed, of which a stranger's tables may have any */
	if (field == structure->field_count || object == structure->object_count)
		return 0;
	access.field = (uint16_t)field;
	access.element = (uint32_t)((offset - structure->fields[field].offset) /
				    structure->fields[field].element);
	structure->samples[field]++;
	structure->writes[field] += access.writes;
	if (FS_RESERVE(structure->accesses, structure->access_capacity,
		       structure->access_count + 1))
		return fs_fail(error, FS_NOMEM, "out of memory");
	structure->accesses[structure->access_count++] = access;
	return 0;
}

static int read_samples(struct fs_options *options, struct structure *structure,
			struct fs_error *error)
{
	static const char sql[] =
		"SELECT a.start, s.addr, s.thread_id, CASE WHEN c.op = 3 THEN 1 WHEN (s.access & "
		"15) "
		"= 0 THEN coalesce(c.op, 0) IN (2, 3) ELSE (s.access & 15) IN (2, 3) END FROM "
		"sample AS s JOIN " ADDRESSES
		" AS a ON a.addr = s.addr AND a.space_id IS s.space_id "
		"LEFT JOIN code AS c ON c.id = s.code_id WHERE coalesce(s.space_id, 0) = ?4 AND "
		"s.thread_id IS NOT NULL AND s.time_ns IS NOT NULL AND s.event_id IN (SELECT id "
		"FROM event WHERE trace_id = ?1) ORDER BY s.time_ns, s.rowid LIMIT 4194304";
	sqlite3_stmt *statement;
	int code = 0;

	FS_TRY(prepare(options, structure, sql, &statement, error));
	while (!code && sqlite3_step(statement) == SQLITE_ROW)
		code = take_sample(statement, structure, error);
	sqlite3_finalize(statement);
	return code;
}

/* ---- the answer ---- */

/* The line that the byte of a field which is now at `offset` of the object lies on in a layout. */
static uint64_t line_at(const struct structure *structure, const struct fs_layout *layout,
			size_t field, uint64_t offset, uint64_t line)
{
	const struct fs_layout_field *at = &structure->fields[field];
	uint64_t within = offset - at->offset;
	uint64_t start = layout->align >= line ? 0 : structure->objects[0] % line;

	if (layout->spread[field])
		within = within / at->element * line;
	return (start + layout->offset[field] + within) / line;
}

static uint64_t line_of(const struct structure *structure, const struct fs_layout *layout,
			size_t field, uint64_t line)
{
	return line_at(structure, layout, field, structure->fields[field].offset, line);
}

static bool has_moved(const struct fs_layout *now, const struct fs_layout *then, size_t count,
		      size_t place)
{
	uint16_t field = then->order[place];
	uint16_t before = place ? then->order[place - 1] : UINT16_MAX;

	for (size_t i = 0; i < count; i++) {
		if (now->order[i] == field)
			return (i ? now->order[i - 1] : UINT16_MAX) != before;
	}
	return false;
}

static int add_rows(struct fs_options *options, const struct structure *structure,
		    const struct fs_layout *now, const struct fs_layout *then, uint64_t line,
		    struct fs_error *error)
{
	sqlite3_stmt *insert;
	int code;

	FS_TRY(fs_rows_create(options, &insert, error));
	code = 0;
	for (size_t i = 0; !code && i < structure->field_count; i++) {
		uint16_t field = then->order[i];
		bool accessed = structure->samples[field] > 0;
		bool aligned = then->aligned[field] || (i && then->aligned[then->order[i - 1]]);
		const char *why = then->spread[field] ? "spread"
				  : aligned	      ? "aligned"
				  : accessed && has_moved(now, then, structure->field_count, i)
					  ? "moved"
					  : NULL;
		const char *name = structure->names[field];
		const char *type = structure->types[field];
		struct fs_cell cells[] = {
			{ .kind = FS_CELL_TEXT, .text = name, .length = strlen(name) },
			{ .kind = FS_CELL_TEXT, .text = type, .length = strlen(type) },
			{ .kind = FS_CELL_INTEGER,
			  .integer = (int64_t)structure->fields[field].size },
			{ .kind = FS_CELL_INTEGER, .integer = (int64_t)now->offset[field] },
			{ .kind = FS_CELL_INTEGER, .integer = (int64_t)then->offset[field] },
			{ .kind = FS_CELL_INTEGER,
			  .integer = (int64_t)line_of(structure, now, field, line) },
			{ .kind = FS_CELL_INTEGER,
			  .integer = (int64_t)line_of(structure, then, field, line) },
			{ .kind = FS_CELL_INTEGER, .integer = (int64_t)structure->samples[field] },
			{ .kind = FS_CELL_INTEGER, .integer = (int64_t)structure->writes[field] },
			{ .kind = why ? FS_CELL_TEXT : FS_CELL_NULL,
			  .text = why,
			  .length = why ? strlen(why) : 0 },
		};

		code = fs_rows_add(options->query, insert, cells, error);
	}
	sqlite3_finalize(insert);
	return code;
}

static const char *means_text(const struct structure *structure, const struct fs_layout *then,
			      enum fs_layout_means means)
{
	bool any = false;

	for (size_t i = 0; i < structure->field_count; i++)
		any |= then->aligned[i] || then->spread[i];
	if (means == FS_LAYOUT_NOTHING)
		return "no other layout is proposed";
	if (means == FS_LAYOUT_MOVE)
		return "moving fields, without growing it";
	if (any)
		return "giving fields lines of their own";
	return structure->unaligned ? "padding it, so that no line holds parts of two"
				    : "aligning it to lines";
}

/* How many of the trace's false-sharing pairs on the structure the layout ends. */
static int count_pairs(struct fs_options *options, const struct structure *structure,
		       const struct fs_layout *then, uint64_t line, int *ret_ended, int *ret_left,
		       struct fs_error *error)
{
	static const char sql[] =
		"SELECT a.start, p.line + p.a_offset, b.start, p.line + p.b_offset FROM "
		"pair_finding "
		"AS p JOIN " ADDRESSES
		" AS a ON a.addr = p.line + p.a_offset AND a.space_id IS p.space_id JOIN " ADDRESSES
		" AS b ON b.addr = p.line + p.b_offset AND b.space_id IS p.space_id WHERE "
		"p.trace_id "
		"= ?1 AND p.class = 'FS' AND coalesce(p.space_id, 0) = ?4";
	sqlite3_stmt *statement;

	*ret_ended = *ret_left = 0;
	FS_TRY(prepare(options, structure, sql, &statement, error));
	while (sqlite3_step(statement) == SQLITE_ROW) {
		uint64_t start = (uint64_t)sqlite3_column_int64(statement, 0);
		uint64_t other = (uint64_t)sqlite3_column_int64(statement, 2);
		uint64_t a_offset = (uint64_t)sqlite3_column_int64(statement, 1) - start;
		uint64_t b_offset = (uint64_t)sqlite3_column_int64(statement, 3) - other;
		size_t a = field_at(structure, a_offset);
		size_t b = field_at(structure, b_offset);
		bool ended = start != other
				     ? then->align >= line || (then->whole && structure->unaligned)
				     : a < structure->field_count && b < structure->field_count &&
					       line_at(structure, then, a, a_offset, line) !=
						       line_at(structure, then, b, b_offset, line);

		*(ended ? ret_ended : ret_left) += 1;
	}
	sqlite3_finalize(statement);
	return 0;
}

/* What the proposal asks of whoever makes such objects. */
static int describe_placement(struct fs_options *options, const struct structure *structure,
			      const struct fs_layout *then, enum fs_layout_means means,
			      struct fs_error *error)
{
	if (means == FS_LAYOUT_ALIGN && structure->unaligned)
		FS_TRY(fs_options_note(
			options, error,
			"the array is no variable; if it comes from malloc(), it "
			"begins at any multiple of %" PRIu64 " bytes, so elements are padded "
			"for each; with aligned_alloc() a multiple of the line would do",
			structure->unaligned));
	else if (means == FS_LAYOUT_ALIGN)
		FS_TRY(fs_options_note(
			options, error,
			"objects must begin at a multiple of %" PRIu64
			" bytes: allocate them with aligned_alloc(); malloc() aligns "
			"to 16",
			then->align));
	if (!in_array(structure))
		return 0;
	return fs_options_note(options, error, "objects stand in an array, %lld bytes apart",
			       (long long)structure->size);
}

/* Why there is no proposal, and what else would help. */
static int describe_nothing(struct fs_options *options, const struct fs_layout *now,
			    struct fs_error *error)
{
	const char *why = "no sample shows fields of it in conflict";

	if (now->true_conflicts > now->false_conflicts)
		why = "true sharing dominates: write less often, or keep the field by thread and "
		      "add up";
	else if (now->true_conflicts * 4 > now->false_conflicts)
		why = "parted, the threads would fight on, as they share truly, too: keep a copy "
		      "of what the other side writes, or write less often";
	else if (now->false_conflicts)
		why = "no order of its fields ends the conflicts: elements of one array fight, or "
		      "other objects on the line; give each element or object a line of its own";
	return fs_options_note(options, error, "%s", why);
}

/* Say what is proposed, what it ends and what stays. */
static int describe(struct fs_options *options, const struct structure *structure,
		    const struct fs_layout *now, const struct fs_layout *then,
		    enum fs_layout_means means, uint64_t line, struct fs_error *error)
{
	int ended;
	int left;

	FS_TRY(count_pairs(options, structure, then, line, &ended, &left, error));
	FS_TRY(fs_options_note(options, error,
			       "%s, %lld bytes, %zu object%s, %zu samples: %s; %" PRIu64
			       " bytes then",
			       structure->name, (long long)structure->size, structure->object_count,
			       structure->object_count == 1 ? "" : "s", structure->access_count,
			       means_text(structure, then, means), then->size));
	FS_TRY(fs_options_note(options, error,
			       "replayed on the samples: %" PRIu64 " false conflicts now, %" PRIu64
			       " then; %" PRIu64 " true ones now, %" PRIu64
			       " then (no layout ends those)",
			       now->false_conflicts, then->false_conflicts, now->true_conflicts,
			       then->true_conflicts));
	if (means == FS_LAYOUT_NOTHING)
		return describe_nothing(options, now, error);
	FS_TRY(fs_options_note(options, error, "of the pairs that share falsely %d end and %d stay",
			       ended, left));
	return describe_placement(options, structure, then, means, error);
}

/* Where C puts a field of that alignment behind one that ends at `end`. */
static uint64_t behind(uint64_t end, uint64_t align)
{
	return (end + align - 1) & ~(align - 1);
}

/* The alignment that a field must be declared with to stand where it is to, a line if that will do;
 * 0: that of its type does. */
static uint64_t asked_align(const struct structure *structure, const struct fs_layout *then,
			    size_t field, uint64_t end, uint64_t line)
{
	uint64_t natural = structure->natural[field];
	uint64_t align =
		structure->fields[field].align > line ? structure->fields[field].align : line;

	if (behind(end, natural) == then->offset[field] && !structure->asked_for[field])
		return 0;
	while (align > natural && align > structure->asked_for[field] &&
	       behind(end, align) != then->offset[field])
		align /= 2;
	return align;
}

static void print_field(FILE *out, const struct structure *structure, const struct fs_layout *then,
			size_t field, uint64_t end, uint64_t line)
{
	const char *text = structure->declarations[field];
	size_t first;
	uint64_t align = asked_align(structure, then, field, end, line);
	uint64_t old = structure->fields[field].offset;

	if (then->spread[field]) {
		fs_layout_write_slots(out, structure->types[field], structure->names[field], line);
		fprintf(out, "; /* 0x%" PRIx64 ", now ", then->offset[field]);
		fprintf(out, "%s[].value */\n", structure->names[field]);
		return;
	}
	/* the attribute stands before the semicolon, of bit-fields that lie together the first's */
	first = (size_t)(structure->joined[field] ? strchr(text, ';') - text
						  : strrchr(text, ';') - text);
	fprintf(out, "%.*s", (int)first, text);
	if (align)
		fprintf(out, " __attribute__((aligned(%" PRIu64 ")))", align);
	fprintf(out, "%s /* 0x%" PRIx64, text + first, then->offset[field]);
	if (then->offset[field] != old)
		fprintf(out, ", was 0x%" PRIx64, old);
	fputs(" */\n", out);
}

/* Tabs in front are the layout's own; anything else that is no text is escaped. */
static void print_line(FILE *out, const char *line)
{
	char shown[4096];

	for (; *line == '\t'; line++)
		fputc('\t', out);
	fs_escape(shown, sizeof(shown), line, strlen(line));
	fprintf(out, "%s\n", shown);
}

static bool has_field(const struct structure *structure, const char *name)
{
	for (size_t i = 0; i < structure->field_count; i++)
		if (!strcmp(structure->names[i], name))
			return true;
	return false;
}

/* The structure as C. Names come from a stranger's binary: they are shown as text. */
static int print_c(const struct fs_options *options, const struct structure *structure,
		   const struct fs_layout *then, uint64_t line, struct fs_error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	uint64_t end = 0;
	char *rest;

	if (!out)
		return fs_fail(error, FS_NOMEM, "out of memory");
	fprintf(out, "/* %lld bytes before, %" PRIu64 " now */\n%s {\n", (long long)structure->size,
		then->size, structure->name);
	for (size_t i = 0; i < structure->field_count; i++) {
		size_t field = then->order[i];

		print_field(out, structure, then, field, end, line);
		end = then->offset[field] +
		      fs_layout_size(&structure->fields[field], then->spread[field], line);
	}
	if (then->whole && structure->unaligned && then->size > end)
		fprintf(out, "\tchar %s[%" PRIu64 "]; /* 0x%" PRIx64 " */\n",
			has_field(structure, "padding") ? "padding_of_line" : "padding",
			then->size - end, end);
	fputc('}', out);
	if ((then->whole && !structure->unaligned) || structure->asked)
		fprintf(out, " __attribute__((aligned(%" PRIu64 ")))", then->align);
	fputs(";\n", out);
	if (fclose(out)) {
		free(text);
		return fs_fail(error, FS_NOMEM, "out of memory");
	}
	for (char *at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest))
		print_line(options->query->out, at);
	free(text);
	return fflush(options->query->out) || ferror(options->query->out)
		       ? fs_fail(error, FS_OUTPUT, "cannot write the output")
		       : 0;
}

/* That of the trace; twice that where two lines side by side contend as one. */
static int read_line_size(struct fs_options *options, const struct structure *structure,
			  int64_t *ret_line, struct fs_error *error)
{
	sqlite3_stmt *statement;

	FS_TRY(fs_database_integer(options->query, "SELECT line_size FROM trace WHERE id = ?",
				   options->trace_id, 64, ret_line, error));
	FS_TRY(prepare(options, structure,
		       "SELECT count(*) FROM line_finding AS l JOIN " ADDRESSES
		       " AS a ON a.addr BETWEEN l.line AND l.line + l.size - 1 AND a.space_id IS "
		       "l.space_id WHERE l.trace_id = ?1 AND l.verdict = 'adjacent' AND "
		       "coalesce(l.space_id, 0) = ?4",
		       &statement, error));
	if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) &&
	    *ret_line <= 2048)
		*ret_line *= 2;
	sqlite3_finalize(statement);
	return 0;
}

static int propose(struct fs_options *options, struct structure *structure, struct fs_error *error)
{
	struct fs_layout now;
	struct fs_layout then;
	enum fs_layout_means means;
	int64_t line;

	FS_TRY(read_line_size(options, structure, &line, error));
	if (line < 16 || line > 4096 || line & (line - 1))
		return fs_fail(error, FS_REFUSED, "%s: a line size of %lld bytes is none",
			       options->query->path, (long long)line);
	if (!structure->access_count)
		return fs_fail(error, FS_USAGE,
			       "%s: no sample with a time lies on it: import without "
			       "--no-samples",
			       structure->name);
	if (fs_layout_propose(
		    &(struct fs_layout_problem){ .fields = structure->fields,
						 .field_count = structure->field_count,
						 .size = (uint64_t)structure->size,
						 .align = structure->align,
						 .line = (uint64_t)line,
						 .unaligned = structure->unaligned,
						 .arrays = structure->arrays,
						 .objects = structure->objects,
						 .object_count = structure->object_count,
						 .accesses = structure->accesses,
						 .access_count = structure->access_count },
		    &now, &then, &means))
		return fs_fail(error, FS_NOMEM, "out of memory");
	if (options->own_format)
		FS_TRY(print_c(options, structure, &then, (uint64_t)line, error));
	else
		FS_TRY(add_rows(options, structure, &now, &then, (uint64_t)line, error));
	return describe(options, structure, &now, &then, means, (uint64_t)line, error);
}

static int fill(struct fs_options *options, struct fs_error *error)
{
	const char *wanted = *(const char **)options->own;
	struct structure *structure = calloc(1, sizeof(*structure));
	int code;

	if (!structure)
		return fs_fail(error, FS_NOMEM, "out of memory");
	code = find_type(options, wanted, structure, error);
	if (!code)
		code = read_fields(options, structure, error);
	if (!code)
		code = read_objects(options, structure, error);
	if (!code)
		code = see_allocation(options, structure, error);
	if (!code)
		code = read_samples(options, structure, error);
	if (!code)
		code = propose(options, structure, error);
	for (size_t i = 0; i < FS_LAYOUT_FIELDS_MAX; i++) {
		free(structure->names[i]);
		free(structure->types[i]);
		free(structure->declarations[i]);
	}
	free(structure->objects);
	free(structure->accesses);
	free(structure);
	return code;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;
	const char **wanted = options->own;

	if (key == ARGP_KEY_END && !*wanted)
		return fs_options_fail(state, "say which structure: layout NAME");
	return fs_parse_name(key, arg, state);
}

static const struct argp argp = { .parser = parse, .args_doc = "NAME" };

static const struct fs_listing listing = {
	.command = "layout",
	.about =
		"Propose how the fields of the structure NAME should lie so that they do not share "
		"cache lines falsely: by moving fields if that is enough, else by giving fields "
		"lines of their own. The recorded accesses are replayed on both layouts.",
	.need = FS_NEED_MEMORY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "temp.rows WHERE 1",
	.order = "new_offset, rowid",
	.limit = FS_NO_LIMIT,
	.nouns = "fields",
	.own_format = "c",
	.argp = &argp,
	.before = fill,
};

FS_COMMAND(layout)
{
	const char *wanted = NULL;

	return fs_listing_command(&listing, &wanted, query, argc, argv, error);
}
