/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internal to this folder: what the handler of a record gets, and what handlers share. Each
 * handler reads `payload`, from which the sample_id trailer has been taken already.
 */
#ifndef FS_SESSION_HANDLING_H
#define FS_SESSION_HANDLING_H

#include "ingest/session/session.h"

struct handling {
	struct fs_session *session;
	const struct fs_record *record;
	struct fs_reader payload;
	struct fs_sample_id id;
	struct fs_error *error;
	bool skipped; /* the handler could not use the record and has said so in the loss account */
};

static inline int no_memory(struct handling *handling)
{
	return fs_fail(handling->error, FS_NOMEM, "%s: out of memory at offset 0x%llx",
		       handling->session->file.path, (unsigned long long)handling->record->offset);
}

static inline int too_short(struct handling *handling)
{
	fs_loss_add_numbered(&handling->session->loss, FS_LOSS_SHORT_RECORD, 1,
			     handling->record->size, handling->record->offset, "record type",
			     handling->record->type);
	handling->skipped = true;
	return 0;
}

/* Something of a record that is deliberately not kept; what is a string literal. */
static inline int unused(struct handling *handling, const char *what)
{
	fs_loss_add_numbered(&handling->session->loss, FS_LOSS_UNUSED_RECORD, 1,
			     handling->record->size, handling->record->offset, what, -1);
	return 0;
}

/* The CPU that a record speaks of; UINT32_MAX: not told. perf makes up records at the end of a
 * recording: their trailers name an event's id, and have time 0 and CPU 0. */
static inline uint32_t cpu_of(const struct handling *handling)
{
	const struct fs_event_id *instance =
		handling->id.has_id ? fs_table_get(&handling->session->ids, &handling->id.id)
				    : NULL;

	if (instance && instance->cpu >= 0)
		return (uint32_t)instance->cpu;
	if (!handling->id.has_cpu || (handling->id.has_time && !handling->id.time))
		return UINT32_MAX;
	return handling->id.cpu;
}

/* Note a loss that belongs to the record's CPU and time, where they are told. */
static inline void note_loss(struct handling *handling, enum fs_loss_kind kind, uint64_t count)
{
	struct fs_loss *loss = &handling->session->loss;
	uint64_t offset = handling->record->offset;
	uint32_t cpu = cpu_of(handling);

	if (cpu != UINT32_MAX)
		fs_loss_add_numbered(loss, kind, count, 0, offset, "cpu", cpu);
	else
		fs_loss_add_numbered(loss, kind, count, 0, offset, "trace", -1);
	if (handling->id.time)
		fs_loss_add_time(loss, kind, count, cpu, handling->id.time, handling->id.time);
}

/* The rest of the payload as a string that ends at a NUL or at the end. */
static inline int take_name(struct handling *handling, uint32_t *ret_id)
{
	const char *text = (const char *)handling->payload.data + handling->payload.offset;

	return fs_intern(&handling->session->strings, text,
			 strnlen(text, fs_reader_left(&handling->payload)), ret_id);
}

/* ---- system_events.c ---- */

int fs_handle_ksymbol(struct handling *handling);
int fs_handle_bpf_event(struct handling *handling);
int fs_handle_bpf_metadata(struct handling *handling);
int fs_handle_text_poke(struct handling *handling);
int fs_handle_cgroup(struct handling *handling);
int fs_handle_namespaces(struct handling *handling);
int fs_handle_aux_output(struct handling *handling);
int fs_handle_throttle(struct handling *handling);
int fs_handle_auxtrace_error(struct handling *handling);

/* ---- counters.c ---- */

int fs_handle_read(struct handling *handling);
int fs_handle_stat(struct handling *handling);
int fs_handle_stat_round(struct handling *handling);
int fs_handle_stat_config(struct handling *handling);
int fs_handle_thread_map(struct handling *handling);
int fs_handle_cpu_map(struct handling *handling);

/* The CPUs of the body of a CPU_MAP as a list such as "0-3,8", "any" among them; NULL: it does
 * not parse, or memory ran out. A very long list ends with "...". Caller frees. */
char *fs_read_cpu_map(struct fs_reader *reader);

/* ---- scheduling.c ---- */

int fs_handle_switch(struct handling *handling);
int fs_handle_itrace_start(struct handling *handling);
int fs_handle_tracing_data(struct handling *handling);

/*
 * Have the formats of tracepoints read from bytes of the file. What goes wrong with them costs
 * their names only. A recording has one such description; what joins recordings may leave several.
 */
int fs_read_tracing_data(struct fs_session *session, struct fs_section where,
			 struct fs_error *error);

/* Look whether samples of sched_switch will tell who runs: once its format is known, and SPE data
 * announced. */
void fs_find_sched_switch(struct fs_session *session);

/* Samples that serve as facts: sched_switch. What is wrong with others is pass two's business. */
int fs_note_sched_switch(struct fs_session *session, const struct fs_record *record,
			 struct fs_error *error);

#endif
