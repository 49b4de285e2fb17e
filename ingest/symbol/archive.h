/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files in a tarball, such as `perf archive` makes, and compressed single files.
 *
 * A helper without rights (ingest/helper) unpacks with libarchive: the contents of all files, one
 * behind the other, into one temporary file without a name; what it answers is which part of that
 * is which file. Nothing of the tarball becomes a name in the file system.
 *
 * perf archive (tools/perf/perf-archive.sh) takes from ~/.debug the links .build-id/xx/yyy... and
 * the folders that they lead to, <path>/<build-id>, with the file elf, and others, in it.
 */
#ifndef FS_INGEST_SYMBOL_ARCHIVE_H
#define FS_INGEST_SYMBOL_ARCHIVE_H

#include "common/error.h"
#include "common/intern.h"

/* All files of an archive together; more is refused. */
#define FS_ARCHIVE_SIZE_MAX ((uint64_t)4 << 30)

enum { FS_ARCHIVE_MEMBERS_MAX = 1 << 16 };

struct fs_archive_member {
	uint32_t path;	 /* interned, without "." and ".." and doubled slashes */
	uint32_t target; /* of a link: interned; else FS_REPLY_NONE */
	uint64_t offset; /* in the contents */
	uint64_t size;
};

struct fs_archive {
	int fd; /* the contents */
	struct fs_interner strings;
	struct fs_archive_member *members;
	size_t count, capacity;
	struct fs_table by_path; /* u64 path -> u64 index of the last member with it */
};

/*
 * Unpack a tarball, compressed by bzip2, gzip, xz or zstd, or not. FS_USAGE names a file that
 * cannot be read or is none, or not whole, or larger than the limits; else FS_NOMEM, FS_OUTPUT.
 * Writes nothing on failure.
 */
int fs_archive_open(const char *path, struct fs_archive *ret_archive, struct fs_error *error);
void fs_archive_close(struct fs_archive *archive);

/* A copy of a file in it: a new descriptor, or -errno. Links are followed within the archive. */
int fs_archive_open_file(const struct fs_archive *archive, const char *path);

/*
 * The content of a file compressed by one of these, such as a kernel module: a new descriptor, or
 * -errno, -ENOEXEC where it is none.
 */
int fs_archive_unpack(int fd);

#endif
