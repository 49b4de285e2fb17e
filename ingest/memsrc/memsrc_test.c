/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of data_src words, one for each that a vendor's table can give, and of weights. Words are
 * stated by field, as ../reference/data-src.md prints them.
 */
#include <check.h>
#include <stdlib.h>

#include "ingest/memsrc/memsrc.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Fields at their places in the word. */
#define OP(value) ((uint64_t)(value))
#define LVL(value) ((uint64_t)(value) << 5)
#define SNOOP(value) ((uint64_t)(value) << 19)
#define LOCK(value) ((uint64_t)(value) << 24)
#define TLB(value) ((uint64_t)(value) << 26)
#define NUM(value) ((uint64_t)(value) << 33)
#define REM ((uint64_t)1 << 37)
#define SNOOPX(value) ((uint64_t)(value) << 38)
#define HOPS(value) ((uint64_t)(value) << 43)
#define REGION(value) ((uint64_t)(value) << 46)

#define LD OP(2)
#define ST OP(4)
#define L_NA LVL(1)
#define HIT LVL(2)
#define MISS LVL(4)
#define L1 LVL(8)
#define LFB LVL(0x10)
#define L2 LVL(0x20)
#define L3 LVL(0x40)
#define LOC LVL(0x80)
#define RAM1 LVL(0x100)
#define RAM2 LVL(0x200)
#define CCE1 LVL(0x400)
#define CCE2 LVL(0x800)
#define L_IO LVL(0x1000)
#define L_UNC LVL(0x2000)
#define S_NA SNOOP(1)
#define S_NONE SNOOP(2)
#define S_HIT SNOOP(4)
#define S_MISS SNOOP(8)
#define S_HITM SNOOP(0x10)
#define FWD SNOOPX(1)
#define PEER SNOOPX(2)
#define N_L1 NUM(1)
#define N_L2 NUM(2)
#define N_L3 NUM(3)
#define N_L4 NUM(4)
#define N_MHB NUM(5)
#define N_MSC NUM(6)
#define N_L0 NUM(7)
#define N_UNC NUM(8)
#define N_CXL NUM(9)
#define N_IO NUM(10)
#define N_ANY NUM(11)
#define N_LFB NUM(12)
#define N_RAM NUM(13)
#define N_PMEM NUM(14)
#define N_NA NUM(15)

#define INTEL FS_MEMSRC_INTEL
#define AMD FS_MEMSRC_AMD
#define POWER FS_MEMSRC_POWER
#define ARM FS_MEMSRC_ARM
#define ANY FS_MEMSRC_GENERIC

