/* summarise_active: when the prompt presses against the window, results of the running loop become
 * [TOOL RESULT SUMMARY] blocks; the newest reads keep their lines within a budget.
 *
 * Results that arrived with this request stay whole: nobody has read them yet. */
#include "policy/stage.h"

#include "base/limits.h"
#include "policy/budget.h"
#include "policy/loop_summary.h"

static uint32_t collect_for_summarise_active(struct wr_fold *fold, const struct wr_stage *stage,
                                             uint32_t *list, uint64_t *tokens)
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

static weir_status summarise(struct wr_fold *fold, const struct wr_loop_options *options,
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
    uint32_t count = collect_for_summarise_active(fold, stage, list, &tokens);
    return tokens < wr_fold_gain_min(fold) || !count ? WEIR_OK
                                                     : summarise(fold, &options, list, count);
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
