/* What the server makes of calls for sessions; what they answer is in sidecar_test.c. */
#include "proxy/sidecar.h"

#include "tests/test_service.h"

#define SESSIONS "/weir/v1/sessions"

/* Asks, and checks the answer. */
static void expect(struct test_service *s, const char *method, const char *path, const char *body,
                   int status, const char *holds)
{
    struct test_client *c = test_client_new(s);
    struct wr_buf request;

    wr_buf_init(&request, TEST_BYTES_MAX);
    wr_buf_printf(&request, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
                  method, path, strlen(body), body);
    test_send_bytes(c, wr_buf_view(&request));
    test_until(s, test_is_answered(c));
    if (test_status(c) != status || !test_has(&c->got, holds) ||
        (status == 405) != test_has(&c->got, "\r\nAllow: "))
        fail_msg("%s %s: %s", method, path, test_text(&c->got));
    wr_buf_release(&request);
}

static void a_session_is_kept_in_the_store(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;

    expect(s, "POST", SESSIONS, "{\"id\":\"a\",\"model\":\"gpt-5\"}", 201, "\"id\":\"a\"");
    expect(s, "GET", SESSIONS "?x=1", "", 200, "[\"a\"]");
    expect(s, "GET", SESSIONS "/a/context", "", 200, "\"window_tokens\":");
    s = test_service_again(s, "");
    expect(s, "GET", SESSIONS, "", 200, "[\"a\"]");
    test_service_free(s);
}

static void a_method_that_is_not_there_is_told_which_are(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;

    expect(s, "DELETE", SESSIONS, "", 405, "\r\nAllow: GET, POST\r\n");
    expect(s, "POST", SESSIONS "/a/context", "{}", 405, "\r\nAllow: GET\r\n");
    expect(s, "GET", SESSIONS "/a/render", "", 405, "\r\nAllow: POST\r\n");
    expect(s, "GET", SESSIONS "/a/nothing", "", 404, "the verbs are");
    test_service_free(s);
}

static void without_a_store_there_are_none(void **state)
{
    struct test_service *s = test_service_new(TEST_NO_STORE);
    (void)state;

    expect(s, "GET", SESSIONS, "", 503, "weir: there is no store to keep sessions in");
    test_service_free(s);
}

static void the_paths_are_known(void **state)
{
    (void)state;
    assert_true(wr_sidecar_page_is(WR_LIT(SESSIONS)));
    assert_true(wr_sidecar_page_is(WR_LIT(SESSIONS "?x=1")));
    assert_true(wr_sidecar_page_is(WR_LIT(SESSIONS "/a/events")));
    assert_false(wr_sidecar_page_is(WR_LIT(SESSIONS "s")));
    assert_false(wr_sidecar_page_is(WR_LIT("/weir/v1/plan")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_kept_in_the_store),
        cmocka_unit_test(a_method_that_is_not_there_is_told_which_are),
        cmocka_unit_test(without_a_store_there_are_none),
        cmocka_unit_test(the_paths_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
