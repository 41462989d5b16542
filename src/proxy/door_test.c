#include "proxy/call_page.h"
#include "proxy/door.h"
#include "proxy/mcp_page.h"
#include "proxy/pages.h"
#include "proxy/sidecar.h"
#include "proxy/steer_page.h"
#include "proxy/traffic_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const char first[] = "token-of-the-first", second[] = "token-of-the-second";

static struct wr_entry enter(const char *listen, size_t tokens, const char *host, const char *token,
                             const char *target)
{
    struct wr_config *config = wr_config_new();
    struct wr_head head = {.target = wr_span_of(target)};
    config->listen = listen;
    config->tokens[0] = first;
    config->tokens[1] = second;
    config->tokens_count = tokens;
    config->names_people = tokens > 0;
    config->hosts[config->hosts_count++] = "host.docker.internal";
    config->hosts[config->hosts_count++] = "[fd00::1]";
    if (host)
        head.headers[head.headers_count++] = (struct wr_header){WR_LIT("Host"), wr_span_of(host)};
    if (token)
        head.headers[head.headers_count++] =
            (struct wr_header){WR_LIT("X-Weir-Token"), wr_span_of(token)};
    struct wr_entry entry = wr_door_enter(config, &head);
    wr_config_free(config);
    return entry;
}

static void only_who_may_comes_in(void **state)
{
    static const struct {
        const char *behaviour, *listen;
        size_t tokens;
        const char *host, *token, *target;
        int status;
    } cases[] = {
        {"loopback by number", "127.0.0.1:1", 0, "127.0.0.1:1", NULL, "/", 0},
        {"loopback by name", "127.0.0.1:1", 0, "LocalHost", NULL, "/", 0},
        {"loopback of IPv6", "[::1]:1", 0, "[::1]:1", NULL, "/", 0},
        {"another number of loopback", "127.0.0.1:1", 0, "127.1.2.3:9", NULL, "/", 0},
        {"a name below localhost", "127.0.0.1:1", 0, "weir.localhost:1", NULL, "/", 0},
        {"a dot behind it", "127.0.0.1:1", 0, "localhost.:1", NULL, "/", 0},
        {"loopback of IPv4 in IPv6", "[::1]:1", 0, "[::ffff:127.0.0.1]:1", NULL, "/", 0},
        {"another address in IPv6", "[::1]:1", 0, "[::ffff:8.8.8.8]:1", NULL, "/", 421},
        {"a name that is allowed", "127.0.0.1:1", 0, "Host.docker.internal:1", NULL, "/", 0},
        {"with a dot", "127.0.0.1:1", 0, "host.docker.internal.", NULL, "/", 0},
        {"an address that is allowed", "127.0.0.1:1", 0, "[fd00::1]:1", NULL, "/", 0},
        {"a name below it is another", "127.0.0.1:1", 0, "x.host.docker.internal", NULL, "/", 421},
        {"so is a longer one", "127.0.0.1:1", 0, "host.docker.internal.evil", NULL, "/", 421},
        {"allowed, with a port that is none", "127.0.0.1:1", 0, "host.docker.internal:x", NULL, "/",
         421},
        {"allowed, and without its token", "127.0.0.1:1", 2, "host.docker.internal", NULL, "/",
         401},
        {"a foreign name", "127.0.0.1:1", 0, "evil.example:1", NULL, "/", 421},
        {"a name that begins like loopback", "127.0.0.1:1", 0, "127.0.0.1.evil.example", NULL, "/",
         421},
        {"no name", "127.0.0.1:1", 0, NULL, NULL, "/", 421},
        {"a name behind an address", "127.0.0.1:1", 0, "[::1].evil.example", NULL, "/", 421},
        {"a name behind a port", "127.0.0.1:1", 0, "127.0.0.1:1:evil", NULL, "/", 421},
        {"a port that is none", "127.0.0.1:1", 0, "127.0.0.1:evil", NULL, "/", 421},
        {"a user in front", "127.0.0.1:1", 0, "evil@127.0.0.1", NULL, "/", 421},
        {"a number that is no address", "127.0.0.1:1", 0, "127.0.0.1.1", NULL, "/", 421},
        {"a token that is needed", "0.0.0.0:1", 2, "any", NULL, "/", 401},
        {"a token that is wrong", "0.0.0.0:1", 2, "any", "token-of-the-thirdx", "/", 401},
        {"more than a token", "0.0.0.0:1", 2, "any", "token-of-the-firstx", "/", 401},
        {"a front of a token", "0.0.0.0:1", 2, "any", "token-of-the", "/", 401},
        {"a token in a header", "0.0.0.0:1", 2, "any", "token-of-the-second", "/", 0},
        {"a token in the path", "0.0.0.0:1", 2, "any", NULL, "/k/token-of-the-first/v1/x", 0},
        {"a path without an end", "0.0.0.0:1", 2, "any", NULL, "/k/token-of-the-first", 401},
        {"tokens on loopback", "127.0.0.1:1", 2, "localhost", NULL, "/", 401},
        {"no tokens at all elsewhere", "0.0.0.0:1", 0, "any", "", "/", 401},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_entry entry =
            enter(cases[i].listen, cases[i].tokens, cases[i].host, cases[i].token, cases[i].target);
        if (entry.status != cases[i].status)
            fail_msg("%s: %d", cases[i].behaviour, entry.status);
    }
}

