/* SPDX-License-Identifier: GPL-2.0-only */
#include "query/perf_maps.h"

#include <stdlib.h>

#include "common/vector.h"
#include "query/database.h"

enum { FORK_DEPTH_MAX = 64 };

#define NEVER INT64_MAX

static int no_memory(struct fs_error *error)
{
	return fs_fail(error, FS_NOMEM, "out of memory");
}

static int add_process(struct fs_perf_maps *maps, int64_t pid, int64_t start_ns,
		       struct fs_error *error)
{
	if (FS_RESERVE(maps->processes, maps->capacity, maps->count + 1))
		return no_memory(error);
	maps->processes[maps->count++] =
		(struct fs_perf_process){ .pid = pid, .start_ns = start_ns, .parent = -1 };
	return 0;
}

static int add_space(struct fs_perf_maps *maps, int64_t id, int64_t process, struct fs_error *error)
{
	size_t index = (size_t)(id - maps->first_space);

	if (FS_RESERVE(maps->spaces, maps->space_capacity, index + 1))
		return no_memory(error);
	for (; maps->space_count <= index; maps->space_count++)
		maps->spaces[maps->space_count] = FS_PERF_NOBODY;
	maps->spaces[index] = process;
	return 0;
}

/* One process for each run of images that follow a fork by exec. */
static int load_processes(struct fs_perf_maps *maps, const struct fs_query *query, int64_t trace_id,
			  struct fs_error *error)
{
	sqlite3_stmt *row = NULL;
	int code = fs_database_prepare(
		query,
		"SELECT id, pid, coalesce(start_ns, 0), parent_id IS NOT NULL, "
		"min(id) OVER (), max(id) OVER () - min(id) OVER () < 2 * count(*) OVER () + 8 "
		"FROM space WHERE trace_id = ? AND kind = 'process' AND pid IS NOT NULL "
		"ORDER BY pid, 3, id",
		&row, error);

	if (code)
		return code;
	sqlite3_bind_int64(row, 1, trace_id);
	while (!code && sqlite3_step(row) == SQLITE_ROW) {
		int64_t pid = sqlite3_column_int64(row, 1);

		if (!sqlite3_column_int(row, 5)) {
			code = fs_fail(error, FS_REFUSED,
				       "%s: the ids of the table space have gaps", query->path);
			break;
		}
		maps->first_space = sqlite3_column_int64(row, 4);
		if (sqlite3_column_int(row, 3) || maps->processes[maps->count - 1].pid != pid)
			code = add_process(maps, pid, sqlite3_column_int64(row, 2), error);
		if (!code)
			code = add_space(maps, sqlite3_column_int64(row, 0),
					 (int64_t)maps->count - 1, error);
	}
	sqlite3_finalize(row);
	return code;
}

static int load_parents(struct fs_perf_maps *maps, const struct fs_query *query, int64_t trace_id,
			struct fs_error *error)
{
	sqlite3_stmt *row = NULL;
	int code = fs_database_prepare(query,
				       "SELECT id, parent_id FROM space WHERE trace_id = ? AND "
				       "kind = 'process' AND parent_id IS NOT NULL",
				       &row, error);

	if (code)
		return code;
	sqlite3_bind_int64(row, 1, trace_id);
	while (sqlite3_step(row) == SQLITE_ROW) {
		int64_t process = fs_perf_maps_process(maps, sqlite3_column_int64(row, 0));

		if (process > FS_PERF_KERNEL)
			maps->processes[process].parent =
				fs_perf_maps_process(maps, sqlite3_column_int64(row, 1));
	}
	sqlite3_finalize(row);
	return 0;
}

