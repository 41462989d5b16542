#include "proxy/thread_stores.h"

void wr_thread_stores_open(struct wr_thread_stores *stores)
{
    weir_trouble trouble;

    if (stores->store || !stores->dir)
        return;
    if (weir_store_open(stores->dir, NULL, &stores->store, &trouble, NULL)) {
        stores->store = NULL;
        wr_store_state_failed(stores->metrics, stores->dir, trouble);
    }
}

void wr_thread_stores_close(struct wr_thread_stores *stores)
{
    weir_store_close(stores->shadow);
    weir_store_close(stores->store);
    stores->store = stores->shadow = NULL;
}

struct weir_store *wr_thread_stores_for(struct wr_thread_stores *stores,
                                        const struct wr_decision *decision)
{
    /* The last time of a session that was projected so far: the engine compares, and says whether
     * that is a step. */
    if (decision->action == WR_ACTION_PROJECT || decision->turn == WR_MODE_TURNS_WHOLE)
        return stores->store;
    if (decision->action != WR_ACTION_SHADOW)
        return NULL;
    if (!stores->shadow && weir_store_new_memory(WR_PROXY_SHADOW_BYTES_MAX, &stores->shadow))
        stores->shadow = NULL;
    return stores->shadow;
}

void wr_thread_stores_note(struct wr_thread_stores *stores, weir_trouble trouble)
{
    wr_store_state_seen(stores->metrics, stores->dir, stores->store, &stores->place);
    wr_store_state_failed(stores->metrics, stores->dir, trouble);
}

void wr_thread_stores_empty_shadow(struct wr_thread_stores *stores)
{
    if (!stores->shadow || weir_store_trouble(stores->shadow) != WEIR_TROUBLE_FULL)
        return;
    weir_store_close(stores->shadow);
    stores->shadow = NULL;
}
