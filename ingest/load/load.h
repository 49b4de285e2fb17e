/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One perf.data file into a database: pass one, pass two, symbols, tables.
 *
 * Two threads: one decodes samples, sums them up and asks the binaries; the other, the caller's,
 * writes rows. Batches travel between them in file order through a bounded queue, so the result
 * does not depend on scheduling.
 */
#ifndef FS_LOAD_LOAD_H
#define FS_LOAD_LOAD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "ingest/session/jit.h"
#include "ingest/symbol/symbol.h"

struct fs_load_options {
	const char *path;		    /* of the perf.data file */
	const char *name;		    /* label of the trace; NULL: the file's base name */
	struct fs_jit_files jit;	    /* what JIT compilers wrote */
	const char *const *allocation_logs; /* ingest/load/heap.h */
	size_t allocation_log_count;
	struct fs_symbol_options symbols; /* where names come from; not its `strings` and `cache` */
	bool no_samples;		  /* keep roll-ups only */
	bool strict;			  /* refuse a damaged file */
	bool replace;			  /* a trace of the same bytes is removed first */
	/* called by the writing thread after each batch, or NULL: samples so far, bytes of the
	 * input behind them, bytes in all */
	void (*progress)(void *context, uint64_t samples, uint64_t done, uint64_t total);
	void *progress_context;
};

struct fs_load_result {
	int64_t trace_id;
	bool already_there; /* a trace of the same bytes was found: nothing was done */
	bool damaged;
};

/*
 * Load a file inside the caller's open transaction. On failure the transaction is to be rolled
 * back. db has been created or checked by schema/schema.h.
 */
int fs_load(sqlite3 *db, const struct fs_load_options *options, struct fs_load_result *ret_result,
	    struct fs_error *error);

/* The SHA-256 that a trace of this file would have, as 64 digits and a NUL. */
int fs_load_hash(const char *path, char *ret_hex, struct fs_error *error);

#endif
