/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions or variables by address: from the symbol tables of an ELF file. Runs in the helper.
 */
#ifndef FS_INGEST_SYMBOL_ELF_SYMBOLS_H
#define FS_INGEST_SYMBOL_ELF_SYMBOLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fs_elf_symbol {
	uint64_t address;
	uint64_t size;	  /* 0: not told */
	uint64_t limit;	  /* end of its section; a symbol without size ends there at the latest */
	const char *name; /* lies in the Elf */
	uint32_t order;	  /* position in the table */
	uint8_t rank;	  /* of several at one address the lowest counts */
};

enum fs_elf_symbols_kind {
	FS_ELF_FUNCTIONS,
	FS_ELF_VARIABLES,
	FS_ELF_THREAD_LOCALS, /* their address is an offset in the thread's block */
};

struct fs_elf_symbols {
	struct fs_elf_symbol *items; /* by address, one per address */
	uint64_t *reach;	     /* highest end of the items up to here */
	size_t count;
	size_t capacity;
	bool full;		       /* .symtab was there */
	enum fs_elf_symbols_kind kind; /* set before the first _add */
};

/* Add the functions (or variables) of an Elf's .symtab, or of .dynsym where it has none. 0 or
 * FS_NOMEM. */
int fs_elf_symbols_add(struct fs_elf_symbols *symbols, Elf *elf);

/* After the last _add: sort, and keep the best symbol of each address. 0 or FS_NOMEM. */
int fs_elf_symbols_index(struct fs_elf_symbols *symbols);

/* The innermost symbol that covers an address, or behind which it aligns the next; or NULL. */
const struct fs_elf_symbol *fs_elf_symbols_find(const struct fs_elf_symbols *symbols,
						uint64_t address);

/* The value of the first symbol of a name in .symtab. False: there is none. */
bool fs_elf_symbol_value(Elf *elf, const char *name, uint64_t *ret_value);

void fs_elf_symbols_free(struct fs_elf_symbols *symbols);

#endif
