#include "engine/validate.h"

#include "tests/test_plan.h"

/* Nodes: 0 {  1 'id' 2 'a'  3 'list' 4 [  5 {  6 'k' 7 1  8 't' 9 'x' }  10 [ 11 2.0 ]  12 'y' ] }
 */
#define BEFORE "{'id':'a','list':[{'k':1,'t':'x'},[2.0],'y']}"

enum { TOUCHES_MAX = 4 };

/* `kind` plus one, so that an empty row is none. */
struct row_touch {
    int kind;
    wr_json_id container, node;
    const char *text;
};

#define SAYS(node, text)                                \
    {                                                   \
        WR_TOUCH_TEXT + 1, WR_JSON_NONE, (node), (text) \
    }
#define GONE(container, node)                        \
    {                                                \
        WR_TOUCH_REMOVE + 1, (container), (node), "" \
    }
#define NEW(container, node, text)                       \
    {                                                    \
        WR_TOUCH_INSERT + 1, (container), (node), (text) \
    }

static const struct {
    const char *behaviour, *before;
    struct row_touch touches[TOUCHES_MAX];
    const char *after;
    bool is_same;
} cases[] = {
    {"the same bytes are the same", BEFORE, {{0}}, BEFORE, true},
    {"a changed id is found",
     BEFORE,
     {{0}},
     "{'id':'b','list':[{'k':1,'t':'x'},[2.0],'y']}",
     false},
    {"a changed key is found",
     BEFORE,
     {{0}},
     "{'ID':'a','list':[{'k':1,'t':'x'},[2.0],'y']}",
     false},
    {"a changed spelling of a number is found",
     BEFORE,
     {{0}},
     "{'id':'a','list':[{'k':1,'t':'x'},[2.00],'y']}",
     false},
    {"a changed escape is found",
     BEFORE,
     {{0}},
     "{'id':'\\u0061','list':[{'k':1,'t':'x'},[2.0],'y']}",
     false},
    {"a changed word is found", "[true]", {{0}}, "[null]", false},
    {"a changed kind is found", "[{}]", {{0}}, "[[]]", false},
    {"a moved element is found",
     BEFORE,
     {{0}},
     "{'id':'a','list':[[2.0],{'k':1,'t':'x'},'y']}",
     false},
    {"a moved element of the same value is found", "[1,[1],2]", {{0}}, "[[1],1,2]", false},
    {"a value nested deeper is found",
     BEFORE,
     {{0}},
     "{'id':'a','list':[{'k':1,'t':'x'},[[2.0]],'y']}",
     false},
    {"a value moved into its neighbour is found", "[[1],2]", {{0}}, "[[1,2]]", false},
    {"a value moved out of its container is found", "[[1,2]]", {{0}}, "[[1],2]", false},
    {"a dropped member is found", BEFORE, {{0}}, "{'id':'a','list':[{'t':'x'},[2.0],'y']}", false},
    {"a dropped element is found", BEFORE, {{0}}, "{'id':'a','list':[{'k':1,'t':'x'},'y']}", false},
    {"a dropped last element is found",
     BEFORE,
     {{0}},
     "{'id':'a','list':[{'k':1,'t':'x'},[2.0]]}",
     false},
    {"an extra element is found",
     BEFORE,
     {{0}},
     "{'id':'a','list':[{'k':1,'t':'x'},[2.0],'y',null]}",
     false},
    {"an extra member is found",
     BEFORE,
     {{0}},
     "{'id':'a','list':[{'k':1,'t':'x','z':0},[2.0],'y']}",
     false},
    {"an extra last member is found",
     BEFORE,
     {{0}},
     "{'id':'a','list':[{'k':1,'t':'x'},[2.0],'y'],'z':0}",
     false},
    {"a changed order of keys is found",
     BEFORE,
     {{0}},
     "{'id':'a','list':[{'t':'x','k':1},[2.0],'y']}",
     false},
    {"white space that came is found",
     BEFORE,
     {{0}},
     "{'id': 'a','list':[{'k':1,'t':'x'},[2.0],'y']}",
     false},
    {"white space that went is found", "[1, 2] ", {{0}}, "[1, 2]", false},
    {"white space before it all is found", "[1]", {{0}}, " [1]", false},
    {"another document is found", "[1]", {{0}}, "{}", false},

    {"a text that was meant is no difference",
     BEFORE,
     {SAYS(9, "new")},
     "{'id':'a','list':[{'k':1,'t':'new'},[2.0],'y']}",
     true},
    {"however it is escaped",
     BEFORE,
     {SAYS(9, "new")},
     "{'id':'a','list':[{'k':1,'t':'n\\u0065w'},[2.0],'y']}",
     true},
    {"another text than was meant is found",
     BEFORE,
     {SAYS(9, "new")},
     "{'id':'a','list':[{'k':1,'t':'now'},[2.0],'y']}",
     false},
    {"a text that was meant and did not come is found", BEFORE, {SAYS(9, "new")}, BEFORE, false},
    {"a text that became another kind is found",
     BEFORE,
     {SAYS(12, "2")},
     "{'id':'a','list':[{'k':1,'t':'x'},[2.0],2]}",
     false},
    {"a text meant where there is nothing left is found",
     BEFORE,
     {SAYS(12, "z")},
     "{'id':'a','list':[{'k':1,'t':'x'},[2.0]]}",
     false},
    {"a change beside a text that was meant is found",
     BEFORE,
     {SAYS(9, "new")},
     "{'id':'a','list':[{'k':2,'t':'new'},[2.0],'y']}",
     false},
    {"white space beside a text that was meant is found",
     BEFORE,
     {SAYS(9, "new")},
     "{'id':'a','list':[{'k':1,'t': 'new'},[2.0],'y']}",
     false},
    {"a change behind a text that was meant is found",
     BEFORE,
     {SAYS(9, "new")},
     "{'id':'a','list':[{'k':1,'t':'new'},[2.0],'z']}",
     false},

    {"an element that was meant to go is gone",
     BEFORE,
     {GONE(4, 10)},
     "{'id':'a','list':[{'k':1,'t':'x'},'y']}",
     true},
    {"with whichever comma", "[1 , 2 ,3]", {GONE(0, 2)}, "[1 ,3]", true},
    {"the first", BEFORE, {GONE(4, 5)}, "{'id':'a','list':[[2.0],'y']}", true},
    {"the last", BEFORE, {GONE(4, 12)}, "{'id':'a','list':[{'k':1,'t':'x'},[2.0]]}", true},
    {"all of them", BEFORE, {GONE(4, 5), GONE(4, 10), GONE(4, 12)}, "{'id':'a','list':[]}", true},
    {"a member that was meant to go is gone",
     BEFORE,
     {GONE(5, 6)},
     "{'id':'a','list':[{'t':'x'},[2.0],'y']}",
     true},
    {"one that stayed is found", BEFORE, {GONE(4, 10)}, BEFORE, false},
    {"another one that went is found",
     BEFORE,
     {GONE(4, 10)},
     "{'id':'a','list':[{'k':1,'t':'x'},[2.0]]}",
     false},
    {"one more that went is found",
     BEFORE,
     {GONE(4, 10)},
     "{'id':'a','list':[{'k':1,'t':'x'}]}",
     false},
    {"white space away from what went is found", "[1, 2, 3, 4]", {GONE(0, 1)}, "[2, 3,4]", false},

    {"an element that was meant to come is there",
     BEFORE,
     {NEW(4, 10, "{'n':0}")},
     "{'id':'a','list':[{'k':1,'t':'x'},{'n':0},[2.0],'y']}",
     true},
    {"at the end",
     BEFORE,
     {NEW(4, WR_JSON_NONE, " {'n':0} ")},
     "{'id':'a','list':[{'k':1,'t':'x'},[2.0],'y', {'n':0} ]}",
     true},
    {"a member at the end",
     BEFORE,
     {NEW(5, WR_JSON_NONE, "'m':{}")},
     "{'id':'a','list':[{'k':1,'t':'x','m':{}},[2.0],'y']}",
     true},
    {"two at one place, in order",
     BEFORE,
     {NEW(4, 5, "7"), NEW(4, 5, "8")},
     "{'id':'a','list':[7,8,{'k':1,'t':'x'},[2.0],'y']}",
     true},
    {"two in the wrong order are found",
     BEFORE,
     {NEW(4, 5, "7"), NEW(4, 5, "8")},
     "{'id':'a','list':[8,7,{'k':1,'t':'x'},[2.0],'y']}",
     false},
    {"one that did not come is found", BEFORE, {NEW(4, 5, "7")}, BEFORE, false},
    {"one that came elsewhere is found",
     BEFORE,
     {NEW(4, 10, "7")},
     "{'id':'a','list':[7,{'k':1,'t':'x'},[2.0],'y']}",
     false},
    {"one that came into another container is found",
     BEFORE,
     {NEW(4, WR_JSON_NONE, "7")},
     "{'id':'a','list':[{'k':1,'t':'x'},[2.0,7],'y']}",
     false},
    {"one at the end of an inner container, another of the outer",
     "[[1]]",
     {NEW(1, WR_JSON_NONE, "2"), NEW(0, WR_JSON_NONE, "3")},
     "[[1,2],3]",
     true},
    {"these two exchanged are found",
     "[[1]]",
     {NEW(1, WR_JSON_NONE, "2"), NEW(0, WR_JSON_NONE, "3")},
     "[[1,3],2]",
     false},
    {"one that is two is found",
     BEFORE,
     {NEW(4, 5, "7,8")},
     "{'id':'a','list':[7,8,{'k':1,'t':'x'},[2.0],'y']}",
     false},
    {"one that is spelt otherwise is found",
     BEFORE,
     {NEW(4, 5, "7")},
     "{'id':'a','list':[7.0,{'k':1,'t':'x'},[2.0],'y']}",
     false},
    {"one in the place of another",
     BEFORE,
     {NEW(4, 10, "7"), GONE(4, 10)},
     "{'id':'a','list':[{'k':1,'t':'x'},7,'y']}",
     true},
    {"an equal element twice for one meant is found", "[1]", {NEW(0, 1, "1")}, "[1,1,1]", false},
    {"an equal element that was meant is there", "[1]", {NEW(0, 1, "1")}, "[1,1]", true},

    {"all kinds at once",
     BEFORE,
     {SAYS(9, "z"), NEW(5, WR_JSON_NONE, "'m':0"), GONE(4, 10), NEW(4, WR_JSON_NONE, "3")},
     "{'id':'a','list':[{'k':1,'t':'z','m':0},'y',3]}",
     true},
    {"a touch of a node that does not come is found", "[1]", {SAYS(7, "z")}, "[1]", false},
};

