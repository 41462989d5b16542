#include "condense/search_line.h"

#include "base/ascii.h"
#include "condense/location.h"

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
