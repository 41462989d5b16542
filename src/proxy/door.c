/* door.c -- what the head of a request says: who asks, where it goes, which session it is of.
 *
 * All of it is known before a byte of the body is: who may not come in is told so at once, and a
 * credential that is not for the upstream leaves nowhere.
 */
#include "proxy/door.h"

#include <openssl/crypto.h>
#include <strings.h>

#include "api/api.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/span.h"
#include "net/http.h"
#include "proxy/call_page.h"
#include "proxy/credential.h"
#include "proxy/pages.h"

/* ==== who may come in ====
 *
 * The check that each request passes first.
 *
 *   1. the Host, on loopback     421   a name of others that leads here (DNS rebinding)
 *   2. the page that asks        403   Origin, or a browser's word that it is another site's
 *   3. /metrics                  401, 403   where there are tokens, its own token
 *   4. the token                 401   and with it the tenant
 *   5. headers for Weir          400   a mode or policy that does not exist
 *
 * The headers come last: the refusal lists the policies, and whoever may not come in is not told
 * them. Tokens are compared in constant time, all of them.
 */

static bool is_loopback_address(weir_span address)
{
    struct wr_host host;
    return wr_host_parse(address, &host) && wr_host_is_loopback(host.name);
}

bool wr_door_is_loopback(const char *listen)
{
    return is_loopback_address(wr_span_of(listen));
}

static bool is_allowed_host(const struct wr_config *config, weir_span address)
{
    struct wr_host host, allowed;

    if (!wr_host_parse(address, &host))
        return false;
    for (size_t i = 0; i < config->hosts_count; i++)
        if (wr_host_parse(wr_span_of(config->hosts[i]), &allowed) &&
            wr_host_is_same(host.name, allowed.name))
            return true;
    return false;
}

/* ---- pages of browsers ---- */

static bool is_allowed_origin(const struct wr_config *config, weir_span origin)
{
    for (size_t i = 0; i < config->origins_count; i++) {
        weir_span allowed = wr_span_of(config->origins[i]);
        bool is_front = wr_span_ends(allowed, WR_LIT("*"));
        size_t bytes = allowed.len - is_front;
        if ((is_front ? origin.len >= bytes : origin.len == bytes) &&
            !strncasecmp(origin.ptr, allowed.ptr, bytes))
            return true;
    }
    return false;
}

/* On loopback a page of this machine, elsewhere one of the very host that it asks. */
static bool is_own_origin(const struct wr_config *config, weir_span origin, weir_span host)
{
    struct wr_host from;
    size_t name_at = wr_span_find(origin, WR_LIT("://"), 0);

    bool is_web =
        wr_span_starts(origin, WR_LIT("http://")) || wr_span_starts(origin, WR_LIT("https://"));

    if (!is_web || !wr_host_of_url(origin, &from))
        return false;
    if (wr_door_is_loopback(config->listen))
        return wr_host_is_loopback(from.name);
    weir_span name = wr_span_cut(origin, name_at + strlen("://"), origin.len);
    return name.len == host.len && !strncasecmp(name.ptr, host.ptr, name.len);
}

/* A browser says whose page asks. Where it says no origin it may still say that the page is another
 * site's; to read one of our pages by following a link does nothing, and is let in. */
static bool is_foreign_page(const struct wr_config *config, const struct wr_head *head)
{
    weir_span origin = wr_head_find(head, "origin");
    bool is_read = wr_span_is(head->method, "GET") || wr_span_is(head->method, "HEAD");

    if (origin.ptr)
        return !is_own_origin(config, origin, wr_head_find(head, "host")) &&
               !is_allowed_origin(config, origin);
    return !is_read && wr_span_is(wr_head_find(head, "sec-fetch-site"), "cross-site");
}

/* ---- tokens ---- */

static bool is_same_token(const char *known, weir_span token)
{
    return known && strlen(known) == token.len && !CRYPTO_memcmp(known, token.ptr, token.len);
}

