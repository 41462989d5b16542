#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/write.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/listing.h"

#define USER(parts)    "{'role':'user','parts':[" parts "]}"
#define MODEL(parts)   "{'role':'model','parts':[" parts "]}"
#define TEXT(text)     "{'text':'" text "'}"
#define ASK            USER(TEXT("go"))
#define ASKED          "user text 0.0 critical = go\n"
#define CALL(a)        "{'functionCall':{'name':'frob','args':{'a':'" a "'}}}"
#define GIVE(response) "{'functionResponse':{'name':'frob','response':" response "}}"
#define BODY(contents) "{'contents':[" contents "]}"

static const struct wr_listing_row contents[] = {
    {"every text of a content is a text; who has no role is the user",
     BODY(ASK ",{'parts':[" TEXT("a") "," TEXT("b") "]}"),
     ASKED "user text 0.0 critical = a\nuser text 0.0 critical = b\n"},
    {"data and files stay exact, images among them",
     BODY(USER("{'inlineData':{'mimeType':'image/png','data':'AA'}},"
               "{'inline_data':{'mime_type':'image/png','data':'AA'}},"
               "{'inlineData':{'mimeType':'application/pdf','data':'AA'}},"
               "{'fileData':{'fileUri':'u'}}")),
     "user image 0.0 critical | {'inlineData':{'mimeType':'image/png','data':'AA'}}\n"
     "user image 0.0 critical | {'inline_data':{'mime_type':'image/png','data':'AA'}}\n"
     "user file 0.0 critical | {'inlineData':{'mimeType':'application/pdf','data':'AA'}}\n"
     "user file 0.0 critical | {'fileData':{'fileUri':'u'}}\n"},
    {"what is not known, or not of this place, stays exact and stays",
     BODY(USER("{'hologram':1},'c'," CALL("b")) "," MODEL(GIVE("{'output':'x'}"))),
     "user other 0.0 protocol fixed | {'hologram':1}\n"
     "user other 0.0 protocol fixed | c\n"
     "user other 0.0 protocol fixed | {'functionCall':{'name':'frob','args':{'a':'b'}}}\n"
     "assistant other 0.0 protocol group 3 fixed | "
     "{'functionResponse':{'name':'frob','response':{'output':'x'}}}\n"},
    {"a member that is there twice, in one spelling or two, makes its part exact",
     BODY(USER("{'text':'a','text':'b'}") "," MODEL(
         "{'functionCall':{'name':'f'},'function_call':{'name':'g'}}")),
     "user other 0.0 protocol fixed | {'text':'a','text':'b'}\n"
     "assistant other 0.0 protocol group 1 fixed | "
     "{'functionCall':{'name':'f'},'function_call':{'name':'g'}}\n"},
    {"a role that is not of this API stays exact",
     BODY("{'role':'assistant','parts':[" TEXT("a") "]},{'role':'user','role':'model'},'x'"),
     "none other 0.- protocol fixed | {'role':'assistant','parts':[{'text':'a'}]}\n"
     "assistant other 0.- protocol group 1 fixed | {'role':'user','role':'model'}\n"
     "user other 1.0 protocol fixed | x\n"},
    {"no parts are no payload; parts that are no list stay exact",
     BODY("{'role':'user','parts':[]},{'role':'user'},{'role':'user','parts':'a'}"),
     "user other 0.0 protocol fixed | a\n"},
};

static const struct wr_listing_row instructions[] = {
    {"instructions and tools stand apart, wherever the body has them",
     "{'contents':[" ASK "],'systemInstruction':{'role':'user','parts':[" TEXT("s") "," TEXT(
         "t") "]},'tools':[{'functionDeclarations':[{'name':'frob'}]}]}",
     "none tools 0.- protocol fixed | [{'functionDeclarations':[{'name':'frob'}]}]\n"
     "system system 0.- critical fixed | s\nsystem system 0.- critical fixed | t\n" ASKED},
    {"in the other spelling too",
     "{'system_instruction':{'parts':[" TEXT("s") "]},'contents':[" ASK "]}",
     "system system 0.- critical fixed | s\n" ASKED},
    {"a request that is wrapped",
     "{'model':'m','project':'p','request':{'contents':[" ASK
     "],'systemInstruction':{'parts':[" TEXT("s") "]}}}",
     "system system 0.- critical fixed | s\n" ASKED},
    {"or whose tokens are to be counted",
     "{'generateContentRequest':{'model':'models/m','contents':[" ASK "]}}", ASKED},
};

