/* users.c -- `users:`, `tenant_by:` and `budgets:` of weir.yaml. */
#include "proxy/users.h"

#include <openssl/crypto.h>

#include "base/ascii.h"
#include "base/calendar.h"
#include "base/err.h"
#include "base/span.h"

/* ==== users and their tokens ====
 *
 * Names are short and of few letters, because they become labels of metrics, parts of headers and
 * names of tenants, none of which shall need escapes. The list is read in two passes, since tokens
 * point to users: first how many there are, then each.
 */

enum { MEMBERS_MAX = 16 };

struct reading {
    struct wr_users *users;
    struct wr_arena *arena;
    struct wr_yaml *yaml;
    struct wr_user *user;        /* that is being read */
    struct wr_user_token *token; /* the same */
    bool has_digest;
};

/* ---- names ---- */

bool wr_user_name_is(weir_span name)
{
    static const char others[] = "._-";

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && (!i || !memchr(others, c, sizeof(others) - 1)))
            return false;
    }
    return name.len > 0 && name.len <= WR_PROXY_USER_NAME_BYTES_MAX;
}

static weir_status read_name(struct reading *r, yaml_node_t *node, const char **field)
{
    weir_span name = wr_yaml_text(node);

    if (!wr_yaml_is_scalar(node) || !wr_user_name_is(name))
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                            "a user or team has a name of up to %d letters, digits, `.`, `_` and "
                            "`-`, a letter or digit first",
                            WR_PROXY_USER_NAME_BYTES_MAX);
    const char *copy = wr_arena_string(r->arena, name);
    if (!copy)
        return WEIR_NOMEM;
    *field = copy;
    return WEIR_OK;
}

/* ---- tokens ---- */

static weir_status read_digest(struct reading *r, yaml_node_t *node)
{
    weir_span hex = wr_yaml_text(node);
    bool ok = hex.len == WR_SHA256_HEX_BYTES;

    for (size_t i = 0; i < WR_SHA256_BYTES && ok; i++) {
        int high = wr_hex_value(hex.ptr[2 * i]), low = wr_hex_value(hex.ptr[2 * i + 1]);
        ok = high >= 0 && low >= 0;
        r->token->digest[i] = (unsigned char)(ok ? high << 4 | low : 0);
    }
    r->has_digest = ok;
    return ok ? WEIR_OK
              : wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                             "the hash of a token is %d hex digits: `weir token new NAME` makes "
                             "one, `weir token hash` that of a token you have",
                             WR_SHA256_HEX_BYTES);
}

static weir_status on_token_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    weir_span name = wr_yaml_text(key);

    if (wr_span_is(name, "sha256"))
        return read_digest(r, value);
    if (wr_span_is(name, "note"))
        return WEIR_OK; /* for who reads the file */
    if (!wr_span_is(name, "expires"))
        return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                            "a token has sha256, expires and note, not '%.*s'", (int)name.len,
                            name.ptr);
    if (wr_date_parse(wr_yaml_text(value), &r->token->expires_ms))
        return WEIR_OK;
    return wr_yaml_fail(r->yaml, value, WEIR_INVALID,
                        "expires is YYYY-MM-DD (the last day) or YYYY-MM-DDTHH:MM:SSZ, in UTC");
}

static weir_status read_token(struct reading *r, yaml_node_t *node)
{
    struct wr_users *users = r->users;

    r->token = &users->tokens[users->tokens_count];
    *r->token = (struct wr_user_token){.user = r->user};
    r->has_digest = false;
    if (wr_yaml_is_scalar(node))
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                            "a token does not stand in weir.yaml: {sha256: HASH} is one, and "
                            "`weir token new NAME` makes it");
    weir_status status = wr_yaml_each(r->yaml, node, MEMBERS_MAX, on_token_member, r);
    if (status)
        return status;
    if (!r->has_digest)
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "a token has a sha256");
    for (size_t i = 0; i < users->tokens_count; i++)
        if (!memcmp(users->tokens[i].digest, r->token->digest, WR_SHA256_BYTES))
            return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "this token is %s's already",
                                users->tokens[i].user->name);
    users->tokens_count++;
    return WEIR_OK;
}

