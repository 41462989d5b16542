/* lossless.h -- what can be taken out of printed output without taking anything from its reader.
 *
 * Taken out are frames that a terminal would have drawn over, colours and other escapes
 * (terminal.h); white space at the end of lines; blank lines behind a blank line.
 *
 * 1. Only what a program or a person printed is touched: process, log, test, list, prose. In files,
 * diffs, search results and data white space and control bytes are content that may be quoted.
 * 2. The set of signals stays. Where it would not (an error that was drawn over), frames stay;
 * where even that does not help, the text is its own result.
 * 3. The result is never longer than the text, and never empty unless the text is.
 * 4. Lines are still known by their numbers in the text as it came, unless a cursor that went up
 * has mixed them; `lines_moved` says so.
 * 5. Time is linear in the text.
 */
#ifndef WR_CONDENSE_LOSSLESS_H
#define WR_CONDENSE_LOSSLESS_H

#include <stdbool.h>

#include "base/arena.h"
#include "condense/output_kind.h"

struct wr_lossless_text {
    weir_span text;          /* in the arena, or the input's own */
    bool is_same;            /* nothing was taken out */
    bool is_rendered;        /* there were control bytes, and a terminal obeyed them */
    bool lines_moved;        /* (4): no line has a number */
    uint32_t lines_count;    /* of `text`; 0 where it is the same */
    uint32_t lines_total;    /* of the text as it came; likewise */
    const uint32_t *origins; /* for each line of `text` the line it was, from 0, and lines_total
                              * behind the last; NULL where it is the same, or lines_moved */
};

/* Failure: WEIR_NOMEM, WEIR_LIMIT of the arena. */
WEIR_MUST_USE weir_status wr_lossless(struct wr_lossless_text *out, struct wr_arena *arena,
                                      weir_span text, enum wr_output_kind kind);

#endif
