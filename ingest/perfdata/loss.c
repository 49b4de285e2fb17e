/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/perfdata/loss.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ENTRIES_MAX = 4096 };

#define LOSS(suffix, name, severity, text)                                                         \
	[FS_LOSS_##suffix] = { name, FS_SEVERITY_##severity, text },
const struct fs_loss_description fs_loss_descriptions[FS_LOSS_MAX] = {
#include "ingest/perfdata/loss.def"
};
#undef LOSS

void fs_loss_init(struct fs_loss *loss)
{
	*loss = (struct fs_loss){ 0 };
	fs_table_init(&loss->entries, sizeof(struct fs_loss_key), sizeof(struct fs_loss_value));
	fs_interner_init(&loss->scopes);
}

void fs_loss_free(struct fs_loss *loss)
{
	fs_table_free(&loss->entries);
	fs_interner_free(&loss->scopes);
}

/* Numbers end up in signed columns, and some come from the file. */
static uint64_t add(uint64_t sum, uint64_t more)
{
	return more > INT64_MAX - sum ? INT64_MAX : sum + more;
}

void fs_loss_add(struct fs_loss *loss, enum fs_loss_kind kind, uint64_t count, uint64_t bytes,
		 uint64_t offset, const char *scope_format, ...)
{
	struct fs_loss_key key = { .kind = kind };
	struct fs_loss_value *value;
	char scope[128];
	va_list args;
	bool added = false;

	va_start(args, scope_format);
	vsnprintf(scope, sizeof(scope), scope_format, args);
	va_end(args);
	/* a file may make up a new record type or CPU for each of its records */
	if (loss->entries.count >= ENTRIES_MAX &&
	    !fs_interner_find(&loss->scopes, scope, strlen(scope), &key.scope))
		snprintf(scope, sizeof(scope), "others");
	if (fs_intern(&loss->scopes, scope, strlen(scope), &key.scope)) {
		loss->overflowed = true;
		return;
	}
	value = fs_table_put(&loss->entries, &key, NULL, &added);
	if (!value) {
		loss->overflowed = true;
		return;
	}
	if (added)
		value->first_offset = UINT64_MAX;
	value->count = add(value->count, count);
	value->bytes = add(value->bytes, bytes);
	if (offset < value->first_offset)
		value->first_offset = offset;
}

bool fs_loss_is_damaged(const struct fs_loss *loss)
{
	for (size_t i = 0; i < loss->entries.count; i++) {
		const struct fs_loss_key *key = fs_table_key(&loss->entries, i);

		if (fs_loss_descriptions[key->kind].severity == FS_SEVERITY_ERROR)
			return true;
	}
	return loss->overflowed;
}
