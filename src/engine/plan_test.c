#include "engine/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/test_plan.h"

/* ---- making ---- */

/* 0 system, 1 user, 2 and 3 model with a call, 4 its result, 5 model, 6 user text, 7 user image. */
#define CHAT                                                                                 \
    "{'messages':[{'role':'system','content':'s'},{'role':'user','content':'u'},"            \
    "{'role':'assistant','content':'a','tool_calls':[{'id':'c1','function':{'name':'t'}}]}," \
    "{'role':'tool','tool_call_id':'c1','content':'r'},{'role':'assistant','content':'b'},"  \
    "{'role':'user','content':[{'type':'text','text':'v'},{'type':'image_url','image_url':{}}]}]}"

/* 0 tools, 1 instructions, 2 user, 3 reasoning and 4, 5 calls, 6 result of 5, 7 user, 8 result of
 * 4, 9 compaction, 10 model, 11 reference, 12 unknown. */
#define RESPONSES                                                                             \
    "{'tools':[{}],'instructions':'i','input':[{'role':'user','content':'u'},"                \
    "{'type':'reasoning','id':'rs'},{'type':'function_call','call_id':'a','arguments':'{}'}," \
    "{'type':'custom_tool_call','call_id':'b','input':'x'},"                                  \
    "{'type':'custom_tool_call_output','call_id':'b','output':'ro'},"                         \
    "{'role':'user','content':'go on'},"                                                      \
    "{'type':'function_call_output','call_id':'a','output':'ra'},"                            \
    "{'type':'compaction','encrypted_content':'e'},{'role':'assistant','content':'m'},"       \
    "{'type':'item_reference','id':'x'},{'type':'of the future'}]}"

/* 0 tools, 1 system text, 2 system image, 3 user, 4 thinking, 5 call, 6 result, 7 user. */
#define MESSAGES                                                                        \
    "{'tools':[{}],'system':[{'type':'text','text':'s'},{'type':'image'}],'messages':[" \
    "{'role':'user','content':'u'},{'role':'assistant','content':["                     \
    "{'type':'thinking','thinking':'t','signature':'g'},"                               \
    "{'type':'tool_use','id':'c','name':'n','input':{}}]},"                             \
    "{'role':'user','content':[{'type':'tool_result','tool_use_id':'c','content':'r'}," \
    "{'type':'text','text':'v'}]}]}"

#define MARK    "'cache_control':{'type':'ephemeral'}"
#define LONG    "'cache_control':{'type':'ephemeral','ttl':'1h'}"
#define TEXT(m) "{'type':'text','text':'x'" m "}"

/* 0 system, 1 user, 2 thinking, 3 model, 4 nothing, 5 a string, 6 marked. */
#define MARKED                                                                                  \
    "{'system':[" TEXT("") "],'messages':[{'role':'user','content':[" TEXT(                     \
        "") "]},"                                                                               \
            "{'role':'assistant','content':[{'type':'thinking','thinking':'t','signature':'g'}" \
            "," TEXT("") "]},{'role':'user','content':[{'type':'text','text':' "                \
                         "'}]},{'role':'user','content':'u'},"                                  \
                         "{'role':'user','content':[" TEXT("," MARK) "]}]}"

/* 0 has none, 1 lives long, 2 does not, 3 has none. */
#define TWO_LIVES                                                                   \
    "{'messages':[{'role':'user','content':[" TEXT("") "," TEXT("," LONG) "," TEXT( \
        "," MARK) "," TEXT("") "]}]}"

#define THREE                                                         \
    "'messages':[{'role':'user','content':[" TEXT("," MARK) "," TEXT( \
        "") "]},"                                                     \
            "{'role':'user','content':[" TEXT("," MARK) "," TEXT("," MARK) "]}]}"