static const struct {
	uint64_t word;
	enum fs_memsrc_machine machine;
	enum fs_source source;
} sources[] = {
	/* nothing given */
	{ 0, ANY, FS_SOURCE_NONE },
	{ 0x5080021, ANY, FS_SOURCE_NONE },
	{ 0x1e05080021, ANY, FS_SOURCE_NONE },
	{ 0x11e05080021, INTEL, FS_SOURCE_NONE },
	{ LD | N_NA | S_NA, INTEL, FS_SOURCE_NONE }, /* Lion Cove, reserved codes */
	{ LD | HIT | N_NA, ANY, FS_SOURCE_UNKNOWN },
	{ LD | MISS, ANY, FS_SOURCE_UNKNOWN },

	/* Sandy Bridge to Broadwell, codes 0 to F */
	{ LD | MISS | N_L3 | S_NA, INTEL, FS_SOURCE_L3_MISS },
	{ LD | HIT | L1 | N_L1 | S_NONE, INTEL, FS_SOURCE_L1 },
	{ LD | HIT | LFB | N_LFB | S_NONE, INTEL, FS_SOURCE_LFB },
	{ LD | HIT | L2 | N_L2 | S_NONE, INTEL, FS_SOURCE_L2 },
	{ LD | HIT | L3 | N_L3 | S_NONE, INTEL, FS_SOURCE_L3 },
	{ LD | HIT | L3 | N_L3 | S_MISS, INTEL, FS_SOURCE_L3 },
	{ LD | HIT | L3 | N_L3 | S_HIT, INTEL, FS_SOURCE_L3_SNOOP_HIT },
	{ LD | HIT | L3 | N_L3 | S_HITM, INTEL, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | CCE1 | N_L3 | REM | S_HIT, INTEL, FS_SOURCE_FORWARD_REMOTE },
	{ LD | HIT | CCE1 | N_L3 | REM | S_HITM, INTEL, FS_SOURCE_HITM_REMOTE },
	{ LD | HIT | LOC | N_RAM | S_HIT, INTEL, FS_SOURCE_DRAM_LOCAL },
	{ LD | HIT | RAM1 | N_L3 | REM | S_HIT, INTEL, FS_SOURCE_DRAM_REMOTE },
	{ LD | HIT | LOC | N_RAM | S_NONE | S_MISS, INTEL, FS_SOURCE_DRAM_LOCAL },
	{ LD | HIT | RAM1 | N_RAM | REM | S_NONE | S_MISS, INTEL, FS_SOURCE_DRAM_REMOTE },
	{ LD | HIT | L_IO | N_NA | S_NONE, INTEL, FS_SOURCE_IO },
	{ LD | HIT | L_UNC | N_NA | S_NONE, INTEL, FS_SOURCE_UNCACHED },

	/* the same from kernels without mem_lvl_num and mem_remote */
	{ LD | HIT | L1 | S_NONE, INTEL, FS_SOURCE_L1 },
	{ LD | HIT | LFB | S_NONE, INTEL, FS_SOURCE_LFB },
	{ LD | HIT | L3 | S_HITM, INTEL, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | CCE1 | S_HIT, INTEL, FS_SOURCE_FORWARD_REMOTE },
	{ LD | HIT | CCE1 | S_HITM, INTEL, FS_SOURCE_HITM_REMOTE },
	{ LD | HIT | RAM1 | S_HIT, INTEL, FS_SOURCE_DRAM_REMOTE },

	/* Skylake servers and later */
	{ LD | HIT | N_PMEM | S_HIT, INTEL, FS_SOURCE_PMEM },
	{ LD | HIT | N_L4 | S_HIT, INTEL, FS_SOURCE_MSC },
	{ LD | HIT | N_PMEM | REM | S_HIT, INTEL, FS_SOURCE_PMEM },
	{ LD | HIT | N_L4 | REM | S_HIT, INTEL, FS_SOURCE_MSC },
	{ LD | HIT | N_RAM | REM | S_NONE, INTEL, FS_SOURCE_DRAM_REMOTE },
	{ LD | HIT | N_ANY | REM | FWD, INTEL, FS_SOURCE_FORWARD_REMOTE },
	{ LD | HIT | N_ANY | REM | S_HITM, INTEL, FS_SOURCE_HITM_REMOTE },

	/* Gracemont 8; Crestmont 7, 8, A to D */
	{ LD | HIT | L3 | N_L3 | FWD, INTEL, FS_SOURCE_L3_SNOOP_HIT },
	{ LD | HIT | LOC | N_RAM | S_NONE, INTEL, FS_SOURCE_DRAM_LOCAL },
	{ LD | HIT | N_RAM | REM | FWD, INTEL, FS_SOURCE_FORWARD_REMOTE },
	{ LD | HIT | N_RAM | REM | S_HITM, INTEL, FS_SOURCE_HITM_REMOTE },

	/* Lion Cove 6, F, 10 */
	{ LD | HIT | N_MHB | S_NONE, INTEL, FS_SOURCE_L2_MHB },
	{ LD | MISS | L3 | N_L3 | S_HITM, INTEL, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | N_MSC | S_NONE, INTEL, FS_SOURCE_MSC },

	/* Panther Cove and Arctic Wolf */
	{ LD | HIT | N_L0 | S_NONE, INTEL, FS_SOURCE_L1 },
	{ LD | HIT | L2 | N_L2 | S_HIT, INTEL, FS_SOURCE_PEER_LOCAL },
	{ LD | HIT | L2 | N_L2 | S_HITM, INTEL, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | L_UNC | N_UNC, INTEL, FS_SOURCE_UNCACHED },
	{ LD | HIT | L3 | N_L3 | REGION(2) | S_NONE, INTEL, FS_SOURCE_L3 },
	{ LD | HIT | L3 | N_L3 | REGION(2) | S_HITM, INTEL, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | L3 | N_L3 | REGION(3) | S_HIT | FWD, INTEL, FS_SOURCE_L3_SNOOP_HIT },
	{ LD | HIT | L3 | N_L3 | REGION(4), INTEL, FS_SOURCE_IO },
	{ LD | HIT | L3 | N_L3 | REGION(5) | S_HIT, INTEL, FS_SOURCE_L3_SNOOP_HIT },
	{ LD | HIT | L3 | N_L3 | CCE1 | REM | REGION(5) | S_HIT, INTEL, FS_SOURCE_FORWARD_REMOTE },
	{ LD | HIT | L3 | N_L3 | CCE1 | REM | REGION(6) | S_HITM, INTEL, FS_SOURCE_HITM_REMOTE },
	{ LD | N_NA | REGION(7), INTEL, FS_SOURCE_IO },
	{ LD | HIT | LOC | N_RAM | REGION(8), INTEL, FS_SOURCE_DRAM_LOCAL },
	{ LD | HIT | RAM1 | N_RAM | REM | REGION(15), INTEL, FS_SOURCE_DRAM_REMOTE },
	{ LD | REGION(9), INTEL, FS_SOURCE_DRAM_LOCAL },
	{ LD | REGION(16), INTEL, FS_SOURCE_NONE }, /* not defined */
	{ LD | REGION(31), INTEL, FS_SOURCE_NONE },

	/* Intel stores */
	{ ST | HIT | L1, INTEL, FS_SOURCE_L1 },
	{ ST | MISS | L1, INTEL, FS_SOURCE_L1_MISS },
	{ ST | MISS | L2 | N_L2, ANY, FS_SOURCE_L2_MISS },
	{ ST | MISS | LFB, ANY, FS_SOURCE_L1_MISS },

	/* AMD before Zen 4 */
	{ LD | HIT | L3 | CCE1 | N_ANY | HOPS(1) | S_NA, AMD, FS_SOURCE_L3 },
	{ LD | HIT | L3 | CCE1 | N_ANY | HOPS(1) | S_HITM, AMD, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | CCE2 | N_ANY | REM | HOPS(2) | S_NA, AMD, FS_SOURCE_PEER_REMOTE },
	{ LD | HIT | CCE2 | N_ANY | REM | HOPS(2) | S_HITM, AMD, FS_SOURCE_HITM_REMOTE },
	{ LD | HIT | LOC | N_RAM | S_NA, AMD, FS_SOURCE_DRAM_LOCAL },
	{ LD | HIT | RAM1 | N_RAM | REM | HOPS(2) | S_NA, AMD, FS_SOURCE_DRAM_REMOTE },
	{ LD | HIT | L_IO | N_IO | S_NA, AMD, FS_SOURCE_IO },

	/* Zen 4 and later */
	{ LD | HIT | L3 | N_L3 | S_NA, AMD, FS_SOURCE_L3 },
	{ LD | HIT | L3 | N_L3 | S_HITM, AMD, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | CCE1 | N_ANY | REM | HOPS(1) | S_NA, AMD, FS_SOURCE_PEER_LOCAL },
	{ LD | HIT | CCE1 | N_ANY | REM | HOPS(1) | S_HITM, AMD, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | CCE2 | N_ANY | REM | HOPS(2) | S_NA, AMD, FS_SOURCE_PEER_REMOTE },
	{ LD | HIT | CCE2 | N_ANY | REM | HOPS(2) | S_HITM, AMD, FS_SOURCE_HITM_REMOTE },
	{ LD | N_PMEM | S_NA, AMD, FS_SOURCE_PMEM },
	{ LD | N_PMEM | REM | HOPS(2), AMD, FS_SOURCE_PMEM },
	{ LD | N_CXL | S_NA, AMD, FS_SOURCE_CXL },
	{ LD | N_CXL | REM | HOPS(2), AMD, FS_SOURCE_CXL },
	{ LD | HIT | L_UNC | N_UNC, AMD, FS_SOURCE_UNCACHED },
	{ LD | HIT | LFB | N_LFB, AMD, FS_SOURCE_LFB },
	{ ST | HIT | L2 | N_L2, AMD, FS_SOURCE_L2 },
	{ ST | L_NA | N_NA | S_NA, AMD, FS_SOURCE_NONE },

	/* Power */
	{ LD | HIT | L1 | N_L1 | S_HIT, POWER, FS_SOURCE_L1 },
	{ LD | HIT | L2 | N_L2 | S_HIT, POWER, FS_SOURCE_L2 },
	{ LD | HIT | L3 | N_L3 | S_HIT, POWER, FS_SOURCE_L3 },
	{ LD | HIT | LOC | N_RAM, POWER, FS_SOURCE_DRAM_LOCAL },
	{ LD | N_PMEM, POWER, FS_SOURCE_PMEM },
	{ LD | HIT | RAM1 | N_RAM | REM | HOPS(3), POWER, FS_SOURCE_DRAM_REMOTE },
	{ LD | HIT | RAM2 | N_RAM | REM | HOPS(4), POWER, FS_SOURCE_DRAM_REMOTE },
	{ LD | HIT | L2 | N_L2 | REM | HOPS(1) | S_HIT, POWER, FS_SOURCE_PEER_LOCAL },
	{ LD | HIT | L2 | N_L2 | REM | HOPS(1) | S_HITM, POWER, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | L3 | N_L3 | REM | HOPS(1) | S_HIT, POWER, FS_SOURCE_L3_SNOOP_HIT },
	{ LD | HIT | CCE1 | N_ANY | REM | HOPS(3) | S_HIT, POWER, FS_SOURCE_FORWARD_REMOTE },
	{ LD | HIT | CCE2 | N_ANY | REM | HOPS(4) | S_HITM, POWER, FS_SOURCE_HITM_REMOTE },
	{ LD | MISS | L1, POWER, FS_SOURCE_L1_MISS },

	/* Power8 and 9, and all before Linux 5.17: CCE1 is on the chip, and there are no hops */
	{ LD | HIT | CCE1 | S_HIT, POWER, FS_SOURCE_PEER_LOCAL },
	{ LD | HIT | CCE1 | S_HITM, POWER, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | CCE2 | S_HIT, POWER, FS_SOURCE_FORWARD_REMOTE },
	{ LD | HIT | CCE2 | S_HITM, POWER, FS_SOURCE_HITM_REMOTE },
	{ LD | HIT | LOC | S_HIT, POWER, FS_SOURCE_DRAM_LOCAL },
	{ LD | HIT | RAM1 | S_HIT, POWER, FS_SOURCE_DRAM_REMOTE },
	{ LD | HIT | RAM2 | S_HIT, POWER, FS_SOURCE_DRAM_REMOTE },
	{ LD | HIT | N_PMEM | REM, POWER, FS_SOURCE_PMEM },

	/* synthesised by perf from SPE: the common table, then HiSilicon's, then events */
	{ LD | HIT | L1 | N_L1 | S_NONE, ARM, FS_SOURCE_L1 },
	{ LD | HIT | L2 | N_L2 | S_NONE, ARM, FS_SOURCE_L2 },
	{ LD | HIT | L2 | N_L2 | PEER, ARM, FS_SOURCE_PEER_LOCAL },
	{ LD | HIT | L3 | N_L3 | PEER, ARM, FS_SOURCE_PEER_LOCAL },
	{ LD | HIT | L3 | N_L3 | S_HIT, ARM, FS_SOURCE_L3 },
	{ LD | L_NA | N_NA | REM | PEER, ARM, FS_SOURCE_PEER_REMOTE },
	{ LD | HIT | LOC | N_RAM | S_NONE, ARM, FS_SOURCE_DRAM_LOCAL },
	{ LD | HIT | LOC | N_RAM | REM | S_NONE, ARM, FS_SOURCE_DRAM_REMOTE },
	{ LD | HIT | L2 | N_L2 | S_HITM | PEER, ARM, FS_SOURCE_HITM_LOCAL },
	{ LD | HIT | CCE1 | N_L3 | PEER, ARM, FS_SOURCE_PEER_LOCAL },
	{ LD | HIT | CCE1 | N_L3 | PEER, ANY, FS_SOURCE_PEER_LOCAL },
	{ LD | HIT | CCE1 | N_L3 | S_HITM | PEER, ARM, FS_SOURCE_HITM_LOCAL },
	{ LD | CCE2 | N_ANY | REM | PEER, ARM, FS_SOURCE_PEER_REMOTE },
	{ LD | CCE2 | N_ANY | REM | S_HITM | PEER, ARM, FS_SOURCE_HITM_REMOTE },
	{ LD | HIT | RAM1 | N_RAM | REM, ARM, FS_SOURCE_DRAM_REMOTE },
	{ LD | HIT | L_IO | N_IO | S_NONE, ARM, FS_SOURCE_IO },
	{ LD | HIT | LFB | N_LFB, ARM, FS_SOURCE_LFB },
	{ LD | MISS | L3 | N_L3, ARM, FS_SOURCE_L3_MISS },
	{ LD | MISS | L1 | N_L1, ARM, FS_SOURCE_L1_MISS },
	{ ST | L_NA | N_NA | S_NA, ARM, FS_SOURCE_NONE },
};

