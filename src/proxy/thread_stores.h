/* thread_stores.h -- the stores of a thread that projects: the one on disk, and for what is only
 * decided and not sent one in memory.
 */
#ifndef WR_PROXY_THREAD_STORES_H
#define WR_PROXY_THREAD_STORES_H

#include "proxy/rollout.h"
#include "proxy/store_state.h"

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

#endif
