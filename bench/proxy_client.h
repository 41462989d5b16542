/* proxy_client.h -- a load generator: connections that each send a request, read its answer, and
 * send the next. */
#ifndef BENCH_PROXY_CLIENT_H
#define BENCH_PROXY_CLIENT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { CLIENT_BUF_BYTES = 64 * 1024 };

struct load; /* one run */

struct client_conn {
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_write_t write;
    struct load *load;
    uint64_t sent_ns, first_ns;
    size_t head_len;
    long body_left; /* of Content-Length */
    bool is_chunked, is_in_body;
    char tail[8]; /* the last bytes of a chunked body: its end is "0\r\n\r\n" */
    size_t tail_len;
    int event_expected; /* of a stream: the number its next event must have */
    char line[512];
    size_t line_len;
    char head[4 * 1024];
    const char *out; /* what it is to send; where it was asked for */
    size_t out_len;
};

struct load {
    uv_loop_t *loop;
    int port;
    size_t conns_count;
    const char *request; /* the same for all; or NULL: asked for */
    size_t request_len;
    void (*next)(struct client_conn *conn); /* sets out and out_len; where there is no request */
    size_t requests_max;                    /* how many in all */
    size_t sent_count, done_count, failed_count, out_of_order_count, events_count;
    uint64_t *latency_ns;    /* of each, requests_max long */
    uint64_t *first_byte_ns; /* the same */
    bool checks_events;
    struct client_conn *conns;
};

static char client_buf[CLIENT_BUF_BYTES];

static inline void client_send(struct client_conn *conn);

static inline void client_closed(uv_handle_t *handle)
{
    (void)handle;
}

static inline void client_done(struct client_conn *conn)
{
    struct load *load = conn->load;
    uint64_t now = uv_hrtime();

    load->latency_ns[load->done_count] = now - conn->sent_ns;
    load->first_byte_ns[load->done_count] = conn->first_ns - conn->sent_ns;
    load->done_count++;
    if (load->sent_count < load->requests_max)
        client_send(conn);
    else
        uv_close((uv_handle_t *)&conn->tcp, client_closed);
}

/* Events carry a number: none may be missing, doubled or early. */
static inline void client_check(struct client_conn *conn, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != '\n') {
            if (conn->line_len + 1 < sizeof(conn->line))
                conn->line[conn->line_len++] = bytes[i];
            continue;
        }
        conn->line[conn->line_len] = '\0';
        conn->line_len = 0;
        const char *number = strncmp(conn->line, "data: ", 6) ? NULL : strstr(conn->line, "\"n\":");
        if (!number)
            continue;
        conn->load->events_count++;
        if (strtol(number + 4, NULL, 10) != conn->event_expected)
            conn->load->out_of_order_count++;
        conn->event_expected++;
    }
}

static inline bool client_chunks_end(struct client_conn *conn, const char *bytes, size_t len)
{
    for (size_t i = len > 5 ? len - 5 : 0; i < len; i++) {
        if (conn->tail_len == 5) {
            memmove(conn->tail, conn->tail + 1, 4);
            conn->tail_len = 4;
        }
        conn->tail[conn->tail_len++] = bytes[i];
    }
    return conn->tail_len == 5 && !memcmp(conn->tail, "0\r\n\r\n", 5);
}

static inline size_t client_head(struct client_conn *conn, const char *bytes, size_t len)
{
    size_t had = conn->head_len, room = sizeof(conn->head) - 1 - had;
    size_t take = len < room ? len : room;

    memcpy(conn->head + had, bytes, take);
    conn->head_len += take;
    conn->head[conn->head_len] = '\0';
    const char *end = strstr(conn->head, "\r\n\r\n");
    if (!end)
        return take;
    if (strncmp(conn->head, "HTTP/1.1 200", 12))
        conn->load->failed_count++;
    const char *length = strcasestr(conn->head, "content-length:");
    conn->is_chunked = !length;
    conn->body_left = length ? strtol(length + 15, NULL, 10) : 0;
    conn->is_in_body = true;
    return (size_t)(end - conn->head) + 4 - had;
}

