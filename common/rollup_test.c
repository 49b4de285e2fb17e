/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The roll-up against its definition: sorted copies of the accesses, added up by key.
 */
#include "common/rollup.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/test_random.h"

enum { KEY_WORDS = 8 };

/* An access and the key that it is being added up by. */
struct row {
	uint64_t key[KEY_WORDS];
	const struct fs_rollup_access *access;
};

static int by_key(const void *a, const void *b)
{
	const struct row *left = a;
	const struct row *right = b;

	for (int i = 0; i < KEY_WORDS; i++)
		if (left->key[i] != right->key[i])
			return left->key[i] < right->key[i] ? -1 : 1;
	if (left->access->time_ns != right->access->time_ns)
		return left->access->time_ns < right->access->time_ns ? -1 : 1;
	return left->access < right->access ? -1 : left->access > right->access;
}

static uint64_t line_of(const struct fs_rollup_access *access)
{
	return access->addr & ~63ull;
}

/* Served from, or snooped in, another core's cache: by the names of the classes. */
static bool is_transfer(const struct fs_rollup_access *access)
{
	switch (fs_access_source(access->access)) {
	case FS_SOURCE_L3_SNOOP_HIT:
	case FS_SOURCE_HITM_LOCAL:
	case FS_SOURCE_HITM_REMOTE:
	case FS_SOURCE_PEER_LOCAL:
	case FS_SOURCE_PEER_REMOTE:
	case FS_SOURCE_FORWARD_REMOTE:
		return true;
	default:
		return false;
	}
}

/* Sums that count from the definition of a sum. */
static struct fs_rollup_sums sums_of(const struct row *rows, size_t count)
{
	struct fs_rollup_sums sums = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct fs_rollup_access *access = rows[i].access;

		sums.samples++;
		sums.period += access->period;
		sums.l1_misses += access->access & FS_ACCESS_L1_MISS ? 1 : 0;
		sums.dirty_snoops += access->access & FS_ACCESS_DIRTY_SNOOP ? 1 : 0;
		sums.transfers += is_transfer(access);
		sums.latency_samples += access->latency != 0;
		sums.latency_sum += access->latency;
		if (access->latency > sums.latency_max)
			sums.latency_max = access->latency;
	}
	return sums;
}

static bool same_sums(const struct fs_rollup_sums *left, const struct fs_rollup_sums *right)
{
	return left->samples == right->samples && left->period == right->period &&
	       left->l1_misses == right->l1_misses && left->dirty_snoops == right->dirty_snoops &&
	       left->transfers == right->transfers &&
	       left->latency_samples == right->latency_samples &&
	       left->latency_sum == right->latency_sum && left->latency_max == right->latency_max;
}

/* The end of the rows that have the key of `first`. */
static size_t same_key(const struct row *rows, size_t count, size_t first)
{
	size_t end = first + 1;

	while (end < count && !memcmp(rows[end].key, rows[first].key, sizeof(rows[end].key)))
		end++;
	return end;
}

static struct row *rows_of(const struct fs_rollup_access *accesses, size_t count,
			   void (*set_key)(struct row *row, unsigned int shift), unsigned int shift)
{
	struct row *rows = calloc(count + 1, sizeof(*rows));

	for (size_t i = 0; i < count; i++) {
		rows[i].access = &accesses[i];
		set_key(&rows[i], shift);
	}
	if (count)
		qsort(rows, count, sizeof(*rows), by_key);
	return rows;
}

/* ---- lines ---- */

static void set_line_key(struct row *row, unsigned int shift)
{
	(void)shift;
	row->key[0] = row->access->space;
	row->key[1] = line_of(row->access);
}

static void check_lines(const struct fs_rollup *rollup, const struct fs_rollup_access *accesses,
			size_t count)
{
	struct row *rows = rows_of(accesses, count, set_line_key, 0);
	size_t number = 0;

	for (size_t first = 0, end; first < count; first = end, number++) {
		struct fs_rollup_line line = { .space = rows[first].access->space,
					       .line = line_of(rows[first].access),
					       .threads = 1 };
		const struct fs_rollup_line *got = &rollup->lines[number];

		end = same_key(rows, count, first);
		line.sums = sums_of(rows + first, end - first);
		for (size_t i = first; i < end; i++) {
			enum fs_op op = fs_access_op(rows[i].access->access);

			line.loads += op == FS_OP_LOAD;
			line.stores += op == FS_OP_STORE;
			line.atomics += op == FS_OP_ATOMIC;
			if (rows[i].access->thread != rows[first].access->thread)
				line.threads = 2;
		}
		if (number >= rollup->line_count || got->space != line.space ||
		    got->line != line.line || got->threads != line.threads ||
		    got->loads != line.loads || got->stores != line.stores ||
		    got->atomics != line.atomics || !same_sums(&got->sums, &line.sums))
			ck_abort_msg("line %zu", number);
	}
	ck_assert_uint_eq(rollup->line_count, number);
	free(rows);
}

