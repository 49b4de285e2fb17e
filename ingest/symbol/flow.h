/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which type and field an instruction accesses. Runs in the helper.
 *
 * The address in a memory operand is followed forward through its function: from parameters and
 * variables (DWARF location lists), through moves, additions, loads of pointers from known fields,
 * stack slots and the results of typed calls, to the instruction asked for. Where paths meet, what
 * they agree on stays. Nothing is guessed: an address whose object is not known has no type.
 */
#ifndef FS_INGEST_SYMBOL_FLOW_H
#define FS_INGEST_SYMBOL_FLOW_H

#include "ingest/symbol/data_type.h"
#include "ingest/symbol/dwarf_index.h"
#include "ingest/symbol/operand.h"
#include "ingest/symbol/symbol.h"
#include "ingest/symbol/variable.h"

struct fs_typed_access {
	uint32_t type;	  /* of the object; FS_NO_TYPE: not known */
	int64_t offset;	  /* of the access in it; if `within`, of an array's first element */
	uint32_t stride;  /* an unknown multiple of this was added to the address; 0: none */
	bool within;	  /* that index runs within an array of the object, else by whole objects */
	const char *name; /* of the variable that is the object; NULL: reached by pointer */
	enum fs_type_method method;
};

/* Where the bytes of a program's code are, and what DWARF says of it. */
struct fs_flow_source {
	struct fs_data_types *types;
	struct fs_globals *globals; /* read when they are first needed */
	struct fs_dwarf_index *index;
	struct fs_x86 *x86;    /* NULL: A64 */
	uint64_t thread_block; /* bytes from the thread pointer to the thread's block; on
				  x86-64 to be subtracted */
	/* Read code at a link-time address; the number of bytes got. */
	size_t (*read)(void *context, uint64_t address, void *buffer, size_t size);
	void *context;
};

struct fs_flow;

/* NULL when memory ran out. The source is copied; what it points to must stay. */
struct fs_flow *fs_flow_open(const struct fs_flow_source *source);
void fs_flow_close(struct fs_flow *flow);

/*
 * Type the memory access of the instruction at `address`, which lies in the function that DWARF
 * has there. False where nothing is known. Asking in address order is fast: a function is followed
 * once.
 */
bool fs_flow_access(struct fs_flow *flow, uint64_t address, struct fs_typed_access *ret_access);

#endif
