/* traffic_page.h -- the page at /weir/ and what it asks for (docs/page.md).
 *
 *   GET  /weir/                     the page, and its files
 *   GET  /weir/v1/traffic...        traffic/traffic.h, on a thread
 *   GET  /weir/v1/traffic/live      a stream of events: a line a request as it happens
 *   .../v1/traffic/whatif           a session under other policies: what_if.h
 *   POST /weir/v1/login             sets a cookie with the token that the request brings
 *   POST /weir/v1/logout            takes it away
 *
 * 1. A request that is to be projected never waits for a page: answers are made on threads of their
 *    own handles, and the stream follows the rows in the store, one look for all who listen.
 * 2. A stream says the number of each row, so a browser that was cut off goes on where it was.
 */
#ifndef WR_PROXY_TRAFFIC_PAGE_H
#define WR_PROXY_TRAFFIC_PAGE_H

#include <uv.h>

#include "models/registry.h"
#include "net/server.h"
#include "proxy/door.h"
#include "proxy/exchange.h"
#include "proxy/pages.h"

struct wr_traffic_page;

/* `service` is borrowed. NULL: out of memory. */
struct wr_traffic_page *wr_traffic_page_new(uv_loop_t *loop, const struct wr_config *config,
                                            struct wr_service *service);

/* weir.yaml was read again: pages that listen ask again. NULL is fine. */
void wr_traffic_page_reloaded(struct wr_traffic_page *page);

/* Before the loop ends: its timer goes. NULL is fine. */
void wr_traffic_page_close(struct wr_traffic_page *page);
/* When the loop has ended. NULL is fine. */
void wr_traffic_page_free(struct wr_traffic_page *page);

/* What models cost; NULL: that could not be read. As long as the page. */
const struct wr_models *wr_traffic_page_models(const struct wr_traffic_page *page);

bool wr_traffic_page_is(weir_span target);

/* As the handler's `begin`. `entry` was let in. */
void *wr_traffic_page_begin(struct wr_traffic_page *page, struct wr_conn *conn,
                            const struct wr_head *head, const struct wr_entry *entry);

/* ==== rows as they happen ====
 *
 * A stream of events for every page that is open.
 *
 * All streams are fed by one look into the store every WR_TRAFFIC_POLL_MS, on a thread; while
 * nobody listens nothing is looked at. Following the store instead of the requests of this process,
 * a page sees what all workers and all nodes on the store do.
 */

struct wr_live_rows;

/* `store_dir` (NULL: none), `models` and `is_draining` are borrowed. NULL: out of memory. */
struct wr_live_rows *wr_live_rows_new(uv_loop_t *loop, const char *store_dir,
                                      const struct wr_models *models, const bool *is_draining);
void wr_live_rows_close(struct wr_live_rows *live); /* NULL is fine */
void wr_live_rows_free(struct wr_live_rows *live);  /* when the loop has ended */

/* Ends all streams, because weir.yaml was read again: a page asks again by itself, and whoever was
 * taken out is not let in. NULL is fine. */
void wr_live_rows_end_all(struct wr_live_rows *live);

/* Takes the request over, as the server's `begin`. The stream ends when its token does. */
void *wr_live_rows_begin(struct wr_live_rows *live, struct wr_conn *conn,
                         const struct wr_head *head, const struct wr_entry *entry);

#endif
