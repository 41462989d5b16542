/* tap.h -- an answer read along while it passes: its usage, its id, its tool calls.
 *
 * A tap is given the bytes after they were sent on. It never holds one back, never changes one, and
 * what it cannot read it leaves: a failure is the end of the tap, not of the answer.
 */
#ifndef WR_PROXY_TAP_H
#define WR_PROXY_TAP_H

#include "api/answer.h"
#include "engine/record.h"
#include "net/decode.h"
#include "net/head.h"

struct wr_tap {
    enum { WR_TAP_OFF, WR_TAP_STREAM, WR_TAP_FRAMES, WR_TAP_WHOLE } kind;
    struct wr_decoder *decoder;
    struct wr_buf whole;
    struct wr_reply answer; /* its arena is NULL: there was none yet */
};

/* A zeroed tap is off and may be released. `api` NULL: the answer is none of a model's. The arena
 * is emptied for each event. */
void wr_tap_init(struct wr_tap *tap, const struct wr_api *api, const struct wr_head *answer,
                 struct wr_arena *arena);
void wr_tap_feed(struct wr_tap *tap, weir_span bytes);
void wr_tap_end(struct wr_tap *tap);                                  /* reads what came whole */
void wr_tap_tell(const struct wr_tap *tap, struct wr_record *record); /* words point into the tap */
void wr_tap_release(struct wr_tap *tap);

#endif
