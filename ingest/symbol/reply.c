/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/symbol/reply.h"

#include <stdlib.h>

#include "common/vector.h"

/* ---- writing ---- */

void fs_reply_binary(struct fs_reply_writer *writer, enum fs_reply_arch arch, uint32_t flags)
{
	fs_reply_frame(writer, FS_REPLY_BINARY, 8);
	fs_reply_u32(writer, arch);
	fs_reply_u32(writer, flags);
}

void fs_reply_function(struct fs_reply_writer *writer, const struct fs_symbol_function *function)
{
	fs_reply_frame(writer, FS_REPLY_FUNCTION, 24);
	fs_reply_u64(writer, function->address);
	fs_reply_u64(writer, function->size);
	fs_reply_u32(writer, function->name);
	fs_reply_u32(writer, function->linkage_name);
}

void fs_reply_inlined(struct fs_reply_writer *writer, const struct fs_symbol_inlined *inlined)
{
	fs_reply_frame(writer, FS_REPLY_INLINED, 20);
	fs_reply_u32(writer, inlined->name);
	fs_reply_u32(writer, inlined->call_file);
	fs_reply_u32(writer, inlined->call_line);
	fs_reply_u32(writer, inlined->call_column);
	fs_reply_u32(writer, inlined->caller);
}

void fs_reply_code(struct fs_reply_writer *writer, uint32_t query,
		   const struct fs_symbol_result *result)
{
	fs_reply_frame(writer, FS_REPLY_CODE, 88);
	fs_reply_u32(writer, query);
	fs_reply_u32(writer, result->function);
	fs_reply_u64(writer, result->function_offset);
	fs_reply_u32(writer, result->file);
	fs_reply_u32(writer, result->line);
	fs_reply_u32(writer, result->column);
	fs_reply_u32(writer, result->inlined);
	fs_reply_u32(writer, (uint32_t)(result->op + 1));
	fs_reply_u32(writer, result->width);
	fs_reply_u32(writer, result->base_register);
	fs_reply_u32(writer, result->method);
	fs_reply_u64(writer, (uint64_t)result->displacement);
	fs_reply_u32(writer, result->type);
	fs_reply_u64(writer, (uint64_t)result->type_offset);
	fs_reply_u32(writer, result->stride);
	fs_reply_u32(writer, result->within);
	fs_reply_u32(writer, result->field);
	fs_reply_u32(writer, result->variable);
	fs_reply_u32(writer, result->type_method);
}

void fs_reply_type(struct fs_reply_writer *writer, const struct fs_symbol_type *type)
{
	fs_reply_frame(writer, FS_REPLY_TYPE, 24);
	fs_reply_u32(writer, type->name);
	fs_reply_u64(writer, type->size);
	fs_reply_u64(writer, type->alignment);
	fs_reply_u32(writer, type->kind);
}

void fs_reply_field(struct fs_reply_writer *writer, const struct fs_symbol_field *field)
{
	fs_reply_frame(writer, FS_REPLY_FIELD, 60);
	fs_reply_u32(writer, field->type);
	fs_reply_u32(writer, field->name);
	fs_reply_u32(writer, field->type_name);
	fs_reply_u32(writer, field->declared);
	fs_reply_u32(writer, field->member);
	fs_reply_u64(writer, field->offset);
	fs_reply_u64(writer, field->size);
	fs_reply_u64(writer, field->alignment);
	fs_reply_u64(writer, field->elements);
	fs_reply_u32(writer, (uint32_t)field->bit_offset << 16 | field->bit_size);
	fs_reply_u32(writer, field->base_class);
}

void fs_reply_object(struct fs_reply_writer *writer, uint32_t query,
		     const struct fs_symbol_object *object)
{
	fs_reply_frame(writer, FS_REPLY_OBJECT, 40);
	fs_reply_u32(writer, query);
	fs_reply_u32(writer, object->name);
	fs_reply_u64(writer, object->address);
	fs_reply_u64(writer, object->size);
	fs_reply_u64(writer, object->offset);
	fs_reply_u32(writer, object->type);
	fs_reply_u32(writer, object->field);
}

/* ---- reading ---- */

