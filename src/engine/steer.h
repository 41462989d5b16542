/* steer.h -- what users say about sessions (policy/orders.h), on its way to their next request; and
 * what they are told of them.
 *
 * 1. Orders are numbered from 1 in their session, and stay. Each is a pin of the session's in the
 *    store, whatever store that is; the newest number is one more. So whoever says something needs
 *    the store alone, and whatever process has the next request finds it there.
 * 2. The request that hears an order writes it into the marks of its newest turn, and how many were
 *    heard into its mark `sent`: what was heard is a mark like others from then on.
 * 3. Two who say something at once both are heard: a number that is taken is not taken again.
 * 4. `exact` and `resume` may also be said of all sessions of a tenant at once.
 */
#ifndef WR_ENGINE_STEER_H
#define WR_ENGINE_STEER_H

#include "base/buf.h"
#include "policy/orders.h"
#include "weir/store.h"

/* The session that stands for all of a tenant's. */
#define WR_ORDER_EVERY_SESSION "weir every session"

struct wr_order_head {
    uint64_t count; /* orders that there are */
    bool is_exact;  /* `exact` was said last, not `resume` */
};

/* What there is. A session of which nothing was said has a count of 0. */
WEIR_MUST_USE weir_status wr_order_head_read(struct weir_store *store, weir_span tenant,
                                             weir_span session, struct wr_order_head *head);

/* The same for who reads several pins at once: the pin to ask for, and what its value says. */
struct weir_pin wr_order_head_pin(void);
struct wr_order_head wr_order_head_of(weir_span value);

/* The text of an order, in `arena`; WEIR_NOTFOUND: there is none of that number. */
WEIR_MUST_USE weir_status wr_order_at(struct weir_store *store, weir_span tenant, weir_span session,
                                      uint64_t number, struct wr_arena *arena, weir_span *text);

/* Pins that are in force after all of a session's orders, a line each, appended to `out`. */
WEIR_MUST_USE weir_status wr_order_pins(struct weir_store *store, weir_span tenant,
                                        weir_span session, uint64_t count, struct wr_arena *arena,
                                        struct wr_buf *out);

struct wr_order_said {
    weir_span tenant, session;
    const struct wr_order *orders; /* said together */
    size_t orders_count;
    int64_t now_ms;
};

/* Says something of a session. `head` is what there is then. WEIR_LIMIT: it has too many pins.
 * WEIR_INVALID: an order is none that can be written. */
WEIR_MUST_USE weir_status wr_order_say(struct weir_store *store, const struct wr_order_said *said,
                                       struct wr_order_head *head, struct weir_err *err);

/* ---- what would become of it ----
 *
 * A session's plan: what is out of its prompt, what the next step would take, and what it would
 * cost to take that now, to undo the last step, or to send everything as it came.
 *
 * It is found out by the stages themselves: the fold that has just run is gone on from, as if the
 * next request came and somebody had said `now`, `undo` or `exact` (policy/orders.h) before it. The
 * engine alone can: the transcript is there only while its request is. So whoever wants to show a
 * plan later keeps what is written here (docs/steer.md has the format).
 *
 * Prices are what is written into the provider's cache again, less what reading it would have cost,
 * as the ledger has it afterwards (ledger/tally.c). Names of tools, paths and how command lines
 * begin are in it; nothing else that was said.
 */

struct wr_projection;

/* Appends it as one JSON object. WEIR_NOTFOUND: there is nothing to tell of this request: it has no
 * marks, or was sent as it came because something was wrong. */
WEIR_MUST_USE weir_status wr_foretell(struct wr_projection *p, struct wr_buf *out);

#endif
