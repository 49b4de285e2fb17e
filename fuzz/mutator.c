/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mutator: operations on parts that are the same for every format. See fuzz.h.
 */
#include "fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	ARENA = 16 << 20,
	OPERATIONS_MAX = 4,
	GROWTH_MAX = 256, /* bytes that one part may grow by */
};

/* libFuzzer's own mutator, which knows the dictionary. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
				 size_t second_size, uint8_t *out, size_t max, unsigned int seed);

/* A fuzzer is a process of its own with one thread, so that what it works in may be static. */
static uint8_t arena[ARENA];
static size_t arena_used;
static struct fs_parts parts_of_input;

uint8_t *fs_fuzz_room(size_t size)
{
	uint8_t *room = arena + arena_used;

	if (size > ARENA - arena_used)
		return NULL;
	arena_used += (size + 15) & ~(size_t)15;
	if (arena_used > ARENA)
		arena_used = ARENA;
	memset(room, 0, size);
	return room;
}

uint64_t fs_fuzz_random(struct fs_parts *parts, uint64_t limit)
{
	uint64_t x = parts->random += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (x ^ x >> 31) % limit;
}

uint64_t fs_fuzz_odd_number(struct fs_parts *parts)
{
	uint64_t power = 1ull << fs_fuzz_random(parts, 64);

	switch (fs_fuzz_random(parts, 8)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return power;
	case 3:
		return power - 1;
	case 4:
		return UINT64_MAX - power;
	case 5:
		return fs_fuzz_random(parts, UINT64_MAX);
	default:
		return fs_fuzz_random(parts, 256);
	}
}

bool fs_fuzz_append(struct fs_parts *parts, unsigned int kind, unsigned int number,
		    const void *bytes, size_t size)
{
	struct fs_part *part = fs_fuzz_insert(parts, parts->count, size);

	if (!part)
		return false;
	part->kind = kind;
	part->number = number;
	if (size)
		memcpy(part->bytes, bytes, size);
	return true;
}

struct fs_part *fs_fuzz_insert(struct fs_parts *parts, size_t position, size_t size)
{
	struct fs_part *part = &parts->items[position];
	uint8_t *room;

	if (parts->count == FS_PARTS_MAX)
		return NULL;
	room = fs_fuzz_room(size);
	if (!room)
		return NULL;
	memmove(part + 1, part, (parts->count - position) * sizeof(*part));
	parts->count++;
	*part = (struct fs_part){ .bytes = room, .size = size };
	return part;
}

bool fs_fuzz_put(uint8_t *out, size_t *used, size_t max, const void *bytes, size_t size)
{
	if (size > max - *used)
		return false;
	if (size)
		memcpy(out + *used, bytes, size);
	*used += size;
	return true;
}

/* ---- the operations ---- */

static void change(struct fs_parts *parts, size_t position)
{
	struct fs_part *part = &parts->items[position];
	bool grows = fs_fuzz_random(parts, 2);
	uint8_t *room = fs_fuzz_room(part->size + GROWTH_MAX);

	if (!room)
		return;
	if (part->size)
		memcpy(room, part->bytes, part->size);
	part->bytes = room;
	if (grows || !part->size)
		part->size = LLVMFuzzerMutate(room, part->size, part->size + GROWTH_MAX);
	else
		LLVMFuzzerMutate(room, part->size, part->size);
}

/* A number inside the part becomes an odd one. */
static void change_number(struct fs_parts *parts, size_t position)
{
	struct fs_part *part = &parts->items[position];
	uint64_t value = fs_fuzz_odd_number(parts);
	size_t width = (size_t)1 << fs_fuzz_random(parts, 4);
	size_t at;

	if (part->size < width)
		return;
	at = fs_fuzz_random(parts, part->size / width) * width;
	memcpy(part->bytes + at, &value, width);
}

static void drop(struct fs_parts *parts, size_t position)
{
	size_t count = 1;

	if (!fs_fuzz_random(parts, 8))
		count += fs_fuzz_random(parts, parts->count - position);
	memmove(&parts->items[position], &parts->items[position + count],
		(parts->count - position - count) * sizeof(parts->items[0]));
	parts->count -= count;
}

