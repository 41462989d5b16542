/* Workloads in token counts: sums done by hand, what is refused, and the recorded files where they
 * are present. */
#include "lab/workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

#define FIXTURES "../shared/fixtures/"

/* 2.5, 0.25 and 15 dollars a million; 4620 tokens of prefix; 1024 tokens and then steps of 128. */
#define PRICES(input, cached, step, context)                                                     \
    "{\"metadata\":{\"name\":\"p\"},\"pricing\":{\"input_per_million\":" input                   \
    ",\"cached_input_per_million\":" cached ",\"output_per_million\":15.0},\"cache\":{"          \
    "\"min_tokens\":1024,\"step_tokens\":" step "},\"limits\":{\"context_tokens\":" context "}," \
    "\"simulation\":{\"system_tokens\":1800,\"tool_schema_tokens\":2400,"                        \
    "\"memory_catalog_tokens\":420,\"loop_compaction_overhead_tokens\":96,"                      \
    "\"snapshot_overhead_tokens\":256,\"context_threshold_tokens\":14000,"                       \
    "\"keep_recent_loops_on_snapshot\":1,\"compaction_output_tokens_per_loop\":180,"             \
    "\"recovery_model_overhead_tokens\":1400,\"failure_penalty_cost\":0.02}}"
#define GOOD PRICES("2.5", "0.25", "128", "1050000")

#define CHAT    "{\"user_tokens\":180,\"assistant_final_tokens\":720}"
#define CHAT_ON "{\"user_tokens\":150,\"assistant_final_tokens\":640}"
#define LOOKS(needs)                                                                          \
    "{\"user_tokens\":100,\"assistant_final_tokens\":200,\"tool_calls\":[{\"capability\":"    \
    "\"read_file\",\"purpose_tokens\":30,\"args_tokens\":42,\"outputs\":{\"raw\":5000,"       \
    "\"exact_excerpt\":900,\"summary\":260,\"handle\":80},\"preserve\":\"working_evidence\"," \
    "\"recovery_tokens\":{\"exact_evidence\":1000,\"local_detail\":600}}],"                   \
    "\"dependency_probabilities\":{" needs "}}"
#define LOOPS(loops) "{\"workloads\":[{\"name\":\"w\",\"loops\":[" loops "]}]}"

static uint32_t policy_of(const char *name)
{
    for (uint32_t i = 0; i < wr_workload_policies_count(); i++)
        if (!strcmp(wr_workload_policy_name(i), name))
            return i;
    fail_msg("there is no policy %s", name);
    return 0;
}

static void run(const char *workload, const char *prices, const char *policy,
                struct wr_workload_result *result)
{
    struct wr_workload_file file;
    struct wr_workload_prices p;
    struct weir_err err = {0};
    struct wr_arena arena;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (wr_workload_read(&file, &arena, wr_span_of(workload), &err) ||
        wr_workload_prices_read(&p, &arena, wr_span_of(prices), &err))
        fail_msg("%s", err.text);
    assert_int_equal(wr_workload_run(&file.workloads[0], policy_of(policy), &p, &arena, result),
                     WEIR_OK);
    wr_arena_release(&arena);
}

/* ---- by hand ---- */

