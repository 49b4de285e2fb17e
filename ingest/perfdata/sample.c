/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: each sample is read field by field in the kernel's order, all through the
 * bounds-checked reader, which is asked once at the end whether everything was there.
 */
#include "ingest/perfdata/sample.h"

#include <perf/event.h>
#include <stddef.h>

enum {
	BRANCH_HW_INDEX = 1 << 17,
	BRANCH_COUNTERS = 1 << 19,
};

/* The layouts this file and the session rely on, as libperf states them. */
_Static_assert((int)PERF_RECORD_SAMPLE == (int)FS_RECORD_SAMPLE, "record types");
_Static_assert((int)PERF_RECORD_MMAP2 == (int)FS_RECORD_MMAP2, "record types");
_Static_assert((int)PERF_RECORD_AUXTRACE == (int)FS_RECORD_AUXTRACE, "record types");
_Static_assert((int)PERF_RECORD_TIME_CONV == (int)FS_RECORD_TIME_CONV, "record types");
_Static_assert((int)PERF_SAMPLE_WEIGHT_STRUCT == (int)FS_SAMPLE_WEIGHT_STRUCT, "sample bits");
_Static_assert((int)PERF_SAMPLE_PHYS_ADDR == (int)FS_SAMPLE_PHYS_ADDR, "sample bits");
_Static_assert(sizeof(struct perf_record_auxtrace) == 48, "AUXTRACE");
_Static_assert(offsetof(struct perf_record_mmap2, filename) == 72, "MMAP2");
_Static_assert(offsetof(struct perf_record_mmap, filename) == 40, "MMAP");
_Static_assert(sizeof(struct perf_record_fork) == 32, "FORK");
_Static_assert(sizeof(struct perf_record_aux) == 32, "AUX");

static void skip_read(struct fs_reader *reader, uint64_t format)
{
	uint64_t per_value = 8 + (format & FS_READ_ID ? 8 : 0) + (format & FS_READ_LOST ? 8 : 0);
	uint64_t times = (format & FS_READ_ENABLED ? 8 : 0) + (format & FS_READ_RUNNING ? 8 : 0);
	uint64_t count = format & FS_READ_GROUP ? fs_read_u64(reader) : 1;

	if (count > fs_reader_left(reader) / 8)
		reader->failed = true;
	else
		fs_read_bytes(reader, (size_t)(times + count * per_value));
}

bool fs_sample_read_next(const struct fs_attr *attr, const struct fs_sample *sample, size_t *state,
			 struct fs_read_value *ret_value)
{
	struct fs_reader reader = { .data = sample->read,
				    .size = sample->read_size,
				    .swap = sample->swap };
	uint64_t format = attr->read_format;
	bool group = format & FS_READ_GROUP;
	uint64_t count = group ? fs_read_u64(&reader) : 1;
	size_t per_value = 8 + (format & FS_READ_ID ? 8 : 0) + (format & FS_READ_LOST ? 8 : 0);

	if (!sample->read || *state >= count)
		return false;
	*ret_value = (struct fs_read_value){ 0 };
	if (!group)
		ret_value->value = fs_read_u64(&reader);
	if (format & FS_READ_ENABLED)
		ret_value->time_enabled = fs_read_u64(&reader);
	if (format & FS_READ_RUNNING)
		ret_value->time_running = fs_read_u64(&reader);
	if (group) {
		fs_read_bytes(&reader, *state * per_value);
		ret_value->value = fs_read_u64(&reader);
	}
	if (format & FS_READ_ID)
		ret_value->id = fs_read_u64(&reader);
	++*state;
	return !reader.failed;
}

static void read_chain(struct fs_reader *reader, struct fs_sample *sample)
{
	uint64_t length = fs_read_u64(reader);

	if (length > fs_reader_left(reader) / 8) {
		reader->failed = true;
		return;
	}
	sample->chain = fs_read_bytes(reader, (size_t)length * 8);
	sample->chain_length = (size_t)length;
}

/*
 * | u64 nr | [u64 hw_idx] | nr * {from, to, flags} | [nr * u64 counters] |
 *
 * A kernel without branch data writes nr = 0 and no hw_idx, although the bit asks for one;
 * `index_when_empty` says which of the two to take.
 */
