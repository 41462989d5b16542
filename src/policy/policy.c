/* Policies as data: read from YAML and written as it, found by name, compared and hashed.
 *
 * The reader walks libyaml's nodes and asks each stage's definition what it may be told, so a new
 * parameter needs nothing here. Whatever is wrong fails the whole text, with line, column and the
 * names that would have been right: a policy that is half understood would run half.
 *
 * The hash is what marks and pins in a store are held to: it covers stages, values and rules, and
 * neither name nor description. A stage that gains or loses a parameter so ends the marks of every
 * session that runs it; policy_test.c has the hashes of the presets, so that nobody does that by
 * accident. */
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "base/yaml.h"
#include "models/window.h"
#include "policy/stage.h"

/* ---- the presets ---- */

uint32_t wr_policy_count(void)
{
    return wr_presets_count;
}

const struct wr_policy *wr_policy_at(uint32_t index)
{
    return index < wr_policy_count() ? &wr_presets[index] : NULL;
}

/* Whether `name` is its name or alias. */
static bool policy_is_called(const struct wr_policy *policy, weir_span name)
{
    return wr_span_is(name, policy->name) || (policy->alias && wr_span_is(name, policy->alias));
}

const struct wr_policy *wr_policy_find(weir_span name)
{
    for (uint32_t i = 0; i < wr_presets_count; i++)
        if (policy_is_called(&wr_presets[i], name))
            return &wr_presets[i];
    return NULL;
}

const char *wr_policy_tighter(weir_span name)
{
    const char *last = NULL;
    for (const char *const *rung = wr_presets_ladder; *rung; rung++) {
        if (wr_span_is(name, *rung))
            return rung[1];
        last = *rung;
    }
    return last;
}

uint32_t wr_policy_unknown_window(const struct wr_policy *policy)
{
    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (policy->stages[i].def->window_tokens)
            return policy->stages[i].def->window_tokens;
    return WR_FALLBACK_TOKENS;
}

static bool rules_equal(const struct wr_tool_rule *a, const struct wr_tool_rule *b)
{
    if (strcmp(a->tool, b->tool) || a->is_exact != b->is_exact || a->set != b->set)
        return false;
    for (uint32_t i = 0; i < WR_STAGE_PARAMS_MAX; i++)
        if (a->set >> i & 1 && a->params[i] != b->params[i])
            return false;
    return true;
}

static bool stages_equal(const struct wr_stage *a, const struct wr_stage *b)
{
    if (a->def != b->def || a->tools_count != b->tools_count)
        return false;
    for (uint32_t i = 0; i < a->def->params_count; i++)
        if (a->params[i] != b->params[i])
            return false;
    for (uint32_t i = 0; i < a->tools_count; i++)
        if (!rules_equal(&a->tools[i], &b->tools[i]))
            return false;
    return true;
}

bool wr_policy_equal(const struct wr_policy *a, const struct wr_policy *b)
{
    if (a->stages_count != b->stages_count)
        return false;
    for (uint32_t i = 0; i < a->stages_count; i++)
        if (!stages_equal(&a->stages[i], &b->stages[i]))
            return false;
    return true;
}

static uint64_t add_number(uint64_t hash, int64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)number >> 8 * i);
    return wr_hash64_seeded((weir_span){(const char *)bytes, sizeof(bytes)}, hash);
}

static uint64_t add_rule(uint64_t hash, const struct wr_tool_rule *rule)
{
    hash = wr_hash64_seeded(wr_span_of(rule->tool), hash);
    hash = add_number(hash, (int64_t)rule->set << 1 | rule->is_exact);
    for (uint32_t i = 0; i < WR_STAGE_PARAMS_MAX; i++)
        if (rule->set >> i & 1)
            hash = add_number(hash, rule->params[i]);
    return hash;
}

