/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of answers that are made here, put together, and damaged.
 */
#include "ingest/symbol/answers.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "common/test_random.h"
#include "ingest/symbol/reply.h"

enum { REPLY_MAX = 1 << 15 };

/* A helper's reply in the making. */
struct made {
	struct fs_reply_writer writer;
	int from;
	uint8_t bytes[REPLY_MAX];
	size_t size;
};

static struct made *begin(void)
{
	struct made *made = calloc(1, sizeof(*made));
	int ends[2];

	ck_assert_ptr_nonnull(made);
	ck_assert_int_eq(pipe(ends), 0);
	made->from = ends[0];
	made->writer.fd = ends[1];
	fs_reply_first(&made->writer, 3);
	fs_reply_binary(&made->writer, FS_REPLY_ARCH_AARCH64, 3);
	return made;
}

static void end(struct made *made)
{
	ssize_t got;

	fs_reply_last(&made->writer, FS_REPLY_DONE, "");
	close(made->writer.fd);
	while ((got = read(made->from, made->bytes + made->size, REPLY_MAX - made->size)) > 0)
		made->size += (size_t)got;
	ck_assert_int_eq(got, 0);
	close(made->from);
}

static void text(struct made *made, const char *text)
{
	fs_reply_text(&made->writer, text, strlen(text));
}

static void type(struct made *made, uint32_t name, uint64_t size)
{
	const struct fs_symbol_type sent = { .name = name, .size = size, .kind = FS_TYPE_STRUCT };

	fs_reply_type(&made->writer, &sent);
}

static void field(struct made *made, uint32_t owner, uint32_t name, uint32_t member)
{
	const struct fs_symbol_field sent = {
		.type = owner, .name = name, .type_name = 0, .member = member, .size = 8
	};

	fs_reply_field(&made->writer, &sent);
}

static void function(struct made *made, uint32_t name, uint64_t address)
{
	const struct fs_symbol_function sent = {
		.name = name, .linkage_name = FS_SYMBOL_NONE, .address = address, .size = 64
	};

	fs_reply_function(&made->writer, &sent);
}

static void inlined(struct made *made, uint32_t name, uint32_t caller)
{
	const struct fs_symbol_inlined sent = { .name = name,
						.call_file = FS_SYMBOL_NONE,
						.caller = caller };

	fs_reply_inlined(&made->writer, &sent);
}

static void code(struct made *made, uint32_t query, uint32_t function, uint32_t type,
		 uint32_t inlined)
{
	struct fs_symbol_result result = fs_symbol_result_unknown();

	result.function = function;
	result.type = type;
	result.inlined = inlined;
	fs_reply_code(&made->writer, query, &result);
}

/* Pack a reply as the answer to code queries at `offsets`. */
static uint8_t *pack(struct made *made, const uint64_t *offsets, size_t count, size_t *ret_size)
{
	struct fs_symbol_query queries[8] = { 0 };
	struct fs_symbol_dso dso = { .queries = queries, .query_count = count };
	uint8_t *bytes;

	for (size_t i = 0; i < count; i++)
		queries[i].offset = offsets[i];
	ck_assert_int_eq(fs_answers_pack(&dso, made->bytes, made->size, &bytes, ret_size), 0);
	free(made);
	return bytes;
}

/* Read a block that is not needed any more. */
static int take(struct fs_answers *answers, struct fs_interner *strings, uint8_t *bytes,
		size_t size)
{
	int code = fs_answers_read(answers, bytes, size, strings, NULL);

	free(bytes);
	return code;
}

/*
 * Two blocks that describe a list, struct a { struct b first; struct a *next as a member }, the
 * second with its types in another order and with a struct b of another make beside it.
 */
static uint8_t *first_block(size_t *ret_size)
{
	struct made *made = begin();

	text(made, "a");
	text(made, "b");
	text(made, "f");
	type(made, 0, 16);
	type(made, 1, 8);
	field(made, 0, 1, 1);
	field(made, 0, 0, 0);
	field(made, 1, 2, FS_SYMBOL_NONE);
	function(made, 2, 100);
	inlined(made, 0, FS_SYMBOL_NONE);
	inlined(made, 1, 0);
	code(made, 0, 0, 0, 1);
	code(made, 1, FS_SYMBOL_NONE, 1, FS_SYMBOL_NONE);
	end(made);
	return pack(made, (const uint64_t[]){ 10, 20 }, 2, ret_size);
}

