/* SPDX-License-Identifier: GPL-2.0-only */
#include "query/render/layout.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>

/* Bytes and columns of the character at text, which is not empty. */
static size_t step(const char *text, size_t *ret_width)
{
	mbstate_t state = { 0 };
	wchar_t character;
	size_t left = strnlen(text, MB_LEN_MAX);
	size_t bytes = mbrtowc(&character, text, left, &state);
	int width;

	if (bytes == 0 || bytes > left) {
		*ret_width = 1;
		return 1;
	}
	width = wcwidth(character);
	*ret_width = width < 0 ? 1 : (size_t)width;
	return bytes;
}

size_t fs_layout_width(const char *text)
{
	size_t total = 0;

	while (*text) {
		size_t width;

		text += step(text, &width);
		total += width;
	}
	return total;
}

static size_t sum_at(const struct fs_layout_column *columns, size_t count, size_t level)
{
	size_t sum = count ? count - 1 : 0;

	for (size_t i = 0; i < count; i++) {
		size_t width = columns[i].natural < level ? columns[i].natural : level;

		sum += width > columns[i].least ? width : columns[i].least;
	}
	return sum;
}

void fs_layout_fit(struct fs_layout_column *columns, size_t count, size_t total)
{
	size_t level = 0;
	size_t widest = 0;

	for (size_t i = 0; i < count; i++)
		widest = columns[i].natural > widest ? columns[i].natural : widest;
	while (level < widest && sum_at(columns, count, level + 1) <= total)
		level++;
	for (size_t i = 0; i < count; i++)
		columns[i].width = sum_at(&columns[i], 1, level);
}

void fs_layout_cut(char *text, size_t width, bool keep_end)
{
	size_t have = fs_layout_width(text);
	size_t skipped = 0;
	size_t used = 0;
	char *cursor = text;
	size_t columns;

	if (have <= width || !width)
		return;
	if (keep_end) {
		while (*cursor && have - skipped > width - 1) {
			cursor += step(cursor, &columns);
			skipped += columns;
		}
		/* Every character that was skipped had a byte to spare for the mark. */
		memmove(text + 1, cursor, strlen(cursor) + 1);
		*text = '~';
		return;
	}
	for (;;) {
		size_t bytes = step(cursor, &columns);

		if (used + columns > width - 1)
			break;
		used += columns;
		cursor += bytes;
	}
	strcpy(cursor, "~");
}

void fs_layout_wrap(char *text, size_t width)
{
	char *blank = NULL;
	size_t used = 0;

	for (char *cursor = text; *cursor;) {
		size_t columns;
		size_t bytes = step(cursor, &columns);

		if (*cursor == ' ')
			blank = cursor;
		used += columns;
		if (used > width && blank) {
			*blank = '\n';
			cursor = blank + 1;
			blank = NULL;
			used = 0;
			continue;
		}
		cursor += bytes;
	}
}