static weir_status read_tokens(struct reading *r, yaml_node_t *list)
{
    weir_status status = WEIR_OK;

    if (list->type != YAML_SEQUENCE_NODE)
        return wr_yaml_fail(r->yaml, list, WEIR_INVALID, "a list of tokens is wanted here");
    for (yaml_node_item_t *at = list->data.sequence.items.start;
         at < list->data.sequence.items.top && !status; at++)
        status = read_token(r, yaml_document_get_node(&r->yaml->doc, *at));
    return status;
}

/* ---- users ---- */

static weir_status on_user_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    weir_span name = wr_yaml_text(key);

    if (wr_span_is(name, "team"))
        return read_name(r, value, &r->user->team);
    if (wr_span_is(name, "tokens"))
        return read_tokens(r, value);
    return wr_yaml_fail(r->yaml, key, WEIR_INVALID, "a user has team and tokens, not '%.*s'",
                        (int)name.len, name.ptr);
}

static weir_status on_user(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;

    r->user = &r->users->items[r->users->count++];
    *r->user = (struct wr_user){.team = ""};
    weir_status status = read_name(r, key, &r->user->name);
    return status ? status : wr_yaml_each(r->yaml, value, MEMBERS_MAX, on_user_member, r);
}

/* A configuration lives as long as the process: it has no more room than it needs. */
static weir_status count_tokens(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    const yaml_node_t *list = wr_yaml_find(r->yaml, value, "tokens");

    (void)key;
    r->users->count++;
    if (list && list->type == YAML_SEQUENCE_NODE)
        r->users->tokens_count +=
            (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
    return r->users->tokens_count <= WR_PROXY_USER_TOKENS_MAX
               ? WEIR_OK
               : wr_yaml_fail(r->yaml, value, WEIR_LIMIT,
                              "users have %d tokens at most, all together",
                              WR_PROXY_USER_TOKENS_MAX);
}

weir_status wr_users_read(struct wr_users *users, struct wr_arena *arena, struct wr_yaml *yaml,
                          yaml_node_t *value)
{
    struct reading r = {.users = users, .arena = arena, .yaml = yaml};

    users->count = users->tokens_count = 0;
    weir_status status = wr_yaml_each(yaml, value, WR_PROXY_USERS_MAX, count_tokens, &r);
    if (status)
        return status;
    users->items = WR_ARENA_ARRAY(arena, struct wr_user, users->count + 1);
    users->tokens = WR_ARENA_ARRAY(arena, struct wr_user_token, users->tokens_count + 1);
    users->count = users->tokens_count = 0;
    if (!users->items || !users->tokens)
        return WEIR_NOMEM;
    return wr_yaml_each(yaml, value, WR_PROXY_USERS_MAX, on_user, &r);
}

weir_status wr_users_read_tenant(struct wr_users *users, struct wr_yaml *yaml, yaml_node_t *value)
{
    users->is_tenant_team = wr_span_is(wr_yaml_text(value), "team");
    if (users->is_tenant_team || wr_span_is(wr_yaml_text(value), "user"))
        return WEIR_OK;
    return wr_yaml_fail(yaml, value, WEIR_INVALID,
                        "tenant_by is user (each keeps to himself) or team (sessions are shared)");
}

/* ---- asking ---- */

const struct wr_user_token *wr_users_find(const struct wr_users *users, weir_span token)
{
    const struct wr_user_token *found = NULL;
    unsigned char digest[WR_SHA256_BYTES];

    if (!users->tokens_count || !token.len || wr_sha256(token, digest))
        return NULL;
    for (size_t i = 0; i < users->tokens_count; i++)
        if (!CRYPTO_memcmp(users->tokens[i].digest, digest, sizeof(digest)))
            found = &users->tokens[i];
    return found;
}

const struct wr_user *wr_users_named(const struct wr_users *users, weir_span name)
{
    for (size_t i = 0; i < users->count; i++)
        if (wr_span_is(name, users->items[i].name))
            return &users->items[i];
    return NULL;
}

bool wr_users_has_team(const struct wr_users *users, weir_span team)
{
    for (size_t i = 0; i < users->count; i++)
        if (wr_span_is(team, users->items[i].team))
            return true;
    return false;
}

weir_status wr_user_token_hash(weir_span token, char hex[WR_SHA256_HEX_BYTES + 1])
{
    unsigned char digest[WR_SHA256_BYTES];
    weir_status status = wr_sha256(token, digest);

    for (size_t i = 0; i < WR_SHA256_BYTES && !status; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return status;
}

/* ==== what users and teams may use ==== */

struct budget_reading {
    struct wr_budgets *budgets;
    struct wr_arena *arena;
    struct wr_yaml *yaml;
    struct wr_budget *at;
    bool has_period, has_limit;
};

bool wr_money_parse(weir_span text, int64_t *micro_usd)
{
    enum { PLACES = 6 };
    const char *dot = text.len ? memchr(text.ptr, '.', text.len) : NULL;
    size_t whole_bytes = dot ? (size_t)(dot - text.ptr) : text.len;
    weir_span decimals = wr_span_from(text, dot ? whole_bytes + 1 : text.len);
    uint64_t whole, part = 0;

    if (!wr_span_u64(wr_span_cut(text, 0, whole_bytes), &whole) || whole > 1000 * 1000 * 1000)
        return false;
    if (dot && (!decimals.len || decimals.len > PLACES || !wr_span_u64(decimals, &part)))
        return false;
    for (size_t i = decimals.len; i < PLACES; i++)
        part *= 10;
    *micro_usd = (int64_t)(whole * 1000000 + part);
    return true;
}

static weir_status read_budget_name(struct budget_reading *r, yaml_node_t *node, bool is_team)
{
    weir_span name = wr_yaml_text(node);

    if (r->at->name)
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "a budget is for a user or for a team");
    if (!wr_span_is(name, "*") && !wr_user_name_is(name))
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                            "the name of a user or team is wanted here, or \"*\" for each");
    const char *copy = wr_arena_string(r->arena, name);
    if (!copy)
        return WEIR_NOMEM;
    r->at->name = copy;
    r->at->is_team = is_team;
    return WEIR_OK;
}

