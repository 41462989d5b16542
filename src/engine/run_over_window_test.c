/* What a report says of a prompt that is over its window, and of one that is not. Four bytes are a
 * token. */
#include "engine/run.h"

#include "base/span.h"
#include "tests/test_run.h"

enum { BODY_BYTES_MAX = 1 << 20, WINDOW_TOKENS = 1000 };

#define AUTO  "policies: {p: {like: auto}}"
#define EXACT "policies: {p: {like: exact}}"
#define CLEAR "policies: {p: {stages: [{stage: clear, at_bp: 5000, keep: 0}]}}"

struct prompt {
    uint32_t system_tokens, user_tokens, result_tokens;
    bool is_failure, has_thinking, has_no_recall, has_no_store;
};

static const struct {
    const char *behaviour, *yaml;
    struct prompt prompt;
    const char *expected; /* part of it; NULL: nothing is said */
} cases[] = {
    {"it fits", AUTO, {100, 100, 100, false, false, false, false}, NULL},
    {"a result gives way", AUTO, {100, 100, 2000, false, false, false, false}, NULL},
    {"the user's words", AUTO, {300, 1500, 100, false, false, false, false}, "user's words"},
    {"instructions", AUTO, {1500, 300, 100, false, false, false, false}, "instructions and tools"},
    {"a failure that has just come",
     CLEAR,
     {100, 100, 2000, true, false, false, false},
     "just come"},
    {"it gives way where it would be refused",
     AUTO,
     {100, 100, 2000, true, false, false, false},
     NULL},
    {"a failure beside thinking",
     CLEAR,
     {100, 100, 2000, true, true, false, false},
     "signed thinking"},
    {"no recall and no store", AUTO, {100, 100, 2000, false, false, true, true}, "no store"},
    {"no recall and no last resort",
     CLEAR,
     {100, 100, 2000, false, false, true, false},
     "no way back"},
    {"a last resort needs none", AUTO, {100, 100, 2000, false, false, true, false}, NULL},
    {"a result beside words that are too much",
     AUTO,
     {700, 600, 2000, false, false, false, false},
     "instructions and tools"},
    {"nothing is ever taken",
     EXACT,
     {100, 100, 2000, false, false, false, false},
     "policy takes nothing"},
};

static void write_lines(struct wr_buf *out, uint32_t tokens)
{
    for (uint32_t i = 0; i < tokens / 10; i++)
        wr_buf_printf(out, "row number %04u: the waters are calm....\\n", i);
}

static void write_body(struct wr_buf *out, const struct prompt *p)
{
    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_printf(
        out,
        "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"%s\"}}],\"messages\":["
        "{\"role\":\"system\",\"content\":\"",
        p->has_no_recall ? "other" : "weir_recall");
    write_lines(out, p->system_tokens);
    wr_buf_text(out, "\"},{\"role\":\"user\",\"content\":\"");
    write_lines(out, p->user_tokens);
    wr_buf_printf(out, "\"},{\"role\":\"assistant\",\"content\":null,%s\"tool_calls\":[",
                  p->has_thinking ? "\"thinking_blocks\":[{\"type\":\"thinking\",\"thinking\":"
                                    "\"hm\",\"signature\":\"s\"}],"
                                  : "");
    wr_buf_text(out, "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"Bash\","
                     "\"arguments\":\"{\\\"command\\\":\\\"make\\\"}\"}}]},"
                     "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"");
    wr_buf_text(out, p->is_failure ? "Exit code 1\\n" : "");
    write_lines(out, p->result_tokens);
    wr_buf_text(out, "\"}]}");
}

static void the_report_says_why_a_prompt_is_over_its_window(void **state)
{
    struct test_run_facts facts = {.window_tokens = WINDOW_TOKENS, .binds_thinking = true};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_buf body;
        struct test_run r;
        write_body(&body, &cases[i].prompt);
        facts.keeps_originals = !cases[i].prompt.has_no_store;
        test_run_open_with(&r, wr_buf_view(&body), cases[i].yaml, &facts);
        const char *said = wr_over_window(&r.run), *expected = cases[i].expected;
        if (!said != !expected || (said && !strstr(said, expected)))
            fail_msg("%s: %s", cases[i].behaviour, said ? said : "nothing was said");
        test_run_close(&r);
        wr_buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_says_why_a_prompt_is_over_its_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
