#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/listing.h"

#define ASK            "{'role':'user','content':'go'}"
#define ASKED          "user text 0.0 critical = go\n"
#define FROB           "'type':'function','function':{'name':'frob','arguments':'{}'}"
#define CALL(id)       "{'id':'" id "'," FROB "}"
#define CALLS(calls)   "{'role':'assistant','content':null,'tool_calls':[" calls "]}"
#define BODY(messages) "{'model':'m','messages':[" messages "]}"

static const struct wr_listing_row contents[] = {
    {"a string is one text, between its quotes",
     BODY("{'role':'user','content':'say \\u0022hi\\u0022'}"),
     "user text 0.0 critical = say \\u0022hi\\u0022\n"},
    {"every text part is a segment",
     BODY("{'role':'user','content':[{'type':'text','text':'a'},"
          "{'type':'text','text':'b'}]}"),
     "user text 0.0 critical = a\n"
     "user text 0.0 critical = b\n"},
    {"null, absent and empty content is no payload",
     BODY("{'role':'user','content':null},{'role':'user'},{'role':'user','content':''},"
          "{'role':'user','content':[]}"),
     ""},
    {"system and developer messages are instructions and not to be edited",
     BODY("{'role':'system','content':'a'},{'role':'developer','content':[{'type':'text','text':'b'"
          "}]}," ASK),
     "system system 0.- critical | a\n"
     "developer system 0.- critical | b\n" ASKED},
    {"images, files and sound stay exact",
     BODY("{'role':'user','content':[{'type':'image_url','image_url':{'url':'data:image/"
          "png;base64,AA'}},"
          "{'type':'file','file':{'file_data':'AA','filename':'f'}},"
          "{'type':'input_audio','input_audio':{'data':'AA','format':'wav'}},"
          "{'type':'video_url','video_url':{'url':'u'}}]}"),
     "user image 0.0 critical | "
     "{'type':'image_url','image_url':{'url':'data:image/png;base64,AA'}}\n"
     "user file 0.0 critical | {'type':'file','file':{'file_data':'AA','filename':'f'}}\n"
     "user file 0.0 critical | {'type':'input_audio','input_audio':{'data':'AA','format':'wav'}}\n"
     "user file 0.0 critical | {'type':'video_url','video_url':{'url':'u'}}\n"},
    {"a part of an unknown kind stays exact, and stays",
     BODY("{'role':'user','content':[{'type':'hologram','text':'a'},'bare',7]}"),
     "user other 0.0 protocol fixed | {'type':'hologram','text':'a'}\n"
     "user other 0.0 protocol fixed | bare\n"
     "user other 0.0 protocol fixed | 7\n"},
    {"a part that says its text twice stays exact",
     BODY("{'role':'user','content':[{'type':'text','text':'a','text':'b'}]}"),
     "user other 0.0 protocol fixed | {'type':'text','text':'a','text':'b'}\n"},
    {"a key spelled with escapes is the same key",
     BODY("{'r\\u006fle':'us\\u0065r','content':[{'type':'text','te\\u0078t':'a','text':'b'}]}"),
     "user other 0.0 protocol fixed | {'type':'text','te\\u0078t':'a','text':'b'}\n"},
    {"a text part whose text is no string stays exact",
     BODY("{'role':'user','content':[{'type':'text','text':null}]}"),
     "user other 0.0 protocol fixed | {'type':'text','text':null}\n"},
    {"content that is neither string nor list stays exact",
     BODY("{'role':'user','content':{'a':'b'}}"), "user other 0.0 protocol fixed | {'a':'b'}\n"},
    {"a role that is not known stays exact, name and all",
     BODY("{'role':'critic','content':'a'},{'content':'b'},7,null"),
     "none other 0.- protocol fixed | {'role':'critic','content':'a'}\n"
     "none other 0.- protocol fixed | {'content':'b'}\n"
     "none other 0.- protocol fixed | 7\n"
     "none other 0.- protocol fixed | null\n"},
    {"a message that says its content twice stays exact",
     BODY("{'role':'user','content':'a','content':'b'}"),
     "user other 0.0 protocol fixed | {'role':'user','content':'a','content':'b'}\n"},
    {"a user's name is no payload", BODY("{'role':'user','name':'ann','content':'go'}"), ASKED},
};

