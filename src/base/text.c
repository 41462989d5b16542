/* UTF-8 by hand, and small changes to text that somebody will read: cut by characters, put on one
 * line, made valid.
 *
 * In changes a character is a byte and the tail bytes (0x80 to 0xBF) that follow it. That is right
 * for UTF-8, and for anything else it is at least defined: no cut ever falls inside a character,
 * and no check of the whole text comes before.
 *
 * wr_valid_text() is for originals, which are bytes and may be anything, on their way into JSON.
 * Text that is valid already, as nearly all is, is not copied.
 */
#include "base/text.h"

#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"

static size_t decode_2(const unsigned char *s, uint32_t *code)
{
    if (!wr_utf8_is_tail((char)s[1]))
        return 0;
    *code = (uint32_t)(s[0] & 0x1F) << 6 | (uint32_t)(s[1] & 0x3F);
    return 2;
}

static size_t decode_3(const unsigned char *s, bool wtf8, uint32_t *code)
{
    if (!wr_utf8_is_tail((char)s[1]) || !wr_utf8_is_tail((char)s[2]))
        return 0;
    uint32_t c =
        (uint32_t)(s[0] & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (uint32_t)(s[2] & 0x3F);
    if (c < 0x800 || (!wtf8 && c >= 0xD800 && c <= 0xDFFF))
        return 0;
    *code = c;
    return 3;
}

static size_t decode_4(const unsigned char *s, uint32_t *code)
{
    if (!wr_utf8_is_tail((char)s[1]) || !wr_utf8_is_tail((char)s[2]) ||
        !wr_utf8_is_tail((char)s[3]))
        return 0;
    uint32_t c = (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3F) << 12 |
                 (uint32_t)(s[2] & 0x3F) << 6 | (uint32_t)(s[3] & 0x3F);
    if (c < 0x10000 || c > 0x10FFFF)
        return 0;
    *code = c;
    return 4;
}

size_t wr_utf8_decode(weir_span text, bool wtf8, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text.ptr;

    if (!text.len)
        return 0;
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    if (s[0] >= 0xC2 && s[0] <= 0xDF && text.len >= 2)
        return decode_2(s, code);
    if (s[0] >= 0xE0 && s[0] <= 0xEF && text.len >= 3)
        return decode_3(s, wtf8, code);
    if (s[0] >= 0xF0 && s[0] <= 0xF4 && text.len >= 4)
        return decode_4(s, code);
    return 0;
}

size_t wr_utf8_encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* Bytes at the front of `text` that are ASCII, found eight at a time. */
static size_t ascii_run(weir_span text)
{
    size_t at = 0;
    uint64_t word;

    for (; text.len - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, text.ptr + at, sizeof(word));
        if (word & 0x8080808080808080u)
            break;
    }
    while (at < text.len && (unsigned char)text.ptr[at] < 0x80)
        at++;
    return at;
}

size_t wr_utf8_check(weir_span text, bool wtf8)
{
    size_t at = 0;
    uint32_t code;

    while (at < text.len) {
        at += ascii_run((weir_span){text.ptr + at, text.len - at});
        if (at == text.len)
            break;
        size_t bytes = wr_utf8_decode((weir_span){text.ptr + at, text.len - at}, wtf8, &code);
        if (!bytes)
            return at;
        at += bytes;
    }
    return at;
}

/* ==== changes ==== */

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
        width += !is_colour && !wr_utf8_is_tail(text.ptr[i]);
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
