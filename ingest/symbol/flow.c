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
#include "common/vector.h"
#include "ingest/symbol/step.h"

enum {
	CODE_MAX = 1 << 20, /* longer functions are not followed */
	BLOCKS_MAX = 1 << 13,
	ROUNDS_MAX = 32, /* of all blocks; states settle in a few */
	SLOTS = 48,
	CHUNK = 4096,
	CALLEE_MAX = 1 << 14,
	CALL_DEPTH_MAX = 4,
	INSTRUCTION_MAX = 16,
	NULL_PAGE = 4096, /* constants below are no addresses */
};

enum value_kind {
	UNREACHED, /* no path has come here yet */
	NUMBER,	   /* something unknown times `stride`, + offset: an index, or anything */
	POINTER,   /* `offset` bytes into an object of `type` */
	FRAME,	   /* canonical frame address + offset */
	ABSOLUTE,  /* the link-time address, or the small number, `offset` */
	THREAD,	   /* thread pointer + offset */
};

struct value {
	enum value_kind kind;
	uint32_t type; /* POINTER: of the object; NUMBER: which unknown it is, 0: any */
	int64_t offset;
	uint32_t stride;    /* an unknown multiple of this was added; 0: nothing, 1: anything */
	bool from_variable; /* as a location list says, not computed */
};

struct slot {
	int64_t offset; /* from the canonical frame address */
	struct value value;
};

struct state {
	struct value registers[FS_STEP_REGISTERS];
	struct slot slots[SLOTS];
	unsigned int slot_count;
};

struct block {
	uint32_t first, last; /* instructions, inclusive */
	int32_t target;	      /* block jumped to, -1: none */
	bool leads_on;	      /* into the next block */
	bool changed;
	struct state state; /* at its start */
	struct state end;   /* kept where an indirect jump ends it */
};

struct code {
	uint64_t address;
	struct fs_instruction instruction;
};

struct fs_flow {
	struct fs_flow_source source;
	struct fs_locals locals;
	struct fs_table callees; /* address -> registers that a call of it changes */
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

/* Nothing is known of it. */
static const struct value lost = { .kind = NUMBER, .stride = 1 };

struct fs_flow *fs_flow_open(const struct fs_flow_source *source)
{
	struct fs_flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return NULL;
	flow->source = *source;
	fs_table_init(&flow->callees, 8, 8);
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

static struct value pointer_to(uint32_t type, int64_t offset)
{
	return (struct value){ .kind = POINTER, .type = type, .offset = offset };
}

/* A register of a variable: what it points to. Nothing is told of one that is no pointer. */
static struct value value_of_variable(const struct fs_flow *flow, const struct fs_local *local)
{
	const struct fs_data_type *type = fs_data_type(flow->source.types, local->type);
	struct value value;

	if (!type || type->kind != FS_TYPE_POINTER || type->target == FS_NO_TYPE)
		return lost;
	value = pointer_to(type->target, -local->offset);
	value.from_variable = true;
	return value;
}

static bool is_null(const struct value *value)
{
	return value->kind == ABSOLUTE && value->offset >= 0 && value->offset < NULL_PAGE;
}

/* The remainder that is never negative. */
static int64_t modulo(int64_t value, int64_t size)
{
	int64_t rest = value % size;

	return rest < 0 ? rest + size : rest;
}

/* The stride of two indexes that were added: their greatest common divisor. */
static uint32_t common_stride(uint32_t left, uint32_t right)
{
	while (right) {
		uint32_t rest = left % right;

		left = right;
		right = rest;
	}
	return left;
}

/* Two unknown numbers: what holds for both. */
static struct value merge_numbers(struct value left, struct value right)
{
	int64_t apart = left.offset - right.offset;

