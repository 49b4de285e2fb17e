/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/session/threads.h"

#include <check.h>
#include <stdlib.h>
#include <time.h>

#include "common/test_random.h"

struct answer {
	int64_t index;
	uint64_t from, to;
};

static void settle(struct fs_threads *threads, const struct fs_thread_event *events, size_t count)
{
	ck_assert_int_eq(fs_threads_init(threads), 0);
	for (size_t i = 0; i < count; i++) {
		struct fs_thread_event event = events[i];

		event.order = i;
		ck_assert_int_eq(fs_threads_note(threads, &event), 0);
	}
	ck_assert_int_eq(fs_threads_settle(threads), 0);
}

static struct answer thread_at(struct fs_threads *threads, uint32_t pid, uint32_t tid,
			       uint64_t when)
{
	struct answer answer;

	ck_assert_int_eq(
		fs_threads_find(threads, pid, tid, when, &answer.index, &answer.from, &answer.to),
		0);
	return answer;
}

static struct answer space_at(struct fs_threads *threads, uint32_t pid, uint64_t when)
{
	struct answer answer;

	ck_assert_int_eq(
		fs_spaces_find(threads, pid, when, &answer.index, &answer.from, &answer.to), 0);
	return answer;
}

START_TEST(a_tid_that_is_used_again_is_another_thread)
{
	static const struct fs_thread_event events[] = {
		{ .kind = FS_THREAD_COMM, .pid = 1, .tid = 5, .comm = 10 },
		{ .kind = FS_THREAD_EXIT, .time_ns = 100, .pid = 1, .tid = 5 },
		{ .kind = FS_THREAD_FORK,
		  .time_ns = 200,
		  .pid = 2,
		  .tid = 5,
		  .parent_pid = 2,
		  .parent_tid = 2 },
		{ .kind = FS_THREAD_EXIT, .time_ns = 300, .pid = 2, .tid = 5 },
		{ .kind = FS_THREAD_COMM, .time_ns = 400, .pid = 3, .tid = 5, .comm = 30 },
	};
	struct fs_threads threads;
	struct answer answer;

	settle(&threads, events, 5);
	ck_assert_uint_eq(threads.count, 3);
	answer = thread_at(&threads, FS_PID_UNKNOWN, 5, 199);
	ck_assert_uint_eq(threads.threads[answer.index].pid, 1);
	ck_assert_uint_eq(threads.threads[answer.index].end_ns, 100);
	ck_assert_uint_eq(answer.from, 0);
	ck_assert_uint_eq(answer.to, 200);
	answer = thread_at(&threads, FS_PID_UNKNOWN, 5, 200);
	ck_assert_uint_eq(threads.threads[answer.index].pid, 2);
	ck_assert_uint_eq(threads.threads[answer.index].start_ns, 200);
	ck_assert_uint_eq(answer.from, 200);
	ck_assert_uint_eq(answer.to, 400);
	answer = thread_at(&threads, FS_PID_UNKNOWN, 5, UINT64_MAX - 1);
	ck_assert_uint_eq(threads.threads[answer.index].pid, 3);
	ck_assert_int_eq(threads.threads[answer.index].comm, 30);
	ck_assert_uint_eq(threads.threads[answer.index].end_ns, UINT64_MAX);
	/* with a pid, the thread of that pid, whatever the time */
	ck_assert_uint_eq(threads.threads[thread_at(&threads, 2, 5, 50).index].start_ns, 200);
	ck_assert_uint_eq(threads.threads[thread_at(&threads, 1, 5, 450).index].start_ns, 0);
	ck_assert_uint_eq(threads.count, 3);
	fs_threads_free(&threads);
}
END_TEST

