/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's data_src word to one source class.
 *
 * The word states the level twice: mem_lvl, an old bit set, and mem_lvl_num, a newer value; either
 * may be missing, and vendors combine them in ways of their own. So the level is taken from
 * mem_lvl_num, corrected where the bit set is known to say more; near or far from the hops where
 * they are given; then the snoop fields decide whether another cache supplied the line. Field
 * layout: kernel uapi perf_event.h, union perf_mem_data_src; vendors' words:
 * ../reference/data-src.md sections 3 to 6.
 */
#include "ingest/memsrc/memsrc.h"

enum { OP_NA = 0x01, OP_LOAD = 0x02, OP_STORE = 0x04, OP_PREFETCH = 0x08, OP_EXEC = 0x10 };

enum {
	LVL_HIT = 0x02,
	LVL_MISS = 0x04,
	LVL_L1 = 0x08,
	LVL_LFB = 0x10,
	LVL_L2 = 0x20,
	LVL_L3 = 0x40,
	LVL_LOC_RAM = 0x80,
	LVL_REM_RAM1 = 0x100,
	LVL_REM_RAM2 = 0x200,
	LVL_REM_CCE1 = 0x400,
	LVL_REM_CCE2 = 0x800,
	LVL_IO = 0x1000,
	LVL_UNC = 0x2000,
	LVL_REM_RAM = LVL_REM_RAM1 | LVL_REM_RAM2,
	LVL_REM_CCE = LVL_REM_CCE1 | LVL_REM_CCE2,
};

enum { SNOOP_HIT = 0x04, SNOOP_HITM = 0x10 };
enum { LOCK_LOCKED = 0x02 };
enum { TLB_HIT = 0x02, TLB_MISS = 0x04 };
enum { SNOOPX_FWD = 0x01, SNOOPX_PEER = 0x02 };
enum { HOPS_0 = 1 }; /* another core of the same node */
enum { REGION_OTHER_IO_AGENT = 4, REGION_MMIO = 7, REGION_MEM0 = 8, REGION_MEM7 = 15 };

struct word {
	unsigned int op;
	unsigned int lvl;
	unsigned int snoop;
	unsigned int lock;
	unsigned int dtlb;
	unsigned int lvl_num;
	unsigned int remote;
	unsigned int snoopx;
	unsigned int hops;
	unsigned int region;
};

static struct word fields_of(uint64_t word)
{
	return (struct word){
		.op = word & 0x1f,
		.lvl = word >> 5 & 0x3fff,
		.snoop = word >> 19 & 0x1f,
		.lock = word >> 24 & 3,
		.dtlb = word >> 26 & 0x7f,
		.lvl_num = word >> 33 & 0xf,
		.remote = word >> 37 & 1,
		.snoopx = word >> 38 & 3,
		.hops = word >> 43 & 7,
		.region = word >> 46 & 0x1f,
	};
}

/*
 * The class of a level before snoop and distance are looked at. "Some cache" of somebody else is
 * PEER_LOCAL here. L4 is a cache in front of memory, hence MSC; L0 is part of L1.
 */
static const uint8_t source_of_lvl_num[16] = {
	[0] = FS_SOURCE_NONE,  [1] = FS_SOURCE_L1,	    [2] = FS_SOURCE_L2,
	[3] = FS_SOURCE_L3,    [4] = FS_SOURCE_MSC,	    [5] = FS_SOURCE_L2_MHB,
	[6] = FS_SOURCE_MSC,   [7] = FS_SOURCE_L1,	    [8] = FS_SOURCE_UNCACHED,
	[9] = FS_SOURCE_CXL,   [10] = FS_SOURCE_IO,	    [11] = FS_SOURCE_PEER_LOCAL,
	[12] = FS_SOURCE_LFB,  [13] = FS_SOURCE_DRAM_LOCAL, [14] = FS_SOURCE_PMEM,
	[15] = FS_SOURCE_NONE,
};