uint64_t wr_policy_hash(const struct wr_policy *policy)
{
    uint64_t hash = policy->stages_count;
    for (uint32_t i = 0; i < policy->stages_count; i++) {
        const struct wr_stage *stage = &policy->stages[i];
        hash = wr_hash64_seeded(wr_span_of(stage->def->name), hash);
        for (uint32_t p = 0; p < stage->def->params_count; p++)
            hash = add_number(hash, stage->params[p]);
        for (uint32_t r = 0; r < stage->tools_count; r++)
            hash = add_rule(hash, &stage->tools[r]);
    }
    return hash;
}

/* ---- reading ---- */

/* More members than any mapping knows, so that what is not known is named, not counted. */
enum { LIST_BYTES = 200, SHOWN_BYTES = 40, MEMBERS_MAX = 64 };

struct wr_policies {
    struct wr_arena arena;
    struct wr_policy *own;
    uint32_t own_count, own_max;
    const char *ladder[WR_POLICIES_MAX];
    uint32_t ladder_count;
};

/* What is being read; the parts further down are set as it gets there. */
struct reader {
    struct wr_yaml yaml;
    struct wr_policies *into;
    bool may_have_ladder;
    struct wr_policy *policy;
    const struct wr_policy *like; /* NULL: the stages' own values */
    struct wr_stage *stage;
    struct wr_tool_rule *rules; /* of the stage, with room for all that may be */
    struct wr_tool_rule *rule;
};

/* A name of the text as it is shown in an error: its beginning, for printf's "%.*s". */
#define SHOWN(text) (int)((text).len < SHOWN_BYTES ? (text).len : SHOWN_BYTES), (text).ptr

static void list_name(char *list, const char *name)
{
    size_t len = strlen(list);
    (void)snprintf(list + len, LIST_BYTES - len, "%s%s", len ? ", " : "", name);
}

static const char *list_stages(char list[LIST_BYTES])
{
    list[0] = '\0';
    for (uint32_t i = 0; i < wr_stage_def_count(); i++)
        list_name(list, wr_stage_def_at(i)->name);
    return list;
}

/* The parameters of a stage, or those that may differ by tool. */
static const char *list_params(char list[LIST_BYTES], const struct wr_stage_def *def, bool by_tool)
{
    list[0] = '\0';
    for (uint32_t i = 0; i < def->params_count; i++)
        if (!by_tool || def->tool_params >> i & 1)
            list_name(list, def->params[i].name);
    if (!by_tool && def->takes_tools)
        list_name(list, "tools");
    return list[0] ? list : "none";
}

static weir_status no_memory(struct reader *r)
{
    return wr_fail(r->yaml.err, wr_arena_status(&r->into->arena), 0, "no memory for the policies");
}

/* ---- values ---- */

static bool has_control(weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7F)
            return true;
    return false;
}

/* A copy with a NUL behind it, on one line. */
static weir_status keep_text(struct reader *r, const yaml_node_t *node, size_t bytes_max,
                             const char **kept)
{
    weir_span text = wr_yaml_text(node);
    if (!wr_yaml_is_scalar(node) || has_control(text))
        return wr_yaml_fail(&r->yaml, node, WEIR_INVALID, "a text of one line is wanted here");
    if (text.len > bytes_max)
        return wr_yaml_fail(&r->yaml, node, WEIR_LIMIT, "this text has %zu bytes: at most %zu",
                            text.len, bytes_max);
    char *copy = wr_arena_zalloc(&r->into->arena, text.len + 1);
    if (!copy)
        return no_memory(r);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    *kept = copy;
    return WEIR_OK;
}

static weir_status read_word(struct reader *r, const struct wr_param_def *param,
                             const yaml_node_t *node, int64_t *value)
{
    char list[LIST_BYTES] = "";
    weir_span text = wr_yaml_text(node);
    for (int64_t i = 0; param->words[i]; i++) {
        if (wr_yaml_is_scalar(node) && wr_span_is(text, param->words[i])) {
            *value = i;
            return WEIR_OK;
        }
        list_name(list, param->words[i]);
    }
    return wr_yaml_fail(&r->yaml, node, WEIR_INVALID, "%s is one of %s", param->name, list);
}