/* Every token is compared, and each in the same time whatever it holds. */
bool wr_door_is_token(const struct wr_config *config, weir_span token)
{
    bool is_known = false;
    for (size_t i = 0; i < config->tokens_count; i++)
        if (is_same_token(config->tokens[i], token))
            is_known = true;
    return is_known || wr_users_find(&config->users, token);
}

static bool holds_keys(const struct wr_config *config)
{
    for (size_t i = 0; i < config->upstreams_count; i++)
        if (wr_upstream_has_key(&config->upstreams[i]))
            return true;
    return false;
}

/* The token where a provider's key would be; empty: it is not there. */
static weir_span token_as_key(const struct wr_config *config, const struct wr_head *head,
                              weir_span target)
{
    weir_span none = {"", 0}, key = WR_LIT("key=");
    size_t at = wr_span_find(target, WR_LIT("?"), 0);

    for (size_t i = 0; i < head->headers_count; i++)
        if (wr_key_is_credential(&head->headers[i]) &&
            wr_door_is_token(config, wr_key_value(&head->headers[i])))
            return wr_key_value(&head->headers[i]);
    while (at != SIZE_MAX && at < target.len) {
        weir_span rest = wr_span_from(target, at + 1);
        size_t next = wr_span_find(rest, WR_LIT("&"), 0);
        weir_span value = wr_span_cut(rest, 0, next == SIZE_MAX ? rest.len : next);
        if (wr_span_starts(value, key) && wr_door_is_token(config, wr_span_from(value, key.len)))
            return wr_span_from(value, key.len);
        at = next == SIZE_MAX ? next : at + 1 + next;
    }
    return none;
}

static weir_span take_token(weir_span *target)
{
    weir_span none = {"", 0};
    if (!wr_span_starts(*target, WR_LIT("/k/")))
        return none;
    size_t from = strlen("/k/");
    const char *slash = memchr(target->ptr + from, '/', target->len - from);
    if (!slash)
        return none;
    size_t to = (size_t)(slash - target->ptr);
    weir_span token = wr_span_cut(*target, from, to);
    *target = wr_span_cut(*target, to, target->len);
    return token;
}

/* ---- the page ---- */

static bool is_below_weir(weir_span target)
{
    return wr_span_starts(target, WR_LIT("/weir/"));
}

bool wr_door_may_be_ours(weir_span target)
{
    static const char *const fronts[] = {"/weir",   "/mcp",           "/metrics",      "/healthz",
                                         "/readyz", WR_CALL_COMPRESS, WR_CALL_RETRIEVE};

    for (size_t i = 0; i < WR_COUNT_OF(fronts); i++)
        if (wr_span_starts(target, wr_span_of(fronts[i])))
            return true;
    return false;
}

static bool is_page_file(weir_span target)
{
    return wr_door_may_be_ours(target) && wr_page_file_is(wr_target_path(target));
}

static bool is_call(weir_span target)
{
    return wr_door_may_be_ours(target) && wr_call_page_is(target);
}

/* The token in the page's cookie, written into `token` of `bytes_max`; empty: there is none. */
static weir_span cookie_token(const struct wr_head *head, char *token, size_t bytes_max)
{
    weir_span cookie = wr_head_find(head, "cookie"), name = WR_LIT(WR_DOOR_COOKIE "=");
    size_t at = cookie.len ? wr_span_find(cookie, name, 0) : SIZE_MAX, bytes = 0;

    if (at == SIZE_MAX || (at && cookie.ptr[at - 1] != ' ' && cookie.ptr[at - 1] != ';'))
        return (weir_span){"", 0};
    for (at += name.len; at + 1 < cookie.len && bytes < bytes_max; at += 2) {
        int high = wr_hex_value(cookie.ptr[at]), low = wr_hex_value(cookie.ptr[at + 1]);
        if (high < 0 || low < 0)
            break;
        token[bytes++] = (char)(high << 4 | low);
    }
    return (weir_span){token, bytes};
}

