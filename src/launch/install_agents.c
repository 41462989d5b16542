/* What stays installed for each agent, as a table: which file, which settings in it. The addresses
 * are the server's; recall is the proxy's own (docs/own-recall.md), so that no agent has to start
 * anything. With `weir hook` in place of a server the agent starts `weir mcp` for it.
 *
 * Only agents that take an address from a file of theirs are here. The rest are for `weir run`, and
 * docs/install.md says so.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "hook/hook.h"
#include "hook/settings.h"
#include "json/json.h"
#include "launch/agents.h"
#include "launch/install_inside.h"

#define HOOK_TOOLS "Bash|PowerShell|Grep|WebFetch|mcp__.*"

/* In values <root>, <v1>, <weir>, <hook> and <store_args> are put in as put_value() has them. */
static const struct row {
    const char *agent;
    bool by_hook;
    const char *variable, *folder; /* the variable that names the folder, else below the home */
    const char *file, *other_file; /* `other_file` where it is there already */
    const char *why;
    struct wr_edit edits[WR_INSTALL_EDITS_MAX];
} rows[] = {
    {"claude",
     false,
     "CLAUDE_CONFIG_DIR",
     ".claude",
     "settings.json",
     NULL,
     "Claude Code asks Weir",
     {{.keys = {"env", "ANTHROPIC_BASE_URL"}, .value = "\"<root>\""},
      {.keys = {"env", "ENABLE_TOOL_SEARCH"}, .value = "\"true\"", .is_optional = true}}},
    {"codex",
     false,
     "CODEX_HOME",
     ".codex",
     "config.toml",
     NULL,
     "Codex asks Weir",
     {{.name = "openai_base_url", .value = "\"<v1>\"", .rival = "model_provider"}}},
    {"opencode",
     false,
     "XDG_CONFIG_HOME",
     ".config",
     "opencode/opencode.json",
     "opencode/opencode.jsonc",
     "opencode asks Weir",
     {{.keys = {"provider", "openai", "options", "baseURL"}, .value = "\"<v1>\""},
      {.keys = {"provider", "anthropic", "options", "baseURL"}, .value = "\"<v1>\""}}},
    {"pi",
     false,
     "PI_CODING_AGENT_DIR",
     ".pi/agent",
     "models.json",
     NULL,
     "pi asks Weir",
     {{.keys = {"providers", "openai", "baseUrl"}, .value = "\"<v1>\""},
      {.keys = {"providers", "anthropic", "baseUrl"}, .value = "\"<root>\""}}},
    {"claude",
     true,
     "CLAUDE_CONFIG_DIR",
     ".claude",
     "settings.json",
     NULL,
     "Claude Code calls `weir hook`",
     {{.keys = {"hooks", "PostToolUse", "[]"},
       .value = "{\"matcher\": \"" HOOK_TOOLS "\", \"hooks\": [{\"type\": \"command\", "
                "\"command\": \"<hook>\", \"timeout\": 10}]}"},
      {.keys = {"permissions", "allow", "[]"}, .value = "\"mcp__weir__weir_recall\""}}},
    {"claude",
     true,
     "CLAUDE_CONFIG_DIR",
     "",
     ".claude.json",
     NULL,
     "Claude Code starts `weir mcp`, by which originals come back",
     {{.keys = {"mcpServers", "weir"},
       .value = "{\"command\": \"<weir>\", \"args\": [\"mcp\"<store_args>], \"env\": {}}"}}},
    {"opencode",
     true,
     "XDG_CONFIG_HOME",
     ".config",
     "opencode/plugins/weir.js",
     NULL,
     "opencode calls `weir hook`",
     {{.value = NULL}}},
    {"opencode",
     true,
     "XDG_CONFIG_HOME",
     ".config",
     "opencode/opencode.json",
     "opencode/opencode.jsonc",
     "opencode starts `weir mcp`, by which originals come back",
     {{.keys = {"mcp", "weir"},
       .value = "{\"type\": \"local\", \"command\": [\"<weir>\", \"mcp\"<store_args>]}"}}},
};

const char *wr_install_agent_at(size_t index)
{
    static const char *const names[] = {"claude", "codex", "opencode", "pi"};
    return index < WR_COUNT_OF(names) ? names[index] : NULL;
}

static const char *home_of(const struct wr_install *install)
{
    return wr_environment_find(install->options.environment, "HOME");
}

/* The folder, and below it the file; NULL: there is no home. */
static const char *path_of(struct wr_install *install, const struct row *row, const char *file)
{
    const char *said = wr_environment_find(install->options.environment, row->variable);
    const char *home = home_of(install);

    if (said)
        return wr_install_text(install, "%s/%s", said, file);
    if (!home)
        return NULL;
    return *row->folder ? wr_install_text(install, "%s/%s/%s", home, row->folder, file)
                        : wr_install_text(install, "%s/%s", home, file);
}