/* Lost FORK and EXIT records: a name for the same tid in another process. */
START_TEST(a_name_in_another_process_is_another_thread)
{
	static const struct fs_thread_event events[] = {
		{ .kind = FS_THREAD_COMM, .pid = 1, .tid = 5, .comm = 10 },
		{ .kind = FS_THREAD_COMM, .time_ns = 50, .pid = 5, .tid = 5, .comm = 11 },
	};
	struct fs_threads threads;

	settle(&threads, events, 2);
	ck_assert_uint_eq(threads.count, 2);
	ck_assert_int_eq(threads.threads[thread_at(&threads, 1, 5, 0).index].comm, 10);
	ck_assert_int_eq(threads.threads[thread_at(&threads, 5, 5, 60).index].comm, 11);
	ck_assert_uint_eq(threads.threads[0].end_ns, 50);
	fs_threads_free(&threads);
}
END_TEST

/* perf describes what ran before the recording by FORK and COMM at time 0. */
START_TEST(what_ran_before_is_one_thread)
{
	static const struct fs_thread_event events[] = {
		{ .kind = FS_THREAD_FORK, .pid = 1, .tid = 1, .parent_pid = 1, .parent_tid = 1 },
		{ .kind = FS_THREAD_COMM, .pid = 1, .tid = 1, .comm = 10 },
		{ .kind = FS_THREAD_FORK, .pid = 1, .tid = 2, .parent_pid = 1, .parent_tid = 1 },
		{ .kind = FS_THREAD_FORK, .pid = 1, .tid = 2, .parent_pid = 1, .parent_tid = 1 },
		{ .kind = FS_THREAD_COMM, .pid = 1, .tid = 2, .comm = 20 },
	};
	struct fs_threads threads;

	settle(&threads, events, 5);
	ck_assert_uint_eq(threads.count, 2);
	ck_assert_uint_eq(threads.comm_count, 2);
	ck_assert_uint_eq(threads.space_count, 2 + 1);
	ck_assert_int_eq(threads.spaces[space_at(&threads, 1, 9).index].name, 10);
	ck_assert_int_eq(threads.threads[thread_at(&threads, 1, 2, 9).index].comm, 20);
	fs_threads_free(&threads);
}
END_TEST

START_TEST(exec_and_fork_make_new_images)
{
	static const struct fs_thread_event events[] = {
		{ .kind = FS_THREAD_COMM, .pid = 1, .tid = 1, .comm = 10 },
		{ .kind = FS_THREAD_FORK,
		  .time_ns = 100,
		  .pid = 2,
		  .tid = 2,
		  .parent_pid = 1,
		  .parent_tid = 1 },
		{ .kind = FS_THREAD_COMM,
		  .time_ns = 200,
		  .pid = 2,
		  .tid = 2,
		  .comm = 20,
		  .exec = true },
		{ .kind = FS_THREAD_COMM, .time_ns = 250, .pid = 2, .tid = 2, .comm = 21 },
		{ .kind = FS_THREAD_FORK,
		  .time_ns = 300,
		  .pid = 2,
		  .tid = 3,
		  .parent_pid = 2,
		  .parent_tid = 2 },
	};
	struct fs_threads threads;
	struct answer forked, executed;

	settle(&threads, events, 5);
	forked = space_at(&threads, 2, 150);
	ck_assert_uint_eq(forked.from, 0); /* its first image: earlier times belong to it too */
	ck_assert_uint_eq(forked.to, 200);
	ck_assert_int_eq(threads.spaces[forked.index].parent, space_at(&threads, 1, 0).index);
	ck_assert_int_eq(threads.spaces[forked.index].name, 10);
	executed = space_at(&threads, 2, 200);
	ck_assert_uint_eq(executed.from, 200);
	ck_assert_uint_eq(executed.to, UINT64_MAX);
	ck_assert_int_ne(executed.index, forked.index);
	ck_assert_int_eq(threads.spaces[executed.index].parent, FS_NONE);
	ck_assert_int_eq(threads.spaces[executed.index].name, 21);
	/* a thread shares the image and inherits the name of who made it */
	ck_assert_int_eq(threads.threads[thread_at(&threads, 2, 3, 300).index].comm, 21);
	ck_assert_uint_eq(threads.space_count, 2 + 3);
	fs_threads_free(&threads);
}
END_TEST

