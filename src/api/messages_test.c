#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/listing.h"

#define ASK            "{'role':'user','content':'go'}"
#define ASKED          "user text 0.0 critical = go\n"
#define USER(blocks)   "{'role':'user','content':[" blocks "]}"
#define MODEL(blocks)  "{'role':'assistant','content':[" blocks "]}"
#define TEXT(text)     "{'type':'text','text':'" text "'}"
#define USE(id)        "{'type':'tool_use','id':'" id "','name':'frob','input':{'a':'b'}}"
#define BODY(messages) "{'model':'m','max_tokens':9,'messages':[" messages "]}"

static const struct wr_listing_row contents[] = {
    {"a string is one text, every text block another", BODY(ASK "," USER(TEXT("a") "," TEXT("b"))),
     ASKED "user text 0.0 critical = a\n"
           "user text 0.0 critical = b\n"},
    {"a text's citations and marker are no payload",
     BODY(
         USER("{'type':'text','text':'go','citations':[{'cited_text':'x'}],'cache_control':{'type':"
              "'ephemeral','ttl':'1h'}}")),
     "user text 0.0 critical marked = go\n"},
    {"images, documents, uploads and search results stay exact",
     BODY(USER("{'type':'image','source':{'type':'base64','data':'AA'}},"
               "{'type':'document','source':{'type':'text','data':'long'}},"
               "{'type':'container_upload','file_id':'f'},"
               "{'type':'search_result','source':'u','title':'t','content':[" TEXT("x") "]}")),
     "user image 0.0 critical | {'type':'image','source':{'type':'base64','data':'AA'}}\n"
     "user file 0.0 critical | {'type':'document','source':{'type':'text','data':'long'}}\n"
     "user file 0.0 critical | {'type':'container_upload','file_id':'f'}\n"
     "user file 0.0 critical | "
     "{'type':'search_result','source':'u','title':'t','content':[{'type':'text',"
     "'text':'x'}]}\n"},
    {"a block of an unknown kind stays exact, and stays",
     BODY(USER("{'type':'hologram','text':'a'},{'text':'b'},'c'")),
     "user other 0.0 protocol fixed | {'type':'hologram','text':'a'}\n"
     "user other 0.0 protocol fixed | {'text':'b'}\n"
     "user other 0.0 protocol fixed | c\n"},
    {"a block that repeats a key stays exact",
     BODY(USER("{'type':'text','type':'image','text':'a'}")),
     "user other 0.0 protocol fixed | {'type':'text','type':'image','text':'a'}\n"},
    {"a role that is not of this API stays exact",
     BODY("{'role':'tool','content':'a'},{'role':'user','role':'assistant','content':'b'}"),
     "tool other 0.- protocol fixed | {'role':'tool','content':'a'}\n"
     "assistant other 0.- protocol group 1 fixed | "
     "{'role':'user','role':'assistant','content':'b'}\n"},
    {"an empty text block is a text, empty content is none",
     BODY(USER(
         TEXT("")) ",{'role':'user','content':[]},{'role':'user','content':''},{'role':'user'}"),
     "user text 0.0 critical = \n"},
};

static const struct wr_listing_row instructions[] = {
    {"system as a string", "{'system':'Be brief.','messages':[" ASK "]}",
     "system system 0.- critical fixed | Be brief.\n" ASKED},
    {"system as blocks, with markers; none can be edited or dropped",
     "{'messages':[" ASK
     "],'system':[" TEXT("a") ",{'type':'text','text':'b','cache_control':{'type':"
                              "'ephemeral'}},{'type':'hologram'}]}",
     "system system 0.- critical fixed | a\n"
     "system system 0.- critical marked fixed | b\n"
     "system other 0.- protocol fixed | {'type':'hologram'}\n" ASKED},
    {"nothing in the instructions is a call or a result",
     "{'system':[{'type':'tool_result','tool_use_id':'t','content':'x'}],'messages':[" ASK
     ",{'role':'system',"
     "'content':[{'type':'tool_use','id':'t','name':'f','input':{}}]}]}",
     "system other 0.- protocol fixed | "
     "{'type':'tool_result','tool_use_id':'t','content':'x'}\n" ASKED
     "system other 0.0 protocol fixed | {'type':'tool_use','id':'t','name':'f','input':{}}\n"},
    {"no system, null or empty, is no payload", "{'system':null,'tools':[],'messages':[" ASK "]}",
     ASKED},
    {"tools come before the system",
     "{'messages':[" ASK
     "],'system':'s','tools':[{'name':'frob','input_schema':{},'cache_control':{}}]}",
     "none tools 0.- protocol fixed | [{'name':'frob','input_schema':{},'cache_control':{}}]\n"
     "system system 0.- critical fixed | s\n" ASKED},
    {"a system message in mid-conversation is instructions, and changes tools exactly",
     BODY(ASK "," MODEL(TEXT("a")) ",{'role':'system','content':[" TEXT(
         "s") ",{'type':'tool_addition','tool':"
              "{'name':'t'}},{'type':'tool_removal','name':'t'}]}"),
     ASKED "assistant text 0.0 continuation group 1 = a\n"
           "system system 1.0 critical | s\n"
           "system tools 1.0 protocol | {'type':'tool_addition','tool':{'name':'t'}}\n"
           "system tools 1.0 protocol | {'type':'tool_removal','name':'t'}\n"},
};

