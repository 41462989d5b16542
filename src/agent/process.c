/* Commands of the model, each in a shell and a process group of its own.
 *
 * A command prints into a file that has no name. With pipes somebody would have to read all the
 * time, and a command whose pipe is full stands still; so output of any length waits, and a reader
 * may begin anywhere in it. The file has a cap: past it the command is killed before it fills the
 * disk. That is the keeper's work, five times a second, since the agent looks at a command only
 * where the model asks.
 *
 * Between the agent and each shell stands a keeper, a fork of the agent that executes nothing:
 *
 *   agent ── keeper ── sh ── what it runs
 *     └─ pipe ─┘         what leaves its parents (setsid, a daemon) becomes the keeper's child
 *
 * The system hands orphans to the keeper (PR_SET_CHILD_SUBREAPER), so nothing gets away by leaving
 * group, session or environment behind, and tells it when the agent is gone (PR_SET_PDEATHSIG):
 * then, and when the agent asks, it ends all of them, and itself. It stays as long as one of them
 * runs. It has none of the agent's files, since it would hold the session's lock. The agent could
 * be that parent itself, but it has other children, and is not there any more after kill -9.
 *
 * There is no SIGCHLD handler: whoever waits looks again and again, with pauses that grow from 2
 * to 50 ms, and can be interrupted. Stopping is SIGTERM to the group, two seconds, then SIGKILL.
 * The group may live longer than its shell, where a command was left in the background; it is
 * ended too. If a keeper was killed as well, what it kept is known by a variable of its
 * environment, which it has from us: all processes are looked through for it at the end, and when
 * a session is opened.
 */
#include "agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"

/* ---- process env ----
 *
 * The variables that a command of the model gets: those on this list and no others.
 *
 * A list of what to leave out would have to know every key that somebody keeps in the environment
 * (GITHUB_TOKEN, AWS_SECRET_ACCESS_KEY, the one of the company), and what it forgets is printed by
 * the first `env` and sent to the provider. So this one says what programs need to work: where
 * things are, which language people speak, how compilers and interpreters are set up. Sockets that
 * stand for keys (SSH_AUTH_SOCK) are not on it, and neither is a proxy whose address has a
 * password.
 */

/* A name that ends in '*' stands for all that begin so. */
static const char *const allowed[] = {
    /* where and who */
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "OLDPWD",
    "HOSTNAME",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
    "XDG_CONFIG_DIRS",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "MANPATH",
    "INFOPATH",
    /* how things are shown */
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "LS_COLORS",
    /* building */
    "CC",
    "CXX",
    "CPP",
    "LD",
    "AR",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "MAKE",
    "MAKEFLAGS",
    "PKG_CONFIG_PATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "CCACHE_DIR",
    "CMAKE_PREFIX_PATH",
    "SOURCE_DATE_EPOCH",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "LSAN_OPTIONS",
    "TSAN_OPTIONS",
    /* languages */
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYENV_ROOT",
    "NODE_PATH",
    "NODE_ENV",
    "NVM_DIR",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOFLAGS",
    "GOPROXY",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "M2_HOME",
    "GEM_HOME",
    "GEM_PATH",
    "RBENV_ROOT",
    "PERL5LIB",
    "JULIA_DEPOT_PATH",
    "JULIA_PROJECT",
    /* the network, and who commits */
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "CI",
    "DEBIAN_FRONTEND",
};

static bool is_named(weir_span name, const char *pattern)
{
    size_t bytes = strlen(pattern);

    if (pattern[bytes - 1] == '*')
        return wr_span_starts(name, (weir_span){pattern, bytes - 1});
    return wr_span_is(name, pattern);
}

bool wr_process_env_allows(const char *entry)
{
    const char *value = strchr(entry, '=');

    if (!value)
        return false;
    /* http://user:password@host, or without the scheme: of all that is on the list only an address
     * can hold one. */
    weir_span name = {entry, (size_t)(value - entry)};
    bool is_proxy = wr_span_ends(name, WR_LIT("_proxy")) || wr_span_ends(name, WR_LIT("_PROXY"));
    const char *scheme = is_proxy ? value : strstr(value, "://");
    if (scheme && strchr(scheme, '@'))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(allowed); i++)
        if (is_named((weir_span){entry, (size_t)(value - entry)}, allowed[i]))
            return true;
    return false;
}

void wr_process_env_filter(char **entries)
{
    char **to = entries;

    for (char **from = entries; *from; from++)
        if (wr_process_env_allows(*from))
            *to++ = *from;
    *to = NULL;
}

