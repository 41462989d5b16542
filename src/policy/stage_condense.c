/* condense: a large result becomes, as it arrives, the lines of it that matter: head, tail,
 * signals, what the call asked about, an outline.
 *
 * Reads and searches are quoted by the next action far more often than what a command printed, so
 * they have a threshold of their own. Nothing is condensed that is too small to be worth a second
 * look. */
#include "policy/stage.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/condense.h"
#include "policy/output.h"

enum { FOCUS_BYTES_MAX = 4096, TOKEN_BYTES = 4 };

/* What the user said last, as far as it had come: the words that matter now. */
static weir_span focus_of(struct wr_fold *fold, uint32_t segment)
{
    const struct wr_transcript *t = fold->transcript;
    for (uint32_t i = segment; i-- > 0;) {
        if (t->segments[i].role != WEIR_ROLE_USER || t->segments[i].kind != WEIR_KIND_TEXT)
            continue;
        weir_span text = wr_fold_text(fold, i);
        return text.len > FOCUS_BYTES_MAX ? wr_span_cut(text, 0, FOCUS_BYTES_MAX) : text;
    }
    return (weir_span){"", 0};
}

static bool is_quoted_often(enum wr_output_kind kind)
{
    return kind == WR_OUTPUT_FILE || kind == WR_OUTPUT_SEARCH || kind == WR_OUTPUT_DIFF;
}

static struct wr_condense_input input_of(struct wr_fold *fold, uint32_t segment, weir_span text,
                                         enum wr_output_kind kind)
{
    const struct wr_tool_handles *h = fold->transcript->segments[segment].handles;
    struct wr_condense_input input = {.text = text,
                                      .kind = kind,
                                      .command = {"", 0},
                                      .path = {"", 0},
                                      .query = {"", 0},
                                      .focus = focus_of(fold, segment)};
    if (h) {
        input.origin = wr_output_origin_of(h->kind);
        input.command = h->command;
        input.path = h->path;
        input.query = h->query;
        input.first_number = h->start_line > 0 ? (uint64_t)h->start_line : 1;
        input.number_every = wr_stage_number_every(fold, segment);
    }
    return input;
}

static uint64_t lines_missing(const struct wr_condensed *condensed)
{
    uint64_t kept = 0;
    for (uint32_t i = 0; i < condensed->kept_count; i++)
        kept += condensed->kept[i].end - condensed->kept[i].first;
    return condensed->lines_total - kept;
}

static weir_status give_condensed(struct wr_fold *fold, uint32_t segment, weir_span packed)
{
    struct wr_fold_form form = {
        .form = WR_FORM_CONDENSED, .refers_to = WR_SEGMENT_NONE, .reason = WR_STEP_PRESSURE};
    memcpy(&form.lines_missing, packed.ptr, sizeof(form.lines_missing));
    form.text = wr_span_cut(packed, sizeof(form.lines_missing), packed.len);
    if (form.text.len && form.text.ptr[form.text.len - 1] == '\n')
        form.text.len--; /* the marker begins a line of its own */
    return wr_fold_give(fold, segment, &form);
}

static uint64_t param(const struct wr_stage *stage, weir_span tool, uint32_t index)
{
    return (uint64_t)wr_stage_param(stage, tool, index);
}

static wr_hash128 key_of(const struct wr_fold *fold, const struct wr_condense_input *input)
{
    uint64_t numbers[] = {fold->input->memo_seed, (uint64_t)input->kind, (uint64_t)input->origin,
                          input->first_number,    input->number_every,   input->bytes_budget};
    wr_hash128 key = wr_hash128_of((weir_span){(const char *)numbers, sizeof(numbers)});
    key = wr_hash128_seeded(input->command, key);
    key = wr_hash128_seeded(input->path, key);
    key = wr_hash128_seeded(input->query, key);
    key = wr_hash128_seeded(input->focus, key);
    return wr_hash128_seeded(input->text, key);
}

