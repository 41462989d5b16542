/* door.h -- what the head of a request says: who asks, where it goes, which session it is of.
 *
 *   wr_door_enter           whether it may come in, and as whom
 *   wr_route_find           which upstream, which API, which address
 *   wr_identity_from_head   which session; from the body, where the head does not say
 */
#ifndef WR_PROXY_DOOR_H
#define WR_PROXY_DOOR_H

#include "api/api.h"
#include "base/arena.h"
#include "base/buf.h"
#include "json/json.h"
#include "net/http.h"
#include "proxy/config.h"
#include "proxy/credential.h"

/* ==== who may come in ====
 *
 * By the Host on loopback, by the page's origin, by the access token.
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

/* ==== where a request goes ====
 *
 * Which upstream, which API, which address.
 *
 * /openai/…, /anthropic/… and /p/NAME/… name the upstream; otherwise the path does: Messages go to
 * `anthropic`, Codex's own backend to `chatgpt`, the rest to `openai`. A /p/NAME/ that no upstream
 * has goes nowhere: the credential in it is meant for somebody else. A base address and a path
 * are joined with what they share (such as /v1) written once. Nothing a client sends in a header
 * can choose an upstream that the configuration does not name.
 *
 * A credential that is known for one provider's (credential.h) goes to that provider or to a host
 * that the user has named, else nowhere. Where the path names no upstream the credential's own is
 * asked; one that the path names is never changed for another. That holds for the one upstream of
 * --upstream URL too: at a host of the user's own it takes every credential.
 */

struct wr_route {
    const struct wr_upstream *upstream; /* NULL: there is none for this path or its credential */
    struct wr_credential credential;    /* then: the one that kept it back; .provider NULL: none */
    const struct wr_api *api;           /* of a POST with a conversation in it; else NULL */
    const char *path; /* how that API's path is usually written; NULL with no API */
    bool is_signed;   /* the client has signed it (AWS): it leaves as it came */
    bool is_answer;   /* the answer is a model's: it has usage, and calls. Not so of token counts */
    weir_span answer_id; /* that the path names, of a request without a conversation; else empty */
    weir_span target;    /* the part of the target that belongs to the upstream; points into it */
};

/* `target` is the request's, without a leading access token. */
struct wr_route wr_route_find(const struct wr_config *config, const struct wr_head *head,
                              weir_span target);

/* Appends the whole address, and a NUL. */
void wr_route_url(const struct wr_route *route, struct wr_buf *url);

/* ==== which session it belongs to ====
 *
 * Which session, and what is known of it before it is read.
 *
 * In this order: Codex's thread and session headers, Claude Code's session header (with its agent's
 * id), the body's prompt_cache_key, the session named in metadata.user_id, the session of the
 * answer that the request goes on from, and else a hash of the model, the instructions and the
 * first user message, with the run of `weir run` that it came in: the same words in another run
 * begin another session. Never a credential: those rotate.
 */

enum { WR_SESSION_NAME_BYTES = WR_PROXY_SESSION_BYTES_MAX };

struct wr_session_name {
    char text[WR_SESSION_NAME_BYTES];
    size_t len; /* 0: not known */
};

/* From the headers alone. */
void wr_identity_from_head(const struct wr_head *head, struct wr_session_name *name);

/* From the body, where the headers said nothing. `before` is the session of the answer that it goes
 * on from; empty: it goes on from none, or from one that is not known. `run` is the run that it
 * came in; empty: none. */
void wr_identity_from_body(const struct wr_json *body, struct wr_arena *arena, weir_span before,
                           weir_span run, struct wr_session_name *name);

static inline weir_span wr_session_span(const struct wr_session_name *name)
{
    return (weir_span){name->text, name->len};
}

#endif