static const struct {
    const char *behaviour, *dialect, *body;
    struct test_op ops[TEST_OPS_MAX]; /* all but the last are accepted */
    const char *refusal;              /* part of what is said about the last; NULL: accepted too */
    uint32_t changes_count;
} cases[] = {
    {"a result may be edited", "chat", CHAT, {EDIT(4, "x")}, NULL, 1},
    {"words of the user may be edited by hand", "chat", CHAT, {EDIT(1, "x")}, NULL, 1},
    {"there is no segment past the last", "chat", CHAT, {EDIT(8, "x")}, "there is no segment 8", 0},
    {"the largest number is no segment", "chat", CHAT, {EDIT(END, "x")}, "there is no segment", 0},
    {"instructions may not be edited",
     "chat",
     CHAT,
     {EDIT(0, "x")},
     "no text that may be edited",
     0},
    {"arguments may not be edited", "chat", CHAT, {EDIT(3, "x")}, "no text that may be edited", 0},
    {"an image may not be edited", "chat", CHAT, {EDIT(7, "x")}, "no text that may be edited", 0},
    {"tools may not be edited", "messages", MESSAGES, {EDIT(0, "x")}, "no text that may be", 0},
    {"thinking may not be edited", "messages", MESSAGES, {EDIT(4, "x")}, "no text that may be", 0},
    {"a reference may not be edited",
     "responses",
     RESPONSES,
     {EDIT(11, "x")},
     "no text that may",
     0},
    {"a segment may be edited once",
     "chat",
     CHAT,
     {EDIT(4, "x"), EDIT(4, "y")},
     "is changed twice",
     1},
    {"an edit is no way to drop", "chat", CHAT, {FORM(DROPPED, 4, "")}, "not by an edit", 0},

    {"a result leaves with its whole group", "chat", CHAT, {DROP(4)}, NULL, 3},
    {"a call leaves with its whole group", "chat", CHAT, {DROP(3)}, NULL, 3},
    {"a model output without calls leaves alone", "chat", CHAT, {DROP(5)}, NULL, 1},
    {"a group dropped twice is dropped", "chat", CHAT, {DROP(4), DROP(2)}, NULL, 3},
    {"a text dropped twice is dropped", "chat", CHAT, {DROP(6), DROP(6)}, NULL, 1},
    {"there is nothing to drop past the last", "chat", CHAT, {DROP(8)}, "there is no segment 8", 0},
    {"instructions cannot be dropped", "chat", CHAT, {DROP(0)}, "cannot be dropped", 0},
    {"an image can be dropped", "chat", CHAT, {DROP(7)}, NULL, 1},
    {"what is dropped is not edited", "chat", CHAT, {DROP(6), EDIT(6, "x")}, "is changed twice", 1},
    {"what is edited is not dropped", "chat", CHAT, {EDIT(6, "x"), DROP(6)}, "is changed twice", 1},
    {"a group with an edited member is not dropped, nor half of it",
     "chat",
     CHAT,
     {EDIT(4, "x"), DROP(2)},
     "segment 4 (tool_result, condensable) is changed twice",
     1},
    {"results far from their calls leave with them", "responses", RESPONSES, {DROP(6)}, NULL, 5},
    {"tools cannot be dropped", "responses", RESPONSES, {DROP(0)}, "cannot be dropped", 0},
    {"top-level instructions cannot be dropped", "responses", RESPONSES, {DROP(1)}, "cannot be", 0},
    {"a compaction cannot be dropped", "responses", RESPONSES, {DROP(9)}, "cannot be dropped", 0},
    {"nor can an output that holds one, nor half of it",
     "responses",
     RESPONSES,
     {DROP(10)},
     "segment 9 (compaction, continuation exact) cannot be dropped",
     0},
    {"a reference to an item cannot be dropped",
     "responses",
     RESPONSES,
     {DROP(11)},
     "cannot be",
     0},
    {"an unknown item cannot be dropped",
     "responses",
     RESPONSES,
     {DROP(12)},
     "cannot be dropped",
     0},
    {"an image among instructions cannot be dropped",
     "messages",
     MESSAGES,
     {DROP(2)},
     "cannot be",
     0},
    {"thinking leaves with its group", "messages", MESSAGES, {DROP(4)}, NULL, 3},

    {"a message is inserted", "chat", CHAT, {INSERT(0, "{}"), INSERT(END, "{}")}, NULL, 0},
    {"a block is marked like another", "messages", MARKED, {ADD_MARKER(1, 6)}, NULL, 0},
    {"one marker a plan", "messages", MARKED, {ADD_MARKER(1, 6), ADD_MARKER(3, 6)}, "already", 0},
    {"a marked block needs none", "messages", MARKED, {ADD_MARKER(6, 6)}, "cannot be given", 0},
    {"thinking takes no marker", "messages", MARKED, {ADD_MARKER(2, 6)}, "cannot be given", 0},
    {"empty text takes no marker", "messages", MARKED, {ADD_MARKER(4, 6)}, "cannot be given", 0},
    {"a string has no block to mark", "messages", MARKED, {ADD_MARKER(5, 6)}, "cannot be given", 0},
    {"instructions get no marker", "messages", MARKED, {ADD_MARKER(0, 6)}, "cannot be given", 0},
    {"only a marker is copied", "messages", MARKED, {ADD_MARKER(1, 1)}, "not the key", 0},
    {"a long life does not come behind a short one",
     "messages",
     TWO_LIVES,
     {ADD_MARKER(3, 1)},
     "of that lifetime",
     0},
    {"a short life does not come before a long one",
     "messages",
     TWO_LIVES,
     {ADD_MARKER(0, 2)},
     "of that lifetime",
     0},
    {"a short life comes behind a short one", "messages", TWO_LIVES, {ADD_MARKER(3, 2)}, NULL, 0},
    {"a fourth marker", "messages", "{" THREE, {ADD_MARKER(1, 3)}, NULL, 0},
    {"no fifth marker, wherever the others are",
     "messages",
     "{'tools':[{'name':'t'," MARK "}]," THREE,
     {ADD_MARKER(2, 4)},
     "all the cache markers",
     0},
    {"the marker beside the messages is one of them",
     "messages",
     "{" MARK "," THREE,
     {ADD_MARKER(1, 3)},
     "all the cache markers",
     0},
    {"nothing is inserted where input is a string",
     "responses",
     "{'input':'u'}",
     {INSERT(END, "{}")},
     "no list of messages",
     0},
};

