/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which functions the compiler put into another at an address, from DW_TAG_inlined_subroutine
 * (DWARF 5, 3.3.8.2). Runs in the helper.
 *
 * The entries of one function are read at once and kept until another function is asked about, so
 * asking in address order is fast.
 */
#ifndef FS_INGEST_SYMBOL_INLINES_H
#define FS_INGEST_SYMBOL_INLINES_H

#include "ingest/symbol/dwarf_index.h"

/* No inlined function: the code is the function's own. */
#define FS_NOT_INLINED UINT32_MAX

/* A function that was put into another one. */
struct fs_inlined {
	Dwarf_Off die;
	uint32_t caller; /* number of the one that it was put into, or FS_NOT_INLINED */
	uint32_t depth;	 /* 1: put into the function itself */
};

/* Those of one function. */
struct fs_inlines {
	struct fs_dwarf_index *index;
	Dwarf_Off function;
	bool known;
	struct fs_inlined *items; /* by die; so callers stand before what was put into them */
	size_t count, capacity;
	struct fs_dwarf_ranges ranges; /* of the items */
};

/* What is told of one. */
struct fs_inlined_call {
	const char *name, *linkage_name; /* in the Dwarf; NULL: none */
	struct fs_dwarf_place place;	 /* where it is called */
};

/* The innermost inlined function at an address, or FS_NOT_INLINED. 0 or FS_NOMEM. */
int fs_inlines_at(struct fs_inlines *inlines, uint64_t address, uint32_t *ret_inlined);

/* Describe one of those that inlines->items has. */
void fs_inlined_call(const struct fs_inlines *inlines, uint32_t inlined,
		     struct fs_inlined_call *ret_call);

void fs_inlines_free(struct fs_inlines *inlines);

#endif
