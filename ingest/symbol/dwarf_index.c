/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An own index of the units' address ranges, because .debug_aranges is optional (clang and rustc
 * leave it out) and libdw's search by address needs it.
 */
#include "ingest/symbol/dwarf_index.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/search.h"
#include "common/vector.h"

enum { NESTING_MAX = 32 };

static int compare(const void *a, const void *b)
{
	const struct fs_dwarf_range *left = a;
	const struct fs_dwarf_range *right = b;

	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	if (left->high != right->high)
		return left->high > right->high ? -1 : 1;
	return (left->die > right->die) - (left->die < right->die);
}

static void sort(struct fs_dwarf_ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare);
}

/* The range that covers an address and starts last. Ranges rarely nest: few steps back do. */
static const struct fs_dwarf_range *find(const struct fs_dwarf_ranges *ranges, uint64_t address)
{
	size_t low = FS_FIRST_BEHIND(ranges->items, ranges->count, low, address);

	for (size_t steps = 0; low-- && steps < 16; steps++) {
		if (address < ranges->items[low].high)
			return &ranges->items[low];
	}
	return NULL;
}

/* Address 0 is where linkers put the ranges of code that they dropped. */
int fs_dwarf_ranges_add(struct fs_dwarf_ranges *ranges, Dwarf_Die *die)
{
	Dwarf_Addr base;
	Dwarf_Addr low;
	Dwarf_Addr high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low == 0 || low >= high)
			continue;
		FS_TRY(FS_RESERVE(ranges->items, ranges->capacity, ranges->count + 1));
		ranges->items[ranges->count++] = (struct fs_dwarf_range){
			.low = low, .high = high, .die = dwarf_dieoffset(die)
		};
	}
	return 0;
}

static bool has_section(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && header.sh_type != SHT_NOBITS && !strcmp(name, wanted))
			return true;
	}
	return false;
}

/* DWARF 5, 3.1.2, and what GCC did before. */
static bool is_skeleton(Dwarf_Die *unit)
{
	return dwarf_hasattr(unit, DW_AT_dwo_name) || dwarf_hasattr(unit, DW_AT_GNU_dwo_name);
}

static void close_dwarf(struct fs_dwarf_index *index)
{
	if (index->dwarf)
		dwarf_end(index->dwarf);
	if (index->supplementary)
		dwarf_end(index->supplementary);
	index->dwarf = index->supplementary = NULL;
}

int fs_dwarf_index_open(struct fs_dwarf_index *index, Elf *elf, Elf *supplementary)
{
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	size_t header;

	*index = (struct fs_dwarf_index){ .dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL) };
	fs_table_init(&index->functions, 8, sizeof(struct fs_dwarf_ranges));
	index->unreadable = has_section(elf, ".debug_info") || has_section(elf, ".zdebug_info");
	index->lines_only = has_section(elf, ".debug_sup");
	if (!index->dwarf)
		return 0;
	if (supplementary)
		index->supplementary = dwarf_begin_elf(supplementary, DWARF_C_READ, NULL);
	if (index->supplementary)
		dwarf_setalt(index->dwarf, index->supplementary);
	while (!dwarf_nextcu(index->dwarf, offset, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Die die;

		if (dwarf_offdie(index->dwarf, offset + header, &die)) {
			index->unreadable = false;
			index->split |= is_skeleton(&die);
			FS_TRY(fs_dwarf_ranges_add(&index->units, &die));
		}
		if (next <= offset)
			break;
		offset = next;
	}
	sort(&index->units);
	if (!index->units.count) /* .debug_frame alone, or type units only */
		close_dwarf(index);
	return 0;
}

static bool unit_of(struct fs_dwarf_index *index, uint64_t address, Dwarf_Die *ret_die)
{
	const struct fs_dwarf_range *range;

	if (!index->dwarf)
		return false;
	range = find(&index->units, address);
	return range && dwarf_offdie(index->dwarf, range->die, ret_die);
}

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* libdw leaves directories of the line table as they are that are relative to the unit's. */
const char *fs_dwarf_directory(Dwarf_Die *unit, const char *path)
{
	const char *directory = path && path[0] != '/' ? string_of(unit, DW_AT_comp_dir) : NULL;

	return directory && strcmp(directory, ".") != 0 ? directory : NULL;
}

