/* `weir agent`: a small agent on the session library, in a terminal or without one.
 *
 *   run_options()    which model, which keys, which folders; the client
 *   run_program()    the store, and what recalls and summaries need
 *   run_sessions()   without a terminal one session and one prompt; in a terminal a conversation,
 *                    in which /resume may go on with another session
 *
 * All that a run holds is in struct program, so that every way out releases the same things. The
 * keys of providers leave the environment before anything is started: commands of the model must
 * not inherit them. What a local server has loaded a model with counts more than what is known of
 * it.
 */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/agent_prompt.h"
#include "agent/chat.h"
#include "agent/headless.h"
#include "agent/process.h"
#include "agent/client.h"
#include "api/api.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "cli/open.h"
#include "session/journal.h"
#include "session/settings.h"
#include "models/fields.h"

struct agent_options {
    const char *prompt, *api, *base_url, *model, *session, *dir, *config, *store, *summary_model;
    uint64_t window_tokens, every_s; /* 0: not told */
    bool json, yes, pass_keys, plain, screen_reader, watch;
};

#define VALUES struct agent_options

static const struct wr_option options[] = {
    {"prompt", WR_TEXT("PROMPT", prompt),
     "work on this, print the answer and end; without it, and without a terminal, the prompt is "
     "standard input",
     .letter = 'p'},
    {"json", WR_FLAG(json), "one JSON object a line instead of text (docs/agent.md)"},
    {"yes", WR_FLAG(yes), "files are changed and commands run without a question"},
    {"api", WR_CHOICE("API", api),
     WR_API_NAMES "; else the provider whose address or key is set (" WR_API_KEYS ") is asked",
     .words = WR_API_WORDS},
    {"base-url", WR_TEXT("URL", base_url), "of the provider. A local server needs no key"},
    {"model", WR_TEXT("M", model), "whom to ask", .list = wr_list_models},
    {"session", WR_TEXT("NAME", session), "go on with this session, or begin it"},
    {"dir", WR_DIR(dir),
     "AGENT.md, CONTRACT.md, skills/, MEMORY.md (docs/session.md); the working directory unless "
     "told"},
    {"config", WR_FILE(config), "limits and context of the session, in YAML (docs/session.md)"},
    {"window", WR_NUMBER("N", window_tokens, 1, UINT32_MAX),
     "tokens of the model's window; a local server is asked"},
    WR_ROW_STORE(store),
    {"every", WR_NUMBER("SECONDS", every_s, 1, 31 * 24 * 3600),
     "with -p: again and again, in the same session"},
    {"summary-model", WR_TEXT("M", summary_model),
     "who writes summaries of older turns; else they are extracted", .list = wr_list_models},
    {"plain", WR_FLAG(plain),
     "lines only, nothing is drawn over: for terminals that cannot move their cursor (TERM=dumb "
     "does the same)"},
    {"screen-reader", WR_FLAG(screen_reader), "the same, and words stand for signs"},
    {"watch", WR_FLAG(watch),
     "with --session: show what another process does in it, and change nothing"},
    {"pass-keys", WR_FLAG(pass_keys), "commands get the whole environment, keys and tokens too"},
};

/* All that one run holds. */
struct program {
    const struct agent_options *options;
    struct wr_endpoint endpoint;
    struct wr_client client;
    struct weir_store *store;
    struct weir_session *session;
    struct weir_prompt *prompt;
    struct wr_processes *processes;
    struct wr_keyboard keyboard;
    struct wr_undo undo;
    struct wr_summary_call summary;
    struct wr_mcp_world world;
    struct wr_buf config, store_dir;
    struct wr_settings settings; /* of --config */
    struct wr_mcp_settings mcp;  /* the same */
    struct wr_mcp_servers *servers;
    uint32_t threshold_bp; /* of the environment; 0: not said */
    char root[4096], sessions_dir[4096], session_dir[4096 + 300], name[256];
    char *key; /* owned; the environment's is wiped */
    const char *model;
    bool is_headless;
};

