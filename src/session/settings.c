/* Reads a session's YAML. One table names every setting: its section, key, shape, place in
 * struct wr_settings and bounds. What is not said keeps its default, or WR_SETTING_UNSAID where the
 * policy's own value holds (further down). */
#include "session/settings.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "base/yaml.h"
#include "models/fields.h"
#include "models/window.h"
#include "policy/budget.h"
#include "policy/stage.h"

enum { MEMBERS_MAX = 32, MILLION = 1000000, MS_A_MINUTE = 60 * 1000, SUMMARY_TIMEOUT_MS = 60000 };
enum { SUMMARY_TOKENS = 4000, SUMMARY_COST_MICRO_USD = 100000 };

enum shape {
    NUMBER,  /* whole, times `scale` */
    DECIMAL, /* with `scale` places kept as a whole number */
    WORD,    /* one of `words`, by its number */
    NAME,    /* any text */
};

struct setting {
    const char *section, *key;
    enum shape shape;
    size_t at;
    uint64_t min, max;
    uint32_t scale;           /* of NUMBER: what one is worth; of DECIMAL: places */
    const char *const *words; /* NULL-terminated */
};

static const char *const truncations[] = {"head", "tail", "both", NULL};
static const char *const disconnects[] = {"pause", "continue", NULL};

/* `limits: {session: ...}`, as messages name it. */
#define IN_SESSION "limits.session"

#define AT(field) offsetof(struct wr_settings, field)

static const struct setting settings_known[] = {
    {"model", "provider", NAME, SIZE_MAX, 0, 0, 0, NULL},
    {"model", "name", NAME, AT(model), 0, WR_MODEL_NAME_BYTES_MAX, 0, NULL},
    {"model", "max_input_tokens", NUMBER, AT(input_tokens_max), 256, WR_MODEL_TOKENS_MAX, 1, NULL},
    {"model", "max_output_tokens", NUMBER, AT(output_tokens_max), 1, WR_MODEL_TOKENS_MAX, 1, NULL},
    {"session", "policy", NAME, AT(policy), 0, WR_POLICY_NAME_BYTES_MAX, 0, NULL},
    {"session", "on_disconnect", WORD, AT(continues), 0, 0, 0, disconnects},
    {"session", "max_tool_iterations", NUMBER, AT(tool_iterations_max), 1, MILLION, 1, NULL},
    {"session", "compression_threshold", DECIMAL, AT(threshold_bp), 1, 10000, 4, NULL},
    {"context", "max_history_tokens", NUMBER, AT(history_tokens_max), 0, 100 * MILLION, 1, NULL},
    {"context", "max_tool_result_tokens", NUMBER, AT(result_tokens_max), 1, MILLION, 1, NULL},
    {"context", "tool_result_truncation", WORD, AT(truncation), 0, 0, 0, truncations},
    {"context", "tool_result_keep_first", NUMBER, AT(keep_first), 0, 100000, 1, NULL},
    {"context", "tool_result_keep_last", NUMBER, AT(keep_last), 0, 100000, 1, NULL},
    {"limits", "turns", NUMBER, AT(limits.turns_max), 0, MILLION, 1, NULL},
    {"limits", "tokens", NUMBER, AT(limits.tokens_max), 0, WR_MODEL_TOKENS_MAX, 1, NULL},
    {"limits", "tool_calls", NUMBER, AT(limits.tool_calls_max), 0, MILLION, 1, NULL},
    {"limits", "cost_usd", DECIMAL, AT(limits.cost_micro_usd_max), 0, WR_MODEL_PRICE_MAX, 6, NULL},
    {"limits", "minutes", NUMBER, AT(limits.elapsed_ms_max), 0, MILLION, MS_A_MINUTE, NULL},
    {IN_SESSION, "turns", NUMBER, AT(session_limits.turns_max), 0, MILLION, 1, NULL},
    {IN_SESSION, "tokens", NUMBER, AT(session_limits.tokens_max), 0, WR_MODEL_TOKENS_MAX, 1, NULL},
    {IN_SESSION, "tool_calls", NUMBER, AT(session_limits.tool_calls_max), 0, MILLION, 1, NULL},
    {IN_SESSION, "cost_usd", DECIMAL, AT(session_limits.cost_micro_usd_max), 0, WR_MODEL_PRICE_MAX,
     6, NULL},
    {IN_SESSION, "minutes", NUMBER, AT(session_limits.elapsed_ms_max), 0, MILLION, MS_A_MINUTE,
     NULL},
    {"summary", "at", DECIMAL, AT(summary_at_bp), 1, 10000, 4, NULL},
    {"summary", "max_tokens", NUMBER, AT(summary_tokens_max), 100, MILLION, 1, NULL},
    {"summary", "timeout_ms", NUMBER, AT(summary_timeout_ms), 1, 3600 * 1000, 1, NULL},
    {"summary", "max_cost_usd", DECIMAL, AT(summary_cost_micro_usd), 0, WR_MODEL_PRICE_MAX, 6,
     NULL},
};

