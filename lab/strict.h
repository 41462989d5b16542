/* strict.h -- the strict replay: each case executed three ways, through the real engine, and one
 * report of what every one of them gave.
 *
 * 1. exact sends every request as it came, current takes out duplicates only, optimized runs the
 *    policy that is judged. Each way has a store and a conversation of its own.
 * 2. What a turn requires and does not show, but can recall, is recalled: the model's call and the
 *    lines that come back are a turn more, paid for with the whole prompt, and stay in the
 *    conversation.
 * 3. A way succeeds where every turn does: what is required was there in the end, what must not
 *    change did not, and the outcome is the expected one. `rewrite` is expected of optimized only.
 *
 * Every line of the report is computed from executed requests; docs/replay.md says how. A line may
 * have a threshold, a law or a goal; one that is missed fails the report.
 */
#ifndef WR_LAB_STRICT_H
#define WR_LAB_STRICT_H

#include "lab/strict_case.h"

/* ---- one case ---- */

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

/* ---- the report ---- */

/* X(name, kind, limit): the lines in their order. Thresholds: NONE, LAW_MIN, LAW_MAX, GOAL_MIN,
 * GOAL_MAX. */
#define WR_STRICT_LINE_MAP(X)                                                 \
    X(eligible_long_sessions, NONE, 0)                                        \
    X(current_comparison_sessions, NONE, 0)                                   \
    X(median_input_token_reduction_percent_vs_exact, GOAL_MIN, 35)            \
    X(current_median_input_token_reduction_percent_vs_exact, NONE, 0)         \
    X(median_additional_input_token_reduction_percent_vs_current, NONE, 0)    \
    X(long_sessions_with_at_least_20_percent_reduction_percent, GOAL_MIN, 80) \
    X(exact_median_total_tokens_until_completion, NONE, 0)                    \
    X(current_median_total_tokens_until_completion, NONE, 0)                  \
    X(optimized_median_total_tokens_until_completion, NONE, 0)                \
    X(exact_success_rate_percent, LAW_MIN, 100)                               \
    X(current_success_rate_percent, LAW_MIN, 100)                             \
    X(optimized_success_rate_percent, LAW_MIN, 100)                           \
    X(optimized_missing_context_recovery_turns, GOAL_MAX, 0)                  \
    X(success_regression_basis_points, LAW_MAX, 0)                            \
    X(continuation_integrity_percent, LAW_MIN, 100)                           \
    X(tool_call_integrity_percent, LAW_MIN, 100)                              \
    X(critical_signal_recall_percent, LAW_MIN, 100)                           \
    X(unresolved_mandatory_artifact_refs, LAW_MAX, 0)                         \
    X(corrupted_json_count, LAW_MAX, 0)                                       \
    X(p95_rewrite_overhead_ms, GOAL_MAX, 30)                                  \
    X(continuation_fallback_rate_percent, LAW_MAX, 19)

enum wr_strict_line {
#define X(name, kind, limit) WR_STRICT_##name,
    WR_STRICT_LINE_MAP(X)
#undef X
        WR_STRICT_LINES
};

enum wr_strict_threshold {
    WR_STRICT_NONE,
    WR_STRICT_LAW_MIN,
    WR_STRICT_LAW_MAX,
    WR_STRICT_GOAL_MIN,
    WR_STRICT_GOAL_MAX,
};

struct wr_strict_row {
    weir_span id; /* in the report's arena */
    uint32_t window_tokens;
    struct wr_strict_result result;
};

struct wr_strict_report {
    const char *policy;    /* borrowed */
    struct wr_arena arena; /* of the rows */
    struct wr_strict_row *rows;
    uint32_t rows_count, rows_cap;

    /* filled by wr_strict_report_finish() */
    int64_t lines[WR_STRICT_LINES];
    uint32_t covered; /* bits of enum wr_cover */
    bool is_passed;
};

void wr_strict_report_init(struct wr_strict_report *report, const char *policy);
void wr_strict_report_release(struct wr_strict_report *report);

/* Runs the cases and adds a row for each. WEIR_INVALID: one cannot be run; `err` says which. */
WEIR_MUST_USE weir_status wr_strict_report_add(struct wr_strict_report *report,
                                               struct wr_strict_runner *runner,
                                               const struct wr_cases *cases, struct weir_err *err);

/* Computes the lines. */
WEIR_MUST_USE weir_status wr_strict_report_finish(struct wr_strict_report *report);

/* Whether a line's threshold, if it has one, is met. */
bool wr_strict_is_met(const struct wr_strict_report *report, enum wr_strict_line line);

void wr_strict_report_text(const struct wr_strict_report *report, struct wr_buf *out);
void wr_strict_report_json(const struct wr_strict_report *report, struct wr_buf *out);

#endif
