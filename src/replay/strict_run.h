/* strict_run.h -- one case executed three ways, through the real engine, with what each took.
 *
 * 1. exact sends every request as it came, current takes out duplicates only, optimized runs the
 *    policy that is judged. Each way has a store and a conversation of its own.
 * 2. What a turn requires and does not show, but can recall, is recalled: the model's call and the
 *    lines that come back are a turn more, paid for with the whole prompt, and stay in the
 *    conversation.
 * 3. A way succeeds where every turn does: what is required was there in the end, what must not
 *    change did not, and the outcome is the expected one. `rewrite` is expected of optimized only.
 */
#ifndef WR_REPLAY_STRICT_RUN_H
#define WR_REPLAY_STRICT_RUN_H

#include "replay/strict_check.h"

enum wr_strict_way { WR_STRICT_EXACT, WR_STRICT_CURRENT, WR_STRICT_OPTIMIZED, WR_STRICT_WAYS };

enum { WR_STRICT_FAILURE_BYTES = 200 };

struct wr_strict_figures {
    uint64_t requests; /* recoveries included */
    uint64_t recoveries;
    uint64_t input_tokens, output_tokens; /* of all of them */
    uint64_t over_window;
    uint64_t changed;                           /* requests that were not sent as they came */
    uint64_t continuations, continuations_kept; /* requests, and those with all pointers intact */
    uint64_t links_kept;                        /* requests with calls and results intact */
    uint64_t later, fallbacks; /* requests behind the first; sent whole after all */
    uint64_t signals, signals_kept;
    uint64_t unresolved_refs; /* handles that lead nowhere and were not expected to */
    uint64_t corrupted;       /* bodies that cannot be read */
    uint32_t *times_us;       /* of rewrites; in the arena given */
    uint32_t times_count;
    bool is_success;
    uint32_t failed_turn;                  /* the first, from 1 */
    char failure[WR_STRICT_FAILURE_BYTES]; /* and why */
};

struct wr_strict_result {
    struct wr_strict_figures ways[WR_STRICT_WAYS];
    uint32_t covered; /* bits of enum wr_cover */
    bool is_eligible; /* a long session that may be rewritten: over 20 requests */
};

struct wr_strict_runner; /* engine, meter and registry */

/* WEIR_NOTFOUND: no policy is called so. `policy` is borrowed until it is freed. */
WEIR_MUST_USE weir_status wr_strict_runner_new(struct wr_strict_runner **runner, const char *policy,
                                               struct weir_err *err);
void wr_strict_runner_free(struct wr_strict_runner *runner); /* NULL is fine */

/* Runs one case; what it found lives in `arena`. WEIR_INVALID: a request is none of the three
 * APIs', or cannot be grown; `err` says which turn. */
WEIR_MUST_USE weir_status wr_strict_run(struct wr_strict_runner *runner, const struct wr_case *c,
                                        struct wr_arena *arena, struct wr_strict_result *result,
                                        struct weir_err *err);

#endif
