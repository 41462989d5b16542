/* test_service.h -- for tests: a server of exchanges, its upstream and its clients in one loop.
 *
 * The upstream says what the test has written down for it, answer by answer, and keeps what it was
 * asked. Nobody sleeps: whoever waits runs the loop until what he waits for has happened.
 *
 *     struct test_service *s = test_service_new("mode: active\n");
 *     test_upstream_says(s, TEST_WHOLE("200 OK", "{}"));
 *     struct test_client *c = test_client_post(s, "/v1/chat/completions", "", body);
 *     test_until(s, c->has_ended);
 *     ... test_asked(s, 0), c->got, test_log(s) ...
 *     test_service_free(s);
 */
#ifndef WR_TESTS_TEST_SERVICE_H
#define WR_TESTS_TEST_SERVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/span.h"
#include "json/json.h"
#include "proxy/admit.h"
#include "proxy/call_page.h"
#include "proxy/counts.h"
#include "proxy/exchange.h"
#include "proxy/mcp_page.h"
#include "proxy/projector.h"
#include "proxy/sidecar.h"
#include "proxy/steer_page.h"
#include "proxy/store_state.h"
#include "proxy/traffic_page.h"
#include "tests/test_dir.h"

enum {
    TEST_PEERS_MAX = 256,
    TEST_ASKED_MAX = 256,
    TEST_PATIENCE_S = 240, /* after that nothing will come of it any more */
    TEST_BYTES_MAX = 256 << 20,
};

/* One end of a connection: a client's, or the upstream's. */
struct test_peer {
    uv_tcp_t tcp;
    struct test_service *service;
    struct wr_buf got;
    bool is_open, has_ended;
};

#define test_client test_peer

struct test_service {
    uv_loop_t loop;
    struct wr_config *config;
    struct wr_service service;
    struct wr_server *server;
    int listener, port;
    struct wr_test_dir dir;
    bool keeps_dir;
    struct wr_metrics *metrics;
    struct wr_answers *answers;
    struct wr_crash_table *crashes;
    struct wr_buf log; /* as it was last read */

    uv_timer_t tick; /* wakes whoever waits in vain */
    uv_tcp_t upstream;
    int upstream_port;
    bool is_upstream_open, is_upstream_deaf; /* it hears nobody until test_upstream_hear() */
    const char *says[TEST_ASKED_MAX];        /* NULL: nothing, for now; "": it leaves */
    size_t says_count;
    struct wr_buf asked[TEST_ASKED_MAX]; /* the requests that came whole, head and body */
    size_t asked_count;
    struct test_peer *asker; /* who asked last; NULL: he is gone */
    struct test_peer *peers[TEST_PEERS_MAX];
    size_t peers_count;
};

/* A whole answer: "200 OK", and its body. The upstream writes the rest of the head. */
#define TEST_WHOLE(status, body) "@" status "\n" body

