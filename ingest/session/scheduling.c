/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handlers of what tells who runs: switch records, and samples of the tracepoint sched_switch with
 * the formats (tracing_data) that they are read by.
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/session/handling.h"
#include "ingest/tracepoint/tracing_data.h"

enum { RECORD_HEADER = 8 };

/* Only SPE data asks who runs; it is announced before the first switch. */
static int note_switch(struct handling *handling, struct fs_switch to, enum fs_switch_source source)
{
	struct fs_switch_event event = {
		.to = to,
		.order = handling->record->offset,
		.before = FS_PID_UNKNOWN,
		.cpu = (uint16_t)handling->id.cpu,
		.source = (uint8_t)source,
	};

	if (!handling->id.has_cpu || !handling->id.has_time || handling->id.cpu >= FS_CPUS_MAX ||
	    !handling->session->spe.present)
		return 0;
	event.to.time_ns = handling->id.time;
	return fs_switches_note(&handling->session->switches, &event, handling->error);
}

/*
 * SWITCH has no payload, SWITCH_CPU_WIDE | u32 next_prev_pid, next_prev_tid |; the task itself is
 * in the trailer. Going out, a CPU-wide record names who comes next.
 */
int fs_handle_switch(struct handling *handling)
{
	bool cpu_wide = handling->record->type == FS_RECORD_SWITCH_CPU_WIDE;
	struct fs_switch to = { .pid = FS_PID_UNKNOWN,
				.tid = FS_PID_UNKNOWN,
				.attribution = cpu_wide ? FS_ATTRIBUTION_SWITCH_CPU_WIDE
							: FS_ATTRIBUTION_SWITCH };

	if (!(handling->record->misc & FS_MISC_BIT13)) {
		if (!handling->id.has_tid)
			return 0;
		to.pid = handling->id.pid;
		to.tid = handling->id.tid;
	} else if (cpu_wide) {
		to.pid = fs_read_u32(&handling->payload);
		to.tid = fs_read_u32(&handling->payload);
		if (handling->payload.failed)
			return too_short(handling);
	}
	return note_switch(handling, to, FS_SWITCH_RECORD);
}

/* | u32 pid, tid |: who ran when the AUX event was enabled on this CPU */
int fs_handle_itrace_start(struct handling *handling)
{
	struct fs_switch to = { .attribution = FS_ATTRIBUTION_ITRACE };

	to.pid = fs_read_u32(&handling->payload);
	to.tid = fs_read_u32(&handling->payload);
	if (handling->payload.failed)
		return too_short(handling);
	return note_switch(handling, to, FS_SWITCH_ITRACE);
}

void fs_find_sched_switch(struct fs_session *session)
{
	const struct fs_tracepoints *tracepoints = &session->tracepoints;
	struct fs_sched_switch *found = &session->sched_switch;

	if (found->tracepoint || !session->spe.present)
		return;
	for (size_t i = 0; i < tracepoints->count; i++) {
		const struct fs_tracepoint *tracepoint = &tracepoints->items[i];

		if (strcmp(fs_interned(&tracepoints->strings, tracepoint->system, NULL), "sched") ||
		    strcmp(fs_interned(&tracepoints->strings, tracepoint->name, NULL),
			   "sched_switch"))
			continue;
		found->prev_pid = fs_tracepoint_field_find(tracepoints, tracepoint, "prev_pid");
		found->next_pid = fs_tracepoint_field_find(tracepoints, tracepoint, "next_pid");
		if (found->prev_pid && found->next_pid)
			found->tracepoint = tracepoint;
	}
}

int fs_note_sched_switch(struct fs_session *session, const struct fs_record *record,
			 struct fs_error *error)
{
	const struct fs_sched_switch *format = &session->sched_switch;
	const struct fs_event *event = fs_session_event(session, &record->payload);
	const uint64_t need = FS_SAMPLE_TIME | FS_SAMPLE_CPU | FS_SAMPLE_RAW;
	struct fs_switch_event note = { .order = record->offset, .source = FS_SWITCH_TRACEPOINT };
	const struct fs_event_id *id;
	struct fs_sample sample;
	int64_t prev;
	int64_t next;

	if (!event || event->attr.type != FS_ATTR_TRACEPOINT ||
	    event->attr.config != format->tracepoint->id ||
	    (event->attr.sample_type & need) != need ||
	    fs_sample_decode(&event->attr, &record->payload, &sample) == FS_SAMPLE_SHORT ||
	    sample.cpu >= FS_CPUS_MAX ||
	    !fs_tracepoint_number(format->prev_pid, sample.raw, sample.raw_size, sample.swap,
				  &prev) ||
	    !fs_tracepoint_number(format->next_pid, sample.raw, sample.raw_size, sample.swap,
				  &next))
		return 0;
	id = fs_table_get(&session->ids, &sample.id);
	note.one_task = id && id->tid >= 0;
	note.cpu = (uint16_t)sample.cpu;
	note.before = (uint32_t)prev;
	note.to = (struct fs_switch){ .time_ns = sample.time,
				      .pid = next ? FS_PID_UNKNOWN : 0,
				      .tid = (uint32_t)next,
				      .attribution = FS_ATTRIBUTION_SCHED_SWITCH };
	return fs_switches_note(&session->switches, &note, error);
}

int fs_read_tracing_data(struct fs_session *session, struct fs_section where,
			 struct fs_error *error)
{
	struct fs_tracepoints *tracepoints = &session->tracepoints;
	struct fs_error own = { 0 };
	uint8_t *bytes;
	int code;

	if (tracepoints->count || where.size > FS_TRACING_DATA_MAX) {
		fs_loss_add(&session->loss, FS_LOSS_LIMIT, 1, where.size, where.offset,
			    tracepoints->count ? "second tracing data"
					       : "tracing data over %zu MiB",
			    FS_TRACING_DATA_MAX >> 20);
		return 0;
	}
	bytes = malloc(where.size ? where.size : 1);
	if (!bytes)
		return fs_fail(error, FS_NOMEM, "%s: out of memory", session->file.path);
	code = fs_perf_read(&session->file, where.offset, bytes, where.size, error);
	if (!code) {
		code = fs_tracing_data_read(bytes, where.size, FS_HELPER_SOUND, tracepoints, &own);
		if (code == FS_REFUSED)
			fs_loss_add(&session->loss, FS_LOSS_BAD_TRACING_DATA, 1, where.size,
				    where.offset, "tracing data: %s", own.text);
		else if (code)
			fs_fail(error, code, "%s", own.text);
	}
	free(bytes);
	if (tracepoints->cut)
		fs_loss_add(&session->loss, FS_LOSS_BAD_TRACING_DATA, 1, 0, where.offset,
			    "tracing data: it is cut off");
	if (tracepoints->bad_formats)
		fs_loss_add(&session->loss, FS_LOSS_BAD_TRACING_DATA, tracepoints->bad_formats, 0,
			    where.offset, "tracepoint formats");
	fs_find_sched_switch(session);
	return code == FS_REFUSED ? 0 : code;
}

/* | u32 size, [pad] | in streams the data behind the record, in simpleperf's within it */
int fs_handle_tracing_data(struct handling *handling)
{
	struct fs_section where = handling->record->raw;

	if (!where.size) {
		where.offset = handling->record->offset + RECORD_HEADER + 4;
		where.size = fs_read_u32(&handling->payload);
		if (handling->payload.failed || where.size > fs_reader_left(&handling->payload))
			return too_short(handling);
	}
	return fs_read_tracing_data(handling->session, where, handling->error);
}
