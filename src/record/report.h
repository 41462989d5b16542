/* report.h -- a sink of the record: what the engine did and why, as one JSON object
 * (docs/policies.md). It is what weir_projected.report is, and what `weir why` shows. */
#ifndef WR_RECORD_REPORT_H
#define WR_RECORD_REPORT_H

#include "base/buf.h"
#include "record/record.h"

void wr_record_report(const struct wr_record *record, struct wr_buf *out);

#endif
