/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/symbol/inlines.h"

#include <dwarf.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/search.h"
#include "common/vector.h"

/* Blocks and calls that lie deeper in each other are left out. */
enum { NESTING_MAX = 256 };

/* Collect what was put into `caller`, directly or within its blocks. */
static int add_children(struct fs_inlines *inlines, Dwarf_Die *parent, uint32_t caller,
			uint32_t depth, unsigned int nesting)
{
	Dwarf_Die die;

	if (nesting > NESTING_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		uint32_t number = (uint32_t)inlines->count;

		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			FS_TRY(FS_RESERVE(inlines->items, inlines->capacity, inlines->count + 1));
			inlines->items[inlines->count++] = (struct fs_inlined){
				.die = dwarf_dieoffset(&die), .caller = caller, .depth = depth + 1
			};
			FS_TRY(fs_dwarf_ranges_add(&inlines->ranges, &die));
			FS_TRY(add_children(inlines, &die, number, depth + 1, nesting + 1));
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			FS_TRY(add_children(inlines, &die, caller, depth, nesting + 1));
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return 0;
}

static int read_function(struct fs_inlines *inlines, Dwarf_Die *function)
{
	Dwarf_Off offset = dwarf_dieoffset(function);

	if (inlines->known && inlines->function == offset)
		return 0;
	inlines->known = false;
	inlines->count = inlines->ranges.count = 0;
	inlines->function = offset;
	FS_TRY(add_children(inlines, function, FS_NOT_INLINED, 0, 0));
	inlines->known = true;
	return 0;
}

int fs_inlines_at(struct fs_inlines *inlines, uint64_t address, uint32_t *ret_inlined)
{
	struct fs_dwarf_range range;
	Dwarf_Die function;
	uint32_t found = FS_NOT_INLINED;

	*ret_inlined = FS_NOT_INLINED;
	if (!fs_dwarf_function_range(inlines->index, address, &function, &range))
		return 0;
	FS_TRY(read_function(inlines, &function));
	for (size_t i = 0; i < inlines->ranges.count; i++) {
		const struct fs_dwarf_range *item = &inlines->ranges.items[i];
		size_t number;

		if (address < item->low || address >= item->high)
			continue;
		number = FS_FIRST_BEHIND(inlines->items, inlines->count, die, item->die) - 1;
		if (found == FS_NOT_INLINED ||
		    inlines->items[number].depth > inlines->items[found].depth)
			found = (uint32_t)number;
	}
	*ret_inlined = found;
	return 0;
}

static uint32_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) ||
	    value > INT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* The path that DW_AT_call_file means: a number in the table of the entry's unit. */
static void read_path(Dwarf_Die *die, struct fs_dwarf_place *place)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	Dwarf_Die unit;
	size_t count;

	if (!dwarf_attr(die, DW_AT_call_file, &attribute) || dwarf_formudata(&attribute, &number) ||
	    !dwarf_diecu(die, &unit, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, &count) ||
	    number >= count)
		return;
	place->path = dwarf_filesrc(files, number, NULL, NULL);
	place->directory = fs_dwarf_directory(&unit, place->path);
}

void fs_inlined_call(const struct fs_inlines *inlines, uint32_t inlined,
		     struct fs_inlined_call *ret_call)
{
	Dwarf_Die die;

	*ret_call = (struct fs_inlined_call){ 0 };
	if (!dwarf_offdie(inlines->index->dwarf, inlines->items[inlined].die, &die))
		return;
	fs_dwarf_names(&die, &ret_call->name, &ret_call->linkage_name);
	read_path(&die, &ret_call->place);
	ret_call->place.line = number_of(&die, DW_AT_call_line);
	ret_call->place.column = number_of(&die, DW_AT_call_column);
}

void fs_inlines_free(struct fs_inlines *inlines)
{
	free(inlines->items);
	free(inlines->ranges.items);
	*inlines = (struct fs_inlines){ 0 };
}
