/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that say where names come from, as fsingest has them.
 */
#ifndef FS_QUERY_SOURCES_H
#define FS_QUERY_SOURCES_H

#include "query/listing.h"

/* Files or directories of an option that may be repeated. */
struct fs_places {
	const char *paths[64];
	size_t count;
};

struct fs_sources {
	struct fs_places roots, archives;
	struct fs_name_sources names; /* made of them as they come */
};

enum {
	FS_KEY_SYMBOLS = 0x300,
	FS_KEY_ARCHIVE,
	FS_KEY_VMLINUX,
	FS_KEY_KALLSYMS,
	FS_KEY_UNVERIFIED,
};

/* clang-format off */
#define FS_SOURCES_OPTIONS                                                                         \
	{ "symbols", FS_KEY_SYMBOLS, "DIR", 0,                                                     \
	  "Where to look for binaries, as for fsingest; may be repeated", 1 },                     \
	{ "archive", FS_KEY_ARCHIVE, "FILE", 0,                                                    \
	  "A tarball of binaries, such as perf archive makes", 1 },                                \
	{ "vmlinux", FS_KEY_VMLINUX, "FILE", 0, "The kernel with its names and types", 1 },        \
	{ "kallsyms", FS_KEY_KALLSYMS, "FILE", 0,                                                  \
	  "A copy of the recording machine's /proc/kallsyms", 1 },                                 \
	{ "unverified-symbols", FS_KEY_UNVERIFIED, NULL, 0,                                        \
	  "Also use binaries whose build-id is not in the trace", 1 }
/* clang-format on */

/* Take one of these options; ARGP_ERR_UNKNOWN for any other key. Texts are borrowed. */
error_t fs_sources_parse(struct fs_sources *sources, int key, char *arg, struct argp_state *state);

/* Add a path; a usage error when there are too many. */
error_t fs_places_add(struct fs_places *places, const char *path, struct argp_state *state);

/* Whether any place was named. */
bool fs_sources_any(const struct fs_sources *sources);

#endif
