/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The helper may write to its answer only, and no file may grow under its hands. So the file for
 * the contents has its full length, without blocks, beforehand, and is written through mappings.
 * The answer is frames of helper/reply.h, with one of its own:
 *
 * MEMBER   u32 path, u32 target, u32 kind, u64 offset, u64 size
 */
#include "ingest/symbol/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "common/temporary.h"
#include "common/vector.h"
#include "ingest/helper/helper.h"

enum {
	REPLY_MEMBER = FS_REPLY_OWN,
	WINDOW = 4 << 20,
	BLOCK = 1 << 16,
	TIMEOUT_MS = 120000,
	LINKS_MAX = 16,
};

enum { KIND_FILE, KIND_SYMBOLIC_LINK, KIND_HARD_LINK };

struct unpacking {
	int fd;	       /* what is unpacked */
	bool single;   /* a compressed file, no tarball */
	int output_fd; /* of FS_ARCHIVE_SIZE_MAX bytes */

	/* the helper's */
	struct fs_reply_writer *writer;
	struct archive *reader;
	uint8_t *window; /* a mapped part of the output, or NULL */
	uint64_t window_start;
	uint64_t used; /* of the output */
	uint32_t texts, members;
	const char *complaint;

	/* the parent's */
	struct fs_archive *archive;
	struct fs_isolation isolation;
};

/* ---- in the helper ---- */

/* Map the part of the output that will be written next. */
static bool move_window(struct unpacking *unpacking)
{
	uint64_t start = unpacking->used / WINDOW * WINDOW;

	if (unpacking->window && unpacking->window_start == start)
		return true;
	if (unpacking->window)
		munmap(unpacking->window, WINDOW);
	unpacking->window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED,
				 unpacking->output_fd, (off_t)start);
	if (unpacking->window == MAP_FAILED)
		unpacking->window = NULL;
	unpacking->window_start = start;
	return unpacking->window != NULL;
}

/* Append what the current entry holds. */
static bool copy_content(struct unpacking *unpacking)
{
	la_ssize_t got = 1;

	while (got > 0) {
		uint64_t at;

		if (unpacking->used == FS_ARCHIVE_SIZE_MAX) {
			unpacking->complaint = "it unpacks to more than 4 GiB";
			return false;
		}
		if (!move_window(unpacking)) {
			unpacking->complaint = "its content could not be mapped";
			return false;
		}
		at = unpacking->used - unpacking->window_start;
		got = archive_read_data(unpacking->reader, unpacking->window + at,
					(size_t)(WINDOW - at));
		if (got > 0)
			unpacking->used += (uint64_t)got;
	}
	if (got == 0)
		return true;
	unpacking->complaint = archive_error_string(unpacking->reader);
	return false;
}

static uint32_t send_text(struct unpacking *unpacking, const char *text)
{
	if (!text)
		return FS_REPLY_NONE;
	fs_reply_text(unpacking->writer, text, strlen(text));
	return unpacking->texts++;
}

static bool take_entry(struct unpacking *unpacking, struct archive_entry *entry)
{
	const char *path = archive_entry_pathname(entry);
	const char *hard = archive_entry_hardlink(entry);
	const char *target = hard ? hard : archive_entry_symlink(entry);
	uint64_t start = unpacking->used;
	uint32_t numbers[2];

	if (!path || (!target && archive_entry_filetype(entry) != AE_IFREG))
		return true;
	if (unpacking->members++ == FS_ARCHIVE_MEMBERS_MAX) {
		unpacking->complaint = "it has more than 65536 files";
		return false;
	}
	if (!target && !copy_content(unpacking))
		return false;
	numbers[0] = send_text(unpacking, path);
	numbers[1] = send_text(unpacking, target);
	fs_reply_frame(unpacking->writer, REPLY_MEMBER, 28);
	fs_reply_u32(unpacking->writer, numbers[0]);
	fs_reply_u32(unpacking->writer, numbers[1]);
	fs_reply_u32(unpacking->writer, hard	 ? KIND_HARD_LINK
					: target ? KIND_SYMBOLIC_LINK
						 : KIND_FILE);
	fs_reply_u64(unpacking->writer, start);
	fs_reply_u64(unpacking->writer, unpacking->used - start);
	return true;
}

static bool read_entries(struct unpacking *unpacking)
{
	struct archive_entry *entry;
	int status;

	while ((status = archive_read_next_header(unpacking->reader, &entry)) == ARCHIVE_OK ||
	       status == ARCHIVE_WARN) {
		if (!take_entry(unpacking, entry))
			return false;
	}
	if (status != ARCHIVE_EOF)
		unpacking->complaint = archive_error_string(unpacking->reader);
	return status == ARCHIVE_EOF;
}

