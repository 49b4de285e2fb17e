/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole commands on small databases that are made here by SQL.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "query/query.h"
#include "schema/schema.h"

/* One trace: a false-sharing line at 0x1000 between "arrive" at +0x34 and "wait" at +0x38, in
 * space 1, and names that a hostile program may choose. */
static const char content[] =
	"INSERT INTO trace (id, name, sha256, bytes, tool_version, options, arch, line_size, "
	"line_size_source, first_ns, last_ns, complete, samples, sample_records, spe_records, "
	"memory_samples) VALUES (1, 'one', 'ab', 1000, '0', '{}', 'x86_64', 64, 'assumed', 5, "
	"2000000005, 1, 30, 30, 0, 30), (2, 'cycles', 'cd', 10, '0', '{}', 'x86_64', 64, "
	"'assumed', 5, 6, 1, 8, 8, 0, 0);"
	"INSERT INTO event (id, trace_id, idx, name, role, type, config, sample_type, read_format, "
	"flags, precise_ip, samples, period_sum) VALUES "
	"(1, 1, 0, 'cpu/mem-loads,ldlat=30/P', 'load', 4, 461, 0, 0, 0, 3, 30, 3000),"
	"(2, 2, 0, 'cycles', 'cycles', 0, 0, 0, 0, 0, 0, 8, 800);"
	"INSERT INTO space VALUES (1, 1, 'process', 17, NULL, 'prog', NULL), (2, 1, 'process', 18, "
	"NULL, "
	"'prog', NULL);"
	"INSERT INTO thread VALUES (1, 1, 17, 17, '=1+1', NULL, NULL, 20, NULL, NULL, 0), (2, 1, "
	"17, 19, char(27) || '[31mred', NULL, NULL, 10, NULL, NULL, 0);"
	"INSERT INTO dso VALUES (1, 1, '/bin/prog', NULL, 'user', 'missing', NULL, 30);"
	"INSERT INTO function VALUES (1, 1, 'arrive|*x*', NULL, 256, 0), (2, 1, '=cmd()' || "
	"char(10) "
	"|| char(8238) || CAST(x'ff' AS TEXT), NULL, 512, 0);"
	"INSERT INTO code (id, trace_id, dso_id, offset, ip, exact, function_id, file, line, "
	"width, "
	"samples) VALUES (1, 1, 1, 256, 4198656, 1, 1, '/src/p.c', 9, 4, 20), (2, 1, 1, 512, "
	"-4096, "
	"1, 2, NULL, NULL, NULL, 10);"
	"INSERT INTO access (trace_id, space_id, line, addr, event_id, op, code_id, thread_id, "
	"cpu, "
	"source, samples, period, l1_misses, dirty_snoops, latency_samples, latency_sum, "
	"latency_histogram) VALUES "
	"(1, 1, 4096, 4148, 1, 3, 1, 1, 0, 7, 12, 12, 12, 0, 12, 1200, x'240c'),"
	"(1, 1, 4096, 4148, 1, 3, 1, 1, 1, 7, 8, 8, 8, 0, 8, 800, x'2408'),"
	"(1, 1, 4096, 4152, 1, 1, 2, 2, 5, 9, 10, 10, 10, 0, 0, 0, NULL);"
	"INSERT INTO code_total (trace_id, event_id, op, source, samples, period, latency_samples, "
	"latency_sum) VALUES (1, 1, 3, 7, 20, 20, 20, 2000), (1, 1, 1, 9, 10, 10, 0, 0);"
	"INSERT INTO line_total VALUES (1, 1, 4096, 2, 30, 10, 0, 20, 30, 20, 2000), "
	"(1, 2, 4096, 1, 1, 1, 0, 0, 0, 1, 4);"
	"INSERT INTO line_finding (trace_id, rank, line, size, space_id, verdict, confidence, "
	"samples, "
	"loads, stores, atomics, hitm_local, hitm_remote, peer_local, peer_remote, misses, "
	"threads, "
	"cost_share, cost_low, cost_high, offsets, writer_sampled, reason_code, reason, "
	"pass_version) "
	"VALUES (1, 1, 4096, 64, 1, 'false', 'high', 30, 10, 0, 20, 20, 0, 10, 0, 30, 2, 0.123, "
	"0.1, "
	"0.15, 2, 1, 'disjoint', 'because', 1);"
	"INSERT INTO pair_finding (trace_id, rank, line, space_id, class, kind, a_offset, a_width, "
	"a_op, a_code_id, a_function_id, a_tids, a_samples, b_offset, b_op, b_code_id, "
	"b_function_id, b_tids, b_samples, windows, score, misses, evidence, verdict, reason_code, "
	"reason, pass_version) VALUES (1, 1, 4096, 1, 'FS', 'SL', 52, 4, 3, 1, 1, '17', 20, 56, 1, "
	"2, "
	"2, '19', 10, 3, 30, 30, 'transfer', 'false', 'disjoint', 'because', 1);"
	"INSERT INTO mem_bound_finding (trace_id, rank, function_id, dso_id, source, samples, "
	"share, n, "
	"method, pass_version) VALUES (1, 1, 1, 1, 'load_latency_share', 20, 0.6, 20, 'by "
	"latency', "
	"1);"
	"INSERT INTO loss VALUES (1, 'lost_records', 'loss', 'cpu 3', 7, 0, 4096, 'Seven are "
	"gone.');";

static char directory[64];
static char path[128];
static char *output; /* of the last run */
static char *messages;

static void create(const char *file, const char *more)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(file, &db), SQLITE_OK);
	ck_assert_int_eq(fs_schema_create(db, NULL), 0);
	ck_assert_msg(!sqlite3_exec(db, content, NULL, NULL, NULL), "%s", sqlite3_errmsg(db));
	ck_assert_msg(!sqlite3_exec(db, more, NULL, NULL, NULL), "%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void alter(const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(!sqlite3_exec(db, sql, NULL, NULL, NULL), "%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void set_up(void)
{
	strcpy(directory, "/tmp/fsight-query-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/case.db", directory);
	unsetenv("FSIGHT_DB");
	create(path, "");
}

static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	ck_assert_int_eq(system(command), 0);
	free(output);
	free(messages);
	output = messages = NULL;
}