static void duplicate(struct fs_parts *parts, size_t position)
{
	struct fs_part model = parts->items[position];
	size_t times = fs_fuzz_random(parts, 16) ? 1 : 1 + fs_fuzz_random(parts, 64);

	while (times--) {
		size_t to = fs_fuzz_random(parts, parts->count + 1);
		struct fs_part *copy = fs_fuzz_insert(parts, to, model.size);

		if (!copy)
			return;
		copy->kind = model.kind;
		copy->number = model.number;
		if (model.size)
			memcpy(copy->bytes, model.bytes, model.size);
	}
}

static void exchange(struct fs_parts *parts, size_t position)
{
	size_t other = fs_fuzz_random(parts, parts->count);
	struct fs_part part = parts->items[position];

	parts->items[position] = parts->items[other];
	parts->items[other] = part;
}

static void operate(struct fs_parts *parts)
{
	size_t position;

	if (!parts->count) {
		fs_fuzz_format.make(parts, 0);
		return;
	}
	position = fs_fuzz_random(parts, parts->count);
	switch (fs_fuzz_random(parts, 10)) {
	case 0:
		drop(parts, position);
		break;
	case 1:
		duplicate(parts, position);
		break;
	case 2:
		exchange(parts, position);
		break;
	case 3:
	case 4:
		fs_fuzz_format.make(parts, position);
		break;
	case 5:
	case 6:
		change_number(parts, position);
		break;
	default:
		change(parts, position);
		break;
	}
}

static struct fs_parts *begin(unsigned int seed)
{
	arena_used = 0;
	parts_of_input.count = 0;
	parts_of_input.swap = false;
	parts_of_input.random = seed;
	return &parts_of_input;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	struct fs_parts *parts = begin(seed);
	size_t operations = 1 + fs_fuzz_random(parts, OPERATIONS_MAX);

	if (!fs_fuzz_random(parts, 8))
		return LLVMFuzzerMutate(data, size, max);
	fs_fuzz_format.split(parts, data, size);
	while (operations--)
		operate(parts);
	return fs_fuzz_format.join(parts, data, max, fs_fuzz_random(parts, 8));
}

/* Some parts of the second input into the first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
				 size_t second_size, uint8_t *out, size_t max, unsigned int seed)
{
	struct fs_parts *parts = begin(seed);
	size_t own;
	size_t others;

	fs_fuzz_format.split(parts, first, first_size);
	own = parts->count;
	fs_fuzz_format.split(parts, second, second_size);
	others = parts->count - own;
	if (others) {
		size_t from = fs_fuzz_random(parts, others);
		size_t count = 1 + fs_fuzz_random(parts, others - from);

		memmove(&parts->items[own], &parts->items[own + from],
			count * sizeof(parts->items[0]));
		parts->count = own + count;
		for (size_t i = own; own && i < parts->count; i++)
			exchange(parts, i);
	}
	return fs_fuzz_format.join(parts, out, max, true);
}

/* ---- for the targets ---- */

/* ASan keeps freed memory for a while: as much as the limit of a run allows. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=16:malloc_context_size=8";
}

const char *fs_fuzz_file(unsigned int slot, const void *bytes, size_t size)
{
	static struct {
		int fd;
		char path[32];
	} files[2];
	size_t done = 0;

	if (!files[slot].path[0]) {
		files[slot].fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(files[slot].path, sizeof(files[slot].path), "/proc/self/fd/%d",
			 files[slot].fd);
	}
	FS_FUZZ_ASSERT(!ftruncate(files[slot].fd, 0));
	while (done < size) {
		ssize_t put = pwrite(files[slot].fd, (const uint8_t *)bytes + done, size - done,
				     (off_t)done);

		FS_FUZZ_ASSERT(put > 0 || errno == EINTR);
		done += put > 0 ? (size_t)put : 0;
	}
	return files[slot].path;
}

void fs_fuzz_fault(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}
