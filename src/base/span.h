/* span.h -- small questions about borrowed bytes. */
#ifndef WR_BASE_SPAN_H
#define WR_BASE_SPAN_H

#include <stdbool.h>
#include <string.h>

#include "weir/span.h"

/* How many items a constant table has. */
#define WR_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The texts of a map of X(NAME, "text"), from which an enum is made: a list by its values. */
#define WR_NAMES_OF(map)  \
    {                     \
        map(WR_NAME_TEXT) \
    }
#define WR_NAME_TEXT(name, text) text,

#define WR_LIT(s) ((weir_span){"" s, sizeof(s) - 1})

static inline weir_span wr_span_of(const char *text)
{
    return (weir_span){text, strlen(text)};
}

static inline bool wr_span_eq(weir_span a, weir_span b)
{
    return a.len == b.len && (!a.len || !memcmp(a.ptr, b.ptr, a.len));
}

static inline bool wr_span_is(weir_span a, const char *text)
{
    return wr_span_eq(a, wr_span_of(text));
}

static inline bool wr_span_starts(weir_span a, weir_span prefix)
{
    return a.len >= prefix.len && (!prefix.len || !memcmp(a.ptr, prefix.ptr, prefix.len));
}

static inline bool wr_span_ends(weir_span a, weir_span suffix)
{
    return a.len >= suffix.len &&
           (!suffix.len || !memcmp(a.ptr + a.len - suffix.len, suffix.ptr, suffix.len));
}

/* The bytes [from, to) of `a`; both must lie within it. */
static inline weir_span wr_span_cut(weir_span a, size_t from, size_t to)
{
    return (weir_span){from ? a.ptr + from : a.ptr, to - from}; /* NULL + 0 is not defined */
}

/* The bytes from `from` to the end. */
static inline weir_span wr_span_from(weir_span a, size_t from)
{
    return wr_span_cut(a, from, a.len);
}

/* First place of `needle` in `hay` at or after `from`; SIZE_MAX when there is none. */
size_t wr_span_find(weir_span hay, weir_span needle, size_t from);

static inline bool wr_span_has(weir_span hay, weir_span needle)
{
    return wr_span_find(hay, needle, 0) != SIZE_MAX;
}

/* Takes the next line off `rest`, without its '\n'. False when nothing is left. */
bool wr_span_line(weir_span *rest, weir_span *line);

/* How many times wr_span_line() would take one. */
uint64_t wr_span_lines(weir_span text);

weir_span wr_span_trim(weir_span a); /* of space, tab, CR, LF at both ends */

/* A decimal number that is all of `a`. False when it is not one, or does not fit. */
bool wr_span_u64(weir_span a, uint64_t *number);

#endif
