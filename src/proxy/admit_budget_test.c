/* What requests may cost, what they did cost and what is said of it, over exchanges (admit.c). A
 * model costs 1 USD for a million tokens that it reads, 2 for what it writes. */
#include "proxy/exchange_inside.h"
#include "store/ledger.h"
#include "tests/test_service.h"
#include "tests/test_spent.h"

#define CHAT "/v1/chat/completions"
#define USERS                                         \
    "users: {anna: {team: search, tokens: [{sha256: " \
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}]}}\n"
#define PRICED           "x-priced"
#define ASK(model, more) "{\"model\":\"" model "\",\"messages\":[]" more "}"
#define USAGE(in, out) \
    "{\"choices\":[],\"usage\":{\"prompt_tokens\":" #in ",\"completion_tokens\":" #out "}}"

static const char prices[] = "models:\n"
                             "  " PRICED ":\n"
                             "    window: 100000\n"
                             "    max_output: 1000\n"
                             "    price: {input: 1, output: 2, cache_read: 1, write_5m: 1.25, "
                             "write_1h: 4}\n";

static struct wr_models *models;

static struct test_service *start(const char *yaml)
{
    struct wr_models_source source = {.overrides = wr_span_of(prices), .overrides_shared = true};
    struct weir_err err;
    char text[1024];

    (void)snprintf(text, sizeof(text), USERS "%s", yaml);
    struct test_service *s = test_service_new(text);
    s->service.gate = wr_gate_new(&s->loop, s->config->store_dir);
    if (wr_models_new(&models, &source, &err))
        fail_msg("%s", err.text);
    s->service.models = models;
    return s;
}

static void end(struct test_service *s)
{
    test_until(s, !atomic_load(s->service.exchanges_open));
    test_service_free(s);
    wr_models_free(models);
}

static struct test_client *ask(struct test_service *s, const char *body, const char *answer,
                               size_t told)
{
    if (answer)
        test_upstream_says(s, answer);
    struct test_client *c = test_client_post(s, CHAT, "x-weir-token: test\r\n", wr_span_of(body));
    test_until(s, test_is_told(s, told) && test_is_answered(c));
    return c;
}

/* What the store has counted, once all that was settled is told. */
static struct wr_spent spent_of(struct test_service *s, const char *scope)
{
    struct wr_ledger *ledger;

    wr_gate_close(s->service.gate);
    (void)uv_run(&s->loop, UV_RUN_NOWAIT);
    wr_gate_free(s->service.gate);
    s->service.gate = NULL;
    assert_int_equal(wr_ledger_open(s->config->store_dir, NULL, &ledger, NULL, NULL), WEIR_OK);
    struct wr_spent spent = wr_test_spent(ledger, scope, WR_SPEND_DAY, wr_clock_ms());
    wr_ledger_close(ledger);
    return spent;
}

static void an_answer_costs_what_its_provider_counted(void **state)
{
    struct test_service *s = start("budgets: [{user: anna, per: day, usd: 5}, "
                                   "{team: search, per: day, tokens: 100000}]\n");
    (void)state;

    (void)ask(s, ASK(PRICED, ""), TEST_WHOLE("200 OK", USAGE(1000, 500)), 1);
    (void)ask(s, ASK(PRICED, ""), TEST_WHOLE("200 OK", USAGE(100, 50)), 2);
    struct wr_spent spent = spent_of(s, "user:anna");
    assert_int_equal(spent.used[WR_SPEND_REQUESTS], 2);
    assert_int_equal(spent.used[WR_SPEND_TOKENS], 1650);
    assert_int_equal(spent.used[WR_SPEND_MONEY], 2000 + 200);
    end(s);
}

static void what_was_not_answered_costs_nothing(void **state)
{
    struct test_service *s = start("budgets: [{user: anna, per: day, usd: 5}]\n");
    (void)state;

    (void)ask(s, ASK(PRICED, ""), TEST_WHOLE("500 Error", "{}"), 1);
    (void)ask(s, ASK(PRICED, ""), TEST_WHOLE("300 Elsewhere", "{}"), 2);
    struct wr_spent spent = spent_of(s, "user:anna");
    assert_int_equal(spent.used[WR_SPEND_REQUESTS], 2);
    assert_int_equal(spent.used[WR_SPEND_TOKENS], 0);
    assert_int_equal(spent.used[WR_SPEND_MONEY], 0);
    end(s);
}

/* Its provider says nothing: the words that came are counted, and the prompt as we count it. */
static void an_answer_without_usage_costs_what_we_count(void **state)
{
    static char answer[8192];
    struct test_service *s = start("budgets: [{user: anna, per: day, usd: 5}]\n");
    (void)state;

    (void)snprintf(answer, sizeof(answer), "@200 OK\n{\"choices\":[],\"x\":\"%04000d\"}", 7);
    (void)ask(s, ASK(PRICED, ""), answer, 1);
    struct wr_spent spent = spent_of(s, "user:anna");
    assert_in_range(spent.used[WR_SPEND_TOKENS], 1000, 1040);
    assert_in_range(spent.used[WR_SPEND_MONEY], 2000, 2050);
    end(s);
}