/* The same for mem_lvl, farthest first. */
static const struct {
	uint16_t lvl;
	uint8_t source;
} source_of_lvl[] = {
	{ LVL_UNC, FS_SOURCE_UNCACHED },
	{ LVL_IO, FS_SOURCE_IO },
	{ LVL_REM_CCE, FS_SOURCE_PEER_LOCAL },
	{ LVL_REM_RAM | LVL_LOC_RAM, FS_SOURCE_DRAM_LOCAL },
	{ LVL_L3, FS_SOURCE_L3 },
	{ LVL_L2, FS_SOURCE_L2 },
	{ LVL_LFB, FS_SOURCE_LFB },
	{ LVL_L1, FS_SOURCE_L1 },
};

static enum fs_source source_by_lvl(unsigned int lvl)
{
	size_t i;

	for (i = 0; i < sizeof(source_of_lvl) / sizeof(source_of_lvl[0]); i++) {
		if (lvl & source_of_lvl[i].lvl)
			return source_of_lvl[i].source;
	}
	return FS_SOURCE_NONE;
}

static enum fs_source level_of(const struct word *word)
{
	enum fs_source source = source_of_lvl_num[word->lvl_num];

	if (word->region == REGION_MMIO || word->region == REGION_OTHER_IO_AGENT)
		return FS_SOURCE_IO; /* Nova Lake */
	if (source == FS_SOURCE_NONE)
		source = source_by_lvl(word->lvl);
	if (source == FS_SOURCE_NONE && word->region >= REGION_MEM0 && word->region <= REGION_MEM7)
		return FS_SOURCE_DRAM_LOCAL;
	if (source == FS_SOURCE_L3 && word->lvl & LVL_REM_RAM)
		return FS_SOURCE_DRAM_LOCAL; /* Sandy Bridge to Broadwell, remote shared memory */
	if (source == FS_SOURCE_L3 && word->lvl & LVL_REM_CCE)
		return FS_SOURCE_PEER_LOCAL; /* the same, and HiSilicon's peer cluster */
	if (source == FS_SOURCE_PEER_LOCAL && word->lvl & LVL_L3)
		return FS_SOURCE_L3; /* AMD before Zen 4: L3 or another core below the same L3 */
	return source;
}

/*
 * Arm's synthesised words use REM_CCE1 for another cluster of the same socket; so did Power before
 * Linux 5.17 for another core of the same chip, which has hops since.
 */
static bool is_remote(const struct word *word, enum fs_memsrc_machine machine)
{
	unsigned int cache = LVL_REM_CCE;

	if (word->hops)
		return word->hops > HOPS_0;
	if (machine == FS_MEMSRC_ARM || word->snoopx & SNOOPX_PEER)
		cache = 0;
	else if (machine == FS_MEMSRC_POWER)
		cache = LVL_REM_CCE2;
	return word->remote || word->lvl & (LVL_REM_RAM | cache);
}

/*
 * Whether "snoop hit" means a copy in another core. Power sets it on every cache hit, and marks
 * those in another core as remote; perf sets it for Arm's system cache.
 */
static bool snooped_hit(const struct word *word, enum fs_source level,
			enum fs_memsrc_machine machine)
{
	if (!(word->snoop & SNOOP_HIT))
		return false;
	if (machine == FS_MEMSRC_POWER)
		return word->remote || word->hops || word->lvl & LVL_REM_CCE;
	return machine != FS_MEMSRC_ARM || level != FS_SOURCE_L3;
}

static enum fs_source missed(enum fs_source level)
{
	switch (level) {
	case FS_SOURCE_L1:
	case FS_SOURCE_LFB:
		return FS_SOURCE_L1_MISS;
	case FS_SOURCE_L2:
		return FS_SOURCE_L2_MISS;
	case FS_SOURCE_L3:
		return FS_SOURCE_L3_MISS;
	case FS_SOURCE_NONE:
		return FS_SOURCE_UNKNOWN;
	default:
		return level;
	}
}

/* A line that a cache supplied which may not be ours. */
static enum fs_source cache_source(const struct word *word, enum fs_source level, bool remote,
				   enum fs_memsrc_machine machine)
{
	bool hit = snooped_hit(word, level, machine);

	if (remote)
		return hit ? FS_SOURCE_FORWARD_REMOTE : FS_SOURCE_PEER_REMOTE;
	if (!hit)
		return level;
	return level == FS_SOURCE_L3 ? FS_SOURCE_L3_SNOOP_HIT : FS_SOURCE_PEER_LOCAL;
}