/* A page of another site can make a browser send a cookie, but no header of ours. */
static bool may_use_cookie(const struct wr_head *head)
{
    bool is_read = wr_span_is(head->method, "GET") || wr_span_is(head->method, "HEAD");
    return is_read || wr_head_find(head, "x-weir-page").len;
}

/* Only what looks exactly like one is: any other path is the upstream's. */
static void take_run(struct wr_entry *entry)
{
    enum { FRONT_BYTES = sizeof("/r/") - 1 };
    weir_span target = entry->target;

    if (!wr_span_starts(target, WR_LIT("/r/")) || target.len <= FRONT_BYTES + WR_RUN_DIGITS ||
        target.ptr[FRONT_BYTES + WR_RUN_DIGITS] != '/')
        return;
    for (size_t i = 0; i < WR_RUN_DIGITS; i++) {
        char c = target.ptr[FRONT_BYTES + i];
        if (!wr_is_lower_hex(c))
            return;
    }
    memcpy(entry->run, target.ptr + FRONT_BYTES, WR_RUN_DIGITS);
    entry->target = wr_span_cut(target, FRONT_BYTES + WR_RUN_DIGITS, target.len);
}

weir_status wr_door_tenant(weir_span token, char tenant[WR_TENANT_BYTES])
{
    unsigned char digest[WR_SHA256_BYTES];
    int at = snprintf(tenant, WR_TENANT_BYTES, "token-");

    weir_status status = wr_sha256(token, digest);
    for (int i = 0; i < 16 && !status; i++)
        at += snprintf(tenant + at, WR_TENANT_BYTES - (size_t)at, "%02x", digest[i]);
    return status;
}

/* What is wrong with the headers by which a request asks something of Weir; NULL: nothing. A
 * misspelt policy must be refused: otherwise another one would be used and nobody would know. */
static const char *wrong_header(const struct wr_config *config, const struct wr_head *head)
{
    weir_span mode = wr_head_find(head, "x-weir-mode");
    weir_span policy = wr_head_find(head, "x-weir-policy");
    weir_span recall = wr_head_find(head, "x-weir-recall");
    enum wr_recall word;

    if (recall.len && !wr_recall_parse(recall, &word))
        return "x-weir-recall: a request may ask for auto, client, own or off";
    if (mode.len && !wr_span_is(mode, "exact"))
        return "x-weir-mode: a request may ask for `exact` only; weir.yaml sets the other modes";
    return policy.len && !wr_config_has_policy(config, policy) ? config->no_policy : NULL;
}

static struct wr_entry refuse_entry(struct wr_entry entry, int status, const char *why)
{
    entry.status = status;
    entry.why = why;
    return entry;
}

static bool is_metrics(weir_span target)
{
    return wr_span_is(target, "/metrics") || wr_span_starts(target, WR_LIT("/metrics?"));
}

/* Figures of all tenants are the operator's: where there are tokens no user's opens them. What
 * scrapes them can often send no header but Authorization. */
static struct wr_entry enter_metrics(struct wr_entry entry, const struct wr_config *config,
                                     const struct wr_head *head, weir_span token)
{
    static const char scheme[] = "Bearer ";
    weir_span bearer = wr_head_find(head, "authorization");
    size_t bytes = strlen(scheme);

    if (!token.len && bearer.len > bytes && !strncasecmp(bearer.ptr, scheme, bytes))
        token = wr_span_trim(wr_span_cut(bearer, bytes, bearer.len));
    if (!config->metrics_token)
        return refuse_entry(entry, 403,
                            "metrics are the operator's: name a `metrics_token` in weir.yaml");
    if (!is_same_token(config->metrics_token, token))
        return refuse_entry(
            entry, 401, "the `metrics_token` of weir.yaml is needed: as x-weir-token or Bearer");
    return entry;
}

