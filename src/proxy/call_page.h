/* call_page.h -- the library over HTTP: weir_call() for whoever does not link it, and what gateways
 * ask of a prompt compressor (docs/http-api.md).
 *
 *   POST /weir/v1/project, count, condense, recall, models    as weir_call() (docs/embed.md)
 *   POST /v1/compress, GET /v1/retrieve/HASH                  as gateways' adapters call them
 *   POST /weir/v1/webhook                                     as a gateway's webhook (compress.h)
 *
 * 1. The tenant is the door's: a body that names one is refused.
 * 2. `project` takes the server's policy for new sessions and its clock where the body names none.
 * 3. Every error of /weir/v1/ is {"error":{"message","status","at_byte"}}.
 */
#ifndef WR_PROXY_CALL_PAGE_H
#define WR_PROXY_CALL_PAGE_H

#include "proxy/pages.h"

/* Its addresses outside /weir/. */
#define WR_CALL_COMPRESS "/v1/compress"
#define WR_CALL_RETRIEVE "/v1/retrieve/"

struct wr_call_page;

/* `config` and `policies` (YAML, may be empty) are borrowed. NULL: out of memory, or the policies
 * are wrong. */
struct wr_call_page *wr_call_page_new(uv_loop_t *loop, const struct wr_config *config,
                                      weir_span policies);
void wr_call_page_free(struct wr_call_page *page); /* when the loop has ended; NULL is fine */

bool wr_call_page_is(weir_span target);

/* As the handler's `begin`. `config` is the one in force; `entry` was let in. */
void *wr_call_page_begin(struct wr_call_page *page, const struct wr_config *config,
                         struct wr_conn *conn, const struct wr_head *head,
                         const struct wr_entry *entry);

#endif
