/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loads, stores, atomics and prefetches of A64 as a table of encodings.
 *
 * A row says: where (word & mask) == value, this is the direction, this is how the width follows
 * from the word, and this is how the address does. The first row that matches counts, so an
 * exception stands before its rule. Encodings are those of the Arm Architecture Reference Manual
 * (DDI 0487), chapter C4, "Loads and Stores" and "SVE encodings"; the tests compare them with
 * llvm-mc over random words.
 *
 * Widths that depend on the vector length, on a predicate or on a register are unknown.
 */
#include "ingest/symbol/operand.h"

#include <stdio.h>
#include <string.h>

enum direction {
	LOAD,
	STORE,
	LOAD_BIT22,  /* bit 22 set: load */
	STORE_BIT21, /* bit 21 set: store */
	LOAD_OPC,    /* bits 23:22 zero: store */
	ATOMIC,
	EXCLUSIVE, /* bit 22 set: load */
	PREFETCH,
	COPY, /* reads one place and writes another */
	RESERVED,
};

enum width {
	UNKNOWN = 0,
	BYTES_1 = 1,
	BYTES_2 = 2,
	BYTES_4 = 4,
	BYTES_8 = 8,
	BYTES_16 = 16,
	BYTES_32 = 32,
	BYTES_64 = 64,
	SIZE_31 = 100, /* 1 << bits 31:30 */
	SIMD_31,       /* same; 16 when bit 23 is set */
	PAIR_30,       /* two registers of 4 << bit 30 */
	PAIR_31,       /* two registers of 4 << bit 31 */
	SIMD_PAIR_30,  /* two registers of 4 << bits 31:30 */
	LITERAL_30,    /* 4 << bits 31:30 */
	STRUCTURES,    /* ld1..ld4 multiple: registers of 8 << Q */
	LANE,	       /* ld1..ld4 single: elements by opcode, S and size */
	REPLICATE,     /* ld1r..ld4r */
};

enum address {
	NO_BASE,     /* none, or not expressible as base and constant */
	BASE,	     /* [Xn], post-index, or [Xn, index] */
	BASE_RT,     /* [Xt] */
	BASE_RD,     /* [Xd] */
	PC_19,	     /* literal */
	IMM9,	     /* [Xn, imm9] */
	IMM9_16,     /* [Xn, imm9 * 16] */
	IMM10_8,     /* ldraa: S:imm9, * 8 */
	IMM12,	     /* [Xn, imm12 * width] */
	IMM7,	     /* [Xn, imm7 * half the width] */
	IMM7_16,     /* stgp: imm7 * 16 */
	MINUS_WIDTH, /* [Xn, -width]! */
	IMM6,	     /* SVE broadcast: imm6 * width */
	IMM4_VL,     /* SVE: [Xn, imm4, mul vl], a constant only when it is 0 */
	IMM9_VL,     /* SVE ldr/str: same, imm9 in two parts */
	IMM4_16,     /* SVE ld1rq: imm4 * 16 */
	IMM4_32,     /* SVE ld1ro */
	IMM6_VL,     /* SVE prefetch: same, imm6 */
};

struct encoding {
	uint32_t mask;
	uint32_t value;
	enum direction direction;
	enum width width;
	enum address address;
};

