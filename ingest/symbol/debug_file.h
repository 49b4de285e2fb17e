/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the files that hold a binary's debug information, under the symbol roots and nowhere else.
 *
 * A separate debug file is one with the binary's build-id in
 *
 *   build-id tree   .build-id/xx/yyy.debug, xx/yyy.debug, usr/lib/debug/.build-id/xx/yyy.debug,
 *                   <id>/debuginfo
 *   perf's cache    <path>/<id>/debug
 *
 * else what the binary's .gnu_debuglink names, beside it, in .debug/ and in usr/lib/debug/<folder>,
 * with the CRC that stands there (gdb's manual, "Separate Debug Files"), or with the build-id.
 *
 * What dwz has moved out of several debug files lies in a supplementary file, which
 * .gnu_debugaltlink names by its path, maybe relative to the debug file, and its build-id.
 */
#ifndef FS_INGEST_SYMBOL_DEBUG_FILE_H
#define FS_INGEST_SYMBOL_DEBUG_FILE_H

#include <limits.h>
#include <stddef.h>

#include "ingest/symbol/build_id.h"
#include "ingest/symbol/locate.h"

struct fs_debug_search {
	struct fs_roots *roots;
	const char *path;     /* of the binary, as recorded */
	const char *build_id; /* of the binary, or as recorded; "": not known */
	int fd;		      /* the binary, or -1 */
};

/* What was found; both descriptors are the caller's, or -1. */
struct fs_debug_files {
	int fd;		      /* the separate debug file */
	int supplementary_fd; /* belongs to it; without one, to the binary */
	size_t root;	      /* of the separate debug file */
	char path[PATH_MAX];  /* below that root */
	char build_id[FS_BUILD_ID_TEXT];
	char reason[256]; /* why one that is named is not used; "": all is well */
	size_t tried;	  /* places that were looked at */
};

void fs_debug_files_find(const struct fs_debug_search *search, struct fs_debug_files *ret_files);

#endif
