/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/rollup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/temporary.h"
#include "common/vector.h"

enum {
	READ_AHEAD = 1 << 12, /* accesses of a run in memory while merging */
	INSERTION_MAX = 24,
	PENDING_MAX = 1 << 10,
	PARTS_LISTED = 8, /* parts that are looked through before the table is asked */
};

/* The sort key of an access, next to its place, so that sorting does not jump about the chunk. */
struct order {
	uint64_t addr;
	uint64_t rest; /* operation (4 bits), code (30), thread (30) */
	uint64_t time_ns;
	uint32_t space;
	uint32_t index; /* in the chunk */
};

/* A block of lines, and what its groups and windows are worth. */
struct fs_rollup_kept {
	size_t group, window; /* index of its first */
	uint64_t score;
	uint64_t lines, samples; /* of its lines that two threads share */
};

int fs_rollup_init(struct fs_rollup *rollup)
{
	*rollup = (struct fs_rollup){ .window_shift = 14 };
	_Static_assert(FS_ROLLUP_WINDOW_NS == 1 << 14, "the shift above");
	fs_table_init(&rollup->codes, sizeof(struct fs_rollup_code),
		      sizeof(struct fs_rollup_code_sums));
	return 0;
}

static void free_chunks(struct fs_rollup *rollup)
{
	for (int i = 0; i < 2; i++) {
		free(rollup->chunks[i].accesses);
		free(rollup->chunks[i].order);
		rollup->chunks[i] = (struct fs_rollup_chunk){ 0 };
	}
}

void fs_rollup_free(struct fs_rollup *rollup)
{
	if (rollup->sorting)
		pthread_join(rollup->sorter, NULL);
	free_chunks(rollup);
	if (rollup->has_spill)
		close(rollup->spill);
	free(rollup->run_ends);
	fs_table_free(&rollup->codes);
	free(rollup->lines);
	free(rollup->groups);
	free(rollup->windows);
	free(rollup->histograms);
	free(rollup->kept);
	*rollup = (struct fs_rollup){ 0 };
}

/* ---- sorting a chunk ---- */

/* Digit 0..7 of an entry's address, 8..11 of its space. */
static unsigned int digit_of(const struct order *order, unsigned int digit)
{
	return digit < 8 ? order->addr >> 8 * digit & 255 : order->space >> 8 * (digit - 8) & 255;
}

/* Least-significant-digit radix sort by (space, addr), stable; digits that all share are skipped.
 */
static struct order *sort_by_address(struct order *from, struct order *to, size_t count)
{
	struct order differing = { 0 };

	for (size_t i = 1; i < count; i++) {
		differing.addr |= from[i].addr ^ from[0].addr;
		differing.space |= from[i].space ^ from[0].space;
	}
	for (unsigned int digit = 0; digit < 12; digit++) {
		size_t start[257] = { 0 };
		struct order *swap = from;

		if (!digit_of(&differing, digit))
			continue;
		for (size_t i = 0; i < count; i++)
			start[digit_of(&from[i], digit) + 1]++;
		for (unsigned int i = 0; i < 256; i++)
			start[i + 1] += start[i];
		for (size_t i = 0; i < count; i++)
			to[start[digit_of(&from[i], digit)]++] = from[i];
		from = to;
		to = swap;
	}
	return from;
}

/*
 * What an access is beside its address, as one number. Codes and threads are table indexes and
 * stay below 2^30; FS_ROLLUP_NONE sorts last.
 */
static uint64_t rest_of(const struct fs_rollup_access *access)
{
	const uint64_t mask = (1u << 30) - 1;

	return (uint64_t)fs_access_op(access->access) << 60 | (access->code & mask) << 30 |
	       (access->thread & mask);
}

