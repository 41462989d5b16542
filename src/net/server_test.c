#include "net/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"

/* A client and the server in one thread: so the test decides what is ready when the loop looks. */

enum {
    PIECE_BYTES = 20 * 1024,
    QUEUE_PIECES = 40, /* of those that fill() writes: more than the queue holds of them */
    PATIENCE_S = 60,
    GOT_BYTES = 4096,
};

struct world {
    uv_loop_t loop;
    struct wr_server *server;
    struct wr_conn *conn; /* NULL: there is no answer to write */
    bool waits;           /* it was told that there is no room */
    size_t begun, rooms, gone;
    char way;          /* begin_by_target() */
    size_t body_bytes; /* that came of the request */
    int client;
    size_t taken_bytes; /* by the client */
    int bell[2];        /* what is written to the second makes the loop call on_bell() */
    uv_poll_t bell_poll;
};

/* ---- one who answers as fast as he may, when the bell rings ---- */

static void *begin(void *user, struct wr_conn *conn, const struct wr_head *head)
{
    struct world *w = user;
    struct wr_answer answer = {.status = 200, .content_bytes = -1};
    (void)head;
    w->conn = conn;
    w->begun++;
    wr_conn_begin(conn, &answer);
    return w;
}

static void write_pieces(struct world *w)
{
    static char piece[PIECE_BYTES];
    while (w->conn && !w->waits) {
        w->waits = !wr_conn_has_room(w->conn);
        if (!w->waits)
            wr_conn_write(w->conn, (weir_span){piece, sizeof(piece)});
    }
}

static void on_bell(uv_poll_t *poll, int status, int events)
{
    struct world *w = poll->data;
    char byte;
    (void)status;
    (void)events;
    assert_int_equal(read(w->bell[0], &byte, 1), 1);
    write_pieces(w);
}

static void on_body(void *exchange, weir_span bytes)
{
    (void)exchange;
    (void)bytes;
}

static void on_body_end(void *exchange)
{
    (void)exchange;
}

static void on_room(void *exchange)
{
    struct world *w = exchange;
    assert_true(w->waits);
    w->waits = false;
    w->rooms++;
}

static void on_gone(void *exchange)
{
    struct world *w = exchange;
    w->conn = NULL;
    w->gone++;
}

static void on_refused(void *user, int status)
{
    (void)user;
    (void)status;
}

static const struct wr_server_handler handler = {
    .begin = begin,
    .body = on_body,
    .body_end = on_body_end,
    .room = on_room,
    .gone = on_gone,
    .refused = on_refused,
};

/* ---- the world ---- */

static void ring(struct world *w)
{
    assert_int_equal(write(w->bell[1], "x", 1), 1);
}

static void run(struct world *w)
{
    (void)uv_run(&w->loop, UV_RUN_NOWAIT);
}

/* False when nothing will come of it any more; counts from the first call with *until 0. */
static bool is_in_time(uint64_t *until)
{
    uint64_t now = uv_hrtime();
    if (!*until)
        *until = now + PATIENCE_S * UINT64_C(1000000000);
    return now < *until;
}

/* All that has come. */
static void drain_client(struct world *w)
{
    char bytes[65536];
    ssize_t taken;
    while ((taken = recv(w->client, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
        w->taken_bytes += (size_t)taken;
}

static void send_text(struct world *w, const char *text)
{
    assert_int_equal(send(w->client, text, strlen(text), 0), strlen(text));
}

static void connect_client(struct world *w, int listener)
{
    struct sockaddr_in address;
    socklen_t address_bytes = sizeof(address);
    int room_bytes = 64 * 1024;

    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &address_bytes), 0);
    w->client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(w->client >= 0);
    (void)setsockopt(w->client, SOL_SOCKET, SO_RCVBUF, &room_bytes, sizeof(room_bytes));
    assert_int_equal(connect(w->client, (struct sockaddr *)&address, address_bytes), 0);
}

static void open_server(struct world *w, const struct wr_server_handler *who)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct wr_server_options options = {.limits = wr_server_limits_default};

    *w = (struct world){0};
    assert_int_equal(uv_loop_init(&w->loop), 0);
    options.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(options.listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(options.listener, 1), 0);
    assert_int_equal(wr_server_new(&w->server, &w->loop, &options, who, w, NULL), WEIR_OK);
    assert_int_equal(pipe(w->bell), 0);
    assert_int_equal(uv_poll_init(&w->loop, &w->bell_poll, w->bell[0]), 0);
    w->bell_poll.data = w;
    assert_int_equal(uv_poll_start(&w->bell_poll, UV_READABLE, on_bell), 0);
    connect_client(w, options.listener);
    (void)close(options.listener);
}

