/* webhook.h -- the answer to a gateway that shows each request to a webhook before it sends it.
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
#ifndef WR_PROXY_WEBHOOK_H
#define WR_PROXY_WEBHOOK_H

#include "proxy/compress.h"

/* WEIR_SYNTAX, WEIR_INVALID: the body is none of such a hook. */
weir_status wr_webhook_answer(const struct wr_compress *how, weir_span body, struct wr_buf *answer,
                              struct weir_err *err);

#endif
