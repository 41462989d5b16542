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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/embed.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "cli/cmd.h"
#include "cli/cmd_run.h"
#include "cli/open.h"
#include "engine/record_row.h"
#include "ledger/tally.h"

/* ---- recorded runs ----
 *
 * Runs that are recorded in a store, as the arms of a comparison.
 */

struct reading {
    weir_span name;
    struct wr_tally tally;
    struct wr_tallier *tallier;
    struct wr_arena arena; /* of a row */
};

/* A run's name, or how a session's begins, with or without what stands before its first ':'. */
static bool is_named(const struct wr_ledger_row *row, weir_span run, weir_span name)
{
    size_t colon = wr_span_find(row->session, WR_LIT(":"), 0);

    return wr_span_eq(run, name) || wr_span_starts(row->session, name) ||
           (colon != SIZE_MAX && wr_span_starts(wr_span_from(row->session, colon + 1), name));
}

/* A row of others is read along: what it left in a session's cache counts. */
static weir_status on_row(void *user, const struct wr_ledger_row *row)
{
    struct reading *r = user;
    struct wr_tally *tallies[] = {&r->tally};
    struct wr_record record;

    wr_arena_reset(&r->arena);
    weir_status status = wr_row_parse(row->line, &r->arena, &record);
    if (status)
        return status == WEIR_SYNTAX ? WEIR_OK : status; /* one damaged row spoils no sum */
    return wr_tallier_add(r->tallier, row, &record, tallies, is_named(row, record.run, r->name));
}

static struct wr_trial trial_of(const struct wr_tally *t, enum wr_arm_name arm)
{
    return (struct wr_trial){.arm = arm,
                             .is_measured = true,
                             .check_status = -1,
                             .requests_count = t->requests_count,
                             .changed_count = t->changed_count,
                             .failed_count = t->failed_count,
                             .prompt_tokens = t->sent_tokens,
                             .cache_read_tokens = t->cache_read_tokens,
                             .output_tokens = t->output_tokens,
                             .micro_usd = t->micro_usd,
                             .is_priced = !t->unpriced_count,
                             .agent_ms = (uint64_t)(t->last_ms - t->first_ms),
                             .recalls_count = t->quality.recalls};
}

static bool read_one(struct wr_outcome *outcome, const struct wr_books *books, weir_span name,
                     enum wr_arm_name arm)
{
    struct reading r = {.name = name, .tallier = wr_tallier_new(books->models)};
    struct wr_ledger_filter all = {.since_ms = 0};
    struct weir_err err = {0};
    weir_status status = WEIR_NOMEM;

    wr_arena_init(&r.arena, WR_ARENA_BYTES_MAX);
    if (r.tallier)
        status = wr_ledger_each(books->ledger, &all, on_row, &r, &err);
    wr_tallier_free(r.tallier);
    wr_arena_release(&r.arena);
    if (!status && !r.tally.requests_count)
        return !wr_cli_fail("%.*s is no run and no session of this store; a receipt names its run, "
                            "`weir sessions` lists sessions",
                            (int)name.len, name.ptr);
    struct wr_trial trial = trial_of(&r.tally, arm);
    if (!status)
        status = wr_outcome_add(outcome, &trial);
    return !status || !wr_cli_fail_status(status, &err);
}

bool wr_compare_read(struct wr_outcome *outcome, const struct wr_books *books, const char *names,
                     enum wr_arm_name arm)
{
    weir_span rest = wr_span_of(names);

    while (rest.len) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t bytes = comma ? (size_t)(comma - rest.ptr) : rest.len;
        if (bytes && !read_one(outcome, books, wr_span_cut(rest, 0, bytes), arm))
            return false;
        rest = wr_span_cut(rest, comma ? bytes + 1 : bytes, rest.len);
    }
    return true;
}

/* ---- runs ---- */

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

/* ---- the suite ----
 *
 * The suite's tasks: its script is written out and asked for names, prompts and repositories.
 *
 * The script is Python, because that is what both the tasks and their checks are written in; it
 * needs nothing but its standard library. It stays outside of the folders that agents work in.
 */

WR_EMBED(wr_suite_script, "data/suite/suite.py");

/* What it is told to do without: a context of its own, for that is what is compared. */
#define AGENT_SETTINGS "session:\n  policy: exact\n  max_tool_iterations: 200\n"

enum { PATH_BYTES_MAX = 4096, WORDS_MAX = 64 };

