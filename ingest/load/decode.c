/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: SAMPLE records and SPE records are both turned into a struct observation, and
 * add_observation() makes the row, resolves ids and feeds the roll-ups. That is the one place
 * where a sample becomes data.
 */
#include "ingest/load/decode.h"

#include <stdlib.h>
#include <string.h>

#include "common/vector.h"
#include "ingest/spe/operation.h"
#include "ingest/spe/spe.h"

enum {
	AUX_BUFFER = 1 << 20,
	THREAD_CACHE = 1 << 12,
	CODE_RECENT = 1 << 12,
	BRANCH_CALL_STACK = 1 << 11, /* of branch_sample_type */
	CHAIN_MAX = 1 << 13,	     /* more than a record of 64 KiB can hold */
	BREAKPOINT = 5,		     /* PERF_TYPE_BREAKPOINT */
	BREAKPOINT_READ = 1,
	BREAKPOINT_WRITE = 2,
};

/* Chain entries at or above this are context markers, PERF_CONTEXT_MAX. */
#define CHAIN_CONTEXT_FIRST ((uint64_t)-4095)
#define CHAIN_CONTEXT_KERNEL ((uint64_t)-128)
#define CHAIN_CONTEXT_HYPERVISOR ((uint64_t)-32)
#define CHAIN_CONTEXT_USER_DEFERRED ((uint64_t)-640) /* a cookie follows */
#define CHAIN_CONTEXT_GUEST_FIRST ((uint64_t)-2560)  /* guest, its kernel and its user */
#define CHAIN_CONTEXT_GUEST_LAST ((uint64_t)-2048)

struct thread_cache {
	uint32_t pid, tid;
	bool used;
	int64_t thread;
	uint64_t thread_from, thread_to;
	int64_t space;
	uint64_t space_from, space_to;
};

/* Where the AUX data of a CPU or thread ended. */
struct stream_end {
	uint64_t offset;    /* in the AUX stream */
	uint64_t timestamp; /* of its last record that has one */
	/* of a record that was cut off there, between two packets; see table spe_extra */
	uint64_t cut_events;
	uint32_t cut_operation;
	bool has_cut;
};

/* The walk over one AUXTRACE record's data. */
struct spe_state {
	struct fs_spe_decoder decoder;
	bool running;
	uint64_t buffer_offset; /* file offset of aux_buffer[0] */
	uint32_t cpu, tid;
	uint64_t time_ns; /* of the last record that has one; 0: none yet */
	uint64_t aux_offset;
	uint32_t event;
	const struct fs_memsrc_family *family;
	struct fs_blind *blind; /* of this CPU or thread; NULL: never, or not known */
	bool first_piece, last_piece;
	bool begins_inside; /* this data does not go on where the last of the CPU or thread ended */
	uint64_t seen_until; /* time stamp up to which an earlier snapshot had it all; 0: none */
	struct stream_end *end;
	struct fs_table ends; /* fs_blind_key() -> struct stream_end */
};

/* One sample, whatever it came from. */
struct observation {
	uint32_t event;
	uint64_t time_ns; /* 0: not known */
	uint32_t pid, tid;
	enum fs_attribution attribution;
	uint32_t cpu; /* FS_ROLLUP_NONE: not known */
	uint64_t ip;
	bool has_ip, kernel, exact;
	bool guest;		  /* code and data lie in memory of a virtual machine */
	bool foreign;		  /* in a guest or the hypervisor: addresses are not ours */
	uint64_t addr, phys_addr; /* 0: none */
	uint32_t access;
	uint32_t latency;
	uint64_t period;
	uint64_t raw, extra;
	bool has_raw, has_extra;
	const struct fs_sample *sample; /* chain and counter values; NULL: none */
};

int fs_batch_init(struct fs_batch *batch)
{
	*batch = (struct fs_batch){ 0 };
	batch->rows = malloc(FS_BATCH_ROWS * sizeof(*batch->rows));
	return batch->rows ? 0 : FS_NOMEM;
}

void fs_batch_free(struct fs_batch *batch)
{
	free(batch->rows);
	free(batch->reads);
	free(batch->raws);
	free(batch->json.bytes);
	free(batch->extras);
	*batch = (struct fs_batch){ 0 };
}

static int no_memory(const struct fs_decoder *decoder, struct fs_error *error)
{
	return fs_fail(error, FS_NOMEM, "%s: out of memory", decoder->session->file.path);
}

/* ---- threads and address spaces ---- */

static int find_thread(struct fs_decoder *decoder, uint32_t pid, uint32_t tid, uint64_t time_ns,
		       struct thread_cache **ret_entry)
{
	struct fs_threads *threads = &decoder->session->threads;
	struct thread_cache *entry = &decoder->threads[(tid * 0x9e3779b1u ^ pid) % THREAD_CACHE];

	*ret_entry = entry;
	if (entry->used && entry->pid == pid && entry->tid == tid &&
	    time_ns >= entry->thread_from && time_ns < entry->thread_to &&
	    time_ns >= entry->space_from && time_ns < entry->space_to)
		return 0;
	*entry = (struct thread_cache){ .used = true,
					.pid = pid,
					.tid = tid,
					.space = FS_UNKNOWN_SPACE,
					.space_to = UINT64_MAX };
	FS_TRY(fs_threads_find(threads, pid, tid, time_ns, &entry->thread, &entry->thread_from,
			       &entry->thread_to));
	pid = threads->threads[entry->thread].pid;
	if (pid == FS_PID_UNKNOWN)
		return 0;
	return fs_spaces_find(threads, pid, time_ns, &entry->space, &entry->space_from,
			      &entry->space_to);
}

/* ---- code addresses ---- */

struct code_cache_key {
	uint64_t ip;
	uint32_t space;
	uint32_t exact;
};
struct code_cache_value {
	uint64_t from, to;
	uint64_t code;
};
/* The last answer for addresses that hash alike, before the table is asked. */
struct code_recent {
	struct code_cache_key key;
	struct code_cache_value value; /* to 0: unused */
};
struct code_key {
	uint64_t offset; /* or ip where there is no DSO */
	uint32_t dso;	 /* + 1 */
	uint32_t exact;
};

static int make_code(struct fs_decoder *decoder, const struct code_cache_key *where, bool kernel,
		     const struct fs_map *map, uint64_t *ret_code)
{
	struct code_key key = { .offset = where->ip, .exact = where->exact };
	struct fs_code *code;
	uint32_t index;
	bool added;

	if (map) {
		key.dso = map->dso + 1;
		key.offset = where->ip - map->start + map->pgoff;
	}
	code = fs_table_put(&decoder->code_ids, &key, &index, &added);
	if (!code)
		return FS_NOMEM;
	if (added)
		*code = (struct fs_code){
			.dso = map ? (int64_t)map->dso : FS_NONE,
			.offset = key.offset,
			.ip = where->ip,
			.exact = where->exact,
			.kernel = kernel,
		};
	*ret_code = index;
	return 0;
}