/* Until `what` is true. */
#define test_until(s, what)                                                            \
    do {                                                                               \
        uint64_t until_ = uv_hrtime() + TEST_PATIENCE_S * UINT64_C(1000000000);        \
        while (!(what)) {                                                              \
            (void)uv_run(&(s)->loop, UV_RUN_ONCE);                                     \
            if (uv_hrtime() > until_)                                                  \
                fail_msg("%s:%d: this never happened: %s", __FILE__, __LINE__, #what); \
        }                                                                              \
    } while (0)

/* ---- ends of connections ---- */

static inline struct test_peer *test_peer_new(struct test_service *s)
{
    struct test_peer *peer = calloc(1, sizeof(*peer));

    assert_non_null(peer);
    assert_true(s->peers_count < TEST_PEERS_MAX);
    peer->service = s;
    wr_buf_init(&peer->got, TEST_BYTES_MAX);
    assert_int_equal(uv_tcp_init(&s->loop, &peer->tcp), 0);
    peer->tcp.data = peer;
    peer->is_open = true;
    s->peers[s->peers_count++] = peer;
    return peer;
}

/* It leaves: the other end sees that. */
static inline void test_leave(struct test_peer *peer)
{
    if (peer->service->asker == peer)
        peer->service->asker = NULL;
    if (peer->is_open)
        uv_close((uv_handle_t *)&peer->tcp, NULL);
    peer->is_open = false;
}

static inline void test_on_sent(uv_write_t *write, int status)
{
    (void)status;
    free(write->data);
    free(write);
}

static inline void test_send_bytes(struct test_peer *peer, weir_span bytes)
{
    uv_write_t *write = calloc(1, sizeof(*write));
    char *copy = malloc(bytes.len + 1);

    assert_true(write && copy && peer && peer->is_open);
    memcpy(copy, bytes.ptr, bytes.len);
    write->data = copy;
    uv_buf_t buf = uv_buf_init(copy, (unsigned)bytes.len);
    assert_int_equal(uv_write(write, (uv_stream_t *)&peer->tcp, &buf, 1, test_on_sent), 0);
}

static inline void test_send(struct test_peer *peer, const char *text)
{
    test_send_bytes(peer, wr_span_of(text));
}

static inline void test_on_alloc(uv_handle_t *handle, size_t bytes, uv_buf_t *buf)
{
    static char room[1 << 16];
    (void)handle;
    (void)bytes;
    *buf = uv_buf_init(room, sizeof(room));
}

/* What came is text behind which a NUL stands. */
static inline void test_keep(struct wr_buf *into, weir_span bytes)
{
    wr_buf_append(into, bytes);
    wr_buf_byte(into, '\0');
    assert_int_equal(wr_buf_status(into), WEIR_OK);
    into->len--;
}

static inline const char *test_text(const struct wr_buf *buf)
{
    return buf->len ? buf->bytes : "";
}

/* ---- the upstream ---- */

/* How many bytes the first message takes; 0: it is not all there. One that is chunked is alone. */
static inline size_t test_message_bytes(struct wr_buf *got)
{
    static const char last[] = "0\r\n\r\n";
    char *end = got->len ? strstr(got->bytes, "\r\n\r\n") : NULL;

    if (!end)
        return 0;
    size_t head_bytes = (size_t)(end - got->bytes) + 4;
    *end = '\0';
    const char *size = strcasestr(got->bytes, "content-length:");
    size_t body_bytes = size ? strtoul(size + 15, NULL, 10) : 0;
    bool is_chunked = strcasestr(got->bytes, "transfer-encoding: chunked");
    *end = '\r';
    if (is_chunked)
        return got->len > head_bytes && !strcmp(got->bytes + got->len - strlen(last), last)
                   ? got->len
                   : 0;
    return head_bytes + body_bytes <= got->len ? head_bytes + body_bytes : 0;
}

static inline void test_say_whole(struct test_peer *peer, const char *words)
{
    const char *body = strchr(words, '\n') + 1;
    struct wr_buf answer;

    wr_buf_init(&answer, TEST_BYTES_MAX);
    wr_buf_printf(&answer,
                  "HTTP/1.1 %.*s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                  (int)(body - words - 1), words, strlen(body));
    wr_buf_text(&answer, body);
    assert_int_equal(wr_buf_status(&answer), WEIR_OK);
    test_send_bytes(peer, wr_buf_view(&answer));
    wr_buf_release(&answer);
}

/* Says it to whoever asked last. What holds "connection: close" is the last thing it says. */
static inline void test_say(struct test_service *s, const char *words)
{
    struct test_peer *peer = s->asker;

    assert_non_null(peer);
    if (*words == '@')
        test_say_whole(peer, words + 1);
    else if (*words)
        test_send(peer, words);
    if (!*words || strstr(words, "connection: close"))
        test_leave(peer);
}

static inline void test_take_requests(struct test_peer *peer)
{
    struct test_service *s = peer->service;
    size_t bytes;

    while (peer->is_open && (bytes = test_message_bytes(&peer->got))) {
        assert_true(s->asked_count < TEST_ASKED_MAX);
        struct wr_buf *asked = &s->asked[s->asked_count];
        wr_buf_init(asked, TEST_BYTES_MAX);
        test_keep(asked, (weir_span){peer->got.bytes, bytes});
        memmove(peer->got.bytes, peer->got.bytes + bytes, peer->got.len - bytes + 1);
        peer->got.len -= bytes;
        s->asker = peer;
        const char *words = s->asked_count < s->says_count ? s->says[s->asked_count] : NULL;
        s->asked_count++;
        if (words)
            test_say(s, words);
    }
}

static inline void test_on_asked(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buf)
{
    struct test_peer *peer = stream->data;

    if (bytes < 0) {
        peer->has_ended = true;
        test_leave(peer);
    } else if (bytes) {
        test_keep(&peer->got, (weir_span){buf->base, (size_t)bytes});
        test_take_requests(peer);
    }
}

static inline void test_upstream_hear(struct test_peer *peer)
{
    assert_int_equal(uv_read_start((uv_stream_t *)&peer->tcp, test_on_alloc, test_on_asked), 0);
}

static inline void test_on_connection(uv_stream_t *stream, int status)
{
    struct test_peer *peer = test_peer_new(stream->data);

    assert_int_equal(status, 0);
    assert_int_equal(uv_accept(stream, (uv_stream_t *)&peer->tcp), 0);
    if (!((struct test_service *)stream->data)->is_upstream_deaf)
        test_upstream_hear(peer);
}

/* What it says next, to a request that is yet to come. */
static inline void test_upstream_says(struct test_service *s, const char *words)
{
    assert_true(s->says_count < TEST_ASKED_MAX);
    s->says[s->says_count++] = words;
}

/* The body of a request that it was asked. */
static inline weir_span test_asked(const struct test_service *s, size_t i)
{
    assert_true(i < s->asked_count);
    const char *text = test_text(&s->asked[i]), *body = strstr(text, "\r\n\r\n") + 4;
    return (weir_span){body, s->asked[i].len - (size_t)(body - text)};
}

static inline void test_upstream_open(struct test_service *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int at_bytes = sizeof(at);

    assert_int_equal(uv_tcp_init(&s->loop, &s->upstream), 0);
    s->upstream.data = s;
    assert_int_equal(uv_tcp_bind(&s->upstream, (struct sockaddr *)&at, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&s->upstream, 16, test_on_connection), 0);
    assert_int_equal(uv_tcp_getsockname(&s->upstream, (struct sockaddr *)&at, &at_bytes), 0);
    s->upstream_port = ntohs(at.sin_port);
    s->is_upstream_open = true;
}

/* Nobody listens there any more, and nobody who was heard is. */
static inline void test_upstream_close(struct test_service *s)
{
    if (s->is_upstream_open)
        uv_close((uv_handle_t *)&s->upstream, NULL);
    s->is_upstream_open = false;
}

/* ---- clients ---- */

static inline void test_on_answer(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buf)
{
    struct test_client *client = stream->data;

    if (bytes < 0)
        client->has_ended = true;
    else if (bytes)
        test_keep(&client->got, (weir_span){buf->base, (size_t)bytes});
}

static inline void test_client_listen(struct test_client *client)
{
    assert_int_equal(uv_read_start((uv_stream_t *)&client->tcp, test_on_alloc, test_on_answer), 0);
}

/* One that is connected and has said nothing. */
static inline struct test_client *test_client_new(struct test_service *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)s->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct test_client *client = test_peer_new(s);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(uv_tcp_open(&client->tcp, fd), 0);
    test_client_listen(client);
    return client;
}

/* A request with a body, on a connection that stays. `headers` end in CRLF each; "": none. */
static inline void test_post_on(struct test_client *client, const char *path, const char *headers,
                                weir_span body)
{
    struct wr_buf request;

    wr_buf_init(&request, TEST_BYTES_MAX);
    wr_buf_printf(&request, "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n",
                  path, headers, body.len);
    wr_buf_append(&request, body);
    assert_int_equal(wr_buf_status(&request), WEIR_OK);
    test_send_bytes(client, wr_buf_view(&request));
    wr_buf_release(&request);
}

static inline struct test_client *test_client_post(struct test_service *s, const char *path,
                                                   const char *headers, weir_span body)
{
    struct test_client *client = test_client_new(s);
    test_post_on(client, path, headers, body);
    return client;
}

/* A request without one: "GET /healthz". */
static inline struct test_client *test_client_ask(struct test_service *s, const char *line,
                                                  const char *headers)
{
    struct test_client *client = test_client_new(s);
    test_send(client, line);
    test_send(client, " HTTP/1.1\r\nHost: localhost\r\n");
    test_send(client, headers);
    test_send(client, "\r\n");
    return client;
}

static inline bool test_has(const struct wr_buf *got, const char *words)
{
    return strstr(test_text(got), words) != NULL;
}

/* The whole of one answer has come: head, and the body that it announces. */
static inline bool test_is_answered(struct test_client *client)
{
    return client->has_ended || test_message_bytes(&client->got) > 0;
}

static inline int test_status(const struct test_client *client)
{
    return client->got.len > 12 ? (int)strtol(client->got.bytes + strlen("HTTP/1.1 "), NULL, 10)
                                : 0;
}

/* ---- calls of the server's own paths ---- */

struct test_call {
    const char *behaviour, *method, *path, *headers, *body;
    int status;
    const char *holds, *lacks; /* the answer, its head too; NULL: nothing is asked of it */
};

/* Whether a body that is called JSON is JSON, all of it. */
static inline bool test_is_json_whole(const struct test_client *client)
{
    const char *body = strstr(test_text(&client->got), "\r\n\r\n");
    struct wr_arena arena;
    struct wr_json doc;
    bool is_whole = true;

    if (!body || !body[4] || !test_has(&client->got, "\r\nContent-Type: application/json\r\n"))
        return true;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    is_whole = !wr_json_parse(&doc, &arena, wr_span_of(body + 4), NULL, NULL);
    wr_arena_release(&arena);
    return is_whole;
}

/* Asks each on a connection of its own, in turn. */
static inline void test_calls(struct test_service *s, const struct test_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct test_client *c = test_client_new(s);
        struct wr_buf request;

        wr_buf_init(&request, TEST_BYTES_MAX);
        wr_buf_printf(
            &request, "%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n%s",
            calls[i].method, calls[i].path, calls[i].headers, strlen(calls[i].body), calls[i].body);
        test_send_bytes(c, wr_buf_view(&request));
        test_until(s, test_is_answered(c) && !atomic_load(s->service.exchanges_open));
        if (test_status(c) != calls[i].status || !test_is_json_whole(c) ||
            (calls[i].holds && !test_has(&c->got, calls[i].holds)) ||
            (calls[i].lacks && test_has(&c->got, calls[i].lacks)))
            fail_msg("%s: %s", calls[i].behaviour, test_text(&c->got));
        wr_buf_release(&request);
    }
}

