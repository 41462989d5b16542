/* terminal.h -- what a terminal would show in the end: progress bars, spinners and redrawn lines in
 * their last state, without colours.
 *
 * 1. A text without escapes, backspaces and carriage returns (those of CRLF aside) passes
 * untouched.
 * 2. Obeyed are CR, BS, tab, LF, and the escapes that move the cursor (CSI A to H, d, f, s, u; ESC
 * 7, 8, D, E, M) or erase (CSI J, K; ESC c). All others are taken out: colours, titles, modes.
 * 3. The screen is as wide as its lines are: nothing wraps. A character takes one column, a tab up
 * to eight. Lines leave it at the top, WR_TERMINAL_ROWS_MAX above the newest, and are then final.
 * 4. Lines that no control byte redraws keep their very bytes; of the others, white space at the
 * end is gone.
 * 5. The result is never longer than the text, and rendering it again changes nothing.
 * 6. Time is linear in the text.
 */
#ifndef WR_CONDENSE_TERMINAL_H
#define WR_CONDENSE_TERMINAL_H

#include <stdbool.h>

#include "base/arena.h"

struct wr_terminal_text {
    weir_span text;   /* in the arena, or the input's own */
    bool is_same;     /* nothing to do, or not to be done within the limits */
    bool lines_moved; /* the cursor went up or down, or lines were erased: unless this is set, line
                       * n of the result is what became of line n of the text */
};

/* Failure: WEIR_NOMEM, WEIR_LIMIT of the arena. */
WEIR_MUST_USE weir_status wr_terminal_render(struct wr_terminal_text *out, struct wr_arena *arena,
                                             weir_span text);

/* The whole lines at the end (or at the front) of `text` that have at most `bytes_max` bytes
 * together. Where not even one fits, the end (the front) of that line, no character of UTF-8 cut in
 * two. WR_TERMINAL_STREAM_BYTES_MAX and WR_TERMINAL_VALUE_BYTES_MAX are the usual caps. */
weir_span wr_terminal_tail(weir_span text, size_t bytes_max);

#endif
