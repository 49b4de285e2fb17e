/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of a structure that ends its false sharing, found by trying: candidates are laid out
 * by the rules of C, and the recorded accesses are replayed on each.
 *
 * The replay keeps, for each cache line, who wrote which field last. An access conflicts when
 * another thread wrote on its line since the thread's own last access there: truly if that was the
 * same field (the same element of an array), falsely if only others. Samples are a fraction of the
 * accesses, so the counts say how layouts compare, not how often a line moves.
 */
#ifndef FS_QUERY_LAYOUT_MODEL_H
#define FS_QUERY_LAYOUT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FS_LAYOUT_FIELDS_MAX = 256 };

struct fs_layout_field {
	const char *name;
	uint64_t offset, size; /* now */
	uint64_t align;	       /* bytes, a power of two */
	uint64_t element;      /* of an array: bytes of one; else size */
	bool fixed;	       /* must stay first or last: base classes, flexible arrays */
};

/* One sampled access, in order of time. */
struct fs_layout_access {
	uint32_t object; /* index */
	uint16_t field;
	bool writes;
	uint32_t element; /* of an array, else 0 */
	uint32_t thread;
};

struct fs_layout_problem {
	const struct fs_layout_field *fields;
	size_t field_count; /* at most FS_LAYOUT_FIELDS_MAX */
	uint64_t size, align;
	uint64_t line;		 /* bytes, a power of two */
	const uint64_t *objects; /* where each begins, ascending */
	size_t object_count;
	const struct fs_layout_access *accesses;
	size_t access_count;
	uint64_t unaligned; /* an array of it begins at any multiple of this: it is on the heap,
			     * where no alignment is heeded; 0: the compiler places it */
	const bool *arrays; /* by field: may become an array of structures; NULL: none */
};

struct fs_layout {
	uint16_t order[FS_LAYOUT_FIELDS_MAX];  /* fields from the first */
	uint64_t offset[FS_LAYOUT_FIELDS_MAX]; /* by field */
	bool aligned[FS_LAYOUT_FIELDS_MAX];    /* by field: begins a line of its own */
	bool spread[FS_LAYOUT_FIELDS_MAX];     /* by field: each element of the array does */
	bool whole; /* the structure itself is aligned to a line; one that cannot be is padded */
	uint64_t size, align;
	uint64_t false_conflicts, true_conflicts; /* of the replay */
};

/* Bytes of a field, if each of its elements has a line, or as it is. */
static inline uint64_t fs_layout_size(const struct fs_layout_field *field, bool spread,
				      uint64_t line)
{
	return spread ? field->size / field->element * line : field->size;
}

/* How a layout came about, the cheapest first. */
enum fs_layout_means {
	FS_LAYOUT_NOTHING, /* there is no false sharing to end, or nothing ends half of it */
	FS_LAYOUT_MOVE,	   /* fields moved, the size stays */
	FS_LAYOUT_ALIGN,   /* the structure or fields aligned to lines, or padded: it grows */
};

/*
 * Find the cheapest layout that ends at least 95 % of the false conflicts; if there is none, the
 * one that leaves fewest, unless it leaves more than half, or more than half of the true
 * and false ones together: threads that fight truly only come to fight harder. *ret_now is the
 * present layout with its conflicts. 0 or FS_NOMEM.
 */
int fs_layout_propose(const struct fs_layout_problem *problem, struct fs_layout *ret_now,
		      struct fs_layout *ret_proposed, enum fs_layout_means *ret_means);

#endif
