/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: a type is sent when it is first named, its fields once all that they refer to has
 * been sent; so a number is never used before its frame.
 */
#include "ingest/symbol/describe.h"

#include <stdlib.h>
#include <string.h>

#include "common/vector.h"
#include "ingest/symbol/declaration.h"

enum { NAME_MAX_BYTES = 512 };

void fs_descriptions_init(struct fs_descriptions *descriptions, struct fs_reply_writer *writer,
			  struct fs_data_types *types)
{
	*descriptions = (struct fs_descriptions){ .writer = writer, .types = types };
	fs_interner_init(&descriptions->texts);
	fs_table_init(&descriptions->sent, 8, 8);
}

void fs_descriptions_free(struct fs_descriptions *descriptions)
{
	fs_interner_free(&descriptions->texts);
	fs_table_free(&descriptions->sent);
	free(descriptions->pending);
}

int fs_describe_text(struct fs_descriptions *descriptions, const char *text, size_t length,
		     uint32_t *ret_id)
{
	size_t before = descriptions->texts.by_hash.count;

	if (length > FS_REPLY_TEXT_MAX)
		length = FS_REPLY_TEXT_MAX;
	FS_TRY(fs_intern(&descriptions->texts, text, length, ret_id));
	if (descriptions->texts.by_hash.count != before)
		fs_reply_text(descriptions->writer, text, length);
	return 0;
}

static int name_type(struct fs_descriptions *descriptions, uint32_t type, uint32_t *ret_id)
{
	char name[NAME_MAX_BYTES];
	size_t length = fs_data_type_name(descriptions->types, type, name, sizeof(name));

	return fs_describe_text(descriptions, name, length, ret_id);
}

/* Send a type without its fields. */
static int send_type(struct fs_descriptions *descriptions, uint32_t type, uint32_t *ret_id)
{
	const struct fs_data_type *known = fs_data_type(descriptions->types, type);
	struct fs_symbol_type sent;
	uint64_t key = type;
	uint64_t *number;
	bool added;

	*ret_id = FS_SYMBOL_NONE;
	if (!known)
		return 0;
	number = fs_table_get(&descriptions->sent, &key);
	if (number) {
		*ret_id = (uint32_t)*number;
		return 0;
	}
	if (descriptions->sent.count >= FS_REPLY_TYPES_MAX)
		return 0;
	sent.size = known->size;
	sent.alignment = known->alignment;
	sent.kind = known->kind;
	FS_TRY(name_type(descriptions, type, &sent.name));
	number = fs_table_put(&descriptions->sent, &key, NULL, &added);
	if (!number || FS_RESERVE(descriptions->pending, descriptions->pending_capacity,
				  descriptions->pending_count + 1))
		return FS_NOMEM;
	*number = descriptions->pending_count;
	*ret_id = (uint32_t)*number;
	descriptions->pending[descriptions->pending_count++] = type;
	fs_reply_type(descriptions->writer, &sent);
	return 0;
}

/* The field's type as the source writes it, where that is not its name. */
static int declare(struct fs_descriptions *descriptions, const struct fs_field *field,
		   uint32_t *ret_id)
{
	char text[NAME_MAX_BYTES];
	Dwarf_Die die = field->die;

	if (!die.addr || !fs_declaration(&die, text, sizeof(text)))
		return 0;
	return fs_describe_text(descriptions, text, strlen(text), ret_id);
}

/* Send a field of the type with number `owner`; its name may be NULL. */
static int send_field(struct fs_descriptions *descriptions, uint32_t owner,
		      const struct fs_field *field)
{
	const struct fs_data_type *type = fs_data_type(descriptions->types, field->type);
	const struct fs_data_type *element = type;
	uint32_t member = field->type;
	struct fs_symbol_field sent = {
		.type = owner,
		.name = FS_SYMBOL_NONE,
		.declared = FS_SYMBOL_NONE,
		.member = FS_SYMBOL_NONE,
		.offset = field->offset,
		.size = field->size,
		.alignment = field->alignment,
		.bit_offset = field->bit_offset,
		.bit_size = field->bit_size,
		.base_class = field->base_class,
	};

	if (descriptions->field_count >= FS_REPLY_FIELDS_MAX)
		return 0;
	descriptions->field_count++;
	if (type && type->kind == FS_TYPE_ARRAY) {
		member = type->target;
		element = fs_data_type(descriptions->types, member);
		if (element && element->size)
			sent.elements = type->size / element->size;
	}
	if (element && fs_type_has_fields(element->kind))
		FS_TRY(send_type(descriptions, member, &sent.member));
	if (field->name)
		FS_TRY(fs_describe_text(descriptions, field->name, strlen(field->name),
					&sent.name));
	FS_TRY(name_type(descriptions, field->type, &sent.type_name));
	FS_TRY(declare(descriptions, field, &sent.declared));
	fs_reply_field(descriptions->writer, &sent);
	return 0;
}

static int send_fields(struct fs_descriptions *descriptions, uint32_t type, uint32_t owner)
{
	const struct fs_data_type *known = fs_data_type(descriptions->types, type);
	struct fs_field_walk walk = { 0 };
	struct fs_field field;

	if (known->kind == FS_TYPE_ARRAY) { /* its elements are a field without a name */
		field = (struct fs_field){ .size = known->size, .type = type };
		return send_field(descriptions, owner, &field);
	}
	while (fs_field_next(descriptions->types, type, &walk, &field))
		FS_TRY(send_field(descriptions, owner, &field));
	return 0;
}

int fs_describe_type(struct fs_descriptions *descriptions, uint32_t type, uint32_t *ret_id)
{
	FS_TRY(send_type(descriptions, type, ret_id));
	while (descriptions->described < descriptions->pending_count) {
		size_t next = descriptions->described++;

		FS_TRY(send_fields(descriptions, descriptions->pending[next], (uint32_t)next));
	}
	return 0;
}

int fs_describe_path(struct fs_descriptions *descriptions, uint32_t type, uint64_t offset,
		     uint64_t width, bool element_known, uint32_t *ret_id)
{
	char path[NAME_MAX_BYTES];
	size_t length = fs_data_type_path(descriptions->types, type, offset, width, element_known,
					  path, sizeof(path));

	*ret_id = FS_SYMBOL_NONE;
	return length ? fs_describe_text(descriptions, path, length, ret_id) : 0;
}