/* Run fsquery --db PATH with words; a word with blanks is given in brackets. */
static int run(const char *words)
{
	char *copy = strdup(words);
	char *argv[40] = { (char *)"fsquery", (char *)"--db", path };
	int argc = 3;
	size_t size;
	FILE *out;
	FILE *err;
	int code;

	for (char *next = copy; *next;) {
		bool quoted = *next == '[';
		char *end;

		next += quoted;
		end = next + strcspn(next, quoted ? "]" : " ");
		argv[argc++] = next;
		next = end + (*end != '\0');
		*end = '\0';
		next += strspn(next, " ");
	}
	free(output);
	free(messages);
	out = open_memstream(&output, &size);
	err = open_memstream(&messages, &size);
	code = fs_query_main(argc, argv, out, err, NULL);
	fclose(out);
	fclose(err);
	free(copy);
	return code;
}

static bool says(const char *where, const char *what)
{
	return strstr(where, what) != NULL;
}

START_TEST(test_top_lines)
{
	ck_assert_int_eq(run("top-lines --format csv --columns rank,line,space,verdict,cost_share"),
			 0);
	ck_assert_str_eq(output,
			 "rank,line,space,verdict,cost_share\n1,0x1000,prog 17,false,0.123\n");
	ck_assert(says(messages, "trace 1: one"));
	ck_assert_int_eq(run("top-lines"), 0);
	ck_assert(says(output, "12.3 % (10.0-15.0)"));
	ck_assert_int_eq(run("top-lines --min-samples 31 --format csv --columns rank"), 0);
	ck_assert_str_eq(output, "rank\n");
}
END_TEST

/* People see what is worth a look and a count of the rest; programs see all. */
START_TEST(test_top_lines_all)
{
	char other[160];

	snprintf(other, sizeof(other), "%s/more.db", directory);
	create(other,
	       "INSERT INTO line_finding (trace_id, rank, line, size, space_id, verdict, samples, "
	       "loads, stores, atomics, threads, offsets, writer_sampled, misses, evidence, "
	       "reason_code, "
	       "reason, pass_version) VALUES "
	       "(1, 2, 8192, 64, 1, 'unknown', 9, 9, 0, 0, 4, 1, 0, 0, 'transfer', 'r', 'r', 1),"
	       "(1, 3, 8256, 64, 1, 'unknown', 8, 8, 0, 0, 3, 1, 0, 0, NULL, 'r', 'r', 1),"
	       "(1, 4, 8320, 64, 1, 'read-only', 7, 7, 0, 0, 2, 1, 0, 0, NULL, 'r', 'r', 1),"
	       "(1, 5, 8384, 64, 1, 'private', 6, 6, 0, 0, 1, 1, 0, 0, NULL, 'r', 'r', 1),"
	       "(1, 6, 8448, 64, 1, 'private', 5, 5, 0, 0, 1, 1, 0, 0, NULL, 'r', 'r', 1);"
	       "INSERT INTO line_total VALUES (1, 1, 8320, 2, 7, 7, 0, 0, 0, 7, 28)");
	strcpy(path, other);
	ck_assert_int_eq(run("top-lines --columns rank,threads"), 0);
	ck_assert_str_eq(output, "RANK THREADS\n   1       2\n   2       4\n");
	ck_assert(says(messages, "2 private, 1 read-only and 1 unknown (no evidence) lines are not "
				 "shown; --all shows them\n"));
	ck_assert_int_eq(run("top-lines --min-samples 7 --columns rank --format md"), 0);
	ck_assert(says(messages, "\n1 read-only and 1 unknown (no evidence) lines are not shown"));
	ck_assert_int_eq(run("top-lines --min-samples 8"), 0);
	ck_assert(says(messages, "\n1 unknown (no evidence) line is not shown; --all shows it\n"));
	ck_assert_int_eq(run("top-lines --all --columns threads --sort threads:desc,rank"), 0);
	ck_assert_str_eq(output, "THREADS\n      4\n      3\n      2\n     2+\n      1\n      1\n");
	ck_assert(!says(messages, "not shown"));
	ck_assert_int_eq(run("top-lines --format csv --columns rank,threads"), 0);
	ck_assert_str_eq(output, "rank,threads\n1,2\n2,4\n3,3\n4,2\n5,1\n6,1\n");
	ck_assert(!says(messages, "not shown"));
	ck_assert_int_eq(run("line 2080"), 0);
	ck_assert(says(messages, "only totals are kept for lines that nobody was seen to write"));
}
END_TEST

START_TEST(test_headings)
{
	ck_assert_int_eq(run("top-lines --format csv --columns SURE,hitm_lcl,Hitm"), 0);
	ck_assert_str_eq(output, "confidence,hitm_local,hitm\nhigh,20,20\n");
	ck_assert_int_eq(run("line --rank 1 --sort CYCLES:desc,p95 --columns function,Cycles"), 0);
	ck_assert(says(output, "FUNCTION"));
	ck_assert_int_eq(run("top-lines --columns sur"), 1);
	ck_assert_int_eq(run("top-lines --columns suree"), 1);
}
END_TEST

START_TEST(test_quiet_trace)
{
	char other[160];

	snprintf(other, sizeof(other), "%s/quiet.db", directory);
	create(other, "DELETE FROM line_finding");
	strcpy(path, other);
	ck_assert_int_eq(run("top-lines --format json"), 0);
	ck_assert(says(messages, "this capture would have shown one above 10 %"));
	ck_assert(says(output, "\"rows\":[],\"notes\":[\"no contended line"));
	ck_assert_int_eq(run("--trace cycles top-lines"), 0);
	ck_assert(says(messages, "contention is not measurable from this trace. No sample has"));
	ck_assert_int_eq(run("--trace cycles pairs"), 0);
	ck_assert(says(messages, "contention is not measurable from this trace. No sample has"));
	ck_assert(says(messages, "perf c2c record"));
	ck_assert(!says(messages, "no pair"));
	ck_assert_int_eq(run("--trace cycles line --rank 1"), 1);
	ck_assert(says(messages, "contention is not measurable from this trace. No sample has"));
	ck_assert_int_eq(run("--trace cycles line 0x1000"), 1);
	ck_assert(says(messages, "perf c2c record"));
}
END_TEST

