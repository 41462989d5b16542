#include "api/lawful.h"

#include "tests/test_plan.h"

#define MARK            "'cache_control':{'type':'ephemeral'}"
#define USER(t)         "{'role':'user','content':" t "}"
#define MODEL(t)        "{'role':'assistant','content':" t "}"
#define TEXT(t)         "{'type':'text','text':'" t "'}"
#define MESSAGES(list)  "{'messages':[" list "]}"
#define RESPONSES(list) "{'input':[" list "]}"

#define SHORT           "{'type':'text','text':'t'," MARK "}"
#define LONG            "{'type':'text','text':'t','cache_control':{'type':'ephemeral','ttl':'1h'}}"
#define CALL(id)        "{'type':'tool_use','id':'" id "','name':'n','input':{}}"
#define RESULT(id)      "{'type':'tool_result','tool_use_id':'" id "','content':'r'}"
#define THINKING        "{'type':'thinking','thinking':'t','signature':'g'}"
#define CHAT_CALL(id)   "{'role':'assistant','tool_calls':[{'id':'" id "','function':{}}]}"
#define CHAT_RESULT(id) "{'role':'tool','tool_call_id':'" id "','content':'r'}"
#define ITEM_CALL(id)   "{'type':'function_call','call_id':'" id "','name':'n','arguments':'{}'}"
#define ITEM_RESULT(id) "{'type':'function_call_output','call_id':'" id "','output':'r'}"

#define CONTENTS(list) "{'contents':[" list "]}"
#define G_ASK          "{'role':'user','parts':[{'text':'u'}]}"
#define G_CALL         "{'role':'model','parts':[{'functionCall':{'name':'n'}}]}"
#define G_RESULT \
    "{'role':'user','parts':[{'functionResponse':{'name':'n','response':{'output':'r'}}}]}"

/* The rule whose breaches are counted; all other rules must find nothing, or what `also` says. */
#define RULE(name) WR_RULE_##name
#define ONLY       -1

