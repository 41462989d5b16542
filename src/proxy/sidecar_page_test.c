/* What the server makes of calls for sessions; what they answer is in sidecar_test.c. */
#include "proxy/sidecar.h"

#include "tests/test_service.h"

#define SESSIONS "/weir/v1/sessions"

static void a_session_is_kept_in_the_store(void **state)
{
    static const struct test_call calls[] = {
        {"it is made", "POST", SESSIONS, "", "{\"id\":\"a\",\"model\":\"gpt-5\"}", 201,
         "\"id\":\"a\"", NULL},
        {"and listed", "GET", SESSIONS "?x=1", "", "", 200, "[\"a\"]", NULL},
        {"and has a window", "GET", SESSIONS "/a/context", "", "", 200, "\"window_tokens\":", NULL},
    };
    struct test_service *s = test_service_new("");
    (void)state;

    test_calls(s, calls, WR_COUNT_OF(calls));
    s = test_service_again(s, "");
    test_calls(s, calls + 1, WR_COUNT_OF(calls) - 1);
    test_service_free(s);
}

static void a_method_that_is_not_there_is_told_which_are(void **state)
{
    static const struct test_call calls[] = {
        {"all", "DELETE", SESSIONS, "", "", 405, "\r\nAllow: GET, POST\r\n", NULL},
        {"one", "POST", SESSIONS "/a/context", "", "{}", 405, "\r\nAllow: GET\r\n", NULL},
        {"the other", "GET", SESSIONS "/a/render", "", "", 405, "\r\nAllow: POST\r\n", NULL},
        {"none", "GET", SESSIONS "/a/nothing", "", "", 404, "the verbs are", "Allow"},
        {"of one that is there", "GET", SESSIONS, "", "", 200, "[]", "Allow"},
    };
    struct test_service *s = test_service_new("");
    (void)state;

    test_calls(s, calls, WR_COUNT_OF(calls));
    test_service_free(s);
}

static void without_a_store_there_are_none(void **state)
{
    static const struct test_call calls[] = {{"no store", "GET", SESSIONS, "", "", 503,
                                              "weir: there is no store to keep sessions in", NULL}};
    struct test_service *s = test_service_new(TEST_NO_STORE);
    (void)state;

    test_calls(s, calls, WR_COUNT_OF(calls));
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