static const struct {
    const char *behaviour, *workload, *policy;
    uint64_t requests, input_tokens, cached_tokens, output_tokens;
    double recovery_calls, usd;
} sums[] = {
    /* 4800 in, 720 out; then 4800 + 720 + 150 in, of which 1024 + 29 * 128 were there. */
    {"chat: the first prompt is read from cache in steps", LOOPS(CHAT "," CHAT_ON), "raw-snapshot",
     2, 4800 + 5670, 4736, 1360, 0,
     (4800 * 2.5 + 720 * 15 + 4736 * 0.25 + 934 * 2.5 + 640 * 15) / 1e6},
    /* 4720 in, 100 out (the call); then 100 + 5000 more, of which 1024 + 28 * 128 were there. */
    {"a raw result is all there, and nothing is recovered", LOOPS(LOOKS("\"exact_evidence\":1")),
     "raw-snapshot", 2, 4720 + 9820, 4608, 300, 0,
     (4720 * 2.5 + 100 * 15 + 4608 * 0.25 + 5212 * 2.5 + 200 * 15) / 1e6},
    /* The same with 340 tokens of summary and handle; half the time 1000 + 1400 are read again. */
    {"a summary is cheaper to carry, and costs a recovery where the lines are needed",
     LOOPS(LOOKS("\"exact_evidence\":0.5,\"none\":0.5")), "immediate-summary", 2, 4720 + 5160, 4608,
     300, 0.5,
     (4720 * 2.5 + 100 * 15 + 4608 * 0.25 + 552 * 2.5 + 200 * 15) / 1e6 +
         0.5 * (2400 * 2.5 + 64 * 15) / 1e6},
    {"an excerpt has them", LOOPS(LOOKS("\"exact_evidence\":1")), "adaptive-first", 2, 4720 + 5800,
     4608, 300, 0, (4720 * 2.5 + 100 * 15 + 4608 * 0.25 + 1192 * 2.5 + 200 * 15) / 1e6},
    {"raw content is brought back whole", LOOPS(LOOKS("\"raw_content\":1")), "adaptive-first", 2,
     4720 + 5800, 4608, 300, 1,
     (4720 * 2.5 + 100 * 15 + 4608 * 0.25 + 1192 * 2.5 + 200 * 15) / 1e6 +
         (6400 * 2.5 + 64 * 15) / 1e6},
    /* The loop that is over has 100 + 200 + 100 + 980; the prefix and the user's words are there.
     */
    {"guarded-mid: the current loop is raw, the one that is over has an excerpt",
     LOOPS(LOOKS("\"none\":1") "," CHAT_ON), "guarded-mid", 3, 4720 + 9820 + 6150, 4608 + 4608, 940,
     0,
     (4720 * 2.5 + 100 * 15 + 4608 * 0.25 + 5212 * 2.5 + 200 * 15 + 4608 * 0.25 + 1542 * 2.5 +
      640 * 15) /
         1e6},
    {"guarded-mid: raw content comes back as an excerpt", LOOPS(LOOKS("\"raw_content\":1")),
     "guarded-mid", 2, 4720 + 9820, 4608, 300, 1,
     (4720 * 2.5 + 100 * 15 + 4608 * 0.25 + 5212 * 2.5 + 200 * 15) / 1e6 +
         ((1080 + 1400) * 2.5 + 64 * 15) / 1e6},
};

static void sums_done_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(sums); i++) {
        struct wr_workload_result r;
        run(sums[i].workload, GOOD, sums[i].policy, &r);
        if (r.requests != sums[i].requests || r.input_tokens != sums[i].input_tokens ||
            r.cached_tokens != sums[i].cached_tokens || r.output_tokens != sums[i].output_tokens ||
            fabs(r.recovery_calls - sums[i].recovery_calls) > 1e-9 ||
            fabs(wr_workload_usd(&r) - sums[i].usd) > 1e-9)
            fail_msg("%s: %llu requests, %llu in, %llu cached, %llu out, %f recoveries, %.9f USD "
                     "and not %.9f",
                     sums[i].behaviour, (unsigned long long)r.requests,
                     (unsigned long long)r.input_tokens, (unsigned long long)r.cached_tokens,
                     (unsigned long long)r.output_tokens, r.recovery_calls, wr_workload_usd(&r),
                     sums[i].usd);
    }
}

static void a_window_too_small_ends_the_run(void **state)
{
    struct wr_workload_result r;
    (void)state;
    run(LOOPS(CHAT "," CHAT_ON), PRICES("2.5", "0.25", "128", "4700"), "raw-snapshot", &r);
    assert_int_equal(r.over_limit, 1);
    assert_int_equal(r.turns_completed, 0);
    assert_true(fabs(r.penalty_usd - 0.02) < 1e-12);
}