static void read_branches(struct fs_reader *reader, uint64_t branch_type, bool index_when_empty,
			  struct fs_sample *sample)
{
	uint64_t count = fs_read_u64(reader);
	uint64_t entry = 24 + (branch_type & BRANCH_COUNTERS ? 8 : 0);

	if (branch_type & BRANCH_HW_INDEX && (count || index_when_empty))
		fs_read_u64(reader);
	if (count > fs_reader_left(reader) / 24) {
		reader->failed = true;
		return;
	}
	sample->branches = fs_read_bytes(reader, (size_t)(count * entry));
	sample->branch_count = sample->branches ? (size_t)count : 0;
}

static void skip_registers(struct fs_reader *reader, uint64_t mask)
{
	if (fs_read_u64(reader)) /* abi */
		fs_read_bytes(reader, 8 * (size_t)__builtin_popcountll(mask));
}

static void skip_stack(struct fs_reader *reader)
{
	uint64_t size = fs_read_u64(reader);

	if (!size)
		return;
	if (size > fs_reader_left(reader))
		reader->failed = true;
	else
		fs_read_bytes(reader, (size_t)size);
	fs_read_u64(reader); /* dyn_size */
}

static void skip_sized(struct fs_reader *reader, uint64_t size)
{
	if (size > fs_reader_left(reader))
		reader->failed = true;
	else
		fs_read_bytes(reader, (size_t)size);
}

/* Fields before PERIOD and PERIOD itself; every attr has them in this order. */
static void read_head(const struct fs_attr *attr, struct fs_reader *reader,
		      struct fs_sample *sample)
{
	uint64_t type = attr->sample_type;

	if (type & FS_SAMPLE_IDENTIFIER)
		sample->id = fs_read_u64(reader);
	if (type & FS_SAMPLE_IP)
		sample->ip = fs_read_u64(reader);
	if (type & FS_SAMPLE_TID) {
		sample->pid = fs_read_u32(reader);
		sample->tid = fs_read_u32(reader);
	}
	if (type & FS_SAMPLE_TIME)
		sample->time = fs_read_u64(reader);
	if (type & FS_SAMPLE_ADDR)
		sample->addr = fs_read_u64(reader);
	if (type & FS_SAMPLE_ID)
		sample->id = fs_read_u64(reader);
	if (type & FS_SAMPLE_STREAM_ID)
		fs_read_u64(reader);
	if (type & FS_SAMPLE_CPU) {
		sample->cpu = fs_read_u32(reader);
		fs_read_u32(reader);
	}
	sample->period = type & FS_SAMPLE_PERIOD      ? fs_read_u64(reader)
			 : attr->flags & FS_ATTR_FREQ ? 0
						      : attr->sample_period;
}

static void read_variable(const struct fs_attr *attr, struct fs_reader *reader,
			  bool index_when_empty, struct fs_sample *sample)
{
	uint64_t type = attr->sample_type;

	if (type & FS_SAMPLE_READ) {
		size_t start = reader->offset;

		skip_read(reader, attr->read_format);
		sample->read = reader->data + start;
		sample->read_size = reader->offset - start;
	}
	if (type & FS_SAMPLE_CALLCHAIN)
		read_chain(reader, sample);
	if (type & FS_SAMPLE_RAW) {
		uint32_t size = fs_read_u32(reader);

		sample->raw = fs_read_bytes(reader, size);
		sample->raw_size = sample->raw ? size : 0;
	}
	if (type & FS_SAMPLE_BRANCH_STACK)
		read_branches(reader, attr->branch_sample_type, index_when_empty, sample);
	if (type & FS_SAMPLE_REGS_USER)
		skip_registers(reader, attr->sample_regs_user);
	if (type & FS_SAMPLE_STACK_USER)
		skip_stack(reader);
}

static void read_memory(const struct fs_attr *attr, struct fs_reader *reader,
			struct fs_sample *sample)
{
	uint64_t type = attr->sample_type;

