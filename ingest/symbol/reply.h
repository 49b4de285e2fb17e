/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the helper sends back: frames over a pipe, little-endian.
 *
 *   u32 kind | u32 size | size bytes
 *
 * FIRST    u32 protections                              always first
 * BINARY   u32 arch, u32 flags                          once the file is open
 * TEXT     bytes                                        numbered from 0 in order
 * FUNCTION u64 address, u64 size, u32 name, u32 linkage name         numbered likewise
 * CODE     u32 query, u32 function, u64 function offset, u32 file, u32 line,
 *          u32 op + 1, u32 width, u32 base register, u32 method, u64 displacement
 * LAST     u32 outcome, bytes of a sentence             always last
 *
 * The reader believes nothing: every number is checked against what came before it.
 */
#ifndef FS_INGEST_SYMBOL_REPLY_H
#define FS_INGEST_SYMBOL_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/symbol/symbol.h"

enum fs_reply_kind {
	FS_REPLY_FIRST = 1,
	FS_REPLY_BINARY,
	FS_REPLY_TEXT,
	FS_REPLY_FUNCTION,
	FS_REPLY_CODE,
	FS_REPLY_LAST,
};

enum {
	FS_REPLY_SECCOMP = 1 << 0,
	FS_REPLY_LANDLOCK = 1 << 1,
};

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

enum fs_reply_outcome { FS_REPLY_DONE, FS_REPLY_UNREADABLE, FS_REPLY_NO_MEMORY };

enum { FS_REPLY_HEADER = 8, FS_REPLY_TEXT_MAX = 1 << 16 };

/* More than this from one helper is refused. */
#define FS_REPLY_MAX ((size_t)256 << 20)

/* ---- the helper's end; a failed write ends the process, for nobody listens ---- */

struct fs_reply_writer {
	int fd;
	size_t used;
	uint8_t buffer[1 << 15];
};

void fs_reply_first(struct fs_reply_writer *writer, uint32_t protections);
void fs_reply_binary(struct fs_reply_writer *writer, enum fs_reply_arch arch, uint32_t flags);
/* Cut at FS_REPLY_TEXT_MAX. */
void fs_reply_text(struct fs_reply_writer *writer, const char *text, size_t length);
void fs_reply_function(struct fs_reply_writer *writer, const struct fs_symbol_function *function);
void fs_reply_code(struct fs_reply_writer *writer, uint32_t query,
		   const struct fs_symbol_result *result);
/* Writes out everything. */
void fs_reply_last(struct fs_reply_writer *writer, enum fs_reply_outcome outcome,
		   const char *sentence);

/* ---- the parent's end ---- */

/*
 * Read a whole reply and fill dso: arch, operands, functions, results; and the isolation that the
 * helper had. A DSO without .symtab and DWARF becomes FS_SYMBOLS_STRIPPED if it was verified.
 * Strings are interned in `strings`.
 *
 * Returns 0, FS_NOMEM, or FS_REFUSED with a sentence in *error: malformed, cut off, or the
 * helper's own complaint. After a failure dso holds no results.
 */
int fs_reply_read(const uint8_t *data, size_t size, struct fs_interner *strings,
		  struct fs_symbol_dso *dso, struct fs_symbol_isolation *isolation,
		  struct fs_error *error);

/* Make all results unknown and forget the functions. */
void fs_reply_forget(struct fs_symbol_dso *dso);

#endif
