/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choices by chance that are the same on every machine: SplitMix64 (Steele, Lea and Flood, 2014).
 */
#ifndef FS_COMMON_RANDOM_H
#define FS_COMMON_RANDOM_H

#include <stdint.h>

/* The next number. The state may start with any value: neighbouring ones give unlike numbers. */
static inline uint64_t fs_random(uint64_t *state)
{
	uint64_t mixed = *state += 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
	return mixed ^ mixed >> 31;
}

#endif
