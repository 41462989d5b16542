/* names_cut.h -- a long line cut to a width, with the names of its middle.
 *
 * What a reader takes from a long text, word for word, are names: paths and identifiers. So of what
 * is left out of the middle these stay, as many as there is room for:
 *
 *   "body": "The first words [… 811 bytes left out …] src/a/b.c … push_policy … and the last."
 *
 * The form is made of pieces of the line in their order; no character of UTF-8 is cut in two.
 */
#ifndef WR_CONDENSE_NAMES_CUT_H
#define WR_CONDENSE_NAMES_CUT_H

#include "base/buf.h"

enum { WR_NAMES_CUT_BYTES_MIN = 120 };

/* Appends `line`, which has no line end, in at most `bytes_max` (at least WR_NAMES_CUT_BYTES_MIN)
 * bytes. A line that is not longer is written as it is. */
void wr_names_cut_write(struct wr_buf *out, weir_span line, size_t bytes_max);

#endif
