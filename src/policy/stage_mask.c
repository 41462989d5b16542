/* mask: of the results only the first `keep_first` and the last `keep_last` stay visible.
 *
 * The document masks at every call, so its boundary slides by one each time and rewrites the cache
 * each time. Here the middle is masked in a step, once `batch` results have come to lie in it. */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { BYTES_A_TOKEN = 4, MESSAGE_TOKENS = 4 };

static const char opening[] = "[result masked — ~";
static const char closing[] = " tokens removed]";

/* "[result masked — ~N tokens removed]"; N counts the whole message as the document does. */
static void write_placeholder(struct wr_buf *out, weir_span text, weir_span call_id)
{
    size_t tokens = text.len / BYTES_A_TOKEN + call_id.len / BYTES_A_TOKEN + MESSAGE_TOKENS;
    wr_buf_printf(out, "%s%zu%s", opening, tokens, closing);
}

static bool is_placeholder(weir_span text)
{
    weir_span line;
    return wr_span_line(&text, &line) && wr_span_starts(line, wr_span_of(opening)) &&
           wr_span_ends(line, wr_span_of(closing));
}

static weir_status mask_one(struct wr_fold *fold, uint32_t segment)
{
    struct wr_fold_form form = {
        .form = WR_FORM_MASKED, .refers_to = WR_SEGMENT_NONE, .reason = WR_STEP_PRESSURE};
    struct wr_buf buf;
    weir_span text = wr_fold_text(fold, segment);
    if (!text.ptr)
        return wr_arena_status(fold->arena);
    if (is_placeholder(text))
        return WEIR_OK;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    write_placeholder(&buf, text, fold->transcript->segments[segment].call_id);
    weir_status status = wr_text_keep(fold->arena, &buf, &form.text);
    return status ? status : wr_fold_give(fold, segment, &form);
}

static bool is_maskable(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    bool is_capped = fold->segments[segment].form == WR_FORM_CAPPED &&
                     !wr_stage_exempts(stage, fold->transcript->segments[segment].tool);
    return (is_capped || wr_fold_is_open(fold, stage, segment)) && wr_fold_gain(fold, segment);
}

static weir_status mask_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    uint32_t first = (uint32_t)stage->params[WR_MASK_KEEP_FIRST],
             last = (uint32_t)stage->params[WR_MASK_KEEP_LAST];
    uint32_t *results = fold->scratch.lists[0], open = 0;
    weir_status status = WEIR_OK;

    uint32_t count = wr_stage_results(fold, results);
    if (fold->arena->status)
        return fold->arena->status;
    if (!(first + last) || count <= first + last)
        return WEIR_OK;
    for (uint32_t i = first; i < count - last; i++)
        open += is_maskable(fold, stage, results[i]);
    if (open < (uint32_t)stage->params[WR_MASK_BATCH] && !wr_fold_is_asked(fold))
        return WEIR_OK;
    for (uint32_t i = first; i < count - last && !status; i++)
        if (is_maskable(fold, stage, results[i]))
            status = mask_one(fold, results[i]);
    return status;
}

const struct wr_stage_def wr_stage_mask = {
    .name = "mask",
    .what = "results between the first and the last few become a placeholder",
    .request = mask_request,
    .acts = "when enough results lie between",
    .params = {{"keep_first", 2, 0, 100000, NULL, "results at the start that stay"},
               {"keep_last", 5, 0, 100000, NULL, "results at the end that stay"},
               {"batch", 10, 1, 100000, NULL,
                "results that must lie between before any is masked"}},
    .params_count = 3,
    .takes_tools = true,
};
