/* route.h -- where a request goes: which upstream, which API, which address.
 *
 * /openai/…, /anthropic/… and /p/NAME/… name the upstream; otherwise the path does: Messages go to
 * `anthropic`, Codex's own backend to `chatgpt`, the rest to `openai`. A /p/NAME/ that no upstream
 * has goes nowhere: the credential in it is meant for somebody else. A base address and a path
 * are joined with what they share (such as /v1) written once. Nothing a client sends in a header
 * can choose an upstream that the configuration does not name.
 *
 * A credential that is known for one provider's (credential.h) goes to that provider or to a host
 * that the user has named, else nowhere. Where the path names no upstream the credential's own is
 * asked; one that the path names is never changed for another. That holds for the one upstream of
 * --upstream URL too: at a host of the user's own it takes every credential.
 */
#ifndef WR_PROXY_ROUTE_H
#define WR_PROXY_ROUTE_H

#include "api/api.h"
#include "base/buf.h"
#include "net/head.h"
#include "proxy/config.h"
#include "proxy/credential.h"

struct wr_route {
    const struct wr_upstream *upstream; /* NULL: there is none for this path or its credential */
    struct wr_credential credential;    /* then: the one that kept it back; .provider NULL: none */
    const struct wr_api *api;           /* of a POST with a conversation in it; else NULL */
    const char *path; /* how that API's path is usually written; NULL with no API */
    bool is_signed;   /* the client has signed it (AWS): it leaves as it came */
    bool is_answer;   /* the answer is a model's: it has usage, and calls. Not so of token counts */
    weir_span answer_id; /* that the path names, of a request without a conversation; else empty */
    weir_span target;    /* the part of the target that belongs to the upstream; points into it */
};

/* `target` is the request's, without a leading access token. */
struct wr_route wr_route_find(const struct wr_config *config, const struct wr_head *head,
                              weir_span target);

/* Appends the whole address, and a NUL. */
void wr_route_url(const struct wr_route *route, struct wr_buf *url);

#endif
