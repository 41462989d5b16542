/* text.h -- small changes to text meant for a reader: cut by characters, put on one line.
 *
 * A character is a byte and the bytes 0x80 to 0xBF that follow it, so UTF-8 is never cut inside
 * one. White space is ASCII's.
 */
#ifndef WR_BASE_TEXT_H
#define WR_BASE_TEXT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

/* The first and the last `chars_max` characters of `text`, or all of it. */
weir_span wr_text_head(weir_span text, uint64_t chars_max);
weir_span wr_text_tail(weir_span text, uint64_t chars_max);

/* Appends `text` on one line: runs of white space are one space, none at the ends. */
void wr_text_one_line(struct wr_buf *out, weir_span text);

/* The same, cut to `chars_max` characters of the result, " ..." behind what is cut. */
void wr_text_one_line_max(struct wr_buf *out, weir_span text, uint64_t chars_max);

/* Appends every line of `text` with `prefix` before it and '\n' behind it. */
void wr_text_indent(struct wr_buf *out, weir_span text, const char *prefix);

/* Copies what `buf` holds into `arena` and releases the buffer. Its failure, or the arena's. */
WEIR_MUST_USE weir_status wr_text_keep(struct wr_arena *arena, struct wr_buf *buf, weir_span *text);

bool wr_text_is_space(char c);
bool wr_text_is_blank(weir_span text);

#endif