bool wr_install_agent_is_here(const struct wr_install *install, const char *agent)
{
    struct wr_install *scratch = (struct wr_install *)(uintptr_t)install;

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        const char *path = !strcmp(rows[i].agent, agent) && *rows[i].folder
                               ? path_of(scratch, &rows[i], rows[i].file)
                               : NULL;
        char *folder = path ? (char *)(uintptr_t)wr_install_text(scratch, "%s", path) : NULL;
        if (folder && strrchr(folder, '/'))
            *strrchr(folder, '/') = '\0';
        if (folder && !access(folder, F_OK))
            return true;
    }
    return false;
}

/* The words of a shell, as a text of JSON. */
static void put_hook(const struct wr_install_options *o, const char *agent, struct wr_buf *out)
{
    struct wr_hook_words words = {o->weir, o->store};
    struct wr_buf plain;

    wr_buf_init(&plain, WR_INSTALL_FILE_BYTES_MAX);
    wr_hook_command(wr_hook_agent_find(agent), &words, &plain);
    wr_json_escape(out, wr_buf_view(&plain));
    wr_buf_release(&plain);
}

static void put_value(const struct wr_install_options *o, weir_span name, struct wr_buf *out)
{
    if (wr_span_is(name, "root") || wr_span_is(name, "v1"))
        wr_buf_printf(out, "http://%s%s", o->listen, wr_span_is(name, "v1") ? "/v1" : "");
    else if (wr_span_is(name, "weir"))
        wr_json_escape(out, wr_span_of(o->weir));
    else if (wr_span_is(name, "hook"))
        put_hook(o, "claude", out);
    else if (wr_span_is(name, "store_args") && o->store) {
        wr_buf_text(out, ", \"--store\", \"");
        wr_json_escape(out, wr_span_of(o->store));
        wr_buf_byte(out, '"');
    }
}

const char *wr_install_value(struct wr_install *install, const char *text)
{
    weir_span rest = wr_span_of(text);
    struct wr_buf out;
    size_t at;

    wr_buf_init(&out, WR_INSTALL_FILE_BYTES_MAX);
    while ((at = wr_span_find(rest, WR_LIT("<"), 0)) != SIZE_MAX) {
        size_t end = wr_span_find(rest, WR_LIT(">"), at);
        WR_ASSERT(end != SIZE_MAX);
        wr_buf_append(&out, wr_span_cut(rest, 0, at));
        put_value(&install->options, wr_span_cut(rest, at + 1, end), &out);
        rest = wr_span_from(rest, end + 1);
    }
    wr_buf_append(&out, rest);
    wr_buf_byte(&out, '\0');
    weir_span copy = wr_arena_copy(&install->arena, wr_buf_view(&out));
    wr_buf_release(&out);
    return copy.ptr;
}

static weir_status plan_plugin(struct wr_install *install, const char *path, const struct row *row,
                               struct weir_err *err)
{
    const struct wr_hook_agent *agent = wr_hook_agent_find(row->agent);
    struct wr_hook_words words = {install->options.weir, install->options.store};
    struct wr_buf text;

    wr_buf_init(&text, WR_INSTALL_FILE_BYTES_MAX);
    wr_hook_settings(agent, &words, &text);
    weir_status status = wr_install_add_file(install, path, row->why, wr_buf_view(&text), err);
    wr_buf_release(&text);
    return status;
}

static weir_status plan_row(struct wr_install *install, const struct row *row, struct weir_err *err)
{
    const char *path = path_of(install, row, row->file);
    const char *other = row->other_file ? path_of(install, row, row->other_file) : NULL;
    struct wr_edit edits[WR_INSTALL_EDITS_MAX];
    size_t count = 0;

    if (!path)
        return wr_fail(err, WEIR_INVALID, 0, "HOME is not set: there is no place for settings");
    if (other && !access(other, F_OK))
        path = other;
    if (!row->edits[0].value)
        return plan_plugin(install, path, row, err);
    for (; count < WR_INSTALL_EDITS_MAX && row->edits[count].value; count++) {
        edits[count] = row->edits[count];
        edits[count].value = wr_install_value(install, row->edits[count].value);
        if (!edits[count].value)
            return WEIR_NOMEM;
    }
    return wr_install_add_edits(install, path, row->why, edits, count, err);
}

