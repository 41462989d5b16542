/* context.h -- what fills a session's window, what its policy does when, and what it has cost.
 *
 * It is read from the session's rows alone: names, times and figures. Of the prompts that a session
 * sends (an agent's helpers have their own) the largest of the latest is shown.
 */
#ifndef WR_LEDGER_CONTEXT_H
#define WR_LEDGER_CONTEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "engine/record.h"
#include "ledger/tally.h"
#include "policy/policy.h"

/* A stage of the policy, and when it does something. */
struct wr_threshold {
    const char *stage, *what;
    struct wr_stage_when when; /* as the stage itself says */
};

/* The last time that what had been sent before was written anew. */
struct wr_context_step {
    int64_t time_ms; /* 0: never */
    char reason[24];
    uint64_t tokens_before, tokens_after; /* of that prompt */
};

struct wr_context {
    struct wr_ledger_session session;
    weir_span model, policy;
    int64_t time_ms;                      /* of the request that is shown */
    uint64_t prompts_count;               /* that the session has: its own and its helpers' */
    uint64_t window_tokens;               /* 0: not known */
    uint64_t usable_tokens;               /* the window less the room for the answer */
    uint64_t raw_tokens;                  /* estimates: as it came, */
    uint64_t sent_tokens;                 /* and as it was sent */
    int64_t usage_tokens;                 /* what the provider counted; -1: it has not said */
    int64_t usage_read_tokens;            /* of that, read from the cache; -1 the same */
    uint64_t tokens[WR_CATEGORIES_COUNT]; /* of what was sent */
    struct wr_threshold thresholds[WR_POLICY_STAGES_MAX];
    uint32_t thresholds_count;
    struct wr_context_step last_step;
    bool is_delta;        /* the provider holds the history: kinds are of what was new */
    bool is_policy_known; /* false: it is none of the presets; there are no thresholds */
    struct wr_tally tally;
};

/* One sum holds: the categories, what the provider holds besides, and what is free are the window;
 * or the first two are over it. All but the second are the estimate that the policy goes by, which
 * differs from what the provider counts (usage_tokens). */

/* The tokens that count against the window. */
uint64_t wr_context_used(const struct wr_context *context);

/* The part of that which is history held by the provider and in none of the categories. It is known
 * only if the provider says what it counted. */
uint64_t wr_context_held(const struct wr_context *context);

/* What is left of the window; -1: the window is not known, or what the provider holds. */
int64_t wr_context_free(const struct wr_context *context);

/* `session` as wr_session_find() takes it. Texts are in `arena`. WEIR_NOTFOUND also where no
 * request of the session was read. */
WEIR_MUST_USE weir_status wr_context_read(struct wr_ledger *ledger, weir_span tenant,
                                          weir_span session, const struct wr_models *models,
                                          struct wr_arena *arena, struct wr_context *context,
                                          struct weir_err *err);

/* The same as one JSON object (docs/telemetry.md), appended to `out` without a line end. */
WEIR_MUST_USE weir_status wr_context_write_json(struct wr_ledger *ledger, weir_span tenant,
                                                weir_span session, const struct wr_models *models,
                                                struct wr_buf *out, struct weir_err *err);

/* ---- the session that somebody means ---- */

/* `word` is a session's whole name, or how it begins, with or without what stands before its first
 * ':' ("codex:"), and of a name of two parts how either begins ("hash:b9e4/fa47"); empty: the most
 * recently used. `tenant` may be empty: of all. The names in `found` are in `arena`. WEIR_NOTFOUND:
 * there is none; WEIR_INVALID: there are several. */
WEIR_MUST_USE weir_status wr_session_find(struct wr_ledger *ledger, weir_span tenant,
                                          weir_span word, struct wr_arena *arena,
                                          struct wr_ledger_session *found, struct weir_err *err);

/* A name of two long parts as wr_session_find() takes it, short enough for a table; others whole.
 */
void wr_session_put_short(struct wr_buf *out, weir_span name);

#endif