static bool is_address_of_provider(const char *entry)
{
    weir_span name = {entry, strcspn(entry, "=")};
    return wr_span_ends(name, WR_LIT("_BASE_URL")) && !strchr(entry, '@');
}

void wr_process_env_hide(char **entries)
{
    for (; *entries; entries++) {
        if (wr_process_env_allows(*entries) || is_address_of_provider(*entries))
            continue;
        char *copy = strdup(*entries);
        size_t bytes = strlen(*entries);
        if (!copy)
            continue; /* /proc shows it, as it would have without us */
        memset(*entries, 0, bytes);
        *entries = copy;
    }
}

/* ---- process ---- */

enum { NAP_MS_MIN = 2, NAP_MS_MAX = 50, STOP_MS = 2000, OUTPUT_LOOK_MS = 200 };

struct process {
    uint64_t id;    /* from 1 on; never given twice */
    pid_t keeper;   /* 0: it has ended */
    int report;     /* from the keeper: the shell's number, then how it ended */
    pid_t pid;      /* of the shell, which leads the group */
    int output;     /* file */
    bool has_group; /* something of the group may still run */
    struct wr_process_status status;
    uint64_t cursor;
};

struct wr_processes {
    char *root;
    wr_interrupt_fn *interrupt;
    void *user;
    bool passes_keys;
    uint64_t output_bytes_max;
    char *mark;                                   /* "WEIR_AGENT_SESSION=..."; NULL: none */
    struct process items[WR_AGENT_PROCESSES_MAX]; /* in the order of their start */
    size_t count;
    uint64_t last_id;
};

struct wr_processes *wr_processes_new(const char *root, wr_interrupt_fn *interrupt, void *user)
{
    struct wr_processes *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->root = strdup(root);
    p->interrupt = interrupt;
    p->user = user;
    p->output_bytes_max = WR_AGENT_OUTPUT_BYTES_MAX;
    if (!p->root) {
        free(p);
        return NULL;
    }
    return p;
}

void wr_processes_pass_keys(struct wr_processes *p)
{
    p->passes_keys = true;
}

void wr_processes_limit_output(struct wr_processes *p, uint64_t bytes_max)
{
    p->output_bytes_max = bytes_max;
}

static void nap_longer(uint64_t *ms)
{
    struct timespec time = {.tv_nsec = (long)*ms * 1000000};
    (void)nanosleep(&time, NULL);
    if (*ms < NAP_MS_MAX)
        *ms *= 2;
}

/* ---- what left its group ---- */

enum { ENVIRON_BYTES_MAX = 256 * 1024, ROUNDS_MAX = 40, ANCESTORS_MAX = 64 };

/* Whether a process has the mark in the environment that it was started with. */
static bool has_mark(long pid, const char *mark, char *environment)
{
    size_t want = strlen(mark) + 1;
    size_t bytes = wr_os_process_environment(pid, environment, ENVIRON_BYTES_MAX);

    for (size_t at = 0; at + want <= bytes;) {
        if (!memcmp(environment + at, mark, want))
            return true;
        const char *end = memchr(environment + at, 0, bytes - at);
        at = end ? (size_t)(end - environment) + 1 : bytes;
    }
    return false;
}

/* 0: it has none, or has ended. */
static long parent_of(long pid)
{
    struct wr_os_process process;
    return wr_os_process_find(pid, &process) ? process.parent : 0;
}

/* A session may be opened again from a shell that one of its own commands has left. */
static bool is_this_or_above(long pid)
{
    long at = getpid();

    for (int depth = 0; at > 0 && depth < ANCESTORS_MAX; depth++) {
        if (at == pid)
            return true;
        at = parent_of(at);
    }
    return false;
}

struct marked {
    const char *mark;
    char *environment; /* ENVIRON_BYTES_MAX */
    int number;
    size_t count;
};

static void signal_if_marked(void *user, long pid)
{
    struct marked *m = user;

    if (has_mark(pid, m->mark, m->environment) && !is_this_or_above(pid))
        m->count += !kill((pid_t)pid, m->number);
}

/* Sends a signal to all that have the mark, and says how many those are. */
static size_t signal_marked(const char *mark, int number)
{
    struct marked m = {mark, malloc(ENVIRON_BYTES_MAX), number, 0};

    if (m.environment)
        wr_os_process_each(signal_if_marked, &m);
    free(m.environment);
    return m.count;
}