bool wr_door_is_open(const struct wr_config *config, const struct wr_head *head, weir_span target)
{
    static const char *const paths[] = {"/healthz", "/readyz", "/weir/v1/health"};
    bool is_read = wr_span_is(head->method, "GET") || wr_span_is(head->method, "HEAD");
    weir_span path = wr_target_path(target);

    for (size_t i = 0; i < WR_COUNT_OF(paths); i++)
        if (wr_span_is(path, paths[i]))
            return is_read;
    /* Where all paths are one provider's, that is its own root (Ollama's says that it runs). */
    return is_read && wr_span_is(path, "/") && !config->has_one_upstream;
}

static void name_tenant(struct wr_entry *entry, const struct wr_users *users)
{
    bool is_team = users->is_tenant_team && entry->user->team[0];

    (void)snprintf(entry->tenant, sizeof(entry->tenant), "%s-%s", is_team ? "team" : "user",
                   is_team ? entry->user->team : entry->user->name);
}

/* Who brings a token that is needed. */
static struct wr_entry enter_with(struct wr_entry entry, const struct wr_config *config,
                                  weir_span token)
{
    const struct wr_user_token *known = wr_users_find(&config->users, token);

    if (known && !wr_user_token_is_good(known, wr_clock_ms()))
        return refuse_entry(entry, 401,
                            "this access token has expired: whoever runs this Weir makes a new one "
                            "with `weir token new`");
    if (known) {
        entry.user = known->user;
        entry.token = known;
        name_tenant(&entry, &config->users);
        return entry;
    }
    if (!wr_door_is_token(config, token))
        return refuse_entry(
            entry, 401,
            "an access token of weir.yaml (`users` or `tokens`) is needed: x-weir-token, /k/TOKEN/ "
            "in front of the path, or, where Weir holds the key, in the key's place");
    if (wr_door_tenant(token, entry.tenant))
        return refuse_entry(entry, 503, "out of memory");
    return entry;
}

struct wr_entry wr_door_enter(const struct wr_config *config, const struct wr_head *head)
{
    struct wr_entry entry = {.tenant = "local", .target = head->target};
    bool is_loopback = wr_door_is_loopback(config->listen);
    const char *wrong = wrong_header(config, head);
    weir_span token = wr_head_find(head, "x-weir-token");
    weir_span in_path = take_token(&entry.target);

    take_run(&entry);
    if (!token.len)
        token = in_path;
    if (!token.len && (holds_keys(config) || is_call(entry.target))) {
        token = token_as_key(config, head, entry.target);
        entry.is_shown_as_key = token.len > 0;
    }
    weir_span host = wr_head_find(head, "host");
    if (is_loopback && !is_loopback_address(host) && !is_allowed_host(config, host))
        return refuse_entry(
            entry, 421,
            "this address is for this machine only: the Host is another's; if it is a "
            "name of this machine, name it in `allow_hosts` of weir.yaml");
    if (is_foreign_page(config, head))
        return refuse_entry(
            entry, 403,
            "a page of another origin may not ask; if it is yours, name its Origin in "
            "`allow_origins` of weir.yaml");
    if (is_metrics(entry.target) && (wr_config_wants_token(config) || config->metrics_token))
        return enter_metrics(entry, config, head, token);
    if (is_page_file(entry.target) || wr_door_is_open(config, head, entry.target))
        return entry;
    char from_cookie[512];
    if (!token.len && is_below_weir(entry.target) && may_use_cookie(head))
        token = cookie_token(head, from_cookie, sizeof(from_cookie));
    if (!is_loopback || wr_config_wants_token(config))
        entry = enter_with(entry, config, token);
    if (entry.status)
        return entry;
    return wrong ? refuse_entry(entry, 400, wrong) : entry;
}

/* ---- which program sent it ---- */

