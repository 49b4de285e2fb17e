/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at text (RFC 3629), 0 when there is none. */
static size_t utf8_length(const uint8_t *text, size_t left, uint32_t *ret_point)
{
	uint8_t lead = text[0];
	size_t length = lead < 0x80    ? 1
			: lead >= 0xf0 ? 4
			: lead >= 0xe0 ? 3
			: lead >= 0xc2 ? 2
				       : 0;
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t point;

	if (!length || lead > 0xf4 || length > left)
		return 0;
	point = length == 1 ? lead : lead & (0x7f >> length);
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3f);
	}
	if (point < smallest[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
		return 0;
	*ret_point = point;
	return length;
}

static bool is_harmless(uint32_t point)
{
	if (point < 0x20 || (point >= 0x7f && point < 0xa0))
		return false;
	/* line and paragraph separators, bidirectional marks and overrides */
	if ((point >= 0x200e && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e))
		return false;
	return !(point >= 0x2066 && point <= 0x2069) && point != 0x061c && point != 0xfeff;
}

size_t fs_escape(char *out, size_t out_size, const char *text, size_t length)
{
	static const char digit[] = "0123456789abcdef";
	const uint8_t *in = (const uint8_t *)text;
	size_t used = 0;

	if (!out_size)
		return 0;
	for (size_t i = 0; i < length;) {
		uint32_t point = 0;
		size_t step = utf8_length(in + i, length - i, &point);

		if (step && is_harmless(point)) {
			if (used + step >= out_size)
				break;
			memcpy(out + used, in + i, step);
			used += step;
			i += step;
			continue;
		}
		step = step ? step : 1;
		if (used + 4 * step >= out_size)
			break;
		for (size_t k = 0; k < step; k++) {
			out[used++] = '\\';
			out[used++] = 'x';
			out[used++] = digit[in[i + k] >> 4];
			out[used++] = digit[in[i + k] & 15];
		}
		i += step;
	}
	out[used] = '\0';
	return used;
}

size_t fs_json_escape(char *out, const char *text, size_t length)
{
	const uint8_t *in = (const uint8_t *)text;
	char *at = out;

	for (size_t i = 0; i < length;) {
		uint32_t point = 0;
		size_t step = utf8_length(in + i, length - i, &point);

		if (!step) {
			at += sprintf(at, "\\\\x%02x", in[i++]);
			continue;
		}
		if (!is_harmless(point)) {
			at += sprintf(at, "\\u%04x", point);
		} else {
			if (point == '"' || point == '\\')
				*at++ = '\\';
			memcpy(at, in + i, step);
			at += step;
		}
		i += step;
	}
	return (size_t)(at - out);
}

void fs_hex(char *out, const uint8_t *bytes, size_t length)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < length; i++) {
		out[2 * i] = digit[bytes[i] >> 4];
		out[2 * i + 1] = digit[bytes[i] & 15];
	}
	out[2 * length] = '\0';
}
