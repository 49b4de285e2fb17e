/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A64 operands: chosen encodings, then random words of the load/store space against what
 * llvm-mc's text says of them. The expectation is derived from the mnemonic and the register
 * names, so it shares nothing with the table under test.
 */
#include "ingest/symbol/operand.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct chosen {
	uint32_t word;
	const char *text;
	int op;
	uint32_t width;
	const char *base;
	int64_t displacement;
};

static const struct chosen chosen[] = {
	{ 0xf9400420, "ldr x0, [x1, #8]", FS_OP_LOAD, 8, "x1", 8 },
	{ 0xb9003be0, "str w0, [sp, #56]", FS_OP_STORE, 4, "sp", 56 },
	{ 0x39400c62, "ldrb w2, [x3, #3]", FS_OP_LOAD, 1, "x3", 3 },
	{ 0x79800041, "ldrsh x1, [x2]", FS_OP_LOAD, 2, "x2", 0 },
	{ 0xf85f8041, "ldur x1, [x2, #-8]", FS_OP_LOAD, 8, "x2", -8 },
	{ 0xf8408441, "ldr x1, [x2], #8", FS_OP_LOAD, 8, "x2", 0 },
	{ 0xf81f0c41, "str x1, [x2, #-16]!", FS_OP_STORE, 8, "x2", -16 },
	{ 0xf8637841, "ldr x1, [x2, x3, lsl #3]", FS_OP_LOAD, 8, "x2", 0 },
	{ 0x3dc00441, "ldr q1, [x2, #16]", FS_OP_LOAD, 16, "x2", 16 },
	{ 0x58000040, "ldr x0, .+8", FS_OP_LOAD, 8, "pc", 8 },
	{ 0xf9800020, "prfm pldl1keep, [x1]", FS_OP_PREFETCH, 0, "x1", 0 },
	{ 0xa9bf7bfd, "stp x29, x30, [sp, #-16]!", FS_OP_STORE, 16, "sp", -16 },
	{ 0xa8c17bfd, "ldp x29, x30, [sp], #16", FS_OP_LOAD, 16, "sp", 0 },
	{ 0x294107e0, "ldp w0, w1, [sp, #8]", FS_OP_LOAD, 8, "sp", 8 },
	{ 0x69410440, "ldpsw x0, x1, [x2, #8]", FS_OP_LOAD, 8, "x2", 8 },
	{ 0x69c10440, "ldpsw x0, x1, [x2, #8]!", FS_OP_LOAD, 8, "x2", 8 },
	{ 0xad410440, "ldp q0, q1, [x2, #32]", FS_OP_LOAD, 32, "x2", 32 },
	{ 0xb8e00041, "ldaddal w0, w1, [x2]", FS_OP_ATOMIC, 4, "x2", 0 },
	{ 0xb820005f, "stadd w0, [x2]", FS_OP_ATOMIC, 4, "x2", 0 },
	{ 0xf8e08041, "swpal x0, x1, [x2]", FS_OP_ATOMIC, 8, "x2", 0 },
	{ 0x88e0fc41, "casal w0, w1, [x2]", FS_OP_ATOMIC, 4, "x2", 0 },
	{ 0x4860fc82, "caspa x0, x1, x2, x3, [x4]", FS_OP_ATOMIC, 16, "x4", 0 },
	{ 0x885ffc41, "ldaxr w1, [x2]", FS_OP_ATOMIC, 4, "x2", 0 },
	{ 0x8803fc41, "stlxr w3, w1, [x2]", FS_OP_ATOMIC, 4, "x2", 0 },
	{ 0xc87f0440, "ldxp x0, x1, [x2]", FS_OP_ATOMIC, 16, "x2", 0 },
	{ 0x889ffc41, "stlr w1, [x2]", FS_OP_STORE, 4, "x2", 0 },
	{ 0x08dffc41, "ldarb w1, [x2]", FS_OP_LOAD, 1, "x2", 0 },
	{ 0xf8bfc041, "ldapr x1, [x2]", FS_OP_LOAD, 8, "x2", 0 },
	{ 0xf8200441, "ldraa x1, [x2]", FS_OP_LOAD, 8, "x2", 0 },
	{ 0x4c400041, "ld4 { v1.16b - v4.16b }, [x2]", FS_OP_LOAD, 64, "x2", 0 },
	{ 0x0d008441, "st1 { v1.d }[0], [x2]", FS_OP_STORE, 8, "x2", 0 },
	{ 0x4d40c841, "ld1r { v1.4s }, [x2]", FS_OP_LOAD, 4, "x2", 0 },
	{ 0xd9200841, "stg x1, [x2]", FS_OP_STORE, 16, "x2", 0 },
	{ 0xd50b7423, "dc zva, x3", FS_OP_STORE, 0, "x3", 0 },
	{ 0xa400a041, "ld1b { z1.b }, p0/z, [x2]", FS_OP_LOAD, 0, "x2", 0 },
	{ 0xf83fd040, "ld64b x0, [x2]", FS_OP_LOAD, 64, "x2", 0 },
	{ 0x8b020020, "add x0, x1, x2", FS_OP_OTHER, 0, "", 0 },
	{ 0xd65f03c0, "ret", FS_OP_BRANCH, 0, "", 0 },
	{ 0x54000041, "b.ne .+8", FS_OP_BRANCH, 0, "", 0 },
};