/* Runs the script with two words more; NULL: it failed, which was said. */
static char *ask_script(struct wr_suite *s, const char *verb, const char *task, const char *folder)
{
    char out[PATH_BYTES_MAX + 64];
    char *argv[] = {(char[]){"python3"},       s->script,
                    (char *)(uintptr_t)verb,   (char *)(uintptr_t)task,
                    (char *)(uintptr_t)folder, NULL};
    struct wr_compare_job job = {.work = s->dir, .out = out};
    struct wr_buf text = {0};
    char *answer = NULL;

    (void)snprintf(out, sizeof(out), "%s/%s-%s.txt", s->dir, verb, task ? task : "all");
    int status = wr_compare_check(&job, argv);
    if (status) {
        wr_cli_fail("the suite needs python3: `python3 suite.py %s` ends with %d", verb, status);
        return NULL;
    }
    if (wr_cli_read(out, &text))
        answer = wr_arena_string(s->arena, wr_buf_view(&text));
    wr_buf_release(&text);
    return answer;
}

/* ---- the agent ---- */

static char **default_agent(struct wr_suite *s)
{
    static const char *const words[] = {NULL, "agent", "--yes", "--config", NULL, "-p", NULL};
    char **argv = wr_arena_zalloc(s->arena, WR_COUNT_OF(words) * sizeof(*argv));
    char path[PATH_BYTES_MAX], settings[PATH_BYTES_MAX + 64];
    size_t bytes = wr_os_program_path(path, sizeof(path));

    (void)snprintf(settings, sizeof(settings), "%s/agent.yaml", s->dir);
    if (!argv || !bytes || !wr_cli_write_file(settings, WR_LIT(AGENT_SETTINGS)))
        return NULL;
    for (size_t i = 1; i < WR_COUNT_OF(words); i++)
        argv[i] = (char *)(uintptr_t)words[i];
    argv[0] = wr_arena_string(s->arena, (weir_span){path, bytes});
    argv[4] = wr_arena_string(s->arena, wr_span_of(settings));
    return argv[0] && argv[4] ? argv : NULL;
}

static char **with_prompt(struct wr_suite *s, char **agent, char *prompt)
{
    size_t count = 0;
    bool has_place = false;

    while (agent[count])
        count++;
    char **argv = wr_arena_zalloc(s->arena, (count + 2) * sizeof(*argv));
    if (!argv)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_place = !strcmp(agent[i], "{}");
        argv[i] = is_place ? prompt : agent[i];
        has_place = has_place || is_place;
    }
    if (!has_place)
        argv[count] = prompt;
    return argv;
}

/* ---- the tasks ---- */

static bool is_wanted(const struct wr_opt_list *only, const char *name)
{
    for (size_t i = 0; i < only->count; i++)
        if (!strcmp(only->items[i], name))
            return true;
    return !only->count;
}

static bool add_task(struct wr_suite *s, const char *name, char **agent)
{
    char folder[PATH_BYTES_MAX + 128];
    uint32_t i = s->count;

    (void)snprintf(folder, sizeof(folder), "%s/%s", s->dir, name);
    if (mkdir(folder, 0700))
        return !wr_cli_fail("%s: %s", folder, strerror(errno));
    char *prompt = ask_script(s, "prompt", name, NULL);
    if (!prompt || !ask_script(s, "write", name, folder))
        return false;
    prompt[strcspn(prompt, "\n")] = '\0';
    s->names[i] = name;
    s->folders[i] = wr_arena_string(s->arena, wr_span_of(folder));
    s->argv[i] = with_prompt(s, agent, prompt);
    s->count++;
    return (s->folders[i] && s->argv[i]) || !wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
}

bool wr_suite_open(struct wr_suite *s, struct wr_arena *arena, const char *dir,
                   const struct wr_opt_list *only, char **agent)
{
    *s = (struct wr_suite){.arena = arena};
    (void)snprintf(s->dir, sizeof(s->dir), "%s", dir);
    int bytes = snprintf(s->script, sizeof(s->script), "%s/suite.py", dir);
    if (bytes < 0 || (size_t)bytes >= sizeof(s->script) || mkdir(dir, 0700))
        return !wr_cli_fail("%s: %s", dir, strerror(errno));
    if (!wr_cli_write_file(s->script, WR_EMBEDDED(wr_suite_script)))
        return false;
    char *list = ask_script(s, "list", NULL, NULL);
    if (list && !agent[0])
        agent = default_agent(s);
    if (!list || !agent)
        return false;
    for (char *name = list, *end; *name && s->count < WR_COMPARE_TASKS_MAX; name = end + 1) {
        end = name + strcspn(name, "\n");
        bool is_last = !*end;
        *end = '\0';
        if (is_wanted(only, name) && !add_task(s, name, agent))
            return false;
        if (is_last)
            break;
    }
    return s->count > 0 || !wr_cli_fail("--task: the suite has no task of that name");
}

void wr_suite_check(const struct wr_suite *s, uint32_t task, char *argv[6])
{
    const char *const words[] = {"python3", s->script, "check", s->names[task], ".", NULL};

    for (size_t i = 0; i < WR_COUNT_OF(words); i++)
        argv[i] = (char *)(uintptr_t)words[i];
}
