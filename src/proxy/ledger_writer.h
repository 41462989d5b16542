/* ledger_writer.h -- rows of requests, and notes, into the store, by a thread of their own.
 *
 * 1. Adding copies and never waits: not for the disk, not for whoever holds the store.
 * 2. They are committed in groups: when WR_PROXY_LEDGER_GROUP_MAX wait, and else a moment after the
 *    first; at once where a note is urgent. What was not committed when the process dies is lost;
 *    nothing is ever half there.
 * 3. What cannot be kept (too many wait, or the store fails) is counted and lost. No request is.
 */
#ifndef WR_PROXY_LEDGER_WRITER_H
#define WR_PROXY_LEDGER_WRITER_H

#include "proxy/metrics.h"
#include "store/ledger.h"

struct wr_ledger_writer;

/* `store_dir` and `metrics` are borrowed; the store is opened by the thread. NULL: there is no
 * memory, or no thread. */
struct wr_ledger_writer *wr_ledger_writer_new(const char *store_dir, struct wr_metrics *metrics);

/* Commits what waits, unless the store is locked, and ends the thread. NULL is fine. */
void wr_ledger_writer_free(struct wr_ledger_writer *writer);

/* Keeps a copy. A report that is too long for the ledger is left out. */
void wr_ledger_writer_add(struct wr_ledger_writer *writer, const struct wr_ledger_row *row);

/* Keeps a copy; one that is too long for the ledger is not kept. `is_urgent`: without waiting for
 * others. */
void wr_ledger_writer_note(struct wr_ledger_writer *writer, const struct wr_ledger_note *note,
                           bool is_urgent);

#endif
