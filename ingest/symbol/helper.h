/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One helper process for one DSO: fork, seal, resolve, answer, die.
 *
 * The child inherits the open files and the queries by fork(), so nothing is sent to it; what it
 * sends back is read with a deadline and checked by reply.h. Between fork() and its end the
 * child takes only locks that glibc makes safe across fork() (malloc, stdio), so the parent may
 * have threads.
 */
#ifndef FS_INGEST_SYMBOL_HELPER_H
#define FS_INGEST_SYMBOL_HELPER_H

#include "ingest/symbol/symbol.h"

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

struct fs_helper_job {
	int fd;	      /* the binary, or -1 */
	int debug_fd; /* or -1 */
	unsigned int timeout_ms;
	enum fs_helper_fault fault;
	bool (*cancelled)(void *context); /* or NULL */
	void *context;
};

/*
 * Answer the queries of dso from the job's files. Returns 0, ECANCELED, FS_NOMEM, or FS_REFUSED
 * with a sentence for dso->reason in *error; in that case dso holds no results.
 */
int fs_helper_run(const struct fs_helper_job *job, struct fs_interner *strings,
		  struct fs_symbol_dso *dso, struct fs_symbol_isolation *isolation,
		  struct fs_error *error);

#endif
