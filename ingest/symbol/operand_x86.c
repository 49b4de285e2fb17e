/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86 memory operands: capstone decodes the bytes, we say what they do.
 *
 * Capstone 4 tells operand sizes and address parts, but its access flags are wrong for locked
 * cmpxchg and for AVX stores, and it leaves implicit operands out. So the direction follows from
 * the instruction: an operand that is not the first is read; the first one is as the table
 * `destinations` has its mnemonic; strings and the stack are named in `implicit`. A destination
 * that the table does not know has no direction. After Intel SDM volume 2 and AMD APM volume 3.
 */
#include "ingest/symbol/operand_x86.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum access { ACCESS_UNKNOWN, READS, WRITES, MODIFIES, TOUCHES_NOTHING, PREFETCHES };

struct rule {
	const char *name; /* a mnemonic; with a final * the start of one */
	enum access access;
};

/* What happens to a memory operand that stands first. The first match counts. */
static const struct rule destinations[] = {
	{ "mov*", WRITES },
	{ "vmov*", WRITES },
	{ "cmp", READS },
	{ "test", READS },
	{ "add", MODIFIES },
	{ "sub", MODIFIES },
	{ "inc", MODIFIES },
	{ "dec", MODIFIES },
	{ "and", MODIFIES },
	{ "or", MODIFIES },
	{ "xor", MODIFIES },
	{ "xchg", MODIFIES },
	{ "xadd", MODIFIES },
	{ "cmpxchg", MODIFIES },
	{ "cmpxchg8b", MODIFIES },
	{ "cmpxchg16b", MODIFIES },
	{ "adc", MODIFIES },
	{ "sbb", MODIFIES },
	{ "neg", MODIFIES },
	{ "not", MODIFIES },
	{ "shl", MODIFIES },
	{ "sal", MODIFIES },
	{ "shr", MODIFIES },
	{ "sar", MODIFIES },
	{ "rol", MODIFIES },
	{ "ror", MODIFIES },
	{ "rcl", MODIFIES },
	{ "rcr", MODIFIES },
	{ "shld", MODIFIES },
	{ "shrd", MODIFIES },
	{ "bts", MODIFIES },
	{ "btr", MODIFIES },
	{ "btc", MODIFIES },
	{ "bt", READS },
	{ "push", READS },
	{ "call", READS },
	{ "jmp", READS },
	{ "lcall", READS },
	{ "ljmp", READS },
	{ "mul", READS },
	{ "imul", READS },
	{ "div", READS },
	{ "idiv", READS },
	{ "pop", WRITES },
	{ "set*", WRITES },
	{ "nop", TOUCHES_NOTHING },
	{ "prefetch*", PREFETCHES },
	{ "clflush*", TOUCHES_NOTHING },
	{ "clwb", TOUCHES_NOTHING },
	{ "cldemote", TOUCHES_NOTHING },
	{ "invlpg*", TOUCHES_NOTHING },
	{ "fld*", READS },
	{ "fild", READS },
	{ "fbld", READS },
	{ "frstor", READS },
	{ "fxrstor*", READS },
	{ "fadd", READS },
	{ "fiadd", READS },
	{ "fmul", READS },
	{ "fimul", READS },
	{ "fcom*", READS },
	{ "ficom*", READS },
	{ "fsub*", READS },
	{ "fisub*", READS },
	{ "fdiv*", READS },
	{ "fidiv*", READS },
	{ "fst*", WRITES },
	{ "fist*", WRITES },
	{ "fbstp", WRITES },
	{ "fnst*", WRITES },
	{ "fnsave", WRITES },
	{ "fxsave*", WRITES },
	{ "xsave*", WRITES },
	{ "xrstor*", READS },
	{ "ldmxcsr", READS },
	{ "vldmxcsr", READS },
	{ "stmxcsr", WRITES },
	{ "vstmxcsr", WRITES },
	{ "lgdt", READS },
	{ "lidt", READS },
	{ "lldt", READS },
	{ "ltr", READS },
	{ "lmsw", READS },
	{ "verr", READS },
	{ "verw", READS },
	{ "ptwrite", READS },
	{ "sgdt", WRITES },
	{ "sidt", WRITES },
	{ "sldt", WRITES },
	{ "str", WRITES },
	{ "smsw", WRITES },
	{ "extractps", WRITES },
	{ "vextract*", WRITES },
	{ "pextr*", WRITES },
	{ "vpextr*", WRITES },
	{ "vcvtps2ph", WRITES },
	{ "vpmov*", WRITES },
	{ "vpcompress*", WRITES },
	{ "vcompress*", WRITES },
	{ "vscatter*", WRITES },
	{ "vpscatter*", WRITES },
	{ "vmaskmov*", WRITES },
	{ "vpmaskmov*", WRITES },
	{ "kmov*", WRITES },
	{ "vgatherpf*", PREFETCHES },
	{ "vscatterpf*", PREFETCHES },
};

