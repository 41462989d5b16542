/* session_policy.h -- what a session makes of its policy.
 *
 * A session has its journal at hand, so it does some of a policy's work itself: it cuts history to
 * its budget where new words come, and has the older turns summarised (by a model, where there is
 * one). The other stages go to the engine, with the values that the session's settings name.
 *
 * 1. All of it follows from the policy's stages and the settings, never from the policy's name.
 * 2. A summary with stages behind it stays with the engine: they wait for what it leaves.
 */
#ifndef WR_SESSION_SESSION_POLICY_H
#define WR_SESSION_SESSION_POLICY_H

#include "policy/policy.h"
#include "session/settings.h"

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
