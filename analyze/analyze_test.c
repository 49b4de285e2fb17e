/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the passes on small hand-made databases, and of their SQL functions.
 *
 * A database has one trace of three events (an SPE-like one, a pair of watchpoints), four threads
 * that each have a CPU of their own except where a test says otherwise, and a code per thread and
 * place. put() adds accesses; finish() makes line_total and code_total from them and runs the
 * passes.
 */
#include "analyze/analyze.h"

#include <check.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/access.h"
#include "common/histogram.h"
#include "schema/schema.h"

enum { LINE = 0x10000, WINDOW = 16384, SPE = 1, WATCH_WRITE, WATCH_ACCESS, LOADS, STORES };

static sqlite3 *db;

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
	struct fs_error error = { 0 };
	va_list arguments;
	char *sql;

	va_start(arguments, format);
	sql = sqlite3_vmprintf(format, arguments);
	va_end(arguments);
	ck_assert_msg(!fs_sql_run(db, sql, &error), "%s", error.text);
	sqlite3_free(sql);
}

/* The first column of the first row as text, "NULL" for NULL, "none" without a row. */
static const char *value(const char *sql)
{
	static char text[1024];
	sqlite3_stmt *statement;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
		      sqlite3_errmsg(db));
	if (sqlite3_step(statement) != SQLITE_ROW)
		snprintf(text, sizeof(text), "none");
	else if (sqlite3_column_type(statement, 0) == SQLITE_NULL)
		snprintf(text, sizeof(text), "NULL");
	else
		snprintf(text, sizeof(text), "%s", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return text;
}

static void open_database(void)
{
	struct fs_error error = { 0 };

	ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	ck_assert_msg(!fs_schema_create(db, &error), "%s", error.text);
	run("INSERT INTO trace (id, name, sha256, bytes, tool_version, options, arch, line_size, "
	    "line_size_source, complete, samples, sample_records, spe_records, memory_samples, "
	    "window_ns) VALUES (1, 't', '', 0, '', '{}', 'aarch64', 64, 'cache', 1, 0, 0, 0, 0, "
	    "%d)",
	    WINDOW);
	run("INSERT INTO event (id, trace_id, idx, name, role, type, config, config1, config2, "
	    "sample_type, read_format, flags, precise_ip, sample_period, samples, period_sum) "
	    "VALUES"
	    "(%d, 1, 0, 'arm_spe_0//', 'spe', 44, 0, 0, 0, 0, 0, 0, 0, 256, 0, 0),"
	    "(%d, 1, 1, 'mem:w', 'watch_write', 5, 0, %d, 4, 0, 0, 0, 0, 1, 0, 0),"
	    "(%d, 1, 2, 'mem:rw', 'watch_access', 5, 0, %d, 4, 0, 0, 0, 0, 1, 0, 0)",
	    SPE, WATCH_WRITE, LINE, WATCH_ACCESS, LINE);
	for (int i = 1; i <= 4; i++) {
		run("INSERT INTO thread VALUES (%d, 1, 100, %d, 'worker', NULL, NULL, 0, NULL, "
		    "NULL, 0)",
		    i, 100 + i);
		run("INSERT INTO cpu (trace_id, cpu, node, package, core) VALUES (1, %d, 0, 0, %d)",
		    i, i);
	}
}

static void close_database(void)
{
	sqlite3_close(db);
}

/* The code of a place: 8 bytes wide, a function per operation. */
static int code_of(int offset, int op)
{
	int id = 1 + offset * 8 + op;

	run("INSERT OR IGNORE INTO code (id, trace_id, ip, exact, function_id, op, width, samples) "
	    "VALUES (%d, 1, %d, 1, %d, %d, 8, 0)",
	    id, id, op, op);
	return id;
}

struct use {
	int event, offset, op, thread, source;
	int samples, latency;
	int first, last; /* windows, over which the samples spread */
};

/* Accesses of one place by one thread. The source tells whether they missed L1. */
static void put(struct use use)
{
	struct fs_histogram histogram = { 0 };
	uint8_t blob[FS_HISTOGRAM_BLOB_MAX];
	char hex[2 * FS_HISTOGRAM_BLOB_MAX + 1] = "";
	int code = code_of(use.offset, use.op);
	int windows = use.last - use.first + 1;
	bool missed = use.source != FS_SOURCE_L1 && use.source != FS_SOURCE_NONE;

	histogram.count[fs_histogram_bucket((uint64_t)use.latency)] = (uint64_t)use.samples;
	for (size_t i = 0, size = fs_histogram_pack(&histogram, 0, FS_HISTOGRAM_BUCKETS - 1, blob);
	     i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", blob[i]);
	run("INSERT INTO access VALUES (1, 1, %d, %d, NULL, %d, %d, %d, %d, %d, %d, %d, %d * "
	    "(SELECT "
	    "sample_period FROM event WHERE id = %d), %d, 0, %d, %d, %d, x'%s', %lld, %lld)",
	    LINE + (use.offset & ~63), LINE + use.offset, use.event, use.op, code, use.thread,
	    use.thread, use.source, use.samples, use.samples, use.event, missed ? use.samples : 0,
	    use.latency ? use.samples : 0, use.latency * use.samples, use.latency,
	    use.latency ? hex : "", (long long)use.first * WINDOW,
	    (long long)use.last * WINDOW + WINDOW - 1);
	for (int i = 0; i < windows; i++)
		run("INSERT INTO access_window VALUES (1, 1, %d, %d, %d, %d, %d, %d, %d, 0, 0)",
		    LINE + (use.offset & ~63), LINE + use.offset, use.op, code, use.thread,
		    use.first + i, use.samples / windows ? use.samples / windows : 1);
}

/* Private work of a thread elsewhere, so that the program has accesses beside the line's. */
static void put_background(int samples)
{
	run("INSERT INTO line_total VALUES (1, 1, %d, 1, %d, %d, 0, 0, 0, %d, %d)", LINE + 64,
	    samples, samples, samples, samples * 5);
	run("INSERT INTO code_total VALUES (1, %d, NULL, %d, %d, %d, %d, %d, %d, NULL)", SPE,
	    FS_OP_LOAD, FS_SOURCE_L1, samples, samples * 256, samples, samples * 5);
}

static void analyze(void)
{
	struct fs_error error = { 0 };

	ck_assert_msg(!fs_analyze(db, 1, &error), "%s", error.text);
}

static void finish(void)
{
	run("INSERT INTO line_total SELECT 1, 1, line, min(2, count(DISTINCT thread_id)), "
	    "sum(samples), total(iif(op = 1, samples, 0)), total(iif(op = 2, samples, 0)), "
	    "total(iif(op = 3, samples, 0)), total(iif(source BETWEEN 6 AND 11, samples, 0)), "
	    "sum(latency_samples), sum(latency_sum) FROM access GROUP BY line");
	run("INSERT INTO code_total SELECT 1, event_id, code_id, op, source, sum(samples), "
	    "sum(period), sum(latency_samples), sum(latency_sum), max(latency_histogram) "
	    "FROM access GROUP BY event_id, code_id, op, source, latency_max");
	run("UPDATE event SET samples = coalesce((SELECT sum(samples) FROM access WHERE event_id = "
	    "event.id), samples)");
	analyze();
}

static const char *finding(const char *column)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT %s FROM line_finding WHERE line = %d", column, LINE);
	return value(sql);
}

