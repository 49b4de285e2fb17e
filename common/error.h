/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors are values: a code and one sentence.
 *
 * A function that can fail returns 0 or one of the codes below and takes a struct fs_error * as
 * its last parameter, which it fills only when it fails. The sentence names the file, the byte
 * offset, what was found, what was expected and what to do next, as far as they apply. Nothing
 * below main() exits or prints.
 */
#ifndef FS_COMMON_ERROR_H
#define FS_COMMON_ERROR_H

#include <errno.h>

enum {
	FS_USAGE = EINVAL,	       /* the caller asked for something that makes no sense */
	FS_REFUSED = EBADMSG,	       /* not perf.data, unreadable, not our database */
	FS_OUTPUT = EIO,	       /* writing failed */
	FS_NOMEM = ENOMEM,	       /* out of memory, or over a stated limit */
	FS_INTERNAL = ENOTRECOVERABLE, /* a fault of ours */
	FS_DIFFERENT = ESTALE,	       /* what was compared is not the same */
};

/* The exit codes of both programs; scripts rely on them. */
enum fs_exit {
	FS_EXIT_DONE = 0,
	FS_EXIT_USAGE = 1,
	FS_EXIT_REFUSED = 2,
	FS_EXIT_DAMAGED = 3,
	FS_EXIT_OUTPUT = 4,
	FS_EXIT_INTERNAL = 5,
	FS_EXIT_DIFFERENT = 10,
};

struct fs_error {
	int code;
	char text[768];
};

/* Fill *error (which may be NULL) and return code, so that callers can write
 * `return fs_fail(error, FS_REFUSED, "...")`. Control bytes in the text are shown as \xNN, so
 * that a name from a trace cannot drive the terminal. */
int fs_fail(struct fs_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The exit code that belongs to an error code. */
enum fs_exit fs_exit_of(int code);

/* Leave the function with the error of a failed call. */
#define FS_TRY(call)                                                                               \
	do {                                                                                       \
		int fs_try_code = (call);                                                          \
		if (fs_try_code)                                                                   \
			return fs_try_code;                                                        \
	} while (0)

#endif
