/* plan.h -- what is to be changed in a request: a list of changes, each naming its segment.
 *
 * A plan is data. Building one checks nothing but that the segment can be changed that way at all;
 * engine/run.h applies it and has the result validated.
 */
#ifndef WR_ENGINE_PLAN_H
#define WR_ENGINE_PLAN_H

#include "base/hash.h"
#include "json/splice.h"
#include "policy/form.h"
#include "transcript/transcript.h"

/* A string inside the arguments of a call, and what it says from now on. Where the arguments are
 * themselves a string, that is the one string, and the text is the JSON they are. */
struct wr_argument_change {
    wr_json_id node;
    weir_span text;
};

struct wr_change {
    uint32_t segment;
    enum wr_form form;
    weir_span text;     /* what the segment says from now on; empty when it is dropped */
    uint32_t refers_to; /* the segment whose text this one points at, or NONE: it must stay whole */
    size_t bytes_max;   /* the room this segment was given; 0: as much as the original had */
    const struct wr_argument_change *arguments; /* of PRUNED: instead of `text`; borrowed */
    uint32_t arguments_count;
    bool is_rolled_back;
    const char *reason; /* why it was rolled back: a constant sentence; NULL until then */
};

struct wr_insert { /* a whole message or item, before `before` of the list (NONE: at the end) */
    wr_json_id before;
    weir_span json;
};

struct wr_plan_marker { /* a cache marker that the request gets beside its own */
    uint32_t segment;   /* on the block of this one */
    wr_json_id like;    /* the key of the marker that it is a copy of, byte for byte */
    bool is_made, is_standing;
};

struct wr_plan {
    const struct wr_transcript *transcript; /* borrowed */
    struct wr_arena *arena;
    struct wr_text_memo *memo; /* of what was found lawful before; NULL: none. Borrowed */
    uint64_t memo_seed;        /* as of struct wr_fold_input */
    struct wr_starts *starts;  /* of results that were read again before; NULL: none. Borrowed */
    struct wr_change *changes;
    struct wr_insert *inserts;
    uint32_t *by_segment; /* the change of each segment, plus one; 0: none */
    uint32_t *group_next; /* the next member of a segment's group, or NONE */
    uint32_t changes_count, changes_cap;
    uint32_t inserts_count; /* those that stand: all that were made, or none */
    uint32_t inserts_made_count, inserts_cap;
    struct wr_plan_marker marker;
};

WEIR_MUST_USE weir_status wr_plan_init(struct wr_plan *plan, struct wr_arena *arena,
                                       const struct wr_transcript *transcript);

/* Adds a change; its text is borrowed as long as the plan lives. WEIR_INVALID, with the reason in
 * `err`, where the segment may not be changed so: it does not exist, has no text that may be
 * edited, is changed already, or cannot be dropped. A change that was rolled back gives way to a
 * new one. A call that fails leaves the plan as it was. */
WEIR_MUST_USE weir_status wr_plan_set(struct wr_plan *plan, const struct wr_change *change,
                                      struct weir_err *err);

/* The same for the arguments of a call, form PRUNED: the strings named are inside them. What the
 * arguments become is judged with the change (engine/validate.h). */
WEIR_MUST_USE weir_status wr_plan_prune(struct wr_plan *plan, const struct wr_change *change,
                                        struct weir_err *err);

/* Dropping a segment of a group drops the group; dropping it again is no second drop. What the
 * provider holds others to (compactions, tools, instructions) and what is not known here cannot be
 * dropped. */
WEIR_MUST_USE weir_status wr_plan_drop(struct wr_plan *plan, uint32_t segment,
                                       struct weir_err *err);

/* Signed thinking may leave without the rest of its output: a step drops it from the start. */
WEIR_MUST_USE weir_status wr_plan_drop_thinking(struct wr_plan *plan, uint32_t segment,
                                                struct weir_err *err);

/* Inserts `json`, one whole message or item, before the element `before` of the list. It is
 * borrowed as long as the plan lives; whether it is one element is judged with the result. */
WEIR_MUST_USE weir_status wr_plan_insert(struct wr_plan *plan, wr_json_id before, weir_span json,
                                         struct weir_err *err);

/* Gives the segment's block a cache marker: a copy of the request's own whose key is `like`. One a
 * plan; WEIR_INVALID where there is one already, the request has as many as its provider takes, the
 * block cannot hold one or has one, or the order of lifetimes would be wrong. Where the block
 * leaves, or is handed the marker of one that leaves, none is added. */
WEIR_MUST_USE weir_status wr_plan_mark(struct wr_plan *plan, uint32_t segment, wr_json_id like,
                                       struct weir_err *err);

/* The change of a segment that still stands, or NULL. */
const struct wr_change *wr_plan_find(const struct wr_plan *plan, uint32_t segment);

/* Whether the segment leaves. */
static inline bool wr_plan_drops(const struct wr_plan *plan, uint32_t segment)
{
    const struct wr_change *change = wr_plan_find(plan, segment);
    return change && change->form == WR_FORM_DROPPED;
}

bool wr_plan_is_empty(const struct wr_plan *plan); /* nothing stands */

/* ---- apply ----
 *
 * A plan turned into bytes, and a record of exactly which nodes that touched.
 *
 * The record is what validation compares the result with, node by node: it says what was meant,
 * the splice says how.
 */

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