static void what_may_be_too_much_is_refused(void **state)
{
    static const struct {
        const char *behaviour, *budget, *body;
        int status;
        const char *words[3];
    } rows[] = {
        {"its longest answer",
         "{user: anna, per: day, usd: 0.001}",
         ASK(PRICED, ",\"max_tokens\":600"),
         429,
         {"the budget is used up: user:anna day 0.000000 USD of 0.001000 USD, and this request may "
          "take 0.0012",
          "; it is free again at 20", "\r\nx-should-retry: false\r\n"}},
        {"one that is short enough",
         "{user: anna, per: day, usd: 0.001}",
         ASK(PRICED, ",\"max_tokens\":400"),
         200,
         {NULL}},
        {"several answers",
         "{user: anna, per: day, usd: 0.001}",
         ASK(PRICED, ",\"max_tokens\":400,\"n\":2"),
         429,
         {"may take 0.0016", NULL}},
        {"the model's longest, where it says none",
         "{user: anna, per: day, usd: 0.001}",
         ASK(PRICED, ""),
         429,
         {"may take 0.0020", NULL}},
        {"tokens",
         "{user: anna, per: day, tokens: 500}",
         ASK(PRICED, ",\"max_tokens\":600"),
         429,
         {"user:anna day 0 tokens of 500 tokens, and this request may take 6",
          "\r\nx-weir-budget: refused: user:anna day 0 tokens of 500 tokens\r\n", NULL}},
        {"a minute is soon over",
         "{user: anna, per: minute, tokens: 500}",
         ASK(PRICED, ",\"max_tokens\":600"),
         429,
         {"user:anna minute 0 tokens of 500", "\r\nRetry-After: ", NULL}},
        {"the team's",
         "{team: search, per: month, tokens: 500}",
         ASK(PRICED, ",\"max_tokens\":600"),
         429,
         {"team:search month 0 tokens of 500 tokens", NULL}},
        {"a model without a price",
         "{user: anna, per: day, usd: 5}",
         ASK("x-unheard-of", ""),
         403,
         {"this model has no price, so a budget in USD cannot count it", NULL}},
        {"which counts for no other budget",
         "{user: anna, per: day, tokens: 100000}",
         ASK("x-unheard-of", ""),
         200,
         {NULL}},
        {"its answer may be long",
         "{user: anna, per: day, tokens: 8000}",
         ASK("x-unheard-of", ""),
         429,
         {"may take 8", NULL}},
        {"who says no model may ask the dearest",
         "{user: anna, per: day, usd: 0.01}",
         "{\"messages\":[]}",
         429,
         {"may take ", NULL}},
        {"another's budget",
         "{team: search, per: day, tokens: 100000, action: warn}",
         ASK(PRICED, ",\"max_tokens\":600"),
         200,
         {NULL}},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        char yaml[256];
        (void)snprintf(yaml, sizeof(yaml), "budgets: [%s]\n", rows[i].budget);
        struct test_service *s = start(yaml);
        struct test_client *c = ask(s, rows[i].body, TEST_WHOLE("200 OK", "{}"), 1);
        if (test_status(c) != rows[i].status)
            fail_msg("%s: %s", rows[i].behaviour, test_text(&c->got));
        for (size_t w = 0; w < 3 && rows[i].words[w]; w++)
            if (!test_has(&c->got, rows[i].words[w]))
                fail_msg("%s: %s", rows[i].behaviour, test_text(&c->got));
        bool is_refused = rows[i].status != 200;
        assert_int_equal(s->asked_count, !is_refused);
        assert_int_equal(atomic_load(&s->metrics->budget_refusals), is_refused);
        assert_int_equal(strstr(test_log(s), "\"end\":\"budget\"") != NULL, is_refused);
        end(s);
    }
}

static void a_budget_that_only_warns_is_said(void **state)
{
    struct test_service *s = start("budgets: [{user: anna, per: day, usd: 0.001, action: warn}, "
                                   "{team: search, per: month, requests: 9, action: warn}]\n");
    (void)state;

    struct test_client *c =
        ask(s, ASK(PRICED, ",\"max_tokens\":9"), TEST_WHOLE("200 OK", USAGE(10, 900)), 1);
    assert_false(test_has(&c->got, "x-weir-budget"));
    c = ask(s, ASK(PRICED, ",\"max_tokens\":9"), TEST_WHOLE("200 OK", "{}"), 2);
    for (int i = 0; i < 3 && !test_has(&c->got, "x-weir-budget"); i++) /* it is settled beside */
        c = ask(s, ASK(PRICED, ",\"max_tokens\":9"), TEST_WHOLE("200 OK", "{}"), 3 + (size_t)i);
    assert_int_equal(test_status(c), 200);
    assert_true(test_has(&c->got, "\r\nx-weir-budget: over: user:anna day 0.001"));
    assert_true(test_has(&c->got, " USD of 0.001000 USD\r\n"));
    assert_non_null(strstr(test_log(s), "\"budget\":\"over: user:anna day 0.001"));
    assert_int_equal(atomic_load(&s->metrics->budget_warnings), 1);
    assert_int_equal(atomic_load(&s->metrics->budget_refusals), 0);
    end(s);
}

