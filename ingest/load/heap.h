/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heap blocks that were sampled, from allocation logs of the user and from probes in the recording.
 *
 * A log is text, one event a line, in the order of time; numbers are decimal or 0x...:
 *
 *   TIME PID TID alloc ADDRESS SIZE [SITE]
 *   TIME PID TID free ADDRESS
 *
 * TIME is of the recording's clock, in ns, or in seconds with a point as perf prints them. SITE is
 * the code address that called the allocator. Empty lines and those that begin with # are comments.
 * A block that is allocated again without having been freed ends there. What is kept are blocks on
 * lines that were sampled; an address that was allocated again later is another block.
 */
#ifndef FS_LOAD_HEAP_H
#define FS_LOAD_HEAP_H

#include <sqlite3.h>

#include "ingest/load/decode.h"

struct fs_heap_block {
	int64_t space;
	uint64_t addr, size;
	uint32_t pid, tid;
	uint64_t alloc_ns, free_ns; /* free_ns 0: not freed */
	int64_t code;		    /* of the site; FS_NONE: not told */
};

struct fs_heap {
	struct fs_heap_block *blocks;
	size_t count, capacity;
	struct fs_table live; /* {pid, address} -> index + 1, 0: freed */
	uint64_t skipped;     /* lines that make no sense */
	uint64_t dropped;     /* blocks over the limit */
	struct fs_table
		calls; /* pid << 32 | tid -> bytes that the thread asks for; 0: it does not */
};

void fs_heap_init(struct fs_heap *heap);
void fs_heap_free(struct fs_heap *heap);

/*
 * Read a log after the decoder's roll-up is finished, whose lines decide what is kept. Sites become
 * code of the decoder. FS_REFUSED: the file cannot be read.
 */
int fs_heap_read(struct fs_heap *heap, struct fs_decoder *decoder, const char *path,
		 struct fs_error *error);

/*
 * Take the samples of probes on the allocator, in a database that holds the trace's samples but not
 * yet its facts. An event is one by its name, whatever its group: malloc, calloc, realloc,
 * aligned_alloc, memalign or mmap at the entry, with the function's arguments as numbers in their
 * order; the same with `return` behind it, or with the field __probe_ret_ip, at the end, with the
 * result as its first number; free or munmap, with the address. The site is __probe_ret_ip.
 */
int fs_heap_take_probes(struct fs_heap *heap, struct fs_decoder *decoder, sqlite3 *db,
			struct fs_error *error);

#endif
