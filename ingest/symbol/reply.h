/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the helper says of a DSO: frames of helper/reply.h, with these of its own.
 *
 * BINARY   u32 arch, u32 flags                          once the file is open
 * FUNCTION u64 address, u64 size, u32 name, u32 linkage name         numbered from 0 in order
 * CODE     u32 query, u32 function, u64 function offset, u32 file, u32 line,
 *          u32 op + 1, u32 width, u32 base register, u32 method, u64 displacement
 */
#ifndef FS_INGEST_SYMBOL_REPLY_H
#define FS_INGEST_SYMBOL_REPLY_H

#include "ingest/symbol/symbol.h"

enum { FS_REPLY_BINARY = FS_REPLY_OWN, FS_REPLY_FUNCTION, FS_REPLY_CODE };

/* Flags of BINARY. */
enum {
	FS_REPLY_SYMBOLS = 1 << 0,  /* .symtab, or DWARF */
	FS_REPLY_OPERANDS = 1 << 1, /* instruction bytes that we can decode */
};

/* Of BINARY. X(enum suffix, number, name) */
#define FS_REPLY_ARCH_LIST(X)                                                                      \
	X(OTHER, 0, "other")                                                                       \
	X(AARCH64, 1, "aarch64")                                                                   \
	X(X86_64, 2, "x86_64")                                                                     \
	X(I686, 3, "i686")

#define FS_ENUM_REPLY_ARCH(suffix, number, name) FS_REPLY_ARCH_##suffix = (number),
enum fs_reply_arch { FS_REPLY_ARCH_LIST(FS_ENUM_REPLY_ARCH) FS_REPLY_ARCH_MAX };

/* ---- the helper's end ---- */

void fs_reply_binary(struct fs_reply_writer *writer, enum fs_reply_arch arch, uint32_t flags);
void fs_reply_function(struct fs_reply_writer *writer, const struct fs_symbol_function *function);
void fs_reply_code(struct fs_reply_writer *writer, uint32_t query,
		   const struct fs_symbol_result *result);

/* ---- the parent's end ---- */

/*
 * Read a whole reply and fill dso: arch, operands, functions, results; and the isolation that the
 * helper had. A DSO without .symtab and DWARF becomes FS_SYMBOLS_STRIPPED if it was verified.
 * Strings are interned in `strings`.
 *
 * Returns what fs_reply_read() does. After a failure dso holds no results.
 */
int fs_symbol_reply_read(const uint8_t *data, size_t size, struct fs_interner *strings,
			 struct fs_symbol_dso *dso, struct fs_isolation *isolation,
			 struct fs_error *error);

/* Make all results unknown and forget the functions. */
void fs_reply_forget(struct fs_symbol_dso *dso);

#endif