	left.type =
		left.type == right.type && left.stride == right.stride && !apart ? left.type : 0;
	left.stride = common_stride(left.stride, right.stride);
	if (apart > -INT32_MAX && apart < INT32_MAX)
		left.stride = common_stride(left.stride, (uint32_t)(apart < 0 ? -apart : apart));
	else
		left.stride = 1;
	return left;
}

/*
 * Two addresses in objects of one type: equal, or those of elements of an array; whether there is
 * one is seen when it is accessed.
 */
static struct value merge_pointers(struct value left, struct value right)
{
	int64_t apart = left.offset - right.offset;

	if (apart <= -INT32_MAX || apart >= INT32_MAX)
		return lost;
	left.stride = common_stride(left.stride, right.stride);
	left.stride = common_stride(left.stride, (uint32_t)(apart < 0 ? -apart : apart));
	left.from_variable &= right.from_variable;
	return left;
}

static struct value merge(struct value left, struct value right)
{
	if (left.kind == UNREACHED)
		return right;
	if (right.kind == UNREACHED)
		return left;
	if (left.kind == POINTER && is_null(&right))
		return left;
	if (right.kind == POINTER && is_null(&left))
		return right;
	if (left.kind == NUMBER && right.kind == NUMBER)
		return merge_numbers(left, right);
	if (left.kind != right.kind || left.type != right.type)
		return lost;
	if (left.kind == POINTER)
		return merge_pointers(left, right);
	if (left.offset != right.offset)
		return lost;
	left.stride = common_stride(left.stride, right.stride);
	return left;
}

static bool same(const struct value *left, const struct value *right)
{
	return left->kind == right->kind && left->type == right->type &&
	       left->offset == right->offset && left->stride == right->stride &&
	       left->from_variable == right->from_variable;
}

/* ---- stack slots ---- */

static struct value *find_slot(struct state *state, int64_t offset)
{
	for (unsigned int i = 0; i < state->slot_count; i++) {
		if (state->slots[i].offset == offset)
			return &state->slots[i].value;
	}
	return NULL;
}

static void set_slot(struct state *state, int64_t offset, struct value value)
{
	struct value *slot = find_slot(state, offset);

	if (!slot && value.kind != NUMBER && state->slot_count < SLOTS) {
		state->slots[state->slot_count].offset = offset;
		slot = &state->slots[state->slot_count++].value;
	}
	if (slot)
		*slot = value;
}

/* Merge `from` into `into`. Returns whether that changed it. */
static bool merge_state(struct state *into, const struct state *from, bool first)
{
	bool changed = first;

	if (first) {
		*into = *from;
		return true;
	}
	for (int i = 0; i < FS_STEP_REGISTERS; i++) {
		struct value value = merge(into->registers[i], from->registers[i]);

		changed |= !same(&value, &into->registers[i]);
		into->registers[i] = value;
	}
	for (unsigned int i = 0; i < into->slot_count; i++) {
		struct value *other = find_slot((struct state *)from, into->slots[i].offset);
		struct value value = other ? merge(into->slots[i].value, *other) : lost;

		changed |= !same(&value, &into->slots[i].value);
		into->slots[i].value = value;
	}
	return changed;
}

/* ---- what DWARF says of an address ---- */

/*
 * How much a type tells: a whole structure more than a part of it, that more than a number, that
 * more than nothing. A pointer to a field that was computed from one to its structure says more
 * than the variable that holds it.
 */
static uint64_t worth(const struct fs_flow *flow, const struct value *value)
{
	const struct fs_data_type *type = fs_data_type(flow->source.types, value->type);

	if (value->kind != POINTER || !type)
		return 0;
	if (!fs_type_has_fields(type->kind))
		return 1;
	return 2 + type->size;
}

static void apply_local(const struct fs_flow *flow, const struct fs_local *local,
			struct value *value)
{
	struct value found = value_of_variable(flow, local);

