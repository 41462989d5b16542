/* What may be said over HTTP, and what is refused; what it does to requests is played by
 * tests/upstream/steer_cases.py. */
#include "proxy/steer_page.h"

#include "proxy/audit.h"
#include "tests/test_file.h"
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

static struct test_service *service_with_steering(const char *yaml)
{
    struct test_service *s = test_service_new(yaml);

    s->service.steer = wr_steer_page_new(&s->loop, s->config);
    assert_non_null(s->service.steer);
    return s;
}

static void what_is_wrong_is_told(void **state)
{
    static const struct test_call calls[] = {
        {"a path has its methods", "PUT", "/weir/v1/pin", "", "{}", 405,
         "{\"error\":{\"message\":\"this path has another method\"}}", NULL},
        {"what is written is not read", "GET", "/weir/v1/pin", "", "", 405,
         "{\"error\":{\"message\":\"this path has another method\"}}", NULL},
        {"it is told which there are", "GET", "/weir/v1/pin", "", "", 405, "\r\nAllow: POST\r\n",
         NULL},
        {"also of one that is read", "PUT", "/weir/v1/plan", "", "{}", 405,
         "\r\nAllow: GET, POST\r\n", NULL},
        {"and of the policy", "DELETE", "/weir/v1/policy", "", "", 405, "\r\nAllow: GET, POST\r\n",
         NULL},
        {"a plan is one session's", "GET", "/weir/v1/plan", "", "", 400,
         "{\"error\":{\"message\":\"name a session\"}}", "Allow"},
        {"to take it too", "POST", "/weir/v1/plan", "", " ", 400, "name a session", NULL},
        {"no body that is none", "POST", "/weir/v1/pin", "", "[]", 400,
         "{\"error\":{\"message\":\"the body is no JSON object\"}}", NULL},
        {"and no torn one", "POST", "/weir/v1/pause", "", "{", 400, "the body is no JSON object",
         NULL},
        {"a session that is not there", "POST", "/weir/v1/undo", "", "{\"session\":\"nobody\"}",
         404, "{\"error\":{\"message\":\"no session is called so", NULL},
        {"nor is its plan", "GET", "/weir/v1/plan?session=nobody", "", "", 404,
         "no session is called so", NULL},
        {"a policy is named in a body", "POST", "/weir/v1/policy", "", "7", 400,
         "{\"error\":{\"message\":\"the body is no JSON object\"}}", NULL},
        {"or null is", "POST", "/weir/v1/policy", "", "{}", 400,
         "{\"error\":{\"message\":\"name a policy, or null for the configured one\"}}", NULL},
    };
    static const struct test_call without[] = {
        {"without a store nothing is kept", "POST", "/weir/v1/pin", "", "{}", 503,
         "weir: there is no store to keep that in", NULL},
    };
    struct test_service *s = service_with_steering("");
    (void)state;

    test_calls(s, calls, WR_COUNT_OF(calls));
    test_service_free(s);
    s = service_with_steering(TEST_NO_STORE);
    test_calls(s, without, WR_COUNT_OF(without));
    test_service_free(s);
}

static void a_session_is_steered(void **state)
{
    static const struct test_call calls[] = {
        {"its plan", "GET", "/weir/v1/plan?x=1&session=weir%3As1", "", "", 200,
         "{\"said\":false,\"price\":null,\"steering\":{\"session\":\"weir:s1\",\"exact\":false,"
         "\"all_paused\":false,\"orders\":0,",
         NULL},
        {"a path is pinned", "POST", "/weir/v1/pin", "",
         "{\"session\":\"weir:s1\",\"path\":\"f0.c\"}", 200, "{\"said\":true,", NULL},
        {"and a tool", "POST", "/weir/v1/pin", "",
         "{\"session\":\"weir:s1\",\"tool\":\"read_file\"}", 200,
         "\"pins\":[{\"path\":\"f0.c\"},{\"tool\":\"read_file\"}]", NULL},
        {"and a handle", "POST", "/weir/v1/pin", "",
         "{\"session\":\"weir:s1\",\"handle\":\"wr_0123456789\"}", 200,
         "{\"tool\":\"read_file\"},{\"handle\":\"wr_0123456789\"}],", NULL},
        {"what is named twice", "POST", "/weir/v1/pin", "",
         "{\"session\":\"weir:s1\",\"path\":\"f0.c\",\"tool\":\"x\"}", 400, "{\"error\":", NULL},
        {"nothing to pin", "POST", "/weir/v1/pin", "", "{\"session\":\"weir:s1\"}", 400,
         "{\"error\":", NULL},
        {"a pin is taken back", "POST", "/weir/v1/unpin", "",
         "{\"session\":\"weir:s1\",\"path\":\"f0.c\"}", 200,
         "\"pins\":[{\"tool\":\"read_file\"},{\"handle\":", NULL},
        {"nothing was taken out", "POST", "/weir/v1/undo", "", "{\"session\":\"weir:s1\"}", 404,
         "{\"error\":", NULL},
        {"it is paused", "POST", "/weir/v1/pause", "", "{\"session\":\"weir:s1\"}", 200,
         "\"exact\":true,\"all_paused\":false", NULL},
        {"and goes on", "POST", "/weir/v1/resume", "", "{\"session\":\"weir:s1\"}", 200,
         "\"exact\":false", NULL},
        {"all go on", "GET", "/weir/v1/pause", "", "", 200, "\"all_paused\":false", NULL},
        {"all are paused", "POST", "/weir/v1/pause", "", "", 200, "\"all_paused\":true", NULL},
        {"which is told", "GET", "/weir/v1/pause", "", "", 200, "\"all_paused\":true", NULL},
    };
    struct test_service *s = service_with_steering("");
    (void)state;

    test_session(s, "s1");
    test_calls(s, calls, WR_COUNT_OF(calls));
    test_service_free(s);
}

