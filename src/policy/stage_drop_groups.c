/* drop_groups: the last resort. When the prompt still does not fit, the oldest summaries of loops
 * and then the oldest groups of calls and results of the running loop leave, and where all of them
 * are not enough the summary of the conversation; the newest group and everything that is not a
 * group stay.
 *
 * The document leaves no trace of them. Here a notice stands in their place, because what leaves
 * must have a way back; and they leave deeper than needed, so that the next request need not do it
 * again.
 */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/text.h"
#include "policy/budget.h"

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
