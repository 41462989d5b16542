/* fold_loops: when a new loop begins, the completed ones before it become the user's messages and
 * one [COMPLETED AGENT LOOP SUMMARY] each. A loop without tools stays as it is: there is nothing to
 * fold. So do the groups of a loop that show instructions, or that the user has pinned. */
#include "base/limits.h"
#include "base/span.h"
#include "policy/loop_summary.h"
#include "policy/stage.h"

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
static uint32_t collect_for_fold_loops(const struct wr_fold *fold, uint32_t loop, uint32_t *list)
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
    r.segments_count = collect_for_fold_loops(fold, loop, list);
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
