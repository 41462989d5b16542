/* body.h -- a request that was kept, read again. */
#ifndef WR_TRAFFIC_BODY_H
#define WR_TRAFFIC_BODY_H

#include "store/ledger.h"
#include "weir/request.h"

/* What came, or what was sent: where nothing was changed that is the same. */
static inline weir_span wr_body_of(const struct wr_ledger_row *said, bool is_sent)
{
    return is_sent && said->sent.len ? said->sent : said->came;
}

/* As weir_request_new() of that body, by the path that its row names. */
WEIR_MUST_USE weir_status wr_body_read(const struct wr_ledger_row *said, bool is_sent,
                                       struct weir_request **request, struct weir_err *err);

#endif
