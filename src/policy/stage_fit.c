/* fit: the very last resort, where the prompt would be refused for its size after all that the
 * stages before have taken.
 *
 *   fit_unbar     before all other stages: where bound thinking bars a step, the running calls and
 *                 results become one message of the user's (policy/open_loop.h)
 *   omit_oldest   the oldest groups of calls and results leave for a summary, and summaries of
 *                 loops that are done: without a recall tool no other stage could take anything
 *   stub_answers  the model's own older answers, then files of instructions that were read earlier
 *   shorten_news  the results that have just come, evenly, as far as it takes: condensed, and where
 *                 that is not enough cut to head and tail; then whatever older result is left
 *   ...           where all that would not do: new failures, files that are read again and results
 *                 that came with a marker, like the others; then the running calls and results, and
 *                 after all else the user's older messages (law L5)
 *
 * The user's newest message and instructions stay: where they alone are more than the window
 * holds, nothing lawful is left to take.
 *
 * Where the request offers no recall tool the originals are in the store all the same, and the
 * operator can bring them back (law L2). Without a store nothing leaves.
 *
 * What has just come was not sent yet, so shortening it is no step and lawful beside signed
 * thinking too. */
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "policy/open_loop.h"
#include "policy/stage.h"

enum {
    SUMMARY_TOKENS_MAX = 4000,
    SUMMARY_SHARE = 8, /* of the window */
    FULL_BP = 10000,
    OMIT_BP = 6000,       /* of the room, to which the oldest groups go down: 80 % cost 7 % more */
    DEPTH_BP = 8000,      /* of the room, to which answers go down */
    CAP_NOTE_TOKENS = 60, /* of a cut text: the indicator and the marker */
    BYTES_A_TOKEN = 4,    /* as wr_cap_text() counts */
};

static bool is_over(const struct wr_fold *fold, uint64_t basis_points)
{
    return fold->total_tokens > wr_fold_threshold(fold, basis_points);
}

/* ---- answers ---- */

/* An output of words alone. Reasoning that nobody signed stays, and may speak for the words. */
static bool is_words(const struct wr_fold *fold, uint32_t group)
{
    const struct wr_transcript *t = fold->transcript;
    for (uint32_t i = group; i < fold->group_end[group] && i < fold->arrived; i++) {
        const struct wr_segment *s = &t->segments[i];
        bool is_thinking = s->kind == WEIR_KIND_REASONING && s->is_signed;
        if (s->group == group && s->kind != WEIR_KIND_TEXT && !is_thinking)
            return false;
    }
    return true;
}

static bool is_answer(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_fold_segment *now = &fold->segments[segment];

    return s->kind == WEIR_KIND_TEXT && s->from_model && s->parts_count && !s->is_opaque &&
           s->group != WR_SEGMENT_NONE && now->form == WR_FORM_EXACT && !now->is_marked &&
           !wr_fold_is_held(fold, segment) && wr_fold_gain(fold, segment) &&
           is_words(fold, s->group);
}

/* The last output that said something: it is what the user speaks to. */
static uint32_t newest_words(const struct wr_fold *fold)
{
    const struct wr_segment *segments = fold->transcript->segments;
    for (uint32_t i = fold->arrived; i-- > 0;)
        if (segments[i].from_model && segments[i].kind == WEIR_KIND_TEXT)
            return segments[i].group;
    return WR_SEGMENT_NONE;
}

/* Older ones, or the newest, until the prompt is down to `to_bp`. */
static weir_status stub_answers(struct wr_fold *fold, bool is_newest, uint64_t to_bp)
{
    struct wr_fold_form form = {.form = WR_FORM_CLEARED,
                                .text = WR_LIT(WR_ANSWER_FRONT "]"),
                                .refers_to = WR_SEGMENT_NONE,
                                .reason = WR_STEP_WINDOW};
    uint32_t newest = newest_words(fold);
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < fold->arrived && !status && is_over(fold, to_bp); i++)
        if ((fold->transcript->segments[i].group == newest) == is_newest && is_answer(fold, i))
            status = wr_fold_give(fold, i, &form);
    return status;
}

/* The newest answer goes only where the prompt then fits. */
static weir_status stub_newest(struct wr_fold *fold)
{
    uint32_t newest = newest_words(fold);
    uint64_t freed = 0;

    for (uint32_t i = 0; i < fold->arrived; i++)
        if (fold->transcript->segments[i].group == newest && is_answer(fold, i))
            freed += wr_fold_gain(fold, i);
    return fold->total_tokens - freed <= wr_fold_room(fold) ? stub_answers(fold, true, FULL_BP)
                                                            : WEIR_OK;
}

