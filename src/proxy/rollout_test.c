#include "proxy/rollout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "proxy/projector.h"

static struct wr_decision decide(struct wr_sessions *sessions, const struct wr_config *config,
                                 const char *session, const char *model, const char *header)
{
    struct wr_rollout_input input = {.config = config,
                                     .tenant = WR_LIT("local"),
                                     .session = wr_span_of(session),
                                     .model = wr_span_of(model),
                                     .upstream = "openai",
                                     .mode = wr_span_of(header)};
    return wr_rollout_decide(sessions, &input);
}

static void each_mode_has_its_action(void **state)
{
    static const struct {
        const char *mode, *reason;
        enum wr_action action;
    } cases[] = {{"off", "rollout_off", WR_ACTION_PASS},
                 {"meter", "rollout_meter", WR_ACTION_MEASURE},
                 {"shadow", "rollout_shadow", WR_ACTION_SHADOW},
                 {"active", "rollout_active", WR_ACTION_PROJECT},
                 {"canary 0", "rollout_canary_out", WR_ACTION_MEASURE},
                 {"canary 100", "rollout_canary_in", WR_ACTION_PROJECT},
                 {"holdout 0", "rollout_holdout_out", WR_ACTION_PROJECT},
                 {"holdout 100", "rollout_holdout", WR_ACTION_MEASURE}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_sessions *sessions = wr_sessions_new();
        assert_int_equal(wr_config_set_mode(config, cases[i].mode, NULL), WEIR_OK);
        struct wr_decision d = decide(sessions, config, "s", "m", "");
        if (d.action != cases[i].action || strcmp(d.reason, cases[i].reason))
            fail_msg("%s: %s", cases[i].mode, d.reason);
        wr_sessions_free(sessions);
        wr_config_free(config);
    }
}

/* One that asks to be exact is: as the first of its session, and in its middle. */
static void a_request_may_ask_to_be_exact(void **state)
{
    static const struct {
        const char *mode;
        enum wr_action action;
    } cases[] = {{"active", WR_ACTION_MEASURE}, {"off", WR_ACTION_PASS}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_sessions *sessions = wr_sessions_new();
        assert_int_equal(wr_config_set_mode(config, cases[i].mode, NULL), WEIR_OK);
        struct wr_decision first = decide(sessions, config, "s", "m", "exact");
        struct wr_decision plain = decide(sessions, config, "s", "m", "");
        struct wr_decision later = decide(sessions, config, "s", "m", "exact");
        assert_true(first.is_exact && !plain.is_exact && later.is_exact);
        assert_int_equal(first.action, cases[i].action);
        assert_int_equal(later.action, cases[i].action);
        assert_string_equal(first.reason, "exact");
        assert_string_equal(later.reason, "exact_mid_session");
        wr_sessions_free(sessions);
        wr_config_free(config);
    }
}

/* What one process keeps the next one finds; another session's mode is another. */
static void a_mode_is_found_in_the_store(void **state)
{
    struct wr_config *config = wr_config_new();
    struct wr_sessions *first = wr_sessions_new(), *second = wr_sessions_new();
    struct wr_rollout_input input = {.tenant = WR_LIT("local"), .session = WR_LIT("s")};
    struct weir_store *store;
    struct wr_arena arena;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    assert_int_equal(wr_config_set_mode(config, "canary 100", NULL), WEIR_OK);
    struct wr_decision d = decide(first, config, "s", "m", "");
    wr_keep_mode(store, input.tenant, input.session, 1, &d, false);
    wr_kept_ask(store, &arena, second, 2, &input);
    assert_true(wr_span_is(input.kept, "canary 100"));
    input.session = WR_LIT("other");
    wr_kept_ask(store, &arena, second, 2, &input);
    assert_int_equal(input.kept.len, 0);
    weir_store_close(store);
    wr_arena_release(&arena);
    wr_sessions_free(first);
    wr_sessions_free(second);
    wr_config_free(config);
}

