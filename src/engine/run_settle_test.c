#include "engine/run.h"

#include "tests/test_plan.h"

#define MARK     "'cache_control':{'type':'ephemeral'}"
#define USER(t)  "{'role':'user','content':" t "}"
#define MODEL(t) "{'role':'assistant','content':" t "}"
#define TEXT(t)  "{'type':'text','text':'" t "'}"

#define CALL(id)      "{'role':'assistant','tool_calls':[{'id':'" id "','function':{'name':'n'}}]}"
#define RESULT(id, t) "{'role':'tool','tool_call_id':'" id "','content':'" t "'}"
#define CHAT(list)    " {\t'messages' : [" list "] , 'temperature':1.0}\n"

#define USE(id)        "{'type':'tool_use','id':'" id "','name':'n','input':{}}"
#define ANSWER(id, t)  "{'type':'tool_result','tool_use_id':'" id "','content':" t "}"
#define THINK(id)      "{'type':'thinking','thinking':'t','signature':'" id "'}"
#define MESSAGES(list) "{'max_tokens':1,'messages':[" list "]}"

#define ITEM_CALL(id)      "{'type':'function_call','call_id':'" id "'}"
#define ITEM_RESULT(id, t) "{'type':'function_call_output','call_id':'" id "','output':'" t "'}"
#define RESPONSES(list)    "{'store':false,'input':[" list "]}"

/* 0 user, 1 call, 2 result, 3 call, 4 result, 5 user. */
#define TWO(one, two)                                                             \
    CHAT(USER("'u'") "," CALL("a") "," RESULT("a", one) "," CALL("b") "," RESULT( \
        "b", two) "," USER("'v'"))

