/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/session/threads.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/vector.h"

int fs_threads_init(struct fs_threads *threads)
{
	*threads = (struct fs_threads){ 0 };
	fs_table_init(&threads->by_tid, 8, 8);
	fs_table_init(&threads->by_pid, 8, 8);
	FS_TRY(FS_RESERVE(threads->spaces, threads->space_capacity, 2));
	threads->spaces[FS_KERNEL_SPACE] = (struct fs_space){
		.kind = FS_SPACE_KERNEL,
		.pid = FS_PID_UNKNOWN,
		.name = FS_NONE,
		.previous = FS_NONE,
		.parent = FS_NONE,
	};
	threads->spaces[FS_UNKNOWN_SPACE] = (struct fs_space){
		.kind = FS_SPACE_UNKNOWN,
		.pid = FS_PID_UNKNOWN,
		.name = FS_NONE,
		.previous = FS_NONE,
		.parent = FS_NONE,
	};
	threads->space_count = 2;
	return 0;
}

void fs_threads_free(struct fs_threads *threads)
{
	free(threads->events);
	free(threads->threads);
	free(threads->comms);
	free(threads->spaces);
	fs_table_free(&threads->by_tid);
	fs_table_free(&threads->by_pid);
}

int fs_threads_note(struct fs_threads *threads, const struct fs_thread_event *event)
{
	FS_TRY(FS_RESERVE(threads->events, threads->event_capacity, threads->event_count + 1));
	threads->events[threads->event_count++] = *event;
	return 0;
}

static int64_t latest(const struct fs_table *table, uint64_t number)
{
	const uint64_t *index = fs_table_get(table, &number);

	return index ? (int64_t)*index : FS_NONE;
}

static int set_latest(struct fs_table *table, uint64_t number, int64_t index)
{
	uint64_t *value = fs_table_put(table, &number, NULL, NULL);

	if (!value)
		return FS_NOMEM;
	*value = (uint64_t)index;
	return 0;
}

/* Add a thread as the latest of its tid. */
static int add_thread(struct fs_threads *threads, uint32_t pid, uint32_t tid, uint64_t start_ns,
		      int64_t *ret_thread)
{
	FS_TRY(FS_RESERVE(threads->threads, threads->capacity, threads->count + 1));
	threads->threads[threads->count] = (struct fs_thread){
		.pid = pid,
		.tid = tid,
		.start_ns = start_ns,
		.end_ns = UINT64_MAX,
		.comm = FS_NONE,
		.previous = latest(&threads->by_tid, tid),
	};
	FS_TRY(set_latest(&threads->by_tid, tid, (int64_t)threads->count));
	*ret_thread = (int64_t)threads->count++;
	return 0;
}

static int add_space(struct fs_threads *threads, uint32_t pid, uint64_t start_ns, int64_t parent,
		     int64_t *ret_space)
{
	FS_TRY(FS_RESERVE(threads->spaces, threads->space_capacity, threads->space_count + 1));
	threads->spaces[threads->space_count] = (struct fs_space){
		.kind = FS_SPACE_PROCESS,
		.pid = pid,
		.start_ns = start_ns,
		.name = FS_NONE,
		.previous = latest(&threads->by_pid, pid),
		.parent = parent,
	};
	FS_TRY(set_latest(&threads->by_pid, pid, (int64_t)threads->space_count));
	*ret_space = (int64_t)threads->space_count++;
	return 0;
}

static int settle_fork(struct fs_threads *threads, const struct fs_thread_event *event)
{
	int64_t thread = latest(&threads->by_tid, event->tid);
	int64_t parent = latest(&threads->by_tid, event->parent_tid);
	int64_t space;

	/* perf writes forks at time 0 for what ran before: no second thread of one tid */
	if (thread != FS_NONE && !event->time_ns)
		return 0;
	if (thread != FS_NONE && threads->threads[thread].end_ns > event->time_ns)
		threads->threads[thread].end_ns = event->time_ns;
	FS_TRY(add_thread(threads, event->pid, event->tid, event->time_ns, &thread));
	if (parent != FS_NONE)
		threads->threads[thread].comm = threads->threads[parent].comm;
	if (event->pid == event->parent_pid)
		return 0;
	parent = latest(&threads->by_pid, event->parent_pid);
	FS_TRY(add_space(threads, event->pid, event->time_ns, parent, &space));
	threads->spaces[space].name = parent == FS_NONE ? FS_NONE : threads->spaces[parent].name;
	return 0;
}

