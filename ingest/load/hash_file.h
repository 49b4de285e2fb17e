/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SHA-256 of a file, computed in a thread of its own while the file is imported.
 */
#ifndef FS_LOAD_HASH_FILE_H
#define FS_LOAD_HASH_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct fs_hash_file {
	int fd;
	pthread_t thread;
	bool running;
	int code; /* errno of a failed read */
	char hex[65];
};

/* Start hashing the file open at fd, which must stay open until fs_hash_file_end(). */
int fs_hash_file_begin(struct fs_hash_file *hash, int fd, struct fs_error *error);

/* Wait for the result in hash->hex; may be called again. */
int fs_hash_file_end(struct fs_hash_file *hash, struct fs_error *error);

#endif