static const struct encoding encodings[] = {
	/* Load/store register, unsigned immediate. */
	{ 0xffc00000, 0xf9800000, PREFETCH, UNKNOWN, IMM12 },
	{ 0xbfc00000, 0xb9c00000, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f000000, 0x39000000, LOAD_OPC, SIZE_31, IMM12 },
	{ 0xbf800000, 0xbd800000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xff800000, 0x7d800000, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f000000, 0x3d000000, LOAD_BIT22, SIMD_31, IMM12 },
	/* Unscaled immediate. */
	{ 0xffe00c00, 0xf8800000, PREFETCH, UNKNOWN, IMM9 },
	{ 0xbfe00c00, 0xb8c00000, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f200c00, 0x38000000, LOAD_OPC, SIZE_31, IMM9 },
	{ 0xbfa00c00, 0xbc800000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffa00c00, 0x7c800000, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f200c00, 0x3c000000, LOAD_BIT22, SIMD_31, IMM9 },
	/* Register offset. */
	{ 0xffe04c00, 0xf8a04800, PREFETCH, UNKNOWN, BASE },
	{ 0xbfe04c00, 0xb8e04800, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f204c00, 0x38204800, LOAD_OPC, SIZE_31, BASE },
	{ 0xbfa04c00, 0xbca04800, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffa04c00, 0x7ca04800, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f204c00, 0x3c204800, LOAD_BIT22, SIMD_31, BASE },
	/* Post-index, pre-index, unprivileged. */
	{ 0xffa00400, 0xf8800400, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffa00c00, 0xf8800800, RESERVED, UNKNOWN, NO_BASE },
	{ 0xbfe00400, 0xb8c00400, RESERVED, UNKNOWN, NO_BASE },
	{ 0xbfe00c00, 0xb8c00800, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f200c00, 0x38000400, LOAD_OPC, SIZE_31, BASE },
	{ 0x3f200400, 0x38000400, LOAD_OPC, SIZE_31, IMM9 },
	{ 0x3f200c00, 0x38000800, LOAD_OPC, SIZE_31, IMM9 },
	{ 0xbfa00400, 0xbc800400, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffa00400, 0x7c800400, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f200c00, 0x3c000400, LOAD_BIT22, SIMD_31, BASE },
	{ 0x3f200c00, 0x3c000c00, LOAD_BIT22, SIMD_31, IMM9 },
	/* ldraa, ldrab. */
	{ 0xff200400, 0xf8200400, LOAD, BYTES_8, IMM10_8 },
	/* Atomic memory operations: ldapr; ld64b, st64b, st64bv; rcw; swp; ldadd ... ldumin. */
	{ 0x3ffffc00, 0x38bfc000, LOAD, SIZE_31, BASE },
	{ 0xfffffc01, 0xf83fd000, LOAD, BYTES_64, BASE },
	{ 0xfffffc01, 0xf83f9000, STORE, BYTES_64, BASE },
	{ 0xffe0ec01, 0xf820a000, STORE, BYTES_64, BASE },
	{ 0xbf20fc00, 0x38209000, ATOMIC, BYTES_8, BASE },
	{ 0xbf20ec00, 0x3820a000, ATOMIC, BYTES_8, BASE },
	{ 0x3f20fc00, 0x38208000, ATOMIC, SIZE_31, BASE },
	{ 0x3f208c00, 0x38200000, ATOMIC, SIZE_31, BASE },
	/* Pairs: ldnp/stnp, post-index, offset, pre-index; ldpsw; stgp. */
	{ 0xff800000, 0x68000000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffc00000, 0x68c00000, LOAD, BYTES_8, BASE },
	{ 0xfe400000, 0x68400000, LOAD, BYTES_8, IMM7 },
	{ 0xffc00000, 0x68800000, STORE, BYTES_16, BASE },
	{ 0xfe400000, 0x68000000, STORE, BYTES_16, IMM7_16 },
	{ 0x7f800000, 0x28800000, LOAD_BIT22, PAIR_31, BASE },
	{ 0x7e000000, 0x28000000, LOAD_BIT22, PAIR_31, IMM7 },
	{ 0xfe000000, 0xec000000, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f800000, 0x2c800000, LOAD_BIT22, SIMD_PAIR_30, BASE },
	{ 0x3e000000, 0x2c000000, LOAD_BIT22, SIMD_PAIR_30, IMM7 },
	/* Literal. */
	{ 0xff000000, 0xd8000000, PREFETCH, UNKNOWN, PC_19 },
	{ 0xff000000, 0x98000000, LOAD, BYTES_4, PC_19 },
	{ 0xbf000000, 0x18000000, LOAD, LITERAL_30, PC_19 },
	{ 0xff000000, 0xdc000000, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f000000, 0x1c000000, LOAD, LITERAL_30, PC_19 },
	/* casp; stxr, ldxr; stxp, ldxp; stlr, ldar, stllr, ldlar; cas. */
	{ 0xbfa07c01, 0x08207c01, RESERVED, UNKNOWN, NO_BASE },
	{ 0xbfa17c00, 0x08217c00, RESERVED, UNKNOWN, NO_BASE },
	{ 0xbfa07c00, 0x08207c00, ATOMIC, PAIR_30, BASE },
	{ 0x3fa00000, 0x08000000, EXCLUSIVE, SIZE_31, BASE },
	{ 0xbfa00000, 0x88200000, EXCLUSIVE, PAIR_30, BASE },
	{ 0x3fa00000, 0x08800000, LOAD_BIT22, SIZE_31, BASE },
	{ 0x3fa07c00, 0x08a07c00, ATOMIC, SIZE_31, BASE },
	/* stlur, ldapur. */
	{ 0xffa00c00, 0xd9800000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffe00c00, 0x99c00000, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f200c00, 0x19000000, LOAD_OPC, SIZE_31, IMM9 },
	/* LRCPC3: stilp, ldiapp; stlr pre-index, ldapr post-index; SIMD stlur, ldapur; stl1, ldap1.
	 */
	{ 0xbfe0fc00, 0x99000800, STORE, PAIR_30, MINUS_WIDTH },
	{ 0xbfe0fc00, 0x99400800, LOAD, PAIR_30, BASE },
	{ 0xbfa0fc00, 0x99001800, LOAD_BIT22, PAIR_30, BASE },
	{ 0xbffffc00, 0x99800800, STORE, SIZE_31, MINUS_WIDTH },
	{ 0xbffffc00, 0x99c00800, LOAD, SIZE_31, BASE },
	{ 0xbfa00c00, 0x9d800800, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffa00c00, 0x5d800800, RESERVED, UNKNOWN, NO_BASE },
	{ 0x3f200c00, 0x1d000800, LOAD_BIT22, SIMD_31, IMM9 },
	{ 0xbfbffc00, 0x0d018400, LOAD_BIT22, BYTES_8, BASE },
	/* LSE128 and 128-bit rcw: ldclrp, ldsetp, swpp; rcwcas, rcwcasp. */
	{ 0xff20fc00, 0x19201000, ATOMIC, BYTES_16, BASE },
	{ 0xff20fc00, 0x19203000, ATOMIC, BYTES_16, BASE },
	{ 0xff20fc00, 0x19208000, ATOMIC, BYTES_16, BASE },
	{ 0xbf20fc00, 0x19209000, ATOMIC, BYTES_16, BASE },
	{ 0xbf20ec00, 0x1920a000, ATOMIC, BYTES_16, BASE },
	{ 0xbf20fc00, 0x19200800, ATOMIC, BYTES_8, BASE },
	{ 0xbf20fc00, 0x19200c00, ATOMIC, BYTES_16, BASE },
	/* MOPS: set, setg; cpyf, cpy. */
	{ 0xfbe0cc00, 0x19c0c400, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfbe00c00, 0x19c00400, STORE, UNKNOWN, BASE_RD },
	{ 0xfb200c00, 0x19000400, COPY, UNKNOWN, NO_BASE },
	/* MTE: the multiple forms move a register's worth of tags; ldg; post-index; the rest. */
	{ 0xfffffc00, 0xd9200000, STORE, UNKNOWN, BASE },
	{ 0xffbffc00, 0xd9a00000, LOAD_BIT22, UNKNOWN, BASE },
	{ 0xffe00c00, 0xd9600000, LOAD, BYTES_16, IMM9_16 },
	{ 0xffa00c00, 0xd9200400, STORE, BYTES_16, BASE },
	{ 0xffa00c00, 0xd9a00400, STORE, BYTES_32, BASE },
	{ 0xffa00800, 0xd9200800, STORE, BYTES_16, IMM9_16 },
	{ 0xffa00800, 0xd9a00800, STORE, BYTES_32, IMM9_16 },
	/* SIMD ld1..ld4, st1..st4: multiple structures, plain and post-index. */
	{ 0xbfbf0000, 0x0c000000, LOAD_BIT22, STRUCTURES, BASE },
	{ 0xbfa00000, 0x0c800000, LOAD_BIT22, STRUCTURES, BASE },
	/* Replicating loads and single lanes, plain and post-index. */
	{ 0xbfdfd000, 0x0d40c000, LOAD, REPLICATE, BASE },
	{ 0xbfc0d000, 0x0dc0c000, LOAD, REPLICATE, BASE },
	{ 0xbf9fc000, 0x0d00c000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xbf80c000, 0x0d80c000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xbf9f0000, 0x0d000000, LOAD_BIT22, LANE, BASE },
	{ 0xbf800000, 0x0d800000, LOAD_BIT22, LANE, BASE },
	/* dc zva, gva, gzva. */
	{ 0xffffffe0, 0xd50b7420, STORE, UNKNOWN, BASE_RT },
	{ 0xffffffe0, 0xd50b7460, STORE, UNKNOWN, BASE_RT },
	{ 0xffffffe0, 0xd50b7480, STORE, UNKNOWN, BASE_RT },
	/* SVE prefetches: scalar + immediate, scalar + scalar, gathers. */
	{ 0xffa08010, 0x84200010, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffa08010, 0xc4200010, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffe08010, 0xc4608010, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffc08010, 0x85c00000, PREFETCH, UNKNOWN, IMM6_VL },
	{ 0xfe7fe010, 0x841fc000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfe60e010, 0x8400c000, PREFETCH, UNKNOWN, BASE },
	{ 0xffa08010, 0x84200000, PREFETCH, UNKNOWN, BASE },
	{ 0xfe60e010, 0x8400e000, PREFETCH, UNKNOWN, NO_BASE },
	{ 0xffa08010, 0xc4200000, PREFETCH, UNKNOWN, BASE },
	{ 0xffe08010, 0xc4608000, PREFETCH, UNKNOWN, BASE },
	{ 0xfe60e010, 0xc400e000, PREFETCH, UNKNOWN, NO_BASE },
	/* SVE broadcast loads of one element: the element's size by dtype. */
	{ 0xffc0e000, 0x84408000, LOAD, BYTES_1, IMM6 },
	{ 0xffc0e000, 0x8440a000, LOAD, BYTES_1, IMM6 },
	{ 0xffc0e000, 0x8440c000, LOAD, BYTES_1, IMM6 },
	{ 0xffc0e000, 0x8440e000, LOAD, BYTES_1, IMM6 },
	{ 0xffc0e000, 0x84c08000, LOAD, BYTES_4, IMM6 },
	{ 0xffc08000, 0x84c08000, LOAD, BYTES_2, IMM6 },
	{ 0xffc0c000, 0x85408000, LOAD, BYTES_2, IMM6 },
	{ 0xffc0c000, 0x8540c000, LOAD, BYTES_4, IMM6 },
	{ 0xffc0e000, 0x85c0e000, LOAD, BYTES_8, IMM6 },
	{ 0xffc08000, 0x85c08000, LOAD, BYTES_1, IMM6 },
	/* SVE fill and spill of a predicate or vector. */
	{ 0xffc0e010, 0x85800000, LOAD, UNKNOWN, IMM9_VL },
	{ 0xffc0e000, 0x85804000, LOAD, UNKNOWN, IMM9_VL },
	{ 0xffc0e010, 0xe5800000, STORE, UNKNOWN, IMM9_VL },
	{ 0xffc0e000, 0xe5804000, STORE, UNKNOWN, IMM9_VL },
	/* SVE 32-bit gathers: scalar + vector, vector + immediate, non-temporal. */
	{ 0xff80c000, 0x85000000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xff808000, 0x84000000, LOAD, UNKNOWN, BASE },
	{ 0xff808000, 0x84800000, LOAD, UNKNOWN, BASE },
	{ 0xff808000, 0x85000000, LOAD, UNKNOWN, BASE },
	{ 0xffe08000, 0x85a08000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffe0c000, 0x85208000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfe608000, 0x84208000, LOAD, UNKNOWN, NO_BASE },
	{ 0xffe0c000, 0x85808000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xffe0e000, 0x85008000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfe60c000, 0x84008000, LOAD, UNKNOWN, NO_BASE },
	/* SVE contiguous loads: ld1rq, ld1ro; ld1, ldff1; ld1, ldnf1; ldnt1, ld2..ld4. */
	{ 0xfe70e000, 0xa4002000, LOAD, UNKNOWN, IMM4_16 },
	{ 0xfe70e000, 0xa4202000, LOAD, UNKNOWN, IMM4_32 },
	{ 0xfe5fe000, 0xa41f0000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfe40e000, 0xa4000000, LOAD, UNKNOWN, BASE },
	{ 0xfe1fe000, 0xa41f4000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfe00c000, 0xa4004000, LOAD, UNKNOWN, BASE },
	{ 0xfe00e000, 0xa400a000, LOAD, UNKNOWN, IMM4_VL },
	{ 0xfe1fe000, 0xa41fc000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfe00e000, 0xa400c000, LOAD, UNKNOWN, BASE },
	{ 0xfe10e000, 0xa400e000, LOAD, UNKNOWN, IMM4_VL },
	/* SVE 64-bit gathers: scalar + vector, vector + immediate, non-temporal. */
	{ 0xff80c000, 0xc5800000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfe008000, 0xc4000000, LOAD, UNKNOWN, BASE },
	{ 0xff80c000, 0xc5808000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfe408000, 0xc4408000, LOAD, UNKNOWN, BASE },
	{ 0xfe608000, 0xc4208000, LOAD, UNKNOWN, NO_BASE },
	{ 0xfe60a000, 0xc4008000, LOAD, UNKNOWN, NO_BASE },
	/* SVE stores: non-temporal scatter; contiguous; scatters; vector + immediate. */
	{ 0xfe20e000, 0xe4002000, STORE, UNKNOWN, NO_BASE },
	{ 0xfe1fe000, 0xe41f4000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfe1fe000, 0xe41f6000, RESERVED, UNKNOWN, NO_BASE },
	{ 0xfe00c000, 0xe4004000, STORE, UNKNOWN, BASE },
	{ 0xfe00e000, 0xe400e000, STORE, UNKNOWN, IMM4_VL },
	{ 0xfe40e000, 0xe440a000, STORE, UNKNOWN, NO_BASE },
	{ 0xfe008000, 0xe4008000, STORE, UNKNOWN, BASE },
	/* SME: a tile slice, an array vector, zt0. */
	{ 0xff000010, 0xe0000000, STORE_BIT21, UNKNOWN, BASE },
	{ 0xffc00010, 0xe1c00000, STORE_BIT21, UNKNOWN, BASE },
	{ 0xffdf9c1f, 0xe1000000, STORE_BIT21, UNKNOWN, BASE },
	{ 0xffdf9c10, 0xe1000000, STORE_BIT21, UNKNOWN, NO_BASE },
	{ 0xffdffc1f, 0xe11f8000, STORE_BIT21, BYTES_64, BASE },
};

