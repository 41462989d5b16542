/* `weir policies`: the policies there are, or one with its stages, or as YAML. */
#include "cli/open.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "lab/baseline.h"

enum { NAME_COLUMNS = 19 };

struct policies_options {
    const char *file;
    bool as_yaml;
};

#define VALUES struct policies_options

static const struct wr_option options[] = {
    {"policies", WR_FILE(file), "policies of your own, in YAML"},
    {"yaml", WR_FLAG(as_yaml), "as YAML, to begin one of your own with"},
};

static void put_value(struct wr_buf *out, const struct wr_param_def *param, int64_t value)
{
    if (param->words)
        wr_buf_text(out, param->words[value]);
    else
        wr_buf_printf(out, "%lld", (long long)value);
}

static void put_rule(struct wr_buf *out, const struct wr_stage_def *def,
                     const struct wr_tool_rule *rule)
{
    wr_buf_printf(out, "     %-16s %s", "", rule->tool);
    if (rule->is_exact)
        wr_buf_text(out, " is left alone");
    for (uint32_t i = 0; i < def->params_count; i++) {
        if (!(rule->set >> i & 1))
            continue;
        wr_buf_printf(out, "  %s ", def->params[i].name);
        put_value(out, &def->params[i], rule->params[i]);
    }
    wr_buf_byte(out, '\n');
}

static void put_stage(struct wr_buf *out, const struct wr_stage *stage, uint32_t number)
{
    wr_buf_printf(out, "  %u. %s: %s\n", number, stage->def->name, stage->def->what);
    for (uint32_t i = 0; i < stage->def->params_count; i++) {
        const struct wr_param_def *param = &stage->def->params[i];
        wr_buf_printf(out, "     %-16s ", param->name);
        put_value(out, param, stage->params[i]);
        wr_buf_printf(out, "  (%s)\n", param->what);
    }
    if (stage->tools_count)
        wr_buf_text(out, "     tools\n");
    for (uint32_t i = 0; i < stage->tools_count; i++)
        put_rule(out, stage->def, &stage->tools[i]);
}

static void put_policy(struct wr_buf *out, const struct wr_policy *policy)
{
    wr_buf_printf(out, "%s: %s\n", policy->name, policy->what);
    for (uint32_t i = 0; i < policy->stages_count; i++)
        put_stage(out, &policy->stages[i], i + 1);
}

/* A name, and what it is behind it, as wide as the terminal. */
static void put_entry(struct wr_buf *out, int indent, const char *name, const char *what)
{
    size_t column = (size_t)indent + NAME_COLUMNS, columns = wr_cli_columns();

    wr_buf_printf(out, "%*s%-*s", indent, "", (int)NAME_COLUMNS - 1, name);
    wr_buf_byte(out, ' ');
    wr_text_wrap(out, wr_span_of(what), columns - column, column);
    wr_buf_byte(out, '\n');
}

static int print_all(const struct wr_policies *policies)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    for (uint32_t i = 0; i < wr_policies_count(policies); i++) {
        const char *name = wr_policies_at(policies, i)->name;
        put_entry(&out, 0, strcmp(name, "auto") ? name : "auto (default)",
                  wr_policies_at(policies, i)->what);
    }
    wr_buf_text(&out,
                "\nbaselines, models of what others do, for `weir simulate` to compare with:\n");
    for (uint32_t i = 0; i < wr_baseline_count(); i++)
        put_entry(&out, 2, wr_baseline_at(i)->name, wr_baseline_at(i)->what);
    wr_buf_text(&out, "\nstages:\n");
    for (uint32_t i = 0; i < wr_stage_def_count(); i++)
        put_entry(&out, 2, wr_stage_def_at(i)->name, wr_stage_def_at(i)->what);
    return wr_cli_end_fitted(&out, WR_EXIT_OK);
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
                      const struct wr_words *names)
{
    uint32_t first = o->file ? wr_policy_count() : 0;
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_policy_yaml_begin(&out);
    for (uint32_t i = first; i < wr_policies_count(policies) && !names->count; i++)
        write_policy(&out, wr_policies_at(policies, i));
    for (size_t i = 0; i < names->count; i++)
        write_policy(&out, wr_policies_find(policies, wr_span_of(names->items[i])));
    return wr_cli_end(&out, WR_EXIT_OK);
}

static int show_policies(const struct wr_policies *policies, const struct policies_options *o,
                         const struct wr_words *names)
{
    struct wr_buf out;

    for (size_t i = 0; i < names->count; i++) {
        weir_span name = wr_span_of(names->items[i]);
        if (!wr_policies_find(policies, name) && wr_baseline_find(name))
            return wr_cli_fail("'%s' is a baseline, a model of what others do: it has no stages; "
                               "`weir policies` says what it does",
                               names->items[i]);
        if (!wr_cli_policy(policies, names->items[i]))
            return WR_EXIT_USAGE;
    }
    if (o->as_yaml)
        return write_yaml(policies, o, names);
    if (!names->count)
        return print_all(policies);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < names->count; i++)
        put_policy(&out, wr_policies_find(policies, wr_span_of(names->items[i])));
    return wr_cli_end_fitted(&out, WR_EXIT_OK);
}

static int run_policies(void *values, const struct wr_words *names)
{
    const struct policies_options *o = values;
    struct wr_buf yaml;
    struct wr_policies *policies = wr_cli_policies(o->file, &yaml);
    int code = policies ? show_policies(policies, o, names) : WR_EXIT_USAGE;

    wr_policies_free(policies);
    wr_buf_release(&yaml);
    return code;
}

const struct wr_command wr_cmd_policies = {
    .name = "policies",
    .purpose = "the policies there are, their stages and parameters",
    .usage = "[OPTIONS] [NAME...]",
    .about = "Lists the policies there are, or shows one: its stages in order, their parameters, "
             "and what differs by tool. docs/policies.md says what each keeps and why, and how to "
             "write your own.",
    WR_OPTIONS(options),
    .words_max = SIZE_MAX,
    .list = wr_list_policies,
    .example = "weir policies tiered --yaml > mine.yaml && weir policies --policies mine.yaml",
    .run = run_policies,
};
