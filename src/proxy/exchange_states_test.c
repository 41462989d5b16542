/* What happens while an exchange waits: its client leaves, or its projection comes too late. The
 * store is held by somebody else where a projection is to take long. */
#include "tests/test_service.h"

#define CHAT    "/v1/chat/completions"
#define OK_BODY "{\"id\":\"a\",\"choices\":[]}"
#define OK      TEST_WHOLE("200 OK", OK_BODY)
#define TOO_LONG                                                                              \
    "{\"error\":{\"message\":\"This model's maximum context length is 8000 tokens. However, " \
    "your messages resulted in 11000 tokens.\",\"code\":\"context_length_exceeded\"}}"
#define UNBOUND                                                                                 \
    "{\"error\":{\"message\":\"messages.1.content.0: Invalid `signature` in `thinking` block. " \
    "The block is bound to a different conversation\"}}"

enum { LARGE_LINES = 200, RESULTS = 6 };

/* ---- the client leaves ---- */

static void leave(struct test_service *s, struct test_client *c, const char *end)
{
    test_leave(c);
    test_until(s, test_is_told(s, 1));
    if (!strstr(test_log(s), end))
        fail_msg("%s is not in %s", end, test_log(s));
}

static void a_client_that_leaves_takes_the_request_with_it(void **state)
{
    static const struct {
        const char *behaviour, *says, *got, *end;
    } cases[] = {
        {"before its answer", NULL, NULL, "\"end\":\"client_gone\""},
        {"while a refusal is held", "HTTP/1.1 400 No\r\nContent-Length: 100000\r\n\r\n{\"error\"",
         NULL, "\"end\":\"client_gone\""},
        {"within its answer", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"half", "half",
         "\"end\":\"client_gone\""},
        {"behind the last event of a stream that stays open",
         "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
         "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
         "data: [DONE]\n\n",
         "[DONE]", "\"end\":\"done\""},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_service *s = test_service_new("");
        struct wr_buf body;
        test_upstream_says(s, cases[i].says);
        test_chat(&body, "m", RESULTS, LARGE_LINES);
        struct test_client *c = test_client_post(s, CHAT, "", wr_buf_view(&body));
        test_until(s, s->asked_count == 1);
        assert_non_null(s->asker);
        test_until(s, !cases[i].got || test_has(&c->got, cases[i].got));
        leave(s, c, cases[i].end);
        test_until(s, !s->asker); /* the upstream is told to stop */
        wr_buf_release(&body);
        test_service_free(s);
    }
}

static void a_client_that_leaves_within_its_body_asks_nobody(void **state)
{
    struct test_service *s = test_service_new("");
    struct test_client *c = test_client_new(s);
    (void)state;
    test_send(c, "POST " CHAT " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{\"mo");
    test_until(s, atomic_load(s->service.exchanges_open));
    leave(s, c, "\"end\":\"client_gone\"");
    assert_int_equal(s->asked_count, 0);
    test_service_free(s);
}

static void a_client_that_leaves_while_it_is_projected_asks_nobody(void **state)
{
    struct test_service *s = test_service_new("");
    struct wr_buf body;
    (void)state;
    test_chat(&body, "m", RESULTS, LARGE_LINES);
    sqlite3 *held = test_hold_store(s);
    struct test_client *c = test_client_post(s, CHAT, "", wr_buf_view(&body));
    test_until(s, s->service.waiting);
    test_leave(c);
    test_until(s, !s->service.waiting);
    test_let_store_go(held);
    test_until(s, test_is_told(s, 1));
    assert_non_null(strstr(test_log(s), "\"end\":\"client_gone\""));
    assert_non_null(strstr(test_log(s), "\"body_bytes_after\":0,"));
    assert_int_equal(s->asked_count, 0);
    wr_buf_release(&body);
    test_service_free(s);
}

static void a_client_that_leaves_while_it_is_projected_again_is_not_sent_again(void **state)
{
    struct test_service *s = test_service_new("policy: tight\n");
    struct wr_buf body;
    (void)state;
    test_chat(&body, "m", RESULTS, LARGE_LINES);
    struct test_client *c = test_client_post(s, CHAT, "", wr_buf_view(&body));
    test_until(s, s->asked_count == 1);
    sqlite3 *held = test_hold_store(s);
    test_say(s, TEST_WHOLE("400 Bad Request", TOO_LONG));
    test_until(s, s->service.waiting);
    test_leave(c);
    test_until(s, !s->service.waiting);
    test_let_store_go(held);
    test_until(s, test_is_told(s, 1));
    assert_int_equal(s->asked_count, 1);
    assert_non_null(strstr(test_log(s), "\"end\":\"client_gone\""));
    wr_buf_release(&body);
    test_service_free(s);
}

