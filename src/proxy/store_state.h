/* store_state.h -- how the store is, known to all workers and told once.
 *
 *   well ── failed() ──▶ in trouble ── well() ──▶ well
 *
 * The state is in the metrics, which all workers share: whoever finds trouble first says so on
 * stderr, and /readyz, /weir/v1/health and weir_store_ok answer for all. Any projection may find
 * trouble; the keeper tries each second whether it is over, because while the server is not ready
 * no requests may come that would find out.
 */
#ifndef WR_PROXY_STORE_STATE_H
#define WR_PROXY_STORE_STATE_H

#include <stdbool.h>

#include "proxy/config.h"
#include "weir/store.h"

struct wr_metrics;

/* There is a store, and it was written just now. Before any worker is started. */
void wr_store_state_begin(struct wr_metrics *metrics, const struct weir_store *store);

/* `store` (of `dir`) was used: tells if it is another file than before. `place` belongs to this
 * handle of the store, and is 0 at first. */
void wr_store_state_seen(struct wr_metrics *metrics, const char *dir,
                         const struct weir_store *store, uint64_t *place);

/* A call failed with `trouble`. That somebody else holds the store for a moment, or that it refuses
 * one batch, does not count as trouble. */
void wr_store_state_failed(struct wr_metrics *metrics, const char *dir, weir_trouble trouble);

/* It was written. */
void wr_store_state_well(struct wr_metrics *metrics, const char *dir);

/* WEIR_TROUBLE_NONE: it is well, or the server was started without a store. */
weir_trouble wr_store_state_trouble(const struct wr_metrics *metrics);
bool wr_store_state_has_store(const struct wr_metrics *metrics);

/* ---- the keeper ----
 *
 * Takes old sessions out at the start and once a day, as `weir store gc` does: those that nobody
 * has used for `keep_days` and, if there is a cap and the store is over it, those that were not
 * used for longest. A session that was used within the last day never goes, so that what the
 * prompts of a running one point to stays (law L2). Each session goes in a transaction of its own:
 * a request waits for one of them at most.
 */

struct wr_store_keeper;

/* NULL: it has nothing to do, or no thread. Nothing of `config` is kept; `metrics` is borrowed. */
struct wr_store_keeper *wr_store_keeper_new(const struct wr_config *config,
                                            struct wr_metrics *metrics);

/* Ends it; what it is just doing is cut off if that takes longer than a moment, which a store
 * survives. NULL is fine. */
void wr_store_keeper_free(struct wr_store_keeper *keeper);

#endif
