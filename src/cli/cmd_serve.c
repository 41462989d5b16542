/* `weir serve`: from the configuration to the supervisor.
 *
 *   load_config()      weir.yaml, then variables, then the command line
 *   open_listener()    tries for a while: workers of a killed server may still hold the port
 *   check_store()      a store that cannot be written is refused now; one that fails later is not
 *   take_lock()        so that `weir run` finds this server; not to be found is no reason to end
 *   print_start()      the first line; signals are blocked before it, for the supervisor to take
 *   wr_supervisor_run()
 *
 * A reload (SIGHUP) makes a new configuration in the same way, in each worker, and says which of
 * its changes wait for a restart.
 */
#include "api/api.h"
#include "base/os.h"
#include "cli/open.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "launch/serving.h"
#include "net/http.h"
#include "proxy/config_keys.h"
#include "proxy/door.h"
#include "proxy/store_state.h"
#include "proxy/tls_settings.h"
#include "proxy/worker.h"
#include "store/store.h"

struct serve_options {
    const char *listen, *mode, *policy, *recall, *store, *config, *keep_shadow;
    struct wr_opt_list upstreams;
    bool is_unlisted, is_without_store, is_check;
};

#define VALUES struct serve_options

static const struct wr_option options[] = {
    {"listen", WR_TEXT("ADDR", listen),
     "HOST:PORT, 127.0.0.1:4141 unless told; port 0: any that is free. Other than loopback needs "
     "`tokens` in weir.yaml"},
    {"upstream", WR_LIST("URL", upstreams),
     "one provider behind all APIs; without it each request goes to its API's own. NAME=URL sets "
     "the URL of one (openai, anthropic, gemini, ollama, any); may be repeated",
     .words = WR_API_UPSTREAM_WORDS " any="},
    {"mode", WR_TEXT("M", mode),
     "active (the default), off, meter, shadow, 'canary N%' or 'holdout N%'",
     .words = WR_WORDS_MODES},
    {"policy", WR_TEXT("P", policy), "auto unless told; `weir policies` lists them",
     .list = wr_list_policies},
    {"recall", WR_TEXT("R", recall),
     "whose tool brings back what is left out: auto (the default: the agent's where it has one, "
     "else one that the proxy adds and answers itself), client, own or off",
     .words = WR_WORDS_RECALL},
    WR_ROW_STORE(store),
    {"without-store", WR_FLAG(is_without_store),
     "keeps nothing, so nothing is shortened: requests are only passed on and counted. Else a "
     "store that cannot be written is refused"},
    {"config", WR_FILE(config),
     "all of this and more in YAML (docs/proxy.md); SIGHUP reads it again"},
    {"check-config", WR_FLAG(is_check),
     "reads all of it as a start would, says in a line what it found, and ends: 0 where it is "
     "right, 2 where it is wrong"},
    {"keep-shadow", WR_DIR(keep_shadow),
     "of each session in shadow, its newest request as it came (N.came.json), as it would have "
     "been "
     "sent (N.made.json) and why (N.report.json), in this folder: `weir diff`, `weir why`"},
    {"unlisted", WR_FLAG(is_unlisted),
     "writes no " WR_LOCK_NAME " into the store: `weir run` does not find it"},
};

struct serve {
    const struct serve_options *options;
    struct wr_config *config;
    struct policies {
        struct wr_buf yaml;           /* of the user's own */
        struct wr_policies *known;    /* with the presets */
    } policies[WR_PROXY_RELOADS_MAX]; /* the newest last: requests under way may use older ones */
    uint32_t policies_count;
    uint32_t worker; /* which one this process is */
    int listener;
    struct wr_metrics *metrics;
    struct wr_crash_table *crashes;
    struct wr_answers *answers;
    struct wr_lock *lock; /* NULL: another server has it, or it cannot be written */
};

/* ---- configuration ---- */

