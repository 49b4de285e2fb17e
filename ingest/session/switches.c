/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/session/switches.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/temporary.h"
#include "common/vector.h"
#include "ingest/session/threads.h"

enum {
	RUN_MAX = 1 << 18,    /* switches: 12 MiB */
	READ_AHEAD = 1 << 11, /* switches of a run in memory while merging */
	BLOCK_MAX = 1 << 12,  /* settled switches in memory while answering */
};

/* The settled switches of a CPU and source: [first, first + count). */
struct list {
	uint64_t first, count;
};

void fs_switches_init(struct fs_switches *switches)
{
	*switches = (struct fs_switches){
		.run_max = RUN_MAX,
		.block_max = BLOCK_MAX,
		.runs_fd = -1,
		.fd = -1,
	};
	fs_table_init(&switches->lists, 8, sizeof(struct list));
}

void fs_switches_free(struct fs_switches *switches)
{
	if (switches->runs_fd >= 0)
		close(switches->runs_fd);
	if (switches->fd >= 0)
		close(switches->fd);
	free(switches->pending);
	free(switches->run_ends);
	free(switches->block);
	fs_table_free(&switches->lists);
	fs_switches_init(switches);
}

static int cannot_write(struct fs_error *error)
{
	return fs_fail(
		error, FS_OUTPUT,
		"cannot write a temporary file in $TMPDIR or /tmp: %s; make room or set TMPDIR",
		strerror(errno));
}

static int no_memory(struct fs_error *error)
{
	return fs_fail(error, FS_NOMEM, "out of memory for context switches");
}

static int make_file(int *fd, struct fs_error *error)
{
	if (*fd < 0)
		*fd = fs_temporary_open();
	return *fd < 0 ? cannot_write(error) : 0;
}

/* Read exactly: what we wrote is there. */
static int read_back(int fd, void *buffer, size_t size, uint64_t offset, struct fs_error *error)
{
	if (pread(fd, buffer, size, (off_t)offset) != (ssize_t)size)
		return fs_fail(error, FS_REFUSED, "cannot read a temporary file back: %s",
			       errno ? strerror(errno) : "it has shrunk");
	return 0;
}

/* ---- noting ---- */

