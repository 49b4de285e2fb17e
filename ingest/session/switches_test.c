/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/session/switches.h"

#include <check.h>
#include <stdlib.h>

#include "common/test_random.h"
#include "ingest/session/threads.h"

enum { CPUS = 3, TIMES = 400 };

static struct fs_switches switches;
static uint64_t order;

static void setup(void)
{
	fs_switches_init(&switches);
	order = 0;
}

static void teardown(void)
{
	fs_switches_free(&switches);
}

static struct fs_switch_event made(enum fs_switch_source source, uint32_t cpu, uint64_t time_ns,
				   uint32_t before, uint32_t tid)
{
	static const enum fs_attribution attributions[] = { FS_ATTRIBUTION_SWITCH,
							    FS_ATTRIBUTION_SCHED_SWITCH,
							    FS_ATTRIBUTION_ITRACE };

	return (struct fs_switch_event){
		.to = { .time_ns = time_ns,
			.pid = FS_PID_UNKNOWN,
			.tid = tid,
			.attribution = attributions[source] },
		.order = order++,
		.before = before,
		.cpu = (uint16_t)cpu,
		.source = (uint8_t)source,
	};
}

static void note(enum fs_switch_source source, uint32_t cpu, uint64_t time_ns, uint32_t before,
		 uint32_t tid)
{
	struct fs_switch_event event = made(source, cpu, time_ns, before, tid);

	ck_assert_int_eq(fs_switches_note(&switches, &event, NULL), 0);
}

static struct fs_switch running(uint32_t cpu, uint64_t time_ns)
{
	struct fs_switch found;

	ck_assert_int_eq(fs_switches_running(&switches, cpu, time_ns, &found, NULL), 0);
	return found;
}

static void expect(uint32_t cpu, uint64_t time_ns, uint32_t tid, enum fs_attribution attribution)
{
	struct fs_switch found = running(cpu, time_ns);

	ck_assert_msg(found.tid == tid && found.attribution == attribution,
		      "cpu %u at %llu: tid %u, attribution %d", cpu, (unsigned long long)time_ns,
		      found.tid, (int)found.attribution);
}

#define NOBODY FS_PID_UNKNOWN, FS_ATTRIBUTION_NONE

/* The most trusted source that knows; what it does not know is asked of the next. */
START_TEST(trust)
{
	note(FS_SWITCH_ITRACE, 0, 10, FS_PID_UNKNOWN, 1);
	note(FS_SWITCH_TRACEPOINT, 0, 20, 1, 2);
	note(FS_SWITCH_TRACEPOINT, 0, 40, 2, 3);
	note(FS_SWITCH_RECORD, 0, 30, FS_PID_UNKNOWN, 9);
	note(FS_SWITCH_RECORD, 0, 50, FS_PID_UNKNOWN, FS_PID_UNKNOWN);
	note(FS_SWITCH_ITRACE, 0, 60, FS_PID_UNKNOWN, 4);
	note(FS_SWITCH_ITRACE, 1, 10, FS_PID_UNKNOWN, 5);
	note(FS_SWITCH_RECORD, 1, 20, FS_PID_UNKNOWN, FS_PID_UNKNOWN);
	ck_assert_int_eq(fs_switches_settle(&switches, NULL), 0);
	expect(0, 5, 1, FS_ATTRIBUTION_SCHED_SWITCH); /* it ran until 20 */
	expect(0, 20, 2, FS_ATTRIBUTION_SCHED_SWITCH);
	expect(0, 30, 9, FS_ATTRIBUTION_SWITCH);
	expect(0, 49, 9, FS_ATTRIBUTION_SWITCH);
	expect(0, 50, 3, FS_ATTRIBUTION_SCHED_SWITCH);
	expect(0, 99, 3, FS_ATTRIBUTION_SCHED_SWITCH);
	expect(1, 9, NOBODY);
	expect(1, 19, 5, FS_ATTRIBUTION_ITRACE);
	expect(1, 20, NOBODY); /* a switch has been since */
	expect(2, 20, NOBODY);
}
END_TEST