static int compare_order(const void *a, const void *b)
{
	const struct order *left = a;
	const struct order *right = b;

	if (left->rest != right->rest)
		return left->rest < right->rest ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

/* Sort the accesses of one address. Mostly they are few, and nearly in order. */
static void sort_rest(struct order *order, size_t count)
{
	if (count > INSERTION_MAX) {
		qsort(order, count, sizeof(*order), compare_order);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct order moving = order[i];
		size_t at = i;

		for (; at && compare_order(&order[at - 1], &moving) > 0; at--)
			order[at] = order[at - 1];
		order[at] = moving;
	}
}

/* The chunk's accesses in order; the array lies in chunk->order. */
static struct order *sort_chunk(const struct fs_rollup_chunk *chunk)
{
	size_t count = chunk->used;
	struct order *order = chunk->order;

	for (size_t i = 0; i < count; i++) {
		const struct fs_rollup_access *access = &chunk->accesses[i];

		order[i] = (struct order){ access->addr, rest_of(access), access->time_ns,
					   access->space, (uint32_t)i };
	}
	order = sort_by_address(order, order + count, count);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && order[end].addr == order[first].addr &&
				      order[end].space == order[first].space;
		     end++)
			;
		if (end - first > 1)
			sort_rest(order + first, end - first);
	}
	return order;
}

/* Append a chunk to the spill file in the given order. */
static bool write_chunk(int spill, const struct fs_rollup_chunk *chunk, const struct order *order)
{
	struct fs_rollup_access *buffer = malloc(READ_AHEAD * sizeof(*buffer));
	size_t used = 0;
	bool good = buffer;

	for (size_t i = 0; good && i < chunk->used; i++) {
		buffer[used++] = chunk->accesses[order[i].index];
		if (used < READ_AHEAD && i + 1 < chunk->used)
			continue;
		good = fs_write_all(spill, buffer, used * sizeof(*buffer));
		used = 0;
	}
	free(buffer);
	return good;
}

/* The sorting thread: the chunk that is not being filled. */
static void *run_sorter(void *context)
{
	struct fs_rollup *rollup = context;
	struct fs_rollup_chunk *chunk = &rollup->chunks[!rollup->filling];

	if (!write_chunk(rollup->spill, chunk, sort_chunk(chunk)))
		rollup->sort_errno = errno ? errno : ENOMEM;
	chunk->used = 0;
	return NULL;
}

/* Wait for the sorting thread. */
static int end_sorting(struct fs_rollup *rollup, struct fs_error *error)
{
	if (rollup->sorting)
		pthread_join(rollup->sorter, NULL);
	rollup->sorting = false;
	if (!rollup->sort_errno)
		return 0;
	return fs_fail(
		error, FS_OUTPUT,
		"cannot write a temporary file in $TMPDIR or /tmp: %s; make room or set TMPDIR",
		strerror(rollup->sort_errno));
}

/* Let a thread sort and write the full chunk, and go on with the other one. */
static int spill(struct fs_rollup *rollup, struct fs_error *error)
{
	uint64_t end = rollup->run_count ? rollup->run_ends[rollup->run_count - 1] : 0;
	int code;

	FS_TRY(end_sorting(rollup, error));
	if (!rollup->has_spill) {
		rollup->spill = fs_temporary_open();
		rollup->has_spill = rollup->spill >= 0;
	}
	if (!rollup->has_spill) {
		rollup->sort_errno = errno;
		return end_sorting(rollup, error);
	}
	if (FS_RESERVE(rollup->run_ends, rollup->run_capacity, rollup->run_count + 1))
		return fs_fail(error, FS_NOMEM, "out of memory");
	rollup->run_ends[rollup->run_count++] = end + rollup->chunks[rollup->filling].used;
	rollup->filling = !rollup->filling;
	code = pthread_create(&rollup->sorter, NULL, run_sorter, rollup);
	if (code)
		return fs_fail(error, FS_NOMEM, "cannot start a thread: %s", strerror(code));
	rollup->sorting = true;
	return 0;
}

static int make_chunk(struct fs_rollup_chunk *chunk, struct fs_error *error)
{
	chunk->accesses = malloc(FS_ROLLUP_CHUNK * sizeof(*chunk->accesses));
	chunk->order = malloc(2 * FS_ROLLUP_CHUNK * sizeof(struct order));
	if (!chunk->accesses || !chunk->order)
		return fs_fail(error, FS_NOMEM, "out of memory");
	return 0;
}

int fs_rollup_add(struct fs_rollup *rollup, const struct fs_rollup_access *access,
		  struct fs_error *error)
{
	struct fs_rollup_chunk *chunk = &rollup->chunks[rollup->filling];

	if (chunk->used == FS_ROLLUP_CHUNK) {
		FS_TRY(spill(rollup, error));
		chunk = &rollup->chunks[rollup->filling];
	}
	if (!chunk->accesses)
		FS_TRY(make_chunk(chunk, error));
	chunk->accesses[chunk->used++] = *access;
	return 0;
}

