/* order.h -- what follows from the order of segments. Private to src/transcript.
 *
 * Each function runs over a whole transcript and needs what the ones before it found (ORDER
 * FINISH). */
#ifndef WR_TRANSCRIPT_ORDER_H
#define WR_TRANSCRIPT_ORDER_H

#include "transcript/transcript.h"

/* Answers calls with results by their ids, the latest open call of an id first. */
WEIR_MUST_USE weir_status wr_order_pair(struct wr_transcript *transcript);
void wr_order_turns(struct wr_transcript *transcript);
void wr_order_loops(struct wr_transcript *transcript);
void wr_order_groups(struct wr_transcript *transcript);

/* Fills `handles`, and from them `is_stale` and `is_superseded`. */
WEIR_MUST_USE weir_status wr_order_handles(struct wr_transcript *transcript);

/* Gives every segment its class and the reason for it. */
WEIR_MUST_USE weir_status wr_order_classify(struct wr_transcript *transcript);

#endif
