/* What /mcp asks of a head, and how its answers leave; what the tools answer is in src/mcp. */
#include "proxy/mcp_page.h"

#include "proxy/audit.h"
#include "tests/test_file.h"
#include "tests/test_service.h"

#define JSON "Content-Type: application/json\r\n"
#define INITIALIZE                                                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" \
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"
#define PAUSE                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"weir_steer\"," \
    "\"arguments\":{\"do\":\"pause\",\"session\":\"weir:s1\"}}}"

static void the_path_is_known(void **state)
{
    (void)state;
    assert_true(wr_mcp_page_is(WR_LIT("/mcp")));
    assert_true(wr_mcp_page_is(WR_LIT("/mcp?x=1")));
    assert_false(wr_mcp_page_is(WR_LIT("/mcp/x")));
    assert_false(wr_mcp_page_is(WR_LIT("/mcpx")));
    assert_false(wr_mcp_page_is(WR_LIT("/v1/mcp")));
}

static void a_head_is_judged(void **state)
{
    static const struct test_call calls[] = {
        {"a message", "POST", "/mcp", JSON, INITIALIZE, 200,
         "\r\nContent-Type: application/json\r\n", "event:"},
        {"its type may say more", "POST", "/mcp",
         "Content-Type: text/x, APPLICATION/json ; charset=utf-8\r\n", INITIALIZE, 200,
         "\"serverInfo\":", NULL},
        {"no type", "POST", "/mcp", "", INITIALIZE, 415, "is application/json", NULL},
        {"a longer one", "POST", "/mcp", "Content-Type: application/jsonl\r\n", INITIALIZE, 415,
         "the Content-Type of a message is application/json", NULL},
        {"a coding", "POST", "/mcp", JSON "Content-Encoding: gzip\r\n", INITIALIZE, 415,
         "messages are not compressed", NULL},
        {"the coding that is none", "POST", "/mcp", JSON "Content-Encoding: identity\r\n",
         INITIALIZE, 200, "\"serverInfo\":", NULL},
        {"nothing to GET", "GET", "/mcp", "", "", 405, "\r\nAllow: POST\r\n", "error"},
        {"both are taken", "POST", "/mcp", JSON "Accept: application/json, text/event-stream\r\n",
         INITIALIZE, 200, "\r\nContent-Type: application/json\r\n", "event:"},
        {"JSON by a range", "POST", "/mcp", JSON "Accept: text/event-stream,application/*\r\n",
         INITIALIZE, 200, "\r\nContent-Type: application/json\r\n", "event:"},
        {"anything", "POST", "/mcp", JSON "Accept: text/html;q=1, */*;q=0.1\r\n", INITIALIZE, 200,
         "\r\nContent-Type: application/json\r\n", "event:"},
        {"events alone", "POST", "/mcp", JSON "Accept: text/event-stream\r\n", INITIALIZE, 200,
         "\r\n\r\nevent: message\ndata: {", NULL},
        {"events by a range", "POST", "/mcp", JSON "Accept: text/*\r\n", INITIALIZE, 200,
         "\r\nContent-Type: text/event-stream\r\n", NULL},
        {"neither", "POST", "/mcp", JSON "Accept: text/html, image/*\r\n", INITIALIZE, 406,
         "the answer is application/json or text/event-stream", NULL},
        {"what needs no answer has none", "POST", "/mcp", JSON "Accept: text/event-stream\r\n",
         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", 202,
         "\r\nContent-Length: 0\r\n", "Content-Type"},
    };
    struct test_service *s = test_service_new("");
    uint64_t refused = 0;
    (void)state;

    test_calls(s, calls, WR_COUNT_OF(calls));
    for (size_t i = 0; i < WR_COUNT_OF(calls); i++)
        refused += calls[i].status >= 400;
    assert_int_equal(atomic_load(&s->metrics->requests_refused), refused);
    assert_int_equal(s->service.requests_count, WR_COUNT_OF(calls) - refused);
    test_service_free(s);
}

static void a_message_is_a_line_of_the_log(void **state)
{
    static const struct test_call calls[] = {
        {"a message", "POST", "/r/0123456789abcdef/mcp", JSON "User-Agent: codex/1\r\n", INITIALIZE,
         200, NULL, NULL},
    };
    static const char *const members[] = {
        "\"request\":1,\"api\":\"mcp\",\"path\":\"/mcp\",\"tenant\":\"local\",\"agent\":\"codex\","
        "\"run\":\"0123456789abcdef\",\"status\":200,\"end\":\"done\",\"body_bytes_received\":",
        ",\"mcp_method\":\"initialize\",\"mcp_result\":\"done\"}\n",
    };
    struct test_service *s = test_service_new("");
    (void)state;

    test_calls(s, calls, WR_COUNT_OF(calls));
    const char *log = test_log(s);
    for (size_t i = 0; i < WR_COUNT_OF(members); i++)
        if (!strstr(log, members[i]))
            fail_msg("%s", log);
    assert_null(strstr(log, "mcp_tool"));
    test_service_free(s);
}

static void what_a_tool_changes_is_noted(void **state)
{
    static const struct test_call calls[] = {
        {"a pause", "POST", "/mcp", JSON, PAUSE, 200, "\"isError\":false", NULL},
        {"no act", "POST", "/mcp", JSON, INITIALIZE, 200, NULL, NULL},
    };
    struct test_service *s = test_service_new("");
    char path[2 * WR_TEST_PATH_BYTES];
    struct wr_buf text;
    (void)state;

    test_session(s, "s1");
    (void)snprintf(path, sizeof(path), "%s/audit", s->dir.path);
    s->service.audit = wr_audit_open(path);
    assert_non_null(s->service.audit);
    test_calls(s, calls, WR_COUNT_OF(calls));
    assert_non_null(strstr(test_log(s), "\"mcp_tool\":\"weir_steer\""));
    wr_audit_close(s->service.audit);
    wr_buf_init(&text, TEST_BYTES_MAX);
    assert_true(wr_test_file(path, &text));
    wr_buf_byte(&text, '\0');
    if (!strstr(text.bytes, "\"act\":\"mcp.pause\"") ||
        !strstr(text.bytes, "\"tenant\":\"local\",\"session\":\"weir:s1\",\"status\":200,") ||
        strchr(text.bytes, '\n') != text.bytes + text.len - 2)
        fail_msg("%s", text.bytes);
    wr_buf_release(&text);
    test_service_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_is_known),
        cmocka_unit_test(a_head_is_judged),
        cmocka_unit_test(a_message_is_a_line_of_the_log),
        cmocka_unit_test(what_a_tool_changes_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
