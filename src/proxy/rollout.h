/* rollout.h -- what is done with a request: nothing, measured, decided for the log, or rewritten.
 *
 * 1. A session keeps the mode of its first request, whatever weir.yaml says later. Once it has gone
 *    on to a second one its mode is due to be kept in the store, for other processes. What was
 * typed for this server (--mode, --policy) beats that, once, and is kept from then on. A policy
 * that is wanted for new sessions beats weir.yaml's, and neither a rule's nor one that was typed.
 * 2. Canary and holdout are decided by a hash of tenant and session, so a conversation never flaps,
 *    and another process decides the same.
 * 3. `x-weir-mode: exact` wins for its request and changes nothing for the session.
 * 4. Signed thinking may bind a session to one form, as it comes or projected; the provider says
 *    so by refusing the other. That form then wins over the session's mode.
 * 5. A session that was projected, holds such thinking and is to go as it comes from now on is
 * still projected, with a policy that changes nothing: the engine knows when the change may be
 * made, and which thinking goes with it.
 */
#ifndef WR_PROXY_ROLLOUT_H
#define WR_PROXY_ROLLOUT_H

#include "base/arena.h"
#include "engine/record.h"
#include "proxy/config.h"
#include "weir/store.h"

/* The form that a session is bound to. */
enum wr_bound {
    WR_BOUND_NOT,
    WR_BOUND_RAW,
    WR_BOUND_PROJECTED,
    WR_BOUND_UNSIGNED /* as it comes, but for thinking that was signed over a projection */
};

/* What a mode that was said now has changed for the session. */
enum wr_turn_of_mode {
    WR_MODE_STAYS,
    WR_MODE_TURNS_WHOLE,    /* it was projected and is not from now on */
    WR_MODE_TURNS_PROJECTED /* the other way round */
};

/* What to do with one request. */
enum wr_action {
    WR_ACTION_PASS,    /* as it came, unread */
    WR_ACTION_MEASURE, /* read and counted */
    WR_ACTION_SHADOW,  /* decided, not sent */
    WR_ACTION_PROJECT
};

struct wr_decision {
    enum wr_action action;
    enum wr_mode mode;     /* of the session */
    const char *reason;    /* a constant word for the log */
    const char *policy;    /* of the session if it has none yet; borrowed from the configuration */
    enum wr_recall recall; /* of a session that begins */
    uint32_t bucket;       /* 0 to 99: the session's place */
    uint32_t percent;
    enum wr_bound bound;
    bool is_exact; /* the request asked for it */
    bool is_due;   /* to be kept: wr_decision_mode() says what */
    bool is_new;   /* and in place of what was kept */
    enum wr_turn_of_mode turn;
    bool reads_cache; /* an answer told of tokens that were read from a cache */
    bool says_policy; /* `policy` is the session's from now on, whatever it kept */
    uint32_t said;    /* a hash of the policy that was typed and that it keeps; 0: none was */
};

struct wr_rollout_input {
    const struct wr_config *config;
    weir_span tenant, session, model;
    const char *upstream; /* its name */
    weir_span mode;       /* the header x-weir-mode; empty: none */
    weir_span kept;       /* what was kept of the session's mode; empty: nothing */
    weir_span wanted;     /* the policy that is wanted for sessions that begin; empty: none */
    enum wr_bound bind;   /* what the provider has said of this very request */
    bool is_signed;       /* it holds signed thinking, which is bound to what comes before it */
};

struct wr_sessions; /* the modes of sessions, for any thread */

/* NULL: out of memory. */
struct wr_sessions *wr_sessions_new(void);
void wr_sessions_free(struct wr_sessions *sessions); /* NULL is fine */

/* Whether the mode of this session is known here; else what was kept of it is worth asking for. */
bool wr_sessions_has(struct wr_sessions *sessions, weir_span tenant, weir_span session);

struct wr_decision wr_rollout_decide(struct wr_sessions *sessions,
                                     const struct wr_rollout_input *input);

/* Whether figures are of what would have been sent. On the request with which a session leaves its
 * projection they are of what was. */
static inline bool wr_decision_is_shadow(const struct wr_decision *decision)
{
    return decision->action == WR_ACTION_SHADOW && decision->turn != WR_MODE_TURNS_WHOLE;
}

/* What is done with the request, by what was decided. */
enum wr_deed wr_decision_deed(const struct wr_decision *decision);

void wr_decision_tell(const struct wr_decision *decision, struct wr_record *record);

/* What the rules say of tools, for this session: weir_project_options.tools. */
void wr_rollout_tools(const struct wr_rollout_input *input, uint32_t bucket,
                      char text[WR_TOOLS_BYTES_MAX + 1]);

enum { WR_KEPT_MODE_BYTES = 64 };

/* The mode of a decision's session as it is kept, a hash of the policy that was typed, and the form
 * it is bound to: "canary 10 policy=1a2b3c4d raw". */
void wr_decision_mode(const struct wr_decision *decision, char text[WR_KEPT_MODE_BYTES]);

/* An answer of this session told of tokens that were read from a cache. */
void wr_sessions_read_cache(struct wr_sessions *sessions, weir_span tenant, weir_span session);

/* From now on this session is sent in this form: its provider takes no other. */
void wr_sessions_bind(struct wr_sessions *sessions, weir_span tenant, weir_span session,
                      enum wr_bound bound);

/* ---- what is kept in the store, for processes that come later ---- */

/* Fills in what the store has to say of a session that `sessions` does not know: the mode that it
 * keeps, or else the policy that is wanted for new ones; both in `arena`. `store` may be NULL. */
void wr_kept_ask(struct weir_store *store, struct wr_arena *arena, struct wr_sessions *sessions,
                 int64_t now_ms, struct wr_rollout_input *input);

/* What cannot be kept is decided anew by the next process, which decides the same unless its
 * configuration has changed. */
void wr_keep_mode(struct weir_store *store, weir_span tenant, weir_span session, int64_t now_ms,
                  const struct wr_decision *decision, bool replaces);

/* The policy that is wanted for new sessions of a tenant, whatever weir.yaml says; empty: none is.
 * It lives until the store's next call. `store` may be NULL. */
weir_span wr_wanted_policy(struct weir_store *store, weir_span tenant);

/* `policy` is wanted from now on; empty: the configured one is. */
WEIR_MUST_USE weir_status wr_want_policy(struct weir_store *store, weir_span tenant,
                                         weir_span policy, int64_t now_ms, struct weir_err *err);

/* ---- what a thread asks of its task (projector.h) ---- */

struct wr_task;

void wr_task_release(struct wr_task *task); /* what it holds, not the struct */

/* Why it was not projected. The engine says WEIR_LIMIT of what is too large as well as of what
 * takes too long. */
weir_span wr_task_failure(weir_status status, uint64_t took_us);
/* Whose recall its request may use: what the header says, else the rules. */
enum wr_recall wr_task_recall(const struct wr_task *task);
/* Whether a session that begins with it may have something taken out. */
bool wr_task_may_take_out(const struct wr_task *task);

#endif
