/* settings.h -- what a session is told in YAML (docs/session.md), and what follows from it.
 *
 *   model:   {name: claude-sonnet-5-5, max_input_tokens: 150000, max_output_tokens: 8192}
 *   session:
 *     policy: layers
 *     on_disconnect: pause
 *     max_tool_iterations: 50
 *     context: {max_history_tokens: 20000, max_tool_result_tokens: 8000, ...}
 *
 * All of it may be left out. Whatever is wrong is said with line and column, and nothing is taken.
 */
#ifndef WR_SESSION_SETTINGS_H
#define WR_SESSION_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "policy/budget.h"
#include "weir/span.h"
#include "weir/status.h"

/* A number that was left out: the policy's own holds. */
#define WR_SETTING_UNSAID UINT64_MAX

struct wr_settings {
    /* model */
    char model[WR_MODEL_NAME_BYTES_MAX + 1]; /* empty: not said */
    uint64_t input_tokens_max;               /* 0: what is known of the model */
    uint64_t output_tokens_max;              /* 0: not said */
    /* session */
    char policy[WR_POLICY_NAME_BYTES_MAX + 1];
    bool continues;               /* on_disconnect: continue */
    uint64_t tool_iterations_max; /* 0: the run's turns alone bound them */
    uint64_t threshold_bp;        /* compression_threshold, or WR_SETTING_UNSAID */
    /* session.context: each may be WR_SETTING_UNSAID */
    bool has_context;
    uint64_t history_tokens_max;
    uint64_t result_tokens_max;
    uint64_t truncation; /* enum wr_cap_keep */
    uint64_t keep_first, keep_last;
    /* session.limits */
    struct wr_run_limits limits;         /* of a run */
    struct wr_run_limits session_limits; /* of all runs together; none unless told */
    /* session.summary */
    uint64_t summary_at_bp; /* 0: by the policy */
    uint64_t summary_tokens_max;
    uint64_t summary_timeout_ms;
    uint64_t summary_cost_micro_usd;
};

WEIR_MUST_USE weir_status wr_settings_read(struct wr_settings *settings, weir_span yaml,
                                           struct weir_err *err);

#endif
