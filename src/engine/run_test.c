/* Steps over signed thinking that a gateway hands on in a field beside the content, as
 * `thinking_blocks` or `reasoning_details`: the thinking leaves, call and result stay a pair. */
#include "engine/run.h"

#include "engine/test_run.h"

enum { BODY_BYTES_MAX = 1 << 20, WINDOW_TOKENS = 4000 };

#define SIGNED   "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"c2ln\"}"
#define REDACTED "{\"type\":\"redacted_thinking\",\"data\":\"c2ln\"}"
#define DETAIL   "{\"type\":\"reasoning.text\",\"text\":\"hm\",\"signature\":\"c2ln\"}"

/* Results become [cleared]; the newest stays, and no group leaves. */
#define CLEAR "policies: {p: {stages: [{stage: clear, at_bp: 1000, keep: 1}]}}"
/* The oldest groups leave whole. */
#define DROP "policies: {p: {stages: [{stage: drop_groups}]}}"

/* A call whose message has `fields` beside it, and its result of 1000 tokens. */
static void write_pair(struct wr_buf *out, uint32_t id, const char *content, const char *fields)
{
    wr_buf_printf(out,
                  ",{\"role\":\"assistant\",\"content\":%s,%s\"tool_calls\":[{\"id\":\"c%u\","
                  "\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":\"{}\"}}]},"
                  "{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"",
                  content, fields, id, id);
    for (int i = 0; i < 100; i++)
        wr_buf_printf(out, "row %04u/%04d: the waters here are calm\\n", id, i);
    wr_buf_text(out, "\"}");
}

static void write_body(struct wr_buf *out, const char *content, const char *fields)
{
    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_text(out, "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}],"
                     "\"messages\":[{\"role\":\"user\",\"content\":\"go\"}");
    for (uint32_t i = 1; i <= 4; i++)
        write_pair(out, i, content, fields);
    wr_buf_text(out, ",{\"role\":\"assistant\",\"content\":\"done\"},"
                     "{\"role\":\"user\",\"content\":\"and now?\"}]}");
}

static const struct {
    const char *behaviour, *yaml, *content, *fields;
    const char *left; /* in the place of the fields */
    uint32_t calls;   /* that stay */
} cases[] = {
    {"one block leaves its field", CLEAR, "null", "\"thinking_blocks\":[" SIGNED "],",
     "\"content\":null,\"thinking_blocks\":[],\"tool_calls\"", 4},
    {"all blocks do", CLEAR, "null", "\"thinking_blocks\":[ " SIGNED " ,\n" REDACTED "],",
     "\"content\":null,\"thinking_blocks\":[", 4},
    {"words beside them stay", CLEAR, "\"so be it\"", "\"thinking_blocks\":[" SIGNED "],",
     "\"content\":\"so be it\",\"thinking_blocks\":[],\"tool_calls\"", 4},
    {"another gateway's field", CLEAR, "null", "\"reasoning_details\":[" DETAIL "," DETAIL "],",
     "\"reasoning_details\":[],\"tool_calls\"", 4},
    {"reasoning that nobody signed stays", CLEAR, "null",
     "\"reasoning_content\":\"hm\",\"thinking_blocks\":[" SIGNED "],",
     "\"reasoning_content\":\"hm\",\"thinking_blocks\":[],\"tool_calls\"", 4},
    {"a group that leaves takes its thinking, the others lose theirs", DROP, "null",
     "\"thinking_blocks\":[" SIGNED "],", "\"thinking_blocks\":[],\"tool_calls\"", 2},
};

static uint32_t count_calls(weir_span body)
{
    uint32_t count = 0;
    for (size_t at = 0; (at = wr_span_find(body, WR_LIT("\"tool_calls\":"), at)) != SIZE_MAX; at++)
        count++;
    return count;
}

static void thinking_leaves_its_field_and_the_call_stays(void **state)
{
    struct test_run_facts facts = {.window_tokens = WINDOW_TOKENS, .binds_thinking = true};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_buf body;
        struct test_run r;
        write_body(&body, cases[i].content, cases[i].fields);
        test_run_open_with(&r, wr_buf_view(&body), cases[i].yaml, &facts);
        weir_span out = r.run.projection.body;
        if (!r.run.step.is_taken || r.run.projection.is_fallback)
            fail_msg("%s: no step", cases[i].behaviour);
        if (wr_span_find(out, WR_LIT("c2ln"), 0) != SIZE_MAX)
            fail_msg("%s: a signature is left", cases[i].behaviour);
        if (wr_span_find(out, wr_span_of(cases[i].left), 0) == SIZE_MAX ||
            count_calls(out) != cases[i].calls)
            fail_msg("%s: got %.*s", cases[i].behaviour, (int)out.len, out.ptr);
        test_run_close(&r);
        wr_buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thinking_leaves_its_field_and_the_call_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