/* A word in a header's value, upper or lower case, at its start or after a byte that is neither
 * letter nor digit. The first row that fits decides, so agents come before the libraries they use.
 */
static const struct {
    const char *header, *word, *agent;
} rows[] = {
    {"originator", "codex", "codex"},
    {"user-agent", "codex", "codex"},
    {"user-agent", "claude-cli/", "claude-code"},
    {"user-agent", "claude-code/", "claude-code"},
    {"user-agent", "opencode/", "opencode"},
    {"user-agent", "geminicli/", "gemini-cli"},
    {"user-agent", "gemini-cli/", "gemini-cli"},
    {"user-agent", "qwencode/", "qwen-code"},
    {"user-agent", "qwen-code/", "qwen-code"},
    {"user-agent", "pi-coding-agent", "pi"},
    {"user-agent", "pi/", "pi"},
    {"originator", "pi", "pi"},
    {"user-agent", "aider/", "aider"},
    {"x-title", "aider", "aider"},
    {"user-agent", "cline/", "cline"},
    {"x-title", "cline", "cline"},
    {"user-agent", "roocode/", "roo-code"},
    {"x-title", "roo code", "roo-code"},
    {"user-agent", "kilo-code/", "kilo-code"},
    {"x-title", "kilo code", "kilo-code"},
    {"user-agent", "goose/", "goose"},
    {"x-title", "goose", "goose"},
    {"user-agent", "crush/", "crush"},
    {"user-agent", "githubcopilot", "copilot"},
    {"user-agent", "copilot", "copilot"},
    {"user-agent", "openhands", "openhands"},
    {"user-agent", "zed/", "zed"},
    {"user-agent", "mini-swe-agent", "mini-swe-agent"},
    {"user-agent", "deepagents", "deepagents"},
    {"user-agent", "weir/", "weir"},
    {"user-agent", "ai-sdk/", "ai-sdk"},
    {"user-agent", "litellm/", "litellm"},
    {"user-agent", "langchain", "langchain"},
    {"user-agent", "openai/", "openai-sdk"},
    {"user-agent", "asyncopenai/", "openai-sdk"},
    {"user-agent", "anthropic/", "anthropic-sdk"},
    {"user-agent", "asyncanthropic/", "anthropic-sdk"},
    {"user-agent", "google-genai-sdk/", "google-sdk"},
    {"user-agent", "curl/", "curl"},
};

static bool starts_here(weir_span text, size_t at, const char *word)
{
    for (; *word; word++, at++)
        if (at == text.len || wr_lower(text.ptr[at]) != *word)
            return false;
    return true;
}

static bool header_has_word(weir_span text, const char *word)
{
    for (size_t at = 0; at < text.len; at++)
        if ((!at || !wr_is_alnum(text.ptr[at - 1])) && starts_here(text, at, word))
            return true;
    return false;
}

const char *wr_agent_name(const struct wr_head *head)
{
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (header_has_word(wr_head_find(head, rows[i].header), rows[i].word))
            return rows[i].agent;
    if (wr_head_find(head, "x-claude-code-session-id").len)
        return "claude-code";
    return "";
}

/* ==== where a request goes ====
 *
 * Which upstream a request goes to, and at which address.
 *
 * In this order: the name in the path (/p/NAME/, /NAME/), what only one cloud's paths begin with,
 * headers and fronts of the APIs, else the first upstream. Then the credential is asked: what its
 * provider alone may see goes to that provider, or nowhere. The tables are in src/api (clouds.c,
 * and `fronts` of the APIs); here is the order alone.
 */

/* Whether `path` begins with the whole parts of `prefix`. */
static bool is_below(weir_span path, weir_span prefix)
{
    return wr_span_starts(path, prefix) &&
           (path.len == prefix.len || path.ptr[prefix.len] == '/' || path.ptr[prefix.len] == '?');
}

static bool names_upstream(weir_span target)
{
    return wr_span_starts(target, WR_LIT("/p/"));
}

