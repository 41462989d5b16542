/* Which paths are the page's, what it adds to a call and how it refuses one; what the library
 * answers is held to its document by tests/upstream/call_cases.py. */
#include "proxy/call_page.h"

#include "tests/test_service.h"

#define HI "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}"

static void the_paths_are_known(void **state)
{
    static const struct {
        const char *target;
        bool is_it;
    } rows[] = {{"/weir/v1/project", true},
                {"/weir/v1/count", true},
                {"/weir/v1/condense?x=1", true},
                {"/weir/v1/recall", true},
                {"/weir/v1/models", true},
                {"/v1/compress", true},
                {"/weir/v1/webhook", true},
                {"/v1/retrieve/0123456789abcdef0123?query=a", true},
                {"/v1/retrieve/", false},
                {"/v1/retrieve", false},
                {"/v1/models", false}, /* the upstream's */
                {"/v1/compress/response", false},
                {"/p/openai/v1/compress", false},
                {"/weir/v1/projects", false},
                {"/weir/v1/project/x", false},
                {"/weir/v1/webhooks", false},
                {"/weir/v1/sessions", false},
                {"/weir/v1/traffic", false},
                {"/weir/v1/", false},
                {"", false}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_call_page_is(wr_span_of(rows[i].target)) != rows[i].is_it)
            fail_msg("%s", rows[i].target);
}

static void it_comes_and_goes(void **state)
{
    struct wr_config *config = wr_config_new();
    uv_loop_t loop;
    (void)state;
    assert_non_null(config);
    assert_int_equal(uv_loop_init(&loop), 0);
    struct wr_call_page *page = wr_call_page_new(&loop, config, (weir_span){"", 0});
    assert_non_null(page);
    assert_null(wr_call_page_new(&loop, config, WR_LIT("policies: 7\n")));
    while (uv_run(&loop, UV_RUN_NOWAIT))
        ;
    wr_call_page_free(page);
    assert_int_equal(uv_loop_close(&loop), 0);
    wr_call_page_free(NULL);
    wr_config_free(config);
}

static struct test_service *service_with_calls(const char *yaml)
{
    struct test_service *s = test_service_new(yaml);

    s->service.calls = wr_call_page_new(&s->loop, s->config, wr_span_of(test_policies));
    assert_non_null(s->service.calls);
    return s;
}

