/* How a later request of a session is known again, and the folds of earlier ones that it then goes
 * on from. */
#include "engine/trail.h"

#include <stdlib.h>

#include "api/lawful.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- turns as hashes ---- */

static wr_hash128 add(wr_hash128 chain, weir_span bytes)
{
    return wr_hash128_seeded(bytes, chain);
}

static wr_hash128 add_number(wr_hash128 chain, uint64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    return add(chain, (weir_span){(const char *)bytes, sizeof(bytes)});
}

/* An object's members but for its cache marker, each as it stands in the body. */
static wr_hash128 add_value(wr_hash128 chain, const struct wr_json *doc, wr_json_id value)
{
    if (value == WR_JSON_NONE)
        return chain;
    if (wr_json_kind(doc, value) != WR_JSON_OBJECT)
        return add(chain, wr_json_raw(doc, value));
    wr_json_id marker = wr_find_marker(doc, value);
    for (wr_json_id key = wr_json_first(doc, value); key != WR_JSON_NONE;
         key = wr_json_next(doc, value, key)) {
        if (key == marker)
            continue;
        chain = add(chain, wr_json_raw(doc, key));
        chain = add(chain, wr_json_raw(doc, wr_json_value(key)));
    }
    return chain;
}

static wr_hash128 add_segment(wr_hash128 chain, const struct wr_transcript *t,
                              const struct wr_segment *s)
{
    chain = add_number(chain, (uint64_t)s->role << 32 | (uint64_t)s->kind << 8 |
                                  (uint64_t)s->is_error << 1 | s->is_opaque);
    chain = add(chain, s->call_id);
    chain = add(chain, s->tool);
    if (s->parts_count)
        chain = wr_hash128_add(wr_segment_body_hash(t, s), chain);
    if (!s->has_exact_blocks)
        return s->parts_count ? chain : add_value(chain, t->doc, s->payload);
    /* Images and files stand beside the text, in blocks of their own. */
    for (wr_json_id block = wr_json_first(t->doc, s->payload); block != WR_JSON_NONE;
         block = wr_json_next(t->doc, s->payload, block))
        chain = add_value(chain, t->doc, block);
    return chain;
}

static bool is_head(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_SYSTEM || s->kind == WEIR_KIND_TOOLS ||
           s->role == WEIR_ROLE_SYSTEM || s->role == WEIR_ROLE_DEVELOPER;
}

weir_status wr_trail_read(struct wr_trail *trail, struct wr_arena *arena,
                          const struct wr_transcript *t)
{
    wr_hash128 chain = {0, 0}, head = {0, 0}, places = {0, 0};

    *trail = (struct wr_trail){.turns_count = t->turns_count, .model = wr_hash64(t->model)};
    trail->turns = WR_ARENA_ARRAY(arena, wr_hash128, t->turns_count);
    trail->heads = WR_ARENA_ARRAY(arena, wr_hash128, t->turns_count);
    trail->ends = WR_ARENA_ARRAY(arena, uint32_t, t->turns_count);
    if (!trail->turns || !trail->heads || !trail->ends)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (is_head(s)) {
            head = add_segment(head, t, s);
            places = add_number(add_number(places, i), head.low);
        } else {
            chain = add_segment(chain, t, s);
        }
        bool is_output = s->from_model && i + 1 < t->segments_count;
        if (is_output)
            continue;
        trail->turns[s->turn] = chain;
        trail->heads[s->turn] = places;
        trail->ends[s->turn] = i + 1;
    }
    trail->head = head.low;
    return WEIR_OK;
}

/* ---- folds ---- */

/* Folds of earlier requests, the least used leaving first. A list searched from front to back does:
 * there are at most WR_FOLD_MEMO_COUNT_MAX.
 */

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
