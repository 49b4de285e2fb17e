/* SPDX-License-Identifier: GPL-2.0-only */
#include <locale.h>

#include "analyze/analyze.h"
#include "ingest/load/load.h"
#include "ingest/load/names.h"
#include "ingest/load/target.h"
#include "ingest/load/thin.h"
#include "query/query.h"

static struct fs_symbol_options symbol_options(const struct fs_name_sources *sources)
{
	return (struct fs_symbol_options){
		.roots = sources->roots,
		.root_count = sources->root_count,
		.archives = sources->archives,
		.archive_count = sources->archive_count,
		.vmlinux = sources->vmlinux,
		.kallsyms = sources->kallsyms,
		.allow_unverified = sources->unverified,
	};
}

static int name(sqlite3 *db, int64_t trace, const struct fs_name_sources *sources,
		struct fs_error *error)
{
	return fs_name_trace(db, trace, symbol_options(sources), error);
}

static int import(const struct fs_import *import, fs_import_use *use, void *context,
		  struct fs_error *error)
{
	const struct fs_load_options options = {
		.path = import->path,
		.jit = { import->perf_maps, import->perf_map_count, import->jit_dumps,
			 import->jit_dump_count },
		.allocation_logs = import->allocation_logs,
		.allocation_log_count = import->allocation_log_count,
		.symbols = symbol_options(&import->names),
		.no_samples = import->no_samples,
	};
	struct fs_load_result result = { 0 };
	struct fs_target target;
	int code = fs_target_open_temporary(&target, error);

	if (!code)
		code = fs_load(target.db, &options, &result, error);
	if (!code)
		code = fs_analyze(target.db, result.trace_id, error);
	if (!code)
		code = use(context, target.db, result.trace_id, error);
	fs_target_abandon(&target);
	return code;
}

int main(int argc, char **argv)
{
	static const struct fs_ingest ingest = {
		.name = name,
		.thin = fs_thin_trace,
		.hash = fs_load_hash,
		.import = import,
	};

	setlocale(LC_CTYPE, ""); /* not numbers: they look the same everywhere */
	return fs_query_main(argc, argv, stdout, stderr, &ingest);
}