/* Memory operands after the first that are not read. */
static const struct rule sources[] = {
	{ "lea", TOUCHES_NOTHING },
	{ "bndmk", TOUCHES_NOTHING },
	{ "xchg", MODIFIES },
	{ "nop", TOUCHES_NOTHING },
	{ "movdir64b", ACCESS_UNKNOWN },
	{ "enqcmd*", ACCESS_UNKNOWN },
	{ "bnd*", ACCESS_UNKNOWN },
	{ "inv*", READS },
};

/* Accesses whose width is not fixed, or not told right by capstone. */
static const char *const unsized[] = {
	"xsave*",      "xrstor*",    "fnstenv",	  "fldenv",    "fnsave",    "frstor",
	"vmaskmov*",   "vpmaskmov*", "vgather*",  "vpgather*", "vscatter*", "vpscatter*",
	"vpcompress*", "vcompress*", "vpexpand*", "vexpand*",  "vcvtps2ph", "lcall",
	"ljmp",	       "lds",	     "les",	  "lfs",       "lgs",	    "lss",
};

/* What capstone 4 has wrong. */
static const struct {
	const char *name;
	uint32_t width;
} widths[] = {
	{ "comiss", 4 }, { "ucomiss", 4 }, { "comisd", 8 },    { "ucomisd", 8 },    { "fnstsw", 2 },
	{ "lar", 2 },	 { "lsl", 2 },	   { "fxsave*", 512 }, { "fxrstor*", 512 },
};

static bool name_matches(const char *name, const char *pattern)
{
	size_t length = strlen(pattern);

	if (pattern[length - 1] == '*')
		return !strncmp(name, pattern, length - 1);
	return !strcmp(name, pattern);
}

static enum access look_up(const struct rule *rules, size_t count, const char *name,
			   enum access otherwise)
{
	for (size_t i = 0; i < count; i++) {
		if (name_matches(name, rules[i].name))
			return rules[i].access;
	}
	return otherwise;
}

#define LOOK_UP(rules, name, otherwise)                                                            \
	look_up((rules), sizeof(rules) / sizeof((rules)[0]), (name), (otherwise))

struct fs_x86 *fs_x86_open(bool bits64)
{
	struct fs_x86 *x86 = calloc(1, sizeof(*x86));

	if (!x86)
		return NULL;
	x86->bits64 = bits64;
	if (cs_open(CS_ARCH_X86, bits64 ? CS_MODE_64 : CS_MODE_32, &x86->handle)) {
		free(x86);
		return NULL;
	}
	cs_option(x86->handle, CS_OPT_DETAIL, CS_OPT_ON);
	x86->instruction = cs_malloc(x86->handle);
	if (!x86->instruction) {
		fs_x86_close(x86);
		return NULL;
	}
	return x86;
}

void fs_x86_close(struct fs_x86 *x86)
{
	if (!x86)
		return;
	if (x86->instruction)
		cs_free(x86->instruction, 1);
	cs_close(&x86->handle);
	free(x86);
}

bool fs_x86_decode(struct fs_x86 *x86, const uint8_t *bytes, size_t size)
{
	uint64_t address = 0;

	if (size > 15)
		size = 15;
	return cs_disasm_iter(x86->handle, &bytes, &size, &address, x86->instruction);
}

size_t fs_x86_length(struct fs_x86 *x86, const uint8_t *bytes, size_t size)
{
	return fs_x86_decode(x86, bytes, size) ? x86->instruction->size : 0;
}

