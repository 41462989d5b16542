/* link_line.h -- a long line of links, as searches of the web give them, with the links whole.
 *
 * What is quoted of such a line is a link, to be fetched next, so what stands between them is
 * shortened instead:
 *
 *   Links: [{"title":"A tool that has a long title
 * and…,"url":"https://example.org/tool"},{"title":…
 *
 * The form is made of pieces of the line in their order, with "…" where something is missing.
 */
#ifndef WR_CONDENSE_LINK_LINE_H
#define WR_CONDENSE_LINK_LINE_H

#include <stdbool.h>

#include "base/buf.h"

/* Whether the line has several links. */
bool wr_link_line_is(weir_span line);

/* Appends the form, `bytes_max` of it at most: as many links as fit, from the front. */
void wr_link_line_write(struct wr_buf *out, weir_span line, size_t bytes_max);

#endif