struct fs_symbol_result fs_symbol_result_unknown(void)
{
	return (struct fs_symbol_result){ .function = FS_SYMBOL_NONE,
					  .file = FS_SYMBOL_NONE,
					  .inlined = FS_SYMBOL_NONE,
					  .op = -1,
					  .base_register = FS_SYMBOL_NONE,
					  .type = FS_SYMBOL_NONE,
					  .field = FS_SYMBOL_NONE,
					  .variable = FS_SYMBOL_NONE };
}

static const struct fs_symbol_object no_object = { .name = FS_SYMBOL_NONE,
						   .type = FS_SYMBOL_NONE,
						   .field = FS_SYMBOL_NONE };

static void free_answers(struct fs_symbol_dso *dso)
{
	free(dso->functions);
	free(dso->inlined);
	free(dso->types);
	free(dso->fields);
	dso->functions = NULL;
	dso->inlined = NULL;
	dso->types = NULL;
	dso->fields = NULL;
	dso->function_count = dso->inlined_count = dso->type_count = dso->field_count = 0;
	dso->inlined_capacity = dso->type_capacity = dso->field_capacity = 0;
}

void fs_reply_forget(struct fs_symbol_dso *dso)
{
	for (size_t i = 0; i < dso->query_count; i++)
		dso->results[i] = fs_symbol_result_unknown();
	for (size_t i = 0; i < dso->object_query_count; i++)
		dso->objects[i] = no_object;
	free_answers(dso);
	dso->operands = false;
	dso->names = false;
	dso->arch = NULL;
}

void fs_symbol_dso_free(struct fs_symbol_dso *dso)
{
	free_answers(dso);
}

static int read_binary(struct fs_reply *reply, struct fs_reader *body)
{
#define NAME_OF(suffix, number, name) [number] = (name),
	static const char *const names[] = { FS_REPLY_ARCH_LIST(NAME_OF) };
#undef NAME_OF
	struct fs_symbol_dso *dso = reply->context;
	uint32_t arch = fs_read_u32(body);
	uint32_t flags = fs_read_u32(body);

	if (body->failed || arch >= FS_REPLY_ARCH_MAX)
		return fs_reply_malformed(reply, "the architecture");
	dso->arch = names[arch];
	dso->operands = flags & FS_REPLY_OPERANDS;
	dso->names = flags & FS_REPLY_SYMBOLS;
	dso->bad_dwarf = flags & FS_REPLY_BAD_DWARF;
	dso->split = flags & FS_REPLY_SPLIT;
	dso->lines_only = flags & FS_REPLY_LINES_ONLY;
	return 0;
}

static int read_function(struct fs_reply *reply, struct fs_reader *body)
{
	struct fs_symbol_dso *dso = reply->context;
	struct fs_symbol_function function;
	uint32_t name;
	uint32_t linkage_name;

	function.address = fs_read_u64(body);
	function.size = fs_read_u64(body);
	name = fs_read_u32(body);
	linkage_name = fs_read_u32(body);
	if (body->failed || name == FS_SYMBOL_NONE ||
	    !fs_reply_string(reply, name, &function.name) ||
	    !fs_reply_string(reply, linkage_name, &function.linkage_name) ||
	    dso->function_count >= dso->query_count)
		return fs_reply_malformed(reply, "a function");
	FS_TRY(FS_RESERVE(dso->functions, reply->capacity, dso->function_count + 1));
	dso->functions[dso->function_count++] = function;
	return 0;
}

/* The number of an inlined function that was sent before, or none. */
static bool is_inlined(const struct fs_symbol_dso *dso, uint32_t inlined)
{
	return inlined == FS_SYMBOL_NONE || inlined < dso->inlined_count;
}

/* The same, and not too deep in others. */
static bool is_caller(const struct fs_symbol_dso *dso, uint32_t inlined)
{
	if (!is_inlined(dso, inlined))
		return false;
	for (int depth = 0; inlined != FS_SYMBOL_NONE; depth++) {
		if (depth == FS_REPLY_INLINED_DEPTH_MAX)
			return false;
		inlined = dso->inlined[inlined].caller;
	}
	return true;
}

