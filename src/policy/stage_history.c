/* The stages that put summaries and notices where messages and results were: of loops that are
 * done, of the running one, of the middle, of what no budget holds, and as the last resort of the
 * oldest.
 *
 *   fold_loops        a loop that is done becomes one summary
 *   summarise_active  results of the running loop become a block each
 *   summary           the middle of the conversation becomes one summary
 *   fill              history has a budget; a notice stands for the rest
 *   drop_groups       what does not fit after all that
 *
 * All of them move their boundary seldom and then far: each move writes the prompt behind it anew.
 */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "models/window.h"
#include "policy/budget.h"
#include "policy/loop_summary.h"

/* ---- fold_loops ---- */

/* When a new loop begins, the completed ones before it become the user's messages and
 * one [COMPLETED AGENT LOOP SUMMARY] each. A loop without tools stays as it is: there is nothing to
 * fold. So do the groups of a loop that show instructions, or that the user has pinned. */

/* A group may reach into another loop where a result came late; then neither folds. One that came
 * with a marker was left standing before, and would make another summary now. */
bool wr_stage_may_fold(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *segments = fold->transcript->segments, *s = &segments[segment];
    uint32_t last = fold->group_end[s->group] - 1;

    return s->array != WR_JSON_NONE && !wr_fold_is_held(fold, segment) &&
           !fold->segments[segment].is_marked && s->kind != WEIR_KIND_COMPACTION &&
           !(s->kind == WEIR_KIND_TOOL_CALL && s->pair >= fold->arrived) && last < fold->arrived &&
           segments[s->group].loop == s->loop && segments[last].loop == s->loop;
}

/* The segments of a loop that fold: what the model said and did, and what the tools answered. */
static uint32_t collect_loop(const struct wr_fold *fold, uint32_t loop, uint32_t *list)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t count = 0;
    bool has_call = false;

    for (uint32_t i = 0; i < fold->arrived; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->loop != loop || s->group == WR_SEGMENT_NONE ||
            fold->segments[i].form == WR_FORM_DROPPED || wr_fold_group_stays(fold, s->group))
            continue;
        if (!wr_stage_may_fold(fold, i))
            return 0;
        has_call |= s->kind == WEIR_KIND_TOOL_CALL;
        list[count++] = i;
    }
    return has_call ? count : 0;
}

/* What the summary is made from: everything that the loop's segments say, and the options. */
static wr_hash128 key_of(const struct wr_fold *fold, const struct wr_stage_loop *options,
                         const uint32_t *list, uint32_t count)
{
    uint64_t numbers[] = {fold->input->memo_seed, options->evidence_tokens, options->preview_tokens,
                          options->summary_tokens, count};
    wr_hash128 key = wr_hash128_of((weir_span){(const char *)numbers, sizeof(numbers)});
    const struct wr_transcript *t = fold->transcript;
    for (uint32_t i = 0; i < count; i++) {
        const struct wr_segment *s = &t->segments[list[i]];
        uint8_t shape[] = {(uint8_t)s->kind, (uint8_t)s->role,
                           wr_loop_is_outdated(s, fold->arrived), s->is_error};
        key = wr_hash128_seeded((weir_span){(const char *)shape, sizeof(shape)}, key);
        key = wr_hash128_seeded(s->call_id, key);
        key = wr_hash128_seeded(s->tool, key);
        if (s->payload != WR_JSON_NONE)
            key = wr_hash128_seeded(wr_json_raw(t->doc, s->payload), key);
    }
    return key;
}

/* Fills in the summary, which is remembered. */
static weir_status write_summary(struct wr_fold *fold, const struct wr_stage_loop *options,
                                 struct wr_fold_replacement *r)
{
    struct wr_loop_options summary = {options->evidence_tokens, options->preview_tokens,
                                      fold->input->count, fold->input->user, fold->arrived};
    wr_hash128 key = key_of(fold, options, r->segments, r->segments_count);

