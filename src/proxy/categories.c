#include "proxy/categories.h"

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "tokens/estimate.h"

/* An image is sent as text that no model reads as such. */
enum { MEDIA_TOKENS_MAX = 1600 };

/* Below it a look into the memo is not worth it. */
enum { REMEMBERED_BYTES_MIN = 128 };

struct spread {
    uint64_t weights[WR_CATEGORIES_COUNT];
    uint64_t weights_sum;
    int64_t tokens[WR_CATEGORIES_COUNT];
};

static enum wr_category of_text(const struct weir_segment *s)
{
    switch (s->role) {
    case WEIR_ROLE_SYSTEM:
        return s->turn ? WR_CATEGORY_INSTRUCTIONS : WR_CATEGORY_SYSTEM;
    case WEIR_ROLE_DEVELOPER:
        return WR_CATEGORY_INSTRUCTIONS;
    case WEIR_ROLE_USER:
        return WR_CATEGORY_USER;
    case WEIR_ROLE_ASSISTANT:
        return WR_CATEGORY_ASSISTANT;
    default:
        return WR_CATEGORY_OTHER;
    }
}

static enum wr_category category_of(const struct weir_segment *s)
{
    switch (s->kind) {
    case WEIR_KIND_TEXT:
    case WEIR_KIND_SYSTEM:
        return of_text(s);
    case WEIR_KIND_TOOLS:
        return WR_CATEGORY_TOOLS;
    case WEIR_KIND_TOOL_CALL:
        return WR_CATEGORY_CALLS;
    case WEIR_KIND_TOOL_RESULT:
        return WR_CATEGORY_RESULTS;
    case WEIR_KIND_REASONING:
        return WR_CATEGORY_REASONING;
    case WEIR_KIND_IMAGE:
    case WEIR_KIND_FILE:
        return WR_CATEGORY_MEDIA;
    default:
        return WR_CATEGORY_OTHER;
    }
}

static uint64_t weight_of(struct wr_text_memo *memo, weir_span text)
{
    wr_hash128 key = {0, 0};
    weir_span known;
    uint64_t weight;

    if (text.len < REMEMBERED_BYTES_MIN)
        return wr_estimate_tokens(WR_ESTIMATOR_FITTED, text);
    if (memo)
        key = wr_hash128_of(text);
    if (wr_text_memo_find(memo, key, &known)) {
        memcpy(&weight, known.ptr, sizeof(weight));
        return weight;
    }
    weight = wr_estimate_tokens(WR_ESTIMATOR_FITTED, text);
    if (memo)
        wr_text_memo_put(memo, key, (weir_span){(const char *)&weight, sizeof(weight)});
    return weight;
}

static void weigh(struct spread *spread, const struct weir_request *request, weir_span body,
                  struct wr_text_memo *memo)
{
    struct weir_segment s;

    if (memo)
        wr_text_memo_begin(memo);
    for (uint32_t i = 0; !weir_request_segment(request, i, &s); i++) {
        enum wr_category category = category_of(&s);
        if (s.span.start > s.span.end || s.span.end > body.len)
            continue;
        uint64_t weight = weight_of(memo, wr_span_cut(body, s.span.start, s.span.end));
        if (category == WR_CATEGORY_MEDIA && weight > MEDIA_TOKENS_MAX)
            weight = MEDIA_TOKENS_MAX;
        spread->weights[category] += weight;
        spread->weights_sum += weight;
    }
}

static int64_t number_of(const struct wr_json *doc, wr_json_id object, const char *name)
{
    wr_json_id id = wr_json_find(doc, object, name);
    int64_t number;
    return id != WR_JSON_NONE && wr_json_i64(doc, id, &number) ? number : 0;
}

/* Takes out what the edits of the report did. */
static void take_out(struct spread *spread, const struct weir_request *request, weir_span report)
{
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!wr_json_parse(&doc, &arena, report, NULL, NULL)) {
        wr_json_id edits = wr_json_find(&doc, 0, "edits");
        for (wr_json_id e = wr_json_first(&doc, edits); e != WR_JSON_NONE;
             e = wr_json_next(&doc, edits, e)) {
            struct weir_segment s;
            if (!weir_request_segment(request, (uint32_t)number_of(&doc, e, "i"), &s))
                spread->tokens[category_of(&s)] -=
                    number_of(&doc, e, "tokens_before") - number_of(&doc, e, "tokens_after");
        }
    }
    wr_arena_release(&arena);
}

/* The sum is to be `total`: what is missing is framing and the like; what is too much was
 * estimated so, and most of that in what was edited. */
static void balance(struct spread *spread, int64_t total)
{
    int64_t sum = 0;

    for (int i = 0; i < WR_CATEGORIES_COUNT; i++) {
        if (spread->tokens[i] < 0)
            spread->tokens[i] = 0;
        sum += spread->tokens[i];
    }
    if (sum <= total) {
        spread->tokens[WR_CATEGORY_OTHER] += total - sum;
        return;
    }
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        spread->tokens[i] = spread->tokens[i] * total / sum;
}

void wr_categories_append(const struct weir_request *request, weir_span body,
                          const struct weir_projected *projected, bool is_sent,
                          struct wr_text_memo *memo, struct wr_buf *out)
{
    struct spread spread = {.weights_sum = 0};
    uint64_t before = projected->tokens_before;

    if (before > WR_MODEL_TOKENS_MAX || projected->tokens_after > WR_MODEL_TOKENS_MAX)
        return;
    weigh(&spread, request, body, memo);
    for (int i = 0; i < WR_CATEGORIES_COUNT && spread.weights_sum; i++)
        spread.tokens[i] = (int64_t)(spread.weights[i] * before / spread.weights_sum);
    if (is_sent && projected->is_changed)
        take_out(&spread, request, projected->report);
    balance(&spread, (int64_t)(is_sent ? projected->tokens_after : before));
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        if (spread.tokens[i])
            wr_buf_printf(out, ",\"context_%s_tokens\":%lld", wr_category_name((enum wr_category)i),
                          (long long)spread.tokens[i]);
}