static void unpack_sealed(void *context, struct fs_reply_writer *writer)
{
	struct unpacking *unpacking = context;
	struct archive *reader = archive_read_new();

	unpacking->writer = writer;
	unpacking->reader = reader;
	if (!reader) {
		fs_reply_last(writer, FS_REPLY_NO_MEMORY, "out of memory");
		return;
	}
	archive_read_support_filter_bzip2(reader);
	archive_read_support_filter_gzip(reader);
	archive_read_support_filter_xz(reader);
	archive_read_support_filter_zstd(reader);
	if (unpacking->single)
		archive_read_support_format_raw(reader);
	else
		archive_read_support_format_tar(reader);
	if (archive_read_open_fd(reader, unpacking->fd, BLOCK) != ARCHIVE_OK)
		unpacking->complaint = archive_error_string(reader);
	else if (read_entries(unpacking))
		unpacking->complaint = NULL;
	else if (!unpacking->complaint)
		unpacking->complaint = "it cannot be read";
	if (unpacking->complaint)
		fs_reply_last(writer, FS_REPLY_UNREADABLE, unpacking->complaint);
	else
		fs_reply_last(writer, FS_REPLY_DONE, "");
	archive_read_free(reader);
}

/* ---- in the parent ---- */

/* Join a folder and a path without "." and "..", which end at the top. False: too long. */
static bool join(char out[PATH_MAX], const char *folder, size_t folder_length, const char *path)
{
	char both[2 * PATH_MAX];
	size_t used = 0;

	if (folder_length >= PATH_MAX || strlen(path) >= PATH_MAX)
		return false;
	snprintf(both, sizeof(both), "%.*s/%s", (int)folder_length, folder, path);
	for (const char *at = both; *at;) {
		size_t length = strcspn(at, "/");

		if (length == 2 && at[0] == '.' && at[1] == '.') {
			while (used && out[--used] != '/')
				;
		} else if (length && !(length == 1 && at[0] == '.')) {
			if (used + length + 2 > PATH_MAX)
				return false;
			if (used)
				out[used++] = '/';
			memcpy(out + used, at, length);
			used += length;
		}
		at += length + (at[length] == '/');
	}
	out[used] = '\0';
	return true;
}

/* Where a link leads, from the folder that it stands in or, if hard, from the top. */
static bool join_target(char out[PATH_MAX], const char *link, const char *target, bool hard)
{
	const char *slash = hard || *target == '/' ? NULL : strrchr(link, '/');

	return join(out, link, slash ? (size_t)(slash - link) : 0, target);
}

static int intern_path(struct fs_archive *archive, const char *path, uint32_t *ret_id)
{
	return fs_intern(&archive->strings, path, strlen(path), ret_id);
}

static int read_member(struct fs_reply *reply, struct fs_reader *body)
{
	struct unpacking *unpacking = reply->context;
	struct fs_archive *archive = unpacking->archive;
	uint32_t path = fs_read_u32(body);
	uint32_t target = fs_read_u32(body);
	uint32_t kind = fs_read_u32(body);
	struct fs_archive_member member = { .target = FS_REPLY_NONE };
	char clean[PATH_MAX];
	char led[PATH_MAX];
	uint64_t *index;
	uint64_t key;

	member.offset = fs_read_u64(body);
	member.size = fs_read_u64(body);
	if (body->failed || fs_reader_left(body) || kind > KIND_HARD_LINK ||
	    !fs_reply_string(reply, path, &path) || !fs_reply_string(reply, target, &target) ||
	    path == FS_REPLY_NONE || (kind == KIND_FILE) != (target == FS_REPLY_NONE) ||
	    member.offset > FS_ARCHIVE_SIZE_MAX ||
	    member.size > FS_ARCHIVE_SIZE_MAX - member.offset ||
	    archive->count == FS_ARCHIVE_MEMBERS_MAX)
		return fs_reply_malformed(reply, "a file");
	if (!join(clean, "", 0, fs_interned(&archive->strings, path, NULL)))
		return 0; /* no path that could be asked for */
	if (kind != KIND_FILE) {
		if (!join_target(led, clean, fs_interned(&archive->strings, target, NULL),
				 kind == KIND_HARD_LINK))
			return 0;
		FS_TRY(intern_path(archive, led, &member.target));
	}
	FS_TRY(intern_path(archive, clean, &member.path));
	key = member.path;
	index = fs_table_put(&archive->by_path, &key, NULL, NULL);
	if (!index || FS_RESERVE(archive->members, archive->capacity, archive->count + 1))
		return FS_NOMEM;
	*index = archive->count;
	archive->members[archive->count++] = member;
	return 0;
}

static int read_reply(void *context, const uint8_t *bytes, size_t size, struct fs_error *error)
{
	static fs_reply_reader *const readers[] = { read_member };
	struct unpacking *unpacking = context;

	return fs_reply_read(bytes, size, &unpacking->archive->strings, readers, 1, unpacking,
			     &unpacking->isolation, error);
}

