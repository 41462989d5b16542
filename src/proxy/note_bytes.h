/* note_bytes.h -- numbers and texts as the bytes of a note: little-endian, texts with their length.
 *
 * What is read may be damaged: past the end of the bytes every number is 0 and every text is empty,
 * and `is_short` says so.
 */
#ifndef WR_PROXY_NOTE_BYTES_H
#define WR_PROXY_NOTE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

void wr_note_put(struct wr_buf *out, uint64_t number, size_t bytes); /* 1 to 8 */
void wr_note_put_text(struct wr_buf *out, weir_span text);

struct wr_note_reader {
    weir_span rest;
    bool is_short;
};

uint64_t wr_note_take(struct wr_note_reader *reader, size_t bytes);
weir_span wr_note_take_text(struct wr_note_reader *reader); /* points into what is read */

#endif
