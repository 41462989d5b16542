/* own_markers.h -- which segments came with a marker of Weir's own.
 *
 * 1. Only a handle that this tenant's store knows is a marker (law L2). A line that only looks like
 *    one would otherwise keep any text whole, whatever its size.
 * 2. The answer is the same ever after (law L3): a handle that was known and has expired counts as
 *    known, and one that was not known is put down as text with the session's marks.
 * 3. A store that does not answer leaves doubt: the text stays whole, and so does the newest turn.
 */
#ifndef WR_ENGINE_OWN_MARKERS_H
#define WR_ENGINE_OWN_MARKERS_H

#include "engine/marks.h"

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
