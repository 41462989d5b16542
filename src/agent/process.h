/* process.h -- commands that run beside the agent, and what they print.
 *
 * Each runs in a shell and a process group of its own, without a terminal and without input. What
 * it prints, on both channels, is kept in a file without a name, so that a command never waits for
 * a reader; a cursor is a byte of it.
 */
#ifndef WR_AGENT_PROCESS_H
#define WR_AGENT_PROCESS_H

#include <stdbool.h>

#include "base/buf.h"

/* ---- which variables of the environment a command of the model gets ---- */

/* Whether a command gets this "NAME=value". */
bool wr_process_env_allows(const char *entry);

/* Takes everything else out of a NULL-terminated list of entries, in place. */
void wr_process_env_filter(char **entries);

/* Moves the values that commands do not get out of the memory that /proc/PID/environ shows, for a
 * command may read that of its parent. They keep their names for this process; pointers to their
 * old place see zeros. Addresses of providers stay where they are. */
void wr_process_env_hide(char **entries);

/* ---- process ---- */

struct wr_processes;

enum wr_process_state { WR_PROCESS_RUNNING, WR_PROCESS_EXITED, WR_PROCESS_KILLED };

struct wr_process_status {
    enum wr_process_state state;
    int code; /* of its exit, or the signal that ended it */
    uint64_t output_bytes;
    bool is_too_long; /* its output; it was ended for that */
};

/* Whether whoever waits has had enough; asked again and again during a wait. */
typedef bool wr_interrupt_fn(void *user);

/* `root` is where commands run; it is copied. `interrupt` (may be NULL) ends every wait. NULL: out
 * of memory. */
struct wr_processes *wr_processes_new(const char *root, wr_interrupt_fn *interrupt, void *user);

/* Commands get the agent's own keys (client.h) too; else they do not. */
void wr_processes_pass_keys(struct wr_processes *processes);

/* What a command may print instead of WR_AGENT_OUTPUT_BYTES_MAX; then it is ended. */
void wr_processes_limit_output(struct wr_processes *processes, uint64_t bytes_max);

/* Commands get WEIR_AGENT_SESSION=`mark` from now on, and whatever still runs with it is ended: now
 * (a process before this one was killed), and when the commands are freed. Only one process at a
 * time may use a mark. Returns how many were found now. */
size_t wr_processes_mark(struct wr_processes *processes, const char *mark);

/* Ends what still runs, also what a command left in the background. NULL is fine. */
void wr_processes_free(struct wr_processes *processes);

/* `*id` counts from 1. NULL: started; else why not. Of more than WR_AGENT_PROCESSES_MAX the oldest
 * that has ended is forgotten. */
const char *wr_process_start(struct wr_processes *processes, const char *command, uint64_t *id);

/* False: there is no such process. */
bool wr_process_look(struct wr_processes *processes, uint64_t id, struct wr_process_status *status);

/* Waits until it has ended, or for `ms`; with `cursor` also until there is output past that byte.
 */
bool wr_process_wait(struct wr_processes *processes, uint64_t id, uint64_t ms,
                     const uint64_t *cursor, struct wr_process_status *status);

/* Appends up to `bytes_max` bytes of its output from byte `cursor` on. */
void wr_process_output(struct wr_processes *processes, uint64_t id, uint64_t cursor,
                       size_t bytes_max, struct wr_buf *out);

/* Asks the group to end, then makes it. False: there is no such process. */
bool wr_process_stop(struct wr_processes *processes, uint64_t id, struct wr_process_status *status);

/* Where the last reader of its output stopped; a place for the tools to remember it. */
uint64_t *wr_process_cursor(struct wr_processes *processes, uint64_t id);

/* A file without a name, for what a program prints; -1: there is no room for one. */
int wr_process_open_output(void);

#endif