static int64_t sign_extend(uint32_t value, unsigned int bits)
{
	uint32_t sign = 1u << (bits - 1);

	return (int64_t)(value ^ sign) - (int64_t)sign;
}

static unsigned int field(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & ((1u << (high - low + 1)) - 1);
}

/* ld1..ld4 and st1..st4 of whole registers; 0: reserved. */
static uint32_t structures_width(uint32_t word)
{
	static const uint8_t registers[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2
	};
	unsigned int opcode = field(word, 15, 12);
	bool interleaved = opcode == 0 || opcode == 4 || opcode == 8;

	/* 64-bit elements need the 128-bit form, unless nothing is interleaved */
	if (interleaved && field(word, 11, 10) == 3 && !field(word, 30, 30))
		return 0;
	return registers[opcode] * (field(word, 30, 30) ? 16u : 8u);
}

/* How many elements a lane or replicating access has: R and the low bit of opcode say. */
static uint32_t lane_elements(uint32_t word)
{
	return (field(word, 13, 13) << 1 | field(word, 21, 21)) + 1;
}

/* One lane of each register; 0: reserved. */
static uint32_t lane_width(uint32_t word)
{
	unsigned int size = field(word, 11, 10);
	unsigned int lane = field(word, 12, 12);

	switch (field(word, 15, 14)) {
	case 0:
		return lane_elements(word);
	case 1:
		return size & 1 ? 0 : lane_elements(word) * 2;
	default:
		if (size > 1 || (size == 1 && lane))
			return 0;
		return lane_elements(word) * (size ? 8 : 4);
	}
}

