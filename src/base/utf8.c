#include "base/utf8.h"

#include <string.h>

static bool is_tail(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

static size_t decode_2(const unsigned char *s, uint32_t *code)
{
    if (!is_tail(s[1]))
        return 0;
    *code = (uint32_t)(s[0] & 0x1F) << 6 | (uint32_t)(s[1] & 0x3F);
    return 2;
}

static size_t decode_3(const unsigned char *s, bool wtf8, uint32_t *code)
{
    if (!is_tail(s[1]) || !is_tail(s[2]))
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
    if (!is_tail(s[1]) || !is_tail(s[2]) || !is_tail(s[3]))
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
