/* SPDX-License-Identifier: GPL-2.0-only */
#include "query/sources.h"

error_t fs_places_add(struct fs_places *places, const char *path, struct argp_state *state)
{
	size_t most = sizeof(places->paths) / sizeof(*places->paths);

	if (places->count == most)
		return fs_options_fail(state, "%s: an option that is given more than %zu times",
				       path, most);
	places->paths[places->count++] = path;
	return 0;
}

bool fs_sources_any(const struct fs_sources *sources)
{
	return sources->roots.count || sources->archives.count || sources->names.vmlinux ||
	       sources->names.kallsyms;
}

error_t fs_sources_parse(struct fs_sources *sources, int key, char *arg, struct argp_state *state)
{
	struct fs_name_sources *names = &sources->names;
	error_t code = 0;

	switch (key) {
	case FS_KEY_SYMBOLS:
		code = fs_places_add(&sources->roots, arg, state);
		names->roots = sources->roots.paths;
		names->root_count = sources->roots.count;
		return code;
	case FS_KEY_ARCHIVE:
		code = fs_places_add(&sources->archives, arg, state);
		names->archives = sources->archives.paths;
		names->archive_count = sources->archives.count;
		return code;
	case FS_KEY_VMLINUX:
		names->vmlinux = arg;
		return 0;
	case FS_KEY_KALLSYMS:
		names->kallsyms = arg;
		return 0;
	case FS_KEY_UNVERIFIED:
		names->unverified = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}
