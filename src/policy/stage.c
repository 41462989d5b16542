#include "policy/stage.h"

#include "base/limits.h"
#include "policy/history.h"
#include "policy/output.h"

uint32_t wr_stage_results(struct wr_fold *fold, uint32_t *results)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fold->arrived; i++)
        if (fold->transcript->segments[i].kind == WEIR_KIND_TOOL_RESULT &&
            fold->segments[i].form != WR_FORM_DROPPED)
            results[count++] = i;
    return count;
}

uint32_t *wr_stage_list(struct wr_fold *fold)
{
    return fold->lists[0];
}

weir_status wr_stage_kind(struct wr_fold *fold, uint32_t segment, enum wr_output_kind *kind)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    if (!now->output_kind) {
        weir_span text = wr_fold_text(fold, segment);
        if (!text.ptr)
            return wr_arena_status(fold->arena);
        now->output_kind =
            (uint8_t)(wr_output_kind_of(&fold->transcript->segments[segment], text) + 1);
    }
    *kind = (enum wr_output_kind)(now->output_kind - 1);
    return WEIR_OK;
}

weir_status wr_stage_history(struct wr_fold *fold, const uint32_t *segments, uint32_t count,
                             weir_span *text)
{
    struct wr_buf buf;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_history_write(&buf, fold->arena, fold->transcript, segments, count);
    if (status)
        wr_buf_release(&buf);
    return status ? status : wr_stage_keep(fold, &buf, text);
}

weir_status wr_stage_keep(struct wr_fold *fold, struct wr_buf *buf, weir_span *text)
{
    weir_status status = buf->status;
    if (!status) {
        *text = wr_arena_copy(fold->arena, wr_buf_view(buf));
        status = text->ptr ? WEIR_OK : wr_arena_status(fold->arena);
    }
    wr_buf_release(buf);
    return status;
}

/* All segments this stage has taken out, those listed included, in order. */
static uint32_t *all_omitted(struct wr_fold *fold, const uint32_t *segments, uint32_t count,
                             uint32_t *all_count)
{
    uint32_t *all = fold->lists[1], next = 0;
    *all_count = 0;
    for (uint32_t i = 0; i < fold->arrived; i++) {
        bool is_listed = next < count && segments[next] == i;
        bool is_earlier = fold->segments[i].is_offloaded && fold->segments[i].reason == fold->stage;
        next += is_listed;
        if (is_listed || is_earlier)
            all[(*all_count)++] = i;
    }
    return all;
}

weir_status wr_stage_omit(struct wr_fold *fold, const uint32_t *segments, uint32_t count,
                          struct wr_fold_replacement *r)
{
    uint32_t all_count;
    if (!count)
        return WEIR_OK;
    uint32_t *all = all_omitted(fold, segments, count, &all_count);
    if (!all)
        return wr_arena_status(fold->arena);
    r->segments = segments;
    r->segments_count = count;
    r->before = all[0];
    r->supersedes = wr_fold_own_insert(fold);
    return wr_stage_history(fold, all, all_count, &r->original);
}
