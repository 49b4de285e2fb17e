/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Binary search in an array that is sorted by a u64 member of its elements.
 *
 *   FS_FIRST_BEHIND(ranges, count, low, address)   the first element whose `low` is > address
 *   FS_FIRST_AT(ranges, count, low, address)       the first whose `low` is >= address
 *
 * The index of the element, `count` if there is none.
 */
#ifndef FS_COMMON_SEARCH_H
#define FS_COMMON_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The number of elements whose u64 at `member` is below the key, or equal if `equal` is 1. */
static inline size_t fs_search(const void *items, size_t count, size_t size, size_t member,
			       uint64_t key, int equal)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t value;

		memcpy(&value, (const uint8_t *)items + middle * size + member, sizeof(value));
		if (value < key || (equal && value == key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#define FS_SEARCH(items, count, member, key, equal)                                                \
	fs_search((items), (count), sizeof(*(items)), offsetof(__typeof__(*(items)), member),      \
		  (key), (equal))
#define FS_FIRST_BEHIND(items, count, member, key) FS_SEARCH(items, count, member, key, 1)
#define FS_FIRST_AT(items, count, member, key) FS_SEARCH(items, count, member, key, 0)

#endif
