/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stubs of the procedure linkage table: which function each leads to. Runs in the helper.
 *
 * A stub jumps to what a slot of the global offset table holds; the relocation of that slot names
 * the function. Instructions are those of the x86-64 psABI (chapter 5.2, and with .plt.sec of IBT)
 * and of the AArch64 ELF ABI, with and without bti.
 */
#ifndef FS_INGEST_SYMBOL_PLT_H
#define FS_INGEST_SYMBOL_PLT_H

#include "ingest/symbol/elf_symbols.h"

/*
 * Add the stubs of a binary for x86-64 or AArch64, each under the name of the function that it
 * leads to; `functions` names those that are found when the program starts (IFUNC). 0 or FS_NOMEM.
 */
int fs_plt_add(struct fs_elf_symbols *stubs, Elf *elf, const struct fs_elf_symbols *functions);

#endif
