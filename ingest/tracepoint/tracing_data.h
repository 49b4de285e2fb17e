/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracing_data: what perf copies of the recording kernel's tracing directory, with the format of
 * each recorded tracepoint. It stands in the feature TRACING_DATA of a file and behind the record
 * HEADER_TRACING_DATA of a stream.
 *
 *   | 23 8 68 "tracing" | version NUL | u8 big-endian | u8 size of long | u32 page size |
 *   | "header_page" NUL, u64 size, text | "header_event" NUL, u64 size, text |
 *   | u32 n, n * {u64 size, text}: formats of ftrace's own events |
 *   | u32 systems, each {name NUL, u32 n, n * {u64 size, format}} |
 *   | u32 size, kallsyms | u32 size, printk formats | from version 0.6: u64 size, cmdlines |
 *
 * As tools/perf/util/trace-event-info.c writes it. Only the formats of systems are used.
 */
#ifndef FS_INGEST_TRACEPOINT_TRACING_DATA_H
#define FS_INGEST_TRACEPOINT_TRACING_DATA_H

#include "common/error.h"
#include "ingest/helper/helper.h"
#include "ingest/tracepoint/tracepoint.h"

/* More than this is not read. */
#define FS_TRACING_DATA_MAX ((size_t)64 << 20)

/*
 * Parse tracing_data into initialised tracepoints, through libtraceevent. A format that it cannot
 * read, or whose fields are impossible, is counted in bad_formats; data that ends early sets `cut`.
 * FS_REFUSED: it is no tracing_data at all; FS_NOMEM.
 *
 * This may die of what it reads: only for the helper, and for fuzzing. libtraceevent keeps its
 * input in static variables, so one thread at a time.
 */
int fs_tracing_data_parse(const uint8_t *bytes, size_t size, struct fs_tracepoints *tracepoints,
			  struct fs_error *error);

/*
 * The same in a helper process without rights. `fault` is FS_HELPER_SOUND but in tests. After
 * FS_REFUSED (a sentence in *error) the tracepoints are empty.
 */
int fs_tracing_data_read(const uint8_t *bytes, size_t size, enum fs_helper_fault fault,
			 struct fs_tracepoints *tracepoints, struct fs_error *error);

/* Read what the helper answers into initialised tracepoints; as fs_reply_read() does it. */
int fs_tracing_data_reply_read(const uint8_t *bytes, size_t size,
			       struct fs_tracepoints *tracepoints, struct fs_error *error);

#endif
