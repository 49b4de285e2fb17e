/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings whose records do not simply stand in the data section of a file: compressed ones
 * (`perf record -z`), directories (`perf record --threads`), and what comes through a pipe.
 */
#ifndef FS_PERFDATA_SPOOL_H
#define FS_PERFDATA_SPOOL_H

#include "ingest/perfdata/perf_file.h"

/* The most that is copied from standard input: 64 GiB, far more than any recording. */
#define FS_INPUT_MAX (64ull << 30)

/*
 * Copy all of an input that cannot be read twice to a temporary file; *ret_fd is the caller's to
 * close. FS_REFUSED when there are more than `limit` bytes, FS_OUTPUT when the temporary file
 * cannot be written.
 */
int fs_spool_input(int input, uint64_t limit, int *ret_fd, struct fs_error *error);

/*
 * If the file needs it, write all its records, decompressed and from all parts of a directory, to
 * a temporary file and let file->fd and file->data be that. Events and features have been read
 * before; from here on file offsets are those of the temporary file. Compressed records are also
 * looked for where the file does not announce them. What does not decompress goes to `loss`. Fails
 * on I/O errors and lack of memory.
 */
int fs_spool_expand(struct fs_perf_file *file, struct fs_loss *loss, struct fs_error *error);

#endif
