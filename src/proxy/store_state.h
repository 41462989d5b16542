/* store_state.h -- how the store is, known to all workers and told once; the stores of a thread;
 * what is kept of a projection.
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

#include "engine/record.h"
#include "proxy/answers.h"
#include "proxy/config.h"
#include "proxy/rollout.h"
#include "weir/request.h"
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

/* ==== the stores of a thread ==== */

/* The one on disk, and for what is only decided and not sent one in memory. */
struct wr_thread_stores {
    const char *dir;            /* given; NULL: there is none on disk */
    struct wr_metrics *metrics; /* given: where it is told how the store is */
    struct weir_store *store;   /* NULL: not open */
    uint64_t place;             /* of it, as wr_store_state_seen() knows it */
    struct weir_store *shadow;  /* made when it is first needed */
};

/* A store that cannot be opened is tried again by the next request: without it nothing that needs a
 * way back is taken out, and the requests still go (law L6). */
void wr_thread_stores_open(struct wr_thread_stores *stores);
void wr_thread_stores_close(struct wr_thread_stores *stores);

/* The one for what was decided; NULL: none. */
struct weir_store *wr_thread_stores_for(struct wr_thread_stores *stores,
                                        const struct wr_decision *decision);

/* How the store was while it was used for a task. */
void wr_thread_stores_note(struct wr_thread_stores *stores, weir_trouble trouble);

/* A store in memory that is full is begun anew: shadow decisions are figures, not promises. */
void wr_thread_stores_empty_shadow(struct wr_thread_stores *stores);

/* ==== what is kept of a projection ==== */

/* What a session's last request foretells (engine/steer.h), kept for `weir plan` and whoever
 * else wants to say something of the session (ledger/steer.h): when the request, which was
 * projected, has left. Where there is nothing to tell, or no room, nothing is kept. */
void wr_plan_keep(struct wr_notes *notes, struct weir_request *request, weir_span tenant,
                  weir_span session, int64_t now_ms);

/* What shadow decides of a session's newest request, kept for people to look at: three files in a
 * folder that the user named, with a number for each session and model. N.came.json and N.made.json
 * are what `weir diff` compares, N.report.json is what `weir why` reads. They hold what was said,
 * so they are readable for their owner alone; without --keep-shadow there are none. Each file is
 * replaced whole, or stays as it was: what cannot be written is no failure. */
void wr_shadow_keep(const char *dir, const struct wr_record *record, weir_span came,
                    weir_span made);

/* A recall tool that was only imagined for the decision is no part of what came. */
void wr_shadow_forget_tool(struct wr_record *record);

#endif
