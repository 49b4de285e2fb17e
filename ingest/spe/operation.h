/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an SPE record's operation is, in the words of common/access.h.
 *
 * An atomic (LSE) is FS_OP_ATOMIC with FS_ACCESS_LOCKED, whichever side the record shows;
 * FS_ACCESS_STORE_SIDE keeps the side. The
 * halves of a load-exclusive/store-exclusive loop stay FS_OP_LOAD and FS_OP_STORE, each with
 * FS_ACCESS_EXCLUSIVE: they are sampled one by one, and only the store writes; the flag tells
 * that the load, too, means to own the line.
 */
#ifndef FS_INGEST_SPE_OPERATION_H
#define FS_INGEST_SPE_OPERATION_H

#include "common/access.h"
#include "ingest/spe/spe.h"

/*
 * The operation; *ret_flags gets the FS_ACCESS_* flags that the record supports: LOCKED,
 * EXCLUSIVE, ACQUIRE, SIMD from the operation packet; MISALIGNED, NOT_RETIRED, TLB_*, L1_*,
 * DIRTY_SNOOP from the events packet; SATURATED from the total latency; KERNEL from the PC's
 * exception level (1 or 2); EXACT_IP, since SPE names the sampled instruction itself.
 * FS_OP_UNKNOWN when the record has no operation packet or one of a reserved class.
 */
enum fs_op fs_spe_operation(const struct fs_spe_record *record, uint32_t *ret_flags);

#endif
