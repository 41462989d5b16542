/* Keeps workers running: fork, wait for signals, start again who died.
 *
 *   SIGCHLD         who died is started again, after a pause that doubles up to 800 ms
 *   SIGTERM, INT    all are told to end; the supervisor ends with the last one
 *   SIGHUP          all read weir.yaml again
 *
 * A first worker that cannot begin (a wrong setting, say) ends everything with its status: trying
 * again would not help. A replacement that cannot begin, or one beside another that serves, is
 * tried again, since what it lacks, memory or descriptors, may only be short for the moment. What a
 * dead worker was reading is blamed (crash.h), so that a body that has killed two of them is passed
 * on unread.
 */
#include "proxy/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/span.h"

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
