/* rollout.h -- what is done with a request: nothing, measured, decided for the log, or rewritten.
 *
 * 1. A session keeps the mode of its first request, whatever the configuration says later. Once it
 *    has gone on to a second one its mode is due to be kept in the store, for other processes.
 * 2. Canary and holdout are decided by a hash of tenant and session, so a conversation never flaps,
 *    and another process decides the same.
 * 3. `x-weir-mode: exact` wins for its request and changes nothing for the session.
 * 4. Signed thinking may bind a session to one form, as it comes or projected; the provider says
 *    so by refusing the other. That form then wins over the session's mode.
 */
#ifndef WR_PROXY_ROLLOUT_H
#define WR_PROXY_ROLLOUT_H

#include "proxy/config.h"

/* The form that a session is bound to. */
enum wr_bound { WR_BOUND_NOT, WR_BOUND_RAW, WR_BOUND_PROJECTED };

/* What to do with one request. */
enum wr_action {
    WR_ACTION_PASS,    /* as it came, unread */
    WR_ACTION_MEASURE, /* read and counted */
    WR_ACTION_SHADOW,  /* decided, not sent */
    WR_ACTION_PROJECT
};

struct wr_decision {
    enum wr_action action;
    enum wr_mode mode;  /* of the session */
    const char *reason; /* a constant word for the log */
    const char *policy; /* of the session if it has none yet; borrowed from the configuration */
    uint32_t bucket;    /* 0 to 99: the session's place */
    uint32_t percent;
    enum wr_bound bound;
    bool is_exact; /* the request asked for it */
    bool is_due;   /* to be kept: wr_decision_mode() says what */
};

struct wr_rollout_input {
    const struct wr_config *config;
    weir_span tenant, session, model;
    const char *upstream; /* its name */
    weir_span mode;       /* the header x-weir-mode; empty: none */
    weir_span kept;       /* what was kept of the session's mode; empty: nothing */
    enum wr_bound bind;   /* what the provider has said of this very request */
};

struct wr_sessions; /* the modes of sessions, for any thread */

/* NULL: out of memory. */
struct wr_sessions *wr_sessions_new(void);
void wr_sessions_free(struct wr_sessions *sessions); /* NULL is fine */

/* Whether the mode of this session is known here; else what was kept of it is worth asking for. */
bool wr_sessions_has(struct wr_sessions *sessions, weir_span tenant, weir_span session);

struct wr_decision wr_rollout_decide(struct wr_sessions *sessions,
                                     const struct wr_rollout_input *input);

/* What the rules say of tools, for this session: weir_project_options.tools. */
void wr_rollout_tools(const struct wr_rollout_input *input, uint32_t bucket,
                      char text[WR_TOOLS_BYTES_MAX + 1]);

enum { WR_KEPT_MODE_BYTES = 32 };

/* The mode of a decision's session as it is kept, and the form it is bound to: "canary 10 raw". */
void wr_decision_mode(const struct wr_decision *decision, char text[WR_KEPT_MODE_BYTES]);

/* From now on this session is sent in this form: its provider takes no other. */
void wr_sessions_bind(struct wr_sessions *sessions, weir_span tenant, weir_span session,
                      enum wr_bound bound);

#endif
