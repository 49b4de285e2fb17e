/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A64 instructions as steps.
 *
 * How it works: bits 28:25 of a word choose its group, and each group has a decoder that looks for
 * the forms that carry addresses (moves, additions, adrp, loads, stores, calls) and else loses the
 * destination register. Encodings: Arm Architecture Reference Manual (DDI 0487), chapter C4.
 */
#include "ingest/symbol/step.h"

enum {
	SP = 31, /* or the zero register, by instruction */
	LINK = 30,
};

static unsigned int field(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & ((1u << (high - low + 1)) - 1);
}

static int64_t extended(uint32_t value, unsigned int bits)
{
	uint32_t sign = 1u << (bits - 1);

	return (int64_t)(value ^ sign) - (int64_t)sign;
}

static struct fs_step *add(struct fs_instruction *instruction, enum fs_step_kind kind)
{
	struct fs_step *step = &instruction->steps[instruction->count];

	if (instruction->count < FS_STEPS_MAX - 1)
		instruction->count++;
	*step = (struct fs_step){ .kind = kind,
				  .target = FS_NO_REGISTER,
				  .source = FS_NO_REGISTER,
				  .index = FS_NO_REGISTER,
				  .factor = FS_NO_REGISTER };
	return step;
}

/* The destination of a word is lost unless it is the zero register. */
static void lose(struct fs_instruction *instruction, unsigned int target)
{
	if (target != SP)
		add(instruction, FS_STEP_LOSE)->target = (int8_t)target;
}

static void copy(struct fs_instruction *instruction, unsigned int target, unsigned int source,
		 int64_t constant)
{
	struct fs_step *step = add(instruction, FS_STEP_COPY);

	step->target = (int8_t)target;
	step->source = (int8_t)source;
	step->constant = constant;
}

static void narrow(struct fs_instruction *instruction, unsigned int target, unsigned int source)
{
	struct fs_step *step = add(instruction, FS_STEP_NARROW);

	step->target = (int8_t)target;
	step->source = (int8_t)source;
}

/* ---- data processing, immediate ---- */

static void add_immediate(uint32_t word, struct fs_instruction *instruction)
{
	int64_t constant = (int64_t)field(word, 21, 10) << (field(word, 22, 22) ? 12 : 0);
	unsigned int target = field(word, 4, 0);
	bool sets_flags = field(word, 29, 29);

	if (sets_flags && target == SP)
		return;
	if (!field(word, 31, 31)) {
		lose(instruction, target);
		return;
	}
	copy(instruction, target, field(word, 9, 5), field(word, 30, 30) ? -constant : constant);
}

/* sbfm, ubfm: | sf | opc | 100110 | N | immr | imms | Rn | Rd |; shifts and extensions of an index
 * are aliases of them. */
static void bitfield(uint32_t word, struct fs_instruction *instruction)
{
	unsigned int target = field(word, 4, 0);
	unsigned int source = field(word, 9, 5);
	unsigned int rotate = field(word, 21, 16);
	unsigned int last = field(word, 15, 10);
	unsigned int bits = field(word, 31, 31) ? 64 : 32;

	if (target == SP || source == SP)
		return;
	if (rotate == 0 && last >= 31) { /* sxtw, uxtw */
		narrow(instruction, target, source);
	} else if (rotate > last && bits - rotate < 31) { /* lsl, sbfiz, ubfiz */
		struct fs_step *step = add(instruction, FS_STEP_INDEX);

		step->target = (int8_t)target;
		step->index = (int8_t)source;
		step->scale = 1u << (bits - rotate);
	} else {
		lose(instruction, target);
	}
}

static void immediate(uint32_t word, uint64_t address, struct fs_instruction *instruction)
{
	unsigned int target = field(word, 4, 0);

	if ((word & 0x1f000000) == 0x10000000) { /* adr, adrp */
		int64_t offset = extended(field(word, 23, 5) << 2 | field(word, 30, 29), 21);
		struct fs_step *step;

		if (target == SP)
			return;
		step = add(instruction, FS_STEP_ADDRESS);
		step->target = (int8_t)target;
		step->constant =
			field(word, 31, 31)
				? (int64_t)((address & ~4095ull) + (uint64_t)(offset * 4096))
				: (int64_t)(address + (uint64_t)offset);
	} else if ((word & 0x1f800000) == 0x11000000) {
		add_immediate(word, instruction);
	} else if ((word & 0x7fe00000) == 0x52800000 && target != SP) { /* movz of 16 bits */
		struct fs_step *step = add(instruction, FS_STEP_ADDRESS);

		step->target = (int8_t)target;
		step->constant = (int64_t)field(word, 20, 5);
	} else if ((word & 0x1f800000) == 0x13000000 && field(word, 30, 29) != 1) {
		bitfield(word, instruction);
	} else if ((word & 0x1f800000) == 0x12000000 && field(word, 30, 29) != 3 && target == SP) {
		add(instruction, FS_STEP_LOSE)->target = SP; /* and sp, x, #mask */
	} else {
		lose(instruction, target);
	}
}

