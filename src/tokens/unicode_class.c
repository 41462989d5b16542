#include "tokens/unicode_class.h"

#include <stdbool.h>

#include "base/embed.h"

WR_EMBED(wr_unicode_classes, "data/unicode_classes.bin");

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

static struct wr_char wide_of(uint32_t code_point, uint32_t least, unsigned bytes)
{
    if (code_point < least || code_point > 0x10FFFF)
        return (struct wr_char){0, 1};
    return (struct wr_char){wr_class_of(code_point), bytes};
}

struct wr_char wr_char_wide(const uint8_t *at, const uint8_t *end)
{
    size_t left = (size_t)(end - at);
    uint32_t lead = at[0];

    if (lead >= 0xE0 && lead < 0xF0 && left >= 3 && is_continuation(at[1]) &&
        is_continuation(at[2]))
        return wide_of((lead & 0x0F) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu), 0x800, 3);
    if (lead >= 0xC0 && lead < 0xE0 && left >= 2 && is_continuation(at[1]))
        return wide_of((lead & 0x1F) << 6 | (at[1] & 0x3Fu), 0x80, 2);
    if (lead >= 0xF0 && lead < 0xF8 && left >= 4 && is_continuation(at[1]) &&
        is_continuation(at[2]) && is_continuation(at[3]))
        return wide_of((lead & 0x07) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 |
                           (at[3] & 0x3Fu),
                       0x10000, 4);
    return (struct wr_char){0, 1};
}
