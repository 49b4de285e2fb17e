/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who ran on a CPU, over time, as context switches tell. A recording may hold tens of millions of
 * them, so they are not held in memory.
 *
 * Pass one notes switches in file order. When a run of them is full it is sorted and goes to a
 * temporary file; fs_switches_settle() merges the runs into another, by CPU, source and time. From
 * then on fs_switches_running() answers from one block of it that is in memory: samples of a CPU
 * come in order of time, so the next answer mostly lies in the same block. What fits into one run
 * never leaves memory.
 *
 *   settled: | CPU 0, records: from 0, from 120, ... | CPU 0, tracepoint: ... | CPU 1, ... |
 */
#ifndef FS_SESSION_SWITCHES_H
#define FS_SESSION_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/access.h"
#include "common/error.h"
#include "common/table.h"

/* Who runs on a CPU from time_ns on. */
struct fs_switch {
	uint64_t time_ns;
	uint32_t pid, tid; /* FS_PID_UNKNOWN: nobody that is known */
	enum fs_attribution attribution;
	uint32_t unused;
};

/* What tells of a switch, in order of trust. */
enum fs_switch_source {
	FS_SWITCH_RECORD,     /* SWITCH, SWITCH_CPU_WIDE */
	FS_SWITCH_TRACEPOINT, /* sched_switch */
	FS_SWITCH_ITRACE,     /* ITRACE_START, which holds until one of the others */
	FS_SWITCH_SOURCES,
};

/* One switch as it is noted. */
struct fs_switch_event {
	struct fs_switch to;
	uint64_t order;	 /* file offset */
	uint32_t before; /* tid that ran before; FS_PID_UNKNOWN: not told */
	uint16_t cpu;
	uint8_t source;	  /* enum fs_switch_source */
	uint8_t one_task; /* of a task's event, which sees only when this task goes */
};

struct fs_switches {
	struct fs_switch_event *pending;
	size_t pending_count, pending_capacity;
	size_t run_max; /* switches of a run; tests make it small */
	int runs_fd;	/* -1: nothing was written yet */
	uint64_t *run_ends;
	size_t run_count, run_capacity;

	/* settled */
	struct fs_table lists; /* u64 cpu << 8 | source -> struct list of switches.c */
	int fd;		       /* of the settled switches; -1: the block is all */
	struct fs_switch *block;
	uint64_t block_first;
	size_t block_count, block_capacity;
	size_t block_max;
	uint64_t written;

	/* the last answer, and when it holds: [from_ns, to_ns) */
	struct fs_switch answer;
	uint32_t answer_cpu;
	uint64_t from_ns, to_ns;
};

void fs_switches_init(struct fs_switches *switches);
void fs_switches_free(struct fs_switches *switches);

/* Returns 0, FS_NOMEM, or FS_OUTPUT when the temporary file cannot be written. */
int fs_switches_note(struct fs_switches *switches, const struct fs_switch_event *event,
		     struct fs_error *error);

/*
 * Sort what was noted. Of one instant the switch noted last counts. A sched_switch also tells who
 * ran before it: that holds back to the start where it is the first of its CPU. Where it
 * contradicts the one before, switches in between were lost, and nobody is known; but a task's own
 * event never sees that the task comes back, so there it was that task. Errors as above.
 */
int fs_switches_settle(struct fs_switches *switches, struct fs_error *error);

/* Who ran on a CPU at time_ns by the most trusted source that knows; tid FS_PID_UNKNOWN when none
 * does. Returns 0, or FS_REFUSED when the temporary file cannot be read. */
int fs_switches_running(struct fs_switches *switches, uint32_t cpu, uint64_t time_ns,
			struct fs_switch *ret_switch, struct fs_error *error);

#endif
