/* `weir compare`: the same task direct and through Weir, several times each, and what differs.
 *
 *   1. the working directory is copied anew for every run, to the same place
 *   2. runs of both arms come in an order that is drawn by a seed, so that nothing that drifts (the
 *      provider's load, its cache) is one arm's alone
 *   3. the direct arm goes through a server that changes nothing and counts (mode meter): both arms
 *      are measured the same way
 *   4. every run has a store of its own, so that no run goes on from another's marks
 *   5. what the agent left is compared with the original, and the user's check is run there
 *
 * Everything is in one folder that goes at the end, or that --keep names.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/compare_run.h"
#include "cli/open.h"
#include "compare/tree.h"
#include "launch/run.h"

enum { PATH_BYTES_MAX = 4096, NAME_BYTES_MAX = 64, MINUTES_MAX = 24 * 60 };

struct compare_options {
    const char *check, *policy, *config, *from, *keep, *store;
    uint64_t runs, seed, minutes;
    bool as_json, is_quiet, is_recorded, is_suite;
    struct wr_opt_list tasks;
};

#define VALUES struct compare_options

static const struct wr_option options[] = {
    {"runs", WR_NUMBER("N", runs, 1, WR_COMPARE_RUNS_MAX), "of each arm; 5 unless told"},
    {"check", WR_TEXT("COMMAND", check),
     "run by sh in the copy after the agent: whether the task is done"},
    {"from", WR_DIR(from), "the folder to copy for each run; the working directory unless told"},
    {"policy", WR_TEXT("P", policy), "of the arm through Weir; auto unless told",
     .list = wr_list_policies},
    {"config", WR_FILE(config), "weir.yaml for the servers of both arms (docs/proxy.md)"},
    {"seed", WR_NUMBER("N", seed, 0, 0), "of the order of runs; 1 unless told"},
    {"minutes", WR_NUMBER("N", minutes, 1, MINUTES_MAX),
     "after which a run is ended; 30 unless told"},
    {"keep", WR_DIR(keep),
     "a folder that gets what every run left: N-ARM/work, store and output.txt"},
    {"json", WR_FLAG(as_json), "one JSON object with all runs (docs/compare.md)"},
    {"suite", WR_FLAG(is_suite),
     "twelve tasks that come with Weir instead of yours: the agent gets each one's prompt in the "
     "place of the word {}, else as its last; without an agent it is `weir agent`"},
    {"task", WR_LIST("NAME", tasks), "with --suite: only this one; may be repeated"},
    {"recorded", WR_FLAG(is_recorded),
     "two runs of a store instead: each the `run` of a receipt or a session, or several of one "
     "kind "
     "parted by commas"},
    WR_ROW_STORE(store),
    {"quiet", WR_FLAG(is_quiet), "no line on stderr for each run"},
};

struct comparison {
    const struct compare_options *options;
    char **argv;
    char from[PATH_BYTES_MAX], base[PATH_BYTES_MAX]; /* base: where all of it is */
    char work[PATH_BYTES_MAX + NAME_BYTES_MAX];      /* of the run under way, always the same */
    struct wr_run_dir dir;
    struct wr_suite suite; /* without --suite: of one task, the user's */
    struct wr_outcome outcome;
};

/* One run that is to be made. */
struct turn {
    enum wr_arm_name arm;
    uint32_t task;
};

/* ---- one run ---- */

static void take_change(void *user, enum wr_tree_change change, const char *path, uint64_t content)
{
    struct comparison *c = user;

    (void)change;
    c->outcome.trials[c->outcome.trials_count - 1].files_count++;
    (void)!wr_outcome_add_file(&c->outcome, path, content);
}

static void say_run(const struct comparison *c, size_t number, size_t count)
{
    const struct wr_trial *t = &c->outcome.trials[c->outcome.trials_count - 1];

    if (c->options->is_quiet)
        return;
    fprintf(stderr, "weir compare: run %zu of %zu, %s%s%s: exit %d", number, count,
            c->suite.names[t->task], *c->suite.names[t->task] ? " " : "",
            t->arm == WR_ARM_WEIR ? "through Weir" : "direct", t->exit_status);
    if (t->check_status >= 0)
        fprintf(stderr, ", check %s", t->check_status ? "FAILED" : "passed");
    fprintf(stderr, ", %s requests, %s prompt tokens, $%.4f, %.1f s\n",
            WR_GROUPED(t->requests_count), WR_GROUPED(t->prompt_tokens), (double)t->micro_usd / 1e6,
            (double)t->agent_ms / 1e3);
}

/* What the run left goes where it is kept, or away with the folder. */
static bool put_away(struct comparison *c, const char *place)
{
    char to[2 * PATH_BYTES_MAX];

    (void)snprintf(to, sizeof(to), "%s/work", place);
    return !rename(c->work, to) || !wr_cli_fail("%s: %s", to, strerror(errno));
}