static int read_inlined(struct fs_reply *reply, struct fs_reader *body)
{
	struct fs_symbol_dso *dso = reply->context;
	struct fs_symbol_inlined inlined;
	uint32_t name = fs_read_u32(body);
	uint32_t file = fs_read_u32(body);

	inlined.call_line = fs_read_u32(body);
	inlined.call_column = fs_read_u32(body);
	inlined.caller = fs_read_u32(body);
	if (body->failed || !fs_reply_string(reply, name, &inlined.name) ||
	    !fs_reply_string(reply, file, &inlined.call_file) || inlined.call_line > INT32_MAX ||
	    inlined.call_column > INT32_MAX || !is_caller(dso, inlined.caller) ||
	    dso->inlined_count >= FS_REPLY_INLINED_MAX)
		return fs_reply_malformed(reply, "an inlined function");
	FS_TRY(FS_RESERVE(dso->inlined, dso->inlined_capacity, dso->inlined_count + 1));
	dso->inlined[dso->inlined_count++] = inlined;
	return 0;
}

/* The number of a type that was sent before, or none. */
static bool is_type(const struct fs_symbol_dso *dso, uint32_t type)
{
	return type == FS_SYMBOL_NONE || type < dso->type_count;
}

/* The second half of CODE: what is accessed. */
static bool read_access(struct fs_reply *reply, struct fs_reader *body,
			struct fs_symbol_result *result)
{
	uint32_t method;
	uint32_t field;
	uint32_t variable;

	result->type = fs_read_u32(body);
	result->type_offset = (int64_t)fs_read_u64(body);
	result->stride = fs_read_u32(body);
	result->within = fs_read_u32(body);
	field = fs_read_u32(body);
	variable = fs_read_u32(body);
	method = fs_read_u32(body);
	result->type_method = (enum fs_type_method)method;
	return is_type(reply->context, result->type) && method < FS_TYPE_METHOD_MAX &&
	       fs_reply_string(reply, field, &result->field) &&
	       fs_reply_string(reply, variable, &result->variable);
}

static int read_code(struct fs_reply *reply, struct fs_reader *body)
{
	struct fs_symbol_dso *dso = reply->context;
	struct fs_symbol_result result;
	uint32_t query = fs_read_u32(body);
	uint32_t file;
	uint32_t base_register;
	uint32_t method;
	uint32_t op;

	result.function = fs_read_u32(body);
	result.function_offset = fs_read_u64(body);
	file = fs_read_u32(body);
	result.line = fs_read_u32(body);
	result.column = fs_read_u32(body);
	result.inlined = fs_read_u32(body);
	op = fs_read_u32(body);
	result.op = (int)(op - 1);
	result.width = fs_read_u32(body);
	base_register = fs_read_u32(body);
	method = fs_read_u32(body);
	result.method = (enum fs_operand_method)method;
	result.displacement = (int64_t)fs_read_u64(body);
	if (!read_access(reply, body, &result) || body->failed || query >= dso->query_count ||
	    op > FS_OP_MAX || result.width > 4096 || result.line > INT32_MAX ||
	    result.column > INT32_MAX || !is_inlined(dso, result.inlined) ||
	    method >= FS_OPERAND_METHOD_MAX ||
	    (result.function != FS_SYMBOL_NONE && result.function >= dso->function_count) ||
	    !fs_reply_string(reply, file, &result.file) ||
	    !fs_reply_string(reply, base_register, &result.base_register))
		return fs_reply_malformed(reply, "a code address");
	dso->results[query] = result;
	return 0;
}

static int read_type(struct fs_reply *reply, struct fs_reader *body)
{
	struct fs_symbol_dso *dso = reply->context;
	struct fs_symbol_type type;
	uint32_t name = fs_read_u32(body);
	uint32_t kind;

	type.size = fs_read_u64(body);
	type.alignment = fs_read_u64(body);
	kind = fs_read_u32(body);
	type.kind = (enum fs_type_kind)kind;
	if (body->failed || name == FS_SYMBOL_NONE || !fs_reply_string(reply, name, &type.name) ||
	    kind >= FS_TYPE_KINDS || type.size > INT64_MAX || type.alignment > INT64_MAX ||
	    dso->type_count >= FS_REPLY_TYPES_MAX)
		return fs_reply_malformed(reply, "a type");
	FS_TRY(FS_RESERVE(dso->types, dso->type_capacity, dso->type_count + 1));
	dso->types[dso->type_count++] = type;
	return 0;
}