static void a_session_keeps_its_mode(void **state)
{
    struct wr_config *active = wr_config_new(), *shadow = wr_config_new();
    struct wr_sessions *sessions = wr_sessions_new();
    (void)state;
    assert_int_equal(wr_config_set_mode(shadow, "shadow", NULL), WEIR_OK);
    assert_int_equal(decide(sessions, active, "old", "m", "").action, WR_ACTION_PROJECT);
    assert_int_equal(decide(sessions, shadow, "old", "m", "").action, WR_ACTION_PROJECT);
    assert_int_equal(decide(sessions, shadow, "new", "m", "").action, WR_ACTION_SHADOW);
    struct wr_decision d = decide(sessions, active, "old", "m", "exact");
    assert_int_equal(d.action, WR_ACTION_MEASURE);
    assert_string_equal(d.reason, "exact_mid_session");
    assert_string_equal(decide(sessions, active, "first", "m", "exact").reason, "exact");
    assert_int_equal(decide(sessions, active, "old", "m", "").action, WR_ACTION_PROJECT);
    wr_sessions_bind(sessions, WR_LIT("local"), WR_LIT("old"), WR_BOUND_RAW);
    assert_int_equal(decide(sessions, active, "old", "m", "").action, WR_ACTION_MEASURE);
    wr_sessions_bind(sessions, WR_LIT("local"), WR_LIT("new"), WR_BOUND_PROJECTED);
    assert_int_equal(decide(sessions, shadow, "new", "m", "").action, WR_ACTION_PROJECT);
    assert_int_equal(decide(sessions, shadow, "new", "m", "exact").action, WR_ACTION_MEASURE);
    wr_sessions_free(sessions);
    wr_config_free(active);
    wr_config_free(shadow);
}

/* From one process to the next: what was kept, what is typed, and what becomes of the session. */
/* As many again as are remembered pass by, and one that is asked for between any two of them. */
static void a_session_in_use_is_not_the_one_forgotten(void **state)
{
    struct wr_config *active = wr_config_new();
    struct wr_sessions *sessions = wr_sessions_new();
    char name[32];
    size_t forgotten = 0;
    (void)state;
    for (uint32_t i = 0; i < 2 * WR_PROXY_SESSIONS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "s%u", i);
        (void)decide(sessions, active, "in use", "m", "");
        (void)decide(sessions, active, name, "m", "");
        assert_true(wr_sessions_has(sessions, WR_LIT("local"), WR_LIT("in use")));
    }
    for (uint32_t i = 0; i < WR_PROXY_SESSIONS_MAX / 2; i++) {
        (void)snprintf(name, sizeof(name), "s%u", i);
        forgotten += !wr_sessions_has(sessions, WR_LIT("local"), wr_span_of(name));
    }
    assert_true(forgotten > WR_PROXY_SESSIONS_MAX / 4); /* the oldest are */
    wr_sessions_free(sessions);
    wr_config_free(active);
}

