/* SPDX-License-Identifier: GPL-2.0-only */
#include "query/layout_model.h"

#include <check.h>
#include <stdlib.h>

enum { ROUNDS = 200, MAX = 4 * ROUNDS };

/* Two threads that take turns: the first with field a, the second with field b. */
static size_t take_turns(struct fs_layout_access *out, uint16_t a, bool a_writes, uint16_t b,
			 bool b_writes)
{
	for (size_t i = 0; i < ROUNDS; i++) {
		out[2 * i] =
			(struct fs_layout_access){ .field = a, .writes = a_writes, .thread = 1 };
		out[2 * i + 1] =
			(struct fs_layout_access){ .field = b, .writes = b_writes, .thread = 2 };
	}
	return 2 * (size_t)ROUNDS;
}

static const uint64_t one_object[] = { 0x1000 };

static void propose(const struct fs_layout_problem *problem, struct fs_layout *now,
		    struct fs_layout *then, enum fs_layout_means *means)
{
	ck_assert_int_eq(fs_layout_propose(problem, now, then, means), 0);
}

/* A field that is read shares a line with one that is written; the next line has a quiet field of
 * the same size: they change places, and nothing grows. */
START_TEST(test_moves)
{
	static const struct fs_layout_field fields[] = {
		{ "written", 0, 8, 8, 8, false }, { "quiet", 8, 48, 8, 8, false },
		{ "read", 56, 8, 8, 8, false },	  { "spare", 64, 8, 8, 8, false },
		{ "rest", 72, 24, 8, 8, false },
	};
	struct fs_layout_access accesses[MAX];
	struct fs_layout_problem problem = { fields, 5,	       96, 8, 64,  one_object,
					     1,	     accesses, 0,  0, NULL };
	struct fs_layout now;
	struct fs_layout then;
	enum fs_layout_means means;

	problem.access_count = take_turns(accesses, 0, true, 2, false);
	propose(&problem, &now, &then, &means);
	ck_assert_int_eq(means, FS_LAYOUT_MOVE);
	ck_assert_uint_eq(then.size, 96);
	ck_assert_uint_gt(now.false_conflicts, ROUNDS / 2);
	ck_assert_uint_eq(then.false_conflicts, 0);
	ck_assert_uint_ne(then.offset[0] / 64, then.offset[2] / 64);
	for (size_t i = 0; i < 5; i++)
		ck_assert_uint_eq(then.offset[i] % fields[i].align, 0);
}
END_TEST

/* All fields on one line and no room: two get lines of their own. */
START_TEST(test_aligns)
{
	static const struct fs_layout_field fields[] = {
		{ "rest", 0, 52, 4, 4, false },
		{ "a", 52, 4, 4, 4, false },
		{ "b", 56, 4, 4, 4, false },
		{ "c", 60, 4, 4, 4, false },
	};
	struct fs_layout_access accesses[MAX];
	struct fs_layout_problem problem = { fields, 4,	       64, 64, 64,  one_object,
					     1,	     accesses, 0,  0,  NULL };
	struct fs_layout now;
	struct fs_layout then;
	enum fs_layout_means means;

	problem.access_count = take_turns(accesses, 1, true, 2, true);
	propose(&problem, &now, &then, &means);
	ck_assert_int_eq(means, FS_LAYOUT_ALIGN);
	ck_assert_uint_eq(then.false_conflicts, 0);
	ck_assert_uint_le(then.size, 192);
	ck_assert_uint_ne(then.offset[1] / 64, then.offset[2] / 64);
}
END_TEST

/* Slots of an array of 32 bytes, one for each thread: the structure itself is aligned. */
START_TEST(test_array)
{
	static const struct fs_layout_field fields[] = { { "count", 0, 8, 8, 8, false },
							 { "rest", 8, 24, 8, 8, false } };
	static const uint64_t objects[] = { 0x1000, 0x1020 };
	struct fs_layout_access accesses[MAX];
	struct fs_layout_problem problem = {
		fields, 2, 32, 8, 64, objects, 2, accesses, 0, 0, NULL
	};
	struct fs_layout now;
	struct fs_layout then;
	enum fs_layout_means means;

	problem.access_count = take_turns(accesses, 0, true, 0, true);
	for (size_t i = 1; i < problem.access_count; i += 2)
		accesses[i].object = 1;
	propose(&problem, &now, &then, &means);
	ck_assert_int_eq(means, FS_LAYOUT_ALIGN);
	ck_assert_uint_eq(then.size, 64);
	ck_assert_uint_eq(then.align, 64);
	ck_assert_uint_eq(then.false_conflicts, 0);

	/* on the heap, beginning at any multiple of 16: padded by 64 - 16, in steps of 16 */
	problem.unaligned = 16;
	propose(&problem, &now, &then, &means);
	ck_assert_int_eq(means, FS_LAYOUT_ALIGN);
	ck_assert_uint_eq(then.size, 80);
	ck_assert_uint_eq(then.align, 8);
	ck_assert_uint_eq(then.false_conflicts, 0);
}
END_TEST

