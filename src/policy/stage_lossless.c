/* lossless: printed output without the frames a terminal would have drawn over, trailing white
 * space and repeated blank lines, as it arrives. Every word stays; the bytes are in the store. */
#include "policy/stage.h"

#include "base/limits.h"
#include "condense/lossless.h"
#include "policy/output.h"

static weir_status lossless_arrive(struct wr_fold *fold, const struct wr_stage *stage,
                                   uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    struct wr_fold_form form = {.form = WR_FORM_TIDIED,
                                .what = "of white space and overwritten frames left out",
                                .refers_to = WR_SEGMENT_NONE};
    struct wr_lossless_text tidy;

    if (fold->input->tokens[segment] <=
            (uint64_t)wr_stage_param(stage, s->tool, WR_LOSSLESS_OVER) ||
        !wr_fold_is_open(fold, stage, segment))
        return WEIR_OK;
    weir_span text = wr_fold_text(fold, segment);
    if (!text.ptr)
        return wr_arena_status(fold->arena);
    if (wr_stage_is_too_long(text))
        return WEIR_OK;
    weir_status status = wr_lossless(&tidy, fold->arena, text, wr_output_kind_of(s, text));
    if (status == WEIR_LIMIT || (!status && (tidy.is_same || !tidy.text.len)))
        return WEIR_OK;
    if (status)
        return status;
    form.text = tidy.text;
    if (form.text.ptr[form.text.len - 1] == '\n')
        form.text.len--; /* the marker begins a line of its own */
    return wr_fold_give(fold, segment, &form);
}

const struct wr_stage_def wr_stage_lossless = {
    .name = "lossless",
    .what = "frames drawn over, trailing and repeated blanks leave printed output as it arrives",
    .arrive = lossless_arrive,
    .acts = "on arrival",
    .params = {{"over", 300, WR_CONDENSE_TOKENS_MIN, 10000000, NULL, "shorter results stay"}},
    .params_count = 1,
    .takes_tools = true,
    .tool_params = 1U << WR_LOSSLESS_OVER,
};
