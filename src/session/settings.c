/* Reads a session's YAML. One table names every setting: its section, key, shape, place in
 * struct wr_settings and bounds. What is not said keeps its default, or WR_SETTING_UNSAID where the
 * policy's own value holds (session_policy.c). */
#include "session/settings.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "base/yaml.h"
#include "models/fields.h"
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
