/* projection_policy.h -- which policy a request is projected under: the one that its session keeps,
 * or the one that is said now. */
#ifndef WR_ENGINE_PROJECTION_POLICY_H
#define WR_ENGINE_PROJECTION_POLICY_H

#include "engine/projection.h"

/* Another store has taken the place of the one that the marks were read from; or that, or another
 * node has committed to the session since: all is read again. */
bool wr_projection_is_replaced(const struct wr_projection *p);
bool wr_projection_is_begun_anew(const struct wr_projection *p);

/* What is read from here on is for the commit of this session; `is_over`: for none any more. */
void wr_projection_begin(struct wr_projection *p, bool is_over);

/* What the session keeps, if anything, and what was said of it by now: fills in the projection's
 * pinned_* and has_pin, `said`, and in `is_exact_said` whether messages are to go as they came.
 * What cannot be read is taken for not there. */
void wr_projection_read_pins(struct wr_projection *p);

/* WEIR_NOTFOUND: there is no such policy. */
WEIR_MUST_USE weir_status wr_projection_find_policy(struct wr_projection *p, struct weir_err *err);

/* What is to be kept of this request: its policy in full, and last, if this request says so, what
 * the session keeps from now on. */
enum { WR_PROJECTION_PINS_MAX = 2 };
WEIR_MUST_USE weir_status wr_projection_write_pins(const struct wr_projection *p,
                                                   struct weir_pin pins[WR_PROJECTION_PINS_MAX],
                                                   size_t *count);

bool wr_holds_signed_thinking(const struct wr_transcript *transcript);

/* What it takes to go on under another policy than the last request's. */
enum wr_policy_change {
    WR_CHANGE_FREE,    /* nothing: it is the same, or no thinking is bound to what was sent */
    WR_CHANGE_UNSIGNS, /* the signed thinking before this turn goes */
    WR_CHANGE_KEEPS, /* it does not: the session stays under `*last`, which is the same policy as it
                      * was when the session began (law L3) */
    WR_CHANGE_WAITS, /* the user's next message: `*last` is in force until then */
};
enum wr_policy_change wr_projection_change_of_policy(struct wr_projection *p,
                                                     const struct wr_policy **last);

/* ---- projection orders ----
 *
 * What was said of a request's session (engine/steer.h), heard by it.
 */

/* Puts what no request of this conversation has heard yet into the marks of the newest turn. Behind
 * the marks. */
WEIR_MUST_USE weir_status wr_projection_hear_orders(struct wr_projection *p);

#endif
