/* text.h -- UTF-8, and small changes to text meant for a reader: cut by characters, put on one
 * line.
 *
 * No locale. White space is ASCII's. In changes a character is a byte and the bytes 0x80 to 0xBF
 * that follow it, so UTF-8 is never cut inside one.
 */
#ifndef WR_BASE_TEXT_H
#define WR_BASE_TEXT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

/* ==== UTF-8 ==== */

/* WTF-8 is UTF-8 that also allows the three-byte forms of surrogates; JSON text may spell a lone
 * surrogate as an escape, and this is the form it has once unescaped.
 */

/* A byte that goes on with a character and begins none. */
static inline bool wr_utf8_is_tail(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Bytes of the valid sequence that begins `text`, its code point in `*code`; 0 where there is none.
 * Overlong forms, values above U+10FFFF and (unless `wtf8`) surrogates are not valid. */
size_t wr_utf8_decode(weir_span text, bool wtf8, uint32_t *code);

/* Writes `code` (at most U+10FFFF; surrogates in their three-byte form) and returns its bytes, 1
 * to 4. */
size_t wr_utf8_encode(uint32_t code, char out[4]);

/* Offset of the first byte that is not part of a valid sequence; text.len when all is valid. */
size_t wr_utf8_check(weir_span text, bool wtf8);

/* ==== changes ==== */

/* The first and the last `chars_max` characters of `text`, or all of it. */
weir_span wr_text_head(weir_span text, uint64_t chars_max);
weir_span wr_text_tail(weir_span text, uint64_t chars_max);

/* Appends `text` on one line: runs of white space are one space, none at the ends. */
void wr_text_one_line(struct wr_buf *out, weir_span text);

/* The same, cut to `chars_max` characters of the result, " ..." behind what is cut. */
void wr_text_one_line_max(struct wr_buf *out, weir_span text, uint64_t chars_max);

/* One line of at most `width` columns that shows how `text` begins; control bytes become spaces. */
void wr_text_excerpt(struct wr_buf *out, weir_span text, size_t width);

/* How many characters `text` has; a terminal's colours (ESC [ ... m) are none. */
size_t wr_text_width(weir_span text);

/* Appends the words of `text`, one space between two, on lines of at most `width` characters, but
 * for words that are longer. Lines after the first begin with `indent` spaces, which are not
 * counted; the last has no '\n'. */
void wr_text_wrap(struct wr_buf *out, weir_span text, size_t width, size_t indent);

/* Appends `text`, with lines that are wider than `width` wrapped. They go on below their own text:
 * behind a label that two spaces end, else two columns further in. */
void wr_text_fit(struct wr_buf *out, weir_span text, size_t width);

/* Appends every line of `text` with `prefix` before it and '\n' behind it. */
void wr_text_indent(struct wr_buf *out, weir_span text, const char *prefix);

/* Copies what `buf` holds into `arena` and releases the buffer. Its failure, or the arena's. */
WEIR_MUST_USE weir_status wr_text_keep(struct wr_arena *arena, struct wr_buf *buf, weir_span *text);

/* Copies `text` into `arena` as wr_text_one_line_max() would write it. */
WEIR_MUST_USE weir_status wr_text_keep_line(struct wr_arena *arena, weir_span text,
                                            uint64_t chars_max, weir_span *kept);

bool wr_text_is_blank(weir_span text);

/* "12,345,678". It is written to the end of `text`, and a pointer to its first digit is returned.
 */
enum { WR_GROUPED_BYTES = 27 }; /* of the largest number, with its NUL */
const char *wr_text_grouped(uint64_t number, char text[WR_GROUPED_BYTES]);

/* The same in memory of its own, good until the end of the block it stands in. */
#define WR_GROUPED(number) wr_text_grouped((number), (char[WR_GROUPED_BYTES]){0})

/* `text` itself where it is valid UTF-8, else a copy in `arena` in which U+FFFD stands for every
 * byte that begins nothing valid, and for every lone surrogate: strict readers of JSON refuse those
 * even as escapes. Originals are bytes; this is how they are shown. Failure: the arena's. */
WEIR_MUST_USE weir_status wr_valid_text(struct wr_arena *arena, weir_span text, weir_span *valid,
                                        uint64_t *replaced_count);

#endif
