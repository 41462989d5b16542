/* html.h -- our pages: files of web/ with places that are filled with data.
 *
 * A page is embedded as it is (base/embed.h). What stands in it in double braces is a place:
 *
 *     {{cost}}                     the data of that name
 *     {{?dearer}}...{{/dearer}}    a part that may be left out
 *     {{style}}                    web/style.css, which all pages share
 *
 * 1. Pages load nothing, have no script and are well-formed XML.
 * 2. Text that is not ours goes through wr_html_escape(): bytes that are no UTF-8, and control
 *    characters, show as U+FFFD.
 * 3. Bars are sized in shares of their chart, and text in the reader's own size, so that one page
 *    serves a phone and a desktop.
 */
#ifndef WR_BASE_HTML_H
#define WR_BASE_HTML_H

#include <stdbool.h>

#include "base/buf.h"

/* Writes what belongs in the place `name`, and returns false where there is no such place, which is
 * a wrong program. For a part, `name` begins with `?`: nothing is written, and the answer says
 * whether the part is shown. */
typedef bool wr_html_place_fn(struct wr_buf *out, weir_span name, const void *data);

/* Appends `page` with its places filled. */
void wr_html_fill(struct wr_buf *out, weir_span page, wr_html_place_fn *fill, const void *data);

/* Appends `text` as content or as a quoted attribute. */
void wr_html_escape(struct wr_buf *out, weir_span text);

/* 950, 12.3 K, 4.5 M. */
void wr_html_tokens(struct wr_buf *out, uint64_t tokens);

/* A row of a bar chart: its name stands above its bar and its figures below, so that a long name
 * and long figures do not meet on a phone. After wr_html_row() the caller writes the figures, then
 * `</text>`, then the bars. */
enum { WR_HTML_ROW_PX = 60 };
void wr_html_row(struct wr_buf *out, uint32_t row, weir_span name, bool is_bad);

/* `class` says its colour (web/style.css). */
void wr_html_bar(struct wr_buf *out, uint32_t row, const char *class, double from_percent,
                 double width_percent);

/* A mark across the bar of a row. */
void wr_html_mark(struct wr_buf *out, uint32_t row, const char *class, double at_percent);

#endif
