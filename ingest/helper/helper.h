/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One helper process for one piece of a stranger's data: fork, seal, work, answer, die.
 *
 * The child inherits open files and memory by fork(), so nothing is sent to it; what it sends
 * back is read with a deadline and checked by reply.h. Between fork() and its end the child takes
 * only locks that glibc makes safe across fork() (malloc, stdio), so the parent may have threads.
 */
#ifndef FS_INGEST_HELPER_HELPER_H
#define FS_INGEST_HELPER_HELPER_H

#include "ingest/helper/reply.h"

/* What tests make the helper do, sealed, instead of its work. */
enum fs_helper_fault {
	FS_HELPER_SOUND,
	FS_HELPER_CRASH,      /* die of a signal */
	FS_HELPER_HANG,	      /* sleep for ever, so to say */
	FS_HELPER_SPIN,	      /* use up the processor */
	FS_HELPER_VANISH,     /* exit without a word */
	FS_HELPER_GARBAGE,    /* answer random bytes */
	FS_HELPER_FLOOD,      /* answer without end */
	FS_HELPER_WRITE_FILE, /* open a file for writing, and say so if that works */
	FS_HELPER_SOCKET,     /* open a socket, likewise */
	FS_HELPER_EXECUTE,    /* run /bin/true */
	FS_HELPER_FORK,
	FS_HELPER_READ_FILE, /* open /etc/passwd */
};

enum { FS_HELPER_FILES = 3 };

struct fs_helper_job {
	int files[FS_HELPER_FILES]; /* the descriptors that the child keeps, or -1 */
	bool output;		    /* the second is written: its size is no need for memory */
	/* In the sealed child: do the work and answer through writer, up to fs_reply_last(). */
	void (*work)(void *context, struct fs_reply_writer *writer);
	/* In the parent: read the answer; mostly by fs_reply_read(). 0, FS_NOMEM or FS_REFUSED. */
	int (*read)(void *context, const uint8_t *bytes, size_t size, struct fs_error *error);
	void *context; /* of both */
	unsigned int timeout_ms;
	enum fs_helper_fault fault;
	bool (*cancelled)(void *context); /* or NULL */
	void *cancelled_context;
};

/*
 * Have the work done. Returns 0, ECANCELED, FS_NOMEM, or FS_REFUSED with a sentence in *error: no
 * helper, an answer that is none, or what the helper died of.
 */
int fs_helper_run(const struct fs_helper_job *job, struct fs_error *error);

#endif
