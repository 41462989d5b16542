/* What passes through an exchange and what does not: bodies in parts, headers of answers, requests
 * that are none, and what is noted of who was at the door. */
#include "proxy/exchange.h"

#include "proxy/audit.h"
#include "tests/test_file.h"
#include "tests/test_service.h"

#define CHAT "/v1/chat/completions"
#define GOOD TEST_WHOLE("200 OK", "{\"choices\":[]}")

static void let_it_come(struct test_service *s)
{
    for (int i = 0; i < 50; i++)
        (void)uv_run(&s->loop, UV_RUN_NOWAIT);
}

/* A body is read into its place, and what lies behind it belongs to the next request. */
static void a_body_in_parts_ends_where_it_ends(void **state)
{
    enum { BODY_BYTES = 1500000, PART_BYTES = 360000 };
    struct test_service *s = test_service_new("");
    struct wr_buf body, head, rest;
    (void)state;

    wr_buf_init(&body, TEST_BYTES_MAX);
    wr_buf_init(&head, TEST_BYTES_MAX);
    wr_buf_init(&rest, TEST_BYTES_MAX);
    for (size_t i = 0; i < BODY_BYTES; i++)
        wr_buf_byte(&body, (char)('a' + i % 26));
    wr_buf_printf(&head, "POST " CHAT " HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n",
                  BODY_BYTES);
    for (int i = 0; i < 2; i++)
        test_upstream_says(s, GOOD);
    struct test_client *c = test_client_new(s);
    test_send_bytes(c, wr_buf_view(&head));
    for (size_t at = 0; at < 4 * PART_BYTES; at += PART_BYTES) {
        test_send_bytes(c, wr_span_cut(wr_buf_view(&body), at, at + PART_BYTES));
        let_it_come(s);
    }
    wr_buf_append(&rest, wr_span_from(wr_buf_view(&body), 4 * PART_BYTES));
    wr_buf_text(&rest, "POST " CHAT " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
    test_send_bytes(c, wr_buf_view(&rest));
    test_until(s, test_is_told(s, 2));
    assert_int_equal(s->asked_count, 2);
    assert_true(wr_span_eq(test_asked(s, 0), wr_buf_view(&body)));
    assert_true(wr_span_is(test_asked(s, 1), "{}"));
    wr_buf_release(&body);
    wr_buf_release(&head);
    wr_buf_release(&rest);
    test_service_free(s);
}

static void headers_of_an_answer_pass_but_for_a_few(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;

    test_upstream_says(
        s, "HTTP/1.1 201 Made It\r\nContent-Type: application/json\r\nx-request-id: r\r\n"
           "x-weir-budget: theirs\r\nConnection: x-hop\r\nx-hop: 1\r\n"
           "Content-Length: 2\r\n\r\n{}");
    struct test_client *c = test_client_post(s, CHAT, "", WR_LIT("{\"messages\":[]}"));
    test_until(s, test_is_answered(c) && test_is_told(s, 1));
    assert_true(test_has(&c->got, "HTTP/1.1 201 Made It\r\n"));
    assert_true(test_has(&c->got, "\r\nx-request-id: r\r\n"));
    assert_true(test_has(&c->got, "\r\nContent-Length: 2\r\n"));
    assert_false(test_has(&c->got, "x-weir-budget"));
    assert_false(test_has(&c->got, "x-hop"));
    assert_non_null(strstr(test_log(s), "\"status\":201,"));
    test_service_free(s);
}

static void what_is_no_request_is_counted(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;

    struct test_client *c = test_client_new(s);
    test_send(c, "this is no HTTP\r\n\r\n");
    test_until(s, c->has_ended);
    assert_int_equal(test_status(c), 400);
    assert_int_equal(atomic_load(&s->metrics->requests_refused), 1);
    assert_int_equal(s->asked_count, 0);
    test_service_free(s);
}

/* Who reads the figures of all, and who may not; who is refused at the page. */
static void who_was_at_the_door_is_noted(void **state)
{
    static const struct test_call calls[] = {
        {"figures", "GET", "/metrics", "x-weir-token: operators-token-1\r\n", "", 200, NULL, NULL},
        {"by a user", "GET", "/metrics", "x-weir-token: 0123456789abcdef\r\n", "", 401, NULL, NULL},
        {"nobody at the page", "POST", "/weir/v1/login", "x-weir-token: no\r\n", "", 401, NULL,
         NULL},
        {"nobody elsewhere", "POST", CHAT, "", "{}", 401, NULL, NULL},
        {"health", "GET", "/healthz", "", "", 200, NULL, NULL},
    };
    static const char *const lines[] = {
        "\"act\":\"metrics\",\"process\":",
        "\"tenant\":\"operator\",\"done\":true}\n",
        "\"act\":\"metrics\",\"process\":",
        "\"tenant\":\"unknown\",\"status\":401,\"done\":false}\n",
        "\"act\":\"login\",\"process\":",
        "\"tenant\":\"unknown\",\"status\":401,\"done\":false}\n",
    };
    struct test_service *s =
        test_service_new("tokens: [0123456789abcdef]\nmetrics_token: operators-token-1\n");
    char path[2 * WR_TEST_PATH_BYTES];
    struct wr_buf text;
    (void)state;

    (void)snprintf(path, sizeof(path), "%s/audit", s->dir.path);
    s->service.audit = wr_audit_open(path);
    assert_non_null(s->service.audit);
    test_calls(s, calls, WR_COUNT_OF(calls));
    assert_int_equal(atomic_load(&s->metrics->requests_refused), 3);
    wr_audit_close(s->service.audit);
    wr_buf_init(&text, TEST_BYTES_MAX);
    assert_true(wr_test_file(path, &text));
    wr_buf_byte(&text, '\0');
    const char *at = text.bytes;
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++) {
        const char *found = strstr(at, lines[i]);
        if (!found)
            fail_msg("%s: %s", lines[i], text.bytes);
        at = found + strlen(lines[i]);
    }
    assert_string_equal(at, "");
    wr_buf_release(&text);
    test_service_free(s);
}

