/* One run of a comparison, in a process of its own.
 *
 *   this process ──fork──▶ runner: `weir run` for the arm, in the copy ──▶ server, agent
 *                ◀─pipe── struct wr_trial, once the receipt is read
 *
 * The runner leads a process group, so that an agent that does not end in time is ended with all
 * that it started. The figures come back as the struct they are.
 */
#include "cli/compare_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "cli/cmd.h"
#include "cli/cmd_run.h"

enum { CANNOT_RUN = 126, NOT_FOUND = 127, SIGNAL_BASE = 128, LOOK_MS = 200 };

/* ---- signals ---- */

static volatile sig_atomic_t stopped_by, group_now;

static void on_signal(int number)
{
    stopped_by = number;
    if (group_now > 0)
        (void)kill((pid_t)group_now, number); /* the runner passes it on */
}

void wr_compare_watch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
}

bool wr_compare_is_stopped(void)
{
    return stopped_by != 0;
}

/* ---- the child's side ---- */

static bool enter(const struct wr_compare_job *job)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out = open(job->out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    (void)setpgid(0, 0);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
    return nothing >= 0 && out >= 0 && !chdir(job->work) && !setenv("PWD", job->work, 1) &&
           dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
           dup2(out, STDERR_FILENO) >= 0;
}

struct answer {
    struct wr_trial *trial;
    int pipe;
};

static void tell_end(void *user, const struct wr_run_end *end)
{
    struct answer *answer = user;
    struct wr_trial *t = answer->trial;

    t->exit_status = end->result;
    t->agent_ms = end->agent_ms;
    if (end->receipt) {
        const struct wr_tally *sums = &end->receipt->tally;
        t->is_measured = sums->requests_count > 0;
        t->requests_count = sums->requests_count;
        t->changed_count = sums->changed_count;
        t->failed_count = sums->failed_count;
        t->prompt_tokens = sums->sent_tokens;
        t->cache_read_tokens = sums->cache_read_tokens;
        t->output_tokens = sums->output_tokens;
        t->micro_usd = sums->micro_usd;
        t->is_priced = !sums->unpriced_count;
        t->recalls_count = sums->quality.recalls;
    }
    (void)!write(answer->pipe, t, sizeof(*t));
}

_Noreturn static void become_runner(const struct wr_compare_job *job, struct wr_trial *trial,
                                    int pipe)
{
    struct answer answer = {.trial = trial, .pipe = pipe};
    struct wr_run_options options = {.policy = trial->arm == WR_ARM_WEIR ? job->policy : NULL,
                                     .mode = trial->arm == WR_ARM_WEIR ? "active" : "meter",
                                     .store = job->store,
                                     .config = job->config,
                                     .is_quiet = true,
                                     .at_end = tell_end,
                                     .user = &answer};

    if (!enter(job))
        _exit(CANNOT_RUN);
    int result = wr_run_agent(&options, job->argv);
    (void)fflush(NULL);
    _exit(result);
}

/* ---- this process' side ---- */

/* Waits for its end, at most so long; then the whole group is told to end, and after a while ended.
 * True: `status` is its. */
static bool wait_for_end(pid_t child, uint64_t ms_max, int *status)
{
    uint64_t until_us = wr_clock_steady_us() + ms_max * 1000;
    bool is_told = false;
    pid_t ended;

    while (!(ended = waitpid(child, status, WNOHANG)) || (ended < 0 && errno == EINTR)) {
        uint64_t now_us = wr_clock_steady_us();
        if (now_us > until_us && is_told)
            (void)kill(-child, SIGKILL);
        if (now_us > until_us && !is_told) {
            (void)kill(-child, SIGTERM);
            is_told = true;
            until_us = now_us + (uint64_t)WR_COMPARE_END_MS_MAX * 1000;
        }
        (void)poll(NULL, 0, 20);
    }
    (void)kill(-child, SIGKILL); /* whatever it has left running there */
    return ended == child;
}

static int shell_status(int status)
{
    return WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

bool wr_compare_run(const struct wr_compare_job *job, struct wr_trial *trial)
{
    struct wr_trial got;
    int ends[2], status = 0;

    if (wr_os_pipe(ends))
        return !wr_cli_fail("no pipe: %s", strerror(errno));
    (void)fflush(NULL);
    pid_t child = fork();
    if (!child)
        become_runner(job, trial, ends[1]);
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return !wr_cli_fail("no process: %s", strerror(errno));
    }
    (void)setpgid(child, child);
    group_now = child;
    bool has_ended = wait_for_end(child, job->ms_max, &status);
    group_now = 0;
    trial->exit_status = has_ended ? shell_status(status) : CANNOT_RUN;
    if (read(ends[0], &got, sizeof(got)) == (ssize_t)sizeof(got))
        *trial = got;
    (void)close(ends[0]);
    if (trial->exit_status == NOT_FOUND && !trial->is_measured)
        return !wr_cli_fail("%s cannot be run: %s says why", job->argv[0], job->out);
    return !wr_compare_is_stopped();
}

int wr_compare_check(const struct wr_compare_job *job, char *const argv[])
{
    int status = 0;

    (void)fflush(NULL);
    pid_t child = fork();
    if (!child) {
        if (enter(job))
            (void)execvp(argv[0], argv);
        _exit(errno == ENOENT ? NOT_FOUND : CANNOT_RUN);
    }
    if (child < 0)
        return CANNOT_RUN;
    (void)setpgid(child, child);
    group_now = child;
    bool has_ended = wait_for_end(child, WR_COMPARE_CHECK_MS_MAX, &status);
    group_now = 0;
    return has_ended ? shell_status(status) : CANNOT_RUN;
}