START_TEST(test_line)
{
	static const char wanted[] =
		"offset,op,tids,cpus,samples,hitm,peer,latency_mean,latency_p95\n"
		"52,atomic,17,\"0,1\",20,20,0,100,99\n"
		"56,load,19,5,10,0,10,,\n";

	ck_assert_int_eq(run("line --rank 1 --format csv --columns "
			     "offset,op,tids,cpus,samples,hitm,peer,latency_mean,latency_p95"),
			 0);
	ck_assert_str_eq(output, wanted);
	ck_assert(says(messages, "verdict false: because"));
	ck_assert_int_eq(run("line 0x1034"), 1);
	ck_assert(says(messages, "2 address spaces"));
	ck_assert_int_eq(run("line 1034 --space 17 --cpu 4-6 --format csv --columns offset"), 0);
	ck_assert_str_eq(output, "offset\n56\n");
	ck_assert_int_eq(run("line 1034 --space 17 --kernel --format csv --columns offset,comm"),
			 1);
	ck_assert(says(messages, "no column comm"));
	ck_assert_int_eq(run("line 0x1034 --rank 1"), 1);
	ck_assert_int_eq(run("line 0x9000"), 1);
}
END_TEST

START_TEST(test_pairs)
{
	ck_assert_int_eq(run("pairs --format json --columns rank,a,b_function"), 0);
	ck_assert(says(output,
		       "{\"schema\":\"fsight/pairs/1\",\"trace\":{\"id\":1,\"name\":\"one\""));
	ck_assert(says(output, "{\"rank\":1,\"a\":{\"offset\":52,\"width\":4,\"op\":\"atomic\""));
	ck_assert(says(output, "\"pc\":\"0x401100\""));
	ck_assert(
		says(output, "\"b\":{\"function\":\"=cmd()\\\\x0a\\\\xe2\\\\x80\\\\xae\\\\xff\"}"));
	ck_assert_int_eq(run("pairs --sym [arrive|*x*] --format csv --columns a_offset,b_pc"), 0);
	ck_assert_str_eq(output, "a_offset,b_pc\n52,0xfffffffffffff000\n");
	ck_assert_int_eq(run("pairs --sym nothing --format ndjson"), 0);
	ck_assert_str_eq(output, "");
	ck_assert(says(messages, "for a line matches the filters"));
	ck_assert_int_eq(run("pairs --cpu 1"), 1);
	ck_assert(says(messages, "--cpu is not available for this command yet"));
}
END_TEST

/* struct pool with an array of struct slot: slots[1].b is at +0x34, tail at +0x38. */
static const char types[] =
	"INSERT INTO dso VALUES (2, 1, '/bin/other', NULL, 'user', 'verified', NULL, 0);"
	"INSERT INTO type VALUES (1, 1, 1, 'struct pool', 'struct', 72, NULL), "
	"(2, 1, 1, 'struct slot', 'struct', 24, NULL), "
	"(3, 1, 1, 'struct pool', 'struct', 72, NULL), "
	"(4, 1, 2, 'struct pool', 'struct', 8, NULL);"
	"INSERT INTO field (type_id, idx, name, type_name, member_id, offset, size, elements, "
	"bit_offset, bit_size, base_class) VALUES (1, 0, 'lock', 'int', NULL, 0, 4, NULL, NULL, "
	"NULL, 0), "
	"(1, 1, 'slots', 'struct slot[2]', 2, 8, 48, 2, NULL, NULL, 0), "
	"(1, 2, 'tail', 'char[12]', NULL, 56, 12, NULL, 3, 2, 0), "
	"(2, 0, 'a', 'long int', NULL, 0, 8, NULL, NULL, NULL, 0), "
	"(2, 1, 'b', 'long int', NULL, 16, 8, NULL, NULL, NULL, 0), "
	"(4, 0, 'other', 'long int', NULL, 0, 8, NULL, NULL, NULL, 0);"
	"INSERT INTO field SELECT 3, idx, name, type_name, declared, member_id, offset, size, "
	"alignment, elements, bit_offset, bit_size, base_class FROM field WHERE type_id = 1;"
	"INSERT INTO data_field VALUES (1, 1, 4148, NULL, 1, 4096, 'slots[1].b', 'flow', 1, 20), "
	"(1, 1, 4152, NULL, 3, 4096, 'tail', 'flow', 1, 10);"
	"UPDATE code SET type_id = 1, type_offset = 52, field = 'slots[1].b' WHERE id = 1;"
	"INSERT INTO code_total VALUES (1, 1, 1, 3, 7, 25, 25, 25, 2600, NULL), "
	"(1, 1, 2, 1, 9, 10, 10, 0, 0, NULL);";

START_TEST(test_types)
{
	alter(types);
	ck_assert_int_eq(run("types --format csv --columns type,dso,size,instances,lines,samples,"
			     "shared_samples,reads,writes,threads,hitm,peer,latency_mean,verdict,"
			     "cost_share"),
			 0);
	/* 20 of the 25 samples by code stand in `access` too */
	ck_assert_str_eq(output,
			 "type,dso,size,instances,lines,samples,shared_samples,reads,writes,"
			 "threads,hitm,peer,latency_mean,verdict,cost_share\n"
			 "struct pool,/bin/prog,72,1,1,35,30,35,25,2,25,10,104,false,0.123\n");
	ck_assert_int_eq(run("types --dso other --format csv --columns type"), 0);
	ck_assert_str_eq(output, "type\n");
	alter("UPDATE type SET kind = 'array'; UPDATE line_finding SET cost_share = NULL");
	ck_assert_int_eq(run("types"), 0);
	ck_assert(says(messages, "--all shows all"));
	ck_assert_int_eq(run("types --all --columns type"), 0);
	ck_assert(says(output, "struct pool\n"));
	alter("DELETE FROM data_field; DELETE FROM field; UPDATE code SET type_id = NULL; DELETE "
	      "FROM type");
	ck_assert_int_eq(run("types"), 0);
	ck_assert(says(messages, "no type of accessed data is known"));
}
END_TEST