static void calls_are_answered(void **state)
{
    static const struct test_call calls[] = {
        {"a text is counted", "POST", "/weir/v1/count", "", "{\"text\":\"What is a weir?\"}", 200,
         "{\"tokens\":", "Allow"},
        {"its path may have a query", "POST", "/weir/v1/count?x=1", "", "{\"text\":\"x\"}", 200,
         "{\"tokens\":", NULL},
        {"models are told of", "POST", "/weir/v1/models", "", "", 200, "{\"ids\":[\"", NULL},
        {"a method of a path", "GET", "/weir/v1/count", "", "", 405, "\r\nAllow: POST\r\n", NULL},
        {"what is packed is not read", "POST", "/weir/v1/count", "Content-Encoding: gzip\r\n",
         "{\"text\":\"x\"}", 415, "bodies of calls are not compressed", NULL},
        {"what is called packed and is not", "POST", "/weir/v1/count",
         "Content-Encoding: identity\r\n", "{\"text\":\"x\"}", 200, "tokens", NULL},
        {"a member that is not known", "POST", "/weir/v1/count", "", "{\"txet\":\"x\"}", 400,
         "{\"error\":{\"message\":\"", NULL},
        {"its place is told", "POST", "/weir/v1/count", "", "{\"text\":}", 400, ",\"at_byte\":8}}",
         NULL},
        {"an encoding that is not there", "POST", "/weir/v1/count", "",
         "{\"text\":\"x\",\"encoding\":\"nosuch\"}", 404, "\"status\":\"WEIR_NOTFOUND\"", NULL},
        {"a request is projected", "POST", "/weir/v1/project", "", "{\"body\":" HI "}", 200,
         "\"body\":\"{", NULL},
        {"the server's policy is meant", "POST", "/weir/v1/project", "",
         "{\"session\":\"one\",\"body\":" HI "}", 200, "\"policy\":\"small\"", NULL},
        {"unless it says one", "POST", "/weir/v1/project", "",
         "{\"session\":\"two\",\"policy_default\":\"tight\",\"body\":" HI "}", 200,
         "\"policy\":\"tight\"", NULL},
        {"one of null is none", "POST", "/weir/v1/project", "",
         "{\"session\":\"three\",\"policy_default\":null,\"body\":" HI "}", 200,
         "\"policy\":\"small\"", NULL},
        {"a clock of its own is the only one", "POST", "/weir/v1/project", "",
         "{\"now_ms\":5,\"body\":" HI "}", 200, "\"body\":\"{", NULL},
        {"the tenant is the door's", "POST", "/weir/v1/project", "",
         "{\"body\":" HI ",\"tenant\":\"other\"}", 400,
         "'tenant' cannot be said here: it is the one of your access "
         "token\",\"status\":\"WEIR_INVALID\"",
         NULL},
        {"of null too", "POST", "/weir/v1/recall", "", "{\"tenant\":null}", 400,
         "'tenant' cannot be said", NULL},
        {"where it stands is told", "POST", "/weir/v1/recall", "", "{\"tenant\":null}", 400,
         ",\"at_byte\":10}}", NULL},
        {"nothing is a call without members", "POST", "/weir/v1/recall", "", " ", 400, "handle",
         NULL},
        {"no object is none of ours to mend", "POST", "/weir/v1/recall", "", "[]", 400,
         "{\"error\":{\"message\":", NULL},
        {"what is not stored", "POST", "/weir/v1/recall", "",
         "{\"handle\":\"wr_00000000000000000000\"}", 404, "\"status\":\"WEIR_NOTFOUND\"", NULL},
        {"a gateway compresses", "POST", "/v1/compress", "", HI, 200, "{\"messages\":[", NULL},
        {"by POST", "GET", "/v1/compress", "", "", 405, "\r\nAllow: POST\r\n", NULL},
        {"and retrieves", "GET", "/v1/retrieve/00000000000000000000", "", "", 404, NULL, NULL},
        {"by GET", "POST", "/v1/retrieve/00000000000000000000", "", "{}", 405, "\r\nAllow: GET\r\n",
         NULL},
        {"a webhook", "POST", "/weir/v1/webhook", "", "{\"request\":{\"json\":" HI "}}", 200,
         "{\"verdict\":true}", NULL},
        {"that asks nothing", "POST", "/weir/v1/webhook", "", "{}", 400,
         "\"status\":\"WEIR_INVALID\"", NULL},
    };
    struct test_service *s = service_with_calls("");
    (void)state;

    test_calls(s, calls, WR_COUNT_OF(calls));
    test_service_free(s);
}

static void a_gateway_may_pass_its_work_by(void **state)
{
    struct test_service *s = service_with_calls("");
    struct wr_buf chat;
    (void)state;

    test_chat(&chat, "gpt-4o", 1, 900);
    chat.len--;
    wr_buf_text(&chat, ",\"config\":{\"mode\":\"ccr\"}}");
    wr_buf_byte(&chat, '\0');
    struct test_call calls[] = {
        {"it is cut", "POST", "/v1/compress", "", chat.bytes, 200,
         "\"tokens_saved\":", "_saved\":0,"},
        {"or not", "POST", "/v1/compress", "x-headroom-bypass: TRUE\r\n", chat.bytes, 200,
         "\"tokens_saved\":0,", NULL},
        {"by that word alone", "POST", "/v1/compress", "x-headroom-bypass: yes\r\n", chat.bytes,
         200, "\"tokens_saved\":", "_saved\":0,"},
        {"its conversation has a name", "POST", "/v1/compress", "x-headroom-affinity: c\r\n",
         chat.bytes, 200, "\"tokens_saved\":", "_saved\":0,"},
    };
    test_calls(s, calls, WR_COUNT_OF(calls));
    wr_buf_release(&chat);
    test_service_free(s);
}

static void without_a_store_calls_are_answered_all_the_same(void **state)
{
    static const struct test_call calls[] = {
        {"a projection", "POST", "/weir/v1/project", "", "{\"body\":" HI "}", 200, "\"body\":\"{",
         NULL},
        {"nothing to recall", "POST", "/weir/v1/recall", "",
         "{\"handle\":\"wr_00000000000000000000\"}", 400, "store", NULL},
    };
    struct test_service *s = service_with_calls(TEST_NO_STORE);
    (void)state;

    test_calls(s, calls, WR_COUNT_OF(calls));
    test_service_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paths_are_known), cmocka_unit_test(calls_are_answered),
        cmocka_unit_test(a_gateway_may_pass_its_work_by),
        cmocka_unit_test(without_a_store_calls_are_answered_all_the_same),
        cmocka_unit_test(it_comes_and_goes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
