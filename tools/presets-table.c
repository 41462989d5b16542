/* presets-table -- data/policies.yaml as the C table of src/policy/policy.h.
 *
 * usage: presets-table data/policies.yaml > presets.c
 *
 * The build runs it once the library's objects are there. It is linked with all of them but the
 * table itself, in whose place it has an empty one. So there is one reader of policies, and one
 * list of the stages and their parameters: what a preset may say is what a user's policy may say,
 * and a mistake in the file ends the build with its line and column.
 *
 * Rejected: a reader of its own in awk (a second grammar, and positions of parameters kept twice);
 * the file embedded and parsed at run time (a preset could then fail, and needs an owner).
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "policy/policy.h"

const struct wr_policy wr_presets[1] = {{.name = ""}};
const uint32_t wr_presets_count = 0;
const char *const wr_presets_ladder[] = {NULL};

static void print_string(const char *text)
{
    putchar('"');
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c >= 0x20 && *c < 0x7F)
            putchar(*c);
        else
            printf("\\%03o", (unsigned)(unsigned char)*c);
    putchar('"');
}

/* Those of the values that `set` has a bit for; C has no empty braces. */
static void print_values(const struct wr_stage_def *def, const int64_t *values, uint32_t set)
{
    if (!set)
        return;
    printf(", .params = {");
    for (uint32_t i = 0; i < def->params_count; i++)
        if (set >> i & 1)
            printf("[%u] = %lld /* %s */, ", i, (long long)values[i], def->params[i].name);
    putchar('}');
}

/* The rules for tools of one stage, which its row points at. */
static void print_rules(const struct wr_stage *stage, uint32_t policy, uint32_t number)
{
    if (!stage->tools_count)
        return;
    printf("static const struct wr_tool_rule rules_%u_%u[] = {\n", policy, number);
    for (uint32_t i = 0; i < stage->tools_count; i++) {
        const struct wr_tool_rule *rule = &stage->tools[i];
        printf("    {.tool = ");
        print_string(rule->tool);
        printf(", .is_exact = %d, .set = %uU", rule->is_exact, rule->set);
        print_values(stage->def, rule->params, rule->set);
        puts("},");
    }
    puts("};\n");
}

static void print_stage(const struct wr_stage *stage, uint32_t policy, uint32_t number)
{
    printf("        {.def = &wr_stage_%s", stage->def->name);
    print_values(stage->def, stage->params, (1U << stage->def->params_count) - 1);
    if (stage->tools_count)
        printf(", .tools = rules_%u_%u, .tools_count = %u", policy, number, stage->tools_count);
    puts("},");
}

static void print_policy(const struct wr_policy *policy, uint32_t number)
{
    printf("    {.name = ");
    print_string(policy->name);
    if (policy->alias) {
        printf(", .alias = ");
        print_string(policy->alias);
    }
    printf(",\n     .what = ");
    print_string(policy->what);
    puts(policy->stages_count ? ",\n     .stages = {" : ",");
    for (uint32_t i = 0; i < policy->stages_count; i++)
        print_stage(&policy->stages[i], number, i);
    printf("     %s.stages_count = %u},\n", policy->stages_count ? "}, " : "",
           policy->stages_count);
}

static void print_table(const struct wr_policies *policies)
{
    uint32_t count = wr_policies_count(policies);

    puts("/* Made by tools/presets-table from data/policies.yaml. */\n"
         "#include \"policy/policy.h\"\n\n"
         "#include \"policy/stage.h\"\n");
    for (uint32_t p = 0; p < count; p++)
        for (uint32_t i = 0; i < wr_policies_at(policies, p)->stages_count; i++)
            print_rules(&wr_policies_at(policies, p)->stages[i], p, i);
    puts("const struct wr_policy wr_presets[] = {");
    for (uint32_t p = 0; p < count; p++)
        print_policy(wr_policies_at(policies, p), p);
    printf("};\nconst uint32_t wr_presets_count = %u;\n", count);
    puts("const char *const wr_presets_ladder[] = {");
    for (uint32_t i = 0; wr_policies_rung(policies, i); i++) {
        print_string(wr_policies_rung(policies, i));
        puts(",");
    }
    puts("0};");
}

static bool read_file(const char *path, struct wr_buf *text)
{
    char piece[4096];
    size_t got;
    FILE *file = fopen(path, "rb");

    if (!file)
        return false;
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0)
        wr_buf_append(text, (weir_span){piece, got});
    bool is_read = !ferror(file) && !wr_buf_status(text);
    (void)fclose(file);
    return is_read;
}

int main(int argc, char **argv)
{
    const char *path = argc == 2 ? argv[1] : "";
    struct wr_policies *policies = NULL;
    struct weir_err err = {.text = "cannot be read"};
    struct wr_buf text;

    wr_buf_init(&text, WR_POLICIES_BYTES_MAX);
    bool is_right =
        read_file(path, &text) && !wr_policies_new_presets(&policies, wr_buf_view(&text), &err);
    if (is_right)
        print_table(policies);
    else
        fprintf(stderr, "presets-table: %s: %s\n", path, err.text);
    wr_policies_free(policies);
    wr_buf_release(&text);
    return is_right && !fflush(stdout) ? 0 : 1;
}