static size_t end_marked(const char *mark)
{
    size_t found = signal_marked(mark, SIGTERM);
    uint64_t nap_ms = NAP_MS_MIN;

    for (int round = 0; found && round < ROUNDS_MAX; round++) {
        nap_longer(&nap_ms);
        /* One that ends may leave others, which had no time to be seen: so again, until none is. */
        if (!signal_marked(mark, round < ROUNDS_MAX / 2 ? 0 : SIGKILL))
            break;
    }
    return found;
}

size_t wr_processes_mark(struct wr_processes *p, const char *mark)
{
    static const char name[] = "WEIR_AGENT_SESSION=";
    size_t bytes = sizeof(name) + strlen(mark);
    char *whole = malloc(bytes);

    if (!whole)
        return 0;
    (void)snprintf(whole, bytes, "%s%s", name, mark);
    free(p->mark);
    p->mark = whole;
    return end_marked(whole);
}

static struct process *find_process(struct wr_processes *p, uint64_t id)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i].id == id)
            return &p->items[i];
    return NULL;
}

/* ---- starting ---- */

int wr_process_open_output(void)
{
    const char *dir = getenv("TMPDIR");
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/weir-output-XXXXXX", dir && *dir ? dir : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    (void)unlink(path);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(fd, F_SETFL, O_APPEND | O_RDWR);
    return fd;
}

