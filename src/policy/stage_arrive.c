/* The stages that look at a result as it arrives, before anybody has read it: what they shorten was
 * never in the provider's cache, so it costs no step.
 *
 *   cap, evict     by size alone: head and tail stay
 *   condense       the lines that matter stay
 *   lossless       all words stay; frames, blanks and
 *   numbers        line numbers leave
 *   reference      a text that stands above already
 *   rehydrate      the other way round: a message that names a handle brings its original back
 *
 * They are one file because each is a condition and a form, and nobody understands the order in
 * which a policy runs them by looking at one. `weigh` is in worth.c, with the sums by which it
 * decides. */
#include "policy/stage.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/condense.h"
#include "condense/lossless.h"
#include "condense/numbered.h"

/* ---- cap ---- */

/* A result over `max_tokens` keeps its head, its tail or both, from the moment it arrives. */

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

/* ---- evict ---- */

/* A result over `over_tokens` goes to the store as it arrives; its first and last lines
 * stay. */

/* Cuts a line at a character boundary; characters are counted, not bytes. */
static weir_span cut_line(weir_span line, uint64_t chars_max)
{
    uint64_t chars = 0;
    for (size_t i = 0; i < line.len; i++) {
        bool begins = ((unsigned char)line.ptr[i] & 0xC0) != 0x80;
        if (begins && chars++ == chars_max)
            return wr_span_cut(line, 0, i);
    }
    return line;
}

static void write_lines(struct wr_buf *out, weir_span text, uint64_t from, uint64_t to,
                        uint64_t chars_max)
{
    weir_span line;
    for (uint64_t number = 1; number < to && wr_span_line(&text, &line); number++) {
        if (number < from)
            continue;
        wr_buf_printf(out, "%6llu\t", (unsigned long long)number);
        wr_buf_append(out, cut_line(line, chars_max));
        wr_buf_byte(out, '\n');
    }
}

/* How many lines stay, and how many characters of each. */
struct preview {
    uint64_t head_lines, tail_lines, line_chars_max;
};

static void write_preview(struct wr_buf *out, weir_span text, weir_span call_id,
                          const struct preview *preview, uint64_t *lines_missing)
{
    uint64_t lines = wr_span_lines(text), shown = preview->head_lines + preview->tail_lines;
    *lines_missing = lines > shown ? lines - shown : 0;
    wr_buf_text(out, "Tool result too large, the result of this tool call ");
    wr_buf_append(out, call_id);
    wr_buf_text(out, " was saved. Its first and last lines:\n\n");
    if (!*lines_missing) {
        write_lines(out, text, 1, lines + 1, preview->line_chars_max);
        return;
    }
    write_lines(out, text, 1, preview->head_lines + 1, preview->line_chars_max);
    wr_buf_printf(out, "... [%llu lines truncated] ...\n", (unsigned long long)*lines_missing);
    write_lines(out, text, lines - preview->tail_lines + 1, lines + 1, preview->line_chars_max);
}

static uint64_t param_of(const struct wr_stage *stage, weir_span tool, uint32_t index)
{
    return (uint64_t)wr_stage_param(stage, tool, index);
}

static weir_status evict_arrive(struct wr_fold *fold, const struct wr_stage *stage,
                                uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    struct preview preview = {param_of(stage, s->tool, WR_EVICT_HEAD_LINES),
                              param_of(stage, s->tool, WR_EVICT_TAIL_LINES),
                              param_of(stage, s->tool, WR_EVICT_LINE_CHARS)};
    struct wr_fold_form form = {.form = WR_FORM_EVICTED, .refers_to = WR_SEGMENT_NONE};
    struct wr_buf buf;

    if (fold->input->tokens[segment] <= param_of(stage, s->tool, WR_EVICT_OVER_TOKENS) ||
        !wr_fold_is_open(fold, stage, segment))
        return WEIR_OK;
    weir_span text = wr_fold_text(fold, segment);
    if (!text.ptr)
        return wr_arena_status(fold->arena);
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    write_preview(&buf, text, s->call_id, &preview, &form.lines_missing);
    weir_status status = wr_text_keep(fold->arena, &buf, &form.text);
    return status ? status : wr_fold_give(fold, segment, &form);
}

