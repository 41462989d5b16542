/* door.h -- who may come in: the Host of a request on loopback, the access token elsewhere.
 *
 * A page in a browser can be made to send requests to loopback under a name of its owner's (DNS
 * rebinding): there the Host must be a name of loopback. On any other bind, and wherever tokens are
 * configured, a request brings one, as `x-weir-token` or as the front /k/TOKEN/ of its path. The
 * token is the tenant; what goes to the upstream does not hold it.
 */
#ifndef WR_PROXY_DOOR_H
#define WR_PROXY_DOOR_H

#include "net/head.h"
#include "proxy/config.h"

enum { WR_TENANT_BYTES = 48 };

struct wr_entry {
    int status;      /* 0: may come in; else what to answer */
    const char *why; /* then */
    char tenant[WR_TENANT_BYTES];
    weir_span target; /* without a token in front */
};

struct wr_entry wr_door_enter(const struct wr_config *config, const struct wr_head *head);

/* Whether an address to listen on, "HOST:PORT", is loopback's. */
bool wr_door_is_loopback(const char *listen);

#endif
