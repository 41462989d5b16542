/* Counts tokens: of texts, by the encoding of the model or an estimate; of segments, by their kind.
 *
 * Nearly all of a request was counted in the request before it, so counts are remembered twice:
 * texts by content (wr_bpe_memo), and segments by their bytes in the body, before anything is
 * unescaped. An image costs what its size says, a file what its kind says, reasoning its visible
 * text; where bytes are encrypted, six of them count as a token. Framing is added where it arrives.
 */
#include "policy/meter.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "models/image.h"
#include "tokens/bpe.h"

enum { FACTOR_ONE_BP = 10000, OPAQUE_BYTES_A_TOKEN = 6 };

struct encoding {
    struct wr_bpe *bpe;
    struct wr_bpe_scratch *scratch;
    struct wr_bpe_memo *memo;
};

enum { SEEN_AHEAD = 32 };

struct wr_meter {
    struct wr_hash_memo seen;                          /* tokens by text_key() */
    struct encoding encodings[WR_BPE_ENCODINGS_COUNT]; /* made when first used */
    struct encoding table;                             /* the user's own; empty: none */
    struct encoding *current;                          /* NULL: an estimate */
    const struct wr_model *model;                      /* NULL: none was named */
    enum wr_bpe_encoding encoding;
    enum wr_estimator estimator;
    uint32_t factor_bp;
};

weir_status wr_meter_new(struct wr_meter **meter)
{
    *meter = calloc(1, sizeof(**meter));
    if (!*meter)
        return WEIR_NOMEM;
    (*meter)->factor_bp = FACTOR_ONE_BP;
    weir_status status = wr_hash_memo_init(&(*meter)->seen, WR_METER_SEEN_COUNT);
    if (status) {
        free(*meter);
        *meter = NULL;
    }
    return status;
}

static void free_encoding(struct encoding *e)
{
    wr_bpe_memo_free(e->memo);
    wr_bpe_scratch_free(e->scratch);
    wr_bpe_free(e->bpe);
    *e = (struct encoding){0};
}

void wr_meter_free(struct wr_meter *meter)
{
    if (!meter)
        return;
    for (int i = 0; i < WR_BPE_ENCODINGS_COUNT; i++)
        free_encoding(&meter->encodings[i]);
    free_encoding(&meter->table);
    wr_hash_memo_release(&meter->seen);
    free(meter);
}

void wr_meter_use_estimator(struct wr_meter *meter, enum wr_estimator estimator)
{
    meter->current = NULL;
    meter->estimator = estimator;
    meter->factor_bp = FACTOR_ONE_BP;
}

/* Makes an encoding whose `bpe` is there ready to count. */
static weir_status make_ready(struct encoding *e)
{
    weir_status status = wr_bpe_scratch_new(&e->scratch, e->bpe);
    return status ? status : wr_bpe_memo_new(&e->memo, e->scratch, WR_METER_MEMO_COUNT);
}

weir_status wr_meter_use_encoding(struct wr_meter *meter, enum wr_bpe_encoding encoding,
                                  struct weir_err *err)
{
    struct encoding *e = &meter->encodings[encoding];

    if (!e->memo) {
        weir_status status = wr_bpe_new(&e->bpe, encoding, err);
        if (!status)
            status = make_ready(e);
        if (status) {
            free_encoding(e);
            return status;
        }
    }
    meter->current = e;
    meter->encoding = encoding;
    meter->factor_bp = FACTOR_ONE_BP;
    return WEIR_OK;
}

weir_status wr_meter_take_table(struct wr_meter *meter, struct wr_bpe *table)
{
    free_encoding(&meter->table);
    meter->table.bpe = table;
    weir_status status = make_ready(&meter->table);
    if (status) {
        free_encoding(&meter->table);
        return status;
    }
    meter->current = &meter->table;
    meter->factor_bp = FACTOR_ONE_BP;
    return WEIR_OK;
}