/* The user, or whoever ends programs, has had enough. */
static bool is_interrupted(void *user)
{
    struct program *p = user;
    return wr_client_has_ended(&p->client) || wr_keyboard_is_interrupted(&p->keyboard) ||
           (p->is_headless && ferror(stdout)); /* nobody reads the answer */
}

static const char *get_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* ---- getting ready ---- */

/* The agent keeps its key to itself: commands do not inherit it, and /proc does not show it. */
static bool hide_keys(struct program *p)
{
    if (p->options->pass_keys)
        return true;
    p->key = p->endpoint.key ? strdup(p->endpoint.key) : NULL;
    if (p->endpoint.key && !p->key)
        return false;
    p->endpoint.key = p->key;
    for (size_t i = 0; wr_api_key_variable(i); i++) {
        char *value = getenv(wr_api_key_variable(i));
        if (value)
            memset(value, 0, strlen(value));
        (void)unsetenv(wr_api_key_variable(i));
    }
    if (environ)
        wr_process_env_hide(environ);
    return true;
}

static bool find_model(struct program *p)
{
    struct weir_err err = {0};
    struct wr_endpoint_options where = {p->options->api, p->options->base_url, p->options->model};

    if (wr_endpoint_find(&p->endpoint, &where, get_variable, &err)) {
        wr_cli_fail("%s", err.text);
        return false;
    }
    p->model = p->options->model;
    if (p->model || p->settings.model[0]) /* a session's own model comes before the file's */
        return true;
    if (p->endpoint.is_local && p->options->base_url) {
        wr_cli_fail(
            "which model? --model NAME, as %s calls it, or `model: {name: ...}` in --config",
            p->endpoint.base_url);
        return false;
    }
    if (!p->options->session)
        p->model = p->endpoint.api->model;
    return true;
}

/* COMPRESSION_THRESHOLD=0.8, of the environment: before the file's, as it was said later. */
static bool find_threshold(struct program *p)
{
    const char *text = get_variable("COMPRESSION_THRESHOLD");

    if (!text ||
        (wr_decimal_scaled(wr_span_of(text), 4, 10000, &p->threshold_bp) && p->threshold_bp))
        return true;
    wr_cli_fail("COMPRESSION_THRESHOLD is a share of the window such as 0.8, not '%.60s'", text);
    return false;
}

static bool read_config(struct program *p)
{
    struct weir_err err = {0};

    if (p->options->config && !wr_cli_read(p->options->config, &p->config))
        return false;
    if (!wr_settings_read(&p->settings, wr_buf_view(&p->config), &err) &&
        !wr_mcp_settings_read(&p->mcp, wr_buf_view(&p->config), &err))
        return find_threshold(p);
    wr_cli_fail_in(p->options->config, err.text);
    return false;
}

static bool find_places(struct program *p)
{
    time_t now = time(NULL);
    struct tm day;
    bool ok;

    if (!getcwd(p->root, sizeof(p->root))) {
        wr_cli_fail("the working directory is gone");
        return false;
    }
    ok = wr_cli_store_path(p->options->store, &p->store_dir);
    if (ok)
        (void)snprintf(p->sessions_dir, sizeof(p->sessions_dir), "%s/sessions", p->store_dir.bytes);
    if (p->options->session) {
        (void)snprintf(p->name, sizeof(p->name), "%s", p->options->session);
    } else {
        char stamp[32] = "";
        if (gmtime_r(&now, &day))
            (void)strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &day);
        (void)snprintf(p->name, sizeof(p->name), "%s-%ld", stamp, (long)getpid());
    }
    if (ok &&
        (!p->name[0] || p->name[0] == '.' || strchr(p->name, '/') || strlen(p->name) >= 200)) {
        wr_cli_fail("'%s' is no name for a session: no '/', no '.' in front", p->name);
        ok = false;
    }
    return ok;
}