/* ---- blocks ---- */

static void set_block_key(struct row *row, unsigned int shift)
{
	(void)shift;
	row->key[0] = row->access->space;
	row->key[1] = row->access->addr / 256;
}

/* The accesses to blocks that two threads touched and that were written, or passed between caches;
 * returns how many. */
static size_t detailed_of(const struct fs_rollup_access *accesses, size_t count,
			  struct fs_rollup_access *ret_detailed)
{
	struct row *rows = rows_of(accesses, count, set_block_key, 0);
	size_t detailed = 0;

	for (size_t first = 0, end; first < count; first = end) {
		bool shared = false;
		bool exchanged = false;

		end = same_key(rows, count, first);
		for (size_t i = first; i < end; i++) {
			enum fs_op op = fs_access_op(rows[i].access->access);

			shared |= rows[i].access->thread != rows[first].access->thread;
			exchanged |= op == FS_OP_STORE || op == FS_OP_ATOMIC ||
				     is_transfer(rows[i].access);
		}
		for (size_t i = first; shared && exchanged && i < end; i++)
			ret_detailed[detailed++] = *rows[i].access;
	}
	free(rows);
	return detailed;
}

/* ---- groups ---- */

static void set_group_key(struct row *row, unsigned int shift)
{
	const struct fs_rollup_access *access = row->access;

	(void)shift;
	row->key[0] = access->space;
	row->key[1] = access->addr;
	row->key[2] = fs_access_op(access->access);
	row->key[3] = access->code;
	row->key[4] = access->thread;
	row->key[5] = access->event;
	row->key[6] = access->cpu;
	row->key[7] = fs_access_source(access->access);
}

static int by_group(const void *a, const void *b)
{
	const struct fs_rollup_group *left = *(const struct fs_rollup_group *const *)a;
	const struct fs_rollup_group *right = *(const struct fs_rollup_group *const *)b;
	const uint64_t l[KEY_WORDS] = { left->space,  left->addr,  left->op,  left->code,
					left->thread, left->event, left->cpu, left->source };
	const uint64_t r[KEY_WORDS] = { right->space,  right->addr,  right->op,	 right->code,
					right->thread, right->event, right->cpu, right->source };

	for (int i = 0; i < KEY_WORDS; i++)
		if (l[i] != r[i])
			return l[i] < r[i] ? -1 : 1;
	return 0;
}

static bool is_group(const struct fs_rollup *rollup, const struct fs_rollup_group *group,
		     const struct row *rows, size_t count)
{
	const struct fs_rollup_access *access = rows[0].access;
	struct fs_rollup_sums sums = sums_of(rows, count);
	struct fs_histogram want = { 0 };
	struct fs_histogram got = { 0 };
	int64_t phys_line = 0;
	uint64_t first_ns = 0;
	uint64_t last_ns = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t phys = (int64_t)(rows[i].access->phys_addr & ~63ull);
		uint64_t time_ns = rows[i].access->time_ns;

		if (phys && phys_line && phys != phys_line)
			phys_line = -1;
		else if (phys && !phys_line)
			phys_line = phys;
		if (time_ns && (!first_ns || time_ns < first_ns))
			first_ns = time_ns;
		last_ns = time_ns > last_ns ? time_ns : last_ns;
		if (rows[i].access->latency)
			want.count[fs_histogram_bucket(rows[i].access->latency)]++;
	}
	return group->space == access->space && group->addr == access->addr &&
	       group->op == (uint32_t)fs_access_op(access->access) && group->code == access->code &&
	       group->thread == access->thread && group->event == access->event &&
	       group->cpu == access->cpu &&
	       group->source == (uint32_t)fs_access_source(access->access) &&
	       same_sums(&group->sums, &sums) && group->phys_line == phys_line &&
	       group->first_ns == first_ns && group->last_ns == last_ns &&
	       !fs_histogram_add(&got, rollup->histograms + group->histogram,
				 group->histogram_size) &&
	       !memcmp(&got, &want, sizeof(got));
}

