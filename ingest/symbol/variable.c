/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: the entries of a function are walked down through its blocks and inlined calls.
 * Of a variable that is spread over registers and memory, such as a slice, the parts in registers
 * are kept.
 */
#include "ingest/symbol/variable.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/search.h"
#include "common/vector.h"
#include "ingest/symbol/step.h"

enum { DEPTH_MAX = 64, LOCALS_MAX = 1 << 18, VARIABLE_MAX = 1 << 20 };

struct reading {
	struct fs_data_types *types;
	struct fs_locals *locals;
	uint64_t low, high;
	int8_t frame_register; /* FS_NO_REGISTER: the frame base is the canonical frame address */
	bool has_frame;
};

/* The register that an operation names, FS_NO_REGISTER if it is none that we follow. */
static int8_t register_of(const Dwarf_Op *op, unsigned int first, unsigned int general)
{
	uint64_t number = op->atom == general ? op->number : op->atom - (uint64_t)first;

	return number < FS_STEP_REGISTERS ? (int8_t)number : FS_NO_REGISTER;
}

static bool is_register(uint8_t atom)
{
	return (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) || atom == DW_OP_regx;
}

static bool is_base_register(uint8_t atom)
{
	return (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) || atom == DW_OP_bregx;
}

/* Where an expression says that the variable is. False: nowhere that helps. */
static bool place_of(const struct reading *reading, const Dwarf_Op *ops, size_t count,
		     struct fs_local *local)
{
	bool is_value = count == 2 && ops[1].atom == DW_OP_stack_value;

	if (count == 1 && is_register(ops[0].atom)) {
		local->place = FS_PLACE_REGISTER;
		local->reg = register_of(&ops[0], DW_OP_reg0, DW_OP_regx);
		return local->reg != FS_NO_REGISTER;
	}
	if (is_base_register(ops[0].atom) && (count == 1 || is_value)) {
		local->place = is_value ? FS_PLACE_REGISTER : FS_PLACE_MEMORY;
		local->reg = register_of(&ops[0], DW_OP_breg0, DW_OP_bregx);
		local->offset =
			(int64_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
		return local->reg != FS_NO_REGISTER;
	}
	if (count != 1 || ops[0].atom != DW_OP_fbreg || !reading->has_frame)
		return false;
	local->offset = (int64_t)ops[0].number;
	local->reg = reading->frame_register;
	local->place = local->reg == FS_NO_REGISTER ? FS_PLACE_FRAME : FS_PLACE_MEMORY;
	return true;
}

static int add_local(struct reading *reading, const struct fs_local *local)
{
	struct fs_locals *locals = reading->locals;

	if (local->low >= local->high || locals->count >= LOCALS_MAX)
		return 0;
	FS_TRY(FS_RESERVE(locals->locals, locals->capacity, locals->count + 1));
	locals->locals[locals->count++] = *local;
	return 0;
}

/* Add the places that an expression gives, of the whole variable or piece by piece. */
static int add_places(struct reading *reading, const Dwarf_Op *ops, size_t count,
		      struct fs_local *local)
{
	size_t start = 0;
	uint64_t part = 0;

	for (size_t i = 0; i < count && part < VARIABLE_MAX; i++) {
		if (ops[i].atom != DW_OP_piece)
			continue;
		local->part = (uint32_t)part;
		local->offset = 0;
		if (i > start && place_of(reading, ops + start, i - start, local) &&
		    local->place == FS_PLACE_REGISTER)
			FS_TRY(add_local(reading, local));
		part += ops[i].number;
		start = i + 1;
	}
	if (start)
		return 0;
	local->part = 0;
	local->offset = 0;
	return count && place_of(reading, ops, count, local) ? add_local(reading, local) : 0;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

static int read_variable(struct reading *reading, Dwarf_Die *die)
{
	struct fs_local local = { .name = name_of(die) };
	Dwarf_Attribute attribute;
	Dwarf_Addr base;
	Dwarf_Addr low;
	Dwarf_Addr high;
	Dwarf_Op *ops;
	size_t count;
	ptrdiff_t at = 0;

	if (!dwarf_attr(die, DW_AT_location, &attribute))
		return 0;
	local.type = fs_data_type_of(reading->types, die);
	if (local.type == FS_NO_TYPE)
		return 0;
	while ((at = dwarf_getlocations(&attribute, at, &base, &low, &high, &ops, &count)) > 0) {
		local.low = low > reading->low ? low : reading->low;
		local.high = high < reading->high ? high : reading->high;
		FS_TRY(add_places(reading, ops, count, &local));
	}
	return 0;
}

static int read_scope(struct reading *reading, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			FS_TRY(read_variable(reading, &die));
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			FS_TRY(read_scope(reading, &die, depth + 1));
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
	return 0;
}

static void read_frame_base(struct reading *reading, Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	reading->frame_register = FS_NO_REGISTER;
	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count) || count != 1)
		return;
	if (ops[0].atom == DW_OP_call_frame_cfa) {
		reading->has_frame = true;
	} else if (is_register(ops[0].atom)) {
		reading->frame_register = register_of(&ops[0], DW_OP_reg0, DW_OP_regx);
		reading->has_frame = reading->frame_register != FS_NO_REGISTER;
	}
}

