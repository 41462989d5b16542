#include "agent/client.h"

#include "tests/test_server.h"
#include "base/limits.h"
#include "base/span.h"

struct bench {
    struct wr_client client;
    struct wr_endpoint endpoint;
    struct wr_buf pieces;
    uint64_t waited_s;
    char why[300];
};

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    struct bench *b = user;
    if (kind == WR_PIECE_TEXT)
        wr_buf_append(&b->pieces, text);
}

static void on_wait(void *user, const char *why, uint64_t seconds)
{
    struct bench *b = user;
    b->waited_s += seconds;
    (void)snprintf(b->why, sizeof(b->why), "%s", why);
}

static void begin(struct bench *b, int port)
{
    struct weir_err err = {0};
    *b = (struct bench){.endpoint = {.api = &wr_api_chat, .is_local = true}};
    (void)snprintf(b->endpoint.base_url, sizeof(b->endpoint.base_url), "http://127.0.0.1:%d/v1",
                   port);
    wr_buf_init(&b->pieces, 100000);
    assert_int_equal(wr_client_init(&b->client, NULL, &err), WEIR_OK);
}

static void end(struct bench *b)
{
    wr_client_release(&b->client);
    wr_buf_release(&b->pieces);
}

static void ask(struct bench *b, struct wr_asked_result *result)
{
    struct wr_ask what = {.endpoint = &b->endpoint,
                          .session = "s",
                          .body = WR_LIT("{\"model\":\"m\",\"messages\":[]}"),
                          .on_piece = on_piece,
                          .on_wait = on_wait,
                          .user = b};
    wr_client_ask(&b->client, &what, result);
}

#define PLAIN(status, type, body) \
    "HTTP/1.1 " status "\r\ncontent-type: " type "\r\nconnection: close\r\n\r\n" body

static const struct {
    const char *behaviour;
    const char *answers[3];
    size_t count;
    enum wr_asked asked;
    int status;
    const char *pieces;
} rows[] = {
    {"a stream is shown as it comes", {TEST_CHAT("hello")}, 1, WR_ASKED_DONE, 200, "hello"},
    {"an answer at once is taken too",
     {PLAIN("200 OK", "application/json",
            "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"hi\"}}]}")},
     1,
     WR_ASKED_DONE,
     200,
     ""},
    {"a refusal is what the provider said",
     {PLAIN("400 Bad Request", "application/json", "{\"error\":{\"message\":\"no\"}}")},
     1,
     WR_ASKED_REFUSED,
     400,
     ""},
    {"a stream that breaks off is no answer",
     {TEST_STREAM "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hal\"}}]}\n\n"},
     1,
     WR_ASKED_BROKEN,
     200,
     "hal"},
    {"a busy provider is asked again",
     {"HTTP/1.1 503 Busy\r\nretry-after: 1\r\nconnection: close\r\n\r\n", TEST_CHAT("at last")},
     2,
     WR_ASKED_DONE,
     200,
     "at last"},
    {"one that wants to be asked tomorrow is not waited for",
     {"HTTP/1.1 429 Busy\r\nretry-after: 86400\r\nconnection: close\r\n\r\nlater"},
     1,
     WR_ASKED_REFUSED,
     429,
     ""},
};

static void answers_are_taken_for_what_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_server server = test_server_start(rows[i].answers, rows[i].count);
        struct wr_asked_result result;
        struct bench b;
        begin(&b, server.port);
        ask(&b, &result);
        if (result.asked != rows[i].asked || result.status != rows[i].status ||
            !wr_span_is(wr_buf_view(&b.pieces), rows[i].pieces))
            fail_msg("%s: asked %d, status %d, '%.*s', %s", rows[i].behaviour, result.asked,
                     result.status, (int)b.pieces.len, b.pieces.bytes, result.why);
        assert_int_equal(b.waited_s > 0, rows[i].count > 1);
        wr_asked_release(&result);
        end(&b);
        test_server_stop(&server);
    }
}

static void on_timer(uv_timer_t *timer)
{
    wr_client_interrupt(timer->data);
    uv_close((uv_handle_t *)timer, NULL);
}

static void an_interruption_ends_the_waiting(void **state)
{
    static const char *const nothing[] = {""};
    struct test_server server = test_server_start(nothing, 1);
    struct wr_asked_result result;
    uv_timer_t timer;
    struct bench b;
    (void)state;
    begin(&b, server.port);
    assert_int_equal(uv_timer_init(&b.client.loop, &timer), 0);
    timer.data = &b.client;
    assert_int_equal(uv_timer_start(&timer, on_timer, 50, 0), 0);
    ask(&b, &result);
    assert_int_equal(result.asked, WR_ASKED_INTERRUPTED);
    wr_asked_release(&result);
    end(&b);
    test_server_stop(&server);
}

static void what_a_server_says_of_itself_is_read(void **state)
{
    static const char *const answers[] = {PLAIN("200 OK", "application/json", "{\"n\":1}"),
                                          PLAIN("404 Not Found", "text/plain", "no")};
    struct test_server server = test_server_start(answers, 2);
    struct bench b;
    char url[100];
    (void)state;
    begin(&b, server.port);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/props", server.port);
    assert_true(wr_client_get(&b.client, url, &b.pieces));
    assert_true(wr_span_is(wr_buf_view(&b.pieces), "{\"n\":1}"));
    assert_false(wr_client_get(&b.client, url, &b.pieces));
    end(&b);
    test_server_stop(&server);
}

/* An agent that begins asks this first. */
static void a_server_that_hangs_tells_no_window(void **state)
{
    static const char *const nothing[] = {""};
    struct test_server server = test_server_start(nothing, 1);
    struct bench b;
    (void)state;
    begin(&b, server.port);
    (void)alarm(600); /* the end of a test that waits as long as for an answer */
    assert_int_equal(wr_local_window(&b.client, &b.endpoint, "m"), 0);
    (void)alarm(0);
    assert_false(b.client.is_interrupted);
    end(&b);
    test_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_taken_for_what_they_are),
        cmocka_unit_test(an_interruption_ends_the_waiting),
        cmocka_unit_test(what_a_server_says_of_itself_is_read),
        cmocka_unit_test(a_server_that_hangs_tells_no_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
