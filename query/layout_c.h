/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A structure as C: what `layout --format c` prints, to be put into the source.
 */
#ifndef FS_QUERY_LAYOUT_C_H
#define FS_QUERY_LAYOUT_C_H

#include <stdio.h>

#include "query/listing.h"

/*
 * Write the declaration of a member without what ends it: "int *(*next)(int)" for the type
 * "int *(*)(int)" and the name "next". bits: of a bit-field, else -1. name may be empty.
 */
void fs_layout_declare(FILE *out, const char *type, const char *name, int64_t bits);

/*
 * Write a member with `depth` tabs in front, its semicolon and no newline. A member whose type has
 * no name is written with all that is in it, from table `field`: `member` is its type.id, 0: it has
 * a name.
 */
int fs_layout_write_member(FILE *out, const struct fs_options *options, const char *type,
			   const char *name, int64_t bits, int64_t member, int depth,
			   struct fs_error *error);

/* Whether the type is written as an array, whose elements can be told by its text. */
bool fs_layout_is_array(const char *type);

/* Write an array as one of structures whose only member, `value`, begins a line of its own; without
 * the semicolon that ends it. */
void fs_layout_write_slots(FILE *out, const char *type, const char *name, uint64_t line);

#endif
