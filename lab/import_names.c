#include "lab/import_names.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/span.h"

enum { NAMES_CAP_FIRST = 64 };

static uint32_t find_name(const struct wr_names *names, weir_span text, uint64_t hash, uint32_t *at)
{
    uint32_t item;
    for (*at = wr_index_first(&names->index, hash);
         (item = wr_index_item(&names->index, *at)) != WR_INDEX_NONE;
         *at = wr_index_next(&names->index, *at, hash))
        if (wr_span_eq(names->items[item], text))
            return item;
    return WR_NAMES_NONE;
}

/* An index cannot grow, so a larger one is made of what is there. */
static bool grow(struct wr_names *names, struct wr_arena *arena)
{
    uint32_t cap = names->cap, values_cap = cap, at;
    if (!WR_ARENA_ROOM(arena, names->items, names->count, cap, NAMES_CAP_FIRST) ||
        !WR_ARENA_ROOM(arena, names->values, names->count, values_cap, NAMES_CAP_FIRST) ||
        wr_index_init(&names->index, arena, cap))
        return false;
    names->cap = cap;
    for (uint32_t i = 0; i < names->count; i++) {
        uint64_t hash = wr_hash64(names->items[i]);
        (void)find_name(names, names->items[i], hash, &at);
        wr_index_put(&names->index, at, hash, i);
    }
    return true;
}

uint32_t wr_names_add(struct wr_names *names, struct wr_arena *arena, weir_span text, bool *is_new)
{
    uint64_t hash = wr_hash64(text);
    uint32_t at;
    *is_new = false;
    if (names->count == names->cap && !grow(names, arena))
        return WR_NAMES_NONE;
    uint32_t item = find_name(names, text, hash, &at);
    if (item != WR_NAMES_NONE)
        return item;
    *is_new = true;
    names->items[names->count] = text;
    names->values[names->count] = 0;
    wr_index_put(&names->index, at, hash, names->count);
    return names->count++;
}

uint32_t wr_names_find(const struct wr_names *names, weir_span text)
{
    uint32_t at;
    return names->cap ? find_name(names, text, wr_hash64(text), &at) : WR_NAMES_NONE;
}
