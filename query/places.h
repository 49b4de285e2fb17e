/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places in memory with what was sampled there: pages, or data objects.
 */
#ifndef FS_QUERY_PLACES_H
#define FS_QUERY_PLACES_H

#include "common/intern.h"
#include "query/listing.h"

/* What is added up of each place. Sums of untrusted numbers are real. */
struct fs_place_sums {
	int64_t samples, loads, stores, atomics;
	int64_t transfers;		 /* served from another core's cache */
	int64_t dram_local, dram_remote; /* served from memory of the own or another node */
	int64_t sourced;		 /* with a source class */
	int64_t tlb_misses, tlb_told;
	int64_t latency_samples;
	double latency;
	uint64_t nodes; /* bit n: accessed from NUMA node n, the last bit for all others */
	uint64_t homes; /* the same, of the memory itself, by physical address */
	int64_t least_page, largest_page; /* log2 of page sizes; 0: none was told */
	/* of a site: what its blocks hold, and their size; 0: not known, -1: several */
	int64_t type, block_size;
	double cost;
};

enum fs_place_kind {
	FS_PLACE_MAPPING, /* start: of the page or mapping; no name */
	FS_PLACE_OBJECT,  /* start: of the object; name: variable or type */
	FS_PLACE_FILE,	  /* start 0; name: path */
	FS_PLACE_SITE,	  /* start 0; name: what allocates the blocks */
};

struct fs_place_key {
	int64_t space; /* space.id; 0: not known */
	int64_t start;
	uint32_t name; /* in fs_places.names */
	uint32_t kind; /* enum fs_place_kind */
};

/* From the table region. */
struct fs_place_map {
	uint64_t start, end;
	uint32_t name, kind; /* in fs_places.names */
};

struct fs_place_image {
	int64_t space;
	struct fs_place_map *maps; /* by start */
	size_t count, capacity;
};

/* What a sampled address of a shared line is; from the table data_field. */
struct fs_place_object {
	int64_t start;
	uint64_t name;
};

/* From the table heap_block, by space and address. */
struct fs_place_block {
	int64_t space;
	uint64_t addr, end;
	int64_t alloc_ns, free_ns;
	uint32_t site; /* name */
	bool one_site; /* so are all before it at its address */
};

struct fs_places {
	struct fs_options *options;
	bool by_object;
	struct fs_table sums;	 /* struct fs_place_key -> struct fs_place_sums */
	struct fs_table objects; /* {space, addr} -> struct fs_place_object */
	struct fs_table spaces;	 /* space.id -> index of its image, -1: none */
	struct fs_table nodes;	 /* CPU -> node */
	struct fs_place_block *blocks;
	size_t block_count, block_capacity;
	struct fs_table block_ranges; /* space.id -> first and number of its blocks */
	struct fs_interner names;
	struct fs_place_image *images; /* by space */
	size_t image_count, image_capacity;
	struct fs_memory_range {
		uint64_t first, last;
		int64_t node;
	} * ranges;
	size_t range_count, range_capacity;
	double latency; /* of all samples */
};

void fs_places_init(struct fs_places *places, struct fs_options *options, bool by_object);
void fs_places_free(struct fs_places *places);

/* Read what is known of the trace's memory, and add up its samples with an address that the
 * filters let through. */
int fs_places_fill(struct fs_places *places, struct fs_error *error);

/* Add the cost of an object to the site that allocated it; to none where several did, since a cost
 * has no time. */
void fs_places_add_cost(struct fs_places *places, int64_t space, int64_t start, double cost);

/* What lies at an address, as region.name says; NULL: not known. *ret_kind is region.kind. Both are
 * valid until more names are added. */
const char *fs_places_region(const struct fs_places *places, int64_t space, uint64_t address,
			     const char **ret_kind);

