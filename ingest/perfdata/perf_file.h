/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf.data container, in both byte orders: header, event attributes, feature sections and the
 * records. Streams are read by stream.h and look like files afterwards.
 *
 *   | header (104) | ... attrs | ids ... | data section: records | feature table | features |
 *
 * Read with pread() into own buffers, never mapped: a file that shrinks meanwhile is a short read
 * and not a SIGBUS. Layout after the kernel's include/uapi/linux/perf_event.h and tools/perf's
 * util/header.c; record structures are checked against libperf's perf/event.h in record.c.
 */
#ifndef FS_PERFDATA_PERF_FILE_H
#define FS_PERFDATA_PERF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/reader.h"
#include "ingest/perfdata/loss.h"

struct fs_extents; /* extent.h */

/* Bits of fs_attr.sample_type (enum perf_event_sample_format). */
enum fs_sample_bit {
	FS_SAMPLE_IP = 1 << 0,
	FS_SAMPLE_TID = 1 << 1,
	FS_SAMPLE_TIME = 1 << 2,
	FS_SAMPLE_ADDR = 1 << 3,
	FS_SAMPLE_READ = 1 << 4,
	FS_SAMPLE_CALLCHAIN = 1 << 5,
	FS_SAMPLE_ID = 1 << 6,
	FS_SAMPLE_CPU = 1 << 7,
	FS_SAMPLE_PERIOD = 1 << 8,
	FS_SAMPLE_STREAM_ID = 1 << 9,
	FS_SAMPLE_RAW = 1 << 10,
	FS_SAMPLE_BRANCH_STACK = 1 << 11,
	FS_SAMPLE_REGS_USER = 1 << 12,
	FS_SAMPLE_STACK_USER = 1 << 13,
	FS_SAMPLE_WEIGHT = 1 << 14,
	FS_SAMPLE_DATA_SRC = 1 << 15,
	FS_SAMPLE_IDENTIFIER = 1 << 16,
	FS_SAMPLE_TRANSACTION = 1 << 17,
	FS_SAMPLE_REGS_INTR = 1 << 18,
	FS_SAMPLE_PHYS_ADDR = 1 << 19,
	FS_SAMPLE_AUX = 1 << 20,
	FS_SAMPLE_CGROUP = 1 << 21,
	FS_SAMPLE_DATA_PAGE_SIZE = 1 << 22,
	FS_SAMPLE_CODE_PAGE_SIZE = 1 << 23,
	FS_SAMPLE_WEIGHT_STRUCT = 1 << 24,
	FS_SAMPLE_KNOWN = (1 << 25) - 1,
};

enum {
	FS_READ_ENABLED = 1 << 0,
	FS_READ_RUNNING = 1 << 1,
	FS_READ_ID = 1 << 2,
	FS_READ_GROUP = 1 << 3,
	FS_READ_LOST = 1 << 4,
};

enum { FS_ATTR_TRACEPOINT = 2 }; /* attr.type PERF_TYPE_TRACEPOINT; config is its id */

#define FS_ATTR_FREQ (1ull << 10)
#define FS_ATTR_PRECISE_SHIFT 15
#define FS_ATTR_SAMPLE_ID_ALL (1ull << 18)

/* struct perf_event_attr; fields that the writer's version did not have are 0. */
struct fs_attr {
	uint32_t type;
	uint32_t size;
	uint64_t config;
	uint64_t sample_period; /* or frequency: FS_ATTR_FREQ */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags;
	uint32_t bp_type;
	uint64_t config1;
	uint64_t config2;
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint64_t config3;
	uint64_t config4;
};

struct fs_section {
	uint64_t offset;
	uint64_t size;
};

struct fs_event {
	struct fs_attr attr;
	uint64_t *ids;
	size_t id_count;
	struct fs_section id_section; /* where the ids stand; of size 0 in streams */
	char *name;		      /* from EVENT_DESC or EVENT_UPDATE; NULL: not recorded */
	char *unit;
	char *cpus;   /* CPU list, from EVENT_UPDATE */
	double scale; /* 0: not recorded */
	int leader;   /* index of the group's leader, -1: not recorded */
};

enum { FS_FEATURE_BITS = 256, FS_FEATURE_COMPRESSED = 27 };

struct fs_perf_file {
	int fd;		     /* what records are read from: the input, or what it was spooled to */
	int input_fd;	     /* the input itself */
	int directory_fd;    /* of a perf.data directory, else -1 */
	uint64_t parts_size; /* of its files beside `data` */
	const char *path;    /* the caller's, for messages */
	uint64_t size;
	struct fs_section attrs;
	struct fs_section data;
	uint64_t data_end;     /* data.offset + what of the data section is there */
	uint64_t sections_end; /* of the last section; later bytes belong to none */
	bool unclean;	       /* data.size was 0 */
	bool swap;	       /* recorded in the other byte order */
	/* records that were replaced by what they held */
	uint64_t compressed_records, compressed2_records;
	struct fs_event *events; /* the session adds one more, for samples of none of them */
	size_t event_count;
	struct fs_section features[FS_FEATURE_BITS]; /* size 0 and offset 0: absent */
	bool has_feature[FS_FEATURE_BITS];
	struct fs_section feature_table;
	struct fs_extents *extents; /* the account of the bytes that are walked; NULL: none */
};

/*
 * Open path and read header, attributes and the feature table. FS_REFUSED when the file is no
 * perf.data. Damage goes to `loss`: a header whose fields cannot be is told by what it describes,
 * and even a file that lost its header is read if records follow each other near its start.
 * Close with fs_perf_close() also after a failure.
 */
