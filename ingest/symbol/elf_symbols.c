/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols of executable sections, or variables, sorted by address. Functions win over labels, and
 * mapping symbols ($x, $d of the Arm ELF ABI) and compiler-local labels (.L) are no names.
 *
 * The few bytes behind a function that align the next one belong to it: a call that does not return
 * may be its last instruction, and where the call would return to stands in a call chain.
 *
 * Ranges may nest (hand-written assembler), so `reach` tells how far back a search must go.
 */
#include "ingest/symbol/elf_symbols.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/search.h"
#include "common/vector.h"

enum { PADDING = 64 };

/* Functions first, then those with a size, then by binding, then by the fewest underscores. */
static uint8_t rank_of(const GElf_Sym *symbol, const char *name)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);
	unsigned int binding = GELF_ST_BIND(symbol->st_info);
	size_t underscores = strspn(name, "_");
	unsigned int rank = type == STT_FUNC || type == STT_GNU_IFUNC ? 0 : 128;

	rank += symbol->st_size ? 0 : 64;
	rank += binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 16 : 32;
	return (uint8_t)(rank + (underscores > 15 ? 15 : underscores));
}

static bool is_code_name(const char *name)
{
	if (!name || !*name)
		return false;
	if (name[0] == '$' && strchr("xdtap", name[1]) && (name[2] == '\0' || name[2] == '.'))
		return false;
	return strncmp(name, ".L", 2) != 0;
}

static bool is_of_kind(enum fs_elf_symbols_kind kind, unsigned int type)
{
	if (kind == FS_ELF_VARIABLES)
		return type == STT_OBJECT;
	if (kind == FS_ELF_THREAD_LOCALS)
		return type == STT_TLS;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* Values in a relocatable object count from the section, to which libdwfl has given an address. */
static bool is_relocatable(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) && header.e_type == ET_REL;
}

static int add_symbol(struct fs_elf_symbols *symbols, Elf *elf, const GElf_Shdr *table,
		      const GElf_Sym *symbol, size_t order)
{
	const char *name;
	GElf_Shdr section;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
	    !is_of_kind(symbols->kind, GELF_ST_TYPE(symbol->st_info)))
		return 0;
	if (!gelf_getshdr(elf_getscn(elf, symbol->st_shndx), &section) ||
	    !(section.sh_flags & (symbols->kind == FS_ELF_FUNCTIONS ? SHF_EXECINSTR : SHF_ALLOC)))
		return 0;
	name = elf_strptr(elf, table->sh_link, symbol->st_name);
	if (!is_code_name(name))
		return 0;
	FS_TRY(FS_RESERVE(symbols->items, symbols->capacity, symbols->count + 1));
	symbols->items[symbols->count++] = (struct fs_elf_symbol){
		.address = symbol->st_value + (is_relocatable(elf) ? section.sh_addr : 0),
		.size = symbol->st_size,
		.limit = section.sh_addr + section.sh_size,
		.name = name,
		.order = (uint32_t)order,
		.rank = rank_of(symbol, name),
	};
	return 0;
}

static int add_table(struct fs_elf_symbols *symbols, Elf *elf, Elf_Scn *section,
		     const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 1; data && i < count && i < INT32_MAX; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		FS_TRY(add_symbol(symbols, elf, header, &symbol, i));
	}
	return 0;
}

static int add_tables(struct fs_elf_symbols *symbols, Elf *elf, uint32_t type, bool *ret_any)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		*ret_any = true;
		FS_TRY(add_table(symbols, elf, section, &header));
	}
	return 0;
}

int fs_elf_symbols_add(struct fs_elf_symbols *symbols, Elf *elf)
{
	bool any = false;

	FS_TRY(add_tables(symbols, elf, SHT_SYMTAB, &any));
	if (any)
		symbols->full = true;
	else
		FS_TRY(add_tables(symbols, elf, SHT_DYNSYM, &any));
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct fs_elf_symbol *left = a;
	const struct fs_elf_symbol *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (strcmp(left->name, right->name))
		return strcmp(left->name, right->name);
	return (left->order > right->order) - (left->order < right->order);
}

int fs_elf_symbols_index(struct fs_elf_symbols *symbols)
{
	size_t kept = 0;
	uint64_t reach = 0;

	if (!symbols->count)
		return 0;
	qsort(symbols->items, symbols->count, sizeof(*symbols->items), compare);
	symbols->reach = calloc(symbols->count, sizeof(*symbols->reach));
	if (!symbols->reach)
		return FS_NOMEM;
	for (size_t i = 0; i < symbols->count; i++) {
		struct fs_elf_symbol *item = &symbols->items[i];
		uint64_t end = item->address + item->size;

		if (kept && symbols->items[kept - 1].address == item->address)
			continue;
		if (end < item->address) {
			item->size = 0;
			end = item->address;
		}
		reach = end > reach ? end : reach;
		symbols->reach[kept] = reach;
		symbols->items[kept++] = *item;
	}
	symbols->count = kept;
	return 0;
}

const struct fs_elf_symbol *fs_elf_symbols_find(const struct fs_elf_symbols *symbols,
						uint64_t address)
{
	size_t low = FS_FIRST_BEHIND(symbols->items, symbols->count, address, address);
	const struct fs_elf_symbol *nearest;
	bool padded;

	if (!low)
		return NULL;
	nearest = &symbols->items[low - 1];
	while (low-- && symbols->reach[low] > address) {
		const struct fs_elf_symbol *item = &symbols->items[low];

		if (address - item->address < item->size)
			return item;
	}
	if (address >= nearest->limit)
		return NULL;
	padded = symbols->full && symbols->kind == FS_ELF_FUNCTIONS;
	if (nearest->size == 0 || (padded && address - nearest->address - nearest->size < PADDING))
		return nearest;
	return NULL;
}

static bool value_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name,
		     uint64_t *ret_value)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 1; data && i < count && i < INT32_MAX; i++) {
		const char *found;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		found = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (found && !strcmp(found, name) && symbol.st_shndx != SHN_UNDEF) {
			*ret_value = symbol.st_value;
			return true;
		}
	}
	return false;
}

bool fs_elf_symbol_value(Elf *elf, const char *name, uint64_t *ret_value)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB &&
		    value_in(elf, section, &header, name, ret_value))
			return true;
	}
	return false;
}

void fs_elf_symbols_free(struct fs_elf_symbols *symbols)
{
	free(symbols->items);
	free(symbols->reach);
	*symbols = (struct fs_elf_symbols){ 0 };
}