START_TEST(test_type)
{
	static const char wanted[] =
		"offset,size,kind,field,bits,line,line_last,mark,samples,writes,threads,hitm\n"
		"0,4,field,lock,,0,0,,0,0,,\n"
		"4,4,hole,,,0,0,,,,,\n"
		"8,48,field,slots,,0,0,,25,25,1,25\n"
		"8,8,field,slots[].a,,0,0,,0,0,,\n"
		"16,8,hole,,,0,0,,,,,\n"
		"24,8,field,slots[].b,,0,0,,25,25,1,25\n"
		"56,12,field,tail,3-4,0,1,straddles,10,0,1,0\n"
		"68,4,padding,,,1,1,,,,,\n";

	alter(types);
	ck_assert_int_eq(run("type 1 --format csv --columns offset,size,kind,field,bits,line,"
			     "line_last,mark,samples,writes,threads,hitm"),
			 0);
	ck_assert_str_eq(output, wanted);
	ck_assert(says(messages, "1 object on lines that two threads touched, beginning at +0x0"));
	ck_assert_int_eq(run("type pool"), 1);
	ck_assert(says(messages, "2 types have the name pool: 1 (72 bytes in /bin/prog), 4 (8"));
	ck_assert_int_eq(run("type pool --dso other --format csv --columns field,samples"), 0);
	ck_assert_str_eq(output, "field,samples\nother,0\n");
	ck_assert_int_eq(run("type pool --dso prog --tid 19 --format csv --columns samples"), 0);
	ck_assert_str_eq(output, "samples\n0\n\n0\n0\n\n0\n10\n\n");
	/* a type within another */
	ck_assert_int_eq(run("type slot --format csv --columns field,samples,cost_share"), 0);
	ck_assert_str_eq(output, "field,samples,cost_share\na,0,\n,,\nb,25,0.082\n");
	/* where objects begin in the middle of a line, borders are elsewhere */
	alter("UPDATE data_field SET start = 4064, addr = addr - 32;"
	      "UPDATE access SET addr = addr - 32");
	ck_assert_int_eq(run("type 1 --format csv --columns field,line,line_last,mark"), 0);
	ck_assert(says(output, "slots,0,1,\nslots[].a,0,0,\n,0,0,\nslots[].b,0,0,\n"));
	ck_assert(says(output, "tail,1,1,border\n"));
	ck_assert_int_eq(run("type nothing"), 1);
	ck_assert(says(messages, "no accessed data has the type nothing"));
	ck_assert_int_eq(run("type"), 1);
	/* a type that contains itself ends */
	alter("UPDATE field SET member_id = 1, size = 72 WHERE type_id IN (1, 2)");
	ck_assert_int_eq(run("type 1"), 0);
}
END_TEST

START_TEST(test_hostile_names)
{
	ck_assert_int_eq(run("pairs --format csv --columns b_function,a_function"), 0);
	ck_assert_str_eq(output, "b_function,a_function\n"
				 "'=cmd()\\x0a\\xe2\\x80\\xae\\xff,arrive|*x*\n");
	ck_assert_int_eq(run("pairs --format md --columns a_function"), 0);
	ck_assert(says(output, "| arrive\\|\\*x\\* |"));
	ck_assert_int_eq(run("sql [SELECT comm FROM thread] --format tsv"), 0);
	ck_assert_str_eq(output, "comm\n'=1+1\n\\x1b[31mred\n");
	ck_assert_int_eq(run("sql [SELECT -5 AS n]  --format csv"), 0);
	ck_assert_str_eq(output, "n\n-5\n");
}
END_TEST

START_TEST(test_health)
{
	ck_assert_int_eq(run("--trace 1 health --format csv --columns name,count,first_offset"), 0);
	ck_assert(says(output, "lost_records,7,4096\n"));
	ck_assert(says(output, "symbols_missing,30,\n"));
	ck_assert(says(output, "memory_samples,30,\n"));
	ck_assert(says(output, "not_measurable,0,\n"));
	ck_assert_int_eq(run("health"), 0);
	ck_assert(says(messages, "trace 2: cycles"));
	ck_assert(says(output, "perf c2c record"));
}
END_TEST

START_TEST(test_mem_bound)
{
	ck_assert_int_eq(run("mem-bound --format csv --columns function,share,mem_bound"), 0);
	ck_assert_str_eq(output, "function,share,mem_bound\narrive|*x*,0.6,\n");
	ck_assert(says(messages, "load_latency_share = by latency"));
}
END_TEST

START_TEST(test_listing_options)
{
	ck_assert_int_eq(run("traces --sort samples:desc --limit 1 --format csv --columns id"), 0);
	ck_assert_str_eq(output, "id\n1\n");
	ck_assert(says(messages, "only the first trace is shown"));
	ck_assert_int_eq(run("traces --columns nmae"), 1);
	ck_assert(says(messages, "did you mean name"));
	ck_assert_int_eq(run("traces --format xml"), 1);
	ck_assert_int_eq(run("traces --limit -1"), 1);
	ck_assert_int_eq(run("line 1034 --pid 1-"), 1);
	ck_assert_int_eq(run("traces --color always"), 0);
	ck_assert_int_eq(run("--trace nine top-lines"), 1);
	ck_assert_int_eq(run("paris"), 1);
	ck_assert(says(messages, "did you mean pairs"));
	ck_assert_int_eq(run("traces --help"), 0);
	ck_assert(says(output, "Usage: fsquery traces"));
	ck_assert(says(output, "--min-samples=N"));
	ck_assert(!says(output, "--pid"));
	ck_assert(!says(output, "--kernel"));
	ck_assert_int_eq(run("line --help"), 0);
	ck_assert(says(output, "--pid=LIST"));
	ck_assert(!says(output, "--time"));
}
END_TEST

