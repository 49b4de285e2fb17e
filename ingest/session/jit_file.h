/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a JIT compiler wrote of its code: perf map files and jitdump files. Bytes in, a table out.
 *
 * perf map (tools/perf/Documentation/jit-interface.txt): lines "START SIZE name", hex, no times.
 *
 * jitdump (tools/perf/Documentation/jitdump-specification.txt), in the byte order of its magic:
 *
 *   header  | u32 magic "JiTD", version, size, machine, pad, pid | u64 timestamp, flags |
 *   record  | u32 id, size | u64 timestamp | ...
 *   0 LOAD  | u32 pid, tid | u64 vma, address, code size, index | name NUL | code |
 *   1 MOVE  | u32 pid, tid | u64 vma, old address, new address, code size, index |
 *   2 DEBUG | u64 address, count | count * { u64 address, u32 line, column, file NUL } |
 *           before the LOAD that it belongs to; a file name of one byte 0xff repeats the last
 *   3 CLOSE, 4 UNWIND: not used
 */
#ifndef FS_SESSION_JIT_FILE_H
#define FS_SESSION_JIT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fs_jit_text {
	const char *start; /* in the bytes that were parsed */
	uint32_t length;
};

/* A function at an address, from a time on. */
struct fs_jit_entry {
	uint64_t time; /* as the file has it; 0 in a perf map */
	uint64_t start, size;
	uint64_t index;			 /* of the compiler */
	uint64_t compiled;		 /* address that its lines count from */
	uint32_t pid;			 /* jitdump only */
	uint32_t first_line, line_count; /* in fs_jit_table.lines */
	struct fs_jit_text name;
};

struct fs_jit_line {
	uint64_t address;
	uint32_t line;
	struct fs_jit_text file;
};

struct fs_jit_table {
	struct fs_jit_entry *entries; /* in the order of the file */
	size_t count, capacity;
	struct fs_jit_line *lines; /* those of an entry together, by address */
	size_t line_count, line_capacity;
	bool has_times;
	bool counter_times; /* of the CPU's counter, else CLOCK_MONOTONIC */
	uint64_t skipped;   /* lines or records that make no sense; what is cut off counts as one */
};

/* Larger files are refused. */
#define FS_JIT_FILE_MAX ((size_t)1 << 30)

/*
 * Both return 0 or ENOMEM, and fs_jitdump_parse() also EINVAL for what has no jitdump header. The
 * table refers to the bytes and wants fs_jit_table_free() in any case.
 */
int fs_perf_map_parse(const void *bytes, size_t size, struct fs_jit_table *ret_table);
int fs_jitdump_parse(const void *bytes, size_t size, struct fs_jit_table *ret_table);
void fs_jit_table_free(struct fs_jit_table *table);

#endif
