/* The stages that make what was sent before shorter in its place: results, and the arguments of
 * calls. No message leaves.
 *
 *   mask             by place: the first and the last few stay
 *   clear            by age, past a share of the window
 *   select           by what they are worth for the newest turns
 *   prune_arguments  of calls that wrote or edited files
 *
 * Each change writes the prompt behind it anew, so each stage waits until a step frees enough. */
#include "policy/stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/focus.h"
#include "condense/signal.h"
#include "json/splice.h"
#include "policy/budget.h"

/* ---- mask ---- */

/* Of the results only the first `keep_first` and the last `keep_last` stay visible.
 *
 * The document masks at every call, so its boundary slides by one each time and rewrites the cache
 * each time. Here the middle is masked in a step, once `batch` results have come to lie in it. */

enum { BYTES_A_TOKEN = 4, MESSAGE_TOKENS = 4 };

static const char opening[] = "[result masked — ~";
static const char closing[] = " tokens removed]";

/* "[result masked — ~N tokens removed]"; N counts the whole message as the document does. */
static void write_placeholder(struct wr_buf *out, weir_span text, weir_span call_id)
{
    size_t tokens = text.len / BYTES_A_TOKEN + call_id.len / BYTES_A_TOKEN + MESSAGE_TOKENS;
    wr_buf_printf(out, "%s%zu%s", opening, tokens, closing);
}

static bool is_placeholder(weir_span text)
{
    weir_span line;
    return wr_span_line(&text, &line) && wr_span_starts(line, wr_span_of(opening)) &&
           wr_span_ends(line, wr_span_of(closing));
}

static weir_status mask_one(struct wr_fold *fold, uint32_t segment)
{
    struct wr_fold_form form = {
        .form = WR_FORM_MASKED, .refers_to = WR_SEGMENT_NONE, .reason = WR_STEP_PRESSURE};
    struct wr_buf buf;
    weir_span text = wr_fold_text(fold, segment);
    if (!text.ptr)
        return wr_arena_status(fold->arena);
    if (is_placeholder(text))
        return WEIR_OK;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    write_placeholder(&buf, text, fold->transcript->segments[segment].call_id);
    weir_status status = wr_text_keep(fold->arena, &buf, &form.text);
    return status ? status : wr_fold_give(fold, segment, &form);
}

static bool is_maskable(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    bool is_capped = fold->segments[segment].form == WR_FORM_CAPPED &&
                     !wr_stage_exempts(stage, fold->transcript->segments[segment].tool);
    return (is_capped || wr_fold_is_open(fold, stage, segment)) && wr_fold_gain(fold, segment);
}

static weir_status mask_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    uint32_t first = (uint32_t)stage->params[WR_MASK_KEEP_FIRST],
             last = (uint32_t)stage->params[WR_MASK_KEEP_LAST];
    uint32_t *results = fold->scratch.lists[0], open = 0;
    weir_status status = WEIR_OK;

    uint32_t count = wr_stage_results(fold, results);
    if (fold->arena->status)
        return fold->arena->status;
    if (!(first + last) || count <= first + last)
        return WEIR_OK;
    for (uint32_t i = first; i < count - last; i++)
        open += is_maskable(fold, stage, results[i]);
    if (open < (uint32_t)stage->params[WR_MASK_BATCH] && !wr_fold_is_asked(fold))
        return WEIR_OK;
    for (uint32_t i = first; i < count - last && !status; i++)
        if (is_maskable(fold, stage, results[i]))
            status = mask_one(fold, results[i]);
    return status;
}

const struct wr_stage_def wr_stage_mask = {
    .name = "mask",
    .what = "results between the first and the last few become a placeholder",
    .request = mask_request,
    .acts = "when enough results lie between",
    .params = {{"keep_first", 2, 0, 100000, NULL, "results at the start that stay"},
               {"keep_last", 5, 0, 100000, NULL, "results at the end that stay"},
               {"batch", 10, 1, 100000, NULL,
                "results that must lie between before any is masked"}},
    .params_count = 3,
    .takes_tools = true,
};

/* ---- clear ---- */

/* Once the prompt passes a share of the window, older results become `[cleared]`.
 *
 * Which are older is by count (the most recent `keep` stay; 0: 3 for windows under 100,000, else 6)
 * or by turns (`older_turns`). A step is taken only when it frees a twentieth of the window. */

static uint32_t keep_count(const struct wr_fold *fold, const struct wr_stage *stage)
{
    int64_t keep = stage->params[WR_CLEAR_KEEP];
    return keep ? (uint32_t)keep : wr_tiered_keep_recent(fold->window.tokens);
}