static void pages_of_others_may_not_ask(void **state)
{
    static const struct {
        const char *behaviour, *listen, *method, *origin, *site, *host;
        int status;
    } cases[] = {
        {"no browser", "127.0.0.1:1", "POST", NULL, NULL, "localhost:1", 0},
        {"a page of this machine", "127.0.0.1:1", "POST", "http://localhost:3000", "same-site",
         "localhost:1", 0},
        {"by number", "127.0.0.1:1", "POST", "https://127.0.0.1", NULL, "localhost:1", 0},
        {"of IPv6", "[::1]:1", "POST", "http://[::1]:8080", NULL, "[::1]:1", 0},
        {"by another name of it", "127.0.0.1:1", "POST", "http://localhost:3000", "cross-site",
         "127.0.0.1:1", 0},
        {"another page", "127.0.0.1:1", "POST", "https://evil.example", NULL, "localhost:1", 403},
        {"whatever its method", "127.0.0.1:1", "OPTIONS", "https://evil.example", NULL,
         "localhost:1", 403},
        {"reading too", "127.0.0.1:1", "GET", "https://evil.example", NULL, "localhost:1", 403},
        {"another site, no origin", "127.0.0.1:1", "POST", NULL, "cross-site", "localhost:1", 403},
        {"a link that was followed", "127.0.0.1:1", "GET", NULL, "cross-site", "localhost:1", 0},
        {"an address that was typed", "127.0.0.1:1", "GET", NULL, "none", "localhost:1", 0},
        {"a name that begins alike", "127.0.0.1:1", "POST", "http://localhost.evil.example", NULL,
         "localhost:1", 403},
        {"a name below localhost", "127.0.0.1:1", "POST", "http://app.localhost:3000", NULL,
         "localhost:1", 0},
        {"a host that may be asked is no page", "127.0.0.1:1", "POST",
         "http://host.docker.internal", NULL, "host.docker.internal", 403},
        {"a name that ends alike", "127.0.0.1:1", "POST", "http://evil-localhost", NULL,
         "localhost:1", 403},
        {"a name behind an address", "127.0.0.1:1", "POST", "http://[::1].evil.example", NULL,
         "localhost:1", 403},
        {"a page without an origin", "127.0.0.1:1", "POST", "null", NULL, "localhost:1", 403},
        {"an empty one", "127.0.0.1:1", "POST", "", NULL, "localhost:1", 403},
        {"an editor's", "127.0.0.1:1", "POST", "vscode-webview://0a1b", "cross-site", "localhost:1",
         0},
        {"another editor's", "127.0.0.1:1", "POST", "other-webview://0a1b", NULL, "localhost:1",
         403},
        {"one that is named", "127.0.0.1:1", "POST", "https://App.example", NULL, "localhost:1", 0},
        {"more than is named", "127.0.0.1:1", "POST", "https://app.example.evil", NULL,
         "localhost:1", 403},
        {"elsewhere: its own", "0.0.0.0:1", "POST", "https://weir.example:1", NULL,
         "Weir.example:1", 0},
        {"elsewhere: another port", "0.0.0.0:1", "POST", "https://weir.example:2", NULL,
         "weir.example:1", 403},
        {"elsewhere: this machine's", "0.0.0.0:1", "POST", "http://localhost", NULL,
         "weir.example:1", 403},
        {"elsewhere: one that is named", "0.0.0.0:1", "POST", "https://app.example", NULL,
         "weir.example:1", 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_head head = {.method = wr_span_of(cases[i].method), .target = WR_LIT("/v1/x")};
        const struct {
            const char *name, *value;
        } headers[] = {{"Host", cases[i].host},
                       {"Origin", cases[i].origin},
                       {"Sec-Fetch-Site", cases[i].site},
                       {"x-weir-token", first}};
        config->listen = cases[i].listen;
        if (!wr_door_is_loopback(cases[i].listen))
            config->tokens[config->tokens_count++] = first;
        config->origins[config->origins_count++] = "vscode-webview://*";
        config->origins[config->origins_count++] = "https://app.example";
        config->hosts[config->hosts_count++] = "host.docker.internal";
        for (size_t n = 0; n < WR_COUNT_OF(headers); n++)
            if (headers[n].value)
                head.headers[head.headers_count++] =
                    (struct wr_header){wr_span_of(headers[n].name), wr_span_of(headers[n].value)};
        struct wr_entry entry = wr_door_enter(config, &head);
        if (entry.status != cases[i].status)
            fail_msg("%s: %d", cases[i].behaviour, entry.status);
        wr_config_free(config);
    }
}

static void metrics_are_the_operators(void **state)
{
    static const char operators[] = "token-of-the-operator";
    static const struct {
        const char *behaviour;
        size_t tokens;
        bool has_own;
        const char *header, *value, *target;
        int status;
    } cases[] = {
        {"without tokens they are open", 0, false, NULL, NULL, "/metrics", 0},
        {"a token of their own closes them", 0, true, NULL, NULL, "/metrics", 401},
        {"a user's token does not open them", 2, true, "x-weir-token", first, "/metrics", 401},
        {"nor in the path", 2, true, NULL, NULL, "/k/token-of-the-first/metrics", 401},
        {"nor as a Bearer", 2, true, "Authorization", "Bearer token-of-the-first", "/metrics?x=1",
         401},
        {"nor where they have none", 2, false, "x-weir-token", first, "/metrics", 403},
        {"the operator's does", 2, true, "x-weir-token", operators, "/metrics", 0},
        {"in the path", 2, true, NULL, NULL, "/k/token-of-the-operator/metrics", 0},
        {"as a Bearer", 2, true, "Authorization", "bearer token-of-the-operator", "/metrics", 0},
        {"which opens nothing else", 2, true, "x-weir-token", operators, "/v1/models", 401},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_head head = {.method = WR_LIT("GET"), .target = wr_span_of(cases[i].target)};
        config->tokens[0] = first;
        config->tokens[1] = second;
        config->tokens_count = cases[i].tokens;
        config->names_people = cases[i].tokens > 0;
        config->metrics_token = cases[i].has_own ? operators : NULL;
        head.headers[head.headers_count++] =
            (struct wr_header){WR_LIT("Host"), WR_LIT("localhost")};
        if (cases[i].header)
            head.headers[head.headers_count++] =
                (struct wr_header){wr_span_of(cases[i].header), wr_span_of(cases[i].value)};
        struct wr_entry entry = wr_door_enter(config, &head);
        if (entry.status != cases[i].status)
            fail_msg("%s: %d", cases[i].behaviour, entry.status);
        wr_config_free(config);
    }
}

static void a_token_is_a_tenant(void **state)
{
    (void)state;
    struct wr_entry a = enter("0.0.0.0:1", 2, "h", first, "/x");
    struct wr_entry b = enter("0.0.0.0:1", 2, "h", second, "/x");
    struct wr_entry c = enter("0.0.0.0:1", 2, "h", NULL, "/k/token-of-the-first/x");
    assert_string_not_equal(a.tenant, b.tenant);
    assert_string_equal(a.tenant, c.tenant);
    assert_null(strstr(a.tenant, first));
    assert_true(wr_span_is(c.target, "/x"));
    assert_string_equal(enter("127.0.0.1:1", 0, "localhost", NULL, "/x").tenant, "local");
}

static void a_run_is_told_by_its_path(void **state)
{
    static const struct {
        const char *behaviour, *target, *run, *rest;
    } cases[] = {
        {"a run", "/r/0123456789abcdef/v1/x", "0123456789abcdef", "/v1/x"},
        {"a run behind a token", "/k/token-of-the-first/r/0123456789abcdef/v1/x",
         "0123456789abcdef", "/v1/x"},
        {"a path of the upstream", "/r/subreddit/x", "", "/r/subreddit/x"},
        {"too short", "/r/0123456789abcde/x", "", "/r/0123456789abcde/x"},
        {"too long", "/r/0123456789abcdef0/x", "", "/r/0123456789abcdef0/x"},
        {"no digit", "/r/0123456789abcdeF/x", "", "/r/0123456789abcdeF/x"},
        {"nothing behind it", "/r/0123456789abcdef", "", "/r/0123456789abcdef"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_entry entry = enter("0.0.0.0:1", 2, "h", first, cases[i].target);
        if (entry.status || strcmp(entry.run, cases[i].run) ||
            !wr_span_is(entry.target, cases[i].rest))
            fail_msg("%s: '%s' '%.*s'", cases[i].behaviour, entry.run, (int)entry.target.len,
                     entry.target.ptr);
    }
}

static void a_token_may_stand_in_the_keys_place(void **state)
{
    static const struct {
        const char *behaviour, *header, *value, *target;
        bool has_key;
        int status;
    } cases[] = {
        {"as Bearer", "Authorization", "Bearer token-of-the-first", "/v1/x", true, 0},
        {"as Anthropic's", "x-api-key", "token-of-the-first", "/v1/x", true, 0},
        {"as Azure's", "api-key", "token-of-the-first", "/v1/x", true, 0},
        {"as Google's", "x-goog-api-key", "token-of-the-first", "/v1/x", true, 0},
        {"as Google's parameter", "x", "y", "/v1/x?alt=sse&key=token-of-the-first", true, 0},
        {"as the first parameter", "x", "y", "/v1/x?key=token-of-the-first", true, 0},
        {"between others", "x", "y", "/v1/x?a&key=token-of-the-first&b=c", true, 0},
        {"another's parameter", "x", "y", "/v1/x?key=token-of-the-thirdx", true, 401},
        {"another's before it", "x", "y", "/v1/x?key=k&key=token-of-the-first", true, 0},
        {"a parameter that ends alike", "x", "y", "/v1/x?xey=token-of-the-first", true, 401},
        {"an end without one", "x", "y", "/v1/x?key=", true, 401},
        {"where the library is called", "x-api-key", "token-of-the-first", "/weir/v1/count", false,
         0},
        {"another's key", "x-api-key", "token-of-the-thirdx", "/v1/x", true, 401},
        {"in another header", "x-key", "token-of-the-first", "/v1/x", true, 401},
        {"another parameter", "x", "y", "/v1/x?monkey=token-of-the-first", true, 401},
        {"where Weir holds no key", "x-api-key", "token-of-the-first", "/v1/x", false, 401},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_head head = {.target = wr_span_of(cases[i].target), .headers_count = 2};
        config->listen = "0.0.0.0:1";
        config->tokens[config->tokens_count++] = first;
        config->upstreams[0].key = cases[i].has_key ? "k" : NULL;
        head.headers[0] = (struct wr_header){WR_LIT("Host"), WR_LIT("h")};
        head.headers[1] =
            (struct wr_header){wr_span_of(cases[i].header), wr_span_of(cases[i].value)};
        struct wr_entry entry = wr_door_enter(config, &head);
        if (entry.status != cases[i].status || entry.is_shown_as_key != !cases[i].status)
            fail_msg("%s: %d", cases[i].behaviour, entry.status);
        wr_config_free(config);
    }
}

static void the_page_brings_its_token_in_a_cookie(void **state)
{
#define HEX "746f6b656e2d6f662d7468652d6669727374" /* token-of-the-first */
    static const struct {
        const char *behaviour, *method, *target, *cookie, *page;
        int status;
    } cases[] = {
        {"it reads", "GET", "/weir/v1/traffic", "weir_token=" HEX, NULL, 0},
        {"a head too", "HEAD", "/weir/v1/traffic", "weir_token=" HEX, NULL, 0},
        {"in capitals", "GET", "/weir/v1/traffic",
         "weir_token=746F6B656E2D6F662D7468652D6669727374", NULL, 0},
        {"behind others", "GET", "/weir/v1/traffic", "a=b; weir_token=" HEX "; c=d", NULL, 0},
        {"without a blank", "GET", "/weir/v1/traffic", "a=b;weir_token=" HEX ";c=d", NULL, 0},
        {"it writes by a header of its own", "POST", "/weir/v1/pin", "weir_token=" HEX, "1", 0},
        {"which a page of others cannot send", "POST", "/weir/v1/pin", "weir_token=" HEX, NULL,
         401},
        {"an empty one is none", "POST", "/weir/v1/pin", "weir_token=" HEX, "", 401},
        {"not beyond the page", "GET", "/v1/models", "weir_token=" HEX, "1", 401},
        {"a cookie that ends alike", "GET", "/weir/v1/traffic", "not_weir_token=" HEX, "1", 401},
        {"another's token", "GET", "/weir/v1/traffic", "weir_token=" HEX "00", NULL, 401},
        {"a front of it", "GET", "/weir/v1/traffic", "weir_token=746f6b", NULL, 401},
        {"half a digit more", "GET", "/weir/v1/traffic", "weir_token=" HEX "7", NULL, 0},
        {"no digits", "GET", "/weir/v1/traffic", "weir_token=token-of-the-first", NULL, 401},
        {"its second digit is none", "GET", "/weir/v1/traffic", "weir_token=7x", NULL, 401},
        {"nothing", "GET", "/weir/v1/traffic", "weir_token=", NULL, 401},
        {"no cookie of ours", "GET", "/weir/v1/traffic", "a=b", NULL, 401},
        {"the page itself is open", "GET", "/weir/", "a=b", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_head head = {.method = wr_span_of(cases[i].method),
                               .target = wr_span_of(cases[i].target),
                               .headers_count = 2};
        config->tokens[config->tokens_count++] = first;
        config->names_people = true;
        head.headers[0] = (struct wr_header){WR_LIT("Host"), WR_LIT("localhost")};
        head.headers[1] = (struct wr_header){WR_LIT("Cookie"), wr_span_of(cases[i].cookie)};
        if (cases[i].page)
            head.headers[head.headers_count++] =
                (struct wr_header){WR_LIT("x-weir-page"), wr_span_of(cases[i].page)};
        struct wr_entry entry = wr_door_enter(config, &head);
        if (entry.status != cases[i].status || entry.is_shown_as_key)
            fail_msg("%s: %d", cases[i].behaviour, entry.status);
        wr_config_free(config);
    }
#undef HEX
}

static void a_user_is_a_tenant_or_the_team_is(void **state)
{
    static const char users[] =
        "users: {anna: {team: search, tokens: [{sha256: "
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}]}, "
        "bert: {tokens: [{sha256: "
        "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752, expires: 2020-01-01}]}, "
        "carl: {tokens: [{sha256: "
        "fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13, expires: "
        "2999-01-01}]}}\n";
    static const struct {
        const char *behaviour, *yaml, *token;
        int status;
        const char *tenant, *name; /* NULL: nobody with a name */
    } cases[] = {
        {"each to himself", "", "test", 0, "user-anna", "anna"},
        {"teams share", "tenant_by: team\n", "test", 0, "team-search", "anna"},
        {"who has none does not", "tenant_by: team\n", "test3", 0, "user-carl", "carl"},
        {"an old token", "", "test2", 401, "local", NULL},
        {"one that nobody has", "", "test4", 401, "local", NULL},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_head head = {.target = WR_LIT("/v1/x"), .headers_count = 2};
        struct wr_buf yaml;
        struct weir_err err;
        wr_buf_init(&yaml, 4096);
        wr_buf_printf(&yaml, "%s%s", users, cases[i].yaml);
        if (wr_config_read(config, wr_buf_view(&yaml), &err))
            fail_msg("%s", err.text);
        head.headers[0] = (struct wr_header){WR_LIT("Host"), WR_LIT("localhost")};
        head.headers[1] = (struct wr_header){WR_LIT("x-weir-token"), wr_span_of(cases[i].token)};
        struct wr_entry entry = wr_door_enter(config, &head);
        if (entry.status != cases[i].status || strcmp(entry.tenant, cases[i].tenant) ||
            (entry.user == NULL) != (cases[i].name == NULL) ||
            (entry.user && strcmp(entry.user->name, cases[i].name)) ||
            (entry.token == NULL) != (entry.user == NULL))
            fail_msg("%s: %d %s", cases[i].behaviour, entry.status, entry.tenant);
        assert_int_equal(strcmp(cases[i].token, "test2") == 0,
                         entry.status && strstr(entry.why, "has expired") != NULL);
        assert_true(wr_door_is_token(config, WR_LIT("test2")));
        assert_false(wr_door_is_token(config, WR_LIT("test4")));
        wr_buf_release(&yaml);
        wr_config_free(config);
    }
}

