/* compare_run.h -- one run of a comparison: an agent in a copy of the working directory, and the
 * check behind it.
 */
#ifndef WR_CLI_COMPARE_RUN_H
#define WR_CLI_COMPARE_RUN_H

#include "base/arena.h"
#include "base/limits.h"
#include "cli/options.h"
#include "compare/outcome.h"

struct wr_compare_job {
    char **argv;                 /* the agent; ends with NULL */
    const char *work;            /* where it runs */
    const char *store, *out;     /* of this run: its store, and the file of all that is printed */
    const char *policy, *config; /* NULL: not told */
    uint64_t ms_max;
};

/* Runs it in a process of its own; `trial` has its arm and gets the figures. False: it was stopped
 * by a signal to us, or cannot be run at all, which was said. */
bool wr_compare_run(const struct wr_compare_job *job, struct wr_trial *trial);

/* Runs a program there, with what it prints in `out`. Its exit status as a shell has it. */
int wr_compare_check(const struct wr_compare_job *job, char *const argv[]);

/* Adds the runs of a store that `names` lists (parted by commas: the `run` of a receipt, or a
 * session's name or how it begins) to one arm. False: it was told on stderr. */
struct wr_books;
bool wr_compare_read(struct wr_outcome *outcome, const struct wr_books *books, const char *names,
                     enum wr_arm_name arm);

/* From here on INT, TERM and HUP end the run under way, and then the comparison. */
void wr_compare_watch_signals(void);
bool wr_compare_is_stopped(void);

/* ---- the suite ---- */

struct wr_suite {
    char script[4096], dir[4096]; /* the script, and the folder that all of it is in */
    const char *names[WR_COMPARE_TASKS_MAX];
    const char *folders[WR_COMPARE_TASKS_MAX]; /* repositories, to be copied for each run */
    char **argv[WR_COMPARE_TASKS_MAX];         /* the agent with its prompt */
    uint32_t count;
    struct wr_arena *arena; /* borrowed; owns the texts */
};

/* Writes script and repositories below `dir`, which is made; `only` names the tasks, all of them
 * where it is empty. `agent` ends with NULL; where one of its words is {} the prompt is put there,
 * else behind the last; without a word it is this program's own agent. False: said on stderr. */
bool wr_suite_open(struct wr_suite *suite, struct wr_arena *arena, const char *dir,
                   const struct wr_opt_list *only, char **agent);

/* The check of a task, for wr_compare_check(). */
void wr_suite_check(const struct wr_suite *suite, uint32_t task, char *argv[6]);

#endif