static int by_low(const void *a, const void *b)
{
	const struct fs_local *left = a;
	const struct fs_local *right = b;

	return (left->low > right->low) - (left->low < right->low);
}

int fs_locals_read(struct fs_data_types *types, Dwarf_Die *function, uint64_t low, uint64_t high,
		   struct fs_locals *ret_locals)
{
	struct fs_locals locals = { 0 };
	struct reading reading = { .types = types, .locals = &locals, .low = low, .high = high };

	read_frame_base(&reading, function);
	if (read_scope(&reading, function, 0)) {
		free(locals.locals);
		return FS_NOMEM;
	}
	if (locals.count)
		qsort(locals.locals, locals.count, sizeof(*locals.locals), by_low);
	*ret_locals = locals;
	return 0;
}

/* ---- the whole program ---- */

static int add_global(struct fs_data_types *types, Dwarf_Die *die, uint64_t address,
		      bool is_thread_local, struct fs_globals *globals)
{
	struct fs_global global = { .address = address, .name = name_of(die) };
	const struct fs_data_type *type;

	global.type = fs_data_type_of(types, die);
	type = fs_data_type(types, global.type);
	if (!type || !type->size)
		return 0;
	global.size = type->size;
	if (is_thread_local) {
		FS_TRY(FS_RESERVE(globals->thread_locals, globals->thread_local_capacity,
				  globals->thread_local_count + 1));
		globals->thread_locals[globals->thread_local_count++] = global;
		return 0;
	}
	FS_TRY(FS_RESERVE(globals->globals, globals->capacity, globals->count + 1));
	globals->globals[globals->count++] = global;
	return 0;
}

/* A variable without a location: the thread-local symbol of its name, where there is one only. */
static int place_by_symbol(struct fs_data_types *types, Dwarf_Die *die, struct fs_globals *globals)
{
	const struct fs_elf_symbols *symbols = globals->thread_symbols;
	const struct fs_elf_symbol *found = NULL;
	const char *name = dwarf_diename(die);

	for (size_t i = 0; symbols && name && i < symbols->count; i++) {
		if (strcmp(symbols->items[i].name, name) != 0)
			continue;
		if (found)
			return 0;
		found = &symbols->items[i];
	}
	return found ? add_global(types, die, found->address, true, globals) : 0;
}

static int read_global(struct fs_data_types *types, Dwarf_Die *die, struct fs_globals *globals)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_hasattr(die, DW_AT_location))
		return place_by_symbol(types, die, globals);
	if (!dwarf_attr(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count) || !count)
		return 0;
	if (count == 1 && ops[0].atom == DW_OP_addr && ops[0].number)
		return add_global(types, die, ops[0].number, false, globals);
	if (count == 1 && (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index)) {
		Dwarf_Attribute result;
		Dwarf_Addr address;

		if (dwarf_getlocation_attr(&attribute, ops, &result) ||
		    dwarf_formaddr(&result, &address) || !address)
			return 0;
		return add_global(types, die, address, false, globals);
	}
	if (count == 2 &&
	    (ops[1].atom == DW_OP_form_tls_address || ops[1].atom == DW_OP_GNU_push_tls_address))
		return add_global(types, die, ops[0].number, true, globals);
	return 0;
}

/* Static variables stand also inside functions and their blocks. */
static int read_globals_of(struct fs_data_types *types, Dwarf_Die *parent, unsigned int depth,
			   struct fs_globals *globals)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			FS_TRY(read_global(types, &die, globals));
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
			FS_TRY(read_globals_of(types, &die, depth + 1, globals));
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct fs_global *left = a;
	const struct fs_global *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->size > right->size) - (left->size < right->size);
}

int fs_globals_read(struct fs_data_types *types, struct fs_globals *globals)
{
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	size_t header;

	if (globals->read)
		return 0;
	globals->read = true;
	while (types->dwarf &&
	       !dwarf_nextcu(types->dwarf, offset, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Die unit;

		if (dwarf_offdie(types->dwarf, offset + header, &unit))
			FS_TRY(read_globals_of(types, &unit, 0, globals));
		if (next <= offset)
			break;
		offset = next;
	}
	if (globals->count)
		qsort(globals->globals, globals->count, sizeof(*globals->globals), by_address);
	if (globals->thread_local_count)
		qsort(globals->thread_locals, globals->thread_local_count,
		      sizeof(*globals->thread_locals), by_address);
	return 0;
}

void fs_globals_free(struct fs_globals *globals)
{
	free(globals->globals);
	free(globals->thread_locals);
	*globals = (struct fs_globals){ .thread_symbols = globals->thread_symbols };
}

static const struct fs_global *find(const struct fs_global *globals, size_t count, uint64_t address)
{
	size_t low = FS_FIRST_BEHIND(globals, count, address, address);

	if (!low || address - globals[low - 1].address >= globals[low - 1].size)
		return NULL;
	return &globals[low - 1];
}

const struct fs_global *fs_global_at(const struct fs_globals *globals, uint64_t address)
{
	return find(globals->globals, globals->count, address);
}

const struct fs_global *fs_thread_local_at(const struct fs_globals *globals, uint64_t offset)
{
	return find(globals->thread_locals, globals->thread_local_count, offset);
}
