/* rival.h -- another system under the meter: a proxy to which requests are posted, and what it
 * sends on arrives at a port of ours on loopback, which answers with what was recorded.
 *
 * One request at a time. What arrives with tools, where the request offers some, is the request;
 * anything else the proxy asks on its own account, and gets a short answer in words.
 */
#ifndef WR_LAB_RIVAL_H
#define WR_LAB_RIVAL_H

#include "json/json.h"
#include "weir/handle.h"
#include "weir/segment.h"
#include "weir/store.h"

/* ---- what a lane needs of it ----
 *
 * A rival is judged by the bytes that leave it, never by what it says of itself.
 */

struct wr_rival_request {
    weir_dialect dialect; /* of the body: the API that the session's agent speaks */
    weir_span body;
    const struct wr_json *answer; /* what the provider answers with, as a Chat message */
    bool is_first;                /* of its session */
};

/* Bodies that came out for one request, in their order; they live until the next request. */
struct wr_rival_arrived {
    const weir_span *bodies;
    const weir_dialect *dialects; /* of each */
    uint32_t count;               /* at least one */
    uint32_t own; /* which of them is the request; the others the rival asked on its own account */
};

struct wr_rival {
    const char *name; /* of its row */
    weir_status (*send)(void *user, const struct wr_rival_request *request,
                        struct wr_rival_arrived *arrived);
    /* The text that a handle of ours leads to at the rival; NULL: it is not asked. */
    bool (*original)(void *user, weir_handle handle, struct wr_arena *arena, weir_span *text);
    weir_span side_answer; /* the message that answers what it asks on its own account */
    void *user;
};

/* ---- both sides of it ---- */

enum { WR_RIVAL_HEADERS_MAX = 64 };

struct wr_rival_port_options {
    const char *name;           /* of the proxy's row */
    const char *url;            /* its base: the path of a request's API is added */
    uint16_t port;              /* ours, which the proxy takes for its provider */
    const char *const *headers; /* "Name: value", sent with every request */
    size_t headers_count;       /* at most WR_RIVAL_HEADERS_MAX */
    struct weir_store *store;   /* of a Weir behind the URL, where handles lead; NULL: nowhere */
};

struct wr_rival_port;

/* Options, and what they point to, are borrowed until close. */
WEIR_MUST_USE weir_status wr_rival_port_open(struct wr_rival_port **port,
                                             const struct wr_rival_port_options *options,
                                             struct weir_err *err);
void wr_rival_port_close(struct wr_rival_port *port); /* NULL is fine */

const struct wr_rival *wr_rival_port_rival(const struct wr_rival_port *port);

/* Why the newest request failed; empty where none has. */
const char *wr_rival_port_why(const struct wr_rival_port *port);

#endif