START_TEST(test_chosen)
{
	const struct chosen *want = &chosen[_i];
	struct fs_operand have;

	ck_assert_msg(fs_operand_a64(want->word, &have), "%s", want->text);
	ck_assert_msg(fs_operand_op(&have) == want->op && have.width == want->width &&
			      !strcmp(have.base, want->base) &&
			      have.displacement == want->displacement,
		      "%s: op %d width %u base %s displacement %lld", want->text,
		      fs_operand_op(&have), have.width, have.base, (long long)have.displacement);
}
END_TEST

START_TEST(test_not_allocated)
{
	static const uint32_t words[] = { 0x00000000, 0xf9c00000, 0xb9c00000,
					  0x68000000, 0xec000000, 0xdc000000 };
	struct fs_operand operand;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert_msg(!fs_operand_a64(words[i], &operand), "%08x", words[i]);
}
END_TEST

/* ---- what a line of llvm-mc says ---- */

struct expected {
	int op;
	uint32_t width;
	char base[8];
	int64_t displacement;
};

static bool starts(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool in_list(const char *word, const char *list)
{
	char padded[64];

	snprintf(padded, sizeof(padded), " %s ", word);
	return strstr(list, padded);
}

/* Bytes of a register by its name's first letter. */
static uint32_t register_width(const char *name)
{
	static const char letters[] = "bhswdxq";
	static const uint32_t widths[] = { 1, 2, 4, 4, 8, 8, 16 };
	const char *found = *name ? strchr(letters, *name) : NULL;

	if (!found)
		return 0;
	return widths[found - letters];
}

static const char *operand_at(const char *operands, int index)
{
	while (index-- > 0) {
		operands = strchr(operands, ',');
		if (!operands)
			return "";
		operands += strspn(operands, ", ");
	}
	return operands;
}

static uint32_t element_width(const char *operands)
{
	const char *dot = strchr(operands, '.');

	if (!dot)
		return 0;
	dot += 1 + strspn(dot + 1, "0123456789");
	return register_width(dot);
}

/* Structures of SIMD registers: { v0.4s, v1.4s } or { v0.s, v1.s }[1]. */
static uint32_t structure_width(const char *mnemonic, const char *operands)
{
	const char *close = strchr(operands, '}');
	uint32_t registers = 1;
	uint32_t elements;

	for (const char *at = operands; at < close; at++)
		registers += *at == ',';
	if (mnemonic[strlen(mnemonic) - 1] == 'r' || close[1] == '[')
		return registers * element_width(operands);
	elements = (uint32_t)strtoul(strchr(operands, '.') + 1, NULL, 10);
	return registers * elements * element_width(operands);
}

static uint32_t suffix_width(const char *mnemonic, uint32_t otherwise)
{
	char last = mnemonic[strlen(mnemonic) - 1];

	if (last == 'b')
		return 1;
	if (last == 'h')
		return 2;
	return otherwise;
}

static const char atomics[] = " add clr eor set smax smin umax umin ";

/* ldadd, stsmaxlb, ...: the middle of the name is in the list. */
static bool is_lse(const char *mnemonic)
{
	static const char *const tails[] = { "",   "a",	  "l", "al", "b",  "ab",
					     "lb", "alb", "h", "ah", "lh", "alh" };

	if (!starts(mnemonic, "ld") && !starts(mnemonic, "st"))
		return false;
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		size_t length = strlen(mnemonic + 2);
		size_t tail = strlen(tails[i]);
		char middle[16] = "";

		if (tail >= length || strcmp(mnemonic + 2 + length - tail, tails[i]))
			continue;
		snprintf(middle, sizeof(middle), "%.*s", (int)(length - tail), mnemonic + 2);
		if (in_list(middle, atomics))
			return true;
	}
	return false;
}