static const struct wr_listing_row calls[] = {
    {"calls are numbered, results find them by name and order; only results may be edited",
     BODY(ASK "," MODEL(TEXT("a") "," CALL("b") "," CALL("c")) "," USER(
         GIVE("{'output':'ok'}") "," GIVE("{'output':'so'}"))),
     ASKED "assistant text 0.0 continuation group 1 = a\n"
           "assistant tool_call 0.0 protocol frob##1 pair 4 group 1 | {'a':'b'}\n"
           "assistant tool_call 0.0 protocol frob##2 pair 5 group 1 | {'a':'c'}\n"
           "tool tool_result 1.0 condensable frob##1 pair 2 group 1 = ok\n"
           "tool tool_result 1.0 condensable frob##2 pair 3 group 1 = so\n"},
    {"names beat order; the numbers go on",
     BODY(ASK "," MODEL(CALL("b")) "," USER(GIVE("{'output':'ok'}")) "," MODEL(
         CALL("c") ",{'functionCall':{'name':'grob'}}") "," USER("{'functionResponse':{'name':"
                                                                 "'grob','response':{'output':"
                                                                 "'g'}}}," GIVE("{'output':'f'}"))),
     ASKED "assistant tool_call 0.0 protocol frob##1 pair 2 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 condensable frob##1 pair 1 group 1 = ok\n"
           "assistant tool_call 1.0 protocol frob##2 pair 6 group 3 | {'a':'c'}\n"
           "assistant tool_call 1.0 protocol grob##3 pair 5 group 3 | {'name':'grob'}\n"
           "tool tool_result 2.0 condensable grob##3 pair 4 group 3 = g\n"
           "tool tool_result 2.0 condensable frob##2 pair 3 group 3 = f\n"},
    {"ids beat names",
     BODY(ASK "," MODEL(
         "{'functionCall':{'id':'x','name':'frob'}},"
         "{'functionCall':{'id':'y','name':'frob'}}") "," USER("{'functionResponse':{'id':'y','"
                                                               "name':'frob','response':{'output':'"
                                                               "1'}}},"
                                                               "{'functionResponse':{'id':'x','"
                                                               "name':'frob','response':{'output':'"
                                                               "2'}}}")),
     ASKED "assistant tool_call 0.0 protocol frob#x pair 4 group 1 | {'id':'x','name':'frob'}\n"
           "assistant tool_call 0.0 protocol frob#y pair 3 group 1 | {'id':'y','name':'frob'}\n"
           "tool tool_result 1.0 condensable frob#y pair 2 group 1 = 1\n"
           "tool tool_result 1.0 condensable frob#x pair 1 group 1 = 2\n"},
    {"an id that the client made up for a call without one",
     BODY(ASK "," MODEL(CALL("b")) "," USER(
         "{'functionResponse':{'id':'frob-17','name':'frob','response':{'output':'1'}}}")),
     ASKED "assistant tool_call 0.0 protocol frob##1 pair 2 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 condensable frob##1 pair 1 group 1 = 1\n"},
    {"results in two contents; the older word for who gives them",
     BODY(ASK "," MODEL(CALL("b") "," CALL("c")) ",{'role':'function','parts':[" GIVE(
         "{'output':'1'}") "]},{'role':'user','parts':[" GIVE("{'output':'2'}") "]}"),
     ASKED "assistant tool_call 0.0 protocol frob##1 pair 3 group 1 | {'a':'b'}\n"
           "assistant tool_call 0.0 protocol frob##2 pair 4 group 1 | {'a':'c'}\n"
           "tool tool_result 1.0 condensable frob##1 pair 1 group 1 = 1\n"
           "tool tool_result 1.0 condensable frob##2 pair 2 group 1 = 2\n"},
    {"a result without a call is one", BODY(USER(GIVE("{'output':'1'}"))),
     "tool tool_result 0.- condensable frob = 1\n"},
    {"signed words, thoughts and the provider's own work stay as they are",
     BODY(ASK "," MODEL("{'text':'t','thought':true,'thoughtSignature':'s'},"
                        "{'text':'w','thoughtSignature':'s'},"
                        "{'executableCode':{'code':'1'}},{'codeExecutionResult':{'output':'1'}}")),
     ASKED "assistant reasoning 0.0 continuation group 1 | t\n"
           "assistant text 0.0 continuation group 1 | w\n"
           "assistant other 0.0 continuation group 1 | {'executableCode':{'code':'1'}}\n"
           "assistant other 0.0 continuation group 1 | {'codeExecutionResult':{'output':'1'}}\n"},
};

#define CALLED      ASK "," MODEL(CALL("b")) ","
#define CALLED_ONE  ASKED "assistant tool_call 0.0 protocol frob##1 pair 2 group 1 | {'a':'b'}\n"
#define RESULT(how) "tool tool_result 1.0 " how
#define LONG        "0123456789012345678901234567890123456789012345678901234567890123456789"
#define LONGER      LONG LONG