static void plans_take_what_can_be_done(void **state)
{
    size_t failed = 0;
    (void)state;

    for (size_t i = 0; i < TEST_COUNT_OF(cases); i++) {
        struct test_plan p;
        weir_status status = WEIR_OK;
        size_t last = 0;
        test_plan_open(&p, cases[i].dialect, cases[i].body);
        while (last + 1 < TEST_OPS_MAX && cases[i].ops[last + 1].verb)
            last++;
        for (size_t k = 0; k <= last && !status; k++) {
            status = test_plan_add(&p, &cases[i].ops[k]);
            assert_true(!status || k == last);
        }
        bool ok = p.plan.changes_count == cases[i].changes_count &&
                  status == (cases[i].refusal ? WEIR_INVALID : WEIR_OK) && p.err.code == status &&
                  (!status || strstr(p.err.text, cases[i].refusal));
        if (!ok)
            print_error("not so: %s: %u changes, %s\n", cases[i].behaviour, p.plan.changes_count,
                        p.err.text);
        failed += !ok;
        test_plan_close(&p);
    }
    assert_int_equal(failed, 0);
}

static void an_insertion_needs_a_place_in_the_list(void **state)
{
    struct test_plan p;
    (void)state;

    test_plan_open(&p, "chat", CHAT);
    const wr_json_id outside[] = {0, p.transcript.list, p.doc.nodes[p.transcript.list].after,
                                  p.doc.nodes_count, WR_JSON_NONE - 1};
    for (size_t i = 0; i < TEST_COUNT_OF(outside); i++) {
        assert_int_equal(wr_plan_insert(&p.plan, outside[i], WR_LIT("{}"), &p.err), WEIR_INVALID);
        assert_non_null(strstr(p.err.text, "to insert before"));
    }
    assert_true(wr_plan_is_empty(&p.plan));
    test_plan_close(&p);
}

static void only_signed_thinking_leaves_alone(void **state)
{
    struct test_plan p;
    (void)state;

    test_plan_open(&p, "messages", MESSAGES);
    assert_int_equal(wr_plan_drop_thinking(&p.plan, 5, &p.err), WEIR_INVALID);
    assert_non_null(strstr(p.err.text, "is not signed thinking"));
    assert_int_equal(wr_plan_drop_thinking(&p.plan, 8, &p.err), WEIR_INVALID);
    assert_int_equal(wr_plan_drop_thinking(&p.plan, 4, &p.err), WEIR_OK);
    assert_int_equal(p.plan.changes_count, 1);
    assert_int_equal(wr_plan_drop(&p.plan, 5, &p.err), WEIR_OK);
    assert_int_equal(p.plan.changes_count, 3);
    test_plan_close(&p);
}

static void a_change_that_was_rolled_back_gives_way(void **state)
{
    struct test_plan p;
    const struct test_op first = EDIT(4, "x"), second = EDIT(4, "y"), drop = DROP(4);
    (void)state;

    test_plan_open(&p, "chat", CHAT);
    assert_true(wr_plan_is_empty(&p.plan));
    assert_int_equal(test_plan_add(&p, &first), WEIR_OK);
    assert_false(wr_plan_is_empty(&p.plan));
    p.plan.changes[0].is_rolled_back = true;
    assert_true(wr_plan_is_empty(&p.plan));
    assert_null(wr_plan_find(&p.plan, 4));

    assert_int_equal(test_plan_add(&p, &second), WEIR_OK);
    assert_int_equal(p.plan.changes_count, 1);
    assert_true(wr_span_is(wr_plan_find(&p.plan, 4)->text, "y"));
    p.plan.changes[0].is_rolled_back = true;
    assert_int_equal(test_plan_add(&p, &drop), WEIR_OK);
    assert_int_equal(p.plan.changes_count, 3);
    assert_int_equal(wr_plan_find(&p.plan, 4)->form, WR_FORM_DROPPED);
    test_plan_close(&p);
}

/* ---- applying ---- */

#define APPLYING_MARK      "'cache_control':{'type':'ephemeral'}"
#define POINT              "'prompt_cache_breakpoint':{'mode':'explicit'}"
#define USER(t)            "{'role':'user','content':" t "}"
#define MODEL(t)           "{'role':'assistant','content':" t "}"
#define APPLYING_TEXT(t)   "{'type':'text','text':'" t "'}"
#define APPLYING_MARKED(t) "{'type':'text','text':'" t "'," APPLYING_MARK "}"
#define CALL(id)           "{'type':'tool_use','id':'" id "','name':'n','input':{}}"
#define APPLYING_MESSAGES(list) \
    "{'system':'s','messages':[" list "]}" /* segment 0 is the system prompt */

