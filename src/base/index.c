#include "base/index.h"

#include <string.h>

#include "base/err.h"

weir_status wr_index_init(struct wr_index *index, struct wr_arena *arena, uint32_t count_max)
{
    WR_ASSERT(count_max <= UINT32_MAX / 4);
    uint32_t places = 8;
    while (places < count_max * 2)
        places *= 2;

    index->items = wr_arena_alloc(arena, places * sizeof(uint32_t));
    index->tags = wr_arena_alloc(arena, places * sizeof(uint32_t));
    if (!index->items || !index->tags)
        return wr_arena_status(arena);
    memset(index->items, 0xFF, places * sizeof(uint32_t));
    index->mask = places - 1;
    return WEIR_OK;
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static uint32_t find_tag(const struct wr_index *index, uint32_t at, uint64_t hash)
{
    while (index->items[at] != WR_INDEX_NONE && index->tags[at] != tag_of(hash))
        at = (at + 1) & index->mask;
    return at;
}

uint32_t wr_index_first(const struct wr_index *index, uint64_t hash)
{
    return find_tag(index, (uint32_t)hash & index->mask, hash);
}

uint32_t wr_index_next(const struct wr_index *index, uint32_t at, uint64_t hash)
{
    return find_tag(index, (at + 1) & index->mask, hash);
}

void wr_index_put(struct wr_index *index, uint32_t at, uint64_t hash, uint32_t item)
{
    index->items[at] = item;
    index->tags[at] = tag_of(hash);
}
