/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operation type payloads and event bits to the words of common/access.h. Layouts: Arm ARM, SPE
 * "Operation Type packet" and "Events packet"; ../reference/arm-spe.md sections 3.3 and 3.4.
 */
#include "ingest/spe/operation.h"

#include <stddef.h>

/* Load/store payload, subclass "extended": v & 0xe2 == 0x02. */
enum { EXTENDED_ATOMIC = 1 << 2, EXTENDED_EXCLUSIVE = 1 << 3, EXTENDED_ACQUIRE = 1 << 4 };

static const struct {
	uint64_t event;
	uint32_t flag;
} event_flags[] = {
	{ FS_SPE_EVENT_MISALIGNED, FS_ACCESS_MISALIGNED },
	{ FS_SPE_EVENT_TLB_ACCESS, FS_ACCESS_TLB_KNOWN },
	{ FS_SPE_EVENT_TLB_WALK, FS_ACCESS_TLB_KNOWN | FS_ACCESS_TLB_MISS },
	{ FS_SPE_EVENT_L1D_ACCESS, FS_ACCESS_L1_KNOWN },
	{ FS_SPE_EVENT_L1D_REFILL, FS_ACCESS_L1_KNOWN | FS_ACCESS_L1_MISS },
	{ FS_SPE_EVENT_MODIFIED, FS_ACCESS_DIRTY_SNOOP },
};

static uint32_t flags_of_events(uint64_t events)
{
	uint32_t flags = events & FS_SPE_EVENT_RETIRED ? 0 : FS_ACCESS_NOT_RETIRED;
	size_t i;

	for (i = 0; i < sizeof(event_flags) / sizeof(event_flags[0]); i++)
		flags |= events & event_flags[i].event ? event_flags[i].flag : 0;
	return flags;
}

static enum fs_op load_store(uint8_t payload, uint32_t *flags)
{
	enum fs_op op = payload & 1 ? FS_OP_STORE : FS_OP_LOAD;

	if ((payload & 0xe2) == 0x02) {
		*flags |= payload & EXTENDED_EXCLUSIVE ? FS_ACCESS_EXCLUSIVE : 0;
		*flags |= payload & EXTENDED_ACQUIRE ? FS_ACCESS_ACQUIRE : 0;
		if (payload & EXTENDED_ATOMIC) {
			*flags |= FS_ACCESS_LOCKED | (payload & 1 ? FS_ACCESS_STORE_SIDE : 0);
			op = FS_OP_ATOMIC;
		}
	} else if ((payload & 0xfe) == 0x04 || (payload & 0x0a) == 0x08) {
		*flags |= FS_ACCESS_SIMD; /* SIMD&FP registers; SVE and SME */
	}
	return op;
}

/* Bit 2: Advanced SIMD. Bit 3 with bit 0 clear: SVE or SME data processing. */
static enum fs_op other(uint8_t payload, uint32_t *flags)
{
	bool simd = (payload & 0xf8) == 0 ? payload & 4 : (payload & 0x09) == 0x08;

	*flags |= simd ? FS_ACCESS_SIMD : 0;
	return FS_OP_OTHER;
}

enum fs_op fs_spe_operation(const struct fs_spe_record *record, uint32_t *ret_flags)
{
	uint16_t latency = record->total_latency;
	enum fs_op op = FS_OP_UNKNOWN;
	uint32_t flags = 0;

	if (record->present & FS_SPE_HAS_EVENTS)
		flags |= flags_of_events(record->events);
	if (latency == 0xfff || latency == UINT16_MAX) /* counters have 12 or 16 bits */
		flags |= FS_ACCESS_SATURATED;
	if (record->present & FS_SPE_HAS_PC) {
		flags |= FS_ACCESS_EXACT_IP;
		if (record->pc_el == 1 || record->pc_el == 2)
			flags |= FS_ACCESS_KERNEL;
	}
	if (record->present & FS_SPE_HAS_OPERATION) {
		if (record->operation_class == FS_SPE_CLASS_LOAD_STORE)
			op = load_store(record->operation_payload, &flags);
		else if (record->operation_class == FS_SPE_CLASS_BRANCH)
			op = FS_OP_BRANCH;
		else if (record->operation_class == FS_SPE_CLASS_OTHER)
			op = other(record->operation_payload, &flags);
	}
	*ret_flags = flags;
	return op;
}
