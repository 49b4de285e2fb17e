/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of what perf makes of SPE data source codes, and the tests of c2c_decode_stats() on the
 * word. Both versions share them but for the marked places.
 */
#include "query/perf_c2c.h"

#include <stddef.h>

/* Fields of the word: include/uapi/linux/perf_event.h, union perf_mem_data_src. */
enum {
	OP_NA = 1,
	OP_LOAD = 2,
	OP_STORE = 4,

	LEVEL_SHIFT = 5,
	LEVEL_NA = 1,
	LEVEL_HIT = 2,
	LEVEL_MISS = 4,
	LEVEL_L1 = 8,
	LEVEL_LFB = 0x10,
	LEVEL_L2 = 0x20,
	LEVEL_L3 = 0x40,
	LEVEL_LOCAL_RAM = 0x80,
	LEVEL_REMOTE_RAM1 = 0x100,
	LEVEL_REMOTE_RAM2 = 0x200,
	LEVEL_REMOTE_CACHE1 = 0x400,
	LEVEL_REMOTE_CACHE2 = 0x800,
	LEVEL_IO = 0x1000,
	LEVEL_UNCACHED = 0x2000,
	LEVEL_MASK = 0x3fff,

	SNOOP_SHIFT = 19,
	SNOOP_HIT = 4,
	SNOOP_HITM = 0x10,
	SNOOP_MASK = 0x1f,

	LOCK_SHIFT = 24,
	LOCK_LOCKED = 2,
	REMOTE_SHIFT = 37,
	SNOOPX_SHIFT = 38,
	SNOOPX_PEER = 2,
	BLOCK_SHIFT = 40,
	BLOCK_DATA = 2,
	BLOCK_ADDRESS = 4,
	HOPS_SHIFT = 43,
	HOPS_MASK = 7,
};

/* Bits of the SPE events packet. */
enum {
	EVENT_L1D_ACCESS = 1 << 2,
	EVENT_L1D_REFILL = 1 << 3,
	EVENT_LLC_ACCESS = 1 << 8,
	EVENT_LLC_MISS = 1 << 9,
	EVENT_REMOTE = 1 << 10,
	EVENT_L2D_ACCESS = 1 << 19,
	EVENT_L2D_MISS = 1 << 20,
	EVENT_MODIFIED = 1 << 21,
	EVENT_RECENTLY_FETCHED = 1 << 22,
	EVENT_SNOOPED = 1 << 23,
};

/* The fields that counters look at. The rest of the word decides no counter. */
struct source {
	uint16_t level;
	uint8_t snoop;
	bool peer, remote;
};

struct code {
	uint16_t code;
	struct source source;
};

#define HIT(level) (LEVEL_HIT | LEVEL_##level)

static const struct code common[] = {
	{ 0x0, { .level = HIT(L1) } },
	{ 0x8, { .level = HIT(L2) } },
	{ 0x9, { .level = HIT(L2), .peer = true } },
	{ 0xa, { .level = HIT(L3), .peer = true } },
	{ 0xb, { .level = HIT(L3), .snoop = SNOOP_HIT } },
	{ 0xc, { .level = HIT(L3), .peer = true } },
	{ 0xd, { .level = LEVEL_NA, .peer = true, .remote = true } },
	{ 0xe, { .level = HIT(LOCAL_RAM) } },
};

/* By way of the common codes. */
static const struct code ampereone[] = {
	{ 0x0, { .level = HIT(L2), .peer = true } },
	{ 0x3, { .level = HIT(L3), .snoop = SNOOP_HIT } },
	{ 0x5, { .level = LEVEL_NA, .peer = true, .remote = true } },
	{ 0x7, { .level = HIT(LOCAL_RAM) } },
	{ 0x8, { .level = HIT(L1) } },
	{ 0x9, { .level = HIT(L2) } },
};

