/* The doctor's look at the recall server that agents start: whether it starts, and has the tool.
 *
 * An agent whose MCP server does not start goes on without it, and most say nothing: the tool is
 * missing, less is taken out, and nobody knows why. The usual reason is that the settings name
 * `weir` and the agent was started where that is not in the PATH. So the server is started here as
 * the agent would: by its own words and variables, from this folder. It is asked what every client
 * asks first, and ends with its input. It is told not to leave the sign of a recall that an agent
 * has (hook/presence.h): nothing is changed by looking.
 *
 * Of Codex's TOML only lines of the section [mcp_servers.weir] are read
 * (docs/decisions/007-no-toml-reader.md): a command and its words on a line each.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "hook/hook.h"
#include "launch/doctor.h"
#include "launch/own_settings.h"
#include "launch/run.h"

enum { PATH_BYTES_MAX = 4096, WORDS_MAX = 32, VARIABLES_MAX = 32 };

static const char questions[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"weir "
    "doctor\",\"version\":\"1\"}}}\n"
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";

/* Where agents keep their MCP servers. A name that begins with '/' is below the folder that is
 * worked in. */
static const struct place {
    const char *agent, *variable, *below, *name, *section;
} places[] = {
    {"claude", "CLAUDE_CONFIG_DIR", "", ".claude.json", "mcpServers"},
    {"claude", NULL, NULL, "/.mcp.json", "mcpServers"},
    {"codex", "CODEX_HOME", ".codex", "config.toml", NULL},
    {"opencode", "XDG_CONFIG_HOME", ".config", "opencode/opencode.json", "mcp"},
    {"opencode", "XDG_CONFIG_HOME", ".config", "opencode/opencode.jsonc", "mcp"},
    {"opencode", NULL, NULL, "/opencode.json", "mcp"},
    {"kilo", "XDG_CONFIG_HOME", ".config", "kilo/kilo.json", "mcp"},
    {"gemini", "GEMINI_CLI_HOME", "", ".gemini/settings.json", "mcpServers"},
    {"qwen", "QWEN_HOME", ".qwen", "settings.json", "mcpServers"},
    {"copilot", "COPILOT_HOME", ".copilot", "mcp-config.json", "mcpServers"},
    {"droid", "FACTORY_HOME_OVERRIDE", "", ".factory/mcp.json", "mcpServers"},
    {"cline", "CLINE_DATA_DIR", ".cline/data", "settings/cline_mcp_settings.json", "mcpServers"},
};

/* A server as settings name it. */
struct server {
    const char *words[WORDS_MAX + 1];
    size_t words_count;
    const char *variables[VARIABLES_MAX][2];
    size_t variables_count;
};

/* ---- what the settings say ---- */

static const char *copy_text(struct wr_arena *arena, weir_span text)
{
    char *copy = wr_arena_zalloc(arena, text.len + 1);
    return copy ? memcpy(copy, text.ptr, text.len) : "";
}

static void add_word(struct server *server, struct wr_arena *arena, const struct wr_json *doc,
                     wr_json_id id)
{
    if (wr_json_is(doc, id, WR_JSON_STRING) && server->words_count < WORDS_MAX)
        server->words[server->words_count++] = copy_text(arena, wr_json_text(doc, arena, id));
}

static void add_words(struct server *server, struct wr_arena *arena, const struct wr_json *doc,
                      wr_json_id list)
{
    if (wr_json_is(doc, list, WR_JSON_STRING))
        add_word(server, arena, doc, list);
    else if (wr_json_is(doc, list, WR_JSON_ARRAY))
        WR_JSON_EACH(at, doc, list)
            add_word(server, arena, doc, at);
}

static void add_variables(struct server *server, struct wr_arena *arena, const struct wr_json *doc,
                          wr_json_id object)
{
    if (!wr_json_is(doc, object, WR_JSON_OBJECT))
        return;
    for (wr_json_id at = wr_json_first(doc, object);
         at != WR_JSON_NONE && server->variables_count < VARIABLES_MAX;
         at = wr_json_next(doc, object, at)) {
        wr_json_id value = wr_json_value(at);
        if (!wr_json_is(doc, value, WR_JSON_STRING))
            continue;
        const char **variable = server->variables[server->variables_count++];
        variable[0] = copy_text(arena, wr_json_text(doc, arena, at));
        variable[1] = copy_text(arena, wr_json_text(doc, arena, value));
    }
}

