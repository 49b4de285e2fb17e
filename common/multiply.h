/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * 64 times 64 bits, in full: machines of 32 bits have no integer of 128.
 */
#ifndef FS_COMMON_MULTIPLY_H
#define FS_COMMON_MULTIPLY_H

#include <stdint.h>

struct fs_product {
	uint64_t high, low;
};

/* From four products of halves: a.high * b.high, two that straddle the middle, a.low * b.low. */
static inline struct fs_product fs_multiply_halves(uint64_t a, uint64_t b)
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t first = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	uint64_t second = (a & UINT32_MAX) * (b >> 32) + (first & UINT32_MAX);

	return (struct fs_product){
		.high = (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32),
		.low = second << 32 | (low & UINT32_MAX),
	};
}

static inline struct fs_product fs_multiply(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__uint128_t product = (__uint128_t)a * b;

	return (struct fs_product){ .high = (uint64_t)(product >> 64), .low = (uint64_t)product };
#else
	return fs_multiply_halves(a, b);
#endif
}

#endif
