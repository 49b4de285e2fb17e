/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: records are summed by type as the walk meets them; what lies between two of them
 * is a gap. Sections are sorted by their begin, and one sweep gives each what is not taken yet.
 */
#include "ingest/perfdata/extent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/vector.h"
#include "ingest/perfdata/host.h"

enum {
	GAPS_MAX = 4096, /* with a row of their own */
	HEADER_SIZE = 104,
	OLD_HEADER_SIZE = 72,
	STREAM_HEADER_SIZE = 16,
};

static const char *const names[FS_RECORD_USER_MAX + 1] = {
	[FS_RECORD_MMAP] = "MMAP",
	[FS_RECORD_LOST] = "LOST",
	[FS_RECORD_COMM] = "COMM",
	[FS_RECORD_EXIT] = "EXIT",
	[FS_RECORD_THROTTLE] = "THROTTLE",
	[FS_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[FS_RECORD_FORK] = "FORK",
	[FS_RECORD_READ] = "READ",
	[FS_RECORD_SAMPLE] = "SAMPLE",
	[FS_RECORD_MMAP2] = "MMAP2",
	[FS_RECORD_AUX] = "AUX",
	[FS_RECORD_ITRACE_START] = "ITRACE_START",
	[FS_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[FS_RECORD_SWITCH] = "SWITCH",
	[FS_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[FS_RECORD_NAMESPACES] = "NAMESPACES",
	[FS_RECORD_KSYMBOL] = "KSYMBOL",
	[FS_RECORD_BPF_EVENT] = "BPF_EVENT",
	[FS_RECORD_CGROUP] = "CGROUP",
	[FS_RECORD_TEXT_POKE] = "TEXT_POKE",
	[FS_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[FS_RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
	[FS_RECORD_HEADER_ATTR] = "HEADER_ATTR",
	[FS_RECORD_HEADER_EVENT_TYPE] = "HEADER_EVENT_TYPE",
	[FS_RECORD_HEADER_TRACING_DATA] = "HEADER_TRACING_DATA",
	[FS_RECORD_HEADER_BUILD_ID] = "HEADER_BUILD_ID",
	[FS_RECORD_FINISHED_ROUND] = "FINISHED_ROUND",
	[FS_RECORD_ID_INDEX] = "ID_INDEX",
	[FS_RECORD_AUXTRACE_INFO] = "AUXTRACE_INFO",
	[FS_RECORD_AUXTRACE] = "AUXTRACE",
	[FS_RECORD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	[FS_RECORD_THREAD_MAP] = "THREAD_MAP",
	[FS_RECORD_CPU_MAP] = "CPU_MAP",
	[FS_RECORD_STAT_CONFIG] = "STAT_CONFIG",
	[FS_RECORD_STAT] = "STAT",
	[FS_RECORD_STAT_ROUND] = "STAT_ROUND",
	[FS_RECORD_EVENT_UPDATE] = "EVENT_UPDATE",
	[FS_RECORD_TIME_CONV] = "TIME_CONV",
	[FS_RECORD_HEADER_FEATURE] = "HEADER_FEATURE",
	[FS_RECORD_COMPRESSED] = "COMPRESSED",
	[FS_RECORD_FINISHED_INIT] = "FINISHED_INIT",
	[FS_RECORD_COMPRESSED2] = "COMPRESSED2",
	[FS_RECORD_BPF_METADATA] = "BPF_METADATA",
	[FS_RECORD_SCHEDSTAT_CPU] = "SCHEDSTAT_CPU",
	[FS_RECORD_SCHEDSTAT_DOMAIN] = "SCHEDSTAT_DOMAIN",
};

const char *fs_record_name(uint32_t type)
{
	if (type == FS_RECORD_SIMPLEPERF_TRACING_DATA)
		return "SIMPLEPERF_TRACING_DATA";
	return type <= FS_RECORD_USER_MAX ? names[type] : NULL;
}

void fs_extents_init(struct fs_extents *extents)
{
	*extents = (struct fs_extents){ 0 };
	for (uint32_t type = 0; type < FS_RECORD_TYPES; type++) {
		const char *name = fs_record_name(type);

		for (int skipped = 0; skipped < 2; skipped++) {
			struct fs_extent *sum = &extents->records[skipped][type];

			*sum = (struct fs_extent){ .first_offset = UINT64_MAX };
			sum->kind = skipped ? FS_EXTENT_RECORD_SKIPPED : FS_EXTENT_RECORD_READ;
			if (name)
				snprintf(sum->name, sizeof(sum->name), "%s", name);
			else
				snprintf(sum->name, sizeof(sum->name), "type %" PRIu32 "%s", type,
					 type == FS_RECORD_TYPES - 1 ? " and above" : "");
		}
	}
}

void fs_extents_free(struct fs_extents *extents)
{
	free(extents->rows);
	*extents = (struct fs_extents){ 0 };
}

static void add_row(struct fs_extents *extents, struct fs_extent row)
{
	if (FS_RESERVE(extents->rows, extents->capacity, extents->count + 1))
		extents->failed = true;
	else
		extents->rows[extents->count++] = row;
}

/* Bytes that nothing claims. Of very many gaps the last are counted together. */
static void add_gap(struct fs_extents *extents, uint64_t begin, uint64_t end, const char *name)
{
	struct fs_extent row = {
		.kind = FS_EXTENT_GAP, .count = 1, .bytes = end - begin, .first_offset = begin
	};
	struct fs_extent *last = extents->count ? &extents->rows[extents->count - 1] : NULL;

	if (begin >= end)
		return;
	if (last && extents->count >= GAPS_MAX && last->kind == FS_EXTENT_GAP) {
		last->count++;
		last->bytes += end - begin;
		return;
	}
	snprintf(row.name, sizeof(row.name), "%s", name);
	add_row(extents, row);
}

void fs_extents_walk(struct fs_extents *extents, uint64_t offset)
{
	extents->position = offset;
}

static uint64_t bytes_of(const struct fs_record *record)
{
	return record->size + record->raw.size;
}

static uint32_t slot_of(const struct fs_record *record)
{
	return record->type < FS_RECORD_TYPES - 1 ? record->type : FS_RECORD_TYPES - 1;
}

void fs_extents_record(struct fs_extents *extents, const struct fs_record *record, bool skipped)
{
	struct fs_extent *sum = &extents->records[skipped][slot_of(record)];

	if (record->offset > extents->position)
		add_gap(extents, extents->position, record->offset, "among records");
	sum->count++;
	sum->bytes += bytes_of(record);
	if (record->offset < sum->first_offset)
		sum->first_offset = record->offset;
	extents->position = record->offset + bytes_of(record);
}

void fs_extents_walked(struct fs_extents *extents, uint64_t end)
{
	add_gap(extents, extents->position, end, "among records");
}

void fs_extents_skip(struct fs_extents *extents, const struct fs_record *record)
{
	struct fs_extent *read = &extents->records[0][slot_of(record)];
	struct fs_extent *skipped = &extents->records[1][slot_of(record)];

	read->count--;
	read->bytes -= bytes_of(record);
	skipped->count++;
	skipped->bytes += bytes_of(record);
	if (record->offset < skipped->first_offset)
		skipped->first_offset = record->offset;
}

/* ---- sections ---- */

/* In the order of their right to bytes where they begin together. */
enum claimant { CLAIM_HEADER, CLAIM_ATTRS, CLAIM_IDS, CLAIM_TABLE, CLAIM_FEATURE };
enum { CLAIM_DATA = CLAIM_FEATURE + FS_FEATURE_BITS, CLAIMANTS };

struct claim {
	uint64_t begin, end;
	uint64_t claimant; /* from CLAIM_FEATURE on: a feature */
};

struct claims {
	const struct fs_perf_file *file;
	struct claim *claims;
	size_t count, capacity;
	struct fs_extent sums[CLAIMANTS];
	bool failed;
};

static void add_claim(struct claims *claims, uint64_t begin, uint64_t end, uint64_t claimant)
{
	if (begin >= end)
		return;
	if (FS_RESERVE(claims->claims, claims->capacity, claims->count + 1))
		claims->failed = true;
	else
		claims->claims[claims->count++] = (struct claim){ begin, end, claimant };
}

/* Claim what of a section lies in the file and outside the data. */
static void claim(struct claims *claims, struct fs_section section, uint64_t claimant)
{
	const struct fs_perf_file *file = claims->file;
	uint64_t begin = section.offset < file->size ? section.offset : file->size;
	uint64_t left = file->size - begin;
	uint64_t end = begin + (section.size < left ? section.size : left);

	claims->sums[claimant].count++;
	add_claim(claims, begin, end < file->data.offset ? end : file->data.offset, claimant);
	add_claim(claims, begin > file->data_end ? begin : file->data_end, end, claimant);
}

static int by_begin(const void *a, const void *b)
{
	const struct claim *left = a;
	const struct claim *right = b;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	return left->claimant < right->claimant ? -1 : left->claimant > right->claimant;
}

static void claim_all(struct claims *claims)
{
	const struct fs_perf_file *file = claims->file;
	uint8_t bytes[16] = { 0 };
	struct fs_reader reader = fs_perf_reader(file, bytes, sizeof(bytes));
	struct fs_section header = { 0, HEADER_SIZE };
	uint64_t size;

	if (!fs_perf_read(file, 0, bytes, sizeof(bytes), NULL)) {
		fs_read_u64(&reader);
		size = fs_read_u64(&reader);
		if (size == OLD_HEADER_SIZE || size == STREAM_HEADER_SIZE)
			header.size = size;
	}
	claim(claims, header, CLAIM_HEADER);
	if (file->attrs.size)
		claim(claims, file->attrs, CLAIM_ATTRS);
	for (size_t i = 0; i < file->event_count; i++)
		if (file->events[i].id_section.size)
			claim(claims, file->events[i].id_section, CLAIM_IDS);
	if (file->feature_table.size)
		claim(claims, file->feature_table, CLAIM_TABLE);
	/* the features of a stream are records */
	for (uint64_t bit = 0; bit < FS_FEATURE_BITS && header.size != STREAM_HEADER_SIZE; bit++)
		if (file->has_feature[bit])
			claim(claims, file->features[bit], CLAIM_FEATURE + bit);
	add_claim(claims, file->data.offset, file->data_end, CLAIM_DATA);
	if (claims->count)
		qsort(claims->claims, claims->count, sizeof(*claims->claims), by_begin);
}

static void name_section(struct fs_extent *row, size_t claimant)
{
	static const char *const fixed[] = { "header", "attrs", "ids", "feature table" };
	const char *name = claimant < CLAIM_FEATURE
				   ? fixed[claimant]
				   : fs_feature_name((unsigned int)claimant - CLAIM_FEATURE);

	row->kind = claimant == CLAIM_HEADER ? FS_EXTENT_HEADER : FS_EXTENT_SECTION;
	if (name)
		snprintf(row->name, sizeof(row->name), "%s", name);
	else
		snprintf(row->name, sizeof(row->name), "feature %zu", claimant - CLAIM_FEATURE);
}

void fs_extents_sections(struct fs_extents *extents, const struct fs_perf_file *file,
			 struct fs_loss *loss)
{
	struct claims claims = { .file = file };
	uint64_t given = 0;

	for (size_t i = 0; i < CLAIMANTS; i++)
		claims.sums[i].first_offset = UINT64_MAX;
	claim_all(&claims);
	/* each claim gets what lies behind all that was given before */
	for (size_t i = 0; i < claims.count; i++) {
		const struct claim *next = &claims.claims[i];
		struct fs_extent *sum = &claims.sums[next->claimant];

		add_gap(extents, given, next->begin, "between sections");
		if (next->begin > given) {
			fs_loss_add(loss, FS_LOSS_TRAILING_BYTES, 1, next->begin - given, given,
				    "between sections");
			given = next->begin;
		}
		if (next->end <= given)
			continue;
		sum->bytes += next->end - given;
		if (sum->first_offset == UINT64_MAX)
			sum->first_offset = given;
		given = next->end;
	}
	add_gap(extents, given, file->size, "behind the sections");
	for (size_t i = 0; i < CLAIM_DATA; i++) {
		if (!claims.sums[i].count)
			continue;
		name_section(&claims.sums[i], i);
		add_row(extents, claims.sums[i]);
	}
	extents->failed |= claims.failed;
	free(claims.claims);
}