/* A thread that loads and stores its own word; some of the loads come from another core. */
static void put_counter(int offset, int thread, int first, int last)
{
	put((struct use){ SPE, offset, FS_OP_LOAD, thread, FS_SOURCE_L1, 60, 4, first, last });
	put((struct use){ SPE, offset, FS_OP_LOAD, thread, FS_SOURCE_PEER_LOCAL, 40, 120, first,
			  last });
	put((struct use){ SPE, offset, FS_OP_STORE, thread, FS_SOURCE_L1, 100, 4, first, last });
}

START_TEST(test_false)
{
	put_counter(0, 1, 0, 49);
	put_counter(8, 2, 0, 49);
	put_background(20000);
	finish();
	ck_assert_str_eq(finding("verdict"), "false");
	ck_assert_str_eq(finding("reason_code"), "other_bytes_written");
	ck_assert_str_eq(finding("confidence"), "high");
	ck_assert_str_eq(finding("rank"), "1");
	ck_assert_str_eq(finding("samples || ' ' || loads || ' ' || stores || ' ' || peer_local"),
			 "400 200 200 80");
	ck_assert_str_eq(finding("misses_true"), "0.0");
	ck_assert_str_eq(finding("writer_sampled"), "1");
	/* 80 misses of 256 operations, each 116 cycles above a hit */
	ck_assert_str_eq(finding("excess_latency"), "2375680.0");
	ck_assert_str_eq(finding("latency_p95"), "123");
	ck_assert_str_eq(finding("cost_of"), "latency");
	ck_assert_str_eq(finding("cost_low < cost_share AND cost_share < cost_high"), "1");
	ck_assert_str_eq(value("SELECT count(*) FROM pair_finding"), "2");
	ck_assert_str_eq(
		value("SELECT class || kind || a_offset || ' ' || b_offset || ' ' || a_width "
		      "|| ' ' || a_tids || ' ' || b_tids FROM pair_finding WHERE rank = 1"),
		"FSSL0 8 8 101 102");
}
END_TEST

/* A thread that was sampled all the time from first to last, ns. */
static void put_times(int thread, int samples, int first, int last)
{
	enum { SLICE = 32768 };
	uint64_t active = ((2ull << (last / SLICE - first / SLICE)) - 1) << first / SLICE;

	run("UPDATE thread SET samples = %d, first_sample_ns = %d, last_sample_ns = %d, "
	    "active = %lld WHERE id = %d",
	    samples, first, last, (long long)active, thread);
	run("UPDATE trace SET first_ns = 0, last_ns = 1199999, slice_first_ns = 0, slice_ns = %d",
	    SLICE);
}

#define GAIN                                                                                       \
	"SELECT reason_code || iif(gain_low IS NULL, '', format(' %.2f %.2f', gain_low, "          \
	"gain_high)) FROM gain_finding WHERE unit = 0"

/*
 * Two threads share falsely for 1 of 1.2 ms and lose 40 misses of 256 operations and 116 cycles
 * each, 1.19 million. At 2.75 GHz, known to a fifth, and 40 misses, known to 2 in sqrt(40), that
 * is 432 us, divided or multiplied by 1 + sqrt(0.2^2 + 4 / 40).
 */
START_TEST(test_gain)
{
	put_counter(0, 1, 0, 49);
	put_counter(8, 2, 0, 49);
	put_background(20000);
	put_times(1, 200, 100000, 1100000);
	put_times(2, 200, 90000, 1090000);
	put_times(3, 20000, 0, 90000); /* before the phase */
	finish();
	/* 1200 / (200 + 1000 - 314) and 1200 / (200 + 1000 - 594) */
	ck_assert_str_eq(value(GAIN), "parallel_phase 1.35 1.98");
	ck_assert_str_eq(finding("gain_unit"), "1");
	ck_assert_str_eq(value("SELECT lines || ' ' || threads || ' ' || misses FROM gain_finding "
			       "WHERE unit = 1"),
			 "1 2 80.0");
	ck_assert_str_eq(value("SELECT group_concat(cycles) FROM thread_cost"),
			 "1187840.0,1187840.0");

	/* cycles were sampled: 2 GHz over the 31, 31 and 3 slices of the threads */
	run("INSERT INTO event (id, trace_id, idx, name, role, type, config, sample_type, "
	    "read_format, flags, precise_ip, samples, period_sum) VALUES (90, 1, 9, 'cycles', "
	    "'cycles', 0, 0, 0, 0, 0, 0, 0, 0)");
	run("INSERT INTO profile VALUES (90, NULL, 1, 40, 2 * 66 * 32768, 'period')");
	analyze();
	ck_assert_str_eq(value(GAIN), "parallel_phase 1.59 2.93");
	ck_assert(strstr(value("SELECT reason FROM gain_finding"), "clock measured as 2.00 GHz"));
	/* and costs are a share of them */
	ck_assert_str_eq(finding("cost_of || printf(' %.4f', cost_share)"), "cycles 0.5492");
	run("DELETE FROM profile");

	/* another thread works as long: whole slices 4 to 32 of the phase */
	put_times(3, 20000, 0, 1150000);
	analyze();
	ck_assert_str_eq(value(GAIN), "parallel_phase 1.04 1.04");

	/* the same misses in a tenth of the time are more than there is: then 51,200 accesses
	 * take 1 to 3 cycles each, at 3.3 and 2.2 GHz */
	put_times(1, 200, 1000000, 1100000);
	put_times(2, 200, 1000000, 1100000);
	put_times(3, 20000, 0, 100000);
	run("UPDATE trace SET first_ns = 990000, last_ns = 1109999");
	analyze();
	ck_assert_str_eq(value(GAIN), "parallel_phase 1.34 3.38");
}
END_TEST

