/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints as a table of fields, and raw sample data read by it.
 *
 * The table comes from tracing_data.h; here it is only looked up. Raw data is that of
 * PERF_SAMPLE_RAW: the fields of one tracepoint at fixed offsets, dynamic ones behind them.
 *
 *   raw: | u16 type | u8 flags | u8 preempt_count | s32 pid | fields ... | dynamic data ... |
 *   __data_loc field: u32 offset from the start of raw | length << 16
 *   __rel_loc field:  u32 offset from the field's end  | length << 16
 */
#ifndef FS_INGEST_TRACEPOINT_TRACEPOINT_H
#define FS_INGEST_TRACEPOINT_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/intern.h"

enum fs_field_flag {
	FS_FIELD_SIGNED = 1 << 0,
	FS_FIELD_STRING = 1 << 1, /* characters up to a NUL */
	FS_FIELD_ARRAY = 1 << 2,
	FS_FIELD_DYNAMIC = 1 << 3,  /* the field tells where its data is */
	FS_FIELD_RELATIVE = 1 << 4, /* from its own end */
	FS_FIELD_COMMON = 1 << 5,   /* one that all tracepoints have */
	FS_FIELD_FLAGS = (1 << 6) - 1,
};

struct fs_tracepoint_field {
	uint32_t name, type; /* in fs_tracepoints.strings */
	uint32_t offset, size;
	uint32_t element_size; /* of an array's elements; 0: not known */
	uint32_t flags;
};

struct fs_tracepoint {
	uint32_t id;	       /* attr.config of its event */
	uint32_t system, name; /* in fs_tracepoints.strings */
	uint32_t first_field, field_count;
};

struct fs_tracepoints {
	struct fs_interner strings;
	struct fs_table by_id; /* u64 id -> u64 index */
	struct fs_tracepoint *items;
	size_t count, capacity;
	struct fs_tracepoint_field *fields;
	size_t field_count, field_capacity;
	uint32_t bad_formats; /* that could not be read */
	bool cut;	      /* the descriptions end early */
};

void fs_tracepoints_init(struct fs_tracepoints *tracepoints);
void fs_tracepoints_free(struct fs_tracepoints *tracepoints);

/* Of two tracepoints with one id the first counts: *ret_added. Returns 0 or FS_NOMEM. */
int fs_tracepoints_add(struct fs_tracepoints *tracepoints, uint32_t id, uint32_t system,
		       uint32_t name, bool *ret_added);

/* Add a field to the tracepoint that was added last. */
int fs_tracepoints_add_field(struct fs_tracepoints *tracepoints,
			     const struct fs_tracepoint_field *field);

/* NULL: not described. */
const struct fs_tracepoint *fs_tracepoint_find(const struct fs_tracepoints *tracepoints,
					       uint64_t id);
const struct fs_tracepoint_field *fs_tracepoint_field_find(const struct fs_tracepoints *tracepoints,
							   const struct fs_tracepoint *tracepoint,
							   const char *name);

/* The value of a field that is one number; false: it is none, or not in the raw data. */
bool fs_tracepoint_number(const struct fs_tracepoint_field *field, const uint8_t *raw, size_t size,
			  bool swap, int64_t *ret_value);

/* Text that grows; not terminated. */
struct fs_json {
	char *bytes;
	size_t used, capacity;
};

/*
 * Append raw data as a JSON object: every field but the common ones under its name. Numbers are
 * signed 64-bit (a kernel address is negative), strings valid UTF-8 without control bytes, arrays
 * of numbers are arrays, other data is a string of hex digits ("0x..."). A field that lies outside
 * the raw data is left out, and *ret_whole is false. Without a tracepoint (NULL), or where the text
 * would become far longer than the raw data, all is one: {"raw":"0x..."}.
 *
 * Returns 0 or FS_NOMEM.
 */
int fs_tracepoint_json(const struct fs_tracepoints *tracepoints,
		       const struct fs_tracepoint *tracepoint, const uint8_t *raw, size_t size,
		       bool swap, struct fs_json *json, bool *ret_whole);

#endif
