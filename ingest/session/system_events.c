/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handlers of the records that end up in table system_event.
 *
 * How it works: each fills a struct fs_system_event from its payload and adds it. The list and
 * its texts are limited: a file may be made of such records alone.
 */
#include "ingest/session/system_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/vector.h"
#include "ingest/session/handling.h"

enum {
	EVENTS_MAX = 1 << 18,
	TEXT_MAX = 32 << 20,
	KSYMBOL_UNREGISTER = 1,
	BPF_EVENT_LOAD = 1,
	BPF_EVENT_UNLOAD = 2,
	BPF_TAG_SIZE = 8,
	BPF_METADATA_PROGRAM = 512,
	BPF_METADATA_KEY = 64,
	BPF_METADATA_VALUE = 256,
};

/* An event with what the trailer says. */
static struct fs_system_event event_of(const struct handling *handling, enum fs_system_kind kind)
{
	const struct fs_sample_id *id = &handling->id;

	return (struct fs_system_event){
		.kind = kind,
		.cpu = cpu_of(handling),
		.pid = id->has_tid && id->time ? id->pid : UINT32_MAX,
		.tid = id->has_tid && id->time ? id->tid : UINT32_MAX,
		.time_ns = id->time,
		.event = FS_NONE,
		.name = FS_NONE,
		.detail = FS_NONE,
	};
}

static int add_event(struct handling *handling, const struct fs_system_event *event)
{
	struct fs_system *system = &handling->session->system;

	if (system->event_count >= EVENTS_MAX) {
		fs_loss_add(&handling->session->loss, FS_LOSS_LIMIT, 1, handling->record->size,
			    handling->record->offset, "system events over %d", EVENTS_MAX);
		return 0;
	}
	if (FS_RESERVE(system->events, system->event_capacity, system->event_count + 1))
		return no_memory(handling);
	system->events[system->event_count++] = *event;
	return 0;
}

/* Intern text of the file; beyond the limit there is none. */
static int keep_text(struct handling *handling, const char *text, size_t length, int64_t *ret_id)
{
	struct fs_system *system = &handling->session->system;
	uint32_t id;

	if (length > (size_t)TEXT_MAX - system->text_bytes) {
		fs_loss_add(&handling->session->loss, FS_LOSS_LIMIT, 1, length,
			    handling->record->offset, "names in system events over %d MiB",
			    TEXT_MAX >> 20);
		return 0;
	}
	system->text_bytes += length;
	if (fs_intern(&handling->session->strings, text, length, &id))
		return no_memory(handling);
	*ret_id = id;
	return 0;
}

/* The rest of the payload up to a NUL. */
static int keep_name(struct handling *handling, int64_t *ret_id)
{
	const char *text = (const char *)handling->payload.data + handling->payload.offset;

	return keep_text(handling, text, strnlen(text, fs_reader_left(&handling->payload)), ret_id);
}

/* The symbol as a mapping of a DSO of its name, so that sampled BPF code gets a name. */
static int map_ksymbol(struct handling *handling, const struct fs_system_event *event)
{
	struct fs_session *session = handling->session;
	struct fs_map map = {
		.pid = FS_PID_KERNEL,
		.tid = FS_PID_KERNEL,
		.time_ns = event->time_ns,
		.order = handling->record->offset,
		.start = event->address,
		.end = event->length > UINT64_MAX - event->address ? UINT64_MAX
								   : event->address + event->length,
	};

	if (event->name == FS_NONE || !event->length)
		return 0;
	if (fs_maps_dso(&session->maps, (uint32_t)event->name, FS_NONE, FS_CPUMODE_KSYMBOL,
			&map.dso) ||
	    fs_maps_note(&session->maps, &map))
		return no_memory(handling);
	return 0;
}

/* | u64 addr | u32 len | u16 type, flags | name | */
int fs_handle_ksymbol(struct handling *handling)
{
	struct fs_system_event event = event_of(handling, FS_SYSTEM_KSYMBOL);

	event.address = fs_read_u64(&handling->payload);
	event.length = fs_read_u32(&handling->payload);
	event.number = fs_read_u16(&handling->payload);
	if (fs_read_u16(&handling->payload) & KSYMBOL_UNREGISTER)
		event.kind = FS_SYSTEM_KSYMBOL_END;
	if (handling->payload.failed)
		return too_short(handling);
	event.has_address = event.has_number = true;
	FS_TRY(keep_name(handling, &event.name));
	FS_TRY(add_event(handling, &event));
	return event.kind == FS_SYSTEM_KSYMBOL ? map_ksymbol(handling, &event) : 0;
}