/* A quoted number is a text to YAML, and so it is here. */
static weir_status read_number(struct reader *r, const struct wr_param_def *param,
                               const yaml_node_t *node, int64_t *value)
{
    weir_span text = wr_yaml_text(node);
    uint64_t number;
    if (wr_yaml_is_scalar(node) && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        wr_span_u64(text, &number) && number >= (uint64_t)param->min &&
        number <= (uint64_t)param->max) {
        *value = (int64_t)number;
        return WEIR_OK;
    }
    return wr_yaml_fail(&r->yaml, node, WEIR_INVALID,
                        "%s wants a whole number from %lld to %lld, not '%.*s'", param->name,
                        (long long)param->min, (long long)param->max, SHOWN(text));
}

static weir_status read_value(struct reader *r, const struct wr_param_def *param,
                              const yaml_node_t *node, int64_t *value)
{
    return param->words ? read_word(r, param, node, value) : read_number(r, param, node, value);
}

static uint32_t find_param(const struct wr_stage_def *def, weir_span name)
{
    uint32_t i = 0;
    while (i < def->params_count && !wr_span_is(name, def->params[i].name))
        i++;
    return i;
}

/* ---- tools ---- */

static weir_status read_tool_param(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reader *r = user;
    const struct wr_stage_def *def = r->stage->def;
    weir_span name = wr_yaml_text(key);
    uint32_t index = find_param(def, name);
    char list[LIST_BYTES];

    if (index == def->params_count || !(def->tool_params >> index & 1))
        return wr_yaml_fail(&r->yaml, key, WEIR_INVALID,
                            "'%.*s' of stage '%s' cannot differ by tool; these can: %s",
                            SHOWN(name), def->name, list_params(list, def, true));
    r->rule->set |= 1U << index;
    return read_value(r, &def->params[index], value, &r->rule->params[index]);
}

/* The rule that `like` gave this tool is replaced. */
static struct wr_tool_rule *rule_slot(struct reader *r, weir_span tool)
{
    for (uint32_t i = 0; i < r->stage->tools_count; i++)
        if (wr_span_is(tool, r->rules[i].tool))
            return &r->rules[i];
    return r->stage->tools_count < WR_STAGE_TOOLS_MAX ? &r->rules[r->stage->tools_count++] : NULL;
}

static weir_status read_tool(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reader *r = user;
    const char *tool;
    bool is_exact = wr_span_is(wr_yaml_text(value), "exact");

    if (!wr_yaml_text(key).len)
        return wr_yaml_fail(&r->yaml, key, WEIR_INVALID, "a tool's name is wanted here");
    if (!is_exact && value->type != YAML_MAPPING_NODE)
        return wr_yaml_fail(&r->yaml, value, WEIR_INVALID,
                            "a tool is `exact`, or has parameters: {name: value}");
    weir_status status = keep_text(r, key, WR_TOOL_NAME_BYTES_MAX, &tool);
    if (status)
        return status;
    r->rule = rule_slot(r, wr_yaml_text(key));
    if (!r->rule)
        return wr_yaml_fail(&r->yaml, key, WEIR_LIMIT, "too many tools: at most %d a stage",
                            WR_STAGE_TOOLS_MAX);
    *r->rule = (struct wr_tool_rule){.tool = tool, .is_exact = is_exact};
    return is_exact ? WEIR_OK : wr_yaml_each(&r->yaml, value, MEMBERS_MAX, read_tool_param, r);
}

static weir_status read_tools(struct reader *r, const yaml_node_t *key, const yaml_node_t *value)
{
    const struct wr_stage_def *def = r->stage->def;
    if (!def->takes_tools)
        return wr_yaml_fail(&r->yaml, key, WEIR_INVALID,
                            "stage '%s' works on whole messages: it has no rules for tools",
                            def->name);
    r->rules = WR_ARENA_ARRAY(&r->into->arena, struct wr_tool_rule, WR_STAGE_TOOLS_MAX);
    if (!r->rules)
        return no_memory(r);
    if (r->stage->tools_count)
        memcpy(r->rules, r->stage->tools, r->stage->tools_count * sizeof(*r->rules));
    r->stage->tools = r->rules;
    return wr_yaml_each(&r->yaml, value, WR_STAGE_TOOLS_MAX, read_tool, r);
}

