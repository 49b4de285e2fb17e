/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: a candidate is an order of the fields and a set of fields that begin a line. Moves
 * of one accessed field to any place are tried first, then a second move on top of the best first
 * ones, then alignment of the whole structure and of accessed fields, one more in each round, and
 * last a line for each element of an array. What is alike in conflicts and size keeps the earlier
 * candidate, so the answer is always the same.
 */
#include "query/layout_model.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/table.h"

enum {
	REPLAY_MAX = 20000, /* accesses; of more, an even choice */
	ALIGNED_MAX = 6,
	ENOUGH_PERCENT = 5, /* of the conflicts may stay */
	OWNED_PERCENT = 75, /* of the pairs of accesses to an element are by one thread */
	PAIRS_MIN = 16,	    /* such pairs, to say so */
	SLOTS_MAX = 1024,   /* elements of an array that gets a line for each */
};

/* The last two threads that wrote a field on a line: the later first. */
struct unit {
	uint64_t last, before; /* times, from 1 */
	uint32_t last_thread, before_thread;
	uint64_t line;
	uint64_t next; /* unit of the same line + 1 */
};

struct search {
	const struct fs_layout_problem *problem;
	size_t step; /* every how manyeth access is replayed */
	bool accessed[FS_LAYOUT_FIELDS_MAX];
	bool slots[FS_LAYOUT_FIELDS_MAX]; /* an array of whose elements each has its thread */
	struct fs_table units;		  /* {object, field, element} -> struct unit */
	struct fs_table lines;		  /* line -> first unit + 1 */
	struct fs_table seen;		  /* {line, thread} -> time */
	struct fs_layout now, best;
	bool failed; /* out of memory */
};

static uint64_t round_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

/* Lay the fields out in order; sets offsets, size and alignment. */
static void lay_out(const struct fs_layout_problem *problem, struct fs_layout *layout)
{
	uint64_t at = 0;
	bool break_line = false;
	bool padded = layout->whole && problem->unaligned;

	layout->align = layout->whole && !padded ? problem->line : problem->align;
	for (size_t i = 0; i < problem->field_count; i++) {
		uint16_t field = layout->order[i];
		const struct fs_layout_field *at_field = &problem->fields[field];
		uint64_t align = at_field->align;

		/* what follows an aligned field must not share its line either */
		if ((layout->aligned[field] || layout->spread[field] || break_line) &&
		    align < problem->line)
			align = problem->line;
		break_line = layout->aligned[field];
		if (align > layout->align)
			layout->align = align;
		at = round_up(at, align);
		layout->offset[field] = at;
		at += fs_layout_size(at_field, layout->spread[field], problem->line);
	}
	/* wherever the array begins, no line then holds parts of two elements */
	if (padded && problem->unaligned < problem->line)
		at = round_up(at + problem->line - problem->unaligned, problem->unaligned);
	layout->size = round_up(at, layout->align);
}

/* ---- replay ---- */

/* Where an object begins: an array of them is spread by the new size, others keep their distance.
 */
static uint64_t start_of(const struct fs_layout_problem *problem, const struct fs_layout *layout,
			 uint32_t object)
{
	uint64_t distance = problem->objects[object] - problem->objects[0];
	uint64_t start = problem->objects[0];

	if (layout->size == problem->size && layout->align == problem->align)
		return problem->objects[object];
	return round_up(start, layout->align) + distance / problem->size * layout->size +
	       round_up(distance % problem->size, layout->align);
}

static bool conflicts(const struct unit *unit, uint32_t thread, uint64_t seen)
{
	return (unit->last_thread != thread && unit->last > seen) ||
	       (unit->last_thread == thread && unit->before > seen);
}

static void note_write(struct unit *unit, uint32_t thread, uint64_t now)
{
	if (unit->last && unit->last_thread != thread) {
		unit->before = unit->last;
		unit->before_thread = unit->last_thread;
	}
	unit->last = now;
	unit->last_thread = thread;
}

/* The unit of an access, entered in its line's list when it is new. */
static struct unit *find_unit(struct search *search, const struct fs_layout_access *access,
			      uint64_t line)
{
	uint64_t key[2] = { (uint64_t)access->object << 16 | access->field, access->element };
	uint32_t index;
	uint64_t *first;
	struct unit *unit;
	bool added;

	unit = fs_table_put(&search->units, key, &index, &added);
	first = fs_table_put(&search->lines, &line, NULL, NULL);
	if (!unit || !first)
		return NULL;
	if (added) {
		*unit = (struct unit){ .line = line, .next = *first };
		*first = index + 1;
	}
	return unit;
}

