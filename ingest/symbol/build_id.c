/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/symbol/build_id.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <unistd.h>

#include "common/reader.h"
#include "common/text.h"

enum { NOTES_MAX = 1 << 16, TABLE_MAX = 1 << 20 };

/* Where program or section headers lie. */
struct elf_table {
	uint64_t offset;
	uint16_t entry;
	uint16_t count;
};

bool fs_read_at(int fd, void *out, size_t size, uint64_t offset)
{
	if (offset > INT64_MAX - size)
		return false;
	return pread(fd, out, size, (off_t)offset) == (ssize_t)size;
}

/* Look through a run of notes. */
static bool find_note(const uint8_t *data, size_t size, size_t align, char *ret_text)
{
	struct fs_reader reader = fs_reader_of(data, size);

	while (fs_reader_left(&reader) >= sizeof(Elf64_Nhdr)) {
		uint32_t name_size = fs_read_u32(&reader);
		uint32_t value_size = fs_read_u32(&reader);
		uint32_t type = fs_read_u32(&reader);
		const uint8_t *name = fs_read_bytes(&reader, name_size);
		const uint8_t *value;

		fs_read_bytes(&reader, -reader.offset & (align - 1));
		value = fs_read_bytes(&reader, value_size);
		if (!value)
			return false;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4) &&
		    value_size && value_size <= FS_BUILD_ID_MAX) {
			fs_hex(ret_text, value, value_size);
			return true;
		}
		fs_read_bytes(&reader, -reader.offset & (align - 1));
	}
	return false;
}

static bool notes_at(int fd, uint64_t offset, uint64_t size, uint64_t align, char *ret_text)
{
	uint8_t *notes;
	bool found = false;

	if (size > NOTES_MAX)
		size = NOTES_MAX;
	notes = malloc(size ? size : 1);
	if (notes && fs_read_at(fd, notes, size, offset))
		found = find_note(notes, size, align == 8 ? 8 : 4, ret_text);
	free(notes);
	return found;
}

static bool in_header(int fd, const uint8_t *header, bool elf64, bool section, char *ret_text)
{
	if (section && elf64) {
		Elf64_Shdr s;

		memcpy(&s, header, sizeof(s));
		return s.sh_type == SHT_NOTE &&
		       notes_at(fd, s.sh_offset, s.sh_size, s.sh_addralign, ret_text);
	}
	if (section) {
		Elf32_Shdr s;

		memcpy(&s, header, sizeof(s));
		return s.sh_type == SHT_NOTE &&
		       notes_at(fd, s.sh_offset, s.sh_size, s.sh_addralign, ret_text);
	}
	if (elf64) {
		Elf64_Phdr p;

		memcpy(&p, header, sizeof(p));
		return p.p_type == PT_NOTE &&
		       notes_at(fd, p.p_offset, p.p_filesz, p.p_align, ret_text);
	} else {
		Elf32_Phdr p;

		memcpy(&p, header, sizeof(p));
		return p.p_type == PT_NOTE &&
		       notes_at(fd, p.p_offset, p.p_filesz, p.p_align, ret_text);
	}
}

static bool in_table(int fd, const struct elf_table *table, bool elf64, bool section,
		     char *ret_text)
{
	size_t needed = section ? elf64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)
			: elf64 ? sizeof(Elf64_Phdr)
				: sizeof(Elf32_Phdr);
	size_t size = (size_t)table->entry * table->count;
	uint8_t *headers;
	bool found = false;

	if (table->entry < needed || size == 0 || size > TABLE_MAX)
		return false;
	headers = malloc(size);
	if (headers && fs_read_at(fd, headers, size, table->offset)) {
		for (size_t i = 0; i < table->count && !found; i++)
			found = in_header(fd, headers + i * table->entry, elf64, section, ret_text);
	}
	free(headers);
	return found;
}

bool fs_build_id_read(int fd, char ret_text[FS_BUILD_ID_TEXT])
{
	uint8_t start[sizeof(Elf64_Ehdr)] = { 0 };
	struct elf_table programs;
	struct elf_table sections;
	Elf64_Ehdr h64;
	Elf32_Ehdr h32;
	bool elf64;

	ret_text[0] = '\0';
	if (!fs_read_at(fd, start, sizeof(h32), 0) || memcmp(start, ELFMAG, SELFMAG) ||
	    start[EI_DATA] != ELFDATA2LSB)
		return false;
	elf64 = start[EI_CLASS] == ELFCLASS64;
	if (elf64) {
		if (!fs_read_at(fd, &h64, sizeof(h64), 0))
			return false;
		programs = (struct elf_table){ h64.e_phoff, h64.e_phentsize, h64.e_phnum };
		sections = (struct elf_table){ h64.e_shoff, h64.e_shentsize, h64.e_shnum };
	} else {
		memcpy(&h32, start, sizeof(h32));
		programs = (struct elf_table){ h32.e_phoff, h32.e_phentsize, h32.e_phnum };
		sections = (struct elf_table){ h32.e_shoff, h32.e_shentsize, h32.e_shnum };
	}
	if (!in_table(fd, &programs, elf64, false, ret_text))
		in_table(fd, &sections, elf64, true, ret_text);
	return true;
}

bool fs_build_id_equal(const char *a, const char *b)
{
	size_t shorter = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
	const char *rest = strlen(a) > shorter ? a + shorter : b + shorter;

	if (shorter == 0 || strncasecmp(a, b, shorter))
		return false;
	return strspn(rest, "0") == strlen(rest) && strlen(rest) % 2 == 0;
}

bool fs_build_id_is_hex(const char *text)
{
	return strlen(text) > 2 && strlen(text) < FS_BUILD_ID_TEXT &&
	       strspn(text, "0123456789abcdef") == strlen(text);
}
