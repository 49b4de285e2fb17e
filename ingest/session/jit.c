/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/session/jit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/search.h"
#include "common/vector.h"
#include "common/whole_file.h"
#include "ingest/session/jit_file.h"
#include "ingest/session/session.h"

/* Later mappings than this many comparisons find are not looked for; mappings noted in all. */
enum { COMPARISONS_MAX = 200000000, MAPS_MAX = 1 << 22 };

#define FLAG_USE_CLOCKID (1ull << 25)

/* Of several mappings made at once, those of a later function count: behind any file offset. */
#define FIRST_ORDER (1ull << 63)

struct adding {
	struct fs_session *session;
	struct fs_error *error;
	const char *option, *path;
	uint64_t order;
	uint64_t comparisons;
	size_t own_maps; /* how many mappings there were without ours */
	size_t noted;
	uint64_t skipped, dropped;
};

static int no_memory(const struct adding *adding)
{
	return fs_fail(adding->error, FS_NOMEM, "out of memory for %s", adding->path);
}

/* ---- times ---- */

static bool has_monotonic_clock(const struct fs_session *session)
{
	for (size_t i = 0; i < session->file.event_count; i++) {
		const struct fs_attr *attr = &session->file.events[i].attr;

		if (attr->flags & FLAG_USE_CLOCKID && attr->clockid == CLOCK_MONOTONIC)
			return true;
	}
	return false;
}

/* By the trace's clock; 0: cannot be told. */
static uint64_t convert_time(const struct adding *adding, const struct fs_jit_table *table,
			     uint64_t time)
{
	if (!table->has_times)
		return 0;
	if (table->counter_times)
		return fs_clock_ns(&adding->session->clock, time);
	return has_monotonic_clock(adding->session) ? time : 0;
}

/* ---- mappings ---- */