static int find_code(struct fs_decoder *decoder, int64_t space, uint64_t ip, bool kernel,
		     bool exact, uint64_t time_ns, uint32_t *ret_code)
{
	const struct fs_session *session = decoder->session;
	uint64_t when = time_ns ? time_ns : UINT64_MAX - 1;
	struct code_cache_key key = {
		.ip = ip,
		.space = (uint32_t)(kernel ? FS_KERNEL_SPACE : space),
		.exact = exact,
	};
	struct code_recent *recent =
		&decoder->recent[(ip ^ ip >> 12 ^ key.space << 4) % CODE_RECENT];
	struct code_cache_value *known;
	bool added;
	int64_t map;

	if (recent->key.ip == ip && recent->key.space == key.space &&
	    recent->key.exact == key.exact && when >= recent->value.from &&
	    when < recent->value.to) {
		*ret_code = (uint32_t)recent->value.code;
		return 0;
	}
	known = fs_table_put(&decoder->code_cache, &key, NULL, &added);
	if (!known)
		return FS_NOMEM;
	if (added || when < known->from || when >= known->to) {
		map = fs_maps_find(&session->maps, &session->threads, key.space, ip, when,
				   &known->from, &known->to);
		FS_TRY(make_code(decoder, &key, kernel,
				 map == FS_NONE ? NULL : &session->maps.maps[map], &known->code));
	}
	*recent = (struct code_recent){ key, *known };
	*ret_code = (uint32_t)known->code;
	return 0;
}

int fs_decoder_find_code(struct fs_decoder *decoder, int64_t space, uint64_t ip, uint64_t time_ns,
			 int64_t *ret_code)
{
	uint32_t code;

	FS_TRY(find_code(decoder, space, ip, false, true, time_ns, &code));
	*ret_code = code;
	return 0;
}

/* Code addresses of a call chain and the spaces they are in, innermost first. */
struct chain_places {
	uint64_t ips[CHAIN_MAX];
	uint32_t spaces[CHAIN_MAX];
	size_t count;
};

static void add_place(struct chain_places *places, uint64_t ip, int64_t space)
{
	if (places->count == CHAIN_MAX)
		return;
	places->ips[places->count] = ip;
	places->spaces[places->count++] = (uint32_t)space;
}

/* Whether the user's part of the chain is in the branch stack: calls that did not return yet. */
static bool chain_in_branches(const struct fs_decoder *decoder, const struct observation *seen)
{
	return seen->sample->branch_count > 0 && !seen->foreign &&
	       decoder->session->file.events[seen->event].attr.branch_sample_type &
		       BRANCH_CALL_STACK;
}

/* The latest call went to the function that is running, or that entered the kernel. */
static void add_branches(struct chain_places *places, const struct observation *seen, int64_t space)
{
	const struct fs_sample *sample = seen->sample;

	if (seen->kernel)
		add_place(places, fs_sample_branch_to(sample, 0), space);
	for (size_t i = 0; i < sample->branch_count; i++)
		add_place(places, fs_sample_branch_from(sample, i), space);
}

/* The first entry repeats the sampled address and is left out. */
static void collect_chain(const struct fs_decoder *decoder, const struct observation *seen,
			  int64_t space, struct chain_places *places)
{
	const struct fs_sample *sample = seen->sample;
	bool in_kernel = seen->kernel; /* until a marker says otherwise */
	bool foreign = seen->foreign;
	bool branches = chain_in_branches(decoder, seen);
	bool leaf_seen = false;

	for (size_t i = 0; i < sample->chain_length; i++) {
		uint64_t ip = fs_sample_chain_entry(sample, i);

		if (ip >= CHAIN_CONTEXT_FIRST) {
			in_kernel = ip == CHAIN_CONTEXT_KERNEL;
			foreign =
				ip == CHAIN_CONTEXT_HYPERVISOR ||
				(ip >= CHAIN_CONTEXT_GUEST_FIRST && ip <= CHAIN_CONTEXT_GUEST_LAST);
			i += ip == CHAIN_CONTEXT_USER_DEFERRED;
			continue;
		}
		if (branches && !in_kernel && !foreign)
			break;
		/* the interrupt came later than the precise sample: that stack is another */
		if (seen->exact && in_kernel && !seen->kernel)
			continue;
		/* a precise sample's own address may be that of the instruction before */
		if (!places->count && !leaf_seen &&
		    (ip == seen->ip || (seen->exact && in_kernel == seen->kernel))) {
			leaf_seen = true;
			continue;
		}
		add_place(places, ip,
			  foreign     ? FS_UNKNOWN_SPACE
			  : in_kernel ? FS_KERNEL_SPACE
				      : space);
	}
	if (branches)
		add_branches(places, seen, space);
}

/* Intern a call chain, outermost caller first. */
static int find_chain(struct fs_decoder *decoder, const struct observation *seen, int64_t space,
		      int64_t *ret_chain)
{
	struct fs_chain node = { .parent = UINT32_MAX };
	struct chain_places places;
	size_t count;

	places.count = 0;
	collect_chain(decoder, seen, space, &places);
	count = places.count;
	*ret_chain = FS_NONE;
	while (count-- > 0) {
		uint32_t index;

		FS_TRY(find_code(decoder, places.spaces[count], places.ips[count],
				 places.spaces[count] == FS_KERNEL_SPACE, true, seen->time_ns,
				 &node.code));
		if (!fs_table_put(&decoder->chains, &node, &index, NULL))
			return FS_NOMEM;
		node.parent = index;
		*ret_chain = index;
	}
	return 0;
}

/* ---- roll-ups of samples that are no memory accesses ---- */

/* Sums end up in signed columns, and a file may make up its periods. */
static void add_up(uint64_t *sum, uint64_t more)
{
	*sum = more > INT64_MAX - *sum ? INT64_MAX : *sum + more;
}

static int add_profile(struct fs_decoder *decoder, uint32_t event, uint32_t code, uint32_t thread,
		       bool group_read, uint64_t value)
{
	struct fs_profile_key key = { event, code, thread, group_read };
	struct fs_profile_value *sums = fs_table_put(&decoder->profile, &key, NULL, NULL);

	if (!sums)
		return FS_NOMEM;
	sums->samples++;
	add_up(&sums->value, value);
	return 0;
}

/* Which counter a value was read from: by its own id, else, of a single one, by the sample's.
 * FS_NONE: that cannot be told. */
static int64_t counter_of(const struct fs_decoder *decoder, const struct observation *seen,
			  const struct fs_read_value *value, uint64_t *ret_id)
{
	const struct fs_attr *attr = &decoder->session->file.events[seen->event].attr;

	*ret_id = value->id;
	if (value->id)
		return fs_session_event_of_id(decoder->session, value->id);
	*ret_id = seen->sample->id;
	return attr->read_format & FS_READ_GROUP || !*ret_id ? FS_NONE : (int64_t)seen->event;
}

