/* install.h -- what `weir install` changes on a machine, and taking it back.
 *
 * 1. Everything is planned before anything is written, and a plan that cannot be undone is refused:
 *    a file that is read-only, has several names (hard links), is no regular file, cannot be
 *    understood, or has a value of the user's where ours would go. A file that somebody changed
 *    after it was planned is not written.
 * 2. Before a file is changed, its copy is in the state folder, and before that the list of all
 *    changes: killed at any point, it can be taken back.
 * 3. A file is replaced whole (a new one takes its name), with the permissions it had. What is
 *    behind a symbolic link is changed, not the link.
 * 4. Taken back, a file that nobody changed since is its copy, byte for byte; one that was not
 * there is gone, with the folders that were made for it. One that somebody changed loses the
 * settings that are still as we put them, and keeps the rest; where one has another value, that is
 * said.
 */
#ifndef WR_LAUNCH_INSTALL_H
#define WR_LAUNCH_INSTALL_H

#include <sys/types.h>

#include "base/limits.h"
#include "launch/edit.h"

enum { WR_INSTALL_EDITS_MAX = 4 };

enum wr_install_service { WR_SERVICE_NONE, WR_SERVICE_SYSTEMD, WR_SERVICE_LAUNCHD };

struct wr_install_options {
    char **environment;
    const char *weir;   /* this program; it and the folders are whole paths */
    const char *store;  /* NULL: the usual one */
    const char *listen; /* HOST:PORT, of loopback */
    const char *state;  /* the folder where copies and the list are kept */
    bool by_hook;       /* agents call `weir hook` in place of a server */
    enum wr_install_service service;
};

/* A file that is to be changed. */
struct wr_install_file {
    const char *path; /* as the agent knows it */
    const char *real; /* behind links */
    const char *why;  /* for people */
    const char *made; /* the outermost folder that is made for it; empty: none */
    bool existed;
    mode_t mode;
    weir_span before, after;                    /* of the plan; the list has only their sums */
    const char *before_sum, *after_sum;         /* SHA-256 in hex */
    struct wr_edit edits[WR_INSTALL_EDITS_MAX]; /* none: the file is ours */
    size_t edits_count;
};

struct wr_install {
    struct wr_arena arena;
    struct wr_install_options options;
    struct wr_install_file files[WR_INSTALL_FILES_MAX];
    size_t files_count;
};

void wr_install_init(struct wr_install *install, const struct wr_install_options *options);
void wr_install_release(struct wr_install *install);

/* Whether the options are such that a service, a shell and JSON can have them. */
WEIR_MUST_USE weir_status wr_install_check(struct wr_install *install, struct weir_err *err);

/* Agents that can be installed, for completion and "all that are here". NULL past the last. */
const char *wr_install_agent_at(size_t index);

/* Whether there is something of the agent's on this machine: its settings folder. */
bool wr_install_agent_is_here(const struct wr_install *install, const char *agent);

/* Adds what an agent needs to the plan. WEIR_NOTFOUND: no agent of this name can be installed. */
WEIR_MUST_USE weir_status wr_install_plan_agent(struct wr_install *install, const char *agent,
                                                struct weir_err *err);

/* The service that serves. */
WEIR_MUST_USE weir_status wr_install_plan_service(struct wr_install *install, struct weir_err *err);

/* Whether something is installed by this state folder. */
bool wr_install_is_there(const struct wr_install *install);

/* Writes the plan. What was written is taken back where a later file fails. */
WEIR_MUST_USE weir_status wr_install_apply(struct wr_install *install, struct weir_err *err);

/* Takes away what one left that was killed before there was a list; no file was changed then. */
void wr_install_sweep(struct wr_install *install);

/* What became of a file, or would. */
enum wr_installed {
    WR_INSTALLED_AS_IT_WAS, /* nobody changed it since: it is, or can be, restored */
    WR_INSTALLED_CHANGED,   /* somebody did: our settings can be taken out, the rest stays */
    WR_INSTALLED_GONE,      /* it was removed since */
    WR_INSTALLED_STUCK,     /* a setting has another value than ours, or the file cannot be had */
};

typedef void wr_installed_fn(void *user, const char *path, enum wr_installed how, const char *copy);

/* Takes everything back; with `only_looks` it only says what would become of each file. The list
 * and the copies go when nothing is stuck. WEIR_NOTFOUND: nothing is installed. */
WEIR_MUST_USE weir_status wr_install_undo(struct wr_install *install, bool only_looks,
                                          wr_installed_fn *tell, void *user, size_t *stuck_count,
                                          struct weir_err *err);

#endif
