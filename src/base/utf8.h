/* utf8.h -- UTF-8 by hand: decoding, encoding, validity. No locale.
 *
 * WTF-8 is UTF-8 that also allows the three-byte forms of surrogates; JSON text may spell a lone
 * surrogate as an escape, and this is the form it has once unescaped.
 */
#ifndef WR_BASE_UTF8_H
#define WR_BASE_UTF8_H

#include <stdbool.h>

#include "weir/span.h"

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

#endif