const struct wr_stage_def wr_stage_evict = {
    .name = "evict",
    .what = "a very large result goes to the store; its first and last lines stay",
    .arrive = evict_arrive,
    .acts = "on arrival",
    .params = {{"over_tokens", 20000, 1, 10000000, NULL, "results above this leave"},
               {"head_lines", 5, 0, 10000, NULL, "lines at the start that stay"},
               {"tail_lines", 5, 0, 10000, NULL, "lines at the end that stay"},
               {"line_chars", 1000, 1, 100000, NULL, "characters of such a line that stay"}},
    .params_count = 4,
    .takes_tools = true,
    .tool_params = 1U << WR_EVICT_OVER_TOKENS | 1U << WR_EVICT_HEAD_LINES |
                   1U << WR_EVICT_TAIL_LINES | 1U << WR_EVICT_LINE_CHARS,
};

/* ---- condense ---- */

/* A large result becomes, as it arrives, the lines of it that matter: head, tail,
 * signals, what the call asked about, an outline.
 *
 * Reads and searches are quoted by the next action far more often than what a command printed, so
 * they have a threshold of their own. Nothing is condensed that is too small to be worth a second
 * look. */

enum { FOCUS_BYTES_MAX = 4096 };

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

static uint64_t lines_missing_in(const struct wr_condensed *condensed)
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
        uint64_t lines = lines_missing_in(&condensed);
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
    wr_cap_text(&buf, input->text, input->bytes_budget / BYTES_A_TOKEN, WR_CAP_BOTH, &is_cut);
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
    uint64_t over =
        param_of(stage, s->tool, is_often ? WR_CONDENSE_READ_OVER : WR_CONDENSE_RUN_OVER);
    uint64_t to = param_of(stage, s->tool, is_often ? WR_CONDENSE_READ_TO : WR_CONDENSE_RUN_TO);
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

/* ---- lossless ---- */

/* Printed output without the frames a terminal would have drawn over, trailing white
 * space and repeated blank lines, as it arrives. Every word stays; the bytes are in the store. */

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

/* ---- numbers ---- */

/* Of the line numbers that a tool prints before the lines of a file, those that can be
 * counted leave, as it arrives. The bytes are in the store.
 *
 * They are a sixth of what agents read of files. All text stays: steps and condensers take such a
 * result like one that is whole. With a recall tool a later result with the same text may point to
 * it, and who reads the file again did not come back for its numbers. */

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

/* ---- reference ---- */

/* A result whose text stands earlier in the same prompt becomes a pointer to it, on
 * arrival.
 *
 * With a recall tool the pointer's own handle is the way back, whatever becomes of the earlier
 * copy; without one the earlier copy is the only way, and stays. */

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

/* ---- rehydrate ---- */

/* A message of the user's that names a handle brings its original back, in a message of
 * its own right behind.
 *
 *   [weir wr_0123456789abcdef0123: brought back, lines 1-40 of 400]
 *   ... the lines ...
 *   [weir wr_0123456789abcdef0123: 360 lines, ~2900 tokens left out; weir_recall {...}]
 *
 * Only what this very fold gave a handle to can come back, so that the same transcript always gives
 * the same bytes. The first line is a marker: a text that holds one is not taken out. What the
 * model itself asks for comes through weir_recall, not through here. */

enum { FRAME_TOKENS = 96 }; /* room for the lines before and behind */

static uint64_t budget_left(const struct wr_fold *fold, const struct wr_stage *stage)
{
    uint64_t budget = (uint64_t)stage->params[WR_REHYDRATE_MAX_TOKENS], used = 0;
    uint64_t threshold = wr_fold_threshold(fold, 10000);
    uint64_t room = threshold > fold->total_tokens ? threshold - fold->total_tokens : 0;

    for (uint32_t i = 0; i < fold->inserts_count; i++)
        if (fold->inserts[i].is_rehydrated && fold->inserts[i].turn == fold->turn)
            used += fold->inserts[i].tokens;
    budget = budget > used ? budget - used : 0;
    return budget < room ? budget : room;
}

