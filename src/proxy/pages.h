/* pages.h -- what Weir answers itself: its own paths, refusals, errors in the shape of each API. */
#ifndef WR_PROXY_PAGES_H
#define WR_PROXY_PAGES_H

#include "proxy/door.h"
#include "proxy/exchange.h"

/* /weir/…, /metrics, /healthz and /readyz. With /mcp (mcp_page.h) these are Weir's own paths. */
bool wr_page_is_ours(weir_span target);

/* Answers a request that was not let in, asks for another protocol, or is for one of our paths. */
void wr_page_answer(struct wr_service *service, struct wr_conn *conn, const struct wr_head *head,
                    const struct wr_entry *entry);

/* The client shows Weir's token in the place of a key, and this upstream's key is not Weir's to
 * add. */
void wr_page_no_key(struct wr_conn *conn, const struct wr_route *route);

/* A path at which the key that Weir holds is not shown (credential.h). */
void wr_page_other_path(struct wr_conn *conn, const struct wr_route *route);

/* A request that cannot begin: it has no upstream, and is told which there are, or no memory. */
void wr_page_not_begun(struct wr_conn *conn, const struct wr_config *config,
                       const struct wr_route *route);

/* An error as a client of that API expects it. */
void wr_page_error(struct wr_conn *conn, const struct wr_api *api, int status, const char *why);

/* 405, with the header Allow, which RFC 9110 wants: `allow` is the methods that there are. */
void wr_page_wrong_method(struct wr_conn *conn, const char *allow, const char *why);

/* A request is refused for a while. */
struct wr_page_refusal {
    int status;
    const char *why;
    const char *note; /* for the header x-weir-budget; "": none */
    int64_t retry_s;  /* when to come again; 0: that would not help */
    bool is_soon;     /* a client may wait by itself */
};

void wr_page_refusal(struct wr_conn *conn, const struct wr_api *api,
                     const struct wr_page_refusal *refusal);

/* What a client is told where no answer of its upstream has begun, and what the log calls it. */
struct wr_page_failure {
    int status;
    const char *end;
};

struct wr_page_failure wr_page_failure(enum wr_fetch_result result);

#endif
