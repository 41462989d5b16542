#include "policy/loop_summary.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "policy/budget.h"
#include "tests/test_transcript.h"

#define CALL(id, tool, arguments, result)                                                     \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id                  \
    "\",\"type\":\"function\",\"function\":{\"name\":\"" tool "\",\"arguments\":\"" arguments \
    "\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" result "\"}"
#define PATH(path)     "{\\\"file_path\\\":\\\"" path "\\\"}"
#define COMMAND(line)  "{\\\"command\\\":\\\"" line "\\\"}"
#define USER(text)     "{\"role\":\"user\",\"content\":\"" text "\"}"
#define MODEL(text)    "{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define BODY(messages) "{\"model\":\"m\",\"messages\":[" messages "]}"
#define EDIT                                                                                   \
    "{\\\"file_path\\\":\\\"src/gate.c\\\",\\\"old_string\\\":\\\"a\\\",\\\"new_string\\\":\\" \
    "\"b\\\"}"
#define RULE                                                                               \
    "recovery_rule: the handle below holds every call and result of this work; ask it by " \
    "grep or by lines for exact details."

#define LOOP                                             \
    BODY(USER("go") "," BUILD "," GATE "," SILL "," MEND \
                    "," MODEL("It is mended.") "," USER("next"))
#define BUILD CALL("1", "Bash", COMMAND("make"), "all is built")
#define GATE  CALL("2", "Read", PATH("src/gate.c"), "1\\tint gate;")
#define SILL  CALL("3", "Read", PATH("src/sill.c"), "1\\tint sill;")
#define MEND  CALL("4", "Edit", EDIT, "The file src/gate.c has been updated.")

static weir_span brief_of(struct test_transcript *test, const char *body, uint64_t tokens)
{
    struct wr_loop_options options = {1000, 120, test_count, NULL, 0};
    uint32_t segments[2048], count = 0;
    weir_span text;
    test_transcript_open(test, wr_span_of(body));
    for (uint32_t i = 0; i < test->transcript.segments_count; i++)
        if (test->transcript.segments[i].loop == 0)
            segments[count++] = i;
    assert_int_equal(
        wr_loop_brief(&test->transcript, &test->arena, segments, count, tokens, &options, &text),
        WEIR_OK);
    return text;
}

static const struct {
    const char *behaviour, *body;
    uint64_t tokens;
    const char *expected;
} briefs[] = {
    {"room for everything: files, every call with its result, the model's words", LOOP, 10000,
     "[COMPLETED AGENT LOOP SUMMARY]\n"
     "files_changed: src/gate.c\n"
     "files_read: src/sill.c\n"
     "tool_activity:\n"
     "- [TOOL RESULT SUMMARY]\n"
     "- capability: Bash\n"
     "- purpose: make\n"
     "- preview: all is built\n"
     "- [TOOL RESULT SUMMARY]\n"
     "- capability: Read\n"
     "- path: src/gate.c\n"
     "- total_lines: 1\n"
     "- exact_evidence:\n"
     "-   1\tint gate;\n"
     "- [TOOL RESULT SUMMARY]\n"
     "- capability: Read\n"
     "- path: src/sill.c\n"
     "- total_lines: 1\n"
     "- exact_evidence:\n"
     "-   1\tint sill;\n"
     "- [TOOL RESULT SUMMARY]\n"
     "- capability: Edit\n"
     "- path: src/gate.c\n"
     "- preview: The file src/gate.c has been updated.\n"
     "assistant_result:\n"
     "  It is mended.\n" RULE},
    {"a little room: the newest call with its result, a line for each before it", LOOP, 60,
     "[COMPLETED AGENT LOOP SUMMARY]\n"
     "files_changed: src/gate.c\n"
     "files_read: src/sill.c\n"
     "tool_activity:\n"
     "- Bash: make\n"
     "- Read: src/gate.c\n"
     "- Read: src/sill.c\n"
     "- [TOOL RESULT SUMMARY]\n"
     "- capability: Edit\n"
     "- path: src/gate.c\n"
     "- preview: The file src/gate.c has been updated.\n"
     "assistant_result:\n"
     "  It is mended.\n" RULE},
    {"no room: the words and the way back", LOOP, 1,
     "[COMPLETED AGENT LOOP SUMMARY]\n"
     "tool_activity:\n"
     "- 4 calls are behind the handle below\n"
     "assistant_result:\n"
     "  It is mended.\n" RULE},
    {"a loop without calls says so", BODY(USER("hello") "," MODEL("hi") "," USER("next")), 100,
     "[COMPLETED AGENT LOOP SUMMARY]\ntool_activity:\nnone\nassistant_result:\n  hi\n" RULE},
};

static void a_loop_is_told_in_its_budget(void **state)
{
    int failed = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(briefs); i++) {
        struct test_transcript test;
        weir_span text = brief_of(&test, briefs[i].body, briefs[i].tokens);
        if (!wr_span_is(text, briefs[i].expected)) {
            printf("FAILED: %s:\n%.*s\n", briefs[i].behaviour, (int)text.len, text.ptr);
            failed++;
        }
        test_transcript_close(&test);
    }
    assert_int_equal(failed, 0);
}

/* Whatever the loop holds and however many calls it has, the lists keep to the budget. */
static void no_loop_is_longer_than_its_budget(void **state)
{
    (void)state;
    for (uint64_t tokens = 40; tokens < 3000; tokens += 333) {
        struct test_transcript test, other;
        struct wr_buf body;
        wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
        wr_buf_text(&body, "{\"model\":\"m\",\"messages\":[" USER("go"));
        for (int i = 0; i < 300; i++)
            wr_buf_printf(&body,
                          "," CALL("c%d", "Read", PATH("src/file_%d.c"),
                                   "1\\tint number_%d; and more of it, so that it is long"),
                          i, i, i, i);
        wr_buf_text(&body, "," MODEL("Done.") "," USER("next") "]}");
        wr_buf_byte(&body, 0);
        weir_span text = brief_of(&test, body.bytes, tokens);
        weir_span bare = brief_of(&other, BODY(USER("go") "," MODEL("Done.") "," USER("next")), 1);
        uint64_t added = test_count(NULL, text) - test_count(NULL, bare);
        if (added > tokens + 24) /* the lists' names, and how many calls there were */
            fail_msg("%llu tokens for a budget of %llu", (unsigned long long)added,
                     (unsigned long long)tokens);
        assert_true(tokens < 700 || wr_span_find(text, WR_LIT("src/file_299.c"), 0) != SIZE_MAX);
        assert_true(wr_span_find(text, WR_LIT("earlier calls"), 0) != SIZE_MAX || tokens < 100);
        test_transcript_close(&test);
        test_transcript_close(&other);
        wr_buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_loop_is_told_in_its_budget),
                                       cmocka_unit_test(no_loop_is_longer_than_its_budget)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