static void what_is_typed_beats_what_is_kept(void **state)
{
    static const struct {
        const char *kept, *mode; /* configured */
        bool is_said, is_signed;
        enum wr_action action;
        enum wr_turn_of_mode turn;
        const char *keeps; /* "": nothing new */
    } cases[] = {
        {"active", "shadow", false, false, WR_ACTION_PROJECT, WR_MODE_STAYS, ""},
        {"active", "active", true, false, WR_ACTION_PROJECT, WR_MODE_STAYS, ""},
        {"active", "shadow", true, false, WR_ACTION_SHADOW, WR_MODE_TURNS_WHOLE, "shadow"},
        {"active", "meter", true, false, WR_ACTION_MEASURE, WR_MODE_TURNS_WHOLE, "meter"},
        {"active", "meter", true, true, WR_ACTION_PROJECT, WR_MODE_TURNS_WHOLE, "meter unsigned"},
        {"meter unsigned", "meter", true, true, WR_ACTION_PROJECT, WR_MODE_STAYS, ""},
        {"meter unsigned", "active", true, true, WR_ACTION_PROJECT, WR_MODE_TURNS_PROJECTED,
         "active"},
        {"shadow", "meter", true, true, WR_ACTION_MEASURE, WR_MODE_STAYS, "meter"},
        {"shadow", "active", true, false, WR_ACTION_PROJECT, WR_MODE_TURNS_PROJECTED, "active"},
        {"shadow", "active", false, false, WR_ACTION_SHADOW, WR_MODE_STAYS, ""},
        {"active raw", "active", true, false, WR_ACTION_MEASURE, WR_MODE_STAYS, ""},
        {"active raw", "shadow", true, false, WR_ACTION_SHADOW, WR_MODE_STAYS, "shadow"},
        {"shadow projected", "shadow", true, true, WR_ACTION_PROJECT, WR_MODE_STAYS, ""},
        {"shadow projected", "meter", true, true, WR_ACTION_PROJECT, WR_MODE_TURNS_WHOLE,
         "meter unsigned"},
        {"canary 10", "canary 100", true, false, WR_ACTION_PROJECT, WR_MODE_TURNS_PROJECTED,
         "canary 100"},
        {"", "shadow", true, true, WR_ACTION_SHADOW, WR_MODE_STAYS, ""},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_sessions *sessions = wr_sessions_new();
        struct wr_rollout_input input = {.config = config,
                                         .tenant = WR_LIT("local"),
                                         .session = WR_LIT("s"),
                                         .upstream = "openai",
                                         .kept = wr_span_of(cases[i].kept),
                                         .is_signed = cases[i].is_signed};
        char keeps[WR_KEPT_MODE_BYTES] = "";
        assert_int_equal(wr_config_set_mode(config, cases[i].mode, NULL), WEIR_OK);
        config->is_mode_said = cases[i].is_said;
        struct wr_decision d = wr_rollout_decide(sessions, &input);
        if (d.is_due)
            wr_decision_mode(&d, keeps);
        if (d.action != cases[i].action || d.turn != cases[i].turn || d.is_due != d.is_new ||
            strcmp(keeps, cases[i].keeps))
            fail_msg("%s, then %s: %s, keeps '%s'", cases[i].kept, cases[i].mode, d.reason, keeps);
        struct wr_decision next = wr_rollout_decide(sessions, &input);
        assert_int_equal(next.action, d.action);
        assert_int_equal(next.turn, WR_MODE_STAYS); /* once */
        assert_false(next.is_new);
        wr_sessions_free(sessions);
        wr_config_free(config);
    }
}

static void a_policy_is_heard_once(void **state)
{
    struct wr_config *config = wr_config_new();
    struct wr_sessions *sessions = wr_sessions_new(), *other = wr_sessions_new();
    struct wr_rollout_input input = {
        .config = config, .tenant = WR_LIT("local"), .session = WR_LIT("s"), .upstream = "openai"};
    char kept[WR_KEPT_MODE_BYTES];
    (void)state;
    assert_false(wr_rollout_decide(sessions, &input).says_policy);
    config->is_policy_said = true;
    struct wr_decision d = wr_rollout_decide(sessions, &input);
    assert_true(d.says_policy && d.is_due && d.is_new);
    wr_decision_mode(&d, kept);
    assert_false(wr_rollout_decide(sessions, &input).says_policy);
    config->policy = "smart";
    assert_true(wr_rollout_decide(sessions, &input).says_policy);
    config->policy = "auto";

    input.kept = wr_span_of(kept); /* another process, told the same */
    assert_false(wr_rollout_decide(other, &input).says_policy);
    assert_int_equal(wr_config_set_mode(config, "meter", NULL), WEIR_OK);
    config->is_mode_said = true; /* what only counts tokens leaves the session's policy alone */
    config->policy = "smart";
    assert_false(wr_rollout_decide(other, &input).says_policy);
    assert_int_equal(wr_config_set_mode(config, "active", NULL), WEIR_OK);
    assert_true(wr_rollout_decide(other, &input).says_policy);
    wr_sessions_free(sessions);
    wr_sessions_free(other);
    wr_config_free(config);
}

