/* index.h -- a hash index over items the caller numbers: open addressing, sized once, in an arena.
 *
 * It stores numbers, not keys: the caller hashes its key, and compares each candidate itself:
 *
 *     at = wr_index_first(ix, hash);
 *     while ((item = wr_index_item(ix, at)) != WR_INDEX_NONE && !is_same(item))
 *         at = wr_index_next(ix, at, hash);
 *
 * wr_index_put(ix, at, hash, item) then writes over the item that was found, or into the free place
 * where the search ended.
 */
#ifndef WR_BASE_INDEX_H
#define WR_BASE_INDEX_H

#include "base/arena.h"

#define WR_INDEX_NONE UINT32_MAX

struct wr_index {
    uint32_t *items;
    uint32_t *tags; /* high bits of the hash: by them most wrong candidates are skipped */
    uint32_t mask;
};

/* Room for `count_max` items. */
WEIR_MUST_USE weir_status wr_index_init(struct wr_index *index, struct wr_arena *arena,
                                        uint32_t count_max);

/* The first place whose item may have `hash`, or the free place that ends the search. */
uint32_t wr_index_first(const struct wr_index *index, uint64_t hash);
uint32_t wr_index_next(const struct wr_index *index, uint32_t at, uint64_t hash);

static inline uint32_t wr_index_item(const struct wr_index *index, uint32_t at)
{
    return index->items[at];
}

void wr_index_put(struct wr_index *index, uint32_t at, uint64_t hash, uint32_t item);

#endif