static const struct wr_listing_row calls[] = {
    {"a call's span is its input, a result's its string; only the result may be edited",
     BODY(ASK "," MODEL(TEXT("a") "," USE("t1")) "," USER(
         "{'type':'tool_result','tool_use_id':'t1','content':'ok'}")),
     ASKED "assistant text 0.0 continuation group 1 = a\n"
           "assistant tool_call 0.0 protocol frob#t1 pair 3 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 condensable frob#t1 pair 2 group 1 = ok\n"},
    {"the texts of a result's blocks may be edited; nothing else of it",
     BODY(ASK
          "," MODEL(USE("t1")) "," USER("{'type':'tool_result','tool_use_id':'t1','content':[" TEXT(
              "a") ","
                   "{'type':'image','source':{}},{'type':'tool_reference','tool_name':'t'},"
                   "{'type':'search_result','content':[" TEXT(
                       "x") "]},{'type':'browser_state','text':'y'}," TEXT("b") "]}")),
     ASKED "assistant tool_call 0.0 protocol frob#t1 pair 2 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 critical frob#t1 pair 1 group 1 | "
           "[{'type':'text','text':'a'},{'type':'image',"
           "'source':{}},{'type':'tool_reference','tool_name':'t'},{'type':'search_result','"
           "content':[{'type':"
           "'text','text':'x'}]},{'type':'browser_state','text':'y'},{'type':'text','text':'b'}] > "
           "a > b\n"},
    {"a result of one text block has the list for its span",
     BODY(ASK "," MODEL(USE("t1")) "," USER(
         "{'type':'tool_result','tool_use_id':'t1','content':[" TEXT("a") "]}")),
     ASKED "assistant tool_call 0.0 protocol frob#t1 pair 2 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 condensable frob#t1 pair 1 group 1 | [{'type':'text','text':'a'}] "
           "> a\n"},
    {"a result that says it failed, in the newest turn, is critical",
     BODY(ASK "," MODEL(USE("t1") "," USE("t2")) "," USER(
         "{'type':'tool_result','tool_use_id':'t1','content':"
         "'no','is_error':true},{'type':'tool_result','tool_use_id':'t2','content':'ok','is_error':"
         "false}")),
     ASKED "assistant tool_call 0.0 protocol frob#t1 pair 3 group 1 | {'a':'b'}\n"
           "assistant tool_call 0.0 protocol frob#t2 pair 4 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 critical frob#t1 pair 1 group 1 error = no\n"
           "tool tool_result 1.0 condensable frob#t2 pair 2 group 1 = ok\n"},
    {"results without content are still results",
     BODY(ASK "," MODEL(USE("t1") "," USE("t2") "," USE("t3")) "," USER(
         "{'type':'tool_result','tool_use_id':'t3'},{'type':'tool_result','tool_use_id':'t1','"
         "content':''},"
         "{'type':'tool_result','tool_use_id':'t2','content':[]}")),
     ASKED "assistant tool_call 0.0 protocol frob#t1 pair 5 group 1 | {'a':'b'}\n"
           "assistant tool_call 0.0 protocol frob#t2 pair 6 group 1 | {'a':'b'}\n"
           "assistant tool_call 0.0 protocol frob#t3 pair 4 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 protocol frob#t3 pair 3 group 1 | "
           "{'type':'tool_result','tool_use_id':'t3'}\n"
           "tool tool_result 1.0 condensable frob#t1 pair 1 group 1 = \n"
           "tool tool_result 1.0 protocol frob#t2 pair 2 group 1 | []\n"},
    {"words behind the results of a message are the user's, and steer",
     BODY(ASK "," MODEL(USE("t1")) "," USER(
         "{'type':'tool_result','tool_use_id':'t1','content':'ok'}," TEXT("b"))),
     ASKED "assistant tool_call 0.0 protocol frob#t1 pair 2 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 condensable frob#t1 pair 1 group 1 = ok\n"
           "user text 1.0 critical steering = b\n"},
    {"a marker on a call, on a result or on a text inside it",
     BODY(ASK "," MODEL("{'type':'tool_use','id':'t1','name':'frob','input':{},'cache_control':{}}"
                        "," USE("t2")) "," USER("{'type':'tool_result','tool_use_id':'t1','content'"
                                                ":'a','cache_control':{}},"
                                                "{'type':'tool_result','tool_use_id':'t2','content'"
                                                ":[{'type':'text','text':'b',"
                                                "'cache_control':{}}]}")),
     ASKED
     "assistant tool_call 0.0 protocol frob#t1 pair 3 group 1 marked | {}\n"
     "assistant tool_call 0.0 protocol frob#t2 pair 4 group 1 | {'a':'b'}\n"
     "tool tool_result 1.0 condensable frob#t1 pair 1 group 1 marked = a\n"
     "tool tool_result 1.0 condensable frob#t2 pair 2 group 1 marked | [{'type':'text','text':'b',"
     "'cache_control':{}}] > b\n"},
    {"a result among the model's blocks is no model output",
     BODY(ASK "," MODEL(USE("t1") ",{'type':'tool_result','tool_use_id':'t1','content':'ok'}")),
     ASKED "assistant tool_call 0.0 protocol frob#t1 pair 2 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 condensable frob#t1 pair 1 group 1 = ok\n"},
    {"a call without input is its whole block",
     BODY(ASK "," MODEL("{'type':'tool_use','id':'t1','name':'frob'}")),
     ASKED "assistant tool_call 0.0 protocol frob#t1 group 1 | "
           "{'type':'tool_use','id':'t1','name':'frob'}\n"},
};