START_TEST(test_no_gain)
{
	put_counter(0, 1, 0, 49);
	put_counter(8, 2, 0, 49);
	put_background(20000);
	finish();
	ck_assert_str_eq(value(GAIN), "no_times");
	put_times(1, 200, 100000, 1100000);
	put_times(2, 200, 100000, 1100000);
	run("UPDATE access SET latency_samples = 0, latency_sum = 0");
	run("UPDATE code_total SET latency_samples = 0, latency_sum = 0");
	analyze();
	ck_assert_str_eq(value(GAIN), "no_latency");
}
END_TEST

/* A thread that looks at a flag 50 times for each write: its misses are part of waiting. */
START_TEST(test_waiting)
{
	put((struct use){ SPE, 8, FS_OP_LOAD, 1, FS_SOURCE_L1, 2000, 4, 0, 49 });
	put((struct use){ SPE, 8, FS_OP_LOAD, 1, FS_SOURCE_PEER_LOCAL, 100, 120, 0, 49 });
	put((struct use){ SPE, 0, FS_OP_STORE, 2, FS_SOURCE_L1, 400, 4, 0, 49 });
	put((struct use){ SPE, 0, FS_OP_STORE, 3, FS_SOURCE_L1, 20, 4, 0, 49 });
	put((struct use){ SPE, 8, FS_OP_STORE, 2, FS_SOURCE_L1, 40, 4, 0, 49 });
	put_background(20000);
	put_times(1, 2100, 100000, 1100000);
	put_times(2, 440, 100000, 1100000);
	finish();
	ck_assert_str_eq(value("SELECT cycles = waiting AND cycles > 0 FROM thread_cost"), "1");
	ck_assert_str_eq(value("SELECT waiting_share FROM gain_finding"), "1.0");
	ck_assert_str_eq(value("SELECT printf('%.2f', gain_low) FROM gain_finding"), "1.00");
	ck_assert_str_eq(value("SELECT reason_code FROM gain_finding"), "wait_loop");
}
END_TEST

START_TEST(test_true)
{
	put_counter(0, 1, 0, 49);
	put_counter(0, 2, 0, 49);
	put_background(20000);
	finish();
	ck_assert_str_eq(finding("verdict"), "true");
	ck_assert_str_eq(finding("misses_false"), "0.0");
	ck_assert_str_eq(value("SELECT group_concat(DISTINCT class) FROM pair_finding"), "TS");
	ck_assert_str_eq(value("SELECT a_tids FROM pair_finding"), "101,102");
}
END_TEST

START_TEST(test_mixed)
{
	put_counter(0, 1, 0, 49);
	put_counter(0, 2, 0, 49);
	put_counter(8, 3, 0, 49);
	put_counter(8, 4, 0, 49);
	put_background(20000);
	finish();
	ck_assert_str_eq(finding("verdict"), "mixed");
	ck_assert_str_eq(value("SELECT count(DISTINCT class) FROM pair_finding"), "2");
}
END_TEST

/* A thread that owns its line in L1, and of whose stores some wait for it. */
static void put_neighbour(int offset, int thread, int waiting, int first, int last)
{
	put((struct use){ SPE, offset, FS_OP_LOAD, thread, FS_SOURCE_L1, 100, 4, first, last });
	put((struct use){ SPE, offset, FS_OP_STORE, thread, FS_SOURCE_NONE, 100 - waiting, 4, first,
			  last });
	if (waiting)
		put((struct use){ SPE, offset, FS_OP_STORE, thread, FS_SOURCE_NONE, waiting, 300,
				  first, last });
}

/* The same code elsewhere: so many of a thousand stores are slow. */
static void put_elsewhere(int slow)
{
	put((struct use){ SPE, 4096, FS_OP_STORE, 3, FS_SOURCE_NONE, 1000 - slow, 4, 0, 49 });
	if (slow)
		put((struct use){ SPE, 4096, FS_OP_STORE, 3, FS_SOURCE_NONE, slow, 300, 0, 49 });
}

START_TEST(test_neighbours_that_wait)
{
	put_neighbour(0, 1, 20, 0, 49);
	put_neighbour(64, 2, 20, 0, 49);
	put_elsewhere(0);
	put_background(20000);
	finish();
	ck_assert_str_eq(finding("verdict"), "adjacent");
	ck_assert_str_eq(finding("rank"), "1");
	ck_assert_str_eq(finding("size || ' ' || samples || ' ' || misses || ' ' || threads"),
			 "128 400 40 2");
	ck_assert_str_eq(finding("evidence || ' ' || confidence"), "latency medium");
	ck_assert_str_eq(value("SELECT count(*) FROM line_finding WHERE line BETWEEN 65536 AND "
			       "65663"),
			 "1");
	/* 40 stores of 256 operations, each 296 cycles above the others */
	ck_assert_str_eq(finding("excess_latency"), "3031040.0");
	ck_assert_str_eq(value("SELECT class || kind || a_offset || ' ' || b_offset || ' ' || "
			       "verdict FROM pair_finding"),
			 "FSSS0 64 adjacent");
}
END_TEST

/* On a CPU that is known for it the same is sure. */
START_TEST(test_neighbours_on_a_known_cpu)
{
	run("UPDATE trace SET cpuid = '0x00000000481fd010'");
	put_neighbour(0, 1, 40, 0, 49);
	put_neighbour(64, 2, 40, 0, 49);
	put_elsewhere(0);
	put_background(20000);
	finish();
	ck_assert_str_eq(finding("verdict || ' ' || confidence"), "adjacent high");
	ck_assert_str_eq(finding("instr(reason, 'HiSilicon HIP08 moves both at once') > 0"), "1");
}
END_TEST

/*
 * No contention of neighbours: stores that are slow elsewhere, too; none that is slow; one thread;
 * another time; lines of two pairs; a line that is contended by itself.
 */
START_TEST(test_neighbours_that_do_not_contend)
{
	switch (_i) {
	case 0:
		put_neighbour(0, 1, 20, 0, 49);
		put_neighbour(64, 2, 20, 0, 49);
		put_elsewhere(100);
		break;
	case 1:
		put_neighbour(0, 1, 0, 0, 49);
		put_neighbour(64, 2, 0, 0, 49);
		break;
	case 2:
		put_neighbour(0, 1, 20, 0, 49);
		put_neighbour(64, 1, 20, 0, 49);
		break;
	case 3:
		put_neighbour(0, 1, 20, 0, 19);
		put_neighbour(64, 2, 20, 30, 49);
		break;
	case 4:
		put_neighbour(64, 1, 20, 0, 49);
		put_neighbour(128, 2, 20, 0, 49);
		break;
	case 5:
		put_counter(0, 1, 0, 49);
		put_counter(8, 2, 0, 49);
		put_neighbour(64, 2, 20, 0, 49);
		break;
	}
	put_background(20000);
	finish();
	ck_assert_str_eq(value("SELECT count(*) FROM line_finding WHERE verdict = 'adjacent'"),
			 "0");
	ck_assert_str_eq(value("SELECT count(*) FROM line_finding WHERE size > 64"), "0");
}
END_TEST