weir_status wr_meter_use_model(struct wr_meter *meter, const struct wr_model *model,
                               struct weir_err *err)
{
    meter->model = model;
    switch (model->tokenizer) {
    case WR_TOKENIZER_O200K:
        return wr_meter_use_encoding(meter, WR_BPE_O200K_BASE, err);
    case WR_TOKENIZER_CL100K:
        return wr_meter_use_encoding(meter, WR_BPE_CL100K_BASE, err);
    case WR_TOKENIZER_ESTIMATE:
        break;
    }
    wr_meter_use_estimator(meter, WR_ESTIMATOR_FITTED);
    meter->factor_bp = model->factor_bp ? model->factor_bp : FACTOR_ONE_BP;
    return WEIR_OK;
}

static uint64_t rescaled(const struct wr_meter *meter, uint64_t tokens)
{
    return (tokens * meter->factor_bp + FACTOR_ONE_BP - 1) / FACTOR_ONE_BP;
}

uint64_t wr_meter_count(void *user, weir_span text)
{
    struct wr_meter *meter = user;
    size_t tokens;
    if (meter->current && !wr_bpe_memo_count(meter->current->memo, text, &tokens))
        return tokens;
    return rescaled(
        meter, wr_estimate_tokens(meter->current ? WR_ESTIMATOR_FITTED : meter->estimator, text));
}

struct wr_bpe_scratch *wr_meter_scratch(struct wr_meter *meter)
{
    return meter->current ? meter->current->scratch : NULL;
}

const char *wr_meter_method(const struct wr_meter *meter)
{
    static const char *const estimates[] = {[WR_ESTIMATOR_FITTED] = "fitted estimate",
                                            [WR_ESTIMATOR_BYTES_4] = "estimate, bytes/4",
                                            [WR_ESTIMATOR_RUNS] = "estimate, runs"};
    if (meter->current == &meter->table)
        return "exact, the given table";
    if (meter->current)
        return meter->encoding == WR_BPE_O200K_BASE ? "exact, o200k_base" : "exact, cl100k_base";
    return estimates[meter->estimator];
}

enum wr_count_source wr_meter_source(const struct wr_meter *meter)
{
    return meter->current ? WR_COUNT_EXACT : WR_COUNT_ESTIMATE;
}

/* ---- segments ---- */

/* The longest string inside a value: the data of an image or a file, wherever the dialect keeps it.
 */
static weir_span longest_string(const struct wr_json *doc, wr_json_id id)
{
    weir_span longest = {"", 0};
    for (wr_json_id i = id; i < doc->nodes[id].after; i++) {
        if (doc->nodes[i].kind != WR_JSON_STRING || doc->nodes[i].is_key)
            continue;
        weir_span inner = wr_json_inner(doc, i);
        if (inner.len > longest.len)
            longest = inner;
    }
    return longest;
}

static uint64_t image_tokens(const struct wr_meter *meter, const struct wr_json *doc, wr_json_id id)
{
    static const struct wr_image_rule unknown = {.kind = WR_IMAGE_FIXED, .unknown_tokens = 1600};
    const struct wr_image_rule *rule =
        meter->model && meter->model->image ? meter->model->image : &unknown;
    enum wr_image_detail detail = WR_DETAIL_AUTO;
    for (wr_json_id i = id; i + 1 < doc->nodes[id].after; i++)
        if (doc->nodes[i].is_key && wr_json_text_is(doc, i, "detail") &&
            wr_json_text_is(doc, wr_json_value(i), "low"))
            detail = WR_DETAIL_LOW;
    return wr_image_tokens(rule, wr_image_size_read(longest_string(doc, id)), detail);
}

static uint64_t file_tokens(struct wr_meter *meter, const struct wr_json *doc, wr_json_id id)
{
    weir_span data = longest_string(doc, id), media = {"", 0};
    for (wr_json_id i = id; i + 1 < doc->nodes[id].after; i++)
        if (doc->nodes[i].is_key && wr_json_text_is(doc, i, "media_type") &&
            wr_json_is(doc, wr_json_value(i), WR_JSON_STRING))
            media = wr_json_inner(doc, wr_json_value(i));
    if (wr_span_starts(media, WR_LIT("text/")))
        return wr_meter_count(meter, data);
    return wr_file_tokens(wr_file_kind_of(media), data.len / 4 * 3);
}