/* Takes "/NAME" off the front of `target`, where an upstream has that name. */
static const struct wr_upstream *take_name(const struct wr_config *config, weir_span *target)
{
    weir_span rest = *target;
    /* Azure's own paths begin with what is the name of OpenAI's upstream too. */
    if (wr_cloud_of_front(rest))
        return NULL;
    if (names_upstream(rest))
        rest = wr_span_cut(rest, strlen("/p"), rest.len);
    const char *slash = rest.len > 1 ? memchr(rest.ptr + 1, '/', rest.len - 1) : NULL;
    if (!slash)
        return NULL;
    size_t end = (size_t)(slash - rest.ptr);
    const struct wr_upstream *upstream = wr_config_find(config, wr_span_cut(rest, 1, end));
    if (upstream)
        *target = wr_span_cut(rest, end, rest.len);
    return upstream;
}

/* Whose version of an API a request names. */
static const char *by_version(const struct wr_head *head)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        const struct wr_api *api = wr_apis[i];
        if (api->version_header && wr_head_find(head, api->version_header).ptr)
            return api->upstreams->name;
    }
    return NULL;
}

static const struct wr_upstream *by_path(const struct wr_config *config, const struct wr_head *head,
                                         weir_span target)
{
    const struct wr_cloud *cloud = wr_cloud_of_front(target);
    const struct wr_upstream *at = cloud ? wr_credential_upstream(cloud->name, config) : NULL;
    const char *own = wr_api_upstream_of(target);

    if (at)
        return at;
    if (is_below(target, WR_LIT("/backend-api")) || wr_head_find(head, "chatgpt-account-id").ptr)
        return wr_config_find(config, WR_LIT("chatgpt"));
    if (!own)
        own = by_version(head);
    return wr_config_find(config, wr_span_of(own ? own : wr_api_upstream_at(0)->name));
}

static bool shares_front(const char *name, weir_span target)
{
    const struct wr_cloud *cloud = wr_cloud_named(wr_span_of(name));

    for (size_t i = 0; i < WR_COUNT_OF(cloud->shared); i++)
        if (cloud->shared[i] && is_below(target, wr_span_of(cloud->shared[i])))
            return true;
    return false;
}

/* If the path names no upstream the credential may decide: the upstream of its provider gets the
 * whole path. If the path names one, only that one is asked. One exception: "/openai/v1" with a key
 * of Azure's is Azure's own path (`shared` of the table of clouds). */
static void obey_credential(struct wr_route *route, const struct wr_config *config,
                            const struct wr_head *head, weir_span target, bool is_named)
{
    struct wr_credential strange;

    if (!wr_credential_find_strange(head, target, route->upstream, &strange))
        return;
    const struct wr_upstream *own = wr_credential_upstream(strange.provider, config);
    bool is_kept_back = !wr_upstream_has_key(route->upstream);
    bool is_shared = shares_front(strange.provider, target);
    /* Where Weir shows a key of its own the client's credential stays here: nobody sees it. */
    if (!is_kept_back && !(is_shared && own))
        return;
    route->upstream = NULL;
    route->credential = strange;
    if (own && (!is_named || is_shared) &&
        (wr_upstream_has_key(own) || !wr_credential_find_strange(head, target, own, &strange))) {
        route->upstream = own;
        route->target = target;
    }
}

