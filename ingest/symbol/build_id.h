/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build-id of an ELF file, read by bounded preads of headers and notes: cheap and safe
 * enough to be done outside the helper, for every candidate.
 */
#ifndef FS_INGEST_SYMBOL_BUILD_ID_H
#define FS_INGEST_SYMBOL_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FS_BUILD_ID_MAX = 20, FS_BUILD_ID_TEXT = 2 * FS_BUILD_ID_MAX + 1 };

/*
 * Read the build-id of an open file as lower-case hex; "" where it has none, or one longer than
 * 20 bytes. False when this is no little-endian ELF file.
 */
bool fs_build_id_read(int fd, char ret_text[FS_BUILD_ID_TEXT]);

/* Whether a text is the hex of a build-id, so that it can be part of a path. */
bool fs_build_id_is_hex(const char *text);

/* Read exactly `size` bytes of a file; false where it has not as many, or at an absurd offset. */
bool fs_read_at(int fd, void *out, size_t size, uint64_t offset);

/*
 * Whether two build-ids in hex are the same. Old perf files pad ids to 20 bytes with zeros, so
 * zero bytes at the end of the longer one do not count. Two empty ones are not the same.
 */
bool fs_build_id_equal(const char *a, const char *b);

#endif
