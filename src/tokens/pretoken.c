#include "tokens/pretoken.h"

#include "tokens/unicode_class.h"

struct space_run {
    const uint8_t *end;
    const uint8_t *last;        /* the start of its last character */
    const uint8_t *newline_end; /* past its last line end, or NULL */
};

static struct space_run scan_space(const uint8_t *at, const uint8_t *end)
{
    struct space_run run = {at, at, NULL};

    while (run.end < end) {
        struct wr_char c = wr_char_at(run.end, end);
        if (!(c.bits & WR_CLASS_SPACE))
            break;
        run.last = run.end;
        run.end += c.bytes;
        if (c.bits & WR_CLASS_NEWLINE)
            run.newline_end = run.end;
    }
    return run;
}

/* \s+(?!\S)|\s+ : all of the run at the end of the text; else its last character is left to stand
 * in front of what follows, unless there is no other. */
static struct wr_piece space_piece(const uint8_t *at, const uint8_t *end,
                                   const struct space_run *run)
{
    if (run->end == end || run->last == at)
        return (struct wr_piece){run->end, run->end};
    return (struct wr_piece){run->last, run->end};
}

struct wr_piece wr_pretoken_space(const uint8_t *at, const uint8_t *end)
{
    struct space_run run = scan_space(at, end);
    if (run.newline_end)
        return (struct wr_piece){run.newline_end, run.end};
    return space_piece(at, end, &run);
}

struct wr_piece wr_pretoken_space_any(const uint8_t *at, const uint8_t *end)
{
    struct space_run run = scan_space(at, end);
    return space_piece(at, end, &run);
}

struct wr_piece wr_pretoken_number(const uint8_t *at, const uint8_t *end, int digits_max)
{
    for (int digits = 0; digits < digits_max && at < end; digits++) {
        struct wr_char c = wr_char_at(at, end);
        if (!(c.bits & WR_CLASS_NUMBER))
            break;
        at += c.bytes;
    }
    return (struct wr_piece){at, at};
}

const uint8_t *wr_pretoken_contraction(const uint8_t *at, const uint8_t *end)
{
    size_t left = (size_t)(end - at);
    if (left < 2 || at[0] != '\'')
        return at;

    unsigned first = at[1] | 0x20u, second = left > 2 ? at[2] | 0x20u : 0;
    if (first == 's' || first == 't' || first == 'm' || first == 'd')
        return at + 2;
    if (second == 'e' && (first == 'r' || first == 'v'))
        return at + 3;
    if (second == 'l' && first == 'l')
        return at + 3;
    /* U+017F, the long s, is an s where case does not matter. */
    if (left > 2 && at[1] == 0xC5 && at[2] == 0xBF)
        return at + 3;
    return at;
}

struct wr_piece wr_pretoken_none(const uint8_t *at, const uint8_t *end)
{
    (void)at;
    return (struct wr_piece){end, end};
}
