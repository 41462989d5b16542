/* compare_suite.h -- the tasks of `weir compare --suite`: data/suite/suite.py, which is in the
 * program.
 */
#ifndef WR_CLI_COMPARE_SUITE_H
#define WR_CLI_COMPARE_SUITE_H

#include "base/arena.h"
#include "base/limits.h"
#include "cli/options.h"

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
