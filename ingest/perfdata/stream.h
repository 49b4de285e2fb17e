/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events and features of a perf.data stream, which has them as records.
 */
#ifndef FS_PERFDATA_STREAM_H
#define FS_PERFDATA_STREAM_H

#include "ingest/perfdata/perf_file.h"

/*
 * Fill file->events and file->features from the records of the data section, which the caller has
 * set. Damage in the stream is noted by the walk that reads it later, damaged events here. Fails
 * when reading does or memory runs out.
 */
int fs_stream_read_head(struct fs_perf_file *file, struct fs_loss *loss, struct fs_error *error);

#endif