static int compare(const void *a, const void *b)
{
	const struct fs_switch_event *left = a;
	const struct fs_switch_event *right = b;

	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	if (left->to.time_ns != right->to.time_ns)
		return left->to.time_ns < right->to.time_ns ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static void sort_pending(struct fs_switches *switches)
{
	if (switches->pending_count)
		qsort(switches->pending, switches->pending_count, sizeof(*switches->pending),
		      compare);
}

static int write_run(struct fs_switches *switches, struct fs_error *error)
{
	uint64_t end = switches->run_count ? switches->run_ends[switches->run_count - 1] : 0;

	FS_TRY(make_file(&switches->runs_fd, error));
	if (FS_RESERVE(switches->run_ends, switches->run_capacity, switches->run_count + 1))
		return no_memory(error);
	sort_pending(switches);
	if (!fs_write_all(switches->runs_fd, switches->pending,
			  switches->pending_count * sizeof(*switches->pending)))
		return cannot_write(error);
	switches->run_ends[switches->run_count++] = end + switches->pending_count;
	switches->pending_count = 0;
	return 0;
}

int fs_switches_note(struct fs_switches *switches, const struct fs_switch_event *event,
		     struct fs_error *error)
{
	if (switches->pending_count == switches->run_max)
		FS_TRY(write_run(switches, error));
	if (FS_RESERVE(switches->pending, switches->pending_capacity, switches->pending_count + 1))
		return no_memory(error);
	switches->pending[switches->pending_count++] = *event;
	return 0;
}

/* ---- settling ---- */

/* Switches go through here in order; the last one waits for what the next says of it. */
struct settling {
	struct fs_switches *switches;
	struct fs_error *error;
	struct fs_switch_event held;
	bool holds;
	struct list *list;
	uint64_t key;
};

/* The block is the end of what is settled; when it is full it goes to the file, if there is one. */
static int put_settled(struct settling *settling, const struct fs_switch *entry)
{
	struct fs_switches *switches = settling->switches;

	if (switches->fd >= 0 && switches->block_count == switches->block_max) {
		if (!fs_write_all(switches->fd, switches->block,
				  switches->block_count * sizeof(*switches->block)))
			return cannot_write(settling->error);
		switches->block_first += switches->block_count;
		switches->block_count = 0;
	}
	if (FS_RESERVE(switches->block, switches->block_capacity, switches->block_count + 1))
		return no_memory(settling->error);
	switches->block[switches->block_count++] = *entry;
	settling->list->count++;
	return 0;
}

static int let_go(struct settling *settling)
{
	if (!settling->holds)
		return 0;
	settling->holds = false;
	return put_settled(settling, &settling->held.to);
}

static int begin_list(struct settling *settling, const struct fs_switch_event *event)
{
	struct fs_switches *switches = settling->switches;
	struct fs_switch start = event->to;

	FS_TRY(let_go(settling));
	settling->list = fs_table_put(&switches->lists, &settling->key, NULL, NULL);
	if (!settling->list)
		return no_memory(settling->error);
	settling->list->first = switches->block_first + switches->block_count;
	if (event->before == FS_PID_UNKNOWN)
		return 0;
	start.time_ns = 0;
	start.pid = event->before ? FS_PID_UNKNOWN : 0;
	start.tid = event->before;
	return put_settled(settling, &start);
}

static int settle_one(struct settling *settling, const struct fs_switch_event *event)
{
	uint64_t key = (uint64_t)event->cpu << 8 | event->source;
	struct fs_switch_event *held = &settling->held;

	if (!settling->list || key != settling->key) {
		settling->key = key;
		FS_TRY(begin_list(settling, event));
	}
	if (settling->holds && event->before != FS_PID_UNKNOWN && held->to.tid != event->before) {
		held->to.tid = event->one_task ? event->before : FS_PID_UNKNOWN;
		held->to.pid = held->to.tid ? FS_PID_UNKNOWN : 0;
	}
	FS_TRY(let_go(settling));
	*held = *event;
	settling->holds = true;
	return 0;
}

/* A sorted run while it is read back: [next, end) in switches of the file. */
struct run {
	struct fs_switch_event *buffer;
	size_t at, used;
	uint64_t next, end;
};

/* Make sure that buffer[at] is there, unless the run is at its end. */
static int fill(const struct fs_switches *switches, struct run *run, struct fs_error *error)
{
	uint64_t left = run->end - run->next;

	if (run->at < run->used)
		return 0;
	run->at = 0;
	run->used = left < READ_AHEAD ? (size_t)left : READ_AHEAD;
	FS_TRY(read_back(switches->runs_fd, run->buffer, run->used * sizeof(*run->buffer),
			 run->next * sizeof(*run->buffer), error));
	run->next += run->used;
	return 0;
}

static const struct fs_switch_event *head(const struct run *run)
{
	return run && run->at < run->used ? &run->buffer[run->at] : NULL;
}

/*
 * The runs with the smallest and the second smallest head. Records of a CPU stand nearly in order
 * of time, so one run stays the smallest for long and looking through all of them is rare.
 */
static void find_smallest(struct run *runs, size_t count, struct run **ret_first,
			  struct run **ret_second)
{
	*ret_first = *ret_second = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!head(&runs[i]))
			continue;
		if (!*ret_first || compare(head(&runs[i]), head(*ret_first)) < 0) {
			*ret_second = *ret_first;
			*ret_first = &runs[i];
		} else if (!*ret_second || compare(head(&runs[i]), head(*ret_second)) < 0) {
			*ret_second = &runs[i];
		}
	}
}

static int merge(struct settling *settling, struct run *runs)
{
	struct fs_switches *switches = settling->switches;
	struct run *first;
	struct run *second;

	for (size_t i = 0; i < switches->run_count; i++) {
		runs[i].next = i ? switches->run_ends[i - 1] : 0;
		runs[i].end = switches->run_ends[i];
		runs[i].buffer = malloc(READ_AHEAD * sizeof(*runs[i].buffer));
		if (!runs[i].buffer)
			return no_memory(settling->error);
		FS_TRY(fill(switches, &runs[i], settling->error));
	}
	for (;;) {
		find_smallest(runs, switches->run_count, &first, &second);
		if (!first)
			return let_go(settling);
		while (head(first) && (!head(second) || compare(head(first), head(second)) <= 0)) {
			FS_TRY(settle_one(settling, head(first)));
			first->at++;
			FS_TRY(fill(switches, first, settling->error));
		}
	}
}

static int merge_runs(struct settling *settling)
{
	struct fs_switches *switches = settling->switches;
	struct run *runs = calloc(switches->run_count, sizeof(*runs));
	int code = runs ? merge(settling, runs) : no_memory(settling->error);

	for (size_t i = 0; runs && i < switches->run_count; i++)
		free(runs[i].buffer);
	free(runs);
	return code;
}

int fs_switches_settle(struct fs_switches *switches, struct fs_error *error)
{
	struct settling settling = { .switches = switches, .error = error };

	if (switches->run_count) {
		FS_TRY(write_run(switches, error));
		FS_TRY(make_file(&switches->fd, error));
		FS_TRY(merge_runs(&settling));
		if (!fs_write_all(switches->fd, switches->block,
				  switches->block_count * sizeof(*switches->block)))
			return cannot_write(error);
		close(switches->runs_fd);
		switches->runs_fd = -1;
	} else {
		sort_pending(switches);
		for (size_t i = 0; i < switches->pending_count; i++)
			FS_TRY(settle_one(&settling, &switches->pending[i]));
		FS_TRY(let_go(&settling));
	}
	free(switches->pending);
	switches->pending = NULL;
	switches->pending_count = switches->pending_capacity = 0;
	switches->written = switches->block_first + switches->block_count;
	return 0;
}

