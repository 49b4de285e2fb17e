/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one bounds-checked reader. It walks a byte range that somebody else owns.
 *
 * Invariants: offset <= size; after the first read that does not fit, `failed` stays set, the
 * offset stays where it was and every further read gives zero. So a decoder reads a whole
 * structure and asks once, at the end, whether all of it was there.
 */
#ifndef FS_COMMON_READER_H
#define FS_COMMON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fs_reader {
	const uint8_t *data;
	size_t size;
	size_t offset;
	bool failed;
	bool swap; /* numbers stand in the other byte order than this machine's */
};

static inline struct fs_reader fs_reader_of(const void *data, size_t size)
{
	return (struct fs_reader){ .data = data, .size = size };
}

/* A reader over other bytes of the same origin: with the byte order of `like`. */
static inline struct fs_reader fs_reader_like(const struct fs_reader *like, const void *data,
					      size_t size)
{
	return (struct fs_reader){ .data = data, .size = size, .swap = like->swap };
}

static inline size_t fs_reader_left(const struct fs_reader *reader)
{
	return reader->failed ? 0 : reader->size - reader->offset;
}

/* A pointer to the next `size` bytes, which are then behind the reader; NULL if they are not all
 * there. */
static inline const uint8_t *fs_read_bytes(struct fs_reader *reader, size_t size)
{
	const uint8_t *bytes;

	if (reader->failed || size > reader->size - reader->offset) {
		reader->failed = true;
		return NULL;
	}
	bytes = reader->data + reader->offset;
	reader->offset += size;
	return bytes;
}

#define FS_READER_DEFINE(name, type, swapped)                                                      \
	static inline type name(struct fs_reader *reader)                                          \
	{                                                                                          \
		const uint8_t *bytes = fs_read_bytes(reader, sizeof(type));                        \
		type value = 0;                                                                    \
                                                                                                   \
		if (bytes)                                                                         \
			memcpy(&value, bytes, sizeof(value));                                      \
		return reader->swap ? swapped(value) : value;                                      \
	}
FS_READER_DEFINE(fs_read_u8, uint8_t, (uint8_t))
FS_READER_DEFINE(fs_read_u16, uint16_t, __builtin_bswap16)
FS_READER_DEFINE(fs_read_u32, uint32_t, __builtin_bswap32)
FS_READER_DEFINE(fs_read_u64, uint64_t, __builtin_bswap64)
#undef FS_READER_DEFINE

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "fsight reads little-endian traces by plain loads; a big-endian host needs swaps here"
#endif

#endif