static const char *find_variable(const char *name)
{
    return getenv(name);
}

/* Variables override the file, and the command line overrides both. */
static bool read_environment(struct wr_config *config, struct weir_err *err)
{
    const char *shadow = getenv("WEIR_SHADOW"), *percent = getenv("WEIR_CANARY_PERCENT");
    const char *ca_file = getenv("SSL_CERT_FILE");
    char mode[64];

    if (ca_file && *ca_file && !config->ca_file &&
        wr_config_set_text(config, &config->ca_file, ca_file, err))
        return false;
    if (wr_otel_settings_environment(&config->otel, &config->arena, find_variable, err))
        return false;
    if (shadow && !strcmp(shadow, "1"))
        config->mode = WR_MODE_SHADOW;
    if (!percent || !*percent)
        return true;
    (void)snprintf(mode, sizeof(mode), "canary %s", percent);
    return !wr_config_set_mode(config, mode, err);
}

static bool read_options(struct wr_config *config, const struct serve_options *o,
                         struct weir_err *err)
{
    for (size_t i = 0; i < o->upstreams.count; i++)
        if (wr_config_set_upstream(config, o->upstreams.items[i], err))
            return false;
    if (o->mode && wr_config_set_mode(config, o->mode, err))
        return false;
    if (o->recall && wr_config_set_recall(config, o->recall, err))
        return false;
    if (o->listen && wr_config_set_listen(config, o->listen, err))
        return false;
    if (o->policy && wr_config_set_text(config, &config->policy, o->policy, err))
        return false;
    if (o->keep_shadow && wr_config_set_text(config, &config->shadow_dir, o->keep_shadow, err))
        return false;
    config->is_mode_said = o->mode != NULL;
    config->is_policy_said = o->policy != NULL;
    return !o->store || !wr_config_set_text(config, &config->store_dir, o->store, err);
}

/* Files that weir.yaml names, and not a place unless told; NULL: it does not. */
struct named {
    const char *log, *audit;
};

/* Without a store there is no log unless one was named: it would be in the store's folder. */
static bool set_places(struct wr_config *config, bool is_without_store, struct weir_err *err)
{
    struct wr_buf path;
    bool ok = true;

    if (is_without_store) {
        config->store_dir = NULL;
        return true;
    }
    ok = wr_cli_store_path(config->store_dir, &path);
    if (ok && !config->store_dir)
        ok = !wr_config_set_text(config, &config->store_dir, path.bytes, err);
    /* Nor beside a database, which has the rows. */
    if (ok && !config->log_path && wr_where(config->store_dir) == WR_WHERE_DIRECTORY) {
        wr_buf_reset(&path);
        wr_buf_printf(&path, "%s/requests.jsonl", config->store_dir);
        wr_buf_byte(&path, '\0');
        ok = !wr_buf_status(&path) &&
             !wr_config_set_text(config, &config->log_path, path.bytes, err);
    }
    /* Where several people ask, what is done to the server is noted beside it. */
    if (ok && !config->audit_path && wr_config_wants_token(config) &&
        wr_where(config->store_dir) == WR_WHERE_DIRECTORY) {
        wr_buf_reset(&path);
        wr_buf_printf(&path, "%s/audit.jsonl", config->store_dir);
        wr_buf_byte(&path, '\0');
        ok = !wr_buf_status(&path) &&
             !wr_config_set_text(config, &config->audit_path, path.bytes, err);
    }
    wr_buf_release(&path);
    return ok;
}

/* `path` NULL: none was named. */
static bool can_be_written(const char *what, const char *path, struct weir_err *err)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    if (path && fd < 0)
        (void)wr_fail(err, WEIR_IO, 0, "%s %s cannot be written: %s", what, path, strerror(errno));
    else if (fd >= 0)
        (void)close(fd);
    return !path || fd >= 0;
}

