/* simulate_csv.h -- a simulation as rows: one a session and policy (RFC 4180).
 *
 * Shares are between 0 and 1. `ratio_to_raw` is empty where neither `exact` nor `raw` was run, and
 * a first sight of nothing is 1.
 */
#ifndef WR_LAB_SIMULATE_CSV_H
#define WR_LAB_SIMULATE_CSV_H

#include "lab/simulate_report.h"

/* A text, quoted where it must be. One that a spreadsheet would take for a formula gets a ' before
 * it: paths and names are whatever a log says. */
void wr_csv_text(struct wr_buf *out, weir_span text);

void wr_simulate_csv_head(struct wr_buf *out);

/* The rows of one report; several reports (one a model) may share one head. */
void wr_simulate_csv_rows(struct wr_simulate_report *report, struct wr_buf *out);

#endif