static enum fs_source classify(const struct word *word, enum fs_memsrc_machine machine)
{
	enum fs_source level = level_of(word);
	bool remote = is_remote(word, machine);

	if (word->snoop & SNOOP_HITM)
		return remote ? FS_SOURCE_HITM_REMOTE : FS_SOURCE_HITM_LOCAL;
	if (word->snoopx & SNOOPX_PEER)
		return remote ? FS_SOURCE_PEER_REMOTE : FS_SOURCE_PEER_LOCAL;
	if (word->snoopx & SNOOPX_FWD)
		return remote ? FS_SOURCE_FORWARD_REMOTE : FS_SOURCE_L3_SNOOP_HIT;
	if ((word->lvl & (LVL_HIT | LVL_MISS)) == LVL_MISS)
		return missed(level);
	switch (level) {
	case FS_SOURCE_L2:
	case FS_SOURCE_L3:
	case FS_SOURCE_PEER_LOCAL:
		return cache_source(word, level, remote, machine);
	case FS_SOURCE_DRAM_LOCAL:
		return remote ? FS_SOURCE_DRAM_REMOTE : FS_SOURCE_DRAM_LOCAL;
	case FS_SOURCE_NONE: /* a hit, but at nothing that we know */
		return word->lvl & LVL_HIT ? FS_SOURCE_UNKNOWN : FS_SOURCE_NONE;
	default:
		return level;
	}
}

/* IBS samples every operation and marks those that touch no memory as "not available". */
static enum fs_op operation_of(const struct word *word, enum fs_memsrc_machine machine)
{
	bool both = (word->op & (OP_LOAD | OP_STORE)) == (OP_LOAD | OP_STORE);

	if (word->op & (OP_LOAD | OP_STORE)) {
		if (both || word->lock & LOCK_LOCKED)
			return FS_OP_ATOMIC;
		return word->op & OP_LOAD ? FS_OP_LOAD : FS_OP_STORE;
	}
	if (word->op & OP_PREFETCH)
		return FS_OP_PREFETCH;
	if (word->op & OP_EXEC)
		return FS_OP_EXEC;
	return word->op & OP_NA && machine == FS_MEMSRC_AMD ? FS_OP_OTHER : FS_OP_UNKNOWN;
}

static uint32_t l1_flags(enum fs_source source)
{
	switch (source) {
	case FS_SOURCE_L1:
		return FS_ACCESS_L1_KNOWN;
	case FS_SOURCE_UNKNOWN:
	case FS_SOURCE_NONE:
	case FS_SOURCE_UNCACHED:
	case FS_SOURCE_IO:
		return 0;
	default:
		return FS_ACCESS_L1_KNOWN | FS_ACCESS_L1_MISS;
	}
}

static uint32_t flags_of(const struct word *word, enum fs_source source)
{
	uint32_t flags = l1_flags(source);

	if (word->lock & LOCK_LOCKED)
		flags |= FS_ACCESS_LOCKED;
	if (word->dtlb & TLB_MISS)
		flags |= FS_ACCESS_TLB_KNOWN | FS_ACCESS_TLB_MISS;
	else if (word->dtlb & TLB_HIT)
		flags |= FS_ACCESS_TLB_KNOWN;
	return flags;
}

struct fs_memsrc fs_memsrc_from_data_src(uint64_t word, enum fs_memsrc_machine machine)
{
	struct word fields = fields_of(word);
	struct fs_memsrc result = { .op = operation_of(&fields, machine) };

	result.source = classify(&fields, machine);
	result.flags = flags_of(&fields, result.source);
	if (result.source == FS_SOURCE_NONE || result.source == FS_SOURCE_UNKNOWN)
		result.certainty = FS_CERTAINTY_NONE;
	else if (machine == FS_MEMSRC_ARM)
		result.certainty = FS_CERTAINTY_INFERRED;
	else
		result.certainty = FS_CERTAINTY_HARDWARE;
	return result;
}

struct fs_memsrc_weight fs_memsrc_weight(uint64_t word, bool structured)
{
	struct fs_memsrc_weight weight = { .latency = word };

	if (structured) {
		weight.latency = word & UINT32_MAX;
		weight.instruction_latency = word >> 32 & UINT16_MAX;
		weight.third = word >> 48;
	}
	weight.saturated = weight.latency == UINT16_MAX;
	return weight;
}
