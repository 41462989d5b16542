/* worker.c -- the processes of a server: those that serve, and the one that keeps them alive. */
#include "proxy/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/span.h"
#include "proxy/admit.h"
#include "proxy/audit.h"
#include "proxy/call_page.h"
#include "proxy/counts.h"
#include "proxy/exchange.h"
#include "proxy/mcp_page.h"
#include "proxy/projector.h"
#include "proxy/sidecar.h"
#include "proxy/steer_page.h"
#include "proxy/tls_settings.h"
#include "proxy/traffic_page.h"

/* ==== the supervisor ====
 *
 * Keeps workers running: fork, wait for signals, start again who died.
 *
 *   SIGCHLD         who died is started again, after a pause that doubles up to 800 ms
 *   SIGTERM, INT    all are told to end; the supervisor ends with the last one
 *   SIGHUP          all read weir.yaml again
 *
 * A first worker that cannot begin (a wrong setting, say) ends everything with its status: trying
 * again would not help. A replacement that cannot begin, or one beside another that serves, is
 * tried again, since what it lacks, memory or descriptors, may only be short for the moment. What a
 * dead worker was reading is blamed (wr_crash_blame()), so that a body that has killed two of them
 * is passed on unread.
 */

enum {
    WORKERS_MAX = WR_METRICS_WORKERS_MAX,
    RESTART_MS_MIN = 20,
    RESTART_MS_MAX = 800, /* a dead worker is back within a second */
    HEALTHY_S = 10,       /* who lived so long is started anew without waiting */
};

struct supervisor {
    const struct wr_supervisor_options *options;
    pid_t pids[WORKERS_MAX]; /* 0: none */
    time_t started_s[WORKERS_MAX];
    long wait_ms[WORKERS_MAX];
    bool is_replacement[WORKERS_MAX]; /* of one that had begun */
    sigset_t signals, before;
    bool is_stopping;
    int result;
};

static time_t steady_s(void)
{
    return (time_t)(wr_clock_steady_us() / 1000000);
}

/* A terminal has told all that were there when its key was pressed, and will not tell this one. It
 * has nothing open yet, so that being told twice costs it nothing. */
static void stop_if_due(struct supervisor *s, pid_t pid)
{
    sigset_t due;

    if (sigpending(&due) || (!sigismember(&due, SIGINT) && !sigismember(&due, SIGTERM)))
        return;
    s->is_stopping = true;
    (void)kill(pid, SIGTERM);
}

static bool start_worker(struct supervisor *s, size_t i)
{
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid < 0)
        return false;
    if (!pid) {
        /* Without a supervisor it lets go of the port at once and finishes what is open. */
        if (!wr_parent_watch(parent, SIGTERM))
            _exit(0);
        (void)sigprocmask(SIG_SETMASK, &s->before, NULL);
        int status = s->options->run(s->options->user, (uint32_t)i);
        (void)fflush(NULL);
        _exit(status);
    }
    s->pids[i] = pid;
    s->started_s[i] = steady_s();
    stop_if_due(s, pid);
    return true;
}

static size_t count_alive(const struct supervisor *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->options->workers_count; i++)
        count += s->pids[i] > 0;
    return count;
}

static void tell_all(struct supervisor *s, int number)
{
    for (size_t i = 0; i < s->options->workers_count; i++)
        if (s->pids[i] > 0)
            (void)kill(s->pids[i], number);
}