/* The width in bytes; false where the word is reserved after all. */
static bool width_of(const struct encoding *encoding, uint32_t word, uint32_t *ret_width)
{
	switch (encoding->width) {
	case SIZE_31:
		*ret_width = 1u << field(word, 31, 30);
		return true;
	case SIMD_31:
		*ret_width = field(word, 23, 23) ? 16 : 1u << field(word, 31, 30);
		return true;
	case PAIR_30:
		*ret_width = 8u << field(word, 30, 30);
		return true;
	case PAIR_31:
		*ret_width = 8u << field(word, 31, 31);
		return true;
	case SIMD_PAIR_30:
		*ret_width = 8u << field(word, 31, 30);
		return true;
	case LITERAL_30:
		*ret_width = 4u << field(word, 31, 30);
		return true;
	case STRUCTURES:
		*ret_width = structures_width(word);
		return *ret_width;
	case LANE:
		*ret_width = lane_width(word);
		return *ret_width;
	case REPLICATE:
		*ret_width = lane_elements(word) << field(word, 11, 10);
		return true;
	default:
		*ret_width = encoding->width;
		return true;
	}
}

static void set_base(struct fs_operand *operand, unsigned int number, int64_t displacement)
{
	if (number == 31)
		snprintf(operand->base, sizeof(operand->base), "sp");
	else
		snprintf(operand->base, sizeof(operand->base), "x%u", number & 31);
	operand->displacement = displacement;
}

