/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE packets to records.
 *
 * A record is a run of packets about one sampled operation that a TIMESTAMP or END packet ends.
 * The decoder walks one byte range of AUX data, that is the payload of one AUXTRACE record, and
 * hands out whole records only. Every byte of the range is accounted for:
 *
 *   size = record_bytes + padding_bytes + resync.bytes + empty.bytes + tail.bytes
 *
 * holds once fs_spe_next() has returned false. Packet layouts: Arm ARM, "Statistical Profiling
 * Extension sample record specification"; collected in ../reference/arm-spe.md sections 2 and 3.
 */
#ifndef FS_INGEST_SPE_SPE_H
#define FS_INGEST_SPE_SPE_H

#include "common/reader.h"

/* Longest record that the architecture allows (PMSIDR_EL1.MaxSize). */
enum { FS_SPE_RECORD_MAX = 2048 };

/* Bits of fs_spe_record.present: which packets the record had. */
enum {
	FS_SPE_HAS_PC = 1 << 0,
	FS_SPE_HAS_BRANCH_TARGET = 1 << 1,
	FS_SPE_HAS_VA = 1 << 2,
	FS_SPE_HAS_PA = 1 << 3,
	FS_SPE_HAS_PREVIOUS_BRANCH_TARGET = 1 << 4,
	FS_SPE_HAS_TOTAL_LATENCY = 1 << 5,
	FS_SPE_HAS_ISSUE_LATENCY = 1 << 6,
	FS_SPE_HAS_TRANSLATION_LATENCY = 1 << 7,
	FS_SPE_HAS_ALTERNATE_LATENCY = 1 << 8,
	FS_SPE_HAS_EVENTS = 1 << 9,
	FS_SPE_HAS_OPERATION = 1 << 10,
	FS_SPE_HAS_DATA_SOURCE = 1 << 11,
	FS_SPE_HAS_CONTEXT = 1 << 12,
	FS_SPE_HAS_TIMESTAMP = 1 << 13,
	FS_SPE_HAS_BOTH_CONTEXTS = 1 << 14, /* of EL1 and of EL2 */
};

/* Bits of fs_spe_record.events. A clear bit means "did not happen" or "not implemented". */
#define FS_SPE_EVENT_EXCEPTION (UINT64_C(1) << 0)
#define FS_SPE_EVENT_RETIRED (UINT64_C(1) << 1)
#define FS_SPE_EVENT_L1D_ACCESS (UINT64_C(1) << 2)
#define FS_SPE_EVENT_L1D_REFILL (UINT64_C(1) << 3)
#define FS_SPE_EVENT_TLB_ACCESS (UINT64_C(1) << 4)
#define FS_SPE_EVENT_TLB_WALK (UINT64_C(1) << 5)
#define FS_SPE_EVENT_NOT_TAKEN (UINT64_C(1) << 6)
#define FS_SPE_EVENT_MISPREDICTED (UINT64_C(1) << 7)
#define FS_SPE_EVENT_LLC_ACCESS (UINT64_C(1) << 8)
#define FS_SPE_EVENT_LLC_MISS (UINT64_C(1) << 9)
#define FS_SPE_EVENT_REMOTE (UINT64_C(1) << 10)
#define FS_SPE_EVENT_MISALIGNED (UINT64_C(1) << 11)
#define FS_SPE_EVENT_TRANSACTION (UINT64_C(1) << 16)
#define FS_SPE_EVENT_PARTIAL_PREDICATE (UINT64_C(1) << 17)
#define FS_SPE_EVENT_EMPTY_PREDICATE (UINT64_C(1) << 18)
#define FS_SPE_EVENT_L2D_ACCESS (UINT64_C(1) << 19)
#define FS_SPE_EVENT_L2D_MISS (UINT64_C(1) << 20)
#define FS_SPE_EVENT_MODIFIED (UINT64_C(1) << 21)	  /* dirty in another cache */
#define FS_SPE_EVENT_RECENTLY_FETCHED (UINT64_C(1) << 22) /* merged with an outstanding miss */
#define FS_SPE_EVENT_SNOOPED (UINT64_C(1) << 23)
#define FS_SPE_EVENT_STREAMING_SVE (UINT64_C(1) << 24)
#define FS_SPE_EVENT_COPROCESSOR (UINT64_C(1) << 25)

/* fs_spe_record.operation_class */
enum {
	FS_SPE_CLASS_OTHER = 0,
	FS_SPE_CLASS_LOAD_STORE = 1,
	FS_SPE_CLASS_BRANCH = 2,
};

/* fs_spe_record.pc_attributes and those of branch targets: bits 63:56 as sent */
enum {
	FS_SPE_CODE_NSE = 1 << 4,
	FS_SPE_CODE_EL_SHIFT = 5, /* two bits */
	FS_SPE_CODE_NS = 1 << 7,
};

static inline unsigned int fs_spe_exception_level(uint8_t code_attributes)
{
	return code_attributes >> FS_SPE_CODE_EL_SHIFT & 3;
}

/*
 * One record. A field means something only when its bit in `present` is set; else it is 0.
 * Addresses are canonical in perf's sense: code addresses have top byte 0xff at EL1 and EL2 of
 * the non-secure world and 0 otherwise; a data virtual address has its top byte 0xff when bits
 * 55:52 are all ones and 0 otherwise; a physical address is 56 bits.
 */
