/* Logs that runs print or publish: Gemini CLI's stream, OpenHands' lists of messages. */
#include "lab/import.h"

#include "base/span.h"
#include "lab/test_import_case.h"

#define GEMINI_HEAD                                                                            \
    "{'type':'init','timestamp':'2026-01-01T00:00:00Z','session_id':'s','model':'gemini-3'}\n" \
    "{'type':'message','timestamp':'2026-01-01T00:00:00Z','role':'user','content':'go'}\n"

#define OPENHANDS_WORDS                                                                           \
    "{'instance_id':'a__b-1','run_id':'claude-x_maxiter_100_N_v1','resolved':true,'messages':[{"  \
    "'role':'system','content':'You are OpenHands'},{'role':'user','content':'fix it'},{'role':"  \
    "'assistant','content':'I look.\\n\\n<function=execute_bash>\\n<parameter=command>\\nls \\'a" \
    "\\'\\n</parameter>\\n<parameter=is_input>false</parameter>\\n</function>'},{'role':'user',"  \
    "'content':'EXECUTION RESULT of [execute_bash]:\\na.py'},{'role':'assistant','content':[{'t"  \
    "ype':'text','text':'<function=finish>'}]}]}"

#define OPENHANDS_API                                                                            \
    "{'instance_id':'a__b-2','messages':[{'role':'user','content':'go'},{'role':'assistant','co" \
    "ntent':'','tool_calls':[{'id':'t','type':'function','function':{'name':'ls','arguments':'{" \
    "}'}}]},{'role':'tool','tool_call_id':'t','content':'f'},{'role':'assistant','content':'do"  \
    "ne <function=x> is no call here'}]}"

static const struct import_case cases[] = {
    {"gemini stream: pieces are one text, and with the calls behind it one output", "gemini-cli",
     GEMINI_HEAD
     "{'type':'message','timestamp':'2026-01-01T00:00:01Z','role':'assistant','content':'I lo','d"
     "elta':true}\n"
     "{'type':'message','timestamp':'2026-01-01T00:00:01Z','role':'assistant','content':'ok.\\n',"
     "'delta':true}\n"
     "{'type':'tool_use','timestamp':'2026-01-01T00:00:01Z','tool_name':'read_file','tool_id':'t1"
     "','parameters':{'p':1}}\n"
     "{'type':'tool_use','timestamp':'2026-01-01T00:00:01Z','tool_name':'ls','tool_id':'t2','para"
     "meters':{}}\n"
     "{'type':'tool_result','timestamp':'2026-01-01T00:00:02Z','tool_id':'t1','status':'success',"
     "'output':'text'}\n"
     "{'type':'tool_result','timestamp':'2026-01-01T00:00:02Z','tool_id':'t2','status':'error','e"
     "rror':{'type':'x','message':'no such folder'}}\n"
     "{'type':'message','timestamp':'2026-01-01T00:00:03Z','role':'assistant','content':'Done','d"
     "elta':true}\n"
     "{'type':'result','timestamp':'2026-01-01T00:00:03Z','status':'success','stats':{}}\n",
     2, 1,
     "user: go\n"
     "assistant: I look.\\n [t1 read_file {\\'p\\':1}] [t2 ls {}]\n"
     "t1 read_file: text\n"
     "t2 ls: no such folder",
     WR_IMPORT_ENTRY_OTHER},
    {"gemini stream: an output without a call ends with what the user says next", "gemini-cli",
     GEMINI_HEAD
     "{'type':'message','timestamp':'2026-01-01T00:00:01Z','role':'assistant','content':'a','delt"
     "a':true}\n"
     "{'type':'message','timestamp':'2026-01-01T00:00:02Z','role':'user','content':'more'}\n"
     "{'type':'message','timestamp':'2026-01-01T00:00:03Z','role':'assistant','content':'b'}\n",
     2, 1,
     "user: go\n"
     "assistant: a\n"
     "user: more",
     WR_IMPORT_NOTES},
    {"openhands messages: a call in words is a call, and the next message its result", "openhands",
     "[" OPENHANDS_WORDS "]", 2, 1,
     "system: You are OpenHands\n"
     "user: fix it\n"
     "assistant: I look. [call1 execute_bash {\\'command\\':\\'ls \\\\\\'a\\\\\\'\\',\\'is_input\\"
     "':\\'false\\'}]\n"
     "call1 execute_bash: EXECUTION RESULT of [execute_bash]:\\na.py",
     WR_IMPORT_NOTES},
    {"openhands messages: calls by API stay what they are", "openhands", OPENHANDS_API, 2, 1,
     "user: go\n"
     "assistant:  [t ls {}]\n"
     "t ls: f",
     WR_IMPORT_NOTES},
    {"openhands messages: one run a line", "openhands", OPENHANDS_API "\n" OPENHANDS_WORDS "\n", 2,
     0, "user: go", WR_IMPORT_NOTES},
};

static void runs_become_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        check_case(&cases[i]);
}

static void each_record_is_a_session(void **state)
{
    struct wr_arena arena;
    struct wr_import import;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_span log = quoted(&arena, "[" OPENHANDS_WORDS "," OPENHANDS_API "]");
    assert_int_equal(wr_import_read(&import, &arena, log, NULL), WEIR_OK);
    assert_int_equal(import.sessions_count, 2);
    assert_true(wr_span_is(import.sessions[0].model, "claude-x"));
    log = quoted(&arena, OPENHANDS_API "\n" OPENHANDS_WORDS "\n");
    assert_int_equal(wr_import_read(&import, &arena, log, NULL), WEIR_OK);
    assert_int_equal(import.sessions_count, 2);
    wr_arena_release(&arena);
}

/* Every amount of memory that is too little is refused as that, and leaks nothing. */
static void too_little_memory_is_a_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        check_memory(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_become_requests),
        cmocka_unit_test(each_record_is_a_session),
        cmocka_unit_test(too_little_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
