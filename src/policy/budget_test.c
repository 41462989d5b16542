#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/span.h"
#include "tests/test_file.h"
#include "json/json.h"
#include "policy/budget.h"
#include "policy/policy.h"

#define NONE UINT64_MAX

static const struct {
    const char *behaviour;
    uint64_t window, reserve, used; /* NONE: not known */
    uint64_t usable, basis_points;
    enum wr_band band;
    uint64_t floor;
    enum wr_confidence confidence; /* of an exact count */
} pressures[] = {
    {"no window, no pressure", NONE, 4096, 8000, NONE, NONE, WR_BAND_UNKNOWN, 2000,
     WR_CONFIDENCE_LOW},
    {"a window of zero", 0, 0, 5000, 0, NONE, WR_BAND_UNKNOWN, 1000, WR_CONFIDENCE_LOW},
    {"a reserve larger than the window", 4096, 8000, 0, NONE, NONE, WR_BAND_UNKNOWN, 1000,
     WR_CONFIDENCE_LOW},
    {"a reserve that takes all of it", 4096, 4096, 5000, 0, NONE, WR_BAND_UNKNOWN, 1000,
     WR_CONFIDENCE_LOW},
    {"nothing used", 200000, 8000, 0, 192000, 0, WR_BAND_LOW, 8000, WR_CONFIDENCE_HIGH},
    {"just below moderate", 10000, 0, 4999, 10000, 4999, WR_BAND_LOW, 1000, WR_CONFIDENCE_HIGH},
    {"moderate", 10000, 0, 5000, 10000, 5000, WR_BAND_MODERATE, 1000, WR_CONFIDENCE_HIGH},
    {"just below high", 10000, 0, 7499, 10000, 7499, WR_BAND_MODERATE, 1000, WR_CONFIDENCE_HIGH},
    {"high", 10000, 0, 7500, 10000, 7500, WR_BAND_HIGH, 1000, WR_CONFIDENCE_HIGH},
    {"critical", 10000, 0, 9000, 10000, 9000, WR_BAND_CRITICAL, 1000, WR_CONFIDENCE_HIGH},
    {"exhausted", 10000, 0, 10000, 10000, 10000, WR_BAND_EXHAUSTED, 1000, WR_CONFIDENCE_HIGH},
    {"far past it", 4096, 0, 999999, 4096, 2441403, WR_BAND_EXHAUSTED, 1000, WR_CONFIDENCE_HIGH},
    {"the floor is a twentieth", 128000, 4096, 5000, 123904, 403, WR_BAND_LOW, 6195,
     WR_CONFIDENCE_HIGH},
    {"no sum wraps", 1, 0, UINT64_MAX - 1, 1, UINT32_MAX, WR_BAND_EXHAUSTED, 1000,
     WR_CONFIDENCE_HIGH},
};

static void check_pressure(const char *behaviour, const struct wr_pressure_input *input,
                           uint64_t usable, uint64_t basis_points, enum wr_band band,
                           uint64_t floor)
{
    struct wr_pressure got = wr_pressure(input);
    if (got.usable_known != (usable != NONE) || (got.usable_known && got.usable_tokens != usable) ||
        got.known != (basis_points != NONE) || (got.known && got.basis_points != basis_points) ||
        got.band != band || got.floor_tokens != floor)
        fail_msg("%s: window %llu reserve %llu used %llu gave %u bp, band %s, floor %llu",
                 behaviour, (unsigned long long)input->window_tokens,
                 (unsigned long long)input->reserve_tokens, (unsigned long long)input->used_tokens,
                 got.basis_points, wr_band_text(got.band), (unsigned long long)got.floor_tokens);
}

static void pressure(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(pressures); i++) {
        struct wr_pressure_input input = {
            .window_known = pressures[i].window != NONE,
            .window_tokens = pressures[i].window == NONE ? 0 : pressures[i].window,
            .reserve_tokens = pressures[i].reserve,
            .used_tokens = pressures[i].used,
            .used_source = WR_COUNT_EXACT,
        };
        check_pressure(pressures[i].behaviour, &input, pressures[i].usable,
                       pressures[i].basis_points, pressures[i].band, pressures[i].floor);
        if (wr_pressure(&input).confidence != pressures[i].confidence)
            fail_msg("%s: confidence", pressures[i].behaviour);
    }
}