/* ---- stages ---- */

static weir_status read_param(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reader *r = user;
    const struct wr_stage_def *def = r->stage->def;
    weir_span name = wr_yaml_text(key);
    uint32_t index = find_param(def, name);
    char list[LIST_BYTES];

    if (wr_span_is(name, "stage"))
        return WEIR_OK; /* read before the others, wherever it stands */
    if (wr_span_is(name, "tools"))
        return read_tools(r, key, value);
    if (index == def->params_count)
        return wr_yaml_fail(&r->yaml, key, WEIR_INVALID,
                            "stage '%s' has no parameter '%.*s'; it has %s", def->name, SHOWN(name),
                            list_params(list, def, false));
    return read_value(r, &def->params[index], value, &r->stage->params[index]);
}

static const struct wr_stage *find_stage(const struct wr_policy *policy,
                                         const struct wr_stage_def *def)
{
    for (uint32_t i = 0; policy && i < policy->stages_count; i++)
        if (policy->stages[i].def == def)
            return &policy->stages[i];
    return NULL;
}

static struct wr_stage starting_point(const struct wr_policy *like, const struct wr_stage_def *def)
{
    const struct wr_stage *model = find_stage(like, def);
    struct wr_stage stage = {.def = def};
    if (model)
        return *model;
    for (uint32_t i = 0; i < def->params_count; i++)
        stage.params[i] = def->params[i].value;
    return stage;
}

static weir_status read_stage(struct reader *r, const yaml_node_t *node)
{
    yaml_node_t *name = wr_yaml_find(&r->yaml, node, "stage");
    char list[LIST_BYTES];

    if (!name)
        return wr_yaml_fail(&r->yaml, node, WEIR_INVALID,
                            "a stage is {stage: NAME, parameter: value, ...}");
    const struct wr_stage_def *def =
        wr_yaml_is_scalar(name) ? wr_stage_def_find(wr_yaml_text(name)) : NULL;
    if (!def)
        return wr_yaml_fail(&r->yaml, name, WEIR_INVALID, "no stage is called '%.*s'; there are %s",
                            SHOWN(wr_yaml_text(name)), list_stages(list));
    if (find_stage(r->policy, def))
        return wr_yaml_fail(&r->yaml, name, WEIR_INVALID, "stage '%s' is here twice", def->name);
    r->stage = &r->policy->stages[r->policy->stages_count++];
    *r->stage = starting_point(r->like, def);
    return wr_yaml_each(&r->yaml, node, MEMBERS_MAX, read_param, r);
}

static weir_status read_stages(struct reader *r, const yaml_node_t *list)
{
    weir_status status = WEIR_OK;
    if (list->type != YAML_SEQUENCE_NODE)
        return wr_yaml_fail(&r->yaml, list, WEIR_INVALID, "stages are a list");
    const yaml_node_item_t *start = list->data.sequence.items.start;
    const yaml_node_item_t *top = list->data.sequence.items.top;
    if (top - start > WR_POLICY_STAGES_MAX)
        return wr_yaml_fail(&r->yaml, list, WEIR_LIMIT, "%zu stages: at most %d a policy",
                            (size_t)(top - start), WR_POLICY_STAGES_MAX);
    for (const yaml_node_item_t *item = start; item < top && !status; item++)
        status = read_stage(r, yaml_document_get_node(&r->yaml.doc, *item));
    return status;
}

/* ---- policies ---- */

static bool is_name_byte(char c)
{
    return wr_is_word(c) || c == '-' || c == '.';
}

static bool is_name(weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_name_byte(text.ptr[i]) || (!i && memchr("-_.", text.ptr[i], 3)))
            return false;
    return text.len > 0;
}

/* A name or an alias: of the right letters, and not another policy's already. */
static weir_status check_name(struct reader *r, const yaml_node_t *node)
{
    weir_span name = wr_yaml_text(node);
    if (!is_name(name))
        return wr_yaml_fail(&r->yaml, node, WEIR_INVALID,
                            "a policy's name is letters, digits, '-', '_' and '.'");
    if (wr_policy_find(name))
        return wr_yaml_fail(&r->yaml, node, WEIR_INVALID,
                            "'%.*s' is a preset; give yours another name", SHOWN(name));
    if (wr_policies_find(r->into, name))
        return wr_yaml_fail(&r->yaml, node, WEIR_INVALID, "a policy above is called '%.*s' already",
                            SHOWN(name));
    return WEIR_OK;
}

