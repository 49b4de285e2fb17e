/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: an entry of .debug_info becomes a number on its first use; its fields are read from
 * DWARF each time they are asked for, which is seldom, so that nothing is kept of the millions of
 * entries that no sample needs.
 *
 * A structure that a unit only declares is looked up by its name among the complete ones of all
 * units. That index is made when it is first needed.
 */
#include "ingest/symbol/data_type.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/vector.h"

enum { PEEL_MAX = 64, DEPTH_MAX = 32, FIT_STEPS_MAX = 1 << 12 };

void fs_data_types_init(struct fs_data_types *types, Dwarf *dwarf)
{
	*types = (struct fs_data_types){ .dwarf = dwarf };
	fs_table_init(&types->by_die, 8, 8);
	fs_table_init(&types->by_name, 8, 8);
}

void fs_data_types_free(struct fs_data_types *types)
{
	fs_table_free(&types->by_die);
	fs_table_free(&types->by_name);
	free(types->types);
	*types = (struct fs_data_types){ 0 };
}

static enum fs_type_kind kind_of(int tag)
{
	switch (tag) {
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
		return FS_TYPE_BASE;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return FS_TYPE_POINTER;
	case DW_TAG_structure_type:
		return FS_TYPE_STRUCT;
	case DW_TAG_union_type:
		return FS_TYPE_UNION;
	case DW_TAG_class_type:
		return FS_TYPE_CLASS;
	case DW_TAG_array_type:
		return FS_TYPE_ARRAY;
	default:
		return FS_TYPE_OTHER;
	}
}

static bool follow(Dwarf_Die *die, Dwarf_Die *ret_die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, ret_die);
}

/* Look through typedefs and qualifiers. */
static bool peel(Dwarf_Die *die, const char **ret_synonym)
{
	*ret_synonym = NULL;
	for (int i = 0; i < PEEL_MAX; i++) {
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
			*ret_synonym = dwarf_diename(die);
			break;
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
		case DW_TAG_immutable_type:
			break;
		default:
			return true;
		}
		if (!follow(die, die))
			return false;
	}
	return false;
}

static bool is_declaration(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	bool declared = false;

	return dwarf_attr(die, DW_AT_declaration, &attribute) &&
	       !dwarf_formflag(&attribute, &declared) && declared;
}

static uint64_t name_hash(int tag, const char *name)
{
	return fs_hash(name, strlen(name), tag == DW_TAG_union_type);
}

/* Remember the complete structures of one level of a unit, and of its namespaces. */
static int name_level(struct fs_data_types *types, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		int tag = dwarf_tag(&die);
		const char *name;
		Dwarf_Off *offset;
		uint64_t hash;
		bool added;

		if (tag == DW_TAG_namespace)
			FS_TRY(name_level(types, &die, depth + 1));
		if (!fs_type_has_fields(kind_of(tag)) || is_declaration(&die))
			continue;
		name = dwarf_diename(&die);
		if (!name)
			continue;
		hash = name_hash(tag, name);
		offset = fs_table_put(&types->by_name, &hash, NULL, &added);
		if (!offset)
			return FS_NOMEM;
		if (added)
			*offset = dwarf_dieoffset(&die) + 1;
	} while (!dwarf_siblingof(&die, &die));
	return 0;
}

static int name_all(struct fs_data_types *types)
{
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	size_t header;

	types->named = true;
	while (!dwarf_nextcu(types->dwarf, offset, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Die die;

		if (dwarf_offdie(types->dwarf, offset + header, &die))
			FS_TRY(name_level(types, &die, 0));
		if (next <= offset)
			break;
		offset = next;
	}
	return 0;
}

/* Exchange a declaration for the definition of that name, where there is one. */
static void complete(struct fs_data_types *types, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	const Dwarf_Off *offset;
	Dwarf_Die found;
	uint64_t hash;

	if (!name || (!types->named && name_all(types)))
		return;
	hash = name_hash(dwarf_tag(die), name);
	offset = fs_table_get(&types->by_name, &hash);
	if (offset && *offset && dwarf_offdie(types->dwarf, *offset - 1, &found) &&
	    dwarf_diename(&found) && !strcmp(dwarf_diename(&found), name))
		*die = found;
}

static bool unsigned_of(Dwarf_Die *die, unsigned int name, uint64_t *ret_value)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value))
		return false;
	*ret_value = value;
	return true;
}

