/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was mapped where, over time.
 *
 * Pass one notes every MMAP and MMAP2. perf records no unmapping: a later mapping replaces what it
 * covers of the earlier ones. fs_maps_settle() therefore cuts the addresses of each process at
 * the ends of its mappings and builds a segment tree over the pieces. A mapping is listed in the
 * few nodes that make up its range, each node lists its mappings by time, and a lookup searches
 * the nodes above the address: O(log^2) however often an address was mapped.
 *
 *   mappings:   |-------- a --------|        nodes:       [abc]
 *                    |-- b --|                          /       \
 *   edges:      e0   e1      e2     e3                [..]     piece 2
 */
#ifndef FS_SESSION_MAPS_H
#define FS_SESSION_MAPS_H

#include "common/intern.h"
#include "ingest/session/threads.h"

#define FS_PID_KERNEL UINT32_MAX      /* as perf writes it */
#define FS_PID_GUEST (UINT32_MAX - 1) /* maps of guests: kept, but covering nothing of ours */

/* fs_dso.cpumode: those of records are below 8, and a guest's have bit 2 set. */
enum {
	FS_CPUMODE_KSYMBOL = 8,
	FS_CPUMODE_GUEST = 4,
	FS_CPUMODE_JIT = 16, /* functions of a JIT compiler's file */
	FS_CPUMODE_ELSEWHERE = 28,
};

struct fs_map {
	uint32_t pid, tid;
	uint64_t time_ns;    /* 0: before the recording */
	uint64_t order;	     /* file offset */
	uint64_t start, end; /* [start, end) */
	uint64_t pgoff;
	uint32_t prot, flags;
	bool has_prot; /* MMAP2 */
	bool data;     /* not executable */
	uint32_t dso;
};

struct fs_dso {
	uint32_t path;	  /* interned */
	int64_t build_id; /* interned hex, FS_NONE */
	uint16_t cpumode;
	uint64_t samples;
};

struct fs_maps {
	struct fs_map *maps;
	size_t count, capacity;
	uint64_t *edges;  /* of all processes, each process's sorted */
	size_t *lists;	  /* of node n of a process: 2 * first edge + n; where its list begins */
	uint32_t *listed; /* indexes of maps by node and time */
	struct fs_table roots; /* pid -> first edge and their number, packed as two u32 */
	struct fs_dso *dsos;
	size_t dso_count, dso_capacity;
	struct fs_table dso_ids; /* {path, build_id} -> index */
};

void fs_maps_init(struct fs_maps *maps);
void fs_maps_free(struct fs_maps *maps);

/* The DSO of a path and build-id (interned; FS_NONE: not told). Returns 0 or FS_NOMEM. */
int fs_maps_dso(struct fs_maps *maps, uint32_t path, int64_t build_id, uint16_t cpumode,
		uint32_t *ret_dso);
int fs_maps_note(struct fs_maps *maps, const struct fs_map *map);
/* Make ready for questions; again after more mappings were noted. Returns 0 or FS_NOMEM. */
int fs_maps_settle(struct fs_maps *maps);

/*
 * The index of the mapping that covers address in an image at time_ns, FS_NONE if there is none.
 * A forked image that maps nothing itself there is looked up in its parent at the time of the
 * fork. *ret_from and *ret_to bound the time for which the answer holds: [from, to), which
 * contains time_ns unless that is UINT64_MAX.
 */
int64_t fs_maps_find(const struct fs_maps *maps, const struct fs_threads *threads, int64_t space,
		     uint64_t address, uint64_t time_ns, uint64_t *ret_from, uint64_t *ret_to);

#endif
