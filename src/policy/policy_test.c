#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "models/window.h"
#include "policy/stage.h"
#include "tests/test_file.h"

/* ---- table ---- */

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

/* ---- yaml ---- */

#define ONE(stages)   "policies:\n  p:\n    stages: [" stages "]\n"
#define MANY(a)       a a a a a a a a a a a a a
#define LINE_3(where) "line 3, column " where ": "

static const struct {
    const char *behaviour, *text;
    weir_status expected;
    const char *said;
} failures[] = {
    {"a stage that is not there", ONE("{stage: capp}"), WEIR_INVALID,
     LINE_3("22") "no stage is called 'capp'; there are cap, evict, reference, mask, clear, "
                  "fold_loops, summarise_active, summary, fill, drop_groups, prune_arguments, "
                  "rehydrate"},
    {"a stage without a name", ONE("{max_tokens: 4}"), WEIR_INVALID,
     LINE_3("14") "a stage is {stage: NAME, parameter: value, ...}"},
    {"a stage that is no mapping", ONE("cap"), WEIR_INVALID,
     LINE_3("14") "a stage is {stage: NAME, parameter: value, ...}"},
    {"a stage named by a list", ONE("{stage: [cap]}"), WEIR_INVALID,
     LINE_3("22") "no stage is called ''; there are"},
    {"a stage that is there twice", ONE("{stage: cap}, {stage: cap}"), WEIR_INVALID,
     LINE_3("36") "stage 'cap' is here twice"},
    {"a parameter that is not there", ONE("{stage: cap, max: 4}"), WEIR_INVALID,
     LINE_3("27") "stage 'cap' has no parameter 'max'; it has max_tokens, keep, tools"},
    {"a parameter that is there twice", ONE("{stage: cap, keep: head, keep: tail}"), WEIR_INVALID,
     LINE_3("39") "'keep' is here twice"},
    {"a cap of nothing", ONE("{stage: cap, max_tokens: 0}"), WEIR_INVALID,
     LINE_3("39") "max_tokens wants a whole number from 1 to 1000000, not '0'"},
    {"a number that is too large", ONE("{stage: cap, max_tokens: 1000001}"), WEIR_INVALID,
     LINE_3("39") "max_tokens wants a whole number from 1 to 1000000, not '1000001'"},
    {"a number that is far too large", ONE("{stage: cap, max_tokens: 99999999999999999999}"),
     WEIR_INVALID, LINE_3("39") "max_tokens wants a whole number"},
    {"a number below zero", ONE("{stage: cap, max_tokens: -5}"), WEIR_INVALID,
     LINE_3("39") "max_tokens wants a whole number from 1 to 1000000, not '-5'"},
    {"a fraction", ONE("{stage: cap, max_tokens: 4.5}"), WEIR_INVALID,
     LINE_3("39") "max_tokens wants a whole number"},
    {"a text instead of a number", ONE("{stage: cap, max_tokens: '4000'}"), WEIR_INVALID,
     LINE_3("39") "max_tokens wants a whole number"},
    {"a list instead of a number", ONE("{stage: cap, max_tokens: [4000]}"), WEIR_INVALID,
     LINE_3("39") "max_tokens wants a whole number"},
    {"nothing instead of a number", ONE("{stage: cap, max_tokens: }"), WEIR_INVALID,
     LINE_3("39") "max_tokens wants a whole number"},
    {"a word that is none of the words", ONE("{stage: cap, keep: middle}"), WEIR_INVALID,
     LINE_3("33") "keep is one of head, tail, both"},
    {"a number instead of a word", ONE("{stage: cap, keep: 1}"), WEIR_INVALID,
     LINE_3("33") "keep is one of head, tail, both"},
    {"a parameter that is none of a tool's", ONE("{stage: clear, tools: {a: {at_bp: 5}}}"),
     WEIR_INVALID,
     LINE_3("41") "'at_bp' of stage 'clear' cannot differ by tool; these can: older_turns"},
    {"a stage whose tools can only be exact", ONE("{stage: mask, tools: {a: {batch: 5}}}"),
     WEIR_INVALID, LINE_3("40") "'batch' of stage 'mask' cannot differ by tool; these can: none"},
    {"a tool's zero", ONE("{stage: cap, tools: {a: {max_tokens: 0}}}"), WEIR_INVALID,
     LINE_3("51") "max_tokens wants a whole number"},
    {"a tool that is a word other than exact", ONE("{stage: cap, tools: {a: whole}}"), WEIR_INVALID,
     LINE_3("38") "a tool is `exact`, or has parameters"},
    {"tools that are a list", ONE("{stage: cap, tools: [Bash]}"), WEIR_INVALID,
     LINE_3("34") "`name: value` pairs are wanted here"},
    {"a tool that is there twice", ONE("{stage: cap, tools: {a: exact, a: {}}}"), WEIR_INVALID,
     LINE_3("45") "'a' is here twice"},
    {"a tool without a name", ONE("{stage: cap, tools: {'': exact}}"), WEIR_INVALID,
     LINE_3("35") "a tool's name is wanted here"},
    {"tools of a stage that has none", ONE("{stage: fill, tools: {a: exact}}"), WEIR_INVALID,
     LINE_3("28") "stage 'fill' works on whole messages: it has no rules for tools"},
    {"stages that are no list", "policies: {p: {stages: cap}}", WEIR_INVALID,
     "line 1, column 24: stages are a list"},
    {"thirteen stages", "policies: {p: {stages: [" MANY("{stage: cap},") "]}}", WEIR_LIMIT,
     "line 1, column 24: 13 stages: at most 12 a policy"},
    {"a policy without stages", "policies: {p: {what: nothing}}", WEIR_INVALID,
     "line 1, column 12: a policy needs `stages`, or `like`"},
    {"a policy that is a word", "policies: {p: exact}", WEIR_INVALID,
     "line 1, column 15: `name: value` pairs are wanted here"},
    {"a policy with something else in it", "policies: {p: {stages: [], stage: cap}}", WEIR_INVALID,
     "line 1, column 28: 'stage' is not known here; a policy has what, alias, like and stages"},
    {"a policy that is there twice", "policies:\n  p: {stages: []}\n  p: {stages: []}\n",
     WEIR_INVALID, "line 3, column 3: 'p' is here twice"},
    {"a preset's name", "policies: {tiered: {stages: []}}", WEIR_INVALID,
     "line 1, column 12: 'tiered' is a preset; give yours another name"},
    {"a preset's other name", "policies: {duckagent_recoverable_decay_guarded_mid: {stages: []}}",
     WEIR_INVALID, "line 1, column 12: 'duckagent_recoverable_decay_guarded_mid' is a preset"},
    {"an alias that is a preset", "policies: {p: {alias: auto, stages: []}}", WEIR_INVALID,
     "line 1, column 23: 'auto' is a preset; give yours another name"},
    {"an alias that is another's name", "policies: {a: {stages: []}, p: {alias: a, stages: []}}",
     WEIR_INVALID, "line 1, column 40: a policy above is called 'a' already"},
    {"a name that is another's alias", "policies: {a: {alias: p, stages: []}, p: {stages: []}}",
     WEIR_INVALID, "line 1, column 39: a policy above is called 'p' already"},
    {"an alias with a space in it", "policies: {p: {alias: a b, stages: []}}", WEIR_INVALID,
     "line 1, column 23: a policy's name is letters, digits, '-', '_' and '.'"},
    {"an alias that is a list", "policies: {p: {alias: [a], stages: []}}", WEIR_INVALID,
     "line 1, column 23: a policy's name is letters"},
    {"a name with a space in it", "policies: {a b: {stages: []}}", WEIR_INVALID,
     "line 1, column 12: a policy's name is letters, digits, '-', '_' and '.'"},
    {"no name", "policies: {'': {stages: []}}", WEIR_INVALID, "line 1, column 12: a policy's name"},
    {"a name without end", "policies: {" MANY("123456") ": {stages: []}}", WEIR_LIMIT,
     "line 1, column 12: this text has 78 bytes: at most 64"},
    {"something to be like that is not there", "policies: {p: {like: laiers}}", WEIR_INVALID,
     "line 1, column 22: no preset, and no policy above, is called 'laiers'"},
    {"itself to be like", "policies: {p: {like: p}}", WEIR_INVALID,
     "line 1, column 22: no preset, and no policy above, is called 'p'"},
    {"a description of two lines", "policies: {p: {stages: [], what: \"a\\nb\"}}", WEIR_INVALID,
     "line 1, column 34: a text of one line is wanted here"},
    {"a description that is a list", "policies: {p: {stages: [], what: [a]}}", WEIR_INVALID,
     "line 1, column 34: a text of one line is wanted here"},
    {"another section", "policy: {p: {stages: []}}", WEIR_INVALID,
     "line 1, column 1: `policies` is wanted here"},
    {"a ladder, which is the presets'", "ladder: [auto, exact]", WEIR_INVALID,
     "line 1, column 1: `policies` is wanted here"},
    {"a list of policies", "policies: [p]", WEIR_INVALID,
     "line 1, column 11: `name: value` pairs are wanted here"},
    {"a word alone", "policies", WEIR_INVALID, "line 1, column 1: `name: value` pairs"},
    {"YAML that ends too early", "policies: {p: {stages: [", WEIR_SYNTAX, "line 2, column 1: "},
    {"a mistake behind a policy that is right",
     "policies:\n  a: {stages: []}\n  b: {stages: [{stage: no}]}\n", WEIR_INVALID,
     "line 3, column 24: no stage is called 'no'"},
};

