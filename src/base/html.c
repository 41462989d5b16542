#include "base/html.h"

#include "base/embed.h"
#include "base/err.h"
#include "base/span.h"
#include "base/utf8.h"

WR_EMBED(wr_html_style, "web/style.css");

/* Within a row of a bar chart, in CSS pixels from its top. */
enum { NAME_PX = 14, BAR_TOP_PX = 20, BAR_PX = 12, FIGURES_PX = 46, MARK_PX = 3 };

/* ---- places ---- */

/* The place behind the next `{{/name}}`. */
static size_t find_part_end(weir_span page, weir_span name, size_t at)
{
    for (;;) {
        at = wr_span_find(page, WR_LIT("{{/"), at);
        WR_ASSERT(at != SIZE_MAX);
        at += 3;
        if (wr_span_starts(wr_span_cut(page, at, page.len), name))
            return at + name.len + 2;
    }
}

void wr_html_fill(struct wr_buf *out, weir_span page, wr_html_place_fn *fill, const void *data)
{
    size_t at = 0, open;
    while ((open = wr_span_find(page, WR_LIT("{{"), at)) != SIZE_MAX) {
        size_t close = wr_span_find(page, WR_LIT("}}"), open);
        WR_ASSERT(close != SIZE_MAX);
        weir_span name = wr_span_cut(page, open + 2, close);
        wr_buf_append(out, wr_span_cut(page, at, open));
        at = close + 2;
        if (wr_span_is(name, "style")) {
            wr_buf_append(out, WR_EMBEDDED(wr_html_style));
        } else if (wr_span_starts(name, WR_LIT("?"))) {
            if (!fill(out, name, data))
                at = find_part_end(page, wr_span_cut(name, 1, name.len), at);
        } else if (!wr_span_starts(name, WR_LIT("/"))) {
            bool is_known = fill(out, name, data);
            WR_ASSERT(is_known);
        }
    }
    wr_buf_append(out, wr_span_cut(page, at, page.len));
}

/* ---- text ---- */

void wr_html_escape(struct wr_buf *out, weir_span text)
{
    static const char *const names[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    while (text.len) {
        uint32_t code;
        size_t bytes = wr_utf8_decode(text, false, &code);
        bool is_shown = bytes && code >= 0x20 && code != 0x7f && (code < 0x80 || code >= 0xa0) &&
                        (code & 0xfffe) != 0xfffe;
        if (!is_shown)
            wr_buf_text(out, "\xef\xbf\xbd");
        else if (code < WR_COUNT_OF(names) && names[code])
            wr_buf_text(out, names[code]);
        else
            wr_buf_append(out, wr_span_cut(text, 0, bytes));
        text = wr_span_cut(text, bytes ? bytes : 1, text.len);
    }
}

void wr_html_tokens(struct wr_buf *out, uint64_t tokens)
{
    if (tokens >= 1000000)
        wr_buf_printf(out, "%.1f M", (double)tokens / 1e6);
    else if (tokens >= 1000)
        wr_buf_printf(out, "%.1f K", (double)tokens / 1e3);
    else
        wr_buf_printf(out, "%llu", (unsigned long long)tokens);
}

/* ---- bars ---- */

void wr_html_row(struct wr_buf *out, uint32_t row, weir_span name, bool is_bad)
{
    uint32_t top = row * WR_HTML_ROW_PX;
    wr_buf_printf(out, "<text x=\"0\" y=\"%u\">", top + NAME_PX);
    wr_html_escape(out, name);
    wr_buf_printf(out,
                  "</text><rect class=\"back\" x=\"0\" y=\"%u\" width=\"100%%\" height=\"%d\"/>"
                  "<text class=\"v%s\" x=\"0\" y=\"%u\">",
                  top + BAR_TOP_PX, BAR_PX, is_bad ? " bad" : "", top + FIGURES_PX);
}

void wr_html_bar(struct wr_buf *out, uint32_t row, const char *class, double from_percent,
                 double width_percent)
{
    wr_buf_printf(out, "<rect class=\"%s\" x=\"%.3f%%\" y=\"%u\" width=\"%.3f%%\" height=\"%d\"/>",
                  class, from_percent, row * WR_HTML_ROW_PX + BAR_TOP_PX, width_percent, BAR_PX);
}

void wr_html_mark(struct wr_buf *out, uint32_t row, const char *class, double at_percent)
{
    uint32_t top = row * WR_HTML_ROW_PX + BAR_TOP_PX;
    wr_buf_printf(out, "<line class=\"%s\" x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"%u\" y2=\"%u\"/>",
                  class, at_percent, at_percent, top - MARK_PX, top + BAR_PX + MARK_PX);
}