/* Files that are named must be there to be used: who has named them would not look for them. */
static bool check_named_files(const struct wr_config *config, const struct named *named,
                              struct weir_err *err)
{
    if (!can_be_written("log", named->log, err) || !can_be_written("audit", named->audit, err))
        return false;
    struct wr_tls *tls;
    if (wr_tls_settings_load(config, &tls, err))
        return false;
    wr_tls_free(tls);
    if (!config->ca_file)
        return true;
    const char *path = config->ca_file;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        (void)wr_fail(err, WEIR_IO, 0, "ca_file %s cannot be read: %s", path, strerror(errno));
    else
        (void)close(fd);
    return fd >= 0;
}

/* The newest is the one at the end; a text that is the same as that is not read again. False: it is
 * wrong, and stderr says why. */
static bool read_policies(struct serve *s, const struct wr_config *config)
{
    struct policies *last = s->policies_count ? &s->policies[s->policies_count - 1] : NULL, next;

    next.known = wr_cli_policies(config->policies_file, &next.yaml);
    bool is_same_text =
        last && next.known && wr_span_eq(wr_buf_view(&last->yaml), wr_buf_view(&next.yaml));
    bool is_kept = next.known && !is_same_text && s->policies_count < WR_COUNT_OF(s->policies);
    bool ok = is_kept || is_same_text;

    if (is_kept) {
        s->policies[s->policies_count++] = next;
        return true;
    }
    wr_policies_free(next.known);
    wr_buf_release(&next.yaml);
    return ok;
}

/* A configuration that is refused with policies that are new takes them along. */
static weir_status set_policies(struct serve *s, struct wr_config *config, struct weir_err *err)
{
    const struct policies *last = &s->policies[s->policies_count - 1];

    config->policies_yaml = wr_buf_view(&last->yaml);
    config->policies_number = s->policies_count - 1;
    return wr_config_set_policies(config, last->known, err);
}

static bool fill_config(struct serve *s, struct wr_config *config, struct weir_err *err)
{
    const struct serve_options *o = s->options;
    struct wr_buf yaml = {0};
    bool ok = !o->config ||
              (wr_cli_read(o->config, &yaml) && !wr_config_read(config, wr_buf_view(&yaml), err));
    struct named named = {config->log_path, config->audit_path};

    wr_buf_release(&yaml);
    if (!ok || !read_environment(config, err) || !read_options(config, o, err) ||
        !set_places(config, o->is_without_store, err) || !check_named_files(config, &named, err))
        return false;
    if (config->budgets.count && !config->store_dir) {
        (void)wr_fail(err, WEIR_INVALID, 0,
                      "budgets are counted in the store, and there is none: leave out "
                      "--without-store, or `budgets`");
        return false;
    }
    return read_policies(s, config) && !set_policies(s, config, err);
}

/* NULL: wrong, said on stderr, once where several processes find it out. */
static struct wr_config *load_config(struct serve *s)
{
    struct wr_config *config = wr_config_new();
    struct weir_err err = {0};

    if (config && fill_config(s, config, &err))
        return config;
    if (!config)
        wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
    else if (err.text[0] && !s->worker)
        wr_cli_fail_in(s->options->config, err.text);
    wr_config_free(config);
    return NULL;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* What is set once, when it starts. */
static bool wants_restart(const struct wr_config *now, const struct wr_config *next)
{
    return !is_same(now->listen, next->listen) || !is_same(now->store_dir, next->store_dir) ||
           !is_same(now->log_path, next->log_path) || !is_same(now->audit_path, next->audit_path) ||
           !is_same(now->ca_file, next->ca_file) || !is_same(now->models_yaml, next->models_yaml) ||
           now->keep_days != next->keep_days || now->store_bytes_max != next->store_bytes_max ||
           now->workers != next->workers || now->threads != next->threads ||
           memcmp(&now->limits, &next->limits, sizeof(now->limits)) != 0;
}

static struct wr_config *reload_config(void *user)
{
    struct serve *s = user;
    const char *path = s->options->config ? s->options->config : "the environment";
    struct wr_config *config = load_config(s);