static weir_status read_alias(struct reader *r, const yaml_node_t *node)
{
    weir_status status = check_name(r, node);
    return status ? status : keep_text(r, node, WR_POLICY_NAME_BYTES_MAX, &r->policy->alias);
}

static weir_status read_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reader *r = user;
    weir_span name = wr_yaml_text(key);

    if (wr_span_is(name, "what"))
        return keep_text(r, value, WR_POLICY_WHAT_BYTES_MAX, &r->policy->what);
    if (wr_span_is(name, "alias"))
        return read_alias(r, value);
    if (wr_span_is(name, "stages"))
        return read_stages(r, value);
    if (wr_span_is(name, "like"))
        return WEIR_OK; /* read before the others, wherever it stands */
    return wr_yaml_fail(&r->yaml, key, WEIR_INVALID,
                        "'%.*s' is not known here; a policy has what, alias, like and stages",
                        SHOWN(name));
}

static weir_status read_like(struct reader *r, const yaml_node_t *like)
{
    r->like = NULL;
    if (!like)
        return WEIR_OK;
    if (wr_yaml_is_scalar(like))
        r->like = wr_policies_find(r->into, wr_yaml_text(like));
    return r->like ? WEIR_OK
                   : wr_yaml_fail(&r->yaml, like, WEIR_INVALID,
                                  "no preset, and no policy above, is called '%.*s'",
                                  SHOWN(wr_yaml_text(like)));
}

static weir_status read_policy(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reader *r = user;
    yaml_node_t *like = wr_yaml_find(&r->yaml, value, "like");
    bool has_stages = wr_yaml_find(&r->yaml, value, "stages") != NULL;

    r->policy = &r->into->own[r->into->own_count];
    *r->policy = (struct wr_policy){.what = ""};
    weir_status status = check_name(r, key);
    if (!status)
        status = keep_text(r, key, WR_POLICY_NAME_BYTES_MAX, &r->policy->name);
    if (!status)
        status = read_like(r, like);
    if (!status)
        status = wr_yaml_each(&r->yaml, value, MEMBERS_MAX, read_member, r);
    if (!status && !has_stages && !like)
        status = wr_yaml_fail(&r->yaml, key, WEIR_INVALID, "a policy needs `stages`, or `like`");
    if (!status && !has_stages) {
        memcpy(r->policy->stages, r->like->stages, sizeof(r->policy->stages));
        r->policy->stages_count = r->like->stages_count;
    }
    r->into->own_count += !status;
    return status;
}

static bool is_on_ladder(const struct wr_policies *p, weir_span name)
{
    for (uint32_t i = 0; i < p->ladder_count; i++)
        if (wr_span_is(name, p->ladder[i]))
            return true;
    return false;
}

static weir_status read_ladder(struct reader *r, const yaml_node_t *list)
{
    struct wr_policies *p = r->into;
    if (list->type != YAML_SEQUENCE_NODE)
        return wr_yaml_fail(&r->yaml, list, WEIR_INVALID, "a ladder is a list");
    const yaml_node_item_t *top = list->data.sequence.items.top;
    for (const yaml_node_item_t *item = list->data.sequence.items.start; item < top; item++) {
        const yaml_node_t *node = yaml_document_get_node(&r->yaml.doc, *item);
        weir_span name = wr_yaml_text(node);
        const struct wr_policy *policy = wr_policies_find(p, name);
        if (!wr_yaml_is_scalar(node) || !policy || is_on_ladder(p, name) ||
            p->ladder_count == WR_POLICIES_MAX)
            return wr_yaml_fail(&r->yaml, node, WEIR_INVALID,
                                "a policy above is wanted here, each once, not '%.*s'",
                                SHOWN(name));
        p->ladder[p->ladder_count++] = policy->name;
    }
    return WEIR_OK;
}

