/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of SPE data source tables: every core, every code, and what events stand in for. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/memsrc/memsrc.h"
#include "ingest/spe/spe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define MIDR(implementer, part) ((uint64_t)(implementer) << 24 | (uint64_t)(part) << 4)
#define N1 MIDR(0x41, 0xd0c)
#define N3 MIDR(0x41, 0xd8e)
#define AC4 MIDR(0xc0, 0xac4)
#define HIP12 MIDR(0x48, 0xd06)
#define TSV110 MIDR(0x48, 0xd01)

static const struct {
	uint64_t midr;
	const char *name;
	enum fs_certainty certainty;
} cores[] = {
	{ N1, "common", FS_CERTAINTY_HARDWARE },
	{ 0x00000000410fd0c0, "common", FS_CERTAINTY_HARDWARE }, /* architecture bits set */
	{ 0x00000000413fd0c1, "common", FS_CERTAINTY_HARDWARE }, /* another variant, revision */
	{ MIDR(0x41, 0xd49), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd40), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd4f), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd84), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd4d), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd81), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd89), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd87), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd4b), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd44), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd4c), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd4e), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd82), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x41, 0xd85), "common", FS_CERTAINTY_HARDWARE },
	{ MIDR(0x4e, 0x010), "common", FS_CERTAINTY_HARDWARE },
	{ N3, "common", FS_CERTAINTY_ASSUMED },
	{ MIDR(0x41, 0xd83), "common", FS_CERTAINTY_ASSUMED },
	{ MIDR(0x6d, 0xd49), "common", FS_CERTAINTY_ASSUMED },
	{ AC4, "ampereone", FS_CERTAINTY_HARDWARE },
	{ MIDR(0xc0, 0xac3), "ampereone", FS_CERTAINTY_ASSUMED },
	{ HIP12, "hisilicon", FS_CERTAINTY_HARDWARE },
	{ 0, NULL, FS_CERTAINTY_NONE },
	{ TSV110, NULL, FS_CERTAINTY_NONE },
	{ MIDR(0x48, 0xd02), NULL, FS_CERTAINTY_NONE },
	{ MIDR(0x41, 0xd46), NULL, FS_CERTAINTY_NONE },
	{ MIDR(0x41, 0xd80), NULL, FS_CERTAINTY_NONE },
	{ MIDR(0x41, 0xd47), NULL, FS_CERTAINTY_NONE },
	{ MIDR(0x41, 0xd48), NULL, FS_CERTAINTY_NONE },
	{ MIDR(0x51, 0x001), NULL, FS_CERTAINTY_NONE },
};

START_TEST(test_core)
{
	const struct fs_memsrc_family *family = fs_memsrc_spe_family(cores[_i].midr);

	if (!cores[_i].name) {
		ck_assert_ptr_null(family);
		return;
	}
	ck_assert_ptr_nonnull(family);
	ck_assert_str_eq(family->name, cores[_i].name);
	ck_assert_int_eq(family->certainty, cores[_i].certainty);
}
END_TEST

