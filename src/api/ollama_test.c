#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/write.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/listing.h"

#define ASK            "{'role':'user','content':'go'}"
#define ASKED          "user text 0.0 critical = go\n"
#define CALL(name, a)  "{'function':{'name':'" name "','arguments':{'a':'" a "'}}}"
#define SAYS(calls)    "{'role':'assistant','content':'','tool_calls':[" calls "]}"
#define GIVE(name, r)  "{'role':'tool','content':'" r "','tool_name':'" name "'}"
#define BODY(messages) "{'model':'m','messages':[" messages "]}"

static const struct wr_listing_row rows[] = {
    {"words, instructions, tools",
     "{'messages':[{'role':'system','content':'s'}," ASK
     ",{'role':'assistant','content':'so'}],'tools':[{'type':'function'}]}",
     "none tools 0.- protocol fixed | [{'type':'function'}]\n"
     "system system 0.- critical | s\n" ASKED "assistant text 0.0 continuation group 3 = so\n"},
    {"images stand beside the words and stay",
     BODY("{'role':'user','content':'go','images':['AA','BB']},{'role':'user','content':'x',"
          "'images':[]}"),
     ASKED "user image 0.0 critical | ['AA','BB']\nuser text 0.0 critical = x\n"},
    {"thinking goes back as it came; calls are numbered, results find them by name and order",
     BODY(ASK ",{'role':'assistant','content':'a','thinking':'t','tool_calls':[" CALL(
         "frob", "b") "," CALL("grob",
                               "c") "," CALL("frob",
                                             "d") "]}," GIVE("grob",
                                                             "g") "," GIVE("frob",
                                                                           "1") "," GIVE("frob",
                                                                                         "2")),
     ASKED "assistant reasoning 0.0 continuation group 1 | t\n"
           "assistant text 0.0 continuation group 1 = a\n"
           "assistant tool_call 0.0 protocol frob##1 pair 7 group 1 | {'a':'b'}\n"
           "assistant tool_call 0.0 protocol grob##2 pair 6 group 1 | {'a':'c'}\n"
           "assistant tool_call 0.0 protocol frob##3 pair 8 group 1 | {'a':'d'}\n"
           "tool tool_result 1.0 condensable grob##2 pair 4 group 1 = g\n"
           "tool tool_result 1.0 condensable frob##1 pair 3 group 1 = 1\n"
           "tool tool_result 1.0 condensable frob##3 pair 5 group 1 = 2\n"},
    {"a result that names no tool is of the next call",
     BODY(ASK "," SAYS(CALL("frob", "b") "," CALL(
         "grob", "c")) ",{'role':'tool','content':'1'},{'role':'tool','content':'2'}"),
     ASKED "assistant tool_call 0.0 protocol frob##1 pair 3 group 1 | {'a':'b'}\n"
           "assistant tool_call 0.0 protocol grob##2 pair 4 group 1 | {'a':'c'}\n"
           "tool tool_result 1.0 condensable frob##1 pair 1 group 1 = 1\n"
           "tool tool_result 1.0 condensable grob##2 pair 2 group 1 = 2\n"},
    {"ids of newer servers go before names",
     BODY(ASK ",{'role':'assistant','content':'','tool_calls':[{'id':'x','function':{'name':'f',"
              "'arguments':{}}},{'id':'y','function':{'name':'f','arguments':{}}}]},"
              "{'role':'tool','content':'1','tool_name':'f','tool_call_id':'y'}"),
     ASKED "assistant tool_call 0.0 protocol f#x group 1 | {}\n"
           "assistant tool_call 0.0 protocol f#y pair 3 group 1 | {}\n"
           "tool tool_result 1.0 condensable f#y pair 2 group 1 = 1\n"},
    {"what is not known, or no text, stays exact and stays",
     BODY("{'role':'robot','content':'a'},{'role':'user','content':{'a':1}},'x',"
          "{'role':'user','role':'tool','content':'a'}"),
     "none other 0.- protocol fixed | {'role':'robot','content':'a'}\n"
     "user other 0.0 protocol fixed | {'a':1}\n"
     "none other 0.0 protocol fixed | x\n"
     "tool other 0.0 protocol fixed | {'role':'user','role':'tool','content':'a'}\n"},
};

static void messages_are_read(void **state)
{
    (void)state;
    wr_listing_check(rows, WR_COUNT_OF(rows), "ollama");
}