static void open_world(struct world *w)
{
    open_server(w, &handler);
    send_text(w, "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
    for (uint64_t until = 0; !w->conn && is_in_time(&until);)
        run(w);
    assert_non_null(w->conn);
}

static void close_world(struct world *w)
{
    if (w->client >= 0)
        (void)close(w->client);
    wr_server_close(w->server);
    uv_close((uv_handle_t *)&w->bell_poll, NULL);
    (void)uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    wr_server_free(w->server);
    (void)close(w->bell[0]);
    (void)close(w->bell[1]);
}

/* ---- what holds while the client does not read ---- */

/* Writes a piece a turn to a client that does not read, at most `count`; gives how many there was
 * room for. */
static int fill(struct world *w, int count)
{
    static char piece[7 * 1024];
    int i = 0;
    while (i < count && !w->waits) {
        wr_conn_write(w->conn, (weir_span){piece, sizeof(piece)});
        w->waits = !wr_conn_has_room(w->conn);
        run(w);
        i++;
    }
    return i;
}

/* In one look the loop finds first that there is more to write and then that the client has taken
 * all it had. However much was queued before, the one who writes goes on. */
static void room_is_told_when_all_goes_at_once(void **state)
{
    struct world w;
    (void)state;
    open_world(&w);
    int full_count = fill(&w, INT_MAX);
    close_world(&w);
    for (int count = full_count > QUEUE_PIECES ? full_count - QUEUE_PIECES : 0; count <= full_count;
         count++) {
        uint64_t until = 0;
        open_world(&w);
        (void)fill(&w, count);
        ring(&w);
        for (int i = 0; i < 3 || (w.waits && is_in_time(&until)); i++) {
            drain_client(&w);
            run(&w);
        }
        if (w.waits)
            fail_msg("after %d pieces it waits for ever", count);
        close_world(&w);
    }
}

/* The second answer begins while bytes of the first fill the queue. */
static void room_is_told_across_answers(void **state)
{
    struct world w;
    uint64_t until = 0;
    (void)state;
    open_world(&w);
    (void)fill(&w, INT_MAX);
    w.waits = false;
    wr_conn_end(w.conn);
    while (w.begun < 2 && is_in_time(&until))
        run(&w);
    assert_int_equal(w.begun, 2);
    w.waits = !wr_conn_has_room(w.conn);
    assert_true(w.waits);
    while (w.waits && is_in_time(&until)) {
        drain_client(&w);
        run(&w);
    }
    assert_false(w.waits);
    assert_int_equal(w.rooms, 1);
    close_world(&w);
}

static void a_client_that_leaves_frees_one_who_waits(void **state)
{
    struct world w;
    (void)state;
    open_world(&w);
    for (uint64_t until = 0; !w.waits && is_in_time(&until);) {
        ring(&w);
        run(&w);
        run(&w);
    }
    assert_true(w.waits);
    (void)close(w.client);
    w.client = -1;
    for (uint64_t until = 0; !w.gone && is_in_time(&until);)
        run(&w);
    assert_int_equal(w.gone, 1);
    assert_int_equal(w.rooms, 0);
    close_world(&w);
}

/* ---- what holds for a request and its answer ---- */

/* The target says how the request is answered: /n now, before its body; /s in pieces, begun now; /c
 * as /s, and cut; /p as all others, when the body is whole, but pausing at each piece of it; /w as
 * /p, but never. */
static void *begin_by_target(void *user, struct wr_conn *conn, const struct wr_head *head)
{
    struct world *w = user;
    struct wr_answer answer = {.status = 200, .content_bytes = -1};

    w->conn = conn;
    w->begun++;
    w->way = head->target.ptr[1];
    w->body_bytes = 0;
    if (w->way == 'n')
        wr_conn_reply(conn, 200, "a/b", WR_LIT("now"));
    if (w->way == 's' || w->way == 'c')
        wr_conn_begin(conn, &answer);
    return w;
}

static void count_body(void *exchange, weir_span bytes)
{
    struct world *w = exchange;
    w->body_bytes += bytes.len;
    if (w->way == 'p' || w->way == 'w')
        wr_conn_pause(w->conn);
}

static void answer_by_target(void *exchange)
{
    struct world *w = exchange;
    if (w->way == 's' || w->way == 'c')
        wr_conn_write(w->conn, WR_LIT("ab"));
    if (w->way == 'c')
        wr_conn_abort(w->conn);
    else if (w->way == 's')
        wr_conn_end(w->conn);
    else if (w->way != 'w')
        wr_conn_reply(w->conn, 200, "a/b", WR_LIT("all"));
}

static const struct wr_server_handler handler_by_target = {
    .begin = begin_by_target,
    .body = count_body,
    .body_end = answer_by_target,
    .room = on_room,
    .gone = on_gone,
    .refused = on_refused,
};

enum end { OPEN, CLOSED, RESET };

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define COUNTED OK_HEAD "Content-Type: a/b\r\nContent-Length: 3\r\n"
#define CHUNKED OK_HEAD "Transfer-Encoding: chunked\r\n"
#define CLOSE   "Connection: close\r\n"
#define REFUSED                                                                                  \
    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 78\r\n" CLOSE \
    "\r\n{\"error\":{\"type\":\"weir_refused\",\"message\":\"weir: a line ends without CR "      \
    "LF\"}}\n"
#define H11 " HTTP/1.1\r\nHost: h\r\n"

static const struct {
    const char *behaviour, *sent, *got;
    enum end end;
} answers[] = {
    {"a connection stays open behind its answer", "GET /a" H11 "\r\n", COUNTED "\r\nall", OPEN},
    {"requests sent ahead are answered in their order",
     "POST /a" H11 "Content-Length: 2\r\n\r\nxyGET /n" H11 "\r\nGET /s" H11 "\r\n",
     COUNTED "\r\nall" COUNTED "\r\nnow" CHUNKED "\r\n2\r\nab\r\n0\r\n\r\n", OPEN},
    {"a request that wants the connection closed gets it closed; what follows is not read",
     "GET /a" H11 CLOSE "\r\nGET /n" H11 "\r\n", COUNTED CLOSE "\r\nall", CLOSED},
    {"HTTP/1.0 closes", "GET /a HTTP/1.0\r\n\r\n", COUNTED CLOSE "\r\nall", CLOSED},
    {"HTTP/1.0 that asks for it stays open", "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
     COUNTED "Connection: keep-alive\r\n\r\nall", OPEN},
    {"for HTTP/1.0 a body of unknown length ends with the connection",
     "GET /s HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", OK_HEAD CLOSE "\r\nab", CLOSED},
    {"HEAD gets a head, and the next request a body", "HEAD /a" H11 "\r\nGET /a" H11 "\r\n",
     COUNTED "\r\n" COUNTED "\r\nall", OPEN},
    {"an answer that comes before the body closes", "POST /n" H11 "Content-Length: 9\r\n\r\nxy",
     COUNTED CLOSE "\r\nnow", CLOSED},
    {"an answer that begins before the body closes, but the body is waited for",
     "POST /s" H11 "Content-Length: 2\r\n\r\nxyGET /n" H11 "\r\n",
     CHUNKED CLOSE "\r\n2\r\nab\r\n0\r\n\r\n", CLOSED},
    {"who expects 100 gets it where the body is wanted",
     "POST /a" H11 "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nxy",
     "HTTP/1.1 100 Continue\r\n\r\n" COUNTED "\r\nall", OPEN},
    {"but not where the answer is there already",
     "POST /n" H11 "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nxy", COUNTED CLOSE "\r\nnow",
     CLOSED},
    {"nor without a body", "POST /a" H11 "Expect: 100-continue\r\n\r\n", COUNTED "\r\nall", OPEN},
    {"what is no request is refused", "GET /a\n", REFUSED, CLOSED},
    {"also behind HEAD, with a body", "HEAD /a" H11 "\r\nGET /a\n", COUNTED "\r\n" REFUSED, CLOSED},
    {"a body that is none ends an answer that has begun",
     "POST /s" H11 "Transfer-Encoding: chunked\r\n\r\nno", "", CLOSED},
    {"a chunked answer that is cut has no last chunk", "GET /c" H11 "\r\n",
     CHUNKED "\r\n2\r\nab\r\n", CLOSED},
    {"one that would end with the connection is cut by a reset", "GET /c HTTP/1.0\r\n\r\n", "",
     RESET},
    {"a pause ends with its request", "POST /p" H11 "Content-Length: 2\r\n\r\nxyGET /a" H11 "\r\n",
     COUNTED "\r\nall" COUNTED "\r\nall", OPEN},
};

/* Reads until `bytes_min` have come and the connection is as it should be in the end, and a little
 * longer: too much may come, and it may be closed. */
static enum end read_answer(struct world *w, char got[GOT_BYTES], size_t bytes_min, enum end wanted)
{
    size_t len = 0;
    enum end end = OPEN;
    uint64_t until = 0;

    for (int more = 0; end == OPEN && more < 20 && is_in_time(&until);) {
        run(w);
        ssize_t bytes = recv(w->client, got + len, GOT_BYTES - 1 - len, MSG_DONTWAIT);
        if (bytes > 0)
            len += (size_t)bytes;
        else if (bytes == 0)
            end = CLOSED;
        else if (errno == ECONNRESET)
            end = RESET;
        more += len >= bytes_min && wanted == OPEN;
    }
    got[len] = '\0';
    return end;
}

static void requests_are_answered(void **state)
{
    int failed_count = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct world w;
        char got[GOT_BYTES];
        open_server(&w, &handler_by_target);
        send_text(&w, answers[i].sent);
        enum end end = read_answer(&w, got, strlen(answers[i].got), answers[i].end);
        /* A reset may overtake what was sent before it. */
        bool is_same = answers[i].end == RESET || !strcmp(got, answers[i].got);
        if (!is_same || end != answers[i].end) {
            print_error("%s:\n%s(end %d)\n", answers[i].behaviour, got, end);
            failed_count++;
        }
        close_world(&w);
    }
    assert_int_equal(failed_count, 0);
}

static void a_paused_body_is_not_read(void **state)
{
    struct world w;
    char got[GOT_BYTES];
    uint64_t until = 0;
    (void)state;
    open_server(&w, &handler_by_target);
    send_text(&w, "POST /p" H11 "Content-Length: 4\r\n\r\nx");
    while (w.body_bytes < 1 && is_in_time(&until))
        run(&w);
    send_text(&w, "yz");
    assert_int_equal(read_answer(&w, got, 0, OPEN), OPEN);
    assert_int_equal(w.body_bytes, 1);
    wr_conn_resume(w.conn);
    while (w.body_bytes < 3 && is_in_time(&until))
        run(&w);
    wr_conn_resume(w.conn);
    send_text(&w, "!");
    assert_int_equal(read_answer(&w, got, strlen(COUNTED "\r\nall"), OPEN), OPEN);
    assert_string_equal(got, COUNTED "\r\nall");
    close_world(&w);
}

/* The body may end in the piece that made the handler pause. Nothing is read until it resumes, and
 * then it still hears that the client leaves. */
static void a_pause_outlasts_the_body(void **state)
{
    struct world w;
    uint64_t until = 0;
    (void)state;
    open_server(&w, &handler_by_target);
    send_text(&w, "POST /w" H11 "Content-Length: 2\r\n\r\nxy");
    while (w.body_bytes < 2 && is_in_time(&until))
        run(&w);
    (void)close(w.client);
    w.client = -1;
    for (int i = 0; i < 20; i++)
        run(&w);
    assert_int_equal(w.gone, 0);
    wr_conn_resume(w.conn);
    while (!w.gone && is_in_time(&until))
        run(&w);
    assert_int_equal(w.gone, 1);
    close_world(&w);
}

/* Of three connections one waits, one has begun its request, one waits for its answer. */
static void draining_ends_each_connection_when_it_may(void **state)
{
    static const struct {
        const char *sent, *later, *got;
    } rows[] = {
        {"", "", ""},
        {"GET /a", H11 "\r\n", COUNTED CLOSE "\r\nall"},
        {"POST /a" H11 "Content-Length: 2\r\n\r\nx", "y", COUNTED CLOSE "\r\nall"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world w;
        char got[GOT_BYTES];
        open_server(&w, &handler_by_target);
        send_text(&w, rows[i].sent);
        assert_int_equal(read_answer(&w, got, 0, OPEN), OPEN);
        wr_server_drain(w.server);
        send_text(&w, rows[i].later);
        assert_int_equal(read_answer(&w, got, strlen(rows[i].got), CLOSED), CLOSED);
        assert_string_equal(got, rows[i].got);
        close_world(&w);
    }
}

/* Its head said that the connection stays open. */
static void an_answer_that_ends_while_draining_is_the_last(void **state)
{
    struct world w;
    char got[GOT_BYTES];
    (void)state;
    open_world(&w);
    wr_server_drain(w.server);
    wr_conn_end(w.conn);
    assert_int_equal(read_answer(&w, got, 0, CLOSED), CLOSED);
    assert_string_equal(got, CHUNKED "\r\n0\r\n\r\n");
    assert_int_equal(w.begun, 1);
    close_world(&w);
}

/* ==== room ==== */

static const struct {
    const char *behaviour;
    uint64_t fds_max;
    uint32_t wanted, expected;
} cases[] = {
    {"what is wanted, where there is room", UINT64_MAX, 8192, 8192},
    {"just enough", WR_NET_FDS_KEPT + 200, 100, 100},
    {"half of what is left", WR_NET_FDS_KEPT + 199, 100, 99},
    {"a small limit", 64, 8192, (64 - WR_NET_FDS_KEPT) / 2},
    {"one, where there is no room", WR_NET_FDS_KEPT, 8192, 1},
    {"or less than none", 3, 8192, 1},
};

static void each_exchange_has_two(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        if (wr_fd_room_of(cases[i].fds_max, cases[i].wanted) != cases[i].expected)
            fail_msg("%s", cases[i].behaviour);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_told_when_all_goes_at_once),
        cmocka_unit_test(room_is_told_across_answers),
        cmocka_unit_test(a_client_that_leaves_frees_one_who_waits),
        cmocka_unit_test(requests_are_answered),
        cmocka_unit_test(a_paused_body_is_not_read),
        cmocka_unit_test(a_pause_outlasts_the_body),
        cmocka_unit_test(draining_ends_each_connection_when_it_may),
        cmocka_unit_test(an_answer_that_ends_while_draining_is_the_last),
        cmocka_unit_test(each_exchange_has_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
