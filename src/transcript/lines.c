#include "transcript/lines.h"

/* Line number `n` of a piece that begins at `start` and ends at `end`, as a line of the file. */
static int64_t resolve_line(int64_t start, int64_t end, int64_t n)
{
    return n > 0 ? start + n - 1 : end + n + 1;
}

static bool same_sign(int64_t a, int64_t b)
{
    return (a > 0) == (b > 0);
}

struct wr_lines wr_lines_slice(struct wr_lines of, struct wr_lines slice)
{
    const struct wr_lines unknown = {0, 0, false};
    int64_t a = of.start, b = of.end;
    /* From a line counted from the end up to a numbered one: which comes first depends on the file.
     */
    bool upside_down = a < 0 && b > 0;
    if (!a || !b || !slice.start || !slice.end || upside_down)
        return unknown;

    struct wr_lines lines = {resolve_line(a, b, slice.start), resolve_line(a, b, slice.end),
                             of.if_long};
    /* Counting on from the last lines never leads to a numbered one, nor the other way round. */
    bool crosses = !same_sign(slice.start > 0 ? a : b, lines.start) ||
                   !same_sign(slice.end > 0 ? a : b, lines.end);
    if (!lines.start || !lines.end || crosses)
        return unknown;

    /* Clip to the piece: what lies before its start or behind its end is not there to be taken. */
    if (same_sign(lines.start, a) && lines.start < a)
        lines.start = a;
    if (same_sign(lines.end, b) && lines.end > b)
        lines.end = b;
    bool end_hidden = slice.end > 0 && a > 0 && b < -1; /* which of the two ends comes first? */
    bool empty = same_sign(lines.start, lines.end) && lines.start > lines.end;
    if (end_hidden || empty)
        return unknown;

    bool from_end = slice.start < 0 || slice.end < -1;
    lines.if_long |= slice.if_long || (b > 0 && from_end); /* the piece may end sooner */
    lines.if_long |= a > 1 && b < 0 && slice.start < 0;    /* and begin later */
    lines.if_long |=
        a < 0 && (slice.start > 1 || slice.end > 0); /* there may be fewer last lines */
    lines.if_long |= a == 1 && b < -1 && slice.start < 0;
    return lines;
}
