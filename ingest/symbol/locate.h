/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the binary that a trace names, under the symbol roots and nowhere else.
 *
 * For each root, in this order:
 *
 *   build-id tree   .build-id/xx/yyy..., .build-id/xx/yyy.../elf, xx/yyy..., xx/yyy.../elf,
 *                   yyy being the id without xx; <id>/executable
 *   perf's cache    <path>/<id>/elf, [vdso]/<id>/vdso, as in ~/.debug
 *   sysroot         <path>
 *   flat            <base name>
 *
 * and for its debug information debug_file.h.
 *
 * Names are resolved inside the root: an absolute symbolic link means the root, and ".." stops
 * there (openat2 RESOLVE_IN_ROOT; without that system call, realpath and a prefix check). Only
 * regular files of limited size are opened, and only ELF files are taken; a compressed one, as
 * kernel modules may be, is unpacked first.
 */
#ifndef FS_INGEST_SYMBOL_LOCATE_H
#define FS_INGEST_SYMBOL_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "ingest/symbol/archive.h"
#include "ingest/symbol/build_id.h"
#include "ingest/symbol/symbol.h"

/* Larger files are refused. */
#define FS_LOCATE_SIZE_MAX ((uint64_t)4 << 30)

struct fs_root {
	const char *path;	    /* the caller's */
	int fd;			    /* of a directory, or -1 */
	struct fs_archive *archive; /* owned, or NULL */
};

struct fs_roots {
	struct fs_root *roots;
	size_t count;
	bool no_openat2; /* use the fall-back; set by itself, or by a test */
};

struct fs_located {
	enum fs_symbols symbols;	 /* VERIFIED, UNVERIFIED, MISSING or FAILED */
	int fd;				 /* the binary, or -1; open if unverified, too */
	int debug_fd;			 /* its separate debug file, or -1 */
	int supplementary_fd;		 /* what that (or the binary) shares with others, or -1 */
	char build_id[FS_BUILD_ID_TEXT]; /* of the file */
	char path[256];			 /* of the file, escaped */
	char reason[256];		 /* a sentence, "" when all is well */
};

/* Open the roots. FS_USAGE names one that is no readable directory. Writes nothing on failure. */
int fs_roots_open(const char *const *paths, size_t count, struct fs_roots *ret_roots,
		  struct fs_error *error);
/* Add a tarball, whose files are found like those below a root. FS_USAGE as fs_archive_open(). */
int fs_roots_add_archive(struct fs_roots *roots, const char *path, struct fs_error *error);
void fs_roots_close(struct fs_roots *roots);

/* Look for a binary. build_id may be NULL or "". The descriptors are the caller's:
 * fs_located_close(). */
void fs_locate(struct fs_roots *roots, const char *path, const char *build_id,
	       struct fs_located *ret_located);

/* The same for a file that the caller has open already; fd stays the caller's and is not put
 * into *ret_located. */
void fs_locate_fd(struct fs_roots *roots, int fd, const char *path, const char *build_id,
		  struct fs_located *ret_located);

void fs_located_close(struct fs_located *located);

/* Open a regular file below a root, read-only. Returns the descriptor or -errno: -EINVAL for
 * what is no regular file, -EFBIG for one over the limit. */
int fs_root_open_file(struct fs_roots *roots, size_t root, const char *path);

#endif
