/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf c2c's rules, word by word, and what is mapped. The counters of whole captures are compared
 * with perf itself in tests/cli/oracle.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query/database.h"
#include "query/perf_c2c.h"
#include "query/perf_maps.h"
#include "schema/schema.h"

enum { COUNTED_MAX = 5 };

/* Rows that a word adds to besides RECORDS, and LOADS or STORES. */
struct rule {
	const char *what;
	uint64_t word;
	int rows[COUNTED_MAX]; /* ended by RECORDS */
};

#define LOAD 2
#define STORE 4
#define LVL(bits) ((uint64_t)(bits) << 5)
#define SNOOP(bits) ((uint64_t)(bits) << 19)
#define REMOTE (UINT64_C(1) << 37)
#define PEER (UINT64_C(2) << 38)
#define HOPS(n) ((uint64_t)(n) << 43)

/* Kept from ../reference/data-src.md section 2.1 */
static const struct rule rules[] = {
	{ "L1 hit", LOAD | LVL(0xa), { FS_C2C_L1_HIT } },
	{ "locked", LOAD | LVL(0xa) | 2 << 24, { FS_C2C_LOCKS, FS_C2C_L1_HIT } },
	{ "L3 HITM stands in two rows",
	  LOAD | LVL(0x42) | SNOOP(0x10),
	  { FS_C2C_LOCAL_HITM, FS_C2C_LLC_HIT } },
	{ "L3 peer", LOAD | LVL(0x42) | PEER, { FS_C2C_LLC_HIT, FS_C2C_LOCAL_PEER } },
	{ "Intel remote HITM by the remote bit: memory as well",
	  LOAD | LVL(2) | SNOOP(0x10) | REMOTE,
	  { FS_C2C_REMOTE_DRAM, FS_C2C_EXCLUSIVE, FS_C2C_LLC_MISSES, FS_C2C_REMOTE_HITM,
	    FS_C2C_LLC_MISSES } },
	{ "hops make the remote bit void", LOAD | LVL(2) | SNOOP(0x10) | REMOTE | HOPS(1), { 0 } },
	{ "AMD near CCX",
	  LOAD | LVL(0x402) | SNOOP(0x10) | REMOTE | HOPS(1),
	  { FS_C2C_REMOTE_HITM, FS_C2C_LLC_MISSES } },
	{ "HIT goes before HITM",
	  LOAD | LVL(0x400) | SNOOP(0x14),
	  { FS_C2C_REMOTE_HIT, FS_C2C_LLC_MISSES } },
	{ "local memory",
	  LOAD | LVL(0x82) | SNOOP(4),
	  { FS_C2C_LOCAL_DRAM, FS_C2C_LLC_MISSES, FS_C2C_SHARED } },
	{ "a level without HIT", LOAD | LVL(0x80), { 0 } },
	{ "Lion Cove L3 miss with HITM", LOAD | LVL(0x44) | SNOOP(0x10), { FS_C2C_LOAD_MISS } },
	{ "lvl_num alone", LOAD | LVL(2) | UINT64_C(14) << 33, { 0 } },
	{ "load and store is a load", LOAD | STORE | LVL(0xa), { FS_C2C_L1_HIT } },
	{ "store", STORE | LVL(0xa), { FS_C2C_STORE_L1_HIT } },
	{ "store miss", STORE | LVL(0xc), { FS_C2C_STORE_L1_MISS } },
	{ "store without a level", STORE | LVL(1), { FS_C2C_STORE_NO_LEVEL } },
	{ "store at L2", STORE | LVL(0x22), { 0 } },
	{ "prefetch", 8 | LVL(0xa), { FS_C2C_NOT_PARSED } },
	{ "nothing", 0, { FS_C2C_NOT_PARSED } },
};

START_TEST(words_are_counted_by_bits)
{
	const struct rule *rule = &rules[_i];
	struct fs_c2c_counts wanted = { .rows[FS_C2C_RECORDS] = 1 };

	wanted.rows[FS_C2C_LOADS] = !!(rule->word & LOAD);
	wanted.rows[FS_C2C_STORES] = !(rule->word & LOAD) && rule->word & STORE;
	for (int i = 0; i < COUNTED_MAX && rule->rows[i]; i++)
		wanted.rows[rule->rows[i]]++;
	for (int version = FS_PERF_6_1; version <= FS_PERF_7_3; version++) {
		struct fs_c2c_counts got;

		fs_perf_count(version, rule->word, true, true, &got);
		for (int row = 0; row < FS_C2C_ROW_MAX; row++)
			ck_assert_msg(got.rows[row] == wanted.rows[row], "%s: row %d: %d not %d",
				      rule->what, row, got.rows[row], wanted.rows[row]);
	}
}
END_TEST

