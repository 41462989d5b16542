/* `weir run`: an agent through Weir, with nothing of the user's changed.
 *
 *   1. the agent is found in the PATH, its own settings are read, a folder for this run is made
 *   2. a server is found, or started for this run
 *   3. the plan: variables, words and files that point the agent at the server (launch/plan.c)
 *   4. the agent runs, with the terminal and with signals passed on
 *   5. a server that was started ends, the receipt is read from the store, the folder goes
 *
 * Signals wait while this is prepared, so that an early Ctrl+C leaves nothing behind. The receipt
 * comes from rows that the server writes a moment later; it is read again until it no longer
 * changes.
 */
#include "cli/cmd_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/open.h"
#include "launch/run.h"
#include "launch/own_settings.h"
#include "launch/serving.h"
#include "proxy/config.h"
#include "proxy/door.h"

#define STDERR_NAME "serve.stderr"

enum {
    PATH_BYTES_MAX = 4096,
    NOT_FOUND = 127,
    SIGNAL_BASE = 128,
    ROWS_PAUSE_MS = 400,
    NAME_COLUMNS = 19
};

struct run_options {
    struct wr_run_options run;
    const char *listen;
    bool is_list;
};

#define VALUES struct run_options

static const struct wr_option options[] = {
    {"policy", WR_TEXT("P", run.policy), "what is taken out (`weir policies`); auto unless told",
     .list = wr_list_policies},
    {"mode", WR_TEXT("M", run.mode),
     "active (the default), off, meter, shadow, 'canary N%' or 'holdout N%'. Mode and policy hold "
     "for sessions that go on in this run, too; untold, those keep theirs",
     .words = WR_WORDS_MODES},
    WR_ROW_STORE(run.store),
    {"config", WR_FILE(run.config), "weir.yaml for a server of this run's own (docs/proxy.md)"},
    {"receipt", WR_FILE(run.receipt), "the receipt as JSON too (docs/run.md)"},
    {"quiet", WR_FLAG(run.is_quiet), "say nothing on stderr"},
    {"list", WR_FLAG(is_list), "the agents, and how to point each by hand at a server"},
    {"listen", WR_TEXT("HOST:PORT", listen),
     "with --list: where that server is; 127.0.0.1:4141 unless told"},
};

struct run {
    const struct wr_run_options *options;
    char **argv; /* the agent's */
    const struct wr_agent *agent;
    struct wr_arena arena;
    const char *path; /* of the agent's program */
    char weir[PATH_BYTES_MAX], folder[PATH_BYTES_MAX];
    struct wr_run_dir dir;
    char stderr_path[PATH_BYTES_MAX + 16], shadow_dir[PATH_BYTES_MAX + 16];
    char root[512];
    char id[WR_RUN_DIGITS + 1];
    struct wr_buf store;
    struct wr_own own;
    struct wr_launch launch;
    struct wr_serving serving;
    struct wr_plan plan;
    bool was_started;
    long shown_bytes; /* of what a started server had to say */
    int64_t started_ms;
    uint64_t agent_us;
};

/* ---- the agents ---- */

static bool is_address(const char *listen)
{
    const char *colon = strrchr(listen, ':');
    uint64_t port;

    return colon && colon > listen && wr_span_u64(wr_span_of(colon + 1), &port) && port &&
           port <= UINT16_MAX && !strpbrk(listen, " /?#@");
}

/* What is to be typed stays on one line, to be copied. */
static int list_agents(const char *listen)
{
    char root[512];
    struct wr_launch launch = {.root = root};
    struct wr_arena arena;
    struct wr_buf out, what;

    if (listen && !is_address(listen))
        return wr_cli_fail("--listen wants HOST:PORT, not '%s'", listen);
    (void)snprintf(root, sizeof(root), "http://%s", listen ? listen : "127.0.0.1:4141");
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&what, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; wr_agent_at(i); i++) {
        const struct wr_agent *agent = wr_agent_at(i);
        const char *how = wr_launch_text(&arena, &launch, agent, agent->by_hand);
        wr_buf_printf(&out, "%-18s %s\n%18s ", agent->name, how ? how : "", "");
        wr_buf_reset(&what);
        wr_buf_printf(&what, "%s%s", agent->refusal ? agent->refusal : agent->what,
                      wr_agent_is_known(agent) && !agent->tried ? " (untried)" : "");
        wr_text_wrap(&out, wr_buf_view(&what), wr_cli_columns_told() - NAME_COLUMNS, NAME_COLUMNS);
        wr_buf_byte(&out, '\n');
    }
    wr_buf_release(&what);
    wr_arena_release(&arena);
    return wr_cli_end(&out, WR_EXIT_OK);
}

/* ---- what is known before anything runs ---- */

