/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which addresses perf has a mapping for, to emulate the "No Page Map Rejects" of `perf c2c`.
 *
 * perf forgets no mapping but by another one in its place, a forked process starts with its
 * parent's, and exec drops none. So an address is mapped from the first mapping of it on, and one
 * number for each stretch of addresses is enough:
 *
 *   edges:  e0      e1        e2      e3
 *   since:     t=0      t=50      t=0
 */
#ifndef FS_QUERY_PERF_MAPS_H
#define FS_QUERY_PERF_MAPS_H

#include "query/query.h"

struct fs_perf_map {
	uint64_t start, end; /* [start, end) */
	int64_t since_ns;
};

/* Mappings of a process, or the kernel's. */
struct fs_perf_process {
	int64_t pid;
	int64_t start_ns; /* of the fork; 0: before the recording */
	int64_t parent;	  /* index, -1: none */
	struct fs_perf_map *maps;
	size_t map_count, map_capacity;
	uint64_t *edges;
	int64_t *since; /* of [edges[i], edges[i + 1]); INT64_MAX: never */
	size_t edge_count;
};

struct fs_perf_maps {
	struct fs_perf_process *processes; /* the first is the kernel; others by pid and start */
	size_t count, capacity;
	int64_t first_space; /* smallest space.id */
	int64_t *spaces;     /* space.id - first_space -> index of the process, -1: none */
	size_t space_count, space_capacity;
};

/* Start with *maps zeroed; free it also after a failure. */
int fs_perf_maps_load(struct fs_perf_maps *maps, const struct fs_query *query, int64_t trace_id,
		      struct fs_error *error);
void fs_perf_maps_free(struct fs_perf_maps *maps);

enum { FS_PERF_KERNEL = 0, FS_PERF_NOBODY = -1 };

/* The process of a space.id, FS_PERF_NOBODY if it is none of the trace. */
int64_t fs_perf_maps_process(const struct fs_perf_maps *maps, int64_t space_id);

/* Whether a process, or FS_PERF_KERNEL, had the address mapped at that time. */
bool fs_perf_maps_cover(const struct fs_perf_maps *maps, int64_t process, uint64_t address,
			int64_t time_ns);

#endif
