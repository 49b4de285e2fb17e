/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

int fs_fail(struct fs_error *error, int code, const char *format, ...)
{
	char raw[sizeof(error->text)];
	va_list args;

	if (!error)
		return code;
	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	error->code = code;
	fs_escape(error->text, sizeof(error->text), raw, strlen(raw));
	return code;
}

enum fs_exit fs_exit_of(int code)
{
	switch (code) {
	case 0:
		return FS_EXIT_DONE;
	case FS_USAGE:
		return FS_EXIT_USAGE;
	case FS_REFUSED:
		return FS_EXIT_REFUSED;
	case FS_INTERNAL:
		return FS_EXIT_INTERNAL;
	case FS_DIFFERENT:
		return FS_EXIT_DIFFERENT;
	default:
		return FS_EXIT_OUTPUT;
	}
}