/* ---- summing up a line ---- */

static bool is_transfer(enum fs_source source)
{
#define TRANSFER_OF(suffix, number, name, level, transfer, dirty, remote)                          \
	| (uint64_t)(transfer) << (number)
	return (0 FS_SOURCE_LIST(TRANSFER_OF)) >> source & 1;
#undef TRANSFER_OF
}

static void add_sums(struct fs_rollup_sums *sums, const struct fs_rollup_access *access)
{
	sums->samples++;
	sums->period += access->period;
	sums->l1_misses += !!(access->access & FS_ACCESS_L1_MISS);
	sums->dirty_snoops += !!(access->access & FS_ACCESS_DIRTY_SNOOP);
	sums->transfers += is_transfer(fs_access_source(access->access));
	if (!access->latency)
		return;
	sums->latency_samples++;
	sums->latency_sum += access->latency;
	if (access->latency > sums->latency_max)
		sums->latency_max = access->latency;
}

/* A group in the making: the accesses of one address, operation, code and thread are told apart
 * by event, CPU and source. */
struct part_key {
	uint32_t event, cpu, source, zero;
};
struct part {
	struct part_key key;
	struct fs_rollup_sums sums;
	struct fs_histogram histogram;		/* all zero in unused parts */
	unsigned int first_bucket, last_bucket; /* that are not zero */
	uint64_t phys_line;			/* 0: not known, UINT64_MAX: several */
	uint64_t first_ns, last_ns;
};

/* Where an entry of fs_rollup.codes is, if `round` is the current one. */
struct code_slot {
	uint64_t round;
	uint32_t index;
};

struct building {
	struct fs_rollup *rollup;
	struct fs_rollup_code code; /* the current instruction: event, code, operation */
	uint64_t code_round;	    /* how often that has changed; 0: there is none yet */
	struct code_slot code_slots[64][FS_HISTOGRAM_BUCKETS + 1]; /* by source, bucket */
	struct fs_rollup_access prefix; /* address, operation, code, thread of the parts */
	struct part *parts;
	size_t part_count, part_capacity;
	size_t last_part;
	struct fs_table part_ids;	  /* part_key -> index, where there are many */
	struct fs_rollup_access *pending; /* of the block, not in parts yet */
	size_t pending_count;
	bool direct; /* the block had more than fit there */
	struct fs_rollup_line line;
	uint32_t line_thread, block_thread; /* the first */
	struct fs_rollup_kept block;
	bool block_shared;	  /* two threads touched it */
	uint64_t block_exchanges; /* its writes and transfers */
	uint64_t private_score;	  /* of lines that two threads do not share */
	bool open;		  /* a line has begun */
};

/*
 * Accesses of one instruction come in a row and differ in source and latency only, so the entries
 * of the current one are remembered by those.
 */
static int add_code(struct building *building, const struct fs_rollup_access *access)
{
	struct fs_table *codes = &building->rollup->codes;
	struct fs_rollup_code *current = &building->code;
	struct fs_rollup_code key = {
		.event = access->event,
		.code = access->code,
		.op = (uint16_t)fs_access_op(access->access),
		.source = (uint16_t)fs_access_source(access->access),
		.bucket = access->latency ? fs_histogram_bucket(access->latency)
					  : FS_HISTOGRAM_BUCKETS,
	};
	struct fs_rollup_code_sums *sums;
	struct code_slot *slot;

	if (key.event != current->event || key.code != current->code || key.op != current->op ||
	    !building->code_round) {
		*current = key;
		building->code_round++;
	}
	slot = &building->code_slots[key.source][key.bucket];
	if (slot->round != building->code_round) {
		if (!fs_table_put(codes, &key, &slot->index, NULL))
			return FS_NOMEM;
		slot->round = building->code_round;
	}
	sums = fs_table_value(codes, slot->index);
	sums->samples++;
	sums->period += access->period;
	sums->latency_sum += access->latency;
	return 0;
}

