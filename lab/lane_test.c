/* One session in one lane: what each request costs by hand, and the recalls that are paid for. */
#include "lab/lane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/api.h"
#include "lab/test_play.h"
#include "models/registry.h"

enum { REQUESTS_MAX = 16, WINDOW_TOKENS = 200000, NOW_MS = 1000000, SECOND_MS = 1000 };
/* In micro-dollars a million tokens. */
enum { INPUT = 2000000, READ = 100000, WRITE = 2500000, OUTPUT = 10000000 };

static const char policies[] = "policies: {cut: {stages: [{stage: cap, max_tokens: 100}]}}";

/* What a request brought, and what it had as the agent sent it. */
struct turn {
    uint64_t original_tokens, output_tokens;
    struct wr_lane_result so_far;
};

struct drive {
    struct test_played played;
    struct weir_engine *engine;
    struct wr_models *models;
    struct wr_meter *meter;
    struct wr_model model;
    struct wr_arena arena;
    struct wr_evidence evidence;
    struct wr_session_body body;
    struct wr_lane lane;
    struct turn turns[REQUESTS_MAX];
};

static const struct wr_session_request as_chat = {
    .dialect = WEIR_DIALECT_CHAT, .model = "claude-sonnet-4-5", .with_tools = WR_SESSION_TOOLS};

static void make_world(struct drive *d, const struct test_play *play)
{
    struct weir_err err = {0};
    *d = (struct drive){0};
    test_play_open(&d->played, play);
    assert_int_equal(weir_engine_new(&d->engine, NULL), WEIR_OK);
    if (weir_engine_load_policies(d->engine, wr_span_of(policies), &err))
        fail_msg("%s", err.text);
    assert_int_equal(wr_models_new(&d->models, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_meter_new(&d->meter), WEIR_OK);
    d->model = *wr_models_lookup(d->models, wr_span_of(as_chat.model)).model;
    d->model.prices = (struct wr_prices){.input = INPUT,
                                         .cache_read = READ,
                                         .cache_write = WRITE,
                                         .cache_write_5m = WRITE,
                                         .cache_write_1h = WRITE,
                                         .cache_write_30m = WRITE,
                                         .output = OUTPUT};
    d->model.tiers_count = 0;
    assert_int_equal(wr_meter_use_model(d->meter, &d->model, NULL), WEIR_OK);
    wr_arena_init(&d->arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_evidence_init(&d->evidence, &d->arena), WEIR_OK);
    wr_session_body_init(&d->body, &d->played.session, &as_chat);
}

static uint64_t prompt_of(const struct wr_measure *measure, uint32_t segments_count)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < segments_count; i++)
        tokens += measure->segment_tokens[i] + measure->segment_overheads[i];
    return tokens;
}

/* What it was paid for is what it cost, but for half a micro-dollar that each request is rounded
 * by. */
static void check_money(const struct wr_lane_result *r)
{
    uint64_t pico_usd = 0, cost = r->cost_micro_usd * 1000000;
    for (int i = 0; i < WR_MONEY_KINDS; i++)
        pico_usd += r->pico_usd[i];
    uint64_t off = pico_usd > cost ? pico_usd - cost : cost - pico_usd;
    assert_true(off <= r->requests * 500000);
}

