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

#include "session/thread.h"

/* ---- view ----
 *
 * Events are in the order they happened; a request wants results right behind their calls and words
 * of the user behind those. Words belong to the first turn that begins after they came: what
 * arrives while the model writes is not put before its answer. So a request of one turn is the
 * beginning of the request of the next.
 */

enum wr_say_kind {
    WR_SAY_NOTICE, /* messages are missing */
    WR_SAY_TEXT,   /* words of the user, a summary, the moment */
    WR_SAY_RESULT,
    WR_SAY_ANSWER,
};

struct wr_say {
    enum wr_say_kind kind;
    weir_span text;
    const struct wr_event *event; /* NULL: none of its own */
    uint64_t tokens, call_tokens;
    uint32_t message; /* its number in the thread; UINT32_MAX: none */
};

struct wr_view {
    struct wr_say *says;
    uint32_t says_count;
};

/* Everything is in `arena` or in the thread. Words that wait come last. */
WEIR_MUST_USE weir_status wr_view_build(struct wr_view *view, struct wr_arena *arena,
                                        const struct wr_thread *thread);

static inline bool wr_say_is_user(const struct wr_say *say)
{
    return say->kind != WR_SAY_ANSWER;
}

/* ---- the body of a request ---- */

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
