/* steer_page.h -- what may be said of sessions over HTTP (docs/steer.md).
 *
 *   GET  /weir/v1/plan?session=S   what is out, what the next step would take, prices, pins
 *   POST /weir/v1/plan             {"session","confirm"}: take that step with the next request
 *   POST /weir/v1/pin, unpin       {"session", "path"|"tool"|"handle"|"segment", "now","confirm"}
 *
 *   POST /weir/v1/undo, exact      {"session","confirm"}
 *
 *   POST /weir/v1/pause, resume    {"session"?}; without one: all sessions
 *   GET  /weir/v1/pause            whether all are paused
 *
 *   GET  /weir/v1/policy           which one new sessions get
 *   POST /weir/v1/policy           {"policy"}: this one from now on; null: the configured one
 *
 * A tenant speaks of its own sessions only. Every error is {"error":{"message":...}}.
 */
#ifndef WR_PROXY_STEER_PAGE_H
#define WR_PROXY_STEER_PAGE_H

#include "proxy/pages.h"

struct wr_steer_page;

/* `config` is borrowed: its store. NULL: out of memory. */
struct wr_steer_page *wr_steer_page_new(uv_loop_t *loop, const struct wr_config *config);
/* Whoever gives orders is noted there; NULL: nowhere. Borrowed. */
void wr_steer_page_audit(struct wr_steer_page *page, struct wr_audit *audit);

void wr_steer_page_free(struct wr_steer_page *page); /* when the loop has ended; NULL is fine */

bool wr_steer_page_is(weir_span target);

/* As the handler's `begin`. `config` is the one in force; `entry` was let in. */
void *wr_steer_page_begin(struct wr_steer_page *page, const struct wr_config *config,
                          struct wr_conn *conn, const struct wr_head *head,
                          const struct wr_entry *entry);

#endif
