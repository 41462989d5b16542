/* page_call.h -- a request to a path of our own whose answer is made on a thread.
 *
 * The body is collected, then `work` runs on one of libuv's threads, one call of a desk at a time,
 * so that the loop never waits for a store or a journal. A call is freed when both the client and
 * the thread are done with it.
 */
#ifndef WR_PROXY_PAGE_CALL_H
#define WR_PROXY_PAGE_CALL_H

#include "base/arena.h"
#include "base/buf.h"
#include "net/server.h"
#include "proxy/audit.h"
#include "proxy/door.h"

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
    weir_span type; /* of the answer */
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

#endif