enum { SETTINGS_COUNT = WR_COUNT_OF(settings_known) };

struct reader {
    struct wr_settings *settings;
    struct wr_yaml *yaml;
    const char *section;
};

static void set_number(struct wr_settings *settings, const struct setting *setting, uint64_t number)
{
    char *at = (char *)settings + setting->at;
    if (setting->at == AT(continues))
        settings->continues = number != 0;
    else
        memcpy(at, &number, sizeof(number));
}

static weir_status set_word(struct reader *r, const struct setting *setting,
                            const yaml_node_t *value)
{
    weir_span text = wr_yaml_text(value);
    char list[64] = "";
    for (uint64_t i = 0; setting->words[i]; i++) {
        size_t len = strlen(list);
        if (wr_yaml_is_scalar(value) && wr_span_is(text, setting->words[i])) {
            set_number(r->settings, setting, i);
            return WEIR_OK;
        }
        (void)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", setting->words[i]);
    }
    return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "%s is one of %s", setting->key, list);
}

static weir_status set_name(struct reader *r, const struct setting *setting,
                            const yaml_node_t *value)
{
    weir_span text = wr_yaml_text(value);
    if (!wr_yaml_is_scalar(value) || !text.len)
        return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "%s is a name", setting->key);
    if (setting->at == SIZE_MAX)
        return WEIR_OK;
    if (text.len > setting->max)
        return wr_yaml_fail(r->yaml, value, WEIR_LIMIT, "%s has at most %llu bytes", setting->key,
                            (unsigned long long)setting->max);
    char *at = (char *)r->settings + setting->at;
    memcpy(at, text.ptr, text.len);
    at[text.len] = 0;
    return WEIR_OK;
}

static weir_status set_quantity(struct reader *r, const struct setting *setting,
                                const yaml_node_t *value)
{
    weir_span text = wr_yaml_text(value);
    uint64_t number = 0;
    uint32_t scaled = 0;
    bool is_decimal = setting->shape == DECIMAL;
    bool is_number =
        wr_yaml_is_scalar(value) &&
        (is_decimal ? wr_decimal_scaled(text, setting->scale, (uint32_t)setting->max, &scaled)
                    : wr_span_u64(text, &number));

    number = is_decimal ? scaled : number;
    if (is_number && number >= setting->min && number <= setting->max) {
        set_number(r->settings, setting, is_decimal ? number : number * setting->scale);
        return WEIR_OK;
    }
    if (is_decimal)
        return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "%s is a decimal such as 0.8",
                            setting->key);
    return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "%s is a whole number from %llu to %llu",
                        setting->key, (unsigned long long)setting->min,
                        (unsigned long long)setting->max);
}

static const struct setting *find_setting(const char *section, weir_span key)
{
    for (size_t i = 0; i < SETTINGS_COUNT; i++)
        if (!strcmp(settings_known[i].section, section) && wr_span_is(key, settings_known[i].key))
            return &settings_known[i];
    return NULL;
}

static weir_status unknown(struct reader *r, const yaml_node_t *key)
{
    weir_span name = wr_yaml_text(key);
    return wr_yaml_fail(r->yaml, key, WEIR_INVALID, "'%.*s' is nothing that %s can be told",
                        (int)(name.len < 60 ? name.len : 60), name.ptr, r->section);
}

static weir_status read_member(void *user, yaml_node_t *key, yaml_node_t *value);

static weir_status read_section(struct reader *r, const char *section, yaml_node_t *value)
{
    struct reader inner = {r->settings, r->yaml, section};
    if (!strcmp(section, "context"))
        r->settings->has_context = true;
    return wr_yaml_each(r->yaml, value, MEMBERS_MAX, read_member, &inner);
}

/* `session` has sections of its own and one of them, `limits`, has one more: the walk ends. */
static weir_status read_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    static const char *const inner[] = {"context", "limits", "summary"};
    struct reader *r = user;
    weir_span name = wr_yaml_text(key);

    for (size_t i = 0; i < WR_COUNT_OF(inner); i++)
        if (!strcmp(r->section, "session") && wr_span_is(name, inner[i]))
            return read_section(r, inner[i], value);
    if (!strcmp(r->section, "limits") && wr_span_is(name, "session"))
        return read_section(r, IN_SESSION, value);
    const struct setting *setting = find_setting(r->section, name);
    if (!setting)
        return unknown(r, key);
    if (setting->shape == WORD)
        return set_word(r, setting, value);
    return setting->shape == NAME ? set_name(r, setting, value) : set_quantity(r, setting, value);
}

