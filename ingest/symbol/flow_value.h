/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of the registers and stack slots of a function at one place, and how steps
 * (step.h) combine it. Knows no DWARF: types are numbers that are compared.
 */
#ifndef FS_INGEST_SYMBOL_FLOW_VALUE_H
#define FS_INGEST_SYMBOL_FLOW_VALUE_H

#include "ingest/symbol/step.h"

enum {
	FS_STATE_SLOTS = 48,
	FS_NULL_PAGE = 4096, /* constants below are no addresses */
};

enum fs_value_kind {
	FS_VALUE_UNREACHED, /* no path has come here yet */
	FS_VALUE_NUMBER,    /* something unknown times `stride`, + offset: an index, or anything */
	FS_VALUE_POINTER,   /* `offset` bytes into an object of `type` */
	FS_VALUE_FRAME,	    /* canonical frame address + offset */
	FS_VALUE_ABSOLUTE,  /* the link-time address, or the small number, `offset` */
	FS_VALUE_THREAD,    /* thread pointer + offset */
};

struct fs_value {
	enum fs_value_kind kind;
	uint32_t type; /* pointer: of the object; number: which unknown it is, 0: any */
	int64_t offset;
	uint32_t stride;    /* an unknown multiple of this was added; 0: nothing, 1: anything */
	bool from_variable; /* as a location list says, not computed */
};

struct fs_slot {
	int64_t offset; /* from the canonical frame address */
	struct fs_value value;
};

struct fs_state {
	struct fs_value registers[FS_STEP_REGISTERS];
	struct fs_slot slots[FS_STATE_SLOTS];
	unsigned int slot_count;
};

/* Nothing is known of it. */
static const struct fs_value fs_value_lost = { .kind = FS_VALUE_NUMBER, .stride = 1 };

struct fs_value fs_value_pointer(uint32_t type, int64_t offset);

/* An unknown of its own, so that sums of its multiples are known to be multiples. */
struct fs_value fs_value_unknown(uint64_t address, int8_t target);

/* A small constant: NULL, or a number. */
bool fs_value_is_null(const struct fs_value *value);
bool fs_value_is_number(const struct fs_value *value);

/* The stride of two indexes that were added: their greatest common divisor. */
uint32_t fs_common_stride(uint32_t left, uint32_t right);

/* What holds on both of two paths. NULL and a pointer are the pointer. */
struct fs_value fs_value_merge(struct fs_value left, struct fs_value right);

/* The slot at a place of the frame, NULL if nothing is known of it. */
struct fs_value *fs_state_slot(struct fs_state *state, int64_t offset);
void fs_state_set_slot(struct fs_state *state, int64_t offset, struct fs_value value);

/* Merge `from` into `into`, or copy it if it is the first. Returns whether that changed it. */
bool fs_state_merge(struct fs_state *into, const struct fs_state *from, bool first);

/* The address that a LOAD or STORE has. */
struct fs_value fs_state_place(const struct fs_state *state, const struct fs_step *step);

/* The results of COPY and INDEX, and of MULTIPLY. */
struct fs_value fs_state_sum(const struct fs_state *state, const struct fs_step *step);
struct fs_value fs_state_product(const struct fs_state *state, const struct fs_step *step);

#endif
