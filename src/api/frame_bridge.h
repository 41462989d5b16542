/* frame_bridge.h -- an AWS event stream on its way through what knows text/event-stream alone.
 *
 *   frames ──wr_bridge_in──▶ events as text ──▶ (api/join.h) ──▶ events as text ──wr_bridge_out──▶
 *   frames
 *
 * 1. An event that comes out as it went in leaves in the frame it came in, byte for byte.
 * 2. One that was changed, or is new, gets a frame like those that came.
 * 3. What cannot be read of the frames is left out; wr_bridge_is_lost() says so at the end.
 */
#ifndef WR_API_FRAME_BRIDGE_H
#define WR_API_FRAME_BRIDGE_H

#include "api/frames.h"
#include "base/hash.h"

struct wr_bridge;

/* NULL: out of memory. */
struct wr_bridge *wr_bridge_new(void);
void wr_bridge_free(struct wr_bridge *bridge); /* NULL is fine */

/* Another stream begins; what came before is forgotten. */
void wr_bridge_begin(struct wr_bridge *bridge);

/* Bytes of the stream; appends the events in them. */
void wr_bridge_in(struct wr_bridge *bridge, weir_span frames, struct wr_buf *events);
/* The way back. An event that is cut is waited for. */
void wr_bridge_out(struct wr_bridge *bridge, weir_span events, struct wr_buf *frames);

/* Of a stream that has ended: a frame was spoilt or cut off, or there was no memory: more came than
 * went in. */
bool wr_bridge_is_lost(const struct wr_bridge *bridge);

#endif
