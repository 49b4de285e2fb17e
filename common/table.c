/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "common/multiply.h"

static uint64_t mix(uint64_t hash, uint64_t word)
{
	struct fs_product product = fs_multiply(hash ^ word, 0x9e3779b97f4a7c15u);

	return product.low ^ product.high;
}

uint64_t fs_hash(const void *bytes, size_t size, uint64_t seed)
{
	const uint8_t *at = bytes;
	uint64_t hash = seed ^ size;
	uint64_t word;

	for (; size >= 8; size -= 8, at += 8) {
		memcpy(&word, at, 8);
		hash = mix(hash, word);
	}
	word = 0;
	if (size)
		memcpy(&word, at, size);
	return mix(mix(hash, word), 0xff51afd7ed558ccdu);
}

/*
 * Sixteen random bytes that the kernel gives each process; no system call, which the sandbox of
 * ingest/symbol might forbid. libc draws its own secrets from them, hence the mixing.
 */
static uint64_t random_seed(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t words[2] = { 0 };

	if (random)
		memcpy(words, random, sizeof(words));
	return mix(words[0], 0xff51afd7ed558ccdu) ^ mix(words[1], 0xc4ceb9fe1a85ec53u);
}

void fs_table_init(struct fs_table *table, size_t key_size, size_t value_size)
{
	*table = (struct fs_table){
		.key_size = key_size,
		.value_size = value_size,
		.seed = random_seed(),
	};
}

void fs_table_free(struct fs_table *table)
{
	free(table->entries);
	free(table->slots);
	fs_table_init(table, table->key_size, table->value_size);
}

/* Hash of a key, whose size is a multiple of 8. */
static uint64_t hash_key(const uint8_t *key, size_t size, uint64_t seed)
{
	uint64_t hash = seed;
	uint64_t word;

	for (size_t i = 0; i < size; i += 8) {
		memcpy(&word, key + i, 8);
		hash = mix(hash, word);
	}
	return mix(hash, 0xff51afd7ed558ccdu);
}

static bool is_same(const uint8_t *left, const uint8_t *right, size_t size)
{
	uint64_t a;
	uint64_t b;

	for (size_t i = 0; i < size; i += 8) {
		memcpy(&a, left + i, 8);
		memcpy(&b, right + i, 8);
		if (a != b)
			return false;
	}
	return true;
}

static size_t find_slot(const struct fs_table *table, const void *key)
{
	size_t slot = hash_key(key, table->key_size, table->seed) & table->slot_mask;

	while (table->slots[slot] &&
	       !is_same(fs_table_key(table, table->slots[slot] - 1), key, table->key_size))
		slot = (slot + 1) & table->slot_mask;
	return slot;
}

void fs_table_clear(struct fs_table *table)
{
	/* a table that was large once must not cost its size each time */
	if (table->count < table->slot_mask / 16)
		for (size_t i = table->count; i-- > 0;) /* no key was put behind a later one */
			table->slots[find_slot(table, fs_table_key(table, i))] = 0;
	else if (table->slots)
		memset(table->slots, 0, (table->slot_mask + 1) * sizeof(*table->slots));
	table->count = 0;
}

static bool grow(struct fs_table *table)
{
	size_t capacity = table->capacity ? table->capacity * 2 : 64;
	size_t entry = table->key_size + table->value_size;
	uint32_t *slots;
	uint8_t *entries;

	if (capacity > UINT32_MAX / 4 || entry > SIZE_MAX / capacity)
		return false;
	entries = realloc(table->entries, capacity * entry);
	if (!entries)
		return false;
	table->entries = entries;
	slots = calloc(capacity * 2, sizeof(*slots));
	if (!slots)
		return false;
	free(table->slots);
	table->slots = slots;
	table->slot_mask = capacity * 2 - 1;
	table->capacity = capacity;
	for (size_t i = 0; i < table->count; i++)
		slots[find_slot(table, fs_table_key(table, i))] = (uint32_t)i + 1;
	return true;
}

void *fs_table_put(struct fs_table *table, const void *key, uint32_t *ret_index, bool *ret_added)
{
	uint32_t index;
	size_t slot;
	bool added;

	if (table->count == table->capacity && !grow(table))
		return NULL;
	slot = find_slot(table, key);
	added = !table->slots[slot];
	if (added) {
		index = (uint32_t)table->count++;
		table->slots[slot] = index + 1;
		memcpy(fs_table_key(table, index), key, table->key_size);
		memset(fs_table_value(table, index), 0, table->value_size);
	}
	index = table->slots[slot] - 1;
	if (ret_index)
		*ret_index = index;
	if (ret_added)
		*ret_added = added;
	return fs_table_value(table, index);
}

void *fs_table_get(const struct fs_table *table, const void *key)
{
	size_t slot;

	if (!table->count)
		return NULL;
	slot = find_slot(table, key);
	return table->slots[slot] ? fs_table_value(table, table->slots[slot] - 1) : NULL;
}