/* A displacement in vector lengths is a constant only where it is 0. */
static void set_base_vl(struct fs_operand *operand, unsigned int number, unsigned int lengths)
{
	if (lengths == 0)
		set_base(operand, number, 0);
}

static void address_of(const struct encoding *encoding, uint32_t word, struct fs_operand *operand)
{
	unsigned int rn = field(word, 9, 5);
	int64_t width = operand->width;
	int64_t imm9 = sign_extend(field(word, 20, 12), 9);

	switch (encoding->address) {
	case NO_BASE:
		break;
	case BASE:
		set_base(operand, rn, 0);
		break;
	case BASE_RT: /* register 31 is xzr: address 0 */
		if (field(word, 4, 0) != 31)
			set_base(operand, field(word, 4, 0), 0);
		break;
	case BASE_RD:
		set_base(operand, field(word, 4, 0), 0);
		break;
	case PC_19:
		snprintf(operand->base, sizeof(operand->base), "pc");
		operand->displacement = sign_extend(field(word, 23, 5), 19) * 4;
		break;
	case IMM9:
		set_base(operand, rn, imm9);
		break;
	case IMM9_16:
		set_base(operand, rn, imm9 * 16);
		break;
	case IMM10_8:
		set_base(operand, rn,
			 sign_extend(field(word, 22, 22) << 9 | field(word, 20, 12), 10) * 8);
		break;
	case IMM12: /* a prefetch counts in 8 bytes */
		set_base(operand, rn, field(word, 21, 10) * (width ? width : 8));
		break;
	case IMM7:
		set_base(operand, rn, sign_extend(field(word, 21, 15), 7) * (width / 2));
		break;
	case IMM7_16:
		set_base(operand, rn, sign_extend(field(word, 21, 15), 7) * 16);
		break;
	case MINUS_WIDTH:
		set_base(operand, rn, -width);
		break;
	case IMM6:
		set_base(operand, rn, field(word, 21, 16) * width);
		break;
	case IMM6_VL:
		set_base_vl(operand, rn, field(word, 21, 16));
		break;
	case IMM4_VL:
		set_base_vl(operand, rn, field(word, 19, 16));
		break;
	case IMM9_VL:
		set_base_vl(operand, rn, field(word, 21, 16) | field(word, 12, 10));
		break;
	case IMM4_16:
		set_base(operand, rn, sign_extend(field(word, 19, 16), 4) * 16);
		break;
	case IMM4_32:
		set_base(operand, rn, sign_extend(field(word, 19, 16), 4) * 32);
		break;
	}
}