static const struct code hisilicon[] = {
	{ 0, { .level = HIT(L2), .peer = true } },
	{ 1, { .level = HIT(L2), .snoop = SNOOP_HITM, .peer = true } },
	{ 2, { .level = HIT(L3), .snoop = SNOOP_HIT } },
	{ 3, { .level = HIT(L3), .snoop = SNOOP_HITM } },
	{ 4, { .level = HIT(REMOTE_CACHE1), .peer = true } },
	{ 5, { .level = HIT(REMOTE_CACHE1), .snoop = SNOOP_HITM, .peer = true } },
	{ 6, { .level = LEVEL_REMOTE_CACHE2, .peer = true, .remote = true } },
	{ 7, { LEVEL_REMOTE_CACHE2, SNOOP_HITM, .peer = true, .remote = true } },
	{ 8, { .level = HIT(LOCAL_RAM) } },
	{ 9, { .level = HIT(REMOTE_RAM1), .remote = true } },
	{ 13, { .level = HIT(IO) } },
	{ 16, { .level = HIT(L2) } },
	{ 17, { .level = HIT(L2), .snoop = SNOOP_HITM } },
	{ 18, { .level = HIT(L1) } },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const struct code *codes;
	size_t count;
} tables[] = {
	[FS_PERF_EVENTS_ONLY] = { NULL, 0 },
	[FS_PERF_COMMON] = { common, COUNT(common) },
	[FS_PERF_AMPEREONE] = { ampereone, COUNT(ampereone) },
	[FS_PERF_HISILICON] = { hisilicon, COUNT(hisilicon) },
};

/* MIDR_EL1: implementer 31:24, part 15:4; the first perf that has a table for the core. */
static const struct {
	uint8_t implementer;
	uint16_t part;
	uint8_t since; /* enum fs_perf_version */
	uint8_t table;
} cores[] = {
	{ 0x41, 0xd0c, FS_PERF_6_1, FS_PERF_COMMON },	 /* Neoverse N1 */
	{ 0x41, 0xd49, FS_PERF_6_1, FS_PERF_COMMON },	 /* Neoverse N2 */
	{ 0x41, 0xd40, FS_PERF_6_1, FS_PERF_COMMON },	 /* Neoverse V1 */
	{ 0x41, 0xd4f, FS_PERF_7_3, FS_PERF_COMMON },	 /* Neoverse V2 */
	{ 0x41, 0xd84, FS_PERF_7_3, FS_PERF_COMMON },	 /* Neoverse V3 */
	{ 0x41, 0xd4d, FS_PERF_7_3, FS_PERF_COMMON },	 /* Cortex-A715 */
	{ 0x41, 0xd81, FS_PERF_7_3, FS_PERF_COMMON },	 /* Cortex-A720 */
	{ 0x41, 0xd89, FS_PERF_7_3, FS_PERF_COMMON },	 /* Cortex-A720AE */
	{ 0x41, 0xd87, FS_PERF_7_3, FS_PERF_COMMON },	 /* Cortex-A725 */
	{ 0x41, 0xd4b, FS_PERF_7_3, FS_PERF_COMMON },	 /* Cortex-A78C */
	{ 0x41, 0xd44, FS_PERF_7_3, FS_PERF_COMMON },	 /* Cortex-X1 */
	{ 0x41, 0xd4c, FS_PERF_7_3, FS_PERF_COMMON },	 /* Cortex-X1C */
	{ 0x41, 0xd4e, FS_PERF_7_3, FS_PERF_COMMON },	 /* Cortex-X3 */
	{ 0x41, 0xd82, FS_PERF_7_3, FS_PERF_COMMON },	 /* Cortex-X4 */
	{ 0x41, 0xd85, FS_PERF_7_3, FS_PERF_COMMON },	 /* Cortex-X925 */
	{ 0x4e, 0x010, FS_PERF_7_3, FS_PERF_COMMON },	 /* NVIDIA Olympus */
	{ 0xc0, 0xac4, FS_PERF_7_3, FS_PERF_AMPEREONE }, /* AmpereOne-1A */
	{ 0x48, 0xd06, FS_PERF_7_3, FS_PERF_HISILICON }, /* HIP12 */
};

enum fs_perf_table fs_perf_table_of(enum fs_perf_version version, uint64_t midr)
{
	unsigned int implementer = midr >> 24 & 0xff;
	unsigned int part = midr >> 4 & 0xfff;

	for (size_t i = 0; i < COUNT(cores); i++) {
		if (cores[i].implementer == implementer && cores[i].part == part)
			return version >= cores[i].since ? cores[i].table : FS_PERF_EVENTS_ONLY;
	}
	return FS_PERF_EVENTS_ONLY;
}

/* What perf tests of one cache level. */
struct level_events {
	uint32_t access, miss;
	uint16_t level;
};

static const struct level_events l1_events = { EVENT_L1D_ACCESS, EVENT_L1D_REFILL, LEVEL_L1 };
static const struct level_events l2_events = { EVENT_L2D_ACCESS, EVENT_L2D_MISS, LEVEL_L2 };
static const struct level_events llc_events = { EVENT_LLC_ACCESS, EVENT_LLC_MISS, LEVEL_L3 };