/* ---- branches and system ---- */

static void jump(struct fs_instruction *instruction, enum fs_step_kind kind, uint64_t address,
		 int64_t offset)
{
	add(instruction, kind)->constant = (int64_t)(address + (uint64_t)(offset * 4));
}

static void branch_register(uint32_t word, struct fs_instruction *instruction)
{
	switch (field(word, 24, 21) & 7) {
	case 1: /* blr, blraa */
		add(instruction, FS_STEP_CALL);
		return;
	case 0: /* br: of a switch, or a tail call */
		add(instruction, FS_STEP_JUMP);
		return;
	default:
		add(instruction, FS_STEP_END);
	}
}

static void branch(uint32_t word, uint64_t address, struct fs_instruction *instruction)
{
	if ((word & 0x7c000000) == 0x14000000)
		jump(instruction, field(word, 31, 31) ? FS_STEP_CALL : FS_STEP_JUMP, address,
		     extended(field(word, 25, 0), 26));
	else if ((word & 0xfe000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
		jump(instruction, FS_STEP_BRANCH, address, extended(field(word, 23, 5), 19));
	else if ((word & 0x7e000000) == 0x36000000)
		jump(instruction, FS_STEP_BRANCH, address, extended(field(word, 18, 5), 14));
	else if ((word & 0xfe000000) == 0xd6000000)
		branch_register(word, instruction);
	else if ((word & 0xffffffe0) == 0xd53bd040 && field(word, 4, 0) != SP) /* mrs tpidr_el0 */
		add(instruction, FS_STEP_THREAD)->target = (int8_t)field(word, 4, 0);
	else if ((word & 0xffe00000) == 0xd5200000) /* mrs, sysl */
		lose(instruction, field(word, 4, 0));
	else if ((word & 0xffe0001f) == 0xd4000001) /* svc */
		lose(instruction, 0);
	else if ((word & 0xffe0001f) == 0xd4200000) /* brk */
		add(instruction, FS_STEP_END);
}

/* ---- data processing, register ---- */

static void indexed(struct fs_instruction *instruction, unsigned int target, unsigned int source,
		    unsigned int index, unsigned int shift)
{
	struct fs_step *step = add(instruction, FS_STEP_INDEX);

	step->target = (int8_t)target;
	step->source = (int8_t)source;
	step->index = index == SP ? FS_NO_REGISTER : (int8_t)index;
	step->scale = 1u << (shift < 31 ? shift : 31);
}

static void multiply(struct fs_instruction *instruction, unsigned int target, unsigned int addend,
		     unsigned int left, unsigned int right)
{
	struct fs_step *step = add(instruction, FS_STEP_MULTIPLY);

	step->target = (int8_t)target;
	step->source = addend == SP ? FS_NO_REGISTER : (int8_t)addend;
	step->index = (int8_t)left;
	step->factor = (int8_t)right;
}

static void data_register(uint32_t word, struct fs_instruction *instruction)
{
	unsigned int target = field(word, 4, 0);
	unsigned int left = field(word, 9, 5);
	unsigned int right = field(word, 20, 16);

	if ((word & 0xffe0ffe0) == 0x2a0003e0 && target != SP && right != SP) { /* mov w */
		narrow(instruction, target, right);
	} else if ((word & 0xffe0ffe0) == 0xaa0003e0) { /* mov */
		if (target != SP && right != SP)
			copy(instruction, target, right, 0);
		else if (target != SP) /* from the zero register */
			add(instruction, FS_STEP_ADDRESS)->target = (int8_t)target;
	} else if ((word & 0xffe00000) == 0x8b000000 && target != SP && left != SP) {
		indexed(instruction, target, left, right, field(word, 15, 10));
	} else if ((word & 0xffe00000) == 0x8b200000) { /* add, extended register */
		indexed(instruction, target, left, right, field(word, 12, 10));
	} else if ((word & 0xffe00c00) == 0x9a800000 && target != SP) { /* csel */
		struct fs_step *step = add(instruction, FS_STEP_EITHER);

		step->target = (int8_t)target;
		step->source = left == SP ? FS_NO_REGISTER : (int8_t)left;
		step->index = right == SP ? FS_NO_REGISTER : (int8_t)right;
	} else if ((word & 0xff608000) == 0x9b200000 || (word & 0xffe08000) == 0x9b000000) {
		unsigned int base = field(word, 14, 10); /* madd, smaddl, umaddl */

		if (target == SP || left == SP || right == SP)
			return;
		multiply(instruction, target, base, left, right);
	} else {
		lose(instruction, target);
	}
}

/* ---- loads and stores ---- */

struct transfer {
	bool load;
	uint8_t width; /* of one register */
	int64_t constant;
	int8_t index;
	uint32_t scale;
};

/* One register between memory and, where it is a general one and not zero, `target`. */
static void move(struct fs_instruction *instruction, const struct transfer *transfer,
		 unsigned int target, unsigned int base)
{
	struct fs_step *step = add(instruction, transfer->load ? FS_STEP_LOAD : FS_STEP_STORE);

	step->target = target == SP ? FS_NO_REGISTER : (int8_t)target;
	step->source = (int8_t)base;
	step->index = transfer->index;
	step->scale = transfer->scale;
	step->width = transfer->width;
	step->constant = transfer->constant;
}

/* Atomics, and ldraa with its imm10 | S 22 | imm9 20:12 | W 11 | */
static void atomic(uint32_t word, struct fs_instruction *instruction)
{
	unsigned int base = field(word, 9, 5);
	struct transfer transfer = { .load = true,
				     .width = (uint8_t)(1u << field(word, 31, 30)),
				     .index = FS_NO_REGISTER };

	if (field(word, 10, 10))
		transfer.constant =
			extended(field(word, 22, 22) << 9 | field(word, 20, 12), 10) * 8;
	move(instruction, &transfer, SP, base);
	if (field(word, 10, 10) && field(word, 11, 11))
		copy(instruction, base, base, transfer.constant);
	if (!field(word, 26, 26))
		lose(instruction, field(word, 4, 0));
}

/* ldr, str and their kin with one register: | size 31:30 | 111 | V | op 25:24 | opc 23:22 | */
static void one_register(uint32_t word, struct fs_instruction *instruction)
{
	bool vector = field(word, 26, 26);
	/* bit 23 of a vector's form says 128 bits */
	unsigned int size = vector && field(word, 23, 23) ? 4 : field(word, 31, 30);
	unsigned int base = field(word, 9, 5);
	unsigned int target = field(word, 4, 0);
	struct transfer transfer = { .load = field(word, 23, 22) != 0,
				     .width = (uint8_t)(1u << size),
				     .index = FS_NO_REGISTER };
	int64_t imm9 = extended(field(word, 20, 12), 9);
	int64_t writeback = 0;

	if (field(word, 24, 24)) {
		transfer.constant = (int64_t)field(word, 21, 10) << size;
	} else if (field(word, 21, 21)) {
		if (field(word, 11, 10) != 2) {
			atomic(word, instruction);
			return;
		}
		transfer.index = (int8_t)field(word, 20, 16);
		transfer.scale = field(word, 12, 12) ? 1u << size : 1;
		if (transfer.index == SP)
			transfer.index = FS_NO_REGISTER;
	} else {
		unsigned int form = field(word, 11, 10); /* 1 post-index, 3 pre-index */

		transfer.constant = form == 1 ? 0 : imm9;
		writeback = form & 1 ? imm9 : 0;
	}
	if (size == 3 && field(word, 23, 22) == 2 && !vector && !writeback)
		return; /* a prefetch */
	move(instruction, &transfer, vector ? SP : target, base);
	if (writeback)
		copy(instruction, base, base, writeback);
}

/* ldp, stp: | opc 31:30 | 101 | V | mode 24:23 | L 22 | imm7 | Rt2 | Rn | Rt | */
static void pair(uint32_t word, struct fs_instruction *instruction)
{
	unsigned int opc = field(word, 31, 30);
	unsigned int base = field(word, 9, 5);
	unsigned int mode = field(word, 24, 23); /* 1 post-index, 3 pre-index */
	bool vector = field(word, 26, 26);
	bool tags = !vector && opc == 1 && !field(word, 22, 22); /* stgp */
	unsigned int scale = tags ? 4 : vector ? 2 + opc : opc >> 1 ? 3 : 2;
	int64_t constant = extended(field(word, 21, 15), 7) * (1 << scale);
	struct transfer transfer = { .load = field(word, 22, 22),
				     .width = (uint8_t)(1u << scale),
				     .constant = mode == 1 ? 0 : constant,
				     .index = FS_NO_REGISTER };

	unsigned int first = vector || tags ? SP : field(word, 4, 0);
	unsigned int second = vector || tags ? SP : field(word, 14, 10);

	/* both read the base: where the first overwrites it, it is lost at the end */
	move(instruction, &transfer, transfer.load && first == base ? SP : first, base);
	transfer.constant += transfer.width;
	move(instruction, &transfer, second, base);
	if (transfer.load && first == base)
		lose(instruction, first);
	if (mode & 1)
		copy(instruction, base, base, constant);
}

/* Exclusives, ordered, compare and swap: | size | 001000 | o2 23 | L 22 | o1 21 | Rs | o0 | Rt2 |
 */
static void ordered(uint32_t word, struct fs_instruction *instruction)
{
	unsigned int size = field(word, 31, 30);
	unsigned int status = field(word, 20, 16);
	struct transfer transfer = { .load = field(word, 22, 22),
				     .width = (uint8_t)(1u << size),
				     .index = FS_NO_REGISTER };
	bool compares = field(word, 23, 23) && field(word, 21, 21);

	if (field(word, 21, 21)) {
		struct transfer touch = transfer;

		touch.load = true;
		move(instruction, &touch, SP, field(word, 9, 5));
	}
	if (compares) { /* cas: the old value comes back in Rs */
		lose(instruction, status);
		return;
	}
	if (field(word, 21, 21)) { /* ldxp, stxp, casp */
		if (size < 2) {
			lose(instruction, status);
			lose(instruction, status + 1);
		} else if (transfer.load) {
			lose(instruction, field(word, 4, 0));
			lose(instruction, field(word, 14, 10));
		} else {
			lose(instruction, status);
		}
		return;
	}
	move(instruction, &transfer, field(word, 4, 0), field(word, 9, 5));
	if (!transfer.load && !field(word, 23, 23)) /* stxr */
		lose(instruction, status);
}

static void load_store(uint32_t word, uint64_t address, struct fs_instruction *instruction)
{
	unsigned int group = field(word, 29, 28);
	unsigned int target = field(word, 4, 0);

	if ((word & 0x3b000000) == 0x18000000) { /* literal */
		struct fs_step *step;

		if (field(word, 26, 26) || target == SP || field(word, 31, 30) == 3)
			return;
		step = add(instruction, FS_STEP_LOAD);
		step->target = (int8_t)target;
		step->width = field(word, 30, 30) ? 8 : 4;
		step->constant =
			(int64_t)(address + (uint64_t)(extended(field(word, 23, 5), 19) * 4));
	} else if (group == 3) {
		one_register(word, instruction);
	} else if (group == 2) {
		pair(word, instruction);
	} else if ((word & 0x3f000000) == 0x08000000) {
		ordered(word, instruction);
	} else if ((word & 0x3f200c00) == 0x19000000) { /* ldapur, stlur */
		struct transfer transfer = { .load = field(word, 23, 22) != 0,
					     .width = (uint8_t)(1u << field(word, 31, 30)),
					     .constant = extended(field(word, 20, 12), 9),
					     .index = FS_NO_REGISTER };

		move(instruction, &transfer, target, field(word, 9, 5));
	} else if ((word & 0xbe000000) == 0x0c000000) { /* SIMD structures */
		struct transfer touch = { .load = true, .index = FS_NO_REGISTER };

		move(instruction, &touch, SP, field(word, 9, 5));
		if (field(word, 23, 23)) /* post-index */
			add(instruction, FS_STEP_LOSE)->target = (int8_t)field(word, 9, 5);
	} else if (!field(word, 26, 26)) { /* memory tags, memory copies, 128-bit atomics */
		lose(instruction, target);
		lose(instruction, field(word, 9, 5));
		lose(instruction, field(word, 20, 16));
	}
}

/* SIMD and floating point: only conversions and moves to a general register concern us. */
static void simd(uint32_t word, struct fs_instruction *instruction)
{
	bool converts = (word & 0x5f200000) == 0x1e200000 && !field(word, 15, 10);
	bool moves_lane = (word & 0xbfe0ec00) == 0x0e002c00; /* umov, smov */

	if (converts || moves_lane || (word & 0x5f200000) == 0x1e000000)
		lose(instruction, field(word, 4, 0));
}

void fs_step_a64(uint32_t word, uint64_t address, struct fs_instruction *ret_instruction)
{
	*ret_instruction = (struct fs_instruction){ .length = 4 };
	switch (field(word, 28, 25)) {
	case 8:
	case 9:
		immediate(word, address, ret_instruction);
		break;
	case 10:
	case 11:
		branch(word, address, ret_instruction);
		break;
	case 4:
	case 6:
	case 12:
	case 14:
		load_store(word, address, ret_instruction);
		break;
	case 5:
	case 13:
		data_register(word, ret_instruction);
		break;
	case 7:
	case 15:
		simd(word, ret_instruction);
		break;
	case 2: /* SVE: counts and conversions to general registers */
		lose(ret_instruction, field(word, 4, 0));
		break;
	default: /* not allocated: code does not go on here */
		add(ret_instruction, FS_STEP_END);
	}
}
