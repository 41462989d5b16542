/* json_line.h -- steps along a line of JSON that need not be whole. */
#ifndef WR_CONDENSE_JSON_LINE_H
#define WR_CONDENSE_JSON_LINE_H

#include "base/span.h"
#include "condense/letters.h"

/* The quote that ends the string whose inside begins at `at`: the first with an even number of
 * backslashes before it. The end of the text where there is none. */
static inline size_t wr_json_string_end(weir_span text, size_t at)
{
    const char *quote;
    while (at < text.len && (quote = memchr(text.ptr + at, '"', text.len - at)) != NULL) {
        size_t end = (size_t)(quote - text.ptr), escape = end;
        while (escape > at && text.ptr[escape - 1] == '\\')
            escape--;
        if ((end - escape) % 2 == 0)
            return end;
        at = end + 1;
    }
    return text.len;
}

static inline size_t wr_json_skip_blanks(weir_span text, size_t at)
{
    while (at < text.len && wr_is_blank(text.ptr[at]))
        at++;
    return at;
}

#endif
