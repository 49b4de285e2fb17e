/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/vector.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

int fs_vector_reserve(void **items, size_t *capacity, size_t needed, size_t element)
{
	size_t grown = *capacity ? *capacity : 16;
	char *bytes;

	if (needed <= *capacity)
		return 0;
	while (grown < needed) {
		if (grown > SIZE_MAX / 2)
			return FS_NOMEM;
		grown *= 2;
	}
	if (grown > SIZE_MAX / element)
		return FS_NOMEM;
	bytes = realloc(*items, grown * element);
	if (!bytes)
		return FS_NOMEM;
	memset(bytes + *capacity * element, 0, (grown - *capacity) * element);
	*items = bytes;
	*capacity = grown;
	return 0;
}
