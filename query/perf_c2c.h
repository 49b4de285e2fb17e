/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `perf c2c` counts, by its own rules: the data_src word that perf makes of an Arm SPE
 * record, and the counters it increments for a word. These rules are perf's, not fsight's; they
 * serve `fsquery c2c-stats` and nothing else.
 *
 * Sources: ../reference/data-src.md section 2 and arm-spe.md sections 6 and 7, which restate
 * perf's mem-events.c and arm-spe.c, and experiments with perf 6.1.
 */
#ifndef FS_QUERY_PERF_C2C_H
#define FS_QUERY_PERF_C2C_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The rows of "Trace Event Information", in perf's order. Shares are of LLC_MISSES.
 * X(enum suffix, perf's label)
 */
#define FS_C2C_ROWS(X)                                                                             \
	X(RECORDS, "Total records")                                                                \
	X(LOCKS, "Locked Load/Store Operations")                                                   \
	X(LOADS, "Load Operations")                                                                \
	X(LOAD_UNCACHED, "Loads - uncacheable")                                                    \
	X(LOAD_IO, "Loads - IO")                                                                   \
	X(LOAD_MISS, "Loads - Miss")                                                               \
	X(LOAD_NO_ADDRESS, "Loads - no mapping")                                                   \
	X(LFB_HIT, "Load Fill Buffer Hit")                                                         \
	X(L1_HIT, "Load L1D hit")                                                                  \
	X(L2_HIT, "Load L2D hit")                                                                  \
	X(LLC_HIT, "Load LLC hit")                                                                 \
	X(LOCAL_HITM, "Load Local HITM")                                                           \
	X(REMOTE_HITM, "Load Remote HITM")                                                         \
	X(REMOTE_HIT, "Load Remote HIT")                                                           \
	X(LOCAL_DRAM, "Load Local DRAM")                                                           \
	X(REMOTE_DRAM, "Load Remote DRAM")                                                         \
	X(EXCLUSIVE, "Load MESI State Exclusive")                                                  \
	X(SHARED, "Load MESI State Shared")                                                        \
	X(LLC_MISSES, "Load LLC Misses")                                                           \
	X(BLOCKED_DATA, "Load access blocked by data")                                             \
	X(BLOCKED_ADDRESS, "Load access blocked by address")                                       \
	X(LOCAL_PEER, "Load HIT Local Peer")                                                       \
	X(REMOTE_PEER, "Load HIT Remote Peer")                                                     \
	X(SHARE_LOCAL_DRAM, "LLC Misses to Local DRAM")                                            \
	X(SHARE_REMOTE_DRAM, "LLC Misses to Remote DRAM")                                          \
	X(SHARE_REMOTE_HIT, "LLC Misses to Remote cache (HIT)")                                    \
	X(SHARE_REMOTE_HITM, "LLC Misses to Remote cache (HITM)")                                  \
	X(STORES, "Store Operations")                                                              \
	X(STORE_UNCACHED, "Store - uncacheable")                                                   \
	X(STORE_NO_ADDRESS, "Store - no mapping")                                                  \
	X(STORE_L1_HIT, "Store L1D Hit")                                                           \
	X(STORE_L1_MISS, "Store L1D Miss")                                                         \
	X(STORE_NO_LEVEL, "Store No available memory level")                                       \
	X(NO_MAP, "No Page Map Rejects")                                                           \
	X(NOT_PARSED, "Unable to parse data source")

#define FS_C2C_ENUM(suffix, label) FS_C2C_##suffix,
enum fs_c2c_row { FS_C2C_ROWS(FS_C2C_ENUM) FS_C2C_ROW_MAX };

/* Versions of perf whose rules are known. */
enum fs_perf_version { FS_PERF_6_1, FS_PERF_7_3 };

/* perf's way of reading a core's SPE data source codes. */
enum fs_perf_table {
	FS_PERF_EVENTS_ONLY, /* it has no table for the core: event bits */
	FS_PERF_COMMON,
	FS_PERF_AMPEREONE,
	FS_PERF_HISILICON,
};

/* What perf takes of an SPE record. */
struct fs_perf_record {
	uint32_t events; /* bits 0 to 31 of the events packet */
	uint16_t source; /* data source code; 0 without the packet, as perf has it */
	bool load, store;
	bool simd; /* a vector operation that is neither */
};

/* What one sample adds to each row. */
struct fs_c2c_counts {
	uint8_t rows[FS_C2C_ROW_MAX];
};

/* The table that this perf uses for a core. */
enum fs_perf_table fs_perf_table_of(enum fs_perf_version version, uint64_t midr);

/* The data_src word of perf's "memory" sample; false when it makes none of this record. */
bool fs_perf_data_src(enum fs_perf_version version, enum fs_perf_table table,
		      const struct fs_perf_record *record, uint64_t *ret_word);

/*
 * What a sample with this data_src word adds. `mapped`: recorded mappings cover its code and its
 * data address. Shares stay 0: they are no sums.
 */
void fs_perf_count(enum fs_perf_version version, uint64_t word, bool has_address, bool mapped,
		   struct fs_c2c_counts *ret_counts);

#endif
