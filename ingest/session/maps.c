/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/session/maps.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/vector.h"

enum { FORK_DEPTH_MAX = 64 };

void fs_maps_init(struct fs_maps *maps)
{
	*maps = (struct fs_maps){ 0 };
	fs_table_init(&maps->roots, 8, 8);
	fs_table_init(&maps->dso_ids, 16, 8);
}

void fs_maps_free(struct fs_maps *maps)
{
	free(maps->maps);
	free(maps->reach);
	free(maps->dsos);
	fs_table_free(&maps->roots);
	fs_table_free(&maps->dso_ids);
}

int fs_maps_dso(struct fs_maps *maps, uint32_t path, int64_t build_id, uint16_t cpumode,
		uint32_t *ret_dso)
{
	int64_t key[2] = { path, build_id };
	uint64_t *index;
	bool added;

	index = fs_table_put(&maps->dso_ids, key, NULL, &added);
	if (!index)
		return FS_NOMEM;
	if (added) {
		FS_TRY(FS_RESERVE(maps->dsos, maps->dso_capacity, maps->dso_count + 1));
		maps->dsos[maps->dso_count] = (struct fs_dso){
			.path = path,
			.build_id = build_id,
			.cpumode = cpumode,
		};
		*index = maps->dso_count++;
	}
	*ret_dso = (uint32_t)*index;
	return 0;
}

int fs_maps_note(struct fs_maps *maps, const struct fs_map *map)
{
	FS_TRY(FS_RESERVE(maps->maps, maps->capacity, maps->count + 1));
	maps->maps[maps->count++] = *map;
	return 0;
}

static int by_pid_and_start(const void *a, const void *b)
{
	const struct fs_map *left = a;
	const struct fs_map *right = b;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static uint64_t set_reach(struct fs_maps *maps, size_t first, size_t end)
{
	size_t middle = first + (end - first) / 2;
	uint64_t reach;
	uint64_t other;

	if (first == end)
		return 0;
	reach = maps->maps[middle].end;
	other = set_reach(maps, first, middle);
	reach = other > reach ? other : reach;
	other = set_reach(maps, middle + 1, end);
	reach = other > reach ? other : reach;
	maps->reach[middle] = reach;
	return reach;
}

int fs_maps_settle(struct fs_maps *maps)
{
	qsort(maps->maps, maps->count, sizeof(*maps->maps), by_pid_and_start);
	maps->reach = calloc(maps->count ? maps->count : 1, sizeof(*maps->reach));
	if (!maps->reach)
		return FS_NOMEM;
	for (size_t first = 0, end; first < maps->count; first = end) {
		uint64_t pid = maps->maps[first].pid;
		uint32_t *root = fs_table_put(&maps->roots, &pid, NULL, NULL);

		if (!root)
			return FS_NOMEM;
		for (end = first; end < maps->count && maps->maps[end].pid == pid; end++)
			;
		root[0] = (uint32_t)first;
		root[1] = (uint32_t)end;
		set_reach(maps, first, end);
	}
	return 0;
}

struct query {
	const struct fs_maps *maps;
	uint64_t address;
	uint64_t from_ns, to_ns; /* mappings made in [from, to] count */
	int64_t best;
	uint64_t next_ns; /* when the next mapping of the address is made */
};

static void consider(struct query *query, size_t index)
{
	const struct fs_map *map = &query->maps->maps[index];
	const struct fs_map *best = query->best == FS_NONE ? NULL : &query->maps->maps[query->best];

	if (map->end <= query->address || map->time_ns < query->from_ns)
		return;
	if (map->time_ns > query->to_ns) {
		if (map->time_ns < query->next_ns)
			query->next_ns = map->time_ns;
		return;
	}
	if (!best || map->time_ns > best->time_ns ||
	    (map->time_ns == best->time_ns && map->order > best->order))
		query->best = (int64_t)index;
}

static void visit(struct query *query, size_t first, size_t end)
{
	size_t middle = first + (end - first) / 2;

	if (first == end || query->maps->reach[middle] <= query->address)
		return;
	visit(query, first, middle);
	if (query->maps->maps[middle].start > query->address)
		return;
	consider(query, middle);
	visit(query, middle + 1, end);
}

int64_t fs_maps_find(const struct fs_maps *maps, const struct fs_threads *threads, int64_t space,
		     uint64_t address, uint64_t time_ns, uint64_t *ret_from, uint64_t *ret_to)
{
	struct query query = { .maps = maps,
			       .address = address,
			       .to_ns = time_ns,
			       .best = FS_NONE,
			       .next_ns = UINT64_MAX };

	for (int depth = 0; space != FS_NONE && depth < FORK_DEPTH_MAX; depth++) {
		const struct fs_space *image = &threads->spaces[space];
		uint64_t pid = image->kind == FS_SPACE_KERNEL ? FS_PID_KERNEL : image->pid;
		const uint32_t *root = fs_table_get(&maps->roots, &pid);

		if (image->kind == FS_SPACE_UNKNOWN)
			break;
		query.from_ns = image->start_ns;
		if (root)
			visit(&query, root[0], root[1]);
		if (query.best != FS_NONE || image->parent == FS_NONE)
			break;
		query.to_ns = image->start_ns;
		space = image->parent;
	}
	*ret_from = query.best == FS_NONE ? time_ns : maps->maps[query.best].time_ns;
	*ret_to = query.next_ns;
	return query.best;
}
