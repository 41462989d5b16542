/* receipt.h -- what one run cost, and what it would have cost: from its rows in the ledger. */
#ifndef WR_LAUNCH_RECEIPT_H
#define WR_LAUNCH_RECEIPT_H

#include "base/buf.h"
#include "ledger/tally.h"

struct wr_receipt {
    const char *run, *agent;
    struct wr_tally tally;
};

/* Adds up the rows of `run` since `since_ms`. Rows of the day before are read along, because what
 * they left in a session's cache counts. */
WEIR_MUST_USE weir_status wr_receipt_read(struct wr_receipt *receipt, const char *store,
                                          int64_t since_ms, struct weir_err *err);

/* For people: lines, each with `prefix` before it. */
void wr_receipt_print(const struct wr_receipt *receipt, const char *prefix, struct wr_buf *out);

/* For programs: one JSON object and a line end. docs/run.md has its members. */
void wr_receipt_write(const struct wr_receipt *receipt, int exit_status, struct wr_buf *out);

#endif
