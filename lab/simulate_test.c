/* Sessions under many policies at once: names that are refused, results that do not depend on what
 * else runs, and what is never lost. */
#include "lab/simulate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"
#include "lab/simulate_report.h"
#include "lab/test_play.h"
#include "tests/made_sessions.h"

enum { WINDOW_TOKENS = 200000, NARROW_TOKENS = 12000, MADE_COUNT = 4, HOUR_MS = 3600000 };
#define NOON_MS INT64_C(1750000000000)

static const char own_yaml[] = "policies: {mine: {stages: [{stage: cap, max_tokens: 100}]}}";

static struct wr_simulate_options options_of(const char *const *names, uint32_t count)
{
    return (struct wr_simulate_options){.policies = names,
                                        .policies_count = count,
                                        .model = "claude-sonnet-4-5",
                                        .window_tokens = WINDOW_TOKENS,
                                        .places_markers = true};
}

static struct wr_simulator *new_simulator(const struct wr_simulate_options *options)
{
    struct wr_simulator *simulator;
    struct weir_err err = {0};
    if (wr_simulator_new(&simulator, options, &err))
        fail_msg("%s", err.text);
    return simulator;
}

/* All but the times that rewrites took. */
static void simulate(struct wr_simulator *simulator, const struct wr_session *session,
                     struct wr_simulated *out)
{
    assert_int_equal(wr_simulate_session(simulator, session, out), WEIR_OK);
    for (int i = 0; i < WR_SIMULATE_LANES_MAX; i++) {
        memset(out->lanes[i].times_us, 0, sizeof(out->lanes[i].times_us));
        memset(out->unbarred[i].times_us, 0, sizeof(out->unbarred[i].times_us));
    }
}

static void simulate_once(const struct wr_simulate_options *options,
                          const struct wr_session *session, struct wr_simulated *out)
{
    struct wr_simulator *simulator = new_simulator(options);
    simulate(simulator, session, out);
    wr_simulator_free(simulator);
}

/* ---- names ---- */

static const struct {
    const char *behaviour, *names[3], *yaml;
    weir_status status;
    const char *words; /* of the error */
} cases[] = {
    {"presets and baselines", {"auto", "raw", "head-tail"}, "", WEIR_OK, NULL},
    {"another name of a preset",
     {"duckagent_recoverable_decay_guarded_mid", NULL, NULL},
     "",
     WEIR_OK,
     NULL},
    {"a user's own", {"mine", "auto", NULL}, own_yaml, WEIR_OK, NULL},
    {"a user's own beside a baseline that is a policy",
     {"mine", "exact-duplicates", NULL},
     own_yaml,
     WEIR_OK,
     NULL},
    {"a name that there is not", {"auto", "atuo", NULL}, "", WEIR_NOTFOUND, "'atuo'"},
    {"a user's own that was not given", {"mine", NULL, NULL}, "", WEIR_NOTFOUND, "'mine'"},
    {"no name at all", {"", NULL, NULL}, "", WEIR_NOTFOUND, "''"},
    {"a name in other letters", {"Auto", NULL, NULL}, "", WEIR_NOTFOUND, "'Auto'"},
    {"a user's own that is called like a baseline",
     {"raw", NULL, NULL},
     "policies: {raw: {stages: [{stage: cap}]}}",
     WEIR_INVALID,
     "another name"},
    {"policies that are wrong",
     {"auto", NULL, NULL},
     "policies: {x: {stages: [{stage: no}]}}",
     WEIR_INVALID,
     "no"},
};

