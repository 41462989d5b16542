#include "net/head.h"

#include <strings.h>

#include "base/span.h"

static bool same_word(weir_span a, weir_span b)
{
    return a.len == b.len && (!a.len || !strncasecmp(a.ptr, b.ptr, a.len));
}

bool wr_header_is(const struct wr_header *header, const char *name)
{
    return same_word(header->name, wr_span_of(name));
}

bool wr_header_starts(const struct wr_header *header, const char *prefix)
{
    size_t bytes = strlen(prefix);
    return header->name.len >= bytes && !strncasecmp(header->name.ptr, prefix, bytes);
}

weir_span wr_head_find(const struct wr_head *head, const char *name)
{
    for (size_t i = 0; i < head->headers_count; i++)
        if (wr_header_is(&head->headers[i], name))
            return head->headers[i].value;
    return (weir_span){NULL, 0};
}

size_t wr_head_count(const struct wr_head *head, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < head->headers_count; i++)
        count += wr_header_is(&head->headers[i], name);
    return count;
}

bool wr_header_lists(weir_span value, weir_span word)
{
    size_t from = 0;
    while (from < value.len) {
        const char *comma = memchr(value.ptr + from, ',', value.len - from);
        size_t to = comma ? (size_t)(comma - value.ptr) : value.len;
        if (same_word(wr_span_trim(wr_span_cut(value, from, to)), word))
            return true;
        from = to + 1;
    }
    return false;
}

static bool is_named_by_connection(const struct wr_head *head, const struct wr_header *header)
{
    for (size_t i = 0; i < head->headers_count; i++)
        if (wr_header_is(&head->headers[i], "connection") &&
            wr_header_lists(head->headers[i].value, header->name))
            return true;
    return false;
}

bool wr_head_is_hop(const struct wr_head *head, const struct wr_header *header)
{
    static const char *const names[] = {
        "connection", "keep-alive", "proxy-connection", "proxy-authorization",
        "te",         "trailer",    "upgrade",          "transfer-encoding"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (wr_header_is(header, names[i]))
            return true;
    return is_named_by_connection(head, header);
}