/* Samples that tell nothing: latent, where the CPU moves such lines together. */
START_TEST(test_neighbours_that_nothing_tells_of)
{
	if (_i)
		run("UPDATE trace SET arch = 'x86_64', cpuid = 'GenuineIntel,6,85,4'");
	put((struct use){ SPE, 0, FS_OP_STORE, 1, FS_SOURCE_NONE, 100, 0, 0, 49 });
	put((struct use){ SPE, 64, FS_OP_STORE, 2, FS_SOURCE_NONE, 100, 0, 0, 49 });
	finish();
	ck_assert_str_eq(value("SELECT coalesce(group_concat(verdict || size || reason_code), '') "
			       "FROM line_finding WHERE size > 64"),
			 _i ? "latent128neighbours" : "");
}
END_TEST

/* Two threads on the two halves of a line of 128 bytes. */
START_TEST(test_halves_of_a_wide_line)
{
	run("UPDATE trace SET line_size = 128");
	put_counter(0, 1, 0, 49);
	put_counter(64, 2, 0, 49);
	put_background(20000);
	finish();
	ck_assert_str_eq(finding("verdict || size"), "false128");
	ck_assert_str_eq(value("SELECT count(*) FROM line_finding WHERE line = 65600"), "0");
}
END_TEST

/* Places of threads in one function: all loads and stores of a place are. */
START_TEST(test_slots_of_an_array)
{
	const int stride = _i ? 64 : 24;

	for (int thread = 1; thread <= 4; thread++) {
		put_counter(thread * stride, thread, 0, 49);
		if (_i) /* another thread writes to each of them: within the lines */
			put_counter(thread * stride + 8, 1 + thread % 4, 0, 49);
	}
	put_background(20000);
	finish();
	ck_assert_str_eq(value("SELECT kind || ' ' || lines || ' ' || verdict || ' ' || threads || "
			       "' ' || coalesce(stride || ' ' || round(slots_per_line, 2), '-') "
			       "FROM line_group"),
			 _i ? "neighbours 4 false 4 -" : "array 2 false 4 24 2.67");
	ck_assert_str_eq(value("SELECT samples = (SELECT sum(samples) FROM line_finding WHERE "
			       "group_rank = 1) AND abs(cost_share - (SELECT sum(cost_share) FROM "
			       "line_finding WHERE group_rank = 1)) < 1e-9 FROM line_group"),
			 "1");
}
END_TEST

/* Lines far apart without a name are one finding when the same functions contend for them. */
START_TEST(test_lines_of_the_same_code)
{
	for (int i = 0; i < 3; i++) {
		put_counter(1024 * i, 1, 0, 49);
		put_counter(1024 * i + 8, 2, 0, 49);
	}
	if (_i)
		run("UPDATE code SET function_id = id WHERE (id - 1) / 8 >= 1024");
	put_background(20000);
	finish();
	ck_assert_str_eq(value("SELECT group_concat(kind || lines, ' ') FROM (SELECT * FROM "
			       "line_group ORDER BY rank)"),
			 _i ? "line1 line1 line1" : "code3");
	ck_assert_str_eq(value("SELECT count(DISTINCT group_rank) FROM line_finding"),
			 _i ? "3" : "1");
}
END_TEST

/* True and false sharing of the same code are two findings. */
START_TEST(test_classes_are_apart)
{
	put_counter(0, 1, 0, 49);
	put_counter(8, 2, 0, 49);
	put_counter(1024, 1, 0, 49);
	put_counter(1024, 2, 0, 49);
	put_background(20000);
	finish();
	ck_assert_str_eq(value("SELECT group_concat(verdict || lines, ' ') FROM (SELECT * FROM "
			       "line_group ORDER BY verdict)"),
			 "false1 true1");
}
END_TEST

/* The shares of a mixed line are of its writers' rates, and four samples give none. */
START_TEST(test_mixed_from_few_writes)
{
	for (int thread = 1; thread <= 4; thread++) {
		int offset = thread > 2 ? 8 : 0;

		put((struct use){ SPE, offset, FS_OP_LOAD, thread, FS_SOURCE_PEER_LOCAL, 40, 120, 0,
				  49 });
		put((struct use){ SPE, offset, FS_OP_LOAD, thread, FS_SOURCE_L1, 200, 4, 0, 49 });
		put((struct use){ SPE, offset, FS_OP_STORE, thread, FS_SOURCE_L1, 2, 4, 0, 49 });
		put((struct use){ SPE, offset + 16, FS_OP_STORE, thread, FS_SOURCE_L1, 2, 4, 0,
				  49 });
	}
	put_background(20000);
	finish();
	ck_assert_str_eq(finding("verdict"), "mixed");
	ck_assert_str_eq(finding("confidence"), "low");
	ck_assert_str_eq(finding("instr(reason, '16 sampled writes at 4 places, "
				 "fewer than 5 each') > 0"),
			 "1");
}
END_TEST

START_TEST(test_no_overlap_in_time)
{
	put_counter(0, 1, 0, 19);
	put_counter(8, 2, 40, 59);
	put_background(20000);
	finish();
	ck_assert_str_eq(finding("verdict"), "unknown");
	ck_assert_str_eq(finding("reason_code"), "no_overlap");
	ck_assert_str_eq(finding("confidence"), "NULL");
	ck_assert_str_eq(value("SELECT count(*) FROM pair_finding"), "0");
}
END_TEST

START_TEST(test_writer_not_sampled)
{
	put((struct use){ SPE, 0, FS_OP_LOAD, 1, FS_SOURCE_HITM_LOCAL, 50, 120, 0, 49 });
	put((struct use){ SPE, 8, FS_OP_LOAD, 2, FS_SOURCE_HITM_REMOTE, 50, 300, 0, 49 });
	put_background(20000);
	finish();
	ck_assert_str_eq(finding("verdict"), "unknown");
	ck_assert_str_eq(finding("reason_code"), "writer_not_sampled");
	ck_assert_str_eq(finding("hitm_local || ' ' || hitm_remote"), "50 50");
}
END_TEST

START_TEST(test_threads_unknown)
{
	put_counter(0, 1, 0, 49);
	put_counter(8, 2, 0, 49);
	put_background(20000);
	run("UPDATE access SET thread_id = NULL");
	run("UPDATE access_window SET thread_id = NULL");
	run("INSERT INTO line_total VALUES (1, 1, %d, 2, 400, 200, 200, 0, 80, 400, 11200)", LINE);
	finish();
	ck_assert_str_eq(finding("reason_code"), "threads_unknown");
}
END_TEST

