#include "ledger/tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "engine/record_row.h"

/* Prices that can be added up by hand, in USD per million: input 10, reads 1, writes 12.5,
 * output 50. */
static const char overrides[] =
    "models:\n"
    "  test-explicit: {window: 200000, cache: anthropic, min_cacheable: 1000, price: {input: 10,"
    " cache_read: 1, write_5m: 12.5, write_1h: 20, output: 50}}\n"
    "  test-prefix: {window: 200000, cache: openai-prefix, min_cacheable: 1000, price: {input: 10,"
    " cache_read: 1, output: 50}}\n"
    "  test-likely: {window: 200000, cache: google-implicit, min_cacheable: 1000, price: {input: "
    "10,"
    " cache_read: 1, output: 50}}\n";

struct fixture {
    struct wr_models *models;
    struct wr_tallier *tallier;
    struct wr_tally tally;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct wr_models_source source = {.overrides = wr_span_of(overrides)};
    struct weir_err err = {0};
    assert_non_null(f);
    if (wr_models_new(&f->models, &source, &err))
        fail_msg("%s", err.text);
    f->tallier = wr_tallier_new(f->models);
    assert_non_null(f->tallier);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wr_tallier_free(f->tallier);
    wr_models_free(f->models);
    free(f);
    return 0;
}

static weir_status add_row(struct fixture *f, const struct wr_ledger_row *row)
{
    struct wr_tally *tallies[] = {&f->tally};
    struct wr_record record;
    struct wr_arena arena;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_row_parse(row->line, &arena, &record);
    if (!status)
        status = wr_tallier_add(f->tallier, row, &record, tallies, 1);
    wr_arena_release(&arena);
    return status;
}

static weir_status add_line(struct fixture *f, const char *session, const char *model,
                            int64_t time_ms, const char *members)
{
    struct wr_buf line;
    wr_buf_init(&line, 4096);
    wr_buf_printf(&line, "{\"api\":\"messages\",\"path\":\"/v1/messages\",\"status\":200%s}",
                  members);
    struct wr_ledger_row row = {.time_ms = time_ms,
                                .tenant = WR_LIT("local"),
                                .session = wr_span_of(session),
                                .model = wr_span_of(model),
                                .line = wr_buf_view(&line)};
    weir_status status = add_row(f, &row);
    wr_buf_release(&line);
    return status;
}

/* A request to test-explicit: estimates before and after, and usage. */
struct request {
    int64_t time_ms;
    int before, after;              /* estimates; equal: not changed */
    int input, read, write, output; /* usage */
    const char *more;               /* members, with ',' before each; may be NULL */
};

static void add(struct fixture *f, struct request r)
{
    char members[1024];
    (void)snprintf(members, sizeof(members),
                   ",\"estimated_tokens_before\":%d,\"estimated_tokens_after\":%d,\"changed\":%s,"
                   "\"usage_known\":true,\"usage_input_tokens\":%d,\"usage_cache_read_tokens\":%d,"
                   "\"usage_cache_write_tokens\":%d,\"usage_output_tokens\":%d%s",
                   r.before, r.after, r.before == r.after ? "false" : "true", r.input, r.read,
                   r.write, r.output, r.more ? r.more : "");
    assert_int_equal(add_line(f, "s", "test-explicit", r.time_ms, members), WEIR_OK);
}

static void assert_money(const struct fixture *f, uint64_t micro_usd, uint64_t unchanged_micro_usd)
{
    if (f->tally.micro_usd != micro_usd || f->tally.unchanged_micro_usd != unchanged_micro_usd)
        fail_msg("cost %llu and %llu, expected %llu and %llu",
                 (unsigned long long)f->tally.micro_usd,
                 (unsigned long long)f->tally.unchanged_micro_usd, (unsigned long long)micro_usd,
                 (unsigned long long)unchanged_micro_usd);
}

enum { MINUTE_MS = 60 * 1000, START_MS = 1000000 };

/* ---- the sums ---- */