/* What sched_switch says of who ran before. */
START_TEST(before)
{
	struct fs_switch_event event;

	note(FS_SWITCH_TRACEPOINT, 0, 10, 7, 8);
	note(FS_SWITCH_TRACEPOINT, 0, 20, 9, 0); /* 8 to 9 was lost */
	note(FS_SWITCH_TRACEPOINT, 0, 30, 0, 7);
	for (uint64_t time = 10; time <= 20; time += 10) {
		event = made(FS_SWITCH_TRACEPOINT, 1, time, 7, (uint32_t)time);
		event.one_task = true; /* 7's own event */
		ck_assert_int_eq(fs_switches_note(&switches, &event, NULL), 0);
	}
	ck_assert_int_eq(fs_switches_settle(&switches, NULL), 0);
	expect(0, 0, 7, FS_ATTRIBUTION_SCHED_SWITCH);
	expect(0, 9, 7, FS_ATTRIBUTION_SCHED_SWITCH);
	expect(0, 10, NOBODY);
	expect(0, 20, 0, FS_ATTRIBUTION_SCHED_SWITCH);
	expect(0, 30, 7, FS_ATTRIBUTION_SCHED_SWITCH);
	expect(1, 9, 7, FS_ATTRIBUTION_SCHED_SWITCH);
	expect(1, 10, 7, FS_ATTRIBUTION_SCHED_SWITCH);
	expect(1, 20, 20, FS_ATTRIBUTION_SCHED_SWITCH);
}
END_TEST

/* Of one instant the last noted counts; the kernel's clock may stand still. */
START_TEST(one_instant)
{
	switches.run_max = (size_t)_i;
	note(FS_SWITCH_RECORD, 0, 10, FS_PID_UNKNOWN, 1);
	note(FS_SWITCH_RECORD, 0, 10, FS_PID_UNKNOWN, 2);
	note(FS_SWITCH_RECORD, 0, 5, FS_PID_UNKNOWN, 3);
	note(FS_SWITCH_RECORD, 0, UINT64_MAX, FS_PID_UNKNOWN, 4);
	ck_assert_int_eq(fs_switches_settle(&switches, NULL), 0);
	expect(0, 4, NOBODY);
	expect(0, 9, 3, FS_ATTRIBUTION_SWITCH);
	expect(0, 10, 2, FS_ATTRIBUTION_SWITCH);
	expect(0, UINT64_MAX - 1, 2, FS_ATTRIBUTION_SWITCH);
	expect(0, UINT64_MAX, 4, FS_ATTRIBUTION_SWITCH);
}
END_TEST

START_TEST(nothing)
{
	ck_assert_int_eq(fs_switches_settle(&switches, NULL), 0);
	expect(0, 0, NOBODY);
}
END_TEST

/*
 * Runs and blocks of all small sizes, questions in any order: the same as looking through a table
 * of who ran at each time.
 */
START_TEST(runs_and_blocks)
{
	static uint32_t truth[CPUS][TIMES];
	uint64_t random = (uint64_t)_i + 1;
	static bool noted_at[CPUS][TIMES];

	switches.run_max = 1 + test_below(&random, 40);
	switches.block_max = 1 + test_below(&random, 20);
	for (int cpu = 0; cpu < CPUS; cpu++)
		for (int time = 0; time < TIMES; time++)
			truth[cpu][time] = FS_PID_UNKNOWN;
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t cpu = (uint32_t)test_below(&random, CPUS);
		uint32_t time = (uint32_t)test_below(&random, TIMES);

		note(FS_SWITCH_RECORD, cpu, time, FS_PID_UNKNOWN, i);
		truth[cpu][time] = i;
		noted_at[cpu][time] = true;
	}
	for (int cpu = 0; cpu < CPUS; cpu++)
		for (int time = 1; time < TIMES; time++)
			if (!noted_at[cpu][time])
				truth[cpu][time] = truth[cpu][time - 1];
	ck_assert_int_eq(fs_switches_settle(&switches, NULL), 0);
	ck_assert_uint_gt(switches.run_count, 1);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) /* as samples come */
		for (uint32_t time = 0; time < TIMES; time++)
			ck_assert_uint_eq(running(cpu, time).tid, truth[cpu][time]);
	for (uint32_t i = 0; i < 2000; i++) { /* and not so */
		uint32_t cpu = (uint32_t)test_below(&random, CPUS);
		uint32_t time = (uint32_t)test_below(&random, TIMES);

		ck_assert_uint_eq(running(cpu, time).tid, truth[cpu][time]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("switches");
	TCase *tests = tcase_create("switches");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, trust);
	tcase_add_test(tests, before);
	tcase_add_loop_test(tests, one_instant, 1, 6);
	tcase_add_test(tests, nothing);
	tcase_add_loop_test(tests, runs_and_blocks, 0, 40);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
