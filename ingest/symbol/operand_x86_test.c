/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64 operands: chosen encodings; cut-off ones; and every instruction of whole binaries
 * against what objdump's text says of it.
 */
#include "ingest/symbol/operand.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct chosen {
	const char *bytes; /* hex */
	const char *text;
	int op;
	uint32_t width;
	const char *base;
	int64_t displacement;
};

static const struct chosen chosen[] = {
	{ "8b5738", "mov edx, [rdi+0x38]", FS_OP_LOAD, 4, "rdi", 0x38 },
	{ "488904d1", "mov [rcx+rdx*8], rax", FS_OP_STORE, 8, "rcx", 0 },
	{ "0fb606", "movzx eax, byte [rsi]", FS_OP_LOAD, 1, "rsi", 0 },
	{ "0fbf4602", "movsx eax, word [rsi+2]", FS_OP_LOAD, 2, "rsi", 2 },
	{ "8b056e2c0000", "mov eax, [rip+0x2c6e]", FS_OP_LOAD, 4, "rip", 0x2c6e },
	{ "65488b35abf4f27e", "mov rsi, gs:[rip+0x7ef2f4ab]", FS_OP_LOAD, 8, "gs", 0x7ef2f4b3 },
	{ "658305abf4f27e01", "add gs:[rip+0x7ef2f4ab], 1", FS_OP_ATOMIC, 4, "gs", 0x7ef2f4b3 },
	{ "65488b042528000000", "mov rax, gs:[0x28]", FS_OP_LOAD, 8, "gs", 0x28 },
	{ "f00fc130", "lock xadd [rax], esi", FS_OP_ATOMIC, 4, "rax", 0 },
	{ "f0480fb10f", "lock cmpxchg [rdi], rcx", FS_OP_ATOMIC, 8, "rdi", 0 },
	{ "f0480fc70f", "lock cmpxchg16b [rdi]", FS_OP_ATOMIC, 16, "rdi", 0 },
	{ "f083473801", "lock add dword [rdi+0x38], 1", FS_OP_ATOMIC, 4, "rdi", 0x38 },
	{ "f0ff0f", "lock dec dword [rdi]", FS_OP_ATOMIC, 4, "rdi", 0 },
	{ "f0480fba2f05", "lock bts qword [rdi], 5", FS_OP_ATOMIC, 8, "rdi", 0 },
	{ "8707", "xchg [rdi], eax", FS_OP_ATOMIC, 4, "rdi", 0 },
	{ "0107", "add [rdi], eax", FS_OP_ATOMIC, 4, "rdi", 0 },
	{ "48ff07", "inc qword [rdi]", FS_OP_ATOMIC, 8, "rdi", 0 },
	{ "0307", "add eax, [rdi]", FS_OP_LOAD, 4, "rdi", 0 },
	{ "3907", "cmp [rdi], eax", FS_OP_LOAD, 4, "rdi", 0 },
	{ "f6470801", "test byte [rdi+8], 1", FS_OP_LOAD, 1, "rdi", 8 },
	{ "c7473400000000", "mov dword [rdi+0x34], 0", FS_OP_STORE, 4, "rdi", 0x34 },
	{ "0f9407", "sete byte [rdi]", FS_OP_STORE, 1, "rdi", 0 },
	{ "c5fc1107", "vmovups [rdi], ymm0", FS_OP_STORE, 32, "rdi", 0 },
	{ "c5fe6f07", "vmovdqu ymm0, [rdi]", FS_OP_LOAD, 32, "rdi", 0 },
	{ "c5f82f07", "vcomiss xmm0, [rdi]", FS_OP_LOAD, 4, "rdi", 0 },
	{ "660f2f07", "comisd xmm0, [rdi]", FS_OP_LOAD, 8, "rdi", 0 },
	{ "c4e37d190701", "vextractf128 [rdi], ymm0, 1", FS_OP_STORE, 16, "rdi", 0 },
	{ "62f17c48114701", "vmovups [rdi+0x40], zmm0", FS_OP_STORE, 64, "rdi", 64 },
	{ "62f17c49114701", "vmovups [rdi+0x40]{k1}, zmm0", FS_OP_STORE, 0, "rdi", 64 },
	{ "0f2907", "movaps [rdi], xmm0", FS_OP_STORE, 16, "rdi", 0 },
	{ "f20f1007", "movsd xmm0, [rdi]", FS_OP_LOAD, 8, "rdi", 0 },
	{ "660fd607", "movq [rdi], xmm0", FS_OP_STORE, 8, "rdi", 0 },
	{ "0fc307", "movnti [rdi], eax", FS_OP_STORE, 4, "rdi", 0 },
	{ "dd07", "fld qword [rdi]", FS_OP_LOAD, 8, "rdi", 0 },
	{ "db3f", "fstp tword [rdi]", FS_OP_STORE, 10, "rdi", 0 },
	{ "0fae07", "fxsave [rdi]", FS_OP_STORE, 512, "rdi", 0 },
	{ "55", "push rbp", FS_OP_STORE, 8, "rsp", -8 },
	{ "5d", "pop rbp", FS_OP_LOAD, 8, "rsp", 0 },
	{ "ff37", "push qword [rdi]", -1, 8, "", 0 },
	{ "e800000000", "call", FS_OP_STORE, 8, "rsp", -8 },
	{ "ff17", "call [rdi]", -1, 8, "", 0 },
	{ "c3", "ret", FS_OP_LOAD, 8, "rsp", 0 },
	{ "c9", "leave", FS_OP_LOAD, 8, "rbp", 0 },
	{ "ff27", "jmp [rdi]", FS_OP_LOAD, 8, "rdi", 0 },
	{ "a4", "movsb", -1, 1, "", 0 },
	{ "f348a5", "rep movsq", -1, 0, "", 0 },
	{ "f3aa", "rep stosb", FS_OP_STORE, 0, "rdi", 0 },
	{ "48ab", "stosq", FS_OP_STORE, 8, "rdi", 0 },
	{ "f20f38f107", "crc32 eax, dword [rdi]", FS_OP_LOAD, 4, "rdi", 0 },
	{ "64488b042528000000", "mov rax, fs:[0x28]", FS_OP_LOAD, 8, "fs", 0x28 },
	{ "488d4734", "lea rax, [rdi+0x34]", FS_OP_OTHER, 0, "", 0 },
	{ "0f1f440000", "nop [rax+rax]", FS_OP_OTHER, 0, "", 0 },
	{ "f390", "pause", FS_OP_OTHER, 0, "", 0 },
	{ "0f1807", "prefetchnta [rdi]", FS_OP_PREFETCH, 0, "rdi", 0 },
	{ "0f0d4f40", "prefetchw [rdi+0x40]", FS_OP_PREFETCH, 0, "rdi", 0x40 },
	{ "0fae3f", "clflush [rdi]", FS_OP_OTHER, 0, "", 0 },
	{ "01c8", "add eax, ecx", FS_OP_OTHER, 0, "", 0 },
	{ "7509", "jne", FS_OP_BRANCH, 0, "", 0 },
	{ "c4e27d90044f", "vpgatherdd", FS_OP_LOAD, 0, "rdi", 0 },
	{ "c4e27d8e07", "vpmaskmovd [rdi], ymm0, ymm0", FS_OP_STORE, 0, "rdi", 0 },
};