/* ---- the service ---- */

/* Lines of the log, of exchanges that are over. */
static inline const char *test_log(struct test_service *s)
{
    char path[2 * WR_TEST_PATH_BYTES], bytes[4096];
    size_t got;

    (void)snprintf(path, sizeof(path), "%s/log", s->dir.path);
    wr_log_flush(s->service.log);
    wr_buf_reset(&s->log);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while ((got = fread(bytes, 1, sizeof(bytes), file)) > 0)
        test_keep(&s->log, (weir_span){bytes, got});
    (void)fclose(file);
    return test_text(&s->log);
}

/* No exchange is open, and `count` are in the log. */
static inline bool test_is_told(struct test_service *s, size_t count)
{
    return s->service.requests_count == count && !atomic_load(s->service.exchanges_open);
}

static inline void test_listen(struct test_service *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t at_bytes = sizeof(at);

    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(s->listener >= 0);
    assert_int_equal(bind(s->listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(s->listener, 16), 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&at, &at_bytes), 0);
    s->port = ntohs(at.sin_port);
}

static const char test_policies[] = "policies:\n"
                                    "  small:\n"
                                    "    what: results are cut\n"
                                    "    stages:\n"
                                    "      - {stage: cap, max_tokens: 300, keep: head}\n"
                                    "  tight:\n"
                                    "    what: older results go when there is no room\n"
                                    "    stages:\n"
                                    "      - {stage: clear, at_bp: 8000, trigger_tokens: 100, "
                                    "keep: 1, older_turns: 1}\n";

