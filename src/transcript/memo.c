#include "transcript/memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"

/* A key is looked for in this many places, and put over the last of them when all are taken. */
enum { PLACES_COUNT = 1 << 16, PROBES_MAX = 8 };

struct place {
    wr_hash128 key;
    const struct wr_memo_entry *entry; /* in the arena; NULL: free */
};

struct wr_memo {
    struct wr_arena arena;
    size_t bytes_max;
    struct place *places;
};

weir_status wr_memo_new(struct wr_memo **memo, size_t bytes_max)
{
    struct wr_memo *m = calloc(1, sizeof(*m));
    *memo = NULL;
    if (!m)
        return WEIR_NOMEM;
    m->places = calloc(PLACES_COUNT, sizeof(*m->places));
    if (!m->places) {
        free(m);
        return WEIR_NOMEM;
    }
    m->bytes_max = bytes_max;
    /* Twice the cap: the cap is looked at between requests, and one request may go past it. */
    wr_arena_init(&m->arena,
                  bytes_max > WR_ARENA_BYTES_MAX / 2 ? WR_ARENA_BYTES_MAX : bytes_max * 2);
    *memo = m;
    return WEIR_OK;
}

void wr_memo_free(struct wr_memo *memo)
{
    if (!memo)
        return;
    wr_arena_release(&memo->arena);
    free(memo->places);
    free(memo);
}

void wr_memo_begin(struct wr_memo *memo)
{
    if (memo->arena.bytes_held <= memo->bytes_max && !memo->arena.status)
        return;
    size_t bytes_max = memo->arena.bytes_max;
    wr_arena_release(&memo->arena);
    wr_arena_init(&memo->arena, bytes_max);
    memset(memo->places, 0, PLACES_COUNT * sizeof(*memo->places));
}

static bool same_key(wr_hash128 a, wr_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

/* Where the key is, or else where it goes. */
static struct place *find_memo_place(const struct wr_memo *memo, wr_hash128 key)
{
    uint64_t first = key.low % PLACES_COUNT;
    struct place *place = NULL;
    for (uint64_t i = 0; i < PROBES_MAX; i++) {
        place = &memo->places[(first + i) % PLACES_COUNT];
        if (!place->entry || same_key(place->key, key))
            return place;
    }
    return place;
}

const struct wr_memo_entry *wr_memo_find(const struct wr_memo *memo, wr_hash128 key)
{
    const struct place *place = find_memo_place(memo, key);
    return place->entry && same_key(place->key, key) ? place->entry : NULL;
}

void wr_memo_expect(const struct wr_memo *memo, wr_hash128 key)
{
    __builtin_prefetch(&memo->places[key.low % PLACES_COUNT]);
}

static bool copy_spans(struct wr_arena *arena, weir_span *const *spans, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *spans[i] = wr_arena_copy(arena, *spans[i]);
        if (!spans[i]->ptr)
            return false;
    }
    return true;
}

static bool copy_effect(struct wr_arena *arena, struct wr_effect *e)
{
    weir_span *const spans[] = {&e->path, &e->query, &e->rev, &e->program};
    return copy_spans(arena, spans, WR_COUNT_OF(spans));
}

static bool copy_handles(struct wr_arena *arena, struct wr_tool_handles *h)
{
    weir_span *const spans[] = {&h->path, &h->query,   &h->process_id, &h->cursor,
                                &h->mode, &h->command, &h->workdir,    &h->spill_path};
    const struct wr_effect *from = h->effects;
    if (!copy_spans(arena, spans, WR_COUNT_OF(spans)))
        return false;
    h->effects = WR_ARENA_ARRAY(arena, struct wr_effect, h->effects_count);
    if (!h->effects)
        return false;
    for (size_t i = 0; i < h->effects_count; i++) {
        h->effects[i] = from[i];
        if (!copy_effect(arena, &h->effects[i]))
            return false;
    }
    return true;
}

void wr_memo_put(struct wr_memo *memo, wr_hash128 key, const struct wr_memo_entry *entry)
{
    struct wr_memo_entry *copy = WR_ARENA_ARRAY(&memo->arena, struct wr_memo_entry, 1);
    if (!copy)
        return;
    *copy = *entry;
    if (!copy_handles(&memo->arena, &copy->handles))
        return;
    *find_memo_place(memo, key) = (struct place){key, copy};
}