/* ---- instructions that were read ---- */

/* Other stages leave them alone: what they say holds for the whole session. */
static bool is_read_instructions(struct wr_fold *fold, const struct wr_stage *stage,
                                 uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_fold_segment *now = &fold->segments[segment];

    return wr_fold_is_instructions(fold, segment) && s->parts_count && !s->is_opaque &&
           now->form == WR_FORM_EXACT && !now->is_marked && !wr_fold_is_held(fold, segment) &&
           wr_fold_is_sent(fold, segment) && wr_fold_gain(fold, segment) &&
           !wr_stage_exempts(stage, s->tool) && wr_fold_may_change(fold, s->tool);
}

/* Which older segments may become stubs. */
typedef bool wanted_fn(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment);

static weir_status stub_results(struct wr_fold *fold, const struct wr_stage *stage,
                                wanted_fn *is_wanted, const char *front)
{
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < fold->arrived && !status && is_over(fold, FULL_BP); i++)
        if (is_wanted(fold, stage, i))
            status = wr_stage_stub(fold, i, front, WR_STEP_WINDOW);
    return status;
}

static uint64_t gain_of(struct wr_fold *fold, const struct wr_stage *stage, wanted_fn *is_wanted)
{
    uint64_t gain = 0;
    for (uint32_t i = 0; i < fold->arrived; i++)
        gain += is_wanted(fold, stage, i) ? wr_fold_gain(fold, i) : 0;
    return gain;
}

/* ---- results that nobody else may take ---- */

/* A result that may be taken whatever it says and however it came. */
static bool is_any_result(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t i)
{
    const struct wr_segment *s = &fold->transcript->segments[i];
    const struct wr_fold_segment *now = &fold->segments[i];

    return s->kind == WEIR_KIND_TOOL_RESULT && s->parts_count && !s->is_opaque &&
           (wr_form_says_all(now->form) || now->form == WR_FORM_CONDENSED) &&
           !wr_fold_is_held(fold, i) && !fold->transcript->is_delta &&
           !wr_stage_exempts(stage, s->tool) && wr_fold_may_change(fold, s->tool);
}

static bool is_old_result(struct wr_fold *fold, const struct wr_stage *stage, uint32_t i)
{
    return wr_fold_is_sent(fold, i) && wr_fold_gain(fold, i) && is_any_result(fold, stage, i);
}

/* ---- the user's messages of earlier loops ---- */

/* What the user said last, which stays; agents may have said something as the user behind it. */
static bool is_of_agent(weir_span text);

static uint32_t newest_of_user(struct wr_fold *fold)
{
    const struct wr_segment *segments = fold->transcript->segments;
    for (uint32_t i = fold->arrived; i-- > 0;)
        if (segments[i].kind == WEIR_KIND_TEXT && segments[i].role == WEIR_ROLE_USER &&
            !is_of_agent(wr_fold_text(fold, i)))
            return i;
    return WR_SEGMENT_NONE;
}

/* Agents send instructions and the state of the machine as the user's, in tags. */
static bool is_of_agent(weir_span text)
{
    return wr_span_starts(text, WR_LIT("<")) || wr_span_starts(text, WR_LIT("# AGENTS.md"));
}

static bool is_old_words(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    (void)stage;
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_fold_segment *now = &fold->segments[segment];

    return s->kind == WEIR_KIND_TEXT && s->role == WEIR_ROLE_USER && s->parts_count &&
           !s->is_opaque && s->loop != WR_SEGMENT_NONE && now->form == WR_FORM_EXACT &&
           !wr_fold_is_held(fold, segment) && wr_fold_is_sent(fold, segment) &&
           wr_fold_gain(fold, segment) && !is_of_agent(wr_fold_text(fold, segment));
}

/* The first segment of the message that the user said last: nothing from there on is taken. */
static uint32_t words_end(struct wr_fold *fold)
{
    const struct wr_segment *segments = fold->transcript->segments;
    uint32_t newest = newest_of_user(fold);

    if (newest == WR_SEGMENT_NONE)
        return 0;
    while (newest > 0 && segments[newest - 1].message == segments[newest].message)
        newest--;
    return newest;
}

static uint64_t words_gain(struct wr_fold *fold, const struct wr_stage *stage, uint32_t end)
{
    uint64_t gain = 0;
    for (uint32_t i = 0; i < end; i++)
        gain += is_old_words(fold, stage, i) ? wr_fold_gain(fold, i) : 0;
    return gain;
}