struct fs_spe_record {
	uint64_t pc;
	uint64_t virtual_address;
	uint64_t physical_address;
	uint64_t timestamp; /* ticks of the generic timer */
	uint64_t events;
	size_t offset;	  /* of the first packet, from the start of the range */
	uint32_t context; /* what CONTEXTIDR held: on Linux the global thread id */
	uint32_t present;
	uint16_t size;	    /* up to and including the terminating packet */
	uint8_t context_el; /* 1 or 2; EL2's wins when a record has both */
	uint8_t operation_class;
	uint8_t operation_payload;
	uint8_t pc_attributes;	/* bits 63:56 as sent: NS, EL, NSE */
	uint8_t va_tag;		/* top byte of the data address as sent (TBI or MTE tag) */
	uint8_t pa_attributes;	/* top byte of the physical address packet: NS, CH, NSE, PAT */
	uint16_t data_source;	/* raw code; its meaning depends on the core */
	uint16_t total_latency; /* cycles from dispatch to completion */
	uint16_t issue_latency; /* cycles from dispatch to issue */
	uint16_t translation_latency; /* cycles */

	/* what few records have */
	uint64_t branch_target;
	uint64_t previous_branch_target;
	uint32_t context_el1;	    /* CONTEXTIDR_EL1's, where a record has both */
	uint16_t alternate_latency; /* cycles */
	uint8_t branch_attributes;  /* as pc_attributes */
	uint8_t previous_branch_attributes;
};

/*
 * Bytes that gave no record. `first` is the range offset of the first case (for resync: of the
 * bad packet, which may lie inside the lost record), SIZE_MAX if there is none.
 */
struct fs_spe_loss {
	uint64_t count;
	uint64_t bytes;
	size_t first;
};

/* Fields of a record that a layout places. */
enum fs_spe_field {
	FS_SPE_FIELD_PC,
	FS_SPE_FIELD_BRANCH_TARGET,
	FS_SPE_FIELD_VA,
	FS_SPE_FIELD_PA,
	FS_SPE_FIELD_PREVIOUS_BRANCH_TARGET,
	FS_SPE_FIELD_TOTAL_LATENCY,
	FS_SPE_FIELD_ISSUE_LATENCY,
	FS_SPE_FIELD_TRANSLATION_LATENCY,
	FS_SPE_FIELD_ALTERNATE_LATENCY,
	FS_SPE_FIELD_EVENTS,
	FS_SPE_FIELD_OPERATION,
	FS_SPE_FIELD_DATA_SOURCE,
	FS_SPE_FIELD_CONTEXT,
	FS_SPE_FIELD_TIMESTAMP,
	FS_SPE_FIELD_MAX,
};

enum { FS_SPE_LAYOUT_WORDS = 8, FS_SPE_LAYOUTS = 16 };

/* Where the packets of a record stand that has been seen: see spe.c. */
struct fs_spe_layout {
	uint64_t mask[FS_SPE_LAYOUT_WORDS];   /* the bytes that are headers or padding */
	uint64_t header[FS_SPE_LAYOUT_WORDS]; /* what they were */
	uint64_t keep[FS_SPE_FIELD_MAX];      /* mask of a payload's width; 0: no such packet */
	uint8_t at[FS_SPE_FIELD_MAX];	      /* a payload's place */
	uint32_t present;		      /* of the record, as what follows */
	uint16_t size;
	uint8_t context_el, operation_class;
};

/* The state of one walk. Callers read the counters and leave the rest alone. */
struct fs_spe_decoder {
	struct fs_reader reader;
	uint64_t aux_offset;
	uint64_t records;
	uint64_t record_bytes;	   /* padding inside a record included */
	uint64_t padding_bytes;	   /* between records, alignment filler included */
	struct fs_spe_loss resync; /* bad packets: the record in progress, and all to the next */
	struct fs_spe_loss empty;  /* terminators that ended nothing */
	struct fs_spe_loss tail;   /* a record cut by the end of the range */
	struct fs_spe_record cut;  /* what that record had, where it was cut between two packets */
	bool is_cut;
	struct fs_spe_loss reserved; /* well-formed packets of no known index; part of records */

	/* private */
	struct fs_spe_layout layouts[FS_SPE_LAYOUTS];
	unsigned int layout_count, next_layout, layouts_learned;
	uint8_t key_at, by_key[256]; /* the layout to try first, by the record's byte at key_at */
	uint64_t starts[4];	     /* bit set of header bytes that records begin with */
	size_t terminator_size;	     /* of the last whole record */
	uint64_t budget;	     /* packets that searches may still look at */
};

/*
 * Start walking `size` bytes at `data`, which must stay valid. `aux_offset` is the offset of the
 * first byte in the AUX buffer (AUXTRACE.offset); alignment packets count from it.
 */
void fs_spe_begin(struct fs_spe_decoder *decoder, const void *data, size_t size,
		  uint64_t aux_offset);

/* The next whole record; false at the end of the range. Takes time linear in the range. */
bool fs_spe_next(struct fs_spe_decoder *decoder, struct fs_spe_record *ret_record);

#endif