/* The legacy prefixes, which capstone keeps only the last of each group of. */
struct prefixes {
	bool lock;
	bool repeat;
	bool operand_size;
};

static struct prefixes prefixes_of(const cs_insn *instruction)
{
	struct prefixes prefixes = { 0 };

	for (uint16_t i = 0; i < instruction->size; i++) {
		switch (instruction->bytes[i]) {
		case 0xf0:
			prefixes.lock = true;
			break;
		case 0xf2:
		case 0xf3:
			prefixes.repeat = true;
			break;
		case 0x66:
			prefixes.operand_size = true;
			break;
		case 0x67:
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
			break;
		default:
			return prefixes;
		}
	}
	return prefixes;
}

static void set_access(struct fs_operand *operand, enum access access)
{
	operand->kind = FS_OPERAND_MEMORY;
	switch (access) {
	case READS:
		operand->reads = true;
		break;
	case WRITES:
		operand->writes = true;
		break;
	case MODIFIES:
		operand->reads = operand->writes = true;
		break;
	case PREFETCHES:
		operand->kind = FS_OPERAND_PREFETCH;
		break;
	case TOUCHES_NOTHING:
		operand->kind = FS_OPERAND_NO_MEMORY;
		break;
	case ACCESS_UNKNOWN:
		break;
	}
}

static void set_base(struct fs_x86 *x86, struct fs_operand *operand, const x86_op_mem *memory)
{
	x86_reg base = memory->base;
	const char *name;

	if (base == X86_REG_RIP && memory->segment == X86_REG_GS) {
		base = X86_REG_GS;
		operand->from_here = true;
	}
	if (base == X86_REG_INVALID &&
	    (memory->segment == X86_REG_FS || memory->segment == X86_REG_GS))
		base = memory->segment;
	name = base == X86_REG_INVALID ? NULL : cs_reg_name(x86->handle, base);
	if (!name || strlen(name) >= sizeof(operand->base))
		return;
	snprintf(operand->base, sizeof(operand->base), "%s", name);
	operand->displacement = memory->disp + (operand->from_here ? x86->instruction->size : 0);
}

/* A second place: only what both have in common is still true. */
static void add_place(struct fs_operand *operand, enum access access, uint32_t width)
{
	bool first = operand->kind != FS_OPERAND_MEMORY;

	set_access(operand, access);
	operand->base[0] = '\0';
	operand->displacement = 0;
	if (first)
		operand->width = width;
	else if (operand->width != width)
		operand->width = 0;
	operand->several = !first;
}

/* The stack access of push, pop, call, ret and their kin, beside any explicit operand. */
static void add_stack(struct fs_x86 *x86, struct fs_operand *operand, const char *name,
		      const struct prefixes *prefixes)
{
	static const struct rule stack[] = {
		{ "pushal", ACCESS_UNKNOWN },
		{ "pushaw", ACCESS_UNKNOWN },
		{ "popal", ACCESS_UNKNOWN },
		{ "popaw", ACCESS_UNKNOWN },
		{ "push*", WRITES },
		{ "call", WRITES },
		{ "popcnt", TOUCHES_NOTHING },
		{ "pop*", READS },
		{ "ret", READS },
		{ "leave", READS },
		{ "enter", WRITES },
		{ "lcall", ACCESS_UNKNOWN },
		{ "retf*", ACCESS_UNKNOWN },
		{ "iret*", ACCESS_UNKNOWN },
	};
	enum access access = LOOK_UP(stack, name, TOUCHES_NOTHING);
	bool narrow = prefixes->operand_size && name[0] == 'p';
	uint32_t width = narrow ? 2 : x86->bits64 ? 8 : 4;
	const char *base = x86->bits64 ? "rsp" : "esp";

	if (access == TOUCHES_NOTHING)
		return;
	add_place(operand, access, access == ACCESS_UNKNOWN ? 0 : width);
	if (access == ACCESS_UNKNOWN || operand->several)
		return;
	if (!strcmp(name, "leave"))
		base = x86->bits64 ? "rbp" : "ebp";
	snprintf(operand->base, sizeof(operand->base), "%s", base);
	operand->displacement = access == WRITES ? -(int64_t)width : 0;
}

