/* A client and the server in one thread: so the test decides what is ready when the loop looks. */
#include "net/server.h"

#include <arpa/inet.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/span.h"

enum {
    PIECE_BYTES = 20 * 1024,
    QUEUE_PIECES = 40, /* of those that fill() writes: more than the queue holds of them */
    PATIENCE_S = 60,
};

struct world {
    uv_loop_t loop;
    struct wr_server *server;
    struct wr_conn *conn; /* NULL: there is no answer to write */
    bool waits;           /* it was told that there is no room */
    size_t begun, rooms, gone;
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

static void connect_client(struct world *w, int listener)
{
    static const char request[] = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
                                  "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n";
    struct sockaddr_in address;
    socklen_t address_bytes = sizeof(address);
    int room_bytes = 64 * 1024;

    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &address_bytes), 0);
    w->client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(w->client >= 0);
    (void)setsockopt(w->client, SOL_SOCKET, SO_RCVBUF, &room_bytes, sizeof(room_bytes));
    assert_int_equal(connect(w->client, (struct sockaddr *)&address, address_bytes), 0);
    assert_int_equal(send(w->client, request, sizeof(request) - 1, 0), sizeof(request) - 1);
}

static void open_world(struct world *w)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct wr_server_options options = {.limits = wr_server_limits_default};

    *w = (struct world){0};
    assert_int_equal(uv_loop_init(&w->loop), 0);
    options.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(options.listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(options.listener, 1), 0);
    assert_int_equal(wr_server_new(&w->server, &w->loop, &options, &handler, w, NULL), WEIR_OK);
    assert_int_equal(pipe(w->bell), 0);
    assert_int_equal(uv_poll_init(&w->loop, &w->bell_poll, w->bell[0]), 0);
    w->bell_poll.data = w;
    assert_int_equal(uv_poll_start(&w->bell_poll, UV_READABLE, on_bell), 0);
    connect_client(w, options.listener);
    (void)close(options.listener);
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

/* ---- what holds ---- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_told_when_all_goes_at_once),
        cmocka_unit_test(room_is_told_across_answers),
        cmocka_unit_test(a_client_that_leaves_frees_one_who_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