static weir_status read_top(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reader *r = user;
    weir_span name = wr_yaml_text(key);
    if (wr_span_is(name, "model"))
        return read_section(r, "model", value);
    if (wr_span_is(name, "session"))
        return read_section(r, "session", value);
    if (wr_span_is(name, "mcp_servers")) /* of the program: the library starts none */
        return WEIR_OK;
    return unknown(r, key);
}

static struct wr_settings defaults(void)
{
    return (struct wr_settings){.threshold_bp = WR_SETTING_UNSAID,
                                .history_tokens_max = WR_SETTING_UNSAID,
                                .result_tokens_max = WR_SETTING_UNSAID,
                                .truncation = WR_SETTING_UNSAID,
                                .keep_first = WR_SETTING_UNSAID,
                                .keep_last = WR_SETTING_UNSAID,
                                .limits = wr_run_limits_default(),
                                .summary_tokens_max = SUMMARY_TOKENS,
                                .summary_timeout_ms = SUMMARY_TIMEOUT_MS,
                                .summary_cost_micro_usd = SUMMARY_COST_MICRO_USD};
}

weir_status wr_settings_read(struct wr_settings *settings, weir_span yaml, struct weir_err *err)
{
    struct wr_settings read = defaults();
    struct wr_yaml doc;

    if (yaml.len > WR_SETTINGS_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a session's settings have at most %d bytes",
                       WR_SETTINGS_BYTES_MAX);
    weir_status status = wr_yaml_open(&doc, yaml, err);
    if (status)
        return status;
    struct reader reader = {&read, &doc, "a configuration"};
    if (wr_yaml_root(&doc))
        status = wr_yaml_each(&doc, wr_yaml_root(&doc), MEMBERS_MAX, read_top, &reader);
    wr_yaml_close(&doc);
    if (status)
        return status;
    if (!read.policy[0])
        (void)snprintf(read.policy, sizeof(read.policy), "%s",
                       read.has_context ? "layers" : "auto");
    *settings = read;
    return WEIR_OK;
}

/* ---- what a session makes of its policy ----
 *
 * What a session makes of its policy: the stages that it does itself, and the rest for the engine.
 *
 * The engine finds policies by name and compares them by hash, so what is left of a policy is one
 * of its own, "session-NAME". Those of all other policies are there too: the last request of a
 * session that was told another policy since was sent under one of them, and the engine holds on to
 * it while signed thinking binds the prefix (docs/policies.md, "Marks and pins").
 */

static void set_said(int64_t *param, uint64_t value)
{
    if (value != WR_SETTING_UNSAID)
        *param = (int64_t)value;
}

/* What comes behind it is a last resort at most. */
static bool is_last(const struct wr_policy *policy, uint32_t index)
{
    while (++index < policy->stages_count)
        if (policy->stages[index].def != &wr_stage_fit)
            return false;
    return true;
}

static bool is_done_by_session(const struct wr_policy *policy, uint32_t index)
{
    enum wr_stage_work work = policy->stages[index].def->work;
    return work == WR_WORK_HISTORY || (work == WR_WORK_SUMMARY && is_last(policy, index));
}

/* A session that fills its history, or writes the summary, keeps itself within the window: the last
 * resort would take out what it is about to summarise. */
static bool is_left_to_session(const struct wr_policy *policy, uint32_t index)
{
    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (is_done_by_session(policy, i))
            return policy->stages[index].def == &wr_stage_fit;
    return false;
}

static bool has_work(const struct wr_policy *policy, enum wr_stage_work work)
{
    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (policy->stages[i].def->work == work)
            return true;
    return false;
}

/* The share of the window that two stages or more wait for, where it is one and the same for all;
 * else 0. Such a policy has one threshold, which `compression_threshold` moves. */
static int64_t shared_threshold(const struct wr_policy *policy)
{
    int64_t share = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < policy->stages_count; i++) {
        const struct wr_stage *stage = &policy->stages[i];
        if (stage->def->acts_at != wr_stage_at_share)
            continue;
        if (count++ && stage->params[0] != share)
            return 0;
        share = stage->params[0];
    }
    return count > 1 ? share : 0;
}

/* `session.context` speaks of the stages of a policy that keeps history within a budget. */
static void set_context(struct wr_stage *stage, const struct wr_settings *s)
{
    if (stage->def == &wr_stage_cap) {
        set_said(&stage->params[WR_CAP_MAX_TOKENS], s->result_tokens_max);
        set_said(&stage->params[WR_CAP_KEEP], s->truncation);
    } else if (stage->def == &wr_stage_mask) {
        set_said(&stage->params[WR_MASK_KEEP_FIRST], s->keep_first);
        set_said(&stage->params[WR_MASK_KEEP_LAST], s->keep_last);
    } else if (stage->def == &wr_stage_fill) {
        set_said(&stage->params[WR_FILL_HISTORY_TOKENS], s->history_tokens_max);
    }
}

