/* copy.h -- everything of one store into another, of whichever kind both are.
 *
 * 1. It goes session by session, and what the target has of one is compared first: a copy that was
 *    broken off is taken up again by making it once more, and a second copy brings what is new.
 * 2. Every original is read and written by its hash. Behind each session the target is read again:
 *    what it then has must be what the source has.
 * 3. The source is only read. What the target has of sessions that the source lacks stays.
 */
#ifndef WR_STORE_COPY_H
#define WR_STORE_COPY_H

#include "weir/store.h"

struct wr_copy_report {
    uint64_t sessions_count; /* of the source */
    uint64_t same_count;     /* of those, in the target already */
    uint64_t
        artifacts_count; /* read and written; one that several sessions share counts each time */
    uint64_t text_bytes; /* of those */
    uint64_t marks_count, pins_count, rows_count, notes_count, samples_count;
    uint64_t calibrations_count;
    uint64_t counters_count; /* of what users and teams have used */
    uint64_t damaged_count;  /* originals that the source no longer has whole */
    uint64_t differ_count;   /* sessions that are otherwise in the target */
};

/* Told of each session that is otherwise in the target in the end. */
typedef void wr_copy_differs_fn(void *user, weir_span tenant, weir_span session);

/* WEIR_INVALID: both are the same store. What could not be copied whole is in the report, not in
 * the status. */
WEIR_MUST_USE weir_status wr_store_copy(const char *from, const char *to,
                                        wr_copy_differs_fn *differs, void *user,
                                        struct wr_copy_report *report, struct weir_err *err);

#endif