/* SMT siblings share the cache: no contention between them. */
START_TEST(test_one_core)
{
	put_counter(0, 1, 0, 49);
	put_counter(8, 2, 0, 49);
	put_background(20000);
	run("UPDATE cpu SET core = 1 WHERE cpu = 2");
	finish();
	ck_assert_str_eq(finding("verdict"), "unknown");
	ck_assert_str_eq(finding("reason_code"), "writer_not_sampled");
}
END_TEST

START_TEST(test_rare)
{
	put((struct use){ SPE, 0, FS_OP_LOAD, 1, FS_SOURCE_L1, 9000, 4, 0, 49 });
	put((struct use){ SPE, 0, FS_OP_LOAD, 1, FS_SOURCE_PEER_LOCAL, 12, 120, 0, 49 });
	put((struct use){ SPE, 8, FS_OP_STORE, 2, FS_SOURCE_L1, 100, 4, 0, 49 });
	put_background(20000);
	finish();
	ck_assert_str_eq(finding("verdict"), "unknown");
	ck_assert_str_eq(finding("reason_code"), "below_threshold");
}
END_TEST

START_TEST(test_thin)
{
	put((struct use){ SPE, 0, FS_OP_LOAD, 1, FS_SOURCE_PEER_LOCAL, 3, 120, 0, 49 });
	put((struct use){ SPE, 8, FS_OP_STORE, 2, FS_SOURCE_L1, 5, 4, 0, 49 });
	put_background(500);
	finish();
	ck_assert_str_eq(finding("reason_code"), "too_few_samples");
}
END_TEST

/* Without sources and cache events (Kunpeng 920 without event bits), slow accesses are misses. */
START_TEST(test_latency_only)
{
	for (int thread = 1; thread <= 2; thread++) {
		put((struct use){ SPE, 8 * thread, FS_OP_LOAD, thread, FS_SOURCE_NONE, 300, 4, 0,
				  49 });
		put((struct use){ SPE, 8 * thread, FS_OP_LOAD, thread, FS_SOURCE_NONE, 60, 150, 0,
				  49 });
		put((struct use){ SPE, 8 * thread, FS_OP_STORE, thread, FS_SOURCE_NONE, 100, 4, 0,
				  49 });
	}
	finish();
	ck_assert_str_eq(finding("verdict"), "false");
	ck_assert_str_eq(finding("evidence"), "latency");
	ck_assert_str_eq(finding("confidence"), "low");
	ck_assert_str_eq(finding("misses"), "120");
}
END_TEST

/* The access event fires for the writes too; they are not counted twice. */
START_TEST(test_watchpoints)
{
	put((struct use){ WATCH_WRITE, 0, FS_OP_STORE, 1, FS_SOURCE_NONE, 50, 0, 0, 49 });
	put((struct use){ WATCH_ACCESS, 0, FS_OP_STORE, 1, FS_SOURCE_NONE, 50, 0, 0, 49 });
	put((struct use){ WATCH_ACCESS, 8, FS_OP_LOAD, 2, FS_SOURCE_NONE, 70, 0, 0, 49 });
	finish();
	ck_assert_str_eq(finding("verdict"), "false");
	ck_assert_str_eq(finding("confidence"), "medium");
	ck_assert_str_eq(finding("evidence"), "access_order");
	ck_assert_str_eq(finding("loads || ' ' || stores"), "70 50");
	ck_assert_str_eq(finding("count(hitm_local) + count(peer_remote)"), "0");
	ck_assert_str_eq(finding("instr(reason, '120 misses') + instr(reason, 'of the misses')"),
			 "0");
	ck_assert_str_eq(finding("excess_latency"), "NULL");
	ck_assert_str_eq(finding("reason LIKE 'No data source: verdict from bytes, threads and "
				 "overlap in time%'"),
			 "1");
	ck_assert_str_eq(value("SELECT class || kind || a_offset || b_offset FROM pair_finding"),
			 "FSSL08");
}
END_TEST

/* Two events with their own periods; a store that missed L1 may only have asked for ownership. */
START_TEST(test_load_and_store_events)
{
	run("INSERT INTO event (id, trace_id, idx, name, role, type, config, config1, sample_type, "
	    "read_format, flags, precise_ip, sample_period, samples, period_sum) VALUES"
	    "(%d, 1, 3, 'mem-loads', 'load', 4, 461, 30, 0, 0, 0, 2, 40, 0, 0),"
	    "(%d, 1, 4, 'mem-stores', 'store', 4, 33488, 0, 0, 0, 0, 2, 400, 0, 0)",
	    LOADS, STORES);
	for (int thread = 1; thread <= 2; thread++) {
		put((struct use){ LOADS, 8 * thread, FS_OP_LOAD, thread, FS_SOURCE_HITM_LOCAL, 500,
				  100, 0, 49 });
		put((struct use){ STORES, 8 * thread, FS_OP_STORE, thread, FS_SOURCE_L1_MISS, 50, 0,
				  0, 49 });
	}
	finish();
	ck_assert_str_eq(finding("verdict"), "false");
	ck_assert_str_eq(finding("misses_false"), "1000.0");
	ck_assert_str_eq(finding("miss_operations"), "40000.0");
	/* 70 cycles above the threshold of the load event, below which hits lie */
	ck_assert_str_eq(finding("excess_latency"), "2800000.0");
	ck_assert_str_eq(value("SELECT group_concat(DISTINCT kind) FROM pair_finding"), "SL");
}
END_TEST

/* Stores without a latency: what they cost is not known, even where the loads' cost is. */
START_TEST(test_pair_without_latency)
{
	run("INSERT INTO event (id, trace_id, idx, name, role, type, config, config1, sample_type, "
	    "read_format, flags, precise_ip, sample_period, samples, period_sum) VALUES"
	    "(%d, 1, 3, 'mem-loads', 'load', 4, 461, 30, 0, 0, 0, 2, 40, 0, 0),"
	    "(%d, 1, 4, 'mem-stores', 'store', 4, 33488, 0, 0, 0, 0, 2, 400, 0, 0)",
	    LOADS, STORES);
	for (int thread = 1; thread <= 2; thread++) {
		put((struct use){ LOADS, 8 * thread, FS_OP_LOAD, thread, FS_SOURCE_HITM_LOCAL, 50,
				  100, 0, 49 });
		put((struct use){ STORES, 8 * thread, FS_OP_STORE, thread, FS_SOURCE_L1_MISS, 500,
				  0, 0, 49 });
		put((struct use){ STORES, 8 * thread, FS_OP_STORE, thread, FS_SOURCE_L1, 500, 0, 0,
				  49 });
	}
	finish();
	ck_assert_str_eq(finding("verdict || ' ' || hitm_local"), "false 100");
	ck_assert_str_eq(value("SELECT count(*) || ' ' || count(cost_share) || ' ' || "
			       "total(instr(reason, 'none has a latency') > 0) FROM pair_finding "
			       "WHERE kind = 'SS'"),
			 "1 0 1.0");
	ck_assert_str_eq(value("SELECT abs(sum(p.cost_share) - max(l.cost_share)) < 1e-9 "
			       "FROM pair_finding p, line_finding l USING (line)"),
			 "1");
}
END_TEST

