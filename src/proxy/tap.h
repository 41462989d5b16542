/* tap.h -- an answer read along while it passes: its usage, its id, its tool calls.
 *
 * A tap is given the bytes after they were sent on. It never holds one back, never changes one, and
 * what it cannot read it leaves: a failure is the end of the tap, not of the answer.
 */
#ifndef WR_PROXY_TAP_H
#define WR_PROXY_TAP_H

#include "net/decode.h"
#include "net/head.h"
#include "net/sse.h"
#include "proxy/calls.h"
#include "proxy/route.h"
#include "proxy/usage.h"
#include "quality/answer.h"

struct wr_tap {
    enum wr_api api;
    enum { WR_TAP_OFF, WR_TAP_STREAM, WR_TAP_WHOLE } kind;
    struct wr_arena *arena; /* borrowed; emptied for each event */
    struct wr_decoder *decoder;
    struct wr_sse sse;
    struct wr_buf whole;
    struct wr_seen_usage usage;
    struct wr_calls calls;
    uint64_t events_count;
    bool is_finished; /* the answer said that it is complete */
    bool has_error;   /* it said that something went wrong */
    char error[64];   /* the provider's word for it, such as context_length_exceeded */
    enum wr_answer_error error_kind; /* as far as it is about what was sent */
    char finish[32];                 /* why it ended, such as end_turn; "": it did not say */
    char miss[48];                   /* why the cache was not read, where the provider says so */
    char model[64];                  /* the one that answered */
};

/* A zeroed tap is off and may be released. */
void wr_tap_init(struct wr_tap *tap, enum wr_api api, const struct wr_head *answer,
                 struct wr_arena *arena);
void wr_tap_feed(struct wr_tap *tap, weir_span bytes);
void wr_tap_end(struct wr_tap *tap); /* reads what came whole */
void wr_tap_release(struct wr_tap *tap);

#endif
