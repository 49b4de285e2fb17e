/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64 instructions as steps.
 *
 * How it works: capstone names the instruction and its operands. Forms that carry addresses have
 * rules of their own; for all others the first operand and the registers that capstone calls
 * written are lost. A 32-bit result is never an address.
 */
#include <string.h>

#include "ingest/symbol/operand_x86.h"
#include "ingest/symbol/step.h"

/* DWARF's 16 is the return address, which no instruction names: what is loaded to be added. */
enum { RAX = 0, RCX = 2, RSI = 4, RDI = 5, RBP = 6, RSP = 7, LOADED = 16 };

/* Where an operand lies: a register by DWARF's number and its bytes. */
struct place {
	int8_t number; /* FS_NO_REGISTER: none of the general ones */
	uint8_t bytes;
};

/* rax, eax, ax, al, ah: the families in DWARF's order. */
static struct place place_of(x86_reg reg)
{
	static const x86_reg families[16][5] = {
		{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
		{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
		{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
		{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
		{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
		{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
		{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
		{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
		{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
		{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
		{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
		{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B },
	};
	static const uint8_t bytes[5] = { 8, 4, 2, 1, 1 };

	for (int8_t number = 0; reg != X86_REG_INVALID && number < 16; number++) {
		for (unsigned int i = 0; i < 5; i++) {
			if (families[number][i] == reg)
				return (struct place){ number, bytes[i] };
		}
	}
	return (struct place){ FS_NO_REGISTER, 0 };
}

static struct fs_step *add(struct fs_instruction *out, enum fs_step_kind kind, int8_t target)
{
	struct fs_step *step = &out->steps[out->count];

	if (out->count < FS_STEPS_MAX - 1)
		out->count++;
	*step = (struct fs_step){ .kind = kind,
				  .target = target,
				  .source = FS_NO_REGISTER,
				  .index = FS_NO_REGISTER,
				  .factor = FS_NO_REGISTER };
	return step;
}

static void copy(struct fs_instruction *out, int8_t target, int8_t source, int64_t constant)
{
	struct fs_step *step = add(out, FS_STEP_COPY, target);

	step->source = source;
	step->constant = constant;
}

static void narrow(struct fs_instruction *out, int8_t target, int8_t source)
{
	add(out, FS_STEP_NARROW, target)->source = source;
}

static void scaled(struct fs_instruction *out, int8_t target, int8_t index, uint32_t scale)
{
	struct fs_step *step = add(out, FS_STEP_INDEX, target);

	step->index = index;
	step->scale = scale;
}

/* Give a step the address of a memory operand. */
static void address_of(const cs_x86_op *op, uint64_t next, struct fs_step *step)
{
	const x86_op_mem *memory = &op->mem;

	step->constant = memory->disp;
	step->thread = memory->segment == X86_REG_FS;
	step->index = place_of(memory->index).number;
	step->scale = step->index == FS_NO_REGISTER ? 0 : (uint32_t)memory->scale;
	if (memory->base == X86_REG_RIP)
		step->constant += (int64_t)next;
	else
		step->source = place_of(memory->base).number;
}

static void touch(const cs_x86_op *op, uint64_t next, enum fs_step_kind kind, int8_t target,
		  struct fs_instruction *out)
{
	struct fs_step *step = add(out, kind, target);

	step->width = op->size;
	address_of(op, next, step);
}

static void load_effective_address(const cs_x86 *detail, uint64_t next, struct fs_instruction *out)
{
	struct place target = place_of(detail->operands[0].reg);
	struct fs_step where = { .source = FS_NO_REGISTER };
	struct fs_step *step;

	address_of(&detail->operands[1], next, &where);
	if (target.bytes != 8)
		add(out, FS_STEP_LOSE, target.number);
	else if (where.index == FS_NO_REGISTER && where.source == FS_NO_REGISTER)
		add(out, FS_STEP_ADDRESS, target.number)->constant = where.constant;
	else if (where.index == FS_NO_REGISTER)
		copy(out, target.number, where.source, where.constant);
	else {
		step = add(out, FS_STEP_INDEX, target.number);
		step->source = where.source;
		step->index = where.index;
		step->scale = where.scale;
		step->constant = where.constant;
	}
}

/* mov and its like between registers, memory and constants. False: no rule. */
static bool move(const cs_x86 *detail, uint64_t next, struct fs_instruction *out)
{
	const cs_x86_op *to = &detail->operands[0];
	const cs_x86_op *from = &detail->operands[1];
	struct place target;

	if (detail->op_count != 2)
		return false;
	if (to->type == X86_OP_MEM) {
		struct place source = from->type == X86_OP_REG
					      ? place_of(from->reg)
					      : (struct place){ FS_NO_REGISTER, 0 };

		touch(to, next, FS_STEP_STORE, source.number, out);
		return true;
	}
	if (to->type != X86_OP_REG)
		return false;
	target = place_of(to->reg);
	if (from->type == X86_OP_MEM) {
		touch(from, next, FS_STEP_LOAD, target.number, out);
		return true;
	}
	if (target.number == FS_NO_REGISTER)
		return true;
	if (from->type == X86_OP_IMM && target.bytes >= 4) {
		add(out, FS_STEP_ADDRESS, target.number)->constant =
			target.bytes == 4 ? (int64_t)(uint32_t)from->imm : from->imm;
	} else if (from->type == X86_OP_REG && target.bytes == 8 &&
		   place_of(from->reg).number != FS_NO_REGISTER) {
		copy(out, target.number, place_of(from->reg).number, 0);
	} else if (from->type == X86_OP_REG && target.bytes >= 4 &&
		   place_of(from->reg).bytes >= 4) {
		narrow(out, target.number, place_of(from->reg).number);
	} else {
		add(out, FS_STEP_LOSE, target.number);
	}
	return true;
}

/* add, sub, inc, dec on a whole register. False: no rule. */
static bool arithmetic(const cs_x86 *detail, unsigned int id, uint64_t next,
		       struct fs_instruction *out)
{
	const cs_x86_op *to = &detail->operands[0];
	const cs_x86_op *from = &detail->operands[1];
	bool subtracts = id == X86_INS_SUB || id == X86_INS_DEC;
	struct place target;

	if (to->type != X86_OP_REG || place_of(to->reg).bytes != 8)
		return false;
	target = place_of(to->reg);
	if (id == X86_INS_INC || id == X86_INS_DEC) {
		copy(out, target.number, target.number, subtracts ? -1 : 1);
		return true;
	}
	if (from->type == X86_OP_IMM) {
		copy(out, target.number, target.number, subtracts ? -from->imm : from->imm);
		return true;
	}
	if (!subtracts && (from->type == X86_OP_MEM || place_of(from->reg).bytes == 8)) {
		struct fs_step *step;
		int8_t index = from->type == X86_OP_MEM ? LOADED : place_of(from->reg).number;

		if (index == LOADED)
			touch(from, next, FS_STEP_LOAD, LOADED, out);
		step = add(out, FS_STEP_INDEX, target.number);
		step->source = target.number;
		step->index = index;
		step->scale = 1;
		return true;
	}
	return false;
}

/* shl by a number, imul by one, and cdqe. False: no rule. */
static bool multiplication(const cs_x86 *detail, unsigned int id, uint64_t next,
			   struct fs_instruction *out)
{
	const cs_x86_op *operands = detail->operands;
	struct place target;

	if (id == X86_INS_CDQE) {
		narrow(out, RAX, RAX);
		return true;
	}
	if (detail->op_count < 2 || operands[0].type != X86_OP_REG)
		return false;
	target = place_of(operands[0].reg);
	if (target.bytes != 8)
		return false;
	if ((id == X86_INS_SHL || id == X86_INS_SAL) && operands[1].type == X86_OP_IMM &&
	    operands[1].imm >= 0 && operands[1].imm < 31) {
		scaled(out, target.number, target.number, 1u << operands[1].imm);
		return true;
	}
	if (id == X86_INS_IMUL && detail->op_count == 3 && operands[2].imm > 0 &&
	    operands[2].imm < INT32_MAX && operands[1].type == X86_OP_MEM) {
		touch(&operands[1], next, FS_STEP_LOAD, target.number, out);
		scaled(out, target.number, target.number, (uint32_t)operands[2].imm);
		return true;
	}
	if (id == X86_INS_IMUL && detail->op_count == 3 && operands[1].type == X86_OP_REG &&
	    place_of(operands[1].reg).bytes == 8 && operands[2].imm > 0 &&
	    operands[2].imm < INT32_MAX) {
		scaled(out, target.number, place_of(operands[1].reg).number,
		       (uint32_t)operands[2].imm);
		return true;
	}
	return false;
}

static void push(const cs_x86 *detail, uint64_t next, struct fs_instruction *out)
{
	const cs_x86_op *op = &detail->operands[0];
	struct fs_step *step;
	int8_t source = FS_NO_REGISTER;

	if (op->type == X86_OP_MEM)
		touch(op, next, FS_STEP_LOAD, FS_NO_REGISTER, out);
	else if (op->type == X86_OP_REG)
		source = place_of(op->reg).number;
	copy(out, RSP, RSP, -8);
	step = add(out, FS_STEP_STORE, source);
	step->source = RSP;
	step->width = 8;
}

static void pop(int8_t target, struct fs_instruction *out)
{
	struct fs_step *step = add(out, FS_STEP_LOAD, target);

	step->source = RSP;
	step->width = 8;
	copy(out, RSP, RSP, 8);
}

static void lose_written(struct fs_x86 *x86, struct fs_instruction *out)
{
	const cs_detail *detail = x86->instruction->detail;

	for (uint8_t i = 0; i < detail->regs_write_count; i++) {
		struct place place = place_of((x86_reg)detail->regs_write[i]);

		if (place.number != FS_NO_REGISTER && place.number != RSP)
			add(out, FS_STEP_LOSE, place.number);
	}
}

/* Whatever has no rule: its memory is touched, what it may write is lost. */
static void other(struct fs_x86 *x86, uint64_t next, struct fs_instruction *out)
{
	const cs_x86 *detail = &x86->instruction->detail->x86;
	unsigned int id = x86->instruction->id;

	for (uint8_t i = 0; i < detail->op_count; i++) {
		if (detail->operands[i].type == X86_OP_MEM && id != X86_INS_NOP)
			touch(&detail->operands[i], next, FS_STEP_LOAD, FS_NO_REGISTER, out);
	}
	for (uint8_t i = 0; i < detail->op_count && i < 2; i++) {
		const cs_x86_op *op = &detail->operands[i];
		bool written = i == 0 || id == X86_INS_XCHG || id == X86_INS_XADD;
		int8_t number = op->type == X86_OP_REG ? place_of(op->reg).number : FS_NO_REGISTER;

		if (written && number != FS_NO_REGISTER)
			add(out, FS_STEP_LOSE, number);
	}
	if (id == X86_INS_CMPXCHG)
		add(out, FS_STEP_LOSE, RAX);
	lose_written(x86, out);
}

static void lose_strings(struct fs_x86 *x86, struct fs_instruction *out)
{
	int8_t first = FS_NO_REGISTER;
	const cs_x86 *detail = &x86->instruction->detail->x86;

	for (uint8_t i = 0; i < detail->op_count && first == FS_NO_REGISTER; i++) {
		if (detail->operands[i].type == X86_OP_MEM)
			first = place_of(detail->operands[i].mem.base).number;
	}
	add(out, FS_STEP_LOAD, FS_NO_REGISTER)->source = first;
	add(out, FS_STEP_LOSE, RSI);
	add(out, FS_STEP_LOSE, RDI);
	add(out, FS_STEP_LOSE, RCX);
}

/* Jumps, calls and ends. False: the instruction leads on plainly. */
static bool flow(struct fs_x86 *x86, uint64_t next, struct fs_instruction *out)
{
	const cs_insn *instruction = x86->instruction;
	const cs_x86_op *op = &instruction->detail->x86.operands[0];
	int64_t target = op->type == X86_OP_IMM ? op->imm : 0;
	enum fs_step_kind kind;

	switch (instruction->id) {
	case X86_INS_CALL:
		kind = FS_STEP_CALL;
		break;
	case X86_INS_JMP:
		kind = FS_STEP_JUMP;
		break;
	case X86_INS_RET:
	case X86_INS_UD2:
	case X86_INS_HLT:
	case X86_INS_INT3:
		kind = FS_STEP_END;
		break;
	default:
		if (!cs_insn_group(x86->handle, instruction, CS_GRP_JUMP))
			return false;
		kind = FS_STEP_BRANCH;
	}
	if (op->type == X86_OP_MEM && kind != FS_STEP_END)
		touch(op, next, FS_STEP_LOAD, FS_NO_REGISTER, out);
	add(out, kind, FS_NO_REGISTER)->constant = target;
	return true;
}

/* movs, cmps, stos, lods, scas; some SSE instructions have the same names. */
static bool is_string(const struct fs_x86 *x86)
{
	uint8_t opcode = x86->instruction->detail->x86.opcode[0];

	return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf);
}

static void general(struct fs_x86 *x86, uint64_t next, struct fs_instruction *out)
{
	const cs_x86 *detail = &x86->instruction->detail->x86;

	switch (x86->instruction->id) {
	case X86_INS_LEA:
		load_effective_address(detail, next, out);
		return;
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		if (move(detail, next, out))
			return;
		break;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_INC:
	case X86_INS_DEC:
		if (arithmetic(detail, x86->instruction->id, next, out))
			return;
		break;
	case X86_INS_SHL:
	case X86_INS_SAL:
	case X86_INS_IMUL:
	case X86_INS_CDQE:
		if (multiplication(detail, x86->instruction->id, next, out))
			return;
		break;
	case X86_INS_PUSH:
		push(detail, next, out);
		return;
	case X86_INS_POP:
		if (detail->operands[0].type == X86_OP_REG) {
			pop(place_of(detail->operands[0].reg).number, out);
			return;
		}
		break;
	case X86_INS_LEAVE:
		copy(out, RSP, RBP, 0);
		pop(RBP, out);
		return;
	case X86_INS_CMP:
	case X86_INS_TEST:
		for (uint8_t i = 0; i < detail->op_count; i++) {
			if (detail->operands[i].type == X86_OP_MEM)
				touch(&detail->operands[i], next, FS_STEP_LOAD, FS_NO_REGISTER,
				      out);
		}
		return;
	default:
		break;
	}
	if (is_string(x86))
		lose_strings(x86, out);
	else
		other(x86, next, out);
}

/* cmovcc of whole registers is either of both. */
static bool conditional_move(struct fs_x86 *x86, struct fs_instruction *out)
{
	const cs_x86_op *operands = x86->instruction->detail->x86.operands;
	const char *name = cs_insn_name(x86->handle, x86->instruction->id);
	struct fs_step *step;

	if (!name || strncmp(name, "cmov", 4) != 0 || operands[1].type != X86_OP_REG ||
	    place_of(operands[0].reg).bytes != 8)
		return false;
	step = add(out, FS_STEP_EITHER, place_of(operands[0].reg).number);
	step->source = step->target;
	step->index = place_of(operands[1].reg).number;
	return true;
}

bool fs_step_x86(struct fs_x86 *x86, const uint8_t *bytes, size_t size, uint64_t address,
		 struct fs_instruction *ret_instruction)
{
	struct fs_instruction out = { 0 };
	uint64_t next;

	if (!fs_x86_decode(x86, bytes, size))
		return false;
	out.length = (uint8_t)x86->instruction->size;
	next = address + out.length;
	/* relative targets are counted from address 0, at which fs_x86_decode() decodes */
	if (!flow(x86, next, &out) && !conditional_move(x86, &out))
		general(x86, next, &out);
	for (uint8_t i = 0; i < out.count; i++) {
		struct fs_step *step = &out.steps[i];

		if (step->kind >= FS_STEP_CALL && step->kind <= FS_STEP_BRANCH && step->constant)
			step->constant += (int64_t)address;
	}
	*ret_instruction = out;
	return true;
}