/* What the model reads of reasoning: its text; of an encrypted block, a guess by its size. */
static uint64_t reasoning_tokens(struct wr_meter *meter, const struct wr_json *doc, wr_json_id id,
                                 struct wr_arena *arena)
{
    static const char *const hidden[] = {"signature", "encrypted_content", "data", "id", "type",
                                         "format"};
    uint64_t tokens = 0;
    if (wr_json_kind(doc, id) == WR_JSON_STRING) {
        weir_span text = wr_json_text(doc, arena, id);
        return text.ptr ? wr_meter_count(meter, text) : 0;
    }
    for (wr_json_id i = id; i < doc->nodes[id].after; i++) {
        if (doc->nodes[i].kind != WR_JSON_STRING || doc->nodes[i].is_key)
            continue;
        bool is_hidden = false;
        for (size_t k = 0; k < WR_COUNT_OF(hidden); k++)
            is_hidden |=
                i > 0 && doc->nodes[i - 1].is_key && wr_json_text_is(doc, i - 1, hidden[k]);
        bool is_blob = i > 0 && doc->nodes[i - 1].is_key &&
                       (wr_json_text_is(doc, i - 1, "encrypted_content") ||
                        wr_json_text_is(doc, i - 1, "data"));
        if (is_blob)
            tokens += wr_json_inner(doc, i).len / OPAQUE_BYTES_A_TOKEN;
        else if (!is_hidden)
            tokens += wr_meter_count(meter, wr_json_inner(doc, i));
    }
    return tokens;
}

/* Images inside a result's blocks; its texts are counted as its parts. */
static uint64_t inner_image_tokens(const struct wr_meter *meter, const struct wr_json *doc,
                                   wr_json_id payload)
{
    uint64_t tokens = 0;
    if (wr_json_kind(doc, payload) != WR_JSON_ARRAY)
        return 0;
    for (wr_json_id b = wr_json_first(doc, payload); b != WR_JSON_NONE;
         b = wr_json_next(doc, payload, b)) {
        wr_json_id type = wr_json_find(doc, b, "type");
        if (wr_json_text_is(doc, type, "image") || wr_json_text_is(doc, type, "input_image"))
            tokens += image_tokens(meter, doc, b);
    }
    return tokens;
}

/* The key of a segment's text, and of the tool it calls: their bytes in the body, and how they are
 * counted. What was counted before need not even be unescaped. */
static wr_hash128 text_key(const struct wr_meter *meter, const struct wr_transcript *t,
                           const struct wr_segment *s)
{
    uintptr_t how = (uintptr_t)meter->current + meter->estimator;
    wr_hash128 key = {(uint64_t)how, meter->factor_bp};
    if (s->kind == WEIR_KIND_TOOL_CALL)
        key = wr_hash128_seeded(s->tool, key);
    return wr_hash128_add(wr_segment_body_hash(t, s), key);
}

/* A text larger than any window is estimated: counting it exactly would take a second, and the
 * exact number would change nothing. */
static uint64_t count_text(struct wr_meter *meter, weir_span text)
{
    if (meter->current && text.len > WR_METER_EXACT_BYTES_MAX)
        return wr_estimate_tokens(WR_ESTIMATOR_FITTED, text);
    return wr_meter_count(meter, text);
}

static weir_status text_tokens(struct wr_meter *meter, const struct wr_transcript *t,
                               const struct wr_segment *s, wr_hash128 key, struct wr_arena *arena,
                               uint64_t *tokens)
{
    if (wr_hash_memo_find(&meter->seen, key, tokens))
        return WEIR_OK;
    weir_span text = wr_segment_text(t, s, arena);
    if (!text.ptr)
        return wr_arena_status(arena);
    *tokens = count_text(meter, text);
    if (s->kind == WEIR_KIND_TOOL_CALL)
        *tokens += wr_meter_count(meter, s->tool);
    wr_hash_memo_put(&meter->seen, key, *tokens);
    return WEIR_OK;
}