START_TEST(threads_and_images_only_seen_in_samples_are_made_once)
{
	struct fs_threads threads;
	struct answer unknown, known;

	settle(&threads, NULL, 0);
	unknown = thread_at(&threads, FS_PID_UNKNOWN, 5, 10);
	ck_assert_int_eq(thread_at(&threads, FS_PID_UNKNOWN, 5, 20).index, unknown.index);
	/* who tells a pid later is taken for the same thread */
	known = thread_at(&threads, 7, 5, 15);
	ck_assert_int_eq(known.index, unknown.index);
	ck_assert_uint_eq(threads.threads[known.index].pid, 7);
	ck_assert_int_ne(thread_at(&threads, 8, 5, 15).index, known.index);
	ck_assert_int_eq(thread_at(&threads, 7, 5, 0).index, known.index);
	ck_assert_int_eq(thread_at(&threads, FS_PID_UNKNOWN, 5, 0).index, known.index);
	ck_assert_uint_eq(threads.count, 2);
	/* the idle task, and numbers that are all ones */
	ck_assert_int_eq(thread_at(&threads, 0, 0, 0).index, thread_at(&threads, 0, 0, 9).index);
	thread_at(&threads, UINT32_MAX, UINT32_MAX, UINT64_MAX);
	ck_assert_uint_eq(threads.count, 4);
	ck_assert_int_eq(space_at(&threads, 0, 5).index, space_at(&threads, 0, 0).index);
	ck_assert_uint_eq(threads.space_count, 3);
	fs_threads_free(&threads);
}
END_TEST

/*
 * The thread of a pid that is only met in a sample must not hide the threads of that tid which
 * events told of.
 */
START_TEST(a_thread_from_a_sample_hides_no_other)
{
	static const struct fs_thread_event events[] = {
		{ .kind = FS_THREAD_COMM, .pid = 1, .tid = 5, .comm = 10 },
		{ .kind = FS_THREAD_FORK,
		  .time_ns = 100,
		  .pid = 2,
		  .tid = 5,
		  .parent_pid = 2,
		  .parent_tid = 2 },
	};
	struct fs_threads threads;
	struct answer second;

	settle(&threads, events, 2);
	second = thread_at(&threads, 2, 5, 150);
	thread_at(&threads, 3, 5, 50);
	ck_assert_int_eq(thread_at(&threads, 2, 5, 50).index, second.index);
	ck_assert_int_eq(thread_at(&threads, 2, 5, 150).index, second.index);
	ck_assert_int_eq(thread_at(&threads, FS_PID_UNKNOWN, 5, 150).index, second.index);
	ck_assert_uint_eq(thread_at(&threads, 1, 5, 50).to, UINT64_MAX);
	ck_assert_uint_eq(threads.count, 3);
	fs_threads_free(&threads);
}
END_TEST

/* The definition: of those that fit, the last that had started, else the first. */
static int64_t naive_thread(const struct fs_threads *threads, size_t count, uint32_t pid,
			    uint32_t tid, uint64_t when)
{
	int64_t first = FS_NONE;
	int64_t last = FS_NONE;

	for (size_t i = 0; i < count; i++) {
		const struct fs_thread *thread = &threads->threads[i];

		if (thread->tid != tid || (pid != FS_PID_UNKNOWN && thread->pid != pid))
			continue;
		first = first == FS_NONE ? (int64_t)i : first;
		last = thread->start_ns <= when ? (int64_t)i : last;
	}
	return last == FS_NONE ? first : last;
}

static int64_t naive_space(const struct fs_threads *threads, size_t count, uint32_t pid,
			   uint64_t when)
{
	int64_t first = FS_NONE;
	int64_t last = FS_NONE;

	for (size_t i = 2; i < count; i++) {
		const struct fs_space *space = &threads->spaces[i];

		if (space->pid != pid)
			continue;
		first = first == FS_NONE ? (int64_t)i : first;
		last = space->start_ns <= when ? (int64_t)i : last;
	}
	return last == FS_NONE ? first : last;
}