static void a_name_is_known_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        uint32_t count = 0;
        while (count < 3 && cases[i].names[count])
            count++;
        struct wr_simulate_options options = options_of(cases[i].names, count);
        struct wr_simulator *simulator = NULL;
        struct weir_err err = {0};
        options.policies_yaml = wr_span_of(cases[i].yaml);
        weir_status status = wr_simulator_new(&simulator, &options, &err);
        if (status != cases[i].status || !simulator != (status != WEIR_OK))
            fail_msg("%s: %s", cases[i].behaviour, weir_status_text(status));
        if (cases[i].words && !strstr(err.text, cases[i].words))
            fail_msg("%s: \"%s\"", cases[i].behaviour, err.text);
        wr_simulator_free(simulator);
    }
}

static void more_than_there_are_lanes_are_refused(void **state)
{
    const char *names[WR_SIMULATE_LANES_MAX + 1];
    struct wr_simulator *simulator;
    (void)state;
    for (int i = 0; i <= WR_SIMULATE_LANES_MAX; i++)
        names[i] = "exact";
    struct wr_simulate_options options = options_of(names, WR_SIMULATE_LANES_MAX + 1);
    assert_int_equal(wr_simulator_new(&simulator, &options, NULL), WEIR_LIMIT);
    assert_null(simulator);
    options.policies_count--;
    assert_int_equal(wr_simulator_new(&simulator, &options, NULL), WEIR_OK);
    wr_simulator_free(simulator);
}

static void all_that_are_run_by_default_are_known(void **state)
{
    uint32_t count;
    const char *const *names = wr_simulate_all(&count);
    struct wr_simulate_options options = options_of(names, count);
    (void)state;
    wr_simulator_free(new_simulator(&options));
    options.policies_yaml = wr_span_of(own_yaml);
    wr_simulator_free(new_simulator(&options));
}

/* ---- lanes ---- */

static const char *const mixed[] = {"exact", "mine", "auto", "head-tail", "exact-duplicates"};
enum { MIXED = WR_COUNT_OF(mixed) };
static const struct test_play quoting = {.lines = 300, .quotes = true, .more = 3};

static void a_run_is_the_same_every_time(void **state)
{
    static struct wr_simulated first, again;
    struct test_played played;
    struct wr_simulate_options options = options_of(mixed, MIXED);
    (void)state;
    options.policies_yaml = wr_span_of(own_yaml);
    test_play_open(&played, &quoting);
    struct wr_simulator *simulator = new_simulator(&options);
    simulate(simulator, &played.session, &first);
    simulate(simulator, &played.session, &again);
    assert_memory_equal(&first, &again, sizeof(first));
    wr_simulator_free(simulator);
    simulate_once(&options, &played.session, &again);
    assert_memory_equal(&first, &again, sizeof(first));
    test_play_close(&played);
}

static void policies_do_not_touch_one_another(void **state)
{
    static struct wr_simulated together, alone;
    struct test_played played;
    struct wr_simulate_options options = options_of(mixed, MIXED);
    (void)state;
    options.policies_yaml = wr_span_of(own_yaml);
    test_play_open(&played, &quoting);
    simulate_once(&options, &played.session, &together);
    assert_true(together.lanes[1].recalls > 0); /* else there would be nothing to touch */
    for (uint32_t i = 0; i < MIXED; i++) {
        options.policies = mixed + i;
        options.policies_count = 1;
        simulate_once(&options, &played.session, &alone);
        if (memcmp(&together.lanes[i], &alone.lanes[0], sizeof(alone.lanes[0])))
            fail_msg("%s fares otherwise among others", mixed[i]);
        assert_int_equal(together.floor_micro_usd, alone.floor_micro_usd);
    }
    test_play_close(&played);
}

static void a_session_is_not_touched_by_the_one_before(void **state)
{
    static const struct test_play other = {
        .lines = 100, .quotes = true, .started = "another day at the river"};
    static struct wr_simulated first, again;
    struct test_played a, b;
    struct wr_simulate_options options = options_of(mixed, MIXED);
    (void)state;
    options.policies_yaml = wr_span_of(own_yaml);
    test_play_open(&a, &quoting);
    test_play_open(&b, &other);
    simulate_once(&options, &a.session, &first);
    struct wr_simulator *simulator = new_simulator(&options);
    simulate(simulator, &b.session, &again);
    simulate(simulator, &a.session, &again);
    assert_memory_equal(&first, &again, sizeof(first));
    wr_simulator_free(simulator);
    test_play_close(&a);
    test_play_close(&b);
}