static void what_is_wrong_is_said_with_line_and_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(failures); i++) {
        struct wr_policies *policies;
        struct weir_err err = {0};
        weir_status status = wr_policies_new(&policies, wr_span_of(failures[i].text), &err);
        if (status != failures[i].expected || policies ||
            !wr_span_starts(wr_span_of(err.text), wr_span_of(failures[i].said)))
            fail_msg("%s: status %d, %s", failures[i].behaviour, (int)status, err.text);
    }
}

/* Names have the length that they may have, and not a byte more. */
static void a_name_may_be_as_long_as_it_says(void **state)
{
    char name[WR_POLICY_NAME_BYTES_MAX + 2] = "", yaml[2 * sizeof(name) + 128];
    (void)state;
    memset(name, 'n', WR_POLICY_NAME_BYTES_MAX + 1);
    for (size_t len = WR_POLICY_NAME_BYTES_MAX - 1; len <= WR_POLICY_NAME_BYTES_MAX + 1; len++)
        for (int is_alias = 0; is_alias < 2; is_alias++) {
            struct wr_policies *policies = NULL;
            (void)snprintf(yaml, sizeof(yaml), "policies: {%.*s: {alias: %.*s, stages: []}}",
                           is_alias ? 1 : (int)len, name, is_alias ? (int)len : 2, name);
            weir_status status = wr_policies_new(&policies, wr_span_of(yaml), NULL);
            assert_int_equal(status, len > WR_POLICY_NAME_BYTES_MAX ? WEIR_LIMIT : WEIR_OK);
            if (!status)
                assert_non_null(wr_policies_find(policies, wr_span_cut(wr_span_of(name), 0, len)));
            wr_policies_free(policies);
        }
}