static void check_groups(const struct fs_rollup *rollup, const struct fs_rollup_access *accesses,
			 size_t count)
{
	struct row *rows = rows_of(accesses, count, set_group_key, 0);
	const struct fs_rollup_group **groups =
		calloc(rollup->group_count + 1, sizeof(struct fs_rollup_group *));
	size_t number = 0;

	for (size_t i = 0; i < rollup->group_count; i++)
		groups[i] = &rollup->groups[i];
	qsort(groups, rollup->group_count, sizeof(struct fs_rollup_group *), by_group);
	for (size_t first = 0, end; first < count; first = end, number++) {
		end = same_key(rows, count, first);
		if (number >= rollup->group_count ||
		    !is_group(rollup, groups[number], rows + first, end - first))
			ck_abort_msg("group %zu", number);
	}
	ck_assert_uint_eq(rollup->group_count, number);
	free(groups);
	free(rows);
}

/* ---- windows ---- */

static void set_window_key(struct row *row, unsigned int shift)
{
	set_group_key(row, 0);
	row->key[5] = row->access->time_ns >> shift;
	row->key[6] = row->access->time_ns == 0;
	row->key[7] = 0;
}

static void check_windows(const struct fs_rollup *rollup, const struct fs_rollup_access *accesses,
			  size_t count)
{
	struct row *rows = rows_of(accesses, count, set_window_key, rollup->window_shift);
	size_t number = 0;

	for (size_t first = 0, end; first < count; first = end) {
		const struct fs_rollup_window *got = &rollup->windows[number];
		struct fs_rollup_sums sums;

		end = same_key(rows, count, first);
		if (!rows[first].access->time_ns)
			continue;
		sums = sums_of(rows + first, end - first);
		if (number >= rollup->window_count || got->space != rows[first].key[0] ||
		    got->addr != rows[first].key[1] || got->op != rows[first].key[2] ||
		    got->code != rows[first].key[3] || got->thread != rows[first].key[4] ||
		    got->window != rows[first].key[5] || got->samples != sums.samples ||
		    got->transfers != sums.transfers || got->latency_sum != sums.latency_sum)
			ck_abort_msg("window %zu", number);
		number++;
	}
	ck_assert_uint_eq(rollup->window_count, number);
	free(rows);
}

/* ---- codes ---- */

static void set_code_key(struct row *row, unsigned int shift)
{
	(void)shift;
	row->key[0] = row->access->event;
	row->key[1] = row->access->code;
	row->key[2] = fs_access_op(row->access->access);
	row->key[3] = fs_access_source(row->access->access);
	row->key[4] = row->access->latency ? fs_histogram_bucket(row->access->latency)
					   : FS_HISTOGRAM_BUCKETS;
}

static void check_codes(const struct fs_rollup *rollup, const struct fs_rollup_access *accesses,
			size_t count)
{
	struct row *rows = rows_of(accesses, count, set_code_key, 0);
	size_t number = 0;

	for (size_t first = 0, end; first < count; first = end, number++) {
		struct fs_rollup_code key = {
			.event = (uint32_t)rows[first].key[0],
			.code = (uint32_t)rows[first].key[1],
			.op = (uint16_t)rows[first].key[2],
			.source = (uint16_t)rows[first].key[3],
			.bucket = (uint32_t)rows[first].key[4],
		};
		const struct fs_rollup_code_sums *got = fs_table_get(&rollup->codes, &key);
		struct fs_rollup_sums sums;

		end = same_key(rows, count, first);
		sums = sums_of(rows + first, end - first);
		if (!got || got->samples != sums.samples || got->period != sums.period ||
		    got->latency_sum != sums.latency_sum)
			ck_abort_msg("code %zu", number);
	}
	ck_assert_uint_eq(rollup->codes.count, number);
	free(rows);
}

/* ---- making accesses ---- */