static const struct wr_listing_row results[] = {
    {"whatever its key is called", BODY(CALLED USER(GIVE("{'report':'r'}"))),
     CALLED_ONE RESULT("condensable frob##1 pair 1 group 1 = r\n")},
    {"a short member beside it", BODY(CALLED USER(GIVE("{'output':'r','exit_code':0}"))),
     CALLED_ONE RESULT("condensable frob##1 pair 1 group 1 | {'output':'r','exit_code':0} > r\n")},
    {"an error", BODY(CALLED USER(GIVE("{'error':'no'}"))),
     CALLED_ONE RESULT("critical frob##1 pair 1 group 1 error = no\n")},
    {"both streams of a command, in the order of the body",
     BODY(CALLED USER(GIVE("{'stderr':'e','stdout':'o'}"))),
     CALLED_ONE RESULT(
         "condensable frob##1 pair 1 group 1 | {'stderr':'e','stdout':'o'} > e > o\n")},
    {"text blocks as MCP gives them",
     BODY(CALLED USER(GIVE("{'content':[{'type':'text','text':'a'},{'type':'text','text':'b'}]}"))),
     CALLED_ONE RESULT("condensable frob##1 pair 1 group 1 | [{'type':'text','text':'a'},"
                       "{'type':'text','text':'b'}] > a > b\n")},
    {"what says much beside its longest string stays whole",
     BODY(CALLED USER(GIVE("{'old':'" LONGER "','new':'" LONGER "'}"))),
     CALLED_ONE RESULT("protocol frob##1 pair 1 group 1 | {'old':'" LONGER "','new':'" LONGER
                       "'}\n")},
    {"so does what has no string", BODY(CALLED USER(GIVE("{'n':[1,2]}"))),
     CALLED_ONE RESULT("protocol frob##1 pair 1 group 1 | {'n':[1,2]}\n")},
    {"and a result that is no object, which nobody accepts", BODY(CALLED USER(GIVE("'r'"))),
     CALLED_ONE RESULT("protocol frob##1 pair 1 group 1 | {'name':'frob','response':'r'}\n")},
    {"a picture beside the text keeps it whole",
     BODY(CALLED USER("{'functionResponse':{'name':'frob','response':{'output':'r'},'parts':["
                      "{'inlineData':{'mimeType':'image/png','data':'AA'}}]}}")),
     CALLED_ONE RESULT("critical frob##1 pair 1 group 1 = r\n")},
};

static void contents_are_read(void **state)
{
    (void)state;
    wr_listing_check(contents, WR_COUNT_OF(contents), "gemini");
}

static void instructions_are_read(void **state)
{
    (void)state;
    wr_listing_check(instructions, WR_COUNT_OF(instructions), "gemini");
}

static void calls_and_results_are_read(void **state)
{
    (void)state;
    wr_listing_check(calls, WR_COUNT_OF(calls), "gemini");
    wr_listing_check(results, WR_COUNT_OF(results), "gemini");
}

static void a_request_is_known_by_its_settings(void **state)
{
    static const struct {
        const char *body, *path, *model;
        uint64_t answer_tokens;
        bool is_delta;
    } rows[] = {
        {BODY(ASK), "/v1beta/models/gemini-2.5-pro:generateContent", "gemini-2.5-pro", 0, false},
        {BODY(ASK), "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse&key=k",
         "gemini-3.8-flash", 0, false},
        {BODY(ASK), "/v1/projects/p/locations/l/publishers/google/models/m:generateContent", "m", 0,
         false},
        {BODY(ASK), "/v1beta/tunedModels/mine:generateContent", "mine", 0, false},
        {BODY(ASK), NULL, "", 0, false},
        {"{'model':'m','request':{'contents':[" ASK "],'generationConfig':{'maxOutputTokens':7}}}",
         "/v1internal:streamGenerateContent?alt=sse", "m", 7, false},
        {"{'generateContentRequest':{'model':'models/m','contents':[" ASK "]}}",
         "/v1beta/models/n:countTokens", "m", 0, false},
        {"{'cachedContent':'cachedContents/x','contents':[" ASK
         "],'generation_config':{'max_output_tokens':9}}",
         "/v1beta/models/m:generateContent", "m", 9, true},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, rows[i].body, NULL, rows[i].path);
        assert_int_equal(r.status, WEIR_OK);
        assert_int_equal(r.transcript.dialect, WEIR_DIALECT_GEMINI);
        if (!wr_span_is(r.transcript.model, rows[i].model) ||
            r.transcript.is_delta != rows[i].is_delta ||
            r.transcript.answer_tokens_max != rows[i].answer_tokens)
            fail_msg("row %zu: model %.*s", i, (int)r.transcript.model.len, r.transcript.model.ptr);
        wr_listing_release(&r);
    }
}

