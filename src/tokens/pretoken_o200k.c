/* The pieces of o200k_base:
 *
 *   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|...)?
 *   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|...)?
 *   \p{N}{1,3}
 *    ?[^\s\p{L}\p{N}]+[\r\n/]*
 *   \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * Backtracking in the first two comes down to three cases; see word_end().
 */
#include "tokens/pretoken.h"

#include "tokens/unicode_class.h"

enum {
    HEAD = WR_CLASS_UPPER | WR_CLASS_CASELESS | WR_CLASS_MARK,
    TAIL = WR_CLASS_LOWER | WR_CLASS_CASELESS | WR_CLASS_MARK,
    BOTH = WR_CLASS_CASELESS | WR_CLASS_MARK,
    WORD = WR_CLASS_LETTER | WR_CLASS_MARK,
    DIGITS_MAX = 3,
};

static const uint8_t *skip(const uint8_t *at, const uint8_t *end, unsigned bits)
{
    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (!(c.bits & bits))
            break;
        at += c.bytes;
    }
    return at;
}

/* `at` is a letter or a mark. The head is taken as far as it goes. What follows it is
 * - a lower case letter: the tail goes on from there;
 * - something else, and the head holds a character that could be tail as well: the last of those
 * has to be the tail, and the word ends after it;
 * - something else, and the head is upper case only: that is the word (the second expression). */
static struct wr_piece word_end(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *both_end = NULL;

    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (c.bits & WR_CLASS_LOWER) {
            at = skip(at + c.bytes, end, TAIL);
            return (struct wr_piece){at, at};
        }
        if (!(c.bits & HEAD))
            break;
        at += c.bytes;
        if (c.bits & BOTH)
            both_end = at;
    }
    return (struct wr_piece){both_end ? both_end : at, at};
}

static struct wr_piece word(const uint8_t *at, const uint8_t *end)
{
    struct wr_piece piece = word_end(at, end);
    piece.end = wr_pretoken_contraction(piece.end, end);
    if (piece.seen < piece.end)
        piece.seen = piece.end;
    return piece;
}

static struct wr_piece symbols(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (c.bits & (WR_CLASS_SPACE | WR_CLASS_LETTER | WR_CLASS_NUMBER))
            break;
        at += c.bytes;
    }
    while (at < end && (*at == '\r' || *at == '\n' || *at == '/'))
        at++;
    return (struct wr_piece){at, at};
}

struct wr_piece wr_pretoken_o200k(const uint8_t *at, const uint8_t *end)
{
    struct wr_char first = wr_char_at(at, end);

    if (first.bits & WORD)
        return word(at, end);
    if (first.bits & WR_CLASS_NUMBER)
        return wr_pretoken_number(at, end, DIGITS_MAX);
    if (first.bits & WR_CLASS_NEWLINE)
        return wr_pretoken_space(at, end);

    const uint8_t *next = at + first.bytes;
    unsigned bits = next < end ? wr_char_at(next, end).bits : WR_CLASS_SPACE;
    if (bits & WORD)
        return word(next, end);
    if (!first.bits)
        return symbols(at, end);
    if (*at == ' ' && !bits)
        return symbols(next, end);
    return wr_pretoken_space(at, end);
}