static const struct {
	uint64_t midr;
	uint16_t code;
	enum fs_source source;
	int dirty;
} codes[] = {
	{ N1, 0x0, FS_SOURCE_L1, 0 },
	{ N1, 0x8, FS_SOURCE_L2, 0 },
	{ N1, 0x9, FS_SOURCE_PEER_LOCAL, -1 },
	{ N1, 0xa, FS_SOURCE_PEER_LOCAL, -1 },
	{ N1, 0xb, FS_SOURCE_L3, 0 },
	{ N1, 0xc, FS_SOURCE_PEER_LOCAL, -1 },
	{ N1, 0xd, FS_SOURCE_PEER_REMOTE, -1 },
	{ N1, 0xe, FS_SOURCE_DRAM_LOCAL, 0 },
	{ AC4, 0x0, FS_SOURCE_PEER_LOCAL, -1 },
	{ AC4, 0x3, FS_SOURCE_L3, 0 },
	{ AC4, 0x5, FS_SOURCE_PEER_REMOTE, -1 },
	{ AC4, 0x7, FS_SOURCE_DRAM_LOCAL, 0 },
	{ AC4, 0x8, FS_SOURCE_L1, 0 },
	{ AC4, 0x9, FS_SOURCE_L2, 0 },
	{ HIP12, 0, FS_SOURCE_PEER_LOCAL, 0 },
	{ HIP12, 1, FS_SOURCE_HITM_LOCAL, 1 },
	{ HIP12, 2, FS_SOURCE_L3, 0 },
	{ HIP12, 3, FS_SOURCE_L3, 1 },
	{ HIP12, 4, FS_SOURCE_PEER_LOCAL, 0 },
	{ HIP12, 5, FS_SOURCE_HITM_LOCAL, 1 },
	{ HIP12, 6, FS_SOURCE_PEER_REMOTE, 0 },
	{ HIP12, 7, FS_SOURCE_HITM_REMOTE, 1 },
	{ HIP12, 8, FS_SOURCE_DRAM_LOCAL, 0 },
	{ HIP12, 9, FS_SOURCE_DRAM_REMOTE, 0 },
	{ HIP12, 13, FS_SOURCE_IO, 0 },
	{ HIP12, 16, FS_SOURCE_L2, 0 },
	{ HIP12, 17, FS_SOURCE_L2, 1 },
	{ HIP12, 18, FS_SOURCE_L1, 0 },
};

/* The code decides, for loads, atomics and those stores that have one, whatever events say. */
START_TEST(test_code)
{
	static const enum fs_op ops[] = { FS_OP_LOAD, FS_OP_STORE, FS_OP_ATOMIC };
	const struct fs_memsrc_family *family = fs_memsrc_spe_family(codes[_i].midr);
	struct fs_memsrc result;
	size_t i;

	for (i = 0; i < COUNT(ops); i++) {
		result = fs_memsrc_from_spe(family, true, codes[_i].code,
					    FS_SPE_EVENT_RETIRED | FS_SPE_EVENT_L1D_ACCESS, ops[i]);
		ck_assert_int_eq(result.op, ops[i]);
		ck_assert_int_eq(result.source, codes[_i].source);
		ck_assert_int_eq(result.certainty, FS_CERTAINTY_HARDWARE);
		ck_assert_uint_eq(result.flags, codes[_i].dirty == 1 ? FS_ACCESS_DIRTY : 0);
	}
	ck_assert_int_eq(family->codes[codes[_i].code].dirty, codes[_i].dirty);
}
END_TEST

/* Every other code is unknown: the list above has all that a table knows. */
START_TEST(test_unknown_codes)
{
	static const uint64_t midrs[] = { N1, AC4, HIP12 };
	const struct fs_memsrc_family *family = fs_memsrc_spe_family(midrs[_i]);
	size_t known = 0, listed = 0;
	unsigned int code;

	for (code = 0; code <= UINT16_MAX; code++) {
		struct fs_memsrc result = fs_memsrc_from_spe(family, true, (uint16_t)code,
							     FS_SPE_EVENT_L1D_REFILL, FS_OP_LOAD);

		if (result.source == FS_SOURCE_UNKNOWN)
			ck_assert_int_eq(result.certainty, FS_CERTAINTY_NONE);
		else
			known++;
	}
	for (size_t i = 0; i < COUNT(codes); i++)
		listed += codes[i].midr == midrs[_i];
	ck_assert_uint_eq(known, listed);
}
END_TEST

START_TEST(test_assumed)
{
	struct fs_memsrc result =
		fs_memsrc_from_spe(fs_memsrc_spe_family(N3), true, 0xe, 0, FS_OP_LOAD);

	ck_assert_int_eq(result.source, FS_SOURCE_DRAM_LOCAL);
	ck_assert_int_eq(result.certainty, FS_CERTAINTY_ASSUMED);
}
END_TEST

