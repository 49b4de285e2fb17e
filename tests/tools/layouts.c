/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * layouts PROGRAM: every complete structure with a name in the program's debug information, as
 * ingest/symbol/data_type.h has it.
 *
 *   struct NAME SIZE
 *   BIT BITS NAME          a direct field: its first bit, its bits, its name, - without one,
 *                          <base> for what a class inherits
 */
#include <dwarf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "ingest/symbol/data_type.h"

static void print_type(struct fs_data_types *types, uint32_t number)
{
	const struct fs_data_type *type = fs_data_type(types, number);
	struct fs_field_walk walk = { 0 };
	struct fs_field field;
	Dwarf_Die die = type->die;

	printf("%s %s %" PRIu64 "\n", type->kind == FS_TYPE_UNION ? "union" : "struct",
	       dwarf_diename(&die), type->size);
	while (fs_field_next(types, number, &walk, &field))
		printf("%" PRIu64 " %" PRIu64 " %s\n", field.offset * 8 + field.bit_offset,
		       field.bit_size ? (uint64_t)field.bit_size : field.size * 8,
		       field.base_class ? "<base>"
		       : field.name	? field.name
					: "-");
}

static void print_level(struct fs_data_types *types, Dwarf_Die *parent)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);
		uint32_t number;

		if (tag == DW_TAG_namespace)
			print_level(types, &die);
		if ((tag != DW_TAG_structure_type && tag != DW_TAG_union_type &&
		     tag != DW_TAG_class_type) ||
		    !dwarf_diename(&die) || dwarf_hasattr(&die, DW_AT_declaration))
			continue;
		number = fs_data_type_intern(types, &die, NULL);
		if (number != FS_NO_TYPE)
			print_type(types, number);
	} while (!dwarf_siblingof(&die, &die));
}

int main(int argc, char **argv)
{
	struct fs_data_types types;
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	size_t header;
	Dwarf *dwarf;
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	if (!dwarf) {
		fprintf(stderr, "usage: layouts PROGRAM, one with debug information\n");
		return 1;
	}
	fs_data_types_init(&types, dwarf);
	while (!dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, offset + header, &unit))
			print_level(&types, &unit);
		offset = next;
	}
	fs_data_types_free(&types);
	dwarf_end(dwarf);
	return 0;
}
