#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "models/window.h"
#include "policy/stage.h"

static const struct wr_tool_rule rules[] = {
    {.tool = "read", .is_exact = true},
    {.tool = "Bash", .set = 1U << WR_CAP_MAX_TOKENS, .params = {200}},
    {.tool = "mcp__fs__read", .set = 1U << WR_CAP_KEEP, .params = {0, WR_CAP_TAIL}},
    {.tool = "Skill"},
};
static const struct wr_stage stage = {
    .def = &wr_stage_cap, .params = {8000, WR_CAP_HEAD}, .tools = rules, .tools_count = 4};

static const struct {
    const char *behaviour, *tool;
    bool is_exempt;
    int64_t max_tokens, keep;
} cases[] = {
    {"a tool without a rule has the stage's values", "Glob", false, 8000, WR_CAP_HEAD},
    {"a tool may be left alone", "read", true, 8000, WR_CAP_HEAD},
    {"a parameter that a rule sets is the tool's own", "Bash", false, 200, WR_CAP_HEAD},
    {"a server before the name changes nothing", "mcp__box__Bash", false, 200, WR_CAP_HEAD},
    {"neither does a dot", "box.read", true, 8000, WR_CAP_HEAD},
    {"nor a stroke", "box/sub/read", true, 8000, WR_CAP_HEAD},
    {"a rule for the whole name goes first", "mcp__fs__read", false, 8000, WR_CAP_TAIL},
    {"a single underscore is part of the name", "file_read", false, 8000, WR_CAP_HEAD},
    {"names differ by case", "bash", false, 8000, WR_CAP_HEAD},
    {"an end without a name is no tool", "read__", false, 8000, WR_CAP_HEAD},
    {"a rule that says nothing changes nothing", "Skill", false, 8000, WR_CAP_HEAD},
    {"no name has no rule", "", false, 8000, WR_CAP_HEAD},
};

static void rules_are_found_by_the_tools_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span tool = wr_span_of(cases[i].tool);
        if (wr_stage_exempts(&stage, tool) != cases[i].is_exempt ||
            wr_stage_param(&stage, tool, WR_CAP_MAX_TOKENS) != cases[i].max_tokens ||
            wr_stage_param(&stage, tool, WR_CAP_KEEP) != cases[i].keep)
            fail_msg("%s", cases[i].behaviour);
    }
}

static void every_preset_has_values_that_its_stages_allow(void **state)
{
    (void)state;
    for (uint32_t p = 0; p < wr_policy_count(); p++)
        for (uint32_t s = 0; s < wr_policy_at(p)->stages_count; s++) {
            const struct wr_stage *one = &wr_policy_at(p)->stages[s];
            for (uint32_t i = 0; i < one->def->params_count; i++)
                if (one->params[i] < one->def->params[i].min ||
                    one->params[i] > one->def->params[i].max)
                    fail_msg("%s: %s: %s", wr_policy_at(p)->name, one->def->name,
                             one->def->params[i].name);
        }
}

/* Marks in a store hold for the very policy that they were made under: whoever changes a preset
 * ends the marks of every session that runs it, and says so here. */
static const struct {
    const char *name;
    uint64_t hash;
} hashes[] = {
    {"exact", 0x0000000000000000U},    {"guarded-mid", 0x4df02ec9c28cf5b4U},
    {"compress", 0xf5beda1b871787e0U}, {"layers", 0xf586d58ca0ef338bU},
    {"tiered", 0x4e05abaa51d769dcU},   {"smart", 0x6b327029ca7448e5U},
    {"auto", 0x3b9714ca04c88314U},     {"lean", 0xe6da0704256bf79bU},
    {"careful", 0xe86d230a5bd7947eU},
};

static void the_presets_are_those_that_stores_know(void **state)
{
    (void)state;
    assert_int_equal(wr_policy_count(), WR_COUNT_OF(hashes));
    for (uint32_t i = 0; i < wr_policy_count(); i++) {
        assert_string_equal(wr_policy_at(i)->name, hashes[i].name);
        if (wr_policy_hash(wr_policy_at(i)) != hashes[i].hash)
            fail_msg("%s is another policy now: 0x%016llxU", hashes[i].name,
                     (unsigned long long)wr_policy_hash(wr_policy_at(i)));
    }
    assert_null(wr_policy_at(wr_policy_count()));
}

static void every_default_is_one_that_its_stage_allows(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < wr_stage_def_count(); d++) {
        const struct wr_stage_def *def = wr_stage_def_at(d);
        assert_ptr_equal(wr_stage_def_find(wr_span_of(def->name)), def);
        assert_true(def->takes_tools || !def->tool_params);
        assert_int_equal(def->tool_params >> def->params_count, 0);
        for (uint32_t i = 0; i < def->params_count; i++)
            assert_true(def->params[i].value >= def->params[i].min &&
                        def->params[i].value <= def->params[i].max);
    }
}

static void an_alias_is_its_preset(void **state)
{
    (void)state;
    assert_ptr_equal(wr_policy_find(WR_LIT("duckagent_recoverable_decay_guarded_mid")),
                     wr_policy_find(WR_LIT("guarded-mid")));
    assert_null(wr_policy_find(WR_LIT("guarded")));
}

