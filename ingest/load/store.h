/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The dimension tables and roll-ups of a trace: everything but the samples, which bulk.h loads.
 */
#ifndef FS_LOAD_STORE_H
#define FS_LOAD_STORE_H

#include <sqlite3.h>

#include "ingest/load/decode.h"
#include "ingest/load/heap.h"

/* What fs_store_trace() needs beside the decoder. */
struct fs_trace_facts {
	int64_t id;
	const char *name;
	const char *sha256;   /* hex */
	const char *options;  /* JSON */
	uint64_t fingerprint; /* of some blocks of the input, to find it again quickly */
	int64_t dso_base, function_base;
	const struct fs_heap *heap;
};

/* Write all rows of a trace but samples and names. The decoder has finished, its roll-up too. */
int fs_store_trace(sqlite3 *db, const struct fs_decoder *decoder,
		   const struct fs_trace_facts *facts, struct fs_error *error);

/* What an event is taken for: event.role; NULL: nothing special. */
const char *fs_event_role(const struct fs_event *event, bool is_spe);

#endif
