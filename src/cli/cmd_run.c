/* `weir run`: an agent through Weir, with nothing of the user's changed. */
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "cli/store_dir.h"
#include "launch/child.h"
#include "launch/own_settings.h"
#include "launch/receipt.h"
#include "launch/run_dir.h"
#include "launch/serving.h"
#include "proxy/door.h"

static const char help[] =
    "usage: weir run [--policy P] [--mode M] [--store DIR] [--config weir.yaml]\n"
    "                [--receipt FILE] [--quiet] [--] AGENT [ARGUMENTS]\n"
    "       weir run --list [--listen HOST:PORT]\n"
    "\n"
    "Runs an agent through Weir: codex, claude, opencode, gemini, pi, qwen, aider, or any program\n"
    "that reads OPENAI_BASE_URL or ANTHROPIC_BASE_URL. Uses the server of the store if one runs,\n"
    "and else starts one that ends with the agent. None of your settings is changed or lost. At\n"
    "the end a receipt says on stderr what went through and what it cost.\n"
    "\n"
    "  --policy P      what is taken out (`weir policies`); auto unless told\n"
    "  --mode M        active (the default), off, meter, shadow, 'canary N%' or 'holdout N%'\n"
    "                  Both hold for sessions that go on in this run, too; untold, those keep "
    "theirs.\n"
    "  --store DIR     where originals go; without it $XDG_DATA_HOME/weir or ~/.local/share/weir\n"
    "  --config FILE   weir.yaml for a server of this run's own (docs/proxy.md)\n"
    "  --receipt FILE  the receipt as JSON too (docs/run.md)\n"
    "  --quiet         say nothing on stderr\n"
    "  --list          the agents, and how to point each by hand at HOST:PORT (127.0.0.1:4141)\n"
    "\n"
    "Exits as the agent does: its status, 128 + N if signal N ended it, 127 if it is not there.\n"
    "\n"
    "example: weir run --mode shadow -- codex exec 'fix the failing test'\n";

#define STDERR_NAME "serve.stderr"

enum { PATH_BYTES_MAX = 4096, NOT_FOUND = 127, SIGNAL_BASE = 128, ROWS_PAUSE_MS = 400 };

struct run_options {
    const char *policy, *mode, *store, *config, *receipt, *listen;
    bool is_quiet, is_list;
};

struct run {
    const struct run_options *options;
    char **argv; /* the agent's */
    const struct wr_agent *agent;
    struct wr_arena arena;
    const char *path; /* of the agent's program */
    char weir[PATH_BYTES_MAX], folder[PATH_BYTES_MAX];
    struct wr_run_dir dir;
    char stderr_path[PATH_BYTES_MAX + 16];
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
};

/* ---- the command line ---- */

static bool takes_value(const struct wr_opt *options, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(options[i].name, word + 2))
            return options[i].kind != WR_OPT_FLAG;
    return false;
}

/* Where our words end: everything from the agent's name on is the agent's. */
static int agent_at(int argc, char **argv, const struct wr_opt *options, size_t count)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--"))
            return i + 1;
        if (argv[i][0] != '-')
            return i;
        i += !strncmp(argv[i], "--", 2) && takes_value(options, count, argv[i]);
    }
    return argc;
}

static bool is_address(const char *listen)
{
    const char *colon = strrchr(listen, ':');
    uint64_t port;

    return colon && colon > listen && wr_span_u64(wr_span_of(colon + 1), &port) && port &&
           port <= UINT16_MAX && !strpbrk(listen, " /?#@");
}

static int list_agents(const char *listen)
{
    char root[512];
    struct wr_launch launch = {.root = root};
    struct wr_arena arena;

    if (listen && !is_address(listen))
        return wr_cli_fail("run", "--listen wants HOST:PORT, not '%s'", listen);
    (void)snprintf(root, sizeof(root), "http://%s", listen ? listen : "127.0.0.1:4141");
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    for (size_t i = 0; wr_agent_at(i); i++) {
        const struct wr_agent *agent = wr_agent_at(i);
        const char *how = wr_launch_text(&arena, &launch, agent, agent->by_hand);
        printf("%-18s %s\n%18s %s\n", agent->name, how ? how : "", "", agent->what);
    }
    wr_arena_release(&arena);
    return WR_EXIT_OK;
}

/* ---- what is known before anything runs ---- */

static bool make_id(struct run *r)
{
    unsigned char bytes[WR_RUN_DIGITS / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
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
        wr_cli_fail("run", "no folder of its own below %s: %s; set TMPDIR", parent,
                    strerror(errno));
        return false;
    }
    (void)snprintf(r->stderr_path, sizeof(r->stderr_path), "%s/" STDERR_NAME, r->dir.path);
    return wr_run_dir_expect(&r->dir, STDERR_NAME);
}