    if (wr_text_memo_find(fold->input->memo, key, &r->text))
        return WEIR_OK;
    weir_status status =
        options->summary_tokens
            ? wr_loop_brief(fold->transcript, fold->arena, r->segments, r->segments_count,
                            options->summary_tokens, &summary, &r->text)
            : wr_completed_loop_summary(fold->transcript, fold->arena, r->segments,
                                        r->segments_count, &summary, &r->text);
    if (!status)
        wr_text_memo_put(fold->input->memo, key, r->text);
    return status;
}

weir_status wr_stage_fold_loop(struct wr_fold *fold, const struct wr_stage_loop *options,
                               uint32_t loop, uint32_t *list, bool *taken)
{
    struct wr_fold_replacement r = {.supersedes = WR_INSERT_NONE,
                                    .role = WEIR_ROLE_ASSISTANT,
                                    .is_loop = true,
                                    .reason = options->reason};

    *taken = false;
    r.segments = list;
    r.segments_count = collect_loop(fold, loop, list);
    if (!r.segments_count)
        return WEIR_OK;
    r.before = list[0];
    weir_status status = write_summary(fold, options, &r);
    return status ? status : wr_fold_replace(fold, &r, taken);
}

/* Whether the user's message that began the loop came with this request. */
static bool begins_loop(const struct wr_fold *fold, uint32_t loop)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t first = fold->arrived;
    while (first > 0 && t->segments[first - 1].loop == loop)
        first--;
    return first < fold->arrived && t->segments[first].turn == fold->turn;
}

static weir_status fold_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_stage_loop options = {
        .evidence_tokens = (uint64_t)stage->params[WR_LOOPS_EVIDENCE_TOKENS],
        .preview_tokens = (uint64_t)stage->params[WR_LOOPS_PREVIEW_TOKENS],
        .reason = WR_STEP_LOOP_COMPLETED};
    uint32_t loop = fold->transcript->segments[fold->arrived - 1].loop;
    bool taken;

    if (loop == WR_SEGMENT_NONE || loop == 0 || !begins_loop(fold, loop))
        return WEIR_OK;
    uint32_t *list = fold->scratch.lists[0];
    /* Earlier loops were folded when their turn came; one that could not be is not tried again. */
    return wr_stage_fold_loop(fold, &options, loop - 1, list, &taken);
}

const struct wr_stage_def wr_stage_fold_loops = {
    .name = "fold_loops",
    .what = "a completed loop becomes the user's messages and one summary",
    .request = fold_request,
    .acts = "when a loop is completed",
    .params = {{"evidence_tokens", 2000, 0, 10000000, NULL, "lines read that stay exact, a loop"},
               {"preview_tokens", 220, 0, 1000000, NULL, "of any other result"}},
    .params_count = 2,
};

/* ---- summarise_active ---- */

/* When the prompt presses against the window, results of the running loop become
 * [TOOL RESULT SUMMARY] blocks; the newest reads keep their lines within a budget.
 *
 * Results that arrived with this request stay whole: nobody has read them yet. */

static uint32_t collect_running(struct wr_fold *fold, const struct wr_stage *stage, uint32_t *list,
                                uint64_t *tokens)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t first = fold->arrived, loop = t->segments[first - 1].loop, count = 0;
    *tokens = 0;
    while (first && t->segments[first - 1].loop == loop) /* a loop stands in one piece */
        first--;
    for (uint32_t i = first; i < fold->arrived; i++) {
        if (!wr_fold_is_sent(fold, i) || !wr_fold_is_open(fold, stage, i))
            continue;
        list[count++] = i;
        *tokens += wr_fold_gain(fold, i);
    }
    return count;
}

