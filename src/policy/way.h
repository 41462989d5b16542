/* way.h -- which ways back a request's own tools offer (law L2). */
#ifndef WR_POLICY_WAY_H
#define WR_POLICY_WAY_H

#include "policy/marker.h"
#include "transcript/transcript.h"

struct wr_ways {
    weir_span recall;   /* weir_recall as this request spells it; empty: it is not offered */
    uint32_t recall_at; /* the segment that offers it */
    weir_span *tools;   /* all names */
    uint32_t tools_count;
    size_t
        own_bytes; /* of the definitions of Weir's own tools, in the segment that offers recall */
};

/* Reads the names of the tools the request offers. */
WEIR_MUST_USE weir_status wr_ways_read(struct wr_ways *ways, struct wr_arena *arena,
                                       const struct wr_transcript *transcript);

/* The recall tool, where one of the first `arrived` segments offers it; else empty. */
weir_span wr_ways_recall(const struct wr_ways *ways, uint32_t arrived);

/* The way back to a result: recall where it is offered, else the tool that read the file, where the
 * file has not been touched by any of the first `arrived` segments and that tool is still there.
 * What comes later does not count: the way is judged when a form is given. */
struct wr_way wr_way_to(const struct wr_ways *ways, const struct wr_segment *segment,
                        uint32_t arrived);

#endif