static void expect_address(const char *mnemonic, const char *operands, struct expected *expected)
{
	const char *open = strchr(operands, '[');
	const char *hash;
	size_t length;

	if (strchr(operands, '}') && open && open == strchr(operands, '}') + 1)
		open = strchr(open + 1, '['); /* the first was a lane */
	if (starts(operands, "za") && strchr(operands, '['))
		open = strrchr(operands, '[');
	if (strstr(operands, "{za") && open)
		open = strrchr(operands, '[');
	if (starts(mnemonic, "cpy"))
		return;
	if (!open) {
		if (strchr(operands, '#') && !starts(mnemonic, "dc")) {
			strcpy(expected->base, "pc");
			expected->displacement = strtoll(strrchr(operands, '#') + 1, NULL, 0);
		} else if (starts(mnemonic, "dc") && !strstr(operands, "xzr")) {
			snprintf(expected->base, 8, "%s", operand_at(operands, 1));
		}
		return;
	}
	length = strcspn(open + 1, ",]");
	if (open[1] == 'z')
		return;
	hash = open + 1 + length;
	hash += strspn(hash, ", ");
	if (strstr(open, "mul vl") && *hash == '#')
		return;
	snprintf(expected->base, 8, "%.*s", (int)length, open + 1);
	if (*hash == '#')
		expected->displacement = strtoll(hash + 1, NULL, 0);
}

static uint32_t expect_width(const char *mnemonic, const char *operands)
{
	if (starts(mnemonic, "ld64") || starts(mnemonic, "st64"))
		return 64;
	if (in_list(mnemonic, " stg stzg ldg stgp "))
		return 16;
	if (in_list(mnemonic, " st2g stz2g "))
		return 32;
	if (in_list(mnemonic, " stgm stzgm ldgm dc ") || starts(mnemonic, "cpy") ||
	    starts(mnemonic, "set") || starts(mnemonic, "prf"))
		return 0;
	if (starts(mnemonic, "ld1r") && strchr(operands, 'z') == operands + 2) {
		const char *size = mnemonic + 4 + (mnemonic[4] == 's');

		return *size == 'q' || *size == 'o' ? 0 : register_width(size);
	}
	if (*operands == '{')
		return operands[2] == 'v' ? structure_width(mnemonic, operands) : 0;
	if (*operands == 'z' || *operands == 'p')
		return 0;
	if (in_list(mnemonic, " ldp stp ldnp stnp ldxp ldaxp ") || starts(mnemonic, "casp"))
		return 2 * register_width(operands);
	if (in_list(mnemonic, " stxp stlxp "))
		return 2 * register_width(operand_at(operands, 1));
	if (!strcmp(mnemonic, "ldpsw"))
		return 8;
	if (in_list(mnemonic, " ldraa ldrab "))
		return 8;
	if (strlen(mnemonic) > 2 && !strcmp(mnemonic + strlen(mnemonic) - 2, "sw"))
		return 4;
	if (in_list(mnemonic, " stxr stlxr "))
		return register_width(operand_at(operands, 1));
	return suffix_width(mnemonic, register_width(operands));
}

static struct expected expect(const char *mnemonic, const char *operands)
{
	struct expected expected = { .op = -1 };

	expect_address(mnemonic, operands, &expected);
	expected.width = expect_width(mnemonic, operands);
	if (starts(mnemonic, "prf"))
		expected.op = FS_OP_PREFETCH;
	else if (starts(mnemonic, "cpy"))
		expected.op = -1;
	else if (starts(mnemonic, "cas") || starts(mnemonic, "swp") || is_lse(mnemonic) ||
		 starts(mnemonic, "ldx") || starts(mnemonic, "ldax") || starts(mnemonic, "stx") ||
		 starts(mnemonic, "stlx"))
		expected.op = FS_OP_ATOMIC;
	else if (starts(mnemonic, "ld"))
		expected.op = FS_OP_LOAD;
	else if (starts(mnemonic, "st") || starts(mnemonic, "set") || starts(mnemonic, "dc"))
		expected.op = FS_OP_STORE;
	else
		expected.op = FS_OP_OTHER;
	return expected;
}

/* ---- random words ---- */

static uint64_t random_state = 20240601;

