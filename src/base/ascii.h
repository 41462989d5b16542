/* ascii.h -- questions about one byte and about short words, the same in every locale.
 *
 * Bytes of 0x80 and above are in no class. Code that counts them as letters asks for them itself.
 */
#ifndef WR_BASE_ASCII_H
#define WR_BASE_ASCII_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

/* The bits of wr_ascii_classes[]. */
enum wr_ascii_class {
    WR_ASCII_DIGIT = 1,
    WR_ASCII_LOWER = 2,
    WR_ASCII_UPPER = 4,
    WR_ASCII_A_TO_F = 8, /* beside LOWER or UPPER */
    WR_ASCII_UNDERSCORE = 16,
    WR_ASCII_BLANK = 32, /* space and tab */
    WR_ASCII_LINE = 64,  /* LF and CR */
    WR_ASCII_FEED = 128, /* vertical tab and form feed */
    WR_ASCII_ALPHA = WR_ASCII_LOWER | WR_ASCII_UPPER,
};

extern const unsigned char wr_ascii_classes[256];

static inline bool wr_ascii_is(char c, unsigned classes)
{
    return (wr_ascii_classes[(unsigned char)c] & classes) != 0;
}

static inline bool wr_is_digit(char c)
{
    return wr_ascii_is(c, WR_ASCII_DIGIT);
}

static inline bool wr_is_upper(char c)
{
    return wr_ascii_is(c, WR_ASCII_UPPER);
}

static inline bool wr_is_alpha(char c)
{
    return wr_ascii_is(c, WR_ASCII_ALPHA);
}

static inline bool wr_is_alnum(char c)
{
    return wr_ascii_is(c, WR_ASCII_ALPHA | WR_ASCII_DIGIT);
}

/* What identifiers are made of in most languages: letters, digits, '_'. */
static inline bool wr_is_word(char c)
{
    return wr_ascii_is(c, WR_ASCII_ALPHA | WR_ASCII_DIGIT | WR_ASCII_UNDERSCORE);
}

static inline bool wr_is_hex(char c)
{
    return wr_ascii_is(c, WR_ASCII_DIGIT | WR_ASCII_A_TO_F);
}

/* As Weir itself writes hashes and handles. */
static inline bool wr_is_lower_hex(char c)
{
    return wr_is_hex(c) && !wr_is_upper(c);
}

static inline bool wr_is_blank(char c) /* within a line */
{
    return wr_ascii_is(c, WR_ASCII_BLANK);
}

static inline bool wr_is_white(char c) /* as JSON has it */
{
    return wr_ascii_is(c, WR_ASCII_BLANK | WR_ASCII_LINE);
}

static inline bool wr_is_space(char c) /* as C has it: the feeds too */
{
    return wr_ascii_is(c, WR_ASCII_BLANK | WR_ASCII_LINE | WR_ASCII_FEED);
}

static inline char wr_lower(char c)
{
    return wr_is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

/* 0 to 15; -1 where it is no digit of a hexadecimal number. */
static inline int wr_hex_value(char c)
{
    if (wr_is_digit(c))
        return c - '0';
    return wr_is_hex(c) ? wr_lower(c) - 'a' + 10 : -1;
}

/* Whether `text` begins with `prefix`, which is in lower case. */
static inline bool wr_starts_folded(weir_span text, weir_span prefix)
{
    if (text.len < prefix.len)
        return false;
    for (size_t i = 0; i < prefix.len; i++)
        if (wr_lower(text.ptr[i]) != prefix.ptr[i])
            return false;
    return true;
}

/* Whether both are the same but for the case of letters. */
static inline bool wr_same_any_case(weir_span a, weir_span b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (wr_lower(a.ptr[i]) != wr_lower(b.ptr[i]))
            return false;
    return true;
}

static inline bool wr_same_folded(weir_span text, weir_span lower)
{
    return text.len == lower.len && wr_starts_folded(text, lower);
}

/* ==== did you mean ==== */

/* Which of many words was meant by one that was mistyped.
 *
 * What is typed and no word at all is compared with each that would do; the nearest one is named,
 * where it is near enough for a slip: a letter too many, too few or wrong (two of them in a word of
 * five letters or more), two letters that changed places, or only the beginning of the word.
 */

/* Insertions, deletions and replacements of a letter between the first 64 letters of each;
 * capitals (ASCII) do not count. */
uint32_t wr_near_distance(weir_span a, weir_span b);

struct wr_near {
    weir_span typed; /* borrowed */
    uint32_t distance;
    char text[96]; /* "; did you mean X?", or ";" where nothing is near: what to do follows */
};

struct wr_near wr_near_to(weir_span typed);

/* `what` is not looked at: commands list their words with what they mean (cli/options.h). */
void wr_near_offer(void *near, const char *word, const char *what);

/* Whether one of the words so far is near. */
bool wr_near_is_found(const struct wr_near *near);

/* The same for a sentence that ends there: "; did you mean X?", or "". */
const char *wr_near_end(const struct wr_near *near);

#endif