static void replay_access(struct search *search, struct fs_layout *layout,
			  const struct fs_layout_access *access, uint64_t now)
{
	const struct fs_layout_problem *problem = search->problem;
	const struct fs_layout_field *field = &problem->fields[access->field];
	uint64_t line = (start_of(problem, layout, access->object) + layout->offset[access->field] +
			 access->element *
				 (layout->spread[access->field] ? problem->line : field->element)) /
			problem->line;
	uint64_t key[2] = { line, access->thread };
	struct unit *unit = find_unit(search, access, line);
	uint64_t *seen = fs_table_put(&search->seen, key, NULL, NULL);
	const uint64_t *first = fs_table_get(&search->lines, &line);

	if (!unit || !seen || !first) {
		search->failed = true;
		return;
	}
	if (*seen && conflicts(unit, access->thread, *seen)) {
		layout->true_conflicts++;
	} else if (*seen) {
		for (uint64_t other = *first; other;) {
			const struct unit *neighbour = fs_table_value(&search->units, other - 1);

			if (conflicts(neighbour, access->thread, *seen)) {
				layout->false_conflicts++;
				break;
			}
			other = neighbour->next;
		}
	}
	*seen = now;
	if (access->writes)
		note_write(unit, access->thread, now);
}

static void replay(struct search *search, struct fs_layout *layout)
{
	const struct fs_layout_problem *problem = search->problem;
	uint64_t now = 0;

	layout->false_conflicts = layout->true_conflicts = 0;
	fs_table_clear(&search->units);
	fs_table_clear(&search->lines);
	fs_table_clear(&search->seen);
	for (size_t i = 0; i < problem->access_count; i += search->step)
		replay_access(search, layout, &problem->accesses[i], ++now);
}

/* ---- candidates ---- */

static bool is_better(const struct fs_layout *candidate, const struct fs_layout *than)
{
	if (candidate->false_conflicts != than->false_conflicts)
		return candidate->false_conflicts < than->false_conflicts;
	return candidate->size < than->size;
}

static bool is_enough(const struct search *search, const struct fs_layout *layout)
{
	return layout->false_conflicts * 100 <= search->now.false_conflicts * ENOUGH_PERCENT;
}

/* Take a field out of the order and put it in at another place. */
static void move_field(struct fs_layout *layout, size_t from, size_t to)
{
	uint16_t field = layout->order[from];

	if (from < to)
		memmove(&layout->order[from], &layout->order[from + 1],
			(to - from) * sizeof(layout->order[0]));
	else
		memmove(&layout->order[to + 1], &layout->order[to],
			(from - to) * sizeof(layout->order[0]));
	layout->order[to] = field;
}

/* The best of all moves of one accessed field that do not make the structure larger. */
static void try_moves(struct search *search, const struct fs_layout *from)
{
	const struct fs_layout_problem *problem = search->problem;

	for (size_t i = 0; i < problem->field_count && !search->failed; i++) {
		uint16_t field = from->order[i];

		if (!search->accessed[field] || problem->fields[field].fixed)
			continue;
		for (size_t to = 0; to < problem->field_count && !search->failed; to++) {
			struct fs_layout candidate = *from;

			if (to == i || problem->fields[from->order[to]].fixed)
				continue;
			move_field(&candidate, i, to);
			lay_out(problem, &candidate);
			if (candidate.size > problem->size)
				continue;
			replay(search, &candidate);
			if (is_better(&candidate, &search->best))
				search->best = candidate;
		}
	}
}

/* Which threads write a field: {field, thread}. */
static void find_writers(struct search *search, struct fs_table *writers)
{
	const struct fs_layout_problem *problem = search->problem;

	for (size_t i = 0; i < problem->access_count && !search->failed; i++) {
		const struct fs_layout_access *access = &problem->accesses[i];
		uint64_t key[2] = { access->field, access->thread };

		search->failed = access->writes && !fs_table_put(writers, key, NULL, NULL);
	}
}

/* Of each field: pairs of accesses to one element, and those of them by one thread which writes
 * elements itself. Few samples of each element tell as well as many of one. */
static void count_pairs(struct search *search, uint64_t *same, uint64_t *all)
{
	const struct fs_layout_problem *problem = search->problem;
	struct fs_table by_thread;  /* {object, field, element, thread} -> accesses */
	struct fs_table by_element; /* {object, field, element} -> accesses */
	struct fs_table writers;

	fs_table_init(&writers, 16, 1);
	find_writers(search, &writers);
	fs_table_init(&by_thread, 24, sizeof(uint64_t));
	fs_table_init(&by_element, 16, sizeof(uint64_t));
	for (size_t i = 0; i < problem->access_count && !search->failed; i += search->step) {
		const struct fs_layout_access *access = &problem->accesses[i];
		uint64_t key[3] = { (uint64_t)access->object << 16 | access->field, access->element,
				    access->thread };
		uint64_t writer[2] = { access->field, access->thread };
		uint64_t *own = fs_table_put(&by_thread, key, NULL, NULL);
		uint64_t *total = fs_table_put(&by_element, key, NULL, NULL);

		search->failed = !own || !total;
		if (search->failed)
			break;
		if (fs_table_get(&writers, writer))
			same[access->field] += *own;
		++*own;
		all[access->field] += (*total)++;
	}
	fs_table_free(&by_thread);
	fs_table_free(&by_element);
	fs_table_free(&writers);
}

/*
 * Arrays whose elements would be better apart: each has its thread. Those that pass between threads
 * would only be spread over more lines. Whoever uses an element must then say so, so this is tried
 * last.
 */
