/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers that a binary gave before, so that it is asked only what is new.
 *
 * A block of answers is what the helper was asked in one go, and its reply as it came:
 *
 *   zstd of | u32 queries | u32 object queries | queries: u64 offset, u64 exact
 *           | object queries: u64 offset, u64 distance | the helper's reply (reply.h) |
 *
 * Of a kernel, addresses are counted from its reference symbol, for each boot puts it elsewhere.
 * A block is believed as little as a helper: it is read by the same reader, and one that is not
 * sound is not used.
 *
 * All answers that a trace gets pass through here, new ones, too. Types are told apart by their
 * content, for compilers describe a type in each unit that uses it, and functions and types are
 * numbered in the order of the questions. So the outcome is the same whatever was asked before.
 */
#ifndef FS_INGEST_SYMBOL_ANSWERS_H
#define FS_INGEST_SYMBOL_ANSWERS_H

#include "ingest/symbol/symbol.h"

/* Those of one DSO. */
struct fs_answers {
	struct fs_symbol_dso *sources; /* own their queries and results */
	size_t count, capacity;
	struct fs_table places; /* question -> source, number of its query there */
	uint64_t bytes;		/* of the blocks read, unpacked */
};

enum { FS_ANSWERS_FILES_TEXT = 17 };

void fs_answers_init(struct fs_answers *answers);
void fs_answers_free(struct fs_answers *answers);

/* Read a block. Strings are interned. FS_REFUSED: it is not sound; FS_NOMEM. */
int fs_answers_read(struct fs_answers *answers, const uint8_t *bytes, size_t size,
		    struct fs_interner *strings, struct fs_error *error);

/*
 * Make *ret_rest a copy of dso, without answers, that asks only what has none yet. It owns its
 * queries and results: give it to fs_answers_add(), whatever became of it. 0 or FS_NOMEM.
 */
int fs_answers_missing(const struct fs_answers *answers, const struct fs_symbol_dso *dso,
		       struct fs_symbol_dso *ret_rest);

/* Take over a DSO with the answers to its questions. On FS_NOMEM it is freed. */
int fs_answers_add(struct fs_answers *answers, struct fs_symbol_dso *dso);

/* Answer all questions of dso, which fs_answers_missing() has been asked about, from what is
 * there: at least one source. 0 or FS_NOMEM. */
int fs_answers_give(const struct fs_answers *answers, struct fs_symbol_dso *dso);

/* Make a block of a DSO and the helper's reply about it. The bytes are the caller's to free. */
int fs_answers_pack(const struct fs_symbol_dso *dso, const uint8_t *reply, size_t size,
		    uint8_t **ret_bytes, size_t *ret_size);

/*
 * What answers hold for, beside the build-id, as text: this version, and the files that were read.
 * A whole and a stripped binary have one build-id; they are told apart by size and content, of
 * large files by that of a part. False: a file cannot be read.
 */
bool fs_answers_files(const struct fs_symbol_dso *dso, const int *files, size_t count,
		      char ret_text[static FS_ANSWERS_FILES_TEXT]);

#endif