static int check_work(struct comparison *c, const struct wr_compare_job *job, uint32_t task)
{
    char *own[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)c->options->check, NULL};
    char *of_suite[6];

    if (c->options->check)
        return wr_compare_check(job, own);
    if (!c->options->is_suite)
        return -1;
    wr_suite_check(&c->suite, task, of_suite);
    return wr_compare_check(job, of_suite);
}

static bool run_one(struct comparison *c, struct turn turn, size_t number, size_t count)
{
    static const char *const names[] = {"direct", "weir"};
    char place[PATH_BYTES_MAX + NAME_BYTES_MAX], store[sizeof(place) + NAME_BYTES_MAX],
        out[sizeof(place) + NAME_BYTES_MAX];
    const char *from = c->suite.folders[turn.task];
    struct wr_trial trial = {.arm = turn.arm, .task = turn.task, .check_status = -1};
    struct weir_err err = {0};

    (void)snprintf(place, sizeof(place), "%s/%zu-%s", c->base, number, names[turn.arm]);
    (void)snprintf(store, sizeof(store), "%s/store", place);
    (void)snprintf(out, sizeof(out), "%s/output.txt", place);
    if (mkdir(place, 0700))
        return !wr_cli_fail("%s: %s", place, strerror(errno));
    if (wr_tree_copy(from, c->work, &err))
        return !wr_cli_fail("%s", err.text);
    struct wr_compare_job job = {.argv = c->suite.argv[turn.task],
                                 .work = c->work,
                                 .store = store,
                                 .out = out,
                                 .policy = c->options->policy,
                                 .config = c->options->config,
                                 .ms_max = c->options->minutes * 60 * 1000};
    if (!wr_compare_run(&job, &trial))
        return false;
    if (wr_outcome_add(&c->outcome, &trial))
        return !wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
    if (wr_tree_compare(from, c->work, take_change, c, &err))
        return !wr_cli_fail("%s", err.text);
    /* After the comparison: what the check builds is not the agent's. */
    c->outcome.trials[c->outcome.trials_count - 1].check_status = check_work(c, &job, turn.task);
    say_run(c, number, count);
    return put_away(c, place);
}

/* ---- all of them ---- */

/* As many of each arm and task, shuffled. NULL: no memory. */
static struct turn *draw_order(struct comparison *c, size_t *count)
{
    struct wr_chance chance = {c->options->seed};
    size_t each = 2 * c->options->runs;

    *count = each * c->suite.count;
    struct turn *order = wr_arena_zalloc(&c->outcome.arena, *count * sizeof(*order));
    for (size_t i = 0; order && i < *count; i++)
        order[i] =
            (struct turn){.arm = i % 2 ? WR_ARM_WEIR : WR_ARM_DIRECT, .task = (uint32_t)(i / each)};
    for (size_t i = order ? *count : 0; i > 1; i--) {
        size_t k = (size_t)wr_chance_below(&chance, i);
        struct turn swapped = order[i - 1];
        order[i - 1] = order[k];
        order[k] = swapped;
    }
    return order;
}

static bool run_all(struct comparison *c)
{
    size_t count;
    const struct turn *order = draw_order(c, &count);

    if (!order)
        return !wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
    for (size_t i = 0; i < count; i++)
        if (!run_one(c, order[i], i + 1, count)) {
            if (wr_compare_is_stopped())
                wr_cli_fail("stopped after %zu of %zu runs", i, count);
            return false;
        }
    return true;
}

/* ---- where ---- */

/* The tasks: the suite's, or the user's one. */
static bool find_tasks(struct comparison *c)
{
    const char *from = c->options->from ? c->options->from : ".";
    char dir[PATH_BYTES_MAX + NAME_BYTES_MAX];

    if (c->options->is_suite) {
        (void)snprintf(dir, sizeof(dir), "%s/suite", c->base);
        return wr_suite_open(&c->suite, &c->outcome.arena, dir, &c->options->tasks, c->argv);
    }
    if (!realpath(from, c->from))
        return !wr_cli_fail("%s: %s", from, strerror(errno));
    c->suite.names[0] = "";
    c->suite.folders[0] = c->from;
    c->suite.argv[0] = c->argv;
    c->suite.count = 1;
    return true;
}

/* The copies are below one folder under one name in every run: an agent tells the model where it
 * works. */
static bool find_base(struct comparison *c)
{
    const char *keep = c->options->keep, *parent = wr_run_dir_parent();

    if (keep && ((mkdir(keep, 0700) && errno != EEXIST) || !realpath(keep, c->base) ||
                 rmdir(c->base) || mkdir(c->base, 0700)))
        return !wr_cli_fail("--keep %s: %s; name a folder that is empty or not there", keep,
                            strerror(errno));
    if (!keep) {
        (void)wr_run_dirs_stale(parent, true);
        if (!wr_run_dir_make(&c->dir, parent))
            return !wr_cli_fail("no folder of its own below %s: %s; set TMPDIR", parent,
                                strerror(errno));
        (void)snprintf(c->base, sizeof(c->base), "%s", c->dir.path);
    }
    (void)snprintf(c->work, sizeof(c->work), "%s/work", c->base);
    return true;
}

