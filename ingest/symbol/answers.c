/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/symbol/answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "common/vector.h"
#include "common/version.h"
#include "ingest/symbol/reply.h"

/* Raise it whenever the helper answers differently, or in another form. */
enum { ANSWERS_VERSION = 3 };

enum {
	HEADER = 8,
	QUESTION = 16,
	ROUNDS_MAX = 64, /* types are compared as deep as they are nested, and no deeper */
	PIECE = 4096,
	WHOLE_MAX = 16 << 20, /* larger files are looked at in this many places: */
	PIECES = 256,
};

/* A question, so that the same one has the same bytes. */
struct question {
	uint64_t kind; /* 0, 1: code, 1 if exact; 2: data */
	uint64_t offset, distance;
};

/* Where its answer is. */
struct place {
	uint32_t source, number;
};

void fs_answers_init(struct fs_answers *answers)
{
	*answers = (struct fs_answers){ 0 };
	fs_table_init(&answers->places, sizeof(struct question), sizeof(struct place));
}

static void free_source(struct fs_symbol_dso *source)
{
	fs_symbol_dso_free(source);
	free((void *)source->queries);
	free(source->results);
	free((void *)source->object_queries);
	free(source->objects);
}

void fs_answers_free(struct fs_answers *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		free_source(&answers->sources[i]);
	free(answers->sources);
	fs_table_free(&answers->places);
}

/* ---- questions ---- */

/* Run-time addresses of a kernel move from boot to boot. */
static uint64_t origin_of(const struct fs_symbol_dso *dso)
{
	return dso->kind == FS_SYMBOL_KERNEL ? dso->reference_address : 0;
}

static struct question code_question(const struct fs_symbol_dso *dso, size_t i)
{
	return (struct question){ .kind = dso->queries[i].exact,
				  .offset = dso->queries[i].offset - origin_of(dso) };
}

static struct question data_question(const struct fs_symbol_dso *dso, size_t i)
{
	const struct fs_symbol_object_query *query = &dso->object_queries[i];
	uint64_t origin = query->offset == FS_SYMBOL_LINK_TIME ? 0 : origin_of(dso);

	return (struct question){ .kind = 2,
				  .offset = query->offset,
				  .distance = query->distance - origin };
}

/* Room for questions and answers. */
static int make_room(struct fs_symbol_dso *dso, size_t queries, size_t object_queries)
{
	dso->queries = calloc(queries + 1, sizeof(*dso->queries));
	dso->results = calloc(queries + 1, sizeof(*dso->results));
	dso->object_queries = calloc(object_queries + 1, sizeof(*dso->object_queries));
	dso->objects = calloc(object_queries + 1, sizeof(*dso->objects));
	if (!dso->queries || !dso->results || !dso->object_queries || !dso->objects) {
		free_source(dso);
		return FS_NOMEM;
	}
	return 0;
}

int fs_answers_missing(const struct fs_answers *answers, const struct fs_symbol_dso *dso,
		       struct fs_symbol_dso *ret_rest)
{
	struct fs_symbol_dso rest = *dso;
	struct fs_symbol_object_query *object_queries;
	struct fs_symbol_query *queries;

	FS_TRY(make_room(&rest, dso->query_count, dso->object_query_count));
	queries = (struct fs_symbol_query *)rest.queries;
	object_queries = (struct fs_symbol_object_query *)rest.object_queries;
	rest.functions = NULL;
	rest.inlined = NULL;
	rest.types = NULL;
	rest.fields = NULL;
	fs_reply_forget(&rest);
	rest.query_count = rest.object_query_count = 0;
	for (size_t i = 0; i < dso->query_count; i++) {
		const struct question question = code_question(dso, i);

		if (!fs_table_get(&answers->places, &question))
			queries[rest.query_count++] = dso->queries[i];
	}
	for (size_t i = 0; i < dso->object_query_count; i++) {
		const struct question question = data_question(dso, i);

		if (!fs_table_get(&answers->places, &question))
			object_queries[rest.object_query_count++] = dso->object_queries[i];
	}
	*ret_rest = rest;
	return 0;
}