START_TEST(test_source)
{
	struct fs_memsrc result = fs_memsrc_from_data_src(sources[_i].word, sources[_i].machine);
	enum fs_certainty expected = FS_CERTAINTY_HARDWARE;

	if (result.source == FS_SOURCE_NONE || result.source == FS_SOURCE_UNKNOWN)
		expected = FS_CERTAINTY_NONE;
	else if (sources[_i].machine == ARM)
		expected = FS_CERTAINTY_INFERRED;
	ck_assert_int_eq(result.source, sources[_i].source);
	ck_assert_int_eq(result.certainty, expected);
}
END_TEST

static const struct {
	uint64_t word;
	enum fs_memsrc_machine machine;
	enum fs_op op;
} operations[] = {
	{ 0, ANY, FS_OP_UNKNOWN },
	{ OP(1), ANY, FS_OP_UNKNOWN },
	{ OP(1), AMD, FS_OP_OTHER },
	{ 0, AMD, FS_OP_UNKNOWN },
	{ LD, ANY, FS_OP_LOAD },
	{ ST, ANY, FS_OP_STORE },
	{ LD | ST, ANY, FS_OP_ATOMIC },
	{ LD | LOCK(1), ANY, FS_OP_LOAD },
	{ LD | LOCK(2), ANY, FS_OP_ATOMIC },
	{ ST | LOCK(2), ANY, FS_OP_ATOMIC },
	{ OP(8), ANY, FS_OP_PREFETCH },
	{ OP(0x10), ANY, FS_OP_EXEC },
	{ OP(1) | LOCK(2), ANY, FS_OP_UNKNOWN },
};

