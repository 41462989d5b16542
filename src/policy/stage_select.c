/* select: of what came with a request, the results that are worth their room stay whole; the others
 * are condensed to the room that one payload may have.
 *
 * How much room there is follows from the pressure (policy/budget.h). With plenty of it nothing is
 * touched. Results over the room of one payload are candidates; while the new ones together take
 * more than a half of what is free, the least useful are condensed further. Under critical pressure
 * older results follow, the least useful first, in one step.
 *
 *   utility = relevance * confidence * (100 + 10 * signals) / tokens
 *
 * relevance: the share of the words that the newest turns name (paths, symbols, error codes, files
 * changed, failures) which the result holds, 1 to 100; confidence: 100 where the call is
 * understood, else 60; signals: at most 10 count. */
#include "policy/stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/focus.h"
#include "condense/signal.h"
#include "policy/budget.h"

enum {
    CONFIDENCE_KNOWN = 100,
    CONFIDENCE_GUESSED = 60,
    SIGNALS_MAX = 10,
    WORDS_ENOUGH = 8, /* a result that holds so many of the words has all the relevance there is */
    FOCUS_TURNS = 2,
    FOCUS_BYTES_MAX = 16 * 1024,
    TOKEN_BYTES = 4,
    FURTHER = 4, /* the least useful keep a quarter of the room of one payload */
    DEPTH_BP = 6000,
    SIGNAL_TEXT_BYTES_MAX = 1024 * 1024,
};

struct candidate {
    uint32_t segment;
    enum wr_output_kind kind;
    uint64_t utility;
};

/* ---- what matters now ---- */

static void add_words(struct wr_buf *words, struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_tool_handles *h = s->handles;
    bool is_said =
        s->kind == WEIR_KIND_TEXT && (s->role == WEIR_ROLE_USER || s->role == WEIR_ROLE_ASSISTANT);
    if (words->len > FOCUS_BYTES_MAX)
        return;
    if (is_said)
        wr_buf_append(words, wr_fold_text(fold, segment));
    if (s->kind == WEIR_KIND_TOOL_CALL && h) {
        wr_buf_append(words, h->path);
        wr_buf_byte(words, ' ');
        wr_buf_append(words, h->command);
        wr_buf_byte(words, ' ');
        wr_buf_append(words, h->query);
    }
    wr_buf_byte(words, '\n');
}

/* The words of the user's last message and of what the model said and called in the newest turns.
 */
static weir_status read_focus(struct wr_fold *fold, struct wr_focus *focus, wr_hash128 *key)
{
    const struct wr_transcript *t = fold->transcript;
    struct wr_condense_input input = {.query = {"", 0}};
    struct wr_buf words;
    bool has_user = false;

    wr_buf_init(&words, WR_OUTPUT_BYTES_MAX);
    for (uint32_t i = fold->arrived; i-- > 0;) {
        bool is_user =
            t->segments[i].role == WEIR_ROLE_USER && t->segments[i].kind == WEIR_KIND_TEXT;
        bool is_new = t->segments[i].turn + FOCUS_TURNS > fold->turn;
        if (!is_new && has_user)
            break;
        if (is_new || is_user)
            add_words(&words, fold, i);
        has_user |= is_user;
    }
    weir_status status = wr_text_keep(fold->arena, &words, &input.focus);
    if (status)
        return status;
    *key = wr_hash128_of(input.focus); /* stands for the words */
    key->low ^= fold->input->memo_seed;
    return wr_focus_init(focus, fold->arena, &input);
}

static weir_status count_signals(struct wr_fold *fold, weir_span text, enum wr_output_kind kind,
                                 uint64_t *count)
{
    struct wr_signal_set set;
    *count = 0;
    if (text.len > SIGNAL_TEXT_BYTES_MAX)
        text = wr_span_cut(text, 0, SIGNAL_TEXT_BYTES_MAX);
    weir_status status = wr_signal_scan(&set, fold->arena, text, kind);
    if (!status)
        *count = set.count > SIGNALS_MAX ? SIGNALS_MAX : set.count;
    return status == WEIR_LIMIT ? WEIR_OK : status;
}

static bool is_understood(const struct wr_segment *s)
{
    return s->handles && s->handles->kind != WR_EFFECT_OTHER;
}

