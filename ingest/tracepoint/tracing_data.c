/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: the sizes are walked by the bounds-checked reader; libtraceevent sees one format at
 * a time, and of that only the part before "print fmt:", for a table of fields needs no more. The
 * helper sends its table as frames of helper/reply.h:
 *
 * EVENT    u32 id, u32 system, u32 name
 * FIELD    u32 name, u32 type, u32 offset, u32 size, u32 element size, u32 flags: of the last event
 * SUMMARY  u32 bad formats, u32 cut
 */
#include "ingest/tracepoint/tracing_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

enum {
	FORMAT_MAX = 1 << 15, /* bytes before "print fmt:"; the kernel's longest have 5 KiB */
	NAME_MAX_BYTES = 256,
	FIELDS_MAX = 1024, /* of one tracepoint */
	RAW_MAX = 1 << 16,
	TIMEOUT_MS = 5000,
	REPLY_EVENT = FS_REPLY_OWN,
	REPLY_FIELD,
	REPLY_SUMMARY,
};

/* ---- parsing ---- */

struct parsing {
	struct fs_reader reader;
	struct tep_handle *tep;
	uint32_t long_size;
	bool has_cmdlines; /* version 0.6 */
	struct fs_tracepoints *tracepoints;
};

/* A string up to its NUL; NULL: there is no NUL within the next bytes. */
static const char *read_string(struct fs_reader *reader)
{
	size_t left = fs_reader_left(reader);
	const uint8_t *text = reader->data + reader->offset;
	const uint8_t *end =
		left ? memchr(text, '\0', left < NAME_MAX_BYTES ? left : NAME_MAX_BYTES) : NULL;

	if (!end) {
		reader->failed = true;
		return NULL;
	}
	return (const char *)fs_read_bytes(reader, (size_t)(end - text) + 1);
}

/* Bytes whose u64 size stands before them. */
static const uint8_t *read_sized(struct fs_reader *reader, size_t *ret_size)
{
	uint64_t size = fs_read_u64(reader);

	if (size > fs_reader_left(reader)) {
		reader->failed = true;
		return NULL;
	}
	*ret_size = (size_t)size;
	return fs_read_bytes(reader, (size_t)size);
}

static void skip_sized(struct fs_reader *reader)
{
	size_t size;

	read_sized(reader, &size);
}

/* | name NUL | u64 size | bytes | */
static void skip_named(struct fs_reader *reader, const char *name)
{
	const char *found = read_string(reader);

	if (!found || strcmp(found, name) != 0)
		reader->failed = true;
	skip_sized(reader);
}

static bool read_header(struct parsing *parsing)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	struct fs_reader *reader = &parsing->reader;
	const uint8_t *bytes = fs_read_bytes(reader, sizeof(magic));
	const char *version;

	if (!bytes || memcmp(bytes, magic, sizeof(magic)) != 0)
		return false;
	version = read_string(reader);
	parsing->has_cmdlines = version && strtod(version, NULL) >= 0.6;
	reader->swap = fs_read_u8(reader);
	parsing->long_size = fs_read_u8(reader);
	fs_read_u32(reader); /* page size */
	return !reader->failed && (parsing->long_size == 4 || parsing->long_size == 8);
}

/* libtraceevent takes every array of bytes for a string; addresses and keys are none. */
static bool is_text(const struct tep_format_field *field)
{
	return field->flags & TEP_FIELD_IS_STRING && strstr(field->type, "char") &&
	       !strstr(field->type, "unsigned");
}

/* What libtraceevent says of a field in our words; false: it is impossible. */
static bool take_field(struct parsing *parsing, const struct tep_format_field *from, bool common,
		       struct fs_tracepoint_field *ret_field)
{
	struct fs_interner *strings = &parsing->tracepoints->strings;
	uint32_t element = from->elementsize;
	uint32_t flags = (common ? FS_FIELD_COMMON : 0u) |
			 (from->flags & TEP_FIELD_IS_SIGNED ? FS_FIELD_SIGNED : 0u) |
			 (is_text(from) ? FS_FIELD_STRING : 0u) |
			 (from->flags & TEP_FIELD_IS_ARRAY ? FS_FIELD_ARRAY : 0u) |
			 (from->flags & TEP_FIELD_IS_DYNAMIC ? FS_FIELD_DYNAMIC : 0u) |
			 (from->flags & TEP_FIELD_IS_RELATIVE ? FS_FIELD_RELATIVE : 0u);

