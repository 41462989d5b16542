#include "launch/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "base/span.h"

enum { CANNOT_RUN = 126, NOT_FOUND = 127, SIGNAL_BASE = 128, PATH_BYTES_MAX = 4096 };

static const int passed_on[] = {SIGINT,  SIGQUIT,  SIGTERM, SIGHUP, SIGTSTP,
                                SIGCONT, SIGWINCH, SIGUSR1, SIGUSR2};

static void fill_signals(sigset_t *set)
{
    (void)sigemptyset(set);
    for (size_t i = 0; i < WR_COUNT_OF(passed_on); i++)
        (void)sigaddset(set, passed_on[i]);
    (void)sigaddset(set, SIGCHLD);
}

/* ---- finding it ---- */

/* False: errno says why. */
static bool can_run(const char *path)
{
    struct stat status;

    if (stat(path, &status))
        return false;
    if (!S_ISREG(status.st_mode)) {
        errno = EACCES;
        return false;
    }
    return !access(path, X_OK);
}

const char *wr_child_find(struct wr_arena *arena, const char *program)
{
    const char *path = getenv("PATH");
    weir_span rest = wr_span_of(path && *path ? path : "/usr/local/bin:/usr/bin:/bin");

    if (strchr(program, '/'))
        return can_run(program) ? program : NULL;
    char *found = wr_arena_alloc(arena, PATH_BYTES_MAX);
    while (found && rest.len) {
        const char *colon = memchr(rest.ptr, ':', rest.len);
        size_t bytes = colon ? (size_t)(colon - rest.ptr) : rest.len;
        int len = snprintf(found, PATH_BYTES_MAX, "%.*s%s%s", (int)bytes, rest.ptr,
                           bytes ? "/" : "", program);
        if (len > 0 && len < PATH_BYTES_MAX && can_run(found))
            return found;
        rest = wr_span_cut(rest, colon ? bytes + 1 : bytes, rest.len);
    }
    errno = ENOENT;
    return NULL;
}

/* ---- running it ---- */

void wr_child_prepare(void)
{
    sigset_t set;
    fill_signals(&set);
    /* Whoever ignores the ends of its children is told of none, and may have started us. */
    (void)signal(SIGCHLD, SIG_DFL);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

_Noreturn static void become(const char *path, const struct wr_plan *plan)
{
    sigset_t set;

    fill_signals(&set);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    for (size_t i = 0; i < plan->env_count; i++)
        if (setenv(plan->env[i].name, plan->env[i].value, 1))
            _exit(CANNOT_RUN);
    (void)execv(path, plan->argv);
    int why = errno;
    fprintf(stderr, "weir run: %s: %s\n", path, strerror(why));
    _exit(why == ENOENT ? NOT_FOUND : CANNOT_RUN);
}

/* What the terminal sends has reached the whole group. */
static void pass_on(pid_t child, int number, bool is_terminals)
{
    if (number == SIGCONT || !is_terminals)
        (void)kill(child, number);
}

/* True: it has ended. */
static bool look_at_child(pid_t child, int *result)
{
    int status;

    while (waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
        if (WIFSTOPPED(status)) {
            (void)raise(SIGSTOP); /* until somebody continues us */
            continue;
        }
        *result = WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
        return true;
    }
    return false;
}

int wr_child_run(const char *path, const struct wr_plan *plan)
{
    int result = CANNOT_RUN;
    sigset_t set;
    pid_t child = fork();

    if (child < 0)
        return CANNOT_RUN;
    if (!child)
        become(path, plan);
    fill_signals(&set);
    while (!look_at_child(child, &result)) {
        bool is_terminals;
        int number = wr_os_signal_wait(&set, &is_terminals);
        if (number > 0 && number != SIGCHLD)
            pass_on(child, number, is_terminals);
    }
    return result;
}