/* ---- a projection that comes too late ---- */

static void who_waits_too_long_goes_as_it_came(void **state)
{
    struct test_service *s = test_service_new("");
    struct wr_buf body;
    (void)state;
    s->config->project_ms_max = 0;
    test_chat(&body, "m", RESULTS, LARGE_LINES);
    sqlite3 *held = test_hold_store(s);
    struct test_client *c = test_client_post(s, CHAT, "", wr_buf_view(&body));
    test_until(s, s->asked_count == 1);
    assert_null(s->service.waiting);
    assert_true(wr_span_eq(test_asked(s, 0), wr_buf_view(&body)));
    test_say(s, OK);
    test_until(s, test_is_answered(c)); /* the answer waits for nothing */
    test_let_store_go(held);
    test_until(s, test_is_told(s, 1));
    assert_non_null(strstr(test_log(s), "\"held_back\":\"deadline_hard\""));
    assert_non_null(strstr(test_log(s), "\"end\":\"done\""));
    test_until(s, !uv_is_active((uv_handle_t *)&s->service.deadline));
    wr_buf_release(&body);
    test_service_free(s);
}

/* ---- how the next one leaves ---- */

/* One more result than the last time, in a session of its own. */
static void post_turn(struct test_service *s, size_t results, size_t told)
{
    struct wr_buf body;

    test_upstream_says(s, OK);
    test_chat(&body, "m", results, LARGE_LINES);
    struct test_client *c =
        test_client_post(s, CHAT, "x-weir-session: one\r\n", wr_buf_view(&body));
    test_until(s, test_is_told(s, told) && test_is_answered(c));
    wr_buf_release(&body);
}

/* Of the exchange that was told last. */
static void expect_last(struct test_service *s, const char *behaviour, const char *words)
{
    const char *log = test_log(s), *line = log, *next;

    while ((next = strchr(line, '\n')) && next[1])
        line = next + 1;
    if (!strstr(line, words))
        fail_msg("%s: %s is not in %s", behaviour, words, line);
}

static void post_late(struct test_service *s, size_t results, size_t told)
{
    struct wr_buf body;

    s->config->project_ms_max = 0;
    test_chat(&body, "m", results, LARGE_LINES);
    sqlite3 *held = test_hold_store(s);
    test_upstream_says(s, OK);
    struct test_client *c =
        test_client_post(s, CHAT, "x-weir-session: one\r\n", wr_buf_view(&body));
    test_until(s, test_is_answered(c));
    assert_true(wr_span_eq(test_asked(s, s->asked_count - 1), wr_buf_view(&body)));
    test_let_store_go(held);
    test_until(s, test_is_told(s, told));
    s->config->project_ms_max = TEST_PATIENCE_S * 1000;
    wr_buf_release(&body);
}

/* Its marks say that it left otherwise. */
static void the_next_of_one_that_was_late_declares_its_forms(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    post_turn(s, 2, 1);
    post_turn(s, 3, 2);
    expect_last(s, "nothing is out of the ordinary", "\"step\":false,\"step_reason\":null");
    post_late(s, 4, 3);
    expect_last(s, "it went as it came", "\"held_back\":\"deadline_hard\"");
    post_turn(s, 5, 4);
    expect_last(s, "the next is short again", "\"step\":true,\"step_reason\":\"back\"");
    post_turn(s, 6, 5);
    expect_last(s, "and the one behind it goes on", "\"step\":false,\"step_reason\":null");
    test_service_free(s);
}

/* Its step is marked, and nobody was sent it. */
static void the_next_of_one_that_was_not_sent_declares_its_step(void **state)
{
    struct test_service *s = test_service_new("");
    struct wr_buf body;
    (void)state;
    post_turn(s, 2, 1);
    test_chat(&body, "m", 3, LARGE_LINES);
    sqlite3 *held = test_hold_store(s);
    struct test_client *c = test_client_post(
        s, CHAT, "x-weir-session: one\r\nx-weir-policy: exact\r\n", wr_buf_view(&body));
    test_until(s, s->service.waiting);
    test_leave(c);
    test_until(s, !s->service.waiting);
    test_let_store_go(held);
    test_until(s, test_is_told(s, 2));
    expect_last(s, "it was not sent", "\"end\":\"client_gone\"");
    post_turn(s, 4, 3);
    expect_last(s, "the next is whole", "\"step\":true,\"step_reason\":\"policy\"");
    post_turn(s, 5, 4);
    expect_last(s, "and the one behind it goes on", "\"step\":false");
    wr_buf_release(&body);
    test_service_free(s);
}