static int read_field(struct fs_reply *reply, struct fs_reader *body)
{
	struct fs_symbol_dso *dso = reply->context;
	struct fs_symbol_field field;
	uint32_t name;
	uint32_t type_name;
	uint32_t declared;
	uint32_t bits;

	field.type = fs_read_u32(body);
	name = fs_read_u32(body);
	type_name = fs_read_u32(body);
	declared = fs_read_u32(body);
	field.member = fs_read_u32(body);
	field.offset = fs_read_u64(body);
	field.size = fs_read_u64(body);
	field.alignment = fs_read_u64(body);
	field.elements = fs_read_u64(body);
	bits = fs_read_u32(body);
	field.bit_offset = (uint16_t)(bits >> 16);
	field.bit_size = (uint16_t)bits;
	field.base_class = fs_read_u32(body);
	if (body->failed || field.type >= dso->type_count ||
	    (dso->field_count && field.type < dso->fields[dso->field_count - 1].type) ||
	    !is_type(dso, field.member) || type_name == FS_SYMBOL_NONE ||
	    !fs_reply_string(reply, name, &field.name) ||
	    !fs_reply_string(reply, type_name, &field.type_name) ||
	    !fs_reply_string(reply, declared, &field.declared) || field.offset > INT64_MAX ||
	    field.size > INT64_MAX || field.elements > INT64_MAX || field.alignment > INT64_MAX ||
	    dso->field_count >= FS_REPLY_FIELDS_MAX)
		return fs_reply_malformed(reply, "a field");
	FS_TRY(FS_RESERVE(dso->fields, dso->field_capacity, dso->field_count + 1));
	dso->fields[dso->field_count++] = field;
	return 0;
}

static int read_object(struct fs_reply *reply, struct fs_reader *body)
{
	struct fs_symbol_dso *dso = reply->context;
	struct fs_symbol_object object;
	uint32_t query = fs_read_u32(body);
	uint32_t name = fs_read_u32(body);
	uint32_t field;

	object.address = fs_read_u64(body);
	object.size = fs_read_u64(body);
	object.offset = fs_read_u64(body);
	object.type = fs_read_u32(body);
	field = fs_read_u32(body);
	if (body->failed || query >= dso->object_query_count || !is_type(dso, object.type) ||
	    name == FS_SYMBOL_NONE || !fs_reply_string(reply, name, &object.name) ||
	    !fs_reply_string(reply, field, &object.field))
		return fs_reply_malformed(reply, "a variable");
	dso->objects[query] = object;
	return 0;
}

int fs_symbol_reply_read(const uint8_t *data, size_t size, struct fs_interner *strings,
			 struct fs_symbol_dso *dso, struct fs_isolation *isolation,
			 struct fs_error *error)
{
	static fs_reply_reader *const readers[] = {
		[FS_REPLY_BINARY - FS_REPLY_OWN] = read_binary,
		[FS_REPLY_FUNCTION - FS_REPLY_OWN] = read_function,
		[FS_REPLY_CODE - FS_REPLY_OWN] = read_code,
		[FS_REPLY_TYPE - FS_REPLY_OWN] = read_type,
		[FS_REPLY_FIELD - FS_REPLY_OWN] = read_field,
		[FS_REPLY_OBJECT - FS_REPLY_OWN] = read_object,
		[FS_REPLY_INLINED - FS_REPLY_OWN] = read_inlined,
	};
	int code;

	fs_reply_forget(dso);
	code = fs_reply_read(data, size, strings, readers, sizeof(readers) / sizeof(readers[0]),
			     dso, isolation, error);
	if (code == FS_NOMEM)
		fs_fail(error, FS_NOMEM, "out of memory for the names of %s", dso->path);
	if (code) {
		fs_reply_forget(dso);
		return code;
	}
	if (!dso->names && dso->symbols == FS_SYMBOLS_VERIFIED)
		dso->symbols = FS_SYMBOLS_STRIPPED;
	return 0;
}