static void a_session_that_was_not_changed_costs_what_it_cost(void **state)
{
    struct fixture *f = *state;
    uint32_t noise = 7;
    int64_t time_ms = START_MS;

    /* Whatever the usage says, busts of every cause included. */
    for (int i = 0; i < 500; i++) {
        static const char *const causes[] = {"",         "host",     "model", "expired",
                                             "provider", "nonsense", "weir"};
        char more[128];
        noise = noise * 1664525u + 1013904223u;
        int size = (int)(noise >> 12) % 150000;
        const char *cause = causes[(noise >> 8) % 7];
        (void)snprintf(more, sizeof(more), ",\"cache_bust_cause\":\"%s\",\"cache_bust_tokens\":%d",
                       cause, size / 2);
        add(f, (struct request){time_ms, size, size, (int)(noise % 91), size / 3, size / 5,
                                (int)(noise % 1000), *cause ? more : NULL});
        time_ms += (int64_t)(noise >> 20) * 1000;
        assert_int_equal(f->tally.micro_usd, f->tally.unchanged_micro_usd);
    }
    assert_true(f->tally.micro_usd > 1000000);
    assert_int_equal(f->tally.raw_tokens, f->tally.sent_tokens);
}

static void a_first_appearance_that_is_condensed_is_worth_its_tokens(void **state)
{
    struct fixture *f = *state;
    /* 20,000 written. Then 10,000 of new text came and 2,000 were sent. Then nothing new but 1,000.
     */
    add(f, (struct request){START_MS, 20000, 20000, 0, 0, 20000, 0, NULL});
    assert_money(f, 250000, 250000);
    add(f, (struct request){START_MS + 1000, 30000, 22000, 0, 20000, 2000, 0, NULL});
    assert_money(f, 250000 + 20000 + 25000, 250000 + 20000 + 125000);
    add(f, (struct request){START_MS + 2000, 31000, 23000, 0, 22000, 1000, 0, NULL});
    assert_money(f, 295000 + 22000 + 12500, 395000 + 30000 + 12500);
    assert_int_equal(f->tally.raw_tokens, 81000);
    assert_int_equal(f->tally.sent_tokens, 65000);
    assert_int_equal(f->tally.changed_count, 2);
}

/* The provider counts twice what we estimate: the ratio holds. */
static void the_prompt_as_it_came_is_in_the_providers_tokens(void **state)
{
    struct fixture *f = *state;
    add(f, (struct request){START_MS, 30000, 10000, 20000, 0, 0, 0, NULL});
    assert_int_equal(f->tally.raw_tokens, 60000);
    assert_money(f, 200000, 600000);
}

static void a_step_is_charged_to_us(void **state)
{
    struct fixture *f = *state;
    add(f, (struct request){START_MS, 100000, 100000, 0, 0, 100000, 0, NULL});
    assert_money(f, 1250000, 1250000);
    /* Half is taken out, what is left behind the first 10,000 is written anew. */
    add(f, (struct request){START_MS + 1000, 100000, 50000, 0, 10000, 40000, 0,
                            ",\"step\":true,\"cache_bust_cause\":\"weir\","
                            "\"cache_expected_tokens\":100000,\"cache_bust_tokens\":90000"});
    assert_money(f, 1250000 + 10000 + 500000, 1250000 + 100000);
    assert_int_equal(f->tally.busts[WR_BUST_WEIR], 1);
    assert_int_equal(f->tally.bust_tokens[WR_BUST_WEIR], 90000);
    assert_int_equal(f->tally.steps_count, 1);
    assert_int_equal(f->tally.steps_micro_usd, 40000 * 115 / 10); /* written instead of read */
    assert_int_equal(f->tally.bust_micro_usd[WR_BUST_WEIR], 40000 * 115 / 10);
    /* From here on it pays 50,000 less of reads a turn. */
    add(f, (struct request){START_MS + 2000, 100000, 50000, 0, 50000, 0, 0, NULL});
    assert_money(f, 1760000 + 50000, 1350000 + 100000);
}