static bool find_store(struct run *r)
{
    char whole[PATH_BYTES_MAX];

    if (!r->options->store)
        return wr_cli_store_path("run", &r->store);
    /* The agent may run its MCP process anywhere: a path that begins here must be whole. */
    if (r->options->store[0] != '/' && r->folder[0])
        (void)snprintf(whole, sizeof(whole), "%.2000s/%.2000s", r->folder, r->options->store);
    else
        (void)snprintf(whole, sizeof(whole), "%s", r->options->store);
    wr_buf_text(&r->store, whole);
    wr_buf_byte(&r->store, '\0');
    return !wr_buf_status(&r->store);
}

static bool find_weir(struct run *r)
{
    ssize_t bytes = readlink("/proc/self/exe", r->weir, sizeof(r->weir) - 1);
    if (bytes <= 0) {
        wr_cli_fail("run", "cannot tell where this program is: %s", strerror(errno));
        return false;
    }
    r->weir[bytes] = '\0';
    return true;
}

/* ---- the server ---- */

/* True: a server is there. */
static bool get_server(struct run *r)
{
    const struct run_options *o = r->options;
    struct wr_serving_wishes wishes = {.weir = r->weir,
                                       .store = r->store.bytes,
                                       .mode = o->mode,
                                       .policy = o->policy,
                                       .config = o->config,
                                       .upstream = r->agent->upstream,
                                       .own = r->own.upstreams,
                                       .own_count = r->own.upstreams_count,
                                       .stderr_path = r->stderr_path};
    struct weir_err err = {0};
    const char *why_not;

    if (!wr_serving_find(&r->serving, &r->arena, &wishes, &why_not))
        return true;
    if (why_not && !o->is_quiet)
        fprintf(stderr, "weir run: a server of its own: process %lld serves this store, but %s\n",
                (long long)r->serving.facts.pid, why_not);
    if (!wr_serving_start(&r->serving, &r->arena, &wishes, &err)) {
        r->was_started = true;
        return true;
    }
    wr_cli_fail("run", "%s; what it said follows", err.text);
    return false;
}