static int add_place(struct fs_answers *answers, struct question question, size_t number)
{
	bool added;
	struct place *place = fs_table_put(&answers->places, &question, NULL, &added);

	if (!place)
		return FS_NOMEM;
	if (added)
		*place = (struct place){ (uint32_t)answers->count, (uint32_t)number };
	return 0;
}

int fs_answers_add(struct fs_answers *answers, struct fs_symbol_dso *dso)
{
	int code = FS_RESERVE(answers->sources, answers->capacity, answers->count + 1);

	for (size_t i = 0; !code && i < dso->query_count; i++)
		code = add_place(answers, code_question(dso, i), i);
	for (size_t i = 0; !code && i < dso->object_query_count; i++)
		code = add_place(answers, data_question(dso, i), i);
	if (code)
		free_source(dso);
	else
		answers->sources[answers->count++] = *dso;
	return code;
}

/* ---- blocks ---- */

static void put(uint8_t **at, const void *bytes, size_t size)
{
	memcpy(*at, bytes, size);
	*at += size;
}

static void put_u64(uint8_t **at, uint64_t value)
{
	put(at, &value, sizeof(value));
}

static void put_questions(const struct fs_symbol_dso *dso, uint8_t *at)
{
	const uint32_t counts[] = { (uint32_t)dso->query_count, (uint32_t)dso->object_query_count };

	put(&at, counts, sizeof(counts));
	for (size_t i = 0; i < dso->query_count; i++) {
		const struct question question = code_question(dso, i);

		put_u64(&at, question.offset);
		put_u64(&at, question.kind);
	}
	for (size_t i = 0; i < dso->object_query_count; i++) {
		const struct question question = data_question(dso, i);

		put_u64(&at, question.offset);
		put_u64(&at, question.distance);
	}
}

/* Compress with a checksum. False: memory ran out. */
static bool compress(const uint8_t *plain, size_t size, uint8_t *packed, size_t bound,
		     size_t *ret_length)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();

	*ret_length = (size_t)-1;
	if (context) {
		ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
		*ret_length = ZSTD_compress2(context, packed, bound, plain, size);
	}
	ZSTD_freeCCtx(context);
	return !ZSTD_isError(*ret_length);
}

int fs_answers_pack(const struct fs_symbol_dso *dso, const uint8_t *reply, size_t size,
		    uint8_t **ret_bytes, size_t *ret_size)
{
	size_t questions = HEADER + QUESTION * (dso->query_count + dso->object_query_count);
	uint8_t *plain = malloc(questions + size);
	size_t bound = ZSTD_compressBound(questions + size);
	uint8_t *packed = malloc(bound);
	size_t length = 0;
	int code = FS_NOMEM;

	if (plain && packed) {
		put_questions(dso, plain);
		memcpy(plain + questions, reply, size);
		if (compress(plain, questions + size, packed, bound, &length))
			code = 0;
	}
	free(plain);
	if (code) {
		free(packed);
		return code;
	}
	*ret_bytes = packed;
	*ret_size = length;
	return 0;
}

static int refuse(struct fs_error *error, const char *what)
{
	return fs_fail(error, FS_REFUSED, "kept answers are damaged: %s", what);
}

/* Unpack a block. All blocks of a DSO together are no more than what one helper may say. */
static int unpack(struct fs_answers *answers, const uint8_t *bytes, size_t size,
		  uint8_t **ret_plain, size_t *ret_length, struct fs_error *error)
{
	unsigned long long length = ZSTD_getFrameContentSize(bytes, size);
	uint8_t *plain;

	if (length == ZSTD_CONTENTSIZE_UNKNOWN || length == ZSTD_CONTENTSIZE_ERROR ||
	    length > FS_REPLY_MAX - answers->bytes)
		return refuse(error, "their size");
	plain = malloc(length + 1);
	if (!plain)
		return fs_fail(error, FS_NOMEM, "out of memory for kept answers");
	if (ZSTD_decompress(plain, length, bytes, size) != length) {
		free(plain);
		return refuse(error, "their compression");
	}
	answers->bytes += length;
	*ret_plain = plain;
	*ret_length = (size_t)length;
	return 0;
}

