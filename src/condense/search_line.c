/* What a search printed, line by line, and what it sought. */
#include "condense/search_line.h"

#include "base/ascii.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/location.h"

/* ---- a line ---- */

static const weir_span NOTHING = {"", 0};

static size_t digits_end(weir_span text, size_t at)
{
    while (at < text.len && wr_is_digit(text.ptr[at]))
        at++;
    return at;
}

/* The ':' of "path:12:" or, at the end of the line, "path:12"; SIZE_MAX where there is none. */
static size_t find_numbered_colon(weir_span line)
{
    for (size_t i = 1; i < line.len; i++) {
        const char *colon = memchr(line.ptr + i, ':', line.len - i);
        if (!colon)
            break;
        i = (size_t)(colon - line.ptr);
        size_t end = digits_end(line, i + 1);
        if (end > i + 1 && (end == line.len || line.ptr[end] == ':'))
            return i;
        if (i + 1 < line.len && line.ptr[i + 1] != '\\' && line.ptr[i + 1] != '/')
            break; /* what comes before the first colon is the path, but for a drive's */
    }
    return SIZE_MAX;
}

static bool read_row(weir_span line, struct wr_search_line *read)
{
    weir_span text = wr_span_trim(line);
    size_t at = wr_span_starts(text, WR_LIT("Line "))                            ? 5
                : text.len > 1 && text.ptr[0] == 'L' && wr_is_digit(text.ptr[1]) ? 1
                                                                                 : 0;
    size_t end = digits_end(text, at);
    if (end == at || end >= text.len || text.ptr[end] != ':')
        return false;
    size_t text_at = (size_t)(text.ptr - line.ptr) + end + 1;
    *read = (struct wr_search_line){WR_SEARCH_ROW, NOTHING, wr_span_cut(text, at, end), text_at};
    return true;
}

/* Bytes of "main:" in "main:src/a.c", as a search in a revision gives; 0 where there is none. */
static size_t revision_bytes(weir_span line)
{
    size_t at = 0;
    while (at < line.len && (wr_is_word(line.ptr[at]) || memchr("./-~^@", line.ptr[at], 6)))
        at++;
    return at && at + 1 < line.len && line.ptr[at] == ':' && wr_is_word(line.ptr[at + 1]) ? at + 1
                                                                                          : 0;
}

/* The ':' of "main:path:12:"; SIZE_MAX where the line is nothing like it. */
static size_t find_revision_colon(weir_span line)
{
    size_t at = revision_bytes(line);
    const char *colon = at ? memchr(line.ptr + at, ':', line.len - at) : NULL;
    if (!colon)
        return SIZE_MAX;
    size_t i = (size_t)(colon - line.ptr), end = digits_end(line, i + 1);
    bool numbered = end > i + 1 && end < line.len && line.ptr[end] == ':';
    return numbered && wr_location_is_path(wr_span_cut(line, at, i)) ? i : SIZE_MAX;
}

static bool read_match(weir_span line, struct wr_search_line *read)
{
    size_t colon = find_numbered_colon(line);
    if (colon == SIZE_MAX)
        colon = find_revision_colon(line);
    if (colon == SIZE_MAX)
        return false;
    size_t end = digits_end(line, colon + 1);
    *read =
        (struct wr_search_line){WR_SEARCH_MATCH, wr_span_cut(line, 0, colon),
                                wr_span_cut(line, colon + 1, end), end < line.len ? end + 1 : end};
    return true;
}

static bool read_heading(weir_span line, struct wr_search_line *read)
{
    weir_span path = wr_span_trim(line);
    if (path.ptr != line.ptr)
        return false;
    bool named = wr_span_starts(path, WR_LIT("File: "));
    if (named)
        path = wr_span_from(path, 6);
    else if (path.ptr[path.len - 1] == ':')
        path.len--;
    size_t revision = revision_bytes(path);
    if (!path.len || (!named && !wr_location_is_path(wr_span_from(path, revision))))
        return false;
    *read = (struct wr_search_line){WR_SEARCH_HEADING, path, NOTHING, line.len};
    return true;
}

static bool read_file_match(weir_span line, struct wr_search_line *read)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    weir_span path = {line.ptr, colon ? (size_t)(colon - line.ptr) : 0};
    if (!path.len || !wr_location_is_path(path))
        return false;
    *read = (struct wr_search_line){WR_SEARCH_FILE_MATCH, path, NOTHING, path.len + 1};
    return true;
}

struct wr_search_line wr_search_line_read(weir_span line)
{
    struct wr_search_line read;
    if (read_row(line, &read) || read_match(line, &read) || read_heading(line, &read) ||
        read_file_match(line, &read))
        return read;
    return (struct wr_search_line){WR_SEARCH_OTHER, NOTHING, NOTHING, 0};
}

/* ---- what was sought ---- */

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