/* The event's times are the sum over its counters, each as last read. */
static void note_reading(struct fs_event_counts *counts, struct fs_last_reading *last,
			 const struct fs_read_value *value)
{
	if (value->time_enabled > last->enabled_ns && value->time_running >= last->running_ns) {
		add_up(&counts->enabled_ns, value->time_enabled - last->enabled_ns);
		add_up(&counts->running_ns, value->time_running - last->running_ns);
		last->enabled_ns = value->time_enabled;
		last->running_ns = value->time_running;
	}
	last->value = value->value;
}

/*
 * A counter value read with a sample. Its growth since its last reading is what the sample stands
 * for; the first reading counts from zero, as perf does it.
 */
static int add_read(struct fs_decoder *decoder, struct fs_batch *batch,
		    const struct observation *seen, const struct fs_read_value *value,
		    uint32_t code, uint32_t thread, bool *known)
{
	uint64_t format = decoder->session->file.events[seen->event].attr.read_format;
	struct fs_event_counts *counts;
	uint64_t id;
	int64_t event = counter_of(decoder, seen, value, &id);
	struct fs_last_reading *last;
	uint64_t before;

	if (event == FS_NONE) {
		decoder->unknown_counters++;
		return 0;
	}
	*known = true;
	last = fs_table_put(&decoder->read_values, &id, NULL, NULL);
	if (!last || FS_RESERVE(batch->reads, batch->read_capacity, batch->read_count + 1))
		return FS_NOMEM;
	before = last->value;
	note_reading(&decoder->event_counts[event], last, value);
	batch->reads[batch->read_count++] = (struct fs_read_row){
		.value = { decoder->bases.sample + (int64_t)decoder->rows,
			   decoder->bases.event + event, (int64_t)value->value,
			   (int64_t)(value->value - before), (int64_t)value->time_enabled,
			   (int64_t)value->time_running },
		/* a counter that has shrunk was reset at a time that is not known */
		.nulls = (value->value < before) << 3 | !(format & FS_READ_ENABLED) << 4 |
			 !(format & FS_READ_RUNNING) << 5,
	};
	if (value->value <= before)
		return 0;
	counts = &decoder->event_counts[event];
	if (event != (int64_t)seen->event) {
		counts->samples++;
		add_up(&counts->period_sum, value->value - before);
	}
	return add_profile(decoder, (uint32_t)event, code, thread, true, value->value - before);
}

/* *ret_known: whether any of the sample's values was of a known counter. */
static int add_reads(struct fs_decoder *decoder, struct fs_batch *batch,
		     const struct observation *seen, uint32_t code, uint32_t thread,
		     bool *ret_known)
{
	const struct fs_attr *attr = &decoder->session->file.events[seen->event].attr;
	struct fs_read_value value;
	size_t state = 0;

	*ret_known = false;
	if (!seen->sample)
		return 0;
	while (fs_sample_read_next(attr, seen->sample, &state, &value))
		FS_TRY(add_read(decoder, batch, seen, &value, code, thread, ret_known));
	return 0;
}

static int add_access(struct fs_decoder *decoder, const struct observation *seen, int64_t space,
		      uint32_t code, uint32_t thread, struct fs_error *error)
{
	struct fs_rollup_access access = {
		.addr = seen->addr,
		.time_ns = seen->time_ns,
		.phys_addr = seen->phys_addr,
		.space = (uint32_t)space,
		.code = code,
		.thread = thread,
		.event = seen->event,
		.cpu = seen->cpu,
		.latency = seen->latency,
		.period = seen->period < UINT32_MAX ? (uint32_t)seen->period : UINT32_MAX,
		.access = seen->access,
	};

	decoder->memory_samples++;
	decoder->session->threads.spaces[space].samples++;
	return fs_rollup_add(&decoder->rollup, &access, error);
}

/* ---- rows ---- */

static void set_column(struct fs_sample_row *row, enum fs_sample_column column, bool present,
		       int64_t value)
{
	row->value[column] = value;
	row->nulls |= (uint64_t)!present << column;
}

static void count_sample(struct fs_decoder *decoder, const struct observation *seen)
{
	struct fs_event_counts *counts = &decoder->event_counts[seen->event];

	counts->samples++;
	add_up(&counts->period_sum, seen->period);
	decoder->unknown_sources += fs_access_source(seen->access) == FS_SOURCE_UNKNOWN;
	if (!seen->time_ns)
		return;
	if (!decoder->first_ns || seen->time_ns < decoder->first_ns)
		decoder->first_ns = seen->time_ns;
	if (seen->time_ns > decoder->last_ns)
		decoder->last_ns = seen->time_ns;
}

/* What the ids of an observation are. */
struct resolved {
	uint32_t code, thread; /* FS_ROLLUP_NONE: not known */
	int64_t code_space, space, chain;
	bool elsewhere; /* the code was first seen at another address */
};

static int resolve(struct fs_decoder *decoder, const struct observation *seen,
		   struct resolved *ret_resolved)
{
	struct resolved resolved = { .code = FS_ROLLUP_NONE,
				     .thread = FS_ROLLUP_NONE,
				     .code_space = FS_UNKNOWN_SPACE,
				     .chain = FS_NONE };
	uint64_t when = seen->time_ns ? seen->time_ns : UINT64_MAX - 1;
	int64_t thread_space = FS_UNKNOWN_SPACE;

	if (seen->tid != FS_PID_UNKNOWN) {
		struct thread_cache *entry;

		FS_TRY(find_thread(decoder, seen->pid, seen->tid, when, &entry));
		resolved.thread = (uint32_t)entry->thread;
		thread_space = entry->space;
		if (!seen->foreign)
			resolved.code_space = thread_space;
		fs_threads_note_sample(&decoder->session->threads, entry->thread, seen->time_ns);
	} else {
		decoder->unattributed++;
	}
	resolved.space = seen->addr >> 63 && !seen->foreign ? FS_KERNEL_SPACE : resolved.code_space;
	if (seen->has_ip) {
		struct fs_code *code;

		FS_TRY(find_code(decoder, resolved.code_space, seen->ip, seen->kernel, seen->exact,
				 seen->time_ns, &resolved.code));
		code = fs_table_value(&decoder->code_ids, resolved.code);
		code->samples++;
		resolved.elsewhere = code->ip != seen->ip;
		if (code->dso == FS_NONE)
			decoder->unmapped++;
		else
			decoder->session->maps.dsos[code->dso].samples++;
	}
	if (seen->sample && (seen->sample->chain_length || chain_in_branches(decoder, seen)))
		FS_TRY(find_chain(decoder, seen, thread_space, &resolved.chain));
	*ret_resolved = resolved;
	return 0;
}

/* Remember of a code address whether only breakpoints of one length sampled it. */
static void note_watch(struct fs_decoder *decoder, const struct observation *seen, uint32_t code)
{
	const struct fs_attr *attr = &decoder->session->file.events[seen->event].attr;
	struct fs_code *known = fs_table_value(&decoder->code_ids, code);

	if (attr->type == BREAKPOINT && known->samples == 1 && attr->config2 <= 8)
		known->watch_length = (uint32_t)attr->config2;
	else if (attr->type != BREAKPOINT || known->watch_length != attr->config2)
		known->watch_length = 0;
}