/* Hit or miss of a level that the events speak of; 0: they do not. */
static uint16_t level_told(uint32_t events, const struct level_events *level)
{
	if (events & level->miss)
		return level->level | LEVEL_MISS;
	return events & level->access ? level->level | LEVEL_HIT : 0;
}

static uint16_t hit_told(uint32_t events, const struct level_events *level)
{
	return (events & (level->access | level->miss)) == level->access ? level->level | LEVEL_HIT
									 : 0;
}

static uint16_t first_told(uint32_t events, const struct level_events *const *levels, size_t count)
{
	uint16_t level = 0;

	for (size_t i = 0; i < count && !level; i++)
		level = level_told(events, levels[i]);
	return level;
}

static uint16_t load_level(uint32_t events)
{
	static const struct level_events *const missed[] = { &llc_events, &l2_events, &l1_events };
	uint16_t level = hit_told(events, &l1_events);

	if (!level && events & EVENT_RECENTLY_FETCHED)
		level = HIT(LFB);
	level = level ? level : hit_told(events, &l2_events);
	level = level ? level : hit_told(events, &llc_events);
	for (size_t i = 0; i < COUNT(missed) && !level; i++)
		level = events & missed[i]->miss ? missed[i]->level | LEVEL_MISS : 0;
	return level;
}

/* 7.3: what the table left open comes from the events. */
static void complete(const struct fs_perf_record *record, struct source *source)
{
	static const struct level_events *const outermost[] = { &llc_events, &l2_events,
								&l1_events };

	if (!source->level && record->load)
		source->level = load_level(record->events);
	else if (!source->level)
		source->level = first_told(record->events, outermost, COUNT(outermost));
	if (!source->level)
		source->level = LEVEL_NA;
	if (!source->snoop && record->events & EVENT_SNOOPED)
		source->snoop = record->events & EVENT_MODIFIED ? SNOOP_HITM : SNOOP_HIT;
	if (record->events & EVENT_REMOTE)
		source->remote = true;
}

/* 6.1: cores without a table have events, the others the table and nothing else. */
static void by_events_6_1(uint32_t events, struct source *source)
{
	static const struct level_events *const outermost[] = { &llc_events, &l1_events };

	source->level = first_told(events, outermost, COUNT(outermost));
	source->remote = events & EVENT_REMOTE;
}

static uint64_t word_of(const struct fs_perf_record *record, const struct source *source)
{
	uint64_t op = record->load ? OP_LOAD : record->store ? OP_STORE : OP_NA;

	return op | (uint64_t)source->level << LEVEL_SHIFT |
	       (uint64_t)source->snoop << SNOOP_SHIFT | (uint64_t)source->remote << REMOTE_SHIFT |
	       (source->peer ? (uint64_t)SNOOPX_PEER << SNOOPX_SHIFT : 0);
}

bool fs_perf_data_src(enum fs_perf_version version, enum fs_perf_table table,
		      const struct fs_perf_record *record, uint64_t *ret_word)
{
	struct source source = { 0 };
	bool memory = record->load || record->store;

	if (!memory && (version == FS_PERF_6_1 || !record->simd))
		return false;
	if (table != FS_PERF_EVENTS_ONLY && record->store) {
		source.level = LEVEL_NA;
		source.snoop = 1; /* NA */
	}
	for (size_t i = 0; i < tables[table].count && !record->store; i++) {
		if (tables[table].codes[i].code == record->source)
			source = tables[table].codes[i].source;
	}
	if (version == FS_PERF_7_3)
		complete(record, &source);
	else if (table == FS_PERF_EVENTS_ONLY)
		by_events_6_1(record->events, &source);
	else if (source.remote)
		source.level = LEVEL_REMOTE_CACHE1; /* which 7.3 leaves open */
	*ret_word = word_of(record, &source);
	return true;
}

/* The fields of a word that the counters test. */
struct word {
	unsigned int level, snoop;
	bool peer;
	bool remote; /* without any detail in `hops` */
};

static void count_dram(const struct word *word, enum fs_c2c_row row, uint8_t *rows)
{
	rows[row]++;
	rows[FS_C2C_LLC_MISSES]++;
	rows[word->snoop & SNOOP_HIT ? FS_C2C_SHARED : FS_C2C_EXCLUSIVE]++;
}

/* perf prints "Load LLC hit" with the local HITMs added. */
static void count_local_hitm(uint8_t *rows)
{
	rows[FS_C2C_LOCAL_HITM]++;
	rows[FS_C2C_LLC_HIT]++;
}

