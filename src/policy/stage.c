#include "policy/stage.h"

#include <stdlib.h>

#include "base/limits.h"
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

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Groups taken together are in the order of their first segments; the store and a summary want the
 * order of the conversation. */
void wr_stage_omit(struct wr_fold *fold, uint32_t *segments, uint32_t count,
                   struct wr_fold_replacement *r)
{
    if (count)
        qsort(segments, count, sizeof(*segments), by_number);
    r->segments = segments;
    r->segments_count = count;
    r->before = count ? segments[0] : fold->arrived;
    r->supersedes = wr_fold_own_insert(fold);
    if (r->supersedes != WR_INSERT_NONE && fold->inserts[r->supersedes].before < r->before)
        r->before = fold->inserts[r->supersedes].before;
}
