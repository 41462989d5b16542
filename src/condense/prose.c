/* Text for people: pages, answers, notes.
 *
 * Kept: headings, lines that hold what the newest turns name, the first line of every paragraph and
 * list, head and tail, then the rest from the front. A line is often a whole paragraph, so long
 * lines lose their middle early (keep.h, 5): what they begin and end with stays. */
#include "condense/focus.h"
#include "condense/kinds.h"
#include "condense/letters.h"

#include "base/limits.h"

enum {
    HEAD_PERCENT = 15,
    TAIL_PERCENT = 25,
    HEADINGS_PERCENT = 50,
    NAMED_PERCENT = 70,
    STARTS_PERCENT = 90,
    LINE_PERCENT = 5, /* of the budget, on one line */
    LINE_BYTES_MIN = 240,
    HEADING_BYTES_MAX = 80,
};

struct prose {
    struct wr_keep keep;
    struct wr_focus focus;
    size_t bytes_budget;
};

/* ---- what a line is ---- */

static weir_span text_at(const struct wr_keep *keep, uint32_t line)
{
    if (line >= keep->lines_count)
        return (weir_span){NULL, 0};
    return wr_span_trim(wr_keep_line(keep, line));
}

static bool is_rule(weir_span text)
{
    if (text.len < 3 || !memchr("=-~*_", text.ptr[0], 5))
        return false;
    for (size_t i = 1; i < text.len; i++)
        if (text.ptr[i] != text.ptr[0])
            return false;
    return true;
}

static bool has_lower(weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (wr_is_alpha(text.ptr[i]) && !wr_is_upper(text.ptr[i]))
            return true;
    return false;
}

/* "## Title", a title over a rule, "TITLE", "**Title**", "Title:" alone between blank lines. */
static bool is_heading(weir_span before, weir_span text, weir_span next)
{
    if (!text.len || text.len > HEADING_BYTES_MAX || is_rule(text))
        return false;
    if (text.ptr[0] == '#' || (is_rule(next) && memchr("=-", next.ptr[0], 2)))
        return true;
    if (before.len)
        return false;
    bool is_loud = wr_is_upper(text.ptr[0]) && text.len > 3 && !has_lower(text);
    bool is_bold = wr_span_starts(text, WR_LIT("**")) && wr_span_ends(text, WR_LIT("**"));
    return is_loud || is_bold || text.ptr[text.len - 1] == ':';
}

static bool is_item(weir_span text)
{
    if (text.len > 2 && memchr("-*+", text.ptr[0], 3) && text.ptr[1] == ' ')
        return true;
    size_t at = 0;
    while (at < text.len && at < 3 && wr_is_digit(text.ptr[at]))
        at++;
    return at && at + 1 < text.len && memchr(".)", text.ptr[at], 2) && text.ptr[at + 1] == ' ';
}

/* The first line of a paragraph, or of a list. */
static bool starts_paragraph(weir_span before, weir_span text)
{
    return text.len && !is_rule(text) && (!before.len || is_item(text) != is_item(before));
}

/* ---- all ---- */

static void spend_until(struct prose *prose, uint32_t percent)
{
    prose->keep.bytes_budget = prose->bytes_budget / 100 * percent;
}

static void keep_shape(struct wr_keep *keep, bool headings)
{
    weir_span before = {NULL, 0}, text = text_at(keep, 0);
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        weir_span next = text_at(keep, line + 1);
        if (headings ? is_heading(before, text, next) : starts_paragraph(before, text))
            (void)wr_keep_one(keep, line);
        before = text;
        text = next;
    }
}

static void choose(struct prose *prose)
{
    struct wr_keep *keep = &prose->keep;
    spend_until(prose, HEAD_PERCENT);
    (void)wr_keep_from_front(keep, 0, keep->lines_count);
    spend_until(prose, TAIL_PERCENT);
    (void)wr_keep_from_back(keep, 0, keep->lines_count);
    spend_until(prose, HEADINGS_PERCENT);
    keep_shape(keep, true);
    spend_until(prose, NAMED_PERCENT);
    wr_focus_keep(&prose->focus, keep, 0, SIZE_MAX);
    spend_until(prose, STARTS_PERCENT);
    keep_shape(keep, false);
    spend_until(prose, 100);
    (void)wr_keep_from_front(keep, 0, keep->lines_count);
}

weir_status wr_condense_prose(struct wr_condensed *out, struct wr_arena *arena,
                              const struct wr_condense_input *input)
{
    struct prose prose = {.bytes_budget = input->bytes_budget};
    size_t line_bytes_max = input->bytes_budget / 100 * LINE_PERCENT;
    if (line_bytes_max < LINE_BYTES_MIN)
        line_bytes_max = LINE_BYTES_MIN;
    weir_status status = wr_keep_init(&prose.keep, arena, input);
    if (!status)
        status = wr_keep_shorten(&prose.keep, line_bytes_max, WR_LIT(""));
    if (!status)
        status = wr_keep_signals(&prose.keep, input->kind, 0);
    if (!status)
        status = wr_focus_init(&prose.focus, arena, input);
    if (!status)
        status = wr_focus_find(&prose.focus, &prose.keep);
    if (status)
        return status;
    choose(&prose);
    return wr_keep_write(&prose.keep, out);
}
