/* letters.h -- questions about single bytes and short words, ASCII only and the same in every
 * locale. */
#ifndef WR_CONDENSE_LETTERS_H
#define WR_CONDENSE_LETTERS_H

#include <stdbool.h>

#include "base/span.h"

#define WR_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* An item of a constant table of words: its length is known to the compiler. */
#define WR_WORD(s)          \
    {                       \
        "" s, sizeof(s) - 1 \
    }

static inline bool wr_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool wr_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool wr_is_alpha(char c)
{
    return wr_is_upper(c) || (c >= 'a' && c <= 'z');
}

static inline bool wr_is_word(char c)
{
    return wr_is_alpha(c) || wr_is_digit(c) || c == '_';
}

static inline bool wr_is_hex(char c)
{
    return wr_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static inline bool wr_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline char wr_fold(char c)
{
    return wr_is_upper(c) ? (char)(c + ('a' - 'A')) : c;
}

/* Whether `text` begins with `prefix`, which is in lower case. */
static inline bool wr_starts_folded(weir_span text, weir_span prefix)
{
    if (text.len < prefix.len)
        return false;
    for (size_t i = 0; i < prefix.len; i++)
        if (wr_fold(text.ptr[i]) != prefix.ptr[i])
            return false;
    return true;
}

static inline bool wr_same_folded(weir_span text, weir_span lower)
{
    return text.len == lower.len && wr_starts_folded(text, lower);
}

/* Tables of words; none may be empty, and those of the _folded ones are in lower case. */
bool wr_same_as_any(weir_span text, const weir_span *words, size_t count);
bool wr_same_as_any_folded(weir_span text, const weir_span *words, size_t count);
bool wr_ends_in_any(weir_span text, const weir_span *words, size_t count);

/* Length of the first word of the table that begins `text`; 0 where none does. */
size_t wr_front_of(weir_span text, const weir_span *words, size_t count);
size_t wr_front_of_folded(weir_span text, const weir_span *words, size_t count);

#endif