/* Read the questions of a block and make room for the answers. */
static int read_questions(struct fs_reader *reader, struct fs_symbol_dso *source,
			  struct fs_error *error)
{
	uint64_t queries = fs_read_u32(reader);
	uint64_t objects = fs_read_u32(reader);

	if (queries + objects > fs_reader_left(reader) / QUESTION)
		return refuse(error, "their questions");
	if (make_room(source, queries, objects))
		return fs_fail(error, FS_NOMEM, "out of memory for kept answers");
	source->query_count = queries;
	source->object_query_count = objects;
	for (size_t i = 0; i < queries; i++) {
		struct fs_symbol_query *query = (struct fs_symbol_query *)&source->queries[i];

		query->offset = fs_read_u64(reader);
		query->exact = fs_read_u64(reader) != 0;
	}
	for (size_t i = 0; i < objects; i++) {
		struct fs_symbol_object_query *query =
			(struct fs_symbol_object_query *)&source->object_queries[i];

		query->offset = fs_read_u64(reader);
		query->distance = fs_read_u64(reader);
	}
	return 0;
}

int fs_answers_read(struct fs_answers *answers, const uint8_t *bytes, size_t size,
		    struct fs_interner *strings, struct fs_error *error)
{
	struct fs_symbol_dso source = { .path = "kept answers", .symbols = FS_SYMBOLS_VERIFIED };
	struct fs_isolation ignored;
	struct fs_reader reader;
	uint8_t *plain;
	size_t length;
	int code;

	FS_TRY(unpack(answers, bytes, size, &plain, &length, error));
	reader = fs_reader_of(plain, length);
	code = read_questions(&reader, &source, error);
	if (!code) {
		code = fs_symbol_reply_read(plain + reader.offset, fs_reader_left(&reader), strings,
					    &source, &ignored, error);
		if (!code && !source.arch)
			code = refuse(error, "no binary is told");
		if (code)
			free_source(&source);
		else if (fs_answers_add(answers, &source))
			code = fs_fail(error, FS_NOMEM, "out of memory for kept answers");
	}
	free(plain);
	return code;
}

/* ---- what they hold for ---- */

static bool hash_file(int fd, uint64_t *hash)
{
	uint64_t size;
	uint64_t step = PIECE;
	struct stat status;

	if (fd < 0) {
		*hash = fs_hash("-", 1, *hash);
		return true;
	}
	if (fstat(fd, &status) || status.st_size <= 0)
		return false;
	size = (uint64_t)status.st_size;
	*hash = fs_hash(&size, sizeof(size), *hash);
	if (size > WHOLE_MAX)
		step = size / PIECES;
	for (uint64_t at = 0; at < size; at += step) {
		uint8_t piece[PIECE];
		ssize_t got = pread(fd, piece, sizeof(piece), (off_t)at);

		if (got <= 0)
			return false;
		*hash = fs_hash(piece, (size_t)got, *hash);
	}
	return true;
}

bool fs_answers_files(const struct fs_symbol_dso *dso, const int *files, size_t count,
		      char ret_text[static FS_ANSWERS_FILES_TEXT])
{
	const uint64_t form[] = { ANSWERS_VERSION, dso->kind };
	const char *reference = dso->reference ? dso->reference : "";
	uint64_t hash = fs_hash(FS_VERSION, strlen(FS_VERSION), 0);

	hash = fs_hash(form, sizeof(form), hash);
	hash = fs_hash(reference, strlen(reference), hash);
	for (size_t i = 0; i < count; i++) {
		if (!hash_file(files[i], &hash))
			return false;
	}
	snprintf(ret_text, FS_ANSWERS_FILES_TEXT, "%016" PRIx64, hash);
	return true;
}