/* ---- answering ---- */

/* A settled switch: of the block, or read alone. */
static int get(const struct fs_switches *switches, uint64_t index, struct fs_switch *ret_entry,
	       struct fs_error *error)
{
	uint64_t at = index - switches->block_first;

	if (index >= switches->block_first && at < switches->block_count) {
		*ret_entry = switches->block[at];
		return 0;
	}
	return read_back(switches->fd, ret_entry, sizeof(*ret_entry), index * sizeof(*ret_entry),
			 error);
}

/* Let the block begin at a switch. */
static int load_block(struct fs_switches *switches, uint64_t first, struct fs_error *error)
{
	uint64_t left = switches->written - first;

	switches->block_first = first;
	switches->block_count = left < switches->block_max ? (size_t)left : switches->block_max;
	return read_back(switches->fd, switches->block,
			 switches->block_count * sizeof(*switches->block),
			 first * sizeof(*switches->block), error);
}

/* Narrow [*low, *high) to what the block shows: the first switch after time_ns stays within. */
static void narrow(const struct fs_switches *switches, uint64_t time_ns, uint64_t *low,
		   uint64_t *high)
{
	uint64_t first = switches->block_first;
	uint64_t end = first + switches->block_count;

	first = first > *low ? first : *low;
	end = end < *high ? end : *high;
	if (first >= end)
		return;
	if (switches->block[first - switches->block_first].time_ns <= time_ns)
		*low = first;
	if (switches->block[end - 1 - switches->block_first].time_ns > time_ns)
		*high = end;
}

/* The last switch of a list at or before time_ns, and when the next one comes. */
static int find(struct fs_switches *switches, const struct list *list, uint64_t time_ns,
		bool *ret_found, struct fs_switch *ret_entry, uint64_t *ret_next_ns,
		struct fs_error *error)
{
	uint64_t end = list->first + list->count;
	uint64_t low = list->first;
	uint64_t high = end;
	struct fs_switch next = { .time_ns = UINT64_MAX };

	narrow(switches, time_ns, &low, &high);
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct fs_switch entry;

		FS_TRY(get(switches, middle, &entry, error));
		if (entry.time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_found = low > list->first;
	if (switches->fd >= 0 && *ret_found &&
	    (low - 1 < switches->block_first ||
	     low >= switches->block_first + switches->block_count))
		FS_TRY(load_block(switches, low - 1, error));
	if (*ret_found)
		FS_TRY(get(switches, low - 1, ret_entry, error));
	if (low < end)
		FS_TRY(get(switches, low, &next, error));
	*ret_next_ns = next.time_ns;
	return 0;
}

static int ask(struct fs_switches *switches, uint32_t cpu, uint64_t time_ns, struct fs_error *error)
{
	const struct fs_switch nobody = { .pid = FS_PID_UNKNOWN,
					  .tid = FS_PID_UNKNOWN,
					  .attribution = FS_ATTRIBUTION_NONE };

	switches->answer = nobody;
	switches->answer_cpu = cpu;
	switches->from_ns = 0;
	switches->to_ns = UINT64_MAX;
	for (unsigned int source = 0; source < FS_SWITCH_SOURCES; source++) {
		uint64_t key = (uint64_t)cpu << 8 | source;
		const struct list *list = fs_table_get(&switches->lists, &key);
		struct fs_switch entry;
		uint64_t next_ns;
		bool found;

		if (!list)
			continue;
		FS_TRY(find(switches, list, time_ns, &found, &entry, &next_ns, error));
		if (next_ns < switches->to_ns)
			switches->to_ns = next_ns;
		if (!found || (source == FS_SWITCH_ITRACE && switches->from_ns > entry.time_ns))
			continue;
		if (entry.time_ns > switches->from_ns)
			switches->from_ns = entry.time_ns;
		if (entry.tid != FS_PID_UNKNOWN) {
			switches->answer = entry;
			return 0;
		}
	}
	return 0;
}

int fs_switches_running(struct fs_switches *switches, uint32_t cpu, uint64_t time_ns,
			struct fs_switch *ret_switch, struct fs_error *error)
{
	bool known = switches->answer_cpu == cpu && time_ns >= switches->from_ns &&
		     time_ns < switches->to_ns;

	if (!known && ask(switches, cpu, time_ns, error)) {
		switches->to_ns = 0; /* an answer to nothing */
		return FS_REFUSED;
	}
	*ret_switch = switches->answer;
	return 0;
}