	if (from->offset < 0 || from->offset > RAW_MAX || from->size < 0 || from->size > RAW_MAX ||
	    !from->name || !from->type || strlen(from->name) > NAME_MAX_BYTES ||
	    (flags & FS_FIELD_DYNAMIC && from->size != 4))
		return false;
	if (flags & FS_FIELD_ARRAY && !element && from->flags & TEP_FIELD_IS_LONG)
		element = parsing->long_size;
	*ret_field = (struct fs_tracepoint_field){
		.offset = (uint32_t)from->offset,
		.size = (uint32_t)from->size,
		.element_size = element,
		.flags = flags,
	};
	return !fs_intern(strings, from->name, strlen(from->name), &ret_field->name) &&
	       !fs_intern(strings, from->type, strlen(from->type), &ret_field->type);
}

static int add_event(struct parsing *parsing, const struct tep_event *event, const char *system,
		     const struct fs_tracepoint_field *fields, size_t count)
{
	struct fs_tracepoints *tracepoints = parsing->tracepoints;
	uint32_t system_id;
	uint32_t name_id;
	bool added;

	if (fs_intern(&tracepoints->strings, system, strlen(system), &system_id) ||
	    fs_intern(&tracepoints->strings, event->name, strlen(event->name), &name_id) ||
	    fs_tracepoints_add(tracepoints, (uint32_t)event->id, system_id, name_id, &added))
		return FS_NOMEM;
	if (!added)
		return FS_REFUSED;
	for (size_t i = 0; i < count; i++)
		FS_TRY(fs_tracepoints_add_field(tracepoints, &fields[i]));
	return 0;
}

/* FS_REFUSED: libtraceevent or we make nothing of it. */
static int take_event(struct parsing *parsing, const struct tep_event *event, const char *system)
{
	static struct fs_tracepoint_field fields[FIELDS_MAX];
	const struct tep_format_field *lists[] = { event->format.common_fields,
						   event->format.fields };
	size_t count = 0;

	if (event->id < 0 || !event->name || strlen(event->name) > NAME_MAX_BYTES)
		return FS_REFUSED;
	for (size_t list = 0; list < 2; list++)
		for (const struct tep_format_field *field = lists[list]; field; field = field->next)
			if (count == FIELDS_MAX ||
			    !take_field(parsing, field, list == 0, &fields[count++]))
				return FS_REFUSED;
	return add_event(parsing, event, system, fields, count);
}

/* libtraceevent looks for the `]` of a `[` also on other lines, in quotes, which no kernel writes
 * here, and where the text has ended, which for it is at the first byte that is not ASCII. */
static bool brackets_close(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] & 0x80 || text[i] == '"' || text[i] == '\'')
			return false;
		if (text[i] != '[')
			continue;
		while (++i < length && text[i] != ']')
			if (text[i] & 0x80 || strchr("[\n\"'", text[i]))
				return false;
		if (i == length)
			return false;
	}
	return true;
}

/* | "name: N" newline "ID: I" newline "format:" newline fields | "print fmt: ..." | */
static int parse_format(struct parsing *parsing, const char *text, size_t size, const char *system)
{
	static const char print[] = "print fmt:";
	static const char no_print[] = "print fmt: \"\"\n";
	const char *end = memmem(text, size, print, sizeof(print) - 1);
	size_t length = end ? (size_t)(end - text) : size;
	struct tep_event *event = NULL;
	char *copy;
	int code = FS_REFUSED;

	if (length > FORMAT_MAX || memchr(text, '\0', length) || !brackets_close(text, length))
		return FS_REFUSED;
	copy = malloc(length + sizeof(no_print));
	if (!copy)
		return FS_NOMEM;
	memcpy(copy, text, length);
	memcpy(copy + length, no_print, sizeof(no_print));
	/* the return value is 0 also for formats that are left half read */
	tep_parse_format(parsing->tep, &event, copy, length + sizeof(no_print) - 1, system);
	if (event && !(event->flags & (int)TEP_EVENT_FL_FAILED))
		code = take_event(parsing, event, system);
	free(copy);
	return code;
}

