/* run_dir.h -- the folder of one run, for settings of the agent that are nobody else's.
 *
 * Only its owner may look in: a token may be in it. A lock on a file in it says that the run is
 * alive: `weir run` holds it, and so does the agent that it starts. A run that was killed leaves
 * the folder and no lock; whoever comes next takes such ones away.
 */
#ifndef WR_LAUNCH_RUN_DIR_H
#define WR_LAUNCH_RUN_DIR_H

#include <stdbool.h>

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

#endif