/* What the server has loaded counts more than what is known of the model; 0: it does not tell. */
static uint32_t window_of(void *user, const char *model)
{
    struct program *p = user;
    if (p->options->window_tokens)
        return (uint32_t)p->options->window_tokens;
    uint32_t loaded = p->endpoint.is_local ? wr_local_window(&p->client, &p->endpoint, model) : 0;
    uint64_t most = p->settings.input_tokens_max;
    return most && loaded > most ? (uint32_t)most : loaded;
}

static weir_status set_window(struct program *p, struct weir_err *err)
{
    const char *model = weir_session_model(p->session);
    struct weir_session_context context;
    uint32_t window = model[0] ? window_of(p, model) : 0;

    weir_session_context(p->session, &context);
    if (!window || window == context.window_tokens)
        return WEIR_OK;
    return weir_session_switch_model(p->session, model, window, wr_clock_ms(), err);
}

/* Whose session another process has is told that it may watch. */
static void tell_not_open(const struct program *p, weir_status status, const struct weir_err *err)
{
    pid_t pid;

    if (status == WEIR_IO && wr_journal_is_held(p->session_dir, &pid))
        wr_cli_fail("%s; `weir agent --session %s --watch` shows what it does", err->text, p->name);
    else
        wr_cli_fail_in(p->options->config, err->text[0] ? err->text : weir_status_text(status));
}

static bool open_session(struct program *p)
{
    struct weir_err err = {0};

    (void)snprintf(p->session_dir, sizeof(p->session_dir), "%s/%s", p->sessions_dir, p->name);
    (void)mkdir(p->sessions_dir, 0700);
    struct weir_session_options how = {.dir = p->session_dir,
                                       .name = p->name,
                                       .config = wr_buf_view(&p->config),
                                       .model = p->model,
                                       .store = p->store,
                                       .tenant = WR_LIT(WR_CLI_TENANT),
                                       .compression_threshold_bp = p->threshold_bp,
                                       .now_ms = wr_clock_ms()};
    weir_status status = weir_session_open(&how, &p->session, &err);
    if (!status)
        status = set_window(p, &err);
    if (status)
        tell_not_open(p, status, &err);
    p->summary.live = p->session;
    if (!status && p->options->summary_model)
        weir_session_set_summary(p->session, wr_summary_call, &p->summary);
    return !status;
}

/* Whether /resume would find it open, damaged or wrong: asked while this session is still whole. */
static bool can_open(void *user, const char *name, struct weir_err *err)
{
    const struct program *p = user;
    struct weir_session *probed = NULL;
    char dir[sizeof(p->session_dir)];

    (void)snprintf(dir, sizeof(dir), "%s/%s", p->sessions_dir, name);
    struct weir_session_options how = {.dir = dir,
                                       .name = name,
                                       .config = wr_buf_view(&p->config),
                                       .model = p->options->model,
                                       .tenant = WR_LIT(WR_CLI_TENANT),
                                       .must_exist = true,
                                       .now_ms = wr_clock_ms()};
    weir_status status = weir_session_open(&how, &probed, err);
    weir_session_close(probed);
    return !status;
}

/* ---- the prompt ---- */

static bool build_prompt(struct program *p)
{
    struct weir_err err = {0};
    const char *trouble;

    const char *dir = p->options->dir ? p->options->dir : p->root;
    weir_status status = weir_prompt_new(&p->prompt);
    if (!status)
        status = wr_agent_prompt_add(p->prompt, p->root, dir, wr_clock_ms(), &err);
    if (!status)
        status = weir_prompt_build(p->prompt, weir_session_model(p->session), 0, &err);
    if (!status)
        status = weir_session_use_prompt(p->session, p->prompt, wr_clock_ms(), &err);
    for (size_t i = 0; !status && (trouble = weir_prompt_trouble(p->prompt, i)); i++)
        (void)fprintf(stderr, "weir agent: %s\n", trouble);
    if (status)
        wr_cli_fail_status(status, &err);
    return !status;
}