static weir_status summarise_results(struct wr_fold *fold, const struct wr_loop_options *options,
                                     const uint32_t *list, uint32_t count)
{
    bool *is_exact = WR_ARENA_ARRAY(fold->arena, bool, count);
    if (!is_exact)
        return wr_arena_status(fold->arena);
    weir_status status =
        wr_loop_evidence(fold->transcript, fold->arena, list, count, options, is_exact);
    for (uint32_t i = 0; i < count && !status; i++) {
        struct wr_fold_form form = {
            .form = WR_FORM_SUMMARISED, .refers_to = WR_SEGMENT_NONE, .reason = WR_STEP_PRESSURE};
        status = wr_tool_result_summary(fold->transcript, fold->arena, list[i], is_exact[i],
                                        options, &form.text);
        if (!status)
            status = wr_fold_give(fold, list[i], &form);
    }
    return status;
}

static weir_status active_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_loop_options options = {(uint64_t)stage->params[WR_ACTIVE_EVIDENCE_TOKENS],
                                      (uint64_t)stage->params[WR_ACTIVE_PREVIEW_TOKENS],
                                      fold->input->count, fold->input->user, fold->arrived};
    uint64_t tokens;

    uint64_t trigger = wr_guarded_mid_trigger(fold->window.tokens), room = wr_fold_room(fold);
    if (fold->total_tokens < (trigger < room ? trigger : room) && !wr_fold_is_asked(fold))
        return WEIR_OK;
    uint32_t *list = fold->scratch.lists[0];
    uint32_t count = collect_running(fold, stage, list, &tokens);
    return tokens < wr_fold_gain_min(fold) || !count
               ? WEIR_OK
               : summarise_results(fold, &options, list, count);
}

static uint64_t summarise_active_at(const struct wr_stage *stage, const struct wr_stage_room *room,
                                    uint32_t *share_bp)
{
    (void)stage;
    (void)share_bp;
    return wr_guarded_mid_trigger(room->window_tokens);
}

const struct wr_stage_def wr_stage_summarise_active = {
    .name = "summarise_active",
    .what = "under pressure the running loop's results become summaries",
    .request = active_request,
    .acts_at = summarise_active_at,
    .work = WR_WORK_SHORTENS,
    .params = {{"evidence_tokens", 18000, 0, 10000000, NULL, "lines read that stay exact"},
               {"preview_tokens", 220, 0, 1000000, NULL, "of any other result"}},
    .params_count = 2,
    .takes_tools = true,
};

/* ---- summary ---- */

/* Past a share of the window the middle of the conversation becomes a structured summary.
 * The first `head` and the last `tail` messages stay, and so does everything the user said.
 *
 * A later summary covers what the earlier one did and more, and takes its place.
 */

enum {
    SHALLOW_BP = 7500, /* of the room: a step that leaves more is followed by another soon */
    WINDOW_SHARE = 3,  /* of a small window, that a summary may take at most, */
    DEEP_SHARE = 12,   /* and in a step that was to go deeper, */
    DEEP_TAIL = 2      /* which leaves no more than the newest exchange */
};

/* The segment that begins the message `count` messages after the first of the conversation. */
static uint32_t behind_head(const struct wr_fold *fold, uint32_t count)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t messages = 0;
    for (uint32_t i = 0; i < fold->arrived; i++) {
        bool is_first = i == 0 || t->segments[i].message != t->segments[i - 1].message;
        if (t->segments[i].array == WR_JSON_NONE || !is_first)
            continue;
        if (messages++ == count)
            return i;
    }
    return fold->arrived;
}

static uint32_t before_tail(const struct wr_fold *fold, uint32_t count)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t messages = 0;
    for (uint32_t i = fold->arrived; i-- > 0;) {
        bool is_first = i == 0 || t->segments[i].message != t->segments[i - 1].message;
        messages += is_first;
        if (messages == count)
            return i;
    }
    return 0;
}

