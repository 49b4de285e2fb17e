/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source lines and functions by address, from DWARF. Runs in the helper.
 */
#ifndef FS_INGEST_SYMBOL_DWARF_INDEX_H
#define FS_INGEST_SYMBOL_DWARF_INDEX_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h"

struct fs_dwarf_range {
	uint64_t low;
	uint64_t high;
	Dwarf_Off die; /* of the unit, or of the subprogram */
};

struct fs_dwarf_ranges {
	struct fs_dwarf_range *items; /* by low */
	size_t count;
	size_t capacity;
};

struct fs_dwarf_index {
	Dwarf *dwarf;	      /* NULL: there is none */
	Dwarf *supplementary; /* NULL: there is none */
	bool lines_only; /* .debug_sup: libdw 0.188 takes a reference to a supplementary file by
			    DW_FORM_ref_sup4 for one within the file itself */
	bool split;	 /* units whose information lies in .dwo files, which are not read */
	bool unreadable; /* there is some, but libdw makes nothing of it */
	struct fs_dwarf_ranges units;
	struct fs_table functions; /* unit -> fs_dwarf_ranges, of units met so far */
};

/* A function as DWARF has it; names lie in the Dwarf. */
struct fs_dwarf_function {
	const char *name;
	const char *linkage_name; /* NULL: none */
	uint64_t address;
	uint64_t size;
};

/*
 * Index the units of an Elf; leaves dwarf NULL where there is no DWARF. `supplementary` is what it
 * shares with others, or NULL. 0 or FS_NOMEM.
 */
int fs_dwarf_index_open(struct fs_dwarf_index *index, Elf *elf, Elf *supplementary);

/* A place in the source. Texts lie in the Dwarf. */
struct fs_dwarf_place {
	const char *directory; /* that `path` is relative to; NULL: it is absolute, or not told */
	const char *path;      /* NULL: not known */
	uint32_t line;	       /* from 1; 0: not known */
	uint32_t column;       /* from 1; 0: not told */
};

/* The directory of a place whose path a unit's table of files has. */
const char *fs_dwarf_directory(Dwarf_Die *unit, const char *path);

/* The place of an address. Returns false if unknown. */
bool fs_dwarf_place(struct fs_dwarf_index *index, uint64_t address,
		    struct fs_dwarf_place *ret_place);

/* The names of a function, of whichever entry tells them; NULL: none. They lie in the Dwarf. */
void fs_dwarf_names(Dwarf_Die *die, const char **ret_name, const char **ret_linkage_name);

/* Add the ranges of an entry, without empty ones and those of code that the linker dropped. */
int fs_dwarf_ranges_add(struct fs_dwarf_ranges *ranges, Dwarf_Die *die);

/* The function of an address. The functions of its unit are read once. */
bool fs_dwarf_function(struct fs_dwarf_index *index, uint64_t address,
		       struct fs_dwarf_function *ret_function);

/* The entry of the function at an address, and the range of it that holds the address. */
bool fs_dwarf_function_range(struct fs_dwarf_index *index, uint64_t address, Dwarf_Die *ret_die,
			     struct fs_dwarf_range *ret_range);

/* The same of the function that begins at an address. */
bool fs_dwarf_entry(struct fs_dwarf_index *index, uint64_t address, Dwarf_Die *ret_die,
		    struct fs_dwarf_range *ret_range);

void fs_dwarf_index_close(struct fs_dwarf_index *index);

#endif