static weir_status find_utility(struct wr_fold *fold, const struct wr_focus *focus,
                                struct candidate *c, weir_span text)
{
    const struct wr_segment *s = &fold->transcript->segments[c->segment];
    uint64_t signals, tokens = fold->input->tokens[c->segment];
    if (wr_stage_is_too_long(text))
        text = wr_span_cut(text, 0,
                           SIGNAL_TEXT_BYTES_MAX < text.len ? SIGNAL_TEXT_BYTES_MAX : text.len);
    weir_status status = count_signals(fold, text, c->kind, &signals);
    uint64_t words = wr_focus_weigh(focus, text);
    uint64_t relevance = (words > WORDS_ENOUGH ? WORDS_ENOUGH : words) * 100 / WORDS_ENOUGH;
    uint64_t confidence =
        s->handles && s->handles->kind != WR_EFFECT_OTHER ? CONFIDENCE_KNOWN : CONFIDENCE_GUESSED;
    c->utility =
        (relevance ? relevance : 1) * confidence * (100 + 10 * signals) / (tokens ? tokens : 1);
    return status;
}

/* What was found for these words and this text is remembered. */
static weir_status weigh(struct wr_fold *fold, const struct wr_focus *focus, wr_hash128 focus_key,
                         struct candidate *c)
{
    weir_span text = wr_fold_text(fold, c->segment), known;
    weir_status status = wr_stage_kind(fold, c->segment, &c->kind);

    if (!text.ptr)
        return wr_arena_status(fold->arena);
    if (status)
        return status;
    wr_hash128 key = wr_hash128_seeded(text, focus_key);
    key.high ^= (uint64_t)c->kind << 1 | is_understood(&fold->transcript->segments[c->segment]);
    if (wr_text_memo_find(fold->input->memo, key, &known) && known.len == sizeof(c->utility)) {
        memcpy(&c->utility, known.ptr, sizeof(c->utility));
        return WEIR_OK;
    }
    status = find_utility(fold, focus, c, text);
    if (!status)
        wr_text_memo_put(fold->input->memo, key,
                         (weir_span){(const char *)&c->utility, sizeof(c->utility)});
    return status;
}

static int by_utility(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->utility != y->utility)
        return x->utility < y->utility ? -1 : 1;
    return x->segment < y->segment ? -1 : x->segment > y->segment; /* older first */
}

/* ---- candidates ---- */

struct selection {
    struct candidate *list; /* the least useful first */
    uint32_t count;
    uint64_t cap_tokens; /* the room of one payload */
};

static bool is_candidate(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t i,
                         uint64_t cap_tokens, bool sent)
{
    uint64_t tokens = fold->input->tokens[i];
    return wr_fold_is_sent(fold, i) == sent && tokens > cap_tokens &&
           tokens > WR_CONDENSE_TOKENS_MIN && wr_fold_is_open(fold, stage, i);
}

static weir_status collect_for_select(struct wr_fold *fold, const struct wr_stage *stage, bool sent,
                                      struct selection *s)
{
    struct wr_focus *focus = WR_ARENA_ARRAY(fold->arena, struct wr_focus, 1);
    const struct wr_fold_list *large = wr_stage_large(fold);
    uint32_t first = sent || !large ? 0 : large->count, count = 0;
    weir_status status = WEIR_OK;
    wr_hash128 key;

    if (!large)
        return wr_arena_status(fold->arena);
    while (first > 0 && !wr_fold_is_sent(fold, large->segments[first - 1]))
        first--;
    for (uint32_t i = first; i < large->count; i++)
        count += is_candidate(fold, stage, large->segments[i], s->cap_tokens, sent);
    if (!count)
        return WEIR_OK;
    s->list = WR_ARENA_ARRAY(fold->arena, struct candidate, count);
    if (!s->list || !focus)
        return wr_arena_status(fold->arena);
    status = read_focus(fold, focus, &key);
    for (uint32_t i = first; i < large->count && !status; i++) {
        if (!is_candidate(fold, stage, large->segments[i], s->cap_tokens, sent))
            continue;
        s->list[s->count].segment = large->segments[i];
        status = weigh(fold, focus, key, &s->list[s->count++]);
    }
    if (!status)
        qsort(s->list, s->count, sizeof(*s->list), by_utility);
    fold->chosen.candidates_count += s->count;
    return status;
}