/* What the agent broke costs as much, and is no step of ours. */
static void a_broken_cache_has_a_price(void **state)
{
    struct fixture *f = *state;
    add(f, (struct request){START_MS, 100000, 100000, 0, 0, 100000, 0, NULL});
    add(f, (struct request){START_MS + 1000, 100000, 100000, 0, 60000, 40000, 0,
                            ",\"cache_bust_cause\":\"host\","
                            "\"cache_expected_tokens\":100000,\"cache_bust_tokens\":40000"});
    assert_int_equal(f->tally.bust_micro_usd[WR_BUST_HOST], 40000 * 115 / 10);
    assert_int_equal(f->tally.bust_micro_usd[WR_BUST_WEIR], 0);
    assert_int_equal(f->tally.steps_micro_usd, 0);
}

/* With the cache cold it would have been written whole. */
static void a_step_after_a_long_pause_is_a_gain(void **state)
{
    struct fixture *f = *state;
    add(f, (struct request){START_MS, 100000, 100000, 0, 0, 100000, 0, NULL});
    add(f, (struct request){START_MS + 10 * MINUTE_MS, 100000, 50000, 0, 0, 50000, 0,
                            ",\"step\":true,\"cache_bust_cause\":\"expired\""});
    assert_money(f, 1250000 + 625000, 1250000 + 1250000);
}

/* The same without a cause in the line, as when the answers' part was not kept. */
static void a_step_without_a_cause_is_ours_while_the_cache_is_warm(void **state)
{
    struct fixture *f = *state;
    add(f, (struct request){START_MS, 100000, 100000, 0, 0, 100000, 0, NULL});
    add(f, (struct request){START_MS + MINUTE_MS, 100000, 50000, 0, 0, 50000, 0, ",\"step\":true"});
    assert_money(f, 1250000 + 625000, 1250000 + 100000);
}

static void what_the_host_breaks_is_broken_there_too(void **state)
{
    struct fixture *f = *state;
    add(f, (struct request){START_MS, 100000, 50000, 0, 0, 50000, 0, NULL});
    assert_money(f, 625000, 1250000);
    /* A fifth of what was sent is still read: a fifth of what came. */
    add(f, (struct request){START_MS + 1000, 100000, 50000, 0, 10000, 40000, 0,
                            ",\"cache_bust_cause\":\"host\",\"cache_expected_tokens\":50000,"
                            "\"cache_bust_tokens\":40000"});
    assert_money(f, 625000 + 10000 + 500000, 1250000 + 20000 + 1000000);
    assert_int_equal(f->tally.busts[WR_BUST_HOST], 1);
}

static void a_recall_is_charged_to_us(void **state)
{
    struct fixture *f = *state;
    add(f, (struct request){START_MS, 20000, 10000, 0, 0, 10000, 100, NULL});
    assert_money(f, 125000 + 5000, 250000 + 5000);
    /* The answer was a call of 100 tokens; it brings 4,900 back. The answer to that is the one that
     * would have been given at once. */
    add(f, (struct request){START_MS + 1000, 25000, 15000, 0, 10000, 5000, 300,
                            ",\"recall_only\":true"});
    assert_money(f, 130000 + 10000 + 62500 + 15000, 255000 - 5000 + 15000);
    /* The next prompt has the recall in it; there it has not. */
    add(f, (struct request){START_MS + 2000, 26000, 16000, 0, 15000, 1000, 0, NULL});
    assert_money(f, 217500 + 15000 + 12500, 265000 + 20000 + 12500);
}

static void an_agents_helpers_have_prompts_of_their_own(void **state)
{
    struct fixture *f = *state;
    const char *small = ",\"usage_known\":true,\"usage_input_tokens\":1000";

    add(f, (struct request){START_MS, 20000, 10000, 0, 0, 10000, 0, NULL});
    assert_int_equal(add_line(f, "s", "test-prefix", START_MS + 1000, small), WEIR_OK);
    assert_int_equal(add_line(f, "t", "test-explicit", START_MS + 1000, small), WEIR_OK);
    assert_money(f, 125000 + 10000 + 10000, 250000 + 10000 + 10000);
    add(f, (struct request){START_MS + 2000, 20000, 10000, 0, 10000, 0, 0, NULL});
    assert_money(f, 145000 + 10000, 270000 + 20000);
}

