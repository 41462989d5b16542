/* Events from the bytes of a stream, however they are cut.
 *
 *   chunk ──wr_sse_feed──▶ lines ──take_line──▶ fields ──empty line, dispatch──▶ on_event
 *
 * A line that a chunk cuts off is kept until its end comes (keep_part). A CR ends its line at once;
 * the LF of a CRLF may come in the next chunk, so it is recognised when it arrives.
 */
#include "api/sse.h"

#include "base/limits.h"
#include "base/span.h"

enum { FIELD_BYTES = 16, MARK_BYTES = 3 };

static const char byte_order_mark[MARK_BYTES] = {'\xEF', '\xBB', '\xBF'};

void wr_sse_init(struct wr_sse *sse, size_t data_bytes_max, wr_sse_fn *on_event, void *user)
{
    *sse = (struct wr_sse){.data_bytes_max = data_bytes_max, .on_event = on_event, .user = user};
    wr_buf_init(&sse->line, data_bytes_max + FIELD_BYTES);
    wr_buf_init(&sse->name, WR_SSE_NAME_BYTES_MAX);
    wr_buf_init(&sse->data, data_bytes_max);
}

void wr_sse_release(struct wr_sse *sse)
{
    wr_buf_release(&sse->line);
    wr_buf_release(&sse->name);
    wr_buf_release(&sse->data);
}

static void add_data(struct wr_sse *sse, weir_span value)
{
    size_t joined_bytes = sse->data.len + sse->has_data + value.len;

    if (joined_bytes > sse->data_bytes_max)
        sse->is_cut = true;
    if (sse->is_cut)
        return;
    if (sse->has_data)
        wr_buf_byte(&sse->data, '\n');
    wr_buf_append(&sse->data, value);
    sse->has_data = true;
    if (wr_buf_status(&sse->data))
        sse->is_cut = true;
}

static void dispatch(struct wr_sse *sse)
{
    struct wr_sse_event event = {wr_buf_view(&sse->name), wr_buf_view(&sse->data), sse->is_cut};

    if (sse->is_cut)
        event.data = (weir_span){"", 0};
    if (sse->has_data || sse->is_cut)
        sse->on_event(sse->user, &event);
    wr_buf_reset(&sse->name);
    wr_buf_reset(&sse->data);
    sse->has_data = sse->is_cut = false;
}

static void take_line(struct wr_sse *sse, weir_span line)
{
    if (sse->is_lines && line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    if (sse->is_lines && line.len)
        add_data(sse, line);
    if (sse->is_lines || !line.len) {
        dispatch(sse);
        return;
    }
    const char *colon = memchr(line.ptr, ':', line.len);
    size_t at = colon ? (size_t)(colon - line.ptr) : line.len;
    weir_span field = wr_span_cut(line, 0, at);
    weir_span value = wr_span_cut(line, at < line.len ? at + 1 : at, line.len);
    if (value.len && value.ptr[0] == ' ')
        value = wr_span_cut(value, 1, value.len);
    if (wr_span_is(field, "data")) {
        add_data(sse, value);
    } else if (wr_span_is(field, "event")) {
        wr_buf_reset(&sse->name);
        if (value.len <= WR_SSE_NAME_BYTES_MAX)
            wr_buf_append(&sse->name, value);
    }
}

/* A line that does not fit cannot be looked at; as most of what is long is data, its event is taken
 * to be cut. */
static void end_line(struct wr_sse *sse, weir_span rest)
{
    if (sse->is_line_cut || sse->line.len + rest.len > sse->line.cap_max) {
        sse->is_cut = true;
    } else if (!sse->line.len) {
        take_line(sse, rest);
    } else {
        wr_buf_append(&sse->line, rest);
        if (wr_buf_status(&sse->line))
            sse->is_cut = true;
        else
            take_line(sse, wr_buf_view(&sse->line));
    }
    if (sse->is_lines && sse->is_cut)
        dispatch(sse);
    sse->is_line_cut = false;
    wr_buf_reset(&sse->line);
}

static void keep_part(struct wr_sse *sse, weir_span part)
{
    if (sse->is_line_cut || sse->line.len + part.len > sse->line.cap_max) {
        sse->is_line_cut = true;
        wr_buf_reset(&sse->line);
        return;
    }
    wr_buf_append(&sse->line, part);
    if (wr_buf_status(&sse->line))
        sse->is_line_cut = true;
}

static size_t line_end(const struct wr_sse *sse, weir_span chunk, size_t from)
{
    const char *lf = memchr(chunk.ptr + from, '\n', chunk.len - from);
    size_t end = lf ? (size_t)(lf - chunk.ptr) : chunk.len;
    if (sse->is_lines) /* in JSON a CR is white space, and ends nothing */
        return end;
    const char *cr = memchr(chunk.ptr + from, '\r', end - from);
    return cr ? (size_t)(cr - chunk.ptr) : end;
}

/* The mark may come in pieces too: its bytes are dropped one by one while they are the mark's. */
static size_t skip_mark(struct wr_sse *sse, weir_span chunk)
{
    size_t at = 0;
    while (at < chunk.len && sse->seen_bytes < MARK_BYTES) {
        if (chunk.ptr[at] != byte_order_mark[sse->seen_bytes]) {
            sse->seen_bytes = MARK_BYTES;
            break;
        }
        sse->seen_bytes++;
        at++;
    }
    return at;
}

void wr_sse_feed(struct wr_sse *sse, weir_span chunk)
{
    size_t at = skip_mark(sse, chunk);

    while (at < chunk.len) {
        /* A CR has ended its line already; the LF behind it, in whatever chunk, is part of it. */
        if (sse->after_cr && chunk.ptr[at] == '\n') {
            sse->after_cr = false;
            at++;
            continue;
        }
        sse->after_cr = false;
        size_t end = line_end(sse, chunk, at);
        if (end == chunk.len) {
            keep_part(sse, wr_span_cut(chunk, at, end));
            return;
        }
        end_line(sse, wr_span_cut(chunk, at, end));
        sse->after_cr = chunk.ptr[end] == '\r';
        at = end + 1;
    }
}