/* ---- putting them together ---- */

/* Types of all sources, numbered one source behind another. */
struct giving {
	const struct fs_answers *answers;
	struct fs_symbol_dso *dso;
	size_t *first_type;	   /* of each source; the last is how many there are */
	size_t *first_field;	   /* of each type, in its source's fields */
	uint32_t *source_of;	   /* of each type */
	uint32_t *first_inlined;   /* of each source, in those given */
	uint64_t *classes;	   /* of each type: equal ones have the same number */
	uint32_t *given;	   /* of each class: its number in dso->types, or FS_SYMBOL_NONE */
	uint32_t *pending;	   /* of each of dso->types: one of its class */
	struct fs_table functions; /* address, size -> number given */
	size_t function_capacity;
};

static size_t type_count(const struct giving *giving)
{
	return giving->first_type[giving->answers->count];
}

static void free_giving(struct giving *giving)
{
	free(giving->first_type);
	free(giving->first_field);
	free(giving->source_of);
	free(giving->first_inlined);
	free(giving->classes);
	free(giving->given);
	free(giving->pending);
	fs_table_free(&giving->functions);
}

/* Where the fields of each type begin: they are sorted by type. */
static void find_fields(struct giving *giving, uint32_t source)
{
	const struct fs_symbol_dso *dso = &giving->answers->sources[source];
	size_t at = 0;

	for (size_t type = 0; type < dso->type_count; type++) {
		size_t number = giving->first_type[source] + type;

		giving->source_of[number] = source;
		giving->first_field[number] = at;
		while (at < dso->field_count && dso->fields[at].type == type)
			at++;
	}
}

static int open_giving(struct giving *giving)
{
	size_t sources = giving->answers->count;
	size_t count = 0;

	giving->first_type = calloc(sources + 1, sizeof(*giving->first_type));
	giving->first_inlined = calloc(sources + 1, sizeof(*giving->first_inlined));
	fs_table_init(&giving->functions, 16, 8);
	if (!giving->first_type || !giving->first_inlined)
		return FS_NOMEM;
	for (size_t i = 0; i < sources; i++) {
		count += giving->answers->sources[i].type_count;
		giving->first_type[i + 1] = count;
	}
	giving->first_field = calloc(count + 1, sizeof(*giving->first_field));
	giving->source_of = calloc(count + 1, sizeof(*giving->source_of));
	giving->classes = calloc(count + 1, sizeof(*giving->classes));
	giving->given = calloc(count + 1, sizeof(*giving->given));
	giving->pending = calloc(count + 1, sizeof(*giving->pending));
	if (!giving->first_field || !giving->source_of || !giving->classes || !giving->given ||
	    !giving->pending)
		return FS_NOMEM;
	for (size_t i = 0; i < sources; i++)
		find_fields(giving, (uint32_t)i);
	for (size_t i = 0; i < count; i++)
		giving->given[i] = FS_SYMBOL_NONE;
	return 0;
}

/* The fields of a type; returns how many. */
static size_t fields_of(const struct giving *giving, size_t type,
			const struct fs_symbol_field **ret_fields)
{
	uint32_t source = giving->source_of[type];
	const struct fs_symbol_dso *dso = &giving->answers->sources[source];
	size_t count = 0;

	*ret_fields = dso->field_count ? dso->fields + giving->first_field[type] : NULL;
	while (giving->first_field[type] + count < dso->field_count &&
	       (*ret_fields)[count].type == type - giving->first_type[source])
		count++;
	return count;
}

static size_t member_of(const struct giving *giving, size_t type,
			const struct fs_symbol_field *field)
{
	return giving->first_type[giving->source_of[type]] + field->member;
}

