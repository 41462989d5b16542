#include "weir/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_dir.h"
#include "weir/session.h"

static struct weir_session *open_in(const char *dir, const char *more)
{
    struct weir_session *session = NULL;
    struct weir_called called;
    char json[1000];

    int len = snprintf(json, sizeof(json), "{\"dir\":\"%s\",\"now_ms\":1000%s}", dir, more);
    weir_status status = weir_session_call_open(NULL, json, (size_t)len, &session, &called, NULL);
    if (status)
        fail_msg("%s", called.json);
    weir_called_release(&called);
    return session;
}

/* The answer begins with `wanted`; an empty `bytes` is none. */
static void expect(struct weir_session *session, const char *method, const char *json,
                   const char *bytes, weir_status status, const char *wanted)
{
    struct weir_called called;
    weir_status got = weir_session_call(session, method, json, strlen(json),
                                        bytes[0] ? bytes : NULL, strlen(bytes), &called, NULL);
    if (got != status || !called.json || strncmp(called.json, wanted, strlen(wanted)) != 0)
        fail_msg("%s %s: status %d, %s", method, json, (int)got, called.json);
    weir_called_release(&called);
}

static void a_loop_is_driven_by_json(void **state)
{
    static const char answer[] =
        "{\"model\":\"gpt-5\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":null,"
        "\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"read\","
        "\"arguments\":\"{}\"}}]}}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}";
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_session *s = open_in(dir.path, ",\"model\":\"gpt-5\"");
    struct weir_called called;

    expect(s, "set_prompt", "{\"text\":\"You read.\"}", "", WEIR_OK, "{\"event\":");
    expect(s, "set_tools", "{\"tools\":[{\"name\":\"read\",\"description\":\"reads\"}]}", "",
           WEIR_OK, "{}");
    expect(s, "say", "{\"now_ms\":2000}", "What is in a.txt?", WEIR_OK, "{\"event\":");
    assert_int_equal(weir_session_call(s, "request", "{\"dialect\":\"chat\",\"now_ms\":3000}", 32,
                                       NULL, 0, &called, NULL),
                     WEIR_OK);
    assert_non_null(strstr(called.bytes.ptr, "What is in a.txt?"));
    assert_non_null(strstr(called.bytes.ptr, "\"name\":\"read\""));
    weir_called_release(&called);
    expect(
        s, "answer", "{\"dialect\":\"chat\"}", answer, WEIR_OK,
        "{\"pending\":[{\"id\":\"c1\",\"name\":\"read\",\"arguments\":\"{}\",\"is_begun\":false}]");
    expect(s, "request", "{\"dialect\":\"chat\"}", "", WEIR_INVALID, "{\"error\":");
    expect(s, "begin_call", "{\"call_id\":\"c1\"}", "", WEIR_OK, "{}");
    expect(
        s, "pending", "", "", WEIR_OK,
        "{\"pending\":[{\"id\":\"c1\",\"name\":\"read\",\"arguments\":\"{}\",\"is_begun\":true}]");
    expect(s, "result", "{\"call_id\":\"c2\"}", "x", WEIR_NOTFOUND, "{\"error\":");
    expect(s, "result", "{\"call_id\":\"c1\"}", "hello", WEIR_OK, "{\"pending\":[]}");
    expect(s, "request", "{\"dialect\":\"messages\"}", "", WEIR_OK, "{\"is_changed\":");
    expect(s, "answer", "{\"text\":\"It says hello.\",\"calls\":[]}", "", WEIR_OK,
           "{\"pending\":[]}");
    expect(s, "add_usage", "{\"input_tokens\":3}", "", WEIR_OK, "{}");
    expect(s, "run", "{\"now_ms\":4000}", "", WEIR_OK, "{\"turns\":2,");
    expect(s, "context", "", "", WEIR_OK, "{\"system_tokens\":");
    expect(s, "refused", "{}", "{\"error\":{\"message\":\"no\"}}", WEIR_OK,
           "{\"is_too_long\":false}");
    expect(s, "compact", "{}", "", WEIR_OK, "{\"is_taken\":false,");
    expect(s, "switch_model", "{\"model\":\"gpt-4o\"}", "", WEIR_OK, "{}");
    expect(s, "steer", "{\"text\":\"and b.txt\"}", "", WEIR_OK, "{\"event\":");
    expect(s, "abort", "{\"text\":\"enough\"}", "", WEIR_OK, "{\"event\":");
    weir_session_close(s);
    s = open_in(dir.path, ",\"must_exist\":true");
    expect(s, "pending", "", "", WEIR_OK, "{\"pending\":[]}");
    weir_session_close(s);
    wr_test_dir_remove(&dir);
    (void)state;
}

static const struct {
    const char *behaviour, *method, *json;
    weir_status status;
} wrong[] = {
    {"a method that is not there", "sya", "{}", WEIR_NOTFOUND},
    {"a member that is not there", "say", "{\"txet\":\"x\"}", WEIR_INVALID},
    {"no words", "say", "{\"text\":\" \"}", WEIR_INVALID},
    {"what is no JSON", "say", "{\"text\":", WEIR_SYNTAX},
    {"tools that are no list", "set_tools", "{\"tools\":{}}", WEIR_INVALID},
    {"an API that is not there", "request", "{\"dialect\":\"x\"}", WEIR_INVALID},
    {"nothing to answer", "request", "{\"dialect\":\"chat\"}", WEIR_INVALID},
    {"a model without a name", "switch_model", "{}", WEIR_INVALID},
};

static void what_is_wrong_is_said_and_changes_nothing(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_session *session = open_in(dir.path, ""), *none;
    struct weir_called called;
    uint64_t last_event = weir_session_last_event(session);

    for (size_t i = 0; i < WR_COUNT_OF(wrong); i++)
        expect(session, wrong[i].method, wrong[i].json, "", wrong[i].status,
               "{\"error\":{\"status\":\"WEIR_");
    assert_int_equal(weir_session_last_event(session), last_event);
    weir_session_close(session);
    assert_int_equal(weir_session_call_open(NULL, "{}", 2, &none, &called, NULL), WEIR_INVALID);
    assert_null(none);
    weir_called_release(&called);
    wr_test_dir_remove(&dir);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_is_driven_by_json),
        cmocka_unit_test(what_is_wrong_is_said_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
