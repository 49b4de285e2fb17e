/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the binaries under the symbol roots say of a trace's code and data addresses.
 */
#ifndef FS_LOAD_NAMES_H
#define FS_LOAD_NAMES_H

#include "ingest/load/decode.h"
#include "ingest/symbol/symbol.h"

/* A data address of which a binary was asked what variable holds it. */
struct fs_object_asked {
	uint64_t addr;
	uint32_t space;
	uint32_t dso; /* of the session */
	size_t query; /* in its DSO's object queries */
};

/* The binaries' answers. */
struct fs_names {
	struct fs_symbol_dso *dsos; /* those that were asked, in the session's order */
	size_t dso_count;
	size_t *dso_of;	   /* of each session DSO: index in dsos + 1, 0: not asked */
	size_t *result_of; /* of each code: index in its DSO's results */
	struct fs_symbol_query *queries;
	struct fs_symbol_result *results;
	struct fs_object_asked *objects;
	size_t object_count, object_capacity;
	struct fs_symbol_object_query *object_queries;
	struct fs_symbol_object *object_answers;
	struct fs_interner strings;
};

void fs_names_init(struct fs_names *names);
void fs_names_free(struct fs_names *names);

/*
 * Ask about every code address of a decoder, and about the shared data addresses of its roll-up,
 * which must be finished. `options` says where the binaries are; its strings are set here. Fails
 * as fs_symbolise() does.
 */
int fs_names_ask(struct fs_names *names, const struct fs_decoder *decoder,
		 struct fs_symbol_options options, struct fs_error *error);

#endif
