#include "proxy/door.h"

#include <openssl/crypto.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/span.h"

/* Without its port. */
static weir_span host_of(weir_span host)
{
    if (host.len && host.ptr[0] == '[') {
        const char *end = memchr(host.ptr, ']', host.len);
        return end ? wr_span_cut(host, 0, (size_t)(end - host.ptr) + 1) : host;
    }
    const char *colon = host.len ? memchr(host.ptr, ':', host.len) : NULL;
    return colon ? wr_span_cut(host, 0, (size_t)(colon - host.ptr)) : host;
}

static bool is_loopback_name(weir_span host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == host.len && !strncasecmp(names[i], host.ptr, host.len))
            return true;
    /* All of 127/8 is loopback. */
    bool is_number = wr_span_starts(host, WR_LIT("127."));
    for (size_t i = 0; i < host.len; i++)
        is_number = is_number && (wr_ascii_digit(host.ptr[i]) || host.ptr[i] == '.');
    return is_number;
}

bool wr_door_is_loopback(const char *listen)
{
    return is_loopback_name(host_of(wr_span_of(listen)));
}

/* Every token is compared, and each in the same time whatever it holds. */
static bool is_token(const struct wr_config *config, weir_span token)
{
    bool is_known = false;
    for (size_t i = 0; i < config->tokens_count; i++) {
        weir_span known = wr_span_of(config->tokens[i]);
        if (known.len == token.len && !CRYPTO_memcmp(known.ptr, token.ptr, known.len))
            is_known = true;
    }
    return is_known;
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
        if (!wr_ascii_digit(c) && !(c >= 'a' && c <= 'f'))
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

/* What a request asks of Weir by a header and Weir cannot do is refused: a wrong name would else
 * decide what is sent without anybody knowing. NULL: it can. */
static const char *wrong_header(const struct wr_config *config, const struct wr_head *head)
{
    weir_span mode = wr_head_find(head, "x-weir-mode");
    weir_span policy = wr_head_find(head, "x-weir-policy");

    if (mode.len && !wr_span_is(mode, "exact"))
        return "x-weir-mode: a request may ask for `exact` only; weir.yaml sets the other modes";
    return policy.len && !wr_config_has_policy(config, policy) ? config->no_policy : NULL;
}

static struct wr_entry refuse(struct wr_entry entry, int status, const char *why)
{
    entry.status = status;
    entry.why = why;
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
    if (is_loopback && !is_loopback_name(host_of(wr_head_find(head, "host"))))
        return refuse(entry, 421, "this address is for this machine only: the Host is another's");
    if (is_loopback && !config->tokens_count)
        return wrong ? refuse(entry, 400, wrong) : entry;
    if (!token.len)
        token = in_path;
    if (!is_token(config, token))
        return refuse(entry, 401, "an access token is needed: x-weir-token, or /k/TOKEN/ in front");
    if (wr_door_tenant(token, entry.tenant))
        return refuse(entry, 503, "out of memory");
    return wrong ? refuse(entry, 400, wrong) : entry;
}
