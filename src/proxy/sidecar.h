/* sidecar.h -- sessions over HTTP, for agents that do not link the library (docs/session.md).
 *
 *   POST /weir/v1/sessions               create: {"id","model","system","tools","config",...}
 *   GET  /weir/v1/sessions               their ids
 *   POST /weir/v1/sessions/ID/events     append: {"events":[{"kind":"user","text":...}, ...]}
 *   POST /weir/v1/sessions/ID/render     the next request: {"dialect":"chat"}
 *   POST /weir/v1/sessions/ID/compact    summarise older turns now
 *   GET  /weir/v1/sessions/ID/context    what fills the window
 *
 * 1. A session is opened for each call and closed behind it: workers, restarts and `weir agent` see
 *    the same journal. One that another process holds is waited for, then answered 409.
 * 2. A tenant sees its own sessions only.
 * 3. Every error is {"error":{"message":...}}; of a list of events those before the wrong one are
 *    in the journal, and the error says how many.
 */
#ifndef WR_PROXY_SIDECAR_H
#define WR_PROXY_SIDECAR_H

#include "proxy/pages.h"
#include "weir/store.h"

struct weir_session_host;

struct wr_sidecar {
    const char *dir;          /* the store's directory */
    struct weir_store *store; /* NULL: nothing is taken out of requests */
    struct weir_session_host *host;
};

struct wr_sidecar_call {
    weir_span tenant, method;
    weir_span path; /* without a query */
    weir_span body;
    int64_t now_ms;
    const char *allow; /* filled in where it is answered with 405: the methods that there are */
};

bool wr_sidecar_is(weir_span path);

/* Returns the HTTP status; the answer is JSON. */
int wr_sidecar_answer(struct wr_sidecar *sidecar, struct wr_sidecar_call *call,
                      struct wr_buf *answer);

/* ---- on the server: its calls run on threads ---- */

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
