/* What leaves on a connection: bytes that wait until the client takes them, with marks for who
 * makes more of them, and the answers that are put into them.
 */
#include "net/outflow.h"

#include "base/limits.h"
#include "base/span.h"
#include "net/server_inside.h"

enum {
    BYTES_KEPT = 4 * 1024,        /* of an empty buffer that waits for the next write */
    BYTES_MAX = 64 * 1024 * 1024, /* what one answer of our own may take */
    HAND_BYTES = 32 * 1024,       /* not worth waiting for more */
};

const struct wr_outflow_marks wr_outflow_marks_default = {
    .high_bytes = WR_NET_QUEUED_BYTES_MAX,
    .low_bytes = WR_NET_QUEUED_BYTES_LOW,
    .hand_bytes = HAND_BYTES,
};

void wr_outflow_init(struct wr_outflow *flow, const struct wr_outflow_marks *marks,
                     const struct wr_outflow_writer *writer, void *user)
{
    *flow = (struct wr_outflow){.marks = *marks, .writer = writer, .user = user};
    wr_buf_init(&flow->bytes, BYTES_MAX);
}

void wr_outflow_release(struct wr_outflow *flow)
{
    wr_buf_release(&flow->bytes);
}

struct wr_buf *wr_outflow_buf(struct wr_outflow *flow)
{
    return &flow->bytes;
}

void wr_outflow_added(struct wr_outflow *flow)
{
    if (flow->bytes.len >= flow->marks.hand_bytes)
        wr_outflow_hand_on(flow);
}

static void empty_buf(struct wr_buf *buf)
{
    if (buf->cap <= BYTES_KEPT) {
        wr_buf_reset(buf);
        return;
    }
    wr_buf_release(buf);
    wr_buf_init(buf, BYTES_MAX);
}

static bool is_over(const struct wr_outflow *flow)
{
    return flow->state == WR_OUTFLOW_BROKEN || flow->state == WR_OUTFLOW_GONE;
}

void wr_outflow_hand_on(struct wr_outflow *flow)
{
    struct wr_buf *bytes = &flow->bytes;

    if (is_over(flow))
        return;
    if (wr_buf_status(bytes)) {
        flow->state = WR_OUTFLOW_BROKEN;
        return;
    }
    if (!bytes->len)
        return;
    size_t len = bytes->len;
    ssize_t taken = flow->writer->write_now(flow->user, wr_buf_view(bytes));
    if (taken == (ssize_t)len) {
        empty_buf(bytes);
    } else if (taken >= 0 && flow->writer->write_later(flow->user, bytes, (size_t)taken)) {
        wr_buf_init(bytes, BYTES_MAX);
    } else {
        flow->state = WR_OUTFLOW_BROKEN;
        return;
    }
    flow->handed_bytes += len;
}

size_t wr_outflow_queued_bytes(const struct wr_outflow *flow)
{
    return flow->bytes.len + flow->writer->waiting_bytes(flow->user);
}

uint64_t wr_outflow_gone_bytes(const struct wr_outflow *flow)
{
    return flow->handed_bytes - flow->writer->waiting_bytes(flow->user);
}

bool wr_outflow_has_room(struct wr_outflow *flow)
{
    if (wr_outflow_queued_bytes(flow) <= flow->marks.high_bytes)
        return true;
    if (flow->state == WR_OUTFLOW_OPEN)
        flow->state = WR_OUTFLOW_FULL;
    return false;
}

void wr_outflow_end(struct wr_outflow *flow)
{
    if (!is_over(flow))
        flow->state = WR_OUTFLOW_LAST;
}

void wr_outflow_fail(struct wr_outflow *flow)
{
    flow->state = WR_OUTFLOW_BROKEN;
}

enum wr_outflow_news wr_outflow_settle(struct wr_outflow *flow)
{
    switch (flow->state) {
    case WR_OUTFLOW_FULL:
        if (wr_outflow_queued_bytes(flow) > flow->marks.low_bytes)
            return WR_OUTFLOW_NO_NEWS;
        flow->state = WR_OUTFLOW_OPEN;
        return WR_OUTFLOW_HAS_ROOM;
    case WR_OUTFLOW_LAST:
        if (wr_outflow_queued_bytes(flow))
            return WR_OUTFLOW_NO_NEWS;
        flow->state = WR_OUTFLOW_GONE;
        return WR_OUTFLOW_IS_GONE;
    case WR_OUTFLOW_BROKEN:
        return WR_OUTFLOW_IS_BROKEN;
    case WR_OUTFLOW_OPEN:
    case WR_OUTFLOW_GONE:
        break;
    }
    return WR_OUTFLOW_NO_NEWS;
}

/* ---- answers ---- */

/* What is answered: heads, bodies in the framing that the client understands, ends.
 *
 * Everything is appended to wr_conn_out() and leaves when the turn of the loop ends (server.c). How
 * a body is delimited is decided once, with its head (enum wr_framing): a body whose end cannot be
 * said in advance is chunked, and for a client of HTTP/1.0 it ends with the connection.
 */

bool wr_conn_has_begun(const struct wr_conn *conn)
{
    return conn->framing != WR_FRAMING_NONE;
}

