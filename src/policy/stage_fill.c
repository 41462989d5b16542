/* fill: history (all before the running loop) gets a budget, filled from the newest message back;
 * what does not fit leaves behind a notice that says how many messages are missing.
 *
 * The only stage that takes the user's words out, because its document does. The boundary moves
 * only when a new loop begins, and then goes deeper than needed. */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "models/window.h"
#include "policy/budget.h"

enum { DEPTH_BP = 8000 };

void wr_fill_notice(struct wr_buf *out, uint64_t messages_count)
{
    wr_buf_printf(out, WR_TRUNCATED_FRONT " — %llu older messages omitted]",
                  (unsigned long long)messages_count);
}

static bool begins_loop(const struct wr_fold *fold, uint32_t *first)
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

    if (!fold->window.tokens || !begins_loop(fold, &loop_start))
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
