/* order_log.h -- what users say about sessions (policy/orders.h), on its way to their next request.
 *
 * 1. Orders are numbered from 1 in their session, and stay. Each is a pin of the session's in the
 *    store, whatever store that is; the newest number is one more. So whoever says something needs
 *    the store alone, and whatever process has the next request finds it there.
 * 2. The request that hears an order writes it into the marks of its newest turn, and how many were
 *    heard into its mark `sent`: what was heard is a mark like others from then on.
 * 3. Two who say something at once both are heard: a number that is taken is not taken again.
 * 4. `exact` and `resume` may also be said of all sessions of a tenant at once.
 */
#ifndef WR_ENGINE_ORDER_LOG_H
#define WR_ENGINE_ORDER_LOG_H

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

#endif