static uint32_t random_word(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 32);
}

/* A word of the load/store, SVE or SME space; fields that must be all ones or zeros often are. */
static uint32_t memory_word(void)
{
	static const uint32_t sve[] = { 0x84000000, 0xa4000000, 0xc4000000, 0xe4000000,
					0xe0000000 };
	uint32_t word = random_word();
	uint32_t dice = random_word();

	if (dice % 4 == 0)
		word = (word & 0x01ffffff) | sve[dice / 4 % 5];
	else
		word = (word & ~0x0a000000u) | 0x08000000;
	if (dice >> 8 & 1)
		word |= 0x7c00; /* Rt2 */
	if ((dice >> 9 & 7) == 0)
		word |= 0x1f0000; /* Rs */
	if ((dice >> 9 & 7) == 1)
		word &= ~0x1f0000u;
	if ((dice >> 12 & 3) == 0)
		word &= ~0xfc00u;
	if ((dice >> 14 & 15) == 0)
		word = (word & 0x1f) | 0xd50b7400 | (word & 0xe0);
	return word;
}

enum { WORDS = 100000 };

/* Write the words as bytes, each behind a nop that marks its place. */
static void write_words(FILE *file, const uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(file, "0x1f 0x20 0x03 0xd5\n0x%02x 0x%02x 0x%02x 0x%02x\n", words[i] & 255,
			words[i] >> 8 & 255, words[i] >> 16 & 255, words[i] >> 24);
}

static const char llvm_mc[] =
	"llvm-mc --disassemble -triple=aarch64 -mattr=+v8.8a,+lse,+rcpc,+rcpc-immo,+pauth,+ls64,"
	"+mte,+sve,+sve2,+f64mm,+sme,+sme-i64,+mops,+fullfp16,+tme";

/*
 * What llvm-mc may refuse: encodings newer than the oldest one this runs with, among them the
 * holes of the SVE store group, which holds stores only; and combinations of registers that the
 * manual forbids for MOPS and LS64.
 */
static bool may_be_refused(uint32_t word)
{
	return (word & 0xfe000000) == 0xe4000000 || /* SVE stores */
	       (word & 0xfb200c00) == 0x19000400 || /* MOPS */
	       (word & 0xff208c18) == 0xf8208018 || /* LS64 beyond x23 */
	       (word & 0x3f200c00) == 0x1d000800 || /* LRCPC3 SIMD */
	       (word & 0xbf200c00) == 0x99000800 || /* LRCPC3 pairs, writeback */
	       (word & 0xbfbffc00) == 0x0d018400 || /* ldap1, stl1 */
	       (word & 0xbf200000) == 0x19200000 || /* LSE128, rcwcas */
	       (word & 0xbf208c00) == 0x38208000 || /* rcw */
	       (word & 0xffdffc1f) == 0xe11f8000;   /* zt0 */
}

/* Compare one word; text is NULL where llvm-mc refuses it. Returns 1 if they differ. */
static int compare(uint32_t word, const char *text)
{
	char mnemonic[32] = "";
	char operands[128] = "";
	struct fs_operand have;
	struct expected want;
	bool decoded = fs_operand_a64(word, &have);

	if (!text) {
		if (!decoded || may_be_refused(word) || have.kind == FS_OPERAND_NO_MEMORY)
			return 0;
		printf("%08x: llvm-mc has no instruction, we have op %d width %u\n", word,
		       fs_operand_op(&have), have.width);
		return 1;
	}
	sscanf(text, " %31s %127[^\n]", mnemonic, operands);
	want = expect(mnemonic, operands);
	if (!decoded) {
		printf("%08x: %s %s: not decoded\n", word, mnemonic, operands);
		return 1;
	}
	if (want.op == FS_OP_OTHER ||
	    (!strcmp(mnemonic, "dc") && !strstr(operands, "zva") && !strstr(operands, "gva")))
		return fs_operand_op(&have) != FS_OP_OTHER;
	if (want.op == fs_operand_op(&have) && want.width == have.width &&
	    !strcmp(want.base, have.base) && want.displacement == have.displacement)
		return 0;
	printf("%08x: %s %s: op %d width %u base %s %lld, not op %d width %u base %s %lld\n", word,
	       mnemonic, operands, fs_operand_op(&have), have.width, have.base,
	       (long long)have.displacement, want.op, want.width, want.base,
	       (long long)want.displacement);
	return 1;
}

