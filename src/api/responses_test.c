#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/listing.h"

#define ASK   "{'type':'message','role':'user','content':[{'type':'input_text','text':'go'}]}"
#define ASKED "user text 0.0 critical = go\n"
#define CALL(id) \
    "{'type':'function_call','id':'fc_" id "','call_id':'" id "','name':'frob','arguments':'{}'}"
#define RESULT(id, output) "{'type':'function_call_output','call_id':'" id "','output':" output "}"
#define BODY(items)        "{'model':'m','store':false,'input':[" items "]}"

static const struct wr_listing_row contents[] = {
    {"input may be one string", "{'input':'go','model':'m'}",
     "user text 0.0 critical fixed = go\n"},
    {"no input, null or empty, is no payload", "{'model':'m','input':'','tools':null}", ""},
    {"instructions are not to be edited", "{'input':[" ASK "],'instructions':'Be brief.'}",
     "system system 0.- critical fixed | Be brief.\n" ASKED},
    {"tools come before instructions",
     "{'instructions':'s','input':[" ASK "],'tools':[{'type':'function'}]}",
     "none tools 0.- protocol fixed | [{'type':'function'}]\n"
     "system system 0.- critical fixed | s\n" ASKED},
    {"messages with and without a type, content as string and as parts",
     BODY("{'role':'developer','content':'d'},{'role':'system','type':'message','content':[{'type':"
          "'input_text',"
          "'text':'s'}]}," ASK
          ",{'role':'user','content':'b'},{'type':'message','id':'msg_1','status':'completed',"
          "'phase':'final_answer','role':'assistant','content':[{'type':'output_text','text':'a','"
          "annotations':"
          "[{'url':'u'}]},{'type':'refusal','refusal':'r'}]}"),
     "developer system 0.- critical | d\n"
     "system system 0.- critical | s\n" ASKED "user text 0.0 critical = b\n"
     "assistant text 0.0 continuation group 4 = a\n"
     "assistant text 0.0 continuation group 4 | r\n"},
    {"images, files and sound stay exact",
     BODY("{'role':'user','content':[{'type':'input_image','image_url':'data:'},{'type':'input_"
          "file','file_data':"
          "'AA'},{'type':'input_audio','input_audio':{'data':'AA'}},{'type':'encrypted_content',"
          "'encrypted_content':'e'}]}"),
     "user image 0.0 critical | {'type':'input_image','image_url':'data:'}\n"
     "user file 0.0 critical | {'type':'input_file','file_data':'AA'}\n"
     "user file 0.0 critical | {'type':'input_audio','input_audio':{'data':'AA'}}\n"
     "user other 0.0 protocol fixed | {'type':'encrypted_content','encrypted_content':'e'}\n"},
    {"a role that is no message's stays exact",
     BODY("{'type':'message','role':'tool','content':'a'},{'type':'message','role':'critic','"
          "content':'b'},"
          "{'type':'message','content':'c'}"),
     "tool other 0.- protocol fixed | {'type':'message','role':'tool','content':'a'}\n"
     "none other 0.- protocol fixed | {'type':'message','role':'critic','content':'b'}\n"
     "none other 0.- protocol fixed | {'type':'message','content':'c'}\n"},
    {"an item that repeats a key stays exact",
     BODY("{'type':'message','role':'user','content':'a','content':'b'}," RESULT(
         "c1", "'a','output':'b'")),
     "user other 0.0 protocol fixed | "
     "{'type':'message','role':'user','content':'a','content':'b'}\n"
     "none other 0.0 protocol fixed | "
     "{'type':'function_call_output','call_id':'c1','output':'a','output':'b'}\n"},
    {"what is no item stays exact",
     BODY("'a',7,null,{},[" ASK "],{'call_id':'x'},{'type':7,'call_id':'x'}"),
     "none other 0.- protocol fixed | a\n"
     "none other 0.- protocol fixed | 7\n"
     "none other 0.- protocol fixed | null\n"
     "none other 0.- protocol fixed | {}\n"
     "none other 0.- protocol fixed | [" ASK "]\n"
     "none other 0.- protocol #x fixed | {'call_id':'x'}\n"
     "none other 0.- protocol #x fixed | {'type':7,'call_id':'x'}\n"},
    {"a request that says its input twice may not be edited", "{'input':'a','input':'b'}",
     "user text 0.0 critical fixed | b\n"},
    {"a part's marker is found",
     BODY("{'role':'user','content':[{'type':'input_text','text':'a','prompt_cache_breakpoint':{'"
          "mode':"
          "'explicit'}}]}"),
     "user text 0.0 critical marked = a\n"},
};