static inline void client_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buf)
{
    struct client_conn *conn = stream->data;
    size_t at = 0;

    if (bytes < 0) {
        conn->load->failed_count++;
        uv_close((uv_handle_t *)stream, client_closed);
        return;
    }
    if (!conn->is_in_body)
        at = client_head(conn, buf->base, (size_t)bytes);
    if (!conn->is_in_body)
        return;
    const char *body = buf->base + at;
    size_t len = (size_t)bytes - at;
    if (len && !conn->first_ns)
        conn->first_ns = uv_hrtime();
    if (conn->load->checks_events)
        client_check(conn, body, len);
    conn->body_left -= (long)len;
    if (conn->is_chunked ? client_chunks_end(conn, body, len) : conn->body_left <= 0)
        client_done(conn);
}

static inline void client_alloc(uv_handle_t *handle, size_t bytes, uv_buf_t *buf)
{
    (void)handle;
    (void)bytes;
    *buf = uv_buf_init(client_buf, sizeof(client_buf));
}

static inline void client_written(uv_write_t *req, int status)
{
    (void)req;
    (void)status;
}

static inline void client_send(struct client_conn *conn)
{
    struct load *load = conn->load;

    if (load->next)
        load->next(conn);
    const char *out = load->next ? conn->out : load->request;
    size_t out_len = load->next ? conn->out_len : load->request_len;
    uv_buf_t buf = uv_buf_init((char *)(uintptr_t)out, (unsigned)out_len);

    load->sent_count++;
    conn->head_len = conn->tail_len = conn->line_len = 0;
    conn->is_in_body = false;
    conn->first_ns = 0;
    conn->event_expected = 0;
    conn->sent_ns = uv_hrtime();
    if (uv_write(&conn->write, (uv_stream_t *)&conn->tcp, &buf, 1, client_written))
        load->failed_count++;
}

static inline void client_connected(uv_connect_t *req, int status)
{
    struct client_conn *conn = req->data;
    if (status < 0) {
        conn->load->failed_count++;
        uv_close((uv_handle_t *)&conn->tcp, client_closed);
        return;
    }
    uv_tcp_nodelay(&conn->tcp, 1);
    uv_read_start((uv_stream_t *)&conn->tcp, client_alloc, client_read);
    client_send(conn);
}

static inline void load_begin(struct load *load)
{
    struct sockaddr_in address;

    uv_ip4_addr("127.0.0.1", load->port, &address);
    load->latency_ns = calloc(load->requests_max + load->conns_count, sizeof(uint64_t));
    load->first_byte_ns = calloc(load->requests_max + load->conns_count, sizeof(uint64_t));
    load->conns = calloc(load->conns_count, sizeof(*load->conns));
    if (!load->latency_ns || !load->first_byte_ns || !load->conns)
        abort();
    for (size_t i = 0; i < load->conns_count; i++) {
        struct client_conn *conn = &load->conns[i];
        conn->load = load;
        conn->tcp.data = conn->connect.data = conn;
        uv_tcp_init(load->loop, &conn->tcp);
        uv_tcp_connect(&conn->connect, &conn->tcp, (struct sockaddr *)&address, client_connected);
    }
}

static inline int load_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The value below which `percent` of those done lie, in milliseconds. */
static inline double load_percentile_ms(uint64_t *values_ns, size_t count, int percent)
{
    if (!count)
        return 0;
    qsort(values_ns, count, sizeof(*values_ns), load_compare);
    return (double)values_ns[(count - 1) * (size_t)percent / 100] / 1e6;
}

static inline void load_free(struct load *load)
{
    free(load->latency_ns);
    free(load->first_byte_ns);
    free(load->conns);
}

#endif
