/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: the function's code is decoded once into steps (step.h) and cut into blocks. A
 * state says for each register and stack slot what is known of it. Blocks are run from their entry
 * states until no entry state changes; a state only ever loses knowledge, so that this ends. An
 * access is answered by running its block once more, up to it.
 *
 * Locations from DWARF are put into a state where they begin, and at the start of each block, so
 * that code behind an indirect jump, whose predecessors are not known, is typed as well.
 */
#include "ingest/symbol/flow.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/search.h"
#include "common/vector.h"
#include "ingest/symbol/flow_value.h"

enum {
	CODE_MAX = 1 << 20, /* longer functions are not followed */
	BLOCKS_MAX = 1 << 13,
	ROUNDS_MAX = 32, /* of all blocks; states settle in a few */
	CHUNK = 4096,
	CALLEE_MAX = 1 << 14,
	CALL_DEPTH_MAX = 4,
	INSTRUCTION_MAX = 16,
	POINTER_SIZE = 8,
};

struct block {
	uint64_t first, last; /* instructions, inclusive */
	int32_t target;	      /* block jumped to, -1: none */
	bool leads_on;	      /* into the next block */
	bool changed;
	struct fs_state state; /* at its start */
	struct fs_state end;   /* kept where an indirect jump ends it */
};

struct code {
	uint64_t address;
	struct fs_instruction instruction;
};

struct fs_flow {
	struct fs_flow_source source;
	struct fs_locals locals;
	struct fs_table callees; /* address, depth -> registers that a call of it changes */
	struct code *code;
	size_t code_count, code_capacity;
	struct block *blocks;
	size_t block_count;
	uint64_t low, high;	/* of the function that was followed last */
	bool known;		/* low and high are set */
	uint64_t piece_address; /* of the code read last */
	size_t piece_size;
	uint8_t piece[CHUNK];
};

struct fs_flow *fs_flow_open(const struct fs_flow_source *source)
{
	struct fs_flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return NULL;
	flow->source = *source;
	fs_table_init(&flow->callees, 16, 8);
	return flow;
}

static void forget(struct fs_flow *flow)
{
	free(flow->locals.locals);
	free(flow->blocks);
	flow->locals = (struct fs_locals){ 0 };
	flow->blocks = NULL;
	flow->block_count = flow->code_count = 0;
	flow->known = false;
}

void fs_flow_close(struct fs_flow *flow)
{
	if (!flow)
		return;
	forget(flow);
	free(flow->code);
	fs_table_free(&flow->callees);
	free(flow);
}

/* ---- code ---- */

/* Code is read in pieces; most instructions lie in the last one. */
static size_t read_code(struct fs_flow *flow, uint64_t address, const uint8_t **ret_bytes)
{
	size_t left;

	if (address < flow->piece_address || address - flow->piece_address >= flow->piece_size ||
	    flow->piece_size - (size_t)(address - flow->piece_address) < INSTRUCTION_MAX) {
		flow->piece_address = address;
		flow->piece_size = flow->source.read(flow->source.context, address, flow->piece,
						     sizeof(flow->piece));
	}
	left = flow->piece_size - (size_t)(address - flow->piece_address);
	*ret_bytes = flow->piece + (address - flow->piece_address);
	return left;
}

static bool decode_one(struct fs_flow *flow, uint64_t address,
		       struct fs_instruction *ret_instruction)
{
	const uint8_t *bytes;
	size_t left = read_code(flow, address, &bytes);
	uint32_t word;

	if (flow->source.x86)
		return fs_step_x86(flow->source.x86, bytes, left, address, ret_instruction);
	if (left < sizeof(word))
		return false;
	memcpy(&word, bytes, sizeof(word));
	fs_step_a64(word, address, ret_instruction);
	return true;
}

/* ---- values ---- */

/*
 * A register of a variable, or of a part of one: what it points to. Classes of one pointer, such as
 * iterators, lie in registers, too. Nothing is told of what is no pointer.
 */
static struct fs_value value_of_variable(const struct fs_flow *flow, const struct fs_local *local)
{
	uint64_t rest;
	uint32_t number =
		fs_data_type_at(flow->source.types, local->type, local->part, POINTER_SIZE, &rest);
	const struct fs_data_type *type = fs_data_type(flow->source.types, number);
	struct fs_value value;

