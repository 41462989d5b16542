#include "tests/test_plan.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_take_what_can_be_done),
        cmocka_unit_test(an_insertion_needs_a_place_in_the_list),
        cmocka_unit_test(only_signed_thinking_leaves_alone),
        cmocka_unit_test(a_change_that_was_rolled_back_gives_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
