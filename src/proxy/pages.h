/* pages.h -- what Weir answers itself: its own paths, refusals, errors in the shape of each API. */
#ifndef WR_PROXY_PAGES_H
#define WR_PROXY_PAGES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/web.h"
#include "net/server.h"
#include "proxy/audit.h"
#include "proxy/door.h"
#include "proxy/exchange.h"

/* ==== the files of the page ==== */

/* Whether `path` (without its query) is one of them, or /weir alone. They hold nothing of anybody's
 * and are given to whoever may ask at all, so that the page can ask for a token. */
bool wr_page_file_is(weir_span path);

/* False: there is no such file. */
bool wr_page_file_find(weir_span path, struct wr_web_file *file);

/* ==== calls that are answered on a thread ====
 *
 * Each is a request to a path of our own.
 *
 * The body is collected, then `work` runs on one of libuv's threads, one call of a desk at a time,
 * so that the loop never waits for a store or a journal. A call is freed when both the client and
 * the thread are done with it.
 */

struct wr_page_call;

/* On a thread: fills in `answer`, `status` and, where it is not application/json, `type`. */
typedef void wr_page_work_fn(struct wr_page_call *call);

/* On the loop, before the answer is sent: the call was worked on, and `status` is set. */
typedef void wr_page_over_fn(struct wr_page_call *call);

struct wr_page_desk {
    uv_loop_t *loop;
    uv_mutex_t lock;    /* held while a call is worked on */
    size_t calls_count; /* the loop's: begun and not freed */
    size_t calls_max, body_bytes_max, answer_bytes_max;
    wr_page_work_fn *work;
    wr_page_over_fn *over; /* NULL: nobody wants to know */
    void *user;
    /* Where calls that are not only read are noted, as "NAME.LAST", the last part of their path;
     * NULL: nowhere. */
    struct wr_audit *audit;
    const char *audit_name;
};

struct wr_page_call {
    struct wr_page_desk *desk;
    struct wr_conn *conn; /* NULL: the client is gone */
    uv_work_t request;
    bool is_working;
    struct wr_arena arena; /* what must outlive the head: it dies with the client */
    char tenant[WR_TENANT_BYTES], run[WR_RUN_DIGITS + 1];
    const struct wr_user *who; /* NULL: nobody with a name */
    char subject[128];         /* the session that it is about, for the audit; "": none */
    bool has_changed_nothing;  /* for the audit too, where the status does not say so */
    const char *agent;         /* empty: not known */
    int64_t started_ms;
    uint64_t started_us;
    weir_span method, target;
    struct wr_buf body, answer;
    int status;
    weir_span type;    /* of the answer */
    const char *allow; /* where `status` is 405: the methods that there are; else NULL */
    void *user;
};

/* Fills in the desk; false: it cannot be. */
bool wr_page_desk_init(struct wr_page_desk *desk, uv_loop_t *loop);
void wr_page_desk_release(struct wr_page_desk *desk);

/* Takes the request over within the server's `begin`, whose result it is. NULL: answered, because
 * too many wait, the body is too long, or memory is short. `entry` was let in. */
struct wr_page_call *wr_page_call_begin(struct wr_page_desk *desk, struct wr_conn *conn,
                                        const struct wr_head *head, const struct wr_entry *entry);

/* A header's value that lives as long as the call; a NULL ptr: there is none. */
weir_span wr_page_call_header(struct wr_page_call *call, const struct wr_head *head,
                              const char *name);

/* ==== what Weir answers itself ==== */

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
