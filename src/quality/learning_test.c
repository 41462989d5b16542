#include "quality/learning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

/* In a table that is static: WR_LIT() is no constant there. */
#define TEXT(s)             \
    {                       \
        "" s, sizeof(s) - 1 \
    }

#define WHOLE                                                                              \
    {                                                                                      \
        .route = TEXT("messages"), .model = TEXT("claude-opus-5"), .policy = TEXT("auto"), \
        .provider = TEXT("anthropic"), .window = TEXT("1m"), .length = TEXT("long"),       \
        .task = TEXT("coding"), .transform = TEXT("condensed"),                            \
    }

static const struct wr_bucket_key whole = WHOLE;

static const char whole_name[] = "route=messages model=claude-opus-5 policy=auto "
                                 "provider=anthropic window=1m length=long task=coding "
                                 "transform=condensed";

static void a_bucket_is_named_by_what_is_known(void **state)
{
    char name[WR_QUALITY_BUCKET_BYTES_MAX + 1];
    (void)state;
    wr_bucket_name(&whole, name);
    assert_string_equal(name, whole_name);
    struct wr_bucket_key some = {.model = TEXT("my model\n= x"), .length = TEXT("short")};
    wr_bucket_name(&some, name);
    assert_string_equal(name, "model=my_model_=_x length=short");
    assert_true(wr_bucket_matches(wr_span_of(name), &some));
    wr_bucket_name(&(struct wr_bucket_key){.task = {"", 0}}, name);
    assert_string_equal(name, "");
}

static const struct {
    const char *behaviour, *bucket;
    struct wr_bucket_key query;
    bool matches;
} matches[] = {
    {"everything equal", whole_name, WHOLE, true},
    {"a query that knows less", whole_name, {.model = TEXT("claude-opus-5")}, true},
    {"a bucket that knows less", "policy=auto", WHOLE, false},
    {"another model", whole_name, {.model = TEXT("claude-opus-4")}, false},
    {"another window band",
     whole_name,
     {.model = TEXT("claude-opus-5"), .window = TEXT("256k")},
     false},
    {"another transform", whole_name, {.transform = TEXT("cleared")}, false},
    {"another length", whole_name, {.length = TEXT("short")}, false},
    {"another task", whole_name, {.task = TEXT("chat")}, false},
    {"another route", whole_name, {.route = TEXT("chat")}, false},
    {"another provider", whole_name, {.provider = TEXT("local")}, false},
    {"a name that only begins alike", "model=gpt-5.5", {.model = TEXT("gpt-5")}, false},
};

static void dimensions_are_compared_where_both_have_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(matches); i++)
        if (wr_bucket_matches(wr_span_of(matches[i].bucket), &matches[i].query) !=
            matches[i].matches)
            fail_msg("%s", matches[i].behaviour);
}

static const struct {
    const char *behaviour;
    struct wr_bucket buckets[3];
    const char *policy, *chosen;
} choices[] = {
    {"nothing is known", {{{"", 0}, 0, 0}}, "auto", NULL},
    {"one bad sample is none", {{TEXT("policy=auto"), 1, 1}}, "auto", NULL},
    {"two bad ones tighten", {{TEXT("policy=auto"), 2, 2}}, "auto", "careful"},
    {"half of them is enough", {{TEXT("policy=auto"), 4, 2}}, "auto", "careful"},
    {"less is not", {{TEXT("policy=auto"), 5, 2}}, "auto", NULL},
    {"another policy's bucket says nothing", {{TEXT("policy=lean"), 9, 9}}, "auto", NULL},
    {"a rung that is bad too is passed",
     {{TEXT("policy=lean"), 2, 2}, {TEXT("policy=auto"), 2, 2}},
     "lean",
     "careful"},
    {"to the end",
     {{TEXT("policy=lean"), 2, 2}, {TEXT("policy=auto"), 2, 2}, {TEXT("policy=careful"), 3, 3}},
     "lean",
     "exact"},
    {"a policy that is no rung goes to exact", {{TEXT("policy=tiered"), 2, 2}}, "tiered", "exact"},
    {"exact has nothing tighter", {{TEXT("policy=exact"), 2, 2}}, "exact", NULL},
};

static void bad_buckets_tighten_what_matches_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(choices); i++) {
        struct wr_bucket_key key = {.policy = wr_span_of(choices[i].policy)};
        struct wr_learned learned = wr_learning_choose(choices[i].buckets, 3, &key);
        if (!learned.policy != !choices[i].chosen ||
            (learned.policy && strcmp(learned.policy, choices[i].chosen) != 0))
            fail_msg("%s: %s", choices[i].behaviour, learned.policy ? learned.policy : "none");
    }
}

static void hard_signs_weigh_more_than_soft_ones(void **state)
{
    (void)state;
    assert_true(wr_quality_points(&(struct wr_quality){.placeholders_written = 1}) >=
                WR_LEARNING_BAD_POINTS);
    assert_true(wr_quality_points(&(struct wr_quality){.model_reread_requests = 2}) <
                WR_LEARNING_BAD_POINTS);
    assert_true(wr_quality_points(&(struct wr_quality){.model_reread_requests = 2,
                                                       .corrective_user_messages = 1}) >=
                WR_LEARNING_BAD_POINTS);
    assert_int_equal(wr_quality_points(&(struct wr_quality){
                         .task_completed = 9, .recalls = 9, .upstream_context_errors = 9}),
                     0);
}

static void bands(void **state)
{
    (void)state;
    assert_string_equal(wr_window_band(0), "");
    assert_string_equal(wr_window_band(16000), "16k");
    assert_string_equal(wr_window_band(200000), "256k");
    assert_string_equal(wr_window_band(1000000), "1m");
    assert_string_equal(wr_length_band(3), "short");
    assert_string_equal(wr_length_band(200), "huge");
    weir_span tools[] = {TEXT("search"), TEXT("mcp__fs__edit_file")};
    assert_string_equal(wr_task_class(&(struct wr_ways){.tools = tools, .tools_count = 2}),
                        "coding");
    assert_string_equal(wr_task_class(&(struct wr_ways){.tools = tools, .tools_count = 1}),
                        "tools");
    assert_string_equal(wr_task_class(&(struct wr_ways){.tools = tools}), "chat");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_is_named_by_what_is_known),
        cmocka_unit_test(dimensions_are_compared_where_both_have_them),
        cmocka_unit_test(bad_buckets_tighten_what_matches_them),
        cmocka_unit_test(hard_signs_weigh_more_than_soft_ones),
        cmocka_unit_test(bands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