static uint8_t *second_block(size_t *ret_size)
{
	struct made *made = begin();

	text(made, "b");
	text(made, "g");
	text(made, "a");
	text(made, "f");
	type(made, 0, 8);
	type(made, 2, 16);
	type(made, 0, 8);
	field(made, 0, 3, FS_SYMBOL_NONE);
	field(made, 1, 0, 0);
	field(made, 1, 2, 1);
	field(made, 2, 1, FS_SYMBOL_NONE);
	function(made, 1, 300);
	function(made, 3, 100);
	inlined(made, 1, FS_SYMBOL_NONE);
	code(made, 0, 0, 2, 0);
	code(made, 1, 1, 1, FS_SYMBOL_NONE);
	end(made);
	return pack(made, (const uint64_t[]){ 30, 40 }, 2, ret_size);
}

START_TEST(test_put_together)
{
	const struct fs_symbol_query queries[] = { { 40, 0 }, { 10, 0 }, { 50, 0 },
						   { 30, 0 }, { 10, 1 }, { 20, 0 } };
	struct fs_symbol_result results[6];
	struct fs_symbol_dso dso = {
		.fd = -1, .queries = queries, .results = results, .query_count = 6
	};
	struct fs_symbol_dso rest;
	struct fs_interner strings;
	struct fs_answers answers;
	uint8_t *bytes;
	size_t size;

	fs_interner_init(&strings);
	fs_answers_init(&answers);
	bytes = first_block(&size);
	ck_assert_int_eq(take(&answers, &strings, bytes, size), 0);
	bytes = second_block(&size);
	ck_assert_int_eq(take(&answers, &strings, bytes, size), 0);
	ck_assert_int_eq(fs_answers_missing(&answers, &dso, &rest), 0);
	ck_assert_uint_eq(rest.query_count, 2); /* 50, and 10 if exact */
	ck_assert_uint_eq(rest.queries[0].offset, 50);
	ck_assert_uint_eq(rest.queries[1].exact, 1);
	ck_assert_int_eq(fs_answers_add(&answers, &rest), 0);
	ck_assert_int_eq(fs_answers_give(&answers, &dso), 0);
	ck_assert_str_eq(dso.arch, "aarch64");
	ck_assert(dso.operands);
	/* numbered as they are asked: f at 40, which is f at 10, too; then g */
	ck_assert_uint_eq(dso.function_count, 2);
	ck_assert_uint_eq(results[0].function, 0);
	ck_assert_uint_eq(results[1].function, 0);
	ck_assert_uint_eq(results[3].function, 1);
	ck_assert_uint_eq(dso.functions[1].address, 300);
	ck_assert_uint_eq(results[2].function, FS_SYMBOL_NONE);
	ck_assert_uint_eq(results[4].function, FS_SYMBOL_NONE);
	/* inlined: the chain of the first block, then that of the second */
	ck_assert_uint_eq(results[1].inlined, 1);
	ck_assert_uint_eq(dso.inlined[1].caller, 0);
	ck_assert_uint_eq(results[3].inlined, 2);
	ck_assert_uint_eq(dso.inlined[2].caller, FS_SYMBOL_NONE);
	fs_symbol_dso_free(&dso);
	fs_answers_free(&answers);
	fs_interner_free(&strings);
}
END_TEST

/* The same types in two orders are one; one that has another field deep inside is another. */
START_TEST(test_types_by_content)
{
	const struct fs_symbol_query queries[] = { { 1, 0 }, { 2, 0 }, { 3, 0 } };
	struct fs_symbol_result results[3];
	struct fs_symbol_dso dso = {
		.fd = -1, .queries = queries, .results = results, .query_count = 3
	};
	struct fs_interner strings;
	struct fs_answers answers;

	fs_interner_init(&strings);
	fs_answers_init(&answers);
	for (uint64_t block = 1; block <= 3; block++) {
		uint32_t outer = block == 2, inner = !outer;
		struct made *made = begin();
		uint8_t *bytes;
		size_t size;

		text(made, "t");
		text(made, block == 3 ? "other" : "inner");
		for (uint32_t i = 0; i < 2; i++)
			type(made, 0, i == outer ? 16 : 8);
		for (uint32_t i = 0; i < 2; i++)
			field(made, i, i == outer ? 0 : 1, i == outer ? inner : FS_SYMBOL_NONE);
		code(made, 0, FS_SYMBOL_NONE, outer, FS_SYMBOL_NONE);
		end(made);
		bytes = pack(made, &block, 1, &size);
		ck_assert_int_eq(take(&answers, &strings, bytes, size), 0);
	}
	ck_assert_int_eq(fs_answers_give(&answers, &dso), 0);
	ck_assert_uint_eq(dso.type_count, 4);
	ck_assert_uint_eq(results[0].type, 0);
	ck_assert_uint_eq(results[1].type, 0);
	ck_assert_uint_eq(results[2].type, 2);
	ck_assert_uint_eq(dso.types[0].size, 16);
	ck_assert_uint_eq(dso.field_count, 4);
	ck_assert_uint_eq(dso.fields[0].member, 1);
	ck_assert_uint_eq(dso.fields[2].type, 2);
	ck_assert_uint_eq(dso.fields[2].member, 3);
	fs_symbol_dso_free(&dso);
	fs_answers_free(&answers);
	fs_interner_free(&strings);
}
END_TEST