static int settle_comm(struct fs_threads *threads, const struct fs_thread_event *event)
{
	int64_t thread = latest(&threads->by_tid, event->tid);
	int64_t space = latest(&threads->by_pid, event->pid);

	if (thread == FS_NONE || threads->threads[thread].end_ns != UINT64_MAX)
		FS_TRY(add_thread(threads, event->pid, event->tid,
				  thread == FS_NONE ? 0 : event->time_ns, &thread));
	threads->threads[thread].comm = event->comm;
	FS_TRY(FS_RESERVE(threads->comms, threads->comm_capacity, threads->comm_count + 1));
	threads->comms[threads->comm_count++] = (struct fs_comm){
		.thread = thread,
		.time_ns = event->time_ns,
		.name = event->comm,
		.exec = event->exec,
	};
	if (event->exec || space == FS_NONE)
		FS_TRY(add_space(threads, event->pid, event->exec ? event->time_ns : 0, FS_NONE,
				 &space));
	if (event->pid == event->tid)
		threads->spaces[space].name = event->comm;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct fs_thread_event *left = a;
	const struct fs_thread_event *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

int fs_threads_settle(struct fs_threads *threads)
{
	qsort(threads->events, threads->event_count, sizeof(*threads->events), by_time);
	for (size_t i = 0; i < threads->event_count; i++) {
		const struct fs_thread_event *event = &threads->events[i];
		int64_t thread;

		switch (event->kind) {
		case FS_THREAD_FORK:
			FS_TRY(settle_fork(threads, event));
			break;
		case FS_THREAD_COMM:
			FS_TRY(settle_comm(threads, event));
			break;
		case FS_THREAD_EXIT:
			thread = latest(&threads->by_tid, event->tid);
			if (thread != FS_NONE)
				threads->threads[thread].end_ns = event->time_ns;
			break;
		}
	}
	free(threads->events);
	threads->events = NULL;
	threads->event_count = threads->event_capacity = 0;
	return 0;
}

int fs_threads_find(struct fs_threads *threads, uint32_t pid, uint32_t tid, uint64_t time_ns,
		    int64_t *ret_thread, uint64_t *ret_from, uint64_t *ret_to)
{
	int64_t thread = latest(&threads->by_tid, tid);
	uint64_t from = 0;
	uint64_t to = UINT64_MAX;

	for (; thread != FS_NONE; thread = threads->threads[thread].previous) {
		struct fs_thread *known = &threads->threads[thread];
		bool same =
			pid == FS_PID_UNKNOWN || known->pid == FS_PID_UNKNOWN || known->pid == pid;

		if (same && (known->start_ns <= time_ns || known->previous == FS_NONE)) {
			from = known->previous == FS_NONE ? 0 : known->start_ns;
			if (known->pid == FS_PID_UNKNOWN)
				known->pid = pid;
			break;
		}
		to = known->start_ns < to ? known->start_ns : to;
	}
	if (thread == FS_NONE) {
		FS_TRY(add_thread(threads, pid, tid, 0, &thread));
		from = to = time_ns; /* another pid has this tid too: ask again */
		to++;
	}
	*ret_thread = thread;
	if (ret_from) {
		*ret_from = from;
		*ret_to = to;
	}
	return 0;
}

int fs_spaces_find(struct fs_threads *threads, uint32_t pid, uint64_t time_ns, int64_t *ret_space,
		   uint64_t *ret_from, uint64_t *ret_to)
{
	int64_t space = latest(&threads->by_pid, pid);
	uint64_t to = UINT64_MAX;

	if (space == FS_NONE)
		FS_TRY(add_space(threads, pid, 0, FS_NONE, &space));
	while (threads->spaces[space].start_ns > time_ns &&
	       threads->spaces[space].previous != FS_NONE) {
		to = threads->spaces[space].start_ns;
		space = threads->spaces[space].previous;
	}
	*ret_space = space;
	if (ret_from) {
		*ret_from = threads->spaces[space].previous == FS_NONE
				    ? 0
				    : threads->spaces[space].start_ns;
		*ret_to = to;
	}
	return 0;
}
