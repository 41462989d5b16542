#include "agent/context_page.h"

#include "tests/test_agent.h"

static void begin(struct test_agent *agent)
{
    static const char yaml[] = "model: {name: gpt-4o-mini, max_input_tokens: 2000}\n"
                               "session: {policy: tiered}\n";
    test_agent_init(agent);
    test_agent_open(agent, yaml);
    test_agent_say(agent, "Read the file.");
    (void)test_agent_request(agent, WEIR_DIALECT_CHAT);
    test_agent_call(agent, "c1", "read_file", "{}");
}

static void fill(struct test_agent *agent, size_t words)
{
    struct wr_buf text;
    wr_buf_init(&text, 1000000);
    for (size_t i = 0; i < words; i++)
        wr_buf_text(&text, "word ");
    wr_buf_byte(&text, '\0');
    test_agent_result(agent, "c1", text.bytes);
    wr_buf_release(&text);
}

/* How often `letter` stands in the bar. */
static size_t cells(weir_span page, char letter)
{
    size_t from = wr_span_find(page, WR_LIT("["), 0), count = 0;
    for (size_t i = from; i < page.len && page.ptr[i] != ']'; i++)
        count += page.ptr[i] == letter;
    return count;
}

static void the_page_divides_the_window(void **state)
{
    struct test_agent agent;
    struct wr_buf out;
    (void)state;

    begin(&agent);
    fill(&agent, 1000);
    wr_buf_init(&out, 100000);
    wr_context_page(agent.session, NULL, agent.now_ms, &out);
    weir_span page = wr_buf_view(&out);
    assert_has(page, " of 1900 tokens, 5");
    assert_has(page, "% (estimated)\nof a window of 2000 the rest is kept for the answer\n");
    assert_has(page, "estimated as it was sent, with what came since, ");
    assert_true(cells(page, 'R') >= 23 && cells(page, 'R') <= 29);
    assert_true(cells(page, '.') >= 20);
    assert_has(page, "R results ");
    assert_has(page, " to go)");
    assert_has(page, "  3 messages, ");
    wr_buf_release(&out);
    test_agent_release(&agent);
}

static void a_full_window_has_nothing_free_and_is_red(void **state)
{
    struct test_agent agent;
    struct wr_buf out, word;
    (void)state;

    begin(&agent);
    fill(&agent, 3000);
    wr_buf_init(&out, 100000);
    wr_buf_init(&word, 100);
    wr_context_page(agent.session, NULL, agent.now_ms, &out);
    assert_has(wr_buf_view(&out), "free             0 tokens   0.0%");
    assert_has(wr_buf_view(&out), "(reached)");
    assert_int_equal(cells(wr_buf_view(&out), '.'), 0);
    wr_context_word(agent.session, true, &word);
    assert_has(wr_buf_view(&word), "\x1b[31mctx 1");
    assert_has(wr_buf_view(&word), "%\x1b[0m");
    wr_buf_reset(&word);
    wr_context_word(agent.session, false, &word);
    assert_has_not(wr_buf_view(&word), "\x1b");
    wr_buf_release(&out);
    wr_buf_release(&word);
    test_agent_release(&agent);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_divides_the_window),
        cmocka_unit_test(a_full_window_has_nothing_free_and_is_red),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
