/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/session/maps.h"

#include <check.h>
#include <stdlib.h>
#include <time.h>

#include "common/test_random.h"

enum { PID = 7, CHILD = 8, GRANDCHILD = 9 };

/* Two processes and a child of each of the former; every image starts at another time. */
static void make_spaces(struct fs_threads *threads, int64_t *ret_parent, int64_t *ret_child,
			int64_t *ret_grandchild)
{
	const struct fs_thread_event events[] = {
		{ .kind = FS_THREAD_FORK,
		  .time_ns = 40,
		  .order = 1,
		  .pid = CHILD,
		  .tid = CHILD,
		  .parent_pid = PID,
		  .parent_tid = PID },
		{ .kind = FS_THREAD_FORK,
		  .time_ns = 60,
		  .order = 2,
		  .pid = GRANDCHILD,
		  .tid = GRANDCHILD,
		  .parent_pid = CHILD,
		  .parent_tid = CHILD },
		{ .kind = FS_THREAD_COMM, .pid = PID, .tid = PID },
	};

	ck_assert_int_eq(fs_threads_init(threads), 0);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		ck_assert_int_eq(fs_threads_note(threads, &events[i]), 0);
	ck_assert_int_eq(fs_threads_settle(threads), 0);
	ck_assert_int_eq(fs_spaces_find(threads, PID, 0, ret_parent, NULL, NULL), 0);
	ck_assert_int_eq(fs_spaces_find(threads, CHILD, 50, ret_child, NULL, NULL), 0);
	ck_assert_int_eq(fs_spaces_find(threads, GRANDCHILD, 70, ret_grandchild, NULL, NULL), 0);
}

static void note(struct fs_maps *maps, uint32_t pid, uint64_t start, uint64_t end, uint64_t time_ns,
		 uint64_t order)
{
	struct fs_map map = {
		.pid = pid,
		.start = start,
		.end = end,
		.time_ns = time_ns,
		.order = order,
	};

	ck_assert_int_eq(fs_maps_note(maps, &map), 0);
}

/* The order of the mapping that is found; -1: none. */
static int64_t find(const struct fs_maps *maps, const struct fs_threads *threads, int64_t space,
		    uint64_t address, uint64_t time_ns)
{
	uint64_t from;
	uint64_t to;
	int64_t map = fs_maps_find(maps, threads, space, address, time_ns, &from, &to);

	ck_assert_uint_le(from, time_ns);
	ck_assert_uint_gt(to, time_ns);
	return map == FS_NONE ? -1 : (int64_t)maps->maps[map].order;
}

START_TEST(later_mappings_replace_earlier_ones_where_they_lie)
{
	struct fs_threads threads;
	struct fs_maps maps;
	int64_t parent, child, grandchild;

	make_spaces(&threads, &parent, &child, &grandchild);
	fs_maps_init(&maps);
	note(&maps, PID, 0x1000, 0x9000, 0, 1);
	note(&maps, PID, 0x3000, 0x4000, 10, 2);
	note(&maps, PID, 0x3800, 0x5000, 20, 3);
	note(&maps, FS_PID_KERNEL, 0xffffffff81000000, UINT64_MAX, 0, 4);
	ck_assert_int_eq(fs_maps_settle(&maps), 0);
	ck_assert_int_eq(find(&maps, &threads, parent, 0x3000, 9), 1);
	ck_assert_int_eq(find(&maps, &threads, parent, 0x3000, 10), 2);
	ck_assert_int_eq(find(&maps, &threads, parent, 0x3900, 19), 2);
	ck_assert_int_eq(find(&maps, &threads, parent, 0x3900, 20), 3);
	ck_assert_int_eq(find(&maps, &threads, parent, 0x3700, 99), 2);
	ck_assert_int_eq(find(&maps, &threads, parent, 0x4fff, 99), 3);
	ck_assert_int_eq(find(&maps, &threads, parent, 0x5000, 99), 1);
	ck_assert_int_eq(find(&maps, &threads, parent, 0x8fff, 99), 1);
	ck_assert_int_eq(find(&maps, &threads, parent, 0x9000, 99), -1);
	ck_assert_int_eq(find(&maps, &threads, parent, 0xfff, 99), -1);
	ck_assert_int_eq(find(&maps, &threads, FS_KERNEL_SPACE, 0xffffffff81000123, 5), 4);
	ck_assert_int_eq(find(&maps, &threads, FS_UNKNOWN_SPACE, 0x3000, 99), -1);
	fs_maps_free(&maps);
	fs_threads_free(&threads);
}
END_TEST