START_TEST(only_newer_perf_sees_a_hitm_at_l2)
{
	uint64_t word = LOAD | LVL(0x22) | SNOOP(0x10);
	struct fs_c2c_counts got;

	fs_perf_count(FS_PERF_6_1, word, true, true, &got);
	ck_assert_int_eq(got.rows[FS_C2C_L2_HIT], 1);
	ck_assert_int_eq(got.rows[FS_C2C_LOCAL_HITM], 0);
	fs_perf_count(FS_PERF_7_3, word, true, false, &got);
	ck_assert_int_eq(got.rows[FS_C2C_L2_HIT], 0);
	ck_assert_int_eq(got.rows[FS_C2C_LOCAL_HITM], 1);
	ck_assert_int_eq(got.rows[FS_C2C_NO_MAP], 1);
	fs_perf_count(FS_PERF_7_3, word, false, false, &got);
	ck_assert_int_eq(got.rows[FS_C2C_LOAD_NO_ADDRESS], 1);
	ck_assert_int_eq(got.rows[FS_C2C_LOCAL_HITM] + got.rows[FS_C2C_NO_MAP], 0);
}
END_TEST

enum { N1 = 0x410fd0c0, V2 = 0x410fd4f0, KUNPENG_920 = 0x480fd010, HIP12 = 0x480fd060 };

static const struct made {
	const char *what;
	uint32_t midr;
	struct fs_perf_record record;
	uint64_t words[2]; /* of 6.1 and 7.3; 0: no sample */
} made[] = {
	{ "peer core",
	  N1,
	  { .source = 9, .load = true },
	  { LOAD | LVL(0x22) | PEER, LOAD | LVL(0x22) | PEER } },
	{ "remote socket",
	  N1,
	  { .source = 0xd, .load = true },
	  { LOAD | LVL(0x400) | REMOTE | PEER, LOAD | LVL(1) | REMOTE | PEER } },
	{ "no packet, refill and LLC miss: still code 0",
	  N1,
	  { .events = 0x20c, .load = true },
	  { LOAD | LVL(0xa), LOAD | LVL(0xa) } },
	{ "store",
	  N1,
	  { .events = 0x4, .store = true },
	  { STORE | LVL(1) | SNOOP(1), STORE | LVL(1) | SNOOP(1) } },
	{ "unknown code: 6.1 leaves all open",
	  N1,
	  { .events = 0x4, .source = 3, .load = true },
	  { LOAD, LOAD | LVL(0xa) } },
	{ "a core that only 7.3 knows",
	  V2,
	  { .events = 0x10c, .source = 0xe, .load = true },
	  { LOAD | LVL(0x42), LOAD | LVL(0x82) } },
	{ "a core that none knows",
	  KUNPENG_920,
	  { .events = 0x70c, .load = true },
	  { LOAD | LVL(0x44) | REMOTE, LOAD | LVL(0x44) | REMOTE } },
	{ "HiSilicon, modified in a peer",
	  HIP12,
	  { .events = 0xc, .source = 1, .load = true },
	  { LOAD | LVL(0xc), LOAD | LVL(0x22) | SNOOP(0x10) | PEER } },
	{ "snooped and modified",
	  KUNPENG_920,
	  { .events = 0xa0000c, .load = true },
	  { LOAD | LVL(0xc), LOAD | LVL(0xc) | SNOOP(0x10) } },
	{ "vector arithmetic", N1, { .simd = true }, { 0, 1 | LVL(0xa) } },
	{ "a branch", N1, { .events = 0x42 }, { 0, 0 } },
};

START_TEST(spe_records_make_the_words_of_that_perf)
{
	const struct made *test = &made[_i];

	for (int version = FS_PERF_6_1; version <= FS_PERF_7_3; version++) {
		uint64_t word = 0;
		bool is = fs_perf_data_src(version, fs_perf_table_of(version, test->midr),
					   &test->record, &word);

		ck_assert_msg(is == (test->words[version] != 0), "%s: %d", test->what, is);
		ck_assert_msg(word == test->words[version], "%s: perf %d makes 0x%llx", test->what,
			      version, (unsigned long long)word);
	}
}
END_TEST

