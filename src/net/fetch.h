/* fetch.h -- requests to upstreams: libcurl's multi interface on a libuv loop.
 *
 * Connections are kept and shared by all fetches of one fetcher. A fetch adds nothing to the
 * headers it is given but Host and the framing, follows nothing, decodes nothing, verifies every
 * certificate.
 *
 *   wr_fetch_start ──▶ ASKING ──on_header: the head of the answer is whole──▶ ANSWERING
 *
 *   ASKING, ANSWERING ──leave_curl: finish_fetch, which frees it and tells the end
 *   ASKING, ANSWERING ──wr_fetch_cancel──▶ CANCELLED ──leave_curl frees it
 *
 * 1. `end` is called once, unless the fetch was cancelled, and never from inside a call of libcurl:
 *    a new fetch may be started there.
 * 2. After wr_fetch_cancel() no event comes.
 * 3. What `data` refuses for lack of room comes again after wr_fetch_resume(); meanwhile the
 *    upstream's socket is not read.
 */
#ifndef WR_NET_FETCH_H
#define WR_NET_FETCH_H

#include <uv.h>

#include "net/http.h"
#include "weir/status.h"

struct wr_fetcher;
struct wr_fetch;

enum wr_fetch_state {
    WR_FETCH_ASKING,    /* the request leaves; nothing of an answer was told */
    WR_FETCH_ANSWERING, /* the head was told; its body comes */
    WR_FETCH_CANCELLED, /* no event comes any more; libcurl may still be inside of a call for it */
};

struct wr_fetcher_options {
    const char *ca_file; /* certificates to trust instead of the system's; NULL: the system's */
};

enum wr_fetch_result {
    WR_FETCH_DONE,        /* the answer is complete */
    WR_FETCH_UNREACHABLE, /* no answer has begun */
    WR_FETCH_TIMEOUT,     /* the same, because of time */
    WR_FETCH_STALE,       /* the same, on a connection that was kept: a fresh one may do better */
    WR_FETCH_UNANSWERED,  /* the same, and all of the request had left: it may have been carried out
                           */
    WR_FETCH_UNFIT,       /* an answer came that cannot be passed on; nothing of it was told */
    WR_FETCH_NO_FD,       /* no socket can be opened: the process has too many */
    WR_FETCH_BROKEN,      /* an answer began and did not end */
};

struct wr_fetch_events {
    void (*head)(void *user, const struct wr_head *head); /* the head dies with the call */
    bool (*data)(void *user, weir_span bytes);            /* false: no room, nothing was taken */
    void (*end)(void *user, enum wr_fetch_result result, const char *why);
    /* Fills `into` with the next bytes of a streamed body. 0 with *has_ended false: there are none
     * yet, and wr_fetch_resume_body() will say when there are. */
    size_t (*more)(void *user, char *into, size_t bytes_max, bool *has_ended);
};

struct wr_fetch_request {
    const char *url; /* whole; the path is not touched */
    weir_span method;
    const struct wr_header *headers;
    size_t headers_count;
    bool has_body, is_streamed;
    weir_span body;        /* borrowed until the end; where it is not streamed */
    int64_t content_bytes; /* of a streamed body; -1: not known */
    bool http2;            /* where the upstream speaks it */
    const char *proxy;     /* to ask by; "": none; NULL: nothing is said (wr_fetch_proxy) */
    bool is_fresh;         /* on a connection of its own */
};

/* The proxy for `url`. `told` is what was said about it, as above, and decides where it is not
 * NULL. Otherwise a host on this machine or in a private network has none (""), and all others have
 * that of the environment (NULL). A proxy of the environment is for the world outside: it should
 * not see what a model near by is asked. */
const char *wr_fetch_proxy(const char *told, const char *url);

WEIR_MUST_USE weir_status wr_fetcher_new(struct wr_fetcher **fetcher, uv_loop_t *loop,
                                         const struct wr_fetcher_options *options,
                                         struct weir_err *err);
/* Cancels what is open. The loop must run once more before wr_fetcher_free(). */
void wr_fetcher_close(struct wr_fetcher *fetcher);
void wr_fetcher_free(struct wr_fetcher *fetcher);

/* Everything in `request` but a body that is not streamed is copied. */
WEIR_MUST_USE weir_status wr_fetch_start(struct wr_fetch **fetch, struct wr_fetcher *fetcher,
                                         const struct wr_fetch_request *request,
                                         const struct wr_fetch_events *events, void *user,
                                         struct weir_err *err);
void wr_fetch_cancel(struct wr_fetch *fetch);
/* Whether all of the request has left and nothing of an answer has come. */
bool wr_fetch_is_unanswered(const struct wr_fetch *fetch);
/* From inside `head`: nothing more of the answer is waited for, and `end` says WR_FETCH_BROKEN. */
void wr_fetch_drop(struct wr_fetch *fetch);
void wr_fetch_resume(struct wr_fetch *fetch);
void wr_fetch_resume_body(struct wr_fetch *fetch);

/* ---- certificates ---- */

/* The certificates that this machine trusts, where the TLS library was built
 * elsewhere.
 *
 * A distribution's libcurl knows where its certificates are. One that a portable program brings
 * along knows nothing, so the places of the usual systems are looked at.
 */

/* NULL: libcurl knows itself, or there is none. A constant, or what SSL_CERT_FILE says. */
const char *wr_ca_file_find(void);

/* The choice, for the tests: of `built_in` (libcurl's, NULL: none), `said` (SSL_CERT_FILE, NULL:
 * not set), and the usual places. */
const char *wr_ca_file_choose(const char *built_in, const char *said,
                              bool (*can_read)(const char *path));

#endif