weir_status wr_install_plan_agent(struct wr_install *install, const char *agent,
                                  struct weir_err *err)
{
    const struct wr_agent *known = wr_agent_find(agent);
    bool is_found = false;

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        if (strcmp(rows[i].agent, agent) != 0 || rows[i].by_hook != install->options.by_hook)
            continue;
        is_found = true;
        weir_status status = plan_row(install, &rows[i], err);
        if (status)
            return status;
    }
    if (is_found)
        return WEIR_OK;
    struct wr_near near = wr_agent_near(agent);
    if (!wr_agent_is_known(known) && wr_near_is_found(&near))
        return wr_fail(err, WEIR_NOTFOUND, 0, "no agent '%s' is known%s", agent, near.text);
    if (install->options.by_hook)
        return wr_fail(err, WEIR_NOTFOUND, 0, "%s has no hook that takes a shorter result", agent);
    return wr_fail(err, WEIR_NOTFOUND, 0,
                   "%s takes no address from a file of settings: `weir run -- %s` needs none%s%s",
                   agent, agent, wr_agent_is_known(known) ? "; by hand: " : "",
                   wr_agent_is_known(known) ? known->by_hand : "");
}

/* ---- the service ---- */

/* A word of a unit. A '%' would stand for something everywhere, a '$' in arguments alone. */
static void put_unit_word(struct wr_buf *out, const char *word, bool is_argument)
{
    wr_buf_byte(out, '"');
    for (; *word; word++) {
        if (*word == '"' || *word == '\\')
            wr_buf_byte(out, '\\');
        if (*word == '%' || (*word == '$' && is_argument))
            wr_buf_byte(out, *word);
        wr_buf_byte(out, *word);
    }
    wr_buf_byte(out, '"');
}

static void put_systemd_unit(const struct wr_install_options *o, struct wr_buf *out)
{
    wr_buf_text(out, "[Unit]\nDescription=Weir, the context engine between agents and their "
                     "models\n\n[Service]\nExecStart=");
    put_unit_word(out, o->weir, false);
    wr_buf_printf(out, " serve --listen %s", o->listen);
    if (o->store) {
        wr_buf_text(out, " --store ");
        put_unit_word(out, o->store, true);
    }
    wr_buf_text(out, "\nRestart=on-failure\nKillMode=mixed\n\n[Install]\n"
                     "WantedBy=default.target\n");
}

static void put_plist_word(struct wr_buf *out, const char *word)
{
    wr_buf_text(out, "<string>");
    for (; *word; word++) {
        if (*word == '&' || *word == '<')
            wr_buf_text(out, *word == '&' ? "&amp;" : "&lt;");
        else
            wr_buf_byte(out, *word);
    }
    wr_buf_text(out, "</string>");
}

static void put_launchd_plist(const struct wr_install_options *o, struct wr_buf *out)
{
    const char *const words[] = {
        o->weir, "serve", "--listen", o->listen, o->store ? "--store" : NULL, o->store};

    wr_buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
                     "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"
                     "<plist version=\"1.0\"><dict>\n"
                     "<key>Label</key><string>weir</string>\n"
                     "<key>ProgramArguments</key><array>");
    for (size_t i = 0; i < WR_COUNT_OF(words) && words[i]; i++)
        put_plist_word(out, words[i]);
    wr_buf_text(out, "</array>\n<key>RunAtLoad</key><true/>\n<key>KeepAlive</key><true/>\n"
                     "</dict></plist>\n");
}

weir_status wr_install_plan_service(struct wr_install *install, struct weir_err *err)
{
    const struct wr_install_options *o = &install->options;
    const char *config = wr_environment_find(o->environment, "XDG_CONFIG_HOME");
    const char *home = home_of(install), *path;
    bool is_systemd = o->service == WR_SERVICE_SYSTEMD;
    struct wr_buf text;

    if (o->service == WR_SERVICE_NONE)
        return WEIR_OK;
    if (!home)
        return wr_fail(err, WEIR_INVALID, 0, "HOME is not set: there is no place for a service");
    if (is_systemd)
        path = config ? wr_install_text(install, "%s/systemd/user/weir.service", config)
                      : wr_install_text(install, "%s/.config/systemd/user/weir.service", home);
    else
        path = wr_install_text(install, "%s/Library/LaunchAgents/weir.plist", home);
    if (!path)
        return WEIR_NOMEM;
    wr_buf_init(&text, WR_INSTALL_FILE_BYTES_MAX);
    (is_systemd ? put_systemd_unit : put_launchd_plist)(o, &text);
    weir_status status = wr_buf_status(&text);
    if (!status)
        status = wr_install_add_file(install, path, "`weir serve` begins with your session",
                                     wr_buf_view(&text), err);
    wr_buf_release(&text);
    return status;
}