static weir_status note_offer(void *user, const struct wr_offer *offer)
{
    wr_buf_append(user, offer->name);
    wr_buf_byte(user, ' ');
    return WEIR_OK;
}

static void declarations_are_the_tools(void **state)
{
    struct wr_listing_request r;
    struct wr_buf names;
    (void)state;

    wr_listing_read(&r,
                    "{'contents':[" ASK "],'tools':[{'googleSearch':{}},{'functionDeclarations':"
                    "[{'name':'a'},{'name':7},{'name':'b\\u0063'}]},"
                    "{'function_declarations':[{'name':'weir_recall'}]}]}",
                    "gemini", NULL);
    wr_buf_init(&names, 1000);
    assert_int_equal(r.transcript.list_tools(&r.transcript, &r.arena, note_offer, &names), WEIR_OK);
    assert_true(wr_span_is(wr_buf_view(&names), "a bc weir_recall "));
    wr_buf_release(&names);
    wr_listing_release(&r);
}

/* A result names the tool of its call, whoever wrote that. */
static void lines_become_contents(void **state)
{
    static const weir_span prompt = {"p", 1};
    static const char item[] =
        "{\"functionCall\":{\"id\":\"c2\",\"name\":\"g\"},\"thoughtSignature\":\"s\"}";
    weir_span items[] = {wr_span_of(item)};
    struct weir_call call = {WR_LIT("c1"), WR_LIT("f"), WR_LIT("{\"a\":1}")};
    struct weir_tool tool = {.name = WR_LIT("f"), .description = WR_LIT("d")};
    struct wr_body_head head = {.model = WR_LIT("m"),
                                .output_tokens_max = 5,
                                .tools = &tool,
                                .tools_count = 1,
                                .prompts = &prompt,
                                .prompts_count = 1};
    struct wr_line lines[] = {
        {.kind = WR_LINE_WORDS, .text = WR_LIT("go")},
        {.kind = WR_LINE_ANSWER, .text = WR_LIT("so"), .calls = &call, .calls_count = 1},
        {.kind = WR_LINE_RESULT, .text = WR_LIT("r"), .call_id = WR_LIT("c1")},
        {.kind = WR_LINE_ANSWER, .items = items, .items_count = 1},
        {.kind = WR_LINE_RESULT, .text = WR_LIT("no"), .call_id = WR_LIT("c2"), .is_error = true},
    };
    struct wr_body body;
    struct wr_buf out;
    (void)state;

    wr_buf_init(&out, 100000);
    wr_body_init(&body, &wr_api_gemini, &out);
    wr_body_begin(&body, &head);
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++)
        wr_body_line(&body, &lines[i]);
    wr_body_end(&body);
    wr_body_release(&body);
    const char *wanted =
        "{\"model\":\"models/m\",\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\","
        "\"description\":\"d\",\"parametersJsonSchema\":{\"type\":\"object\"}}]}],"
        "\"generationConfig\":{\"maxOutputTokens\":5},"
        "\"systemInstruction\":{\"parts\":[{\"text\":\"p\"}]},\"contents\":["
        "{\"role\":\"user\",\"parts\":[{\"text\":\"go\"}]},"
        "{\"role\":\"model\",\"parts\":[{\"text\":\"so\"},{\"functionCall\":{\"id\":\"c1\","
        "\"name\":\"f\",\"args\":{\"a\":1}},"
        "\"thoughtSignature\":\"skip_thought_signature_validator\"}]},"
        "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"c1\",\"name\":\"f\","
        "\"response\":{\"output\":\"r\"}}}]},"
        "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"id\":\"c2\",\"name\":\"g\"},"
        "\"thoughtSignature\":\"s\"}]},"
        "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"c2\",\"name\":\"g\","
        "\"response\":{\"error\":\"no\"}}}]}]}";
    if (!wr_span_is(wr_buf_view(&out), wanted))
        fail_msg("%.*s", (int)out.len, out.bytes);
    wr_buf_reset(&out);
    wr_api_gemini.write_path(&out, WR_LIT("{\"model\":\"models/m\"}"));
    assert_true(wr_span_is(wr_buf_view(&out), "/models/m:streamGenerateContent?alt=sse"));
    wr_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_are_read),
        cmocka_unit_test(instructions_are_read),
        cmocka_unit_test(calls_and_results_are_read),
        cmocka_unit_test(a_request_is_known_by_its_settings),
        cmocka_unit_test(declarations_are_the_tools),
        cmocka_unit_test(lines_become_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
