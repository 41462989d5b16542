/* numbered.h -- line numbers that tools print before the lines of a file.
 *
 * "   12→text", "12\ttext", "12: text", "12:text", "  12 | text", "L12: text". A text is taken to
 * be numbered where two lines that follow one another near its front have numbers that do so too.
 */
#ifndef WR_CONDENSE_NUMBERED_H
#define WR_CONDENSE_NUMBERED_H

#include <stdbool.h>

#include "weir/span.h"

struct wr_numbered {
    weir_span separator; /* between number and text; empty: there are no numbers */
};

struct wr_numbered wr_numbered_detect(weir_span text);

/* Bytes before the text of `line`: 0 where it has no number. `number` may be NULL. */
size_t wr_numbered_skip(const struct wr_numbered *numbered, weir_span line, uint64_t *number);

#endif