static int end_part(struct building *building, struct part *part)
{
	struct fs_rollup *rollup = building->rollup;
	const struct fs_rollup_access *prefix = &building->prefix;
	struct fs_rollup_group *group;

	FS_TRY(FS_RESERVE(rollup->groups, rollup->group_capacity, rollup->group_count + 1));
	FS_TRY(FS_RESERVE(rollup->histograms, rollup->histograms_capacity,
			  rollup->histograms_used + FS_HISTOGRAM_BLOB_MAX));
	group = &rollup->groups[rollup->group_count++];
	*group = (struct fs_rollup_group){
		.space = prefix->space,
		.event = part->key.event,
		.op = fs_access_op(prefix->access),
		.code = prefix->code,
		.thread = prefix->thread,
		.cpu = part->key.cpu,
		.source = part->key.source,
		.addr = prefix->addr,
		.phys_line = (int64_t)part->phys_line,
		.sums = part->sums,
		.first_ns = part->first_ns,
		.last_ns = part->last_ns,
		.histogram = rollup->histograms_used,
	};
	if (!part->sums.latency_samples)
		return 0;
	group->histogram_size =
		fs_histogram_pack(&part->histogram, part->first_bucket, part->last_bucket,
				  rollup->histograms + rollup->histograms_used);
	rollup->histograms_used += group->histogram_size;
	memset(&part->histogram.count[part->first_bucket], 0,
	       (part->last_bucket - part->first_bucket + 1) * sizeof(part->histogram.count[0]));
	return 0;
}

static int end_prefix(struct building *building)
{
	for (size_t i = 0; i < building->part_count; i++)
		FS_TRY(end_part(building, &building->parts[i]));
	building->part_count = 0;
	if (building->part_ids.count)
		fs_table_clear(&building->part_ids);
	return 0;
}

/* Take back everything that the block being built has added. */
static void drop_block(struct building *building)
{
	struct fs_rollup *rollup = building->rollup;

	if (rollup->group_count > building->block.group)
		rollup->histograms_used = rollup->groups[building->block.group].histogram;
	rollup->group_count = building->block.group;
	rollup->window_count = building->block.window;
}

static int fit_windows(struct fs_rollup *rollup);
static int prune(struct fs_rollup *rollup, size_t blocks_max, size_t groups_max);

static int replay_pending(struct building *building);

static int end_line(struct building *building)
{
	struct fs_rollup *rollup = building->rollup;
	const struct fs_rollup_line *line = &building->line;
	uint64_t exchanges = line->stores + line->atomics + line->sums.transfers;
	/* a transfer says more than an access: eight times, so that in files without data
	 * sources the number of accesses still ranks */
	uint64_t score = line->sums.samples + 8 * line->sums.transfers;

	if (!building->open)
		return 0;
	FS_TRY(FS_RESERVE(rollup->lines, rollup->line_capacity, rollup->line_count + 1));
	rollup->lines[rollup->line_count++] = *line;
	building->block_exchanges += exchanges;
	if (line->threads < 2 || !exchanges) {
		building->private_score += score;
		return 0;
	}
	building->block.score += score;
	building->block.lines++;
	building->block.samples += line->sums.samples;
	return 0;
}

static int end_block(struct building *building)
{
	struct fs_rollup *rollup = building->rollup;
	struct fs_rollup_kept *block = &building->block;

	FS_TRY(end_line(building));
	if (!building->open)
		return 0;
	/* neighbours of two threads matter less than a line that two threads share */
	if (!block->lines)
		block->score = building->private_score / 16;
	if (!building->block_shared || !building->block_exchanges ||
	    block->score < rollup->dropped_score) {
		if (building->block_shared && building->block_exchanges) {
			rollup->undetailed_lines += block->lines;
			rollup->undetailed_samples += block->samples;
		}
		building->pending_count = 0;
		FS_TRY(end_prefix(building));
		drop_block(building);
		return 0;
	}
	FS_TRY(replay_pending(building));
	FS_TRY(end_prefix(building));
	FS_TRY(FS_RESERVE(rollup->kept, rollup->kept_capacity, rollup->kept_count + 1));
	rollup->kept[rollup->kept_count++] = *block;
	FS_TRY(fit_windows(rollup));
	if (rollup->kept_count > 2 * FS_ROLLUP_BLOCKS_MAX ||
	    rollup->group_count > 2 * FS_ROLLUP_GROUPS_MAX)
		return prune(rollup, FS_ROLLUP_BLOCKS_MAX, FS_ROLLUP_GROUPS_MAX);
	return 0;
}

