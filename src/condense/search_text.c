#include "condense/search_line.h"

#include "base/ascii.h"
#include "base/span.h"
#include "base/text.h"

enum { WORD_BYTES_MIN = 3, WORD_BYTES_MAX = 32 /* longer ones are sought by their front */ };

static void add_word(struct wr_search_query *query, weir_span word)
{
    if (word.len < WORD_BYTES_MIN || query->count == WR_SEARCH_WORDS_MAX)
        return;
    if (word.len > WORD_BYTES_MAX)
        word.len = WORD_BYTES_MAX;
    char first = wr_lower(word.ptr[0]);
    query->words[query->count++] = word;
    query->is_first[(unsigned char)first] = true;
    if (wr_is_alpha(first))
        query->is_first[(unsigned char)(first - 'a' + 'A')] = true;
}

void wr_search_query_init(struct wr_search_query *query, weir_span pattern)
{
    *query = (struct wr_search_query){.count = 0};
    for (size_t i = 0; i < pattern.len;) {
        size_t end = i;
        while (end < pattern.len && wr_is_word(pattern.ptr[end]))
            end++;
        add_word(query, wr_span_cut(pattern, i, end));
        /* What follows a backslash is a sign, not a letter. */
        i = end + (end < pattern.len && pattern.ptr[end] == '\\' ? 2 : 1);
    }
}

static bool same_in_any_case(const char *text, weir_span word)
{
    for (size_t i = 0; i < word.len; i++)
        if (wr_lower(text[i]) != wr_lower(word.ptr[i]))
            return false;
    return true;
}

size_t wr_search_query_find(const struct wr_search_query *query, weir_span text)
{
    for (size_t at = 0; query->count && at < text.len; at++) {
        if (!query->is_first[(unsigned char)text.ptr[at]])
            continue;
        for (size_t i = 0; i < query->count; i++)
            if (query->words[i].len <= text.len - at &&
                same_in_any_case(text.ptr + at, query->words[i]))
                return at;
    }
    return SIZE_MAX;
}

/* The part of `text` to show: from its front, or with a fifth of the room before what was found. */
static weir_span window_of(const struct wr_search_query *query, weir_span text, size_t bytes_max)
{
    size_t found = bytes_max ? wr_search_query_find(query, text) : SIZE_MAX, from = 0;
    if (found != SIZE_MAX && found > bytes_max * 3 / 5) {
        from = found - bytes_max / 5;
        if (from > text.len - bytes_max)
            from = text.len - bytes_max;
    }
    size_t to = from + bytes_max;
    while (from < to && wr_utf8_is_tail(text.ptr[from]))
        from++;
    while (to > from && to < text.len && wr_utf8_is_tail(text.ptr[to]))
        to--;
    return wr_span_trim(wr_span_cut(text, from, to));
}

static size_t append(char *out, size_t at, weir_span bytes)
{
    if (bytes.len)
        memcpy(out + at, bytes.ptr, bytes.len);
    return at + bytes.len;
}

weir_span wr_search_text_cut(const struct wr_search_query *query, struct wr_arena *arena,
                             weir_span prefix, weir_span text, size_t text_bytes_max)
{
    weir_span body = wr_span_trim(text), part = body;
    if (body.len > text_bytes_max)
        part = window_of(query, body, text_bytes_max);
    char *form = wr_arena_alloc(arena, prefix.len + part.len + WR_SEARCH_MARKS_BYTES);
    if (!form)
        return (weir_span){NULL, 0};
    size_t len = append(form, 0, prefix);
    if (part.ptr > body.ptr)
        len = append(form, len, WR_LIT("\xe2\x80\xa6 "));
    len = append(form, len, part);
    if (part.ptr + part.len < body.ptr + body.len)
        len = append(form, len, part.len ? WR_LIT(" \xe2\x80\xa6") : WR_LIT("\xe2\x80\xa6"));
    return (weir_span){form, len};
}