#define TEST_NO_STORE "# no store\n" /* the front of a weir.yaml */

static inline void test_configure(struct test_service *s, const char *yaml)
{
    char url[64];
    struct weir_err err;

    s->config = wr_config_new();
    assert_non_null(s->config);
    s->config->threads = 1;
    s->config->new_ms_max = s->config->project_ms_max = TEST_PATIENCE_S * 1000;
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1", s->upstream_port);
    assert_int_equal(wr_config_set_upstream(s->config, url, NULL), WEIR_OK);
    assert_int_equal(wr_config_set_text(s->config, &s->config->policy, "small", NULL), WEIR_OK);
    assert_int_equal(wr_config_set_text(s->config, &s->config->store_dir, s->dir.path, NULL),
                     WEIR_OK);
    if (wr_config_read(s->config, wr_span_of(yaml), &err))
        fail_msg("%s", err.text);
    if (!strncmp(yaml, TEST_NO_STORE, strlen(TEST_NO_STORE)))
        s->config->store_dir = NULL;
}

/* As worker.c makes one, with a log in a directory of its own. */
static inline void test_start_service(struct test_service *s)
{
    struct wr_service *v = &s->service;
    const char *dir = s->config->store_dir;
    struct weir_store *store;
    struct wr_fetcher_options fetcher = {.ca_file = NULL};
    char path[2 * WR_TEST_PATH_BYTES];

    if (dir) {
        assert_int_equal(weir_store_open(dir, NULL, &store, NULL, NULL), WEIR_OK);
        wr_store_state_begin(s->metrics, store);
        weir_store_close(store);
    }
    (void)snprintf(path, sizeof(path), "%s/log", s->dir.path);
    *v = (struct wr_service){.loop = &s->loop,
                             .config = s->config,
                             .metrics = s->metrics,
                             .answers = s->answers,
                             .exchanges_open = &s->metrics->exchanges[0],
                             .counts = wr_counts_new(dir),
                             .sessions = wr_sessions_new(),
                             .log = wr_log_open(path),
                             .ledger = dir ? wr_ledger_writer_new(dir, s->metrics) : NULL,
                             .started_ms = wr_clock_ms()};
    v->notes = dir ? wr_notes_new(dir, v->ledger) : NULL;
    struct wr_watch_options watch = {dir, s->answers, v->notes};
    v->watch = wr_watch_new(&watch);
    v->mcp = wr_mcp_page_new(&s->loop, s->config, v);
    v->sidecar = wr_sidecar_page_new(&s->loop, s->config);
    assert_true(v->sessions && v->log && v->watch && v->mcp && v->sidecar && v->counts);
    wr_arena_init(&v->events, WR_ARENA_BYTES_MAX);
    wr_buf_init(&v->line, TEST_BYTES_MAX);
    assert_int_equal(uv_timer_init(&s->loop, &v->deadline), 0);
    assert_int_equal(uv_timer_init(&s->loop, &v->pulse), 0);
    assert_int_equal(wr_fetcher_new(&v->fetcher, &s->loop, &fetcher, NULL), WEIR_OK);
    struct wr_projector_options projector = {.config = s->config,
                                             .policies = wr_span_of(test_policies),
                                             .store_dir = dir,
                                             .sessions = v->sessions,
                                             .answers = v->answers,
                                             .notes = v->notes,
                                             .watch = v->watch,
                                             .crashes = s->crashes,
                                             .metrics = s->metrics,
                                             .counts = v->counts};
    assert_int_equal(wr_projector_new(&v->projector, &s->loop, &projector, NULL), WEIR_OK);
}

