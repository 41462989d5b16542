/* compare_run.h -- one run of a comparison: an agent in a copy of the working directory, and the
 * check behind it.
 */
#ifndef WR_CLI_COMPARE_RUN_H
#define WR_CLI_COMPARE_RUN_H

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

#endif