/* A saving that is not worth the marker: max(128 tokens, 3 %). */
static bool saves_enough(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment,
                         uint64_t to_tokens)
{
    uint64_t tokens = fold->segments[segment].tokens;
    uint64_t least = tokens / 10000 * (uint64_t)stage->params[WR_SELECT_GAIN_BP];
    if (least < (uint64_t)stage->params[WR_SELECT_GAIN_TOKENS])
        least = (uint64_t)stage->params[WR_SELECT_GAIN_TOKENS];
    return tokens > to_tokens + least;
}

static weir_status condense(struct wr_fold *fold, const struct wr_stage *stage,
                            const struct candidate *c, uint64_t to_tokens)
{
    struct wr_fold_segment *now = &fold->segments[c->segment];
    if (!saves_enough(fold, stage, c->segment, to_tokens))
        return WEIR_OK;
    weir_status status = wr_stage_condense_to(fold, c->segment, c->kind, to_tokens);
    if (now->form != WR_FORM_CONDENSED || now->reason != fold->stage)
        return status;
    now->value.utility = c->utility;
    fold->chosen.count++;
    fold->chosen.utility += c->utility;
    return status;
}

/* ---- when ---- */

static struct wr_pressure pressure_of(const struct wr_fold *fold)
{
    struct wr_pressure_input input = {.window_known = fold->window.tokens > 0,
                                      .window_tokens = fold->window.tokens,
                                      .reserve_tokens = fold->window.reserve_tokens,
                                      .used_tokens = fold->total_tokens,
                                      .used_source = WR_COUNT_ESTIMATE};
    return wr_pressure(&input);
}

static uint64_t new_tokens(const struct wr_fold *fold)
{
    uint64_t tokens = 0;
    for (uint32_t i = fold->arrived; i-- > 0 && !wr_fold_is_sent(fold, i);)
        tokens += fold->segments[i].tokens;
    return tokens;
}

static weir_status select_turn(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_pressure pressure = pressure_of(fold);
    struct wr_budget_plan plan = wr_budget_plan(&pressure);
    struct selection s = {.cap_tokens = plan.inline_bytes_max / TOKEN_BYTES};
    uint64_t free_tokens = pressure.usable_known ? pressure.available_tokens : UINT64_MAX;

    if (plan.mode == WR_MODE_EXACT_PASS_THROUGH || plan.inline_bytes_max == WR_BUDGET_NO_CAP)
        return WEIR_OK;
    weir_status status = collect_for_select(fold, stage, false, &s);
    for (uint32_t i = 0; i < s.count && !status; i++) {
        bool is_tight = new_tokens(fold) > free_tokens / 2;
        status =
            condense(fold, stage, &s.list[i], is_tight ? s.cap_tokens / FURTHER : s.cap_tokens);
    }
    return status;
}

/* Critical pressure: what was sent before gives way as well. */
static weir_status select_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct selection s = {.cap_tokens = (uint64_t)stage->params[WR_SELECT_OLDER_TO]};
    uint64_t target = wr_fold_is_asked(fold) ? 0 : wr_fold_threshold(fold, DEPTH_BP);

    if (pressure_of(fold).band < WR_BAND_CRITICAL && !wr_fold_is_asked(fold))
        return WEIR_OK;
    weir_status status = collect_for_select(fold, stage, true, &s);
    for (uint32_t i = 0; i < s.count && !status && fold->total_tokens > target; i++)
        status = condense(fold, stage, &s.list[i], s.cap_tokens);
    return status;
}

const struct wr_stage_def wr_stage_select = {
    .name = "select",
    .what = "as the room shrinks, new results that are worth little for it are condensed",
    .turn = select_turn,
    .request = select_request,
    .acts = "as the room shrinks",
    .params = {{"gain_tokens", 128, 1, 1000000, NULL, "a saving below this is not made"},
               {"gain_bp", 300, 0, 10000, NULL, "nor one below this share of the result"},
               {"older_to", 300, WR_CONDENSE_TOKENS_MIN, 10000000, NULL,
                "under critical pressure older results are condensed to this"}},
    .params_count = 3,
    .takes_tools = true,
};