START_TEST(test_arm_cores)
{
	static const char wanted[] = "id,cpu\n"
				     "1,\n"
				     "2,\n"
				     "3,Neoverse N1\n"
				     "4,\"Neoverse V2, MIDR 0x410fffe0\"\n"
				     "5,0x00000000990f0010\n"
				     "6,Box\n"
				     "7,HiSilicon TSV110 (Kunpeng 920)\n";

	alter("INSERT INTO trace (id, name, sha256, bytes, tool_version, options, arch, "
	      "cpu_description, cpuid, line_size, line_size_source, complete, samples, "
	      "sample_records, spe_records, memory_samples) SELECT column1, 'n' || column1, "
	      "column1, 1, '0', '{}', 'aarch64', column2, column3, 64, 'assumed', 1, 0, 0, 0, 0 "
	      "FROM (VALUES (3, NULL, '0x00000000413fd0c1'), (4, NULL, '0x00000000410fd4f0'), "
	      "(5, NULL, '0x00000000990f0010'), (6, 'Box', '0x00000000413fd0c1'), "
	      "(7, NULL, NULL));"
	      "INSERT INTO cpu (trace_id, cpu, midr) VALUES (4, 0, 0x410fffe0), "
	      "(4, 1, 0x410fd4f0), (4, 2, 0x411fd4f1), (5, 0, 0), (7, 0, 0x481fd010)");
	ck_assert_int_eq(run("traces --format csv --columns id,cpu"), 0);
	ck_assert_str_eq(output, wanted);
}
END_TEST

START_TEST(test_sql_limits)
{
	ck_assert_int_eq(run("sql [WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
			     "SELECT count(*) FROM c] --time-limit 1"),
			 1);
	ck_assert(says(messages, "time limit"));
	ck_assert_int_eq(run("sql [SELECT 1; SELECT 2]"), 1);
	ck_assert_int_eq(run("sql [DELETE FROM trace]"), 1);
	ck_assert_int_eq(run("sql [ATTACH 'x' AS y]"), 1);
	ck_assert_int_eq(run("sql [CREATE TEMP TABLE t (x)]"), 1);
	ck_assert_int_eq(run("sql [PRAGMA journal_mode = WAL]"), 1);
	ck_assert_int_eq(run("sql [SELECT load_extension('x')]"), 1);
	ck_assert_int_eq(run("sql [SELECT hex(zeroblob(20000000))]"), 1);
	ck_assert_int_eq(run("sql [SELEC]"), 1);
	ck_assert_int_eq(run("sql [SELECT 1 AS a, 2 AS a; -- end] --format ndjson"), 0);
	ck_assert_str_eq(output, "{\"a\":1,\"a:1\":2}\n");
	ck_assert_int_eq(run("--trace cycles sql [SELECT samples FROM traces WHERE id = :trace]"
			     " --format csv"),
			 0);
	ck_assert_str_eq(output, "samples\n8\n");
}
END_TEST

/* Every view runs, and every column of it is described. */
START_TEST(test_views)
{
	for (const struct fs_view *view = fs_schema_views; view->name; view++) {
		char words[128];
		char *names;

		snprintf(words, sizeof(words), "sql [SELECT * FROM %s] --format tsv", view->name);
		ck_assert_msg(run(words) == 0, "%s: %s", view->name, messages);
		names = strndup(output, strcspn(output, "\n") + 1);
		for (char *tab = names; (tab = strchr(tab, '\t'));)
			*tab = '\n';
		snprintf(words, sizeof(words), "views %s --format tsv --columns column",
			 view->name);
		ck_assert_int_eq(run(words), 0);
		ck_assert(says(output, "column\n\n"));
		ck_assert_str_eq(output + strlen("column\n\n"), names);
		free(names);
	}
}
END_TEST

START_TEST(test_schema)
{
	ck_assert_int_eq(run("schema trace --format csv --columns table,kind"), 0);
	ck_assert(says(output, "table,kind\ntrace,content\n"));
	ck_assert_int_eq(run("schema op --ddl"), 0);
	ck_assert(says(output, "CREATE TABLE op ("));
}
END_TEST

/* The same trace after another one, with all ids shifted. */
START_TEST(test_digest)
{
	char *first;
	char other[160];

	ck_assert_int_eq(run("--trace one digest"), 0);
	first = strdup(output);
	snprintf(other, sizeof(other), "%s/shifted.db", directory);
	create(other,
	       "DELETE FROM trace WHERE id = 2; DELETE FROM event WHERE id = 2;"
	       "UPDATE trace SET id = 5, name = 'again';"
	       "UPDATE event SET id = 9, trace_id = 5; UPDATE space SET id = id + 40, trace_id = 5;"
	       "UPDATE thread SET id = id + 7, trace_id = 5; UPDATE dso SET id = 3, trace_id = 5;"
	       "UPDATE function SET id = id + 10, dso_id = 3;"
	       "UPDATE code SET id = id + 20, dso_id = 3, function_id = function_id + 10, trace_id "
	       "= 5;"
	       "UPDATE access SET trace_id = 5, space_id = 41, event_id = 9, code_id = code_id + "
	       "20, "
	       "thread_id = thread_id + 7; UPDATE line_total SET trace_id = 5, space_id = space_id "
	       "+ 40;"
	       "UPDATE line_finding SET trace_id = 5, space_id = 41;"
	       "UPDATE pair_finding SET trace_id = 5, space_id = 41, a_code_id = 21, b_code_id = "
	       "22, "
	       "a_function_id = 11, b_function_id = 12;"
	       "UPDATE mem_bound_finding SET trace_id = 5, function_id = 11, dso_id = 3;"
	       "UPDATE code_total SET trace_id = 5, event_id = 9;"
	       "UPDATE loss SET trace_id = 5;");
	strcpy(path, other);
	ck_assert_int_eq(run("digest"), 0);
	ck_assert_str_eq(output, first);
	free(first);
}
END_TEST

/* Findings are made again, and the raw rows stay. */
START_TEST(test_analyze)
{
	ck_assert_int_eq(run("analyze"), 0);
	ck_assert(says(messages, "findings made again"));
	ck_assert_int_eq(
		run("sql [SELECT count(*) AS n FROM parameter WHERE trace_id = 2] --format csv"),
		0);
	ck_assert(!says(output, "n\n0\n"));
	ck_assert_int_eq(run("--trace nine analyze"), 1);
	ck_assert_int_eq(run("sql [SELECT count(*) AS n FROM access] --format csv"), 0);
	ck_assert_str_eq(output, "n\n3\n");
}
END_TEST

static bool mentions(const char *page, const char *format, const char *word)
{
	char text[100];

	snprintf(text, sizeof(text), format, word);
	return says(page, text);
}

/* Health of trace 3, a capture of one event on this machine: role, name, type and sample_type of
 * the event; config, config1 and config2. */