static void a_wanted_policy_is_of_sessions_that_begin(void **state)
{
    static const char *const yaml = "policies:\n  mine:\n    stages: []\n";
    struct wr_config *config = wr_config_new();
    struct wr_sessions *sessions = wr_sessions_new(), *other = wr_sessions_new();
    struct wr_rollout_input input = {.config = config,
                                     .tenant = WR_LIT("local"),
                                     .session = WR_LIT("old"),
                                     .upstream = "openai"};
    struct wr_policies *policies;
    char kept[WR_KEPT_MODE_BYTES];
    (void)state;
    assert_int_equal(wr_policies_new(&policies, wr_span_of(yaml), NULL), WEIR_OK);
    assert_int_equal(wr_config_set_policies(config, policies, NULL), WEIR_OK);
    assert_string_equal(wr_rollout_decide(sessions, &input).policy, "auto");
    input.wanted = WR_LIT("mine");
    assert_string_equal(wr_rollout_decide(sessions, &input).policy, "auto"); /* it has begun */
    input.session = WR_LIT("new");
    struct wr_decision d = wr_rollout_decide(sessions, &input);
    assert_string_equal(d.policy, "mine");
    assert_false(d.says_policy); /* it is no step: nothing was there before */
    input.wanted = WR_LIT("lean");
    assert_string_equal(wr_rollout_decide(sessions, &input).policy, "mine");
    wr_decision_mode(&d, kept);
    input.kept = wr_span_of(kept); /* another process */
    assert_string_equal(wr_rollout_decide(other, &input).policy, "mine");
    input.session = WR_LIT("later");
    input.kept = (weir_span){"", 0};
    input.wanted = WR_LIT("gone"); /* from the file of policies, say */
    assert_string_equal(wr_rollout_decide(other, &input).policy, "auto");
    input.session = WR_LIT("typed");
    input.wanted = WR_LIT("mine");
    config->is_policy_said = true;
    assert_string_equal(wr_rollout_decide(other, &input).policy, "auto");
    wr_sessions_free(sessions);
    wr_sessions_free(other);
    wr_config_free(config);
    wr_policies_free(policies);
}

static void a_kept_mode_is_taken_up(void **state)
{
    struct wr_config *shadow = wr_config_new(), *canary = wr_config_new();
    struct wr_sessions *first = wr_sessions_new(), *second = wr_sessions_new();
    struct wr_rollout_input input = {
        .config = canary, .tenant = WR_LIT("local"), .session = WR_LIT("s"), .upstream = "openai"};
    char kept[WR_KEPT_MODE_BYTES];
    (void)state;
    assert_int_equal(wr_config_set_mode(canary, "canary 100", NULL), WEIR_OK);
    assert_int_equal(wr_config_set_mode(shadow, "shadow", NULL), WEIR_OK);
    assert_false(wr_sessions_has(first, WR_LIT("local"), WR_LIT("s")));
    assert_false(wr_rollout_decide(first, &input).is_due);
    assert_true(wr_sessions_has(first, WR_LIT("local"), WR_LIT("s")));
    struct wr_decision d = wr_rollout_decide(first, &input);
    assert_true(d.is_due);
    assert_false(wr_rollout_decide(first, &input).is_due); /* once */
    wr_decision_mode(&d, kept);
    assert_string_equal(kept, "canary 100");
    input.config = shadow; /* another process, another configuration */
    input.kept = wr_span_of(kept);
    assert_int_equal(wr_rollout_decide(second, &input).action, WR_ACTION_PROJECT);
    assert_false(wr_rollout_decide(second, &input).is_due);
    wr_sessions_free(first);
    wr_sessions_free(second);
    wr_config_free(shadow);
    wr_config_free(canary);
}

