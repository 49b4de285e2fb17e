/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the helper says of a DSO: frames of helper/reply.h, with these of its own.
 *
 * BINARY   u32 arch, u32 flags                          once the file is open
 * FUNCTION u64 address, u64 size, u32 name, u32 linkage name         numbered from 0 in order
 * INLINED  u32 name, u32 file, u32 line, u32 column of the call,
 *          u32 caller                                   numbered from 0 in order
 * CODE     u32 query, u32 function, u64 function offset, u32 file, u32 line, u32 column,
 *          u32 inlined, u32 op + 1, u32 width, u32 base register, u32 method, u64 displacement,
 *          u32 type, u64 type offset, u32 stride, u32 within, u32 field, u32 variable,
 *          u32 type method
 * TYPE     u32 name, u64 size, u32 kind                 numbered from 0 in order
 * FIELD    u32 type, u32 name, u32 type name, u32 member type, u64 offset, u64 size,
 *          u64 elements, u32 bit offset << 16 | bit size, u32 base class
 *                                                       sorted by type
 * OBJECT   u32 query, u32 name, u64 address, u64 size, u64 offset, u32 type, u32 field
 */
#ifndef FS_INGEST_SYMBOL_REPLY_H
#define FS_INGEST_SYMBOL_REPLY_H

#include "ingest/symbol/symbol.h"

enum {
	FS_REPLY_BINARY = FS_REPLY_OWN,
	FS_REPLY_FUNCTION,
	FS_REPLY_CODE,
	FS_REPLY_TYPE,
	FS_REPLY_FIELD,
	FS_REPLY_OBJECT,
	FS_REPLY_INLINED,
};

/* More types, fields and inlined functions than this from one DSO are refused, and not sent. */
enum {
	FS_REPLY_TYPES_MAX = 1 << 14,
	FS_REPLY_FIELDS_MAX = 1 << 18,
	FS_REPLY_INLINED_MAX = 1 << 20,
	FS_REPLY_INLINED_DEPTH_MAX = 512, /* of functions put into each other */
};

/* Flags of BINARY. */
enum {
	FS_REPLY_SYMBOLS = 1 << 0,    /* .symtab, or DWARF */
	FS_REPLY_OPERANDS = 1 << 1,   /* instruction bytes that we can decode */
	FS_REPLY_BAD_DWARF = 1 << 2,  /* debug information that cannot be read */
	FS_REPLY_SPLIT = 1 << 3,      /* debug information in .dwo files, which are not read */
	FS_REPLY_LINES_ONLY = 1 << 4, /* debug information refers to others by .debug_sup */
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
void fs_reply_inlined(struct fs_reply_writer *writer, const struct fs_symbol_inlined *inlined);
void fs_reply_code(struct fs_reply_writer *writer, uint32_t query,
		   const struct fs_symbol_result *result);

void fs_reply_type(struct fs_reply_writer *writer, const struct fs_symbol_type *type);
void fs_reply_field(struct fs_reply_writer *writer, const struct fs_symbol_field *field);
void fs_reply_object(struct fs_reply_writer *writer, uint32_t query,
		     const struct fs_symbol_object *object);

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
