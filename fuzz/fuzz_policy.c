/* Any bytes as policies: no crash; what is refused has its place, or is lack of room; what is
 * loaded has values that its stages allow, and writes to YAML that loads back to the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "policy/policy.h"

#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

static void check_error(weir_status status, const struct weir_err *err, size_t bytes)
{
    MUST(status == WEIR_SYNTAX || status == WEIR_INVALID || status == WEIR_LIMIT);
    MUST(wr_span_starts(wr_span_of(err->text), WR_LIT("line ")));
    MUST(wr_span_find(wr_span_of(err->text), WR_LIT(", column "), 0) != SIZE_MAX);
    MUST(err->code == status && err->at_byte <= bytes);
}

static void check_value(const struct wr_param_def *param, int64_t value)
{
    MUST(value >= param->min && value <= param->max);
}

static void check_stage(const struct wr_stage *stage)
{
    const struct wr_stage_def *def = stage->def;
    MUST(stage->tools_count <= WR_STAGE_TOOLS_MAX);
    MUST(def->takes_tools || !stage->tools_count);
    for (uint32_t i = 0; i < def->params_count; i++)
        check_value(&def->params[i], stage->params[i]);
    for (uint32_t t = 0; t < stage->tools_count; t++) {
        const struct wr_tool_rule *rule = &stage->tools[t];
        MUST(rule->tool[0] && !(rule->set & ~def->tool_params) && !(rule->is_exact && rule->set));
        MUST(wr_stage_rule(stage, wr_span_of(rule->tool)) == rule);
        for (uint32_t i = 0; i < def->params_count; i++)
            if (rule->set >> i & 1)
                check_value(&def->params[i], rule->params[i]);
    }
}

static void check_policies(const struct wr_policies *policies)
{
    struct wr_policies *back;
    struct wr_buf yaml;

    wr_buf_init(&yaml, WR_OUTPUT_BYTES_MAX);
    wr_policy_yaml_begin(&yaml);
    for (uint32_t i = wr_policy_count(); i < wr_policies_count(policies); i++) {
        const struct wr_policy *policy = wr_policies_at(policies, i);
        MUST(wr_policies_find(policies, wr_span_of(policy->name)) == policy);
        for (uint32_t s = 0; s < policy->stages_count; s++)
            check_stage(&policy->stages[s]);
        wr_policy_yaml_write(&yaml, policy, policy->name);
    }
    if (wr_policies_count(policies) == wr_policy_count() || yaml.len > WR_POLICIES_BYTES_MAX) {
        wr_buf_release(&yaml);
        return;
    }
    MUST(wr_policies_new(&back, wr_buf_view(&yaml), NULL) == WEIR_OK);
    MUST(wr_policies_count(back) == wr_policies_count(policies));
    for (uint32_t i = wr_policy_count(); i < wr_policies_count(policies); i++) {
        const struct wr_policy *a = wr_policies_at(policies, i), *b = wr_policies_at(back, i);
        MUST(wr_policy_equal(a, b) && !strcmp(a->name, b->name) && !strcmp(a->what, b->what));
    }
    wr_policies_free(back);
    wr_buf_release(&yaml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_policies *policies;
    struct weir_err err = {0};
    weir_status status = wr_policies_new(&policies, (weir_span){(const char *)data, size}, &err);

    if (status) {
        MUST(!policies);
        check_error(status, &err, size);
        return 0;
    }
    check_policies(policies);
    wr_policies_free(policies);
    return 0;
}