/* Chains without end and fields in disorder would become rows that the database refuses. */
START_TEST(test_unsound_replies)
{
	const uint64_t offset = 1;
	struct fs_interner strings;
	struct fs_answers answers;
	struct made *made = begin();
	uint8_t *bytes;
	size_t size;

	fs_interner_init(&strings);
	fs_answers_init(&answers);
	text(made, "t");
	inlined(made, 0, FS_SYMBOL_NONE);
	for (uint32_t i = 0; i <= FS_REPLY_INLINED_DEPTH_MAX; i++)
		inlined(made, 0, i);
	end(made);
	bytes = pack(made, &offset, 1, &size);
	ck_assert_int_eq(take(&answers, &strings, bytes, size), FS_REFUSED);
	made = begin();
	text(made, "t");
	type(made, 0, 8);
	type(made, 0, 8);
	field(made, 1, 0, FS_SYMBOL_NONE);
	field(made, 0, 0, FS_SYMBOL_NONE);
	end(made);
	bytes = pack(made, &offset, 1, &size);
	ck_assert_int_eq(take(&answers, &strings, bytes, size), FS_REFUSED);
	ck_assert_uint_eq(answers.count, 0);
	fs_answers_free(&answers);
	fs_interner_free(&strings);
}
END_TEST

static bool try_block(const uint8_t *bytes, size_t size)
{
	const struct fs_symbol_query queries[] = { { 10, 0 }, { 20, 0 }, { 30, 0 } };
	struct fs_symbol_result results[3];
	struct fs_symbol_dso dso = {
		.fd = -1, .queries = queries, .results = results, .query_count = 3
	};
	struct fs_interner strings;
	struct fs_answers answers;
	bool sound;

	fs_interner_init(&strings);
	fs_answers_init(&answers);
	sound = fs_answers_read(&answers, bytes, size, &strings, NULL) == 0;
	if (sound) {
		ck_assert_int_eq(fs_answers_give(&answers, &dso), 0);
		for (size_t i = 0; i < 3; i++)
			ck_assert(results[i].type == FS_SYMBOL_NONE ||
				  results[i].type < dso.type_count);
	} else {
		ck_assert_uint_eq(answers.count, 0);
	}
	fs_symbol_dso_free(&dso);
	fs_answers_free(&answers);
	fs_interner_free(&strings);
	return sound;
}

/* Damaged as they lie in the database, and, soundly compressed, by somebody who means it. */
START_TEST(test_damaged_blocks)
{
	uint8_t plain[4096], bad[4096], packed[8192];
	uint64_t random = 1;
	size_t size, length;
	uint8_t *good = first_block(&size);

	ck_assert_uint_lt(size, sizeof(bad));
	length = ZSTD_decompress(plain, sizeof(plain), good, size);
	ck_assert(!ZSTD_isError(length));
	ck_assert(try_block(good, size));
	for (int round = 0; round < 20000; round++) {
		size_t cut = round % 4 ? size : test_below(&random, size);

		memcpy(bad, good, size);
		bad[test_below(&random, size)] ^= (uint8_t)(1 << test_below(&random, 8));
		if (try_block(bad, cut)) { /* a bit of the frame that has no meaning here */
			ck_assert_uint_eq(ZSTD_decompress(packed, sizeof(packed), bad, cut),
					  length);
			ck_assert_mem_eq(packed, plain, length);
		}
	}
	for (int round = 0; round < 20000; round++) {
		size_t cut = round % 4 ? length : test_below(&random, length);

		memcpy(bad, plain, length);
		for (unsigned int i = test_below(&random, 3); i; i--)
			bad[test_below(&random, length)] = (uint8_t)test_random(&random);
		cut = ZSTD_compress(packed, sizeof(packed), bad, cut, 1);
		try_block(packed, cut);
	}
	free(good);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("answers");
	TCase *cases = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(cases, 120);
	tcase_add_test(cases, test_put_together);
	tcase_add_test(cases, test_types_by_content);
	tcase_add_test(cases, test_unsound_replies);
	tcase_add_test(cases, test_damaged_blocks);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