static const struct wr_listing_row of_the_provider[] = {
    {"thinking goes back as it came; only what is signed binds",
     BODY(ASK "," MODEL("{'type':'thinking','thinking':'','signature':'s'},{'type':'redacted_"
                        "thinking','data':'d'},"
                        "{'type':'thinking','thinking':'t'},{'type':'thinking','thinking':'u','"
                        "signature':''}," TEXT("a"))),
     ASKED "assistant reasoning 0.0 continuation group 1 signed | "
           "{'type':'thinking','thinking':'','signature':'s'}\n"
           "assistant reasoning 0.0 continuation group 1 signed | "
           "{'type':'redacted_thinking','data':'d'}\n"
           "assistant reasoning 0.0 continuation group 1 | {'type':'thinking','thinking':'t'}\n"
           "assistant reasoning 0.0 continuation group 1 | "
           "{'type':'thinking','thinking':'u','signature':''}\n"
           "assistant text 0.0 continuation group 1 = a\n"},
    {"the provider's tools and their results stay exact, and are paired",
     BODY(ASK "," MODEL("{'type':'server_tool_use','id':'s1','name':'web_search','input':{}},"
                        "{'type':'web_search_tool_result','tool_use_id':'s1','content':[{'"
                        "encrypted_content':'e'}]},"
                        "{'type':'mcp_tool_use','id':'m1','name':'q','input':{}},"
                        "{'type':'mcp_tool_result','tool_use_id':'m1','content':[" TEXT(
                            "x") "]},"
                                 "{'type':'mcp_tool_listing'},{'type':'fallback'}")),
     ASKED "assistant other 0.0 continuation web_search#s1 pair 2 group 1 | "
           "{'type':'server_tool_use','id':'s1',"
           "'name':'web_search','input':{}}\n"
           "assistant other 0.0 continuation web_search#s1 pair 1 group 1 | "
           "{'type':'web_search_tool_result',"
           "'tool_use_id':'s1','content':[{'encrypted_content':'e'}]}\n"
           "assistant other 0.0 continuation q#m1 pair 4 group 1 | "
           "{'type':'mcp_tool_use','id':'m1','name':'q',"
           "'input':{}}\n"
           "assistant other 0.0 continuation q#m1 pair 3 group 1 | "
           "{'type':'mcp_tool_result','tool_use_id':'m1',"
           "'content':[{'type':'text','text':'x'}]}\n"
           "assistant other 0.0 continuation group 1 | {'type':'mcp_tool_listing'}\n"
           "assistant other 0.0 continuation group 1 | {'type':'fallback'}\n"},
    {"a result of a provider's tool that has not been heard of is exact too",
     BODY(ASK "," MODEL(
         "{'type':'server_tool_use','id':'s1','name':'n'},{'type':'telepathy_tool_result',"
         "'tool_use_id':'s1','content':'x'}")),
     ASKED "assistant other 0.0 continuation n#s1 pair 2 group 1 | "
           "{'type':'server_tool_use','id':'s1','name':'n'}\n"
           "assistant other 0.0 continuation n#s1 pair 1 group 1 | "
           "{'type':'telepathy_tool_result','tool_use_id':"
           "'s1','content':'x'}\n"},
    {"outputs between the call and the result of a provider's tool leave together",
     BODY(ASK "," MODEL("{'type':'server_tool_use','id':'s1','name':'code'}," USE("t1")) "," USER(
         "{'type':'tool_result','tool_use_id':'t1','content':'ok'}") "," MODEL("{'type':'code_"
                                                                               "execution_tool_"
                                                                               "result','tool_use_"
                                                                               "id':'s1','content':"
                                                                               "{}}," TEXT("a"))),
     ASKED "assistant other 0.0 continuation code#s1 pair 4 group 1 | "
           "{'type':'server_tool_use','id':'s1','name':"
           "'code'}\n"
           "assistant tool_call 0.0 protocol frob#t1 pair 3 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 condensable frob#t1 pair 2 group 1 = ok\n"
           "assistant other 1.0 continuation code#s1 pair 1 group 1 | "
           "{'type':'code_execution_tool_result',"
           "'tool_use_id':'s1','content':{}}\n"
           "assistant text 1.0 continuation group 1 = a\n"},
    {"a provider's id is apart from a client's",
     BODY(ASK "," MODEL("{'type':'server_tool_use','id':'x','name':'n'}," USE("x")) "," USER(
         "{'type':'tool_result','tool_use_id':'x','content':'ok'}")),
     ASKED "assistant other 0.0 continuation n#x group 1 | "
           "{'type':'server_tool_use','id':'x','name':'n'}\n"
           "assistant tool_call 0.0 protocol frob#x pair 3 group 1 | {'a':'b'}\n"
           "tool tool_result 1.0 condensable frob#x pair 2 group 1 = ok\n"},
    {"a compaction is the provider's own summary",
     BODY(MODEL(
         "{'type':'compaction','content':'sum','encrypted_content':'e','signature':'s'}") "," ASK),
     "assistant compaction 0.- continuation group 0 | "
     "{'type':'compaction','content':'sum','encrypted_content':'e',"
     "'signature':'s'}\n"
     "user text 1.0 critical = go\n"},
};

