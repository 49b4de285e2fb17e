/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/symbol/locate.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/text.h"
#include "ingest/symbol/debug_file.h"

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

/* One search: what is wanted, and the best that was seen so far. */
struct search {
	struct fs_roots *roots;
	const char *path;
	const char *build_id;
	size_t tried;
	struct fs_located *found;
};

int fs_roots_open(const char *const *paths, size_t count, struct fs_roots *ret_roots,
		  struct fs_error *error)
{
	struct fs_roots roots = { .roots = calloc(count ? count : 1, sizeof(*roots.roots)) };

	if (!roots.roots)
		return fs_fail(error, FS_NOMEM, "out of memory for %zu symbol roots", count);
	for (size_t i = 0; i < count; i++) {
		int fd = open(paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0) {
			fs_fail(error, FS_USAGE, "symbol root %s: %s; give a directory that exists",
				paths[i], strerror(errno));
			fs_roots_close(&roots);
			return FS_USAGE;
		}
		roots.roots[i] = (struct fs_root){ .path = paths[i], .fd = fd };
		roots.count++;
	}
	*ret_roots = roots;
	return 0;
}

int fs_roots_add_archive(struct fs_roots *roots, const char *path, struct fs_error *error)
{
	struct fs_root *grown = reallocarray(roots->roots, roots->count + 1, sizeof(*roots->roots));
	struct fs_archive *archive = malloc(sizeof(*archive));
	int code;

	if (grown)
		roots->roots = grown;
	if (!grown || !archive) {
		free(archive);
		return fs_fail(error, FS_NOMEM, "out of memory for --archive %s", path);
	}
	code = fs_archive_open(path, archive, error);
	if (code) {
		free(archive);
		return code;
	}
	roots->roots[roots->count++] = (struct fs_root){ path, -1, archive };
	return 0;
}

void fs_roots_close(struct fs_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		if (roots->roots[i].archive) {
			fs_archive_close(roots->roots[i].archive);
			free(roots->roots[i].archive);
		} else {
			close(roots->roots[i].fd);
		}
	}
	free(roots->roots);
	*roots = (struct fs_roots){ 0 };
}

