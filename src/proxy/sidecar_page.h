/* sidecar_page.h -- the sidecar (proxy/sidecar.h) on the server: its calls run on threads. */
#ifndef WR_PROXY_SIDECAR_PAGE_H
#define WR_PROXY_SIDECAR_PAGE_H

#include "proxy/page_call.h"

struct wr_sidecar_page;

/* `config` is borrowed: its store. NULL: out of memory. */
struct wr_sidecar_page *wr_sidecar_page_new(uv_loop_t *loop, const struct wr_config *config);

/* When the loop has ended. NULL is fine. */
void wr_sidecar_page_free(struct wr_sidecar_page *page);

bool wr_sidecar_page_is(weir_span target);

/* As the handler's `begin`. `entry` was let in. */
void *wr_sidecar_page_begin(struct wr_sidecar_page *page, struct wr_conn *conn,
                            const struct wr_head *head, const struct wr_entry *entry);

#endif
