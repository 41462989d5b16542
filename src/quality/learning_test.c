#include "quality/learning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdint.h>
#include <stdio.h>

#include "base/span.h"
#include "tests/test_dir.h"

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

/* ==== buckets at work ==== */

static struct wr_learner_session session(const char *name, uint64_t key)
{
    return (struct wr_learner_session){
        .tenant = WR_LIT("local"), .name = wr_span_of(name), .key = key};
}

static const char *choose(struct wr_learner *learner, const struct wr_learner_session *s,
                          const char *model, struct wr_learner_choice *choice)
{
    struct wr_bucket_key key = {.model = wr_span_of(model), .policy = WR_LIT("lean")};
    wr_learner_choose(learner, s, &key, 1000, choice);
    return choice->policy;
}

static void tell(struct wr_learner *learner, const struct wr_learner_session *s, const char *within,
                 uint32_t points, int64_t now_ms)
{
    struct wr_learner_seen seen = {.bucket = "model=m policy=lean",
                                   .within = within,
                                   .blind = "odds=blind model=m",
                                   .points = points,
                                   .now_ms = now_ms};
    wr_learner_tell(learner, s, &seen);
}

static void go_badly(struct wr_learner *learner, const char *name, uint64_t key)
{
    struct wr_learner_session s = session(name, key);
    tell(learner, &s, "model=m policy=lean length=short", 0, 1);
    tell(learner, &s, "model=m policy=lean length=short", 2, 2);
    tell(learner, &s, "model=m policy=lean length=long", 1, 3);
}

/* What waits is kept before it is closed: a new one knows it. */
static struct wr_learner *open_again(struct wr_learner *learner, const char *dir)
{
    wr_learner_free(learner);
    learner = wr_learner_new(dir);
    assert_non_null(learner);
    return learner;
}

static void two_bad_sessions_tighten_the_third(void **state)
{
    struct wr_learner_session a = session("a", 2), b = session("b", 4), c = session("c", 6);
    struct wr_learner_choice choice;
    struct wr_test_dir dir = wr_test_dir_new();
    (void)state;
    struct wr_learner *learner = open_again(NULL, dir.path);
    assert_string_equal(choose(learner, &a, "m", &choice), "");
    go_badly(learner, "a", 2);
    learner = open_again(learner, dir.path);
    assert_string_equal(choose(learner, &b, "m", &choice), ""); /* one is not enough */
    go_badly(learner, "b", 4);
    wr_learner_free(learner);
    learner = wr_learner_new(dir.path);
    assert_non_null(learner);
    assert_string_equal(choose(learner, &c, "m", &choice), "auto");
    assert_string_equal(choice.bucket, "model=m policy=lean");
    /* Of the narrower buckets none saw three points: who is known to be long is let be. */
    struct wr_learner_session e = session("e", 10);
    struct wr_bucket_key key = {
        .model = WR_LIT("m"), .policy = WR_LIT("lean"), .length = WR_LIT("long")};
    wr_learner_choose(learner, &e, &key, 1000, &choice);
    assert_string_equal(choice.policy, "");
    struct wr_learner_session d = session("d", 8);
    assert_string_equal(choose(learner, &d, "other", &choice), "");
    assert_string_equal(choose(learner, &d, "m", &choice), ""); /* chosen once */
    wr_learner_free(learner);
    wr_test_dir_remove(&dir);
}

/* The number-th session, from 1, that is a trial or is not. */
static struct wr_learner_session draw(bool is_trial, int number, char name[16])
{
    for (uint64_t i = 0;; i++) {
        (void)snprintf(name, 16, "draw-%d", (int)i);
        number -= wr_learning_is_trial(WR_LIT("local"), wr_span_of(name)) == is_trial;
        if (!number)
            return session(name, 100 + 2 * i);
    }
}