static bool is_old_result(const struct wr_fold *fold, const struct wr_stage *stage,
                          uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    return s->turn + (uint32_t)wr_stage_param(stage, s->tool, WR_CLEAR_OLDER_TURNS) < fold->turn;
}

static bool is_clearable(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    enum wr_form form = fold->segments[segment].form;
    bool is_shortened = form == WR_FORM_EVICTED || form == WR_FORM_CAPPED;
    return wr_fold_is_open(fold, stage, segment) ||
           (is_shortened && !wr_stage_exempts(stage, fold->transcript->segments[segment].tool));
}

static weir_status clear_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_fold_form form = {.form = WR_FORM_CLEARED,
                                .text = WR_LIT("[cleared]"),
                                .refers_to = WR_SEGMENT_NONE,
                                .reason = WR_STEP_PRESSURE};
    uint32_t *results = fold->scratch.lists[0], picked = 0;
    uint64_t gain_tokens = 0;
    weir_status status = WEIR_OK;

    if (fold->total_tokens <= wr_stage_trigger(fold, stage))
        return WEIR_OK;
    uint32_t count = wr_stage_results(fold, results), keep = keep_count(fold, stage);
    for (uint32_t i = 0; i + keep < count; i++) {
        if (!is_old_result(fold, stage, results[i]) || !is_clearable(fold, stage, results[i]) ||
            !wr_fold_gain(fold, results[i]))
            continue;
        gain_tokens += wr_fold_gain(fold, results[i]);
        results[picked++] = results[i];
    }
    if (gain_tokens < wr_fold_gain_min(fold))
        return WEIR_OK;
    for (uint32_t i = 0; i < picked && !status; i++)
        status = wr_fold_give(fold, results[i], &form);
    return status;
}

const struct wr_stage_def wr_stage_clear = {
    .name = "clear",
    .what = "past a share of the window, older results become [cleared]",
    .request = clear_request,
    .acts_at = wr_stage_at_share,
    .work = WR_WORK_SHORTENS,
    .params = {{"at_bp", 6000, 1, 10000, NULL, "share of the window, in basis points"},
               {"trigger_tokens", 60000, 1, 1000000000, NULL, "where the window is not known"},
               {"keep", 0, 0, 100000, NULL, "most recent results that stay; 0: by the window"},
               {"older_turns", 0, 0, 100000, NULL, "only results older than this many turns"}},
    .params_count = 4,
    .takes_tools = true,
    .tool_params = 1U << WR_CLEAR_OLDER_TURNS,
};

/* ---- select ---- */

/* Of what came with a request, the results that are worth their room stay whole; the others
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

enum {
    CONFIDENCE_KNOWN = 100,
    CONFIDENCE_GUESSED = 60,
    SIGNALS_MAX = 10,
    WORDS_ENOUGH = 8, /* a result that holds so many of the words has all the relevance there is */
    FOCUS_TURNS = 2,
    FOCUS_BYTES_MAX = 16 * 1024,

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

static weir_status collect_candidates(struct wr_fold *fold, const struct wr_stage *stage, bool sent,
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
    struct selection s = {.cap_tokens = plan.inline_bytes_max / BYTES_A_TOKEN};
    uint64_t free_tokens = pressure.usable_known ? pressure.available_tokens : UINT64_MAX;

    if (plan.mode == WR_MODE_EXACT_PASS_THROUGH || plan.inline_bytes_max == WR_BUDGET_NO_CAP)
        return WEIR_OK;
    weir_status status = collect_candidates(fold, stage, false, &s);
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
    weir_status status = collect_candidates(fold, stage, true, &s);
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

/* ---- prune_arguments ---- */

/* Past a share of the window, long strings in the arguments of old calls that
 * wrote or edited files become a marker. What was written is in the file by then; what was meant to
 * be replaced is not there any more.
 *
 * Only values that are strings change: names, numbers, keys and everything short stay, and the
 * arguments stay JSON. A call beside signed thinking is left alone: the signature speaks for both.
 *
 * A very large new call may lose them at once, as it is first sent again: it was output, so it is
 * new input then, and no step is needed. Presets prune only such: a model that sees many pruned
 * calls may take that for the way such calls are written. */

/* The first file a call changed; NULL: it changed none, or a command line did. */
static const struct wr_effect *first_write(const struct wr_segment *s)
{
    size_t at = 0;
    return s->handles && !s->handles->is_shell ? wr_tool_next_write(s->handles, &at) : NULL;
}

static bool is_beside_thinking(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t group = t->segments[segment].group;
    if (group == WR_SEGMENT_NONE)
        return true; /* nothing is known of what it stands beside */
    for (uint32_t i = group; i < fold->group_end[group]; i++)
        if (t->segments[i].group == group && t->segments[i].is_signed)
            return true;
    return false;
}

static bool is_old_call(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    return s->turn + (uint32_t)wr_stage_param(stage, s->tool, WR_PRUNE_OLDER_TURNS) < fold->turn;
}

static bool is_prunable(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];

    if (s->kind != WEIR_KIND_TOOL_CALL || fold->segments[segment].form != WR_FORM_EXACT ||
        !wr_fold_gain(fold, segment))
        return false;
    if (s->is_opaque || s->payload == WR_JSON_NONE || s->pair == WR_SEGMENT_NONE ||
        s->pair >= fold->arrived || fold->segments[segment].is_marked)
        return false;
    /* A result that came as a marker does not say any more whether the call failed. */
    return !fold->segments[s->pair].is_marked && first_write(s) &&
           !wr_stage_exempts(stage, s->tool) && !is_beside_thinking(fold, segment);
}