static void send(struct drive *d, uint32_t n)
{
    struct wr_api_options options = {.dialect = "chat"};
    struct wr_session_view view = wr_session_view(&d->played.session, n);
    struct wr_evidence_items found = {0};
    struct wr_transcript transcript;
    struct wr_evidence_at at;
    struct wr_measure measure;
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_span body = wr_session_body_at(&d->body, n);
    assert_int_equal(wr_json_parse(&doc, &arena, body, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_api_read(&transcript, &arena, &doc, &options, NULL), WEIR_OK);
    assert_int_equal(wr_meter_measure(d->meter, &transcript, &arena, &measure), WEIR_OK);
    assert_int_equal(wr_evidence_note(&d->evidence, &transcript, &at), WEIR_OK);
    assert_int_equal(wr_evidence_find(&d->evidence, &at, view.answer, &arena, &found), WEIR_OK);
    struct turn *turn = &d->turns[n];
    turn->original_tokens = prompt_of(&measure, transcript.segments_count);
    turn->output_tokens = wr_meter_count(d->meter, wr_json_raw(view.answer, 0));
    uint8_t *kinds = WR_ARENA_ARRAY(&arena, uint8_t, transcript.segments_count);
    assert_non_null(kinds);
    wr_money_kinds(&transcript, kinds);
    struct wr_lane_request request = {.session = &d->played.session,
                                      .view = &view,
                                      .original = &transcript,
                                      .measure = &measure,
                                      .kinds = kinds,
                                      .evidence = &d->evidence,
                                      .at = &at,
                                      .found = &found,
                                      .now_ms = NOW_MS + (int64_t)n * SECOND_MS,
                                      .output_tokens = turn->output_tokens};
    assert_int_equal(wr_lane_send(&d->lane, &request), WEIR_OK);
    check_money(&d->lane.result);
    turn->so_far = d->lane.result;
    wr_arena_release(&arena);
}

/* Sends the whole session; `policy` is the engine's, or the name of a baseline without one. */
static struct drive *drive(const struct test_play *play, const char *policy, bool without_recall)
{
    static struct drive drives[2]; /* too large for a stack; two at a time */
    static uint32_t which;
    struct drive *d = &drives[which++ % 2];
    make_world(d, play);
    const struct wr_baseline_def *baseline = wr_baseline_find(wr_span_of(policy));
    struct wr_lane_setup setup = {.policy = baseline ? baseline->policy : policy,
                                  .baseline = baseline,
                                  .model = &d->model,
                                  .model_name = as_chat.model,
                                  .window_tokens = WINDOW_TOKENS,
                                  .without_recall = without_recall,
                                  .engine = d->engine,
                                  .meter = d->meter};
    assert_int_equal(wr_lane_init(&d->lane, &setup), WEIR_OK);
    for (uint32_t n = 0; n < d->played.session.requests_count; n++)
        send(d, n);
    return d;
}

static void done(struct drive *d)
{
    wr_lane_release(&d->lane);
    wr_session_body_release(&d->body);
    wr_evidence_release(&d->evidence);
    wr_arena_release(&d->arena);
    wr_meter_free(d->meter);
    wr_models_free(d->models);
    weir_engine_free(d->engine);
    test_play_close(&d->played);
}

static uint32_t count_in(const struct wr_buf *body, const char *text)
{
    uint32_t count = 0;
    for (size_t at = 0; (at = wr_span_find(wr_buf_view(body), wr_span_of(text), at)) != SIZE_MAX;
         at++)
        count++;
    return count;
}

/* Tokens of the prompts that request `n` took, recalls included. */
static uint64_t prompts(const struct drive *d, uint32_t n)
{
    return d->turns[n].so_far.prompt_tokens - (n ? d->turns[n - 1].so_far.prompt_tokens : 0);
}

/* ---- as it was ---- */

static uint64_t micro_usd(uint64_t written, uint64_t read, uint64_t output)
{
    return (written * WRITE + read * READ + output * OUTPUT + 500000) / 1000000;
}

/* The first is written, each later one reads the one before it and writes what is new. */
static void raw_costs_are_those_of_the_cache_by_hand(void **state)
{
    static const struct test_play play = {.lines = 100, .quotes = true};
    struct drive *d = drive(&play, "raw", false);
    uint64_t p[3], out[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        p[i] = d->turns[i].original_tokens;
        out[i] = d->turns[i].output_tokens;
    }
    assert_true(p[0] > 1024 && p[1] > p[0] + 1500 && p[2] > p[1]);
    const struct wr_lane_result *r = &d->lane.result;
    assert_int_equal(r->requests, 3);
    assert_int_equal(r->prompt_tokens, p[0] + p[1] + p[2]);
    assert_int_equal(r->read_tokens, p[0] + p[1]);
    assert_int_equal(r->written_tokens, p[2]);
    assert_int_equal(r->output_tokens, out[0] + out[1] + out[2]);
    assert_int_equal(r->cost_micro_usd, micro_usd(p[0], 0, out[0]) +
                                            micro_usd(p[1] - p[0], p[0], out[1]) +
                                            micro_usd(p[2] - p[1], p[1], out[2]));
    assert_true(r->is_cost_known);
    assert_int_equal(r->recalls + r->steps + r->saved_tokens + r->over_window, 0);
    assert_int_equal(r->evidence.all[WR_EVIDENCE_SUPPORTED], 1);
    assert_int_equal(r->evidence.first_sight[WR_EVIDENCE_SUPPORTED], 1);
    assert_int_equal(r->evidence.all[WR_EVIDENCE_RECALLABLE] + r->evidence.all[WR_EVIDENCE_LOST],
                     0);
    done(d);
}

/* ---- recalls ---- */

/* Two sessions that differ in what the second answer says: one opens a file that only the cut part
 * of the first result names. */
static void what_an_answer_needs_is_recalled_and_paid_for(void **state)
{
    static const struct test_play plain = {.lines = 100, .more = 1};
    static const struct test_play quoting = {.lines = 100, .more = 1, .quotes = true};
    struct drive *a = drive(&plain, "cut", false), *b = drive(&quoting, "cut", false);
    const struct wr_lane_result *r = &b->lane.result;
    enum { CALL_TOKENS = 60, FRAME_TOKENS_MAX = 150 };
    (void)state;
    assert_int_equal(a->lane.result.requests, 4);
    assert_int_equal(a->lane.result.recalls, 0);
    assert_true(a->lane.result.saved_tokens > 1000);

    assert_int_equal(r->requests, 5);
    assert_int_equal(r->recalls, 1);
    assert_int_equal(r->evidence.all[WR_EVIDENCE_RECALLABLE], 1);
    assert_int_equal(r->evidence.answers_wanting, 1);
    assert_int_equal(r->evidence.all[WR_EVIDENCE_LOST], 0);
    assert_true(r->recalled_tokens > 0 && r->recalled_tokens < 2500);
    assert_int_equal(b->turns[1].so_far.requests, 3);
    assert_int_equal(b->turns[1].so_far.output_tokens - b->turns[0].so_far.output_tokens,
                     CALL_TOKENS + b->turns[1].output_tokens);
    /* the whole prompt once more, with the call and the lines behind it */
    uint64_t more = prompts(b, 1) - 2 * prompts(a, 1);
    assert_true(more >= r->recalled_tokens && more < r->recalled_tokens + FRAME_TOKENS_MAX);
    /* and in every later prompt */
    for (uint32_t n = 2; n < 4; n++)
        assert_true(prompts(b, n) >= prompts(a, n) + r->recalled_tokens);
    assert_int_equal(count_in(&b->lane.body, "opened " TEST_PLAY_NEEDLE), 2);
    assert_int_equal(count_in(&b->lane.body, "\"name\":\"weir_recall\",\"arguments\""), 1);
    assert_int_equal(count_in(&a->lane.body, "\"name\":\"weir_recall\",\"arguments\""), 0);
    assert_true(r->cost_micro_usd > a->lane.result.cost_micro_usd);
    assert_int_equal(r->prefix_violations + r->validation_failures, 0);
    done(a);
    done(b);
}

static void what_was_recalled_once_is_at_hand(void **state)
{
    static const struct test_play play = {
        .lines = 100, .more = 2, .quotes = true, .quotes_again = true};
    struct drive *d = drive(&play, "cut", false);
    (void)state;
    assert_int_equal(d->lane.result.recalls, 1);
    assert_int_equal(d->lane.result.evidence.all[WR_EVIDENCE_LOST], 0);
    done(d);
}

static void the_lines_around_it_come_back_and_no_more(void **state)
{
    static const struct test_play play = {.lines = 100, .quotes = true};
    struct drive *d = drive(&play, "cut", false);
    (void)state;
    /* line 51 of 101 is wanted: ten before it and thirty from it on; the original has each once */
    assert_int_equal(count_in(&d->lane.body, "row 40 of 1:"), 1);
    assert_int_equal(count_in(&d->lane.body, "row 41 of 1:"), 2);
    assert_int_equal(count_in(&d->lane.body, "row 50 of 1:"), 2);
    assert_int_equal(count_in(&d->lane.body, "row 79 of 1:"), 2);
    assert_int_equal(count_in(&d->lane.body, "row 80 of 1:"), 1);
    done(d);
}

static void without_recall_nothing_is_taken_out(void **state)
{
    static const struct test_play play = {.lines = 100, .quotes = true};
    struct drive *d = drive(&play, "cut", true);
    const struct wr_lane_result *r = &d->lane.result;
    (void)state;
    assert_int_equal(r->requests, 3);
    assert_int_equal(r->recalls + r->saved_tokens, 0);
    assert_int_equal(r->evidence.all[WR_EVIDENCE_SUPPORTED], 1);
    assert_int_equal(r->evidence.all[WR_EVIDENCE_LOST], 0);
    assert_int_equal(count_in(&d->lane.body, "weir_recall"), 0);
    done(d);
}

/* Those that know no handles lose it. The first result has about 5000 tokens. */
static void what_a_baseline_cuts_is_lost(void **state)
{
    static const struct test_play play = {.lines = 300, .quotes = true};
    struct drive *d = drive(&play, "head-tail", false);
    const struct wr_lane_result *r = &d->lane.result;
    (void)state;
    assert_int_equal(r->requests, 3);
    assert_int_equal(r->recalls, 0);
    assert_int_equal(r->evidence.all[WR_EVIDENCE_LOST], 1);
    assert_true(prompts(d, 1) + 1500 < d->turns[1].original_tokens);
    done(d);
}

/* ---- the host's own compaction ---- */

static void a_compaction_begins_the_conversation_anew(void **state)
{
    static const struct test_play play = {.lines = 100, .more = 2, .is_compacted = true};
    struct drive *d = drive(&play, "raw", false);
    uint64_t sum = 0;
    (void)state;
    for (uint32_t n = 0; n < 5; n++) {
        assert_int_equal(prompts(d, n), d->turns[n].original_tokens);
        sum += prompts(d, n);
    }
    assert_int_equal(d->lane.result.requests, 5);
    assert_int_equal(d->lane.result.prompt_tokens, sum);
    assert_true(d->turns[4].original_tokens < d->turns[0].original_tokens);
    assert_int_equal(count_in(&d->lane.body, "what came before"), 1);
    assert_int_equal(count_in(&d->lane.body, "row 0 of 1:"), 0);
    assert_int_equal(d->lane.result.prefix_violations, 0);
    done(d);
}

static void what_was_recalled_is_gone_with_it(void **state)
{
    static const struct test_play play = {
        .lines = 100, .more = 2, .quotes = true, .is_compacted = true};
    struct drive *d = drive(&play, "cut", false);
    (void)state;
    assert_int_equal(d->lane.result.recalls, 1);
    assert_int_equal(d->lane.result.requests, 6);
    assert_int_equal(count_in(&d->lane.body, TEST_PLAY_NEEDLE), 0);
    assert_int_equal(count_in(&d->lane.body, "recall_0_0"), 0);
    assert_int_equal(prompts(d, 4), d->turns[4].original_tokens);
    assert_int_equal(d->lane.result.prefix_violations + d->lane.result.validation_failures, 0);
    done(d);
}

/* ---- sums ---- */

static void results_are_added_up(void **state)
{
    static struct wr_lane_result a, b, sum;
    (void)state;
    a = (struct wr_lane_result){.requests = 2,
                                .cost_micro_usd = 30,
                                .is_cost_known = true,
                                .recalls = 1,
                                .reasons = {{"cold", 2}, {"pays", 1}},
                                .times_us = {5, 1, 3},
                                .times_count = 3};
    b = (struct wr_lane_result){.requests = 5,
                                .cost_micro_usd = 12,
                                .reasons = {{"pays", 4}},
                                .evidence.all = {1, 2, 3},
                                .times_us = {9},
                                .times_count = 1};
    sum = (struct wr_lane_result){.is_cost_known = true, .times_stride = 1};
    wr_lane_result_add(&sum, &a);
    assert_true(sum.is_cost_known);
    wr_lane_result_add(&sum, &b);
    assert_int_equal(sum.requests, 7);
    assert_int_equal(sum.cost_micro_usd, 42);
    assert_int_equal(sum.recalls, 1);
    assert_int_equal(sum.evidence.all[WR_EVIDENCE_LOST], 3);
    assert_false(sum.is_cost_known);
    assert_string_equal(sum.reasons[0].text, "cold");
    assert_int_equal(sum.reasons[0].count, 2);
    assert_string_equal(sum.reasons[1].text, "pays");
    assert_int_equal(sum.reasons[1].count, 5);
    assert_int_equal(wr_lane_result_time_us(&sum, 0), 1);
    assert_int_equal(wr_lane_result_time_us(&sum, 50), 3);
    assert_int_equal(wr_lane_result_time_us(&sum, 100), 9);
}

/* Any number of times fits, and the shares stay what they are. */
static void times_are_thinned_out(void **state)
{
    static struct wr_lane_result one, sum;
    (void)state;
    sum = (struct wr_lane_result){.times_stride = 1};
    one = (struct wr_lane_result){.times_count = 1};
    for (uint32_t i = 0; i < 10 * WR_LANE_TIMES_MAX; i++) {
        one.times_us[0] = i;
        wr_lane_result_add(&sum, &one);
    }
    assert_true(sum.times_count <= WR_LANE_TIMES_MAX);
    uint32_t half = wr_lane_result_time_us(&sum, 50);
    assert_true(half > 10 * WR_LANE_TIMES_MAX * 45 / 100 &&
                half < 10 * WR_LANE_TIMES_MAX * 55 / 100);
    one.times_count = 0;
    assert_int_equal(wr_lane_result_time_us(&one, 50), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_costs_are_those_of_the_cache_by_hand),
        cmocka_unit_test(what_an_answer_needs_is_recalled_and_paid_for),
        cmocka_unit_test(what_was_recalled_once_is_at_hand),
        cmocka_unit_test(the_lines_around_it_come_back_and_no_more),
        cmocka_unit_test(without_recall_nothing_is_taken_out),
        cmocka_unit_test(what_a_baseline_cuts_is_lost),
        cmocka_unit_test(a_compaction_begins_the_conversation_anew),
        cmocka_unit_test(what_was_recalled_is_gone_with_it),
        cmocka_unit_test(results_are_added_up),
        cmocka_unit_test(times_are_thinned_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