/* Whole groups between head and tail. */
static uint32_t collect_middle(struct wr_fold *fold, uint32_t from, uint32_t to, uint32_t *list)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t count = 0;
    for (uint32_t g = from; g < to; g++) {
        if (t->segments[g].group != g || fold->group_end[g] > to ||
            !wr_fold_group_may_leave(fold, g))
            continue;
        for (uint32_t i = g; i < fold->group_end[g]; i++)
            if (t->segments[i].group == g && fold->segments[i].form != WR_FORM_DROPPED)
                list[count++] = i;
    }
    return count;
}

static uint64_t tokens_of(const struct wr_fold *fold, const uint32_t *list, uint32_t count)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < count; i++)
        tokens += fold->segments[list[i]].tokens;
    return tokens;
}

/* A stage before this one had to take a step for the window, and it is so shallow that one of the
 * next requests would have to take another: what was sent is changed anyway, so it goes deep. */
static bool goes_on(const struct wr_fold *fold)
{
    const struct wr_fold_step *step = wr_fold_step_now(fold);
    return step && step->reason == WR_STEP_WINDOW &&
           fold->total_tokens > wr_fold_threshold(fold, SHALLOW_BP);
}

static uint64_t tokens_max(const struct wr_fold *fold, const struct wr_stage *stage)
{
    uint64_t max = (uint64_t)stage->params[WR_SUMMARY_MAX_TOKENS];
    uint64_t share = fold->window.tokens / (goes_on(fold) ? DEEP_SHARE : WINDOW_SHARE);
    return fold->window.tokens && share < max ? share : max;
}

/* All that this stage has taken out is told again, and what it takes out now. */
static bool is_told(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_fold_segment *now = &fold->segments[segment];
    return !now->is_offloaded || now->reason == fold->stage;
}

static weir_status summary_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_fold_replacement r = {.role = WEIR_ROLE_USER, .reason = WR_STEP_PRESSURE};
    bool taken;

    if (fold->total_tokens <= wr_stage_trigger(fold, stage) && !goes_on(fold))
        return WEIR_OK;
    uint32_t *list = fold->scratch.lists[0];
    uint32_t from = behind_head(fold, (uint32_t)stage->params[WR_SUMMARY_HEAD]);
    uint32_t tail = (uint32_t)stage->params[WR_SUMMARY_TAIL];
    uint32_t to = before_tail(fold, goes_on(fold) && tail > DEEP_TAIL ? DEEP_TAIL : tail);
    uint32_t count = collect_middle(fold, from, to, list);
    if (!count || tokens_of(fold, list, count) < wr_fold_gain_min(fold))
        return WEIR_OK;
    wr_stage_omit(fold, list, count, &r);
    struct wr_stage_past past = {.first = r.before,
                                 .end = list[count - 1] + 1,
                                 .tokens_max = tokens_max(fold, stage),
                                 .is_told = is_told,
                                 .all_from = UINT32_MAX};
    weir_status status = wr_stage_summarise(fold, &past, &r.text);
    return status || !r.text.len ? status : wr_fold_replace(fold, &r, &taken);
}

const struct wr_stage_def wr_stage_summary = {
    .name = "summary",
    .what = "past a share of the window the middle becomes a structured summary",
    .request = summary_request,
    .acts_at = wr_stage_at_share,
    .work = WR_WORK_SUMMARY,
    .params = {{"at_bp", 8500, 1, 10000, NULL, "share of the window, in basis points"},
               {"trigger_tokens", 170000, 1, 1000000000, NULL, "where the window is not known"},
               {"head", 2, 0, 100000, NULL, "messages at the start that stay"},
               {"tail", 6, 1, 100000, NULL, "messages at the end that stay"},
               {"max_tokens", 4000, 100, 1000000, NULL, "the summary's own size"}},
    .params_count = 5,
};

/* ---- fill ---- */

/* History (all before the running loop) gets a budget, filled from the newest message back;
 * what does not fit leaves behind a notice that says how many messages are missing.
 *
 * The only stage that takes the user's words out, because its document does. The boundary moves
 * only when a new loop begins, and then goes deeper than needed. */

enum { DEPTH_BP = 8000 };

