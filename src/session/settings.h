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
#include "policy/policy.h"
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

/* ---- what a session makes of its policy ----
 *
 * A session has its journal at hand, so it does some of a policy's work itself: it cuts history to
 * its budget where new words come, and has the older turns summarised (by a model, where there is
 * one). The other stages go to the engine, with the values that the session's settings name.
 *
 * 1. All of it follows from the policy's stages and the settings, never from the policy's name.
 * 2. A summary with stages behind it stays with the engine: they wait for what it leaves.
 */

struct wr_session_policy {
    struct wr_policy engine; /* the stages that the engine runs; its name is `name` below */
    char name[WR_POLICY_NAME_BYTES_MAX + 1];
    bool is_idle;            /* the policy has no stage at all */
    bool has_window_table;   /* its document defines it by a table of windows */
    bool fills_history;      /* the session keeps history within `history_tokens` */
    uint64_t history_tokens; /* 0: all the room there is */
    bool has_summary;        /* the session summarises when `summary` would */
    struct wr_stage summary;
    uint32_t threshold_bp; /* from which on a run's prompt is to be compressed */
};

/* Above this size of the prompt older results become short; 0: at no size. */
uint64_t wr_session_policy_clear_at(const struct wr_session_policy *policy, uint64_t window_tokens);

/* Adds to `policies` what a session runs in place of each, under "session-NAME", and makes that of
 * settings->policy. WEIR_NOTFOUND: there is no such policy. */
WEIR_MUST_USE weir_status wr_session_policies(struct wr_policies *policies,
                                              const struct wr_settings *settings,
                                              struct wr_session_policy *made, struct weir_err *err);

#endif