static const struct {
    const char *behaviour, *dialect, *body;
    int rule, count;
    int also; /* a rule that the same body must break too, or ONLY */
} cases[] = {
    {"an answered call", "chat", MESSAGES(USER("'u'") "," CHAT_CALL("a") "," CHAT_RESULT("a")),
     RULE(CALL_UNANSWERED), 0, ONLY},
    {"a call without a result", "chat", MESSAGES(USER("'u'") "," CHAT_CALL("a") "," USER("'v'")),
     RULE(CALL_UNANSWERED), 1, ONLY},
    {"one of two calls without a result", "messages",
     MESSAGES(USER("'u'") "," MODEL("[" CALL("a") "," CALL("b") "]") "," USER("[" RESULT("b") "]")),
     RULE(CALL_UNANSWERED), 1, ONLY},
    {"a result whose call is there", "responses", RESPONSES(ITEM_CALL("a") "," ITEM_RESULT("a")),
     RULE(RESULT_ORPHAN), 0, ONLY},
    {"a result without a call", "responses", RESPONSES(USER("'u'") "," ITEM_RESULT("a")),
     RULE(RESULT_ORPHAN), 1, ONLY},
    {"a result before its call", "responses", RESPONSES(ITEM_RESULT("a") "," ITEM_CALL("a")),
     RULE(RESULT_NOT_NEXT), 1, ONLY},
    {"a result before its call in chat", "chat", MESSAGES(CHAT_RESULT("a") "," CHAT_CALL("a")),
     RULE(RESULT_ORPHAN), 1, RULE(CALL_UNANSWERED)},
    {"a result whose call the server holds", "responses",
     "{'previous_response_id':'p','input':[" ITEM_RESULT("a") "]}", RULE(RESULT_ORPHAN), 0, ONLY},
    {"one result for a call", "chat", MESSAGES(CHAT_CALL("a") "," CHAT_RESULT("a")),
     RULE(RESULT_REPEATED), 0, ONLY},
    {"two results for a call", "chat",
     MESSAGES(CHAT_CALL("a") "," CHAT_RESULT("a") "," CHAT_RESULT("a")), RULE(RESULT_REPEATED), 1,
     ONLY},
    {"an id that is used again later", "chat",
     MESSAGES(CHAT_CALL("a") "," CHAT_RESULT("a") "," CHAT_CALL("a") "," CHAT_RESULT("a")),
     RULE(RESULT_REPEATED), 0, ONLY},
    {"results in another order than their calls", "chat",
     MESSAGES("{'role':'assistant','tool_calls':[{'id':'a','function':{}},{'id':'b','function':{}}]"
              "}," CHAT_RESULT("b") "," CHAT_RESULT("a")),
     RULE(RESULT_NOT_NEXT), 0, ONLY},
    {"words between a call and its result", "chat",
     MESSAGES(CHAT_CALL("a") "," USER("'u'") "," CHAT_RESULT("a")), RULE(RESULT_NOT_NEXT), 1, ONLY},
    {"words of the model between a call and its result", "messages",
     MESSAGES(USER("'u'") "," MODEL("[" CALL("a") "]") "," USER("'v'") "," MODEL("'b'") "," USER(
         "[" RESULT("a") "]")),
     RULE(RESULT_NOT_NEXT), 1, ONLY},
    {"results of one output in two messages", "messages",
     MESSAGES(USER("'u'") "," MODEL("[" CALL("a") "," CALL("b") "]") "," USER(
         "[" RESULT("a") "]") "," USER("[" RESULT("b") "]")),
     RULE(RESULT_NOT_NEXT), 0, ONLY},
    {"words between a call and its result as items", "responses",
     RESPONSES(ITEM_CALL("a") "," USER("'u'") "," ITEM_RESULT("a")), RULE(RESULT_NOT_NEXT), 1,
     ONLY},
    {"a result first in its message", "messages",
     MESSAGES(USER("'u'") "," MODEL("[" CALL("a") "]") "," USER("[" RESULT("a") "," TEXT("v") "]")),
     RULE(RESULT_AFTER_TEXT), 0, ONLY},
    {"a result behind text", "messages",
     MESSAGES(USER("'u'") "," MODEL("[" CALL("a") "]") "," USER("[" TEXT("v") "," RESULT("a") "]")),
     RULE(RESULT_AFTER_TEXT), 1, ONLY},

    {"a server's result behind its call", "messages",
     MESSAGES(USER("'u'") "," MODEL("[{'type':'server_tool_use','id':'s'},{'type':'web_search_tool_"
                                    "result','tool_use_id':'s'}]") "," USER("'v'")),
     RULE(ANSWER_ORPHAN), 0, ONLY},
    {"a server's result without its call", "messages",
     MESSAGES(USER("'u'") "," MODEL("[{'type':'advisor_tool_result','tool_use_id':'s'}]") "," USER(
         "'v'")),
     RULE(ANSWER_ORPHAN), 1, ONLY},
    {"an approval of what was asked", "responses",
     RESPONSES("{'type':'mcp_approval_request','id':'q'},"
               "{'type':'mcp_approval_response','approval_request_id':'q'}"),
     RULE(ANSWER_ORPHAN), 0, ONLY},
    {"an approval of nothing", "responses",
     RESPONSES("{'type':'mcp_approval_response','approval_request_id':'q'}"), RULE(ANSWER_ORPHAN),
     1, ONLY},
    {"a call that needed no approval", "responses", RESPONSES("{'type':'mcp_call','id':'m'}"),
     RULE(ANSWER_ORPHAN), 0, ONLY},
    {"a program's output", "responses",
     RESPONSES("{'type':'program','call_id':'p'},{'type':'program_output','call_id':'p'}"),
     RULE(ANSWER_ORPHAN), 0, ONLY},
    {"a program's output without the program", "responses",
     RESPONSES("{'type':'program_output','call_id':'p'}"), RULE(ANSWER_ORPHAN), 1, ONLY},

    {"calls right behind the user and results", "gemini",
     CONTENTS(G_ASK "," G_CALL "," G_RESULT "," G_CALL "," G_RESULT), RULE(CALL_NOT_NEXT), 0, ONLY},
    {"a call behind words of the model", "gemini",
     CONTENTS(G_ASK ",{'role':'model','parts':[{'text':'a'}]}," G_CALL "," G_RESULT),
     RULE(CALL_NOT_NEXT), 1, ONLY},
    {"a call without an id and without a result", "gemini", CONTENTS(G_ASK "," G_CALL "," G_ASK),
     RULE(CALL_UNANSWERED), 1, ONLY},
    {"a result too many", "gemini", CONTENTS(G_ASK "," G_CALL "," G_RESULT "," G_RESULT),
     RULE(RESULT_ORPHAN), 1, ONLY},
    {"the model last", "gemini", CONTENTS(G_ASK ",{'role':'model','parts':[{'text':'a'}]}"),
     RULE(LAST_FROM_MODEL), 1, ONLY},
    {"who has no role is the user", "gemini", CONTENTS("{'parts':[{'text':'a'}]}"),
     RULE(FIRST_NOT_USER), 0, ONLY},
    {"a content without parts", "gemini", CONTENTS(G_ASK ",{'role':'user','parts':[]}"),
     RULE(CONTENT_EMPTY), 1, ONLY},

    {"a list with a message", "chat", MESSAGES(USER("'u'")), RULE(LIST_EMPTY), 0, ONLY},
    {"a list without one", "chat", MESSAGES(""), RULE(LIST_EMPTY), 1, ONLY},
    {"input that is a string", "responses", "{'input':'u'}", RULE(LIST_EMPTY), 0, ONLY},
    {"the user first", "messages", MESSAGES(USER("'u'")), RULE(FIRST_NOT_USER), 0, ONLY},
    {"the model first", "messages", MESSAGES(MODEL("'a'") "," USER("'u'")), RULE(FIRST_NOT_USER), 1,
     ONLY},
    {"the model first in chat", "chat", MESSAGES(MODEL("'a'") "," USER("'u'")),
     RULE(FIRST_NOT_USER), 0, ONLY},
    {"the user last", "messages", MESSAGES(USER("'u'") "," MODEL("'a'") "," USER("'v'")),
     RULE(LAST_FROM_MODEL), 0, ONLY},
    {"the model last", "messages", MESSAGES(USER("'u'") "," MODEL("'a'")), RULE(LAST_FROM_MODEL), 1,
     ONLY},
    {"the model last in chat", "chat", MESSAGES(USER("'u'") "," MODEL("'a'")),
     RULE(LAST_FROM_MODEL), 0, ONLY},
    {"content", "chat", MESSAGES(USER("'u'")), RULE(CONTENT_EMPTY), 0, ONLY},
    {"an empty string as content", "chat", MESSAGES(USER("''")), RULE(CONTENT_EMPTY), 1, ONLY},
    {"no blocks as content", "messages", MESSAGES(USER("[]")), RULE(CONTENT_EMPTY), 1, ONLY},
    {"calls instead of content", "chat",
     MESSAGES(
         "{'role':'assistant','content':'','tool_calls':[{'id':'a','function':{}}]}," CHAT_RESULT(
             "a")),
     RULE(CONTENT_EMPTY), 0, ONLY},
    {"text", "messages", MESSAGES(USER("[" TEXT("u") "]")), RULE(TEXT_EMPTY), 0, ONLY},
    {"an empty text", "messages", MESSAGES(USER("[" TEXT("u") "," TEXT("") "]")), RULE(TEXT_EMPTY),
     1, ONLY},
    {"a text of white space", "messages", MESSAGES(USER("[" TEXT("u") "," TEXT(" \\t\\r\\n ") "]")),
     RULE(TEXT_EMPTY), 1, ONLY},
    {"a text that ends in a backslash", "messages", MESSAGES(USER("[" TEXT(" \\\\") "]")),
     RULE(TEXT_EMPTY), 0, ONLY},
    {"a result with one text of two empty", "responses",
     RESPONSES(ITEM_CALL("a") ",{'type':'function_call_output','call_id':'a','output':["
                              "{'type':'input_text','text':''},{'type':'input_text','text':'x'}]}"),
     RULE(TEXT_EMPTY), 0, ONLY},
    {"four markers", "messages",
     "{'tools':[{" MARK "}],'system':[{'type':'text','text':'s'," MARK "}],'messages':[" USER(
         "[{'type':'text','text':'u'," MARK "},{'type':'text','text':'v'," MARK "}]") "]}",
     RULE(MARKERS_OVER), 0, ONLY},
    {"six markers", "messages",
     "{'tools':[{" MARK "},{" MARK "}],'system':[{'type':'text','text':'s'," MARK
     "}],'messages':[" USER("[{'type':'text','text':'u'," MARK "},{'type':'text','text':'v'," MARK
                            "},"
                            "{'type':'text','text':'w','prompt_cache_breakpoint':{}}]") "]}",
     RULE(MARKERS_OVER), 2, ONLY},
    {"a cache marker of an hour before one of minutes", "messages",
     MESSAGES(USER("[" LONG "," SHORT "]") "," USER("[" SHORT "]")), RULE(MARKER_ORDER), 0, ONLY},
    {"a cache marker of an hour behind one of minutes", "messages",
     MESSAGES(USER("[" LONG "," SHORT "]") "," USER("[" LONG "]")), RULE(MARKER_ORDER), 1, ONLY},
    {"a marker that is null is none", "messages",
     MESSAGES(USER("[{'type':'text','text':'','cache_control':null}," TEXT("u") "]")),
     RULE(MARKER_MISPLACED), 0, RULE(TEXT_EMPTY)},
    {"a marker on text", "messages", MESSAGES(USER("[{'type':'text','text':'u'," MARK "}]")),
     RULE(MARKER_MISPLACED), 0, ONLY},
    {"a marker on empty text", "messages", MESSAGES(USER("[{'type':'text','text':''," MARK "}]")),
     RULE(MARKER_MISPLACED), 1, RULE(TEXT_EMPTY)},
    {"a marker on thinking", "messages",
     MESSAGES(USER("'u'") "," MODEL("[{'type':'thinking','thinking':'t','signature':'g'," MARK
                                    "}," TEXT("a") "]") "," USER("'v'")),
     RULE(MARKER_MISPLACED), 1, ONLY},
    {"reasoning before its output", "responses",
     RESPONSES("{'type':'reasoning','id':'r'}," ITEM_CALL("a") "," ITEM_RESULT("a")),
     RULE(REASONING_ALONE), 0, ONLY},
    {"reasoning before the user's words", "responses",
     RESPONSES("{'type':'reasoning','id':'r'}," USER("'u'")), RULE(REASONING_ALONE), 1, ONLY},
    {"reasoning at the end", "responses", RESPONSES(USER("'u'") ",{'type':'reasoning','id':'r'}"),
     RULE(REASONING_ALONE), 1, ONLY},
    {"turns are taken", "converse",
     MESSAGES(USER("[{'text':'u'}]") "," MODEL("[{'text':'a'}]") "," USER("[{'text':'v'}]")),
     RULE(TURNS_NOT_TAKEN), 0, ONLY},
    {"two messages of the user in a row", "converse",
     MESSAGES(USER("[{'text':'u'}]") "," USER("[{'text':'v'}]")), RULE(TURNS_NOT_TAKEN), 1, ONLY},
    {"which Messages takes", "messages", MESSAGES(USER("'u'") "," USER("'v'")),
     RULE(TURNS_NOT_TAKEN), 0, ONLY},
    {"a cache point behind words", "converse",
     MESSAGES(USER("[{'text':'u'},{'cachePoint':{'type':'default'}}]")), RULE(MARKER_MISPLACED), 0,
     ONLY},
    {"a cache point that stands first", "converse",
     MESSAGES(USER("[{'cachePoint':{'type':'default'}},{'text':'u'}]")), RULE(MARKER_MISPLACED), 1,
     ONLY},
    {"a cache point behind reasoning", "converse",
     MESSAGES(USER("[{'text':'u'}]") "," MODEL(
         "[{'reasoningContent':{'reasoningText':{'text':'t','signature':'s'}}},{'cachePoint':{"
         "'type':'default'}},{'text':'a'}]") "," USER("[{'text':'v'}]")),
     RULE(MARKER_MISPLACED), 1, ONLY},
    {"thinking first", "messages",
     MESSAGES(USER("'u'") "," MODEL("[" THINKING ",{'type':'redacted_thinking','data':'d'}," TEXT(
         "a") "]") "," USER("'v'") "," MODEL("[" THINKING "," TEXT("b") "]") "," USER("'w'")),
     RULE(THINKING_NOT_FIRST), 0, ONLY},
    {"thinking behind words", "messages",
     MESSAGES(USER("'u'") "," MODEL("[" TEXT("a") "," THINKING "]") "," USER("'v'")),
     RULE(THINKING_NOT_FIRST), 1, ONLY},
    {"thinking behind the words of the message before it", "messages",
     MESSAGES(
         USER("'u'") "," MODEL("'a'") "," MODEL("[" THINKING "," TEXT("b") "]") "," USER("'v'")),
     RULE(THINKING_NOT_FIRST), 1, ONLY},
};

