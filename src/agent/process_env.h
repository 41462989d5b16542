/* process_env.h -- which variables of the environment a command of the model gets. */
#ifndef WR_AGENT_PROCESS_ENV_H
#define WR_AGENT_PROCESS_ENV_H

#include <stdbool.h>

/* Whether a command gets this "NAME=value". */
bool wr_process_env_allows(const char *entry);

/* Takes everything else out of a NULL-terminated list of entries, in place. */
void wr_process_env_filter(char **entries);

/* Moves the values that commands do not get out of the memory that /proc/PID/environ shows, for a
 * command may read that of its parent. They keep their names for this process; pointers to their
 * old place see zeros. Addresses of providers stay where they are. */
void wr_process_env_hide(char **entries);

#endif
