#include "base/text_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"

/* A key is looked for in this many places, and put over the last of them when all are taken. */
enum { PLACES_COUNT = 1 << 14, PROBES_MAX = 8 };

struct place {
    wr_hash128 key;
    weir_span text; /* in the arena; NULL ptr: free */
};

struct wr_text_memo {
    struct wr_arena arena;
    size_t bytes_max;
    struct place places[PLACES_COUNT];
};

weir_status wr_text_memo_new(struct wr_text_memo **memo, size_t bytes_max)
{
    *memo = calloc(1, sizeof(**memo));
    if (!*memo)
        return WEIR_NOMEM;
    (*memo)->bytes_max = bytes_max;
    /* Twice the cap: the cap is looked at between requests, and one request may go past it. */
    wr_arena_init(&(*memo)->arena,
                  bytes_max > WR_ARENA_BYTES_MAX / 2 ? WR_ARENA_BYTES_MAX : bytes_max * 2);
    return WEIR_OK;
}

void wr_text_memo_free(struct wr_text_memo *memo)
{
    if (!memo)
        return;
    wr_arena_release(&memo->arena);
    free(memo);
}

void wr_text_memo_begin(struct wr_text_memo *memo)
{
    if (memo->arena.bytes_held <= memo->bytes_max && !memo->arena.status)
        return;
    size_t bytes_max = memo->arena.bytes_max;
    wr_arena_release(&memo->arena);
    wr_arena_init(&memo->arena, bytes_max);
    memset(memo->places, 0, sizeof(memo->places));
}

static bool same_key(wr_hash128 a, wr_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

/* The number of the place where the key is, or else where it goes. */
static size_t find_text_place(const struct wr_text_memo *memo, wr_hash128 key)
{
    size_t at = 0;
    for (size_t i = 0; i < PROBES_MAX; i++) {
        at = (key.low + i) % PLACES_COUNT;
        if (!memo->places[at].text.ptr || same_key(memo->places[at].key, key))
            break;
    }
    return at;
}

bool wr_text_memo_find(const struct wr_text_memo *memo, wr_hash128 key, weir_span *text)
{
    if (!memo)
        return false;
    const struct place *place = &memo->places[find_text_place(memo, key)];
    if (!place->text.ptr || !same_key(place->key, key))
        return false;
    *text = place->text;
    return true;
}

void wr_text_memo_put(struct wr_text_memo *memo, wr_hash128 key, weir_span text)
{
    if (!memo)
        return;
    weir_span copy = wr_arena_copy(&memo->arena, text);
    if (copy.ptr)
        memo->places[find_text_place(memo, key)] = (struct place){key, copy};
}
