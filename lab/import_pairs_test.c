/* Which result belongs to which call, and which output was a request, where logs say it badly. */
#include "lab/import.h"

#include "base/span.h"
#include "lab/test_import_case.h"

#define PI_ABORTED(time)                                                                           \
    "{'type':'message','id':'1','timestamp':'" time                                                \
    "','message':{'role':'user','content':'go'}}\n"                                                \
    "{'type':'message','id':'2','timestamp':'" time "','message':{'role':'assistant','stopReason'" \
    ":'aborted','content':[{'type':'text','text':'I'},{'type':'toolCall','id':'t','name':'ls','ar" \
    "guments':{}}]}}\n"                                                                            \
    "{'type':'message','id':'3','timestamp':'" time "','message':{'role':'user','content':'again"  \
    "'}}\n"                                                                                        \
    "{'type':'message','id':'4','timestamp':'" time "','message':{'role':'assistant','stopReason"  \
    "':'stop','content':[{'type':'text','text':'b'}]}}\n"

static const struct import_case cases[] = {
    {"opencode: ids that are redacted alike belong to the part they stand in", "opencode",
     "{'info':{},'messages':[{'info':{'role':'user'},'parts':[{'type':'text','text':'go'}]},{'inf"
     "o':{'role':'assistant'},'parts':[{'type':'step-start'},{'type':'tool','callID':'REDACTED','"
     "tool':'read','state':{'status':'error','input':{},'error':'one'}},{'type':'tool','callID':'"
     "REDACTED','tool':'grep','state':{'status':'completed','input':{},'output':'two'}},{'type':'"
     "step-start'},{'type':'text','text':'done'}]}]}",
     2, 1,
     "user: go\n"
     "assistant:  [REDACTED read {}] [call2 grep {}]\n"
     "REDACTED read: one\n"
     "call2 grep: two",
     WR_IMPORT_CALL_RENAMED},
    {"a call of a redacted id that got no result takes no later call's", "claude-code",
     "{'type':'user','uuid':'a','message':{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'b','message':{'id':'m1','content':[{'type':'tool_use','id':'R',"
     "'name':'A','input':{}}]}}\n"
     "{'type':'user','uuid':'c','message':{'role':'user','content':'no, that'}}\n"
     "{'type':'assistant','uuid':'d','message':{'id':'m2','content':[{'type':'tool_use','id':'R',"
     "'name':'B','input':{}},{'type':'tool_use','id':'R','name':'C','input':{}}]}}\n"
     "{'type':'user','uuid':'e','message':{'content':[{'type':'tool_result','tool_use_id':'R','co"
     "ntent':'b'},{'type':'tool_result','tool_use_id':'R','content':'c'}]}}\n"
     "{'type':'assistant','uuid':'f','message':{'id':'m3','content':[{'type':'text','text':'end'}"
     "]}}\n",
     3, 2,
     "user: go\n"
     "assistant:  [R A {}]\n"
     "R A: [Tool result missing due to internal error]\n"
     "user: no, that\n"
     "assistant:  [call2 B {}] [call3 C {}]\n"
     "call2 B: b\n"
     "call3 C: c",
     WR_IMPORT_RESULT_MISSING},
    {"nor does one without an id", "chat",
     "[{'role':'user','content':'go'},"
     "{'role':'assistant','content':'','tool_calls':[{'function':{'name':'a','arguments':'{}'}}]},"
     "{'role':'user','content':'no'},"
     "{'role':'assistant','content':'','tool_calls':[{'function':{'name':'b','arguments':'{}'}}]},"
     "{'role':'tool','content':'of b'},"
     "{'role':'assistant','content':'end'}]",
     3, 2,
     "user: go\n"
     "assistant:  [call1 a {}]\n"
     "call1 a: [the log holds no result of this call]\n"
     "user: no\n"
     "assistant:  [call2 b {}]\n"
     "call2 b: of b",
     WR_IMPORT_RESULT_MISSING},
    {"a result that comes late belongs to the older output", "claude-code",
     "{'type':'user','uuid':'a','message':{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'b','message':{'id':'m1','content':[{'type':'tool_use','id':'R',"
     "'name':'A','input':{}}]}}\n"
     "{'type':'assistant','uuid':'d','message':{'id':'m2','content':[{'type':'tool_use','id':'R',"
     "'name':'B','input':{}}]}}\n"
     "{'type':'user','uuid':'e','message':{'content':[{'type':'tool_result','tool_use_id':'R','co"
     "ntent':'b'},{'type':'tool_result','tool_use_id':'R','content':'a'}]}}\n"
     "{'type':'assistant','uuid':'f','message':{'id':'m3','content':[{'type':'text','text':'end'}"
     "]}}\n",
     3, 2,
     "user: go\n"
     "assistant:  [R A {}]\n"
     "R A: a\n"
     "assistant:  [call2 B {}]\n"
     "call2 B: b",
     WR_IMPORT_CALL_RENAMED},
    {"pi: of 2025, the calls of an output that was aborted are answered", "pi",
     PI_ABORTED("2025-11-20T23:33:50Z"), 2, 1,
     "user: go\n"
     "assistant: I [t ls {}]\n"
     "t ls: No result provided\n"
     "user: again",
     WR_IMPORT_RESULT_MISSING},
    {"pi: of 2026, nothing of that output is sent again", "pi", PI_ABORTED("2026-06-05T11:30:11Z"),
     1, 0,
     "user: go\n"
     "user: again",
     WR_IMPORT_ANSWER_ABORTED},
    {"pi: entries without ids are kept from the number that a compaction names", "pi",
     "{'type':'session','id':'s','cwd':'/x'}\n"
     "{'type':'message','message':{'role':'user','content':'go'}}\n"
     "{'type':'message','message':{'role':'assistant','content':[{'type':'text','text':'a'}]}}\n"
     "{'type':'message','message':{'role':'user','content':'next'}}\n"
     "{'type':'message','message':{'role':'assistant','content':[{'type':'text','text':'b'}]}}\n"
     "{'type':'message','message':{'role':'user','content':'more'}}\n"
     "{'type':'compaction','summary':'S','firstKeptEntryIndex':3}\n"
     "{'type':'message','message':{'role':'assistant','content':[{'type':'text','text':'c'}]}}\n",
     3, 2,
     "user: The conversation history before this point was compacted into the following summary:"
     "\\n\\n<summary>\\nS\\n</summary>\n"
     "user: next\n"
     "assistant: b\n"
     "user: more",
     WR_IMPORT_ENTRY_OTHER},
    {"claude: ids of outputs that are redacted alike do not make one output of all", "claude-code",
     "{'type':'user','uuid':'a','message':{'role':'user','content':'go'}}\n"
     "{'type':'assistant','uuid':'b','message':{'id':'REDACTED','content':[{'type':'text','text':'"
     "one'}]}}\n"
     "{'type':'assistant','uuid':'c','message':{'id':'REDACTED','content':[{'type':'tool_use','id'"
     ":'t','name':'A','input':{}}]}}\n"
     "{'type':'user','uuid':'d','message':{'content':[{'type':'tool_result','tool_use_id':'t','co"
     "ntent':'r'}]}}\n"
     "{'type':'assistant','uuid':'e','message':{'id':'REDACTED','content':[{'type':'text','text':'"
     "two'}]}}\n",
     2, 1,
     "user: go\n"
     "assistant: one [t A {}]\n"
     "t A: r",
     WR_IMPORT_NOTES},
    {"chat: blocks of one output on lines of their own are one request", "chat",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','id':'m1','content':[{'type':'text','text':'one'}]}\n"
     "{'role':'assistant','id':'m1','content':[{'type':'tool_use','id':'t','name':'A','input':{}}"
     "]}\n"
     "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t','content':'r'}]}\n"
     "{'role':'assistant','id':'m2','content':[{'type':'text','text':'two'}]}\n",
     2, 1,
     "user: go\n"
     "assistant: one [t A {}]\n"
     "t A: r",
     WR_IMPORT_NOTES},
    {"opencode: what the host says of the user's subtask is no answer of a model", "opencode",
     "{'info':{},'messages':[{'info':{'role':'user'},'parts':[{'type':'subtask'}]},{'info':{'role"
     "':'assistant'},'parts':[{'type':'tool','callID':'t','tool':'task','state':{'input':{},'outp"
     "ut':'found'}}]},{'info':{'role':'user'},'parts':[{'type':'text','text':'go on'}]},{'info':{"
     "'role':'assistant'},'parts':[{'type':'step-start'},{'type':'text','text':'well'}]}]}",
     1, 0,
     "user: The following tool was executed by the user\n"
     "assistant:  [t task {}]\n"
     "t task: found\n"
     "user: go on",
     WR_IMPORT_NOTES},
};

static void results_find_their_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        check_case(&cases[i]);
}

static void too_little_memory_is_a_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        check_memory(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_find_their_calls),
        cmocka_unit_test(too_little_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