	if (type & (FS_SAMPLE_WEIGHT | FS_SAMPLE_WEIGHT_STRUCT))
		sample->weight = fs_read_u64(reader);
	if (type & FS_SAMPLE_DATA_SRC)
		sample->data_src = fs_read_u64(reader);
	if (type & FS_SAMPLE_TRANSACTION)
		fs_read_u64(reader);
	if (type & FS_SAMPLE_REGS_INTR)
		skip_registers(reader, attr->sample_regs_intr);
	if (type & FS_SAMPLE_PHYS_ADDR)
		sample->phys_addr = fs_read_u64(reader);
	if (type & FS_SAMPLE_CGROUP)
		fs_read_u64(reader);
	if (type & FS_SAMPLE_DATA_PAGE_SIZE)
		sample->data_page_size = fs_read_u64(reader);
	if (type & FS_SAMPLE_CODE_PAGE_SIZE)
		sample->code_page_size = fs_read_u64(reader);
	if (type & FS_SAMPLE_AUX) {
		sample->aux_size = fs_read_u64(reader);
		skip_sized(reader, sample->aux_size);
	}
}

static enum fs_sample_result decode(const struct fs_attr *attr, const struct fs_reader *payload,
				    bool index_when_empty, struct fs_sample *ret_sample)
{
	struct fs_reader reader = *payload;

	*ret_sample = (struct fs_sample){ .swap = payload->swap };
	read_head(attr, &reader, ret_sample);
	if (!(attr->sample_type & ~(uint64_t)FS_SAMPLE_KNOWN)) {
		read_variable(attr, &reader, index_when_empty, ret_sample);
		read_memory(attr, &reader, ret_sample);
	}
	if (reader.failed)
		return FS_SAMPLE_SHORT;
	return reader.offset == reader.size ? FS_SAMPLE_WHOLE : FS_SAMPLE_TAIL;
}

enum fs_sample_result fs_sample_decode(const struct fs_attr *attr, const struct fs_reader *payload,
				       struct fs_sample *ret_sample)
{
	enum fs_sample_result result = decode(attr, payload, true, ret_sample);
	enum fs_sample_result other_result;
	struct fs_sample other;

	if (result == FS_SAMPLE_WHOLE || !(attr->branch_sample_type & BRANCH_HW_INDEX))
		return result;
	other_result = decode(attr, payload, false, &other);
	if (other_result < result) {
		*ret_sample = other;
		return other_result;
	}
	return result;
}

void fs_sample_id_take(const struct fs_attr *attr, struct fs_reader *payload,
		       struct fs_sample_id *ret_id)
{
	uint64_t type = attr->sample_type;
	size_t words = (size_t)__builtin_popcountll(type & (FS_SAMPLE_TID | FS_SAMPLE_TIME |
							    FS_SAMPLE_ID | FS_SAMPLE_STREAM_ID |
							    FS_SAMPLE_CPU | FS_SAMPLE_IDENTIFIER));
	struct fs_reader reader;

	*ret_id = (struct fs_sample_id){ 0 };
	if (!(attr->flags & FS_ATTR_SAMPLE_ID_ALL) || payload->size < 8 * words)
		return;
	payload->size -= 8 * words;
	reader = fs_reader_like(payload, payload->data + payload->size, 8 * words);
	if (type & FS_SAMPLE_TID) {
		ret_id->pid = fs_read_u32(&reader);
		ret_id->tid = fs_read_u32(&reader);
	}
	if (type & FS_SAMPLE_TIME)
		ret_id->time = fs_read_u64(&reader);
	if (type & FS_SAMPLE_ID)
		ret_id->id = fs_read_u64(&reader);
	if (type & FS_SAMPLE_STREAM_ID)
		fs_read_u64(&reader);
	if (type & FS_SAMPLE_CPU) {
		ret_id->cpu = fs_read_u32(&reader);
		fs_read_u32(&reader);
	}
	if (type & FS_SAMPLE_IDENTIFIER)
		ret_id->id = fs_read_u64(&reader);
	ret_id->has_tid = type & FS_SAMPLE_TID;
	ret_id->has_time = type & FS_SAMPLE_TIME;
	ret_id->has_cpu = type & FS_SAMPLE_CPU;
	ret_id->has_id = type & (FS_SAMPLE_ID | FS_SAMPLE_IDENTIFIER);
}

int fs_sample_id_position(const struct fs_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (type & FS_SAMPLE_IDENTIFIER)
		return 0;
	if (!(type & FS_SAMPLE_ID))
		return -1;
	return 8 * __builtin_popcountll(
			   type & (FS_SAMPLE_IP | FS_SAMPLE_TID | FS_SAMPLE_TIME | FS_SAMPLE_ADDR));
}
