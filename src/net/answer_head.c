#include "net/answer_head.h"

#include "base/span.h"

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

/* What says how the body ends must be as the one who reads it takes it, which is libcurl: chunks
 * come before any length (RFC 9112, 6.3), and of two lengths it takes the last. */
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
