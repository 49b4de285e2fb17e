/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What records tell of the system beside threads and mappings, and counter values that belong to
 * no sample. Kept as they come, up to a limit, for whoever asks the database.
 */
#ifndef FS_SESSION_SYSTEM_EVENTS_H
#define FS_SESSION_SYSTEM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h"

/* X(suffix, name in table system_event) */
#define FS_SYSTEM_LIST(X)                                                                          \
	X(KSYMBOL, "ksymbol")                                                                      \
	X(KSYMBOL_END, "ksymbol_end")                                                              \
	X(BPF_LOAD, "bpf_load")                                                                    \
	X(BPF_UNLOAD, "bpf_unload")                                                                \
	X(TEXT_POKE, "text_poke")                                                                  \
	X(CGROUP, "cgroup")                                                                        \
	X(NAMESPACE, "namespace")                                                                  \
	X(AUX_OUTPUT_HW_ID, "aux_output_hw_id")                                                    \
	X(THROTTLE, "throttle")                                                                    \
	X(UNTHROTTLE, "unthrottle")                                                                \
	X(AUXTRACE_ERROR, "auxtrace_error")

#define FS_SYSTEM_ENUM(suffix, name) FS_SYSTEM_##suffix,
enum fs_system_kind { FS_SYSTEM_LIST(FS_SYSTEM_ENUM) FS_SYSTEM_MAX };
#undef FS_SYSTEM_ENUM

/* Numbers that may be absent are -1 or UINT32_MAX then. */
struct fs_system_event {
	enum fs_system_kind kind;
	uint32_t cpu, pid, tid;
	uint64_t time_ns; /* 0: before the recording, or not told */
	int64_t event;	  /* index in file.events */
	uint64_t address, length;
	bool has_address, has_number;
	uint64_t number;
	int64_t name, detail; /* interned */
};

enum fs_counter_source { FS_COUNTER_READ, FS_COUNTER_STAT, FS_COUNTER_STAT_FINAL };

/* A counter's value outside samples: of a READ record or of `perf stat record`. */
struct fs_counter {
	enum fs_counter_source source;
	uint32_t cpu, pid, tid; /* UINT32_MAX: any, or not told */
	uint64_t time_ns;	/* 0: not told */
	int64_t event;
	uint64_t value, time_enabled, time_running;
	bool has_enabled, has_running;
};

struct fs_system {
	struct fs_system_event *events;
	size_t event_count, event_capacity;
	size_t text_bytes;	   /* of names and details */
	struct fs_table throttled; /* event id -> ns since when it is */
	struct fs_counter *counters;
	size_t counter_count, counter_capacity;
	size_t round_begin;    /* first counter of the STAT round that is not over */
	uint32_t *stat_thread; /* tid by its place in the THREAD_MAP */
	size_t stat_thread_count, stat_thread_capacity;
};

#endif