/* Arguments of one call on their way to being shorter. */
struct pruner {
    struct wr_fold *fold;
    const struct wr_segment *call;
    struct wr_json doc;
    struct wr_fold_member *members;
    uint32_t members_count;
    uint32_t kept_count; /* strings that stay */
};

static weir_status add_member(struct pruner *p, wr_json_id node, uint64_t min_tokens)
{
    const struct wr_fold_input *input = p->fold->input;
    weir_span text = wr_json_text(&p->doc, p->fold->arena, node);
    if (!text.ptr)
        return wr_arena_status(p->fold->arena);
    if (input->count(input->user, text) < min_tokens) {
        p->kept_count++;
        return WEIR_OK;
    }
    p->members[p->members_count] = (struct wr_fold_member){.node = node, .original = text};
    return wr_handle_of(text, &p->members[p->members_count++].handle);
}

static weir_status find_members(struct pruner *p, uint64_t min_tokens)
{
    uint32_t strings = 0;
    weir_status status = WEIR_OK;

    for (wr_json_id i = 0; i < p->doc.nodes_count; i++)
        strings += p->doc.nodes[i].kind == WR_JSON_STRING && !p->doc.nodes[i].is_key;
    p->members = WR_ARENA_ARRAY(p->fold->arena, struct wr_fold_member, strings);
    if (!p->members)
        return wr_arena_status(p->fold->arena);
    for (wr_json_id i = 0; i < p->doc.nodes_count && !status; i++)
        if (p->doc.nodes[i].kind == WR_JSON_STRING && !p->doc.nodes[i].is_key)
            status = add_member(p, i, min_tokens);
    return status;
}

/* The note names the file where nothing else in the arguments does. */
static weir_status write_note(const struct pruner *p, struct wr_fold_member *member)
{
    const struct wr_fold_input *input = p->fold->input;
    struct wr_marker marker = {
        .handle = member->handle,
        .way = {.kind = WR_WAY_RECALL, .tool = wr_ways_recall(input->ways, UINT32_MAX)},
        .tokens = input->count(input->user, member->original),
        .what = "left out"};
    uint64_t lines = wr_span_lines(member->original);
    struct wr_buf buf;

    marker.lines = lines > 1 ? lines : 0;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    if (!p->kept_count && first_write(p->call)->path.len) {
        wr_buf_append(&buf, first_write(p->call)->path);
        wr_buf_byte(&buf, '\n');
    }
    wr_marker_write(&buf, &marker);
    return wr_text_keep(p->fold->arena, &buf, &member->text);
}

static weir_status write_arguments(struct pruner *p, weir_span *arguments)
{
    struct wr_splice splice;
    struct wr_buf buf;
    uint32_t kept = 0;

    wr_splice_init(&splice, &p->doc, p->fold->arena);
    for (uint32_t i = 0; i < p->members_count; i++) {
        weir_status status = write_note(p, &p->members[i]);
        if (status)
            return status;
        if (p->members[i].text.len >= p->members[i].original.len)
            continue;
        p->members[kept] = p->members[i];
        wr_splice_set_text(&splice, p->members[kept].node, p->members[kept].text);
        kept++;
    }
    p->members_count = kept;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_splice_apply(&splice, &buf, NULL);
    if (status)
        wr_buf_release(&buf);
    return status ? status : wr_text_keep(p->fold->arena, &buf, arguments);
}

/* Arguments that are no JSON object have no members, and stay. */
static weir_status prune_one(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment,
                             struct wr_fold_pruning *pruning)
{
    struct pruner p = {.fold = fold, .call = &fold->transcript->segments[segment]};
    weir_span arguments = wr_fold_text(fold, segment);