/* A trial keeps its policy; when most of the newest went well, so do all. */
static void trials_are_the_way_back(void **state)
{
    struct wr_learner_choice choice;
    struct wr_test_dir dir = wr_test_dir_new();
    char name[16];
    (void)state;
    struct wr_learner *learner = open_again(NULL, dir.path);
    go_badly(learner, "a", 2);
    go_badly(learner, "b", 4);
    for (int good = 1; good <= 3; good++) {
        learner = open_again(learner, dir.path);
        struct wr_learner_session other = draw(false, good, name);
        assert_string_equal(choose(learner, &other, "m", &choice), "auto");
        assert_false(choice.is_trial);
        struct wr_learner_session trial = draw(true, good, name);
        assert_string_equal(choose(learner, &trial, "m", &choice), "");
        assert_true(choice.is_trial);
        assert_string_equal(choice.bucket, "model=m policy=lean");
        /* It went well, and was of another task than the bucket that is on trial. */
        struct wr_learner_seen seen = {.bucket = "model=m policy=lean task=chat",
                                       .within = "model=m policy=lean task=chat length=short",
                                       .blind = "odds=blind model=m task=chat",
                                       .now_ms = 10 + good};
        wr_learner_tell(learner, &trial, &seen);
    }
    learner = open_again(learner, dir.path);
    struct wr_learner_session other = draw(false, 9, name);
    assert_string_equal(choose(learner, &other, "m", &choice), "");
    struct wr_learner_session trial = draw(true, 9, name);
    (void)choose(learner, &trial, "m", &choice);
    assert_false(choice.is_trial); /* nothing is on trial any more */
    wr_learner_free(learner);
    wr_test_dir_remove(&dir);
}

/* Blind edits raise the odds of sessions that begin; sessions without any lower them again; a
 * choice stays. */
static void blind_edits_raise_the_odds(void **state)
{
    static const struct {
        bool has_blind_edit;
        uint32_t then_pct;
    } rows[] = {{true, 0}, {true, 300}, {false, 260}, {false, 233}, {true, 271}};
    struct wr_learner_choice choice;
    struct wr_test_dir dir = wr_test_dir_new();
    (void)state;
    struct wr_learner *learner = open_again(NULL, dir.path);
    for (uint64_t i = 0; i < WR_COUNT_OF(rows); i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "s%d", (int)i);
        struct wr_learner_session s = session(name, 100 + 2 * i), next = session("n", 500 + 2 * i);
        struct wr_learner_seen seen = {.bucket = "model=m policy=lean",
                                       .within = "model=m policy=lean length=short",
                                       .blind = "odds=blind model=m",
                                       .now_ms = (int64_t)i};
        wr_learner_tell(learner, &s, &seen);
        seen.has_blind_edit = rows[i].has_blind_edit;
        wr_learner_tell(learner, &s, &seen);
        learner = open_again(learner, dir.path);
        assert_string_equal(choose(learner, &next, "m", &choice), "");
        assert_int_equal(choice.blind_pct, rows[i].then_pct);
        (void)choose(learner, &next, "other", &choice); /* chosen once */
        assert_int_equal(choice.blind_pct, rows[i].then_pct);
    }
    struct wr_learner_session other = session("other", 900);
    (void)choose(learner, &other, "other", &choice);
    assert_int_equal(choice.blind_pct, 0);
    wr_learner_free(learner);
    wr_test_dir_remove(&dir);
}

static void one_in_four_is_a_trial(void **state)
{
    int trials = 0;
    char name[16];
    (void)state;
    for (int i = 0; i < 4000; i++) {
        (void)snprintf(name, sizeof(name), "s%d", i);
        trials += wr_learning_is_trial(WR_LIT("local"), wr_span_of(name));
    }
    assert_in_range(trials, 900, 1100); /* always the same ones */
}

static void without_a_store_nothing_is_learnt(void **state)
{
    struct wr_learner_session a = session("a", 2);
    struct wr_learner_choice choice;
    struct wr_learner *learner = wr_learner_new(NULL);
    (void)state;
    go_badly(learner, "a", 2);
    go_badly(learner, "b", 4);
    assert_string_equal(choose(learner, &a, "m", &choice), "");
    wr_learner_free(learner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_is_named_by_what_is_known),
        cmocka_unit_test(dimensions_are_compared_where_both_have_them),
        cmocka_unit_test(bad_buckets_tighten_what_matches_them),
        cmocka_unit_test(hard_signs_weigh_more_than_soft_ones),
        cmocka_unit_test(bands),
        cmocka_unit_test(two_bad_sessions_tighten_the_third),
        cmocka_unit_test(trials_are_the_way_back),
        cmocka_unit_test(blind_edits_raise_the_odds),
        cmocka_unit_test(one_in_four_is_a_trial),
        cmocka_unit_test(without_a_store_nothing_is_learnt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
