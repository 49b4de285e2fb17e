/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: one walk over the samples decides which stay, lists their ids and feeds those with
 * a data address to the aggregator that ingest uses; the rest is SQL.
 */
#include "ingest/load/thin.h"

#include <stdlib.h>

#include "common/random.h"
#include "ingest/load/rollup_rows.h"
#include "schema/schema.h"

/* Columns of the walk. */
enum {
	C_ID,
	C_EVENT,
	C_TIME,
	C_THREAD,
	C_CPU,
	C_CODE,
	C_SPACE,
	C_ADDR,
	C_PHYS_ADDR,
	C_ACCESS,
	C_LATENCY,
	C_PERIOD,
};

struct thinning {
	sqlite3 *db;
	int64_t trace;
	uint64_t every, seed;
	struct fs_error *error;
	struct fs_id_bases bases;
	struct thinned_event {
		bool whole; /* not thinned */
		uint64_t seen;
	} * events;
	int64_t event_count;
	struct fs_rollup rollup;
};

/* Statements with the trace as ?1, `number` as ?2 where they have it. */
static int run(const struct thinning *thinning, const char *sql, int64_t number)
{
	sqlite3_stmt *statement = NULL;
	int code = 0;

	for (const char *rest = sql; !code && *rest; sqlite3_finalize(statement)) {
		statement = NULL;
		if (sqlite3_prepare_v2(thinning->db, rest, -1, &statement, &rest) != SQLITE_OK)
			return fs_sql_fail(thinning->db, NULL, thinning->error);
		if (!statement)
			continue;
		if (sqlite3_bind_parameter_count(statement) > 0)
			sqlite3_bind_int64(statement, 1, thinning->trace);
		if (sqlite3_bind_parameter_count(statement) > 1)
			sqlite3_bind_int64(statement, 2, number);
		if (sqlite3_step(statement) != SQLITE_DONE)
			code = fs_sql_fail(thinning->db, NULL, thinning->error);
	}
	return code;
}

/* Of each group of samples of an event one stays, at a place of its own. */
static bool stays(const struct thinning *thinning, struct thinned_event *event)
{
	uint64_t number = event->seen++;
	uint64_t state = thinning->seed;

	if (event->whole)
		return true;
	state = fs_random(&state) ^ (uint64_t)(event - thinning->events) << 48 ^
		number / thinning->every;
	return number % thinning->every == fs_random(&state) % thinning->every;
}

static uint32_t number_of(sqlite3_stmt *row, int column, int64_t base)
{
	int64_t id = sqlite3_column_int64(row, column);

	if (sqlite3_column_type(row, column) == SQLITE_NULL || id < base ||
	    id - base >= FS_ROLLUP_NONE)
		return FS_ROLLUP_NONE;
	return (uint32_t)(id - base);
}

