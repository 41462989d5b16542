#include "condense/link_line.h"

#include <string.h>

#include "base/ascii.h"
#include "base/span.h"
#include "base/text.h"

#define MARK "\xe2\x80\xa6"

enum {
    LINKS_MIN = 2,
    FRONT_BYTES = 48, /* of what stands before a link: a title begins there */
    END_BYTES = 8,    /* and the key of the link, or what opens it */
    MARK_BYTES = sizeof(MARK) - 1,
};

static size_t find_link(weir_span line, size_t from)
{
    for (size_t at = from; (at = wr_span_find(line, WR_LIT("://"), at)) != SIZE_MAX; at += 3) {
        size_t first = at;
        while (first > from && wr_is_alpha(line.ptr[first - 1]))
            first--;
        if (first < at)
            return first;
    }
    return SIZE_MAX;
}

static size_t link_end(weir_span line, size_t at)
{
    while (at < line.len && !memchr(" \t\"'<>()[]{}|\\^`,", line.ptr[at], 18))
        at++;
    return at;
}

bool wr_link_line_is(weir_span line)
{
    size_t at = 0;
    for (int count = 0; count < LINKS_MIN; count++) {
        at = find_link(line, at);
        if (at == SIZE_MAX)
            return false;
        at = link_end(line, at);
    }
    return true;
}

/* The nearest place at or before (behind) `at` where no character is cut in two. */
static size_t place_before(weir_span line, size_t at, size_t least)
{
    while (at > least && at < line.len && wr_utf8_is_tail(line.ptr[at]))
        at--;
    return at;
}

static size_t place_behind(weir_span line, size_t at)
{
    while (at < line.len && wr_utf8_is_tail(line.ptr[at]))
        at++;
    return at;
}

void wr_link_line_write(struct wr_buf *out, weir_span line, size_t bytes_max)
{
    size_t start = out->len, from = 0;
    for (size_t link; (link = find_link(line, from)) != SIZE_MAX;) {
        size_t end = link_end(line, link), front_end = link, back = link;
        if (link - from > FRONT_BYTES + END_BYTES + MARK_BYTES) {
            front_end = place_before(line, from + FRONT_BYTES, from);
            back = place_behind(line, link - END_BYTES);
        }
        size_t bytes = front_end - from + end - back + (back > front_end ? MARK_BYTES : 0);
        if (out->len - start + bytes + MARK_BYTES > bytes_max)
            break;
        wr_buf_append(out, wr_span_cut(line, from, front_end));
        if (back > front_end)
            wr_buf_text(out, MARK);
        wr_buf_append(out, wr_span_cut(line, back, end));
        from = end;
    }
    if (line.len - from <= MARK_BYTES)
        wr_buf_append(out, wr_span_from(line, from));
    else
        wr_buf_text(out, MARK);
}