    if (!config && !s->worker)
        wr_cli_fail("%s is refused, nothing has changed", path);
    if (!config || s->worker)
        return config;
    fprintf(stderr, "weir serve: %s is read again: mode %s, policy %s for sessions that begin%s\n",
            path, wr_mode_name(config->mode), config->policy,
            wants_restart(s->config, config)
                ? "; listen, store, log, ca_file, models, workers, threads and limits wait for a"
                  " restart"
                : "");
    return config;
}

/* ---- the socket ---- */

static int bind_first(const struct addrinfo *list)
{
    int fd = -1, on = 1;
    for (const struct addrinfo *at = list; at && fd < 0; at = at->ai_next) {
        fd = wr_os_socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (fd < 0)
            continue;
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, SOMAXCONN)) {
            int saved = errno;
            (void)close(fd);
            errno = saved;
            fd = -1;
        }
    }
    return fd;
}

/* The workers of a server that was killed hear of it and let go of the port, a moment later: who
 * starts the next one at once is not told that it is in use. */
static int bind_in_time(const struct addrinfo *list)
{
    enum { PAUSE_MS = 20 };
    struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    int fd = bind_first(list);

    for (int ms = 0; fd < 0 && errno == EADDRINUSE && ms < WR_PROXY_LISTEN_MS_MAX; ms += PAUSE_MS) {
        (void)nanosleep(&pause, NULL);
        fd = bind_first(list);
    }
    return fd;
}

static bool open_listener(struct serve *s)
{
    char name[256], port[8];
    struct wr_host host;
    const char *address = s->config->listen;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list = NULL;

    WR_ASSERT(wr_host_parse(wr_span_of(address), &host) && host.name.len < sizeof(name));
    (void)snprintf(name, sizeof(name), "%.*s", (int)host.name.len, host.name.ptr);
    (void)snprintf(port, sizeof(port), "%d", host.port);
    if (!wr_door_is_loopback(address) && !wr_config_has_token(s->config)) {
        wr_cli_fail("%s is not loopback: name `users` with access tokens in weir.yaml first",
                    address);
        return false;
    }
    if (getaddrinfo(name, port, &hints, &list)) {
        wr_cli_fail("--listen: no address is called '%s'", address);
        return false;
    }
    s->listener = bind_in_time(list);
    freeaddrinfo(list);
    if (s->listener < 0)
        wr_cli_fail("cannot listen on %s: %s%s", address, strerror(errno),
                    errno == EADDRINUSE ? "; `--listen 127.0.0.1:0` takes a port that is free"
                                        : "");
    return s->listener >= 0;
}

