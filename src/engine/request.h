/* request.h -- the inside of a public request, for those who build on the engine. */
#ifndef WR_ENGINE_REQUEST_H
#define WR_ENGINE_REQUEST_H

#include "engine/plan.h"
#include "weir/weir.h"

/* A body that was written. It lives as long as its request, whatever is written after it. */
struct wr_written {
    struct wr_written *older;
    struct wr_buf body;
};

struct weir_request {
    struct wr_arena arena; /* owns everything below */
    struct wr_json doc;
    struct wr_transcript transcript;
    struct wr_plan plan;
    weir_range *ranges; /* of all parts, segment after segment */
    uint32_t *ranges_start;
    uint32_t
        *users_count; /* of what the request borrows its handles from; NULL: they are its own */
    struct wr_written *written; /* owned list; the items are in the arena */
};

/* An empty buffer for a body, which lives as long as the request; NULL when out of memory. */
/* As weir_request_new(). With a memo (NULL: none) handles may be the memo's: `users_count` is
 * raised until the request is freed, and the memo may not begin anew before it is 0. */
WEIR_MUST_USE weir_status wr_request_new(weir_span body, const struct weir_request_options *options,
                                         struct wr_memo *memo, uint32_t *users_count,
                                         struct weir_request **request, struct weir_err *err);

struct wr_buf *wr_request_output(struct weir_request *request);

/* Moves the buffer that holds `body`, which was written, out of the request: from now on it is the
 * caller's. False: the request has no such, and nothing was moved. */
bool wr_request_take_output(struct weir_request *request, weir_span body, struct wr_buf *out);

/* Whether it holds signed thinking, and its model binds that to what stands before. */
bool wr_engine_binds(const struct weir_engine *engine, const struct weir_request *request);

#endif
