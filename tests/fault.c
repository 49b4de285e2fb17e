/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A library to preload: makes the Nth call of one function fail, to see what a program does then.
 *
 *   FAULT_CALL=write FAULT_AT=3 FAULT_ERRNO=28 LD_PRELOAD=.../fault.so PROGRAM
 *   FAULT_CALL=link+rename FAULT_AT=all ...   every call of both
 *   FAULT_APPEAR=FILE ...                     make FILE, with "mine" in it, before the first fails
 *   FAULT_CALL=write FAULT_COUNT=FILE ...     none; write the number of calls to FILE at the end
 *
 * Where a count is asked for, it is that of the process that ends last with the library loaded.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static struct {
	const char *call;
	long at; /* 0: none, -1: all */
	int number;
} fault;
static atomic_long calls;

static __attribute__((constructor)) void begin(void)
{
	const char *at = getenv("FAULT_AT");
	const char *number = getenv("FAULT_ERRNO");

	fault.at = !at ? 0 : !strcmp(at, "all") ? -1 : strtol(at, NULL, 10);
	fault.number = number ? (int)strtol(number, NULL, 10) : EIO;
	fault.call = getenv("FAULT_CALL");
}

static __attribute__((destructor)) void end(void)
{
	const char *path = getenv("FAULT_COUNT");
	FILE *out;

	fault.call = NULL;
	out = path ? fopen(path, "w") : NULL;
	if (!out)
		return;
	fprintf(out, "%ld\n", (long)calls);
	fclose(out);
}

/* Whether a call is in the list. */
static bool is_meant(const char *call)
{
	size_t length = strlen(call);

	for (const char *at = fault.call; at && *at; at += *at == '+') {
		size_t word = strcspn(at, "+");

		if (word == length && !memcmp(at, call, length))
			return true;
		at += word;
	}
	return false;
}

static void appear(void)
{
	const char *path = getenv("FAULT_APPEAR");
	FILE *out;

	if (!path)
		return;
	fault.call = NULL; /* these calls are ours */
	out = fopen(path, "wx");
	if (out) {
		fputs("mine\n", out);
		fclose(out);
	}
	fault.call = getenv("FAULT_CALL");
}

static bool fails(const char *call)
{
	long count;

	if (!is_meant(call))
		return false;
	count = ++calls;
	if (fault.at != -1 && fault.at != count)
		return false;
	appear();
	errno = fault.number;
	return true;
}

/* The next definition of a function, which is the C library's. */
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

#define INTERPOSE(result, failed, name, call, parameters, arguments)                               \
	result name parameters                                                                     \
	{                                                                                          \
		static __typeof__(&(name)) real;                                                   \
		if (fails(call))                                                                   \
			return failed;                                                             \
		if (!real)                                                                         \
			real = REAL(name);                                                         \
		return real arguments;                                                             \
	}

INTERPOSE(ssize_t, -1, write, "write", (int fd, const void *bytes, size_t size), (fd, bytes, size))
INTERPOSE(ssize_t, -1, pwrite64, "write", (int fd, const void *bytes, size_t size, off64_t at),
	  (fd, bytes, size, at))
INTERPOSE(ssize_t, -1, read, "read", (int fd, void *bytes, size_t size), (fd, bytes, size))
INTERPOSE(ssize_t, -1, pread64, "read", (int fd, void *bytes, size_t size, off64_t at),
	  (fd, bytes, size, at))
INTERPOSE(int, -1, fsync, "fsync", (int fd), (fd))
INTERPOSE(int, -1, fdatasync, "fsync", (int fd), (fd))
INTERPOSE(int, -1, ftruncate64, "ftruncate", (int fd, off64_t size), (fd, size))
INTERPOSE(int, -1, unlink, "unlink", (const char *path), (path))
INTERPOSE(int, -1, link, "link", (const char *from, const char *to), (from, to))
INTERPOSE(int, -1, rename, "rename", (const char *from, const char *to), (from, to))
INTERPOSE(int, -1, renameat2, "renameat2",
	  (int from_directory, const char *from, int to_directory, const char *to,
	   unsigned int flags),
	  (from_directory, from, to_directory, to, flags))

int open64(const char *path, int flags, ...)
{
	static __typeof__(&open64) real;
	va_list arguments;
	unsigned int mode;

	va_start(arguments, flags);
	mode = va_arg(arguments, unsigned int);
	va_end(arguments);
	if (fails("open"))
		return -1;
	if (!real)
		real = REAL(open64);
	return real(path, flags, mode);
}

/* dlsym() allocates, so the C library's own names stand in for it here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	return fails("malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails("malloc") ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails("malloc") ? NULL : __libc_realloc(old, size);
}