static int count_rule(const struct wr_breaches *breaches, int rule)
{
    int count = 0;
    for (uint32_t i = 0; i < breaches->count; i++)
        count += (int)breaches->items[i].rule == rule;
    return count;
}

static void every_rule_is_found_where_it_is_broken(void **state)
{
    size_t failed = 0;
    (void)state;

    for (size_t i = 0; i < TEST_COUNT_OF(cases); i++) {
        struct test_plan p;
        struct wr_breaches breaches;
        test_plan_open(&p, cases[i].dialect, cases[i].body);
        assert_int_equal(wr_lawful_check(&p.transcript, &p.arena, &breaches), WEIR_OK);
        int found = count_rule(&breaches, cases[i].rule);
        int also = cases[i].also == ONLY ? 0 : count_rule(&breaches, cases[i].also);
        if (found != cases[i].count || (also > 0) != (cases[i].also != ONLY) ||
            found + also != (int)breaches.count) {
            failed++;
            print_error("not so: %s: '%s' %d times\n", cases[i].behaviour,
                        wr_rule_text((enum wr_rule)cases[i].rule), found);
            for (uint32_t k = 0; k < breaches.count; k++)
                print_error("    %s\n", wr_rule_text(breaches.items[k].rule));
        }
        test_plan_close(&p);
    }
    assert_int_equal(failed, 0);
}