/* Events that make a table's class sharper. */
static const struct {
	uint64_t midr;
	uint16_t code;
	uint64_t events;
	enum fs_source source;
} refinements[] = {
	{ N1, 0xe, FS_SPE_EVENT_REMOTE, FS_SOURCE_DRAM_REMOTE },
	{ N1, 0xc, FS_SPE_EVENT_REMOTE, FS_SOURCE_PEER_REMOTE },
	{ N1, 0xb, FS_SPE_EVENT_REMOTE, FS_SOURCE_L3 },
	{ N1, 0x9, FS_SPE_EVENT_SNOOPED, FS_SOURCE_PEER_LOCAL },
	{ N1, 0x9, FS_SPE_EVENT_SNOOPED | FS_SPE_EVENT_MODIFIED, FS_SOURCE_HITM_LOCAL },
	{ N1, 0xd, FS_SPE_EVENT_SNOOPED | FS_SPE_EVENT_MODIFIED, FS_SOURCE_HITM_REMOTE },
	{ N1, 0xc, FS_SPE_EVENT_REMOTE | FS_SPE_EVENT_MODIFIED, FS_SOURCE_HITM_REMOTE },
	{ N1, 0x0, FS_SPE_EVENT_SNOOPED | FS_SPE_EVENT_MODIFIED, FS_SOURCE_L1 },
	{ N1, 0xe, FS_SPE_EVENT_SNOOPED | FS_SPE_EVENT_MODIFIED, FS_SOURCE_DRAM_LOCAL },
	{ HIP12, 17, FS_SPE_EVENT_MODIFIED, FS_SOURCE_L2 },
};

START_TEST(test_refinement)
{
	struct fs_memsrc result =
		fs_memsrc_from_spe(fs_memsrc_spe_family(refinements[_i].midr), true,
				   refinements[_i].code, refinements[_i].events, FS_OP_LOAD);

	ck_assert_int_eq(result.source, refinements[_i].source);
	ck_assert_int_eq(result.certainty, FS_CERTAINTY_HARDWARE);
}
END_TEST

#define L1A FS_SPE_EVENT_L1D_ACCESS
#define L1R FS_SPE_EVENT_L1D_REFILL
#define L2A FS_SPE_EVENT_L2D_ACCESS
#define L2M FS_SPE_EVENT_L2D_MISS
#define LLCA FS_SPE_EVENT_LLC_ACCESS
#define LLCM FS_SPE_EVENT_LLC_MISS
#define LFB FS_SPE_EVENT_RECENTLY_FETCHED
#define SNOOPED FS_SPE_EVENT_SNOOPED
#define MODIFIED FS_SPE_EVENT_MODIFIED
#define REMOTE FS_SPE_EVENT_REMOTE

static const struct {
	enum fs_op op;
	uint64_t events;
	enum fs_source source;
} inferences[] = {
	{ FS_OP_LOAD, 0, FS_SOURCE_NONE },
	{ FS_OP_LOAD, FS_SPE_EVENT_RETIRED, FS_SOURCE_NONE },
	{ FS_OP_LOAD, REMOTE, FS_SOURCE_NONE },
	{ FS_OP_LOAD, L1A, FS_SOURCE_L1 },
	{ FS_OP_LOAD, L1A | L1R, FS_SOURCE_L1_MISS },
	{ FS_OP_LOAD, L1R, FS_SOURCE_L1_MISS },
	{ FS_OP_LOAD, L1A | L1R | LFB, FS_SOURCE_LFB },
	{ FS_OP_LOAD, L1A | L1R | L2A, FS_SOURCE_L2 },
	{ FS_OP_LOAD, L1A | L1R | L2A | L2M, FS_SOURCE_L2_MISS },
	{ FS_OP_LOAD, L1A | L1R | L2A | L2M | LLCA, FS_SOURCE_L3 },
	{ FS_OP_LOAD, L1A | L1R | LLCA | LLCM, FS_SOURCE_L3_MISS }, /* E2: 0x31e */
	{ FS_OP_LOAD, L1A | L1R | LLCA | LLCM | REMOTE, FS_SOURCE_L3_MISS },
	{ FS_OP_LOAD, L1A | SNOOPED, FS_SOURCE_L1 },
	{ FS_OP_LOAD, L1A | L1R | SNOOPED, FS_SOURCE_PEER_LOCAL },
	{ FS_OP_LOAD, L1A | L1R | SNOOPED | MODIFIED, FS_SOURCE_HITM_LOCAL },
	{ FS_OP_LOAD, L1A | L1R | SNOOPED | REMOTE, FS_SOURCE_PEER_REMOTE },
	{ FS_OP_LOAD, L1A | L1R | LLCA | LLCM | SNOOPED | MODIFIED | REMOTE,
	  FS_SOURCE_HITM_REMOTE },
	{ FS_OP_LOAD, L1A | L1R | MODIFIED, FS_SOURCE_L1_MISS },
	{ FS_OP_ATOMIC, L1A, FS_SOURCE_L1 },
	{ FS_OP_STORE, 0, FS_SOURCE_NONE },
	{ FS_OP_STORE, L1A, FS_SOURCE_L1 },
	{ FS_OP_STORE, L1A | L1R, FS_SOURCE_L1_MISS },
	{ FS_OP_STORE, L1A | L2A, FS_SOURCE_L2 },
	{ FS_OP_STORE, L1A | L1R | L2M, FS_SOURCE_L2_MISS },
	{ FS_OP_STORE, L1A | LLCA, FS_SOURCE_L3 },
	{ FS_OP_STORE, L1A | LLCA | LLCM, FS_SOURCE_L3_MISS },
};

