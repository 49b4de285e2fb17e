/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A latency histogram in 128 buckets: exact below 8 cycles, then eight buckets an octave, so a
 * percentile read from it is within 12.5 % of the true one. Values above 2^18 share the last.
 *
 * Stored as a blob of (u8 bucket, LEB128 count) pairs in rising bucket order; no pairs: empty.
 */
#ifndef FS_COMMON_HISTOGRAM_H
#define FS_COMMON_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum { FS_HISTOGRAM_BUCKETS = 128, FS_HISTOGRAM_BLOB_MAX = FS_HISTOGRAM_BUCKETS * 11 };

struct fs_histogram {
	uint64_t count[FS_HISTOGRAM_BUCKETS];
};

/* The bucket of a latency in cycles. */
unsigned int fs_histogram_bucket(uint64_t latency);

/* The smallest latency of a bucket. */
uint64_t fs_histogram_floor(unsigned int bucket);

/* Write the blob form of the buckets [first, last], outside of which all are zero; out has room
 * for FS_HISTOGRAM_BLOB_MAX bytes. Returns its length. */
size_t fs_histogram_pack(const struct fs_histogram *histogram, unsigned int first,
			 unsigned int last, uint8_t *out);

/* Add a blob's counts. Returns 0, or FS_REFUSED when the blob is malformed. */
int fs_histogram_add(struct fs_histogram *histogram, const uint8_t *blob, size_t size);

/* The middle of the bucket below which `share` (0..1) of the counts lie; -1 when it is empty. */
int64_t fs_histogram_quantile(const struct fs_histogram *histogram, double share);

#endif