static void contents_are_read(void **state)
{
    (void)state;
    wr_listing_check(contents, WR_COUNT_OF(contents), "messages");
}

static void instructions_are_read(void **state)
{
    (void)state;
    wr_listing_check(instructions, WR_COUNT_OF(instructions), "messages");
}

static void calls_and_results_are_read(void **state)
{
    (void)state;
    wr_listing_check(calls, WR_COUNT_OF(calls), "messages");
}

static void what_is_the_providers_is_kept(void **state)
{
    (void)state;
    wr_listing_check(of_the_provider, WR_COUNT_OF(of_the_provider), "messages");
}

static void only_signed_thinking_binds(void **state)
{
    static const struct {
        const char *blocks;
        bool binds;
    } rows[] = {
        {BODY(ASK "," MODEL("{'type':'thinking','thinking':'t','signature':'s'}")), true},
        {BODY(ASK "," MODEL("{'type':'redacted_thinking','data':'d'}")), true},
        {BODY(ASK "," MODEL("{'type':'thinking','thinking':'t'}")), false},
        {BODY(ASK "," MODEL("{'type':'thinking','thinking':'t','signature':null}")), false},
        {BODY(ASK "," MODEL(TEXT("signature"))), false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, rows[i].blocks, "messages", NULL);
        assert_int_equal(r.transcript.binds_prefix, rows[i].binds);
        wr_listing_release(&r);
    }
}

static void a_continued_thread_is_a_delta(void **state)
{
    static const struct {
        const char *body;
        bool is_delta;
    } rows[] = {
        {"{'thread':{'type':'continue','previous_message_id':'msg_1'},'messages':[" ASK "]}", true},
        {"{'thread':{'type':'create'},'messages':[" ASK "]}", false},
        {"{'thread':null,'messages':[" ASK "]}", false},
        {"{'thread':'continue','messages':[" ASK "]}", false},
        {BODY(ASK), false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, rows[i].body, "messages", NULL);
        assert_int_equal(r.status, WEIR_OK);
        assert_int_equal(r.transcript.is_delta, rows[i].is_delta);
        wr_listing_release(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_are_read),
        cmocka_unit_test(instructions_are_read),
        cmocka_unit_test(calls_and_results_are_read),
        cmocka_unit_test(what_is_the_providers_is_kept),
        cmocka_unit_test(only_signed_thinking_binds),
        cmocka_unit_test(a_continued_thread_is_a_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