struct wr_route wr_route_find(const struct wr_config *config, const struct wr_head *head,
                              weir_span target)
{
    struct wr_route route = {.target = target};

    if (config->has_one_upstream)
        route.upstream = &config->upstreams[0];
    else
        route.upstream = take_name(config, &route.target);
    bool is_named = route.upstream != NULL;
    /* A credential meant for one provider is not for another to see: no guess after /p/. */
    if (!route.upstream && !names_upstream(target))
        route.upstream = by_path(config, head, route.target);
    if (route.upstream)
        obey_credential(&route, config, head, target, is_named);
    /* Codex has one base URL for both logins, and only OpenAI's API has a /v1. */
    if (route.upstream && !strcmp(route.upstream->name, "chatgpt") &&
        is_below(route.target, WR_LIT("/v1")))
        route.target = wr_span_cut(route.target, strlen("/v1"), route.target.len);
    const struct wr_api_path *row = NULL;
    if (wr_span_is(head->method, "POST"))
        route.api = wr_api_by_path(route.target, &row);
    if (!route.api)
        route.answer_id = wr_api_answer_id(route.target);
    route.is_signed = route.upstream && !wr_upstream_has_key(route.upstream) &&
                      wr_credential_is_signed(head, target);
    route.path = row ? row->usual : NULL;
    route.is_answer = row && row->is_answer;
    return route;
}

/* ---- the address ---- */

/* "v1", "v1beta1", ...: where a path has it, it says which version of an API is asked. */
static bool is_version(weir_span part)
{
    if (part.len < 2 || part.ptr[0] != 'v' || part.ptr[1] < '0' || part.ptr[1] > '9')
        return false;
    for (size_t i = 1; i < part.len; i++)
        if (!memchr("0123456789abcdefghijklmnopqrstuvwxyz", part.ptr[i], 36))
            return false;
    return true;
}

/* The base path without a version at its end; all of it where it has none. */
static size_t version_at(weir_span base)
{
    const char *slash = wr_os_last_byte(base.ptr, '/', base.len);
    size_t at = slash ? (size_t)(slash - base.ptr) : base.len;

    return slash && is_version(wr_span_from(base, at + 1)) ? at : base.len;
}

static bool begins_with_version(weir_span target)
{
    size_t end = 1;

    while (end < target.len && !memchr("/?", target.ptr[end], 2))
        end++;
    return target.len > 1 && target.ptr[0] == '/' && is_version(wr_span_cut(target, 1, end));
}

/* How much of the base path stays in front of the target: what both have is written once.
 *
 *   /api/v1      /api/v1/chat      all of it is in the target
 *   /gw/api/v1   /api/v1/chat      its end is, up to a version
 *   /openai/v1   /openai/x         what stands before its version is
 *   /gw/v1       /v1beta1/x        the target says another version
 */
static size_t kept_of_base(weir_span base, weir_span target)
{
    size_t version = version_at(base);

    for (size_t at = 0; at < base.len; at++)
        if (base.ptr[at] == '/' && (!at || version < base.len) &&
            is_below(target, wr_span_from(base, at)))
            return at;
    if (version && version < base.len && is_below(target, wr_span_cut(base, 0, version)))
        return 0;
    return version < base.len && begins_with_version(target) ? version : base.len;
}

void wr_route_url(const struct wr_route *route, struct wr_buf *url)
{
    weir_span target = route->target, base = wr_span_of(route->upstream->path);
    weir_span base_url = wr_span_of(route->upstream->base_url);
    size_t kept = kept_of_base(base, target);

    /* Codex asks ChatGPT for other things than the model at paths beside it: /backend-api/wham/...
     */
    if (is_below(base, WR_LIT("/backend-api")) && is_below(target, WR_LIT("/backend-api")))
        kept = 0;
    wr_buf_append(url, wr_span_cut(base_url, 0, base_url.len - base.len + kept));
    wr_buf_append(url, target);
    wr_buf_byte(url, '\0');
}

/* ==== which session it belongs to ==== */

/* "PREFIX:VALUE"; a value that is too long is hashed. */
static void set_name(struct wr_session_name *name, const char *prefix, weir_span value,
                     weir_span more)
{
    int bytes;
    if (value.len + more.len + strlen(prefix) + 3 < WR_SESSION_NAME_BYTES) {
        bytes = snprintf(name->text, sizeof(name->text), "%s:%.*s%s%.*s", prefix, (int)value.len,
                         value.ptr, more.len ? "/" : "", (int)more.len, more.len ? more.ptr : "");
    } else {
        wr_hash128 hash = wr_hash128_seeded(more, wr_hash128_of(value));
        bytes = snprintf(name->text, sizeof(name->text), "%s:#%016llx%016llx", prefix,
                         (unsigned long long)hash.high, (unsigned long long)hash.low);
    }
    name->len = (size_t)bytes;
}