/* The mark is the session's folder as the system numbers it: its path may be that of another
 * project's too where it is not absolute, and commands are not told where sessions are. */
static size_t mark_processes(struct program *p)
{
    struct stat place;
    char mark[64];

    if (stat(p->session_dir, &place))
        return 0;
    (void)snprintf(mark, sizeof(mark), "%llx-%llx", (unsigned long long)place.st_dev,
                   (unsigned long long)place.st_ino);
    return wr_processes_mark(p->processes, mark);
}

static bool set_tools(struct program *p, struct wr_agent *agent)
{
    struct weir_tool tools[WR_TOOLBOX_TOOLS_MAX];
    struct weir_err err = {0};
    size_t count;

    p->processes = wr_processes_new(p->root, is_interrupted, p);
    if (!p->processes) {
        wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
        return false;
    }
    if (p->options->pass_keys)
        wr_processes_pass_keys(p->processes);
    size_t left = mark_processes(p);
    if (left)
        (void)fprintf(stderr,
                      "weir agent: %zu processes of this session were still running; they were "
                      "ended\n",
                      left);
    agent->toolbox = (struct wr_toolbox){.root = p->root,
                                         .agent_dir = p->options->dir ? p->options->dir : p->root,
                                         .session_dir = p->session_dir,
                                         .processes = p->processes,
                                         .world = &p->world,
                                         .tenant = WR_LIT(WR_CLI_TENANT),
                                         .servers = p->servers,
                                         .has_helpers = true,
                                         .before_change = wr_undo_keep,
                                         .before_change_user = &p->undo,
                                         .interrupt = is_interrupted,
                                         .interrupt_user = p};
    count = wr_toolbox_tools(&agent->toolbox, tools);
    if (!weir_session_set_tools(p->session, tools, count, &err))
        return true;
    wr_cli_fail("%s", err.text);
    return false;
}

static struct wr_agent make_agent(struct program *p)
{
    return (struct wr_agent){.session = p->session,
                             .name = p->name,
                             .client = &p->client,
                             .endpoint = p->endpoint,
                             .tells_moment = true,
                             .needs_no_consent = p->options->yes,
                             .interrupt = is_interrupted,
                             .interrupt_user = p};
}

/* A session that goes on with other tools, another prompt or another model. */
static void tell_changes(struct program *p, const struct wr_view *view)
{
    weir_span changes = weir_session_changes(p->session);
    char text[1000];

    if (!changes.len)
        return;
    (void)snprintf(text, sizeof(text), "since this session was last open: %.*s",
                   (int)(changes.len < 900 ? changes.len : 900), changes.ptr);
    view->notice(view->user, text);
}

/* ---- without a terminal ---- */