	if (!type || rest || type->kind != FS_TYPE_POINTER || type->target == FS_NO_TYPE)
		return fs_value_lost;
	value = fs_value_pointer(type->target, -local->offset);
	value.from_variable = true;
	return value;
}

/* The remainder that is never negative. */
static int64_t modulo(int64_t value, int64_t size)
{
	int64_t rest = value % size;

	return rest < 0 ? rest + size : rest;
}

/* ---- what DWARF says of an address ---- */

/*
 * How much a type tells: a whole structure more than a part of it, that more than a number, that
 * more than nothing. A pointer to a field that was computed from one to its structure says more
 * than the variable that holds it.
 */
static uint64_t worth(const struct fs_flow *flow, const struct fs_value *value)
{
	const struct fs_data_type *type = fs_data_type(flow->source.types, value->type);

	if (value->kind != FS_VALUE_POINTER || !type)
		return 0;
	if (!fs_type_has_fields(type->kind))
		return 1;
	return 2 + type->size;
}

/* Whether a register points into the object that it is known by, not beside it. */
static bool is_inside(const struct fs_flow *flow, const struct fs_value *value)
{
	const struct fs_data_type *type = fs_data_type(flow->source.types, value->type);

	return value->kind == FS_VALUE_POINTER && type && value->offset >= 0 &&
	       (uint64_t)value->offset < type->size;
}

/* One that lies behind or before where the register points says less than what is there. */
static void apply_local(const struct fs_flow *flow, const struct fs_local *local,
			struct fs_value *value)
{
	struct fs_value found = value_of_variable(flow, local);

	if (local->place != FS_PLACE_REGISTER || found.kind != FS_VALUE_POINTER ||
	    (is_inside(flow, value) && !is_inside(flow, &found)))
		return;
	if (worth(flow, &found) > worth(flow, value))
		*value = found;
}

/* Put in the variables whose ranges begin at an address, or, at a block's start, cover it. */
static void apply_locals(const struct fs_flow *flow, uint64_t address, bool whole,
			 struct fs_state *state)
{
	const struct fs_locals *locals = &flow->locals;

	for (size_t i = whole ? 0 : FS_FIRST_AT(locals->locals, locals->count, low, address);
	     i < locals->count && locals->locals[i].low <= address; i++) {
		const struct fs_local *local = &locals->locals[i];

		if (address < local->high && local->place == FS_PLACE_REGISTER)
			apply_local(flow, local, &state->registers[local->reg]);
	}
}

/* The variable on the stack that holds a place of the frame. */
static const struct fs_local *local_at(const struct fs_flow *flow, const struct fs_state *state,
				       uint64_t address, int64_t frame_offset)
{
	for (size_t i = 0; i < flow->locals.count && flow->locals.locals[i].low <= address; i++) {
		const struct fs_local *local = &flow->locals.locals[i];
		const struct fs_data_type *type = fs_data_type(flow->source.types, local->type);
		int64_t start = local->offset;

		if (address >= local->high || local->place == FS_PLACE_REGISTER || !type)
			continue;
		if (local->place == FS_PLACE_MEMORY) {
			const struct fs_value *base = &state->registers[local->reg];

			if (base->kind != FS_VALUE_FRAME)
				continue;
			start += base->offset;
		}
		if (frame_offset >= start && (uint64_t)(frame_offset - start) < type->size)
			return local;
	}
	return NULL;
}

/* ---- memory ---- */

static bool global_access(struct fs_flow *flow, const struct fs_value *place,
			  struct fs_typed_access *access)
{
	const struct fs_global *global;
	uint64_t block = flow->source.thread_block;
	uint64_t offset = flow->source.x86 ? (uint64_t)place->offset + block
					   : (uint64_t)place->offset - block;

	if (fs_globals_read(flow->source.types, flow->source.globals))
		return false;
	global = place->kind == FS_VALUE_THREAD
			 ? fs_thread_local_at(flow->source.globals, offset)
			 : fs_global_at(flow->source.globals, (uint64_t)place->offset);
	if (!global)
		return false;
	*access = (struct fs_typed_access){
		.type = global->type,
		.offset = (int64_t)((place->kind == FS_VALUE_THREAD ? offset
								    : (uint64_t)place->offset) -
				    global->address),
		.stride = place->stride,
		.name = global->name,
		.method = place->kind == FS_VALUE_THREAD ? FS_TYPE_METHOD_THREAD
							 : FS_TYPE_METHOD_GLOBAL,
	};
	return true;
}

