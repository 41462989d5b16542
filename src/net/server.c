/* Connections of clients: what libuv tells of each, turned into requests and answers.
 *
 * server.h draws the states of a connection (enum wr_conn_state). They say how much of the request
 * has come, because that decides almost everything: how long the client may take, where its next
 * bytes go, whether another request can follow. What the parser reports moves a connection from
 * state to state, so the parser is never asked where it is. The answer is independent of that, it
 * may begin before the body has come; of it we only keep how its body is delimited (enum
 * wr_framing).
 *
 * What is written waits in conn->out (net/outflow.h) until the turn of the loop ends. on_turn() is
 * the one place where a connection goes on to its next request, because it is outside of every call
 * of the parser and of the handler: otherwise a handler that answers at once would be called from
 * inside itself by a client that sends a thousand requests ahead. The rest of a request (requests
 * sent ahead, the body of a paused upload) waits in the client's system or in conn->ahead.
 */
#include "net/server.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "net/server_inside.h"

enum {
    TICK_MS = 1000,
    BACKLOG = 1024,
    LINGER_MS = 2000, /* for a client to close its side behind the last answer */
};

const struct wr_server_limits wr_server_limits_default = {
    .connections_max = WR_NET_CONNECTIONS_MAX,
    .head_ms_max = WR_NET_HEAD_MS_MAX,
    .body_idle_ms_max = WR_NET_BODY_IDLE_MS_MAX,
    .keep_ms_max = WR_NET_KEEP_MS_MAX,
    .write_idle_ms_max = WR_NET_WRITE_IDLE_MS_MAX,
};

struct write_req {
    uv_write_t req;
    struct wr_buf bytes;
};

static void next_request(struct wr_conn *conn);

static uint64_t now_ms(const struct wr_conn *conn)
{
    return uv_now(conn->server->loop);
}

/* One of server->limits. */
static void give_time(struct wr_conn *conn, uint32_t ms_max)
{
    conn->deadline_ms = now_ms(conn) + ms_max;
}

/* ---- the end of a connection ---- */

static void on_closed(uv_handle_t *handle)
{
    struct wr_conn *conn = handle->data;
    wr_request_reader_free(conn->reader);
    if (conn->tls)
        wr_tls_conn_free(conn->tls);
    wr_outflow_release(&conn->out);
    wr_buf_release(&conn->ahead);
    free(conn);
}

static void unlink_conn(struct wr_conn *conn)
{
    struct wr_server *server = conn->server;
    if (conn->prev)
        conn->prev->next = conn->next;
    else
        server->conns = conn->next;
    if (conn->next)
        conn->next->prev = conn->prev;
    server->conns_count--;
}

static void unlink_dirty(struct wr_conn *conn)
{
    for (struct wr_conn **at = &conn->server->dirty; *at; at = &(*at)->next_dirty)
        if (*at == conn) {
            *at = conn->next_dirty;
            break;
        }
    conn->is_dirty = false;
}

/* False: it was closed before. */
static bool forget_conn(struct wr_conn *conn)
{
    if (conn->state == WR_CONN_CLOSED)
        return false;
    conn->state = WR_CONN_CLOSED;
    if (conn->is_dirty)
        unlink_dirty(conn);
    unlink_conn(conn);
    return true;
}

static void close_conn(struct wr_conn *conn)
{
    if (forget_conn(conn))
        uv_close((uv_handle_t *)&conn->tcp, on_closed);
}

/* The client hears of it as an error, not as an end. */
static void reset_conn(struct wr_conn *conn)
{
    if (forget_conn(conn) && uv_tcp_close_reset(&conn->tcp, on_closed) < 0)
        uv_close((uv_handle_t *)&conn->tcp, on_closed);
}

/* The client left, or must go. The handler hears of it unless its answer has ended. */
static void lose_conn(struct wr_conn *conn)
{
    if (conn->state == WR_CONN_CLOSED)
        return;
    void *exchange = conn->exchange;
    conn->exchange = NULL;
    close_conn(conn);
    if (exchange)
        conn->handler->gone(exchange);
}

/* ---- reading ---- */

