#include "condense/lossless.h"

#include <string.h>

#include "base/span.h"
#include "condense/signal.h"
#include "condense/terminal.h"

static bool is_printed(enum wr_output_kind kind)
{
    return kind == WR_OUTPUT_PROCESS || kind == WR_OUTPUT_LOG || kind == WR_OUTPUT_TEST ||
           kind == WR_OUTPUT_LIST || kind == WR_OUTPUT_PROSE;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static weir_span without_trailing_space(weir_span line)
{
    while (line.len && is_white(line.ptr[line.len - 1]))
        line.len--;
    return line;
}

/* -- white space ------------------------------------------------------------------------------- */

/* A text under way; each line of it comes from one of the text as it came. */
struct cleaned {
    char *bytes;
    size_t len;
    uint32_t *origins;
    uint32_t lines_count;
};

static void add_line(struct cleaned *cleaned, weir_span line, bool is_ended, uint32_t origin)
{
    memcpy(cleaned->bytes + cleaned->len, line.ptr, line.len);
    cleaned->len += line.len;
    if (is_ended)
        cleaned->bytes[cleaned->len++] = '\n';
    if (line.len || is_ended)
        cleaned->origins[cleaned->lines_count++] = origin;
}

static void tidy(struct cleaned *cleaned, weir_span text)
{
    weir_span line;
    bool behind_blank = false;
    for (uint32_t number = 0; wr_span_line(&text, &line); number++) {
        bool is_ended = line.ptr + line.len < text.ptr;
        line = without_trailing_space(line);
        if (!line.len && behind_blank)
            continue;
        add_line(cleaned, line, is_ended, number);
        behind_blank = !line.len;
    }
}

static weir_status clean(struct wr_lossless_text *out, struct wr_arena *arena, weir_span text,
                         uint32_t lines_total)
{
    uint32_t lines_max = (uint32_t)wr_span_lines(text);
    struct cleaned cleaned = {.bytes = wr_arena_alloc(arena, text.len + 1),
                              .origins = WR_ARENA_ARRAY(arena, uint32_t, (size_t)lines_max + 1)};
    if (!cleaned.bytes || !cleaned.origins)
        return wr_arena_status(arena);
    tidy(&cleaned, text);
    cleaned.origins[cleaned.lines_count] = lines_total;
    out->text = (weir_span){cleaned.bytes, cleaned.len};
    out->lines_count = cleaned.lines_count;
    out->lines_total = lines_total;
    out->origins = out->lines_moved ? NULL : cleaned.origins;
    return WEIR_OK;
}

/* -- all together ------------------------------------------------------------------------------ */

static bool needs_tidying(weir_span text)
{
    weir_span line;
    bool behind_blank = false;
    while (wr_span_line(&text, &line)) {
        if (line.len ? is_white(line.ptr[line.len - 1]) : behind_blank)
            return true;
        behind_blank = !line.len;
    }
    return false;
}

/* With frames taken out, or without. */
static weir_status try_one(struct wr_lossless_text *out, struct wr_arena *arena, weir_span text,
                           bool with_terminal)
{
    struct wr_terminal_text shown = {.text = text, .is_same = true};
    *out = (struct wr_lossless_text){.text = text, .is_same = true};
    weir_status status = with_terminal ? wr_terminal_render(&shown, arena, text) : WEIR_OK;
    if (status || (shown.is_same && !needs_tidying(text)))
        return status;
    *out =
        (struct wr_lossless_text){.is_rendered = !shown.is_same, .lines_moved = shown.lines_moved};
    return clean(out, arena, shown.text, (uint32_t)wr_span_lines(text));
}

/* Whether `next` says the same. White space never says anything (signal.h, 4; volatile.h), so that
 * only what was drawn over has to be looked for. */
static weir_status judge(const struct wr_lossless_text *next, struct wr_arena *arena,
                         weir_span text, enum wr_output_kind kind, bool *is_good)
{
    struct wr_signal_set before, after;
    *is_good = next->text.len && next->text.len < text.len;
    if (!*is_good || !next->is_rendered)
        return WEIR_OK;
    weir_status status = wr_signal_scan(&before, arena, text, kind);
    if (!status)
        status = wr_signal_scan(&after, arena, next->text, kind);
    *is_good = !status && wr_signal_set_equal(&before, &after, NULL);
    return status;
}

weir_status wr_lossless(struct wr_lossless_text *out, struct wr_arena *arena, weir_span text,
                        enum wr_output_kind kind)
{
    bool is_good = false;
    *out = (struct wr_lossless_text){.text = text, .is_same = true};
    if (!is_printed(kind))
        return WEIR_OK;
    weir_status status = try_one(out, arena, text, true);
    if (!status && !out->is_same)
        status = judge(out, arena, text, kind, &is_good);
    if (!status && !is_good && out->is_rendered) {
        status = try_one(out, arena, text, false);
        if (!status && !out->is_same)
            status = judge(out, arena, text, kind, &is_good);
    }
    if (!is_good)
        *out = (struct wr_lossless_text){.text = text, .is_same = true};
    return status;
}
