/* proxy_upstream.h -- an upstream for measuring: answers at once, in a process of its own.
 *
 * A request with `"stream":true` is answered by events, EVENTS_PER_S a second, numbered, for as
 * many as its header `x-events` says; all others by one small JSON object.
 */
#ifndef BENCH_PROXY_UPSTREAM_H
#define BENCH_PROXY_UPSTREAM_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

enum { UPSTREAM_BUF_BYTES = 64 * 1024, UPSTREAM_EVENTS_PER_S = 5 };

struct upstream_conn {
    uv_tcp_t tcp;
    uv_timer_t timer;
    size_t head_len; /* of what came of a head */
    long body_left;  /* bytes; -1: the head is not complete */
    bool is_stream;
    int events_left, event;
    char head[8 * 1024];
};

static char upstream_buf[UPSTREAM_BUF_BYTES];

static const char upstream_answer[] =
    "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"model\":\"gpt-5\",\"choices\":[{"
    "\"index\":0,"
    "\"message\":{\"role\":\"assistant\",\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}],"
    "\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":2,\"total_tokens\":14}}";

struct upstream_write {
    uv_write_t req;
    char bytes[1024];
};

static void upstream_written(uv_write_t *req, int status)
{
    (void)status;
    free(req);
}

static void upstream_send(struct upstream_conn *conn, const char *bytes, size_t len)
{
    struct upstream_write *write = malloc(sizeof(*write));
    if (!write || len > sizeof(write->bytes))
        abort();
    memcpy(write->bytes, bytes, len);
    uv_buf_t buf = uv_buf_init(write->bytes, (unsigned)len);
    if (uv_write(&write->req, (uv_stream_t *)&conn->tcp, &buf, 1, upstream_written))
        free(write);
}

static void upstream_event(uv_timer_t *timer)
{
    struct upstream_conn *conn = timer->data;
    char data[256], chunk[320];
    int bytes = snprintf(data, sizeof(data),
                         "data: {\"id\":\"c\",\"n\":%d,\"choices\":[{\"index\":0,\"delta\":{"
                         "\"content\":\"word \"}}]}\n\n",
                         conn->event++);
    int total = snprintf(chunk, sizeof(chunk), "%x\r\n%s\r\n", (unsigned)bytes, data);
    upstream_send(conn, chunk, (size_t)total);
    if (--conn->events_left > 0)
        return;
    uv_timer_stop(timer);
    upstream_send(conn, "0\r\n\r\n", 5);
}

static void upstream_reply(struct upstream_conn *conn)
{
    char out[1024];
    int bytes;

    if (conn->is_stream) {
        static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                   "Transfer-Encoding: chunked\r\n\r\n";
        upstream_send(conn, head, sizeof(head) - 1);
        conn->event = 0;
        uv_timer_start(&conn->timer, upstream_event, 0, 1000 / UPSTREAM_EVENTS_PER_S);
    } else {
        bytes = snprintf(out, sizeof(out),
                         "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                         "%zu\r\n\r\n%s",
                         sizeof(upstream_answer) - 1, upstream_answer);
        upstream_send(conn, out, (size_t)bytes);
    }
    conn->head_len = 0;
    conn->body_left = -1;
    conn->is_stream = false;
}

/* The number behind `name` in the head, or -1. */
static long upstream_header(const struct upstream_conn *conn, const char *name)
{
    const char *at = strcasestr(conn->head, name);
    return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

/* Returns how much of the input belongs to the head. */
static size_t upstream_head(struct upstream_conn *conn, const char *bytes, size_t len)
{
    size_t had = conn->head_len, room = sizeof(conn->head) - 1 - had;
    size_t take = len < room ? len : room;

    memcpy(conn->head + had, bytes, take);
    conn->head_len += take;
    conn->head[conn->head_len] = '\0';
    char *end = strstr(conn->head, "\r\n\r\n");
    if (!end)
        return take;
    size_t head_len = (size_t)(end - conn->head) + 4;
    end[2] = '\0';
    long length = upstream_header(conn, "content-length:");
    conn->body_left = length < 0 ? 0 : length;
    conn->events_left = (int)upstream_header(conn, "x-events:");
    conn->is_stream = conn->events_left > 0;
    return head_len - had;
}

static void upstream_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void upstream_timer_closed(uv_handle_t *handle)
{
    struct upstream_conn *conn = handle->data;
    uv_close((uv_handle_t *)&conn->tcp, upstream_closed);
}

static void upstream_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buf)
{
    struct upstream_conn *conn = stream->data;
    size_t at = 0;

    if (bytes < 0) {
        if (!uv_is_closing((uv_handle_t *)&conn->timer))
            uv_close((uv_handle_t *)&conn->timer, upstream_timer_closed);
        return;
    }
    while (at < (size_t)bytes) {
        if (conn->body_left < 0)
            at += upstream_head(conn, buf->base + at, (size_t)bytes - at);
        long here = (long)((size_t)bytes - at);
        if (conn->body_left >= 0) {
            long take = here < conn->body_left ? here : conn->body_left;
            conn->body_left -= take;
            at += (size_t)take;
        }
        if (conn->body_left == 0)
            upstream_reply(conn);
    }
}

static void upstream_alloc(uv_handle_t *handle, size_t bytes, uv_buf_t *buf)
{
    (void)handle;
    (void)bytes;
    *buf = uv_buf_init(upstream_buf, sizeof(upstream_buf));
}

static void upstream_accept(uv_stream_t *listener, int status)
{
    struct upstream_conn *conn = calloc(1, sizeof(*conn));
    if (status < 0 || !conn)
        abort();
    uv_tcp_init(listener->loop, &conn->tcp);
    uv_timer_init(listener->loop, &conn->timer);
    conn->tcp.data = conn->timer.data = conn;
    conn->body_left = -1;
    if (uv_accept(listener, (uv_stream_t *)&conn->tcp))
        abort();
    uv_tcp_nodelay(&conn->tcp, 1);
    uv_read_start((uv_stream_t *)&conn->tcp, upstream_alloc, upstream_read);
}

/* Starts it; its port in *port. It ends with the caller, or by kill(). */
static pid_t upstream_start(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 4096) ||
        getsockname(fd, (struct sockaddr *)&address, &len))
        abort();
    *port = ntohs(address.sin_port);
    pid_t pid = fork();
    if (pid) {
        close(fd);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    uv_tcp_t listener;
    uv_tcp_init(uv_default_loop(), &listener);
    uv_tcp_open(&listener, fd);
    uv_listen((uv_stream_t *)&listener, 4096, upstream_accept);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    _exit(0);
}

#endif