/* Process 7 maps 0x1000 at 10 and 0x3000 at 50; it forks 8 at 40, which execs at 60. */
static const char maps_content[] =
	"INSERT INTO space (id, trace_id, kind, pid, start_ns, parent_id) VALUES "
	"(11, 1, 'process', 7, NULL, NULL), (12, 1, 'process', 8, 40, 11), "
	"(13, 1, 'process', 8, 60, NULL), (14, 1, 'kernel', NULL, NULL, NULL);"
	"INSERT INTO map (trace_id, pid, time_ns, addr, length, pgoff, data) VALUES "
	"(1, 7, 10, 4096, 8192, 0, 0), (1, 7, 50, 12288, 4096, 0, 0), "
	"(1, 7, 55, 4096, 4096, 0, 0), (1, 8, 70, 20480, 4096, 0, 0), "
	"(1, NULL, NULL, -8192, 4096, 0, 0), (2, 7, NULL, 0, 65536, 0, 0);";

START_TEST(mappings_stay_and_are_inherited)
{
	char path[] = "/tmp/fsight-c2c-test.XXXXXX";
	struct fs_query query = { .path = path };
	struct fs_perf_maps maps = { 0 };
	struct fs_error error = { 0 };
	int file = mkstemp(path);
	int64_t parent;
	int64_t child;

	ck_assert_int_ge(file, 0);
	close(file);
	ck_assert_int_eq(sqlite3_open(path, &query.db), SQLITE_OK);
	ck_assert_int_eq(fs_schema_create(query.db, &error), 0);
	ck_assert_int_eq(sqlite3_exec(query.db,
				      "PRAGMA foreign_keys = 0; INSERT INTO trace (id, name, "
				      "sha256, bytes, tool_version, options, line_size, "
				      "line_size_source, complete, samples, sample_records, "
				      "spe_records, memory_samples) VALUES (1, 'a', '', 0, '', "
				      "'{}', 64, '', 1, 0, 0, 0, 0)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(query.db, maps_content, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_msg(!fs_perf_maps_load(&maps, &query, 1, &error), "%s", error.text);
	parent = fs_perf_maps_process(&maps, 11);
	child = fs_perf_maps_process(&maps, 12);
	ck_assert_int_eq(fs_perf_maps_process(&maps, 13), child);
	ck_assert_int_eq(fs_perf_maps_process(&maps, 14), FS_PERF_NOBODY);
	ck_assert_int_eq(fs_perf_maps_process(&maps, 0), FS_PERF_NOBODY);
	ck_assert(!fs_perf_maps_cover(&maps, parent, 0x1000, 9));
	ck_assert(fs_perf_maps_cover(&maps, parent, 0x1000, 10));
	ck_assert(fs_perf_maps_cover(&maps, parent, 0x2fff, 10));
	ck_assert(!fs_perf_maps_cover(&maps, parent, 0x3000, 49));
	ck_assert(fs_perf_maps_cover(&maps, parent, 0x3fff, 50));
	ck_assert(!fs_perf_maps_cover(&maps, parent, 0x4000, INT64_MAX));
	ck_assert(!fs_perf_maps_cover(&maps, parent, 0xfff, INT64_MAX));
	ck_assert(fs_perf_maps_cover(&maps, child, 0x1000, 65));
	ck_assert(!fs_perf_maps_cover(&maps, child, 0x3000, 65));
	ck_assert(fs_perf_maps_cover(&maps, child, 0x5000, 70));
	ck_assert(!fs_perf_maps_cover(&maps, FS_PERF_NOBODY, 0x1000, 65));
	ck_assert(fs_perf_maps_cover(&maps, FS_PERF_KERNEL, UINT64_MAX - 8191, 0));
	fs_perf_maps_free(&maps);
	sqlite3_close(query.db);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c2c_stats");
	TCase *tests = tcase_create("perf");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tests, words_are_counted_by_bits, 0, sizeof(rules) / sizeof(rules[0]));
	tcase_add_test(tests, only_newer_perf_sees_a_hitm_at_l2);
	tcase_add_loop_test(tests, spe_records_make_the_words_of_that_perf, 0,
			    sizeof(made) / sizeof(made[0]));
	tcase_add_test(tests, mappings_stay_and_are_inherited);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
