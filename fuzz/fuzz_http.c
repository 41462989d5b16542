/* The request reader: every way of cutting one stream of bytes yields the same messages, and what
 * it lets through cannot be read in two ways.
 *
 * The first byte of an input says how the rest is cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "net/request_reader.h"

enum { TRACE_BYTES_MAX = 4 * 1024 * 1024 };

struct reading {
    struct wr_buf *trace; /* what the reader said */
    bool has_ended;       /* a message has, and the next was not begun */
};

static void on_head(void *user, const struct wr_head *head)
{
    struct wr_buf *trace = ((struct reading *)user)->trace;
    size_t lengths_count = wr_head_count(head, "content-length");
    size_t codings_count = wr_head_count(head, "transfer-encoding");

    if (lengths_count + codings_count > 1 || wr_head_count(head, "host") > 1 ||
        head->target.ptr[0] != '/')
        abort();
    wr_buf_printf(trace, "head %.*s %.*s %d %lld %d %d %d %d\n", (int)head->method.len,
                  head->method.ptr, (int)head->target.len, head->target.ptr, head->minor_version,
                  (long long)head->content_bytes, head->is_chunked, head->is_upgrade,
                  head->keeps_connection, head->expects_continue);
    for (size_t i = 0; i < head->headers_count; i++) {
        const struct wr_header *header = &head->headers[i];
        for (size_t at = 0; at < header->value.len; at++)
            if (strchr("\r\n", header->value.ptr[at]))
                abort(); /* NUL, CR and LF never stand in a value */
        wr_buf_append(trace, header->name);
        wr_buf_byte(trace, '=');
        wr_buf_append(trace, header->value);
        wr_buf_byte(trace, '\n');
    }
}

/* Where a body was cut is not part of what it says. */
static void on_body(void *user, weir_span bytes)
{
    wr_buf_append(((struct reading *)user)->trace, bytes);
}

static void on_end(void *user)
{
    struct reading *reading = user;
    wr_buf_text(reading->trace, "\nend\n");
    reading->has_ended = true;
}

static const struct wr_request_events events = {on_head, on_body, on_end};

/* Reads all messages, fed in pieces of `piece_bytes`. */
static void read_all(weir_span input, size_t piece_bytes, struct wr_buf *trace)
{
    struct reading reading = {.trace = trace};
    struct wr_request_reader *reader = wr_request_reader_new(&events, &reading);
    size_t at = 0, used;
    const char *why;

    if (!reader)
        abort();
    while (at < input.len) {
        size_t to = input.len - at < piece_bytes ? input.len : at + piece_bytes;
        if (reading.has_ended)
            wr_request_reader_next(reader);
        reading.has_ended = false;
        if (wr_request_reader_feed(reader, wr_span_cut(input, at, to), &used)) {
            int status = wr_request_reader_refusal(reader, &why);
            if (!status || !why)
                abort();
            wr_buf_printf(trace, "\nrefused %d %s\n", status, why);
            break;
        }
        if (!reading.has_ended && used < to - at)
            abort(); /* something is left that no message ended before */
        at += used;
    }
    wr_request_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_buf whole, cut;

    if (size < 2)
        return 0;
    weir_span input = {(const char *)data + 1, size - 1};
    wr_buf_init(&whole, TRACE_BYTES_MAX);
    wr_buf_init(&cut, TRACE_BYTES_MAX);
    read_all(input, SIZE_MAX, &whole);
    read_all(input, (size_t)data[0] % 64 + 1, &cut);
    if (!wr_span_eq(wr_buf_view(&whole), wr_buf_view(&cut)))
        abort();
    wr_buf_release(&whole);
    wr_buf_release(&cut);
    return 0;
}
