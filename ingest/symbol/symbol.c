/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/symbol/symbol.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "common/whole_file.h"
#include "ingest/helper/helper.h"
#include "ingest/symbol/answers.h"
#include "ingest/symbol/kallsyms.h"
#include "ingest/symbol/locate.h"
#include "ingest/symbol/reply.h"
#include "ingest/symbol/resolve.h"

enum { TIMEOUT_MS = 60000 };

const char *fs_symbols_name(enum fs_symbols symbols)
{
#define NAME_OF(suffix, number, name) [number] = (name),
	static const char *const names[] = { FS_SYMBOLS_LIST(NAME_OF) };
#undef NAME_OF

	return (unsigned int)symbols < FS_SYMBOLS_MAX ? names[symbols] : "failed";
}

const char *fs_operand_method_name(enum fs_operand_method method)
{
#define NAME_OF(suffix, number, name) [number] = (name),
	static const char *const names[] = { FS_OPERAND_METHOD_LIST(NAME_OF) };
#undef NAME_OF

	return (unsigned int)method < FS_OPERAND_METHOD_MAX ? names[method] : NULL;
}

const char *fs_type_method_name(enum fs_type_method method)
{
#define NAME_OF(suffix, number, name) [number] = (name),
	static const char *const names[] = { FS_TYPE_METHOD_LIST(NAME_OF) };
#undef NAME_OF

	return (unsigned int)method < FS_TYPE_METHOD_MAX ? names[method] : NULL;
}

const char *fs_type_kind_name(enum fs_type_kind kind)
{
#define NAME_OF(suffix, number, name) [number] = (name),
	static const char *const names[] = { FS_TYPE_KIND_LIST(NAME_OF) };
#undef NAME_OF

	return (unsigned int)kind < FS_TYPE_KINDS ? names[kind] : "other";
}

static void set_reason(struct fs_symbol_dso *dso, const char *reason)
{
	fs_escape(dso->reason, sizeof(dso->reason), reason, strlen(reason));
}

static void take_located(struct fs_symbol_dso *dso, const struct fs_located *located)
{
	dso->symbols = located->symbols;
	set_reason(dso, located->reason);
	snprintf(dso->file_path, sizeof(dso->file_path), "%s", located->path);
	snprintf(dso->file_build_id, sizeof(dso->file_build_id), "%s", located->build_id);
}

static void add_reason(struct fs_symbol_dso *dso, const char *reason)
{
	size_t used = strlen(dso->reason);

	snprintf(dso->reason + used, sizeof(dso->reason) - used, "%s%s", used ? "; " : "", reason);
}

/* Put the outcome into words, where the status does not say it all. */
static void explain(struct fs_symbol_dso *dso)
{
	if (dso->bad_dwarf)
		add_reason(dso, "its debug information cannot be read: it is damaged, or grows "
				"beyond the helper's memory");
	if (dso->split)
		add_reason(dso, "its debug information is split; .dwo and .dwp files are not "
				"read, so inlined calls and types are missing");
	if (dso->lines_only)
		add_reason(dso, "its debug information refers to another file by .debug_sup, which "
				"is not followed, so inlined calls and types are missing");
	if (!dso->names)
		add_reason(dso, "it has no .symtab and no DWARF; only exported functions have "
				"names");
	else if (dso->arch && !strcmp(dso->arch, "other"))
		add_reason(dso, "instructions of its architecture are not decoded");
}

/* What is asked about one DSO. */
struct resolving {
	const struct fs_symbol_options *options;
	const struct fs_located *located;
	int fd; /* the binary, or -1 */
	enum fs_helper_fault fault;
	struct fs_isolation *isolation;
	char files[FS_ANSWERS_FILES_TEXT]; /* answers are kept under it; "": they are not */
	struct fs_answers answers;
	struct fs_resolve_job job;
	struct fs_symbol_dso rest; /* what the helper is asked, and its answers */
	unsigned int damaged;	   /* kept answers that were of no use */
};

static void resolve_sealed(void *context, struct fs_reply_writer *writer)
{
	const struct resolving *resolving = context;

	fs_resolve(&resolving->job, writer);
}

/* Answers that depend on a limit, or lack a file that may be there the next time, are not kept. */
static bool is_whole(const struct fs_symbol_dso *dso)
{
	return !dso->bad_dwarf && !dso->split && dso->type_count < FS_REPLY_TYPES_MAX &&
	       dso->field_count < FS_REPLY_FIELDS_MAX && dso->inlined_count < FS_REPLY_INLINED_MAX;
}

static int keep(const struct resolving *resolving, const uint8_t *reply, size_t size,
		struct fs_error *error)
{
	const struct fs_symbol_cache *cache = resolving->options->cache;
	const struct fs_symbol_dso *dso = &resolving->rest;
	uint8_t *bytes;
	int code;

