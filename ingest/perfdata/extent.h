/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The account of the input's bytes: each belongs to exactly one of header, section, record read,
 * record skipped and gap.
 *
 *   | header | ids | attrs |  data: records and gaps  | feature table | features |  gap  |
 *
 * Where sections of a damaged file overlap, the part that was walked for records has the first
 * right to its bytes; of all else a byte belongs to what begins first, and of two that begin at
 * one place to the first of header, attrs, ids, feature table, features. What nobody claims is a
 * gap. Records of compressed data have no bytes of their own here: the COMPRESSED record has them.
 */
#ifndef FS_PERFDATA_EXTENT_H
#define FS_PERFDATA_EXTENT_H

#include "ingest/perfdata/perf_file.h"

enum { FS_RECORD_TYPES = 128 }; /* the last stands for all types from there on */

enum fs_extent_kind {
	FS_EXTENT_HEADER,
	FS_EXTENT_SECTION,
	FS_EXTENT_RECORD_READ,
	FS_EXTENT_RECORD_SKIPPED,
	FS_EXTENT_GAP,
	FS_EXTENT_KINDS,
};

/* A sum of extents: a row of table `extent`. */
struct fs_extent {
	enum fs_extent_kind kind;
	char name[32];
	uint64_t count, bytes;
	uint64_t first_offset; /* UINT64_MAX: nowhere, or in several files */
};

struct fs_extents {
	struct fs_extent records[2][FS_RECORD_TYPES]; /* read, skipped */
	struct fs_extent *rows;			      /* header, sections and gaps */
	size_t count, capacity;
	uint64_t position; /* of the walk: where the next record is expected */
	bool failed;	   /* memory ran out: the account is not complete */
};

void fs_extents_init(struct fs_extents *extents);
void fs_extents_free(struct fs_extents *extents);

/* A walk over records of the input begins at an offset, meets records in rising order, and ends. */
void fs_extents_walk(struct fs_extents *extents, uint64_t offset);
void fs_extents_record(struct fs_extents *extents, const struct fs_record *record, bool skipped);
void fs_extents_walked(struct fs_extents *extents, uint64_t end);

/* A record that was counted as read turns out not to be of use. */
void fs_extents_skip(struct fs_extents *extents, const struct fs_record *record);

/*
 * Add what the file has around its records, which lie in [data.offset, data_end). To be called
 * before the file's records are replaced by spooled ones. Gaps go to `loss`.
 */
void fs_extents_sections(struct fs_extents *extents, const struct fs_perf_file *file,
			 struct fs_loss *loss);

/* The name of a record type, NULL for one that is not known. */
const char *fs_record_name(uint32_t type);

#endif