bool fs_dwarf_place(struct fs_dwarf_index *index, uint64_t address,
		    struct fs_dwarf_place *ret_place)
{
	Dwarf_Die unit;
	Dwarf_Line *line;
	const char *path;
	int number;
	int column;

	if (!unit_of(index, address, &unit))
		return false;
	line = dwarf_getsrc_die(&unit, address);
	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return false;
	path = dwarf_linesrc(line, NULL, NULL);
	if (!path)
		return false;
	*ret_place = (struct fs_dwarf_place){ .directory = fs_dwarf_directory(&unit, path),
					      .path = path,
					      .line = (uint32_t)number };
	if (!dwarf_linecol(line, &column) && column > 0)
		ret_place->column = (uint32_t)column;
	return true;
}

/*
 * Collect the subprograms of a unit; namespaces and types may hold some, and functions too: those
 * of their own classes, such as lambdas, and nested ones.
 */
static int add_functions(struct fs_dwarf_ranges *functions, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	if (depth > NESTING_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			FS_TRY(fs_dwarf_ranges_add(functions, &die));
			FS_TRY(add_functions(functions, &die, depth + 1));
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
			FS_TRY(add_functions(functions, &die, depth + 1));
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return 0;
}

void fs_dwarf_names(Dwarf_Die *die, const char **ret_name, const char **ret_linkage_name)
{
	*ret_name = string_of(die, DW_AT_name);
	*ret_linkage_name = string_of(die, DW_AT_linkage_name);
	if (!*ret_linkage_name)
		*ret_linkage_name = string_of(die, DW_AT_MIPS_linkage_name);
}

/*
 * The functions of the unit at an address, read when it is met first. NULL: no unit is known
 * there, or memory ran out.
 */
static const struct fs_dwarf_ranges *functions_near(struct fs_dwarf_index *index, uint64_t address)
{
	struct fs_dwarf_ranges *functions;
	Dwarf_Off offset;
	Dwarf_Die unit;
	bool added;

	if (index->lines_only || !unit_of(index, address, &unit))
		return NULL;
	offset = dwarf_dieoffset(&unit);
	functions = fs_table_put(&index->functions, &offset, NULL, &added);
	if (functions && added) {
		if (add_functions(functions, &unit, 0))
			functions->count = 0;
		sort(functions);
	}
	return functions;
}

static bool entry_of(struct fs_dwarf_index *index, const struct fs_dwarf_range *range,
		     Dwarf_Die *ret_die, struct fs_dwarf_range *ret_range)
{
	if (!range || !dwarf_offdie(index->dwarf, range->die, ret_die))
		return false;
	*ret_range = *range;
	return true;
}

bool fs_dwarf_function_range(struct fs_dwarf_index *index, uint64_t address, Dwarf_Die *ret_die,
			     struct fs_dwarf_range *ret_range)
{
	const struct fs_dwarf_ranges *functions = functions_near(index, address);

	return functions && entry_of(index, find(functions, address), ret_die, ret_range);
}

bool fs_dwarf_function(struct fs_dwarf_index *index, uint64_t address,
		       struct fs_dwarf_function *ret_function)
{
	struct fs_dwarf_range range;
	Dwarf_Die die;

	if (!fs_dwarf_function_range(index, address, &die, &range))
		return false;
	fs_dwarf_names(&die, &ret_function->name, &ret_function->linkage_name);
	ret_function->address = range.low;
	ret_function->size = range.high - range.low;
	return ret_function->name || ret_function->linkage_name;
}

bool fs_dwarf_entry(struct fs_dwarf_index *index, uint64_t address, Dwarf_Die *ret_die,
		    struct fs_dwarf_range *ret_range)
{
	const struct fs_dwarf_ranges *functions = functions_near(index, address);
	size_t at = functions ? FS_FIRST_AT(functions->items, functions->count, low, address) : 0;

	return functions && at < functions->count && functions->items[at].low == address &&
	       entry_of(index, &functions->items[at], ret_die, ret_range);
}

void fs_dwarf_index_close(struct fs_dwarf_index *index)
{
	free(index->units.items);
	for (size_t i = 0; i < index->functions.count; i++)
		free(((struct fs_dwarf_ranges *)fs_table_value(&index->functions, i))->items);
	fs_table_free(&index->functions);
	close_dwarf(index);
	*index = (struct fs_dwarf_index){ 0 };
}
