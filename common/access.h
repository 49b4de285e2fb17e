/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vocabulary of memory accesses: operations, source classes, certainty, and how a thread
 * was attributed. These numbers are stored in databases: append only.
 *
 * Each list is stated once, as FS_..._LIST; the enums, the name tables and the database's
 * dimension tables come from it.
 */
#ifndef FS_COMMON_ACCESS_H
#define FS_COMMON_ACCESS_H

#include <stdint.h>

/* What a sampled operation does. X(enum suffix, number, name, writes, reads) */
#define FS_OP_LIST(X)                                                                              \
	X(UNKNOWN, 0, "unknown", 0, 0)                                                             \
	X(LOAD, 1, "load", 0, 1)                                                                   \
	X(STORE, 2, "store", 1, 0)                                                                 \
	X(ATOMIC, 3, "atomic", 1, 1) /* read-modify-write, exclusive pairs, locked accesses */     \
	X(PREFETCH, 4, "prefetch", 0, 0)                                                           \
	X(EXEC, 5, "exec", 0, 0)                                                                   \
	X(BRANCH, 6, "branch", 0, 0)                                                               \
	X(OTHER, 7, "other", 0, 0) /* sampled, but no memory operation */

/*
 * Where the data came from; mutually exclusive.
 * X(enum suffix, number, name, level, transfer, dirty, remote)
 *   transfer  1: served from, or snooped in, another core's cache: coherence evidence
 *   dirty     1: the line was modified there (HITM); 0: it was clean; -1: the hardware cannot say
 *   remote    1: other NUMA node or socket; 0: same; -1: not told
 * After ../reference/data-src.md section 2.2 (kernel uapi perf_event.h PERF_MEM_*, Arm
 * Neoverse and HiSilicon data source tables).
 */
#define FS_SOURCE_LIST(X)                                                                          \
	X(UNKNOWN, 0, "unknown", "", 0, -1, -1) /* a code was given that we cannot read */         \
	X(L1, 1, "l1", "l1", 0, 0, 0)                                                              \
	X(LFB, 2, "lfb", "lfb", 0, -1, -1)                                                         \
	X(L2, 3, "l2", "l2", 0, 0, 0)                                                              \
	X(L2_MHB, 4, "l2_mhb", "l2", 0, -1, -1)                                                    \
	X(L3, 5, "l3", "l3", 0, 0, 0)                                                              \
	X(L3_SNOOP_HIT, 6, "l3_snoop_hit", "l3", 1, 0, 0) /* clean in another core */              \
	X(HITM_LOCAL, 7, "hitm_local", "peer", 1, 1, 0)                                            \
	X(HITM_REMOTE, 8, "hitm_remote", "peer", 1, 1, 1)                                          \
	X(PEER_LOCAL, 9, "peer_local", "peer", 1, -1, 0)                                           \
	X(PEER_REMOTE, 10, "peer_remote", "peer", 1, -1, 1)                                        \
	X(FORWARD_REMOTE, 11, "forward_remote", "peer", 1, 0, 1)                                   \
	X(DRAM_LOCAL, 12, "dram_local", "dram", 0, 0, 0)                                           \
	X(DRAM_REMOTE, 13, "dram_remote", "dram", 0, 0, 1)                                         \
	X(PMEM, 14, "pmem", "dram", 0, 0, -1)                                                      \
	X(CXL, 15, "cxl", "dram", 0, 0, -1)                                                        \
	X(MSC, 16, "msc", "msc", 0, 0, -1)                                                         \
	X(UNCACHED, 17, "uncached", "uncached", 0, 0, -1)                                          \
	X(IO, 18, "io", "io", 0, 0, -1)                                                            \
	X(L1_MISS, 19, "l1_miss", "", 0, -1, -1) /* missed L1, the source was not told */          \
	X(L2_MISS, 20, "l2_miss", "", 0, -1, -1)                                                   \
	X(L3_MISS, 21, "l3_miss", "", 0, -1, -1)                                                   \
	X(NONE, 22, "none", "", 0, -1, -1) /* no source was given: NULL in the views */

/* How a source class is known. X(enum suffix, number, name) */
#define FS_CERTAINTY_LIST(X)                                                                       \
	X(NONE, 0, "none")                                                                         \
	X(HARDWARE, 1, "hardware") /* the hardware named the source */                             \
	X(INFERRED, 2, "inferred") /* from event bits only */                                      \
	X(ASSUMED, 3, "assumed")   /* by a table documented for a related CPU */

