/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growing arrays: a pointer, a count and a capacity that the owner keeps together.
 */
#ifndef FS_COMMON_VECTOR_H
#define FS_COMMON_VECTOR_H

#include <stddef.h>

/*
 * Make room for `needed` elements of `element` bytes in *items, at least doubling *capacity.
 * New elements are zeroed. Returns 0 or FS_NOMEM, in which case nothing has changed.
 */
int fs_vector_reserve(void **items, size_t *capacity, size_t needed, size_t element);

#define FS_RESERVE(items, capacity, needed)                                                        \
	fs_vector_reserve((void **)&(items), &(capacity), (needed), sizeof(*(items)))

#endif