static int add_observation(struct fs_decoder *decoder, struct fs_batch *batch,
			   const struct observation *seen, struct fs_error *error)
{
	const struct fs_id_bases *bases = &decoder->bases;
	struct fs_sample_row *row = &batch->rows[batch->count];
	struct resolved ids;
	bool has_addr = seen->addr != 0;
	bool has_reads;

	if (resolve(decoder, seen, &ids))
		return no_memory(decoder, error);
	row->nulls = 0;
	set_column(row, FS_COLUMN_EVENT, true, bases->event + seen->event);
	set_column(row, FS_COLUMN_TIME, seen->time_ns, (int64_t)seen->time_ns);
	set_column(row, FS_COLUMN_THREAD, ids.thread != FS_ROLLUP_NONE, bases->thread + ids.thread);
	set_column(row, FS_COLUMN_CPU, seen->cpu != FS_ROLLUP_NONE, seen->cpu);
	set_column(row, FS_COLUMN_CODE, ids.code != FS_ROLLUP_NONE, bases->code + ids.code);
	set_column(row, FS_COLUMN_CHAIN, ids.chain != FS_NONE, bases->chain + ids.chain);
	set_column(row, FS_COLUMN_SPACE, has_addr, bases->space + ids.space);
	set_column(row, FS_COLUMN_ADDR, has_addr, (int64_t)seen->addr);
	set_column(row, FS_COLUMN_PHYS_ADDR, seen->phys_addr, (int64_t)seen->phys_addr);
	set_column(row, FS_COLUMN_ACCESS, true,
		   seen->access | (uint32_t)seen->attribution << FS_ACCESS_ATTRIBUTION_SHIFT);
	set_column(row, FS_COLUMN_LATENCY, seen->latency, seen->latency);
	set_column(row, FS_COLUMN_PERIOD, seen->period, (int64_t)seen->period);
	set_column(row, FS_COLUMN_RAW, seen->has_raw, (int64_t)seen->raw);
	set_column(row, FS_COLUMN_EXTRA, seen->has_extra, (int64_t)seen->extra);
	set_column(row, FS_COLUMN_IP, ids.elsewhere, (int64_t)seen->ip);
	count_sample(decoder, seen);
	if (ids.code != FS_ROLLUP_NONE)
		note_watch(decoder, seen, ids.code);
	if (has_addr)
		FS_TRY(add_access(decoder, seen, ids.space, ids.code, ids.thread, error));
	if (add_reads(decoder, batch, seen, ids.code, ids.thread, &has_reads))
		return no_memory(decoder, error);
	if (!has_reads && !has_addr &&
	    add_profile(decoder, seen->event, ids.code, ids.thread, false, seen->period))
		return no_memory(decoder, error);
	batch->count++;
	decoder->rows++;
	return 0;
}

/* ---- SAMPLE records ---- */

/* Raw data of the sample whose row comes next. */
static int add_raw(struct fs_decoder *decoder, struct fs_batch *batch, uint32_t event,
		   const struct fs_sample *sample)
{
	const struct fs_tracepoint *tracepoint = decoder->tracepoint_of[event];
	struct fs_raw_row row = { .sample = decoder->bases.sample + (int64_t)decoder->rows,
				  .event = decoder->bases.event + event,
				  .first = batch->json.used };
	bool whole;

	FS_TRY(FS_RESERVE(batch->raws, batch->raw_capacity, batch->raw_count + 1));
	FS_TRY(fs_tracepoint_json(&decoder->session->tracepoints, tracepoint, sample->raw,
				  sample->raw_size, sample->swap, &batch->json, &whole));
	row.length = batch->json.used - row.first;
	batch->raws[batch->raw_count++] = row;
	decoder->undescribed_raw += !tracepoint;
	decoder->bad_raw += tracepoint && !whole;
	return 0;
}

/* What a breakpoint event says of the operation; its instruction may say more. */
static enum fs_op breakpoint_op(const struct fs_attr *attr)
{
	return attr->bp_type == BREAKPOINT_WRITE  ? FS_OP_STORE
	       : attr->bp_type == BREAKPOINT_READ ? FS_OP_LOAD
						  : FS_OP_UNKNOWN;
}

static enum fs_op named_op(const char *name)
{
	if (name && strstr(name, "mem-loads"))
		return FS_OP_LOAD;
	if (name && strstr(name, "mem-stores"))
		return FS_OP_STORE;
	return FS_OP_UNKNOWN;
}

/* A page size as its logarithm; 0: not told, or no power of two. */
static uint64_t page_shift(uint64_t size)
{
	return size && !(size & (size - 1)) ? (uint64_t)__builtin_ctzll(size) : 0;
}

static void observe_source(const struct fs_decoder *decoder, const struct fs_event *event,
			   const struct fs_sample *sample, struct observation *seen)
{
	uint64_t type = event->attr.sample_type;
	struct fs_memsrc source = { .source = FS_SOURCE_NONE };

	if (type & FS_SAMPLE_DATA_SRC) {
		source = fs_memsrc_from_data_src(sample->data_src, decoder->machine);
		seen->has_raw = true;
		seen->raw = sample->data_src;
	}
	if (event->attr.type == BREAKPOINT)
		source.op = breakpoint_op(&event->attr);
	else if (source.op == FS_OP_UNKNOWN)
		source.op = named_op(event->name);
	if (type & (FS_SAMPLE_WEIGHT | FS_SAMPLE_WEIGHT_STRUCT)) {
		struct fs_memsrc_weight weight =
			fs_memsrc_weight(sample->weight, type & FS_SAMPLE_WEIGHT_STRUCT);

		seen->latency = weight.latency < UINT32_MAX ? (uint32_t)weight.latency : UINT32_MAX;
		seen->extra = weight.instruction_latency | (uint32_t)weight.third << 16;
		source.flags |= weight.saturated ? FS_ACCESS_SATURATED : 0;
	}
	seen->extra |= page_shift(sample->data_page_size) << 32 | page_shift(sample->code_page_size)
									  << 40;
	seen->has_extra = seen->extra != 0;
	seen->access = fs_access_pack(source.op, source.source, source.certainty,
				      source.flags | (seen->exact ? FS_ACCESS_EXACT_IP : 0) |
					      (seen->kernel ? FS_ACCESS_KERNEL : 0) |
					      (seen->guest ? FS_ACCESS_GUEST : 0));
}

static uint32_t sample_cpu(const struct fs_decoder *decoder, const struct fs_event *event,
			   const struct fs_sample *sample)
{
	const struct fs_event_id *id;

	if (event->attr.sample_type & FS_SAMPLE_CPU)
		return sample->cpu < FS_CPUS_MAX ? sample->cpu : FS_ROLLUP_NONE;
	id = fs_table_get(&decoder->session->ids, &sample->id);
	return id && id->cpu >= 0 ? (uint32_t)id->cpu : FS_ROLLUP_NONE;
}

/*
 * perf's promise about order: at the end of round n + 1 no record up to the newest of round n is
 * to come. Nothing here rests on it, but a recording that breaks it has other readers confused.
 */