/* Strings and the few others whose memory operand no operand shows. Returns false if none. */
static bool implicit(struct fs_x86 *x86, struct fs_operand *operand, const char *name,
		     const struct prefixes *prefixes)
{
	static const struct rule strings[] = {
		{ "movsb", MODIFIES }, { "movsw", MODIFIES }, { "movsd", MODIFIES },
		{ "movsq", MODIFIES }, { "cmpsb", READS },    { "cmpsw", READS },
		{ "cmpsd", READS },    { "cmpsq", READS },    { "stosb", WRITES },
		{ "stosw", WRITES },   { "stosd", WRITES },   { "stosq", WRITES },
		{ "lodsb", READS },    { "lodsw", READS },    { "lodsd", READS },
		{ "lodsq", READS },    { "scasb", READS },    { "scasw", READS },
		{ "scasd", READS },    { "scasq", READS },    { "insb", WRITES },
		{ "insw", WRITES },    { "insd", WRITES },    { "outsb", READS },
		{ "outsw", READS },    { "outsd", READS },
	};
	static const char letters[] = "bwdq";
	const uint8_t opcode = x86->instruction->detail->x86.opcode[0];
	bool string = (opcode >= 0x6c && opcode <= 0x6f) || (opcode >= 0xa4 && opcode <= 0xa7) ||
		      (opcode >= 0xaa && opcode <= 0xaf);
	enum access access = LOOK_UP(strings, name, TOUCHES_NOTHING);

	if (!strncmp(name, "maskmov", 7) || !strncmp(name, "vmaskmovdqu", 11)) {
		set_access(operand, WRITES);
		strcpy(operand->base, x86->bits64 ? "rdi" : "edi");
		return true;
	}
	if (!strncmp(name, "xlat", 4)) { /* [rbx + al] */
		set_access(operand, READS);
		strcpy(operand->base, x86->bits64 ? "rbx" : "ebx");
		operand->width = 1;
		return true;
	}
	if (!string || access == TOUCHES_NOTHING)
		return false;
	set_access(operand, access);
	operand->several = name[0] == 'm' || name[0] == 'c';
	operand->interrupted = prefixes->repeat;
	if (!prefixes->repeat)
		operand->width = 1u << (strchr(letters, name[4 - (name[0] == 'i')]) - letters);
	if (!operand->several)
		strcpy(operand->base, name[0] == 'l' || name[0] == 'o'
					      ? (x86->bits64 ? "rsi" : "esi")
					      : (x86->bits64 ? "rdi" : "edi"));
	return true;
}

/* vaddss, vcomisd, vfmadd213ss ...: one element, whatever capstone says. Not vpabsd. */
static uint32_t scalar_width(const char *name)
{
	size_t length = strlen(name);

	if (name[0] != 'v' || name[1] == 'p' || !strncmp(name, "vcvt", 4) || length < 3)
		return 0;
	if (!strcmp(name + length - 2, "ss"))
		return 4;
	return strcmp(name + length - 2, "sd") ? 0 : 8;
}

static uint32_t width_of(const char *name, uint32_t told)
{
	uint32_t scalar = scalar_width(name);

	for (size_t i = 0; i < sizeof(unsized) / sizeof(unsized[0]); i++) {
		if (name_matches(name, unsized[i]))
			return 0;
	}
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		if (name_matches(name, widths[i].name))
			return widths[i].width;
	}
	return scalar ? scalar : told;
}

/* The first byte behind legacy prefixes is 0x62, which in 64-bit mode is nothing else. */
static bool is_evex(const struct fs_x86 *x86)
{
	const cs_insn *instruction = x86->instruction;
	size_t at = 0;

	while (at < instruction->size &&
	       memchr("\x64\x65\x67\x2e\x3e\x26\x36", instruction->bytes[at], 7))
		at++;
	return x86->bits64 && at < instruction->size && instruction->bytes[at] == 0x62;
}

/*
 * AVX-512: capstone 4 often has the vector length wrong, and with it the scale of an 8-bit
 * displacement. Only plain moves and scalars are told, moves by the length in the prefix; the
 * displacement counts in that width. Elsewhere width is unknown, and so is the address unless
 * its displacement is one of 32 bits or none.
 */