void wr_fill_notice(struct wr_buf *out, uint64_t messages_count)
{
    wr_buf_printf(out, WR_TRUNCATED_FRONT " — %llu older messages omitted]",
                  (unsigned long long)messages_count);
}

static bool finds_new_loop(const struct wr_fold *fold, uint32_t *first)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t loop = t->segments[fold->arrived - 1].loop;
    if (loop == WR_SEGMENT_NONE || loop == 0 ||
        (fold->turn_first && t->segments[fold->turn_first - 1].loop == loop))
        return false; /* or began before this turn */
    *first = fold->arrived;
    while (*first > 0 && t->segments[*first - 1].loop == loop)
        (*first)--;
    return *first < fold->arrived && t->segments[*first].turn == fold->turn;
}

static bool is_history(const struct wr_fold *fold, uint32_t i)
{
    const struct wr_segment *s = &fold->transcript->segments[i];
    return fold->segments[i].form != WR_FORM_DROPPED && s->loop != WR_SEGMENT_NONE &&
           s->kind != WEIR_KIND_SYSTEM && s->kind != WEIR_KIND_TOOLS &&
           s->kind != WEIR_KIND_COMPACTION && s->array != WR_JSON_NONE &&
           (s->group == WR_SEGMENT_NONE || !wr_fold_group_instructs(fold, s->group));
}

/* A notice of an earlier projection that comes in again looks like instructions among the
 * messages, but is not one. */
static bool is_notice(struct wr_fold *fold, uint32_t segment)
{
    weir_span text;
    if (!fold->segments[segment].is_marked)
        return false;
    text = wr_fold_text(fold, segment);
    return wr_span_starts(text, WR_LIT(WR_TRUNCATED_FRONT)) ||
           wr_span_starts(text, WR_LIT(WR_OMITTED_NOTICE));
}

static uint64_t fixed_tokens(struct wr_fold *fold, weir_kind kind)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < fold->arrived; i++)
        if (fold->transcript->segments[i].kind == kind && !is_notice(fold, i))
            tokens += fold->segments[i].tokens;
    return tokens;
}

static uint64_t history_budget(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_render_input input = {.limit_tokens = fold->window.tokens,
                                    .system_tokens = fixed_tokens(fold, WEIR_KIND_SYSTEM),
                                    .tool_tokens = fixed_tokens(fold, WEIR_KIND_TOOLS),
                                    .output_tokens_max = fold->window.reserve_tokens,
                                    .history_tokens_max =
                                        (uint64_t)stage->params[WR_FILL_HISTORY_TOKENS]};
    return wr_render_budget(&input);
}

/* The start of the newest history that fits, moved to where a message of the user begins. */
static uint32_t boundary(const struct wr_fold *fold, uint32_t end, uint64_t budget_tokens)
{
    uint64_t tokens = 0;
    uint32_t kept = end;
    for (uint32_t i = end; i-- > 0;) {
        if (!is_history(fold, i))
            continue;
        tokens += fold->segments[i].tokens;
        if (tokens > budget_tokens)
            break;
        kept = i;
    }
    const struct wr_transcript *t = fold->transcript;
    while (kept < end &&
           !(t->segments[kept].role == WEIR_ROLE_USER &&
             (kept == 0 || t->segments[kept - 1].message != t->segments[kept].message)))
        kept++;
    return kept;
}

static uint64_t count_messages(const struct wr_fold *fold, uint32_t end)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < end; i++) {
        const struct wr_segment *s = &fold->transcript->segments[i];
        bool is_first = i == 0 || fold->transcript->segments[i - 1].message != s->message;
        count += is_first && s->loop != WR_SEGMENT_NONE && s->array != WR_JSON_NONE;
    }
    return count;
}