static bool set_root(struct run *r)
{
    const struct wr_server_facts *facts = &r->serving.facts;
    const char *token = getenv("WEIR_TOKEN");

    if (facts->needs_token && (!token || !*token)) {
        wr_cli_fail("run", "the server on %s:%u wants an access token: set WEIR_TOKEN", facts->host,
                    facts->port);
        return false;
    }
    r->launch.token = facts->needs_token ? token : NULL;
    int bytes =
        snprintf(r->root, sizeof(r->root), "http://%s:%u%s%s/r/%s", facts->host, facts->port,
                 facts->needs_token ? "/k/" : "", facts->needs_token ? token : "", r->id);
    if (bytes > 0 && (size_t)bytes < sizeof(r->root))
        return true;
    wr_cli_fail("run", "the access token is too long");
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
    r->launch.providers_count = r->own.providers_count;
    memcpy(r->launch.providers, r->own.providers, sizeof(r->own.providers));
    if (wr_plan_make(&r->plan, &r->arena, r->agent, &r->launch, r->argv)) {
        wr_cli_fail("run", "%s", weir_status_text(WEIR_NOMEM));
        return false;
    }
    for (size_t i = 0; i < r->plan.files_count; i++)
        if (!wr_run_dir_write(&r->dir, r->plan.files[i].name, r->plan.files[i].text)) {
            wr_cli_fail("run", "%s/%s: %s", r->dir.path, r->plan.files[i].name, strerror(errno));
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
    fprintf(stderr, "weir run: %s through http://%s:%u (%s), mode %s, policy %s%s\n", r->argv[0],
            facts->host, facts->port, r->was_started ? "started" : "running", facts->mode,
            facts->policy, keeps);
    if (r->serving.store && strcmp(r->serving.store, "ok") != 0)
        fprintf(stderr, "weir run: nothing new is shortened now: the server's store: %s\n",
                r->serving.store);
    if (!wr_agent_is_known(r->agent))
        fprintf(stderr, "weir run: this program is not known; only OPENAI_BASE_URL, "
                        "ANTHROPIC_BASE_URL and the like are set\n");
    else if (!r->plan.has_recall)
        fprintf(stderr, "weir run: weir_recall is not registered with it\n");
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
    struct weir_err err = {0};
    struct wr_buf text;

    if (r->options->is_quiet && !r->options->receipt)
        return;
    if (read_receipt(r, &receipt, &err)) {
        wr_cli_fail("run", "no receipt: %s", err.text);
        return;
    }
    wr_buf_init(&text, WR_LAUNCH_SETTINGS_BYTES_MAX);
    if (!r->options->is_quiet) {
        wr_receipt_print(&receipt, "weir: ", &text);
        (void)fwrite(text.bytes, 1, text.len, stderr);
    }
    wr_buf_reset(&text);
    FILE *file = r->options->receipt ? fopen(r->options->receipt, "wbe") : NULL;
    if (file) {
        wr_receipt_write(&receipt, result, &text);
        (void)fwrite(text.bytes, 1, text.len, file);
    }
    if (r->options->receipt && (!file || fclose(file)))
        wr_cli_fail("run", "%s: %s", r->options->receipt, strerror(errno));
    wr_buf_release(&text);
}

/* Somebody wanted it to end before it began: signals wait while we prepare. 0: nobody. */
static int pending_end(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t pending;

    if (sigpending(&pending))
        return 0;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (sigismember(&pending, ends[i]) == 1)
            return SIGNAL_BASE + ends[i];
    return 0;
}

static int run(struct run *r)
{
    int result = WR_EXIT_USAGE;

    wr_child_prepare();
    r->started_ms = wr_clock_ms();
    wr_own_read(&r->own, &r->arena, r->agent, environ, r->folder);
    bool ok = make_dir(r) && get_server(r) && set_root(r) && make_plan(r);
    if (ok && !(result = pending_end())) {
        say_start(r);
        show_stderr(r);
        wr_run_dir_share(&r->dir);
        result = wr_child_run(r->path, &r->plan);
        if (wr_serving_has_died(&r->serving))
            wr_cli_fail("run", "the server had ended before %s did, whose later requests failed",
                        r->argv[0]);
    }
    wr_serving_end(&r->serving);
    show_stderr(r);
    if (ok)
        give_receipt(r, result);
    wr_run_dir_remove(&r->dir);
    return result;
}

static int run_agent(const struct run_options *o, char **argv)
{
    struct run r = {
        .options = o, .argv = argv, .agent = wr_agent_find(argv[0]), .dir = {.lock = -1}};
    int result = WR_EXIT_USAGE;

    wr_arena_init(&r.arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    wr_buf_init(&r.store, PATH_BYTES_MAX);
    if (!getcwd(r.folder, sizeof(r.folder)))
        r.folder[0] = '\0';
    r.path = wr_child_find(&r.arena, argv[0]);
    if (!r.path) {
        wr_cli_fail("run", "%s: %s; install it, or name its path", argv[0], strerror(errno));
        result = NOT_FOUND;
    } else if (!make_id(&r)) {
        wr_cli_fail("run", "no random numbers: %s", strerror(errno));
    } else if (find_weir(&r) && find_store(&r)) {
        result = run(&r);
    }
    wr_buf_release(&r.store);
    wr_arena_release(&r.arena);
    return result;
}

/* Before the agent has worked for an hour. What is there stays until there is a new one. */
static bool is_writable(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd >= 0)
        (void)unlink(path);
    else if (errno == EEXIST)
        fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        wr_cli_fail("run", "--receipt %s: %s", path, strerror(errno));
    else
        (void)close(fd);
    return fd >= 0;
}

int wr_cmd_run(int argc, char **argv)
{
    struct run_options o = {0};
    struct wr_opt_list rest = {.count = 0};
    const struct wr_opt options[] = {
        {"policy", WR_OPT_TEXT, &o.policy},   {"mode", WR_OPT_TEXT, &o.mode},
        {"store", WR_OPT_TEXT, &o.store},     {"config", WR_OPT_TEXT, &o.config},
        {"receipt", WR_OPT_TEXT, &o.receipt}, {"listen", WR_OPT_TEXT, &o.listen},
        {"quiet", WR_OPT_FLAG, &o.is_quiet},  {"list", WR_OPT_FLAG, &o.is_list}};
    size_t options_count = sizeof(options) / sizeof(options[0]);
    bool is_asked = argc > 1 && !strcmp(argv[1], WR_COMPLETE);
    int at = is_asked ? argc : agent_at(argc, argv, options, options_count);
    bool done;

    if (!wr_opt_parse(at, argv, options, options_count, help, &rest, &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (o.is_list && at < argc)
        return wr_cli_fail("run", "--list names all agents: '%s' is one word too many", argv[at]);
    if (o.is_list)
        return list_agents(o.listen);
    if (o.listen)
        return wr_cli_fail("run",
                           "--listen goes with --list; --config says where a server listens");
    if (at >= argc)
        return wr_cli_fail("run", "name an agent, such as `weir run -- codex`; --list names them");
    return o.receipt && !is_writable(o.receipt) ? WR_EXIT_USAGE : run_agent(&o, argv + at);
}
