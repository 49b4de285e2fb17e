/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The helper's work: answer the queries of one DSO. Parses ELF and DWARF, so it runs sealed
 * (helper/sandbox.h) and may die of what it reads.
 */
#ifndef FS_INGEST_SYMBOL_RESOLVE_H
#define FS_INGEST_SYMBOL_RESOLVE_H

#include "ingest/symbol/reply.h"

struct fs_resolve_job {
	int fd;		      /* the binary, or -1 */
	int debug_fd;	      /* its separate debug file, or -1 */
	int supplementary_fd; /* what that (or the binary) shares with others, or -1 */
	enum fs_symbol_code kind;
	const char *reference; /* of the kernel, as in fs_symbol_dso */
	uint64_t reference_address;
	const struct fs_symbol_query *queries;
	size_t query_count;
	const struct fs_symbol_object_query *object_queries;
	size_t object_query_count;
};

/* Answer through writer, from FS_REPLY_BINARY to FS_REPLY_LAST. */
void fs_resolve(const struct fs_resolve_job *job, struct fs_reply_writer *writer);

#endif