int fs_perf_open(struct fs_perf_file *file, const char *path, struct fs_loss *loss,
		 struct fs_error *error);
void fs_perf_close(struct fs_perf_file *file);

/* Read exactly size bytes at offset; FS_REFUSED when they are not there. */
int fs_perf_read(const struct fs_perf_file *file, uint64_t offset, void *buffer, size_t size,
		 struct fs_error *error);

/* A reader over bytes of the file, in its byte order. */
static inline struct fs_reader fs_perf_reader(const struct fs_perf_file *file, const void *data,
					      size_t size)
{
	return (struct fs_reader){ .data = data, .size = size, .swap = file->swap };
}

/* Parse one attribute of `size` bytes; a longer one than known is cut. */
void fs_attr_parse(const uint8_t *bytes, size_t size, bool swap, struct fs_attr *ret_attr);

enum fs_record_type {
	FS_RECORD_MMAP = 1,
	FS_RECORD_LOST = 2,
	FS_RECORD_COMM = 3,
	FS_RECORD_EXIT = 4,
	FS_RECORD_THROTTLE = 5,
	FS_RECORD_UNTHROTTLE = 6,
	FS_RECORD_FORK = 7,
	FS_RECORD_READ = 8,
	FS_RECORD_SAMPLE = 9,
	FS_RECORD_MMAP2 = 10,
	FS_RECORD_AUX = 11,
	FS_RECORD_ITRACE_START = 12,
	FS_RECORD_LOST_SAMPLES = 13,
	FS_RECORD_SWITCH = 14,
	FS_RECORD_SWITCH_CPU_WIDE = 15,
	FS_RECORD_NAMESPACES = 16,
	FS_RECORD_KSYMBOL = 17,
	FS_RECORD_BPF_EVENT = 18,
	FS_RECORD_CGROUP = 19,
	FS_RECORD_TEXT_POKE = 20,
	FS_RECORD_AUX_OUTPUT_HW_ID = 21,
	FS_RECORD_CALLCHAIN_DEFERRED = 22,
	FS_RECORD_KERNEL_MAX = 22, /* last kernel type known */
	FS_RECORD_USER_FIRST = 64,
	FS_RECORD_HEADER_ATTR = 64,
	FS_RECORD_HEADER_EVENT_TYPE = 65,
	FS_RECORD_HEADER_TRACING_DATA = 66,
	FS_RECORD_HEADER_BUILD_ID = 67,
	FS_RECORD_FINISHED_ROUND = 68,
	FS_RECORD_ID_INDEX = 69,
	FS_RECORD_AUXTRACE_INFO = 70,
	FS_RECORD_AUXTRACE = 71,
	FS_RECORD_AUXTRACE_ERROR = 72,
	FS_RECORD_THREAD_MAP = 73,
	FS_RECORD_CPU_MAP = 74,
	FS_RECORD_STAT_CONFIG = 75,
	FS_RECORD_STAT = 76,
	FS_RECORD_STAT_ROUND = 77,
	FS_RECORD_EVENT_UPDATE = 78,
	FS_RECORD_TIME_CONV = 79,
	FS_RECORD_HEADER_FEATURE = 80,
	FS_RECORD_COMPRESSED = 81,
	FS_RECORD_FINISHED_INIT = 82,
	FS_RECORD_COMPRESSED2 = 83,
	FS_RECORD_BPF_METADATA = 84,
	FS_RECORD_SCHEDSTAT_CPU = 85,
	FS_RECORD_SCHEDSTAT_DOMAIN = 86,
	FS_RECORD_USER_MAX = 86, /* last user type known */
	FS_RECORD_SIMPLEPERF_TRACING_DATA = 32777,
};

/* Bits of fs_record.misc. */
enum {
	FS_MISC_CPUMODE = 7,
	FS_MISC_KERNEL = 1,
	FS_MISC_USER = 2,
	FS_MISC_HYPERVISOR = 3,
	FS_MISC_GUEST_KERNEL = 4,
	FS_MISC_GUEST_USER = 5,
	FS_MISC_BIT13 = 1 << 13, /* MMAP_DATA, COMM_EXEC, SWITCH_OUT */
	FS_MISC_BIT14 = 1 << 14, /* EXACT_IP, MMAP_BUILD_ID */
	FS_MISC_BIT15 = 1 << 15, /* HEADER_BUILD_ID has a size, LOST_SAMPLES by a BPF filter */
};

/*
 * One record. `payload` covers the bytes behind the 8-byte header and is valid until the next
 * fs_cursor_next(). Raw bytes that follow an AUXTRACE record are [raw.offset, +raw.size) of the
 * file.
 */
struct fs_record {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
	uint64_t offset; /* in the file */
	struct fs_reader payload;
	struct fs_section raw;
};

/* A walk over the records of the data section, through one buffer. */
struct fs_cursor {
	const struct fs_perf_file *file;
	uint8_t *buffer;
	uint64_t buffer_offset; /* file offset of buffer[0] */
	size_t buffer_used;
	uint64_t position; /* file offset of the next record */
	uint64_t resume;   /* behind position: where a search found that records go on */
};

int fs_cursor_open(struct fs_cursor *cursor, const struct fs_perf_file *file,
		   struct fs_error *error);
void fs_cursor_close(struct fs_cursor *cursor);

/*
 * Step to the next record. *ret_more is false at the end of the data section. What is no record
 * is stepped over up to the next place where plausible records follow each other, and noted in
 * `loss` (which may be NULL: a second walk over the same file). Fails only when reading does.
 */
int fs_cursor_next(struct fs_cursor *cursor, struct fs_record *ret_record, bool *ret_more,
		   struct fs_loss *loss, struct fs_error *error);

#endif
