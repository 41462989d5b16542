/* numbers: of the line numbers that a tool prints before the lines of a file, those that can be
 * counted leave, as it arrives. The bytes are in the store.
 *
 * They are a sixth of what agents read of files. All text stays: steps and condensers take such a
 * result like one that is whole. With a recall tool a later result with the same text may point to
 * it, and who reads the file again did not come back for its numbers. */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/text.h"
#include "condense/numbered.h"
#include "policy/output.h"

/* Who reads by a command (`nl`, `cat -n`) has asked for numbers, and quotes them. */
static bool has_tools_numbers(const struct wr_segment *s)
{
    return s->handles && s->handles->kind == WR_EFFECT_READ && !s->handles->is_shell;
}

uint32_t wr_stage_number_every(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_policy *policy = fold->input->policy;

    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (policy->stages[i].def == &wr_stage_numbers && has_tools_numbers(s) &&
            !wr_stage_exempts(&policy->stages[i], s->tool))
            return (uint32_t)wr_stage_param(&policy->stages[i], s->tool, WR_NUMBERS_EVERY);
    return 0;
}

static weir_status numbers_arrive(struct wr_fold *fold, const struct wr_stage *stage,
                                  uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    struct wr_fold_form form = {
        .form = WR_FORM_TIDIED, .what = "of line numbers left out", .refers_to = WR_SEGMENT_NONE};
    enum wr_output_kind kind;
    struct wr_buf buf;

    if (fold->input->tokens[segment] <= (uint64_t)wr_stage_param(stage, s->tool, WR_NUMBERS_OVER) ||
        !has_tools_numbers(s) || !wr_fold_is_open(fold, stage, segment))
        return WEIR_OK;
    weir_status status = wr_stage_kind(fold, segment, &kind);
    if (status || kind != WR_OUTPUT_FILE)
        return status;
    weir_span text = wr_fold_text(fold, segment);
    if (!text.ptr)
        return wr_arena_status(fold->arena);
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    if (!wr_numbered_thin(&buf, text, (uint32_t)wr_stage_param(stage, s->tool, WR_NUMBERS_EVERY))) {
        wr_buf_release(&buf);
        return WEIR_OK;
    }
    status = wr_text_keep(fold->arena, &buf, &form.text);
    if (status)
        return status;
    if (form.text.ptr[form.text.len - 1] == '\n')
        form.text.len--; /* the marker begins a line of its own */
    return wr_fold_give(fold, segment, &form);
}

const struct wr_stage_def wr_stage_numbers = {
    .name = "numbers",
    .what = "most line numbers leave what a tool has read of a file, as it arrives",
    .arrive = numbers_arrive,
    .acts = "on arrival",
    .params = {{"over", 300, WR_CONDENSE_TOKENS_MIN, 10000000, NULL, "shorter results stay"},
               {"every", 10, 2, 10000, NULL, "of so many lines one keeps its number"}},
    .params_count = 2,
    .takes_tools = true,
    .tool_params = 1U << WR_NUMBERS_OVER | 1U << WR_NUMBERS_EVERY,
};
