/* definition_read.h -- reading the words of a line; private to the definition_*.c files. */
#ifndef WR_CONDENSE_DEFINITION_READ_H
#define WR_CONDENSE_DEFINITION_READ_H

#include "condense/definition.h"
#include "condense/letters.h"

static inline bool wr_is_name(char c)
{
    return wr_is_word(c) || c == '$' || (unsigned char)c >= 0x80;
}

static inline size_t wr_skip_blanks(weir_span text, size_t at)
{
    while (at < text.len && wr_is_blank(text.ptr[at]))
        at++;
    return at;
}

/* The letters, digits and '_' at `at`; may be empty. */
static inline weir_span wr_word_at(weir_span text, size_t at)
{
    size_t end = at;
    while (end < text.len && wr_is_name(text.ptr[end]))
        end++;
    return wr_span_cut(text, at, end);
}

static inline size_t wr_offset_behind(weir_span text, weir_span part)
{
    return (size_t)(part.ptr - text.ptr) + part.len;
}

static inline char wr_last_of(weir_span text)
{
    return text.ptr[text.len - 1];
}

static inline bool wr_has(weir_span text, weir_span part)
{
    return wr_span_find(text, part, 0) != SIZE_MAX;
}

/* A name with its parts: "a::b", "M.f:g", "Foo$Bar", "empty?". */
weir_span wr_long_name_at(weir_span text, size_t at);

/* Offset behind the words that may come before a definition: "export", "pub(crate)", "@Test". */
size_t wr_skip_modifiers(weir_span text, size_t at);

/* Whether a statement begins with this word, which therefore defines nothing. */
bool wr_is_statement_word(weir_span word);

#endif
