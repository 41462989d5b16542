/* cache_marker.h -- whether a request gets one more cache marker, and where.
 *
 * Messages only: elsewhere what was written is found without a marker. There the provider reads
 * what an earlier request wrote at a marker, and looks for it at the request's own markers and at
 * most 19 blocks before each. Agents mark the end of every request, so an entry is there; a marker
 * must stand within reach of it.
 *
 * 1. The previous request's end is out of reach, because more came since than a marker looks back
 *    over: it gets the marker.
 * 2. Else, where a step was taken: the newest end of a request before everything that the step
 *    changed, where it is out of reach. What stands before the edit is then read, not written.
 * 3. A marker is placed only where the request has one of its own behind it, which it is a copy of:
 *    what is marked would have been written anyway, and the order of lifetimes stays.
 * 4. It is a pure function of the request as the plan leaves it and of the steps; carried out
 *    again on its own result it adds nothing.
 */
#ifndef WR_ENGINE_CACHE_MARKER_H
#define WR_ENGINE_CACHE_MARKER_H

#include "engine/marks.h"
#include "engine/plan.h"
#include "policy/fold.h"

/* Adds the marker to `plan`, which has all its changes and inserts, or leaves it as it is. `steps`
 * are the fold's, oldest first. Fails for lack of memory only. */
WEIR_MUST_USE weir_status wr_cache_marker_place(struct wr_plan *plan,
                                                const struct wr_fold_step *steps,
                                                uint32_t steps_count);

/* ---- own markers ----
 *
 * Which segments came with a marker of Weir's own.
 *
 * 1. Only a handle that this tenant's store knows is a marker (law L2). A line that only looks like
 *    one would otherwise keep any text whole, whatever its size.
 * 2. The answer is the same ever after (law L3): a handle that was known and has expired counts as
 *    known, and one that was not known is put down as text with the session's marks.
 * 3. A store that does not answer leaves doubt: the text stays whole, and so does the newest turn.
 */

struct wr_own_markers {
    const struct wr_transcript *transcript;
    struct weir_store *store;
    weir_span tenant;
    struct wr_marks *marks; /* NULL: the session keeps none */
    uint32_t first_segment; /* nobody asks about those before it */
};

/* Sets is_marked[] of the segments, which are all false. The store is asked about one handle of
 * each text that holds what looks like a marker, and about nothing else. */
WEIR_MUST_USE weir_status wr_own_markers_find(const struct wr_own_markers *own,
                                              struct wr_arena *arena, bool *is_marked);

#endif