static unsigned port_of(int listener)
{
    struct sockaddr_storage address;
    socklen_t bytes = sizeof(address);
    if (getsockname(listener, (struct sockaddr *)&address, &bytes))
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

static void print_start(const struct serve *s)
{
    const struct wr_config *c = s->config;
    const char *colon = strrchr(c->listen, ':');
    int host_bytes = colon ? (int)(colon - c->listen) : 0;
    char shown[WR_WHERE_SHOWN_BYTES];

    printf("weir serve: %s://%.*s:%u, mode %s", c->tls.cert ? "https" : "http", host_bytes,
           c->listen, port_of(s->listener), wr_mode_name(c->mode));
    if (c->mode == WR_MODE_CANARY || c->mode == WR_MODE_HOLDOUT)
        printf(" %u%%", c->percent);
    if (c->store_dir)
        printf(", policy %s, store %s;", c->policy, wr_where_shown(c->store_dir, shown));
    else
        printf(", policy %s, without a store: nothing is shortened;", c->policy);
    for (size_t i = 0; i < c->upstreams_count; i++)
        printf("%s %s %s", i ? "," : "", c->upstreams[i].name, c->upstreams[i].base_url);
    if (wr_otel_is_on(&c->otel))
        printf("; telemetry to %s", c->otel.traces_url ? c->otel.traces_url : c->otel.metrics_url);
    printf("\n");
    (void)fflush(stdout);
}

/* ---- being found ---- */

/* Who listens everywhere is spoken to over loopback. */
static const char *host_to_ask(const struct wr_config *config, char host[256])
{
    const char *colon = strrchr(config->listen, ':');

    (void)snprintf(host, 256, "%.*s", colon ? (int)(colon - config->listen) : 0, config->listen);
    if (!strcmp(host, "0.0.0.0"))
        return "127.0.0.1";
    return strcmp(host, "[::]") ? host : "[::1]";
}

/* Not to be found is no reason not to serve. */
static void take_lock(struct serve *s)
{
    const struct wr_config *c = s->config;
    char host[256];
    struct wr_server_facts facts = {.pid = getpid(),
                                    .started_ms = wr_clock_ms(),
                                    .host = host_to_ask(c, host),
                                    .port = port_of(s->listener),
                                    .mode = wr_mode_name(c->mode),
                                    .policy = c->policy,
                                    .upstreams_count = c->upstreams_count,
                                    .has_one_upstream = c->has_one_upstream,
                                    .needs_token = wr_config_wants_token(c)};
    struct weir_err err = {0};
    int64_t holder;

    /* `weir run` looks for servers in a folder, and asks them without TLS. */
    if (s->options->is_unlisted || c->tls.cert || !c->store_dir ||
        wr_where(c->store_dir) != WR_WHERE_DIRECTORY)
        return;
    for (size_t i = 0; i < c->upstreams_count; i++)
        facts.upstreams[i] = c->upstreams[i].name;
    weir_status status = wr_lock_take(&s->lock, c->store_dir, &facts, &holder, &err);
    if (status == WEIR_INVALID)
        wr_cli_fail("process %lld serves this store too, and `weir run` uses that one",
                    (long long)holder);
    else if (status)
        wr_cli_fail("`weir run` will not find this server: %s", err.text);
}

/* ---- running ---- */

static void raise_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Who has read the first line may tell us to stop: from there on the supervisor must hear it. */
static void hold_signals(int how)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)sigprocmask(how, &set, NULL);
}

static int run_worker(void *user, uint32_t index)
{
    struct serve *s = user;
    struct weir_err err = {0};
    struct wr_worker_options how = {.config = s->config,
                                    .listener = s->listener,
                                    .metrics = s->metrics,
                                    .crashes = s->crashes,
                                    .answers = s->answers,
                                    .index = index,
                                    .policies = s->config->policies_yaml,
                                    .reload = reload_config,
                                    .user = s};

    s->worker = index;
    /* One of them looks after the store for all. */
    struct wr_store_keeper *keeper = index ? NULL : wr_store_keeper_new(s->config, s->metrics);
    hold_signals(SIG_UNBLOCK);
    weir_status status = wr_worker_run(&how, &err);
    wr_store_keeper_free(keeper);
    return status ? wr_cli_fail("%s", err.text) : WR_EXIT_OK;
}

/* Whoever starts the server wants requests to be shortened, so if that is not possible this is the
 * moment to say so. If the store is lost later, requests still pass and are only not shortened. */
static bool check_store(const struct serve *s)
{
    const char *dir = s->config->store_dir;
    struct weir_store *store = NULL;
    struct weir_err err = {0};
    weir_trouble trouble;
    char shown[WR_WHERE_SHOWN_BYTES];

    if (!dir)
        return true;
    /* A database that starts with us, or is busy, is given more time than requests have. */
    struct weir_store_options how = {
        .busy_ms_max = wr_where(dir) == WR_WHERE_POSTGRES ? WR_STORE_START_MS : 0};
    weir_status status = weir_store_open(dir, &how, &store, &trouble, &err);
    if (!status) {
        status = wr_store_probe(store, true, &err);
        trouble = weir_store_trouble(store);
    }
    if (status)
        wr_cli_fail("store %s: %s%s; --without-store serves without one",
                    wr_where_shown(dir, shown), err.text, wr_cli_store_advice(trouble));
    else
        wr_store_state_begin(s->metrics, store);
    weir_store_close(store);
    return !status;
}

