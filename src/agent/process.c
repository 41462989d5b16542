/* Commands of the model, each in a shell and a process group of its own.
 *
 * A command prints into a file that has no name. With pipes somebody would have to read all the
 * time, and a command whose pipe is full stands still; so output of any length waits, and a reader
 * may begin anywhere in it. The file has a cap: past it the group is killed before it fills the
 * disk.
 *
 * There is no SIGCHLD handler: whoever waits looks again and again, with pauses that grow from 2
 * to 50 ms, and can be interrupted. Stopping is SIGTERM to the group, two seconds, then SIGKILL.
 * The group may live longer than its shell, where a command was left in the background; it is
 * ended too. A command that left the group (setsid, a daemon) is known by a variable of its
 * environment, which it has from us: /proc is looked through for it at the end, and at the
 * beginning, for what a killed agent could not end. A process that also throws its environment away
 * gets away.
 */
#include "agent/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/process_env.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"

enum { NAP_MS_MIN = 2, NAP_MS_MAX = 50, STOP_MS = 2000 };

struct process {
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
    char *mark; /* "WEIR_AGENT_SESSION=..."; NULL: none */
    struct process items[WR_AGENT_PROCESSES_MAX];
    size_t count;
};

struct wr_processes *wr_processes_new(const char *root, wr_interrupt_fn *interrupt, void *user)
{
    struct wr_processes *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->root = strdup(root);
    p->interrupt = interrupt;
    p->user = user;
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
static bool has_mark(const char *pid, const char *mark, char *environment)
{
    char path[64];
    size_t want = strlen(mark) + 1, bytes = 0;
    ssize_t got;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false; /* it has ended, or is another user's */
    while (bytes < ENVIRON_BYTES_MAX &&
           (got = read(fd, environment + bytes, ENVIRON_BYTES_MAX - bytes)) > 0)
        bytes += (size_t)got;
    (void)close(fd);
    for (size_t at = 0; at + want <= bytes;) {
        if (!memcmp(environment + at, mark, want))
            return true;
        const char *end = memchr(environment + at, 0, bytes - at);
        at = end ? (size_t)(end - environment) + 1 : bytes;
    }
    return false;
}

/* 0: it has none, or has ended. */
static uint64_t parent_of(uint64_t pid)
{
    char path[64], text[512];
    uint64_t parent = 0;

    (void)snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *name_end = strrchr(text, ')'); /* "12 (name) S 11 ...": a name may hold anything */
    for (const char *at = name_end ? name_end + 4 : ""; *at >= '0' && *at <= '9'; at++)
        parent = parent * 10 + (uint64_t)(*at - '0');
    return parent;
}

/* A session may be opened again from a shell that one of its own commands has left. */
static bool is_this_or_above(uint64_t pid)
{
    uint64_t at = (uint64_t)getpid();

    for (int depth = 0; at && depth < ANCESTORS_MAX; depth++) {
        if (at == pid)
            return true;
        at = parent_of(at);
    }
    return false;
}

/* Sends a signal to all that have the mark, and says how many those are. */
static size_t signal_marked(const char *mark, int number)
{
    DIR *folder = opendir("/proc");
    char *environment = malloc(ENVIRON_BYTES_MAX);
    const struct dirent *entry;
    size_t count = 0;

    while (folder && environment && (entry = readdir(folder))) {
        uint64_t pid = 0;
        if (!wr_span_u64(wr_span_of(entry->d_name), &pid) ||
            !has_mark(entry->d_name, mark, environment) || is_this_or_above(pid))
            continue;
        count += !kill((pid_t)pid, number);
    }
    if (folder)
        (void)closedir(folder);
    free(environment);
    return count;
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
    return id >= 1 && id <= p->count ? &p->items[id - 1] : NULL;
}

/* ---- starting ---- */

static int open_output(void)
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
    closefrom(3); /* sockets of libraries are not all close-on-exec */
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

const char *wr_process_start(struct wr_processes *p, const char *command, uint64_t *id)
{
    if (p->count == WR_AGENT_PROCESSES_MAX)
        return "too many commands were started in this session";
    struct process *one = &p->items[p->count];
    *one = (struct process){.output = open_output()};
    if (one->output < 0)
        return "there is no room for its output in the temporary directory";
    one->pid = fork();
    if (one->pid == 0)
        become_shell(p, command, one->output);
    if (one->pid < 0) {
        (void)close(one->output);
        return strerror(errno);
    }
    (void)setpgid(one->pid, one->pid);
    one->has_group = true;
    p->count++;
    *id = p->count;
    return NULL;
}

/* ---- looking ---- */

static void reap_shell(struct process *one)
{
    int status;

    if (one->status.state == WR_PROCESS_RUNNING && waitpid(one->pid, &status, WNOHANG) > 0) {
        bool was_killed = WIFSIGNALED(status);
        one->status.state = was_killed ? WR_PROCESS_KILLED : WR_PROCESS_EXITED;
        one->status.code = was_killed ? WTERMSIG(status) : WEXITSTATUS(status);
    }
}

/* A group outlives its shell where that left commands in the background. The number is not given
 * to another group as long as one of them runs. */
static void signal_group(struct process *one, int number)
{
    if (one->has_group && kill(-one->pid, number) && errno == ESRCH)
        one->has_group = false;
}

static void look_at_process(struct process *one)
{
    struct stat info;

    reap_shell(one);
    signal_group(one, 0);
    if (!fstat(one->output, &info))
        one->status.output_bytes = (uint64_t)info.st_size;
    if (one->status.output_bytes > WR_AGENT_OUTPUT_BYTES_MAX)
        signal_group(one, SIGKILL); /* it would fill the disk */
}

bool wr_process_look(struct wr_processes *p, uint64_t id, struct wr_process_status *status)
{
    struct process *one = find_process(p, id);
    if (!one)
        return false;
    look_at_process(one);
    *status = one->status;
    return true;
}

static void wait_for(struct wr_processes *p, struct process *one, uint64_t ms,
                     const uint64_t *cursor, bool can_be_interrupted)
{
    uint64_t until = wr_clock_steady_us() / 1000 + ms, nap_ms = NAP_MS_MIN;

    for (;;) {
        look_at_process(one);
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
    look_at_process(one);
    signal_group(one, SIGTERM);
    if (one->status.state == WR_PROCESS_RUNNING)
        wait_for(p, one, STOP_MS, NULL, false);
    signal_group(one, SIGKILL);
    if (one->status.state == WR_PROCESS_RUNNING) {
        while (waitpid(one->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        one->status.state = WR_PROCESS_KILLED;
        one->status.code = SIGKILL;
    }
    look_at_process(one);
    *status = one->status;
    return true;
}

void wr_processes_free(struct wr_processes *p)
{
    struct wr_process_status status;

    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++) {
        look_at_process(&p->items[i]);
        signal_group(&p->items[i], SIGTERM); /* all at once: each may take its time */
    }
    for (uint64_t id = 1; id <= p->count; id++) {
        (void)wr_process_stop(p, id, &status);
        (void)close(p->items[id - 1].output);
    }
    if (p->mark)
        (void)end_marked(p->mark);
    free(p->mark);
    free(p->root);
    free(p);
}