static void event_health(const char *machine, const char *event, const char *config,
			 const char *more)
{
	char sql[2000];

	snprintf(sql, sizeof(sql),
		 "DELETE FROM event WHERE trace_id = 3; DELETE FROM trace WHERE id = 3;"
		 "INSERT INTO trace (id, name, sha256, bytes, tool_version, options, arch, cpuid, "
		 "line_size, line_size_source, first_ns, last_ns, complete, samples, "
		 "sample_records, spe_records, memory_samples) VALUES (3, 'spe', 'ef', 1, '0', "
		 "'{}', %s, 64, 'assumed', 5, 9, 1, 10, 0, 10, 10);"
		 "INSERT INTO event (id, trace_id, idx, read_format, flags, precise_ip, "
		 "sample_period, samples, period_sum, role, name, type, sample_type, config, "
		 "config1, config2) VALUES (3, 3, 0, 0, 0, 0, 256, 10, 2560, %s, %s);%s",
		 machine, event, config, more);
	alter(sql);
	ck_assert_int_eq(run("--trace 3 health --format csv --columns severity,name,scope,count,"
			     "description"),
			 0);
}

/* The same of an SPE capture on an arm64 machine. */
static void spe_health(const char *config, const char *cpuid, const char *more)
{
	char machine[100];

	snprintf(machine, sizeof(machine), "'aarch64', '%s'", cpuid);
	event_health(machine, "'spe', 'spe', 44, 0", config, more);
}

#define FULL_SPE "0x600010003, 0, 0"
#define KUNPENG_920 "0x00000000480fd010"

START_TEST(test_sufficiency)
{
	spe_health(FULL_SPE, KUNPENG_920, "");
	ck_assert(says(output, "info,sampling,spe,256,\"SPE looked at one operation in 256, with"));
	ck_assert(!says(output, "no_jitter"));
	ck_assert(!says(output, "filter,"));
	ck_assert(!says(output, "erratum"));
	ck_assert(!says(output, "better_recording"));
	spe_health("0x600000003, 0, 0", KUNPENG_920, "");
	ck_assert(says(output, "loss,no_jitter,spe"));
	ck_assert(says(output, "jitter=1/ -c 1024 -a"));
	spe_health("0x600010003, 0, 40", "0x00000000413fd0c1", "");
	ck_assert(says(output, "loss,latency_filter,spe,40,"));
	ck_assert(says(output, "info,erratum,Neoverse N1 1694299"));
	ck_assert(says(output, "better_recording"));
	spe_health("0x200010003, 8, 0", KUNPENG_920, "");
	ck_assert(says(output, "let through (loads, events 0x8)"));
	spe_health("0x700010003, 0, 0", KUNPENG_920, "");
	ck_assert(!says(output, "event_filter"));
	spe_health(FULL_SPE, KUNPENG_920,
		   "INSERT INTO fact VALUES (3, 'records.11', '40');"
		   "INSERT INTO loss VALUES (3, 'aux_collision', 'loss', 'cpu 1', 6, 0, NULL, ''), "
		   "(3, 'aux_collision', 'loss', 'cpu 2', 4, 0, NULL, ''), "
		   "(3, 'aux_truncated', 'loss', 'cpu 1', 2, 0, NULL, ''), "
		   "(3, 'aux_blind', 'loss', 'cpu 1', 3000, 0, NULL, '');");
	ck_assert(says(output, "loss,collision_rate,spe,10,\"10 of 40 AUX records (25.0 %)"));
	ck_assert(says(output, "loss,blind_time,CPUs,3000,"));
	ck_assert(says(output, "-m ,16M -c 4096 -a"));
	spe_health("0x600010003, 0, 40", KUNPENG_920, "");
	ck_assert(says(output, "info,latency_meaning,spe,0,\"SPE: cycles from dispatch"));
	/* nobody is known: all that SPE saw counts for no line */
	ck_assert(says(output, "loss,attribution,threads,0,\"0.0 % of the samples"));
}
END_TEST

#define INTEL "'x86_64', 'GenuineIntel,6,143,8'"
#define ZEN_3 "'x86_64', 'AuthenticAMD,25,1,1'"
#define ZEN_4 "'x86_64', 'AuthenticAMD,25,17,1'"
#define ZEN_5 "'x86_64', 'AuthenticAMD,26,2,1'"
#define POWER "'ppc64le', '0x004e1202'"
#define WITH_WEIGHT "(1 << 14)"

/* What PEBS, IBS and Power asked for, and what their latencies are. */
static const struct {
	const char *machine, *event, *config;
	const char *row; /* in the answer; with a leading !: not in it */
} other_events[] = {
	{ INTEL, "'load', 'mem-loads,ldlat=30', 4, " WITH_WEIGHT, "0x1cd, 30, 0",
	  "loss,latency_filter,\"mem-loads,ldlat=30\",30,\"Only loads of at least 30 cycles" },
	{ INTEL, "'load', 'cpu_atom/mem-loads,ldlat=50/P', 10, " WITH_WEIGHT, "0x5d0, 50, 0",
	  "loss,latency_filter,\"cpu_atom/mem-loads,ldlat=50/P\",50," },
	{ INTEL, "'load', 'mem-loads', 4, " WITH_WEIGHT, "0x1cd, 0, 0", "!latency_filter" },
	{ INTEL, "'store', 'mem-stores', 4, " WITH_WEIGHT, "0x2cd, 30, 0", "!latency_filter" },
	{ INTEL, "'load', 'mem-loads', 4, " WITH_WEIGHT, "0x1cd, 0, 0",
	  "info,latency_meaning,mem-loads,0,\"Intel: cycles from the load's dispatch" },
	{ INTEL, "'load', 'mem-loads', 4, (1 << 24)", "0x1cd, 0, 0", "Intel: cycles from" },
	{ INTEL, "'load', 'mem-loads', 4, (1 << 15)", "0x1cd, 0, 0", "!latency_meaning" },
	{ INTEL, "'cycles', 'cycles', 0, " WITH_WEIGHT, "0, 0, 0", "!latency_meaning" },
	{ POWER, "'load', 'mem-loads', 4, (1 << 24)", "0, 0, 0", "Power: cycles of the load" },
	{ "'x86_64', NULL", "'load', 'mem-loads', 4, " WITH_WEIGHT, "0, 0, 0",
	  "what CPU this is the file does not say" },
	{ ZEN_5, "'ibs_op', 'ibs_op//', 11, " WITH_WEIGHT, "0, 256, 0",
	  "loss,latency_filter,ibs_op//,256,\"Only loads that missed L1D of at least 256" },
	{ ZEN_5, "'ibs_op', 'ibs_op//', 11, " WITH_WEIGHT, "0, 0, 1", "!latency_filter" },
	{ ZEN_5, "'ibs_op', 'ibs_op//', 11, " WITH_WEIGHT, "0x90000, 0, 0",
	  "loss,event_filter,ibs_op//" },
	{ ZEN_5, "'ibs_op', 'ibs_op//', 11, " WITH_WEIGHT, "0x80000, 0, 0", "!event_filter" },
	{ ZEN_5, "'ibs_op', 'ibs_op//', 11, " WITH_WEIGHT, "0, 0, 0", "AMD IBS: cycles until" },
	{ ZEN_3, "'ibs_op', 'ibs_op//', 11, " WITH_WEIGHT, "0, 0, 0",
	  "loss,not_measurable,HITM,0" },
	{ "'x86_64', 'AuthenticAMD,25,33,0'", "'ibs_op', 'ibs_op//', 11, 0", "0, 0, 0",
	  "loss,not_measurable,HITM,0" },
	{ ZEN_4, "'ibs_op', 'ibs_op//', 11, " WITH_WEIGHT, "0, 0, 0", "!not_measurable,HITM" },
	{ ZEN_5, "'ibs_op', 'ibs_op//', 11, " WITH_WEIGHT, "0, 0, 0", "!not_measurable,HITM" },
	{ "'x86_64', 'AuthenticAMD,25,97,2'", "'ibs_op', 'ibs_op//', 11, 0", "0, 0, 0",
	  "!not_measurable,HITM" },
};

