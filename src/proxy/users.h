/* users.h -- the people of a gateway: their names, teams and access tokens (docs/gateway.md).
 *
 * 1. weir.yaml holds no token, only SHA-256 of it: who reads the file cannot ask in another's name.
 *    Tokens are random and long (`weir token new`), so that a plain hash cannot be searched.
 * 2. A user may have several tokens, so that a new one is in use before the old one goes. One that
 *    has expired is still known: it is refused, and it is no credential of a provider's.
 */
#ifndef WR_PROXY_USERS_H
#define WR_PROXY_USERS_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/yaml.h"

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

#endif