static weir_status segment_tokens(struct wr_meter *meter, const struct wr_transcript *t,
                                  const struct wr_segment *s, wr_hash128 key,
                                  struct wr_arena *arena, uint64_t *tokens)
{
    switch (s->kind) {
    case WEIR_KIND_IMAGE:
        *tokens = image_tokens(meter, t->doc, s->payload);
        return WEIR_OK;
    case WEIR_KIND_FILE:
        *tokens = file_tokens(meter, t->doc, s->payload);
        return WEIR_OK;
    case WEIR_KIND_REASONING:
    case WEIR_KIND_COMPACTION:
        *tokens = reasoning_tokens(meter, t->doc, s->payload, arena);
        return WEIR_OK;
    case WEIR_KIND_TEXT:
    case WEIR_KIND_TOOL_CALL:
    case WEIR_KIND_TOOL_RESULT:
    case WEIR_KIND_SYSTEM:
    case WEIR_KIND_TOOLS:
    case WEIR_KIND_OTHER:
        break;
    }
    weir_status status = text_tokens(meter, t, s, key, arena, tokens);
    if (status)
        return status;
    if (s->kind == WEIR_KIND_TOOL_RESULT)
        *tokens += inner_image_tokens(meter, t->doc, s->payload);
    return WEIR_OK;
}

/* Framing is counted where it arrives, so that the sum over the first turns does not depend on what
 * came later (law L3). */
static void measure_overhead(const struct wr_transcript *t, struct wr_measure *measure)
{
    struct wr_framing each = t->framing;

    measure->base_tokens = each.request;
    measure->message_overhead_tokens = each.message;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        bool is_first = i == 0 || t->segments[i - 1].message != s->message;
        uint32_t tokens = is_first && s->message != WR_JSON_NONE ? each.message : 0;
        if (s->kind == WEIR_KIND_TOOL_CALL || s->kind == WEIR_KIND_TOOL_RESULT)
            tokens += each.call;
        if (s->kind == WEIR_KIND_TOOLS && wr_json_kind(t->doc, s->payload) == WR_JSON_ARRAY)
            tokens += each.tools + each.tool * wr_json_count(t->doc, s->payload);
        measure->segment_overheads[i] = tokens;
        measure->overhead_tokens += tokens;
    }
    measure->overhead_tokens += measure->base_tokens;
}

/* Whether a segment's tokens are those of its text. */
static bool is_text_counted(const struct wr_segment *s)
{
    return s->kind != WEIR_KIND_IMAGE && s->kind != WEIR_KIND_FILE &&
           s->kind != WEIR_KIND_REASONING && s->kind != WEIR_KIND_COMPACTION;
}

/* Counts SEEN_AHEAD segments from `first` on. What was seen lies all over a table larger than the
 * caches: where each is looked for is asked for before the first is needed. */
static weir_status measure_some(struct wr_meter *meter, const struct wr_transcript *t,
                                uint32_t first, struct wr_arena *arena, struct wr_measure *measure)
{
    uint32_t left = t->segments_count - first, count = left < SEEN_AHEAD ? left : SEEN_AHEAD;
    weir_status status = WEIR_OK;
    wr_hash128 keys[SEEN_AHEAD];

    for (uint32_t i = 0; i < count; i++) {
        const struct wr_segment *s = &t->segments[first + i];
        keys[i] = is_text_counted(s) ? text_key(meter, t, s) : (wr_hash128){0, 0};
        wr_hash_memo_expect(&meter->seen, keys[i]);
    }
    for (uint32_t i = 0; i < count && !status; i++) {
        uint64_t *tokens = &measure->segment_tokens[first + i];
        status = segment_tokens(meter, t, &t->segments[first + i], keys[i], arena, tokens);
        measure->total_tokens += *tokens;
    }
    return status;
}

weir_status wr_meter_measure(struct wr_meter *meter, const struct wr_transcript *transcript,
                             struct wr_arena *arena, struct wr_measure *measure)
{
    weir_status status = WEIR_OK;
    *measure = (struct wr_measure){0};
    measure->segment_tokens = WR_ARENA_ARRAY(arena, uint64_t, transcript->segments_count);
    measure->segment_overheads = WR_ARENA_ARRAY(arena, uint32_t, transcript->segments_count);
    if (!measure->segment_tokens || !measure->segment_overheads)
        return wr_arena_status(arena);
    measure_overhead(transcript, measure);
    measure->total_tokens = measure->overhead_tokens;
    for (uint32_t i = 0; i < transcript->segments_count && !status; i += SEEN_AHEAD)
        status = measure_some(meter, transcript, i, arena, measure);
    return status;
}
