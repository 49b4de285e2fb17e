/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: one walk over the samples adds each to the page, or to the object, that its
 * address lies in, in a hash table. What an address of a shared line is, the table data_field
 * says; every other address belongs to the mapping or the stack that covers it, as the table region
 * says. The advice has two rules, both
 * on shares of samples, and gives the numbers that it rests on.
 */
#include "query/places.h"

#include <stdlib.h>
#include <string.h>

#include "common/access.h"
#include "common/search.h"
#include "common/vector.h"
#include "query/database.h"

enum {
	PAGE_SHIFT = 12, /* of pages whose size was not recorded */
	NODES = 64,
	OVERLAPS = 64,	     /* mappings that may lie over one another */
	ADVICE_SAMPLES = 20, /* below, shares say nothing */
	REMOTE_PERCENT = 30, /* of what memory served */
	TLB_PERCENT = 10,
	HUGE_SHIFT = 21, /* 2 MiB */
	SHIFT_MAX = 62,	 /* page sizes that an int64_t holds */
};

/* Where a sample was. */
struct place_at {
	int64_t space, addr, time_ns, page_shift;
};

struct block_range {
	uint64_t first, count; /* in fs_places.blocks */
};

struct object_key {
	int64_t space, addr;
};

static int no_memory(struct fs_error *error)
{
	return fs_fail(error, FS_NOMEM, "out of memory");
}

void fs_places_init(struct fs_places *places, struct fs_options *options, bool by_object)
{
	*places = (struct fs_places){ .options = options, .by_object = by_object };
	fs_table_init(&places->sums, sizeof(struct fs_place_key), sizeof(struct fs_place_sums));
	fs_table_init(&places->objects, sizeof(struct object_key), sizeof(struct fs_place_object));
	fs_table_init(&places->spaces, sizeof(int64_t), sizeof(int64_t));
	fs_table_init(&places->nodes, sizeof(int64_t), sizeof(int64_t));
	fs_table_init(&places->block_ranges, sizeof(int64_t), sizeof(struct block_range));
	fs_interner_init(&places->names);
}

void fs_places_free(struct fs_places *places)
{
	fs_table_free(&places->sums);
	fs_table_free(&places->objects);
	fs_table_free(&places->spaces);
	fs_table_free(&places->nodes);
	fs_table_free(&places->block_ranges);
	fs_interner_free(&places->names);
	free(places->blocks);
	for (size_t i = 0; i < places->image_count; i++)
		free(places->images[i].maps);
	free(places->images);
	free(places->ranges);
}

/* ---- what is known of the trace's memory ---- */

/* Rows come by space and address. */
static int add_map(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct fs_places *places = context;
	struct fs_place_image *image = NULL;
	int64_t space = sqlite3_column_int64(row, 0);
	const char *name = fs_database_text(row, 3);
	const char *kind = fs_database_text(row, 4);
	uint64_t start = (uint64_t)sqlite3_column_int64(row, 1);
	struct fs_place_map *map;

	if (places->image_count)
		image = &places->images[places->image_count - 1];
	if (!image || image->space != space) {
		if (FS_RESERVE(places->images, places->image_capacity, places->image_count + 1))
			return no_memory(error);
		image = &places->images[places->image_count++];
		*image = (struct fs_place_image){ .space = space };
	}
	if (FS_RESERVE(image->maps, image->capacity, image->count + 1))
		return no_memory(error);
	map = &image->maps[image->count];
	map->start = start;
	map->end = start + (uint64_t)sqlite3_column_int64(row, 2);
	if (fs_intern(&places->names, name, strlen(name), &map->name) ||
	    fs_intern(&places->names, kind, strlen(kind), &map->kind))
		return no_memory(error);
	image->count++;
	return 0;
}

static const struct fs_place_image *find_image(const struct fs_places *places, int64_t space)
{
	size_t at = FS_FIRST_AT(places->images, places->image_count, space, (uint64_t)space);

	return at < places->image_count && places->images[at].space == space ? &places->images[at]
									     : NULL;
}

/* A process that was forked and mapped nothing itself has what its parent had. */
static int add_space(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct fs_places *places = context;
	int64_t id = sqlite3_column_int64(row, 0);
	const struct fs_place_image *image = find_image(places, id);
	int64_t *index = fs_table_put(&places->spaces, &id, NULL, NULL);

	if (!index)
		return no_memory(error);
	if (!image && sqlite3_column_type(row, 1) != SQLITE_NULL)
		image = find_image(places, sqlite3_column_int64(row, 1));
	*index = image ? image - places->images : -1;
	return 0;
}

