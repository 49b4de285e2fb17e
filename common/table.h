/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one hash table: fixed-size keys to fixed-size values, open addressing with linear probing,
 * no removal.
 *
 * Keys are compared as bytes, so a key struct must have no padding (or be zeroed before it is
 * filled). Entries lie in insertion order in one array, so walking a table is deterministic and
 * an entry's index is a stable, dense number that callers use as an id. Pointers to entries are
 * valid until the next insertion. Hashes are seeded: no file can be made to hold keys that all
 * collide.
 *
 *   entries: | key 0 | value 0 | key 1 | value 1 | ...
 *   slots:   u32 index + 1 of an entry, 0 = free; at most 1/2 full
 */
#ifndef FS_COMMON_TABLE_H
#define FS_COMMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fs_table {
	size_t key_size;
	size_t value_size;
	size_t count;
	size_t capacity; /* entries that fit before the next growth */
	uint8_t *entries;
	uint32_t *slots;
	size_t slot_mask;
	uint64_t seed;
};

/* Prepare an empty table; allocates nothing. Sizes must be multiples of 8. */
void fs_table_init(struct fs_table *table, size_t key_size, size_t value_size);
void fs_table_free(struct fs_table *table);

/* Forget all entries but keep the memory. */
void fs_table_clear(struct fs_table *table);

/*
 * Find key or insert it with a zeroed value. Returns the value, NULL when memory ran out.
 * *ret_index (may be NULL) is the entry's index, *ret_added (may be NULL) whether it is new.
 */
void *fs_table_put(struct fs_table *table, const void *key, uint32_t *ret_index, bool *ret_added);

/* The value of key, NULL when it is absent. */
void *fs_table_get(const struct fs_table *table, const void *key);

static inline void *fs_table_key(const struct fs_table *table, size_t index)
{
	return table->entries + index * (table->key_size + table->value_size);
}

static inline void *fs_table_value(const struct fs_table *table, size_t index)
{
	return (uint8_t *)fs_table_key(table, index) + table->key_size;
}

/* Hash of a byte string, good enough for tables whose seed is not known to who makes the keys. */
uint64_t fs_hash(const void *bytes, size_t size, uint64_t seed);

#endif
