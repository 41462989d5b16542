/* projection_orders.h -- what was said of a request's session (engine/order_log.h), heard by it. */
#ifndef WR_ENGINE_PROJECTION_ORDERS_H
#define WR_ENGINE_PROJECTION_ORDERS_H

#include "engine/projection.h"

/* How much was said by now, and whether messages are to go as they came: fills in the projection's
 * `said` and `is_exact_said`. What cannot be read is taken for not said. */
void wr_projection_read_orders(struct wr_projection *p);

/* Puts what no request of this conversation has heard yet into the marks of the newest turn. Behind
 * the marks. */
WEIR_MUST_USE weir_status wr_projection_hear_orders(struct wr_projection *p);

#endif