static void raw_is_exact_and_the_floor_is_below_it(void **state)
{
    static const char *const names[] = {"exact", "raw"};
    static struct wr_simulated s;
    struct test_played played;
    struct wr_simulate_options options = options_of(names, 2);
    (void)state;
    test_play_open(&played, &quoting);
    simulate_once(&options, &played.session, &s);
    assert_memory_equal(&s.lanes[0], &s.lanes[1], sizeof(s.lanes[0]));
    assert_int_equal(s.requests_count, 6);
    assert_int_equal(s.lanes[0].requests, 6);
    assert_false(s.has_times);
    assert_true(s.floor_micro_usd > 0 && s.floor_micro_usd < s.lanes[0].cost_micro_usd);
    assert_true(s.floor_tokens > 0 && s.floor_tokens < s.lanes[0].prompt_tokens);
    test_play_close(&played);
}

/* A baseline that has nothing to cut sends what the agent sent: the same tools too. */
static void lanes_are_charged_for_the_same_tools(void **state)
{
    static const struct test_play play = {.lines = 20};
    static const char *const names[] = {"exact", "head-tail"};
    static struct wr_simulated with, without;
    struct test_played played;
    struct wr_simulate_options options = options_of(names, 2);
    (void)state;
    test_play_open(&played, &play);
    simulate_once(&options, &played.session, &with);
    options.without_recall = true;
    simulate_once(&options, &played.session, &without);
    assert_int_equal(with.lanes[0].prompt_tokens, with.lanes[1].prompt_tokens);
    assert_int_equal(without.lanes[0].prompt_tokens, without.lanes[1].prompt_tokens);
    assert_int_equal(without.lanes[0].cost_micro_usd, without.lanes[1].cost_micro_usd);
    assert_true(without.lanes[0].prompt_tokens < with.lanes[0].prompt_tokens);
    assert_true(without.floor_tokens < with.floor_tokens);
    test_play_close(&played);
}

/* The cache of this model is kept for five minutes. */
static void a_pause_lets_the_cache_expire(void **state)
{
    static const char *const names[] = {"exact"};
    static struct wr_simulated without, with;
    struct test_played played;
    struct wr_simulate_options options = options_of(names, 1);
    (void)state;
    test_play_open(&played, &quoting);
    simulate_once(&options, &played.session, &without);
    uint32_t count = played.session.messages_count;
    played.session.times_ms = WR_ARENA_ARRAY(&played.arena, int64_t, count);
    for (uint32_t i = 0; i < count; i++)
        played.session.times_ms[i] = NOON_MS + i + (i + 2 >= count ? HOUR_MS : 0);
    played.session.has_times = true;
    simulate_once(&options, &played.session, &with);
    assert_true(with.has_times);
    assert_int_equal(with.lanes[0].prompt_tokens, without.lanes[0].prompt_tokens);
    assert_true(with.lanes[0].read_tokens < without.lanes[0].read_tokens);
    assert_true(with.lanes[0].cost_micro_usd > without.lanes[0].cost_micro_usd);
    test_play_close(&played);
}