/* Ask at a random time, and check the answer and both of its ends. */
static void check_random_question(struct fs_threads *threads, size_t told, uint64_t *random)
{
	size_t threads_settled = threads->count;
	size_t spaces_settled = threads->space_count;
	uint32_t pid = (uint32_t)test_below(random, 5);
	uint32_t tid = (uint32_t)test_below(random, 5);
	uint64_t when = test_below(random, 60);
	struct answer answer;
	int64_t want;

	if (!test_below(random, 3))
		pid = FS_PID_UNKNOWN;
	/* a tid alone means a thread that events told of, where there is one */
	if (pid == FS_PID_UNKNOWN && naive_thread(threads, told, pid, tid, when) != FS_NONE)
		threads_settled = told;
	want = naive_thread(threads, threads_settled, pid, tid, when);
	if (pid == FS_PID_UNKNOWN && want >= (int64_t)told)
		return; /* any of those that samples told of */
	answer = thread_at(threads, pid, tid, when);
	if (want == FS_NONE) {
		ck_assert_uint_eq(threads->threads[answer.index].tid, tid);
		ck_assert_int_eq(thread_at(threads, pid, tid, when + 7).index, answer.index);
		return;
	}
	ck_assert_int_eq(answer.index, want);
	ck_assert(answer.from <= when && when < answer.to);
	ck_assert_int_eq(naive_thread(threads, threads_settled, pid, tid, answer.from), want);
	ck_assert_int_eq(naive_thread(threads, threads_settled, pid, tid, answer.to - 1), want);
	if (pid == FS_PID_UNKNOWN)
		return;
	want = naive_space(threads, spaces_settled, pid, when);
	answer = space_at(threads, pid, when);
	ck_assert(answer.from <= when && when < answer.to);
	if (want == FS_NONE)
		return;
	ck_assert_int_eq(answer.index, want);
	ck_assert_int_eq(naive_space(threads, spaces_settled, pid, answer.from), want);
	ck_assert_int_eq(naive_space(threads, spaces_settled, pid, answer.to - 1), want);
}

START_TEST(lookups_agree_with_looking_at_everything)
{
	uint64_t random = 0x5eed0003;

	for (int round = 0; round < 300; round++) {
		struct fs_thread_event events[24] = { 0 };
		size_t count = test_below(&random, 24);
		struct fs_threads threads;
		size_t told;

		for (size_t i = 0; i < count; i++)
			events[i] = (struct fs_thread_event){
				.kind = (int)test_below(&random, 3),
				.time_ns = test_below(&random, 50),
				.pid = (uint32_t)test_below(&random, 5),
				.tid = (uint32_t)test_below(&random, 5),
				.parent_pid = (uint32_t)test_below(&random, 5),
				.parent_tid = (uint32_t)test_below(&random, 5),
				.exec = test_below(&random, 2),
			};
		settle(&threads, events, count);
		told = threads.count;
		for (int question = 0; question < 40; question++)
			check_random_question(&threads, told, &random);
		fs_threads_free(&threads);
	}
}
END_TEST

/*
 * A million events of one tid and pid, a million questions: names only, execs, and forks into as
 * many processes. Walking back from the latest would take hours.
 */
