/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the variables of a program live, from DWARF locations. Runs in the helper.
 *
 * Two collections: the variables of one function with the code ranges in which a register or a
 * place on the stack holds them, and those of the whole program at fixed addresses or at fixed
 * distances in each thread's block. DWARF 5 standard, sections 2.5, 2.6 and 3.3.
 */
#ifndef FS_INGEST_SYMBOL_VARIABLE_H
#define FS_INGEST_SYMBOL_VARIABLE_H

#include "ingest/symbol/data_type.h"
#include "ingest/symbol/elf_symbols.h"

enum fs_variable_place {
	FS_PLACE_REGISTER, /* the register holds value - offset of it */
	FS_PLACE_FRAME,	   /* at canonical frame address + offset */
	FS_PLACE_MEMORY,   /* at register + offset */
};

/* A variable or parameter of a function in [low, high) of its code. */
struct fs_local {
	uint64_t low, high;
	int64_t offset;
	uint32_t part;	  /* REGISTER: of which byte of the variable on */
	const char *name; /* lies in the Dwarf; NULL: none */
	uint32_t type;
	enum fs_variable_place place;
	int8_t reg;
};

struct fs_locals {
	struct fs_local *locals; /* by low */
	size_t count, capacity;
};

/*
 * Collect the locations of a function's variables, those of inlined functions included, limited to
 * its range [low, high). 0 or FS_NOMEM. Free with free(locals->locals).
 */
int fs_locals_read(struct fs_data_types *types, Dwarf_Die *function, uint64_t low, uint64_t high,
		   struct fs_locals *ret_locals);

/* A variable at a link-time address, or at an offset in each thread's block. */
struct fs_global {
	uint64_t address;
	uint64_t size;
	const char *name;
	uint32_t type;
};

struct fs_globals {
	struct fs_global *globals; /* by address */
	size_t count, capacity;
	struct fs_global *thread_locals; /* by offset */
	size_t thread_local_count, thread_local_capacity;
	/* GCC tells no location of thread-locals on AArch64: they are placed by the symbols of the
	 * same name. NULL: there are none. */
	const struct fs_elf_symbols *thread_symbols;
	bool read;
};

/* Collect them from all units, once. 0 or FS_NOMEM. */
int fs_globals_read(struct fs_data_types *types, struct fs_globals *globals);
void fs_globals_free(struct fs_globals *globals);

/* The variable that holds an address, or an offset in the thread's block; NULL: none. */
const struct fs_global *fs_global_at(const struct fs_globals *globals, uint64_t address);
const struct fs_global *fs_thread_local_at(const struct fs_globals *globals, uint64_t offset);

#endif