	if (!*resolving->files || !is_whole(dso))
		return 0;
	if (fs_answers_pack(dso, reply, size, &bytes, &size))
		return fs_fail(error, FS_NOMEM, "out of memory for the names of %s", dso->path);
	code = cache->keep(cache->context, dso->build_id, resolving->files, bytes, size, error);
	free(bytes);
	return code;
}

static int read_reply(void *context, const uint8_t *bytes, size_t size, struct fs_error *error)
{
	struct resolving *resolving = context;

	FS_TRY(fs_symbol_reply_read(bytes, size, resolving->options->strings, &resolving->rest,
				    resolving->isolation, error));
	return keep(resolving, bytes, size, error);
}

/* Ask the helper; FS_REFUSED when it has no answer. */
static int ask_helper(struct resolving *resolving, struct fs_error *error)
{
	const struct fs_symbol_options *options = resolving->options;
	const struct fs_located *located = resolving->located;
	const struct fs_symbol_dso *dso = &resolving->rest;
	const struct fs_helper_job job = {
		.files = { resolving->fd, located->debug_fd, located->supplementary_fd },
		.work = resolve_sealed,
		.read = read_reply,
		.context = resolving,
		.timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS,
		.fault = resolving->fault,
		.cancelled = options->cancelled,
		.cancelled_context = options->context,
	};

	resolving->job = (struct fs_resolve_job){
		.fd = resolving->fd,
		.debug_fd = located->debug_fd,
		.supplementary_fd = located->supplementary_fd,
		.kind = dso->kind,
		.reference = dso->reference,
		.reference_address = dso->reference_address,
		.queries = dso->queries,
		.query_count = dso->query_count,
		.object_queries = dso->object_queries,
		.object_query_count = dso->object_query_count,
	};
	return fs_helper_run(&job, error);
}

/* ---- answers from before ---- */

static bool take_kept(void *context, const uint8_t *bytes, size_t size)
{
	struct resolving *resolving = context;
	int code = fs_answers_read(&resolving->answers, bytes, size, resolving->options->strings,
				   NULL);

	resolving->damaged += code == FS_REFUSED;
	return code != FS_REFUSED;
}

/* Whoever knows the build-id knows the binary, which is what was recorded: verified. */
static int read_kept(struct resolving *resolving, const struct fs_symbol_dso *dso,
		     struct fs_error *error)
{
	const struct fs_symbol_cache *cache = resolving->options->cache;
	const int files[] = { resolving->fd, resolving->located->debug_fd,
			      resolving->located->supplementary_fd };

	if (!cache || dso->symbols != FS_SYMBOLS_VERIFIED || !dso->build_id ||
	    !fs_answers_files(dso, files, sizeof(files) / sizeof(*files), resolving->files))
		return 0;
	return cache->each(cache->context, dso->build_id, resolving->files, take_kept, resolving,
			   error);
}

/* Ask the helper what is not answered yet, and put all answers together. */
static int answer(struct resolving *resolving, struct fs_symbol_dso *dso, struct fs_error *error)
{
	struct fs_answers *answers = &resolving->answers;
	struct fs_symbol_dso *rest = &resolving->rest;
	struct fs_error own = { 0 };
	int code;

	if (fs_answers_missing(answers, dso, rest))
		return fs_fail(error, FS_NOMEM, "out of memory for the names of %s", dso->path);
	code = rest->query_count || rest->object_query_count || !answers->count
		       ? ask_helper(resolving, &own)
		       : 0;
	if (fs_answers_add(answers, rest))
		return fs_fail(error, FS_NOMEM, "out of memory for the names of %s", dso->path);
	if (code == FS_REFUSED) {
		dso->symbols = FS_SYMBOLS_FAILED;
		set_reason(dso, own.text);
		return 0;
	}
	if (code)
		return fs_fail(error, code, "%s", own.text);
	if (fs_answers_give(answers, dso))
		return fs_fail(error, FS_NOMEM, "out of memory for the names of %s", dso->path);
	explain(dso);
	if (resolving->damaged)
		add_reason(dso, "answers that the database kept were damaged and are not used");
	return 0;
}

static int resolve(const struct fs_symbol_options *options, size_t index,
		   const struct fs_located *located, int fd, struct fs_symbol_dso *dso,
		   struct fs_isolation *isolation, struct fs_error *error)
{
	struct resolving resolving = {
		.options = options,
		.located = located,
		.fd = fd,
		.fault = index == options->test_fault_dso
				 ? (enum fs_helper_fault)options->test_fault
				 : FS_HELPER_SOUND,
		.isolation = isolation,
	};
	int code;

	fs_answers_init(&resolving.answers);
	fs_reply_forget(dso);
	code = read_kept(&resolving, dso, error);
	if (!code)
		code = answer(&resolving, dso, error);
	fs_answers_free(&resolving.answers);
	return code;
}

/* Where names come from: what the options say, opened. */
struct sources {
	const struct fs_symbol_options *options;
	struct fs_roots roots;
	int vmlinux; /* -1: none */
	uint8_t *kallsyms_text;
	struct fs_kallsyms kallsyms;
	struct fs_isolation isolation;
};