static struct fs_rollup_access make_access(uint64_t *random, uint64_t lines, uint64_t variety)
{
	static const enum fs_op ops[] = { FS_OP_UNKNOWN, FS_OP_LOAD,   FS_OP_LOAD,
					  FS_OP_STORE,	 FS_OP_ATOMIC, FS_OP_OTHER };
	uint64_t line = test_below(random, lines);
	uint64_t threads = variety ? variety : 4;
	/* most lines belong to one thread */
	uint64_t thread = test_below(random, 4) ? line % threads : test_below(random, threads);
	struct fs_rollup_access access = {
		.addr = (test_below(random, 8) ? 0x7f0000000000 : 0xffff800000000000) + line * 64 +
			test_below(random, 8) * 8,
		.time_ns = test_below(random, 50) ? 1 + test_below(random, 1ull << 34) : 0,
		.phys_addr = test_below(random, 3) ? 0x100000 + line * 64 : 0,
		.space = 1 + (uint32_t)test_below(random, 2),
		.code = test_below(random, 20) ? (uint32_t)test_below(random, 12) : FS_ROLLUP_NONE,
		.thread = test_below(random, 40) ? (uint32_t)thread : FS_ROLLUP_NONE,
		.event = (uint32_t)test_below(random, 3),
		.cpu = test_below(random, 10) ? (uint32_t)test_below(random, 70) : FS_ROLLUP_NONE,
		.latency = test_below(random, 3) ? (uint32_t)test_below(random, 3000) : 0,
		.period = (uint32_t)test_random(random),
		.access = fs_access_pack(
			ops[test_below(random, 6)],
			(enum fs_source)test_below(random, FS_SOURCE_MAX), FS_CERTAINTY_HARDWARE,
			(uint32_t)test_random(random) &
				(FS_ACCESS_L1_MISS | FS_ACCESS_DIRTY_SNOOP | FS_ACCESS_LOCKED)),
	};

	if (!variety) {
		access.addr = 0x7f0000000000 + line * 64 + line % 8;
		access.code = (uint32_t)line % 100;
		access.event = 0;
		access.cpu = access.thread;
		access.space = 1;
		access.access = fs_access_pack(access.thread & 1 ? FS_OP_LOAD : FS_OP_STORE,
					       FS_SOURCE_L1 + line % 4, FS_CERTAINTY_HARDWARE, 0);
	}
	if (!test_below(random, 10))
		access.phys_addr += 4096 * test_below(random, 4);
	return access;
}

static struct fs_rollup_access *make_accesses(size_t count, uint64_t lines, uint64_t variety,
					      uint64_t seed)
{
	struct fs_rollup_access *accesses = calloc(count + 1, sizeof(*accesses));

	for (size_t i = 0; i < count; i++)
		accesses[i] = make_access(&seed, lines, variety);
	return accesses;
}

static void roll_up(struct fs_rollup *rollup, const struct fs_rollup_access *accesses, size_t count)
{
	struct fs_error error = { 0 };

	ck_assert_int_eq(fs_rollup_init(rollup), 0);
	for (size_t i = 0; i < count; i++)
		if (fs_rollup_add(rollup, &accesses[i], &error))
			ck_abort_msg("%s", error.text);
	ck_assert_int_eq(fs_rollup_finish(rollup, &error), 0);
}

/* ---- the tests ---- */

static const struct {
	size_t count;
	uint64_t lines, variety;
} loads[] = {
	{ 0, 1, 1 },	    { 1, 1, 1 },       { 2, 1, 2 },	     { 3000, 3, 4 },
	{ 20000, 2000, 8 }, { 60000, 40, 64 }, { 1200000, 3000, 0 }, /* three runs; 0: accesses that
									differ little */
};

START_TEST(sums_agree_with_their_definition)
{
	size_t count = loads[_i].count;
	struct fs_rollup_access *accesses =
		make_accesses(count, loads[_i].lines, loads[_i].variety, 0x5eed00d0);
	struct fs_rollup_access *detailed = calloc(count + 1, sizeof(*detailed));
	struct fs_rollup rollup;
	size_t detailed_count;

	roll_up(&rollup, accesses, count);
	check_lines(&rollup, accesses, count);
	detailed_count = detailed_of(accesses, count, detailed);
	check_codes(&rollup, accesses, count);
	ck_assert_uint_eq(rollup.undetailed_lines, 0);
	check_groups(&rollup, detailed, detailed_count);
	check_windows(&rollup, detailed, detailed_count);
	ck_assert_uint_le(rollup.window_count, FS_ROLLUP_WINDOWS_MAX);
	ck_assert_int_eq(rollup.run_count > 1, count > FS_ROLLUP_CHUNK);
	if (count > 1000)
		ck_assert(detailed_count > count / 10 && detailed_count < count + 1);
	fs_rollup_free(&rollup);
	free(detailed);
	free(accesses);
}
END_TEST