START_TEST(test_quiet_lines)
{
	put_background(1000);
	run("INSERT INTO line_total VALUES (1, 1, %d, 2, 100, 100, 0, 0, 0, 100, 400)", LINE);
	finish();
	ck_assert_str_eq(finding("verdict"), "read-only");
	ck_assert_str_eq(value("SELECT verdict FROM line_finding WHERE rank = 1"), "private");
}
END_TEST

START_TEST(test_again)
{
	put_counter(0, 1, 0, 49);
	put_counter(8, 2, 0, 49);
	put_background(20000);
	finish();
	analyze();
	ck_assert_str_eq(value("SELECT count(*) FROM line_finding WHERE verdict = 'false'"), "1");
	ck_assert_str_eq(value("SELECT count(*) FROM temp.sqlite_schema"), "0");
	ck_assert_str_eq(value("SELECT count(*) > 10 AND min(length(reason)) > 20 FROM parameter"),
			 "1");
}
END_TEST

START_TEST(test_mem_bound)
{
	run("INSERT INTO event (id, trace_id, idx, name, role, type, config, sample_type, "
	    "read_format, "
	    "flags, precise_ip, samples, period_sum) VALUES"
	    "(8, 1, 8, 'cycles', 'cycles', 0, 0, 0, 0, 0, 0, 100, 10000),"
	    "(9, 1, 9, 'stall_backend_mem', 'stall_mem', 8, 16389, 0, 0, 0, 0, 100, 6100)");
	run("INSERT INTO dso VALUES (1, 1, '/bin/a', NULL, 'user', 'verified', NULL, 0)");
	run("INSERT INTO function VALUES (1, 1, 'hot', NULL, 0, 0), (2, 1, 'cold', NULL, 64, 0)");
	run("INSERT INTO code (id, trace_id, dso_id, offset, ip, exact, function_id, samples) "
	    "VALUES "
	    "(1, 1, 1, 0, 0, 1, 1, 0), (2, 1, 1, 64, 64, 1, 2, 0)");
	run("INSERT INTO profile VALUES (8, 1, 1, 80, 8000, 'group_read'), (9, 1, 1, 80, 6000, "
	    "'group_read'), (8, 2, 1, 20, 2000, 'group_read'), (9, 2, 1, 20, 100, 'group_read')");
	finish();
	ck_assert_str_eq(value("SELECT mem_bound FROM mem_bound_finding WHERE function_id = 1"),
			 "0.75");
	ck_assert_str_eq(value("SELECT share FROM mem_bound_finding WHERE function_id = 1"), "0.8");
	ck_assert_str_eq(
		value("SELECT low < 0.75 AND high > 0.75 FROM mem_bound_finding WHERE rank = 1"),
		"1");
	ck_assert_str_eq(value("SELECT method FROM mem_bound_finding WHERE rank = 1"),
			 "STALL_BACKEND_MEM / CPU_CYCLES (Arm; group read)");
	ck_assert_str_eq(value("SELECT mem_bound FROM mem_bound_finding WHERE function_id = 2"),
			 "NULL");
	ck_assert_str_eq(value("SELECT tip FROM mem_bound_finding WHERE function_id = 2"),
			 "Only 20 samples: a ratio needs 30");
	ck_assert_str_eq(value("SELECT share FROM mem_bound_finding WHERE function_id = 2"),
			 "NULL");
}
END_TEST

START_TEST(test_latency_share_is_not_mem_bound)
{
	put_counter(0, 1, 0, 49);
	finish();
	ck_assert_str_eq(value("SELECT source FROM mem_bound_finding"), "spe_latency_share");
	ck_assert_str_eq(value("SELECT count(mem_bound) FROM mem_bound_finding"), "0");
	ck_assert_str_eq(value("SELECT sum(share) FROM mem_bound_finding"), "1.0");
}
END_TEST

/* A lock: few atomics hit L1, and those waited for the line there. */
static void put_lock(void)
{
	for (int thread = 1; thread <= 2; thread++) {
		put((struct use){ SPE, 0, FS_OP_ATOMIC, thread, FS_SOURCE_L1, 3, 340, 0, 49 });
		put((struct use){ SPE, 0, FS_OP_ATOMIC, thread, FS_SOURCE_PEER_LOCAL, 20, 220, 0,
				  49 });
	}
}

START_TEST(test_baseline_of_few_atomics)
{
	put_lock();
	put_background(2000);
	run("UPDATE code_total SET latency_histogram = x'0464' WHERE latency_histogram IS NULL");
	finish();
	ck_assert_str_eq(finding("verdict"), "true");
	/* 40 misses of 256 operations, 216 above a load that hits */
	ck_assert_str_eq(finding("excess_latency"), "2211840.0");
	ck_assert_str_eq(finding("cost_low > 0"), "1");
}
END_TEST

START_TEST(test_no_baseline)
{
	put_lock();
	put_background(20);
	finish();
	ck_assert_str_eq(finding("verdict || ' ' || rank"), "true 1");
	ck_assert_str_eq(finding("excess_latency"), "NULL");
	ck_assert_str_eq(finding("cost_share"), "NULL");
	ck_assert_str_eq(value("SELECT cost_share FROM pair_finding"), "NULL");
}
END_TEST

START_TEST(test_functions)
{
	struct fs_error error = { 0 };

	ck_assert_int_eq(fs_analyze_register(db, &error), 0);
	ck_assert_str_eq(value("SELECT bit_or(column1) FROM (VALUES (1), (4), (NULL))"), "5");
	ck_assert_str_eq(value("SELECT bit_or(1) WHERE 0"), "0");
	ck_assert_str_eq(value("SELECT popcount(-1) || ' ' || popcount(0)"), "64 0");
	ck_assert_str_eq(value("SELECT histogram_quantile(column1, 0.5) FROM (VALUES (x'0403'), "
			       "(x'0701'), (NULL))"),
			 "4");
	ck_assert_str_eq(value("SELECT histogram_quantile(NULL, 0.5)"), "NULL");
	ck_assert_str_eq(value("SELECT histogram_above(x'04030702', 5)"), "2");
	ck_assert_str_eq(
		value("SELECT quantiles_by(column1, column2, 0.5) FROM (VALUES (1, x'0401'), "
		      "(2, x'0701'), (1, x'0402'), (3, NULL))"),
		"{\"1\":4,\"2\":7}");
	ck_assert_str_eq(value("SELECT quantiles_by(1, x'04', 0.5) WHERE 0"), "{}");
	ck_assert_int_eq(
		sqlite3_exec(db, "SELECT histogram_quantile(x'04', 0.5)", NULL, NULL, NULL),
		SQLITE_CORRUPT);
}
END_TEST

