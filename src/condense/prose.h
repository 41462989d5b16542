/* prose.h -- keeping whole blocks of lines, the densest in worth first.
 *
 * Single lines here and there cost a gap each and are seldom what is quoted next: an edit quotes
 * lines that stand together. So lines are judged one by one and kept by the block: a paragraph of
 * the text, at most `lines_max` long. A block counts for its worth by the byte, a part of that of
 * its neighbours, and a little more the nearer it is to the front. Time is linear.
 */
#ifndef WR_CONDENSE_PROSE_H
#define WR_CONDENSE_PROSE_H

#include <stdbool.h>

#include "base/buf.h"
#include "condense/keep.h"

/* What is known of each line. */
struct wr_block_line {
    uint16_t worth; /* 0: nothing is lost without it */
    bool is_start;  /* a block begins here */
    bool is_blank;  /* a block ends behind it */
};

/* Keeps blocks while the budget allows; `lines` has keep->lines_count. A block that does not fit is
 * kept from its front. Failure: that of the arena. */
WEIR_MUST_USE weir_status wr_blocks_keep(struct wr_keep *keep, const struct wr_block_line *lines,
                                         uint32_t lines_max);

/* ---- lines that are links ----
 *
 * A long line of links, as searches of the web give them, with the links whole.
 *
 * What is quoted of such a line is a link, to be fetched next, so what stands between them is
 * shortened instead:
 *
 *   Links: [{"title":"A tool that has a long title
 * and…,"url":"https://example.org/tool"},{"title":…
 *
 * The form is made of pieces of the line in their order, with "…" where something is missing.
 */

/* Whether the line has several links. */
bool wr_link_line_is(weir_span line);

/* Appends the form, `bytes_max` of it at most: as many links as fit, from the front. */
void wr_link_line_write(struct wr_buf *out, weir_span line, size_t bytes_max);

#endif
