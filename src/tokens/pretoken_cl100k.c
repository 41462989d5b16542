/* The pieces of cl100k_base:
 *
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d)
 *   [^\r\n\p{L}\p{N}]?\p{L}+
 *   \p{N}{1,3}
 *    ?[^\s\p{L}\p{N}]+[\r\n]*
 *   \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * Qwen2 differs in one place: \p{N} takes one digit.
 */
#include "tokens/pretoken.h"

#include "tokens/unicode_class.h"

enum { NOT_SYMBOL = WR_CLASS_SPACE | WR_CLASS_LETTER | WR_CLASS_NUMBER };

static struct wr_piece letters(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (!(c.bits & WR_CLASS_LETTER))
            break;
        at += c.bytes;
    }
    return (struct wr_piece){at, at};
}

static struct wr_piece symbols(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (c.bits & NOT_SYMBOL)
            break;
        at += c.bytes;
    }
    while (at < end && (*at == '\r' || *at == '\n'))
        at++;
    return (struct wr_piece){at, at};
}

static inline struct wr_piece scan(const uint8_t *at, const uint8_t *end, int digits_max)
{
    struct wr_char first = wr_char_at(at, end);

    if (first.bits & WR_CLASS_LETTER)
        return letters(at, end);
    if (first.bits & WR_CLASS_NUMBER)
        return wr_pretoken_number(at, end, digits_max);
    if (first.bits & WR_CLASS_NEWLINE)
        return wr_pretoken_space(at, end);
    const uint8_t *contraction_end = wr_pretoken_contraction(at, end);
    if (contraction_end != at)
        return (struct wr_piece){contraction_end, contraction_end};

    const uint8_t *next = at + first.bytes;
    unsigned bits = next < end ? wr_char_at(next, end).bits : WR_CLASS_SPACE;
    if (bits & WR_CLASS_LETTER)
        return letters(next, end);
    if (!(first.bits & NOT_SYMBOL))
        return symbols(at, end);
    if (*at == ' ' && !(bits & NOT_SYMBOL))
        return symbols(next, end);
    return wr_pretoken_space(at, end);
}

struct wr_piece wr_pretoken_cl100k(const uint8_t *at, const uint8_t *end)
{
    return scan(at, end, 3);
}

struct wr_piece wr_pretoken_qwen2(const uint8_t *at, const uint8_t *end)
{
    return scan(at, end, 1);
}