struct fixture {
    struct wr_buf text;
    struct wr_arena arena;
    struct wr_json doc;
};

static bool open_fixture(struct fixture *fixture, const char *path)
{
    wr_buf_init(&fixture->text, 1 << 20);
    wr_arena_init(&fixture->arena, 1 << 24);
    if (!wr_test_file(path, &fixture->text))
        return false;
    assert_int_equal(
        wr_json_parse(&fixture->doc, &fixture->arena, wr_buf_view(&fixture->text), NULL, NULL),
        WEIR_OK);
    return true;
}

static void close_fixture(struct fixture *fixture)
{
    wr_buf_release(&fixture->text);
    wr_arena_release(&fixture->arena);
}

/* A number, or NONE for null. */
static uint64_t number(const struct wr_json *doc, wr_json_id object, const char *key)
{
    int64_t n;
    wr_json_id id = wr_json_find(doc, object, key);
    assert_int_not_equal(id, WR_JSON_NONE);
    if (wr_json_kind(doc, id) == WR_JSON_NULL)
        return NONE;
    assert_true(wr_json_i64(doc, id, &n));
    return (uint64_t)n;
}

static enum wr_band band_named(const struct wr_json *doc, wr_json_id object)
{
    wr_json_id id = wr_json_find(doc, object, "band");
    int band = WR_BAND_UNKNOWN;
    while (band < WR_BAND_EXHAUSTED && !wr_json_text_is(doc, id, wr_band_text((enum wr_band)band)))
        band++;
    assert_true(wr_json_text_is(doc, id, wr_band_text((enum wr_band)band)));
    return (enum wr_band)band;
}

static void pressure_of_the_fixture(void **state)
{
    static const char *const rooms[] = {"minimal", "condensed", "large", "exact"};
    struct fixture f;
    (void)state;
    if (open_fixture(&f, "../shared/fixtures/prodex-numbers.json")) {
        wr_json_id rows = wr_json_find(&f.doc, 0, "pressure");
        assert_int_equal(wr_json_count(&f.doc, rows), 108);
        for (wr_json_id row = wr_json_first(&f.doc, rows); row != WR_JSON_NONE;
             row = wr_json_next(&f.doc, rows, row)) {
            uint64_t window = number(&f.doc, row, "window");
            struct wr_pressure_input input = {
                .window_known = window != NONE,
                .window_tokens = window == NONE ? 0 : window,
                .reserve_tokens = number(&f.doc, row, "reserved_output"),
                .used_tokens = number(&f.doc, row, "used"),
                .used_source = WR_COUNT_ESTIMATE,
            };
            check_pressure("fixture", &input, number(&f.doc, row, "usable"),
                           number(&f.doc, row, "pressure_basis_points"), band_named(&f.doc, row),
                           number(&f.doc, row, "absolute_safety_floor"));
        }
        rows = wr_json_find(&f.doc, 0, "tiers");
        assert_int_equal(wr_json_count(&f.doc, rows), 8);
        for (wr_json_id row = wr_json_first(&f.doc, rows); row != WR_JSON_NONE;
             row = wr_json_next(&f.doc, rows, row))
            assert_true(wr_json_text_is(&f.doc, wr_json_find(&f.doc, row, "tier"),
                                        rooms[wr_room_of(number(&f.doc, row, "available"))]));
    }
    close_fixture(&f);
}