static void new_sessions_get_the_policy_that_is_wanted(void **state)
{
    static const struct test_call calls[] = {
        {"the configured one", "GET", "/weir/v1/policy", "", "", 200,
         "{\"policy\":\"small\",\"configured\":\"small\",\"is_wanted\":false,\"is_typed\":false,"
         "\"rules\":1}",
         NULL},
        {"one that is not there", "POST", "/weir/v1/policy", "", "{\"policy\":\"none\"}", 400,
         "no policy is called that; there are exact, ", NULL},
        {"another", "POST", "/weir/v1/policy", "", "{\"policy\":\"tight\"}", 200,
         "{\"policy\":\"tight\",\"configured\":\"small\",\"is_wanted\":true,", NULL},
        {"is kept", "GET", "/weir/v1/policy", "", "", 200, "{\"policy\":\"tight\",", NULL},
        {"until it is not wanted", "POST", "/weir/v1/policy", "", "{\"policy\":null}", 200,
         "{\"policy\":\"small\",\"configured\":\"small\",\"is_wanted\":false,", NULL},
    };
    static const struct test_call typed[] = {
        {"what was typed holds", "POST", "/weir/v1/policy", "", "{\"policy\":\"tight\"}", 409,
         "this server was started with --policy small, which new sessions get", NULL},
        {"and is told", "GET", "/weir/v1/policy", "", "", 200,
         "{\"policy\":\"small\",\"configured\":\"small\",\"is_wanted\":false,\"is_typed\":true,",
         NULL},
    };
    struct test_service *s = service_with_steering("rollout: [{model: x, policy: small}, "
                                                   "{model: y, mode: off}]\n");
    struct wr_policies *policies;
    (void)state;

    assert_int_equal(wr_policies_new(&policies, wr_span_of(test_policies), NULL), WEIR_OK);
    assert_int_equal(wr_config_set_policies(s->config, policies, NULL), WEIR_OK);
    test_calls(s, calls, WR_COUNT_OF(calls));
    test_calls(s, calls + 2, 1);
    s->config->is_policy_said = true;
    test_calls(s, typed, WR_COUNT_OF(typed));
    test_service_free(s);
    wr_policies_free(policies);
}

/* What is said is noted, and that it was refused; what is read is not. */
static void who_steers_is_noted(void **state)
{
    static const struct test_call calls[] = {
        {"a pin", "POST", "/weir/v1/pin?x=1", "", "{\"session\":\"weir:s1\",\"path\":\"f0.c\"}",
         200, NULL, NULL},
        {"a plan", "GET", "/weir/v1/plan?session=weir:s1", "", "", 200, NULL, NULL},
        {"nobody", "POST", "/weir/v1/exact", "", "{\"session\":\"nobody\"}", 404, NULL, NULL},
    };
    static const char *const lines[] = {
        "\"act\":\"steer.pin\"",
        "\"tenant\":\"local\",\"session\":\"weir:s1\",\"status\":200,\"done\":true}\n",
        "\"act\":\"steer.exact\"",
        "\"tenant\":\"local\",\"session\":\"nobody\",\"status\":404,\"done\":false}\n",
    };
    struct test_service *s = service_with_steering("");
    char path[2 * WR_TEST_PATH_BYTES];
    struct wr_buf text;
    (void)state;

    (void)snprintf(path, sizeof(path), "%s/audit", s->dir.path);
    struct wr_audit *audit = wr_audit_open(path);
    assert_non_null(audit);
    wr_steer_page_audit(s->service.steer, audit);
    test_session(s, "s1");
    test_calls(s, calls, WR_COUNT_OF(calls));
    wr_audit_close(audit);
    wr_buf_init(&text, TEST_BYTES_MAX);
    assert_true(wr_test_file(path, &text));
    wr_buf_byte(&text, '\0');
    const char *at = text.bytes;
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++) {
        at = strstr(at, lines[i]);
        if (!at)
            fail_msg("%s: %s", lines[i], text.bytes);
    }
    assert_string_equal(at, lines[WR_COUNT_OF(lines) - 1]);
    wr_buf_release(&text);
    test_service_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_paths_are_known),
                                       cmocka_unit_test(what_is_wrong_is_told),
                                       cmocka_unit_test(a_session_is_steered),
                                       cmocka_unit_test(new_sessions_get_the_policy_that_is_wanted),
                                       cmocka_unit_test(who_steers_is_noted),
                                       cmocka_unit_test(it_comes_and_goes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