static void note_order(struct fs_decoder *decoder, uint64_t time_ns, uint64_t offset)
{
	if (time_ns < decoder->final_ns && time_ns && !decoder->out_of_order++)
		decoder->first_out_of_order = offset;
	if (time_ns > decoder->newest_ns && time_ns <= INT64_MAX)
		decoder->newest_ns = time_ns;
}

static void end_round(struct fs_decoder *decoder)
{
	decoder->final_ns = decoder->round_ns;
	decoder->round_ns = decoder->newest_ns;
}

static int add_sample(struct fs_decoder *decoder, struct fs_batch *batch,
		      const struct fs_record *record, struct fs_error *error)
{
	struct fs_session *session = decoder->session;
	const struct fs_event *event = fs_session_event(session, &record->payload);
	unsigned int mode = record->misc & FS_MISC_CPUMODE;
	struct observation seen = { .tid = FS_PID_UNKNOWN };
	enum fs_sample_result result;
	struct fs_sample sample;
	uint64_t type;

	decoder->sample_records++;
	if (!event || event == &session->file.events[session->file.event_count])
		fs_loss_add_numbered(&session->loss, FS_LOSS_UNKNOWN_ID, 1,
				     event ? 0 : record->size, record->offset, "record type",
				     record->type);
	if (!event) {
		fs_session_skip(session, record);
		return 0;
	}
	type = event->attr.sample_type;
	result = fs_sample_decode(&event->attr, &record->payload, &sample);
	if (result != FS_SAMPLE_WHOLE)
		fs_loss_add_numbered(&session->loss,
				     result == FS_SAMPLE_SHORT ? FS_LOSS_BAD_SAMPLE
							       : FS_LOSS_SAMPLE_TAIL,
				     1, result == FS_SAMPLE_SHORT ? record->size : 0,
				     record->offset, "event", event - session->file.events);
	if (result == FS_SAMPLE_SHORT) {
		fs_session_skip(session, record);
		return 0;
	}
	/* no SPE driver fills it, so it is a trace of instructions */
	if (sample.aux_size)
		fs_loss_add_numbered(&session->loss, FS_LOSS_AUXTRACE_UNSUPPORTED, 1,
				     sample.aux_size, record->offset, "event",
				     event - session->file.events);
	seen.event = (uint32_t)(event - session->file.events);
	seen.time_ns = type & FS_SAMPLE_TIME ? sample.time : 0;
	note_order(decoder, seen.time_ns, record->offset);
	if (type & FS_SAMPLE_TID && sample.tid != FS_PID_UNKNOWN) {
		seen.pid = sample.pid;
		seen.tid = sample.tid;
		seen.attribution = FS_ATTRIBUTION_RECORD;
	}
	seen.cpu = sample_cpu(decoder, event, &sample);
	seen.ip = sample.ip;
	seen.has_ip = type & FS_SAMPLE_IP;
	seen.kernel = mode == FS_MISC_KERNEL;
	seen.guest = mode == FS_MISC_GUEST_KERNEL || mode == FS_MISC_GUEST_USER;
	seen.foreign = seen.guest || mode == FS_MISC_HYPERVISOR;
	decoder->guest += seen.foreign;
	seen.exact = record->misc & FS_MISC_BIT14;
	seen.addr = type & FS_SAMPLE_ADDR ? sample.addr : 0;
	seen.phys_addr = sample.phys_addr;
	seen.period = sample.period;
	seen.sample = &sample;
	observe_source(decoder, event, &sample, &seen);
	if (sample.raw_size && add_raw(decoder, batch, seen.event, &sample))
		return no_memory(decoder, error);
	return add_observation(decoder, batch, &seen, error);
}

/* ---- SPE ---- */

static void note_spe_loss(struct fs_decoder *decoder, const struct fs_spe_loss *loss,
			  enum fs_loss_kind kind)
{
	const struct spe_state *spe = decoder->spe;
	uint64_t offset = spe->buffer_offset + loss->first;

	if (!loss->count)
		return;
	if (spe->cpu != UINT32_MAX)
		fs_loss_add_numbered(&decoder->session->loss, kind, loss->count, loss->bytes,
				     offset, "cpu", spe->cpu);
	else
		fs_loss_add_numbered(&decoder->session->loss, kind, loss->count, loss->bytes,
				     offset, "thread", spe->tid);
	if (spe->time_ns)
		fs_loss_add_time(&decoder->session->loss, kind, loss->count, spe->cpu, spe->time_ns,
				 spe->time_ns);
}

/* A snapshot begins anywhere: what is no packet there is the rest of an overwritten record. */
static bool begins_with_rest(const struct spe_state *spe)
{
	const struct fs_spe_loss *resync = &spe->decoder.resync;

	return spe->first_piece && spe->begins_inside && resync->count == 1 &&
	       resync->first < FS_SPE_RECORD_MAX && resync->bytes <= FS_SPE_RECORD_MAX;
}

/* perf takes the start of a record that was cut off for one of the next record of the CPU. */
static void keep_cut(struct spe_state *spe)
{
	uint32_t flags = 0;
	enum fs_op op = fs_spe_operation(&spe->decoder.cut, &flags);
	bool stores = op == FS_OP_STORE || (op == FS_OP_ATOMIC && flags & FS_ACCESS_STORE_SIDE);
	bool loads = !stores && (op == FS_OP_LOAD || op == FS_OP_ATOMIC);

	spe->end->cut_events = spe->decoder.cut.events & UINT32_MAX;
	spe->end->cut_operation = stores ? FS_OP_STORE : loads ? FS_OP_LOAD : FS_OP_UNKNOWN;
	spe->end->has_cut = true;
}

/* End of a piece of AUX data: account, and say how many bytes the next piece begins with. What is
 * longer than any record cannot become one. */
static size_t end_spe_piece(struct fs_decoder *decoder)
{
	struct spe_state *spe = decoder->spe;
	const struct fs_spe_loss *tail = &spe->decoder.tail;

	spe->running = false;
	note_spe_loss(decoder, &spe->decoder.resync,
		      begins_with_rest(spe) ? FS_LOSS_SPE_BEGINS : FS_LOSS_SPE_RESYNC);
	note_spe_loss(decoder, &spe->decoder.empty, FS_LOSS_SPE_EMPTY);
	note_spe_loss(decoder, &spe->decoder.reserved, FS_LOSS_SPE_RESERVED);
	if (!spe->last_piece && tail->bytes <= FS_SPE_RECORD_MAX)
		return tail->bytes;
	if (spe->last_piece && spe->decoder.is_cut)
		keep_cut(spe);
	note_spe_loss(decoder, tail, spe->last_piece ? FS_LOSS_SPE_TRUNCATED : FS_LOSS_SPE_RESYNC);
	return 0;
}