/* Like SQLite's own where that gives a result, and the end of the range where it does not. */
/* Equal places give the same sum however they are drawn; one place of four is drawn 0 to 3 times.
 */
START_TEST(test_resampled_sum)
{
	struct fs_error error = { 0 };

	ck_assert_msg(!fs_analyze_register(db, &error), "%s", error.text);
	ck_assert_str_eq(value("SELECT resampled_sum(5, 10) FROM (WITH RECURSIVE n(i) AS (SELECT 1 "
			       "UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n)"),
			 "[1.000000, 1.000000]");
	ck_assert_str_eq(value("SELECT resampled_sum(7, 4)"), "[0.000000, 3.000000]");
	ck_assert_str_eq(value("SELECT resampled_sum(-7, 4)"), "[0.000000, 3.000000]");
	ck_assert_str_eq(value("SELECT resampled_sum(0, 4)"), "NULL");
	ck_assert_str_eq(value("SELECT resampled_sum(x, 4) FROM (SELECT 1 AS x WHERE 0)"), "NULL");
}
END_TEST

START_TEST(test_sum)
{
	static const char most[] = "9223372036854775807";

	ck_assert_int_eq(fs_analyze_register(db, NULL), 0);
	ck_assert_str_eq(value("SELECT sum(column1) FROM (VALUES (1), (-4), (NULL))"), "-3");
	ck_assert_str_eq(value("SELECT sum(column1) FROM (VALUES (1), (0.5), ('2'), ('x'))"),
			 "3.5");
	ck_assert_str_eq(value("SELECT sum(column1) FROM (VALUES (NULL))"), "NULL");
	ck_assert_str_eq(value("SELECT sum(1) WHERE 0"), "NULL");
	ck_assert_str_eq(value("SELECT sum(column1) FROM (VALUES (0x7fffffffffffffff), (1))"),
			 most);
	ck_assert_str_eq(value("SELECT sum(column1) FROM (VALUES (-0x7fffffffffffffff), (-9))"),
			 "-9223372036854775808");
	ck_assert_str_eq(value("SELECT sum(column1) FROM (VALUES (0x7fffffffffffffff), (9), (-9))"),
			 most);
	ck_assert_str_eq(value("SELECT group_concat(s) FROM (SELECT sum(column1) OVER (ROWS "
			       "BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM (VALUES "
			       "(0x7fffffffffffffff), (0x7fffffffffffffff), (-1), (3)))"),
			 "9223372036854775807,9223372036854775807,9223372036854775806,2");
	ck_assert_str_eq(value("SELECT sum(column1) FILTER (WHERE column1 > 1) FROM "
			       "(VALUES (1), (2), (3))"),
			 "5");
}
END_TEST

static void put_space(void)
{
	run("INSERT INTO space VALUES (1, 1, 'process', 100, NULL, 'worker', NULL)");
}

/* A mapping of process 100; path "//anon" is an anonymous one. */
static void put_map(const char *path, int start, int pages, int time)
{
	run("INSERT INTO dso (trace_id, path, kind, symbols, samples) VALUES (1, '%s', 'other', "
	    "'not_asked', 0)",
	    path);
	run("INSERT INTO map VALUES (1, 100, 100, %d, %d, %d, 0, 3, 2, 1, "
	    "(SELECT max(id) FROM dso))",
	    time, start, pages << 12);
}

/* Samples of a thread that address memory by that register. */
static void put_register(const char *base, int thread, int addr, int samples)
{
	run("INSERT INTO code (trace_id, ip, exact, base_register, samples) VALUES (1, 0, 1, '%s', "
	    "0)",
	    base);
	for (int i = 0; i < samples; i++)
		run("INSERT INTO sample (event_id, thread_id, code_id, space_id, addr) VALUES (%d, "
		    "%d, (SELECT max(id) FROM code), 1, %d)",
		    SPE, thread, addr + 8 * i);
}

/* What is known of the region at an address. */
static const char *region(int start)
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "SELECT name || coalesce(' ' || method, '') || coalesce(' ' || thread_id, '') || "
		 "iif(confidence IS NULL, '', format(' %%.2f', confidence)) || ' ' || (size >> 12) "
		 "FROM region "
		 "WHERE start = %d",
		 start);
	return value(sql);
}

START_TEST(test_stacks)
{
	put_space();
	put_map("//anon", 0x100000, 16, 100);
	put_map("//anon", 0x200000, 256, 110);
	put_map("//anon", 0x300000, 16, 120);
	put_map("[heap]", 0x400000, 16, 130);
	put_map("//anon", 0x500000, 16, 140);
	put_map("[stack:102]", 0x600000, 16, 150);
	put_map("//anon", 0x700000, 16, 160);
	put_register("sp", 1, 0x108000, 19);
	put_register("sp", 2, 0x108000, 1);
	put_register("x0", 2, 0x109000, 50); /* any data */
	put_register("sp", 1, 0x204000, 5);  /* two stacks in one mapping */
	put_register("sp", 1, 0x206000, 5);
	put_register("rsp", 2, 0x240000, 7);
	put_register("sp", 1, 0x308000, 6); /* one after the other, or not a stack */
	put_register("sp", 2, 0x308000, 6);
	put_register("sp", 3, 0x408000, 9); /* a stack of its own making */
	put_register("sp", 3, 0x908000, 9); /* nothing is mapped there, as far as recorded */
	put_register("sp", 3, 0x909000, 9);
	analyze();
	ck_assert_str_eq(region(0x100000), "stack of thread 101 base_register 1 0.95 16");
	ck_assert_str_eq(region(0x200000), "anonymous mapping 256");
	ck_assert_str_eq(region(0x204000), "stack of thread 101 base_register 1 1.00 3");
	ck_assert_str_eq(region(0x240000), "stack of thread 102 base_register 2 1.00 1");
	ck_assert_str_eq(region(0x300000), "anonymous mapping 16");
	ck_assert_str_eq(region(0x308000), "stack of several threads base_register 0.50 1");
	ck_assert_str_eq(region(0x400000), "heap 16");
	ck_assert_str_eq(region(0x500000), "anonymous mapping 16");
	ck_assert_str_eq(region(0x600000), "stack of thread 102 name 2 1.00 16");
	ck_assert_str_eq(region(0x908000), "stack of thread 103 base_register 3 1.00 2");
	ck_assert_str_eq(value("SELECT count(*) FROM region"), "11");
}
END_TEST

