#include "api/read.h"

#include "tests/test_transcript.h"

#define BODY(messages) \
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"go\"}," messages "]}"
#define TEXT(role, text) "{\"role\":\"" role "\",\"content\":\"" text "\"}"
#define PART(role, text) \
    "{\"role\":\"" role "\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}"
#define CALL(id) \
    "{'id': '" id "', 'type': 'function', 'function': {'name': 'read', 'arguments': {'p': 1}}}"
#define SAYS(list) "Calling tools:\\n[" list "]"
#define OBSERVED   "Observation:\\nsome text"

static const struct {
    const char *behaviour, *body;
    bool is_result; /* the last segment answers the call before it */
} cases[] = {
    {"a call and its observation",
     BODY(PART("assistant", SAYS(CALL("c1"))) "," PART("user", OBSERVED)), true},
    {"as plain strings", BODY(TEXT("assistant", SAYS(CALL("c1"))) "," TEXT("user", OBSERVED)),
     true},
    {"what stands for a text that was taken out",
     BODY(PART("assistant", SAYS(CALL("c1"))) "," PART("user",
                                                       "[weir wr_0123456789abcdef0123: gone]")),
     true},
    {"a call that failed",
     BODY(TEXT("assistant", SAYS(CALL("c1"))) "," TEXT("user", "Error:\\nno")), true},
    {"with its id",
     BODY(TEXT("assistant", SAYS(CALL("c1"))) "," TEXT("user", "Call id: c1\\nError:\\nno")), true},
    {"with the id of another",
     BODY(TEXT("assistant", SAYS(CALL("c1"))) "," TEXT("user", "Call id: c2\\nError:\\nno")),
     false},
    {"an observation that nobody asked for",
     BODY(TEXT("assistant", "hm") "," TEXT("user", OBSERVED)), false},
    {"an observation behind words of the user",
     BODY(TEXT("assistant", SAYS(CALL("c1"))) "," TEXT("user", "wait") "," TEXT("user", OBSERVED)),
     false},
    {"words of the user behind a call",
     BODY(TEXT("assistant", SAYS(CALL("c1"))) "," TEXT("user", "no")), false},
    {"a handle that is too short",
     BODY(TEXT("assistant", SAYS(CALL("c1"))) "," TEXT("user", "wr_0123456789abcdef")), false},
    {"two calls in one: whose the answer is cannot be told",
     BODY(TEXT("assistant", SAYS(CALL("c1") ", " CALL("c2"))) "," TEXT("user", OBSERVED)), false},
    {"words around it",
     BODY(TEXT("assistant", "I am " SAYS(CALL("c1"))) "," TEXT("user", OBSERVED)), false},
    {"words behind it",
     BODY(TEXT("assistant", SAYS(CALL("c1")) " done") "," TEXT("user", OBSERVED)), false},
    {"an id that is none", BODY(TEXT("assistant", SAYS(CALL("c 1"))) "," TEXT("user", OBSERVED)),
     false},
    {"a second part beside the observation",
     BODY(TEXT("assistant", SAYS(CALL("c1"))) ",{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                                              "\"text\":\"" OBSERVED
                                              "\"},{\"type\":\"text\",\"text\":\"x\"}]}"),
     false},
    {"the model that says it for the user",
     BODY(TEXT("user", SAYS(CALL("c1"))) "," TEXT("user", OBSERVED)), false},
};

static void only_certain_ones_are_results(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_transcript test;
        test_transcript_open(&test, wr_span_of(cases[i].body));
        const struct wr_transcript *t = &test.transcript;
        const struct wr_segment *last = &t->segments[t->segments_count - 1];
        bool is_result = last->kind == WEIR_KIND_TOOL_RESULT;
        if (is_result != cases[i].is_result)
            fail_msg("%s", cases[i].behaviour);
        if (is_result) {
            assert_int_equal(last->is_error, strstr(cases[i].body, "Error:") != NULL);
            assert_int_equal(last->role, WEIR_ROLE_TOOL);
            assert_true(wr_span_is(last->tool, "read") && wr_span_is(last->call_id, "c1"));
            assert_int_equal(last->pair, t->segments_count - 2);
            assert_int_equal(last->group, t->segments[t->segments_count - 2].group);
            assert_int_equal(t->loops_count, 1);
        } else {
            assert_int_equal(last->class_, WEIR_CLASS_CRITICAL_EXACT);
        }
        test_transcript_close(&test);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_certain_ones_are_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