static const struct wr_listing_row answers[] = {
    {"the model's text may be edited, its refusal not",
     BODY(ASK ",{'role':'assistant','content':[{'type':'text','text':'a'},{'type':'refusal','"
              "refusal':'b'}]}"),
     ASKED "assistant text 0.0 continuation group 1 = a\n"
           "assistant text 0.0 continuation group 1 | b\n"},
    {"a refusal beside null content is the model's words",
     BODY(ASK
          ",{'role':'assistant','content':null,'refusal':'no'},{'role':'assistant','content':'a',"
          "'refusal':null,'audio':null,'function_call':null,'tool_calls':null}"),
     ASKED "assistant text 0.0 continuation group 1 | no\n"
           "assistant text 0.0 continuation group 1 = a\n"},
    {"earlier sound is named by an id and stays exact",
     BODY(ASK ",{'role':'assistant','content':null,'audio':{'id':'audio_1'}}"),
     ASKED "assistant other 0.0 continuation group 1 | {'id':'audio_1'}\n"},
    {"vendors' reasoning fields stay exact, and before the text",
     BODY(ASK
          ",{'role':'assistant','content':'a','reasoning_content':'r','reasoning':'s',"
          "'reasoning_details':[{'type':'reasoning.text','text':'t'}],'extra_content':{'google':"
          "{'thought_signature':'x'}}}"),
     ASKED "assistant reasoning 0.0 continuation group 1 | r\n"
           "assistant reasoning 0.0 continuation group 1 | s\n"
           "assistant reasoning 0.0 continuation group 1 | [{'type':'reasoning.text','text':'t'}]\n"
           "assistant reasoning 0.0 continuation group 1 | {'google':{'thought_signature':'x'}}\n"
           "assistant text 0.0 continuation group 1 = a\n"},
    {"empty reasoning fields are no payload",
     BODY(ASK ",{'role':'assistant','content':'a','reasoning_content':'','reasoning':null,"
              "'reasoning_details':[]}"),
     ASKED "assistant text 0.0 continuation group 1 = a\n"},
    {"signed thinking that a gateway hands on binds what stands before it",
     BODY(ASK ",{'role':'assistant','content':'a','reasoning_details':[{'type':'reasoning.text','"
              "text':'t',"
              "'signature':'sig'}],'thinking_blocks':[{'type':'redacted_thinking','data':'x'}]}"),
     ASKED
     "assistant reasoning 0.0 continuation group 1 signed | [{'type':'reasoning.text','text':'t',"
     "'signature':'sig'}]\n"
     "assistant reasoning 0.0 continuation group 1 signed | "
     "[{'type':'redacted_thinking','data':'x'}]\n"
     "assistant text 0.0 continuation group 1 = a\n"},
    {"thinking among the parts is reasoning",
     BODY(ASK ",{'role':'assistant','content':[{'type':'thinking','thinking':[{'type':'text','text'"
              ":'t'}]},"
              "{'type':'text','text':'a'}]}"),
     ASKED
     "assistant reasoning 0.0 continuation group 1 | {'type':'thinking','thinking':[{'type':'text',"
     "'text':'t'}]}\n"
     "assistant text 0.0 continuation group 1 = a\n"},
};