static const struct {
    const char *behaviour, *dialect, *body;
    struct test_op ops[TEST_OPS_MAX];
    const char *expected; /* NULL: byte for byte what came */
    const char *finding;  /* part of the first one; NULL: none */
    uint32_t rolled_back_count;
    bool is_fallback;
} cases[] = {
    {"nothing to do", "chat", TWO("one", "two"), {{0}}, NULL, NULL, 0, false},
    {"an edit", "chat", TWO("one", "two"), {EDIT(2, "1")}, TWO("1", "two"), NULL, 0, false},
    {"a group leaves",
     "chat",
     TWO("one", "two"),
     {DROP(4)},
     CHAT(USER("'u'") "," CALL("a") "," RESULT("a", "one") "," USER("'v'")),
     NULL,
     0,
     false},
    {"a group leaves",
     "responses",
     RESPONSES(
         USER("'u'") ",{'type':'reasoning','id':'r'}," ITEM_CALL("a") "," ITEM_RESULT("a", "x")),
     {DROP(1)},
     RESPONSES(USER("'u'")),
     NULL,
     0,
     false},
    {"a group leaves, words beside its result stay",
     "messages",
     MESSAGES(USER("'u'") "," MODEL("[" THINK("1") "," USE("a") "]") "," USER(
         "[" ANSWER("a", "'x'") "," TEXT("v") "]")),
     {DROP(3)},
     MESSAGES(USER("'u'") "," USER("[" TEXT("v") "]")),
     NULL,
     0,
     false},

    /* a finding about a segment */
    {"one that became empty goes back, the other stands",
     "chat",
     TWO("one", "two"),
     {EDIT(2, ""), EDIT(4, "2")},
     TWO("one", "2"),
     "its text became empty",
     1,
     false},
    {"one that is too large goes back, the other stands",
     "responses",
     RESPONSES(USER("'u'") "," ITEM_CALL("a") "," ITEM_CALL("b") "," ITEM_RESULT(
         "a", "one") "," ITEM_RESULT("b", "two")),
     {ROOM(3, "12", 1), EDIT(4, "2")},
     RESPONSES(USER("'u'") "," ITEM_CALL("a") "," ITEM_CALL("b") "," ITEM_RESULT(
         "a", "one") "," ITEM_RESULT("b", "2")),
     "larger than the room",
     1,
     false},
    {"one that is not smaller goes back, the other stands",
     "messages",
     MESSAGES(USER("'u'") "," MODEL("[" USE("a") "," USE("b") "]") "," USER(
         "[" ANSWER("a", "'one'") "," ANSWER("b", "[" TEXT("two") "," TEXT("three") "]") "]")),
     {FORM(MASKED, 3, "[masked]"), FORM(MASKED, 4, "2")},
     MESSAGES(USER("'u'") "," MODEL("[" USE("a") "," USE("b") "]") "," USER(
         "[" ANSWER("a", "'one'") "," ANSWER("b", "[" TEXT("2") "]") "]")),
     "not smaller",
     1,
     false},
    {"one that is not UTF-8 goes back, the other stands",
     "chat",
     TWO("one", "two"),
     {EDIT(2, "\xFF"), EDIT(4, "2")},
     TWO("one", "2"),
     "not UTF-8",
     1,
     false},
    {"all go back, each for itself",
     "chat",
     TWO("one", "two"),
     {EDIT(2, ""), EDIT(4, "")},
     NULL,
     "became empty",
     2,
     false},
    {"an edit goes back, a drop stands",
     "chat",
     TWO("one", "two"),
     {EDIT(2, ""), DROP(4)},
     CHAT(USER("'u'") "," CALL("a") "," RESULT("a", "one") "," USER("'v'")),
     "became empty",
     1,
     false},
    {"a reference to what is dropped goes back",
     "chat",
     TWO("one", "one"),
     {REFER(4, "s", 2), DROP(2)},
     CHAT(USER("'u'") "," CALL("b") "," RESULT("b", "one") "," USER("'v'")),
     "what it refers to",
     1,
     false},
    {"a reference to what is changed goes back",
     "chat",
     TWO("one", "one"),
     {REFER(4, "s", 2), EDIT(2, "1")},
     TWO("1", "one"),
     "what it refers to",
     1,
     false},
    {"a reference to a change that goes back stands, whichever came first",
     "chat",
     TWO("one", "one"),
     {REFER(4, "s", 2), EDIT(2, "")},
     TWO("one", "s"),
     "became empty",
     1,
     false},
    {"so it does the other way round",
     "chat",
     TWO("one", "one"),
     {EDIT(2, ""), REFER(4, "s", 2)},
     TWO("one", "s"),
     "became empty",
     1,
     false},

    /* a finding about the structure */
    {"no message is left",
     "chat",
     CHAT(USER("'u'") "," USER("'v'")),
     {DROP(0), DROP(1)},
     NULL,
     "no message is left",
     2,
     true},
    {"the model would come first",
     "messages",
     MESSAGES(USER("'u'") "," MODEL("'a'") "," USER("'v'")),
     {DROP(0)},
     NULL,
     "the first message is not the user's",
     1,
     true},
    {"the model would come last",
     "messages",
     MESSAGES(USER("'u'") "," MODEL("'a'") "," USER("'v'")),
     {EDIT(0, "x"), DROP(2)},
     NULL,
     "the last message is the model's",
     2,
     true},
    {"words would come before thinking",
     "messages",
     MESSAGES(USER("'u'") "," MODEL("'a'") "," USER("'v'") "," MODEL(
         "[" THINK("1") "," TEXT("b") "]") "," USER("'w'")),
     {DROP(2)},
     NULL,
     "thinking does not come first",
     1,
     true},
    {"thinking out of the middle",
     "messages",
     MESSAGES(USER("'u'") "," MODEL("[" THINK("1") "," TEXT("a") "]") "," USER("'v'") "," MODEL(
         "[" THINK("2") "," TEXT("b") "]") "," USER("'w'")),
     {EDIT(0, "x"), DROP(4)},
     NULL,
     "out of the middle",
     3,
     true},
    {"a fifth marker comes in",
     "messages",
     MESSAGES(USER("[{'type':'text','text':'1'," MARK "},{'type':'text','text':'2'," MARK "},"
                   "{'type':'text','text':'3'," MARK "},{'type':'text','text':'4'," MARK "}]")),
     {INSERT(END, USER("[{'type':'text','text':'5'," MARK "}]"))},
     NULL,
     "more cache markers",
     0,
     true},
    {"a marker that moves is no fifth",
     "messages",
     MESSAGES(USER("[{'type':'text','text':'1'," MARK "},{'type':'text','text':'2'," MARK "},"
                   "{'type':'text','text':'3'," MARK
                   "}," TEXT("4") ",{'type':'text','text':'5'," MARK "}]")),
     {DROP(4)},
     MESSAGES(USER("[{'type':'text','text':'1'," MARK "},{'type':'text','text':'2'," MARK "},"
                   "{'type':'text','text':'3'," MARK "},{'type':'text','text':'4'," MARK "}]")),
     NULL,
     0,
     false},
    {"an approval would answer nothing",
     "responses",
     RESPONSES(USER("'u'") ",{'type':'item_reference','id':'i'}"),
     {INSERT(END, "{'type':'mcp_approval_response','approval_request_id':'q'}")},
     NULL,
     "nothing to answer",
     0,
     true},

    /* insertions */
    {"a message comes in",
     "chat",
     TWO("one", "two"),
     {INSERT(0, MODEL("'x'"))},
     CHAT(MODEL("'x'") "," USER("'u'") "," CALL("a") "," RESULT("a", "one") "," CALL(
         "b") "," RESULT("b", "two") "," USER("'v'")),
     NULL,
     0,
     false},
    {"a message between a call and its result",
     "chat",
     TWO("one", "two"),
     {EDIT(2, "1"), INSERT(2, USER("'x'"))},
     NULL,
     "right behind its call",
     1,
     true},
    {"an item between a call and its result",
     "responses",
     RESPONSES(ITEM_CALL("a") "," ITEM_RESULT("a", "x")),
     {INSERT(1, USER("'x'"))},
     NULL,
     "right behind its call",
     0,
     true},
    {"an item between reasoning and its call",
     "responses",
     RESPONSES("{'type':'reasoning','id':'r'}," ITEM_CALL("a") "," ITEM_RESULT("a", "x")),
     {INSERT(1, USER("'x'"))},
     NULL,
     "reasoning is not followed",
     0,
     true},
    {"a result that has no call",
     "chat",
     TWO("one", "two"),
     {INSERT(END, RESULT("z", "x"))},
     NULL,
     "a result has no call",
     0,
     true},
    {"a second result for a call",
     "chat",
     TWO("one", "two"),
     {INSERT(5, RESULT("b", "x"))},
     NULL,
     "a call has two results",
     0,
     true},
    {"an empty message",
     "chat",
     TWO("one", "two"),
     {INSERT(END, USER("''"))},
     NULL,
     "a message has no content",
     0,
     true},
    {"what is no JSON", "chat", TWO("one", "two"), {INSERT(END, "{")}, NULL, "not JSON", 0, true},
    {"two messages as one",
     "chat",
     TWO("one", "two"),
     {INSERT(END, USER("'x'") "," USER("'y'"))},
     NULL,
     "not meant to",
     0,
     true},
    {"a summary in the place of a loop",
     "messages",
     MESSAGES(USER("'u'") "," MODEL("[" USE("a") "]") "," USER(
         "[" ANSWER("a", "'x'") "]") "," MODEL("'done'") "," USER("'v'")),
     {DROP(1), DROP(3), INSERT(1, MODEL("'[summary]'"))},
     MESSAGES(USER("'u'") "," MODEL("'[summary]'") "," USER("'v'")),
     NULL,
     0,
     false},

    /* what was wrong already */
    {"an orphan that came is not held against an edit",
     "chat",
     CHAT(RESULT("z", "one") "," USER("'u'")),
     {EDIT(0, "1")},
     CHAT(RESULT("z", "1") "," USER("'u'")),
     NULL,
     0,
     false},
    {"a call without a result is not held against a drop",
     "chat",
     CHAT(CALL("z") "," USER("'u'") "," USER("'v'")),
     {DROP(1)},
     CHAT(CALL("z") "," USER("'v'")),
     NULL,
     0,
     false},
    {"an orphan can leave",
     "messages",
     MESSAGES(USER("[" ANSWER("z", "'x'") "," TEXT("u") "]")),
     {DROP(0)},
     MESSAGES(USER("[" TEXT("u") "]")),
     NULL,
     0,
     false},
    {"five markers that came are not held against an edit",
     "messages",
     "{'tools':[{" MARK "},{" MARK "},{" MARK "},{" MARK "},{" MARK
     "}],'messages':[" USER("'u'") "]}",
     {EDIT(1, "x")},
     "{'tools':[{" MARK "},{" MARK "},{" MARK "},{" MARK "},{" MARK
     "}],'messages':[" USER("'x'") "]}",
     NULL,
     0,
     false},
    {"an empty text that came is not held against an edit",
     "messages",
     MESSAGES(USER("[" TEXT("") "," TEXT("u") "]")),
     {EDIT(1, "x")},
     MESSAGES(USER("[" TEXT("") "," TEXT("x") "]")),
     NULL,
     0,
     false},
    {"half characters that came are kept",
     "chat",
     CHAT(USER("'\\udead \\ud83d'") "," USER("'v'")),
     {EDIT(1, "x")},
     CHAT(USER("'\\udead \\ud83d'") "," USER("'x'")),
     NULL,
     0,
     false},
    {"a request that is a string",
     "responses",
     "{'input' : 'u', 'store':false}",
     {EDIT(0, "x")},
     "{'input' : 'x', 'store':false}",
     NULL,
     0,
     false},
};