/* Whether an index of a stride stays within arrays when it begins at a byte of a type. */
static bool is_in_array(const struct fs_flow *flow, uint32_t number, uint64_t offset,
			uint32_t stride)
{
	const struct fs_data_type *type = fs_data_type(flow->source.types, number);
	const struct fs_data_type *element;
	struct fs_field field;

	while (type && fs_type_has_fields(type->kind)) {
		if (!fs_data_type_field(flow->source.types, number, offset, 0, &field))
			return false;
		offset -= field.offset;
		number = field.type;
		type = fs_data_type(flow->source.types, number);
	}
	if (!type || type->kind != FS_TYPE_ARRAY)
		return false;
	element = fs_data_type(flow->source.types, type->target);
	if (!element || !element->size)
		return false;
	return stride == 1 || stride % element->size == 0 ||
	       is_in_array(flow, type->target, offset % element->size, stride);
}

/* Whether an access behind the end of a structure falls in its flexible array. */
static bool is_flexible(const struct fs_flow *flow, const struct fs_typed_access *access)
{
	const struct fs_data_type *type = fs_data_type(flow->source.types, access->type);
	struct fs_field field;

	return fs_type_has_fields(type->kind) && (uint64_t)access->offset >= type->size &&
	       fs_data_type_field(flow->source.types, access->type, (uint64_t)access->offset, 0,
				  &field) &&
	       !field.size;
}

/*
 * Bring an offset that left its object back into it where an index goes by whole objects, for
 * these stand in arrays. Without an index, what lies outside may be the container that the object
 * is a part of, or a class derived from it. Else an index must run within an array of the object.
 */
static bool settle_offset(const struct fs_flow *flow, struct fs_typed_access *access)
{
	const struct fs_data_type *type = fs_data_type(flow->source.types, access->type);
	bool whole;

	if (!type || !type->size || type->size > INT32_MAX)
		return type && access->offset == 0 && !access->stride;
	whole = access->stride % type->size == 0 || !fs_type_has_fields(type->kind);
	if (access->offset >= 0 && is_flexible(flow, access)) {
		access->within = access->stride != 0;
		return true;
	}
	if (access->offset < 0 || (uint64_t)access->offset >= type->size) {
		if (fs_type_has_fields(type->kind) && (!whole || !access->stride))
			return false;
		access->offset = modulo(access->offset, (int64_t)type->size);
		access->stride = fs_common_stride(access->stride, (uint32_t)type->size);
	}
	if (whole && type->kind != FS_TYPE_ARRAY)
		return true;
	if (!is_in_array(flow, access->type, (uint64_t)access->offset, access->stride))
		return !access->stride;
	access->within = access->stride != 0;
	return true;
}

/* What is at a place. */
static bool access_at(struct fs_flow *flow, const struct fs_state *state, uint64_t address,
		      const struct fs_value *place, struct fs_typed_access *ret_access)
{
	const struct fs_local *local;

	switch (place->kind) {
	case FS_VALUE_POINTER:
		*ret_access = (struct fs_typed_access){
			.type = place->type,
			.offset = place->offset,
			.stride = place->stride,
			.method = place->from_variable ? FS_TYPE_METHOD_VARIABLE
						       : FS_TYPE_METHOD_FLOW,
		};
		return settle_offset(flow, ret_access);
	case FS_VALUE_FRAME:
		local = local_at(flow, state, address, place->offset);
		if (!local)
			return false;
		*ret_access = (struct fs_typed_access){ .type = local->type,
							.offset = place->offset - local->offset,
							.stride = place->stride,
							.name = local->name,
							.method = FS_TYPE_METHOD_LOCAL };
		if (local->place == FS_PLACE_MEMORY)
			ret_access->offset -= state->registers[local->reg].offset;
		return settle_offset(flow, ret_access);
	case FS_VALUE_ABSOLUTE:
	case FS_VALUE_THREAD:
		return global_access(flow, place, ret_access) && settle_offset(flow, ret_access);
	default:
		return false;
	}
}