/* Three threads begin behind three mappings; one is known by its accesses, too. */
START_TEST(test_stacks_by_creation)
{
	put_space();
	put_map("/lib/libc.so", 0x50000, 16, 100);
	put_map("//anon", 0x100000, 16, 200);
	put_map("//anon", 0x200000, 16, 400);
	put_map("//anon", 0x300000, 16, 600);
	put_map("//anon", 0x400000, 16, 700);
	run("UPDATE thread SET start_ns = id * 200 + 50 WHERE id < 4");
	put_register("sp", 1, 0x108000, 3);
	analyze();
	ck_assert_str_eq(region(0x100000), "stack of thread 101 base_register 1 1.00 16");
	ck_assert_str_eq(region(0x200000), "stack of thread 102 creation 2 1.00 16");
	ck_assert_str_eq(region(0x300000), "stack of thread 103 creation 3 1.00 16");
	ck_assert_str_eq(region(0x400000), "anonymous mapping 16");

	/* where accesses show another thread's, they are right, and the rest is less sure */
	run("UPDATE sample SET thread_id = 4");
	analyze();
	ck_assert_str_eq(region(0x100000), "stack of thread 104 base_register 4 1.00 16");
	ck_assert_str_eq(region(0x200000), "stack of thread 102 creation 2 0.00 16");

	/* two were mapped before the first thread began: which is whose is not told */
	run("DELETE FROM sample; UPDATE map SET time_ns = 201 WHERE addr = 0x200000");
	analyze();
	ck_assert_str_eq(region(0x100000), "anonymous mapping 16");
	ck_assert_str_eq(region(0x200000), "anonymous mapping 16");
	ck_assert_str_eq(region(0x300000), "stack of thread 103 creation 3 16");
}
END_TEST

static const char *place(int addr)
{
	char sql[128];

	snprintf(sql, sizeof(sql),
		 "SELECT kind || ' ' || location FROM data_places WHERE addr = %d", addr);
	return value(sql);
}

/* In what each address of a shared line lies; two blocks share one. */
START_TEST(test_places)
{
	put_space();
	put_map("[heap]", LINE & ~4095, 16, 0);
	put_map("/lib/libx.so", 0x40000, 4, 0);
	run("UPDATE map SET pgoff = 0x3000 WHERE addr = 0x40000");
	put_counter(0, 1, 0, 9);
	put_counter(24, 2, 0, 9);
	put_counter(32, 3, 0, 9);
	put_counter(0x40010 - LINE, 1, 0, 9);
	put_counter(0x90000 - LINE, 1, 0, 9);
	run("INSERT INTO function VALUES (9, 1, 'make', NULL, 0, 0); UPDATE code SET function_id = "
	    "9, file = '/src/x.c', line = 7 WHERE id = %d",
	    code_of(0, FS_OP_LOAD));
	run("INSERT INTO heap_block VALUES (1, 1, %d, 16, 101, 0, 10, %d), (1, 1, %d, 16, 101, 20, "
	    "NULL, %d), (1, 1, %d, 8, 101, 0, 10, NULL), (1, 1, %d, 8, 101, 20, NULL, %d)",
	    LINE + 16, code_of(0, FS_OP_LOAD), LINE + 16, code_of(0, FS_OP_LOAD), LINE + 32,
	    LINE + 32, code_of(0, FS_OP_LOAD));
	finish();
	ck_assert_str_eq(place(LINE), "heap heap+0x0");
	ck_assert_str_eq(place(LINE + 24), "block allocated in make at x.c:7 +0x8");
	ck_assert_str_eq(place(LINE + 32), "block allocated at 2 places");
	ck_assert_str_eq(place(0x40010), "file /lib/libx.so+0x3010");
	ck_assert_str_eq(value("SELECT kind || coalesce(location, '-') FROM data_places WHERE addr "
			       "= 0x90000"),
			 "unknown-");
	ck_assert_str_eq(value("SELECT object FROM data_fields WHERE addr = 0x10018"),
			 "allocated in make at x.c:7 +0x8");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("analyze");
	TCase *cases = tcase_create("passes");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(cases, open_database, close_database);
	tcase_add_test(cases, test_false);
	tcase_add_test(cases, test_gain);
	tcase_add_test(cases, test_no_gain);
	tcase_add_test(cases, test_waiting);
	tcase_add_test(cases, test_true);
	tcase_add_test(cases, test_mixed);
	tcase_add_test(cases, test_neighbours_that_wait);
	tcase_add_test(cases, test_neighbours_on_a_known_cpu);
	tcase_add_loop_test(cases, test_neighbours_that_do_not_contend, 0, 6);
	tcase_add_loop_test(cases, test_neighbours_that_nothing_tells_of, 0, 2);
	tcase_add_test(cases, test_halves_of_a_wide_line);
	tcase_add_loop_test(cases, test_slots_of_an_array, 0, 2);
	tcase_add_loop_test(cases, test_lines_of_the_same_code, 0, 2);
	tcase_add_test(cases, test_classes_are_apart);
	tcase_add_test(cases, test_mixed_from_few_writes);
	tcase_add_test(cases, test_no_overlap_in_time);
	tcase_add_test(cases, test_writer_not_sampled);
	tcase_add_test(cases, test_threads_unknown);
	tcase_add_test(cases, test_one_core);
	tcase_add_test(cases, test_rare);
	tcase_add_test(cases, test_thin);
	tcase_add_test(cases, test_latency_only);
	tcase_add_test(cases, test_watchpoints);
	tcase_add_test(cases, test_load_and_store_events);
	tcase_add_test(cases, test_pair_without_latency);
	tcase_add_test(cases, test_quiet_lines);
	tcase_add_test(cases, test_again);
	tcase_add_test(cases, test_mem_bound);
	tcase_add_test(cases, test_latency_share_is_not_mem_bound);
	tcase_add_test(cases, test_baseline_of_few_atomics);
	tcase_add_test(cases, test_no_baseline);
	tcase_add_test(cases, test_functions);
	tcase_add_test(cases, test_resampled_sum);
	tcase_add_test(cases, test_sum);
	tcase_add_test(cases, test_stacks);
	tcase_add_test(cases, test_stacks_by_creation);
	tcase_add_test(cases, test_places);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