static void what_is_cached_without_being_asked_is_read(void **state)
{
    struct fixture *f = *state;
    const char *first = ",\"api\":\"chat\",\"estimated_tokens_before\":20480,\"changed\":true,"
                        "\"estimated_tokens_after\":10240,\"usage_known\":true,"
                        "\"usage_input_tokens\":10240,\"usage_cache_read_tokens\":0";
    const char *then = ",\"api\":\"chat\",\"estimated_tokens_before\":20480,\"changed\":true,"
                       "\"estimated_tokens_after\":10240,\"usage_known\":true,"
                       "\"usage_input_tokens\":10240,\"usage_cache_read_tokens\":10240";

    assert_int_equal(add_line(f, "s", "test-prefix", START_MS, first), WEIR_OK);
    assert_money(f, 102400, 204800);
    assert_int_equal(add_line(f, "s", "test-prefix", START_MS + 1000, then), WEIR_OK);
    assert_money(f, 102400 + 10240, 204800 + 20480);
    assert_int_equal(f->tally.input_tokens, 10240);
    assert_int_equal(f->tally.cache_read_tokens, 10240);
}

/* Of the 10,240 tokens that were taken out 91 % would have been read, the rest were input. */
static void what_is_not_promised_is_read_in_part(void **state)
{
    struct fixture *f = *state;
    const char *first = ",\"estimated_tokens_before\":20480,\"changed\":true,"
                        "\"estimated_tokens_after\":10240,\"usage_known\":true,\"api\":\"chat\","
                        "\"usage_input_tokens\":10240,\"usage_cache_read_tokens\":0";
    const char *then = ",\"estimated_tokens_before\":20480,\"changed\":true,"
                       "\"estimated_tokens_after\":10240,\"usage_known\":true,\"api\":\"chat\","
                       "\"usage_input_tokens\":10240,\"usage_cache_read_tokens\":10000";

    assert_int_equal(add_line(f, "s", "test-likely", START_MS, first), WEIR_OK);
    assert_int_equal(add_line(f, "s", "test-likely", START_MS + 1000, then), WEIR_OK);
    assert_money(f, 102400 + 10000 + 2400, 204800 + 19318 + 11620);
}

/* Only what is new is sent: of 10,000 tokens of a result 2,000, in a history of 50,000. */
static void what_the_provider_holds_was_never_sent_twice(void **state)
{
    struct fixture *f = *state;
    add(f, (struct request){START_MS, 10000, 2000, 52000, 0, 0, 0, ",\"delta\":true"});
    assert_int_equal(f->tally.raw_tokens, 60000);
    assert_money(f, 520000, 600000);
    /* What was taken out then is still not there. */
    add(f, (struct request){START_MS + 1000, 500, 500, 53000, 0, 0, 0, ",\"delta\":true"});
    assert_int_equal(f->tally.raw_tokens, 60000 + 61000);
    assert_money(f, 520000 + 530000, 600000 + 610000);
    /* And what is taken out now is added to it. */
    add(f, (struct request){START_MS + 2000, 1500, 500, 54000, 0, 0, 0, ",\"delta\":true"});
    assert_int_equal(f->tally.raw_tokens, 60000 + 61000 + 63000);
    /* A whole request begins anew. */
    add(f, (struct request){START_MS + 3000, 500, 500, 1000, 0, 0, 0, NULL});
    assert_int_equal(f->tally.raw_tokens, 60000 + 61000 + 63000 + 1000);
}

static void a_prompt_beyond_the_window_is_not_counted_as_sent(void **state)
{
    struct fixture *f = *state;
    add(f, (struct request){START_MS, 900000, 100000, 100000, 0, 0, 0, NULL});
    assert_money(f, 1000000, 2000000);
    assert_int_equal(f->tally.refused_count, 1);
    add(f, (struct request){START_MS + 1000, 100000, 90000, 0, 90000, 0, 0, NULL});
    assert_int_equal(f->tally.refused_count, 1); /* this one would have fitted */
}

