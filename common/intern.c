/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/intern.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/vector.h"

void fs_interner_init(struct fs_interner *interner)
{
	*interner = (struct fs_interner){ 0 };
	fs_table_init(&interner->by_hash, 8, 8);
}

void fs_interner_free(struct fs_interner *interner)
{
	fs_table_free(&interner->by_hash);
	free(interner->blob);
	free(interner->offsets);
	fs_interner_init(interner);
}

/* Two strings of one hash sit under consecutive keys; *hash becomes the key of text, or the free
 * one where it belongs. */
static bool find(const struct fs_interner *interner, const void *text, size_t length,
		 uint64_t *hash, uint32_t *ret_id)
{
	for (;; ++*hash) {
		const uint64_t *known = fs_table_get(&interner->by_hash, hash);
		size_t known_length;
		const char *have;

		if (!known)
			return false;
		have = fs_interned(interner, (uint32_t)*known, &known_length);
		if (known_length == length && !memcmp(have, text, length)) {
			*ret_id = (uint32_t)*known;
			return true;
		}
	}
}

bool fs_interner_find(const struct fs_interner *interner, const void *text, size_t length,
		      uint32_t *ret_id)
{
	uint64_t hash = fs_hash(text, length, interner->by_hash.seed);

	return find(interner, text, length, &hash, ret_id);
}

int fs_intern(struct fs_interner *interner, const void *text, size_t length, uint32_t *ret_id)
{
	uint64_t hash = fs_hash(text, length, interner->by_hash.seed);
	size_t id = interner->by_hash.count;
	uint64_t *known;

	if (find(interner, text, length, &hash, ret_id))
		return 0;
	FS_TRY(FS_RESERVE(interner->offsets, interner->offsets_capacity, id + 2));
	FS_TRY(FS_RESERVE(interner->blob, interner->blob_capacity,
			  interner->blob_used + length + 1));
	known = fs_table_put(&interner->by_hash, &hash, NULL, NULL);
	if (!known)
		return FS_NOMEM;
	*known = id;
	memcpy(interner->blob + interner->blob_used, text, length);
	interner->blob[interner->blob_used + length] = '\0';
	interner->offsets[id] = interner->blob_used;
	interner->blob_used += length + 1;
	interner->offsets[id + 1] = interner->blob_used;
	*ret_id = (uint32_t)id;
	return 0;
}

const char *fs_interned(const struct fs_interner *interner, uint32_t id, size_t *ret_length)
{
	if (ret_length)
		*ret_length = interner->offsets[id + 1] - interner->offsets[id] - 1;
	return interner->blob + interner->offsets[id];
}
