/* gap.h -- the line that stands where lines of a text were left out.
 *
 *   [... 80 lines left out: 41-120]
 *   [... 1 line left out: 7]
 *   [... 98 parts left out of this line]
 *   [... 12 lines left out of what was shown]
 *
 * It carries no signal, and the scan for signals passes over it as if it were not there, so that
 * what stands behind it is read in the light of what stands before it.
 */
#ifndef WR_CONDENSE_GAP_H
#define WR_CONDENSE_GAP_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends the line with its line end: `count` lines (at least one) from number `first` on. */
void wr_gap_write(struct wr_buf *out, uint64_t first, uint64_t count);

/* The same for `count` parts of one line that is written part by part. */
void wr_gap_write_parts(struct wr_buf *out, uint64_t count);

/* The same for `count` lines of a screen, which have no numbers in the text. */
void wr_gap_write_shown(struct wr_buf *out, uint64_t count);

/* Whether `line`, with or without its line end, is such a line. */
bool wr_gap_is(weir_span line);

#endif