/* A tenth of each prompt is our own tools: without Weir it would not be there. */
static void our_own_tools_are_charged_to_us(void **state)
{
    struct fixture *f = *state;
    add(f, (struct request){START_MS, 10000, 10000, 0, 0, 10000, 0, ",\"own_tools_tokens\":1000"});
    assert_money(f, 125000, 112500);
    add(f, (struct request){START_MS + 1000, 20000, 20000, 0, 10000, 10000, 0,
                            ",\"own_tools_tokens\":1000"});
    assert_money(f, 125000 + 10000 + 125000, 112500 + 9000 + 125000);
    /* In the provider's tokens, which are half of ours. */
    add(f, (struct request){START_MS + 2000, 60000, 60000, 0, 20000, 10000, 0,
                            ",\"own_tools_tokens\":2000"});
    assert_money(f, 260000 + 20000 + 125000, 246500 + 19000 + 125000);
}

static void without_usage_it_is_estimated_and_counted_so(void **state)
{
    struct fixture *f = *state;
    const char *silent = ",\"estimated_tokens_before\":20000,\"estimated_tokens_after\":10000,"
                         "\"changed\":true,\"usage_known\":false";

    assert_int_equal(add_line(f, "s", "test-explicit", START_MS, silent), WEIR_OK);
    assert_money(f, 125000, 250000);
    assert_int_equal(add_line(f, "s", "test-explicit", START_MS + 1000, silent), WEIR_OK);
    assert_money(f, 135000, 270000);
    assert_int_equal(f->tally.estimated_count, 2);
}

/* Some say of a broken answer only what it gave. */
static void output_alone_is_paid_in_both(void **state)
{
    struct fixture *f = *state;
    const char *output = ",\"usage_known\":true,\"usage_output_tokens\":100";
    assert_int_equal(add_line(f, "s", "test-explicit", START_MS, output), WEIR_OK);
    assert_money(f, 5000, 5000);
}

static void what_is_not_known_is_not_free(void **state)
{
    struct fixture *f = *state;
    const char *priced = ",\"usage_known\":true,\"usage_input_tokens\":1000";

    assert_int_equal(add_line(f, "s", "no-such-model-at-all", START_MS, priced), WEIR_OK);
    assert_int_equal(f->tally.unpriced_count, 1);
    assert_int_equal(f->tally.requests_count, 1);
    assert_int_equal(f->tally.sent_tokens, 1000);
    assert_money(f, 0, 0);
}

static void counts_and_quality_are_added_up(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(add_line(f, "s", "test-explicit", START_MS,
                              ",\"shadow_changed\":false,\"task_quality_recalls\":2,"
                              "\"task_quality_task_completed\":1"),
                     WEIR_OK);
    assert_int_equal(add_line(f, "s", "test-explicit", START_MS + 5,
                              ",\"status\":503,\"task_quality_recalls\":3"),
                     WEIR_OK);
    assert_int_equal(f->tally.quality.recalls, 5);
    assert_int_equal(f->tally.quality.task_completed, 1);
    assert_int_equal(f->tally.shadow_count, 1);
    assert_int_equal(f->tally.failed_count, 1);
    assert_int_equal(f->tally.requests_count, 2);
    assert_int_equal(f->tally.first_ms, START_MS);
    assert_int_equal(f->tally.last_ms, START_MS + 5);
}

static void shadow_has_sums_of_its_own(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(add_line(f, "s", "test-explicit", START_MS,
                              ",\"estimated_tokens_before\":900,\"shadow_changed\":true,"
                              "\"shadow_estimated_tokens_after\":300,\"usage_known\":true,"
                              "\"usage_input_tokens\":1000"),
                     WEIR_OK);
    assert_int_equal(add_line(f, "s", "test-explicit", START_MS + 5,
                              ",\"estimated_tokens_before\":50,\"estimated_tokens_after\":40,"
                              "\"changed\":true"),
                     WEIR_OK);
    assert_int_equal(f->tally.shadow_prompt_tokens, 900);
    assert_int_equal(f->tally.shadow_would_send_tokens, 300);
    assert_int_equal(f->tally.changed_count, 1);
}

/* What was sent is what came; beside it stands what the projections would have cost: the first
 * writes less, the second reads what the first would have left, and a step keeps no more than what
 * stands before the turns. */