/* A group leaves whole or not at all: one that reaches over the boundary stays. */
static bool leaves_whole(const struct wr_fold *fold, uint32_t segment, uint32_t kept)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    if (s->group == WR_SEGMENT_NONE)
        return true;
    for (uint32_t i = s->group; i < fold->group_end[s->group] && i < fold->arrived; i++) {
        const struct wr_segment *member = &fold->transcript->segments[i];
        if (member->group == s->group && member->kind == WEIR_KIND_TOOL_CALL &&
            member->pair >= kept)
            return false;
    }
    return fold->group_end[s->group] <= kept;
}

static weir_status fill_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_fold_replacement r = {.role = WEIR_ROLE_SYSTEM, .reason = WR_STEP_LOOP_COMPLETED};
    uint32_t loop_start, count = 0;
    uint64_t tokens = 0;
    struct wr_buf notice;
    bool taken;

    if (!fold->window.tokens || !finds_new_loop(fold, &loop_start))
        return WEIR_OK;
    uint32_t *list = fold->scratch.lists[0];
    for (uint32_t i = 0; i < loop_start; i++)
        tokens += is_history(fold, i) ? fold->segments[i].tokens : 0;
    uint64_t budget_tokens = history_budget(fold, stage);
    bool too_many = count_messages(fold, loop_start) > wr_actor_message_limit(fold->window.tokens);
    if (tokens <= budget_tokens && !too_many)
        return WEIR_OK;
    uint32_t kept = boundary(fold, loop_start, wr_share_tokens(budget_tokens, DEPTH_BP));
    for (uint32_t i = 0; i < kept; i++)
        if (is_history(fold, i) && leaves_whole(fold, i, kept))
            list[count++] = i;
    if (!count)
        return WEIR_OK;
    wr_stage_omit(fold, list, count, &r);
    wr_buf_init(&notice, WR_OUTPUT_BYTES_MAX);
    wr_fill_notice(&notice, count_messages(fold, kept));
    weir_status status = wr_text_keep(fold->arena, &notice, &r.text);
    return status ? status : wr_fold_replace(fold, &r, &taken);
}

static uint64_t fill_at(const struct wr_stage *stage, const struct wr_stage_room *room,
                        uint32_t *share_bp)
{
    (void)share_bp;
    return stage->params[0] ? (uint64_t)stage->params[0] : room->usable_tokens;
}

const struct wr_stage_def wr_stage_fill = {
    .name = "fill",
    .what = "history is filled into its budget from the newest message back",
    .request = fill_request,
    .acts_at = fill_at,
    .work = WR_WORK_HISTORY,
    .params = {{"history_tokens", 20000, 0, 100000000, NULL,
                "the budget; 0: all the room there is"}},
    .params_count = 1,
    .window_tokens = WR_FALLBACK_LAYERS_TOKENS,
};

/* ---- drop_groups ---- */

/* The last resort. When the prompt still does not fit, the oldest summaries of loops
 * and then the oldest groups of calls and results of the running loop leave, and where all of them
 * are not enough the summary of the conversation; the newest group and everything that is not a
 * group stay.
 *
 * The document leaves no trace of them. Here a notice stands in their place, because what leaves
 * must have a way back; and they leave deeper than needed, so that the next request need not do it
 * again.
 */

enum { DROP_DEPTH_BP = 8000 }; /* of the room, to which a step goes down */

/* Summaries of loops that are done, the oldest first. */
static void collect_loops(const struct wr_fold *fold, uint64_t goal_tokens,
                          struct wr_stage_oldest *o)
{
    for (uint32_t i = 0; i < fold->inserts_count && o->left_tokens > goal_tokens; i++) {
        if (!fold->inserts[i].is_loop || fold->inserts[i].is_gone)
            continue;
        o->summaries[o->summaries_count++] = i;
        o->left_tokens -= fold->inserts[i].tokens;
    }
}