static void on_alloc(uv_handle_t *handle, size_t bytes, uv_buf_t *buf)
{
    struct wr_conn *conn = handle->data;
    char *place = NULL;
    if (conn->exchange && !conn->tls && conn->handler->body_place && conn->state == WR_CONN_BODY)
        place = conn->handler->body_place(conn->exchange, &bytes);
    *buf = place ? uv_buf_init(place, (unsigned)bytes)
                 : uv_buf_init(conn->server->read_bytes, WR_CONN_READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buf);

/* True: it was not read, and now is. */
static bool start_reading(struct wr_conn *conn)
{
    return conn->state != WR_CONN_CLOSED &&
           !uv_read_start((uv_stream_t *)&conn->tcp, on_alloc, on_read);
}

static void stop_reading(struct wr_conn *conn)
{
    if (conn->state != WR_CONN_CLOSED)
        (void)uv_read_stop((uv_stream_t *)&conn->tcp);
}

void wr_conn_pause(struct wr_conn *conn)
{
    conn->is_paused = true;
    stop_reading(conn);
}

void wr_conn_resume(struct wr_conn *conn)
{
    if (!conn->is_paused)
        return;
    conn->is_paused = false;
    give_time(conn, conn->server->limits.body_idle_ms_max);
    (void)start_reading(conn);
}

/* ---- writing ---- */

bool wr_conn_has_room(struct wr_conn *conn)
{
    return wr_outflow_has_room(&conn->out);
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
    (void)req;
    (void)status;
}

/* Closes our side, and throws away what still comes for a while. Closing at once would turn into a
 * reset if the client had sent bytes that nobody read, and a reset can destroy the answer on its
 * way. */
static void shut_down_conn(struct wr_conn *conn)
{
    conn->state = WR_CONN_LINGERING;
    give_time(conn, LINGER_MS);
    if (uv_shutdown(&conn->shutdown, (uv_stream_t *)&conn->tcp, on_shutdown) < 0)
        close_conn(conn);
    else
        (void)start_reading(conn);
}

/* Called after everything that makes the queue shorter, and never from inside the handler. */
static void settle_out(struct wr_conn *conn)
{
    switch (wr_outflow_settle(&conn->out)) {
    case WR_OUTFLOW_HAS_ROOM:
        if (conn->exchange)
            conn->handler->room(conn->exchange);
        break;
    case WR_OUTFLOW_IS_GONE:
        if (conn->state == WR_CONN_CUT)
            reset_conn(conn);
        else
            shut_down_conn(conn);
        break;
    case WR_OUTFLOW_IS_BROKEN:
        lose_conn(conn);
        break;
    case WR_OUTFLOW_NO_NEWS:
        break;
    }
}

static void on_written(uv_write_t *req, int status)
{
    struct write_req *write = (struct write_req *)req;
    struct wr_conn *conn = req->data;

    wr_buf_release(&write->bytes);
    free(write);
    if (conn->state == WR_CONN_CLOSED)
        return;
    if (status < 0)
        wr_outflow_fail(&conn->out);
    settle_out(conn);
}

static ssize_t write_now(void *user, weir_span bytes)
{
    struct wr_conn *conn = user;
    uv_buf_t buf = uv_buf_init((char *)(uintptr_t)bytes.ptr, (unsigned)bytes.len);
    int sent = uv_try_write((uv_stream_t *)&conn->tcp, &buf, 1);
    return sent == UV_EAGAIN ? 0 : sent < 0 ? -1 : sent;
}

static bool write_later(void *user, struct wr_buf *bytes, size_t from)
{
    struct wr_conn *conn = user;
    struct write_req *write = calloc(1, sizeof(*write));
    if (!write)
        return false;
    write->bytes = *bytes;
    write->req.data = conn;
    uv_buf_t buf = uv_buf_init(bytes->bytes + from, (unsigned)(bytes->len - from));
    if (!uv_write(&write->req, (uv_stream_t *)&conn->tcp, &buf, 1, on_written))
        return true;
    free(write);
    return false;
}

static size_t waiting_bytes(void *user)
{
    const struct wr_conn *conn = user;
    return uv_stream_get_write_queue_size((const uv_stream_t *)&conn->tcp);
}

static const struct wr_outflow_writer tcp_writer = {write_now, write_later, waiting_bytes};

static void mark_dirty(struct wr_conn *conn)
{
    wr_outflow_added(&conn->out);
    if (conn->is_dirty)
        return;
    conn->is_dirty = true;
    conn->next_dirty = conn->server->dirty;
    conn->server->dirty = conn;
}

struct wr_buf *wr_conn_out(struct wr_conn *conn)
{
    return conn->tls ? wr_tls_buf(conn->tls) : wr_outflow_buf(&conn->out);
}

void wr_conn_added(struct wr_conn *conn)
{
    if (conn->state == WR_CONN_CLOSED)
        return;
    if (conn->tls && !wr_tls_seal(conn->tls, wr_outflow_buf(&conn->out)))
        wr_outflow_fail(&conn->out);
    mark_dirty(conn);
}

static void accept_if_room(struct wr_server *server);

static void on_turn(uv_prepare_t *turn)
{
    struct wr_server *server = turn->data;
    if (server->is_accept_due)
        accept_if_room(server);
    while (server->dirty) {
        struct wr_conn *conn = server->dirty;
        server->dirty = conn->next_dirty;
        conn->is_dirty = false;
        wr_outflow_hand_on(&conn->out);
        settle_out(conn);
        if (conn->state == WR_CONN_ANSWERED)
            next_request(conn);
    }
}

/* ---- requests ---- */

static void on_head(void *user, const struct wr_head *head)
{
    struct wr_conn *conn = user;
    bool has_body = head->is_chunked || head->content_bytes > 0;

    conn->state = has_body ? WR_CONN_BODY : WR_CONN_WHOLE;
    conn->head = head;
    conn->keeps_connection = head->keeps_connection;
    give_time(conn, conn->server->limits.body_idle_ms_max);
    conn->handler = conn->server->handler;
    void *exchange = conn->server->handler->begin(conn->server->user, conn, head);
    if (!wr_conn_is_answerable(conn))
        return;
    conn->exchange = exchange;
    if (head->expects_continue && has_body && conn->framing == WR_FRAMING_NONE) {
        wr_buf_text(wr_conn_out(conn), "HTTP/1.1 100 Continue\r\n\r\n");
        wr_conn_added(conn);
    }
}

static void on_body(void *user, weir_span bytes)
{
    struct wr_conn *conn = user;
    if (conn->exchange)
        conn->handler->body(conn->exchange, bytes);
}

static void on_body_end(void *user)
{
    struct wr_conn *conn = user;
    if (conn->state == WR_CONN_BODY)
        conn->state = WR_CONN_WHOLE;
    if (conn->exchange)
        conn->handler->body_end(conn->exchange);
}

static const struct wr_request_events request_events = {on_head, on_body, on_body_end};

static void refuse_message(struct wr_conn *conn)
{
    const char *why;
    int status = wr_request_reader_refusal(conn->reader, &why);
    char body[256];

    conn->server->handler->refused(conn->server->user, status ? status : 500);
    if (conn->framing != WR_FRAMING_NONE || !status) {
        lose_conn(conn);
        return;
    }
    int bytes = snprintf(body, sizeof(body),
                         "{\"error\":{\"type\":\"weir_refused\",\"message\":\"weir: %s\"}}\n", why);
    void *exchange = conn->exchange;
    conn->exchange = NULL;
    if (exchange)
        conn->handler->gone(exchange);
    conn->head = NULL;
    conn->keeps_connection = false;
    wr_conn_reply(conn, status, "application/json", (weir_span){body, (size_t)bytes});
}

/* Requests sent ahead wait; a client that sends more of them than fits is not read on. */
static void keep_ahead(struct wr_conn *conn, weir_span bytes)
{
    wr_buf_append(&conn->ahead, bytes);
    if (wr_buf_status(&conn->ahead))
        lose_conn(conn);
    else if (conn->ahead.len >= WR_NET_HEAD_BYTES_MAX)
        stop_reading(conn);
}

static void feed_reader(struct wr_conn *conn, weir_span bytes)
{
    size_t used_bytes = 0;

    if (conn->state == WR_CONN_WAITING) {
        conn->state = WR_CONN_HEAD;
        give_time(conn, conn->server->limits.head_ms_max);
    } else if (conn->state != WR_CONN_HEAD) {
        give_time(conn, conn->server->limits.body_idle_ms_max);
    }
    weir_status status = wr_request_reader_feed(conn->reader, bytes, &used_bytes);
    if (!wr_conn_is_open(conn))
        return;
    if (status)
        refuse_message(conn);
    else if (used_bytes < bytes.len)
        keep_ahead(conn, wr_span_cut(bytes, used_bytes, bytes.len));
}

static bool on_plain(void *user, weir_span plain)
{
    struct wr_conn *conn = user;

    if (wr_conn_is_open(conn))
        feed_reader(conn, plain);
    return conn->state != WR_CONN_CLOSED;
}

/* What cannot be agreed on is told to the client before the connection ends. */
static void feed_tls(struct wr_conn *conn, weir_span wire)
{
    struct wr_buf *out = wr_outflow_buf(&conn->out);
    enum wr_tls_news news = wr_tls_feed(conn->tls, wire, out, on_plain, conn);

    if (conn->state == WR_CONN_CLOSED)
        return;
    if (news == WR_TLS_ENDED || (news == WR_TLS_FAILED && conn->state != WR_CONN_WAITING)) {
        lose_conn(conn);
    } else if (news == WR_TLS_FAILED) {
        conn->server->handler->refused(conn->server->user, 0);
        conn->state = WR_CONN_LAST;
        wr_outflow_end(&conn->out);
        mark_dirty(conn);
    } else if (out->len) {
        mark_dirty(conn);
    }
}

static void on_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buf)
{
    struct wr_conn *conn = stream->data;

    if (bytes < 0)
        lose_conn(conn);
    else if (bytes && conn->tls && wr_conn_is_open(conn))
        feed_tls(conn, (weir_span){buf->base, (size_t)bytes});
    else if (bytes && wr_conn_is_open(conn))
        feed_reader(conn, (weir_span){buf->base, (size_t)bytes});
}