uint32_t fs_data_type_intern(struct fs_data_types *types, Dwarf_Die *die, const char *synonym)
{
	uint64_t key;
	uint64_t *number;
	struct fs_data_type *type;
	Dwarf_Word size = 0;
	bool added;

	if (fs_type_has_fields(kind_of(dwarf_tag(die))) && is_declaration(die))
		complete(types, die);
	key = (uint64_t)(uintptr_t)die->addr;
	number = fs_table_put(&types->by_die, &key, NULL, &added);
	if (!number)
		return FS_NO_TYPE;
	if (!added)
		return (uint32_t)*number;
	if (FS_RESERVE(types->types, types->capacity, types->count + 1)) {
		*number = FS_NO_TYPE;
		return FS_NO_TYPE;
	}
	*number = types->count++;
	type = &types->types[*number];
	*type = (struct fs_data_type){ .die = *die,
				       .kind = kind_of(dwarf_tag(die)),
				       .complete = !is_declaration(die),
				       .target = FS_NO_TYPE,
				       /* functions are pointed to with and without a typedef */
				       .synonym = dwarf_tag(die) == DW_TAG_subroutine_type
							  ? NULL
							  : synonym };
	if (!dwarf_aggregate_size(die, &size))
		type->size = size;
	unsigned_of(die, DW_AT_alignment, &type->alignment);
	if (type->kind == FS_TYPE_POINTER || type->kind == FS_TYPE_ARRAY) {
		uint32_t self = (uint32_t)*number;
		/* an array's target is its innermost element, however many dimensions it has */
		uint32_t target = fs_data_type_of(types, die);

		types->types[self].target = target; /* interning may have moved the array */
		return self;
	}
	return (uint32_t)*number;
}

/* The first child of an entry with a tag, and what that is of, looked through. */
static bool typed_child(Dwarf_Die *parent, int tag, Dwarf_Die *ret_type)
{
	const char *ignored;
	Dwarf_Die die;
	bool found = !dwarf_child(parent, &die);

	while (found && dwarf_tag(&die) != tag)
		found = !dwarf_siblingof(&die, &die);
	return found && follow(&die, ret_type) && peel(ret_type, &ignored);
}

/*
 * A class template that keeps nothing but bytes for an object of its parameter's type, such as
 * __aligned_buffer<T> of libstdc++ in shared pointers, lists, sets and maps: that type.
 */
static bool stored_object(Dwarf_Die *die, Dwarf_Die *ret_object)
{
	Dwarf_Word size;
	Dwarf_Word object_size;
	Dwarf_Word array_size;
	Dwarf_Die inner = *die;
	Dwarf_Die element;

	if (!typed_child(die, DW_TAG_template_type_parameter, ret_object) ||
	    dwarf_aggregate_size(die, &size) || dwarf_aggregate_size(ret_object, &object_size) ||
	    size != object_size)
		return false;
	for (int depth = 0; fs_type_has_fields(kind_of(dwarf_tag(&inner))); depth++) {
		Dwarf_Die outer = inner;

		if (depth > DEPTH_MAX || (!typed_child(&outer, DW_TAG_member, &inner) &&
					  !typed_child(&outer, DW_TAG_inheritance, &inner)))
			return false;
	}
	return dwarf_tag(&inner) == DW_TAG_array_type && follow(&inner, &element) &&
	       dwarf_bytesize(&element) == 1 && !dwarf_aggregate_size(&inner, &array_size) &&
	       array_size == size;
}

