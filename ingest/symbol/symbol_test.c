/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbolising whole binaries: one that is compiled here, those of ../shared/traces, damaged ones;
 * and a helper that dies, hangs, lies or tries to break out.
 */
#include "ingest/symbol/symbol.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/symbol/helper.h"
#include "ingest/symbol/locate.h"
#include "ingest/symbol/reply.h"

static char directory[64];

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
	char command[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	ck_assert_msg(system(command) == 0, "%s", command);
}

static void setup(void)
{
	strcpy(directory, "/tmp/fs_symbol_XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void teardown(void)
{
	run("rm -rf %s", directory);
}

/* ---- one DSO, some queries ---- */

enum { QUERIES = 64 };

struct lookup {
	struct fs_symbol_dso dso;
	struct fs_symbol_query queries[QUERIES];
	struct fs_symbol_result results[QUERIES];
	struct fs_interner strings;
	char build_id[FS_BUILD_ID_TEXT];
};

static void lookup_init(struct lookup *lookup, const char *path, const char *build_id)
{
	*lookup = (struct lookup){ .dso = { .path = path, .build_id = build_id, .fd = -1 } };
	lookup->dso.queries = lookup->queries;
	lookup->dso.results = lookup->results;
	fs_interner_init(&lookup->strings);
}

static void lookup_add(struct lookup *lookup, uint64_t offset, bool exact)
{
	lookup->queries[lookup->dso.query_count++] = (struct fs_symbol_query){ offset, exact };
}

static int lookup_run(struct lookup *lookup, const char *root, bool unverified)
{
	struct fs_symbol_isolation isolation;
	struct fs_error error = { 0 };
	struct fs_symbol_options options = { .roots = &root,
					     .root_count = 1,
					     .allow_unverified = unverified,
					     .strings = &lookup->strings,
					     .timeout_ms = 20000 };
	int code = fs_symbolise(&options, &lookup->dso, 1, &isolation, &error);

	ck_assert_msg(code == 0, "%s", error.text);
	return code;
}

static void lookup_free(struct lookup *lookup)
{
	fs_symbol_dso_free(&lookup->dso);
	fs_interner_free(&lookup->strings);
}

static const char *text(const struct lookup *lookup, uint32_t id)
{
	return id == FS_SYMBOL_NONE ? "" : fs_interned(&lookup->strings, id, NULL);
}

static const char *function_name(const struct lookup *lookup, size_t query)
{
	uint32_t function = lookup->results[query].function;

	if (function == FS_SYMBOL_NONE)
		return "";
	ck_assert_uint_lt(function, lookup->dso.function_count);
	return text(lookup, lookup->dso.functions[function].name);
}

static void read_build_id(const char *path, char *ret_build_id)
{
	int fd = open(path, O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert(fs_build_id_read(fd, ret_build_id));
	close(fd);
}

int main(void);
