/* store_keeper.h -- looks after a store while it is served, in a thread of its own.
 *
 * Each second it sees whether the store is still at its path and, where it was in trouble
 * (store_state.h), whether it can be written again. It also takes old sessions out.
 *
 * At the start and once a day, as `weir store gc` does: sessions that nobody has used for
 * `keep_days`, and, where there is a cap, above it those that were not used for longest. A session
 * used within the last day never goes, so what a running one's prompts point to stays (law L2). A
 * session goes in a transaction of its own: a request waits for one of them at most.
 */
#ifndef WR_PROXY_STORE_KEEPER_H
#define WR_PROXY_STORE_KEEPER_H

#include "proxy/config.h"
#include "proxy/metrics.h"

struct wr_store_keeper;

/* NULL: it has nothing to do, or no thread. Nothing of `config` is kept; `metrics` is borrowed. */
struct wr_store_keeper *wr_store_keeper_new(const struct wr_config *config,
                                            struct wr_metrics *metrics);

/* Ends it; what it is just doing is cut off if that takes longer than a moment, which a store
 * survives. NULL is fine. */
void wr_store_keeper_free(struct wr_store_keeper *keeper);

#endif
