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

/* Only where it can be had again from the store of the server. */
static void what_is_long_is_taken_out_of_a_request(void **state)
{
    enum { LINES = 900 };
    struct test_service *s = test_service_new("");
    struct wr_buf events;
    (void)state;

    wr_buf_init(&events, TEST_BYTES_MAX);
    wr_buf_text(&events, "{\"events\":[{\"kind\":\"assistant\",\"calls\":[{\"id\":\"c\",\"name\":"
                         "\"bash\",\"arguments\":\"{\\\"command\\\":\\\"cat "
                         "log\\\"}\"}]},{\"kind\":\"result\",\"call_id\":\"c\",\"text\":\"");
    for (int i = 0; i < LINES; i++)
        wr_buf_printf(&events, "%05d src/mod_%d.py: item %d is fine\\n", i, i % 7, i * 7919 % 1000);
    wr_buf_text(&events, "\"}]}");
    wr_buf_byte(&events, '\0');
    const struct test_call calls[] = {
        {"it is made", "POST", SESSIONS, "",
         "{\"id\":\"a\",\"model\":\"gpt-5\",\"tools\":[{\"name\":\"bash\",\"schema\":{\"type\":"
         "\"object\"}},{\"name\":\"weir_recall\",\"schema\":{\"type\":\"object\",\"properties\":{"
         "\"handle\":{\"type\":\"string\"}}}}]}",
         201, NULL, NULL},
        {"words come", "POST", SESSIONS "/a/events", "",
         "{\"events\":[{\"kind\":\"user\",\"text\":\"Go.\"}]}", 200, NULL, NULL},
        {"and are asked", "POST", SESSIONS "/a/render", "", "{\"dialect\":\"chat\"}", 200, "Go.",
         NULL},
        {"a log comes", "POST", SESSIONS "/a/events", "", events.bytes, 200, "\"pending\":[]",
         NULL},
        {"and is short in the request", "POST", SESSIONS "/a/render", "", "{\"dialect\":\"chat\"}",
         200, "[weir ", "00450 src/"},
    };
    test_calls(s, calls, WR_COUNT_OF(calls));
    wr_buf_release(&events);
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
        cmocka_unit_test(what_is_long_is_taken_out_of_a_request),
        cmocka_unit_test(a_method_that_is_not_there_is_told_which_are),
        cmocka_unit_test(without_a_store_there_are_none),
        cmocka_unit_test(the_paths_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