static bool read_prompt(const struct agent_options *o, struct wr_buf *text)
{
    if (!o->prompt)
        return wr_cli_read("-", text);
    wr_buf_init(text, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_text(text, o->prompt);
    return true;
}

static int run_headless(struct program *p)
{
    struct wr_agent agent = make_agent(p);
    struct wr_headless headless;
    struct wr_buf text = {0};
    enum wr_worked worked = WR_WORKED_FAILED;

    if (!set_tools(p, &agent) || !read_prompt(p->options, &text)) {
        wr_buf_release(&text);
        return WR_EXIT_USAGE;
    }
    wr_client_watch_signals(&p->client, true); /* not before the prompt is read: that waits */
    wr_headless_init(&headless, stdout, p->options->json);
    struct wr_view view = wr_headless_view(&headless);
    agent.view = &view;
    tell_changes(p, &view);
    do {
        worked = wr_agent_work(&agent, wr_span_trim(wr_buf_view(&text)));
        wr_headless_end(&headless, &agent, worked);
    } while (p->options->every_s && worked == WR_WORKED_DONE &&
             wr_client_sleep(&p->client, p->options->every_s));
    wr_headless_release(&headless);
    wr_buf_release(&text);
    return worked == WR_WORKED_DONE ? WR_EXIT_OK : WR_EXIT_CHECK;
}

/* ---- in a terminal ---- */

static enum wr_chat_next run_chat(struct program *p)
{
    struct wr_agent agent = make_agent(p);
    struct wr_screen screen;
    struct wr_chat chat = {.agent = &agent,
                           .screen = &screen,
                           .undo = &p->undo,
                           .prompt = p->prompt,
                           .sessions_dir = p->sessions_dir,
                           .store = p->store,
                           .ask_window = window_of,
                           .ask_user = p,
                           .probe = can_open,
                           .agent_dir = agent.toolbox.agent_dir};

    if (!set_tools(p, &agent))
        return WR_CHAT_QUIT;
    wr_client_watch_signals(&p->client, false);
    wr_screen_init(&screen, stdout, wr_cli_colours() && !p->options->screen_reader, &p->keyboard);
    screen.kind = wr_screen_kind_of(getenv("TERM"), p->options->plain || !isatty(STDOUT_FILENO),
                                    p->options->screen_reader);
    struct wr_view view = wr_screen_view(&screen);
    agent.view = &view;
    wr_screen_say(&screen, "weir agent: /help lists the commands");
    tell_changes(p, &view);
    enum wr_chat_next next = wr_chat_run(&chat);
    if (next == WR_CHAT_RESUME)
        (void)snprintf(p->name, sizeof(p->name), "%s", chat.resume);
    wr_screen_release(&screen);
    return next;
}

/* ---- running ---- */

static void close_session(struct program *p)
{
    wr_processes_free(p->processes);
    p->processes = NULL;
    weir_prompt_free(p->prompt);
    p->prompt = NULL;
    weir_session_close(p->session);
    p->session = NULL;
    wr_undo_release(&p->undo); /* another session's changes are not this one's to take back */
}

/* Another session keeps its own model, unless one was asked for. If it cannot be opened, which is
 * told, the old session stays open. */
static void run_chats(struct program *p, int *code)
{
    char before[sizeof(p->name)] = "";
    enum wr_chat_next next;

    do {
        bool is_open = open_session(p) && build_prompt(p);
        char now[sizeof(p->name)];
        memcpy(now, p->name, sizeof(now));
        next = is_open ? run_chat(p) : before[0] ? WR_CHAT_RESUME : WR_CHAT_QUIT;
        *code = is_open ? WR_EXIT_OK : WR_EXIT_USAGE;
        close_session(p);
        if (!is_open)
            memcpy(p->name, before, sizeof(before));
        memcpy(before, is_open ? now : "", is_open ? sizeof(now) : 1);
        p->model = p->options->model;
    } while (next == WR_CHAT_RESUME);
}

static void tell_on_stderr(void *user, const char *text)
{
    (void)user;
    (void)fputs("weir agent: ", stderr);
    wr_plain_text_put(stderr, wr_span_of(text)); /* a server's words may be in it */
    (void)fputc('\n', stderr);
}

/* They are there for all sessions of this run. */
static bool start_servers(struct program *p)
{
    if (!p->mcp.count)
        return true;
    p->servers = wr_mcp_servers_new(&(struct wr_mcp_servers_options){.settings = &p->mcp,
                                                                     .client = &p->client,
                                                                     .root = p->root,
                                                                     .interrupt = is_interrupted,
                                                                     .interrupt_user = p,
                                                                     .notice = tell_on_stderr});
    if (!p->servers)
        wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
    return p->servers;
}

static int run_sessions(struct program *p)
{
    int code = WR_EXIT_USAGE;

    p->is_headless = p->options->prompt || !isatty(STDIN_FILENO);
    wr_keyboard_init(&p->keyboard, !p->is_headless, &p->client);
    if (!p->is_headless) {
        run_chats(p, &code);
    } else {
        if (open_session(p) && build_prompt(p))
            code = run_headless(p);
        close_session(p);
    }
    wr_keyboard_release(&p->keyboard);
    return code;
}

static int run_program(struct program *p)
{
    int code = WR_EXIT_USAGE;

    p->store = wr_cli_store(p->store_dir.bytes, NULL);
    if (!p->store)
        return code;
    wr_mcp_world_init(&p->world, p->store_dir.bytes);
    wr_summary_call_init(&p->summary);
    p->summary.client = &p->client;
    p->summary.endpoint = &p->endpoint;
    p->summary.model = p->options->summary_model;
    p->summary.session = p->name;
    if (start_servers(p))
        code = run_sessions(p);
    wr_mcp_servers_free(p->servers);
    wr_summary_call_release(&p->summary);
    wr_undo_release(&p->undo);
    wr_mcp_world_release(&p->world);
    weir_store_close(p->store);
    return code;
}

static bool has_dir(const struct agent_options *o)
{
    struct stat status;

    if (!o->dir || (!stat(o->dir, &status) && S_ISDIR(status.st_mode)))
        return true;
    wr_cli_fail("--dir %s is no folder that is there", o->dir);
    return false;
}

/* Needs no model, no key and no store. */
static int watch_session(const struct agent_options *o)
{
    struct program p = {.options = o};
    struct wr_watch watch = {stdout, o->json};
    struct weir_err err = {0};
    int code = WR_EXIT_USAGE;

    if (find_places(&p)) {
        (void)snprintf(p.session_dir, sizeof(p.session_dir), "%s/%s", p.sessions_dir, p.name);
        weir_status status = wr_watch_session(&watch, p.session_dir, &err);
        code = status ? WR_EXIT_CHECK : WR_EXIT_OK;
        if (status && !ferror(stdout))
            wr_cli_fail_status(status, &err);
    }
    wr_buf_release(&p.store_dir);
    return code;
}

static int run_options(const struct agent_options *o)
{
    struct program p = {.options = o};
    struct weir_err err = {0};
    int code = WR_EXIT_USAGE;

    (void)setlocale(LC_CTYPE, "");
    (void)signal(SIGPIPE, SIG_IGN);
    if (has_dir(o) && read_config(&p) && find_model(&p) && hide_keys(&p) && find_places(&p)) {
        if (wr_client_init(&p.client, getenv("SSL_CERT_FILE"), &err))
            wr_cli_fail("%s", err.text);
        else
            code = run_program(&p);
        wr_client_release(&p.client);
    }
    wr_buf_release(&p.store_dir);
    wr_buf_release(&p.config);
    wr_mcp_settings_release(&p.mcp);
    free(p.key);
    return code;
}

static int run_agent(void *values, const struct wr_words *words)
{
    const struct agent_options *o = values;

    (void)words;
    if (o->every_s && !o->prompt)
        return wr_cli_fail("--every needs a prompt: -p PROMPT");
    if (o->watch && !o->session)
        return wr_cli_fail("--watch needs a session: --session NAME");
    if (o->watch)
        return watch_session(o);
    return run_options(o);
}

const struct wr_command wr_cmd_agent = {
    .name = "agent",
    .purpose = "a small agent of our own, in a terminal or without one",
    .usage = "[OPTIONS]\n-p PROMPT [OPTIONS]",
    .about = "An agent with tools for files and commands, whose sessions survive anything: its "
             "journal is the truth, its prompt stays inside the window, and what was taken out can "
             "be recalled.",
    WR_OPTIONS(options),
    .wants = "a prompt comes behind -p",
    .exits = "Exit 1: with -p, the work was not done.",
    .example = "OPENAI_API_KEY=... weir agent -p 'What does this project do?'\n"
               "weir agent --base-url http://127.0.0.1:11434 --model qwen3",
    .run = run_agent,
};