static weir_status stub_words(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_fold_form form = {.form = WR_FORM_CLEARED,
                                .text = WR_LIT(WR_WORDS_FRONT "]"),
                                .refers_to = WR_SEGMENT_NONE,
                                .reason = WR_STEP_WINDOW};
    weir_status status = WEIR_OK;
    uint32_t end = words_end(fold);

    if (!is_over(fold, FULL_BP) ||
        fold->total_tokens - words_gain(fold, stage, end) > wr_fold_room(fold))
        return WEIR_OK;
    for (uint32_t i = 0; i < end && !status && is_over(fold, FULL_BP); i++)
        if (is_old_words(fold, stage, i))
            status = wr_fold_give(fold, i, &form);
    return status;
}

/* ---- what has just come ---- */

struct news {
    uint32_t *list; /* results, in their order */
    uint32_t count;
};

/* Recalled text is whole when it comes (law L2), whatever it takes. */
static bool is_new_result(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t i,
                          bool is_any)
{
    const struct wr_tool_handles *h = fold->transcript->segments[i].handles;
    if (fold->segments[i].tokens <= WR_CONDENSE_TOKENS_MIN)
        return false;
    if (is_any)
        return is_any_result(fold, stage, i) && !(h && h->kind == WR_EFFECT_RECALL);
    if (fold->segments[i].form == WR_FORM_CONDENSED)
        return !wr_fold_is_held(fold, i) &&
               !wr_stage_exempts(stage, fold->transcript->segments[i].tool);
    return wr_fold_is_open(fold, stage, i);
}

static struct news collect_news(struct wr_fold *fold, const struct wr_stage *stage, bool is_any)
{
    struct news news = {fold->scratch.lists[0], 0};
    for (uint32_t i = fold->turn_first; i < fold->arrived; i++)
        if (!wr_fold_is_sent(fold, i) && is_new_result(fold, stage, i, is_any))
            news.list[news.count++] = i;
    return news;
}

static uint64_t freed_at(const struct wr_fold *fold, const struct news *news, uint64_t level)
{
    uint64_t freed = 0;
    for (uint32_t i = 0; i < news->count; i++) {
        uint64_t tokens = fold->segments[news->list[i]].tokens;
        freed += tokens > level ? tokens - level : 0;
    }
    return freed;
}

/* The largest size for each of them with which the prompt fits, or the smallest size that makes
 * sense. */
static uint64_t find_level(const struct wr_fold *fold, const struct news *news)
{
    uint64_t need = fold->total_tokens - wr_fold_threshold(fold, FULL_BP);
    uint64_t low = WR_CONDENSE_TOKENS_MIN, high = low;

    for (uint32_t i = 0; i < news->count; i++)
        if (fold->segments[news->list[i]].tokens > high)
            high = fold->segments[news->list[i]].tokens;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (freed_at(fold, news, middle) >= need)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Nothing is shortened where the prompt would not fit even then. */
static bool can_fit(const struct wr_fold *fold, const struct news *news, uint64_t later_tokens)
{
    uint64_t freed = freed_at(fold, news, WR_CONDENSE_TOKENS_MIN) + later_tokens;
    return news->count && fold->total_tokens - freed <= wr_fold_room(fold);
}

static weir_status cut_result(struct wr_fold *fold, uint32_t segment, uint64_t to_tokens)
{
    struct wr_fold_form form = {.form = WR_FORM_CAPPED, .refers_to = WR_SEGMENT_NONE};
    weir_span text = wr_fold_text(fold, segment);
    struct wr_buf buf;
    bool is_cut;

    if (!text.ptr)
        return wr_arena_status(fold->arena);
    uint64_t bytes = text.len * (to_tokens - CAP_NOTE_TOKENS) / fold->input->tokens[segment];
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_cap_text(&buf, text, bytes / BYTES_A_TOKEN, WR_CAP_BOTH, &is_cut);
    weir_status status = wr_text_keep(fold->arena, &buf, &form.text);
    return status || !is_cut ? status : wr_fold_give(fold, segment, &form);
}

static weir_status shorten_results(struct wr_fold *fold, const struct news *news, uint64_t level,
                                   bool by_cut)
{
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < news->count && !status && is_over(fold, FULL_BP); i++) {
        uint32_t segment = news->list[i];
        enum wr_output_kind kind;
        if (fold->segments[segment].tokens <= level)
            continue;
        if (by_cut) {
            status = cut_result(fold, segment, level);
            continue;
        }
        status = wr_stage_kind(fold, segment, &kind);
        if (!status)
            status = wr_stage_condense_to(fold, segment, kind, level);
    }
    return status;
}

