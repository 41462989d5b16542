#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/write.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/listing.h"

#define ASK             "{'role':'user','content':[{'text':'go'}]}"
#define ASKED           "user text 0.0 critical = go\n"
#define USE(id, a)      "{'toolUse':{'toolUseId':'" id "','name':'frob','input':{'a':'" a "'}}}"
#define SAYS(blocks)    "{'role':'assistant','content':[" blocks "]}"
#define TELLS(blocks)   "{'role':'user','content':[" blocks "]}"
#define GIVE(id, given) "{'toolResult':{'toolUseId':'" id "','content':[" given "]}}"
#define BODY(messages)  "{'messages':[" messages "]}"
#define POINT           "{'cachePoint':{'type':'default'}}"

static const struct wr_listing_row rows[] = {
    {"words, instructions, tools",
     "{'messages':[" ASK
     "," SAYS("{'text':'so'}") "],'system':[{'text':'s'},{'cachePoint':{'type':'default'}}],"
                               "'toolConfig':{'tools':[{'toolSpec':{'name':'f'}}]}}",
     "none tools 0.- protocol fixed | [{'toolSpec':{'name':'f'}}]\n"
     "system system 0.- critical marked fixed | s\n" ASKED
     "assistant text 0.0 continuation group 3 = so\n"},
    {"a call and its result, one text however many blocks",
     BODY(ASK "," SAYS(USE("c", "b")) "," TELLS(GIVE("c", "{'text':'1'},{'text':'2'}"))),
     ASKED "assistant tool_call 0.0 protocol frob#c pair 2 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 condensable frob#c pair 1 group 1 | [{'text':'1'},{'text':'2'}] > "
           "1 > 2\n"},
    {"a result that is an object: the string that is nearly all of it",
     BODY(ASK "," SAYS(USE("c", "b")) "," TELLS(GIVE("c", "{'json':{'output':'r','code':0}}"))),
     ASKED
     "assistant tool_call 0.0 protocol frob#c pair 2 group 1 | {'a':'b'}\n"
     "tool tool_result 1.0 condensable frob#c pair 1 group 1 | {'output':'r','code':0} > r\n"},
    {"a failed result, and images in one, which stay",
     BODY(ASK "," SAYS(USE("c", "b")) "," TELLS(
         "{'toolResult':{'toolUseId':'c','content':[{'text':'no'},{'image':{'format':'png'}}],"
         "'status':'error'}}")),
     ASKED "assistant tool_call 0.0 protocol frob#c pair 2 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 critical frob#c pair 1 group 1 error | "
           "[{'text':'no'},{'image':{'format':'png'}}] > no\n"},
    {"thinking goes back as it came; a cache point is no segment of its own",
     BODY(ASK
          "," SAYS("{'reasoningContent':{'reasoningText':{'text':'t','signature':'s'}}},"
                   "{'text':'a'}," USE("c", "b")) "," TELLS(GIVE("c", "{'text':'1'}") "," POINT)),
     ASKED "assistant reasoning 0.0 continuation group 1 signed | "
           "{'reasoningContent':{'reasoningText':{'text':'t','signature':'s'}}}\n"
           "assistant text 0.0 continuation group 1 = a\n"
           "assistant tool_call 0.0 protocol frob#c pair 4 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 condensable frob#c pair 3 group 1 marked | [{'text':'1'}] > 1\n"},
    {"a cache point with nothing before it stays where it is", BODY(TELLS(POINT ",{'text':'go'}")),
     "user other 0.0 protocol marked fixed | {'cachePoint':{'type':'default'}}\n" ASKED},
    {"what is not known, or has two kinds, stays exact and stays",
     BODY("{'role':'robot','content':[]}," TELLS("{'text':'a','image':{}},{'image':{}},"
                                                 "{'document':{}},{'new':1}") ",'x'"),
     "none other 0.- protocol fixed | {'role':'robot','content':[]}\n"
     "user other 0.0 protocol fixed | {'text':'a','image':{}}\n"
     "user image 0.0 critical | {'image':{}}\n"
     "user file 0.0 critical | {'document':{}}\n"
     "user other 0.0 protocol fixed | {'new':1}\n"
     "none other 0.0 protocol fixed | x\n"},
};

