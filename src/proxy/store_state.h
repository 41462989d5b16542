/* store_state.h -- how the store is, known to all workers and told once.
 *
 *          failed()                          The state is in the metrics, which all workers share:
 *   well ───────────▶ in trouble             whoever finds out first says so on stderr, and
 * /readyz, ▲                   │                  /weir/v1/health and weir_store_ok answer for all.
 *     └───────────────────┘
 *              well()
 *
 * Any projection may find trouble; the store keeper tries each second whether it is over, for where
 * nobody is ready no requests come.
 */
#ifndef WR_PROXY_STORE_STATE_H
#define WR_PROXY_STORE_STATE_H

#include <stdbool.h>

#include "weir/store.h"

struct wr_metrics;

/* There is a store, and it was written just now. Before any worker is started. */
void wr_store_state_begin(struct wr_metrics *metrics, const struct weir_store *store);

/* `store` (of `dir`) was used: tells where it is another file than before. `place` is for it alone,
 * and 0 at first. */
void wr_store_state_seen(struct wr_metrics *metrics, const char *dir,
                         const struct weir_store *store, uint64_t *place);

/* A call failed so. A store that somebody else holds for a moment, or that refuses one batch, is no
 * store in trouble. */
void wr_store_state_failed(struct wr_metrics *metrics, const char *dir, weir_trouble trouble);

/* It was written. */
void wr_store_state_well(struct wr_metrics *metrics, const char *dir);

/* WEIR_TROUBLE_NONE: it is well, or there is none because that was asked for. */
weir_trouble wr_store_state_trouble(const struct wr_metrics *metrics);
bool wr_store_state_has_store(const struct wr_metrics *metrics);

#endif