static void the_report_ranks_policies(void **state)
{
    struct wr_workload_file file;
    struct wr_workload_prices p;
    struct wr_json doc;
    struct wr_arena arena;
    struct wr_buf out;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&out, 1 << 20);
    assert_int_equal(
        wr_workload_read(&file, &arena, WR_LIT(LOOPS(LOOKS("\"none\":1") "," CHAT_ON)), NULL),
        WEIR_OK);
    assert_int_equal(wr_workload_prices_read(&p, &arena, WR_LIT(GOOD), NULL), WEIR_OK);
    assert_int_equal(wr_workload_report(&file, &p, 1, true, &out), WEIR_OK);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&out), NULL, NULL), WEIR_OK);
    wr_json_id profile = wr_json_first(&doc, wr_json_find(&doc, 0, "profiles"));
    wr_json_id policies = wr_json_find(&doc, profile, "policies");
    assert_int_equal(wr_json_count(&doc, policies), wr_workload_policies_count());
    assert_true(wr_json_text_is(&doc, wr_json_find(&doc, wr_json_first(&doc, policies), "policy"),
                                "immediate-summary"));
    wr_buf_reset(&out);
    assert_int_equal(wr_workload_report(&file, &p, 1, false, &out), WEIR_OK);
    assert_true(wr_span_find(wr_buf_view(&out), WR_LIT("immediate-summary"), 0) <
                wr_span_find(wr_buf_view(&out), WR_LIT("raw-snapshot"), 0));
    assert_true(wr_span_find(wr_buf_view(&out), WR_LIT(" 100.0% "), 0) != SIZE_MAX);
    wr_buf_release(&out);
    wr_arena_release(&arena);
}

/* ---- what is refused ---- */

static const struct {
    const char *behaviour, *text;
    weir_status status;
    bool are_prices;
} refused[] = {
    {"a workload that is no JSON", "{\"workloads\":[", WEIR_SYNTAX, false},
    {"no workloads", "{}", WEIR_INVALID, false},
    {"an empty list of them", "{\"workloads\":[]}", WEIR_INVALID, false},
    {"a workload without loops", "{\"workloads\":[{}]}", WEIR_INVALID, false},
    {"a loop without tokens", LOOPS("{\"user_tokens\":1}"), WEIR_INVALID, false},
    {"a loop that is no object", LOOPS("7"), WEIR_INVALID, false},
    {"tokens below zero", LOOPS("{\"user_tokens\":-1,\"assistant_final_tokens\":1}"), WEIR_INVALID,
     false},
    {"half a token", LOOPS("{\"user_tokens\":0.5,\"assistant_final_tokens\":1}"), WEIR_INVALID,
     false},
    {"more tokens than there are", LOOPS("{\"user_tokens\":1,\"assistant_final_tokens\":1e12}"),
     WEIR_INVALID, false},
    {"a probability that is none", LOOPS(LOOKS("\"none\":-1")), WEIR_INVALID, false},
    {"prices that are no JSON", "x", WEIR_SYNTAX, true},
    {"no prices", "{}", WEIR_INVALID, true},
    {"a price below zero", PRICES("-2.5", "0.25", "128", "1000"), WEIR_INVALID, true},
    {"a price that is text", PRICES("\"2.5\"", "0.25", "128", "1000"), WEIR_INVALID, true},
    {"a cache that costs more than none", PRICES("2.5", "2.6", "128", "1000"), WEIR_INVALID, true},
    {"steps of nothing", PRICES("2.5", "0.25", "0", "1000"), WEIR_INVALID, true},
};

