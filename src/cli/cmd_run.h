/* cmd_run.h -- an agent through Weir, as `weir run` does it, for the commands that do more with it.
 */
#ifndef WR_CLI_CMD_RUN_H
#define WR_CLI_CMD_RUN_H

#include <stdbool.h>

#include "launch/run.h"

struct wr_run_end {
    int result;                       /* what a shell would say of the agent */
    const struct wr_receipt *receipt; /* NULL: it could not be read, which was said */
    uint64_t agent_ms;                /* how long it ran */
    const char *shadow_dir;           /* what shadow decided (proxy/store_state.h); NULL: nothing */
};

struct wr_run_options {
    const char *policy, *mode, *store, *config, *receipt; /* NULL: not told */
    bool is_quiet;
    bool keeps_shadow; /* a server of its own, which leaves what shadow decided until the end */
    void (*at_end)(void *user, const struct wr_run_end *end); /* in place of the receipt's lines;
                                                               * NULL: those */
    void *user;
};

/* Runs `argv`, which ends with NULL, in the working directory. Returns the exit status of the
 * command, as `weir run` documents it. */
int wr_run_agent(const struct wr_run_options *options, char **argv);

#endif