static void pause_ms(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

/* One that dies at once, again and again, is given a little more time each time. */
static void restart_worker(struct supervisor *s, size_t i)
{
    bool was_healthy = steady_s() - s->started_s[i] >= HEALTHY_S;

    s->wait_ms[i] = was_healthy || !s->wait_ms[i] ? RESTART_MS_MIN : s->wait_ms[i] * 2;
    if (s->wait_ms[i] > RESTART_MS_MAX)
        s->wait_ms[i] = RESTART_MS_MAX;
    s->is_replacement[i] = true;
    pause_ms(s->wait_ms[i]);
    while (!start_worker(s, i))
        pause_ms(RESTART_MS_MAX);
}

static void on_death(struct supervisor *s, size_t i, int status)
{
    struct wr_metrics *metrics = s->options->metrics;
    int suspects = wr_crash_blame(s->options->crashes, s->pids[i]);
    /* Those that it had accepted and not answered: they are cut off. Being read is only the first
     * part of that. */
    long long open = atomic_exchange(&metrics->exchanges[i], 0);

    s->pids[i] = 0;
    if (s->is_stopping)
        return;
    /* What keeps all of the first from beginning is a wrong call. What keeps a later one from it,
     * or one beside others that serve, such as memory or descriptors that are short for the moment,
     * may be over when it is tried again. */
    bool cannot_begin = WIFEXITED(status) && WEXITSTATUS(status) == WR_WORKER_CANNOT_BEGIN;
    if (cannot_begin && !s->is_replacement[i] && !atomic_load(&metrics->has_begun)) {
        s->result = WEXITSTATUS(status);
        s->is_stopping = true;
        tell_all(s, SIGTERM);
        return;
    }
    fprintf(stderr,
            "weir serve: a worker %s %d, %lld request%s in its hands, %d of them being read;"
            " restarted\n",
            WIFSIGNALED(status) ? "died of signal" : "ended with status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), open,
            open == 1 ? "" : "s", suspects);
    atomic_fetch_add(&metrics->worker_restarts, 1);
    restart_worker(s, i);
}

static void reap_workers(struct supervisor *s)
{
    pid_t pid;
    int status;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (size_t i = 0; i < s->options->workers_count; i++)
            if (s->pids[i] == pid)
                on_death(s, i, status);
}

static void take_signal(struct supervisor *s)
{
    bool is_terminals;
    int number = wr_os_signal_wait(&s->signals, &is_terminals);

    if (number == SIGTERM || number == SIGINT) {
        s->is_stopping = true;
        /* Ctrl-C reaches the workers too, and what they are told twice they do not wait for. */
        if (number == SIGTERM || !is_terminals)
            tell_all(s, SIGTERM);
    } else if (number == SIGHUP) {
        atomic_fetch_add(&s->options->metrics->reloads_told, 1);
        tell_all(s, SIGHUP);
    }
    reap_workers(s);
}

int wr_supervisor_run(const struct wr_supervisor_options *options)
{
    struct supervisor s = {.options = options};
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};

    (void)sigemptyset(&s.signals);
    for (size_t i = 0; i < WR_COUNT_OF(numbers); i++)
        (void)sigaddset(&s.signals, numbers[i]);
    (void)sigprocmask(SIG_BLOCK, &s.signals, &s.before);
    for (size_t i = 0; i < options->workers_count && i < WORKERS_MAX; i++)
        if (!start_worker(&s, i))
            return 1;
    while (count_alive(&s))
        take_signal(&s);
    return s.result;
}

/* ==== bodies that kill ==== */

enum { NOTES_MAX = 256, SUSPECTS_MAX = 256, BLAMES_MAX = 2, NO_NOTE = -1 };

/* Written by one worker each (its pid says whose it is), read by the supervisor when that is dead.
 */
struct note {
    _Atomic int32_t pid; /* 0: free */
    _Atomic uint64_t body_hash;
};

struct suspect {
    _Atomic uint64_t body_hash; /* 0: free */
    _Atomic uint32_t blames_count;
};

struct wr_crash_table {
    struct note notes[NOTES_MAX];
    struct suspect suspects[SUSPECTS_MAX];
    _Atomic uint32_t next; /* the suspect to give way where all are taken */
};