/* The process that was pid at a time: the last that had started, else the first; -1: none. */
static int64_t process_at(const struct fs_perf_maps *maps, int64_t pid, int64_t time_ns)
{
	size_t low = FS_PERF_KERNEL + 1;
	size_t high = maps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct fs_perf_process *process = &maps->processes[middle];

		if (process->pid < pid || (process->pid == pid && process->start_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > FS_PERF_KERNEL + 1 && maps->processes[low - 1].pid == pid)
		return (int64_t)low - 1;
	return low < maps->count && maps->processes[low].pid == pid ? (int64_t)low : -1;
}

/* Maps come in order of time. perf takes a kernel without a size for all of memory. */
static int load_maps(struct fs_perf_maps *maps, const struct fs_query *query, int64_t trace_id,
		     struct fs_error *error)
{
	sqlite3_stmt *row = NULL;
	int code = fs_database_prepare(query,
				       "SELECT pid, coalesce(time_ns, 0), addr, length FROM map "
				       "WHERE trace_id = ? ORDER BY 2",
				       &row, error);

	if (code)
		return code;
	sqlite3_bind_int64(row, 1, trace_id);
	while (!code && sqlite3_step(row) == SQLITE_ROW) {
		bool kernel = sqlite3_column_type(row, 0) == SQLITE_NULL;
		int64_t time_ns = sqlite3_column_int64(row, 1);
		int64_t index = kernel ? FS_PERF_KERNEL
				       : process_at(maps, sqlite3_column_int64(row, 0), time_ns);
		uint64_t start = (uint64_t)sqlite3_column_int64(row, 2);
		uint64_t length = (uint64_t)sqlite3_column_int64(row, 3);
		struct fs_perf_process *process;

		if (index < 0)
			continue;
		process = &maps->processes[index];
		if ((kernel && !start && !length) || length > UINT64_MAX - start)
			length = UINT64_MAX - start;
		if (FS_RESERVE(process->maps, process->map_capacity, process->map_count + 1))
			code = no_memory(error);
		else if (length)
			process->maps[process->map_count++] =
				(struct fs_perf_map){ start, start + length, time_ns };
	}
	sqlite3_finalize(row);
	return code;
}

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* The last edge at or below the address; edge_count when there is none. */
static size_t find_edge(const struct fs_perf_process *process, uint64_t address)
{
	size_t low = 0;
	size_t high = process->edge_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->edges[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : process->edge_count;
}

/* The next stretch at or behind `index` that no mapping has covered so far. */
static size_t next_free(size_t *next, size_t index)
{
	size_t end = index;

	while (next[end] != end)
		end = next[end];
	while (next[index] != end) {
		size_t after = next[index];

		next[index] = end;
		index = after;
	}
	return end;
}

/* The earliest mapping of each stretch: maps are in order of time, the first to come stays. */
static int settle(struct fs_perf_process *process, struct fs_error *error)
{
	size_t most = 2 * process->map_count;
	size_t *next;

	if (!most)
		return 0;
	process->edges = calloc(most, sizeof(*process->edges));
	process->since = calloc(most, sizeof(*process->since));
	next = calloc(most + 1, sizeof(*next));
	if (!process->edges || !process->since || !next) {
		free(next);
		return no_memory(error);
	}
	for (size_t i = 0; i < process->map_count; i++) {
		process->edges[2 * i] = process->maps[i].start;
		process->edges[2 * i + 1] = process->maps[i].end;
	}
	qsort(process->edges, most, sizeof(*process->edges), by_value);
	for (size_t i = 0; i < most; i++) {
		if (!i || process->edges[i] != process->edges[process->edge_count - 1])
			process->edges[process->edge_count++] = process->edges[i];
	}
	for (size_t i = 0; i <= process->edge_count; i++)
		next[i] = i;
	for (size_t i = 0; i < process->edge_count; i++)
		process->since[i] = NEVER;
	for (size_t i = 0; i < process->map_count; i++) {
		const struct fs_perf_map *map = &process->maps[i];
		size_t end = find_edge(process, map->end);

		for (size_t at = next_free(next, find_edge(process, map->start)); at < end;
		     at = next_free(next, at)) {
			process->since[at] = map->since_ns;
			next[at] = at + 1;
		}
	}
	free(next);
	return 0;
}

int fs_perf_maps_load(struct fs_perf_maps *maps, const struct fs_query *query, int64_t trace_id,
		      struct fs_error *error)
{
	FS_TRY(add_process(maps, -1, 0, error)); /* FS_PERF_KERNEL */
	FS_TRY(load_processes(maps, query, trace_id, error));
	FS_TRY(load_parents(maps, query, trace_id, error));
	FS_TRY(load_maps(maps, query, trace_id, error));
	for (size_t i = 0; i < maps->count; i++)
		FS_TRY(settle(&maps->processes[i], error));
	return 0;
}

void fs_perf_maps_free(struct fs_perf_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		free(maps->processes[i].maps);
		free(maps->processes[i].edges);
		free(maps->processes[i].since);
	}
	free(maps->processes);
	free(maps->spaces);
}

int64_t fs_perf_maps_process(const struct fs_perf_maps *maps, int64_t space_id)
{
	if (space_id < maps->first_space ||
	    space_id - maps->first_space >= (int64_t)maps->space_count)
		return FS_PERF_NOBODY;
	return maps->spaces[space_id - maps->first_space];
}

bool fs_perf_maps_cover(const struct fs_perf_maps *maps, int64_t process, uint64_t address,
			int64_t time_ns)
{
	for (int depth = 0; process >= 0 && depth < FORK_DEPTH_MAX; depth++) {
		const struct fs_perf_process *owner = &maps->processes[process];
		size_t edge = find_edge(owner, address);

		if (edge < owner->edge_count && owner->since[edge] != NEVER &&
		    owner->since[edge] <= time_ns)
			return true;
		if (owner->start_ns < time_ns)
			time_ns = owner->start_ns;
		process = owner->parent;
	}
	return false;
}
