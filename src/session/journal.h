/* journal.h -- events.jsonl: what happened, a line an event, only ever added to.
 *
 * 1. An event is in the file before wr_journal_append() returns, in one write: it survives the end
 *    of the process. wr_journal_sync() makes it survive the end of the machine.
 * 2. Where an event cannot be written whole (no room) the file is as long as before.
 * 3. A last line without its end comes from a writer that was killed: opening puts it aside in
 *    events.torn and goes on. Where only the line break is missing, the event is whole and stays.
 * 4. A line that is wrong anywhere else is damage: opening fails, names line and byte, and touches
 *    nothing. `seq` counts from 1 without a gap, so a lost line is damage too.
 * 5. One process has a journal open for writing at a time.
 * 6. `hash` is chained over every line, so that a checkpoint can name the very bytes it stands for.
 *    Opening with a checkpoint checks them, and takes apart only the lines it asks for.
 */
#ifndef WR_SESSION_JOURNAL_H
#define WR_SESSION_JOURNAL_H

#include <sys/types.h>

#include "base/hash.h"
#include "base/limits.h"
#include "session/event.h"

#define WR_JOURNAL_FILE "events.jsonl"
#define WR_JOURNAL_TORN "events.torn"

struct wr_journal {
    int fd; /* -1: read-only */
    uint64_t end_bytes;
    uint64_t seq;    /* of the last event */
    wr_hash128 hash; /* of all lines up to it */
    bool is_synced;
    bool syncs_all;
    bool is_broken;     /* half an event could not be taken back */
    struct wr_buf line; /* scratch */
    char path[WR_SESSION_PATH_BYTES_MAX];
};

/* The event and its line die when the call returns. A failure stops the reading. */
typedef weir_status wr_journal_fn(void *user, const struct wr_event *event, weir_span line);

/* A file that nobody has written to since: the system changes these with every write. */
struct wr_journal_stamp {
    uint64_t inode, written_ns, changed_ns;
};

/* False: the system does not tell. */
bool wr_journal_stamp_of(const struct wr_journal *journal, struct wr_journal_stamp *stamp);

/* The front of a journal that is known already: only the lines with the wanted events are taken
 * apart, and go to `fn`. Where the file is all front and has the stamp, only those are read. */
struct wr_journal_skim {
    uint64_t bytes, seq; /* where it ends */
    wr_hash128 hash;
    struct wr_journal_stamp stamp;
    const struct wr_place *wanted; /* events, ascending */
    uint32_t wanted_count;
    wr_journal_fn *fn;
    void (*forget)(void *user); /* the front is another one: what `fn` got is void */
};

struct wr_journal_options {
    bool must_exist, is_read_only, syncs_all;
    const struct wr_journal_skim *skim; /* NULL: every event is read */
};

/* Reads every event into `fn`, repairs, and is ready to append. Read-only: damage is in `opened`,
 * not in the status. On failure there is nothing to close. */
WEIR_MUST_USE weir_status wr_journal_open(struct wr_journal *journal, const char *dir,
                                          const struct wr_journal_options *options,
                                          wr_journal_fn *fn, void *user,
                                          struct weir_session_opened *opened, struct weir_err *err);
void wr_journal_close(struct wr_journal *journal);

/* Gives the event its `seq` and writes it. */
WEIR_MUST_USE weir_status wr_journal_append(struct wr_journal *journal, struct wr_event *event,
                                            struct weir_err *err);
WEIR_MUST_USE weir_status wr_journal_sync(struct wr_journal *journal, struct weir_err *err);

/* ---- reading a stream of lines, for the above and for the fuzzer ---- */

struct wr_journal_scan {
    uint64_t line, byte; /* of the line at hand: from 1, from 0 */
    uint64_t seq;
    uint64_t events_count;
    wr_hash128 hash;
    const struct wr_journal_skim *skim; /* NULL: none, or it is passed */
    uint32_t wanted_next;
    bool is_other;    /* the front is not the one that was known */
    bool is_damaged;  /* at `line`, `byte` */
    bool lacks_break; /* the last event is whole, its line is not */
    uint64_t torn_bytes;
    wr_journal_fn *fn;
    void *user;
    struct wr_arena arena; /* of one event */
    struct wr_buf rest;    /* the beginning of a line */
};

void wr_journal_scan_init(struct wr_journal_scan *scan, wr_journal_fn *fn, void *user);

/* Any way of cutting a journal into pieces gives the same events. After a failure: release only. */
WEIR_MUST_USE weir_status wr_journal_scan_feed(struct wr_journal_scan *scan, weir_span piece,
                                               struct weir_err *err);
WEIR_MUST_USE weir_status wr_journal_scan_end(struct wr_journal_scan *scan, struct weir_err *err);
void wr_journal_scan_release(struct wr_journal_scan *scan);

/* ---- following a journal that another process writes ----
 *
 * 1. Nothing is written and no lock is taken: the one who works does not notice.
 * 2. Only whole lines are read. What stands behind the last line break is read again the next time,
 *    since its writer may take it back (no room) or put it aside (it was killed).
 */

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

#endif