/* How a sample's thread is known. X(enum suffix, number, name) */
#define FS_ATTRIBUTION_LIST(X)                                                                     \
	X(NONE, 0, "none")                                                                         \
	X(RECORD, 1, "record")			 /* the sample record says pid and tid */          \
	X(CONTEXT, 2, "context")		 /* SPE context packet */                          \
	X(SWITCH, 3, "switch")			 /* SWITCH record */                               \
	X(ITRACE, 4, "itrace")			 /* ITRACE_START, nothing since */                 \
	X(AUXTRACE, 5, "auxtrace")		 /* per-thread buffer */                           \
	X(SWITCH_CPU_WIDE, 6, "switch_cpu_wide") /* SWITCH_CPU_WIDE record */                      \
	X(SCHED_SWITCH, 7, "sched_switch")	 /* tracepoint */

#define FS_ENUM_OP(suffix, number, name, writes, reads) FS_OP_##suffix = (number),
enum fs_op { FS_OP_LIST(FS_ENUM_OP) FS_OP_MAX };
#define FS_ENUM_SOURCE(suffix, number, name, level, transfer, dirty, remote)                       \
	FS_SOURCE_##suffix = (number),
enum fs_source { FS_SOURCE_LIST(FS_ENUM_SOURCE) FS_SOURCE_MAX };
#define FS_ENUM_CERTAINTY(suffix, number, name) FS_CERTAINTY_##suffix = (number),
enum fs_certainty { FS_CERTAINTY_LIST(FS_ENUM_CERTAINTY) };
#define FS_ENUM_ATTRIBUTION(suffix, number, name) FS_ATTRIBUTION_##suffix = (number),
enum fs_attribution { FS_ATTRIBUTION_LIST(FS_ENUM_ATTRIBUTION) };

/*
 * The packed column sample.access:
 *
 *   bit  0-3   operation (enum fs_op)
 *   bit  4-9   source class (enum fs_source)
 *   bit 10-11  certainty
 *   bit 12-14  attribution
 *   bit 15..   flags below
 */
enum {
	FS_ACCESS_SOURCE_SHIFT = 4,
	FS_ACCESS_CERTAINTY_SHIFT = 10,
	FS_ACCESS_ATTRIBUTION_SHIFT = 12,
	FS_ACCESS_LOCKED = 1 << 15,	 /* x86 lock prefix, or SPE atomic */
	FS_ACCESS_EXCLUSIVE = 1 << 16,	 /* load or store exclusive */
	FS_ACCESS_ACQUIRE = 1 << 17,	 /* acquire or release */
	FS_ACCESS_MISALIGNED = 1 << 18,	 /* SPE event bit 11 */
	FS_ACCESS_NOT_RETIRED = 1 << 19, /* wrong path or faulted */
	FS_ACCESS_TLB_MISS = 1 << 20,	 /* second-level TLB miss or page walk */
	FS_ACCESS_TLB_KNOWN = 1 << 21,	 /* the bit above was told */
	FS_ACCESS_SIMD = 1 << 22,
	FS_ACCESS_KERNEL = 1 << 23,	 /* executed in the kernel */
	FS_ACCESS_EXACT_IP = 1 << 24,	 /* the code address is that of the operation itself */
	FS_ACCESS_L1_MISS = 1 << 25,	 /* missed L1, by data_src or SPE events */
	FS_ACCESS_L1_KNOWN = 1 << 26,	 /* the bit above was told */
	FS_ACCESS_SATURATED = 1 << 27,	 /* the latency is "at least" */
	FS_ACCESS_DIRTY_SNOOP = 1 << 28, /* SPE v1.4: modified in another cache */
	FS_ACCESS_STORE_SIDE = 1 << 29,	 /* an atomic that SPE reports as a store */
	FS_ACCESS_GUEST = 1 << 30,	 /* executed in a virtual machine */
};

/* SPE data source: modified where it came from. An enum's constants are int, without this bit. */
#define FS_ACCESS_DIRTY (UINT32_C(1) << 31)

static inline uint32_t fs_access_pack(enum fs_op op, enum fs_source source,
				      enum fs_certainty certainty, uint32_t flags)
{
	return (uint32_t)op | (uint32_t)source << FS_ACCESS_SOURCE_SHIFT |
	       (uint32_t)certainty << FS_ACCESS_CERTAINTY_SHIFT | flags;
}

static inline enum fs_op fs_access_op(uint32_t access)
{
	return (enum fs_op)(access & 15);
}

static inline enum fs_source fs_access_source(uint32_t access)
{
	return (enum fs_source)(access >> FS_ACCESS_SOURCE_SHIFT & 63);
}

#endif
