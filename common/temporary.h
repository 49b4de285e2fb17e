/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Temporary files without a name, in $TMPDIR, else /tmp: gone when the program ends, however it
 * ends.
 */
#ifndef FS_COMMON_TEMPORARY_H
#define FS_COMMON_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

/* A new file, open for reading and writing; -1 and errno when it cannot be made. */
int fs_temporary_open(void);

/* Write all of it; false and errno when that fails. */
bool fs_write_all(int fd, const void *bytes, size_t size);

#endif