/* weir.yaml may name upstreams of its own; one that looks mistyped is served, and said. */
static void note_slips(const struct wr_config *c)
{
    for (size_t i = 0; i < c->upstreams_count; i++) {
        struct wr_near near;
        if (wr_config_upstream_is_slip(c, wr_span_of(c->upstreams[i].name), &near))
            wr_cli_fail("'%s' is an upstream of its own%s", c->upstreams[i].name, near.text);
    }
}

/* What a start with these words and files would serve. */
static int check_only(struct serve *s)
{
    const struct wr_config *c = s->config;

    if (!wr_door_is_loopback(c->listen) && !wr_config_has_token(c))
        return wr_cli_fail("%s is not loopback: name `users` with access tokens in weir.yaml first",
                           c->listen);
    printf("weir serve: %s is right: %s, mode %s, policy %s, upstreams: %zu, users: %zu, "
           "their tokens: %zu, tokens without a name: %zu, budgets: %zu\n",
           s->options->config ? s->options->config : "the command line", c->listen,
           wr_mode_name(c->mode), c->policy, c->upstreams_count, c->users.count,
           c->users.tokens_count, c->tokens_count, c->budgets.count);
    return WR_EXIT_OK;
}

static int serve_until_told(const struct serve_options *o)
{
    struct serve s = {.options = o, .listener = -1};
    int code = WR_EXIT_USAGE;

    s.config = load_config(&s);
    if (s.config)
        note_slips(s.config);
    if (s.config && o->is_check) {
        code = check_only(&s);
        goto out;
    }
    if (!s.config || !open_listener(&s))
        goto out;
    (void)signal(SIGPIPE, SIG_IGN);
    raise_files();
    s.metrics = wr_metrics_new();
    s.crashes = wr_crash_table_new();
    s.answers = wr_answers_new();
    if (!s.metrics) {
        code = wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
        goto out;
    }
    if (!check_store(&s))
        goto out;
    hold_signals(SIG_BLOCK);
    take_lock(&s);
    print_start(&s);
    struct wr_supervisor_options how = {.workers_count = s.config->workers,
                                        .crashes = s.crashes,
                                        .metrics = s.metrics,
                                        .run = run_worker,
                                        .user = &s};
    code = wr_supervisor_run(&how);
out:
    wr_lock_release(s.lock);
    if (s.listener >= 0)
        (void)close(s.listener);
    for (uint32_t i = 0; i < s.policies_count; i++) {
        wr_policies_free(s.policies[i].known);
        wr_buf_release(&s.policies[i].yaml);
    }
    wr_config_free(s.config);
    return code;
}

static int run_serve(void *values, const struct wr_words *words)
{
    const struct serve_options *o = values;

    (void)words;
    if (o->is_without_store && o->store)
        return wr_cli_fail("--store and --without-store: it is one or the other");
    return serve_until_told(o);
}

const struct wr_command wr_cmd_serve = {
    .name = "serve",
    .purpose = "the proxy: shortens requests on their way, streams answers back",
    .usage = "[OPTIONS]",
    .about = "Serves the APIs of OpenAI, Anthropic, Gemini, Bedrock and Ollama on a local address: "
             "requests are shortened on their way to the provider, answers stream back as they "
             "come. Nothing but an agent's base URL changes.",
    WR_OPTIONS(options),
    .example = "weir serve --mode shadow & ANTHROPIC_BASE_URL=http://127.0.0.1:4141 claude",
    .run = run_serve,
};
