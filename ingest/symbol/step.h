/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one instruction does to the registers that hold addresses, as a few plain steps.
 *
 * flow.h follows addresses of typed objects through a function by these steps; it knows no
 * instruction set. Registers have the numbers that DWARF gives them (AArch64: x0..x30 are 0..30, sp
 * 31; x86-64: rax 0, rdx 1, rcx 2, rbx 3, rsi 4, rdi 5, rbp 6, rsp 7, r8..r15 8..15). What a
 * decoder does not know it reports as a register whose value is lost, never as nothing.
 */
#ifndef FS_INGEST_SYMBOL_STEP_H
#define FS_INGEST_SYMBOL_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/symbol/operand.h"

enum { FS_STEP_REGISTERS = 32, FS_STEPS_MAX = 8, FS_NO_REGISTER = -1 };

enum fs_step_kind {
	FS_STEP_LOSE,	  /* target: its value is not known from here on */
	FS_STEP_COPY,	  /* target = source + constant */
	FS_STEP_NARROW,	  /* target = low half of source, extended: the same if it is an index */
	FS_STEP_INDEX,	  /* target = source + index * scale + constant */
	FS_STEP_MULTIPLY, /* target = source + index * factor */
	FS_STEP_ADDRESS,  /* target = constant, a link-time address */
	FS_STEP_LOAD,	  /* target = width bytes at source + index * scale + constant */
	FS_STEP_STORE,	  /* width bytes at source + index * scale + constant = target */
	FS_STEP_EITHER,	  /* target = source or index */
	FS_STEP_THREAD,	  /* target = the thread pointer */
	FS_STEP_CALL,	  /* of constant; 0: not known */
	FS_STEP_JUMP,	  /* to constant, always; 0: not known */
	FS_STEP_BRANCH,	  /* to constant, or on */
	FS_STEP_END,	  /* does not lead on */
};

/*
 * A LOAD or STORE without a source register has the absolute address `constant`; one with
 * `thread` set counts from the thread pointer.
 */
struct fs_step {
	enum fs_step_kind kind;
	int8_t target, source, index, factor; /* FS_NO_REGISTER: none */
	uint32_t scale;
	uint8_t width; /* bytes; 0: not known */
	bool thread;
	int64_t constant;
};

struct fs_instruction {
	uint8_t length; /* bytes */
	uint8_t count;
	struct fs_step steps[FS_STEPS_MAX];
};

/* Decode an A64 word at a link-time address. Every word has an answer. */
void fs_step_a64(uint32_t word, uint64_t address, struct fs_instruction *ret_instruction);

/*
 * Decode an x86-64 instruction at a link-time address; at most 15 bytes are looked at. False when
 * they are no whole instruction.
 */
bool fs_step_x86(struct fs_x86 *x86, const uint8_t *bytes, size_t size, uint64_t address,
		 struct fs_instruction *ret_instruction);

#endif
