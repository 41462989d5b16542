#include "cli/cmd.h"

#include "base/limits.h"
#include "base/span.h"
#include "policy/policy_yaml.h"
#include "replay/baseline.h"

static const char help[] =
    "usage: weir policies [NAME] [--policies FILE] [--yaml]\n"
    "\n"
    "Lists the policies there are, or shows one: its stages in order, their parameters, and what\n"
    "differs by tool. docs/policies.md says what each keeps and why, and how to write your own.\n"
    "\n"
    "  --policies FILE   policies of your own, in YAML\n"
    "  --yaml            as YAML, to begin one of your own with\n"
    "\n"
    "example: weir policies tiered --yaml > mine.yaml && weir policies --policies mine.yaml\n";

struct policies_options {
    const char *file;
    bool as_yaml;
};

static void print_value(const struct wr_param_def *param, int64_t value)
{
    if (param->words)
        printf("%s", param->words[value]);
    else
        printf("%lld", (long long)value);
}

static void print_rule(const struct wr_stage_def *def, const struct wr_tool_rule *rule)
{
    printf("     %-16s %s", "", rule->tool);
    if (rule->is_exact)
        printf(" is left alone");
    for (uint32_t i = 0; i < def->params_count; i++) {
        if (!(rule->set >> i & 1))
            continue;
        printf("  %s ", def->params[i].name);
        print_value(&def->params[i], rule->params[i]);
    }
    putchar('\n');
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
    if (stage->tools_count)
        puts("     tools");
    for (uint32_t i = 0; i < stage->tools_count; i++)
        print_rule(stage->def, &stage->tools[i]);
}

static void print_policy(const struct wr_policy *policy)
{
    printf("%s: %s\n", policy->name, policy->what);
    for (uint32_t i = 0; i < policy->stages_count; i++)
        print_stage(&policy->stages[i], i + 1);
}

static void print_all(const struct wr_policies *policies)
{
    for (uint32_t i = 0; i < wr_policies_count(policies); i++)
        printf("%-12s %s\n", wr_policies_at(policies, i)->name, wr_policies_at(policies, i)->what);
    puts("\nbaselines, models of what others do, for `weir simulate` to compare with:");
    for (uint32_t i = 0; i < wr_baseline_count(); i++)
        printf("  %-18s %s\n", wr_baseline_at(i)->name, wr_baseline_at(i)->what);
    puts("\nstages:");
    for (uint32_t i = 0; i < wr_stage_def_count(); i++)
        printf("  %-18s %s\n", wr_stage_def_at(i)->name, wr_stage_def_at(i)->what);
}

/* A preset's own name is taken: what is written is to be loaded again. */
static void write_policy(struct wr_buf *out, const struct wr_policy *policy)
{
    char name[WR_POLICY_NAME_BYTES_MAX + 1];
    bool is_preset = wr_policy_find(wr_span_of(policy->name)) == policy;
    (void)snprintf(name, sizeof(name), "%s%s", is_preset ? "my-" : "", policy->name);
    wr_policy_yaml_write(out, policy, name);
}

/* Without a name: all presets, or all of a file. */
static int write_yaml(const struct wr_policies *policies, const struct policies_options *o,
                      const struct wr_opt_list *names)
{
    uint32_t first = o->file ? wr_policy_count() : 0;
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_policy_yaml_begin(&out);
    for (uint32_t i = first; i < wr_policies_count(policies) && !names->count; i++)
        write_policy(&out, wr_policies_at(policies, i));
    for (size_t i = 0; i < names->count; i++)
        write_policy(&out, wr_policies_find(policies, wr_span_of(names->items[i])));
    bool ok = out.status ? false : wr_cli_write("policies", wr_buf_view(&out));
    if (out.status)
        wr_cli_fail("policies", "%s", weir_status_text(out.status));
    wr_buf_release(&out);
    return ok ? WR_EXIT_OK : WR_EXIT_USAGE;
}

static int show(const struct wr_policies *policies, const struct policies_options *o,
                const struct wr_opt_list *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (!wr_policies_find(policies, wr_span_of(names->items[i])) &&
            wr_baseline_find(wr_span_of(names->items[i])))
            return wr_cli_fail("policies",
                               "'%s' is a baseline, a model of what others do: it has no stages; "
                               "`weir policies` says what it does",
                               names->items[i]);
    for (size_t i = 0; i < names->count; i++)
        if (!wr_policies_find(policies, wr_span_of(names->items[i])))
            return wr_cli_fail("policies", "no policy is called '%s'; `weir policies` lists them",
                               names->items[i]);
    if (o->as_yaml)
        return write_yaml(policies, o, names);
    if (!names->count)
        print_all(policies);
    for (size_t i = 0; i < names->count; i++)
        print_policy(wr_policies_find(policies, wr_span_of(names->items[i])));
    return WR_EXIT_OK;
}

static int run(const struct policies_options *o, const struct wr_opt_list *names)
{
    struct wr_buf yaml = {0};
    struct wr_policies *policies = NULL;
    struct weir_err err = {0};
    int code = WR_EXIT_USAGE;

    if (!o->file || wr_cli_read("policies", o->file, &yaml)) {
        if (wr_policies_new(&policies, wr_buf_view(&yaml), &err))
            wr_cli_fail("policies", "%s: %s", o->file ? o->file : "presets", err.text);
        else
            code = show(policies, o, names);
    }
    wr_policies_free(policies);
    wr_buf_release(&yaml);
    return code;
}

int wr_cmd_policies(int argc, char **argv)
{
    struct policies_options o = {0};
    struct wr_opt_list names = {.count = 0};
    const struct wr_opt options[] = {{"policies", WR_OPT_TEXT, &o.file},
                                     {"yaml", WR_OPT_FLAG, &o.as_yaml}};
    bool done;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &names,
                      &done))
        return WR_EXIT_USAGE;
    return done ? WR_EXIT_OK : run(&o, &names);
}
