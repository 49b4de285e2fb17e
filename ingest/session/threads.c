/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/session/threads.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/vector.h"

/* ---- timelines ---- */

static void timeline_init(struct fs_timeline *timeline)
{
	*timeline = (struct fs_timeline){ 0 };
	fs_table_init(&timeline->ranges, 8, 8);
}

static void timeline_free(struct fs_timeline *timeline)
{
	fs_table_free(&timeline->ranges);
	free(timeline->items);
}

/* Append an item; those of one key come one after the other, in order of their start. */
static int timeline_add(struct fs_timeline *timeline, uint64_t key, uint64_t start_ns,
			uint64_t index)
{
	uint32_t *range;
	bool added;

	FS_TRY(FS_RESERVE(timeline->items, timeline->capacity, timeline->count + 1));
	range = fs_table_put(&timeline->ranges, &key, NULL, &added);
	if (!range)
		return FS_NOMEM;
	if (added)
		range[0] = (uint32_t)timeline->count;
	timeline->items[timeline->count++] = (struct fs_timeline_item){ start_ns, index };
	range[1] = (uint32_t)timeline->count;
	return 0;
}

/* The last item of a key that had started at time_ns, else its first; false: no such key. */
static bool timeline_find(const struct fs_timeline *timeline, uint64_t key, uint64_t time_ns,
			  int64_t *ret_index, uint64_t *ret_from, uint64_t *ret_to)
{
	const uint32_t *range = fs_table_get(&timeline->ranges, &key);
	const struct fs_timeline_item *items = timeline->items;
	size_t low;
	size_t high;

	if (!range)
		return false;
	low = range[0];
	high = range[1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].start_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	low -= low > range[0];
	*ret_from = low > range[0] ? items[low].start_ns : 0;
	*ret_to = low + 1 < range[1] ? items[low + 1].start_ns : UINT64_MAX;
	*ret_index = (int64_t)items[low].index;
	return true;
}

struct keyed {
	uint64_t key, start_ns, index;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *left = a;
	const struct keyed *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	/* indexes were given in order of time */
	return left->index < right->index ? -1 : left->index > right->index;
}

static int timeline_fill(struct fs_timeline *timeline, struct keyed *keyed, size_t count)
{
	if (count)
		qsort(keyed, count, sizeof(*keyed), by_key);
	for (size_t i = 0; i < count; i++)
		FS_TRY(timeline_add(timeline, keyed[i].key, keyed[i].start_ns, keyed[i].index));
	return 0;
}

int fs_threads_init(struct fs_threads *threads)
{
	*threads = (struct fs_threads){ .slice_shift = 10, .first_slice = 1 };
	timeline_init(&threads->by_tid);
	timeline_init(&threads->by_task);
	timeline_init(&threads->by_pid);
	FS_TRY(FS_RESERVE(threads->spaces, threads->space_capacity, 2));
	threads->spaces[FS_KERNEL_SPACE] = (struct fs_space){
		.kind = FS_SPACE_KERNEL,
		.pid = FS_PID_UNKNOWN,
		.name = FS_NONE,
		.parent = FS_NONE,
	};
	threads->spaces[FS_UNKNOWN_SPACE] = (struct fs_space){
		.kind = FS_SPACE_UNKNOWN,
		.pid = FS_PID_UNKNOWN,
		.name = FS_NONE,
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
	timeline_free(&threads->by_tid);
	timeline_free(&threads->by_task);
	timeline_free(&threads->by_pid);
}

int fs_threads_note(struct fs_threads *threads, const struct fs_thread_event *event)
{
	FS_TRY(FS_RESERVE(threads->events, threads->event_capacity, threads->event_count + 1));
	threads->events[threads->event_count++] = *event;
	return 0;
}

/* ---- settling ---- */

/* The latest of each tid and pid while events are gone through in order of time. */
struct settling {
	struct fs_threads *threads;
	struct fs_table by_tid, by_pid;
};

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
	};
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
		.parent = parent,
	};
	*ret_space = (int64_t)threads->space_count++;
	return 0;
}

static int settle_fork(struct settling *settling, const struct fs_thread_event *event)
{
	struct fs_threads *threads = settling->threads;
	int64_t thread = latest(&settling->by_tid, event->tid);
	int64_t parent = latest(&settling->by_tid, event->parent_tid);
	int64_t space;

	/* perf writes forks at time 0 for what ran before: no second thread of one tid */
	if (thread != FS_NONE && !event->time_ns)
		return 0;
	if (thread != FS_NONE && threads->threads[thread].end_ns > event->time_ns)
		threads->threads[thread].end_ns = event->time_ns;
	FS_TRY(add_thread(threads, event->pid, event->tid, event->time_ns, &thread));
	FS_TRY(set_latest(&settling->by_tid, event->tid, thread));
	if (parent != FS_NONE)
		threads->threads[thread].comm = threads->threads[parent].comm;
	if (event->pid == event->parent_pid)
		return 0;
	parent = latest(&settling->by_pid, event->parent_pid);
	FS_TRY(add_space(threads, event->pid, event->time_ns, parent, &space));
	FS_TRY(set_latest(&settling->by_pid, event->pid, space));
	threads->spaces[space].name = parent == FS_NONE ? FS_NONE : threads->spaces[parent].name;
	return 0;
}

