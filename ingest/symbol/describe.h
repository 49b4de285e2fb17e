/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Send types, fields and variables to the parent. Runs in the helper.
 */
#ifndef FS_INGEST_SYMBOL_DESCRIBE_H
#define FS_INGEST_SYMBOL_DESCRIBE_H

#include "ingest/symbol/data_type.h"
#include "ingest/symbol/reply.h"

/* What has been sent. */
struct fs_descriptions {
	struct fs_reply_writer *writer;
	struct fs_data_types *types;
	struct fs_interner texts; /* sent, by number */
	struct fs_table sent;	  /* number of a type -> number sent */
	uint32_t *pending;	  /* types whose fields are still to be sent, by number sent */
	size_t pending_count, pending_capacity;
	size_t described; /* of pending */
	size_t field_count;
};

void fs_descriptions_init(struct fs_descriptions *descriptions, struct fs_reply_writer *writer,
			  struct fs_data_types *types);
void fs_descriptions_free(struct fs_descriptions *descriptions);

/* The number of a text, sent when it is new. 0 or FS_NOMEM. */
int fs_describe_text(struct fs_descriptions *descriptions, const char *text, size_t length,
		     uint32_t *ret_id);

/*
 * The number of a type, sent with its fields when it is new, as far as FS_REPLY_TYPES_MAX and
 * FS_REPLY_FIELDS_MAX allow; FS_SYMBOL_NONE beyond them, and for no type.
 */
int fs_describe_type(struct fs_descriptions *descriptions, uint32_t type, uint32_t *ret_id);

/* The number of the path to a byte of a type; FS_SYMBOL_NONE where it has no name. */
int fs_describe_path(struct fs_descriptions *descriptions, uint32_t type, uint64_t offset,
		     uint64_t width, bool element_known, uint32_t *ret_id);

#endif
