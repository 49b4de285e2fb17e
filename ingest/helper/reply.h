/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a helper sends back: frames over a pipe, little-endian.
 *
 *   u32 kind | u32 size | size bytes
 *
 * FIRST    u32 protections            always first
 * TEXT     bytes                      numbered from 0 in order
 * ...      kinds of whose work it is, from FS_REPLY_OWN on
 * LAST     u32 outcome, bytes of a sentence             always last
 *
 * The reader believes nothing: every number is checked against what came before it.
 */
#ifndef FS_INGEST_HELPER_REPLY_H
#define FS_INGEST_HELPER_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/intern.h"
#include "common/reader.h"

enum { FS_REPLY_FIRST = 1, FS_REPLY_LAST, FS_REPLY_TEXT, FS_REPLY_OWN };

enum {
	FS_REPLY_SECCOMP = 1 << 0,
	FS_REPLY_LANDLOCK = 1 << 1,
};

enum fs_reply_outcome { FS_REPLY_DONE, FS_REPLY_UNREADABLE, FS_REPLY_NO_MEMORY };

enum { FS_REPLY_HEADER = 8, FS_REPLY_TEXT_MAX = 1 << 16 };

/* A number that stands for no text. */
#define FS_REPLY_NONE UINT32_MAX

/* More than this from one helper is refused. */
#define FS_REPLY_MAX ((size_t)256 << 20)

/* Which protections a helper had; false in both: no helper was started. */
struct fs_isolation {
	bool seccomp;  /* without it nothing is parsed */
	bool landlock; /* false where the kernel has none */
};

/* ---- the helper's end; a failed write ends the process, for nobody listens ---- */

struct fs_reply_writer {
	int fd;
	size_t used;
	uint8_t buffer[1 << 15];
};

void fs_reply_first(struct fs_reply_writer *writer, uint32_t protections);
/* Cut at FS_REPLY_TEXT_MAX. */
void fs_reply_text(struct fs_reply_writer *writer, const char *text, size_t length);
/* A frame of an own kind: its header, then `size` bytes by the two below. */
void fs_reply_frame(struct fs_reply_writer *writer, uint32_t kind, size_t size);
void fs_reply_u32(struct fs_reply_writer *writer, uint32_t value);
void fs_reply_u64(struct fs_reply_writer *writer, uint64_t value);
/* Writes out everything. */
void fs_reply_last(struct fs_reply_writer *writer, enum fs_reply_outcome outcome,
		   const char *sentence);

/* ---- the parent's end ---- */

struct fs_reply {
	/* for the readers of own frames */
	struct fs_interner *strings;
	void *context;
	struct fs_error *error;
	size_t capacity; /* for use with FS_RESERVE */

	/* private */
	struct fs_reader reader;
	struct fs_isolation *isolation;
	uint32_t *texts; /* the helper's number to that in the interner */
	size_t text_count, text_capacity;
	uint32_t frames;
	bool finished;
};

/* Reads one frame: 0, FS_NOMEM or fs_reply_malformed(). */
typedef int fs_reply_reader(struct fs_reply *reply, struct fs_reader *body);

/*
 * Read a whole reply: frames of kind FS_REPLY_OWN + i by readers[i], texts into `strings`, and
 * the isolation that the helper had into *isolation.
 *
 * Returns 0, FS_NOMEM, or FS_REFUSED with a sentence in *error: malformed, cut off, or the
 * helper's own complaint.
 */
int fs_reply_read(const uint8_t *data, size_t size, struct fs_interner *strings,
		  fs_reply_reader *const *readers, size_t reader_count, void *context,
		  struct fs_isolation *isolation, struct fs_error *error);

/* FS_REFUSED with a sentence that names what is wrong. */
int fs_reply_malformed(const struct fs_reply *reply, const char *what);

/* Translate a number of a text; FS_REPLY_NONE stays that. False: there is no such text. */
bool fs_reply_string(const struct fs_reply *reply, uint32_t number, uint32_t *ret_id);

#endif