START_TEST(test_sufficiency_of_other_events)
{
	const char *row = other_events[_i].row;

	event_health(other_events[_i].machine, other_events[_i].event, other_events[_i].config, "");
	if (*row == '!' ? says(output, row + 1) : !says(output, row))
		ck_abort_msg("%s in %s", row, output);
}
END_TEST

/* Which sources a capture has says what its CPU tells. */
START_TEST(test_sufficiency_of_sources)
{
	static const char total[] = "DELETE FROM code_total; INSERT INTO code_total (trace_id, "
				    "event_id, op, source, samples, period, latency_samples, "
				    "latency_sum) SELECT 3, 3, 1, id, 5, 5, 5, 50 FROM "
				    "source_class WHERE name IN (%s);";
	char sql[400];

	snprintf(sql, sizeof(sql), total, "'l1', 'l1_miss', 'l3_miss'");
	spe_health(FULL_SPE, KUNPENG_920, sql);
	ck_assert(says(output, "loss,not_measurable,transfers between cores,10,"));
	ck_assert(!says(output, "not_measurable,data source"));
	snprintf(sql, sizeof(sql), total, "'l1', 'l1_miss', 'peer_local'");
	spe_health(FULL_SPE, "0x00000000410fd400", sql);
	ck_assert(!says(output, "transfers between cores,"));
	ck_assert(says(output, "info,not_measurable,HITM,5,"));
	spe_health(FULL_SPE, "0x00000000480fd060", sql);
	ck_assert(!says(output, "not_measurable,HITM"));
	snprintf(sql, sizeof(sql), total, "'none'");
	spe_health(FULL_SPE, KUNPENG_920, sql);
	ck_assert(says(output, "not_measurable,data source"));
	ck_assert(!says(output, "transfers between cores,"));
	alter("INSERT INTO line_total VALUES (3, 1, 8192, 2, 9, 0, 9, 0, 0, 9, 90)");
	ck_assert_int_eq(run("--trace 3 health --format csv --columns name,scope"), 0);
	ck_assert(says(output, "not_measurable,readers\n"));
	ck_assert(!says(output, "not_measurable,writers\n"));
}
END_TEST

START_TEST(test_c2c_stats)
{
	alter("INSERT INTO sample (event_id, access, raw, addr) VALUES "
	      "(1, 1 | (7 << 4), 2 | (66 << 5) | (16 << 19), 64), (1, 2, 4 | (34 << 5), 64), "
	      "(1, 1 | (11 << 4), 2, NULL), (2, 1, NULL, 64)");
	ck_assert_int_eq(run("--trace 1 c2c-stats --format csv"), 0);
	ck_assert(says(output, "name,perf_value,fsight_value,explanation\nTotal records,3,3,\n"));
	ck_assert(says(output,
		       "Load LLC hit,1,0,\"perf has 1 more: local HITMs, which perf adds to "
		       "this row.\"\n"));
	ck_assert(says(output, "Load Local HITM,1,1,\n"));
	ck_assert(says(output, "Load Local DRAM,0,0,"));
	ck_assert(says(output, "LLC Misses to Local DRAM,,0,\n"));
	ck_assert(says(output, "No Page Map Rejects,2,0,"));
	ck_assert_int_eq(run("--trace 2 c2c-stats --perf-version 6.1 --format csv"), 0);
	ck_assert(says(output, "Unable to parse data source,1,0,\"perf has 1 more: accesses of an "
			       "event without a data_src word"));
	ck_assert_int_eq(run("c2c-stats --perf-version 5"), 1);
	ck_assert(says(messages, "known are 6.1 and 7.3"));
}
END_TEST

/* Options of every command, which fsquery(1) describes. */
static bool in_main_page(const char *name)
{
	static const char *const names[] = { "color", "format",	 "columns",  "sort",
					     "limit", "version", "usage",    "help",
					     "thin",  "seed",	 "line-size" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return false;
}

/* Every command has a man page, and it names every column and filter that --help names. */
START_TEST(test_man_pages)
{
	for (const struct fs_command *command = fs_commands; command->name; command++) {
		char words[64];
		char page[20000] = "";
		char name[64];
		FILE *file;

		snprintf(words, sizeof(words), "docs/man/fsquery-%s.1", command->name);
		file = fopen(words, "r");
		ck_assert_msg(file != NULL, "%s is missing", words);
		ck_assert_uint_gt(fread(page, 1, sizeof(page) - 1, file), 100);
		fclose(file);
		snprintf(words, sizeof(words), "%s --help", command->name);
		ck_assert_int_eq(run(words), 0);
		for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n")) {
			if ((!strncmp(line, "  * ", 4) || !strncmp(line, "    ", 4)) &&
			    sscanf(line + 4, "%63[a-z0-9_]", name) == 1)
				ck_assert_msg(mentions(page, ".It Cm %s", name), "%s: %s",
					      command->name, name);
			if (sscanf(line, "      --%63[a-z-]", name) == 1 && !in_main_page(name))
				ck_assert_msg(mentions(page, ".It Fl -%s", name), "%s: %s",
					      command->name, name);
		}
	}
}
END_TEST