static void a_bound_form_is_kept_with_the_mode(void **state)
{
    static const struct {
        const char *kept;
        enum wr_action action;
        const char *again;
    } cases[] = {{"active raw", WR_ACTION_MEASURE, "active raw"},
                 {"meter projected", WR_ACTION_PROJECT, "meter projected"},
                 {"canary 0 projected", WR_ACTION_PROJECT, "canary 0 projected"},
                 {"off raw", WR_ACTION_PASS, "off raw"},
                 {"active projected", WR_ACTION_PROJECT, "active projected"},
                 {"meter", WR_ACTION_MEASURE, "meter"},
                 {"meter else", WR_ACTION_PROJECT, "active"}};
    struct wr_config *active = wr_config_new();
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_sessions *sessions = wr_sessions_new();
        struct wr_rollout_input input = {.config = active,
                                         .tenant = WR_LIT("local"),
                                         .session = WR_LIT("s"),
                                         .upstream = "openai",
                                         .kept = wr_span_of(cases[i].kept)};
        struct wr_decision d = wr_rollout_decide(sessions, &input);
        char again[WR_KEPT_MODE_BYTES];
        wr_decision_mode(&d, again);
        if (d.action != cases[i].action || strcmp(again, cases[i].again))
            fail_msg("%s: %s, %s", cases[i].kept, d.reason, again);
        wr_sessions_free(sessions);
    }
    wr_config_free(active);
}

static void tools_have_rules_of_their_own(void **state)
{
    static const char yaml[] = "upstreams: {other: {base_url: 'http://127.0.0.1:1/v1'}}\n"
                               "rollout:\n"
                               "  - {tool: Read, mode: active}\n"
                               "  - {tool: 'mcp__*', mode: off}\n"
                               "  - {tool: Bash, mode: 'canary 30%'}\n"
                               "  - {tool: Grep, mode: 'holdout 30%', model: 'gpt-4*'}\n"
                               "  - {tool: Edit, mode: shadow, upstream: other}\n"
                               "  - {path: 'src/my file.c', mode: off}\n"
                               "  - {path: '*.md', mode: 'canary 30%'}\n"
                               "  - {path: 'x', mode: off, upstream: other}\n";
    static const struct {
        const char *model;
        uint32_t bucket;
        const char *tools;
    } cases[] = {{"gpt-5", 29, "+Read -mcp__* +Bash -path:src/my*file.c"},
                 {"gpt-5", 30, "+Read -mcp__* -Bash -path:src/my*file.c -path:*.md"},
                 {"gpt-4o", 29, "+Read -mcp__* +Bash -Grep -path:src/my*file.c"},
                 {"gpt-4o", 30, "+Read -mcp__* -Bash +Grep -path:src/my*file.c -path:*.md"}};
    struct wr_config *config = wr_config_new();
    struct wr_sessions *sessions = wr_sessions_new();
    (void)state;
    assert_int_equal(wr_config_read(config, wr_span_of(yaml), NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_rollout_input input = {
            .config = config, .model = wr_span_of(cases[i].model), .upstream = "openai"};
        char tools[WR_TOOLS_BYTES_MAX + 1];
        wr_rollout_tools(&input, cases[i].bucket, tools);
        assert_string_equal(tools, cases[i].tools);
    }
    /* They say nothing of the session. */
    assert_int_equal(decide(sessions, config, "s", "gpt-5", "").action, WR_ACTION_PROJECT);
    wr_sessions_free(sessions);
    wr_config_free(config);
}

static void canary_is_a_share_of_sessions(void **state)
{
    struct wr_config *config = wr_config_new();
    int in = 0;
    (void)state;
    assert_int_equal(wr_config_set_mode(config, "canary 30", NULL), WEIR_OK);
    for (int i = 0; i < 2000; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "session-%d", i);
        struct wr_sessions *one = i % 100 ? NULL : wr_sessions_new();
        struct wr_sessions *two = wr_sessions_new();
        struct wr_decision d = decide(two, config, name, "m", "");
        in += d.action == WR_ACTION_PROJECT;
        if (one) /* another process decides the same */
            assert_int_equal(decide(one, config, name, "m", "").action, d.action);
        wr_sessions_free(one);
        wr_sessions_free(two);
    }
    assert_true(in > 500 && in < 700);
    wr_config_free(config);
}

