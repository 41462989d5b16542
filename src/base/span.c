#include "base/span.h"

#include "base/ascii.h"

size_t wr_span_find(weir_span hay, weir_span needle, size_t from)
{
    if (from > hay.len || needle.len > hay.len - from)
        return SIZE_MAX;
    if (!needle.len)
        return from;
    const char *at = memmem(hay.ptr + from, hay.len - from, needle.ptr, needle.len);
    return at ? (size_t)(at - hay.ptr) : SIZE_MAX;
}

bool wr_span_line(weir_span *rest, weir_span *line)
{
    if (!rest->len)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
    size_t taken = end ? len + 1 : len;
    *line = (weir_span){rest->ptr, len};
    *rest = (weir_span){rest->ptr + taken, rest->len - taken};
    return true;
}

uint64_t wr_span_lines(weir_span text)
{
    uint64_t count = 0;
    weir_span line;
    while (wr_span_line(&text, &line))
        count++;
    return count;
}

weir_span wr_span_trim(weir_span a)
{
    while (a.len && wr_is_white(a.ptr[0]))
        a = wr_span_cut(a, 1, a.len);
    while (a.len && wr_is_white(a.ptr[a.len - 1]))
        a.len--;
    return a;
}

bool wr_span_u64(weir_span a, uint64_t *number)
{
    uint64_t n = 0;
    if (!a.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (a.ptr[i] < '0' || a.ptr[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(a.ptr[i] - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *number = n;
    return true;
}
