/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The type of a variable or member as the source writes it: with its typedefs, qualifiers and
 * dimensions, so that it can be declared again.
 */
#ifndef FS_INGEST_SYMBOL_DECLARATION_H
#define FS_INGEST_SYMBOL_DECLARATION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Write what DW_AT_type of an entry says, without the name that is declared: "atomic_int",
 * "volatile long[7][2]", "int (*)(void *, int)". What has no name is "struct (anonymous)". False:
 * it has no type, or one that is longer than `size`.
 */
bool fs_declaration(Dwarf_Die *entry, char *text, size_t size);

#endif
