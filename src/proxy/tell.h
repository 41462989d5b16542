/* tell.h -- where what happened to a request is told: the lines of the log, and the rows and notes
 * of the store. */
#ifndef WR_PROXY_TELL_H
#define WR_PROXY_TELL_H

#include <stdbool.h>

#include "base/buf.h"
#include "net/http.h"
#include "proxy/metrics.h"
#include "store/ledger.h"

/* ==== the lines of the log ====
 *
 * They go into a file that is rotated: FILE, FILE.1 (newer) to FILE.5 (oldest).
 *
 * Lines are gathered and written a few times a second, so a request never waits for the disk. What
 * cannot be written is counted and lost: a full disk stops nobody's work.
 */

struct wr_log;

/* Opens or makes the file (0600). NULL: it cannot be; errno says why. */
struct wr_log *wr_log_open(const char *path);
/* Writes what is gathered, and gives the lines that were lost since it was asked last. NULL is
 * fine.
 */
uint64_t wr_log_close(struct wr_log *log);

/* A line, LF included. */
void wr_log_add(struct wr_log *log, weir_span line);
void wr_log_flush(struct wr_log *log);
uint64_t wr_log_take_lost(struct wr_log *log); /* lines, since it was asked last */

/* ==== rows and notes into the store ====
 *
 * By a thread of their own.
 *
 * 1. Adding copies and never waits: not for the disk, not for whoever holds the store.
 * 2. They are committed in groups: when WR_PROXY_LEDGER_GROUP_MAX wait, and else a moment after the
 *    first; at once where a note is urgent. What was not committed when the process dies is lost;
 *    nothing is ever half there.
 * 3. What cannot be kept (too many wait, or the store fails) is counted and lost. No request is.
 */

struct wr_ledger_writer;

/* `store_dir` and `metrics` are borrowed; the store is opened by the thread. NULL: there is no
 * memory, or no thread. */
struct wr_ledger_writer *wr_ledger_writer_new(const char *store_dir, struct wr_metrics *metrics);

/* Commits what waits, unless the store is locked, and ends the thread. NULL is fine. */
void wr_ledger_writer_free(struct wr_ledger_writer *writer);

/* What a request said: its body as it came, in a coding, and as it was sent, empty where that is
 * the same. */
struct wr_said {
    struct wr_buf came, sent;
    enum wr_coding coding;
};

/* Keeps a copy of the row. A report that is too long for the ledger is left out. The bodies of
 * `said` (NULL: they are not wanted) are taken out of it, and freed by the writer; where it cannot
 * keep up the row is kept without them, and counted. */
void wr_ledger_writer_add(struct wr_ledger_writer *writer, const struct wr_ledger_row *row,
                          struct wr_said *said);

/* Keeps a copy; one that is too long for the ledger is not kept. `is_urgent`: without waiting for
 * others. */
void wr_ledger_writer_note(struct wr_ledger_writer *writer, const struct wr_ledger_note *note,
                           bool is_urgent);

#endif
