/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings whose records do not simply stand in the data section: compressed ones
 * (`perf record -z`) and directories (`perf record --threads`).
 */
#ifndef FS_PERFDATA_SPOOL_H
#define FS_PERFDATA_SPOOL_H

#include "ingest/perfdata/perf_file.h"

/*
 * If the file needs it, write all its records, decompressed and from all parts of a directory, to
 * a temporary file and let file->fd and file->data be that. Events and features have been read
 * before; from here on file offsets are those of the temporary file. What does not decompress
 * goes to `loss`. Fails on I/O errors and lack of memory.
 */
int fs_spool_expand(struct fs_perf_file *file, struct fs_loss *loss, struct fs_error *error);

#endif
