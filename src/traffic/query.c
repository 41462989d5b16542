#include "traffic/query.h"

#include "base/ascii.h"
#include "base/span.h"

static weir_span find_value(weir_span query, const char *name)
{
    weir_span key = wr_span_of(name);

    while (query.len) {
        const char *end = memchr(query.ptr, '&', query.len);
        size_t bytes = end ? (size_t)(end - query.ptr) : query.len;
        weir_span part = wr_span_cut(query, 0, bytes);
        if (part.len > key.len && part.ptr[key.len] == '=' && wr_span_starts(part, key))
            return wr_span_from(part, key.len + 1);
        query = wr_span_from(query, bytes + (end ? 1 : 0));
    }
    return (weir_span){"", 0};
}

weir_span wr_query_text(weir_span query, const char *name, struct wr_arena *arena)
{
    weir_span value = find_value(query, name);
    char *text = WR_ARENA_ARRAY(arena, char, value.len + 1);
    size_t at = 0;

    if (!text)
        return (weir_span){"", 0};
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '%' && i + 2 < value.len && wr_is_hex(value.ptr[i + 1]) &&
            wr_is_hex(value.ptr[i + 2])) {
            c = (char)(wr_hex_value(value.ptr[i + 1]) << 4 | wr_hex_value(value.ptr[i + 2]));
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        text[at++] = c;
    }
    return (weir_span){text, at};
}

uint64_t wr_query_number(weir_span query, const char *name, uint64_t unless)
{
    uint64_t number;
    return wr_span_u64(find_value(query, name), &number) ? number : unless;
}