    if (!arguments.ptr)
        return wr_arena_status(fold->arena);
    if (wr_json_parse(&p.doc, fold->arena, arguments, NULL, NULL))
        return wr_arena_status(fold->arena);
    if (wr_json_kind(&p.doc, 0) != WR_JSON_OBJECT)
        return WEIR_OK;
    weir_status status =
        find_members(&p, (uint64_t)wr_stage_param(stage, p.call->tool, WR_PRUNE_MIN_TOKENS));
    if (!status && p.members_count)
        status = write_arguments(&p, &pruning->arguments);
    pruning->members = p.members;
    pruning->members_count = p.members_count;
    return status;
}

static uint64_t gain_of_pruning(const struct wr_fold *fold, uint32_t segment,
                                const struct wr_fold_pruning *pruning)
{
    if (!pruning->members_count)
        return 0;
    uint64_t before = fold->segments[segment].tokens,
             after = fold->input->count(fold->input->user, pruning->arguments);
    return before > after ? before - after : 0;
}

/* The most that could be freed comes first: arguments are read only where it is enough. */
static uint32_t collect_old_calls(const struct wr_fold *fold, const struct wr_stage *stage,
                                  uint32_t *list)
{
    uint64_t tokens = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < fold->arrived; i++) {
        if (!is_old_call(fold, stage, i) || !is_prunable(fold, stage, i))
            continue;
        tokens += wr_fold_gain(fold, i);
        list[count++] = i;
    }
    return tokens < wr_fold_gain_min(fold) ? 0 : count;
}

static weir_status prune_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    weir_status status = WEIR_OK;
    uint64_t gain_tokens = 0;

    if (!wr_fold_recall(fold).len || fold->total_tokens <= wr_stage_trigger(fold, stage))
        return WEIR_OK;
    uint32_t *list = fold->scratch.lists[0], count = collect_old_calls(fold, stage, list);
    struct wr_fold_pruning *prunings = WR_ARENA_ARRAY(fold->arena, struct wr_fold_pruning, count);
    if (!prunings)
        return wr_arena_status(fold->arena);
    for (uint32_t i = 0; i < count && !status; i++) {
        prunings[i].reason = WR_STEP_PRESSURE;
        status = prune_one(fold, stage, list[i], &prunings[i]);
        gain_tokens += gain_of_pruning(fold, list[i], &prunings[i]);
    }
    if (gain_tokens < wr_fold_gain_min(fold))
        return status;
    for (uint32_t i = 0; i < count && !status; i++)
        status = wr_fold_prune(fold, list[i], &prunings[i]);
    return status;
}

/* ---- as they are first sent again ---- */

static bool holds_thinking(const struct wr_fold *fold, uint32_t first)
{
    for (uint32_t i = first; i < fold->arrived; i++)
        if (fold->transcript->segments[i].is_signed)
            return true;
    return false;
}

/* What the model wrote as output is new input now, so to leave it out rewrites nothing. */
static weir_status prune_turn(struct wr_fold *fold, const struct wr_stage *stage)
{
    uint32_t first = wr_fold_new_first(fold);
    weir_status status = WEIR_OK;

    if (!stage->params[WR_PRUNE_NEW_OVER] || !wr_fold_recall(fold).len ||
        holds_thinking(fold, first))
        return WEIR_OK;
    for (uint32_t i = first; i < fold->arrived && !status; i++) {
        struct wr_fold_pruning pruning = {.reason = WR_STEP_PRESSURE};
        if (fold->segments[i].tokens <= (uint64_t)wr_stage_param(stage,
                                                                 fold->transcript->segments[i].tool,
                                                                 WR_PRUNE_NEW_OVER) ||
            !is_prunable(fold, stage, i))
            continue;
        status = prune_one(fold, stage, i, &pruning);
        if (!status)
            status = wr_fold_prune(fold, i, &pruning);
    }
    return status;
}

const struct wr_stage_def wr_stage_prune_arguments = {
    .name = "prune_arguments",
    .what = "past a share of the window, long strings in old write and edit calls become a marker",
    .turn = prune_turn,
    .request = prune_request,
    .acts_at = wr_stage_at_share,
    .params = {{"at_bp", 6000, 1, 10000, NULL, "share of the window, in basis points"},
               {"trigger_tokens", 60000, 1, 1000000000, NULL, "where the window is not known"},
               {"older_turns", 4, 1, 100000, NULL, "only calls older than this many turns"},
               {"min_tokens", 100, 64, 1000000, NULL, "shorter strings stay"},
               {"new_over", 0, 0, 10000000, NULL,
                "new calls over this many tokens at once, as they are first sent again; 0: none"}},
    .params_count = 5,
    .takes_tools = true,
    .tool_params = 1U << WR_PRUNE_OLDER_TURNS | 1U << WR_PRUNE_MIN_TOKENS | 1U << WR_PRUNE_NEW_OVER,
};
