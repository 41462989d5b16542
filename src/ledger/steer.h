/* steer.h -- what people and agents may say of a session while it runs, and what there is to say it
 * about: the same for the command line, HTTP and MCP (docs/steer.md).
 *
 * Whoever says something needs the store alone: the next request of the session, in whatever
 * process it comes, hears it there (engine/steer.h). What the last request left of itself for
 * this, what is out, what the next step would take and what it would cost, is its plan
 * (engine/steer.h), a note in the same store.
 */
#ifndef WR_LEDGER_STEER_H
#define WR_LEDGER_STEER_H

#include "base/arena.h"
#include "engine/steer.h"
#include "json/json.h"
#include "json/write.h"
#include "store/ledger.h"

struct wr_steering {
    struct wr_arena *arena;    /* of everything below */
    weir_span tenant, session; /* the whole name */
    struct wr_order_head said; /* of the session, */
    bool is_all_exact;         /* and of all sessions of the tenant: they are paused */
    weir_span pins;            /* in force, a line each, as policy/orders.h has them */
    struct wr_json plan;       /* as the session's last request left it */
    bool has_plan;
};

/* Fills in the plan of a session whose names are known; what cannot be read is not there. */
void wr_steering_read_plan(struct wr_ledger *ledger, struct wr_steering *steering);

/* How many of the session's orders its last request had heard. */
uint64_t wr_steering_heard(const struct wr_steering *steering);

/* What the orders that were not obeyed yet wait for. */
enum wr_steer_wait {
    WR_WAIT_NOT,     /* all are */
    WR_WAIT_REQUEST, /* the session's next request */
    WR_WAIT_USER     /* the user's next message: signed thinking is bound to the prompt */
};

enum wr_steer_wait wr_steering_waits(const struct wr_steering *steering);

/* ---- doing ---- */

#define WR_STEER_MAP(X)                                                            \
    X(SHOW, "show") /* nothing is said */                                          \
    X(PIN, "pin")   /* what is named stays whole */                                \
    X(UNPIN, "unpin")                                                              \
    X(UNDO, "undo")     /* the last step is taken back */                          \
    X(NOW, "now")       /* the next step is taken with the next request */         \
    X(EXACT, "exact")   /* from now on messages go as they came */                 \
    X(PAUSE, "pause")   /* the same, and nobody is asked whether it is worth it */ \
    X(RESUME, "resume") /* and from now on not any more */

enum wr_steer_verb {
#define X(name, text) WR_STEER_##name,
    WR_STEER_MAP(X)
#undef X
        WR_STEERS_COUNT
};

const char *wr_steer_name(enum wr_steer_verb verb);

struct wr_steer_request {
    enum wr_steer_verb verb;
    weir_span tenant, session; /* as wr_session_find() takes it */
    bool is_of_all;            /* of all sessions of the tenant: PAUSE, RESUME and SHOW */
    /* Of a pin, one of these; all empty: none. */
    weir_span tool, path, handle;
    weir_span word;    /* a handle, the number of a piece that the plan lists, or a path */
    bool brings_back;  /* of a pin: at the next request, not with the next step */
    bool is_confirmed; /* the price is known: else what has one is not said */
    int64_t now_ms;
};

/* What it costs, in the provider's tokens and in millionths of a dollar. */
struct wr_steer_price {
    bool is_known;               /* there is something to pay for; else the rest is 0 */
    bool has_money;              /* the model has prices */
    int64_t rewrites_tokens;     /* that are written into the cache again */
    int64_t cost_micro_usd;      /* of that, less what reading them costs */
    int64_t once_micro_usd;      /* the same with what comes back, which is written too */
    int64_t a_request_micro_usd; /* more for every request after it, or less */
};

struct wr_steered {
    struct wr_steering steering; /* as it is then */
    struct wr_steer_price price;
    bool is_said; /* false: it wants to be confirmed, or there was nothing to say */
};

/* WEIR_NOTFOUND: there is no such session, or nothing to do this to. WEIR_INVALID: it cannot be
 * meant. Everything is in `arena`. */
WEIR_MUST_USE weir_status wr_steer(struct wr_ledger *ledger, struct weir_store *store,
                                   const struct wr_steer_request *request, struct wr_arena *arena,
                                   struct wr_steered *steered, struct weir_err *err);

void wr_steered_write(const struct wr_steered *steered, struct wr_json_writer *w);

/* Writes all of it as one object. */
void wr_steering_write(const struct wr_steering *steering, struct wr_json_writer *w);

#endif
