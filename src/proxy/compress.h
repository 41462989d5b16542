/* compress.h -- the answers that gateways expect of a prompt compressor beside them.
 *
 * LiteLLM and others have an adapter that sends a request's messages to POST /v1/compress of such a
 * service before the request goes to its provider, and asks GET /v1/retrieve/HASH for an original
 * that the model wants back by a tool of the gateway's, `headroom_retrieve {"hash"}`. Weir answers
 * both in that shape (docs/http-api.md), so their configuration needs its address and nothing else.
 *
 * 1. As many messages go back as came, with the same roles; those that no policy changed are the
 *    same bytes. Adapters match them by their place and refuse anything else.
 * 2. With {"config":{"mode":"ccr"}} the gateway promises that tool, and markers name it (law L2).
 *    Without it there is no way back, and what would need one stays whole.
 * 3. A HASH is the handle without its "wr_".
 * 4. What cannot be read or projected goes back as it came: a gateway would fail the request.
 */
#ifndef WR_PROXY_COMPRESS_H
#define WR_PROXY_COMPRESS_H

#include "base/buf.h"
#include "weir/engine.h"

struct wr_compress {
    struct weir_engine *engine;
    struct weir_store *store; /* NULL: nothing is taken out */
    const char *policy;       /* of a session that has none yet */
    weir_span tenant;
    weir_span session; /* that the gateway named in a header; empty: none */
    int64_t now_ms;
    bool is_bypassed; /* the messages go back as they came */
};

/* Both return the HTTP status; the answer is JSON. */
int wr_compress_answer(const struct wr_compress *compress, weir_span body, struct wr_buf *answer);
int wr_retrieve_answer(const struct wr_compress *compress, weir_span hash, struct wr_buf *answer);

/* ==== the webhook of a gateway ====
 *
 * It is for a gateway that shows each request to a webhook before it sends it.
 *
 * Portkey's open gateway has such a guardrail, `default.webhook`: it posts {"request":{"json"},
 * "eventType"}, and takes {"verdict","transformedData":{"request":{"json"}}} back, where the latter
 * replaces the request (docs/http-api.md).
 *
 * 1. The verdict is always true: Weir makes requests smaller and refuses none.
 * 2. A request that no policy changed is not sent back.
 * 3. The way back of what leaves is one that the request's own tools offer (law L2), as in a call
 * of `project`. After the answer there is nothing to do: the other event of the hook is let
 * through.
 */

/* WEIR_SYNTAX, WEIR_INVALID: the body is none of such a hook. */
weir_status wr_webhook_answer(const struct wr_compress *how, weir_span body, struct wr_buf *answer,
                              struct weir_err *err);

#endif
