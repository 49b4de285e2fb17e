/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests only: random numbers of a fixed seed (xorshift64*), so that a failure can be had
 * again.
 */
#ifndef FS_COMMON_TEST_RANDOM_H
#define FS_COMMON_TEST_RANDOM_H

#include <stdint.h>

static inline uint64_t test_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

/* 0 <= number < limit */
static inline uint64_t test_below(uint64_t *state, uint64_t limit)
{
	return (test_random(state) >> 11) % limit;
}

#endif