static bool is_anonymous(const struct fs_session *session, const struct fs_map *map)
{
	static const char *const names[] = { "//anon", "/dev/zero", "/anon_hugepage",
					     "[heap]", "/memfd:",   "/SYSV" };
	const char *path = fs_interned(&session->strings, session->maps.dsos[map->dso].path, NULL);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(path, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

static int note(struct adding *adding, struct fs_map map, uint64_t time)
{
	if (adding->noted == MAPS_MAX) {
		adding->dropped++;
		return 0;
	}
	adding->noted++;
	map.time_ns = time;
	map.order = adding->order++;
	return fs_maps_note(&adding->session->maps, &map) ? no_memory(adding) : 0;
}

/* Map a function in each image of its process, or from its own time on. */
static int note_function(struct adding *adding, const struct fs_map *map, uint64_t time)
{
	const struct fs_session *session = adding->session;
	const struct fs_threads *threads = &session->threads;

	if (time)
		FS_TRY(note(adding, *map, time));
	for (size_t i = 0; !time && i < threads->space_count; i++) {
		if (threads->spaces[i].kind == FS_SPACE_PROCESS &&
		    threads->spaces[i].pid == map->pid)
			FS_TRY(note(adding, *map, threads->spaces[i].start_ns));
	}
	for (size_t i = 0; i < adding->own_maps; i++) {
		const struct fs_map *other = &session->maps.maps[i];

		if (++adding->comparisons > COMPARISONS_MAX) {
			adding->dropped++;
			return 0;
		}
		if (other->pid == map->pid && other->start < map->end && map->start < other->end &&
		    other->time_ns > time && is_anonymous(session, other))
			FS_TRY(note(adding, *map, other->time_ns));
	}
	return 0;
}

/* ---- functions ---- */

static int intern(struct adding *adding, struct fs_jit_text text, uint32_t *ret_id)
{
	return fs_intern(&adding->session->strings, text.start, text.length, ret_id);
}

static int add_lines(struct adding *adding, const struct fs_jit_table *table)
{
	struct fs_jit *jit = &adding->session->jit;

	for (size_t i = 0; i < table->line_count; i++) {
		struct fs_jit_source_line line = { .address = table->lines[i].address,
						   .line = table->lines[i].line };

		if (intern(adding, table->lines[i].file, &line.file) ||
		    FS_RESERVE(jit->lines, jit->line_capacity, jit->line_count + 1))
			return no_memory(adding);
		jit->lines[jit->line_count++] = line;
	}
	return 0;
}

/* `pid` of a perf map; 0: each entry has its own. */
static int add_entries(struct adding *adding, const struct fs_jit_table *table, uint32_t pid)
{
	struct fs_session *session = adding->session;
	struct fs_jit *jit = &session->jit;
	size_t first_line = jit->line_count;
	const char *base =
		strrchr(adding->path, '/') ? strrchr(adding->path, '/') + 1 : adding->path;
	uint64_t offset = 0;
	uint32_t path;
	uint32_t dso;

	if (fs_intern(&session->strings, base, strlen(base), &path) ||
	    fs_maps_dso(&session->maps, path, FS_NONE, FS_CPUMODE_JIT, &dso))
		return no_memory(adding);
	FS_TRY(add_lines(adding, table));
	for (size_t i = 0; i < table->count; i++) {
		const struct fs_jit_entry *entry = &table->entries[i];
		uint64_t time = convert_time(adding, table, entry->time);
		struct fs_jit_function function = {
			.offset = offset,
			.size = entry->size,
			.compiled = entry->compiled,
			.dso = dso,
			.first_line = (uint32_t)(first_line + entry->first_line),
			.line_count = entry->line_count,
		};
		const struct fs_map map = {
			.pid = pid ? pid : entry->pid,
			.tid = pid ? pid : entry->pid,
			.start = entry->start,
			.end = entry->start + entry->size,
			.pgoff = offset,
			.dso = dso,
		};

		if (entry->size > INT64_MAX - offset || map.pid >= FS_PID_GUEST) {
			adding->skipped++;
			continue;
		}
		jit->timeless |= table->has_times && !time;
		if (intern(adding, entry->name, &function.name) ||
		    FS_RESERVE(jit->functions, jit->capacity, jit->count + 1))
			return no_memory(adding);
		jit->functions[jit->count++] = function;
		offset += entry->size;
		FS_TRY(note_function(adding, &map, time));
	}
	return 0;
}

/* The pid in perf-PID.map, 0 if the name is another. */
static uint32_t pid_of(const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	unsigned long pid;
	char *end;

	if (strncmp(base, "perf-", 5) || !isdigit((unsigned char)base[5]))
		return 0;
	pid = strtoul(base + 5, &end, 10);
	return pid < FS_PID_GUEST && !strcmp(end, ".map") ? (uint32_t)pid : 0;
}

static int add_file(struct adding *adding, bool dump)
{
	struct fs_jit_table table = { 0 };
	uint32_t pid = dump ? 0 : pid_of(adding->path);
	uint8_t *bytes;
	size_t size;
	int code;

	if (!dump && !pid)
		return fs_fail(adding->error, FS_USAGE,
			       "--perf-map %s: the name does not tell the process; call it "
			       "perf-PID.map",
			       adding->path);
	FS_TRY(fs_whole_file_read(adding->option, adding->path, FS_JIT_FILE_MAX, &bytes, &size,
				  adding->error));
	code = dump ? fs_jitdump_parse(bytes, size, &table)
		    : fs_perf_map_parse(bytes, size, &table);
	if (code == FS_USAGE)
		fs_fail(adding->error, code,
			"--jitdump %s: it does not begin as a jitdump file; give jit-PID.dump",
			adding->path);
	else if (code)
		no_memory(adding);
	else
		code = add_entries(adding, &table, pid);
	adding->skipped += table.skipped;
	fs_jit_table_free(&table);
	free(bytes);
	return code;
}

int fs_jit_add(struct fs_session *session, const struct fs_jit_files *files, struct fs_error *error)
{
	struct adding adding = { .session = session,
				 .error = error,
				 .order = FIRST_ORDER,
				 .own_maps = session->maps.count };

	if (!files->perf_map_count && !files->dump_count)
		return 0;
	for (size_t i = 0; i < files->perf_map_count + files->dump_count; i++) {
		bool dump = i >= files->perf_map_count;

		adding.option = dump ? "--jitdump" : "--perf-map";
		adding.path = dump ? files->dumps[i - files->perf_map_count] : files->perf_maps[i];
		FS_TRY(add_file(&adding, dump));
	}
	if (adding.skipped)
		fs_loss_add(&session->loss, FS_LOSS_BAD_JIT_ENTRY, adding.skipped, 0, UINT64_MAX,
			    "JIT files");
	if (adding.dropped)
		fs_loss_add(&session->loss, FS_LOSS_JIT_LIMIT, adding.dropped, 0, UINT64_MAX,
			    "JIT files");
	if (fs_maps_settle(&session->maps))
		return fs_fail(error, FS_NOMEM, "out of memory for the mappings of JIT code");
	return 0;
}

void fs_jit_free(struct fs_jit *jit)
{
	free(jit->functions);
	free(jit->lines);
	*jit = (struct fs_jit){ 0 };
}

/* ---- questions ---- */

const struct fs_jit_function *fs_jit_find(const struct fs_jit *jit, uint64_t dso, uint64_t offset)
{
	size_t low = 0;
	size_t high = jit->count;

	while (low < high) { /* the last one at or before (dso, offset) */
		size_t middle = low + (high - low) / 2;
		const struct fs_jit_function *function = &jit->functions[middle];

		if (function->dso < dso || (function->dso == dso && function->offset <= offset))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || jit->functions[low - 1].dso != dso ||
	    offset - jit->functions[low - 1].offset >= jit->functions[low - 1].size)
		return NULL;
	return &jit->functions[low - 1];
}

const struct fs_jit_source_line *
fs_jit_line(const struct fs_jit *jit, const struct fs_jit_function *function, uint64_t offset)
{
	const struct fs_jit_source_line *lines;
	uint64_t address = function->compiled + (offset - function->offset);
	size_t behind;

	if (!function->line_count)
		return NULL;
	lines = jit->lines + function->first_line;
	behind = FS_FIRST_BEHIND(lines, function->line_count, address, address);
	return behind ? &lines[behind - 1] : NULL;
}
