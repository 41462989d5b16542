/* rival_port.h -- both sides of a proxy under test: requests are posted to it, and what it sends on
 * arrives at a port of ours on loopback, which answers with what was recorded.
 *
 * One request at a time. What arrives with tools, where the request offers some, is the request;
 * anything else the proxy asks on its own account, and gets a short answer in words.
 */
#ifndef WR_LAB_RIVAL_PORT_H
#define WR_LAB_RIVAL_PORT_H

#include "lab/rival.h"
#include "weir/store.h"

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
