/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the data of a sampled access came from: perf's data_src word and SPE's data source codes
 * to the mutually exclusive classes of common/access.h.
 *
 * Facts: kernel uapi perf_event.h (union perf_mem_data_src), the PMU drivers that fill it, and
 * Arm's, Ampere's and HiSilicon's data source tables; see ../reference/data-src.md and
 * ../reference/arm-spe.md section 6.
 */
#ifndef FS_INGEST_MEMSRC_MEMSRC_H
#define FS_INGEST_MEMSRC_MEMSRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/access.h"

/* Who wrote a data_src word: a few combinations mean different things by vendor. */
enum fs_memsrc_machine {
	FS_MEMSRC_GENERIC, /* not known: the uapi's own definitions */
	FS_MEMSRC_INTEL,
	FS_MEMSRC_AMD,
	FS_MEMSRC_POWER,
	FS_MEMSRC_ARM, /* synthesised by perf from SPE (perf inject --itrace) */
};

/* The decoded meaning of one sample's source. */
struct fs_memsrc {
	enum fs_op op;
	enum fs_source source;
	enum fs_certainty certainty;
	uint32_t flags; /* FS_ACCESS_* of what the input tells; to be ORed with others */
};

/*
 * Decode a data_src word. Locked loads and stores, and words that say both load and store, are
 * FS_OP_ATOMIC. Words of zeros or of "not available" give FS_SOURCE_NONE. Words from perf's SPE
 * synthesis have FS_CERTAINTY_INFERRED: perf writes "L1 hit" where there was no data source
 * packet. Flags: LOCKED, TLB_*, L1_*.
 */
struct fs_memsrc fs_memsrc_from_data_src(uint64_t word, enum fs_memsrc_machine machine);

/* What one SPE data source code means on one family of cores. */
struct fs_memsrc_code {
	uint8_t source; /* enum fs_source; UNKNOWN: no such code */
	int8_t dirty;	/* the code says: 1 modified, 0 not; -1: it cannot say */
};

/* Cores that share a table. */
struct fs_memsrc_family {
	const char *name;
	enum fs_certainty
		certainty; /* HARDWARE: documented for the core; ASSUMED: for a relative */
	const struct fs_memsrc_code *codes; /* by code */
	size_t count;
};

/*
 * The family of a core by its MIDR_EL1 (implementer and part; variant and revision do not
 * matter), NULL when no table is known.
 */
const struct fs_memsrc_family *fs_memsrc_spe_family(uint64_t midr);

/*
 * The source of an SPE record. `family` may be NULL; `events` is 0 when the record has no events
 * packet; `op` is returned as it is.
 *
 *   code in the family's table     the table's class, with the family's certainty; the remote
 *                                  event makes local memory and peers remote, the modified
 *                                  event makes a peer a HITM
 *   code not in the table          FS_SOURCE_UNKNOWN
 *   no table for the core          by events; FS_SOURCE_UNKNOWN when those do not tell
 *   no data source packet          by events; FS_SOURCE_NONE when those do not tell
 *
 * What comes from events alone is FS_CERTAINTY_INFERRED. Operations other than loads, stores and
 * atomics have no source. Flags: DIRTY, where the code says that the line was modified.
 */
struct fs_memsrc fs_memsrc_from_spe(const struct fs_memsrc_family *family, bool has_data_source,
				    uint16_t code, uint64_t events, enum fs_op op);

/* A sample's weight. Units depend on the event; never mix events in one mean. */
struct fs_memsrc_weight {
	uint64_t latency;	      /* cycles; 0: not measured */
	uint16_t instruction_latency; /* var2_w, 0: not given */
	uint16_t third;		      /* var3_w: Intel retire latency, Power dispatch cycles */
	bool saturated;		      /* the latency is a full 16-bit counter: "at least" */
};

/*
 * Split the u64 of PERF_SAMPLE_WEIGHT (structured: false; all of it is the latency) or
 * PERF_SAMPLE_WEIGHT_STRUCT (true: u32 var1_dw, u16 var2_w, u16 var3_w from the low end).
 */
struct fs_memsrc_weight fs_memsrc_weight(uint64_t word, bool structured);

#endif