/* The thread that a name is given to: a new one where the tid must have been used again. */
static int named_thread(struct settling *settling, const struct fs_thread_event *event,
			int64_t *ret_thread)
{
	struct fs_threads *threads = settling->threads;
	int64_t thread = latest(&settling->by_tid, event->tid);
	uint64_t start_ns = thread == FS_NONE ? 0 : event->time_ns;

	if (thread != FS_NONE && threads->threads[thread].end_ns == UINT64_MAX) {
		if (threads->threads[thread].pid == event->pid) {
			*ret_thread = thread;
			return 0;
		}
		threads->threads[thread].end_ns = event->time_ns;
	}
	FS_TRY(add_thread(threads, event->pid, event->tid, start_ns, ret_thread));
	return set_latest(&settling->by_tid, event->tid, *ret_thread);
}

static int settle_comm(struct settling *settling, const struct fs_thread_event *event)
{
	struct fs_threads *threads = settling->threads;
	int64_t space = latest(&settling->by_pid, event->pid);
	int64_t thread;

	FS_TRY(named_thread(settling, event, &thread));
	threads->threads[thread].comm = event->comm;
	FS_TRY(FS_RESERVE(threads->comms, threads->comm_capacity, threads->comm_count + 1));
	threads->comms[threads->comm_count++] = (struct fs_comm){
		.thread = thread,
		.time_ns = event->time_ns,
		.name = event->comm,
		.exec = event->exec,
	};
	if (event->exec || space == FS_NONE) {
		FS_TRY(add_space(threads, event->pid, event->exec ? event->time_ns : 0, FS_NONE,
				 &space));
		FS_TRY(set_latest(&settling->by_pid, event->pid, space));
	}
	if (event->pid == event->tid)
		threads->spaces[space].name = event->comm;
	return 0;
}

