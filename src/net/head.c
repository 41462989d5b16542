/* Questions about the head of an HTTP message, and the reading of an answer's head.
 *
 * Requests are read by net/request_reader.c, with llhttp. An upstream's answer is read by libcurl,
 * which hands its head over line by line; here it becomes a struct wr_head, so that the rest of the
 * program sees one kind of head.
 */
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

weir_span wr_target_path(weir_span target)
{
    const char *query = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    return query ? (weir_span){target.ptr, (size_t)(query - target.ptr)} : target;
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

    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (wr_header_is(header, names[i]))
            return true;
    return is_named_by_connection(head, header);
}

/* ---- answers ---- */

static bool read_status_line(weir_span line, struct wr_head *head)
{
    const char *space = memchr(line.ptr, ' ', line.len);
    if (!space || !wr_span_starts(line, WR_LIT("HTTP/")))
        return false;
    weir_span rest = wr_span_cut(line, (size_t)(space - line.ptr) + 1, line.len);
    uint64_t status;
    if (rest.len < 3 || !wr_span_u64(wr_span_cut(rest, 0, 3), &status))
        return false;
    head->status = (int)status;
    head->minor_version = 1;
    head->target = wr_span_trim(wr_span_cut(rest, 3, rest.len));
    return true;
}

static bool read_header(weir_span line, struct wr_head *head)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    if (!colon || head->headers_count == WR_NET_HEADERS_MAX)
        return false;
    size_t at = (size_t)(colon - line.ptr);
    head->headers[head->headers_count++] = (struct wr_header){
        wr_span_trim(wr_span_cut(line, 0, at)), wr_span_trim(wr_span_cut(line, at + 1, line.len))};
    return true;
}

/* How the body ends must be read as libcurl reads it, since libcurl reads the body: chunks come
 * before any length (RFC 9112, 6.3). Of two lengths it takes the last, so two that differ are
 * refused. */
static bool read_framing(struct wr_head *head)
{
    uint64_t bytes, last_bytes = 0;
    size_t lengths_count = 0;

    head->content_bytes = -1;
    for (size_t i = 0; i < head->headers_count; i++) {
        if (!wr_header_is(&head->headers[i], "content-length"))
            continue;
        if (!wr_span_u64(head->headers[i].value, &bytes) || bytes > INT64_MAX ||
            (lengths_count++ && bytes != last_bytes))
            return false;
        last_bytes = bytes;
    }
    head->is_chunked = wr_head_count(head, "transfer-encoding") > 0;
    if (lengths_count && !head->is_chunked)
        head->content_bytes = (int64_t)last_bytes;
    return true;
}

bool wr_answer_head_read(weir_span lines, struct wr_head *head)
{
    weir_span rest = lines, line;

    head->headers_count = 0;
    head->is_upgrade = head->expects_continue = false;
    head->keeps_connection = true;
    head->method = (weir_span){NULL, 0};
    if (!wr_span_line(&rest, &line) || !read_status_line(wr_span_trim(line), head))
        return false;
    while (wr_span_line(&rest, &line)) {
        line = wr_span_trim(line);
        if (line.len && !read_header(line, head))
            return false;
    }
    return read_framing(head);
}

static const struct {
    int status;
    const char *text;
} reasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {529, "Overloaded"},
};

const char *wr_reason(int status)
{
    for (size_t i = 0; i < WR_COUNT_OF(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return "Unknown";
}