static weir_status read_section(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reader *r = user;
    if (r->may_have_ladder && wr_span_is(wr_yaml_text(key), "ladder"))
        return read_ladder(r, value);
    if (!wr_span_is(wr_yaml_text(key), "policies"))
        return wr_yaml_fail(&r->yaml, key, WEIR_INVALID,
                            "`policies` is wanted here: policies: {NAME: {stages: [...]}}");
    return wr_yaml_each(&r->yaml, value, WR_POLICIES_MAX, read_policy, r);
}

static weir_status read_all(struct wr_policies *policies, weir_span text, bool may_have_ladder,
                            struct weir_err *err)
{
    struct reader r = {.into = policies, .may_have_ladder = may_have_ladder};

    if (text.len > WR_POLICIES_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "line 1, column 1: policies have at most %d bytes",
                       WR_POLICIES_BYTES_MAX);
    policies->own = WR_ARENA_ARRAY(&policies->arena, struct wr_policy, WR_POLICIES_MAX);
    if (!policies->own)
        return wr_fail(err, wr_arena_status(&policies->arena), 0, "no memory for the policies");
    policies->own_max = WR_POLICIES_MAX;
    weir_status status = wr_yaml_open(&r.yaml, text, err);
    if (status)
        return status;
    yaml_node_t *root = wr_yaml_root(&r.yaml);
    if (root)
        status = wr_yaml_each(&r.yaml, root, MEMBERS_MAX, read_section, &r);
    wr_yaml_close(&r.yaml);
    return status;
}

/* ---- the set ---- */

static weir_status new_policies(struct wr_policies **policies, weir_span yaml, bool may_have_ladder,
                                struct weir_err *err)
{
    *policies = NULL;
    struct wr_policies *p = calloc(1, sizeof(*p));
    if (!p)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the policies");
    wr_arena_init(&p->arena, WR_POLICIES_MEMORY_BYTES_MAX);
    weir_status status = yaml.len ? read_all(p, yaml, may_have_ladder, err) : WEIR_OK;
    if (status) {
        wr_policies_free(p);
        return status;
    }
    *policies = p;
    return WEIR_OK;
}

weir_status wr_policies_new(struct wr_policies **policies, weir_span yaml, struct weir_err *err)
{
    return new_policies(policies, yaml, false, err);
}

weir_status wr_policies_new_presets(struct wr_policies **policies, weir_span yaml,
                                    struct weir_err *err)
{
    return new_policies(policies, yaml, true, err);
}

void wr_policies_free(struct wr_policies *policies)
{
    if (!policies)
        return;
    wr_arena_release(&policies->arena);
    free(policies);
}

static const char *copy_text(struct wr_policies *p, const char *text)
{
    return wr_arena_copy(&p->arena, (weir_span){text, strlen(text) + 1}).ptr;
}

weir_status wr_policies_add(struct wr_policies *policies, const struct wr_policy *policy)
{
    const char *name = copy_text(policies, policy->name), *what = copy_text(policies, policy->what);

    if (!name || !what ||
        !WR_ARENA_ROOM(&policies->arena, policies->own, policies->own_count, policies->own_max,
                       WR_POLICIES_MAX / 4))
        return wr_arena_status(&policies->arena);
    struct wr_policy *added = &policies->own[policies->own_count++];
    *added = *policy;
    added->name = name;
    added->what = what;
    added->alias = NULL;
    return WEIR_OK;
}

uint32_t wr_policies_count(const struct wr_policies *policies)
{
    return wr_policy_count() + policies->own_count;
}

const struct wr_policy *wr_policies_at(const struct wr_policies *policies, uint32_t index)
{
    uint32_t presets = wr_policy_count();
    if (index < presets)
        return wr_policy_at(index);
    return index < wr_policies_count(policies) ? &policies->own[index - presets] : NULL;
}

const char *wr_policies_rung(const struct wr_policies *policies, uint32_t index)
{
    return index < policies->ladder_count ? policies->ladder[index] : NULL;
}