uint32_t fs_data_type_of(struct fs_data_types *types, Dwarf_Die *die)
{
	const char *synonym;
	Dwarf_Die target;
	Dwarf_Die object;

	if (!follow(die, &target) || !peel(&target, &synonym))
		return FS_NO_TYPE;
	if (fs_type_has_fields(kind_of(dwarf_tag(&target))) && stored_object(&target, &object))
		return fs_data_type_intern(types, &object, NULL);
	return fs_data_type_intern(types, &target, synonym);
}

/* DW_AT_data_member_location: a number, or in old DWARF { DW_OP_plus_uconst number }. */
static uint64_t location_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *operations;
	size_t count;
	uint64_t value;

	if (unsigned_of(die, DW_AT_data_member_location, &value))
		return value;
	if (dwarf_attr(die, DW_AT_data_member_location, &attribute) &&
	    !dwarf_getlocation(&attribute, &operations, &count) && count == 1 &&
	    operations[0].atom == DW_OP_plus_uconst)
		return operations[0].number;
	return 0;
}

/* Bits from the start of the structure, from either way of telling them (little-endian). */
static void read_bits(Dwarf_Die *die, struct fs_field *field)
{
	uint64_t size;
	uint64_t at;
	uint64_t storage;

	if (!unsigned_of(die, DW_AT_bit_size, &size) || size > UINT16_MAX)
		return;
	if (!unsigned_of(die, DW_AT_data_bit_offset, &at)) {
		if (!unsigned_of(die, DW_AT_byte_size, &storage))
			storage = field->size;
		if (!unsigned_of(die, DW_AT_bit_offset, &at)) /* DWARF 3: from the other end */
			at = storage * 8 - size;
		at = field->offset * 8 + storage * 8 - at - size;
	}
	field->offset = at / 8;
	field->bit_offset = (uint16_t)(at % 8);
	field->bit_size = (uint16_t)size;
	field->size = (field->bit_offset + size + 7) / 8;
}

static void read_field(struct fs_data_types *types, Dwarf_Die *die, struct fs_field *field)
{
	const struct fs_data_type *type;

	*field = (struct fs_field){ .die = *die,
				    .name = dwarf_diename(die),
				    .offset = location_of(die),
				    .type = fs_data_type_of(types, die),
				    .base_class = dwarf_tag(die) == DW_TAG_inheritance };
	type = fs_data_type(types, field->type);
	field->size = type ? type->size : 0;
	unsigned_of(die, DW_AT_alignment, &field->alignment);
	read_bits(die, field);
}

/*
 * Step to the next entry among a structure's members. Rust's enumerations keep theirs one and two
 * levels down, in variants; they overlap as a union's do.
 */
static bool next_member(const struct fs_data_type *type, struct fs_field_walk *state)
{
	Dwarf_Die parent = type->die;
	int tag = state->started ? dwarf_tag(&state->die) : DW_TAG_invalid;
	bool down = !state->started || tag == DW_TAG_variant_part || tag == DW_TAG_variant;

	if (down && state->started) {
		if (state->depth == FS_VARIANT_DEPTH)
			return false;
		parent = state->outer[state->depth++] = state->die;
	}
	state->started = true;
	if (down ? !dwarf_child(&parent, &state->die) : !dwarf_siblingof(&state->die, &state->die))
		return true;
	while (state->depth) {
		state->die = state->outer[--state->depth];
		if (!dwarf_siblingof(&state->die, &state->die))
			return true;
	}
	return false;
}

bool fs_field_next(struct fs_data_types *types, uint32_t structure, struct fs_field_walk *state,
		   struct fs_field *ret_field)
{
	const struct fs_data_type *type = fs_data_type(types, structure);