static inline void test_on_tick(uv_timer_t *timer)
{
    (void)timer;
}

static inline struct test_service *test_service_of(struct wr_test_dir dir, const char *yaml,
                                                   const struct wr_server_handler *handler,
                                                   void *user, struct wr_metrics *metrics)
{
    struct test_service *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    s->dir = dir;
    s->metrics = metrics;
    s->answers = wr_answers_new();
    s->crashes = wr_crash_table_new();
    wr_buf_init(&s->log, TEST_BYTES_MAX);
    assert_int_equal(uv_loop_init(&s->loop), 0);
    assert_int_equal(uv_timer_init(&s->loop, &s->tick), 0);
    assert_int_equal(uv_timer_start(&s->tick, test_on_tick, 1000, 1000), 0);
    test_upstream_open(s);
    test_configure(s, yaml);
    test_start_service(s);
    test_listen(s);
    struct wr_server_options server = {.listener = s->listener, .limits = s->config->limits};
    assert_int_equal(wr_server_new(&s->server, &s->loop, &server,
                                   handler ? handler : &wr_exchange_handler,
                                   handler ? user : &s->service, NULL),
                     WEIR_OK);
    return s;
}

static inline struct test_service *test_service_in(struct wr_test_dir dir, const char *yaml,
                                                   const struct wr_server_handler *handler,
                                                   void *user)
{
    return test_service_of(dir, yaml, handler, user, wr_metrics_new());
}

/* Another worker of the same server: the store and what is in shared memory is all they share. */
static inline struct test_service *test_service_beside(const struct test_service *first)
{
    struct test_service *s = test_service_of(first->dir, "", NULL, NULL, first->metrics);
    s->keeps_dir = true;
    return s;
}

/* `yaml` is what weir.yaml says beside the upstream. Its own server: `handler` with `user`; NULL:
 * that of exchanges. */
static inline struct test_service *test_service_with(const char *yaml,
                                                     const struct wr_server_handler *handler,
                                                     void *user)
{
    return test_service_in(wr_test_dir_fast(), yaml, handler, user);
}

static inline struct test_service *test_service_new(const char *yaml)
{
    return test_service_with(yaml, NULL, NULL);
}

