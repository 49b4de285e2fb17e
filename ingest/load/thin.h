/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a trace would hold if fewer samples had been taken.
 *
 * Of each `every` samples of an event, in the order of the file, one stays, at a place within them
 * that the seed decides; a fixed place would meet loops of the program in step. Samples of
 * tracepoints all stay: these are not drawn, each is one passage. The periods of those that stay
 * are `every` times as long, as they would have been recorded. Roll-ups and counts are then made
 * again, so that with every = 1 the trace is what it was.
 */
#ifndef FS_LOAD_THIN_H
#define FS_LOAD_THIN_H

#include <sqlite3.h>
#include <stdint.h>

#include "common/error.h"

/*
 * Thin a trace, in place: db is a copy to be changed, on which the functions of analyze/analyze.h
 * are registered; findings are not made again. What ingest lost is left as it was told. Roll-ups
 * are appended, and the passes want them in the order of the traces: thin all, in that order.
 * FS_REFUSED for a trace whose samples were not kept (fsingest --no-samples).
 */
int fs_thin_trace(sqlite3 *db, int64_t trace, uint64_t every, uint64_t seed,
		  struct fs_error *error);

#endif
