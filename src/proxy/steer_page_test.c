/* Which paths are the page's, and what it refuses; what they do is played by
 * tests/upstream/steer_cases.py. */
#include "proxy/steer_page.h"

#include "tests/test_service.h"

static void the_paths_are_known(void **state)
{
    static const struct {
        const char *target;
        bool is_it;
    } rows[] = {{"/weir/v1/plan", true},
                {"/weir/v1/plan?session=a", true},
                {"/weir/v1/pin", true},
                {"/weir/v1/unpin", true},
                {"/weir/v1/undo", true},
                {"/weir/v1/exact", true},
                {"/weir/v1/pause", true},
                {"/weir/v1/resume", true},
                {"/weir/v1/policy", true},
                {"/weir/v1/policies", false},
                {"/weir/v1/resume/all", false},
                {"/weir/v1/pins", false},
                {"/weir/v1/", false},
                {"/weir/v1/now", false},
                {"/v1/plan", false},
                {"/weir/v2/plan", false},
                {"", false}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_steer_page_is(wr_span_of(rows[i].target)) != rows[i].is_it)
            fail_msg("%s", rows[i].target);
}

static void it_comes_and_goes(void **state)
{
    struct wr_config *config = wr_config_new();
    uv_loop_t loop;
    (void)state;
    assert_non_null(config);
    assert_int_equal(uv_loop_init(&loop), 0);
    struct wr_steer_page *page = wr_steer_page_new(&loop, config);
    assert_non_null(page);
    while (uv_run(&loop, UV_RUN_NOWAIT))
        ;
    wr_steer_page_free(page);
    while (uv_run(&loop, UV_RUN_NOWAIT))
        ;
    assert_int_equal(uv_loop_close(&loop), 0);
    wr_steer_page_free(NULL);
    wr_config_free(config);
}

static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *behaviour, *yaml, *method, *path, *body;
        int status;
        const char *answer;
    } rows[] = {
        {"a path has its methods", "", "PUT", "pin", "{}", 405,
         "{\"error\":{\"message\":\"this path has another method\"}}"},
        {"what is written is not read", "", "GET", "pin", "", 405,
         "{\"error\":{\"message\":\"this path has another method\"}}"},
        {"it is told which there are", "", "GET", "pin", "", 405, "\r\nAllow: POST\r\n"},
        {"also of one that is read", "", "PUT", "plan", "{}", 405, "\r\nAllow: GET, POST\r\n"},
        {"and of the policy", "", "DELETE", "policy", "", 405, "\r\nAllow: GET, POST\r\n"},
        {"a plan is one session's", "", "GET", "plan", "", 400,
         "{\"error\":{\"message\":\"name a session\"}}"},
        {"a policy is named in a body", "", "POST", "policy", "7", 400,
         "{\"error\":{\"message\":\"the body is no JSON object\"}}"},
        {"or null is", "", "POST", "policy", "{}", 400,
         "{\"error\":{\"message\":\"name a policy, or null for the configured one\"}}"},
        {"without a store nothing is kept", TEST_NO_STORE, "POST", "pin", "{}", 503, "error"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_service *s = test_service_new(rows[i].yaml);
        struct test_client *c = test_client_new(s);
        struct wr_buf request;
        s->service.steer = wr_steer_page_new(&s->loop, s->config);
        assert_non_null(s->service.steer);
        wr_buf_init(&request, TEST_BYTES_MAX);
        wr_buf_printf(&request,
                      "%s /weir/v1/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                      "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                      rows[i].method, rows[i].path, strlen(rows[i].body), rows[i].body);
        test_send_bytes(c, wr_buf_view(&request));
        test_until(s, test_is_answered(c));
        if (test_status(c) != rows[i].status || !test_has(&c->got, rows[i].answer) ||
            (rows[i].status == 405) != test_has(&c->got, "\r\nAllow: "))
            fail_msg("%s: %s", rows[i].behaviour, test_text(&c->got));
        wr_buf_release(&request);
        test_service_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_paths_are_known),
                                       cmocka_unit_test(what_is_wrong_is_told),
                                       cmocka_unit_test(it_comes_and_goes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
