/* budget.h -- how full the window is, and what each policy's document makes of it.
 *
 * Pure arithmetic on tokens; shares are in basis points (10000 is all of it). The numbers are those
 * of the documents behind the presets; docs/budget.md has them side by side.
 *
 * 1. Pressure is used / (window - output reserve), rounded down. Without a window, or with a
 * reserve that leaves nothing of it, there is no pressure to speak of: not known, band `unknown`.
 * 2. No sum here wraps: what would fall below zero is zero, what would not fit is the largest
 * value.
 */
#ifndef WR_POLICY_BUDGET_H
#define WR_POLICY_BUDGET_H

#include "models/calibrate.h"

/* ---- pressure (the `smart` preset's document) ---- */

enum wr_band { /* of pressure, in basis points */
               WR_BAND_UNKNOWN,
               WR_BAND_LOW,
               WR_BAND_MODERATE,  /* from 5000 */
               WR_BAND_HIGH,      /* from 7500 */
               WR_BAND_CRITICAL,  /* from 9000 */
               WR_BAND_EXHAUSTED, /* from 10000 */
};

enum wr_risk { /* bits: why a total says little about the room left */
               WR_RISK_UNKNOWN_WINDOW = 1,
               WR_RISK_ZERO_WINDOW = 2,
               WR_RISK_RESERVE_TAKES_ALL = 4,
               WR_RISK_UNKNOWN_USED = 8,
};

struct wr_pressure_input {
    bool window_known;
    uint64_t window_tokens;
    uint64_t reserve_tokens; /* for the answer */
    uint64_t used_tokens;
    enum wr_count_source used_source;
};

struct wr_pressure {
    bool usable_known; /* the reserve fits in the window */
    uint64_t usable_tokens;
    bool known;
    uint32_t basis_points; /* may be far over 10000 */
    enum wr_band band;
    uint64_t
        floor_tokens; /* absolute safety floor: a twentieth of the usable window, 1000 to 8000 */
    uint64_t available_tokens; /* usable - used; meaningful with usable_known */
    unsigned risks;            /* enum wr_risk bits */
    enum wr_confidence confidence;
};

struct wr_pressure wr_pressure(const struct wr_pressure_input *input);
const char *wr_band_text(enum wr_band band);

/* ---- what to do with the room (same document) ---- */

enum wr_room { WR_ROOM_MINIMAL, WR_ROOM_CONDENSED, WR_ROOM_LARGE, WR_ROOM_EXACT };

enum wr_room wr_room_of(uint64_t available_tokens); /* steps at 2000, 8000 and 16000 */

enum wr_budget_mode {
    WR_MODE_EXACT_PASS_THROUGH,
    WR_MODE_LARGE_LOSSLESS,
    WR_MODE_ARTIFACT_CONDENSED,
    WR_MODE_MINIMAL_REFS_ONLY,
};

enum wr_budget_reason { /* bits, in the order they are reported */
                        WR_REASON_UNKNOWN_TOKEN_WINDOW = 1,
                        WR_REASON_UNSAFE_ACCOUNTING = 2,
                        WR_REASON_PLENTY_OF_BUDGET = 4,
                        WR_REASON_MODERATE_BUDGET = 8,
                        WR_REASON_TIGHT_BUDGET = 16,
                        WR_REASON_CRITICAL_BUDGET = 32,
};

#define WR_BUDGET_NO_CAP UINT64_MAX

struct wr_budget_plan {
    enum wr_room room;
    enum wr_budget_mode mode;
    uint64_t inline_bytes_max; /* of one payload; WR_BUDGET_NO_CAP: any */
    uint64_t rehydrate_tokens_max;
    unsigned reasons; /* enum wr_budget_reason bits; never 0 */
};

struct wr_budget_plan wr_budget_plan(const struct wr_pressure *pressure);
const char *wr_budget_mode_text(enum wr_budget_mode mode);
const char *wr_budget_reason_text(enum wr_budget_reason reason);

/* ---- the room for history (the `layers` preset's document) ---- */

enum {
    WR_LAYERS_MARGIN_BP = 1000,
    WR_LAYERS_HISTORY_TOKENS = 20000, /* default of history_tokens_max */
};

struct wr_render_input {
    uint64_t limit_tokens; /* max_input_tokens, or wr_models_table_window() */
    uint64_t system_tokens, directive_tokens, tool_tokens;
    uint64_t output_tokens_max;
    uint64_t history_tokens_max; /* 0: no cap */
};

uint64_t wr_render_budget(const struct wr_render_input *input);

/* Inside one agentic turn: limit - output - margin; system and tools are left to the margin. */
uint64_t wr_loop_budget(uint64_t limit_tokens, uint64_t output_tokens_max);

/* How many messages an actor keeps: two for each 200 tokens, 100 to 2000. */
uint32_t wr_actor_message_limit(uint64_t input_tokens_max);

/* ---- thresholds, all as a number of tokens ---- */

uint64_t wr_share_tokens(uint64_t tokens, uint32_t basis_points); /* rounded down */

/* `guarded-mid`: the active loop is summarised at or above this. 80 % of the prompt window, 85 %
 * from 200,000 on. A window of 0 is not known: 32,000. */
uint64_t wr_guarded_mid_trigger(uint64_t window_tokens);

/* `tiered`: the most recent results that clearing spares: 3 under a window of 100,000, else 6. */
uint32_t wr_tiered_keep_recent(uint64_t window_tokens);

/* ---- the limits of a run (the `compress` preset's document) ----
 *
 * They are checked at the start of each turn, before any work. Compression is looked at first: it
 * is the way out, the abort is the net. A limit that is reached (not only passed) stops the run,
 * and the verdict names it; of several, the first in the order below. */

enum { WR_COMPRESS_THRESHOLD_BP = 8000 };

struct wr_compress_input {
    uint64_t system_tokens;        /* the system prompt */
    uint64_t content_tokens;       /* contents of all messages */
    uint64_t argument_tokens;      /* arguments of all tool calls */
    uint64_t window_tokens;        /* 0: not known, does not bind */
    uint64_t run_tokens_remaining; /* of the run's token budget; UINT64_MAX: none */
    uint32_t threshold_bp;         /* COMPRESSION_THRESHOLD; 0: the default */
};

/* `compress`: whether system + contents + arguments exceed the threshold of the smaller of window
 * and remaining budget. */
bool wr_compress_due(const struct wr_compress_input *input);

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