void wr_identity_from_head(const struct wr_head *head, struct wr_session_name *name)
{
    static const struct {
        const char *header, *prefix, *more;
    } headers[] = {
        {"thread-id", "codex", NULL},
        {"conversation_id", "codex", NULL},
        {"session-id", "codex", NULL},
        {"session_id", "codex", NULL},
        {"x-claude-code-session-id", "claude", "x-claude-code-agent-id"},
        {"x-weir-session", "weir", NULL},
    };

    name->len = 0;
    for (size_t i = 0; i < WR_COUNT_OF(headers); i++) {
        weir_span value = wr_head_find(head, headers[i].header);
        weir_span more = {"", 0};
        if (!value.len)
            continue;
        if (headers[i].more && wr_head_find(head, headers[i].more).len)
            more = wr_head_find(head, headers[i].more);
        set_name(name, headers[i].prefix, value, more);
        return;
    }
}

/* ---- from the body ---- */

enum { KEY, METADATA, FIELDS_COUNT };

static void name_by_hash(const struct wr_json *doc, weir_span run, struct wr_session_name *name)
{
    wr_hash128 hash = wr_api_hash_beginning(doc);
    char text[40];

    int bytes = snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)hash.high,
                         (unsigned long long)hash.low);
    set_name(name, "hash", (weir_span){text, (size_t)bytes}, run);
}

/* Claude Code writes "user_X_account_Y_session_UUID", or JSON with a session_id in it. */
static bool name_by_user(const struct wr_json *doc, wr_json_id metadata, struct wr_arena *arena,
                         struct wr_session_name *name)
{
    wr_json_id id = wr_json_find(doc, metadata, "user_id");
    if (!wr_json_is(doc, id, WR_JSON_STRING))
        return false;
    weir_span text = wr_json_text(doc, arena, id);
    size_t at = text.ptr ? wr_span_find(text, WR_LIT("_session_"), 0) : SIZE_MAX;
    if (at != SIZE_MAX) {
        set_name(name, "claude", wr_span_cut(text, at + strlen("_session_"), text.len),
                 (weir_span){"", 0});
        return true;
    }
    struct wr_json inner;
    if (!text.ptr || wr_json_parse(&inner, arena, text, NULL, NULL))
        return false;
    wr_json_id session = wr_json_find(&inner, 0, "session_id");
    if (!wr_json_is(&inner, session, WR_JSON_STRING))
        return false;
    set_name(name, "claude", wr_json_inner(&inner, session), (weir_span){"", 0});
    return true;
}

void wr_identity_from_body(const struct wr_json *body, struct wr_arena *arena, weir_span before,
                           weir_span run, struct wr_session_name *name)
{
    static const char *const names[FIELDS_COUNT] = {"prompt_cache_key", "metadata"};
    wr_json_id fields[FIELDS_COUNT];

    (void)wr_json_pick(body, 0, names, FIELDS_COUNT, fields);
    if (wr_json_is(body, fields[KEY], WR_JSON_STRING) && wr_json_inner(body, fields[KEY]).len)
        set_name(name, "key", wr_json_inner(body, fields[KEY]), (weir_span){"", 0});
    else if (name_by_user(body, fields[METADATA], arena, name))
        return;
    else if (before.len && before.len < WR_SESSION_NAME_BYTES)
        name->len =
            (size_t)snprintf(name->text, sizeof(name->text), "%.*s", (int)before.len, before.ptr);
    else
        name_by_hash(body, run, name);
}
