#include "tokens/bpe_index.h"

#include "base/err.h"
#include "tokens/bpe_walk.h"
#include "tokens/pretoken.h"

enum { STEP_BYTES = 1024 };

static weir_status places_grow(struct wr_bpe_index *index, struct wr_arena *arena, size_t *held)
{
    if (index->places_count < *held)
        return WEIR_OK;
    size_t want = *held * 2 + 16, item = sizeof *index->places;
    void *grown = wr_arena_grow(arena, index->places, *held * item, want * item);
    if (!grown)
        return wr_arena_status(arena);
    index->places = grown;
    *held = want;
    return WEIR_OK;
}

weir_status wr_bpe_index_init(struct wr_bpe_index *index, struct wr_arena *arena,
                              struct wr_bpe_scratch *scratch, weir_span text)
{
    const uint8_t *start = (const uint8_t *)text.ptr, *end = text.len ? start + text.len : start;
    struct wr_bpe_walk walk = {.at = start, .seen = start, .tokens_max = SIZE_MAX};
    size_t held = 0;
    weir_status status = WEIR_OK;

    *index = (struct wr_bpe_index){.text = text};
    while (walk.at < end && !status) {
        walk.stop_at = end - walk.at > STEP_BYTES ? walk.at + STEP_BYTES : end;
        status = wr_bpe_walk(scratch, end, &walk);
        if (!status)
            status = places_grow(index, arena, &held);
        if (!status)
            index->places[index->places_count++] =
                (struct wr_bpe_index_place){(size_t)(walk.at - start), walk.tokens,
                                            (size_t)(walk.seen - start) + WR_PRETOKEN_AHEAD_BYTES};
    }
    index->tokens = walk.tokens;
    return status;
}

/* The first place at or after `bytes`; places_count where there is none. */
static size_t place_from(const struct wr_bpe_index *index, size_t bytes)
{
    size_t low = 0, high = index->places_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (index->places[middle].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of places, from the first on, that hold in the text cut at `to`. */
static size_t places_before(const struct wr_bpe_index *index, size_t to)
{
    if (to == index->text.len)
        return index->places_count;
    size_t low = 0, high = index->places_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (index->places[middle].seen_bytes <= to)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

weir_status wr_bpe_index_count(const struct wr_bpe_index *index, struct wr_bpe_scratch *scratch,
                               size_t from, size_t to, size_t *tokens)
{
    WR_ASSERT(from <= to && to <= index->text.len);
    *tokens = 0;
    if (from == to)
        return WEIR_OK;
    const uint8_t *start = (const uint8_t *)index->text.ptr, *end = start + to;
    struct wr_bpe_walk walk = {.at = end - (to - from), .seen = start, .tokens_max = SIZE_MAX};
    size_t known = places_before(index, to), next = place_from(index, from);
    weir_status status = WEIR_OK;

    /* Once a piece starts at a known place, everything up to the last known place is known too. */
    while (next < known && !status) {
        const struct wr_bpe_index_place *place = &index->places[next];
        walk.stop_at = start + place->bytes;
        status = wr_bpe_walk(scratch, end, &walk);
        if (walk.at == walk.stop_at) {
            const struct wr_bpe_index_place *last = &index->places[known - 1];
            walk.tokens += last->tokens - place->tokens;
            walk.at = start + last->bytes;
            break;
        }
        next = place_from(index, (size_t)(walk.at - start));
    }
    walk.stop_at = NULL;
    if (!status)
        status = wr_bpe_walk(scratch, end, &walk);
    *tokens = walk.tokens;
    return status;
}