static const struct wr_listing_row calls[] = {
    {"a call's span is its arguments, a result's its output; only the result may be edited",
     BODY(ASK "," CALL("c1") "," RESULT("c1", "'ok'")),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 = ok\n"},
    {"only the texts of an output's parts may be edited",
     BODY(ASK "," CALL("c1") "," RESULT(
         "c1",
         "[{'type':'input_text','text':'a'},{'type':'input_"
         "text','text':'b'}]") "," CALL("c2") "," RESULT("c2", "[{'type':'input_text','text':'a'},{"
                                                               "'type':'input_image','image_url':"
                                                               "'u'},{'type':'encrypted_content','"
                                                               "encrypted_content':'e'}]")),
     ASKED
     "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | {}\n"
     "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 | "
     "[{'type':'input_text','text':'a'},{'type':"
     "'input_text','text':'b'}] > a > b\n"
     "assistant tool_call 1.0 protocol frob#c2 pair 4 group 3 | {}\n"
     "tool tool_result 2.0 critical frob#c2 pair 3 group 3 | "
     "[{'type':'input_text','text':'a'},{'type':"
     "'input_image','image_url':'u'},{'type':'encrypted_content','encrypted_content':'e'}] > a\n"},
    {"an output that is no text is still a result",
     BODY(ASK "," CALL("c1") "," CALL(
         "c2") ",{'type':'function_call_output','call_id':'c1'}," RESULT("c2", "null")),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 3 group 1 | {}\n"
           "assistant tool_call 0.0 protocol frob#c2 pair 4 group 1 | {}\n"
           "tool tool_result 1.0 protocol frob#c1 pair 1 group 1 | "
           "{'type':'function_call_output','call_id':'c1'}\n"
           "tool tool_result 1.0 protocol frob#c2 pair 2 group 1 | null\n"},
    {"reasoning, words and calls of one output are one group with their results",
     BODY(ASK
          ",{'type':'reasoning','id':'rs_1','summary':[{'type':'summary_text','text':'t'}],'"
          "encrypted_content':"
          "'e'},{'type':'message','role':'assistant','content':[{'type':'output_text','text':'a'}]}"
          "," CALL("c1") "," CALL("c2") "," RESULT("c2", "'two'") "," RESULT("c1", "'one'")),
     ASKED "assistant reasoning 0.0 continuation group 1 | "
           "{'type':'reasoning','id':'rs_1','summary':[{'type':"
           "'summary_text','text':'t'}],'encrypted_content':'e'}\n"
           "assistant text 0.0 continuation group 1 = a\n"
           "assistant tool_call 0.0 protocol frob#c1 pair 6 group 1 | {}\n"
           "assistant tool_call 0.0 protocol frob#c2 pair 5 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c2 pair 4 group 1 = two\n"
           "tool tool_result 1.0 condensable frob#c1 pair 3 group 1 = one\n"},
    {"a result may stand before its call and is of its group",
     BODY(ASK "," RESULT("c1", "'ok'") "," CALL("c1")),
     ASKED "tool tool_result 0.0 condensable frob#c1 pair 2 group 1 = ok\n"
           "assistant tool_call 0.0 protocol frob#c1 pair 1 group 1 | {}\n"},
    {"a custom tool's input is not to be edited, its output is",
     BODY(ASK ",{'type':'custom_tool_call','call_id':'c1','name':'frob','input':'*** Begin'},"
              "{'type':'custom_tool_call_output','call_id':'c1','output':'ok'}"),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | *** Begin\n"
           "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 = ok\n"},
    {"a namespace is part of the tool's name, however it ends",
     BODY(
         ASK
         ",{'type':'function_call','call_id':'c1','namespace':'mcp__fs','name':'frob','arguments':'"
         "{}'},"
         "{'type':'function_call','call_id':'c2','namespace':'mcp__fs__','name':'frob','arguments':"
         "'{}'},"
         "{'type':'function_call','call_id':'c3','namespace':null,'name':'frob','arguments':'{}'}"),
     ASKED "assistant tool_call 0.0 protocol mcp__fs__frob#c1 group 1 | {}\n"
           "assistant tool_call 0.0 protocol mcp__fs__frob#c2 group 1 | {}\n"
           "assistant tool_call 0.0 protocol frob#c3 group 1 | {}\n"},
    {"encrypted arguments, caller and ids are no payload of their own",
     BODY(ASK ",{'type':'function_call','id':'fc_1','call_id':'c1','name':'frob','arguments':'{}',"
              "'encrypted_function_args':['e'],'caller':{'type':'program','caller_id':'p'}},"
              "{'type':'function_call_output','id':'fco_1','call_id':'c1','caller':{'caller_id':'p'"
              "},'output':'ok'}"),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 = ok\n"},
    {"a local shell's result names its call by either id",
     BODY(ASK ",{'type':'local_shell_call','id':'lsh_1','call_id':'c1','action':{'type':'exec'}},"
              "{'type':'local_shell_call_output','id':'lsh_1','output':'{}'},"
              "{'type':'local_shell_call','id':'lsh_2','call_id':'c2','action':{}},"
              "{'type':'local_shell_call_output','id':'c2','output':'{}'},"
              "{'type':'local_shell_call','id':'lsh_3','call_id':'c3','action':{}},"
              "{'type':'function_call_output','id':'fco_1','call_id':'c3','output':'x'}"),
     ASKED "assistant tool_call 0.0 protocol local_shell#c1 pair 2 group 1 | {'type':'exec'}\n"
           "tool tool_result 1.0 condensable local_shell#lsh_1 pair 1 group 1 = {}\n"
           "assistant tool_call 1.0 protocol local_shell#c2 pair 4 group 3 | {}\n"
           "tool tool_result 2.0 condensable local_shell#c2 pair 3 group 3 = {}\n"
           "assistant tool_call 2.0 protocol local_shell#c3 pair 6 group 5 | {}\n"
           "tool tool_result 3.0 condensable local_shell#c3 pair 5 group 5 = x\n"},
    {"of a shell's result the streams may be edited, empty ones and outcomes not",
     BODY(ASK ",{'type':'shell_call','call_id':'c1','action':{'commands':['a']}},"
              "{'type':'shell_call_output','call_id':'c1','max_output_length':9,'output':[{'stdout'"
              ":'o','stderr':'',"
              "'outcome':{'type':'exit','exit_code':0}},{'stderr':'e','stdout':'p','outcome':{'"
              "type':'exit',"
              "'exit_code':0}}]}"),
     ASKED "assistant tool_call 0.0 protocol shell#c1 pair 2 group 1 | {'commands':['a']}\n"
           "tool tool_result 1.0 condensable shell#c1 pair 1 group 1 | "
           "[{'stdout':'o','stderr':'','outcome':{'type':"
           "'exit','exit_code':0}},{'stderr':'e','stdout':'p','outcome':{'type':'exit','exit_code':"
           "0}}] > o > e > p\n"},
    {"a shell's outcome tells that it failed",
     BODY(ASK ",{'type':'shell_call','call_id':'c1','action':{}},{'type':'shell_call_output','call_"
              "id':'c1','output':"
              "[{'stdout':'o','outcome':{'type':'exit','exit_code':1}}]},"
              "{'type':'shell_call','call_id':'c2','action':{}},{'type':'shell_call_output','call_"
              "id':'c2','output':"
              "[{'stdout':'o','outcome':{'type':'timeout'}}]}"),
     ASKED "assistant tool_call 0.0 protocol shell#c1 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 condensable shell#c1 pair 1 group 1 error | "
           "[{'stdout':'o','outcome':{'type':'exit',"
           "'exit_code':1}}] > o\n"
           "assistant tool_call 1.0 protocol shell#c2 pair 4 group 3 | {}\n"
           "tool tool_result 2.0 critical shell#c2 pair 3 group 3 error | "
           "[{'stdout':'o','outcome':{'type':"
           "'timeout'}}] > o\n"},
    {"a patch is not to be edited, what came of it is",
     BODY(ASK ",{'type':'apply_patch_call','call_id':'c1','operation':{'type':'update_file','path':"
              "'f','diff':'d'}},"
              "{'type':'apply_patch_call_output','call_id':'c1','status':'failed','output':'no'}"),
     ASKED "assistant tool_call 0.0 protocol apply_patch#c1 pair 2 group 1 | "
           "{'type':'update_file','path':'f',"
           "'diff':'d'}\n"
           "tool tool_result 1.0 critical apply_patch#c1 pair 1 group 1 error = no\n"},
    {"a patch's result without output is a result",
     BODY(ASK ",{'type':'apply_patch_call','call_id':'c1','operation':{}},"
              "{'type':'apply_patch_call_output','call_id':'c1','status':'completed'}"),
     ASKED "assistant tool_call 0.0 protocol apply_patch#c1 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 protocol apply_patch#c1 pair 1 group 1 | "
           "{'type':'apply_patch_call_output','call_id':"
           "'c1','status':'completed'}\n"},
    {"screens and found tools are results that stay exact",
     BODY(ASK ",{'type':'computer_call','call_id':'c1','action':{'type':'click'}},{'type':'"
              "computer_call_output',"
              "'call_id':'c1','output':{'image_url':'u'}},{'type':'tool_search_call','call_id':'c2'"
              ",'arguments':{}},"
              "{'type':'tool_search_output','call_id':'c2','tools':[]}"),
     ASKED "assistant tool_call 0.0 protocol computer#c1 pair 2 group 1 | {'type':'click'}\n"
           "tool tool_result 1.0 protocol computer#c1 pair 1 group 1 | "
           "{'type':'computer_call_output','call_id':'c1',"
           "'output':{'image_url':'u'}}\n"
           "assistant tool_call 1.0 protocol tool_search#c2 pair 4 group 3 | {}\n"
           "tool tool_result 2.0 protocol tool_search#c2 pair 3 group 3 | "
           "{'type':'tool_search_output','call_id':'c2',"
           "'tools':[]}\n"},
    {"a marker on a text inside an output is the result's",
     BODY(ASK "," CALL("c1") "," RESULT(
         "c1", "[{'type':'input_text','text':'a','prompt_cache_breakpoint':{'mode':'explicit'}}]")),
     ASKED "assistant tool_call 0.0 protocol frob#c1 pair 2 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c1 pair 1 group 1 marked | "
           "[{'type':'input_text','text':'a',"
           "'prompt_cache_breakpoint':{'mode':'explicit'}}] > a\n"},
};

static const struct wr_listing_row of_the_provider[] = {
    {"compactions, in all their spellings",
     BODY("{'type':'compaction','id':'c','encrypted_content':'e'},{'type':'compaction_summary'},"
          "{'type':'context_compaction'}," ASK ",{'type':'compaction_trigger'}"),
     "assistant compaction 0.- continuation group 0 | "
     "{'type':'compaction','id':'c','encrypted_content':'e'}\n"
     "assistant compaction 0.- continuation group 0 | {'type':'compaction_summary'}\n"
     "assistant compaction 0.- continuation group 0 | {'type':'context_compaction'}\n"
     "user text 1.0 critical = go\n"
     "none compaction 1.0 continuation | {'type':'compaction_trigger'}\n"},
    {"a reference to an item and a change of settings stay where they are",
     BODY("{'type':'item_reference','id':'rs_1'}," ASK
          ",{'type':'configuration_update','reasoning':{}}"),
     "none other 0.- continuation fixed | {'type':'item_reference','id':'rs_1'}\n" ASKED
     "none other 0.0 continuation fixed | {'type':'configuration_update','reasoning':{}}\n"},
    {"tools in an item, and instructions in a developer message",
     BODY(
         "{'type':'additional_tools','role':'developer','tools':[{'name':'frob'}]},"
         "{'type':'message','role':'developer','content':[{'type':'input_text','text':'d'}]}," ASK),
     "none tools 0.- protocol | "
     "{'type':'additional_tools','role':'developer','tools':[{'name':'frob'}]}\n"
     "developer system 0.- critical | d\n" ASKED},
    {"what the provider ran is the model's output, and exact",
     BODY(ASK
          ",{'type':'web_search_call','id':'ws'},{'type':'file_search_call','results':[{'text':'x'}"
          "]},"
          "{'type':'code_interpreter_call','code':'c','outputs':[]},{'type':'image_generation_call'"
          ",'result':'A'},"
          "{'type':'mcp_list_tools','tools':[]},{'type':'mcp_call','arguments':'{}','output':'x'}"),
     ASKED
     "assistant other 0.0 continuation group 1 | {'type':'web_search_call','id':'ws'}\n"
     "assistant other 0.0 continuation group 1 | "
     "{'type':'file_search_call','results':[{'text':'x'}]}\n"
     "assistant other 0.0 continuation group 1 | "
     "{'type':'code_interpreter_call','code':'c','outputs':[]}\n"
     "assistant other 0.0 continuation group 1 | {'type':'image_generation_call','result':'A'}\n"
     "assistant other 0.0 continuation group 1 | {'type':'mcp_list_tools','tools':[]}\n"
     "assistant other 0.0 continuation group 1 | "
     "{'type':'mcp_call','arguments':'{}','output':'x'}\n"},
    {"the search for tools that the provider runs has no call id and is all output",
     BODY(ASK ",{'type':'tool_search_call','call_id':null,'execution':'server'},{'type':'tool_"
              "search_output',"
              "'call_id':null,'tools':[]}," CALL("c1")),
     ASKED "assistant other 0.0 continuation group 1 | "
           "{'type':'tool_search_call','call_id':null,'execution':'server'}\n"
           "assistant other 0.0 continuation group 1 | "
           "{'type':'tool_search_output','call_id':null,'tools':[]}\n"
           "assistant tool_call 0.0 protocol frob#c1 group 1 | {}\n"},
    {"an approval, its answer and the call it allowed leave together",
     BODY(ASK
          ",{'type':'mcp_approval_request','id':'r','name':'q'},{'type':'mcp_approval_response',"
          "'approval_request_id':'r','approve':true},{'type':'mcp_call','approval_request_id':'r','"
          "output':'x'}"),
     ASKED "assistant other 0.0 continuation q#r pair 2 group 1 | "
           "{'type':'mcp_approval_request','id':'r','name':'q'}\n"
           "none other 1.0 continuation q#r pair 1 group 1 | "
           "{'type':'mcp_approval_response','approval_request_id':'r',"
           "'approve':true}\n"
           "assistant other 1.0 continuation q#r pair 1 group 1 | "
           "{'type':'mcp_call','approval_request_id':'r','output':"
           "'x'}\n"},
    {"a program, the calls it made and its output leave together",
     BODY(ASK ",{'type':'program','call_id':'p','code':'x'}," CALL("c1") "," RESULT(
         "c1", "'ok'") ",{'type':'program_output','call_id':'p','result':'r'}"),
     ASKED "assistant other 0.0 continuation #p pair 4 group 1 | "
           "{'type':'program','call_id':'p','code':'x'}\n"
           "assistant tool_call 0.0 protocol frob#c1 pair 3 group 1 | {}\n"
           "tool tool_result 1.0 condensable frob#c1 pair 2 group 1 = ok\n"
           "none other 1.0 continuation #p pair 1 group 1 | "
           "{'type':'program_output','call_id':'p','result':'r'}\n"},
    {"another agent's words are work to do",
     BODY("{'type':'agent_message','author':'a','content':[{'type':"
          "'input_text','text':'x'}]}"),
     "user other 0.0 continuation fixed | "
     "{'type':'agent_message','author':'a','content':[{'type':'input_text',"
     "'text':'x'}]}\n"},
    {"an unknown item behind a model output stays with it, and neither leaves",
     BODY(ASK ",{'type':'reasoning','id':'rs'},{'type':'dream','text':'x'}," CALL("c1")),
     ASKED "assistant reasoning 0.0 continuation group 1 | {'type':'reasoning','id':'rs'}\n"
           "none other 0.0 protocol group 1 fixed | {'type':'dream','text':'x'}\n"
           "assistant tool_call 0.0 protocol frob#c1 group 1 | {}\n"},
    {"an unknown call and its unknown output are one group",
     BODY(ASK
          ",{'type':'dream_call','call_id':'d','role':'assistant'},{'type':'reasoning'},"
          "{'role':'user','content':'b'},{'type':'dream_call_output','call_id':'d','output':'x'}"),
     ASKED "assistant other 0.0 protocol #d pair 4 group 1 fixed | "
           "{'type':'dream_call','call_id':'d','role':"
           "'assistant'}\n"
           "assistant reasoning 0.0 continuation group 1 | {'type':'reasoning'}\n"
           "user text 1.1 critical = b\n"
           "none other 1.1 protocol #d pair 1 group 1 fixed | "
           "{'type':'dream_call_output','call_id':'d','output':'x'}\n"},
};

static void contents_are_read(void **state)
{
    (void)state;
    wr_listing_check(contents, WR_COUNT_OF(contents), "responses");
}

static void calls_and_results_are_read(void **state)
{
    (void)state;
    wr_listing_check(calls, WR_COUNT_OF(calls), "responses");
}

static void what_is_the_providers_is_kept(void **state)
{
    (void)state;
    wr_listing_check(of_the_provider, WR_COUNT_OF(of_the_provider), "responses");
}

static void history_that_the_server_holds_is_a_delta(void **state)
{
    static const struct {
        const char *body;
        bool is_delta;
    } rows[] = {
        {"{'previous_response_id':'resp_1','input':[" ASK "]}", true},
        {"{'previous_response_id':null,'conversation':null,'input':[" ASK "]}", false},
        {"{'conversation':'conv_1','input':'go'}", true},
        {"{'conversation':{'id':'conv_1'}}", true},
        {"{'input':[{'role':'user','content':'previous_response_id'}]}", false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, rows[i].body, "responses", NULL);
        assert_int_equal(r.status, WEIR_OK);
        assert_int_equal(r.transcript.is_delta, rows[i].is_delta);
        wr_listing_release(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_are_read),
        cmocka_unit_test(calls_and_results_are_read),
        cmocka_unit_test(what_is_the_providers_is_kept),
        cmocka_unit_test(history_that_the_server_holds_is_a_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