static void next_request(struct wr_conn *conn)
{
    struct wr_buf ahead = conn->ahead;

    wr_request_reader_next(conn->reader);
    conn->state = WR_CONN_WAITING;
    conn->head = NULL;
    conn->is_paused = false;
    conn->framing = WR_FRAMING_NONE;
    give_time(conn, conn->server->limits.keep_ms_max);
    wr_buf_init(&conn->ahead, WR_NET_HEAD_BYTES_MAX + WR_CONN_READ_BYTES + WR_NET_TLS_RECORD_BYTES);
    if (conn->server->is_draining && !ahead.len)
        close_conn(conn);
    else
        (void)start_reading(conn);
    if (ahead.len)
        feed_reader(conn, wr_buf_view(&ahead));
    wr_buf_release(&ahead);
}

/* ---- time ---- */

static bool is_stalled(struct wr_conn *conn)
{
    uint64_t gone_bytes = wr_outflow_gone_bytes(&conn->out);
    bool takes_some = !wr_outflow_queued_bytes(&conn->out) || gone_bytes > conn->gone_bytes_last;

    conn->gone_bytes_last = gone_bytes;
    if (takes_some)
        give_time(conn, conn->server->limits.write_idle_ms_max);
    return now_ms(conn) > conn->deadline_ms;
}

