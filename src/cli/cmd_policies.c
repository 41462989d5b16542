#include "cli/cmd.h"

#include "base/span.h"
#include "policy/policy.h"

static const char help[] =
    "usage: weir policies [NAME]\n"
    "\n"
    "Lists the policies there are, or shows one: its stages in order and their parameters.\n"
    "docs/policies.md says what each keeps and why.\n"
    "\n"
    "example: weir policies tiered\n";

static void print_value(const struct wr_param_def *param, int64_t value)
{
    if (param->words)
        printf("%s", param->words[value]);
    else
        printf("%lld", (long long)value);
}

static void print_stage(const struct wr_stage *stage, uint32_t number)
{
    printf("  %u. %s: %s\n", number, stage->def->name, stage->def->what);
    for (uint32_t i = 0; i < stage->def->params_count; i++) {
        const struct wr_param_def *param = &stage->def->params[i];
        printf("     %-16s ", param->name);
        print_value(param, stage->params[i]);
        printf("  (%s)\n", param->what);
    }
    for (uint32_t i = 0; i < stage->exempt_count; i++)
        printf("     %-16s %s\n", i ? "" : "leaves alone", stage->exempt[i]);
}

static void print_policy(const struct wr_policy *policy)
{
    printf("%s: %s\n", policy->name, policy->what);
    for (uint32_t i = 0; i < policy->stages_count; i++)
        print_stage(&policy->stages[i], i + 1);
}

static void print_all(void)
{
    for (uint32_t i = 0; i < wr_policy_count(); i++)
        printf("%-12s %s\n", wr_policy_at(i)->name, wr_policy_at(i)->what);
    puts("\nstages:");
    for (uint32_t i = 0; i < wr_stage_def_count(); i++)
        printf("  %-18s %s\n", wr_stage_def_at(i)->name, wr_stage_def_at(i)->what);
}

int wr_cmd_policies(int argc, char **argv)
{
    struct wr_opt_list names = {.count = 0};
    bool done;

    if (!wr_opt_parse(argc, argv, NULL, 0, help, &names, &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (!names.count)
        print_all();
    for (size_t i = 0; i < names.count; i++) {
        const struct wr_policy *policy = wr_policy_find(wr_span_of(names.items[i]));
        if (!policy)
            return wr_cli_fail("policies", "no policy is called '%s'; `weir policies` lists them",
                               names.items[i]);
        print_policy(policy);
    }
    return WR_EXIT_OK;
}