struct wr_crash_table *wr_crash_table_new(void)
{
    void *memory = mmap(NULL, sizeof(struct wr_crash_table), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool is_blamed(struct wr_crash_table *table, uint64_t body_hash)
{
    for (size_t i = 0; i < SUSPECTS_MAX; i++)
        if (atomic_load(&table->suspects[i].body_hash) == body_hash)
            return atomic_load(&table->suspects[i].blames_count) >= BLAMES_MAX;
    return false;
}

bool wr_crash_enter(struct wr_crash_table *table, pid_t pid, uint64_t body_hash, int *note)
{
    *note = NO_NOTE;
    if (!table)
        return true;
    body_hash |= 1; /* 0 is a free place */
    if (is_blamed(table, body_hash))
        return false;
    for (int i = 0; i < NOTES_MAX && *note == NO_NOTE; i++) {
        int32_t nobody = 0;
        if (atomic_compare_exchange_strong(&table->notes[i].pid, &nobody, (int32_t)pid)) {
            atomic_store(&table->notes[i].body_hash, body_hash);
            *note = i;
        }
    }
    return true;
}

void wr_crash_leave(struct wr_crash_table *table, int note)
{
    if (!table || note == NO_NOTE)
        return;
    atomic_store(&table->notes[note].body_hash, 0);
    atomic_store(&table->notes[note].pid, 0);
}

static void suspect_body(struct wr_crash_table *table, uint64_t body_hash)
{
    struct suspect *place = NULL;
    for (size_t i = 0; i < SUSPECTS_MAX; i++) {
        uint64_t hash = atomic_load(&table->suspects[i].body_hash);
        if (hash == body_hash) {
            atomic_fetch_add(&table->suspects[i].blames_count, 1);
            return;
        }
        if (!hash && !place)
            place = &table->suspects[i];
    }
    if (!place)
        place = &table->suspects[atomic_fetch_add(&table->next, 1) % SUSPECTS_MAX];
    atomic_store(&place->blames_count, 1);
    atomic_store(&place->body_hash, body_hash);
}

int wr_crash_blame(struct wr_crash_table *table, pid_t pid)
{
    int count = 0;
    for (size_t i = 0; table && i < NOTES_MAX; i++) {
        if (atomic_load(&table->notes[i].pid) != (int32_t)pid)
            continue;
        uint64_t body_hash = atomic_exchange(&table->notes[i].body_hash, 0);
        if (body_hash) {
            suspect_body(table, body_hash);
            count++;
        }
        atomic_store(&table->notes[i].pid, 0);
    }
    return count;
}

uint64_t wr_crash_hash(weir_span body)
{
    enum { ENDS_BYTES = 16 * 1024 };
    size_t part = body.len < ENDS_BYTES ? body.len : ENDS_BYTES;
    uint64_t front = wr_hash64_seeded(wr_span_cut(body, 0, part), body.len);
    return wr_hash64_seeded(wr_span_cut(body, body.len - part, body.len), front);
}

/* ==== one process that serves ====
 *
 * A loop, and all that requests need on it.
 *
 *   start     signals and timers, then the parts of the service, what others need first
 *   run       until SIGTERM or SIGINT
 *   drain     no new connections; what is open may end, up to WR_PROXY_DRAIN_MS_MAX; a second
 *             signal ends the wait
 *   free      what uses others before what it uses; the ledger's last rows are written here
 *
 * SIGHUP loads a new configuration. The old one is kept until the end, because requests that are
 * under way still point to it; that is why it can be done
 * WR_PROXY_RELOADS_MAX times and no more.
 */

enum { LOG_MS = 200, DRAIN_TICK_MS = 20, LINE_BYTES_MAX = 256 * 1024 };

struct worker {
    const struct wr_worker_options *options;
    uv_loop_t loop;
    uv_signal_t term, interrupt, hangup;
    uv_timer_t log_timer, drain_timer;
    struct wr_server *server;
    struct wr_service service;
    struct wr_config *configs[WR_PROXY_RELOADS_MAX]; /* those that were loaded: a request may still
                                                        use an old one */
    size_t configs_count;
    uint32_t reloads_heard; /* of those that were told */
    uint64_t drain_ends_ms;
};

/* ---- stopping ---- */

static void close_all(struct worker *w)
{
    struct wr_service *s = &w->service;

    wr_server_close(w->server);
    wr_projector_close(s->projector);
    wr_loaded_windows_close(s->loaded);
    wr_otel_close(s->otel);
    wr_gate_close(s->gate);
    wr_fetcher_close(s->fetcher);
    wr_traffic_page_close(s->traffic);
    uv_close((uv_handle_t *)&s->deadline, NULL);
    uv_close((uv_handle_t *)&s->pulse, NULL);
    uv_close((uv_handle_t *)&w->term, NULL);
    uv_close((uv_handle_t *)&w->interrupt, NULL);
    uv_close((uv_handle_t *)&w->hangup, NULL);
    uv_close((uv_handle_t *)&w->log_timer, NULL);
    uv_close((uv_handle_t *)&w->drain_timer, NULL);
}

/* A client may be gone with its answer while a thread is not done with the request: its line in the
 * log and its row in the store are still to come. */
static void on_drain_tick(uv_timer_t *timer)
{
    struct worker *w = timer->data;
    bool is_over = !wr_server_connections(w->server) && atomic_load(w->service.exchanges_open) <= 0;

    if (is_over) {
        wr_otel_drain(w->service.otel);
        is_over = wr_otel_is_idle(w->service.otel);
    }
    if (is_over || uv_now(&w->loop) >= w->drain_ends_ms)
        close_all(w);
}

/* One worker says what all of them wait for. */
static void say_open(const struct worker *w)
{
    long long open = wr_metrics_open(w->service.metrics);

    if (open > 0 && !w->options->index)
        fprintf(stderr,
                "weir serve: %lld request%s open, waited for up to %d s; again to stop now\n", open,
                open == 1 ? " is" : "s are", WR_PROXY_DRAIN_MS_MAX / 1000);
}

/* Asked twice, it does not wait. */
static void on_stop(uv_signal_t *signal, int number)
{
    struct worker *w = signal->data;
    (void)number;
    if (w->service.is_draining) {
        w->drain_ends_ms = 0;
        return;
    }
    w->service.is_draining = true;
    w->drain_ends_ms = uv_now(&w->loop) + WR_PROXY_DRAIN_MS_MAX;
    say_open(w);
    wr_server_drain(w->server);
    (void)uv_timer_start(&w->drain_timer, on_drain_tick, 0, DRAIN_TICK_MS);
}

/* ---- while it runs ---- */

/* One of the workers tells of what all of them are told. */
static void note_act(struct worker *w, const char *act, bool is_refused)
{
    if (!w->options->index)
        wr_audit_note(w->service.audit, &(struct wr_act){.act = act, .is_refused = is_refused});
}

/* The files were good a moment ago, when the configuration was checked. If they are not now, those
 * that are in use stay. */
static void load_tls(struct worker *w, const struct wr_config *config)
{
    struct wr_tls *tls;
    struct weir_err err = {0};

    if (wr_tls_settings_load(config, &tls, &err))
        fprintf(stderr, "weir serve: %s; the certificate that is in use stays\n", err.text);
    else
        wr_server_set_tls(w->server, tls);
}

/* False: it is wrong, or was read too often; nothing has changed, and stderr says why. */
static bool reload(struct worker *w)
{
    bool has_room = w->configs_count < WR_COUNT_OF(w->configs);
    struct wr_config *config = has_room ? w->options->reload(w->options->user) : NULL;

    if (!has_room)
        fprintf(stderr,
                "weir serve: weir.yaml was read too often; restart to have it read again\n");
    note_act(w, "reload", !config);
    if (!config)
        return false;
    w->configs[w->configs_count++] = config;
    w->service.config = config;
    atomic_store(&w->options->metrics->has_reloaded, true);
    load_tls(w, config);
    wr_traffic_page_reloaded(w->service.traffic);
    wr_otel_set(w->service.otel, &config->otel);
    return true;
}

/* What was told while this worker began it has read by then; a hangup that somebody sends to every
 * process is told twice. */
static bool is_told_anew(struct worker *w)
{
    uint32_t told = atomic_load(&w->options->metrics->reloads_told);
    bool is_new = told != w->reloads_heard;

    w->reloads_heard = told;
    return is_new;
}

static void on_reload(uv_signal_t *signal, int number)
{
    (void)number;
    if (is_told_anew(signal->data))
        (void)reload(signal->data);
}

/* A worker that begins later is made from what the server began with. Where weir.yaml was read
 * again since, so does this one, before it serves anybody: who was taken out of it stays out. While
 * every such reading was refused, what the server began with holds for all. */
static weir_status catch_up(struct worker *w, struct weir_err *err)
{
    if (!w->options->reload || !is_told_anew(w) || reload(w) ||
        !atomic_load(&w->options->metrics->has_reloaded))
        return WEIR_OK;
    return wr_fail(err, WEIR_INVALID, 0,
                   "weir.yaml was read again before this worker began, and is wrong now");
}

static void on_log_tick(uv_timer_t *timer)
{
    struct worker *w = timer->data;

    if (w->service.audit)
        atomic_fetch_add(&w->options->metrics->audit_lines_lost,
                         wr_audit_take_lost(w->service.audit));
    if (!w->service.log)
        return;
    wr_log_flush(w->service.log);
    atomic_fetch_add(&w->options->metrics->log_lines_lost, wr_log_take_lost(w->service.log));
}

/* ---- starting ---- */

static int start_signals(struct worker *w)
{
    int result = uv_signal_init(&w->loop, &w->term);
    result = result ? result : uv_signal_init(&w->loop, &w->interrupt);
    result = result ? result : uv_signal_init(&w->loop, &w->hangup);
    result = result ? result : uv_signal_start(&w->term, on_stop, SIGTERM);
    result = result ? result : uv_signal_start(&w->interrupt, on_stop, SIGINT);
    result = result ? result : uv_signal_start(&w->hangup, on_reload, SIGHUP);
    return result;
}

static int start_handles(struct worker *w)
{
    w->term.data = w->interrupt.data = w->hangup.data = w;
    w->log_timer.data = w->drain_timer.data = w;
    int result = uv_loop_init(&w->loop);
    result = result ? result : start_signals(w);
    result = result ? result : uv_timer_init(&w->loop, &w->service.deadline);
    result = result ? result : uv_timer_init(&w->loop, &w->service.pulse);
    result = result ? result : uv_timer_init(&w->loop, &w->log_timer);
    result = result ? result : uv_timer_init(&w->loop, &w->drain_timer);
    result = result ? result : uv_timer_start(&w->log_timer, on_log_tick, LOG_MS, LOG_MS);
    return result;
}

/* Also where nothing is sent for now: a reload may say otherwise. */
static weir_status start_otel(struct worker *w, struct weir_err *err)
{
    const struct wr_config *config = w->options->config;
    struct wr_metrics *metrics = w->options->metrics;
    struct wr_otel_options otel = {.loop = &w->loop,
                                   .fetcher = w->service.fetcher,
                                   .settings = &config->otel,
                                   .models_yaml =
                                       wr_span_of(config->models_yaml ? config->models_yaml : ""),
                                   .spans_count = &metrics->otel_spans,
                                   .dropped_count = &metrics->otel_spans_dropped,
                                   .failed_count = &metrics->otel_exports_failed};

    return wr_otel_new(&w->service.otel, &otel, err);
}

static weir_status start_service(struct worker *w, struct weir_err *err)
{
    struct wr_service *s = &w->service;
    const struct wr_config *config = w->options->config;
    struct wr_fetcher_options fetcher = {.ca_file = config->ca_file};
    struct wr_projector_options projector = {.config = config,
                                             .policies = w->options->policies,
                                             .store_dir = config->store_dir,
                                             .answers = w->options->answers,
                                             .crashes = w->options->crashes,
                                             .metrics = w->options->metrics};
    struct wr_tls *tls = NULL;
    struct wr_server_options server = {.listener = w->options->listener, .limits = config->limits};

    s->loop = &w->loop;
    s->config = w->configs[w->configs_count++] = w->options->config;
    s->metrics = w->options->metrics;
    s->exchanges_open = &s->metrics->exchanges[w->options->index];
    s->answers = w->options->answers;
    s->ledger = config->store_dir ? wr_ledger_writer_new(config->store_dir, s->metrics) : NULL;
    s->gate = config->store_dir ? wr_gate_new(&w->loop, config->store_dir) : NULL;
    s->notes = projector.notes = s->ledger ? wr_notes_new(config->store_dir, s->ledger) : NULL;
    struct wr_watch_options watch = {config->store_dir, s->answers, s->notes};
    s->watch = projector.watch = wr_watch_new(&watch); /* without it nothing is learnt */
    wr_arena_init(&s->events, WR_ARENA_BYTES_MAX);
    wr_buf_init(&s->line, LINE_BYTES_MAX);
    s->counts = projector.counts = wr_counts_new(config->store_dir); /* else nothing is learnt */
    s->sessions = projector.sessions = wr_sessions_new();
    s->mcp = wr_mcp_page_new(&w->loop, config, s);
    s->sidecar = wr_sidecar_page_new(&w->loop, config);
    s->traffic = wr_traffic_page_new(&w->loop, config, s);
    s->models = s->traffic ? wr_traffic_page_models(s->traffic) : NULL;
    s->steer = wr_steer_page_new(&w->loop, config);
    s->calls = wr_call_page_new(&w->loop, config, w->options->policies);
    if (!s->sessions || !s->mcp || !s->sidecar || !s->traffic || !s->steer || !s->calls)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    /* A log that cannot be written does not keep anybody from working. */
    s->log = config->log_path ? wr_log_open(config->log_path) : NULL;
    s->audit = config->audit_path ? wr_audit_open(config->audit_path) : NULL;
    if (config->audit_path && !s->audit && !w->options->index)
        fprintf(stderr, "weir serve: acts are not noted: %s cannot be written: %s\n",
                config->audit_path, strerror(errno));
    wr_steer_page_audit(s->steer, s->audit);
    note_act(w, "start", false);
    weir_status status = wr_fetcher_new(&s->fetcher, &w->loop, &fetcher, err);
    if (!status) {
        struct wr_loaded_windows_options loaded = {&w->loop, s->fetcher};
        s->loaded = projector.loaded = wr_loaded_windows_new(&loaded); /* else nobody is asked */
    }
    if (!status)
        status = start_otel(w, err);
    if (!status)
        status = wr_projector_new(&s->projector, &w->loop, &projector, err);
    if (!status)
        status = wr_tls_settings_load(config, &tls, err);
    if (!status)
        status = wr_server_new(&w->server, &w->loop, &server, &wr_exchange_handler, s, err);
    if (!status)
        wr_server_set_tls(w->server, tls);
    return status;
}

static void free_service(struct worker *w)
{
    struct wr_service *s = &w->service;
    wr_server_free(w->server);
    wr_projector_free(s->projector);
    wr_watch_free(s->watch);
    wr_notes_free(s->notes);
    wr_gate_free(s->gate);
    wr_loaded_windows_free(s->loaded);
    wr_otel_free(s->otel);
    wr_fetcher_free(s->fetcher);
    wr_counts_free(s->counts);
    wr_sessions_free(s->sessions);
    wr_mcp_page_free(s->mcp);
    wr_sidecar_page_free(s->sidecar);
    wr_traffic_page_free(s->traffic);
    wr_steer_page_free(s->steer);
    wr_call_page_free(s->calls);
    atomic_fetch_add(&w->options->metrics->log_lines_lost, wr_log_close(s->log));
    note_act(w, "stop", false);
    atomic_fetch_add(&w->options->metrics->audit_lines_lost, wr_audit_close(s->audit));
    wr_ledger_writer_free(s->ledger);
    wr_arena_release(&s->events);
    wr_buf_release(&s->line);
    for (size_t i = 0; i < w->configs_count; i++)
        wr_config_free(w->configs[i]);
}

weir_status wr_worker_run(const struct wr_worker_options *options, struct weir_err *err)
{
    struct worker *w = calloc(1, sizeof(*w));

    if (!w)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    w->options = options;
    w->service.started_ms = wr_clock_ms() / 1000 * 1000;
    int result = start_handles(w);
    weir_status status =
        result ? wr_fail(err, WEIR_IO, 0, "cannot serve: %s", uv_strerror(result)) : WEIR_OK;
    if (!status)
        status = start_service(w, err);
    if (!status)
        status = catch_up(w, err);
    if (!status) {
        atomic_store(&options->metrics->has_begun, true);
        (void)uv_run(&w->loop, UV_RUN_DEFAULT);
    }
    /* What could not begin ends with the process. */
    if (!status) {
        free_service(w);
        (void)uv_loop_close(&w->loop);
        free(w);
    }
    return status;
}
