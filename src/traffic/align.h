/* align.h -- which segment of one request is which of another, by their bytes.
 *
 * The two lists are walked side by side. Where they differ, the nearest equal pair ahead decides
 * which side has something extra; if there is none nearby, the segment was edited, or dropped if
 * its place is another.
 */
#ifndef WR_TRAFFIC_ALIGN_H
#define WR_TRAFFIC_ALIGN_H

#include "base/arena.h"
#include "weir/request.h"

enum wr_align { WR_ALIGN_SAME, WR_ALIGN_EDITED, WR_ALIGN_DROPPED, WR_ALIGN_INSERTED };

const char *wr_align_name(enum wr_align change);

struct wr_align_side {
    weir_span body;
    struct weir_request *request;
    uint32_t count;
    uint64_t *hashes, *slots; /* of each segment: of all of it; of what it is, its text aside */
};

/* What is needed of a request, in `arena`. */
WEIR_MUST_USE weir_status wr_align_prepare(struct wr_align_side *side, weir_span body,
                                           struct weir_request *request, struct wr_arena *arena);

/* What happened at segment i of one and j of the other. Both go on by one, but DROPPED has none in
 * the other, and INSERTED none in the one. */
enum wr_align wr_align_at(const struct wr_align_side *before, const struct wr_align_side *after,
                          uint32_t i, uint32_t j);

#endif