/* The same accesses in another order: the same result, byte for byte of what is stored. */
START_TEST(order_does_not_matter)
{
	size_t count = _i ? 1100000 : 30000;
	struct fs_rollup_access *accesses = make_accesses(count, 500, 8, 0x5eed00e0);
	uint64_t random = 0x5eed00f0;
	struct fs_rollup first, second;

	for (size_t i = 0; i < count; i++) /* no two of one time */
		accesses[i].time_ns = accesses[i].time_ns / count * count + i + 1;
	roll_up(&first, accesses, count);
	for (size_t i = count; i > 1; i--) {
		size_t other = test_below(&random, i);
		struct fs_rollup_access swap = accesses[i - 1];

		accesses[i - 1] = accesses[other];
		accesses[other] = swap;
	}
	roll_up(&second, accesses, count);
	ck_assert_uint_eq(first.line_count, second.line_count);
	ck_assert_mem_eq(first.lines, second.lines, first.line_count * sizeof(*first.lines));
	ck_assert_uint_eq(first.window_count, second.window_count);
	ck_assert_mem_eq(first.windows, second.windows,
			 first.window_count * sizeof(*first.windows));
	ck_assert_uint_eq(first.group_count, second.group_count);
	ck_assert_mem_eq(first.groups, second.groups, first.group_count * sizeof(*first.groups));
	ck_assert_uint_eq(first.histograms_used, second.histograms_used);
	ck_assert_mem_eq(first.histograms, second.histograms, first.histograms_used);
	fs_rollup_free(&first);
	fs_rollup_free(&second);
	free(accesses);
}
END_TEST

/* A line of block i, written by two threads, with 2 + its evidence in samples. */
static void add_shared_line(struct fs_rollup *rollup, uint64_t line, uint64_t evidence, bool many,
			    bool transfers)
{
	for (uint64_t i = 0; i < 2 + evidence; i++) {
		struct fs_rollup_access access = {
			.addr = 0x10000 + line * FS_ROLLUP_BLOCK + (many ? i % 64 : 0),
			.time_ns = 1000 + i,
			.space = 1,
			.code = many ? (uint32_t)(i / 64) : 0,
			.thread = i & 1,
			.cpu = i & 1,
			.access = fs_access_pack(FS_OP_STORE,
						 transfers && i > 1 ? FS_SOURCE_HITM_LOCAL
								    : FS_SOURCE_NONE,
						 FS_CERTAINTY_HARDWARE, 0),
		};

		if (fs_rollup_add(rollup, &access, NULL))
			ck_abort();
	}
}

static uint64_t evidence_of(uint64_t line)
{
	return line * 2654435761u % 30;
}

/*
 * Neighbours of two threads go before any line that two threads share, however few its samples.
 */
START_TEST(lines_of_two_threads_outweigh_neighbours)
{
	struct fs_rollup rollup;
	size_t shared = 0;

	ck_assert_int_eq(fs_rollup_init(&rollup), 0);
	for (uint64_t block = 0; block < 2 * FS_ROLLUP_BLOCKS_MAX; block++)
		for (uint64_t i = 0; i < (block & 1 ? 30 : 4); i++) {
			struct fs_rollup_access access = {
				.addr = 0x10000 + block * FS_ROLLUP_BLOCK +
					(block & 1 ? i % 2 * 64 : 0),
				.space = 1,
				.thread = i & 1,
				.access = FS_OP_STORE,
			};

			if (fs_rollup_add(&rollup, &access, NULL))
				ck_abort();
		}
	ck_assert_int_eq(fs_rollup_finish(&rollup, NULL), 0);
	for (size_t i = 0; i < rollup.group_count; i++)
		shared += (rollup.groups[i].addr - 0x10000) / FS_ROLLUP_BLOCK % 2 == 0;
	ck_assert_uint_eq(shared, rollup.group_count);
	ck_assert_uint_eq(rollup.undetailed_lines, 0);
	fs_rollup_free(&rollup);
}
END_TEST

