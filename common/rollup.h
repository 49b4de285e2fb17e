/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The aggregator: memory accesses in any order to sums by line, by access and by time window.
 *
 * Accesses are collected in chunks; a full chunk is sorted by (space, address, operation, code,
 * thread, time) and spilled to an unlinked temporary file, by a thread of its own. At the end the
 * sorted runs are merged, so that all accesses of a line come together and in order, and each sum
 * needs one accumulator:
 *
 *   chunk ─sort─▶ run 0 ┐
 *   chunk ─sort─▶ run 1 ├─merge─▶ line ▶ totals            (every line)
 *   chunk ─sort─▶ run 2 ┘          └──▶ groups, windows    (blocks that two threads share)
 *
 * Memory is bounded by the chunk, the kept blocks and the kept windows, whatever the number of
 * accesses. Groups and windows are kept by blocks of four lines, so that wider lines, and lines
 * that move with their neighbour, can be judged from them. Only blocks that two threads touched,
 * with at least one write or one transfer between caches, keep them; of those the
 * FS_ROLLUP_BLOCKS_MAX with most evidence. The width of a window starts at FS_ROLLUP_WINDOW_NS and
 * doubles whenever more than FS_ROLLUP_WINDOWS_MAX windows would be kept; where most accesses have
 * but one window, fewer blocks are kept instead.
 */
#ifndef FS_COMMON_ROLLUP_H
#define FS_COMMON_ROLLUP_H

#include <pthread.h>
#include <stdbool.h>

#include "common/access.h"
#include "common/error.h"
#include "common/histogram.h"
#include "common/table.h"

enum {
	FS_ROLLUP_CHUNK = 1 << 19,	 /* accesses; 28 MiB */
	FS_ROLLUP_BLOCKS_MAX = 1 << 12,	 /* blocks kept in detail */
	FS_ROLLUP_GROUPS_MAX = 1 << 18,	 /* groups kept, but always those of one block */
	FS_ROLLUP_WINDOWS_MAX = 1 << 17, /* windows kept */
	FS_ROLLUP_WINDOW_NS = 1 << 14,
	FS_ROLLUP_LINE = 64,   /* wider lines are made of these */
	FS_ROLLUP_BLOCK = 256, /* the widest */
};

/* No code, thread, CPU. */
#define FS_ROLLUP_NONE UINT32_MAX

/* One sampled access. */
struct fs_rollup_access {
	uint64_t addr;
	uint64_t time_ns;   /* 0: not known */
	uint64_t phys_addr; /* 0: not known */
	uint32_t space;
	uint32_t code;
	uint32_t thread;
	uint32_t event;
	uint32_t cpu;
	uint32_t latency; /* cycles; 0: not known */
	uint32_t period;
	uint32_t access; /* packed, common/access.h */
};

/* Sums over accesses. */
struct fs_rollup_sums {
	uint64_t samples;
	uint64_t period;
	uint64_t l1_misses;
	uint64_t dirty_snoops;
	uint64_t transfers;
	uint64_t latency_samples;
	uint64_t latency_sum;
	uint32_t latency_max;
};

/* A row of `access`. */
struct fs_rollup_group {
	uint32_t space, event, op, code, thread, cpu, source;
	uint64_t addr;
	int64_t phys_line; /* 0: not known, -1: several */
	struct fs_rollup_sums sums;
	uint64_t first_ns, last_ns; /* 0: not known */
	size_t histogram;	    /* packed form: offset in fs_rollup.histograms */
	size_t histogram_size;
};

/* A row of `access_window`. */
struct fs_rollup_window {
	uint64_t addr;
	uint64_t window; /* time / width */
	uint64_t samples;
	uint64_t transfers;
	uint64_t latency_sum;
	uint32_t space, op, code, thread;
};

/* A row of `line_total`. */
struct fs_rollup_line {
	uint32_t space;
	uint32_t threads; /* 2: two or more */
	uint64_t line;
	uint64_t loads, stores, atomics;
	struct fs_rollup_sums sums;
};

/* Key and value of fs_rollup.codes: code_total by latency bucket. */
struct fs_rollup_code {
	uint32_t event, code;
	uint16_t op, source;
	uint32_t bucket; /* FS_HISTOGRAM_BUCKETS: no latency */
};
struct fs_rollup_code_sums {
	uint64_t samples, period, latency_sum;
};

struct fs_rollup {
	struct fs_rollup_chunk {
		struct fs_rollup_access *accesses;
		size_t used;
		void *order; /* scratch for sorting */
	} chunks[2];	     /* one is filled while a thread sorts and spills the other */
	int filling;
	pthread_t sorter;
	bool sorting;
	int sort_errno;	    /* of the last spill; 0: it went well */
	bool has_spill;	    /* not told by the number: all zero must be safe to free */
	int spill;	    /* temporary file */
	uint64_t *run_ends; /* in accesses, of each run in the spill file */
	size_t run_count, run_capacity;

	struct fs_table codes;

	/* filled by fs_rollup_finish() */
	struct fs_rollup_line *lines;
	size_t line_count, line_capacity;
	struct fs_rollup_group *groups;
	size_t group_count, group_capacity;
	struct fs_rollup_window *windows;
	size_t window_count, window_capacity;
	uint8_t *histograms;
	size_t histograms_used, histograms_capacity;
	unsigned int window_shift; /* width = 1 << shift ns */
	uint64_t undetailed_lines; /* that two threads share, but over the limit */
	uint64_t undetailed_samples;
	uint64_t dropped_score;	     /* private: the most that a block had which was dropped */
	struct fs_rollup_kept *kept; /* private: blocks in detail */
	size_t kept_count, kept_capacity;
};

int fs_rollup_init(struct fs_rollup *rollup);
void fs_rollup_free(struct fs_rollup *rollup);

/* Add an access. The spill file is made in $TMPDIR, else /tmp, and has no name. */
int fs_rollup_add(struct fs_rollup *rollup, const struct fs_rollup_access *access,
		  struct fs_error *error);

/* Sort, merge and sum up; the arrays above are then valid until fs_rollup_free(). */
int fs_rollup_finish(struct fs_rollup *rollup, struct fs_error *error);

#endif