/* In a session's settings two zeros mean that nothing is masked. */
static bool is_switched_off(const struct wr_stage *stage, const struct wr_settings *s)
{
    bool is_said = s->keep_first != WR_SETTING_UNSAID || s->keep_last != WR_SETTING_UNSAID;
    return is_said && stage->def == &wr_stage_mask && !stage->params[WR_MASK_KEEP_FIRST] &&
           !stage->params[WR_MASK_KEEP_LAST];
}

static void take_stage(struct wr_session_policy *made, const struct wr_stage *stage,
                       bool is_sessions)
{
    if (!is_sessions) {
        made->engine.stages[made->engine.stages_count++] = *stage;
    } else if (stage->def->work == WR_WORK_SUMMARY) {
        made->has_summary = true;
        made->summary = *stage;
    } else {
        made->history_tokens = (uint64_t)stage->params[WR_FILL_HISTORY_TOKENS];
    }
}

/* Rules for tools in `made` are borrowed from `policy`. */
static void make_policy(struct wr_session_policy *made, const struct wr_policy *policy,
                        const struct wr_settings *settings)
{
    int64_t threshold = shared_threshold(policy);
    bool is_moved = threshold && settings->threshold_bp != WR_SETTING_UNSAID;

    memset(made, 0, sizeof(*made));
    made->engine.what = policy->what;
    made->is_idle = !policy->stages_count;
    /* A document that says what to take an unknown window for defines its policy by the table. */
    made->has_window_table = wr_policy_unknown_window(policy) != WR_FALLBACK_TOKENS;
    made->fills_history = has_work(policy, WR_WORK_HISTORY);
    made->threshold_bp = threshold ? (uint32_t)threshold : WR_COMPRESS_THRESHOLD_BP;
    if (settings->threshold_bp != WR_SETTING_UNSAID)
        made->threshold_bp = (uint32_t)settings->threshold_bp;
    for (uint32_t i = 0; i < policy->stages_count; i++) {
        struct wr_stage stage = policy->stages[i];
        if (is_left_to_session(policy, i))
            continue;
        if (is_moved && stage.def->acts_at == wr_stage_at_share)
            stage.params[0] = (int64_t)settings->threshold_bp;
        if (made->fills_history)
            set_context(&stage, settings);
        if (!made->fills_history || !is_switched_off(&stage, settings))
            take_stage(made, &stage, is_done_by_session(policy, i));
    }
    bool is_same = wr_policy_equal(&made->engine, policy);
    (void)snprintf(made->name, sizeof(made->name), "%s%.*s", is_same ? "" : "session-",
                   (int)(sizeof(made->name) - sizeof("session-")), policy->name);
    made->engine.name = made->name;
}

uint64_t wr_session_policy_clear_at(const struct wr_session_policy *policy, uint64_t window_tokens)
{
    struct wr_stage_room room = {window_tokens, window_tokens - window_tokens / WR_RESERVE_SHARE};

    for (uint32_t i = 0; i < policy->engine.stages_count; i++) {
        const struct wr_stage *stage = &policy->engine.stages[i];
        if (stage->def->work == WR_WORK_SHORTENS)
            return wr_stage_when(stage, &room).at_tokens;
    }
    return 0;
}

weir_status wr_session_policies(struct wr_policies *policies, const struct wr_settings *settings,
                                struct wr_session_policy *made, struct weir_err *err)
{
    const struct wr_policy *chosen = wr_policies_find(policies, wr_span_of(settings->policy));
    uint32_t count = wr_policies_count(policies);
    weir_status status = WEIR_OK;

    if (!chosen)
        return wr_fail(err, WEIR_NOTFOUND, 0,
                       "no policy is called '%.60s'; `weir policies` lists them", settings->policy);
    for (uint32_t i = 0; i < count && !status; i++) {
        make_policy(made, wr_policies_at(policies, i), settings);
        if (!wr_policies_find(policies, wr_span_of(made->name)))
            status = wr_policies_add(policies, &made->engine);
    }
    /* Last, so that it goes before a policy of the user's that has this very name. */
    make_policy(made, chosen, settings);
    const struct wr_policy *same = wr_policies_find(policies, wr_span_of(made->name));
    if (!status && (!same || !wr_policy_equal(same, &made->engine)))
        status = wr_policies_add(policies, &made->engine);
    return status ? wr_fail(err, status, 0, "no memory for the policies") : WEIR_OK;
}
