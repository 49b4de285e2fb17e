/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PERF_RECORD_SAMPLE and the sample_id trailer of other records, as the kernel's
 * perf_output_sample() and perf_event__output_id_sample() write them.
 */
#ifndef FS_PERFDATA_SAMPLE_H
#define FS_PERFDATA_SAMPLE_H

#include "ingest/perfdata/perf_file.h"

/*
 * A decoded sample. Which fields are there is told by attr.sample_type; the others are zero.
 * Pointers reach into the record.
 */
struct fs_sample {
	uint64_t id; /* IDENTIFIER or ID */
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t addr;
	uint32_t cpu;
	uint64_t period;
	const uint8_t *read; /* READ values, see fs_sample_read_next() */
	size_t read_size;
	const uint8_t *chain; /* chain_length u64 */
	size_t chain_length;
	const uint8_t *branches; /* branch_count times {u64 from, to, flags}, the latest first */
	size_t branch_count;
	const uint8_t *raw;
	size_t raw_size;
	uint64_t weight;
	uint64_t data_src;
	uint64_t phys_addr;
	uint64_t data_page_size;
	uint64_t code_page_size;
	uint64_t aux_size; /* bytes of AUX data in it, which are not decoded */
	bool swap;	   /* `read`, `chain` and `branches` are in the other byte order */
};

/* From best to worst. */
enum fs_sample_result {
	FS_SAMPLE_WHOLE, /* every byte belongs to a field */
	FS_SAMPLE_TAIL,	 /* all fields are there, bytes are left over */
	FS_SAMPLE_SHORT, /* fields are missing: do not use it */
};

/* Decode the payload of a SAMPLE record of an event. *payload itself is not moved. */
enum fs_sample_result fs_sample_decode(const struct fs_attr *attr, const struct fs_reader *payload,
				       struct fs_sample *ret_sample);

static inline uint64_t fs_sample_word(const struct fs_sample *sample, const uint8_t *words,
				      size_t i)
{
	uint64_t word;

	memcpy(&word, words + 8 * i, 8);
	return sample->swap ? __builtin_bswap64(word) : word;
}

/* Entry i of the call chain. */
static inline uint64_t fs_sample_chain_entry(const struct fs_sample *sample, size_t i)
{
	return fs_sample_word(sample, sample->chain, i);
}

/* Where branch i came from and where it went. */
static inline uint64_t fs_sample_branch_from(const struct fs_sample *sample, size_t i)
{
	return fs_sample_word(sample, sample->branches, 3 * i);
}

static inline uint64_t fs_sample_branch_to(const struct fs_sample *sample, size_t i)
{
	return fs_sample_word(sample, sample->branches, 3 * i + 1);
}

/* One counter value of PERF_SAMPLE_READ. */
struct fs_read_value {
	uint64_t value;
	uint64_t id; /* 0: the format has none */
	uint64_t time_enabled;
	uint64_t time_running;
};

/*
 * Walk the counter values of a sample: *state starts at 0. Returns false at the end. Values
 * without FS_READ_ID have id 0 and come in the order of the group.
 */
bool fs_sample_read_next(const struct fs_attr *attr, const struct fs_sample *sample, size_t *state,
			 struct fs_read_value *ret_value);

/* The identification at the end of records other than SAMPLE (attr.sample_id_all). */
struct fs_sample_id {
	bool has_tid, has_time, has_id, has_cpu;
	uint32_t pid, tid;
	uint64_t time, id;
	uint32_t cpu;
};

/* Parse the trailer from the end of a record's payload and cut it off there. A record without
 * one, or too short for it, gives an id with nothing set. */
void fs_sample_id_take(const struct fs_attr *attr, struct fs_reader *payload,
		       struct fs_sample_id *ret_id);

/* Where the id stands in a SAMPLE payload (in bytes from its start); -1: it has none. */
int fs_sample_id_position(const struct fs_attr *attr);

#endif