/* What a pointer that is loaded from a place points to. */
static struct fs_value load_from(struct fs_flow *flow, struct fs_state *state, uint64_t address,
				 const struct fs_step *step)
{
	struct fs_value place = fs_state_place(state, step);
	struct fs_typed_access access;
	const struct fs_data_type *type;
	const struct fs_value *slot;
	uint64_t rest;

	if (step->width != 8)
		return fs_value_lost;
	if (place.kind == FS_VALUE_FRAME && !place.stride) {
		slot = fs_state_slot(state, place.offset);
		if (slot && slot->kind != FS_VALUE_NUMBER)
			return *slot;
	}
	if (!access_at(flow, state, address, &place, &access) || access.offset < 0)
		return fs_value_lost;
	type = fs_data_type(flow->source.types,
			    fs_data_type_at(flow->source.types, access.type,
					    (uint64_t)access.offset, step->width, &rest));
	if (!type || type->kind != FS_TYPE_POINTER || rest || type->target == FS_NO_TYPE)
		return fs_value_lost;
	return fs_value_pointer(type->target, 0);
}

/* ---- steps ---- */

/* Registers that a call may change, by the procedure call standards of AAPCS64 and System V. */
static uint32_t volatile_registers(const struct fs_flow *flow)
{
	return flow->source.x86 ? 0xf37 : 0x4007ffff;
}

static uint32_t changed_by(struct fs_flow *flow, uint64_t function, unsigned int depth);

/* The registers that one instruction of a callee changes. */
static uint32_t changed_here(struct fs_flow *flow, const struct fs_instruction *instruction,
			     const struct fs_dwarf_range *range, unsigned int depth)
{
	uint32_t changed = 0;

	for (uint8_t i = 0; i < instruction->count; i++) {
		const struct fs_step *step = &instruction->steps[i];
		uint64_t target = (uint64_t)step->constant;
		bool leaves = step->kind == FS_STEP_JUMP &&
			      (target < range->low || target >= range->high);

		if (step->kind == FS_STEP_CALL || leaves)
			changed |= changed_by(flow, target, depth + 1);
		else if (step->kind < FS_STEP_CALL && step->kind != FS_STEP_STORE &&
			 step->target != FS_NO_REGISTER)
			changed |= 1u << step->target;
	}
	return changed;
}

/*
 * The registers that a call changes. Compilers look into functions of the same unit (GCC's
 * -fipa-ra) and keep values in volatile registers that the callee does not touch; so do we.
 * What is found depends on how deep the search is already, and so on nothing that was asked before.
 */
static uint32_t changed_by(struct fs_flow *flow, uint64_t function, unsigned int depth)
{
	uint32_t all = volatile_registers(flow);
	const uint64_t key[] = { function, depth };
	struct fs_dwarf_range range;
	uint64_t *known;
	uint32_t changed = 0;
	Dwarf_Die callee;

	if (!function || depth > CALL_DEPTH_MAX)
		return all;
	known = fs_table_get(&flow->callees, key);
	if (known)
		return (uint32_t)*known;
	if (fs_dwarf_entry(flow->source.index, function, &callee, &range) &&
	    range.high - range.low <= CALLEE_MAX) {
		uint64_t at = range.low;
		struct fs_instruction instruction;

		while (at < range.high && (changed & all) != all &&
		       decode_one(flow, at, &instruction)) {
			changed |= changed_here(flow, &instruction, &range, depth);
			at += instruction.length;
		}
		changed = at < range.high ? all : changed & all;
	} else {
		changed = all;
	}
	known = fs_table_put(&flow->callees, key, NULL, NULL);
	if (known)
		*known = changed;
	return changed;
}

static void call(struct fs_flow *flow, const struct fs_step *step, uint64_t address,
		 struct fs_state *state)
{
	uint32_t changed = changed_by(flow, (uint64_t)step->constant, 0);
	const struct fs_data_type *type;
	struct fs_dwarf_range range;
	Dwarf_Die callee;

	for (int8_t i = 0; i < FS_STEP_REGISTERS; i++) {
		if (changed >> i & 1)
			state->registers[i] = fs_value_unknown(address, i);
	}
	if (!step->constant ||
	    !fs_dwarf_entry(flow->source.index, (uint64_t)step->constant, &callee, &range))
		return;
	type = fs_data_type(flow->source.types, fs_data_type_of(flow->source.types, &callee));
	if (type && type->kind == FS_TYPE_POINTER && type->target != FS_NO_TYPE)
		state->registers[0] = fs_value_pointer(type->target, 0);
}

static void run_step(struct fs_flow *flow, const struct fs_step *step, uint64_t address,
		     struct fs_state *state)
{
	struct fs_value value = fs_value_unknown(address, step->target);