static const struct wr_listing_row calls[] = {
    {"a call's span is its arguments, a result's its text; only the result may be edited",
     BODY(ASK "," CALLS(CALL("c1")) ",{'role':'tool','tool_call_id':'c1','content':'ok'}"),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 = ok\n"},
    {"text and calls of one message are one group",
     BODY(ASK ",{'role':'assistant','content':'a','tool_calls':[" CALL("c1") "," CALL(
         "c2") "]},"
               "{'role':'tool','tool_call_id':'c2','content':'two'},"
               "{'role':'tool','tool_call_id':'c1','content':'one'}"),
     ASKED "assistant text 0.0 continuation group 1 = a\n"
           "assistant tool_call 0.0 protocol frob#c1 pair 5 group 1 | {}\n"
           "assistant tool_call 0.0 protocol frob#c2 pair 4 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c2 pair 3 group 1 = two\n"
           "tool tool_result 1.0 condensable frob#c1 pair 2 group 1 = one\n"},
    {"empty content beside calls is no payload",
     BODY(ASK ",{'role':'assistant','content':'','tool_calls':[" CALL("c1") "]}"),
     ASKED "assistant tool_call 0.0 protocol frob#c1 group 1 | {}\n"},
    {"a custom tool's input is not to be edited",
     BODY(ASK "," CALLS("{'id':'c1','type':'custom','custom':{'name':'frob','input':'x'},'function'"
                        ":null}") ","
                                  "{'role':'tool','tool_call_id':'c1','content':'ok'}"),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | x\n"
           "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 = ok\n"},
    {"a legacy call is paired by its function's name",
     BODY(ASK
          ",{'role':'assistant','content':null,'function_call':{'name':'frob','arguments':'{}'}},"
          "{'role':'function','name':'frob','content':'one'},"
          "{'role':'assistant','content':null,'function_call':{'name':'frob','arguments':'{}'}},"
          "{'role':'function','name':'frob','content':'two'}"),
     ASKED "assistant tool_call 0.0 protocol frob pair 2 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob pair 1 group 1 = one\n"
           "assistant tool_call 1.0 protocol frob pair 4 group 3 | {}\n"
           "tool tool_result 2.0 condensable frob pair 3 group 3 = two\n"},
    {"an id that looks like a function's name is still an id",
     BODY(ASK "," CALLS(CALL("grep")) ",{'role':'function','name':'grep','content':'x'}"),
     ASKED "assistant tool_call 0.0 protocol frob#grep group 1 | {}\n"
           "tool tool_result 1.0 condensable grep = x\n"},
    {"ids that begin anew in every turn pair with the latest call",
     BODY(ASK "," CALLS(CALL("c0")) ",{'role':'tool','tool_call_id':'c0','content':'one'}," CALLS(
         CALL("c0")) ","
                     "{'role':'tool','tool_call_id':'c0','content':'two'}"),
     ASKED "assistant tool_call 0.0 protocol frob#c0 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c0 pair 1 group 1 = one\n"
           "assistant tool_call 1.0 protocol frob#c0 pair 4 group 3 | {}\n"
           "tool tool_result 2.0 condensable frob#c0 pair 3 group 3 = two\n"},
    {"a second result of one call says that it is one",
     BODY(ASK "," CALLS(CALL("c1")) ",{'role':'tool','tool_call_id':'c1','content':'one'},"
                                    "{'role':'tool','tool_call_id':'c1','content':'two'}"),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 = one\n"
           "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 repeated = two\n"},
    {"a result without a call, or before it, has no pair",
     BODY(ASK ",{'role':'tool','tool_call_id':'c1','content':'x'}," CALLS(CALL("c1"))),
     ASKED "tool tool_result 0.0 condensable #c1 = x\n"
           "assistant tool_call 0.0 protocol frob#c1 group 2 | {}\n"},
    {"every text part of a result may be edited, nothing else of it",
     BODY(ASK "," CALLS(
         CALL("c1")) ",{'role':'tool','tool_call_id':'c1','content':[{'type':'text','text':'a'},"
                     "{'type':'text','text':'b'}]}"),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 | [{'type':'text','text':'a'},"
           "{'type':'text','text':'b'}] > a > b\n"},
    {"a result with an image beside its text is critical",
     BODY(ASK "," CALLS(
         CALL("c1")) ",{'role':'tool','tool_call_id':'c1','content':[{'type':'text','text':'a'},"
                     "{'type':'image_url','image_url':{'url':'u'}}]}"),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 critical frob#c1 pair 1 group 1 | [{'type':'text','text':'a'},"
           "{'type':'image_url','image_url':{'url':'u'}}] > a\n"},
    {"a result without content is still a result",
     BODY(ASK "," CALLS(
         CALL("c1") "," CALL("c2")) ",{'role':'tool','tool_call_id':'c1'},"
                                    "{'role':'tool','tool_call_id':'c2','content':null}"),
     ASKED
     "assistant tool_call 0.0 protocol frob#c1 pair 3 group 1 | {}\n"
     "assistant tool_call 0.0 protocol frob#c2 pair 4 group 1 | {}\n"
     "tool tool_result 1.0 protocol frob#c1 pair 1 group 1 | {'role':'tool','tool_call_id':'c1'}\n"
     "tool tool_result 1.0 protocol frob#c2 pair 2 group 1 | null\n"},
    {"arguments that are an object stay an object",
     BODY(ASK "," CALLS("{'id':'c1','function':{'name':'frob','arguments':{'a':'b'}}}")),
     ASKED "assistant tool_call 0.0 protocol frob#c1 group 1 | {'a':'b'}\n"},
    {"a call without arguments is its whole object",
     BODY(ASK "," CALLS("{'id':'c1','function':{'name':'frob'}},{'id':'c2'}")),
     ASKED
     "assistant tool_call 0.0 protocol frob#c1 group 1 | {'id':'c1','function':{'name':'frob'}}\n"
     "assistant tool_call 0.0 protocol #c2 group 1 | {'id':'c2'}\n"},
    {"what is no call object stays exact",
     BODY(ASK "," CALLS("'x',{'id':'c1','id':'c2','function':{'name':'frob','arguments':'{}'}}")),
     ASKED
     "assistant other 0.0 protocol group 1 fixed | x\n"
     "assistant other 0.0 protocol group 1 fixed | {'id':'c1','id':'c2','function':{'name':'frob',"
     "'arguments':'{}'}}\n"},
    {"ids are compared by what they say, not by how they are spelled",
     BODY(ASK "," CALLS(CALL("c\\u0031")) ",{'role':'tool','tool_call_id':'c1','content':'ok'}"),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 = ok\n"},
};

static const struct wr_listing_row beside_the_messages[] = {
    {"tools and legacy functions come first, each one segment",
     "{'messages':[" ASK
     "],'tools':[{'type':'function','function':{'name':'frob'}}],'functions':[{'name':'f'}]}",
     "none tools 0.- protocol fixed | [{'type':'function','function':{'name':'frob'}}]\n"
     "none tools 0.- protocol fixed | [{'name':'f'}]\n" ASKED},
    {"no tools, null or an empty list are no payload",
     "{'tools':[],'functions':null,'messages':[" ASK "]}", ASKED},
    {"what else a request says is no payload",
     "{'model':'m','response_format':{'type':'json_schema','json_schema':{'description':'long'}},"
     "'prediction':{'type':'content','content':'old'},'metadata':{'text':'a'},'messages':[" ASK
     "]}",
     ASKED},
    {"a request that says its messages twice may not be edited",
     "{'messages':[" ASK "],'messages':[" ASK
     "," CALLS(CALL("c1")) ","
                           "{'role':'tool','tool_call_id':'c1','content':'ok'}]}",
     "user text 0.0 critical fixed | go\n"
     "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 fixed | {}\n"
     "tool tool_result 1.0 protocol frob#c1 pair 1 group 1 fixed | ok\n"},
    {"white space is nobody's",
     " {\n 'messages' : [ { 'role' : 'user' , 'content' : 'go' } ]\t}\r\n", ASKED},
};

static const struct wr_listing_row markers[] = {
    {"a part's own marker",
     BODY("{'role':'user','content':[{'type':'text','text':'a','cache_control':"
          "{'type':'ephemeral'}},{'type':'text','text':'b','prompt_cache_breakpoint':"
          "{'mode':'explicit'}},{'type':'text','text':'c','cache_control':null}]}"),
     "user text 0.0 critical marked = a\n"
     "user text 0.0 critical marked = b\n"
     "user text 0.0 critical = c\n"},
    {"a null marker hides no other",
     BODY("{'role':'user','content':[{'type':'text','text':'a','cache_control':"
          "null,'prompt_cache_breakpoint':{'mode':'explicit'}}]}"),
     "user text 0.0 critical marked = a\n"},
    {"a marker beside the content marks the message's last segment",
     BODY("{'role':'system','content':'s','cache_control':{}},{'role':'user','content':[{'type':'"
          "text',"
          "'text':'a'},{'type':'text','text':'b'}],'cache_control':{}}"),
     "system system 0.- critical marked | s\n"
     "user text 0.0 critical = a\n"
     "user text 0.0 critical marked = b\n"},
    {"a marker of a message without payload is no other message's",
     BODY(ASK ",{'role':'assistant','content':null,'cache_control':{}}"), ASKED},
    {"a marker of a result, on it or inside it",
     BODY(ASK
          "," CALLS(CALL("c1") "," CALL("c2")) ",{'role':'tool','tool_call_id':'c1','content':'a',"
                                               "'cache_control':{}},{'role':'tool','tool_call_id':'"
                                               "c2','content':[{'type':'text','text':'b',"
                                               "'cache_control':{}}]}"),
     ASKED
     "assistant tool_call 0.0 protocol frob#c1 pair 3 group 1 | {}\n"
     "assistant tool_call 0.0 protocol frob#c2 pair 4 group 1 | {}\n"
     "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 marked = a\n"
     "tool tool_result 1.0 condensable frob#c2 pair 2 group 1 marked | [{'type':'text','text':'b',"
     "'cache_control':{}}] > b\n"},
};

static void contents_are_read(void **state)
{
    (void)state;
    wr_listing_check(contents, WR_COUNT_OF(contents), "chat");
}

static void answers_are_read(void **state)
{
    (void)state;
    wr_listing_check(answers, WR_COUNT_OF(answers), "chat");
}

static void calls_and_results_are_read(void **state)
{
    (void)state;
    wr_listing_check(calls, WR_COUNT_OF(calls), "chat");
}

static void what_stands_beside_the_messages(void **state)
{
    (void)state;
    wr_listing_check(beside_the_messages, WR_COUNT_OF(beside_the_messages), "chat");
}

static void cache_markers_are_found(void **state)
{
    (void)state;
    wr_listing_check(markers, WR_COUNT_OF(markers), "chat");
}

static void only_signed_thinking_binds(void **state)
{
    struct wr_listing_request r;
    (void)state;

    wr_listing_read(&r, answers[3].body, "chat", NULL);
    assert_false(r.transcript.binds_prefix);
    wr_listing_release(&r);
    wr_listing_read(&r, answers[5].body, "chat", NULL);
    assert_true(r.transcript.binds_prefix);
    assert_false(r.transcript.is_delta);
    wr_listing_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_are_read),
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(calls_and_results_are_read),
        cmocka_unit_test(what_stands_beside_the_messages),
        cmocka_unit_test(cache_markers_are_found),
        cmocka_unit_test(only_signed_thinking_binds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
