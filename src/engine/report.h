/* report.h -- what a run did and why, as one JSON object (docs/policies.md). */
#ifndef WR_ENGINE_REPORT_H
#define WR_ENGINE_REPORT_H

#include "engine/run.h"

enum { WR_REPORT_FORMS_MAX = WR_FORM_DROPPED + 1 };

/* `held_back`: why nothing of it, or not all of it, was sent after all; or NULL. */
void wr_run_report(const struct wr_run *run, const char *held_back, struct wr_buf *out);

#endif