static int add_node(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct fs_places *places = context;
	int64_t cpu = sqlite3_column_int64(row, 0);
	int64_t *node = fs_table_put(&places->nodes, &cpu, NULL, NULL);

	if (!node)
		return no_memory(error);
	*node = sqlite3_column_int64(row, 1);
	return 0;
}

static int add_range(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct fs_places *places = context;
	if (FS_RESERVE(places->ranges, places->range_capacity, places->range_count + 1))
		return no_memory(error);
	places->ranges[places->range_count++] = (struct fs_memory_range){
		.first = (uint64_t)sqlite3_column_int64(row, 0),
		.last = (uint64_t)sqlite3_column_int64(row, 1),
		.node = sqlite3_column_int64(row, 2),
	};
	return 0;
}

static int add_object(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct fs_places *places = context;
	const char *name = fs_database_text(row, 3);
	struct object_key key = { sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1) };
	struct fs_place_object *object = fs_table_put(&places->objects, &key, NULL, NULL);
	uint32_t id;

	if (!object || fs_intern(&places->names, name, strlen(name), &id))
		return no_memory(error);
	object->start = sqlite3_column_int64(row, 2);
	object->name = id;
	return 0;
}

/* Rows come by space and address. */
static int add_block(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct fs_places *places = context;
	const char *site = fs_database_text(row, 5);
	uint64_t addr = (uint64_t)sqlite3_column_int64(row, 1);
	int64_t space = sqlite3_column_int64(row, 0);
	struct block_range *range = fs_table_put(&places->block_ranges, &space, NULL, NULL);
	struct fs_place_block *block;

	if (!range || FS_RESERVE(places->blocks, places->block_capacity, places->block_count + 1))
		return no_memory(error);
	block = &places->blocks[places->block_count];
	*block = (struct fs_place_block){
		.space = space,
		.addr = addr,
		.end = addr + (uint64_t)sqlite3_column_int64(row, 2),
		.alloc_ns = sqlite3_column_int64(row, 3),
		.free_ns = sqlite3_column_int64(row, 4),
	};
	if (fs_intern(&places->names, site, strlen(site), &block->site))
		return no_memory(error);
	block->one_site = !range->count || block[-1].addr != addr ||
			  (block[-1].one_site && block[-1].site == block->site);
	if (!range->count++)
		range->first = places->block_count;
	places->block_count++;
	return 0;
}

static int learn(struct fs_places *places, struct fs_error *error)
{
	FS_TRY(fs_listing_each(places->options,
			       "SELECT space_id, start, size, name, kind FROM region WHERE "
			       "trace_id = ?1 AND size > 0 ORDER BY space_id, start",
			       0, add_map, places, error));
	FS_TRY(fs_listing_each(places->options,
			       "SELECT id, parent_id FROM space WHERE trace_id = ?1", 0, add_space,
			       places, error));
	FS_TRY(fs_listing_each(places->options,
			       "SELECT cpu, node FROM cpu WHERE trace_id = ?1 AND node >= 0", 0,
			       add_node, places, error));
	FS_TRY(fs_listing_each(
		places->options,
		"SELECT first, last, node FROM memory_range WHERE trace_id = ?1 AND first >= 0 "
		"AND last >= first ORDER BY first",
		0, add_range, places, error));
	if (!places->by_object)
		return 0;
	FS_TRY(fs_listing_each(
		places->options,
		"SELECT b.space_id, b.addr, b.size, b.alloc_ns, "
		"coalesce(b.free_ns, 9223372036854775807), coalesce(s.site, 'allocated at a place "
		"not told') FROM heap_block AS b LEFT JOIN allocation_sites AS s ON s.code_id = "
		"b.code_id WHERE b.trace_id = ?1 AND b.addr >= 0 AND b.size > 0 ORDER BY "
		"b.space_id, b.addr, b.alloc_ns",
		0, add_block, places, error));
	return fs_listing_each(
		places->options,
		"SELECT coalesce(d.space_id, 0), d.addr, d.start, coalesce(d.variable, t.name) "
		"FROM data_field AS d LEFT JOIN type AS t ON t.id = d.type_id WHERE d.trace_id "
		"= ?1 AND (d.variable NOTNULL OR t.name NOTNULL)",
		0, add_object, places, error);
}

/* ---- where an address is ---- */