static void a_request_is_known_by_path_and_shape(void **state)
{
    static const struct {
        const char *body, *path;
        weir_dialect dialect;
        uint64_t answer_tokens;
        uint32_t window_tokens;
    } cases[] = {
        {BODY(ASK), "/api/chat", WEIR_DIALECT_OLLAMA, 0, 0},
        {BODY(ASK), "/v1/chat/completions", WEIR_DIALECT_CHAT, 0, 0},
        {BODY(ASK), NULL, WEIR_DIALECT_CHAT, 0, 0},
        {"{'messages':[" ASK "],'options':{'num_predict':7},'tools':[{'function':{}}]}", NULL,
         WEIR_DIALECT_OLLAMA, 7, 0},
        {"{'messages':[" ASK "],'options':{'num_predict':-1},'keep_alive':0}", NULL,
         WEIR_DIALECT_OLLAMA, 0, 0},
        {"{'messages':[" ASK "],'options':{'num_ctx':8192}}", NULL, WEIR_DIALECT_OLLAMA, 0, 8192},
        {"{'messages':[" ASK "],'options':{'num_ctx':-1}}", NULL, WEIR_DIALECT_OLLAMA, 0, 0},
        {"{'messages':[" ASK "],'options':{'num_ctx':1e30}}", NULL, WEIR_DIALECT_OLLAMA, 0, 0},
        {BODY(ASK "," SAYS(CALL("f", "b"))), NULL, WEIR_DIALECT_OLLAMA, 0, 0},
        {BODY(ASK "," GIVE("f", "b")), NULL, WEIR_DIALECT_OLLAMA, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, cases[i].body, NULL, cases[i].path);
        assert_int_equal(r.status, WEIR_OK);
        if (r.transcript.dialect != cases[i].dialect ||
            r.transcript.answer_tokens_max != cases[i].answer_tokens ||
            r.transcript.loads_tokens != cases[i].window_tokens)
            fail_msg("row %zu: %s, %llu", i, weir_dialect_name(r.transcript.dialect),
                     (unsigned long long)r.transcript.answer_tokens_max);
        wr_listing_release(&r);
    }
}

/* A result names the tool of its call, whoever wrote that. */
static void lines_become_messages(void **state)
{
    static const weir_span prompt = {"p", 1};
    static const char item[] =
        "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c2\","
        "\"function\":{\"name\":\"g\",\"arguments\":{}}}]}";
    weir_span items[] = {wr_span_of(item)};
    struct weir_call call = {WR_LIT("c1"), WR_LIT("f"), WR_LIT("{\"a\":1}")};
    struct weir_tool tool = {.name = WR_LIT("f"), .description = WR_LIT("d")};
    struct wr_body_head head = {.model = WR_LIT("m"),
                                .tools = &tool,
                                .tools_count = 1,
                                .prompts = &prompt,
                                .prompts_count = 1};
    struct wr_line lines[] = {
        {.kind = WR_LINE_WORDS, .text = WR_LIT("go")},
        {.kind = WR_LINE_ANSWER, .text = WR_LIT("so"), .calls = &call, .calls_count = 1},
        {.kind = WR_LINE_RESULT, .text = WR_LIT("r"), .call_id = WR_LIT("c1")},
        {.kind = WR_LINE_ANSWER, .items = items, .items_count = 1},
        {.kind = WR_LINE_RESULT, .text = WR_LIT("no"), .call_id = WR_LIT("c2")},
        {.kind = WR_LINE_NOTICE, .text = WR_LIT("n")},
    };
    struct wr_body body;
    struct wr_buf out;
    (void)state;

    wr_buf_init(&out, 100000);
    wr_body_init(&body, &wr_api_ollama, &out);
    wr_body_begin(&body, &head);
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++)
        wr_body_line(&body, &lines[i]);
    wr_body_end(&body);
    wr_body_release(&body);
    const char *wanted =
        "{\"model\":\"m\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
        "\"description\":\"d\",\"parameters\":{\"type\":\"object\"}}}],\"messages\":["
        "{\"role\":\"system\",\"content\":\"p\"},{\"role\":\"user\",\"content\":\"go\"},"
        "{\"role\":\"assistant\",\"content\":\"so\",\"tool_calls\":[{\"id\":\"c1\",\"function\":{"
        "\"name\":\"f\",\"arguments\":{\"a\":1}}}]},"
        "{\"role\":\"tool\",\"content\":\"r\",\"tool_name\":\"f\",\"tool_call_id\":\"c1\"},"
        "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c2\",\"function\":{"
        "\"name\":\"g\",\"arguments\":{}}}]},"
        "{\"role\":\"tool\",\"content\":\"no\",\"tool_name\":\"g\",\"tool_call_id\":\"c2\"},"
        "{\"role\":\"system\",\"content\":\"n\"}]}";
    if (!wr_span_is(wr_buf_view(&out), wanted))
        fail_msg("%.*s", (int)out.len, out.bytes);
    wr_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_read),
        cmocka_unit_test(a_request_is_known_by_path_and_shape),
        cmocka_unit_test(lines_become_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
