/* simulate_html.h -- a simulation as one page: charts and tables (base/web.h,
 * web/page/simulate.js).
 */
#ifndef WR_LAB_SIMULATE_HTML_H
#define WR_LAB_SIMULATE_HTML_H

#include "lab/simulate_models.h"

/* Charts and tables of the first report; of several also policies x models. */
void wr_simulate_html(const struct wr_simulate_set *set, struct wr_buf *out);

#endif