static void begin_line(struct building *building, const struct fs_rollup_access *access)
{
	building->open = true;
	building->line_thread = access->thread;
	building->line = (struct fs_rollup_line){
		.space = access->space,
		.line = access->addr & ~(uint64_t)(FS_ROLLUP_LINE - 1),
		.threads = 1,
	};
}

static void begin_block(struct building *building, const struct fs_rollup_access *access)
{
	building->direct = building->block_shared = false;
	building->block_thread = access->thread;
	building->block_exchanges = building->private_score = 0;
	building->block = (struct fs_rollup_kept){ .group = building->rollup->group_count,
						   .window = building->rollup->window_count };
}

static int add_window(struct building *building, const struct fs_rollup_access *access)
{
	struct fs_rollup *rollup = building->rollup;
	uint64_t window = access->time_ns >> rollup->window_shift;
	struct fs_rollup_window *last;

	if (!access->time_ns)
		return 0;
	last = rollup->window_count > building->block.window
		       ? &rollup->windows[rollup->window_count - 1]
		       : NULL;
	if (!last || last->window != window || last->addr != access->addr ||
	    last->op != fs_access_op(access->access) || last->code != access->code ||
	    last->thread != access->thread) {
		FS_TRY(FS_RESERVE(rollup->windows, rollup->window_capacity,
				  rollup->window_count + 1));
		last = &rollup->windows[rollup->window_count++];
		*last = (struct fs_rollup_window){
			.addr = access->addr,
			.window = window,
			.space = access->space,
			.op = fs_access_op(access->access),
			.code = access->code,
			.thread = access->thread,
		};
	}
	last->samples++;
	last->transfers += is_transfer(fs_access_source(access->access));
	last->latency_sum += access->latency;
	return 0;
}

static bool is_part(const struct part *part, const struct part_key *key)
{
	return part->key.event == key->event && part->key.cpu == key->cpu &&
	       part->key.source == key->source;
}

static int new_part(struct building *building, const struct part_key *key)
{
	struct part *part;

	FS_TRY(FS_RESERVE(building->parts, building->part_capacity, building->part_count + 1));
	part = &building->parts[building->part_count];
	part->key = *key;
	part->sums = (struct fs_rollup_sums){ 0 };
	part->first_bucket = FS_HISTOGRAM_BUCKETS;
	part->last_bucket = 0;
	part->phys_line = part->first_ns = part->last_ns = 0;
	building->last_part = building->part_count++;
	return 0;
}

/* Make building->last_part the part of an access. Mostly it is, or is one of the first few. */
static int find_part(struct building *building, const struct part_key *key)
{
	uint64_t *index;
	bool added;

	if (building->last_part < building->part_count &&
	    is_part(&building->parts[building->last_part], key))
		return 0;
	for (size_t i = 0; i < building->part_count && i < PARTS_LISTED; i++)
		if (is_part(&building->parts[i], key)) {
			building->last_part = i;
			return 0;
		}
	if (building->part_count < PARTS_LISTED)
		return new_part(building, key);
	index = fs_table_put(&building->part_ids, key, NULL, &added);
	if (!index)
		return FS_NOMEM;
	if (!added) {
		building->last_part = (size_t)*index;
		return 0;
	}
	*index = building->part_count;
	return new_part(building, key);
}

static int add_part(struct building *building, const struct fs_rollup_access *access)
{
	const struct part_key key = { .event = access->event,
				      .cpu = access->cpu,
				      .source = fs_access_source(access->access) };
	uint64_t phys_line = access->phys_addr & ~(uint64_t)(FS_ROLLUP_LINE - 1);
	unsigned int bucket = fs_histogram_bucket(access->latency);
	struct part *part;

	FS_TRY(find_part(building, &key));
	part = &building->parts[building->last_part];
	if (!part->phys_line)
		part->phys_line = phys_line;
	else if (phys_line && phys_line != part->phys_line)
		part->phys_line = UINT64_MAX;
	if (access->time_ns) {
		part->first_ns = part->first_ns ? part->first_ns : access->time_ns;
		part->last_ns = access->time_ns;
	}
	add_sums(&part->sums, access);
	if (!access->latency)
		return 0;
	part->histogram.count[bucket]++;
	part->first_bucket = bucket < part->first_bucket ? bucket : part->first_bucket;
	part->last_bucket = bucket > part->last_bucket ? bucket : part->last_bucket;
	return 0;
}