/* ---- what is right ---- */

static struct wr_policies *load(const char *behaviour, weir_span text)
{
    struct wr_policies *policies;
    struct weir_err err = {0};
    if (wr_policies_new(&policies, text, &err))
        fail_msg("%s: %s", behaviour, err.text);
    return policies;
}

static void write_named(struct wr_buf *out, const struct wr_policies *policies, const char *name)
{
    const struct wr_policy *policy = wr_policies_find(policies, wr_span_of(name));
    if (!policy)
        fail_msg("%s is not there", name);
    wr_policy_yaml_write(out, policy, policy->name);
}

static const struct {
    const char *behaviour, *text, *name, *expected;
} yaml_cases[] = {
    {"what a stage leaves out has its default", ONE("{stage: cap}"), "p",
     "  p:\n    what: \"\"\n    stages:\n      - stage: cap\n        max_tokens: 8000\n"
     "        keep: head\n"},
    {"no stages are stages too", ONE(""), "p", "  p:\n    what: \"\"\n    stages: []\n"},
    {"stages run in the order they are written", ONE("{stage: rehydrate}, {stage: mask}"), "p",
     "  p:\n    what: \"\"\n    stages:\n      - stage: rehydrate\n        max_tokens: 8000\n"
     "      - stage: mask\n        keep_first: 2\n        keep_last: 5\n        batch: 10\n"},
    {"tools have values of their own, or are left alone",
     ONE("{tools: {Bash: {max_tokens: 2000, keep: tail}, Skill: exact, x: {}}, keep: both, "
         "max_tokens: 4000, stage: cap}"),
     "p",
     "  p:\n    what: \"\"\n    stages:\n      - stage: cap\n        max_tokens: 4000\n"
     "        keep: both\n        tools:\n          \"Bash\": {max_tokens: 2000, keep: tail}\n"
     "          \"Skill\": exact\n          \"x\": {}\n"},
    {"like alone takes all stages", "policies: {p: {like: compress}}", "p",
     "  p:\n    what: \"\"\n    stages:\n      - stage: clear\n        at_bp: 8000\n"
     "        trigger_tokens: 25600\n        keep: 1\n        older_turns: 4\n"
     "      - stage: summary\n        at_bp: 8000\n        trigger_tokens: 25600\n"
     "        head: 2\n        tail: 6\n        max_tokens: 4000\n      - stage: fit\n"},
    {"with stages it gives the values they leave out",
     "policies: {p: {stages: [{stage: clear, keep: 2, tools: {a: exact}}, {stage: cap}], "
     "like: tiered}}",
     "p",
     "  p:\n    what: \"\"\n    stages:\n      - stage: clear\n        at_bp: 6000\n"
     "        trigger_tokens: 60000\n        keep: 2\n        older_turns: 0\n        tools:\n"
     "          \"record_attempt\": exact\n          \"a\": exact\n      - stage: cap\n"
     "        max_tokens: 8000\n        keep: head\n"},
    {"a rule for a tool takes the place of the one it had",
     "policies: {a: {like: tiered, stages: [{stage: clear, tools: {record_attempt: {}}}]}}", "a",
     "  a:\n    what: \"\"\n    stages:\n      - stage: clear\n        at_bp: 6000\n"
     "        trigger_tokens: 60000\n        keep: 0\n        older_turns: 0\n        tools:\n"
     "          \"record_attempt\": {}\n"},
    {"a policy above may be taken up",
     "policies:\n  a: {stages: [{stage: cap, max_tokens: 7}]}\n  b: {like: a}\n", "b",
     "  b:\n    what: \"\"\n    stages:\n      - stage: cap\n        max_tokens: 7\n"
     "        keep: head\n"},
    {"a description is written so that it is read again",
     "policies: {p: {what: \"say \\\"\xC3\xA9\\\" \\\\ \\x85 \\u2028 \\U0001F600\", stages: []}}",
     "p",
     "  p:\n    what: \"say \\\"\xC3\xA9\\\" \\\\ \\U00000085 \\U00002028 \\U0001F600\"\n"
     "    stages: []\n"},
};

