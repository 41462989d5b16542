/* Folds of earlier requests, the least used leaving first. A list searched from front to back does:
 * there are at most WR_FOLD_MEMO_COUNT_MAX.
 */
#include "engine/fold_memo.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/span.h"

struct place {
    struct wr_folded folded;
    uint64_t used; /* when it was last found or put, in calls */
};

struct wr_fold_memo {
    struct place places[WR_FOLD_MEMO_COUNT_MAX];
    uint32_t count;
    size_t bytes;
    uint64_t calls;
};

weir_status wr_fold_memo_new(struct wr_fold_memo **memo)
{
    *memo = calloc(1, sizeof(**memo));
    return *memo ? WEIR_OK : WEIR_NOMEM;
}

static size_t bytes_of(const struct wr_folded *folded)
{
    return wr_fold_state_bytes(folded->state) + folded->originals_count * sizeof(weir_hash);
}

static void forget(struct wr_fold_memo *memo, uint32_t place)
{
    struct wr_folded *folded = &memo->places[place].folded;
    memo->bytes -= bytes_of(folded);
    wr_fold_state_free(folded->state);
    free(folded->originals);
    memo->places[place] = memo->places[--memo->count];
}

void wr_fold_memo_clear(struct wr_fold_memo *memo)
{
    while (memo->count)
        forget(memo, memo->count - 1);
}

void wr_fold_memo_free(struct wr_fold_memo *memo)
{
    if (!memo)
        return;
    wr_fold_memo_clear(memo);
    free(memo);
}

static uint32_t place_of(const struct wr_fold_memo *memo, wr_hash128 key)
{
    uint32_t i = 0;
    while (i < memo->count && (memo->places[i].folded.key.low != key.low ||
                               memo->places[i].folded.key.high != key.high))
        i++;
    return i;
}

const struct wr_folded *wr_fold_memo_find(struct wr_fold_memo *memo, wr_hash128 key)
{
    uint32_t i = memo ? place_of(memo, key) : 0;
    if (!memo || i == memo->count)
        return NULL;
    memo->places[i].used = ++memo->calls;
    return &memo->places[i].folded;
}

static void forget_oldest(struct wr_fold_memo *memo)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < memo->count; i++)
        if (memo->places[i].used < memo->places[oldest].used)
            oldest = i;
    forget(memo, oldest);
}

/* False: out of memory, and there is nothing to free. */
static bool copy(struct wr_folded *folded, const struct wr_fold_commit *commit,
                 const struct wr_fold *fold)
{
    size_t bytes = commit->originals_count * sizeof(weir_hash);

    folded->sent = *commit->sent;
    folded->originals_count = commit->originals_count;
    folded->replaced_count = commit->replaced_count;
    folded->originals = malloc(bytes ? bytes : 1);
    if (!folded->originals)
        return false;
    if (bytes)
        memcpy(folded->originals, commit->originals, bytes);
    if (!wr_fold_state_new(&folded->state, fold))
        return true;
    free(folded->originals);
    return false;
}

void wr_fold_memo_put(struct wr_fold_memo *memo, wr_hash128 key,
                      const struct wr_fold_commit *commit, const struct wr_fold *fold)
{
    struct wr_folded folded = {.key = key};

    if (!memo)
        return;
    uint32_t old = place_of(memo, key);
    /* The fold may have gone on from the one that is forgotten now: it is copied first. */
    bool is_copied = copy(&folded, commit, fold);
    if (old < memo->count)
        forget(memo, old);
    if (!is_copied)
        return;
    size_t bytes = bytes_of(&folded);
    while (memo->count &&
           (memo->count == WR_FOLD_MEMO_COUNT_MAX || memo->bytes + bytes > WR_FOLD_MEMO_BYTES_MAX))
        forget_oldest(memo);
    memo->bytes += bytes;
    memo->places[memo->count++] = (struct place){folded, ++memo->calls};
}

/* ---- keys ---- */

static wr_hash128 add_number(wr_hash128 hash, uint64_t number)
{
    return wr_hash128_seeded((weir_span){(const char *)&number, sizeof(number)}, hash);
}

wr_hash128 wr_fold_memo_seed(const struct wr_fold_input *input, uint64_t whose)
{
    const struct wr_fold_prices *p = &input->prices;
    const uint64_t numbers[] = {whose,
                                input->memo_seed,
                                wr_policy_hash(input->policy),
                                input->window_tokens,
                                input->reserve_tokens,
                                input->base_tokens,
                                input->message_overhead_tokens,
                                p->write_pct,
                                p->read_pct,
                                p->output_pct,
                                p->tier_tokens,
                                input->binds_thinking,
                                input->keeps_originals,
                                input->transcript->drops_thinking,
                                (uint64_t)input->transcript->dialect};
    wr_hash128 seed = {0, 0};

    for (size_t i = 0; i < WR_COUNT_OF(numbers); i++)
        seed = add_number(seed, numbers[i]);
    return wr_hash128_seeded(wr_span_of(input->tools ? input->tools : ""), seed);
}

wr_hash128 wr_fold_memo_key(wr_hash128 seed, const struct wr_trail *trail, uint32_t turn)
{
    seed = add_number(add_number(seed, trail->turns[turn].low), trail->turns[turn].high);
    seed = add_number(add_number(seed, trail->heads[turn].low), trail->heads[turn].high);
    return add_number(seed, trail->ends[turn]);
}
