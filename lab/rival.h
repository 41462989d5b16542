/* rival.h -- another system under the meter: a proxy to which each request is posted, and what of
 * it reaches the other side.
 *
 * A rival is judged by the bytes that leave it, never by what it says of itself. Who posts and who
 * listens is the caller's business (lab/rival_port.h); this is what a lane needs of it.
 */
#ifndef WR_LAB_RIVAL_H
#define WR_LAB_RIVAL_H

#include "json/json.h"
#include "weir/handle.h"
#include "weir/segment.h"

struct wr_rival_request {
    weir_dialect dialect; /* of the body: the API that the session's agent speaks */
    weir_span body;
    const struct wr_json *answer; /* what the provider answers with, as a Chat message */
    bool is_first;                /* of its session */
};

/* Bodies that came out for one request, in their order; they live until the next request. */
struct wr_rival_arrived {
    const weir_span *bodies;
    const weir_dialect *dialects; /* of each */
    uint32_t count;               /* at least one */
    uint32_t own; /* which of them is the request; the others the rival asked on its own account */
};

struct wr_rival {
    const char *name; /* of its row */
    weir_status (*send)(void *user, const struct wr_rival_request *request,
                        struct wr_rival_arrived *arrived);
    /* The text that a handle of ours leads to at the rival; NULL: it is not asked. */
    bool (*original)(void *user, weir_handle handle, struct wr_arena *arena, weir_span *text);
    weir_span side_answer; /* the message that answers what it asks on its own account */
    void *user;
};

#endif