static bool is_back_already(const struct wr_fold *fold, const struct wr_handle *handle)
{
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        if (fold->inserts[i].is_rehydrated && !strcmp(fold->inserts[i].handle.text, handle->text))
            return true;
    return false;
}

/* The first lines that fit into `tokens_max`; `*rest` is what does not. */
static weir_span first_lines(const struct wr_fold *fold, weir_span text, uint64_t tokens_max,
                             weir_span *rest, uint64_t *lines)
{
    uint64_t tokens = 0;
    weir_span line;

    *rest = text;
    *lines = 0;
    for (weir_span next = text; wr_span_line(&next, &line); *rest = next, (*lines)++) {
        tokens += fold->input->count(fold->input->user, line) + 1;
        if (tokens > tokens_max)
            break;
    }
    return wr_span_cut(text, 0, text.len - rest->len);
}

/* Nothing is written (and the text empty) where not even a line fits, or what is missing would have
 * no way back. */
static weir_status write_block(struct wr_fold *fold, const struct wr_handle *handle,
                               weir_span original, uint64_t tokens_max, weir_span *text)
{
    const struct wr_fold_input *input = fold->input;
    uint64_t lines;
    weir_span rest, kept = first_lines(fold, original, tokens_max, &rest, &lines);
    struct wr_marker marker = {
        .handle = *handle,
        .way = {.kind = WR_WAY_RECALL, .tool = wr_ways_recall(input->ways, UINT32_MAX)},
        .lines = wr_span_lines(rest),
        .tokens = input->count(input->user, rest),
        .what = "left out"};
    struct wr_buf buf;

    *text = (weir_span){"", 0};
    if (!kept.len || (rest.len && !wr_ways_recall(input->ways, UINT32_MAX).len))
        return WEIR_OK;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_printf(&buf, "[weir %s: brought back, lines 1-%llu of %llu]\n", handle->text,
                  (unsigned long long)lines, (unsigned long long)(lines + marker.lines));
    wr_buf_append(&buf, kept);
    if (rest.len)
        wr_marker_write(&buf, &marker);
    return wr_text_keep(fold->arena, &buf, text);
}

static weir_status bring_back(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment,
                              const struct wr_handle *handle)
{
    uint64_t tokens_max = budget_left(fold, stage);
    weir_span original, text;

    if (tokens_max <= FRAME_TOKENS || fold->inserts_count == WR_FOLD_INSERTS_MAX ||
        is_back_already(fold, handle) || !wr_fold_original(fold, handle, &original))
        return WEIR_OK;
    if (!original.ptr)
        return wr_arena_status(fold->arena);
    weir_status status = write_block(fold, handle, original, tokens_max - FRAME_TOKENS, &text);
    if (status || !text.len)
        return status;
    return wr_fold_rehydrate(fold, segment, handle, text, original);
}

static weir_status rehydrate_arrive(struct wr_fold *fold, const struct wr_stage *stage,
                                    uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    weir_status status = WEIR_OK;
    weir_handle found;

    if (s->kind != WEIR_KIND_TEXT || s->role != WEIR_ROLE_USER || s->message == WR_JSON_NONE ||
        fold->transcript->list == WR_JSON_NONE)
        return WEIR_OK;
    weir_span text = wr_fold_text(fold, segment);
    if (!text.ptr)
        return wr_arena_status(fold->arena);
    for (size_t at = 0; !status && (at = weir_handle_find(text, at, &found)) != SIZE_MAX;
         at += WEIR_HANDLE_TEXT_BYTES) {
        struct wr_handle handle;
        weir_handle_format(found, handle.text);
        status = bring_back(fold, stage, segment, &handle);
    }
    return status;
}

const struct wr_stage_def wr_stage_rehydrate = {
    .name = "rehydrate",
    .what = "a message that names a handle brings its original back, right behind it",
    .arrive = rehydrate_arrive,
    .acts = "when a message names a handle",
    .params = {{"max_tokens", 8000, 128, 1000000, NULL, "what comes back in one turn, all of it"}},
    .params_count = 1,
};