/* All that is told of a type, the types of its members by their class. */
static uint64_t hash_type(const struct giving *giving, size_t number)
{
	uint32_t source = giving->source_of[number];
	const struct fs_symbol_type *type =
		&giving->answers->sources[source].types[number - giving->first_type[source]];
	const uint64_t head[] = { giving->classes[number], type->name, type->size, type->kind };
	uint64_t hash = fs_hash(head, sizeof(head), 0);
	const struct fs_symbol_field *fields;
	size_t count = fields_of(giving, number, &fields);

	for (size_t i = 0; i < count; i++) {
		const struct fs_symbol_field *field = &fields[i];
		const uint64_t words[] = {
			field->name,
			field->type_name,
			field->declared,
			field->member == FS_SYMBOL_NONE
				? UINT64_MAX
				: giving->classes[member_of(giving, number, field)],
			field->offset,
			field->size,
			field->alignment,
			field->elements,
			(uint64_t)field->bit_offset << 32 | field->bit_size,
			field->base_class,
		};

		hash = fs_hash(words, sizeof(words), hash);
	}
	return hash;
}

/*
 * Find out which types are the same: those that look alike, then of these those whose members'
 * types look alike, and so on until nothing more is told apart.
 */
static int classify(struct giving *giving)
{
	size_t count = type_count(giving);
	uint64_t *next = calloc(count + 1, sizeof(*next));
	struct fs_table classes;
	size_t before = 0;
	int code = next ? 0 : FS_NOMEM;

	fs_table_init(&classes, 8, 8);
	for (int round = 0; !code && round < ROUNDS_MAX; round++) {
		fs_table_clear(&classes);
		for (size_t i = 0; !code && i < count; i++) {
			uint64_t hash = hash_type(giving, i);
			uint32_t number;

			code = fs_table_put(&classes, &hash, &number, NULL) ? 0 : FS_NOMEM;
			next[i] = number;
		}
		if (!code && count)
			memcpy(giving->classes, next, count * sizeof(*next));
		if (classes.count == before)
			break;
		before = classes.count;
	}
	free(next);
	fs_table_free(&classes);
	return code;
}

/* The number that a type is given, without its fields if it is new. */
static int give_one(struct giving *giving, size_t type, uint32_t *ret_number)
{
	struct fs_symbol_dso *dso = giving->dso;
	uint32_t *given = &giving->given[giving->classes[type]];
	uint32_t source = giving->source_of[type];

	if (*given == FS_SYMBOL_NONE) {
		FS_TRY(FS_RESERVE(dso->types, dso->type_capacity, dso->type_count + 1));
		giving->pending[dso->type_count] = (uint32_t)type;
		*given = (uint32_t)dso->type_count;
		dso->types[dso->type_count++] =
			giving->answers->sources[source].types[type - giving->first_type[source]];
	}
	*ret_number = *given;
	return 0;
}

static int give_fields(struct giving *giving, uint32_t owner)
{
	struct fs_symbol_dso *dso = giving->dso;
	size_t type = giving->pending[owner];
	const struct fs_symbol_field *fields;
	size_t count = fields_of(giving, type, &fields);

	FS_TRY(FS_RESERVE(dso->fields, dso->field_capacity, dso->field_count + count));
	for (size_t i = 0; i < count; i++) {
		struct fs_symbol_field *field = &dso->fields[dso->field_count++];

		*field = fields[i];
		field->type = owner;
		if (field->member != FS_SYMBOL_NONE)
			FS_TRY(give_one(giving, member_of(giving, type, &fields[i]),
					&field->member));
	}
	return 0;
}

/* Exchange a source's number of a type for that given; what it is made of is given, too. */
static int give_type(struct giving *giving, uint32_t source, uint32_t *type)
{
	size_t before = giving->dso->type_count;

	if (*type == FS_SYMBOL_NONE)
		return 0;
	FS_TRY(give_one(giving, giving->first_type[source] + *type, type));
	for (size_t owner = before; owner < giving->dso->type_count; owner++)
		FS_TRY(give_fields(giving, (uint32_t)owner));
	return 0;
}

