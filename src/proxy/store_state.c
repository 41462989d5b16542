#include "proxy/store_state.h"

#include <stdio.h>

#include "proxy/metrics.h"
#include "store/sqlite.h"

void wr_store_state_begin(struct wr_metrics *metrics, const struct weir_store *store)
{
    atomic_store(&metrics->store_place, wr_sqlite_place_id(store));
}

void wr_store_state_seen(struct wr_metrics *metrics, const char *dir,
                         const struct weir_store *store, uint64_t *place)
{
    uint64_t now = wr_sqlite_place_id(store);

    if (*place == now)
        return;
    *place = now;
    if (atomic_exchange(&metrics->store_place, now) == now)
        return;
    fprintf(stderr,
            "weir serve: files of the store in %s were removed or replaced while it was in use;"
            " another store.db is in use now. Sessions that go on put their originals back; handles"
            " of others may not be found\n",
            dir);
}

static bool is_trouble(weir_trouble trouble)
{
    switch (trouble) {
    case WEIR_TROUBLE_NONE:
    case WEIR_TROUBLE_LOCKED:
    case WEIR_TROUBLE_COLLISION:
    case WEIR_TROUBLE_CONFLICT:
    case WEIR_TROUBLE_REPLACED:
        return false;
    default:
        return true;
    }
}

void wr_store_state_failed(struct wr_metrics *metrics, const char *dir, weir_trouble trouble)
{
    if (!is_trouble(trouble) || atomic_exchange(&metrics->store_trouble, (uint64_t)trouble))
        return;
    fprintf(stderr,
            "weir serve: store %s: %s. Until it can be written again nothing new is shortened;"
            " what was shortened stays so while its original can be read\n",
            dir, weir_trouble_text(trouble));
}

void wr_store_state_well(struct wr_metrics *metrics, const char *dir)
{
    if (atomic_exchange(&metrics->store_trouble, 0))
        fprintf(stderr, "weir serve: store %s is written again\n", dir);
}

weir_trouble wr_store_state_trouble(const struct wr_metrics *metrics)
{
    return (weir_trouble)atomic_load(&metrics->store_trouble);
}

bool wr_store_state_has_store(const struct wr_metrics *metrics)
{
    return atomic_load(&metrics->store_place);
}