static void a_session_that_its_host_compacted_is_run(void **state)
{
    static const struct test_play play = {
        .lines = 300, .quotes = true, .more = 3, .is_compacted = true};
    static struct wr_simulated s, whole;
    struct test_played played, plain;
    struct wr_simulate_options options = options_of(mixed, MIXED);
    (void)state;
    options.policies_yaml = wr_span_of(own_yaml);
    test_play_open(&played, &play);
    test_play_open(&plain, &quoting);
    simulate_once(&options, &played.session, &s);
    simulate_once(&options, &plain.session, &whole);
    for (uint32_t i = 0; i < MIXED; i++) {
        assert_int_equal(s.lanes[i].requests, s.requests_count + s.lanes[i].recalls);
        assert_int_equal(s.lanes[i].prefix_violations + s.lanes[i].validation_failures, 0);
        assert_true(s.lanes[i].prompt_tokens < whole.lanes[i].prompt_tokens);
    }
    test_play_close(&played);
    test_play_close(&plain);
}

/* ---- thinking ---- */

enum { FULL_TOKENS = 14000, SHARP_TOKENS = 6000 };

/* In a window of FULL_TOKENS policies want a step inside a loop; one of SHARP_TOKENS forces it. */
static void simulate_thinking_in(uint32_t window_tokens, bool has_thinking, const char *model,
                                 struct wr_simulated *out)
{
    static const char *const names[] = {"exact", "auto", "compress", "head-tail"};
    static const struct test_play play = {.lines = 60, .more = 20};
    struct wr_simulate_options options = options_of(names, 4);
    struct test_played played;
    bool thinks[64] = {false};

    test_play_open(&played, &play);
    assert_true(played.session.messages_count <= 64);
    options.model = model;
    options.window_tokens = window_tokens;
    thinks[1] = has_thinking;
    played.session.thinks = thinks;
    played.session.has_thinking = has_thinking;
    simulate_once(&options, &played.session, out);
    test_play_close(&played);
}

static void simulate_thinking(bool has_thinking, const char *model, struct wr_simulated *out)
{
    simulate_thinking_in(FULL_TOKENS, has_thinking, model, out);
}

static void a_window_forces_steps_past_thinking(void **state)
{
    static struct wr_simulated s;
    (void)state;
    simulate_thinking_in(SHARP_TOKENS, true, "claude-sonnet-5-5", &s);
    assert_true(s.binds_thinking);
    assert_true(s.lanes[0].over_window > 0);
    assert_int_equal(s.lanes[1].over_window, 0);
    assert_true(s.lanes[1].steps > 0);
    /* What was written again is a part of what was written, and cost a part of the whole. */
    assert_int_equal(s.lanes[0].steps_tokens, 0);
    assert_true(s.lanes[1].steps_tokens > 0);
    assert_true(s.lanes[1].steps_tokens < s.lanes[1].written_tokens);
    assert_true(s.lanes[1].steps_micro_usd > 0);
    assert_true(s.lanes[1].steps_micro_usd < s.lanes[1].cost_micro_usd);
    assert_int_equal(s.lanes[1].validation_failures, 0);
}

static void thinking_bars_steps_inside_a_loop(void **state)
{
    static struct wr_simulated s, plain;
    uint64_t steps = 0;
    (void)state;
    simulate_thinking(true, "claude-sonnet-5-5", &s);
    simulate_thinking(false, "claude-sonnet-5-5", &plain);
    assert_true(s.binds_thinking);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(s.lanes[i].steps, 0);
        assert_int_equal(s.lanes[i].validation_failures, 0);
        assert_int_equal(s.unbarred[i].cost_micro_usd, plain.lanes[i].cost_micro_usd);
        assert_int_equal(s.unbarred[i].steps, plain.lanes[i].steps);
        steps += s.unbarred[i].steps;
    }
    assert_true(steps > 0); /* else there would be nothing to bar */
}

/* What the log does not say is not paid for. */
static void thinking_itself_costs_nothing(void **state)
{
    static struct wr_simulated s;
    (void)state;
    simulate_thinking(true, "claude-sonnet-5-5", &s);
    assert_int_equal(s.lanes[0].cost_micro_usd, s.unbarred[0].cost_micro_usd);
    assert_int_equal(s.lanes[3].cost_micro_usd, s.unbarred[3].cost_micro_usd);
}

