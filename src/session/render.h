/* render.h -- a view as the body of a request, in any of the three APIs.
 *
 * 1. Lawful: every call has its result right behind it, results come first in their message, no
 *    text is blank, the first message is the user's, and user and model take turns.
 * 2. What the provider signed or encrypted goes back byte for byte, to the model it came from and
 *    only while what stands before it is what was there; else text and calls go.
 * 3. The same says give the same bytes, and more says only add to them (cache markers aside).
 */
#ifndef WR_SESSION_RENDER_H
#define WR_SESSION_RENDER_H

#include "session/view.h"

struct wr_render {
    const struct wr_view *view;
    weir_dialect dialect;
    weir_span prompt, model;
    const struct weir_tool *tools;
    size_t tools_count;
    uint64_t output_tokens_max; /* 0: not said, where that is lawful */
    uint64_t binds_after;       /* signed thinking of events before this one is left out */
    weir_span extra;            /* members of the body, or empty */
    bool has_markers;           /* Messages: cache markers */
    const char *dir;            /* of the session, for its images; NULL: they are left out */
    uint64_t blind_seq;         /* images of events up to this one are left out */
    uint64_t crowded_seq;       /* likewise, for want of room, and the model is told */
    bool alternates;            /* Chat: a notice is part of the user's message, not instructions */
};

/* Appends the body. Failure is the buffer's. */
void wr_render_write(const struct wr_render *render, struct wr_buf *out);

#endif