/* Read the next piece of the AUXTRACE record's data and start decoding it. */
static int next_spe_piece(struct fs_decoder *decoder, size_t carry, struct fs_error *error)
{
	struct spe_state *spe = decoder->spe;
	const struct fs_section *raw = &decoder->aux.raw;
	uint64_t left = raw->size - decoder->aux_done;
	size_t room = AUX_BUFFER - carry;
	size_t size = left < room ? (size_t)left : room;

	memmove(decoder->aux_buffer, decoder->aux_buffer + decoder->aux_used - carry, carry);
	FS_TRY(fs_perf_read(&decoder->session->file, raw->offset + decoder->aux_done,
			    decoder->aux_buffer + carry, size, error));
	spe->buffer_offset = raw->offset + decoder->aux_done - carry;
	spe->first_piece = !decoder->aux_done;
	decoder->aux_used = carry + size;
	decoder->aux_done += size;
	spe->last_piece = decoder->aux_done == raw->size;
	fs_spe_begin(&spe->decoder, decoder->aux_buffer, decoder->aux_used,
		     spe->aux_offset + (spe->buffer_offset - raw->offset));
	spe->running = true;
	return 0;
}

/* | u64 size, offset, reference | u32 idx, tid, cpu, reserved | */
static int begin_aux(struct fs_decoder *decoder, const struct fs_record *record,
		     struct fs_error *error)
{
	struct fs_session *session = decoder->session;
	struct spe_state *spe = decoder->spe;
	struct fs_reader payload = record->payload;
	uint64_t key;
	int64_t event;

	fs_read_u64(&payload);
	spe->aux_offset = fs_read_u64(&payload);
	spe->time_ns = 0;
	fs_read_u64(&payload);
	fs_read_u32(&payload);
	spe->tid = fs_read_u32(&payload);
	spe->cpu = fs_read_u32(&payload);
	if (payload.failed) {
		fs_session_skip(session, record);
		fs_loss_add_numbered(&session->loss, FS_LOSS_SHORT_RECORD, 1, record->size,
				     record->offset, "record type", record->type);
		return 0;
	}
	if (spe->cpu >= FS_CPUS_MAX)
		spe->cpu = UINT32_MAX;
	event = fs_session_spe_event(session, spe->cpu);
	if (event == FS_NONE) {
		fs_session_skip(session, record);
		fs_loss_add_numbered(&session->loss, FS_LOSS_AUXTRACE_UNSUPPORTED, 1,
				     record->raw.size, record->offset, "trace", -1);
		return 0;
	}
	spe->event = (uint32_t)event;
	key = fs_blind_key(spe->cpu == UINT32_MAX, spe->cpu == UINT32_MAX ? spe->tid : spe->cpu);
	spe->blind = fs_table_get(&session->blind, &key);
	spe->end = fs_table_put(&spe->ends, &key, NULL, NULL);
	if (!spe->end)
		return no_memory(decoder, error);
	spe->begins_inside = spe->aux_offset != spe->end->offset;
	spe->seen_until = session->spe.overwritten ? spe->end->timestamp : 0;
	spe->end->offset = spe->aux_offset + record->raw.size;
	spe->family = fs_session_spe_family(session, spe->cpu);
	decoder->aux = *record;
	decoder->aux_done = 0;
	decoder->aux_used = 0;
	return record->raw.size ? next_spe_piece(decoder, 0, error) : 0;
}

/*
 * The thread that the switches tell. A time stamp is rounded down to a tick of the timer, perhaps
 * to before the thread was switched in: user code, which idle never runs, is then that of the
 * thread that the tick ends with.
 */
static int attribute_by_switches(struct fs_decoder *decoder, const struct fs_spe_record *record,
				 struct observation *seen, struct fs_error *error)
{
	struct fs_session *session = decoder->session;
	uint32_t cpu = decoder->spe->cpu;
	struct fs_switch running;

	FS_TRY(fs_switches_running(&session->switches, cpu, seen->time_ns, &running, error));
	if ((running.tid == FS_PID_UNKNOWN || running.tid == 0) && !seen->kernel) {
		uint64_t next_ns = fs_clock_ns(&session->clock, record->timestamp + 1);
		struct fs_switch later = running;

		if (next_ns > seen->time_ns + 1)
			FS_TRY(fs_switches_running(&session->switches, cpu, next_ns - 1, &later,
						   error));
		if (later.tid != FS_PID_UNKNOWN)
			running = later;
	}
	seen->pid = running.pid;
	seen->tid = running.tid;
	seen->attribution = running.attribution;
	return 0;
}

static int attribute_spe(struct fs_decoder *decoder, const struct fs_spe_record *record,
			 struct observation *seen, struct fs_error *error)
{
	const struct spe_state *spe = decoder->spe;

	seen->pid = seen->tid = FS_PID_UNKNOWN;
	if (record->present & FS_SPE_HAS_CONTEXT && record->context) {
		seen->tid = record->context;
		seen->attribution = FS_ATTRIBUTION_CONTEXT;
		return 0;
	}
	if (spe->cpu != UINT32_MAX && seen->time_ns)
		return attribute_by_switches(decoder, record, seen, error);
	if (spe->tid != UINT32_MAX && spe->cpu == UINT32_MAX) {
		seen->tid = spe->tid;
		seen->attribution = FS_ATTRIBUTION_AUXTRACE;
	}
	return 0;
}

/* A CPU or thread is seen again at time_ns. Times in which the buffer was full once more are one.
 */
static void end_blind(struct fs_decoder *decoder, uint64_t key, struct fs_blind *blind,
		      uint64_t time_ns)
{
	uint64_t since_ns;

	if (blind->ended == blind->count || blind->since_ns[blind->ended] >= time_ns)
		return;
	since_ns = blind->since_ns[blind->ended];
	while (blind->ended < blind->count && blind->since_ns[blind->ended] < time_ns)
		blind->ended++;
	fs_loss_add(&decoder->session->loss, FS_LOSS_AUX_BLIND, time_ns - since_ns, 0, UINT64_MAX,
		    key >> 32 ? "thread %u" : "cpu %u", (uint32_t)key);
	fs_loss_add_time(&decoder->session->loss, FS_LOSS_AUX_BLIND, time_ns - since_ns,
			 key >> 32 ? UINT32_MAX : (uint32_t)key, since_ns, time_ns);
}

static void end_blind_here(struct fs_decoder *decoder, uint64_t time_ns)
{
	const struct spe_state *spe = decoder->spe;
	bool thread = spe->cpu == UINT32_MAX;

	end_blind(decoder, fs_blind_key(thread, thread ? spe->tid : spe->cpu), spe->blind, time_ns);
}

/* The columns `raw` and `extra`: schema/tables.def has the layout. What is usual is 0 and takes no
 * room: user code of the non-secure world, no tag, a thread from CONTEXTIDR_EL2. */