static void find_slots(struct search *search)
{
	const struct fs_layout_problem *problem = search->problem;
	uint64_t same[FS_LAYOUT_FIELDS_MAX] = { 0 };
	uint64_t all[FS_LAYOUT_FIELDS_MAX] = { 0 };

	count_pairs(search, same, all);
	for (size_t i = 0; i < problem->field_count; i++) {
		const struct fs_layout_field *field = &problem->fields[i];
		uint64_t elements = field->element ? field->size / field->element : 0;

		search->slots[i] = problem->arrays && problem->arrays[i] && !field->fixed &&
				   field->element < problem->line && elements > 1 &&
				   elements <= SLOTS_MAX && all[i] >= PAIRS_MIN &&
				   same[i] * 100 >= all[i] * OWNED_PERCENT;
	}
}

/* Lay out and replay a candidate, and take it if it is better. Returns whether it was. */
static bool try_layout(struct search *search, struct fs_layout *candidate)
{
	lay_out(search->problem, candidate);
	replay(search, candidate);
	if (!is_better(candidate, &search->best))
		return false;
	search->best = *candidate;
	return true;
}

/* One more field, or the whole structure, aligned to a line. Returns whether that was better. */
static bool try_alignments(struct search *search)
{
	const struct fs_layout_problem *problem = search->problem;
	const struct fs_layout from = search->best;
	bool better = false;

	for (size_t i = 0; i <= problem->field_count && !search->failed; i++) {
		struct fs_layout candidate = from;

		if (i == problem->field_count)
			candidate.whole = true;
		else if (search->accessed[i] && !candidate.aligned[i] && !problem->fields[i].fixed)
			candidate.aligned[i] = true;
		else
			continue;
		better |= try_layout(search, &candidate);
	}
	return better;
}

/* A line for each element of one more array. Returns whether that was better. */
static bool try_slots(struct search *search)
{
	const struct fs_layout from = search->best;
	bool better = false;

	for (size_t i = 0; i < search->problem->field_count && !search->failed; i++) {
		struct fs_layout candidate = from;

		if (!search->slots[i] || from.spread[i])
			continue;
		candidate.spread[i] = true;
		better |= try_layout(search, &candidate);
	}
	return better;
}

static enum fs_layout_means find(struct search *search)
{
	struct fs_layout moved;

	search->best = search->now;
	try_moves(search, &search->now);
	if (!is_enough(search, &search->best)) {
		moved = search->best;
		try_moves(search, &moved);
	}
	if (is_enough(search, &search->best))
		return FS_LAYOUT_MOVE;
	moved = search->best;
	search->best = search->now;
	for (int i = 0; i < ALIGNED_MAX && !is_enough(search, &search->best); i++) {
		if (!try_alignments(search))
			break;
	}
	while (!is_enough(search, &search->best) && try_slots(search))
		;
	/* growth must be worth it */
	if (search->best.false_conflicts * 2 <= moved.false_conflicts)
		return FS_LAYOUT_ALIGN;
	search->best = moved;
	return FS_LAYOUT_MOVE;
}

/* The layout as it is: fields by their offsets. */
static void take_now(struct search *search)
{
	const struct fs_layout_problem *problem = search->problem;
	struct fs_layout *now = &search->now;

	*now = (struct fs_layout){ .size = problem->size, .align = problem->align };
	for (size_t i = 0; i < problem->field_count; i++) {
		now->order[i] = (uint16_t)i;
		now->offset[i] = problem->fields[i].offset;
	}
	for (size_t i = 0; i < problem->access_count; i++)
		search->accessed[problem->accesses[i].field] = true;
}

/* A layout that leaves false conflicts must at least end half of all. */
static bool is_worth_it(const struct search *search)
{
	uint64_t now = search->now.false_conflicts + search->now.true_conflicts;
	uint64_t then = search->best.false_conflicts + search->best.true_conflicts;

	return search->best.false_conflicts * 2 <= search->now.false_conflicts &&
	       (is_enough(search, &search->best) || then * 2 <= now);
}

int fs_layout_propose(const struct fs_layout_problem *problem, struct fs_layout *ret_now,
		      struct fs_layout *ret_proposed, enum fs_layout_means *ret_means)
{
	struct search *search = calloc(1, sizeof(*search));
	enum fs_layout_means means = FS_LAYOUT_NOTHING;
	bool failed;

	if (!search)
		return FS_NOMEM;
	search->problem = problem;
	search->step = problem->access_count / REPLAY_MAX + 1;
	fs_table_init(&search->units, 16, sizeof(struct unit));
	fs_table_init(&search->lines, 8, 8);
	fs_table_init(&search->seen, 16, 8);
	take_now(search);
	replay(search, &search->now);
	find_slots(search);
	search->best = search->now;
	if (search->now.false_conflicts)
		means = find(search);
	if (!is_worth_it(search))
		means = FS_LAYOUT_NOTHING;
	*ret_now = search->now;
	*ret_proposed = means == FS_LAYOUT_NOTHING ? search->now : search->best;
	*ret_means = means;
	failed = search->failed;
	fs_table_free(&search->units);
	fs_table_free(&search->lines);
	fs_table_free(&search->seen);
	free(search);
	return failed ? FS_NOMEM : 0;
}