/*
 * More shared lines than are kept in detail: those with most evidence stay, all keep totals. With
 * transfers, one counts for eight samples more.
 */
START_TEST(lines_with_most_evidence_keep_their_detail)
{
	enum { LINES = 3 * FS_ROLLUP_BLOCKS_MAX };
	struct fs_rollup rollup;
	uint64_t samples = 0;
	size_t kept = 0;
	uint64_t least = UINT64_MAX;
	uint64_t most_dropped = 0;
	bool *is_kept = calloc(LINES, sizeof(*is_kept));

	ck_assert_int_eq(fs_rollup_init(&rollup), 0);
	for (uint64_t line = 0; line < LINES; line++)
		add_shared_line(&rollup, line, evidence_of(line), false, _i);
	ck_assert_int_eq(fs_rollup_finish(&rollup, NULL), 0);
	ck_assert_uint_eq(rollup.line_count, LINES);
	for (size_t i = 0; i < rollup.group_count; i++)
		is_kept[(rollup.groups[i].addr - 0x10000) / FS_ROLLUP_BLOCK] = true;
	for (uint64_t line = 0; line < LINES; line++) {
		uint64_t evidence = evidence_of(line);

		kept += is_kept[line];
		if (is_kept[line] && evidence < least)
			least = evidence;
		if (!is_kept[line] && evidence > most_dropped)
			most_dropped = evidence;
		if (!is_kept[line])
			samples += 2 + evidence;
	}
	ck_assert_uint_eq(kept, FS_ROLLUP_BLOCKS_MAX);
	ck_assert_uint_ge(least, most_dropped);
	ck_assert_uint_eq(rollup.undetailed_lines, LINES - FS_ROLLUP_BLOCKS_MAX);
	ck_assert_uint_eq(rollup.undetailed_samples, samples);
	/* groups and windows still belong together */
	for (size_t i = 0; i < rollup.window_count; i++)
		ck_assert(is_kept[(rollup.windows[i].addr - 0x10000) / FS_ROLLUP_BLOCK]);
	free(is_kept);
	fs_rollup_free(&rollup);
}
END_TEST

/* A transfer between caches says more than an access. */
START_TEST(transfers_outweigh_accesses)
{
	struct fs_rollup rollup;
	unsigned int wrong = 0;

	ck_assert_int_eq(fs_rollup_init(&rollup), 0);
	for (uint64_t line = 0; line < 2 * FS_ROLLUP_BLOCKS_MAX; line++)
		add_shared_line(&rollup, line, line & 1 ? 3 : 20, false, line & 1);
	ck_assert_int_eq(fs_rollup_finish(&rollup, NULL), 0);
	ck_assert_uint_eq(rollup.undetailed_lines, FS_ROLLUP_BLOCKS_MAX);
	for (size_t i = 0; i < rollup.group_count; i++)
		wrong += !((rollup.groups[i].addr - 0x10000) / FS_ROLLUP_BLOCK & 1);
	ck_assert_uint_eq(wrong, 0);
	fs_rollup_free(&rollup);
}
END_TEST

/* A line with more groups than may be kept of all keeps them, and is alone in that. */
START_TEST(groups_are_bounded_but_for_one_line)
{
	struct fs_rollup rollup;

	ck_assert_int_eq(fs_rollup_init(&rollup), 0);
	for (uint64_t line = 0; line < 100; line++)
		add_shared_line(&rollup, line, 5, false, false);
	add_shared_line(&rollup, 200, FS_ROLLUP_GROUPS_MAX + 10, true, false);
	ck_assert_int_eq(fs_rollup_finish(&rollup, NULL), 0);
	ck_assert_uint_eq(rollup.group_count, FS_ROLLUP_GROUPS_MAX + 12);
	ck_assert_uint_eq(rollup.undetailed_lines, 100);
	ck_assert_uint_eq(rollup.line_count, 101);
	fs_rollup_free(&rollup);
}
END_TEST

