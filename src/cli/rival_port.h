/* rival_port.h -- both sides of a proxy under test: requests are posted to it, and what it sends on
 * arrives at a port of ours on loopback, which answers with what was recorded.
 *
 * One request at a time. What arrives with tools, where the request offers some, is the request;
 * anything else the proxy asks on its own account, and gets a short answer in words.
 */
#ifndef WR_CLI_RIVAL_PORT_H
#define WR_CLI_RIVAL_PORT_H

#include "cli/cmd.h"
#include "replay/rival.h"

struct wr_rival_port_options {
    const char *command;               /* for what is said on stderr */
    const char *name;                  /* of the proxy's row */
    const char *url;                   /* its base: the path of a request's API is added */
    uint16_t port;                     /* ours, which the proxy takes for its provider */
    const struct wr_opt_list *headers; /* "Name: value", sent with every request */
    const char *store_dir; /* of a Weir behind the URL, where handles lead; NULL: nowhere */
};

struct wr_rival_port;

/* False: said on stderr. Options are borrowed until close. */
bool wr_rival_port_open(struct wr_rival_port **port, const struct wr_rival_port_options *options);
void wr_rival_port_close(struct wr_rival_port *port); /* NULL is fine */

const struct wr_rival *wr_rival_port_rival(const struct wr_rival_port *port);

/* Why the newest request failed; empty where none has. */
const char *wr_rival_port_why(const struct wr_rival_port *port);

#endif
