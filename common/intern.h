/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one interner: byte strings to small dense numbers, starting at 0, in order of first use.
 *
 * All bytes lie in one blob, each string followed by a NUL that is not part of it, so a string
 * without embedded NULs can be used as a C string. Pointers are valid until the next fs_intern().
 */
#ifndef FS_COMMON_INTERN_H
#define FS_COMMON_INTERN_H

#include "common/table.h"

struct fs_interner {
	struct fs_table by_hash;
	char *blob;
	size_t blob_used;
	size_t blob_capacity;
	size_t *offsets; /* of string i; offsets[count] is the end of the last */
	size_t offsets_capacity;
};

void fs_interner_init(struct fs_interner *interner);
void fs_interner_free(struct fs_interner *interner);

/* The number of text, new or old. Returns 0 or FS_NOMEM. */
int fs_intern(struct fs_interner *interner, const void *text, size_t length, uint32_t *ret_id);

/* Whether text has a number already. */
bool fs_interner_find(const struct fs_interner *interner, const void *text, size_t length,
		      uint32_t *ret_id);

/* The string of a number that fs_intern() gave. */
const char *fs_interned(const struct fs_interner *interner, uint32_t id, size_t *ret_length);

#endif