static void write_headers(struct wr_buf *out, const struct wr_answer *answer)
{
    for (size_t i = 0; i < answer->headers_count; i++) {
        wr_buf_append(out, answer->headers[i].name);
        wr_buf_text(out, ": ");
        wr_buf_append(out, answer->headers[i].value);
        wr_buf_text(out, "\r\n");
    }
}

/* A body whose end cannot be said in advance is chunked; a client of HTTP/1.0 sees it end with the
 * connection. */
static enum wr_framing framing_of(const struct wr_conn *conn, const struct wr_answer *answer)
{
    const struct wr_head *head = conn->head;

    if (answer->status == 204 || answer->status == 304 ||
        (head && wr_span_is(head->method, "HEAD")))
        return WR_FRAMING_NO_BODY;
    if (answer->content_bytes >= 0)
        return WR_FRAMING_COUNTED;
    return head && head->minor_version == 0 ? WR_FRAMING_TO_CLOSE : WR_FRAMING_CHUNKED;
}

static void write_framing(struct wr_conn *conn, const struct wr_answer *answer)
{
    struct wr_buf *out = wr_conn_out(conn);

    conn->framing = framing_of(conn, answer);
    if (conn->framing == WR_FRAMING_TO_CLOSE || conn->server->is_draining ||
        conn->state != WR_CONN_WHOLE)
        conn->keeps_connection = false;
    /* A 304 or the answer to a HEAD may say the length of what it stands for; a 204 stands for
     * nothing (RFC 9110, 8.6). */
    if (answer->content_bytes >= 0 && answer->status != 204)
        wr_buf_printf(out, "Content-Length: %lld\r\n", (long long)answer->content_bytes);
    if (conn->framing == WR_FRAMING_CHUNKED)
        wr_buf_text(out, "Transfer-Encoding: chunked\r\n");
    if (!conn->keeps_connection)
        wr_buf_text(out, "Connection: close\r\n");
    else if (conn->head->minor_version == 0)
        wr_buf_text(out, "Connection: keep-alive\r\n");
}

void wr_conn_begin(struct wr_conn *conn, const struct wr_answer *answer)
{
    weir_span reason = answer->reason.len ? answer->reason : wr_span_of(wr_reason(answer->status));
    struct wr_buf *out = wr_conn_out(conn);

    if (!wr_conn_is_answerable(conn) || conn->framing != WR_FRAMING_NONE)
        return;
    wr_buf_printf(out, "HTTP/1.1 %d %.*s\r\n", answer->status, (int)reason.len, reason.ptr);
    write_headers(out, answer);
    write_framing(conn, answer);
    wr_buf_text(out, "\r\n");
    wr_conn_added(conn);
}

void wr_conn_write(struct wr_conn *conn, weir_span bytes)
{
    struct wr_buf *out = wr_conn_out(conn);

    if (!wr_conn_is_answerable(conn) || conn->framing == WR_FRAMING_NO_BODY || !bytes.len)
        return;
    if (conn->framing == WR_FRAMING_CHUNKED)
        wr_buf_printf(out, "%zx\r\n", bytes.len);
    wr_buf_append(out, bytes);
    if (conn->framing == WR_FRAMING_CHUNKED)
        wr_buf_text(out, "\r\n");
    wr_conn_added(conn);
}

void wr_conn_finish(struct wr_conn *conn, enum wr_conn_state state)
{
    conn->state = state;
    conn->exchange = NULL;
    if (state == WR_CONN_LAST && conn->tls && !wr_tls_end(conn->tls, wr_outflow_buf(&conn->out)))
        wr_outflow_fail(&conn->out);
    else if (!wr_conn_is_open(conn))
        wr_outflow_end(&conn->out);
    wr_conn_added(conn); /* on_turn() goes on */
}

void wr_conn_end(struct wr_conn *conn)
{
    bool may_follow = conn->state == WR_CONN_WHOLE && conn->keeps_connection;

    if (!wr_conn_is_answerable(conn))
        return;
    if (conn->framing == WR_FRAMING_CHUNKED)
        wr_buf_text(wr_conn_out(conn), "0\r\n\r\n");
    wr_conn_finish(conn,
                   may_follow && !conn->server->is_draining ? WR_CONN_ANSWERED : WR_CONN_LAST);
}

/* Where the body is counted or chunked the client sees that some of it is missing. Where it ends
 * with the connection, a quiet end would make it look whole. */
void wr_conn_abort(struct wr_conn *conn)
{
    if (wr_conn_is_answerable(conn))
        wr_conn_finish(conn, conn->framing == WR_FRAMING_TO_CLOSE ? WR_CONN_CUT : WR_CONN_LAST);
}

void wr_conn_reply(struct wr_conn *conn, int status, const char *content_type, weir_span body)
{
    struct wr_header headers[] = {{WR_LIT("Content-Type"), wr_span_of(content_type)},
                                  {WR_LIT("Retry-After"), WR_LIT(WR_RETRY_AFTER_S)}};
    struct wr_answer answer = {.status = status,
                               .headers = headers,
                               .headers_count = status == 503 ? 2 : 1,
                               .content_bytes = (int64_t)body.len};
    wr_conn_begin(conn, &answer);
    wr_conn_write(conn, body);
    wr_conn_end(conn);
}

void wr_conn_hand_over(struct wr_conn *conn, const struct wr_server_handler *handler)
{
    conn->handler = handler;
}