static int settle_event(struct settling *settling, const struct fs_thread_event *event)
{
	int64_t thread;

	switch (event->kind) {
	case FS_THREAD_FORK:
		return settle_fork(settling, event);
	case FS_THREAD_COMM:
		return settle_comm(settling, event);
	case FS_THREAD_EXIT:
		thread = latest(&settling->by_tid, event->tid);
		if (thread != FS_NONE)
			settling->threads->threads[thread].end_ns = event->time_ns;
		return 0;
	}
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

static uint64_t task_key(uint32_t pid, uint32_t tid)
{
	return (uint64_t)tid << 32 | pid;
}

static int fill_timelines(struct fs_threads *threads)
{
	size_t most = threads->count > threads->space_count ? threads->count : threads->space_count;
	struct keyed *keyed = calloc(most + 1, sizeof(*keyed));
	size_t used = 0;
	int code;

	if (!keyed)
		return FS_NOMEM;
	for (size_t i = 0; i < threads->count; i++)
		keyed[i] =
			(struct keyed){ threads->threads[i].tid, threads->threads[i].start_ns, i };
	code = timeline_fill(&threads->by_tid, keyed, threads->count);
	for (size_t i = 0; i < threads->count; i++)
		keyed[i] =
			(struct keyed){ task_key(threads->threads[i].pid, threads->threads[i].tid),
					threads->threads[i].start_ns, i };
	code = code ? code : timeline_fill(&threads->by_task, keyed, threads->count);
	for (size_t i = 0; i < threads->space_count; i++)
		if (threads->spaces[i].kind == FS_SPACE_PROCESS)
			keyed[used++] = (struct keyed){ threads->spaces[i].pid,
							threads->spaces[i].start_ns, i };
	code = code ? code : timeline_fill(&threads->by_pid, keyed, used);
	free(keyed);
	return code;
}

int fs_threads_settle(struct fs_threads *threads)
{
	struct settling settling = { .threads = threads };
	int code = 0;

	fs_table_init(&settling.by_tid, 8, 8);
	fs_table_init(&settling.by_pid, 8, 8);
	if (threads->event_count)
		qsort(threads->events, threads->event_count, sizeof(*threads->events), by_time);
	for (size_t i = 0; !code && i < threads->event_count; i++)
		code = settle_event(&settling, &threads->events[i]);
	fs_table_free(&settling.by_tid);
	fs_table_free(&settling.by_pid);
	free(threads->events);
	threads->events = NULL;
	threads->event_count = threads->event_capacity = 0;
	return code ? code : fill_timelines(threads);
}

/* ---- questions ---- */

/* Make a thread that is only known from samples. The tid alone stands for the first such one. */
static int make_thread(struct fs_threads *threads, uint32_t pid, uint32_t tid, int64_t *ret_thread)
{
	uint64_t key = tid;

	FS_TRY(add_thread(threads, pid, tid, 0, ret_thread));
	FS_TRY(timeline_add(&threads->by_task, task_key(pid, tid), 0, (uint64_t)*ret_thread));
	if (fs_table_get(&threads->by_tid.ranges, &key))
		return 0;
	return timeline_add(&threads->by_tid, tid, 0, (uint64_t)*ret_thread);
}

int fs_threads_find(struct fs_threads *threads, uint32_t pid, uint32_t tid, uint64_t time_ns,
		    int64_t *ret_thread, uint64_t *ret_from, uint64_t *ret_to)
{
	uint64_t from = 0;
	uint64_t to = UINT64_MAX;
	int64_t thread = FS_NONE;

	if (pid == FS_PID_UNKNOWN) {
		timeline_find(&threads->by_tid, tid, time_ns, &thread, &from, &to);
	} else if (!timeline_find(&threads->by_task, task_key(pid, tid), time_ns, &thread, &from,
				  &to) &&
		   timeline_find(&threads->by_task, task_key(FS_PID_UNKNOWN, tid), time_ns, &thread,
				 &from, &to)) {
		/* seen before, by somebody who did not tell its pid */
		if (threads->threads[thread].pid == FS_PID_UNKNOWN) {
			threads->threads[thread].pid = pid;
			FS_TRY(timeline_add(&threads->by_task, task_key(pid, tid), 0,
					    (uint64_t)thread));
		} else {
			thread = FS_NONE;
		}
		from = 0;
		to = UINT64_MAX;
	}
	if (thread == FS_NONE)
		FS_TRY(make_thread(threads, pid, tid, &thread));
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
	uint64_t from = 0;
	uint64_t to = UINT64_MAX;

	if (!timeline_find(&threads->by_pid, pid, time_ns, ret_space, &from, &to)) {
		FS_TRY(add_space(threads, pid, 0, FS_NONE, ret_space));
		FS_TRY(timeline_add(&threads->by_pid, pid, 0, (uint64_t)*ret_space));
	}
	if (ret_from) {
		*ret_from = from;
		*ret_to = to;
	}
	return 0;
}

/* ---- activity ---- */

static unsigned int slice_base(const struct fs_threads *threads)
{
	return (unsigned int)(threads->first_slice & ~1ull) & 63;
}

static uint64_t rotate_right(uint64_t bits, unsigned int by)
{
	return by ? bits >> by | bits << (64 - by) : bits;
}

/* Bit i of the result: bit 2 i or 2 i + 1 is set. */
static uint64_t fold(uint64_t bits)
{
	bits = (bits | bits >> 1) & 0x5555555555555555u;
	bits = (bits | bits >> 1) & 0x3333333333333333u;
	bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0fu;
	bits = (bits | bits >> 4) & 0x00ff00ff00ff00ffu;
	bits = (bits | bits >> 8) & 0x0000ffff0000ffffu;
	return (bits | bits >> 16) & 0x00000000ffffffffu;
}

/* Make each slice twice as wide. */
static void widen_slices(struct fs_threads *threads)
{
	unsigned int base = slice_base(threads);

	threads->slice_shift++;
	threads->first_slice /= 2;
	threads->last_slice /= 2;
	for (size_t i = 0; i < threads->count; i++) {
		uint64_t *active = &threads->threads[i].active;

		if (*active)
			*active = rotate_right(fold(rotate_right(*active, base)),
					       (64 - (unsigned int)threads->first_slice) & 63);
	}
}

/* The bit of the slice of a time, after slices were made to reach there. */
static uint64_t slice_bit(struct fs_threads *threads, uint64_t time_ns)
{
	uint64_t slice = time_ns >> threads->slice_shift;

	if (slice >= threads->first_slice && slice <= threads->last_slice)
		return 1ull << (slice & 63);
	if (threads->first_slice > threads->last_slice)
		threads->first_slice = threads->last_slice = slice;
	for (;;) {
		uint64_t first = slice < threads->first_slice ? slice : threads->first_slice;
		uint64_t last = slice > threads->last_slice ? slice : threads->last_slice;

		if (last - (first & ~1ull) < 64) {
			threads->first_slice = first;
			threads->last_slice = last;
			return 1ull << (slice & 63);
		}
		widen_slices(threads);
		slice = time_ns >> threads->slice_shift;
	}
}

void fs_threads_note_sample(struct fs_threads *threads, int64_t thread, uint64_t time_ns)
{
	struct fs_thread *seen = &threads->threads[thread];

	seen->samples++;
	if (!time_ns)
		return;
	if (!seen->first_sample_ns || time_ns < seen->first_sample_ns)
		seen->first_sample_ns = time_ns;
	if (time_ns > seen->last_sample_ns)
		seen->last_sample_ns = time_ns;
	seen->active |= slice_bit(threads, time_ns);
}

uint64_t fs_threads_active(const struct fs_threads *threads, int64_t thread)
{
	return rotate_right(threads->threads[thread].active, slice_base(threads));
}