/* | u16 type, flags | u32 id | u8 tag[8] | */
int fs_handle_bpf_event(struct handling *handling)
{
	struct fs_system_event event = event_of(handling, FS_SYSTEM_BPF_LOAD);
	uint16_t type = fs_read_u16(&handling->payload);
	const uint8_t *tag;
	char hex[2 * BPF_TAG_SIZE + 1];

	fs_read_u16(&handling->payload);
	event.number = fs_read_u32(&handling->payload);
	event.has_number = true;
	tag = fs_read_bytes(&handling->payload, BPF_TAG_SIZE);
	if (!tag)
		return too_short(handling);
	if (type != BPF_EVENT_LOAD && type != BPF_EVENT_UNLOAD)
		return unused(handling, "BPF_EVENT of unknown type");
	if (type == BPF_EVENT_UNLOAD)
		event.kind = FS_SYSTEM_BPF_UNLOAD;
	fs_hex(hex, tag, BPF_TAG_SIZE);
	FS_TRY(keep_text(handling, hex, 2 * BPF_TAG_SIZE, &event.name));
	return add_event(handling, &event);
}

/* | char program[512] | u64 nr | nr * {char key[64], value[256]} | */
int fs_handle_bpf_metadata(struct handling *handling)
{
	struct fs_reader *payload = &handling->payload;
	const char *program = (const char *)fs_read_bytes(payload, BPF_METADATA_PROGRAM);
	uint64_t count = fs_read_u64(payload);

	if (payload->failed ||
	    count > fs_reader_left(payload) / (BPF_METADATA_KEY + BPF_METADATA_VALUE))
		return too_short(handling);
	for (uint64_t i = 0; i < count; i++) {
		const char *key = (const char *)fs_read_bytes(payload, BPF_METADATA_KEY);
		const char *value = (const char *)fs_read_bytes(payload, BPF_METADATA_VALUE);

		fs_host_add_fact(&handling->session->host, &handling->session->loss, value,
				 BPF_METADATA_VALUE, "bpf_metadata.%.*s.%.*s", BPF_METADATA_PROGRAM,
				 program, BPF_METADATA_KEY, key);
	}
	return 0;
}

/* | u64 addr | u16 old_len, new_len | old bytes | new bytes | padding | */
int fs_handle_text_poke(struct handling *handling)
{
	struct fs_system_event event = event_of(handling, FS_SYSTEM_TEXT_POKE);
	char old_hex[2 * 256 + 1] = "";
	char new_hex[2 * 256 + 1] = "";
	char detail[sizeof(old_hex) + sizeof(new_hex) + 32];
	uint16_t old_length;
	uint16_t new_length;
	const uint8_t *bytes;
	int length;

	event.address = fs_read_u64(&handling->payload);
	old_length = fs_read_u16(&handling->payload);
	new_length = fs_read_u16(&handling->payload);
	bytes = fs_read_bytes(&handling->payload, (size_t)old_length + new_length);
	if (!bytes)
		return too_short(handling);
	event.length = old_length > new_length ? old_length : new_length;
	event.has_address = true;
	/* the kernel pokes single instructions and pages of a trampoline; of those the start */
	fs_hex(old_hex, bytes, old_length < 256 ? old_length : 256);
	fs_hex(new_hex, bytes + old_length, new_length < 256 ? new_length : 256);
	length = snprintf(detail, sizeof(detail), "{\"old\":\"%s\",\"new\":\"%s\"}", old_hex,
			  new_hex);
	FS_TRY(keep_text(handling, detail, (size_t)length, &event.detail));
	return add_event(handling, &event);
}

/* | u64 id | path | */
int fs_handle_cgroup(struct handling *handling)
{
	struct fs_system_event event = event_of(handling, FS_SYSTEM_CGROUP);

	event.number = fs_read_u64(&handling->payload);
	event.has_number = true;
	if (handling->payload.failed)
		return too_short(handling);
	FS_TRY(keep_name(handling, &event.name));
	return add_event(handling, &event);
}

/* | u32 pid, tid | u64 nr | nr * {u64 dev, ino} |, in the order of the kernel's enum */
int fs_handle_namespaces(struct handling *handling)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	struct fs_reader *payload = &handling->payload;
	struct fs_system_event event = event_of(handling, FS_SYSTEM_NAMESPACE);
	uint64_t count;

	event.pid = fs_read_u32(payload);
	event.tid = fs_read_u32(payload);
	count = fs_read_u64(payload);
	if (payload->failed || count > fs_reader_left(payload) / 16)
		return too_short(handling);
	event.has_number = true;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t device = fs_read_u64(payload);
		char detail[64];
		char name[32];
		int length = snprintf(detail, sizeof(detail), "{\"device\":%" PRIu64 "}", device);

		snprintf(name, sizeof(name), "namespace %" PRIu64, i);
		event.number = fs_read_u64(payload);
		event.name = event.detail = FS_NONE;
		if (i < sizeof(names) / sizeof(names[0]))
			snprintf(name, sizeof(name), "%s", names[i]);
		FS_TRY(keep_text(handling, name, strlen(name), &event.name));
		FS_TRY(keep_text(handling, detail, (size_t)length, &event.detail));
		FS_TRY(add_event(handling, &event));
	}
	return 0;
}