/* Two user texts, a call and a result with three texts and an image. */
#define RESULT(blocks)                     \
    USER("'u'")                            \
    "," MODEL("[" CALL("c") "]") "," USER( \
        "[{'type':'tool_result','tool_use_id':'c','content':[" blocks "]}]")

static const struct {
    const char *behaviour, *dialect, *body;
    struct test_op ops[TEST_OPS_MAX];
    const char *expected;
} applying_cases[] = {
    /* bytes outside the edit */
    {"what is not edited keeps spelling, order and space",
     "chat",
     " { 'n' : 1.50e+0, 'n':1,\t'messages' : [ {'content' : 'old' , 'role':'user', "
     "'x':'\\u00e9\\/'} ] } \n",
     {EDIT(0, "new")},
     " { 'n' : 1.50e+0, 'n':1,\t'messages' : [ {'content' : 'new' , 'role':'user', "
     "'x':'\\u00e9\\/'} ] } \n"},
    {"the new text is escaped",
     "chat",
     "{'messages':[" USER("'a'") "]}",
     {EDIT(0, "\\ \n\x01 \xC3\xA9")},
     "{'messages':[" USER("'\\\\ \\n\\u0001 \xC3\xA9'") "]}"},
    {"half a character is kept as its escape",
     "chat",
     "{'messages':[" USER("'a'") "]}",
     {EDIT(0, "x\xED\xA0\xBD")},
     "{'messages':[" USER("'x\\ud83d'") "]}"},
    {"an empty text can be filled",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("") "," APPLYING_TEXT("b") "]")),
     {EDIT(1, "a")},
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("a") "," APPLYING_TEXT("b") "]"))},

    /* results of several parts */
    {"the first text says it all, further ones leave, an image stays",
     "messages",
     APPLYING_MESSAGES(
         RESULT(APPLYING_TEXT("1") "," APPLYING_TEXT("2") ",{'type':'image'}," APPLYING_TEXT("3"))),
     {EDIT(3, "x")},
     APPLYING_MESSAGES(RESULT(APPLYING_TEXT("x") ",{'type':'image'}"))},
    {"a text behind an image is the first",
     "messages",
     APPLYING_MESSAGES(RESULT("{'type':'image'}," APPLYING_TEXT("2") "," APPLYING_TEXT("3"))),
     {EDIT(3, "x")},
     APPLYING_MESSAGES(RESULT("{'type':'image'}," APPLYING_TEXT("x")))},
    {"a part that leaves hands its marker to the first",
     "messages",
     APPLYING_MESSAGES(RESULT(APPLYING_TEXT("1") "," APPLYING_MARKED("2") "," APPLYING_TEXT("3"))),
     {EDIT(3, "x")},
     APPLYING_MESSAGES(RESULT(APPLYING_MARKED("x")))},
    {"two parts that leave hand over one marker",
     "messages",
     APPLYING_MESSAGES(
         RESULT(APPLYING_TEXT("1") "," APPLYING_MARKED("2") "," APPLYING_MARKED("3"))),
     {EDIT(3, "x")},
     APPLYING_MESSAGES(RESULT(APPLYING_MARKED("x")))},
    {"a first part that is marked keeps its own",
     "messages",
     APPLYING_MESSAGES(
         RESULT("{'type':'text'," APPLYING_MARK ",'text':'1'}," APPLYING_MARKED("2"))),
     {EDIT(3, "x")},
     APPLYING_MESSAGES(RESULT("{'type':'text'," APPLYING_MARK ",'text':'x'}"))},
    {"a key that is null gets no second one",
     "messages",
     APPLYING_MESSAGES(
         RESULT("{'type':'text','cache_control':null,'text':'1'}," APPLYING_MARKED("2"))),
     {EDIT(3, "x")},
     APPLYING_MESSAGES(RESULT("{'type':'text','cache_control':null,'text':'x'}"))},
    {"parts of a chat result",
     "chat",
     "{'messages':[{'role':'assistant','tool_calls':[{'id':'c','function':{'name':'n'}}]},"
     "{'role':'tool','tool_call_id':'c','content':[" APPLYING_TEXT("1") "," APPLYING_TEXT(
         "2") "]}]}",
     {EDIT(1, "x")},
     "{'messages':[{'role':'assistant','tool_calls':[{'id':'c','function':{'name':'n'}}]},"
     "{'role':'tool','tool_call_id':'c','content':[" APPLYING_TEXT("x") "]}]}"},
    {"parts of a function's output",
     "responses",
     "{'input':[{'type':'function_call','call_id':'c'},{'type':'function_call_output','call_id':'c'"
     ","
     "'output':[{'type':'input_text','text':'1'},{'type':'input_image'},"
     "{'type':'input_text','text':'2'," POINT "}]}]}",
     {EDIT(1, "x")},
     "{'input':[{'type':'function_call','call_id':'c'},{'type':'function_call_output','call_id':'c'"
     ","
     "'output':[{'type':'input_text','text':'x'," POINT "},{'type':'input_image'}]}]}"},
    {"streams of a shell cannot leave and become empty",
     "responses",
     "{'input':[{'type':'shell_call','call_id':'c'},{'type':'shell_call_output','call_id':'c',"
     "'output':[{'stdout':'1','stderr':'2','outcome':{}},{'stderr':'','stdout':'3'}]}]}",
     {EDIT(1, "x")},
     "{'input':[{'type':'shell_call','call_id':'c'},{'type':'shell_call_output','call_id':'c',"
     "'output':[{'stdout':'x','stderr':'','outcome':{}},{'stderr':'','stdout':''}]}]}"},

    /* what leaves */
    {"a message leaves when all of it does",
     "messages",
     APPLYING_MESSAGES(
         USER("'u'") "," USER("[" APPLYING_TEXT("1") "," APPLYING_TEXT("2") "]") "," USER("'v'")),
     {DROP(2), DROP(3)},
     APPLYING_MESSAGES(USER("'u'") "," USER("'v'"))},
    {"a message stays with what is left of it",
     "messages",
     APPLYING_MESSAGES(
         USER("[" APPLYING_TEXT("1") "," APPLYING_TEXT("2") "," APPLYING_TEXT("3") "]")),
     {DROP(1), DROP(3)},
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("2") "]"))},
    {"one part leaves, its neighbour is edited",
     "chat",
     "{'messages':[" USER("[" APPLYING_TEXT("1") "," APPLYING_TEXT("2") "]") "]}",
     {DROP(0), EDIT(1, "x")},
     "{'messages':[" USER("[" APPLYING_TEXT("x") "]") "]}"},
    {"words beside a result stay when the result's group leaves",
     "messages",
     APPLYING_MESSAGES(USER("'u'") "," MODEL("[" APPLYING_TEXT("a") "," CALL("c") "]") "," USER(
         "[{'type':'tool_result','tool_use_id':'c','content':'r'}," APPLYING_TEXT("v") "]")),
     {DROP(4)},
     APPLYING_MESSAGES(USER("'u'") "," USER("[" APPLYING_TEXT("v") "]"))},
    {"a chat group leaves: the model's message and all its results",
     "chat",
     "{'messages':[" USER("'u'") ",{'role':'assistant','content':[" APPLYING_TEXT(
         "a") "],'reasoning_content':'r',"
              "'tool_calls':[{'id':'c','function':{'name':'n'}},{'id':'d','function':{'name':'n'}}]"
              "},"
              "{'role':'tool','tool_call_id':'d','content':'2'},{'role':'tool','tool_call_id':'c','"
              "content':'1'}," MODEL("'z'") "]}",
     {DROP(1)},
     "{'messages':[" USER("'u'") "," MODEL("'z'") "]}"},
    {"a responses group leaves with results that stand elsewhere",
     "responses",
     "{'input':[" USER("'u'") ",{'type':'reasoning','id':'r'},{'type':'function_call','call_id':'c'"
                              "}," USER("'v'") ",{'type':'function_call_output','call_id':'c','"
                                               "output':'o'}]}",
     {DROP(2)},
     "{'input':[" USER("'u'") "," USER("'v'") "]}"},

    /* markers of what leaves */
    {"a marker moves to the nearest earlier block",
     "messages",
     APPLYING_MESSAGES(
         USER("[" APPLYING_TEXT("1") "," APPLYING_TEXT("2") "," APPLYING_MARKED("3") "]")),
     {DROP(3)},
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("1") "," APPLYING_MARKED("2") "]"))},
    {"over a message",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("1") "]") "," USER("[" APPLYING_MARKED("2") "]")),
     {DROP(2)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("1") "]"))},
    {"not onto what leaves too",
     "messages",
     APPLYING_MESSAGES(
         USER("[" APPLYING_TEXT("1") "," APPLYING_TEXT("2") "," APPLYING_MARKED("3") "]")),
     {DROP(2), DROP(3)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("1") "]"))},
    {"not onto a message that is a string",
     "messages",
     APPLYING_MESSAGES(
         USER("[" APPLYING_TEXT("1") "]") "," USER("'2'") "," USER("[" APPLYING_MARKED("3") "]")),
     {DROP(3)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("1") "]") "," USER("'2'"))},
    {"not onto empty text, nor onto white space",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("1") "," APPLYING_TEXT("") "," APPLYING_TEXT(
         " \\n") "," APPLYING_MARKED("4") "]")),
     {DROP(4)},
     APPLYING_MESSAGES(
         USER("[" APPLYING_MARKED("1") "," APPLYING_TEXT("") "," APPLYING_TEXT(" \\n") "]"))},
    {"not onto thinking",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("1") "]") "," MODEL(
         "[{'type':'thinking','thinking':'"
         "t','signature':'g'}]") "," USER("[" APPLYING_MARKED("2") "]")),
     {DROP(3)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("1") "]") "," MODEL(
         "[{'type':'thinking','thinking':'t','signature':'g'}]"))},
    {"not onto an unknown block",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("1") ",{'type':'new'}," APPLYING_MARKED("2") "]")),
     {DROP(3)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("1") ",{'type':'new'}]"))},
    {"not onto instructions",
     "messages",
     "{'system':[" APPLYING_TEXT("s") "],'messages':[" USER(
         "[" APPLYING_MARKED("1") "," APPLYING_TEXT("2") "]") "]}",
     {DROP(1)},
     "{'system':[" APPLYING_TEXT("s") "],'messages':[" USER("[" APPLYING_TEXT("2") "]") "]}"},
    {"one that is a block of its own leaves with the block before it, and stands behind another",
     "converse",
     "{'messages':[" USER("[{'text':'1'},{'text':'2'}, {'cachePoint':{'type':'default'}}]") "]}",
     {DROP(1)},
     "{'messages':[" USER("[{'text':'1'},{'cachePoint':{'type':'default'}}]") "]}"},
    {"and goes to another message",
     "converse",
     "{'messages':[" USER("[{'text':'1'}]") "," MODEL("[{'text':'a'}]") "," USER(
         "[{'text':'2'},{'cachePoint':{'type':'default','ttl':'1h'}}]") "]}",
     {DROP(2)},
     "{'messages':[" USER("[{'text':'1'}]") "," MODEL(
         "[{'text':'a'},{'cachePoint':{'type':'default','ttl':'1h'}}]") "]}"},
    {"not behind reasoning",
     "converse",
     "{'messages':[" USER("[{'text':'1'}]") "," MODEL(
         "[{'reasoningContent':{'reasoningText':{'"
         "text':'t'}}}]") "," USER("[{'text':'2'},{'cachePoint':{'type':'default'}}]") "]}",
     {DROP(2)},
     "{'messages':[" USER("[{'text':'1'},{'cachePoint':{'type':'default'}}]") "," MODEL(
         "[{'reasoningContent':{'reasoningText':{'text':'t'}}}]") "]}"},
    {"not onto a compaction",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("1") "]") "," MODEL(
         "[{'type':'compaction','content':'c'}]") "," USER("[" APPLYING_MARKED("2") "]")),
     {DROP(3)},
     APPLYING_MESSAGES(
         USER("[" APPLYING_MARKED("1") "]") "," MODEL("[{'type':'compaction','content':'c'}]"))},
    {"not beside a key that is null",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT(
         "1") ",{'type':'text','text':'2','cache_control':null}," APPLYING_MARKED("3") "]")),
     {DROP(3)},
     APPLYING_MESSAGES(
         USER("[" APPLYING_MARKED("1") ",{'type':'text','text':'2','cache_control':null}]"))},
    {"onto an image",
     "messages",
     APPLYING_MESSAGES(USER("[{'type':'image'}," APPLYING_MARKED("2") "]")),
     {DROP(2)},
     APPLYING_MESSAGES(USER("[{'type':'image'," APPLYING_MARK "}]"))},
    {"a block that is marked already needs no second",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("1") "," APPLYING_MARKED("2") "]")),
     {DROP(2)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("1") "]"))},
    {"two markers that move to one block are one",
     "messages",
     APPLYING_MESSAGES(
         USER("[" APPLYING_TEXT("1") "," APPLYING_MARKED("2") "," APPLYING_MARKED("3") "]")),
     {DROP(2), DROP(3)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("1") "]"))},
    {"with nothing earlier a marker is gone",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("1") "," APPLYING_TEXT("2") "]")),
     {DROP(1)},
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("2") "]"))},
    {"a marker moves as it is spelt",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT(
         "1") ",{'type':'text','cache_control' : {'ttl':'1h', 'type':'ephemeral'},'text':'2'}]")),
     {DROP(2)},
     APPLYING_MESSAGES(
         USER("[{'type':'text','text':'1','cache_control' : {'ttl':'1h', 'type':'ephemeral'}}]"))},
    {"a marker inside a result moves when the result leaves",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("u") "]") "," MODEL("[" CALL("c") "]") "," USER(
         "[{'type':'tool_result','tool_use_id':'c','content':[" APPLYING_TEXT(
             "1") "," APPLYING_MARKED("2") "]}]") "," USER("'v'")),
     {DROP(3)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("u") "]") "," USER("'v'"))},
    {"a marker can move onto a result",
     "messages",
     APPLYING_MESSAGES(USER("'u'") "," MODEL("[" CALL("c") "]") "," USER(
         "[{'type':'tool_result','tool_use_id':'c','content':'r'}," APPLYING_MARKED("v") "]")),
     {DROP(4)},
     APPLYING_MESSAGES(USER("'u'") "," MODEL("[" CALL("c") "]") "," USER(
         "[{'type':'tool_result','tool_use_id':'c','content':'r'," APPLYING_MARK "}]"))},
    {"in chat a marker moves among parts, never onto a message",
     "chat",
     "{'messages':[" USER("[" APPLYING_TEXT(
         "1") "]") ",{'role':'assistant','tool_calls':[{'id':'c','function':{'name':'n'}}]},"
                   "{'role':'tool','tool_call_id':'c','content':'r'}," USER(
                       "[" APPLYING_MARKED("2") "]") "]}",
     {DROP(3)},
     "{'messages':[" USER("[" APPLYING_MARKED(
         "1") "]") ",{'role':'assistant','tool_calls':[{'id':'c','function':{'name':'n'}}]},"
                   "{'role':'tool','tool_call_id':'c','content':'r'}]}"},
    {"a marker on the message stays while the message does",
     "chat",
     "{'messages':[{'role':'user','content':[" APPLYING_TEXT("1") "," APPLYING_TEXT(
         "2") "]," APPLYING_MARK "}]}",
     {DROP(1)},
     "{'messages':[{'role':'user','content':[" APPLYING_TEXT("1") "]," APPLYING_MARK "}]}"},
    {"and moves when the message leaves",
     "chat",
     "{'messages':[" USER("[" APPLYING_TEXT("0") "]") ",{'role':'user','content':[" APPLYING_TEXT(
         "1") "," APPLYING_TEXT("2") "]," APPLYING_MARK "}]}",
     {DROP(1), DROP(2)},
     "{'messages':[" USER("[" APPLYING_MARKED("0") "]") "]}"},
    {"in responses a breakpoint moves among parts",
     "responses",
     "{'input':[" USER("[{'type':'input_text','text':'1'}]") "," USER(
         "[{'type':'input_text','text':'2'," POINT "}]") "]}",
     {DROP(1)},
     "{'input':[" USER("[{'type':'input_text','text':'1'," POINT "}]") "]}"},

    /* insertions */
    {"messages are inserted in the order of the calls",
     "chat",
     "{'messages':[" USER("'a'") " , " USER("'b'") "]}",
     {INSERT(1, USER("'1'")), INSERT(END, USER("'3'")), INSERT(1, USER("'2'"))},
     "{'messages':[" USER("'a'") " , " USER("'1'") "," USER("'2'") "," USER("'b'") "," USER(
         "'3'") "]}"},
    {"a message comes where another leaves",
     "chat",
     "{'messages':[" USER("'a'") "," USER("'b'") "]}",
     {INSERT(1, USER("'x'")), DROP(1)},
     "{'messages':[" USER("'a'") "," USER("'x'") "]}"},
    {"a message comes where all leave",
     "chat",
     "{'messages':[" USER("'a'") "," USER("'b'") "]}",
     {DROP(0), DROP(1), INSERT(0, USER("'x'"))},
     "{'messages':[" USER("'x'") "]}"},
    /* markers that are added */
    {"a marker is a copy of the request's own, and nothing else changes",
     "messages",
     "{'messages':[" USER("[ {'type' : 'text','text':'\\u00e9' } ,\t" APPLYING_TEXT(
         "2") "]") "," USER("[{'type':'text','text':'3', 'cache_control' : { "
                            "'ttl':'1h','type':'ephemeral'} }]") "]}",
     {ADD_MARKER(0, 2)},
     "{'messages':[" USER("[ {'type' : 'text','text':'\\u00e9','cache_control' : { 'ttl':'1h',"
                          "'type':'ephemeral'} } ,\t" APPLYING_TEXT(
                              "2") "]") "," USER("[{'type':'text','text':'3', 'cache_control' : { "
                                                 "'ttl':'1h','type':'ephemeral'} }]") "]}"},
    {"a block is edited and marked",
     "messages",
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("1") "," APPLYING_MARKED("2") "]")),
     {EDIT(1, "x"), ADD_MARKER(1, 2)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("x") "," APPLYING_MARKED("2") "]"))},
    {"a result is marked, not the texts in it",
     "messages",
     APPLYING_MESSAGES(
         RESULT(APPLYING_TEXT("1") "," APPLYING_TEXT("2")) "," USER("[" APPLYING_MARKED("v") "]")),
     {EDIT(3, "x"), ADD_MARKER(3, 4)},
     APPLYING_MESSAGES(USER("'u'") "," MODEL("[" CALL("c") "]") "," USER(
         "[{'type':'tool_result','tool_use_id':'c','content':[" APPLYING_TEXT(
             "x") "]," APPLYING_MARK "}]") "," USER("[" APPLYING_MARKED("v") "]"))},
    {"a block that leaves is not marked",
     "messages",
     APPLYING_MESSAGES(
         USER("[" APPLYING_TEXT("1") "," APPLYING_TEXT("2") "," APPLYING_MARKED("3") "]")),
     {DROP(2), ADD_MARKER(2, 3)},
     APPLYING_MESSAGES(USER("[" APPLYING_TEXT("1") "," APPLYING_MARKED("3") "]"))},
    {"a block that is handed a marker gets no second",
     "messages",
     APPLYING_MESSAGES(
         USER("[" APPLYING_TEXT("1") "," APPLYING_MARKED("2") "," APPLYING_MARKED("3") "]")),
     {DROP(2), ADD_MARKER(1, 3)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("1") "," APPLYING_MARKED("3") "]"))},

    {"all kinds of change at once",
     "messages",
     APPLYING_MESSAGES(
         USER("[" APPLYING_TEXT("1") "," APPLYING_MARKED("2") "]") "," USER("'3'") "," USER("'4'")),
     {DROP(2), EDIT(1, "one"), EDIT(3, "three"), INSERT(2, USER("'new'")), DROP(4)},
     APPLYING_MESSAGES(USER("[" APPLYING_MARKED("one") "]") "," USER("'three'") "," USER("'new'"))},
};

