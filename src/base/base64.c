#include "base/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int wr_base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

bool wr_base64_decode(weir_span text, struct wr_buf *out)
{
    unsigned bits = 0, bits_count = 0;

    for (int i = 0; i < 2 && text.len && text.ptr[text.len - 1] == '='; i++)
        text.len--;
    if (text.len % 4 == 1)
        return false;
    wr_buf_reserve(out, text.len / 4 * 3 + 2);
    for (size_t i = 0; i < text.len; i++) {
        int value = wr_base64_value(text.ptr[i]);
        if (value < 0)
            return false;
        bits = (bits << 6 | (unsigned)value) & 0xFFFF;
        bits_count += 6;
        if (bits_count < 8)
            continue;
        bits_count -= 8;
        wr_buf_byte(out, (char)(bits >> bits_count & 0xFF));
    }
    return !wr_buf_status(out);
}

void wr_base64_encode(weir_span bytes, struct wr_buf *out)
{
    const unsigned char *from = (const unsigned char *)bytes.ptr;

    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        unsigned bits = (unsigned)from[i] << 16 | (left > 1 ? (unsigned)from[i + 1] << 8 : 0) |
                        (left > 2 ? from[i + 2] : 0);
        char four[4] = {letters[bits >> 18], letters[bits >> 12 & 63],
                        left > 1 ? letters[bits >> 6 & 63] : '=',
                        left > 2 ? letters[bits & 63] : '='};
        wr_buf_append(out, (weir_span){four, sizeof(four)});
    }
}
