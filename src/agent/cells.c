#include "agent/cells.h"

#include <locale.h>
#include <wchar.h>

#include "base/span.h"
#include "base/text.h"

enum { TAB_CELLS = 8 };

/* The table of the C library is only asked in a UTF-8 locale; C.UTF-8 comes with glibc and musl. */
static int columns_of(uint32_t code)
{
    static locale_t utf8;

    if (!utf8)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!utf8)
        return 1;
    locale_t before = uselocale(utf8);
    int columns = wcwidth((wchar_t)code);
    (void)uselocale(before);
    return columns < 0 ? 1 : columns;
}

size_t wr_cells_char(weir_span text, size_t *cells)
{
    uint32_t code;

    *cells = 1;
    if (!text.len || (unsigned char)text.ptr[0] < 0x80)
        return text.len > 0;
    size_t bytes = wr_utf8_decode(text, false, &code);
    if (!bytes)
        return 1;
    *cells = (size_t)columns_of(code);
    return bytes;
}

enum { JOINER = 0x200D };

size_t wr_cells_step(weir_span text, size_t *cells)
{
    size_t bytes = wr_cells_char(text, cells), joined;
    uint32_t code;

    while (bytes < text.len) {
        size_t next = wr_cells_char(wr_span_from(text, bytes), &joined);
        if (joined)
            break;
        bool is_joiner = wr_utf8_decode(wr_span_from(text, bytes), false, &code) && code == JOINER;
        bytes += next;
        if (is_joiner && bytes < text.len) { /* of two emoji: one step, and columns of both */
            bytes += wr_cells_char(wr_span_from(text, bytes), &joined);
            *cells += joined;
        }
    }
    return bytes;
}

size_t wr_cells_of(weir_span text)
{
    size_t all = 0, cells;

    for (size_t at = 0; at < text.len; all += cells)
        at += wr_cells_char(wr_span_from(text, at), &cells);
    return all;
}

weir_span wr_cells_head(weir_span text, size_t cells_max)
{
    size_t at = 0, all = 0, cells;

    while (at < text.len) {
        size_t bytes = wr_cells_char(wr_span_from(text, at), &cells);
        if (all + cells > cells_max)
            break;
        all += cells;
        at += bytes;
    }
    return wr_span_cut(text, 0, at);
}

weir_span wr_cells_wrap(weir_span text, size_t cells_max)
{
    weir_span head = wr_cells_head(text, cells_max);
    size_t cells;

    if (head.len == text.len)
        return text;
    if (!head.len)
        return wr_span_cut(text, 0, wr_cells_step(text, &cells));
    if (text.ptr[head.len] == ' ')
        return wr_span_cut(text, 0, head.len + 1);
    for (size_t at = head.len; at > 0; at--)
        if (head.ptr[at - 1] == ' ')
            return wr_span_cut(head, 0, at);
    return head;
}

/* Characters that make a reader see another order than there is. */
static bool turns_direction(uint32_t code)
{
    return code == 0x200E || code == 0x200F || code == 0x061C ||
           (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

static bool is_harmless(uint32_t code)
{
    bool is_control = code < ' ' || (code >= 0x7F && code < 0xA0) || code == 0x2028 ||
                      code == 0x2029 || code == 0xFEFF;
    return !is_control && !turns_direction(code);
}

void wr_cells_plain(struct wr_buf *out, weir_span text)
{
    size_t column = 0, cells;

    for (size_t at = 0; at < text.len;) {
        weir_span rest = wr_span_from(text, at);
        uint32_t code = 0;
        size_t bytes = wr_utf8_decode(rest, false, &code);
        if (rest.ptr[0] == '\n') {
            wr_buf_byte(out, '\n');
            column = 0;
        } else if (rest.ptr[0] == '\t') {
            do
                wr_buf_byte(out, ' ');
            while (++column % TAB_CELLS);
        } else if (!bytes || !is_harmless(code)) {
            wr_buf_byte(out, '?');
            column++;
        } else {
            wr_buf_append(out, wr_span_cut(rest, 0, bytes));
            (void)wr_cells_char(rest, &cells);
            column += cells;
        }
        at += bytes ? bytes : 1;
    }
}