static const struct fs_place_map *find_map(const struct fs_places *places, int64_t space,
					   uint64_t address)
{
	const int64_t *index = fs_table_get(&places->spaces, &space);
	const struct fs_place_image *image;
	size_t at;

	if (!index || *index < 0)
		return NULL;
	image = &places->images[*index];
	at = FS_FIRST_BEHIND(image->maps, image->count, start, address);
	for (size_t i = 0; i < OVERLAPS && at > 0; i++)
		if (address < image->maps[--at].end)
			return &image->maps[at];
	return NULL;
}

const char *fs_places_region(const struct fs_places *places, int64_t space, uint64_t address,
			     const char **ret_kind)
{
	const struct fs_place_map *map = find_map(places, space, address);

	*ret_kind = map ? fs_interned(&places->names, map->kind, NULL) : "unknown";
	return map ? fs_interned(&places->names, map->name, NULL) : NULL;
}

static int64_t home_of(const struct fs_places *places, uint64_t physical)
{
	size_t at = FS_FIRST_BEHIND(places->ranges, places->range_count, first, physical);

	return at > 0 && physical <= places->ranges[at - 1].last ? places->ranges[at - 1].node : -1;
}

/* A file is mapped in several pieces, and they are one object. */
static bool is_file(const struct fs_places *places, const struct fs_place_map *map)
{
	return !strcmp(fs_interned(&places->names, map->kind, NULL), "file");
}

/*
 * The block that held the address at that time; without a time the last one, if all there are of
 * one site. An address is used again any number of times, so that its blocks are searched by time.
 */
static const struct fs_place_block *find_block(const struct fs_places *places,
					       const struct place_at *at)
{
	const struct block_range *range = fs_table_get(&places->block_ranges, &at->space);
	uint64_t time = at->time_ns ? (uint64_t)at->time_ns : UINT64_MAX;
	const struct fs_place_block *blocks;
	size_t next;

	if (!range)
		return NULL;
	blocks = places->blocks + range->first;
	next = FS_FIRST_BEHIND(blocks, range->count, addr, (uint64_t)at->addr);
	for (size_t i = 0; i < OVERLAPS && next > 0; i++) {
		size_t first = FS_FIRST_AT(blocks, next, addr, blocks[next - 1].addr);
		size_t began = FS_FIRST_BEHIND(blocks + first, next - first, alloc_ns, time);
		const struct fs_place_block *block = began ? &blocks[first + began - 1] : NULL;

		if (block && (uint64_t)at->addr < block->end &&
		    (at->time_ns ? at->time_ns < block->free_ns : block->one_site))
			return block;
		next = first;
	}
	return NULL;
}

static struct fs_place_key key_of(const struct fs_places *places, const struct place_at *at,
				  const struct fs_place_object *object,
				  const struct fs_place_block *block)
{
	struct fs_place_key key = { .space = at->space };
	const struct fs_place_map *map;

	if (!places->by_object) {
		key.start = at->addr & -((int64_t)1 << at->page_shift);
		return key;
	}
	if (block) {
		key.name = block->site;
		key.kind = FS_PLACE_SITE;
		return key;
	}
	if (object) {
		key.start = object->start;
		key.name = (uint32_t)object->name;
		key.kind = FS_PLACE_OBJECT;
		return key;
	}
	map = find_map(places, at->space, (uint64_t)at->addr);
	if (map && is_file(places, map)) {
		key.name = map->name;
		key.kind = FS_PLACE_FILE;
	} else if (map) {
		key.start = (int64_t)map->start;
	}
	return key;
}

/* One value of all, or that there are several. */
static void note_one(int64_t *one, int64_t value)
{
	if (!*one)
		*one = value;
	else if (*one != value)
		*one = -1;
}

/* The sums of the place, made if it is new; NULL: memory ran out. */
static struct fs_place_sums *find_place(struct fs_places *places, const struct place_at *at)
{
	struct object_key place = { at->space, at->addr };
	const struct fs_place_object *object = fs_table_get(&places->objects, &place);
	const struct fs_place_block *block = find_block(places, at);
	struct fs_place_key key = key_of(places, at, object, block);
	struct fs_place_sums *sums = fs_table_put(&places->sums, &key, NULL, NULL);

	if (!sums || !block)
		return sums;
	note_one(&sums->block_size, (int64_t)(block->end - block->addr));
	if (object)
		note_one(&sums->type, (int64_t)object->name + 1);
	return sums;
}