START_TEST(test_foreign)
{
	alter("PRAGMA application_id = 1");
	ck_assert_int_eq(run("traces"), 2);
	ck_assert(says(messages, "not an fsight database"));
	alter("PRAGMA application_id = 1718839156; PRAGMA user_version = 99");
	ck_assert_int_eq(run("traces"), 2);
	ck_assert(says(messages, "schema version 99"));
	ck_assert_int_eq(truncate(path, 50), 0);
	ck_assert_int_eq(run("traces"), 2);
	unlink(path);
	ck_assert_int_eq(run("traces"), 2);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(run("traces"), 2);
	unlink(path);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	ck_assert_int_eq(run("traces"), 2);
	ck_assert(says(messages, "symbolic link"));
}
END_TEST

START_TEST(test_altered_schema)
{
	static const char *const changes[] = {
		"DROP VIEW traces; CREATE TABLE traces (id)",
		"DROP TABLE loss; CREATE VIEW loss AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
		"SELECT "
		"x FROM c) SELECT x AS trace_id FROM c",
		"CREATE TRIGGER t AFTER INSERT ON loss BEGIN DELETE FROM trace; END",
		"CREATE TABLE zzz (x)",
		"DROP VIEW samples",
		"CREATE INDEX aaa ON sample (hex(addr))",
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		snprintf(path, sizeof(path), "%s/altered%zu.db", directory, i);
		create(path, changes[i]);
		ck_assert_msg(run("traces") == 2, "%s", changes[i]);
		ck_assert_msg(says(messages, "not as this fsight makes it"), "%s", messages);
	}
}
END_TEST

START_TEST(test_wal)
{
	alter("PRAGMA journal_mode = WAL");
	ck_assert_int_eq(run("traces"), 2);
	ck_assert(says(messages, "WAL"));
}
END_TEST

/* What a killed import leaves: pages written, the journal beside them. */
static void interrupt(void)
{
	char command[640];
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert(!sqlite3_exec(
		db,
		"PRAGMA cache_size = 2; BEGIN; UPDATE trace SET name = 'torn' || id;"
		"INSERT INTO fact SELECT 1, hex(randomblob(3000)), value FROM "
		"(WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c "
		"LIMIT 200) SELECT value FROM c)",
		NULL, NULL, NULL));
	sqlite3_db_cacheflush(db);
	snprintf(command, sizeof(command), "cp %s %s.2 && cp %s-journal %s.2-journal", path, path,
		 path, path);
	ck_assert_int_eq(system(command), 0);
	sqlite3_close(db);
	strcat(path, ".2");
}

START_TEST(test_journal_rolled_back)
{
	interrupt();
	ck_assert_int_eq(run("traces --format csv --columns name"), 0);
	ck_assert_str_eq(output, "name\none\ncycles\n");
	ck_assert(says(messages, "restored the last complete state"));
	ck_assert_int_eq(run("traces --format csv --columns name"), 0);
	ck_assert_str_eq(messages, "");
}
END_TEST

START_TEST(test_super_journal_refused)
{
	static const char tail[] =
		"/tmp/other\0\0\0\1\0\0\0\012\0\0\0\0\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
	char journal[160];
	FILE *file;

	interrupt();
	snprintf(journal, sizeof(journal), "%s-journal", path);
	file = fopen(journal, "a");
	ck_assert_uint_eq(fwrite(tail, 1, sizeof(tail) - 1, file), sizeof(tail) - 1);
	fclose(file);
	ck_assert_int_eq(run("traces"), 2);
	ck_assert(says(messages, "super-journal"));
	unlink(journal);
	ck_assert_int_eq(symlink("/dev/zero", journal), 0);
	ck_assert_int_eq(run("traces"), 2);
}
END_TEST

/* An import that runs has a journal too, but holds its lock: that is no debris. */
START_TEST(test_running_import)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert(!sqlite3_exec(db, "BEGIN IMMEDIATE; UPDATE trace SET name = 'half'", NULL, NULL,
				NULL));
	ck_assert_int_eq(run("traces --format csv --columns name"), 0);
	ck_assert_str_eq(output, "name\none\ncycles\n");
	ck_assert(!sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
	sqlite3_close(db);
	ck_assert_int_eq(run("traces --format csv --columns name"), 0);
	ck_assert_str_eq(output, "name\nhalf\nhalf\n");
}
END_TEST

START_TEST(test_output_error)
{
	char *argv[] = { (char *)"fsquery", (char *)"--db", path, (char *)"traces", NULL };
	FILE *full = fopen("/dev/full", "w");
	FILE *err = fopen("/dev/null", "w");

	ck_assert_int_eq(fs_query_main(4, argv, full, err, NULL), 4);
	fclose(err);
	fclose(full);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_top_lines,
		test_top_lines_all,
		test_headings,
		test_arm_cores,
		test_quiet_trace,
		test_line,
		test_pairs,
		test_types,
		test_type,
		test_hostile_names,
		test_health,
		test_sufficiency,
		test_sufficiency_of_sources,
		test_c2c_stats,
		test_mem_bound,
		test_listing_options,
		test_sql_limits,
		test_views,
		test_schema,
		test_man_pages,
		test_analyze,
		test_digest,
		test_foreign,
		test_altered_schema,
		test_wal,
		test_journal_rolled_back,
		test_super_journal_refused,
		test_running_import,
		test_output_error,
	};
	Suite *suite = suite_create("query");
	TCase *tcase = tcase_create("commands");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_set_timeout(tcase, 60);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tcase_add_test(tcase, tests[i]);
	tcase_add_loop_test(tcase, test_sufficiency_of_other_events, 0,
			    sizeof(other_events) / sizeof(*other_events));
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