static int parse_systems(struct parsing *parsing)
{
	struct fs_reader *reader = &parsing->reader;
	uint32_t systems = fs_read_u32(reader);

	for (uint32_t i = 0; i < systems && !reader->failed; i++) {
		const char *system = read_string(reader);
		uint32_t formats = fs_read_u32(reader);

		for (uint32_t k = 0; k < formats && !reader->failed; k++) {
			size_t size;
			const char *text = (const char *)read_sized(reader, &size);
			int code = text ? parse_format(parsing, text, size, system) : 0;

			if (code == FS_NOMEM)
				return code;
			parsing->tracepoints->bad_formats += code != 0;
		}
	}
	return 0;
}

static int parse_all(struct parsing *parsing)
{
	struct fs_reader *reader = &parsing->reader;
	uint32_t ftrace_formats;

	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(parsing->tep, (int)parsing->long_size);
	skip_named(reader, "header_page");
	skip_named(reader, "header_event");
	ftrace_formats = fs_read_u32(reader);
	for (uint32_t i = 0; i < ftrace_formats && !reader->failed; i++)
		skip_sized(reader);
	FS_TRY(parse_systems(parsing));
	fs_read_bytes(reader, fs_read_u32(reader)); /* kallsyms */
	fs_read_bytes(reader, fs_read_u32(reader)); /* printk formats */
	if (parsing->has_cmdlines)
		skip_sized(reader);
	parsing->tracepoints->cut = reader->failed;
	return 0;
}

int fs_tracing_data_parse(const uint8_t *bytes, size_t size, struct fs_tracepoints *tracepoints,
			  struct fs_error *error)
{
	struct parsing parsing = { .reader = fs_reader_of(bytes, size),
				   .tracepoints = tracepoints };
	int code;

	if (!read_header(&parsing))
		return fs_fail(error, FS_REFUSED, "it does not begin as tracing data does");
	parsing.tep = tep_alloc();
	code = parsing.tep ? parse_all(&parsing) : FS_NOMEM;
	tep_free(parsing.tep);
	return code ? fs_fail(error, code, "out of memory for tracepoint formats") : 0;
}

/* ---- the helper ---- */

struct asking {
	const uint8_t *bytes;
	size_t size;
	struct fs_tracepoints *tracepoints;
};

static void send_tracepoints(const struct fs_tracepoints *tracepoints,
			     struct fs_reply_writer *writer)
{
	const size_t text_count = tracepoints->strings.by_hash.count;

	for (size_t i = 0; i < text_count; i++) {
		size_t length;
		const char *text = fs_interned(&tracepoints->strings, (uint32_t)i, &length);

		fs_reply_text(writer, text, length);
	}
	for (size_t i = 0; i < tracepoints->count; i++) {
		const struct fs_tracepoint *item = &tracepoints->items[i];

		fs_reply_frame(writer, REPLY_EVENT, 12);
		fs_reply_u32(writer, item->id);
		fs_reply_u32(writer, item->system);
		fs_reply_u32(writer, item->name);
		for (uint32_t k = 0; k < item->field_count; k++) {
			const struct fs_tracepoint_field *field =
				&tracepoints->fields[item->first_field + k];

			fs_reply_frame(writer, REPLY_FIELD, 24);
			fs_reply_u32(writer, field->name);
			fs_reply_u32(writer, field->type);
			fs_reply_u32(writer, field->offset);
			fs_reply_u32(writer, field->size);
			fs_reply_u32(writer, field->element_size);
			fs_reply_u32(writer, field->flags);
		}
	}
	fs_reply_frame(writer, REPLY_SUMMARY, 8);
	fs_reply_u32(writer, tracepoints->bad_formats);
	fs_reply_u32(writer, tracepoints->cut);
}

