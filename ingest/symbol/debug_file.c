/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: sections of names are small and read by bounded preads, as the build-id is. Each
 * candidate is opened and compared with what is wanted; one that is there but differs is told.
 */
#include "ingest/symbol/debug_file.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/reader.h"
#include "common/text.h"

enum { SECTION_MAX = 8192 };

/* How a file proves that it is the one. */
enum proof { BY_BUILD_ID, BY_CRC };

struct wanted {
	enum proof proof;
	char name[SECTION_MAX];	   /* path, or base name */
	char id[FS_BUILD_ID_TEXT]; /* in hex; "": none */
	uint32_t crc;
};

struct finding {
	const struct fs_debug_search *search;
	struct fs_debug_files *files;
	const struct wanted *wanted;
	char mismatch[256]; /* of the first candidate that did not fit */
};

/* ---- sections ---- */

struct section {
	uint32_t name;
	uint64_t flags, offset, size;
};

/* The section headers of a file: e_shoff and what follows e_ehsize. */
struct sections {
	int fd;
	bool elf64;
	uint64_t offset;
	uint16_t entry, count, names;
};

static bool open_sections(int fd, struct sections *ret_sections)
{
	uint8_t header[sizeof(Elf64_Ehdr)] = { 0 };
	struct fs_reader reader;
	bool elf64;

	if (!fs_read_at(fd, header, sizeof(Elf32_Ehdr), 0) || memcmp(header, ELFMAG, SELFMAG) ||
	    header[EI_DATA] != ELFDATA2LSB)
		return false;
	elf64 = header[EI_CLASS] == ELFCLASS64;
	if (elf64 && !fs_read_at(fd, header, sizeof(header), 0))
		return false;
	reader = fs_reader_of(header, elf64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	fs_read_bytes(&reader, elf64 ? 40 : 32);
	*ret_sections = (struct sections){ .fd = fd, .elf64 = elf64 };
	ret_sections->offset = elf64 ? fs_read_u64(&reader) : fs_read_u32(&reader);
	fs_read_bytes(&reader, 10); /* e_flags, e_ehsize, e_phentsize, e_phnum */
	ret_sections->entry = fs_read_u16(&reader);
	ret_sections->count = fs_read_u16(&reader);
	ret_sections->names = fs_read_u16(&reader);
	return ret_sections->entry >= (elf64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) &&
	       ret_sections->names < ret_sections->count;
}

static bool read_section(const struct sections *sections, uint16_t index, struct section *ret)
{
	uint8_t header[sizeof(Elf64_Shdr)] = { 0 };
	size_t size = sections->elf64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint64_t at = (uint64_t)index * sections->entry;
	struct fs_reader reader = fs_reader_of(header, size);

	if (sections->offset > INT64_MAX ||
	    !fs_read_at(sections->fd, header, size, sections->offset + at))
		return false;
	ret->name = fs_read_u32(&reader);
	fs_read_u32(&reader); /* sh_type */
	ret->flags = sections->elf64 ? fs_read_u64(&reader) : fs_read_u32(&reader);
	fs_read_bytes(&reader, sections->elf64 ? 8 : 4); /* sh_addr */
	ret->offset = sections->elf64 ? fs_read_u64(&reader) : fs_read_u32(&reader);
	ret->size = sections->elf64 ? fs_read_u64(&reader) : fs_read_u32(&reader);
	return true;
}

/* Read a section by name, if it has no more than SECTION_MAX bytes; 0: there is none. */
static size_t read_named(int fd, const char *name, uint8_t *bytes)
{
	struct sections sections;
	struct section strings;
	struct section section;
	char text[32];
	size_t length = strlen(name) + 1;

	if (!open_sections(fd, &sections) || !read_section(&sections, sections.names, &strings))
		return 0;
	for (uint16_t i = 0; i < sections.count; i++) {
		if (!read_section(&sections, i, &section))
			return 0;
		if (section.name >= strings.size || strings.offset > INT64_MAX ||
		    !fs_read_at(fd, text, length, strings.offset + section.name) ||
		    memcmp(text, name, length) != 0)
			continue;
		if (section.size > SECTION_MAX || section.flags & SHF_COMPRESSED ||
		    !fs_read_at(fd, bytes, section.size, section.offset))
			return 0;
		return section.size;
	}
	return 0;
}

/* ---- what they say ---- */

/* A NUL-terminated name; false where it does not end, or is empty. */
static bool read_name(struct fs_reader *reader, struct wanted *wanted)
{
	size_t left = fs_reader_left(reader);
	const uint8_t *start = reader->data + reader->offset;
	const uint8_t *end = memchr(start, '\0', left);

	if (!end || end == start)
		return false;
	memcpy(wanted->name, start, (size_t)(end - start) + 1);
	fs_read_bytes(reader, (size_t)(end - start) + 1);
	return true;
}

/* name, NUL, zeros up to a multiple of four, CRC */
static bool read_debug_link(int fd, struct wanted *ret_wanted)
{
	uint8_t bytes[SECTION_MAX];
	struct fs_reader reader = fs_reader_of(bytes, read_named(fd, ".gnu_debuglink", bytes));

	*ret_wanted = (struct wanted){ .proof = BY_CRC };
	if (!read_name(&reader, ret_wanted) || strchr(ret_wanted->name, '/'))
		return false;
	fs_read_bytes(&reader, -reader.offset & 3);
	ret_wanted->crc = fs_read_u32(&reader);
	return !reader.failed;
}

/* name, NUL, build-id */
static bool read_supplementary(int fd, struct wanted *ret_wanted)
{
	uint8_t bytes[SECTION_MAX];
	struct fs_reader reader = fs_reader_of(bytes, read_named(fd, ".gnu_debugaltlink", bytes));
	const uint8_t *id;
	size_t size;

	*ret_wanted = (struct wanted){ .proof = BY_BUILD_ID };
	if (!read_name(&reader, ret_wanted))
		return false;
	size = fs_reader_left(&reader);
	id = fs_read_bytes(&reader, size);
	if (!size || size > FS_BUILD_ID_MAX)
		return false;
	fs_hex(ret_wanted->id, id, size);
	return true;
}

/* ---- candidates ---- */

/* The CRC-32 of ISO 3309, reflected, as .gnu_debuglink has it. */
static bool crc_of(int fd, uint32_t *ret_crc)
{
	uint32_t table[256];
	uint8_t bytes[1 << 14];
	uint64_t offset = 0;
	uint32_t crc = UINT32_MAX;
	ssize_t got;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	while ((got = pread(fd, bytes, sizeof(bytes), (off_t)offset)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
		offset += (uint64_t)got;
	}
	*ret_crc = ~crc;
	return got == 0;
}

static bool is_same_file(int a, int b)
{
	struct stat left;
	struct stat right;

	return !fstat(a, &left) && !fstat(b, &right) && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

static void note_mismatch(struct finding *finding, const char *path, const char *kind,
			  const char *found, const char *wanted)
{
	char raw[sizeof(finding->mismatch)];

	if (finding->mismatch[0])
		return;
	snprintf(raw, sizeof(raw), "%.100s has the %s %.40s, not %.40s", path, kind,
		 *found ? found : "none", wanted);
	fs_escape(finding->mismatch, sizeof(finding->mismatch), raw, strlen(raw));
}

/* A build-id settles it, either way; else the CRC must be right. */
static bool fits_link(struct finding *finding, int fd, const char *path, const char *build_id)
{
	const char *own = finding->search->build_id;
	char found[16];
	char wanted[16];
	uint32_t crc;

	if (is_same_file(fd, finding->search->fd))
		return false;
	if (*own && *build_id) {
		if (fs_build_id_equal(own, build_id))
			return true;
		note_mismatch(finding, path, "build-id", build_id, own);
		return false;
	}
	if (!crc_of(fd, &crc))
		return false;
	if (crc == finding->wanted->crc)
		return true;
	snprintf(found, sizeof(found), "0x%08x", crc);
	snprintf(wanted, sizeof(wanted), "0x%08x", finding->wanted->crc);
	note_mismatch(finding, path, "CRC", found, wanted);
	return false;
}

static bool fits(struct finding *finding, int fd, const char *path, char *ret_build_id)
{
	const struct wanted *wanted = finding->wanted;

	if (!fs_build_id_read(fd, ret_build_id))
		return false;
	if (wanted->proof == BY_CRC)
		return fits_link(finding, fd, path, ret_build_id);
	if (fs_build_id_equal(ret_build_id, wanted->id))
		return true;
	note_mismatch(finding, path, "build-id", ret_build_id, wanted->id);
	return false;
}

/* Open a place if what lies there fits; -1: no. */
static int try_place(struct finding *finding, size_t root, const char *path)
{
	char build_id[FS_BUILD_ID_TEXT];
	int fd;

	finding->files->tried++;
	fd = fs_root_open_file(finding->search->roots, root, path);
	if (fd < 0)
		return -1;
	if (!fits(finding, fd, path, build_id)) {
		close(fd);
		return -1;
	}
	if (finding->files->fd < 0) {
		finding->files->root = root;
		snprintf(finding->files->path, sizeof(finding->files->path), "%s", path);
		memcpy(finding->files->build_id, build_id, sizeof(build_id));
	}
	return fd;
}

/* A place made of up to three parts; -1 too where it is too long. */
static int try_parts(struct finding *finding, size_t root, const char *format, const char *first,
		     const char *second)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), format, first, second) >= sizeof(path))
		return -1;
	return try_place(finding, root, path);
}