	switch (step->kind) {
	case FS_STEP_LOSE:
		break;
	case FS_STEP_COPY:
	case FS_STEP_INDEX:
		value = fs_state_sum(state, step);
		if (step->kind == FS_STEP_COPY && !step->constant)
			value = state->registers[step->source];
		break;
	case FS_STEP_NARROW:
		if (fs_value_is_number(&state->registers[step->source]))
			value = state->registers[step->source];
		break;
	case FS_STEP_MULTIPLY:
		value = fs_state_product(state, step);
		break;
	case FS_STEP_ADDRESS:
		value = (struct fs_value){ .kind = FS_VALUE_ABSOLUTE,
					   .type = FS_NO_TYPE,
					   .offset = step->constant };
		break;
	case FS_STEP_LOAD:
		value = load_from(flow, state, address, step);
		if (value.kind == FS_VALUE_NUMBER)
			value = fs_value_unknown(address, step->target);
		break;
	case FS_STEP_STORE:
		value = fs_state_place(state, step);
		if (value.kind == FS_VALUE_FRAME && !value.stride)
			fs_state_set_slot(state, value.offset,
					  step->target == FS_NO_REGISTER || step->width != 8
						  ? fs_value_lost
						  : state->registers[step->target]);
		return;
	case FS_STEP_EITHER:
		if (step->source != FS_NO_REGISTER && step->index != FS_NO_REGISTER)
			value = fs_value_merge(state->registers[step->source],
					       state->registers[step->index]);
		else if (step->source != FS_NO_REGISTER)
			value = state->registers[step->source];
		else if (step->index != FS_NO_REGISTER)
			value = state->registers[step->index];
		break;
	case FS_STEP_THREAD:
		value = (struct fs_value){ .kind = FS_VALUE_THREAD, .type = FS_NO_TYPE };
		break;
	case FS_STEP_CALL:
		call(flow, step, address, state);
		return;
	default:
		return;
	}
	if (step->target != FS_NO_REGISTER)
		state->registers[step->target] = value;
}

static void run_instruction(struct fs_flow *flow, const struct code *code, struct fs_state *state)
{
	apply_locals(flow, code->address, false, state);
	for (uint8_t i = 0; i < code->instruction.count; i++)
		run_step(flow, &code->instruction.steps[i], code->address, state);
}

/* ---- blocks ---- */

/* Decode all of [low, high); bytes that are no instruction end it. */
static int decode(struct fs_flow *flow)
{
	struct fs_instruction instruction;
	uint64_t at = flow->low;

	flow->code_count = 0;
	while (at < flow->high && decode_one(flow, at, &instruction)) {
		FS_TRY(FS_RESERVE(flow->code, flow->code_capacity, flow->code_count + 1));
		flow->code[flow->code_count++] = (struct code){ at, instruction };
		at += instruction.length;
	}
	return 0;
}

/* The last step when it changes the flow of control, else NULL. */
static const struct fs_step *ending(const struct code *code)
{
	const struct fs_instruction *instruction = &code->instruction;
	const struct fs_step *last =
		instruction->count ? &instruction->steps[instruction->count - 1] : NULL;

	return last && last->kind >= FS_STEP_JUMP ? last : NULL;
}

/* The number of the instruction at an address, code_count if there is none. */
static size_t find_code(const struct fs_flow *flow, uint64_t address)
{
	size_t at = FS_FIRST_AT(flow->code, flow->code_count, address, address);

	return at < flow->code_count && flow->code[at].address == address ? at : flow->code_count;
}

/* Mark the instructions that begin a block: the first, jumped-to ones, and those behind a jump. */
static void mark_starts(const struct fs_flow *flow, bool *starts)
{
	starts[0] = true;
	for (size_t i = 0; i < flow->code_count; i++) {
		const struct fs_step *step = ending(&flow->code[i]);
		size_t target;

		if (!step)
			continue;
		if (i + 1 < flow->code_count)
			starts[i + 1] = true;
		target = find_code(flow, (uint64_t)step->constant);
		if (step->kind != FS_STEP_END && target < flow->code_count)
			starts[target] = true;
	}
}

/* The block that begins with an instruction, -1: none. */
static int32_t block_at(const struct fs_flow *flow, size_t instruction)
{
	size_t at = FS_FIRST_AT(flow->blocks, flow->block_count, first, instruction);

	return at < flow->block_count && flow->blocks[at].first == instruction ? (int32_t)at : -1;
}

