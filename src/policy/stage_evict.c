/* evict: a result over `over_tokens` goes to the store as it arrives; its first and last lines
 * stay. */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

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

static uint64_t param(const struct wr_stage *stage, weir_span tool, uint32_t index)
{
    return (uint64_t)wr_stage_param(stage, tool, index);
}

static weir_status evict_arrive(struct wr_fold *fold, const struct wr_stage *stage,
                                uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    struct preview preview = {param(stage, s->tool, WR_EVICT_HEAD_LINES),
                              param(stage, s->tool, WR_EVICT_TAIL_LINES),
                              param(stage, s->tool, WR_EVICT_LINE_CHARS)};
    struct wr_fold_form form = {.form = WR_FORM_EVICTED, .refers_to = WR_SEGMENT_NONE};
    struct wr_buf buf;

    if (fold->input->tokens[segment] <= param(stage, s->tool, WR_EVICT_OVER_TOKENS) ||
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