#define NOTHING -2

static const struct {
    const char *behaviour, *before, *after;
    int rule; /* of the new breach, or NOTHING */
} pairs[] = {
    {"what was there is not held against an edit", MESSAGES(CHAT_RESULT("a")),
     MESSAGES(CHAT_RESULT("a")), NOTHING},
    {"a breach that went is none", MESSAGES(CHAT_RESULT("a") "," USER("'u'")),
     MESSAGES(USER("'u'")), NOTHING},
    {"one of two that stayed is none", MESSAGES(CHAT_RESULT("a") "," CHAT_RESULT("b")),
     MESSAGES(CHAT_RESULT("b")), NOTHING},
    {"a breach that is new is found", MESSAGES(USER("'u'")),
     MESSAGES(USER("'u'") "," CHAT_RESULT("a")), RULE(RESULT_ORPHAN)},
    {"the same rule for another id is found", MESSAGES(CHAT_RESULT("a")),
     MESSAGES(CHAT_RESULT("b")), RULE(RESULT_ORPHAN)},
    {"the same once more is found", MESSAGES(CHAT_RESULT("a")),
     MESSAGES(CHAT_RESULT("a") "," CHAT_RESULT("a")), RULE(RESULT_ORPHAN)},
    {"an id that begins like another is another", MESSAGES(CHAT_RESULT("ab")),
     MESSAGES(CHAT_RESULT("a")), RULE(RESULT_ORPHAN)},
    {"another message that is empty is found", MESSAGES(USER("''") "," MODEL("'a'")),
     MESSAGES(USER("'u'") "," MODEL("''")), RULE(CONTENT_EMPTY)},
    {"another rule is found", MESSAGES(CHAT_RESULT("a")), MESSAGES(""), RULE(LIST_EMPTY)},
};

