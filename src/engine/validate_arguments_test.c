#include "engine/validate.h"

#include "tests/test_plan.h"

#define LONG   "a text that is long enough to be worth a marker, though hardly longer than that"
#define HANDLE "wr_0123456789abcdef0123"
#define MARKER "[weir " HANDLE ": ~30 tokens left out]"
#define ESCAPED \
    "{\\\"p\\\":\\\"x\\\",\\\"c\\\":\\\"" LONG "\\\",\\\"n\\\":[1.50, \\\"" LONG "\\\"]}"
#define CHAT                                                                                     \
    "{'messages':[{'role':'user','content':'u'},{'role':'assistant','content':null,"             \
    "'tool_calls':[{'id':'c','type':'function','function':{'name':'Write','arguments':'" ESCAPED \
    "'}}]},{'role':'tool','tool_call_id':'c','content':'ok'}]}"
#define MESSAGES                                                                              \
    "{'system':'s','messages':[{'role':'user','content':'u'},{'role':'assistant','content':[" \
    "{'type':'tool_use','id':'c','name':'Write','input':{'p':'x','c':'" LONG "','k':{'" LONG  \
    "':1}}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'c',"             \
    "'content':'ok'}]}]}"

/* Arguments that are a string. In what they become, ' is ". */
static const struct {
    const char *behaviour, *after, *expected; /* NULL: nothing is wrong */
} texts[] = {
    {"a string becomes a marker", "{'p':'x','c':'" MARKER "','n':[1.50, '" LONG "']}", NULL},
    {"several do, at any depth", "{'p':'x','c':'" MARKER "','n':[1.50, 'a\\n" MARKER "']}", NULL},
    {"what is no JSON is found", "{'p':'x','c':'" MARKER "','n':[1.50, '" LONG "']",
     "its arguments are not JSON"},
    {"a key that is missing is found", "{'p':'x','c':'" MARKER "'}",
     "more of its arguments changed than strings"},
    {"a key that has another name is found", "{'q':'x','c':'" MARKER "','n':[1.50, '" LONG "']}",
     "more of its arguments changed than strings"},
    {"a key that is new is found", "{'p':'x','c':'" MARKER "','n':[1.50, '" LONG "'],'z':1}",
     "more of its arguments changed than strings"},
    {"a number that is spelt in another way is found",
     "{'p':'x','c':'" MARKER "','n':[1.5, '" LONG "']}",
     "more of its arguments changed than strings"},
    {"so is white space", "{'p':'x','c':'" MARKER "','n':[1.50,'" LONG "']}",
     "more of its arguments changed than strings"},
    {"so is a string that became a number", "{'p':'x','c':1,'n':[1.50, '" LONG "']}",
     "more of its arguments changed than strings"},
    {"a string that lost its marker is found", "{'p':'x','c':'gone','n':[1.50, '" LONG "']}",
     "a pruned argument has no marker"},
    {"a string that is empty is found", "{'p':'x','c':'','n':[1.50, '" LONG "']}",
     "its text became empty"},
    {"a string that grew is found", "{'p':'" MARKER "','c':'" LONG "','n':[1.50, '" LONG "']}",
     "its new text is not smaller than the original"},
};

static void arguments_that_are_a_string_stay_the_json_they_were(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT_OF(texts); i++) {
        struct test_plan p;
        struct wr_finding finding;
        test_plan_open(&p, "chat", CHAT);
        wr_json_id payload = p.transcript.segments[1].payload;
        struct wr_argument_change argument = {payload, test_quotes(&p.arena, texts[i].after)};
        struct wr_change change = {.segment = 1,
                                   .form = WR_FORM_PRUNED,
                                   .refers_to = WR_SEGMENT_NONE,
                                   .arguments = &argument,
                                   .arguments_count = 1};
        assert_int_equal(wr_plan_prune(&p.plan, &change, &p.err), WEIR_OK);
        assert_int_equal(wr_arguments_check(&p.plan, &change, &p.arena, &finding), WEIR_OK);
        if (finding.found != (texts[i].expected != NULL) ||
            (finding.found && strcmp(finding.what, texts[i].expected)))
            fail_msg("%s: %s", texts[i].behaviour, finding.found ? finding.what : "nothing");
        test_plan_close(&p);
    }
}

/* Arguments that are an object: a node counted from it, and what it becomes. */
static const struct {
    const char *behaviour;
    uint32_t node;
    const char *after, *expected;
    bool is_refused; /* by the plan */
} nodes[] = {
    {"a string becomes a marker", 4, MARKER, NULL, false},
    {"one without a marker is found", 4, "gone", "a pruned argument has no marker", false},
    {"an empty one is found", 4, " ", "its text became empty", false},
    {"a larger one is found", 2, MARKER, "its new text is not smaller than the original", false},
    {"a key is no value", 3, MARKER, NULL, true},
    {"nor is a key deeper down", 7, MARKER, NULL, true},
    {"an object is no string", 0, MARKER, NULL, true},
    {"a number is no string", 8, MARKER, NULL, true},
    {"what lies behind the arguments is not in them", 9, MARKER, NULL, true},
};

static void strings_of_an_object_are_changed_one_by_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT_OF(nodes); i++) {
        struct test_plan p;
        struct wr_finding finding;
        test_plan_open(&p, "messages", MESSAGES);
        wr_json_id payload = p.transcript.segments[2].payload;
        struct wr_argument_change argument = {payload + nodes[i].node, wr_span_of(nodes[i].after)};
        struct wr_change change = {.segment = 2,
                                   .form = WR_FORM_PRUNED,
                                   .refers_to = WR_SEGMENT_NONE,
                                   .arguments = &argument,
                                   .arguments_count = 1};
        weir_status status = wr_plan_prune(&p.plan, &change, &p.err);
        if (status != (nodes[i].is_refused ? WEIR_INVALID : WEIR_OK))
            fail_msg("%s: status %d", nodes[i].behaviour, (int)status);
        if (!status) {
            assert_int_equal(wr_arguments_check(&p.plan, &change, &p.arena, &finding), WEIR_OK);
            if (finding.found != (nodes[i].expected != NULL) ||
                (finding.found && strcmp(finding.what, nodes[i].expected)))
                fail_msg("%s: %s", nodes[i].behaviour, finding.found ? finding.what : "nothing");
        }
        test_plan_close(&p);
    }
}

static void only_calls_have_arguments_to_prune(void **state)
{
    struct test_plan p;
    (void)state;
    test_plan_open(&p, "chat", CHAT);
    struct wr_argument_change argument = {p.transcript.segments[2].payload, wr_span_of(MARKER)};
    struct wr_change change = {.segment = 2,
                               .form = WR_FORM_PRUNED,
                               .refers_to = WR_SEGMENT_NONE,
                               .arguments = &argument,
                               .arguments_count = 1};
    assert_int_equal(wr_plan_prune(&p.plan, &change, &p.err), WEIR_INVALID);
    change.segment = 99;
    assert_int_equal(wr_plan_prune(&p.plan, &change, &p.err), WEIR_INVALID);
    change.segment = 1;
    change.arguments_count = 0;
    assert_int_equal(wr_plan_prune(&p.plan, &change, &p.err), WEIR_INVALID);
    change.segment = 2;
    assert_int_equal(wr_plan_set(&p.plan, &change, &p.err), WEIR_INVALID);
    assert_true(wr_plan_is_empty(&p.plan));
    test_plan_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_that_are_a_string_stay_the_json_they_were),
        cmocka_unit_test(strings_of_an_object_are_changed_one_by_one),
        cmocka_unit_test(only_calls_have_arguments_to_prune)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
