/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The account of everything lost or skipped: one entry per kind and scope, with count, bytes and
 * the first file offset. Kinds and their sentences are in loss.def. After some thousand entries
 * new scopes are counted together, as "others".
 *
 * Where CPU and time are known, losses also go to windows of time. There are some thousand of
 * these at most: when a file needs more, all become twice as wide.
 */
#ifndef FS_PERFDATA_LOSS_H
#define FS_PERFDATA_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/intern.h"

#define LOSS(suffix, name, severity, text) FS_LOSS_##suffix,
enum fs_loss_kind {
#include "ingest/perfdata/loss.def"
	FS_LOSS_MAX
};
#undef LOSS

enum fs_severity { FS_SEVERITY_INFO, FS_SEVERITY_LOSS, FS_SEVERITY_ERROR };

struct fs_loss_description {
	const char *name;
	enum fs_severity severity;
	const char *text;
};

extern const struct fs_loss_description fs_loss_descriptions[FS_LOSS_MAX];

struct fs_loss_key {
	uint32_t kind;
	uint32_t scope; /* interned */
};

struct fs_loss_value {
	uint64_t count;
	uint64_t bytes;
	uint64_t first_offset; /* UINT64_MAX: not in one place */
};

struct fs_loss_number_key {
	uint64_t scope; /* address of the text before the number */
	uint64_t kind;
	int64_t number;
};

struct fs_loss_window_key {
	uint32_t kind;
	uint32_t cpu;	 /* UINT32_MAX: not told */
	uint64_t window; /* time >> fs_loss.window_shift */
};

struct fs_loss_window {
	uint64_t count;
	uint64_t first_ns, last_ns; /* of the losses that begin in the window */
};

struct fs_loss {
	struct fs_table entries; /* fs_loss_key -> fs_loss_value */
	struct fs_interner scopes;
	struct fs_table numbers; /* fs_loss_number_key -> u64 index in entries */
	struct fs_table windows; /* fs_loss_window_key -> fs_loss_window */
	unsigned int window_shift;
	bool overflowed; /* memory ran out while noting a loss */
};

void fs_loss_init(struct fs_loss *loss);
void fs_loss_free(struct fs_loss *loss);

/* Add count occurrences of bytes bytes; offset is a file offset or UINT64_MAX. The scope is made
 * from the format and its arguments: what the loss concerns. */
void fs_loss_add(struct fs_loss *loss, enum fs_loss_kind kind, uint64_t count, uint64_t bytes,
		 uint64_t offset, const char *scope_format, ...)
	__attribute__((format(printf, 6, 7)));

/*
 * The same for what each record of a file may have, at the cost of a look into a table. The scope
 * is a string literal, followed by a number unless that is below 0: "record type", 200.
 */
void fs_loss_add_numbered(struct fs_loss *loss, enum fs_loss_kind kind, uint64_t count,
			  uint64_t bytes, uint64_t offset, const char *scope, int64_t number);

/* Note when and on which CPU (UINT32_MAX: not told) losses were that fs_loss_add() counts. */
void fs_loss_add_time(struct fs_loss *loss, enum fs_loss_kind kind, uint64_t count, uint32_t cpu,
		      uint64_t first_ns, uint64_t last_ns);

/* Whether anything of severity ERROR was noted. */
bool fs_loss_is_damaged(const struct fs_loss *loss);

#endif
