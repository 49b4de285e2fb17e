/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/load/queue.h"

#include <check.h>
#include <sched.h>
#include <stdlib.h>

enum { BATCHES = 20000 };

struct filling {
	struct fs_queue queue;
	size_t filled;
	size_t limit;
};

static void *fill(void *context)
{
	struct filling *filling = context;

	while (filling->filled < filling->limit) {
		struct fs_batch *batch = fs_queue_empty(&filling->queue);

		if (!batch)
			return NULL;
		batch->count = filling->filled++;
		fs_queue_put(&filling->queue);
	}
	fs_queue_end(&filling->queue);
	fs_queue_end(&filling->queue);
	return NULL;
}

/* All batches arrive, each once, in order; whichever side is slower. */
START_TEST(batches_arrive_in_order)
{
	struct filling filling = { .limit = BATCHES };
	const struct fs_batch *batch;
	pthread_t thread;
	size_t next = 0;
	size_t wrong = 0;

	ck_assert_int_eq(fs_queue_init(&filling.queue), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, fill, &filling), 0);
	while ((batch = fs_queue_take(&filling.queue))) {
		wrong += batch->count != next++;
		if (next % 1000 < 3)
			sched_yield();
		fs_queue_give(&filling.queue);
	}
	pthread_join(thread, NULL);
	ck_assert_uint_eq(next, BATCHES);
	ck_assert_uint_eq(wrong, 0);
	fs_queue_free(&filling.queue);
}
END_TEST

/* The writer gives up: the decoder, waiting for an empty batch or not, ends. */
START_TEST(a_writer_that_stops_ends_the_decoder)
{
	struct filling filling = { .limit = SIZE_MAX };
	pthread_t thread;

	ck_assert_int_eq(fs_queue_init(&filling.queue), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, fill, &filling), 0);
	for (int i = 0; i < _i; i++) {
		ck_assert_ptr_nonnull(fs_queue_take(&filling.queue));
		fs_queue_give(&filling.queue);
	}
	fs_queue_stop(&filling.queue);
	pthread_join(thread, NULL);
	ck_assert_ptr_null(fs_queue_empty(&filling.queue));
	fs_queue_free(&filling.queue);
}
END_TEST

/* The decoder fails or has nothing: the writer gets what was put, and the end. */
START_TEST(a_decoder_that_ends_early_ends_the_writer)
{
	struct fs_queue queue;

	ck_assert_int_eq(fs_queue_init(&queue), 0);
	ck_assert_ptr_nonnull(fs_queue_empty(&queue));
	fs_queue_put(&queue);
	fs_queue_end(&queue);
	ck_assert_ptr_nonnull(fs_queue_take(&queue));
	fs_queue_give(&queue);
	ck_assert_ptr_null(fs_queue_take(&queue));
	fs_queue_free(&queue);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("queue");
	TCase *tests = tcase_create("queue");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, batches_arrive_in_order);
	tcase_add_loop_test(tests, a_writer_that_stops_ends_the_decoder, 0, 6);
	tcase_add_test(tests, a_decoder_that_ends_early_ends_the_writer);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