START_TEST(a_million_events_of_one_tid_are_no_trouble)
{
	struct timespec begin, end;
	uint64_t random = 0x5eed0004;
	struct fs_threads threads;
	enum { MILLION = 1000000 };
	int64_t thread, space;
	int failures = 0;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	ck_assert_int_eq(fs_threads_init(&threads), 0);
	for (uint32_t i = 0; i < MILLION; i++) {
		struct fs_thread_event event = {
			.kind = _i == 2 ? FS_THREAD_FORK : FS_THREAD_COMM,
			.time_ns = i + 1,
			.order = i,
			.pid = _i == 2 ? i : 1,
			.tid = 1,
			.exec = _i == 1,
		};

		failures += !!fs_threads_note(&threads, &event);
	}
	failures += !!fs_threads_settle(&threads);
	for (uint32_t i = 0; i < MILLION; i++) {
		uint64_t when = 1 + test_below(&random, MILLION);

		failures +=
			!!fs_threads_find(&threads, _i == 2 ? i : 1, 1, when, &thread, NULL, NULL);
		failures += !!fs_spaces_find(&threads, 1, when, &space, NULL, NULL);
		if (_i == 1)
			failures += threads.spaces[space].start_ns != when;
	}
	/* samples that name as many processes for one tid */
	for (uint32_t i = 0; i < MILLION; i++)
		failures += !!fs_threads_find(&threads, 2 * MILLION + i, 1, i, &thread, NULL, NULL);
	ck_assert_int_eq(failures, 0);
	fs_threads_free(&threads);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	ck_assert_int_lt(end.tv_sec - begin.tv_sec, 20); /* 1 s; with sanitizers 3 s */
}
END_TEST

/* Slices widen as the time grows, to either side, and a thread keeps what it was active in. */
START_TEST(activity_agrees_with_a_list_of_all_samples)
{
	enum { SAMPLES = 400, THREADS = 3 };
	uint64_t random = 7 + (uint64_t)_i;
	uint64_t times[SAMPLES];
	struct fs_threads threads;
	int64_t thread[THREADS];
	uint64_t expected[THREADS] = { 0 };
	uint64_t base;

	ck_assert_int_eq(fs_threads_init(&threads), 0);
	for (uint32_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(fs_threads_find(&threads, 1, i, 1, &thread[i], NULL, NULL), 0);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		/* first a little time, then more and more of it, around the middle */
		uint64_t range = 1ull << (10 + i * 40 / SAMPLES);

		times[i] = (1ull << 50) + test_below(&random, range) - range / 2;
		fs_threads_note_sample(&threads, thread[i % THREADS], times[i]);
	}
	fs_threads_note_sample(&threads, thread[0], 0); /* not known when */
	base = threads.first_slice & ~1ull;
	ck_assert_uint_lt(threads.last_slice - base, 64);
	ck_assert_uint_ge(threads.last_slice - base, 31); /* no wider than needed */
	for (uint32_t i = 0; i < SAMPLES; i++)
		expected[i % THREADS] |= 1ull << ((times[i] >> threads.slice_shift) - base);
	for (uint32_t i = 0; i < THREADS; i++) {
		const struct fs_thread *seen = &threads.threads[thread[i]];
		uint64_t first = UINT64_MAX;
		uint64_t last = 0;

		ck_assert_uint_eq(fs_threads_active(&threads, thread[i]), expected[i]);
		for (uint32_t k = i; k < SAMPLES; k += THREADS) {
			first = times[k] < first ? times[k] : first;
			last = times[k] > last ? times[k] : last;
		}
		ck_assert_uint_eq(seen->first_sample_ns, first);
		ck_assert_uint_eq(seen->last_sample_ns, last);
	}
	ck_assert_uint_eq(threads.threads[thread[0]].samples, SAMPLES / THREADS + 2);
	fs_threads_free(&threads);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("threads");
	TCase *tests = tcase_create("threads");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_tid_that_is_used_again_is_another_thread);
	tcase_add_test(tests, a_name_in_another_process_is_another_thread);
	tcase_add_test(tests, what_ran_before_is_one_thread);
	tcase_add_test(tests, exec_and_fork_make_new_images);
	tcase_add_test(tests, threads_and_images_only_seen_in_samples_are_made_once);
	tcase_add_test(tests, a_thread_from_a_sample_hides_no_other);
	tcase_add_test(tests, lookups_agree_with_looking_at_everything);
	tcase_add_loop_test(tests, activity_agrees_with_a_list_of_all_samples, 0, 50);
	tcase_add_loop_test(tests, a_million_events_of_one_tid_are_no_trouble, 0, 3);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
