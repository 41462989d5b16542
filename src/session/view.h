/* view.h -- what a request says, in the order it says it, whatever the API.
 *
 * Events are in the order they happened; a request wants results right behind their calls and words
 * of the user behind those. Words belong to the first turn that begins after they came: what
 * arrives while the model writes is not put before its answer. So a request of one turn is the
 * beginning of the request of the next.
 */
#ifndef WR_SESSION_VIEW_H
#define WR_SESSION_VIEW_H

#include "session/thread.h"

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

#endif
