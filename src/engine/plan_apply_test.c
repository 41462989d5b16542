#include "engine/plan.h"

#include "tests/test_plan.h"

#define MARK           "'cache_control':{'type':'ephemeral'}"
#define POINT          "'prompt_cache_breakpoint':{'mode':'explicit'}"
#define USER(t)        "{'role':'user','content':" t "}"
#define MODEL(t)       "{'role':'assistant','content':" t "}"
#define TEXT(t)        "{'type':'text','text':'" t "'}"
#define MARKED(t)      "{'type':'text','text':'" t "'," MARK "}"
#define CALL(id)       "{'type':'tool_use','id':'" id "','name':'n','input':{}}"
#define MESSAGES(list) "{'system':'s','messages':[" list "]}" /* segment 0 is the system prompt */

/* Two user texts, a call and a result with three texts and an image. */
#define RESULT(blocks)                     \
    USER("'u'")                            \
    "," MODEL("[" CALL("c") "]") "," USER( \
        "[{'type':'tool_result','tool_use_id':'c','content':[" blocks "]}]")

static const struct {
    const char *behaviour, *dialect, *body;
    struct test_op ops[TEST_OPS_MAX];
    const char *expected;
} cases[] = {
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
     MESSAGES(USER("[" TEXT("") "," TEXT("b") "]")),
     {EDIT(1, "a")},
     MESSAGES(USER("[" TEXT("a") "," TEXT("b") "]"))},

    /* results of several parts */
    {"the first text says it all, further ones leave, an image stays",
     "messages",
     MESSAGES(RESULT(TEXT("1") "," TEXT("2") ",{'type':'image'}," TEXT("3"))),
     {EDIT(3, "x")},
     MESSAGES(RESULT(TEXT("x") ",{'type':'image'}"))},
    {"a text behind an image is the first",
     "messages",
     MESSAGES(RESULT("{'type':'image'}," TEXT("2") "," TEXT("3"))),
     {EDIT(3, "x")},
     MESSAGES(RESULT("{'type':'image'}," TEXT("x")))},
    {"a part that leaves hands its marker to the first",
     "messages",
     MESSAGES(RESULT(TEXT("1") "," MARKED("2") "," TEXT("3"))),
     {EDIT(3, "x")},
     MESSAGES(RESULT(MARKED("x")))},
    {"two parts that leave hand over one marker",
     "messages",
     MESSAGES(RESULT(TEXT("1") "," MARKED("2") "," MARKED("3"))),
     {EDIT(3, "x")},
     MESSAGES(RESULT(MARKED("x")))},
    {"a first part that is marked keeps its own",
     "messages",
     MESSAGES(RESULT("{'type':'text'," MARK ",'text':'1'}," MARKED("2"))),
     {EDIT(3, "x")},
     MESSAGES(RESULT("{'type':'text'," MARK ",'text':'x'}"))},
    {"a key that is null gets no second one",
     "messages",
     MESSAGES(RESULT("{'type':'text','cache_control':null,'text':'1'}," MARKED("2"))),
     {EDIT(3, "x")},
     MESSAGES(RESULT("{'type':'text','cache_control':null,'text':'x'}"))},
    {"parts of a chat result",
     "chat",
     "{'messages':[{'role':'assistant','tool_calls':[{'id':'c','function':{'name':'n'}}]},"
     "{'role':'tool','tool_call_id':'c','content':[" TEXT("1") "," TEXT("2") "]}]}",
     {EDIT(1, "x")},
     "{'messages':[{'role':'assistant','tool_calls':[{'id':'c','function':{'name':'n'}}]},"
     "{'role':'tool','tool_call_id':'c','content':[" TEXT("x") "]}]}"},
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
     MESSAGES(USER("'u'") "," USER("[" TEXT("1") "," TEXT("2") "]") "," USER("'v'")),
     {DROP(2), DROP(3)},
     MESSAGES(USER("'u'") "," USER("'v'"))},
    {"a message stays with what is left of it",
     "messages",
     MESSAGES(USER("[" TEXT("1") "," TEXT("2") "," TEXT("3") "]")),
     {DROP(1), DROP(3)},
     MESSAGES(USER("[" TEXT("2") "]"))},
    {"one part leaves, its neighbour is edited",
     "chat",
     "{'messages':[" USER("[" TEXT("1") "," TEXT("2") "]") "]}",
     {DROP(0), EDIT(1, "x")},
     "{'messages':[" USER("[" TEXT("x") "]") "]}"},
    {"words beside a result stay when the result's group leaves",
     "messages",
     MESSAGES(USER("'u'") "," MODEL("[" TEXT("a") "," CALL("c") "]") "," USER(
         "[{'type':'tool_result','tool_use_id':'c','content':'r'}," TEXT("v") "]")),
     {DROP(4)},
     MESSAGES(USER("'u'") "," USER("[" TEXT("v") "]"))},
    {"a chat group leaves: the model's message and all its results",
     "chat",
     "{'messages':[" USER("'u'") ",{'role':'assistant','content':[" TEXT(
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
     MESSAGES(USER("[" TEXT("1") "," TEXT("2") "," MARKED("3") "]")),
     {DROP(3)},
     MESSAGES(USER("[" TEXT("1") "," MARKED("2") "]"))},
    {"over a message",
     "messages",
     MESSAGES(USER("[" TEXT("1") "]") "," USER("[" MARKED("2") "]")),
     {DROP(2)},
     MESSAGES(USER("[" MARKED("1") "]"))},
    {"not onto what leaves too",
     "messages",
     MESSAGES(USER("[" TEXT("1") "," TEXT("2") "," MARKED("3") "]")),
     {DROP(2), DROP(3)},
     MESSAGES(USER("[" MARKED("1") "]"))},
    {"not onto a message that is a string",
     "messages",
     MESSAGES(USER("[" TEXT("1") "]") "," USER("'2'") "," USER("[" MARKED("3") "]")),
     {DROP(3)},
     MESSAGES(USER("[" MARKED("1") "]") "," USER("'2'"))},
    {"not onto empty text, nor onto white space",
     "messages",
     MESSAGES(USER("[" TEXT("1") "," TEXT("") "," TEXT(" \\n") "," MARKED("4") "]")),
     {DROP(4)},
     MESSAGES(USER("[" MARKED("1") "," TEXT("") "," TEXT(" \\n") "]"))},
    {"not onto thinking",
     "messages",
     MESSAGES(USER("[" TEXT("1") "]") "," MODEL(
         "[{'type':'thinking','thinking':'t','signature':'g'}]") "," USER("[" MARKED("2") "]")),
     {DROP(3)},
     MESSAGES(USER("[" MARKED("1") "]") "," MODEL(
         "[{'type':'thinking','thinking':'t','signature':'g'}]"))},
    {"not onto an unknown block",
     "messages",
     MESSAGES(USER("[" TEXT("1") ",{'type':'new'}," MARKED("2") "]")),
     {DROP(3)},
     MESSAGES(USER("[" MARKED("1") ",{'type':'new'}]"))},
    {"not onto instructions",
     "messages",
     "{'system':[" TEXT("s") "],'messages':[" USER("[" MARKED("1") "," TEXT("2") "]") "]}",
     {DROP(1)},
     "{'system':[" TEXT("s") "],'messages':[" USER("[" TEXT("2") "]") "]}"},
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
     MESSAGES(USER("[" TEXT("1") "]") "," MODEL("[{'type':'compaction','content':'c'}]") "," USER(
         "[" MARKED("2") "]")),
     {DROP(3)},
     MESSAGES(USER("[" MARKED("1") "]") "," MODEL("[{'type':'compaction','content':'c'}]"))},
    {"not beside a key that is null",
     "messages",
     MESSAGES(
         USER("[" TEXT("1") ",{'type':'text','text':'2','cache_control':null}," MARKED("3") "]")),
     {DROP(3)},
     MESSAGES(USER("[" MARKED("1") ",{'type':'text','text':'2','cache_control':null}]"))},
    {"onto an image",
     "messages",
     MESSAGES(USER("[{'type':'image'}," MARKED("2") "]")),
     {DROP(2)},
     MESSAGES(USER("[{'type':'image'," MARK "}]"))},
    {"a block that is marked already needs no second",
     "messages",
     MESSAGES(USER("[" MARKED("1") "," MARKED("2") "]")),
     {DROP(2)},
     MESSAGES(USER("[" MARKED("1") "]"))},
    {"two markers that move to one block are one",
     "messages",
     MESSAGES(USER("[" TEXT("1") "," MARKED("2") "," MARKED("3") "]")),
     {DROP(2), DROP(3)},
     MESSAGES(USER("[" MARKED("1") "]"))},
    {"with nothing earlier a marker is gone",
     "messages",
     MESSAGES(USER("[" MARKED("1") "," TEXT("2") "]")),
     {DROP(1)},
     MESSAGES(USER("[" TEXT("2") "]"))},
    {"a marker moves as it is spelt",
     "messages",
     MESSAGES(USER("[" TEXT(
         "1") ",{'type':'text','cache_control' : {'ttl':'1h', 'type':'ephemeral'},'text':'2'}]")),
     {DROP(2)},
     MESSAGES(
         USER("[{'type':'text','text':'1','cache_control' : {'ttl':'1h', 'type':'ephemeral'}}]"))},
    {"a marker inside a result moves when the result leaves",
     "messages",
     MESSAGES(USER("[" TEXT("u") "]") "," MODEL("[" CALL("c") "]") "," USER(
         "[{'type':'tool_result','tool_use_id':'c','content':[" TEXT("1") "," MARKED(
             "2") "]}]") "," USER("'v'")),
     {DROP(3)},
     MESSAGES(USER("[" MARKED("u") "]") "," USER("'v'"))},
    {"a marker can move onto a result",
     "messages",
     MESSAGES(USER("'u'") "," MODEL("[" CALL("c") "]") "," USER(
         "[{'type':'tool_result','tool_use_id':'c','content':'r'}," MARKED("v") "]")),
     {DROP(4)},
     MESSAGES(USER("'u'") "," MODEL("[" CALL("c") "]") "," USER(
         "[{'type':'tool_result','tool_use_id':'c','content':'r'," MARK "}]"))},
    {"in chat a marker moves among parts, never onto a message",
     "chat",
     "{'messages':[" USER("[" TEXT(
         "1") "]") ",{'role':'assistant','tool_calls':[{'id':'c','function':{'name':'n'}}]},"
                   "{'role':'tool','tool_call_id':'c','content':'r'}," USER(
                       "[" MARKED("2") "]") "]}",
     {DROP(3)},
     "{'messages':[" USER("[" MARKED(
         "1") "]") ",{'role':'assistant','tool_calls':[{'id':'c','function':{'name':'n'}}]},"
                   "{'role':'tool','tool_call_id':'c','content':'r'}]}"},
    {"a marker on the message stays while the message does",
     "chat",
     "{'messages':[{'role':'user','content':[" TEXT("1") "," TEXT("2") "]," MARK "}]}",
     {DROP(1)},
     "{'messages':[{'role':'user','content':[" TEXT("1") "]," MARK "}]}"},
    {"and moves when the message leaves",
     "chat",
     "{'messages':[" USER("[" TEXT("0") "]") ",{'role':'user','content':[" TEXT("1") "," TEXT(
         "2") "]," MARK "}]}",
     {DROP(1), DROP(2)},
     "{'messages':[" USER("[" MARKED("0") "]") "]}"},
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
     "{'messages':[" USER("[ {'type' : 'text','text':'\\u00e9' } ,\t" TEXT("2") "]") "," USER(
         "[{'type':'text','text':'3', 'cache_control' : { 'ttl':'1h','type':'ephemeral'} }]") "]}",
     {ADD_MARKER(0, 2)},
     "{'messages':[" USER("[ {'type' : 'text','text':'\\u00e9','cache_control' : { 'ttl':'1h',"
                          "'type':'ephemeral'} } ,\t" TEXT(
                              "2") "]") "," USER("[{'type':'text','text':'3', 'cache_control' : { "
                                                 "'ttl':'1h','type':'ephemeral'} }]") "]}"},
    {"a block is edited and marked",
     "messages",
     MESSAGES(USER("[" TEXT("1") "," MARKED("2") "]")),
     {EDIT(1, "x"), ADD_MARKER(1, 2)},
     MESSAGES(USER("[" MARKED("x") "," MARKED("2") "]"))},
    {"a result is marked, not the texts in it",
     "messages",
     MESSAGES(RESULT(TEXT("1") "," TEXT("2")) "," USER("[" MARKED("v") "]")),
     {EDIT(3, "x"), ADD_MARKER(3, 4)},
     MESSAGES(USER("'u'") "," MODEL("[" CALL("c") "]") "," USER(
         "[{'type':'tool_result','tool_use_id':'c','content':[" TEXT(
             "x") "]," MARK "}]") "," USER("[" MARKED("v") "]"))},
    {"a block that leaves is not marked",
     "messages",
     MESSAGES(USER("[" TEXT("1") "," TEXT("2") "," MARKED("3") "]")),
     {DROP(2), ADD_MARKER(2, 3)},
     MESSAGES(USER("[" TEXT("1") "," MARKED("3") "]"))},
    {"a block that is handed a marker gets no second",
     "messages",
     MESSAGES(USER("[" TEXT("1") "," MARKED("2") "," MARKED("3") "]")),
     {DROP(2), ADD_MARKER(1, 3)},
     MESSAGES(USER("[" MARKED("1") "," MARKED("3") "]"))},

    {"all kinds of change at once",
     "messages",
     MESSAGES(USER("[" TEXT("1") "," MARKED("2") "]") "," USER("'3'") "," USER("'4'")),
     {DROP(2), EDIT(1, "one"), EDIT(3, "three"), INSERT(2, USER("'new'")), DROP(4)},
     MESSAGES(USER("[" MARKED("one") "]") "," USER("'three'") "," USER("'new'"))},
};

static void changes_become_bytes(void **state)
{
    size_t failed = 0;
    (void)state;

    for (size_t i = 0; i < TEST_COUNT_OF(cases); i++) {
        struct test_plan p;
        struct wr_touches touches;
        test_plan_open(&p, cases[i].dialect, cases[i].body);
        test_plan_add_all(&p, cases[i].ops);
        assert_int_equal(wr_apply_touches(&p.plan, &p.arena, &touches), WEIR_OK);
        weir_status status = wr_apply_write(&p.doc, &p.arena, &touches, &p.out, &p.err);
        if (status || !test_same(&p.arena, wr_buf_view(&p.out), cases[i].expected)) {
            print_error("not so: %s: %s\n", cases[i].behaviour, p.err.text);
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
                   MESSAGES(USER("[" TEXT("1") "," TEXT("2") "," MARKED("3") "]") "," USER("'4'")));
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
        cmocka_unit_test(changes_become_bytes),
        cmocka_unit_test(touches_come_in_the_order_of_the_document),
        cmocka_unit_test(a_change_that_was_rolled_back_touches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