/* Put an access of a block that may be kept into its part and window. */
static int add_detail(struct building *building, const struct fs_rollup_access *access)
{
	const struct fs_rollup_access *prefix = &building->prefix;

	if (building->part_count && (prefix->addr != access->addr || prefix->code != access->code ||
				     prefix->thread != access->thread ||
				     fs_access_op(prefix->access) != fs_access_op(access->access)))
		FS_TRY(end_prefix(building));
	building->prefix = *access;
	FS_TRY(add_part(building, access));
	return add_window(building, access);
}

static int replay_pending(struct building *building)
{
	size_t count = building->pending_count;

	building->pending_count = 0;
	for (size_t i = 0; i < count; i++)
		FS_TRY(add_detail(building, &building->pending[i]));
	return 0;
}

/*
 * The next access in order. Most blocks belong to one thread and keep totals only, so an access
 * waits in `pending` until its block has ended or is a long one.
 */
static int add_sorted(struct building *building, const struct fs_rollup_access *access)
{
	struct fs_rollup_line *line = &building->line;
	uint64_t address = access->addr & ~(uint64_t)(FS_ROLLUP_LINE - 1);
	enum fs_op op = fs_access_op(access->access);

	if (!building->open || line->line != address || line->space != access->space) {
		if (!building->open || line->space != access->space ||
		    (line->line ^ address) >= FS_ROLLUP_BLOCK) {
			FS_TRY(end_block(building));
			begin_block(building, access);
		} else {
			FS_TRY(end_line(building));
		}
		begin_line(building, access);
	}
	if (access->thread != building->line_thread)
		line->threads = 2;
	building->block_shared |= access->thread != building->block_thread;
	line->loads += op == FS_OP_LOAD;
	line->stores += op == FS_OP_STORE;
	line->atomics += op == FS_OP_ATOMIC;
	add_sums(&line->sums, access);
	FS_TRY(add_code(building, access));
	if (building->direct)
		return add_detail(building, access);
	building->pending[building->pending_count++] = *access;
	if (building->pending_count < PENDING_MAX)
		return 0;
	building->direct = true;
	return replay_pending(building);
}

/* ---- keeping within bounds ---- */

static size_t groups_end(const struct fs_rollup *rollup, size_t kept)
{
	return kept + 1 < rollup->kept_count ? rollup->kept[kept + 1].group : rollup->group_count;
}

static size_t windows_end(const struct fs_rollup *rollup, size_t kept)
{
	return kept + 1 < rollup->kept_count ? rollup->kept[kept + 1].window : rollup->window_count;
}

static bool is_same_access(const struct fs_rollup_window *left,
			   const struct fs_rollup_window *right)
{
	return left->addr == right->addr && left->space == right->space && left->op == right->op &&
	       left->code == right->code && left->thread == right->thread;
}

/* Double the width: neighbours of one access that now share a window become one. */
static void widen_windows(struct fs_rollup *rollup)
{
	size_t used = 0;

	rollup->window_shift++;
	for (size_t kept = 0; kept < rollup->kept_count; kept++) {
		size_t end = windows_end(rollup, kept);
		size_t first = used;

		for (size_t i = rollup->kept[kept].window; i < end; i++) {
			struct fs_rollup_window window = rollup->windows[i];
			struct fs_rollup_window *last = &rollup->windows[used - (used > first)];

			window.window >>= 1;
			if (used > first && last->window == window.window &&
			    is_same_access(last, &window)) {
				last->samples += window.samples;
				last->transfers += window.transfers;
				last->latency_sum += window.latency_sum;
			} else {
				rollup->windows[used++] = window;
			}
		}
		rollup->kept[kept].window = first;
	}
	rollup->window_count = used;
}

