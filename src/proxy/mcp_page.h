/* mcp_page.h -- the MCP server at /mcp: streamable HTTP, one JSON answer a POST, no sessions.
 *
 * The tenant is the door's. What the tools read is read on libuv's threads, one call at a time, so
 * the loop never waits for the store.
 */
#ifndef WR_PROXY_MCP_PAGE_H
#define WR_PROXY_MCP_PAGE_H

#include "net/server.h"
#include "proxy/door.h"

struct wr_mcp_page;
struct wr_service;

/* `config` is borrowed: its store; so is `service`: its log and metrics.
 * NULL: out of memory. */
struct wr_mcp_page *wr_mcp_page_new(uv_loop_t *loop, const struct wr_config *config,
                                    struct wr_service *service);

/* When the loop has ended. NULL is fine. */
void wr_mcp_page_free(struct wr_mcp_page *page);

bool wr_mcp_page_is(weir_span target);

/* Takes the request over, or answers it at once: as the handler's `begin`. `entry` was let in. */
void *wr_mcp_page_begin(struct wr_mcp_page *page, struct wr_conn *conn, const struct wr_head *head,
                        const struct wr_entry *entry);

#endif
