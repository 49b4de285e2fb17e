/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int fs_temporary_open(void)
{
	const char *directory = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%s/fsight.XXXXXX", directory ? directory : "/tmp") >=
	    (int)sizeof(path))
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

bool fs_write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t done = write(fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		size -= (size_t)done;
	}
	return true;
}