/* Windows double in width until they fit, and their sums stay what they were. */
START_TEST(windows_widen_when_there_are_too_many)
{
	enum { SAMPLES = FS_ROLLUP_WINDOWS_MAX * 3 };
	struct fs_rollup rollup;
	uint64_t samples = 0;

	ck_assert_int_eq(fs_rollup_init(&rollup), 0);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		struct fs_rollup_access access = {
			.addr = 0x1000 + i % 4 * 64,
			.time_ns = 1 + i * FS_ROLLUP_WINDOW_NS,
			.thread = i / 4 & 1,
			.access = FS_OP_STORE,
		};

		if (fs_rollup_add(&rollup, &access, NULL))
			ck_abort();
	}
	ck_assert_int_eq(fs_rollup_finish(&rollup, NULL), 0);
	ck_assert_uint_le(rollup.window_count, FS_ROLLUP_WINDOWS_MAX);
	ck_assert_uint_gt(rollup.window_count, FS_ROLLUP_WINDOWS_MAX / 8);
	for (size_t i = 0; i < rollup.window_count; i++)
		samples += rollup.windows[i].samples;
	ck_assert_uint_eq(samples, SAMPLES);
	ck_assert_uint_lt(rollup.window_shift, 22);
	fs_rollup_free(&rollup);
}
END_TEST

/*
 * Many accesses that were seen once each cannot be merged by wider windows. Widening for their
 * sake would take the time from the one line that has evidence: they must go instead.
 */
START_TEST(accesses_seen_once_do_not_widen_windows)
{
	struct fs_rollup rollup;
	size_t of_hot_line = 0;

	ck_assert_int_eq(fs_rollup_init(&rollup), 0);
	for (uint64_t line = 0; line < 5000; line++)
		add_shared_line(&rollup, line, 98, true, false);
	for (uint64_t i = 0; i < 2000; i++) {
		struct fs_rollup_access access = {
			.addr = 0x9000000,
			.time_ns = 1 + i * FS_ROLLUP_WINDOW_NS,
			.space = 1,
			.thread = i & 1,
			.access = fs_access_pack(FS_OP_STORE, FS_SOURCE_HITM_LOCAL,
						 FS_CERTAINTY_HARDWARE, 0),
		};

		if (fs_rollup_add(&rollup, &access, NULL))
			ck_abort();
	}
	ck_assert_int_eq(fs_rollup_finish(&rollup, NULL), 0);
	ck_assert_uint_le(rollup.window_count, FS_ROLLUP_WINDOWS_MAX);
	ck_assert_uint_le(rollup.group_count, FS_ROLLUP_GROUPS_MAX);
	for (size_t i = 0; i < rollup.window_count; i++)
		of_hot_line += rollup.windows[i].addr == 0x9000000;
	ck_assert_uint_eq(of_hot_line, 2000);
	ck_assert_uint_gt(rollup.undetailed_lines, 1000);
	ck_assert_uint_lt(rollup.undetailed_lines, 4500);
	ck_assert_uint_eq(rollup.undetailed_samples, 100 * rollup.undetailed_lines);
	fs_rollup_free(&rollup);
}
END_TEST

START_TEST(a_rollup_can_be_freed_at_any_time)
{
	struct fs_rollup_access *accesses = make_accesses(1100000, 10, 2, 0x5eed0100);
	struct fs_rollup rollup;
	struct fs_rollup zero = { 0 };

	/* nor does that close a file of somebody else's */
	fs_rollup_free(&zero);
	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
	ck_assert_int_eq(fs_rollup_init(&rollup), 0);
	fs_rollup_free(&rollup);
	fs_rollup_free(&rollup);
	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
	ck_assert_int_eq(fs_rollup_init(&rollup), 0);
	for (size_t i = 0; i < 1100000; i++)
		if (fs_rollup_add(&rollup, &accesses[i], NULL))
			ck_abort();
	fs_rollup_free(&rollup);
	free(accesses);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rollup");
	TCase *tests = tcase_create("rollup");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, sums_agree_with_their_definition, 0,
			    (int)(sizeof(loads) / sizeof(loads[0])));
	tcase_add_loop_test(tests, order_does_not_matter, 0, 2);
	tcase_add_loop_test(tests, lines_with_most_evidence_keep_their_detail, 0, 2);
	tcase_add_test(tests, lines_of_two_threads_outweigh_neighbours);
	tcase_add_test(tests, transfers_outweigh_accesses);
	tcase_add_test(tests, groups_are_bounded_but_for_one_line);
	tcase_add_test(tests, windows_widen_when_there_are_too_many);
	tcase_add_test(tests, accesses_seen_once_do_not_widen_windows);
	tcase_add_test(tests, a_rollup_can_be_freed_at_any_time);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
