/* What the table of agents makes of one call: variables, words and files.
 *
 *   wr_plan_make()   each setting of the agent's row that is wanted (is_wanted()) is filled in and
 *                    added; then the words are joined: program, ours, the user's
 *
 * A setting is not wanted if the user has set the same thing himself; words are left out before a
 * subcommand of the agent, which must come first. Names in angle brackets are replaced as agents.h
 * says; a text in JSON quotes them.
 */
#include "api/api.h"
#include "launch/agents.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "base/words.h"
#include "json/json.h"

enum { WORDS_OF_SETTINGS_MAX = 2 * (WR_SETTINGS_MAX + WR_PROVIDERS_MAX) };

struct making {
    struct wr_plan *plan;
    struct wr_arena *arena;
    const struct wr_agent *agent;
    const struct wr_launch *launch;
    char *words[WORDS_OF_SETTINGS_MAX];
    size_t words_count;
    size_t
        early_count; /* words of ours that stand before the user's; the others behind his first */
};

const char *wr_environment_find(char **environment, const char *name)
{
    size_t bytes = strlen(name);
    for (char **at = environment; at && *at; at++)
        if (!strncmp(*at, name, bytes) && (*at)[bytes] == '=' && (*at)[bytes + 1])
            return *at + bytes + 1;
    return NULL;
}

bool wr_environment_is_on(char **environment, const char *name)
{
    const char *value = wr_environment_find(environment, name);
    return value && !wr_is_any_of_folded(wr_span_of(value), "0|false|no|off");
}

/* Whether one of the variables is set, whatever it says: what a user has set is his. */
static bool has_any_variable(char **environment, const char *names)
{
    for (char **at = environment; at && *at; at++) {
        const char *equals = strchr(*at, '=');
        if (equals && equals[1] && wr_is_any_of((weir_span){*at, (size_t)(equals - *at)}, names))
            return true;
    }
    return false;
}

/* ---- texts ---- */

static void put_quoted(struct wr_buf *out, weir_span text)
{
    wr_buf_byte(out, '"');
    wr_json_escape(out, text);
    wr_buf_byte(out, '"');
}

static void put_address(struct wr_buf *out, const struct wr_launch *launch, const char *name)
{
    wr_buf_printf(out, "%s/p/%s", launch->root, name);
}

/* The user's own; and those of the table that the user has not redirected himself. */
static void put_providers(struct wr_buf *out, const struct wr_launch *launch,
                          const struct wr_agent *agent)
{
    const char *comma = "";

    for (size_t i = 0; i < launch->providers_count; i++, comma = ",") {
        wr_buf_printf(out, "%s[\"%s\",\"", comma, launch->providers[i].name);
        put_address(out, launch, launch->providers[i].name);
        wr_buf_text(out, "\"]");
    }
    for (const struct wr_provider *p = agent->providers; p->name; p++) {
        bool is_own = false;
        for (size_t i = 0; i < launch->providers_count; i++)
            is_own = is_own || !strcmp(launch->providers[i].name, p->name);
        if (is_own)
            continue;
        wr_buf_printf(out, "%s[\"%s\",\"%s%s\"]", comma, p->name, launch->root, p->url);
        comma = ",";
    }
}

static void put_opencode_providers(struct wr_buf *out, const struct wr_launch *launch)
{
    for (size_t i = 0; i < launch->providers_count; i++) {
        wr_buf_printf(out, "%s\"%s\":{\"options\":{\"baseURL\":\"", i ? "," : "",
                      launch->providers[i].name);
        put_address(out, launch, launch->providers[i].name);
        wr_buf_text(out, "\"}}");
    }
}

/* Addresses stand in JSON strings, and have nothing that must be escaped there. */
static void put_own(struct wr_buf *out, const struct wr_launch *launch)
{
    for (size_t i = 0; i < launch->pieces_count; i++) {
        wr_buf_append(out, launch->pieces[i].text);
        if (launch->pieces[i].address)
            wr_buf_printf(out, "%s%s", launch->root, launch->pieces[i].address);
    }
}

static void put_mcp_env(struct wr_buf *out, const struct wr_launch *launch)
{
    wr_buf_byte(out, '{');
    if (launch->token) {
        wr_buf_text(out, "\"WEIR_TOKEN\":");
        put_quoted(out, wr_span_of(launch->token));
    }
    wr_buf_byte(out, '}');
}