/* The form's text behind the number of lines it lacks; nothing where nothing was left out. */
static weir_status condense(struct wr_fold *fold, const struct wr_condense_input *input,
                            weir_span *packed)
{
    wr_hash128 key = key_of(fold, input);
    struct wr_condensed condensed;
    struct wr_buf buf;

    if (wr_text_memo_find(fold->input->memo, key, packed))
        return WEIR_OK;
    weir_status status = wr_condense(&condensed, fold->arena, input);
    if (status && status != WEIR_LIMIT)
        return status;
    *packed = (weir_span){"", 0};
    if (!status && !condensed.is_same) {
        uint64_t lines = lines_missing(&condensed);
        wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
        wr_buf_append(&buf, (weir_span){(const char *)&lines, sizeof(lines)});
        wr_buf_append(&buf, condensed.text);
        status = wr_text_keep(fold->arena, &buf, packed);
        if (status)
            return status;
    }
    wr_text_memo_put(fold->input->memo, key, *packed);
    return WEIR_OK;
}

/* Bound by law L2 alone, like any cap: the whole text is one recall away. */
static weir_status cap(struct wr_fold *fold, uint32_t segment,
                       const struct wr_condense_input *input)
{
    struct wr_fold_form form = {
        .form = WR_FORM_CAPPED, .refers_to = WR_SEGMENT_NONE, .reason = WR_STEP_PRESSURE};
    struct wr_buf buf;
    bool is_cut;

    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_cap_text(&buf, input->text, input->bytes_budget / TOKEN_BYTES, WR_CAP_BOTH, &is_cut);
    weir_status status = wr_text_keep(fold->arena, &buf, &form.text);
    return status ? status : wr_fold_give(fold, segment, &form);
}

weir_status wr_stage_condense_to(struct wr_fold *fold, uint32_t segment, enum wr_output_kind kind,
                                 uint64_t to_tokens)
{
    weir_span text = wr_fold_text(fold, segment), packed;

    if (!text.ptr)
        return wr_arena_status(fold->arena);
    struct wr_condense_input input = input_of(fold, segment, text, kind);
    /* The budget is in tokens of this text: its own bytes a token, not four. */
    input.bytes_budget = (size_t)((uint64_t)text.len * to_tokens / fold->input->tokens[segment]);
    if (wr_stage_is_too_long(text))
        return wr_exempt_is(input.origin, text) ? WEIR_OK : cap(fold, segment, &input);
    weir_status status = condense(fold, &input, &packed);
    return status || !packed.len ? status : give_condensed(fold, segment, packed);
}

static weir_status condense_arrive(struct wr_fold *fold, const struct wr_stage *stage,
                                   uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];

    if (fold->input->tokens[segment] <= WR_CONDENSE_TOKENS_MIN ||
        !wr_fold_is_open(fold, stage, segment))
        return WEIR_OK;
    weir_span text = wr_fold_text(fold, segment);
    if (!text.ptr)
        return wr_arena_status(fold->arena);
    enum wr_output_kind kind = wr_output_kind_of(s, text);
    bool is_often = is_quoted_often(kind);
    uint64_t over = param(stage, s->tool, is_often ? WR_CONDENSE_READ_OVER : WR_CONDENSE_RUN_OVER);
    uint64_t to = param(stage, s->tool, is_often ? WR_CONDENSE_READ_TO : WR_CONDENSE_RUN_TO);
    if (fold->input->tokens[segment] <= over)
        return WEIR_OK;
    return wr_stage_condense_to(fold, segment, kind, to);
}

const struct wr_stage_def wr_stage_condense = {
    .name = "condense",
    .what = "a large result becomes the lines of it that matter, as it arrives",
    .arrive = condense_arrive,
    .acts = "on arrival",
    .params = {{"run_over", 1000, WR_CONDENSE_TOKENS_MIN, 10000000, NULL,
                "what commands print, above this"},
               {"run_to", 500, 50, 10000000, NULL, "is condensed to about this"},
               {"read_over", 4000, WR_CONDENSE_TOKENS_MIN, 10000000, NULL,
                "reads, searches and diffs, above this"},
               {"read_to", 2000, 50, 10000000, NULL, "are condensed to about this"}},
    .params_count = 4,
    .takes_tools = true,
    .tool_params = 1U << WR_CONDENSE_RUN_OVER | 1U << WR_CONDENSE_RUN_TO |
                   1U << WR_CONDENSE_READ_OVER | 1U << WR_CONDENSE_READ_TO,
};