static inline void test_free_service(struct wr_service *v)
{
    wr_projector_free(v->projector);
    wr_watch_free(v->watch);
    wr_notes_free(v->notes);
    wr_fetcher_free(v->fetcher);
    wr_counts_free(v->counts);
    wr_sessions_free(v->sessions);
    wr_mcp_page_free(v->mcp);
    wr_sidecar_page_free(v->sidecar);
    wr_steer_page_free(v->steer);
    wr_call_page_free(v->calls);
    wr_traffic_page_free(v->traffic);
    wr_gate_free(v->gate);
    wr_log_close(v->log);
    wr_ledger_writer_free(v->ledger);
    wr_arena_release(&v->events);
    wr_buf_release(&v->line);
}

static inline void test_service_free(struct test_service *s)
{
    wr_server_close(s->server);
    wr_projector_close(s->service.projector);
    wr_fetcher_close(s->service.fetcher);
    wr_gate_close(s->service.gate);
    wr_traffic_page_close(s->service.traffic);
    uv_close((uv_handle_t *)&s->service.deadline, NULL);
    uv_close((uv_handle_t *)&s->service.pulse, NULL);
    uv_close((uv_handle_t *)&s->tick, NULL);
    test_upstream_close(s);
    for (size_t i = 0; i < s->peers_count; i++)
        test_leave(s->peers[i]);
    (void)uv_run(&s->loop, UV_RUN_DEFAULT);
    wr_server_free(s->server);
    test_free_service(&s->service);
    assert_int_equal(uv_loop_close(&s->loop), 0);
    (void)close(s->listener);
    for (size_t i = 0; i < s->peers_count; i++) {
        wr_buf_release(&s->peers[i]->got);
        free(s->peers[i]);
    }
    for (size_t i = 0; i < s->asked_count; i++)
        wr_buf_release(&s->asked[i]);
    wr_buf_release(&s->log);
    wr_config_free(s->config);
    if (!s->keeps_dir)
        wr_test_dir_remove(&s->dir);
    free(s);
}

/* Another process: all that it knows is what the first has left in the store. */
static inline struct test_service *test_service_again(struct test_service *s, const char *yaml)
{
    struct wr_test_dir dir = s->dir;
    s->keeps_dir = true;
    test_service_free(s);
    return test_service_in(dir, yaml, NULL, NULL);
}

/* ---- requests ---- */

/* A conversation over chat: `results` files of `lines` lines were read. */
static inline void test_chat(struct wr_buf *body, const char *model, size_t results, size_t lines)
{
    wr_buf_init(body, TEST_BYTES_MAX);
    wr_buf_printf(body,
                  "{\"model\":\"%s\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
                  "\"weir_recall\",\"parameters\":{\"type\":\"object\"}}}],"
                  "\"messages\":[{\"role\":\"user\",\"content\":\"Find it.\"}",
                  model);
    for (size_t i = 0; i < results; i++) {
        wr_buf_printf(body,
                      ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%zu\","
                      "\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":"
                      "\"{\\\"path\\\":\\\"f%zu.c\\\"}\"}}]},"
                      "{\"role\":\"tool\",\"tool_call_id\":\"c%zu\",\"content\":\"",
                      i, i, i);
        for (size_t line = 0; line < lines; line++)
            wr_buf_printf(body, "int number_%zu_of_%zu(void);\\n", line, i);
        wr_buf_text(body, "\"}");
    }
    wr_buf_text(body, "]}");
    assert_int_equal(wr_buf_status(body), WEIR_OK);
}

/* A session of that name, "weir:NAME", of one request that is kept in the store. */
static inline void test_session(struct test_service *s, const char *name)
{
    uint64_t kept = atomic_load(&s->metrics->ledger_rows);
    struct wr_buf body;
    char header[128];

    (void)snprintf(header, sizeof(header), "x-weir-session: %s\r\n", name);
    test_chat(&body, "gpt-5", 3, 40);
    test_upstream_says(s, TEST_WHOLE("200 OK", "{\"choices\":[]}"));
    struct test_client *c = test_client_post(s, "/v1/chat/completions", header, wr_buf_view(&body));
    test_until(s, test_is_answered(c));
    test_until(s, atomic_load(&s->metrics->ledger_rows) > kept);
    wr_buf_release(&body);
}

/* ---- a store that somebody else writes: whoever projects waits for it ---- */

static inline sqlite3 *test_hold_store(const struct test_service *s)
{
    char path[2 * WR_TEST_PATH_BYTES];
    sqlite3 *db;

    (void)snprintf(path, sizeof(path), "%s/store.db", s->dir.path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, TEST_PATIENCE_S * 1000);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static inline void test_let_store_go(sqlite3 *db)
{
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#endif