/* A command is a word with `args` beside it, or a list of all words. */
static void read_server(struct server *server, struct wr_arena *arena, const struct wr_json *doc,
                        wr_json_id weir)
{
    add_words(server, arena, doc, wr_json_find(doc, weir, "command"));
    add_words(server, arena, doc, wr_json_find(doc, weir, "args"));
    add_variables(server, arena, doc, wr_json_find(doc, weir, "env"));
    add_variables(server, arena, doc, wr_json_find(doc, weir, "environment"));
}

static void read_json(struct server *server, struct wr_arena *arena, const char *section,
                      weir_span text, const char *folder)
{
    struct wr_json doc;

    if (wr_own_parse(&doc, arena, text, NULL))
        return;
    wr_json_id weir = wr_json_find(&doc, wr_json_find(&doc, 0, section), "weir");
    if (weir == WR_JSON_NONE) { /* Claude Code's servers of one project */
        wr_json_id project = wr_json_find(&doc, wr_json_find(&doc, 0, "projects"), folder);
        weir = wr_json_find(&doc, wr_json_find(&doc, project, section), "weir");
    }
    if (weir != WR_JSON_NONE)
        read_server(server, arena, &doc, weir);
}

/* A text or a list of texts is the same in TOML and in JSON, where it has double quotes. */
static void read_toml(struct server *server, struct wr_arena *arena, weir_span text)
{
    static const char *const keys[] = {"command", "args"};

    for (size_t i = 0; i < WR_COUNT_OF(keys); i++) {
        weir_span rest = text, line;
        bool is_inside = false;
        while (wr_span_line(&rest, &line)) {
            size_t equals = wr_span_find(line, WR_LIT("="), 0);
            struct wr_json doc;
            line = wr_span_trim(line);
            if (wr_span_starts(line, WR_LIT("[")))
                is_inside = wr_span_is(line, "[mcp_servers.weir]");
            if (!is_inside || equals == SIZE_MAX ||
                !wr_span_is(wr_span_trim(wr_span_cut(line, 0, equals)), keys[i]))
                continue;
            weir_span value = wr_span_trim(wr_span_cut(line, equals + 1, line.len));
            if (!wr_json_parse(&doc, arena, value, NULL, NULL))
                add_words(server, arena, &doc, 0);
        }
    }
}

/* ---- asking it ---- */

_Noreturn static void become_server(const char *path, const struct server *server, int in, int out)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (size_t i = 0; i < server->variables_count; i++)
        (void)setenv(server->variables[i][0], server->variables[i][1], 1);
    (void)setenv("WEIR_LOOK_ONLY", "1", 1);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(nothing, STDERR_FILENO) >= 0)
        (void)execv(path, (char **)(uintptr_t)server->words);
    _exit(127);
}

/* Whether the answer to the questions names the tool, before it ends or takes too long. */
static bool reads_tool(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int64_t until_ms = wr_clock_ms() + WR_LAUNCH_RECALL_MS_MAX, left_ms;
    struct wr_buf answer;
    bool has_tool = false;

    wr_buf_init(&answer, WR_LAUNCH_SETTINGS_BYTES_MAX);
    while (!has_tool && (left_ms = until_ms - wr_clock_ms()) > 0 &&
           poll(&ready, 1, (int)left_ms) == 1) {
        char bytes[4096];
        ssize_t got = read(fd, bytes, sizeof(bytes));
        if (got <= 0)
            break;
        wr_buf_append(&answer, (weir_span){bytes, (size_t)got});
        has_tool = wr_span_has(wr_buf_view(&answer), WR_LIT("\"name\":\"weir_recall\""));
    }
    wr_buf_release(&answer);
    return has_tool;
}

static bool has_recall(const char *path, const struct server *server)
{
    int in[2], out[2];
    bool has_tool = false;

    if (wr_os_pipe(in))
        return false;
    if (wr_os_pipe(out)) {
        (void)close(in[0]);
        (void)close(in[1]);
        return false;
    }
    pid_t child = fork();
    if (!child)
        become_server(path, server, in[0], out[1]);
    (void)close(in[0]);
    (void)close(out[1]);
    if (child > 0) {
        /* One that has ended already must not end us. */
        void (*before)(int) = signal(SIGPIPE, SIG_IGN);
        ssize_t wrote = write(in[1], questions, sizeof(questions) - 1);
        has_tool = wrote == (ssize_t)sizeof(questions) - 1 && reads_tool(out[0]);
        (void)signal(SIGPIPE, before);
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
    }
    (void)close(in[1]);
    (void)close(out[0]);
    return has_tool;
}

