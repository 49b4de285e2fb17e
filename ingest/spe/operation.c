/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operation type payloads and event bits to the words of common/access.h. Layouts: Arm ARM, SPE
 * "Operation Type packet" and "Events packet"; ../reference/arm-spe.md sections 3.3 and 3.4.
 *
 * Both are asked for every record, and nobody could guess the answer: so they are looked up, in
 * tables that the preprocessor fills from the rules stated here.
 */
#include "ingest/spe/operation.h"

#include <stddef.h>

/* X for each of 2^n numbers from i on. */
#define FOR_4(X, i) X(i), X((i) + 1), X((i) + 2), X((i) + 3)
#define FOR_16(X, i) FOR_4(X, i), FOR_4(X, (i) + 4), FOR_4(X, (i) + 8), FOR_4(X, (i) + 12)
#define FOR_32(X, i) FOR_16(X, i), FOR_16(X, (i) + 16)
#define FOR_64(X, i) FOR_32(X, i), FOR_32(X, (i) + 32)

/* Events 1 to 5: the flags that they make. The other way round for the first. */
#define FLAG_IF(events, event, flag) ((events) & (event) ? (uint32_t)(flag) : 0)
#define EVENT_FLAGS(i)                                                                             \
	(FLAG_IF(~((i) << 1), FS_SPE_EVENT_RETIRED, FS_ACCESS_NOT_RETIRED) |                       \
	 FLAG_IF((i) << 1, FS_SPE_EVENT_L1D_ACCESS, FS_ACCESS_L1_KNOWN) |                          \
	 FLAG_IF((i) << 1, FS_SPE_EVENT_L1D_REFILL, FS_ACCESS_L1_KNOWN | FS_ACCESS_L1_MISS) |      \
	 FLAG_IF((i) << 1, FS_SPE_EVENT_TLB_ACCESS, FS_ACCESS_TLB_KNOWN) |                         \
	 FLAG_IF((i) << 1, FS_SPE_EVENT_TLB_WALK, FS_ACCESS_TLB_KNOWN | FS_ACCESS_TLB_MISS))
static const uint32_t event_flags[] = { FOR_32(EVENT_FLAGS, 0) };

/*
 * A load/store payload v: operation and flags.
 *   bit 0: store
 *   v & 0xe2 == 0x02: bit 2 atomic, bit 3 exclusive, bit 4 acquire or release
 *   v & 0xfe == 0x04: SIMD and FP registers; v & 0x0a == 0x08: SVE or SME
 */
#define IS_EXTENDED(v) (((v)&0xe2) == 0x02)
#define IS_ATOMIC(v) (IS_EXTENDED(v) && (v)&4)
#define IS_SIMD(v) (!IS_EXTENDED(v) && (((v)&0xfe) == 0x04 || ((v)&0x0a) == 0x08))
#define LOAD_STORE(v)                                                                              \
	((uint32_t)(IS_ATOMIC(v) ? FS_OP_ATOMIC                                                    \
		    : (v)&1	 ? FS_OP_STORE                                                     \
				 : FS_OP_LOAD) |                                                        \
	 (IS_ATOMIC(v) ? FS_ACCESS_LOCKED | ((v)&1 ? FS_ACCESS_STORE_SIDE : 0) : 0) |              \
	 (IS_EXTENDED(v) && (v)&8 ? FS_ACCESS_EXCLUSIVE : 0) |                                     \
	 (IS_EXTENDED(v) && (v)&16 ? FS_ACCESS_ACQUIRE : 0) | (IS_SIMD(v) ? FS_ACCESS_SIMD : 0))
static const uint32_t load_store[] = { FOR_64(LOAD_STORE, 0), FOR_64(LOAD_STORE, 64),
				       FOR_64(LOAD_STORE, 128), FOR_64(LOAD_STORE, 192) };

enum { OP_MASK = 15 };

/* Bit 2: Advanced SIMD. Bit 3 with bit 0 clear: SVE or SME data processing. */
static uint32_t other(uint8_t payload)
{
	bool simd = (payload & 0xf8) == 0 ? payload & 4 : (payload & 0x09) == 0x08;

	return FS_OP_OTHER | (simd ? FS_ACCESS_SIMD : 0u);
}

static uint32_t of_packet(const struct fs_spe_record *record)
{
	switch (record->operation_class) {
	case FS_SPE_CLASS_LOAD_STORE:
		return load_store[record->operation_payload];
	case FS_SPE_CLASS_BRANCH:
		return FS_OP_BRANCH;
	case FS_SPE_CLASS_OTHER:
		return other(record->operation_payload);
	default:
		return FS_OP_UNKNOWN;
	}
}

enum fs_op fs_spe_operation(const struct fs_spe_record *record, uint32_t *ret_flags)
{
	unsigned int level = fs_spe_exception_level(record->pc_attributes);
	uint16_t latency = record->total_latency;
	uint32_t access = FS_OP_UNKNOWN;

	if (record->present & FS_SPE_HAS_OPERATION)
		access = of_packet(record);
	if (record->present & FS_SPE_HAS_EVENTS)
		access |= event_flags[record->events >> 1 & 31] |
			  FLAG_IF(record->events, FS_SPE_EVENT_MISALIGNED, FS_ACCESS_MISALIGNED) |
			  FLAG_IF(record->events, FS_SPE_EVENT_MODIFIED, FS_ACCESS_DIRTY_SNOOP);
	if (latency == 0xfff || latency == UINT16_MAX) /* counters have 12 or 16 bits */
		access |= FS_ACCESS_SATURATED;
	if (record->present & FS_SPE_HAS_PC)
		access |= FS_ACCESS_EXACT_IP |
			  (level == 1 || level == 2 ? (uint32_t)FS_ACCESS_KERNEL : 0);
	*ret_flags = access & ~(uint32_t)OP_MASK;
	return (enum fs_op)(access & OP_MASK);
}
