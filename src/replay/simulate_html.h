/* simulate_html.h -- a simulation as one page: charts and tables, nothing loaded from elsewhere.
 *
 * 1. The page is also well-formed XML, has no script and asks for nothing over a network.
 * 2. Text from logs and options is escaped; bytes that are no UTF-8, and control characters, show
 *    as U+FFFD.
 * 3. Bars are sized in shares of their chart, and text in the reader's own size, so that one page
 *    serves a phone and a desktop.
 */
#ifndef WR_REPLAY_SIMULATE_HTML_H
#define WR_REPLAY_SIMULATE_HTML_H

#include "replay/simulate_models.h"

/* Charts and tables of the first report; of several also policies x models. */
void wr_simulate_html(const struct wr_simulate_set *set, struct wr_buf *out);

/* The style of our pages. */
extern const char wr_html_style[];

/* Appends `text` as content or as a quoted attribute. */
void wr_html_escape(struct wr_buf *out, weir_span text);

#endif