START_TEST(test_against_llvm_mc)
{
	static uint32_t words[WORDS];
	char path[] = "/tmp/fs_a64_XXXXXX";
	char command[512];
	char line[256];
	char text[256];
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	FILE *pipe;
	size_t at = 0;
	size_t instructions = 0;
	int bad = 0;

	if (system("llvm-mc --version >/dev/null 2>&1")) {
		printf("SKIP: llvm-mc is not installed\n");
		fclose(file);
		unlink(path);
		return;
	}
	for (size_t i = 0; i < WORDS; i++)
		words[i] = memory_word();
	write_words(file, words, WORDS);
	fclose(file);
	snprintf(command, sizeof(command), "%s %s 2>/dev/null", llvm_mc, path);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	text[0] = '\0';
	for (bool started = false; fgets(line, sizeof(line), pipe);) {
		if (strstr(line, ".text"))
			continue;
		if (strcmp(line, "\tnop\n")) {
			strcpy(text, line);
			instructions++;
			continue;
		}
		if (started && at < WORDS)
			bad += compare(words[at++], text[0] ? text : NULL);
		started = true;
		text[0] = '\0';
	}
	ck_assert_uint_lt(at, WORDS);
	bad += compare(words[at++], text[0] ? text : NULL);
	pclose(pipe);
	unlink(path);
	printf("%zu words, %zu instructions by llvm-mc, %d differences\n", at, instructions, bad);
	ck_assert_uint_eq(at, WORDS);
	ck_assert_uint_gt(instructions, WORDS / 4);
	ck_assert_int_eq(bad, 0);
}
END_TEST

/* ---- whole binaries against objdump ---- */

/* Returns 1 for a difference, 0 for none, -1 for what was not compared. */
static int compare_objdump(uint32_t word, char *text)
{
	char mnemonic[32] = "";
	char operands[128] = "";
	struct fs_operand have;

	text[strcspn(text, "<\n")] = '\0';
	if (strstr(text, "//"))
		*strstr(text, "//") = '\0';
	sscanf(text, "%31s %127[^\n]", mnemonic, operands);
	if (mnemonic[0] == '.' || in_list(mnemonic, " udf undefined "))
		return -1;
	if (strchr(operands, '[') && !strchr(operands, '{'))
		return compare(word, text);
	if (!fs_operand_a64(word, &have)) {
		printf("%08x: %s: not decoded\n", word, text);
		return 1;
	}
	if (strchr(operands, '{') || starts(mnemonic, "ldr") || starts(mnemonic, "prfm"))
		return have.kind != FS_OPERAND_MEMORY && have.kind != FS_OPERAND_PREFETCH ? -1 : 0;
	if (starts(mnemonic, "dc"))
		return -1;
	if (have.kind != FS_OPERAND_MEMORY)
		return 0;
	printf("%08x: %s: taken for a memory access\n", word, text);
	return 1;
}

static void compare_binary(const char *path)
{
	char command[512];
	char line[256];
	size_t compared = 0;
	int bad = 0;
	FILE *pipe;

	if (access(path, R_OK) || system("aarch64-linux-gnu-objdump --version >/dev/null 2>&1")) {
		printf("SKIP: %s or aarch64-linux-gnu-objdump is absent\n", path);
		return;
	}
	snprintf(command, sizeof(command), "aarch64-linux-gnu-objdump -d %s 2>/dev/null", path);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		char *hex = strchr(line, '\t');
		char *text = hex ? strchr(hex + 1, '\t') : NULL;
		int result;

		if (!text)
			continue;
		result = compare_objdump((uint32_t)strtoul(hex, NULL, 16), text + 1);
		compared += result >= 0;
		bad += result > 0;
	}
	pclose(pipe);
	printf("%s: %zu instructions compared, %d differ\n", path, compared, bad);
	ck_assert_uint_gt(compared, 50);
	ck_assert_int_eq(bad, 0);
}

START_TEST(test_binaries)
{
	compare_binary("../shared/traces/aarch64/bin/01_ggml_barrier");
	compare_binary("../shared/traces/aarch64/bin/08_spsc_ring");
	compare_binary("/usr/aarch64-linux-gnu/lib/libc.so.6");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("operand_a64");
	TCase *cases = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(cases, 120);
	tcase_add_loop_test(cases, test_chosen, 0, sizeof(chosen) / sizeof(chosen[0]));
	tcase_add_test(cases, test_not_allocated);
	tcase_add_test(cases, test_against_llvm_mc);
	tcase_add_test(cases, test_binaries);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