static int give_function(struct giving *giving, uint32_t source, uint32_t *function)
{
	struct fs_symbol_dso *dso = giving->dso;
	const struct fs_symbol_function *found;
	bool added;

	if (*function == FS_SYMBOL_NONE)
		return 0;
	found = &giving->answers->sources[source].functions[*function];
	if (!fs_table_put(&giving->functions, (uint64_t[]){ found->address, found->size }, function,
			  &added))
		return FS_NOMEM;
	if (!added)
		return 0;
	FS_TRY(FS_RESERVE(dso->functions, giving->function_capacity, dso->function_count + 1));
	dso->functions[dso->function_count++] = *found;
	return 0;
}

/* Inlined functions are given as they are: only those that an answer leads to are used. */
static int give_inlined(struct giving *giving)
{
	struct fs_symbol_dso *dso = giving->dso;

	for (size_t i = 0; i < giving->answers->count; i++) {
		const struct fs_symbol_dso *source = &giving->answers->sources[i];
		uint32_t first = (uint32_t)dso->inlined_count;

		giving->first_inlined[i] = first;
		FS_TRY(FS_RESERVE(dso->inlined, dso->inlined_capacity,
				  dso->inlined_count + source->inlined_count));
		for (size_t k = 0; k < source->inlined_count; k++) {
			struct fs_symbol_inlined *inlined = &dso->inlined[dso->inlined_count++];

			*inlined = source->inlined[k];
			if (inlined->caller != FS_SYMBOL_NONE)
				inlined->caller += first;
		}
	}
	return 0;
}

static int give_code(struct giving *giving, size_t i)
{
	struct fs_symbol_result *result = &giving->dso->results[i];
	const struct question question = code_question(giving->dso, i);
	const struct place *place = fs_table_get(&giving->answers->places, &question);

	if (!place)
		return 0;
	*result = giving->answers->sources[place->source].results[place->number];
	if (result->inlined != FS_SYMBOL_NONE)
		result->inlined += giving->first_inlined[place->source];
	FS_TRY(give_function(giving, place->source, &result->function));
	return give_type(giving, place->source, &result->type);
}

static int give_data(struct giving *giving, size_t i)
{
	struct fs_symbol_object *object = &giving->dso->objects[i];
	const struct question question = data_question(giving->dso, i);
	const struct place *place = fs_table_get(&giving->answers->places, &question);

	if (!place)
		return 0;
	*object = giving->answers->sources[place->source].objects[place->number];
	return give_type(giving, place->source, &object->type);
}

static int give_all(struct giving *giving)
{
	struct fs_symbol_dso *dso = giving->dso;

	FS_TRY(open_giving(giving));
	FS_TRY(classify(giving));
	FS_TRY(give_inlined(giving));
	for (size_t i = 0; i < dso->query_count; i++)
		FS_TRY(give_code(giving, i));
	for (size_t i = 0; i < dso->object_query_count; i++)
		FS_TRY(give_data(giving, i));
	return 0;
}

int fs_answers_give(const struct fs_answers *answers, struct fs_symbol_dso *dso)
{
	const struct fs_symbol_dso *first = &answers->sources[0];
	struct giving giving = { .answers = answers, .dso = dso };
	int code;

	fs_reply_forget(dso);
	code = give_all(&giving);
	free_giving(&giving);
	if (code) {
		fs_reply_forget(dso);
		return code;
	}
	dso->symbols = first->symbols;
	dso->arch = first->arch;
	dso->names = first->names;
	dso->operands = first->operands;
	dso->bad_dwarf = first->bad_dwarf;
	dso->split = first->split;
	dso->lines_only = first->lines_only;
	return 0;
}
