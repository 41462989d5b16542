/* tell.h -- everybody in a server who wants to know what happened to a request. */
#ifndef WR_PROXY_TELL_H
#define WR_PROXY_TELL_H

#include "engine/record.h"

struct wr_service;
struct wr_said;

/* What is told beside the record. */
struct wr_told {
    weir_span report;     /* of the projection, as wr_record_report() writes it; empty: nothing was
                           * changed */
    struct wr_said *said; /* the bodies, which may be taken over; NULL: they are not kept */
};

/* Tells all of them of a record that is settled. */
void wr_sinks_tell(struct wr_service *service, const struct wr_record *record,
                   const struct wr_told *told);

#endif