/* ---- the end ---- */

static void name_agent(struct comparison *c, struct wr_buf *name)
{
    for (char **word = c->argv; *word; word++) {
        wr_buf_text(name, word == c->argv ? "" : " ");
        wr_text_excerpt(name, wr_span_of(*word), 60);
    }
    wr_buf_text(name, c->argv[0] ? "" : "weir agent");
    wr_buf_byte(name, '\0');
    c->outcome.agent = wr_buf_status(name) ? "" : name->bytes;
}

static int tell_outcome(struct comparison *c)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (c->options->as_json)
        wr_outcome_write(&c->outcome, &out);
    else
        wr_outcome_print(&c->outcome, &out);
    return c->options->as_json ? wr_cli_end(&out, WR_EXIT_OK) : wr_cli_end_fitted(&out, WR_EXIT_OK);
}

static int compare(struct comparison *c)
{
    struct wr_buf name;
    int code = WR_EXIT_USAGE;

    wr_outcome_init(&c->outcome);
    wr_buf_init(&name, WR_LAUNCH_SETTINGS_BYTES_MAX);
    if (find_base(c) && find_tasks(c)) {
        name_agent(c, &name);
        c->outcome.tasks = c->suite.names;
        c->outcome.tasks_count = c->suite.count;
        c->outcome.policy = c->options->policy ? c->options->policy : "auto";
        c->outcome.seed = c->options->seed;
        c->outcome.has_check = c->options->check || c->options->is_suite;
        wr_compare_watch_signals();
        code = run_all(c) ? WR_EXIT_OK : WR_EXIT_CHECK;
        if (c->outcome.trials_count)
            code = tell_outcome(c) ? WR_EXIT_USAGE : code;
    }
    wr_run_dir_remove(&c->dir);
    wr_buf_release(&name);
    wr_outcome_release(&c->outcome);
    return code;
}

/* ---- recorded runs ---- */

static int compare_recorded(struct comparison *c, const struct wr_words *words)
{
    static const char *const no_tasks[] = {""};
    struct wr_books books;
    int code = WR_EXIT_USAGE;

    if (words->count != 2)
        return wr_cli_fail("--recorded wants two names: of a receipt's run, or of a session");
    wr_outcome_init(&c->outcome);
    c->outcome.tasks = no_tasks;
    c->outcome.tasks_count = 1;
    c->outcome.is_recorded = true;
    if (wr_books_open(&books, c->options->store, c->options->config) &&
        wr_compare_read(&c->outcome, &books, words->items[0], WR_ARM_DIRECT) &&
        wr_compare_read(&c->outcome, &books, words->items[1], WR_ARM_WEIR))
        code = tell_outcome(c);
    wr_books_close(&books);
    wr_outcome_release(&c->outcome);
    return code;
}

static int run_compare(void *values, const struct wr_words *words)
{
    struct comparison c = {.options = values, .argv = words->items, .dir = {.lock = -1}};

    if (!words->count && !c.options->is_suite)
        return wr_cli_fail("name an agent, such as `weir compare -- codex exec TASK`, or --suite");
    if (c.options->is_suite && (c.options->check || c.options->from))
        return wr_cli_fail("--suite brings its own folders and checks: no --check, no --from");
    if (c.options->tasks.count && !c.options->is_suite)
        return wr_cli_fail("--task goes with --suite");
    return c.options->is_recorded ? compare_recorded(&c, words) : compare(&c);
}

const struct wr_command wr_cmd_compare = {
    .name = "compare",
    .purpose = "a task direct and through Weir, several times: what differs",
    .usage = "[OPTIONS] -- AGENT [ARGUMENTS]\n--suite [OPTIONS] [-- AGENT [ARGUMENTS]]\n--recorded "
             "[OPTIONS] RUN RUN",
    .about = "Runs the same command direct and through Weir, several times each in an order drawn "
             "by a seed, each run in a fresh copy of the working directory. Says what differs in "
             "requests, tokens, money, time, files and in the check that you name, with intervals. "
             "The agent must work without a terminal.",
    WR_OPTIONS(options),
    .defaults = &(const struct compare_options){.runs = 5, .seed = 1, .minutes = 30},
    .words_max = SIZE_MAX,
    .ends_at_word = true,
    .exits = "Exit 1: not all runs could be made.",
    .example = "weir compare --runs 8 --check 'make test' -- codex exec 'fix the failing test'",
    .run = run_compare,
};