static void pack_spe(const struct fs_spe_record *record, struct observation *seen)
{
	enum { NS = FS_SPE_CODE_NS, CONTEXT_EL1 = 1, CONTEXT_ZERO = 2 };
	uint32_t has = record->present;
	uint64_t operation = (uint64_t)record->operation_class << 8 | record->operation_payload;
	uint64_t code = has & FS_SPE_HAS_PC ? (record->pc_attributes ^ NS) >> 4 : 0;
	uint64_t physical = has & FS_SPE_HAS_PA ? record->pa_attributes ^ NS : 0;
	uint64_t context = 0;

	if (has & FS_SPE_HAS_CONTEXT)
		context = (record->context_el == 1 ? CONTEXT_EL1 : 0) |
			  (record->context == 0 ? CONTEXT_ZERO : 0);
	seen->has_raw = true;
	seen->raw = (record->events & UINT32_MAX) |
		    (has & FS_SPE_HAS_DATA_SOURCE ? record->data_source + 1ull : 0) << 32 |
		    code << 49;
	seen->extra =
		(has & FS_SPE_HAS_ISSUE_LATENCY ? record->issue_latency + 1ull : 0) |
		(has & FS_SPE_HAS_TRANSLATION_LATENCY ? record->translation_latency + 1ull : 0)
			<< 17 |
		(has & FS_SPE_HAS_OPERATION ? operation + 1 : 0) << 34 |
		(uint64_t)record->va_tag << 45 | physical << 53 | context << 61;
	seen->has_extra = seen->extra != 0;
}

enum {
	SPE_EXTRA = FS_SPE_HAS_BRANCH_TARGET | FS_SPE_HAS_PREVIOUS_BRANCH_TARGET |
		    FS_SPE_HAS_ALTERNATE_LATENCY | FS_SPE_HAS_BOTH_CONTEXTS
};

/* What few records have goes into a table of its own. */
static int add_spe_extra(struct fs_decoder *decoder, struct fs_batch *batch,
			 const struct fs_spe_record *record)
{
	uint32_t has = record->present;
	uint64_t high_events = record->events >> 32;
	struct stream_end *end = decoder->spe->end;

	FS_TRY(FS_RESERVE(batch->extras, batch->extra_capacity, batch->extra_count + 1));
	batch->extras[batch->extra_count++] = (struct fs_spe_extra_row){
		.value = { decoder->bases.sample + (int64_t)decoder->rows,
			   decoder->bases.event + decoder->spe->event,
			   (int64_t)record->branch_target, (int64_t)record->previous_branch_target,
			   record->branch_attributes | record->previous_branch_attributes << 8,
			   (int64_t)high_events, record->alternate_latency, record->context_el1,
			   end->cut_operation, (int64_t)end->cut_events },
		.nulls = !(has & FS_SPE_HAS_BRANCH_TARGET) << 2 |
			 !(has & FS_SPE_HAS_PREVIOUS_BRANCH_TARGET) << 3 | !high_events << 5 |
			 !(has & FS_SPE_HAS_ALTERNATE_LATENCY) << 6 |
			 !(has & FS_SPE_HAS_BOTH_CONTEXTS) << 7 | (end->has_cut ? 0 : 3 << 8),
	};
	end->has_cut = false;
	return 0;
}

static int add_spe_record(struct fs_decoder *decoder, struct fs_batch *batch,
			  const struct fs_spe_record *record, struct fs_error *error)
{
	const struct fs_session *session = decoder->session;
	struct spe_state *spe = decoder->spe;
	uint32_t has = record->present;
	struct observation seen = { .event = spe->event, .exact = true };
	struct fs_memsrc source;
	uint32_t flags = 0;
	enum fs_op op = fs_spe_operation(record, &flags);

	decoder->spe_records++;
	source = fs_memsrc_from_spe(spe->family, has & FS_SPE_HAS_DATA_SOURCE, record->data_source,
				    record->events, op);
	seen.time_ns =
		has & FS_SPE_HAS_TIMESTAMP ? fs_clock_ns(&session->clock, record->timestamp) : 0;
	decoder->spe_no_time += !seen.time_ns;
	decoder->spe_no_source += spe->family && !(has & FS_SPE_HAS_DATA_SOURCE) &&
				  (op == FS_OP_LOAD || op == FS_OP_ATOMIC);
	spe->time_ns = seen.time_ns ? seen.time_ns : spe->time_ns;
	if (spe->blind)
		end_blind_here(decoder, seen.time_ns);
	seen.kernel = flags & FS_ACCESS_KERNEL;
	FS_TRY(attribute_spe(decoder, record, &seen, error));
	seen.cpu = spe->cpu == UINT32_MAX ? FS_ROLLUP_NONE : spe->cpu;
	seen.ip = record->pc;
	seen.has_ip = has & FS_SPE_HAS_PC;
	seen.addr = has & FS_SPE_HAS_VA ? record->virtual_address : 0;
	seen.phys_addr = has & FS_SPE_HAS_PA ? record->physical_address : 0;
	seen.access =
		fs_access_pack(source.op, source.source, source.certainty, flags | source.flags);
	seen.latency = has & FS_SPE_HAS_TOTAL_LATENCY ? record->total_latency : 0;
	seen.period = session->file.events[seen.event].attr.sample_period;
	pack_spe(record, &seen);
	if ((has & SPE_EXTRA || record->events >> 32 || spe->end->has_cut) &&
	    add_spe_extra(decoder, batch, record))
		return no_memory(decoder, error);
	return add_observation(decoder, batch, &seen, error);
}

/*
 * A buffer that has once been overwritten is recorded whole at every snapshot, with what of the
 * snapshot before is still in it. A CPU writes its records in order of time.
 */
static bool is_repeated(struct fs_decoder *decoder, const struct fs_spe_record *record)
{
	struct spe_state *spe = decoder->spe;

	if (!(record->present & FS_SPE_HAS_TIMESTAMP))
		return false;
	spe->end->timestamp = record->timestamp;
	if (record->timestamp > spe->seen_until)
		return false;
	decoder->spe_repeated += spe->seen_until != 0;
	return spe->seen_until;
}

/* Decode on in the current AUXTRACE record until the batch is full or the data ends. */
static int continue_aux(struct fs_decoder *decoder, struct fs_batch *batch, struct fs_error *error)
{
	struct spe_state *spe = decoder->spe;
	struct fs_spe_record record;

	while (spe->running) {
		size_t carry;

		while (batch->count < FS_BATCH_ROWS && fs_spe_next(&spe->decoder, &record))
			if (!is_repeated(decoder, &record))
				FS_TRY(add_spe_record(decoder, batch, &record, error));
		if (batch->count == FS_BATCH_ROWS)
			return 0;
		carry = end_spe_piece(decoder);
		if (!spe->last_piece)
			FS_TRY(next_spe_piece(decoder, carry, error));
	}
	return 0;
}

/* ---- the walk ---- */

static enum fs_memsrc_machine machine_of(const struct fs_host *host)
{
	if (host->arch && !strcmp(host->arch, "aarch64"))
		return FS_MEMSRC_ARM;
	if (host->arch && !strncmp(host->arch, "ppc", 3))
		return FS_MEMSRC_POWER;
	if (host->cpuid && !strncmp(host->cpuid, "GenuineIntel", 12))
		return FS_MEMSRC_INTEL;
	if (host->cpuid && (!strncmp(host->cpuid, "AuthenticAMD", 12) ||
			    !strncmp(host->cpuid, "HygonGenuine", 12)))
		return FS_MEMSRC_AMD;
	return FS_MEMSRC_GENERIC;
}