/* The fall-back: resolve all links first, then see where that led. */
static int open_by_realpath(const char *root, const char *path, int flags)
{
	char base[PATH_MAX];
	char joined[PATH_MAX];
	char real[PATH_MAX];
	size_t length;
	int fd;

	if (!realpath(root, base))
		return -errno;
	if ((size_t)snprintf(joined, sizeof(joined), "%s/%s", base, path) >= sizeof(joined))
		return -ENAMETOOLONG;
	if (!realpath(joined, real))
		return -errno;
	length = strlen(base);
	if (length > 1 && (strncmp(real, base, length) || real[length] != '/'))
		return -EXDEV;
	fd = open(real, flags | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

static int open_in_root(struct fs_roots *roots, size_t root, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(unsigned int)flags,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	long fd;

	path += strspn(path, "/");
	if (!roots->no_openat2) {
		fd = syscall(SYS_openat2, roots->roots[root].fd, path, &how, sizeof(how));
		if (fd >= 0)
			return (int)fd;
		if (errno != ENOSYS && errno != EPERM)
			return -errno;
		roots->no_openat2 = errno == ENOSYS;
	}
	return open_by_realpath(roots->roots[root].path, path, flags);
}

/* Only what may be opened without side effects is: a device or FIFO is seen before. */
int fs_root_open_file(struct fs_roots *roots, size_t root, const char *path)
{
	struct stat before;
	struct stat after;
	int fd;
	int status;

	if (roots->roots[root].archive)
		return fs_archive_open_file(roots->roots[root].archive, path);
	fd = open_in_root(roots, root, path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return fd;
	status = fstat(fd, &before);
	close(fd);
	if (status || !S_ISREG(before.st_mode))
		return -EINVAL;
	if ((uint64_t)before.st_size > FS_LOCATE_SIZE_MAX)
		return -EFBIG;
	fd = open_in_root(roots, root, path, OPEN_FLAGS);
	if (fd < 0)
		return fd;
	if (fstat(fd, &after) || after.st_dev != before.st_dev || after.st_ino != before.st_ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static void set_path(struct fs_located *located, const char *root, const char *path)
{
	char joined[PATH_MAX];

	path += strspn(path, "/");
	snprintf(joined, sizeof(joined), "%s%s%s", root, *root ? "/" : "", path);
	fs_escape(located->path, sizeof(located->path), joined, strlen(joined));
}

__attribute__((format(printf, 2, 3))) static void set_reason(struct fs_located *located,
							     const char *format, ...)
{
	char raw[sizeof(located->reason)];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	fs_escape(located->reason, sizeof(located->reason), raw, strlen(raw));
}

/* Compare build-ids and say what the file is worth. */
static void judge(struct fs_located *located, const char *recorded)
{
	if (*recorded && fs_build_id_equal(recorded, located->build_id)) {
		located->symbols = FS_SYMBOLS_VERIFIED;
		located->reason[0] = '\0';
		return;
	}
	located->symbols = FS_SYMBOLS_UNVERIFIED;
	if (!*recorded)
		set_reason(located, "the trace has no build-id for it to compare");
	else if (!located->build_id[0])
		set_reason(located, "the file has no build-id; the trace has %.40s", recorded);
	else
		set_reason(located, "the file's build-id is %s, the trace has %.40s",
			   located->build_id, recorded);
}

/* What kept a file that is there from being used; the first such reason stands. */
static void note_failure(struct search *search, size_t root, const char *path, int error)
{
	const char *why = error == EINVAL    ? "is no regular file"
			  : error == EFBIG   ? "is larger than 4 GiB"
			  : error == EXDEV   ? "leads out of the symbol root"
			  : error == ENOEXEC ? "is no little-endian ELF file"
					     : strerror(error);

	if (search->found->symbols != FS_SYMBOLS_MISSING)
		return;
	search->found->symbols = FS_SYMBOLS_FAILED;
	set_path(search->found, search->roots->roots[root].path, path);
	set_reason(search->found, "%s %s", search->found->path, why);
}

/* Read the build-id of a file, of a compressed one after unpacking it. False: it is no ELF file. */
static bool read_binary(struct fs_located *candidate)
{
	int unpacked;

	if (fs_build_id_read(candidate->fd, candidate->build_id))
		return true;
	unpacked = fs_archive_unpack(candidate->fd);
	if (unpacked < 0)
		return false;
	close(candidate->fd);
	candidate->fd = unpacked;
	return fs_build_id_read(unpacked, candidate->build_id);
}

/* Try one place. True when the search is over. */
static bool try_file(struct search *search, size_t root, const char *path)
{
	struct fs_located candidate = { .debug_fd = -1, .supplementary_fd = -1 };

	search->tried++;
	candidate.fd = fs_root_open_file(search->roots, root, path);
	if (candidate.fd < 0) {
		if (candidate.fd != -ENOENT && candidate.fd != -ENOTDIR &&
		    candidate.fd != -EINVAL && candidate.fd != -ENAMETOOLONG)
			note_failure(search, root, path, -candidate.fd);
		return false;
	}
	if (!read_binary(&candidate)) {
		note_failure(search, root, path, ENOEXEC);
		close(candidate.fd);
		return false;
	}
	set_path(&candidate, search->roots->roots[root].path, path);
	judge(&candidate, search->build_id);
	if (candidate.symbols != FS_SYMBOLS_VERIFIED && search->found->fd >= 0) {
		close(candidate.fd);
		return false;
	}
	if (search->found->fd >= 0)
		close(search->found->fd);
	*search->found = candidate;
	return candidate.symbols == FS_SYMBOLS_VERIFIED;
}

static bool try_format(struct search *search, size_t root, const char *format, const char *id)
{
	char path[128];

	snprintf(path, sizeof(path), format, id, id + 2);
	return try_file(search, root, path);
}

/* The places that follow from the build-id alone. */
static bool try_build_id(struct search *search, size_t root, const char *id)
{
	static const char *const formats[] = { ".build-id/%.2s/%s", ".build-id/%.2s/%s/elf",
					       "%.2s/%s",	    "%.2s/%s/elf",
					       "%.2s%s/executable", "[vdso]/%.2s%s/vdso" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (try_format(search, root, formats[i], id))
			return true;
	}
	return false;
}

/* perf's cache by path and id. */
static bool try_cache(struct search *search, size_t root, const char *id, const char *name)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s", search->path, id, name) >=
	    sizeof(path))
		return false;
	return try_file(search, root, path);
}

/*
 * Old perf files pad short ids with zeros: a 16-byte id is looked for by its 16 bytes, too.
 */
static bool try_root(struct search *search, size_t root)
{
	const char *base = strrchr(search->path, '/');
	char shorter[33];

	if (fs_build_id_is_hex(search->build_id)) {
		if (try_build_id(search, root, search->build_id) ||
		    try_cache(search, root, search->build_id, "elf"))
			return true;
		if (strlen(search->build_id) == 40 && !strcmp(search->build_id + 32, "00000000")) {
			snprintf(shorter, sizeof(shorter), "%.32s", search->build_id);
			if (try_build_id(search, root, shorter) ||
			    try_cache(search, root, shorter, "elf"))
				return true;
		}
	}
	if (search->path[0] != '/' || search->path[1] == '/')
		return false; /* [vdso], //anon: no file */
	if (try_file(search, root, search->path))
		return true;
	return base && base[1] && try_file(search, root, base + 1);
}

/* Look for its debug information; what is missing of it is told. */
static void find_debug(struct search *search, const char *id)
{
	struct fs_located *found = search->found;
	const struct fs_debug_search wanted = {
		.roots = search->roots, .path = search->path, .build_id = id, .fd = found->fd
	};
	struct fs_debug_files files;
	size_t used = strlen(found->reason);

	fs_debug_files_find(&wanted, &files);
	search->tried += files.tried;
	found->debug_fd = files.fd;
	found->supplementary_fd = files.supplementary_fd;
	if (files.reason[0])
		snprintf(found->reason + used, sizeof(found->reason) - used, "%s%s",
			 used ? "; " : "", files.reason);
	if (found->fd >= 0 || files.fd < 0)
		return;
	set_path(found, search->roots->roots[files.root].path, files.path);
	memcpy(found->build_id, files.build_id, sizeof(found->build_id));
}

/* perf records " (deleted)" behind the name of a file that was replaced while mapped. */
static void copy_path(char *out, size_t size, const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length;

	snprintf(out, size, "%s", path);
	length = strlen(out);
	if (length > strlen(deleted) && !strcmp(out + length - strlen(deleted), deleted))
		out[length - strlen(deleted)] = '\0';
}

void fs_locate(struct fs_roots *roots, const char *path, const char *build_id,
	       struct fs_located *ret_located)
{
	char clean[PATH_MAX];
	struct search search = { .roots = roots,
				 .path = clean,
				 .build_id = build_id ? build_id : "",
				 .found = ret_located };

	copy_path(clean, sizeof(clean), path);
	*ret_located = (struct fs_located){
		.symbols = FS_SYMBOLS_MISSING, .fd = -1, .debug_fd = -1, .supplementary_fd = -1
	};
	for (size_t root = 0; root < roots->count; root++) {
		if (try_root(&search, root))
			break;
	}
	find_debug(&search, ret_located->fd >= 0 ? ret_located->build_id : search.build_id);
	if (ret_located->fd < 0 && ret_located->debug_fd >= 0) {
		ret_located->symbols = FS_SYMBOLS_VERIFIED;
		set_reason(ret_located, "only a separate debug file was found, no instructions");
	}
	if (ret_located->symbols == FS_SYMBOLS_MISSING)
		set_reason(ret_located, "not found under the %zu symbol root%s; %zu path%s tried",
			   roots->count, roots->count == 1 ? "" : "s", search.tried,
			   search.tried == 1 ? "" : "s");
}

void fs_locate_fd(struct fs_roots *roots, int fd, const char *path, const char *build_id,
		  struct fs_located *ret_located)
{
	char clean[PATH_MAX];
	struct search search = { .roots = roots, .path = clean, .found = ret_located };

	copy_path(clean, sizeof(clean), path);
	*ret_located = (struct fs_located){
		.symbols = FS_SYMBOLS_FAILED, .fd = -1, .debug_fd = -1, .supplementary_fd = -1
	};
	set_path(ret_located, "", path);
	if (!fs_build_id_read(fd, ret_located->build_id)) {
		set_reason(ret_located, "the file given for it is no little-endian ELF file");
		return;
	}
	judge(ret_located, build_id ? build_id : "");
	ret_located->fd = fd;
	find_debug(&search, ret_located->build_id);
	ret_located->fd = -1;
}

void fs_located_close(struct fs_located *located)
{
	if (located->fd >= 0)
		close(located->fd);
	if (located->debug_fd >= 0)
		close(located->debug_fd);
	if (located->supplementary_fd >= 0)
		close(located->supplementary_fd);
	located->fd = located->debug_fd = located->supplementary_fd = -1;
}