static void only_new_breaches_count(void **state)
{
    size_t failed = 0;
    (void)state;

    for (size_t i = 0; i < TEST_COUNT_OF(pairs); i++) {
        struct test_plan before, after;
        struct wr_breaches old, new;
        test_plan_open(&before, "chat", pairs[i].before);
        test_plan_open(&after, "chat", pairs[i].after);
        assert_int_equal(wr_lawful_check(&before.transcript, &before.arena, &old), WEIR_OK);
        assert_int_equal(wr_lawful_check(&after.transcript, &after.arena, &new), WEIR_OK);
        const struct wr_breach *found = wr_lawful_new_breach(&old, &new);
        if ((found ? (int)found->rule : NOTHING) != pairs[i].rule) {
            failed++;
            print_error("not so: %s\n", pairs[i].behaviour);
        }
        test_plan_close(&before);
        test_plan_close(&after);
    }
    assert_int_equal(failed, 0);
}

static void every_rule_has_a_sentence(void **state)
{
    (void)state;
    for (int rule = 0; rule <= WR_RULE_THINKING_NOT_FIRST; rule++)
        assert_string_not_equal(wr_rule_text((enum wr_rule)rule), "unknown rule");
}

static void a_marker_is_found_by_its_key(void **state)
{
    static const struct {
        const char *json;
        wr_json_id marker;
    } rows[] = {
        {"{\"a\":1,\"cache_control\":{}}", 3},
        {"{\"prompt_cache_breakpoint\":{\"mode\":\"explicit\"}}", 1},
        {"{\"cache_control\":null,\"prompt_cache_breakpoint\":{}}", 3},
        {"{\"cache_control\":null}", WR_JSON_NONE},
        {"{\"cache_control\":\"ephemeral\"}", WR_JSON_NONE},
        {"{\"a\":{\"cache_control\":{}}}", WR_JSON_NONE},
        {"[\"cache_control\",{}]", WR_JSON_NONE},
        {"\"cache_control\"", WR_JSON_NONE},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_arena arena;
        struct wr_json doc;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_false(wr_json_parse(&doc, &arena, wr_span_of(rows[i].json), NULL, NULL));
        if (wr_find_marker(&doc, 0) != rows[i].marker)
            fail_msg("%s", rows[i].json);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marker_is_found_by_its_key),
        cmocka_unit_test(every_rule_is_found_where_it_is_broken),
        cmocka_unit_test(only_new_breaches_count),
        cmocka_unit_test(every_rule_has_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
