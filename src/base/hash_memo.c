#include "base/hash_memo.h"

#include <stdlib.h>
#include <string.h>

enum { SETS_FIRST = 32 };

static bool is_same(wr_hash128 a, wr_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

static struct wr_hash_memo_place *set_of(const struct wr_hash_memo *memo, wr_hash128 key)
{
    return &memo->places[(key.low & (memo->sets_count - 1)) * WR_HASH_MEMO_SET];
}

static struct wr_hash_memo_place *new_places(uint32_t sets_count)
{
    return calloc(sets_count, WR_HASH_MEMO_SET * sizeof(struct wr_hash_memo_place));
}

weir_status wr_hash_memo_init(struct wr_hash_memo *memo, uint32_t count_max)
{
    uint32_t sets_max = 1;

    while (sets_max < count_max / WR_HASH_MEMO_SET)
        sets_max *= 2;
    uint32_t sets_count = sets_max < SETS_FIRST ? sets_max : SETS_FIRST;
    *memo = (struct wr_hash_memo){new_places(sets_count), sets_count, sets_max};
    return memo->places ? WEIR_OK : WEIR_NOMEM;
}

void wr_hash_memo_release(struct wr_hash_memo *memo)
{
    free(memo->places);
    *memo = (struct wr_hash_memo){.places = NULL};
}

void wr_hash_memo_clear(struct wr_hash_memo *memo)
{
    memset(memo->places, 0, memo->sets_count * WR_HASH_MEMO_SET * sizeof(*memo->places));
}

bool wr_hash_memo_find(const struct wr_hash_memo *memo, wr_hash128 key, uint64_t *value)
{
    const struct wr_hash_memo_place *set = set_of(memo, key);

    for (size_t i = 0; i < WR_HASH_MEMO_SET; i++)
        if (is_same(set[i].key, key)) {
            *value = set[i].value;
            return key.low || key.high;
        }
    return false;
}

/* False: its set is full. */
static bool add(struct wr_hash_memo *memo, wr_hash128 key, uint64_t value)
{
    struct wr_hash_memo_place *set = set_of(memo, key);

    for (size_t i = 0; i < WR_HASH_MEMO_SET; i++)
        if (!set[i].key.low && !set[i].key.high) {
            set[i] = (struct wr_hash_memo_place){key, value};
            return true;
        }
    return false;
}

/* What was in one set is in one of two from then on, so that all of it finds a place. */
static bool grow(struct wr_hash_memo *memo)
{
    struct wr_hash_memo old = *memo;

    if (old.sets_count == old.sets_max)
        return false;
    memo->places = new_places(old.sets_count * 2);
    if (!memo->places) {
        *memo = old;
        return false;
    }
    memo->sets_count *= 2;
    for (size_t i = 0; i < (size_t)old.sets_count * WR_HASH_MEMO_SET; i++)
        (void)add(memo, old.places[i].key, old.places[i].value);
    wr_hash_memo_release(&old);
    return true;
}

/* In a full memo a key has one place that it takes. If the oldest had to go, one key too many would
 * push out the next one of its set whenever all are asked for in order. */
void wr_hash_memo_put(struct wr_hash_memo *memo, wr_hash128 key, uint64_t value)
{
    bool is_in = add(memo, key, value);

    while (!is_in && grow(memo))
        is_in = add(memo, key, value);
    if (!is_in)
        set_of(memo, key)[key.high % WR_HASH_MEMO_SET] = (struct wr_hash_memo_place){key, value};
}