START_TEST(a_forked_image_has_what_its_parents_had_at_the_fork)
{
	struct fs_threads threads;
	struct fs_maps maps;
	int64_t parent, child, grandchild;

	make_spaces(&threads, &parent, &child, &grandchild);
	fs_maps_init(&maps);
	note(&maps, PID, 0x1000, 0x2000, 0, 1);
	note(&maps, PID, 0x1000, 0x2000, 50, 2);   /* after the fork at 40 */
	note(&maps, CHILD, 0x1800, 0x2000, 55, 3); /* before the fork at 60 */
	note(&maps, CHILD, 0x1000, 0x2000, 65, 4);
	note(&maps, CHILD, 0x5000, 0x6000, 30, 5); /* an earlier process of that pid */
	ck_assert_int_eq(fs_maps_settle(&maps), 0);
	ck_assert_int_eq(find(&maps, &threads, parent, 0x1000, 60), 2);
	ck_assert_int_eq(find(&maps, &threads, child, 0x1000, 50), 1);
	ck_assert_int_eq(find(&maps, &threads, child, 0x1000, 70), 4);
	ck_assert_int_eq(find(&maps, &threads, child, 0x1800, 54), 1);
	ck_assert_int_eq(find(&maps, &threads, child, 0x1800, 55), 3);
	ck_assert_int_eq(find(&maps, &threads, grandchild, 0x1800, 99), 3);
	ck_assert_int_eq(find(&maps, &threads, grandchild, 0x1000, 99), 1);
	ck_assert_int_eq(find(&maps, &threads, child, 0x5000, 99), -1);
	fs_maps_free(&maps);
	fs_threads_free(&threads);
}
END_TEST

/* The definition, by looking at every mapping. */
static int64_t naive_find(const struct fs_maps *maps, const struct fs_threads *threads,
			  int64_t space, uint64_t address, uint64_t time_ns)
{
	for (; space != FS_NONE; space = threads->spaces[space].parent) {
		const struct fs_space *image = &threads->spaces[space];
		int64_t best = -1;

		for (size_t i = 0; i < maps->count; i++) {
			const struct fs_map *map = &maps->maps[i];

			if (map->pid == image->pid && map->start <= address && address < map->end &&
			    map->time_ns >= image->start_ns && map->time_ns <= time_ns &&
			    (best < 0 || map->time_ns > maps->maps[best].time_ns ||
			     (map->time_ns == maps->maps[best].time_ns &&
			      map->order > maps->maps[best].order)))
				best = (int64_t)i;
		}
		if (best >= 0)
			return best;
		time_ns = image->start_ns;
	}
	return FS_NONE;
}