/* False: there is no such name. */
static bool put_value(struct wr_buf *out, const struct wr_launch *launch,
                      const struct wr_agent *agent, const char *provider, weir_span name)
{
    if (wr_span_is(name, "root"))
        wr_buf_text(out, launch->root);
    else if (wr_span_is(name, "v1"))
        wr_buf_printf(out, "%s/v1", launch->root);
    else if (wr_span_is(name, "mcp"))
        wr_buf_printf(out, "%s/mcp", launch->root);
    else if (wr_span_is(name, "weir"))
        wr_buf_text(out, launch->weir);
    else if (wr_span_is(name, "store"))
        wr_buf_text(out, launch->store);
    else if (wr_span_is(name, "dir"))
        wr_buf_text(out, launch->dir);
    else if (wr_span_is(name, "mcp_env"))
        put_mcp_env(out, launch);
    else if (wr_span_is(name, "providers"))
        put_providers(out, launch, agent);
    else if (wr_span_is(name, "opencode_providers"))
        put_opencode_providers(out, launch);
    else if (wr_span_is(name, "own"))
        put_own(out, launch);
    else if (wr_span_is(name, "name") && provider)
        wr_buf_text(out, provider);
    else if (wr_span_is(name, "url") && provider)
        put_address(out, launch, provider);
    else if (wr_api_has_upstream(name))
        wr_buf_printf(out, launch->has_one_upstream ? "%s" : "%s/%.*s", launch->root, (int)name.len,
                      name.ptr);
    else
        return false;
    return true;
}

/* Writes the value at `text`, which begins with '<'; returns how many bytes stood for it, 0: it is
 * no name of a value. */
static size_t expand_name(struct wr_buf *out, const struct wr_launch *launch,
                          const struct wr_agent *agent, const char *provider, weir_span text)
{
    const char *end = memchr(text.ptr, '>', text.len);
    size_t bytes = end ? (size_t)(end - text.ptr) + 1 : 0;
    struct wr_buf value;

    if (bytes < sizeof("<x>") - 1)
        return 0;
    weir_span name = wr_span_cut(text, 1, bytes - 1);
    bool is_quoted = name.len > 2 && name.ptr[0] == '"' && name.ptr[name.len - 1] == '"';
    if (!is_quoted)
        return put_value(out, launch, agent, provider, name) ? bytes : 0;
    wr_buf_init(&value, WR_LAUNCH_SETTINGS_BYTES_MAX);
    bool is_name = put_value(&value, launch, agent, provider, wr_span_cut(name, 1, name.len - 1));
    if (is_name)
        put_quoted(out, wr_buf_view(&value));
    if (wr_buf_status(&value))
        out->status = value.status;
    wr_buf_release(&value);
    return is_name ? bytes : 0;
}

static const char *fill_text(struct wr_arena *arena, const struct wr_launch *launch,
                             const struct wr_agent *agent, const char *provider, weir_span text)
{
    struct wr_buf out;
    weir_span kept;

    wr_buf_init(&out, WR_LAUNCH_SETTINGS_BYTES_MAX);
    for (size_t at = 0; at < text.len;) {
        size_t bytes = text.ptr[at] == '<' ? expand_name(&out, launch, agent, provider,
                                                         wr_span_cut(text, at, text.len))
                                           : 0;
        if (!bytes)
            wr_buf_byte(&out, text.ptr[at]);
        at += bytes ? bytes : 1;
    }
    wr_buf_byte(&out, '\0');
    return wr_text_keep(arena, &out, &kept) ? NULL : kept.ptr;
}

const char *wr_launch_text(struct wr_arena *arena, const struct wr_launch *launch,
                           const struct wr_agent *agent, const char *text)
{
    return fill_text(arena, launch, agent, NULL, wr_span_of(text));
}

/* ---- settings ---- */

static bool has_argument(char **argv, const char *word)
{
    size_t bytes = strlen(word);
    for (char **at = argv; *at; at++)
        if (!strncmp(*at, word, bytes) && (!(*at)[bytes] || (*at)[bytes] == '='))
            return true;
    return false;
}

static bool is_command(const struct wr_agent *agent, const char *word)
{
    for (const char *const *at = agent->commands; at && *at && word; at++)
        if (!strcmp(*at, word))
            return true;
    return false;
}