static uint32_t limited(int64_t value)
{
	return value < 0 || value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static int add_access(struct thinning *thinning, sqlite3_stmt *row, bool whole)
{
	const struct fs_id_bases *bases = &thinning->bases;
	int64_t period = sqlite3_column_int64(row, C_PERIOD);
	int64_t limit = whole ? UINT32_MAX : (int64_t)(UINT32_MAX / thinning->every);
	struct fs_rollup_access access = {
		.addr = (uint64_t)sqlite3_column_int64(row, C_ADDR),
		.time_ns = (uint64_t)sqlite3_column_int64(row, C_TIME),
		.phys_addr = (uint64_t)sqlite3_column_int64(row, C_PHYS_ADDR),
		.space = number_of(row, C_SPACE, bases->space),
		.code = number_of(row, C_CODE, bases->code),
		.thread = number_of(row, C_THREAD, bases->thread),
		.event = number_of(row, C_EVENT, bases->event),
		.cpu = number_of(row, C_CPU, 0),
		.latency = limited(sqlite3_column_int64(row, C_LATENCY)),
		.period = period < 0 || period > limit
				  ? UINT32_MAX
				  : (uint32_t)(whole ? period : period * (int64_t)thinning->every),
		.access = (uint32_t)sqlite3_column_int64(row, C_ACCESS),
	};

	return fs_rollup_add(&thinning->rollup, &access, thinning->error);
}

static int add_sample(struct thinning *thinning, sqlite3_stmt *row, sqlite3_stmt *keep)
{
	uint32_t event = number_of(row, C_EVENT, thinning->bases.event);

	if (event >= thinning->event_count || !stays(thinning, &thinning->events[event]))
		return 0;
	sqlite3_bind_int64(keep, 1, sqlite3_column_int64(row, C_ID));
	sqlite3_step(keep);
	if (sqlite3_reset(keep) != SQLITE_OK)
		return fs_sql_fail(thinning->db, NULL, thinning->error);
	if (sqlite3_column_type(row, C_ADDR) == SQLITE_NULL)
		return 0;
	return add_access(thinning, row, thinning->events[event].whole);
}

static int walk(struct thinning *thinning)
{
	static const char samples[] =
		"SELECT rowid, event_id, time_ns, thread_id, cpu, code_id, space_id, addr, "
		"phys_addr, access, latency, period FROM sample WHERE event_id IN (SELECT id FROM "
		"event WHERE trace_id = ?1) ORDER BY rowid";
	sqlite3_stmt *row = NULL;
	sqlite3_stmt *keep = NULL;
	int step = SQLITE_DONE;
	int code = 0;

	if (sqlite3_prepare_v2(thinning->db, samples, -1, &row, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(thinning->db, "INSERT INTO t_kept VALUES (?1)", -1, &keep, NULL) !=
		    SQLITE_OK)
		code = fs_sql_fail(thinning->db, NULL, thinning->error);
	else
		sqlite3_bind_int64(row, 1, thinning->trace);
	while (!code && (step = sqlite3_step(row)) == SQLITE_ROW)
		code = add_sample(thinning, row, keep);
	if (!code && step != SQLITE_DONE)
		code = fs_sql_fail(thinning->db, NULL, thinning->error);
	sqlite3_finalize(row);
	sqlite3_finalize(keep);
	return code;
}

/* One row of integers; those that are NULL are 0. */
static int ask(const struct thinning *thinning, const char *sql, int64_t *values, int count)
{
	sqlite3_stmt *row = NULL;
	int code = 0;

	if (sqlite3_prepare_v2(thinning->db, sql, -1, &row, NULL) != SQLITE_OK)
		return fs_sql_fail(thinning->db, NULL, thinning->error);
	sqlite3_bind_int64(row, 1, thinning->trace);
	if (sqlite3_step(row) != SQLITE_ROW)
		code = fs_sql_fail(thinning->db, NULL, thinning->error);
	for (int i = 0; !code && i < count; i++)
		values[i] = sqlite3_column_int64(row, i);
	sqlite3_finalize(row);
	return code;
}

static int find_events(struct thinning *thinning)
{
	static const char sql[] = "SELECT id, type FROM event WHERE trace_id = ?1 ORDER BY id";
	enum { TRACEPOINT = 2, EVENTS_MAX = 1 << 20 };
	const int64_t id_max = INT64_MAX / 2;
	int64_t values[6];
	sqlite3_stmt *row = NULL;
	int step;

	FS_TRY(ask(
		thinning,
		"SELECT min(id), max(id) - min(id) + 1, (SELECT min(id) FROM thread WHERE "
		"trace_id = ?1), (SELECT min(id) FROM code WHERE trace_id = ?1), (SELECT min(id) "
		"FROM space WHERE trace_id = ?1), (SELECT samples > 0 AND NOT EXISTS (SELECT 1 "
		"FROM sample WHERE event_id IN (SELECT id FROM event WHERE trace_id = ?1)) FROM "
		"trace WHERE id = ?1) FROM event WHERE trace_id = ?1",
		values, 6));
	if (values[5])
		return fs_fail(thinning->error, FS_REFUSED,
			       "trace %lld holds no samples to draw from; import its file again "
			       "without --no-samples",
			       (long long)thinning->trace);
	for (int i = 0; i < 5; i++) {
		if (i != 1 && (values[i] < 0 || values[i] > id_max))
			return fs_fail(
				thinning->error, FS_REFUSED,
				"trace %lld has rows numbered from %lld, expected at least 1; "
				"import its file again",
				(long long)thinning->trace, (long long)values[i]);
	}
	if (values[1] < 0 || values[1] > EVENTS_MAX)
		return fs_fail(thinning->error, FS_REFUSED,
			       "trace %lld has events numbered over %lld places, expected at most "
			       "%d; import its file again",
			       (long long)thinning->trace, (long long)values[1], EVENTS_MAX);
	thinning->bases = (struct fs_id_bases){
		.event = values[0], .thread = values[2], .code = values[3], .space = values[4]
	};
	thinning->event_count = values[1];
	thinning->events = calloc((size_t)values[1] + 1, sizeof(*thinning->events));
	if (!thinning->events)
		return fs_fail(thinning->error, FS_NOMEM, "out of memory");
	if (sqlite3_prepare_v2(thinning->db, sql, -1, &row, NULL) != SQLITE_OK)
		return fs_sql_fail(thinning->db, NULL, thinning->error);
	sqlite3_bind_int64(row, 1, thinning->trace);
	while ((step = sqlite3_step(row)) == SQLITE_ROW) {
		int64_t event = sqlite3_column_int64(row, 0) - values[0];

		if (event >= 0 && event < values[1])
			thinning->events[event].whole = sqlite3_column_int64(row, 1) == TRACEPOINT;
	}
	sqlite3_finalize(row);
	return step == SQLITE_DONE ? 0 : fs_sql_fail(thinning->db, NULL, thinning->error);
}

#define EVENTS_OF_TRACE "(SELECT id FROM event WHERE trace_id = ?1)"

static const char begin_sql[] = "DROP TABLE IF EXISTS temp.t_kept;"
				"CREATE TEMP TABLE t_kept (id INTEGER PRIMARY KEY);";

static const char drop_sql[] = "DELETE FROM sample WHERE event_id IN " EVENTS_OF_TRACE
			       " AND rowid NOT IN (SELECT id FROM t_kept);"
			       /* their event may be another one of the group */
			       "DELETE FROM sample_read WHERE event_id IN " EVENTS_OF_TRACE
			       " AND sample_id NOT IN (SELECT id FROM t_kept);"
			       "DELETE FROM sample_raw WHERE event_id IN " EVENTS_OF_TRACE
			       " AND sample_id NOT IN (SELECT id FROM t_kept);"
			       "DELETE FROM spe_extra WHERE event_id IN " EVENTS_OF_TRACE
			       " AND sample_id NOT IN (SELECT id FROM t_kept);"
			       "DELETE FROM access WHERE trace_id = ?1;"
			       "DELETE FROM access_window WHERE trace_id = ?1;"
			       "DELETE FROM line_total WHERE trace_id = ?1;"
			       "DELETE FROM code_total WHERE trace_id = ?1;"
			       "DELETE FROM profile WHERE event_id IN " EVENTS_OF_TRACE ";";

#define THINNED_EVENTS "(SELECT id FROM event WHERE trace_id = ?1 AND type <> 2)"
#define MOST "9223372036854775807 / ?2"

/* What is left stands for what was dropped, too. */
static const char scale_sql[] =
	"UPDATE sample SET period = min(period, " MOST ") * ?2 WHERE event_id IN " THINNED_EVENTS
	";"
	"UPDATE sample_read SET delta = min(delta, " MOST ") * ?2 WHERE sample_id IN (SELECT rowid "
	"FROM sample WHERE event_id IN " THINNED_EVENTS ");"
	"UPDATE event SET sample_period = min(sample_period, " MOST ") * ?2, sample_freq = max(1, "
	"sample_freq / ?2) WHERE trace_id = ?1 AND type <> 2;";

/* As ingest/load/decode.c counts: a sample that was read with counters stands for what these grew
 * by, one with a data address for an access, any other for its period. */
static const char count_sql[] =
	"CREATE TEMP TABLE t_read AS SELECT s.rowid AS sample_id, r.event_id, s.event_id AS "
	"sampled, "
	"s.code_id, s.thread_id, r.delta FROM sample AS s JOIN sample_read AS r ON r.sample_id = "
	"s.rowid WHERE s.event_id IN " EVENTS_OF_TRACE ";"
	"INSERT INTO profile SELECT event_id, code_id, thread_id, count(*), sum(coalesce(period, "
	"0)), 'period' FROM sample WHERE event_id IN " EVENTS_OF_TRACE
	" AND addr IS NULL AND rowid NOT IN (SELECT sample_id FROM t_read) GROUP BY 1, 2, 3;"
	"INSERT INTO profile SELECT event_id, code_id, thread_id, count(*), sum(delta), "
	"'group_read' FROM t_read WHERE delta > 0 GROUP BY 1, 2, 3;"
	"CREATE TEMP TABLE t_count AS SELECT event_id, count(*) AS n, sum(coalesce(period, 0)) AS "
	"period FROM sample WHERE event_id IN " EVENTS_OF_TRACE
	" GROUP BY 1 UNION ALL SELECT event_id, count(*), sum(delta) FROM t_read WHERE delta > 0 "
	"AND event_id <> sampled GROUP BY 1;"
	"UPDATE event SET (samples, period_sum) = (SELECT coalesce(sum(n), 0), "
	"coalesce(sum(period), 0) FROM t_count WHERE event_id = event.id) WHERE trace_id = ?1;"
	"DROP TABLE t_read; DROP TABLE t_count;"
	"CREATE TEMP TABLE t_code AS SELECT code_id AS id, count(*) AS n FROM sample WHERE "
	"event_id IN " EVENTS_OF_TRACE " GROUP BY 1;"
	"CREATE INDEX temp.t_code_id ON t_code (id);"
	"UPDATE code SET samples = coalesce((SELECT n FROM t_code WHERE id = code.id), 0) WHERE "
	"trace_id = ?1;"
	"DROP TABLE t_code;"
	"CREATE TEMP TABLE t_dso AS SELECT dso_id AS id, sum(samples) AS n FROM code WHERE "
	"trace_id = ?1 GROUP BY 1;"
	"UPDATE dso SET samples = coalesce((SELECT n FROM t_dso WHERE id = dso.id), 0) WHERE "
	"trace_id = ?1;"
	"DROP TABLE t_dso;"
	"CREATE TEMP TABLE t_thread AS SELECT s.thread_id AS id, count(*) AS n, min(s.time_ns) AS "
	"first, max(s.time_ns) AS last, bit_or(1 << (s.time_ns - t.slice_first_ns) / t.slice_ns) "
	"AS "
	"active FROM sample AS s JOIN trace AS t ON t.id = ?1 WHERE s.event_id IN " EVENTS_OF_TRACE
	" AND s.thread_id IS NOT NULL GROUP BY 1;"
	"CREATE INDEX temp.t_thread_id ON t_thread (id);"
	"UPDATE thread SET (samples, first_sample_ns, last_sample_ns, active) = (SELECT "
	"coalesce(max(n), 0), max(first), max(last), coalesce(max(active), 0) FROM t_thread WHERE "
	"id = thread.id) WHERE trace_id = ?1;"
	"DROP TABLE t_thread;"
	"CREATE TEMP TABLE t_trace AS SELECT count(*) AS n, coalesce(sum(e.role = 'spe'), 0) AS "
	"spe, count(s.addr) AS memory, min(s.time_ns) AS first, max(s.time_ns) AS last FROM sample "
	"AS s JOIN event AS e ON e.id = s.event_id WHERE e.trace_id = ?1;"
	"UPDATE trace SET (samples, sample_records, spe_records, memory_samples, first_ns, "
	"last_ns, window_ns) = (SELECT n, n - spe, spe, memory, first, last, iif(memory, ?2, NULL) "
	"FROM t_trace) WHERE id = ?1;"
	"DROP TABLE t_trace; DROP TABLE t_kept;";

static int thin(struct thinning *thinning)
{
	FS_TRY(find_events(thinning));
	FS_TRY(run(thinning, begin_sql, 0));
	FS_TRY(walk(thinning));
	FS_TRY(fs_rollup_finish(&thinning->rollup, thinning->error));
	FS_TRY(run(thinning, drop_sql, 0));
	FS_TRY(run(thinning, scale_sql, (int64_t)thinning->every));
	FS_TRY(fs_store_rollup(thinning->db, &thinning->rollup, &thinning->bases, thinning->trace,
			       thinning->error));
	return run(thinning, count_sql, (int64_t)(UINT64_C(1) << thinning->rollup.window_shift));
}

int fs_thin_trace(sqlite3 *db, int64_t trace, uint64_t every, uint64_t seed, struct fs_error *error)
{
	struct thinning thinning = {
		.db = db, .trace = trace, .every = every ? every : 1, .seed = seed, .error = error
	};
	int code = fs_rollup_init(&thinning.rollup) ? fs_fail(error, FS_NOMEM, "out of memory")
						    : thin(&thinning);

	fs_rollup_free(&thinning.rollup);
	free(thinning.events);
	return code;
}
