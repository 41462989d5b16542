/* Small changes to text that somebody will read: cut by characters, put on one line, made valid.
 *
 * A character is a byte and the tail bytes (0x80 to 0xBF) that follow it. That is right for UTF-8,
 * and for anything else it is at least defined: no cut ever falls inside a character, and no check
 * of the whole text comes before.
 *
 * wr_valid_text() is for originals, which are bytes and may be anything, on their way into JSON.
 * Text that is valid already, as nearly all is, is not copied.
 */
#include "base/text.h"

#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/utf8.h"

bool wr_text_is_blank(weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!wr_is_space(text.ptr[i]))
            return false;
    return true;
}

weir_span wr_text_head(weir_span text, uint64_t chars_max)
{
    uint64_t chars = 0;
    if (text.len <= chars_max)
        return text;
    for (size_t i = 0; i < text.len; i++)
        if (!wr_utf8_is_tail(text.ptr[i]) && chars++ == chars_max)
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
        chars += !wr_utf8_is_tail(text.ptr[i - 1]);
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
        if (wr_is_space(c)) {
            gap = chars > 0;
            continue;
        }
        uint64_t wanted = (uint64_t)gap + !wr_utf8_is_tail(c);
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

void wr_text_excerpt(struct wr_buf *out, weir_span text, size_t width)
{
    size_t columns = 0, at = 0;
    bool after_space = true;

    while (at < text.len && columns < width) {
        uint32_t code = '?';
        size_t bytes = wr_utf8_decode((weir_span){text.ptr + at, text.len - at}, false, &code);
        bool is_space = code <= ' ' || code == 0x7F;
        if (!(is_space && after_space)) {
            char encoded[4];
            wr_buf_append(out, (weir_span){encoded, wr_utf8_encode(is_space ? ' '
                                                                   : bytes  ? code
                                                                            : '?',
                                                                   encoded)});
            columns++;
        }
        after_space = is_space;
        at += bytes ? bytes : 1;
    }
    if (at < text.len)
        wr_buf_text(out, "…");
}

size_t wr_text_width(weir_span text)
{
    size_t width = 0;
    bool is_colour = false;
    for (size_t i = 0; i < text.len; i++) {
        is_colour |= text.ptr[i] == '\033';
        width += !is_colour && ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
        is_colour &= text.ptr[i] != 'm';
    }
    return width;
}

void wr_text_wrap(struct wr_buf *out, weir_span text, size_t width, size_t indent)
{
    size_t column = 0;

    for (size_t at = 0; at < text.len;) {
        size_t end = wr_span_find(text, WR_LIT(" "), at);
        weir_span word = wr_span_cut(text, at, end < text.len ? end : text.len);
        if (column && column + 1 + wr_text_width(word) > width) {
            wr_buf_byte(out, '\n');
            for (size_t i = 0; i < indent; i++)
                wr_buf_byte(out, ' ');
            column = 0;
        } else if (column && word.len) {
            wr_buf_byte(out, ' ');
            column++;
        }
        wr_buf_append(out, word);
        column += wr_text_width(word);
        at += word.len + 1;
    }
}

/* Where the text of a line begins behind its label; 0: it has none. */
static size_t label_end(weir_span line, size_t indent, size_t width)
{
    size_t end = wr_span_find(line, WR_LIT("  "), indent);

    while (end < line.len && line.ptr[end] == ' ')
        end++;
    bool is_short = end < line.len && wr_text_width(wr_span_cut(line, 0, end)) <= width / 2;
    return is_short ? end : 0;
}

static void fit_line(struct wr_buf *out, weir_span line, size_t width)
{
    size_t colour = line.len && line.ptr[0] == '\033' ? wr_span_find(line, WR_LIT("m"), 0) + 1 : 0;
    size_t indent = colour;

    while (indent < line.len && line.ptr[indent] == ' ')
        indent++;
    size_t label = label_end(line, indent, width);
    size_t hang = label ? wr_text_width(wr_span_cut(line, 0, label)) : indent - colour + 2;
    if (wr_text_width(line) <= width || hang >= width) {
        wr_buf_append(out, line);
        return;
    }
    size_t begin = label ? label : indent;
    wr_buf_append(out, wr_span_cut(line, 0, begin));
    wr_text_wrap(out, wr_span_cut(line, begin, line.len), width - hang, hang);
}

void wr_text_fit(struct wr_buf *out, weir_span text, size_t width)
{
    weir_span line;
    while (wr_span_line(&text, &line)) {
        fit_line(out, line, width);
        wr_buf_byte(out, '\n');
    }
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

weir_status wr_text_keep_line(struct wr_arena *arena, weir_span text, uint64_t chars_max,
                              weir_span *kept)
{
    struct wr_buf buf;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_text_one_line_max(&buf, text, chars_max);
    return wr_text_keep(arena, &buf, kept);
}

const char *wr_text_grouped(uint64_t number, char text[WR_GROUPED_BYTES])
{
    char *at = text + WR_GROUPED_BYTES - 1;
    int digits = 0;

    *at = '\0';
    do {
        if (digits && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + number % 10);
        digits++;
    } while (number /= 10);
    return at;
}

/* ---- text that every reader of JSON takes ---- */

static const char replacement[] = "\xEF\xBF\xBD";

/* A surrogate is three bytes and one character. */
static size_t invalid_bytes(weir_span rest)
{
    uint32_t code;
    size_t bytes = wr_utf8_decode(rest, true, &code);
    return bytes ? bytes : 1;
}

weir_status wr_valid_text(struct wr_arena *arena, weir_span text, weir_span *valid,
                          uint64_t *replaced_count)
{
    struct wr_buf out;
    size_t at = wr_utf8_check(text, false);

    *replaced_count = 0;
    *valid = text;
    if (at == text.len)
        return WEIR_OK;
    wr_buf_init(&out, arena->bytes_max);
    for (size_t from = 0; from < text.len;) {
        wr_buf_append(&out, wr_span_cut(text, from, at));
        from = at;
        if (at < text.len) {
            wr_buf_text(&out, replacement);
            ++*replaced_count;
            from += invalid_bytes(wr_span_cut(text, at, text.len));
        }
        weir_span rest = wr_span_cut(text, from, text.len);
        at = from + wr_utf8_check(rest, false);
    }
    return wr_text_keep(arena, &out, valid);
}
