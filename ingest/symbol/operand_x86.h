/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two readers of x86 instructions (operand_x86.c, step_x86.c) share: capstone's handle.
 */
#ifndef FS_INGEST_SYMBOL_OPERAND_X86_H
#define FS_INGEST_SYMBOL_OPERAND_X86_H

#include <capstone/capstone.h>

#include "ingest/symbol/operand.h"

struct fs_x86 {
	csh handle;
	cs_insn *instruction;
	bool bits64;
};

/* Decode into x86->instruction; false when the bytes are no whole instruction. */
bool fs_x86_decode(struct fs_x86 *x86, const uint8_t *bytes, size_t size);

#endif