static int find_by_build_id(struct finding *finding, const char *id)
{
	static const char *const formats[] = { ".build-id/%.2s/%s.debug", "%.2s/%s.debug",
					       "usr/lib/debug/.build-id/%.2s/%s.debug",
					       "%.2s%s/debuginfo" };
	int fd = -1;

	if (!fs_build_id_is_hex(id))
		return -1;
	for (size_t root = 0; root < finding->search->roots->count && fd < 0; root++) {
		for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]) && fd < 0; i++)
			fd = try_parts(finding, root, formats[i], id, id + 2);
		if (fd < 0)
			fd = try_parts(finding, root, "%s/%s/debug", finding->search->path, id);
	}
	return fd;
}

/* The folder of a path, without a slash at its end. */
static void folder_of(const char *path, char *ret_folder)
{
	const char *end = strrchr(path, '/');

	snprintf(ret_folder, PATH_MAX, "%.*s", end ? (int)(end - path) : 0, path);
}

static int find_by_link(struct finding *finding)
{
	static const char *const formats[] = { "%s/%s", "%s/.debug/%s", "usr/lib/debug/%s/%s" };
	char folder[PATH_MAX];
	int fd = -1;

	folder_of(finding->search->path, folder);
	for (size_t root = 0; root < finding->search->roots->count && fd < 0; root++) {
		for (size_t i = 0; i < 6 && fd < 0; i++) /* a flat directory at last */
			fd = try_parts(finding, root, formats[i % 3], i < 3 ? folder : "",
				       finding->wanted->name);
	}
	return fd;
}