/* What was late at first has left whole like all before it; where nothing is shortened after it
 * either, nothing has changed. */
static void the_next_of_one_that_was_late_may_be_no_step(void **state)
{
    struct test_service *s = test_service_new("policy: exact\n");
    (void)state;
    post_turn(s, 2, 1);
    post_late(s, 3, 2);
    post_turn(s, 4, 3);
    expect_last(s, "nothing is short", "\"step\":false");
    test_service_free(s);
}

/* A session that is projected is late once, and refused for that: it goes again as it always did,
 * once the thread is done with it. */
static void who_was_late_and_is_refused_goes_projected(void **state)
{
    struct test_service *s = test_service_new("");
    struct wr_buf body;
    (void)state;
    test_upstream_says(s, OK);
    test_chat(&body, "m", RESULTS, LARGE_LINES);
    struct test_client *first = test_client_post(s, CHAT, "", wr_buf_view(&body));
    test_until(s, test_is_told(s, 1) && test_is_answered(first));
    s->config->project_ms_max = 0;
    wr_buf_release(&body);
    test_chat(&body, "m", RESULTS + 1, LARGE_LINES);
    sqlite3 *held = test_hold_store(s);
    struct test_client *c = test_client_post(s, CHAT, "", wr_buf_view(&body));
    test_until(s, s->asked_count == 2);
    assert_true(wr_span_eq(test_asked(s, 1), wr_buf_view(&body)));
    s->config->project_ms_max = TEST_PATIENCE_S * 1000;
    test_upstream_says(s, NULL);
    test_upstream_says(s, OK);
    test_say(s, TEST_WHOLE("400 Bad Request", UNBOUND));
    test_let_store_go(held);
    test_until(s, test_is_told(s, 2) && test_is_answered(c));
    assert_int_equal(test_status(c), 200);
    assert_int_equal(s->asked_count, 3);
    assert_false(wr_span_eq(test_asked(s, 2), wr_buf_view(&body)));
    assert_non_null(strstr(test_log(s), "\"retry_reason\":\"thinking_bound\""));
    wr_buf_release(&body);
    test_service_free(s);
}

static void a_refusal_is_shown_where_the_second_try_takes_too_long(void **state)
{
    struct test_service *s = test_service_new("policy: tight\n");
    struct wr_buf body;
    (void)state;
    test_chat(&body, "m", RESULTS, LARGE_LINES);
    struct test_client *c = test_client_post(s, CHAT, "", wr_buf_view(&body));
    test_until(s, s->asked_count == 1);
    s->config->project_ms_max = 0;
    sqlite3 *held = test_hold_store(s);
    test_say(s, TEST_WHOLE("400 Bad Request", TOO_LONG));
    test_until(s, test_is_answered(c));
    assert_int_equal(test_status(c), 400);
    assert_true(test_has(&c->got, TOO_LONG));
    test_let_store_go(held);
    test_until(s, test_is_told(s, 1));
    assert_int_equal(s->asked_count, 1);
    wr_buf_release(&body);
    test_service_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_that_leaves_takes_the_request_with_it),
        cmocka_unit_test(a_client_that_leaves_within_its_body_asks_nobody),
        cmocka_unit_test(a_client_that_leaves_while_it_is_projected_asks_nobody),
        cmocka_unit_test(a_client_that_leaves_while_it_is_projected_again_is_not_sent_again),
        cmocka_unit_test(who_waits_too_long_goes_as_it_came),
        cmocka_unit_test(the_next_of_one_that_was_late_declares_its_forms),
        cmocka_unit_test(the_next_of_one_that_was_late_may_be_no_step),
        cmocka_unit_test(the_next_of_one_that_was_not_sent_declares_its_step),
        cmocka_unit_test(who_was_late_and_is_refused_goes_projected),
        cmocka_unit_test(a_refusal_is_shown_where_the_second_try_takes_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
