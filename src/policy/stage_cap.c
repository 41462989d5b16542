/* cap: a result over `max_tokens` keeps its head, its tail or both, from the moment it arrives. */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "base/utf8.h"

/* A token is four bytes here, because the document says so. */
enum { BYTES_A_TOKEN = 4 };

static const char *const keep_words[] = {"head", "tail", "both", NULL};

static weir_span first_bytes(weir_span text, size_t bytes)
{
    while (bytes && wr_utf8_is_tail(text.ptr[bytes]))
        bytes--;
    return wr_span_cut(text, 0, bytes);
}

static weir_span last_bytes(weir_span text, size_t bytes)
{
    size_t start = text.len - bytes;
    while (start < text.len && wr_utf8_is_tail(text.ptr[start]))
        start++;
    return wr_span_cut(text, start, text.len);
}

static void indicator(struct wr_buf *out, const char *kept, uint64_t tokens_max, size_t bytes,
                      const char *keep)
{
    wr_buf_printf(out, "[truncated: kept %s ~%llu of ~%llu tokens (%s)]", kept,
                  (unsigned long long)tokens_max, (unsigned long long)(bytes / BYTES_A_TOKEN),
                  keep);
}

void wr_cap_text(struct wr_buf *out, weir_span text, uint64_t tokens_max, enum wr_cap_keep keep,
                 bool *is_cut)
{
    *is_cut = text.len / BYTES_A_TOKEN > tokens_max;
    if (!*is_cut) {
        wr_buf_append(out, text);
        return;
    }
    size_t bytes = (size_t)tokens_max * BYTES_A_TOKEN, half = bytes / 2;
    switch (keep) {
    case WR_CAP_HEAD:
        wr_buf_append(out, first_bytes(text, bytes));
        wr_buf_text(out, "\n\n");
        indicator(out, "first", tokens_max, text.len, keep_words[keep]);
        return;
    case WR_CAP_TAIL:
        indicator(out, "last", tokens_max, text.len, keep_words[keep]);
        wr_buf_text(out, "\n\n");
        wr_buf_append(out, last_bytes(text, bytes));
        return;
    case WR_CAP_BOTH:
        wr_buf_append(out, first_bytes(text, half));
        wr_buf_text(out, "\n\n");
        indicator(out, "first+last", tokens_max, text.len, keep_words[keep]);
        wr_buf_text(out, "\n\n");
        wr_buf_append(out, last_bytes(text, half));
        return;
    }
}

static weir_status cap_arrive(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    weir_span tool = fold->transcript->segments[segment].tool;
    uint64_t tokens_max = (uint64_t)wr_stage_param(stage, tool, WR_CAP_MAX_TOKENS);
    enum wr_cap_keep keep = (enum wr_cap_keep)wr_stage_param(stage, tool, WR_CAP_KEEP);
    struct wr_fold_form form = {.form = WR_FORM_CAPPED, .refers_to = WR_SEGMENT_NONE};
    struct wr_buf buf;
    bool is_cut;

    if (!wr_fold_is_open(fold, stage, segment))
        return WEIR_OK;
    weir_span text = wr_fold_text(fold, segment);
    if (!text.ptr)
        return wr_arena_status(fold->arena);
    if (text.len / BYTES_A_TOKEN <= tokens_max)
        return WEIR_OK;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_cap_text(&buf, text, tokens_max, keep, &is_cut);
    weir_status status = wr_text_keep(fold->arena, &buf, &form.text);
    return status ? status : wr_fold_give(fold, segment, &form);
}

const struct wr_stage_def wr_stage_cap = {
    .name = "cap",
    .what = "a result over max_tokens keeps its head, tail or both",
    .arrive = cap_arrive,
    .acts = "on arrival",
    .params = {{"max_tokens", 8000, 1, 1000000, NULL, "tokens of four bytes that stay"},
               {"keep", WR_CAP_HEAD, 0, 2, keep_words, "which end stays"}},
    .params_count = 2,
    .takes_tools = true,
    .tool_params = 1U << WR_CAP_MAX_TOKENS | 1U << WR_CAP_KEEP,
};
