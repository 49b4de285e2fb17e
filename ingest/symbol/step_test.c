/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps of instructions: chosen ones in full; then random A64 words, whose address must be the one
 * that the operand table has, which is itself checked against llvm-mc; and the code of this
 * program, on x86-64, against the operand decoder.
 */
#include "ingest/symbol/step.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/test_random.h"

enum { WORDS = 2000000, NONE = FS_NO_REGISTER };

static const struct {
	uint32_t word;
	const char *text;
	struct fs_step steps[3]; /* the first with width 255 ends them */
} chosen[] = {
#define STEP(k, t, s, i, sc, w, c)                                                                 \
	{                                                                                          \
		.kind = FS_STEP_##k, .target = (t), .source = (s), .index = (i), .factor = NONE,   \
		.scale = (sc), .width = (w), .constant = (c)                                       \
	}
#define END                                                                                        \
	{                                                                                          \
		.width = 255                                                                       \
	}
	{ 0x9100e001, "add x1, x0, #56", { STEP(COPY, 1, 0, NONE, 0, 0, 56), END } },
	{ 0xd10043ff, "sub sp, sp, #16", { STEP(COPY, 31, 31, NONE, 0, 0, -16), END } },
	{ 0xaa0103e0, "mov x0, x1", { STEP(COPY, 0, 1, NONE, 0, 0, 0), END } },
	{ 0x2a0103e0, "mov w0, w1", { STEP(NARROW, 0, 1, NONE, 0, 0, 0), END } },
	{ 0x93407c20, "sxtw x0, w1", { STEP(NARROW, 0, 1, NONE, 0, 0, 0), END } },
	{ 0xd37df020, "lsl x0, x1, #3", { STEP(INDEX, 0, NONE, 1, 8, 0, 0), END } },
	{ 0x8b020c20, "add x0, x1, x2, lsl #3", { STEP(INDEX, 0, 1, 2, 8, 0, 0), END } },
	{ 0x8b22cc20, "add x0, x1, w2, sxtw #3", { STEP(INDEX, 0, 1, 2, 8, 0, 0), END } },
	{ 0x90000100, "adrp x0, .+0x20000", { STEP(ADDRESS, 0, NONE, NONE, 0, 0, 0x30000), END } },
	{ 0xf9400420, "ldr x0, [x1, #8]", { STEP(LOAD, 0, 1, NONE, 0, 8, 8), END } },
	{ 0xf8627820, "ldr x0, [x1, x2, lsl #3]", { STEP(LOAD, 0, 1, 2, 8, 8, 0), END } },
	{ 0xf8408420,
	  "ldr x0, [x1], #8",
	  { STEP(LOAD, 0, 1, NONE, 0, 8, 0), STEP(COPY, 1, 1, NONE, 0, 0, 8), END } },
	{ 0xb900003f, "str wzr, [x1]", { STEP(STORE, NONE, 1, NONE, 0, 4, 0), END } },
	{ 0xa9420440,
	  "ldp x0, x1, [x2, #32]",
	  { STEP(LOAD, 0, 2, NONE, 0, 8, 32), STEP(LOAD, 1, 2, NONE, 0, 8, 40), END } },
	{ 0x3dc00413, "ldr q19, [x0, #16]", { STEP(LOAD, NONE, 0, NONE, 0, 16, 16), END } },
	{ 0xb8e40024,
	  "ldaddal w4, w4, [x1]",
	  { STEP(LOAD, NONE, 1, NONE, 0, 4, 0), STEP(LOSE, 4, NONE, NONE, 0, 0, 0), END } },
	{ 0x94000004, "bl .+16", { STEP(CALL, NONE, NONE, NONE, 0, 0, 0x10010), END } },
	{ 0xd53bd040, "mrs x0, tpidr_el0", { STEP(THREAD, 0, NONE, NONE, 0, 0, 0), END } },
	{ 0xd65f03c0, "ret", { STEP(END, NONE, NONE, NONE, 0, 0, 0), END } },
	{ 0xd503201f, "nop", { END } },
};