/* Random mappings against the definition; the bounds must hold at both of their ends. */
START_TEST(lookups_agree_with_looking_at_every_mapping)
{
	uint64_t random = 0x5eed0001 + (uint64_t)_i;

	for (int round = 0; round < 40; round++) {
		size_t count = test_below(&random, 60);
		int64_t spaces[3];
		struct fs_threads threads;
		struct fs_maps maps;

		make_spaces(&threads, &spaces[0], &spaces[1], &spaces[2]);
		fs_maps_init(&maps);
		for (size_t i = 0; i < count; i++) {
			uint64_t start = test_below(&random, 64);

			note(&maps, PID + (uint32_t)test_below(&random, 3), start,
			     start + 1 + test_below(&random, _i ? 4 : 64),
			     test_below(&random, 4) ? test_below(&random, 100) : 0, i);
		}
		ck_assert_int_eq(fs_maps_settle(&maps), 0);
		for (int query = 0; query < 400; query++) {
			int64_t space = spaces[test_below(&random, 3)];
			uint64_t address = test_below(&random, 130);
			uint64_t when = test_below(&random, 110);
			uint64_t from;
			uint64_t to;
			int64_t want = naive_find(&maps, &threads, space, address, when);

			ck_assert_int_eq(
				fs_maps_find(&maps, &threads, space, address, when, &from, &to),
				want);
			ck_assert_uint_le(from, when);
			ck_assert_uint_gt(to, when);
			ck_assert_int_eq(naive_find(&maps, &threads, space, address, from), want);
			ck_assert_int_eq(naive_find(&maps, &threads, space, address, to - 1), want);
			/* nor are they needlessly narrow */
			if (to != UINT64_MAX && when >= threads.spaces[space].start_ns)
				ck_assert_int_ne(naive_find(&maps, &threads, space, address, to),
						 want);
		}
		fs_maps_free(&maps);
		fs_threads_free(&threads);
	}
}
END_TEST

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* other load does not count */
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/*
 * One address mapped 60,000 times, asked at 200,000 times: looking through all mappings that
 * cover the address would take hours. The same for mappings that nest.
 */
START_TEST(many_mappings_of_one_address_do_not_slow_lookups)
{
	uint64_t random = 0x5eed0002;
	double start = seconds();
	uint64_t from, to;
	int wrong = 0;
	struct fs_threads threads;
	struct fs_maps maps;
	int64_t parent, child, grandchild;

	make_spaces(&threads, &parent, &child, &grandchild);
	fs_maps_init(&maps);
	for (uint64_t i = 0; i < 60000; i++)
		note(&maps, PID, _i ? 0x100000 - i : 0x1000, 0x200000 + i, i, i);
	ck_assert_int_eq(fs_maps_settle(&maps), 0);
	for (int i = 0; i < 200000; i++) {
		uint64_t when = test_below(&random, 60000);
		int64_t map = fs_maps_find(&maps, &threads, parent, 0x100000, when, &from, &to);

		wrong += map == FS_NONE || maps.maps[map].order != when || from != when ||
			 to != (when < 59999 ? when + 1 : UINT64_MAX);
	}
	ck_assert_int_eq(wrong, 0);
	fs_maps_free(&maps);
	fs_threads_free(&threads);
	ck_assert(seconds() - start < 10); /* takes 0.3 s, with sanitizers 1 s */
}
END_TEST

START_TEST(a_dso_is_a_path_and_a_build_id)
{
	uint32_t first, second, third, again;
	struct fs_maps maps;

	fs_maps_init(&maps);
	ck_assert_int_eq(fs_maps_dso(&maps, 5, FS_NONE, 2, &first), 0);
	ck_assert_int_eq(fs_maps_dso(&maps, 5, 6, 2, &second), 0);
	ck_assert_int_eq(fs_maps_dso(&maps, 6, 6, 2, &third), 0);
	ck_assert_int_eq(fs_maps_dso(&maps, 5, 6, 1, &again), 0);
	ck_assert_uint_eq(maps.dso_count, 3);
	ck_assert_uint_ne(first, second);
	ck_assert_uint_ne(second, third);
	ck_assert_uint_eq(second, again);
	ck_assert_uint_eq(maps.dsos[second].cpumode, 2);
	ck_assert_int_eq(fs_maps_settle(&maps), 0); /* without mappings */
	fs_maps_free(&maps);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("maps");
	TCase *tests = tcase_create("maps");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, later_mappings_replace_earlier_ones_where_they_lie);
	tcase_add_test(tests, a_forked_image_has_what_its_parents_had_at_the_fork);
	tcase_add_loop_test(tests, lookups_agree_with_looking_at_every_mapping, 0, 2);
	tcase_add_loop_test(tests, many_mappings_of_one_address_do_not_slow_lookups, 0, 2);
	tcase_add_test(tests, a_dso_is_a_path_and_a_build_id);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