static const struct {
    const char *behaviour;
    uint64_t window, used; /* NONE: not known */
    enum wr_budget_mode mode;
    uint64_t inline_bytes, rehydrate_tokens;
    unsigned reasons;
} plans[] = {
    {"plenty of room: everything as it is", 100000, 10000, WR_MODE_EXACT_PASS_THROUGH, NONE, 90000,
     WR_REASON_PLENTY_OF_BUDGET},
    {"moderate room", 100000, 90000, WR_MODE_LARGE_LOSSLESS, 32768, 10000,
     WR_REASON_MODERATE_BUDGET},
    {"moderate room with much to bring back", 100000, 85000, WR_MODE_LARGE_LOSSLESS, 32768, 12000,
     WR_REASON_MODERATE_BUDGET},
    {"tight", 100000, 95000, WR_MODE_ARTIFACT_CONDENSED, 8192, 4000, WR_REASON_TIGHT_BUDGET},
    {"critical", 100000, 99500, WR_MODE_MINIMAL_REFS_ONLY, 1024, 500, WR_REASON_CRITICAL_BUDGET},
    {"an unknown window passes through", NONE, 5000, WR_MODE_EXACT_PASS_THROUGH, NONE, NONE,
     WR_REASON_UNKNOWN_TOKEN_WINDOW},
    {"a window of zero is unsafe", 0, 5000, WR_MODE_EXACT_PASS_THROUGH, NONE, 0,
     WR_REASON_UNSAFE_ACCOUNTING},
};

static void planning(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(plans); i++) {
        struct wr_pressure_input input = {
            .window_known = plans[i].window != NONE,
            .window_tokens = plans[i].window == NONE ? 0 : plans[i].window,
            .used_tokens = plans[i].used,
            .used_source = WR_COUNT_EXACT,
        };
        struct wr_pressure at = wr_pressure(&input);
        struct wr_budget_plan plan = wr_budget_plan(&at);
        if (plan.mode != plans[i].mode || plan.inline_bytes_max != plans[i].inline_bytes ||
            plan.rehydrate_tokens_max != plans[i].rehydrate_tokens ||
            plan.reasons != plans[i].reasons)
            fail_msg("%s: %s, %llu bytes, %llu tokens, reasons %u", plans[i].behaviour,
                     wr_budget_mode_text(plan.mode), (unsigned long long)plan.inline_bytes_max,
                     (unsigned long long)plan.rehydrate_tokens_max, plan.reasons);
    }
    assert_string_equal(wr_budget_reason_text(WR_REASON_UNSAFE_ACCOUNTING), "unsafe_accounting");
}

static const struct {
    const char *behaviour;
    struct wr_render_input input;
    uint64_t tokens;
} renders[] = {
    {"everything is subtracted",
     {.limit_tokens = 200000,
      .system_tokens = 3000,
      .directive_tokens = 1000,
      .tool_tokens = 5000,
      .output_tokens_max = 8192},
     200000 - 4000 - 5000 - 8192 - 20000},
    {"the history cap binds",
     {.limit_tokens = 200000, .output_tokens_max = 8192, .history_tokens_max = 20000},
     20000},
    {"the window binds",
     {.limit_tokens = 10000, .output_tokens_max = 8192, .history_tokens_max = 20000},
     808},
    {"nothing left is nothing, not a wrap", {.limit_tokens = 8000, .system_tokens = 9000}, 0},
    {"no cap", {.limit_tokens = 1000000}, 900000},
};

static void rendering(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(renders); i++)
        if (wr_render_budget(&renders[i].input) != renders[i].tokens)
            fail_msg("%s: %llu", renders[i].behaviour,
                     (unsigned long long)wr_render_budget(&renders[i].input));
    assert_int_equal(wr_loop_budget(150000, 8192), 150000 - 8192 - 15000);
}

static void actor_limits(void **state)
{
    static const uint32_t rows[][2] = {{0, 100},       {1000, 100},    {10199, 100},
                                       {10200, 102},   {32000, 320},   {199999, 1998},
                                       {200000, 2000}, {4000000, 2000}};
    struct fixture f;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        assert_int_equal(wr_actor_message_limit(rows[i][0]), rows[i][1]);
    if (open_fixture(&f, "../shared/fixtures/duragent.json")) {
        wr_json_id list = wr_json_find(&f.doc, 0, "actor_message_limit");
        assert_int_equal(wr_json_count(&f.doc, list), 7);
        for (wr_json_id row = wr_json_first(&f.doc, list); row != WR_JSON_NONE;
             row = wr_json_next(&f.doc, list, row))
            assert_int_equal(wr_actor_message_limit(number(&f.doc, row, "max_input_tokens")),
                             number(&f.doc, row, "limit"));
    }
    close_fixture(&f);
}

