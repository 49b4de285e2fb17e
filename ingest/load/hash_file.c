/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/load/hash_file.h"

#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"

enum { PIECE = 1 << 18 };

static void *run(void *context)
{
	struct fs_hash_file *hash = context;
	uint8_t *buffer = malloc(PIECE);
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx state;
	off_t at = 0;
	ssize_t got;

	if (!buffer) {
		hash->code = ENOMEM;
		return NULL;
	}
	sha256_init(&state);
	while ((got = pread(hash->fd, buffer, PIECE, at)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			hash->code = errno;
			break;
		}
		sha256_update(&state, (size_t)got, buffer);
		at += got;
	}
	sha256_digest(&state, sizeof(digest), digest);
	fs_hex(hash->hex, digest, sizeof(digest));
	free(buffer);
	return NULL;
}

int fs_hash_file_begin(struct fs_hash_file *hash, int fd, struct fs_error *error)
{
	int code;

	*hash = (struct fs_hash_file){ .fd = fd };
	code = pthread_create(&hash->thread, NULL, run, hash);
	if (code)
		return fs_fail(error, FS_NOMEM, "cannot start a thread: %s", strerror(code));
	hash->running = true;
	return 0;
}

int fs_hash_file_end(struct fs_hash_file *hash, struct fs_error *error)
{
	if (hash->running)
		pthread_join(hash->thread, NULL);
	hash->running = false;
	if (hash->code)
		return fs_fail(error, FS_REFUSED, "cannot read the input to its end: %s",
			       strerror(hash->code));
	return 0;
}
