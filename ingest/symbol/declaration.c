/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: C writes a type around the name that it declares. So two texts grow from the
 * inside out, what stands before the name and what stands behind it, until a type with a name ends
 * the way. Entries and attributes are those of the DWARF 5 standard, chapter 5.
 */
#include "ingest/symbol/declaration.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STEPS_MAX = 64, PARAMETER_DEPTH_MAX = 4, HALF_MAX_BYTES = 512 };

struct declarator {
	char before[HALF_MAX_BYTES], behind[HALF_MAX_BYTES];
	char qualifiers[64]; /* of the type that comes next */
	bool pointer;	     /* what was met last: arrays and functions need parentheses then */
	bool too_long;
};

static bool write_type(Dwarf_Die *entry, int depth, char *text, size_t size);

/* Put a text in front of what stands before the name, or behind what stands behind it. */
static void add(struct declarator *declarator, bool in_front, const char *added)
{
	char *half = in_front ? declarator->before : declarator->behind;
	size_t length = strlen(half);
	size_t more = strlen(added);

	if (length + more >= HALF_MAX_BYTES) {
		declarator->too_long = true;
		return;
	}
	memmove(in_front ? half + more : half, half, length + 1);
	memcpy(in_front ? half : half + length, added, in_front ? more : more + 1);
}

static const char *qualifier_of(int tag)
{
	switch (tag) {
	case DW_TAG_const_type:
		return "const ";
	case DW_TAG_volatile_type:
		return "volatile ";
	case DW_TAG_restrict_type:
		return "restrict ";
	case DW_TAG_atomic_type:
		return "_Atomic ";
	default:
		return NULL;
	}
}

/* "struct pool", "int", "point"; NULL: pointers, arrays and functions are no end. */
static const char *keyword_of(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_class_type:
		return "class ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
		return NULL;
	default:
		return "";
	}
}

/* The type of an entry without one is void. */
static bool target_of(Dwarf_Die *entry, Dwarf_Die *ret_target)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(entry, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, ret_target);
}

static void add_dimensions(struct declarator *declarator, Dwarf_Die *array)
{
	Dwarf_Die range;
	int ended = dwarf_child(array, &range);

	for (; !ended; ended = dwarf_siblingof(&range, &range)) {
		Dwarf_Attribute attribute;
		Dwarf_Word value;
		char text[32] = "[]";

		if (dwarf_tag(&range) != DW_TAG_subrange_type)
			continue;
		if (dwarf_attr(&range, DW_AT_count, &attribute) &&
		    !dwarf_formudata(&attribute, &value))
			snprintf(text, sizeof(text), "[%" PRIu64 "]", (uint64_t)value);
		else if (dwarf_attr(&range, DW_AT_upper_bound, &attribute) &&
			 !dwarf_formudata(&attribute, &value) && value != UINT64_MAX)
			snprintf(text, sizeof(text), "[%" PRIu64 "]", (uint64_t)value + 1);
		add(declarator, false, text);
	}
}

static void add_parameters(struct declarator *declarator, Dwarf_Die *function, int depth)
{
	const char *separator = "(";
	Dwarf_Die die;
	int ended = dwarf_child(function, &die);

	for (; !ended; ended = dwarf_siblingof(&die, &die)) {
		char text[HALF_MAX_BYTES];

		if (dwarf_tag(&die) == DW_TAG_unspecified_parameters)
			snprintf(text, sizeof(text), "...");
		else if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		else if (depth >= PARAMETER_DEPTH_MAX ||
			 !write_type(&die, depth + 1, text, sizeof(text)))
			declarator->too_long = true;
		if (declarator->too_long)
			return;
		add(declarator, false, separator);
		add(declarator, false, text);
		separator = ", ";
	}
	add(declarator, false, *separator == '(' ? "(void)" : ")");
}

static void add_pointer(struct declarator *declarator, int tag)
{
	size_t length = strlen(declarator->qualifiers);

	/* "* const" of the pointer itself; the last one's blank parts it from the name */
	if (length && !*declarator->before)
		declarator->qualifiers[length - 1] = '\0';
	add(declarator, true, declarator->qualifiers);
	add(declarator, true,
	    tag == DW_TAG_pointer_type	   ? "*"
	    : tag == DW_TAG_reference_type ? "&"
					   : "&&");
	declarator->qualifiers[0] = '\0';
	declarator->pointer = true;
}

/* One step towards the named type. */
static void step(struct declarator *declarator, Dwarf_Die *die, int depth)
{
	int tag = dwarf_tag(die);
	const char *qualifier = qualifier_of(tag);
	size_t length = strlen(declarator->qualifiers);

	if (qualifier) {
		if (!strstr(declarator->qualifiers, qualifier))
			snprintf(declarator->qualifiers + length,
				 sizeof(declarator->qualifiers) - length, "%s", qualifier);
		return;
	}
	if (tag != DW_TAG_array_type && tag != DW_TAG_subroutine_type) {
		add_pointer(declarator, tag);
		return;
	}
	if (declarator->pointer) {
		add(declarator, true, "(");
		add(declarator, false, ")");
		declarator->pointer = false;
	}
	if (tag == DW_TAG_array_type)
		add_dimensions(declarator, die);
	else
		add_parameters(declarator, die, depth);
}

static bool write_type(Dwarf_Die *entry, int depth, char *text, size_t size)
{
	struct declarator declarator = { 0 };
	const char *name = "void";
	const char *keyword = "";
	Dwarf_Die die;
	bool has_type = target_of(entry, &die);
	int length;

	for (int i = 0; has_type; i++) {
		int tag = dwarf_tag(&die);

		if (i == STEPS_MAX)
			return false;
		if (!qualifier_of(tag) && keyword_of(tag)) {
			keyword = keyword_of(tag);
			name = dwarf_diename(&die) ? dwarf_diename(&die) : "(anonymous)";
			break;
		}
		step(&declarator, &die, depth);
		has_type = target_of(&die, &die);
	}
	length = snprintf(text, size, "%s%s%s%s%s%s", declarator.qualifiers, keyword, name,
			  *declarator.before ? " " : "", declarator.before, declarator.behind);
	return !declarator.too_long && length >= 0 && (size_t)length < size;
}

bool fs_declaration(Dwarf_Die *entry, char *text, size_t size)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(entry, DW_AT_type, &attribute) &&
	       write_type(entry, 0, text, size);
}
