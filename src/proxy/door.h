/* door.h -- who may come in: by the Host on loopback, by the page's origin, by the access token.
 *
 * A page in a browser can be made to send requests to loopback under a name of its owner's (DNS
 * rebinding): there the Host must be a name of loopback, or one of `allow_hosts`. It can also ask
 * loopback by its own name, across sites: a request with an Origin that is neither ours nor in
 * `allow_origins` is refused (403), whatever it asks. On any other bind, and wherever tokens are
 * configured, a request brings one, as `x-weir-token` or as the front /k/TOKEN/ of its path. The
 * token is the tenant; what goes to the upstream does not hold it. Where Weir holds a provider's
 * key the token may also come where such a key would: Bearer, x-api-key, api-key, x-goog-api-key,
 * ?key=. So it may where the library is called over HTTP (call_page.h): nothing goes on from there.
 *
 * A token of `users` names its user; the tenant is then the user, or the user's team (users.h).
 *
 * The files of the page at /weir/ are open to whoever may ask at all: they hold nothing. For paths
 * below /weir/ a browser may bring the token in a cookie; what it does not only read must then have
 * the header `x-weir-page` too, which a page of another site cannot send.
 *
 * /healthz, /readyz, /weir/v1/health and, with GET, / are open as well: they tell of the server and
 * of nobody's requests, to whatever watches it.
 *
 * Where there are tokens, /metrics is the operator's: `metrics_token` opens it and nothing else,
 * and no tenant's token does.
 *
 * Whoever may come in and asks for a mode or a policy that is not to be had is told so (400).
 *
 * `weir run` puts /r/RUN/ behind that, so that the requests of one run can be told from others'.
 */
#ifndef WR_PROXY_DOOR_H
#define WR_PROXY_DOOR_H

#include "net/head.h"
#include "proxy/config.h"

enum { WR_TENANT_BYTES = 48, WR_RUN_DIGITS = 16 };

/* The cookie by which a browser brings the token to the page at /weir/ and what that asks. */
#define WR_DOOR_COOKIE "weir_token"
#define WR_DOOR_LOGIN  "/weir/v1/login"

struct wr_entry {
    int status;      /* 0: may come in; else what to answer */
    const char *why; /* then */
    char tenant[WR_TENANT_BYTES];
    char run[WR_RUN_DIGITS + 1];       /* "": none was named */
    const struct wr_user *user;        /* the configuration's; NULL: the token has no name */
    const struct wr_user_token *token; /* then NULL too */
    bool is_shown_as_key;              /* the token came where a provider's key does */
    weir_span target;                  /* without a token and a run in front */
};

struct wr_entry wr_door_enter(const struct wr_config *config, const struct wr_head *head);

/* The tenant that a token stands for: named by a hash, for the token itself is in no store and no
 * log. WEIR_NOMEM when the hash cannot be made. */
WEIR_MUST_USE weir_status wr_door_tenant(weir_span token, char tenant[WR_TENANT_BYTES]);

/* Whether a target may be one of the program's own addresses (pages, MCP, the library over HTTP),
 * by how it begins. Of any other no page needs to be asked: it is for a provider. */
bool wr_door_may_be_ours(weir_span target);

/* Whether a request reads what is open to everybody: health, and what this server is. */
bool wr_door_is_open(const struct wr_config *config, const struct wr_head *head, weir_span target);

/* Whether it is one of the access tokens, expired or not. */
bool wr_door_is_token(const struct wr_config *config, weir_span token);

/* Whether an address to listen on, "HOST:PORT", is loopback's. */
bool wr_door_is_loopback(const char *listen);

/* Which program sent a request, as its headers say: "codex", "claude-code", ...: a constant; ""
 * where nothing is known. An agent that says who it is comes before the library that it sends with.
 */
const char *wr_agent_name(const struct wr_head *head);

#endif