START_TEST(test_chosen)
{
	const struct fs_step *want = chosen[_i].steps;
	struct fs_instruction got;
	size_t count = 0;

	fs_step_a64(chosen[_i].word, 0x10000, &got);
	while (want[count].width != 255)
		count++;
	ck_assert_msg(got.count == count, "%s: %u steps", chosen[_i].text, got.count);
	for (size_t i = 0; i < count; i++) {
		const struct fs_step *step = &got.steps[i];

		ck_assert_msg(
			step->kind == want[i].kind && step->target == want[i].target &&
				step->source == want[i].source && step->index == want[i].index &&
				(step->index == NONE || step->scale == want[i].scale) &&
				step->width == want[i].width && step->constant == want[i].constant,
			"%s: step %zu: kind %d target %d source %d index %d scale %u width "
			"%u constant %lld",
			chosen[_i].text, i, step->kind, step->target, step->source, step->index,
			step->scale, step->width, (long long)step->constant);
	}
}
END_TEST

static const struct fs_step *first_access(const struct fs_instruction *instruction)
{
	for (uint8_t i = 0; i < instruction->count; i++) {
		if (instruction->steps[i].kind == FS_STEP_LOAD ||
		    instruction->steps[i].kind == FS_STEP_STORE)
			return &instruction->steps[i];
	}
	return NULL;
}

static int register_number(const char *base)
{
	if (!strcmp(base, "sp"))
		return 31;
	return base[0] == 'x' ? atoi(base + 1) : NONE;
}

START_TEST(test_random_words)
{
	uint64_t random = 1;
	size_t compared = 0;

	for (size_t i = 0; i < WORDS; i++) {
		/* loads and stores: bit 27 set, bit 25 clear */
		uint32_t word = ((uint32_t)(test_random(&random) >> 32) | 1u << 27) & ~(1u << 25);
		unsigned int group = word >> 28 & 3;
		struct fs_instruction instruction;
		struct fs_operand operand;
		const struct fs_step *step;

		fs_step_a64(word, 0, &instruction);
		step = first_access(&instruction);
		if (!fs_operand_a64(word, &operand) || operand.kind != FS_OPERAND_MEMORY)
			continue;
		/* tags and memory copies have forms of their own; the usual ones must be there */
		ck_assert_msg(step || (group != 2 && group != 3) || !operand.base[0], "0x%08x",
			      word);
		if (!step || register_number(operand.base) == NONE)
			continue;
		compared++;
		ck_assert_msg(step->source == register_number(operand.base) &&
				      step->constant == operand.displacement,
			      "0x%08x: [%d, %lld], not [%s, %lld]", word, step->source,
			      (long long)step->constant, operand.base,
			      (long long)operand.displacement);
	}
	ck_assert_uint_gt(compared, WORDS / 4);
}
END_TEST

int main(void);

#ifdef __x86_64__
START_TEST(test_own_code)
{
	static const char *const names[] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"
	};
	struct fs_x86 *x86 = fs_x86_open(true);
	const uint8_t *code = (const uint8_t *)(uintptr_t)main;
	size_t compared = 0;
	size_t at = 0;

	ck_assert_ptr_nonnull(x86);
	while (at < 1u << 12) {
		struct fs_instruction instruction;
		struct fs_operand operand;
		const struct fs_step *step;
		bool known = fs_operand_x86(x86, code + at, 15, &operand);
		int number = NONE;

		ck_assert_int_eq(fs_step_x86(x86, code + at, 15, at, &instruction), known);
		if (!known)
			break;
		at += instruction.length;
		step = first_access(&instruction);
		for (int i = 0; i < 16; i++) {
			if (!strcmp(operand.base, names[i]))
				number = i;
		}
		/* leave reads by rbp, which our steps copy to rsp before */
		if (operand.kind != FS_OPERAND_MEMORY || number == NONE || number == 7 ||
		    code[at - 1] == 0xc9)
			continue;
		ck_assert_msg(
			step && step->source == number && step->constant == operand.displacement,
			"at %zu: [%s, %lld]", at, operand.base, (long long)operand.displacement);
		compared++;
	}
	ck_assert_uint_gt(compared, 20);
	fs_x86_close(x86);
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("step");
	TCase *tests = tcase_create("step");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tests, test_chosen, 0, sizeof(chosen) / sizeof(chosen[0]));
	tcase_add_test(tests, test_random_words);
#ifdef __x86_64__
	tcase_add_test(tests, test_own_code);
#endif
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
