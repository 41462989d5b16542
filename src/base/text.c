#include "base/text.h"

#include "base/span.h"

static bool continues(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

bool wr_text_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool wr_text_is_blank(weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!wr_text_is_space(text.ptr[i]))
            return false;
    return true;
}

weir_span wr_text_head(weir_span text, uint64_t chars_max)
{
    uint64_t chars = 0;
    if (text.len <= chars_max)
        return text;
    for (size_t i = 0; i < text.len; i++)
        if (!continues(text.ptr[i]) && chars++ == chars_max)
            return wr_span_cut(text, 0, i);
    return text;
}

weir_span wr_text_tail(weir_span text, uint64_t chars_max)
{
    uint64_t chars = 0;
    if (text.len <= chars_max)
        return text;
    for (size_t i = text.len; i > 0; i--) {
        if (chars == chars_max)
            return wr_span_cut(text, i, text.len);
        chars += !continues(text.ptr[i - 1]);
    }
    return text;
}

/* Writes words until `chars_max` characters stand there; false when there was more. */
static bool write_words(struct wr_buf *out, weir_span text, uint64_t chars_max)
{
    uint64_t chars = 0;
    bool gap = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (wr_text_is_space(c)) {
            gap = chars > 0;
            continue;
        }
        uint64_t wanted = (uint64_t)gap + !continues(c);
        if (wanted > chars_max - chars)
            return false;
        if (gap)
            wr_buf_byte(out, ' ');
        wr_buf_byte(out, c);
        chars += wanted;
        gap = false;
    }
    return true;
}

void wr_text_one_line(struct wr_buf *out, weir_span text)
{
    (void)write_words(out, text, UINT64_MAX);
}

void wr_text_one_line_max(struct wr_buf *out, weir_span text, uint64_t chars_max)
{
    if (!write_words(out, text, chars_max))
        wr_buf_text(out, " ...");
}

void wr_text_indent(struct wr_buf *out, weir_span text, const char *prefix)
{
    weir_span line;
    while (wr_span_line(&text, &line)) {
        wr_buf_text(out, prefix);
        wr_buf_append(out, line);
        wr_buf_byte(out, '\n');
    }
}

weir_status wr_text_keep(struct wr_arena *arena, struct wr_buf *buf, weir_span *text)
{
    weir_status status = buf->status;
    if (!status) {
        *text = wr_arena_copy(arena, wr_buf_view(buf));
        status = text->ptr ? WEIR_OK : wr_arena_status(arena);
    }
    wr_buf_release(buf);
    return status;
}
