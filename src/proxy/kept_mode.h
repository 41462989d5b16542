/* kept_mode.h -- the mode that a session keeps, in the store, for processes that come later; and
 * the policy that a tenant wants for sessions that begin. */
#ifndef WR_PROXY_KEPT_MODE_H
#define WR_PROXY_KEPT_MODE_H

#include "base/arena.h"
#include "proxy/rollout.h"
#include "weir/store.h"

/* Fills in what the store has to say of a session that `sessions` does not know: the mode that it
 * keeps, or else the policy that is wanted for new ones; both in `arena`. `store` may be NULL. */
void wr_kept_ask(struct weir_store *store, struct wr_arena *arena, struct wr_sessions *sessions,
                 int64_t now_ms, struct wr_rollout_input *input);

/* What cannot be kept is decided anew by the next process, which decides the same unless its
 * configuration has changed. */
void wr_keep_mode(struct weir_store *store, weir_span tenant, weir_span session, int64_t now_ms,
                  const struct wr_decision *decision, bool replaces);

/* The policy that is wanted for new sessions of a tenant, whatever weir.yaml says; empty: none is.
 * It lives until the store's next call. `store` may be NULL. */
weir_span wr_wanted_policy(struct weir_store *store, weir_span tenant);

/* `policy` is wanted from now on; empty: the configured one is. */
WEIR_MUST_USE weir_status wr_want_policy(struct weir_store *store, weir_span tenant,
                                         weir_span policy, int64_t now_ms, struct weir_err *err);

#endif