static void count_load_hit(enum fs_perf_version version, const struct word *word, uint8_t *rows)
{
	bool hitm = word->snoop & SNOOP_HITM;

	rows[FS_C2C_LOAD_UNCACHED] += !!(word->level & LEVEL_UNCACHED);
	rows[FS_C2C_LOAD_IO] += !!(word->level & LEVEL_IO);
	rows[FS_C2C_LFB_HIT] += !!(word->level & LEVEL_LFB);
	rows[FS_C2C_L1_HIT] += !!(word->level & LEVEL_L1);
	if (word->level & LEVEL_L2) {
		if (hitm && version != FS_PERF_6_1)
			count_local_hitm(rows);
		else
			rows[FS_C2C_L2_HIT]++;
		rows[FS_C2C_LOCAL_PEER] += word->peer;
	}
	if (word->level & LEVEL_L3) {
		if (hitm)
			count_local_hitm(rows);
		else
			rows[FS_C2C_LLC_HIT]++;
		rows[FS_C2C_LOCAL_PEER] += word->peer;
	}
	if (word->level & LEVEL_LOCAL_RAM)
		count_dram(word, FS_C2C_LOCAL_DRAM, rows);
	if (word->level & (LEVEL_REMOTE_RAM1 | LEVEL_REMOTE_RAM2) || word->remote)
		count_dram(word, FS_C2C_REMOTE_DRAM, rows);
}

static void count_load(enum fs_perf_version version, const struct word *word, uint8_t *rows)
{
	if (word->level & LEVEL_HIT)
		count_load_hit(version, word, rows);
	if (word->level & (LEVEL_REMOTE_CACHE1 | LEVEL_REMOTE_CACHE2) || word->remote) {
		bool hit = word->snoop & SNOOP_HIT;
		bool hitm = !hit && word->snoop & SNOOP_HITM;
		bool peer = !hit && !hitm && word->peer;

		rows[FS_C2C_REMOTE_HIT] += hit || peer;
		rows[FS_C2C_REMOTE_HITM] += hitm;
		rows[FS_C2C_REMOTE_PEER] += peer;
		rows[FS_C2C_LLC_MISSES] += hit || hitm || peer;
	}
	rows[FS_C2C_LOAD_MISS] += !!(word->level & LEVEL_MISS);
}

static void count_store(const struct word *word, uint8_t *rows)
{
	if (word->level & LEVEL_HIT) {
		rows[FS_C2C_STORE_UNCACHED] += !!(word->level & LEVEL_UNCACHED);
		rows[FS_C2C_STORE_L1_HIT] += !!(word->level & LEVEL_L1);
	}
	rows[FS_C2C_STORE_L1_MISS] += word->level & LEVEL_MISS && word->level & LEVEL_L1;
	rows[FS_C2C_STORE_NO_LEVEL] += !!(word->level & LEVEL_NA);
}

void fs_perf_count(enum fs_perf_version version, uint64_t word, bool has_address, bool mapped,
		   struct fs_c2c_counts *ret_counts)
{
	struct word fields = {
		.level = word >> LEVEL_SHIFT & LEVEL_MASK,
		.snoop = word >> SNOOP_SHIFT & SNOOP_MASK,
		.peer = word >> SNOOPX_SHIFT & SNOOPX_PEER,
		.remote = word >> REMOTE_SHIFT & 1 && !(word >> HOPS_SHIFT & HOPS_MASK),
	};
	uint8_t *rows = ret_counts->rows;
	bool load = word & OP_LOAD;
	bool store = !load && word & OP_STORE;

	*ret_counts = (struct fs_c2c_counts){ 0 };
	rows[FS_C2C_RECORDS] = 1;
	rows[FS_C2C_LOCKS] = !!(word >> LOCK_SHIFT & LOCK_LOCKED);
	rows[FS_C2C_BLOCKED_DATA] = !!(word >> BLOCK_SHIFT & BLOCK_DATA);
	rows[FS_C2C_BLOCKED_ADDRESS] = !!(word >> BLOCK_SHIFT & BLOCK_ADDRESS);
	rows[FS_C2C_LOADS] = load;
	rows[FS_C2C_STORES] = store;
	rows[FS_C2C_NOT_PARSED] = !load && !store;
	if (!load && !store)
		return;
	if (!has_address) {
		rows[load ? FS_C2C_LOAD_NO_ADDRESS : FS_C2C_STORE_NO_ADDRESS] = 1;
		return;
	}
	if (load)
		count_load(version, &fields, rows);
	else
		count_store(&fields, rows);
	rows[FS_C2C_NO_MAP] = !mapped;
}
