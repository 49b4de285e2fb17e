/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/symbol/plt.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/search.h"
#include "common/vector.h"

/* A slot of the global offset table, and who fills it. */
struct slot {
	uint64_t address;
	const char *name; /* in the Elf */
};

struct slots {
	struct slot *items;
	size_t count, capacity;
};

struct stub {
	uint64_t start, slot;
};

/* ---- slots ---- */

static const char *name_of(Elf *elf, Elf_Data *symbols, size_t strings, const GElf_Rela *relocation,
			   const struct fs_elf_symbols *functions)
{
	uint64_t number = GELF_R_SYM(relocation->r_info);
	const struct fs_elf_symbol *function;
	GElf_Sym symbol;

	if (number && symbols && number < INT32_MAX && gelf_getsym(symbols, (int)number, &symbol))
		return elf_strptr(elf, strings, symbol.st_name);
	if (number)
		return NULL;
	function = fs_elf_symbols_find(functions, (uint64_t)relocation->r_addend);
	return function && function->address == (uint64_t)relocation->r_addend ? function->name
									       : NULL;
}

static int add_slots(struct slots *slots, Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
		     const struct fs_elf_symbols *functions)
{
	Elf_Scn *table = elf_getscn(elf, header->sh_link);
	Elf_Data *relocations = elf_getdata(section, NULL);
	Elf_Data *symbols = table ? elf_getdata(table, NULL) : NULL;
	GElf_Shdr symbol_header = { 0 };
	GElf_Rela relocation;

	if (table && !gelf_getshdr(table, &symbol_header))
		symbols = NULL;
	for (int i = 0; relocations && gelf_getrela(relocations, i, &relocation); i++) {
		const char *name =
			name_of(elf, symbols, symbol_header.sh_link, &relocation, functions);

		if (!name || !*name)
			continue;
		FS_TRY(FS_RESERVE(slots->items, slots->capacity, slots->count + 1));
		slots->items[slots->count++] =
			(struct slot){ .address = relocation.r_offset, .name = name };
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct slot *left = a;
	const struct slot *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

/* ---- stubs ---- */

/*
 * [endbr64] [bnd] jmp *displacement(%rip), at the start of an entry
 *
 * f3 0f 1e fa  f2  ff 25 dd dd dd dd
 */
static size_t decode_x86(const uint8_t *code, size_t size, uint64_t address, struct stub *ret_stub)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;
	int32_t displacement;

	ret_stub->slot = 0;
	if (size >= 4 && !memcmp(code, endbr64, 4))
		at += 4;
	if (at < size && code[at] == 0xf2)
		at++;
	if (size >= at + 6 && code[at] == 0xff && code[at + 1] == 0x25) {
		memcpy(&displacement, code + at + 2, sizeof(displacement));
		*ret_stub = (struct stub){ address, address + at + 6 + (uint64_t)displacement };
	}
	return 8; /* entries have 8 or 16 bytes */
}

/*
 * [bti c] adrp x16, page; ldr x17, [x16, offset]
 *
 * adrp: 1 lo:2 10000 hi:19 rd:5, signed pages        ldr: 1111100101 imm:12 rn:5 rt:5, eights
 */
static size_t decode_a64(const uint8_t *code, size_t size, uint64_t address, struct stub *ret_stub)
{
	uint32_t words[2];
	uint64_t pages;

	ret_stub->slot = 0;
	if (size < sizeof(words))
		return 4;
	memcpy(words, code, sizeof(words));
	if ((words[0] & 0x9f00001f) != 0x90000010 || (words[1] & 0xffc003ff) != 0xf9400211)
		return 4;
	pages = (words[0] >> 29 & 3) | (words[0] >> 5 & 0x7ffff) << 2;
	pages = (pages ^ 1 << 20) - (1 << 20);
	*ret_stub = (struct stub){ address, (address & ~(uint64_t)4095) + (pages << 12) +
						    ((words[1] >> 10 & 0xfff) << 3) };
	return 4;
}

static bool is_bti(const uint8_t *code)
{
	static const uint8_t bti_c[] = { 0x5f, 0x24, 0x03, 0xd5 };

	return !memcmp(code, bti_c, sizeof(bti_c));
}

/* Each stub ends where the next one starts, or with the section. */
static int add_stubs(struct fs_elf_symbols *stubs, const struct slots *slots, Elf_Data *data,
		     const GElf_Shdr *header, bool a64)
{
	const uint8_t *code = data->d_buf;
	size_t first = stubs->count;
	size_t step;

	for (size_t at = 0; at < data->d_size; at += step) {
		struct stub stub;
		size_t found;

		step = (a64 ? decode_a64 : decode_x86)(code + at, data->d_size - at,
						       header->sh_addr + at, &stub);
		found = FS_FIRST_AT(slots->items, slots->count, address, stub.slot);
		if (!stub.slot || found >= slots->count || slots->items[found].address != stub.slot)
			continue;
		if (a64 && at >= 4 && is_bti(code + at - 4))
			stub.start -= 4;
		FS_TRY(FS_RESERVE(stubs->items, stubs->capacity, stubs->count + 1));
		if (stubs->count > first)
			stubs->items[stubs->count - 1].size =
				stub.start - stubs->items[stubs->count - 1].address;
		stubs->items[stubs->count++] = (struct fs_elf_symbol){
			.address = stub.start,
			.size = header->sh_addr + data->d_size - stub.start,
			.limit = header->sh_addr + data->d_size,
			.name = slots->items[found].name,
		};
	}
	return 0;
}

static int add_sections(struct fs_elf_symbols *stubs, const struct slots *slots, Elf *elf, bool a64)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || (strncmp(name, ".plt", 4) != 0 && strcmp(name, ".iplt") != 0))
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_buf)
			FS_TRY(add_stubs(stubs, slots, data, &header, a64));
	}
	return 0;
}

int fs_plt_add(struct fs_elf_symbols *stubs, Elf *elf, const struct fs_elf_symbols *functions)
{
	struct slots slots = { 0 };
	Elf_Scn *section = NULL;
	GElf_Ehdr file;
	int code = 0;

	if (!gelf_getehdr(elf, &file) ||
	    (file.e_machine != EM_X86_64 && file.e_machine != EM_AARCH64))
		return 0;
	while (!code && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			code = add_slots(&slots, elf, section, &header, functions);
	}
	if (!code && slots.count) {
		qsort(slots.items, slots.count, sizeof(*slots.items), compare);
		code = add_sections(stubs, &slots, elf, file.e_machine == EM_AARCH64);
	}
	free(slots.items);
	return code;
}