static weir_status read_period(struct budget_reading *r, yaml_node_t *node)
{
    for (int i = 0; i < WR_SPEND_PERIODS; i++)
        if (wr_span_is(wr_yaml_text(node), wr_spend_period_name((enum wr_spend_period)i))) {
            r->at->period = (enum wr_spend_period)i;
            r->has_period = true;
            return WEIR_OK;
        }
    return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "per is minute, day or month");
}

static weir_status read_limit(struct budget_reading *r, yaml_node_t *node, enum wr_spend_kind kind)
{
    weir_span text = wr_yaml_text(node);
    uint64_t number;

    r->has_limit = true;
    if (kind == WR_SPEND_MONEY)
        return wr_money_parse(text, &r->at->limits[kind])
                   ? WEIR_OK
                   : wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                                  "an amount in USD is wanted here, such as 12.50");
    if (!wr_span_u64(text, &number) || number > INT64_MAX / 4)
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "a number is wanted here");
    r->at->limits[kind] = (int64_t)number;
    return WEIR_OK;
}

static weir_status read_action(struct budget_reading *r, yaml_node_t *node)
{
    r->at->warns = wr_span_is(wr_yaml_text(node), "warn");
    if (r->at->warns || wr_span_is(wr_yaml_text(node), "refuse"))
        return WEIR_OK;
    return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "action is refuse or warn");
}

static weir_status on_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct budget_reading *r = user;
    weir_span name = wr_yaml_text(key);

    if (wr_span_is(name, "user") || wr_span_is(name, "team"))
        return read_budget_name(r, value, wr_span_is(name, "team"));
    if (wr_span_is(name, "per"))
        return read_period(r, value);
    if (wr_span_is(name, "action"))
        return read_action(r, value);
    if (wr_span_is(name, "usd"))
        return read_limit(r, value, WR_SPEND_MONEY);
    if (wr_span_is(name, "tokens"))
        return read_limit(r, value, WR_SPEND_TOKENS);
    if (wr_span_is(name, "requests"))
        return read_limit(r, value, WR_SPEND_REQUESTS);
    return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                        "a budget has user or team, per, usd, tokens, requests and action, not "
                        "'%.*s'",
                        (int)name.len, name.ptr);
}