/* Whether an answer is under way. Then it only matters whether the client takes it. */
static bool is_answering(const struct wr_conn *conn)
{
    if (conn->exchange)
        return conn->state == WR_CONN_WHOLE || conn->is_paused;
    return conn->state == WR_CONN_LAST || conn->state == WR_CONN_CUT ||
           (conn->state == WR_CONN_WAITING && wr_outflow_queued_bytes(&conn->out));
}

static void check_time(struct wr_conn *conn)
{
    if (is_answering(conn) ? is_stalled(conn) : now_ms(conn) > conn->deadline_ms)
        lose_conn(conn);
}

static void on_tick(uv_timer_t *tick)
{
    struct wr_server *server = tick->data;
    struct wr_conn *next;
    for (struct wr_conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        check_time(conn);
    }
}

/* ---- accepting ---- */

static const char busy[] = "{\"error\":{\"type\":\"weir_busy\",\"message\":"
                           "\"weir: too many connections are open; try again soon\"}}\n";

/* Tells a client that we are busy, before it has asked anything. What it asks is still read and
 * thrown away: otherwise closing would be a reset, which could overtake the answer. */
static void turn_away(struct wr_conn *conn)
{
    conn->server->handler->refused(conn->server->user, 503);
    wr_buf_printf(wr_conn_out(conn),
                  "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
                  "Retry-After: " WR_RETRY_AFTER_S "\r\nContent-Length: %zu\r\n"
                  "Connection: close\r\n\r\n%s",
                  sizeof(busy) - 1, busy);
    give_time(conn, conn->server->limits.head_ms_max);
    wr_conn_finish(conn, WR_CONN_LAST);
}

static bool take_conn(struct wr_server *server, struct wr_conn *conn)
{
    (void)uv_tcp_nodelay(&conn->tcp, 1);
    if (server->conns_count > server->limits.connections_max) {
        /* What we are busy with could only be said behind a handshake, which is more work. */
        if (server->tls)
            return false;
        turn_away(conn);
        return true;
    }
    conn->tls = server->tls ? wr_tls_conn_new(server->tls) : NULL;
    if (server->tls && !conn->tls)
        return false;
    conn->reader = wr_request_reader_new(&request_events, conn);
    if (!conn->reader)
        return false;
    /* A handshake takes no longer than a head may. */
    give_time(conn, conn->tls ? server->limits.head_ms_max : server->limits.keep_ms_max);
    return start_reading(conn);
}