/* Without a data source packet no table is asked; code 0 is "L1" or "peer" in all of them. */
START_TEST(test_inference)
{
	static const uint64_t midrs[] = { 0, N1, AC4, HIP12 };
	enum fs_certainty certainty =
		inferences[_i].source == FS_SOURCE_NONE ? FS_CERTAINTY_NONE : FS_CERTAINTY_INFERRED;
	size_t i;

	for (i = 0; i < COUNT(midrs); i++) {
		struct fs_memsrc result =
			fs_memsrc_from_spe(fs_memsrc_spe_family(midrs[i]), false, 0,
					   inferences[_i].events, inferences[_i].op);

		ck_assert_int_eq(result.source, inferences[_i].source);
		ck_assert_int_eq(result.certainty, certainty);
	}
}
END_TEST

/* A code for a core without a table. */
START_TEST(test_no_table)
{
	const struct fs_memsrc_family *family = fs_memsrc_spe_family(TSV110);
	struct fs_memsrc result = fs_memsrc_from_spe(family, true, 0, 0, FS_OP_LOAD);

	ck_assert_int_eq(result.source, FS_SOURCE_UNKNOWN);
	ck_assert_int_eq(result.certainty, FS_CERTAINTY_NONE);
	result = fs_memsrc_from_spe(family, true, 0, L1A | L1R, FS_OP_LOAD);
	ck_assert_int_eq(result.source, FS_SOURCE_L1_MISS);
	ck_assert_int_eq(result.certainty, FS_CERTAINTY_INFERRED);
}
END_TEST

START_TEST(test_no_memory)
{
	static const enum fs_op ops[] = { FS_OP_UNKNOWN, FS_OP_BRANCH, FS_OP_OTHER };
	size_t i;

	for (i = 0; i < COUNT(ops); i++) {
		struct fs_memsrc result =
			fs_memsrc_from_spe(fs_memsrc_spe_family(N1), true, 0xe, L1A, ops[i]);

		ck_assert_int_eq(result.source, FS_SOURCE_NONE);
		ck_assert_int_eq(result.certainty, FS_CERTAINTY_NONE);
		ck_assert_int_eq(result.op, ops[i]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spe_source");
	TCase *cases = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(cases, test_core, 0, COUNT(cores));
	tcase_add_loop_test(cases, test_code, 0, COUNT(codes));
	tcase_add_loop_test(cases, test_unknown_codes, 0, 3);
	tcase_add_test(cases, test_assumed);
	tcase_add_loop_test(cases, test_refinement, 0, COUNT(refinements));
	tcase_add_loop_test(cases, test_inference, 0, COUNT(inferences));
	tcase_add_test(cases, test_no_table);
	tcase_add_test(cases, test_no_memory);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