/* In the child. Signals that the agent ignores or handles are its own business. */
static void become_shell(const struct wr_processes *p, const char *command, int output)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    static const int signals[] = {SIGINT, SIGPIPE, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    sigset_t none;

    (void)setpgid(0, 0);
    for (size_t i = 0; i < WR_COUNT_OF(signals); i++)
        (void)sigaction(signals[i], &usual, NULL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    int input = open("/dev/null", O_RDONLY);
    if (input < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(126);
    wr_os_close_from(3); /* sockets of libraries are not all close-on-exec */
    if (chdir(p->root))
        _exit(126);
    if (!p->passes_keys && environ)
        wr_process_env_filter(environ);
    if (p->mark)
        (void)putenv(p->mark);
    (void)setenv("TERM", "dumb", 1);
    (void)setenv("PAGER", "cat", 1);
    (void)setenv("GIT_PAGER", "cat", 1);
    (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* ---- the keeper ---- */

/* Whether a process is somewhere below this one. */
static bool is_below(long pid)
{
    long self = getpid(), at = parent_of(pid);

    for (int depth = 0; at > 1 && depth < ANCESTORS_MAX; depth++) {
        if (at == self)
            return true;
        at = parent_of(at);
    }
    return false;
}

static void signal_if_below(void *user, long pid)
{
    const int *number = user;

    if (is_below(pid))
        (void)kill((pid_t)pid, *number);
}

static void signal_below(int number)
{
    wr_os_process_each(signal_if_below, &number);
}

/* False: there is no child any more. */
static bool reap_children(pid_t shell, int report)
{
    pid_t pid;
    int status;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == shell)
            (void)!write(report, &status, sizeof(status));
    return pid == 0;
}

/* One that is ended may have started another just before: so again, until there is none, or those
 * that are left cannot be ended (another user's, by sudo): nobody waits for them for ever. */
static void end_children(pid_t shell, int report)
{
    uint64_t until = wr_clock_steady_us() / 1000 + STOP_MS, nap_ms = NAP_MS_MIN;

    signal_below(SIGTERM);
    while (reap_children(shell, report)) {
        uint64_t now_ms = wr_clock_steady_us() / 1000;
        if (now_ms >= until + STOP_MS)
            return;
        if (now_ms >= until)
            signal_below(SIGKILL);
        nap_longer(&nap_ms);
    }
}

static uint64_t bytes_of(int file)
{
    struct stat info;
    return fstat(file, &info) ? 0 : (uint64_t)info.st_size;
}

/* Until all is over; told by a child that ended, by the agent or its end, and by the clock. */
static void keep_process(const struct wr_processes *p, pid_t shell, int output, int report,
                         const sigset_t *awaited)
{
    static const struct itimerval often = {{0, OUTPUT_LOOK_MS * 1000}, {0, OUTPUT_LOOK_MS * 1000}};
    int number = 0;

    (void)setitimer(ITIMER_REAL, &often, NULL);
    while (reap_children(shell, report)) {
        if (sigwait(awaited, &number))
            continue;
        if (number == SIGTERM)
            end_children(shell, report);
        else if (number == SIGALRM && bytes_of(output) > p->output_bytes_max)
            signal_below(SIGKILL);
    }
}

/* In a child of the agent; the parent's number is asked because it may have ended before the system
 * was told to say so. */
static void become_keeper(const struct wr_processes *p, const char *command, int output,
                          const int report[2], pid_t agent)
{
    static const int ignored[] = {SIGINT, SIGPIPE, SIGHUP, SIGQUIT};
    static const int heard[] = {SIGCHLD, SIGTERM, SIGALRM};
    sigset_t awaited;
    struct sigaction usual = {.sa_handler = SIG_DFL}, nothing = {.sa_handler = SIG_IGN};

    (void)setpgid(0, 0);
    (void)sigemptyset(&awaited);
    for (size_t i = 0; i < WR_COUNT_OF(heard); i++)
        (void)sigaddset(&awaited, heard[i]);
    (void)sigprocmask(SIG_SETMASK, &awaited, NULL);
    for (size_t i = 0; i < WR_COUNT_OF(heard); i++)
        (void)sigaction(heard[i], &usual, NULL);
    for (size_t i = 0; i < WR_COUNT_OF(ignored); i++)
        (void)sigaction(ignored[i], &nothing, NULL);
    (void)wr_os_adopt_orphans();
    bool has_agent = wr_parent_watch(agent, SIGTERM);
    int out = fcntl(output, F_DUPFD, 10), told = fcntl(report[1], F_DUPFD, 10);
    if (!has_agent || dup2(out, 3) < 0 || dup2(told, 4) < 0)
        _exit(126);
    wr_os_close_from(5);
    pid_t shell = fork();
    if (shell == 0)
        become_shell(p, command, 3);
    if (shell > 0)
        (void)setpgid(shell, shell);
    (void)!write(4, &shell, sizeof(shell));
    if (shell > 0)
        keep_process(p, shell, 3, 4, &awaited);
    _exit(0);
}

static const char *start_keeper(struct wr_processes *p, const char *command, struct process *one)
{
    pid_t agent = getpid();
    int report[2];

    if (wr_os_pipe(report))
        return strerror(errno);
    one->keeper = fork();
    if (one->keeper == 0)
        become_keeper(p, command, one->output, report, agent);
    const char *why = one->keeper < 0 ? strerror(errno) : NULL;
    (void)close(report[1]);
    ssize_t got = -1;
    while (!why && (got = read(report[0], &one->pid, sizeof(one->pid))) < 0 && errno == EINTR)
        ;
    if (!why && (got != (ssize_t)sizeof(one->pid) || one->pid <= 0))
        why = "no process could be made";
    if (why) {
        (void)close(report[0]);
        if (one->keeper > 0)
            (void)waitpid(one->keeper, NULL, 0);
        return why;
    }
    (void)fcntl(report[0], F_SETFL, O_NONBLOCK);
    one->report = report[0];
    return NULL;
}

/* ---- looking ---- */

/* A keeper that says no more was killed, and its shell with it, or is about to be. */
static void reap_shell(struct process *one)
{
    int status = SIGKILL;
    ssize_t got;

    if (one->keeper && waitpid(one->keeper, NULL, WNOHANG) > 0)
        one->keeper = 0;
    if (one->status.state != WR_PROCESS_RUNNING)
        return;
    while ((got = read(one->report, &status, sizeof(status))) < 0 && errno == EINTR)
        ;
    if (got < 0)
        return; /* it runs */
    bool was_killed = WIFSIGNALED(status);
    one->status.state = was_killed ? WR_PROCESS_KILLED : WR_PROCESS_EXITED;
    one->status.code = was_killed ? WTERMSIG(status) : WEXITSTATUS(status);
}

/* A group outlives its shell where that left commands in the background. The number is not given
 * to another group as long as one of them runs. */
static void signal_group(struct process *one, int number)
{
    if (one->has_group && kill(-one->pid, number) && errno == ESRCH)
        one->has_group = false;
}

static void look_at_process(const struct wr_processes *p, struct process *one)
{
    reap_shell(one);
    signal_group(one, 0);
    one->status.output_bytes = bytes_of(one->output);
    one->status.is_too_long = one->status.output_bytes > p->output_bytes_max;
    if (one->status.is_too_long)
        signal_group(one, SIGKILL); /* the keeper would, a little later */
}

/* ---- starting one more ---- */

/* A session may go on for days. Of the commands that are over, and of whose children none runs any
 * more, the one that was started first makes room; its output goes with it. */
static bool forget_oldest(struct wr_processes *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct process *one = &p->items[i];
        look_at_process(p, one);
        if (one->status.state == WR_PROCESS_RUNNING || one->keeper)
            continue;
        (void)close(one->report);
        (void)close(one->output);
        memmove(one, one + 1, (p->count - i - 1) * sizeof(*one));
        p->count--;
        return true;
    }
    return false;
}

const char *wr_process_start(struct wr_processes *p, const char *command, uint64_t *id)
{
    if (p->count == WR_AGENT_PROCESSES_MAX && !forget_oldest(p))
        return "too many commands are running";
    struct process *one = &p->items[p->count];
    *one = (struct process){.id = p->last_id + 1, .output = wr_process_open_output()};
    if (one->output < 0)
        return "there is no room for its output in the temporary directory";
    const char *why = start_keeper(p, command, one);
    if (why) {
        (void)close(one->output);
        return why;
    }
    one->has_group = true;
    p->count++;
    *id = p->last_id = one->id;
    return NULL;
}

bool wr_process_look(struct wr_processes *p, uint64_t id, struct wr_process_status *status)
{
    struct process *one = find_process(p, id);
    if (!one)
        return false;
    look_at_process(p, one);
    *status = one->status;
    return true;
}

static void wait_for(struct wr_processes *p, struct process *one, uint64_t ms,
                     const uint64_t *cursor, bool can_be_interrupted)
{
    uint64_t until = wr_clock_steady_us() / 1000 + ms, nap_ms = NAP_MS_MIN;

    for (;;) {
        look_at_process(p, one);
        if (one->status.state != WR_PROCESS_RUNNING ||
            (cursor && one->status.output_bytes > *cursor) ||
            wr_clock_steady_us() / 1000 >= until ||
            (can_be_interrupted && p->interrupt && p->interrupt(p->user)))
            return;
        nap_longer(&nap_ms);
    }
}

bool wr_process_wait(struct wr_processes *p, uint64_t id, uint64_t ms, const uint64_t *cursor,
                     struct wr_process_status *status)
{
    struct process *one = find_process(p, id);

    if (!one)
        return false;
    wait_for(p, one, ms, cursor, true);
    *status = one->status;
    return true;
}

void wr_process_output(struct wr_processes *p, uint64_t id, uint64_t cursor, size_t bytes_max,
                       struct wr_buf *out)
{
    struct process *one = find_process(p, id);
    char chunk[64 * 1024];

    while (one && bytes_max) {
        size_t want = bytes_max < sizeof(chunk) ? bytes_max : sizeof(chunk);
        ssize_t bytes = pread(one->output, chunk, want, (off_t)cursor);
        if (bytes <= 0)
            return;
        wr_buf_append(out, (weir_span){chunk, (size_t)bytes});
        cursor += (uint64_t)bytes;
        bytes_max -= (size_t)bytes;
    }
}

uint64_t *wr_process_cursor(struct wr_processes *p, uint64_t id)
{
    struct process *one = find_process(p, id);
    return one ? &one->cursor : NULL;
}

/* ---- ending ---- */

bool wr_process_stop(struct wr_processes *p, uint64_t id, struct wr_process_status *status)
{
    struct process *one = find_process(p, id);

    if (!one)
        return false;
    look_at_process(p, one);
    signal_group(one, SIGTERM);
    if (one->status.state == WR_PROCESS_RUNNING)
        wait_for(p, one, STOP_MS, NULL, false);
    signal_group(one, SIGKILL);
    if (one->status.state == WR_PROCESS_RUNNING)
        wait_for(p, one, UINT64_MAX / 2, NULL, false); /* nobody survives that */
    look_at_process(p, one);
    *status = one->status;
    return true;
}

void wr_processes_free(struct wr_processes *p)
{
    struct wr_process_status status;

    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++) {
        look_at_process(p, &p->items[i]);
        signal_group(&p->items[i], SIGTERM); /* all at once: each may take its time */
        if (p->items[i].keeper)
            (void)kill(p->items[i].keeper, SIGTERM);
    }
    for (size_t i = 0; i < p->count; i++) {
        struct process *one = &p->items[i];
        (void)wr_process_stop(p, one->id, &status);
        while (one->keeper && waitpid(one->keeper, NULL, 0) < 0 && errno == EINTR)
            ;
        (void)close(one->report);
        (void)close(one->output);
    }
    if (p->mark)
        (void)end_marked(p->mark);
    free(p->mark);
    free(p->root);
    free(p);
}
