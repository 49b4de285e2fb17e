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

void fs_reply_code(struct fs_reply_writer *writer, uint32_t query,
		   const struct fs_symbol_result *result)
{
	fs_reply_frame(writer, FS_REPLY_CODE, 48);
	fs_reply_u32(writer, query);
	fs_reply_u32(writer, result->function);
	fs_reply_u64(writer, result->function_offset);
	fs_reply_u32(writer, result->file);
	fs_reply_u32(writer, result->line);
	fs_reply_u32(writer, (uint32_t)(result->op + 1));
	fs_reply_u32(writer, result->width);
	fs_reply_u32(writer, result->base_register);
	fs_reply_u32(writer, result->method);
	fs_reply_u64(writer, (uint64_t)result->displacement);
}

/* ---- reading ---- */

void fs_reply_forget(struct fs_symbol_dso *dso)
{
	static const struct fs_symbol_result unknown = { .function = FS_SYMBOL_NONE,
							 .file = FS_SYMBOL_NONE,
							 .op = -1,
							 .base_register = FS_SYMBOL_NONE };

	for (size_t i = 0; i < dso->query_count; i++)
		dso->results[i] = unknown;
	free(dso->functions);
	dso->functions = NULL;
	dso->function_count = 0;
	dso->operands = false;
	dso->names = false;
	dso->arch = NULL;
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
	op = fs_read_u32(body);
	result.op = (int)op - 1;
	result.width = fs_read_u32(body);
	base_register = fs_read_u32(body);
	method = fs_read_u32(body);
	result.method = (enum fs_operand_method)method;
	result.displacement = (int64_t)fs_read_u64(body);
	if (body->failed || query >= dso->query_count || op > FS_OP_MAX || result.width > 4096 ||
	    result.line > INT32_MAX || method >= FS_OPERAND_METHOD_MAX ||
	    (result.function != FS_SYMBOL_NONE && result.function >= dso->function_count) ||
	    !fs_reply_string(reply, file, &result.file) ||
	    !fs_reply_string(reply, base_register, &result.base_register))
		return fs_reply_malformed(reply, "a code address");
	dso->results[query] = result;
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
