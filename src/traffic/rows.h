/* rows.h -- rows of requests as JSON, for the chart of a session and the tail (docs/page.md). */
#ifndef WR_TRAFFIC_ROWS_H
#define WR_TRAFFIC_ROWS_H

#include "json/write.h"
#include "ledger/tally.h"

/* Writes rows one after the other. Those of one session are given in order: money depends on what
 * is in the provider's cache. */
struct wr_traffic_rows {
    const struct wr_models *models; /* borrowed */
    struct wr_tallier *tallier;
    struct wr_arena arena; /* of one row */
    struct wr_json_writer *writer;
    bool names_session; /* each row says whose it is, and nothing that depends on rows before it */
    uint64_t count;
};

WEIR_MUST_USE weir_status wr_traffic_rows_init(struct wr_traffic_rows *rows,
                                               const struct wr_models *models,
                                               struct wr_json_writer *writer);
void wr_traffic_rows_release(struct wr_traffic_rows *rows);

/* A wr_ledger_row_fn, with the rows as its user: one object into the open array. */
weir_status wr_traffic_rows_add(void *rows, const struct wr_ledger_row *row);

#endif