static void link_block(struct fs_flow *flow, struct block *block)
{
	const struct fs_step *step = ending(&flow->code[block->last]);

	block->leads_on = !step || step->kind == FS_STEP_BRANCH;
	block->target = -1;
	if (step && step->kind != FS_STEP_END && step->constant)
		block->target = block_at(flow, find_code(flow, (uint64_t)step->constant));
}

static int make_blocks(struct fs_flow *flow)
{
	bool *starts = calloc(flow->code_count, sizeof(*starts));
	size_t count = 0;

	if (!starts)
		return FS_NOMEM;
	mark_starts(flow, starts);
	for (size_t i = 0; i < flow->code_count; i++)
		count += starts[i];
	flow->blocks = count <= BLOCKS_MAX ? calloc(count, sizeof(*flow->blocks)) : NULL;
	for (size_t i = 0; flow->blocks && i < flow->code_count; i++) {
		if (starts[i])
			flow->blocks[flow->block_count++].first = i;
		flow->blocks[flow->block_count - 1].last = i;
	}
	free(starts);
	if (!flow->blocks)
		return count <= BLOCKS_MAX ? FS_NOMEM : 0;
	for (size_t i = 0; i < flow->block_count; i++)
		link_block(flow, &flow->blocks[i]);
	return 0;
}

/* ---- running ---- */

static void entry_state(const struct fs_flow *flow, struct fs_state *state)
{
	int stack = flow->source.x86 ? 7 : 31;

	*state = (struct fs_state){ 0 };
	for (int8_t i = 0; i < FS_STEP_REGISTERS; i++)
		state->registers[i] = fs_value_unknown(0, i);
	/* the return address stands on x86's stack */
	state->registers[stack] = (struct fs_value){ .kind = FS_VALUE_FRAME,
						     .type = FS_NO_TYPE,
						     .offset = flow->source.x86 ? -8 : 0 };
}

static void pass_on(struct fs_flow *flow, const struct fs_state *state, int64_t to)
{
	struct block *block;

	if (to < 0 || (size_t)to >= flow->block_count)
		return;
	block = &flow->blocks[to];
	if (fs_state_merge(&block->state, state,
			   block->state.registers[0].kind == FS_VALUE_UNREACHED))
		block->changed = true;
}

static void run_block(struct fs_flow *flow, size_t number)
{
	struct block *block = &flow->blocks[number];
	struct fs_state state = block->state;

	block->changed = false;
	apply_locals(flow, flow->code[block->first].address, true, &state);
	for (uint64_t i = block->first; i <= block->last; i++)
		run_instruction(flow, &flow->code[i], &state);
	block->end = state;
	pass_on(flow, &state, block->target);
	if (block->leads_on)
		pass_on(flow, &state, (int64_t)number + 1);
}

static void run_changed(struct fs_flow *flow)
{
	bool any = true;

	for (int round = 0; any && round < ROUNDS_MAX; round++) {
		any = false;
		for (size_t i = 0; i < flow->block_count; i++) {
			if (!flow->blocks[i].changed)
				continue;
			run_block(flow, i);
			any = true;
		}
	}
}

static bool is_reached(const struct block *block)
{
	return block->state.registers[0].kind != FS_VALUE_UNREACHED;
}

/* The cases of a switch have no known predecessor: they take the state at the indirect jump. */
static void enter_cases(struct fs_flow *flow, bool *reached)
{
	for (size_t i = 0; i < flow->block_count; i++)
		reached[i] = is_reached(&flow->blocks[i]);
	for (size_t i = 0; i < flow->block_count; i++) {
		const struct fs_step *step = ending(&flow->code[flow->blocks[i].last]);

		if (!reached[i] || !step || step->kind != FS_STEP_JUMP || step->constant)
			continue;
		for (size_t k = 1; k < flow->block_count; k++) {
			if (!reached[k])
				pass_on(flow, &flow->blocks[i].end, (int64_t)k);
		}
	}
}

/* What is left, such as landing pads of exceptions, is run without telling others. */
static void enter_rest(struct fs_flow *flow)
{
	for (size_t i = 1; i < flow->block_count; i++) {
		struct block *block = &flow->blocks[i];

		for (int k = 0; !is_reached(block) && k < FS_STEP_REGISTERS; k++)
			block->state.registers[FS_STEP_REGISTERS - 1 - k] = fs_value_lost;
	}
}