static int ask_binary(struct sources *sources, size_t index, struct fs_symbol_dso *dso,
		      struct fs_error *error)
{
	const struct fs_symbol_options *options = sources->options;
	struct fs_located located;
	int given = dso->kind == FS_SYMBOL_KERNEL && dso->fd < 0 ? sources->vmlinux : dso->fd;
	int code = 0;

	if (!sources->roots.count && given < 0)
		return 0;
	if (given >= 0)
		fs_locate_fd(&sources->roots, given,
			     given == dso->fd ? dso->path : options->vmlinux, dso->build_id,
			     &located);
	else
		fs_locate(&sources->roots, dso->path, dso->build_id, &located);
	take_located(dso, &located);
	if (located.symbols == FS_SYMBOLS_VERIFIED ||
	    (located.symbols == FS_SYMBOLS_UNVERIFIED && options->allow_unverified)) {
		code = resolve(options, index, &located, given >= 0 ? given : located.fd, dso,
			       &sources->isolation, error);
	} else if (located.symbols == FS_SYMBOLS_UNVERIFIED) {
		add_reason(dso, "not used, --unverified-symbols would");
	}
	fs_located_close(&located);
	return code;
}

static int symbolise_dso(struct sources *sources, size_t index, struct fs_symbol_dso *dso,
			 struct fs_error *error)
{
	bool in_kernel = dso->kind == FS_SYMBOL_KERNEL || dso->kind == FS_SYMBOL_MODULE;
	int code = 0;

	FS_TRY(ask_binary(sources, index, dso, error));
	if (!in_kernel || !sources->kallsyms_text)
		return 0;
	if (!dso->arch)
		code = fs_kallsyms_answer(&sources->kallsyms, sources->options->strings, dso);
	else if (dso->kind == FS_SYMBOL_KERNEL)
		code = fs_kallsyms_add_modules(&sources->kallsyms, sources->options->strings, dso);
	if (code)
		return fs_fail(error, FS_NOMEM, "out of memory for the names in kallsyms");
	return 0;
}

/* Open a file that the user has named for the kernel's names. */
static int open_vmlinux(struct sources *sources, const char *path, struct fs_error *error)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return fs_fail(error, FS_USAGE, "--vmlinux %s: %s; give a file that can be read",
			       path, strerror(errno));
	sources->vmlinux = fd;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return fs_fail(error, FS_USAGE, "--vmlinux %s is no regular file", path);
	return 0;
}

static int open_sources(struct sources *sources, struct fs_error *error)
{
	const struct fs_symbol_options *options = sources->options;
	size_t size = 0;

	FS_TRY(fs_roots_open(options->roots, options->root_count, &sources->roots, error));
	for (size_t i = 0; i < options->archive_count; i++)
		FS_TRY(fs_roots_add_archive(&sources->roots, options->archives[i], error));
	if (options->vmlinux)
		FS_TRY(open_vmlinux(sources, options->vmlinux, error));
	if (!options->kallsyms)
		return 0;
	FS_TRY(fs_whole_file_read("--kallsyms", options->kallsyms, FS_KALLSYMS_MAX,
				  &sources->kallsyms_text, &size, error));
	if (fs_kallsyms_parse((const char *)sources->kallsyms_text, size, &sources->kallsyms))
		return fs_fail(error, FS_NOMEM, "out of memory for %s", options->kallsyms);
	if (!sources->kallsyms.count)
		return fs_fail(error, FS_USAGE,
			       "--kallsyms %s: no line of it reads as "
			       "\"address type name\"; give a copy of /proc/kallsyms",
			       options->kallsyms);
	return 0;
}

static void close_sources(struct sources *sources)
{
	fs_roots_close(&sources->roots);
	if (sources->vmlinux >= 0)
		close(sources->vmlinux);
	fs_kallsyms_free(&sources->kallsyms);
	free(sources->kallsyms_text);
}

static void clear(struct fs_symbol_dso *dso)
{
	dso->functions = NULL;
	fs_reply_forget(dso);
	dso->symbols = FS_SYMBOLS_NOT_ASKED;
	dso->reason[0] = '\0';
	dso->file_path[0] = '\0';
	dso->file_build_id[0] = '\0';
}

int fs_symbolise(const struct fs_symbol_options *options, struct fs_symbol_dso *dsos, size_t count,
		 struct fs_isolation *ret_isolation, struct fs_error *error)
{
	struct sources sources = { .options = options, .vmlinux = -1 };
	int code;

	for (size_t i = 0; i < count; i++)
		clear(&dsos[i]);
	code = open_sources(&sources, error);
	for (size_t i = 0; i < count && !code; i++) {
		if (options->cancelled && options->cancelled(options->context))
			code = fs_fail(error, ECANCELED, "cancelled");
		else if (dsos[i].query_count || dsos[i].object_query_count)
			code = symbolise_dso(&sources, i, &dsos[i], error);
	}
	close_sources(&sources);
	if (!code && ret_isolation)
		*ret_isolation = sources.isolation;
	return code;
}
