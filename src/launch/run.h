/* run.h -- one run of an agent: a folder for its settings, the agent as a child, and what it cost.
 *
 * The folder is for settings of the agent that are nobody else's. Only its owner may look in: a
 * token may be in it. A lock on a file in it says that the run is alive: `weir run` holds it, and
 * so does the agent that it starts. A run that was killed leaves the folder and no lock; whoever
 * comes next takes such ones away.
 */
#ifndef WR_LAUNCH_RUN_H
#define WR_LAUNCH_RUN_H

#include <stdbool.h>

#include "base/buf.h"
#include "launch/agents.h"
#include "ledger/tally.h"
#include "weir/span.h"

enum { WR_RUN_DIR_BYTES = 4096 };

struct wr_run_dir {
    char path[WR_RUN_DIR_BYTES]; /* "": there is none */
    int lock;                    /* -1: none */
};

/* Where such folders are: $TMPDIR, or /tmp. */
const char *wr_run_dir_parent(void);

/* False: it cannot be made (errno). */
bool wr_run_dir_make(struct wr_run_dir *dir, const char *parent);

/* Puts a file into it, which leaves with it. False: errno. */
bool wr_run_dir_write(struct wr_run_dir *dir, const char *name, weir_span text);

/* The same for a file that somebody else writes. */
bool wr_run_dir_expect(struct wr_run_dir *dir, const char *name);

/* A program that is started from here on holds the lock too. */
void wr_run_dir_share(const struct wr_run_dir *dir);

/* Takes the folder away with all that is in it, the agent's files too. No link is followed. */
void wr_run_dir_remove(struct wr_run_dir *dir);

/* How many folders of ours below `parent` no run is alive in; `removes`: and takes them away. */
unsigned wr_run_dirs_stale(const char *parent, bool removes);

/* ---- the agent as a child ----
 *
 * It shares our process group, so the terminal's own signals (interrupt, quit, suspend, a new size)
 * reach it without us. What somebody sends to us alone is passed on. When it stops, so do we, and
 * the shell has its terminal back.
 */

/* The path of a program as execvp() finds it, in `arena`; NULL: there is none (errno). */
const char *wr_child_find(struct wr_arena *arena, const char *program);

/* Signals that are to be passed on wait from here on, so that none comes between. */
void wr_child_prepare(void);

/* Runs it until it ends. Returns what a shell would: its exit status, 128 + the signal that ended
 * it, 126 or 127 where it cannot be started. */
int wr_child_run(const char *path, const struct wr_plan *plan);

/* ---- the receipt ---- */

struct wr_receipt {
    const char *run, *agent;
    struct wr_tally tally;
};

/* Adds up the rows of `run` since `since_ms`. Rows of the day before are read along, because what
 * they left in a session's cache counts. */
WEIR_MUST_USE weir_status wr_receipt_read(struct wr_receipt *receipt, const char *store,
                                          int64_t since_ms, struct weir_err *err);

/* For people: lines, each with `prefix` before it. */
void wr_receipt_print(const struct wr_receipt *receipt, const char *prefix, struct wr_buf *out);

/* For programs: one JSON object and a line end. docs/run.md has its members. */
void wr_receipt_write(const struct wr_receipt *receipt, int exit_status, struct wr_buf *out);

#endif