static void a_model_that_does_not_bind_thinking_steps_as_ever(void **state)
{
    static struct wr_simulated s, plain;
    (void)state;
    simulate_thinking(true, "gpt-5.5", &s);
    simulate_thinking(false, "gpt-5.5", &plain);
    assert_false(s.binds_thinking);
    for (int i = 0; i < 4; i++)
        assert_int_equal(s.lanes[i].cost_micro_usd, plain.lanes[i].cost_micro_usd);
}

/* ---- what is lost ---- */

static void only_what_has_no_way_back_is_lost(void **state)
{
    static struct wr_simulated s;
    struct test_played played;
    struct wr_simulate_options options = options_of(mixed, MIXED);
    (void)state;
    options.policies_yaml = wr_span_of(own_yaml);
    test_play_open(&played, &quoting);
    simulate_once(&options, &played.session, &s);
    for (uint32_t i = 0; i < MIXED; i++)
        assert_int_equal(s.lanes[i].evidence.all[WR_EVIDENCE_LOST], i == 3);
    test_play_close(&played);
}

static void made_sessions_lose_nothing_under_any_policy(void **state)
{
    static const uint32_t windows[] = {WINDOW_TOKENS, NARROW_TOKENS};
    static struct wr_simulated s;
    struct made_session made;
    struct wr_session session;
    struct wr_arena arena;
    uint32_t count;
    uint64_t recalls = 0, steps = 0;
    const char *const *names = wr_simulate_all(&count);
    (void)state;
    for (uint64_t seed = 1; seed <= MADE_COUNT; seed++) {
        struct wr_simulate_options options = options_of(names, count);
        options.window_tokens = windows[seed % 2];
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        made_session_new(&made, seed);
        assert_int_equal(wr_session_read(&session, &arena, wr_buf_view(&made.lines), NULL),
                         WEIR_OK);
        simulate_once(&options, &session, &s);
        for (uint32_t i = 0; i < count; i++) {
            const struct wr_baseline_def *baseline = wr_baseline_find(wr_span_of(names[i]));
            const struct wr_lane_result *r = &s.lanes[i];
            if (baseline && !baseline->policy)
                continue;
            if (r->evidence.all[WR_EVIDENCE_LOST] || r->prefix_violations || r->validation_failures)
                fail_msg("%s, session %d: %llu lost, %llu prefixes and %llu validations broken",
                         names[i], (int)seed, (unsigned long long)r->evidence.all[WR_EVIDENCE_LOST],
                         (unsigned long long)r->prefix_violations,
                         (unsigned long long)r->validation_failures);
            recalls += r->recalls;
            steps += r->steps;
        }
        made_session_free(&made);
        wr_arena_release(&arena);
    }
    assert_true(recalls > 0 && steps > 0); /* else nothing was tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_known_or_refused),
        cmocka_unit_test(more_than_there_are_lanes_are_refused),
        cmocka_unit_test(all_that_are_run_by_default_are_known),
        cmocka_unit_test(a_run_is_the_same_every_time),
        cmocka_unit_test(policies_do_not_touch_one_another),
        cmocka_unit_test(a_session_is_not_touched_by_the_one_before),
        cmocka_unit_test(raw_is_exact_and_the_floor_is_below_it),
        cmocka_unit_test(lanes_are_charged_for_the_same_tools),
        cmocka_unit_test(a_pause_lets_the_cache_expire),
        cmocka_unit_test(a_session_that_its_host_compacted_is_run),
        cmocka_unit_test(thinking_bars_steps_inside_a_loop),
        cmocka_unit_test(a_window_forces_steps_past_thinking),
        cmocka_unit_test(thinking_itself_costs_nothing),
        cmocka_unit_test(a_model_that_does_not_bind_thinking_steps_as_ever),
        cmocka_unit_test(only_what_has_no_way_back_is_lost),
        cmocka_unit_test(made_sessions_lose_nothing_under_any_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
