/* users.h -- the people of a gateway: names, teams, access tokens, budgets (docs/gateway.md). */
#ifndef WR_PROXY_USERS_H
#define WR_PROXY_USERS_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "store/spend.h"

/* ==== users and their tokens ====
 *
 * 1. weir.yaml holds no token, only SHA-256 of it: who reads the file cannot ask in another's name.
 *    Tokens are random and long (`weir token new`), so that a plain hash cannot be searched.
 * 2. A user may have several tokens, so that a new one is in use before the old one goes. One that
 *    has expired is still known: it is refused, and it is no credential of a provider's.
 */

struct wr_user {
    const char *name;
    const char *team; /* "": none */
};

struct wr_user_token {
    unsigned char digest[WR_SHA256_BYTES];
    const struct wr_user *user;
    int64_t expires_ms; /* the first moment that it is not good for; 0: there is none */
};

struct wr_users {
    struct wr_user *items; /* in the arena that they were read into */
    size_t count;
    struct wr_user_token *tokens;
    size_t tokens_count;
    bool is_tenant_team; /* `tenant_by: team`; else each user is a tenant */
};

/* Reads `users: {NAME: {team: T, tokens: [{sha256: HEX, expires: DATE}]}}`. */
WEIR_MUST_USE weir_status wr_users_read(struct wr_users *users, struct wr_arena *arena,
                                        struct wr_yaml *yaml, yaml_node_t *value);
/* Reads `tenant_by: user|team`. */
WEIR_MUST_USE weir_status wr_users_read_tenant(struct wr_users *users, struct wr_yaml *yaml,
                                               yaml_node_t *value);

/* Whose token it is, expired or not; NULL: nobody's, or it could not be hashed. All are compared,
 * each in the same time. */
const struct wr_user_token *wr_users_find(const struct wr_users *users, weir_span token);

static inline bool wr_user_token_is_good(const struct wr_user_token *token, int64_t now_ms)
{
    return !token->expires_ms || now_ms < token->expires_ms;
}

/* Whether a name may stand in weir.yaml, and so in labels, headers and names of tenants. */
bool wr_user_name_is(weir_span name);

/* Whether a user, or a team, of that name is there. */
const struct wr_user *wr_users_named(const struct wr_users *users, weir_span name);
bool wr_users_has_team(const struct wr_users *users, weir_span team);

/* A token as wr_users_read() takes its hash: "sha256" in hex. */
WEIR_MUST_USE weir_status wr_user_token_hash(weir_span token, char hex[WR_SHA256_HEX_BYTES + 1]);

/* ==== what users and teams may use ====
 *
 * Each entry is for one user or team, or for each of them ("*"), and one period. All that fit a
 * request hold at once, the smallest decides. One that only warns never keeps anybody from working.
 */

struct wr_budget {
    const char *name; /* "*": each */
    bool is_team;     /* of a team; else of a user */
    bool warns;       /* `action: warn`; else what is over is refused */
    enum wr_spend_period period;
    int64_t limits[WR_SPEND_KINDS]; /* WR_SPEND_NO_LIMIT: none */
    uint32_t line;                  /* in weir.yaml */
};

struct wr_budgets {
    struct wr_budget *items; /* in the arena that they were read into */
    size_t count;
    bool refuses_uncounted; /* `budgets_without_store: refuse`: nobody asks while nothing counts */
};

/* Reads `budgets: [{user: N, team: N, per: day, usd: 5, tokens: N, requests: N, action: warn}]`. */
WEIR_MUST_USE weir_status wr_budgets_read(struct wr_budgets *budgets, struct wr_arena *arena,
                                          struct wr_yaml *yaml, yaml_node_t *value);
WEIR_MUST_USE weir_status wr_budgets_read_action(struct wr_budgets *budgets, struct wr_yaml *yaml,
                                                 yaml_node_t *value);

/* Once all is read: those that are named must be there. */
WEIR_MUST_USE weir_status wr_budgets_check(const struct wr_budgets *budgets,
                                           const struct wr_users *users, struct weir_err *err);

/* The limits that hold for a user, the user's first and then the team's, of budgets that refuse or
 * of those that warn. The names of the scopes are written by the caller. False: there are none. */
bool wr_budgets_limits(const struct wr_budgets *budgets, const struct wr_user *user, bool warns,
                       int64_t limits[WR_SPEND_SCOPES_MAX][WR_SPEND_PERIODS][WR_SPEND_KINDS]);

/* "12.5" as micro-dollars. False: it is no amount of money. */
bool wr_money_parse(weir_span text, int64_t *micro_usd);

#endif
