/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * line: the Pareto of one line: which bytes are accessed, by what code, from which threads and
 * CPUs. Rows are groups of the view line_accesses by offset, operation and code address.
 */
#include <stdlib.h>
#include <string.h>

#include "query/database.h"
#include "query/listing.h"

static const struct fs_query_column columns[] = {
	FS_COLUMN("offset", "OFFSET", OFFSET, FS_SHOW_DEFAULT, NULL,
		  "Bytes from the start of the line"),
	FS_COLUMN("width", "WIDTH", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Bytes accessed, by the instruction; empty: not known"),
	FS_COLUMN("op", "OP", TEXT, FS_SHOW_DEFAULT, NULL,
		  "Operation: atomic where the instruction is, else by the record, else by the "
		  "instruction"),
	FS_COLUMN("field", "FIELD", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL,
		  "Field, or variable without fields; rows without samples are its neighbours"),
	FS_COLUMN("type", "TYPE", TEXT, FS_SHOW_TRUNCATE, NULL, "Type of the object"),
	FS_COLUMN("object", "OBJECT", TEXT, FS_SHOW_TRUNCATE, NULL,
		  "Variable, or type and address of the object; else in what it lies"),
	FS_COLUMN("function", "FUNCTION", TEXT, FS_SHOW_TRUNCATE, NULL, "Function of the code"),
	FS_COLUMN("code", "FUNCTION", TEXT, FS_SHOW_DEFAULT | FS_SHOW_SUMMARY | FS_SHOW_TRUNCATE,
		  "iif(samples = 0, NULL, " FS_CODE_NAME("") ")",
		  "function; without a symbol, binary and file offset"),
	FS_COLUMN("source", "SOURCE", TEXT, FS_SHOW_TRUNCATE | FS_SHOW_TAIL, NULL,
		  "Source file and line"),
	FS_COLUMN("place", "SOURCE", TEXT,
		  FS_SHOW_DEFAULT | FS_SHOW_SUMMARY | FS_SHOW_TRUNCATE | FS_SHOW_TAIL,
		  FS_BASE_NAME("source"), "source without the directories"),
	FS_COLUMN("dso", "DSO", TEXT, FS_SHOW_TRUNCATE | FS_SHOW_TAIL, NULL, "Binary"),
	FS_COLUMN("pc", "PC", ADDRESS, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "Code address at run time"),
	FS_COLUMN("dso_offset", "DSO OFFSET", ADDRESS, 0, NULL,
		  "File offset of the code in the binary"),
	FS_COLUMN("pids", "PIDS", TEXT, FS_SHOW_TRUNCATE, NULL, "Processes"),
	FS_COLUMN("tids", "TIDS", TEXT, FS_SHOW_TRUNCATE, NULL, "Threads"),
	FS_COLUMN("threads", "THREADS", INTEGER, FS_SHOW_DEFAULT, NULL, "Number of threads"),
	FS_COLUMN("cpus", "CPUS", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL, "CPUs"),
	FS_COLUMN("nodes", "NODES", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "NUMA nodes of the CPUs"),
	FS_COLUMN("samples", "SAMPLES", INTEGER, FS_SHOW_DEFAULT, NULL, "Samples"),
	FS_COLUMN("share", "SHARE", PERCENT, FS_SHOW_DEFAULT | FS_SHOW_WIDE, NULL,
		  "Of the line's samples that the filters let through"),
	FS_COLUMN("hitm", "HITM", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Served from a modified line of another core"),
	FS_COLUMN("peer", "PEER", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Served from another core's cache, state not told or clean"),
	FS_COLUMN("l1_misses", "L1 MISS", INTEGER, 0, NULL, "Samples known to have missed L1"),
	FS_COLUMN("latency_mean", "CYCLES", REAL, FS_SHOW_DEFAULT, NULL,
		  "Mean cycles, over the samples that have a latency"),
	FS_COLUMN("latency_p95", "P95", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "95 % of them took no more cycles, within 12.5 %"),
};

/* What the user asked for. */
struct request {
	const char *space;
	int64_t rank; /* 0: none */
	uint64_t address;
	bool has_address;
};

/* What was found. */
struct line {
	int64_t base;
	int64_t size;
	int64_t space_id; /* 0: NULL, not known */
	char space[128];
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;
	struct request *request = options->own;
	char *end;

	switch (key) {
	case 's':
		request->space = arg;
		return 0;
	case 'r':
		if (!fs_parse_count(arg, &request->rank) || !request->rank)
			return fs_options_fail(state, "--rank %s: not a rank of top-lines", arg);
		return 0;
	case ARGP_KEY_ARG:
		errno = 0;
		request->address = strtoull(arg, &end, 16);
		if (request->has_address)
			return ARGP_ERR_UNKNOWN;
		if (errno || end == arg || *end || *arg == '-')
			return fs_options_fail(state, "%s: not an address in hex", arg);
		request->has_address = true;
		return 0;
	case ARGP_KEY_END:
		if (request->has_address == (request->rank != 0))
			return fs_options_fail(state, "give an address or --rank N");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option own_options[] = {
	{ "space", 's', "SPACE", 0, "Address space: name, pid, or number of space.id", 1 },
	{ "rank", 'r', "N", 0, "The line with that rank in top-lines", 1 },
	{ 0 },
};

static const struct argp argp = {
	.options = own_options,
	.parser = parse,
	.args_doc = "ADDR\n--rank N",
};

static void take(sqlite3_stmt *statement, struct line *line)
{
	line->base = sqlite3_column_int64(statement, 0);
	line->space_id = sqlite3_column_int64(statement, 1);
	if (sqlite3_column_int64(statement, 3) > line->size)
		line->size = sqlite3_column_int64(statement, 3);
	snprintf(line->space, sizeof(line->space), "%s", fs_database_text(statement, 2));
}

static int no_such_line(const struct fs_options *options, const char *what, struct fs_error *error)
{
	char sentence[512];

	FS_TRY(fs_trace_blindness(options, sentence, sizeof(sentence), error));
	return fs_fail(error, FS_USAGE, "%s: %s", what,
		       *sentence ? sentence : "no such line was sampled in this trace");
}

/* Why a line has no rows: single accesses are kept only where they can contend. */
static const char *why_empty(const struct fs_options *options, const char *verdict)
{
	if (!strcmp(verdict, "read-only"))
		return "only totals are kept for lines that nobody was seen to write; "
		       "`fsquery top-lines --all` shows them";
	if (!strcmp(verdict, "private"))
		return "only totals are kept for lines that one thread touched; "
		       "`fsquery top-lines --all` shows them";
	if (fs_options_filtered(options))
		return "no access to this line is kept with these filters";
	return "only totals are kept for this line: single accesses are kept for lines that one "
	       "thread was seen to write and another to touch, and for their neighbours";
}

/* Candidates come one per address space; there must be exactly one. */
static int take_only(const struct fs_options *options, sqlite3_stmt *statement, const char *what,
		     struct line *line, struct fs_error *error)
{
	char names[400] = "";
	size_t used = 0;
	int count = 0;
	int step;

	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		take(statement, line);
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used,
						 "%s'%s' (%lld)", count ? ", " : "", line->space,
						 (long long)line->space_id);
		count++;
	}
	if (step != SQLITE_DONE)
		return fs_database_fail(options->query, error);
	if (!count)
		return no_such_line(options, what, error);
	if (count > 1)
		return fs_fail(error, FS_USAGE,
			       "%s lies in %d address spaces: %s; choose with --space", what, count,
			       names);
	return 0;
}

static int find_by_rank(const struct fs_options *options, struct line *line, struct fs_error *error)
{
	const struct request *request = options->own;
	sqlite3_stmt *statement = NULL;
	char what[64];
	int code = fs_database_prepare(
		options->query,
		"SELECT f.line, f.space_id, p.name, f.size FROM line_finding AS f LEFT "
		"JOIN spaces AS p ON p.id = f.space_id WHERE f.trace_id = ? AND "
		"f.rank = ?",
		&statement, error);

	if (code)
		return code;
	snprintf(what, sizeof(what), "rank %lld of top-lines", (long long)request->rank);
	sqlite3_bind_int64(statement, 1, options->trace_id);
	sqlite3_bind_int64(statement, 2, request->rank);
	code = take_only(options, statement, what, line, error);
	sqlite3_finalize(statement);
	return code;
}

static int find_by_address(const struct fs_options *options, struct line *line,
			   struct fs_error *error)
{
	const struct request *request = options->own;
	sqlite3_stmt *statement = NULL;
	int64_t base = (int64_t)(request->address & ~(uint64_t)(line->size - 1));
	char what[64];
	/* of two lines that were judged as one, that one */
	int code = fs_database_prepare(
		options->query,
		"SELECT coalesce(f.line, ?2), l.space_id, p.name, f.size FROM line_total AS l "
		"LEFT JOIN spaces AS p ON p.id = l.space_id LEFT JOIN line_finding AS f "
		"ON f.trace_id = l.trace_id AND f.space_id IS l.space_id AND f.size > ?3 AND "
		"?2 BETWEEN f.line AND f.line + f.size - 1 WHERE l.trace_id = ?1 AND l.line "
		"BETWEEN ?2 AND ?2 + ?3 - 1 AND (?4 IS NULL OR p.name = ?4 OR p.id = ?4 OR "
		"p.pid = ?4) GROUP BY l.space_id ORDER BY l.space_id",
		&statement, error);

	if (code)
		return code;
	snprintf(what, sizeof(what), "0x%llx", (unsigned long long)request->address);
	sqlite3_bind_int64(statement, 1, options->trace_id);
	sqlite3_bind_int64(statement, 2, base);
	sqlite3_bind_int64(statement, 3, line->size);
	if (request->space)
		sqlite3_bind_text(statement, 4, request->space, -1, SQLITE_STATIC);
	code = take_only(options, statement, what, line, error);
	sqlite3_finalize(statement);
	return code;
}

/* Say which line it is, and what top-lines says of it. */
static int describe(struct fs_options *options, const struct line *line, struct fs_error *error)
{
	const struct fs_query *query = options->query;
	sqlite3_stmt *statement = NULL;
	char address[32];
	int code = fs_database_prepare(
		query,
		"SELECT verdict, reason, rank FROM line_finding WHERE trace_id = "
		"?1 AND line = ?2 AND space_id IS nullif(?3, 0) ORDER BY size = ?4 DESC, rank",
		&statement, error);

	if (code)
		return code;
	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)line->base);
	options->scope = json_object_new_object();
	json_object_object_add(options->scope, "line", json_object_new_string(address));
	json_object_object_add(options->scope, "size", json_object_new_int64(line->size));
	json_object_object_add(options->scope, "space_id", json_object_new_int64(line->space_id));
	sqlite3_bind_int64(statement, 1, options->trace_id);
	sqlite3_bind_int64(statement, 2, line->base);
	sqlite3_bind_int64(statement, 3, line->space_id);
	sqlite3_bind_int64(statement, 4, line->size);
	options->empty = why_empty(options, "");
	if (sqlite3_step(statement) == SQLITE_ROW) {
		options->empty = why_empty(options, fs_database_text(statement, 0));
		code = fs_options_note(options, error,
				       "line %s, %lld bytes, in %s: rank %lld, verdict "
				       "%s: %s",
				       address, (long long)line->size, line->space,
				       (long long)sqlite3_column_int64(statement, 2),
				       fs_database_text(statement, 0),
				       fs_database_text(statement, 1));
	} else {
		code = fs_options_note(options, error,
				       "line %s, %lld bytes, in %s: not among the lines "
				       "that were judged",
				       address, (long long)line->size, line->space);
	}
	sqlite3_finalize(statement);
	return code;
}

static int find(struct fs_options *options, struct fs_error *error)
{
	const struct request *request = options->own;
	struct line line = { 0 };

	FS_TRY(fs_database_integer(options->query, "SELECT line_size FROM trace WHERE id = ?",
				   options->trace_id, 64, &line.size, error));
	if (line.size < 1 || line.size > 4096 || line.size & (line.size - 1))
		return fs_fail(
			error, FS_REFUSED, "%s: a line size of %lld bytes in trace %lld is none",
			options->query->path, (long long)line.size, (long long)options->trace_id);
	if (request->rank)
		FS_TRY(find_by_rank(options, &line, error));
	else
		FS_TRY(find_by_address(options, &line, error));
	FS_TRY(describe(options, &line, error));
	fs_options_bind(options, ":line", line.base, NULL);
	fs_options_bind(options, ":size", line.size, NULL);
	if (line.space_id)
		fs_options_bind(options, ":space", line.space_id, NULL);
	return 0;
}

static const struct fs_listing listing = {
	.command = "line",
	.about = "Show who accesses which bytes of one cache line, from which code, threads and "
		 "CPUs. ADDR is any address on the line, such as 0x445cb4; where several address "
		 "spaces have it, --space says which.",
	.need = FS_NEED_MEMORY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "(SELECT line_base - :line + offset AS offset, width, op, field, type, object, "
		"function, source_line AS source, "
		"dso, "
		"pc, "
		"dso_offset, number_list(pid) AS pids, number_list(tid) AS tids, "
		"count(DISTINCT thread_id) AS threads, number_list(cpu) AS cpus, "
		"number_list(node) AS nodes, sum(samples) AS samples, "
		"1.0 * sum(samples) / sum(sum(samples)) OVER () AS share, sum(hitm) AS hitm, "
		"sum(peer) AS peer, sum(l1_misses) AS l1_misses, "
		"1.0 * sum(latency_sum) / nullif(sum(latency_samples), 0) AS latency_mean, "
		"histogram_quantile(latency_histogram, 0.95) AS latency_p95 FROM line_accesses "
		"WHERE trace_id = :trace AND line_base BETWEEN :line AND :line + :size - 1 AND "
		"space_id IS :space {filters} GROUP BY line_base, offset, op, code_id UNION ALL "
		"SELECT f.offset, f.size, NULL, coalesce(f.field, f.variable), t.name, "
		"coalesce(f.variable, t.name || printf(' at 0x%x', f.start)), NULL, NULL, NULL, "
		"NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL "
		"FROM line_field AS f LEFT JOIN type AS t ON t.id = f.type_id WHERE f.trace_id = "
		":trace AND f.line = :line AND f.space_id IS :space AND NOT EXISTS (SELECT 1 FROM "
		"data_field AS d WHERE d.trace_id = :trace AND d.space_id IS :space AND d.addr "
		"BETWEEN f.line + f.offset AND f.line + f.offset + f.size - 1)) WHERE 1",
	.order = "coalesce(hitm, 0) + peer DESC, samples DESC, offset, op, pc",
	.filters = { [FS_FILTER_PID] = { "pid" },
		     [FS_FILTER_TID] = { "tid" },
		     [FS_FILTER_COMM] = { "comm" },
		     [FS_FILTER_CPU] = { "cpu" },
		     [FS_FILTER_NODE] = { "node" },
		     [FS_FILTER_DSO] = { "dso" },
		     [FS_FILTER_SYM] = { "function" },
		     [FS_FILTER_USER] = { "kernel_code" },
		     [FS_FILTER_KERNEL] = { "kernel_code" },
		     [FS_FILTER_MIN_SAMPLES] = { "samples" } },
	.argp = &argp,
	.before = find,
	.nouns = "rows",
};

FS_COMMAND(line)
{
	struct request request = { 0 };

	return fs_listing_command(&listing, &request, query, argc, argv, error);
}
