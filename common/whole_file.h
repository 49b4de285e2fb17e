/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read a whole file that the user has named.
 */
#ifndef FS_COMMON_WHOLE_FILE_H
#define FS_COMMON_WHOLE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/*
 * Read a file of at most `limit` bytes to its end; its size is not asked for, since that of
 * /proc/kallsyms is 0. *ret_bytes is the caller's: free(). `option` is what the user gave it
 * with, such as --kallsyms. FS_USAGE names a file that cannot be read or is too large; else
 * FS_NOMEM.
 */
int fs_whole_file_read(const char *option, const char *path, size_t limit, uint8_t **ret_bytes,
		       size_t *ret_size, struct fs_error *error);

#endif
