/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: a value is a base that is known (an object, the frame, an address) or not, plus a
 * constant, plus an unknown multiple of a stride. Merging two paths keeps what they share, so a
 * stride only ever becomes smaller and an analysis that repeats it ends.
 */
#include "ingest/symbol/flow_value.h"

struct fs_value fs_value_pointer(uint32_t type, int64_t offset)
{
	return (struct fs_value){ .kind = FS_VALUE_POINTER, .type = type, .offset = offset };
}

struct fs_value fs_value_unknown(uint64_t address, int8_t target)
{
	struct fs_value value = fs_value_lost;

	value.type = (uint32_t)(address << 5) + (uint32_t)target + 1;
	return value;
}

bool fs_value_is_null(const struct fs_value *value)
{
	return value->kind == FS_VALUE_ABSOLUTE && value->offset >= 0 &&
	       value->offset < FS_NULL_PAGE;
}

bool fs_value_is_number(const struct fs_value *value)
{
	return value->kind == FS_VALUE_NUMBER || fs_value_is_null(value);
}

uint32_t fs_common_stride(uint32_t left, uint32_t right)
{
	while (right) {
		uint32_t rest = left % right;

		left = right;
		right = rest;
	}
	return left;
}

/* Two unknown numbers: what holds for both. */
static struct fs_value merge_numbers(struct fs_value left, struct fs_value right)
{
	int64_t apart = left.offset - right.offset;

	left.type =
		left.type == right.type && left.stride == right.stride && !apart ? left.type : 0;
	left.stride = fs_common_stride(left.stride, right.stride);
	if (apart > -INT32_MAX && apart < INT32_MAX)
		left.stride = fs_common_stride(left.stride, (uint32_t)(apart < 0 ? -apart : apart));
	else
		left.stride = 1;
	return left;
}

/*
 * Two addresses in objects of one type: equal, or those of elements of an array; whether there is
 * one is seen when it is accessed.
 */
static struct fs_value merge_pointers(struct fs_value left, struct fs_value right)
{
	int64_t apart = left.offset - right.offset;

	if (apart <= -INT32_MAX || apart >= INT32_MAX)
		return fs_value_lost;
	left.stride = fs_common_stride(left.stride, right.stride);
	left.stride = fs_common_stride(left.stride, (uint32_t)(apart < 0 ? -apart : apart));
	left.from_variable &= right.from_variable;
	return left;
}

struct fs_value fs_value_merge(struct fs_value left, struct fs_value right)
{
	if (left.kind == FS_VALUE_UNREACHED)
		return right;
	if (right.kind == FS_VALUE_UNREACHED)
		return left;
	if (left.kind == FS_VALUE_POINTER && fs_value_is_null(&right))
		return left;
	if (right.kind == FS_VALUE_POINTER && fs_value_is_null(&left))
		return right;
	if (left.kind == FS_VALUE_NUMBER && right.kind == FS_VALUE_NUMBER)
		return merge_numbers(left, right);
	if (left.kind != right.kind || left.type != right.type)
		return fs_value_lost;
	if (left.kind == FS_VALUE_POINTER)
		return merge_pointers(left, right);
	if (left.offset != right.offset)
		return fs_value_lost;
	left.stride = fs_common_stride(left.stride, right.stride);
	return left;
}

static bool same(const struct fs_value *left, const struct fs_value *right)
{
	return left->kind == right->kind && left->type == right->type &&
	       left->offset == right->offset && left->stride == right->stride &&
	       left->from_variable == right->from_variable;
}

struct fs_value *fs_state_slot(struct fs_state *state, int64_t offset)
{
	for (unsigned int i = 0; i < state->slot_count; i++) {
		if (state->slots[i].offset == offset)
			return &state->slots[i].value;
	}
	return NULL;
}

void fs_state_set_slot(struct fs_state *state, int64_t offset, struct fs_value value)
{
	struct fs_value *slot = fs_state_slot(state, offset);

	if (!slot && value.kind != FS_VALUE_NUMBER && state->slot_count < FS_STATE_SLOTS) {
		state->slots[state->slot_count].offset = offset;
		slot = &state->slots[state->slot_count++].value;
	}
	if (slot)
		*slot = value;
}

