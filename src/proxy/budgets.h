/* budgets.h -- what users and teams may use: `budgets:` of weir.yaml (docs/gateway.md).
 *
 * Each entry is for one user or team, or for each of them ("*"), and one period. All that fit a
 * request hold at once, the smallest decides. One that only warns never keeps anybody from working.
 */
#ifndef WR_PROXY_BUDGETS_H
#define WR_PROXY_BUDGETS_H

#include "base/arena.h"
#include "base/yaml.h"
#include "proxy/users.h"
#include "store/spend.h"

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
