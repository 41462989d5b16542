/* cells.h -- text as a terminal shows it: how many columns it takes, and nothing in it that steers.
 *
 * A cell is one column of the screen. Chinese, Japanese, Korean and most emoji take two, accents
 * that join the letter before them none. The C library's table decides, in UTF-8, whatever the
 * locale of the program is.
 */
#ifndef WR_AGENT_CELLS_H
#define WR_AGENT_CELLS_H

#include "base/buf.h"

/* Bytes of the character that begins `text` (never 0 unless it is empty) and its columns, 0 to 2.
 * A byte that is no UTF-8 is a character of one column. */
size_t wr_cells_char(weir_span text, size_t *cells);

/* The same with the marks that join it: what the cursor steps over. */
size_t wr_cells_step(weir_span text, size_t *cells);

/* Columns of a text without control characters. */
size_t wr_cells_of(weir_span text);

/* The longest beginning of `text` that fits `cells_max` columns. */
weir_span wr_cells_head(weir_span text, size_t cells_max);

/* The beginning of `text` for a line of `cells_max` columns: cut behind the last blank where there
 * is one, else where it is full. Never empty unless `text` is. */
weir_span wr_cells_wrap(weir_span text, size_t cells_max);

/* Appends text of others. What a model, a command or a file says may hold escapes, and they must
 * not steer the terminal: control characters other than a line break (also those of two bytes,
 * U+0080 to U+009F), characters that turn the direction of writing, and bytes that are no UTF-8 are
 * written as '?'. A tab becomes spaces up to the next eighth column of its line. */
void wr_cells_plain(struct wr_buf *out, weir_span text);

#endif