static bool make_id(struct run *r)
{
    unsigned char bytes[WR_RUN_DIGITS / 2];

    if (!wr_os_random(bytes, sizeof(bytes)))
        return false;
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(r->id + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool make_dir(struct run *r)
{
    const char *parent = wr_run_dir_parent();

    (void)wr_run_dirs_stale(parent, true);
    if (!wr_run_dir_make(&r->dir, parent)) {
        wr_cli_fail("no folder of its own below %s: %s; set TMPDIR", parent, strerror(errno));
        return false;
    }
    (void)snprintf(r->stderr_path, sizeof(r->stderr_path), "%s/" STDERR_NAME, r->dir.path);
    if (r->options->keeps_shadow) {
        (void)snprintf(r->shadow_dir, sizeof(r->shadow_dir), "%s/shadow", r->dir.path);
        if (mkdir(r->shadow_dir, 0700)) {
            wr_cli_fail("%s: %s", r->shadow_dir, strerror(errno));
            return false;
        }
    }
    return wr_run_dir_expect(&r->dir, STDERR_NAME);
}

static bool find_store(struct run *r)
{
    char whole[PATH_BYTES_MAX];

    if (!r->options->store)
        return wr_cli_store_path(NULL, &r->store);
    /* The agent may run its MCP process anywhere: a path that begins here must be whole. */
    if (r->options->store[0] != '/' && r->folder[0])
        (void)snprintf(whole, sizeof(whole), "%.2000s/%.2000s", r->folder, r->options->store);
    else
        (void)snprintf(whole, sizeof(whole), "%s", r->options->store);
    return wr_cli_store_path(whole, &r->store);
}

static bool find_weir(struct run *r)
{
    bool is_known = wr_os_program_path(r->weir, sizeof(r->weir)) > 0;
    if (!is_known)
        wr_cli_fail("cannot tell where this program is: %s", strerror(errno));
    return is_known;
}

/* ---- the server ---- */

/* True: a server is there. */
static bool get_server(struct run *r)
{
    const struct wr_run_options *o = r->options;
    struct wr_serving_wishes wishes = {.weir = r->weir,
                                       .store = r->store.bytes,
                                       .mode = o->mode,
                                       .policy = o->policy,
                                       .config = o->config,
                                       .upstream = r->agent->upstream,
                                       .own = r->own.upstreams,
                                       .own_count = r->own.upstreams_count,
                                       .shadow_dir = o->keeps_shadow ? r->shadow_dir : NULL,
                                       .stderr_path = r->stderr_path};
    struct weir_err err = {0};
    const char *why_not;

    if (!wr_serving_find(&r->serving, &r->arena, &wishes, &why_not))
        return true;
    if (why_not && !o->is_quiet && !o->keeps_shadow)
        wr_cli_fail("a server of its own: process %lld serves this store, but %s",
                    (long long)r->serving.facts.pid, why_not);
    if (!wr_serving_start(&r->serving, &r->arena, &wishes, &err)) {
        r->was_started = true;
        return true;
    }
    wr_cli_fail("%s; what it said follows", err.text);
    return false;
}

static bool set_root(struct run *r)
{
    const struct wr_server_facts *facts = &r->serving.facts;
    const char *token = getenv("WEIR_TOKEN");

    if (facts->needs_token && (!token || !*token)) {
        wr_cli_fail("the server on %s:%u wants an access token: set WEIR_TOKEN", facts->host,
                    facts->port);
        return false;
    }
    r->launch.token = facts->needs_token ? token : NULL;
    int bytes =
        snprintf(r->root, sizeof(r->root), "http://%s:%u%s%s/r/%s", facts->host, facts->port,
                 facts->needs_token ? "/k/" : "", facts->needs_token ? token : "", r->id);
    if (bytes > 0 && (size_t)bytes < sizeof(r->root))
        return true;
    wr_cli_fail("the access token is too long");
    return false;
}

/* What a server of our own has to say is for before and after the agent, not for its screen. */
static void show_stderr(struct run *r)
{
    char bytes[4096];
    FILE *file = r->dir.path[0] ? fopen(r->stderr_path, "rbe") : NULL;
    size_t len;

    if (file)
        (void)fseek(file, r->shown_bytes, SEEK_SET);
    while (file && (len = fread(bytes, 1, sizeof(bytes), file)) > 0) {
        (void)fwrite(bytes, 1, len, stderr);
        r->shown_bytes += (long)len;
    }
    if (file)
        (void)fclose(file);
}

/* ---- the plan ---- */

static bool make_plan(struct run *r)
{
    r->launch.root = r->root;
    r->launch.weir = r->weir;
    r->launch.store = r->store.bytes;
    r->launch.dir = r->dir.path;
    r->launch.environment = environ;
    r->launch.is_redirected = r->own.is_redirected;
    r->launch.has_one_upstream = r->serving.facts.has_one_upstream;
    r->launch.upstreams = r->own.upstreams;
    r->launch.upstreams_count = r->own.upstreams_count;
    r->launch.pieces = r->own.pieces;
    r->launch.pieces_count = r->own.pieces_count;
    r->launch.providers_count = r->own.providers_count;
    memcpy(r->launch.providers, r->own.providers, sizeof(r->own.providers));
    if (wr_plan_make(&r->plan, &r->arena, r->agent, &r->launch, r->argv)) {
        wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
        return false;
    }
    for (size_t i = 0; i < r->plan.files_count; i++)
        if (!wr_run_dir_write(&r->dir, r->plan.files[i].name, r->plan.files[i].text)) {
            wr_cli_fail("%s/%s: %s", r->dir.path, r->plan.files[i].name, strerror(errno));
            return false;
        }
    return true;
}

static void say_start(const struct run *r)
{
    const struct wr_server_facts *facts = &r->serving.facts;

    if (r->options->is_quiet)
        return;
    const char *keeps = facts->is_mode_said && facts->is_policy_said ? ""
                        : facts->is_mode_said   ? " (a session that goes on keeps its policy)"
                        : facts->is_policy_said ? " (a session that goes on keeps its mode)"
                                                : " (a session that goes on keeps its own)";
    /* wr_cli_fail() begins a line with the command's name; these are news, no failures. */
    wr_cli_fail("%s through http://%s:%u (%s), mode %s, policy %s%s", r->argv[0], facts->host,
                facts->port, r->was_started ? "started" : "running", facts->mode, facts->policy,
                keeps);
    if (r->serving.store && strcmp(r->serving.store, "ok") != 0)
        wr_cli_fail("nothing new is shortened now: the server's store: %s", r->serving.store);
    if (!wr_agent_is_known(r->agent))
        wr_cli_fail("this program is not known; only OPENAI_BASE_URL, ANTHROPIC_BASE_URL and the "
                    "like are set");
    else if (!r->agent->tried)
        wr_cli_fail("untried: nobody has seen a request of this program come by Weir; the receipt "
                    "at the end says whether one did");
    if (r->agent->has_no_tools)
        wr_cli_fail("it has no tools, so no text can be recalled: little leaves");
}

/* Whether the agent, as it is called and set up, would ask somebody else: then it is not started,
 * for it would look as if it went through Weir. */
static bool is_refused(const struct run *r)
{
    const char *why = r->agent->refusal;

    if (!why)
        why = wr_agent_detour(r->agent, environ);
    if (!why)
        why = r->own.refusal;
    if (why)
        wr_cli_fail("%s cannot go through Weir: %s; it was not started", r->argv[0], why);
    return why;
}

/* ---- the end ---- */

static bool is_same(const struct wr_receipt *a, const struct wr_receipt *b)
{
    return a->tally.requests_count == b->tally.requests_count &&
           a->tally.passed_count == b->tally.passed_count;
}

/* A server that goes on writes its rows a moment later: read until nothing more comes. */
static weir_status read_receipt(const struct run *r, struct wr_receipt *receipt,
                                struct weir_err *err)
{
    struct timespec pause = {.tv_nsec = ROWS_PAUSE_MS * 1000000L};
    weir_status status = wr_receipt_read(receipt, r->store.bytes, r->started_ms, err);

    for (int waited_ms = 0; !status && !r->was_started && waited_ms < WR_LAUNCH_ROWS_MS_MAX;
         waited_ms += ROWS_PAUSE_MS) {
        struct wr_receipt before = *receipt;
        (void)nanosleep(&pause, NULL);
        status = wr_receipt_read(receipt, r->store.bytes, r->started_ms, err);
        if (!status && is_same(&before, receipt))
            break;
    }
    return status;
}

static void give_receipt(const struct run *r, int result)
{
    struct wr_receipt receipt = {.run = r->id, .agent = r->agent->name};
    struct wr_run_end end = {.result = result,
                             .receipt = &receipt,
                             .agent_ms = r->agent_us / 1000,
                             .shadow_dir = r->options->keeps_shadow ? r->shadow_dir : NULL};
    struct weir_err err = {0};
    struct wr_buf text;

    if (r->options->is_quiet && !r->options->receipt && !r->options->at_end)
        return;
    if (read_receipt(r, &receipt, &err)) {
        wr_cli_fail("no receipt: %s", err.text);
        end.receipt = NULL;
    }
    if (r->options->at_end)
        r->options->at_end(r->options->user, &end);
    if (!end.receipt)
        return;
    wr_buf_init(&text, WR_LAUNCH_SETTINGS_BYTES_MAX);
    if (!r->options->is_quiet && !r->options->at_end) {
        wr_receipt_print(&receipt, "weir: ", &text);
        (void)fwrite(text.bytes, 1, text.len, stderr);
    }
    wr_buf_reset(&text);
    if (r->options->receipt) {
        wr_receipt_write(&receipt, result, &text);
        (void)wr_cli_write_file(r->options->receipt, wr_buf_view(&text));
    }
    wr_buf_release(&text);
}

/* Somebody wanted it to end before it began: signals wait while we prepare. 0: nobody. */
static int pending_end(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t pending;

    if (sigpending(&pending))
        return 0;
    for (size_t i = 0; i < WR_COUNT_OF(ends); i++)
        if (sigismember(&pending, ends[i]) == 1)
            return SIGNAL_BASE + ends[i];
    return 0;
}

static int run_prepared(struct run *r)
{
    int result = WR_EXIT_USAGE;

    wr_child_prepare();
    r->started_ms = wr_clock_ms();
    wr_own_read(&r->own, &r->arena, r->agent, environ, r->folder);
    bool ok = !is_refused(r) && make_dir(r) && get_server(r) && set_root(r) && make_plan(r);
    if (ok && !(result = pending_end())) {
        say_start(r);
        show_stderr(r);
        wr_run_dir_share(&r->dir);
        uint64_t began_us = wr_clock_steady_us();
        result = wr_child_run(r->path, &r->plan);
        r->agent_us = wr_clock_steady_us() - began_us;
        if (wr_serving_has_died(&r->serving))
            wr_cli_fail("the server had ended before %s did, whose later requests failed",
                        r->argv[0]);
    }
    wr_serving_end(&r->serving);
    show_stderr(r);
    if (ok)
        give_receipt(r, result);
    wr_run_dir_remove(&r->dir);
    return result;
}

int wr_run_agent(const struct wr_run_options *o, char **argv)
{
    struct run r = {
        .options = o, .argv = argv, .agent = wr_agent_find(argv[0]), .dir = {.lock = -1}};
    int result = WR_EXIT_USAGE;

    wr_arena_init(&r.arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    if (!getcwd(r.folder, sizeof(r.folder)))
        r.folder[0] = '\0';
    r.path = wr_child_find(&r.arena, argv[0]);
    if (!r.path) {
        int why = errno;
        struct wr_near near = wr_agent_near(argv[0]);
        wr_cli_fail("%s: %s%s install it, or name its path", argv[0], strerror(why),
                    wr_agent_is_known(r.agent) ? ";" : near.text);
        result = NOT_FOUND;
    } else if (!make_id(&r)) {
        wr_cli_fail("no random numbers: %s", strerror(errno));
    } else if (find_weir(&r) && find_store(&r)) {
        result = run_prepared(&r);
    }
    wr_buf_release(&r.store);
    wr_arena_release(&r.arena);
    return result;
}

static void list_agent_names(wr_word_fn *each, void *user)
{
    for (size_t i = 0; wr_agent_at(i); i++)
        if (wr_agent_is_known(wr_agent_at(i)))
            each(user, wr_agent_at(i)->name, wr_agent_at(i)->what);
}

static int run_run(void *values, const struct wr_words *words)
{
    const struct run_options *o = values;
    enum wr_mode mode;
    uint32_t percent;

    if (o->is_list && words->count)
        return wr_cli_fail("--list names all agents: '%s' is one word too many", words->items[0]);
    if (o->is_list)
        return list_agents(o->listen);
    if (o->listen)
        return wr_cli_fail("--listen goes with --list; --config says where a server listens");
    if (!words->count)
        return wr_cli_fail("name an agent, such as `weir run -- codex`; --list names them");
    if (o->run.mode && !wr_mode_parse(wr_span_of(o->run.mode), &mode, &percent))
        return wr_cli_fail(WR_MODE_WANTED ", not '%s'", o->run.mode);
    /* Said before the agent has worked for an hour. */
    return wr_cli_can_write(o->run.receipt) ? wr_run_agent(&o->run, words->items) : WR_EXIT_USAGE;
}

const struct wr_command wr_cmd_run = {
    .name = "run",
    .purpose = "an agent through the proxy, with a receipt at the end",
    .usage = "[OPTIONS] [--] AGENT [ARGUMENTS]\n--list [--listen HOST:PORT]",
    .about = "Runs an agent through Weir: codex, claude, opencode, gemini, pi, qwen, aider, or any "
             "program that reads OPENAI_BASE_URL or ANTHROPIC_BASE_URL. Uses the server of the "
             "store if one runs, and else starts one that ends with the agent. None of your "
             "settings is changed or lost. At the end a receipt says on stderr what went through "
             "and what it cost.",
    WR_OPTIONS(options),
    .words_max = SIZE_MAX,
    .list = list_agent_names,
    .ends_at_word = true,
    .exits = "Exits as the agent does: its status, 128 + N if signal N ended it, 127 if it is not "
             "there.",
    .example = "weir run --mode shadow -- codex exec 'fix the failing test'",
    .run = run_run,
};