static void guarded_mid(void **state)
{
    (void)state;
    assert_int_equal(wr_guarded_mid_trigger(0), 25600);
    assert_int_equal(wr_guarded_mid_trigger(128000), 102400);
    assert_int_equal(wr_guarded_mid_trigger(199999), 159999);
    assert_int_equal(wr_guarded_mid_trigger(200000), 170000);
}

static const struct {
    const char *behaviour;
    struct wr_compress_input input;
    bool due;
} compressions[] = {
    {"at the threshold: not yet",
     {.system_tokens = 10000,
      .content_tokens = 60000,
      .argument_tokens = 10000,
      .window_tokens = 100000,
      .run_tokens_remaining = NONE},
     false},
    {"one token over: now",
     {.system_tokens = 10000,
      .content_tokens = 60000,
      .argument_tokens = 10001,
      .window_tokens = 100000,
      .run_tokens_remaining = NONE},
     true},
    {"the remaining budget binds where it is smaller",
     {.content_tokens = 41000, .window_tokens = 100000, .run_tokens_remaining = 50000},
     true},
    {"an unknown window does not bind",
     {.content_tokens = 41000, .run_tokens_remaining = NONE},
     false},
    {"the threshold is a parameter",
     {.content_tokens = 51000,
      .window_tokens = 100000,
      .run_tokens_remaining = NONE,
      .threshold_bp = 5000},
     true},
    {"a share that is not whole: 0.8 of 3 is 2.4, 2 is not over",
     {.content_tokens = 2, .window_tokens = 3, .run_tokens_remaining = NONE},
     false},
    {"but 3 is", {.content_tokens = 3, .window_tokens = 3, .run_tokens_remaining = NONE}, true},
};

static void compressing(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(compressions); i++)
        if (wr_compress_due(&compressions[i].input) != compressions[i].due)
            fail_msg("%s", compressions[i].behaviour);
}

/* The size at which the preset's stage with this name acts. */
static uint64_t tiered_at(const char *name, uint64_t window_tokens)
{
    const struct wr_policy *policy = wr_policy_find(WR_LIT("tiered"));
    struct wr_stage_room room = {.window_tokens = window_tokens};

    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (!strcmp(policy->stages[i].def->name, name))
            return wr_stage_when(&policy->stages[i], &room).at_tokens;
    return 0;
}

static void tiered(void **state)
{
    struct fixture f;
    (void)state;
    assert_int_equal(tiered_at("clear", 65536), 39321);
    assert_int_equal(tiered_at("clear", 0), 60000);
    assert_int_equal(tiered_at("summary", 0), 170000);
    assert_int_equal(wr_tiered_keep_recent(99999), 3);
    if (open_fixture(&f, "../shared/fixtures/jutul.json")) {
        static const char *const lists[] = {"clear_trigger", "summarize_trigger", "keep_recent"};
        for (size_t i = 0; i < 3; i++) {
            wr_json_id list = wr_json_find(&f.doc, 0, lists[i]);
            assert_true(wr_json_count(&f.doc, list) >= 3);
            for (wr_json_id row = wr_json_first(&f.doc, list); row != WR_JSON_NONE;
                 row = wr_json_next(&f.doc, list, row)) {
                uint64_t window = number(&f.doc, row, "window");
                window = window == NONE ? 0 : window;
                uint64_t want = number(&f.doc, row, i == 2 ? "keep" : "trigger");
                uint64_t got = i == 0   ? tiered_at("clear", window)
                               : i == 1 ? tiered_at("summary", window)
                                        : wr_tiered_keep_recent(window);
                if (got != want)
                    fail_msg("%s of %llu", lists[i], (unsigned long long)window);
            }
        }
    }
    close_fixture(&f);
}

