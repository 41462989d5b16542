/* run_limits.h -- when a run must compress, and when it must stop.
 *
 * Checked at the start of each turn, before any work. Compression is looked at first: it is the way
 * out, the abort is the net. A limit that is reached (not only passed) stops the run, and the
 * verdict names it; of several, the first in the order below.
 */
#ifndef WR_POLICY_RUN_LIMITS_H
#define WR_POLICY_RUN_LIMITS_H

#include "policy/budget.h"

enum wr_run_limit { /* ORDER RUN_LIMIT */
                    WR_RUN_LIMIT_NONE,
                    WR_RUN_LIMIT_TOKENS,
                    WR_RUN_LIMIT_TURNS,
                    WR_RUN_LIMIT_TOOL_CALLS,
                    WR_RUN_LIMIT_COST,
                    WR_RUN_LIMIT_TIME,
};

struct wr_run_limits { /* 0: no such limit */
    uint64_t tokens_max;
    uint64_t turns_max;
    uint64_t tool_calls_max;
    uint64_t cost_micro_usd_max;
    uint64_t elapsed_ms_max;
};

struct wr_run_used {
    uint64_t tokens; /* input, cached or not, and output, of every request so far */
    uint64_t turns;
    uint64_t tool_calls;
    uint64_t cost_micro_usd; /* sum of wr_cost(): cached and written tokens at their prices */
    uint64_t elapsed_ms;
};

struct wr_run_verdict {
    bool compress; /* before the next request */
    bool aborted;  /* no next request */
    enum wr_run_limit limit;
};

/* 1,000,000 tokens, 200 turns, 200 tool calls, 2.00 USD, 30 minutes. */
struct wr_run_limits wr_run_limits_default(void);

/* `prompt->run_tokens_remaining` is worked out here and need not be set. */
struct wr_run_verdict wr_run_check(const struct wr_run_limits *limits,
                                   const struct wr_run_used *used,
                                   const struct wr_compress_input *prompt);

const char *wr_run_limit_text(enum wr_run_limit limit); /* "tokens", "turns", ... */

#endif