static struct fs_x86 *x86;

static void setup(void)
{
	x86 = fs_x86_open(true);
	ck_assert_ptr_nonnull(x86);
}

static void teardown(void)
{
	fs_x86_close(x86);
}

static size_t from_hex(const char *hex, uint8_t *out)
{
	size_t size = strlen(hex) / 2;

	for (size_t i = 0; i < size; i++) {
		char pair[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		out[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return size;
}

START_TEST(test_chosen)
{
	const struct chosen *want = &chosen[_i];
	struct fs_operand have;
	uint8_t bytes[16];
	size_t size = from_hex(want->bytes, bytes);

	ck_assert_msg(fs_operand_x86(x86, bytes, size, &have) && have.length == size, "%s",
		      want->text);
	ck_assert_msg(fs_operand_op(&have) == want->op && have.width == want->width &&
			      !strcmp(have.base, want->base) &&
			      have.displacement == want->displacement,
		      "%s: op %d width %u base %s displacement %lld", want->text,
		      fs_operand_op(&have), have.width, have.base, (long long)have.displacement);
}
END_TEST

START_TEST(test_cut_off)
{
	struct fs_operand operand;
	uint8_t bytes[16];
	size_t size = from_hex(chosen[_i].bytes, bytes);

	for (size_t shorter = 0; shorter < size; shorter++) {
		uint8_t *exact = malloc(shorter ? shorter : 1); /* so that ASan sees an over-read */

		memcpy(exact, bytes, shorter);
		if (fs_operand_x86(x86, exact, shorter, &operand))
			ck_assert_uint_le(operand.length, shorter);
		free(exact);
	}
	ck_assert_uint_eq(fs_x86_length(x86, bytes, size), size);
}
END_TEST

START_TEST(test_flow)
{
	struct fs_operand operand;

	ck_assert(fs_operand_x86(x86, (const uint8_t *)"\xc3", 1, &operand));
	ck_assert(operand.breaks_flow);
	ck_assert(fs_operand_x86(x86, (const uint8_t *)"\xf3\xa4", 2, &operand));
	ck_assert(operand.interrupted && operand.several);
	ck_assert(fs_operand_x86(x86, (const uint8_t *)"\xf0\x0f\xc1\x30", 4, &operand));
	ck_assert(operand.locked && !operand.breaks_flow);
}
END_TEST

/* ---- whole binaries against objdump -M intel ---- */

struct expected {
	bool known; /* there is one explicit operand of known width */
	uint32_t width;
	char base[8];
	int64_t displacement;
	bool first; /* it stands first */
};

static bool in_list(const char *word, const char *list)
{
	char padded[64];

	snprintf(padded, sizeof(padded), " %s ", word);
	return strstr(list, padded);
}

static uint32_t pointer_width(const char *operands)
{
	static const struct {
		const char *name;
		uint32_t width;
	} names[] = { { "XMMWORD", 16 }, { "YMMWORD", 32 }, { "ZMMWORD", 64 }, { "TBYTE", 10 },
		      { "QWORD", 8 },	 { "DWORD", 4 },    { "WORD", 2 },     { "BYTE", 1 } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strstr(operands, names[i].name))
			return names[i].width;
	}
	return 0;
}

/* "DWORD PTR [rdi+0x38]", "QWORD PTR fs:0x28", "[rax+rcx*8-0x10]" */
static struct expected expect(const char *operands)
{
	struct expected expected = { .width = pointer_width(operands) };
	const char *open = strchr(operands, '[');
	const char *pointer = strstr(operands, " PTR ");
	size_t length;

	expected.known = expected.width && pointer && open && open > pointer &&
			 strstr(open + 1, "[") == NULL;
	if (!expected.known)
		return expected;
	expected.first = !memchr(operands, ',', (size_t)(pointer - operands));
	length = strcspn(open + 1, "+-*]");
	if (open[1 + length] != '*' && open[1] != '0')
		snprintf(expected.base, sizeof(expected.base), "%.*s", (int)length, open + 1);
	else
		expected.known = false; /* an index only: objdump does not tell it from a base */
	for (const char *at = open; *at && *at != ']'; at++) {
		if ((*at == '+' || *at == '-') && at[1] == '0' && at[2] == 'x')
			expected.displacement = (at[0] == '-' ? -1 : 1) * strtoll(at + 1, NULL, 16);
	}
	return expected;
}

static const char modifying[] =
	" add sub and or xor inc dec neg not adc sbb shl shr sar rol ror xadd xchg cmpxchg bts btr "
	"btc shld shrd ";
static const char reading[] = " cmp test bt mul imul div idiv fld fild fadd fmul fsub fsubr fdiv "
			      "fdivr fcom fcomp fiadd fimul fidiv fisub fldcw ldmxcsr jmp ";

static int expected_op(const char *mnemonic, bool locked, const struct expected *expected)
{
	if (!strncmp(mnemonic, "prefetch", 8))
		return FS_OP_PREFETCH;
	if (locked || !strcmp(mnemonic, "xchg"))
		return FS_OP_ATOMIC;
	if (!expected->first)
		return FS_OP_LOAD;
	if (in_list(mnemonic, modifying))
		return FS_OP_ATOMIC;
	return in_list(mnemonic, reading) ? FS_OP_LOAD : FS_OP_STORE;
}

/* Returns 1 for a difference, 0 for none, -1 for an instruction that was not compared. */
static int compare(const uint8_t *bytes, size_t size, const char *text)
{
	char mnemonic[32] = "";
	char operands[160] = "";
	bool locked = !strncmp(text, "lock ", 5);
	struct fs_operand have;
	struct expected want;

	if (locked)
		text += 5;
	sscanf(text, "%31s %159[^\n#<]", mnemonic, operands);
	if (in_list(mnemonic, " nop nopw lea data16 cs rep repz repnz call push pop movs stos cmps "
			      "lods scas notrack bnd (bad) ds addr32 es xchg rex.W "))
		return -1;
	want = expect(operands);
	if (!want.known || strstr(operands, "{k"))
		return -1;
	if (!fs_operand_x86(x86, bytes, size, &have)) {
		if (bytes[0] == 0x62 || bytes[0] == 0xc4 || bytes[0] == 0xc5)
			return -1; /* newer than capstone 4 */
		printf("%s %s: not decoded\n", mnemonic, operands);
		return 1;
	}
	if (bytes[0] == 0x62 && !have.width)
		return -1;
	if (!strncmp(mnemonic, "prefetch", 8) || !strncmp(mnemonic, "vmaskmov", 8) ||
	    strstr(mnemonic, "gather") || !strncmp(mnemonic, "vpmaskmov", 9))
		want.width = 0;
	if (have.length == size && have.width == want.width && !strcmp(have.base, want.base) &&
	    have.displacement == want.displacement &&
	    fs_operand_op(&have) == expected_op(mnemonic, locked, &want))
		return 0;
	printf("%s %s: op %d width %u base %s displacement %lld\n", mnemonic, operands,
	       fs_operand_op(&have), have.width, have.base, (long long)have.displacement);
	return 1;
}

/* One line of objdump: "  401136:\t48 89 e5 \tmov    rbp,rsp" */
static int compare_line(char *line)
{
	uint8_t bytes[16];
	size_t size = 0;
	char *hex = strchr(line, '\t');
	char *text = hex ? strchr(hex + 1, '\t') : NULL;

	if (!text)
		return -1;
	*text++ = '\0';
	for (char *at = hex + 1; size < sizeof(bytes);) {
		char *end;
		unsigned long byte = strtoul(at, &end, 16);

		if (end == at)
			break;
		bytes[size++] = (uint8_t)byte;
		at = end;
	}
	return compare(bytes, size, text);
}

static void compare_binary(const char *path)
{
	char command[512];
	char line[512];
	size_t compared = 0;
	int bad = 0;
	FILE *pipe;

	if (access(path, R_OK) || system("objdump --version >/dev/null 2>&1")) {
		printf("SKIP: %s or objdump is absent\n", path);
		return;
	}
	snprintf(command, sizeof(command), "objdump -d -w -M intel %s 2>/dev/null", path);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		int result = compare_line(line);

		compared += result >= 0;
		bad += result > 0;
	}
	pclose(pipe);
	printf("%s: %zu memory operands compared, %d differ\n", path, compared, bad);
	ck_assert_uint_gt(compared, 50);
	ck_assert_int_eq(bad, 0);
}

START_TEST(test_traced_binaries)
{
	compare_binary("../shared/traces/x86_64/bin/01_ggml_barrier");
	compare_binary("../shared/traces/x86_64/bin/08_spsc_ring");
}
END_TEST

START_TEST(test_c_library)
{
	compare_binary("/lib/x86_64-linux-gnu/libc.so.6");
}
END_TEST

int main(void)
{
	enum { CHOSEN = sizeof(chosen) / sizeof(chosen[0]) };
	Suite *suite = suite_create("operand_x86");
	TCase *cases = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_loop_test(cases, test_chosen, 0, CHOSEN);
	tcase_add_loop_test(cases, test_cut_off, 0, CHOSEN);
	tcase_add_test(cases, test_flow);
	tcase_add_test(cases, test_traced_binaries);
	tcase_add_test(cases, test_c_library);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
