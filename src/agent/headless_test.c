#include "agent/headless.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/span.h"
#include "tests/test_agent.h"

struct bench {
    struct wr_headless headless;
    struct wr_view view;
    char *text; /* what was written */
    size_t bytes;
    FILE *out;
};

static void begin(struct bench *b, bool is_json)
{
    *b = (struct bench){.text = NULL};
    b->out = open_memstream(&b->text, &b->bytes);
    assert_non_null(b->out);
    wr_headless_init(&b->headless, b->out, is_json);
    b->view = wr_headless_view(&b->headless);
}

static void end(struct bench *b)
{
    wr_headless_release(&b->headless);
    (void)fclose(b->out);
    free(b->text);
}

static void expect(struct bench *b, const char *text)
{
    (void)fflush(b->out);
    assert_string_equal(b->text, text);
}

static void piece(struct bench *b, enum wr_piece kind, const char *text)
{
    b->view.piece(b->view.user, kind, wr_span_of(text));
}

static const struct weir_call call = {{"c1", 2}, {"list", 4}, {"{\"path\":\"a\"}", 12}};

static void every_line_is_an_object(void **state)
{
    struct bench b;
    struct weir_session_turn turn = {
        .tokens_before = 9, .tokens_after = 7, .window_tokens = 100, .step_reason = "cold"};
    (void)state;

    begin(&b, true);
    b.view.turn(b.view.user, &turn);
    piece(&b, WR_PIECE_THINKING, "hm");
    piece(&b, WR_PIECE_TEXT, "He said\n");
    piece(&b, WR_PIECE_TEXT, "\"\xC3\xA4\x1b\"");
    b.view.call(b.view.user, &call, WR_LIT("list a"));
    b.view.result(b.view.user, &call, WR_LIT("x\ny"), true);
    b.view.notice(b.view.user, "careful");
    expect(&b, "{\"type\":\"turn\",\"tokens_before\":9,\"tokens_after\":7,\"window_tokens\":100,"
               "\"is_changed\":false,\"is_compacted\":false,\"step_reason\":\"cold\"}\n"
               "{\"type\":\"text\",\"text\":\"He said\\n\\\"\xC3\xA4\\u001b\\\"\"}\n"
               "{\"type\":\"call\",\"id\":\"c1\",\"name\":\"list\",\"arguments\":"
               "\"{\\\"path\\\":\\\"a\\\"}\"}\n"
               "{\"type\":\"result\",\"id\":\"c1\",\"is_error\":true,\"text\":\"x\\ny\"}\n"
               "{\"type\":\"notice\",\"text\":\"careful\"}\n");
    end(&b);
}

/* A pipe gets the bytes; answers are lines of their own. */
static void text_is_the_answers(void **state)
{
    struct bench b;
    struct weir_session_turn turn = {0};
    (void)state;

    begin(&b, false);
    piece(&b, WR_PIECE_THINKING, "hm");
    piece(&b, WR_PIECE_TEXT, "one \x1b[1m");
    b.view.turn(b.view.user, &turn);
    piece(&b, WR_PIECE_TEXT, "two\n");
    b.view.turn(b.view.user, &turn);
    expect(&b, "one \x1b[1m\ntwo\n");
    assert_int_equal(b.view.consent(b.view.user, &call, &(struct wr_consent_asked){0}),
                     WR_CONSENT_NO);
    end(&b);
}

static void the_end_counts_what_helpers_used(void **state)
{
    static const char yaml[] = "model: {name: gpt-4o-mini}\n";
    static const char *const costs[] = {"null", "400"}; /* not known is not 0 */
    (void)state;

    for (size_t is_priced = 0; is_priced < 2; is_priced++) {
        struct weir_session_spent spent = {.by = "subagent",
                                           .usage = {.input_tokens = 30},
                                           .turns = 2,
                                           .cost_micro_usd = 400,
                                           .is_priced = is_priced};
        struct test_agent session;
        struct bench b;
        char wanted[300];
        test_agent_init(&session);
        session.now_ms = wr_clock_ms(); /* the end asks how long the run took */
        test_agent_open(&session, yaml);
        TEST_OK(&session,
                weir_session_add_spent(session.session, &spent, session.now_ms, &session.err));
        struct wr_agent agent = {.session = session.session, .name = "n"};
        begin(&b, true);
        wr_headless_end(&b.headless, &agent, WR_WORKED_LIMIT);
        (void)snprintf(wanted, sizeof(wanted),
                       "{\"type\":\"end\",\"outcome\":\"limit\",\"session\":\"n\",\"turns\":2,"
                       "\"tokens\":30,\"tool_calls\":0,\"cost_micro_usd\":%s}\n",
                       costs[is_priced]);
        expect(&b, wanted);
        end(&b);
        test_agent_release(&session);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_an_object),
        cmocka_unit_test(text_is_the_answers),
        cmocka_unit_test(the_end_counts_what_helpers_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