static void shadow_is_priced_as_if_it_had_been_sent(void **state)
{
    static const struct {
        int before, after, read, write;
        const char *more;
    } rows[] = {
        {10000, 4000, 0, 10000, "\"shadow_step\":false"},
        {12000, 5000, 10000, 2000, "\"shadow_step\":false"},
        {13000, 3000, 12000, 1000, "\"shadow_step\":true,\"context_system_tokens\":500"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char members[1024];
        (void)snprintf(members, sizeof(members),
                       ",\"estimated_tokens_before\":%d,\"shadow_changed\":true,"
                       "\"shadow_estimated_tokens_after\":%d,\"usage_known\":true,"
                       "\"usage_input_tokens\":0,\"usage_cache_read_tokens\":%d,"
                       "\"usage_cache_write_tokens\":%d,%s",
                       rows[i].before, rows[i].after, rows[i].read, rows[i].write, rows[i].more);
        assert_int_equal(add_line(f, "s", "test-explicit", START_MS + (int64_t)i * 1000, members),
                         WEIR_OK);
    }
    assert_money(f, 184500, 184500);
    assert_int_equal(f->tally.shadow_micro_usd, 184500);
    assert_int_equal(f->tally.shadow_would_micro_usd, 50000 + 16500 + 31750);
}

static void a_damaged_line_adds_nothing(void **state)
{
    static const char *const lines[] = {"", "{", "[]", "{\"status\":}", "null"};
    struct fixture *f = *state;

    for (size_t i = 0; i < WR_COUNT_OF(lines); i++) {
        struct wr_ledger_row row = {.tenant = WR_LIT("local"), .line = wr_span_of(lines[i])};
        assert_int_equal(add_row(f, &row), WEIR_SYNTAX);
    }
    assert_int_equal(f->tally.requests_count, 0);
}

/* More sessions than the first table has places. */
static void many_sessions_are_told_apart(void **state)
{
    struct fixture *f = *state;
    const char *first = ",\"estimated_tokens_before\":20000,\"estimated_tokens_after\":10000,"
                        "\"changed\":true,\"usage_known\":true,\"usage_input_tokens\":0,"
                        "\"usage_cache_write_tokens\":10000";
    const char *then = ",\"estimated_tokens_before\":20000,\"estimated_tokens_after\":10000,"
                       "\"changed\":true,\"usage_known\":true,\"usage_input_tokens\":0,"
                       "\"usage_cache_read_tokens\":10000";
    enum { SESSIONS = 3000 };
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < SESSIONS; i++) {
            char session[32];
            (void)snprintf(session, sizeof(session), "session %d", i);
            assert_int_equal(add_line(f, session, "test-explicit", START_MS + round * 1000,
                                      round ? then : first),
                             WEIR_OK);
        }
    assert_money(f, (uint64_t)SESSIONS * (125000 + 10000), (uint64_t)SESSIONS * (250000 + 20000));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_that_was_not_changed_costs_what_it_cost),
        TEST(a_first_appearance_that_is_condensed_is_worth_its_tokens),
        TEST(the_prompt_as_it_came_is_in_the_providers_tokens),
        TEST(a_step_is_charged_to_us),
        TEST(a_broken_cache_has_a_price),
        TEST(a_step_after_a_long_pause_is_a_gain),
        TEST(a_step_without_a_cause_is_ours_while_the_cache_is_warm),
        TEST(what_the_host_breaks_is_broken_there_too),
        TEST(a_recall_is_charged_to_us),
        TEST(an_agents_helpers_have_prompts_of_their_own),
        TEST(what_is_cached_without_being_asked_is_read),
        TEST(what_is_not_promised_is_read_in_part),
        TEST(what_the_provider_holds_was_never_sent_twice),
        TEST(a_prompt_beyond_the_window_is_not_counted_as_sent),
        TEST(our_own_tools_are_charged_to_us),
        TEST(without_usage_it_is_estimated_and_counted_so),
        TEST(output_alone_is_paid_in_both),
        TEST(what_is_not_known_is_not_free),
        TEST(counts_and_quality_are_added_up),
        TEST(shadow_has_sums_of_its_own),
        TEST(shadow_is_priced_as_if_it_had_been_sent),
        TEST(a_damaged_line_adds_nothing),
        TEST(many_sessions_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
