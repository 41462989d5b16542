/* run_record.h -- what a run did and why, as the engine's part of a record. */
#ifndef WR_ENGINE_RUN_RECORD_H
#define WR_ENGINE_RUN_RECORD_H

#include "engine/record.h"
#include "engine/run.h"

/* Fills in what the run knows; `record` was zeroed. Its lists are in the run's arena, for which
 * alone it can fail. */
WEIR_MUST_USE weir_status wr_run_record(const struct wr_run *run, struct wr_record *record);

#endif