static int by_score(const void *a, const void *b, void *kept)
{
	const struct fs_rollup_kept *left = (struct fs_rollup_kept *)kept + *(const uint32_t *)a;
	const struct fs_rollup_kept *right = (struct fs_rollup_kept *)kept + *(const uint32_t *)b;

	if (left->score != right->score)
		return left->score > right->score ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* Which blocks stay: those with most evidence, up to both limits, at least one. */
static bool *choose(const struct fs_rollup *rollup, size_t blocks_max, size_t groups_max)
{
	bool *stays = calloc(rollup->kept_count, sizeof(*stays));
	uint32_t *order = malloc(rollup->kept_count * sizeof(*order));
	size_t groups = 0;

	if (!stays || !order) {
		free(stays);
		free(order);
		return NULL;
	}
	for (size_t i = 0; i < rollup->kept_count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, rollup->kept_count, sizeof(*order), by_score, rollup->kept);
	for (size_t i = 0; i < rollup->kept_count && i < blocks_max; i++) {
		groups += groups_end(rollup, order[i]) - rollup->kept[order[i]].group;
		if (i && groups > groups_max)
			break;
		stays[order[i]] = true;
	}
	free(order);
	return stays;
}

/* Keep the detail of the blocks with most evidence and close the gaps. */
static int prune(struct fs_rollup *rollup, size_t blocks_max, size_t groups_max)
{
	bool *stays;
	size_t blocks = 0, groups = 0, windows = 0, histograms = 0;

	if (rollup->kept_count <= blocks_max && rollup->group_count <= groups_max)
		return 0;
	stays = choose(rollup, blocks_max, groups_max);
	if (!stays)
		return FS_NOMEM;
	for (size_t i = 0; i < rollup->kept_count; i++) {
		struct fs_rollup_kept kept = rollup->kept[i];
		size_t group_end = groups_end(rollup, i);
		size_t window_end = windows_end(rollup, i);
		size_t first_group = groups;

		if (!stays[i]) {
			rollup->undetailed_lines += kept.lines;
			rollup->undetailed_samples += kept.samples;
			if (kept.score > rollup->dropped_score)
				rollup->dropped_score = kept.score;
			continue;
		}
		for (size_t k = kept.group; k < group_end; k++) {
			struct fs_rollup_group group = rollup->groups[k];

			memmove(rollup->histograms + histograms,
				rollup->histograms + group.histogram, group.histogram_size);
			group.histogram = histograms;
			histograms += group.histogram_size;
			rollup->groups[groups++] = group;
		}
		if (window_end > kept.window)
			memmove(rollup->windows + windows, rollup->windows + kept.window,
				(window_end - kept.window) * sizeof(*rollup->windows));
		kept.group = first_group;
		window_end -= kept.window;
		kept.window = windows;
		windows += window_end;
		rollup->kept[blocks++] = kept;
	}
	free(stays);
	rollup->kept_count = blocks;
	rollup->group_count = groups;
	rollup->window_count = windows;
	rollup->histograms_used = histograms;
	return 0;
}

/* The accesses that the windows belong to: so many windows remain however wide they are. */
static size_t count_accesses(const struct fs_rollup *rollup)
{
	size_t count = 0;

	for (size_t kept = 0; kept < rollup->kept_count; kept++) {
		size_t first = rollup->kept[kept].window;
		size_t end = windows_end(rollup, kept);

		for (size_t i = first; i < end; i++)
			count += i == first ||
				 !is_same_access(&rollup->windows[i - 1], &rollup->windows[i]);
	}
	return count;
}

/*
 * Too many windows: double their width. Where most are of accesses that have no other, that would
 * merely take the time from the rest: then the blocks with least evidence go.
 */
static int fit_windows(struct fs_rollup *rollup)
{
	while (rollup->window_count > FS_ROLLUP_WINDOWS_MAX) {
		if (rollup->kept_count > 1 && count_accesses(rollup) > FS_ROLLUP_WINDOWS_MAX / 2)
			FS_TRY(prune(rollup, rollup->kept_count / 2, FS_ROLLUP_GROUPS_MAX));
		else if (rollup->window_shift < 62)
			widen_windows(rollup);
		else
			break;
	}
	return 0;
}

/* ---- merging ---- */

/* A sorted run while it is read back: [next, end) in accesses of the spill file. */
struct run {
	struct fs_rollup_access *buffer;
	size_t used, at;
	uint64_t next, end;
	size_t number;
};

static int refill(struct fs_rollup *rollup, struct run *run, struct fs_error *error)
{
	size_t count =
		run->end - run->next < READ_AHEAD ? (size_t)(run->end - run->next) : READ_AHEAD;
	size_t size;

	run->at = run->used = 0;
	if (!count)
		return 0;
	size = count * sizeof(*run->buffer);
	if (pread(rollup->spill, run->buffer, size, (off_t)(run->next * sizeof(*run->buffer))) !=
	    (ssize_t)size)
		return fs_fail(error, FS_OUTPUT, "cannot read a temporary file back: %s",
			       strerror(errno));
	run->used = count;
	run->next += count;
	return 0;
}

static bool is_before(const struct run *left, const struct run *right)
{
	const struct fs_rollup_access *a = &left->buffer[left->at];
	const struct fs_rollup_access *b = &right->buffer[right->at];
	uint64_t a_rest;
	uint64_t b_rest;

	if (a->space != b->space)
		return a->space < b->space;
	if (a->addr != b->addr)
		return a->addr < b->addr;
	a_rest = rest_of(a);
	b_rest = rest_of(b);
	if (a_rest != b_rest)
		return a_rest < b_rest;
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : left->number < right->number;
}

static void sift_down(struct run **heap, size_t count, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		struct run *swap = heap[at];

		if (child + 1 < count && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], heap[at]))
			return;
		heap[at] = heap[child];
		heap[child] = swap;
	}
}