static int find_supplementary(struct finding *finding)
{
	static const char debug[] = "/usr/lib/debug/";
	const char *name = finding->wanted->name;
	const char *base = strrchr(name, '/');
	char folder[PATH_MAX];
	int fd = -1;

	folder_of(finding->files->fd >= 0 ? finding->files->path : finding->search->path, folder);
	base = base ? base + 1 : name;
	for (size_t root = 0; root < finding->search->roots->count && fd < 0; root++) {
		fd = try_parts(finding, root, "%s/%s", name[0] == '/' ? "" : folder, name);
		if (fd < 0 && !strncmp(name, debug, strlen(debug)))
			fd = try_place(finding, root, name + strlen(debug));
		if (fd < 0)
			fd = try_parts(finding, root, "%s/%s", ".dwz", base);
		if (fd < 0)
			fd = try_place(finding, root, base);
	}
	if (fd < 0)
		fd = find_by_build_id(finding, finding->wanted->id);
	return fd;
}

/* ---- all of it ---- */

static void add_reason(struct finding *finding, const char *what)
{
	char *reason = finding->files->reason;
	size_t room = sizeof(finding->files->reason);
	char name[80];
	size_t used = strlen(reason);

	fs_escape(name, sizeof(name), finding->wanted->name, strlen(finding->wanted->name));
	snprintf(reason + used, room - used, "%s%s %s was not found under the symbol roots%s%s",
		 used ? "; " : "", what, name, finding->mismatch[0] ? "; " : "", finding->mismatch);
}

void fs_debug_files_find(const struct fs_debug_search *search, struct fs_debug_files *ret_files)
{
	struct wanted wanted = { .proof = BY_BUILD_ID };
	struct finding finding = { .search = search, .files = ret_files, .wanted = &wanted };
	int owner;

	*ret_files = (struct fs_debug_files){ .fd = -1, .supplementary_fd = -1 };
	snprintf(wanted.id, sizeof(wanted.id), "%s", search->build_id);
	ret_files->fd = find_by_build_id(&finding, search->build_id);
	if (ret_files->fd < 0 && search->fd >= 0 && read_debug_link(search->fd, &wanted)) {
		ret_files->fd = find_by_link(&finding);
		if (ret_files->fd < 0)
			add_reason(&finding, "its debug file");
	}
	owner = ret_files->fd >= 0 ? ret_files->fd : search->fd;
	finding.mismatch[0] = '\0';
	if (owner < 0 || !read_supplementary(owner, &wanted))
		return;
	ret_files->supplementary_fd = find_supplementary(&finding);
	if (ret_files->supplementary_fd < 0)
		add_reason(&finding, "the file that its debug information shares with others,");
}