/* Some leave when the last event has come; before it, the client is gone. */
static void who_leaves_at_the_end_has_it_all(void **state)
{
    static const char front[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                                "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    (void)state;
    for (int is_finished = 0; is_finished < 2; is_finished++) {
        struct test_service *s = test_service_new("");
        struct test_client *c = test_client_post(
            s, CHAT, "", WR_LIT("{\"model\":\"gpt-5\",\"stream\":true,\"messages\":[]}"));
        test_until(s, s->asked_count == 1);
        test_say(s, front);
        if (is_finished)
            test_say(s, "data: [DONE]\n\n");
        test_until(s, test_has(&c->got, is_finished ? "[DONE]" : "\"content\":\"a\""));
        test_leave(c);
        test_until(s, test_is_told(s, 1));
        const char *log = test_log(s);
        if (!strstr(log, is_finished ? "\"end\":\"done\"" : "\"end\":\"client_gone\""))
            fail_msg("%s", log);
        test_service_free(s);
    }
}

/* Where telemetry is sent, each request is a span of the trace that its client names. */
static void a_request_is_a_span_where_somebody_asked_for_it(void **state)
{
    static const char trace[] = "0af7651916cd43dd8448eb211c80319c";
    (void)state;
    for (int is_on = 0; is_on < 2; is_on++) {
        struct test_service *s = test_service_new("");
        char url[64];
        struct wr_otel_options options = {.loop = &s->loop,
                                          .fetcher = s->service.fetcher,
                                          .settings = &s->config->otel,
                                          .models_yaml = {"", 0},
                                          .spans_count = &s->metrics->otel_spans,
                                          .dropped_count = &s->metrics->otel_spans_dropped,
                                          .failed_count = &s->metrics->otel_exports_failed};
        (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/traces", s->upstream_port);
        s->config->otel.traces_url = is_on ? url : NULL;
        assert_int_equal(wr_otel_new(&s->service.otel, &options, NULL), WEIR_OK);
        test_upstream_says(s, GOOD);
        test_upstream_says(s, TEST_WHOLE("200 OK", "{}"));
        struct test_client *c = test_client_post(
            s, CHAT, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n",
            WR_LIT("{\"model\":\"gpt-5\",\"messages\":[]}"));
        test_until(s, test_is_told(s, 1) && test_is_answered(c));
        wr_otel_drain(s->service.otel);
        test_until(s, wr_otel_is_idle(s->service.otel));
        assert_int_equal(s->asked_count, 1 + is_on);
        if (is_on)
            assert_true(test_has(&s->asked[1], "POST /v1/traces") && test_has(&s->asked[1], trace));
        wr_otel_close(s->service.otel);
        struct wr_otel *otel = s->service.otel;
        s->service.otel = NULL;
        (void)uv_run(&s->loop, UV_RUN_NOWAIT);
        test_service_free(s);
        wr_otel_free(otel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_a_span_where_somebody_asked_for_it),
        cmocka_unit_test(a_body_in_parts_ends_where_it_ends),
        cmocka_unit_test(headers_of_an_answer_pass_but_for_a_few),
        cmocka_unit_test(what_is_no_request_is_counted),
        cmocka_unit_test(who_was_at_the_door_is_noted),
        cmocka_unit_test(who_leaves_at_the_end_has_it_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