static void direction_of(const struct encoding *encoding, uint32_t word, struct fs_operand *operand)
{
	bool load = false;

	switch (encoding->direction) {
	case LOAD:
		load = true;
		break;
	case LOAD_BIT22:
		load = field(word, 22, 22);
		break;
	case STORE_BIT21:
		load = !field(word, 21, 21);
		break;
	case LOAD_OPC:
		load = field(word, 23, 22);
		break;
	case EXCLUSIVE:
		load = field(word, 22, 22);
		operand->exclusive = true;
		break;
	case ATOMIC:
		operand->locked = true;
		operand->reads = operand->writes = true;
		return;
	case COPY:
		operand->several = true;
		operand->reads = operand->writes = true;
		return;
	case PREFETCH:
		operand->kind = FS_OPERAND_PREFETCH;
		return;
	case STORE:
	case RESERVED:
		break;
	}
	operand->reads = load;
	operand->writes = !load;
}

/* Branches, exception generation and return: bits 28:26 are 101. */
static bool is_branch(uint32_t word)
{
	bool branch = (word & 0x7c000000) == 0x14000000 || /* b, bl */
		      (word & 0x7e000000) == 0x34000000 || /* cbz, cbnz */
		      (word & 0x7e000000) == 0x36000000 || /* tbz, tbnz */
		      (word & 0xff000000) == 0x54000000 || /* b.cond, bc.cond */
		      (word & 0xfe000000) == 0xd6000000;   /* br, blr, ret, eret */

	return branch;
}

/* The top-level group of loads and stores, and that of SVE and SME memory accesses. */
static bool is_memory_group(uint32_t word)
{
	return (word & 0x0a000000) == 0x08000000 || (word & 0x9e000000) == 0x84000000 ||
	       (word & 0xfe000000) == 0xe0000000;
}

bool fs_operand_a64(uint32_t word, struct fs_operand *ret_operand)
{
	struct fs_operand operand = { .length = 4 };

	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
		const struct encoding *encoding = &encodings[i];

		if ((word & encoding->mask) != encoding->value)
			continue;
		if (encoding->direction == RESERVED || !width_of(encoding, word, &operand.width))
			return false;
		operand.kind = FS_OPERAND_MEMORY;
		direction_of(encoding, word, &operand);
		address_of(encoding, word, &operand);
		*ret_operand = operand;
		return true;
	}
	if (is_memory_group(word) || (word & 0xffff0000) == 0)
		return false;
	if (is_branch(word)) {
		operand.kind = FS_OPERAND_BRANCH;
		operand.breaks_flow = true;
	}
	*ret_operand = operand;
	return true;
}