static void changes_become_bytes(void **state)
{
    size_t failed = 0;
    (void)state;

    for (size_t i = 0; i < TEST_COUNT_OF(applying_cases); i++) {
        struct test_plan p;
        struct wr_touches touches;
        test_plan_open(&p, applying_cases[i].dialect, applying_cases[i].body);
        test_plan_add_all(&p, applying_cases[i].ops);
        assert_int_equal(wr_apply_touches(&p.plan, &p.arena, &touches), WEIR_OK);
        weir_status status = wr_apply_write(&p.doc, &p.arena, &touches, &p.out, &p.err);
        if (status || !test_same(&p.arena, wr_buf_view(&p.out), applying_cases[i].expected)) {
            print_error("not so: %s: %s\n", applying_cases[i].behaviour, p.err.text);
            failed++;
        }
        test_plan_close(&p);
    }
    assert_int_equal(failed, 0);
}

/* Touches must come as a walk over the nodes meets them: validation relies on it. */
static void touches_come_in_the_order_of_the_document(void **state)
{
    static const struct test_op ops[TEST_OPS_MAX] = {EDIT(4, "x"), DROP(3), INSERT(1, USER("'n'")),
                                                     EDIT(1, "y")};
    static const struct {
        enum wr_touch_kind kind;
        const char *text;
    } expected[] = {
        {WR_TOUCH_TEXT, "y"},  {WR_TOUCH_INSERT, "\"cache_control\":{\"type\":\"ephemeral\"}"},
        {WR_TOUCH_REMOVE, ""}, {WR_TOUCH_INSERT, "{\"role\":\"user\",\"content\":\"n\"}"},
        {WR_TOUCH_TEXT, "x"},
    };
    struct test_plan p;
    struct wr_touches touches;
    (void)state;

    test_plan_open(&p, "messages",
                   APPLYING_MESSAGES(USER("[" APPLYING_TEXT("1") "," APPLYING_TEXT(
                       "2") "," APPLYING_MARKED("3") "]") "," USER("'4'")));
    test_plan_add_all(&p, ops);
    assert_int_equal(wr_apply_touches(&p.plan, &p.arena, &touches), WEIR_OK);
    assert_int_equal(touches.count, TEST_COUNT_OF(expected));
    for (size_t i = 0; i < TEST_COUNT_OF(expected); i++) {
        assert_int_equal(touches.items[i].kind, expected[i].kind);
        assert_true(wr_span_is(touches.items[i].text, expected[i].text));
    }
    test_plan_close(&p);
}

static void a_change_that_was_rolled_back_touches_nothing(void **state)
{
    static const struct test_op ops[TEST_OPS_MAX] = {EDIT(0, "x")};
    struct test_plan p;
    struct wr_touches touches;
    (void)state;

    test_plan_open(&p, "chat", "{'messages':[" USER("'a'") "]}");
    test_plan_add_all(&p, ops);
    p.plan.changes[0].is_rolled_back = true;
    assert_int_equal(wr_apply_touches(&p.plan, &p.arena, &touches), WEIR_OK);
    assert_int_equal(touches.count, 0);
    test_plan_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_take_what_can_be_done),
        cmocka_unit_test(an_insertion_needs_a_place_in_the_list),
        cmocka_unit_test(only_signed_thinking_leaves_alone),
        cmocka_unit_test(a_change_that_was_rolled_back_gives_way),
        cmocka_unit_test(changes_become_bytes),
        cmocka_unit_test(touches_come_in_the_order_of_the_document),
        cmocka_unit_test(a_change_that_was_rolled_back_touches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
