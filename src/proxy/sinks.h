/* sinks.h -- everybody in a server who wants to know what happened to a request. */
#ifndef WR_PROXY_SINKS_H
#define WR_PROXY_SINKS_H

#include "record/record.h"

struct wr_service;

/* Tells all of them of a record that is settled. `report` is that of the projection, as
 * record/report.h has it; empty: nothing was changed. */
void wr_sinks_tell(struct wr_service *service, const struct wr_record *record, weir_span report);

#endif