static void parse_sealed(void *context, struct fs_reply_writer *writer)
{
	const struct asking *asking = context;
	struct fs_tracepoints tracepoints;
	struct fs_error error = { 0 };
	int code;

	fs_tracepoints_init(&tracepoints);
	code = fs_tracing_data_parse(asking->bytes, asking->size, &tracepoints, &error);
	if (!code)
		send_tracepoints(&tracepoints, writer);
	fs_reply_last(writer,
		      !code		 ? FS_REPLY_DONE
		      : code == FS_NOMEM ? FS_REPLY_NO_MEMORY
					 : FS_REPLY_UNREADABLE,
		      error.text);
}

static int read_event(struct fs_reply *reply, struct fs_reader *body)
{
	uint32_t id = fs_read_u32(body);
	uint32_t system = fs_read_u32(body);
	uint32_t name = fs_read_u32(body);
	bool added;

	if (body->failed || system == FS_REPLY_NONE || name == FS_REPLY_NONE ||
	    !fs_reply_string(reply, system, &system) || !fs_reply_string(reply, name, &name))
		return fs_reply_malformed(reply, "a tracepoint");
	FS_TRY(fs_tracepoints_add(reply->context, id, system, name, &added));
	return added ? 0 : fs_reply_malformed(reply, "a tracepoint twice");
}

static int read_field(struct fs_reply *reply, struct fs_reader *body)
{
	struct fs_tracepoints *tracepoints = reply->context;
	struct fs_tracepoint_field field;
	uint32_t name = fs_read_u32(body);
	uint32_t type = fs_read_u32(body);

	field.offset = fs_read_u32(body);
	field.size = fs_read_u32(body);
	field.element_size = fs_read_u32(body);
	field.flags = fs_read_u32(body);
	if (body->failed || !tracepoints->count || name == FS_REPLY_NONE || type == FS_REPLY_NONE ||
	    !fs_reply_string(reply, name, &field.name) ||
	    !fs_reply_string(reply, type, &field.type) || field.offset > RAW_MAX ||
	    field.size > RAW_MAX || field.flags & ~(uint32_t)FS_FIELD_FLAGS)
		return fs_reply_malformed(reply, "a field");
	return fs_tracepoints_add_field(tracepoints, &field);
}

static int read_summary(struct fs_reply *reply, struct fs_reader *body)
{
	struct fs_tracepoints *tracepoints = reply->context;

	tracepoints->bad_formats = fs_read_u32(body);
	tracepoints->cut = fs_read_u32(body);
	return body->failed ? fs_reply_malformed(reply, "its summary") : 0;
}

int fs_tracing_data_reply_read(const uint8_t *bytes, size_t size,
			       struct fs_tracepoints *tracepoints, struct fs_error *error)
{
	static fs_reply_reader *const readers[] = {
		[REPLY_EVENT - FS_REPLY_OWN] = read_event,
		[REPLY_FIELD - FS_REPLY_OWN] = read_field,
		[REPLY_SUMMARY - FS_REPLY_OWN] = read_summary,
	};
	struct fs_isolation isolation;

	return fs_reply_read(bytes, size, &tracepoints->strings, readers,
			     sizeof(readers) / sizeof(readers[0]), tracepoints, &isolation, error);
}

static int read_reply(void *context, const uint8_t *bytes, size_t size, struct fs_error *error)
{
	const struct asking *asking = context;

	return fs_tracing_data_reply_read(bytes, size, asking->tracepoints, error);
}

int fs_tracing_data_read(const uint8_t *bytes, size_t size, enum fs_helper_fault fault,
			 struct fs_tracepoints *tracepoints, struct fs_error *error)
{
	struct asking asking = { bytes, size, tracepoints };
	const struct fs_helper_job job = {
		.files = { -1, -1, -1 },
		.work = parse_sealed,
		.read = read_reply,
		.context = &asking,
		.timeout_ms = TIMEOUT_MS,
		.fault = fault,
	};
	int code = fs_helper_run(&job, error);

	if (code) {
		fs_tracepoints_free(tracepoints);
		fs_tracepoints_init(tracepoints);
	}
	return code;
}
