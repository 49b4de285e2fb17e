/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/perfdata/loss.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	ENTRIES_MAX = 4096,
	WINDOWS_MAX = 4096,
	WINDOW_SHIFT_FIRST = 20, /* a millisecond */
	WINDOW_SHIFT_LAST = 63,
};

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
	fs_table_init(&loss->numbers, sizeof(struct fs_loss_number_key), sizeof(uint64_t));
	fs_table_init(&loss->windows, sizeof(struct fs_loss_window_key),
		      sizeof(struct fs_loss_window));
	loss->window_shift = WINDOW_SHIFT_FIRST;
}

void fs_loss_free(struct fs_loss *loss)
{
	fs_table_free(&loss->entries);
	fs_interner_free(&loss->scopes);
	fs_table_free(&loss->numbers);
	fs_table_free(&loss->windows);
}

/* Numbers end up in signed columns, and some come from the file. */
static uint64_t add(uint64_t sum, uint64_t more)
{
	return more > INT64_MAX - sum ? INT64_MAX : sum + more;
}

static const char others[] = "others";

/* The entry of a kind and scope, new or old; NULL when memory ran out. */
static struct fs_loss_value *entry_of(struct fs_loss *loss, enum fs_loss_kind kind,
				      const char *scope, uint32_t *ret_index)
{
	struct fs_loss_key key = { .kind = kind };
	struct fs_loss_value *value = NULL;
	bool added = false;

	/* a file may make up a new record type or CPU for each of its records */
	if (loss->entries.count >= ENTRIES_MAX &&
	    !fs_interner_find(&loss->scopes, scope, strlen(scope), &key.scope))
		scope = others;
	if (!fs_intern(&loss->scopes, scope, strlen(scope), &key.scope))
		value = fs_table_put(&loss->entries, &key, ret_index, &added);
	if (!value)
		loss->overflowed = true;
	else if (added)
		value->first_offset = UINT64_MAX;
	return value;
}

static void count(struct fs_loss_value *value, uint64_t more, uint64_t bytes, uint64_t offset)
{
	if (!value)
		return;
	value->count = add(value->count, more);
	value->bytes = add(value->bytes, bytes);
	if (offset < value->first_offset)
		value->first_offset = offset;
}

void fs_loss_add(struct fs_loss *loss, enum fs_loss_kind kind, uint64_t more, uint64_t bytes,
		 uint64_t offset, const char *scope_format, ...)
{
	char scope[128];
	va_list args;

	va_start(args, scope_format);
	vsnprintf(scope, sizeof(scope), scope_format, args);
	va_end(args);
	count(entry_of(loss, kind, scope, NULL), more, bytes, offset);
}

void fs_loss_add_numbered(struct fs_loss *loss, enum fs_loss_kind kind, uint64_t more,
			  uint64_t bytes, uint64_t offset, const char *scope, int64_t number)
{
	struct fs_loss_number_key key = { (uintptr_t)scope, kind, number };
	const uint64_t *known = fs_table_get(&loss->numbers, &key);
	struct fs_loss_value *value;
	uint64_t *index;
	char text[128];
	uint32_t entry;

	if (known) {
		count(fs_table_value(&loss->entries, *known), more, bytes, offset);
		return;
	}
	if (loss->numbers.count >= ENTRIES_MAX && scope != others) {
		fs_loss_add_numbered(loss, kind, more, bytes, offset, others, -1);
		return;
	}
	if (number < 0)
		snprintf(text, sizeof(text), "%s", scope);
	else
		snprintf(text, sizeof(text), "%s %" PRId64, scope, number);
	value = entry_of(loss, kind, text, &entry);
	count(value, more, bytes, offset);
	if (!value)
		return;
	index = fs_table_put(&loss->numbers, &key, NULL, NULL);
	if (index)
		*index = entry;
	else
		loss->overflowed = true;
}

static bool add_window(struct fs_table *windows, const struct fs_loss_window_key *key,
		       const struct fs_loss_window *more)
{
	bool added;
	struct fs_loss_window *window = fs_table_put(windows, key, NULL, &added);

	if (!window)
		return false;
	if (added || more->first_ns < window->first_ns)
		window->first_ns = more->first_ns;
	if (more->last_ns > window->last_ns)
		window->last_ns = more->last_ns;
	window->count = add(window->count, more->count);
	return true;
}

/* Join windows two by two. */
static bool widen(struct fs_loss *loss)
{
	struct fs_table old = loss->windows;
	bool good = true;

	fs_table_init(&loss->windows, old.key_size, old.value_size);
	loss->window_shift++;
	for (size_t i = 0; good && i < old.count; i++) {
		struct fs_loss_window_key key =
			*(const struct fs_loss_window_key *)fs_table_key(&old, i);

		key.window >>= 1;
		good = add_window(&loss->windows, &key, fs_table_value(&old, i));
	}
	fs_table_free(&old);
	return good;
}

void fs_loss_add_time(struct fs_loss *loss, enum fs_loss_kind kind, uint64_t count, uint32_t cpu,
		      uint64_t first_ns, uint64_t last_ns)
{
	struct fs_loss_window_key key = { .kind = kind,
					  .cpu = cpu,
					  .window = first_ns >> loss->window_shift };
	struct fs_loss_window window = { count, first_ns, last_ns };
	bool good = true;

	/* a file may make up CPUs: those beyond the limit are counted together */
	if (loss->windows.count >= WINDOWS_MAX && loss->window_shift == WINDOW_SHIFT_LAST &&
	    !fs_table_get(&loss->windows, &key))
		key.cpu = UINT32_MAX;
	good = add_window(&loss->windows, &key, &window);
	while (good && loss->windows.count > WINDOWS_MAX && loss->window_shift < WINDOW_SHIFT_LAST)
		good = widen(loss);
	loss->overflowed |= !good;
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