static void policies_are_read_as_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(yaml_cases); i++) {
        struct wr_policies *policies =
            load(yaml_cases[i].behaviour, wr_span_of(yaml_cases[i].text));
        struct wr_buf out;
        wr_buf_init(&out, 1 << 20);
        write_named(&out, policies, yaml_cases[i].name);
        if (!wr_span_is(wr_buf_view(&out), yaml_cases[i].expected))
            fail_msg("%s: got\n%.*s", yaml_cases[i].behaviour, (int)out.len, out.bytes);
        wr_buf_release(&out);
        wr_policies_free(policies);
    }
}

static void what_is_written_loads_back_to_the_same(void **state)
{
    char name[64];
    struct wr_buf out;
    (void)state;

    wr_buf_init(&out, 1 << 20);
    wr_policy_yaml_begin(&out);
    for (uint32_t i = 0; i < wr_policy_count(); i++) {
        (void)snprintf(name, sizeof(name), "my-%s", wr_policy_at(i)->name);
        wr_policy_yaml_write(&out, wr_policy_at(i), name);
    }
    struct wr_policies *policies = load("the presets", wr_buf_view(&out));
    assert_int_equal(wr_policies_count(policies), 2 * wr_policy_count());
    for (uint32_t i = 0; i < wr_policy_count(); i++) {
        const struct wr_policy *back = wr_policies_at(policies, wr_policy_count() + i);
        assert_true(wr_policy_equal(back, wr_policy_at(i)));
        assert_string_equal(back->what, wr_policy_at(i)->what);
        for (uint32_t k = 0; k < wr_policy_count(); k++)
            assert_true(wr_policy_equal(back, wr_policy_at(k)) == (i == k));
    }
    wr_policies_free(policies);
    wr_buf_release(&out);
}

static void presets_are_there_without_a_word_of_yaml(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "# nothing\n", "policies: {}\n"};
    for (size_t i = 0; i < WR_COUNT_OF(texts); i++) {
        struct wr_policies *policies = load(texts[i], wr_span_of(texts[i]));
        assert_int_equal(wr_policies_count(policies), wr_policy_count());
        assert_ptr_equal(wr_policies_find(policies, WR_LIT("tiered")),
                         wr_policy_find(WR_LIT("tiered")));
        assert_null(wr_policies_at(policies, wr_policy_count()));
        wr_policies_free(policies);
    }
    wr_policies_free(NULL);
}