static void rules_go_first(void **state)
{
    struct wr_config *config = wr_config_new();
    struct wr_sessions *sessions = wr_sessions_new();
    (void)state;
    assert_int_equal(
        wr_config_read(
            config,
            WR_LIT("mode: active\nupstreams: {other: {base_url: \"http://127.0.0.1:1/v1\"}}\n"
                   "rollout:\n  - {upstream: other, mode: off}\n"
                   "  - {model: gpt-4*, mode: shadow, policy: tiered}\n"),
            NULL),
        WEIR_OK);
    struct wr_decision d = decide(sessions, config, "a", "gpt-4o", "");
    assert_int_equal(d.action, WR_ACTION_SHADOW);
    assert_string_equal(d.policy, "tiered");
    d = decide(sessions, config, "b", "gpt-5", "");
    assert_int_equal(d.action, WR_ACTION_PROJECT);
    assert_string_equal(d.policy, "auto");
    wr_sessions_free(sessions);
    wr_config_free(config);
}

static void a_place_is_one_of_a_hundred(void **state)
{
    struct wr_config *config = wr_config_new();
    struct wr_sessions *sessions = wr_sessions_new();
    bool is_seen[100] = {false};
    size_t seen = 0;
    (void)state;
    for (int i = 0; i < 4000; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "s%d", i);
        uint32_t bucket = decide(sessions, config, name, "m", "").bucket;
        assert_true(bucket < 100);
        seen += !is_seen[bucket];
        is_seen[bucket] = true;
    }
    assert_int_equal(seen, 100);
    wr_sessions_free(sessions);
    wr_config_free(config);
}

static void what_was_decided_is_told(void **state)
{
    static const struct {
        enum wr_mode mode;
        enum wr_action action;
        enum wr_turn_of_mode turn;
        const char *name;
        bool has_bucket;
        enum wr_deed deed;
    } rows[] = {
        {WR_MODE_ACTIVE, WR_ACTION_PROJECT, WR_MODE_STAYS, "active", false, WR_DEED_PROJECTED},
        {WR_MODE_CANARY, WR_ACTION_MEASURE, WR_MODE_STAYS, "canary", true, WR_DEED_MEASURED},
        {WR_MODE_HOLDOUT, WR_ACTION_PROJECT, WR_MODE_STAYS, "holdout", true, WR_DEED_PROJECTED},
        {WR_MODE_SHADOW, WR_ACTION_SHADOW, WR_MODE_STAYS, "shadow", false, WR_DEED_SHADOWED},
        {WR_MODE_SHADOW, WR_ACTION_SHADOW, WR_MODE_TURNS_WHOLE, "shadow", false, WR_DEED_MEASURED},
        {WR_MODE_METER, WR_ACTION_MEASURE, WR_MODE_STAYS, "meter", false, WR_DEED_MEASURED}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_decision decision = {.mode = rows[i].mode,
                                       .action = rows[i].action,
                                       .turn = rows[i].turn,
                                       .reason = "why",
                                       .bucket = 42,
                                       .percent = 7};
        struct wr_record record;
        wr_record_init(&record);
        wr_decision_tell(&decision, &record);
        assert_true(wr_span_is(record.mode, rows[i].name));
        assert_true(wr_span_is(record.mode_reason, "why"));
        assert_int_equal(record.has_bucket, rows[i].has_bucket);
        assert_int_equal(record.bucket, 42);
        assert_int_equal(record.bucket_percent, 7);
        assert_int_equal(wr_decision_deed(&decision), rows[i].deed);
    }
}