/* Elements of an array, one for each thread, behind a field of both: each gets a line, if it may.
 */
START_TEST(test_slots)
{
	static const struct fs_layout_field fields[] = { { "total", 0, 8, 8, 8, false },
							 { "per", 8, 56, 8, 8, false } };
	static const bool arrays[] = { false, true };
	struct fs_layout_access accesses[MAX];
	struct fs_layout_problem problem = { fields, 2,	       64, 64, 64,  one_object,
					     1,	     accesses, 0,  0,  NULL };
	struct fs_layout now;
	struct fs_layout then;
	enum fs_layout_means means;

	problem.access_count = take_turns(accesses, 1, true, 1, true);
	for (size_t i = 1; i < problem.access_count; i += 2)
		accesses[i].element = 3;
	propose(&problem, &now, &then, &means);
	ck_assert_int_eq(means, FS_LAYOUT_NOTHING);
	problem.arrays = arrays;
	propose(&problem, &now, &then, &means);
	ck_assert_int_eq(means, FS_LAYOUT_ALIGN);
	ck_assert(then.spread[1] && !then.spread[0]);
	ck_assert_uint_eq(then.size, 8 * 64);
	ck_assert_uint_eq(then.false_conflicts, 0);

	/* the other thread only reads what this one wrote: that is communication */
	for (size_t i = 1; i < problem.access_count; i += 2)
		accesses[i].writes = false;
	propose(&problem, &now, &then, &means);
	ck_assert(!then.spread[1]);
}
END_TEST

/* The same field written by both, one thread alone, reads alone: nothing to propose. */
START_TEST(test_nothing)
{
	static const struct fs_layout_field fields[] = { { "a", 0, 8, 8, 8, false },
							 { "b", 8, 8, 8, 8, false } };
	struct fs_layout_access accesses[MAX];
	struct fs_layout_problem problem = { fields, 2,	       16, 8, 64,  one_object,
					     1,	     accesses, 0,  0, NULL };
	struct fs_layout now;
	struct fs_layout then;
	enum fs_layout_means means;

	problem.access_count = take_turns(accesses, 0, true, 0, true);
	propose(&problem, &now, &then, &means);
	ck_assert_int_eq(means, FS_LAYOUT_NOTHING);
	ck_assert_uint_gt(now.true_conflicts, ROUNDS / 2);
	ck_assert_uint_eq(now.false_conflicts, 0);
	problem.access_count = take_turns(accesses, 0, false, 1, false);
	propose(&problem, &now, &then, &means);
	ck_assert_uint_eq(now.true_conflicts + now.false_conflicts, 0);
	problem.access_count = take_turns(accesses, 0, true, 1, true);
	for (size_t i = 0; i < problem.access_count; i++)
		accesses[i].thread = 1;
	propose(&problem, &now, &then, &means);
	ck_assert_uint_eq(now.true_conflicts + now.false_conflicts, 0);
	ck_assert_int_eq(means, FS_LAYOUT_NOTHING);
}
END_TEST

/* What must stay first or last does. */
START_TEST(test_fixed)
{
	static const struct fs_layout_field fields[] = {
		{ "base", 0, 16, 8, 16, true },	 { "a", 16, 8, 8, 8, false },
		{ "fill", 24, 40, 8, 8, false }, { "b", 64, 8, 8, 8, false },
		{ "c", 72, 8, 8, 8, false },	 { "tail", 80, 0, 8, 8, true },
	};
	struct fs_layout_access accesses[MAX];
	struct fs_layout_problem problem = { fields, 6,	       80, 8, 64,  one_object,
					     1,	     accesses, 0,  0, NULL };
	struct fs_layout now;
	struct fs_layout then;
	enum fs_layout_means means;

	problem.access_count = take_turns(accesses, 3, true, 4, false);
	propose(&problem, &now, &then, &means);
	ck_assert_int_ne(means, FS_LAYOUT_NOTHING);
	ck_assert_uint_eq(then.offset[0], 0);
	ck_assert_uint_eq(then.order[5], 5);
	ck_assert_uint_eq(then.false_conflicts, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("layout_model");
	TCase *tests = tcase_create("layout_model");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, test_moves);
	tcase_add_test(tests, test_aligns);
	tcase_add_test(tests, test_array);
	tcase_add_test(tests, test_slots);
	tcase_add_test(tests, test_nothing);
	tcase_add_test(tests, test_fixed);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