static void messages_are_read(void **state)
{
    (void)state;
    wr_listing_check(rows, WR_COUNT_OF(rows), "converse");
}

static void a_request_is_known_by_path_and_shape(void **state)
{
    static const struct {
        const char *body, *path;
        weir_dialect dialect;
        const char *model;
        uint64_t answer_tokens;
    } cases[] = {
        {BODY(ASK), "/model/us.anthropic.x-v1%3A0/converse", WEIR_DIALECT_CONVERSE,
         "us.anthropic.x-v1:0", 0},
        {BODY(ASK), "/p/bedrock/model/m/converse-stream?a=1", WEIR_DIALECT_CONVERSE, "m", 0},
        {BODY(ASK), NULL, WEIR_DIALECT_CONVERSE, "", 0},
        {BODY(SAYS(USE("c", "b"))), NULL, WEIR_DIALECT_CONVERSE, "", 0},
        {"{'messages':[],'inferenceConfig':{'maxTokens':7}}", NULL, WEIR_DIALECT_CONVERSE, "", 7},
        {"{'messages':[{'role':'user','content':[{'type':'text','text':'a'}]}],'system':'s'}", NULL,
         WEIR_DIALECT_MESSAGES, "", 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, cases[i].body, NULL, cases[i].path);
        assert_int_equal(r.status, WEIR_OK);
        if (r.transcript.dialect != cases[i].dialect ||
            r.transcript.answer_tokens_max != cases[i].answer_tokens ||
            !wr_span_is(r.transcript.model, cases[i].model))
            fail_msg("row %zu: %s, %llu, %.*s", i, weir_dialect_name(r.transcript.dialect),
                     (unsigned long long)r.transcript.answer_tokens_max,
                     (int)r.transcript.model.len, r.transcript.model.ptr);
        wr_listing_release(&r);
    }
}

static void lines_become_messages(void **state)
{
    static const weir_span prompt = {"p", 1};
    struct weir_call call = {WR_LIT("c1"), WR_LIT("f"), WR_LIT("{\"a\":1}")};
    struct weir_tool tool = {.name = WR_LIT("f"), .description = WR_LIT("d")};
    struct wr_body_head head = {.model = WR_LIT("m"),
                                .output_tokens_max = 9,
                                .has_markers = true,
                                .has_marked_tools = true,
                                .tools = &tool,
                                .tools_count = 1,
                                .prompts = &prompt,
                                .prompts_count = 1};
    struct wr_line lines[] = {
        {.kind = WR_LINE_WORDS, .text = WR_LIT("go")},
        {.kind = WR_LINE_ANSWER, .text = WR_LIT("so"), .calls = &call, .calls_count = 1},
        {.kind = WR_LINE_RESULT, .text = WR_LIT("r"), .call_id = WR_LIT("c1"), .is_error = true},
        {.kind = WR_LINE_NOTICE, .text = WR_LIT("n")},
    };
    struct wr_body body;
    struct wr_buf out;
    (void)state;

    wr_buf_init(&out, 100000);
    wr_body_init(&body, &wr_api_converse, &out);
    wr_body_begin(&body, &head);
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++)
        wr_body_line(&body, &lines[i]);
    wr_body_end(&body);
    wr_body_release(&body);
    const char *wanted =
        "{\"model\":\"m\",\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"f\","
        "\"description\":\"d\",\"inputSchema\":{\"json\":{\"type\":\"object\"}}}},{\"cachePoint\":{"
        "\"type\":\"default\"}}]},\"inferenceConfig\":{\"maxTokens\":9},\"system\":[{\"text\":"
        "\"p\"},"
        "{\"cachePoint\":{\"type\":\"default\"}}],\"messages\":["
        "{\"role\":\"user\",\"content\":[{\"text\":\"go\"}]},"
        "{\"role\":\"assistant\",\"content\":[{\"text\":\"so\"},{\"toolUse\":{\"toolUseId\":\"c1\","
        "\"name\":\"f\",\"input\":{\"a\":1}}}]},"
        "{\"role\":\"user\",\"content\":[{\"toolResult\":{\"toolUseId\":\"c1\",\"content\":[{"
        "\"text\":\"r\"}],\"status\":\"error\"}},{\"text\":\"n\"}]}]}";
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
