/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * type: one type field by field, with who accesses what. All in SQL:
 *
 *   twins  the types of that layout: debug information may state a type several times
 *   used   accesses to objects of these types, and of types that contain them
 *   spots  where these lie in the type, by type and offset of the whole object
 *   tree   the fields of the type and of their types, one row each; of an array one element.
 *          The key of a row is the position in each level: .000002.000000
 *   place  the fields that each spot lies in, by the same keys, down to the innermost
 *   gaps   between the fields of one level, and up to its end
 */
#include <string.h>

#include "query/database.h"
#include "query/listing.h"

static const struct fs_query_column columns[] = {
	FS_COLUMN("offset", "OFFSET", OFFSET, FS_SHOW_DEFAULT, NULL,
		  "Bytes from the start of the object; in an array, of its first element"),
	FS_COLUMN("size", "SIZE", INTEGER, FS_SHOW_DEFAULT, NULL, "Bytes; of an array, all of it"),
	FS_COLUMN("kind", "KIND", TEXT, 0, NULL,
		  "field; hole: bytes between two fields; padding: bytes after the last"),
	FS_COLUMN_PEOPLE("field", "FIELD", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE,
			 "iif(kind = 'field', field, '(' || kind || ')')",
			 "Path from the object; empty: a hole, padding, or a member without name"),
	FS_COLUMN("type_name", "TYPE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL,
		  "Type of the field"),
	FS_COLUMN("elements", "ELEMENTS", INTEGER, 0, NULL, "Of an array"),
	FS_COLUMN("bits", "BITS", TEXT, 0, NULL, "Of a bit-field: first and last bit"),
	FS_COLUMN_PEOPLE("line", "LINE", INTEGER, FS_SHOW_DEFAULT,
			 "iif(line_last > line, line || '-' || line_last, line)",
			 "Number of the line that it begins on, from 0 where the object begins"),
	FS_COLUMN("line_last", "LAST LINE", INTEGER, 0, NULL, "Number of the line that it ends on"),
	FS_COLUMN("mark", "MARK", TEXT, FS_SHOW_DEFAULT, NULL,
		  "border: the first on a new line; straddles: crosses a border between lines"),
	FS_COLUMN("samples", "SAMPLES", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Samples, 0: it was never sampled; of a struct, those of its fields"),
	FS_COLUMN("reads", "READS", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Samples that read: loads and atomics"),
	FS_COLUMN("writes", "WRITES", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Samples that write: stores and atomics"),
	FS_COLUMN("threads", "THREADS", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Threads, on lines that two threads touched"),
	FS_COLUMN("writers", "WRITERS", INTEGER, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "Of them, those that write"),
	FS_COLUMN("hitm", "HITM", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Served from a modified line of another core"),
	FS_COLUMN("peer", "PEER", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Served from another core's cache, state not told or clean"),
	FS_COLUMN("l1_misses", "L1 MISS", INTEGER, 0, NULL,
		  "Samples known to have missed L1, on lines that two threads touched"),
	FS_COLUMN("latency_mean", "CYCLES", REAL, FS_SHOW_DEFAULT, NULL,
		  "Mean cycles, over the samples that have a latency"),
	FS_COLUMN("cost_share", "COST", PERCENT, FS_SHOW_DEFAULT, NULL,
		  "Share of the run's memory latency that accesses to it pay for contention"),
};

/* The steps that do not depend on filters. Limits are there for types that somebody made up. */
static const char prepare_sql[] =
	"CREATE TEMP TABLE twins AS WITH layout (id, name, text) AS (SELECT t.id, t.name, (SELECT "
	"group_concat(format('%d %s %s %d %d %d', idx, name, type_name, offset, size, elements)) "
	"FROM (SELECT * FROM field WHERE type_id = t.id ORDER BY idx LIMIT 10000)) FROM type AS t "
	"JOIN type AS o ON o.id = :id AND t.trace_id = o.trace_id AND t.dso_id = o.dso_id AND "
	"t.name = o.name AND t.kind = o.kind AND t.size IS o.size) SELECT id FROM layout WHERE "
	"text IS (SELECT text FROM layout WHERE id = :id);"
	"CREATE TEMP TABLE used AS WITH RECURSIVE up (id) AS (SELECT id FROM twins UNION SELECT "
	"f.type_id FROM up JOIN field AS f ON f.member_id = up.id) SELECT * FROM data_accesses "
	"WHERE trace_id = :trace AND type_id IN (SELECT id FROM up);"
	"CREATE TEMP TABLE spots AS WITH RECURSIVE down (type_id, type_offset, member, rest, "
	"depth) "
	"AS (SELECT DISTINCT type_id, type_offset, type_id, type_offset, 0 FROM used UNION ALL "
	"SELECT n.type_id, n.type_offset, f.member_id, iif(f.elements > 0 AND f.size >= "
	"f.elements, "
	"(n.rest - f.offset) % (f.size / f.elements), n.rest - f.offset), n.depth + 1 FROM down AS "
	"n JOIN field AS f ON f.type_id = n.member WHERE n.depth < 32 AND n.member NOT IN (SELECT "
	"id FROM twins) AND n.rest >= f.offset AND (n.rest < f.offset + f.size OR f.size = 0) "
	"LIMIT 1000000) SELECT type_id, type_offset, min(rest) AS rest FROM down WHERE member IN "
	"(SELECT id FROM twins) GROUP BY type_id, type_offset;";

static const char from[] =
	"(WITH RECURSIVE tree (key, parent, depth, field, type_name, offset, size, elements, "
	"bit_offset, bit_size, member) AS (SELECT '', NULL, 0, '', name, 0, size, NULL, NULL, "
	"NULL, "
	"id FROM type WHERE id = :id UNION ALL SELECT r.key || format('.%06d', f.idx), r.key, "
	"r.depth + 1, r.field || iif(r.elements NOTNULL, '[]', '') || CASE WHEN f.base_class OR "
	"f.name IS NULL THEN '' WHEN r.field = '' THEN f.name ELSE '.' || f.name END, f.type_name, "
	"r.offset + f.offset, f.size, f.elements, f.bit_offset, f.bit_size, f.member_id FROM tree "
	"AS r JOIN field AS f ON f.type_id = r.member WHERE r.depth < 32 LIMIT 20000), "
	"seen AS MATERIALIZED (SELECT s.rest, a.* FROM temp.used AS a JOIN temp.spots AS s ON "
	"s.type_id = a.type_id AND s.type_offset IS a.type_offset LEFT JOIN thread AS t ON t.id = "
	"a.thread_id LEFT JOIN cpu AS u ON u.trace_id = a.trace_id AND u.cpu = a.cpu LEFT JOIN "
	"code "
	"AS c ON c.id = a.code_id LEFT JOIN function AS f ON f.id = c.function_id LEFT JOIN dso AS "
	"d ON d.id = c.dso_id WHERE 1{filters}), "
	"place (at, key, member, rest, depth) AS (SELECT DISTINCT rest, '', :id, rest, 0 FROM seen "
	"UNION ALL SELECT p.at, p.key || format('.%06d', f.idx), f.member_id, iif(f.elements > 0 "
	"AND f.size >= f.elements, (p.rest - f.offset) % (f.size / f.elements), p.rest - "
	"f.offset), "
	"p.depth + 1 FROM place AS p JOIN field AS f ON f.type_id = p.member WHERE p.depth < 32 "
	"AND "
	"p.rest >= f.offset AND (p.rest < f.offset + f.size OR f.size = 0) LIMIT 1000000), "
	"sums AS MATERIALIZED (SELECT p.key AS sum_key, CAST(total(samples) AS INTEGER) AS "
	"samples, "
	"CAST(total(reads * samples) AS INTEGER) AS reads, CAST(total(writes * samples) AS "
	"INTEGER) "
	"AS writes, nullif(count(DISTINCT thread_id), 0) AS threads, count(DISTINCT iif(writes, "
	"thread_id, NULL)) AS writers, iif(count(hitm), CAST(total(hitm) AS INTEGER), NULL) AS "
	"hitm, iif(count(peer), CAST(total(peer) AS INTEGER), NULL) AS peer, iif(count(l1_misses), "
	"CAST(total(l1_misses) AS INTEGER), NULL) AS l1_misses, total(latency_sum) / "
	"nullif(total(latency_samples), 0) AS latency_mean, sum(cost_share) AS cost_share FROM "
	"place AS p JOIN seen AS s ON s.rest IS p.at GROUP BY p.key), "
	"level AS MATERIALIZED (SELECT l.key, l.parent, l.offset, l.offset + l.size AS end, "
	"p.offset AS first, p.offset + iif(p.elements > 0, p.size / p.elements, p.size) AS last, "
	"max(l.offset + l.size) OVER (PARTITION BY l.parent ORDER BY l.offset, l.key ROWS BETWEEN "
	"UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered FROM tree AS l JOIN tree AS p ON p.key = "
	"l.parent), "
	"shown AS (SELECT key, 1 AS place, 'field' AS kind, nullif(field, '') AS field, type_name, "
	"offset, size, elements, bit_offset, bit_size, sums.*, EXISTS (SELECT 1 FROM field WHERE "
	"type_id = member) AS parts FROM tree LEFT JOIN sums ON sum_key = key WHERE depth > 0 OR "
	"NOT EXISTS (SELECT 1 FROM field WHERE type_id = :id) "
	"UNION ALL SELECT key, 0, 'hole', NULL, NULL, coalesce(covered, first), offset - "
	"coalesce(covered, first), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
	"NULL, "
	"NULL, NULL, NULL, 0 FROM level WHERE offset > coalesce(covered, first) "
	"UNION ALL SELECT parent || '.~', 0, 'padding', NULL, NULL, max(end), last - max(end), "
	"NULL, "
	"NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 FROM "
	"level "
	"GROUP BY parent HAVING last > max(end)), "
	"numbered AS (SELECT *, (:phase + offset) / :line_size AS line, (:phase + offset + "
	"max(size, 1) - 1) / :line_size AS line_last FROM shown) "
	"SELECT key, place, kind, field, type_name, offset, size, elements, iif(bit_size NOTNULL, "
	"bit_offset || '-' || (bit_offset + bit_size - 1), NULL) AS bits, line, line_last, "
	"CASE WHEN line_last > line AND kind = 'field' AND NOT parts AND elements IS NULL THEN "
	"'straddles' WHEN line > max(iif(parts, line, line_last)) OVER (ORDER BY key, place ROWS "
	"BETWEEN UNBOUNDED "
	"PRECEDING AND 1 PRECEDING) THEN 'border' END AS mark, iif(kind = 'field', "
	"coalesce(samples, 0), NULL) AS samples, iif(kind = 'field', coalesce(reads, 0), NULL) AS "
	"reads, iif(kind = 'field', coalesce(writes, 0), NULL) AS writes, threads, writers, hitm, "
	"peer, l1_misses, latency_mean, cost_share FROM numbered) WHERE 1";

/* Every statement of `sql` with :trace and :id bound. */
static int execute(const struct fs_options *options, const char *sql, int64_t id,
		   struct fs_error *error)
{
	while (*sql) {
		sqlite3_stmt *statement = NULL;
		int code = sqlite3_prepare_v2(options->query->db, sql, -1, &statement, &sql);

		if (code == SQLITE_OK) {
			sqlite3_bind_int64(statement,
					   sqlite3_bind_parameter_index(statement, ":trace"),
					   options->trace_id);
			sqlite3_bind_int64(statement,
					   sqlite3_bind_parameter_index(statement, ":id"), id);
			code = sqlite3_step(statement);
		}
		if (code != SQLITE_DONE)
			code = fs_database_fail(options->query, error);
		else
			code = 0;
		sqlite3_finalize(statement);
		if (code)
			return code;
	}
	return 0;
}

/* What the candidates are, for the choice between them: "3 (64 bytes in /bin/a)". */
static void add_name(sqlite3_stmt *statement, char *names, size_t size)
{
	size_t used = strlen(names);

	snprintf(names + used, size - used, "%s%lld (%lld bytes in %s)", used ? ", " : "",
		 (long long)sqlite3_column_int64(statement, 0),
		 (long long)sqlite3_column_int64(statement, 1), fs_database_text(statement, 2));
}

static int unknown_type(const struct fs_options *options, const char *name, struct fs_error *error)
{
	int64_t known;

	FS_TRY(fs_database_integer(options->query, "SELECT count(*) FROM type WHERE trace_id = ?",
				   options->trace_id, 0, &known, error));
	if (!known)
		return fs_fail(error, FS_USAGE,
			       "no type of accessed data is known in this trace; `fsquery health` "
			       "says which binaries are missing");
	return fs_fail(error, FS_USAGE,
		       "no accessed data has the type %s; `fsquery types --all` "
		       "lists those that have",
		       name);
}

/* The type of that name or number: one, unless other layouts or binaries have the name too. */
static int find_type(const struct fs_options *options, const char *name, int64_t *ret_id,
		     struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	char names[400] = "";
	int64_t number;
	int count = 0;
	int code = fs_database_prepare(
		options->query,
		"SELECT min(t.id), t.size, d.path FROM type AS t LEFT JOIN dso AS d ON d.id = "
		"t.dso_id "
		"WHERE t.trace_id = ?1 AND (t.id = ?3 OR (?3 IS NULL AND t.name IN (?2, "
		"'struct ' || ?2, 'union ' || ?2, 'class ' || ?2, 'enum ' || ?2))) AND (?4 IS NULL "
		"OR d.path = ?4 OR d.path GLOB ?4 OR d.path GLOB '*/' || ?4) GROUP BY t.dso_id, "
		"t.name, t.kind, t.size, (SELECT group_concat(format('%d %s %s %d %d %d', idx, "
		"name, "
		"type_name, offset, size, elements)) FROM (SELECT * FROM field WHERE type_id = "
		"t.id "
		"ORDER BY idx LIMIT 10000)) ORDER BY 1",
		&statement, error);

	if (code)
		return code;
	sqlite3_bind_int64(statement, 1, options->trace_id);
	sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
	if (fs_parse_count(name, &number))
		sqlite3_bind_int64(statement, 3, number);
	if (options->filters[FS_FILTER_DSO])
		sqlite3_bind_text(statement, 4, options->filters[FS_FILTER_DSO], -1, SQLITE_STATIC);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW && ++count) {
		if (count == 1)
			*ret_id = sqlite3_column_int64(statement, 0);
		add_name(statement, names, sizeof(names));
	}
	if (code != SQLITE_DONE)
		code = fs_database_fail(options->query, error);
	else if (!count)
		code = unknown_type(options, name, error);
	else if (count > 1)
		code = fs_fail(error, FS_USAGE,
			       "%d types have the name %s: %s; choose by --dso or "
			       "by number",
			       count, name, names);
	else
		code = 0;
	sqlite3_finalize(statement);
	return code;
}

/* Say what the type is and where its objects begin; bind what of a line that is. */
static int describe(struct fs_options *options, int64_t id, struct fs_error *error)
{
	sqlite3_stmt *statement = NULL;
	int64_t objects, phases, phase, line_size;
	int code = fs_database_prepare(
		options->query,
		"SELECT t.name, t.size, d.path, r.line_size, count(DISTINCT u.space_id || ' ' || "
		"(u.addr - s.rest)), count(DISTINCT (u.addr - s.rest) & (r.line_size - 1)), "
		"min((u.addr - s.rest) & (r.line_size - 1)) FROM type AS t JOIN trace AS r ON r.id "
		"= "
		"t.trace_id LEFT JOIN dso AS d ON d.id = t.dso_id LEFT JOIN temp.used AS u ON "
		"u.addr NOTNULL LEFT JOIN temp.spots AS s ON s.type_id = u.type_id AND "
		"s.type_offset "
		"IS u.type_offset WHERE t.id = ?",
		&statement, error);

	if (code)
		return code;
	sqlite3_bind_int64(statement, 1, id);
	if (sqlite3_step(statement) != SQLITE_ROW) {
		code = fs_database_fail(options->query, error);
		sqlite3_finalize(statement);
		return code;
	}
	line_size = sqlite3_column_int64(statement, 3);
	objects = sqlite3_column_int64(statement, 4);
	phases = sqlite3_column_int64(statement, 5);
	phase = phases == 1 ? sqlite3_column_int64(statement, 6) : 0;
	fs_options_bind(options, ":id", id, NULL);
	fs_options_bind(options, ":phase", phase, NULL);
	fs_options_bind(options, ":line_size", line_size, NULL);
	code = fs_options_note(
		options, error, "%s, %lld bytes, in %s", fs_database_text(statement, 0),
		(long long)sqlite3_column_int64(statement, 1), fs_database_text(statement, 2));
	sqlite3_finalize(statement);
	if (code)
		return code;
	if (!objects)
		return fs_options_note(options, error,
				       "no object of it lies on a line that two threads touched: "
				       "its place is not known, and lines are counted from its "
				       "start");
	if (phases > 1)
		return fs_options_note(options, error,
				       "its %lld objects begin at %lld different offsets of a line "
				       "of %lld bytes; lines are counted from the object's start",
				       (long long)objects, (long long)phases, (long long)line_size);
	return fs_options_note(
		options, error,
		"%lld object%s on lines that two threads touched, beginning at +0x%llx "
		"of a line of %lld bytes",
		(long long)objects, objects > 1 ? "s" : "", (unsigned long long)phase,
		(long long)line_size);
}

static int prepare(struct fs_options *options, struct fs_error *error)
{
	const char *name = *(const char **)options->own;
	int64_t id = 0;

	FS_TRY(find_type(options, name, &id, error));
	FS_TRY(execute(options, prepare_sql, id, error));
	return describe(options, id, error);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_NO_ARGS)
		return fs_options_fail(state, "give a type, such as pool or 'struct pool'");
	return fs_parse_name(key, arg, state);
}

static const struct argp argp = { .parser = parse, .args_doc = "NAME" };

static const struct fs_listing listing = {
	.command = "type",
	.about = "Show one type field by field: where each lies, in which line of the object, and "
		 "who reads and writes it. Fields that were never sampled, holes and padding are "
		 "shown as well. NAME is as in types, with or without struct, or the number of a "
		 "row "
		 "of the table type; --dso says whose type. With the filters of threads and CPUs, "
		 "only accesses to lines that two threads touched are counted.",
	.need = FS_NEED_MEMORY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = from,
	.order = "key, place",
	.filters = { [FS_FILTER_PID] = { "t.pid" },
		     [FS_FILTER_TID] = { "t.tid" },
		     [FS_FILTER_COMM] = { "t.comm" },
		     [FS_FILTER_CPU] = { "a.cpu" },
		     [FS_FILTER_NODE] = { "u.node" },
		     [FS_FILTER_DSO] = { ":dso" },
		     [FS_FILTER_SYM] = { "f.name" },
		     [FS_FILTER_USER] = { "coalesce(d.kind IN ('kernel', 'module'), c.ip < 0)" },
		     [FS_FILTER_KERNEL] = { "coalesce(d.kind IN ('kernel', 'module'), c.ip < "
					    "0)" } },
	.argp = &argp,
	.before = prepare,
	.nouns = "fields",
	.limit = FS_NO_LIMIT,
};

FS_COMMAND(type)
{
	const char *name = NULL;

	return fs_listing_command(&listing, &name, query, argc, argv, error);
}
