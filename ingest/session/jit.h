/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of JIT compilers as mappings of their processes.
 *
 * Each file is a DSO in which the functions lie one behind the other in the order of the file,
 * whatever addresses they had: so each has a place of its own, also where code was replaced by
 * other code. A function is a mapping from when it was compiled on, and again from each later
 * mapping of anonymous memory under it, since a change of rights makes such a record, too. Where
 * the times of file and trace cannot be compared, it is mapped whenever its process is, and of
 * several functions at an address the last one counts.
 */
#ifndef FS_SESSION_JIT_H
#define FS_SESSION_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct fs_session;

struct fs_jit_files {
	const char *const *perf_maps; /* named perf-PID.map */
	size_t perf_map_count;
	const char *const *dumps; /* jitdump files */
	size_t dump_count;
};

/* A function, and its lines; strings are numbers in the session's interner. */
struct fs_jit_function {
	uint64_t offset, size; /* in the DSO */
	uint64_t compiled;     /* run-time address that lines count from */
	uint32_t dso, name;
	uint32_t first_line, line_count; /* in fs_jit.lines */
};

struct fs_jit_source_line {
	uint64_t address;
	uint32_t line, file;
};

struct fs_jit {
	struct fs_jit_function *functions; /* by DSO and offset */
	size_t count, capacity;
	struct fs_jit_source_line *lines;
	size_t line_count, line_capacity;
	bool timeless; /* the times of a file were not used */
};

/*
 * Read the files and note the mappings, after fs_session_open(). FS_USAGE names a file that
 * cannot be read, is not named perf-PID.map or is no jitdump; else FS_NOMEM.
 */
int fs_jit_add(struct fs_session *session, const struct fs_jit_files *files,
	       struct fs_error *error);
void fs_jit_free(struct fs_jit *jit);

/* The function at a place of a DSO, or NULL. */
const struct fs_jit_function *fs_jit_find(const struct fs_jit *jit, uint64_t dso, uint64_t offset);

/* The line of a place in a function, or NULL. */
const struct fs_jit_source_line *
fs_jit_line(const struct fs_jit *jit, const struct fs_jit_function *function, uint64_t offset);

#endif