static int merge_runs(struct fs_rollup *rollup, struct building *building, struct run *runs,
		      struct run **heap, struct fs_error *error)
{
	size_t count = rollup->run_count;

	for (size_t i = 0; i < count; i++) {
		runs[i].number = i;
		runs[i].next = i ? rollup->run_ends[i - 1] : 0;
		runs[i].end = rollup->run_ends[i];
		runs[i].buffer = malloc(READ_AHEAD * sizeof(*runs[i].buffer));
		if (!runs[i].buffer)
			return fs_fail(error, FS_NOMEM, "out of memory");
		FS_TRY(refill(rollup, &runs[i], error));
		heap[i] = &runs[i];
	}
	for (size_t i = count; i-- > 0;)
		sift_down(heap, count, i);
	while (count) {
		struct run *run = heap[0];

		if (add_sorted(building, &run->buffer[run->at++]))
			return fs_fail(error, FS_NOMEM, "out of memory");
		if (run->at == run->used)
			FS_TRY(refill(rollup, run, error));
		if (!run->used)
			heap[0] = heap[--count];
		sift_down(heap, count, 0);
	}
	return 0;
}

static int add_runs(struct fs_rollup *rollup, struct building *building, struct fs_error *error)
{
	struct run *runs;
	struct run **heap;
	int code;

	FS_TRY(spill(rollup, error));
	FS_TRY(end_sorting(rollup, error));
	free_chunks(rollup);
	runs = calloc(rollup->run_count, sizeof(*runs));
	heap = calloc(rollup->run_count, sizeof(*heap));
	code = runs && heap ? merge_runs(rollup, building, runs, heap, error)
			    : fs_fail(error, FS_NOMEM, "out of memory");
	for (size_t i = 0; runs && i < rollup->run_count; i++)
		free(runs[i].buffer);
	free(runs);
	free(heap);
	return code;
}

static int add_chunk(struct fs_rollup *rollup, struct building *building, struct fs_error *error)
{
	const struct fs_rollup_chunk *chunk = &rollup->chunks[rollup->filling];
	const struct order *order;

	if (!chunk->used)
		return 0;
	order = sort_chunk(chunk);
	for (size_t i = 0; i < chunk->used; i++)
		if (add_sorted(building, &chunk->accesses[order[i].index]))
			return fs_fail(error, FS_NOMEM, "out of memory");
	return 0;
}

int fs_rollup_finish(struct fs_rollup *rollup, struct fs_error *error)
{
	struct building building = { .rollup = rollup };
	int code;

	fs_table_init(&building.part_ids, sizeof(struct part_key), 8);
	building.pending = malloc(PENDING_MAX * sizeof(*building.pending));
	if (!building.pending)
		return fs_fail(error, FS_NOMEM, "out of memory");
	code = rollup->run_count ? add_runs(rollup, &building, error)
				 : add_chunk(rollup, &building, error);
	if (!code &&
	    (end_block(&building) || prune(rollup, FS_ROLLUP_BLOCKS_MAX, FS_ROLLUP_GROUPS_MAX)))
		code = fs_fail(error, FS_NOMEM, "out of memory");
	fs_table_free(&building.part_ids);
	free(building.parts);
	free(building.pending);
	free_chunks(rollup);
	return code;
}