void fs_places_add_cost(struct fs_places *places, int64_t space, int64_t start, double cost)
{
	const struct place_at at = { .space = space, .addr = start };
	const struct fs_place_block *block = find_block(places, &at);
	struct fs_place_key key;
	struct fs_place_sums *sums;

	if (!block)
		return;
	key = key_of(places, &at, NULL, block);
	sums = fs_table_get(&places->sums, &key);
	if (sums)
		sums->cost += cost;
}

/* ---- samples ---- */

static const struct {
	bool transfer, told;
} sources[] = {
#define SOURCE(suffix, number, name, level, transfer, dirty, remote)                               \
	[number] = { transfer, sizeof(level) > 1 },
	FS_SOURCE_LIST(SOURCE)
#undef SOURCE
};

static uint64_t node_bit(int64_t node)
{
	return node < 0 ? 0 : UINT64_C(1) << (node < NODES - 1 ? node : NODES - 1);
}

static void add_access(struct fs_place_sums *sums, uint32_t access)
{
	enum fs_op op = fs_access_op(access);
	enum fs_source source = fs_access_source(access);

	sums->samples++;
	sums->loads += op == FS_OP_LOAD;
	sums->stores += op == FS_OP_STORE;
	sums->atomics += op == FS_OP_ATOMIC;
	if (source < FS_SOURCE_MAX) {
		sums->transfers += sources[source].transfer;
		sums->sourced += sources[source].told;
	}
	sums->dram_local += source == FS_SOURCE_DRAM_LOCAL;
	sums->dram_remote += source == FS_SOURCE_DRAM_REMOTE;
	sums->tlb_told += (access & FS_ACCESS_TLB_KNOWN) != 0;
	sums->tlb_misses += (access & FS_ACCESS_TLB_KNOWN) && (access & FS_ACCESS_TLB_MISS);
}

/* Row: space, address, physical address, CPU, access, latency, log2 of the page size,
 * time. */
static int add_sample(void *context, sqlite3_stmt *row, struct fs_error *error)
{
	struct fs_places *places = context;
	int64_t cpu = sqlite3_column_int64(row, 3);
	int64_t latency = sqlite3_column_int64(row, 5);
	int64_t shift = sqlite3_column_int64(row, 6);
	bool known = shift > 0 && shift <= SHIFT_MAX;
	struct place_at at = { .space = sqlite3_column_int64(row, 0),
			       .addr = sqlite3_column_int64(row, 1),
			       .time_ns = sqlite3_column_int64(row, 7),
			       .page_shift = known ? shift : PAGE_SHIFT };
	struct fs_place_sums *sums = find_place(places, &at);
	const int64_t *node = NULL;

	if (!sums)
		return no_memory(error);
	add_access(sums, (uint32_t)sqlite3_column_int64(row, 4));
	if (latency > 0) {
		sums->latency_samples++;
		sums->latency += (double)latency;
		places->latency += (double)latency;
	}
	if (sqlite3_column_type(row, 3) != SQLITE_NULL)
		node = fs_table_get(&places->nodes, &cpu);
	sums->nodes |= node ? node_bit(*node) : 0;
	if (sqlite3_column_int64(row, 2))
		sums->homes |= node_bit(home_of(places, (uint64_t)sqlite3_column_int64(row, 2)));
	if (known && (!sums->least_page || shift < sums->least_page))
		sums->least_page = shift;
	if (known && shift > sums->largest_page)
		sums->largest_page = shift;
	return 0;
}

int fs_places_fill(struct fs_places *places, struct fs_error *error)
{
	sqlite3_str *text;
	char *sql;
	int code;

	FS_TRY(learn(places, error));
	text = sqlite3_str_new(places->options->query->db);
	sqlite3_str_appendall(
		text,
		"SELECT s.space_id, s.addr, s.phys_addr, s.cpu, s.access, s.latency, iif(e.role IS "
		"'spe', 0, s.extra >> 32 & 255), s.time_ns FROM event AS e JOIN sample AS s ON "
		"s.event_id = "
		"e.id "
		"LEFT JOIN thread AS t ON t.id = s.thread_id LEFT JOIN code AS c ON c.id = "
		"s.code_id "
		"LEFT JOIN function AS f ON f.id = c.function_id LEFT JOIN dso AS d ON d.id = "
		"c.dso_id "
		"LEFT JOIN cpu AS u ON u.trace_id = e.trace_id AND u.cpu = s.cpu "
		"WHERE e.trace_id = ?1 AND s.addr NOTNULL");
	code = fs_listing_conditions(places->options, text, error);
	sql = sqlite3_str_finish(text);
	if (!code)
		code = sql ? fs_listing_each(places->options, sql, 0, add_sample, places, error)
			   : no_memory(error);
	sqlite3_free(sql);
	return code;
}