static void accept_conn(struct wr_server *server, struct wr_conn *conn)
{
    conn->tcp.data = conn;
    conn->server = server;
    wr_outflow_init(&conn->out, &wr_outflow_marks_default, &tcp_writer, conn);
    wr_buf_init(&conn->ahead, WR_NET_HEAD_BYTES_MAX + WR_CONN_READ_BYTES + WR_NET_TLS_RECORD_BYTES);
    conn->next = server->conns;
    if (server->conns)
        server->conns->prev = conn;
    server->conns = conn;
    server->conns_count++;
    if (uv_accept((uv_stream_t *)&server->listener, (uv_stream_t *)&conn->tcp) < 0 ||
        !take_conn(server, conn))
        close_conn(conn);
}

/* While we leave a connection with libuv, libuv accepts no other. The others wait in the system's
 * queue, where they need no descriptor. If libuv ran out of descriptors, it would accept them and
 * close them unanswered. */
static void accept_if_room(struct wr_server *server)
{
    bool has_room = server->conns_count < server->limits.connections_max + WR_NET_REFUSED_MAX;
    struct wr_conn *conn = has_room && !server->is_draining ? calloc(1, sizeof(*conn)) : NULL;

    server->is_accept_due = !conn;
    if (!conn)
        return;
    if (uv_tcp_init(server->loop, &conn->tcp) < 0) {
        free(conn);
        server->is_accept_due = true;
        return;
    }
    accept_conn(server, conn);
}

static void on_connection(uv_stream_t *listener, int status)
{
    if (status >= 0)
        accept_if_room(listener->data);
}

/* ---- life ---- */

weir_status wr_server_new(struct wr_server **server, uv_loop_t *loop,
                          const struct wr_server_options *options,
                          const struct wr_server_handler *handler, void *user, struct weir_err *err)
{
    struct wr_server *s = calloc(1, sizeof(*s));
    *server = s;
    if (!s)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    s->loop = loop;
    s->limits = options->limits;
    s->limits.connections_max = wr_fd_room_exchanges(s->limits.connections_max);
    s->handler = handler;
    s->user = user;
    s->listener.data = s->tick.data = s->turn.data = s;
    int fd = dup(options->listener);
    int result = fd < 0 ? UV_EMFILE : uv_tcp_init(loop, &s->listener);
    if (!result)
        result = uv_tcp_open(&s->listener, fd);
    if (!result)
        result = uv_listen((uv_stream_t *)&s->listener, BACKLOG, on_connection);
    if (!result)
        result = uv_timer_init(loop, &s->tick);
    if (!result)
        result = uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS);
    if (!result)
        result = uv_prepare_init(loop, &s->turn);
    if (!result)
        result = uv_prepare_start(&s->turn, on_turn);
    return result ? wr_fail(err, WEIR_IO, 0, "cannot serve: %s", uv_strerror(result)) : WEIR_OK;
}

size_t wr_server_connections(const struct wr_server *server)
{
    return server->conns_count;
}

static void close_handle(uv_handle_t *handle)
{
    if (handle->type != UV_UNKNOWN_HANDLE && !uv_is_closing(handle))
        uv_close(handle, NULL);
}

void wr_server_drain(struct wr_server *server)
{
    struct wr_conn *next;

    server->is_draining = true;
    close_handle((uv_handle_t *)&server->listener);
    for (struct wr_conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        if (conn->state == WR_CONN_WAITING && !wr_outflow_queued_bytes(&conn->out))
            close_conn(conn);
    }
}

void wr_server_close(struct wr_server *server)
{
    wr_server_drain(server);
    while (server->conns)
        lose_conn(server->conns);
    close_handle((uv_handle_t *)&server->tick);
    close_handle((uv_handle_t *)&server->turn);
}

void wr_server_set_tls(struct wr_server *server, struct wr_tls *tls)
{
    wr_tls_free(server->tls);
    server->tls = tls;
}

void wr_server_free(struct wr_server *server)
{
    if (server)
        wr_tls_free(server->tls);
    free(server);
}

/* ==== room ==== */

uint32_t wr_fd_room_of(uint64_t fds_max, uint32_t wanted)
{
    uint64_t room = fds_max > WR_NET_FDS_KEPT ? (fds_max - WR_NET_FDS_KEPT) / 2 : 0;

    if (room >= wanted)
        return wanted;
    return room ? (uint32_t)room : 1;
}

uint32_t wr_fd_room_exchanges(uint32_t wanted)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return wanted;
    return wr_fd_room_of((uint64_t)limit.rlim_cur, wanted);
}
