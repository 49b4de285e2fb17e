/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SPE data source codes, which mean what the core's maker says, and the event bits that stand in
 * for them. Codes, parts and the order of the event tests: ../reference/arm-spe.md section 6.
 *
 * Arm's PEER classes say that a line came from another core's cache, not whether it was modified
 * there. HiSilicon's codes do say, which makes a peer or a remote socket a HITM. A modified line
 * that the core's own L2 or the shared L3 supplied is no transfer from another core: it stays L2
 * or L3, with `dirty` set.
 */
#include "ingest/memsrc/memsrc.h"
#include "ingest/spe/spe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The tables are indexed by code. What stands in none is FS_SOURCE_UNKNOWN, which is 0. */

/* Arm Neoverse and Cortex. System cache is SLC; "local cluster" is the DSU with all in it. */
static const struct fs_memsrc_code common_codes[] = {
	[0x0] = { FS_SOURCE_L1, 0 },	       [0x8] = { FS_SOURCE_L2, 0 },
	[0x9] = { FS_SOURCE_PEER_LOCAL, -1 },  /* peer core */
	[0xa] = { FS_SOURCE_PEER_LOCAL, -1 },  /* local cluster */
	[0xb] = { FS_SOURCE_L3, 0 },	       /* system cache */
	[0xc] = { FS_SOURCE_PEER_LOCAL, -1 },  /* peer cluster */
	[0xd] = { FS_SOURCE_PEER_REMOTE, -1 }, /* remote: cache or memory */
	[0xe] = { FS_SOURCE_DRAM_LOCAL, 0 },
};

static const struct fs_memsrc_code ampereone_codes[] = {
	[0x0] = { FS_SOURCE_PEER_LOCAL, -1 }, /* cache of this chip, or a device */
	[0x3] = { FS_SOURCE_L3, 0 },	      /* system cache */
	[0x5] = { FS_SOURCE_PEER_REMOTE, -1 }, [0x7] = { FS_SOURCE_DRAM_LOCAL, 0 },
	[0x8] = { FS_SOURCE_L1, 0 },	       [0x9] = { FS_SOURCE_L2, 0 },
};

static const struct fs_memsrc_code hisilicon_codes[] = {
	[0] = { FS_SOURCE_PEER_LOCAL, 0 }, /* peer core */
	[1] = { FS_SOURCE_HITM_LOCAL, 1 }, /* peer core, modified */
	[2] = { FS_SOURCE_L3, 0 },
	[3] = { FS_SOURCE_L3, 1 },
	[4] = { FS_SOURCE_PEER_LOCAL, 0 }, /* peer cluster of this socket */
	[5] = { FS_SOURCE_HITM_LOCAL, 1 },
	[6] = { FS_SOURCE_PEER_REMOTE, 0 }, /* other socket */
	[7] = { FS_SOURCE_HITM_REMOTE, 1 },
	[8] = { FS_SOURCE_DRAM_LOCAL, 0 },
	[9] = { FS_SOURCE_DRAM_REMOTE, 0 },
	[13] = { FS_SOURCE_IO, 0 }, /* not cacheable, or a device */
	[16] = { FS_SOURCE_L2, 0 },
	[17] = { FS_SOURCE_L2, 1 },
	[18] = { FS_SOURCE_L1, 0 },
};

enum family { COMMON, COMMON_ASSUMED, AMPEREONE, AMPEREONE_ASSUMED, HISILICON };

static const struct fs_memsrc_family families[] = {
	[COMMON] = { "common", FS_CERTAINTY_HARDWARE, common_codes, COUNT(common_codes) },
	[COMMON_ASSUMED] = { "common", FS_CERTAINTY_ASSUMED, common_codes, COUNT(common_codes) },
	[AMPEREONE] = { "ampereone", FS_CERTAINTY_HARDWARE, ampereone_codes,
			COUNT(ampereone_codes) },
	[AMPEREONE_ASSUMED] = { "ampereone", FS_CERTAINTY_ASSUMED, ampereone_codes,
				COUNT(ampereone_codes) },
	[HISILICON] = { "hisilicon", FS_CERTAINTY_HARDWARE, hisilicon_codes,
			COUNT(hisilicon_codes) },
};

/* MIDR_EL1: implementer 31:24, part 15:4. */
static const struct {
	uint8_t implementer;
	uint16_t part;
	uint8_t family;
} cores[] = {
	{ 0x41, 0xd0c, COMMON },	    /* Neoverse N1 */
	{ 0x41, 0xd49, COMMON },	    /* Neoverse N2 */
	{ 0x41, 0xd40, COMMON },	    /* Neoverse V1 */
	{ 0x41, 0xd4f, COMMON },	    /* Neoverse V2 */
	{ 0x41, 0xd84, COMMON },	    /* Neoverse V3 */
	{ 0x41, 0xd4d, COMMON },	    /* Cortex-A715 */
	{ 0x41, 0xd81, COMMON },	    /* Cortex-A720 */
	{ 0x41, 0xd89, COMMON },	    /* Cortex-A720AE */
	{ 0x41, 0xd87, COMMON },	    /* Cortex-A725 */
	{ 0x41, 0xd4b, COMMON },	    /* Cortex-A78C */
	{ 0x41, 0xd44, COMMON },	    /* Cortex-X1 */
	{ 0x41, 0xd4c, COMMON },	    /* Cortex-X1C */
	{ 0x41, 0xd4e, COMMON },	    /* Cortex-X3 */
	{ 0x41, 0xd82, COMMON },	    /* Cortex-X4 */
	{ 0x41, 0xd85, COMMON },	    /* Cortex-X925 */
	{ 0x4e, 0x010, COMMON },	    /* NVIDIA Olympus */
	{ 0x41, 0xd8e, COMMON_ASSUMED },    /* Neoverse N3 */
	{ 0x41, 0xd83, COMMON_ASSUMED },    /* Neoverse V3AE */
	{ 0x6d, 0xd49, COMMON_ASSUMED },    /* Azure Cobalt 100, an N2 */
	{ 0xc0, 0xac4, AMPEREONE },	    /* AmpereOne-1A */
	{ 0xc0, 0xac3, AMPEREONE_ASSUMED }, /* AmpereOne */
	{ 0x48, 0xd06, HISILICON },	    /* HIP12 */
};

