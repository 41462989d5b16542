/* child.h -- the agent as a child that seems to have been started by the user's shell.
 *
 * It shares our process group, so the terminal's own signals (interrupt, quit, suspend, a new size)
 * reach it without us. What somebody sends to us alone is passed on. When it stops, so do we, and
 * the shell has its terminal back.
 */
#ifndef WR_LAUNCH_CHILD_H
#define WR_LAUNCH_CHILD_H

#include "launch/agents.h"

/* The path of a program as execvp() finds it, in `arena`; NULL: there is none (errno). */
const char *wr_child_find(struct wr_arena *arena, const char *program);

/* Signals that are to be passed on wait from here on, so that none comes between. */
void wr_child_prepare(void);

/* Runs it until it ends. Returns what a shell would: its exit status, 128 + the signal that ended
 * it, 126 or 127 where it cannot be started. */
int wr_child_run(const char *path, const struct wr_plan *plan);

#endif
