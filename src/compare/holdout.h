/* holdout.h -- sessions that were left alone against those through Weir, by agent and model.
 *
 * In mode `holdout N%` (and `canary N%`) a hash of its name decides which arm a session is in, so
 * the two differ by chance alone. A session counts for the arm that it was drawn for, whether or
 * not anything of it was changed: leaving out those that Weir had nothing to do for would compare
 * long sessions with short ones.
 *
 * 1. The unit is a session with one model, for helpers ask other ones under the same session.
 * 2. Figures are by task, an answer that ends a loop: sums over sessions, with the error taken over
 *    sessions (compare/stats.h).
 * 3. Fewer than WR_HOLDOUT_LEAST sessions in an arm, or ten events in both, have no verdict.
 */
#ifndef WR_COMPARE_HOLDOUT_H
#define WR_COMPARE_HOLDOUT_H

#include "base/arena.h"
#include "base/buf.h"
#include "compare/stats.h"
#include "ledger/tally.h"

enum { WR_HOLDOUT_LEAST = 20 };

struct wr_holdout;

/* `models` is borrowed. NULL: out of memory. Rows before `since_ms` are read for their caches only.
 */
struct wr_holdout *wr_holdout_new(const struct wr_models *models, int64_t since_ms);
void wr_holdout_free(struct wr_holdout *holdout); /* NULL is fine */

/* A wr_ledger_row_fn, with the holdout as its user. */
weir_status wr_holdout_add(void *holdout, const struct wr_ledger_row *row);

/* What was compared, for people and as one JSON object. */
void wr_holdout_print(struct wr_holdout *holdout, struct wr_buf *out);
void wr_holdout_write(struct wr_holdout *holdout, struct wr_buf *out);

#endif
