/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one instruction does to memory, from its bytes alone: direction, width, base register,
 * displacement. Pure functions; they touch nothing but their arguments.
 */
#ifndef FS_INGEST_SYMBOL_OPERAND_H
#define FS_INGEST_SYMBOL_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/access.h"

enum fs_operand_kind {
	FS_OPERAND_NO_MEMORY, /* accesses no memory and does not branch */
	FS_OPERAND_BRANCH,    /* accesses no memory and may change the flow of control */
	FS_OPERAND_MEMORY,
	FS_OPERAND_PREFETCH,
};

struct fs_operand {
	uint8_t length; /* of the instruction in bytes */
	enum fs_operand_kind kind;
	bool reads;
	bool writes;
	bool locked;	      /* read-modify-write that other cores see as one */
	bool exclusive;	      /* A64 load or store exclusive */
	bool several;	      /* accesses two places (string move, push from memory, MOPS copy) */
	bool breaks_flow;     /* the next instruction is not simply the next one run: a jump, call,
				 return or trap; conditional branches too */
	bool interrupted;     /* x86 rep: the instruction pointer may stay on it between accesses */
	uint32_t width;	      /* bytes in all registers together; 0: unknown, or not fixed */
	char base[8];	      /* lower case, "" where there is none */
	int64_t displacement; /* constant part of the address; 0 without a base */
	bool from_here;	      /* it counts from the instruction's own address */
};

/*
 * The operation as the table `code` has it: load if it only reads, store if it only writes,
 * atomic if it reads and writes one place (locked or not, as access.h says read-modify-write) or
 * is one half of an exclusive pair; -1 where two places are accessed, each in its own way.
 */
int fs_operand_op(const struct fs_operand *operand);

/*
 * Decode an A64 instruction word. False when it is not allocated, as far as our table knows.
 * With writeback, displacement is that of the access: 0 for post-index.
 */
bool fs_operand_a64(uint32_t word, struct fs_operand *ret_operand);

/*
 * x86-64 decoder: a capstone handle and one instruction's worth of buffer. Not to be shared
 * between threads.
 */
struct fs_x86;

/* Returns NULL when memory ran out. */
struct fs_x86 *fs_x86_open(bool bits64);
void fs_x86_close(struct fs_x86 *x86);

/* The length of the instruction at the start of bytes; 0 when they are no whole one. */
size_t fs_x86_length(struct fs_x86 *x86, const uint8_t *bytes, size_t size);

/*
 * Decode the instruction at the start of bytes (at most 15 are looked at). False when they are no
 * whole instruction. A base register is the base, not the index; "rip" counts from the end of
 * the instruction; "fs" or "gs" when the segment is all the base there is, which "gs" is too over
 * "rip": so the kernel addresses variables that each CPU has one of.
 */
bool fs_operand_x86(struct fs_x86 *x86, const uint8_t *bytes, size_t size,
		    struct fs_operand *ret_operand);

#endif
