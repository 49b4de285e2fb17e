/* SPDX-License-Identifier: GPL-2.0-only */
#include <locale.h>

#include "ingest/load/names.h"
#include "query/query.h"

static int name_trace(sqlite3 *db, int64_t trace, const struct fs_name_sources *sources,
		      struct fs_error *error)
{
	const struct fs_symbol_options options = {
		.roots = sources->roots,
		.root_count = sources->root_count,
		.archives = sources->archives,
		.archive_count = sources->archive_count,
		.vmlinux = sources->vmlinux,
		.kallsyms = sources->kallsyms,
		.allow_unverified = sources->unverified,
	};

	return fs_name_trace(db, trace, options, error);
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, ""); /* not numbers: they look the same everywhere */
	return fs_query_main(argc, argv, stdout, stderr, name_trace);
}