const struct fs_memsrc_family *fs_memsrc_spe_family(uint64_t midr)
{
	unsigned int implementer = midr >> 24 & 0xff;
	unsigned int part = midr >> 4 & 0xfff;
	size_t i;

	for (i = 0; i < COUNT(cores); i++) {
		if (cores[i].implementer == implementer && cores[i].part == part)
			return &families[cores[i].family];
	}
	return NULL;
}

/* What the events say about a level: bits seen at it, and the bit that makes it a miss. */
struct level_events {
	uint64_t seen;
	uint64_t missed;
	uint8_t hit; /* enum fs_source */
	uint8_t miss;
};

#define L1_EVENTS                                                                                  \
	{                                                                                          \
		FS_SPE_EVENT_L1D_ACCESS, FS_SPE_EVENT_L1D_REFILL, FS_SOURCE_L1, FS_SOURCE_L1_MISS  \
	}
#define L2_EVENTS                                                                                  \
	{                                                                                          \
		FS_SPE_EVENT_L2D_ACCESS, FS_SPE_EVENT_L2D_MISS, FS_SOURCE_L2, FS_SOURCE_L2_MISS    \
	}
#define LLC_EVENTS                                                                                 \
	{                                                                                          \
		FS_SPE_EVENT_LLC_ACCESS, FS_SPE_EVENT_LLC_MISS, FS_SOURCE_L3, FS_SOURCE_L3_MISS    \
	}

static const struct level_events outermost_first[] = { LLC_EVENTS, L2_EVENTS, L1_EVENTS };
static const struct level_events innermost_first[] = { L1_EVENTS, L2_EVENTS, LLC_EVENTS };

/* The innermost level that was accessed and not missed. */
static enum fs_source hit_by_events(uint64_t events)
{
	size_t i;

	for (i = 0; i < COUNT(innermost_first); i++) {
		const struct level_events *level = &innermost_first[i];

		if ((events & level->seen) && !(events & level->missed))
			return level->hit;
		if (i == 0 && (events & FS_SPE_EVENT_RECENTLY_FETCHED))
			return FS_SOURCE_LFB;
	}
	return FS_SOURCE_NONE;
}

static enum fs_source miss_by_events(uint64_t events)
{
	size_t i;

	for (i = 0; i < COUNT(outermost_first); i++) {
		if (events & outermost_first[i].missed)
			return outermost_first[i].miss;
	}
	return FS_SOURCE_NONE;
}

/* Stores: the outermost level that the events speak of. */
static enum fs_source store_by_events(uint64_t events)
{
	size_t i;

	for (i = 0; i < COUNT(outermost_first); i++) {
		const struct level_events *level = &outermost_first[i];

		if (events & level->missed)
			return level->miss;
		if (events & level->seen)
			return level->hit;
	}
	return FS_SOURCE_NONE;
}

/* A peer class made sharper by events; other classes stay. */
static enum fs_source refine(enum fs_source source, uint64_t events)
{
	bool remote = events & FS_SPE_EVENT_REMOTE;

	if (source == FS_SOURCE_DRAM_LOCAL && remote)
		return FS_SOURCE_DRAM_REMOTE;
	if (source == FS_SOURCE_PEER_LOCAL && remote)
		source = FS_SOURCE_PEER_REMOTE;
	if (!(events & FS_SPE_EVENT_MODIFIED))
		return source;
	if (source == FS_SOURCE_PEER_LOCAL)
		return FS_SOURCE_HITM_LOCAL;
	return source == FS_SOURCE_PEER_REMOTE ? FS_SOURCE_HITM_REMOTE : source;
}

static enum fs_source by_events(uint64_t events, enum fs_op op)
{
	enum fs_source source;

	if (op == FS_OP_STORE)
		return store_by_events(events);
	source = hit_by_events(events);
	if (source == FS_SOURCE_L1 || source == FS_SOURCE_LFB)
		return source;
	if (events & FS_SPE_EVENT_SNOOPED)
		return refine(FS_SOURCE_PEER_LOCAL, events);
	return source == FS_SOURCE_NONE ? miss_by_events(events) : source;
}

struct fs_memsrc fs_memsrc_from_spe(const struct fs_memsrc_family *family, bool has_data_source,
				    uint16_t code, uint64_t events, enum fs_op op)
{
	struct fs_memsrc result = { .op = op, .source = FS_SOURCE_NONE };

	if (op != FS_OP_LOAD && op != FS_OP_STORE && op != FS_OP_ATOMIC)
		return result;
	if (family && has_data_source) {
		result.source = FS_SOURCE_UNKNOWN;
		if (code < family->count && family->codes[code].source != FS_SOURCE_UNKNOWN) {
			result.certainty = family->certainty;
			result.source = refine(family->codes[code].source, events);
			result.flags = family->codes[code].dirty > 0 ? FS_ACCESS_DIRTY : 0;
		}
		return result;
	}
	result.source = by_events(events, op);
	if (result.source != FS_SOURCE_NONE)
		result.certainty = FS_CERTAINTY_INFERRED;
	else if (has_data_source)
		result.source = FS_SOURCE_UNKNOWN;
	return result;
}
