/* base64.h -- base64 as JSON bodies and tokens have it, both alphabets ("+/" and "-_"). */
#ifndef WR_BASE_BASE64_H
#define WR_BASE_BASE64_H

#include <stdbool.h>

#include "base/buf.h"

/* The six bits of a letter of either alphabet; -1: it is none. */
int wr_base64_value(char c);

/* Appends the bytes that `text` stands for. `=` at its end may be missing; anything else that is
 * not of the alphabets, white space too, makes it false, and `out` may have a part of it. */
bool wr_base64_decode(weir_span text, struct wr_buf *out);

/* Appends the text, with "+/" and padded. */
void wr_base64_encode(weir_span bytes, struct wr_buf *out);

#endif
