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
#include "launch/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "launch/child.h"
#include "launch/own_settings.h"

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
        for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
             at = wr_json_next(doc, list, at))
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