/* The columns that pages and objects share, as fs_query_column rows; their cells in that order. */
#define FS_PLACE_COLUMNS                                                                           \
	FS_COLUMN("samples", "SAMPLES", INTEGER, FS_SHOW_DEFAULT, NULL,                            \
		  "Samples with an address in it"),                                                \
		FS_COLUMN("loads", "LOADS", INTEGER, 0, NULL, "Of them, loads"),                   \
		FS_COLUMN("stores", "STORES", INTEGER, 0, NULL, "Of them, stores"),                \
		FS_COLUMN("atomics", "ATOMICS", INTEGER, 0, NULL,                                  \
			  "Of them, read-modify-writes and locked accesses"),                      \
		FS_COLUMN("latency_share", "SHARE", PERCENT, FS_SHOW_DEFAULT, NULL,                \
			  "Share of all sampled memory latency"),                                  \
		FS_COLUMN("latency_mean", "CYCLES", REAL, FS_SHOW_DEFAULT, NULL,                   \
			  "Mean cycles, over the samples that have a latency"),                    \
		FS_COLUMN("dram_local", "DRAM", INTEGER, FS_SHOW_DEFAULT, NULL,                    \
			  "Served from memory of the own node; empty: no sample tells"),           \
		FS_COLUMN("dram_remote", "REMOTE", INTEGER, FS_SHOW_DEFAULT, NULL,                 \
			  "Served from memory of another node"),                                   \
		FS_COLUMN("transfers", "PEERS", INTEGER, FS_SHOW_DEFAULT, NULL,                    \
			  "Served from another core's cache"),                                     \
		FS_COLUMN(                                                                         \
			"tlb_misses", "TLB", INTEGER, FS_SHOW_DEFAULT, NULL,                       \
			"Missed the second-level TLB or walked the page table; empty: not told"),  \
		FS_COLUMN("tlb_told", "TLB TOLD", INTEGER, 0, NULL,                                \
			  "Samples that tell of the TLB"),                                         \
		FS_COLUMN("page_size", "PAGE", INTEGER, FS_SHOW_DEFAULT, NULL,                     \
			  "Bytes of its pages, the largest; empty: not recorded"),                 \
		FS_COLUMN("nodes", "NODES", TEXT, FS_SHOW_DEFAULT, NULL,                           \
			  "NUMA nodes of the CPUs that accessed it"),                              \
		FS_COLUMN("home", "HOME", TEXT, FS_SHOW_DEFAULT, NULL,                             \
			  "NUMA nodes of its memory, by physical address; empty: not recorded"),   \
		FS_COLUMN("advice", "ADVICE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WRAP, NULL,          \
			  "What placement or huge pages would change, with the rule's numbers")
enum { FS_PLACE_CELLS = 15 };

/* Filters on the samples, as the statement of fs_places_fill() names things. */
#define FS_PLACE_IN_KERNEL "coalesce(d.kind IN ('kernel', 'module', 'generated'), c.ip < 0)"
#define FS_PLACE_FILTERS                                                                           \
	{                                                                                          \
		[FS_FILTER_PID] = { "t.pid" }, [FS_FILTER_TID] = { "t.tid" },                      \
		[FS_FILTER_COMM] = { "t.comm" }, [FS_FILTER_CPU] = { "s.cpu" },                    \
		[FS_FILTER_NODE] = { "u.node" }, [FS_FILTER_DSO] = { "d.path" },                   \
		[FS_FILTER_SYM] = { "f.name" }, [FS_FILTER_USER] = { FS_PLACE_IN_KERNEL },         \
		[FS_FILTER_KERNEL] = { FS_PLACE_IN_KERNEL },                                       \
		[FS_FILTER_MIN_SAMPLES] = { "samples" },                                           \
	}

/* Texts that cells of a row borrow. */
struct fs_place_texts {
	char nodes[256], homes[256], advice[512];
};

void fs_places_cells(const struct fs_places *places, const struct fs_place_sums *sums,
		     struct fs_place_texts *texts, struct fs_cell *cells);

#endif