/* ---- the answer ---- */

/* "0,2": the numbers of the bits; "63+" stands for all from there on. */
static void name_nodes(uint64_t bits, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (int node = 0; node < NODES && used < size; node++)
		if (bits >> node & 1)
			used += (size_t)snprintf(out + used, size - used, "%s%d%s", used ? "," : "",
						 node, node == NODES - 1 ? "+" : "");
}

static double percent(int64_t part, int64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The nodes decide what helps: memory can follow one node, not several. */
static size_t advise_placement(const struct fs_place_sums *sums, const char *nodes, char *out,
			       size_t size)
{
	int64_t dram = sums->dram_local + sums->dram_remote;
	bool one = sums->nodes && !(sums->nodes & (sums->nodes - 1));

	if (dram < ADVICE_SAMPLES || percent(sums->dram_remote, dram) < REMOTE_PERCENT)
		return 0;
	return (size_t)snprintf(
		out, size, "%.0f %% of %lld samples from memory came from another node. %s%s%s",
		percent(sums->dram_remote, dram), (long long)dram,
		one ? "Only node "
		: sums->nodes
			? "Nodes "
			: "Place it where it is used: let the threads that use it touch it first.",
		sums->nodes ? nodes : "",
		one	      ? " uses it: let its threads touch it first, or bind it there."
		: sums->nodes ? " use it: split it by node, or interleave it."
			      : "");
}

static size_t advise_pages(const struct fs_place_sums *sums, char *out, size_t size)
{
	const char *what = "Huge pages would need fewer TLB entries (madvise(MADV_HUGEPAGE)).";

	if (sums->tlb_told < ADVICE_SAMPLES ||
	    percent(sums->tlb_misses, sums->tlb_told) < TLB_PERCENT)
		return 0;
	if (sums->least_page >= HUGE_SHIFT)
		what = "Its pages are huge already: use the data in the order in which it lies.";
	return (size_t)snprintf(out, size, "%.0f %% of %lld samples missed the TLB. %s",
				percent(sums->tlb_misses, sums->tlb_told),
				(long long)sums->tlb_told, what);
}

static struct fs_cell count_cell(bool known, int64_t count)
{
	return known ? fs_integer_cell(count) : (struct fs_cell){ .kind = FS_CELL_NULL };
}

static struct fs_cell ratio_cell(double part, double whole)
{
	return whole > 0 ? (struct fs_cell){ .kind = FS_CELL_REAL, .real = part / whole }
			 : (struct fs_cell){ .kind = FS_CELL_NULL };
}

void fs_places_cells(const struct fs_places *places, const struct fs_place_sums *sums,
		     struct fs_place_texts *texts, struct fs_cell *cells)
{
	size_t used;

	name_nodes(sums->nodes, texts->nodes, sizeof(texts->nodes));
	name_nodes(sums->homes, texts->homes, sizeof(texts->homes));
	texts->advice[0] = '\0';
	used = advise_placement(sums, texts->nodes, texts->advice, sizeof(texts->advice));
	if (used && used < sizeof(texts->advice) - 1)
		texts->advice[used++] = ' ';
	if (used < sizeof(texts->advice) &&
	    !advise_pages(sums, texts->advice + used, sizeof(texts->advice) - used))
		texts->advice[used ? used - 1 : 0] = '\0';
	*cells++ = fs_integer_cell(sums->samples);
	*cells++ = fs_integer_cell(sums->loads);
	*cells++ = fs_integer_cell(sums->stores);
	*cells++ = fs_integer_cell(sums->atomics);
	*cells++ = ratio_cell(sums->latency, places->latency);
	*cells++ = ratio_cell(sums->latency, (double)sums->latency_samples);
	*cells++ = count_cell(sums->sourced > 0, sums->dram_local);
	*cells++ = count_cell(sums->sourced > 0, sums->dram_remote);
	*cells++ = count_cell(sums->sourced > 0, sums->transfers);
	*cells++ = count_cell(sums->tlb_told > 0, sums->tlb_misses);
	*cells++ = fs_integer_cell(sums->tlb_told);
	*cells++ = count_cell(sums->largest_page > 0, (int64_t)1 << sums->largest_page);
	*cells++ = fs_text_cell(*texts->nodes ? texts->nodes : NULL);
	*cells++ = fs_text_cell(*texts->homes ? texts->homes : NULL);
	*cells = fs_text_cell(*texts->advice ? texts->advice : NULL);
}