static const struct {
    const char *behaviour;
    struct wr_run_used used;
    uint64_t prompt_tokens, window_tokens;
    bool compress;
    enum wr_run_limit limit;
} runs[] = {
    {"a fresh run goes on", {0}, 1000, 200000, false, WR_RUN_LIMIT_NONE},
    {"one below every limit",
     {.tokens = 999999,
      .turns = 199,
      .tool_calls = 199,
      .cost_micro_usd = 1999999,
      .elapsed_ms = 1799999},
     0,
     200000,
     false,
     WR_RUN_LIMIT_NONE},
    {"tokens reached", {.tokens = 1000000}, 0, 200000, false, WR_RUN_LIMIT_TOKENS},
    {"turns reached", {.turns = 200}, 0, 200000, false, WR_RUN_LIMIT_TURNS},
    {"tool calls reached", {.tool_calls = 200}, 0, 200000, false, WR_RUN_LIMIT_TOOL_CALLS},
    {"two dollars spent", {.cost_micro_usd = 2000000}, 0, 200000, false, WR_RUN_LIMIT_COST},
    {"half an hour gone", {.elapsed_ms = 1800000}, 0, 200000, false, WR_RUN_LIMIT_TIME},
    {"the first of several is named",
     {.turns = 500, .elapsed_ms = 9999999},
     0,
     200000,
     false,
     WR_RUN_LIMIT_TURNS},
    {"a full window compresses", {0}, 170000, 200000, true, WR_RUN_LIMIT_NONE},
    {"little budget left compresses before it aborts",
     {.tokens = 900000},
     90000,
     200000,
     true,
     WR_RUN_LIMIT_NONE},
    {"compression is looked at even where the run must stop",
     {.tokens = 1000000},
     10,
     200000,
     true,
     WR_RUN_LIMIT_TOKENS},
};

static void verdicts(void **state)
{
    struct wr_run_limits limits = wr_run_limits_default();
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(runs); i++) {
        struct wr_compress_input prompt = {.content_tokens = runs[i].prompt_tokens,
                                           .window_tokens = runs[i].window_tokens};
        struct wr_run_verdict verdict = wr_run_check(&limits, &runs[i].used, &prompt);
        if (verdict.compress != runs[i].compress || verdict.limit != runs[i].limit ||
            verdict.aborted != (runs[i].limit != WR_RUN_LIMIT_NONE))
            fail_msg("%s: compress %d, limit %s", runs[i].behaviour, verdict.compress,
                     wr_run_limit_text(verdict.limit));
    }
}

static void each_is_configurable(void **state)
{
    struct wr_run_limits none = {0}, two_turns = {.turns_max = 2};
    struct wr_run_used used = {.tokens = UINT64_MAX,
                               .turns = 2,
                               .tool_calls = UINT64_MAX,
                               .cost_micro_usd = UINT64_MAX,
                               .elapsed_ms = UINT64_MAX};
    struct wr_compress_input prompt = {.content_tokens = 1, .window_tokens = 1000};
    (void)state;
    assert_false(wr_run_check(&none, &used, &prompt).aborted);
    assert_false(wr_run_check(&none, &used, &prompt).compress);
    assert_int_equal(wr_run_check(&two_turns, &used, &prompt).limit, WR_RUN_LIMIT_TURNS);
    assert_string_equal(wr_run_limit_text(WR_RUN_LIMIT_COST), "cost");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pressure),     cmocka_unit_test(pressure_of_the_fixture),
        cmocka_unit_test(planning),     cmocka_unit_test(rendering),
        cmocka_unit_test(actor_limits), cmocka_unit_test(guarded_mid),
        cmocka_unit_test(compressing),  cmocka_unit_test(tiered),
        cmocka_unit_test(verdicts),     cmocka_unit_test(each_is_configurable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