bool fs_state_merge(struct fs_state *into, const struct fs_state *from, bool first)
{
	bool changed = first;

	if (first) {
		*into = *from;
		return true;
	}
	for (int i = 0; i < FS_STEP_REGISTERS; i++) {
		struct fs_value value = fs_value_merge(into->registers[i], from->registers[i]);

		changed |= !same(&value, &into->registers[i]);
		into->registers[i] = value;
	}
	for (unsigned int i = 0; i < into->slot_count; i++) {
		struct fs_value *other =
			fs_state_slot((struct fs_state *)from, into->slots[i].offset);
		struct fs_value value =
			other ? fs_value_merge(into->slots[i].value, *other) : fs_value_lost;

		changed |= !same(&value, &into->slots[i].value);
		into->slots[i].value = value;
	}
	return changed;
}

static void add_constant(struct fs_value *value, int64_t constant)
{
	value->offset = (int64_t)((uint64_t)value->offset + (uint64_t)constant);
}

/* Add an index times a scale. */
static void add_index(struct fs_value *value, const struct fs_value *index, uint32_t scale)
{
	uint64_t stride = (uint64_t)index->stride * scale;
	bool same_unknown = value->kind == FS_VALUE_NUMBER && index->kind == FS_VALUE_NUMBER &&
			    value->type && value->type == index->type;

	if (fs_value_is_null(index)) {
		add_constant(value, index->offset * (int64_t)scale);
		return;
	}
	if (index->kind == FS_VALUE_NUMBER)
		add_constant(value, (int64_t)((uint64_t)index->offset * scale));
	if (index->kind != FS_VALUE_NUMBER || stride > INT32_MAX)
		stride = 1;
	if (same_unknown && value->stride + stride <= INT32_MAX) {
		value->stride += (uint32_t)stride;
		return;
	}
	value->stride = fs_common_stride(value->stride, (uint32_t)stride);
	if (value->kind == FS_VALUE_NUMBER)
		value->type = 0;
}

struct fs_value fs_state_place(const struct fs_state *state, const struct fs_step *step)
{
	struct fs_value value = { .kind = FS_VALUE_ABSOLUTE, .type = UINT32_MAX };
	bool indexed = step->index != FS_NO_REGISTER;

	if (step->thread)
		value.kind = FS_VALUE_THREAD;
	if (step->source != FS_NO_REGISTER && !step->thread)
		value = state->registers[step->source];
	if (step->source != FS_NO_REGISTER && step->thread)
		add_index(&value, &state->registers[step->source], 1);
	if (indexed && step->source == FS_NO_REGISTER && !step->thread && !step->constant) {
		const struct fs_value *index = &state->registers[step->index];

		/* a scaled index by itself stays the same unknown */
		value = (struct fs_value){ .kind = FS_VALUE_NUMBER };
		add_index(&value, index, step->scale);
		value.type = index->kind == FS_VALUE_NUMBER ? index->type : 0;
	} else if (indexed) {
		const struct fs_value *index = &state->registers[step->index];
		bool swapped = fs_value_is_number(&value) && step->scale == 1 &&
			       !fs_value_is_number(index);

		/* on x86 base and index of scale 1 are alike */
		if (swapped) {
			struct fs_value base = value;

			value = *index;
			add_index(&value, &base, 1);
		} else {
			add_index(&value, index, step->scale);
		}
	}
	add_constant(&value, step->constant);
	return value;
}

struct fs_value fs_state_sum(const struct fs_state *state, const struct fs_step *step)
{
	struct fs_value value = fs_state_place(state, step);

	value.from_variable = false;
	return value;
}

/* A fs_state_product is a multiple where one factor is a number. */
struct fs_value fs_state_product(const struct fs_state *state, const struct fs_step *step)
{
	struct fs_step indexed = *step;
	const struct fs_value *factor = &state->registers[step->factor];

	if (!fs_value_is_null(factor)) {
		indexed.index = step->factor;
		factor = &state->registers[step->index];
	}
	indexed.scale = fs_value_is_null(factor) ? (uint32_t)factor->offset : 1;
	return fs_state_sum(state, &indexed);
}
