/* ledger_host.h -- for those who keep a ledger: the functions that ledger.c calls.
 *
 * A keeper's struct begins with a struct wr_ledger, whose `ops` it sets. Arguments were checked;
 * each function does what the one of its name in ledger.h says.
 */
#ifndef WR_STORE_LEDGER_HOST_H
#define WR_STORE_LEDGER_HOST_H

#include "store/ledger.h"
#include "store/spend.h"

struct wr_ledger_ops {
    weir_status (*keep)(struct wr_ledger *ledger, const struct wr_ledger_row *rows,
                        size_t rows_count, const struct wr_ledger_note *notes, size_t notes_count,
                        struct weir_err *err);
    weir_status (*note)(struct wr_ledger *ledger, weir_span tenant,
                        const unsigned char key[WR_LEDGER_KEY_BYTES], weir_span *data,
                        struct weir_err *err);
    weir_status (*each)(struct wr_ledger *ledger, const struct wr_ledger_filter *filter,
                        wr_ledger_row_fn *row, void *user, struct weir_err *err);
    weir_status (*report)(struct wr_ledger *ledger, weir_span tenant, weir_span session,
                          struct wr_ledger_row *report, struct weir_err *err);
    weir_status (*said)(struct wr_ledger *ledger, const struct wr_ledger_which *which,
                        struct wr_ledger_row *said, struct weir_err *err);
    weir_status (*extent)(struct wr_ledger *ledger, uint64_t *rows_count, int64_t *first_id,
                          struct weir_err *err);
    weir_status (*sessions)(struct wr_ledger *ledger, const struct wr_ledger_filter *filter,
                            wr_ledger_session_fn *session, void *user, struct weir_err *err);
    weir_status (*add_sample)(struct wr_ledger *ledger, const struct wr_ledger_sample *sample,
                              struct weir_err *err);
    weir_status (*buckets)(struct wr_ledger *ledger, weir_span tenant, uint32_t newest_max,
                           wr_ledger_bucket_fn *bucket, void *user, struct weir_err *err);
    weir_status (*forget)(struct wr_ledger *ledger, weir_span bucket, struct weir_err *err);
    weir_status (*calibrate)(struct wr_ledger *ledger, weir_span model,
                             wr_ledger_calibrate_fn *change, void *user, struct weir_err *err);
    weir_status (*calibration)(struct wr_ledger *ledger, weir_span model,
                               struct wr_ledger_calibration *calibration, struct weir_err *err);
    weir_status (*reserve)(struct wr_ledger *ledger, const struct wr_spend_request *request,
                           struct wr_spend_verdict *verdict, struct weir_err *err);
    weir_status (*settle)(struct wr_ledger *ledger, weir_span ticket, int64_t tokens,
                          int64_t micro_usd, struct weir_err *err);
    weir_status (*expire)(struct wr_ledger *ledger, int64_t before_ms, int64_t forget_ms,
                          uint64_t *expired_count, struct weir_err *err);
    weir_status (*raise)(struct wr_ledger *ledger, weir_span scope, enum wr_spend_period period,
                         int64_t start_ms, const struct wr_spent *least, struct weir_err *err);
    weir_trouble (*trouble)(const struct wr_ledger *ledger);
    void (*close)(struct wr_ledger *ledger);
};

struct wr_ledger {
    const struct wr_ledger_ops *ops;
    uint64_t said_lost_count; /* rows that `keep` kept without what they said */
};

#endif
