#include "json/json.h"

#include <string.h>

#include "base/utf8.h"

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && c < 0x80;
}

/* Whether one of eight bytes is not plain. A byte behind one that is not may be taken for another
 * by the borrow of a subtraction, so this says that there is one and not which. */
static bool has_special(const char *eight)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;
    uint64_t word;
    memcpy(&word, eight, sizeof(word));
    uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\';
    return (word | (word - ones * 0x20) | (quote - ones) | (backslash - ones)) & high;
}

static size_t skip_plain(weir_span text, size_t at)
{
    const size_t eight = sizeof(uint64_t);

    while (at + eight <= text.len && !has_special(text.ptr + at))
        at += eight;
    /* The rest together with plain bytes before it, which saves the loop for most short words. */
    if (at && text.len - at < eight && text.len >= eight &&
        !has_special(text.ptr + text.len - eight))
        return text.len;
    while (at < text.len && is_plain((unsigned char)text.ptr[at]))
        at++;
    return at;
}

/* The place, from `at` on, of the first character that must be escaped or is no UTF-8. */
static size_t plain_end(weir_span text, size_t at)
{
    uint32_t code;

    for (;;) {
        at = skip_plain(text, at);
        if (at == text.len || (unsigned char)text.ptr[at] < 0x80)
            return at;
        size_t bytes = wr_utf8_decode((weir_span){text.ptr + at, text.len - at}, false, &code);
        if (!bytes)
            return at;
        at += bytes;
    }
}

static void append_numbered(struct wr_buf *out, uint32_t code)
{
    static const char digits[] = "0123456789abcdef";
    const char escape[6] = {'\\',
                            'u',
                            digits[code >> 12 & 15],
                            digits[code >> 8 & 15],
                            digits[code >> 4 & 15],
                            digits[code & 15]};
    wr_buf_append(out, (weir_span){escape, sizeof(escape)});
}

static void append_ascii(struct wr_buf *out, unsigned char c)
{
    static const char letters[] = "btn\0fr"; /* for the bytes 8 to 13; 11 has none */
    char letter = c >= 0x20 ? (char)c : c >= 8 && c <= 13 ? letters[c - 8] : '\0';

    if (letter)
        wr_buf_append(out, (weir_span){(const char[]){'\\', letter}, 2});
    else
        append_numbered(out, c);
}

/* Appends the escape of the character that begins `rest`, and returns how many bytes it has; 0
 * where no character begins there. */
static size_t append_escape(struct wr_buf *out, weir_span rest)
{
    uint32_t code;
    size_t bytes = wr_utf8_decode(rest, true, &code);
    if (bytes == 1)
        append_ascii(out, (unsigned char)code);
    else if (bytes)
        append_numbered(out, code); /* a lone surrogate: all else that is wide stands for itself */
    return bytes;
}

void wr_json_escape(struct wr_buf *out, weir_span text)
{
    size_t at = 0;
    while (at < text.len) {
        size_t end = plain_end(text, at);
        wr_buf_append(out, (weir_span){text.ptr + at, end - at});
        if (end == text.len)
            return;
        size_t bytes = append_escape(out, (weir_span){text.ptr + end, text.len - end});
        if (!bytes && !out->status)
            out->status = WEIR_INVALID;
        if (!bytes)
            return;
        at = end + bytes;
    }
}