/* ---- what is found ---- */

static void judge_server(struct wr_doctor *doctor, const struct place *place, const char *path,
                         const struct server *server)
{
    const char *program = wr_child_find(&doctor->arena, server->words[0]);

    if (!program)
        wr_doctor_add(
            doctor, WR_FINDING_FAIL, "recall",
            "name its whole path there: without it the agent has no weir_recall, and most "
            "say nothing of that",
            "%s, %s: the recall server cannot be started: %s: %s", place->agent, path,
            server->words[0], strerror(errno));
    else if (!has_recall(program, server))
        wr_doctor_add(doctor, WR_FINDING_FAIL, "recall",
                      "call it by hand, with these words, to see what it says",
                      "%s, %s: `%s%s%s` was started as the agent would, and offers no weir_recall",
                      place->agent, path, server->words[0], server->words[1] ? " " : "",
                      server->words[1] ? server->words[1] : "");
    else
        wr_doctor_add(doctor, WR_FINDING_OK, "recall", "",
                      "%s, %s: the recall server starts, and offers weir_recall", place->agent,
                      path);
}

static bool name_place(const struct place *place, char **environment, const char *folder,
                       char path[PATH_BYTES_MAX])
{
    const char *dir = place->variable ? wr_environment_find(environment, place->variable) : folder;
    const char *home = wr_environment_find(environment, "HOME");
    int bytes;

    if (dir)
        bytes =
            snprintf(path, PATH_BYTES_MAX, "%s%s%s", dir, place->variable ? "/" : "", place->name);
    else
        bytes =
            snprintf(path, PATH_BYTES_MAX, "%s/%s/%s", home ? home : "", place->below, place->name);
    return bytes > 0 && bytes < PATH_BYTES_MAX;
}

void wr_doctor_recall(struct wr_doctor *doctor, char **environment)
{
    char folder[PATH_BYTES_MAX], path[PATH_BYTES_MAX];

    if (!getcwd(folder, sizeof(folder)))
        folder[0] = '\0';
    for (size_t i = 0; i < WR_COUNT_OF(places); i++) {
        struct server server = {.words_count = 0};
        weir_span text;
        if (!name_place(&places[i], environment, folder, path) ||
            !wr_own_file(&doctor->arena, path, &text))
            continue;
        if (places[i].section)
            read_json(&server, &doctor->arena, places[i].section, text, folder);
        else
            read_toml(&server, &doctor->arena, text);
        if (server.words_count)
            judge_server(doctor, &places[i], path, &server);
    }
}

/* ---- hooks ----
 *
 * The doctor's look at hooks: which agents call `weir hook`, and whether that can do anything.
 *
 * A hook that does nothing is hard to notice: it leaves every result whole and says nothing, as it
 * must (law L6). So everything that would make it so is looked for here: the program in the
 * settings is not there; the agent has no weir_recall, or one on another store; its version does
 * not take what a hook says; hooks are switched off.
 */

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

static bool read_json_file(const struct hook_look *look, const char *path, struct wr_json *doc)
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

    WR_JSON_EACH(g, doc, groups) {
        wr_json_id list = wr_json_find(doc, g, "hooks");
        WR_JSON_EACH(h, doc, list) {
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
    WR_JSON_EACH(w, doc, words) {
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
        read_json_file(look, path, &doc)) {
        wr_json_id project = wr_json_find(&doc, wr_json_find(&doc, 0, "projects"), folder);
        find_server(look, &doc, wr_json_find(&doc, 0, "mcpServers"), "args");
        find_server(look, &doc, wr_json_find(&doc, project, "mcpServers"), "args");
    }
    int bytes = snprintf(path, sizeof(path), "%s/.mcp.json", folder);
    if (bytes > 0 && bytes < PATH_BYTES_MAX && read_json_file(look, path, &doc))
        find_server(look, &doc, wr_json_find(&doc, 0, "mcpServers"), "args");
}

static void find_opencode_servers(struct hook_look *look)
{
    static const char *const names[] = {"opencode/opencode.json", "opencode/opencode.jsonc"};
    char path[PATH_BYTES_MAX];
    struct wr_json doc;

    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (name_file(look, "XDG_CONFIG_HOME", ".config", names[i], path) &&
            read_json_file(look, path, &doc))
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
            !read_json_file(&look, path, &doc) || !find_command(&look, &doc))
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
