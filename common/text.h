/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text that comes from a trace is arbitrary bytes. Everything that shows such text to a person
 * goes through fs_escape().
 */
#ifndef FS_COMMON_TEXT_H
#define FS_COMMON_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copy text into out so that it is one harmless line of valid UTF-8: control bytes, DEL, bytes
 * that are not valid UTF-8, C1 controls and bidirectional overrides become \xNN. Printable
 * text, a backslash included, stays as it is. Always terminates out; cuts at a character
 * boundary when it is full. Returns the length written.
 */
size_t fs_escape(char *out, size_t out_size, const char *text, size_t length);

/*
 * The inside of a JSON string (RFC 8259) that holds text: quotes, backslashes and whatever
 * fs_escape() holds for harmful become escapes, so that nothing is lost; only bytes that are not
 * valid UTF-8, which JSON cannot hold, become the text \xNN. out needs 6 * length + 1 bytes and
 * need not be terminated afterwards. Returns the length written.
 */
size_t fs_json_escape(char *out, const char *text, size_t length);

/* Lower-case hex digits of bytes; out needs 2 * length + 1 bytes. */
void fs_hex(char *out, const uint8_t *bytes, size_t length);

#endif
