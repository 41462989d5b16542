/* sse.h -- events from a text/event-stream, or from lines of JSON, read along as its bytes pass.
 *
 * 1. Every way of cutting one stream into chunks yields the same events.
 * 2. Memory is bounded: of an event whose data is longer than the cap only the name comes out, and
 *    the stream goes on.
 * 3. An event that the stream's end cuts off is no event.
 */
#ifndef WR_API_SSE_H
#define WR_API_SSE_H

#include <stdbool.h>

#include "base/buf.h"

struct wr_sse_event {
    weir_span name; /* empty: the stream gave none */
    weir_span data; /* its `data` lines joined by LF */
    bool is_cut;    /* the data was longer than the cap: it is empty here */
};

/* `event` dies with the call. */
typedef void wr_sse_fn(void *user, const struct wr_sse_event *event);

struct wr_sse { /* private; visible so that an owner can hold one */
    struct wr_buf line, name, data;
    size_t data_bytes_max;
    size_t seen_bytes; /* of the stream, as far as a byte order mark could reach */
    bool after_cr, has_data, is_line_cut, is_cut;
    bool is_lines; /* set by the owner: every line is the data of an event without a name */
    wr_sse_fn *on_event;
    void *user;
};

void wr_sse_init(struct wr_sse *sse, size_t data_bytes_max, wr_sse_fn *on_event, void *user);
void wr_sse_feed(struct wr_sse *sse, weir_span chunk);
void wr_sse_release(struct wr_sse *sse);

#endif
