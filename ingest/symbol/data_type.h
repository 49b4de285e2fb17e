/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types of data as DWARF has them: what a pointer points to, which field lies at an offset, which
 * variables a function keeps where. Runs in the helper.
 *
 * A type is a number of an entry that is interned by its place in the file, so that types compare
 * by number. Typedefs, const, volatile, restrict and atomic are looked through; the last typedef
 * gives a structure without a name its name. Definitions follow the DWARF 5 standard, chapter 5.
 */
#ifndef FS_INGEST_SYMBOL_DATA_TYPE_H
#define FS_INGEST_SYMBOL_DATA_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h"
#include "ingest/symbol/symbol.h"

/* No type, or one that is not known. */
#define FS_NO_TYPE UINT32_MAX

struct fs_data_type {
	Dwarf_Die die;
	enum fs_type_kind kind;
	bool complete;	     /* not only declared */
	uint64_t size;	     /* bytes; 0: not known */
	uint64_t alignment;  /* that the source asks for, DW_AT_alignment; 0: none */
	uint32_t target;     /* POINTER: pointed to; ARRAY: its element */
	const char *synonym; /* the typedef it was first reached by; NULL: none */
};

/* The types met so far, and what is needed to find more. */
struct fs_data_types {
	struct fs_table by_die; /* address of the entry -> number of the type */
	struct fs_data_type *types;
	size_t count, capacity;
	struct fs_table by_name; /* of structures: hash of the name -> complete definition + 1 */
	bool named;
	Dwarf *dwarf;
};

struct fs_field {
	const char *name; /* NULL: a member without one */
	uint64_t offset;  /* bytes from the start of its type */
	uint64_t size;
	uint64_t alignment; /* that the source asks for; 0: none */
	uint32_t type;
	Dwarf_Die die;		       /* its entry; addr NULL: the elements of an array */
	uint16_t bit_offset, bit_size; /* within `offset`; 0 and 0: no bit-field */
	bool base_class;
	bool variant; /* of one of several shapes, such as a Rust enumeration has */
};

void fs_data_types_init(struct fs_data_types *types, Dwarf *dwarf);
void fs_data_types_free(struct fs_data_types *types);

/* The type that an entry is, reached by a typedef or NULL. FS_NO_TYPE when out of memory. */
uint32_t fs_data_type_intern(struct fs_data_types *types, Dwarf_Die *die, const char *synonym);

/* The type that the DW_AT_type of an entry names. FS_NO_TYPE for void, or out of memory. */
uint32_t fs_data_type_of(struct fs_data_types *types, Dwarf_Die *die);

static inline const struct fs_data_type *fs_data_type(const struct fs_data_types *types,
						      uint32_t number)
{
	return number < types->count ? &types->types[number] : NULL;
}

static inline bool fs_type_has_fields(enum fs_type_kind kind)
{
	return kind == FS_TYPE_STRUCT || kind == FS_TYPE_UNION || kind == FS_TYPE_CLASS;
}

/*
 * Step through the fields of a structure in the order of the file. *state starts as zeros.
 * Static members are left out.
 */
enum { FS_VARIANT_DEPTH = 2 }; /* DW_TAG_variant_part, DW_TAG_variant */
struct fs_field_walk {
	Dwarf_Die die;
	Dwarf_Die outer[FS_VARIANT_DEPTH];
	unsigned int depth;
	bool started, ended;
};
bool fs_field_next(struct fs_data_types *types, uint32_t structure, struct fs_field_walk *state,
		   struct fs_field *ret_field);

/*
 * The field of a structure that holds a byte; of several (a union's, or empty base classes beside
 * others) the first in which a number or pointer is just what an access of `width` bytes reads,
 * else the first as wide, else the first that holds it all. Width 0: not known. A flexible array
 * holds all behind its start.
 */
bool fs_data_type_field(struct fs_data_types *types, uint32_t structure, uint64_t offset,
			uint64_t width, struct fs_field *ret_field);

/*
 * Go down from `type` to the innermost thing that holds the byte at `offset`, by fields and array
 * elements. *ret_offset is what remains. Of a union's members the first that fits `width` bytes
 * is taken.
 */
uint32_t fs_data_type_at(struct fs_data_types *types, uint32_t type, uint64_t offset,
			 uint64_t width, uint64_t *ret_offset);

/*
 * Write a type's name as C has it, such as "struct pool", "int *" or "char[16]". The text is cut at
 * `size`; the length written is returned.
 */
size_t fs_data_type_name(const struct fs_data_types *types, uint32_t type, char *text, size_t size);

/*
 * Write how the byte at `offset` of a type is named, such as "free.head" or "slots[].count"; with
 * `element_known`, elements have their numbers. "" where it has no name.
 */
size_t fs_data_type_path(struct fs_data_types *types, uint32_t type, uint64_t offset,
			 uint64_t width, bool element_known, char *text, size_t size);

#endif
