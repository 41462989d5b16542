/* export.h -- a request that was kept, as a log that `weir simulate` reads: one message a line. */
#ifndef WR_TRAFFIC_EXPORT_H
#define WR_TRAFFIC_EXPORT_H

#include "base/buf.h"
#include "store/ledger.h"

/* Appends what came with the request, in Chat Completions' messages, whatever API it came by.
 * Reasoning and the definitions of tools are left out, as importers do. */
WEIR_MUST_USE weir_status wr_export_log(const struct wr_ledger_row *said, struct wr_buf *out,
                                        struct weir_err *err);

#endif
