/* The doctor's look at hooks: which agents call `weir hook`, and whether that can do anything.
 *
 * A hook that does nothing is hard to notice: it leaves every result whole and says nothing, as it
 * must (law L6). So everything that would make it so is looked for here: the program in the
 * settings is not there; the agent has no weir_recall, or one on another store; its version does
 * not take what a hook says; hooks are switched off.
 */
#include "launch/doctor.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/span.h"
#include "hook/event.h"
#include "launch/child.h"
#include "launch/own_settings.h"

enum { PATH_BYTES_MAX = 4096 };

/* The first of Claude Code's versions that takes updatedToolOutput for its own tools. */
static const unsigned claude_since[] = {2, 1, 121};

struct hook_look {
    struct wr_doctor *doctor;
    char **environment;
    const struct wr_hook_agent *agent;
    const char *path;      /* of the settings that name the hook */
    const char *program;   /* that they call */
    const char *store;     /* of the hook; NULL: the usual one */
    bool is_off;           /* hooks are switched off in the same file */
    bool has_recall;       /* an MCP server called weir */
    const char *mcp_store; /* of that; NULL: the usual one */
};

static const char *text_copy(struct wr_arena *arena, weir_span text)
{
    char *copy = wr_arena_zalloc(arena, text.len + 1);
    return copy ? memcpy(copy, text.ptr, text.len) : "";
}

/* The file `name` in the folder of a variable, or else below the home. */
static bool name_file(const struct hook_look *look, const char *variable, const char *below,
                      const char *name, char path[PATH_BYTES_MAX])
{
    const char *dir = wr_environment_find(look->environment, variable);
    const char *home = wr_environment_find(look->environment, "HOME");

    if (!dir && !home)
        return false;
    int bytes =
        dir ? snprintf(path, PATH_BYTES_MAX, "%s/%s", dir, name)
            : snprintf(path, PATH_BYTES_MAX, "%s/%s%s%s", home, below, *below ? "/" : "", name);
    return bytes > 0 && bytes < PATH_BYTES_MAX;
}

static bool read_json(const struct hook_look *look, const char *path, struct wr_json *doc)
{
    weir_span text;
    return wr_own_file(&look->doctor->arena, path, &text) &&
           !wr_own_parse(doc, &look->doctor->arena, text, NULL);
}

/* ---- the command ---- */

/* Takes a word as a shell would, as far as our own settings go: plain, in single quotes, or a
 * quote behind a backslash. */
static weir_span take_word(weir_span *line, struct wr_arena *arena)
{
    char *word = wr_arena_zalloc(arena, line->len + 1);
    size_t len = 0, at = 0;
    bool is_quoted = false;

    while (at < line->len && wr_is_white(line->ptr[at]))
        at++;
    for (; word && at < line->len && (is_quoted || !wr_is_white(line->ptr[at])); at++) {
        if (line->ptr[at] == '\'') {
            is_quoted = !is_quoted;
            continue;
        }
        at += !is_quoted && line->ptr[at] == '\\' && at + 1 < line->len;
        word[len++] = line->ptr[at];
    }
    *line = wr_span_cut(*line, at, line->len);
    return (weir_span){word, word ? len : 0};
}

/* "PROGRAM hook AGENT [--store DIR] ...". False: it calls something else. */
static bool read_command(struct hook_look *look, weir_span command)
{
    struct wr_arena *arena = &look->doctor->arena;
    weir_span program = take_word(&command, arena), hook = take_word(&command, arena);
    weir_span agent = take_word(&command, arena), word;

    if (!wr_span_is(hook, "hook") || !wr_span_is(agent, look->agent->name))
        return false;
    look->program = text_copy(arena, program);
    while ((word = take_word(&command, arena)).len)
        if (wr_span_is(word, "--store"))
            look->store = text_copy(arena, take_word(&command, arena));
        else if (wr_span_is(word, "--recall"))
            look->has_recall = true;
    return true;
}

/* Hooks as Claude Code, Codex and gemini-cli write them:
 * {"hooks": {EVENT: [{"hooks": [{"command": "..."}]}]}}. */
