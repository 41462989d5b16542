/* The pieces of GPT-2 (r50k_base, p50k_base) and of HuggingFace's ByteLevel:
 *
 *   's|'t|'re|'ve|'m|'ll|'d      lower case only
 *    ?\p{L}+
 *    ?\p{N}+
 *    ?[^\s\p{L}\p{N}]+
 *   \s+(?!\S) | \s+
 */
#include "tokens/pretoken.h"

#include "tokens/unicode_class.h"

enum { NOT_SYMBOL = WR_CLASS_SPACE | WR_CLASS_LETTER | WR_CLASS_NUMBER };

static const uint8_t *lower_contraction(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *past = wr_pretoken_contraction(at, end);
    for (const uint8_t *byte = at + 1; byte < past; byte++)
        if (*byte < 'a' || *byte > 'z')
            return at;
    return past;
}

/* The run of characters of the class that the one at `at` has. */
static struct wr_piece run(const uint8_t *at, const uint8_t *end, unsigned kind)
{
    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (kind ? !(c.bits & kind) : (c.bits & NOT_SYMBOL))
            break;
        at += c.bytes;
    }
    return (struct wr_piece){at, at};
}

static unsigned kind_of(unsigned bits)
{
    return bits & WR_CLASS_LETTER ? WR_CLASS_LETTER : bits & NOT_SYMBOL;
}

struct wr_piece wr_pretoken_gpt2(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *contraction_end = lower_contraction(at, end);
    if (contraction_end != at)
        return (struct wr_piece){contraction_end, contraction_end};

    unsigned bits = wr_char_at(at, end).bits;
    if (!(bits & WR_CLASS_SPACE))
        return run(at, end, kind_of(bits));
    if (*at == ' ' && at + 1 < end) {
        unsigned next = wr_char_at(at + 1, end).bits;
        if (!(next & WR_CLASS_SPACE))
            return run(at + 1, end, kind_of(next));
    }
    return wr_pretoken_space_any(at, end);
}