static void impossible_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(refused); i++) {
        struct wr_workload_file file;
        struct wr_workload_prices p;
        struct weir_err err = {0};
        struct wr_arena arena;
        weir_span text = wr_span_of(refused[i].text);
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        weir_status status = refused[i].are_prices ? wr_workload_prices_read(&p, &arena, text, &err)
                                                   : wr_workload_read(&file, &arena, text, &err);
        if (status != refused[i].status || !err.text[0])
            fail_msg("%s: %s, \"%s\"", refused[i].behaviour, weir_status_text(status), err.text);
        wr_arena_release(&arena);
    }
}

/* ---- the recorded files ---- */

static bool read_file(struct wr_buf *into, const char *path)
{
    FILE *file = fopen(path, "rb");
    wr_buf_init(into, 1 << 20);
    wr_buf_reserve(into, 1 << 19);
    if (!file)
        return false;
    into->len = fread(into->bytes, 1, 1 << 19, file);
    fclose(file);
    return true;
}

static const char *const profiles[] = {"default",
                                       "openai-gpt-5.4",
                                       "openai-gpt-5.5",
                                       "openai-gpt-5.4-mini",
                                       "kimi-k2.6",
                                       "deepseek-chat",
                                       "deepseek-v4-flash",
                                       "deepseek-v4-pro-promo",
                                       "deepseek-v4-pro-regular",
                                       "anthropic-claude-sonnet-4"};

/* Fifteen turns in 28 requests, whatever the policy; shortening on arrival is cheapest everywhere,
 * and whatever shortens costs less than raw. */
static void check_profile(const struct wr_workload_file *file, struct wr_arena *arena,
                          const char *profile)
{
    struct wr_workload_result totals[WR_WORKLOAD_POLICIES_MAX] = {{0}};
    struct wr_workload_prices p;
    struct wr_buf text;
    char path[256];
    (void)snprintf(path, sizeof(path), FIXTURES "duckagent-pricing/%s.json", profile);
    assert_true(read_file(&text, path));
    assert_int_equal(wr_workload_prices_read(&p, arena, wr_buf_view(&text), NULL), WEIR_OK);
    for (uint32_t k = 0; k < wr_workload_policies_count(); k++)
        for (uint32_t i = 0; i < file->count; i++) {
            struct wr_workload_result r;
            assert_int_equal(wr_workload_run(&file->workloads[i], k, &p, arena, &r), WEIR_OK);
            wr_workload_result_add(&totals[k], &r);
        }
    for (uint32_t k = 0; k < wr_workload_policies_count(); k++) {
        double usd = wr_workload_usd(&totals[k]);
        assert_int_equal(totals[k].turns_completed, 15);
        assert_int_equal(totals[k].requests, 28);
        assert_int_equal(totals[k].over_limit, 0);
        if (k != policy_of("immediate-summary") &&
            usd <= wr_workload_usd(&totals[policy_of("immediate-summary")]))
            fail_msg("%s: %s is cheapest", profile, totals[k].policy);
        if (k && usd >= wr_workload_usd(&totals[0]))
            fail_msg("%s: %s is dearer than raw", profile, totals[k].policy);
    }
    wr_buf_release(&text);
}

static void the_recorded_workloads(void **state)
{
    struct wr_workload_file file;
    struct wr_arena arena;
    struct wr_buf text;
    (void)state;
    if (!read_file(&text, FIXTURES "duckagent-workloads/default.json")) {
        print_message("skipped: " FIXTURES " is not there\n");
        wr_buf_release(&text);
        skip();
    }
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_workload_read(&file, &arena, wr_buf_view(&text), NULL), WEIR_OK);
    assert_int_equal(file.count, 6);
    for (size_t i = 0; i < WR_COUNT_OF(profiles); i++)
        check_profile(&file, &arena, profiles[i]);
    wr_arena_release(&arena);
    wr_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_done_by_hand),
        cmocka_unit_test(a_window_too_small_ends_the_run),
        cmocka_unit_test(the_report_ranks_policies),
        cmocka_unit_test(impossible_files_are_refused),
        cmocka_unit_test(the_recorded_workloads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