static int run(struct fs_flow *flow)
{
	bool *reached = calloc(flow->block_count, sizeof(*reached));

	if (!reached)
		return FS_NOMEM;
	entry_state(flow, &flow->blocks[0].state);
	flow->blocks[0].changed = true;
	run_changed(flow);
	enter_cases(flow, reached);
	run_changed(flow);
	enter_rest(flow);
	free(reached);
	return 0;
}

static int follow(struct fs_flow *flow, Dwarf_Die *function, uint64_t low, uint64_t high)
{
	forget(flow);
	flow->low = low;
	flow->high = high;
	flow->known = true;
	if (high - low > CODE_MAX)
		return 0;
	FS_TRY(fs_locals_read(flow->source.types, function, low, high, &flow->locals));
	FS_TRY(decode(flow));
	if (!flow->code_count)
		return 0;
	FS_TRY(make_blocks(flow));
	if (!flow->block_count)
		return 0;
	return run(flow);
}

/* Variables that cover the address are the best evidence for its base register. */
static void apply_covering(const struct fs_flow *flow, uint64_t address, const struct fs_step *step,
			   struct fs_state *state)
{
	for (size_t i = 0; i < flow->locals.count && flow->locals.locals[i].low <= address; i++) {
		const struct fs_local *local = &flow->locals.locals[i];
		struct fs_value *value;

		if (address >= local->high || local->place != FS_PLACE_REGISTER ||
		    (local->reg != step->source && local->reg != step->index))
			continue;
		value = &state->registers[local->reg];
		if (value->kind == FS_VALUE_NUMBER || value->kind == FS_VALUE_UNREACHED ||
		    !worth(flow, value))
			apply_local(flow, local, value);
	}
}

/*
 * What is at a place by the variables alone, for one that lies outside of what the register is
 * known to point to: that may be a part, such as the base class, of what another variable shows.
 */
static bool access_by_variables(struct fs_flow *flow, struct fs_state *state, uint64_t address,
				const struct fs_step *step, struct fs_typed_access *ret_access)
{
	uint64_t best = 0;

	for (size_t i = 0; i < flow->locals.count && flow->locals.locals[i].low <= address; i++) {
		const struct fs_local *local = &flow->locals.locals[i];
		struct fs_value value = value_of_variable(flow, local);
		struct fs_typed_access access;
		struct fs_value before;
		struct fs_value place;

		if (address >= local->high || local->place != FS_PLACE_REGISTER ||
		    local->reg != step->source || worth(flow, &value) <= best)
			continue;
		before = state->registers[local->reg];
		state->registers[local->reg] = value;
		place = fs_state_place(state, step);
		state->registers[local->reg] = before;
		if (!access_at(flow, state, address, &place, &access))
			continue;
		best = worth(flow, &value);
		*ret_access = access;
	}
	return best != 0;
}

static bool find_access(struct fs_flow *flow, uint64_t address, struct fs_typed_access *ret_access)
{
	size_t instruction = find_code(flow, address);
	const struct block *block;
	struct fs_state state;
	const struct fs_instruction *at;

	if (instruction == flow->code_count || !flow->block_count)
		return false;
	block = &flow->blocks[FS_FIRST_BEHIND(flow->blocks, flow->block_count, first, instruction) -
			      1];
	state = block->state;
	apply_locals(flow, flow->code[block->first].address, true, &state);
	for (uint64_t i = block->first; i < instruction; i++)
		run_instruction(flow, &flow->code[i], &state);
	apply_locals(flow, address, false, &state);
	at = &flow->code[instruction].instruction;
	for (uint8_t i = 0; i < at->count; i++) {
		struct fs_value place;

		if (at->steps[i].kind == FS_STEP_LOAD || at->steps[i].kind == FS_STEP_STORE) {
			apply_covering(flow, address, &at->steps[i], &state);
			place = fs_state_place(&state, &at->steps[i]);
			return access_at(flow, &state, address, &place, ret_access) ||
			       access_by_variables(flow, &state, address, &at->steps[i],
						   ret_access);
		}
		run_step(flow, &at->steps[i], address, &state);
	}
	return false;
}

bool fs_flow_access(struct fs_flow *flow, uint64_t address, struct fs_typed_access *ret_access)
{
	if (!flow->known || address < flow->low || address >= flow->high) {
		struct fs_dwarf_range range;
		Dwarf_Die function;

		if (!fs_dwarf_function_range(flow->source.index, address, &function, &range) ||
		    follow(flow, &function, range.low, range.high))
			return false;
	}
	return find_access(flow, address, ret_access);
}
