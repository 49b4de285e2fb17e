/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pass one over a perf.data file: the facts that the samples are judged by.
 *
 * fs_session_open() walks every record header once and keeps what is no sample: threads, maps,
 * switches, clock, SPE metadata, loss. The result is a set of timelines; pass two (ingest/load)
 * then decodes samples and AUX data in any order and asks "which thread / map at time t".
 */
#ifndef FS_SESSION_SESSION_H
#define FS_SESSION_SESSION_H

#include "common/access.h"
#include "ingest/memsrc/memsrc.h"
#include "ingest/perfdata/extent.h"
#include "ingest/perfdata/host.h"
#include "ingest/perfdata/sample.h"
#include "ingest/session/jit.h"
#include "ingest/session/maps.h"
#include "ingest/session/switches.h"
#include "ingest/session/system_events.h"
#include "ingest/session/threads.h"
#include "ingest/tracepoint/tracepoint.h"

/* From the generic timer or TSC to perf's time: struct perf_record_time_conv. */
struct fs_clock {
	bool valid;
	bool has_zero; /* cap_user_time_zero */
	bool is_short; /* cap_user_time_short: the counter is only as wide as mask */
	uint64_t shift, mult, zero, cycles, mask;
};

/* When the AUX buffer of a CPU, or of a thread that has one, was full, in order, and how many of
 * these have ended. */
struct fs_blind {
	uint64_t *since_ns;
	size_t count, capacity;
	size_t ended;
};

/* One CPU's SPE unit, from AUXTRACE_INFO version 2. */
struct fs_spe_cpu {
	uint32_t cpu;
	uint64_t midr;
	uint64_t pmu_type;
	uint64_t events; /* event bits that it has; 0: not told */
};

struct fs_spe_session {
	bool present;
	uint64_t metadata_version;
	uint64_t pmu_type;
	struct fs_spe_cpu *cpus;
	size_t cpu_count, cpu_capacity;
	uint64_t midr;	  /* where there are no entries; 0: not known */
	bool per_thread;  /* AUX buffers belong to threads, not to CPUs */
	bool overwritten; /* AUX data is of snapshots */
	int64_t *events;  /* of each CPU: index of its SPE event + 1; 0: not told */
	size_t event_cpus, event_capacity;
};

/* The tracepoint sched:sched_switch, where samples of it tell who runs. */
struct fs_sched_switch {
	const struct fs_tracepoint *tracepoint; /* NULL: not described, or nobody asks who runs */
	const struct fs_tracepoint_field *prev_pid, *next_pid; /* which are tids */
};

/* An event's id in records, and where it counts (ID_INDEX). */
struct fs_event_id {
	uint64_t event;		   /* index in file.events */
	int64_t cpu, tid;	   /* -1: any, or not told */
	int64_t machine_pid, vcpu; /* of a guest; -1: none */
};

struct fs_session {
	struct fs_perf_file file;
	struct fs_host host;
	struct fs_loss loss;
	struct fs_extents extents;
	bool has_content; /* records come from decompressed or joined data: no part of the account
			   */
	struct fs_interner strings;
	struct fs_table ids;	  /* u64 id -> fs_event_id */
	int id_position;	  /* of the id in SAMPLE payloads, -1: none */
	bool is_unknown_readable; /* samples of unknown ids: all events lay samples out alike */
	struct fs_threads threads;
	struct fs_maps maps;
	struct fs_jit jit;
	struct fs_tracepoints tracepoints;
	struct fs_switches switches; /* only kept for files with SPE data */
	struct fs_sched_switch sched_switch;
	struct fs_table blind; /* fs_blind_key() -> fs_blind */
	struct fs_clock clock;
	struct fs_spe_session spe;
	struct fs_system system;
	int64_t spe_event;			/* index of AUXTRACE_INFO's SPE event, FS_NONE */
	uint64_t record_count[FS_RECORD_TYPES]; /* by type; the last for all others */
};

/* Open a file and do pass one. Close with fs_session_close() also after a failure. */
int fs_session_open(struct fs_session *session, const char *path, struct fs_error *error);
void fs_session_close(struct fs_session *session);

/* Count a record that pass two cannot use as skipped. */
void fs_session_skip(struct fs_session *session, const struct fs_record *record);

/*
 * The event that a SAMPLE payload belongs to. With an id that the file does not describe: the one
 * behind the last event, or NULL where the sample's layout cannot be told.
 */
const struct fs_event *fs_session_event(const struct fs_session *session,
					const struct fs_reader *payload);

/* The event with this id in records, FS_NONE if there is none. */
int64_t fs_session_event_of_id(const struct fs_session *session, uint64_t id);

/* ns of a timer value; 0 when the file has no usable TIME_CONV. */
uint64_t fs_clock_ns(const struct fs_clock *clock, uint64_t cycles);

/* What AUXTRACE_INFO says of a CPU; NULL: nothing. */
const struct fs_spe_cpu *fs_session_spe_cpu(const struct fs_session *session, uint32_t cpu);

/* The MIDR of a CPU, 0 when it is not known. The file's one CPUID holds for all CPUs where there is
 * no list of them. */
uint64_t fs_session_midr(const struct fs_session *session, uint32_t cpu);

/*
 * The meaning of SPE data source codes of a CPU; NULL: not known. Of a CPU that is not listed, or
 * of a thread's buffer, whose CPU is not told (UINT32_MAX): what all listed CPUs with SPE have in
 * common, NULL if they differ.
 */
const struct fs_memsrc_family *fs_session_spe_family(const struct fs_session *session,
						     uint32_t cpu);

/* Whether an event, by its index, is one of SPE: each kind of core has a PMU of its own. */
bool fs_session_is_spe(const struct fs_session *session, size_t event);

/* The SPE event that a CPU's AUX data belongs to (UINT32_MAX: any); FS_NONE if there is none. */
int64_t fs_session_spe_event(const struct fs_session *session, uint32_t cpu);

/* The key of fs_session.blind: a CPU, or with per_thread buffers a thread. */
static inline uint64_t fs_blind_key(bool per_thread, uint32_t number)
{
	return (uint64_t)per_thread << 32 | number;
}

#endif