static weir_status read_budget(struct budget_reading *r, yaml_node_t *node)
{
    r->at = &r->budgets->items[r->budgets->count++];
    *r->at = (struct wr_budget){.line = (uint32_t)node->start_mark.line + 1};
    for (int i = 0; i < WR_SPEND_KINDS; i++)
        r->at->limits[i] = WR_SPEND_NO_LIMIT;
    r->has_period = r->has_limit = false;
    weir_status status = wr_yaml_each(r->yaml, node, MEMBERS_MAX, on_member, r);
    if (!status && (!r->at->name || !r->has_period || !r->has_limit))
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                            "a budget has user or team, per, and one of usd, tokens, requests");
    return status;
}

weir_status wr_budgets_read(struct wr_budgets *budgets, struct wr_arena *arena,
                            struct wr_yaml *yaml, yaml_node_t *value)
{
    struct budget_reading r = {.budgets = budgets, .arena = arena, .yaml = yaml};
    weir_status status = WEIR_OK;

    if (value->type != YAML_SEQUENCE_NODE)
        return wr_yaml_fail(yaml, value, WEIR_INVALID, "a list of budgets is wanted here");
    size_t count = (size_t)(value->data.sequence.items.top - value->data.sequence.items.start);
    if (count > WR_PROXY_BUDGETS_MAX)
        return wr_yaml_fail(yaml, value, WEIR_LIMIT, "%d budgets at most", WR_PROXY_BUDGETS_MAX);
    budgets->items = WR_ARENA_ARRAY(arena, struct wr_budget, count + 1);
    budgets->count = 0;
    if (!budgets->items)
        return WEIR_NOMEM;
    for (size_t i = 0; i < count && !status; i++)
        status = read_budget(
            &r, yaml_document_get_node(&yaml->doc, value->data.sequence.items.start[i]));
    return status;
}

weir_status wr_budgets_read_action(struct wr_budgets *budgets, struct wr_yaml *yaml,
                                   yaml_node_t *value)
{
    budgets->refuses_uncounted = wr_span_is(wr_yaml_text(value), "refuse");
    if (budgets->refuses_uncounted || wr_span_is(wr_yaml_text(value), "pass"))
        return WEIR_OK;
    return wr_yaml_fail(yaml, value, WEIR_INVALID,
                        "budgets_without_store is pass or refuse: what happens to requests while "
                        "the store cannot count them");
}

weir_status wr_budgets_check(const struct wr_budgets *budgets, const struct wr_users *users,
                             struct weir_err *err)
{
    for (size_t i = 0; i < budgets->count; i++) {
        const struct wr_budget *b = &budgets->items[i];
        weir_span name = wr_span_of(b->name);
        bool is_there = wr_span_is(name, "*") || (b->is_team ? wr_users_has_team(users, name)
                                                             : wr_users_named(users, name) != NULL);
        if (!is_there)
            return wr_fail(err, WEIR_INVALID, 0, "line %u, column 1: no %s is called '%s'", b->line,
                           b->is_team ? "team" : "user", b->name);
    }
    return WEIR_OK;
}

bool wr_budgets_limits(const struct wr_budgets *budgets, const struct wr_user *user, bool warns,
                       int64_t limits[WR_SPEND_SCOPES_MAX][WR_SPEND_PERIODS][WR_SPEND_KINDS])
{
    bool has_any = false;

    for (int s = 0; s < WR_SPEND_SCOPES_MAX; s++)
        for (int p = 0; p < WR_SPEND_PERIODS; p++)
            for (int k = 0; k < WR_SPEND_KINDS; k++)
                limits[s][p][k] = WR_SPEND_NO_LIMIT;
    for (size_t i = 0; i < budgets->count; i++) {
        const struct wr_budget *b = &budgets->items[i];
        const char *name = b->is_team ? user->team : user->name;
        if (b->warns != warns || !name[0] || (strcmp(b->name, "*") && strcmp(b->name, name)))
            continue;
        int64_t *limit = limits[b->is_team][b->period];
        for (int k = 0; k < WR_SPEND_KINDS; k++)
            if (b->limits[k] < limit[k])
                limit[k] = b->limits[k];
        has_any = true;
    }
    return has_any;
}
