/* apply.h -- a plan turned into bytes, and a record of exactly which nodes that touched.
 *
 * The record is what validation compares the result with, node by node: it says what was meant,
 * the splice says how. */
#ifndef WR_ENGINE_APPLY_H
#define WR_ENGINE_APPLY_H

#include "engine/plan.h"

enum wr_touch_kind {
    WR_TOUCH_TEXT,   /* the string `node` now says `text` */
    WR_TOUCH_REMOVE, /* the element or member `node` (a member's key) is gone */
    WR_TOUCH_INSERT, /* `text` is new JSON in `container`, before `node` (NONE: at its end) */
};

struct wr_touch {
    enum wr_touch_kind kind;
    wr_json_id container; /* of removals and insertions */
    wr_json_id node;
    weir_span text;
};

/* Touches in the order of the nodes they concern; insertions at one place keep their order. */
struct wr_touches {
    struct wr_touch *items;
    uint32_t count, cap;
};

/* The cache marker of each segment as the plan leaves it, as the key of a marker of the request:
 * its own, one handed on to it or copied; NONE: it has none, or leaves. */
WEIR_MUST_USE weir_status wr_apply_markers(const struct wr_plan *plan, struct wr_arena *arena,
                                           const wr_json_id **markers);

/* Works out what `plan` touches. Blocks that leave take their message with them when nothing of it
 * is left, and their cache marker moves to the nearest earlier block that stays and can hold it. */
WEIR_MUST_USE weir_status wr_apply_touches(const struct wr_plan *plan, struct wr_arena *arena,
                                           struct wr_touches *touches);

/* Appends the request with `touches` applied to `out`. */
WEIR_MUST_USE weir_status wr_apply_write(const struct wr_json *doc, struct wr_arena *arena,
                                         const struct wr_touches *touches, struct wr_buf *out,
                                         struct weir_err *err);

#endif