static bool compare(struct wr_arena *arena, size_t i)
{
    struct wr_touch items[TOUCHES_MAX];
    struct wr_touches touches = {items, 0, TOUCHES_MAX};
    struct wr_json before, after;
    bool is_same;

    for (; touches.count < TOUCHES_MAX && cases[i].touches[touches.count].kind; touches.count++) {
        const struct row_touch *t = &cases[i].touches[touches.count];
        items[touches.count] = (struct wr_touch){(enum wr_touch_kind)(t->kind - 1), t->container,
                                                 t->node, test_quotes(arena, t->text)};
    }
    assert_int_equal(wr_json_parse(&before, arena, test_quotes(arena, cases[i].before), NULL, NULL),
                     WEIR_OK);
    assert_int_equal(wr_json_parse(&after, arena, test_quotes(arena, cases[i].after), NULL, NULL),
                     WEIR_OK);
    assert_int_equal(wr_compare_documents(&before, &after, &touches, arena, &is_same), WEIR_OK);
    return is_same;
}

static void only_what_was_meant_may_differ(void **state)
{
    struct wr_arena arena;
    size_t failed = 0;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (size_t i = 0; i < TEST_COUNT_OF(cases); i++) {
        if (compare(&arena, i) == cases[i].is_same)
            continue;
        print_error("not so: %s\n", cases[i].behaviour);
        failed++;
    }
    assert_int_equal(failed, 0);
    wr_arena_release(&arena);
}

/* A touch in the innermost of as many containers as there may be. */
static void depth_is_no_danger(void **state)
{
    char text[2 * WR_JSON_DEPTH_MAX + 2];
    struct wr_touch item = {WR_TOUCH_TEXT, WR_JSON_NONE, WR_JSON_DEPTH_MAX, WR_LIT("")};
    struct wr_touches touches = {&item, 1, 1};
    struct wr_arena arena;
    struct wr_json doc;
    bool is_same;
    (void)state;

    memset(text, '[', WR_JSON_DEPTH_MAX);
    memset(text + WR_JSON_DEPTH_MAX, '"', 2);
    memset(text + WR_JSON_DEPTH_MAX + 2, ']', WR_JSON_DEPTH_MAX);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, (weir_span){text, sizeof(text)}, NULL, NULL),
                     WEIR_OK);
    assert_int_equal(wr_compare_documents(&doc, &doc, &touches, &arena, &is_same), WEIR_OK);
    assert_true(is_same);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_was_meant_may_differ),
        cmocka_unit_test(depth_is_no_danger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