static void each_policy_but_one_has_a_tighter_one(void **state)
{
    (void)state;
    assert_string_equal(wr_policy_tighter(WR_LIT("lean")), "auto");
    assert_string_equal(wr_policy_tighter(WR_LIT("careful")), "exact");
    assert_string_equal(wr_policy_tighter(WR_LIT("tiered")), "exact");
    assert_string_equal(wr_policy_tighter(WR_LIT("mine")), "exact");
    assert_null(wr_policy_tighter(WR_LIT("exact")));
}

#define READ_EXACT                       \
    {                                    \
        .tool = "read", .is_exact = true \
    }
#define BASH(n)                                                             \
    {                                                                       \
        .tool = "Bash", .set = 1U << WR_CAP_MAX_TOKENS, .params = {(n), 7 } \
    }
static const struct wr_tool_rule own[] = {READ_EXACT, BASH(200)};
static const struct wr_tool_rule same[] = {
    READ_EXACT, {.tool = "Bash", .set = 1U << WR_CAP_MAX_TOKENS, .params = {200, 8}}};
static const struct wr_tool_rule renamed[] = {{.tool = "reads", .is_exact = true}, BASH(200)};
static const struct wr_tool_rule not_exact[] = {{.tool = "read"}, BASH(200)};
static const struct wr_tool_rule other_number[] = {READ_EXACT, BASH(201)};
static const struct wr_tool_rule other_set[] = {
    READ_EXACT, {.tool = "Bash", .set = 1U << WR_CAP_KEEP, .params = {200, 7}}};

static const struct {
    const char *behaviour;
    struct wr_policy policy;
    bool is_same;
} twins[] = {
    {"a policy is what its stages say",
     {.name = "b", .stages = {{&wr_stage_cap, {8000, 1}, own, 2}}, .stages_count = 1},
     true},
    {"what a rule does not set says nothing",
     {.stages = {{&wr_stage_cap, {8000, 1}, same, 2}}, .stages_count = 1},
     true},
    {"what no parameter is says nothing",
     {.stages = {{&wr_stage_cap, {8000, 1, 9}, own, 2}}, .stages_count = 1},
     true},
    {"another stage", {.stages = {{&wr_stage_mask, {8000, 1}, own, 2}}, .stages_count = 1}, false},
    {"one more stage",
     {.stages = {{&wr_stage_cap, {8000, 1}, own, 2}, {.def = &wr_stage_fit}}, .stages_count = 2},
     false},
    {"another first number",
     {.stages = {{&wr_stage_cap, {8001, 1}, own, 2}}, .stages_count = 1},
     false},
    {"another last number",
     {.stages = {{&wr_stage_cap, {8000, 2}, own, 2}}, .stages_count = 1},
     false},
    {"one rule less", {.stages = {{&wr_stage_cap, {8000, 1}, own, 1}}, .stages_count = 1}, false},
    {"a rule for another tool",
     {.stages = {{&wr_stage_cap, {8000, 1}, renamed, 2}}, .stages_count = 1},
     false},
    {"a tool that is not exempt",
     {.stages = {{&wr_stage_cap, {8000, 1}, not_exact, 2}}, .stages_count = 1},
     false},
    {"another number of a tool",
     {.stages = {{&wr_stage_cap, {8000, 1}, other_number, 2}}, .stages_count = 1},
     false},
    {"another parameter of a tool",
     {.stages = {{&wr_stage_cap, {8000, 1}, other_set, 2}}, .stages_count = 1},
     false},
};

static void policies_are_the_same_where_they_do_the_same(void **state)
{
    static const struct wr_policy policy = {
        .name = "a", .stages = {{&wr_stage_cap, {8000, 1}, own, 2}}, .stages_count = 1};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(twins); i++) {
        bool has_hash = wr_policy_hash(&policy) == wr_policy_hash(&twins[i].policy);
        if (wr_policy_equal(&policy, &twins[i].policy) != twins[i].is_same ||
            has_hash != twins[i].is_same)
            fail_msg("%s", twins[i].behaviour);
    }
}

static void a_window_that_nobody_knows_is_the_documents(void **state)
{
    (void)state;
    assert_int_equal(wr_policy_unknown_window(wr_policy_find(WR_LIT("layers"))),
                     WR_FALLBACK_LAYERS_TOKENS);
    assert_int_equal(wr_policy_unknown_window(wr_policy_find(WR_LIT("exact"))), WR_FALLBACK_TOKENS);
    assert_int_equal(wr_policy_unknown_window(wr_policy_find(WR_LIT("auto"))), WR_FALLBACK_TOKENS);
    assert_null(wr_stage_def_at(wr_stage_def_count()));
    assert_null(wr_stage_def_find(WR_LIT("masks")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_found_by_the_tools_name),
        cmocka_unit_test(every_preset_has_values_that_its_stages_allow),
        cmocka_unit_test(the_presets_are_those_that_stores_know),
        cmocka_unit_test(every_default_is_one_that_its_stage_allows),
        cmocka_unit_test(each_policy_but_one_has_a_tighter_one),
        cmocka_unit_test(policies_are_the_same_where_they_do_the_same),
        cmocka_unit_test(a_window_that_nobody_knows_is_the_documents),
        cmocka_unit_test(an_alias_is_its_preset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