	if (!type || !fs_type_has_fields(type->kind))
		return false;
	while (!state->ended) {
		int tag;

		if (!next_member(type, state)) {
			state->ended = true;
			return false;
		}
		tag = dwarf_tag(&state->die);
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&state->die, DW_AT_external) || is_declaration(&state->die))
			continue;
		read_field(types, &state->die, ret_field);
		ret_field->variant = state->depth != 0;
		return true;
	}
	return false;
}

/* How well a field fits an access, best last. */
enum fit {
	FIT_NONE,
	FIT_FLEXIBLE, /* an array without an end that begins before it */
	FIT_EMPTY,    /* an empty class, which has room only in name */
	FIT_PART,     /* some of the access */
	FIT_WHOLE,    /* all of it, and more */
	FIT_SAME,     /* as many bytes, of a structure or of something without a name */
	FIT_EXACT,    /* a number or pointer in it begins there and is as wide */
};

static bool is_empty(struct fs_data_types *types, uint32_t type)
{
	const struct fs_data_type *known = fs_data_type(types, type);
	struct fs_field_walk walk = { 0 };
	struct fs_field field;

	return known && fs_type_has_fields(known->kind) &&
	       !fs_field_next(types, type, &walk, &field);
}

/* One search for the field that an access is to. */
struct fitting {
	struct fs_data_types *types;
	uint64_t width;
	unsigned int steps; /* left: types may be nested so that all of them are too many */
};

static enum fit fit_of(struct fitting *fitting, const struct fs_field *field, uint64_t offset,
		       int depth);

static enum fit best_fit(struct fitting *fitting, uint32_t structure, uint64_t offset, int depth,
			 struct fs_field *ret_field)
{
	struct fs_field_walk walk = { 0 };
	enum fit best = FIT_NONE;
	struct fs_field field;

	while (fs_field_next(fitting->types, structure, &walk, &field)) {
		enum fit fit = fit_of(fitting, &field, offset, depth);

		if (fit <= best)
			continue;
		best = fit;
		*ret_field = field;
		if (fit == FIT_EXACT)
			break;
	}
	return best;
}

/* Whether what a field holds has a number or pointer just where the access is. */
static bool is_exact(struct fitting *fitting, const struct fs_field *field, uint64_t offset,
		     int depth)
{
	const struct fs_data_type *type = fs_data_type(fitting->types, field->type);
	uint32_t number = field->type;
	struct fs_field ignored;

	while (type && type->kind == FS_TYPE_ARRAY) {
		const struct fs_data_type *element = fs_data_type(fitting->types, type->target);

		if (!element || !element->size)
			return false;
		number = type->target;
		offset %= element->size;
		type = element;
	}
	if (!type || !fs_type_has_fields(type->kind))
		return !offset && field->name &&
		       (type ? type->size : field->size) == fitting->width;
	return best_fit(fitting, number, offset, depth + 1, &ignored) == FIT_EXACT;
}

static enum fit fit_of(struct fitting *fitting, const struct fs_field *field, uint64_t offset,
		       int depth)
{
	uint64_t at = offset - field->offset;

	if (offset < field->offset)
		return FIT_NONE;
	if (!field->size)
		return FIT_FLEXIBLE;
	if (at >= field->size)
		return FIT_NONE;
	if (is_empty(fitting->types, field->type))
		return FIT_EMPTY;
	if (fitting->width > field->size - at)
		return FIT_PART;
	if (fitting->width && depth < DEPTH_MAX && fitting->steps) {
		fitting->steps--;
		if (is_exact(fitting, field, at, depth))
			return FIT_EXACT;
	}
	return fitting->width == field->size ? FIT_SAME : FIT_WHOLE;
}

bool fs_data_type_field(struct fs_data_types *types, uint32_t structure, uint64_t offset,
			uint64_t width, struct fs_field *ret_field)
{
	struct fitting fitting = { .types = types, .width = width, .steps = FIT_STEPS_MAX };

	return best_fit(&fitting, structure, offset, 0, ret_field) != FIT_NONE;
}