/* A condenser keeps every signal and so may stay above what was asked: then the others give more,
 * and in the end all as much as they can. `later_tokens` is what can be freed after it. */
static weir_status shorten_news(struct wr_fold *fold, const struct wr_stage *stage, bool is_any,
                                uint64_t later_tokens)
{
    static const struct {
        bool by_cut, is_least;
    } rounds[] = {{false, false}, {false, false}, {false, true}, {true, false}, {true, true}};
    struct news news = collect_news(fold, stage, is_any);
    weir_status status = WEIR_OK;

    if (!can_fit(fold, &news, later_tokens))
        return WEIR_OK;
    for (size_t i = 0; i < WR_COUNT_OF(rounds) && !status; i++) {
        if (!is_over(fold, FULL_BP))
            return WEIR_OK;
        uint64_t level = rounds[i].is_least ? WR_CONDENSE_TOKENS_MIN : find_level(fold, &news);
        status = shorten_results(fold, &news, level, rounds[i].by_cut);
    }
    return status;
}

/* ---- groups that leave whole ---- */

/* Where what an insert stands for begins and ends is part of what the next one tells. */
static void widen(const struct wr_fold *fold, uint32_t insert, uint32_t *first, uint32_t *end)
{
    const struct wr_fold_insert *in = &fold->inserts[insert];
    *first = in->first < *first ? in->first : *first;
    *end = in->last >= *end ? in->last + 1 : *end;
}

static bool was_taken_out(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_fold_segment *now = &fold->segments[segment];
    return now->is_offloaded && now->reason != wr_open_loop_name;
}

/* Of all that this stage has taken out so far, what it takes out now included. */
static weir_status summarise_oldest(struct wr_fold *fold, const struct wr_fold_replacement *r,
                                    weir_span *text)
{
    uint64_t share = fold->window.tokens / SUMMARY_SHARE;
    struct wr_stage_past past = {.first = fold->arrived,
                                 .tokens_max =
                                     share < SUMMARY_TOKENS_MAX ? share : SUMMARY_TOKENS_MAX,
                                 .is_told = was_taken_out,
                                 .also = r->segments,
                                 .also_count = r->segments_count,
                                 .all_from = UINT32_MAX};

    if (r->segments_count) {
        past.first = r->segments[0];
        past.end = r->segments[r->segments_count - 1] + 1;
    }
    if (r->supersedes != WR_INSERT_NONE)
        widen(fold, r->supersedes, &past.first, &past.end);
    for (uint32_t i = 0; i < r->absorbs_count; i++)
        widen(fold, r->absorbs[i], &past.first, &past.end);
    weir_status status = wr_stage_summarise(fold, &past, text);
    if (!status && !text->len)
        *text = WR_LIT(WR_OMITTED_NOTICE);
    return status;
}

/* Whether somebody said that a tool's results stay as they are, and the group has one. */
static bool group_stays(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t group)
{
    const struct wr_segment *segments = fold->transcript->segments;
    if (wr_fold_group_is_kept(fold, group))
        return true;
    for (uint32_t i = group; i < fold->group_end[group] && i < fold->arrived; i++)
        if (segments[i].group == group && segments[i].kind == WEIR_KIND_TOOL_RESULT &&
            (wr_stage_exempts(stage, segments[i].tool) ||
             !wr_fold_may_change(fold, segments[i].tool)))
            return true;
    return false;
}

/* The oldest leave for one summary: deep, because a step for every request would write the whole
 * prompt into the cache again each time. */
static weir_status omit_oldest(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_fold_replacement r = {.role = WEIR_ROLE_USER, .reason = WR_STEP_WINDOW};
    struct wr_stage_oldest o = {.goal_tokens = wr_fold_threshold(fold, OMIT_BP),
                                .limit_tokens = wr_fold_threshold(fold, FULL_BP),
                                .stage = stage,
                                .stays = group_stays};
    bool taken;

    if (!is_over(fold, FULL_BP))
        return WEIR_OK;
    weir_status status = wr_stage_oldest(fold, &o);
    if (status || (!o.segments_count && !o.summaries_count))
        return status;
    wr_stage_omit(fold, o.segments, o.segments_count, &r);
    r.absorbs = o.summaries;
    r.absorbs_count = o.summaries_count;
    status = summarise_oldest(fold, &r, &r.text);
    return status ? status : wr_fold_replace(fold, &r, &taken);
}