/* | u64 hw_id |: which PEBS-via-PT stream the event of the trailer's id has */
int fs_handle_aux_output(struct handling *handling)
{
	struct fs_system_event event = event_of(handling, FS_SYSTEM_AUX_OUTPUT_HW_ID);

	event.number = fs_read_u64(&handling->payload);
	event.has_number = true;
	if (handling->payload.failed)
		return too_short(handling);
	if (handling->id.has_id)
		event.event = fs_session_event_of_id(handling->session, handling->id.id);
	return add_event(handling, &event);
}

/* From THROTTLE to UNTHROTTLE the event of an id takes no samples. */
static int time_throttling(struct handling *handling, uint64_t id, bool begins, uint64_t time_ns)
{
	struct fs_session *session = handling->session;
	uint64_t *since = fs_table_put(&session->system.throttled, &id, NULL, NULL);
	uint32_t cpu = cpu_of(handling);
	uint64_t begin;

	if (!since)
		return no_memory(handling);
	begin = *since;
	*since = begins ? time_ns : 0;
	if (begins || !begin || begin >= time_ns)
		return 0;
	fs_loss_add(&session->loss, FS_LOSS_THROTTLED_TIME, time_ns - begin, 0, UINT64_MAX,
		    cpu == UINT32_MAX ? "trace" : "cpu %u", cpu);
	fs_loss_add_time(&session->loss, FS_LOSS_THROTTLED_TIME, time_ns - begin, cpu, begin,
			 time_ns);
	return 0;
}

/* THROTTLE and UNTHROTTLE: | u64 time, id, stream_id | */
int fs_handle_throttle(struct handling *handling)
{
	bool begins = handling->record->type == FS_RECORD_THROTTLE;
	struct fs_system_event event =
		event_of(handling, begins ? FS_SYSTEM_THROTTLE : FS_SYSTEM_UNTHROTTLE);

	uint64_t id;

	event.time_ns = fs_read_u64(&handling->payload);
	id = fs_read_u64(&handling->payload);
	event.event = fs_session_event_of_id(handling->session, id);
	fs_read_u64(&handling->payload);
	if (handling->payload.failed)
		return too_short(handling);
	if (begins)
		note_loss(handling, FS_LOSS_THROTTLED, 1);
	/* ids of no event are as many as a file likes */
	if (event.event != FS_NONE)
		FS_TRY(time_throttling(handling, id, begins, event.time_ns));
	return add_event(handling, &event);
}

/*
 * | u32 type, code, cpu, pid, tid, fmt | u64 ip | [u64 time] | char msg[64] | [u32 machine_pid,
 * vcpu] |: time from format 1 on
 */
int fs_handle_auxtrace_error(struct handling *handling)
{
	struct fs_reader *payload = &handling->payload;
	struct fs_system_event event = event_of(handling, FS_SYSTEM_AUXTRACE_ERROR);
	uint32_t type = fs_read_u32(payload);
	char detail[32];
	uint32_t format;
	int length;

	event.number = fs_read_u32(payload);
	event.cpu = fs_read_u32(payload);
	event.pid = fs_read_u32(payload);
	event.tid = fs_read_u32(payload);
	format = fs_read_u32(payload);
	event.address = fs_read_u64(payload);
	event.has_address = event.has_number = true;
	if (format >= 1)
		event.time_ns = fs_read_u64(payload);
	if (payload->failed)
		return too_short(handling);
	handling->id = (struct fs_sample_id){ .has_cpu = event.cpu != UINT32_MAX,
					      .has_time = event.time_ns,
					      .cpu = event.cpu,
					      .time = event.time_ns };
	note_loss(handling, FS_LOSS_AUXTRACE_ERROR, 1);
	if (fs_reader_left(payload) > 64)
		payload->size = payload->offset + 64;
	FS_TRY(keep_name(handling, &event.name));
	length = snprintf(detail, sizeof(detail), "{\"type\":%" PRIu32 "}", type);
	FS_TRY(keep_text(handling, detail, (size_t)length, &event.detail));
	return add_event(handling, &event);
}