uint32_t fs_data_type_at(struct fs_data_types *types, uint32_t type, uint64_t offset,
			 uint64_t width, uint64_t *ret_offset)
{
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		const struct fs_data_type *known = fs_data_type(types, type);
		struct fs_field field;

		if (!known)
			break;
		if (known->kind == FS_TYPE_ARRAY) {
			const struct fs_data_type *element = fs_data_type(types, known->target);

			if (!element || !element->size)
				break;
			offset %= element->size;
			type = known->target;
			continue;
		}
		if (!fs_type_has_fields(known->kind) ||
		    !fs_data_type_field(types, type, offset, width, &field) ||
		    field.type == FS_NO_TYPE)
			break;
		offset -= field.offset;
		type = field.type;
	}
	*ret_offset = offset;
	return type;
}

/* ---- names ---- */

/* A text that is cut where its room ends. */
struct text {
	char *start;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->start + text->used, text->size - text->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		text->used += (size_t)length;
	if (text->used >= text->size)
		text->used = text->size - 1;
}

/* Elements in all dimensions of an array; 0: not told (a flexible one). */
static uint64_t elements_of(const struct fs_data_types *types, const struct fs_data_type *array)
{
	const struct fs_data_type *element = fs_data_type(types, array->target);

	return element && element->size ? array->size / element->size : 0;
}

static void put_type(const struct fs_data_types *types, uint32_t number, int depth,
		     struct text *text)
{
	const struct fs_data_type *type = fs_data_type(types, number);
	Dwarf_Die die;
	const char *name;
	const char *keyword = "";

	if (!type || depth > DEPTH_MAX) {
		put(text, "void");
		return;
	}
	die = type->die;
	name = dwarf_diename(&die);
	switch (type->kind) {
	case FS_TYPE_POINTER:
		put_type(types, type->target, depth + 1, text);
		put(text, dwarf_tag(&die) == DW_TAG_pointer_type ? " *" : " &");
		return;
	case FS_TYPE_ARRAY:
		put_type(types, type->target, depth + 1, text);
		put(text, "[%" PRIu64 "]", elements_of(types, type));
		return;
	case FS_TYPE_STRUCT:
		keyword = "struct ";
		break;
	case FS_TYPE_UNION:
		keyword = "union ";
		break;
	case FS_TYPE_CLASS:
		keyword = "class ";
		break;
	default:
		break;
	}
	if (!name && type->synonym)
		put(text, "%s", type->synonym);
	else if (dwarf_tag(&die) == DW_TAG_subroutine_type)
		put(text, "function");
	else
		put(text, "%s%s", keyword, name ? name : "(anonymous)");
}

size_t fs_data_type_name(const struct fs_data_types *types, uint32_t type, char *text, size_t size)
{
	struct text out = { .start = text, .size = size };

	*text = '\0';
	put_type(types, type, 0, &out);
	return out.used;
}

size_t fs_data_type_path(struct fs_data_types *types, uint32_t type, uint64_t offset,
			 uint64_t width, bool element_known, char *text, size_t size)
{
	struct text out = { .start = text, .size = size };

	*text = '\0';
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		const struct fs_data_type *known = fs_data_type(types, type);
		const struct fs_data_type *element;
		struct fs_field field;

		if (!known)
			break;
		if (known->kind == FS_TYPE_ARRAY) {
			element = fs_data_type(types, known->target);
			if (!element || !element->size)
				break;
			if (element_known)
				put(&out, "[%" PRIu64 "]", offset / element->size);
			else
				put(&out, "[]");
			offset %= element->size;
			type = known->target;
			continue;
		}
		if (!fs_type_has_fields(known->kind) ||
		    !fs_data_type_field(types, type, offset, width, &field))
			break;
		if (field.name && !field.base_class)
			put(&out, "%s%s", out.used ? "." : "", field.name);
		if (field.type == FS_NO_TYPE)
			break;
		offset -= field.offset;
		type = field.type;
	}
	return out.used;
}
