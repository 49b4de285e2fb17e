/* SPDX-License-Identifier: GPL-2.0-only */
#include <locale.h>

#include "ingest/load/names.h"
#include "query/query.h"

static int name_trace(sqlite3 *db, int64_t trace, const char *const *roots, size_t count,
		      bool unverified, struct fs_error *error)
{
	const struct fs_symbol_options options = { .roots = roots,
						   .root_count = count,
						   .allow_unverified = unverified };

	return fs_name_trace(db, trace, options, error);
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, ""); /* not numbers: they look the same everywhere */
	return fs_query_main(argc, argv, stdout, stderr, name_trace);
}