	if (local->place == FS_PLACE_REGISTER && found.kind == POINTER &&
	    worth(flow, &found) > worth(flow, value))
		*value = found;
}

/* First of the locals whose range begins at or behind an address. */
static size_t first_local(const struct fs_locals *locals, uint64_t address)
{
	size_t low = 0;
	size_t high = locals->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (locals->locals[middle].low < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Put in the variables whose ranges begin at an address, or, at a block's start, cover it. */
static void apply_locals(const struct fs_flow *flow, uint64_t address, bool whole,
			 struct state *state)
{
	const struct fs_locals *locals = &flow->locals;

	for (size_t i = whole ? 0 : first_local(locals, address);
	     i < locals->count && locals->locals[i].low <= address; i++) {
		const struct fs_local *local = &locals->locals[i];

		if (address < local->high && local->place == FS_PLACE_REGISTER)
			apply_local(flow, local, &state->registers[local->reg]);
	}
}

/* The variable on the stack that holds a place of the frame. */
static const struct fs_local *local_at(const struct fs_flow *flow, const struct state *state,
				       uint64_t address, int64_t frame_offset)
{
	for (size_t i = 0; i < flow->locals.count && flow->locals.locals[i].low <= address; i++) {
		const struct fs_local *local = &flow->locals.locals[i];
		const struct fs_data_type *type = fs_data_type(flow->source.types, local->type);
		int64_t start = local->offset;

		if (address >= local->high || local->place == FS_PLACE_REGISTER || !type)
			continue;
		if (local->place == FS_PLACE_MEMORY) {
			const struct value *base = &state->registers[local->reg];

			if (base->kind != FRAME)
				continue;
			start += base->offset;
		}
		if (frame_offset >= start && (uint64_t)(frame_offset - start) < type->size)
			return local;
	}
	return NULL;
}

/* ---- memory ---- */

static void add_constant(struct value *value, int64_t constant)
{
	value->offset = (int64_t)((uint64_t)value->offset + (uint64_t)constant);
}

/* Add an index times a scale. */
static void add_index(struct value *value, const struct value *index, uint32_t scale)
{
	uint64_t stride = (uint64_t)index->stride * scale;
	bool same_unknown = value->kind == NUMBER && index->kind == NUMBER && value->type &&
			    value->type == index->type;

	if (is_null(index)) {
		add_constant(value, index->offset * (int64_t)scale);
		return;
	}
	if (index->kind == NUMBER)
		add_constant(value, (int64_t)((uint64_t)index->offset * scale));
	if (index->kind != NUMBER || stride > INT32_MAX)
		stride = 1;
	if (same_unknown && value->stride + stride <= INT32_MAX) {
		value->stride += (uint32_t)stride;
		return;
	}
	value->stride = common_stride(value->stride, (uint32_t)stride);
	if (value->kind == NUMBER)
		value->type = 0;
}

static bool is_number(const struct value *value)
{
	return value->kind == NUMBER || is_null(value);
}

/* The address that a LOAD or STORE has, or the sum of an INDEX. */
static struct value place_of(const struct state *state, const struct fs_step *step)
{
	struct value value = { .kind = ABSOLUTE, .type = FS_NO_TYPE };
	bool indexed = step->index != FS_NO_REGISTER;

	if (step->thread)
		value.kind = THREAD;
	if (step->source != FS_NO_REGISTER && !step->thread)
		value = state->registers[step->source];
	if (step->source != FS_NO_REGISTER && step->thread)
		add_index(&value, &state->registers[step->source], 1);
	if (indexed && step->source == FS_NO_REGISTER && !step->thread && !step->constant) {
		const struct value *index = &state->registers[step->index];

		/* a scaled index by itself stays the same unknown */
		value = (struct value){ .kind = NUMBER };
		add_index(&value, index, step->scale);
		value.type = index->kind == NUMBER ? index->type : 0;
	} else if (indexed) {
		const struct value *index = &state->registers[step->index];
		bool swapped = is_number(&value) && step->scale == 1 && !is_number(index);

		/* on x86 base and index of scale 1 are alike */
		if (swapped) {
			struct value base = value;

			value = *index;
			add_index(&value, &base, 1);
		} else {
			add_index(&value, index, step->scale);
		}
	}
	add_constant(&value, step->constant);
	return value;
}

static bool global_access(struct fs_flow *flow, const struct value *place,
			  struct fs_typed_access *access)
{
	const struct fs_global *global;
	uint64_t block = flow->source.thread_block;
	uint64_t offset = flow->source.x86 ? (uint64_t)place->offset + block
					   : (uint64_t)place->offset - block;

	if (fs_globals_read(flow->source.types, flow->source.globals))
		return false;
	global = place->kind == THREAD
			 ? fs_thread_local_at(flow->source.globals, offset)
			 : fs_global_at(flow->source.globals, (uint64_t)place->offset);
	if (!global)
		return false;
	*access = (struct fs_typed_access){
		.type = global->type,
		.offset = (int64_t)((place->kind == THREAD ? offset : (uint64_t)place->offset) -
				    global->address),
		.stride = place->stride,
		.name = global->name,
		.method = place->kind == THREAD ? FS_TYPE_METHOD_THREAD : FS_TYPE_METHOD_GLOBAL,
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
 * Bring an offset that left its object back into it: objects of one type stand in arrays. What
 * lies before the start may be another member of an unknown container. An index must go by whole
 * objects or run within an array of the object.
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
		if (fs_type_has_fields(type->kind) &&
		    (!whole || (access->offset < 0 && !access->stride)))
			return false;
		access->offset = modulo(access->offset, (int64_t)type->size);
		access->stride = common_stride(access->stride, (uint32_t)type->size);
	}
	if (whole && type->kind != FS_TYPE_ARRAY)
		return true;
	if (!is_in_array(flow, access->type, (uint64_t)access->offset, access->stride))
		return !access->stride;
	access->within = access->stride != 0;
	return true;
}

/* What is at a place. */
static bool access_at(struct fs_flow *flow, const struct state *state, uint64_t address,
		      const struct value *place, struct fs_typed_access *ret_access)
{
	const struct fs_local *local;

	switch (place->kind) {
	case POINTER:
		*ret_access = (struct fs_typed_access){
			.type = place->type,
			.offset = place->offset,
			.stride = place->stride,
			.method = place->from_variable ? FS_TYPE_METHOD_VARIABLE
						       : FS_TYPE_METHOD_FLOW,
		};
		return settle_offset(flow, ret_access);
	case FRAME:
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
	case ABSOLUTE:
	case THREAD:
		return global_access(flow, place, ret_access) && settle_offset(flow, ret_access);
	default:
		return false;
	}
}

/* What a pointer that is loaded from a place points to. */
static struct value load_from(struct fs_flow *flow, struct state *state, uint64_t address,
			      const struct fs_step *step)
{
	struct value place = place_of(state, step);
	struct fs_typed_access access;
	const struct fs_data_type *type;
	const struct value *slot;
	uint64_t rest;

	if (step->width != 8)
		return lost;
	if (place.kind == FRAME && !place.stride) {
		slot = find_slot(state, place.offset);
		if (slot && slot->kind != NUMBER)
			return *slot;
	}
	if (!access_at(flow, state, address, &place, &access) || access.offset < 0)
		return lost;
	type = fs_data_type(flow->source.types,
			    fs_data_type_at(flow->source.types, access.type,
					    (uint64_t)access.offset, step->width, &rest));
	if (!type || type->kind != FS_TYPE_POINTER || rest || type->target == FS_NO_TYPE)
		return lost;
	return pointer_to(type->target, 0);
}

/* ---- steps ---- */

/* An unknown of its own, so that sums of its multiples are known to be multiples. */
static struct value unknown_at(uint64_t address, int8_t target)
{
	struct value value = lost;

	value.type = (uint32_t)(address << 5) + (uint32_t)target + 1;
	return value;
}

static struct value sum(const struct state *state, const struct fs_step *step)
{
	struct value value = place_of(state, step);

	value.from_variable = false;
	return value;
}

/* A product is a multiple where one factor is a number. */
static struct value product(const struct state *state, const struct fs_step *step)
{
	struct fs_step indexed = *step;
	const struct value *factor = &state->registers[step->factor];

	if (!is_null(factor)) {
		indexed.index = step->factor;
		factor = &state->registers[step->index];
	}
	indexed.scale = is_null(factor) ? (uint32_t)factor->offset : 1;
	return sum(state, &indexed);
}

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
 */
static uint32_t changed_by(struct fs_flow *flow, uint64_t function, unsigned int depth)
{
	uint32_t all = volatile_registers(flow);
	struct fs_dwarf_range range;
	uint64_t *known;
	uint32_t changed = 0;
	Dwarf_Die callee;

	if (!function || depth > CALL_DEPTH_MAX)
		return all;
	known = fs_table_get(&flow->callees, &function);
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
	known = fs_table_put(&flow->callees, &function, NULL, NULL);
	if (known)
		*known = changed;
	return changed;
}

static void call(struct fs_flow *flow, const struct fs_step *step, uint64_t address,
		 struct state *state)
{
	uint32_t changed = changed_by(flow, (uint64_t)step->constant, 0);
	const struct fs_data_type *type;
	struct fs_dwarf_range range;
	Dwarf_Die callee;

	for (int8_t i = 0; i < FS_STEP_REGISTERS; i++) {
		if (changed >> i & 1)
			state->registers[i] = unknown_at(address, i);
	}
	if (!step->constant ||
	    !fs_dwarf_entry(flow->source.index, (uint64_t)step->constant, &callee, &range))
		return;
	type = fs_data_type(flow->source.types, fs_data_type_of(flow->source.types, &callee));
	if (type && type->kind == FS_TYPE_POINTER && type->target != FS_NO_TYPE)
		state->registers[0] = pointer_to(type->target, 0);
}

static void run_step(struct fs_flow *flow, const struct fs_step *step, uint64_t address,
		     struct state *state)
{
	struct value value = unknown_at(address, step->target);

	switch (step->kind) {
	case FS_STEP_LOSE:
		break;
	case FS_STEP_COPY:
	case FS_STEP_INDEX:
		value = sum(state, step);
		if (step->kind == FS_STEP_COPY && !step->constant)
			value = state->registers[step->source];
		break;
	case FS_STEP_NARROW:
		if (is_number(&state->registers[step->source]))
			value = state->registers[step->source];
		break;
	case FS_STEP_MULTIPLY:
		value = product(state, step);
		break;
	case FS_STEP_ADDRESS:
		value = (struct value){ .kind = ABSOLUTE,
					.type = FS_NO_TYPE,
					.offset = step->constant };
		break;
	case FS_STEP_LOAD:
		value = load_from(flow, state, address, step);
		if (value.kind == NUMBER)
			value = unknown_at(address, step->target);
		break;
	case FS_STEP_STORE:
		value = place_of(state, step);
		if (value.kind == FRAME && !value.stride)
			set_slot(state, value.offset,
				 step->target == FS_NO_REGISTER || step->width != 8
					 ? lost
					 : state->registers[step->target]);
		return;
	case FS_STEP_EITHER:
		if (step->source != FS_NO_REGISTER && step->index != FS_NO_REGISTER)
			value = merge(state->registers[step->source],
				      state->registers[step->index]);
		else if (step->source != FS_NO_REGISTER)
			value = state->registers[step->source];
		else if (step->index != FS_NO_REGISTER)
			value = state->registers[step->index];
		break;
	case FS_STEP_THREAD:
		value = (struct value){ .kind = THREAD, .type = FS_NO_TYPE };
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

static void run_instruction(struct fs_flow *flow, const struct code *code, struct state *state)
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
	size_t low = 0;
	size_t high = flow->code_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (flow->code[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < flow->code_count && flow->code[low].address == address ? low
									    : flow->code_count;
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
	size_t low = 0;
	size_t high = flow->block_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (flow->blocks[middle].first < instruction)
			low = middle + 1;
		else
			high = middle;
	}
	return low < flow->block_count && flow->blocks[low].first == instruction ? (int32_t)low
										 : -1;
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
			flow->blocks[flow->block_count++].first = (uint32_t)i;
		flow->blocks[flow->block_count - 1].last = (uint32_t)i;
	}
	free(starts);
	if (!flow->blocks)
		return count <= BLOCKS_MAX ? FS_NOMEM : 0;
	for (size_t i = 0; i < flow->block_count; i++)
		link_block(flow, &flow->blocks[i]);
	return 0;
}

/* ---- running ---- */

static void entry_state(const struct fs_flow *flow, struct state *state)
{
	int stack = flow->source.x86 ? 7 : 31;

	*state = (struct state){ 0 };
	for (int8_t i = 0; i < FS_STEP_REGISTERS; i++)
		state->registers[i] = unknown_at(0, i);
	/* the return address stands on x86's stack */
	state->registers[stack] = (struct value){ .kind = FRAME,
						  .type = FS_NO_TYPE,
						  .offset = flow->source.x86 ? -8 : 0 };
}

static void pass_on(struct fs_flow *flow, const struct state *state, int64_t to)
{
	struct block *block;

	if (to < 0 || (size_t)to >= flow->block_count)
		return;
	block = &flow->blocks[to];
	if (merge_state(&block->state, state, block->state.registers[0].kind == UNREACHED))
		block->changed = true;
}

static void run_block(struct fs_flow *flow, size_t number)
{
	struct block *block = &flow->blocks[number];
	struct state state = block->state;

	block->changed = false;
	apply_locals(flow, flow->code[block->first].address, true, &state);
	for (uint32_t i = block->first; i <= block->last; i++)
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
	return block->state.registers[0].kind != UNREACHED;
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
			block->state.registers[FS_STEP_REGISTERS - 1 - k] = lost;
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

/* The block of an instruction. */
static const struct block *block_of(const struct fs_flow *flow, size_t instruction)
{
	size_t low = 0;
	size_t high = flow->block_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (flow->blocks[middle].first <= instruction)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &flow->blocks[low - 1] : NULL;
}

/* Variables that cover the address are the best evidence for its base register. */
static void apply_covering(const struct fs_flow *flow, uint64_t address, const struct fs_step *step,
			   struct state *state)
{
	for (size_t i = 0; i < flow->locals.count && flow->locals.locals[i].low <= address; i++) {
		const struct fs_local *local = &flow->locals.locals[i];
		struct value *value;

		if (address >= local->high || local->place != FS_PLACE_REGISTER ||
		    (local->reg != step->source && local->reg != step->index))
			continue;
		value = &state->registers[local->reg];
		if (value->kind == NUMBER || value->kind == UNREACHED || !worth(flow, value))
			apply_local(flow, local, value);
	}
}

static bool find_access(struct fs_flow *flow, uint64_t address, struct fs_typed_access *ret_access)
{
	size_t instruction = find_code(flow, address);
	const struct block *block;
	struct state state;
	const struct fs_instruction *at;

	if (instruction == flow->code_count || !flow->block_count)
		return false;
	block = block_of(flow, instruction);
	if (!block)
		return false;
	state = block->state;
	apply_locals(flow, flow->code[block->first].address, true, &state);
	for (uint32_t i = block->first; i < instruction; i++)
		run_instruction(flow, &flow->code[i], &state);
	apply_locals(flow, address, false, &state);
	at = &flow->code[instruction].instruction;
	for (uint8_t i = 0; i < at->count; i++) {
		struct value place;

		if (at->steps[i].kind == FS_STEP_LOAD || at->steps[i].kind == FS_STEP_STORE) {
			apply_covering(flow, address, &at->steps[i], &state);
			place = place_of(&state, &at->steps[i]);
			return access_at(flow, &state, address, &place, ret_access);
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