/* What the stage `summary` made of the conversation, where the prompt would not fit with it. */
static void collect_summary(const struct wr_fold *fold, uint64_t limit_tokens,
                            struct wr_stage_oldest *o)
{
    for (uint32_t i = 0; i < fold->inserts_count && o->left_tokens > limit_tokens; i++) {
        if (fold->inserts[i].stage != wr_stage_summary.name || fold->inserts[i].is_gone)
            continue;
        o->summaries[o->summaries_count++] = i;
        o->left_tokens -= fold->inserts[i].tokens;
    }
}

/* The oldest groups until what is left is below `goal_tokens`. */
static void collect_groups(const struct wr_fold *fold, uint64_t goal_tokens,
                           struct wr_stage_oldest *o)
{
    const struct wr_transcript *t = fold->transcript;

    for (uint32_t g = 0; g < fold->arrived && o->left_tokens > goal_tokens; g++) {
        if (t->segments[g].group != g || !wr_fold_group_may_leave(fold, g) ||
            (o->stays && o->stays(fold, o->stage, g)))
            continue;
        for (uint32_t i = g; i < fold->group_end[g]; i++) {
            if (t->segments[i].group != g || fold->segments[i].form == WR_FORM_DROPPED)
                continue;
            o->segments[o->segments_count++] = i;
            o->left_tokens -= fold->segments[i].tokens;
        }
    }
}

weir_status wr_stage_oldest(struct wr_fold *fold, struct wr_stage_oldest *oldest)
{
    oldest->segments = fold->scratch.lists[0];
    oldest->left_tokens = fold->total_tokens;
    oldest->summaries = WR_ARENA_ARRAY(fold->arena, uint32_t, fold->inserts_count);
    if (!oldest->summaries)
        return wr_arena_status(fold->arena);
    collect_loops(fold, oldest->goal_tokens, oldest);
    collect_groups(fold, oldest->goal_tokens, oldest);
    collect_summary(fold, oldest->limit_tokens, oldest);
    return WEIR_OK;
}

/* Little is worth a step only where the prompt would be refused. */
static bool is_worth_it(const struct wr_fold *fold, const struct wr_stage_oldest *o)
{
    if (!o->segments_count && !o->summaries_count)
        return false;
    return fold->total_tokens - o->left_tokens >= wr_fold_gain_min(fold) ||
           fold->total_tokens > wr_fold_threshold(fold, 10000);
}

static weir_status drop_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    uint64_t limit_tokens = wr_fold_threshold(fold, 10000 - (uint64_t)stage->params[0]);
    struct wr_fold_replacement r = {.role = WEIR_ROLE_SYSTEM, .reason = WR_STEP_WINDOW};
    struct wr_stage_oldest o = {.goal_tokens = wr_share_tokens(limit_tokens, DROP_DEPTH_BP),
                                .limit_tokens = limit_tokens};
    struct wr_buf notice;
    bool taken;

    if (fold->total_tokens <= limit_tokens)
        return WEIR_OK;
    weir_status status = wr_stage_oldest(fold, &o);
    if (status || !is_worth_it(fold, &o))
        return status;
    wr_stage_omit(fold, o.segments, o.segments_count, &r);
    r.absorbs = o.summaries;
    r.absorbs_count = o.summaries_count;
    wr_buf_init(&notice, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&notice, WR_OMITTED_NOTICE);
    status = wr_text_keep(fold->arena, &notice, &r.text);
    return status ? status : wr_fold_replace(fold, &r, &taken);
}

static uint64_t drop_groups_at(const struct wr_stage *stage, const struct wr_stage_room *room,
                               uint32_t *share_bp)
{
    *share_bp = (uint32_t)(10000 - stage->params[0]);
    return wr_share_tokens(room->usable_tokens, *share_bp);
}

const struct wr_stage_def wr_stage_drop_groups = {
    .name = "drop_groups",
    .what = "when the prompt still does not fit, the oldest groups leave",
    .request = drop_request,
    .acts_at = drop_groups_at,
    .params = {{"margin_bp", 1000, 0, 9000, NULL,
                "share of the window kept free, in basis points"}},
    .params_count = 1,
};