const struct wr_policy *wr_policies_find(const struct wr_policies *policies, weir_span name)
{
    for (uint32_t i = policies->own_count; i-- > 0;)
        if (policy_is_called(&policies->own[i], name))
            return &policies->own[i];
    return wr_policy_find(name);
}

/* ---- writing ---- */

/* A policy as the YAML it could have been read from: every value is said, so that it stays the same
 * when a default changes. */

static uint32_t read_character(weir_span text, size_t *at)
{
    unsigned char first = (unsigned char)text.ptr[(*at)++];
    uint32_t character = first < 0x80   ? first
                         : first < 0xE0 ? first & 0x1F
                         : first < 0xF0 ? first & 0x0F
                                        : first & 0x07;
    while (*at < text.len && wr_utf8_is_tail(text.ptr[*at]))
        character = character << 6 | ((unsigned char)text.ptr[(*at)++] & 0x3F);
    return character;
}

/* YAML breaks lines at U+0085, U+2028 and U+2029, and refuses what cannot be seen. */
static bool is_plain(uint32_t character)
{
    return (character >= 0xA0 && character < 0x2028) ||
           (character > 0x2029 && character < 0xD800) ||
           (character >= 0xE000 && character < 0xFEFF);
}

static void write_quoted(struct wr_buf *out, const char *string)
{
    weir_span text = wr_span_of(string);
    wr_buf_byte(out, '"');
    for (size_t at = 0; at < text.len;) {
        size_t start = at;
        uint32_t character = read_character(text, &at);
        if (character == '"' || character == '\\')
            wr_buf_printf(out, "\\%c", (int)character);
        else if ((character >= 0x20 && character < 0x7F) || is_plain(character))
            wr_buf_append(out, wr_span_cut(text, start, at));
        else
            wr_buf_printf(out, "\\U%08X", (unsigned)character);
    }
    wr_buf_byte(out, '"');
}

static void write_value(struct wr_buf *out, const struct wr_param_def *param, int64_t value)
{
    wr_buf_printf(out, "%s: ", param->name);
    if (param->words)
        wr_buf_text(out, param->words[value]);
    else
        wr_buf_printf(out, "%lld", (long long)value);
}

static void write_rule(struct wr_buf *out, const struct wr_stage_def *def,
                       const struct wr_tool_rule *rule)
{
    bool is_first = true;
    write_quoted(out, rule->tool);
    if (rule->is_exact) {
        wr_buf_text(out, ": exact");
        return;
    }
    wr_buf_text(out, ": {");
    for (uint32_t i = 0; i < def->params_count; i++) {
        if (!(rule->set >> i & 1))
            continue;
        wr_buf_text(out, is_first ? "" : ", ");
        write_value(out, &def->params[i], rule->params[i]);
        is_first = false;
    }
    wr_buf_byte(out, '}');
}

static void write_stage(struct wr_buf *out, const struct wr_stage *stage)
{
    wr_buf_printf(out, "      - stage: %s\n", stage->def->name);
    for (uint32_t i = 0; i < stage->def->params_count; i++) {
        wr_buf_text(out, "        ");
        write_value(out, &stage->def->params[i], stage->params[i]);
        wr_buf_byte(out, '\n');
    }
    if (stage->tools_count)
        wr_buf_text(out, "        tools:\n");
    for (uint32_t i = 0; i < stage->tools_count; i++) {
        wr_buf_text(out, "          ");
        write_rule(out, stage->def, &stage->tools[i]);
        wr_buf_byte(out, '\n');
    }
}

void wr_policy_yaml_begin(struct wr_buf *out)
{
    wr_buf_text(out, "policies:\n");
}

void wr_policy_yaml_write(struct wr_buf *out, const struct wr_policy *policy, const char *name)
{
    wr_buf_printf(out, "  %s:\n    what: ", name);
    write_quoted(out, policy->what);
    wr_buf_text(out, policy->stages_count ? "\n    stages:\n" : "\n    stages: []\n");
    for (uint32_t i = 0; i < policy->stages_count; i++)
        write_stage(out, &policy->stages[i]);
}
