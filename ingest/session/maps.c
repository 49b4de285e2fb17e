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
	free(maps->edges);
	free(maps->lists);
	free(maps->listed);
	free(maps->dsos);
	fs_table_free(&maps->roots);
	fs_table_free(&maps->dso_ids);
}

int fs_maps_dso(struct fs_maps *maps, uint32_t path, int64_t build_id, uint16_t cpumode,
		uint32_t *ret_dso)
{
	/* a guest's file is another than ours of the same name; so is a KSYMBOL */
	int64_t key[2] = { path | (int64_t)(cpumode & FS_CPUMODE_ELSEWHERE) << 32, build_id };
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

static int by_time(const void *a, const void *b, void *context)
{
	const struct fs_map *maps = context;
	const struct fs_map *left = &maps[*(const uint32_t *)a];
	const struct fs_map *right = &maps[*(const uint32_t *)b];

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* The piece that an address lies in, `count` - 1 if it lies behind the last edge; the address is
 * not below the first. */
static size_t find_piece(const uint64_t *edges, size_t count, uint64_t address)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (edges[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

/* Count a mapping in each node that it is listed in; once there is room, write it there. */
static void list_map(struct fs_maps *maps, const uint32_t *root, size_t index, size_t *next)
{
	const struct fs_map *map = &maps->maps[index];
	const uint64_t *edges = maps->edges + root[0];
	size_t base = 2 * (size_t)root[0];
	size_t pieces = root[1] - 1;
	size_t low = find_piece(edges, root[1], map->start) + pieces;
	size_t high = find_piece(edges, root[1], map->end) + pieces;

	for (; low < high; low /= 2, high /= 2) {
		size_t node[2] = { low & 1 ? low++ : 0, high & 1 ? --high : 0 };

		for (unsigned int i = 0; i < 2; i++) {
			if (!node[i])
				continue;
			if (maps->listed)
				maps->listed[next[base + node[i]]] = (uint32_t)index;
			next[base + node[i]]++;
		}
	}
}

/* The sorted edges of the mappings [first, end) of one process, each once. */
static int add_edges(struct fs_maps *maps, size_t first, size_t end, size_t *used)
{
	uint64_t pid = maps->maps[first].pid;
	uint32_t *root = fs_table_put(&maps->roots, &pid, NULL, NULL);
	uint64_t *edges = maps->edges + *used;
	size_t count = 0;
	size_t kept = 0;

	if (!root)
		return FS_NOMEM;
	for (size_t i = first; i < end; i++) {
		edges[count++] = maps->maps[i].start;
		edges[count++] = maps->maps[i].end;
	}
	qsort(edges, count, sizeof(*edges), by_value);
	for (size_t i = 0; i < count; i++)
		if (!kept || edges[kept - 1] != edges[i])
			edges[kept++] = edges[i];
	root[0] = (uint32_t)*used;
	root[1] = (uint32_t)kept;
	*used += kept;
	return 0;
}

/* List each mapping in its nodes, all in order of time: once to count, once to write. */
static int make_lists(struct fs_maps *maps, const uint32_t *order, size_t nodes)
{
	size_t *next = calloc(nodes + 1, sizeof(*next));
	size_t total = 0;

	maps->lists = calloc(nodes + 1, sizeof(*maps->lists));
	if (!next || !maps->lists) {
		free(next);
		return FS_NOMEM;
	}
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < maps->count; i++) {
			uint64_t pid = maps->maps[order[i]].pid;

			list_map(maps, fs_table_get(&maps->roots, &pid), order[i], next);
		}
		if (pass)
			break;
		for (size_t node = 0; node <= nodes; node++) {
			maps->lists[node] = total;
			total += next[node];
			next[node] = maps->lists[node];
		}
		maps->listed = calloc(total + 1, sizeof(*maps->listed));
		if (!maps->listed)
			break;
	}
	free(next);
	return maps->listed ? 0 : FS_NOMEM;
}

int fs_maps_settle(struct fs_maps *maps)
{
	uint32_t *order;
	size_t edges = 0;
	int code;

	free(maps->edges);
	free(maps->lists);
	free(maps->listed);
	maps->edges = NULL;
	maps->lists = NULL;
	maps->listed = NULL;
	fs_table_clear(&maps->roots);
	if (!maps->count)
		return 0;
	if (maps->count > UINT32_MAX / 2)
		return FS_NOMEM;
	qsort(maps->maps, maps->count, sizeof(*maps->maps), by_pid_and_start);
	maps->edges = calloc(2 * maps->count, sizeof(*maps->edges));
	order = calloc(maps->count, sizeof(*order));
	code = maps->edges && order ? 0 : FS_NOMEM;
	for (size_t first = 0, end; !code && first < maps->count; first = end) {
		for (end = first + 1;
		     end < maps->count && maps->maps[end].pid == maps->maps[first].pid; end++)
			;
		code = add_edges(maps, first, end, &edges);
	}
	if (!code) {
		for (size_t i = 0; i < maps->count; i++)
			order[i] = (uint32_t)i;
		qsort_r(order, maps->count, sizeof(*order), by_time, maps->maps);
		code = make_lists(maps, order, 2 * edges);
	}
	free(order);
	return code;
}

struct query {
	const struct fs_maps *maps;
	uint64_t from_ns, to_ns; /* mappings made in [from, to] count */
	int64_t best;
	uint64_t next_ns; /* when the next mapping of the address is made */
};

/* The latest mapping of a node that was made in time, and when the next is made. */
static void look_in(struct query *query, const uint32_t *listed, size_t count)
{
	const struct fs_map *maps = query->maps->maps;
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps[listed[middle]].time_ns <= query->to_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < count && maps[listed[low]].time_ns < query->next_ns)
		query->next_ns = maps[listed[low]].time_ns;
	if (!low || maps[listed[low - 1]].time_ns < query->from_ns)
		return;
	if (query->best == FS_NONE || maps[listed[low - 1]].time_ns > maps[query->best].time_ns ||
	    (maps[listed[low - 1]].time_ns == maps[query->best].time_ns &&
	     maps[listed[low - 1]].order > maps[query->best].order))
		query->best = listed[low - 1];
}

static void look_up(struct query *query, uint64_t pid, uint64_t address)
{
	const struct fs_maps *maps = query->maps;
	const uint32_t *root = fs_table_get(&maps->roots, &pid);
	size_t piece;

	if (!root || address < maps->edges[root[0]])
		return;
	piece = find_piece(maps->edges + root[0], root[1], address);
	if (piece + 1 >= root[1])
		return;
	for (size_t node = piece + root[1] - 1; node; node /= 2) {
		size_t list = 2 * (size_t)root[0] + node;

		look_in(query, maps->listed + maps->lists[list],
			maps->lists[list + 1] - maps->lists[list]);
	}
}

int64_t fs_maps_find(const struct fs_maps *maps, const struct fs_threads *threads, int64_t space,
		     uint64_t address, uint64_t time_ns, uint64_t *ret_from, uint64_t *ret_to)
{
	struct query query = { .maps = maps, .to_ns = time_ns, .best = FS_NONE };

	*ret_from = 0;
	*ret_to = UINT64_MAX;
	for (int depth = 0; space != FS_NONE && depth < FORK_DEPTH_MAX; depth++) {
		const struct fs_space *image = &threads->spaces[space];

		if (image->kind == FS_SPACE_UNKNOWN)
			break;
		query.from_ns = image->start_ns;
		query.next_ns = UINT64_MAX;
		look_up(&query, image->kind == FS_SPACE_KERNEL ? FS_PID_KERNEL : image->pid,
			address);
		/* what an ancestor maps after the fork does not concern this image */
		if (!depth)
			*ret_to = query.next_ns;
		if (!depth && query.best != FS_NONE)
			*ret_from = maps->maps[query.best].time_ns;
		if (query.best != FS_NONE)
			break;
		query.to_ns = image->start_ns;
		space = image->parent;
	}
	return query.best;
}
