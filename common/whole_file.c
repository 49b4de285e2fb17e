/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/whole_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/vector.h"

enum { STEP = 1 << 20 };

/* Read up to the end, or one byte more than the limit. */
static int read_all(int fd, size_t limit, uint8_t **bytes, size_t *size)
{
	size_t capacity = 0;
	ssize_t got = 1;

	while (got > 0 && *size <= limit) {
		if (FS_RESERVE(*bytes, capacity, *size + STEP))
			return ENOMEM;
		got = read(fd, *bytes + *size, STEP);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			return errno;
		else
			*size += (size_t)got;
	}
	return *size > limit ? EFBIG : 0;
}

int fs_whole_file_read(const char *option, const char *path, size_t limit, uint8_t **ret_bytes,
		       size_t *ret_size, struct fs_error *error)
{
	uint8_t *bytes = NULL;
	size_t size = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int code = fd < 0 ? errno : read_all(fd, limit, &bytes, &size);

	if (fd >= 0)
		close(fd);
	if (!code) {
		*ret_bytes = bytes;
		*ret_size = size;
		return 0;
	}
	free(bytes);
	if (code == ENOMEM)
		return fs_fail(error, FS_NOMEM, "out of memory for %s", path);
	if (code == EFBIG)
		return fs_fail(error, FS_USAGE,
			       "%s %s: it has more than %zu MiB; give another file", option, path,
			       limit >> 20);
	return fs_fail(error, FS_USAGE, "%s %s: %s; give a file that can be read", option, path,
		       strerror(code));
}