static void a_policy_is_found_by_its_alias(void **state)
{
    (void)state;
    struct wr_policies *policies = load("alias", WR_LIT("policies: {p: {alias: q, like: auto}}"));
    assert_ptr_equal(wr_policies_find(policies, WR_LIT("q")),
                     wr_policies_find(policies, WR_LIT("p")));
    assert_null(wr_policies_find(policies, WR_LIT("r")));
    wr_policies_free(policies);
}

#define TWO "policies: {a: {stages: []}, b: {alias: c, stages: []}}\nladder: "

static const struct {
    const char *behaviour, *text;
    const char *said; /* NULL: nothing is wrong */
} ladders[] = {
    {"names of policies above", TWO "[b, a]", NULL},
    {"none", TWO "[]", NULL},
    {"a name that is none", TWO "[a, x]", "line 2, column 13: a policy above is wanted here"},
    {"a name that stands below", "ladder: [a]\npolicies: {a: {stages: []}}",
     "line 1, column 10: a policy above is wanted here"},
    {"a name twice", TWO "[a, b, a]",
     "line 2, column 16: a policy above is wanted here, each once"},
    {"a word", TWO "a", "line 2, column 9: a ladder is a list"},
    {"a list in it", TWO "[[a]]", "line 2, column 10: a policy above is wanted here"},
};

static void the_presets_have_a_ladder(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(ladders); i++) {
        struct wr_policies *policies;
        struct weir_err err = {0};
        weir_status status = wr_policies_new_presets(&policies, wr_span_of(ladders[i].text), &err);
        if (!status != !ladders[i].said ||
            (status && !wr_span_starts(wr_span_of(err.text), wr_span_of(ladders[i].said))))
            fail_msg("%s: %s", ladders[i].behaviour, err.text);
        if (!i) {
            assert_string_equal(wr_policies_rung(policies, 0), "b");
            assert_string_equal(wr_policies_rung(policies, 1), "a");
            assert_null(wr_policies_rung(policies, 2));
        }
        wr_policies_free(policies);
    }
}

/* ---- the docs ---- */

/* Every ```yaml block of the page loads; together they say every stage and every parameter. */
static void examples_of_the_docs_load(void **state)
{
    struct wr_buf page;
    weir_span fence = WR_LIT("```yaml\n"), end = WR_LIT("\n```");
    size_t at = 0, blocks = 0;
    (void)state;

    wr_buf_init(&page, 1 << 20);
    assert_true(wr_test_file("docs/policies.md", &page));
    weir_span text = wr_buf_view(&page);
    while ((at = wr_span_find(text, fence, at)) != SIZE_MAX) {
        size_t start = at + fence.len, stop = wr_span_find(text, end, start);
        assert_true(stop != SIZE_MAX);
        struct wr_policies *policies = load("docs", wr_span_cut(text, start, stop));
        assert_true(wr_policies_count(policies) > wr_policy_count());
        wr_policies_free(policies);
        at = stop;
        blocks++;
    }
    assert_true(blocks > 0);
    for (uint32_t d = 0; d < wr_stage_def_count(); d++) {
        const struct wr_stage_def *def = wr_stage_def_at(d);
        for (uint32_t i = 0; i < def->params_count; i++) {
            char row[160];
            (void)snprintf(row, sizeof(row), "| `%s` | `%s` | ", def->name, def->params[i].name);
            if (wr_span_find(text, wr_span_of(row), 0) == SIZE_MAX)
                fail_msg("docs/policies.md has no row: %s", row);
        }
    }
    wr_buf_release(&page);
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
        cmocka_unit_test(an_alias_is_its_preset),
        cmocka_unit_test(what_is_wrong_is_said_with_line_and_column),
        cmocka_unit_test(a_name_may_be_as_long_as_it_says),
        cmocka_unit_test(policies_are_read_as_they_say),
        cmocka_unit_test(what_is_written_loads_back_to_the_same),
        cmocka_unit_test(presets_are_there_without_a_word_of_yaml),
        cmocka_unit_test(a_policy_is_found_by_its_alias),
        cmocka_unit_test(the_presets_have_a_ladder),
        cmocka_unit_test(examples_of_the_docs_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