static bool has_upstream(const struct wr_launch *launch, const char *name)
{
    for (size_t i = 0; i < launch->upstreams_count; i++)
        if (!strcmp(launch->upstreams[i].name, name))
            return true;
    return false;
}

static bool has_any_word(char **argv, const char *words)
{
    for (char **at = argv; *at; at++)
        if (wr_is_any_of(wr_span_of(*at), words))
            return true;
    return false;
}

static bool is_wanted(const struct making *m, const struct wr_setting *setting, char **argv)
{
    char **environment = m->launch->environment;

    if (setting->if_env && !wr_environment_find(environment, setting->if_env))
        return false;
    if (setting->unless_env && has_any_variable(environment, setting->unless_env))
        return false;
    if (setting->if_word && !has_any_word(argv, setting->if_word))
        return false;
    if (setting->after && (!argv[1] || !wr_is_any_of(wr_span_of(argv[1]), setting->after)))
        return false;
    if (setting->unless_upstream && has_upstream(m->launch, setting->unless_upstream))
        return false;
    if (setting->if_redirected && !m->launch->is_redirected)
        return false;
    return setting->kind != WR_SET_WORDS || !setting->name || !has_argument(argv, setting->name);
}

static bool add_words(struct making *m, const struct wr_setting *setting, const char *provider)
{
    weir_span rest = wr_span_of(setting->text), word;

    while (wr_span_line(&rest, &word) && m->words_count < WORDS_OF_SETTINGS_MAX) {
        const char *text = fill_text(m->arena, m->launch, m->agent, provider, word);
        if (!text)
            return false;
        m->words[m->words_count++] = (char *)(uintptr_t)text;
    }
    if (!setting->after)
        m->early_count = m->words_count;
    return true;
}

static bool add_each(struct making *m, const struct wr_setting *setting)
{
    bool ok = true;
    for (size_t i = 0; ok && i < m->launch->providers_count; i++)
        ok = add_words(m, setting, m->launch->providers[i].name);
    return ok;
}

static bool add_setting(struct making *m, const struct wr_setting *setting)
{
    struct wr_plan *plan = m->plan;

    if (setting->kind == WR_SET_WORDS)
        return setting->is_for_each ? add_each(m, setting) : add_words(m, setting, NULL);
    const char *text = wr_launch_text(m->arena, m->launch, m->agent, setting->text);
    if (!text)
        return false;
    if (setting->kind == WR_SET_ENV) {
        plan->env[plan->env_count].name = setting->name;
        plan->env[plan->env_count++].value = text;
    } else {
        plan->files[plan->files_count].name = setting->name;
        plan->files[plan->files_count++].text = wr_span_of(text);
    }
    return true;
}

/* The program, our words, the user's; or those of ours that belong to his command behind it. */
static bool join_words(struct making *m, char **argv)
{
    size_t own_count = 0, at = 0;

    while (argv[own_count])
        own_count++;
    if (is_command(m->agent, own_count > 1 ? argv[1] : NULL))
        m->words_count = m->early_count = 0;
    char **all = WR_ARENA_ARRAY(m->arena, char *, own_count + m->words_count + 1);
    if (!all)
        return false;
    all[at++] = argv[0];
    for (size_t i = 0; i < m->early_count; i++)
        all[at++] = m->words[i];
    for (size_t i = 1; i < own_count; i++) {
        all[at++] = argv[i];
        for (size_t j = m->early_count; i == 1 && j < m->words_count; j++)
            all[at++] = m->words[j];
    }
    m->plan->argv = all;
    return true;
}

weir_status wr_plan_make(struct wr_plan *plan, struct wr_arena *arena, const struct wr_agent *agent,
                         const struct wr_launch *launch, char **argv)
{
    struct making m = {.plan = plan, .arena = arena, .agent = agent, .launch = launch};
    bool ok = true;

    *plan = (struct wr_plan){.argv = NULL};
    for (size_t i = 0; ok && i < WR_SETTINGS_MAX && agent->settings[i].text; i++) {
        const struct wr_setting *setting = &agent->settings[i];
        if (!is_wanted(&m, setting, argv))
            continue;
        ok = add_setting(&m, setting);
        plan->has_recall = plan->has_recall || setting->is_recall;
    }
    if (ok && launch->token) {
        plan->env[plan->env_count].name = "WEIR_TOKEN";
        plan->env[plan->env_count++].value = launch->token;
    }
    return ok && join_words(&m, argv) ? WEIR_OK : WEIR_NOMEM;
}