int fs_decoder_open(struct fs_decoder *decoder, struct fs_session *session,
		    const struct fs_id_bases *bases, struct fs_error *error)
{
	*decoder = (struct fs_decoder){ .session = session, .bases = *bases };
	fs_table_init(&decoder->code_cache, sizeof(struct code_cache_key),
		      sizeof(struct code_cache_value));
	fs_table_init(&decoder->code_ids, sizeof(struct code_key), sizeof(struct fs_code));
	fs_table_init(&decoder->chains, sizeof(struct fs_chain), 0);
	fs_table_init(&decoder->profile, sizeof(struct fs_profile_key),
		      sizeof(struct fs_profile_value));
	fs_table_init(&decoder->read_values, 8, sizeof(struct fs_last_reading));
	decoder->machine = machine_of(&session->host);
	decoder->event_counts =
		calloc(session->file.event_count + 1, sizeof(*decoder->event_counts));
	decoder->tracepoint_of =
		calloc(session->file.event_count + 1, sizeof(struct fs_tracepoint *));
	decoder->threads = calloc(THREAD_CACHE, sizeof(*decoder->threads));
	decoder->recent = calloc(CODE_RECENT, sizeof(*decoder->recent));
	decoder->spe = calloc(1, sizeof(*decoder->spe));
	if (decoder->spe)
		fs_table_init(&decoder->spe->ends, sizeof(uint64_t), sizeof(struct stream_end));
	decoder->aux_buffer = malloc(AUX_BUFFER);
	if (fs_rollup_init(&decoder->rollup) || !decoder->event_counts || !decoder->tracepoint_of ||
	    !decoder->threads || !decoder->recent || !decoder->spe || !decoder->aux_buffer)
		return no_memory(decoder, error);
	for (size_t i = 0; i < session->file.event_count; i++) {
		const struct fs_attr *attr = &session->file.events[i].attr;

		if (attr->type == FS_ATTR_TRACEPOINT)
			decoder->tracepoint_of[i] =
				fs_tracepoint_find(&session->tracepoints, attr->config);
	}
	FS_TRY(fs_cursor_open(&decoder->cursor, &session->file, error));
	decoder->cursor_open = true;
	return 0;
}

void fs_decoder_close(struct fs_decoder *decoder)
{
	if (!decoder->session) /* never opened */
		return;
	if (decoder->cursor_open)
		fs_cursor_close(&decoder->cursor);
	fs_rollup_free(&decoder->rollup);
	fs_table_free(&decoder->code_cache);
	fs_table_free(&decoder->code_ids);
	fs_table_free(&decoder->chains);
	fs_table_free(&decoder->profile);
	fs_table_free(&decoder->read_values);
	free(decoder->event_counts);
	free(decoder->tracepoint_of);
	free(decoder->threads);
	free(decoder->recent);
	if (decoder->spe)
		fs_table_free(&decoder->spe->ends);
	free(decoder->spe);
	free(decoder->aux_buffer);
	*decoder = (struct fs_decoder){ 0 };
}

/* What was only counted on the way. */
static void note_losses(struct fs_decoder *decoder)
{
	struct fs_loss *loss = &decoder->session->loss;
	static const char scope[] = "samples";

	for (size_t i = 0; i < decoder->session->blind.count; i++) {
		uint64_t key = *(const uint64_t *)fs_table_key(&decoder->session->blind, i);

		if (key >> 32 == decoder->session->spe.per_thread)
			end_blind(decoder, key, fs_table_value(&decoder->session->blind, i),
				  decoder->last_ns);
	}
	if (decoder->out_of_order)
		fs_loss_add(loss, FS_LOSS_OUT_OF_ORDER, decoder->out_of_order, 0,
			    decoder->first_out_of_order, scope);
	if (decoder->unmapped)
		fs_loss_add(loss, FS_LOSS_UNMAPPED_CODE, decoder->unmapped, 0, UINT64_MAX, scope);
	if (decoder->guest)
		fs_loss_add(loss, FS_LOSS_GUEST_CODE, decoder->guest, 0, UINT64_MAX, scope);
	if (decoder->unattributed)
		fs_loss_add(loss, FS_LOSS_UNATTRIBUTED, decoder->unattributed, 0, UINT64_MAX,
			    scope);
	if (decoder->unknown_sources)
		fs_loss_add(loss, FS_LOSS_UNKNOWN_SOURCE, decoder->unknown_sources, 0, UINT64_MAX,
			    scope);
	if (decoder->unknown_counters)
		fs_loss_add(loss, FS_LOSS_UNKNOWN_COUNTER, decoder->unknown_counters, 0, UINT64_MAX,
			    scope);
	if (decoder->undescribed_raw)
		fs_loss_add(loss, FS_LOSS_UNDESCRIBED_RAW, decoder->undescribed_raw, 0, UINT64_MAX,
			    scope);
	if (decoder->bad_raw)
		fs_loss_add(loss, FS_LOSS_BAD_RAW, decoder->bad_raw, 0, UINT64_MAX, scope);
	if (decoder->spe_no_source)
		fs_loss_add(loss, FS_LOSS_SPE_NO_SOURCE, decoder->spe_no_source, 0, UINT64_MAX,
			    scope);
	if (decoder->spe_repeated)
		fs_loss_add(loss, FS_LOSS_SPE_REPEATED, decoder->spe_repeated, 0, UINT64_MAX,
			    scope);
	if (decoder->spe_no_time)
		fs_loss_add(loss, FS_LOSS_SPE_NO_TIME, decoder->spe_no_time, 0, UINT64_MAX, scope);
}

int fs_decoder_next(struct fs_decoder *decoder, struct fs_batch *batch, bool *ret_more,
		    struct fs_error *error)
{
	batch->count = batch->read_count = batch->raw_count = batch->extra_count = 0;
	batch->json.used = 0;
	FS_TRY(continue_aux(decoder, batch, error));
	while (batch->count < FS_BATCH_ROWS && batch->read_count < FS_BATCH_READS &&
	       batch->json.used < FS_BATCH_TEXT && !decoder->finished) {
		struct fs_record record;
		bool more;

		FS_TRY(fs_cursor_next(&decoder->cursor, &record, &more, NULL, error));
		if (!more) {
			decoder->finished = true;
			note_losses(decoder);
			/* of no further use, while summing up needs room */
			fs_table_free(&decoder->code_cache);
			fs_table_free(&decoder->read_values);
		} else if (record.type == FS_RECORD_SAMPLE) {
			FS_TRY(add_sample(decoder, batch, &record, error));
		} else if (record.type == FS_RECORD_FINISHED_ROUND) {
			end_round(decoder);
		} else if (record.type == FS_RECORD_AUXTRACE) {
			FS_TRY(begin_aux(decoder, &record, error));
			FS_TRY(continue_aux(decoder, batch, error));
		}
	}
	batch->file_offset = decoder->cursor.position;
	*ret_more = batch->count > 0;
	return 0;
}
