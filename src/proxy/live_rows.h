/* live_rows.h -- a stream of events for every page that is open: a line a request as it happens.
 *
 * All streams are fed by one look into the store every WR_TRAFFIC_POLL_MS, on a thread; while
 * nobody listens nothing is looked at. Following the store instead of the requests of this process,
 * a page sees what all workers and all nodes on the store do.
 */
#ifndef WR_PROXY_LIVE_ROWS_H
#define WR_PROXY_LIVE_ROWS_H

#include <uv.h>

#include "models/registry.h"
#include "net/server.h"
#include "proxy/door.h"

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
