/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzz targets share: a mutator that knows the framing of its input.
 *
 * Plain mutation of bytes nearly always breaks a size or an offset, and the input is refused
 * before anything of interest runs. So an input is split into parts (header, records, packets,
 * frames, edits), a part is changed, doubled, dropped, moved or made anew, and the parts are
 * joined again with sizes and offsets that fit. One input in eight is left unrepaired, and one is
 * mutated as plain bytes, so that wrong sizes are tried, too.
 *
 * Each target links mutator.c and one definition of fs_fuzz_format.
 */
#ifndef FS_FUZZ_FUZZ_H
#define FS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fs_part {
	uint8_t *bytes; /* in the mutator's arena */
	size_t size;
	unsigned int kind; /* what the format makes of it */
	unsigned int number;
};

enum { FS_PARTS_MAX = 1 << 14 };

struct fs_parts {
	struct fs_part items[FS_PARTS_MAX];
	size_t count;
	bool swap;	 /* the input's numbers stand in the other byte order */
	uint64_t random; /* state of fs_fuzz_random() */
};

struct fs_fuzz_format {
	/* Append the parts of an input: every byte belongs to one. */
	void (*split)(struct fs_parts *parts, const uint8_t *data, size_t size);
	/* Put a new part of a known type at `position`. */
	void (*make)(struct fs_parts *parts, size_t position);
	/* Write the parts to `out`, with sizes and offsets that fit if `repair` is set. Returns the
	 * size, at most `max`. */
	size_t (*join)(struct fs_parts *parts, uint8_t *out, size_t max, bool repair);
};

extern const struct fs_fuzz_format fs_fuzz_format;

/* A number below `limit`, which is not 0. */
uint64_t fs_fuzz_random(struct fs_parts *parts, uint64_t limit);

/* A number that decoders may stumble over: a limit, a power of two or one beside it, a small one.
 */
uint64_t fs_fuzz_odd_number(struct fs_parts *parts);

/* `size` zeroed bytes that live until the next mutation; NULL when there is no more room. */
uint8_t *fs_fuzz_room(size_t size);

/* Append a part with a copy of the bytes. False when there is no room. */
bool fs_fuzz_append(struct fs_parts *parts, unsigned int kind, unsigned int number,
		    const void *bytes, size_t size);

/* Make place for a part at `position`, of `size` zeroed bytes; NULL when there is no room. */
struct fs_part *fs_fuzz_insert(struct fs_parts *parts, size_t position, size_t size);

/* Append bytes to out, of which *used are used; false when they do not fit. */
bool fs_fuzz_put(uint8_t *out, size_t *used, size_t max, const void *bytes, size_t size);

/*
 * A file of these bytes, in memory; returns a path that open() takes. The same file is used by
 * every call with the same slot (0 or 1).
 */
const char *fs_fuzz_file(unsigned int slot, const void *bytes, size_t size);

/* End the process, as the fuzzer's sign of a fault, when something does not hold. */
#define FS_FUZZ_ASSERT(condition)                                                                  \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fs_fuzz_fault(__FILE__, __LINE__, #condition);                             \
	} while (0)

__attribute__((noreturn)) void fs_fuzz_fault(const char *file, int line, const char *condition);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#endif