/* Requests under way hold what they may take; it is free again when they are over. */
static void what_is_under_way_is_held(void **state)
{
    struct test_service *s = start("budgets: [{user: anna, per: day, tokens: 1000}]\n");
    (void)state;

    struct test_client *first = test_client_post(s, CHAT, "x-weir-token: test\r\n",
                                                 WR_LIT(ASK(PRICED, ",\"max_tokens\":600")));
    test_until(s, s->asked_count == 1);
    struct test_client *c = test_client_post(s, CHAT, "x-weir-token: test\r\n",
                                             WR_LIT(ASK(PRICED, ",\"max_tokens\":600")));
    test_until(s, test_is_answered(c));
    assert_int_equal(test_status(c), 429);
    assert_true(test_has(&c->got, "requests under way hold the rest, try again in a moment"));
    assert_true(test_has(&c->got, "\r\nRetry-After: 5\r\n"));
    assert_false(test_has(&c->got, "x-should-retry"));
    test_say(s, TEST_WHOLE("200 OK", USAGE(1, 1)));
    test_until(s, test_is_answered(first));
    end(s);
}

/* Who leaves before an answer comes pays for what was sent and for what is written meanwhile. */
static void who_leaves_pays_for_what_was_sent(void **state)
{
    static char body[16384];
    struct test_service *s = start("budgets: [{user: anna, per: day, usd: 5}]\n");
    (void)state;

    (void)snprintf(
        body, sizeof(body),
        "{\"model\":\"" PRICED "\",\"messages\":[{\"role\":\"user\",\"content\":\"%09000d\"}]}", 7);
    struct test_client *c = test_client_post(s, CHAT, "x-weir-token: test\r\n", wr_span_of(body));
    test_until(s, s->asked_count == 1);
    test_leave(c);
    test_until(s, test_is_told(s, 1));
    struct wr_spent spent = spent_of(s, "user:anna");
    assert_int_equal(spent.used[WR_SPEND_REQUESTS], 1);
    assert_true(spent.used[WR_SPEND_TOKENS] > 1000);
    end(s);
}

/* A batch's answers are asked for by an id, later: it costs the most that it could. */
static void what_runs_in_the_background_costs_the_most(void **state)
{
    struct test_service *s = start("budgets: [{user: anna, per: day, tokens: 100000}]\n");
    (void)state;

    test_upstream_says(s, TEST_WHOLE("200 OK", "{\"id\":\"resp_1\",\"status\":\"queued\"}"));
    struct test_client *c = test_client_post(
        s, "/v1/responses", "x-weir-token: test\r\n",
        WR_LIT("{\"model\":\"" PRICED
               "\",\"background\":true,\"input\":\"Hi\",\"max_output_tokens\":700}"));
    test_until(s, test_is_told(s, 1) && test_is_answered(c));
    struct wr_spent spent = spent_of(s, "user:anna");
    assert_in_range(spent.used[WR_SPEND_TOKENS], 700, 740);
    end(s);
}

/* Who has no name, and what asks no model, has no budget. */
static void others_are_not_counted(void **state)
{
    struct test_service *s = start("tokens: [0123456789abcdef]\n"
                                   "budgets: [{user: \"*\", per: day, requests: 0}]\n");
    (void)state;

    test_upstream_says(s, TEST_WHOLE("200 OK", "{}"));
    struct test_client *c =
        test_client_post(s, CHAT, "x-weir-token: 0123456789abcdef\r\n", WR_LIT(ASK(PRICED, "")));
    test_until(s, test_is_told(s, 1) && test_is_answered(c));
    assert_int_equal(test_status(c), 200);
    test_upstream_says(s, TEST_WHOLE("200 OK", "{}"));
    c = test_client_ask(s, "GET /v1/models", "x-weir-token: test\r\n");
    test_until(s, test_is_told(s, 2) && test_is_answered(c));
    assert_int_equal(test_status(c), 200);
    c = ask(s, ASK(PRICED, ""), NULL, 3);
    assert_int_equal(test_status(c), 429);
    end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_costs_what_its_provider_counted),
        cmocka_unit_test(what_was_not_answered_costs_nothing),
        cmocka_unit_test(an_answer_without_usage_costs_what_we_count),
        cmocka_unit_test(what_may_be_too_much_is_refused),
        cmocka_unit_test(a_budget_that_only_warns_is_said),
        cmocka_unit_test(what_is_under_way_is_held),
        cmocka_unit_test(who_leaves_pays_for_what_was_sent),
        cmocka_unit_test(what_runs_in_the_background_costs_the_most),
        cmocka_unit_test(others_are_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