static bool is_as_expected(struct test_plan *p, const struct wr_settled *found, size_t i)
{
    const char *expected = cases[i].expected ? cases[i].expected : cases[i].body;
    bool is_input = found->body.ptr == p->doc.text.ptr;
    bool is_found = found->first.found
                        ? cases[i].finding && strstr(found->first.what, cases[i].finding)
                        : !cases[i].finding;
    return is_found && (!found->is_fallback || wr_plan_is_empty(&p->plan)) &&
           found->rolled_back_count == cases[i].rolled_back_count &&
           found->is_fallback == cases[i].is_fallback && is_input == !cases[i].expected &&
           test_same(&p->arena, found->body, expected);
}

/* Every row twice: a plan carried out again gives the same again. */
static void plans_are_carried_out(void **state)
{
    size_t failed = 0;
    (void)state;

    for (size_t i = 0; i < TEST_COUNT_OF(cases); i++) {
        struct test_plan p;
        test_plan_open(&p, cases[i].dialect, cases[i].body);
        test_plan_add_all(&p, cases[i].ops);
        for (int round = 0; round < 2; round++) {
            struct wr_settled found;
            wr_buf_reset(&p.out);
            assert_int_equal(wr_plan_settle(&p.plan, &p.arena, &p.out, &found, &p.err), WEIR_OK);
            if (is_as_expected(&p, &found, i))
                continue;
            failed++;
            print_error("not so: %s, round %d: %u rolled back, fallback %d, %s\n",
                        cases[i].behaviour, round, found.rolled_back_count, found.is_fallback,
                        found.first.found ? found.first.what : "nothing found");
        }
        test_plan_close(&p);
    }
    assert_int_equal(failed, 0);
}