static void why_it_was_not_projected_has_a_word(void **state)
{
    static const struct {
        weir_status status;
        uint64_t took_us;
        const char *word;
    } rows[] = {{WEIR_NOTFOUND, 0, "no_such_policy"},
                {WEIR_NOMEM, 0, "no_memory"},
                {WEIR_SYNTAX, 0, "not_projected"},
                {WEIR_LIMIT, (uint64_t)WR_PROJECT_MS_MAX * 1000 - 1, "too_large"},
                {WEIR_LIMIT, (uint64_t)WR_PROJECT_MS_MAX * 1000, WR_DEADLINE_HARD}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (!wr_span_is(wr_task_failure(rows[i].status, rows[i].took_us), rows[i].word))
            fail_msg("%s", rows[i].word);
}

static void a_cache_that_was_read_is_the_sessions_own(void **state)
{
    struct wr_config *config = wr_config_new();
    struct wr_sessions *sessions = wr_sessions_new();
    (void)state;
    (void)decide(sessions, config, "a", "m", "");
    (void)decide(sessions, config, "b", "m", "");
    wr_sessions_read_cache(sessions, WR_LIT("local"), WR_LIT("a"));
    wr_sessions_read_cache(sessions, WR_LIT("local"), WR_LIT("c"));
    wr_sessions_read_cache(sessions, WR_LIT("other"), WR_LIT("b"));
    assert_true(decide(sessions, config, "a", "m", "").reads_cache);
    assert_false(decide(sessions, config, "b", "m", "").reads_cache);
    assert_false(decide(sessions, config, "c", "m", "").reads_cache);
    wr_sessions_free(sessions);
    wr_config_free(config);
}

/* The header beats what was decided, and a policy that has no stages takes nothing out. */
static void a_task_says_what_it_may_do(void **state)
{
    static const struct {
        const char *policy, *wanted, *recall;
        bool may;
        enum wr_recall is;
    } rows[] = {{"", "smart", "", true, WR_RECALL_OWN},
                {"", "exact", "off", false, WR_RECALL_OFF},
                {"exact", "smart", "client", false, WR_RECALL_CLIENT},
                {"smart", "exact", "none", true, WR_RECALL_OWN},
                {"nosuch", "exact", "auto", true, WR_RECALL_AUTO}};
    struct wr_config *config = wr_config_new();
    struct wr_policies *policies;
    (void)state;
    assert_int_equal(wr_policies_new_presets(&policies, (weir_span){"", 0}, NULL), WEIR_OK);
    for (int has = 0; has < 2; has++)
        for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
            struct wr_task task = {.config = config,
                                   .policy = wr_span_of(rows[i].policy),
                                   .recall = wr_span_of(rows[i].recall),
                                   .decision = {.policy = rows[i].wanted, .recall = WR_RECALL_OWN}};
            config->policies = has ? policies : NULL;
            assert_int_equal(wr_task_may_take_out(&task), !has || rows[i].may);
            assert_int_equal(wr_task_recall(&task), rows[i].is);
        }
    wr_policies_free(policies);
    wr_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_place_is_one_of_a_hundred),
                                       cmocka_unit_test(why_it_was_not_projected_has_a_word),
                                       cmocka_unit_test(what_was_decided_is_told),
                                       cmocka_unit_test(a_cache_that_was_read_is_the_sessions_own),
                                       cmocka_unit_test(a_task_says_what_it_may_do),
                                       cmocka_unit_test(each_mode_has_its_action),
                                       cmocka_unit_test(a_session_keeps_its_mode),
                                       cmocka_unit_test(a_session_in_use_is_not_the_one_forgotten),
                                       cmocka_unit_test(what_is_typed_beats_what_is_kept),
                                       cmocka_unit_test(a_policy_is_heard_once),
                                       cmocka_unit_test(a_wanted_policy_is_of_sessions_that_begin),
                                       cmocka_unit_test(a_kept_mode_is_taken_up),
                                       cmocka_unit_test(a_request_may_ask_to_be_exact),
                                       cmocka_unit_test(a_mode_is_found_in_the_store),
                                       cmocka_unit_test(canary_is_a_share_of_sessions),
                                       cmocka_unit_test(rules_go_first),
                                       cmocka_unit_test(a_bound_form_is_kept_with_the_mode),
                                       cmocka_unit_test(tools_have_rules_of_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