START_TEST(test_operation)
{
	struct fs_memsrc result =
		fs_memsrc_from_data_src(operations[_i].word, operations[_i].machine);

	ck_assert_int_eq(result.op, operations[_i].op);
}
END_TEST

#define L1_MISSED (FS_ACCESS_L1_KNOWN | FS_ACCESS_L1_MISS)
#define TLB_MISSED (FS_ACCESS_TLB_KNOWN | FS_ACCESS_TLB_MISS)

static const struct {
	uint64_t word;
	uint32_t flags;
} flags[] = {
	{ 0, 0 },
	{ 0x5080021, 0 },
	{ LD | HIT | L1 | N_L1, FS_ACCESS_L1_KNOWN },
	{ LD | HIT | L2 | N_L2, L1_MISSED },
	{ LD | HIT | L3 | N_L3 | S_HITM, L1_MISSED },
	{ ST | MISS | L1, L1_MISSED },
	{ LD | HIT | L_UNC, 0 },
	{ LD | HIT | L_IO, 0 },
	{ LD | LOCK(2), FS_ACCESS_LOCKED },
	{ LD | TLB(2 | 8 | 0x10), FS_ACCESS_TLB_KNOWN }, /* Intel: no second-level miss */
	{ LD | TLB(4 | 0x10), TLB_MISSED },
	{ LD | TLB(1), 0 },
	{ LD | TLB(2 | 0x20), FS_ACCESS_TLB_KNOWN }, /* Arm */
	{ LD | TLB(4 | 0x20), TLB_MISSED },
	{ LD | TLB(2 | 0x10), FS_ACCESS_TLB_KNOWN }, /* AMD: second-level hit */
};