static bool find_command(struct hook_look *look, const struct wr_json *doc)
{
    struct wr_arena *arena = &look->doctor->arena;
    wr_json_id groups = wr_json_find(doc, wr_json_find(doc, 0, "hooks"), look->agent->event);

    for (wr_json_id g = wr_json_first(doc, groups); g != WR_JSON_NONE;
         g = wr_json_next(doc, groups, g)) {
        wr_json_id list = wr_json_find(doc, g, "hooks");
        for (wr_json_id h = wr_json_first(doc, list); h != WR_JSON_NONE;
             h = wr_json_next(doc, list, h)) {
            wr_json_id command = wr_json_find(doc, h, "command");
            if (wr_json_is(doc, command, WR_JSON_STRING) &&
                read_command(look, wr_json_text(doc, arena, command)))
                return true;
        }
    }
    return false;
}

/* ---- weir_recall ---- */

/* Of an MCP server's words, its store. */
static void read_words(struct hook_look *look, const struct wr_json *doc, wr_json_id words)
{
    for (wr_json_id w = wr_json_first(doc, words); w != WR_JSON_NONE;
         w = wr_json_next(doc, words, w)) {
        wr_json_id next = wr_json_next(doc, words, w);
        if (wr_json_text_is(doc, w, "--store") && wr_json_is(doc, next, WR_JSON_STRING))
            look->mcp_store =
                text_copy(&look->doctor->arena, wr_json_text(doc, &look->doctor->arena, next));
    }
}

static void find_server(struct hook_look *look, const struct wr_json *doc, wr_json_id servers,
                        const char *words)
{
    wr_json_id weir = wr_json_find(doc, servers, "weir");

    if (weir == WR_JSON_NONE || look->has_recall)
        return;
    look->has_recall = true;
    read_words(look, doc, wr_json_find(doc, weir, words));
}

/* The user's servers, those of this project, and those that the project itself names. */
static void find_claude_servers(struct hook_look *look, const char *folder)
{
    char path[PATH_BYTES_MAX];
    struct wr_json doc;

    if (name_file(look, "CLAUDE_CONFIG_DIR", "", ".claude.json", path) &&
        read_json(look, path, &doc)) {
        wr_json_id project = wr_json_find(&doc, wr_json_find(&doc, 0, "projects"), folder);
        find_server(look, &doc, wr_json_find(&doc, 0, "mcpServers"), "args");
        find_server(look, &doc, wr_json_find(&doc, project, "mcpServers"), "args");
    }
    int bytes = snprintf(path, sizeof(path), "%s/.mcp.json", folder);
    if (bytes > 0 && bytes < PATH_BYTES_MAX && read_json(look, path, &doc))
        find_server(look, &doc, wr_json_find(&doc, 0, "mcpServers"), "args");
}

static void find_opencode_servers(struct hook_look *look)
{
    static const char *const names[] = {"opencode/opencode.json", "opencode/opencode.jsonc"};
    char path[PATH_BYTES_MAX];
    struct wr_json doc;

    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (name_file(look, "XDG_CONFIG_HOME", ".config", names[i], path) &&
            read_json(look, path, &doc))
            find_server(look, &doc, wr_json_find(&doc, 0, "mcp"), "command");
}

/* ---- what is found ---- */

static void add_hook_finding(const struct hook_look *look, enum wr_finding_level level,
                             const char *advice, const char *what, const char *detail)
{
    wr_doctor_add(look->doctor, level, "hook", advice, "%s, %s: %s%s", look->agent->name,
                  look->path, what, detail);
}

static bool is_older(const char *version, const unsigned since[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long number = strtoul(version, &end, 10);
        if (end == version)
            return false; /* it is not told */
        if (number != since[i])
            return number < since[i];
        version = *end == '.' ? end + 1 : end;
    }
    return false;
}

static void look_at_version(const struct hook_look *look)
{
    char version[WR_DOCTOR_VERSION_BYTES];
    const char *path = wr_child_find(&look->doctor->arena, look->agent->name);

    if (!path || strcmp(look->agent->name, "claude"))
        return;
    wr_doctor_ask_version(path, version);
    if (is_older(version, claude_since))
        add_hook_finding(
            look, WR_FINDING_WARN, "update it to 2.1.121 or later",
            "this version ignores what a hook says of its own tools' results: ", version);
}

