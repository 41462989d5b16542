#include "proxy/upstream_state.h"

#include "base/hash.h"
#include "base/span.h"

/* NULL: all places are taken, by names that are no longer configured. */
static struct wr_upstream_state *state_of(struct wr_upstream_states *states, const char *name)
{
    uint64_t hash = wr_hash64(wr_span_of(name)) | 1;

    for (size_t i = 0; i < WR_COUNT_OF(states->items); i++) {
        uint64_t expected = 0;
        if (atomic_load(&states->items[i].name) == hash ||
            atomic_compare_exchange_strong(&states->items[i].name, &expected, hash) ||
            expected == hash)
            return &states->items[i];
    }
    return NULL;
}

void wr_upstream_state_note(struct wr_upstream_states *states, const char *name, bool is_reached,
                            int64_t now_ms)
{
    struct wr_upstream_state *state = state_of(states, name);

    if (state && is_reached)
        atomic_store(&state->failures, 0);
    else if (state && !atomic_fetch_add(&state->failures, 1))
        atomic_store(&state->since_ms, now_ms);
}

static const struct wr_upstream_state *find_state(const struct wr_upstream_states *states,
                                                  const char *name)
{
    uint64_t hash = wr_hash64(wr_span_of(name)) | 1;

    for (size_t i = 0; i < WR_COUNT_OF(states->items); i++)
        if (atomic_load(&states->items[i].name) == hash)
            return &states->items[i];
    return NULL;
}

bool wr_upstream_is_down(const struct wr_upstream_states *states, const char *name,
                         int64_t *since_ms)
{
    const struct wr_upstream_state *state = find_state(states, name);

    *since_ms = state ? atomic_load(&state->since_ms) : 0;
    return state && atomic_load(&state->failures) >= WR_UPSTREAM_TRIES_MIN;
}

bool wr_upstream_is_known(const struct wr_upstream_states *states, const char *name)
{
    return find_state(states, name) != NULL;
}