/* Have a file unpacked. The archive wants fs_archive_close() in any case. */
static int unpack(int fd, bool single, struct fs_archive *archive, struct fs_error *error)
{
	struct unpacking unpacking = { .fd = fd, .single = single, .archive = archive };
	const struct fs_helper_job job = {
		.files = { fd, archive->fd = fs_temporary_open(), -1 },
		.output = true,
		.work = unpack_sealed,
		.read = read_reply,
		.context = &unpacking,
		.timeout_ms = TIMEOUT_MS,
	};

	fs_interner_init(&archive->strings);
	fs_table_init(&archive->by_path, 8, 8);
	unpacking.output_fd = archive->fd;
	if (archive->fd < 0 || ftruncate(archive->fd, (off_t)FS_ARCHIVE_SIZE_MAX))
		return fs_fail(error, FS_OUTPUT, "no temporary file: %s", strerror(errno));
	return fs_helper_run(&job, error);
}

int fs_archive_open(const char *path, struct fs_archive *ret_archive, struct fs_error *error)
{
	struct fs_archive archive = { 0 };
	struct fs_error own = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int code;

	if (fd < 0)
		return fs_fail(error, FS_USAGE, "--archive %s: %s; give a file that can be read",
			       path, strerror(errno));
	code = unpack(fd, false, &archive, &own);
	close(fd);
	if (!code) {
		*ret_archive = archive;
		return 0;
	}
	fs_archive_close(&archive);
	if (code != FS_REFUSED)
		return fs_fail(error, code, "--archive %s: %s", path, own.text);
	return fs_fail(error, FS_USAGE,
		       "--archive %s: %s; give a tarball such as perf archive makes", path,
		       own.text);
}

void fs_archive_close(struct fs_archive *archive)
{
	if (archive->fd >= 0)
		close(archive->fd);
	free(archive->members);
	fs_interner_free(&archive->strings);
	fs_table_free(&archive->by_path);
	*archive = (struct fs_archive){ .fd = -1 };
}

static const struct fs_archive_member *look_up(const struct fs_archive *archive, const char *path,
					       size_t length)
{
	uint32_t id;
	uint64_t key;
	const uint64_t *index;

	if (!length || !fs_interner_find(&archive->strings, path, length, &id))
		return NULL;
	key = id;
	index = fs_table_get(&archive->by_path, &key);
	return index ? &archive->members[*index] : NULL;
}

/* Replace the first link in a path by where it leads. False: there is none. */
static bool follow(const struct fs_archive *archive, char path[PATH_MAX])
{
	for (size_t length = strcspn(path, "/");; length += 1 + strcspn(path + length + 1, "/")) {
		const struct fs_archive_member *member = look_up(archive, path, length);
		const char *target;
		char next[PATH_MAX];

		if (member && member->target != FS_REPLY_NONE) {
			target = fs_interned(&archive->strings, member->target, NULL);
			if (!join(next, target, strlen(target), path + length))
				return false;
			memcpy(path, next, sizeof(next));
			return true;
		}
		if (!path[length])
			return false;
	}
}

/* Copy a part of a file into a new one without a name. */
static int copy_part(int from, uint64_t offset, uint64_t size)
{
	off_t at = (off_t)offset;
	int fd = fs_temporary_open();

	if (fd < 0)
		return -errno;
	while (size) {
		ssize_t copied = sendfile(fd, from, &at, size < INT32_MAX ? size : INT32_MAX);

		if (copied < 0 && errno == EINTR)
			continue;
		if (copied <= 0) {
			int why = copied ? errno : EIO;

			close(fd);
			return -why;
		}
		size -= (uint64_t)copied;
	}
	return fd;
}

int fs_archive_open_file(const struct fs_archive *archive, const char *path)
{
	char now[PATH_MAX];

	if (!join(now, "", 0, path))
		return -ENAMETOOLONG;
	for (unsigned int links = 0; links < LINKS_MAX; links++) {
		const struct fs_archive_member *member = look_up(archive, now, strlen(now));

		if (member && member->target == FS_REPLY_NONE)
			return copy_part(archive->fd, member->offset, member->size);
		if (!follow(archive, now))
			return -ENOENT;
	}
	return -ELOOP;
}

static bool is_compressed(int fd)
{
	static const struct {
		const char *magic;
		size_t size;
	} kinds[] = { { "\x1f\x8b", 2 },
		      { "BZh", 3 },
		      { "\xfd"
			"7zXZ",
			5 },
		      { "\x28\xb5\x2f\xfd", 4 } };
	char start[8];

	if (pread(fd, start, sizeof(start), 0) != sizeof(start))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!memcmp(start, kinds[i].magic, kinds[i].size))
			return true;
	}
	return false;
}

int fs_archive_unpack(int fd)
{
	struct fs_archive archive = { .fd = -1 };
	struct fs_error error = { 0 };
	int result = -ENOEXEC;
	int code;

	if (!is_compressed(fd) || lseek(fd, 0, SEEK_SET))
		return -ENOEXEC;
	code = unpack(fd, true, &archive, &error);
	if (code == FS_NOMEM)
		result = -ENOMEM;
	else if (!code && archive.count == 1 && !archive.members[0].offset)
		result = copy_part(archive.fd, 0, archive.members[0].size);
	fs_archive_close(&archive);
	return result;
}