static weir_status fold_running(struct wr_fold *fold, const struct wr_stage *stage)
{
    const struct wr_segment *segments = fold->transcript->segments;
    bool taken;

    if (!is_over(fold, FULL_BP))
        return WEIR_OK;
    for (uint32_t i = wr_fold_open_first(fold); i < fold->arrived; i++)
        if (segments[i].group == i && group_stays(fold, stage, i))
            return WEIR_OK;
    return wr_open_loop_fold(fold, &taken);
}

/* ---- in which order ---- */

/* Whether not even everything that can leave would do. Then nothing leaves in vain. */
static bool is_hopeless(struct wr_fold *fold, const struct wr_stage *stage)
{
    uint64_t taken = words_gain(fold, stage, words_end(fold));

    for (uint32_t i = 0; i < fold->arrived; i++)
        if (fold->transcript->segments[i].group != WR_SEGMENT_NONE)
            taken += fold->segments[i].tokens;
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        taken += fold->inserts[i].is_gone ? 0 : fold->inserts[i].tokens;
    return fold->total_tokens > wr_fold_room(fold) + taken;
}

/* Whether the prompt would have room enough without the results that have just come: then it is
 * they that are too large, and to shorten them is no step. */
static bool is_for_news(const struct wr_fold *fold)
{
    uint64_t news = 0;
    for (uint32_t i = fold->turn_first; i < fold->arrived; i++)
        if (fold->transcript->segments[i].kind == WEIR_KIND_TOOL_RESULT)
            news += fold->segments[i].tokens;
    return fold->total_tokens - news <= wr_fold_threshold(fold, DEPTH_BP);
}

static weir_status fit_unbar(struct wr_fold *fold, const struct wr_stage *stage)
{
    if (is_for_news(fold) || is_hopeless(fold, stage))
        return WEIR_OK;
    fold->is_last_resort = true;
    weir_status status = fold_running(fold, stage);
    fold->is_last_resort = false;
    return status;
}

/* What was sent before goes first; what has just come only where that would not do. */
static weir_status fit_step(struct wr_fold *fold, const struct wr_stage *stage)
{
    weir_status status = omit_oldest(fold, stage);

    if (!status)
        status = stub_answers(fold, false, DEPTH_BP);
    if (!status)
        status = stub_results(fold, stage, is_read_instructions, WR_STUB_FRONT ", instructions: ");
    if (!status && is_over(fold, FULL_BP))
        status = shorten_news(fold, stage, false, gain_of(fold, stage, is_old_result));
    if (!status)
        status = stub_results(fold, stage, is_old_result, WR_STUB_FRONT ": ");
    if (!status)
        status = stub_newest(fold);
    if (!status && is_over(fold, FULL_BP))
        status = shorten_news(fold, stage, true, words_gain(fold, stage, words_end(fold)));
    if (!status)
        status = fold_running(fold, stage);
    return status ? status : stub_words(fold, stage);
}

/* Between a call and its result, where thinking binds both. */
static weir_status fit_barred(struct wr_fold *fold, const struct wr_stage *stage)
{
    weir_status status = shorten_news(fold, stage, false, 0);

    if (!status && is_over(fold, FULL_BP))
        status = shorten_news(fold, stage, true, 0);
    if (!status)
        status = fold_running(fold, stage);
    return status || !wr_fold_may_step(fold) ? status : fit_step(fold, stage);
}

static weir_status fit_turn(struct wr_fold *fold, const struct wr_stage *stage)
{
    weir_status status = WEIR_OK;

    if (!is_over(fold, FULL_BP))
        return WEIR_OK;
    fold->is_last_resort = true;
    if (wr_fold_has_way(fold) && !is_hopeless(fold, stage))
        status = wr_fold_may_step(fold) ? fit_step(fold, stage) : fit_barred(fold, stage);
    if (!status && fold->said.pins_count && is_over(fold, FULL_BP) && wr_fold_has_way(fold) &&
        !is_hopeless(fold, stage) && wr_fold_may_step(fold)) {
        /* What is refused helps nobody: not even who pinned it. */
        fold->said.lifts_pins = true;
        status = fit_step(fold, stage);
        fold->said.lifts_pins = false;
    }
    fold->is_last_resort = false;
    return status;
}

static uint64_t fit_at(const struct wr_stage *stage, const struct wr_stage_room *room,
                       uint32_t *share_bp)
{
    (void)stage;
    *share_bp = FULL_BP;
    return room->usable_tokens;
}

const struct wr_stage_def wr_stage_fit = {
    .name = "fit",
    .what = "where the prompt would be refused, older answers and then new results are shortened",
    .turn = fit_turn,
    .unbar = fit_unbar,
    .acts_at = fit_at,
    .params_count = 0,
    .takes_tools = true,
};