static bool is_same_store(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void judge_hook(const struct hook_look *look)
{
    size_t before = look->doctor->findings_count;

    if (look->agent->taker == WR_TAKES_NOTHING) {
        add_hook_finding(look, WR_FINDING_WARN, "take it out; `weir run` needs no hook",
                         "`weir hook` leaves every result whole: ", look->agent->lack);
        return;
    }
    if (!wr_child_find(&look->doctor->arena, look->program))
        add_hook_finding(look, WR_FINDING_FAIL, "`weir hook AGENT --settings` prints it anew",
                         "the program that it calls cannot be started: ", look->program);
    if (look->is_off)
        add_hook_finding(look, WR_FINDING_WARN, "take disableAllHooks out",
                         "hooks are switched off", "");
    if (!look->has_recall)
        add_hook_finding(look, WR_FINDING_WARN, "`weir hook AGENT --settings` says how to add it",
                         "there is no MCP server called weir, so nothing is taken out", "");
    else if (!is_same_store(look->store, look->mcp_store))
        add_hook_finding(look, WR_FINDING_WARN, "name the same --store in both",
                         "the MCP server reads another store than the hook writes, so nothing is "
                         "taken out",
                         "");
    look_at_version(look);
    if (look->doctor->findings_count == before)
        add_hook_finding(look, WR_FINDING_OK, "", "results are condensed as they come; ",
                         *look->agent->lack ? look->agent->lack : "weir_recall brings them back");
}

/* ---- where they are ---- */

/* Settings in which hooks are JSON. */
static const struct {
    const char *agent, *variable, *below, *name;
} hook_files[] = {
    {"claude", "CLAUDE_CONFIG_DIR", ".claude", "settings.json"},
    {"codex", "CODEX_HOME", ".codex", "hooks.json"},
    {"gemini", "GEMINI_CLI_HOME", "", ".gemini/settings.json"},
};

static unsigned look_at_json_hooks(struct wr_doctor *doctor, char **environment, const char *folder)
{
    unsigned found = 0;

    for (size_t i = 0; i < WR_COUNT_OF(hook_files); i++) {
        char path[PATH_BYTES_MAX];
        struct wr_json doc;
        struct hook_look look = {.doctor = doctor,
                                 .environment = environment,
                                 .agent = wr_hook_agent_find(hook_files[i].agent),
                                 .path = path};
        if (!name_file(&look, hook_files[i].variable, hook_files[i].below, hook_files[i].name,
                       path) ||
            !read_json(&look, path, &doc) || !find_command(&look, &doc))
            continue;
        wr_json_id off = wr_json_find(&doc, 0, "disableAllHooks");
        look.is_off = wr_json_is(&doc, off, WR_JSON_TRUE);
        find_claude_servers(&look, folder);
        judge_hook(&look);
        found++;
    }
    return found;
}

/* Our plugin has the program and its words as the first list in it. */
static bool read_plugin(struct hook_look *look, weir_span text)
{
    struct wr_arena *arena = &look->doctor->arena;
    size_t at = wr_span_find(text, WR_LIT("] = ["), 0), end;
    struct wr_json doc;

    if (at == SIZE_MAX || wr_span_find(text, WR_LIT("weir hook opencode"), 0) == SIZE_MAX)
        return false;
    at += strlen("] = ");
    end = wr_span_find(text, WR_LIT("\n"), at);
    if (end == SIZE_MAX || wr_json_parse(&doc, arena, wr_span_cut(text, at, end), NULL, NULL))
        return false;
    wr_json_id program = wr_json_first(&doc, 0);
    if (!wr_json_is(&doc, program, WR_JSON_STRING))
        return false;
    look->program = text_copy(arena, wr_json_text(&doc, arena, program));
    read_words(look, &doc, 0);
    look->store = look->mcp_store;
    look->mcp_store = NULL;
    return true;
}

static unsigned look_at_plugin(struct wr_doctor *doctor, char **environment)
{
    static const char *const names[] = {"opencode/plugins/weir.js", "opencode/plugin/weir.js"};
    unsigned found = 0;

    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        char path[PATH_BYTES_MAX];
        weir_span text;
        struct hook_look look = {.doctor = doctor,
                                 .environment = environment,
                                 .agent = wr_hook_agent_find("opencode"),
                                 .path = path};
        if (!name_file(&look, "XDG_CONFIG_HOME", ".config", names[i], path) ||
            !wr_own_file(&doctor->arena, path, &text) || !read_plugin(&look, text))
            continue;
        find_opencode_servers(&look);
        judge_hook(&look);
        found++;
    }
    return found;
}

void wr_doctor_hooks(struct wr_doctor *doctor, char **environment)
{
    char folder[PATH_BYTES_MAX];

    if (!getcwd(folder, sizeof(folder)))
        folder[0] = '\0';
    unsigned found = look_at_json_hooks(doctor, environment, folder);
    found += look_at_plugin(doctor, environment);
    if (!found)
        wr_doctor_add(doctor, WR_FINDING_OK, "hook", "",
                      "no agent calls `weir hook`, which needs no server (docs/hook.md)");
}
