/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pass two: SAMPLE records and AUX data to batches of rows, in file order.
 *
 * The decoder knows nothing of SQLite. It resolves code addresses, threads and address spaces
 * through the session's timelines (cached, so that a lookup is paid once per code address and
 * not per sample), feeds the roll-ups, and hands out batches.
 */
#ifndef FS_LOAD_DECODE_H
#define FS_LOAD_DECODE_H

#include "common/rollup.h"
#include "ingest/load/rollup_rows.h"
#include "ingest/memsrc/memsrc.h"
#include "ingest/session/session.h"

enum {
	FS_BATCH_ROWS = 1 << 14,
	FS_BATCH_READS = 1 << 17, /* a batch ends after so many counter values */
	FS_BATCH_TEXT = 1 << 21,  /* or after so many bytes of raw data as JSON */
	FS_SAMPLE_COLUMNS = 15,
	FS_READ_COLUMNS = 6,
	FS_SPE_EXTRA_COLUMNS = 10,
};

/* The columns of table `sample`, in its order. */
enum fs_sample_column {
	FS_COLUMN_EVENT,
	FS_COLUMN_TIME,
	FS_COLUMN_THREAD,
	FS_COLUMN_CPU,
	FS_COLUMN_CODE,
	FS_COLUMN_CHAIN,
	FS_COLUMN_SPACE,
	FS_COLUMN_ADDR,
	FS_COLUMN_PHYS_ADDR,
	FS_COLUMN_ACCESS,
	FS_COLUMN_LATENCY,
	FS_COLUMN_PERIOD,
	FS_COLUMN_RAW,
	FS_COLUMN_EXTRA,
	FS_COLUMN_IP,
};

/* A row of integers; bit i of nulls: column i is NULL. */
struct fs_sample_row {
	int64_t value[FS_SAMPLE_COLUMNS];
	uint64_t nulls;
};

/* The columns of table `sample_read`, in its order. */
struct fs_read_row {
	int64_t value[FS_READ_COLUMNS];
	uint64_t nulls;
};

/* A row of table `sample_raw`; its text is a part of the batch's. */
struct fs_raw_row {
	int64_t sample, event;
	size_t first, length;
};

/* The columns of table `spe_extra`, in its order. */
struct fs_spe_extra_row {
	int64_t value[FS_SPE_EXTRA_COLUMNS];
	uint64_t nulls;
};

struct fs_batch {
	struct fs_sample_row *rows; /* FS_BATCH_ROWS */
	size_t count;
	struct fs_spe_extra_row *extras;
	size_t extra_count, extra_capacity;
	struct fs_read_row *reads;
	size_t read_count, read_capacity;
	struct fs_raw_row *raws;
	size_t raw_count, raw_capacity;
	struct fs_json json;
	uint64_t file_offset; /* how far in the input the decoder was */
};

int fs_batch_init(struct fs_batch *batch);
void fs_batch_free(struct fs_batch *batch);

/* A distinct code address: a row of table `code`. */
struct fs_code {
	int64_t dso;	 /* FS_NONE: no mapping covers it */
	uint64_t offset; /* file offset in the DSO */
	uint64_t ip;	 /* as first seen */
	bool exact;
	bool kernel;
	uint32_t watch_length; /* only sampled by breakpoints of this many bytes; 0: not so */
	uint64_t samples;
};

struct fs_chain {
	uint32_t parent, code; /* parent UINT32_MAX: outermost */
};

/* What a counter said when it was last read with a sample; the times are 0 where not told. */
struct fs_last_reading {
	uint64_t value;
	uint64_t enabled_ns, running_ns;
};

/* Key and value of fs_decoder.profile. */
struct fs_profile_key {
	uint32_t event, code, thread, group_read;
};
struct fs_profile_value {
	uint64_t samples, value;
};

/* Counts that become columns of `event`. */
struct fs_event_counts {
	uint64_t samples, period_sum;
	uint64_t enabled_ns, running_ns; /* of all its counters that samples read */
};

struct fs_decoder {
	struct fs_session *session;
	struct fs_id_bases bases;
	struct fs_rollup rollup;
	struct fs_table code_cache; /* {space, exact, ip} -> code and the time it holds for */
	struct fs_table code_ids;   /* {dso, exact, offset or ip} -> fs_code; index = code number */
	struct fs_table chains;	    /* fs_chain -> nothing; index = chain number */
	struct fs_table profile;
	struct fs_table read_values; /* counter id -> struct fs_last_reading */
	struct fs_event_counts *event_counts;
	const struct fs_tracepoint **tracepoint_of; /* by event; NULL: none that is described */
	enum fs_memsrc_machine machine;
	uint64_t rows; /* handed out so far */
	uint64_t sample_records;
	uint64_t spe_records;
	uint64_t memory_samples;
	uint64_t guest; /* in a guest or the hypervisor */
	/* times by rounds: the newest, the newest of the rounds before, what is final by now */
	uint64_t newest_ns, round_ns, final_ns;
	uint64_t out_of_order, first_out_of_order;
	uint64_t unmapped, unattributed, unknown_sources, unknown_counters, spe_no_time,
		spe_repeated, spe_no_source;
	uint64_t undescribed_raw, bad_raw;
	uint64_t first_ns, last_ns; /* 0: no time seen */

	/* private: where the walk stands */
	struct fs_cursor cursor;
	bool cursor_open, finished;
	struct fs_record aux; /* AUXTRACE record being decoded */
	uint64_t aux_done;    /* bytes of its raw data read */
	uint8_t *aux_buffer;
	size_t aux_used;
	struct spe_state *spe;
	struct thread_cache *threads;
	struct code_recent *recent;
};

/* Prepare for a session; a decoder that failed to start must still be closed. */
int fs_decoder_open(struct fs_decoder *decoder, struct fs_session *session,
		    const struct fs_id_bases *bases, struct fs_error *error);
void fs_decoder_close(struct fs_decoder *decoder);

/* Fill a batch. *ret_more is false when the trace is at its end and the batch is empty. */
int fs_decoder_next(struct fs_decoder *decoder, struct fs_batch *batch, bool *ret_more,
		    struct fs_error *error);

/* The number of user code at an address of a process at a time, also after the last batch. Returns
 * 0 or FS_NOMEM. */
int fs_decoder_find_code(struct fs_decoder *decoder, int64_t space, uint64_t ip, uint64_t time_ns,
			 int64_t *ret_code);

static inline const struct fs_code *fs_decoder_code(const struct fs_decoder *decoder, size_t code)
{
	return fs_table_value(&decoder->code_ids, code);
}

#endif
