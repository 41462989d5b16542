/* reference: a result whose text stands earlier in the same prompt becomes a pointer to it, on
 * arrival.
 *
 * With a recall tool the pointer's own handle is the way back, whatever becomes of the earlier
 * copy; without one the earlier copy is the only way, and stays. */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

/* A segment that still says the text that `first` was the first to say; NONE: there is none. */
static uint32_t newest_of(const struct wr_fold *fold, uint32_t first)
{
    uint32_t same = fold->segments[first].same;
    if (same != WR_SEGMENT_NONE && wr_fold_says_it(fold, same))
        return same;
    return wr_fold_says_it(fold, first) ? first : WR_SEGMENT_NONE;
}

static weir_status reference_arrive(struct wr_fold *fold, const struct wr_stage *stage,
                                    uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    struct wr_fold_form form = {.form = WR_FORM_REFERENCE,
                                .what = "are the same text as an earlier result"};
    struct wr_buf buf;

    if (s->class_ != WEIR_CLASS_DROPPABLE_DUPLICATE || !wr_fold_is_plain(fold, stage, segment) ||
        fold->input->tokens[segment] <
            (uint64_t)wr_stage_param(stage, s->tool, WR_REFERENCE_MIN_TOKENS))
        return WEIR_OK;
    uint32_t referent = newest_of(fold, s->why_other);
    if (referent == WR_SEGMENT_NONE) {
        fold->segments[s->why_other].same = segment; /* it stays, and later ones may point at it */
        return WEIR_OK;
    }
    const struct wr_segment *same = &fold->transcript->segments[referent];
    form.refers_to = wr_fold_recall(fold).len ? WR_SEGMENT_NONE : referent;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&buf, "[same output as the earlier call ");
    wr_buf_append(&buf, same->call_id);
    wr_buf_text(&buf, "]");
    weir_status status = wr_text_keep(fold->arena, &buf, &form.text);
    return status ? status : wr_fold_give(fold, segment, &form);
}

const struct wr_stage_def wr_stage_reference = {
    .name = "reference",
    .what = "a result whose text stands earlier becomes a pointer to it",
    .arrive = reference_arrive,
    .acts = "on arrival",
    .params = {{"min_tokens", 64, 1, 1000000, NULL, "shorter results stay"}},
    .params_count = 1,
    .takes_tools = true,
    .tool_params = 1U << WR_REFERENCE_MIN_TOKENS,
};
