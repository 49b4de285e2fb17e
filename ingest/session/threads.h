/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who ran: threads, their names, and process images, over time.
 *
 * Pass one notes forks, names and exits in file order; fs_threads_settle() sorts them by time and
 * builds the timelines; from then on fs_threads_find() and fs_spaces_find() answer "which thread
 * is tid T at time t" and "which process image is pid P at time t" by binary search. Threads and
 * images that are only seen in samples are added when they are asked for.
 *
 * A tid or pid that is used again gets a new entry.
 *
 *   timeline: | tid 7: from 0, from 120, from 450 | tid 9: from 0 | ... | added later |
 */
#ifndef FS_SESSION_THREADS_H
#define FS_SESSION_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h"

enum { FS_NONE = -1 }; /* no thread, space, map, code ... of that kind */

#define FS_PID_UNKNOWN UINT32_MAX

struct fs_thread {
	uint32_t pid; /* FS_PID_UNKNOWN: not told */
	uint32_t tid;
	uint64_t start_ns; /* 0: before the recording */
	uint64_t end_ns;   /* UINT64_MAX: after it */
	int64_t comm;	   /* interned last name, FS_NONE: never named */
	uint64_t samples;
	uint64_t first_sample_ns, last_sample_ns; /* 0: no sample with a time */
	uint64_t active; /* bit n % 64: sampled in time slice n; see fs_threads_active() */
};

struct fs_comm {
	int64_t thread;
	uint64_t time_ns; /* 0: before the recording */
	uint32_t name;
	bool exec;
};

enum fs_space_kind { FS_SPACE_KERNEL, FS_SPACE_PROCESS, FS_SPACE_UNKNOWN };

/* Two entries always exist: */
enum { FS_KERNEL_SPACE = 0, FS_UNKNOWN_SPACE = 1 };

struct fs_space {
	enum fs_space_kind kind;
	uint32_t pid;
	uint64_t start_ns; /* 0: before the recording */
	int64_t name;	   /* interned command name */
	int64_t parent;	   /* image that it was forked from, and still shares mappings with */
	uint64_t samples;  /* with a data address in it */
};

struct fs_thread_event {
	uint64_t time_ns;
	uint64_t order; /* file offset */
	enum { FS_THREAD_FORK, FS_THREAD_COMM, FS_THREAD_EXIT } kind;
	uint32_t pid, tid, parent_pid, parent_tid, comm;
	bool exec;
};

/* Threads or images of each key in order of their start. */
struct fs_timeline_item {
	uint64_t start_ns;
	uint64_t index;
};
struct fs_timeline {
	struct fs_table ranges; /* u64 key -> first and end in items, packed as two u32 */
	struct fs_timeline_item *items;
	size_t count, capacity;
};

struct fs_threads {
	struct fs_thread_event *events; /* until settled */
	size_t event_count, event_capacity;
	struct fs_thread *threads;
	size_t count, capacity;
	struct fs_comm *comms;
	size_t comm_count, comm_capacity;
	struct fs_space *spaces;
	size_t space_count, space_capacity;
	struct fs_timeline by_tid;
	struct fs_timeline by_task; /* key: tid << 32 | pid */
	struct fs_timeline by_pid;  /* images */
	/* Time slices of 1 << slice_shift ns, numbered from time 0; at most 64 from the even slice
	 * at or before the first to the last. */
	unsigned int slice_shift;
	uint64_t first_slice, last_slice; /* first > last: none yet */
};

/* Returns 0 or FS_NOMEM, as all of these. */
int fs_threads_init(struct fs_threads *threads);
void fs_threads_free(struct fs_threads *threads);
int fs_threads_note(struct fs_threads *threads, const struct fs_thread_event *event);
int fs_threads_settle(struct fs_threads *threads);

/*
 * The thread that is tid at time_ns, made if nobody has seen it. pid may be FS_PID_UNKNOWN.
 * *ret_from and *ret_to (may be NULL) bound the time for which the answer holds: [from, to).
 */
int fs_threads_find(struct fs_threads *threads, uint32_t pid, uint32_t tid, uint64_t time_ns,
		    int64_t *ret_thread, uint64_t *ret_from, uint64_t *ret_to);

/* The image that is pid at time_ns, made if nobody has seen it; bounds as above. */
int fs_spaces_find(struct fs_threads *threads, uint32_t pid, uint64_t time_ns, int64_t *ret_space,
		   uint64_t *ret_from, uint64_t *ret_to);

/*
 * Count a sample of a thread, and note that the thread was active then; time_ns 0: not known.
 * Slices of time double in width as the time grows that the samples span.
 */
void fs_threads_note_sample(struct fs_threads *threads, int64_t thread, uint64_t time_ns);

/* When a thread was active: bit i stands for slice first_slice / 2 * 2 + i. */
uint64_t fs_threads_active(const struct fs_threads *threads, int64_t thread);

#endif