static void what_was_rolled_back_says_why(void **state)
{
    static const struct test_op ops[TEST_OPS_MAX] = {EDIT(2, ""), EDIT(4, "2")};
    struct test_plan p;
    struct wr_settled found;
    (void)state;

    test_plan_open(&p, "chat", TWO("one", "two"));
    test_plan_add_all(&p, ops);
    assert_int_equal(wr_plan_settle(&p.plan, &p.arena, &p.out, &found, &p.err), WEIR_OK);
    assert_true(p.plan.changes[0].is_rolled_back);
    assert_string_equal(p.plan.changes[0].reason, "its text became empty");
    assert_false(p.plan.changes[1].is_rolled_back);
    assert_null(p.plan.changes[1].reason);
    assert_int_equal(found.first.segment, 2);
    test_plan_close(&p);
}

/* An id inside the list that is no message's: the splice refuses it, and the request goes on as it
 * came. */
static void an_insertion_at_no_message_falls_back(void **state)
{
    struct test_plan p;
    struct wr_settled found;
    (void)state;

    test_plan_open(&p, "chat", TWO("one", "two"));
    wr_json_id inside = test_message(&p, 0) + 1;
    assert_int_equal(wr_plan_insert(&p.plan, inside, WR_LIT("{}"), &p.err), WEIR_OK);
    assert_int_equal(wr_plan_settle(&p.plan, &p.arena, &p.out, &found, &p.err), WEIR_OK);
    assert_true(found.is_fallback);
    assert_string_equal(found.first.what, "the changes do not fit together");
    assert_ptr_equal(found.body.ptr, p.doc.text.ptr);
    test_plan_close(&p);
}

static void no_room_is_a_status_and_the_original_is_there(void **state)
{
    static const struct test_op ops[TEST_OPS_MAX] = {EDIT(2, "a longer text than was there")};
    struct test_plan p;
    struct wr_settled found;
    struct wr_buf small;
    (void)state;

    test_plan_open(&p, "chat", TWO("one", "two"));
    test_plan_add_all(&p, ops);
    wr_buf_init(&small, p.doc.text.len);
    assert_int_equal(wr_plan_settle(&p.plan, &p.arena, &small, &found, &p.err), WEIR_LIMIT);
    assert_int_equal(p.err.code, WEIR_LIMIT);
    assert_ptr_equal(found.body.ptr, p.doc.text.ptr);
    wr_buf_release(&small);
    test_plan_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_carried_out),
        cmocka_unit_test(what_was_rolled_back_says_why),
        cmocka_unit_test(an_insertion_at_no_message_falls_back),
        cmocka_unit_test(no_room_is_a_status_and_the_original_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