START_TEST(test_flags)
{
	ck_assert_uint_eq(fs_memsrc_from_data_src(flags[_i].word, ANY).flags, flags[_i].flags);
}
END_TEST

/* Any word gives values that the packed column can hold. */
START_TEST(test_any_word)
{
	uint64_t word = 88172645463325252u;
	unsigned int i;

	for (i = 0; i < 1000000; i++) {
		struct fs_memsrc result =
			fs_memsrc_from_data_src(word, (enum fs_memsrc_machine)(i % 5));

		word ^= word << 13;
		word ^= word >> 7;
		word ^= word << 17;
		ck_assert_int_lt(result.source, FS_SOURCE_MAX);
		ck_assert_int_lt(result.op, FS_OP_MAX);
	}
}
END_TEST

START_TEST(test_weight)
{
	struct fs_memsrc_weight weight = fs_memsrc_weight(0x0003000200000001, true);

	ck_assert_uint_eq(weight.latency, 1);
	ck_assert_uint_eq(weight.instruction_latency, 2);
	ck_assert_uint_eq(weight.third, 3);
	ck_assert(!weight.saturated);
	weight = fs_memsrc_weight(UINT64_MAX, true);
	ck_assert_uint_eq(weight.latency, UINT32_MAX);
	ck_assert_uint_eq(weight.instruction_latency, UINT16_MAX);
	ck_assert_uint_eq(weight.third, UINT16_MAX);
	weight = fs_memsrc_weight(0x0003000200000001, false);
	ck_assert_uint_eq(weight.latency, 0x0003000200000001);
	ck_assert_uint_eq(weight.instruction_latency, 0);
	ck_assert_uint_eq(weight.third, 0);
	ck_assert(fs_memsrc_weight(0xffff, false).saturated);
	ck_assert(fs_memsrc_weight(0x0000ffff, true).saturated);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memsrc");
	TCase *cases = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(cases, test_source, 0, COUNT(sources));
	tcase_add_loop_test(cases, test_operation, 0, COUNT(operations));
	tcase_add_loop_test(cases, test_flags, 0, COUNT(flags));
	tcase_add_test(cases, test_any_word);
	tcase_add_test(cases, test_weight);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