static void fix_evex(const cs_insn *instruction, const char *name, struct fs_operand *operand)
{
	const cs_x86 *detail = &instruction->detail->x86;
	const uint8_t *evex = memchr(instruction->bytes, 0x62, 3);
	bool whole = !strncmp(name, "vmovdq", 6) || !strncmp(name, "vmovap", 6) ||
		     !strncmp(name, "vmovup", 6) || !strncmp(name, "vmovntdq", 8) ||
		     !strncmp(name, "vmovntp", 7);
	uint32_t scalar = scalar_width(name) ? evex && evex[2] >> 7 ? 8 : 4 : 0;
	uint8_t third = evex && evex + 3 < instruction->bytes + instruction->size ? evex[3] : 0;
	unsigned int length = third >> 5 & 3;

	operand->width = whole && length < 3 ? 16u << length : scalar;
	if (!strcmp(name, "vmovd") || !strcmp(name, "vmovq"))
		operand->width = name[4] == 'd' ? 4 : 8;
	if (detail->modrm >> 6 == 1) { /* an 8-bit displacement */
		int8_t disp8 = (int8_t)instruction->bytes[detail->encoding.disp_offset];

		if (operand->width && detail->encoding.disp_size == 1 &&
		    detail->encoding.disp_offset < instruction->size)
			operand->displacement = (int64_t)disp8 * operand->width;
		else
			operand->base[0] = '\0';
	}
	if (third & 7) /* a mask: only its elements */
		operand->width = 0;
	if (!operand->base[0])
		operand->displacement = 0;
}

static void explicit_operand(struct fs_x86 *x86, struct fs_operand *operand, const char *name)
{
	const cs_x86 *detail = &x86->instruction->detail->x86;

	for (uint8_t i = 0; i < detail->op_count; i++) {
		const cs_x86_op *op = &detail->operands[i];

		if (op->type != X86_OP_MEM)
			continue;
		set_access(operand, i ? LOOK_UP(sources, name, READS)
				      : LOOK_UP(destinations, name, ACCESS_UNKNOWN));
		if (operand->kind == FS_OPERAND_NO_MEMORY)
			return;
		set_base(x86, operand, &op->mem);
		operand->width = width_of(name, op->size);
		if (is_evex(x86))
			fix_evex(x86->instruction, name, operand);
		if (operand->kind == FS_OPERAND_PREFETCH)
			operand->width = 0;
		return;
	}
}

static bool breaks_flow(const struct fs_x86 *x86)
{
	static const uint8_t groups[] = { CS_GRP_JUMP, CS_GRP_CALL, CS_GRP_RET,
					  CS_GRP_INT,  CS_GRP_IRET, CS_GRP_BRANCH_RELATIVE };

	for (size_t i = 0; i < sizeof(groups); i++) {
		if (cs_insn_group(x86->handle, x86->instruction, groups[i]))
			return true;
	}
	return false;
}

bool fs_operand_x86(struct fs_x86 *x86, const uint8_t *bytes, size_t size,
		    struct fs_operand *ret_operand)
{
	struct fs_operand operand = { 0 };
	struct prefixes prefixes;
	const char *name;

	if (!fs_x86_decode(x86, bytes, size))
		return false;
	name = cs_insn_name(x86->handle, x86->instruction->id);
	if (!name)
		return false;
	prefixes = prefixes_of(x86->instruction);
	operand.length = (uint8_t)x86->instruction->size;
	operand.breaks_flow = breaks_flow(x86);
	if (!implicit(x86, &operand, name, &prefixes)) {
		explicit_operand(x86, &operand, name);
		add_stack(x86, &operand, name, &prefixes);
	}
	if (operand.kind == FS_OPERAND_MEMORY && (prefixes.lock || !strcmp(name, "xchg")))
		operand.locked = operand.reads = operand.writes = true;
	if (operand.kind == FS_OPERAND_NO_MEMORY && operand.breaks_flow)
		operand.kind = FS_OPERAND_BRANCH;
	*ret_operand = operand;
	return true;
}
