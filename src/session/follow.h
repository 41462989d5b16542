/* follow.h -- reading a journal while another process writes it, and who that is.
 *
 * 1. Nothing is written and no lock is taken: the one who works does not notice.
 * 2. Only whole lines are read. What stands behind the last line break is read again the next time,
 *    since its writer may take it back (no room) or put it aside (it was killed).
 */
#ifndef WR_SESSION_FOLLOW_H
#define WR_SESSION_FOLLOW_H

#include <sys/types.h>

#include "session/journal.h"

struct wr_follow {
    int fd;
    struct wr_journal_scan scan;
    char path[WR_SESSION_PATH_BYTES_MAX];
};

/* WEIR_NOTFOUND: there is no such session. On failure there is nothing to close. */
WEIR_MUST_USE weir_status wr_follow_open(struct wr_follow *follow, const char *dir,
                                         wr_journal_fn *fn, void *user, struct weir_err *err);

/* Every event that came since the last call goes to `fn`. WEIR_SYNTAX: the journal is damaged
 * behind them. After a failure: close only. */
WEIR_MUST_USE weir_status wr_follow_read(struct wr_follow *follow, struct weir_err *err);
void wr_follow_close(struct wr_follow *follow);

/* Whether some process has the session open for writing; `pid` is its number, 0 where the system
 * does not tell (another user's, another container's). */
bool wr_journal_is_held(const char *dir, pid_t *pid);

/* The process that has the lock of this open file; 0: not known. */
pid_t wr_journal_owner(int fd);

#endif