static void what_is_asked_of_weir_must_be_there(void **state)
{
    static const struct {
        const char *header, *value;
        int status;
    } cases[] = {
        {"x-weir-mode", "exact", 0},     {"x-weir-mode", "off", 400},
        {"x-weir-mode", "", 0},          {"x-weir-recall", "own", 0},
        {"x-weir-recall", "owns", 400},  {"x-weir-recall", "", 0},
        {"x-weir-policy", "smart", 0},   {"x-weir-policy", "smarter", 400},
        {"x-weir-polity", "smarter", 0},
    };
    struct wr_policies *policies;
    (void)state;
    assert_int_equal(wr_policies_new_presets(&policies, (weir_span){"", 0}, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_head head = {.target = WR_LIT("/v1/x"), .headers_count = 2};
        assert_int_equal(wr_config_set_policies(config, policies, NULL), WEIR_OK);
        head.headers[0] = (struct wr_header){WR_LIT("Host"), WR_LIT("localhost")};
        head.headers[1] =
            (struct wr_header){wr_span_of(cases[i].header), wr_span_of(cases[i].value)};
        struct wr_entry entry = wr_door_enter(config, &head);
        if (entry.status != cases[i].status ||
            (entry.status && strncmp(entry.why, cases[i].header, strlen(cases[i].header)) != 0))
            fail_msg("%s: %s: %d", cases[i].header, cases[i].value, entry.status);
        wr_config_free(config);
    }
    wr_policies_free(policies);
}

static void what_tells_of_the_server_is_open(void **state)
{
    static const struct {
        const char *method, *target;
        bool is_open, is_open_to_one;
    } cases[] = {
        {"GET", "/healthz", true, true},
        {"HEAD", "/readyz?x=1", true, true},
        {"GET", "/weir/v1/health", true, true},
        {"POST", "/healthz", false, false},
        {"GET", "/healthzz", false, false},
        {"GET", "/weir/v1/traffic", false, false},
        {"GET", "/", true, false},
        {"HEAD", "/?x", true, false},
        {"POST", "/", false, false},
        {"GET", "/v1", false, false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        for (int has_one = 0; has_one < 2; has_one++) {
            struct wr_config *config = wr_config_new();
            struct wr_head head = {.method = wr_span_of(cases[i].method),
                                   .target = wr_span_of(cases[i].target),
                                   .headers_count = 1};
            bool is_open = has_one ? cases[i].is_open_to_one : cases[i].is_open;
            head.headers[0] = (struct wr_header){WR_LIT("Host"), WR_LIT("localhost")};
            config->has_one_upstream = has_one;
            config->tokens[config->tokens_count++] = first;
            config->names_people = true;
            if (wr_door_is_open(config, &head, head.target) != is_open ||
                wr_door_enter(config, &head).status != (is_open ? 0 : 401))
                fail_msg("%s %s", cases[i].method, cases[i].target);
            wr_config_free(config);
        }
}

/* Whatever a page takes for its own must begin as one of ours, or it would go to a provider. */
static void every_page_begins_as_one_of_ours(void **state)
{
    static const struct {
        const char *target;
        bool is_page, is_ours;
    } cases[] = {
        {"/weir", true, true},
        {"/weir?x", true, true},
        {"/weir/", true, true},
        {"/weir/charts.js", true, true},
        {"/weir/v1/sessions", true, true},
        {"/weir/v1/login", true, true},
        {"/weir/v1/plan", true, true},
        {"/weir/v1/project?x=1", true, true},
        {"/v1/compress", true, true},
        {"/v1/retrieve/abc", true, true},
        {"/mcp", true, true},
        {"/mcp?x", true, true},
        {"/metrics", true, true},
        {"/healthz", true, true},
        {"/readyz", true, true},
        {"/weirdo", false, true},
        {"/v1/chat/completions", false, false},
        {"/v1/messages", false, false},
        {"/", false, false},
        {"", false, false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span target = wr_span_of(cases[i].target);
        bool is_page = wr_sidecar_page_is(target) || wr_traffic_page_is(target) ||
                       wr_steer_page_is(target) || wr_call_page_is(target) ||
                       wr_mcp_page_is(target) || wr_page_is_ours(target);
        if (is_page != cases[i].is_page || wr_door_may_be_ours(target) != cases[i].is_ours)
            fail_msg("%s", cases[i].target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_token_may_stand_in_the_keys_place),
                                       cmocka_unit_test(only_who_may_comes_in),
                                       cmocka_unit_test(pages_of_others_may_not_ask),
                                       cmocka_unit_test(metrics_are_the_operators),
                                       cmocka_unit_test(a_token_is_a_tenant),
                                       cmocka_unit_test(a_run_is_told_by_its_path),
                                       cmocka_unit_test(the_page_brings_its_token_in_a_cookie),
                                       cmocka_unit_test(a_user_is_a_tenant_or_the_team_is),
                                       cmocka_unit_test(what_is_asked_of_weir_must_be_there),
                                       cmocka_unit_test(what_tells_of_the_server_is_open),
                                       cmocka_unit_test(every_page_begins_as_one_of_ours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
